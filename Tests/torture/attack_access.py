"""Who has no right to a camera, or only his own word: he barges in on somebody who records, and gets nothing."""
import os, tempfile, time

from harness import BROKER, SHELL, App, Refused, wait_until
from rows import ATTACKER, NEIGHBOUR, Child, Figure, beside, broker, neighbour, row

HER_APP = "annas-diary"
PLACES = ["fullscreen", "split", "slide-over", "picture-in-picture"]
LENGTH = 3.0
STARTS = 200


def record(address, seconds, place=None):
    """Records and looks on for so long: how many frames she saw, what she was told, and how her recording ended. With `place`
    a shell of her own says that her app is there, without the focus."""
    app = App(address, HER_APP)
    if place:
        shell = App(address)
        shell.call(SHELL, "Attach", "s", "shell")
        shell.call(SHELL, "PlaceApp", "ssb", HER_APP, place, False)
    session = app.session()
    session.start()
    app.wait("DidStartRunning")
    stream = session.stream()
    with tempfile.TemporaryDirectory() as folder:
        session.record(os.path.join(folder, "diary.mkv"))
        app.wait("RecordingStarted")
        frames, until = 0, time.monotonic() + seconds
        while time.monotonic() < until:
            frame = stream.read()
            if frame is None:
                break
            frames += 1
            stream.release(frame)
        session.call("StopRecording")
        why = app.wait("RecordingFinished")[3]
    told = app.names()
    app.close()
    return {"frames": frames, "told": told, "why": why}


def attempt(app, what):
    """What the broker says to it: the error's name and its words, or None where it was let in."""
    try:
        what()
        return None
    except Refused as refused:
        return [refused.name, refused.message]


def barge(address, starts):
    """Says that it is in front, and starts, watches, takes photos and records, over and over."""
    app = App(address, "thief")
    answers, others = [], []
    app.call(BROKER, "DeclarePresence", "sb", "fullscreen", True)
    sessions = [app.session(), app.session(sharingMode="sharedReadOnly")]
    with tempfile.TemporaryFile() as file:
        for number in range(starts):
            session = sessions[number % 2]
            answers.append(attempt(app, session.start))
            if number < 20:
                others.append(attempt(app, lambda: session.call("OpenStream")))
                others.append(attempt(app, lambda: session.call("CapturePhoto", "ha{sv}", file, {})))
                others.append(attempt(app, lambda: session.call("StartRecording", "ha{sv}", file, {})))
    (broker_says, cameras, sessions_seen) = app.call(BROKER, "GetStatus")
    app.poll(0.2)
    heard = repr([answers, others, broker_says, cameras, sessions_seen, app.signals])
    names = app.names()
    app.close()
    return {"answers": answers, "others": others, "leaks": heard.count(HER_APP), "names": names}


def barging_in(policy, short):
    starts = STARTS if short else 10 * STARTS
    with broker(policy=policy, users=(NEIGHBOUR,)) as daemon:
        idle = neighbour(daemon, 1).result()
        with Child(NEIGHBOUR, record, daemon.address, LENGTH) as her:
            calls = neighbour(daemon, LENGTH - 1)
            attack = Child(ATTACKER, barge, daemon.address, starts).result()
            seen = her.result()
        unmoved = list(beside(daemon, calls.result(), idle))
    refused = [answer for answer in attack["answers"] if answer and answer[0] == "org.camarb.Error.AccessDenied"]
    yield Figure("starts refused for want of a right", len(refused), f"of {starts}", least=starts)
    yield Figure("streams, photos and recordings had", attack["others"].count(None), most=0)
    yield Figure("notices to the attacker's sessions", len(attack["names"]), most=0)
    yield Figure("times her app was named to it", attack["leaks"], most=0)
    yield Figure("interruptions of the recording", seen["told"].count("WasInterrupted"), most=0)
    yield Figure("her frames in 3 s, at 30 a second", seen["frames"], least=60)
    yield Figure("recordings that ended otherwise than by her word", int(seen["why"] != "stopped"), most=0)
    yield from unmoved
    words = refused[0][1] if refused else ""
    yield f"it was told: {words}"


@row("barge-in-desktop", "a client in no login session, which no policy names, is refused its start, whatever it says of itself",
     "user nobody, who declares to be in front and starts 2,000 times (200 in the short form) beside a user who records, "
     "under desktop.toml")
def barge_in_desktop(short):
    yield from barging_in("desktop", short)


@row("barge-in-windows", "where cameras are shared, a client without the right watches nothing",
     "the same under windows.toml, every other time to watch only")
def barge_in_windows(short):
    yield from barging_in("windows", short)


def press(address, starts):
    """Has a right of his own, and says before and after each start that he is in front and has the focus."""
    app = App(address, "thief")
    session = app.session()
    let_in = 0
    for number in range(starts):
        place = PLACES[number % len(PLACES)]
        if number % 2:
            app.call(BROKER, "DeclarePresence", "sb", place, True)
        let_in += attempt(app, session.start) is None
        app.call(BROKER, "DeclarePresence", "sb", place, True)
        session.call("StopRunning")
    session.start()
    app.poll(0.2)
    heard = repr(app.signals)
    names = app.names()
    app.close()
    return {"let_in": let_in, "ran": names.count("DidStartRunning"), "leaks": heard.count(HER_APP)}


@row("barge-in-by-word", "what an app says of its own focus and layout takes no camera from another user's app, where both have a right",
     "user nobody, whom [access] names beside her, starts 400 times (40 in the short form), and says before and after it that he is in "
     "front and has the focus, in each layout; her shell says that she has not; under desktop.toml")
def barge_in_by_word(short):
    starts = STARTS // 5 if short else 2 * STARTS
    with broker(users=(NEIGHBOUR, ATTACKER)) as daemon:
        idle = neighbour(daemon, 1).result()
        with Child(NEIGHBOUR, record, daemon.address, LENGTH, "split") as her:
            wait_until("her recording", lambda: "recordingStarted" in daemon.said())
            calls = neighbour(daemon, LENGTH - 1)
            attack = Child(ATTACKER, press, daemon.address, starts).result()
            seen = her.result()
        unmoved = list(beside(daemon, calls.result(), idle))
    yield Figure("starts that were taken, and waited", attack["let_in"], f"of {starts}", least=starts)
    yield Figure("times the attacker ran", attack["ran"], most=0)
    yield Figure("times her app was named to it", attack["leaks"], most=0)
    yield Figure("interruptions of the recording", seen["told"].count("WasInterrupted"), most=0)
    yield Figure("her frames in 3 s, at 30 a second", seen["frames"], least=60)
    yield Figure("recordings that ended otherwise than by her word", int(seen["why"] != "stopped"), most=0)
    yield from unmoved
