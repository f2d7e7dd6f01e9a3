"""A broker that ends, and the next one on the same socket: what goes on meanwhile, what does not, and which client may go on with it."""
import contextlib, json, os, shutil, signal, time

from camclient import Running, status
from harness import (BROKER, CAMERA, PATIENCE, App, Daemon, Ended, Refused, activated, claim, is_there, listening, played,
                     recorded_marks, refused, wait_until)

# As long as a recorder core goes on without a broker, and a client without being told.
ALONE = 3.0
# Few frames: encoding them must not be what a loaded machine is too slow for.
RUN = ("run", "--app", "photos", "--json", "--set", "frameRate=10")


class Brokers(Daemon):
    """camarbds one after the other on one socket that never refuses, with a folder that outlives each: as units have it."""

    def __init__(self, *extra, traced=False, patience=10, **options):
        """With `patience` a recorder core goes on alone for so many times `ALONE`, and may take so many seconds for its answer to the
        next broker: a busy machine's is none that hangs."""
        # Each writes a trace of its own.
        self.traced, self.traces, self.cores = traced, [], set()
        super().__init__(extra=("--patience", patience, *extra), **options)

    def listens(self):
        self.folder = self.directory / "run"
        self.folder.mkdir(mode=0o700)
        self.variables["RUNTIME_DIRECTORY"] = str(self.folder)
        self.listener = listening(self.path)
        self.path.chmod(0o666)
        return []

    def start(self):
        trace = []
        if self.traced:
            self.traces.append(self.directory / f"trace-{len(self.traces)}")
            trace = ["--trace", self.traces[-1]]
        self.process = activated(self.listener, *self.command, *trace, log=self.log, env={**os.environ, **self.variables})

    def kill(self, number=signal.SIGKILL):
        self.cores.update(self.recorders())
        self.process.send_signal(number)
        self.process.wait(timeout=PATIENCE)

    def next(self, number=signal.SIGKILL):
        """One that is killed, and another in its place."""
        self.kill(number)
        self.start()

    def __exit__(self, kind, *_):
        Ended.__exit__(self)
        self.listener.close()
        # They would go on alone for longer than anybody looks.
        for core in filter(is_there, self.cores):
            os.kill(core, signal.SIGKILL)
        if kind is not None:
            print("  the brokers said:\n    " + "\n    ".join(self.log.read_text(errors="replace").splitlines()[-60:]))
        shutil.rmtree(self.directory, ignore_errors=True)


class Holder:
    """An app that holds the camera, and could reclaim it."""

    def __init__(self, brokers, **configuration):
        self.brokers, self.configuration = brokers, configuration
        self.connect()
        self.session.runs()
        (self.secret,) = self.session.call("GetReclaimSecret")

    def connect(self):
        self.app = App(self.brokers.address, "photos")
        self.session = self.app.session(**self.configuration)

    def reclaim(self, secret=None):
        """At the next broker."""
        self.app.close()
        self.connect()
        self.session.call("Reclaim", "s", secret or self.secret)

    def close(self):
        self.app.close()


def no_gap(film, shown=(), left_out=0):
    """How many frames a recording has; fails where more are missing than the encoder has left out, and where numbers of frames that
    were shown go back or, from its first on, are not in it."""
    numbers = [mark[1] for mark in recorded_marks(film)]
    assert numbers == sorted(set(numbers)) and numbers[-1] - numbers[0] + 1 <= len(numbers) + left_out, \
        f"frames are missing in {film}, where {left_out} were left out: {numbers}"
    shown = list(shown)
    assert shown == sorted(set(shown)), shown
    lost = {number for number in shown if number >= numbers[0]} - set(numbers)
    assert len(lost) <= left_out, f"frames {sorted(lost)} were shown, and are not among {numbers[0]} to {numbers[-1]} of {film}"
    return len(numbers)


def recording(app, film):
    app.do("start", event="DidStartRunning")
    app.do(f"record {film}", event="RecordingStarted")
    app.do("wait 1s")


@claim("a recording outlives camarbd's SIGKILL, and its restart by SIGTERM: camclient hears nothing, stops it at the next broker, and no "
       "frame is missing")
def outlives_ends():
    said = []
    for end in (signal.SIGKILL, signal.SIGTERM):
        with Brokers() as brokers, Running(brokers, *RUN) as app:
            film = brokers.directory / "film.mkv"
            recording(app, film)
            begun = time.monotonic()
            brokers.next(end)
            # Answered by the next broker, once the session is back.
            app.do("status")
            back = time.monotonic() - begun
            app.do("wait 1s")
            assert status(brokers)["cameras"][0]["holder"] == "photos"
            finished = app.do("stop-record", event="RecordingFinished")
            assert finished["why"] == "stopped", finished
            told = [json.loads(line).get("event") for line in app.lines if "event" in json.loads(line)]
            assert set(told) <= {"DidStartRunning", "ConfigurationApplied", "RecordingStarted", "RecordingFinished"}, told
            assert told.count("DidStartRunning") == 1, told
            app.end()
            frames = no_gap(film, left_out=finished.get("framesLeftOut", 0))
            assert frames == finished["frames"] == played(film)[0], (frames, finished)
            said.append(f"{frames} frames without a gap, back after {back:.2f} s")
    return "; ".join(said)


