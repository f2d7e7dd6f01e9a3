"""The Python module itself, and its example."""
import asyncio, errno, inspect, math, pathlib, re, selectors, subprocess, sys

import camarb
from app import App, refused
from camarb import EventType
from harness import PATIENCE, SHELL, Daemon, claim, played
from lifetimes import preloaded

CLIENTS = pathlib.Path(__file__).resolve().parents[2]


@claim("the example, of at most 40 lines, shows pictures, says which app interrupts it, takes a photo and records")
def webcam():
    example = CLIENTS / "examples" / "python" / "webcam.py"
    assert len(example.read_text().splitlines()) <= 40
    with Daemon() as daemon, App(daemon.address, "notes") as notes:
        shell = daemon.shell()
        shell.call(SHELL, "PlaceApp", "ssb", "org.example.Webcam", "fullscreen", True)
        photo, film = daemon.directory / "photo.jpeg", daemon.directory / "film.mkv"
        environment = {**preloaded(), "PYTHONPATH": str(CLIENTS / "python"), "CAMARB_SOCKET": str(daemon.path),
                       "PYTHONDONTWRITEBYTECODE": "1"}
        run = lambda *words: subprocess.Popen([sys.executable, str(example), *words], env=environment, text=True,
                                              stdout=subprocess.PIPE)
        with run("--frames", "20", "--photo", str(photo), "--record", str(film)) as process:
            said = process.communicate(timeout=PATIENCE)[0].splitlines()
            assert process.returncode == 0, said
        assert said[0] == "running" and "20 frames of 1280x720" in said, said
        assert photo.read_bytes()[:2] == b"\xff\xd8" and played(film)[0] > 5
        # Now somebody comes in between.
        with run("--frames", "40") as process:
            assert process.stdout.readline() == "running\n"
            other = notes.session()
            other.start().result()
            shell.call(SHELL, "PlaceApp", "ssb", "notes", "fullscreen", True)
            said = process.stdout.readline()
            assert said == "interrupted: video-device-in-use-by-another-client, by notes\n", said
            notes.frame(other).release()
            other.stop().result()
            assert process.stdout.readline() == "running\n"
            assert process.stdout.readline() == "40 frames of 1280x720\n"
            assert process.wait(timeout=PATIENCE) == 0
        # And this is how it looks.
        with run() as process:
            while "%" not in process.stdout.readline():
                pass
            process.terminate()


@claim("a client waits in selectors and in asyncio like any descriptor")
def loops():
    with Daemon() as daemon:
        with App(daemon.address, "photos") as app, selectors.DefaultSelector() as selector:
            session = app.running()
            selector.register(app.client, selectors.EVENT_READ)
            frames = 0
            while frames < 5:
                assert selector.select(PATIENCE), "nothing came"
                app.client.dispatch()
                while app.client.next_event():
                    pass
                while frame := session.next_frame():
                    frame.release()
                    frames += 1

        async def watch():
            with camarb.Client(daemon.address, app="photos") as client, client.session("front") as session:
                loop, started = asyncio.get_running_loop(), asyncio.Event()

                def take():
                    client.dispatch()
                    while event := client.next_event():
                        if event.type is EventType.DID_START_RUNNING:
                            started.set()
                loop.add_reader(client.fileno(), take)
                session.start()
                await asyncio.wait_for(started.wait(), PATIENCE)
                # Events that came while a call was waited for wake the loop, too.
                started.clear()
                session.stop().result()
                session.start().result()
                await asyncio.wait_for(started.wait(), PATIENCE)
                loop.remove_reader(client.fileno())
        asyncio.run(watch())


@claim("a view of a frame stays readable after its release, its session and its client")
def views():
    with Daemon() as daemon:
        client = camarb.Client(daemon.address, app="photos")
        session = client.session("front")
        session.start()
        # They release each frame when the next is asked for, or they themselves are gone.
        frames = session.frames(timeout=PATIENCE)
        frame = next(frames)
        view = frame.planes[0][1000:2000]
        frame.release()
        assert frame.planes == () and not frame.planes
        frames.close()
        session.close()
        client.close()
        assert len(bytes(view)) == 1000
        assert frame._release.alive, "the memory is gone while somebody looks"
        assert view.readonly, "a picture can be written"
        del view
        assert not frame._release.alive, "nobody looks any more, and the memory is there"
        assert "closed" in refused(client.dispatch).sentence


@claim("a view's picture, the point that was touched and how a file is shown, as the page for authors of apps has them for Swift")
def geometry():
    held = "portrait"
    for device in ("landscapeLeft", "faceUp"):
        held = camarb.video_orientation(device, held)
    preview = camarb.Preview((1280, 720), (640, 640), held, "front")
    assert (held, preview.x, preview.y, preview.width, preview.height) == ("landscapeRight", 0, 140, 640, 360), (held, vars(preview))
    assert preview.device_point(160, 230) == (0.25, 0.75) and preview.view_point(0.25, 0.75) == (160, 230)
    assert (preview.exif_orientation, camarb.orientation_exif(held, "front")) == (4, 3)
    assert camarb.orientation_file_angle(held, "front") == math.pi == -2 * camarb.orientation_angle(held)
    assert camarb.device_orientation(held) == "landscapeLeft" and math.isnan(camarb.orientation_angle("up"))
    refused(lambda: camarb.Preview((1280, 0), (640, 640), held, "front"), number=errno.EINVAL)


def fields_in(sentence):
    """The event's fields in the first sentence, `session` left out."""
    words = re.findall(r"\w+", re.split(r"\.\s", sentence)[0])
    return {word for word in words if word in camarb.Event.__dataclass_fields__} - {"session"}


@claim("help says of each type of event which fields mean something, the same as camarb.h, and of each function its types")
def told_by_help():
    header = (CLIENTS / "libcamarb" / "camarb.h").read_text().split("enum camarb_event_type {")[1].split("};")[0]
    # A comment stands behind its name, or in lines of its own before it.
    before = {name: sentence for sentence, name in re.findall(r"^    /\* ((?:[^*]|\*(?!/))*)\*/\n    CAMARB_EVENT_(\w+)", header, re.M)}
    behind = dict(re.findall(r"CAMARB_EVENT_(\w+)(?: = 1)?, /\* (.*?)\*/", header))
    said = dict((name.strip(), sentence) for names, sentence in re.findall(r"^([A-Z_, ]+): ((?:.|\n    )+)$", EventType.__doc__, re.M)
                for name in names.split(","))
    assert set(said) == {kind.name for kind in EventType}, said
    for name, sentence in said.items():
        told = fields_in(behind.get(name) or before.get(name, ""))
        assert fields_in(sentence) == told, (name, sentence, told)
    assert (pathlib.Path(camarb.__file__).parent / "py.typed").exists()
    for owner in (getattr(camarb, name) for name in camarb.__all__):
        for name, one in ((owner.__name__, owner), *vars(owner).items()) if isinstance(owner, type) else ((owner.__name__, owner),):
            one = one.fget if isinstance(one, property) else one
            if inspect.isfunction(one) and not name.startswith("_") and one.__module__.startswith("camarb"):
                assert "return" in one.__annotations__, f"{owner.__name__}.{name} does not say what it gives"
