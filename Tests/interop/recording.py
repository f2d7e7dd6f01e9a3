"""Recordings: playable whatever happens, ending where the interruption began, and never resumed."""
import os, signal, subprocess, time

from harness import CAMERA, SHELL, Daemon, claim, played, recorded_marks, wait_until


def focus(shell, app, focused):
    shell.call(SHELL, "PlaceApp", "ssb", app, "fullscreen", focused)


def frames(stream, count):
    for _ in range(count):
        frame = stream.read()
        assert frame is not None, "the stream ended"
        stream.release(frame)
    return frame


@claim("a recording that an interruption cuts ends with frames captured before the winner's first, and is whole")
def interrupted():
    with Daemon() as daemon:
        shell, app, rival = daemon.shell(), daemon.app("photos"), daemon.app("rival")
        focus(shell, "photos", True)
        session, other = app.session(), rival.session()
        session.start()
        app.wait("DidStartRunning")
        stream = session.stream()
        file = daemon.directory / "cut.mkv"
        recording = session.record(file)
        app.wait("RecordingStarted")
        frames(stream, 20)
        focus(shell, "rival", True)
        focus(shell, "photos", False)
        other.start()
        cut = app.wait("WasInterrupted")
        assert cut[6] == recording, f"the interruption names recording {cut[6]}, not {recording}"
        finished = app.wait("RecordingFinished")
        assert finished[2] == recording and finished[3] == "interrupted", finished
        assert finished[7] == "when-interruption-ends", finished
        rival.wait("DidStartRunning")
        first = other.stream().read()
        assert os.path.getsize(file) == finished[6], (os.path.getsize(file), finished)
        count, seconds = played(file)
        assert count == finished[4] > 0, f"{count} frames play, {finished[4]} were announced"
        assert abs(seconds - finished[5] / 1e9) < 0.1, f"{seconds} s play, {finished[5] / 1e9} s were announced"
        marks = recorded_marks(file)
        assert None not in marks, f"frame {marks.index(None) + 1} of the recording has no burnt-in mark"
        times = [time for time, _ in marks]
        assert times == sorted(times) and times[-1] < first.mark[0], (times[-1], first.mark)
        # The camera comes back by itself; the recording does not.
        other.call("StopRunning")
        app.wait("DidStartRunning")
        frames(session.stream(), 5)
        app.poll()
        assert app.names().count("RecordingStarted") == 1, app.names()
        again = session.record(daemon.directory / "again.mkv")
        assert again != recording
        session.call("StopRecording")
        app.wait("RecordingFinished", lambda body: body[2] == again)


def kill_the_recorder(daemon, app, session, open_file, seen=70):
    """Records `seen` frames, and kills camrecorder: when, and how the recording ended."""
    session.start()
    app.wait("DidStartRunning")
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
    """The times of a recording's packets, in seconds."""
    done = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pts_time", "-of", "csv=p=0", *more,
         str(file)], stdout=subprocess.PIPE, text=True, check=True, timeout=60)
    return [float(line.rstrip(",")) for line in done.stdout.split()]


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
        if not any(body[5] is True for _, name, body in app.signals if name == "InterruptionEnded"):
            app.wait("InterruptionEnded", lambda body: body[5] is True)
        wait_until("the next start", lambda: app.poll() or app.names().count("DidStartRunning") == 2)
        frames(session.stream(), 10)
        app.poll()
        assert app.names().count("RecordingStarted") == 1, app.names()
        session.record(daemon.directory / "next.mkv")
        app.wait("RecordingStarted")
        session.call("StopRecording")
        app.wait("RecordingFinished")
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
            app = daemon.app("photos")
            session = app.session(frameRate=3.0)
            session.start()
            app.wait("DidStartRunning")
            # Between two frames of a slow camera, a frame of its stream having just come.
            frames(session.stream(), 1)
            file = daemon.directory / "empty"
            session.record(file, fileType=("s", kind))
            session.call("StopRecording")
            finished = app.wait("RecordingFinished")
            described = subprocess.run(
                ["ffprobe", "-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", str(file)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
            assert described.returncode == 0 and described.stdout.strip() == "h264" and not described.stderr, (kind, described)
            assert finished[4] == 0 and finished[6] == os.path.getsize(file), (kind, finished)


@claim("another recorder core that speaks Recorder1 takes camrecorder's place")
def other_core():
    from harness import PROGRAMS
    with Daemon(extra=("--recorder", PROGRAMS / "tinyrecorder")) as daemon:
        app = daemon.app("photos")
        session = app.session()
        session.start()
        app.wait("DidStartRunning")
        session.call("StopRunning")
        app.wait("DidStopRunning")


@claim("a file camera shows its footage in the preview, in a recording and in a photo")
def footage():
    with Daemon() as holder:  # Only for its temporary directory.
        source = holder.directory / "source.mp4"
        # A picture that is plain red on the left and plain blue on the right, so that it is known again.
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=red:s=320x360:r=25:d=2", "-f", "lavfi", "-i",
             "color=blue:s=320x360:r=25:d=2", "-filter_complex", "hstack", "-pix_fmt", "yuv420p", str(source)], check=True,
            timeout=60)
        with Daemon(cameras=(f"{CAMERA}=file:{source}",)) as daemon:
            app = daemon.app("photos")
            session = app.session()
            session.start()
            app.wait("DidStartRunning")
            stream = session.stream()
            file, photo = daemon.directory / "footage.mkv", daemon.directory / "photo.jpg"
            session.record(file)
            frame = frames(stream, 15)
            buffer = stream.buffers[frame.index]
            middle = buffer.height // 2 * buffer.stride
            left, right = buffer.memory[middle + buffer.width // 4], buffer.memory[middle + buffer.width * 3 // 4]
            assert 60 <= left <= 100 and 25 <= right <= 60, f"the preview's luma is {left} and {right}"
            with open(photo, "w+b") as picture:
                (number,) = session.call("CapturePhoto", "ha{sv}", picture, {})
            taken = app.wait("PhotoCaptured", lambda body: body[2] == number)
            assert taken[6] == "" and taken[5] == os.path.getsize(photo), taken
            session.call("StopRecording")
            app.wait("RecordingFinished")
            for made in (file, photo):
                pixels = subprocess.run(
                    ["ffmpeg", "-v", "error", "-i", str(made), "-vf", "scale=4:2", "-frames:v", "1", "-f", "rawvideo",
                     "-pix_fmt", "rgb24", "-"], stdout=subprocess.PIPE, check=True, timeout=60).stdout
                red, blue = pixels[0:3], pixels[9:12]
                assert red[0] > 180 and red[2] < 80 and blue[2] > 180 and blue[0] < 80, (made.name, red, blue)
