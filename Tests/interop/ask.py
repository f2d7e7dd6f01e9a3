"""Users are asked about their apps: by which answers an app has cameras, which clients may give them, and what a desktop is shown."""
import contextlib, os, pathlib, subprocess, tempfile, time

import groups
from harness import (BROKER, CAMERA, PATIENCE, PROGRAMS, SHELL, Daemon, Refused, as_other, as_user, claim, die_with_parent,
                     wait_until)

ALICE, BOB, STRANGER = 1000, 1001, 1002
DENIED = "org.camarb.Error.AccessDenied"
NOT_TRUSTED = "org.camarb.Error.NotTrusted"
ASKS = 'name = "asks"\n[access]\napps = "ask"\nusers = [1000, 1001]\n[contention]\ntie = "newcomer"\n'
ASKS_NOBODY = ASKS.replace('apps = "ask"\n', "")


@contextlib.contextmanager
def broker(policy=ASKS, **options):
    """A camarbd with a policy of these tests' own, whose answers lie in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="camarb-ask.") as folder:
        file = pathlib.Path(folder) / "asks.toml"
        file.write_text(policy)
        before = os.environ.get("XDG_STATE_HOME")
        os.environ["XDG_STATE_HOME"] = folder
        try:
            with Daemon(policy=str(file), **options) as daemon:
                daemon.answers = pathlib.Path(folder) / "camarb" / "answers" / str(ALICE)
                yield daemon
        finally:
            os.environ.pop("XDG_STATE_HOME")
            if before is not None:
                os.environ["XDG_STATE_HOME"] = before


def client(daemon, user, name=None):
    with as_user(user):
        return daemon.app(name)


def asked(daemon, user=ALICE):
    """A connection of a user's that is asked about its apps."""
    one = client(daemon, user)
    one.call(SHELL, "WatchQuestions", "b", True)
    return one


def starting(daemon, name, user=ALICE):
    """An app that has asked to run, and its session."""
    app = client(daemon, user, name)
    session = app.session()
    session.start()
    return app, session


def refused(*call, of):
    try:
        of.call(*call)
    except Refused as error:
        return error
    raise AssertionError(f"{call} was taken")


def camclient(daemon, *words, typed=None, user=ALICE):
    """A camclient of a user's."""
    return subprocess.run(
        [PROGRAMS / "camclient", *words, "--address", daemon.address], input=typed, capture_output=True, text=True,
        timeout=PATIENCE * 2, preexec_fn=die_with_parent, **as_other(user))


@claim("an app that nothing is said of waits for its user's word, which counts for the next broker too")
def allowed():
    with broker() as daemon:
        agent = asked(daemon)
        begun = time.monotonic()
        app, session = starting(daemon, "photos")
        assert app.wait("WasInterrupted")[3] == ["waiting-for-permission"]
        question, name, vouched, program, camera, seconds = agent.wait("Question")
        passed = time.monotonic() - begun
        assert (name, vouched) == ("photos", True) and camera, (name, vouched, camera)
        assert program == os.readlink(f"/proc/{os.getpid()}/exe"), program
        # What is left of it when it is told, in whole seconds.
        assert 29 - passed < seconds <= 30, (seconds, passed)
        agent.call(SHELL, "AnswerQuestion", "us", question, "allow")
        app.wait("InterruptionEnded")
        app.wait("DidStartRunning")
        assert agent.wait("QuestionEnded") == (question, "allow")
        (answers,) = agent.call(SHELL, "ListAnswers")
        (answer,) = [{key: value[1] for key, value in one.items()} for one in answers]
        since = answer.pop("since")
        assert answer == {"app": "photos", "vouched": True, "answer": "allow", "from": "question"}, answer
        assert len(since) == 20 and since.endswith("Z"), since
        over = refused(SHELL, "AnswerQuestion", "us", question, "deny", of=agent)
        assert "is over" in str(over), over
        assert daemon.answers.stat().st_mode & 0o777 == 0o600
        daemon.restart()
        app, session = starting(daemon, "photos")
        app.wait("DidStartRunning")
        assert "WasInterrupted" not in app.names()


