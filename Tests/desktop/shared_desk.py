"""Three real programs at one camera: a call in Chromium, OBS Studio, and an app that records; the focus goes from each to each other."""
import contextlib, json, pathlib, tempfile, time

from browser import PATIENCE
from browsers import Browser, desk
from desktop import status
from harness import Ended, Folder, claim, end, is_there, plain, ran, recorded_marks, spawn, wait_until
from parity import built
from pipewire_door import Focus, sessions, through_v4l2
from screen import needs
from sharing import ENDS, MIDDLE, SMALL, Reader
import windows

CHANGES = 20
# From each to each other one, again and again.
ORDER = "recorder", "chromium", "obs", "chromium", "recorder", "obs"
# So long the focus stays with each at least, in seconds: what OBS showed meanwhile is looked for in its recording afterwards.
TURN = 1.5
# So much of what OBS shows its encoder holds back at most, in seconds, and loses where OBS is ended.
HELD_BACK = 3.0
# Without a picture for so long, in seconds, nobody would say that it goes on, also on a busy machine.
GAP_MAX = 2.0
RATE = 30
YUYV = int.from_bytes(b"YUYV", "little")  # as V4L2 names a pixel format


class Call(Browser):
    """Chromium, through PipeWire's door; what it has is what the far side of its call sees."""

    app = "chromium"

    def __init__(self, portal, page):
        super().__init__(portal, page, self.app, calls=True)

    def captured(self):
        """When each legible picture was captured that arrived at the far side."""
        with self.page.lock:
            return [moment for moment in self.page.captured[self.tag] if moment]

    def has_camera(self, since):
        wait_until("the far side of the call to see what was captured since", lambda: self.captured()[-1:] > [since], PATIENCE)

    def has_none(self):
        self.sees("interrupted")


def obs_settings(folder):
    """Files in OBS's home: the camera in the size and at the rate that it has here, dot by dot, and where it records."""
    files = dict(windows.OBS_SETTINGS)
    for name, content in files.items():
        if name.endswith("basic.ini"):
            files[name] = f"{content}FPSCommon={RATE}\n[SimpleOutput]\nFilePath={folder}\nRecQuality=Small\nRecEncoder=x264_lowcpu\n"
            files[name] += "RecFormat=mkv\nRecFormat2=mkv\n"
        if name.endswith("scenes/Untitled.json"):
            scenes = json.loads(content)
            scenes["sources"][0]["settings"] |= {"pixelformat": YUYV, "resolution": SMALL[0] << 16 | SMALL[1], "framerate": 1 << 16 | RATE}
            files[name] = json.dumps(scenes)
    return files


class Obs(Ended):
    """OBS Studio, through the V4L2 door, which records from its beginning on what it shows of the camera."""

    app = "obs"

    def __init__(self, portal, daemon):
        self.daemon = daemon
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="obs.", dir=portal.directory))
        for name, content in obs_settings(self.home).items():
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
            (self.home / name).write_text(content)
        self.log = self.home / "log"
        self.process = spawn("obs", "--multi", "--startrecording", log=self.log, env={
            **portal.environment(), **through_v4l2(daemon), "HOME": str(self.home), "LIBGL_ALWAYS_SOFTWARE": "1"})

    def __exit__(self, kind, *why):
        super().__exit__(kind, *why)
        if kind is not None:
            print(f"  OBS said:\n{self.log.read_text(errors='replace')[-3000:]}")

    def opens(self):
        """Waits until it is a client that wants the camera, and records."""
        self.comes_to_be("running", "restricted", "interrupted")
        wait_until("OBS to record", lambda: list(self.home.glob("*.mkv")), PATIENCE)

    def comes_to_be(self, *states):
        def so():
            assert self.process.poll() is None, f"OBS ended with {self.process.returncode}"
            return [one for one in sessions(self.daemon) if one["app"] == self.app and one["state"] in states]

        wait_until(f"OBS's session to be {' or '.join(states)}", so, PATIENCE)

    def has_camera(self, since):
        self.comes_to_be("running", "restricted")

    def has_none(self):
        self.comes_to_be("interrupted")

    def captured(self):
        """Ends OBS: when each frame of its recording was captured, None where that is no picture of the camera."""
        time.sleep(HELD_BACK)
        # A program that OBS starts, by way of a shell in some versions, writes the file, and completes it when OBS ends.
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task").iterdir()
        writers = [int(child) for task in tasks for child in (task / "children").read_text().split()]
        assert writers, "OBS records nothing any more"
        end(self.process)
        wait_until("OBS's recording to be whole", lambda: not any(map(is_there, writers)))
        (file,) = self.home.glob("*.mkv")
        return [mark and mark[0] for mark in recorded_marks(file)]

    @staticmethod
    def version():
        return ran("obs", "--version").stdout.split(" (")[0].strip()


