"""Unmodified D-Bus clients drive a full session: create, start, be interrupted, resume, stop."""
import itertools, json, re, subprocess

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


class Tool:
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
    """A session's life; what it was told is read from its properties, as a script would. `maker` makes it, where the tool cannot write
    the dictionaries that this takes."""
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


DRIVES = "drives a session: started, interrupted, resumed by itself, stopped"
claim(f"busctl {DRIVES}")(lambda: drive_with(Busctl))
claim(f"gdbus {DRIVES}")(lambda: drive_with(Gdbus))


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
