"""The right to use a camera at all: of root, of those that the policy names, and of the user at its seat, as logind tells it."""
from camclient import camclient, status
from harness import Daemon, claim, refused
from logind import Logind
from logins import known
from message_bus import Bus

ALICE, BOB, NOBODY = 1000, 1001, 65534
TWO = (("1", ALICE, {"Active": True}), ("2", BOB, {}))


def broker(bus, **options):
    return Daemon(claims=False, system_bus=bus.address if bus else "", **options)


def is_denied(session, *words):
    refused(session.start, *words, error="AccessDenied")


@claim("a client in no login session has the right of its user's seat, and is paused with it; others have none")
def seat():
    with Bus() as bus, Logind(bus, TWO) as logind, broker(bus) as daemon:
        known(daemon, "1", "2")
        alice, nobody = daemon.app(user=ALICE), daemon.app(user=NOBODY)
        alice.running()
        is_denied(nobody.session(), f"of user {NOBODY} has no right to camera", "seat seat0")
        assert [session["right"] for session in status(daemon)["sessions"]] == ["seat", "none"]
        logind.activate("2")
        alice.is_interrupted("login-session-inactive")
        bob = daemon.app(user=BOB)
        bob.running()
        logind.activate("1")
        bob.is_interrupted("login-session-inactive")
        alice.resumes()


@claim("the groups are those that a process connected with, and a name that the machine does not know gives nobody a right")
def groups():
    lab = 'name = "lab"\n[access]\nseat = false\nusers = ["no-such-user"]\ngroups = [4242, "no-such-group"]\n'
    with broker(None, policy=lab) as daemon:
        is_denied(daemon.app(user=ALICE).session())
        daemon.app(user=BOB, groups=(4242,)).running()
        is_denied(daemon.app(user=ALICE).session())
        assert "does not know: no-such-user, no-such-group" in status(daemon)["degraded"]
        said = camclient(None, "policy", "check", daemon.policy, status=1).stdout
        assert "this machine has no user \"no-such-user\"" in said, said


@claim("a broker of a user's own serves its user without logind and whatever the policy names, and as a service it does not")
def own():
    nobodys = 'name = "nobodys"\n[access]\nseat = false\n'
    for flags, status in ((), 0), (("--service",), 4):
        with Daemon(nobodys, ("front=none",), ("--policy-dir", "", *flags), claims=False, user=ALICE) as daemon:
            said = camclient(daemon, "run", "--camera", "front", "start", "stop", status=status, user=ALICE)
            assert status == 0 or "has no right to camera" in said.stderr + said.stdout, said
