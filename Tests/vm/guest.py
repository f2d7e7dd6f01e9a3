"""A guest in QEMU that runs steps: booting it, following it, and saying what became of each step."""
import ctypes, dataclasses, os, pathlib, re, shlex, shutil, signal, subprocess, tempfile, time

import kernel
from kernel import ROOT, Mistake, NotToBeHad

# Two cameras of the kernel's own virtual driver, capture only, each one webcam.
VIVID = "n_devs=2 node_types=0x1,0x1 num_inputs=1,1 input_types=0x0,0x0"
# Seconds until the steps begin, at most: five for plain and seventeen for systemd where nothing else goes on, and many times that else.
BOOT_MAX = {"plain": 180, "systemd": 420}
# What a guest has to stop a step that hangs, and to copy what it said, before the guest itself counts as hung.
STEP_MARGIN = 60
PROGRAMS = ("camarbd", "camkeeper", "camrecorder", "camwriter", "camclient", "camagent", "tinyrecorder")


class Step:
    """One file of `steps`: which guest it wants, how long it may take and why a short run does without it, from its first lines."""

    GUESTS = ("plain", "systemd")
    SECONDS = 90

    def __init__(self, path):
        self.path, self.name = path, path.name
        first = "\n".join(path.read_text().splitlines()[:20])
        said = dict(re.findall(r"^# *(guest|seconds|long): *(.*)", first, re.MULTILINE))
        # Why a short run leaves it out; empty where it does not.
        self.guest, self.seconds, self.long = said.get("guest"), int(said.get("seconds", self.SECONDS)), said.get("long", "")
        if self.guest not in self.GUESTS:
            raise Mistake(f"{path} has no line \"# guest: plain\" or \"# guest: systemd\" among its first 20.")
        if not os.access(path, os.X_OK):
            raise Mistake(f"{path} is not executable: chmod +x it.")


@dataclasses.dataclass
class Outcome:
    step: Step
    status: int | str
    seconds: float
    said: str = ""
    journal: str = ""


def programs_folder():
    """What is tested: $CAMARB_PROGRAMS, else the newer of the release and the debug build."""
    said = os.environ.get("CAMARB_PROGRAMS")
    folders = [pathlib.Path(said)] if said else [ROOT / ".build" / kind for kind in ("release", "debug")]
    built = [folder for folder in folders if (folder / "camarbd").exists()]
    if not built:
        raise Mistake(f"there is no camarbd in {' or '.join(map(str, folders))}: `make build` makes the programs.")
    return max(built, key=lambda folder: (folder / "camarbd").stat().st_mtime)


def libraries(folder):
    """The folders that the programs have libraries in, apart from the system's own."""
    said = kernel.ran("ldd", *(str(folder / name) for name in PROGRAMS if (folder / name).exists())).stdout
    paths = [path for path in re.findall(r" => (/\S+)", said) if not path.startswith(("/lib", "/usr"))]
    return sorted({os.path.dirname(each) for path in paths for each in (path, os.path.realpath(path))})


def masks(folder):
    """A tree for the guest's /etc in which all is masked that it has no use for: units, and everything that makes units."""
    lines = [line.split() for line in (ROOT / "Tests/vm/guest/masked-units").read_text().splitlines() if not line.startswith("#")]
    names = [(kind, name) for kind, *units in lines for name in units]
    for kind in ("system", "user"):
        generators = pathlib.Path(f"/lib/systemd/{kind}-generators")
        if generators.exists():
            names += [(f"{kind}-generators", path.name) for path in generators.iterdir()]
    for kind, name in names:
        (folder / "systemd" / kind).mkdir(parents=True, exist_ok=True)
        (folder / "systemd" / kind / name).symlink_to("/dev/null")


def requirements():
    if os.uname().machine != "x86_64":
        raise NotToBeHad(f"the guest runs this machine's programs, and is made for x86_64, not for {os.uname().machine}")
    if shutil.which("qemu-system-x86_64") is None:
        raise NotToBeHad("qemu-system-x86 is not installed")
    if os.geteuid() != 0:
        raise NotToBeHad("the guest shares this machine's files, all of them, which wants root: sudo make test-vm")


