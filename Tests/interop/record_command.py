"""`camclient record`: into a folder, and on after an interruption. Files, lists and reports are read as their users do."""
import contextlib, errno, json, os, pathlib, signal

from camclient import Running, camclient, told, until_frames
from harness import Daemon, Skipped, claim, is_there, played, probed, recorded_marks, wait_until

# Half a frame of the simulated camera, which has 30 a second: nearer than that is the same frame.
HALF_A_FRAME = 1e9 / 60


def tags(file):
    return probed(file, "-show_entries", "format_tags", complains=False)["format"].get("tags", {})


def unnamed(process, folder):
    """The sizes of the files below a folder that a process has open and that have no name."""
    sizes = []
    for entry in pathlib.Path(f"/proc/{process}/fd").iterdir():
        # It may be closed meanwhile.
        with contextlib.suppress(OSError):
            status = os.stat(entry)
            if os.readlink(entry).startswith(f"{folder}/") and status.st_nlink == 0:
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


def writes(running, folder):
    wait_until("the recording's frames", lambda: any(size > 500_000 for size in unnamed(running.process.pid, folder)))


def into(daemon, folder, *more):
    """A camclient that records into a folder, some frames of which are written."""
    running = Running(daemon, "record", "--into", folder, "--json", *more)
    writes(running, folder)
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
            finished = json.loads(recorder.end(how=signal.SIGINT)[0])
        file = folder / "recording-0005.mkv"
        assert finished["file"] == str(file) and finished["why"] == "stopped", finished
        assert names(folder) == sorted([*theirs, file.name]), names(folder)
        assert all((folder / name).read_text() == text for name, text in theirs.items())
        count, _ = played(file)
        assert count == finished["frames"] > 0 and file.stat().st_size == finished["bytes"], (count, finished)
        # It is an ordinary file, and nobody's copy.
        assert file.stat().st_nlink == 1 and oct(file.stat().st_mode & 0o444) == oct(0o444), file.stat()
        # One more, through another name of the folder.
        again = told(daemon, "record", "--into", f"{folder}/", "-d", "300ms")
        assert again["file"] == str(folder / "recording-0006.mkv"), again


@claim("camclient record says what is wrong with its words before it asks for a camera, and touches no file")
def wrong_words():
    with Daemon() as daemon:
        folder = daemon.directory
        file, list_ = folder / "visit.mkv", folder / "visit.gaps.json"
        file.write_text("mine")
        list_.write_text("mine")
        for words, *said in (
                ((), "--into"), ((file, "--into", folder), "leave one"), (("--into", folder, "--overwrite"), "--overwrite"),
                ((file, *[word for number in range(9) for word in ("--metadata", f"k{number}:text")]), "at most 8"),
                ((file, "--metadata", "note:text", "--metadata", "note:number"), "twice"),
                ((file, "--metadata", "location:text"), "iso6709"), ((file, "--metadata", "Kind:text"), "Kind"),
                ((file, "--bit-rate", "1k"), "100000"), ((file, "--min-free", "0"), "bytes from 1"),
                ((file, "--codec", "vp9"), "h264"), (("--into", folder / "none"), "No such file", 5),
                (("--into", file), "Not a directory", 5), ((file, "--again"), "--overwrite", 5),
                # procfs takes no files at all, and says what every folder says that cannot have one without a name.
                (("--into", "/proc", "-d", "1s"), "/proc", 5)):
            error = camclient(None, "record", *words, "--address", "/nonexistent/socket", status=said[1] if said[1:] else 2).stderr
            assert said[0] in error, (words, error)
        assert file.read_text() == list_.read_text() == "mine"


@contextlib.contextmanager
def with_notes():
    """A telephone with photos in front, and what has notes slide over it, and leave again."""
    with Daemon("ios9") as daemon:
        shell = daemon.shell()
        daemon.app("notes")
        shell.place("photos", "fullscreen", True)

        @contextlib.contextmanager
        def slides_over():
            shell.place("notes", "slide-over")
            yield
            shell.place("notes", "background")

        yield daemon, slides_over