@claim("a no stops the app and refuses its next start, as a plan and an explanation say; what is taken back is asked anew")
def denied():
    with broker() as daemon:
        agent = asked(daemon)
        app, session = starting(daemon, "photos")
        question = agent.wait("Question")[0]
        agent.call(SHELL, "AnswerQuestion", "us", question, "deny")
        assert app.wait("SessionStopped")[2:] == ("denied-by-user", "access: the user said no")
        error = refused(session.at, "StartRunning", of=app)
        assert error.name == DENIED and "camclient apps allow" in str(error), error
        root = daemon.app()
        (outcome,) = root.call(BROKER, "Plan", "s", "start photos")
        assert 'refused AccessDenied because "access: the user said no"' in outcome, outcome
        summary, verdicts = root.call(BROKER, "Explain", "t", 0)
        assert verdicts[0]["rule"][1] == "access: the user said no", verdicts
        assert verdicts[0]["read"][1] == ['answer = "deny"'], verdicts
        assert any("answer" in turn and "allow" in turn for turn in verdicts[0]["changedBy"][1]), verdicts
        agent.call(SHELL, "SetAnswer", "sbs", "photos", True, "")
        session.start()
        assert agent.wait("Question")[0] == question + 1


@claim("a user is asked one thing at a time, in the order of asking, and another user's question does not wait for it")
def one_at_a_time():
    with broker(cameras=("front=simulated", "back=simulated")) as daemon:
        alice, bob = asked(daemon), asked(daemon, BOB)
        photos, notes = starting(daemon, "photos")[0], starting(daemon, "notes")[0]
        mirror = starting(daemon, "mirror", BOB)[0]
        first = alice.wait("Question")
        assert first[1] == "photos" and bob.wait("Question")[1] == "mirror"
        notes.wait("WasInterrupted")
        alice.poll(0.1)
        assert [name for _, name, _ in alice.signals].count("Question") == 1
        strange = refused(SHELL, "AnswerQuestion", "us", first[0], "allow", of=bob)
        assert strange.name == NOT_TRUSTED, strange
        alice.call(SHELL, "AnswerQuestion", "us", first[0], "allow")
        photos.wait("DidStartRunning")
        assert alice.wait("Question")[1] == "notes"


@claim("an answer for an app that is vouched for is none for a program that claims its name")
def claims_a_name():
    with broker(claims=False) as daemon:
        agent = asked(daemon)
        agent.call(SHELL, "SetAnswer", "sbs", "photos", True, "allow")
        app, _ = starting(daemon, "photos")
        app.wait("WasInterrupted")
        question, name, vouched, *_ = agent.wait("Question")
        assert (name, vouched) == ("photos", False)
        agent.call(SHELL, "SetAnswer", "sbs", "photos", False, "allow")
        app.wait("DidStartRunning")
        assert agent.wait("QuestionEnded") == (question, "allow")


@claim("whoever speaks for a user is told who answered for an app without being asked; who answered is not told its own word")
def told_who():
    with broker() as daemon:
        agent, shell = asked(daemon), client(daemon, ALICE)
        shell.call(SHELL, "Attach", "s", "agent")
        bob = asked(daemon, BOB)
        app, session = starting(daemon, "photos")
        question = agent.wait("Question")[0]
        program = os.readlink(f"/proc/{os.getpid()}/exe")
        # The app says itself that it may, and has the camera.
        app.call(SHELL, "SetAnswer", "sbs", "photos", True, "allow")
        app.wait("DidStartRunning")
        told = ("photos", True, "allow", "photos", os.getpid(), program)
        assert agent.wait("AnswerChanged") == told and shell.wait("AnswerChanged") == told
        assert agent.wait("QuestionEnded") == (question, "allow")
        # The same again changes nothing.
        app.call(SHELL, "SetAnswer", "sbs", "photos", True, "allow")
        app.call(SHELL, "SetAnswer", "sbs", "spy", False, "deny")
        assert agent.wait("AnswerChanged")[:4] == ("spy", False, "deny", "photos")
        app.call(SHELL, "SetAnswer", "sbs", "photos", True, "")
        assert agent.wait("AnswerChanged")[:4] == ("photos", True, "", "photos")
        # A word of root's for an app of hers: who root's programs are is not for her.
        daemon.app().call(SHELL, "SetAnswer", "sbs", f"photos@{ALICE}", True, "deny")
        assert agent.wait("AnswerChanged") == ("photos", True, "deny", "another user's app", 0, "")
        # What was answered where it was asked is known there, and told to the other one.
        other, _ = starting(daemon, "notes")
        question = agent.wait("Question", lambda body: body[1] == "notes")[0]
        agent.call(SHELL, "AnswerQuestion", "us", question, "allow")
        other.wait("DidStartRunning")
        while shell.wait("AnswerChanged")[0] != "notes":
            pass
        for silent in (agent, bob):
            silent.poll(0.1)
            assert "AnswerChanged" not in silent.names(), silent.signals


