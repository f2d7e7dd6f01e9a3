"""Too many connections, and those that never become one."""
import contextlib, errno, select, socket, time

from jeepney import DBusAddress

from flooding import call, raw
from harness import BROKER, App, wait_until
from rows import (ATTACKER, IDS, NEIGHBOUR, Bystanders, Child, Figure, beside, broker, descriptors, latency, memory, neighbour,
                  row)


def connect_in_a_loop(path, seconds):
    """As fast as one core can; how often it was tried, and how often it was taken."""
    until = time.monotonic() + seconds
    tried = taken = 0
    while time.monotonic() < until:
        tried += 1
        with socket.socket(socket.AF_UNIX) as peer:
            try:
                peer.connect(str(path))
                taken += 1
            except OSError:
                pass
    return [tried, taken]


@row("connect-flood", "a flood of connections costs nobody else an answer",
     "one user who connects and closes as fast as a core can, for 60 s (5 s in the short form)")
def connect_flood(short):
    seconds = 5 if short else 60
    with broker() as daemon:
        idle = neighbour(daemon, 2).result()
        bystanders = Bystanders(daemon)
        before = descriptors(daemon) - len(bystanders.apps)
        with contextlib.ExitStack() as stack:
            calling = stack.enter_context(neighbour(daemon, seconds))
            time.sleep(0.5)  # It is connected; how long that takes is measured by the next.
            flood = stack.enter_context(Child(ATTACKER, connect_in_a_loop, daemon.path, seconds))
            connecting = stack.enter_context(Child(NEIGHBOUR, connects, daemon.path, seconds - 1))
            hurrying = stack.enter_context(Child(NEIGHBOUR, hurries, daemon.path, seconds - 1))
            connected = connecting.result(patience=seconds + 60)
            hurried, refused = hurrying.result(patience=seconds + 60)
            calls = calling.result(patience=seconds + 60)
            tried, taken = flood.result(patience=seconds + 60)
        yield Figure("connections tried", tried)
        yield Figure("of them taken", taken)
        yield bystanders.disconnected()
        yield from connections(connected)
        # The kernel's word, before the broker hears of it: its queue is full at that moment.
        yield Figure("connections of one that does not wait for a place in the queue", hurried)
        yield Figure("of them refused by the kernel", refused)
        yield from beside(daemon, calls, idle)
        wait_until("the descriptors to be given back", lambda: descriptors(daemon) <= before)


def half_open(path, count, seconds):
    """Connections that never authenticate, kept up at that number; how many were begun, and how many the broker still
    had when the time was over."""
    until = time.monotonic() + seconds
    peers = {}
    begun = 0
    poll = select.poll()
    while time.monotonic() < until:
        while len(peers) < count:
            peer = socket.socket(socket.AF_UNIX)
            peer.setblocking(False)
            try:
                peer.connect(str(path))
            except OSError:
                peer.close()
                break
            peers[peer.fileno()] = peer
            poll.register(peer, select.POLLRDHUP)
            begun += 1
        for number, _ in poll.poll(100):
            poll.unregister(number)
            peers.pop(number).close()
        # The attacker's own work is not what is measured.
        time.sleep(0.1)
    time.sleep(0.5)
    return [begun, sum(not is_closed(peer) for peer in peers.values())]


def connects(path, seconds):
    """A client that connects, authenticates and goes, ten times a second: how long each took, in milliseconds."""
    until = time.monotonic() + seconds
    taken = []
    while time.monotonic() < until:
        begun = time.monotonic()
        raw(path).close()
        taken.append((time.monotonic() - begun) * 1000)
        time.sleep(0.1)
    return taken


def hurries(path, seconds):
    """The same with sockets that do not wait in `connect`: how often it was tried, and how often there was no place."""
    until = time.monotonic() + seconds
    tried = refused = 0
    while time.monotonic() < until:
        tried += 1
        with socket.socket(socket.AF_UNIX) as peer:
            peer.setblocking(False)
            refused += peer.connect_ex(str(path)) == errno.EAGAIN
        time.sleep(0.1)
    return [tried, refused]


def connections(taken):
    yield Figure("connections of a well-behaved client meanwhile", len(taken), least=1)
    yield Figure("the longest that one of them took until it was served", max(taken), "ms", most=1000)


