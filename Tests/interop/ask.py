"""Users are asked about their apps: by which answers an app has cameras, which clients may give them, and what a desktop is shown."""
import contextlib, os, subprocess, time

import groups
from camclient import Running, camclient
from harness import BROKER, CAMERA, PATIENCE, SHELL, Daemon, claim, plain, spawn, wait_until

ALICE, BOB, STRANGER = 1000, 1001, 1002
ASKS = 'name = "asks"\n[access]\napps = "ask"\nusers = [1000, 1001]\n[contention]\ntie = "newcomer"\n'
ASKS_NOBODY = ASKS.replace('apps = "ask"\n', "")


@contextlib.contextmanager
def broker(policy=ASKS, **options):
    """A camarbd with a policy of these tests' own."""
    with Daemon(policy, **options) as daemon:
        daemon.answers = daemon.directory / "camarb" / "answers" / str(ALICE)
        yield daemon


def asked(daemon, user=ALICE):
    one = daemon.app(user=user)
    one.call(SHELL, "WatchQuestions", "b", True)
    return one


def starting(daemon, name, user=ALICE):
    app = daemon.app(name, user)
    session = app.session()
    session.start()
    return app, session


def is_private(daemon, user=ALICE):
    return daemon.app(user=user).status()["ownPrivacy"]


@claim("an app that nothing is said of waits for its user's word, and no other user's; a no stops it and refuses its next start, as an "
       "explanation says; what is taken back is asked anew")
def denied():
    with broker() as daemon:
        begun = time.monotonic()
        app, session = starting(daemon, "photos")
        app.is_interrupted("waiting-for-permission")
        # Who comes to ask is told the question that stands, and what is left of its time, in whole seconds.
        agent, other = asked(daemon), asked(daemon, BOB)
        question, name, vouched, program, camera, seconds = agent.wait("Question")
        assert (name, vouched, program) == ("photos", True, os.readlink(f"/proc/{os.getpid()}/exe")) and camera, (name, vouched, program)
        assert 29 - (time.monotonic() - begun) < seconds <= 30, seconds
        assert "asks about the apps of user 1000 already" in daemon.app(user=ALICE).refusal(SHELL, "WatchQuestions", "b", True).message
        for call in (("AnswerQuestion", "us", question, "allow"), ("StopApp", "s", f"photos@{ALICE}")):
            assert other.refusal(SHELL, *call).error == "NotTrusted", call
        agent.call(SHELL, "AnswerQuestion", "us", question, "deny")
        assert app.wait("SessionStopped")[2:4] == ("denied-by-user", "access: the user said no")
        assert "is over" in agent.refusal(SHELL, "AnswerQuestion", "us", question, "deny").message
        error = app.refusal(session.at, "StartRunning")
        assert error.error == "AccessDenied" and "camclient apps allow" in str(error), error
        _, verdicts = daemon.app().call(BROKER, "Explain", "t", 0)
        assert verdicts[0]["read"][1] == ['answer = "deny"'], verdicts
        assert any("answer" in turn and "allow" in turn for turn in verdicts[0]["changedBy"][1]), verdicts
        agent.call(SHELL, "SetAnswer", "sbs", "photos", True, "")
        session.start()
        assert agent.wait("Question")[0] == question + 1


@claim("whoever speaks for a user is told who answered for an app without being asked; who answered is not told its own word")
def told_who():
    with broker() as daemon:
        agent, shell = asked(daemon), daemon.app(user=ALICE)
        shell.call(SHELL, "Attach", "s", "agent")
        # The same again changes nothing.
        for _ in range(2):
            daemon.app("notes", ALICE).call(SHELL, "SetAnswer", "sbs", "spy", False, "deny")
        assert agent.wait("AnswerChanged")[:4] == ("spy", False, "deny", "notes")
        # A word of root's for an app of hers: who root's programs are is not for her.
        daemon.app().call(SHELL, "SetAnswer", "sbs", f"photos@{ALICE}", True, "deny")
        assert agent.wait("AnswerChanged") == ("photos", True, "deny", "another user's app", 0, "")
        # What was answered where it was asked is known there, and told to the other one.
        app, _ = starting(daemon, "books")
        agent.call(SHELL, "AnswerQuestion", "us", agent.wait("Question")[0], "allow")
        app.wait("DidStartRunning")
        for name in ("spy", "photos", "books"):
            assert shell.wait("AnswerChanged")[0] == name
        agent.poll(0.1)
        assert len(agent.heard("AnswerChanged")) == 2, agent.signals


