"""What the tests from outside share: a camarbd of their own, applications that speak to it, streams, and claims.

Nothing here sleeps for luck: every wait is for an event and has a bound, after which the test fails and says what it
waited for. Every process is started by the test that needs it and ended by its own id.
"""
import collections, concurrent.futures, contextlib, ctypes, faulthandler, json, mmap, multiprocessing, os, pathlib, select, shutil
import signal, socket, struct, subprocess, sys, tempfile, threading, time, traceback

from jeepney import DBusAddress, MessageType, new_method_call
from jeepney.io.blocking import open_dbus_connection

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("CAMARB_PROGRAMS", ROOT / ".build" / "release")).resolve()
BROKER = DBusAddress("/org/camarb/Broker1", "org.camarb", "org.camarb.Broker1")
SHELL = DBusAddress("/org/camarb/Shell1", "org.camarb", "org.camarb.Shell1")
# Long enough for a loaded machine of two cores; a test that passes never waits this long.
PATIENCE = 20.0
# So long may a command compute, in seconds: minutes beside seven others on two cores are no mistake of its own.
COMPUTING_PATIENCE = 300.0
CAMERA = "front"
# How camarbd is told of its cameras: NAME=simulated[:MODEL] or NAME=file:PATH.
SIMULATED = f"{CAMERA}=simulated"

# Kinds of signals that each object tells in the order in which it comes to be so: each tuple has one order.
IN_ORDER = (("DidStartRunning", "WasInterrupted", "DidStopRunning", "InterruptionEnded", "SessionStopped"),
            ("ConfigurationApplied",), ("CameraStateChanged",), ("PropertiesChanged",))

claims = []
# Why a short run leaves some of them out.
long_ones = {}


def claim(sentence, long=None):
    def register(function):
        claims.append((sentence, function))
        if long:
            long_ones[sentence] = long
        return function
    return register


def is_wanted(sentence, words):
    """Whether a claim is one of those asked for: it contains one of the words, and none of those that have a - before them."""
    left_out = [word[1:].lower() for word in words if word.startswith("-")]
    asked = [word.lower() for word in words if not word.startswith("-")]
    said = sentence.lower()
    return not any(word in said for word in left_out) and (not asked or any(word in said for word in asked))


class Skipped(Exception):
    """The claim needs what this machine cannot have; the run says so, and what."""


def needs_root(what="only root can be another user"):
    if os.geteuid() != 0:
        raise Skipped(what)


def attempt(at, hang=None):
    """What became of one claim, and how that is said, with the words at the beginning that make/test looks for."""
    sentence, test = claims[at]
    begun = time.monotonic()
    if hang:
        faulthandler.dump_traceback_later(hang, exit=True)
    try:
        note = test()
    except Skipped as why:
        return "skipped", f"skipped: {sentence}: {why}"
    except Exception:  # A test may fail in any way; the next one still has something to say.
        return "failed", f"FAILED  {sentence}\n{traceback.format_exc()}"
    finally:
        if hang:
            faulthandler.cancel_dump_traceback_later()
    return "passed", f"ok      {sentence} ({note + ', ' if note else ''}{time.monotonic() - begun:.1f} s)"


def attempt_in_shard(at):
    """The same in a shard: what the claim and its processes print while it runs comes with how it ended, not among other claims' lines."""
    with tempfile.TemporaryFile() as printed:
        sys.stdout.flush()
        before = [os.dup(descriptor) for descriptor in (1, 2)]
        for descriptor in (1, 2):
            os.dup2(printed.fileno(), descriptor)
        outcome, said = attempt(at)
        sys.stdout.flush()
        for descriptor, own in zip((1, 2), before):
            os.dup2(own, descriptor)
            os.close(own)
        printed.seek(0)
        return outcome, printed.read().decode(errors="replace") + said


