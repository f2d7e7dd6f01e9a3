"""Simulated cameras: what each lists, over the wire, against tables that are written down here; their files; and what is asked of them.

Each table has a row for a format or, with `vf`, for a pair of them (420v, then 420f): size, frame rates, pixels of a still, field of
view, greatest zoom, zoom from which pictures are scaled up, binning, autofocus, ISO, exposure in seconds, stabilization, video HDR.
"""
import contextlib, re, shutil

from camclient import camclient, told, told_lines
from footage import filmed
from harness import ROOT, SHELL, Daemon, Folder, Refused, Skipped, claim, plain, probed, ran, refused, wait_until

CAMERA_INTERFACE = "org.camarb.Camera1"

IPHONE5_BACK = """
vf  192x144    1-30  192x144    56.7    14.4   8.5     binned  contrast  46-736  0.000018-1  -         -
vf  352x288    1-30  352x288    51.975  28.8   4.25    binned  contrast  46-736  0.000018-1  -         -
vf  480x360    1-30  480x360    56.7    36     3.4     binned  contrast  46-736  0.000018-1  -         -
vf  640x480    1-30  640x480    56.7    48     2.55    binned  contrast  46-736  0.000018-1  -         -
vf  960x540    1-30  960x540    48.518  54     2.9093  -       contrast  46-736  0.000018-1  standard  -
vf  1280x720   1-30  1280x720   48.518  72     2.18    -       contrast  46-736  0.000018-1  standard  -
vf  1280x720   1-60  1280x720   46.694  72     1.05    binned  contrast  46-736  0.000018-1  standard  -
vf  1920x1080  1-30  1920x1080  48.518  108    1.4545  -       contrast  46-736  0.000018-1  standard  -
f   3264x2448  1-20  3264x2448  56.7    244.8  1       -       contrast  46-736  0.000018-1  -         -
"""

IPHONE6_BACK = """
vf  192x144    2-30   3264x2448  58.04   153     17    -       phase     29-1856  0.000013-0.5  -                   -
vf  192x144    2-60   192x144    58.04   76.5    8.5   binned  phase     29-1856  0.000013-0.5  -                   -
vf  352x288    2-30   2992x2448  53.203  153     8.5   -       phase     29-1856  0.000013-0.5  -                   -
vf  480x360    2-30   3264x2448  58.04   153     6.8   -       phase     29-1856  0.000013-0.5  -                   -
vf  640x480    2-30   3264x2448  58.04   153     5.1   -       phase     29-1856  0.000013-0.5  -                   -
vf  640x480    2-60   640x480    58.04   76.5    2.55  binned  phase     29-1856  0.000013-0.5  -                   -
vf  960x540    2-30   3264x1836  58.04   114.75  3.4   -       phase     29-1856  0.000013-0.5  standard            hdr
vf  1280x720   2-30   3264x1836  58.04   114.75  2.55  -       phase     29-1856  0.000013-0.5  standard+cinematic  hdr
vf  1280x720   5-240  1280x720   45.522  45      1     binned  contrast  29-1856  0.000013-0.2  standard            -
vf  1920x1080  2-30   3264x1836  58.04   114.75  1.7   -       phase     29-1856  0.000013-0.5  standard+cinematic  hdr
vf  1920x1080  2-60   3264x1836  58.04   114.75  1.7   -       phase     29-1856  0.000013-0.5  standard+cinematic  hdr
f   3264x2448  2-30   3264x2448  58.04   153     1     -       phase     29-1856  0.000013-0.5  -                   -
"""

