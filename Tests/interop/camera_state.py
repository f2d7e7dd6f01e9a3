"""What a camera says of itself while it runs: focus, exposure and the pipeline of simulated phones, through a whole broker."""
from harness import CAMERA, Daemon, claim


def values(state):
    """Without the types on the wire."""
    return {key: value for key, (_, value) in state.items()}


def states(app, session, until):
    """What CameraStateChanged tells the session, up to a state that is waited for."""
    told = []

    def is_last(body):
        told.append(values(body[2]))
        return until(told[-1])

    app.wait("CameraStateChanged", is_last)
    return told


def running(daemon, name, camera_format):
    app = daemon.app(name)
    session = app.session(activeFormat=camera_format)
    session.start()
    app.wait("DidStartRunning")
    return app, session


def focused(app, session, **also):
    """Has the session focus once, and gives what is told until that is done."""
    session.call("Configure", "a{sv}", {"focusMode": ("s", "auto"), **also})
    told = states(app, session, lambda state: "focusMode" in state)
    assert told[-1]["focusMode"] == "locked", told
    assert session.property("Configuration")["focusMode"] == ("s", "locked")
    return told


@claim("a camera that focuses by contrast is seen to adjust, and a focus that was asked for once ends locked")
def contrast():
    with Daemon(cameras=(f"{CAMERA}=simulated:iphone5-back",)) as daemon:
        app, session = running(daemon, "photos", "420v 640x480")
        for _ in range(2):
            adjusting = [state["adjustingFocus"] for state in focused(app, session) if "adjustingFocus" in state]
            assert adjusting == [True, False], adjusting
        assert session.property("Configuration")["adjustingFocus"] == ("b", False)


@claim("a camera that focuses by phase moves its lens and is never seen to adjust, but in the format that focuses by contrast")
def phase():
    with Daemon(cameras=(f"{CAMERA}=simulated:iphone6-back",)) as daemon:
        app, session = running(daemon, "photos", "420v 640x480@30")
        told = focused(app, session, focusPointOfInterest=("(dd)", (0.5, 1.0)))
        assert any("lensPosition" in state for state in told), told
        assert not any("adjustingFocus" in state for state in told), told
        # Locked, so that nothing but the order below is a reason to focus.
        session.call("Configure", "a{sv}", {"activeFormat": ("s", "420v 1280x720@240 binned"), "focusMode": ("s", "locked"),
                                            "frameRate": ("d", 30.0)})
        app.wait("ConfigurationApplied", lambda body: body[3]["activeFormat"] == ("s", "420v 1280x720@240 binned"))
        adjusting = [state["adjustingFocus"] for state in focused(app, session) if "adjustingFocus" in state]
        assert adjusting == [True, False], adjusting


@claim("who watches a camera hears of its state as its holder does, and a new format's pipeline is counted")
def watched():
    with Daemon(policy="windows", cameras=(f"{CAMERA}=simulated:iphone6-back",)) as daemon:
        holder, session = running(daemon, "photos", "420v 640x480@30")
        watcher = daemon.app("mirror")
        watching = watcher.session(sharingMode="sharedReadOnly")
        watching.start()
        watcher.wait("DidStartRunning")
        session.call("Configure", "a{sv}", {"activeFormat": ("s", "420v 1280x720@30")})
        applied = watcher.wait("ConfigurationApplied", lambda body: body[3]["activeFormat"] == ("s", "420v 1280x720@30"))
        assert applied[3]["pipelineRebuilds"] == ("u", 1), applied
        session.call("Configure", "a{sv}", {"exposureMode": ("s", "auto"), "exposureTargetBias": ("d", 1.0)})
        for app, at in ((holder, session), (watcher, watching)):
            told = states(app, at, lambda state: "exposureMode" in state)
            assert told[-1]["exposureMode"] == "locked" and {"adjustingExposure": True}.items() <= told[0].items(), told
            assert at.property("Configuration")["exposureMode"] == ("s", "locked")
