"""Files whose server does not answer: a FUSE mount in a user namespace of one's own, served by hand over /dev/fuse.

Any user can make one. Whoever closes such a file waits for its server, beyond the reach of SIGKILL, and where nothing of it is
kept, whoever writes to it, cuts it or looks at it; the wait ends when the server's process does.
"""
import ctypes, errno, mmap, os, pathlib, select, signal, socket, struct, tempfile

import wire
from harness import Skipped, wait_until

libc = ctypes.CDLL(None, use_errno=True)
NEW_USER, NEW_MOUNTS = 0x10000000, 0x00020000
GETATTR, SETATTR, OPEN, READ, WRITE, STATFS, RELEASE, FLUSH, INIT, INTERRUPT = 3, 4, 14, 15, 16, 17, 18, 25, 26, 36
WRITEBACK_CACHE = 1 << 16
# Seconds after which a server ends in any case, and with it all waits for it.
LIFE = 120


def check(result, what):
    if result != 0:
        raise OSError(ctypes.get_errno(), what)


def may_be_made():
    """Or the row is skipped, aloud."""
    if not os.path.exists("/dev/fuse") or os.stat("/dev/fuse").st_mode & 0o006 != 0o006:
        raise Skipped("there is no /dev/fuse for everybody on this machine")


class SlowFile:
    """A file of the calling process, whose server answers until `hang()` is called, and whoever closes it then waits for `end()`. `keeps`:
    the kernel keeps for it what is written to it, and what it looks like. For a process that may leave its namespaces: a `Child`."""

    def __init__(self, keeps=True):
        user, group = os.geteuid(), os.getegid()
        # After a change of user /proc/self is root's without it.
        libc.prctl(4, 1)  # PR_SET_DUMPABLE
        check(libc.unshare(NEW_USER | NEW_MOUNTS), "unshare")
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            pathlib.Path("/proc/self", name).write_text(text)
        descriptor, self.path = tempfile.mkstemp(prefix="camarb-slow.")
        os.close(descriptor)
        self.device = os.open("/dev/fuse", os.O_RDWR)
        # The mount is of one file, so that nothing has to be looked up in it.
        options = f"fd={self.device},rootmode=100000,user_id={user},group_id={group}"
        check(libc.mount(b"slow", self.path.encode(), b"fuse", 0, options.encode()), "mount")
        # Set from here, read by the server.
        self.hangs = mmap.mmap(-1, 1)
        # The server ends when this process does: it must not wait for its own file while it ends, so that what tells of
        # the end has a smaller number than the file will have, and is closed before.
        told, self.life = os.pipe()
        self.server = os.fork()
        if self.server == 0:
            os.close(self.life)
            signal.alarm(LIFE)
            self.serve(told, keeps)
            os._exit(0)
        os.close(told)
        os.close(self.device)

    def open(self):
        # The kernel takes it for root's, which does not exist in here, until it has asked.
        os.stat(self.path)
        return os.open(self.path, os.O_RDWR)

    def hang(self):
        self.hangs[0] = 1

    def end(self, seen=None):
        """The server's process ends, and with it every wait for it; once a file says that these were seen, if one is given."""
        if seen:
            wait_until("the row to see it hang", seen.exists, patience=LIFE)
        os.kill(self.server, signal.SIGKILL)
        os.waitpid(self.server, 0)

    def serve(self, told, keeps):
        while True:
            if told in select.select([self.device, told], [], [])[0]:
                return
            try:
                request = os.read(self.device, 1 << 20)
            except OSError:
                return
            length, opcode, unique = struct.unpack_from("<IIQ", request)
            if opcode == INTERRUPT or (self.hangs[0] and opcode != INIT):
                continue
            # Attributes are believed for an hour: nobody has to ask again.
            attributes = struct.pack("<QII6Q3I7I", 3600 * keeps, 0, 0, 1, 1 << 20, 0, 0, 0, 0, 0, 0, 0, 0o100666, 1, os.geteuid(),
                                     os.getegid(), 0, 4096, 0)
            answers = {INIT: struct.pack("<IIIIHHIIHHI28x", 7, 31, 65536, WRITEBACK_CACHE * keeps, 16, 12, 65536, 1, 16, 0, 0),
                       GETATTR: attributes, SETATTR: attributes, OPEN: struct.pack("<QII", 1, 0, 0), READ: b"",
                       # How much was written, as it was asked.
                       WRITE: request[56:60] + bytes(4), STATFS: struct.pack("<5Q4I24x", 0, 0, 0, 0, 0, 4096, 255, 4096, 0),
                       RELEASE: b"", FLUSH: b""}
            body = answers.get(opcode, b"")
            status = 0 if opcode in answers else -errno.ENOSYS
            os.write(self.device, struct.pack("<IiQ", 16 + len(body), status, unique) + body)


def that_hangs():
    file = SlowFile()
    slow = file.open()
    file.hang()
    return file, slow


def in_bag():
    """Such a file, and a socket in whose queue lies its last reference, and what was written to which is not with its server yet:
    who drops the one drops the other, and waits for the server. The other end of the socket is to be kept."""
    file = SlowFile()
    slow, other = file.open(), file.open()
    os.ftruncate(other, 4096)
    memory = mmap.mmap(other, 4096)
    memory[0] = 1
    ours, bag = socket.socketpair()
    wire.send(ours, b"x", [slow])
    os.close(slow)
    file.hang()
    memory[0] = 2
    return file, bag, (ours, memory)
