"""The page for authors of apps, tried: its programs are taken from it, built against what is installed, and run."""
import contextlib, os, pathlib, shutil, signal, sys

from harness import PROGRAMS, ROOT, Daemon, Ended, Folder, Skipped, claim, ran, spawn, wait_until
from examples import listed, shown_files
from page import Shell, tried
from parity import built
from restart import Brokers

HERE = pathlib.Path(__file__).resolve().parent
PAGE = ROOT / "docs" / "app-authors.md"
# A compiler on a busy machine: the Swift app is built with all of `Camarb`, about half a minute on two idle cores.
COMMAND_PATIENCE = 900


def said(*command):
    return ran(*command).stdout.strip()


def published(directory):
    """Has git find, in this home, the package where the page's Package.swift looks for it: this checkout's files, tagged."""
    repository = directory / "camarb.git"
    listed = ran("git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").stdout
    for name in filter(None, listed.split("\0")):
        # One that was deleted, and is in the index yet.
        if (ROOT / name).is_file():
            target = repository / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
    home = directory / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\n\tname = a test\n\temail = test@localhost\n"
        f'[url "{repository.as_uri()}"]\n\tinsteadOf = https://git.example.org/camarb\n')
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    version = said(PROGRAMS / "camarbd", "--version").split()[-1]
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "All of it"], ["tag", version]):
        ran("git", "-C", repository, *command, env=environment, timeout=COMMAND_PATIENCE)
    return home


def chapters(folder, wanted):
    """The page with those chapters alone whose headings are wanted, each line at its place."""
    first, *others = PAGE.read_text().split("\n## ")
    kept = [first] + [text if wanted(text.split("\n")[0]) else "\n" * text.count("\n") for text in others]
    page = folder / PAGE.name
    page.write_text("\n## ".join(kept))
    return page


@contextlib.contextmanager
def reader(directory, home, bin="", **variables):
    """A shell of somebody who has installed what is in clients/, beside a camarbd."""
    missing = [program for program in ("gcc", "make", "pkg-config", "gst-launch-1.0", "file") if not shutil.which(program)]
    if missing or ran("pkg-config", "--exists", "libsystemd", "gstreamer-video-1.0", status=None).returncode:
        raise Skipped(f"{', '.join(missing) or 'the headers of libsystemd or GStreamer'} is not here (make/packages test installs it)")
    prefix = directory / "prefix"
    # As a packager does, so that nothing but what is installed can be found.
    built("install", "DESTDIR=/", f"PREFIX={prefix}")
    for page in ("man3/libcamarb.3", "man7/camarbsrc.7"):
        assert (prefix / "share/man" / page).exists(), page
    for folder, names, package in listed():
        for name in names:
            copies = [file for file in (prefix / "share/doc" / package / "examples").rglob(pathlib.Path(name).name)]
            assert any(file.read_bytes() == (folder / name).read_bytes() for file in copies), f"{package} has no {name}"
    modules, = (prefix / "lib").glob("python3*/dist-packages")
    with Daemon() as daemon, Shell(
            home, f"{bin}{PROGRAMS}:/usr/bin:/bin", COMMAND_PATIENCE, CAMARB_SOCKET=str(daemon.path),
            PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"), CMAKE_PREFIX_PATH=str(prefix), LD_LIBRARY_PATH=str(prefix / "lib"),
            PYTHONPATH=str(modules), GST_PLUGIN_PATH=str(prefix / "lib/gstreamer-1.0"), GST_REGISTRY=str(directory / "registry"),
            **variables) as shell:
        yield shell


def all_tried(page, shell):
    return tried(page, {"$": shell}, looks=("camclient status",), look_patience=30)


# Those that need a window: toolkits.py has them.
WINDOWED = ("GTK 4", "Qt 6")


@claim("every program of the page for authors of apps in C, in Python, with OpenCV, in GStreamer and on the wire builds, runs, and prints "
       "what the page says")
