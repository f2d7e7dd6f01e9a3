"""`camclient record`: into a folder, and on after an interruption. Files, lists and reports are read as their users do."""
import errno, json, os, pathlib, re, signal, subprocess

from camclient import PROGRAM, Running, camclient
from footage import too_slow
from harness import PATIENCE, SHELL, Daemon, Skipped, claim, played, recorded_marks, state_of, wait_until

# Half a frame of the simulated camera, which has 30 a second: nearer than that is the same frame.
HALF_A_FRAME = 1e9 / 60


def tags(file):
    """What a recording says of itself, by the tag's name."""
    done = subprocess.run(
        ["ffprobe", "-v", "error", "-show_entries", "format_tags", "-of", "json", str(file)],
        stdout=subprocess.PIPE, text=True, check=True, timeout=60)
    return json.loads(done.stdout)["format"].get("tags", {})


def unnamed(process, folder):
    """The sizes of the files below a folder that a process has open and that have no name."""
    sizes = []
    for entry in pathlib.Path(f"/proc/{process}/fd").iterdir():
        try:
            target, status = os.readlink(entry), os.stat(entry)
        except OSError:
            continue  # Closed meanwhile.
        if target.startswith(f"{folder}/") and status.st_nlink == 0:
            sizes.append(status.st_size)
    return sizes


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def library(daemon):
    """A folder that takes files without a name; where the machine has none, the claim cannot be shown."""
    folder = daemon.directory / "library"
    folder.mkdir()
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR))
    except OSError as fault:
        if fault.errno != errno.EOPNOTSUPP:
            raise
        raise Skipped(f"{folder}: its file system has no files without a name") from None
    return folder


def into(daemon, folder, *more):
    """A camclient that records into a folder, some frames of which are written."""
    running = Running(daemon, "record", "--into", str(folder), "--json", *more)
    wait_until("the recording's first frames", lambda: any(
        size > 500_000 for size in unnamed(running.process.pid, folder)))
    return running


@claim("camclient record --into: a recording gets the next free number when it is whole, and no name before")
def numbered():
    with Daemon() as daemon:
        folder = library(daemon)
        theirs = {"recording-0002.mkv": "mine", "recording-0004.gaps.json": "{}", "recording-x.mkv": "", "holiday.mkv": "mine"}
        for name, text in theirs.items():
            (folder / name).write_text(text)
        with into(daemon, folder) as recorder:
            assert names(folder) == sorted(theirs), names(folder)
            recorder.process.send_signal(signal.SIGINT)
            finished = json.loads(recorder.end()[0])
        file = folder / "recording-0005.mkv"
        assert finished["file"] == str(file) and finished["why"] == "stopped", finished
        assert names(folder) == sorted([*theirs, file.name]), names(folder)
        assert all((folder / name).read_text() == text for name, text in theirs.items())
        count, _ = played(file)
        assert count == finished["frames"] > 0 and file.stat().st_size == finished["bytes"], (count, finished)
        # It is an ordinary file, and nobody's copy.
        assert file.stat().st_nlink == 1 and oct(file.stat().st_mode & 0o444) == oct(0o444), file.stat()
        # One more, through another name of the folder.
        again = json.loads(camclient(
            daemon, "record", "--into", f"{folder}/", "-d", "300ms", "--json").stdout)
        assert again["file"] == str(folder / "recording-0006.mkv"), again


@claim("camclient record --into: of a client that is killed nothing is left in the folder")
def killed_client():
    with Daemon() as daemon:
        folder = library(daemon)
        with into(daemon, folder) as recorder:
            recorder.process.kill()
            recorder.process.wait()
        # The recorder core has its own descriptor of the file until the broker has cut the recording.
        (core,) = daemon.recorders()
        wait_until("the recorder core's last descriptor of it", lambda: not unnamed(core, folder))
        assert names(folder) == [], names(folder)
        whole = json.loads(camclient(daemon, "record", "--into", str(folder), "-d", "300ms", "--json").stdout)
        assert names(folder) == ["recording-0001.mkv"] and played(folder / "recording-0001.mkv")[0] == whole["frames"]


@claim("camclient record --into: when camrecorder is killed the file is completed, and in the folder")
def killed_recorder():
    with Daemon() as daemon:
        folder = library(daemon)
        with into(daemon, folder) as recorder:
            (core,) = daemon.recorders()
            os.kill(core, signal.SIGKILL)
            finished = json.loads(recorder.end(status=1)[0])
        assert finished["why"] == "recorder-reset" and names(folder) == ["recording-0001.mkv"], (finished, names(folder))
        count, _ = played(folder / "recording-0001.mkv")
        assert count == finished["frames"] > 0 and finished["cause"], (count, finished)
        return f"{count} frames"


