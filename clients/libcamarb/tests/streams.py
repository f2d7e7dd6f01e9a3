"""A recorder core that lies, and a broker that does: what ends, and that nothing else does."""
import contextlib, errno, os, socket, struct, time

from app import App, refused
from camarb import EventType, State
from false_broker import FalseBroker, buffer, frame, memory, say
from harness import claim, wait_until

BYTES = 64 * 48 * 3 // 2


@contextlib.contextmanager
def streaming():
    """A false broker, an app, its session, which runs, and the recorder core's end of its stream."""
    with FalseBroker() as broker, App(broker.address) as app:
        session = app.running()
        wait_until("a stream", lambda: app.take() or broker.streams)
        yield broker, app, session, broker.streams[-1]


def honest(stream, index=0):
    say(stream, buffer(index), memory(BYTES))


# Records to send, and a word of the sentence about each.
LIES = {
    "a memfd that is not sealed": ("sealed", lambda s: say(s, buffer(), memory(BYTES, seals=0))),
    "a memfd that could be written anew": ("sealed", lambda s: say(s, buffer(), memory(BYTES, seals=0x07))),
    "a memfd that is too small": ("smaller", lambda s: say(s, buffer(), memory(BYTES - 1))),
    "a file that is none": ("sealed", lambda s: say(s, buffer(), os.open("/dev/zero", os.O_RDONLY))),
    "a buffer without memory": ("sealed", lambda s: say(s, buffer())),
    "a picture without a side": ("0x48", lambda s: say(s, buffer(width=0), memory(BYTES))),
    "a picture with an odd side": ("64x47", lambda s: say(s, buffer(height=47), memory(BYTES))),
    "a picture wider than any": ("65538x48", lambda s: say(s, buffer(width=65538, stride=65538), memory(BYTES))),
    "sides whose product would overflow":
        ("4294967294", lambda s: say(s, buffer(0, 4294967294, 4294967294, 64, size=64), memory(64))),
    "rows that are too short": ("rows of 62", lambda s: say(s, buffer(stride=62, size=BYTES), memory(BYTES))),
    "rows that are absurd": ("rows of 4294967295", lambda s: say(s, buffer(stride=0xffffffff, size=BYTES), memory(BYTES))),
    "fewer bytes than the picture has": ("bytes in all", lambda s: say(s, buffer(size=BYTES - 1), memory(BYTES))),
    "more bytes than there are": ("smaller", lambda s: say(s, buffer(size=1 << 63), memory(BYTES))),
    "pixels of no known kind": ("neither", lambda s: say(s, buffer(pixels=b"RGB3"), memory(BYTES))),
    "an index that was never announced": ("never announced", lambda s: (honest(s), say(s, frame(index=7)))),
    "an index that is there twice": ("twice", lambda s: (honest(s), honest(s))),
    "a frame that was not given back": ("not given back", lambda s: (honest(s), say(s, frame()), say(s, frame(sequence=2)))),
    "a record that no recorder core sends": ("no recorder core", lambda s: say(s, struct.pack("<I36x", 3))),
    "an unknown record": ("no recorder core", lambda s: say(s, struct.pack("<I36x", 0xffffffff))),
    "a packet that is too short": ("not a record", lambda s: s.send(b"\1\0\0\0")),
}


@claim(f"each of {len(LIES)} lies of a recorder core ends its stream with a sentence, and nothing else")
def lies():
    for lie, (word, tell) in LIES.items():
        with streaming() as (broker, app, session, stream):
            tell(stream)
            told = app.wait(EventType.RUNTIME_ERROR)
            assert told.error_name == "org.camarb.Error.RecorderFault" and word in told.error, f"{lie}: {told.error}"
            assert session.next_frame() is None and session.state is State.RUNNING
            # The grant's stream stays over, and the client does not ask for another one.
            app.let_pass(0.02, session)
            assert len(broker.streams) == 1
            session.configure(frameRate=5).result()
            assert not app.has_gap(session)


@claim("a client whose stream is over for good, or that waits for the next broker, sleeps")
def sleeps():
    with streaming() as (broker, app, session, stream):
        stream.send(b"\1\0\0\0")
        app.wait(EventType.RUNTIME_ERROR)
        before = time.process_time()
        app.take(2.0)
        assert time.process_time() - before < 0.2, f"{time.process_time() - before:.2f} s of processor time in 2 s"
        broker.listener.close()
        broker.connection.shutdown(socket.SHUT_RDWR)
        app.take(0.1)
        before = time.process_time()
        app.take(2.0)
        assert time.process_time() - before < 0.2, f"{time.process_time() - before:.2f} s of processor time in 2 s"


