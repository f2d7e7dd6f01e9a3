"""A broker that says what a test wants to be said, and remembers what it was told: the user's desktop is tried against it
without cameras, and with what no honest broker would send."""
import pathlib, select, shutil, socket, tempfile, threading

from jeepney import HeaderFields, MessageType, Parser, new_error, new_method_return, new_signal

from harness import SHELL, wait_until

STATUS = {
    "version": ("s", "0"), "policy": ("s", "a test's"), "degraded": ("s", ""), "presenceKnown": ("b", False),
    "unknown": ("as", []), "speakers": ("aa{sv}", []), "privacy": ("b", False), "asleep": ("b", False),
    "loginSessionsUnknown": ("s", ""), "loginSessions": ("aa{sv}", []), "pressure": ("s", "nominal"),
    "pressureSaid": ("s", "nominal"), "pressureMeasured": ("s", ""), "pressureWhy": ("s", ""),
    "pressureTrouble": ("s", ""), "budgets": ("aa{sv}", []), "moment": ("x", 0), "decision": ("t", 0),
    "moreSessions": ("b", False),
}


def use(camera, name, holder="", own=False, recording=False, since=0, waiting=()):
    """One camera of ListUse; `waiting` are pairs of an app and since when, in microseconds."""
    return {"camera": ("s", camera), "name": ("s", name), "holder": ("s", holder), "own": ("b", own),
            "recording": ("b", recording), "since": ("x", since),
            "waiting": ("aa{sv}", [{"app": ("s", app), "since": ("x", since)} for app, since in waiting])}


def camera(id):
    """One camera of GetStatus."""
    return {"id": ("s", id), "name": ("s", "A camera"), "position": ("s", "front"), "present": ("b", True), "privacy": ("b", False),
            "generation": ("t", 1), "tenancy": ("s", "free"), "holder": ("s", ""), "session": ("t", 0), "waiting": ("as", []),
            "sharers": ("as", []), "outside": ("s", ""), "openIn": ("s", ""), "unwatched": ("s", ""), "bypass": ("s", "")}


class FalseBroker:
    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="camarb-false."))
        self.path = self.directory / "socket"
        self.use, self.private = [], False
        # The ids of its cameras.
        self.cameras = []
        # Methods that are refused.
        self.refuses = set()
        # Methods that are answered later, and what waits for that.
        self.holds, self.held = set(), []
        self.calls = []
        self.peers = {}
        self.lock = threading.Lock()
        self.start()

    def start(self):
        self.ending = False
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(self.path))
        self.listener.listen(8)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def stop(self):
        self.ending = True
        self.thread.join()
        for peer in list(self.peers):
            peer.close()
        self.peers = {}
        self.listener.close()
        self.path.unlink(missing_ok=True)

    def serve(self):
        while not self.ending:
            for ready in select.select([self.listener, *self.peers], [], [], 0.05)[0]:
                if ready is self.listener:
                    peer = self.listener.accept()[0]
                    self.peers[peer] = {"text": b"", "parser": None, "serial": 0}
                else:
                    self.read(ready)

    def read(self, peer):
        try:
            data = peer.recv(65536)
        except OSError:
            data = b""
        if not data:
            peer.close()
            with self.lock:
                del self.peers[peer]
            return
        state = self.peers[peer]
        if state["parser"] is None:
            data = self.authenticate(peer, state, data)
        if state["parser"] is not None:
            for message in state["parser"].feed(data):
                if message.header.message_type is MessageType.method_call:
                    answer = self.answer(message)
                    if message.header.fields[HeaderFields.member] in self.holds:
                        self.held.append((peer, answer))
                    else:
                        self.send(peer, answer)

    def authenticate(self, peer, state, data):
        """Everybody is let in. Returns what is behind the conversation."""
        state["text"] += data
        while b"\r\n" in state["text"]:
            line, state["text"] = state["text"].split(b"\r\n", 1)
            line = line.lstrip(b"\0")
            if line.startswith(b"AUTH"):
                # Some ask first without naming their user.
                peer.send(b"OK 0123456789abcdef0123456789abcdef\r\n" if len(line.split()) > 2 else b"DATA\r\n")
            elif line.startswith(b"DATA"):
                peer.send(b"OK 0123456789abcdef0123456789abcdef\r\n")
            elif line == b"NEGOTIATE_UNIX_FD":
                peer.send(b"AGREE_UNIX_FD\r\n")
            elif line == b"BEGIN":
                state["parser"] = Parser()
                return state["text"]
        return b""

    def send(self, peer, message):
        with self.lock:
            state = self.peers.get(peer)
            if state is None:
                return
            state["serial"] += 1
            try:
                peer.sendall(message.serialise(serial=state["serial"]))
            except OSError:
                pass

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
        """Gives the answers that were held."""
        self.holds = set()
        while self.held:
            self.send(*self.held.pop(0))

    def uses(self, *cameras):
        self.use = list(cameras)
        self.signal("UseChanged")

    def said(self, member):
        """The arguments of each call of that method so far."""
        return [body for name, body in self.calls if name == member]

    def wait(self, member, body=None):
        """Until it was called, with these arguments if any are given."""
        return wait_until(f"{member}{body if body is not None else ''}; called were {sorted({n for n, _ in self.calls})}",
                          lambda: any(body is None or found == body for found in self.said(member)))
