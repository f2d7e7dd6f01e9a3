"""What people meet at a terminal: commands that say what is so, and refuse at once what cannot be meant."""
import contextlib, fcntl, os, pty, re, select, signal, socket, struct, subprocess, termios

from camclient import POLICIES, PROGRAM, Running, camclient, status, told, told_lines
from harness import (COMPUTING_PATIENCE, PROGRAMS, ROOT, Daemon, Folder, as_user, claim, listening, ran, refused, spawn, stopped,
                     wait_until)

ALICE, BOB = 4242, 4343


@claim("when a shell has left, status says what counts instead, and explain finds what ended its words and what would help")
def after_the_shell():
    with Daemon(policy="ios9") as daemon:
        photos, session = daemon.running("photos")
        assert "every app counts as foreground" in camclient(daemon, "status").stdout
        camclient(daemon, "shell", "place photos fullscreen")
        said = camclient(daemon, "status").stdout
        assert "holds a few seconds longer" in said and "counts as foreground" not in said, said
        photos.is_interrupted("video-device-not-available-in-background")
        said = camclient(daemon, "status").stdout
        assert "has left: every app counts as background" in said and "counts as foreground" not in said, said
        assert [entry["standing"] for entry in status(daemon)["placements"]] == ["lost"]
        why = camclient(daemon, "explain").stdout
        assert "what the shell that left had said holds no more" in why, why
        assert 'changed by: presence = "foreground", as the shell that left could say (is "background")' in why, why


@claim("another user's session is shown as running or interrupted, as its camera shows it, and as nothing more")
def of_others():
    with Daemon(users=(ALICE, BOB)) as daemon:
        _, session = daemon.running("photos", user=ALICE)
        (shown,) = status(daemon, user=BOB)["sessions"]
        assert shown["state"] == "running" and shown["app"] == "another user's app", shown
        assert not shown["rule"] and not shown["causes"] and not shown["rank"] and not shown["access"], shown
        waiting = daemon.app("booth", BOB)
        waiting.session().start()
        waiting.wait("WasInterrupted")
        # It would be enough if that one stopped, which has a name for root alone.
        (verdict,) = told(daemon, "explain", user=BOB)["verdicts"]
        assert verdict["stops"] == ["another user's app"] and "photos stops" in camclient(daemon, "explain").stdout, verdict
        waiting.close()
        session.stops()
        (shown,) = status(daemon, user=BOB)["sessions"]
        assert shown["state"] == "stopped", shown


@claim("explain of one's own app is answered after the app has ended, and is refused to others")
def after_the_app():
    with Daemon(users=(ALICE, BOB)) as daemon:
        camclient(daemon, "run", "--app", "photos", "start", "wait DidStartRunning", user=ALICE)
        why = camclient(daemon, "explain", user=ALICE).stdout
        assert "photos: granted" in why, why
        decision = told(daemon, "explain", user=ALICE)["decision"]
        assert "another user's apps" in camclient(daemon, "explain", decision, status=4, user=BOB).stderr


@claim("photo - is the picture on standard output and nothing beside it, and record - says what to do instead")
def to_output():
    with Daemon() as daemon, Folder() as folder:
        done = ran(PROGRAM, "photo", "-", "--address", daemon.address, cwd=folder, text=False)
        assert done.stdout[:2] == b"\xff\xd8" and done.stdout[-2:] == b"\xff\xd9", done.stdout[:20]
        assert f"{len(done.stdout)} bytes" in done.stderr.decode(), done.stderr
        assert not os.listdir(folder), os.listdir(folder)
        assert "name a file" in camclient(daemon, "record", "-", status=2).stderr
        assert "name a file" in camclient(daemon, "run", "start", "photo -", status=2).stderr


@claim("a file whose name promises another format than is written is made with a warning that says what is written")
def formats():
    with Daemon() as daemon:
        film = daemon.directory / "visit.avi"
        said = camclient(daemon, "record", film, "-d", "200ms").stderr
        assert "will be Matroska" in said and "visit.mkv" in said, said
        assert film.read_bytes()[:4] == b"\x1a\x45\xdf\xa3"
        quiet = [camclient(daemon, "record", daemon.directory / name, "-d", "200ms").stderr for name in ("visit.mov", "visit.2026")]
        assert "will be" not in "".join(quiet), quiet


