"""The page for authors of apps, tried: its programs are taken from it, built against what is installed, and run."""
import pathlib, shutil, subprocess, tempfile

from harness import PROGRAMS, ROOT, Daemon, Skipped, claim
from page import Shell, tried

# A compiler on a busy machine.
COMMAND_PATIENCE = 120


def said(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


@claim("every program of the page for authors of apps builds, runs, and prints what the page says")
def app_authors():
    missing = [program for program in ("gcc", "make", "pkg-config", "gst-launch-1.0", "file") if not shutil.which(program)]
    if missing or subprocess.run(["pkg-config", "--exists", "libsystemd", "gstreamer-video-1.0"]).returncode:
        raise Skipped(f"{', '.join(missing) or 'the headers of libsystemd or GStreamer'} is not here (make/packages test installs it)")
    directory = pathlib.Path(tempfile.mkdtemp(prefix="camarb-authors."))
    stage = directory / "stage"
    # As a packager does, so that nothing but what is installed can be found; and nothing is left in the checkout.
    made = subprocess.run(
        ["make", "-C", ROOT / "clients", f"BUILD={directory / 'build'}", f"DESTDIR={stage}", "PREFIX=/usr", "install"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert made.returncode == 0, made.stdout[-3000:]
    shutil.rmtree(directory / "build")
    for page in ("man3/libcamarb.3", "man7/camarbsrc.7"):
        assert (stage / "usr/share/man" / page).exists(), page
    (directory / "home").mkdir()
    with Daemon() as daemon:
        shell = Shell(
            directory / "home", f"{PROGRAMS}:/usr/bin:/bin", COMMAND_PATIENCE, CAMARB_SOCKET=str(daemon.path),
            PKG_CONFIG_PATH=str(stage / "usr/lib/pkgconfig"), PKG_CONFIG_SYSROOT_DIR=str(stage),
            LD_LIBRARY_PATH=str(stage / "usr/lib"), PYTHONPATH=str(stage / "usr/lib/python3/dist-packages"),
            GST_PLUGIN_PATH=f"{stage}{said('pkg-config', '--variable=pluginsdir', 'gstreamer-1.0')}",
            GST_REGISTRY=str(directory / "registry"))
        try:
            count = tried(ROOT / "docs" / "app-authors.md", {"$": shell}, looks=("camclient status",), look_patience=30)
        finally:
            shell.end()
    # The page shows the example that is installed, to the letter.
    written = (directory / "home" / "webcam.py").read_text()
    assert written == (ROOT / "clients" / "python" / "examples" / "webcam.py").read_text()
    assert len(written.splitlines()) <= 40
    shutil.rmtree(directory, ignore_errors=True)
    assert count >= 15, f"the page has {count} commands"
    return f"{count} commands"
