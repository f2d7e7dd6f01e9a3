"""A broker that ends, and the next one on the same socket: what goes on meanwhile, what does not, and which client may go on with it."""
import contextlib, json, os, pathlib, shutil, signal, socket, subprocess, tempfile, threading, time

from camclient import Running, camclient
from harness import (BROKER, CAMERA, PATIENCE, PROGRAMS, ROOT, SHELL, SIMULATED, App, Refused, as_user, claim, die_with_parent,
                     played, recorded_marks, recorders_of, wait_until)

# As long as a recorder core goes on without a broker, and a client without being told.
ALONE = 3.0
# Few frames: encoding them must not be what a loaded machine is too slow for.
RUN = ("run", "--app", "photos", "--json", "--set", "frameRate=10")


class Brokers:
    """camarbds one after the other on one socket that never refuses, with a folder that outlives each: as units have it."""

    def __init__(self, *extra, policy="desktop", cameras=(SIMULATED,), users=(), traced=False, patience=10):
        """With `patience` a recorder core goes on alone for so many times `ALONE`, and may take so many seconds for its answer to the
        next broker: a busy machine's is none that hangs."""
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="camarb-restart."))
        self.directory.chmod(0o755)
        self.path = self.directory / "socket"
        self.address = f"unix:path={self.path}"
        self.log = self.directory / "log"
        self.folder = self.directory / "run"
        self.folder.mkdir(mode=0o700)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(self.path))
        self.path.chmod(0o666)
        self.listener.listen(128)
        self.command = [str(PROGRAMS / "camarbd"), "--policy", str(ROOT / "policies" / f"{policy}.toml"), "--trust-claims",
                        "--decisions", "--system-bus", "", "--patience", str(patience), *map(str, extra)]
        if users:
            access = self.directory / "policy.d"
            access.mkdir()
            (access / "50-access.toml").write_text(f"[access]\nusers = {list(users)}\n")
            self.command += ["--policy-dir", str(access)]
        for camera in cameras:
            self.command += ["--camera", camera]
        # Each writes a trace of its own.
        self.traced, self.traces = traced, []
        self.process, self.cores = None, set()
        self.start()

    def start(self):
        script = f'exec 3<&{self.listener.fileno()}; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
        if self.listener.fileno() == 3:
            script = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
        command = list(self.command)
        if self.traced:
            self.traces.append(self.directory / f"trace-{len(self.traces)}")
            command += ["--trace", str(self.traces[-1])]
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", script, "bash", *command], pass_fds=(self.listener.fileno(),),
                env={**os.environ, "RUNTIME_DIRECTORY": str(self.folder)}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=die_with_parent)

    def kill(self, number=signal.SIGKILL):
        self.cores.update(self.recorders())
        self.process.send_signal(number)
        self.process.wait(timeout=PATIENCE)

    def recorders(self):
        return recorders_of(self.process.pid)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.kill()
        self.process.wait()
        self.listener.close()
        # They would go on alone for longer than anybody looks.
        for core in filter(is_there, self.cores):
            os.kill(core, signal.SIGKILL)
        if kind is not None:
            print("  the brokers said:\n    " + "\n    ".join(self.log.read_text(errors="replace").splitlines()[-60:]))
        shutil.rmtree(self.directory, ignore_errors=True)


def is_there(process):
    """Whether a process runs; one that has ended and that nobody has reaped does not."""
    try:
        stat = pathlib.Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return stat[stat.rindex(")") + 2] != "Z"


class Watched:
    """A stream that is read all the while. On a busy machine it leaves frames out all the same: they wait for no reader."""

    def __init__(self, stream):
        self.stream, self.numbers = stream, []
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        while (frame := self.stream.read()) is not None:
            self.numbers.append(frame.sequence)
            self.stream.release(frame)

    def more(self, count, what):
        begun = len(self.numbers)
        wait_until(f"{count} frames {what}", lambda: len(self.numbers) >= begun + count)


class Holder:
    """An app that holds the camera, and could reclaim it."""

    def __init__(self, brokers, name="photos", camera=CAMERA, **attributes):
        self.brokers, self.name, self.attributes, self.camera = brokers, name, attributes, camera
        self.connect()
        self.session.start()
        self.grant = self.app.wait("DidStartRunning")[2]
        (self.secret,) = self.session.call("GetReclaimSecret")

    def connect(self):
        self.app = App(self.brokers.address, self.name, **self.attributes)
        self.session = self.app.session(self.camera)

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


