"""org.camarb on the system bus: what anybody sees by it, and the connections that it gives."""
import array, contextlib, inspect, json, os, signal, socket, subprocess, time
from xml.etree import ElementTree

from jeepney import DBusAddress, HeaderFields, MatchRule, MessageType, Parser, new_error, new_method_call, new_method_return, new_signal
from jeepney.auth import BEGIN, Authenticator
from jeepney.fds import FileDescriptor
from jeepney.io.blocking import DBusConnection

import groups, shells
from harness import (BROKER, CAMERA, PATIENCE, PROGRAMS, ROOT, SHELL, App, Daemon, Folder, Speaking, children_of, claim, end, needs_root, plain, ran,
                     refused, spawn, wait_until)
from message_bus import BUS, Bus, Peers, SystemBus

NAME = "org.camarb"
# A bus lets in nobody without an account; every Debian has these: www-data, backup, nobody.
ALICE, BOB, BROKERS = 33, 34, 65534
POLICY = ROOT / "packaging" / "dbus" / "org.camarb.conf"
PROPERTIES = "org.freedesktop.DBus.Properties"
APPS = f"/user.slice/user-{ALICE}.slice/user@{ALICE}.service/app.slice"
MIRROR = f"{APPS}/app-gnome-mirror-1.scope"
FLATPAK = f"{APPS}/app-flatpak-org.example.Mirror-1.scope"

def opened(descriptor):
    """A library's usual dialogue, on a socket that it did not connect."""
    channel = socket.socket(fileno=descriptor)
    dialogue = Authenticator(enable_fds=True)
    for line in dialogue:
        channel.sendall(line)
        dialogue.feed(channel.recv(1024))
    channel.sendall(BEGIN)
    return DBusConnection(channel, enable_fds=True)


# A program of another user's, which does what it is told; it needs no file of the checkout.
CALLER = '''
import contextlib, json, os, socket, sys, time
from jeepney import DBusAddress, MessageType, new_method_call
from jeepney.auth import BEGIN, Authenticator
from jeepney.io.blocking import DBusConnection, open_dbus_connection
BROKER = DBusAddress("/org/camarb/Broker1", "org.camarb", "org.camarb.Broker1")
MANAGER = DBusAddress("/org/camarb", "org.camarb", "org.freedesktop.DBus.ObjectManager")

def say(**words):
    print(json.dumps(words), flush=True)

@OPENED@
def call(connection, at, member, signature=None, *body):
    answer = connection.send_and_get_reply(new_method_call(at, member, signature, body), timeout=20)
    if answer.header.message_type is MessageType.error:
        raise RuntimeError(answer.body[0])
    return answer.body

bus, held, own = None, [], []
for word in map(str.strip, sys.stdin):
    try:
        if word == "connect":
            bus = open_dbus_connection(bus=sys.argv[1], enable_fds=True, auth_timeout=20)
        elif word == "open":
            held.append(call(bus, BROKER, "OpenConnection")[0].to_raw_fd())
        elif word == "speak":
            own.append(opened(held.pop()))
        elif word == "session":
            path, = call(own[-1], BROKER, "CreateSession", "sa{sv}", "front", {})
            call(own[-1], DBusAddress(path, "org.camarb", "org.camarb.Session1"), "StartRunning")
        elif word.startswith("hand "):
            with socket.socket(socket.AF_UNIX) as other:
                other.connect(word[5:])
                socket.send_fds(other, [b"x"], [held[-1]])
            os.close(held.pop())
        elif word == "flood":
            count = {"sent": 0, "opened": 0, "refused": 0}
            until = time.monotonic() + 3
            while time.monotonic() < until:
                for _ in range(64):
                    bus.send(new_method_call(BROKER, "OpenConnection"))
                count["sent"] += 64
                with contextlib.suppress(TimeoutError):
                    while True:
                        answer = bus.receive(timeout=0)
                        if answer.header.message_type is MessageType.method_return:
                            answer.body[0].close()
                            count["opened"] += 1
                        elif answer.header.message_type is MessageType.error:
                            count["refused"] += 1
            say(**count)
        elif word == "pile":
            for _ in range(100):
                bus.send(new_method_call(MANAGER, "GetManagedObjects"))
            time.sleep(1)
            for _ in range(100):
                answer = bus.receive(timeout=20)
                while answer.header.message_type is MessageType.signal:
                    answer = bus.receive(timeout=20)
                assert answer.header.message_type is MessageType.method_return, answer.body
        elif word == "vanish":
            bus.send(new_method_call(BROKER, "OpenConnection"))
            os._exit(0)
        say(did=word)
    except Exception as error:
        say(did=word, error=str(error))
'''.replace("@OPENED@", inspect.getsource(opened))


