"""Apps over more D-Bus libraries, none of them modified, live a session's whole life, and hear all of it.

Each app is a program of its own in `libraries`: it says what it hears as lines of JSON, and does what it is told in words.
What it is told, and what it has to hear, is the same for all of them.
"""
import os, pathlib, shutil

from jeepney import DBusAddress

from clients import AT, DRIVES, IN_USE, LIFE, Gdbus, Monitor, Rival, Tool, drive_with, in_order
from harness import CAMERA, COMPUTING_PATIENCE, PATIENCE, ROOT, Daemon, Skipped, Speaking, claim, ran, wait_until
from screen import needs

LIBRARIES = ROOT / "Tests" / "interop" / "libraries"
# What is made or fetched for these claims, once for a checkout.
MADE = ROOT / ".build" / "interop"
PYTHON = "/usr/bin/python3"


def has(what):
    return lambda line: what in line


def told(app, signal):
    return app.wait(lambda line: line.get("signal") == signal)["body"]


def all_with(app, what):
    return [line for line in app.said if what in line]


def live(*command, holders=None):
    """A session's life, as an app hears it that is started with the broker's address and a camera behind the command; and
    which apps had the camera, one after the other, where the app says that, too."""
    with Daemon() as daemon, Speaking(*command, daemon.address, CAMERA) as app:
        first = app.wait(has("properties"))["properties"]
        assert first["Running"] is False and first["Configuration"] == {}, first
        rival = Rival(daemon, "photos")
        app.tell("start")
        told(app, "DidStartRunning")
        assert app.wait(has("stream"))["stream"] > 0
        rival.take()
        _, decision, _, causes, reason, interrupter, recording, rule, *_ = told(app, "WasInterrupted")
        assert (causes, reason, interrupter, recording) == ([IN_USE], IN_USE, "rival", 0) and rule and decision, causes
        told(app, "DidStopRunning")
        rival.give_back()
        assert told(app, "InterruptionEnded")[5] is True
        told(app, "DidStartRunning")
        # It opens a stream at each start, and is told to stop only then: a session that stopped has none to open.
        assert app.wait(has("stream"))["stream"] > 0
        app.tell("stop")
        told(app, "DidStopRunning")
        app.wait(lambda line: "changed" in line and line["changed"].get("Running") is False)
        if holders:
            app.wait(lambda line: "holder" in line and line["holder"] == holders[-1])
            assert [line["holder"] for line in all_with(app, "holder")] == holders, all_with(app, "holder")
        app.process.stdin.close()
        app.process.stdin = None
        app.wait(has("closed"))
        names = tuple(line["signal"] for line in all_with(app, "signal") if line["signal"] in LIFE)
        assert names == LIFE, names
        check_properties(first, all_with(app, "changed"))


def check_properties(first, lines):
    """What PropertiesChanged tells, put together, is what the session is; and each change is one."""
    assert not any(line["named"] for line in lines), lines
    shown = dict(first)
    states = []
    for line in lines:
        for name, value in line["changed"].items():
            assert shown[name] != value, f"{name} was {value} already: {lines}"
        shown.update(line["changed"])
        states.append((shown["Running"], shown["Interrupted"], shown["Causes"], bool(shown["Access"])))
        if shown["Running"]:
            assert shown["Configuration"]["frameRate"] > 0 and shown["Configuration"]["activeFormat"], shown
    assert in_order(states, (True, False, [], True), (False, True, [IN_USE], False), (True, False, [], True),
                    (False, False, [], False)), states


def fetched(title, name):
    """The folder of a Python library: fetched once, in the version and with the sums that `libraries/NAME.txt` has."""
    wanted, folder = LIBRARIES / f"{name}.txt", MADE / name
    if not (folder / wanted.name).exists() or (folder / wanted.name).read_text() != wanted.read_text():
        shutil.rmtree(folder, ignore_errors=True)
        done = ran(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore", "--no-deps",
                   "--only-binary=:all:", "--require-hashes", "--target", folder, "--requirement", wanted, status=None)
        if done.returncode != 0:
            raise Skipped(f"{title} could not be fetched: {(done.stdout + done.stderr).strip()[-400:]}")
        shutil.copy(wanted, folder)
    return folder


def unpacked(package, megabytes, before=None):
    """The folder of a Debian package's files: downloaded once and never installed, since an installed one would start its service.
    before: what has these files in a release that has no such package"""
    folder = MADE / package
    if not (folder / "whole").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        print(f"  downloading {package}, {megabytes} MB, once", flush=True)
        # The user `_apt` may not write here.
        names = (package, before) if before else (package,)
        download = "{ " + " || ".join(f"apt-get -q -o APT::Sandbox::User=root download {name}" for name in names) + "; }"
        # A machine on which nothing was missing may have no package lists.
        for script in (f"{download} || {{ apt-get -q update && {download}; }}",
                       "dpkg-deb --extract ./*.deb . && rm ./*.deb && touch whole"):
            done = ran("sh", "-c", script, cwd=folder, status=None, timeout=COMPUTING_PATIENCE)
            if done.returncode != 0:
                raise Skipped(f"{package} could not be downloaded: {(done.stdout + done.stderr).strip()[-400:]}")
    return folder


def built_with_go(name):
    """A program of `libraries` in Go, built by the compiler that is part of GCC, a half as large as the other."""
    source, program = LIBRARIES / f"{name}.go", MADE / name
    if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
        return program
    go = next(iter(sorted(pathlib.Path("/usr/bin").glob("go-[0-9]*"))), None)
    if go is None:
        raise Skipped("there is no Go compiler of GCC's (gccgo)")
    MADE.mkdir(parents=True, exist_ok=True)
    # Debian has the sources of Go's libraries in one tree, and no modules.
    ran(go, "build", "-o", program, source, timeout=6 * PATIENCE, env={
        **os.environ, "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOCACHE": str(MADE / "go"), "GOFLAGS": ""})
    return program


