"""A message bus of a test's own, programs with a name on it that say what the test wants to be said, and sockets for peers."""
import contextlib, itertools, pathlib, select, shutil, socket, subprocess, tempfile, threading

from jeepney import DBusAddress, HeaderFields, MessageType, Parser, new_error, new_method_call, new_method_return, new_signal
from jeepney.io.blocking import open_dbus_connection

from harness import PATIENCE, listening, spawn, wait_until

BUS = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
CONFIGURATION = """<busconfig><listen>unix:path={path}</listen><auth>EXTERNAL</auth><policy context="default">
<allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/><allow user="*"/></policy></busconfig>"""


# As the system's bus is configured: who may have a name, and which calls it gets, its own file says.
SYSTEM = """<busconfig><listen>unix:path={path}</listen><auth>EXTERNAL</auth><policy context="default">
<allow user="*"/><deny own="*"/><deny send_type="method_call"/><allow send_type="signal"/>
<allow send_requested_reply="true" send_type="method_return"/><allow send_requested_reply="true" send_type="error"/>
<allow receive_type="method_call"/><allow receive_type="method_return"/><allow receive_type="error"/><allow receive_type="signal"/>
<allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus"/>
</policy><include>{policy}</include></busconfig>"""


class Bus:
    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="camarb-bus."))
        # Other users come in, too.
        self.directory.chmod(0o755)
        self.socket = self.directory / "bus"
        self.address = f"unix:path={self.socket}"
        self.process = None

    def start(self):
        configuration = self.directory / "bus.conf"
        configuration.write_text(self.configured())
        self.process = spawn("dbus-daemon", "--nofork", "--nopidfile", "--nosyslog", f"--config-file={configuration}",
                             stderr=subprocess.DEVNULL)
        wait_until("the bus to listen", self.listens)
        return self

    def configured(self):
        return CONFIGURATION.format(path=self.socket)

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


class SystemBus(Bus):
    """A bus with the system's rules, and with a package's for one name, in which `users` are called otherwise here."""

    def __init__(self, policy, users=()):
        super().__init__()
        self.policy = self.directory / "policy.conf"
        text = policy.read_text()
        for name, number in dict(users).items():
            text = text.replace(f'user="{name}"', f'user="{number}"')
        self.policy.write_text(text)

    def configured(self):
        return SYSTEM.format(path=self.socket, policy=self.policy)


class Service:
    """A program with a name on the bus. Its methods are `answer`'s; what arrives else is `heard`'s."""

    name = path = None

    def __init__(self, bus):
        self.connection = open_dbus_connection(bus=bus.address, enable_fds=True, auth_timeout=PATIENCE)
        self.lock = threading.Lock()
        # Methods that are answered with nonsense: a signature and a body.
        self.nonsense = {}
        # First: waiting for an answer, jeepney drops whatever else arrives, and as soon as the name is there calls do.
        self.begin()
        request = new_method_call(BUS, "RequestName", "su", (self.name, 0))
        assert self.connection.send_and_get_reply(request, timeout=PATIENCE).body == (1,), "the name is taken"
        self.ending = False
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def begin(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        self.ending = True
        self.thread.join()
        self.connection.close()

    def serve(self):
        while not self.ending:
            try:
                message = self.connection.receive(timeout=0.05)
            except TimeoutError:
                continue
            except (ConnectionError, OSError):
                return
            if message.header.message_type is MessageType.signal:
                self.heard(message.header.fields[HeaderFields.member], message.body)
            if message.header.message_type is not MessageType.method_call:
                continue
            member = message.header.fields[HeaderFields.member]
            try:
                answer = self.answer(member, message)
                if member in self.nonsense:
                    answer = new_method_return(message, *self.nonsense[member])
            except KeyError:
                answer = new_error(message, "org.freedesktop.DBus.Error.UnknownMethod", "s", (member,))
            self.send(answer)
            self.answered(member, message)

    def send(self, message):
        with self.lock:
            self.connection.send(message)

    def emit(self, member, signature, *body):
        self.send(new_signal(DBusAddress(self.path, interface=self.name), member, signature, body))

    def heard(self, member, body):
        pass

    def answered(self, member, call):
        pass


class Peers:
    """Listens for D-Bus clients without a bus between, lets everybody in, and hears what each says."""

    passes_files = True

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()
        self.start()

    def start(self):
        # What each has said that is not understood yet, until it has begun: then its parser.
        self.peers, self.ending, self.serials = {}, False, itertools.count(1)
        self.listener = listening(self.path)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def stop(self):
        self.ending = True
        self.thread.join()
        for one in (self.listener, *self.peers):
            one.close()
        self.peers = {}
        self.path.unlink(missing_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def serve(self):
        while not self.ending:
            for ready in select.select([self.listener, *self.sources(), *self.peers], [], [], 0.05)[0]:
                if ready is self.listener:
                    self.peers[self.listener.accept()[0]] = b""
                elif ready in self.peers:
                    self.read(ready)
                else:
                    self.came()

    def read(self, peer):
        data = b""
        with contextlib.suppress(OSError):
            data = peer.recv(65536)
        if not data:
            with self.lock:
                del self.peers[peer]
            peer.close()
            return
        if not isinstance(self.peers[peer], Parser):
            data = self.authenticate(peer, self.peers[peer] + data)
        if isinstance(self.peers[peer], Parser):
            for message in self.peers[peer].feed(data):
                self.heard(peer, message)

    def authenticate(self, peer, text):
        """Its part of the conversation: what is behind that."""
        while b"\r\n" in text:
            line, text = text.split(b"\r\n", 1)
            words = line.lstrip(b"\0").split()
            if words == [b"BEGIN"]:
                self.peers[peer] = Parser()
                return text
            # Some ask first without naming their user.
            peer.send({
                b"AUTH": b"OK 0123456789abcdef0123456789abcdef" if len(words) > 2 else b"DATA" if b"EXTERNAL" in words
                else b"REJECTED EXTERNAL", b"DATA": b"OK 0123456789abcdef0123456789abcdef",
                b"NEGOTIATE_UNIX_FD": b"AGREE_UNIX_FD" if self.passes_files else b"ERROR"}.get(words[0], b"ERROR") + b"\r\n")
        self.peers[peer] = text
        return b""

    def send(self, peer, message):
        with self.lock, contextlib.suppress(OSError):
            # One that has left meanwhile hears nothing.
            if peer in self.peers:
                peer.sendall(message.serialise(serial=next(self.serials)))

    def sources(self):
        """What else is listened to; when something comes there, `came` is called."""
        return []
