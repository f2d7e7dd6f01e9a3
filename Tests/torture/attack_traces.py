"""Who may read the traces that root makes of a broker."""
import contextlib

from harness import PROGRAMS, Folder, ran
from rows import ATTACKER, Child, Figure, attack, until


def reader(folder, seconds):
    """Opens whatever lies in a folder as soon as it is there: how often it tried, and how many bytes it had."""
    tried, had = 0, 0
    for _ in until(seconds):
        for path in folder.iterdir():
            tried += 1
            with contextlib.suppress(OSError):
                had += len(path.read_bytes())
    return tried, had


@attack("traces-of-others", "a trace, which shows all users' apps, is read by nobody but whoever made it",
        "another user who opens each file of a folder that everybody may read as soon as it is there, while 20 traces (5) are made there "
        "under umask 0", 5, 20)
def traces_of_others(daemon, count):
    with Folder() as folder:
        folder.chmod(0o755)
        with Child(ATTACKER, reader, folder, 1.0 * count) as other:
            for number in range(count):
                daemon.app(f"app-{number}")
                ran(PROGRAMS / "camclient", "trace", "record", f"{folder}/{number}.trace", "-d", "300ms", "--address", daemon.address,
                    umask=0)
            tried, had = other.result()
        made = [path.read_bytes() for path in folder.iterdir()]
        yield Figure("traces that name an app", sum(b"app-" in trace for trace in made), f"of {count}", least=count)
        yield Figure("tries of the other user", tried, least=count)
        yield Figure("bytes that it had", had, most=0)
