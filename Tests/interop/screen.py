"""An X server without a screen, for windows to be on."""
import os, pathlib, select, shutil, signal, subprocess, tempfile

from harness import PATIENCE, Skipped, end, needs_root, spawn, wait_until
from xwindow import Display

# Whose desktops are not this user's: it needs no entry in the user database.
USER = 65534
# What a desktop takes to start, on a busy machine.
START = 60.0


def needs(*programs):
    """Skips aloud where make/packages could not install what a test is about."""
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        raise Skipped(f"there is no {', no '.join(missing)} here (make/packages test desktop installs them)")


class Screen:
    """An X server without a screen, and a window manager. Each is ended by its own id."""

    # Whose apps are on it: this user's.
    user = None

    def __init__(self, number=None, manager=True, size="800x600"):
        needs("Xvfb", "openbox")
        self.home = tempfile.mkdtemp(prefix="camarb-screen.")
        self.server = self.manager = None
        self.size = size
        self.start_server(number)
        if manager:
            self.start_manager()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop_manager()
        self.stop_server()
        shutil.rmtree(self.home, ignore_errors=True)

    def start_server(self, number=None):
        reading, writing = os.pipe()
        name = [f":{number}"] if number is not None else []
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.server = spawn("Xvfb", *name, "-displayfd", writing, "-screen", "0", f"{self.size}x24", "-nolisten", "tcp",
                            pass_fds=[writing], **silent)
        os.close(writing)
        said = b""
        while not said.endswith(b"\n"):
            assert select.select([reading], [], [], PATIENCE)[0], "Xvfb did not start"
            piece = os.read(reading, 64)
            assert piece, f"Xvfb ended with status {self.server.wait()}"
            said += piece
        os.close(reading)
        self.number = int(said)
        self.name = f":{self.number}"
        self.display = Display(self.name)

    def stop_server(self):
        if self.server:
            self.server.terminate()
            self.server.wait()
            self.server = None

    def start_manager(self):
        environment = {**os.environ, "DISPLAY": self.name, "HOME": self.home, "XDG_RUNTIME_DIR": self.home}
        self.manager = spawn("openbox", "--sm-disable", env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # A window that is mapped while the manager looks for the first time may be nobody's.
        wait_until("the window manager", lambda: self.display.root_has("_NET_SUPPORTING_WM_CHECK", "_NET_CLIENT_LIST"))

    def stop_manager(self, how=signal.SIGKILL):
        if self.manager:
            self.manager.send_signal(how)
            self.manager.wait()
            self.manager = None


class Compositor:
    """A Wayland desktop without a screen, as a user of its own, with the methods of an X11 display where windows are concerned."""

    user = USER

    def __init__(self, *programs, **variables):
        needs(*programs)
        needs_root("only root can be another user, and this is about another one's desktop")
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="camarb-desktop."))
        self.log = self.home / "log"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.home), "LANG": "C.UTF-8",
                            **variables}
        self.display, self.process = self, None
        os.chown(self.home, USER, USER)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.stop()
        if kind is not None:
            print(f"  the desktop said:\n{self.log.read_text(errors='replace')[-4000:]}")
        shutil.rmtree(self.home, ignore_errors=True)

    def launch(self, *command, answers, patience=START):
        """Starts it, and waits until it answers."""
        self.process = spawn(*command, env=self.environment, log=self.log, user=USER)

        def runs():
            assert self.process.poll() is None, f"{command[0]} ended:\n{self.log.read_text(errors='replace')}"
            return answers()

        wait_until(f"{command[0]} to answer", runs, patience)

    def stop(self, how=signal.SIGTERM):
        if self.process:
            self.process.send_signal(signal.SIGCONT)
            end(self.process, how)
            self.process = None
