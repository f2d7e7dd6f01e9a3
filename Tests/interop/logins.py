"""Login sessions and sleep, as logind tells of them: the user at the machine has its cameras, and recordings end before it sleeps."""
import contextlib, os, re, signal, time

from camclient import camclient, status
from harness import BROKER, PROGRAMS, ROOT, Daemon, Folder, children_of, claim, played, ran, wait_until
from logind import Logind
from message_bus import Bus

TWO = (("1", 1000, {"Active": True}), ("2", 1001, {}))


def logins(daemon):
    return {login["id"]: login for login in status(daemon)["loginSessions"]}


def known(daemon, *ids):
    wait_until(f"sessions {ids} in the status", lambda: set(logins(daemon)) == set(ids))


def broker(bus, **options):
    return Daemon(policy="login-session", system_bus=bus.address, **options)


def alices(daemon, session="1"):
    """An app of a login session, and its session that runs."""
    app = daemon.app("alices", loginSession=session)
    return app, app.running()


@contextlib.contextmanager
def at_a_machine(extra=(), **options):
    """A logind, a broker that hears it, and Alice's app that has the camera."""
    with Bus() as bus, Logind(bus, TWO, **options) as logind, broker(bus, extra=extra) as daemon:
        yield logind, daemon, *alices(daemon)


@claim("a login session counts as inactive until logind has told of it")
def not_told_yet():
    with Bus() as bus, Logind(bus, TWO) as logind, broker(bus) as daemon:
        known(daemon, "1", "2")
        early = daemon.app("early", loginSession="3")
        early.session().start()
        early.wait("WasInterrupted")
        logind.change("1", Active=False)
        logind.add("3", 1002, Active=True)
        early.resumes()


@claim("the status says seat, user, remote, active and locked of each login session")
def shown():
    sessions = (("c1", 1000, {"Active": True}), ("7", 1001, {"Seat": "", "Remote": True, "Active": True}))
    with Bus() as bus, Logind(bus, sessions), broker(bus) as daemon:
        known(daemon, "c1", "7")
        assert logins(daemon)["7"] == {"id": "7", "user": 1001, "seat": "", "remote": True, "active": True, "locked": False}
        assert logins(daemon)["c1"]["seat"] == "seat0"
        assert status(daemon)["loginSessionsKnown"]
        said = camclient(daemon, "status").stdout
        assert "login session c1 of user 1000 on seat0 is active\n" in said, said
        assert "login sessions without a seat: 1\n" in said, said


@claim("without logind the status says that login sessions are not known, and nobody is paused")
def without_logind():
    with Bus() as bus, broker(bus) as daemon:
        app, _ = alices(daemon)
        said = status(daemon)
        assert not said["loginSessionsKnown"] and "logind does not run" in said["loginSessionsUnknown"], said
        # It comes late, as it does when a machine starts.
        with Logind(bus, (("1", 1000, {}),)):
            app.wait("WasInterrupted")
            known(daemon, "1")
    with Daemon(system_bus="unix:path=/nonexistent/bus") as daemon:
        alices(daemon)
        assert "cannot connect to the system bus at /nonexistent/bus" in status(daemon)["loginSessionsUnknown"]


@claim("a logind that is restarted is followed again, and so is a bus that comes back")
def restarted():
    with Bus() as bus:
        logind = Logind(bus, TWO)
        with broker(bus) as daemon:
            alice, _ = alices(daemon)
            logind.end()
            wait_until("its end in the status", lambda: not status(daemon)["loginSessionsKnown"])
            # What it said last holds: nobody was paused by its end.
            alice.is_not_told("WasInterrupted")
            with Logind(bus, (("1", 1000, {}), ("2", 1001, {"Active": True}))) as second:
                alice.wait("WasInterrupted")
                assert second.is_held(0), "no inhibitor was taken from the second"
                bus.stop()
                wait_until("the bus's end in the status", lambda: not status(daemon)["loginSessionsKnown"])
            bus.start()
            with Logind(bus, TWO):
                alice.resumes()


@claim("before the machine sleeps recordings are finished; afterwards sessions go on, and recordings do not")
def sleeping():
    with at_a_machine() as (logind, daemon, alice, session):
        assert logind.is_held(0)
        film = daemon.directory / "film.mp4"
        session.records(film)
        stream = session.stream()
        for _ in range(10):
            stream.release(stream.read())
        logind.prepare_for_sleep(True)
        wait_until("the inhibitor to be let go", lambda: not logind.is_held(0))
        # In this moment logind would let the machine sleep: the file is whole already.
        frames, seconds = played(film)
        assert frames >= 5, f"{frames} frames, {seconds} s"
        alice.is_interrupted("system-sleep")
        assert "interrupted" in alice.wait("RecordingFinished")
        assert status(daemon)["asleep"]
        logind.prepare_for_sleep(False)
        alice.resumes()
        assert logind.is_held(1), "no inhibitor was taken for the next time"
        alice.poll()
        assert alice.names().count("RecordingStarted") == 1, alice.names()
        assert all(not session["recording"] for session in status(daemon)["sessions"])


@claim("without an inhibitor the journal says so, and sleep still closes the camera")
def no_inhibitor():
    with at_a_machine(refuses_inhibitors=True) as (logind, daemon, alice, _):
        wait_until("the warning", lambda: "logind does not let camarb delay it: Permission denied" in daemon.said())
        logind.prepare_for_sleep(True)
        alice.wait("WasInterrupted")
        logind.prepare_for_sleep(False)
        alice.wait("DidStartRunning")


@claim("a recording that nobody finishes keeps the machine from sleeping for four fifths of the time that logind waits")
def hanging():
    with Folder() as folder:
        # The second one, which is to complete what the first leaves, says nothing.
        core = folder / "core"
        core.write_text(f'#!/bin/sh\ncd {folder}\n[ -e first ] && [ ! -e second ] && : >second && exec sleep 600\n: >first\n'
                        f'exec "{PROGRAMS}/camrecorder" "$@"\n')
        core.chmod(0o755)
        # So patient that it is logind's time that ends it.
        with at_a_machine(("--recorder", core, "--patience", 20), delay=2.0) as (logind, daemon, alice, session):
            session.records(daemon.directory / "film.mp4")
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
    said = ran(PROGRAMS / "camarbd", "--system-bus", "tcp:host=x", status=2).stderr
    assert "--system-bus: \"tcp:host=x\" is no socket address" in said, said


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


def documented(table):
    """What wire.md has in the first columns of the table whose header begins so: keys, or a row's name with its keys, and types."""
    text = (ROOT / "docs" / "wire.md").read_text()
    rows = text.split(f"\n| {table} |", 1)[1].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


@claim("a status has each key that wire.md lists, with its type, and no other")
def documented_keys():
    with Bus() as bus, Logind(bus, TWO), broker(bus) as daemon:
        app, shell = daemon.app("alices", loginSession="1"), daemon.shell()
        app.running()
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
