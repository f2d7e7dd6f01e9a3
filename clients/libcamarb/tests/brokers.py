"""A broker that ends, and the next one on the same socket: what a program on libcamarb hears of it, and what not."""
import contextlib, errno, os, re, signal, socket, time

import camarb
import harness
from app import App, refused, running
from camarb import EventType, SlateKind, State
from false_broker import FalseBroker
from harness import BROKER, PATIENCE, SHELL, claim, played, state_of, wait_until
from restart import Brokers, no_gap


def runs(brokers, app, **settings):
    """A session that streams, and could be given back."""
    session = app.running(**settings)
    app.frame(session).release()
    wait_for_secret(brokers, app)
    return session


def wait_for_secret(brokers, app):
    # The broker writes the secret down and then tells it; a call that is made after that has its answer after it.
    wait_until("a secret", lambda: app.take() or re.search(r"\t[0-9a-f]{32}\t", (brokers.folder / "holders").read_text()))
    app.client.declare_presence("fullscreen").result()


def frames(app, session, count):
    """The numbers of the next frames."""
    numbers = []
    for _ in range(count):
        with app.frame(session) as frame:
            numbers.append(frame.sequence)
    return numbers


@claim("over the kill of a broker frames go on, no frame is missing in a recording, and the program hears nothing")
def goes_on():
    with Brokers() as brokers, App(brokers.address, "photos") as app:
        session = runs(brokers, app, frameRate=10)
        film = brokers.directory / "film.mkv"
        recording = app.records(session, film)
        told = len(app.names())
        numbers = frames(app, session, 5)
        brokers.kill()
        numbers += frames(app, session, 4)
        assert session.state is State.RUNNING and session.slate() is None
        refused(lambda: session.capture_photo(brokers.directory / "photo.jpeg"), "Disconnected", errno.ENOTCONN)
        refused(lambda: session.stop_recording(), "Disconnected", errno.ENOTCONN)
        brokers.start()
        # This one waits for the next broker, and is answered by it.
        session.configure(videoZoomFactor=2).result()
        numbers += frames(app, session, 10)
        names = app.names()[told:]
        assert set(names) <= {"CONFIGURATION_APPLIED"}, names
        session.stop_recording().result()
        finished = app.wait(EventType.RECORDING_FINISHED)
        assert finished.recording == recording and finished.reason == "stopped", finished
        # A stream leaves out what no program takes, as this one while the next broker starts; the recording has all of it.
        assert no_gap(film, numbers) == finished.frames == played(film)[0]
        assert not app.has_gap(session)
        session.stop().result()
        app.wait(EventType.DID_STOP_RUNNING)
    return f"{len(numbers)} frames"


@claim("a session whose recorder core went with its broker is told after 3 s, and runs again by itself")
def told_late():
    with Brokers() as brokers, App(brokers.address, "photos") as app:
        session = runs(brokers, app)
        film = brokers.directory / "film.mkv"
        recording = app.records(session, film)
        before = len(app.names())
        recorders = brokers.recorders()
        brokers.kill()
        begun = time.monotonic()
        for recorder in recorders:
            os.kill(recorder, signal.SIGKILL)
        told = app.wait(EventType.WAS_INTERRUPTED)
        assert time.monotonic() - begun > 2.9, time.monotonic() - begun
        assert told.causes == ("broker-restarted",) and told.recording == recording and told.decision == 0, told
        assert session.slate().kind is SlateKind.NO_BROKER and session.state is State.INTERRUPTED
        finished = app.wait(EventType.RECORDING_FINISHED)
        assert (finished.recording, finished.reason) == (recording, "interrupted"), finished
        assert finished.frames is finished.bytes is finished.duration is None, finished
        assert finished.next_chance == "when-interruption-ends", finished
        brokers.start()
        ended = app.wait(EventType.INTERRUPTION_ENDED)
        assert ended.interruption == told.interruption and ended.will_resume and "broker-restarted" in ended.causes, ended
        app.wait(EventType.DID_START_RUNNING)
        app.frame(session).release()
        names = app.names()[before:]
        assert names == ["WAS_INTERRUPTED", "DID_STOP_RUNNING", "RECORDING_FINISHED", "INTERRUPTION_ENDED", "DID_START_RUNNING"], names
        assert not app.has_gap(session)


