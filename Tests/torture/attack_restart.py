"""A broker that is killed again and again, in the middle of everything, and what of it is noticed."""
import contextlib, json, os, random, signal, threading, time

from jeepney import new_method_return

from camclient import Running
from harness import BROKER, CAMERA, App, Refused, listening, played, recorded_marks, spawn, wait_until
from liar import Descriptor, Liar
from restart import Brokers
from rows import ATTACKER, Child, Figure, percentile, row
from service import writers

# Kills of which one recording is: more, and a gap could not be told from the next.
KILLS_A_FILM = 4
# In a handover, from the word that makes it to the newcomer's first frame, dies one broker of so many.
ONE_IN_A_HANDOVER = 4
SEED = 9
# What nobody hears whom a broker's end does not disturb.
NEWS = {"WasInterrupted", "InterruptionChanged", "InterruptionEnded", "DidStartRunning", "DidStopRunning", "RecordingFinished",
        "SessionStopped"}


class Seated(Running):
    """A camclient that runs, and what it was told, in that order."""

    def __init__(self, brokers, app, camera):
        super().__init__(brokers, "run", "--app", app, "--camera", camera, "--json", "--set", "frameRate=10")
        self.app, self.changed = app, threading.Condition()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(json.loads(line))
                self.changed.notify_all()

    def wait(self, since, patience=30.0, **values):
        """The first line after `since` that has these values."""
        with self.changed:
            found = self.changed.wait_for(
                lambda: next((line for line in self.lines[since:] if values.items() <= line.items()), None), patience)
            assert found, f"{self.app} waited for {values}; what came: {self.lines[since:][-12:]}"
            return found

    def do(self, command, **values):
        since = len(self.lines)
        self.type(command)
        return self.wait(since, **(values or {"command": command}))

    @property
    def believes(self):
        """What it was told last: running, interrupted, or stopped."""
        state = "stopped"
        for line in list(self.lines):
            match line.get("event"), state:
                case "DidStartRunning", _: state = "running"
                case "WasInterrupted", _: state = "interrupted"
                case ("SessionStopped", _) | ("DidStopRunning", "running"): state = "stopped"
                case "InterruptionEnded", _ if not line["willResume"]: state = "stopped"
        return state

    def end(self):
        self.process.kill()
        self.process.wait()
        self.thread.join(timeout=10)


class Story:
    """A recording on one camera, two apps that take the other from each other, and a broker that dies."""

    def __init__(self, brokers):
        self.brokers = brokers
        self.dice = random.Random(SEED)
        self.films, self.film, self.kills_of_film = 0, None, 0
        self.all = [Seated(brokers, app, camera) for app, camera in (("film", "front"), ("one", "back"), ("two", "back"))]
        self.recorder, *self.pair = self.all
        for seated, event in zip(self.all, ("DidStartRunning", "DidStartRunning", "WasInterrupted")):
            seated.do("start", event=event)
        self.undisturbed = self.outside = self.inside = self.gaps = self.frames = self.disbelieved = 0
        self.ready = []
        self.begin_film()

    def begin_film(self):
        self.film = self.brokers.directory / f"film-{self.films}.mkv"
        self.films += 1
        self.kills_of_film = 0
        self.recorder.do(f"record {self.film}", event="RecordingStarted")

    def end_film(self, is_cut):
        """Whether a frame is missing in it: each film is one grant's."""
        if not is_cut:
            self.recorder.do("stop-record", event="RecordingFinished")
        # One that is cut is finished by whoever has it, or was by then.
        wait_until("the end of a film", lambda: not is_cut or not writers(self.film))
        played(self.film)
        numbers = [mark[1] for mark in recorded_marks(self.film) if mark]
        self.frames += len(numbers)
        has_gap = numbers != list(range(numbers[0], numbers[0] + len(numbers)))
        self.gaps += has_gap
        self.film.unlink()
        return has_gap

    def hand_over(self):
        """The holder of the other camera stops; returns the app that waits for it, and how much that was told by then."""
        holder, newcomer = sorted(self.pair, key=lambda seated: seated.believes != "running")
        since = len(newcomer.lines)
        # Answered: a call that is under way at a broker's end has failed, and camclient leaves then.
        holder.do("stop")
        return newcomer, since

    def both_ask(self):
        """Whoever stopped asks again, and one of them has the camera."""
        for seated in self.pair:
            if seated.believes == "stopped":
                seated.do("start")
        wait_until("one of two to have the camera and the other to wait for it",
                   lambda: sorted(seated.believes for seated in self.pair) == ["interrupted", "running"], 30.0)

    def kill(self):
        newcomer, since = self.hand_over()
        in_handover = self.dice.randrange(ONE_IN_A_HANDOVER) == 0
        if not in_handover:
            newcomer.wait(since, event="DidStartRunning")
            self.both_ask()
        # Not always as soon as something has begun, and sometimes before a secret was given for it.
        time.sleep(self.dice.uniform(0.0, 0.02) if in_handover else self.dice.uniform(0.15, 0.5))
        seen = {seated: len(seated.lines) for seated in self.all}
        self.brokers.kill()
        begun = time.monotonic()
        self.brokers.start()
        knock = App(self.brokers.address)
        knock.call(BROKER, "GetStatus")
        self.ready.append(time.monotonic() - begun)
        for seated in seen:
            seated.do("status")
        self.settle(knock)
        knock.close()
        told = {seated: NEWS.intersection(line.get("event") for line in seated.lines[at:]) for seated, at in seen.items()}
        cut = "RecordingFinished" in told[self.recorder]
        disturbed = any(told.values())
        self.kills_of_film += 1
        self.inside += in_handover
        self.outside += not in_handover
        self.both_ask()
        if cut or self.kills_of_film == KILLS_A_FILM:
            disturbed |= self.end_film(cut)
            self.begin_film()
        self.undisturbed += not disturbed and not in_handover

    def settle(self, knock):
        """Waits until what each believes is what the broker says of it."""
        def agree():
            sessions = {entry["app"][1]: entry["state"][1] for entry in knock.call(BROKER, "GetStatus")[2]}
            return all(seated.believes == sessions.get(seated.app) for seated in self.all)
        try:
            wait_until("everybody to believe what is so", agree, 10.0)
        except AssertionError:
            self.disbelieved += 1
        # Two apps never hold one camera.
        sessions = [entry for entry in knock.call(BROKER, "GetStatus")[2] if entry["state"][1] == "running"]
        assert sum(entry["camera"][1] == "back" for entry in sessions) <= 1, sessions

    def end(self):
        # One that has just begun may have no frame yet, and no broker died under it.
        if self.kills_of_film:
            self.end_film(False)
        for seated in self.all:
            seated.end()


