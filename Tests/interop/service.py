"""camarbd as a service manager runs it: socket activation, readiness, status, watchdog."""
import os, pathlib, select, shutil, socket, subprocess, tempfile

from harness import CAMERA, PATIENCE, PROGRAMS, ROOT, SIMULATED, App, claim, die_with_parent, wait_until


class Manager:
    """What systemd is to a service: a socket it listens on, a socket for notices, and the process."""

    def __init__(self, *extra, watchdog=None, activate=True):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="camarb-service."))
        self.path = self.directory / "socket"
        self.address = f"unix:path={self.path}"
        self.notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notices.bind(str(self.directory / "notify"))
        self.seen = []
        environment = {**os.environ, "NOTIFY_SOCKET": str(self.directory / "notify")}
        if watchdog:
            environment["WATCHDOG_USEC"] = str(int(watchdog * 1e6))
        command = [PROGRAMS / "camarbd", "--policy", ROOT / "policies" / "desktop.toml", "--camera", SIMULATED,
                   "--system-bus", "", *extra]
        keep = ()
        self.listener = None
        # Both variables name the process they are meant for, which only that process itself knows.
        variables = "WATCHDOG_PID=$$"
        if activate:
            self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.listener.bind(str(self.path))
            self.listener.listen(16)
            variables += " LISTEN_PID=$$ LISTEN_FDS=1"
            keep = (self.listener.fileno(),)
        elif "--socket" not in extra:
            command += ["--socket", self.path]
        move = f"exec 3<&{self.listener.fileno()}; " if self.listener and self.listener.fileno() != 3 else ""
        script = f'{move}{variables} exec "$@"'
        with open(self.directory / "log", "w") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", script, "bash", *map(str, command)], env=environment, pass_fds=keep,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_parent)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.notices.close()
        if self.listener:
            self.listener.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def notice(self, beginning):
        """The next notice with a line that begins so."""
        while True:
            ready = select.select([self.notices], [], [], PATIENCE)[0]
            assert ready, f"no {beginning} within {PATIENCE:.0f} s, only {self.seen}\n{(self.directory / 'log').read_text()}"
            lines = self.notices.recv(4096).decode().splitlines()
            self.seen += lines
            for line in lines:
                if line.startswith(beginning):
                    return line


@claim("a socket that the service manager listens on is served, also for clients that connected before camarbd ran")
def activated():
    with Manager() as manager:
        # In the queue of the listening socket, perhaps before the daemon has begun.
        app = App(manager.address, None)
        manager.notice("READY=1")
        assert app.property("/org/camarb/Broker1", "org.camarb.Broker1", "PolicyName") == "desktop"
        app.close()


@claim("camarbd says that it is ready, and in its status which app has which camera")
def ready_and_status():
    with Manager("--trust-claims", activate=False) as manager:
        manager.notice("READY=1")
        assert manager.path.exists(), "it said READY before its socket was there"
        app = App(manager.address, "photos")
        app.session(CAMERA).start()
        while "photos" not in manager.notice("STATUS="):
            pass
        app.close()


@claim("camarbd pets its watchdog, again and again, when it was given one")
def watchdog():
    with Manager(watchdog=0.4) as manager:
        manager.notice("READY=1")
        for _ in range(3):
            manager.notice("WATCHDOG=1")


@claim("the system's readiness is not told by a camarbd that could not listen")
def not_ready():
    with Manager("--socket", "/proc/none/socket", activate=False) as manager:
        assert manager.process.wait(timeout=PATIENCE) != 0
        manager.notices.setblocking(False)
        try:
            said = manager.notices.recv(4096).decode()
        except BlockingIOError:
            said = ""
        assert "READY=1" not in said, said


class Successive:
    """camarbds one after the other on one socket, with a folder that outlives each, as a unit has it."""

    def __init__(self, *extra):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="camarb-successive."))
        self.path = self.directory / "socket"
        self.address = f"unix:path={self.path}"
        self.extra = extra
        (self.directory / "run").mkdir()
        self.start()

    def start(self):
        with open(self.directory / "log", "a") as log:
            self.process = subprocess.Popen(
                [str(word) for word in (
                    PROGRAMS / "camarbd", "--socket", self.path, "--policy", ROOT / "policies" / "desktop.toml",
                    "--trust-claims", "--camera", SIMULATED, *self.extra)],
                env={**os.environ, "RUNTIME_DIRECTORY": str(self.directory / "run")}, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, preexec_fn=die_with_parent)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


def writers(path):
    """The processes that have a file open."""
    found = set()
    for link in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(link) == str(path):
                found.add(link.parts[2])
        except OSError:
            pass  # It has just been closed.
    return found


@claim("the camera of a killed camarbd is kept by the next for the app that held it, and then open to all")
def reserved():
    with Successive() as broker:
        wait_until("camarbd's socket", broker.path.exists)
        app = App(broker.address, "photos")
        app.session(CAMERA).start()
        app.wait("DidStartRunning")
        broker.kill()
        app.close()
        broker.start()
        # The socket file of the broker before is there until this one takes its place.
        def connected():
            try:
                return App(broker.address, "notes")
            except ConnectionRefusedError:
                return None
        other = wait_until("the next camarbd", connected)
        other.session(CAMERA).start()
        interrupted = other.wait("WasInterrupted")
        assert interrupted[5] == "photos", interrupted
        other.wait("DidStartRunning")
        other.close()
