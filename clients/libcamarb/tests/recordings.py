"""Recordings: options, a microphone, metadata, pauses, and the event at their end."""
import array, errno, os, socket, struct, time

import camarb
from app import App, refused, running
from camarb import EventType
from false_broker import FalseBroker
from harness import PATIENCE, SHELL, Daemon, claim, played, probed


def sees_end(end):
    end.settimeout(PATIENCE)
    return end.recv(1) == b""


@claim("an attached microphone's other end sees the end of its connection when another one comes, and when the camera goes")
def microphones():
    with running(usesAudio=True) as (_, app, session):
        ends = []
        for _ in range(2):
            one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with one:
                session.attach_microphone(one, 48_000, 1).result()
            ends.append(other)
        assert sees_end(ends[0])
        session.stop().result()
        assert sees_end(ends[1])
        for end in ends:
            end.close()


@claim("sound is written in packets of 50 ms with their moments; some is left out where nobody reads, and after the end it is an error")
def written_sound():
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    samples = array.array("h", range(2 * 1000))
    assert camarb.write_sound(one, samples, 5_000, 8_000, 2)
    for first, count in ((0, 400), (400, 400), (800, 200)):
        packet = other.recv(65_536)
        assert struct.unpack_from("<qII", packet) == (5_000 + first * 125_000, count, 0), packet[:16]
        assert packet[16:] == samples[2 * first:2 * (first + count)].tobytes()
    assert camarb.write_sound(one, b"", 0, 8_000, 1)
    while camarb.write_sound(one, samples, 0, 8_000, 2):
        pass
    other.close()
    for rate, channels, number in ((8_000, 2, errno.EPIPE), (7_999, 2, errno.EINVAL), (96_001, 1, errno.EINVAL), (8_000, 3, errno.EINVAL)):
        refused(lambda: camarb.write_sound(one, samples, 0, rate, channels), number=number)
    one.close()
    with running(usesAudio=True) as (daemon, app, session):
        film, (one, other) = daemon.directory / "film.mkv", socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with one, other:
            session.attach_microphone(one, 48_000, 1).result()
            session.start_recording(film).result()
            for _ in range(10):
                assert camarb.write_sound(other, array.array("h", [1000] * 4800), time.monotonic_ns() - 100_000_000, 48_000, 1)
                time.sleep(0.1)
            session.stop_recording().result()
            app.wait(EventType.RECORDING_FINISHED)
        (sound,) = probed(film, "-select_streams", "a", "-show_entries", "stream=sample_rate,channels")["streams"]
        assert (sound["sample_rate"], sound["channels"]) == ("48000", 1), sound


@claim("what is no microphone is refused by what it is, and a rate that none has by its bounds")
def no_microphones():
    with running(usesAudio=True) as (daemon, _, session):
        with open(daemon.directory / "file", "w+b") as file:
            error = refused(session.attach_microphone(file, 48_000, 1), "UnsuitableFile", errno.EBADF)
            assert "regular file" in error.sentence, error
        one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with one, other:
            assert "sampleRate" in refused(session.attach_microphone(one, 96_001, 1), "InvalidValue").sentence
            assert "channels" in refused(session.attach_microphone(one, 48_000, 3), "InvalidValue").sentence
        refused(lambda: session.attach_microphone(9999, 48_000, 1), number=errno.EBADF)


@claim("options of a recording reach the broker in their types, and wrong ones are refused with the broker's sentence")
def options():
    with running() as (daemon, app, session):
        file = daemon.directory / "film.mkv"
        number = session.start_recording(
            file, maxBytes=10_000_000, maxDuration=0.5, codec="mjpeg", bitRate=4_000_000, minFreeBytes=1,
            metadata={"orientation": "orientation", "location": "iso6709"}).result()
        ended = app.wait(EventType.RECORDING_FINISHED)
        assert (ended.recording, ended.reason) == (number, "duration-limit"), ended
        assert ended.last_capture > 0 and ended.cause == "" and ended.frames_left_out >= 0, ended
        assert played(file)[0] == ended.frames
        for options, word in (({"maxBytes": 1}, "maxBytes"), ({"maxBytes": -1}, "maxBytes"), ({"maxBytes": 2.5}, "maxBytes"),
                              ({"codec": "av1"}, "codec"), ({"colour": 1}, "colour"),
                              ({"metadata": {"location": "text"}}, "location")):
            assert word in refused(session.start_recording(file, **options), "InvalidValue").sentence, options


