"""Programs as strangers write them on what is installed, each with a real camarbd: a viewer in C, two loops and threads in Python."""
import os

from harness import ROOT, Daemon, Folder, claim, probed, ran
from parity import BUILD, CLIENTS, built

PROGRAMS = ROOT / "Tests" / "interop" / "programs"
CAMERAS = ("back=simulated:iphone6s-back", "front=simulated:iphone6s-front")


def is_jpeg(path):
    return path.read_bytes()[:2] == b"\xff\xd8"


def has_sound(path, rate, channels):
    picture, sound = probed(path, "-show_entries", "stream=codec_type,sample_rate,channels")["streams"]
    return (picture["codec_type"], sound["codec_type"], sound["sample_rate"], sound["channels"]) == ("video", "audio", str(rate), channels)


@claim("a viewer in C sets exposure and focus by the format's facts, takes a photo and a bracket, and records with sound from a thread")
def viewer():
    built()
    with Folder() as folder, Daemon(cameras=CAMERAS) as daemon:
        program = folder / "viewer"
        ran("gcc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{CLIENTS / 'libcamarb'}",
            PROGRAMS / "viewer.c", BUILD / "libcamarb.so.1", f"-Wl,-rpath,{BUILD}", "-o", program)
        said = ran(program, folder, env={**os.environ, "CAMARB_SOCKET": str(daemon.path)}).stdout.splitlines()
        assert said == ["touched 0.25, 0.25; ISO 23 to 1472, phase focus", "recorded, with enough frames and enough sound meanwhile"], said
        assert all(is_jpeg(folder / f"{name}.jpeg") for name in ("photo", "a", "b", "c"))
        assert has_sound(folder / "film.mkv", 48_000, 2)
        log = daemon.said()
        assert "kind=voip" in log and "exposureDuration=1.3e-05" in log and "exposureDurations=0.001,0.005,0.02 isos=50,100,200" in log


@claim("a program in Python has one camera in asyncio, and another in a thread that records with the sound of a third")
def loops():
    built()
    with Folder() as folder, Daemon(cameras=CAMERAS) as daemon:
        environment = {**os.environ, "CAMARB_SOCKET": str(daemon.path), "PYTHONPATH": str(CLIENTS / "python"),
                       "CAMARB_LIBRARY": str(BUILD / "libcamarb.so.1"), "PYTHONDONTWRITEBYTECODE": "1"}
        said = ran("/usr/bin/python3", "-W", "error", PROGRAMS / "loops.py", folder, env=environment).stdout
        assert said == "True, ['duration-limit']\n", said
        assert is_jpeg(folder / "front.jpeg") and has_sound(folder / "back.mkv", 16_000, 1)
