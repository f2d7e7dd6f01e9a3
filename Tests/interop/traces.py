"""Traces from outside: a broker writes one while applications use it; camclient replays, compares, converts and draws it."""
import contextlib, json, os, resource, select, signal, xml.etree.ElementTree

from camclient import Running, camclient, status, told, told_lines
from harness import CAMERA, PROGRAMS, ROOT, Daemon, Folder, claim, ran, wait_until

# The smallest there is: a rotation is soon reached.
SIZE = 64 << 10
# The header's snapshot and a line that goes over the size come on top.
FILE_MAX = SIZE + (32 << 10)
IOS, KIOSK = ROOT / "policies" / "ios9.toml", ROOT / "policies" / "kiosk.toml"
REPLAYED = " replayed, byte for byte the same\n"


def place(shell, app, where, focused=False):
    shell.place(app, where, focused)


def visit(daemon):
    """photos records, a call takes the camera, and photos has it back."""
    shell = daemon.shell()
    shell.place("photos", "fullscreen", True)
    photos, session = daemon.running("photos")
    session.records(daemon.directory / "visit.mkv")
    calling = daemon.app("call", kind="voip").session()
    shell.place("photos", "background")
    shell.place("call", "fullscreen", True)
    calling.runs()
    photos.wait("RecordingFinished")
    calling.stops()
    shell.place("call", "background")
    shell.place("photos", "fullscreen", True)
    photos.resumes()
    return shell


@contextlib.contextmanager
def visited():
    with Folder() as folder:
        trace = folder / "visit.trace"
        with Daemon("ios9", extra=("--trace", trace)) as daemon:
            visit(daemon)
        yield folder, trace


def walk(shell, steps):
    """So many steps of the core without much ado."""
    for step in range(steps):
        shell.place("notes", ("split", "background")[step % 2])


def lines(path):
    return path.read_bytes().splitlines(keepends=True)


def sealed(bodies):
    """Lines with the checksums that they would have had."""
    value, text = 0xcbf29ce484222325, b""
    for body in bodies:
        for byte in body:
            value = (value ^ byte) * 0x100000001b3 & (1 << 64) - 1
        text += body + b',"sum":"%016x"}\n' % value
    return text


def bodies(path):
    return [line[:-len(b',"sum":"0123456789abcdef"}\n')] for line in lines(path)]


def replay(*words, status=0):
    return camclient(None, "trace", "replay", *words, status=status)


def converted_to(trace, scenario, *words, status=0):
    camclient(None, "trace", "convert", trace, *words, "-o", scenario, status=status)


@claim("a broker's trace rotates in bounded files; each replays byte for byte alone, and all of them in a row")
def rotated():
    with Folder() as folder:
        trace = folder / "camarb.trace"
        older = [folder / f"camarb.trace.{number}" for number in (1, 2, 3, 4)]
        with Daemon("ios9", extra=("--trace", trace, "--trace-size", "64K")) as daemon:
            shell = visit(daemon)
            wait_until("two rotations", lambda: (walk(shell, 50), older[1].exists())[1])
            assert "trace" not in status(daemon)["degraded"]
        files = [path for path in (*reversed(older), trace) if path.exists()]
        assert len(files) >= 3, files
        counted = 0
        for path in files:
            assert path.stat().st_mode & 0o777 == 0o600, oct(path.stat().st_mode)
            assert path.stat().st_size <= FILE_MAX, (path, path.stat().st_size)
            report = told(None, "trace", "replay", path)
            assert report["ok"] and report["ended"] and report["steps"] > 0 and report["lost"] == 0, report
            counted += report["steps"]
        assert replay(*files).stdout == f"{counted} steps{REPLAYED}"
        assert json.loads(lines(trace)[-1])["end"] == "stopped" and json.loads(lines(older[0])[-1])["end"] == "rotated"
        # The oldest first, and none left out.
        refused = replay(trace, older[0], status=2)
        assert f"{older[0]}:1: " in refused.stderr and refused.stdout == "", (refused.stdout, refused.stderr)
        assert f"{trace}:1: it begins behind step" in replay(older[1], trace, status=2).stderr
        # What is the oldest goes: five files are kept, whatever happens.
        with Daemon("ios9", extra=("--trace", trace, "--trace-size", "64K")) as daemon:
            shell = daemon.shell()

            def all_its_own():
                walk(shell, 100)
                begins = [json.loads(lines(path)[0])["steps"] for path in (*reversed(older), trace) if path.exists()]
                return len(begins) == 5 and begins[0] > 0 and begins == sorted(begins)

            wait_until("files to be dropped", all_its_own)
        assert sorted(os.listdir(folder)) == sorted(path.name for path in (trace, *older)), os.listdir(folder)
        replay(*reversed(older), trace)
        return f"{counted} steps in {len(files)} files"


