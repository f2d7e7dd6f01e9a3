"""What people meet at a terminal: commands that say what is so, and refuse at once what cannot be meant."""
import contextlib, fcntl, json, os, pathlib, pty, re, select, signal, struct, subprocess, sys, tempfile, termios

from camclient import PROGRAM, Running, camclient, commands
from harness import COMPUTING_PATIENCE, PATIENCE, PROGRAMS, ROOT, Daemon, Refused, as_other, as_user, claim, die_with_parent, wait_until
from shells import PLAIN, completing, hostile_words, installed

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
        assert told[3] == ["video-device-not-available-in-background"], told
        said = camclient(daemon, "status").stdout
        assert "has left: every app counts as background" in said and "counts as foreground" not in said, said
        status = json.loads(camclient(daemon, "status", "--json").stdout)
        assert [entry["standing"] for entry in status["placements"]] == ["lost"], status["placements"]
        why = camclient(daemon, "explain").stdout
        assert "what the shell that left had said holds no more" in why, why
        assert 'changed by: presence = "foreground", as the shell that left could say (is "background")' in why, why


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


@claim("explain says that it would be enough if the holder stopped, and names it to users that may know it")
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


@claim("an option that a photo or a recording does not have is refused at once, by name, with those that there are")
def options():
    with Daemon() as daemon:
        app = daemon.app("photos")
        session = app.session()
        session.start()
        app.wait("DidStartRunning")

        def refused(member, options):
            with open(daemon.directory / "file", "w+b") as file:
                try:
                    session.call(member, "ha{sv}", file, options)
                except Refused as refusal:
                    return refusal.message
            raise AssertionError(f"{member} took {options}")

        assert "A photo has no option “quality”, which is 90; it takes none: what it is like is the session's configuration." in refused("CapturePhoto", {"quality": ("u", 90)})
        said = refused("StartRecording", {"maxSize": ("t", 1 << 20)})
        assert "“maxSize”" in said and "maxDuration, maxBytes, minFreeBytes" in said, said
        assert "bytes from 262144" in refused("StartRecording", {"maxBytes": ("t", 5)})
        assert not {"RecordingStarted", "PhotoCaptured", "RuntimeError"} & set(app.names()), app.names()


@claim("photo - is the picture on standard output and nothing beside it, and record - says what to do instead")
def to_output():
    with Daemon() as daemon, tempfile.TemporaryDirectory(prefix="camarb-test.") as folder:
        done = subprocess.run(
            [PROGRAM, "photo", "-", "--address", daemon.address], cwd=folder, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=PATIENCE * 2, preexec_fn=die_with_parent)
        assert done.returncode == 0, done.stderr
        assert done.stdout[:2] == b"\xff\xd8" and done.stdout[-2:] == b"\xff\xd9", done.stdout[:20]
        assert f"{len(done.stdout)} bytes" in done.stderr.decode(), done.stderr
        assert not os.listdir(folder), os.listdir(folder)
        assert "name a file" in camclient(daemon, "record", "-", status=2).stderr
        assert "name a file" in camclient(daemon, "run", "start", "photo -", status=2).stderr


@claim("a file whose name promises another format than is written is made with a warning that says what is written")
def formats():
    with Daemon() as daemon:
        film = daemon.directory / "visit.avi"
        said = camclient(daemon, "record", str(film), "-d", "200ms").stderr
        assert "will be Matroska" in said and "visit.mkv" in said, said
        assert film.read_bytes()[:4] == b"\x1a\x45\xdf\xa3"
        for ending in ("mp4", "mov"):
            film = daemon.directory / f"visit.{ending}"
            said = camclient(daemon, "record", str(film), "-d", "200ms").stderr
            assert "will be" not in said and film.read_bytes()[4:8] == b"ftyp", (said, film.read_bytes()[:16])
        quiet = camclient(daemon, "record", str(daemon.directory / "visit.2026"), "-d", "200ms").stderr
        assert "Matroska" not in quiet, quiet


