"""Windows on GNOME, told by the extension in desktop/gnome: a real GNOME Shell without a screen and without a session around
it, as a user of its own, and apps that are processes of their own, each with a window and a session."""
import os, shutil

from desktop import ROUNDS, DesktopApp, are_known, presences, swap_focus
from harness import Folder, claim, end, ran, wait_until
from screen import USER, Compositor
from shells import installed
from sway import desk

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


class GnomeShell(Compositor):
    def __init__(self, daemon):
        super().__init__("gnome-shell", "dbus-run-session", "gdbus", XDG_SESSION_TYPE="wayland", GSETTINGS_BACKEND="keyfile",
                         LIBGL_ALWAYS_SOFTWARE="1", CAMARB_SOCKET=str(daemon.path))
        self.install()
        for path in self.home.rglob("*"):
            os.chown(path, USER, USER)
        # Neither logind nor the user's bus is this machine's: an empty bus is there for both. With --unsafe-mode the test
        # may tell the shell which window to activate.
        inside = (f"echo $DBUS_SESSION_BUS_ADDRESS >{self.home}/bus; "
                  "exec gnome-shell --headless --wayland --no-x11 --unsafe-mode --virtual-monitor 800x600")
        self.launch("dbus-run-session", "--", "sh", "-c", "DBUS_SYSTEM_BUS_ADDRESS=$DBUS_SESSION_BUS_ADDRESS "
                    f"exec dbus-run-session -- sh -c '{inside}'",
                    answers=lambda: (self.home / "bus").exists() and self.answers("1 + 1") == "2")
        self.name = str(next(path for path in self.home.glob("wayland-?")))
        # It begins with the overview, where no window has the focus.
        self.evaluate("Main.overview.hide()")

    def install(self):
        with Folder() as folder:
            installed(folder)
            shutil.copytree(folder / "usr/share/gnome-shell", self.home / ".local/share/gnome-shell")
        settings = self.home / ".config/glib-2.0/settings"
        settings.mkdir(parents=True)
        (settings / "keyfile").write_text(f"[org/gnome/shell]\nenabled-extensions=['{UUID}']\nwelcome-dialog-last-shown-version='99'\n")

    def stop(self):
        # It ends, and so do the two that wait for it.
        self.answers("imports.gi.GLib.idle_add(0, () => global.context.terminate())")
        end(self.process, 0)

    def answers(self, script):
        """What a script in the shell's own language comes to, or None."""
        done = ran("gdbus", "call", "--session", "-d", "org.gnome.Shell", "-o", "/org/gnome/Shell", "-m", "org.gnome.Shell.Eval", script,
                   status=None, user=USER,
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
        are_known(daemon)
        # The number that extensions go by.
        source = f'GNOME Shell {ran("gnome-shell", "--version").stdout.split()[-1].split(".")[0]}.'
        wait_until("the source to be told", lambda: any(
            one["source"][1].startswith(source) for one in daemon.app(user=USER).status()["speakers"]))
        for unit, name in NAMES.items():
            # A backslash would not come through as it is.
            told = unit.replace("\\", "${String.fromCharCode(92)}")
            said = shell.evaluate(f"{APP_NAME}(`{told}`)")
            assert said == f'"{name}"', (unit, said)
        with DesktopApp(daemon, shell, "red") as red, DesktopApp(daemon, shell, "blue", "child=helper+windowless") as blue:
            wait_until("all to have sessions", lambda: set(presences(daemon)) == {"red", "blue", "helper"})
            swap_focus(daemon, shell, red, blue, helper="helper")
            shell.evaluate("global.display.focus_window.change_workspace_by_index(1, true)")
            wait_until("red to be in the background", lambda: presences(daemon)["red"] == ("background", False))
        daemon.restart()
        are_known(daemon)
        shell.evaluate(f"Main.extensionManager.disableExtension('{UUID}')")
        are_known(daemon, False)