def outcomes(wanted, shards, hang, again):
    """What becomes of each claim, as soon as it is known. A shard is a process that takes the next claim when its last one is over. How a
    claim ends by itself decides: one that fails beside others is tried again after them, and is added to `again`."""
    if shards > 1:
        with concurrent.futures.ProcessPoolExecutor(shards, mp_context=multiprocessing.get_context("fork")) as pool:
            begun = {pool.submit(attempt_in_shard, at): at for at in wanted}
            wanted = []
            for done in concurrent.futures.as_completed(begun):
                outcome, said = done.result()
                if outcome == "failed":
                    wanted.append(begun[done])
                    again.append(begun[done])
                    print(f"beside others, and is tried again by itself: {said}", flush=True)
                else:
                    yield begun[done], outcome, said
    for at in wanted:
        yield at, *attempt(at, hang)


def run_claims(words, of=None, hang=None, shards=1, short=False):
    """Runs the claims that are asked for, in order, in as many `shards` at once, and says what became of each; returns the exit status.
    `of` names the modules whose claims they are, since what these import may have claims of its own. With `hang` a claim that takes so
    many seconds ends the run and says where it was: what hangs inside a C library no exception ends. `short` leaves out what takes long."""
    wanted = [at for at, (sentence, test) in enumerate(claims) if (not of or test.__module__ in of) and is_wanted(sentence, words)]
    left_out = [claims[at][0] for at in wanted if short and claims[at][0] in long_ones]
    wanted = [at for at in wanted if claims[at][0] not in left_out]
    count = dict.fromkeys(("passed", "failed", "skipped"), 0)
    failed, again = [], []
    for at, outcome, said in outcomes(wanted, shards, hang, again):
        count[outcome] += 1
        if outcome == "failed":
            failed.append(claims[at][0])
        print(said, flush=True)
    for sentence in left_out:
        print(f"left out, since {long_ones[sentence]}: {sentence}")
    # Again where a long run ends, which is all that is read of it from afar.
    for sentence in (claims[at][0] for at in again):
        if sentence not in failed:
            print(f"passed only by itself: {sentence}")
    for sentence in failed:
        print(f"failed: {sentence}")
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    # Words that no claim has are a mistake, and no run that passed.
    return 1 if failed or not (count["passed"] or count["skipped"]) else 0


class Refused(Exception):
    def __init__(self, name, message):
        super().__init__(f"{name}: {message}")
        self.name, self.message = name, message
        self.error = name.rpartition(".")[2]


def refused(call, *words, error=""):
    """A call is refused, by this error if one is given, in a sentence that has these words: the refusal."""
    try:
        call()
    except Refused as refusal:
        assert error in ("", refusal.error), f"{refusal} (wanted {error})"
        missing = [word for word in words if word not in refusal.message]
        assert not missing, f"the message lacks {missing}: {refusal}"
        return refusal
    raise AssertionError(f"no error, where {error or 'one'} was due that says {words}")


def plain(values):
    """Without the types that they have on the wire."""
    return {key: value for key, (_, value) in values.items()}


def typed(settings):
    """With the types on the wire, but what has one already."""
    kinds = {bool: "b", str: "s"}
    return {key: value if isinstance(value, tuple) else (kinds.get(type(value), "d"), value) for key, value in settings.items()}


class Folder(tempfile.TemporaryDirectory):
    def __init__(self):
        super().__init__(prefix="camarb-test.")

    def __enter__(self):
        return pathlib.Path(super().__enter__())


def die_with_parent():
    """Runs in a new process before its program: it ends when the test run ends, however that ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def wait_until(what, condition, patience=PATIENCE):
    """Polls a fact of the system that has no event to wait for."""
    until = time.monotonic() + patience
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > until:
            raise AssertionError(f"waited {patience:.0f} s for {what}")
        time.sleep(0.005)


def stat_of(process):
    """What the kernel says of a process: its program, and then its state, its parent and the rest; of none it says nothing."""
    try:
        program, _, rest = pathlib.Path(f"/proc/{process}/stat").read_text().partition("(")[2].rpartition(")")
    except OSError:
        return "", [""]
    return program, rest.split()


def state_of(process):
    """The kernel's letter for what a process does; nothing where there is none."""
    return stat_of(process)[1][0]