@claim("what the permission store denies is refused and stopped by a rule of that name")
def permission_store():
    with broker(ASKS_NOBODY) as daemon:
        agent = daemon.app(user=ALICE)
        assert agent.refusal(SHELL, "SetDenied", "as", ["photos"]).error == "NotTrusted"
        agent.call(SHELL, "Attach", "s", "agent")
        app, session = starting(daemon, "photos")
        app.wait("DidStartRunning")
        agent.call(SHELL, "SetDenied", "as", ["photos", *(f"other-{number}" for number in range(200))])
        assert app.wait("SessionStopped")[2:4] == ("denied-by-user", "denied in the portal's permission store")
        error = app.refusal(session.at, "StartRunning")
        assert error.error == "AccessDenied" and "denied in the portal's permission store" in str(error), error
        (answers,) = agent.call(SHELL, "ListAnswers")
        assert len(answers) == 201 and {one["from"][1] for one in answers} == {"permission-store"}
        agent.call(SHELL, "SetDenied", "as", [])
        session.runs()
        assert agent.call(SHELL, "ListAnswers") == ([],)
        assert agent.refusal(SHELL, "SetDenied", "as", ["x"] * 1025).error == "LimitExceeded"


def kept(daemon):
    """Answers that are in memory, of all users, as root is told."""
    return sum(one["used"][1] for one in daemon.app().status()["budgets"] if one["resource"][1] == "answers" and "user" not in one)


@claim("a user who may use no camera says nothing of apps: each call is refused with the rule, and nothing is kept")
def without_right():
    with broker() as daemon:
        one = daemon.app(user=STRANGER)
        one.call(SHELL, "Attach", "s", "agent")
        for call in (("SetAnswer", "sbs", "photos", True, "allow"), ("SetDenied", "as", ["photos"]),
                     ("SetOwnPrivacy", "b", True), ("ListAnswers",)):
            error = one.refusal(SHELL, *call)
            assert error.error == "AccessDenied" and "no right to any camera" in error.message, (call, error)
            assert "Because “access: no right to the camera”" in error.message, (call, error)
        assert kept(daemon) == 0 and not daemon.answers.parent.exists(), list(daemon.answers.parent.iterdir())


@claim("what a user said is in memory while the user has a client, and counts again for the next one; root's is kept as anybody's")
def comes_back():
    with broker() as daemon:
        agent = daemon.app(user=ALICE)
        for number in range(40):
            agent.call(SHELL, "SetAnswer", "sbs", f"other-{number}", True, "allow")
        agent.call(SHELL, "SetAnswer", "sbs", "photos", True, "deny")
        agent.call(SHELL, "SetOwnPrivacy", "b", True)
        assert kept(daemon) == 42, kept(daemon)
        agent.close()
        wait_until("the broker to forget", lambda: kept(daemon) == 0)
        error = daemon.app("photos", ALICE).session().refusal("StartRunning")
        assert error.error == "AccessDenied" and "the user said no" in error.message, error
        assert kept(daemon) == 42 and is_private(daemon, ALICE) and not is_private(daemon, 0)
        daemon.app().call(SHELL, "SetOwnPrivacy", "b", True)
        daemon.restart()
        assert is_private(daemon, ALICE) and is_private(daemon, 0) and not is_private(daemon, BOB)


SANDBOXES = ("app-flatpak-org.example.Mirror-1.scope", "snap.mirror.mirror-3dcfaa86-60a3-4a4f-9f83-4b83a6f4a7c1.scope",
             "libpod-1.scope")


