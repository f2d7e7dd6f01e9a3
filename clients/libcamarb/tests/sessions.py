"""One app and a camera: what libcamarb promises of connecting, frames, files and configurations."""
import contextlib, errno, os, time
from unittest import mock

import camarb
from app import App, refused, running
from camarb import EventType, State
from camarb._library import lib
from harness import Daemon, claim, played


@claim("a client connects, says what it is, and knows the cameras with their formats")
def cameras():
    with Daemon(cameras=("front=simulated", "back=simulated")) as daemon, App(daemon.address, "photos") as app:
        app.client.watch_cameras().result()
        app.wait(EventType.CAMERAS_CHANGED)
        found = {camera.id: camera for camera in app.client.cameras}
        assert list(found) == ["back", "front"], found
        assert found["front"].is_present and found["front"].holder == ""
        session = app.session("front")
        session.start().result()
        app.wait(EventType.CAMERAS_CHANGED, lambda event: "photos" in [camera.holder for camera in app.client.cameras])
        holder = {camera.id: camera.holder for camera in app.client.cameras}
        assert holder == {"back": "", "front": "photos"}, holder
        form = next(camera.formats[0] for camera in app.client.cameras if camera.id == "front")
        assert form.pixel_format in ("420v", "420f") and form.width % 2 == 0 and form.max_frame_rate >= form.min_frame_rate > 0, form
        # As docs/simulated-cameras.md has them of the iPhone 6s's.
        form = next(form for form in found["front"].formats if form.name == "420v 1920x1080@30")
        assert (form.zoom_upscale_threshold, form.field_of_view, form.max_zoom_factor) == (2.1, 57.702, 141.75), form
        assert (form.high_resolution_still_width, form.high_resolution_still_height) == (4032, 2268), form


@claim("a broker's address may be a path from the folder in which the program is")
def from_here():
    with Daemon() as daemon:
        with contextlib.chdir(daemon.directory.parent), App(f"{daemon.directory.name}/socket", "photos") as app:
            app.client.watch_cameras().result()


@claim("no broker, a socket without a listener and a malformed address are told apart")
def addresses():
    with Daemon() as daemon:
        for address, number in ((str(daemon.path) + "x", errno.ENOENT), ("tcp:host=here", errno.EINVAL),
                                ("unix:abstract=x", errno.EINVAL), ("/" + "x" * 200, errno.EINVAL)):
            refused(lambda: camarb.Client(address), number=number)
        # Bytes of a path may be escaped.
        with App("unix:path=" + str(daemon.path).replace("/", "%2f")) as app:
            app.client.declare_app("photos").result()
        with mock.patch.dict(os.environ, CAMARB_SOCKET=str(daemon.path)), App(None) as app:
            app.client.declare_app("photos").result()


@claim("a session runs and gives frames whose capture times and numbers only grow, with the camera's picture in them")
def frames():
    with Daemon() as daemon, App(daemon.address, "photos") as app:
        session = app.session()
        assert session.state is State.STOPPED and session.slate().kind is camarb.SlateKind.WAITING
        session.start()
        assert session.state is State.STARTING
        grant = app.wait(EventType.DID_START_RUNNING).grant
        assert session.state is State.RUNNING and session.slate() is None
        before, seen = None, 0
        while seen < 30:
            with app.frame(session) as frame:
                assert frame.grant == grant and frame.pixel_format == "420v" and not frame.is_slate
                assert before is None or (frame.captured > before[0] and frame.sequence > before[1]), (before, frame.captured)
                assert abs(time.monotonic_ns() - frame.captured) < 5_000_000_000
                assert len(set(frame.planes[0][::997])) > 1, "the picture is blank"
                assert frame.is_intact
                before, seen = (frame.captured, frame.sequence), seen + 1
        session.stop().result()
        app.wait(EventType.DID_STOP_RUNNING)
        assert session.state is State.STOPPED
        assert not app.has_gap(session)


