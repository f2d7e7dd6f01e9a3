"""Unmodified D-Bus clients drive a full session: create, start, be interrupted, resume, stop."""
import asyncio, itertools, json, re, subprocess

from harness import CAMERA, PATIENCE, SHELL, Daemon, claim, die_with_parent, wait_until
from shared import Shared

IN_USE = "video-device-in-use-by-another-client"


class Rival:
    """A second app and the shell, over jeepney: they take the camera from the app under test and give it back."""

    def __init__(self, daemon, app):
        self.app_name = app
        self.shell = daemon.shell()
        self.place(app, True)
        self.app = daemon.app("rival")
        self.session = self.app.session()

    def place(self, app, focused):
        self.shell.call(SHELL, "PlaceApp", "ssb", app, "fullscreen", focused)

    def take(self):
        self.place("rival", True)
        self.place(self.app_name, False)
        self.session.start()
        self.app.wait("DidStartRunning")

    def give_back(self):
        self.session.call("StopRunning")
        self.app.wait("DidStopRunning")


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
        session.start()
        app.wait("DidStartRunning")
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
        session.call("StopRunning")
        app.wait("DidStopRunning")
        sequences = [body[0] for path, name, body in app.signals if path == session.path and name != "PropertiesChanged"]
        assert sequences == list(range(1, len(sequences) + 1)), f"sequence numbers have gaps: {sequences}"
        assert in_order(app.names(), *LIFE), app.names()
        session.call("Close")


@claim("dbus-fast drives a session: started, interrupted, resumed by itself, stopped")
def dbus_fast_session():
    from dbus_fast import Variant
    from dbus_fast.aio import MessageBus

    async def drive(daemon):
        bus = await MessageBus(bus_address=daemon.address, negotiate_unix_fd=True).connect()
        names = asyncio.Queue()
        seen = []

        async def until(name):
            while True:
                got, body = await asyncio.wait_for(names.get(), PATIENCE)
                seen.append(got)
                if got == name:
                    return body

        description = await bus.introspect("org.camarb", "/org/camarb/Broker1")
        broker = bus.get_proxy_object("org.camarb", "/org/camarb/Broker1", description).get_interface(
            "org.camarb.Broker1")
        await broker.call_declare_client({"app": Variant("s", "photos")})
        path = await broker.call_create_session(CAMERA, {})
        description = await bus.introspect("org.camarb", path)
        session = bus.get_proxy_object("org.camarb", path, description).get_interface("org.camarb.Session1")
        for name in ("did_start_running", "did_stop_running", "was_interrupted", "interruption_ended"):
            wire = "".join(word.capitalize() for word in name.split("_"))
            # dbus-fast checks a handler's arity, so each signal gets one with as many arguments as it carries.
            carried = len(next(s for s in session.introspection.signals if s.name == wire).args)
            taken = ", ".join(f"a{i}" for i in range(carried))
            getattr(session, f"on_{name}")(
                eval(f"lambda {taken}: put(({wire!r}, [{taken}]))", {"put": names.put_nowait}))
        loop = asyncio.get_running_loop()
        rival = await loop.run_in_executor(None, Rival, daemon, "photos")
        await session.call_start_running()
        await until("DidStartRunning")
        assert await session.get_running() is True
        await loop.run_in_executor(None, rival.take)
        body = await until("WasInterrupted")
        assert body[4] == IN_USE and body[5] == "rival", body
        await until("DidStopRunning")
        assert await session.get_causes() == [IN_USE]
        await loop.run_in_executor(None, rival.give_back)
        assert (await until("InterruptionEnded"))[5] is True
        await until("DidStartRunning")
        await session.call_stop_running()
        await until("DidStopRunning")
        assert tuple(seen) == LIFE, seen
        manager_description = await bus.introspect("org.camarb", "/org/camarb")
        manager = bus.get_proxy_object("org.camarb", "/org/camarb", manager_description).get_interface(
            "org.freedesktop.DBus.ObjectManager")
        objects = await manager.call_get_managed_objects()
        assert path in objects and "org.camarb.Session1" in objects[path], list(objects)
        bus.disconnect()

    with Daemon() as daemon:
        asyncio.run(drive(daemon))


