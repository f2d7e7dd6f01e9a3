"""Files that hang: whoever writes to them, cuts them or looks at them waits without end, and cannot be killed."""
import os, pathlib, shutil, signal, socket, subprocess, tempfile, time

from jeepney import DBusAddress
from jeepney.io import blocking

from hanging_file import HangingFile
from harness import PROGRAMS, App, die_with_parent, wait_until
from rows import Child, Figure, row

RECORDER = DBusAddress("/org/camarb/Recorder1", "org.camarb", "org.camarb.Recorder1")


class Peer(blocking.DBusConnection):
    """A connection without a bus, which nobody says Hello to."""

    def __init__(self, path):
        blocking.DBusConnectionBase.__init__(self, blocking.prep_socket(str(path), True, timeout=10.0), True)
        self._filters = blocking.MessageFilters()


class Broker(App):
    def __init__(self, path):
        self.connection, self.signals, self.seen = Peer(path), [], 0


class RecorderCore:
    """A camrecorder of its own, and its broker's end, which is this process."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="camarb-core."))
        path = self.directory / "socket"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            listener.listen(1)
            self.process = subprocess.Popen(
                [PROGRAMS / "camrecorder", "--camera", "simulated", "--fd", str(listener.fileno())],
                pass_fds=(listener.fileno(),), stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
            self.broker = Broker(path)

    def call(self, member, signature=None, *body):
        return self.broker.call(RECORDER, member, signature, *body)

    def end(self):
        """SIGKILL: how long its process outlived it, in milliseconds."""
        begun = time.monotonic()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=20)
        shutil.rmtree(self.directory, ignore_errors=True)
        return (time.monotonic() - begun) * 1000


def envelope(descriptor):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        socket.send_fds(theirs, [b"\0"], [descriptor])
    return ours


def timed(function):
    begun = time.monotonic()
    result = function()
    return result, (time.monotonic() - begun) * 1000


def hang(short):
    """Recordings and photos into a file that hangs, beside a recording into one that does not."""
    file = HangingFile()
    core = RecorderCore()
    figures = {}
    try:
        hanging = file.open()
        core.call("Open", "ta{sv}", 1, {"activeFormat": ("s", "420v 640x480@60 binned")})

        def record(number):
            core.call("StartRecording", "ttha{sv}", 1, number, envelope(hanging), {})
            return core.broker.wait("RecordingFinished", lambda body: body[0] == number)

        ended, figures["given up"] = timed(lambda: record(1))
        assert ended[1] == "write-error" and ended[2] == 0, ended
        # The camera goes on, and so does a recording into a file that is well, beside photos that hang.
        good = core.directory / "good.mkv"
        with open(good, "w+b") as well:
            core.call("StartRecording", "ttha{sv}", 1, 2, envelope(well.fileno()), {})
        for photo in (1, 2, 3):
            core.call("CapturePhoto", "tttha{sv}", 1, 7, photo, envelope(hanging), {})
        for photo in (1, 2, 3):
            body = core.broker.wait("PhotoCaptured", lambda body: body[0] == photo)
            assert "did not answer" in body[4], body
        core.call("StopRecording", "ts", 2, "stopped")
        ended = core.broker.wait("RecordingFinished", lambda body: body[0] == 2)
        assert ended[1] == "stopped", ended
        figures["frames"], figures["duration"] = ended[2], ended[3] / 1e6
        figures["overruns"] = sum(member == "RuntimeError" and body[0] == "recording-overrun"
                                  for _, member, body in core.broker.signals)
        # Four hang: the next file is refused at once, with a sentence.
        ended, figures["refused"] = timed(lambda: record(3))
        said = [body[1] for _, member, body in core.broker.signals if member == "RuntimeError"]
        assert ended[1] == "write-error" and "4 files hang already" in said[-1], (ended, said)
        _, figures["cut"] = timed(lambda: core.call("Cut", "ts", 1, "stopped"))
        figures["killed"] = core.end()
        figures["stuck"] = len(writers_that_hang())
    finally:
        file.end()
        if core.process.poll() is None:
            core.end()
    wait_until("the processes that hung to end", lambda: not writers_that_hang())
    return figures


def writers_that_hang():
    """Of this machine, in uninterruptible sleep, in our mount namespace."""
    ours = os.readlink("/proc/self/ns/mnt")
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = pathlib.Path(f"/proc/{entry}/stat").read_text()
            if "(camwriter)" in stat and os.readlink(f"/proc/{entry}/ns/mnt") == ours:
                found.append(int(entry))
        except OSError:
            pass
    return found


@row("hanging-files", "a file that hangs costs its photo or recording, and neither the camera nor another recording",
     "a recording, three photos and another recording into a file whose server stopped answering")
def hanging_files(short):
    with Child(0, hang, short) as child:
        figures = child.result(patience=120)
    yield Figure("a recording into it is given up after", figures["given up"], "ms", most=4000)
    yield Figure("the next file is refused after", figures["refused"], "ms", most=500)
    yield Figure("frames of a recording beside three photos into it", figures["frames"])
    yield Figure("its longest gap would be", figures["duration"] - figures["frames"] * 1000 / 30, "ms", most=500)
    yield Figure("frames that were left out because encoding was late", figures["overruns"], most=0)
    yield Figure("a cut is answered after", figures["cut"], "ms", most=500)
    yield Figure("processes that hang", figures["stuck"])
    yield Figure("a recorder core that is killed is gone after", figures["killed"], "ms", most=1000)