def die_with_parent():
    """Runs in a new process before its program: it ends when the test run ends, however that ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Guest:
    def __init__(self, kind, steps):
        self.kind, self.steps = kind, steps
        with kernel.alone():
            folder = kernel.unpacked()
            self.kernel, self.initramfs = kernel.image(folder), kernel.initramfs(folder)
            self.modules = kernel.modules(folder).parent
        self.run = pathlib.Path(tempfile.mkdtemp(prefix=f"run-{kind}.", dir=kernel.CACHE))
        # Seconds from the power to the first step, and how many times slower than usual that was.
        self.booted, self.slowness = None, 1.0
        self.process = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        # Copies, because the guest caches what it reads, and a build may go on meanwhile.
        programs = self.run / "programs"
        programs.mkdir()
        built = programs_folder()
        for name in PROGRAMS:
            if (built / name).exists():
                shutil.copy2(built / name, programs / name)
        environment = {"GUEST": self.kind, "CHECKOUT": ROOT, "PROGRAMS": programs, "VIVID": VIVID, "LIBRARIES": " ".join(libraries(built))}
        (self.run / "env").write_text("".join(f"{name}={shlex.quote(str(value))}\n" for name, value in environment.items()))
        masks(self.run / "masks")
        (self.run / "steps").write_text("".join(f"{step.name} {step.seconds} {step.path.relative_to(ROOT)}\n" for step in self.steps))
        self.process = subprocess.Popen(
            self.command(), stdin=subprocess.DEVNULL, stdout=open(self.run / "qemu.log", "w"), stderr=subprocess.STDOUT,
            preexec_fn=die_with_parent)

    def command(self):
        share = "security_model=none,multidevs=remap"
        # Emulation, never KVM: /dev/kvm may open and still not run a stock kernel, and QEMU does not fall back.
        return [
            "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "1536",
            "-M", "q35,sata=off,smbus=off,usb=off", "-nodefaults", "-no-user-config", "-display", "none",
            "-monitor", "none", "-net", "none", "-no-reboot", "-vga", "none",
            "-kernel", str(self.kernel), "-initrd", str(self.initramfs), "-append",
            "console=ttyS0 quiet panic=-1 mitigations=off audit=0 apparmor=0 nokaslr no_timer_check"
            f" random.trust_cpu=on ginit={ROOT}/Tests/vm/guest/{self.kind} gmodules={self.modules}",
            "-chardev", f"file,id=console,path={self.run}/console", "-serial", "chardev:console",
            "-fsdev", f"local,id=root,path=/,readonly=on,{share}", "-device", "virtio-9p-pci,fsdev=root,mount_tag=root",
            "-fsdev", f"local,id=run,path={self.run},{share}", "-device", "virtio-9p-pci,fsdev=run,mount_tag=run",
            "-device", "virtio-rng-pci",
        ]

    def __exit__(self, *_):
        # Its folder may be asked for no more: nothing in the guest is worth a clean end.
        if self.process:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.run, ignore_errors=True)

    def read(self, name):
        try:
            return (self.run / name).read_text(errors="replace")
        except OSError:
            return ""

    def outcomes(self, progress=lambda what, seconds: None):
        """Yields each step's outcome as it is known; after a guest that died or hung, those of all that are left."""
        limit, since = BOOT_MAX[self.kind], time.monotonic()
        waits = "booting"
        left = list(self.steps)
        while left:
            step = left[0]
            ended = self.process.poll() is not None
            if self.booted is None and self.read("booted").endswith("\n"):
                self.booted, self.slowness = map(float, self.read("booted").split())
            if waits == "booting" and (self.run / f"{step.name}.begun").exists():
                waits, since = step.name, time.monotonic()
                limit = step.seconds * self.slowness + STEP_MARGIN
            result = self.read(f"{step.name}.result").split()
            if len(result) == 3:
                status, begun, finished = int(result[0]), float(result[1]), float(result[2])
                yield Outcome(step, status, finished - begun, self.read(f"{step.name}.out"), self.read(f"{step.name}.journal"))
                left.pop(0)
                waits, limit, since = "booting", STEP_MARGIN, time.monotonic()
                continue
            seconds = time.monotonic() - since
            if ended or seconds > limit:
                what = "the guest ended" if ended else f"the guest hung for {seconds:.0f} s"
                when = "before its first step" if waits == "booting" and self.booted is None else f"in {step.name}"
                said = f"{what} {when}; what it had said:\n{tail(self.read(f'{step.name}.out'), 60)}\n"
                said += f"the console's tail:\n{tail(self.read('console'), 60)}\n{self.read('qemu.log')}"
                yield Outcome(step, "guest", seconds, said)
                for each in left[1:]:
                    yield Outcome(each, "never", 0, f"never ran: {what} {when}")
                return
            progress(waits, seconds)
            time.sleep(0.1)

    def finish(self):
        """The guest turns its power off by itself; nothing is lost by not waiting for it."""
        until = time.monotonic() + 5
        while self.process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)


def tail(text, lines):
    return "\n".join("    " + line.rstrip() for line in text.replace("\r", "").splitlines()[-lines:])
