"""Files that hang: whoever writes to them, cuts them or looks at them waits without end, and cannot be killed. And files whose
recorder core is killed over them."""
import contextlib, os, pathlib, random, signal, socket, tempfile, time

from jeepney.io import blocking

import slow_files
from harness import PROGRAMS, SHELL, App, Folder, end, listening, played, recorded_marks, spawn, stat_of, wait_until
from liar import RECORDER
from rows import Child, Figure, attack, neighbour, peak, percentile, row, timed


class Peer(blocking.DBusConnection):
    def __init__(self, path):
        blocking.DBusConnectionBase.__init__(self, blocking.prep_socket(str(path), True, timeout=10.0), True)
        self._filters = blocking.MessageFilters()


class RecorderCore(App):
    """A camrecorder of its own, as its broker has it, which is this process."""

    def __init__(self, folder):
        self.signals, self.seen, self.passed = [], 0, []
        path = folder / "socket"
        with listening(path, 1) as listener:
            self.process = spawn(PROGRAMS / "camrecorder", "--camera", "simulated", "--fd", listener.fileno(),
                                 pass_fds=(listener.fileno(),))
            self.connection = Peer(path)

    def ask(self, member, signature, *body):
        return self.call(RECORDER, member, signature, *body)

    def end(self):
        return timed(lambda: end(self.process, signal.SIGKILL))[1]


def envelope(descriptor):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        socket.send_fds(theirs, [b"\0"], [descriptor])
    return ours


def hang():
    """Recordings and photos into a file that hangs, beside a recording into one that does not."""
    figures = {}
    file = slow_files.SlowFile(keeps=False)
    with Folder() as folder:
        core = RecorderCore(folder)
        # From here on no program is started: its descriptors are closed first, and so would this one be.
        hanging = file.open()
        file.hang()
        try:
            core.ask("Open", "ta{sv}", 1, {"activeFormat": ("s", "420v 640x480@60 binned"), "frameRate": ("d", 30.0)})

            def record(number, session, descriptor):
                core.ask("ActFor", "tt", 1, session)
                core.ask("StartRecording", "ttha{sv}", 1, number, envelope(descriptor), {})

            def give_up(number):
                record(number, 7, hanging)
                return core.wait("RecordingFinished", lambda body: body[0] == number)

            # Another session records into a file that is well, beside all that hangs.
            with tempfile.TemporaryFile() as well:
                record(2, 8, well.fileno())
            ended, figures["given up"] = timed(lambda: give_up(1))
            assert ended[1] == "write-error" and ended[2] == 0, ended
            for photo in (1, 2, 3):
                core.ask("CapturePhoto", "tttha{sv}", 1, 7, photo, envelope(hanging), {})
            for photo in (1, 2, 3):
                body = core.wait("PhotoCaptured", lambda body: body[0] == photo)
                assert "did not answer" in body[4], body
            core.ask("StopRecording", "tsa{sv}", 2, "stopped", {})
            ended = core.wait("RecordingFinished", lambda body: body[0] == 2)
            assert ended[1] == "stopped", ended
            figures["gap"] = ended[3] / 1e6 - ended[2] * 1000 / 30
            figures["overruns"] = sum(member == "RuntimeError" and body[0] == "recording-overrun" for _, member, body in core.signals)
            # Four hang: the next file is refused at once, with a sentence.
            ended, figures["refused"] = timed(lambda: give_up(3))
            said = [body[1] for _, member, body in core.signals if member == "RuntimeError"]
            assert ended[1] == "write-error" and "4 files hang already" in said[-1], (ended, said)
            _, figures["cut"] = timed(lambda: core.ask("Cut", "tsa{sv}", 1, "stopped", {}))
            figures["killed"] = core.end()
        finally:
            file.end()
            core.end()
    wait_until("the processes that hung to end", lambda: not writers())
    return figures


def writers():
    """Those of this machine in our mount namespace."""
    ours = os.readlink("/proc/self/ns/mnt")
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if stat_of(process)[0] == "camwriter" and os.readlink(f"/proc/{process}/ns/mnt") == ours:
                return True
    return False


