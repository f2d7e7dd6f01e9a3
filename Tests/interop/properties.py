"""Properties change aloud for clients that read them, and cost others nothing."""
from jeepney import HeaderFields, MessageType, new_method_call

from clients import Rival
from harness import BROKER, CAMERA, PATIENCE, SHELL, Daemon, claim, stopped
from message_bus import BUS

SESSION_INTERFACE = "org.camarb.Session1"


def whole_life(daemon, app):
    session, rival = app.session(), Rival(daemon, "photos")
    session.runs()
    rival.take()
    app.wait("DidStopRunning")
    rival.give_back()
    app.wait("DidStartRunning")
    session.stops()
    return session


@claim("a client that asks for properties that change by AddMatch is told of them, without having read any")
def told_by_match():
    with Daemon() as daemon:
        app = daemon.app("photos")
        app.call(BUS, "AddMatch", "s", "type='signal',sender='org.camarb',interface='org.freedesktop.DBus.Properties'")
        app.call(BUS, "AddMatch", "s", f"type='signal',interface='{SESSION_INTERFACE}'")
        session = whole_life(daemon, app)
        assert [told["Running"] for told in app.changes(session.path) if "Running" in told] == [True, False, True, False]


@claim("a zoom ramp changes the configuration once, however long it takes, and so does a batch")
def ramp():
    with Daemon() as daemon:
        app = daemon.app("photos")
        session = app.session()
        assert session.property("Configuration") == {}
        session.runs()
        session.configure(videoZoomFactor=3.0, videoZoomRampRate=4.0)
        app.wait("RampFinished")
        for factor in (1.0, 2.0):
            session.configure(videoZoomFactor=factor, frameRate=10 * factor)
            app.wait("ConfigurationApplied", lambda body: body[3]["frameRate"][1] == 10 * factor)
        app.call(BROKER, "GetStatus")
        told = [change["Configuration"] for change in app.changes(session.path) if "Configuration" in change]
        assert [one["videoZoomFactor"] for one in told] == [("d", 1.0), ("d", 3.0), ("d", 1.0), ("d", 2.0)], told
        assert session.property("Configuration") == told[-1] and told[-1]["frameRate"] == ("d", 20.0)
        session.stops()
        asked = session.property("Configuration")
        assert asked == {"frameRate": ("d", 20.0), "videoZoomFactor": ("d", 2.0)}, asked


@claim("a batch that was taken is in the session's configuration when it is in force, and at once where it waits for that")
def taken_and_in_force():
    with Daemon(extra=("--patience", "20")) as daemon:
        app, session = daemon.running("photos")
        before = session.property("Configuration")
        with stopped(*daemon.recorders()):
            session.configure(videoZoomFactor=2.0)
            assert session.property("Configuration") == before
        app.wait("ConfigurationApplied", lambda body: body[3]["videoZoomFactor"] == ("d", 2.0))
        assert session.property("Configuration") == {**before, "videoZoomFactor": ("d", 2.0)}
        session.stops()
        session.configure(videoZoomFactor=3.0)
        assert session.property("Configuration") == {"videoZoomFactor": ("d", 3.0)}


@claim("answers name their sender as signals do, errors, too")
def senders():
    with Daemon() as daemon:
        app = daemon.app("photos")
        good, bad = (app.connection.send_and_get_reply(new_method_call(BROKER, *call), timeout=PATIENCE)
                     for call in (("GetStatus",), ("Explain", "t", (77,))))
        assert (good.header.message_type, bad.header.message_type) == (MessageType.method_return, MessageType.error)
        owner = app.call(BUS, "GetNameOwner", "s", "org.camarb")[0]
        for message in (good, bad):
            assert message.header.fields[HeaderFields.sender] == owner, message.header.fields


@claim("a client that says by AddMatch which signals it wants gets those alone, and others as soon as it says so")
def wanted_alone():
    with Daemon() as daemon:
        app, other = daemon.app("photos"), daemon.app("notes")
        rule = f"type='signal',interface='{SESSION_INTERFACE}'"
        app.call(BUS, "AddMatch", "s", rule)
        # About the bus that is not there: it takes nothing away from whoever adds it, as many libraries do.
        other.call(BUS, "AddMatch", "s", "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus'")
        whole_life(daemon, app)
        app.call(BROKER, "GetStatus")
        heard = {name for _, name, _ in app.signals}
        assert "DidStartRunning" in heard and not heard & {"HolderChanged", "CamerasChanged", "InterfacesAdded", "PropertiesChanged"}, heard
        other.wait("HolderChanged", lambda body: body[1] == "photos")
        app.call(BUS, "AddMatch", "s", "type='signal',member='HolderChanged'")
        app.call(BUS, "RemoveMatch", "s", rule)
        before = len(app.signals)
        app.session().start()
        app.wait("HolderChanged", lambda body: body[1] == "photos")
        app.call(BROKER, "GetStatus")
        heard = {name for _, name, _ in app.signals[before:]}
        assert heard == {"HolderChanged"}, heard


@claim("a camera that is unplugged and comes back, and its holder, are told to clients that have read of cameras")
def camera():
    with Daemon() as daemon:
        app, shell, watcher = daemon.app("photos"), daemon.shell(), daemon.app()
        # Answered once the cameras are known.
        session = app.session()
        path = f"/org/camarb/camera/{CAMERA}"
        assert watcher.property(path, "org.camarb.Camera1", "Present") is True
        session.runs()
        shell.call(SHELL, "Plug", "sb", CAMERA, False)
        app.wait("WasInterrupted")
        shell.call(SHELL, "Plug", "sb", CAMERA, True)
        app.wait("DidStartRunning")
        watcher.wait("PropertiesChanged", lambda body: body[1].get("Generation") == ("t", 2))
        session.call("Close")
        watcher.wait("PropertiesChanged", lambda body: body[1].get("Holder") == ("s", ""))

        def shown(name):
            return [told[name] for told in watcher.changes(path) if name in told]

        assert shown("Present") == [False, True] and shown("Generation") == [2], watcher.changes(path)
        assert shown("Holder")[0] == "photos" and shown("Holder")[-1] == "", watcher.changes(path)