@claim("an app that leaves withdraws its question; a client that comes to ask is told the question that stands; one is asked at a time")
def withdrawn():
    with broker() as daemon:
        app, _ = starting(daemon, "photos")
        app.wait("WasInterrupted")
        agent = asked(daemon)
        question = agent.wait("Question")[0]
        second = client(daemon, ALICE)
        error = refused(SHELL, "WatchQuestions", "b", True, of=second)
        assert error.name == NOT_TRUSTED and "asks about the apps of user 1000 already" in str(error), error
        app.close()
        assert agent.wait("QuestionEnded") == (question, "gone")
        (speakers,) = [value for key, value in daemon.app().call(BROKER, "GetStatus")[0].items() if key == "speakers"]
        assert [one["role"][1] for one in speakers[1]] == ["ask"], speakers


@claim("what the permission store denies is refused and stopped by a rule of that name, in plans and explanations too")
def permission_store():
    with broker(ASKS_NOBODY) as daemon:
        agent = client(daemon, ALICE)
        error = refused(SHELL, "SetDenied", "as", ["photos"], of=agent)
        assert error.name == NOT_TRUSTED, error
        agent.call(SHELL, "Attach", "s", "agent")
        app, session = starting(daemon, "photos")
        app.wait("DidStartRunning")
        agent.call(SHELL, "SetDenied", "as", ["photos", *(f"other-{number}" for number in range(200))])
        assert app.wait("SessionStopped")[2:] == ("denied-by-user", "denied in the portal's permission store")
        error = refused(session.at, "StartRunning", of=app)
        assert error.name == DENIED and "denied in the portal's permission store" in str(error), error
        root = daemon.app()
        (outcome,) = root.call(BROKER, "Plan", "s", "start photos")
        assert "refused AccessDenied because \"denied in the portal's permission store\"" in outcome, outcome
        _, verdicts = root.call(BROKER, "Explain", "t", 0)
        assert verdicts[0]["rule"][1] == "denied in the portal's permission store", verdicts
        (answers,) = agent.call(SHELL, "ListAnswers")
        assert len(answers) == 201 and {one["from"][1] for one in answers} == {"permission-store"}
        agent.call(SHELL, "SetDenied", "as", [])
        session.start()
        app.wait("DidStartRunning")
        assert agent.call(SHELL, "ListAnswers") == ([],)
        error = refused(SHELL, "SetDenied", "as", ["x"] * 1025, of=agent)
        assert error.name == "org.camarb.Error.LimitExceeded", error


@claim("a user stops an app from the desktop or a terminal, and no other user does; nothing starts again by itself")
def stopped():
    with broker(ASKS_NOBODY) as daemon:
        app, session = starting(daemon, "photos")
        app.wait("DidStartRunning")
        assert refused(SHELL, "StopApp", "s", "photos@1000", of=asked(daemon, BOB)).name == NOT_TRUSTED
        agent = asked(daemon)
        agent.call(SHELL, "StopApp", "s", "photos")
        assert app.wait("SessionStopped")[2:] == ("stopped-by-user", "the user stopped it")
        assert "asks for a camera" in str(refused(SHELL, "StopApp", "s", "photos", of=agent))
        session.start()
        app.wait("DidStartRunning")
        done = camclient(daemon, "shell", "stop-app photos")
        assert done.returncode == 0, done
        app.wait("SessionStopped")


