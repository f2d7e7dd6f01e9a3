"""Two programs that know no broker, each by a door of its own, and the focus moving between their windows: the one in focus has the camera,
and the other's pictures are slates from the cut on, which the marks in the simulated camera's pictures prove."""
import contextlib, queue, shutil, subprocess, sys, threading, time

from desktop import Agent, tells_apart
from harness import PATIENCE, ROOT, Daemon, Ended, Skipped, claim, ran, read_mark, spawn, wait_until
from pipewire_door import Video, doorway
from screen import Screen
from sway import Sway

sys.path.append(str(ROOT / "clients" / "v4l2" / "tests"))
import slates

HANDOVERS = 50
SETTLED = 12  # more pictures than wait between a camera and a program's screen
WIDTH, HEIGHT = 640, 480
SHIM = ROOT / "clients" / "v4l2" / ".build" / "libcamarb-v4l2.so"
# What the loser is shown; it names no app.
USED = "Another app has the camera."
# What is not looked at here.
QUIET = ("--microphones", "none", "--indicator", "none", "--notifications", "none", "--questions", "none", "--permission-store", "none")


class Shown:
    """A picture as a program showed it: when the camera took it and its number there, or the slate's text."""

    def __init__(self, picture):
        self.mark = read_mark(picture, WIDTH, HEIGHT, WIDTH)
        self.text = None if self.mark else slates.read(picture, WIDTH, HEIGHT)


class Program(Ended):
    """GStreamer under a name of its own: a window, and the same pictures to be looked at."""

    def __init__(self, name, source, window, environment, home, user):
        self.name, self.count, self.last, self.mark = name, 0, None, None
        programs = home / "bin"
        programs.mkdir(exist_ok=True)
        program = programs / name
        if not program.exists():
            program.symlink_to(shutil.which("gst-launch-1.0"))
        self.log = home / f"{name}.log"
        self.process = spawn(
            program, "-q", *source, "!", f"video/x-raw,width={WIDTH},height={HEIGHT}", "!", "tee", "name=t",
            "t.", "!", "queue", "leaky=downstream", "max-size-buffers=1", "!", "videoconvert", "!", *window, "sync=false",
            "t.", "!", "queue", "leaky=downstream", "max-size-buffers=4", "!", "videoconvert", "!", "video/x-raw,format=GRAY8", "!",
            "fdsink", "sync=false", log=self.log, user=user, env=environment, stdout=subprocess.PIPE)
        # Read all the time, so that a picture is looked at when it is shown and not when somebody asks.
        self.pictures = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while len(picture := self.process.stdout.read(WIDTH * HEIGHT)) == WIDTH * HEIGHT:
            self.pictures.put(picture)
        self.pictures.put(None)

    def lives(self):
        assert self.process.poll() is None, f"{self.name} ended with {self.process.returncode}:\n{self.log.read_text(errors='replace')}"
        return True

    def next(self, patience=PATIENCE):
        try:
            picture = self.pictures.get(timeout=patience)
        except queue.Empty:
            raise AssertionError(f"{self.name} shows nothing any more; last {self.last and (self.last.mark or self.last.text)}") from None
        assert picture is not None, f"{self.name} ended with {self.process.wait()}:\n{self.log.read_text(errors='replace')}"
        self.count += 1
        self.last = Shown(picture)
        self.mark = self.last.mark or self.mark
        return self.last

    def waiting(self):
        """All that it has shown meanwhile."""
        while not self.pictures.empty():
            yield self.next()

    def until(self, what, condition):
        until = time.monotonic() + PATIENCE
        seen = set()
        while time.monotonic() < until:
            shown = self.next()
            if condition(shown):
                return shown
            seen.add(shown.text or "the camera")
        raise AssertionError(f"{self.name} did not show {what}; it showed {seen}")

    def settles(self, what, condition):
        """Until it shows that and nothing else: SETTLED pictures in a row, of those that are still to come."""
        for _ in self.waiting():
            pass
        row = 0

        def settled(shown):
            nonlocal row
            row = row + 1 if condition(shown) else 0
            return row == SETTLED

        self.until(what, settled)

    def __exit__(self, *_):
        # Its pictures are the thread's to read.
        self.process.kill()
        self.process.wait()


