"""Windows on GNOME, told by the extension in desktop/gnome: a real GNOME Shell without a screen and without a session around
it, as a user of its own, and apps that are processes of their own, each with a window and a session."""
import os, pathlib, shutil, subprocess, tempfile

from desktop import DesktopApp, presences, swap_focus, ROUNDS
from harness import PATIENCE, Skipped, as_other, claim, die_with_parent, wait_until
from screen import needs
from shells import installed
from sway import USER, desk, is_known, status

UUID = "camarb@camarb.org"
# What the broker calls apps by their units (Tests/IdentityTests/ControlGroupTests.swift has the same ones), and so must the extension.
NAMES = {
    "app-gnome-firefox-1234.scope": "firefox", "app-flatpak-org.gnome.Snapshot-77.scope": "org.gnome.Snapshot",
    r"app-gnome-google\x2dchrome-4711.scope": "google-chrome", "evacuation.service": "evacuation",
    "snap.mirror.mirror-3dcfaa86-60a3-4a4f-9f83-4b83a6f4a7c1.scope": "snap.mirror.mirror",
}
# The extension's own function, of its file as it is installed: what a module does not export, nobody else can call.
APP_NAME = (f"new Function(new TextDecoder().decode(imports.gi.GLib.file_get_contents(Main.extensionManager.lookup('{UUID}')"
            ".dir.get_child('processes.js').get_path())[1]).replace(/^export .*$/m, '') + '; return appName')()")
# What GNOME Shell takes to start, on a busy machine.
START = 60.0


def version():
    """The number that extensions go by."""
    said = subprocess.run(["gnome-shell", "--version"], capture_output=True, text=True, timeout=PATIENCE).stdout
    return said.split()[-1].split(".")[0]


class GnomeShell:
    user = USER

    def __init__(self, daemon):
        needs("gnome-shell", "dbus-run-session", "gdbus")
        if os.geteuid() != 0:
            raise Skipped("only root can be another user, and this is about another one's desktop")
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="camarb-gnome."))
        self.display = self
        self.process = None
        self.install()
        for path in (self.home, *self.home.rglob("*")):
            os.chown(path, USER, USER)
        self.daemon = daemon

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, *_):
        self.stop()
        if kind is not None:
            print(f"  GNOME Shell said:\n{(self.home / 'log').read_text(errors='replace')[-4000:]}")
        shutil.rmtree(self.home, ignore_errors=True)

    def install(self):
        """The extension as the package brings it, enabled as a user does it."""
        with tempfile.TemporaryDirectory() as folder:
            installed(folder)
            shutil.copytree(pathlib.Path(folder, "usr/share/gnome-shell"), self.home / ".local/share/gnome-shell")
        settings = self.home / ".config/glib-2.0/settings"
        settings.mkdir(parents=True)
        (settings / "keyfile").write_text(
            f"[org/gnome/shell]\nenabled-extensions=['{UUID}']\nwelcome-dialog-last-shown-version='99'\n")

    def start(self):
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.home), "LANG": "C.UTF-8",
            "XDG_SESSION_TYPE": "wayland", "GSETTINGS_BACKEND": "keyfile", "LIBGL_ALWAYS_SOFTWARE": "1",
            "CAMARB_SOCKET": str(self.daemon.path)}
        # Neither logind nor the user's bus is this machine's: an empty bus is there for both. With --unsafe-mode the test
        # may tell the shell which window to activate.
        shell = "exec gnome-shell --headless --wayland --no-x11 --unsafe-mode --virtual-monitor 800x600"
        inside = f"echo $DBUS_SESSION_BUS_ADDRESS >{self.home}/bus; {shell}"
        with open(self.home / "log", "w") as log:
            self.process = subprocess.Popen(
                ["dbus-run-session", "--", "sh", "-c", "DBUS_SYSTEM_BUS_ADDRESS=$DBUS_SESSION_BUS_ADDRESS "
                 f"exec dbus-run-session -- sh -c '{inside}'"], env=environment, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, preexec_fn=die_with_parent, **as_other(USER))

        def runs():
            assert self.process.poll() is None, f"GNOME Shell ended:\n{(self.home / 'log').read_text(errors='replace')}"
            return (self.home / "bus").exists() and self.answers("1 + 1") == "2"

        wait_until("GNOME Shell to answer", runs, START)
        self.name = str(next(path for path in self.home.glob("wayland-?")))
        # It begins with the overview, where no window has the focus.
        self.evaluate("Main.overview.hide()")

    def stop(self):
        if self.process:
            # It ends, and so do the two that wait for it.
            if (self.home / "bus").exists():
                self.answers("imports.gi.GLib.idle_add(0, () => global.context.terminate())")
            try:
                self.process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def answers(self, script):
        """What a script in the shell's own language comes to, or None."""
        done = subprocess.run(
            ["gdbus", "call", "--session", "-d", "org.gnome.Shell", "-o", "/org/gnome/Shell", "-m",
             "org.gnome.Shell.Eval", script], capture_output=True, text=True, timeout=PATIENCE, **as_other(USER),
            env={"PATH": os.environ["PATH"], "DBUS_SESSION_BUS_ADDRESS": (self.home / "bus").read_text().strip()})
        said = done.stdout.strip()
        return said[len("(true, '"):-2] if done.returncode == 0 and said.startswith("(true,") else None

    def evaluate(self, script):
        said = self.answers(script)
        assert said is not None, f"GNOME Shell refused {script}"
        return said

    def activate(self, window):
        """Until it has the focus: one that has just come and is not shown yet is not given it, and nothing says so."""
        def has_focus():
            self.evaluate(f"global.get_window_actors().map(one => one.meta_window).find(one => one.title == '{window}')"
                          ".activate(global.get_current_time())")
            return self.evaluate("global.display.focus_window ? global.display.focus_window.title : ''").strip('"') == window

        wait_until(f"{window} to have the focus", has_focus)


@claim(f"the focus moving between two windows of GNOME Shell's moves the camera, {ROUNDS} times, told by the extension; "
       "what is covered, minimized or on another workspace is in the background; a broker started anew is told again, and "
       "one that is not told any more says so")
def extension():
    with desk() as daemon, GnomeShell(daemon) as shell:
        wait_until("the windows to be known", lambda: is_known(daemon))
        wait_until("the source to be told", lambda: any(
            one["source"][1].startswith(f"GNOME Shell {version()}.") for one in status(daemon)["speakers"][1]))
        for unit, name in NAMES.items():
            # A backslash would not come through as it is.
            told = unit.replace("\\", "${String.fromCharCode(92)}")
            said = shell.evaluate(f"{APP_NAME}(`{told}`)")
            assert said == f'"{name}"', (unit, said)
        with DesktopApp(daemon, shell, "red") as red, DesktopApp(daemon, shell, "blue", "child=helper+windowless") as blue:
            names = {"red", "blue", "helper"}
            wait_until("all to have sessions", lambda: set(presences(daemon)) == names)
            swap_focus(daemon, shell, red, blue, helper="helper")
            shell.evaluate("global.display.focus_window.change_workspace_by_index(1, true)")
            wait_until("red to be in the background", lambda: presences(daemon)["red"] == ("background", False))
        daemon.restart()
        daemon.path.chmod(0o666)
        wait_until("the windows to be known again", lambda: is_known(daemon))
        shell.evaluate(f"Main.extensionManager.disableExtension('{UUID}')")
        wait_until("the windows to be unknown", lambda: not is_known(daemon))