@claim("a program says that it is a picker, and the next broker hears it, too")
def declared():
    with Brokers(policy="ios9") as brokers, App(brokers.address, "sheet") as app:
        refused(lambda: app.client.declare(kind="robot"), "InvalidValue", errno.EINVAL)
        app.client.declare(kind="picker", multitasking=False).result()
        for other in ("app", "voip"):
            with two_in_front(brokers) as shell:
                session = app.running()
                # The policy leaves this to pickers beside another app.
                assert app.wait(EventType.ACCESS_CHANGED, lambda event: event.session is session).access == ("preview", "photo")
                refused(lambda: app.client.declare(kind=other), "RefusedByPolicy", errno.EPERM)
                session.close()
                # A call that the broker has not read yet goes to the next one.
                wait_until("the session's end", lambda: not shell.call(BROKER, "GetStatus")[2])
            brokers.next()
        assert "WAS_INTERRUPTED" not in app.names(), app.names()


@contextlib.contextmanager
def two_in_front(brokers):
    shell = harness.App(brokers.address)
    try:
        shell.call(SHELL, "Attach", "s", "shell")
        for name in ("notes", "sheet"):
            shell.call(SHELL, "PlaceApp", "ssb", name, "split", name == "sheet")
        yield shell
    finally:
        shell.close()


@claim("what is in a recording whose broker nothing outlives is not known, and told at once: its file has frames")
def unknown_figures():
    with running() as (daemon, app, session):
        film = daemon.directory / "film.mkv"
        recording = app.records(session, film)
        frames(app, session, 45)
        daemon.ends = (-signal.SIGKILL,)
        recorders = daemon.recorders()
        daemon.process.kill()
        told = app.wait(EventType.WAS_INTERRUPTED)
        finished = app.wait(EventType.RECORDING_FINISHED)
        assert told.recording == finished.recording == recording and finished.cause == "broker-restarted", (told, finished)
        assert finished.frames is finished.bytes is finished.duration is None and finished.last_capture == 0, finished
        # The recorder core ends the file when it sees that its broker is gone.
        wait_until("the recorder core's end", lambda: all(state_of(recorder) in ("", "Z") for recorder in recorders))
        count, _ = played(film)
        assert count > 0
    return f"{count} frames"


@claim("interruptions are numbered on over a broker's end, and one that stands is not told twice")
def numbered():
    with Brokers() as brokers, App(brokers.address, "red") as red, App(brokers.address, "blue") as blue:
        holds, holding, waits = red, runs(brokers, red), blue
        waiting = waits.session()
        waiting.start()
        interruption = waits.wait(EventType.WAS_INTERRUPTED).interruption
        told = len(waits.names())
        brokers.next()
        until = time.monotonic() + 4
        while time.monotonic() < until:
            for app, session in ((waits, waiting), (holds, holding)):
                app.let_pass(0.1, session)
        assert waits.names()[told:] == [] and waiting.state is State.INTERRUPTED, waits.names()[told:]
        assert holding.state is State.RUNNING
        holding.stop().result()
        ended = waits.wait(EventType.INTERRUPTION_ENDED)
        assert ended.interruption == interruption and ended.will_resume
        waits.wait(EventType.DID_START_RUNNING)
        waits.frame(waiting).release()
        assert not waits.has_gap(waiting) and not holds.has_gap(holding)


@claim("what is asked while there is no broker is answered by the next: a stop is kept, and opens nobody's camera")
def asked_while_away():
    with Brokers() as brokers, App(brokers.address, "photos") as app:
        session = runs(brokers, app)
        other = app.session()
        app.client.declare_presence("fullscreen").result()
        for recorder in brokers.recorders():
            os.kill(recorder, signal.SIGSTOP)
        stopped_ones = brokers.recorders()
        brokers.kill()
        # Frames are let go meanwhile: for one that lies there nothing is waited for, and nothing is seen.
        wait_until("the end to be seen", lambda: app.let_pass(0.05, session) == [] and not can_take_photo(session, brokers))
        stop, start, created = session.stop(), other.start(), app.session()
        app.wait(EventType.INTERRUPTION_ENDED, lambda event: event.session is session and not event.will_resume)
        assert session.state is State.STOPPED and other.state is State.STARTING
        for recorder in stopped_ones:
            os.kill(recorder, signal.SIGKILL)
        brokers.start()
        stop.result(), start.result()
        app.wait(EventType.DID_START_RUNNING, lambda event: event.session is other)
        assert session.state is State.STOPPED and other.state is State.RUNNING and created.state is State.STOPPED
        started = [event for event in app.events if event.type is EventType.DID_START_RUNNING and event.session is session]
        assert len(started) == 1, "the session that was stopped ran again"


