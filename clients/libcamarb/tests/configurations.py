"""Configurations: points and gains beside words, numbers and flags, checks, switches of cameras, and their memory over brokers' ends."""
import errno, re, socket

from app import App, refused, running
from brokers import runs, wait_for_secret
from camarb import EventType, State
from camarb._library import lib
from false_broker import FalseBroker, cameras, format_
from harness import Daemon, claim
from jeepney import DBusAddress
from restart import Brokers

IPHONES = ("back=simulated:iphone6s-back", "front=simulated:iphone6s-front")
NAN, INFINITE = float("nan"), float("inf")


@claim("points and gains are set as they are said, read as they are in force, and refused with a sentence")
def points_and_gains():
    with Daemon(cameras=IPHONES) as daemon, App(daemon.address, "photos") as app:
        session = app.session("back", focusPointOfInterest=(0.25, 0.75))
        session.start()
        applied = app.wait(EventType.CONFIGURATION_APPLIED)
        assert applied.asked["focusPointOfInterest"] == (0.25, 0.75), applied
        app.wait(EventType.DID_START_RUNNING)
        session.configure(whiteBalanceMode="locked", whiteBalanceGains=[1, 1.5, 2]).result()
        applied = app.wait(EventType.CONFIGURATION_APPLIED, lambda event: "whiteBalanceGains" in event.asked)
        assert session.configuration == applied.in_force, session.configuration
        assert applied.in_force["whiteBalanceGains"] == (1, 1.5, 2) and applied.in_force["focusPointOfInterest"] == (0.25, 0.75), applied
        for settings in ({"focusPointOfInterest": (0.5, 2)}, {"focusPointOfInterest": (0.1, 0.2, 0.3)}, {"whiteBalanceGains": (1, 1)},
                         {"whiteBalanceGains": (1, 1, 1000)}, {"focusPointOfInterest": 0.5}, {"frameRate": (10, 10)}):
            key, = settings
            assert key in refused(session.configure(settings), "UnsupportedConfiguration").sentence, settings
        for numbers in ((0.5,), (), (1, 1, 1, 1), (NAN, 0.5), (0.5, INFINITE)):
            refused(lambda: session.configure(focusPointOfInterest=numbers), number=errno.EINVAL)
        assert session.configuration["focusPointOfInterest"] == (0.25, 0.75)


@claim("a program in C reads as many numbers as it has room for, and is told how many there are")
def room_for_numbers():
    import ctypes
    made, numbers = lib.camarb_configuration_new(), (ctypes.c_double * 3)(7, 7, 7)
    assert lib.camarb_configuration_set_numbers(made, b"whiteBalanceGains", (ctypes.c_double * 3)(1, 2, 3), 3) == 0
    assert lib.camarb_configuration_numbers(made, b"whiteBalanceGains", numbers, 2) == 3 and list(numbers) == [1, 2, 7]
    assert lib.camarb_configuration_numbers(made, b"whiteBalanceGains", None, 0) == 3
    assert lib.camarb_configuration_numbers(made, b"focusPointOfInterest", numbers, 3) == -errno.ENOENT
    # A key has one value, whatever it had before.
    assert lib.camarb_configuration_set_flag(made, b"whiteBalanceGains", True) == 0
    assert lib.camarb_configuration_numbers(made, b"whiteBalanceGains", numbers, 3) == -errno.EINVAL
    for wrong in ((None, 3), (numbers, 1), (numbers, 4)):
        assert lib.camarb_configuration_set_numbers(made, b"whiteBalanceGains", *wrong) == -errno.EINVAL, wrong
    assert lib.camarb_configuration_numbers(None, b"x", numbers, 3) == -errno.EINVAL
    lib.camarb_configuration_free(made)


@claim("a camera's controls say which of them take a point or gains, what is usual, and from where to where")
def controls():
    with Daemon(cameras=IPHONES) as daemon, App(daemon.address) as app:
        app.client.watch_cameras().result()
        back, front = app.client.cameras
        found = {control.key: control for control in back.controls}
        point, gains = found["focusPointOfInterest"], found["whiteBalanceGains"]
        assert (point.usual, point.least, point.most, point.words) == ((0.5, 0.5), 0, 1, ()), point
        assert (gains.usual, gains.least, gains.words) == ((1, 1, 1), 1, ()) and gains.most > 1, gains
        assert found["focusMode"].usual == "continuousAuto" and "auto" in found["focusMode"].words, found["focusMode"]
        assert found["stillImageStabilization"].usual == 1 and found["iso"].most > found["iso"].least > 0
        # This one's focus is fixed.
        assert "focusPointOfInterest" not in [control.key for control in front.controls]