def is_there(process):
    """Whether a process runs; one that has ended and that nobody has reaped does not."""
    return state_of(process) not in ("Z", "")


@contextlib.contextmanager
def stopped(*processes):
    """Processes that stand still (SIGSTOP), and go on afterwards in this order."""
    try:
        for process in processes:
            os.kill(process, signal.SIGSTOP)
            wait_until(f"process {process} to stand still", lambda: state_of(process) in ("T", ""))
        yield
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)


def start_unheard(daemon, session, ended):
    """StartRunning lies in the socket of a camarbd that stands still until something has ended, which `ended` says."""
    starting = threading.Thread(target=session.start)
    with stopped(daemon.process.pid):
        starting.start()
        wait_until("what ends meanwhile", ended)
    starting.join()


@contextlib.contextmanager
def as_user(user, groups=()):
    """Whoever connects inside is this user's: the kernel notes user and groups then. For the thread of the test alone."""
    before = os.getgroups()
    os.setgroups([user, *groups])
    os.setegid(user)
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(before)


def as_other(user):
    """How Popen starts a program as that user, in no group but its own; None is this one."""
    return {} if user is None else {"user": user, "group": user, "extra_groups": []}


def recorders_of(broker):
    return children_of(broker, "camrecorder")


def children_of(broker, program):
    """The ids of a camarbd's processes of one program that have not ended."""
    return [int(process) for process in filter(str.isdigit, os.listdir("/proc"))
            if (found := stat_of(process))[0] == program and found[1][1] == str(broker) and found[1][0] != "Z"]


def ran(*command, status=0, user=None, timeout=60, **options):
    """Runs a command to its end, which has to have this exit status, or any where that is None: what it said."""
    options = {"capture_output": True, "text": True, "preexec_fn": die_with_parent, **as_other(user), **options}
    if "input" not in options:
        options["stdin"] = subprocess.DEVNULL
    done = subprocess.run(list(map(str, command)), timeout=timeout, **options)
    assert status in (None, done.returncode), f"{command} ended with {done.returncode}, not {status}:\n{done.stdout}{done.stderr}"
    return done


def spawn(*command, log=None, user=None, **options):
    """Starts a program, whose words are added to `log` if one is given."""
    with open(log or os.devnull, "a") as file:
        said = {"stdout": file, "stderr": file} if log else {}
        return subprocess.Popen(list(map(str, command)), **{
            "stdin": subprocess.DEVNULL, "preexec_fn": die_with_parent, **said, **as_other(user), **options})


def listening(path, backlog=128, kind=socket.SOCK_STREAM):
    listener = socket.socket(socket.AF_UNIX, kind)
    listener.bind(str(path))
    listener.listen(backlog)
    return listener


def activated(listener, *command, **options):
    """Starts a program as systemd does: with a listening socket as descriptor 3, and variables that are meant for that very process."""
    move = f"exec 3<&{listener.fileno()}; " if listener.fileno() != 3 else ""
    script = f'{move}WATCHDOG_PID=$$ LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
    return spawn("bash", "-c", script, "bash", *command, pass_fds=(listener.fileno(),), **options)


def end(process, how=signal.SIGTERM):
    """Has a program end, and kills it where it does not: its exit status, None of one that was killed."""
    process.send_signal(how)
    try:
        return process.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Ended:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class Speaking(Ended):
    """A program that says lines of JSON and is told words."""

    def __init__(self, *command, **options):
        self.process = spawn(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        # How many lines waits have looked at; what of the next one is there.
        self.said, self.seen, self.rest = [], 0, b""

    def tell(self, word):
        self.process.stdin.write(f"{word}\n".encode())
        self.process.stdin.flush()

    def wait(self, where):
        """The next line that is so, each seen once, in order; those before it are passed over."""
        until = time.monotonic() + PATIENCE
        while True:
            while self.seen < len(self.said):
                self.seen += 1
                if where(self.said[self.seen - 1]):
                    return self.said[self.seen - 1]
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))
            read = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            assert read, f"waited {PATIENCE:.0f} s, or the program ended; it said {self.said[-20:]}"
            *lines, self.rest = (self.rest + read).split(b"\n")
            self.said += map(json.loads, lines)