class Caller(Speaking):
    """A process on the bus, which may be another user's, in a control group."""

    def __init__(self, address, user=None, group=None):
        super().__init__("/usr/bin/python3", "-c", CALLER, address, user=user)
        if group:
            groups.put(self.process.pid, group)
        self.does("connect")

    def does(self, word):
        self.tell(word)
        said = self.wait(lambda said: said["did"] == word)
        assert "error" not in said, said
        return self

    def is_refused(self, word, *sentence):
        self.tell(word)
        said = self.wait(lambda said: said["did"] == word)
        assert all(part in said.get("error", "") for part in sentence) and "error" in said, said


class Opened(App):
    """A client on the descriptor that OpenConnection gave."""

    connected = staticmethod(opened)


class Visitor(App):
    """A program on the bus itself."""

    def opens(self, name=None):
        return Opened(self.call(BROKER, "OpenConnection")[0].to_raw_fd(), name)

    def listens(self, **rule):
        self.call(BUS, "AddMatch", "s", MatchRule(type="signal", sender=NAME, **rule).serialise())
        return self


def broker(bus, *extra, claims=False, **options):
    """The system's broker, as far as a bus sees it."""
    return Daemon(system_bus=bus.address, claims=claims, extra=("--service", *extra), **options)


@contextlib.contextmanager
def on_bus(*extra, **options):
    """A system bus with the broker's name on it: the bus and the broker."""
    with SystemBus(POLICY, {"camarb": BROKERS}) as bus, broker(bus, *extra, **options) as daemon:
        has_name(bus)
        yield bus, daemon


def has_name(bus):
    with contextlib.closing(Visitor(bus.address)) as visitor:
        wait_until(f"{NAME} on the bus", lambda: visitor.call(BUS, "NameHasOwner", "s", NAME) == (True,))


def connections(daemon):
    """How many of each user's there are, without the one that asks."""
    with contextlib.closing(App(daemon.address)) as app:
        found = {entry["user"]: entry["used"] for entry in map(plain, app.status()["budgets"])
                 if entry["resource"] == "connections" and "user" in entry}
    found[0] -= 1
    return {user: used for user, used in found.items() if used}


def sessions(daemon):
    with contextlib.closing(App(daemon.address)) as app:
        return [plain(one) for one in app.call(BROKER, "GetStatus")[2]]


@claim("by the name on the system bus anybody sees cameras and status, as much as anybody may know, and changes nothing")
def read_only():
    needs_root()
    with on_bus() as (bus, daemon), groups.made(MIRROR), contextlib.closing(Visitor(bus.address)) as visitor:
        visitor.listens()
        broker, cameras, found = map(list, visitor.call(BROKER, "GetStatus"))
        assert plain(cameras[0])["id"] == CAMERA and not found, (cameras, found)
        manager = DBusAddress("/org/camarb", NAME, "org.freedesktop.DBus.ObjectManager")
        (objects,) = visitor.call(manager, "GetManagedObjects")
        assert set(objects) == {"/org/camarb/Broker1", f"/org/camarb/camera/{CAMERA}"}, set(objects)
        assert plain(objects[f"/org/camarb/camera/{CAMERA}"]["org.camarb.Camera1"])["Holder"] == ""

        # Root hears on the bus no more than anybody; on the socket it sees the name.
        with Caller(bus.address) as app:
            app.does("open").does("speak").does("session")
            assert visitor.wait("HolderChanged") == (CAMERA, "another user's app")
            visitor.wait("PropertiesChanged", lambda body: plain(body[1]).get("Holder") == "another user's app")
            (one,) = [plain(one) for one in visitor.call(BROKER, "GetStatus")[2]]
            assert one["state"] == "running" and "app" not in one or one["app"] in ("", "another user's app"), one
        assert visitor.wait("HolderChanged") == (CAMERA, "")

        for member, signature, *body in (("CreateSession", "sa{sv}", CAMERA, {}), ("Watch", "b", True), ("GetMetrics", None),
                                         ("DeclareClient", "a{sv}", {})):
            refused(lambda: visitor.call(BROKER, member, signature, *body), "only shows things", f"OpenConnection, and {member} on",
                    error="AccessDenied")
        refused(lambda: visitor.call(DBusAddress(SHELL.object_path, NAME, PROPERTIES), "GetAll", "s", ""), error="UnknownObject")
        refused(lambda: visitor.call(DBusAddress("/org/camarb/Broker1", NAME, PROPERTIES), "Set", "ssv", BROKER.interface, "Degraded",
                                     ("s", "yes")), error="PropertyReadOnly")
        # The socket has no use for it.
        with contextlib.closing(App(daemon.address)) as app:
            refused(lambda: app.call(BROKER, "OpenConnection"), "callers on the system bus", error="AccessDenied")


