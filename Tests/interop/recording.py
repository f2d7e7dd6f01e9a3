"""Recordings: playable whatever happens, ending where the interruption began, and never resumed."""
import ctypes, os, signal, subprocess, time

from camclient import until_frames
from harness import CAMERA, PROGRAMS, Daemon, Folder, claim, played, probed, ran, recorded_marks, refused, wait_until


def frames(stream, count):
    for _ in range(count):
        frame = stream.read()
        assert frame is not None, "the stream ended"
        stream.release(frame)
    return frame


def kill_the_recorder(daemon, app, session, open_file, seen=70):
    """Records `seen` frames, and kills camrecorder: when, and how the recording ended."""
    session.runs()
    stream = session.stream()
    with open_file() as file:
        (recording,) = session.call("StartRecording", "ha{sv}", file, {})
    app.wait("RecordingStarted")
    frames(stream, seen)
    (recorder,) = daemon.recorders()
    killed = time.monotonic_ns()
    os.kill(recorder, signal.SIGKILL)
    cut = app.wait("WasInterrupted")
    assert cut[4] == "recorder-reset" and cut[6] == recording, cut
    finished = app.wait("RecordingFinished")
    assert finished[2] == recording and finished[3] == "recorder-reset", finished
    return killed, finished


def packets(file, *more):
    found = probed(file, "-select_streams", "v:0", "-show_entries", "packet=pts_time", *more, complains=False)
    return [float(packet["pts_time"]) for packet in found["packets"]]


@claim("SIGKILL of camrecorder while recording: the file is completed, its end says what is in it, and recording does not go on")
def recorder_killed():
    with Daemon() as daemon:
        app = daemon.app("photos")
        session = app.session()
        file = daemon.directory / "killed.mkv"
        killed, finished = kill_the_recorder(daemon, app, session, lambda: open(file, "w+b"))
        count, seconds = played(file)
        assert finished[4] == count > 0 and finished[6] == os.path.getsize(file), (finished, count)
        assert abs(seconds - finished[5] / 1e9) < 0.002, f"{seconds} s play, {finished[5] / 1e9} s were announced"
        lost = (killed - recorded_marks(file)[-1][0]) / 1e9
        assert lost <= 1, f"{lost} s before the kill are not in the file"
        # A reader that wants its third second begins at the key frame before that, by the index.
        after = packets(file, "-read_intervals", "2.01%+#1")
        assert len(after) == 1 and 0.5 < after[0] <= 2.01, after
        if not any(body[5] is True for body in app.heard("InterruptionEnded")):
            app.wait("InterruptionEnded", lambda body: body[5] is True)
        wait_until("the next start", lambda: app.poll() or app.names().count("DidStartRunning") == 2)
        frames(session.stream(), 10)
        app.poll()
        assert app.names().count("RecordingStarted") == 1, app.names()
        session.records(daemon.directory / "next.mkv")
        session.finish()
        return f"{count} frames play, {lost * 1000:.0f} ms before the kill are not in the file"


@claim("a file that can be written only is not completed when camrecorder is killed: it plays, and its frames and bytes are not known")
def written_only():
    with Daemon() as daemon:
        app = daemon.app("photos")
        file = daemon.directory / "killed.mkv"
        _, finished = kill_the_recorder(daemon, app, app.session(), lambda: open(file, "wb"), seen=30)
        assert finished[4] == finished[6] == 2**64 - 1 and finished[5] > 0, finished
        assert "writing only" in daemon.log.read_text(errors="replace"), daemon.said()
        # Those that were encoded until then.
        count, _ = played(file)
        assert count > 0
        return f"{count} frames play"


@claim("a recording that is stopped before its first frame says so, and its file opens")
def no_frame():
    for kind in ("matroska", "mp4", "mov"):
        with Daemon() as daemon:
            app, session = daemon.running("photos", frameRate=3.0)
            # Between two frames of a slow camera, a frame of its stream having just come.
            frames(session.stream(), 1)
            file = daemon.directory / "empty"
            session.record(file, fileType=("s", kind))
            finished = session.finish()
            described = probed(file, "-show_entries", "stream=codec_name")["streams"]
            assert [stream["codec_name"] for stream in described] == ["h264"], (kind, described)
            assert finished[4] == 0 and finished[6] == os.path.getsize(file), (kind, finished)