@claim("watch shows the id of each decision that told somebody something, and explain takes it")
def ids():
    with Daemon() as daemon:
        with Running(daemon, "watch") as watch:
            other = daemon.app("other")

            def hears():
                other.session().call("Close")
                return select.select([watch.process.stdout], [], [], 0.1)[0]

            wait_until("watch to hear something", hears)
            app, _ = daemon.running("photos")
            lines = []
            for line in watch.process.stdout:
                lines.append(line)
                if "didStartRunning" in line:
                    break
            decision = [line for line in lines if line.startswith("# decision ")][-1].split()[-1]
            watch.end(how=signal.SIGINT)
        assert "photos: granted" in camclient(daemon, "explain", decision).stdout


@claim("a second camarbd does not take the socket of one that is there, nor wait for one that is too slow to answer, and says which "
       "process it is")
def second():
    with Daemon() as daemon:
        def is_refused(*words):
            said = ran(PROGRAMS / "camarbd", "--socket", daemon.path, "--system-bus", "", status=1).stderr
            assert all(word in said for word in words), said

        is_refused("in use", f"camarbd (process {daemon.process.pid}) listens already")
        camclient(daemon, "status")
        with contextlib.ExitStack() as waiting, stopped(daemon.process.pid):
            with contextlib.suppress(BlockingIOError):
                # Until its backlog is full.
                while True:
                    peer = waiting.enter_context(socket.socket(socket.AF_UNIX))
                    peer.setblocking(False)
                    peer.connect(str(daemon.path))
            is_refused("in use")

        def served():
            # It is still looking at those that gave up, which count until then.
            with contextlib.suppress(OSError):
                return daemon.app("photos").session()

        wait_until("camarbd to serve again", served)


@claim("what a camera's device failed of is said by photo and record, by status and by the journal")
def failing():
    with Folder() as folder:
        recorder = folder / "failing"
        recorder.write_text(f'#!/bin/sh\nexec "{PROGRAMS}/camrecorder" --fault open-fails "$@"\n')
        recorder.chmod(0o755)
        with Daemon(extra=("--recorder", recorder)) as daemon:
            wait_until("the camera", lambda: status(daemon)["cameras"])
            photo = camclient(daemon, "photo", folder / "a.jpg", "--timeout", "500ms", status=1).stderr
            record = camclient(daemon, "record", folder / "a.mkv", "--timeout", "500ms", status=1).stderr
            fault = status(daemon)["cameras"][0]["fault"]
            assert fault == "The device did not open, as it was told to.", fault
            assert f"it failed: {fault}" in camclient(daemon, "status").stdout
            for said in (photo, record):
                assert f"within 0.5 s: {fault}" in said and f"device-error: {fault}" in said, said
            journal = [line for line in daemon.log.read_text().splitlines() if "“front” failed: " in line]
            assert len(journal) == 1 and fault in journal[0], journal


@claim("words that others say come into camclient's completions by one function, which leaves out what is not plain")
def plain_words():
    folders = (ROOT / "Sources" / "Programs" / "camclient", ROOT / "Sources" / "Workbench" / "Commands")
    said = [line for folder in folders for file in folder.rglob("*.swift") for line in file.read_text().splitlines()
            if re.search(r"\.(custom|shellCommand)\b", line)]
    assert len(said) == 1 and "filter(PlainWord.isOne)" in said[0], said


@claim("where anybody may listen, as in /tmp, camclient talks to a broker of root's or of its own user's alone, and says whose "
       "another one is")
