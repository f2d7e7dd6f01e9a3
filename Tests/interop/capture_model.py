"""What can be configured, over the wire: presets, points and gains, checks, what there is no room for, and what a camera says of itself."""
from harness import CAMERA, COMPUTING_PATIENCE, Daemon, Refused, claim, plain, refused

IPHONES = ("back=simulated:iphone6s-back", "front=simulated:iphone6s-front")
FORMAT_KEYS = {"sessionPreset", "activeFormat", "frameRate", "activeVideoMinFrameDuration", "activeVideoMaxFrameDuration",
               "videoZoomFactor", "activeVideoStabilizationMode"}
# Each control in the word in which no automatic decides over what it has beside it.
BY_HAND = {"focusMode": ("s", "locked"), "exposureMode": ("s", "custom"), "whiteBalanceMode": ("s", "locked"), "torchMode": ("s", "on"),
           "automaticallyAdjustsVideoHDREnabled": ("b", False)}
# What the automatic decides until then.
OVERRULED = {"lensPosition", "exposureDuration", "iso", "whiteBalanceGains", "torchLevel"}
# What the camera says of itself while it runs, the automatic modes' values among it.
STATE = {"adjustingFocus", "adjustingExposure", "adjustingWhiteBalance", "lensPosition", "exposureDuration", "iso"}


def configure(app, session, **settings):
    session.call("Configure", "a{sv}", settings)
    return app.wait("ConfigurationApplied", lambda body: set(settings) <= set(body[2]))[3]


def refusal(session, member, settings):
    """Name and sentence; None: it is taken."""
    try:
        session.call(member, "a{sv}", settings)
    except Refused as refused:
        return refused.name, refused.message
    return None


@claim("the configuration of a session that runs has every key that is in force: preset, format, durations, zoom and all controls that "
       "count")
def in_force():
    with Daemon(cameras=IPHONES) as daemon:
        app, session = daemon.running("photos", "back")
        controls = {one["key"][1]: one for one in app.property("/org/camarb/camera/back", "org.camarb.Camera1", "Controls")}
        shown = session.property("Configuration")
        known = FORMAT_KEYS | set(controls) - OVERRULED | STATE
        assert set(shown) == known, set(shown) ^ known
        # Nobody has set anything.
        assert shown["sessionPreset"] == ("s", "inputPriority") and shown["videoZoomFactor"] == ("d", 1.0), shown
        assert all(shown[key] == controls[key]["usual"] for key in set(controls) - OVERRULED), shown
        assert shown["focusPointOfInterest"] == ("(dd)", (0.5, 0.5)), shown
        assert shown["activeVideoMinFrameDuration"] == ("d", 1 / shown["frameRate"][1]), shown
        told = configure(app, session, **BY_HAND, focusPointOfInterest=("(dd)", (0.25, 0.75)),
                         whiteBalanceGains=("(ddd)", (1.0, 1.5, 2.0)), exposureDuration=("d", 0.01))
        assert set(told) == FORMAT_KEYS | set(controls) | STATE, told
        # What the camera moves by itself may have moved since.
        shown = session.property("Configuration")
        assert all(told[key] == shown[key] for key in set(told) - STATE), (told, shown)
        assert told["focusPointOfInterest"] == ("(dd)", (0.25, 0.75)) and told["whiteBalanceGains"] == ("(ddd)", (1.0, 1.5, 2.0)), told
        assert told["exposureDuration"] == ("d", 0.01) and told["torchLevel"] == controls["torchLevel"]["usual"], told
        # A list is as good as a structure, and what is given back is a structure.
        told = configure(app, session, exposurePointOfInterest=("ad", [1.0, 0.0]))
        assert told["exposurePointOfInterest"] == ("(dd)", (1.0, 0.0)), told