class Recorder(Reader):
    app = "recorder"

    def __init__(self, daemon, folder):
        self.file = folder / "recorded.mkv"
        super().__init__(daemon, self.app, MIDDLE, RATE)

    def starts(self):
        self.sees()
        self.tell(f"record {self.file}")
        self.hears("RECORDING_STARTED")

    def is_told_of_control(self, app):
        self.hears("ACCESS_CHANGED", lambda said: said.get("controller", self.app) == app and (app != self.app) == ("controller" in said))

    def has_camera(self, since):
        self.reads(since)

    def has_none(self):
        self.hears("WAS_INTERRUPTED")

    def captured(self):
        return [said["mark"] for said in self.said if said.get("mark")]


class Turns:
    """Who had the focus when, and what the broker's trace says of that time."""

    def __init__(self, daemon, focus, programs):
        self.daemon, self.focus, self.programs = daemon, focus, {one.app: one for one in programs}
        self.begun = self.over = time.monotonic_ns()
        # Whose time it was, and from when to when. One ends, and the next begins, somewhere in the change.
        self.spans = [[ORDER[0], self.begun, None]]

    def run(self, then):
        """Each change of focus: `then` is told the winner, the loser, and a moment after the change."""
        time.sleep(TURN)
        for turn in range(1, CHANGES + 1):
            loser, winner = (ORDER[at % len(ORDER)] for at in (turn - 1, turn))
            before = time.monotonic_ns()
            self.focus.on(winner)
            wait_until(f"{winner} to have control", lambda: plain(status(self.daemon)[1][0])["holder"] == winner)
            changed = self.spans[-1][2] = time.monotonic_ns()
            self.spans.append([winner, before, None])
            then(self.programs[winner], self.programs[loser], changed)
            time.sleep(max(0, TURN - (time.monotonic_ns() - changed) / 1e9))
        self.over = self.spans[-1][2] = time.monotonic_ns()

    def apps(self):
        """Whose turn it was, one after the other."""
        return [app for app, _, _ in self.spans]

    def during(self, moments):
        return [moment for moment in moments if moment and self.begun < moment < self.over]

    def of(self, app):
        return [(since, until) for whose, since, until in self.spans if whose == app]

    def steps(self, trace):
        """The effects of each step of the broker's in that time, with the names of sessions' apps."""
        apps = {}
        for step in map(json.loads, trace.read_text().splitlines()):
            if step.get("event") == "created":
                apps[step["session"]] = step["name"]
            if self.begun < step.get("at", 0) < self.over:
                yield [{**effect, "app": apps.get(effect["session"])} if "session" in effect else effect for effect in step["effects"]]


@contextlib.contextmanager
def three(policy, folder):
    """The three under a policy, with the camera one after the other; at last the app that records has the focus, and records."""
    needs("chromium", "obs")
    built()
    built("v4l2")
    with desk(policy=policy, extra=("--trace", folder / "trace")) as (portal, daemon, page, _), contextlib.ExitStack() as stack:
        focus = Focus(daemon)
        call = stack.enter_context(Call(portal, page))
        call.opens()
        call.has_camera(time.monotonic_ns())
        obs = stack.enter_context(Obs(portal, daemon))
        obs.opens()
        focus.on(Recorder.app)
        recorder = stack.enter_context(Recorder(daemon, folder))
        recorder.starts()
        assert {one["app"] for one in sessions(daemon)} == set(ORDER), sessions(daemon)
        yield Turns(daemon, focus, (call, obs, recorder)), call, obs, recorder


def longest(moments, turns):
    """The longest time without a picture during the turns, in seconds."""
    within = [turns.begun, *turns.during(moments), turns.over]
    return max(later - earlier for earlier, later in zip(within, within[1:])) / 1e9


