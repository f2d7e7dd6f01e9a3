"""What is installed: that it is whole, that systemd understands it, and that its sandboxes are as tight as promised."""
import contextlib, os, pathlib, re, shutil, zipfile

from harness import PROGRAMS, ROOT, Daemon, Folder, Skipped, claim, ran
from parity import BUILD, built
from shells import installed

VERSION = (ROOT / "VERSION").read_text().strip()
# Ten times the score of `systemd-analyze security`: reliability (e) promises at most 1.5 for each service.
EXPOSURE_MAX = 15
UNITS = {name: (ROOT / "packaging" / "systemd" / f"{name}.service").read_text() for name in ("camarbd", "camrecorder@")}
PYTHON = "/usr/bin/python3"


def run(*command, **options):
    done = ran(*command, timeout=120, **options)
    return done.stdout + done.stderr


@contextlib.contextmanager
def installation():
    with Folder() as folder:
        installed(folder)
        yield folder


@claim("every service is as tight as promised, by systemd's own measure")
def exposure():
    scores = []
    for unit in sorted((ROOT / "packaging" / "systemd").glob("*.service")):
        said = run("systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSURE_MAX}", "--no-pager", unit)
        scores.append(f"{unit.name} {re.search(r': ([0-9.]+) ', said.splitlines()[-1]).group(1)}")
    assert len(scores) >= 2, scores
    return ", ".join(scores)


@claim("broker and recorder cores are two users: the broker may kill and nothing else, and trusts root alone; it has no device at all, "
       "and a recorder core has cameras and nothing else")
def two_users():
    allowed = {name: re.findall(r"^DeviceAllow=(.*)$", unit, re.MULTILINE) for name, unit in UNITS.items()}
    assert all("DevicePolicy=closed" in unit for unit in UNITS.values())
    assert allowed == {"camarbd": [], "camrecorder@": ["char-video4linux rw", "char-media rw"]}, allowed

    def value(name, key):
        (found,) = re.findall(rf"^{key}=(.*)$", UNITS[name], re.MULTILINE)
        return found

    assert value("camarbd", "User") == "camarb" and value("camrecorder@", "User") == "camarb-recorder"
    assert value("camrecorder@", "Group") == "camarb", "the camera nodes belong to that group"
    for key in ("CapabilityBoundingSet", "AmbientCapabilities"):
        assert (value("camarbd", key), value("camrecorder@", key)) == ("CAP_KILL", ""), key
    assert " --service " in value("camarbd", "ExecStart")
    with Folder() as folder:
        (folder / "etc").mkdir()
        # Both are made, the second in the first one's group and in no group of its own.
        run("systemd-sysusers", f"--root={folder}", ROOT / "packaging" / "sysusers.d" / "camarb.conf")
        users = {line.split(":")[0]: line.split(":")[2:4] for line in (folder / "etc/passwd").read_text().splitlines()}
        assert set(users) == {"camarb", "camarb-recorder"}, users
        assert users["camarb"][0] != users["camarb-recorder"][0] and users["camarb"][1] == users["camarb-recorder"][1], users
        members = (folder / "etc/group").read_text().split()
        assert [line.split(":")[0] for line in members] == ["camarb"], members


@claim("systemd finds nothing wrong in the installed units, and all that they start is there")
def understood():
    with installation() as folder:
        units = sorted((folder / "usr/lib/systemd/system").iterdir())
        assert {unit.name for unit in units} == {
            "camarbd.service", "camarbd.socket", "camrecorder.socket", "camrecorder@.service"}, units
        for unit in units:
            for line in re.findall(r"^Exec\w+=[-+!@:]*(\S+)", unit.read_text(), re.MULTILINE):
                assert line == "/bin/kill" or os.access(f"{folder}{line}", os.X_OK), f"{unit.name} starts {line}, which is not there"
        run("systemd-analyze", "verify", "--recursive-errors=no", "--man=no", f"--root={folder}", "camarbd.socket", "camrecorder.socket")


