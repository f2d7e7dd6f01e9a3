"""Several real sessions on one camera, under policies/windows.toml: one controls, others watch beside it."""
import contextlib, os, signal

from harness import BROKER, CAMERA, Daemon, claim, needs_root, played, refused, wait_until


def marked(stream, count):
    """So many frames, each with the picture of its own moment."""
    for _ in range(count):
        frame = stream.read()
        assert frame is not None and frame.mark and frame.mark[0] == frame.timestamp, frame and frame.mark
        stream.release(frame)
    return frame


@contextlib.contextmanager
def two():
    """One that controls the camera, and one that watches, each with its session."""
    with Daemon("windows") as daemon:
        yield daemon, *daemon.running("teams"), *daemon.running("mirror", sharingMode="sharedReadOnly")


@claim("a watcher sees the same pictures as whoever controls, and may not record or configure")
def beside():
    with two() as (daemon, _, control, mirror, watch):
        streams = control.stream(), watch.stream()
        mirror.wait("AccessChanged")
        seen = [{marked(stream, 1).timestamp for _ in range(20)} for stream in streams]
        assert seen[0] & seen[1], "two sessions of one camera never saw the same frame"
        refused(lambda: watch.record(daemon.directory / "none.mkv"), error="AccessDenied")
        refused(lambda: watch.configure(videoZoomFactor=2.0), error="AccessDenied")
        control.configure(videoZoomFactor=2.0)
        applied = mirror.wait("ConfigurationApplied")
        assert "sharer" in applied, applied


@claim("the holder leaves: its stream is closed and blank, the watcher's goes on under the same grant without a gap")
def in_place():
    with two() as (daemon, teams, control, mirror, watch):
        held, watched = control.stream(), watch.stream()
        file = daemon.directory / "held.mkv"
        control.records(file)
        marked(held, 10), marked(watched, 10)
        recorder = daemon.recorders()
        control.call("StopRunning")
        finished = teams.wait("RecordingFinished")
        assert finished[3] == "stopped" and played(file)[0] == finished[4] > 0, finished
        while held.read() is not None:
            pass
        assert all(buffer.is_blank for buffer in held.buffers.values()), "a closed stream still shows a picture"
        before, after = marked(watched, 1), marked(watched, 30)
        # Dropped frames leave holes in the numbers; a new grant would begin them anew.
        assert after.sequence > before.sequence, (before.sequence, after.sequence)
        assert all(buffer.is_blank for buffer in held.buffers.values()), "a closed stream shows a picture again"
        assert daemon.recorders() == recorder, "another recorder was started"
        assert mirror.names().count("DidStartRunning") == 1 and "WasInterrupted" not in mirror.names(), mirror.names()


@claim("a recorder that does not close a leaver's stream is killed, and the watcher runs again by itself")
def stuck():
    with two() as (daemon, _, control, mirror, watch):
        control.stream(), watch.stream()
        (recorder,) = daemon.recorders()
        os.kill(recorder, signal.SIGSTOP)
        control.call("StopRunning")
        mirror.wait("WasInterrupted")
        wait_until("the stopped recorder is gone", lambda: recorder not in daemon.recorders())
        mirror.resumes()
        marked(watch.stream(), 5)


@claim("a status tells another user of a sharer as another user's app, and its own user of its name")
def sharers_told():
    needs_root()
    alice, bob = 1000, 1001
    with Daemon("windows", cameras=(f"{CAMERA}=none",), users=(alice, bob)) as daemon:
        daemon.running("teams", user=alice)
        daemon.running("mirror", user=alice, sharingMode="sharedReadOnly")
        for user, shown in ((alice, ("teams", ["mirror"])), (bob, ("another user's app", ["another user's app"]))):
            status = daemon.app(user=user).call(BROKER, "GetStatus")
            (camera,) = status[1]
            assert (camera["holder"][1], camera["sharers"][1]) == shown, camera
        assert "teams" not in str(status) and "mirror" not in str(status), f"a name of another user's app is in it: {status}"
