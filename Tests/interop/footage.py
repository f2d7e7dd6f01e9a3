"""A film as a camera: the simulated cameras have whole frame rates, and a film has any."""
import contextlib, shutil

from harness import COMPUTING_PATIENCE, Folder, Skipped, ran


@contextlib.contextmanager
def filmed(rate, seconds=2, picture="testsrc=size=640x480", filters="", encoder=("mpeg4",), kind="mkv"):
    """What camarbd is told of a camera with that rate, such as “25/2”, and 640x480 if no other picture is asked for."""
    if not shutil.which("ffmpeg"):
        raise Skipped("ffmpeg is not installed")
    with Folder() as folder:
        film = folder / f"film.{kind}"
        ran("ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"{picture}:rate={rate}{filters}", "-t", seconds, "-c:v", *encoder, film,
            timeout=COMPUTING_PATIENCE)
        yield f"front=file:{film}"