def goes_on(end):
    with Brokers() as brokers:
        film = brokers.directory / "film.mkv"
        with Running(brokers, *RUN) as app:
            app.type("start")
            app.wait(event="DidStartRunning")
            app.type(f"record {film}")
            app.wait(event="RecordingStarted")
            app.type("wait 1s")
            app.wait(command="wait 1s")
            begun = time.monotonic()
            brokers.kill(end)
            brokers.start()
            # Answered by the next broker, once the session is back.
            app.type("status")
            app.wait(command="status")
            back = time.monotonic() - begun
            app.type("wait 1s")
            app.wait(command="wait 1s")
            holder = json.loads(camclient(brokers, "status", "--json").stdout)["cameras"][0]["holder"]
            assert holder == "photos", holder
            app.type("stop-record")
            finished = app.wait(event="RecordingFinished")
            assert finished["why"] == "stopped", finished
            told = [json.loads(line).get("event") for line in app.lines if "event" in json.loads(line)]
            assert set(told) <= {"DidStartRunning", "ConfigurationApplied", "RecordingStarted", "RecordingFinished"}, told
            assert told.count("DidStartRunning") == 1, told
            app.process.stdin.close()
            app.process.stdin = None
            app.end()
        frames = no_gap(film, left_out=finished.get("framesLeftOut", 0))
        assert frames == finished["frames"], (frames, finished)
        assert played(film)[0] == frames
        return f"{frames} frames without a gap, back after {back:.2f} s"


@claim("a recording outlives camarbd's SIGKILL: camclient hears nothing, stops it at the next broker, and no frame is missing")
def outlives_kill():
    return goes_on(signal.SIGKILL)


@claim("a recording outlives a restart of camarbd by SIGTERM in the same way")
def outlives_restart():
    return goes_on(signal.SIGTERM)


@claim("a preview outlives camarbd: the frames' numbers go on, under the same grant, and the session does what it did")
def preview_outlives():
    with Brokers() as brokers:
        holder = Holder(brokers)
        preview = Watched(holder.session.stream())
        preview.more(5, "before")
        film = brokers.directory / "film.mkv"
        recording = holder.session.record(film)
        (core,) = brokers.recorders()
        brokers.kill()
        preview.more(5, "without a broker")
        brokers.start()
        holder.reclaim()
        preview.more(5, "under the next broker")
        shown = list(preview.numbers)
        assert holder.session.property("Running") is True
        # A stream of the new session, a photo, and the end of the recording that ran.
        second = holder.session.stream()
        assert second.read().sequence > preview.numbers[0]
        second.close()
        holder.session.call("StopRecording")
        finished = holder.app.wait("RecordingFinished")
        assert finished[2:4] == (recording, "stopped") or list(finished[2:4]) == [recording, "stopped"], finished
        assert no_gap(film, shown, left_out=finished[8]) == finished[4]
        assert is_there(core)
        assert "DidStartRunning" not in holder.app.names() and "WasInterrupted" not in holder.app.names()
        # And a later end as every other.
        holder.session.call("StopRunning")
        holder.app.wait("DidStopRunning")
        wait_until("the preview's end", lambda: preview.stream.ended)
        holder.close()


@contextlib.contextmanager
def killed_in_a_recording(after, **how):
    """An app has recorded for so long, and its broker was killed: when, the brokers, the app, its recorder core and its film."""
    with Brokers(**how) as brokers:
        film = brokers.directory / "film.mkv"
        with Running(brokers, *RUN) as app:
            for command, event in (("start", "DidStartRunning"), (f"record {film}", "RecordingStarted")):
                app.type(command)
                app.wait(event=event)
            app.type(f"wait {after}")
            app.wait(command=f"wait {after}")
            (core,) = brokers.recorders()
            begun = time.monotonic()
            brokers.kill()
            yield begun, brokers, app, core, film


@claim("while no broker is there, a grant ends with its client: the camera is let go, and the recording is whole")
def client_ends_alone():
    # Without its client's end it would go on for longer than anything is waited for.
    with killed_in_a_recording(after="1s", patience=100) as (_, _, app, core, film):
        app.process.kill()
        app.process.wait()
        begun = time.monotonic()
        wait_until("the recorder core's end", lambda: not is_there(core))
        taken = time.monotonic() - begun
        return f"{no_gap(film)} frames, the camera was free after {taken:.2f} s"


@claim("no broker comes: the recorder core leaves after 3 s, its recording is whole, and the client is told")
def nobody_comes():
    with killed_in_a_recording(after="500ms", patience=1) as (begun, brokers, app, core, film):
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


def refused(call):
    try:
        call()
    except Refused as error:
        assert error.name == "org.camarb.Error.StaleGrant", error
        return str(error)
    raise AssertionError("a secret was taken that must not be")


