"""A broker that says what a test wants to be said, and remembers what it was told: the user's desktop is tried against it
without cameras, and with what no honest broker would send."""
import pathlib, shutil, tempfile

from jeepney import HeaderFields, MessageType, new_error, new_method_return, new_signal

from harness import SHELL, wait_until
from message_bus import Peers

STATUS = {
    "version": ("s", "0"), "policy": ("s", "a test's"), "degraded": ("s", ""), "presenceKnown": ("b", False), "unknown": ("as", []),
    "speakers": ("aa{sv}", []), "privacy": ("b", False), "asleep": ("b", False), "loginSessionsUnknown": ("s", ""),
    "loginSessions": ("aa{sv}", []), "pressure": ("s", "nominal"), "pressureSaid": ("s", "nominal"), "pressureMeasured": ("s", ""),
    "pressureWhy": ("s", ""), "pressureTrouble": ("s", ""), "budgets": ("aa{sv}", []), "moment": ("x", 0), "decision": ("t", 0),
    "moreSessions": ("b", False)}


def use(camera, name, holder="", own=False, recording=False, since=0, waiting=()):
    """One camera of ListUse; `waiting` are pairs of an app and since when, in microseconds."""
    return {"camera": ("s", camera), "name": ("s", name), "holder": ("s", holder), "own": ("b", own),
            "recording": ("b", recording), "since": ("x", since),
            "waiting": ("aa{sv}", [{"app": ("s", app), "since": ("x", since)} for app, since in waiting])}


def camera(id):
    return {"id": ("s", id), "name": ("s", "A camera"), "position": ("s", "front"), "present": ("b", True), "privacy": ("b", False),
            "generation": ("t", 1), "tenancy": ("s", "free"), "holder": ("s", ""), "session": ("t", 0), "waiting": ("as", []),
            "sharers": ("as", []), "outside": ("s", ""), "openIn": ("s", ""), "unwatched": ("s", ""), "bypass": ("s", "")}


class FalseBroker(Peers):
    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="camarb-false."))
        # The ids of its cameras, and what is called.
        self.use, self.private, self.cameras, self.calls = [], False, [], []
        # Methods that are refused; those that are answered later, and what waits for that.
        self.refuses, self.holds, self.held = set(), set(), []
        super().__init__(self.directory / "socket")

    def __exit__(self, *_):
        super().__exit__()
        shutil.rmtree(self.directory, ignore_errors=True)

    def heard(self, peer, message):
        if message.header.message_type is MessageType.method_call:
            answer = self.answer(message)
            if message.header.fields[HeaderFields.member] in self.holds:
                self.held.append((peer, answer))
            else:
                self.send(peer, answer)

    def answer(self, call):
        member = call.header.fields[HeaderFields.member]
        if call.header.fields.get(HeaderFields.interface) == "org.camarb.Shell1":
            self.calls.append((member, call.body))
        if member in self.refuses:
            return new_error(call, "org.camarb.Error.NotTrusted", "s", ("somebody else speaks",))
        if member == "ListClients":
            return new_method_return(call, "aa{sv}", ([],))
        if member == "ListUse":
            return new_method_return(call, "aa{sv}", (self.use,))
        if member == "GetStatus":
            return new_method_return(
                call, "a{sv}aa{sv}aa{sv}",
                ({**STATUS, "ownPrivacy": ("b", self.private)}, [camera(id) for id in self.cameras], []))
        if member == "SetOwnPrivacy":
            self.private = call.body[0]
        return new_method_return(call)

    # What happens, and what was said.

    def signal(self, member, signature=None, *body):
        for peer in list(self.peers):
            self.send(peer, new_signal(SHELL, member, signature, body))

    def release(self):
        self.holds = set()
        while self.held:
            self.send(*self.held.pop(0))

    def uses(self, *cameras):
        self.use = list(cameras)
        self.signal("UseChanged")

    def said(self, member):
        return [body for name, body in self.calls if name == member]

    def wait(self, member, body=None):
        """Until it was called, with these arguments if any are given."""
        return wait_until(f"{member}{body if body is not None else ''}; called were {sorted({n for n, _ in self.calls})}",
                          lambda: any(body is None or found == body for found in self.said(member)))