@claim("a connection that was opened by the system bus is as one to the socket: the caller's app, right and budget, in jeepney and in GLib")
def opened():
    needs_root()
    with on_bus(users=(ALICE,)) as (bus, daemon), groups.made(MIRROR), Caller(bus.address, ALICE, MIRROR) as mirror:
        mirror.does("open").does("speak").does("session")
        (one,) = sessions(daemon)
        # The bus of Debian 12 gives a number alone.
        assert one["app"] == "mirror" and one["state"] == "running" and one["weak"] == (not gives_processes(bus)), one
        assert connections(daemon) == {ALICE: 1}, connections(daemon)
        for _ in range(63):
            mirror.does("open")
        mirror.is_refused("open", f"User {ALICE} has 64 connections; a user may have 64")
        assert connections(daemon) == {ALICE: 64}, connections(daemon)
    with on_bus() as (bus, daemon):
        said = json.loads(ran("/usr/bin/python3", "-c", GLIB, bus.address).stdout)
        assert said["camera"] == CAMERA and "DidStartRunning" in said["told"], said


# GLib's own client, on the descriptor.
GLIB = '''
import json, sys
import gi
from gi.repository import Gio, GLib
FLAGS = Gio.DBusConnectionFlags
bus = Gio.DBusConnection.new_for_address_sync(
    sys.argv[1], FLAGS.AUTHENTICATION_CLIENT | FLAGS.MESSAGE_BUS_CONNECTION, None, None)
at = ("org.camarb", "/org/camarb/Broker1", "org.camarb.Broker1")
place, passed = bus.call_with_unix_fd_list_sync(*at, "OpenConnection", None, GLib.VariantType("(h)"), 0, 20000, None, None)
channel = Gio.Socket.new_from_fd(passed.get(place.unpack()[0]))
broker = Gio.DBusConnection.new_sync(channel.connection_factory_create_connection(), None, FLAGS.AUTHENTICATION_CLIENT, None, None)
cameras = broker.call_sync(*at, "GetStatus", None, None, 0, 20000, None).unpack()[1]
told, loop = [], GLib.MainLoop()

def heard(connection, sender, path, interface, member, body):
    told.append(member)
    if member == "DidStartRunning":
        loop.quit()

broker.signal_subscribe(None, "org.camarb.Session1", None, None, None, 0, heard)
path = broker.call_sync(*at, "CreateSession", GLib.Variant("(sa{sv})", ("", {})), None, 0, 20000, None).unpack()[0]
broker.call_sync(at[0], path, "org.camarb.Session1", "StartRunning", None, None, 0, 20000, None)
GLib.timeout_add_seconds(20, loop.quit)
loop.run()
print(json.dumps({"camera": cameras[0]["id"], "told": told}))
'''


def gives_processes(bus):
    """Whether a bus names a process itself (dbus 1.16), not its number alone."""
    with contextlib.closing(Visitor(bus.address)) as visitor:
        return "ProcessFD" in visitor.call(BUS, "GetConnectionCredentials", "s", visitor.connection.unique_name)[0]