@claim("a check is answered as the batch itself would be, refusal and sentence alike, stopped, running and recording, and changes nothing")
def checked():
    good = {"frameRate": ("d", 12.0), "focusPointOfInterest": ("(dd)", (0.1, 0.9))}
    bad = [{"frameRate": ("d", 12.0), "videoZoomFactor": ("d", 1000.0)}, {"focusPointOfInterest": ("(dd)", (0.5, 1.5))},
           {"whiteBalanceGains": ("(ddd)", (1.0, 1.5, 2.0))}, {"flashMode": ("s", "on"), "torchMode": ("s", "on")},
           {"activeVideoStabilizationMode": ("s", "off")}, {"camera": ("s", "attic")}, {"sessionPreset": ("s", "huge")},
           {"zoom": ("d", 2.0)}]
    recording_only = {"activeFormat": ("s", "420v 640x480")}
    with Daemon(cameras=IPHONES) as daemon:
        app = daemon.app("photos")
        session = app.session("back")
        for state in ("stopped", "running", "recording"):
            if state == "running":
                session.runs()
            if state == "recording":
                session.records(daemon.directory / "film.mkv")
                bad += [recording_only, {"camera": ("s", "front")}]
            before = session.property("Configuration")
            for batch in [good] if state == "recording" else [good, recording_only]:
                assert refusal(session, "CheckConfiguration", batch) is None, (state, batch)
            for batch in bad:
                answer = refusal(session, "CheckConfiguration", batch)
                assert answer and answer[1].endswith(".") and answer == refusal(session, "Configure", batch), (state, batch, answer)
            assert session.property("Configuration") == before and session.property("Camera") == "back"
        assert not app.heard("ConfigurationApplied"), app.signals
        assert configure(app, session, **good)["frameRate"] == ("d", 12.0)


def shows(stream, *size):
    """The next frame of that size; of those before it, some may be of another."""
    while True:
        frame = stream.read(patience=COMPUTING_PATIENCE)
        assert frame is not None, "the stream ended"
        stream.release(frame)
        buffer = stream.buffers[frame.index]
        if (buffer.width, buffer.height) == size:
            return frame


@claim("a stream for whose pictures there is no room is said to have none, with what is asked for, held and allowed, and has them "
       "when there is room")
def no_room():
    with Daemon(cameras=IPHONES) as daemon:
        app, session = daemon.running("photos", "back", frameRate=3.0)
        first, second = session.stream(), session.stream()
        session.configure(activeFormat="420v 4032x3024", frameRate=3.0)
        _, _, code, sentence = app.wait("RuntimeError")
        assert code == "stream-memory", code
        for words in ("has no pictures until there is room", "4032x3024 take 70 MiB", "76 MiB of at most 128",
                      "A smaller format or fewer streams"):
            assert words in sentence, sentence
        shows(first, 4032, 3024)
        assert session.property("Running") and not second.ended
        # A third finds none either, and nothing else ends over it.
        refused(session.stream, "70 MiB", error="LimitExceeded")
        session.configure(activeFormat="420v 1280x720", frameRate=3.0)
        for stream in (first, second):
            shows(stream, 1280, 720)
        session.configure(activeFormat="420v 4032x3024", frameRate=3.0)
        shows(first, 4032, 3024)
        # What one leaves is the other's.
        first.close()
        shows(second, 4032, 3024)


def states(session, until):
    """What CameraStateChanged tells a session, up to a state that is waited for."""
    told = []

    def is_last(body):
        told.append(plain(body[2]))
        return until(told[-1])

    session.app.wait("CameraStateChanged", is_last)
    return told


@claim("who watches a camera hears of its state as its holder does")
def watched():
    with Daemon(policy="windows", cameras=(f"{CAMERA}=simulated:iphone6-back",)) as daemon:
        _, session = daemon.running("photos", activeFormat="420v 640x480@30")
        _, watching = daemon.running("mirror", sharingMode="sharedReadOnly")
        session.configure(exposureMode="auto", exposureTargetBias=1.0)
        for at in (session, watching):
            told = states(at, lambda state: "exposureMode" in state)
            assert told[-1]["exposureMode"] == "locked" and told[0].get("adjustingExposure") is True, told
            assert at.property("Configuration")["exposureMode"] == ("s", "locked")
