"""Control groups of the test's own, where they can be made: a process is in a unit because its group is called so."""
import contextlib, pathlib

from harness import Skipped, wait_until


def hierarchy():
    """Where cgroup2 is mounted, writable, with its root seen as `/` by /proc."""
    with open("/proc/self/mountinfo") as mounts:
        for line in mounts:
            fields, _, kind = line.partition(" - ")
            if kind.split()[0] == "cgroup2" and fields.split()[3] == "/":
                return pathlib.Path(fields.split()[4])
    raise Skipped("there is no cgroup2 hierarchy here")


@contextlib.contextmanager
def made(*paths):
    """Makes groups, each a path such as /system.slice/x.service, and takes away again what was not there before."""
    root = hierarchy()
    new = []
    try:
        for path in paths:
            folder = root
            for part in path.strip("/").split("/"):
                folder = folder / part
                if not folder.exists():
                    try:
                        folder.mkdir()
                    except OSError as error:
                        raise Skipped(f"control groups cannot be made here: {error}")
                    new.append(folder)
        yield
    finally:
        for folder in reversed(new):
            # The process in it has been reaped, and the kernel takes a moment to know.
            wait_until(f"{folder} to be empty", lambda: not (folder / "cgroup.procs").read_text().strip())
            folder.rmdir()


def put(process, path):
    (hierarchy() / path.strip("/") / "cgroup.procs").write_text(str(process))


def wait_for(path):
    """Called by the process itself: until it has been put there."""
    wait_until(f"this process to be in {path}", lambda: f"0::{path}\n" in pathlib.Path("/proc/self/cgroup").read_text())
