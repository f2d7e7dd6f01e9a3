"""Pictures that go on whatever an app sets meanwhile: a zoom under a finger, and formats in turn."""
import itertools, time

from app import running
from camarb import EventType
from footage import filmed
from harness import PATIENCE, claim, played, recorded_marks

# Frames a second: few, so that a busy machine has the time for each.
RATE = 10
ZOOMS = [1 + step / 16 for step in range(17)]


def watched(app, session, changes, seconds=3):
    """The sequence numbers and capture times of the frames of some seconds of the camera's, while its zoom goes up and down so many
    times a second. Frames that nobody captures end the wait, not the wish for them."""
    seen, slider = [], itertools.cycle(ZOOMS + ZOOMS[::-1])
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and (len(seen) < 2 or seen[-1][1] - seen[0][1] < seconds * 10 ** 9):
        if changes:
            session.configure(videoZoomFactor=next(slider)).result()
        app.take(1 / (changes or RATE))
        while frame := session.next_frame():
            with frame:
                seen.append((frame.sequence, frame.captured))
    return seen


def share(numbers):
    """How much of the frames that are due by the camera's own interval there were, from one to the last."""
    assert len(numbers) > 1, f"there were {len(numbers)} frames in {PATIENCE:.0f} s"
    (first, began), (last, ended) = numbers[0], numbers[-1]
    return (last - first) / ((ended - began) / 10 ** 9 * RATE)


def slides(camera, **settings):
    with running(**settings, cameras=[camera]) as (daemon, app, session):
        calm = share(watched(app, session, 0))
        said = []
        for changes in (20, 60):
            film = daemon.directory / f"film-{changes}.mkv"
            app.records(session, film)
            preview = share(watched(app, session, changes))
            session.stop_recording().result()
            ended = app.wait(EventType.RECORDING_FINISHED)
            assert ended.reason == "stopped" and played(film)[0] == ended.frames, ended
            marks = recorded_marks(film)
            assert None not in marks, "a picture without its mark"
            recorded = share([(number, captured) for captured, number in marks])
            # The frames in the film and those reported as left out are all that there were.
            assert marks[-1][1] - marks[0][1] + 1 == ended.frames + ended.frames_left_out, (marks, ended)
            # A machine that is late leaves frames out with and without a slider; a slider itself costs none.
            assert preview > calm / 2 and recorded > calm / 2, (camera, changes, calm, preview, recorded)
            said.append(f"{changes} a second: {preview:.0%} and {recorded:.0%}")
        return f"{calm:.0%} without, {', '.join(said)}"


@claim("a zoom that moves under a finger, 20 and 60 times a second, costs a simulated camera no frame of preview or recording")
def simulated_camera():
    return slides("front=simulated:iphone5-back", activeFormat="420v 640x480", frameRate=RATE)


@claim("a zoom that moves under a finger, 20 and 60 times a second, costs a file camera no frame of preview or recording")
def file_camera():
    with filmed(str(RATE)) as camera:
        return slides(camera)


def shows(app, session, width, height):
    """Some frames of that size, and that the stream has told of no trouble."""
    for _ in range(3):
        app.frame(session, where=lambda frame: (frame.width, frame.height) == (width, height), patience=4 * PATIENCE).release()
    trouble = [event.error for event in app.events if event.type is EventType.RUNTIME_ERROR]
    assert not trouble, trouble


@claim("a session that tries its camera's presets and formats in turn, from small to large and back, has frames of each one's size")
def formats_in_turn():
    with running(cameras=["front=simulated:iphone6s-back"]) as (daemon, app, session):
        presets = {"photo": (4032, 3024), "high": (1920, 1080), "3840x2160": (3840, 2160)}
        for _ in range(3):
            for preset, size in presets.items():
                session.configure(sessionPreset=preset, frameRate=3).result()
                shows(app, session, *size)
        for _ in range(2):
            for width, height in ((4032, 3024), (3840, 2160), (3264, 2448), (1920, 1080), (1280, 720)):
                session.configure(activeFormat=f"420v {width}x{height}", frameRate=3).result()
                shows(app, session, width, height)
