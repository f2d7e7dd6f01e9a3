"""Photos from outside: brackets, what each says of how it was taken, and its Exif, as ffprobe reads it."""
import contextlib, fractions, os

from camclient import camclient, told_lines
from harness import Daemon, children_of, claim, plain, played, probed, refused, wait_until
from service import writers


def exif(path):
    """The Exif of a JPEG, as libavcodec reads it: numbers where there are some."""
    (frame,) = probed(path, "-show_frames", "-show_entries", "frame=width,height:frame_tags", complains=False)["frames"]
    found = {"width": frame["width"], "height": frame["height"]}
    for name, text in frame["tags"].items():
        words = text.strip().split(":")
        if len(words) <= 2 and all(word.strip().lstrip("-").isdigit() for word in words):
            found[name] = fractions.Fraction(*(int(word) for word in words))
        else:
            found[name] = text.strip()
    return found


def bracket(session, paths, options):
    """Asks for a bracket into these files: the numbers of its photos."""
    with contextlib.ExitStack() as opened:
        files = [opened.enter_context(open(path, "w+b")) for path in paths]
        return session.call("CapturePhotoBracket", "aha{sv}", files, options)[0]


def biases(*numbers):
    return {"exposureTargetBiases": ("ad", list(map(float, numbers)))}


def take(session, paths, options):
    """A bracket into these files: what PhotoCaptured says of each, in their order."""
    photos = bracket(session, paths, options)
    assert len(photos) == len(paths), photos
    # Each is told of when its file is written; nobody promises in which order that is.
    told = [session.app.wait("PhotoCaptured", lambda body: body[2] in photos) for _ in photos]
    told.sort(key=lambda body: photos.index(body[2]))
    assert [body[2] for body in told] == photos and all(body[6] == "" for body in told), told
    return [plain(body[7]) for body in told]


@claim("a bracket by bias and one by duration and ISO are photos of consecutive frames, whose Exif says how each was taken")
def brackets():
    with Daemon(cameras=("back=simulated:iphone6splus-back",)) as daemon:
        app = daemon.app("photos")
        session = app.session("back", activeFormat="420v 1280x720@30", videoOrientation="portrait",
                              lensStabilizationDuringBracket=True, videoZoomFactor=2.0)
        session.runs()
        paths = [daemon.directory / f"bias{number}.jpg" for number in range(3)]
        told = take(session, paths, biases(-2, 0, 2))
        assert [photo["exposureTargetBias"] for photo in told] == [-2, 0, 2], told
        for path, photo in zip(paths, told):
            read = exif(path)
            assert (read["width"], read["height"]) == (1280, 720), read
            assert read["ExposureBiasValue"] == photo["exposureTargetBias"], (read, photo)
            assert abs(float(read["ExposureTime"]) / photo["exposureDuration"] - 1) < 0.01, (read, photo)
            assert read["Orientation"] == photo["orientation"] == 6 and read["DigitalZoomRatio"] == 2, (read, photo)
            assert (read["PixelXDimension"], read["PixelYDimension"]) == (1280, 720) and read["Flash"] == 16, read
        paths = [daemon.directory / f"set{number}.jpg" for number in range(2)]
        told = take(session, paths, {"exposureDurations": ("ad", [1 / 250, 1 / 30]), "isos": ("ad", [400.0, 50.0])})
        assert [photo["lensStabilizationUsed"] for photo in told] == [False, True], told
        assert [exif(path)["ExposureTime"] for path in paths] == [fractions.Fraction(1, 250), fractions.Fraction(1, 30)]
        assert [exif(path)["ISOSpeedRatings"] for path in paths] == [400, 50]
        assert "exposureTargetBias" not in told[0], told


def descriptors_of(*processes):
    return [len(os.listdir(f"/proc/{process}/fd")) for process in processes]


@claim("nine files are refused with the number that a message may bring, and so are one file for two photos and what the camera cannot; "
       "the session and its recording go on, and nothing is left open")