@claim("a call that is refused changes nothing of the file that a path names, and one that is taken replaces all of it")
def files_of_refused_calls():
    film, picture, kept = "film.mkv", "picture.jpeg", bytes(range(256)) * 40_000
    with Daemon() as daemon, App(daemon.address, "photos") as app:
        files = {name: daemon.directory / name for name in (film, picture)}
        for file in files.values():
            file.write_bytes(kept)
        shell = daemon.shell()
        shell.call(SHELL, "PlaceApp", "ssb", "photos", "fullscreen", True)
        session = app.session()

        def refuses(name, **options):
            refused(session.start_recording(files[film], **options), name)
            if not options:
                refused(session.capture_photo(files[picture]), name)
            assert all(file.read_bytes() == kept for file in files.values()), (name, options)

        refuses("NotRunning")
        session.start().result()
        app.wait(EventType.DID_START_RUNNING)
        refuses("InvalidValue", codec="vp9")
        shell.call(SHELL, "SetPrivacy", "sb", "front", True)
        app.wait(EventType.WAS_INTERRUPTED)
        refuses("Interrupted")
        shell.call(SHELL, "SetPrivacy", "sb", "front", False)
        app.wait(EventType.DID_START_RUNNING)
        app.records(session, files[film])
        session.capture_photo(files[picture]).result()
        taken = app.wait(EventType.PHOTO_CAPTURED)
        session.stop_recording().result()
        ended = app.wait(EventType.RECORDING_FINISHED)
        for event, name in ((taken, picture), (ended, film)):
            content = files[name].read_bytes()
            assert len(content) == event.bytes < len(kept) and kept[:256] not in content, (event, len(content))
        assert played(files[film])[0] == ended.frames


@claim("a bracket is photos of consecutive frames, each with its exposure and in its file, and is refused as a whole")
def brackets():
    # A busy machine's keeper of descriptors is none that hangs.
    patient = Daemon(cameras=("front=simulated:iphone6splus-back",), extra=("--patience", "20"))
    with patient as daemon, App(daemon.address, "photos") as app:
        session = app.session()
        files = [daemon.directory / f"photo{number}.jpg" for number in range(9)]
        refused(session.capture_bracket(files[:2], biases=[-1, 1]), "NotRunning")
        session.start().result()
        app.wait(EventType.DID_START_RUNNING)
        for key, exposures, told_as in (("biases", {"biases": [-2.0, 0.0, 2.0]}, "exposureTargetBias"),
                                        ("durations", {"durations": [1 / 250, 1 / 125, 1 / 60], "isos": [400, 200, 100]}, "exposureDuration")):
            first = session.capture_bracket(files[:3], **exposures).result()
            told = {event.photo: event for event in (app.wait(EventType.PHOTO_CAPTURED) for _ in range(3))}
            assert sorted(told) == [first, first + 1, first + 2], told
            for number, (file, exposure) in enumerate(zip(files, exposures[key])):
                photo = told[first + number]
                assert photo.bytes == len(file.read_bytes()) and file.read_bytes()[:2] == b"\xff\xd8", photo
                assert abs(photo.metadata.get(told_as, 0.0) - exposure) < 1e-5, (photo.metadata, exposure)
        kept = [file.read_bytes() for file in files[:3]]
        refused(session.capture_bracket(files[:2], biases=[0, 9]), "InvalidValue")
        refused(session.capture_bracket(files[:2], durations=[0.01, 0.02]))
        refused(session.capture_bracket(files[:2]))
        for count in (0, 9):
            assert str(count) in refused(lambda: session.capture_bracket(files[:count], biases=[0] * count), number=errno.EINVAL).sentence
        refused(lambda: session.capture_bracket(files[:2], biases=[0]), number=errno.EINVAL)
        refused(lambda: session.capture_bracket([0, 9999], biases=[0, 0]), number=errno.EBADF)
        assert kept == [file.read_bytes() for file in files[:3]]
        first = session.capture_bracket(files[:8], biases=[0] * 8).result()
        assert {app.wait(EventType.PHOTO_CAPTURED).photo for _ in range(8)} == set(range(first, first + 8))


