"""For steps in Python: camarbd as a system service would be, real camclients inside users' login sessions, and logind.

Nothing here sleeps for luck: every wait is for an event and has a bound, long enough for an emulated machine.
"""
import contextlib, json, os, pathlib, pwd, queue, subprocess, tempfile, threading, time

FOLDER = pathlib.Path(__file__).resolve().parent
PROGRAMS = pathlib.Path(os.environ["CAMARB_PROGRAMS"])
ROOT = FOLDER.parents[1]
# The programs lie where no camera files are: a broker and its recorder cores look for them where this says.
os.environ["CAMARB_CAMERAS"] = str(ROOT / "cameras")
PATIENCE = 30.0 * float(os.environ["CAMARB_VM_SLOWNESS"])
# Linux says since 6.5 which process is at the other end of a socket (SO_PEERPIDFD); before, it gives a number, and identities are weak.
IDENTITIES_ARE_WEAK = tuple(int(word) for word in os.uname().release.split(".")[:2]) < (6, 5)


def wait_until(what, condition, patience=PATIENCE):
    until = time.monotonic() + patience
    while not (found := condition()):
        assert time.monotonic() <= until, f"waited {patience:.0f} s for {what}"
        time.sleep(0.05)
    return found


def show(*words):
    """Says of a step that passes how it did: Tests/vm/run shows such lines."""
    print("shown:", *words, flush=True)


def run(*command):
    """What a command says on standard output; fails when it does."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
    said = f"{done.stdout.strip()}\n{done.stderr.strip()}".strip()
    assert done.returncode == 0, f"{' '.join(map(str, command))}: status {done.returncode}: {said}"
    return done.stdout


def in_session(user, *words, environment={}, **more):
    """Starts a command in a user's login session, with these variables beside the session's own; `more` is Popen's."""
    settings = [f"{name}={value}" for name, value in environment.items()]
    command = [FOLDER / "in-session", user, "env", *settings, *map(str, words)]
    return subprocess.Popen(command, **{"stdin": subprocess.DEVNULL} | more)


