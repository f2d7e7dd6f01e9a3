"""Two real processes contend for one camera: what the loser sees ends before what the winner sees begins."""
import hashlib, itertools, json, mmap, os, pathlib, select, signal, socket, sys

from harness import PATIENCE, Daemon, Ended, Folder, claim, is_blank, recorded_marks, spawn

HANDOVERS = 200
# Of two that record: each file is decoded.
RECORDED_HANDOVERS = 8
SMALL = "420v 640x480@60 binned"
# Frames that the winner has while the loser's memory must not change.
MANY = 60


class Contender(Ended):
    def __init__(self, daemon, name):
        self.name = name
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.process = spawn(sys.executable, pathlib.Path(__file__).parent / "contender.py", daemon.address, name, theirs.fileno(), MANY,
                             pass_fds=[theirs.fileno()])
        theirs.close()
        self.buffers = []

    def hear(self, patience=PATIENCE):
        """What it says next. Descriptors replace those of an earlier grant."""
        if not select.select([self.socket], [], [], patience)[0]:
            raise AssertionError(f"{self.name} said nothing for {patience:.0f} s")
        text, descriptors, _, _ = socket.recv_fds(self.socket, 4096, 64)
        if not text:
            raise AssertionError(f"{self.name} ended with status {self.process.wait()}")
        said = json.loads(text)
        if descriptors:
            for descriptor in self.buffers:
                os.close(descriptor)
            self.buffers = descriptors
        return said

    def until(self, what, since=0):
        """The next it says of this kind, about the grant `since` or a later one: an app that was there first may have
        had the camera for a moment before the test began."""
        while True:
            said = self.hear()
            if said["what"] == what and said.get("grant", since) >= since:
                return said


def memory(descriptor):
    return mmap.mmap(descriptor, os.fstat(descriptor).st_size, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)


def give_focus(shell, winner, loser):
    shell.place(winner, "fullscreen", True)
    shell.place(loser, "fullscreen")


@claim(f"of two that contend, in {HANDOVERS} handovers in a row, no frame of the loser is captured after the winner's first")
def handovers():
    with Daemon() as daemon:
        shell = daemon.shell()
        with Contender(daemon, "red") as red, Contender(daemon, "blue") as blue:
            red.until("ready"), blue.until("ready")
            give_focus(shell, "red", "blue")
            grant, gaps = red.until("first")["grant"], []
            winner, loser = red, blue
            for _ in range(HANDOVERS):
                winner, loser = loser, winner
                give_focus(shell, winner.name, loser.name)
                cut = loser.until("cut", since=grant)
                started = winner.until("first", since=grant + 1)
                grant = started["grant"]
                assert cut["grant"] < grant, (cut, started)
                gaps.append(started["time"] - cut["last"])
                assert gaps[-1] > 0, f"{loser.name}'s last frame was captured after {winner.name}'s first: {cut}, {started}"
            return f"closest {min(gaps) / 1e6:.2f} ms"


def the_loser_sees_nothing(then):
    """`then` happens to the loser's process just before the camera is taken from it."""
    with Daemon() as daemon:
        shell = daemon.shell()
        with Contender(daemon, "red") as red, Contender(daemon, "blue") as blue:
            red.until("ready"), blue.until("ready")
            give_focus(shell, "red", "blue")
            held = red.until("first")["grant"]
            mappings = [memory(descriptor) for descriptor in red.buffers]
            assert mappings, "no buffer to look at"
            assert any(any(mapping[:4096]) for mapping in mappings), "the buffers were blank before the cut"
            then(red)
            give_focus(shell, "blue", "red")
            started = blue.until("first", since=held + 1)
            assert all(map(is_blank, mappings)), "of the loser's buffers not all are blank after the cut"
            digests = [hashlib.sha256(mapping).digest() for mapping in mappings]
            # The winner's frames are counted by its own process.
            blue.until("many", since=held + 1)
            assert [hashlib.sha256(mapping).digest() for mapping in mappings] == digests, "the loser's memory changed"
            if red.process.poll() is None:
                os.kill(red.process.pid, signal.SIGCONT)
                cut = red.until("cut", since=held)
                assert cut["last"] < started["time"], (cut, started)
            give_focus(shell, "red", "blue")
            if red.process.poll() is None:
                blue.until("cut", since=started["grant"])


@claim(f"after a cut the loser's whole mapping is blank, and does not change while the winner streams {MANY} frames; the same when the "
       "loser is stopped with SIGSTOP, and when it is killed")
def blank():
    for then in (lambda loser: None, lambda loser: os.kill(loser.process.pid, signal.SIGSTOP),
                 lambda loser: (loser.process.kill(), loser.process.wait())):
        the_loser_sees_nothing(then)


def marks_of(stream, count):
    """The capture times burnt into that many frames, or into all until the end."""
    seen = []
    while len(seen) < count and (frame := stream.read()) is not None:
        # The buffers are blanked before the stream's end is told.
        if frame.mark:
            assert frame.mark[0] == frame.timestamp, "the record and the picture disagree about the capture time"
            seen.append(frame.mark[0])
        stream.release(frame)
    return seen


@claim(f"in {RECORDED_HANDOVERS} handovers between two that record, pictures and files end before the next one's begin, and each cut "
       "but the last names the next one")
def passes_on():
    with Folder() as folder:
        trace, last = folder / "trace", 1 << 30
        # Whoever asked last has the camera.
        with Daemon('name = "newest"\n\n[contention]\norder = ["newest"]\n', extra=("--trace", trace)) as daemon:
            apps = [daemon.app(name) for name in ("red", "blue")]
            # What one has set is not what the other finds.
            sessions = [apps[0].session(activeFormat=SMALL, videoZoomFactor=2.0), apps[1].session(activeFormat=SMALL)]
            held, stream = [], None
            for turn in range(RECORDED_HANDOVERS + 1):
                winner, loser = turn % 2, 1 - turn % 2
                sessions[winner].start()
                if stream:
                    held[-1] += marks_of(stream, last)
                    stream.close()
                apps[winner].wait("DidStartRunning")
                stream = sessions[winner].stream()
                sessions[winner].record(folder / f"{turn}.mkv")
                held.append(marks_of(stream, 10))
                if turn:
                    apps[loser].wait("RecordingFinished")
                    sessions[loser].call("StopRunning")
            sessions[winner].call("StopRunning")
            held[-1] += marks_of(stream, last)
            apps[winner].wait("RecordingFinished")
        for turn, seen in enumerate(held):
            recorded = recorded_marks(folder / f"{turn}.mkv")
            assert recorded and all(recorded), f"recording {turn} has {len(recorded)} frames: {recorded}"
            held[turn] = sorted(seen + [time for time, _ in recorded])
        for before, after in itertools.pairwise(held):
            assert before[-1] < after[0], f"{before[-1] - after[0]} ns after the winner's first frame the loser has one"
        effects = [effect for line in trace.read_text().splitlines() for effect in json.loads(line).get("effects", [])]
        orders = [effect for effect in effects if effect["effect"] in ("cut", "open")]
        assert [order["effect"] for order in orders] == ["open", "cut"] * (RECORDED_HANDOVERS + 1), orders
        follows = [order.get("next") for order in orders[1::2]]
        assert follows == [order["session"] for order in orders[2::2]] + [None], (follows, orders)