@claim("a user's own privacy interrupts that user's sessions, nobody else's, and outlasts the client that asked for it, and the broker")
def own_privacy():
    with broker(ASKS_NOBODY, cameras=("front=simulated", "back=simulated")) as daemon:
        app, _ = starting(daemon, "photos")
        other = client(daemon, BOB, "mirror")
        other.session("back").start()
        app.wait("DidStartRunning")
        other.wait("DidStartRunning")
        agent = asked(daemon)
        agent.call(SHELL, "SetOwnPrivacy", "b", True)
        interrupted = app.wait("WasInterrupted")
        assert interrupted[3] == ["video-device-blocked-by-privacy"], interrupted
        agent.close()
        assert client(daemon, ALICE).call(BROKER, "GetStatus")[0]["ownPrivacy"] == ("b", True)
        assert client(daemon, BOB).call(BROKER, "GetStatus")[0]["ownPrivacy"] == ("b", False)
        assert "your own privacy switch is on" in camclient(daemon, "status").stdout
        other.poll(0.1)
        assert "WasInterrupted" not in other.names() and "InterruptionEnded" not in app.names()
        assert camclient(daemon, "shell", "own-privacy off").returncode == 0
        app.wait("InterruptionEnded")
        app.wait("DidStartRunning")
        assert camclient(daemon, "shell", "own-privacy on").returncode == 0
        app.wait("WasInterrupted")
        daemon.restart()
        assert client(daemon, ALICE).call(BROKER, "GetStatus")[0]["ownPrivacy"] == ("b", True)
        app, _ = starting(daemon, "photos")
        interrupted = app.wait("WasInterrupted")
        assert interrupted[3] == ["video-device-blocked-by-privacy"], interrupted
        other = client(daemon, BOB, "mirror")
        other.session("back").start()
        other.wait("DidStartRunning")


def kept(daemon):
    """Answers that are in memory, of all users, as root is told."""
    budgets = daemon.app().call(BROKER, "GetStatus")[0]["budgets"][1]
    return sum(one["used"][1] for one in budgets if one["resource"][1] == "answers" and "user" not in one)


@claim("a user who may use no camera says nothing of apps: each call is refused with the rule, and nothing is kept")
def without_right():
    with broker() as daemon:
        one = client(daemon, STRANGER)
        one.call(SHELL, "Attach", "s", "agent")
        for call in (("SetAnswer", "sbs", "photos", True, "allow"), ("SetDenied", "as", ["photos"]),
                     ("SetOwnPrivacy", "b", True), ("ListAnswers",)):
            error = refused(SHELL, *call, of=one)
            assert error.name == DENIED and "no right to any camera" in error.message, (call, error)
            assert "Because “access: no right to the camera”" in error.message, (call, error)
        assert kept(daemon) == 0 and not daemon.answers.parent.exists(), list(daemon.answers.parent.iterdir())


@claim("what a user said is in memory while the user has a client, and counts again for the next one")
def comes_back():
    with broker() as daemon:
        agent = client(daemon, ALICE)
        for number in range(40):
            agent.call(SHELL, "SetAnswer", "sbs", f"other-{number}", True, "allow")
        agent.call(SHELL, "SetAnswer", "sbs", "photos", True, "deny")
        agent.call(SHELL, "SetOwnPrivacy", "b", True)
        assert kept(daemon) == 42, kept(daemon)
        agent.close()
        wait_until("the broker to forget", lambda: kept(daemon) == 0)
        app = client(daemon, ALICE, "photos")
        session = app.session()
        error = refused(session.at, "StartRunning", of=app)
        assert error.name == DENIED and "the user said no" in error.message, error
        assert kept(daemon) == 42 and client(daemon, ALICE).call(BROKER, "GetStatus")[0]["ownPrivacy"] == ("b", True)