@claim("two frames may be held, no third is given, and what is held is not written until it is released")
def held():
    with running() as (_, app, session):
        first, second = app.frame(session), app.frame(session)
        copies = [bytes(frame.planes[0]) for frame in (first, second)]
        assert copies[0] != copies[1]
        assert not app.let_pass(0.5, session), "a third frame was given"
        assert [bytes(frame.planes[0]) for frame in (first, second)] == copies, "a frame that was held was written"
        assert first.is_intact and second.is_intact
        second.release()
        with app.frame(session) as third:
            assert third.sequence > first.sequence + 2
        first.release()
        assert len(app.let_pass(0.5, session)) >= 3


@claim("pictures can be had late, given up, and had again in one grant")
def late():
    with running(pictures=False) as (daemon, app, session):
        assert not app.let_pass(0.3, session)
        session.pictures = True
        app.frame(session).release()
        held = app.frame(session)
        luma = held.planes[0]
        session.pictures = False
        assert not held.is_intact and len(luma[:100]) == 100, "what is held stays readable"
        session.pictures = True
        app.frame(session).release()
        assert len(app.names()) == 1, app.names()


@claim("a photo and a recording are whole when it is said that they are")
def files():
    with running() as (daemon, app, session):
        photo, film = daemon.directory / "photo.jpeg", daemon.directory / "film.mkv"
        number = session.capture_photo(photo).result()
        told = app.wait(EventType.PHOTO_CAPTURED)
        assert told.photo == number and told.error == "" and (told.width, told.height) == (1280, 720), told
        assert told.metadata["videoZoomFactor"] == 1 and told.metadata["flashFired"] is False, told
        data = photo.read_bytes()
        assert len(data) == told.bytes and data[:2] == b"\xff\xd8" and data[-2:] == b"\xff\xd9"
        number = session.start_recording(film).result()
        assert app.wait(EventType.RECORDING_STARTED).recording == number
        refused(session.start_recording(daemon.directory / "other.mkv"), "AlreadyRecording", errno.EALREADY)
        app.let_pass(1.0, session)
        session.stop_recording().result()
        told = app.wait(EventType.RECORDING_FINISHED)
        assert (told.recording, told.reason, told.bytes) == (number, "stopped", film.stat().st_size), told
        count, seconds = played(film)
        assert count == told.frames and abs(seconds - told.duration / 1e9) < 0.2, (count, seconds, told)
        refused(session.stop_recording(), "NotRecording")
        with open(daemon.directory / "appended", "a+b") as appended:
            refused(session.capture_photo(appended), "UnsuitableFile", errno.EBADF)
        refused(lambda: session.capture_photo(9999), number=errno.EBADF)


@claim("a configuration is applied as a whole, and a refused one changes nothing and has its sentence")
def configurations():
    with Daemon() as daemon, App(daemon.address, "photos") as app:
        session = app.session(frameRate=10)
        session.start()
        applied = app.wait(EventType.CONFIGURATION_APPLIED)
        assert applied.asked == {"frameRate": 10.0} and applied.in_force["frameRate"] == 10.0, applied
        app.wait(EventType.DID_START_RUNNING)
        error = refused(session.configure(frameRate=1000, videoZoomFactor=2), "UnsupportedConfiguration", errno.EOPNOTSUPP)
        assert "frameRate" in error.sentence and "1000" in error.sentence, error
        error = refused(session.configure(frameRat=10), "UnsupportedConfiguration")
        assert "frameRat" in error.sentence, error
        assert session.configuration["frameRate"] == 10.0 and session.configuration["videoZoomFactor"] == 1.0
        session.configure(videoZoomFactor=2).result()
        applied = app.wait(EventType.CONFIGURATION_APPLIED)
        assert session.configuration == applied.in_force and applied.in_force["videoZoomFactor"] == 2.0
        refused(lambda: session.configure(frameRate=float("nan")), number=errno.EINVAL)


