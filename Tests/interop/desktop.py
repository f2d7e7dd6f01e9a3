"""Windows on X11, told by camagent: the camera follows the focus. A real X server without a screen, a real window
manager, and apps that are processes of their own, each with a window and a session."""
import contextlib, json, os, pathlib, shutil, signal, sys, tempfile

import groups
from camclient import camclient
from harness import (BROKER, PROGRAMS, ROOT, SHELL, Daemon, Skipped, Speaking, claim, end, needs_root, ran, refused, spawn, stopped,
                     wait_until)
from screen import USER, Screen

PROGRAM = str(PROGRAMS / "camagent")
ROUNDS = 10
CAUSE = "video-device-in-use-by-another-client"


def tells_apart():
    """Whether the kernel tells this test's processes apart. Where the whole run is a unit of its own, they are all that
    unit's, and claims have to stand in for what a desktop's own units would say."""
    unit = pathlib.Path("/proc/self/cgroup").read_text().strip().rsplit("/", 1)[-1]
    return not unit.endswith((".service", ".scope")) or unit.startswith(("session-", "user@", "init."))


class Agent:
    def __init__(self, daemon, *words, status=0, user=None, **variables):
        """With `user` it is that user's, and can reach no bus and no home of anybody else's."""
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="camarb-agent."))
        if user is not None:
            os.chown(self.directory, user, user)
        self.log = self.directory / "log"
        self.status = status
        elsewhere = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE", "CAMARB_SOCKET", "DBUS_SESSION_BUS_ADDRESS")
        environment = {key: value for key, value in os.environ.items() if key not in elsewhere and not key.startswith("PIPEWIRE_")}
        environment.update({"XDG_RUNTIME_DIR": str(self.directory), **variables})
        self.process = spawn(PROGRAM, "--socket", daemon.path, *words, env=environment, log=self.log, user=user)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        status = end(self.process)
        said = self.said()
        shutil.rmtree(self.directory, ignore_errors=True)
        if kind is not None:
            print(f"  camagent said:\n{said}")
        else:
            assert status == self.status, f"camagent's exit status is {status}; it said:\n{said}"

    def said(self):
        return self.log.read_text(errors="replace")

    def says(self, words, count=1):
        wait_until(f"camagent to say {words!r}", lambda: self.said().count(words) >= count or self.ended())

    def ended(self):
        assert self.process.poll() is None, f"camagent ended with {self.process.returncode}:\n{self.said()}"
        return False


class DesktopApp(Speaking):
    def __init__(self, daemon, screen, name, *words):
        self.name = name
        super().__init__(sys.executable, pathlib.Path(__file__).parent / "desktop_app.py", daemon.address, screen.name, name, *words,
                         *([] if tells_apart() else ["claim"]), user=screen.user)
        for unit in (word[5:] for word in words if word.startswith("unit=")):
            groups.put(self.process.pid, unit)
        self.window = None if "windowless" in words else self.wait("window")["window"]

    def wait(self, what):
        return super().wait(lambda said: said["what"] == what)

    def do(self, command):
        self.tell(command)


@contextlib.contextmanager
def two_apps(daemon, screen):
    with DesktopApp(daemon, screen, "red") as red, DesktopApp(daemon, screen, "blue") as blue:
        red.wait("started"), blue.wait("started")
        yield red, blue


def status(daemon, user=None):
    with contextlib.closing(daemon.app(user=user)) as app:
        return app.call(BROKER, "GetStatus")


def unknown(daemon, user=None):
    return status(daemon, user)[0]["unknown"][1]


def are_known(daemon, known=True, what="windows"):
    """Waits until the broker is told of windows or microphones, or is not: for the user that its policy names, or this one."""
    user = USER if daemon.users else None
    wait_until(f"the {what} to be known: {known}", lambda: (what not in unknown(daemon, user)) == known)


def presences(daemon):
    return {one["app"][1]: (one["presence"][1], one["focused"][1]) for one in status(daemon)[2]}


def becomes(daemon, /, **expected):
    """Until these apps have sessions, and nobody else, each with its presence and whether it is focused."""
    wait_until(f"{expected}", lambda: presences(daemon) == expected)


def holder(daemon):
    camera = status(daemon)[1][0]
    return camera["holder"][1] if camera["tenancy"][1] == "streaming" else None


def runs(daemon, app):
    wait_until(f"{app.name} to run", lambda: holder(daemon) == app.name)


def focus(daemon, screen, app, *others):
    """Gives an app the focus, once all windows are there: a new one takes it."""
    names = {app.name, *(other.name for other in others)}
    wait_until("all windows to be in front", lambda: names == {
        name for name, (presence, _) in presences(daemon).items() if presence != "background"})
    wait_until("one to be focused", lambda: [focused for _, focused in presences(daemon).values()].count(True) == 1)
    screen.display.activate(app.window)
    becomes(daemon, **{app.name: ("split", True)}, **{other.name: ("split", False) for other in others})