class Daemon:
    """A camarbd with a private socket in a temporary directory."""

    def __init__(self, policy="desktop", cameras=(SIMULATED,), extra=(), system_bus="", claims=True, users=(), decides_aloud=True,
                 user=None, variables=()):
        """`policy` is a shipped one's name, a file, or a text, which is then in a file of its own. `system_bus` is where logind is:
        nowhere, so that no test depends on the machine's present user; None is its own. With `claims` apps are what they say they are,
        else what the kernel says. `users` are those beside root to which a drop-in of the policy gives a right to cameras: without
        logind nobody else has one. Each decision is a line of its log, unless that is asked otherwise: of hundreds of thousands nobody
        reads it. It is `user`'s own, if one is given, and has these `variables` in its environment, too. Answers are kept in its
        directory, and never in the state folder of whoever runs the tests."""
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="camarb-test."))
        self.path = self.directory / "socket"
        self.address = f"unix:path={self.path}"
        self.log = self.directory / "camarbd.log"
        self.variables = {"STATE_DIRECTORY": "", "XDG_STATE_HOME": str(self.directory), **dict(variables)}
        self.policy = pathlib.Path(policy) if "/" in str(policy) else ROOT / "policies" / f"{policy}.toml"
        if "\n" in str(policy):
            self.policy = self.directory / "policy.toml"
            self.policy.write_text(policy)
        command = [PROGRAMS / "camarbd", *self.listens(), "--policy", self.policy]
        if decides_aloud:
            command.append("--decisions")
        if claims:
            command.append("--trust-claims")
        if users:
            folder = self.directory / "policy.d"
            folder.mkdir()
            (folder / "50-access.toml").write_text(f"[access]\nusers = {list(users)}\n")
            command += ["--policy-dir", folder]
        for camera in cameras:
            command += ["--camera", camera]
        if system_bus is not None:
            command += ["--system-bus", system_bus]
        # Nor does a test depend on how hot or busy the machine is.
        if "--machine" not in map(str, extra):
            command += ["--machine", self.directory]
        # Other users come in, too.
        self.directory.chmod(0o755)
        self.user, self.users = user, users
        if user is not None:
            os.chown(self.directory, user, user)
        self.apps = []
        # How it may end; whoever kills it says so.
        self.ends = (0, -signal.SIGTERM)
        self.command = [str(word) for word in (*command, *extra)]
        self.start()

    def listens(self):
        return ["--socket", self.path]

    def start(self):
        self.process = spawn(*self.command, log=self.log, user=self.user, env={**os.environ, **self.variables})

        def listening():
            assert self.process.poll() is None, f"camarbd ended at once:\n{self.said()}"
            return self.path.exists()

        wait_until("camarbd's socket", listening)

    def close_apps(self):
        for app in self.apps:
            app.close()
        self.apps = []

    def kill(self):
        self.ends = (-signal.SIGKILL,)
        self.process.kill()
        self.process.wait()

    def restart(self):
        """Kills it and starts another in its place; connections end, and files stay."""
        self.close_apps()
        self.process.kill()
        self.process.wait()
        self.path.unlink(missing_ok=True)
        self.start()

    def reload(self, text=None):
        if text is not None:
            self.policy.write_text(text)
        self.process.send_signal(signal.SIGHUP)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.close_apps()
        status = end(self.process)
        said = self.said()
        shutil.rmtree(self.directory, ignore_errors=True)
        if kind is not None:
            print(f"  camarbd said:\n{said}", file=sys.stderr)
        else:
            assert status in self.ends, f"camarbd's exit status is {status}; it said:\n{said}"

    def said(self):
        text = self.log.read_text(errors="replace")
        return "    " + "\n    ".join(text.splitlines()[-40:])

    def recorders(self):
        return recorders_of(self.process.pid)

    def app(self, name=None, user=None, groups=(), **attributes):
        """A connection that has said which app it is, of another user's if one is given."""
        with contextlib.nullcontext() if user is None else as_user(user, groups):
            app = App(self.address, name, **attributes)
        self.apps.append(app)
        return app

    def running(self, name, camera=CAMERA, user=None, **configuration):
        app = self.app(name, user)
        return app, app.running(camera, **configuration)

    def shell(self):
        shell = self.app()
        shell.call(SHELL, "Attach", "s", "shell")
        return shell