def strange_listener():
    with Folder() as folder:
        folder.chmod(0o1777)
        path = folder / "socket"
        @contextlib.contextmanager
        def listens(user):
            with as_user(user):
                listener = listening(path)
                path.chmod(0o777)
            with listener:
                yield
            path.unlink()

        def is_refused(user):
            try:
                # This listener answers nobody, so whoever talks to it waits.
                done = ran(PROGRAM, "status", "--socket", path, user=user, status=3, timeout=2)
            except subprocess.TimeoutExpired:
                return False
            assert f"it is user {ALICE}: neither root nor you" in done.stderr, done
            return True

        with listens(ALICE):
            assert is_refused(0) and is_refused(BOB) and not is_refused(ALICE)
        with listens(0):
            assert not is_refused(BOB)
        folder.chmod(0o755)
        os.chown(folder, ALICE, ALICE)
        with listens(ALICE):
            assert not is_refused(BOB), "in a folder of a user's own others cannot listen in its place"


def on_terminal(words, columns, typed=b"", **environment):
    """What a program writes to a terminal of so many columns, until it ends."""
    keeper, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = spawn(*words, stdin=terminal, stdout=terminal, stderr=terminal, env={**os.environ, **environment})
    os.close(terminal)
    if typed:
        os.write(keeper, typed)
    said = b""
    # An error is that the terminal's other end is closed: the program has ended.
    with contextlib.suppress(OSError):
        while select.select([keeper], [], [], COMPUTING_PATIENCE)[0]:
            said += os.read(keeper, 65536)
    os.close(keeper)
    process.kill()
    process.wait()
    return said.decode(), process.returncode


@claim("the progress of policy verify fits the terminal, however narrow, and the verdict has a line of its own")
def progress_columns():
    policy = str(ROOT / "policies" / "ipados16.toml")
    for columns in (80, 40):
        said, _ = on_terminal([PROGRAM, "policy", "verify", policy, "--max-time", "4s"], columns)
        # Each progress stands behind what clears its line, and ends at the next such or at the line's end.
        shown = [part.split("\r\n")[0] for part in said.split("\r\x1b[K")[1:]]
        progress = [part for part in shown if " states" in part and "world" in part and "NOT COMPLETE" not in part]
        assert progress and all(len(part) < columns for part in progress), (columns, [part for part in progress if len(part) >= columns])
        assert any(part.startswith("…") for part in progress), progress[:3]
        verdict = [part for part in said.replace("\r\x1b[K", "\n").splitlines() if "NOT COMPLETE" in part]
        assert verdict and verdict[0].startswith(policy), verdict


@claim("what camclient lists fits the terminal: what a row is too long for stands below its last column, and on a pipe beside it")
def narrow_lists():
    with Daemon() as daemon:
        for words in (("formats",), ("controls",), ("devices",)):
            piped = camclient(daemon, *words).stdout
            said, ended = on_terminal([PROGRAM, *words, "--address", daemon.address], 80)
            rows = said.split("\r\n")
            assert ended == 0 and all(len(row) <= 80 for row in rows), (words, max(rows, key=len))
            assert said.split() == piped.split(), (words, said, piped)
        assert max(map(len, camclient(daemon, "formats").stdout.splitlines())) > 150


@claim("camclient shell has its prompt and help also on a terminal that cannot move its cursor")
def dumb_terminal():
    with Daemon() as daemon:
        said, ended = on_terminal([PROGRAM, "shell", "--address", daemon.address], 80,
                                  b"help\nplase photos fullscreen\nprivacy on\n\x04", TERM="dumb")
        assert ended == 0 and "help lists them" in said and "> " in said, (ended, said)
        assert "override APP|none" in said and "did you mean “place”?" in said and "done" in said, said
        assert status(daemon)["privacy"] is True


