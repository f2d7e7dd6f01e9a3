"""Windows on Plasma's compositor, told by camagent, which hands KWin a script: a real KWin without a screen and without a
session around it, as a user of its own, and apps that are processes of their own, each with a window and a session."""
import pathlib, shutil, signal, subprocess

from desktop import ROUNDS, Agent, are_known, presences, swap_focus, two_apps
from harness import claim, end, ran, spawn, wait_until
from screen import USER, Compositor
from sway import desk, said


class KWin(Compositor):
    def __init__(self):
        super().__init__("kwin_wayland", "Xwayland", "dbus-daemon", "gdbus", XDG_SESSION_TYPE="wayland", XDG_CURRENT_DESKTOP="KDE",
                         LIBGL_ALWAYS_SOFTWARE="1")
        # The installed one has a right that this machine may not be able to give; a copy has none. Only a program of that
        # name is let use KWin's own plugin.
        self.program = self.home / "kwin_wayland"
        shutil.copyfile(shutil.which("kwin_wayland"), self.program)
        self.program.chmod(0o755)
        self.bus = spawn(
            "dbus-daemon", "--session", "--nofork", "--print-address=1", f"--address=unix:path={self.home}/bus", user=USER,
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        # Neither is the machine's bus this machine's.
        address = self.bus.stdout.readline().strip()
        self.environment |= {"DBUS_SESSION_BUS_ADDRESS": address, "DBUS_SYSTEM_BUS_ADDRESS": address}
        self.start()

    def __exit__(self, *why):
        super().__exit__(*why)
        end(self.bus)
        self.bus.stdout.close()

    def start(self):
        self.name = str(self.home / "wayland-7")
        self.launch(self.program, "--virtual", "--xwayland", "--no-lockscreen", "--no-global-shortcuts", "--width", "800",
                    "--height", "600", "--socket", "wayland-7", answers=lambda: pathlib.Path(self.name).exists() and self.call(
                        "/KWin", "org.freedesktop.DBus.Peer.Ping") is not None)

    def call(self, path, method, *arguments, to="org.kde.KWin"):
        done = ran("gdbus", "call", "--session", "-d", to, "-o", path, "-m", method, *arguments, status=None, user=USER,
                   env=self.environment)
        self.refusal = done.stderr
        return done.stdout if done.returncode == 0 else None

    def activate(self, window):
        """By a script of the test's own, as nothing else moves the focus without a mouse."""
        script = self.home / "activate.js"
        script.write_text(f"const six = workspace.windowList; (six ? workspace.windowList() : workspace.clientList()).forEach(w => "
                          f"{{ if (w.caption === '{window}') workspace[six ? 'activeWindow' : 'activeClient'] = w; }});")
        self.call("/Scripting", "org.kde.kwin.Scripting.unloadScript", "test")
        assert self.call("/Scripting", "org.kde.kwin.Scripting.loadScript", str(script), "test"), self.refusal
        self.call("/Scripting", "org.kde.kwin.Scripting.start")

    def agent(self, daemon, *words):
        return Agent(daemon, *words, user=USER, WAYLAND_DISPLAY="wayland-7", **{
            key: value for key, value in self.environment.items() if key.startswith(("XDG_", "DBUS_SESSION"))})


@claim(f"the focus moving between two windows of KWin's moves the camera, {ROUNDS} times; what fills the screen, is covered or "
       "minimized is so; a KWin started anew is handed the script again; and nobody else is believed about its windows")
def script():
    with desk() as daemon, KWin() as kwin, kwin.agent(daemon) as agent:
        are_known(daemon)
        wait_until("the source to be told", lambda: f"windows of user {USER}: known from KWin, told by camagent" in said(daemon))
        wait_until("the script's file to be gone", lambda: not list(kwin.home.glob("camarb-kwin-*")))
        with two_apps(daemon, kwin) as (red, blue):
            swap_focus(daemon, kwin, red, blue)
            before = presences(daemon)
            assert kwin.call("/org/camarb/Windows", "org.camarb.Windows1.Tell", '{"active":0,"windows":[]}',
                             to="org.camarb.Windows") is None
            assert "Only KWin" in kwin.refusal, kwin.refusal
            assert presences(daemon) == before
        kwin.stop(signal.SIGKILL)
        agent.says("KWin is not on the session bus")
        are_known(daemon, False)
        pathlib.Path(kwin.name).unlink(missing_ok=True)
        kwin.start()
        are_known(daemon)
