"""Recorder cores that lie: about recordings, in numbers out of all bounds, in long texts, without end."""
import struct

from harness import Refused, wait_until
from liar import Liars
from rows import MEMORY_MIB, Figure, broker, latency, memory, neighbour, peak, row

LEAST, GREATEST = -(1 << 63), (1 << 64) - 1


def finished(**said):
    """A lie about how the recording ended."""
    def lie(liar, grant, recording):
        end = {"why": "stopped", "frames": 1, "duration": 1, "bytes": 1, "last": 1, "left_out": 0, **said}
        liar.say("RecordingFinished", "tstxtxt", recording, end["why"], end["frames"], end["duration"], end["bytes"],
                 end["last"], end["left_out"])
    return lie


def says(member, signature, *body):
    return lambda liar, *_: liar.say(member, signature, *body)


def a_long_signal(liar, *_):
    """As much as the broker takes of it: a message of 100 MB, in pieces."""
    body = b"x" * (1 << 20)
    bytes_ = 100 << 20
    head = struct.pack("<cBBBIII", b"l", 4, 1, 1, bytes_, 77, 0)
    liar.socket.sendall(head)
    for _ in range(100):
        liar.socket.sendall(body)


def a_header_in_pieces(liar, *_):
    liar.socket.sendall(b"l\4\1\1")


def without_end(liar, *_):
    """Words without end; the kernel's buffer, or the end of the connection, ends them."""
    for _ in range(200_000):
        liar.say("RampFinished", "td", 0, 2.0)
        liar.say("DeviceChanged", "ss", "ok", "")


# Each is nonsense: the recorder core that says it is killed, and its session waits for another.
LIES = {
    "a recording of less than no time": finished(duration=LEAST),
    "a recording of -1 ns": finished(duration=-1),
    "a recording of three centuries": finished(duration=(1 << 63) - 1),
    "2^64 - 1 frames": finished(frames=GREATEST),
    "2^64 - 1 bytes": finished(bytes=GREATEST),
    "a last frame of three centuries hence": finished(last=(1 << 63) - 1),
    "2^64 - 1 frames left out": finished(left_out=GREATEST),
    "an end that there is not": finished(why="because"),
    "a photo of 2^32 - 1 pixels": says("PhotoCaptured", "tuuts", 1, (1 << 32) - 1, 1, 1, ""),
    "a zoom of 10^308": says("RampFinished", "td", 1, 1e308),
    "a zoom that is no number": says("RampFinished", "td", 1, float("nan")),
    "a state that there is not": says("DeviceChanged", "ss", "\x1b[2J" * 50_000, ""),
    "an error without its message": says("RuntimeError", "s", "code"),
    "a signal of 100 MB": a_long_signal,
    "a header in pieces": a_header_in_pieces,
    "words without end": without_end,
}


def lied_to(liars):
    """A camarbd whose cameras all have recorder cores behind that socket; those of `front` lie."""
    return broker(cameras=("front=simulated", "back=simulated:iphone6-back"), extra=("--recorder", f"unix:{liars.path}"))


def recording(daemon, name="photos"):
    app = daemon.app(name)
    session = app.session("front")
    session.start()
    app.wait("DidStartRunning")
    session.record(daemon.directory / "recording.mkv")
    return app, session


@row("recorder-lies", "a recorder core that lies is killed, and harms nobody but the session it had",
     f"{len(LIES)} lies: numbers beyond all bounds, a signal of 100 MB, words without end")
def recorder_lies(short):
    latencies, most, others = [], 0.0, 0
    for what, lie in LIES.items():
        with Liars(lie) as liars, lied_to(liars) as daemon:
            bystander = daemon.app("beside")
            session = bystander.session("back")
            session.start()
            bystander.wait("DidStartRunning")
            calls = neighbour(daemon, 1)
            app, _ = recording(daemon)
            _, _, _, causes, reason, *_ = app.wait("WasInterrupted", patience=10)
            assert reason == "recorder-reset", (what, causes)
            # Its connection lives, and so does its session.
            app.wait("DidStartRunning", patience=10)
            wait_until("the recording's end", lambda: app.poll() or "RecordingFinished" in app.names())
            bystander.poll()
            others += len(bystander.names()) - 1
            latencies.append(latency(calls.result()))
            most = max(most, memory(daemon, "VmHWM"))
            said = daemon.log.read_text(errors="replace").count("said nonsense")
            assert said == 1, (what, said, daemon.said())
    yield Figure("lies that were told", len(LIES))
    yield Figure("events of a session on another camera", others, most=0)
    slowest = max(latencies, key=lambda figure: figure.value)
    slowest.what += ", at its worst"
    yield slowest
    yield Figure("camarbd's memory at its peak", most, "MiB", most=MEMORY_MIB)


@row("recorder-complains", "at most eight errors of a recorder core a second reach its session, shortened, and then only their number",
     "200 runtime errors of 500,000 bytes, with control characters")
def recorder_complains(short):
    def lie(liar, *_):
        for number in range(200):
            liar.say("RuntimeError", "ss", "x" * 1000, f"\x1b[2J\n{number} " + "ü" * 250_000)

    with Liars(lie) as liars, lied_to(liars) as daemon:
        app, session = recording(daemon)
        app.wait("RuntimeError", where=lambda body: body[2] == "errors-left-out")
        told = [body for _, member, body in app.signals if member == "RuntimeError"]
        texts = [body[3] for body in told]
        assert not any(letter < " " for text in texts for letter in text), texts
        # Nobody was cut off, and nothing was reset.
        session.call("StopRunning")
        app.wait("DidStopRunning")
        yield Figure("runtime errors that were told", len(told), most=24)
        yield Figure("the longest of them", max(len(text.encode()) for text in texts), "bytes", most=256)
        yield Figure("interruptions", app.names().count("WasInterrupted"), most=0)
        yield peak(daemon)


@row("recorder-refuses", "a recorder core's answer reaches a client as a sentence of at most a kilobyte",
     "a refusal of 100,000 bytes, and a signal that is glued to the authentication")
def recorder_refuses(short):
    with Liars(lambda *_: None) as liars, lied_to(liars) as daemon:
        app = daemon.app("photos")
        session = app.session("front")
        session.start()
        app.wait("DidStartRunning")
        try:
            session.call("OpenStream")
            raise AssertionError("there was a stream")
        except Refused as error:
            assert "no stream" in str(error), error
            yield Figure("the refusal", len(str(error).encode()), "bytes", most=1200)
    glued = struct.pack("<cBBBIII", b"l", 4, 1, 1, 100 << 20, 77, 0)
    with Liars(lambda *_: None, before=glued) as liars, lied_to(liars) as daemon:
        wait_until("the recorder core to be disbelieved", lambda: "said nonsense" in daemon.log.read_text())
        yield peak(daemon)
