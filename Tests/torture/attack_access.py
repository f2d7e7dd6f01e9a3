"""Who has no right to a camera, or only his own word: he barges in on somebody who records, and gets nothing."""
import functools, os, tempfile

from harness import BROKER, SHELL, App, Daemon, Refused, wait_until
from rows import ATTACKER, NEIGHBOUR, Child, Figure, beside, frames_in, neighbour, row

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
        shell.place(HER_APP, place)
    session = app.running()
    stream = session.stream()
    with tempfile.TemporaryDirectory() as folder:
        session.records(os.path.join(folder, "diary.mkv"))
        frames = frames_in(seconds, stream)
        why = session.finish()[3]
    return {"frames": frames, "told": app.names(), "why": why}


def attempt(what):
    """What the broker says to it; None where it was let in."""
    try:
        what()
    except Refused as refused:
        return str(refused)


def barge(address, starts):
    app = App(address, "thief")
    answers, others = [], []
    app.call(BROKER, "DeclarePresence", "sb", "fullscreen", True)
    sessions = [app.session(), app.session(sharingMode="sharedReadOnly")]
    with tempfile.TemporaryFile() as file:
        for number in range(starts):
            session = sessions[number % 2]
            answers.append(attempt(session.start))
            if number < 20:
                others += [attempt(lambda: session.call(*call)) for call in (
                    ("OpenStream",), ("CapturePhoto", "ha{sv}", file, {}), ("StartRecording", "ha{sv}", file, {}))]
    status = app.call(BROKER, "GetStatus")
    app.poll(0.2)
    heard = repr([answers, others, status, app.signals])
    return {"answers": answers, "others": others, "leaks": heard.count(HER_APP), "names": app.names()}


def beside_her(attack, starts, users=(NEIGHBOUR,), place=None, policy="desktop"):
    """What the attack returned, and the figures of what she noticed who records meanwhile."""
    with Daemon(policy=policy, users=users) as daemon:
        with Child(NEIGHBOUR, record, daemon.address, LENGTH, place) as her:
            if place:
                wait_until("her recording", lambda: "recordingStarted" in daemon.said())
            calls = neighbour(daemon, LENGTH - 1)
            returned = Child(ATTACKER, attack, daemon.address, starts).result()
            seen = her.result()
        unmoved = list(beside(daemon, calls.result()))
    return returned, [
        Figure("times her app was named to it", returned["leaks"], most=0),
        Figure("interruptions of the recording", seen["told"].count("WasInterrupted"), most=0),
        Figure("her frames in 3 s, at 30 a second", seen["frames"], least=60),
        Figure("recordings that ended otherwise than by her word", int(seen["why"] != "stopped"), most=0), *unmoved]


def barging_in(policy, starts):
    attack, others = beside_her(barge, starts, policy=policy)
    refused = [answer for answer in attack["answers"] if answer and answer.startswith("org.camarb.Error.AccessDenied")]
    yield Figure("starts refused for want of a right", len(refused), f"of {starts}", least=starts)
    yield Figure("streams, photos and recordings had", attack["others"].count(None), most=0)
    yield Figure("notices to the attacker's sessions", len(attack["names"]), most=0)
    yield from others
    yield f"it was told: {refused[:1]}"


for policy, promise, load in (
        ("desktop", "a client in no login session, which no policy names, is refused its start, whatever it says of itself",
         "user nobody, who declares to be in front and starts 2,000 times (200 in the short form) beside a user who records, "
         "under desktop.toml"), ("windows", "where cameras are shared, a client without the right watches nothing",
         "the same under windows.toml, every other time to watch only")):
    row(f"barge-in-{policy}", promise, load, STARTS, 10 * STARTS)(functools.partial(barging_in, policy))


def press(address, starts):
    app = App(address, "thief")
    session = app.session()
    let_in = 0
    for number in range(starts):
        place = PLACES[number % len(PLACES)]
        if number % 2:
            app.call(BROKER, "DeclarePresence", "sb", place, True)
        let_in += attempt(session.start) is None
        app.call(BROKER, "DeclarePresence", "sb", place, True)
        session.call("StopRunning")
    session.start()
    app.poll(0.2)
    return {"let_in": let_in, "ran": app.names().count("DidStartRunning"), "leaks": repr(app.signals).count(HER_APP)}


@row("barge-in-by-word", "what an app says of its own focus and layout takes no camera from another user's app, where both have a right",
     "user nobody, whom [access] names beside her, starts 400 times (40 in the short form), and says before and after it that he is in "
     "front and has the focus, in each layout; her shell says that she has not; under desktop.toml", STARTS // 5, 2 * STARTS)
def barge_in_by_word(starts):
    attack, others = beside_her(press, starts, users=(NEIGHBOUR, ATTACKER), place="split")
    yield Figure("starts that were taken, and waited", attack["let_in"], f"of {starts}", least=starts)
    yield Figure("times the attacker ran", attack["ran"], most=0)
    yield from others
