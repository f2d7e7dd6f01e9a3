"""Examples of programs with a window, GTK 4's and Qt 6's, and CMake: built from what is installed, and run without a screen."""
import contextlib, os, shutil

from app_authors import all_tried, chapters, reader
from harness import ROOT, Daemon, Folder, Skipped, claim, ran
from parity import built
from screen import Screen

# Of a channel's 255: two pixels that differ by less may be one to the eye.
ALIKE = 24


def needs_package(name, *command):
    if not shutil.which(command[0]) or ran(*command, status=None).returncode:
        raise Skipped(f"{name} is not here (make/packages test installs it)")


def pictures(folder):
    """What the window showed: while the camera ran, when it was taken away, when it was back, and at the end."""
    import cv2  # Of this machine's packages: without it the other claims of a run still have something to say.
    files = [folder / f"seen-{number}.png" for number in range(1, 5)]
    found = [cv2.imread(str(file)).astype(int) for file in files]
    assert all(picture.shape[0] >= 300 and picture.shape[1] >= 500 for picture in found), [picture.shape for picture in found]
    return found


def judge(first, slate, back, last):
    """The camera's pictures are of a chart, black and white and more, and change; the slate between them is of one dark red."""
    def share(picture, other):
        return (abs(picture - other).max(axis=2) > ALIKE).mean()

    for picture in (first, back, last):
        grey = picture.mean(axis=2)
        assert (grey < 64).mean() > 0.02 and (grey > 192).mean() > 0.2, "the window shows no chart"
        assert share(picture, slate) > 0.5, "the window shows the slate while the camera runs"
    blue, green, red = (slate[..., channel] for channel in range(3))
    assert ((red > 100) & (blue < 60) & (green < 60)).mean() > 0.4, "the slate is not that of a camera that is switched off"
    # The number of the frame, and its time, are in each picture.
    assert share(first, back) > 0.001 and share(back, last) > 0.001, "the picture stands still"


def windowed(heading, **variables):
    with Folder() as directory, contextlib.ExitStack() as stack:
        if "QT_QPA_PLATFORM" not in variables:
            variables["DISPLAY"] = stack.enter_context(Screen(size="1280x800", manager=False)).name
        home = directory / "home"
        home.mkdir()
        with reader(directory, home, XDG_RUNTIME_DIR=str(home), **variables) as shell:
            count = all_tried(chapters(directory, lambda own: own == heading), shell)
        judge(*pictures(home / heading.split()[0].lower()))
    return f"{count} commands, 4 pictures"


@claim("the example for GTK 4 builds from what is installed, shows the camera in a window, a slate while it is away, and the camera again")
def gtk():
    needs_package("libgtk-4-dev", "pkg-config", "--exists", "gtk4")
    # Without a session bus: it would be asked for settings, and started where there is none.
    return windowed("GTK 4", GSK_RENDERER="cairo", GTK_A11Y="none", DBUS_SESSION_BUS_ADDRESS="unix:path=/nonexistent")


@claim("the example for Qt 6 builds from what is installed, shows the camera in a window, a slate while it is away, and the camera again")
def qt():
    needs_package("qt6-declarative-dev", "pkg-config", "--exists", "Qt6Quick")
    needs_package("cmake", "cmake", "--version")
    return windowed("Qt 6", QT_QPA_PLATFORM="offscreen", QT_QUICK_BACKEND="software")


FINDS = """cmake_minimum_required(VERSION 3.16)
project(finds C)
find_package(camarb @VERSION@ REQUIRED)
"""


@claim("CMake finds libcamarb wherever it was installed, in the version that a program asks for or a later one, and builds the example "
       "with it")
def cmake():
    needs_package("cmake", "cmake", "--version")
    version = (ROOT / "VERSION").read_text().strip()
    later = f"{int(version.split('.')[0]) + 1}.0"
    with Folder() as directory, Daemon() as daemon:
        # As Debian has it, and as whoever installs it by hand does: moved afterwards.
        for place, library in (("usr", f"lib/{ran('gcc', '-print-multiarch').stdout.strip()}"), ("opt/camarb", "lib")):
            stage, moved, made = directory / "stage", directory / f"moved-{library.replace('/', '-')}", directory / "made"
            built("install", f"DESTDIR={stage}", f"PREFIX=/{place}", f"LIBDIR=/{place}/{library}")
            stage.rename(moved)
            environment = {**os.environ, "CMAKE_PREFIX_PATH": str(moved / place), "CAMARB_SOCKET": str(daemon.path)}
            ran("cmake", "-S", ROOT / "clients" / "examples" / "c", "-B", made, "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror", env=environment)
            ran("cmake", "--build", made)
            said = ran(made / "mirror", 5, env=environment).stdout
            assert said == "running\n5 frames of 1280x720\n", said
            needed = ran("ldd", made / "mirror").stdout
            assert str(moved) in needed, needed
            shutil.rmtree(made)
            for wanted, status in ((version, 0), (later, 1)):
                (directory / "CMakeLists.txt").write_text(FINDS.replace("@VERSION@", wanted))
                said = ran("cmake", "-S", directory, "-B", made, env=environment, status=status)
                assert status == 0 or f'compatible with requested version "{later}"' in " ".join(said.stderr.split()), said.stderr
                shutil.rmtree(made)
    return f"{version}, and not {later}"
