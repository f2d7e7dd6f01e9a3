"""Who may read the traces that root makes of a broker."""
import os, pathlib, subprocess, tempfile, time

from harness import PROGRAMS, die_with_parent
from rows import ATTACKER, Child, Figure, broker, row, stage


def reader(folder, seconds):
    """Opens whatever lies in a folder as soon as it is there: how often it tried, and how many bytes it had."""
    tried, had, until = 0, 0, time.monotonic() + seconds
    while time.monotonic() < until:
        for path in pathlib.Path(folder).iterdir():
            tried += 1
            try:
                had += len(path.read_bytes())
            except OSError:
                pass
    return tried, had


@row("traces-of-others", "a trace, which shows all users' apps, is read by nobody but whoever made it",
     "another user who opens each file of a folder that everybody may read as soon as it is there, while 20 traces (5) are made there under umask 0")
def traces_of_others(short):
    count = 5 if short else 20
    with broker() as daemon, tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder).chmod(0o755)
        with Child(ATTACKER, reader, folder, 1.0 * count) as attack:
            for number in range(count):
                stage(f"{number} of {count} traces")
                daemon.app(f"app-{number}")
                subprocess.run(
                    [PROGRAMS / "camclient", "trace", "record", f"{folder}/{number}.trace", "-d", "300ms", "--address", daemon.address],
                    check=True, capture_output=True, timeout=20, preexec_fn=lambda: (os.umask(0), die_with_parent()))
            tried, had = attack.result()
        made = [path.read_bytes() for path in pathlib.Path(folder).iterdir()]
        yield Figure("traces that name an app", sum(b"app-" in trace for trace in made), f"of {count}", least=count)
        yield Figure("tries of the other user", tried, least=count)
        yield Figure("bytes that it had", had, most=0)
