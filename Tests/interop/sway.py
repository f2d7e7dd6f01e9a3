"""Windows on Wayland, told by camagent, which asks sway: a real compositor without a screen, as a user of its own since it
runs for no root, and apps that are processes of their own, each with a window and a session."""
import contextlib, json, os, pathlib, re, shutil, signal, subprocess, tempfile

import groups
from desktop import Agent, DesktopApp, becomes, focus, hand_back_and_forth, presences, tells_apart, ROUNDS
from harness import BROKER, PATIENCE, PROGRAMS, App, Daemon, Skipped, as_other, as_user, claim, die_with_parent, wait_until
from screen import needs

USER = 65534


class Sway:
    """A sway without a screen. It names its sockets anew each time."""

    user = USER

    def __init__(self, xwayland=False):
        needs("sway", "swaymsg", *(["Xwayland"] if xwayland else []))
        if os.geteuid() != 0:
            raise Skipped("only root can be another user, and sway runs for no root")
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="camarb-sway."))
        os.chown(self.home, USER, USER)
        self.config = self.home / "config"
        self.config.write_text(f"xwayland {'enable' if xwayland else 'disable'}\nfocus_follows_mouse no\n")
        # As X11's windows have it, so that the same tests can be about both.
        self.display = self
        self.process = None
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    def start(self):
        for left in self.home.glob("wayland-*"):
            left.unlink()
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.home),
            "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1"}
        with open(self.home / "log", "w") as log:
            self.process = subprocess.Popen(
                ["sway", "-c", str(self.config)], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=die_with_parent, **as_other(USER))
        ipc = self.home / f"sway-ipc.{USER}.{self.process.pid}.sock"

        def answers():
            assert self.process.poll() is None, f"sway ended:\n{(self.home / 'log').read_text(errors='replace')}"
            return ipc.exists() and subprocess.run(
                ["swaymsg", "-s", str(ipc), "-t", "get_version"], capture_output=True, timeout=PATIENCE).returncode == 0

        wait_until("sway to answer", answers)
        self.socket = str(ipc)
        (self.name,) = [str(path) for path in self.home.iterdir() if re.fullmatch(r"wayland-\d+", path.name)]

    def stop(self, how=signal.SIGTERM):
        if self.process:
            self.process.send_signal(how)
            self.process.send_signal(signal.SIGCONT)
            self.process.wait(timeout=PATIENCE)
            self.process = None

    def do(self, command):
        done = subprocess.run(
            ["swaymsg", "-s", self.socket, command], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, (command, done.stdout, done.stderr)

    def activate(self, window):
        self.do(f'[app_id="^{window}$"] focus')

    def tree(self):
        return json.loads(subprocess.run(
            ["swaymsg", "-s", self.socket, "-t", "get_tree", "-r"], capture_output=True, timeout=PATIENCE).stdout)

    def agent(self, daemon, *words, **variables):
        agent = Agent(daemon, *words, user=USER, **{
            "SWAYSOCK": self.socket, "WAYLAND_DISPLAY": self.name, "XDG_RUNTIME_DIR": str(self.home), **variables})
        return agent


@contextlib.contextmanager
def desk(**options):
    """A broker that this user's apps may ask for a camera."""
    with Daemon(**{"claims": not tells_apart(), **options}, users=(USER,)) as daemon:
        daemon.path.chmod(0o666)
        yield daemon


def status(daemon):
    """What the broker tells a program of this user's."""
    with as_user(USER):
        app = App(daemon.address)
    said = app.call(BROKER, "GetStatus")[0]
    app.close()
    return said


def is_known(daemon):
    return "windows" not in status(daemon)["unknown"][1]


@claim(f"the focus moving between two windows of sway's moves the camera, {ROUNDS} times, with the right notices both ways")
def focus_moves_the_camera():
    with Sway() as sway, desk() as daemon, sway.agent(daemon):
        wait_until("the windows to be known", lambda: is_known(daemon))
        hand_back_and_forth(daemon, sway)


@claim("on sway an app that fills the screen is fullscreen; one that it covers, on another workspace, in another tab or on "
       "the scratchpad is in the background")
def layouts():
    with Sway() as sway, desk() as daemon, sway.agent(daemon):
        with DesktopApp(daemon, sway, "red") as red, DesktopApp(daemon, sway, "blue") as blue:
            for app in (red, blue):
                app.wait("started")

            focus(daemon, sway, blue, red)
            blue.do("fullscreen")
            becomes(daemon, red=("background", False), blue=("fullscreen", True))
            blue.do("window")
            becomes(daemon, red=("split", False), blue=("split", True))
            # Of this alone sway tells nobody; a key that does it is told.
            sway.do("layout tabbed")
            sway.activate("red")
            becomes(daemon, red=("split", True), blue=("background", False))
            sway.do("layout splith")
            sway.do("workspace 2")
            becomes(daemon, red=("background", False), blue=("background", False))
            sway.do("workspace 1")
            becomes(daemon, red=("split", True), blue=("split", False))
            sway.do("move scratchpad")
            becomes(daemon, red=("background", False), blue=("split", True))
            blue.do("close")
            becomes(daemon, red=("background", False), blue=("background", False))


@claim("a sway that is killed leaves the windows not known, and one that is started anew, under another name, is found")
def killed():
    with Sway() as sway, desk() as daemon, sway.agent(daemon) as agent:
        for _ in range(2):
            wait_until("the windows to be known", lambda: is_known(daemon))
            sway.stop(signal.SIGKILL)
            wait_until("the windows to be unknown", lambda: not is_known(daemon))
            sway.start()
        agent.says("windows: sway went away")
        agent.says("windows: known from sway")
        with DesktopApp(daemon, sway, "red") as red, DesktopApp(daemon, sway, "blue") as blue:
            red.wait("started"), blue.wait("started")
            focus(daemon, sway, red, blue)


@claim("a sway that is stopped holds up neither the broker's other facts nor camagent's end; what it said last stands")
def stopped():
    with Sway() as sway, desk() as daemon:
        with sway.agent(daemon):
            wait_until("the windows to be known", lambda: is_known(daemon))
            sway.process.send_signal(signal.SIGSTOP)
            daemon.restart()
            daemon.path.chmod(0o666)
            wait_until("the windows to be known again", lambda: is_known(daemon))
        with sway.agent(daemon) as agent:
            agent.says("microphones: ")
            assert not is_known(daemon)
            sway.process.send_signal(signal.SIGCONT)
            wait_until("the windows to be known", lambda: is_known(daemon))


@claim("camclient status names sway as what the windows are known from, and the client that told it")
def source():
    with Sway() as sway, desk() as daemon, sway.agent(daemon):
        wait_until("the source to be told", lambda: "sway" in said(daemon))
        assert re.search(rf"^windows of user {USER}: known from sway \d.*, told by camagent$", said(daemon), re.M), \
            said(daemon)


def said(daemon):
    return subprocess.run(
        [str(PROGRAMS / "camclient"), "status", "--address", daemon.address], capture_output=True, text=True,
        timeout=PATIENCE, **as_other(USER)).stdout


@claim("a window of an X11 program inside sway is the process's that its X server names, whatever the window says")
def xwayland():
    with Sway(xwayland=True) as sway, desk() as daemon:
        name = x11_display(sway)
        with sway.agent(daemon, DISPLAY=name), DesktopApp(daemon, sway, "red") as red:
            red.wait("started")
            inside = type("Inside", (), {"name": name, "user": USER})
            with DesktopApp(daemon, inside, "blue", f"forge={red.process.pid}") as blue:
                blue.wait("started")
                becomes(daemon, red=("split", False), blue=("split", True))
                sway.activate("red")
                becomes(daemon, red=("split", True), blue=("split", False))


def x11_display(sway):
    """sway sets $DISPLAY for what it starts."""
    told = sway.home / "display"
    sway.do(f"exec echo $DISPLAY > {told}.new && mv {told}.new {told}")
    return wait_until("sway to say its display", lambda: told.exists() and told.read_text().strip())


BROWSER = f"/user.slice/user-{USER}.slice/user@{USER}.service/app.slice/app-browser-1.scope"
TERMINAL = f"/user.slice/user-{USER}.slice/user@{USER}.service/app.slice/app-terminal-1.scope"


@claim("a browser's process for the camera is where its window is: as its child, and as an orphan in its unit")
def browsers():
    with groups.made(BROWSER), Sway() as sway, desk(claims=True) as daemon, sway.agent(daemon):
        with DesktopApp(daemon, sway, "red", "claim") as red, DesktopApp(
                daemon, sway, "browser", "claim", f"unit={BROWSER}", "child=child+windowless",
                "child=orphan+windowless+orphan") as browser:
            red.wait("started")
            everybody = {"red", "browser", "child", "orphan"}
            wait_until("all to have sessions", lambda: set(presences(daemon)) == everybody)
            # Of several clients behind one window one has the focus: the one whose window it is.
            sway.activate(browser.name)
            becomes(daemon, red=("split", False), browser=("split", True), child=("split", False), orphan=("split", False))
            sway.do("layout tabbed")
            sway.activate("red")
            becomes(daemon, red=("split", True), browser=("background", False), child=("background", False),
                    orphan=("background", False))


@claim("programs started in one terminal are where the terminal is, and never where another one's window is")
def terminals():
    with groups.made(TERMINAL), Sway() as sway, desk(claims=True) as daemon, sway.agent(daemon):
        sway.do("layout tabbed")
        with DesktopApp(daemon, sway, "terminal", "claim", f"unit={TERMINAL}", "child=player+tty",
                        "child=tool+windowless+tty", "child=left+windowless+orphan+tty"):
            everybody = {"terminal", "player", "tool", "left"}
            wait_until("all to have sessions", lambda: set(presences(daemon)) == everybody)
            wait_until("the player's window", lambda: len(re.findall(
                r'"app_id": "(terminal|player)"', json.dumps(sway.tree()))) == 2)
            for front, behind in (("player", "terminal"), ("terminal", "player")):
                sway.activate(front)
                place = "split" if front == "terminal" else "background"
                # The one that has left the terminal's processes, and has its own terminal, is no part of any of them.
                becomes(daemon, **{front: ("split", True), behind: ("background", False)}, tool=(place, False),
                        left=("background", False))
