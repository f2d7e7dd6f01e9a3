"""A film as a camera: the simulated cameras have whole frame rates, and a film has any."""
import contextlib, pathlib, shutil, subprocess, tempfile

from harness import Skipped


@contextlib.contextmanager
def filmed(rate, seconds=2):
    """What camarbd is told of a camera with that rate, such as “25/2”, and 640x480."""
    if not shutil.which("ffmpeg"):
        raise Skipped("ffmpeg is not installed")
    with tempfile.TemporaryDirectory(prefix="camarb-test.") as folder:
        film = pathlib.Path(folder) / "film.mkv"
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc=size=640x480:rate={rate}:duration={seconds}", "-c:v", "mpeg4", film],
            check=True)
        yield f"front=file:{film}"
