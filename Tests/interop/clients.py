"""Unmodified D-Bus clients drive a full session: create, start, be interrupted, resume, stop."""
import itertools, json, re, subprocess

from jeepney import DBusAddress

from harness import CAMERA, Daemon, Ended, claim, ran, spawn, wait_until
from shared import Shared

IN_USE = "video-device-in-use-by-another-client"
SESSION = "org.camarb.Session1"
# The broker's object and its interface.
AT = ("/org/camarb/Broker1", "org.camarb.Broker1")


class Rival:
    """A second app and the shell, over jeepney: they take the camera from the app under test and give it back."""

    def __init__(self, daemon, app):
        self.app_name = app
        self.shell = daemon.shell()
        self.shell.place(app, "fullscreen", True)
        self.app = daemon.app("rival")
        self.session = self.app.session()

    def take(self):
        self.shell.place("rival", "fullscreen", True)
        self.shell.place(self.app_name, "fullscreen")
        self.session.runs()

    def give_back(self):
        self.session.stops()


def in_order(names, *wanted):
    """Whether the wanted names appear in this order, others between them allowed."""
    rest = iter(names)
    return all(any(name == one for one in rest) for name in wanted)


LIFE = ("DidStartRunning", "WasInterrupted", "DidStopRunning", "InterruptionEnded", "DidStartRunning", "DidStopRunning")


@claim("jeepney drives a session: started, interrupted, resumed by itself, stopped")
def jeepney_session():
    with Daemon() as daemon:
        app = daemon.app("photos")
        session = app.session()
        rival = Rival(daemon, "photos")
        session.runs()
        assert session.property("Running") is True
        rival.take()
        interrupted = app.wait("WasInterrupted")
        sequence, decision, interruption, causes, reason, interrupter, recording, rule = interrupted
        assert (causes, reason, interrupter, recording) == ([IN_USE], IN_USE, "rival", 0), interrupted
        assert rule, "an interruption names its rule"
        app.wait("DidStopRunning")
        assert session.property("Interrupted") is True and session.property("Running") is False
        assert session.property("Causes") == [IN_USE]
        rival.give_back()
        ended = app.wait("InterruptionEnded")
        assert ended[2] == interruption and ended[3] == [IN_USE] and ended[4] > 0 and ended[5] is True, ended
        app.wait("DidStartRunning")
        session.stops()
        sequences = [body[0] for path, name, body in app.signals if path == session.path and name != "PropertiesChanged"]
        assert sequences == list(range(1, len(sequences) + 1)), f"sequence numbers have gaps: {sequences}"
        assert in_order(app.names(), *LIFE), app.names()
        session.call("Close")


class Tool:
    """A command-line D-Bus tool, run once for each call."""

    # How it is given a dictionary with the app's name, and a camera's with an empty one.
    declared = created = ()

    def __init__(self, address):
        self.address = address

    @staticmethod
    def run(*command, succeed=True):
        done = ran(*command, status=0 if succeed else None)
        return done.stdout.strip() if succeed else done

    def until(self, path, running, interrupted):
        wait_until(f"Running {running} and Interrupted {interrupted}", lambda: [
            "true" in self.get(path, SESSION, name) for name in ("Running", "Interrupted")] == [running, interrupted])


class Busctl(Tool):
    declared, created = ("a{sv}", "1", "app", "s", "photos"), ("sa{sv}", CAMERA, "0")

    def busctl(self, *words, succeed=True):
        return self.run("busctl", f"--address={self.address}", *words, succeed=succeed)

    def call(self, path, interface, member, *typed, succeed=True):
        return self.busctl("call", "org.camarb", path, interface, member, *typed, succeed=succeed)

    def get(self, path, interface, name):
        return self.busctl("get-property", "org.camarb", path, interface, name)


class Gdbus(Tool):
    declared, created = ("{'app': <'photos'>}",), (CAMERA, "@a{sv} {}")

    def call(self, path, interface, member, *words, succeed=True):
        # Any destination will do; gdbus insists on one.
        return self.run("gdbus", "call", "--address", self.address, "--dest", "org.camarb", "--object-path", path,
                        "--method", f"{interface}.{member}", *words, succeed=succeed)

    def get(self, path, interface, name):
        return self.call(path, "org.freedesktop.DBus.Properties", "Get", interface, name)