# The names of docs/wire.md that are others in camarb_format.
FORMAT_NAMES = {"videoMaxZoomFactor": "max_zoom_factor", "videoZoomFactorUpscaleThreshold": "zoom_upscale_threshold"}


@claim("a camera has all that the broker knows of its formats, of its sensor, and of the objects in its pictures")
def format_facts():
    with Daemon(cameras=IPHONES) as daemon, App(daemon.address) as app:
        app.client.watch_cameras().result()
        objects, = daemon.app("other").call(
            DBusAddress("/org/camarb", "org.camarb", "org.freedesktop.DBus.ObjectManager"), "GetManagedObjects")
        for camera in app.client.cameras:
            wire = {key: value for key, (_, value) in objects[f"/org/camarb/camera/{camera.id}"]["org.camarb.Camera1"].items()}
            told = camera.sensor_width, camera.sensor_height, camera.generation, list(camera.metadata_object_types)
            assert told == tuple(wire[key] for key in ("SensorWidth", "SensorHeight", "Generation", "AvailableMetadataObjectTypes")), told
            for known, of_wire in zip(camera.formats, wire["Formats"], strict=True):
                for key, (_, value) in of_wire.items():
                    mine = getattr(known, FORMAT_NAMES.get(key) or re.sub("(?<=[a-z])(?=[A-Z])|(?=[A-Z][a-z])", "_", key).lower())
                    assert mine == (tuple(value) if isinstance(value, list) else value), (camera.id, key, value, mine)
        back, front = app.client.cameras
        assert {known.auto_focus_system for known in back.formats} == {"phase", "contrast"} and not front.formats[0].auto_focus_system
        assert any(known.video_stabilization_modes for known in back.formats) and any(known.min_iso for known in back.formats)
        known = lib.camarb_client_cameras(app.client._client, None)
        assert not lib.camarb_camera_format_facts(known, len(back.formats)) and not lib.camarb_camera_format_facts(None, 0)


@claim("a check is answered as the configuration would be, refusal and sentence alike, and sets nothing")
def checks():
    with Daemon(cameras=IPHONES) as daemon, App(daemon.address, "photos") as app:
        session = app.session("back")
        good, bad = {"frameRate": 12, "flashMode": "on"}, {"frameRate": 12, "videoZoomFactor": 1000}
        for state in (State.STOPPED, State.RUNNING):
            if state is State.RUNNING:
                session.start()
                app.wait(EventType.DID_START_RUNNING)
            assert session.state is state
            # Before the session runs nothing is in force; when it runs it has been read once this is answered.
            app.client.declare_presence("fullscreen").result()
            before = session.configuration
            session.check_configuration(good).result()
            checked = refused(session.check_configuration(bad), "UnsupportedConfiguration", errno.EOPNOTSUPP)
            assert refused(session.configure(bad)).sentence == checked.sentence and "videoZoomFactor" in checked.sentence
            app.client.declare_presence("fullscreen").result()
            assert session.configuration == before and "CONFIGURATION_APPLIED" not in app.names(), session.configuration


@claim("a session that is switched to another camera is told so, and its pictures come from there by themselves")
def switched():
    with running("back", activeFormat="420v 1920x1080@30", flashMode="on", cameras=IPHONES) as (daemon, app, session):
        app.frame(session, where=lambda frame: frame.width == 1920).release()
        session.configure(camera="front").result()
        formed = app.wait(EventType.CONNECTIONS_FORMED)
        assert (formed.camera, formed.reopen, formed.session) == ("front", ("preview",), session), formed
        app.frame(session, where=lambda frame: frame.width == 1280).release()
        assert session.camera == "front" and session.configuration["activeFormat"].startswith("420v 1280x720")
        session.configure(camera="back").result()
        assert app.wait(EventType.CONNECTIONS_FORMED).camera == "back"
        # The broker has not forgotten what this session asked of that camera.
        app.frame(session, where=lambda frame: frame.width == 1920).release()
        assert session.configuration["flashMode"] == "on", session.configuration
        # Also where nothing runs that could say it.
        session.stop().result()
        app.wait(EventType.DID_STOP_RUNNING)
        session.configure(camera="front", videoZoomFactor=2).result()
        app.client.declare_presence("fullscreen").result()
        assert session.configuration == {"videoZoomFactor": 2}, session.configuration
        assert not app.has_gap(session)