@claim("what is installed of libcamarb is of camarb's version, and no other name of it is seen by programs than its own")
def libraries():
    with installation() as folder:
        said = run("env", f"PKG_CONFIG_PATH={folder}/usr/lib/pkgconfig", "pkg-config", "camarb", "--modversion").strip()
        assert said == VERSION, f"libcamarb is {said}, and the file VERSION says {VERSION}"
        # The plugin is left out where GStreamer's headers are not, which clients/Makefile says.
        for plugin in folder.rglob("libgstcamarb.so"):
            said = run("env", f"LD_LIBRARY_PATH={folder}/usr/lib", "gst-inspect-1.0", plugin)
            assert re.search(rf"^ +Version +{re.escape(VERSION)}$", said, re.MULTILINE), said
        defined = run("readelf", "--dyn-syms", "--wide", f"{folder}/usr/lib/libcamarb.so.1")
        names = re.findall(r" DEFAULT +\d+ (\S+)", defined)
        assert len(names) > 40 and all(re.match(r"camarb_\w+@@CAMARB_1$|CAMARB_1$", name) for name in names), names


IN_ITS_OWN_PLACES = r"""
set -e
mount --make-rprivate /
mount -t tmpfs none "$1"
mkdir "$1/upper" "$1/work" "$1/tried"
# What the loader knows is written down in /etc: elsewhere nothing is changed.
mount -t overlay none -o "lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" /etc
mount -t tmpfs none /usr/local
cd "$1/tried"
printf '#include <camarb.h>\n#include <stdio.h>\nint main(void) { return puts(camarb_version()) < 0; }\n' >version.c
for prefix in /usr/local "$1/elsewhere"; do
    make --silent -C "$2/clients" install PREFIX=$prefix >said
    cat said
    (
        eval "$(grep '^    export ' said)"
        export GST_REGISTRY=$PWD/registry
        cc -o version version.c $(pkg-config --cflags --libs camarb)
        ./version
        /usr/bin/python3 -B -c 'import camarb; print(camarb.version(), camarb.__file__)'
        [ ! -e $prefix/lib/gstreamer-1.0 ] || gst-inspect-1.0 camarbsrc | grep -F "$prefix"
    )
    make --silent -C "$2/clients" uninstall PREFIX=$prefix
    ldconfig
done
"""


@claim("what `make -C clients install` says at its end is all that programs in C, Python and GStreamer need to find it")
def found():
    with Folder() as folder:
        said = run("unshare", "--mount", "bash", "-c", IN_ITS_OWN_PLACES, "bash", folder, ROOT)
        assert said.count(f"\n{VERSION}\n") == 2, said
        assert all(f"{VERSION} {prefix}/lib/" in said for prefix in ("/usr/local", f"{folder}/elsewhere")), said
        first = said.split(f"\n{VERSION}\n")[0]
        assert "LD_LIBRARY_PATH" not in first and "PYTHONPATH" not in first, said
        assert f"export LD_LIBRARY_PATH={folder}/elsewhere/lib" in said, said


@claim("a wheel of the Python module is of camarb's version, runs in a virtual environment that has nothing else, and its types are "
       "checked")
def wheel():
    if ran(PYTHON, "-m", "pip", "--version", status=None).returncode:
        raise Skipped("pip is not here (make/packages test installs it)")
    pip = (PYTHON, "-m", "pip", "--disable-pip-version-check")
    with Folder() as folder, Daemon() as daemon:
        # Pip builds beside the sources: not in the checkout. The link to the one version leads out of the folder of the module.
        copied, program = folder / "camarb", ROOT / "Tests" / "interop" / "programs" / "typed.py"
        shutil.copytree(ROOT / "clients" / "python", copied / "clients" / "python", symlinks=True)
        shutil.copy(ROOT / "VERSION", copied)
        run(*pip, "wheel", "--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--wheel-dir", folder,
            copied / "clients" / "python")
        wheel = folder / f"camarb-{VERSION}-py3-none-any.whl"
        assert {"camarb/__init__.py", "camarb/py.typed", "camarb/VERSION"} <= set(zipfile.ZipFile(wheel).namelist()), wheel
        # The environment needs no pip of its own, which Debian has in another package.
        run(PYTHON, "-m", "venv", "--without-pip", folder / "venv")
        python = folder / "venv" / "bin" / "python"
        run(*pip, "--python", python, "install", "--quiet", "--no-index", "--no-deps", wheel)
        built()
        said = run(python, program, 5, cwd=folder, env={"CAMARB_SOCKET": str(daemon.path), "LD_LIBRARY_PATH": str(BUILD)}).split("\n")
        assert said[0].startswith(f"{VERSION} {VERSION} {folder}/venv/lib/") and said[1] == "5 1280 720", said
        shown = run(python, "-c", "import importlib.metadata; print(importlib.metadata.version('camarb'))").strip()
        assert shown == VERSION, shown
        if not shutil.which("mypy"):
            raise Skipped("its types were not checked, since mypy is not here (make/packages test installs it)")
        wrong = folder / "wrong.py"
        wrong.write_text(program.read_text().replace("side: Tuple[int, int] = (0, 0)", 'side: Tuple[str, str] = ("", "")'))
        check = ("mypy", "--strict", "--cache-dir", folder / "types", "--python-executable", python)
        run(*check, program)
        assert "[assignment]" in run(*check, wrong, status=1), "a mistake of types is not found"


