"""The right to use a camera at all: of root, of those that the policy names, and of the user at its seat, as logind tells it."""
import os, pathlib, signal, subprocess, tempfile

from harness import BROKER, PROGRAMS, Daemon, Refused, as_other, as_user, claim, wait_until
from logind import Logind
from message_bus import Bus
from logins import known, status

ALICE, BOB, NOBODY = 1000, 1001, 65534
TWO = (("1", ALICE, {"Active": True}), ("2", BOB, {}))
DENIED = "org.camarb.Error.AccessDenied"


def broker(bus, **options):
    return Daemon(claims=False, system_bus=bus.address if bus else "", **options)


def client(daemon, user, groups=()):
    with as_user(user, groups):
        return daemon.app()


def refused(session):
    """What it is told; the start has to be refused."""
    try:
        session.start()
    except Refused as error:
        assert error.name == DENIED, error
        return str(error)
    raise AssertionError("the start was taken")


@claim("a client in no login session has the right of its user's seat, and is paused with it; others have none")
def seat():
    with Bus() as bus, Logind(bus, TWO) as logind, broker(bus) as daemon:
        known(daemon, "1", "2")
        alice, nobody = client(daemon, ALICE), client(daemon, NOBODY)
        alice.session().start()
        alice.wait("DidStartRunning")
        said = refused(nobody.session())
        assert f"of user {NOBODY} has no right to camera" in said and "seat seat0" in said, said
        assert [session["right"] for session in status(daemon)["sessions"]] == ["seat", "none"]
        logind.activate("2")
        assert alice.wait("WasInterrupted")[3] == ["login-session-inactive"]
        bob = client(daemon, BOB)
        bob.session().start()
        bob.wait("DidStartRunning")
        logind.activate("1")
        assert bob.wait("WasInterrupted")[3] == ["login-session-inactive"]
        alice.wait("InterruptionEnded")
        alice.wait("DidStartRunning")


@claim("a user has no right by a login session over the network alone, and loses that of the seat when the last one there ends")
def network():
    with Bus() as bus, Logind(bus, (("7", ALICE, {"Seat": "", "Remote": True, "Active": True}),)) as logind, \
            broker(bus) as daemon:
        known(daemon, "7")
        session = (alice := client(daemon, ALICE)).session()
        refused(session)
        logind.add("1", ALICE, Active=True)
        known(daemon, "1", "7")
        session.start()
        alice.wait("DidStartRunning")
        logind.remove("1")
        assert alice.wait("WasInterrupted")[3] == ["login-session-inactive"]
        session.call("StopRunning")
        refused(session)


@claim("without logind nobody has a camera by its seat, and the status says so; root and those that the policy names have")
def without_logind():
    with broker(None, users=(BOB,)) as daemon:
        refused(client(daemon, ALICE).session())
        bob = client(daemon, BOB)
        bob.session().start()
        bob.wait("DidStartRunning")
        said = subprocess.run([PROGRAMS / "camclient", "--socket", daemon.path, "status"], capture_output=True, text=True,
                              timeout=60).stdout
        assert "only root and those that the policy's [access] names" in said, said


@claim("the groups are those that a process connected with, and a name that the machine does not know gives nobody a right")
def groups():
    with tempfile.TemporaryDirectory() as folder:
        policy = pathlib.Path(folder) / "lab.toml"
        policy.write_text('name = "lab"\n[access]\nseat = false\nusers = ["no-such-user"]\ngroups = [4242, "no-such-group"]\n')
        with broker(None, policy=policy) as daemon:
            refused(client(daemon, ALICE).session())
            member = client(daemon, BOB, groups=(4242,))
            member.session().start()
            member.wait("DidStartRunning")
            assert "does not know: no-such-user, no-such-group" in status(daemon)["degraded"]
            done = subprocess.run([PROGRAMS / "camclient", "policy", "check", policy], capture_output=True, text=True,
                                  timeout=60)
            assert done.returncode == 1 and "this machine has no user \"no-such-user\"" in done.stdout, done.stdout


@claim("a reload that takes the right stops what runs by it, at once and with the reason")
def reload():
    with tempfile.TemporaryDirectory() as folder:
        policy = pathlib.Path(folder) / "lab.toml"
        policy.write_text(f'name = "lab"\n[access]\nusers = [{BOB}]\n')
        with broker(None, policy=policy) as daemon:
            bob = client(daemon, BOB)
            bob.session().start()
            bob.wait("DidStartRunning")
            policy.write_text('name = "lab"\n')
            daemon.process.send_signal(signal.SIGHUP)
            stopped = bob.wait("SessionStopped")
            assert stopped[2:] == ("denied-by-policy", "access: no right to the camera"), stopped


@claim("a broker of a user's own serves its user without logind and whatever the policy names, and as a service it does not")
def own():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        policy = pathlib.Path(folder) / "nobodys.toml"
        policy.write_text('name = "nobodys"\n[access]\nseat = false\n')
        for flags, serves in ((), True), (("--service",), False):
            path = pathlib.Path(folder) / f"socket{len(flags)}"
            with open(os.path.join(folder, "log"), "a") as log:
                daemon = subprocess.Popen(
                    [PROGRAMS / "camarbd", "--socket", path, "--policy", policy, "--policy-dir", "", "--system-bus", "",
                     "--camera", "front=none", *flags], stdout=log, stderr=log, **as_other(ALICE))
            try:
                wait_until("camarbd's socket", path.exists)
                done = subprocess.run(
                    [PROGRAMS / "camclient", "--socket", path, "run", "--camera", "front", "start", "stop"],
                    capture_output=True, text=True, timeout=60, **as_other(ALICE))
                assert (done.returncode == 0) == serves, f"{flags}: {done.stdout}{done.stderr}"
                if not serves:
                    assert "has no right to camera" in done.stderr + done.stdout, done.stderr
            finally:
                daemon.terminate()
                daemon.wait(timeout=60)


@claim("explain says which right was missing, and what would give it")
def explained():
    with broker(None) as daemon:
        alice = client(daemon, ALICE)
        refused(alice.session())
        summary, verdicts = alice.call(BROKER, "Explain", "t", 0)
        (verdict,) = verdicts
        assert verdict["outcome"][1] == "refused" and 'right = "none"' in verdict["read"][1], verdict
        assert any(f"users = [{ALICE}] in [access]" in change for change in verdict["changedBy"][1]), verdict
        assert "access: no right to the camera" in summary, summary