@claim("a trace becomes a scenario that camclient test passes, a picture, and a comparison with another policy")
def converted():
    with visited() as (folder, trace):
        scenario, picture, wrong = folder / "visit.scenario", folder / "visit.svg", folder / "wrong.scenario"
        assert replay(trace).stdout.endswith(REPLAYED)
        converted_to(trace, scenario)
        assert "1 of 1 scenarios passed" in camclient(None, "test", scenario).stdout
        text = scenario.read_text()
        for notice in ("photos wasInterrupted #1", "cutting recording 1", "photos interruptionEnded #1"):
            assert notice in text, text
        # The claim is tested, not only written down: without one of its notices it does not pass.
        wrong.write_text("".join(line for line in text.splitlines(keepends=True) if "photos wasInterrupted" not in line))
        camclient(None, "test", wrong, status=1)
        camclient(None, "timeline", trace, "--svg", picture)
        drawn = " ".join(xml.etree.ElementTree.parse(picture).getroot().itertext())
        assert "photos" in drawn and "call" in drawn, drawn
        drawn = camclient(None, "timeline", trace, "--width", "100").stdout
        assert any(line.startswith(CAMERA) for line in drawn.splitlines()), drawn
        *changes, summary = told_lines(None, "trace", "replay", trace, "--policy", KIOSK, status=1)
        assert summary["changes"] == len(changes) > 0 and {change["session"] for change in changes} <= {"photos", "call"}, changes
        same = told(None, "trace", "replay", trace, "--policy", IOS)
        assert same["changes"] == 0 and same["inputs"] > 10, same
        # Under another policy it has no fault that nobody had.
        converted_to(trace, wrong, "--policy", KIOSK)
        assert 'name = "kiosk"' in wrong.read_text() and "device-error" not in wrong.read_text()
        camclient(None, "test", wrong)
        for command in ("replay", "convert"):
            camclient(None, "trace", command, trace, "--policy", folder / "none.toml", status=5)


@claim("a broker killed in mid-trace leaves whole lines that replay, and the trace says that it has no end")
def killed():
    with Folder() as folder:
        trace, before = folder / "camarb.trace", folder / "camarb.trace.1"
        with Daemon("ios9", extra=("--trace", trace)) as daemon:
            shell = visit(daemon)
            size = trace.stat().st_size
            # After a second nothing waits any more.
            wait_until("the trace to be written", lambda: (walk(shell, 2), trace.stat().st_size > size)[1])
            walk(shell, 300)
            daemon.kill()
        done = replay(trace)
        assert REPLAYED in done.stdout and "has no end" in done.stdout, done.stdout
        assert told(None, "trace", "replay", trace)["ended"] is False
        written = trace.read_bytes()
        # The system may lose the rest of a line with the machine: that may be left out.
        trace.write_bytes(written[:-25])
        number, said = written.count(b"\n"), replay(trace, status=2)
        assert said.stderr == f"camclient: {trace}:{number}: the trace ends in the middle of this line; --cut leaves it out\n"
        assert said.stdout == ""
        assert replay(trace, "--cut").stdout.startswith(f"{number - 2} steps{REPLAYED}")
        scenario = folder / "cut.scenario"
        converted_to(trace, scenario, status=2)
        assert not scenario.exists(), "a part was presented as whole"
        converted_to(trace, scenario, "--cut")
        camclient(None, "test", scenario)
        # The next broker leaves it as it is, beside its own.
        with Daemon("ios9", extra=("--trace", trace)) as daemon:
            daemon.shell()
        assert before.read_bytes() == written[:-25]
        assert replay(trace).stdout.endswith(REPLAYED)


@claim("an edited trace is refused with its line; one with a forged checksum, by what the core decides")
def edited():
    with visited() as (folder, trace):
        wrong, whole = folder / "wrong.trace", lines(trace)
        (at,) = [number for number, line in enumerate(whole) if b'"notice":"WasInterrupted"' in line]
        lie = whole[at].replace(b'"notice":"WasInterrupted"', b'"notice":"WasInterrupter"')
        changed = f"{wrong}:{at + 1}: this line is not as it was written"
        wrong.write_bytes(b"".join(whole[:at] + [lie] + whole[at + 1:]))
        for command in (("trace", "replay"), ("trace", "convert"), ("timeline",), ("trace", "replay", "--policy", KIOSK)):
            said = camclient(None, *command, wrong, status=2)
            assert changed in said.stderr and said.stdout == "", said
        wrong.write_bytes(b"".join(whole[:at] + whole[at + 1:]))
        assert changed in replay(wrong, status=2).stderr
        forged = bodies(trace)
        assert sealed(forged) == trace.read_bytes()
        forged[at] = lie[:-len(b',"sum":"0123456789abcdef"}\n')]
        wrong.write_bytes(sealed(forged))
        said = told(None, "trace", "replay", wrong, status=1)
        assert (said["ok"], said["line"], said["steps"]) == (False, at + 1, at - 1), said
        assert "WasInterrupter" in said["expected"] and "WasInterrupter" not in said["got"], said
        for version, words in ((6, "6, and this program reads 5"), (3, "3, written by camarbd")):
            first, *others = bodies(trace)
            wrong.write_bytes(sealed([first.replace(b'{"trace":5,', b'{"trace":%d,' % version), *others]))
            assert f"{wrong}:1: the trace has format version {words}" in replay(wrong, status=2).stderr