class App:
    """A client over jeepney: calls wait for their answers, signals are kept in the order in which they came."""

    def __init__(self, address, name=None, **attributes):
        self.connection = self.connected(address)
        self.signals = []
        # How many of them waits have looked at, and what of these none has returned.
        self.seen, self.passed = 0, []
        if name:
            self.call(BROKER, "DeclareClient", "a{sv}", typed({"app": name, **attributes}))

    @staticmethod
    def connected(address):
        # The library would wait for a second, which a busy machine may well take.
        return open_dbus_connection(bus=address, enable_fds=True, auth_timeout=PATIENCE)

    def close(self):
        with contextlib.suppress(OSError):
            self.connection.close()

    def fileno(self):
        return self.connection.sock.fileno()

    @staticmethod
    def fields(message):
        return {int(code.value if hasattr(code, "value") else code): value for code, value in message.header.fields.items()}

    def keep(self, message):
        if message.header.message_type is MessageType.signal:
            fields = self.fields(message)
            self.signals.append((fields[1], fields[3], message.body))

    def call(self, at, member, signature=None, *body, patience=PATIENCE):
        message = new_method_call(at, member, signature, body)
        serial = next(self.connection.outgoing_serial)
        self.connection.send(message, serial=serial)
        until = time.monotonic() + patience
        while True:
            try:
                answer = self.connection.receive(timeout=max(0.001, until - time.monotonic()))
            except TimeoutError:
                raise AssertionError(f"no answer to {member} within {patience:.0f} s") from None
            fields = self.fields(answer)
            if fields.get(5) != serial:
                self.keep(answer)
                continue
            if answer.header.message_type is MessageType.error:
                raise Refused(fields[4], answer.body[0] if answer.body else "")
            return answer.body

    def refusal(self, *call):
        return refused(lambda: self.call(*call))

    def poll(self, patience=0.0):
        """Keeps what has arrived; waits up to `patience` seconds for at least one message."""
        with contextlib.suppress(TimeoutError):
            while True:
                self.keep(self.connection.receive(timeout=patience))
                patience = 0.0

    def wait(self, name, where=lambda body: True, patience=PATIENCE):
        """The body of the first signal of that name that no wait has returned. Those before it are passed over, and are there for a
        later wait; but of kinds that one object tells in an order (`IN_ORDER`) none is returned after a later one."""
        until = time.monotonic() + patience
        place = 0
        while True:
            self.passed += self.signals[self.seen:]
            self.seen = len(self.signals)
            for place in range(place, len(self.passed)):
                path, member, body = self.passed[place]
                if member == name and where(body):
                    kinds = next((kinds for kinds in IN_ORDER if member in kinds), ())
                    self.passed[:place + 1] = [one for one in self.passed[:place] if one[0] != path or one[1] not in kinds]
                    return body
            place = len(self.passed)
            if time.monotonic() > until:
                came = ", ".join(member for _, member, _ in self.signals) or "nothing"
                raise AssertionError(f"waited {patience:.0f} s for {name}; what came: {came}")
            self.poll(min(1.0, max(0.001, until - time.monotonic())))

    def names(self, path=None):
        """The names of all that sessions told so far, broker-wide signals left out."""
        return [member for at, member, _ in self.signals
                if at.startswith("/org/camarb/session/") and path in (None, at) and member != "PropertiesChanged"]

    def changes(self, path):
        """What PropertiesChanged told of an object so far: dictionaries, without the types of their values."""
        return [plain(body[1]) for at, member, body in self.signals if at == path and member == "PropertiesChanged"]

    def heard(self, name, since=0):
        return [body for _, member, body in self.signals[since:] if member == name]

    def is_not_told(self, *names):
        self.poll()
        assert not set(names) & set(self.names()), self.names()

    def is_interrupted(self, *causes):
        told = self.wait("WasInterrupted")
        assert not causes or told[3] == list(causes), told
        return told

    def resumes(self):
        """Is told that its interruption is over, and that it runs again: what it was told of the interruption."""
        told = self.wait("InterruptionEnded")
        self.wait("DidStartRunning")
        return told

    def property(self, path, interface, name):
        at = DBusAddress(path, "org.camarb", "org.freedesktop.DBus.Properties")
        return self.call(at, "Get", "ss", interface, name)[0][1]

    def status(self):
        return plain(self.call(BROKER, "GetStatus")[0])

    def place(self, app, presence, focused=False):
        self.call(SHELL, "PlaceApp", "ssb", app, presence, focused)

    def session(self, camera=CAMERA, **configuration):
        return Session(self, camera, configuration)

    def running(self, camera=CAMERA, **configuration):
        return self.session(camera, **configuration).runs()


