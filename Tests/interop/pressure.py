"""How hard the machine is pressed: what its own files say, what a shell says, and which of the two counts."""
import os, re

from harness import BROKER, Daemon, Folder, claim, wait_until

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
        self.folder = folder
        self.zone = self.folder / "sys/class/thermal/thermal_zone0"
        for part in (self.zone, self.folder / "proc/pressure"):
            part.mkdir(parents=True)
        self.write(self.zone / "type", "x86_pkg_temp")
        self.write(self.zone / "trip_point_0_type", "passive")
        self.write(self.zone / "trip_point_0_temp", "90000")
        self.write(self.folder / "proc/pressure/memory", "".join(
            f"{what} avg10=0.00 avg60=0.00 avg300=0.00 total=0\n" for what in ("some", "full")))
        self.heat(50)

    def write(self, path, text):
        """In one step: a reader finds the old text or the new one."""
        (path.parent / "new").write_text(text + "\n")
        os.rename(path.parent / "new", path)

    def heat(self, degrees):
        self.write(self.zone / "temp", str(degrees * 1000))


def gauge(app):
    return re.search(r"^camarb_pressure (\d)$", app.call(BROKER, "GetMetrics")[0], re.MULTILINE)[1]


@claim("a machine that grows too hot interrupts with system pressure by itself, says by which reading, and gives the camera back "
       "when it has cooled")
def heat():
    with Folder() as folder, Daemon(POLICY, extra=["--machine", (machine := Machine(folder)).folder]) as daemon:
        app = daemon.app("photos")
        session = app.session()
        assert app.status()["pressureMeasured"] == "", "nobody asks for a camera, and it is looked at"
        session.runs()
        wait_until("the first reading", lambda: app.status()["pressureMeasured"] == "nominal")
        machine.heat(91)
        assert app.is_interrupted(PRESSURE)[4] == PRESSURE
        told = app.status()
        assert (told["pressure"], told["pressureMeasured"], told["pressureSaid"]) == ("serious", "serious", "nominal"), told
        assert told["pressureWhy"] == "x86_pkg_temp: 91.0 °C", told
        assert gauge(app) == "2"
        # A level is left 3 °C below its bound, and fair begins 5 °C below that of serious: at 80 it is none.
        machine.heat(80)
        app.resumes()
        assert app.status()["pressure"] == "nominal" and gauge(app) == "0"
        log = daemon.log.read_text()
        assert "the machine's pressure is serious: x86_pkg_temp: 91.0 °C" in log and "pressure is nominal" in log, log
        session.stops()
        wait_until("nobody to look any more", lambda: app.status()["pressureMeasured"] == "")


@claim("a machine that says nothing of its pressure is told as such, and interrupts nobody")
def silent():
    with Folder() as folder, Daemon(POLICY, extra=["--machine", folder]) as daemon:
        app, _ = daemon.running("photos")
        trouble = wait_until("the trouble", lambda: app.status()["pressureTrouble"])
        assert "neither /proc/pressure nor a thermal zone" in trouble, trouble
        assert app.status()["pressure"] == "nominal"
