"""Everything ordinary, for long: what comes goes again, and neither camarbd nor its recorder cores grow by it."""
import collections, contextlib, itertools, os, select, statistics, tempfile, time

from jeepney import DBusAddress

from harness import BROKER, ROOT, SHELL, App, Daemon, Refused
from rows import Child, Figure, beside, descriptors, frames_of, memory_of, neighbour, row, until

FILMING, VISITING = 1002, 1003
CAMERAS = ("front=simulated", "back=simulated:iphone6-back")
# The two policies that a reload changes between: one in which a camera is one app's, and one in which it is shared.
POLICIES = ("desktop", "windows")
# The whole, and of it what is not measured, since caches, arenas and the core's history fill: seconds.
LONG, LONG_WARM = 1800.0, 300.0
SHORT, SHORT_WARM = 20.0, 8.0
# A visitor stays this long, and the focus stays with an app for a little longer: seconds.
VISIT = 0.2
# The time that is measured is cut into so many windows.
WINDOWS = 10
# A mebibyte an hour. Hundreds of clients, sessions and decisions a minute come and go: what each of them left were more from
# a hundred bytes on. Over 25 minutes less than this cannot be told from the allocator's own unrest.
GROWTH_KIB_A_MINUTE = 1024 / 60
# Half a mebibyte: one frame a minute (450 KiB) that is lost, of a hundred photos and recordings. What is under way in a recorder
# core goes up and down by tens of MiB.
CORES_GROWTH_KIB_A_MINUTE = 512.0
# A keeper of files more or less has two descriptors, and that once in half an hour is no growth. What a recorder core has open
# for streams and files that are under way goes up and down by some; one of a hundred that stays would be more than this.
DESCRIPTORS_A_MINUTE, CORES_DESCRIPTORS_A_MINUTE = 0.2, 1.0
# In the short form the same of camarbd, as a growth from the first to the last window: the allocator's unrest, and what is on its way.
SHORT_GROWTH_KIB, SHORT_DESCRIPTORS = 2048, 12


@contextlib.contextmanager
def looking(session):
    """Its stream; what was mapped of it is given up."""
    with contextlib.closing(session.stream()) as stream:
        yield stream
        for buffer in stream.buffers.values():
            buffer.memory.close()
            os.close(buffer.descriptor)


def films(address, seconds, name, camera):
    """An app that always wants to run: it looks on, and takes photos and recordings whenever it may. What it had."""
    app = App(address, name)
    session = app.session(camera)
    session.start()
    done = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in until(seconds):
            app.poll(0.05)
            app.signals.clear()
            app.seen, app.passed = 0, []
            try:
                if number % 2:
                    done["photos"] += session.photo(os.path.join(folder, "photo"))[6] == ""
                else:
                    with looking(session) as stream:
                        session.record(os.path.join(folder, "film.mkv"))
                        for _ in zip(range(10), frames_of(stream)):
                            pass
                    with contextlib.suppress(Refused):  # It may have been cut.
                        session.call("StopRecording")
                    done["recordings"] += app.wait("RecordingFinished")[4] > 0
            except Refused:
                done["refusals"] += 1
                app.poll(0.2)
            done["interruptions"] += app.names().count("WasInterrupted")
    return done


def visits(address, seconds, name):
    """Connects, asks to run, looks at a frame if it may, and goes: in turn properly and by closing its connection, and now and
    then with a second session. What it had."""
    done = collections.Counter()
    for number in until(seconds):
        app = App(address, f"{name}{number % 7}")
        sharing = {"sharingMode": "sharedReadOnly"} if number % 3 == 0 else {}
        session = app.session(("front", "back")[number % 2], **sharing)
        second = app.session() if number % 5 == 0 else None
        done["visits"] += 1
        try:
            session.start()
            if second:
                second.start()
            runs = False
            for _ in until(VISIT):
                app.poll(VISIT / 4)
                if runs := "DidStartRunning" in app.names(session.path):
                    break
            if runs:
                done["runs"] += 1
                with looking(session) as stream:
                    done["frames"] += stream.read() is not None
            else:
                done["waits"] += 1
            for call in ("StopRunning", "Close") if number % 2 else ():
                session.call(call)
        except Refused:
            done["refusals"] += 1
            time.sleep(VISIT / 4)
        app.close()
    return done


def asks(address, seconds):
    """Status, metrics, explanations and plans, on a connection after the other, one of which watches. What it was told."""
    done = collections.Counter()
    for number in until(seconds):
        app = App(address, "looker")
        app.call(BROKER, "Watch", "b", number % 2 == 0)
        for member, *body in (("GetStatus",), ("GetMetrics",), ("GetPolicy",), ("GetSessions", "t", 0), ("Explain", "t", 0),
                              ("Plan", "s", "connect plan\nsession plan camera=front\nstart plan\n")):
            try:
                app.call(BROKER, member, *body)
                done["answers"] += 1
            except Refused:
                done["refusals"] += 1
        app.call(DBusAddress("/org/camarb", "org.camarb", "org.freedesktop.DBus.ObjectManager"), "GetManagedObjects")
        app.poll(0.1)
        done["decisions"] += len(app.heard("Decided"))
        app.close()
    return done