def is_closed(peer):
    try:
        return peer.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@row("half-open", "at most 8 connections of a user, and 64 in all, are kept unauthenticated, and the oldest goes first",
     "1,000 half-open connections of one user and as many of eight subordinate ids, for 60 s (6 s in the short form)")
def half_open_flood(short):
    seconds = 6 if short else 60
    with broker() as daemon:
        idle = neighbour(daemon, 2).result()
        bystanders = Bystanders(daemon)
        before = descriptors(daemon) - len(bystanders.apps)
        with contextlib.ExitStack() as stack:
            calling = stack.enter_context(neighbour(daemon, seconds))
            time.sleep(0.5)  # It is connected; how long that takes is measured by the next.
            one = stack.enter_context(Child(ATTACKER, half_open, daemon.path, 1000, seconds))
            ids = [stack.enter_context(Child(user, half_open, daemon.path, 125, seconds)) for user in IDS]
            connecting = stack.enter_context(Child(NEIGHBOUR, connects, daemon.path, seconds - 1))
            connected = connecting.result(patience=seconds + 60)
            calls = calling.result(patience=seconds + 60)
            results = [child.result(patience=seconds + 60) for child in (one, *ids)]
        yield Figure("half-open connections tried", sum(begun for begun, _ in results))
        yield Figure("of one user when it was over", results[0][1], most=8)
        yield Figure("of all when it was over", sum(left for _, left in results), most=64)
        yield bystanders.disconnected()
        yield from connections(connected)
        yield from beside(daemon, calls, idle)
        lines = daemon.log.read_text().count("\n")
        yield Figure("lines in the journal", lines, most=10 * (seconds + 10))
        wait_until("the descriptors to be given back", lambda: descriptors(daemon) <= before)


def never_read(path, count, seconds):
    """Watchers that never read; how many the broker still had when the time was over."""
    peers = []
    for _ in range(count):
        peer = raw(path)
        peer.sendall(call("Watch", "b", True))
        peers.append(peer)
    time.sleep(seconds)
    ended = 0
    for peer in peers:
        peer.settimeout(0.2)
        try:
            while peer.recv(1 << 16):
                pass
            ended += 1
        except TimeoutError:
            pass
        except OSError:
            ended += 1
    return [count, ended]


def churn(address, seconds):
    """A user whose sessions come and go, which is news to those who watch; how many came."""
    app = App(address, "churn")
    until = time.monotonic() + seconds
    count = 0
    while time.monotonic() < until:
        app.session().call("Close")
        count += 1
    app.close()
    return count


@row("never-read", "a client that does not read what it asked for is disconnected, and no other is",
     "32 watchers of one user that never read, while its own sessions come and go, for 20 s (5 s)")
def never_reading(short):
    seconds = 5 if short else 20
    with broker() as daemon:
        idle = neighbour(daemon, 2).result()
        bystanders = Bystanders(daemon)
        with Child(ATTACKER, never_read, daemon.path, 32, seconds) as watchers, \
                Child(ATTACKER, churn, daemon.address, seconds - 1) as source:
            calls = neighbour(daemon, seconds - 1).result(patience=seconds + 60)
            came = source.result(patience=60)
            count, ended = watchers.result(patience=120)
        yield Figure("sessions that came and went", came)
        yield Figure("watchers that never read", count)
        yield Figure("of them disconnected", ended)
        yield bystanders.disconnected()
        yield from beside(daemon, calls, idle)


def nonsense(path, seconds):
    """Connections that authenticate and say what is no D-Bus, as fast as they can; how many there were."""
    until = time.monotonic() + seconds
    count = 0
    while time.monotonic() < until:
        try:
            peer = raw(path)
            peer.sendall(b"nonsense" * 8)
            peer.recv(1)
        except (OSError, AssertionError):
            pass
        count += 1
        peer.close()
    return count


@row("journal-flood", "a user causes a few lines a second in the journal, and is told how many more there were",
     "connections that say nonsense in a loop, of one user and of two other ids, for 5 s")