@claim("watch shows the id of each decision that told somebody something, and explain takes it")
def ids():
    with Daemon() as daemon:
        with Running(daemon, "watch") as watch:
            other = daemon.app("other")

            def hears():
                other.session().call("Close")
                return select.select([watch.process.stdout], [], [], 0.1)[0]

            wait_until("watch to hear something", hears)
            app = daemon.app("photos")
            app.session().start()
            app.wait("DidStartRunning")
            lines = []
            for line in watch.process.stdout:
                lines.append(line)
                if "didStartRunning" in line:
                    break
            decision = [line for line in lines if line.startswith("# decision ")][-1].split()[-1]
            watch.process.send_signal(signal.SIGINT)
            watch.end(0)
        assert "photos: granted" in camclient(daemon, "explain", decision).stdout
        # Times are a person's; what a recorder says is in force is its own.
        times = [word for line in lines for word in line.split() if re.fullmatch(r"[0-9.]+s", word)]
        assert times and all(re.fullmatch(r"[0-9]+(\.[0-9]{1,3})?s", time) for time in times), times


@claim("a subcommand that there is not is answered with the nearest one")
def nearest():
    assert "did you mean “status”?" in camclient(None, "stauts", status=2).stderr
    assert "did you mean “show”?" in camclient(None, "policy", "shwo", status=2).stderr
    assert "did you mean" not in camclient(None, "frobnicate", status=2).stderr


@claim("a second camarbd on a socket says that one listens there, and which process it is")
def second():
    with Daemon() as daemon:
        done = subprocess.run(
            [PROGRAMS / "camarbd", "--socket", daemon.path, "--system-bus", ""], capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=PATIENCE, preexec_fn=die_with_parent)
        assert done.returncode == 1, done
        assert f"camarbd (process {daemon.process.pid}) listens already" in done.stderr, done.stderr
        camclient(daemon, "status")


@claim("what a camera's device failed of is said by photo and record, by status and by the journal")
def failing():
    with tempfile.TemporaryDirectory(prefix="camarb-test.") as folder:
        recorder = pathlib.Path(folder) / "failing"
        recorder.write_text(f'#!/bin/sh\nexec "{PROGRAMS}/camrecorder" --fault open-fails "$@"\n')
        recorder.chmod(0o755)
        with Daemon(extra=("--recorder", recorder)) as daemon:
            wait_until("the camera", lambda: json.loads(camclient(daemon, "status", "--json").stdout)["cameras"])
            photo = camclient(daemon, "photo", f"{folder}/a.jpg", "--timeout", "500ms", status=1).stderr
            record = camclient(daemon, "record", f"{folder}/a.mkv", "--timeout", "500ms", status=1).stderr
            status = json.loads(camclient(daemon, "status", "--json").stdout)["cameras"][0]["fault"]
            assert status == "The device did not open, as it was told to.", status
            assert f"it failed: {status}" in camclient(daemon, "status").stdout
            for said in (photo, record):
                assert f"within 0.5 s: {status}" in said and f"device-error: {status}" in said, said
            journal = [line for line in daemon.log.read_text().splitlines() if "“front” failed: " in line]
            assert len(journal) == 1 and status in journal[0], journal


@claim("the completion of --camera offers the broker's cameras, and nothing where no broker answers")
def completion():
    script = camclient(None, "--generate-completion-script", "bash").stdout
    with Daemon(cameras=("front=simulated", "rear=none")) as daemon:
        def offered(socket):
            ask = (f"{script}\nexport CAMARB_SOCKET={socket}\nCOMP_WORDS=({PROGRAM} record --camera '')\nCOMP_CWORD=3\n"
                   f"COMP_LINE='{PROGRAM} record --camera '\nCOMP_POINT=${{#COMP_LINE}}\n"
                   f"_camclient {PROGRAM} '' --camera\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n")
            done = subprocess.run(
                ["bash", "-c", ask], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE,
                preexec_fn=die_with_parent)
            assert not done.stderr, done.stderr
            return done.stdout.split()
        assert offered(daemon.path) == ["front", "rear"], offered(daemon.path)
        assert offered("/nonexistent/socket") == [], offered("/nonexistent/socket")