def said_to(user, *words, patience=6 * PATIENCE, **more):
    """What a command in a user's login session says; fails when it does."""
    program = in_session(user, *words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    said, _ = program.communicate(timeout=patience)
    assert program.returncode == 0, f"{' '.join(map(str, words))}: status {program.returncode}: {said}"
    return said


def only_plugins(*names):
    """Makes a folder with these of GStreamer's plugins, be they installed by now or later, and returns the environment of a program that
    is to see no others: it starts a program for each to look at it, and an emulated machine has time for few."""
    installed = run("pkg-config", "--variable=pluginsdir", "gstreamer-1.0").strip()
    # One for each step, as several may run in one guest; for every user.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="plugins."))
    folder.chmod(0o755)
    for name in names:
        (folder / f"libgst{name}.so").symlink_to(pathlib.Path(installed, f"libgst{name}.so"))
    return {"GST_REGISTRY": "/tmp/registry", "GST_PLUGIN_SYSTEM_PATH_1_0": str(folder), "LC_ALL": "C.UTF-8"}


# The first of `vivid`'s cameras, and what an emulated machine can take from it.
REAL = "front=v4l2:platform-vivid.0-vivid-000-vid-cap"
SMALL = ("activeFormat=420v 320x180", "frameRate=15")


class Broker:
    """camarbd as root, on the system's socket and the system's bus."""

    def __init__(self, policy="login-session", cameras=("front=simulated",), extra=()):
        command = [PROGRAMS / "camarbd", "--policy", ROOT / "policies" / f"{policy}.toml", "--decisions",
                   *(word for camera in cameras for word in ("--camera", camera)), *extra]
        self.log = pathlib.Path("/tmp/camarbd.log")
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def __enter__(self):
        def is_there():
            assert self.process.poll() is None, f"camarbd ended: {self.log.read_text()}"
            return pathlib.Path("/run/camarb/socket").exists()

        wait_until("camarbd's socket", is_there)
        # The first recorder core of a boot is read in whole from the host, and may take longer than a broker waits for it.
        status = self.status_where("the cameras to be known", lambda status: status["cameras"] and all(
            camera["present"] for camera in status["cameras"]))
        assert status["loginSessionsKnown"], status["loginSessionsUnknown"]
        return self

    def __exit__(self, kind, *_):
        self.process.terminate()
        self.process.wait(timeout=PATIENCE)
        if kind is not None:
            print(f"camarbd said:\n{self.log.read_text()}")

    def status(self):
        return json.loads(run(PROGRAMS / "camclient", "status", "--json"))

    def status_where(self, what, is_so):
        return wait_until(what, lambda: next(filter(is_so, [self.status()]), None))


class App:
    """`camclient run` inside a user's login session, typed into; its reports are read as they come."""

    def __init__(self, user, name, *before, camera="front", settings=("frameRate=3",)):
        # `before` is what starts it, if not the session itself. Few frames: making them is work for an emulated machine.
        starts = before or (FOLDER / "in-session", user)
        self.name = name
        self.process = subprocess.Popen(
            [str(word) for word in (*starts, PROGRAMS / "camclient", "run", "--app", name, "--camera", camera, "--json",
                                        *(word for setting in settings for word in ("--set", setting)))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.reports, self.seen = queue.Queue(), []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.reports.put(json.loads(line))
        self.reports.put(None)

    def type(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def start(self):
        self.type("start")

    def runs(self):
        self.start()
        self.event("DidStartRunning")

    def stops(self):
        self.type("stop")
        self.event("DidStopRunning")

    def is_cut(self, cause):
        self.event("WasInterrupted", [cause])
        self.event("DidStopRunning")

    def resumes(self):
        self.event("InterruptionEnded")
        self.event("DidStartRunning")

    def records(self, film):
        self.type(f"record {film}")
        self.event("RecordingStarted")

    def finishes(self):
        """Stops recording: what it was told of the end."""
        self.type("stop-record")
        finished = self.event("RecordingFinished")
        assert finished["why"] == "stopped", finished
        return finished

    def event(self, name, causes=None, passed_over=("ConfigurationApplied",)):
        """The next event, which must have that name: nothing else is passed over."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                report = self.reports.get(timeout=max(0.01, until - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"{self.name}: no {name} within {PATIENCE:.0f} s; came: {self.seen}") from None
            assert report is not None, f"{self.name} ended before {name}; came: {self.seen}"
            assert report.get("ok") is not False, f"{self.name}: {report}"
            if "event" not in report or report["event"] in passed_over:
                continue
            self.seen.append(report["event"])
            assert report["event"] == name, f"{self.name}: {report['event']} came, not {name}: {report}"
            assert causes is None or report["causes"] == causes, f"{self.name}: {report}"
            return report

    def nothing_came(self):
        while not self.reports.empty():
            report = self.reports.get()
            assert report and "event" not in report, f"{self.name}: {report} came, and nothing should have"

    def end(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait(timeout=PATIENCE)


def sessions():
    """logind's sessions by id, as it writes them down: asking it takes a process each time."""
    found = {}
    for path in pathlib.Path("/run/systemd/sessions").iterdir():
        if path.suffix != ".ref" and not path.name.startswith("."):
            with contextlib.suppress(OSError):  # It has just ended.
                found[path.name] = dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line)
    return found


def session(user):
    """The id of the login session that a user has on the seat; the latest, where an earlier one is being closed."""
    uid = str(pwd.getpwnam(user).pw_uid)
    ids = [id for id, fields in sessions().items()
           if fields.get("UID") == uid and fields.get("SEAT") == "seat0" and fields.get("STATE") != "closing"]
    assert ids, f"{user} is not logged in: {sessions()}"
    return max(ids, key=lambda id: (len(id), id))


def activate(user):
    """Switches to the user's session, as its key chord does, and waits until logind has, and until the user's own manager is there."""
    run("loginctl", "activate", session(user))
    wait_until(f"{user}'s session to be active", lambda: sessions()[session(user)].get("ACTIVE") == "1")
    wait_until(f"{user}'s own manager", pathlib.Path(f"/run/user/{pwd.getpwnam(user).pw_uid}/systemd/private").exists)


def lock(user, locked):
    id = session(user)
    path = f"/org/freedesktop/login1/session/{'_3' if id[0].isdigit() else ''}{id}"
    run(FOLDER / "in-session", user, "busctl", "--system", "call", "org.freedesktop.login1", path,
        "org.freedesktop.login1.Session", "SetLockedHint", "b", "true" if locked else "false")