class Tool:
    """A command-line D-Bus tool, run once for each call, and a monitor of its own that prints signals."""

    def __init__(self, address):
        self.address = address

    @staticmethod
    def run(*command, succeed=True):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
        if succeed:
            assert done.returncode == 0, f"{' '.join(command)}: {done.stderr.strip()}"
        return done.stdout.strip() if succeed else done

    def until(self, path, running, interrupted):
        def as_wanted():
            return (self.get(path, "org.camarb.Session1", "Running"),
                    self.get(path, "org.camarb.Session1", "Interrupted")) == (running, interrupted)
        wait_until(f"Running {running} and Interrupted {interrupted}", as_wanted)


class Busctl(Tool):
    def busctl(self, *words, succeed=True):
        return self.run("busctl", f"--address={self.address}", *words, succeed=succeed)

    def call(self, path, interface, member, *typed, succeed=True):
        return self.busctl("call", "org.camarb", path, interface, member, *typed, succeed=succeed)

    def get(self, path, interface, name):
        return self.busctl("get-property", "org.camarb", path, interface, name) == "b true"


class Gdbus(Tool):
    def call(self, path, method, *words, succeed=True):
        # Any destination will do; gdbus insists on one.
        return self.run("gdbus", "call", "--address", self.address, "--dest", "org.camarb", "--object-path", path,
                        "--method", method, *words, succeed=succeed)

    def get(self, path, interface, name):
        return self.call(path, "org.freedesktop.DBus.Properties.Get", interface, name) == "(<true>,)"


def drive_with(tool, shared, daemon, start, stop, path):
    """The same life as above; what the session was told is read from its properties, as a script would."""
    rival = Rival(daemon, "photos")
    start()
    tool.until(path, True, False)
    rival.take()
    tool.until(path, False, True)
    causes = tool.busctl("get-property", "org.camarb", path, "org.camarb.Session1", "Causes") if isinstance(
        tool, Busctl) else tool.call(path, "org.freedesktop.DBus.Properties.Get", "org.camarb.Session1", "Causes")
    assert IN_USE in causes, causes
    rival.give_back()
    tool.until(path, True, False)
    stop()
    tool.until(path, False, False)


@claim("busctl drives a session: started, interrupted, resumed by itself, stopped")
def busctl_session():
    with Daemon() as daemon, Shared(daemon) as shared:
        tool = Busctl(shared.address)
        tool.call("/org/camarb/Broker1", "org.camarb.Broker1", "DeclareClient", "a{sv}", "1", "app", "s", "photos")
        created = tool.call("/org/camarb/Broker1", "org.camarb.Broker1", "CreateSession", "sa{sv}", CAMERA, "0")
        path = re.fullmatch(r'o "(/org/camarb/session/[0-9]+)"', created).group(1)
        drive_with(
            tool, shared, daemon, lambda: tool.call(path, "org.camarb.Session1", "StartRunning"),
            lambda: tool.call(path, "org.camarb.Session1", "StopRunning"), path)


@claim("gdbus drives a session: started, interrupted, resumed by itself, stopped")
def gdbus_session():
    with Daemon() as daemon, Shared(daemon) as shared:
        tool = Gdbus(shared.address)
        tool.call("/org/camarb/Broker1", "org.camarb.Broker1.DeclareClient", "{'app': <'photos'>}")
        created = tool.call("/org/camarb/Broker1", "org.camarb.Broker1.CreateSession", CAMERA, "@a{sv} {}")
        path = re.search(r"/org/camarb/session/[0-9]+", created).group(0)
        drive_with(
            tool, shared, daemon, lambda: tool.call(path, "org.camarb.Session1.StartRunning"),
            lambda: tool.call(path, "org.camarb.Session1.StopRunning"), path)