@claim("whatever a broker calls its cameras, Tab runs nothing in bash, zsh and fish, and offers only what is called plainly")
def hostile_completion():
    with tempfile.TemporaryDirectory() as folder:
        installed(folder)
        mark = pathlib.Path(folder, "ran")
        words = hostile_words(mark)

        def look(words, **limits):
            for shell, line, offered in completing(folder, mark, words, **limits):
                assert not mark.exists(), f"{shell} ran what a camera is called behind “{line}”: {words}"
                if shell == "bash":
                    assert offered == [PLAIN], (line, offered)
                else:
                    assert str(mark) not in offered[0], (shell, line, offered)

        look(words)
        # And alone: one that a shell takes for nonsense keeps it from the others.
        for word in (word for word in words if str(mark) in word):
            look([word], names=["bash"], lines=["camclient record --camera "])
        # Words that others say come into completions by one function, which leaves out what is not plain.
        sources = (ROOT / "Sources" / "camclient").rglob("*.swift")
        said = [line for file in sources for line in file.read_text().splitlines() if re.search(r"\.(custom|shellCommand)\b", line)]
        assert len(said) == 1 and "filter(PlainWord.isOne)" in said[0], said


@claim("where anybody may listen, as in /tmp, camclient talks to a broker of root's or of its own user's alone, and says whose another one is")
def strange_listener():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o1777)
        path = pathlib.Path(folder, "socket")
        listen = ("import os, socket, sys\nlistener = socket.socket(socket.AF_UNIX)\nlistener.bind(sys.argv[1])\nlistener.listen()\n"
                  "os.chmod(sys.argv[1], 0o777)\nsys.stdin.read()\n")

        @contextlib.contextmanager
        def listening(user):
            with subprocess.Popen([sys.executable, "-c", listen, path], stdin=subprocess.PIPE, preexec_fn=die_with_parent,
                                  **as_other(user)) as listener:
                wait_until("the socket", lambda: path.exists() and path.stat().st_mode & 0o777 == 0o777)
                yield
                listener.communicate()
            path.unlink()

        def refused(user):
            with subprocess.Popen([PROGRAM, "status", "--socket", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  preexec_fn=die_with_parent, **as_other(user)) as asking:
                try:
                    # This listener answers nobody, so whoever talks to it waits.
                    said = asking.communicate(timeout=2)[1]
                except subprocess.TimeoutExpired:
                    asking.kill()
                    return False
            assert asking.returncode == 3 and f"it is user {ALICE}: neither root nor you" in said, (asking.returncode, said)
            return True

        with listening(ALICE):
            assert refused(0) and refused(BOB) and not refused(ALICE)
        with listening(0):
            assert not refused(BOB)
        os.chmod(folder, 0o755)
        os.chown(folder, ALICE, ALICE)
        with listening(ALICE):
            assert not refused(BOB), "in a folder of a user's own others cannot listen in its place"


@claim("the manual of camclient has every option that its --help has")
def manual():
    manual = (ROOT / "docs" / "man" / "camclient.1").read_text().replace("\\-", "-")
    help = json.loads(camclient(None, "--experimental-dump-help").stdout)["command"]
    missing, seen = [], set()

    def look(command, path):
        for argument in command.get("arguments", []):
            for name in argument.get("names", []):
                # --camera is not --cameras.
                if name["kind"] == "long":
                    seen.add(name["name"])
                    if not re.search(f"--{re.escape(name['name'])}(?![a-z-])", manual):
                        missing.append(" ".join([*path, "--" + name["name"]]))
        for inner in command.get("subcommands", []):
            look(inner, [*path, inner["commandName"]])

    look(help, [])
    assert not missing, f"docs/man/camclient.1 lacks {', '.join(missing)}"
    assert {"camera", "keep-going", "min-coverage"} <= seen, seen


@claim("no line of camclient's help has more than 80 columns, and none of its tables and examples is broken in two")
def help_columns():
    seen = 0
    for path, arguments in commands():
        shown = subprocess.run([PROGRAM, *path, "--help"], capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"},
                               timeout=PATIENCE, preexec_fn=die_with_parent).stdout
        wide = [line for line in shown.splitlines() if len(line) > 80]
        assert not wide, (path, wide)
        seen += len(shown.splitlines())
    def look(command):
        texts = [command.get("discussion", ""), *(one.get("discussion", "") for one in command.get("arguments", []))]
        # What begins with spaces is a table or an example; a paragraph is one line, which is wrapped as a whole.
        torn = [line for text in texts for line in text.splitlines() if len(line) > 80 and line.startswith(" ")]
        assert not torn, (command["commandName"], torn)
        for inner in command.get("subcommands", []):
            look(inner)
    look(json.loads(camclient(None, "--experimental-dump-help").stdout)["command"])
    assert seen > 1000, seen
    return f"{seen} lines"


def on_terminal(words, columns, typed=b""):
    """What a program writes to a terminal of so many columns, until it ends."""
    keeper, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(words, stdin=terminal, stdout=terminal, stderr=terminal, preexec_fn=die_with_parent)
    os.close(terminal)
    if typed:
        os.write(keeper, typed)
    said = b""
    try:
        while select.select([keeper], [], [], COMPUTING_PATIENCE)[0]:
            said += os.read(keeper, 65536)
    except OSError:
        pass  # The terminal's other end is closed: the program has ended.
    finally:
        os.close(keeper)
        process.kill()
        process.wait()
    return said.decode(), process.returncode


@claim("the progress of policy verify fits the terminal, however narrow, and the verdict has a line of its own")
def progress_columns():
    for columns in (80, 40):
        said, _ = on_terminal([PROGRAM, "policy", "verify", str(ROOT / "policies" / "ipados16.toml"), "--max-time", "4s"], columns)
        # Each progress stands behind what clears its line, and ends at the next such or at the line's end.
        shown = [part.split("\r\n")[0] for part in said.split("\r\x1b[K")[1:]]
        progress = [part for part in shown if " states" in part and "world" in part and "NOT COMPLETE" not in part]
        assert progress and all(len(part) < columns for part in progress), (columns, [part for part in progress if len(part) >= columns])
        assert any(part.startswith("…") for part in progress), progress[:3]
        verdict = [part for part in said.replace("\r\x1b[K", "\n").splitlines() if "NOT COMPLETE" in part]
        assert verdict and verdict[0].startswith(str(ROOT / "policies" / "ipados16.toml")), verdict


@claim("camclient shell on a terminal has a prompt and help, and a slip is answered with what was probably meant")
def typed_shell():
    with Daemon() as daemon:
        said, status = on_terminal([PROGRAM, "shell", "--address", daemon.address], 80, b"help\nplase photos fullscreen\nprivacy on\n\x04")
        assert status == 0 and "help lists them" in said and "> " in said, (status, said)
        assert "override APP|none" in said and "did you mean “place”?" in said and "done" in said, said
        assert json.loads(camclient(daemon, "status", "--json").stdout)["privacy"] is True


@claim("an override of an app that nobody knows says so and is kept, and status shows the operator's choice")
def unknown_override():
    def override(daemon):
        told = json.loads(camclient(daemon, "status", "--json").stdout)
        return told["override"], told["overrideTrouble"]
    with Daemon(policy="kiosk", users=(ALICE, BOB)) as daemon:
        assert override(daemon) == (None, "") and "the operator has chosen" not in camclient(daemon, "status").stdout
        said = camclient(daemon, "shell", "override atract.service").stderr
        trouble = "no app named “atract.service” is connected or named in the policy; did you mean “attract.service”?"
        assert said == f"camclient: the override is kept, but {trouble}\n", said
        assert override(daemon) == ("atract.service", trouble)
        assert f"the operator has chosen atract.service, and nothing comes of it: {trouble}" in camclient(daemon, "status").stdout
        # Which app it is, is its user's affair.
        told = json.loads(camclient_of(ALICE, daemon, "status", "--json").stdout)
        assert (told["override"], told["overrideTrouble"]) == ("another user's app", ""), told
        # Of the policy's apps each may come.
        assert not camclient(daemon, "shell", "override attract.service").stderr
        assert override(daemon) == ("attract.service", "")
        # What root calls by name before anybody bears it is root's own.
        assert "no app named “photos” is connected" in camclient(daemon, "shell", "override photos").stderr
        with as_user(ALICE):
            photos = daemon.app("photos")
        photos.session().start()
        photos.wait("DidStartRunning")
        assert override(daemon) == ("photos", f"no app named “photos” of user 0 is connected; did you mean “photos@{ALICE}”?")
        assert not camclient(daemon, "shell", "override photos").stderr
        assert override(daemon)[1] == ""
        camclient(daemon, "shell", "override none")
        assert override(daemon) == (None, "")
    with Daemon(policy="ios9") as daemon:
        assert "no rule of the policy asks for the operator's choice" in camclient(daemon, "shell", "override photos").stderr


@claim("what is wrong with a request is said by its own sentence, and a verdict by its rule")
def no_rule_names():
    with Daemon() as daemon:
        for words in (["configure", "activeFormat=4k"], ["photo", "/dev/null", "--overwrite", "--camera", "attic"],
                      ["configure", "videoZoomFactor=1000"]):
            assert "Because" not in camclient(daemon, *words, status=4).stderr
        printed = camclient(daemon, "run", "start", "wait DidStartRunning", "status").stdout
        assert "activeVideoMaxFrameDuration=1/30" in printed and "exposureDuration=1/60" in printed, printed
        assert not re.search(r"[0-9]\.[0-9]{5,}", printed), printed
        assert "0.000013 to" in camclient(daemon, "controls").stdout


@claim("a scenario that does not come out says what a refusal said, and test --json has each difference and a summary")
def scenario_words():
    with tempfile.TemporaryDirectory(prefix="camarb-test.") as folder:
        policies = ["--policies", str(ROOT / "policies")]

        def tried(name, text, *flags, status=1):
            path = pathlib.Path(folder) / f"{name}.scenario"
            path.write_text(text)
            return camclient(None, "test", str(path), *policies, *flags, status=status).stdout, str(path)

        begin = "# A claim.\n\npolicy built-in\ncamera back\n\n0s   connect photos\n     session photos camera=back\n"
        said, _ = tried("range", begin + "     configure photos frameRate=999\n")
        assert "refused: " in said and "frameRate" in said.split("refused: ", 1)[1] and "999" in said, said
        policy = 'policy """\nname = "duties"\n[[attribute]]\nname = "duty"\nvalues = ["on-call", "off"]\n"""\n'
        said, _ = tried(
            "value", begin.replace("policy built-in\n", policy) + "     attribute photos duty asleep\n")
        assert "it has on-call, off" in said, said
        said, _ = tried(
            "late", begin + "     recorder back slow-open 2s\n     start photos\n       photos didStartRunning\n")
        assert "ends before that" in said and "“2s”" in said, said
        said, path = tried("json", begin + "     start photos\n       photos didStopRunning\n", "--json")
        lines = [json.loads(line) for line in said.splitlines()]
        assert lines[0]["differences"] == [
            {"file": path, "line": 9, "expected": ["       photos didStopRunning"],
             "got": ["       photos didStartRunning"]}], lines[0]
        assert lines[-1] == {"scenarios": 1, "passed": 0, "failed": 1, "unreadable": 0}, lines[-1]
        both = "     connect one app=photos user=1001\n     connect two app=photos user=1002\n"
        said, _ = tried("whose", "# A claim.\n\n0s   connect call\n" + both + "     presence photos fullscreen\n", status=2)
        assert "photos@1001 or photos@1002" in said, said
        said, _ = tried("include", '# A claim.\n\npolicy """\nname = "a"\ninclude = ["b.toml"]\n"""\n\n0s   connect photos\n', status=2)
        assert "is for files" in said, said