@claim("camclient record says what is wrong with its words before it asks for a camera, and touches no file")
def wrong_words():
    def says(*words, status=2):
        done = subprocess.run(
            [PROGRAM, "record", *words, "--address", "/nonexistent/socket"], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == status, f"{words} ended with {done.returncode}, not {status}: {done.stderr}"
        return done.stderr

    with Daemon() as daemon:
        file = daemon.directory / "visit.mkv"
        assert "--into" in says(), says()
        assert "leave one" in says(str(file), "--into", str(daemon.directory))
        assert "--overwrite" in says("--into", str(daemon.directory), "--overwrite")
        assert "No such file" in says("--into", str(daemon.directory / "none"), status=5)
        file.write_text("mine")
        assert "Not a directory" in says("--into", str(file), status=5)
        assert "at most 8" in says(str(file), *[word for number in range(9) for word in ("--metadata", f"k{number}:text")])
        assert "twice" in says(str(file), "--metadata", "note:text", "--metadata", "note:number")
        assert "iso6709" in says(str(file), "--metadata", "location:text")
        assert "Kind" in says(str(file), "--metadata", "Kind:text")
        assert "100000" in says(str(file), "--bit-rate", "1k")
        assert "bytes from 1" in says(str(file), "--min-free", "0")
        assert "h264" in says(str(file), "--codec", "vp9")
        list_ = daemon.directory / "visit.gaps.json"
        list_.write_text("mine")
        assert "--overwrite" in says(str(file), "--again", status=5)
        assert file.read_text() == list_.read_text() == "mine"
    # procfs takes no files at all, and says what every folder says that cannot have one without a name.
    assert "/proc" in says("--into", "/proc", "-d", "1s", status=5)


def cut_by_a_slide_over(daemon, shell, meanwhile=lambda: None):
    """An app slides over photos, and leaves again."""
    shell.call(SHELL, "PlaceApp", "ssb", "notes", "slide-over", False)
    meanwhile()
    shell.call(SHELL, "PlaceApp", "ssb", "notes", "background", False)


@claim("camclient record --again over a slide-over: two files, and a list with the gap between them, exact to a frame")
def again():
    with Daemon("ios9") as daemon:
        shell = daemon.shell()
        daemon.app("notes")
        shell.call(SHELL, "PlaceApp", "ssb", "photos", "fullscreen", True)
        first, second, gaps = (daemon.directory / name for name in ("visit.mkv", "visit-3.mkv", "visit.gaps.json"))
        # A file of another day is in the way, and stays.
        (daemon.directory / "visit-2.mkv").write_text("mine")

        def listed():
            return json.loads(gaps.read_text()) if gaps.exists() else None

        with Running(daemon, "record", str(first), "--again", "--app", "photos", "--json") as recorder:
            wait_until("the recording's first frames", lambda: first.exists() and first.stat().st_size > 500_000)
            assert listed() is None

            def meanwhile():
                wait_until("the list of gaps", listed)
                (open_gap,) = listed()["gaps"]
                assert open_gap["fileBefore"] == "visit.mkv" and open_gap["fileAfter"] is None, open_gap
                assert open_gap["interruptionNanoseconds"] is None and open_gap["lastCapture"] > 0, open_gap

            cut_by_a_slide_over(daemon, shell, meanwhile)
            wait_until("the second file's frames", lambda: second.exists() and second.stat().st_size > 500_000)
            recorder.process.send_signal(signal.SIGINT)
            ends = [json.loads(line) for line in recorder.end()[0].splitlines()]
        assert [(end["file"], end["why"]) for end in ends] == [(str(first), "interrupted"), (str(second), "stopped")], ends
        assert (daemon.directory / "visit-2.mkv").read_text() == "mine"
        before, after = recorded_marks(first), recorded_marks(second)
        assert len(before) == ends[0]["frames"] and len(after) == ends[1]["frames"] and None not in before + after
        found = listed()
        assert found["files"] == ["visit.mkv", "visit-3.mkv"] and len(found["gaps"]) == 1, found
        gap = found["gaps"][0]
        assert (gap["fileBefore"], gap["fileAfter"], gap["interrupter"]) == ("visit.mkv", "visit-3.mkv", "notes"), gap
        assert gap["cause"] == ends[0]["cause"] == "video-device-not-available-with-multiple-foreground-apps", gap
        # What the pictures themselves say, and what the files say of themselves.
        assert abs(gap["lastCapture"] - before[-1][0]) < HALF_A_FRAME, (gap, before[-1])
        assert abs(gap["firstCapture"] - after[0][0]) < HALF_A_FRAME, (gap, after[0])
        assert gap["nanoseconds"] == gap["firstCapture"] - gap["lastCapture"], gap
        assert gap["lastCapture"] == int(tags(first)["LAST_CAPTURE"]) == ends[0]["lastCapture"], gap
        assert gap["firstCapture"] == int(tags(second)["FIRST_CAPTURE"]), gap
        assert 0 < gap["interruptionNanoseconds"] < gap["nanoseconds"], gap
        # Nothing is left of the way in which the list was written.
        assert not [name for name in names(daemon.directory) if name.startswith("visit.gaps.json.")], names(daemon.directory)
        return f"{gap['nanoseconds'] / 1e6:.0f} ms between {len(before)} and {len(after)} frames"


@claim("camclient record --again --into: two interruptions make three files with numbers, of which --duration is the sum")
def again_into():
    with Daemon("ios9") as daemon:
        folder, shell = library(daemon), daemon.shell()
        daemon.app("notes")
        shell.call(SHELL, "PlaceApp", "ssb", "photos", "fullscreen", True)
        with into(daemon, folder, "--again", "--app", "photos", "--duration", "8s") as recorder:
            ends = []
            for number in (1, 2):
                cut_by_a_slide_over(daemon, shell, lambda: ends.append(recorder.wait(why="interrupted")))
                wait_until("the next recording's frames", lambda: any(
                    size > 500_000 for size in unnamed(recorder.process.pid, folder)))
                assert names(folder) == ["recording-0001.gaps.json", "recording-0001.mkv", "recording-0002.mkv"][:number + 1]
            ends.append(json.loads(recorder.end()[0]))
        assert ends[-1]["why"] == "duration-limit", ends
        files = [f"recording-000{number}.mkv" for number in (1, 2, 3)]
        assert [end["file"] for end in ends] == [str(folder / file) for file in files], ends
        seconds = sum(played(folder / file)[1] for file in files)
        # The last one ends with the last frame that fits, and a busy machine may take none for a while. Files count milliseconds.
        assert 7 < seconds < 8.01, f"{seconds} s in all"
        found = json.loads((folder / "recording-0001.gaps.json").read_text())
        assert found["files"] == files, found
        between = [(gap["fileBefore"], gap["fileAfter"]) for gap in found["gaps"]]
        assert between == list(zip(files, files[1:])), found
        assert all(gap["nanoseconds"] > gap["interruptionNanoseconds"] > 0 for gap in found["gaps"]), found
        return f"{seconds:.2f} s in three files"


@claim("camclient record --again goes on after camrecorder was killed, and Ctrl-C in an interruption ends it well")
def again_after_a_reset():
    with Daemon("ios9") as daemon:
        shell = daemon.shell()
        daemon.app("notes")
        shell.call(SHELL, "PlaceApp", "ssb", "photos", "fullscreen", True)
        files = [daemon.directory / name for name in ("visit.mkv", "visit-2.mkv")]
        with Running(daemon, "record", str(files[0]), "--again", "--app", "photos", "--json") as recorder:
            wait_until("the recording's first frames", lambda: files[0].exists() and files[0].stat().st_size > 500_000)
            (core,) = daemon.recorders()
            os.kill(core, signal.SIGKILL)
            reset = recorder.wait(why="recorder-reset")
            wait_until("the second file's frames", lambda: files[1].exists() and files[1].stat().st_size > 500_000)
            shell.call(SHELL, "PlaceApp", "ssb", "notes", "slide-over", False)
            cut = recorder.wait(why="interrupted")
            recorder.process.send_signal(signal.SIGINT)
            recorder.end()
        marks = [recorded_marks(file) for file in files]
        assert [len(one) for one in marks] == [reset["frames"], cut["frames"]], (reset, cut)
        gap, last = json.loads((daemon.directory / "visit.gaps.json").read_text())["gaps"]
        assert abs(gap["lastCapture"] - marks[0][-1][0]) < HALF_A_FRAME, (gap, marks[0][-1])
        assert abs(gap["firstCapture"] - marks[1][0][0]) < HALF_A_FRAME, (gap, marks[1][0])
        assert gap["fileAfter"] == "visit-2.mkv" and gap["interruptionNanoseconds"] > 0, gap
        # The second interruption goes on: nothing follows it.
        assert last["fileBefore"] == "visit-2.mkv" and last["fileAfter"] is last["nanoseconds"] is None, last
        return f"{gap['nanoseconds'] / 1e6:.0f} ms without a recorder core"


@claim("footage that is decoded too slowly says so once with its figures, and the frames that are missing count as left out of the recording")
def slow_footage():
    with too_slow() as camera, Daemon(cameras=(camera,)) as daemon:
        film = daemon.directory / "slow.mkv"
        done = camclient(daemon, "record", str(film), "-d", "2s", "--json")
        finished = json.loads(done.stdout)
        (said,) = [line for line in done.stderr.splitlines() if "camera-slow" in line]
        figures = re.search(r"Footage film\.mov is decoded more slowly than it plays: ([0-9.]+) frames a second of 1000\. (\d+) frames were missed\.$", said)
        assert figures and 0 < float(figures[1]) < 1000 and int(figures[2]) > 100, said
        numbers = [number for _, number in recorded_marks(film)]
        missing = numbers[-1] - numbers[0] + 1 - len(numbers)
        # Those behind the last frame that came are left out, too.
        assert len(numbers) == finished["frames"] and 100 < missing <= finished["framesLeftOut"], (finished, missing)
        return f"{said.partition(': ')[2]} {finished['frames']} frames, {finished['framesLeftOut']} left out"


@claim("camclient run says of a recording whose broker nothing outlives that what is in it is not known, as JSON null, and the file plays")
def unknown_figures():
    for more in ((), ("--json",)):
        with Daemon() as daemon:
            file = daemon.directory / "visit.mkv"
            with Running(daemon, "run", *more, "start", "wait DidStartRunning", f"record {file}", "wait RecordingFinished 60s") as recorder:
                wait_until("the recording's first frames", lambda: file.exists() and file.stat().st_size > 500_000)
                (core,) = daemon.recorders()
                daemon.ends = (-signal.SIGKILL,)
                daemon.process.kill()
                if more:
                    told = recorder.wait(event="RecordingFinished")
                    assert told["why"] == "interrupted" and told["cause"] == "broker-restarted", told
                    assert told["frames"] is told["duration"] is told["bytes"] is None, told
                else:
                    told = next(line for line in recorder.process.stdout if "recordingFinished" in line)
                    assert "interrupted after a time that is not known, " in told and told.endswith(", frames unknown, bytes unknown\n"), told
            wait_until("the recorder core's end", lambda: state_of(core) in ("", "Z"))
            assert played(file)[0] > 0


@claim("camclient record: codec, bit rate and metadata are in the file, and a disk that would get too full ends it")
def choices():
    with Daemon() as daemon:
        made = [daemon.directory / name for name in ("one.mkv", "two.mkv", "three.mkv")]
        camclient(daemon, "record", str(made[0]), "-d", "1s", "--codec", "mjpeg", "--metadata", "orientation",
                  "--metadata", "speed:number")
        described = json.loads(subprocess.run(
            ["ffprobe", "-v", "error", "-show_entries", "stream=codec_type,codec_name:stream_tags=title", "-of", "json",
             str(made[0])], stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout)["streams"]
        assert [stream["codec_name"] for stream in described if stream["codec_type"] == "video"] == ["mjpeg"], described
        texts = {stream["tags"]["title"] for stream in described if stream["codec_type"] == "subtitle"}
        assert texts == {"orientation", "speed"}, described
        # Half a million bits a second are 63 kB, behind a head that is as long in every file; usual are 1.3 MB.
        small = json.loads(camclient(
            daemon, "record", str(made[1]), "-d", "1s", "--bit-rate", "500k", "--json").stdout)
        assert small["why"] == "duration-limit" and small["bytes"] < 400_000 < made[0].stat().st_size, small
        assert small["framesLeftOut"] == 0 and small["cause"] is None and small["lastCapture"] > 0, small
        free = os.statvfs(daemon.directory)
        twice = str(2 * free.f_blocks * free.f_frsize)
        full = camclient(daemon, "record", str(made[2]), "-d", "20s", "--min-free", twice, status=1).stdout
        assert full.startswith(f"{made[2]}: ") and "; ended: disk-full" in full, full