@claim("camclient record --again over a slide-over: two files, and a list with the gap between them, exact to a frame")
def again():
    with with_notes() as (daemon, slides_over):
        first, second, gaps = (daemon.directory / name for name in ("visit.mkv", "visit-3.mkv", "visit.gaps.json"))
        # A file of another day is in the way, and stays.
        (daemon.directory / "visit-2.mkv").write_text("mine")

        def listed():
            return json.loads(gaps.read_text()) if gaps.exists() else None

        with Running(daemon, "record", first, "--again", "--app", "photos", "--json") as recorder:
            until_frames(first)
            assert listed() is None
            with slides_over():
                wait_until("the list of gaps", listed)
                (open_gap,) = listed()["gaps"]
                assert open_gap["fileBefore"] == "visit.mkv" and open_gap["fileAfter"] is None, open_gap
                assert open_gap["interruptionNanoseconds"] is None and open_gap["lastCapture"] > 0, open_gap
            until_frames(second)
            ends = [json.loads(line) for line in recorder.end(how=signal.SIGINT)[0].splitlines()]
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
    with with_notes() as (daemon, slides_over):
        folder = library(daemon)
        with into(daemon, folder, "--again", "--app", "photos", "--duration", "8s") as recorder:
            ends = []
            for number in (1, 2):
                with slides_over():
                    ends.append(recorder.wait(why="interrupted"))
                writes(recorder, folder)
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
    with with_notes() as (daemon, slides_over):
        files = [daemon.directory / name for name in ("visit.mkv", "visit-2.mkv")]
        with Running(daemon, "record", files[0], "--again", "--app", "photos", "--json") as recorder:
            until_frames(files[0])
            (core,) = daemon.recorders()
            os.kill(core, signal.SIGKILL)
            reset = recorder.wait(why="recorder-reset")
            until_frames(files[1])
            with slides_over():
                cut = recorder.wait(why="interrupted")
                recorder.end(how=signal.SIGINT)
        marks = [recorded_marks(file) for file in files]
        assert [len(one) for one in marks] == [reset["frames"], cut["frames"]], (reset, cut)
        gap, last = json.loads((daemon.directory / "visit.gaps.json").read_text())["gaps"]
        assert abs(gap["lastCapture"] - marks[0][-1][0]) < HALF_A_FRAME, (gap, marks[0][-1])
        assert abs(gap["firstCapture"] - marks[1][0][0]) < HALF_A_FRAME, (gap, marks[1][0])
        assert gap["fileAfter"] == "visit-2.mkv" and gap["interruptionNanoseconds"] > 0, gap
        # The second interruption goes on: nothing follows it.
        assert last["fileBefore"] == "visit-2.mkv" and last["fileAfter"] is last["nanoseconds"] is None, last
        return f"{gap['nanoseconds'] / 1e6:.0f} ms without a recorder core"


@claim("camclient run says of a recording whose broker nothing outlives that what is in it is not known, as JSON null, and the file plays")
def unknown_figures():
    for more in ((), ("--json",)):
        with Daemon() as daemon:
            file = daemon.directory / "visit.mkv"
            with Running(daemon, "run", *more, "start", "wait DidStartRunning", f"record {file}", "wait RecordingFinished 60s") as recorder:
                until_frames(file)
                (core,) = daemon.recorders()
                daemon.kill()
                if more:
                    end = recorder.wait(event="RecordingFinished")
                    assert end["why"] == "interrupted" and end["cause"] == "broker-restarted", end
                    assert end["frames"] is end["duration"] is end["bytes"] is None, end
                else:
                    end = next(line for line in recorder.process.stdout if "recordingFinished" in line)
                    assert "interrupted after a time that is not known, " in end and end.endswith(", frames unknown, bytes unknown\n"), end
            wait_until("the recorder core's end", lambda: not is_there(core))
            assert played(file)[0] > 0


@claim("camclient record: codec, bit rate and metadata are in the file, and a disk that would get too full ends it")
def choices():
    with Daemon() as daemon:
        made = [daemon.directory / name for name in ("one.mkv", "two.mkv", "three.mkv")]
        camclient(daemon, "record", made[0], "-d", "1s", "--codec", "mjpeg", "--metadata", "orientation", "--metadata", "speed:number")
        described = probed(made[0], "-show_entries", "stream=codec_type,codec_name:stream_tags=title", complains=False)["streams"]
        assert [stream["codec_name"] for stream in described if stream["codec_type"] == "video"] == ["mjpeg"], described
        texts = {stream["tags"]["title"] for stream in described if stream["codec_type"] == "subtitle"}
        assert texts == {"orientation", "speed"}, described
        # Half a million bits a second are 63 kB, behind a head that is as long in every file; usual are 1.3 MB.
        small = told(daemon, "record", made[1], "-d", "1s", "--bit-rate", "500k")
        assert small["why"] == "duration-limit" and small["bytes"] < 400_000 < made[0].stat().st_size, small
        assert small["framesLeftOut"] == 0 and small["cause"] is None and small["lastCapture"] > 0, small
        free = os.statvfs(daemon.directory)
        twice = str(2 * free.f_blocks * free.f_frsize)
        full = camclient(daemon, "record", made[2], "-d", "20s", "--min-free", twice, status=1).stdout
        assert full.startswith(f"{made[2]}: ") and "; ended: disk-full" in full, full