def inside(group, daemon, member, *typed):
    """What a program of Alice's in that control group is told when it calls."""
    caller = spawn(
        "sh", "-c", 'read go; exec "$@"', "sh", "busctl", f"--address={daemon.address}", "call", "org.camarb", SHELL.object_path,
        SHELL.interface, member, *typed, user=ALICE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
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


@claim("a desktop is shown which app has a camera, since when and which ones wait, is told once that this changed, and of each "
       "recording that was cut")
def use():
    with broker(ASKS_NOBODY) as daemon:
        agent = asked(daemon)
        assert agent.call(SHELL, "ListUse") == ([],)
        assert daemon.app(user=ALICE).refusal(SHELL, "ListUse").error == "NotTrusted"
        app, session = daemon.running("photos", user=ALICE)

        def camera_when(is_so):
            """The only camera's use, as soon as it is so."""
            while True:
                agent.wait("UseChanged")
                ((camera,),) = agent.call(SHELL, "ListUse")
                if is_so(camera := plain(camera)):
                    return camera

        agent.wait("UseChanged")
        session.records(daemon.directory / "cut.mkv")
        agent.poll(0.1)
        assert len(agent.heard("UseChanged")) == 1
        camera = plain(agent.call(SHELL, "ListUse")[0][0])
        assert camera["holder"] == "photos" and camera["own"] and camera["recording"] and not camera["waiting"], camera
        since = camera["since"]
        daemon.app("mirror", BOB).session().start()
        app.wait("WasInterrupted")
        cut = agent.wait("RecordingCut")
        assert cut == ("photos", CAMERA, "another user's app", "video-device-in-use-by-another-client"), cut
        # Told of the cut first, when nobody has the camera, and of the next holder where it was asked in between.
        camera = camera_when(lambda camera: camera["holder"] == "another user's app")
        assert not camera["own"] and not camera["recording"], camera
        (waiting,) = camera["waiting"]
        assert waiting["app"][1] == "photos" and waiting["since"][1] >= since, (waiting, since)
        app.close()
        camera_when(lambda camera: not camera["waiting"])


@claim("camclient asks on a terminal, and lists, gives and takes back answers, which count for the next broker; a damaged line is said and "
       "loses only itself, and what cannot be read is left as it is")
def terminal():
    with broker() as daemon:
        def apps(*words):
            return camclient(daemon, "apps", *words, user=ALICE).stdout

        with Running(daemon, "ask", "--json", user=ALICE) as ask:
            app, _ = starting(daemon, "photos")
            line = ask.process.stdout.readline()
            assert '"app":"photos"' in line and '"vouched":true' in line, line
            ask.type("what?\ny")
            app.wait("DidStartRunning")
            assert '"answer":"allow"' in ask.process.stdout.readline()
            assert "“what?” is not an answer" in ask.end()[1]
        with Running(daemon, "ask", user=ALICE) as ask:
            assert "waiting for questions" in ask.process.stderr.readline()
            wait_until("camclient to be asked", lambda: daemon.app(user=ALICE).status()["speakers"])
            apps("deny", "sp\u202ey")
            line = ask.process.stdout.readline()
            assert line.startswith("sp?y was denied by ") and "(process " in line and "/camclient)" in line, line
            ask.end(None)
        apps("forget", "sp\u202ey")
        apps("deny", "spy")
        said = apps("answers")
        assert "allowed  photos  asked" in said and "denied   spy  (claimed)  said" in said, said
        apps("forget", "spy")
        assert "spy" not in apps("answers")
        daemon.answers.write_text("nonsense\n" + daemon.answers.read_text() + "allow vouched")
        assert daemon.answers.stat().st_mode & 0o777 == 0o600
        daemon.restart()
        assert "allowed  photos  asked" in apps("answers")
        starting(daemon, "photos")[0].wait("DidStartRunning")
        assert "line 1 is passed over" in daemon.said() and "line 3 is passed over" in daemon.said(), daemon.said()
        daemon.answers.unlink()
        os.mkfifo(daemon.answers)
        daemon.restart()
        assert "Nothing is said of your apps." in apps("answers")
        # What she says counts while she has a client.
        asked(daemon)
        apps("deny", "spy")
        assert "denied   spy" in apps("answers")
        assert "is not a regular file" in daemon.said() and daemon.answers.is_fifo(), daemon.said()
