"""What a camera says of itself while it runs: focus, exposure and the pipeline of simulated phones, through a whole broker."""
from harness import CAMERA, Daemon, claim, plain


def states(session, until):
    """What CameraStateChanged tells a session, up to a state that is waited for."""
    told = []

    def is_last(body):
        told.append(plain(body[2]))
        return until(told[-1])

    session.app.wait("CameraStateChanged", is_last)
    return told


def focused(session, **also):
    """Has the session focus once: what is told until that is done, and what of that it adjusts."""
    session.configure(focusMode="auto", **also)
    told = states(session, lambda state: "focusMode" in state)
    assert told[-1]["focusMode"] == "locked", told
    assert session.property("Configuration")["focusMode"] == ("s", "locked")
    return told, [state["adjustingFocus"] for state in told if "adjustingFocus" in state]


@claim("a camera that focuses by contrast is seen to adjust, and a focus that was asked for once ends locked")
def contrast():
    with Daemon(cameras=(f"{CAMERA}=simulated:iphone5-back",)) as daemon:
        _, session = daemon.running("photos", activeFormat="420v 640x480")
        for _ in range(2):
            assert focused(session)[1] == [True, False]
        assert session.property("Configuration")["adjustingFocus"] == ("b", False)


@claim("a camera that focuses by phase moves its lens and is never seen to adjust, but in the format that focuses by contrast")
def phase():
    with Daemon(cameras=(f"{CAMERA}=simulated:iphone6-back",)) as daemon:
        app, session = daemon.running("photos", activeFormat="420v 640x480@30")
        told, adjusting = focused(session, focusPointOfInterest=("(dd)", (0.5, 1.0)))
        assert any("lensPosition" in state for state in told) and not adjusting, told
        # Locked, so that nothing but the order below is a reason to focus.
        session.configure(activeFormat="420v 1280x720@240 binned", focusMode="locked", frameRate=30.0)
        app.wait("ConfigurationApplied", lambda body: body[3]["activeFormat"] == ("s", "420v 1280x720@240 binned"))
        assert focused(session)[1] == [True, False]


@claim("who watches a camera hears of its state as its holder does, and a new format's pipeline is counted")
def watched():
    with Daemon(policy="windows", cameras=(f"{CAMERA}=simulated:iphone6-back",)) as daemon:
        _, session = daemon.running("photos", activeFormat="420v 640x480@30")
        watcher, watching = daemon.running("mirror", sharingMode="sharedReadOnly")
        session.configure(activeFormat="420v 1280x720@30")
        applied = watcher.wait("ConfigurationApplied", lambda body: body[3]["activeFormat"] == ("s", "420v 1280x720@30"))
        assert applied[3]["pipelineRebuilds"] == ("u", 1), applied
        session.configure(exposureMode="auto", exposureTargetBias=1.0)
        for at in (session, watching):
            told = states(at, lambda state: "exposureMode" in state)
            assert told[-1]["exposureMode"] == "locked" and told[0].get("adjustingExposure") is True, told
            assert at.property("Configuration")["exposureMode"] == ("s", "locked")
