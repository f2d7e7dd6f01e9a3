"""Several real sessions on one camera: one controls, others have their own pictures beside it, and record them where the policy lets them."""
import contextlib, os, time

from harness import (BROKER, CAMERA, ROOT, Daemon, Folder, Refused, Speaking, children_of, claim, needs_root, probed, recorded_marks,
                     refused, stopped, wait_until)
from parity import BUILD, CLIENTS, built
from restart import Brokers

SHARERS_MAX = 32  # of a camera (Bound.swift)
WIDE, MIDDLE, SMALL = (1920, 1080), (1280, 720), (640, 480)
ENDS = {"WAS_INTERRUPTED", "DID_STOP_RUNNING", "SESSION_STOPPED", "RUNTIME_ERROR", "ENDED", "DISCONNECTED"}


def shared(sharing="read-only", serve="holder", share_with="user"):
    """A policy under which the first session holds, and all others share."""
    return f"""name = "shared"
[contention]
order     = []
tie       = "holder"
newcomer  = "queue"
loser     = "interrupt"
sharing   = "{sharing}"
sharers   = ["preview", "photo", "record"]
serve     = "{serve}"
share-with = "{share_with}"
re-decide = "facts"
"""


def format_of(size):
    return f"420v {size[0]}x{size[1]}@30"


class Reader(Speaking):
    """A program of its own that reads pictures, through the Python module."""

    def __init__(self, daemon, app, size, rate):
        self.size, self.rate = size, rate
        super().__init__("/usr/bin/python3", ROOT / "Tests" / "interop" / "programs" / "reader.py", app, format_of(size), rate,
                         log=daemon.directory / app, env={
                             **os.environ, "CAMARB_SOCKET": str(daemon.path), "PYTHONPATH": str(CLIENTS / "python"),
                             "CAMARB_LIBRARY": str(BUILD / "libcamarb.so.1"), "PYTHONDONTWRITEBYTECODE": "1"})

    def hears(self, event, where=lambda said: True):
        return self.wait(lambda said: said.get("event") == event and where(said))

    def sees(self, size=None):
        """Waits for the next picture of a size, its own if none is given."""
        size = size or self.size
        return self.wait(lambda said: "captured" in said and (said["width"], said["height"]) == size)

    def reads(self, until):
        """Takes all lines up to the first picture that was captured after that moment."""
        # Each picture is waited for by itself: a minute of them is longer than a wait is patient.
        while self.wait(lambda said: "captured" in said)["captured"] <= until:
            pass

    def pictures(self, since, until):
        return [said for said in self.said if since <= said.get("captured", 0) <= until]

    def heard(self, event, since=0):
        return [said for said in self.said[since:] if said.get("event") == event]

    def is_undisturbed(self):
        events = {said["event"] for said in self.said if "event" in said}
        assert not events & ENDS, events


@contextlib.contextmanager
def readers(daemon, *wanted):
    """Each begins when the one before has its pictures: the first holds."""
    built()
    with contextlib.ExitStack() as stack:
        begun = []
        for app, size, rate in wanted:
            begun.append(stack.enter_context(Reader(daemon, app, size, rate)))
            begun[-1].sees()
        yield begun


