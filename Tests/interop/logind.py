"""A logind that does what it is told, on a message bus of its own: what systemd-logind says, without a seat to sit at."""
import os, select

from jeepney import DBusAddress, HeaderFields, new_method_return, new_signal

from harness import wait_until
from message_bus import Service

NAME = "org.freedesktop.login1"
PATH = "/org/freedesktop/login1"
MANAGER = DBusAddress(PATH, interface=NAME + ".Manager")
PROPERTIES = "org.freedesktop.DBus.Properties"


class Logind(Service):
    """The parts of org.freedesktop.login1 that camarbd reads, told by the test."""

    name, path = NAME, PATH

    def __init__(self, bus, sessions=(), asleep=False):
        self.bus = bus
        self.sessions = {id: self.session(user, **fields) for id, user, fields in sessions}
        self.asleep = asleep
        # The read end of each inhibitor that was given away: at its end when nobody holds it any more.
        self.inhibitors = []
        # One that is being given away: both its ends.
        self.inhibitor = None
        super().__init__(bus)

    def end(self):
        """As when the service is stopped: its name has no owner any more."""
        super().end()
        for end in self.inhibitors:
            os.close(end)
        self.inhibitors = []

    def answer(self, member, call):
        body = call.body
        if member == "ListSessions":
            listed = [(id, s["User"], f"user{s['User']}", s["Seat"], self.path_of(id)) for id, s in self.sessions.items()]
            return new_method_return(call, "a(susso)", (listed,))
        if member == "Inhibit":
            assert body[0] == "sleep" and body[3] == "delay", f"Inhibit{body}"
            self.inhibitor = os.pipe()
            return new_method_return(call, "h", (self.inhibitor[1],))
        if member == "Get" and body[1] == "InhibitDelayMaxUSec":
            return new_method_return(call, "v", (("t", 5_000_000),))
        if member == "Get" and body[1] == "PreparingForSleep":
            return new_method_return(call, "v", (("b", self.asleep),))
        if member == "GetAll":
            session = {self.path_of(id): s for id, s in self.sessions.items()}[call.header.fields[HeaderFields.path]]
            return new_method_return(call, "a{sv}", ({
                "User": ("(uo)", (session["User"], f"{PATH}/user/_{session['User']}")),
                "Seat": ("(so)", (session["Seat"], PATH + "/seat/" + (session["Seat"] or "none"))),
                **{key: ("b", session[key]) for key in ("Remote", "Active", "LockedHint")},
                "Timestamp": ("t", 1), "Devices": ("as", ["none"])},))
        raise KeyError(member)

    def answered(self, member, call):
        # Only now: while it is being sent the test holds the other end, too.
        if self.inhibitor:
            read, write = self.inhibitor
            os.close(write)
            self.inhibitors.append(read)
            self.inhibitor = None

    @staticmethod
    def session(user, **fields):
        return {"User": user, "Seat": "seat0", "Remote": False, "Active": False, "LockedHint": False, **fields}

    @staticmethod
    def path_of(id):
        """logind escapes a path's element that begins with a digit."""
        return f"{PATH}/session/_3{id}" if id[0].isdigit() else f"{PATH}/session/{id}"

    # What happens.

    def change(self, id, **properties):
        self.sessions[id].update(properties)
        self.send(new_signal(
            DBusAddress(self.path_of(id), interface=PROPERTIES), "PropertiesChanged", "sa{sv}as",
            (NAME + ".Session", {name: ("b", value) for name, value in properties.items()}, [])))

    def activate(self, id):
        """As `loginctl activate`: first the session that was active is not, then the other is."""
        for other, session in self.sessions.items():
            if other != id and session["Active"] and session["Seat"] == self.sessions[id]["Seat"]:
                self.change(other, Active=False)
        self.change(id, Active=True)

    def add(self, id, user, **fields):
        self.sessions[id] = self.session(user, **fields)
        self.send(new_signal(MANAGER, "SessionNew", "so", (id, self.path_of(id))))

    def prepare_for_sleep(self, asleep):
        self.asleep = asleep
        self.send(new_signal(MANAGER, "PrepareForSleep", "b", (asleep,)))

    def is_held(self, number):
        """Whether somebody holds the inhibitor of that number, the first is 0; waits until it has been asked for."""
        wait_until(f"inhibitor {number} to be asked for", lambda: len(self.inhibitors) > number)
        return not select.select([self.inhibitors[number]], [], [], 0)[0]
