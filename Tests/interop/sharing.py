"""Several real sessions on one camera, under policies/windows.toml: one controls, others watch beside it."""
import os, signal

from harness import BROKER, CAMERA, Daemon, Refused, Skipped, as_user, claim, played, wait_until


def marked(stream, count):
    """So many frames, each with the picture of its own moment."""
    for _ in range(count):
        frame = stream.read()
        assert frame is not None and frame.mark and frame.mark[0] == frame.timestamp, frame and frame.mark
        stream.release(frame)
    return frame


def runs(app, session):
    session.start()
    app.wait("DidStartRunning")
    return session.stream()


@claim("a watcher sees the same pictures as whoever controls, and may not record or configure")
def beside():
    with Daemon("windows") as daemon:
        teams, mirror = daemon.app("teams"), daemon.app("mirror")
        control, watch = teams.session(), mirror.session(sharingMode="sharedReadOnly")
        streams = runs(teams, control), runs(mirror, watch)
        mirror.wait("AccessChanged")
        seen = [{marked(stream, 1).timestamp for _ in range(20)} for stream in streams]
        assert seen[0] & seen[1], "two sessions of one camera never saw the same frame"
        for member, arguments in (("StartRecording", ("ha{sv}", open(daemon.directory / "none.mkv", "w+b"), {})),
                                  ("Configure", ("a{sv}", {"videoZoomFactor": ("d", 2.0)}))):
            try:
                watch.call(member, *arguments)
                raise AssertionError(f"a watcher was allowed to {member}")
            except Refused as refused:
                assert "AccessDenied" in refused.name, (member, refused.name, str(refused))
        control.call("Configure", "a{sv}", {"videoZoomFactor": ("d", 2.0)})
        applied = mirror.wait("ConfigurationApplied")
        assert "sharer" in applied, applied


@claim("the holder leaves: its stream is closed and blank, the watcher's goes on under the same grant without a gap")
def in_place():
    with Daemon("windows") as daemon:
        teams, mirror = daemon.app("teams"), daemon.app("mirror")
        control, watch = teams.session(), mirror.session(sharingMode="sharedReadOnly")
        held, watched = runs(teams, control), runs(mirror, watch)
        file = daemon.directory / "held.mkv"
        control.record(file)
        teams.wait("RecordingStarted")
        marked(held, 10), marked(watched, 10)
        recorder = daemon.recorders()
        control.call("StopRunning")
        finished = teams.wait("RecordingFinished")
        assert finished[3] == "stopped" and played(file)[0] == finished[4] > 0, finished
        while held.read() is not None:
            pass
        assert all(buffer.is_blank for buffer in held.buffers.values()), "a closed stream still shows a picture"
        before = marked(watched, 1)
        after = marked(watched, 30)
        # Dropped frames leave holes in the numbers; a new grant would begin them anew.
        assert after.sequence > before.sequence, (before.sequence, after.sequence)
        assert all(buffer.is_blank for buffer in held.buffers.values()), "a closed stream shows a picture again"
        assert daemon.recorders() == recorder, "another recorder was started"
        assert mirror.names().count("DidStartRunning") == 1 and "WasInterrupted" not in mirror.names(), mirror.names()


@claim("a recorder that does not close a leaver's stream is killed, and the watcher runs again by itself")
def stuck():
    with Daemon("windows") as daemon:
        teams, mirror = daemon.app("teams"), daemon.app("mirror")
        control, watch = teams.session(), mirror.session(sharingMode="sharedReadOnly")
        runs(teams, control), runs(mirror, watch)
        (recorder,) = daemon.recorders()
        os.kill(recorder, signal.SIGSTOP)
        control.call("StopRunning")
        mirror.wait("WasInterrupted")
        wait_until("the stopped recorder is gone", lambda: recorder not in daemon.recorders())
        mirror.wait("InterruptionEnded")
        wait_until("the watcher runs again", lambda: (mirror.poll(), mirror.names().count("DidStartRunning") == 2)[1])
        marked(watch.stream(), 5)


@claim("a second session that wants control is refused, and gets it when HolderChanged says that it is free")
def second():
    with Daemon("windows") as daemon:
        teams, other = daemon.app("teams"), daemon.app("other")
        control, late = teams.session(), other.session()
        runs(teams, control)
        try:
            late.start()
            raise AssertionError("a second session got control")
        except Refused as refused:
            assert "RefusedByPolicy" in refused.name, refused.name
        control.call("StopRunning")
        other.wait("HolderChanged", lambda body: body[0] == CAMERA and body[1] == "")
        marked(runs(other, late), 3)


@claim("a status tells another user of a sharer as another user's app, and its own user of its name")
def sharers_told():
    if os.geteuid() != 0:
        raise Skipped("other users take root")
    alice, bob = 1000, 1001
    with Daemon("windows", cameras=(f"{CAMERA}=none",), users=(alice, bob)) as daemon:

        def client(user, *name):
            with as_user(user):
                return daemon.app(*name)

        def sharers(app):
            (camera,) = app.call(BROKER, "GetStatus")[1]
            return camera["holder"][1], camera["sharers"][1]

        teams, mirror = client(alice, "teams"), client(alice, "mirror")
        teams.session().start()
        teams.wait("DidStartRunning")
        mirror.session(sharingMode="sharedReadOnly").start()
        mirror.wait("DidStartRunning")
        assert sharers(client(alice)) == ("teams", ["mirror"]), sharers(client(alice))
        assert sharers(client(bob)) == ("another user's app", ["another user's app"]), sharers(client(bob))
        told = str(client(bob).call(BROKER, "GetStatus"))
        assert "teams" not in told and "mirror" not in told, f"a name of another user's app is in it: {told}"