def shows(address, seconds):
    """A shell: the focus goes from app to app, and now and then a camera is covered, or everything sleeps for a moment."""
    done = collections.Counter()
    apps = []
    for number in range(7):
        apps += [f"film0@{FILMING}", f"visit{number}@{FILMING}", f"film1@{FILMING}", f"visit{number}@{VISITING}"]
    for _ in until(seconds):
        shell = App(address)
        shell.call(SHELL, "Attach", "s", "shell")
        done["shells"] += 1
        for number in until(min(10.0, seconds)):
            shell.place(apps[number % len(apps)], ("fullscreen", "split")[number % 2], True)
            if number % 20 == 19:
                for (member, *body), on in itertools.product((("SetPrivacy", "sb", "front"), ("SetSleep", "b")), (True, False)):
                    shell.call(SHELL, member, *body, on)
            done["facts"] += 1
            shell.poll(1.5 * VISIT)
            shell.signals.clear()
        shell.close()
    return done


def recorders(daemon):
    """What all recorder cores have together: memory of their own in KiB, and descriptors."""
    own = count = 0
    for process in daemon.recorders():
        with contextlib.suppress(OSError):
            own += memory_of(process, "RssAnon")
            count += len(os.listdir(f"/proc/{process}/fd"))
    return own, count


def course(what, unit, samples, short, growth, slope):
    """The figures of a number over time, by pairs of seconds and value, in windows. Each counts with its median: one sample sees what
    lives for a moment, too."""
    # Of as many samples each: on a busy machine none may be taken for a second.
    edges = [len(samples) * number // WINDOWS for number in range(WINDOWS + 1)]
    windows = [samples[first:last] for first, last in itertools.pairwise(edges)]
    values = [statistics.median(value for _, value in window) for window in windows]
    yield f"{what}, in windows: {', '.join(f'{value:,.0f}' for value in values)} {unit}".rstrip()
    if short:
        yield Figure(f"{what}, growth", values[-1] - values[0], unit, most=growth)
    else:
        # A minute, by least squares.
        minutes = [statistics.median(at for at, _ in window) / 60 for window in windows]
        yield Figure(f"{what}, slope", statistics.linear_regression(minutes, values).slope, f"{unit} a minute".strip(), most=slope)


@row("soak", "what comes goes again: memory and descriptors stay what they were, however long it goes on",
     f"{LONG / 60:.0f} minutes ({SHORT:.0f} s) of sessions, streams, photos, recordings, handovers, reloads, watchers, status, "
     f"plans and metrics, the first {LONG_WARM / 60:.0f} minutes ({SHORT_WARM:.0f} s) not measured", True, False)
def soak(short):
    seconds, warm = (SHORT, SHORT_WARM) if short else (LONG, LONG_WARM)
    with contextlib.ExitStack() as stack:
        policies = [f'name = "soak"\ninclude = ["{ROOT}/policies/{name}.toml"]\n' for name in POLICIES]
        daemon = stack.enter_context(Daemon(policies[0], cameras=CAMERAS, users=(FILMING, VISITING), decides_aloud=False))
        children = [stack.enter_context(Child(user, function, daemon.address, seconds, *arguments)) for user, function, *arguments in (
                        (FILMING, films, "film0", "front"), (FILMING, films, "film1", "back"), (FILMING, visits, "visit"),
                        (VISITING, visits, "visit"), (VISITING, asks), (0, asks), (0, shows))]
        # At the end: as slow as it became, if it did.
        begun = time.monotonic()
        samples, calls = [], None
        for number in until(seconds - 2):
            time.sleep(0.25)
            assert not select.select([child.reading for child in children], [], [], 0)[0], "one of them ended before its time"
            at = time.monotonic() - begun
            if calls is None and at > seconds - 12:
                calls = neighbour(daemon, 8)
            if number % 8 == 7:
                daemon.reload(policies[number // 8 % len(policies)])
            if at > warm:
                samples.append((at, memory_of(daemon.process.pid, "VmRSS"), descriptors(daemon), *recorders(daemon)))
        done = collections.Counter()
        for child in children:
            done.update(child.result())
        yield "what came and went: " + ", ".join(f"{count:,} {what}" for what, count in done.items())
        for what, least in (("visits", 10), ("runs", 3), ("photos", 3), ("recordings", 3), ("interruptions", 2)):
            yield Figure(what, done[what], least=least * (1 if short else 30))
        for at, (what, unit, *most) in enumerate((
                ("camarbd's memory", "KiB", SHORT_GROWTH_KIB, GROWTH_KIB_A_MINUTE),
                ("camarbd's descriptors", "", SHORT_DESCRIPTORS, DESCRIPTORS_A_MINUTE),
                ("the recorder cores' own memory", "KiB", None, CORES_GROWTH_KIB_A_MINUTE),
                ("the recorder cores' descriptors", "", None, CORES_DESCRIPTORS_A_MINUTE)), 1):
            yield from course(what, unit, [(sample[0], sample[at]) for sample in samples], short, *most)
        yield from beside(daemon, calls.result())