@claim("a packet that is too long, and a socket that ends, end the stream and are no lie; a moment later there is another one")
def ends():
    for end in (lambda s: s.send(b"\2" * 4096), lambda s: s.send(struct.pack("<I36x", 4)), lambda s: s.shutdown(socket.SHUT_RDWR)):
        with streaming() as (broker, app, session, stream):
            honest(stream)
            say(stream, frame())
            held = app.frame(session)
            end(stream)
            app.take(0.2)
            assert not held.is_intact and held.planes[0][0] == 0x55, "what is held stays readable"

            def another():
                app.take(0.05)
                return len(broker.streams) == 2
            wait_until("another stream", another)
            honest(broker.streams[1])
            say(broker.streams[1], frame())
            app.frame(session).release()
            held.release()
            assert "RUNTIME_ERROR" not in app.names()


@claim("an honest stream of odd rows and many buffers is read, and what is dropped hands its flag on")
def honest_streams():
    with streaming() as (broker, app, session, stream):
        for index in range(6):
            say(stream, buffer(index, stride=96), memory(96 * 48 * 3 // 2, contents=bytes([index])))
        say(stream, frame(0, 1, captured=1, flags=1))
        for index in range(1, 6):
            say(stream, frame(index, index + 1, captured=index + 1))
        # All of them are there before the first is taken.
        app.settle()
        with app.frame(session) as first:
            # Four wait at most; the two before them were given back unseen.
            assert first.sequence == 3 and first.configuration_changed and first.strides == (96, 96), first.sequence
            assert first.planes[0][0] == 2 and len(first.planes[1]) == 96 * 24
            with session.newest_frame() as last:
                assert last.sequence == 6 and not last.configuration_changed
        stream.settimeout(5)
        back = [struct.unpack_from("<II", stream.recv(64)) for _ in range(6)]
        assert sorted(back) == [(3, index) for index in range(6)], back


@claim("a broker that leaves out an event ends the session, and says which was due")
def gap():
    with streaming() as (broker, app, session, _):
        broker.tell("RampFinished", "d", 2.0)
        assert app.wait(EventType.RAMP_FINISHED).number == 2.0
        broker.tell("RampFinished", "d", 3.0, sequence=9)
        ended = app.wait(EventType.ENDED)
        assert ended.session is session and "event 9" in ended.error and "3 was due" in ended.error, ended.error
        assert session.state is State.ENDED
        wait_until("the session's close", lambda: app.take() or "Close" in broker.calls)


@claim("an event that a newer broker sends is passed over, and one that is malformed ends the session")
def newer():
    with streaming() as (broker, app, session, _):
        broker.tell("SomethingNew", "as", ["a", "b"])
        broker.tell("RampFinished", "d", 2.0)
        app.wait(EventType.RAMP_FINISHED)
        assert not app.has_gap(session)
        broker.tell("RampFinished", "s", "two")
        assert "RampFinished" in app.wait(EventType.ENDED).error


@claim("what a camera says of its state is told, and goes into the session's configuration")
def state():
    with streaming() as (broker, app, session, _):
        said = {"adjustingFocus": True, "lensPosition": 0.5, "pipelineRebuilds": 2.0, "focusMode": "locked"}
        broker.tell("CameraStateChanged", "a{sv}", {
            "adjustingFocus": ("b", True), "lensPosition": ("d", 0.5), "pipelineRebuilds": ("u", 2), "focusMode": ("s", "locked")})
        event = app.wait(EventType.CAMERA_STATE_CHANGED)
        assert event.in_force == said, event.in_force
        assert said.items() <= session.configuration.items(), session.configuration


@claim("a program that leaves 1024 events untaken ends as one that does not read, and can still read them")
def untaken():
    with streaming() as (broker, app, session, _):
        app.take()
        for number in range(1024):
            broker.tell("RampFinished", "d", float(number))
            # Some lie in the socket, which does not hold them all.
            if number % 64 == 0:
                app.settle()
        # So many have a place.
        app.settle()
        app.client.dispatch()
        broker.tell("RampFinished", "d", 0.5)
        app.settle()
        refused(lambda: app.client.dispatch(), number=errno.ENOBUFS)
        app.take()
        names = [event.type.name for event in app.events]
        assert names[-2:] == ["ENDED", "DISCONNECTED"] and names.count("RAMP_FINISHED") == 1024, (names[-4:], len(names))
        assert "1024 events" in app.events[-1].error
        refused(lambda: app.client.session("front"), "OutOfResources")
