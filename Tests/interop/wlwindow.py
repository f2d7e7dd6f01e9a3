"""As much of the Wayland protocol as a test needs, written by hand: a window of one's own, for whatever process makes it.

Requests and events are words of the machine's order: an object, a length and an operation, arguments. The numbers of
operations are those of wayland.xml and xdg-shell.xml.
"""
import os, socket, struct, time

WIDTH, HEIGHT = 64, 48
PATIENCE = 20.0


def text(words):
    given = words.encode() + b"\0"
    return struct.pack("=I", len(given)) + given + b"\0" * (-len(given) % 4)


class Window:
    """A toplevel window. `drain` answers what the compositor asks; call it when `fileno` is readable."""

    DISPLAY, REGISTRY = 1, 2

    def __init__(self, path, name):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(path)
        self.unread, self.next, self.globals, self.is_shown = b"", 3, {}, False
        self.send(self.DISPLAY, 1, struct.pack("=I", self.REGISTRY))  # get_registry
        self.synchronize()
        self.compositor = self.bind("wl_compositor", 4)
        self.memory = self.bind("wl_shm", 1)
        self.base = self.bind("xdg_wm_base", 1)
        self.surface = self.make(self.compositor, 0)
        self.outer = self.make(self.base, 2, struct.pack("=I", self.surface))  # get_xdg_surface
        self.top = self.make(self.outer, 1)  # get_toplevel
        self.send(self.top, 2, text(name))  # set_title
        self.send(self.top, 3, text(name))  # set_app_id
        self.send(self.surface, 6)  # commit
        until = time.monotonic() + PATIENCE
        while not self.is_shown:
            assert time.monotonic() < until, "the compositor configured no window"
            self.drain()

    def fileno(self):
        return self.socket.fileno()

    def send(self, thing, operation, arguments=b"", descriptor=None):
        message = struct.pack("=II", thing, (8 + len(arguments)) << 16 | operation) + arguments
        if descriptor is None:
            self.socket.sendall(message)
        else:
            socket.send_fds(self.socket, [message], [descriptor])

    def new(self):
        self.next += 1
        return self.next - 1

    def make(self, thing, operation, behind=b""):
        """A request whose first argument is a new object, which is the answer."""
        made = self.new()
        self.send(thing, operation, struct.pack("=I", made) + behind)
        return made

    def bind(self, interface, version):
        assert interface in self.globals, f"the compositor has no {interface}, only {sorted(self.globals)}"
        made = self.new()
        self.send(self.REGISTRY, 0, struct.pack("=I", self.globals[interface]) + text(interface) + struct.pack("=II", version, made))
        return made

    def synchronize(self):
        self.awaited = self.make(self.DISPLAY, 0)
        while self.awaited:
            self.drain()

    def drain(self):
        got = self.socket.recv(65536)
        assert got, "the compositor ended the connection"
        self.unread += got
        while len(self.unread) >= 8:
            thing, head = struct.unpack_from("=II", self.unread)
            if len(self.unread) < head >> 16:
                break
            body, self.unread = self.unread[8:head >> 16], self.unread[head >> 16:]
            self.heard(thing, head & 0xffff, body)

    def heard(self, thing, operation, body):
        if thing == self.DISPLAY and operation == 0:
            raise AssertionError(f"the compositor says {body[12:].decode(errors='replace')}")
        if thing == self.REGISTRY and operation == 0:
            number, length = struct.unpack_from("=II", body)
            self.globals[body[8:7 + length].decode()] = number
        elif thing == getattr(self, "awaited", None):
            self.awaited = None
        elif thing == getattr(self, "base", None) and operation == 0:
            self.send(self.base, 3, body)  # pong
        elif thing == getattr(self, "outer", 0) and operation == 0:
            self.send(self.outer, 4, body)  # ack_configure
            self.show()

    def show(self):
        """Gives the surface a picture, without which it is no window."""
        if not self.is_shown:
            size = WIDTH * HEIGHT * 4
            descriptor = os.memfd_create("window")
            os.truncate(descriptor, size)
            pool = self.new()
            self.send(self.memory, 0, struct.pack("=I", pool) + struct.pack("=i", size), descriptor)  # create_pool
            os.close(descriptor)
            self.buffer = self.make(pool, 0, struct.pack("=iiiiI", 0, WIDTH, HEIGHT, WIDTH * 4, 1))
            self.is_shown = True
        self.send(self.surface, 1, struct.pack("=Iii", self.buffer, 0, 0))  # attach
        self.send(self.surface, 6)  # commit

    def fill_screen(self, on=True):
        self.send(self.top, *((11, struct.pack("=I", 0)) if on else (12,)))  # set_fullscreen, on any output; unset_fullscreen

    def minimize(self):
        self.send(self.top, 13)

    def destroy(self):
        self.send(self.top, 0)
        self.send(self.outer, 0)
        self.send(self.surface, 0)
        # What the compositor still says to them is nobody's.
        self.outer = None