class Session:
    def __init__(self, app, camera, configuration):
        self.app = app
        (self.path,) = app.call(BROKER, "CreateSession", "sa{sv}", camera, typed(configuration))
        self.at = DBusAddress(self.path, "org.camarb", "org.camarb.Session1")

    def call(self, member, signature=None, *body):
        return self.app.call(self.at, member, signature, *body)

    def refusal(self, *call):
        return refused(lambda: self.call(*call))

    def start(self):
        self.call("StartRunning")

    def runs(self):
        self.start()
        self.app.wait("DidStartRunning")
        return self

    def stops(self):
        self.call("StopRunning")
        self.app.wait("DidStopRunning")

    def configure(self, **settings):
        self.call("Configure", "a{sv}", typed(settings))

    def stream(self):
        (descriptor,) = self.call("OpenStream")
        return Stream(descriptor.to_raw_fd())

    def record(self, path, **options):
        with open(path, "w+b") as file:
            (recording,) = self.call("StartRecording", "ha{sv}", file, options)
        return recording

    def records(self, path, **options):
        recording = self.record(path, **options)
        self.app.wait("RecordingStarted", lambda body: body[2] == recording)
        return recording

    def finish(self, recording=None):
        """Stops recording: what was told of the end."""
        self.call("StopRecording")
        return self.app.wait("RecordingFinished", lambda body: recording in (None, body[2]))

    def photo(self, path, **options):
        with open(path, "w+b") as file:
            (photo,) = self.call("CapturePhoto", "ha{sv}", file, options)
        return self.app.wait("PhotoCaptured", lambda body: body[2] == photo)

    def property(self, name):
        return self.app.property(self.path, "org.camarb.Session1", name)


def is_blank(memory):
    return not any(memory[at:at + 65536].strip(b"\0") for at in range(0, len(memory), 65536))


class Buffer:
    """A buffer of a stream, mapped read-only and whole."""

    def __init__(self, descriptor, width, height, stride, size):
        self.descriptor, self.width, self.height, self.stride = descriptor, width, height, stride
        self.memory = mmap.mmap(descriptor, size, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)

    @property
    def is_blank(self):
        return is_blank(self.memory)


Frame = collections.namedtuple("Frame", "index sequence timestamp flags mark")