def read(seconds):
    with Daemon(shared()) as daemon, readers(daemon, ("wide", WIDE, 30), ("middle", MIDDLE, 15), ("small", SMALL, 30)) as three:
        since = time.monotonic_ns() + 10**9
        until = since + seconds * 10**9
        # A program whose words nobody reads stands still.
        for moment in range(since, until + 1, 10**9):
            for reader in three:
                reader.reads(moment)
        wide, middle, small = ([one["captured"] for one in reader.pictures(since, until)] for reader in three)
        for reader in three:
            reader.is_undisturbed()
            sizes = {(one["width"], one["height"]) for one in reader.pictures(since, until)}
            assert sizes == {reader.size}, f"{reader.size} had {sizes}"
            others = [one for one in reader.pictures(since, until) if one["mark"] != one["captured"]]
            assert not others, f"{len(others)} pictures of another moment, as {others[:3]}"
        # One frame is the same moment to all who get it; a busy machine may keep one of them from a few.
        assert len(set(small) & set(wide)) >= 0.9 * len(small) and len(set(middle) & set(wide)) >= 0.9 * len(middle), three
        assert len(wide) >= 0.8 * 30 * seconds, f"{len(wide)} pictures in {seconds} s"
        assert abs(len(small) - len(wide)) <= 0.1 * len(wide) and abs(2 * len(middle) - len(wide)) <= 0.1 * len(wide), (
            len(wide), len(middle), len(small))
        steps = sorted(later - earlier for earlier, later in zip(middle, middle[1:]))
        assert abs(steps[len(steps) // 2] - 10**9 / 15) < 10**7, f"{steps[len(steps) // 2]} ns from one of 15 a second to the next"
        return f"{len(wide)}, {len(middle)} and {len(small)} pictures in {seconds} s"


READ = "three programs read one camera, 1920x1080 at 30, 1280x720 at 15 and 640x480 at 30: each has its size, rate and times"


@claim(f"{READ}, without an interruption")
def three_read():
    return read(6)


@claim(f"{READ} for a minute", long="it takes a minute")
def three_read_on():
    return read(60)


@claim("two programs record one camera beside each other, each its own size, and each file plays on where the other's ends")
def two_record():
    with Folder() as folder, Daemon(shared()) as daemon, readers(daemon, ("wide", MIDDLE, 30), ("small", SMALL, 30)) as two:
        files = [folder / f"{reader.size[0]}.mkv" for reader in two]
        for reader, file in zip(two, files):
            reader.tell(f"record {file}")
            reader.hears("RECORDING_STARTED")
        time.sleep(2)
        two[1].tell("finish")
        two[1].hears("RECORDING_FINISHED", lambda said: said["reason"] == "stopped")
        time.sleep(1)
        two[0].tell("finish")
        two[0].hears("RECORDING_FINISHED", lambda said: said["reason"] == "stopped")
        counts = []
        for reader, file in zip(two, files):
            (stream,) = probed(file, "-count_frames", "-show_entries", "stream=width,height,nb_read_frames")["streams"]
            assert (stream["width"], stream["height"]) == reader.size, (reader.size, stream)
            counts.append(int(stream["nb_read_frames"]))
        assert counts[0] > counts[1] + 15 > 45, counts
        assert None not in recorded_marks(files[0]) + recorded_marks(files[1])
        return f"{counts[0]} and {counts[1]} frames"


@claim("who shares a camera is told which app controls it, and told again when another one does, by the last commit")
def controllers():
    with Daemon(shared("all")) as daemon, readers(daemon, ("first", MIDDLE, 30), ("second", SMALL, 30)) as (first, second):
        assert [said.get("controller") for said in second.heard("ACCESS_CHANGED")] == ["first"], second.heard("ACCESS_CHANGED")
        second.tell('{"videoZoomFactor": 2.0}')
        first.hears("ACCESS_CHANGED", lambda said: said.get("controller") == "second")
        second.hears("ACCESS_CHANGED", lambda said: "controller" not in said and "configure" in said["access"])
        for reader in first, second:
            reader.reads(time.monotonic_ns())
            reader.is_undisturbed()


@claim("what is left out of a sharer's recording is told to the sharer, and not to the app that controls the camera")
def left_out():
    with Folder() as folder, Daemon(shared("all")) as daemon, readers(daemon, ("other", MIDDLE, 30), ("records", MIDDLE, 30)) as two:
        other, records = two
        records.tell(f"record {folder / 'recorded.mkv'}")
        records.hears("RECORDING_STARTED")
        # By then the recording has the process that writes its file.
        records.reads(time.monotonic_ns() + 10**9)
        writers = [writer for core in daemon.recorders() for writer in children_of(core, "camwriter")]
        assert writers, "nothing writes the recording"
        before = len(other.said)
        # The file is not written on until the recording's frames have no room any more.
        with stopped(*writers):
            said = records.hears("RUNTIME_ERROR", lambda said: said["error_name"] == "recording-overrun")
        assert "left out of recording" in said["error"], said
        records.tell("finish")
        records.hears("RECORDING_FINISHED", lambda said: said["frames_left_out"] > 0)
        other.reads(time.monotonic_ns())
        assert not [said for said in other.said[before:] if said.get("event") == "RUNTIME_ERROR"], other.said[before:]


@claim("a sharer's wish counts while it runs: it hears the format that is in force for it, and no other session's pictures change")
def wishes():
    with Daemon(shared()) as daemon, readers(daemon, ("wide", WIDE, 30), ("small", SMALL, 30)) as (wide, small):
        before = len(wide.said)
        small.tell(f'{{"activeFormat": "{format_of(MIDDLE)}", "frameRate": 15.0}}')
        applied = small.hears("CONFIGURATION_APPLIED", lambda said: said["in_force"].get("activeFormat") == format_of(MIDDLE))
        assert applied["in_force"]["frameRate"] == 15, applied
        small.sees(MIDDLE)
        # Larger than what the camera gives: as large as that.
        small.tell(f'{{"activeFormat": "420v 3840x2160@30"}}')
        small.sees(WIDE)
        small.tell(f'{{"activeFormat": "{format_of(SMALL)}", "formatMatch": "exact"}}')
        small.sees()
        sizes = {(said["width"], said["height"]) for said in wide.said[before:] if "captured" in said}
        assert sizes <= {WIDE} and not wide.heard("CONFIGURATION_APPLIED", before), (sizes, wide.heard("CONFIGURATION_APPLIED"))


@claim("what a sharer gets otherwise than it wishes is refused where it says exact, and the refusal says what it would get")
def exactly():
    with Daemon(shared()) as daemon, readers(daemon, ("wide", MIDDLE, 30), ("small", SMALL, 30)) as (_, small):
        before = len(small.said)
        small.tell(f'{{"activeFormat": "{format_of(WIDE)}", "formatMatch": "exact"}}')
        assert "1280x720" in small.hears("ANSWERED")["error"]
        small.tell('{"frameRate": 10.0, "formatMatch": "exact"}')
        assert small.hears("CONFIGURATION_APPLIED")["in_force"]["frameRate"] == 10
        assert not [said for said in small.said[before:] if "captured" in said and (said["width"], said["height"]) != SMALL]


@claim("where a policy serves the largest wish the camera takes its format, and whoever wishes less has its own size all the while")
def largest():
    with Daemon(shared(serve="largest")) as daemon, readers(daemon, ("small", SMALL, 30), ("wide", MIDDLE, 15)) as (small, wide):
        begun = wide.sees()["captured"]
        small.reads(begun + 10**9)
        for reader in small, wide:
            reader.is_undisturbed()
        sizes = {(said["width"], said["height"]) for said in small.said if "captured" in said}
        assert sizes == {SMALL}, sizes
        cut = small.pictures(begun, begun + 10**9)
        assert len(cut) >= 25, f"{len(cut)} pictures in a second beside a sharer's size"


@claim("control passes between two apps that record, by their commits, and both recordings go on, each to its own end")
def control_passes():
    with Folder() as folder, Daemon(shared("all")) as daemon, readers(daemon, ("wide", MIDDLE, 30), ("small", SMALL, 30)) as two:
        files = [folder / f"{reader.size[0]}.mkv" for reader in two]
        for reader, file in zip(two, files):
            reader.tell(f"record {file}")
            reader.hears("RECORDING_STARTED")
        for turn in range(4):
            winner, loser = two[1 - turn % 2], two[turn % 2]
            winner.tell(f'{{"videoZoomFactor": {turn + 1.5}}}')
            loser.hears("ACCESS_CHANGED", lambda said: "controller" in said)
            winner.hears("CONFIGURATION_APPLIED", lambda said: said["in_force"].get("videoZoomFactor") == turn + 1.5)
            for reader in two:
                reader.reads(time.monotonic_ns())
        two[0].tell("finish")
        two[0].hears("RECORDING_FINISHED", lambda said: said["reason"] == "stopped")
        # It controls the camera, whose format the other one records.
        two[0].tell(f'{{"activeFormat": "{format_of(WIDE)}"}}')
        assert "small" in two[0].hears("ANSWERED", lambda said: "error" in said)["error"]
        two[1].tell("finish")
        two[1].hears("RECORDING_FINISHED", lambda said: said["reason"] == "stopped")
        for reader in two:
            reader.is_undisturbed()
        for reader, file in zip(two, files):
            (stream,) = probed(file, "-show_entries", "stream=width,height")["streams"]
            marks = recorded_marks(file)
            assert (stream["width"], stream["height"]) == reader.size and None not in marks, (stream, marks)
            steps = [(later[0] - earlier[0]) / 10**9 for earlier, later in zip(marks, marks[1:])]
            assert max(steps) < 0.5, f"{max(steps)} s without a frame in the recording of {reader.size}"


@claim("over the kill of a broker the holder and its recording go on unheard, and a sharer runs beside it again by itself")
def over_a_brokers_end():
    with Folder() as folder, Brokers(policy=shared()) as brokers, readers(brokers, ("wide", MIDDLE, 30), ("small", SMALL, 30)) as (
            wide, small):
        files = [folder / f"{reader.size[0]}.mkv" for reader in (wide, small)]
        for reader, file in zip((wide, small), files):
            reader.tell(f"record {file}")
            reader.hears("RECORDING_STARTED")
        wide.reads(time.monotonic_ns() + 10**9)
        brokers.next()
        small.hears("RECORDING_FINISHED")
        small.hears("DID_START_RUNNING")
        small.hears("ACCESS_CHANGED", lambda said: said.get("controller") == "wide")
        small.sees()
        wide.reads(time.monotonic_ns())
        wide.is_undisturbed()
        wide.tell("finish")
        wide.hears("RECORDING_FINISHED", lambda said: said["reason"] == "stopped")
        assert len(recorded_marks(files[0])) > 30 and len(recorded_marks(files[1])) > 15


@claim("a sharer of another user's is told of another user's app, and never of its name")
def another_users():
    needs_root()
    alice, bob = 1000, 1001
    with Daemon(shared(share_with="everyone"), users=(alice, bob)) as daemon:
        daemon.running("teams", user=alice)
        for user, told in ((bob, "another user's app"), (alice, "teams")):
            app, _ = daemon.running(f"mirror-{user}", user=user)
            assert app.wait("AccessChanged")[-1] == told
            assert user == alice or "teams" not in str(app.signals), app.signals


@claim("a sharer that stops reading, or gives no picture back, hurts itself alone, and has new pictures as soon as it goes on")
def slow_sharer():
    with Daemon(shared()) as daemon, readers(daemon, ("wide", MIDDLE, 30), ("small", SMALL, 30), ("other", SMALL, 30)) as (
            wide, small, other):
        def others_read():
            since = time.monotonic_ns()
            for reader in (wide, other):
                reader.reads(since + 2 * 10**9)
            counts = [len(reader.pictures(since, since + 2 * 10**9)) for reader in (wide, other)]
            assert min(counts) >= 45, counts
            return counts

        with stopped(small.process.pid):
            counts = others_read()
        began = time.monotonic_ns()
        small.reads(began)
        small.tell("keep")
        counts += others_read()
        small.tell("release")
        small.reads(time.monotonic_ns())
        return f"{counts} pictures in 2 s each"


@claim("a camera has 32 sharers beside its holder, and the next is refused by that bound")
def bounded():
    with Daemon(shared()) as daemon:
        daemon.running("holder")
        for number in range(SHARERS_MAX):
            daemon.running(f"sharer-{number}")
        one = daemon.app("one-more").session()
        refused(one.start, str(SHARERS_MAX), "sharers", error="LimitExceeded")
        daemon.apps[1].close()
        wait_until("a place", lambda: starts(one))


def starts(session):
    with contextlib.suppress(Refused):
        session.start()
        return True


def captured(stream):
    """When each of twenty frames was captured, each with the picture of its own moment."""
    moments = set()
    for _ in range(20):
        frame = stream.read()
        assert frame is not None and frame.mark and frame.mark[0] == frame.timestamp, frame and frame.mark
        stream.release(frame)
        moments.add(frame.timestamp)
    return moments


@claim("a watcher sees the same pictures as whoever controls, and may not record or configure")
def beside():
    with Daemon("windows") as daemon:
        (_, control), (mirror, watch) = daemon.running("teams"), daemon.running("mirror", sharingMode="sharedReadOnly")
        streams = control.stream(), watch.stream()
        mirror.wait("AccessChanged")
        assert captured(streams[0]) & captured(streams[1]), "two sessions of one camera never saw the same frame"
        refused(lambda: watch.record(daemon.directory / "none.mkv"), error="AccessDenied")
        refused(lambda: watch.configure(videoZoomFactor=2.0), error="AccessDenied")
        control.configure(videoZoomFactor=2.0)
        applied = mirror.wait("ConfigurationApplied")
        assert "sharer" in applied, applied


@claim("a status tells another user of a sharer as another user's app, and its own user of its name")
def sharers_told():
    needs_root()
    alice, bob = 1000, 1001
    with Daemon("windows", cameras=(f"{CAMERA}=none",), users=(alice, bob)) as daemon:
        daemon.running("teams", user=alice)
        daemon.running("mirror", user=alice, sharingMode="sharedReadOnly")
        for user, shown in ((alice, ("teams", ["mirror"])), (bob, ("another user's app", ["another user's app"]))):
            status = daemon.app(user=user).call(BROKER, "GetStatus")
            (camera,) = status[1]
            assert (camera["holder"][1], camera["sharers"][1]) == shown, camera
        assert "teams" not in str(status) and "mirror" not in str(status), f"a name of another user's app is in it: {status}"