@claim("a stolen secret is refused another user and another app, and does not count twice; all are told the same sentence")
def thieves():
    thief = 1001
    with Brokers(users=(thief,)) as brokers:
        holder = Holder(brokers)
        (void, holder.secret) = (holder.secret, holder.session.call("GetReclaimSecret")[0])
        assert void != holder.secret and len(holder.secret) == 32
        said = set()
        # Not even here: a session that runs already, and one that does not.
        said.add(refused(lambda: holder.session.call("Reclaim", "s", holder.secret)))
        brokers.kill()
        brokers.start()
        holder.app.close()
        with as_user(thief):
            other = App(brokers.address, "photos")
        stranger = App(brokers.address, "notes")
        for app in (other, stranger):
            session = app.session(CAMERA)
            said.add(refused(lambda: session.call("Reclaim", "s", holder.secret)))
        holder.connect()
        for wrong in (void, "", "x" * 32, holder.secret.upper(), holder.secret + "0", "0" * 32):
            if wrong != holder.secret:
                said.add(refused(lambda: holder.session.call("Reclaim", "s", wrong)))
        # Nothing of that has used it up.
        holder.session.call("Reclaim", "s", holder.secret)
        assert holder.session.property("Running") is True
        again = holder.app.session(CAMERA)
        said.add(refused(lambda: again.call("Reclaim", "s", holder.secret)))
        assert len(said) == 1, said
        for app in (other, stranger, holder):
            app.close()


@claim("a secret that is late is refused, and the session starts anew; the session that waited had the camera meanwhile")
def late():
    with Brokers(patience=1) as brokers:
        holder = Holder(brokers)
        (core,) = brokers.recorders()
        brokers.kill()
        # Its own clients alone end it sooner: this one lives.
        wait_until("the recorder core's end", lambda: not is_there(core))
        brokers.start()
        holder.app.close()
        holder.connect()
        refused(lambda: holder.session.call("Reclaim", "s", holder.secret))
        holder.session.start()
        holder.app.wait("DidStartRunning")
        holder.close()


@claim("a session that reclaims and whose login session was locked meanwhile is interrupted for that, and has no frame after it")
def locked():
    with Brokers() as brokers:
        shell = App(brokers.address)
        shell.call(SHELL, "SetLoginSession", "sbb", "c1", True, False)
        holder = Holder(brokers, loginSession="c1")
        preview = Watched(holder.session.stream())
        preview.more(3, "before")
        brokers.kill()
        brokers.start()
        shell.close()
        shell = App(brokers.address)
        shell.call(SHELL, "SetLoginSession", "sbb", "c1", True, True)
        holder.reclaim()
        interrupted = holder.app.wait("WasInterrupted")
        assert interrupted[4] == "login-session-inactive", interrupted
        holder.app.wait("DidStopRunning")
        wait_until("the preview's end", lambda: preview.stream.ended)
        shell.call(SHELL, "SetLoginSession", "sbb", "c1", True, False)
        holder.app.wait("DidStartRunning")
        holder.close()
        shell.close()


@claim("a secret stands in no status, property, decision, trace or line of the journal, and in one file that is the broker's alone")
def nowhere():
    with Brokers(traced=True) as brokers:
        watcher = App(brokers.address)
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
        brokers.kill()
        brokers.start()
        holder.reclaim()
        later = App(brokers.address)
        told.append(json.dumps(later.call(BROKER, "GetStatus"), default=str))
        # Used up, and gone from there.
        assert holder.secret not in store.read_text()
        told += [str(body) for _, _, body in watcher.signals]
        # Whole, as the broker leaves it in order.
        brokers.kill(signal.SIGTERM)
        told += [path.read_text(errors="replace") for path in (brokers.log, *brokers.traces)]
        assert any("reclaim" in text for text in told), "there was nothing to look through"
        assert not any(holder.secret in text for text in told)
        for app in (watcher, later, holder):
            app.close()


@claim("a store that another user or a mistake has written counts for nothing, and harms nobody; a secret in it is not told on")
def distrusted():
    secret = "0123456789abcdef" * 2
    lines = [
        "", "x", "\t\t\t", f"0\t{CAMERA}\tkept\t7\t1\t-\t../../etc/passwd\t{secret}\tsimulated\tphotos",
        f"0\t{CAMERA}\tkept\t7\t1\t1,2\tkept-0123456789abcdef\t{secret}\tsimulated\tphotos",
        f"0\t{CAMERA}\tkept\t18446744073709551616\t1\t-\tkept-0123456789abcdef\t{secret}\tsimulated\tphotos",
        f"0\t{CAMERA}\tkept\t7\t1\t-\tkept-0123456789abcdef\t{secret}!\tsimulated\tphotos",
    ]
    with Brokers() as brokers:
        brokers.kill()
        for line in lines:
            (brokers.folder / "holders").write_text(line + "\n")
            brokers.start()
            holder = Holder(brokers)
            holder.close()
            brokers.kill()
        assert secret not in brokers.log.read_text()
        # A line as a broker writes it, and nobody behind it.
        (brokers.folder / "holders").write_text(
            f"0\t{CAMERA}\tkept\t7\t1\t-\tkept-0123456789abcdef\t{secret}\tsimulated\tphotos\n")
        brokers.start()
        app = App(brokers.address, "photos")
        session = app.session(CAMERA)
        refused(lambda: session.call("Reclaim", "s", secret))
        session.start()
        app.wait("DidStartRunning")
        app.close()
