"""Several real sessions on one camera, under policies/windows.toml: one controls, others watch beside it."""
from harness import BROKER, CAMERA, Daemon, claim, needs_root, refused


def captured(stream):
    """When each of twenty frames was captured, each with the picture of its own moment."""
    moments = set()
    for _ in range(20):
        frame = stream.read()
        assert frame is not None and frame.mark and frame.mark[0] == frame.timestamp, frame and frame.mark
        stream.release(frame)
        moments.add(frame.timestamp)
    return moments


@claim("a watcher sees the same pictures as whoever controls, and may not record or configure")
def beside():
    with Daemon("windows") as daemon:
        (_, control), (mirror, watch) = daemon.running("teams"), daemon.running("mirror", sharingMode="sharedReadOnly")
        streams = control.stream(), watch.stream()
        mirror.wait("AccessChanged")
        assert captured(streams[0]) & captured(streams[1]), "two sessions of one camera never saw the same frame"
        refused(lambda: watch.record(daemon.directory / "none.mkv"), error="AccessDenied")
        refused(lambda: watch.configure(videoZoomFactor=2.0), error="AccessDenied")
        control.configure(videoZoomFactor=2.0)
        applied = mirror.wait("ConfigurationApplied")
        assert "sharer" in applied, applied


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