@claim("a recording is paused and resumed in one file, and says so")
def pauses():
    with running() as (daemon, app, session):
        file = daemon.directory / "film.mkv"
        refused(session.pause_recording(), "NotRecording")
        number = session.start_recording(file).result()
        app.let_pass(0.5, session)
        session.pause_recording().result()
        assert app.wait(EventType.RECORDING_PAUSED).recording == number
        refused(session.pause_recording())
        app.let_pass(1.0, session)
        session.resume_recording().result()
        assert app.wait(EventType.RECORDING_RESUMED).recording == number
        app.let_pass(0.5, session)
        session.stop_recording().result()
        ended = app.wait(EventType.RECORDING_FINISHED)
        count, seconds = played(file)
        assert count == ended.frames and seconds < 1.6, (count, seconds)


@claim("metadata is appended to a recording, a group too long for a message is refused here, and one too long for a file there")
def groups():
    with running() as (daemon, app, session):
        refused(session.append_metadata("location", 0, []), "NotRecording")
        session.start_recording(daemon.directory / "film.mkv", metadata={"note": "text", "degrees": "number"}).result()
        app.let_pass(0.3, session)
        session.append_metadata("note", time.monotonic_ns(), ["fine"]).result()
        session.append_metadata("degrees", time.monotonic_ns(), [20.5]).result()
        refused(session.append_metadata("mood", time.monotonic_ns(), ["good"]))
        refused(session.append_metadata("note", time.monotonic_ns(), ["x" * 70_000]), "LimitExceeded")
        refused(lambda: session.append_metadata("note", time.monotonic_ns(), ["x" * 130_000]), number=errno.E2BIG)
        refused(lambda: session.append_metadata("note", time.monotonic_ns(), [""] * 20_000), number=errno.E2BIG)
        session.append_metadata("note", time.monotonic_ns()).result()
        session.stop_recording().result()
        app.wait(EventType.RECORDING_FINISHED)


@claim("counts and kinds of metadata are sent as the broker takes them, and an earlier broker's shorter ends are understood")
def on_the_wire():
    seen = {}

    def start(broker, call):
        seen["options"] = call.body[1]

    def ends(broker, call):
        broker.tell("RecordingFinished", "tstxts", 7, "stopped", 3, 100, 9, "now")
        broker.tell("InterruptionEnded", "tasxb", 1, ["system-sleep"], 5, True)
    with FalseBroker() as broker:
        broker.also["StartRecording"] = start
        broker.also["StopRecording"] = ends
        with App(broker.address) as app:
            session = app.session(pictures=False)
            with open(os.devnull, "r+b") as file:
                session.start_recording(
                    file, maxBytes=1 << 40, minFreeBytes=5, bitRate=1_000_000, maxDuration=2, codec="h264",
                    metadata={"location": "iso6709"}).result()
            assert seen["options"] == {
                "maxBytes": ("t", 1 << 40), "minFreeBytes": ("t", 5), "bitRate": ("t", 1_000_000), "maxDuration": ("d", 2.0),
                "codec": ("s", "h264"), "metadata": ("a{sv}", {"location": ("s", "iso6709")})}, seen
            session.stop_recording()
            ended = app.wait(EventType.RECORDING_FINISHED)
            assert (ended.recording, ended.last_capture, ended.frames_left_out, ended.cause) == (7, 0, 0, ""), ended
            assert app.wait(EventType.INTERRUPTION_ENDED).recording == 0