@claim("whoever has the descriptor of OpenConnection, the client is the process that called, and its connection ends with that process")
def handed_on():
    needs_root()
    for weak in ((), ("--weak-identities",)):
        with on_bus(*weak, users=(ALICE, BOB)) as (bus, daemon), groups.made(MIRROR), Folder() as folder:
            folder.chmod(0o755)
            with socket.socket(socket.AF_UNIX) as listener, Caller(bus.address, ALICE, MIRROR) as mirror:
                listener.bind(str(folder / "hand"))
                (folder / "hand").chmod(0o666)
                listener.listen()
                mirror.does("open").does(f"hand {folder / 'hand'}")
                taker, _ = listener.accept()
                _, (descriptor,), _, _ = socket.recv_fds(taker, 1, 1)
                taker.close()
                # The dialogue names the user that the kernel has for whoever speaks, or nobody: it decides nothing.
                channel = socket.socket(fileno=descriptor)
                channel.settimeout(PATIENCE)
                channel.sendall(b"\0AUTH EXTERNAL 30\r\n")
                assert channel.recv(100).startswith(b"REJECTED"), "root's name was taken for Alice's process"
                channel.sendall(b"AUTH EXTERNAL\r\nDATA\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n")
                said = b""
                while said.count(b"\r\n") < 3:
                    said += channel.recv(100)
                channel.settimeout(None)
                app = App.__new__(App)
                app.connection, app.signals, app.seen, app.passed = DBusConnection(channel, enable_fds=True), [], 0, []
                app.running()
                (one,) = sessions(daemon)
                assert one["app"] == "mirror", one
                end(mirror.process, signal.SIGKILL)
                wait_until("the caller's connection to end", lambda: not connections(daemon))
                assert not sessions(daemon)
                app.close()


@claim("a caller of OpenConnection that ends at once leaves no connection, and no other process is taken for it")
def vanished():
    needs_root()
    for weak in ((), ("--weak-identities",)):
        with on_bus(*weak, users=(ALICE,)) as (bus, daemon):
            callers = [Caller(bus.address, ALICE) for _ in range(8)]
            with contextlib.ExitStack() as ending:
                for caller in callers:
                    ending.enter_context(caller)
                    caller.tell("vanish")
                for caller in callers:
                    caller.process.wait(timeout=PATIENCE)
            wait_until("no connection to be left", lambda: not connections(daemon))
            # One that stands still in the middle has ended by the time that its call is looked at.
            with Caller(bus.address, ALICE) as caller:
                daemon.process.send_signal(signal.SIGSTOP)
                caller.tell("vanish")
                caller.process.wait(timeout=PATIENCE)
                daemon.process.send_signal(signal.SIGCONT)
            with contextlib.closing(Visitor(bus.address)) as visitor:
                visitor.opens().close()
            wait_until("no connection to be left", lambda: not connections(daemon))


@claim("through xdg-dbus-proxy a program is the Flatpak app in whose scope the proxy runs, and one in no sandbox gets no connection")
def proxied():
    needs_root()
    scope = f"{APPS}/app-gnome-terminal-1.scope"
    with on_bus(users=(ALICE,)) as (bus, daemon), groups.made(FLATPAK, MIRROR, scope), Folder() as folder:
        os.chown(folder, ALICE, ALICE)

        @contextlib.contextmanager
        def proxy(group, *rules):
            path = folder / f"proxy-{len(rules)}"
            process = spawn("sh", "-c", 'read go; exec "$@"', "sh", "xdg-dbus-proxy", bus.address, path, "--filter", *rules,
                            user=ALICE, stdin=subprocess.PIPE)
            groups.put(process.pid, group)
            process.stdin.write(b"go\n")
            process.stdin.close()
            try:
                wait_until("the proxy to listen", path.exists)
                yield f"unix:path={path}"
            finally:
                end(process, signal.SIGKILL)
                path.unlink()

        # The program itself is in a group that would name it otherwise.
        with proxy(FLATPAK, f"--talk={NAME}") as address, Caller(address, ALICE, MIRROR) as app:
            app.does("open").does("speak").does("session")
            assert [one["app"] for one in sessions(daemon)] == ["org.example.Mirror"], sessions(daemon)
        wait_until("its connection to end with the proxy", lambda: not connections(daemon))
        with proxy(scope, f"--talk={NAME}") as address, Caller(address, ALICE, FLATPAK) as app:
            app.is_refused("open", "proxy in no app's sandbox")
        # Without the rule there is no such name.
        with proxy(FLATPAK) as address, Caller(address, ALICE) as app:
            app.is_refused("open")
        assert not connections(daemon), connections(daemon)