def caught_up(*apps, forgetting=False):
    """Until each has said all that came before, which may be forgotten then."""
    for app in apps:
        app.do("answer")
        app.wait("answer")
        if forgetting:
            del app.said[:app.seen]
            app.seen = 0


def notices(app):
    """What an app was told of interruptions, and for which causes."""
    return [(said["what"], said["body"][3]) for said in app.said[:app.seen] if said["what"] in ("WasInterrupted", "InterruptionEnded")]


def hand_back_and_forth(daemon, screen):
    """Two apps on a screen whose windows are known: ROUNDS handovers, and every notice that either of them was given."""
    with two_apps(daemon, screen) as (red, blue):
        # Which of the two was there first is not what this is about.
        focus(daemon, screen, blue, red)
        swap_focus(daemon, screen, red, blue, changes=False)


def swap_focus(daemon, screen, red, blue, helper=None, changes=True):
    """The focus goes to red and back to blue, ROUNDS handovers in all, by the broker's word; then blue's window is what a
    window can be, where it changes. `helper` is the name of a process of blue's that has no window, and is where blue is, never focused."""
    def placed(ours, theirs):
        becomes(daemon, **{red.name: ours, blue.name: theirs}, **({helper: (theirs[0], False)} if helper else {}))

    screen.display.activate(blue.window)
    placed(("split", False), ("split", True))
    runs(daemon, blue)
    caught_up(red, blue, forgetting=True)
    for _ in range(ROUNDS // 2):
        for front in (red, blue):
            screen.display.activate(front.window)
            placed(("split", front is red), ("split", front is blue))
            runs(daemon, front)
    caught_up(red, blue)
    lost, back = ("WasInterrupted", [CAUSE]), ("InterruptionEnded", [CAUSE])
    for app, told in ((red, [back, lost]), (blue, [lost, back])):
        assert notices(app) == told * (ROUNDS // 2), (app.name, app.said)
    if not changes:
        return
    blue.do("fullscreen")
    placed(("background", False), ("fullscreen", True))
    blue.do("window")
    placed(("split", False), ("split", True))
    blue.do("minimize")
    placed(("split", True), ("background", False))


def desk(**options):
    return Daemon(claims=not tells_apart(), **options)


@contextlib.contextmanager
def on_x11(**options):
    with Screen() as screen, desk(**options) as daemon, Agent(daemon, DISPLAY=screen.name) as agent:
        yield screen, daemon, agent


@claim(f"the focus moving between two X11 windows moves the camera, {ROUNDS} times, with the right notices both ways; an app whose window "
       "fills the screen is fullscreen, what it covers and what is minimized or closed is in the background")
def focus_moves_the_camera():
    with on_x11() as (screen, daemon, _), two_apps(daemon, screen) as (red, blue):
        focus(daemon, screen, blue, red)
        swap_focus(daemon, screen, red, blue)
        screen.display.activate(blue.window)
        becomes(daemon, red=("split", False), blue=("split", True))
        red.do("close")
        becomes(daemon, red=("background", False), blue=("split", True))


@claim("an agent that comes when an app already runs places it without a moment in the background")
def no_gap():
    # An app in the background is interrupted here, as on a phone.
    strict = (ROOT / "policies" / "desktop.toml").read_text().replace(
        "[contention]", '[[cause]]\nname = "In the background"\nwhen = { presence = "background" }\n'
        'cause = "video-device-not-available-in-background"\n\n[contention]', 1)
    with Screen() as screen, desk(policy=strict) as daemon, DesktopApp(daemon, screen, "red") as red:
        red.wait("DidStartRunning")
        with Agent(daemon, DISPLAY=screen.name):
            wait_until("red to be focused", lambda: presences(daemon)["red"] == ("split", True))
            caught_up(red)
            so_far = [said["what"] for said in red.said]
            assert "WasInterrupted" not in so_far and "DidStopRunning" not in so_far, so_far
            # The policy does see it in the background when it is there.
            red.do("minimize")
            assert red.wait("WasInterrupted")["body"][3] == ["video-device-not-available-in-background"]


@claim("a window manager that dies, and an X server that goes away, are said and survived")
def manager_and_server():
    with on_x11() as (screen, daemon, agent):
        with two_apps(daemon, screen) as (red, blue):
            # One that is killed leaves all it wrote behind; one that is asked to go takes some of it along.
            for count, how, app, other in ((1, signal.SIGKILL, red, blue), (2, signal.SIGTERM, blue, red)):
                focus(daemon, screen, app, other)
                before = presences(daemon)
                screen.stop_manager(how)
                agent.says("the window manager went away", count)
                assert presences(daemon) == before, "what was known did not stay"
                screen.start_manager()
                agent.says("windows: known", count)
                # Which window a new manager gives the focus to, if any, is its own affair.
                screen.display.activate(app.window)
            focus(daemon, screen, red, blue)
        screen.stop_manager()
        screen.stop_server()
        agent.says("the X server went away")
        are_known(daemon, False)
        screen.start_server(screen.number)
        screen.start_manager()
        are_known(daemon)


@claim("an X server that is stopped holds up neither the broker's other facts nor camagent's end, running or connecting")
def stopped_server():
    with Screen() as screen, desk() as daemon, contextlib.ExitStack() as stack:
        with Agent(daemon, DISPLAY=screen.name):
            are_known(daemon)
            stack.enter_context(stopped(screen.server.pid))
            daemon.restart()
            are_known(daemon)
        with Agent(daemon, DISPLAY=screen.name) as agent:
            # It says this once it has looked everywhere it can.
            agent.says("microphones: ")


@claim("without X11 camagent says what it does not know, leaves every app in front, and camclient status says it too")
def nothing_known():
    with desk() as daemon:
        with Agent(daemon) as agent:
            agent.says("windows: there is no X11 display")
            agent.says("microphones: ")
            assert unknown(daemon) == ["windows", "microphones"], unknown(daemon)
            assert "not known: windows, microphones" in camclient(daemon, "status").stdout
        with Agent(daemon, DISPLAY="localhost:10.0") as agent:
            agent.says("another machine")


@claim("a window that writes another app's process id is still its own app's: the X server's word counts")
def forged():
    with on_x11() as (screen, daemon, _), DesktopApp(daemon, screen, "red") as red:
        red.wait("started")
        with DesktopApp(daemon, screen, "blue", f"forge={red.process.pid}") as blue:
            blue.wait("started")
            focus(daemon, screen, red, blue)
            focus(daemon, screen, blue, red)


@claim("a window that has the number of one that is gone is its own app's, however fast it came")
def same_number():
    with on_x11() as (screen, daemon, agent):
        with DesktopApp(daemon, screen, "red") as red:
            red.wait("started")
            becomes(daemon, red=("split", True))
            # So that the end of one window and the beginning of the other are one piece of news.
            agent.process.send_signal(signal.SIGSTOP)
        with DesktopApp(daemon, screen, "blue") as blue:
            blue.wait("started")
            agent.process.send_signal(signal.SIGCONT)
            if blue.window != red.window:
                raise Skipped("the X server gave the second window another number")
            becomes(daemon, blue=("split", True))
            # Followed like any other, too.
            blue.do("minimize")
            becomes(daemon, blue=("background", False))


@claim("camagent --once shows windows, apps and microphones, for people and as JSON, and --print each change until Ctrl-C; a wrong command "
       "line is status 2")
def once():
    with Screen() as screen, desk() as daemon, DesktopApp(daemon, screen, "red") as red:
        environment = {**os.environ, "DISPLAY": screen.name, "XDG_RUNTIME_DIR": screen.home}

        def run(*words, status=0):
            return ran(PROGRAM, *words, env=environment, status=status)

        def seen():
            return json.loads(run("--once", "--json", "--windows", "x11").stdout)

        screen.display.activate(red.window)
        sight = wait_until("a focused window", lambda: next(
            (sight for sight in [seen()] if any(window["focused"] for window in sight["windows"] or [])), None))
        (window,) = sight["windows"]
        assert window["window"] == red.window and window["process"] == red.process.pid, window
        assert sight["apps"] == [{"app": window["app"], "presence": "split", "focused": True}], sight
        if tells_apart():
            assert window["app"] == "red", window
        text = run("--once", "--windows", "x11").stdout
        assert f"({red.process.pid})" in text and "focused, in front" in text, text
        assert "not known" in text, "PipeWire cannot be there"
        assert "--windows" in run("--help").stdout
        # It says what it sees at each change, until Ctrl-C.
        with Speaking(PROGRAM, "--print", "--json", "--windows", "x11", "--microphones", "none", env=environment) as printing:
            printing.wait(lambda sight: [app["focused"] for app in sight["apps"]] == [True])
            red.do("minimize")
            printing.wait(lambda sight: [app["presence"] for app in sight["apps"]] == ["background"])
            assert end(printing.process, signal.SIGINT) == 0
        for wrong in (["--windows", "some"], ["--json"], ["--fly"], ["--socket"], ["--once=1"]):
            assert wrong[0].split("=")[0] in run(*wrong, status=2).stderr, wrong


@claim("an agent is believed for its own user only")
def own_user_only():
    needs_root()
    with desk() as daemon:
        red, _ = daemon.running("red")
        other = daemon.app(user=USER)
        other.call(SHELL, "Attach", "s", "agent")
        other.place("mine", "fullscreen", True)
        there = [{"app": ("s", "red@0"), "presence": ("s", "background"), "focused": ("b", False)}]
        for call in (("PlaceApp", "ssb", "red@0", "background", False), ("TakeMicrophone", "s", "red@0"),
                     ("AttachPlacing", "saa{sv}", "agent", there)):
            refused(lambda: other.call(SHELL, *call), error="NotTrusted")
        assert other.call(SHELL, "ListClients")[0] == [], "another user's clients were told"
        # Its own attaching says nothing about this user, whose windows stay unknown and whose apps in front.
        assert list(presences(daemon).values()) == [("fullscreen", False)], presences(daemon)
        assert "windows" in unknown(daemon)
        red.is_not_told("WasInterrupted")
