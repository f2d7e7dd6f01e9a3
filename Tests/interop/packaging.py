"""What is installed: that it is whole, that systemd understands it, and that its sandboxes are as tight as promised."""
import os, pathlib, re, subprocess, tempfile

from harness import PROGRAMS, ROOT, claim

# Ten times the score of `systemd-analyze security`: reliability (e) promises at most 1.5 for each service.
EXPOSURE_MAX = 15


def run(*command, status=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
    assert done.returncode == status, f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def installed(folder, prefix="/usr"):
    run(ROOT / "packaging" / "install", "--destdir", folder, "--prefix", prefix, "--programs", PROGRAMS)


@claim("every service is as tight as promised, by systemd's own measure")
def exposure():
    scores = []
    for unit in sorted((ROOT / "packaging" / "systemd").glob("*.service")):
        said = run("systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSURE_MAX}", "--no-pager", unit)
        scores.append(f"{unit.name} {re.search(r': ([0-9.]+) ', said.splitlines()[-1]).group(1)}")
    assert len(scores) >= 2, scores
    return ", ".join(scores)


@claim("the broker's unit has no device at all, and a recorder core's has cameras and nothing else")
def devices():
    text = {name: (ROOT / "packaging" / "systemd" / f"{name}.service").read_text() for name in ("camarbd", "camrecorder@")}
    allowed = {name: re.findall(r"^DeviceAllow=(.*)$", unit, re.MULTILINE) for name, unit in text.items()}
    assert all("DevicePolicy=closed" in unit for unit in text.values())
    assert allowed == {"camarbd": [], "camrecorder@": ["char-video4linux rw", "char-media rw"]}, allowed


@claim("broker and recorder cores are two users: the broker may kill and nothing else, and trusts root alone")
def two_users():
    text = {name: (ROOT / "packaging" / "systemd" / f"{name}.service").read_text() for name in ("camarbd", "camrecorder@")}

    def value(name, key):
        (found,) = re.findall(rf"^{key}=(.*)$", text[name], re.MULTILINE)
        return found

    assert value("camarbd", "User") == "camarb" and value("camrecorder@", "User") == "camarb-recorder"
    assert value("camrecorder@", "Group") == "camarb", "the camera nodes belong to that group"
    for key in ("CapabilityBoundingSet", "AmbientCapabilities"):
        assert (value("camarbd", key), value("camrecorder@", key)) == ("CAP_KILL", ""), key
    assert " --service " in value("camarbd", "ExecStart")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "etc").mkdir()
        # Both are made, the second in the first one's group and in no group of its own.
        run("systemd-sysusers", f"--root={folder}", ROOT / "packaging" / "sysusers.d" / "camarb.conf")
        users = {line.split(":")[0]: line.split(":")[2:4] for line in pathlib.Path(folder, "etc/passwd").read_text().splitlines()}
        assert set(users) == {"camarb", "camarb-recorder"}, users
        assert users["camarb"][0] != users["camarb-recorder"][0] and users["camarb"][1] == users["camarb-recorder"][1], users
        members = pathlib.Path(folder, "etc/group").read_text().split()
        assert [line.split(":")[0] for line in members] == ["camarb"], members


@claim("systemd finds nothing wrong in the installed units, nor udev's and the others' files missing")
def understood():
    with tempfile.TemporaryDirectory() as folder:
        installed(folder)
        units = sorted(pathlib.Path(folder, "usr/lib/systemd/system").iterdir())
        assert {unit.name for unit in units} == {
            "camarbd.service", "camarbd.socket", "camrecorder.socket", "camrecorder@.service"}, units
        for unit in units:
            for line in re.findall(r"^Exec\w+=[-+!@:]*(\S+)", unit.read_text(), re.MULTILINE):
                assert line == "/bin/kill" or os.access(folder + line, os.X_OK), f"{unit.name} starts {line}, which is not there"
        run("systemd-analyze", "verify", "--recursive-errors=no", "--man=no", f"--root={folder}",
            "camarbd.socket", "camrecorder.socket")
        for file in ("usr/lib/udev/rules.d/72-camarb.rules", "usr/lib/udev/rules.d/74-camarb.rules",
                     "usr/lib/sysusers.d/camarb.conf", "etc/camarb/policy.toml", "usr/lib/tmpfiles.d/camarb.conf", "usr/share/camarb/policies/kiosk.toml",
                     "usr/libexec/camarb/camkeeper", "usr/share/man/man8/camarbd.8", "usr/share/bash-completion/completions/camclient"):
            assert pathlib.Path(folder, file).stat().st_size > 0, file


@claim("an installation below another prefix names its own files, and leaves an administrator's policy alone")
def prefix():
    with tempfile.TemporaryDirectory() as folder:
        mine = pathlib.Path(folder, "etc/camarb/policy.toml")
        mine.parent.mkdir(parents=True)
        mine.write_text("mine")
        installed(folder, "/opt/camarb")
        assert mine.read_text() == "mine"
        unit = pathlib.Path(folder, "opt/camarb/lib/systemd/system/camarbd.service").read_text()
        assert "ExecStart=/opt/camarb/sbin/camarbd " in unit and "/usr/" not in unit, unit


@claim("the installed policy is one that camclient finds nothing wrong with, its include too")
def policy():
    with tempfile.TemporaryDirectory() as folder:
        installed(folder)
        file = pathlib.Path(folder, "etc/camarb/policy.toml")
        file.write_text(file.read_text().replace('"/usr/', f'"{folder}/usr/'))
        run(PROGRAMS / "camclient", "policy", "check", file)
        shown = run(PROGRAMS / "camclient", "policy", "show", "--merged", file)
        assert "focused" in shown, shown


@claim("the installed programs carry the Swift runtime in themselves")
def self_contained():
    for program in ("camarbd", "camkeeper", "camrecorder", "camagent", "camclient"):
        needed = run("readelf", "--dynamic", PROGRAMS / program)
        swift = re.findall(r"NEEDED.*\[(lib(?:swift|Foundation|_?dispatch)[^\]]*)\]", needed)
        assert not swift, f"{program} needs {swift}"
