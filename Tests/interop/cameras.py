"""Simulated cameras: what each lists, over the wire, as its file has it; their files; and what is asked of them."""
import contextlib, re, shutil

from camclient import camclient, told, told_lines
from footage import filmed
from harness import ROOT, Daemon, Folder, Refused, Skipped, claim, plain, probed, ran, refused, wait_until

MODELS = sorted(file.stem for file in (ROOT / "cameras").glob("*.toml"))


def described(app, camera):
    def found(name):
        with contextlib.suppress(Refused):  # There is no such object before.
            return app.property(f"/org/camarb/camera/{camera}", "org.camarb.Camera1", name)

    formats = wait_until(f"{camera}'s formats", lambda: found("Formats"))
    return [plain(one) for one in formats], found("Name"), found("Position"), found("DefaultFormatIndex")


def of_file(model):
    return told(None, "camera", "check", ROOT / "cameras" / f"{model}.toml" if isinstance(model, str) else model)["camera"]


def holds(app, camera, file):
    """A camera lists over the wire what its file has, field by field."""
    formats, *rest = described(app, camera)
    wanted = [{key: value for key, value in one.items() if key not in ("name", "line", "reads", "assumedKeys")} for one in file["formats"]]
    for number, (one, other) in enumerate(zip(formats, wanted, strict=True)):
        assert {"assumed": [], **one} == other, f"{camera}: format {number} is\n{one}\nand not\n{other}"
    assert rest == [file[key] for key in ("name", "position", "defaultFormatIndex")], (camera, rest)
    return len(formats)


@claim("each simulated camera lists its formats over the wire, in order and with every field, as its file has them")
def over_the_wire():
    # Ids of which the objects' paths are made as they are.
    ids = {f"c{number}": model for number, model in enumerate(MODELS)}
    with Daemon(cameras=[f"{camera}=simulated:{model}" for camera, model in ids.items()]) as daemon:
        app, count = daemon.app("photos"), 0
        for camera, model in ids.items():
            file = of_file(model)
            count += holds(app, camera, file)
            assert file["formats"][file["defaultFormatIndex"]]["name"] == "420v 1280x720@30", model
    return f"{len(MODELS)} cameras, {count} formats"


@claim("a session that asks for no format has the camera's default one, which is not the first of its list")
def default_format():
    with Daemon(cameras=("front=simulated:iphone6s-front",)) as daemon:
        app, session = daemon.running("photos")
        assert session.property("Configuration")["activeFormat"] == ("s", "420v 1280x720@30"), session.property("Configuration")
        # Number 13, as Apple printed it.
        session.configure(activeFormat="420f 1280x960@60")
        app.wait("ConfigurationApplied", lambda body: body[3]["activeFormat"][1] == "420f 1280x960@60")
        # What nobody published has an asterisk, as in the file.
        listed, formats = camclient(daemon, "formats", "front").stdout.splitlines(), of_file("iphone6s-front")["formats"]
        assert len(listed) == 16 and [line for line in listed if " default " in line] == [listed[11]], listed
        assert all(line.endswith("  " + one["line"]) for line, one in zip(listed[1:], formats)), listed
        assert "*" not in listed[14] and "fov 54.4*" in listed[11], listed
        assert listed[15] == "* assumed: nobody published it, and nobody measured it.", listed[15]


def ends_of(luma, share=0.01):
    """The levels below and above which lies that share of a picture: encoders leave a few pixels beyond them."""
    counts = [luma.count(level) for level in range(256)]

    def end(levels):
        left = share * len(luma)
        for level in levels:
            left -= counts[level]
            if left < 0:
                return level

    return end(range(256)), end(range(255, -1, -1))