def can_take_photo(session, brokers):
    try:
        session.capture_photo(brokers.directory / "photo.jpeg")
    except camarb.Error:
        return False
    return True


@claim("a session that the next broker does not take has stopped, says why, and may be started again")
def refused_by_the_next():
    with FalseBroker() as broker, App(broker.address) as app:
        session = app.running()

        def refuse(broker, call):
            from jeepney import new_error
            broker.send(new_error(call, "org.camarb.Error.LimitExceeded", "s", ("There are too many.",)))
            return True
        broker.also["CreateSession"] = refuse
        broker.connection.shutdown(socket.SHUT_RDWR)
        app.wait(EventType.DID_STOP_RUNNING)
        told = app.wait(EventType.RUNTIME_ERROR)
        assert told.error == "There are too many.", told
        assert app.wait(EventType.SESSION_STOPPED).reason == "denied-by-policy"
        assert session.state is State.STOPPED and session.slate().kind is SlateKind.NO_ACCESS
        refused(session.start(), "LimitExceeded", errno.EDQUOT)
        del broker.also["CreateSession"]
        session.start().result()
        app.wait(EventType.DID_START_RUNNING)
        assert not app.has_gap(session)


@claim("an interruption that is told before its start is answered is carried over the broker's end, and the start is answered by the next")
def told_before_answered():
    causes = ["video-device-in-use-by-another-client"]

    def interrupt(broker, call):
        broker.tell("WasInterrupted", "tasssts", 1, causes, causes[0], "red", 0, "tie: holder")
        # The first broker ends here.
        return broker.connections == 1
    with FalseBroker() as broker, App(broker.address) as app:
        broker.also["StartRunning"] = interrupt
        session = app.session()
        start = session.start()
        app.wait(EventType.WAS_INTERRUPTED)
        broker.connection.shutdown(socket.SHUT_RDWR)
        start.result()
        app.take(0.5)
        # The false broker lets it run, once it has said the same.
        app.wait(EventType.INTERRUPTION_ENDED), app.wait(EventType.DID_START_RUNNING)
        assert app.names()[:3] == ["WAS_INTERRUPTED", "INTERRUPTION_ENDED", "DID_START_RUNNING"], app.names()
        assert not app.has_gap(session)


@claim("one and the same broker that ends seven connections in a minute means this client; others that end do not")
def thrown_out():
    for is_another in (False, True):
        with FalseBroker() as broker, App(broker.address) as app:
            for end in range(8):
                try:
                    app.client.declare_app("photos").result()
                except camarb.Error as error:
                    assert error.name == "org.camarb.Error.Disconnected", error
                    break
                if is_another:
                    broker.guid = f"{end + 2:032x}"
                broker.connection.shutdown(socket.SHUT_RDWR)
                app.take(0.2)
            assert broker.connections == (9 if is_another else 7), broker.connections
            if not is_another:
                app.wait(EventType.DISCONNECTED)


@claim("a broker's full queue is waited for, and a client that has found no place in it tries again")
def full_queue():
    with FalseBroker() as broker:
        path = str(broker.directory / "full")
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(path)
        listener.listen(0)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as first:
            first.connect(path)
            begun = time.monotonic()
            with App(path) as app:
                assert time.monotonic() - begun > 0.9, time.monotonic() - begun
                listener.accept()[0].close()
                listener.setblocking(False)

                def accepted():
                    app.take(0.05)
                    try:
                        return listener.accept()[0]
                    except BlockingIOError:
                        return None
                wait_until("the next try", accepted).close()
        listener.close()


@claim("a broker that goes for good ends the client after a minute: sessions, open calls, and DISCONNECTED as the last event")
def for_good():
    with Brokers() as brokers, App(brokers.address, "photos") as app:
        session = runs(brokers, app)
        brokers.kill()
        brokers.listener.close()
        begun = time.monotonic()
        app.wait(EventType.WAS_INTERRUPTED)
        waits = session.configure(frameRate=10)
        ended = app.wait(EventType.DISCONNECTED, patience=60 + PATIENCE)
        assert time.monotonic() - begun > 58, time.monotonic() - begun
        assert ended is app.events[-1] and "nobody listens" in ended.error, ended
        assert app.names()[-2:] == ["ENDED", "DISCONNECTED"]
        answer = next(event for event in app.events if event.call == waits.number)
        assert answer.error_name == "org.camarb.Error.Disconnected", answer
        refused(app.client.dispatch, number=errno.ECONNREFUSED)
        assert session.slate().kind is SlateKind.NO_BROKER