class OnX11:
    user = None
    window = ["ximagesink"]

    def __init__(self):
        self.screen = Screen()

    def __enter__(self):
        return self

    def __exit__(self, *rest):
        self.screen.__exit__(*rest)

    def variables(self):
        return {"DISPLAY": self.screen.name}

    def agent(self, daemon, video):
        return Agent(daemon, *QUIET, **{**video.variables, **self.variables()})

    def windows(self):
        return self.screen.display.managed()

    def take(self, program, before):
        """The one window that was not there before is the program's."""
        (program.window,) = wait_until(f"the window of {program.name}", lambda: program.lives() and self.windows() - before)

    def focus(self, program):
        self.screen.display.activate(program.window)


class OnSway:
    window = ["waylandsink"]

    def __init__(self):
        self.screen = Sway()
        self.user = Sway.user

    __enter__, __exit__ = OnX11.__enter__, OnX11.__exit__

    def variables(self):
        return {"WAYLAND_DISPLAY": self.screen.name}

    def agent(self, daemon, video):
        return self.screen.agent(daemon, *QUIET, **video.variables)

    def windows(self):
        return set()

    def take(self, program, before):
        wait_until(f"the window of {program.name}", lambda: program.lives() and any(
            window.get("pid") == program.process.pid for window in everything(self.screen.tree())))

    def focus(self, program):
        self.screen.do(f"[pid={program.process.pid}] focus")


def everything(node):
    """What sway's tree is made of."""
    yield node
    for inside in node["nodes"] + node["floating_nodes"]:
        yield from everything(inside)


@contextlib.contextmanager
def contenders(desk):
    """mirror comes by the V4L2 door, booth by the one in PipeWire."""
    if not tells_apart():
        raise Skipped("all processes of this run are one unit's, and so one app's")
    if not SHIM.exists():
        raise Skipped("the V4L2 door is not built (make -C clients)")
    for element in (desk.window[0], "v4l2src"):
        if ran("gst-inspect-1.0", element, status=None).returncode:
            raise Skipped(f"GStreamer has no {element} here (make/packages desktop installs it)")
    with Video(user=desk.user) as video, Daemon(user=desk.user) as daemon, desk.agent(daemon, video):
        doorway(video)
        common = {**video.environment(), **desk.variables(), "LC_ALL": "C.UTF-8"}
        shim = {**common, "CAMARB_V4L2": "force", "LD_PRELOAD": str(SHIM), "LD_LIBRARY_PATH": str(SHIM.parents[2] / ".build"),
                "CAMARB_SOCKET": str(daemon.path)}
        before = desk.windows()
        with Program("mirror", ["v4l2src", "device=/dev/video0"], desk.window, shim, video.directory, desk.user) as mirror:
            desk.take(mirror, before)
            before = desk.windows()
            with Program("booth", ["pipewiresrc", "target-object=camarb.front"], desk.window, common, video.directory,
                         desk.user) as booth:
                desk.take(booth, before)
                yield mirror, booth


def contend(kind):
    with kind() as desk, contenders(desk) as (mirror, booth):
        desk.focus(mirror)
        winner, loser = mirror, booth
        # Both windows had the focus when they came, and what was shown then is still to be read.
        winner.settles("the camera", lambda shown: shown.mark)
        loser.settles("slates", lambda shown: shown.text and USED in shown.text)
        for _ in range(HANDOVERS):
            winner, loser = loser, winner
            desk.focus(winner)
            first = winner.until("the camera", lambda shown: shown.mark).mark
            loser.until("a slate", lambda shown: shown.text and USED in shown.text)
            # What the camera took for the one, it took before anything that it took for the other.
            assert loser.mark[0] < first[0], f"{loser.name} was shown {loser.mark}, and {winner.name} has the camera since {first}"
            # Both for a while: the winner has the camera, whose numbers rise; the loser has slates, and not one picture more.
            last = first
            for _ in range(5):
                shown = winner.next()
                assert shown.mark and shown.mark > last, f"{winner.name} shows {shown.mark or shown.text} after {last}"
                last = shown.mark
            for shown in loser.waiting():
                assert not shown.mark, f"{loser.name} shows frame {shown.mark} behind its slate; {winner.name} has the camera since {first}"
                assert USED in shown.text and "By: " not in shown.text, shown.text
        assert all(program.process.poll() is None for program in (mirror, booth))
        for program in (mirror, booth):
            said = program.log.read_text(errors="replace")
            assert "ERROR" not in said, said
        return f"{HANDOVERS} handovers, {mirror.count} and {booth.count} pictures looked at"


for name, kind in (("X11", OnX11), ("sway", OnSway)):
    claim(f"two programs by different doors on {name}: the camera follows the focus {HANDOVERS} times, and the loser's pictures are slates "
          "from the cut on")(lambda kind=kind: contend(kind))