@claim("a flood of calls on the system bus keeps neither another caller there from its connection nor anybody from the socket")
def flood():
    needs_root()
    with on_bus(users=(ALICE,)) as (bus, daemon), Caller(bus.address, ALICE) as flooder, \
            contextlib.closing(Visitor(bus.address)) as calm, contextlib.closing(App(daemon.address)) as app:
        flooder.tell("flood")
        wait_until("a flood", lambda: ALICE in connections(daemon))
        slowest, over, rounds = {"socket": 0.0, "bus": 0.0}, time.monotonic() + 2, 0
        while time.monotonic() < over:
            for where, ask in (("socket", app.status), ("bus", lambda: calm.opens().close())):
                begun = time.monotonic()
                ask()
                slowest[where] = max(slowest[where], time.monotonic() - begun)
            rounds += 1
        count = flooder.wait(lambda said: "sent" in said)
        assert count["refused"] > 100 and rounds > 2, (count, rounds)
        wait_until("its connections to end", lambda: ALICE not in connections(daemon))
        # Long answers that nobody reads for a while go through the connection that all share.
        owner = calm.call(BUS, "GetNameOwner", "s", NAME)
        with Caller(bus.address, ALICE) as lazy:
            lazy.tell("pile")
            calm.opens().close()
            assert "error" not in lazy.wait(lambda said: said["did"] == "pile"), lazy.said
        assert calm.call(BUS, "GetNameOwner", "s", NAME) == owner, "the broker has lost its connection to the bus"
        return (f"{count['sent']} calls, {count['refused']} refused; meanwhile {rounds} others, at the slowest "
                f"{slowest['socket']:.2f} s on the socket and {slowest['bus']:.2f} s on the bus")


@claim("when the system bus ends connections that it gave go on, and the name is there again when the bus is; the journal says each once")
def restarted():
    with on_bus() as (bus, daemon), contextlib.closing(Visitor(bus.address)) as visitor:
        app = visitor.opens()
        _, session = app, app.running()
        bus.stop()
        app.status()
        wait_until("its end in the journal", lambda: "is not on the system bus" in daemon.log.read_text())
        bus.start()
        has_name(bus)
        with contextlib.closing(Visitor(bus.address)) as again:
            again.opens().close()
        session.stops()
        app.close()
        lines = [line for line in daemon.log.read_text().splitlines() if "system bus" in line and NAME in line]
        wait_until("its return in the journal", lambda: "is on the system bus again" in daemon.log.read_text())
        assert len([line for line in lines if "has ended the connection" in line]) == 1, lines


@claim("a user's own broker takes no name on the system bus, and a second broker of the system's gets it when the first has ended")
def whose():
    with SystemBus(POLICY, {"camarb": BROKERS}) as bus:
        with Daemon(system_bus=bus.address) as own, contextlib.closing(Visitor(bus.address)) as visitor:
            own.app("photos").status()
            assert visitor.call(BUS, "NameHasOwner", "s", NAME) == (False,)
        with broker(bus) as first:
            has_name(bus)
            with broker(bus) as second:
                wait_until("the second to say so", lambda: "another process has it" in second.log.read_text())
                end(first.process)
                wait_until("the second's name", lambda: "is on the system bus again" in second.log.read_text())


@claim("the bus gives the name to the broker's user and to root alone, and passes on to it nothing with a descriptor")
def ruled():
    needs_root()
    with SystemBus(POLICY, {"camarb": BROKERS}) as bus, broker(bus, user=BROKERS) as daemon:
        has_name(bus)
        with Caller(bus.address, ALICE) as caller:
            caller.does("open").does("speak")
        said = ran("busctl", f"--address={bus.address}", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus",
                   "org.freedesktop.DBus", "RequestName", "su", "org.camarb", "0", user=ALICE, status=None)
        assert said.returncode and "Access denied" in said.stderr, said
        with contextlib.closing(Visitor(bus.address)) as visitor, open("/dev/null") as file:
            refused(lambda: visitor.call(BROKER, "OpenConnection", "h", file), error="AccessDenied")
            (owner,) = visitor.call(BUS, "GetNameOwner", "s", NAME)
            read, write = os.pipe()
            hint(visitor, owner, write)
            # The bus has dropped it, and nobody had it.
            assert os.read(read, 1) == b""
            os.close(read)
            assert not children_of(daemon.process.pid, "camkeeper")


