"""What the steps about cameras share: `vivid`'s two cameras by their identity, apps that watch them, and v4l2-ctl."""
import contextlib, ctypes, os, pathlib, subprocess, sys, time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "interop"))
from harness import BROKER, Daemon, Refused, end, plain, ran, refused, spawn, wait_until  # noqa: F401

IDENTITIES = [f"platform-vivid.0-vivid-{number:03}-vid-cap" for number in range(2)]
BACK, FRONT = f"back=v4l2:{IDENTITIES[0]}", f"front=v4l2:{IDENTITIES[1]}"
SMALL = {"activeFormat": "420v 320x180", "frameRate": 15.0}
DRIVER = pathlib.Path("/sys/bus/platform/drivers/vivid")
SECONDS_TO_CLOSE = 2.0
# A policy in which the last to ask has the camera, and the other waits: each start decides when it changes hands.
NEWEST = 'name = "newest"\n\n[contention]\norder = ["newest"]\n'

# `vivid` spins while it waits for its next frame: what is tested goes before it.
os.nice(-10)

# Everything under emulation takes its time; a step that passes never waits this long.
VM_PATIENCE = 60.0


def nodes():
    """The node of each camera just now, by identity; none while it is unplugged."""
    found = {}
    for entry in pathlib.Path("/sys/class/video4linux").glob("video*"):
        with contextlib.suppress(OSError):
            found["platform-vivid.0-" + (entry / "name").read_text().strip()] = f"/dev/{entry.name}"
    return found


def node(camera=0):
    return nodes()[IDENTITIES[camera]]


def v4l2_ctl(*words, camera=0, check=True):
    return ran("v4l2-ctl", "-d", node(camera), *words, status=0 if check else None, timeout=VM_PATIENCE, capture_output=False,
               stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def control(name, camera=0):
    return int(v4l2_ctl("--get-ctrl", name, camera=camera).split(":")[1].split()[0])


def press(name, camera=0):
    """A button of the driver: the next of something goes wrong."""
    v4l2_ctl("--set-ctrl", f"{name}=1", camera=camera)


def holders(path):
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            for descriptor in (entry / "fd").iterdir():
                if os.readlink(descriptor) == path:
                    found.append((int(entry.name), (entry / "comm").read_text().strip()))
    return found


class Openings:
    """How often a file is opened from here on, by whomever. Those alike that come between two looks count as one."""

    IN_OPEN, EVENT = 0x20, 16

    def __init__(self, path):
        libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        watched = libc.inotify_add_watch(self.descriptor, path.encode(), self.IN_OPEN)
        assert watched >= 0, os.strerror(ctypes.get_errno())

    def seen(self):
        try:
            return len(os.read(self.descriptor, 1 << 16)) // self.EVENT
        except BlockingIOError:
            return 0


class Watcher:
    """An app with a session and, while it runs, its stream."""

    def __init__(self, daemon, name, camera="back", configuration=SMALL, **attributes):
        self.app = daemon.app(name, **attributes)
        wait_for_camera(self.app, camera)
        self.session = self.app.session(camera, **configuration)
        self.stream = None

    def start(self):
        self.session.start()
        return self

    def configure(self, **settings):
        self.session.configure(**settings)
        key, value = settings.popitem()
        self.wait("ConfigurationApplied", where=lambda body: key in body[3] and body[3][key][1] == value)

    def runs(self):
        while True:
            grant = self.app.wait("DidStartRunning", patience=VM_PATIENCE)[2]
            try:
                self.stream = self.session.stream()
                return grant
            except Refused as refusal:
                # It may be interrupted before it asks for one, at any time: its next start has one.
                assert refusal.error in ("NotRunning", "Interrupted"), refusal

    def frames(self, count):
        seen = []
        while len(seen) < count:
            frame = self.stream.read(VM_PATIENCE)
            assert frame is not None, f"the stream ended after {len(seen)} of {count} frames"
            seen.append((frame.sequence, frame.timestamp))
            self.stream.release(frame)
        assert all(a < b for a, b in zip(seen, seen[1:])), f"frames out of order: {seen}"
        return seen

    def drained(self):
        """Reads the stream to its end: the last capture time, or None."""
        last = None
        while (frame := self.stream.read(VM_PATIENCE)) is not None:
            last = frame.timestamp
        return last

    def wait(self, name, **how):
        return self.app.wait(name, patience=VM_PATIENCE, **how)

    def stop(self):
        self.session.call("StopRunning")
        self.wait("DidStopRunning")


def status(app):
    broker, cameras, sessions = app.call(BROKER, "GetStatus", patience=VM_PATIENCE)
    return plain(broker), {camera["id"][1]: plain(camera) for camera in cameras}, list(map(plain, sessions))


def wait_for_camera(app, camera):
    """Until its recorder core has described it; asked now and again, so that it gets to do that."""
    until = time.monotonic() + VM_PATIENCE
    while not status(app)[1].get(camera, {}).get("present"):
        assert time.monotonic() < until, f"waited {VM_PATIENCE:.0f} s for camera {camera} to be described"
        time.sleep(0.25)


def wait_for_node(camera=0, patience=VM_PATIENCE):
    return wait_until(f"camera {camera}'s node", lambda: nodes().get(IDENTITIES[camera]), patience)


def settled():
    if os.path.exists("/run/udev/control"):
        subprocess.run(["udevadm", "settle", "--timeout=20"], check=True)


def unplug():
    (DRIVER / "unbind").write_text("vivid.0")


def plug():
    (DRIVER / "bind").write_text("vivid.0")
    wait_for_node(1)
    settled()


def current_options():
    folder = pathlib.Path("/sys/module/vivid/parameters")
    return {name: (folder / name).read_text().strip() for name in ("n_devs", "node_types", "num_inputs", "input_types")}


def load(options):
    """Loads the driver anew, once nobody has its nodes open any more."""
    wait_until("the driver to be free", lambda: ran("rmmod", "vivid", status=None).returncode == 0, VM_PATIENCE)
    subprocess.run(["modprobe", "vivid", *(f"{name}={value}" for name, value in options.items())], check=True)
    settled()
