"""Three people who answer for a policy: the carts' administrator, the engineer of a fleet, and whoever reviews a policy."""
import json, os, pathlib, random, signal, subprocess, threading, tomllib

from camclient import camclient
from harness import CAMERA, ROOT, Daemon, Refused, claim, wait_until
from traces import Folder

TRIALS = ROOT / "Tests" / "trials"
# So many machines' traces; a broker lives for a tenth of a second to record one.
MACHINES = 200
# At a time: more only wait for processors.
RECORDED_AT_ONCE = 4
# What programs of a kiosk do in a visit: enough that leases, graces and min-holds all meet.
VISIT_STEPS = 8
SERVICES = ("intercom.service", "photobooth.service", "attract.service", "guide.service")


def record_machine(folder, number):
    """One kiosk's day as a trace: its programs start and stop by a chance that is the same in each run."""
    chance = random.Random(number)
    trace = folder / f"kiosk-{number:03}.trace"
    with Daemon("kiosk", cameras=(f"{CAMERA}=none",), extra=("--trace", trace), decides_aloud=False) as daemon:
        sessions = {}
        for _ in range(VISIT_STEPS):
            service = chance.choice(SERVICES)
            if service not in sessions:
                sessions[service] = daemon.app(service).session(), False
            session, runs = sessions[service]
            session.call("StopRunning" if runs else "StartRunning")
            sessions[service] = session, not runs
    return trace


def recorded_fleet(folder, machines):
    """A trace of each of so many machines, in folders by their names."""
    waiting, failed = list(range(machines)), []

    def work():
        while waiting and not failed:
            try:
                number = waiting.pop()
            except IndexError:
                return
            try:
                record_machine(folder, number)
            except Exception as problem:  # Told by the thread that waits.
                failed.append(problem)

    threads = [threading.Thread(target=work) for _ in range(RECORDED_AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return sorted(folder.glob("*.trace"))
