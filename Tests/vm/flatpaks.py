"""For steps with Flatpak: a runtime and an app, made of this machine's files, as Flatpak's own tools make them. Nothing is fetched."""
import os, pathlib, shutil, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
APP, RUNTIME, BRANCH = "org.example.Mirror", "org.example.Runtime", "test"
# What the app's programs are made of. Flatpak makes the cache of libraries with the runtime's ldconfig.
PROGRAMS = ("python3", "sh", "gst-launch-1.0", "ldconfig")
PLUGINS = ("coreelements", "pipewire", "videoconvertscale")
MODULES = ("protocol-native", "client-node", "client-device", "adapter", "metadata", "session-manager", "rt")
PYTHON = "import argparse, ctypes, dataclasses, enum, fractions, locale, os, typing, weakref, jeepney, jeepney.io.blocking"
SIDE = 16  # of the pictures that the app shows, in pixels: 16x16 of three bytes each


def said(*command):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(map(str, command))}: status {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def python_files():
    names = said("/usr/bin/python3", "-c", f"{PYTHON}, sys\n"
                 "for one in list(sys.modules.values()): print(getattr(one, '__file__', None) or '')")
    return [pathlib.Path(name) for name in names.split()]


def files():
    programs = [pathlib.Path(shutil.which(name, path="/usr/bin:/usr/sbin:/sbin")) for name in PROGRAMS]
    plugins = pathlib.Path(said("pkg-config", "--variable=pluginsdir", "gstreamer-1.0").strip())
    pipewire = pathlib.Path(said("pkg-config", "--variable=moduledir", "libpipewire-0.3").strip())
    spa = pathlib.Path(said("pkg-config", "--variable=plugindir", "libspa-0.2").strip())
    python = python_files()
    code = [*programs, *(plugins / f"libgst{name}.so" for name in PLUGINS),
            *(pipewire / f"libpipewire-module-{name}.so" for name in MODULES),
            *(spa / "support").glob("*.so"), spa / "videoconvert/libspa-videoconvert.so", *(one for one in python if one.suffix == ".so")]
    libraries = {word for line in said("ldd", *code).splitlines() for word in line.split() if word.startswith("/") and word[-1] != ":"}
    return [*code, *map(pathlib.Path, libraries), *python, pathlib.Path("/usr/share/pipewire/client.conf")]


def build(folder, repository):
    runtime, app = folder / "runtime", folder / "app"
    for file in files():
        place = runtime / (file.parent.resolve() / file.name).relative_to("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)
        place.chmod(0o755 if os.access(file, os.X_OK) else 0o644)
    (runtime / "metadata").write_text(f"[Runtime]\nname={RUNTIME}\n")
    (runtime / "files").mkdir()
    said("flatpak", "build-export", "--runtime", "--disable-sandbox", repository, runtime, BRANCH)
    said("flatpak", "--user", "remote-add", "--no-gpg-verify", "test", repository)
    said("flatpak", "--user", "install", "--noninteractive", "test", RUNTIME)
    said("flatpak", "build-init", app, APP, RUNTIME, RUNTIME, BRANCH)
    for source, place in (("Tests/vm/sandboxed.py", "bin/mirror"), ("Tests/vm/by_name.py", "bin/by-name"),
                          ("clients/examples/python/webcam.py", "bin/webcam"),
                          ("clients/.build/libcamarb.so.1", "lib/libcamarb.so.1"),
                          *((f"clients/python/camarb/{name}", f"lib/python/camarb/{name}")
                            for name in ("__init__.py", "_client.py", "_library.py", "VERSION"))):
        place = app / "files" / place
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / source, place)
        place.chmod(0o755)
    said("flatpak", "build-finish", app, "--command=mirror", "--env=PYTHONPATH=/app/lib/python", "--env=GST_REGISTRY_FORK=no")
    said("flatpak", "build-export", "--disable-sandbox", repository, app, BRANCH)
    said("flatpak", "--user", "install", "--noninteractive", "test", APP)


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    build(folder, folder / "repository")
