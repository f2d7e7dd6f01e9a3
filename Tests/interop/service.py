"""camarbd as a service manager runs it: readiness, status, watchdog. Restarts have claims about its socket (restart.py)."""
import os, pathlib, select, socket

from harness import CAMERA, PATIENCE, App, Daemon, claim, spawn


class Manager(Daemon):
    """What systemd is to a service: a socket for notices, and the process."""

    def __init__(self, path=None, **options):
        """`path`: of a socket that it is to listen on, where that is not the usual one."""
        self.notices, self.seen = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), []
        self.own = path
        super().__init__(**options)

    def listens(self):
        self.notices.bind(str(self.directory / "notify"))
        self.variables["NOTIFY_SOCKET"] = str(self.directory / "notify")
        return ["--socket", self.own or self.path]

    def start(self):
        self.process = spawn(*self.command, log=self.log, env={**os.environ, **self.variables})

    def __exit__(self, *_):
        # One that could not listen has its own status.
        self.ends = (*self.ends, self.process.poll())
        super().__exit__(*_)
        self.notices.close()

    def notice(self, beginning):
        """The next notice with a line that begins so."""
        while True:
            ready = select.select([self.notices], [], [], PATIENCE)[0]
            assert ready, f"no {beginning} within {PATIENCE:.0f} s, only {self.seen}\n{self.said()}"
            lines = self.notices.recv(4096).decode().splitlines()
            self.seen += lines
            for line in lines:
                if line.startswith(beginning):
                    return line


@claim("camarbd says that it is ready, and in its status which app has which camera, and pets its watchdog, when it was given one")
def ready_and_status():
    with Manager(variables={"WATCHDOG_USEC": "400000"}) as manager:
        manager.notice("READY=1")
        assert manager.path.exists(), "it said READY before its socket was there"
        app = App(manager.address, "photos")
        app.session(CAMERA).start()
        while "photos" not in manager.notice("STATUS="):
            pass
        app.close()
        for _ in range(3):
            manager.notice("WATCHDOG=1")


@claim("the system's readiness is not told by a camarbd that could not listen")
def not_ready():
    with Manager("/proc/none/socket") as manager:
        assert manager.process.wait(timeout=PATIENCE) != 0
        manager.notices.setblocking(False)
        try:
            said = manager.notices.recv(4096).decode()
        except BlockingIOError:
            said = ""
        assert "READY=1" not in said, said


def writers(path):
    found = set()
    for link in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(link) == str(path):
                found.add(link.parts[2])
        except OSError:
            pass  # It has just been closed.
    return found
