"""For steps with the Debian package: it is installed for as long as a `with` lasts, and purged."""
import grp, json, os, pathlib, pwd, subprocess, sys, tempfile, time

from machine import FOLDER, PATIENCE, ROOT, run, wait_until

sys.path.insert(0, str(ROOT / "Tests" / "interop"))
from debs import version_of, with_version
from page import Shell, tried


# What a machine without programs of its own needs, and all that there is.
BROKER = ("libcamarb1", "camarb")
EVERYTHING = (*BROKER, "libcamarb-dev", "python3-camarb", "gstreamer1.0-camarb")
# How many seconds a recorder core and a client wait for the next broker.
ALONE = 3.0


def package(name="camarb"):
    found = sorted((ROOT / ".build-deb").glob(f"{name}_*.deb"))
    assert found, f"there is no package {name} in .build-deb: make deb makes it"
    return found[-1]


def dpkg(*words):
    # Unpacking fifty megabytes is the longest thing that these steps do.
    done = subprocess.run(["dpkg", *map(str, words)], stdin=subprocess.DEVNULL, timeout=6 * PATIENCE)
    assert done.returncode == 0, f"dpkg {words[0]}: status {done.returncode}"


def prepare():
    """The guest is this machine, which may be a container: there services are not started, and here they are."""
    pathlib.Path("/usr/sbin/policy-rc.d").unlink(missing_ok=True)
    # Under emulation the index of all manual pages takes a quarter of an hour.
    pathlib.Path("/var/lib/man-db/auto-update").unlink(missing_ok=True)


def forget_files():
    """dpkg reads at each turn which files each package of the machine has. Over the guest's file system that is half of all that an
    installation takes, and one step shows that camarb's are nobody else's."""
    for names in pathlib.Path("/var/lib/dpkg/info").glob("*.list"):
        if names.stat().st_size:
            names.write_text("")


class Installed:
    def __init__(self, flags=None, packages=BROKER, among_all=False, version=None):
        """`among_all`: beside what all packages of the machine have, as an administrator installs it. `version`: the packages say this one
        of themselves, and `upgrade` installs those that there are."""
        self.flags, self.packages, self.among_all, self.version = flags, packages, among_all, version

    def __enter__(self):
        prepare()
        if not self.among_all:
            forget_files()
        if self.flags:
            pathlib.Path("/etc/default/camarb").write_text(f'CAMARB_FLAGS="{self.flags}"\n')
        files = [package(name) for name in self.packages]
        with tempfile.TemporaryDirectory() as folder:
            self.install([with_version(file, self.version, folder) for file in files] if self.version else files)
        self.files = [path for path in run("dpkg", "--listfiles", *self.packages).splitlines() if "camarb" in path]
        assert len(self.files) > 20, self.files
        return self

    def install(self, files):
        # A file in /etc that is there already is kept, as an administrator's.
        dpkg("--install", "--force-confold", *files)

    def upgrade(self):
        self.install([package(name) for name in self.packages])

    def __exit__(self, kind, *_):
        if kind is not None:
            subprocess.run(["systemctl", "--no-pager", "status", "camarbd.service", "camarbd.socket", "camrecorder.socket"])
        dpkg("--purge", *self.packages)

    def left(self):
        found = [path for path in self.files if os.path.lexists(path)]
        found += run("find", "/etc", "/run", "/var/lib/systemd", "/var/lib/dpkg/info", "-xdev", "-maxdepth", "4",
                     "(", "-name", "*camarb*", "-o", "-name", "*camrecorder*", "-o", "-name", "camagent*", ")").splitlines()
        found += [path for path in ("/var/lib/camarb", "/run/camarb-broker") if os.path.lexists(path)]
        found += [f"user {entry.pw_name}" for entry in pwd.getpwall() if entry.pw_name in ("camarb", "camarb-recorder")]
        found += [f"group {entry.gr_name}" for entry in grp.getgrall() if entry.gr_name == "camarb"]
        found += [line.strip() for line in run("systemctl", "list-units", "--all", "--no-legend", "--plain").splitlines()
                  if "camarb" in line or "camrecorder" in line]
        return found


