"""How hard the machine is pressed: what its own files say, what a shell says, and which of the two counts."""
import contextlib, os, pathlib, re, tempfile

from harness import BROKER, SHELL, Daemon, claim, wait_until

PRESSURE = "video-device-not-available-due-to-system-pressure"
# Figures count when two readings agree on them, one every two seconds: far below the claims' patience of twenty.
POLICY = f'''
name = "hot"
pressure-settle = "100ms"

[[cause]]
name  = "Too hot"
when  = {{ pressure = "serious" }}
cause = "{PRESSURE}"
'''


class Machine:
    """A folder that stands for `/` where the machine's pressure is read."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.zone = self.folder / "sys/class/thermal/thermal_zone0"
        for part in (self.zone, self.folder / "proc/pressure"):
            part.mkdir(parents=True)
        self.write(self.zone / "type", "x86_pkg_temp")
        self.write(self.zone / "trip_point_0_type", "passive")
        self.write(self.zone / "trip_point_0_temp", "90000")
        self.memory(0)
        self.heat(50)

    def write(self, path, text):
        """In one step: a reader finds the old text or the new one."""
        (path.parent / "new").write_text(text + "\n")
        os.rename(path.parent / "new", path)

    def heat(self, degrees):
        self.write(self.zone / "temp", str(degrees * 1000))

    def memory(self, percent):
        self.write(self.folder / "proc/pressure/memory",
                   f"some avg10={percent}.50 avg60=0.00 avg300=0.00 total=0\nfull avg10={percent}.00 avg60=0.00 avg300=0.00 total=0")


@contextlib.contextmanager
def pressed():
    with tempfile.TemporaryDirectory(prefix="camarb-machine.") as folder:
        policy = pathlib.Path(folder) / "hot.toml"
        policy.write_text(POLICY)
        machine = Machine(pathlib.Path(folder) / "machine")
        with Daemon(policy, extra=["--machine", str(machine.folder)]) as daemon:
            yield daemon, machine, policy


def status(app):
    return {key: value for key, (_, value) in app.call(BROKER, "GetStatus")[0].items()}


def gauge(app):
    return re.search(r"^camarb_pressure (\d)$", app.call(BROKER, "GetMetrics")[0], re.MULTILINE)[1]


@claim("a machine that grows too hot interrupts with system pressure by itself, says by which reading, and gives the camera back when it has cooled")
def heat():
    with pressed() as (daemon, machine, _):
        app = daemon.app("photos")
        session = app.session()
        assert status(app)["pressureMeasured"] == "", "nobody asks for a camera, and it is looked at"
        session.start()
        app.wait("DidStartRunning")
        wait_until("the first reading", lambda: status(app)["pressureMeasured"] == "nominal")
        machine.heat(91)
        _, _, _, causes, reason, *_ = app.wait("WasInterrupted")
        assert causes == [PRESSURE] and reason == PRESSURE, (causes, reason)
        told = status(app)
        assert (told["pressure"], told["pressureMeasured"], told["pressureSaid"]) == ("serious", "serious", "nominal"), told
        assert told["pressureWhy"] == "x86_pkg_temp: 91.0 °C", told
        assert gauge(app) == "2"
        # A level is left 3 °C below its bound, and fair begins 5 °C below that of serious: at 80 it is none.
        machine.heat(80)
        app.wait("InterruptionEnded")
        app.wait("DidStartRunning")
        assert status(app)["pressure"] == "nominal" and gauge(app) == "0"
        log = daemon.log.read_text()
        assert "the machine's pressure is serious: x86_pkg_temp: 91.0 °C" in log and "pressure is nominal" in log, log
        session.call("StopRunning")
        app.wait("DidStopRunning")
        wait_until("nobody to look any more", lambda: status(app)["pressureMeasured"] == "")


@claim("of what a shell says of the pressure and what the machine's figures say the harder counts, and a shell's word stays until it is withdrawn")
def harder():
    with pressed() as (daemon, machine, _):
        app, shell = daemon.app("photos"), daemon.app()
        session = app.session()
        session.start()
        app.wait("DidStartRunning")
        shell.call(SHELL, "SetPressure", "s", "critical")
        app.wait("WasInterrupted")
        told = status(app)
        assert (told["pressure"], told["pressureSaid"]) == ("critical", "critical"), told
        machine.memory(15)
        wait_until("the machine's own word", lambda: status(app)["pressureMeasured"] == "serious")
        assert status(app)["pressure"] == "critical"
        # Withdrawn: the machine's word is what is left, and is not a shell's to deny.
        shell.call(SHELL, "SetPressure", "s", "nominal")
        wait_until("the machine's word to be what counts", lambda: status(app)["pressure"] == "serious")
        assert "memory: everything stood still for 15.0 %" in status(app)["pressureWhy"], status(app)
        assert session.property("Interrupted")
        shell.close()
        machine.memory(0)
        app.wait("InterruptionEnded")
        app.wait("DidStartRunning")


@claim("a policy tunes what counts as pressure, or does without, and a reload takes both over")
def tuned():
    with pressed() as (daemon, machine, policy):
        app = daemon.app("photos")
        session = app.session()
        session.start()
        app.wait("DidStartRunning")
        machine.heat(70)
        policy.write_text(POLICY + "[pressure]\ntemperature = { serious = 65 }\n")
        daemon.process.send_signal(1)
        app.wait("WasInterrupted")
        assert "x86_pkg_temp: 70.0" in status(app)["pressureWhy"], status(app)
        policy.write_text(POLICY + "[pressure]\nwatch = false\n")
        daemon.process.send_signal(1)
        app.wait("InterruptionEnded")
        app.wait("DidStartRunning")
        assert status(app)["pressureMeasured"] == "", status(app)


@claim("a machine that says nothing of its pressure is told as such, and interrupts nobody")
def silent():
    with pressed() as (daemon, machine, _):
        for path in sorted(machine.folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        app = daemon.app("photos")
        app.session().start()
        app.wait("DidStartRunning")
        trouble = wait_until("the trouble", lambda: status(app)["pressureTrouble"])
        assert "neither /proc/pressure nor a thermal zone" in trouble, trouble
        assert status(app)["pressure"] == "nominal"
