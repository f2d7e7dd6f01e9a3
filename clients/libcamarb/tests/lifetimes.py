"""A client leaves no memory, no descriptor and no process behind."""
import errno, os, pathlib, subprocess, sys

import camarb
from app import App, refused, running
from harness import Daemon, claim

BUILD = pathlib.Path(os.environ["CAMARB_LIBRARY"]).parent
CYCLES = 100


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def mappings():
    return sum("camarb-frame" in line for line in open("/proc/self/maps"))


@claim(f"over {CYCLES} lives of a client neither descriptors nor memory are left")
def lives():
    with Daemon(decides_aloud=False) as daemon:
        def live():
            with App(daemon.address, "photos") as app:
                session = app.running()
                held = app.frame(session)
                if held.sequence % 2:
                    held.release()
        for _ in range(10):
            live()
        before, memory = descriptors(), resident()
        for _ in range(CYCLES):
            live()
        assert descriptors() == before, f"{before} descriptors became {descriptors()}"
        assert mappings() == 0
        grown = resident() - memory
        # A client's own memory is some 20 KiB: that one were left each time would be more than this.
        assert grown < CYCLES * 10 * 1024 or os.environ.get("CAMARB_SANITIZED"), f"{grown} bytes more"
        return f"{grown // 1024} KiB more"


@claim(f"{CYCLES // 5} lives in C leave nothing, as the sanitizer counts it where the library has one")
def lives_in_c():
    with Daemon(decides_aloud=False) as daemon:
        environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1"}
        done = subprocess.run([BUILD / "tests" / "cycles", daemon.address, str(CYCLES // 5)], env=environment, text=True,
                              stderr=subprocess.PIPE, timeout=120)
        assert done.returncode == 0 and not done.stderr, f"{done.returncode}: {done.stderr}"


@claim("a child of the program may free its client, and the parent's goes on; anything else is refused there")
def fork():
    with running() as (daemon, app, session):
        held = app.frame(session)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                for call in (app.client.dispatch, session.start, lambda: app.client.wait(0), lambda: app.client.declare_app("x")):
                    refused(call, number=errno.ECHILD)
                held.release()
                app.client.close()
                status = 0
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert held.is_intact and any(held.planes[0])
        held.release()
        # The same stream goes on: another one would come a second later.
        for _ in range(5):
            app.frame(session, patience=0.5).release()
        session.configure(frameRate=10).result()
        assert app.names().count("ENDED") == 0 and app.names()[0] == "DID_START_RUNNING"


CLOSED = """
import os, sys
sys.path.insert(0, sys.argv[2])
import camarb
for descriptor in range(3):
    os.close(descriptor)
client = camarb.Client(sys.argv[1], app="photos")
session = client.session("front")
session.pictures = True
session.start()
frames = session.frames(timeout=20)
for _ in range(3):
    next(frames)
taken = [descriptor for descriptor in range(3) if os.path.exists(f"/proc/self/fd/{descriptor}")]
# /proc itself is opened while that is looked at, by nobody of ours.
there = [int(name) for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")]
inherited = [descriptor for descriptor in there if os.get_inheritable(descriptor)]
os._exit(10 * bool(taken) + bool(inherited))
"""


@claim("the library's descriptors are none of the standard streams, even where those are closed, and none outlives an exec")
def standard_streams():
    with Daemon() as daemon:
        package = str(pathlib.Path(camarb.__file__).parent.parent)
        done = subprocess.run([sys.executable, "-c", CLOSED, daemon.address, package], env=preloaded(), timeout=60)
        assert done.returncode == 0, done.returncode


def preloaded():
    """The environment for a Python of our own with the library."""
    if not os.environ.get("CAMARB_SANITIZED"):
        return dict(os.environ)
    asan = subprocess.run(["gcc", "-print-file-name=libasan.so"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    return {**os.environ, "LD_PRELOAD": asan}
