"""For steps that measure what pictures cost: alice's way to the guest's camera, consumers of it, and the processor time of all that works
for them."""
import contextlib, dataclasses, functools, json, os, pathlib, pwd, statistics, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests" / "vm"))
from machine import PATIENCE, activate, in_session, only_plugins, wait_until
from package import may_open

NODE = "/dev/video0"
CONSUMER = ROOT / "bench" / "vm" / "consumer.py"
USER = pwd.getpwnam("alice").pw_uid
ENVIRONMENT = only_plugins("coreelements", "app", "video4linux2", "camarb", "pipewire", "videoconvertscale", "videorate")
as_alice = functools.partial(in_session, "alice", environment=ENVIRONMENT)
# Seconds that a consumer waits for a picture.
FOR_A_PICTURE = 120


class LeftOut(Exception):
    """A way to the camera that cannot be had here, and why."""


class Refused(Exception):
    """No picture came to a consumer: its own words."""


def groups():
    """The control groups of what serves cameras: the broker and its recorder cores, and what of alice's manager does."""
    root = pathlib.Path("/sys/fs/cgroup")
    services = [("camarbd", "system.slice/camarbd.service"), ("camrecorder", "system.slice/system-camrecorder.slice")]
    own = f"user.slice/user-{USER}.slice/user@{USER}.service/session.slice"
    apps = f"user.slice/user-{USER}.slice/user@{USER}.service/app.slice"
    for slice in (own, apps):
        services += [(name, f"{slice}/{name}.service") for name in ("pipewire", "wireplumber", "camagent")]
    return [(name, root / path) for name, path in services if (root / path / "cpu.stat").exists()]


def used():
    """Processor time by then, in seconds, of each service."""
    found = {}
    for name, group in groups():
        usage = next(line for line in (group / "cpu.stat").read_text().splitlines() if line.startswith("usage_usec"))
        found[name] = found.get(name, 0) + int(usage.split()[1]) / 1e6
    return found


class Consumer:
    """consumer.py in alice's session, behind the words of `before`; it has taken its first pictures when a `with` begins."""

    def __init__(self, pipeline, size="any", before=(), patience=FOR_A_PICTURE):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = as_alice(*before, "/usr/bin/python3", CONSUMER, size, patience, pipeline, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=self.errors, text=True)

    def __enter__(self):
        self.size = self.line().removeprefix("warm ")
        return self

    def line(self):
        if said := self.process.stdout.readline():
            return said.strip()
        status = self.process.wait(timeout=PATIENCE)
        self.errors.seek(0)
        said = self.errors.read().strip()
        assert status == 1, said
        raise Refused(said)

    def counts(self, begin, end):
        self.process.stdin.write(f"{begin} {end}\n")
        self.process.stdin.flush()

    def result(self):
        return json.loads(self.line())

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@dataclasses.dataclass
class Cost:
    """What some consumers at once cost."""
    results: list  # of each consumer
    by_whom: dict  # milliseconds of processor time a second
    pace: float  # milliseconds that one piece of work took meanwhile, the same in each measurement

    @property
    def rate(self):
        """Pictures a second, of all of them."""
        return sum(each["frames"] / each["seconds"] for each in self.results)

    @property
    def a_second(self):
        return sum(self.by_whom.values())

    @property
    def a_picture(self):
        return self.a_second / self.rate

    def beside(self, other):
        """How many times as much a picture costs as in another measurement, both at the same pace."""
        return self.a_picture / self.pace / (other.a_picture / other.pace)

    def parts(self):
        """By whom, for a picture."""
        return ", ".join(f"{who} {cost / self.rate:.2f}" for who, cost in self.by_whom.items() if cost / self.rate > 0.005)


def pace_until(moment):
    """Waits, and does the same work again and again: how long that took each time, in seconds of processor time. What else goes on where
    the emulator runs makes everything in the guest dearer, this work as well."""
    found = []
    while (left := moment - time.monotonic()) > 0:
        before = time.thread_time()
        sum(range(200_000))
        found.append(time.thread_time() - before)
        time.sleep(min(0.3, max(0, left)))
    return found


def measured(seconds, *consumers, check=lambda: None):
    """What these cost, each the arguments of a `Consumer`. They begin in turn; `check` is called when all have pictures, and at the end."""
    with contextlib.ExitStack() as stack:
        begun = [stack.enter_context(Consumer(*each)) for each in consumers]
        check()
        begin = time.monotonic() + 0.5
        end = begin + seconds
        for each in begun:
            each.counts(begin, end)
        pace_until(begin)
        before = used()
        paces = pace_until(end)
        after = used()
        results = [each.result() for each in begun]
        check()
    own = sum(each["cpu"] / each["seconds"] for each in results)
    services = {name: (after[name] - before.get(name, 0)) / seconds for name in after}
    name = "consumer" if len(results) == 1 else "consumers"
    return Cost(results, {who: 1000 * share for who, share in ({name: own} | services).items()}, 1000 * statistics.mean(paces))


def cheapest(rounds, name, *arguments, **more):
    """The cheapest of some rounds: what else goes on only adds."""
    found = min((measured(*arguments, **more) for _ in range(rounds)), key=lambda cost: cost.a_picture / cost.pace)
    print(f"   measured: {name}, {found.a_picture:.2f} ms a picture, at a pace of {found.pace:.1f} ms", flush=True)
    return found


def prepare():
    """alice sits at the machine, may open its camera, and can start PipeWire."""
    activate("alice")
    wait_until("alice's own manager", lambda: os.path.exists(f"/run/user/{USER}/systemd/private"))
    wait_until("alice's access to the camera", lambda: may_open("alice", NODE))
    # The steps' guest masks what they do not start.
    for unit in ("pipewire.service", "pipewire.socket", "wireplumber.service"):
        pathlib.Path(f"/etc/systemd/user/{unit}").unlink(missing_ok=True)
    user_units("daemon-reload")


def user_units(verb, *units):
    """Whether alice's manager did so; what it says where it does not is in the output."""
    done = as_alice("systemctl", "--user", verb, *units).wait() == 0
    if not done and verb == "start":
        as_alice("systemctl", "--user", "--no-pager", "status", *units).wait()
    return done


def video_sources():
    """PipeWire's cameras, by their serial numbers."""
    said, _ = in_session("alice", "pw-dump", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).communicate(timeout=PATIENCE)
    properties = [(entry.get("info") or {}).get("props") or {} for entry in json.loads(said or "[]")]
    return [each.get("object.serial") for each in properties if each.get("media.class") == "Video/Source"]


@contextlib.contextmanager
def pipewire(*doors):
    """alice's PipeWire, and these units that show cameras in it: what GStreamer has its first camera by."""
    if not pathlib.Path(ENVIRONMENT["GST_PLUGIN_SYSTEM_PATH_1_0"], "libgstpipewire.so").exists():
        raise LeftOut("gstreamer1.0-pipewire is not installed")
    try:
        if not user_units("start", "pipewire.service", "wireplumber.service", *doors):
            raise LeftOut("PipeWire does not start")
        try:
            sources = wait_until("a camera in PipeWire", video_sources, 4 * PATIENCE)
        except AssertionError as why:
            raise LeftOut(str(why)) from None
        yield f"pipewiresrc target-object={sources[0]}"
    finally:
        user_units("stop", *doors, "wireplumber.service", "pipewire.service", "pipewire.socket")
