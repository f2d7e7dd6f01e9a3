"""camclient from outside: its exit statuses, its logs, and what it does when it is interrupted."""
import json, os, re, select, signal, subprocess, xml.etree.ElementTree

from harness import (CAMERA, COMPUTING_PATIENCE, PATIENCE, PROGRAMS, ROOT, SHELL, SIMULATED, Daemon, Ended, Folder, claim, played, ran,
                     spawn, wait_until)

PROGRAM = str(PROGRAMS / "camclient")
POLICIES = ("--policies", ROOT / "policies")


def camclient(daemon, *words, status=0, typed="", user=None, **options):
    address = ["--address", daemon.address] if daemon else []
    return ran(PROGRAM, *words, *address, status=status, input=typed, user=user, timeout=COMPUTING_PATIENCE, **options)


def told(daemon, *words, **options):
    return json.loads(camclient(daemon, *words, "--json", **options).stdout)


def told_lines(daemon, *words, **options):
    """The same of one that says a value a line."""
    return [json.loads(line) for line in camclient(daemon, *words, "--json", **options).stdout.splitlines()]


def status(daemon, **options):
    return told(daemon, "status", **options)


class Running(Ended):
    def __init__(self, daemon, *words, user=None):
        self.process = spawn(PROGRAM, *words, "--address", daemon.address, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, bufsize=1, user=user)
        self.lines = []

    def type(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def do(self, line, /, **values):
        """Types a command, and waits for a line with these values, or for the one that says that it is done."""
        self.type(line)
        return self.wait(**values or {"command": line})

    def wait(self, **values):
        for line in self.process.stdout:
            self.lines.append(line)
            report = json.loads(line)
            if all(report.get(key) == value for key, value in values.items()):
                return report
        raise AssertionError(f"camclient ended before {values}: {''.join(self.lines)}{self.process.stderr.read()}")

    def end(self, status=0, how=None):
        """Waits for its end, for which it is sent a signal where one is given."""
        if how:
            self.process.send_signal(how)
        out, error = self.process.communicate(timeout=PATIENCE)
        assert status in (None, self.process.returncode), f"ended with {self.process.returncode}, not {status}: {out}{error}"
        return out, error


def until_frames(file):
    """The header and the room for an index are there at once; what comes after them is frames."""
    wait_until("the recording's first frames", lambda: file.exists() and file.stat().st_size > 500_000)


@claim("camclient's exit status is the documented one for each way to end")
def exit_statuses():
    with Daemon() as daemon:
        camclient(daemon, "status")
        camclient(daemon, "run", "start", "wait DidStartRunning")
        camclient(daemon, "run", "start", "wait RampFinished 50ms", status=1)
        assert "not a command" in camclient(daemon, "run", "fly", status=2).stderr
        assert "finite number" in camclient(daemon, "configure", "frameRate=fast", status=2).stderr
        camclient(daemon, "devices", "--colour", status=2)
        assert [one["camera"] for one in told_lines(daemon, "devices")] == [CAMERA]
        camclient(daemon, "formats", "attic", status=4)
        camclient(daemon, "run", "stop")  # a stop of a session that does not run is no error
        target = daemon.directory / "photo.jpg"
        target.write_text("mine")
        camclient(daemon, "photo", target, status=5)
        assert target.read_text() == "mine", "a file that was there has changed"
        camclient(daemon, "photo", target, "--overwrite")
        assert target.read_bytes()[:2] == b"\xff\xd8"
    camclient(None, "status", "--address", "/nonexistent/socket", status=3)
    with Folder() as folder:
        assert f"{folder} is not a socket" in camclient(None, "status", "--address", folder, status=3).stderr
    camclient(None, "status", "--address", "tcp:host=localhost", status=2)


def commands():
    """The words of each command, and the arguments that its --help has."""
    def look(command, path):
        yield path, command.get("arguments", [])
        for inner in command.get("subcommands", []):
            yield from look(inner, [*path, inner["commandName"]])
    return list(look(json.loads(camclient(None, "--experimental-dump-help").stdout)["command"], []))


# What an argument is called in --help that is the path of a file or folder.
PATHS = {"file", "folder", "dir", "path", "log", "scenario"}
# Read where a scenario names a policy, which is then what is wrong with the scenario.
NOT_READ_BY_ITSELF = {"policies"}
# What else a command needs to come as far as the file.
BESIDE = {
    "watch": ["-d", "50ms"], "preview": ["--frames", "1"], "timeline": [], "record": ["-d", "200ms"],
    "trace record": ["-d", "50ms"], "policy verify": ["--clients", "1", "--cameras", "1", "--max-states", "10"],
    "policy diff": ["--clients", "2", "--cameras", "1", "--depth", "6"], "policy load": ["--yes"],
    "policy report": ["--clients", "1", "--cameras", "1", "--max-time", "500ms"],
    "policy test --save": ["--suggest", "--clients", "1", "--cameras", "1", "--max-states", "200"],
}


@claim("a file or folder that cannot be read or written ends every command that takes one with 5")
def missing_files():
    # The broker's own trace begins with its first step, and one that camclient records after that may not.
    with Folder() as folder, Daemon(extra=("--trace", folder / "a.trace")) as daemon:
        camera, scenario, trace = ROOT / "cameras" / "uvc-webcam.toml", daemon.directory / "a.scenario", folder / "a.trace"
        scenario.write_text("# A claim.\n\npolicy kiosk.toml\n\n0s   connect photos\n     session photos\n     start photos\n")
        policies = [ROOT / "policies" / f"{name}.toml" for name in ("kiosk", "ios9")]
        there = {"policy": policies, "test": [scenario], "timeline": [scenario], "trace": [trace], "camera": [camera],
                 "policy test": [scenario]}
        tried, missing_file = set(), daemon.directory / "none" / "file"
        for path, arguments in commands():
            name, files = " ".join(path), [one for one in arguments if one.get("valueName") in PATHS and one["kind"] != "flag"]
            is_asking = any(one.get("valueName") == "socket" for one in arguments)
            for missing in files:
                option = missing["names"][-1]["name"] if missing.get("names") else None
                if option in NOT_READ_BY_ITSELF:
                    continue
                words, positions = list(path), iter(there.get(name) or there.get(path[0]) or [daemon.directory / "new"])
                for one in files:
                    # Of several files the one that is missing comes in each place; --from, --into and --policy stand in for others.
                    if not one.get("names"):
                        here = next(positions, None)
                        if one is missing:
                            words.append(missing_file)
                        elif option not in ("from", "into"):
                            words.append(here)
                    elif one is missing or not one["isOptional"]:
                        flag = one["names"][0]
                        words.append(("--" if flag["kind"] == "long" else "-") + flag["name"])
                        words.append(missing_file if one is missing else daemon.directory / "page.html")
                if option == "policy-dir" and name in ("plan", "trace replay", "trace convert"):
                    words += ["--policy", policies[0]]
                if (name == "policy test" and option not in ("save", "policy-dir")
                        or "policies" in [flag["name"] for one in files for flag in one.get("names", [])]):
                    words += POLICIES
                words += BESIDE.get(f"{name} --{option}", BESIDE.get(name, []))
                said = camclient(daemon if is_asking else None, *words, status=5)
                assert "none" in said.stdout + said.stderr, (words, said)
                tried.add(name)
        assert {"photo", "test", "timeline", "policy check", "policy play", "policy verify", "camera check", "plan"} <= tried, tried
        # Whatever else is wrong in other files.
        broken = daemon.directory / "broken.toml"
        broken.write_text("name = 1\n")
        camclient(None, "policy", "check", broken, status=1)
        assert "it takes" in camclient(None, "policy", "check", broken, missing_file, status=5).stdout
    return f"{len(tried)} commands"


@claim("the manual of camclient has each command, option and exit status that its help has, and troff nothing to say of it; no line of the "
       "help has more than 80 columns, and none of its tables and examples is broken in two")
def manual():
    page = ran(ROOT / "packaging" / "manual", PROGRAM).stdout
    shown = ran("groff", "-man", "-Tutf8", "-ww", "-rLL=200n", "-P-cbou", input=page)
    assert not shown.stderr, shown.stderr
    seen = 0
    for path, _ in commands():
        help = camclient(None, *path, "--help", env={**os.environ, "COLUMNS": "80"}).stdout
        assert max(map(len, help.splitlines())) <= 80, (path, help)
        for option in re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", help, re.MULTILINE):
            assert option in shown.stdout, f"{' '.join(path)} {option}"
            seen += 1
    assert seen > 100, seen
    for text in re.findall(r'"discussion"\s*:\s*("(?:[^"\\]|\\.)*")', camclient(None, "--experimental-dump-help").stdout):
        # What begins with spaces is a table or an example; a paragraph is one line, which is wrapped as a whole.
        torn = [line for line in json.loads(text).splitlines() if len(line) > 80 and line.startswith(" ")]
        assert not torn, torn
    statuses = re.findall(r"^ +(\d+)  ", camclient(None, "--help").stdout.split("Exit statuses:")[1].split("\n\n")[0], re.MULTILINE)
    assert statuses == ["0", "1", "2", "3", "4", "5", "6", "130"], statuses
    assert statuses == re.findall(r"^ +(\d+) ", shown.stdout.split("EXIT STATUS")[1].split("ENVIRONMENT")[0], re.MULTILINE), shown.stdout


@claim("a name that camclient does not know is answered with the nearest one, and with no more names than are read")
def near_names():
    with Daemon(cameras=(SIMULATED, "back=simulated")) as daemon:
        assert camclient(None, "help", "status").stdout.startswith("OVERVIEW")
        assert "“nosuch” is not a subcommand; there are" in camclient(None, "help", "nosuch", status=2).stderr
        assert "did you mean “show”?" in camclient(None, "help", "policy", "shwo", status=2).stderr
        for words, meant in ((["stauts"], True), (["policy", "shwo"], True), (["frobnicate"], False)):
            assert ("did you mean" in camclient(None, *words, status=2).stderr) == meant, words
        for key in ("framerate", "FRAMERATE", "frameRat"):
            said = camclient(daemon, "configure", f"{key}=15", status=2).stderr
            assert f"“{key}” is not a configuration key; did you mean “frameRate”?" in said, said
            assert "`camclient configure --help` lists them" in said and len(said) < 250, said
        keys = camclient(None, "configure", "--help").stdout
        assert "frameRate" in keys and "adjustingFocus" not in keys and "pipelineRebuilds" not in keys, keys
        said = camclient(daemon, "configure", "activeFormat=4k", status=4).stderr
        assert "activeFormat “4k” is not a format of" in said and "`camclient formats` lists them" in said and len(said) < 350, said
        # One sentence, whoever says it.
        sentence = "There is no camera “bakc”; did you mean “back”? There are “back”, “front”."
        for words in (["formats", "bakc"], ["controls", "bakc"], ["photo", "/dev/null", "--overwrite", "--camera", "bakc"],
                      ["configure", "frameRate=15", "--camera", "bakc"], ["shell", "privacy on bakc"]):
            said = camclient(daemon, *words, status=4).stderr
            assert sentence in said, (words, said)


@claim("a recording that Ctrl-C ends is finished and whole; one that another app cuts says so with status 1")
def recordings():
    with Daemon() as daemon:
        first, second = daemon.directory / "first.mkv", daemon.directory / "second.mkv"
        with Running(daemon, "record", first, "--app", "photos", "--json") as recorder:
            until_frames(first)
            finished = json.loads(recorder.end(how=signal.SIGINT)[0])
        assert finished["why"] == "stopped" and played(first)[0] == finished["frames"] > 0, finished
        shell = daemon.shell()
        with Running(daemon, "record", second, "--app", "photos", "--json") as recorder:
            until_frames(second)
            shell.place("photos", "fullscreen")
            shell.place("call", "fullscreen", True)
            daemon.running("call")
            finished = json.loads(recorder.end(status=1)[0])
        assert finished["why"] == "interrupted" and finished["interrupter"] == "call", finished
        assert played(second)[0] == finished["frames"], finished


def is_refused(daemon, command, node, what, flags=((), ("--overwrite",))):
    """What is no file is no place for an output, whatever the flags say, and none is recommended."""
    for more in flags:
        said = camclient(daemon, *command, node, *more, status=5).stderr
        assert f"{node} is a {what}" in said and "--overwrite" not in said, said


def header_of(pipe):
    """The first line that is written into a named pipe, by which a preview says what it is; its reader, still open."""
    reader = open(pipe, "rb")
    line = reader.readline()
    assert line.startswith(b"YUV4MPEG2 W640 H480 "), line
    return reader


@claim("camclient's preview is one YUV4MPEG2 picture after the other; into a named pipe it ends at SIGTERM and SIGINT while nobody reads "
       "it, and while its reader stands still")
def preview_into_a_pipe():
    with Daemon() as daemon:
        pipe = daemon.directory / "pipe"
        os.mkfifo(pipe)
        words = ["preview", "--output", pipe, "--app", "photos", "--set", "activeFormat=420v 640x480"]
        for number in (signal.SIGTERM, signal.SIGINT):
            with Running(daemon, *words) as viewer:
                said = viewer.process.stderr.readline()
                assert said == f"camclient: {pipe} has no reader yet; the picture begins when it has.\n", said
                # Nobody has the camera for a pipe that nobody reads.
                assert status(daemon)["cameras"][0]["holder"] is None
                out, error = viewer.end(how=number)
                assert "0 frames" in error and not out, (out, error)
            with Running(daemon, *words) as viewer, header_of(pipe) as reader:
                # It writes more than a pipe holds, and its reader takes no more.
                is_full = select.poll()
                other = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
                is_full.register(other, select.POLLOUT)
                wait_until("the pipe to be full", lambda: not is_full.poll(0))
                viewer.end(how=number)
                os.close(other)
        with Running(daemon, *words, "--frames", "3") as viewer, header_of(pipe) as reader:
            pictures, length = reader.read(), 640 * 480 * 3 // 2 + len("FRAME\n")
            assert len(pictures) == 3 * length and {pictures[at:at + 6] for at in range(0, 3 * length, length)} == {b"FRAME\n"}
            assert "3 frames" in viewer.end()[1]
        camclient(daemon, "preview", "-o", "/dev/null", "--frames", "2")
        for node, what in ((daemon.directory, "folder"), (daemon.path, "socket")):
            is_refused(daemon, ("preview", "-o"), node, what)
            is_refused(daemon, ("photo",), node, what)
        is_refused(daemon, ("photo",), "/dev/null", "device", ((),))


@claim("what watch, run and shell log as JSON is drawn again by timeline, as SVG and as text")
def logs():
    with Daemon() as daemon, Running(daemon, "watch", "--json") as watch:
        watch.wait(fact="holder")
        with Running(daemon, "shell", "--json") as shell, Running(daemon, "run", "--app", "photos", "--json") as photos:
            for command in ("place photos fullscreen", "place call fullscreen focused"):
                shell.do(command, fact="note", text=command)
            photos.do("start", event="DidStartRunning")
            photos.do(f"record {daemon.directory / 'log.mkv'}", event="RecordingStarted")
            with Running(daemon, "run", "--app", "call", "--json") as call:
                call.do("start", event="DidStartRunning")
                cut = photos.wait(event="WasInterrupted")
                assert cut["interrupter"] == "call" and cut["recording"] > 0, cut
                call.do("stop", event="DidStopRunning")
                call.end()
            photos.wait(event="DidStartRunning")
            photos.end()
            shell.end()
        watch.wait(fact="left", app="photos")
        watch.end(how=signal.SIGINT)
        for name, lines in (("watched", watch.lines), ("own", photos.lines + call.lines + shell.lines)):
            log, drawing = daemon.directory / f"{name}.jsonl", daemon.directory / f"{name}.svg"
            log.write_text("".join(lines))
            camclient(None, "timeline", "--from", log, "--svg", drawing)
            words = " ".join(xml.etree.ElementTree.parse(drawing).getroot().itertext())
            assert all(word in words for word in ("photos", "call", "device-in-use by call", "recording")), words
            text = camclient(None, "timeline", "--from", log, "--width", "70").stdout
            assert "device-in-use by call" in text and "\x1b" not in text, text
            assert max(map(len, text.splitlines())) <= 70, text
    broken = camclient(None, "timeline", "--from", "-", typed='{"moment":1}\n{"moment":\n', status=2)
    assert "-:2:" in broken.stderr, broken


@claim("camclient test passes a scenario that holds, and shows a diff of one that does not, with status 1")
def scenarios():
    held = ROOT / "Tests" / "scenarios" / "2-session-state" / "a-started-session-runs.scenario"
    camclient(None, "test", held, *POLICIES)
    with Folder() as folder:
        wrong, text = folder / "wrong.scenario", held.read_text().replace("didStartRunning", "didStopRunning")
        wrong.write_text(text)
        shown = camclient(None, "test", folder, *POLICIES, status=1).stdout
        assert "didStopRunning" in shown and "didStartRunning" in shown and "0 of 1" in shown, shown
        assert wrong.read_text() == text
        camclient(None, "test", wrong, "--rewrite", *POLICIES, status=1)
        assert wrong.read_text().rstrip("\n") == held.read_text().rstrip("\n")
        wrong.write_text("# A claim.\n\npolicy ios9.toml\n\n0s   conect photos\n")
        unreadable = camclient(None, "test", wrong, *POLICIES, status=2).stdout
        assert "wrong.scenario:5:6" in unreadable and "connect" in unreadable, unreadable


@claim("camclient policy test names what no scenario reached with its line, and ends with 1 below --min-coverage")
def coverage():
    kiosk = ROOT / "Tests" / "scenarios" / "policies" / "kiosk"
    one = (kiosk / "the-attract-loop-gives-way-to-everybody.scenario", *POLICIES)
    whole = camclient(None, "policy", "test", kiosk, *POLICIES, "--min-coverage", "100").stdout
    assert "kiosk.toml: 100 %" in whole, whole
    some = camclient(None, "policy", "test", *one, "--min-coverage", "100", status=1).stdout
    # The line is the rule's in the file as it stands.
    lines = (ROOT / "policies" / "kiosk.toml").read_text().splitlines()
    rule = next(number for number, line in enumerate(lines) if line.endswith('"Photo booth"'))
    assert f'kiosk.toml:{rule}: [[rank]] "Photo booth": no scenario made it fire' in some, some
    answer = told_lines(None, "policy", "test", *one)[-1]
    assert ('[[rank]] "Photo booth"', rule, "neverFired") in [
        (gap["clause"], gap["line"], gap["lack"]) for gap in answer["gaps"]], answer
    camclient(None, "policy", "test", *one, "--min-coverage", "101", status=2)
    camclient(None, "policy", "test", *one, "--policy", __file__, status=2)
    camclient(None, "policy", "test", "/nowhere", *POLICIES, status=5)


@claim("a refused recording or photo changes nothing that was there: no file is emptied, and no device taken away")
def refused_outputs():
    with Daemon() as daemon:
        pipe, kept = daemon.directory / "pipe", daemon.directory / "kept.mkv"
        # A pipe that somebody reads can be opened for writing, and the broker refuses it: it must outlive that.
        os.mkfifo(pipe)
        with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)):
            for command in ("record", "photo"):
                is_refused(daemon, (command,), pipe, "named pipe")
                assert pipe.exists(), f"{command} took the pipe away"
        kept.write_text("an older recording")
        camclient(daemon, "record", kept, "--overwrite", "--camera", "no-such-camera", status=4)
        assert kept.read_text() == "an older recording", "a refused request emptied the file"
        # Nor does a preview that shows nothing.
        shell = daemon.shell()
        shell.call(SHELL, "SetPrivacy", "sb", "front", True)
        with Running(daemon, "preview", "-o", kept, "--overwrite") as preview:
            while "privacy" not in preview.process.stderr.readline():
                assert preview.process.poll() is None, "preview ended"
            preview.end(None, how=signal.SIGINT)
        assert kept.read_text() == "an older recording", "a preview without a frame emptied the file"
        shell.call(SHELL, "SetPrivacy", "sb", "front", False)
        os.truncate(kept, 50_000_000)
        camclient(daemon, "preview", "-o", kept, "--overwrite", "--frames", "1")
        assert 1280 * 720 < kept.stat().st_size < 2_000_000, kept.stat().st_size
