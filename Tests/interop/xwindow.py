"""As much of Xlib as a test needs, through ctypes: a window of one's own, and asking the window manager for things."""
import ctypes
from ctypes import byref, c_char_p, c_int, c_long, c_uint, c_ulong, c_void_p

LIBRARY = "libX11.so.6"


class ClientMessage(ctypes.Structure):
    _fields_ = [("type", c_int), ("serial", c_ulong), ("send_event", c_int), ("display", c_void_p), ("window", c_ulong),
                ("message_type", c_ulong), ("format", c_int), ("data", c_long * 5)]


class Event(ctypes.Union):
    _fields_ = [("client", ClientMessage), ("padding", c_long * 24)]


class Display:
    """A connection to an X server. The process that makes it owns the windows made through it."""

    def __init__(self, name):
        x = self.x = ctypes.CDLL(LIBRARY)
        for function, result, arguments in (
                ("XOpenDisplay", c_void_p, [c_char_p]),
                ("XDefaultRootWindow", c_ulong, [c_void_p]),
                ("XConnectionNumber", c_int, [c_void_p]),
                ("XCreateSimpleWindow", c_ulong, [c_void_p, c_ulong, c_int, c_int, c_uint, c_uint, c_uint, c_ulong,
                                                  c_ulong]),
                ("XStoreName", c_int, [c_void_p, c_ulong, c_char_p]),
                ("XMapWindow", c_int, [c_void_p, c_ulong]),
                ("XDestroyWindow", c_int, [c_void_p, c_ulong]),
                ("XIconifyWindow", c_int, [c_void_p, c_ulong, c_int]),
                ("XInternAtom", c_ulong, [c_void_p, c_char_p, c_int]),
                ("XChangeProperty", c_int, [c_void_p, c_ulong, c_ulong, c_ulong, c_int, c_int, c_void_p, c_int]),
                ("XListProperties", ctypes.POINTER(c_ulong), [c_void_p, c_ulong, ctypes.POINTER(c_int)]),
                ("XFree", c_int, [c_void_p]),
                ("XSendEvent", c_int, [c_void_p, c_ulong, c_int, c_long, c_void_p]),
                ("XSync", c_int, [c_void_p, c_int]),
                ("XPending", c_int, [c_void_p]),
                ("XNextEvent", c_int, [c_void_p, c_void_p])):
            getattr(x, function).restype, getattr(x, function).argtypes = result, arguments
        self.display = x.XOpenDisplay(name.encode())
        assert self.display, f"the display {name} cannot be opened"
        self.root = x.XDefaultRootWindow(self.display)

    def fileno(self):
        return self.x.XConnectionNumber(self.display)

    def drain(self):
        event = Event()
        while self.x.XPending(self.display):
            self.x.XNextEvent(self.display, byref(event))

    def atom(self, name):
        return self.x.XInternAtom(self.display, name.encode(), 0)

    def root_has(self, *names):
        count = c_int()
        atoms = self.x.XListProperties(self.display, self.root, byref(count))
        found = set(atoms[:count.value]) if atoms else set()
        self.x.XFree(atoms)
        return all(self.atom(name) in found for name in names)

    def window(self, title, x=20, y=20):
        window = self.x.XCreateSimpleWindow(self.display, self.root, x, y, 200, 150, 0, 0, 0)
        self.x.XStoreName(self.display, window, title.encode())
        return window

    def show(self, window):
        self.x.XMapWindow(self.display, window)
        self.sync()

    def claim_process(self, window, process):
        """Writes a process of one's choice where programs customarily write their own."""
        self.x.XChangeProperty(self.display, window, self.atom("_NET_WM_PID"), self.atom("CARDINAL"), 32, 0, byref(c_ulong(process)), 1)
        self.sync()

    def minimize(self, window):
        self.x.XIconifyWindow(self.display, window, 0)
        self.sync()

    def destroy(self, window):
        self.x.XDestroyWindow(self.display, window)
        self.sync()

    def ask_manager(self, window, message, *data):
        """A request to the window manager, as pagers and panels make them."""
        event = Event()
        event.client.type = 33  # ClientMessage
        event.client.window = window
        event.client.message_type = self.atom(message)
        event.client.format = 32
        for place, value in enumerate(data):
            event.client.data[place] = value
        self.x.XSendEvent(self.display, self.root, 0, 1 << 19 | 1 << 20, byref(event))
        self.sync()

    def activate(self, window):
        self.ask_manager(window, "_NET_ACTIVE_WINDOW", 2, 0, 0)

    def fill_screen(self, window, on=True):
        self.ask_manager(window, "_NET_WM_STATE", int(on), self.atom("_NET_WM_STATE_FULLSCREEN"), 0, 1)

    def sync(self):
        self.x.XSync(self.display, 0)
