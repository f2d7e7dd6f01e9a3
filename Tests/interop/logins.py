"""Login sessions and sleep, as logind tells of them: the user at the machine has its cameras, and recordings end before it sleeps."""
import re

from camclient import status
from harness import BROKER, ROOT, Daemon, claim, played, wait_until
from logind import Logind
from message_bus import Bus

TWO = (("1", 1000, {"Active": True}), ("2", 1001, {}))


def known(daemon, *ids):
    wait_until(f"sessions {ids} in the status", lambda: [login["id"] for login in status(daemon)["loginSessions"]] == list(ids))


def broker(bus, **options):
    return Daemon(policy="login-session", system_bus=bus.address, **options)


def alices(daemon, session="1"):
    app = daemon.app("alices", loginSession=session)
    return app, app.running()


@claim("a login session counts as inactive until logind has told of it")
def not_told_yet():
    remote = ("7", 1003, {"Seat": "", "Remote": True, "Active": True})
    with Bus() as bus, Logind(bus, (*TWO, remote)) as logind, broker(bus) as daemon:
        known(daemon, "1", "2", "7")
        assert status(daemon)["loginSessions"][1:] == [
            {"id": "2", "user": 1001, "seat": "seat0", "remote": False, "active": False, "locked": False},
            {"id": "7", "user": 1003, "seat": "", "remote": True, "active": True, "locked": False}]
        early = daemon.app("early", loginSession="3")
        early.session().start()
        early.wait("WasInterrupted")
        logind.change("1", Active=False)
        logind.add("3", 1002, Active=True)
        early.resumes()


@claim("without logind the status says that login sessions are not known, and nobody is paused")
def without_logind():
    with Bus() as bus, broker(bus) as daemon:
        app, _ = alices(daemon)
        said = status(daemon)
        assert not said["loginSessionsKnown"] and "logind does not run" in said["loginSessionsUnknown"], said
        # It comes late, as it does when a machine starts.
        with Logind(bus, (("1", 1000, {}),)):
            app.wait("WasInterrupted")
            known(daemon, "1")
    with Daemon(system_bus="unix:path=/nonexistent/bus") as daemon:
        alices(daemon)
        assert "cannot connect to the system bus at /nonexistent/bus" in status(daemon)["loginSessionsUnknown"]


@claim("a logind that is restarted is followed again, and so is a bus that comes back")
def restarted():
    with Bus() as bus:
        logind = Logind(bus, TWO)
        with broker(bus) as daemon:
            alice, _ = alices(daemon)
            logind.end()
            wait_until("its end in the status", lambda: not status(daemon)["loginSessionsKnown"])
            # What it said last holds: nobody was paused by its end.
            alice.is_not_told("WasInterrupted")
            with Logind(bus, (("1", 1000, {}), ("2", 1001, {"Active": True}))) as second:
                alice.wait("WasInterrupted")
                assert second.is_held(0), "no inhibitor was taken from the second"
                bus.stop()
                wait_until("the bus's end in the status", lambda: not status(daemon)["loginSessionsKnown"])
            bus.start()
            with Logind(bus, TWO):
                alice.resumes()


@claim("before the machine sleeps recordings are finished; afterwards sessions go on, and recordings do not")
def sleeping():
    with Bus() as bus, Logind(bus, TWO) as logind, broker(bus) as daemon:
        alice, session = alices(daemon)
        assert logind.is_held(0)
        film = daemon.directory / "film.mp4"
        session.records(film)
        stream = session.stream()
        for _ in range(10):
            stream.release(stream.read())
        logind.prepare_for_sleep(True)
        wait_until("the inhibitor to be let go", lambda: not logind.is_held(0))
        # In this moment logind would let the machine sleep: the file is whole already.
        frames, seconds = played(film)
        assert frames >= 5, f"{frames} frames, {seconds} s"
        alice.is_interrupted("system-sleep")
        assert "interrupted" in alice.wait("RecordingFinished")
        assert status(daemon)["asleep"]
        logind.prepare_for_sleep(False)
        alice.resumes()
        assert logind.is_held(1), "no inhibitor was taken for the next time"
        alice.poll()
        assert alice.names().count("RecordingStarted") == 1, alice.names()
        assert all(not session["recording"] for session in status(daemon)["sessions"])


@claim("a machine that slept while nobody looked is asleep for the broker too, and awake when logind is gone")
def missed():
    with Bus() as bus:
        with Logind(bus, TWO, asleep=True), broker(bus) as daemon:
            wait_until("sleep", lambda: status(daemon)["asleep"])
            alice = daemon.app("alices", loginSession="1")
            alice.session().start()
            alice.wait("WasInterrupted")
            daemon.apps.remove(alice)
            # The daemon goes on; its logind does not.
        with broker(bus) as daemon:
            assert not status(daemon)["asleep"]


def documented(table):
    """The keys and types of the table in wire.md whose header begins so."""
    text = (ROOT / "docs" / "wire.md").read_text()
    return dict(re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", text.split(f"\n| {table} |", 1)[1].split("\n\n")[0], re.MULTILINE))


@claim("a status has each key that wire.md lists, with its type, and no other")
def documented_keys():
    with Bus() as bus, Logind(bus, TWO), broker(bus) as daemon:
        app, shell = daemon.app("alices", loginSession="1"), daemon.shell()
        app.running()
        known(daemon, "1", "2")
        status_of_broker, cameras, sessions = shell.call(BROKER, "GetStatus")
        told = {"`broker`": [status_of_broker], "one of `cameras`": cameras, "one of `sessions`": sessions}
        for name in ("placements", "speakers", "loginSessions", "budgets"):
            told[f"one of `{name}`"] = status_of_broker[name][1]
        for name, entries in told.items():
            types = {key: type_ for entry in entries for key, (type_, _) in entry.items()}
            assert documented(f"of {name}") == types, (name, types)