@claim("answers that cannot be read are left as they are: what a user says counts for the broker's life, and the journal says why")
def unreadable():
    with broker() as daemon:
        daemon.answers.mkdir(parents=True)
        (daemon.answers / "kept").write_text("as it was")
        agent = asked(daemon)
        app, session = starting(daemon, "photos")
        agent.call(SHELL, "AnswerQuestion", "us", agent.wait("Question")[0], "allow")
        app.wait("DidStartRunning")
        agent.call(SHELL, "SetOwnPrivacy", "b", True)
        app.wait("WasInterrupted")
        assert f"what user {ALICE} said of apps cannot be read" in daemon.said(), daemon.said()
        assert [(path.name, path.read_text()) for path in daemon.answers.iterdir()] == [("kept", "as it was")]
        assert [path.name for path in daemon.answers.parent.iterdir()] == [str(ALICE)]


SANDBOXES = ("app-flatpak-org.example.Mirror-1.scope", "snap.mirror.mirror-3dcfaa86-60a3-4a4f-9f83-4b83a6f4a7c1.scope",
             "libpod-1.scope")


def inside(group, daemon, member, *typed):
    """What a program of Alice's in that control group is told when it calls."""
    caller = subprocess.Popen(
        ["sh", "-c", 'read go; exec "$@"', "sh", "busctl", f"--address={daemon.address}", "call", "org.camarb", SHELL.object_path,
         SHELL.interface, member, *typed],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        preexec_fn=die_with_parent, **as_other(ALICE))
    groups.put(caller.pid, group)
    return caller.communicate("go\n", timeout=PATIENCE)[0]


@claim("what runs in a sandbox is not asked, answers for nobody, and does not say what the permission store denies")
def sandboxed():
    slice = f"/user.slice/user-{ALICE}.slice/user@{ALICE}.service/app.slice"
    paths = [f"{slice}/{scope}" for scope in SANDBOXES]
    with groups.made(*paths, f"{slice}/app-gnome-mirror-1.scope"), broker(claims=False) as daemon:
        for path in paths:
            for call in (("WatchQuestions", "b", "true"), ("SetAnswer", "sbs", "mirror", "false", "allow"),
                         ("AnswerQuestion", "us", "1", "allow"), ("SetDenied", "as", "0"), ("StopApp", "s", "mirror"),
                         ("SetOwnPrivacy", "b", "false")):
                said = inside(path, daemon, *call)
                assert "a sandbox or a service does not answer for apps" in said or "Attach first" in said, (path, call, said)
        assert not daemon.answers.exists(), daemon.answers.read_text()
        # Nothing of the kind keeps the same program out of a sandbox from it.
        said = inside(f"{slice}/app-gnome-mirror-1.scope", daemon, "SetAnswer", "sbs", "mirror", "false", "deny")
        assert not said and "deny claimed user" in daemon.answers.read_text(), said


@claim("a program in a terminal may be asked, also where the policy names units that speak for a desktop, as long as none of these is")
def in_terminal():
    scope = f"/user.slice/user-{ALICE}.slice/user@{ALICE}.service/app.slice/app-gnome-terminal-1.scope"
    named = ASKS + '[shell]\nunit = "org.gnome.Shell@wayland.service"\n[agent]\nunit = "camagent.service"\n'
    with groups.made(scope), broker(named, claims=False) as daemon:
        # A microphone's role is shut to it; being asked is not.
        assert "does not speak" in inside(scope, daemon, "WatchMicrophones", "b", "true")
        assert not inside(scope, daemon, "WatchQuestions", "b", "true")
        asked(daemon)
        assert "already" in inside(scope, daemon, "WatchQuestions", "b", "true")