def app_authors():
    with Folder() as directory:
        home = directory / "home"
        home.mkdir()
        with reader(directory, home) as shell:
            count = all_tried(chapters(directory, lambda heading: heading not in ("Swift", *WINDOWED)), shell)
        assert len(shown_files()["webcam.py"].splitlines()) <= 40
    assert count >= 20, f"the page has {count} commands"
    return f"{count} commands"


@claim("every program of the page for authors of apps in Swift builds, runs, and prints what the page says; and one with several sessions at once",
       long="it builds apps in Swift, and with them camarb a second time")
def app_authors_in_swift():
    if not (shutil.which("git") and shutil.which("swift")):
        raise Skipped("git or swift is not here")
    with Folder() as directory:
        home = published(directory)
        # Whose home it is SwiftPM asks the system, and not the environment: there it would remember which commit was 0.1.0, and
        # take another one, the next time, for a forgery.
        (home / "bin").mkdir()
        swift = home / "bin" / "swift"
        swift.write_text(
            f'#!/bin/sh\ncommand=$1; shift\nexec {shutil.which("swift")} "$command" --cache-path {home}/.cache '
            f'--config-path {home}/.config --security-path {home}/.security "$@"\n')
        swift.chmod(0o755)
        with reader(directory, home, f"{home}/bin:") as shell:
            count = all_tried(chapters(directory, lambda heading: heading == "Swift"), shell)
            package = home / "mirror-swift"
            shutil.copytree(HERE / "programs" / "pair", package / "Sources" / "pair")
            manifest = (package / "Package.swift").read_text()
            (package / "Package.swift").write_text(manifest.replace('["mirror", "touch"]', '["mirror", "touch", "pair"]'))
            printed, _ = shell.run("cd mirror-swift; swift build --product pair 2>&1 | tail -n 3; cd ..")
        with Daemon(cameras=("front=simulated", "back=simulated")) as daemon:
            pair = ran(package / ".build" / "debug" / "pair", 5, "front", "back", cwd=home, env={"CAMARB_SOCKET": str(daemon.path)}).stdout
            size = "5 frames of 1280x720, and a photo"
            assert pair == f"back: {size}\nfront: {size}\n6 more\n", (printed, pair)
    assert count >= 8, f"the page has {count} commands"
    return f"{count} commands"


class Running(Ended):
    """A program of the page's, at brokers that are restarted; its words go to a file."""

    def __init__(self, brokers, *command):
        self.said = brokers.directory / "said"
        self.process = spawn(*command, log=self.said, env={**os.environ, "CAMARB_SOCKET": str(brokers.path)})

    @property
    def lines(self):
        return self.said.read_text().splitlines()

    def __exit__(self, kind, *how):
        super().__exit__(kind, *how)
        if kind is not None:
            print("  the program said:\n    " + "\n    ".join(self.lines))


@claim("an app on the wire that does as the page's does runs again after a restart of camarbd, by itself")
def on_wire_restart():
    with Brokers() as brokers:
        program = brokers.directory / "onwire.py"
        program.write_text(shown_files()["onwire.py"])
        with Running(brokers, sys.executable, program, brokers.path) as app:
            shown = ["running", "a frame of 1280x720"]
            wait_until("its first frame", lambda: app.lines == shown)
            for end in (signal.SIGKILL, signal.SIGTERM):
                brokers.kill(end)
                brokers.start()
                # As the page has it: interrupted for the broker's end, and for nothing else.
                shown += ["interrupted: broker-restarted", "running", "a frame of 1280x720"]
                wait_until(f"its camera after signal {end}", lambda: len(app.lines) >= len(shown))
                assert app.lines == shown, app.lines
            block = "\n".join(shown[:5])
            assert f"```\n{block}\n```" in PAGE.read_text(), "the page has other words for a restart"
            assert app.process.poll() is None
    return "killed, and restarted"
