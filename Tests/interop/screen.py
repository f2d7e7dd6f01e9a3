"""An X server without a screen, for windows to be on."""
import os, select, shutil, signal, subprocess, tempfile

from harness import PATIENCE, Skipped, die_with_parent, wait_until
from xwindow import Display


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
        self.server = subprocess.Popen(
            ["Xvfb", *name, "-displayfd", str(writing), "-screen", "0", f"{self.size}x24", "-nolisten", "tcp"],
            pass_fds=[writing], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=die_with_parent)
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
        self.manager = subprocess.Popen(
            ["openbox", "--sm-disable"], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=die_with_parent)
        # A window that is mapped while the manager looks for the first time may be nobody's.
        wait_until("the window manager", lambda: self.display.root_has("_NET_SUPPORTING_WM_CHECK", "_NET_CLIENT_LIST"))

    def stop_manager(self, how=signal.SIGKILL):
        if self.manager:
            self.manager.send_signal(how)
            self.manager.wait()
            self.manager = None