def drive_with(kind, maker=None):
    """The same life as above; what the session was told is read from its properties, as a script would. `maker` makes it, where the tool
    cannot write the dictionaries that this takes."""
    with Daemon() as daemon, Shared(daemon) as shared:
        tool, maker = kind(shared.address), (maker or kind)(shared.address)
        maker.call(*AT, "DeclareClient", *maker.declared)
        path = re.search(r"/org/camarb/session/[0-9]+", maker.call(*AT, "CreateSession", *maker.created)).group(0)
        rival = Rival(daemon, "photos")
        tool.call(path, SESSION, "StartRunning")
        tool.until(path, True, False)
        rival.take()
        tool.until(path, False, True)
        causes = tool.get(path, SESSION, "Causes")
        assert IN_USE in causes, causes
        rival.give_back()
        tool.until(path, True, False)
        tool.call(path, SESSION, "StopRunning")
        tool.until(path, False, False)


@claim("busctl drives a session: started, interrupted, resumed by itself, stopped")
def busctl_session():
    drive_with(Busctl)


@claim("gdbus drives a session: started, interrupted, resumed by itself, stopped")
def gdbus_session():
    drive_with(Gdbus)


@claim("busctl, straight to the socket, introspects, walks the tree, reads properties and asks for the status")
def busctl_straight():
    with Daemon() as daemon:
        tool = Busctl(daemon.address)
        described = tool.busctl("introspect", "org.camarb", "/org/camarb/Broker1")
        for member in ("CreateSession", "GetStatus", "Explain", "Decided", "PolicyName"):
            assert f".{member} " in described, described
        tree = tool.busctl("tree", "org.camarb", "--list")
        assert f"/org/camarb/camera/{CAMERA}" in tree.split(), tree
        assert tool.get(*AT, "PolicyName") == 's "desktop"'
        status = json.loads(tool.busctl("--json=short", "call", "org.camarb", *AT, "GetStatus"))
        assert status["type"] == "a{sv}aa{sv}aa{sv}", status["type"]
        assert status["data"][0]["policy"]["data"] == "desktop", status
        refused = tool.call(*AT, "CreateSession", "sa{sv}", "nowhere", "0", succeed=False)
        assert refused.returncode != 0 and "nowhere" in refused.stderr, refused.stderr


@claim("gdbus, straight to the socket, introspects and reads the object manager")
def gdbus_straight():
    with Daemon() as daemon:
        tool = Gdbus(daemon.address)
        described = tool.run("gdbus", "introspect", "--address", daemon.address, "--dest", "org.camarb", "--object-path", AT[0])
        assert "interface org.camarb.Broker1" in described and "CreateSession" in described, described
        objects = tool.call("/org/camarb", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        assert f"/org/camarb/camera/{CAMERA}" in objects and "org.camarb.Camera1" in objects, objects
        refused = tool.call(*AT, "CreateSession", "nowhere", "@a{sv} {}", succeed=False)
        assert refused.returncode != 0 and "org.camarb.Error.UnknownCamera" in refused.stderr, refused.stderr


class Monitor(Ended):
    """A program that shows what it hears, and what it has shown."""

    def __init__(self, daemon, name, *command):
        self.log = daemon.directory / name
        self.process = spawn(*command, log=self.log, stderr=subprocess.STDOUT)

    def shown(self):
        return self.log.read_text()


@claim("busctl monitor, straight to the socket, shows an interruption as it is decided")
def busctl_monitor():
    with Daemon() as daemon, Monitor(daemon, "monitor", "busctl", f"--address={daemon.address}", "--json=short", "monitor") as monitor:
        rival, places = Rival(daemon, "photos"), itertools.cycle(("split", "background"))

        def monitors():
            rival.shell.place("notes", next(places))
            return '"Decided"' in monitor.shown() or monitor.process.poll() is not None

        # It says that it monitors on Debian 12, and on Debian 13 only where it prints no JSON: what it shows tells on both.
        wait_until("the monitor to be one", monitors)
        daemon.running("photos")
        rival.take()

        def decided():
            lines = [json.loads(line) for line in monitor.shown().splitlines() if line.endswith("}")]
            return [line["payload"]["data"][2] for line in lines if line.get("member") == "Decided"]

        wait_until("the interruption on the monitor",
                   lambda: any("photos wasInterrupted" in trace and "rival" in trace for trace in decided()))


@claim("the object manager shows cameras to all and a session to its owner, and it is gone when closed")
def object_manager():
    with Daemon() as daemon:
        manager = DBusAddress("/org/camarb", "org.camarb", "org.freedesktop.DBus.ObjectManager")
        app, other = daemon.app("photos"), daemon.app("other")
        session = app.session()

        def objects(of):
            return of.call(manager, "GetManagedObjects")[0]

        mine = objects(app)
        camera = mine[f"/org/camarb/camera/{CAMERA}"]["org.camarb.Camera1"]
        assert camera["Id"] == ("s", CAMERA) and camera["Present"] == ("b", True), camera
        assert mine[session.path]["org.camarb.Session1"]["Running"] == ("b", False)
        session.call("Close")
        assert session.path not in objects(app) and session.path not in objects(other)