@claim("an override of an app that nobody knows says so and is kept, and status shows the operator's choice")
def unknown_override():
    def override(daemon, user=None):
        shown = status(daemon, user=user)
        return shown["override"], shown["overrideTrouble"]

    with Daemon(policy="kiosk", users=(ALICE, BOB)) as daemon:
        assert override(daemon) == (None, "") and "the operator has chosen" not in camclient(daemon, "status").stdout
        trouble = "no app named “atract.service” is connected or named in the policy; did you mean “attract.service”?"
        said = camclient(daemon, "shell", "override atract.service").stderr
        assert said == f"camclient: the override is kept, but {trouble}\n", said
        assert override(daemon) == ("atract.service", trouble)
        assert f"the operator has chosen atract.service, and nothing comes of it: {trouble}" in camclient(daemon, "status").stdout
        # Which app it is, is its user's affair.
        assert override(daemon, ALICE) == ("another user's app", "")
        # Of the policy's apps each may come.
        assert not camclient(daemon, "shell", "override attract.service").stderr
        assert override(daemon) == ("attract.service", "")
        # What root calls by name before anybody bears it is root's own.
        camclient(daemon, "shell", "override photos")
        daemon.running("photos", user=ALICE)
        assert override(daemon) == ("photos", f"no app named “photos” of user 0 is connected; did you mean “photos@{ALICE}”?")
        camclient(daemon, "shell", "override none")
        assert override(daemon) == (None, "")


@claim("what is wrong with a request is said by its own sentence, an option that there is not too, and a verdict by its rule, once")
def no_rule_names():
    with Daemon() as daemon:
        for words in (["configure", "activeFormat=4k"], ["photo", "/dev/null", "--overwrite", "--camera", "attic"],
                      ["configure", "videoZoomFactor=1000"]):
            assert "Because" not in camclient(daemon, *words, status=4).stderr
        printed = camclient(daemon, "run", "start", "wait DidStartRunning", "status").stdout
        assert "activeVideoMaxFrameDuration=1/30" in printed and "exposureDuration=1/60" in printed, printed
        assert not re.search(r"[0-9]\.[0-9]{5,}", printed), printed
        assert "0.000013 to" in camclient(daemon, "controls").stdout
        session, file = daemon.app("photos").running(), daemon.directory / "file"
        refused(lambda: session.photo(file, quality=("u", 90)),
                "A photo has no option “quality”, which is 90; it takes none: what it is like is the session's configuration.")
        refused(lambda: session.record(file, maxSize=("t", 1 << 20)), "“maxSize”", "maxDuration, maxBytes, minFreeBytes")
    with Daemon('name = "refusing"\n[contention]\ntie = "holder"\nnewcomer = "refuse"\n') as daemon:
        daemon.running("notes")
        said = refused(daemon.app("photos").session().start).message
        assert said.lower().count("because") == 1 and "notes has it" in said, said


@claim("a scenario that does not come out says what a refusal said, and test --json has each difference and a summary")
def scenario_words():
    begin = "# A claim.\n\npolicy built-in\ncamera back\n\n0s   connect photos\n     session photos camera=back\n"
    duties = 'policy """\nname = "duties"\n[[attribute]]\nname = "duty"\nvalues = ["on-call", "off"]\n"""\n'
    both = "     connect one app=photos user=1001\n     connect two app=photos user=1002\n"
    with Folder() as folder:
        path = folder / "tried.scenario"
        for text, ended, *words in (
                (begin + "     configure photos frameRate=999\n", 1, "refused: ", "frameRate", "999"),
                (begin.replace("policy built-in\n", duties) + "     attribute photos duty asleep\n", 1, "it has on-call, off"),
                (begin + "     recorder back slow-open 2s\n     start photos\n       photos didStartRunning\n",
                 1, "ends before that", "“2s”"),
                ("# A claim.\n\n0s   connect call\n" + both + "     presence photos fullscreen\n", 2, "photos@1001 or photos@1002"),
                ('# A claim.\n\npolicy """\nname = "a"\ninclude = ["b.toml"]\n"""\n\n0s   connect photos\n', 2, "is for files")):
            path.write_text(text)
            said = camclient(None, "test", path, *POLICIES, status=ended).stdout
            assert all(word in said for word in words), said
        path.write_text(begin + "     start photos\n       photos didStopRunning\n")
        first, *_, last = told_lines(None, "test", path, *POLICIES, status=1)
        assert first["differences"] == [{"file": str(path), "line": 9, "expected": ["       photos didStopRunning"],
                                         "got": ["       photos didStartRunning"]}], first
        assert last == {"scenarios": 1, "passed": 0, "failed": 1, "unreadable": 0}, last
