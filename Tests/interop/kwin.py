"""Windows on Plasma's compositor, told by camagent, which hands KWin a script: a real KWin without a screen and without a
session around it, as a user of its own, and apps that are processes of their own, each with a window and a session."""
import os, pathlib, shutil, signal, subprocess, tempfile

from desktop import Agent, DesktopApp, presences, swap_focus, ROUNDS
from harness import PATIENCE, Skipped, as_other, claim, die_with_parent, wait_until
from screen import needs
from sway import USER, desk, is_known, said

# What KWin takes to start, on a busy machine.
START = 60.0


class KWin:
    user = USER

    def __init__(self):
        needs("kwin_wayland", "Xwayland", "dbus-daemon", "gdbus")
        if os.geteuid() != 0:
            raise Skipped("only root can be another user, and this is about another one's desktop")
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="camarb-kwin."))
        # The installed one has a right that this machine may not be able to give; a copy has none. Only a program of that
        # name is let use KWin's own plugin.
        self.program = self.home / "kwin_wayland"
        shutil.copyfile(shutil.which("kwin_wayland"), self.program)
        self.program.chmod(0o755)
        os.chown(self.home, USER, USER)
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.home), "LANG": "C.UTF-8",
            "XDG_SESSION_TYPE": "wayland", "XDG_CURRENT_DESKTOP": "KDE", "LIBGL_ALWAYS_SOFTWARE": "1"}
        self.bus = self.process = None
        self.display = self

    def __enter__(self):
        self.bus, self.environment["DBUS_SESSION_BUS_ADDRESS"] = self.start_bus()
        # Neither is the machine's bus this machine's.
        self.environment["DBUS_SYSTEM_BUS_ADDRESS"] = self.environment["DBUS_SESSION_BUS_ADDRESS"]
        self.start()
        return self

    def __exit__(self, kind, *_):
        self.stop()
        self.bus.terminate()
        self.bus.communicate(timeout=PATIENCE)
        if kind is not None:
            print(f"  KWin said:\n{(self.home / 'log').read_text(errors='replace')[-4000:]}")
        shutil.rmtree(self.home, ignore_errors=True)

    def start_bus(self):
        bus = subprocess.Popen(
            ["dbus-daemon", "--session", "--nofork", "--print-address=1", f"--address=unix:path={self.home}/bus"],
            env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            preexec_fn=die_with_parent, **as_other(USER))
        return bus, bus.stdout.readline().strip()

    def start(self):
        self.name = str(self.home / "wayland-7")
        with open(self.home / "log", "w") as log:
            self.process = subprocess.Popen(
                [str(self.program), "--virtual", "--xwayland", "--no-lockscreen", "--no-global-shortcuts", "--width",
                 "800", "--height", "600", "--socket", "wayland-7"], env=self.environment, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, preexec_fn=die_with_parent, **as_other(USER))

        def runs():
            assert self.process.poll() is None, f"KWin ended:\n{(self.home / 'log').read_text(errors='replace')}"
            return pathlib.Path(self.name).exists() and self.call("/KWin", "org.freedesktop.DBus.Peer.Ping") is not None

        wait_until("KWin to answer", runs, START)

    def stop(self, how=signal.SIGTERM):
        if self.process:
            self.process.send_signal(how)
            self.process.wait(timeout=PATIENCE)
            self.process = None

    def call(self, path, method, *arguments, to="org.kde.KWin"):
        done = subprocess.run(
            ["gdbus", "call", "--session", "-d", to, "-o", path, "-m", method, *arguments], capture_output=True,
            text=True, timeout=PATIENCE, env=self.environment, **as_other(USER))
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
        wait_until("the windows to be known", lambda: is_known(daemon))
        wait_until("the source to be told", lambda: f"windows of user {USER}: known from KWin, told by camagent" in said(daemon))
        wait_until("the script's file to be gone", lambda: not list(kwin.home.glob("camarb-kwin-*")))
        with DesktopApp(daemon, kwin, "red") as red, DesktopApp(daemon, kwin, "blue") as blue:
            for app in (red, blue):
                app.wait("started")

            swap_focus(daemon, kwin, red, blue)
            before = presences(daemon)
            assert kwin.call("/org/camarb/Windows", "org.camarb.Windows1.Tell", '{"active":0,"windows":[]}',
                             to="org.camarb.Windows") is None
            assert "Only KWin" in kwin.refusal, kwin.refusal
            assert presences(daemon) == before
        kwin.stop(signal.SIGKILL)
        agent.says("KWin is not on the session bus")
        wait_until("the windows to be unknown", lambda: not is_known(daemon))
        pathlib.Path(kwin.name).unlink(missing_ok=True)
        kwin.start()
        wait_until("the windows to be known again", lambda: is_known(daemon))