@claim("an installation below another prefix names its own files, and leaves an administrator's policy alone; the V4L2 door is where its "
       "command and its generator look for it, below any prefix")
def door():
    for prefix, beside in (("/usr", False), ("/opt/camarb", True)):
        with Folder() as folder:
            mine = folder / "etc/camarb/policy.toml"
            mine.parent.mkdir(parents=True)
            mine.write_text("mine")
            installed(folder, prefix)
            assert mine.read_text() == "mine"
            unit = (folder / f"{prefix[1:]}/lib/systemd/system/camarbd.service").read_text()
            assert f"ExecStart={prefix}/sbin/camarbd " in unit and ("/usr/" in unit) == (prefix == "/usr"), unit
            library, here = f"{prefix}/lib/camarb/libcamarb-v4l2.so", pathlib.Path(f"{folder}{prefix}")
            found = os.stat(f"{folder}{library}")
            assert found.st_uid == os.getuid() and not found.st_mode & 0o022, oct(found.st_mode)
            needed = re.findall(r"NEEDED.*\[([^\]]*)\]", run("readelf", "--dynamic", f"{folder}{library}"))
            assert all(re.match(r"lib(c|m|dl)\.so|ld-linux", name) for name in needed), f"it brings into every program: {needed}"
            # Elsewhere than below /usr the program loader does not look for the library, and the door finds it beside itself.
            assert (here / "lib/camarb/libcamarb.so.1").exists() == beside
            command, generator = here / "bin/camarb-v4l2", here / "lib/systemd/user-environment-generators/60-camarb-v4l2"
            assert ("'/usr/$LIB/camarb/libcamarb-v4l2.so'" if prefix == "/usr" else library) in command.read_text()
            assert f"\nlibrary='{library}'\n" in generator.read_text() and "@" not in generator.read_text()
            assert all(os.access(file, os.X_OK) for file in (command, generator))


@claim("there is one version: programs, packages, changes and the file VERSION say the same")
def one_version():
    for program in ("camarbd", "camrecorder", "camagent", "camclient", "camplay", "camkeeper", "camwriter"):
        assert run(PROGRAMS / program, "--version") == f"{program} {VERSION}\n", program
    numbers = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert numbers[:1] == [VERSION], f"CHANGELOG.md: {numbers}"
    debian = (ROOT / "packaging" / "debian" / "changelog").read_text().splitlines()[0]
    assert debian.startswith(f"camarb ({VERSION}) "), debian
    # And nobody says another one of himself: in code, a version in quotation marks is that of a format or of somebody else.
    spoken = run("grep", "-rnE", "--include=*.swift", "--include=Makefile", r"(version|VERSION)[ a-z:]* :?= *\"?[0-9]+\.[0-9]+\.[0-9]+",
                 ROOT / "Sources", ROOT / "clients").splitlines()
    assert len(spoken) == 1 and "/Vocabulary/Release.swift:" in spoken[0], spoken
    return VERSION


