"""camclient from outside: its exit statuses, its logs, and what it does when it is interrupted."""
import json, os, re, select, signal, subprocess, tempfile, xml.etree.ElementTree

from harness import CAMERA, COMPUTING_PATIENCE, PATIENCE, PROGRAMS, ROOT, SHELL, SIMULATED, Daemon, claim, die_with_parent, played, wait_until

PROGRAM = str(PROGRAMS / "camclient")


def camclient(daemon, *words, status=0, typed=""):
    """Runs a command to its end; the exit status must be the documented one."""
    address = ["--address", daemon.address] if daemon else []
    done = subprocess.run(
        [PROGRAM, *words, *address], input=typed, capture_output=True, text=True, timeout=COMPUTING_PATIENCE,
        preexec_fn=die_with_parent)
    assert done.returncode == status, f"{words} ended with {done.returncode}, not {status}:\n{done.stdout}{done.stderr}"
    return done


class Running:
    """A camclient that goes on; its lines of JSON as they come."""

    def __init__(self, daemon, *words):
        self.process = subprocess.Popen(
            [PROGRAM, *words, "--address", daemon.address], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, bufsize=1, preexec_fn=die_with_parent)
        self.lines = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def type(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def wait(self, **values):
        for line in self.process.stdout:
            self.lines.append(line)
            report = json.loads(line)
            if all(report.get(key) == value for key, value in values.items()):
                return report
        raise AssertionError(f"camclient ended before {values}: {''.join(self.lines)}{self.process.stderr.read()}")

    def end(self, status=0):
        out, error = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == status, f"ended with {self.process.returncode}, not {status}: {out}{error}"
        return out, error


@claim("camclient's exit status is the documented one for each way to end")
def exit_statuses():
    with Daemon() as daemon:
        camclient(daemon, "status")
        camclient(daemon, "run", "start", "wait DidStartRunning")
        camclient(daemon, "run", "start", "wait RampFinished 50ms", status=1)
        assert "not a command" in camclient(daemon, "run", "fly", status=2).stderr
        assert "finite number" in camclient(daemon, "configure", "frameRate=fast", status=2).stderr
        camclient(daemon, "devices", "--colour", status=2)
        refused = camclient(daemon, "formats", "attic", status=4).stderr
        assert "attic" in refused and CAMERA in refused, refused
        camclient(daemon, "run", "stop")  # a stop of a session that does not run is no error
        target = daemon.directory / "photo.jpg"
        target.write_text("mine")
        camclient(daemon, "photo", str(target), status=5)
        assert target.read_text() == "mine", "a file that was there has changed"
        missing = camclient(daemon, "photo", str(daemon.directory / "none" / "photo.jpg"), status=5).stderr
        assert "No such file" in missing, missing
        camclient(daemon, "photo", str(target), "--overwrite")
        assert target.read_bytes()[:2] == b"\xff\xd8"
    camclient(None, "status", "--address", "/nonexistent/socket", status=3)
    with tempfile.TemporaryDirectory() as folder:
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
    with Daemon() as daemon:
        camera, scenario, trace = ROOT / "cameras" / "uvc-webcam.toml", daemon.directory / "a.scenario", daemon.directory / "a.trace"
        scenario.write_text("# A claim.\n\npolicy kiosk.toml\n\n0s   connect photos\n     session photos\n     start photos\n")
        camclient(daemon, "trace", "record", str(trace), "-d", "50ms")
        policies = [str(ROOT / "policies" / f"{name}.toml") for name in ("kiosk", "ios9")]
        there = {"policy": policies, "test": [str(scenario)], "timeline": [str(scenario)], "trace": [str(trace)], "camera": [str(camera)],
                 "policy test": [str(scenario)]}
        tried, missing_file = set(), str(daemon.directory / "none" / "file")
        for path, arguments in commands():
            name, files = " ".join(path), [one for one in arguments if one.get("valueName") in PATHS and one["kind"] != "flag"]
            is_asking = any(one.get("valueName") == "socket" for one in arguments)
            for missing in files:
                option = missing["names"][-1]["name"] if missing.get("names") else None
                if option in NOT_READ_BY_ITSELF:
                    continue
                words, positions = list(path), iter(there.get(name) or there.get(path[0]) or [str(daemon.directory / "new")])
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
                        words.append(missing_file if one is missing else str(daemon.directory / "page.html"))
                if option == "policy-dir" and name in ("plan", "trace replay", "trace convert"):
                    words += ["--policy", policies[0]]
                if name == "policy test" and option not in ("save", "policy-dir"):
                    words += ["--policies", str(ROOT / "policies")]
                elif "policies" in [flag["name"] for one in files for flag in one.get("names", [])]:
                    words += ["--policies", str(ROOT / "policies")]
                words += BESIDE.get(f"{name} --{option}", BESIDE.get(name, []))
                said = camclient(daemon if is_asking else None, *words, status=5)
                assert "none" in said.stdout + said.stderr, (words, said)
                tried.add(name)
        assert {"photo", "test", "timeline", "policy check", "policy play", "policy verify", "camera check", "trace stats", "plan"} <= tried, tried
        # Whatever else is wrong in other files.
        broken = daemon.directory / "broken.toml"
        broken.write_text("name = 1\n")
        camclient(None, "policy", "check", str(broken), status=1)
        assert "it takes" in camclient(None, "policy", "check", str(broken), missing_file, status=5).stdout
    return f"{len(tried)} commands"


@claim("the manual's exit statuses are those of camclient --help, with the same words")
def documented_statuses():
    help = camclient(None, "--help").stdout.split("Exit statuses:")[1].split("\n\n")[0]
    listed = {}
    for line in help.splitlines():
        number = re.match(r" +(\d+)  +(.*)", line)
        if number:
            last, listed[number[1]] = number[1], number[2]
        elif line.strip():
            listed[last] += " " + line.strip()
    manual = (ROOT / "docs" / "man" / "camclient.1").read_text().split(".SH EXIT STATUS")[1].split("\n.PP")[0]
    assert dict((n, " ".join(words.split())) for n, words in re.findall(r"\.TP\n\.B (\d+)\n((?:[^.].*\n?)+)", manual)) == listed, (manual, listed)
    assert set(listed) == {"0", "1", "2", "3", "4", "5", "6", "130"}, listed


@claim("a name that camclient does not know is answered with the nearest one, and with no more names than are read")
def near_names():
    with Daemon(cameras=(SIMULATED, "back=simulated")) as daemon:
        assert camclient(None, "help", "status").stdout.startswith("OVERVIEW")
        assert "“nosuch” is not a subcommand; there are" in camclient(None, "help", "nosuch", status=2).stderr
        assert "did you mean “show”?" in camclient(None, "help", "policy", "shwo", status=2).stderr
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


@claim("camclient's answers for programs are JSON, a value a line")
def json_answers():
    with Daemon() as daemon:
        devices = [json.loads(line) for line in camclient(daemon, "devices", "--json").stdout.splitlines()]
        assert [device["camera"] for device in devices] == [CAMERA] and devices[0]["holder"] is None, devices
        formats = [json.loads(line) for line in camclient(daemon, "formats", "--json").stdout.splitlines()]
        assert all(one["name"] and one["maxFrameRate"] >= one["minFrameRate"] for one in formats), formats
        app = daemon.app("photos")
        app.session().start()
        app.wait("DidStartRunning")
        status = json.loads(camclient(daemon, "status", "--json").stdout)
        assert status["cameras"][0]["holder"] == "photos", status
        assert [session["state"] for session in status["sessions"]] == ["running"], status
        explained = json.loads(camclient(daemon, "explain", "--json").stdout)
        assert explained["summary"] and isinstance(explained["verdicts"], list), explained
        planned = json.loads(camclient(
            daemon, "plan", "--json", "connect other", f"session other camera={CAMERA}", "start other").stdout)
        assert any("other" in line for line in planned["outcome"]), planned
        assert json.loads(camclient(daemon, "status", "--json").stdout)["sessions"] == status["sessions"]


@claim("a recording that Ctrl-C ends is finished and whole; one that another app cuts says so with status 1")
def recordings():
    with Daemon() as daemon:
        first, second = daemon.directory / "first.mkv", daemon.directory / "second.mkv"
        timed = camclient(daemon, "record", str(daemon.directory / "timed.mkv"), "-d", "500ms", "--json")
        assert json.loads(timed.stdout)["why"] == "duration-limit", timed.stdout
        with Running(daemon, "record", str(first), "--app", "photos", "--json") as recorder:
            # The header and the room for an index are there at once; what comes after them is frames.
            wait_until("the recording's first frames", lambda: first.exists() and first.stat().st_size > 100_000)
            recorder.process.send_signal(signal.SIGINT)
            finished = json.loads(recorder.end()[0])
        count, _ = played(first)
        assert finished["why"] == "stopped" and count == finished["frames"] > 0, (finished, count)
        shell = daemon.shell()
        with Running(daemon, "record", str(second), "--app", "photos", "--json") as recorder:
            wait_until("the recording's first frames", lambda: second.exists() and second.stat().st_size > 100_000)
            shell.call(SHELL, "PlaceApp", "ssb", "photos", "fullscreen", False)
            shell.call(SHELL, "PlaceApp", "ssb", "call", "fullscreen", True)
            rival = daemon.app("call")
            rival.session().start()
            rival.wait("DidStartRunning")
            out, error = recorder.end(status=1)
        finished = json.loads(out)
        assert finished["why"] == "interrupted" and finished["interrupter"] == "call", finished
        assert played(second)[0] == finished["frames"], finished


@claim("camclient's preview is one YUV4MPEG2 picture after the other, and goes on after an interruption")
def preview():
    with Daemon() as daemon:
        shell = daemon.shell()
        target = daemon.directory / "preview.y4m"
        shell.call(SHELL, "PlaceApp", "ssb", "photos", "fullscreen", True)
        with Running(daemon, "preview", "--output", str(target), "--app", "photos",
                     "--set", "activeFormat=420v 640x480@60 binned") as viewer:
            frame = 640 * 480 * 3 // 2 + len("FRAME\n")

            def frames():
                return (target.stat().st_size - len(header())) // frame if target.exists() else 0

            def header():
                with open(target, "rb") as file:
                    return file.readline()

            wait_until("ten frames", lambda: frames() >= 10)
            assert header().startswith(b"YUV4MPEG2 W640 H480 "), header()
            rival = daemon.app("call")
            session = rival.session()
            shell.call(SHELL, "PlaceApp", "ssb", "call", "fullscreen", True)
            shell.call(SHELL, "PlaceApp", "ssb", "photos", "fullscreen", False)
            session.start()
            rival.wait("DidStartRunning")
            before = frames()
            session.call("StopRunning")
            wait_until("frames after the interruption", lambda: frames() >= before + 10)
            viewer.process.send_signal(signal.SIGINT)
            out, error = viewer.end()
            assert "wasInterrupted" in error and "interruptionEnded" in error and not out, (out, error)
        with open(target, "rb") as file:
            file.readline()
            body = file.read()
        assert len(body) % frame == 0 and all(
            body[at:at + 6] == b"FRAME\n" for at in range(0, len(body), frame)), "a picture is torn"


def header_of(pipe):
    """The first line that is written into a named pipe, by which a preview says what it is; its reader, still open."""
    reader = open(pipe, "rb")
    line = reader.readline()
    assert line.startswith(b"YUV4MPEG2 W640 H480 "), line
    return reader


@claim("camclient's preview into a named pipe ends at SIGTERM and SIGINT while nobody reads it, and while its reader stands still")
def preview_into_a_pipe():
    with Daemon() as daemon:
        pipe = daemon.directory / "pipe"
        os.mkfifo(pipe)
        words = ["preview", "--output", str(pipe), "--app", "photos", "--set", "activeFormat=420v 640x480"]
        for number in (signal.SIGTERM, signal.SIGINT):
            with Running(daemon, *words) as viewer:
                said = viewer.process.stderr.readline()
                assert said == f"camclient: {pipe} has no reader yet; the picture begins when it has.\n", said
                # Nobody has the camera for a pipe that nobody reads.
                status = json.loads(camclient(daemon, "status", "--json").stdout)
                assert status["cameras"][0]["holder"] is None, status
                viewer.process.send_signal(number)
                out, error = viewer.end()
                assert "0 frames" in error and not out, (out, error)
            with Running(daemon, *words) as viewer, header_of(pipe) as reader:
                # It writes more than a pipe holds, and its reader takes no more.
                is_full = select.poll()
                other = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
                is_full.register(other, select.POLLOUT)
                wait_until("the pipe to be full", lambda: not is_full.poll(0))
                viewer.process.send_signal(number)
                viewer.end()
                os.close(other)
        with Running(daemon, *words, "--frames", "3") as viewer, header_of(pipe) as reader:
            assert len(reader.read()) == 3 * (640 * 480 * 3 // 2 + len("FRAME\n"))
            assert "3 frames" in viewer.end()[1]
        for node, what in ((daemon.directory, "folder"), (daemon.path, "socket")):
            for more in ([], ["--overwrite"]):
                said = camclient(daemon, "preview", "-o", str(node), *more, status=5).stderr
                assert f"{node} is a {what}" in said and "--overwrite" not in said, said
                said = camclient(daemon, "photo", str(node), *more, status=5).stderr
                assert f"{node} is a {what}" in said and "--overwrite" not in said, said
        camclient(daemon, "preview", "-o", "/dev/null", "--frames", "2")
        said = camclient(daemon, "photo", "/dev/null", status=5).stderr
        assert "/dev/null is a device" in said and "--overwrite" not in said, said


@claim("camclient measures that a zoom to the threshold resolves what zoom 1 does, and crop-and-upscale does not")
def measured_resolution():
    with Daemon(cameras=["back=simulated:iphone5-back", "large=simulated:iphone6s-back"]) as daemon:
        def rows(*words):
            return [json.loads(line)
                    for line in camclient(daemon, "measure-resolution", *words, "--json").stdout.splitlines()]

        one, threshold, three = rows("back", "--format", "420v 1920x1080@30")
        assert (one["zoom"], threshold["zoom"], three["zoom"]) == (1, 1.4545, 3), (one, threshold, three)
        assert threshold["isThreshold"] and not one["isThreshold"] and one["cropAndUpscale"] is None, (one, threshold)
        assert threshold["resolution"] >= 0.95 * one["resolution"], (one, threshold)
        assert threshold["resolution"] >= 1.25 * threshold["cropAndUpscale"], threshold
        assert three["resolution"] < 0.6 * one["resolution"] and three["cropAndUpscale"] < three["resolution"], three
        for camera in ("back", "large"):
            every = rows(camera, "--all-formats")
            for at in every:
                one = next(row for row in every if row["format"] == at["format"] and row["zoom"] == 1)
                if at["isThreshold"]:
                    assert at["resolution"] >= 0.95 * one["resolution"], (one, at)
            formats = camclient(daemon, "formats", camera, "--json").stdout.splitlines()
            assert {row["format"] for row in every} == {json.loads(line)["name"] for line in formats}, every
        table = camclient(daemon, "measure-resolution", "--format", "420v 192x144@30 binned").stdout.splitlines()
        assert table[0].split() == ["FORMAT", "ZOOM", "RESOLVES", "CROP", "AND", "UPSCALE"] and len(table) == 4, table
        assert table[3].split()[3:5] == ["8.5", "*"], table
        refused = camclient(daemon, "measure-resolution", "back", "--format", "420v 1x1", status=2).stderr
        assert "“420v 1x1” is not a format of back" in refused and "`camclient formats` lists them" in refused, refused


@claim("what watch, run and shell log as JSON is drawn again by timeline, as SVG and as text")
def logs():
    with Daemon() as daemon, Running(daemon, "watch", "--json") as watch:
        watch.wait(fact="holder")
        with Running(daemon, "shell", "--json") as shell, Running(daemon, "run", "--app", "photos", "--json") as photos:
            for command in ("place photos fullscreen", "place call fullscreen focused"):
                shell.type(command)
                shell.wait(fact="note", text=command)
            photos.type("start")
            photos.wait(event="DidStartRunning")
            photos.type(f"record {daemon.directory / 'log.mkv'}")
            photos.wait(event="RecordingStarted")
            with Running(daemon, "run", "--app", "call", "--json") as call:
                call.type("start")
                call.wait(event="DidStartRunning")
                cut = photos.wait(event="WasInterrupted")
                assert cut["interrupter"] == "call" and cut["recording"] > 0, cut
                call.type("stop")
                call.wait(event="DidStopRunning")
                call.end()
            photos.wait(event="DidStartRunning")
            photos.end()
            shell.end()
        watch.wait(fact="left", app="photos")
        watch.process.send_signal(signal.SIGINT)
        out, _ = watch.end()
        for name, lines in (("watched", watch.lines), ("own", photos.lines + call.lines + shell.lines)):
            log, drawing = daemon.directory / f"{name}.jsonl", daemon.directory / f"{name}.svg"
            log.write_text("".join(lines))
            camclient(None, "timeline", "--from", str(log), "--svg", str(drawing))
            words = " ".join(xml.etree.ElementTree.parse(drawing).getroot().itertext())
            assert all(word in words for word in ("photos", "call", "device-in-use by call", "recording")), words
            text = camclient(None, "timeline", "--from", str(log), "--width", "70").stdout
            assert "device-in-use by call" in text and "\x1b" not in text, text
            assert max(map(len, text.splitlines())) <= 70, text
    broken = subprocess.run(
        [PROGRAM, "timeline", "--from", "-"], input='{"moment":1}\n{"moment":\n', capture_output=True, text=True)
    assert broken.returncode == 2 and "-:2:" in broken.stderr, broken


@claim("camclient test passes a scenario that holds, and shows a diff of one that does not, with status 1")
def scenarios():
    held = ROOT / "Tests" / "scenarios" / "2-session-state" / "a-started-session-runs.scenario"
    policies = ["--policies", str(ROOT / "policies")]
    camclient(None, "test", str(held), *policies)
    with tempfile.TemporaryDirectory(prefix="camarb-test.") as folder:
        wrong = os.path.join(folder, "wrong.scenario")
        with open(wrong, "w") as file:
            file.write(held.read_text().replace("didStartRunning", "didStopRunning"))
        before = open(wrong).read()
        shown = camclient(None, "test", folder, *policies, status=1).stdout
        assert "didStopRunning" in shown and "didStartRunning" in shown and "0 of 1" in shown, shown
        assert open(wrong).read() == before
        camclient(None, "test", wrong, "--rewrite", *policies, status=1)
        assert open(wrong).read().rstrip("\n") == held.read_text().rstrip("\n")
        with open(wrong, "w") as file:
            file.write("# A claim.\n\npolicy ios9.toml\n\n0s   conect photos\n")
        unreadable = camclient(None, "test", wrong, *policies, status=2).stdout
        assert "wrong.scenario:5:6" in unreadable and "connect" in unreadable, unreadable


@claim("camclient policy test names what no scenario reached with its line, and ends with 1 below --min-coverage")
def coverage():
    kiosk = ROOT / "Tests" / "scenarios" / "policies" / "kiosk"
    policies = ["--policies", str(ROOT / "policies")]
    whole = camclient(None, "policy", "test", str(kiosk), *policies, "--min-coverage", "100").stdout
    assert "kiosk.toml: 100 %" in whole, whole
    one = str(kiosk / "the-attract-loop-gives-way-to-everybody.scenario")
    some = camclient(None, "policy", "test", one, *policies, "--min-coverage", "100", status=1).stdout
    # The line is the rule's in the file as it stands.
    rule = next(number for number, line in enumerate((ROOT / "policies" / "kiosk.toml").read_text().splitlines(), 1)
                if line.endswith('"Photo booth"')) - 1
    assert f'kiosk.toml:{rule}: [[rank]] "Photo booth": no scenario made it fire' in some, some
    camclient(None, "policy", "test", one, *policies)
    answer = json.loads(
        camclient(None, "policy", "test", one, *policies, "--json").stdout.splitlines()[-1])
    assert answer["scenarios"] == 1 and 0 < answer["reached"] < answer["all"], answer
    assert any(
        gap["clause"] == '[[rank]] "Photo booth"' and gap["line"] == rule and gap["lack"] == "neverFired"
        for gap in answer["gaps"]), answer
    camclient(None, "policy", "test", one, *policies, "--min-coverage", "101", status=2)
    camclient(None, "policy", "test", one, *policies, "--policy", __file__, status=2)
    camclient(None, "policy", "test", "/nowhere", *policies, status=5)


@claim("a refused recording or photo changes nothing that was there: no file is emptied, and no device taken away")
def refused_outputs():
    with Daemon() as daemon, tempfile.TemporaryDirectory() as folder:
        pipe, kept = os.path.join(folder, "pipe"), os.path.join(folder, "kept.mkv")
        # A pipe that somebody reads can be opened for writing, and the broker refuses it: it must outlive that.
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            for command in ["record", "photo"]:
                for words in ([], ["--overwrite"]):
                    said = camclient(daemon, command, pipe, *words, status=5).stderr
                    assert f"{pipe} is a named pipe" in said and "--overwrite" not in said, said
                assert os.path.exists(pipe), f"{command} took the pipe away"
        finally:
            os.close(reader)
        with open(kept, "w") as file:
            file.write("an older recording")
        camclient(daemon, "record", kept, "--overwrite", "--camera", "no-such-camera", status=4)
        with open(kept) as file:
            assert file.read() == "an older recording", "a refused request emptied the file"
        # Nor does a preview that shows nothing.
        shell = daemon.shell()
        shell.call(SHELL, "SetPrivacy", "sb", "front", True)
        with subprocess.Popen([PROGRAM, "preview", "-o", kept, "--overwrite", "--address", daemon.address], text=True,
                              stderr=subprocess.PIPE, preexec_fn=die_with_parent) as preview:
            while "privacy" not in preview.stderr.readline():
                assert preview.poll() is None, "preview ended"
            preview.send_signal(signal.SIGINT)
            preview.communicate(timeout=PATIENCE)
        with open(kept) as file:
            assert file.read() == "an older recording", "a preview without a frame emptied the file"
        shell.call(SHELL, "SetPrivacy", "sb", "front", False)
        with open(kept, "w") as file:
            file.truncate(50_000_000)
        camclient(daemon, "preview", "-o", kept, "--overwrite", "--frames", "1")
        assert 1280 * 720 < os.path.getsize(kept) < 2_000_000, os.path.getsize(kept)