IPHONE6_FRONT = """
vf  192x144   2-60  192x144   54.4   60  6.6666  -  none  34-2176  0.000013-0.5  -         hdr
vf  352x288   2-60  352x288   49.81  60  3.3295  -  none  34-2176  0.000013-0.5  -         hdr
vf  480x360   2-60  480x360   54.4   60  2.6666  -  none  34-2176  0.000013-0.5  -         hdr
vf  640x480   2-60  640x480   54.4   60  2       -  none  34-2176  0.000013-0.5  -         hdr
vf  960x540   2-30  960x540   54.4   45  1.3333  -  none  34-2176  0.000013-0.5  standard  hdr
vf  1280x720  2-30  1280x720  54.4   45  1       -  none  34-2176  0.000013-0.5  standard  hdr
vf  1280x960  2-60  1280x960  54.4   60  1       -  none  34-2176  0.000013-0.5  -         hdr
"""

IPHONE6S_BACK = """
vf  192x144    3-30   4032x3024  57.702  189     21      -       phase     23-1472  0.000013-0.333333  -                   -
vf  192x144    3-60   192x144    57.702  94.5    10.5    binned  phase     23-1472  0.000013-0.333333  -                   -
vf  352x288    3-30   3696x3024  52.893  189     10.5    -       phase     23-1472  0.000013-0.333333  -                   -
vf  480x360    3-30   4032x3024  57.702  189     8.4     -       phase     23-1472  0.000013-0.333333  -                   -
vf  640x480    3-30   4032x3024  57.702  189     6.3     -       phase     23-1472  0.000013-0.333333  -                   -
vf  640x480    3-60   640x480    57.702  94.5    3.15    binned  phase     23-1472  0.000013-0.333333  -                   -
vf  960x540    3-30   4032x2268  57.702  141.75  4.2     -       phase     23-1472  0.000013-0.333333  standard            hdr
vf  1280x720   3-30   4032x2268  57.702  141.75  3.15    -       phase     23-1472  0.000013-0.333333  standard+cinematic  hdr
vf  1280x720   3-60   4032x2268  57.702  141.75  3.15    -       phase     23-1472  0.000013-0.333333  standard+cinematic  hdr
vf  1280x720   6-240  1280x720   36.636  45      1       binned  contrast  23-1472  0.000013-0.166666  standard            -
vf  1920x1080  3-30   4032x2268  57.702  141.75  2.1     -       phase     23-1472  0.000013-0.333333  standard+cinematic  hdr
vf  1920x1080  3-60   4032x2268  57.702  141.75  2.1     -       phase     23-1472  0.000013-0.333333  standard+cinematic  hdr
vf  1920x1080  3-120  1920x1080  54.954  67.5    1       binned  phase     23-1472  0.000013-0.333333  standard            -
vf  2592x1936  3-30   4032x3012  57.702  188.25  1.5555  -       phase     23-1472  0.000013-0.333333  -                   -
vf  3264x2448  3-30   4032x3024  57.702  189     1.2352  -       phase     23-1472  0.000013-0.333333  -                   -
vf  3840x2160  3-30   3840x2160  54.954  135     1       -       phase     23-1472  0.000013-0.333333  standard            -
vf  4032x3024  3-30   4032x3024  57.702  189     1       -       phase     23-1472  0.000013-0.333333  -                   -
"""

# The same but for its view.
IPHONE6SPLUS_BACK = IPHONE6S_BACK
for view, wider in (("57.702", "57.71"), ("54.954", "54.962"), ("52.893", "52.9"), ("36.636", "36.641")):
    IPHONE6SPLUS_BACK = IPHONE6SPLUS_BACK.replace(view, wider)

IPHONE6S_FRONT = """
vf  192x144   2-60  2576x1932  54.4    60  6.6666  -  none  34-2176  0.000013-0.5  -         -
vf  352x288   2-60  2360x1932  49.839  60  3.3295  -  none  34-2176  0.000013-0.5  -         -
vf  480x360   2-60  2576x1932  54.4    60  2.6666  -  none  34-2176  0.000013-0.5  -         -
vf  640x480   2-60  2576x1932  54.4    60  2       -  none  34-2176  0.000013-0.5  -         -
vf  960x540   2-30  2576x1448  54.4    45  1.3333  -  none  34-2176  0.000013-0.5  standard  -
vf  1280x720  2-30  2576x1448  54.4    45  1       -  none  34-2176  0.000013-0.5  standard  -
vf  1280x960  2-60  2576x1932  54.4    60  1       -  none  34-2176  0.000013-0.5  -         -
"""