def journal_flood(short):
    with broker() as daemon:
        with contextlib.ExitStack() as stack:
            children = [stack.enter_context(Child(user, nonsense, daemon.path, 5)) for user in (ATTACKER, *IDS[:2])]
            count = sum(child.result(patience=60) for child in children)
        said = [line for line in daemon.log.read_text().splitlines() if "disconnected process" in line]
        yield Figure("connections that failed", count, least=100)
        yield Figure("lines about them", len(said), most=40, least=1)
        yield Figure("lines that tell of others", sum("others like it" in line for line in said), least=1)


def add_rules(path, connections, rules, bytes):
    """Match rules without end, over connections that stay: how many were taken, and the last refusal's name."""
    peers, taken, refused = [], 0, 0
    bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
    for _ in range(connections):
        try:
            peer = raw(path)
        except (OSError, AssertionError):
            break
        peers.append(peer)
        for number in range(rules):
            rule = f"path='/{number}/{'x' * (bytes - 30)}',member='M'"
            peer.sendall(call("AddMatch", "s", rule, at=bus, serial=number + 1))
            # One answer, at the least its beginning, which says what it is.
            kind = peer.recv(4096)[1]
            taken += kind == 2
            refused += kind == 3
    time.sleep(2)
    return [len(peers), taken, refused]


@row("match-rules", "what a connection wants to hear takes little memory, and one that wants too much hears everything",
     "64 connections of one user with 300 rules of 1,000 bytes each, and then with 300 of 100,000 (8 with 300)")
def match_rules(short):
    with broker() as daemon:
        daemon.app().call(BROKER, "GetStatus")
        before = memory(daemon)
        connections = 8 if short else 64
        for bytes, most in ((1_000, None), (100_000, 0)):
            with Child(ATTACKER, add_rules, daemon.path, connections, 300, bytes) as child:
                calls = neighbour(daemon, 2).result()
                count, taken, refused = child.result(patience=300)
            yield Figure(f"rules of {bytes:,} bytes that were taken", taken, f"of {300 * count:,}", most=most)
            yield latency(calls)
        yield Figure("camarbd's memory at its peak, above what it was", memory(daemon, "VmHWM") - before, "MiB", most=16)


def leave_unread(path, seconds, bytes):
    """Connections of this user, as many as it gets, each of which asks for so many bytes and reads none of them: how many there
    were, and how many of them the broker has ended."""
    introspect = DBusAddress("/org/camarb/Shell1", "org.camarb", "org.freedesktop.DBus.Introspectable")
    peers = []
    for _ in range(64):
        try:
            peers.append(raw(path))
        except (OSError, AssertionError):
            break
    if not peers:
        return [0, 0]
    peers[0].sendall(call("Introspect", at=introspect))
    length = len(peers[0].recv(1 << 20))
    for _ in range(bytes // length):
        for peer in peers:
            try:
                peer.sendall(call("Introspect", at=introspect))
            except OSError:
                pass
        time.sleep(0.1)
    time.sleep(seconds)
    ended = 0
    for peer in peers:
        peer.settimeout(0.2)
        try:
            while peer.recv(1 << 16):
                pass
            ended += 1
        except TimeoutError:
            pass
        except OSError:
            ended += 1
    return [len(peers), ended]


@row("unread-of-many", "what all clients together have not read is bounded, and who has left most goes first",
     "connections of 24 subordinate ids that ask for 460 KiB each, half of which the kernel has, and read nothing")
def unread_of_many(short):
    with broker() as daemon:
        idle = neighbour(daemon, 1).result()
        bystanders = Bystanders(daemon)
        before = memory(daemon)
        with contextlib.ExitStack() as stack:
            children = [stack.enter_context(Child(user, leave_unread, daemon.path, 4, 460 << 10))
                        for user in range(IDS[0], IDS[0] + 24)]
            calls = neighbour(daemon, 7).result()
            results = [child.result(patience=120) for child in children]
        yield Figure("connections that read nothing", sum(count for count, _ in results), least=206)
        yield Figure("of them disconnected", sum(ended for _, ended in results), least=1)
        yield bystanders.disconnected()
        yield latency(idle, idle=True)
        yield latency(calls)
        # Each message that waits takes some hundred bytes besides.
        yield Figure("camarbd's memory at its peak, above what it was", memory(daemon, "VmHWM") - before, "MiB", most=72)