def controllers(steps):
    """Whom each change of control names, and what each app is told of that in the same step: no name is itself."""
    for effects in steps:
        holders = [effect["app"] for effect in effects if effect["effect"] == "holderChanged"]
        if holders:
            yield holders, {effect["app"]: effect["controller"] or effect["app"] for effect in effects
                            if effect.get("notice") == "AccessChanged"}


@claim(f"Chromium in a call, OBS and a recording have one camera at once: {CHANGES} changes of focus under desktop-shared.toml interrupt "
       "none of them, and pass control, of which all three are told")
def shared():
    with Folder() as folder:
        with three("desktop-shared", folder) as (turns, call, obs, recorder):
            seen = len(call.page.of(call.tag))

            def goes_on(winner, loser, changed):
                recorder.is_told_of_control(winner.app)
                for one in call, obs, recorder:
                    one.has_camera(changed)

            turns.run(goes_on)
            recorder.tell("finish")
            finished = recorder.hears("RECORDING_FINISHED")
            # On a busy machine frames may be left out of a recording, which is told, and which its end counts.
            events = {said["event"] for said in recorder.said if "event" in said}
            assert not events & (ENDS - {"RUNTIME_ERROR"}), events
            call.is_live_throughout()
            assert {what for what, _, frames in call.page.of(call.tag)[seen:] if frames is not None} == {"picture"}
            shown = obs.captured()
        shown = shown[shown.index(next(filter(None, shown))):]
        assert None not in shown, f"OBS recorded {shown.count(None)} frames of something else than the camera"
        marks = recorded_marks(recorder.file)
        assert None not in marks, f"{marks.count(None)} frames of the recording are something else than the camera"
        recorded, numbers = zip(*marks)
        # By the camera's own numbers; what was left out before the first and after the last frame is counted, too.
        missing = numbers[-1] + 1 - numbers[0] - len(numbers)
        assert finished["reason"] == "stopped" and finished["frames"] == len(recorded), (finished, len(recorded))
        assert missing <= finished["frames_left_out"], (finished, missing)
        gaps = [longest(moments, turns) for moments in (recorded, shown, call.captured())]
        assert max(gaps) < GAP_MAX, gaps
        steps = list(turns.steps(folder / "trace"))
        cuts = [effect for effects in steps for effect in effects if effect.get("notice") in ("WasInterrupted", "DidStopRunning")]
        assert not cuts, cuts
        assert list(controllers(steps)) == [([app], dict.fromkeys(ORDER, app)) for app in turns.apps()[1:]], list(controllers(steps))
        return (f"{obs.version()}, {call.version()}; {len(recorded)} frames recorded in {(recorded[-1] - recorded[0]) / 1e9:.0f} s and "
                f"{missing} left out; OBS recorded {len(shown)}; at the far side of the call {call.note()}, {len(call.captured())} of them "
                f"read; longest gaps {', '.join(f'{gap:.2f} s' for gap in gaps)}")


@claim(f"under desktop.toml each of {CHANGES} changes of focus between Chromium in a call, OBS and a recording interrupts the one who "
       "loses, and a recording that was cut does not go on by itself")
def exclusive():
    with Folder() as folder:
        with three("desktop", folder) as (turns, call, obs, recorder):
            def passes(winner, loser, changed):
                loser.has_none()
                winner.has_camera(changed)

            turns.run(passes)
            call.is_live_throughout()
            taken = {one.app: turns.during(one.captured()) for one in (call, obs, recorder)}
        for app, moments in taken.items():
            counts = [sum(since < moment < until for moment in moments) for since, until in turns.of(app)]
            assert min(counts) and sum(counts) == len(moments), f"{app} saw {len(moments)} pictures, and in its turns {counts}"
        ends = [said["reason"] for said in recorder.heard("RECORDING_FINISHED")]
        assert (len(recorder.heard("RECORDING_STARTED")), ends) == (1, ["interrupted"]), ends
        recorded = recorded_marks(recorder.file)
        assert recorded and None not in recorded and recorded[-1][0] < turns.spans[0][2], (turns.spans[0], recorded[-1:])
        cut = [effect["app"] for effects in turns.steps(folder / "trace") for effect in effects if effect.get("notice") == "WasInterrupted"]
        assert cut == turns.apps()[:-1], cut
        return f"{len(cut)} interruptions; {', '.join(f'{app} saw {len(moments)} pictures' for app, moments in taken.items())}"