UVC_WEBCAM = """
v   192x144    5-30  192x144    55.8  10  7.5   -  contrast  100-1600  0.0003-0.2  -  -
v   352x288    5-30  352x288    51.7  10  3.75  -  contrast  100-1600  0.0003-0.2  -  -
v   480x360    5-30  480x360    55.8  10  3     -  contrast  100-1600  0.0003-0.2  -  -
vf  640x480    5-30  640x480    55.8  10  2.25  -  contrast  100-1600  0.0003-0.2  -  -
v   1280x720   5-30  1280x720   70.4  10  1.5   -  contrast  100-1600  0.0003-0.2  -  -
v   1920x1080  5-30  1920x1080  70.4  10  1     -  contrast  100-1600  0.0003-0.2  -  -
v   1280x720   5-10  1280x720   70.4  10  1.5   -  contrast  100-1600  0.0003-0.2  -  -
v   1920x1080  1-5   1920x1080  70.4  10  1     -  contrast  100-1600  0.0003-0.2  -  -
"""

# Of each its name, its position, its formats, and which of them is the default: 720p30 in 420v, everywhere.
CAMERAS = {
    "iphone5-back": ("iPhone 5 back camera", "back", IPHONE5_BACK, 10),
    "iphone6-back": ("iPhone 6 back camera", "back", IPHONE6_BACK, 14),
    "iphone6-front": ("iPhone 6 front camera", "front", IPHONE6_FRONT, 10),
    "iphone6plus-back": ("iPhone 6 Plus back camera", "back", IPHONE6_BACK, 14),
    "iphone6plus-front": ("iPhone 6 Plus front camera", "front", IPHONE6_FRONT, 10),
    "iphone6s-back": ("iPhone 6s back camera", "back", IPHONE6S_BACK, 14),
    "iphone6s-front": ("iPhone 6s front camera", "front", IPHONE6S_FRONT, 10),
    "iphone6splus-back": ("iPhone 6s Plus back camera", "back", IPHONE6SPLUS_BACK, 14),
    "iphone6splus-front": ("iPhone 6s Plus front camera", "front", IPHONE6S_FRONT, 10),
    "uvc-webcam": ("UVC webcam 1080p", "external", UVC_WEBCAM, 5),
}


def formats(table):
    """What the wire has to say of a table: a dictionary for each format, with the type of each value."""
    found = []
    for row in table.strip().splitlines():
        kinds, size, rates, stills, view, most, lossless, binned, focus, iso, exposure, modes, hdr = row.split()
        one = {"videoMaxZoomFactor": ("d", float(most)), "videoZoomFactorUpscaleThreshold": ("d", float(lossless)),
               "isBinned": ("b", binned == "binned"), "fieldOfView": ("d", float(view))}
        for names, text in ((("width", "height"), size), (("highResolutionStillWidth", "highResolutionStillHeight"), stills)):
            one |= {name: ("u", int(value)) for name, value in zip(names, text.split("x"))}
        for name, text in (("FrameRate", rates), ("ISO", iso), ("ExposureDuration", exposure)):
            one |= {end + name: ("d", float(value)) for end, value in zip(("min", "max"), text.split("-"))}
        if focus != "none":
            one["autoFocusSystem"] = ("s", focus)
        if modes != "-":
            one["videoStabilizationModes"] = ("as", modes.split("+"))
        if hdr == "hdr":
            one["videoHDRSupported"] = ("b", True)
        found += [{"pixelFormat": ("s", "420" + kind), **one} for kind in kinds]
    return found


def without_assumed(shown):
    """Formats as they are shown, without what they name as assumed, which has to be fields that a format can have."""
    known = {key for one in formats(IPHONE6_BACK) for key in one}
    for one in shown:
        kind, names = one.pop("assumed", ("as", []))
        assert kind == "as" and len(set(names)) == len(names) and set(names) <= known, (names, one)
    return shown