# The configuration of a session and then its batches, and the configuration that the next broker receives.
REMEMBERED = [
    ([{"activeFormat": "420v 640x480@30", "frameRate": 15, "videoMirrored": True}, {"sessionPreset": "high"}],
     {"sessionPreset": "high", "videoMirrored": True}),
    ([{"sessionPreset": "high", "activeVideoMaxFrameDuration": 0.1, "videoHDREnabled": True}, {"activeFormat": "420v 640x480@30"}],
     {"activeFormat": "420v 640x480@30", "videoHDREnabled": True}),
    ([{"sessionPreset": "high", "frameRate": 10}, {"sessionPreset": "inputPriority"}], {"sessionPreset": "inputPriority", "frameRate": 10}),
    ([{"activeVideoMinFrameDuration": 0.05, "activeVideoMaxFrameDuration": 0.1}, {"frameRate": 25}], {"frameRate": 25}),
    ([{"frameRate": 20}, {"activeVideoMaxFrameDuration": 0.25}],
     {"activeVideoMinFrameDuration": 0.05, "activeVideoMaxFrameDuration": 0.25}),
    ([{"videoZoomFactor": 3, "videoZoomRampRate": 2}, {"cancelVideoZoomRamp": True}], {"videoZoomFactor": 3}),
    ([{"focusPointOfInterest": (0.25, 0.75)}, {"whiteBalanceGains": (1, 1.5, 2)}],
     {"focusPointOfInterest": (0.25, 0.75), "whiteBalanceGains": (1, 1.5, 2)}),
    ([{"sessionPreset": "medium", "usesAudio": True, "videoZoomFactor": 2, "flashMode": "on"}, {"camera": "front", "videoMirrored": True}],
     {"sessionPreset": "medium", "usesAudio": True, "videoMirrored": True}),
    ([{"activeFormat": "420v 640x480@30", "videoZoomFactor": 2, "torchMode": "on", "usesAudio": True},
      {"camera": "front", "videoZoomFactor": 3, "usesAudio": False}, {"camera": "back", "flashMode": "on"}],
     {"activeFormat": "420v 640x480@30", "videoZoomFactor": 2, "flashMode": "on", "usesAudio": False}),
    ([{"videoZoomFactor": 2}, {"camera": "back", "flashMode": "on"}], {"videoZoomFactor": 2, "flashMode": "on"}),
]


@claim("the next broker is told what a session's batches came to: no ramps, no other camera's settings, a preset or a format")
def remembered():
    for batches, left in REMEMBERED:
        with FalseBroker() as broker, App(broker.address) as app:
            created = []
            broker.also["CreateSession"] = lambda _, call: created.append(call.body)
            session = app.session("back", pictures=False)
            if batches[0]:
                session.configure(batches[0]).result()
            for batch in batches[1:]:
                session.configure(batch).result()
            assert session.configuration == left, (session.configuration, left)
            broker.connection.shutdown(socket.SHUT_RDWR)
            session.start().result()
            camera, told = created[-1]
            assert len(created) == 2 and camera == ("front" if batches[-1].get("camera") == "front" else "back"), created
            assert {key: value for key, (_, value) in told.items()} == left, (told, left)
            signatures = {key: signature for key, (signature, _) in told.items()}
            assert signatures.get("focusPointOfInterest", "(dd)") == "(dd)" and signatures.get("whiteBalanceGains", "(ddd)") == "(ddd)"


@claim("a session that keeps a preset's format without the preset has it at the next broker, too")
def format_of_a_preset():
    with FalseBroker() as broker, App(broker.address) as app:
        created = []
        broker.also["CreateSession"] = lambda _, call: created.append(call.body)
        session = app.session("back", pictures=False, sessionPreset="high")
        session.configure(sessionPreset="inputPriority").result()
        in_force = {"sessionPreset": ("s", "inputPriority"), "activeFormat": ("s", "420v 1920x1080@60"), "frameRate": ("d", 30.0)}
        broker.tell("ConfigurationApplied", "a{sv}a{sv}s", {"sessionPreset": ("s", "inputPriority")}, in_force, "client")
        app.wait(EventType.CONFIGURATION_APPLIED)
        broker.connection.shutdown(socket.SHUT_RDWR)
        session.start().result()
        assert created[-1] == ("back", in_force), created