def first_picture(path, pixels):
    """What ffprobe says of a file's picture, and its luma as it was decoded: in the very layout that it has, nothing is converted."""
    (stream,) = probed(path, "-select_streams", "v:0", "-show_entries", "stream=pix_fmt,color_range", complains=False)["streams"]
    told = (stream["pix_fmt"], stream.get("color_range"))
    decoded = ran("ffmpeg", "-v", "error", "-i", path, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", told[0], "-", text=False).stdout
    assert len(decoded) == pixels * 3 // 2, (path, len(decoded))
    return told, decoded[:pixels]


def shown(session, part=1.0):
    """The luma of what its stream shows next, of so much of it from above."""
    with contextlib.closing(session.stream()) as stream:
        buffer = stream.buffers[stream.read().index]
        return b"".join(buffer.memory[row * buffer.stride:row * buffer.stride + buffer.width] for row in range(int(buffer.height * part)))


@claim("420f of a simulated camera has luma from 0 to 255 in stream and recording, and 420v from 16 to 235, each tagged so; photos of both "
       "have all")
def ranges():
    if not shutil.which("ffmpeg"):
        raise Skipped("ffmpeg is not installed")
    pixels, notes = 640 * 480, []
    with Daemon(cameras=("front=simulated:iphone6s-front",)) as daemon:
        app = daemon.app("photos")
        for kind, wanted, tags in (("420f", (0, 255), ("yuvj420p", "pc")), ("420v", (16, 235), ("yuv420p", "tv"))):
            def is_near(found, ends=wanted):  # What an encoder makes of an edge goes beyond it.
                return all(abs(one - other) <= 6 for one, other in zip(found, ends))

            session = app.running(activeFormat=f"{kind} 640x480@60")
            streamed = ends_of(shown(session))
            assert streamed == wanted, (kind, streamed)
            film = daemon.directory / f"{kind}.mkv"
            session.record(film, codec=("s", "h264"), maxDuration=("d", 0.2))
            app.wait("RecordingFinished")
            told, recorded = first_picture(film, pixels)
            assert told == tags and is_near(ends_of(recorded)), (kind, told, ends_of(recorded))
            photos = []
            for flash in ("off", "on"):
                session.configure(flashMode=flash)
                app.wait("ConfigurationApplied")
                path = daemon.directory / f"{kind} {flash}.jpg"
                assert session.photo(path)[6] == "", "a photo"
                photos.append(first_picture(path, pixels)[1])
                assert is_near(ends_of(photos[-1]), (0, 255)), (kind, flash, ends_of(photos[-1]))
            # Of what is neither black nor burnt out by it: how many times the light, which a picture has to the power of 1/2.2.
            gains = sorted((lit / plain) ** 2.2 for plain, lit in zip(*photos) if 100 <= plain <= 140)
            gain = gains[len(gains) // 2]
            assert 2.8 <= gain <= 3.2, (kind, gain)
            notes.append(f"{kind}: stream {streamed}, recording {ends_of(recorded)}, photo {ends_of(photos[0])}, flash {gain:.2f}")
            session.stops()
    return "; ".join(notes)


@claim("footage of full range is shown in video range, as the format of a file camera says, at its own size and at a smaller one; it says "
       "nothing of its field of view, which a file does not have, and assumes nothing")
def full_footage():
    halves = ",geq=lum='if(lt(X,320),0,255)':cb=128:cr=128,setparams=range=pc"
    film = filmed(25, 0.4, "nullsrc=size=640x480", halves, ("ffv1", "-pix_fmt", "yuv420p", "-color_range", "pc"))
    with film as camera, Daemon(cameras=(camera,)) as daemon:
        app = daemon.app("photos")
        for name in ("420v 640x480@25", "420v 320x240@25"):
            session = app.running(activeFormat=name)
            # Above the mark.
            assert ends_of(shown(session, 0.5)) == (16, 235), name
            session.stops()
        listed = camclient(daemon, "formats", "front").stdout
        assert "420v 640x480, 1–25 fps, max zoom" in listed and "fov" not in listed and "*" not in listed, listed
        first = told_lines(daemon, "formats", "front")[0]
        assert "fieldOfView" not in first and first["assumed"] == [], first


@claim("a front camera of the iPhone 6 has no stills larger than its stream, and its key for them is refused by name")
def no_larger_stills():
    with Daemon(cameras=("front=simulated:iphone6-front", "back=simulated:iphone6-back")) as daemon:
        app = daemon.app("photos")
        described(app, "front")
        refused(lambda: app.session("front", highResolutionStillImageOutputEnabled=True),
                "highResolutionStillImageOutputEnabled", "cannot set it")
        session = app.running("front", activeFormat="420v 192x144@60")
        assert tuple(session.photo(daemon.directory / "front.jpg")[3:5]) == (192, 144)
        app.session("back", highResolutionStillImageOutputEnabled=True)


@claim("camclient camera check says which camera a file is, or with status 1 everything that is wrong with it, and camarbd has such a "
       "camera by its path")
def files():
    with Folder() as folder:
        shipped, file = ROOT / "cameras" / "uvc-webcam.toml", folder / "desk.toml"
        shutil.copy(shipped, file)
        said = camclient(None, "camera", "check", file).stdout.splitlines()
        assert said[0].startswith(f"{file}: is a camera: UVC webcam 1080p, external, 1920x1080"), said[0]
        assert len(said) == 10 and said[6].split()[:2] == ["5", "default"], said
        checked = told(None, "camera", "check", file)
        assert checked["ok"] and checked["camera"]["id"] == "desk" and checked["camera"]["defaultFormatIndex"] == 5, checked
        assert checked["camera"]["formats"][8]["name"] == "420v 1920x1080@5", checked["camera"]["formats"][8]
        with Daemon(cameras=(f"desk=simulated:{file}",)) as daemon:
            holds(daemon.app("photos"), "desk", checked["camera"])
        file.write_text(file.read_text().replace("max-zoom      = 10.0", "max-zoom      = 1.0").replace("hdr ", "hrd "))
        wrong = camclient(None, "camera", "check", file, status=1).stdout
        assert '"lossless-zoom" in format 1 is 7.5; it takes a number from 1 to max-zoom, which is 1' in wrong, wrong
        assert 'did you mean "hdr"?' in wrong, wrong
        checked = told(None, "camera", "check", file, status=1)
        assert not checked["ok"] and "camera" not in checked and checked["problems"][0]["line"] > 1, checked
        camclient(None, "camera", "check", file, shipped, status=1)
        # The broker itself reads no such file; the recorder core refuses it, and says the first thing that is wrong.
        with Daemon(cameras=(f"desk=simulated:{file}",)) as daemon:
            wait_until("what the recorder core says", lambda: "lossless-zoom" in daemon.log.read_text())
            assert f"{file}:28: " in daemon.said() and "camclient camera check" in daemon.said(), daemon.said()
            assert "no camera" in camclient(daemon, "devices").stderr


@claim("the page about simulated cameras lists each camera's formats as its file has them, with an asterisk behind what it assumes")
def page():
    sections = re.split(r"^\*\*(?=[a-z])", (ROOT / "docs" / "simulated-cameras.md").read_text(), flags=re.M)[1:]
    seen = set()
    for section in sections:
        for model in section.split("**")[0].split(", "):
            listed = []
            for line in section.split("```")[1].strip("\n").splitlines():
                numbers, kinds, rest = re.match(r" *([0-9–]+)  (\S+) (.*)", line).groups()
                listed += [(int(number), f"{kind} {rest}") for number, kind in zip(numbers.split("–"), kinds.split("/"), strict=True)]
            formats = of_file(model)["formats"]
            assert [number for number, _ in listed] == list(range(len(formats))), (model, listed)
            for (number, line), one in zip(listed, formats, strict=True):
                assert line == one["line"], f"{model} {number}: the page has\n{line}\nand the file\n{one['line']}"
                assert ("*" in line) == bool(set(one["assumedKeys"]) - {"reads"}), f"{model} {number}: {line}, {one['assumedKeys']}"
            seen.add(model)
    assert seen == set(MODELS), seen ^ set(MODELS)
    return f"{len(seen)} cameras"


@claim("whoever names no camera gets the back one, a program in a terminal too")
def unnamed():
    with Daemon(cameras=("attic=simulated:iphone6-front", "yard=simulated:iphone6s-back")) as daemon:
        assert daemon.app("photos").session("").property("Camera") == "yard"
        # What the other has not.
        camclient(daemon, "photo", daemon.directory / "yard.jpg", "--set", "focusMode=locked")