SEES = f"{DRIVES}, and sees its properties change"
HOLDERS = {"holders": ["photos", "rival", "photos", ""]}

# What each shows, and how its app is started, which may have to be made first.
for sentence, command, heard in (
        (f"dbus-fast {SEES}", lambda: [PYTHON, LIBRARIES / "with_dbus_next.py", "dbus_fast"], {}),
        (f"dbus-next {SEES}", lambda: [PYTHON, LIBRARIES / "with_dbus_next.py", "dbus_next"], {}),
        (f"python-sdbus {SEES}", lambda: [
            "env", f"PYTHONPATH={fetched('python-sdbus', 'sdbus')}", PYTHON, LIBRARIES / "with_sdbus.py"], {}),
        (f"QtDBus, peer to peer, {SEES}", lambda: [PYTHON, LIBRARIES / "with_qt.py", "peer"], {}),
        ("QtDBus, which takes the socket for a bus, drives a session likewise", lambda: [PYTHON, LIBRARIES / "with_qt.py", "bus"], {}),
        ("Gio's ObjectManagerClient, peer to peer, keeps the properties of a session and of its camera up to date",
         lambda: [PYTHON, LIBRARIES / "with_gio.py", "peer"], HOLDERS),
        ("Gio's ObjectManagerClient, which takes the socket for a bus, keeps them likewise",
         lambda: [PYTHON, LIBRARIES / "with_gio.py", "bus"], HOLDERS),
        (f"godbus, peer to peer, {SEES}", lambda: [built_with_go("with_godbus"), "peer"], {}),
        ("godbus, which takes the socket for a bus, drives a session likewise", lambda: [built_with_go("with_godbus"), "bus"], {})):
    claim(sentence)(lambda command=command, heard=heard: live(*command(), **heard))


class Qdbus(Tool):
    def call(self, path, interface, member, *words, succeed=True):
        return self.run("qdbus", "--bus", self.address, "org.camarb", path, f"{interface}.{member}", *words, succeed=succeed)

    get = call


claim(f"qdbus {DRIVES}")(lambda: drive_with(Qdbus, maker=Gdbus))


@claim("qdbus, straight to the socket, lists objects and methods, reads properties and shows errors")
def qdbus_straight():
    with Daemon() as daemon:
        tool = Qdbus(daemon.address)
        objects = tool.run("qdbus", "--bus", daemon.address, "org.camarb").split()
        assert f"/org/camarb/camera/{CAMERA}" in objects and AT[0] in objects, objects
        members = tool.run("qdbus", "--bus", daemon.address, "org.camarb", AT[0])
        assert "org.camarb.Broker1.CreateSession(QString camera, QVariantMap configuration)" in members, members
        assert tool.get(f"/org/camarb/camera/{CAMERA}", "org.camarb.Camera1", "Id") == CAMERA
        refused = tool.call(*AT, "Explain", "77", succeed=False)
        assert refused.returncode != 0 and "org.camarb.Error.UnknownDecision" in refused.stdout + refused.stderr, refused


@claim("dbus-monitor, straight to the socket, shows an interruption as it is decided, and the camera's holder as it changes")
def dbus_monitor():
    with Daemon() as daemon, Monitor(daemon, "monitor", "dbus-monitor", "--address", daemon.address) as monitor:
        wait_until("the monitor to be one", lambda: "NameLost" in monitor.shown() or monitor.process.poll() is not None)
        session, rival = daemon.app("photos").session(), Rival(daemon, "photos")
        session.runs()
        rival.take()

        def shows(*words):
            return any(all(word in one for word in words) for one in monitor.shown().split("signal time="))

        wait_until("the interruption and the holder on the monitor", lambda: (
            shows("member=Decided", "photos wasInterrupted", "by rival") and shows("member=PropertiesChanged", '"Holder"', '"rival"')))


@claim("qdbusxml2cpp and gdbus-codegen make proxies of every object, with files among their arguments")
def generators():
    needs("qdbusxml2cpp", "gdbus-codegen")
    with Daemon() as daemon:
        app = daemon.app("photos")
        session = app.session()
        made = {}
        for path in ("/org/camarb/Broker1", "/org/camarb/Shell1", f"/org/camarb/camera/{CAMERA}", session.path):
            (xml,) = app.call(DBusAddress(path, "org.camarb", "org.freedesktop.DBus.Introspectable"), "Introspect")
            name = daemon.directory / path.split("/")[3]
            file = name.with_suffix(".xml")
            file.write_text(xml)
            for command in (("qdbusxml2cpp", "-p", f"{name}_qt", file), ("gdbus-codegen", "--generate-c-code", f"{name}_glib", file)):
                ran(*command, cwd=daemon.directory)
            made[name.name] = [pathlib.Path(f"{name}_{kind}.h").read_text() for kind in ("qt", "glib")]
    qt, glib = made["session"]
    assert "CapturePhotoBracket(const QList<QDBusUnixFileDescriptor> &files, const QVariantMap &options)" in qt, qt
    for call in ("capture_photo", "capture_photo_bracket", "start_recording", "attach_microphone", "open_stream"):
        arguments = glib.split(f"gboolean org_camarb_session1_call_{call}_sync (")[1].split(");")[0]
        assert "GUnixFDList" in arguments, (call, arguments)
    assert "QList<QVariantMap>" in made["Broker1"][0]