@claim("values that only a newer broker knows are passed over, in what is told and in what is read, and nothing else is lost")
def newer_values():
    told = {"focusPointOfInterest": ("(dd)", (0.5, 0.25)), "exposurePointOfInterest": ("ad", [0.5, 0.5]), "aCurve": ("ad", [1.0] * 9),
            "aCube": ("(dddd)", (1.0, 2.0, 3.0, 4.0)), "aMap": ("a{sv}", {"x": ("d", 1.0)}), "aPath": ("o", "/x"), "nothing": ("ad", []),
            "words": ("as", ["a"]), "whiteBalanceGains": ("(ddd)", (1.0, 2.0, 3.0)), "frameRate": ("u", 30), "videoMirrored": ("b", False)}
    known = {"focusPointOfInterest": (0.5, 0.25), "exposurePointOfInterest": (0.5, 0.5), "whiteBalanceGains": (1, 2, 3), "frameRate": 30,
             "videoMirrored": False}
    many = {f"key{number}": ("(dd)", (0.0, float(number))) for number in range(500)}
    with FalseBroker() as broker, App(broker.address) as app:
        session = app.running(pictures=False)
        broker.tell("ConfigurationApplied", "a{sv}a{sv}s", {"aPath": ("o", "/x")}, told, "client")
        applied = app.wait(EventType.CONFIGURATION_APPLIED)
        assert applied.asked == {} and applied.in_force == known == session.configuration, applied
        # More keys than there are: the session goes on without the last of them.
        broker.tell("ConfigurationApplied", "a{sv}a{sv}s", {}, many, "client")
        applied = app.wait(EventType.CONFIGURATION_APPLIED)
        assert 64 <= len(applied.in_force) < 500 and applied.in_force["key7"] == (0, 7), len(applied.in_force)
        broker.tell("ConnectionsFormed", "sas", "back", ["preview", "hologram"])
        formed = app.wait(EventType.CONNECTIONS_FORMED)
        assert (formed.camera, formed.reopen) == ("back", ("preview", "hologram")), formed
        # A point that is none is no newer broker's.
        broker.tell("ConfigurationApplied", "a{sv}a{sv}s", {}, {"focusPointOfInterest": ("(dd)", (NAN, 0.0))}, "client")
        assert "ConfigurationApplied" in app.wait(EventType.ENDED).error
    usual = [("(dd)", (NAN, 0.5)), ("(ddd)", (1.0, 2.0, INFINITE)), ("ad", [0.5, 0.5]), ("ad", [1.0] * 9), ("(dddd)", (1.0, 2.0, 3.0, 4.0))]
    with FalseBroker() as broker, App(broker.address) as app:
        broker.also["GetManagedObjects"] = cameras(
            [format_()], [{"key": ("s", f"key{number}"), "usual": value, "most": ("d", 4.0)} for number, value in enumerate(usual)])
        app.client.watch_cameras().result()
        camera, = app.client.cameras
        assert [control.usual for control in camera.controls] == [(0, 0.5), (1, 2, 0), (0.5, 0.5), 0, 0], camera.controls
        assert [control.most for control in camera.controls[1:]] == [4] * 4


@claim("a session whose format and modes overrule by now what it asked for before goes on over a broker's end, unheard")
def overruled_by_now():
    with Brokers(cameras=IPHONES) as brokers, App(brokers.address, "photos") as app:
        session = runs(brokers, app, camera="back", sessionPreset="high", preferredVideoStabilizationMode="cinematic")
        for batch in ({"videoZoomFactor": 100}, {"exposureMode": "custom", "exposureDuration": 0.02}, {"exposureMode": "continuousAuto"},
                      {"activeFormat": "420v 1280x720@240 binned"}, {"camera": "front"}, {"camera": "back"}):
            session.configure(batch).result()
            app.wait(EventType.CONFIGURATION_APPLIED, lambda event: set(batch) <= set(event.asked))
        app.wait(EventType.CONNECTIONS_FORMED)
        wait_for_secret(brokers, app)
        told, before = len(app.names()), session.configuration
        assert before["activeFormat"] == "420v 1280x720@240 binned" and before["videoZoomFactor"] == 1, before
        brokers.next()
        # This one waits for the next broker.
        app.client.declare_presence("fullscreen").result()
        session.check_configuration(frameRate=60).result()
        app.let_pass(1.0, session)
        assert session.state is State.RUNNING and app.names()[told:] == [], app.names()[told:]