class Checkout(Folder):
    """A checkout of its own with nothing but what a package's version is made of."""

    def __enter__(self):
        self.folder = super().__enter__()
        self.root = self.folder / "checkout"
        (self.root / "packaging").mkdir(parents=True)
        shutil.copy(ROOT / "packaging" / "version", self.root / "packaging")
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1"}
        for who in ("AUTHOR", "COMMITTER"):
            self.environment |= {f"GIT_{who}_NAME": "a test", f"GIT_{who}_EMAIL": "test@camarb.example"}
        self.write("0.1.0", "Added")
        self.git("init", "--quiet")
        return self

    def write(self, released, unreleased=""):
        (self.root / "VERSION").write_text(released + "\n")
        added = f"- {unreleased}\n\n" if unreleased else ""
        (self.root / "CHANGELOG.md").write_text(f"# Changes\n\n## [Unreleased]\n\n{added}## [{released}] - 2026-11-23\n\n- First.\n")

    def git(self, *words):
        ran("git", *words, cwd=self.root, env=self.environment)

    def version(self, id="debian", number="12", root=None):
        """The version on such a system, and what is said of it; `root`: of another checkout."""
        system = self.folder / "os-release"
        system.write_text(f'ID={id}\n' + (f'VERSION_ID="{number}"\n' if number else ""))
        done = ran((root or self.root) / "packaging" / "version", system, env=self.environment)
        return done.stdout.strip(), done.stderr

    def built(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a change")
        return self.version()[0]


def ascending(*versions):
    for lower, higher in zip(versions, versions[1:]):
        ran("dpkg", "--compare-versions", lower, "lt", higher)


@claim("a package's version grows with each commit, and a release's tag is newer than all builds on the way to it; an upgrade of Debian "
       "is one of camarb's packages, of the same commit and of the same release")
def versions():
    with Checkout() as checkout:
        def ascends_with_debian():
            ascending(*(checkout.version("debian", number)[0] for number in ("12", "13", "")))

        # Over a limit of digits, where a comparison of texts would go wrong.
        built = ["0.1.0", *(checkout.built() for _ in range(11))]
        assert re.fullmatch(r"0\.2\.0~git11\.[0-9a-f]{8}\+deb12u1", built[-1]), built
        ascends_with_debian()
        # The release's commit is not tagged at once.
        checkout.write("0.2.0")
        built.append(checkout.built())
        assert built[-1].startswith("0.2.0~git12."), built
        checkout.git("tag", "v0.2.0")
        built.append(checkout.version()[0])
        assert built[-1] == "0.2.0+deb12u1", built
        ascends_with_debian()
        assert checkout.version("ubuntu", "24.04")[0] == "0.2.0+ubuntu24.04"
        # Nobody has noticed anything of what came next.
        built.append(checkout.built())
        checkout.write("0.2.0", "Something new")
        built.append(checkout.built())
        assert built[-1].startswith("0.3.0~git14."), built
        ascending(*built)
        return " < ".join(built[-5:])


@claim("changes that are not committed are part of a package's version, which is then newer than the commit's")
def uncommitted():
    with Checkout() as checkout:
        clean = checkout.built()
        assert not checkout.version()[1], checkout.version()
        (checkout.root / "new.swift").write_text("")
        changed, said = checkout.version()
        assert changed == clean.replace("+deb12u1", ".changed+deb12u1") and "not all changes are committed" in said, (changed, said)
        ascending(clean, changed, checkout.built())


@claim("without commits to count a package is older than any build of one, and the reason is said")
def without_commits():
    with Checkout() as checkout:
        counted = [checkout.built() for _ in range(2)][-1]
        copy = checkout.folder / "copy"
        checkout.git("clone", "--quiet", "--depth=1", f"file://{checkout.root}", copy)
        shallow, said = checkout.version(root=copy)
        assert "shallow" in said, said
        shutil.rmtree(checkout.root / ".git")
        tarball, said = checkout.version()
        assert "is not a checkout of git's" in said, said
        assert shallow == tarball == "0.2.0~git0+deb12u1", (shallow, tarball)
        ascending(tarball, counted)
        # A release's tarball needs no commits.
        checkout.write("0.2.0")
        assert checkout.version()[0] == "0.2.0+deb12u1"


@claim("the installed programs carry no Foundation, no ICU, and the daemons no regular expressions")
def no_foundation():
    for program in ("camarbd", "camrecorder", "camagent", "camclient"):
        names = run("nm", PROGRAMS / program)
        assert "swift_retain" in names, f"{program} is stripped, so that nothing can be said of it"
        # FoundationEssentials, which swift-argument-parser wants, is another module: its names begin with $s20.
        unwanted = {"Foundation": r" \$s10Foundation", "ICU": r" icudt\d+_dat"}
        if program not in ("camclient", "camplay"):
            unwanted |= {"FoundationEssentials": r" \$s20FoundationEssentials", "regular expressions": r" \$s12_RegexParser"}
        found = [name for name, pattern in unwanted.items() if re.search(pattern, names)]
        # A search for a text is in the module of regular expressions: `contains`, `firstRange`, `ranges`, `replacing`,
        # `split(separator: "…")`.
        assert not found, f"{program} has {', '.join(found)} in itself; is a text searched for otherwise than by `holds` or by characters?"