def nine_files():
    # A busy machine's keeper of descriptors is none that hangs.
    with Daemon(cameras=("back=simulated:iphone6splus-back",), extra=("--patience", "20")) as daemon:
        app, session = daemon.running("photos", "back")
        session.records(daemon.directory / "film.mkv")
        paths = [daemon.directory / f"photo{number}.jpg" for number in range(9)]

        def nine(times):
            for _ in range(times):
                refused(lambda: bracket(session, paths, biases(*[0] * 9)), "9 file descriptors", "at most 8", error="LimitExceeded")
            # An answer may come a moment before the files of its message are closed.
            wait_until("the refused files to be closed", lambda: not any(map(writers, paths)))

        for files, options, *words in (
                (paths[:1] * 2, biases(0, 1), "one file"), (paths[:2], biases(0, 9), "exposureTargetBiases has 9", "-8 to 8"),
                (paths[:1], {"exposureDurations": ("ad", [0.01]), "isos": ("ad", [5000.0])}, "isos has 5000")):
            refused(lambda: bracket(session, files, options), *words)
        nine(1)
        (keeper,) = children_of(daemon.process.pid, "camkeeper")
        processes = (daemon.process.pid, keeper)
        before = descriptors_of(*processes)
        nine(20)
        wait_until(f"at most {before} descriptors", lambda: all(now <= then for now, then in zip(descriptors_of(*processes), before)))
        assert all(path.read_bytes() == b"" for path in paths) and "PhotoCaptured" not in app.names(), app.names()
        take(session, paths[:8], biases(*range(-4, 4)))
        ended = session.finish()
        assert ended[3] == "stopped" and played(daemon.directory / "film.mkv")[0] == ended[4] > 0, ended
        assert "WasInterrupted" not in app.names(), app.names()


@claim("camclient photo takes one of the high-resolution size, and a bracket into files with numbers, and says how")
def by_camclient():
    with Daemon(cameras=("back=simulated:iphone6s-back",)) as daemon:
        large = daemon.directory / "large.jpg"
        said = camclient(daemon, "photo", large, "--high-resolution").stdout
        assert ": 4032x2268, " in said and "1/60 s, ISO" in said, said
        read = exif(large)
        assert (read["width"], read["height"]) == (4032, 2268) and read["Orientation"] == 1, read
        assert 25 <= read["FocalLengthIn35mmFilm"] <= 36 and "iPhone 6s" in read["Model"], read
        told = told_lines(daemon, "photo", daemon.directory / "b.jpg", "--bias", "-1,1")
        assert [photo["metadata"]["exposureTargetBias"] for photo in told] == [-1, 1], told
        assert [photo["file"] for photo in told] == [str(daemon.directory / f"b-{number}.jpg") for number in (1, 2)], told
        assert all(exif(photo["file"])["width"] == 1280 for photo in told)
        camclient(daemon, "photo", large, "--bias=bright", status=2)


@claim("a session of the 6s has everything as it was after a bracket, the front camera and back, and an interruption")
def whole_session():
    # What changes by itself, such as the lens, is the camera's affair.
    own = ("adjusting", "lensPosition", "iso", "exposureDuration", "pipelineRebuilds")

    def settled(configuration):
        return {key: value for key, value in configuration.items() if not key.startswith(own)}

    with Daemon(cameras=("back=simulated:iphone6s-back", "front=simulated:iphone6s-front")) as daemon:
        shell = daemon.shell()
        shell.place("photos", "fullscreen", True)
        app, session = daemon.running("photos", "back", sessionPreset="photo")
        session.configure(videoZoomFactor=2.0, exposureTargetBias=1.0, flashMode="auto", videoOrientation="portrait")
        app.wait("ConfigurationApplied", lambda body: "flashMode" in body[2])
        before = settled(session.property("Configuration"))
        assert before["sessionPreset"] == ("s", "photo") and before["activeFormat"][1].startswith("420f 4032x3024@30"), before
        session.stream().read()

        def goes_to(camera):
            session.configure(camera=camera)
            app.wait("ConnectionsFormed", lambda body: body[2] == camera)
            return settled(session.property("Configuration"))

        paths = [daemon.directory / f"{number}.jpg" for number in range(3)]
        take(session, paths, biases(-1, 0, 1))
        read = [exif(path) for path in paths]
        assert all((one["width"], one["height"], one["Orientation"], one["DigitalZoomRatio"]) == (4032, 3024, 6, 2) for one in read), read
        assert settled(session.property("Configuration")) == before
        there = goes_to("front")
        assert there["sessionPreset"] == ("s", "photo") and there["activeFormat"][1].startswith("420f 1280x960"), there
        assert goes_to("back") == before
        session.stream().read()
        # Another app has the camera for a while, and sets it otherwise.
        other = daemon.app("call").session("back", activeFormat="420v 1280x720@240 binned", videoZoomFactor=5.0)
        shell.place("call", "fullscreen", True)
        shell.place("photos", "fullscreen")
        other.runs()
        other.call("StopRunning")
        app.resumes()
        assert settled(session.property("Configuration")) == before
        session.stream().read()