def hint(visitor, owner, descriptor):
    """A signal for one receiver, with a descriptor, which is the signal's alone then."""
    signal = new_signal(DBusAddress("/org/camarb", interface="org.example.Hint"), "Here", "h", (descriptor,))
    signal.header.fields[HeaderFields.destination] = owner
    visitor.connection.send(signal)
    os.close(descriptor)


@claim("of what strangers send over a bus no descriptor comes into camarbd, and a message of megabytes is passed over")
def strangers():
    with Bus() as bus, broker(bus) as daemon:
        has_name(bus)
        with contextlib.closing(Visitor(bus.address)) as visitor:
            (owner,) = visitor.call(BUS, "GetNameOwner", "s", NAME)
            # The broker's other connection to the bus, on which it hears from logind.
            others = [name for name in visitor.call(BUS, "ListNames")[0]
                      if name.startswith(":") and name not in (owner, visitor.connection.unique_name)]
            for receiver in (owner, *others):
                read, write = os.pipe()
                hint(visitor, receiver, write)
                assert os.read(read, 1) == b"", "somebody keeps what was passed"
                os.close(read)
            assert children_of(daemon.process.pid, "camkeeper"), "no keeper had it"
            for receiver in (owner, *others):
                signal = new_signal(DBusAddress("/org/camarb", interface="org.example.Hint"), "Here", "s", ("x" * (4 << 20),))
                signal.header.fields[HeaderFields.destination] = receiver
                visitor.connection.send(signal)
            visitor.opens().close()
            assert visitor.call(BUS, "GetNameOwner", "s", NAME) == (owner,), "it was disconnected"
        assert "has ended the connection" not in daemon.log.read_text(), daemon.said()


class FalseBus(Peers):
    """A bus that says of its callers what a test wants, to whoever has the name."""

    def __init__(self, path, credentials):
        # The answer to whoever asks for them; None: there is no answer, ever.
        self.credentials, self.answers, self.owner = credentials, {}, None
        super().__init__(path)

    def read(self, peer):
        if not isinstance(self.peers[peer], Parser):
            return super().read(peer)
        data, passed, _, _ = socket.recv_fds(peer, 65536, 8)
        if not data:
            del self.peers[peer]
            peer.close()
            return
        self.peers[peer].add_data(data, [FileDescriptor(number) for number in passed])
        while message := self.peers[peer].get_next_message():
            self.heard(peer, message)

    def heard(self, peer, message):
        fields = message.header.fields
        if message.header.message_type in (MessageType.method_return, MessageType.error):
            self.answers[fields[HeaderFields.reply_serial]] = message
            return
        member = fields.get(HeaderFields.member)
        reply = {"Hello": ("s", (":1.1",)), "RequestName": ("u", (1,)), "AddMatch": (None, ()), "NameHasOwner": ("b", (True,))}.get(member)
        if member == "RequestName":
            self.owner = peer
        if member == "GetConnectionCredentials":
            reply = self.credentials and ("a{sv}", (self.credentials,))
        if reply:
            answer, passed = new_method_return(message, *reply), array.array("i")
            answer.header.fields[HeaderFields.sender] = "org.freedesktop.DBus"
            with self.lock:
                socket.send_fds(peer, [answer.serialise(serial=next(self.serials), fds=passed)], passed)
        elif member == "GetNameOwner":
            self.send(peer, new_error(message, "org.freedesktop.DBus.Error.NameHasNoOwner", "s", ("Nobody.",)))

    def calls(self, member="OpenConnection", sender=":1.7"):
        """Calls the broker in somebody's name: the serial of the call."""
        wait_until("a broker with the name", lambda: self.owner)
        call = new_method_call(BROKER, member)
        call.header.fields[HeaderFields.sender] = sender
        serial = next(self.serials)
        with self.lock:
            self.owner.sendall(call.serialise(serial=serial))
        return serial

    def answer(self, serial):
        return wait_until("an answer", lambda: self.answers.get(serial))