@claim("a desktop is shown which app has a camera, since when and which ones wait, is told once that this changed, and of each recording that was cut")
def use():
    with broker(ASKS_NOBODY) as daemon:
        agent = asked(daemon)
        assert agent.call(SHELL, "ListUse") == ([],)
        assert refused(SHELL, "ListUse", of=client(daemon, ALICE)).name == NOT_TRUSTED
        app, session = starting(daemon, "photos")
        app.wait("DidStartRunning")
        agent.wait("UseChanged")
        recording = session.record(daemon.directory / "cut.mkv")
        app.wait("RecordingStarted")
        agent.poll(0.1)
        assert [name for _, name, _ in agent.signals].count("UseChanged") == 1
        ((camera,),) = agent.call(SHELL, "ListUse")
        camera = {key: value[1] for key, value in camera.items()}
        since = camera.pop("since")
        assert camera["holder"] == "photos" and camera["own"] and camera["recording"] and not camera["waiting"], camera
        other = client(daemon, BOB, "mirror")
        other.session().start()
        app.wait("WasInterrupted")
        cut = agent.wait("RecordingCut")
        assert cut == ("photos", CAMERA, "another user's app", "video-device-in-use-by-another-client"), cut
        # Told of the cut first, when nobody has the camera, and of the next holder where it was asked in between.
        while True:
            agent.wait("UseChanged")
            ((camera,),) = agent.call(SHELL, "ListUse")
            camera = {key: value[1] for key, value in camera.items()}
            if camera["holder"] == "another user's app":
                break
        assert not camera["own"] and not camera["recording"], camera
        (waiting,) = camera["waiting"]
        assert waiting["app"][1] == "photos" and waiting["since"][1] >= since, (waiting, since)
        app.close()
        while True:
            agent.wait("UseChanged")
            ((camera,),) = agent.call(SHELL, "ListUse")
            if not camera["waiting"][1]:
                break


@claim("camclient asks on a terminal, and lists, gives and takes back answers; a damaged line is said and loses only itself")
def terminal():
    with broker() as daemon:
        with subprocess.Popen(
                [PROGRAMS / "camclient", "ask", "--json", "--address", daemon.address], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1,
                preexec_fn=die_with_parent, **as_other(ALICE)) as ask:
            app, _ = starting(daemon, "photos")
            line = ask.stdout.readline()
            assert '"app":"photos"' in line and '"vouched":true' in line, line
            ask.stdin.write("what?\ny\n")
            ask.stdin.flush()
            app.wait("DidStartRunning")
            assert '"answer":"allow"' in ask.stdout.readline()
            out, error = ask.communicate(timeout=PATIENCE)
            assert ask.returncode == 0 and "“what?” is not an answer" in error, (out, error)
        with subprocess.Popen(
                [PROGRAMS / "camclient", "ask", "--address", daemon.address], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True, bufsize=1, preexec_fn=die_with_parent, **as_other(ALICE)) as ask:
            assert "waiting for questions" in ask.stderr.readline()
            wait_until("camclient to be asked", lambda: client(daemon, ALICE).call(BROKER, "GetStatus")[0]["speakers"][1])
            assert camclient(daemon, "apps", "deny", "sp\u202ey").returncode == 0
            line = ask.stdout.readline()
            assert line.startswith("sp?y was denied by ") and "(process " in line and "/camclient)" in line, line
            ask.communicate(timeout=PATIENCE)
        assert camclient(daemon, "apps", "forget", "sp\u202ey").returncode == 0
        assert camclient(daemon, "apps", "deny", "spy").returncode == 0
        said = camclient(daemon, "apps", "answers").stdout
        assert "allowed  photos  asked" in said and "denied   spy  (claimed)  said" in said, said
        assert camclient(daemon, "apps", "forget", "spy").returncode == 0
        assert "spy" not in camclient(daemon, "apps", "answers").stdout
        kept = daemon.answers.read_text()
        daemon.answers.write_text("nonsense\n" + kept + "allow vouched")
        daemon.restart()
        assert "allowed  photos  asked" in camclient(daemon, "apps", "answers").stdout
        assert "line 1 is passed over" in daemon.said() and "line 3 is passed over" in daemon.said(), daemon.said()
        daemon.answers.unlink()
        os.mkfifo(daemon.answers)
        daemon.restart()
        assert "Nothing is said of your apps." in camclient(daemon, "apps", "answers").stdout
        assert "is no regular file" in daemon.said(), daemon.said()