@row("hanging-files", "a file that hangs costs its photo or recording, and neither the camera nor another recording",
     "a recording, three photos and another recording into a file whose server stopped answering")
def hanging_files():
    figures = Child(0, hang).result()
    yield Figure("a recording into it is given up after", figures["given up"], "ms", most=4000)
    yield Figure("the next file is refused after", figures["refused"], "ms", most=500)
    yield Figure("the longest gap of another session's recording beside all that would be", figures["gap"], "ms", most=500)
    yield Figure("frames that were left out because encoding was late", figures["overruns"], most=0)
    yield Figure("a cut is answered after", figures["cut"], "ms", most=500)
    yield Figure("a recorder core that is killed is gone after", figures["killed"], "ms", most=1000)


def die_over(daemon, shell, chance):
    """A recording whose recorder core is killed somewhere in it: how many frames were told and are there, seconds that were
    lost, and what its duration is beside what was told of it, in milliseconds."""
    # A client of its own, and a camera that has just been plugged in: a core that dies again and again before it gave frames for
    # ten seconds is waited for longer each time, and five deaths end a session, which is not what is asked here.
    for is_there in (False, True):
        shell.call(SHELL, "Plug", "sb", "front", is_there)
    app, session = daemon.running("photos", "front")
    (core,) = [core for core in daemon.recorders() if pathlib.Path(f"/proc/{core}/cmdline").read_bytes().endswith(b"\0simulated\0")]
    stream = session.stream()
    file = daemon.directory / "killed.mkv"
    recording = session.record(file)
    begun = time.monotonic_ns()
    for _ in range(chance.randrange(3, 45)):
        stream.release(stream.read())
    time.sleep(chance.uniform(0, 0.033))
    killed = time.monotonic_ns()
    os.kill(core, signal.SIGKILL)
    ended = app.wait("RecordingFinished", lambda body: body[2] == recording)
    assert ended[3] == "recorder-reset", ended
    app.close()
    daemon.apps.remove(app)
    if ended[4] in (0, 2**64 - 1):
        # Killed before its first frame was encoded: on a busy machine there may not even be a header.
        frames, seconds = played(file) if os.path.getsize(file) > 1 << 17 else (0, 0.0)
        return 0, frames, 0, (killed - begun) / 1e9, 0.0, True
    marks = recorded_marks(file)
    assert None not in marks, "a frame of the recording has no burnt-in mark"
    frames, seconds = played(file)
    lost = (killed - marks[-1][0]) / 1e9
    return ended[4], frames, len(marks), lost, abs(seconds * 1000 - ended[5] / 1e6), ended[6] == os.path.getsize(file)


@attack("killed-recorders", "a recording whose recorder core is killed is whole, and its end says what is in it",
        "SIGKILL of recorder cores somewhere in their recordings, 500 times (6), beside a session on another camera",
        (6, 12), (500, 300), cameras=("front=simulated", "back=simulated:iphone6-back"))
def killed_recorders(daemon, load):
    count, seconds = load
    chance = random.Random(9)
    beside, _ = daemon.running("beside", "back")
    calls = neighbour(daemon, seconds)
    shell = daemon.shell()
    ends = []
    for _ in range(count):
        ends.append(die_over(daemon, shell, chance))
        # Everybody is told what becomes of the camera, and a client that never reads is disconnected.
        for app in (beside, shell):
            app.poll()
    told, frames, marks, lost, apart, fits = zip(*ends)
    same = sum(a == b == c for a, b, c in zip(told, frames, marks))
    yield Figure("recordings that open and play, with as many frames as their end said", same, least=count)
    yield Figure("with as many bytes", sum(fits), least=count)
    yield Figure("killed before they had a frame", told.count(0), most=count // 2)
    yield Figure("frames in all of them", sum(frames), least=count)
    yield Figure("the most that was lost before the kill", max(lost), "s", most=1)
    yield Figure("their duration is apart from what was said by", max(apart), "ms", most=2)
    yield Figure("events of the session on another camera", len(beside.names()) - 1, most=0)
    yield Figure("p99 of another user's call", percentile(calls.result(patience=600)[0], 0.99), "ms", most=20)
    yield peak(daemon)