class Page(Installed):
    """A page of docs whose commands are tried in the guest, beside the package's file; it installs the package itself.
    At the end the package is purged.

    Root's commands have the prompt `$`; where a user sits at the machine his have, and root's have `#`.
    """

    def __init__(self, name, user=None, **variables):
        super().__init__()
        self.user, self.variables = user, variables
        self.page = ROOT / "docs" / name
        self.folder = tempfile.TemporaryDirectory(prefix="page.")

    def __enter__(self):
        prepare()
        forget_files()
        for name in self.packages:
            os.symlink(package(name), pathlib.Path(self.folder.name) / package(name).name)
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        # Unpacking the package is the longest of the commands.
        root = Shell(self.folder.name, path, 6 * PATIENCE)
        self.shells = {"$": root}
        if self.user:
            os.chmod(self.folder.name, 0o777)
            become = (FOLDER / "in-session", self.user)
            self.shells = {"#": root, "$": Shell(self.folder.name, path, PATIENCE, become, **self.variables)}
        return self

    def __exit__(self, *how):
        for shell in self.shells.values():
            shell.end()
        super().__exit__(*how)
        self.folder.cleanup()

    def tried(self):
        begun = time.monotonic()

        def told(number, command):
            print(f"{time.monotonic() - begun:6.1f} s  line {number}: {command[:100]}", flush=True)

        looks = ("camclient status", "ls ", "systemctl is-active", "xprop ")
        print(tried(self.page, self.shells, looks, PATIENCE, told), "commands")


def status_with(cameras):
    """The broker's status, as soon as it knows so many cameras. Its first answer waits for them, but not always for as long
    as an emulated machine takes to read in a recorder core."""
    def status():
        found = json.loads(run("/usr/bin/camclient", "status", "--json"))
        return found if len(found["cameras"]) == cameras else None
    return wait_until(f"{cameras} cameras", status)


def unit(name, key):
    return run("systemctl", "show", name, f"--property={key}", "--value").strip()


def main_process():
    found = int(unit("camarbd.service", "MainPID"))
    return found if found > 0 and unit("camarbd.service", "ActiveState") == "active" else None


def told_until(app, command):
    """The events that an app was told before a command of its was carried out: after a restart, by the next broker."""
    app.type(command)
    told = []
    while True:
        report = app.reports.get(timeout=PATIENCE)
        assert report, f"{app.name} ended"
        if report.get("command") == command:
            return told
        if "event" in report and report["event"] != "ConfigurationApplied":
            told.append(report)


def comes_back(app, told):
    """A session that was interrupted since the next broker was late runs again, and its recording was cut; `told`: so far."""
    while told[-1]["event"] != "DidStartRunning":
        told += told_until(app, "status")
    # What it left is cut first, and so long the camera is in use.
    names = [report["event"] for report in told if report["event"] != "InterruptionChanged"]
    assert names == ["WasInterrupted", "DidStopRunning", "RecordingFinished", "InterruptionEnded", "DidStartRunning"], told
    assert told[0]["causes"] == ["broker-restarted"] and told[2]["why"] == "interrupted", told


def frames(film):
    """How many whole frames a film has by now; it may be being written."""
    said = subprocess.run(["ffprobe", "-v", "quiet", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of",
                           "csv=p=0", film], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE).stdout
    words = said.replace(",", " ").split()
    return int(words[0]) if words and words[0].isdigit() else 0


def recorders():
    lines = run("systemctl", "list-units", "--no-legend", "--plain", "--state=running", "camrecorder@*.service")
    return [line.split()[0] for line in lines.splitlines()]


def rights(node):
    listed = run("getfacl", "--absolute-names", "--omit-header", node).split()
    found = os.stat(node)
    try:
        group = grp.getgrgid(found.st_gid).gr_name
    except KeyError:
        group = found.st_gid  # udev has not yet got to it, and the group is gone.
    return f"{pwd.getpwuid(found.st_uid).pw_name}:{group} {found.st_mode & 0o777:o} {' '.join(listed)}"


def may_open(user, node):
    return subprocess.run(["runuser", "-u", user, "--", "head", "-c0", node], capture_output=True).returncode == 0