def described(app, camera):
    """A camera's properties, once its recorder core has described it."""
    path = f"/org/camarb/camera/{camera}"

    def is_described():
        try:
            return app.property(path, CAMERA_INTERFACE, "Formats")
        except Refused:
            return None  # There is no such object before.

    wait_until(f"{camera}'s formats", is_described)
    return {name: app.property(path, CAMERA_INTERFACE, name) for name in ("Name", "Position", "Formats", "DefaultFormatIndex")}


@claim("each simulated camera lists its formats over the wire, in order and with every field, as they are written down")
def over_the_wire():
    count = 0
    # Ids of which the objects' paths are made as they are.
    ids = {f"c{number}": model for number, model in enumerate(CAMERAS)}
    with Daemon(cameras=[f"{camera}=simulated:{model}" for camera, model in ids.items()]) as daemon:
        app = daemon.app("photos")
        for camera, model in ids.items():
            name, position, table, default = CAMERAS[model]
            shown, wanted = described(app, camera), formats(table)
            assert (shown["Name"], shown["Position"]) == (name, position), (model, shown["Name"], shown["Position"])
            assert len(shown["Formats"]) == len(wanted), f"{model}: {len(shown['Formats'])} formats, not {len(wanted)}"
            for number, (one, other) in enumerate(zip(without_assumed(shown["Formats"]), wanted)):
                assert one == other, f"{model}: format {number} is\n{one}\nand not\n{other}"
            assert shown["DefaultFormatIndex"] == default, (model, shown["DefaultFormatIndex"])
            usual = wanted[default]
            assert (usual["pixelFormat"][1], usual["width"][1], usual["maxFrameRate"][1]) == ("420v", 1280, 30), model
            count += len(wanted)
    files = {file.stem for file in (ROOT / "cameras").glob("*.toml")}
    assert files == set(CAMERAS), files ^ set(CAMERAS)
    return f"{len(CAMERAS)} cameras, {count} formats"


@claim("a session that asks for no format has the camera's default one, which is not the first of its list")
def default_format():
    with Daemon(cameras=("front=simulated:iphone6s-front",)) as daemon:
        app, session = daemon.running("photos")
        assert session.property("Configuration")["activeFormat"] == ("s", "420v 1280x720@30"), session.property("Configuration")
        # Number 13, as Apple printed it.
        session.configure(activeFormat="420f 1280x960@60")
        app.wait("ConfigurationApplied", lambda body: body[3]["activeFormat"][1] == "420f 1280x960@60")
        listed = camclient(daemon, "formats", "front").stdout.splitlines()
        assert len(listed) == 16 and [line for line in listed if " default " in line] == [listed[11]], listed
        assert listed[11].split()[:4] == ["10", "default", "420v", "1280x720@30"], listed[11]
        assert listed[14].endswith(
            "  420f 1280x960, 2–60 fps, HRSI 2576x1932, fov 54.4, max zoom 60.00 (upscales @1.00), ISO 34–2176, "
            "SS 0.000013–0.5"), listed[14]
        # Of the others, of which nobody published a list, the same is assumed.
        assert listed[11].endswith(
            "  420v 1280x720*, 2–30 fps*, HRSI 2576x1448*, fov 54.4*, max zoom 45.00* (upscales @1.00*), ISO 34–2176*, "
            "SS 0.000013–0.5*, standard*"), listed[11]
        assert listed[15] == "* assumed: nobody published it, and nobody measured it.", listed[15]
        formats = told_lines(daemon, "formats", "front")
        assumed = set(formats[10]["assumed"])
        assert formats[13]["assumed"] == [] and assumed >= {"fieldOfView", "minISO", "maxISO", "width", "isBinned"}, formats[10]
        assert "autoFocusSystem" not in assumed, formats[10]