@claim("what is no trace is refused with a sentence: text, nothing, a scenario, a gigabyte in one line, no file")
def junk():
    with Folder() as folder:
        wrong = folder / "wrong.trace"
        scenario = next((ROOT / "Tests" / "scenarios").rglob("*.scenario"))
        for content in (b"", b"hello\n", b"{}\n", b'{"trace":1}\n', os.urandom(1000), scenario.read_bytes()):
            wrong.write_bytes(content)
            said = replay(wrong, status=2)
            assert said.stderr.startswith(f"camclient: {wrong}:") and said.stdout == "", said
        with open(wrong, "wb") as file:
            file.truncate(1 << 30)
        assert f"{wrong}:1: this line is longer than 8388608 bytes" in replay(wrong, status=2).stderr
        replay(folder / "none.trace", status=5)
        replay(status=2)
        daemon = ["--trace", folder, "--socket", folder / "socket"]
        for command, status in ((daemon, 1), ([*daemon, "--trace-size", "1K"], 2), (["--trace"], 2)):
            assert ran(PROGRAMS / "camarbd", *command, status=status).stderr, command


@claim("what camclient writes of a machine's users is its owner's alone to read; a picture of a made-up scenario is not")
def readers():
    with Folder() as folder, Daemon("ios9", cameras=(f"{CAMERA}=none",), extra=("--trace", folder / "own.trace")) as daemon:
        before = os.umask(0o022)
        try:
            live = folder / "live.svg"
            with Running(daemon, "watch", "--svg", live) as watching:
                shell = daemon.shell()

                def seen():
                    walk(shell, 2)
                    return select.select([watching.process.stdout], [], [], 0)[0]

                wait_until("the watch to begin", seen)
                camclient(daemon, "trace", "record", folder / "a.trace", "-d", "300ms")
                watching.end(None, how=signal.SIGINT)
            camclient(None, "timeline", folder / "a.trace", "--svg", folder / "a.svg")
            wait_until("the broker's own trace", lambda: (folder / "own.trace").read_bytes().count(b"\n") > 1)
            camclient(None, "trace", "convert", "--cut", folder / "own.trace", "-o", folder / "a.scenario")
            for name in ("a.trace", "live.svg", "a.scenario", "a.svg"):
                assert (folder / name).stat().st_mode & 0o777 == 0o600, name
            scenario = sorted((ROOT / "Tests" / "scenarios").rglob("*.scenario"))[0]
            camclient(None, "timeline", scenario, "--svg", folder / "made-up.svg")
            assert (folder / "made-up.svg").stat().st_mode & 0o777 == 0o644
            # One that is there keeps what its owner said.
            (folder / "a.trace").chmod(0o640)
            camclient(daemon, "trace", "record", folder / "a.trace", "-d", "100ms", "--overwrite")
            assert (folder / "a.trace").stat().st_mode & 0o777 == 0o640
        finally:
            os.umask(before)


@claim("a disk that is full ends the trace at a whole line, and never the broker; its status says so")
def full():
    with Folder() as folder:
        trace = folder / "camarb.trace"
        with Daemon("ios9", cameras=(f"{CAMERA}=none",), extra=("--trace", trace)) as daemon:
            resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (50_000, 50_000))
            shell = daemon.shell()

            def degraded():
                walk(shell, 100)
                return status(daemon)["degraded"]

            wait_until("the end of the trace", lambda: "The trace has ended early" in degraded())
            size = trace.stat().st_size
            app = daemon.app("photos")
            place(shell, "photos", "fullscreen", True)
            app.running()
            walk(shell, 200)
            assert trace.stat().st_size == size <= 50_000
        done = replay(trace)
        assert REPLAYED in done.stdout and "has no end" in done.stdout, done.stdout


@claim("a trace of another version is refused with that version, the one that is read, and the program that wrote it")
def other_version():
    with Folder() as folder:
        trace = folder / "old.trace"
        trace.write_text('{"trace":3,"program":"camarbd 0.1.0","origin":0,"steps":0,"sum":"0000000000000000"}\n')
        said = ran(PROGRAMS / "camclient", "trace", "replay", trace, status=None)
        assert said.returncode != 0, said.stdout
        text = said.stdout + said.stderr
        assert "3" in text and "5" in text and "camarbd 0.1.0" in text, text