@claim("busctl, straight to the socket, introspects, walks the tree, reads properties and asks for the status")
def busctl_straight():
    with Daemon() as daemon:
        tool = Busctl(daemon.address)
        described = tool.busctl("introspect", "org.camarb", "/org/camarb/Broker1")
        for member in ("CreateSession", "GetStatus", "Explain", "Decided", "PolicyName"):
            assert f".{member} " in described, described
        tree = tool.busctl("tree", "org.camarb", "--list")
        assert f"/org/camarb/camera/{CAMERA}" in tree.split(), tree
        policy = tool.busctl("get-property", "org.camarb", "/org/camarb/Broker1", "org.camarb.Broker1", "PolicyName")
        assert policy == 's "desktop"', policy
        status = json.loads(tool.busctl("--json=short", "call", "org.camarb", "/org/camarb/Broker1",
                                        "org.camarb.Broker1", "GetStatus"))
        assert status["type"] == "a{sv}aa{sv}aa{sv}", status["type"]
        assert status["data"][0]["policy"]["data"] == "desktop", status
        refused = tool.call("/org/camarb/Broker1", "org.camarb.Broker1", "CreateSession", "sa{sv}", "nowhere", "0",
                            succeed=False)
        assert refused.returncode != 0 and "nowhere" in refused.stderr, refused.stderr


@claim("gdbus, straight to the socket, introspects and reads the object manager")
def gdbus_straight():
    with Daemon() as daemon:
        tool = Gdbus(daemon.address)
        described = tool.run("gdbus", "introspect", "--address", daemon.address, "--dest", "org.camarb", "--object-path",
                             "/org/camarb/Broker1")
        assert "interface org.camarb.Broker1" in described and "CreateSession" in described, described
        objects = tool.call("/org/camarb", "org.freedesktop.DBus.ObjectManager.GetManagedObjects")
        assert f"/org/camarb/camera/{CAMERA}" in objects and "org.camarb.Camera1" in objects, objects
        refused = tool.call("/org/camarb/Broker1", "org.camarb.Broker1.CreateSession", "nowhere", "@a{sv} {}",
                            succeed=False)
        assert refused.returncode != 0 and "org.camarb.Error.UnknownCamera" in refused.stderr, refused.stderr


@claim("busctl monitor, straight to the socket, shows an interruption as it is decided")
def busctl_monitor():
    with Daemon() as daemon:
        log = daemon.directory / "monitor"
        with open(log, "w") as out:
            monitor = subprocess.Popen(
                ["busctl", f"--address={daemon.address}", "--json=short", "monitor"], stdout=out,
                stderr=subprocess.STDOUT, preexec_fn=die_with_parent)
        try:
            rival, places = Rival(daemon, "photos"), itertools.cycle(("split", "background"))

            def monitors():
                rival.shell.call(SHELL, "PlaceApp", "ssb", "notes", next(places), False)
                return '"Decided"' in log.read_text() or monitor.poll() is not None

            # It says that it monitors on Debian 12, and on Debian 13 only where it prints no JSON: what it shows tells on both.
            wait_until("the monitor to be one", monitors)
            app = daemon.app("photos")
            session = app.session()
            session.start()
            app.wait("DidStartRunning")
            rival.take()

            def shown():
                lines = [json.loads(line) for line in log.read_text().splitlines() if line.endswith("}")]
                return [line["payload"]["data"][2] for line in lines if line.get("member") == "Decided"]

            wait_until("the interruption on the monitor",
                       lambda: any("photos wasInterrupted" in trace and "rival" in trace for trace in shown()))
        finally:
            monitor.terminate()
            monitor.wait()


@claim("the object manager shows cameras to all and a session to its owner, and it is gone when closed")
def object_manager():
    with Daemon() as daemon:
        from jeepney import DBusAddress
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