@claim("another recorder core that speaks Recorder1 takes camrecorder's place")
def other_core():
    with Daemon(extra=("--recorder", PROGRAMS / "tinyrecorder")) as daemon:
        _, session = daemon.running("photos")
        session.stops()


@claim("recording twice, or into something that is no writable regular file, is refused, and the first recording goes on")
def unsuitable():
    with Daemon() as daemon:
        _, session = daemon.running("photos")
        file, (reading, writing) = daemon.directory / "file.mkv", os.pipe()
        file.touch()
        # Regular files all of the last three, on file systems that are not known to keep pictures.
        libc, name = ctypes.CDLL(None, use_errno=True), f"/camarb-{os.getpid()}".encode()
        for descriptor, *words in (
                (reading,), (writing,), (os.open(file, os.O_RDONLY),), (os.open(file, os.O_WRONLY | os.O_APPEND),),
                (os.open(daemon.directory, os.O_RDONLY),), (os.open("/dev/null", os.O_WRONLY),),
                (libc.syscall(447, 0), "kernel"),  # memfd_secret
                (libc.mq_open(name, os.O_RDWR | os.O_CREAT, 0o600, None), "kernel"),
                (libc.memfd_create(b"huge", 4), "0x958458f6")):  # MFD_HUGETLB
            # A kernel may be built without any of them.
            if descriptor >= 0:
                refused(lambda: session.call("StartRecording", "ha{sv}", descriptor, {}), *words, error="UnsuitableFile")
                os.close(descriptor)
        libc.mq_unlink(name)
        recording = session.records(file)
        refused(lambda: session.record(daemon.directory / "second.mkv"), error="AlreadyRecording")
        until_frames(file)
        with open(file, "r+b") as same:
            for member in ("CapturePhoto", "StartRecording"):
                refused(lambda: session.call(member, "ha{sv}", same, {}), "recorded to already", error="UnsuitableFile")
        finished = session.finish(recording)
        assert finished[3] == "stopped" and finished[4] > 0, finished
        refused(lambda: session.call("StopRecording"), error="NotRecording")


@claim("a file camera shows its footage in the preview, in a recording and in a photo")
def footage():
    with Folder() as folder:
        source = folder / "source.mp4"
        # A picture that is plain red on the left and plain blue on the right, so that it is known again.
        halves = [word for colour in ("red", "blue") for word in ("-f", "lavfi", "-i", f"color={colour}:s=320x360:r=25:d=2")]
        ran("ffmpeg", "-v", "error", *halves, "-filter_complex", "hstack", "-pix_fmt", "yuv420p", source)
        with Daemon(cameras=(f"{CAMERA}=file:{source}",)) as daemon:
            _, session = daemon.running("photos")
            stream = session.stream()
            file, photo = daemon.directory / "footage.mkv", daemon.directory / "photo.jpg"
            session.record(file)
            frame = frames(stream, 15)
            buffer = stream.buffers[frame.index]
            middle = buffer.height // 2 * buffer.stride
            left, right = buffer.memory[middle + buffer.width // 4], buffer.memory[middle + buffer.width * 3 // 4]
            assert 60 <= left <= 100 and 25 <= right <= 60, f"the preview's luma is {left} and {right}"
            taken = session.photo(photo)
            assert taken[6] == "" and taken[5] == os.path.getsize(photo), taken
            session.finish()
            for made in (file, photo):
                pixels = subprocess.run(
                    ["ffmpeg", "-v", "error", "-i", str(made), "-vf", "scale=4:2", "-frames:v", "1", "-f", "rawvideo",
                     "-pix_fmt", "rgb24", "-"], stdout=subprocess.PIPE, check=True, timeout=60).stdout
                red, blue = pixels[0:3], pixels[9:12]
                assert red[0] > 180 and red[2] < 80 and blue[2] > 180 and blue[0] < 80, (made.name, red, blue)
