"""A program on libcamarb, as tests have it: its events are kept in the order in which they came."""
import contextlib, select, time

import camarb
from camarb import EventType
from harness import PATIENCE, SIMULATED, Daemon


@contextlib.contextmanager
def running(camera="front", cameras=(SIMULATED,), **settings):
    """A broker, an app, and its session, which runs."""
    with Daemon(cameras=cameras) as daemon, App(daemon.address, "photos") as app:
        yield daemon, app, app.running(camera, **settings)


class App:
    def __init__(self, address, name=None):
        self.client = camarb.Client(address, app=name)
        self.events, self.seen = [], 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()

    def session(self, camera="front", pictures=True, **settings):
        session = self.client.session(camera, settings)
        session.pictures = pictures
        return session

    def running(self, camera="front", **settings):
        session = self.session(camera, **settings)
        session.start()
        self.wait(EventType.DID_START_RUNNING)
        return session

    def records(self, session, file):
        """A recording's number, once it has begun."""
        number = session.start_recording(file).result()
        self.wait(EventType.RECORDING_STARTED)
        return number

    def take(self, patience=0.0):
        """Takes what there is, and waits for it at most so many seconds."""
        try:
            self.client.wait(patience)
        except camarb.Error:
            pass  # The last event says it.
        while event := self.client.next_event():
            self.events.append(event)

    def wait(self, kind, where=lambda event: True, patience=PATIENCE):
        """The next event of that type, each seen once, in order; those before it are passed over. Frames are let go."""
        until = time.monotonic() + patience
        while True:
            while self.seen < len(self.events):
                event = self.events[self.seen]
                self.seen += 1
                if event.type is kind and where(event):
                    return event
            left = until - time.monotonic()
            assert left > 0, f"waited {patience:.0f} s for {kind.name}; what came: {self.names() or 'nothing'}"
            self.take(min(left, 1.0))
            for session in list(self.client._sessions.values()):
                while frame := session.next_frame():
                    frame.release()

    def settle(self):
        """Dispatches until nothing came for a while, and takes nothing."""
        waiting = select.poll()
        waiting.register(self.client.fileno(), select.POLLIN)
        while waiting.poll(200):
            try:
                self.client.dispatch()
            except camarb.Error:
                return

    def names(self, session=None):
        """The types of the sessions' events, answers left out."""
        return [event.type.name for event in self.events
                if event.type not in (EventType.ANSWERED, EventType.CAMERAS_CHANGED) and session in (None, event.session)]

    def frame(self, session, patience=PATIENCE, where=lambda frame: True):
        """The next frame that is so, held; the others are let go. Events are kept."""
        until = time.monotonic() + patience
        while True:
            frame = session.next_frame()
            if frame and where(frame):
                return frame
            if frame:
                frame.release()
                continue
            left = until - time.monotonic()
            assert left > 0, f"waited {patience:.0f} s for a frame; what came: {self.names()}"
            self.take(min(left, 1.0))

    def let_pass(self, seconds, session):
        """Frames for a while: their sequence numbers."""
        numbers, until = [], time.monotonic() + seconds
        while time.monotonic() < until:
            self.take(max(0.0, until - time.monotonic()))
            while frame := session.next_frame():
                with frame:
                    numbers.append(frame.sequence)
        return numbers

    def has_gap(self, session):
        """Whether a number is missing in what the session's events are counted by."""
        numbers = [event.sequence for event in self.events if event.session is session and event.sequence]
        return numbers != list(range(1, len(numbers) + 1))


def refused(call, name=None, number=None):
    """Why a call is refused, or cannot be made at all; fails where it is not."""
    try:
        call = call() if callable(call) else call
        call.result()
    except camarb.Error as error:
        assert name is None or error.name == f"org.camarb.Error.{name}", (error.name, error.sentence)
        assert number is None or error.errno == number, (error.errno, error.sentence)
        assert error.sentence.endswith(".") and " " in error.sentence, f"no sentence: {error.sentence!r}"
        return error
    raise AssertionError("it was not refused")
