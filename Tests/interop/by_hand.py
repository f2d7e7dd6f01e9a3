"""What people meet who type: commands that say what is so, and refuse at once what cannot be meant."""
import json, pathlib, subprocess, tempfile

from camclient import PROGRAM, camclient
from harness import PATIENCE, Daemon, Refused, as_other, as_user, claim, die_with_parent, wait_until

ALICE, BOB = 4242, 4343


def camclient_of(user, daemon, *words, status=0):
    """camclient as another user."""
    done = subprocess.run(
        [PROGRAM, *words, "--address", daemon.address], capture_output=True, text=True, timeout=PATIENCE * 2,
        stdin=subprocess.DEVNULL, preexec_fn=die_with_parent, **as_other(user))
    assert done.returncode == status, f"{words} ended with {done.returncode}, not {status}:\n{done.stdout}{done.stderr}"
    return done


@claim("apps that a shell's command line places are placed as it comes: what they record goes on")
def places_at_once():
    with Daemon(policy="ios9") as daemon:
        photos = daemon.app("photos")
        session = photos.session()
        session.start()
        photos.wait("DidStartRunning")
        recording = session.record(daemon.directory / "visit.mkv")
        camclient(daemon, "shell", "place photos fullscreen focused", "place notes background")
        session.call("StopRecording")
        ended = photos.wait("RecordingFinished")
        assert ended[2] == recording and ended[3] == "stopped", ended
        assert "WasInterrupted" not in photos.names(), photos.names()


@claim("when a shell has left, status says what counts instead, and explain finds what ended its words and what would help")
def after_the_shell():
    with Daemon(policy="ios9") as daemon:
        photos = daemon.app("photos")
        session = photos.session()
        session.start()
        photos.wait("DidStartRunning")
        assert "every app counts as foreground" in camclient(daemon, "status").stdout
        camclient(daemon, "shell", "place photos fullscreen")
        said = camclient(daemon, "status").stdout
        assert "holds a few seconds longer" in said and "counts as foreground" not in said, said
        told = photos.wait("WasInterrupted")
        assert told[2] == ["video-device-not-available-in-background"], told
        said = camclient(daemon, "status").stdout
        assert "has left: every app counts as background" in said and "counts as foreground" not in said, said
        status = json.loads(camclient(daemon, "status", "--json").stdout)
        assert [entry["standing"] for entry in status["placements"]] == ["lost"], status["placements"]
        why = camclient(daemon, "explain").stdout
        assert "what the shell that left had said holds no more" in why, why
        assert 'turned by: presence = "foreground", as the shell that left could say (is "background")' in why, why


@claim("another user's session is shown as running or interrupted, as its camera shows it, and as nothing more")
def of_others():
    with Daemon(users=(ALICE, BOB)) as daemon:
        with as_user(ALICE):
            alice = daemon.app("photos")
        session = alice.session()
        session.start()
        alice.wait("DidStartRunning")
        status = json.loads(camclient_of(BOB, daemon, "status", "--json").stdout)
        (shown,) = status["sessions"]
        assert shown["state"] == "running" and shown["app"] == "another user's app", shown
        assert not shown["rule"] and not shown["causes"] and not shown["rank"] and not shown["access"], shown
        session.call("StopRunning")
        alice.wait("DidStopRunning")
        (shown,) = json.loads(camclient_of(BOB, daemon, "status", "--json").stdout)["sessions"]
        assert shown["state"] == "stopped", shown


@claim("explain of one's own app is answered after the app has ended, and is refused to others")
def after_the_app():
    with Daemon(users=(ALICE, BOB)) as daemon:
        camclient_of(ALICE, daemon, "run", "--app", "photos", "start", "wait DidStartRunning")
        why = camclient_of(ALICE, daemon, "explain").stdout
        assert "photos: granted" in why, why
        decision = json.loads(camclient_of(ALICE, daemon, "explain", "--json").stdout)["decision"]
        refused = camclient_of(BOB, daemon, "explain", str(decision), status=4).stderr
        assert "another user's apps" in refused, refused


@claim("explain says that it would be enough if the holder stopped, and names it to those who may know it")
def holder_stops():
    with Daemon(policy="desktop", users=(ALICE, BOB)) as daemon:
        with as_user(ALICE):
            holder = daemon.app("notes")
        session = holder.session()
        session.start()
        holder.wait("DidStartRunning")
        with as_user(BOB):
            app = daemon.app("photos")
        app.session().start()
        app.wait("WasInterrupted")
        (verdict,) = json.loads(camclient_of(BOB, daemon, "explain", "--json").stdout)["verdicts"]
        assert verdict["stops"] == ["another user's app"], verdict
        assert "notes stops" in camclient(daemon, "explain").stdout
        session.call("StopRunning")
        app.wait("DidStartRunning")


@claim("a refusal names the rule behind it once")
def once():
    with tempfile.TemporaryDirectory(prefix="camarb-policy.") as folder:
        policy = pathlib.Path(folder) / "refusing.toml"
        policy.write_text('name = "refusing"\n[contention]\ntie = "holder"\nnewcomer = "refuse"\n')
        with Daemon(policy=policy) as daemon:
            notes, photos = daemon.app("notes"), daemon.app("photos")
            notes.session().start()
            notes.wait("DidStartRunning")
            try:
                photos.session().start()
                raise AssertionError("the second start was not refused")
            except Refused as refusal:
                said = refusal.message
            assert said.lower().count("because") == 1 and "notes has it" in said, said


@claim("an app whose second session waits for its first is not said to wait for itself")
def two_of_one():
    with Daemon() as daemon:
        photos = daemon.app("photos")
        first, second = photos.session(), photos.session()
        first.start()
        photos.wait("DidStartRunning")
        second.start()
        wait_until("the second session's turn", lambda: "WasInterrupted" in (photos.poll(0.05), photos.names())[1])
        said = camclient(daemon, "status").stdout
        assert "held by photos; waiting: another session of photos" in said, said
