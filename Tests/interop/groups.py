"""Control groups of the test's own, where they can be made: a process is in a unit because its group is called so."""
import contextlib, os, pathlib

from harness import Skipped, wait_until


def hierarchy():
    """Where cgroup2 is mounted, writable, with its root seen as `/` by /proc."""
    with open("/proc/self/mountinfo") as mounts:
        for line in mounts:
            fields, _, kind = line.partition(" - ")
            if kind.split()[0] == "cgroup2" and fields.split()[3] == "/":
                return pathlib.Path(fields.split()[4])
    raise Skipped("there is no cgroup2 hierarchy here")


def taken_away(folder):
    # The process in it has been reaped, and the kernel takes a moment to know.
    wait_until(f"{folder} to be empty", lambda: not (folder / "cgroup.procs").read_text().strip())
    folder.rmdir()


@contextlib.contextmanager
def made(*paths):
    """Makes groups, each a path such as /system.slice/x.service, and takes away again what was not there before."""
    root = hierarchy()
    with contextlib.ExitStack() as new:
        for path in paths:
            folder = root
            for part in path.strip("/").split("/"):
                folder = folder / part
                if not folder.exists():
                    try:
                        folder.mkdir()
                    except OSError as error:
                        raise Skipped(f"control groups cannot be made here: {error}")
                    new.callback(taken_away, folder)
        yield


@contextlib.contextmanager
def of_memory(bytes_):
    """A group that may have so many bytes of memory: its folder, whichever version of groups accounts for memory here."""
    second, first = pathlib.Path("/sys/fs/cgroup"), pathlib.Path("/sys/fs/cgroup/memory")
    try:
        if first.is_dir():
            parent, limit = first, "memory.limit_in_bytes"
        else:
            parent, limit = second, "memory.max"
            (parent / "cgroup.subtree_control").write_text("+memory")
        folder = parent / f"camarb-test-{os.getpid()}"
        folder.mkdir()
    except OSError as error:
        raise Skipped(f"groups with a bound of memory cannot be made here: {error}")
    try:
        (folder / limit).write_text(str(bytes_))
        yield folder
    finally:
        taken_away(folder)


def killed_for_memory(folder):
    """How many processes of a group the kernel has killed since it was full."""
    for name in ("memory.events", "memory.oom_control"):
        if (folder / name).exists():
            return int((folder / name).read_text().split("oom_kill ")[1].split()[0])
    return 0


def put(process, path):
    (hierarchy() / path.strip("/") / "cgroup.procs").write_text(str(process))


def wait_for(path):
    """Called by the process itself: until it has been put there."""
    wait_until(f"this process to be in {path}", lambda: f"0::{path}\n" in pathlib.Path("/proc/self/cgroup").read_text())