@claim("where the bus names a process by a descriptor that process counts, whatever number comes with it, and none that has ended")
def by_descriptor():
    with Folder() as folder:
        sleeper = spawn("sleep", "1000")
        pidfd = os.pidfd_open(sleeper.pid)
        try:
            said = {"UnixUserID": ("u", os.geteuid()), "ProcessID": ("u", 1), "ProcessFD": ("h", pidfd), "UnixGroupIDs": ("au", [0, 7])}
            with FalseBus(folder / "bus", said) as bus, \
                    Daemon(system_bus=f"unix:path={folder / 'bus'}", extra=("--service",)) as daemon:
                assert bus.answer(bus.calls()).header.message_type is MessageType.method_return
                wait_until("its connection", lambda: connections(daemon))
                end(sleeper, signal.SIGKILL)
                wait_until("its end with the process", lambda: not connections(daemon))
                refusal = bus.answer(bus.calls())
                assert refusal.header.message_type is MessageType.error and "which process called" in refusal.body[0], refusal.body
        finally:
            os.close(pidfd)
            end(sleeper, signal.SIGKILL)


@claim("a bus that never says who calls costs its callers five seconds and nobody else a moment")
def silent():
    with Folder() as folder, FalseBus(folder / "bus", None) as bus, \
            Daemon(system_bus=f"unix:path={folder / 'bus'}", extra=("--service",)) as daemon:
        begun = time.monotonic()
        waiting = [bus.calls() for _ in range(2)]
        third = bus.answer(bus.calls())
        assert "2 calls of OpenConnection that wait" in third.body[0], third.body
        daemon.app("photos").running()
        for serial in waiting:
            refusal = bus.answer(serial)
            assert refusal.header.message_type is MessageType.error, refusal
        assert time.monotonic() - begun > 4.5


@claim("nobody gets a name from the broker's socket, and a name has an owner there only if somebody is called so")
def names():
    with Daemon() as daemon, contextlib.closing(App(daemon.address)) as app:
        own = app.connection.unique_name
        for name in (NAME, "org.example.Nobody", own):
            refused(lambda: app.call(BUS, "RequestName", "su", name, 4), "no bus on which a name could be had", error="AccessDenied")
        there = {NAME: ":1.0", ":1.0": ":1.0", "org.freedesktop.DBus": "org.freedesktop.DBus", own: own}
        for name, owner in there.items():
            assert app.call(BUS, "NameHasOwner", "s", name) == (True,) and app.call(BUS, "GetNameOwner", "s", name) == (owner,), name
            assert app.call(BUS, "ReleaseName", "s", name) == (3,) and app.call(BUS, "ListQueuedOwners", "s", name) == ([owner],), name
            assert app.call(BUS, "StartServiceByName", "su", name, 0) == (2,), name
        assert set(app.call(BUS, "ListNames")[0]) == set(there)
        for name in ("org.example.Nobody", ":1.99999", "org.freedesktop.login1"):
            assert app.call(BUS, "NameHasOwner", "s", name) == (False,) and app.call(BUS, "ReleaseName", "s", name) == (2,), name
            for member in ("GetNameOwner", "ListQueuedOwners", "GetConnectionUnixUser"):
                refused(lambda: app.call(BUS, member, "s", name), "Nobody here is called", error="NameHasNoOwner")


@claim("the files that describe the interfaces say word for word what Introspect says of them, and what each method is for")
def described():
    with Daemon() as daemon, contextlib.closing(App(daemon.address)) as app, Folder() as folder:
        shells.installed(folder)
        app.running()
        (session,) = [plain(one)["session"] for one in app.call(BROKER, "GetStatus")[2]]
        places = {"Broker1": "Broker1", "Shell1": "Shell1", "Camera1": f"camera/{CAMERA}", "Session1": f"session/{session}"}
        files = {file.name: file.read_text() for file in (folder / "usr/share/dbus-1/interfaces").iterdir()}
        known = ran(PROGRAMS / "camarbd", "--interface", "org.camarb.Nothing", status=2).stderr.partition("it takes ")[2]
        assert {f"{name}.xml" for name in known.strip().rstrip(".").split(", ")} == set(files), (known, set(files))
        assert set(files) == {f"org.camarb.{name}.xml" for name in places}, set(files)
        for name, place in places.items():
            file = files[f"org.camarb.{name}.xml"]
            (said,) = app.call(DBusAddress(f"/org/camarb/{place}", NAME, "org.freedesktop.DBus.Introspectable"), "Introspect")
            interface = file[file.index(" <interface"):file.index("</node>")]
            assert interface in said, f"{name} is described otherwise"
            for member in ElementTree.fromstring(file).iter():
                notes = {note.get("name"): note.get("value") for note in member.findall("annotation")}
                assert member.tag not in ("interface", "method", "signal", "property") or notes.get("org.gtk.GDBus.DocString"), member.attrib
