"""A logind that does what it is told, on a message bus of its own: what systemd-logind says, without a seat to sit at."""
import os, pathlib, select, shutil, socket, subprocess, tempfile, threading

from jeepney import DBusAddress, HeaderFields, MessageType, new_error, new_method_call, new_method_return, new_signal
from jeepney.io.blocking import open_dbus_connection

from harness import PATIENCE, die_with_parent, wait_until

NAME = "org.freedesktop.login1"
PATH = "/org/freedesktop/login1"
MANAGER = DBusAddress(PATH, interface=NAME + ".Manager")
PROPERTIES = "org.freedesktop.DBus.Properties"
BUS = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
CONFIGURATION = """<busconfig><listen>unix:path={path}</listen><auth>EXTERNAL</auth><policy context="default">
<allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/><allow user="*"/></policy></busconfig>"""


class Bus:
    """A dbus-daemon with a socket of its own."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="camarb-bus."))
        # Other users come in, too.
        self.directory.chmod(0o755)
        self.socket = self.directory / "bus"
        self.address = f"unix:path={self.socket}"
        self.process = None

    def start(self):
        configuration = self.directory / "bus.conf"
        configuration.write_text(CONFIGURATION.format(path=self.socket))
        self.process = subprocess.Popen(
            ["dbus-daemon", "--nofork", "--nopidfile", "--nosyslog", f"--config-file={configuration}"],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=die_with_parent)
        wait_until("the bus to listen", self.listens)
        return self

    def listens(self):
        """Its socket's file is there a moment before anybody can connect."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            return probe.connect_ex(str(self.socket)) == 0

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None
        self.socket.unlink(missing_ok=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)


class Logind:
    """The parts of org.freedesktop.login1 that camarbd reads, told by the test."""

    def __init__(self, bus, sessions=(), delay=5.0, asleep=False, refuses_inhibitors=False, busy_for=0):
        self.sessions = {}
        for id, user, fields in sessions:
            self.sessions[id] = {"User": user, "Seat": "seat0", "Remote": False, "Active": False, "LockedHint": False,
                                 **fields}
        self.delay, self.asleep, self.refuses_inhibitors = delay, asleep, refuses_inhibitors
        # So often it does not say which sessions there are.
        self.busy_for = busy_for
        # The read end of each inhibitor that was given away: at its end when nobody holds it any more.
        self.inhibitors = []
        self.connection = open_dbus_connection(bus=bus.address, enable_fds=True)
        self.lock = threading.Lock()
        request = new_method_call(BUS, "RequestName", "su", (NAME, 0))
        assert self.connection.send_and_get_reply(request, timeout=PATIENCE).body == (1,), "the name is taken"
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.ending = False
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """As when the service is stopped: its name has no owner any more."""
        self.ending = True
        self.thread.join()
        self.connection.close()
        for end in self.inhibitors:
            os.close(end)
        self.inhibitors = []

    def serve(self):
        while not self.ending:
            try:
                message = self.connection.receive(timeout=0.05)
            except TimeoutError:
                continue
            except (ConnectionError, OSError):
                return
            if message.header.message_type is MessageType.method_call:
                try:
                    answer = self.answer(message)
                except KeyError:
                    answer = new_error(message, "org.freedesktop.DBus.Error.UnknownObject", "s", ("no such thing",))
                self.send(answer)

    def send(self, message):
        with self.lock:
            self.connection.send(message)

    def answer(self, call):
        fields, body = call.header.fields, call.body
        member = fields[HeaderFields.member]
        if member == "ListSessions" and self.busy_for > 0:
            self.busy_for -= 1
            return new_error(call, "org.freedesktop.DBus.Error.LimitsExceeded", "s", ("too busy",))
        if member == "ListSessions":
            listed = [(id, s["User"], f"user{s['User']}", s["Seat"], self.path(id)) for id, s in self.sessions.items()]
            return new_method_return(call, "a(susso)", (listed,))
        if member == "Inhibit":
            if self.refuses_inhibitors:
                return new_error(call, "org.freedesktop.DBus.Error.AccessDenied", "s", ("Permission denied",))
            assert body[0] == "sleep" and body[3] == "delay", f"Inhibit{body}"
            read, write = os.pipe()
            answer = new_method_return(call, "h", (write,))
            self.send(answer)
            os.close(write)
            self.inhibitors.append(read)
            # Already sent; what is sent again has a serial of its own and answers nothing.
            return new_signal(MANAGER, "Nothing")
        if member == "Get" and body[1] == "InhibitDelayMaxUSec":
            return new_method_return(call, "v", (("t", int(self.delay * 1e6)),))
        if member == "Get" and body[1] == "PreparingForSleep":
            return new_method_return(call, "v", (("b", self.asleep),))
        if member == "GetAll":
            session = next(s for id, s in self.sessions.items() if self.path(id) == fields[HeaderFields.path])
            return new_method_return(call, "a{sv}", ({
                "User": ("(uo)", (session["User"], f"{PATH}/user/_{session['User']}")),
                "Seat": ("(so)", (session["Seat"], PATH + "/seat/" + (session["Seat"] or "none"))),
                "Remote": ("b", session["Remote"]), "Active": ("b", session["Active"]),
                "LockedHint": ("b", session["LockedHint"]), "Timestamp": ("t", 1), "Devices": ("as", ["none"]),
            },))
        raise KeyError(member)

    @staticmethod
    def path(id):
        """logind escapes a path's element that begins with a digit."""
        return f"{PATH}/session/_3{id}" if id[0].isdigit() else f"{PATH}/session/{id}"

    # What happens.

    def change(self, id, **properties):
        self.sessions[id].update(properties)
        self.send(new_signal(
            DBusAddress(self.path(id), interface=PROPERTIES), "PropertiesChanged", "sa{sv}as",
            (NAME + ".Session", {name: ("b", value) for name, value in properties.items()}, [])))

    def activate(self, id):
        """As `loginctl activate`: first the session that was active is not, then the other is."""
        for other, session in self.sessions.items():
            if other != id and session["Active"] and session["Seat"] == self.sessions[id]["Seat"]:
                self.change(other, Active=False)
        self.change(id, Active=True)

    def add(self, id, user, **fields):
        self.sessions[id] = {"User": user, "Seat": "seat0", "Remote": False, "Active": False, "LockedHint": False, **fields}
        self.send(new_signal(MANAGER, "SessionNew", "so", (id, self.path(id))))

    def remove(self, id):
        del self.sessions[id]
        self.send(new_signal(MANAGER, "SessionRemoved", "so", (id, self.path(id))))

    def prepare_for_sleep(self, asleep):
        self.asleep = asleep
        self.send(new_signal(MANAGER, "PrepareForSleep", "b", (asleep,)))

    def is_held(self, number):
        """Whether somebody holds the inhibitor of that number, the first is 0; waits until it has been asked for."""
        wait_until(f"inhibitor {number} to be asked for", lambda: len(self.inhibitors) > number)
        return not select.select([self.inhibitors[number]], [], [], 0)[0]
