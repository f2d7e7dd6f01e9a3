"""Login sessions and sleep, as logind tells of them: the user at the machine has its cameras, and recordings end before it sleeps."""
import json, os, pathlib, re, signal, subprocess, tempfile, time

from harness import BROKER, PROGRAMS, ROOT, Daemon, children_of, claim, played, wait_until
from logind import NAME, Logind
from message_bus import BUS, Bus
from jeepney import DBusAddress, HeaderFields, new_method_call, new_signal
from jeepney.io.blocking import open_dbus_connection

TWO = (("1", 1000, {"Active": True}), ("2", 1001, {}))


def status(daemon):
    """What `camclient status --json` says."""
    done = subprocess.run([PROGRAMS / "camclient", "--socket", daemon.path, "status", "--json"], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def logins(daemon):
    return {login["id"]: login for login in status(daemon)["loginSessions"]}


def known(daemon, *ids):
    wait_until(f"sessions {ids} in the status", lambda: set(logins(daemon)) == set(ids))


def broker(bus, **options):
    return Daemon(policy="login-session", system_bus=bus.address, **options)


@claim("switching the active login session moves the camera, with the right notices both ways")
def switching():
    with Bus() as bus, Logind(bus, TWO) as logind, broker(bus) as daemon:
        alice, bob = daemon.app("alices", loginSession="1"), daemon.app("bobs", loginSession="2")
        hers, his = alice.session(), bob.session()
        hers.start()
        alice.wait("DidStartRunning")
        his.start()
        assert bob.wait("WasInterrupted")[3] == ["login-session-inactive"]
        logind.activate("2")
        assert alice.wait("WasInterrupted")[3] == ["login-session-inactive"]
        alice.wait("DidStopRunning")
        bob.wait("InterruptionEnded")
        bob.wait("DidStartRunning")
        logind.activate("1")
        bob.wait("WasInterrupted")
        bob.wait("DidStopRunning")
        alice.wait("InterruptionEnded")
        alice.wait("DidStartRunning")


@claim("a locked login session is paused until it is unlocked, and services are not")
def locking():
    with Bus() as bus, Logind(bus, TWO) as logind, broker(bus, cameras=("front=none", "back=none")) as daemon:
        alice, service = daemon.app("alices", loginSession="1"), daemon.app("doorbell")
        alice.session("front").start()
        alice.wait("DidStartRunning")
        service.session("back").start()
        service.wait("DidStartRunning")
        logind.change("1", LockedHint=True)
        assert alice.wait("WasInterrupted")[3] == ["login-session-inactive"]
        assert logins(daemon)["1"]["locked"]
        logind.change("1", LockedHint=False)
        alice.wait("InterruptionEnded")
        alice.wait("DidStartRunning")
        service.poll()
        assert "WasInterrupted" not in service.names()


@claim("a program that outlives its login session does not pass for a service")
def outliving():
    with Bus() as bus, Logind(bus, TWO) as logind, broker(bus) as daemon:
        left_behind = daemon.app("left-behind", loginSession="1")
        left_behind.session().start()
        left_behind.wait("DidStartRunning")
        logind.remove("1")
        assert left_behind.wait("WasInterrupted")[3] == ["login-session-inactive"]
        known(daemon, "2")


@claim("a login session counts as inactive until logind has told of it")
def not_told_yet():
    with Bus() as bus, Logind(bus, TWO) as logind, broker(bus) as daemon:
        known(daemon, "1", "2")
        early = daemon.app("early", loginSession="3")
        early.session().start()
        early.wait("WasInterrupted")
        logind.change("1", Active=False)
        logind.add("3", 1002, Active=True)
        early.wait("InterruptionEnded")
        early.wait("DidStartRunning")


@claim("the status says seat, user, remote, active and locked of each login session")
def shown():
    sessions = (("c1", 1000, {"Active": True}), ("7", 1001, {"Seat": "", "Remote": True, "Active": True}))
    with Bus() as bus, Logind(bus, sessions), broker(bus) as daemon:
        known(daemon, "c1", "7")
        assert logins(daemon)["7"] == {
            "id": "7", "user": 1001, "seat": "", "remote": True, "active": True, "locked": False}
        assert logins(daemon)["c1"]["seat"] == "seat0"
        assert status(daemon)["loginSessionsKnown"]
        said = subprocess.run([PROGRAMS / "camclient", "--socket", daemon.path, "status"], capture_output=True, text=True,
                              timeout=60).stdout
        assert "login session c1 of user 1000 on seat0 is active\n" in said, said
        assert "login sessions without a seat: 1\n" in said, said


@claim("without logind the status says that login sessions are not known, and nobody is paused")
def without_logind():
    with Bus() as bus:
        with broker(bus) as daemon:
            app = daemon.app("alices", loginSession="1")
            app.session().start()
            app.wait("DidStartRunning")
            said = status(daemon)
            assert not said["loginSessionsKnown"] and "logind does not run" in said["loginSessionsUnknown"], said
            # It comes late, as it does when a machine starts.
            with Logind(bus, (("1", 1000, {}),)):
                app.wait("WasInterrupted")
                known(daemon, "1")
    with Daemon(system_bus="unix:path=/nonexistent/bus") as daemon:
        app = daemon.app("alices", loginSession="1")
        app.session().start()
        app.wait("DidStartRunning")
        assert "cannot connect to the system bus at /nonexistent/bus" in status(daemon)["loginSessionsUnknown"]


@claim("a logind that is restarted is followed again, and so is a bus that comes back")
def restarted():
    with Bus() as bus:
        logind = Logind(bus, TWO)
        with broker(bus) as daemon:
            alice = daemon.app("alices", loginSession="1")
            alice.session().start()
            alice.wait("DidStartRunning")
            logind.end()
            wait_until("its end in the status", lambda: not status(daemon)["loginSessionsKnown"])
            # What it said last holds: nobody was paused by its end.
            alice.poll()
            assert "WasInterrupted" not in alice.names()
            with Logind(bus, (("1", 1000, {}), ("2", 1001, {"Active": True}))) as second:
                alice.wait("WasInterrupted")
                assert second.is_held(0), "no inhibitor was taken from the second"
                bus.stop()
                wait_until("the bus's end in the status", lambda: not status(daemon)["loginSessionsKnown"])
            bus.start()
            with Logind(bus, TWO):
                alice.wait("InterruptionEnded")
                alice.wait("DidStartRunning")


@claim("a logind that would not answer at first is asked again")
def busy():
    with Bus() as bus, Logind(bus, TWO, busy_for=1) as logind, broker(bus) as daemon:
        wait_until("the trouble", lambda: "too busy" in status(daemon)["loginSessionsUnknown"])
        wait_until("the sessions", lambda: status(daemon)["loginSessionsKnown"])
        alice = daemon.app("alices", loginSession="1")
        alice.session().start()
        alice.wait("DidStartRunning")
        logind.change("1", LockedHint=True)
        alice.wait("WasInterrupted")


@claim("nobody but logind is believed about sleep and login sessions")
def impostor():
    with Bus() as bus, Logind(bus, TWO) as logind, broker(bus) as daemon:
        alice = daemon.app("alices", loginSession="1")
        alice.session().start()
        alice.wait("DidStartRunning")
        with open_dbus_connection(bus=bus.address) as liar:
            names = liar.send_and_get_reply(new_method_call(BUS, "ListNames"), timeout=20).body[0]
            for name in names:
                for path, interface, member, signature, body in (
                        ("/org/freedesktop/login1", NAME + ".Manager", "PrepareForSleep", "b", (True,)),
                        ("/org/freedesktop/login1", NAME + ".Manager", "SessionRemoved", "so", ("1", logind.path_of("1"))),
                        (logind.path_of("1"), "org.freedesktop.DBus.Properties", "PropertiesChanged", "sa{sv}as",
                         (NAME + ".Session", {"Active": ("b", False)}, []))):
                    lie = new_signal(DBusAddress(path, interface=interface), member, signature, body)
                    # Sent to each by name, so that no match rule of the receiver keeps it out.
                    lie.header.fields[HeaderFields.destination] = name
                    liar.send(lie)
            # The bus keeps the order: what logind says next comes after all of it.
            liar.send_and_get_reply(new_method_call(BUS, "GetId"), timeout=20)
        logind.change("2", LockedHint=True)
        wait_until("logind's own word", lambda: logins(daemon)["2"]["locked"])
        alice.poll()
        assert "WasInterrupted" not in alice.names() and not status(daemon)["asleep"]


@claim("before the machine sleeps recordings are finished; afterwards sessions go on, and recordings do not")
def sleeping():
    with Bus() as bus, Logind(bus, TWO) as logind, broker(bus) as daemon:
        alice = daemon.app("alices", loginSession="1")
        session = alice.session()
        session.start()
        alice.wait("DidStartRunning")
        assert logind.is_held(0)
        film = daemon.directory / "film.mp4"
        session.record(film)
        alice.wait("RecordingStarted")
        stream = session.stream()
        for _ in range(10):
            stream.release(stream.read())
        logind.prepare_for_sleep(True)
        wait_until("the inhibitor to be let go", lambda: not logind.is_held(0))
        # In this moment logind would let the machine sleep: the file is whole already.
        frames, seconds = played(film)
        assert frames >= 5, f"{frames} frames, {seconds} s"
        assert alice.wait("WasInterrupted")[3] == ["system-sleep"]
        assert "interrupted" in alice.wait("RecordingFinished")
        assert status(daemon)["asleep"]
        logind.prepare_for_sleep(False)
        alice.wait("InterruptionEnded")
        alice.wait("DidStartRunning")
        assert logind.is_held(1), "no inhibitor was taken for the next time"
        alice.poll()
        assert alice.names().count("RecordingStarted") == 1, alice.names()
        assert all(not session["recording"] for session in status(daemon)["sessions"])


@claim("without an inhibitor the journal says so, and sleep still closes the camera")
def no_inhibitor():
    with Bus() as bus, Logind(bus, TWO, refuses_inhibitors=True) as logind, broker(bus) as daemon:
        alice = daemon.app("alices", loginSession="1")
        alice.session().start()
        alice.wait("DidStartRunning")
        wait_until("the warning", lambda: "logind does not let camarb delay it: Permission denied" in daemon.said())
        logind.prepare_for_sleep(True)
        alice.wait("WasInterrupted")
        logind.prepare_for_sleep(False)
        alice.wait("DidStartRunning")


@claim("a recording that nobody finishes keeps the machine from sleeping for four fifths of the time that logind waits")
def hanging():
    with tempfile.TemporaryDirectory() as folder, Bus() as bus, Logind(bus, TWO, delay=2.0) as logind:
        # The second one, which is to complete what the first leaves, says nothing.
        core = pathlib.Path(folder) / "core"
        core.write_text(f'#!/bin/sh\ncd {folder}\n[ -e first ] && [ ! -e second ] && : >second && exec sleep 600\n: >first\n'
                        f'exec "{PROGRAMS}/camrecorder" "$@"\n')
        core.chmod(0o755)
        # So patient that it is logind's time that ends it.
        with broker(bus, extra=("--recorder", core, "--patience", 20)) as daemon:
            alice = daemon.app("alices", loginSession="1")
            session = alice.session()
            session.start()
            alice.wait("DidStartRunning")
            session.record(daemon.directory / "film.mp4")
            alice.wait("RecordingStarted")
            assert logind.is_held(0)
            (recorder,) = daemon.recorders()
            os.kill(recorder, signal.SIGSTOP)
            begun = time.monotonic()
            logind.prepare_for_sleep(True)
            wait_until("the inhibitor to be let go", lambda: not logind.is_held(0))
            assert time.monotonic() - begun >= 1.6, time.monotonic() - begun
            assert "RecordingFinished" not in alice.names(), alice.names()
            logind.prepare_for_sleep(False)
            assert logind.is_held(1)
            (silent,) = children_of(daemon.process.pid, "sleep")
            os.kill(silent, signal.SIGKILL)
            alice.wait("DidStartRunning")


@claim("a system bus that cannot be meant is an error of the command line")
def wrong_bus():
    done = subprocess.run([PROGRAMS / "camarbd", "--system-bus", "tcp:host=x"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "--system-bus: \"tcp:host=x\" is no socket address" in done.stderr, done.stderr


@claim("a machine that slept while nobody looked is asleep for the broker too, and awake when logind is gone")
def missed():
    with Bus() as bus:
        with Logind(bus, TWO, asleep=True), broker(bus) as daemon:
            wait_until("sleep", lambda: status(daemon)["asleep"])
            alice = daemon.app("alices", loginSession="1")
            alice.session().start()
            alice.wait("WasInterrupted")
            daemon.apps.remove(alice)
            # The daemon goes on; its logind does not.
        with broker(bus) as daemon:
            assert not status(daemon)["asleep"]


@claim("more login sessions than are followed are told of, and those of the others count as inactive")
def many():
    sessions = tuple((f"c{number}", 2000 + number, {"Seat": "", "Active": True}) for number in range(600))
    with Bus() as bus, Logind(bus, sessions), broker(bus) as daemon:
        wait_until("512 sessions", lambda: len(logins(daemon)) == 512)
        followed, last = daemon.app("one", loginSession="c3"), daemon.app("two", loginSession="c599")
        followed.session().start()
        followed.wait("DidStartRunning")
        last.session().start()
        last.wait("WasInterrupted", lambda body: "login-session-inactive" in body[3])
        assert "88 of them count as inactive" in daemon.said()


def documented(table):
    """What wire.md has in the first columns of the table whose header begins so: keys, or a row's name with its keys, and types."""
    text = (ROOT / "docs" / "wire.md").read_text()
    rows = text.split(f"\n| {table} |", 1)[1].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


@claim("a status has each key that wire.md lists, with its type, and no other")
def documented_keys():
    with Bus() as bus, Logind(bus, TWO), broker(bus) as daemon:
        app, shell = daemon.app("alices", loginSession="1"), daemon.shell()
        app.session().start()
        app.wait("DidStartRunning")
        known(daemon, "1", "2")
        status_of_broker, cameras, sessions = shell.call(BROKER, "GetStatus")
        for name, told in (("`broker`", status_of_broker), ("one of `cameras`", cameras[0]), ("one of `sessions`", sessions[0])):
            listed = {}
            for cells in documented(f"of {name}"):
                keys, types = (re.findall("`([^`]+)`", cell) for cell in cells[:2])
                listed.update(zip(keys, types if len(types) == len(keys) else types * len(keys)))
            assert listed == {key: type_ for key, (type_, _) in told.items()}, (name, listed, told)
        for row, keys in documented("of one of"):
            entries = status_of_broker[row.strip("`")][1]
            told = {key: type_ for entry in entries for key, (type_, _) in entry.items()}
            assert dict(re.findall(r"`(\w+)` ([a-z])\b", keys)) == told, (row, told)