@contextlib.contextmanager
def killed_in_a_recording(**how):
    """An app has recorded for a second, and its broker was killed: when, the brokers, the app, its recorder core and its film."""
    with Brokers(**how) as brokers, Running(brokers, *RUN) as app:
        film = brokers.directory / "film.mkv"
        recording(app, film)
        (core,) = brokers.recorders()
        begun = time.monotonic()
        brokers.kill()
        yield begun, brokers, app, core, film


@claim("while no broker is there, a grant ends with its client: the camera is let go, and the recording is whole")
def client_ends_alone():
    # Without its client's end it would go on for longer than anything is waited for.
    with killed_in_a_recording(patience=100) as (_, _, app, core, film):
        app.process.kill()
        app.process.wait()
        begun = time.monotonic()
        wait_until("the recorder core's end", lambda: not is_there(core))
        return f"{no_gap(film)} frames, the camera was free after {time.monotonic() - begun:.2f} s"


@claim("no broker comes: the recorder core leaves after 3 s, its recording is whole, and the client is told")
def nobody_comes():
    with killed_in_a_recording(patience=1) as (begun, brokers, app, core, film):
        assert app.wait(event="WasInterrupted")["causes"] == ["broker-restarted"]
        told = time.monotonic() - begun
        assert app.wait(event="RecordingFinished")["why"] == "interrupted"
        wait_until("the recorder core's end", lambda: not is_there(core))
        left = time.monotonic() - begun
        assert min(told, left) >= ALONE, f"it was told after {told:.2f} s, and the recorder core left after {left:.2f} s"
        brokers.start()
        assert app.wait(event="InterruptionEnded")["willResume"] is True
        app.wait(event="DidStartRunning")
        return f"told after {told:.2f} s, left after {left:.2f} s, {no_gap(film)} frames"


def stale(session, secret):
    return str(refused(lambda: session.call("Reclaim", "s", secret), error="StaleGrant"))


@claim("a stolen secret is refused another user and another app, and does not count twice; all are told the same sentence")
def thieves():
    thief = 1001
    with Brokers(users=(thief,)) as brokers:
        holder = Holder(brokers)
        (void, holder.secret) = (holder.secret, holder.session.call("GetReclaimSecret")[0])
        assert void != holder.secret and len(holder.secret) == 32
        # Not even here: a session that runs already, and one that does not.
        said = {stale(holder.session, holder.secret)}
        brokers.next()
        holder.app.close()
        for app in (brokers.app("photos", thief), brokers.app("notes")):
            said.add(stale(app.session(), holder.secret))
        holder.connect()
        for wrong in {void, "", "x" * 32, holder.secret.upper(), holder.secret + "0", "0" * 32} - {holder.secret}:
            said.add(stale(holder.session, wrong))
        # Nothing of that has used it up.
        holder.session.call("Reclaim", "s", holder.secret)
        assert holder.session.property("Running") is True
        said.add(stale(holder.app.session(), holder.secret))
        assert len(said) == 1, said
        holder.close()


@claim("a secret stands in no status, property, decision, trace or line of the journal, and in one file that is the broker's alone")
def nowhere():
    with Brokers(traced=True) as brokers:
        watcher = brokers.app()
        watcher.call(BROKER, "Watch", "b", True)
        watcher.call(BROKER, "Trace")
        holder = Holder(brokers)
        told = [json.dumps(watcher.call(BROKER, "GetStatus"), default=str)]
        told += [str(holder.session.property(name)) for name in ("Camera", "Access", "Causes", "Configuration")]
        store = brokers.folder / "holders"
        assert holder.secret in store.read_text(), store.read_text()
        assert store.stat().st_mode & 0o777 == 0o600, oct(store.stat().st_mode)
        assert all(path.stat().st_mode & 0o777 == 0o600 for path in brokers.folder.iterdir()), list(brokers.folder.iterdir())
        with contextlib.suppress(Refused):
            holder.session.call("Reclaim", "s", holder.secret)
        watcher.poll()
        brokers.next()
        holder.reclaim()
        told.append(json.dumps(brokers.app().call(BROKER, "GetStatus"), default=str))
        # Used up, and gone from there.
        assert holder.secret not in store.read_text()
        told += [str(body) for _, _, body in watcher.signals]
        # Whole, as the broker leaves it in order.
        brokers.kill(signal.SIGTERM)
        told += [path.read_text(errors="replace") for path in (brokers.log, *brokers.traces)]
        assert any("reclaim" in text for text in told), "there was nothing to look through"
        assert not any(holder.secret in text for text in told)
        holder.close()


@claim("a store that another user or a mistake has written counts for nothing, and harms nobody; a secret in it is not told on")
def distrusted():
    secret = "0123456789abcdef" * 2

    def line(listener="kept-0123456789abcdef", end=""):
        return f"0\t{CAMERA}\tkept\t7\t1\t-\t{listener}\t{secret}{end}\tsimulated\tphotos\n"

    with Brokers() as brokers:
        store = brokers.folder / "holders"
        brokers.kill()
        for text in (None, "x\n", line(listener="../../etc/passwd"), line(end="!")):
            store.unlink(missing_ok=True)
            if text is None:
                os.mkfifo(store)
            else:
                store.write_text(text)
            brokers.start()
            Holder(brokers).close()
            brokers.kill()
        assert "not a regular file" in brokers.log.read_text()
        assert secret not in brokers.log.read_text()
        # A line as a broker writes it, and nobody behind it.
        store.write_text(line())
        brokers.start()
        session = brokers.app("photos").session()
        stale(session, secret)
        session.runs()
