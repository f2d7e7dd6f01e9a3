"""Windows on Wayland, told by camagent, which asks sway: a real compositor without a screen, as a user of its own since it
runs for no root, and apps that are processes of their own, each with a window and a session."""
import contextlib, json, re, signal

import groups
from camclient import camclient
from desktop import ROUNDS, Agent, DesktopApp, are_known, becomes, focus, hand_back_and_forth, presences, tells_apart, two_apps, unknown
from harness import PATIENCE, Daemon, claim, ran, wait_until
from screen import USER, Compositor


class Sway(Compositor):
    """A sway without a screen. It names its sockets anew each time."""

    def __init__(self, xwayland=False):
        super().__init__("sway", "swaymsg", *(["Xwayland"] if xwayland else []), WLR_BACKENDS="headless", WLR_RENDERER="pixman",
                         WLR_LIBINPUT_NO_DEVICES="1")
        self.config = self.home / "config"
        self.config.write_text(f"xwayland {'enable' if xwayland else 'disable'}\nfocus_follows_mouse no\n")
        self.start()

    def start(self):
        for left in self.home.glob("wayland-*"):
            left.unlink()

        def answers():
            self.socket = str(self.home / f"sway-ipc.{USER}.{self.process.pid}.sock")
            return ran("swaymsg", "-s", self.socket, "-t", "get_version", status=None).returncode == 0

        self.launch("sway", "-c", self.config, answers=answers, patience=PATIENCE)
        (self.name,) = [str(path) for path in self.home.iterdir() if re.fullmatch(r"wayland-\d+", path.name)]

    def do(self, command):
        ran("swaymsg", "-s", self.socket, command)

    def activate(self, window):
        self.do(f'[app_id="^{window}$"] focus')

    def tree(self):
        return json.loads(ran("swaymsg", "-s", self.socket, "-t", "get_tree", "-r").stdout)

    def agent(self, daemon, *words, **variables):
        return Agent(daemon, *words, user=USER, **{
            "SWAYSOCK": self.socket, "WAYLAND_DISPLAY": self.name, "XDG_RUNTIME_DIR": str(self.home), **variables})


def desk(**options):
    """A broker that this user's apps may ask for a camera."""
    return Daemon(**{"claims": not tells_apart(), **options}, users=(USER,))


@contextlib.contextmanager
def on_sway(**options):
    with Sway() as sway, desk(**options) as daemon, sway.agent(daemon) as agent:
        are_known(daemon)
        yield sway, daemon, agent


def said(daemon):
    return camclient(daemon, "status", user=USER).stdout


@claim(f"the focus moving between two windows of sway's moves the camera, {ROUNDS} times, with the right notices both ways")
def focus_moves_the_camera():
    with on_sway() as (sway, daemon, _):
        hand_back_and_forth(daemon, sway)


@claim("on sway an app that fills the screen is fullscreen; one that it covers, on another workspace, in another tab or on "
       "the scratchpad is in the background")
def layouts():
    with on_sway() as (sway, daemon, _), two_apps(daemon, sway) as (red, blue):
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
    with on_sway() as (sway, daemon, agent):
        for _ in range(2):
            sway.stop(signal.SIGKILL)
            are_known(daemon, False)
            sway.start()
            are_known(daemon)
        agent.says("windows: sway went away")
        agent.says("windows: known from sway")
        with two_apps(daemon, sway) as apps:
            focus(daemon, sway, *apps)


@claim("a sway that is stopped holds up neither the broker's other facts nor camagent's end; what it said last stands")
def stopped():
    with Sway() as sway, desk() as daemon:
        with sway.agent(daemon):
            are_known(daemon)
            sway.process.send_signal(signal.SIGSTOP)
            daemon.restart()
            are_known(daemon)
        with sway.agent(daemon) as agent:
            agent.says("microphones: ")
            assert "windows" in unknown(daemon, USER)
            sway.process.send_signal(signal.SIGCONT)
            are_known(daemon)


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
    with groups.made(BROWSER), on_sway(claims=True) as (sway, daemon, _):
        with DesktopApp(daemon, sway, "red", "claim") as red, DesktopApp(
                daemon, sway, "browser", "claim", f"unit={BROWSER}", "child=child+windowless",
                "child=orphan+windowless+orphan") as browser:
            red.wait("started")
            wait_until("all to have sessions", lambda: set(presences(daemon)) == {"red", "browser", "child", "orphan"})
            # Of several clients behind one window one has the focus: the one whose window it is.
            sway.activate(browser.name)
            becomes(daemon, red=("split", False), browser=("split", True), child=("split", False), orphan=("split", False))
            sway.do("layout tabbed")
            sway.activate("red")
            becomes(daemon, red=("split", True), browser=("background", False), child=("background", False),
                    orphan=("background", False))


@claim("programs started in one terminal are where the terminal is, and never where another one's window is")
def terminals():
    with groups.made(TERMINAL), on_sway(claims=True) as (sway, daemon, _):
        sway.do("layout tabbed")
        with DesktopApp(daemon, sway, "terminal", "claim", f"unit={TERMINAL}", "child=player+tty",
                        "child=tool+windowless+tty", "child=left+windowless+orphan+tty"):
            wait_until("all to have sessions", lambda: set(presences(daemon)) == {"terminal", "player", "tool", "left"})
            wait_until("the player's window", lambda: len(re.findall(r'"app_id": "(terminal|player)"', json.dumps(sway.tree()))) == 2)
            for front, behind in (("player", "terminal"), ("terminal", "player")):
                sway.activate(front)
                place = "split" if front == "terminal" else "background"
                # The one that has left the terminal's processes, and has its own terminal, is no part of any of them.
                becomes(daemon, **{front: ("split", True), behind: ("background", False)}, tool=(place, False),
                        left=("background", False))