@claim("a file camera says nothing of its field of view, which a file does not have, and assumes nothing")
def no_view():
    with filmed("25/2") as camera, Daemon(cameras=(camera,)) as daemon:
        wait_until("the file's formats", lambda: described(daemon.app("photos"), "front"))
        (listed, *more) = camclient(daemon, "formats", "front").stdout.splitlines()[1:]
        assert "420v 640x480, 1–12.5 fps, max zoom" in listed, listed
        assert not any("fov" in line or "*" in line for line in (listed, *more)), (listed, more)
        first = told_lines(daemon, "formats", "front")[0]
        assert "fieldOfView" not in first and first["assumed"] == [], first


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
            notes.append(f"{kind}: stream {streamed}, recording {told} {ends_of(recorded)}, photo {ends_of(photos[0])}, flash {gain:.2f}")
            session.stops()
    return "; ".join(notes)


@claim("footage of full range is shown in video range, as the format of a file camera says, at its own size and at a smaller one")
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


@claim("a still of the 6 Plus is steadied by the lens in the format of preset photo and not in another, nor with stillImageStabilization "
       "off")
def lens_of_a_still():
    """At 1/12 s, which is dark enough: the exposure is set by hand."""
    with Daemon(cameras=("back=simulated:iphone6plus-back",)) as daemon:
        app, session = daemon.running("photos", "back", activeFormat="420v 640x480@30")

        def used(**settings):
            session.configure(**settings, exposureMode="custom", exposureDuration=1 / 12, iso=100.0)
            app.wait("ConfigurationApplied", lambda body: set(settings) <= set(body[2]))
            told = plain(session.photo(daemon.directory / "still.jpg")[7])
            assert abs(told["exposureDuration"] - 1 / 12) < 1e-3, told
            return told["stillImageStabilizationUsed"], told["lensStabilizationUsed"]

        assert used(frameRate=10.0) == (True, False)
        assert used(sessionPreset="photo", frameRate=10.0) == (True, True)
        assert used(stillImageStabilization=False) == (False, False)
        assert used(stillImageStabilization=True) == (True, True)


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
            assert without_assumed(described(daemon.app("photos"), "desk")["Formats"]) == formats(UVC_WEBCAM)
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
            formats = told(None, "camera", "check", ROOT / "cameras" / f"{model}.toml")["camera"]["formats"]
            assert [number for number, _ in listed] == list(range(len(formats))), (model, listed)
            for (number, line), one in zip(listed, formats, strict=True):
                assert line == one["line"], f"{model} {number}: the page has\n{line}\nand the file\n{one['line']}"
                assert ("*" in line) == bool(set(one["assumedKeys"]) - {"reads"}), f"{model} {number}: {line}, {one['assumedKeys']}"
            seen.add(model)
    assert seen == set(CAMERAS), seen ^ set(CAMERAS)
    return f"{len(seen)} cameras"


@claim("whoever names no camera gets the back one, and where none is there the first by its id, and keeps it")
def unnamed():
    def chosen(daemon):
        session = daemon.app("photos").session("")
        return session, session.property("Camera")

    cameras = ("zoo=simulated:iphone6s-front", "attic=simulated:iphone6-front", "yard=simulated:iphone6s-back")
    with Daemon(cameras=cameras) as daemon:
        session, camera = chosen(daemon)
        assert camera == "yard", camera
        # What none of the others has.
        camclient(daemon, "photo", daemon.directory / "yard.jpg", "--set", "focusMode=locked")
        shell = daemon.shell()
        shell.call(SHELL, "Plug", "sb", "yard", False)
        assert chosen(daemon)[1] == "attic"
        shell.call(SHELL, "Plug", "sb", "yard", True)
        shell.call(SHELL, "Plug", "sb", "attic", False)
        assert chosen(daemon)[1] == session.property("Camera") == "yard"
    with Daemon(cameras=cameras[:2]) as daemon:
        assert chosen(daemon)[1] == "attic"
