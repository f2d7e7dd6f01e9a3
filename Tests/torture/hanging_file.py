"""A file whose server answers until it was opened, and then nothing: whoever writes, cuts or looks at it waits."""
import ctypes, errno, os, pathlib, struct, tempfile, threading

INIT, GETATTR, OPEN = 26, 3, 14
CLONE_NEWNS, MS_PRIVATE_ALL, MNT_FORCE, MNT_DETACH = 0x20000, 0x44000, 1, 2
libc = ctypes.CDLL(None, use_errno=True)


def checked(result, what):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


class HangingFile:
    """Mounted in a mount namespace of this process's own. To be had in a process that has nothing else to do."""

    def __init__(self):
        checked(libc.unshare(CLONE_NEWNS), "unshare")
        checked(libc.mount(b"none", b"/", None, MS_PRIVATE_ALL, None), "make mounts private")
        descriptor, path = tempfile.mkstemp(prefix="camarb-hanging.")
        os.close(descriptor)
        self.path = pathlib.Path(path)
        self.device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        self.answers = True
        options = f"fd={self.device},rootmode=100666,user_id=0,group_id=0,allow_other"
        checked(libc.mount(b"camarb", os.fsencode(path), b"fuse", 0, options.encode()), "mount")
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def open(self):
        """A descriptor of it, after which nothing is answered any more."""
        found = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        self.answers = False
        return found

    def end(self):
        """Whoever waits for it fails now, and goes on."""
        libc.umount2(os.fsencode(self.path), MNT_FORCE)
        try:
            os.close(self.device)
        except OSError:
            pass
        libc.umount2(os.fsencode(self.path), MNT_DETACH)
        self.path.unlink(missing_ok=True)

    def serve(self):
        while self.answers:
            try:
                request = os.read(self.device, 1 << 17)
            except OSError as fault:
                if fault.errno in (errno.EINTR, errno.ENOENT):
                    continue
                return
            _, code, unique, *_ = struct.unpack_from("<IIQQIIII", request)
            if code == INIT:
                self.say(unique, struct.pack("<IIIIHHIIHHI28x", 7, 31, 65536, 0, 8, 8, 65536, 1, 16, 0, 0))
            elif code == GETATTR:
                attributes = struct.pack("<QQQQQQIIIIIIIIII", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o100666, 1, 0, 0, 0, 4096, 0)
                self.say(unique, struct.pack("<QII", 0, 0, 0) + attributes)
            elif code == OPEN:
                self.answers = False
                self.say(unique, struct.pack("<QII", 1, 0, 0))
            else:
                self.say(unique, b"", -errno.ENOSYS)

    def say(self, unique, body, error=0):
        os.write(self.device, struct.pack("<IiQ", 16 + len(body), error, unique) + body)