@claim("another format comes in buffers of its own, its first frame says so, and a frame of the former is not intact any more")
def formats():
    with running() as (_, app, session):
        held = app.frame(session)
        session.configure(activeFormat="420v 640x480").result()
        with app.frame(session, where=lambda frame: frame.width != held.width) as frame:
            assert (frame.width, frame.height) == (640, 480) and frame.configuration_changed
            assert len(set(frame.planes[0][::997])) > 1
            assert not held.is_intact and frame.is_intact
        held.release()
        for _ in range(8):
            app.frame(session, where=lambda frame: frame.width == 640).release()


@claim("a camera that is not known, and a configuration that cannot be, end the session and say why, in each of its calls, too")
def unknown():
    with Daemon() as daemon, App(daemon.address, "photos") as app:
        session = app.session("attic")
        started = session.start()
        answer = app.wait(EventType.ANSWERED, lambda event: event.call == started.number)
        assert answer.error_name == "org.camarb.Error.UnknownCamera" and "attic" in answer.error, answer
        ended = next(event for event in app.events if event.type is EventType.ENDED)
        assert ended.session is session and ended.error_name == "org.camarb.Error.UnknownCamera" and "attic" in ended.error, ended
        assert session.state is State.ENDED and session.slate().kind is camarb.SlateKind.NO_ACCESS
        said = refused(session.start, "UnknownCamera", errno.ENODEV)
        assert said.sentence == ended.error, said
        wrong = app.session(focusMode="sideways")
        # Whether it is asked before the refusal has come or after it.
        for ask in (wrong.start, wrong.configure, wrong.start):
            assert "focusMode" in refused(ask, "UnsupportedConfiguration", errno.EOPNOTSUPP).sentence
        assert "focusMode" in app.wait(EventType.ENDED, lambda event: event.session is wrong).error
        # The client goes on.
        app.session("").start().result()
        app.wait(EventType.DID_START_RUNNING)


@claim("a call that could not be asked keeps its number and its sentence where its answer is waited for")
def chained():
    with Daemon() as daemon, App(daemon.address, "photos") as app:
        client, session = app.client, app.session()
        gone = os.memfd_create("gone")
        os.close(gone)
        for ask in (lambda: lib.camarb_session_capture_photo(session._open(), gone, None),
                    lambda: lib.camarb_client_declare_app(client._open(), b"")):
            number = lib.camarb_call_finish(client._open(), ask(), -1, None)
            chained, direct = (number, client._sentence()), (ask(), client._sentence())
            assert chained == direct and number < 0 and chained[1].endswith("."), (chained, direct)
        # A number that is no call is refused all the same.
        for number in (0, 4711, -1 << 40):
            assert lib.camarb_call_finish(client._open(), number, 0, None) == -errno.EINVAL
            assert str(number) in client._sentence(), client._sentence()


@claim("calls reach the broker in the order in which they were made, and 64 may wait for their answers")
def order():
    with Daemon() as daemon, App(daemon.address, "photos") as app:
        session = app.session()
        calls = [session.start() if i % 2 == 0 else session.stop() for i in range(60)]
        refused(lambda: [session.start() for _ in range(64)][-1], number=errno.EAGAIN)
        for call in calls:
            call.result()
        # A program that waited for an answer gets no event of it; one that waits twice is told that there is none.
        app.take()
        told = {event.call for event in app.events if event.type is EventType.ANSWERED}
        assert not told & {call.number for call in calls}
        refused(calls[0], number=errno.EINVAL)


@claim("a program that asks for the first camera learns which that is")
def first():
    with Daemon() as daemon, App(daemon.address, "photos") as app:
        session = app.session("")
        assert session.camera == ""
        session.start()
        app.wait(EventType.DID_START_RUNNING)
        app.frame(session).release()
        assert session.camera == "front", session.camera