class Stream:
    """A preview stream, read as Sources/Language/ArbiterProtocol/Wire/FrameRecord.swift says."""

    BYTES = 40

    def __init__(self, descriptor):
        self.socket = socket.socket(fileno=descriptor)
        self.buffers = {}
        self.ended = False

    def fileno(self):
        return self.socket.fileno()

    def read(self, patience=PATIENCE):
        while not self.ended:
            if not select.select([self.socket], [], [], patience)[0]:
                raise AssertionError(f"no frame within {patience:.0f} s")
            try:
                record, descriptors, _, _ = socket.recv_fds(self.socket, self.BYTES, 1)
            except ConnectionResetError:
                record = b""
            if len(record) != self.BYTES:
                assert not record, f"a record of {len(record)} bytes"
                self.ended = True
                break
            tag, index = struct.unpack_from("<II", record)
            if tag == 1:
                width, height, stride = struct.unpack_from("<III", record, 8)
                (size,) = struct.unpack_from("<Q", record, 24)
                assert len(descriptors) == 1, "a buffer without its descriptor"
                self.buffers[index] = Buffer(descriptors[0], width, height, stride, size)
            elif tag == 2:
                sequence, timestamp, size, flags = struct.unpack_from("<QqQI", record, 8)
                buffer = self.buffers[index]
                return Frame(index, sequence, timestamp, flags, read_mark(buffer.memory, buffer.width, buffer.height, buffer.stride))
            elif tag == 4:
                self.ended = True
            else:
                raise AssertionError(f"an unknown record, tag {tag}")
        return None

    def release(self, frame):
        with contextlib.suppress(OSError):  # The grant may have ended since; `read` says so.
            self.socket.send(struct.pack("<II32x", 3, frame.index))

    def close(self):
        self.socket.close()


def read_mark(luma, width, height, stride):
    """(capture time, frame number) out of a picture's burnt-in mark, or None; the format is BurntInMark.swift's."""
    block = max(4, height // 90)
    top = height - 4 * block
    bits = 0
    for row in range(4):
        line = (top + row * block + block // 2) * stride
        for column in range(32):
            left, right = column * width // 32, (column + 1) * width // 32
            inset = (right - left) // 4
            pixels = luma[line + left + inset:line + right - inset]
            bits = bits << 1 | (sum(pixels) > 126 * len(pixels))
    signature, time_, number, check = bits >> 112, bits >> 48 & (1 << 64) - 1, bits >> 16 & 0xffffffff, bits & 0xffff
    a, b = 1, 0
    for byte in time_.to_bytes(8, "big") + number.to_bytes(4, "big"):
        a = (a + byte) % 255
        b = (b + a) % 255
    if signature != 0xca3b or check != b << 8 | a:
        return None
    return time_, number


def probed(path, *words, complains=True):
    """What ffprobe says of a file; with `complains` a word of complaint fails the test, too."""
    done = ran("ffprobe", "-v", "error", *words, "-of", "json", path, status=None, timeout=120)
    assert done.returncode == 0 and not (complains and done.stderr.strip()), f"ffprobe of {path}: {done.stderr.strip()}"
    return json.loads(done.stdout)


def played(path):
    """Plays a recording to its end: (frames, seconds). Fails when anything in it cannot be decoded."""
    found = probed(path, "-count_frames", "-select_streams", "v:0", "-show_entries", "stream=nb_read_frames:format=duration")
    return int(found["streams"][0]["nb_read_frames"]), float(found["format"].get("duration", "nan"))


def recorded_marks(path):
    """The burnt-in marks of all frames of a recording, None where a frame has none."""
    (found,) = probed(path, "-select_streams", "v:0", "-show_entries", "stream=width,height", complains=False)["streams"]
    width, height = found["width"], found["height"]
    decoder = spawn("ffmpeg", "-v", "error", "-noautorotate", "-i", path, "-f", "rawvideo", "-pix_fmt", "gray", "-fps_mode",
                    "passthrough", "-", stdout=subprocess.PIPE)
    marks = []
    while len(picture := decoder.stdout.read(width * height)) == width * height:
        marks.append(read_mark(picture, width, height, width))
    assert decoder.wait(timeout=60) == 0, f"ffmpeg could not play {path}"
    return marks