@row("killed-brokers", "a broker that is killed interrupts nobody, and no recording loses a frame",
     "500 kills (8 in the short form) at random moments of a busy run: a recording on one camera, handovers on the other", 8, 500)
def killed_brokers(kills):
    with Brokers(cameras=("front=simulated:iphone5-back", "back=simulated:iphone5-back"), patience=1) as brokers:
        story = Story(brokers)
        for _ in range(kills):
            story.kill()
        story.end()
        yield Figure("kills outside a handover", story.outside, least=1)
        yield Figure("of them those that nobody noticed, in a hundred", 100.0 * story.undisturbed / story.outside, least=95)
        yield Figure("kills inside a handover", story.inside)
        yield Figure("recordings, all of which play", story.films, least=1)
        yield Figure("their frames", story.frames, least=1)
        yield Figure("recordings with a frame missing in between", story.gaps, most=0)
        yield Figure("clients that believed what was not so", story.disbelieved, most=0)
        yield Figure("from a broker's start to its first answer, p99", percentile(story.ready, 0.99), "s", most=1)


SECRET = "0123456789abcdef" * 2
LISTENER = "kept-0123456789abcdef"
GRANT = 7


class Forger(Liar):
    """A recorder core that outlived a broker which never gave it what it says."""

    def __init__(self, connection, survey):
        super().__init__(connection, lambda *_: None)
        self.survey = survey

    def answer(self, call):
        if call.header.fields[3] != "Survey":
            return super().answer(call)
        process, grant, recordings = self.survey()
        if process is None:
            return signal.pause()
        with Descriptor(process) as named:
            self.send(new_method_return(call, "htat", (named, grant, recordings)))


def of_itself():
    return os.pidfd_open(os.getpid())


def of_another_user():
    return os.pidfd_open(spawn("sleep", "60", user=ATTACKER).pid)


FORGERIES = {
    "another grant": (lambda: (of_itself(), GRANT + 1, []), True),
    "no grant": (lambda: (of_itself(), 0, []), True),
    "a thousand recordings": (lambda: (of_itself(), GRANT, list(range(1000))), True),
    "another user's process": (lambda: (of_another_user(), GRANT, []), False),
    "a file for a process": (lambda: (os.open("/dev/null", os.O_RDONLY), GRANT, []), False),
    "nothing at all": (lambda: (None, 0, []), False),
}


def forge(listener, survey):
    signal.alarm(60)
    connection, _ = listener.accept()
    with contextlib.suppress(OSError, SystemExit):
        Forger(connection, survey).serve()
    # It does not go because nobody listens any more.
    signal.pause()


@row("forged-survivors", "a recorder core that outlived its broker goes on with what the store has, and with nothing else",
     f"{len(FORGERIES)} answers to the next broker's survey that are not what the store says")
def forged_survivors():
    taken, slowest, killed, killable = 0, 0.0, 0, 0
    for what, (survey, may_be_killed) in FORGERIES.items():
        with Brokers(patience=1) as brokers:
            brokers.kill()
            (brokers.folder / "holders").write_text(f"0\t{CAMERA}\tkept\t{GRANT}\t1\t-\t{LISTENER}\t{SECRET}\tsimulated\tphotos\n")
            with listening(brokers.folder / LISTENER, 4) as listener:
                forger = Child(0, forge, listener, survey)
            brokers.start()
            begun = time.monotonic()
            app = App(brokers.address, "photos")
            session = app.session(CAMERA)
            try:
                session.call("Reclaim", "s", SECRET)
                taken += 1
            except Refused as error:
                assert error.name == "org.camarb.Error.StaleGrant", (what, error)
            session.start()
            app.wait("DidStartRunning")
            slowest = max(slowest, time.monotonic() - begun)
            app.close()
            brokers.kill()
            done = forger.is_over()
            forger.end()
            killed += done and os.WIFSIGNALED(forger.status) and may_be_killed
            killable += may_be_killed
    yield Figure("secrets that counted", taken, most=0)
    yield Figure("forgers whose own process was named and which were killed", killed, least=killable)
    yield Figure("from the next broker's start to a frame of an honest recorder core, at its worst", slowest, "s", most=5)
