"""Programs with a window of their own, on an X server without a screen: what they show is looked at as a person looks at it."""
import contextlib, json, pathlib, subprocess, time

import numpy
import slates
from screen import Screen, needs
from harness import Daemon, spawn

WIDTH, HEIGHT = 1280, 900
# A program that draws by software on a busy machine takes a while to begin.
PATIENCE = 60.0
# So long it must show the camera before anything happens, in seconds.
STREAMS = 10.0
# How much of the screen a picture covers at least: each of these windows has one larger than that.
SHARE_MIN = 0.04
# Pixels that a camera's picture changes at least: its marks alone are some thousands, and a rate in a title is some dozens.
MOVES_MIN = 500
USED = "Another app has the camera."


def screenshot(screen):
    """Rows of pixels, each red, green and blue."""
    grabbed = subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", "-f", "x11grab", "-draw_mouse", "0", "-video_size", f"{WIDTH}x{HEIGHT}", "-i", screen.name,
         "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], stdout=subprocess.PIPE, check=True, timeout=PATIENCE)
    return numpy.frombuffer(grabbed.stdout, numpy.uint8).reshape(HEIGHT, WIDTH, 3).astype(numpy.int16)


def slate(picture):
    """Where there is the blue of a slate that will go again: a mask. Other programs' blues are lighter."""
    red, green, blue = (picture[:, :, at] for at in range(3))
    return (blue > red + 35) & (blue > green + 25) & (blue < 150) & (green < 80)


def shows_slate(picture):
    return slate(picture).mean() > SHARE_MIN


def text(picture):
    """The slate's letters, where it is shown dot by dot."""
    rows, columns = (numpy.flatnonzero(slate(picture).any(axis=axis)) for axis in (1, 0))
    cut = picture[rows[0]:rows[-1] + 1, columns[0]:columns[-1] + 1, 1].astype(numpy.uint8)
    return slates.read(cut.tobytes(), cut.shape[1], cut.shape[0])


def watching(screen, process, log):
    """A function that waits for two pictures of the screen, one behind the other, to be as they should be, while a process lives."""
    def until(what, condition):
        end, before = time.monotonic() + PATIENCE, screenshot(screen)
        while time.monotonic() < end:
            time.sleep(0.3)  # So that a camera's picture has moved on.
            now = screenshot(screen)
            assert process.poll() is None, f"{process.args[0]} ended with {process.returncode}:\n{log.read_text(errors='replace')[-2000:]}"
            if condition(before, now):
                return now
            before = now
        raise AssertionError(f"{process.args[0]} does not show {what}")

    return until


@contextlib.contextmanager
def started(program, environment, settings={}, variables={}):
    """A program on a screen: its daemon, and what waits for pictures of it. `environment` is what the door is given to, from a daemon,
    with `variables` in it; `settings` are files in its home."""
    needs("ffmpeg", program[0])
    with Screen(size=f"{WIDTH}x{HEIGHT}") as screen, Daemon() as daemon, contextlib.ExitStack() as ends:
        for name, content in settings.items():
            file = pathlib.Path(screen.home, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        process = spawn(*program, log=daemon.directory / "program",
                        env=environment(daemon, HOME=screen.home, DISPLAY=screen.name, LIBGL_ALWAYS_SOFTWARE="1", **variables))
        ends.callback(process.wait)
        ends.callback(process.kill)
        yield daemon, watching(screen, process, daemon.directory / "program")


def camera(before, now):
    # Its bars and its number move, and it is black and white.
    return not shows_slate(now) and (abs(now - before).max(axis=2) > 100).sum() > MOVES_MIN


def comes_up(program, environment):
    """Its window covers some of the screen, which is black."""
    with started(program, environment) as (_, until):
        until("a window", lambda before, now: min((picture.max(axis=2) > 100).mean() for picture in (before, now)) > SHARE_MIN)


@contextlib.contextmanager
def taken(daemon):
    """Another app has the camera."""
    shell = daemon.shell()
    shell.place("booth", "fullscreen", True)
    _, session = daemon.running("booth")
    yield
    session.call("StopRunning")
    shell.place("booth", "background")


def interrupted(program, environment, letters=False, **more):
    """It is interrupted, one process throughout."""
    with started(program, environment, **more) as (daemon, until):
        interrupt(daemon, until, letters)


def interrupt(daemon, until, letters=False):
    """The program shows the camera, which moves, for ten seconds; the slate while another app has it, which can be read where
    `letters`; and the camera again."""
    until("the camera", camera)
    begun = time.monotonic()
    while time.monotonic() < begun + STREAMS:
        until("more of it", camera)
    with taken(daemon):
        shown = until("the slate", lambda before, now: shows_slate(before) and shows_slate(now))
        if letters:
            said = text(shown)
            assert USED in said and "booth" not in said, said
    until("the camera again", camera)
    until("more of it", camera)


# Without these OBS shows a dialogue at its first start.
OBS_SETTINGS = {
    ".config/obs-studio/global.ini": "[General]\nFirstRun=true\nEnableAutoUpdates=false\n[Basic]\nProfile=Untitled\nProfileDir=Untitled\n"
                  "SceneCollection=Untitled\nSceneCollectionFile=Untitled\n",
    ".config/obs-studio/basic/profiles/Untitled/basic.ini": "[General]\nName=Untitled\n[Video]\nBaseCX=640\nBaseCY=480\nOutputCX=640\nOutputCY=480\n",
    ".config/obs-studio/basic/scenes/Untitled.json": json.dumps({
        "name": "Untitled", "current_scene": "Scene", "current_program_scene": "Scene", "scene_order": [{"name": "Scene"}],
        "sources": [
            {"id": "v4l2_input", "versioned_id": "v4l2_input", "name": "Camera", "enabled": True,
             "settings": {"device_id": "/dev/video0", "input": 0}},
            {"id": "scene", "versioned_id": "scene", "name": "Scene", "enabled": True, "settings": {"id_counter": 1, "items": [
                {"name": "Camera", "id": 1, "visible": True, "pos": {"x": 0.0, "y": 0.0}, "scale": {"x": 1.0, "y": 1.0},
                 "bounds_type": 2, "bounds": {"x": 640.0, "y": 480.0}}]}}]}),
}
