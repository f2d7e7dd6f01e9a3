"""Too many connections, and those that never become one."""
import contextlib, select, socket, time

from jeepney import DBusAddress

from harness import BROKER, App, wait_until
from rows import (ATTACKER, IDS, NEIGHBOUR, Bystanders, Child, Figure, attack, beside, descriptors, growth, latency, meanwhile, memory,
                  neighbour, timed, until)
from wire import call, connect, is_over, several


def connect_in_a_loop(path, seconds):
    """Connects and closes, as fast as one core can. How often it was tried and taken."""
    tried = taken = 0
    for _ in until(seconds):
        with socket.socket(socket.AF_UNIX) as peer:
            tried, taken = tried + 1, taken + (peer.connect_ex(str(path)) == 0)
    return [tried, taken]


def connects(path, seconds):
    """A client that connects, authenticates and goes, ten times a second: how long each took, in milliseconds."""
    taken = []
    for _ in until(seconds):
        taken.append(timed(lambda: connect(path).close())[1])
        time.sleep(0.1)
    return taken


def flooded(daemon, seconds, floods, own):
    """The figures of floods: those of their `own`, of what they return, and what others notice. Each is a user, a function and its
    arguments."""
    bystanders = Bystanders(daemon)
    before = descriptors(daemon) - len(bystanders.apps)
    with contextlib.ExitStack() as stack:
        calling = stack.enter_context(neighbour(daemon, seconds))
        time.sleep(0.5)  # It is connected; how long that takes is measured by the next.
        children = [stack.enter_context(Child(user, function, daemon.path, *arguments))
                    for user, function, *arguments in (*floods, (NEIGHBOUR, connects, seconds - 1))]
        *results, connected = [child.result(patience=seconds + 60) for child in children]
        calls = calling.result(patience=seconds + 60)
    yield from own(results)
    yield bystanders.disconnected()
    yield Figure("connections of a well-behaved client meanwhile", len(connected), least=1)
    yield Figure("the longest that one of them took until it was served", max(connected), "ms", most=1000)
    yield from beside(daemon, calls)
    wait_until("the descriptors to be given back", lambda: descriptors(daemon) <= before)


@attack("connect-flood", "a flood of connections costs nobody else an answer",
        "one user who connects and closes as fast as a core can, for 60 s (5 s in the short form)", 5, 60)
def connect_flood(daemon, seconds):
    def own(results):
        ((tried, taken),) = results
        yield Figure("connections tried", tried)
        yield Figure("of them taken", taken)

    yield from flooded(daemon, seconds, [(ATTACKER, connect_in_a_loop, seconds)], own)


def half_open(path, count, seconds):
    """Connections that never authenticate, kept up at that number; how many were begun, and how many the broker still
    had when the time was over."""
    peers = {}
    begun = 0
    poll = select.poll()
    for _ in until(seconds):
        while len(peers) < count:
            peer = socket.socket(socket.AF_UNIX)
            peer.setblocking(False)
            if peer.connect_ex(str(path)):
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
    return [begun, sum(not is_over(peer) for peer in peers.values())]


@attack("half-open", "at most 8 connections of a user, and 64 in all, are kept unauthenticated, and the oldest goes first",
        "1,000 half-open connections of one user and as many of eight subordinate ids, for 60 s (6 s in the short form)", 6, 60)
def half_open_flood(daemon, seconds):
    def own(results):
        yield Figure("half-open connections tried", sum(begun for begun, _ in results))
        yield Figure("of one user when it was over", results[0][1], most=8)
        yield Figure("of all when it was over", sum(left for _, left in results), most=64)

    yield from flooded(daemon, seconds, [(ATTACKER, half_open, 1000, seconds), *((user, half_open, 125, seconds) for user in IDS)], own)
    yield Figure("lines in the journal", daemon.log.read_text().count("\n"), most=10 * (seconds + 10))


def ended(peers):
    for peer in peers:
        peer.settimeout(0.2)
    return sum(map(is_over, peers))


def never_read(path, count, seconds):
    """Watchers that never read; how many of them the broker had ended when the time was over."""
    peers = [connect(path) for _ in range(count)]
    for peer in peers:
        peer.sendall(call("Watch", "b", True))
    time.sleep(seconds)
    return ended(peers)


def churn(address, seconds):
    """A user whose sessions come and go, which is news to those who watch; how many came."""
    app = App(address, "churn")
    count = 0
    for _ in until(seconds):
        app.session().call("Close")
        count += 1
    return count


@attack("never-read", "a client that does not read what it asked for is disconnected, and no other is",
        "32 watchers of one user that never read, while its own sessions come and go, for 20 s (5 s)", 5, 20)
def never_reading(daemon, seconds):
    bystanders = Bystanders(daemon)
    calls, cut, came = meanwhile(daemon, seconds - 1, (ATTACKER, never_read, daemon.path, 32, seconds),
                                 (ATTACKER, churn, daemon.address, seconds - 1))
    yield Figure("sessions that came and went", came)
    yield Figure("watchers that never read and were disconnected", cut, "of 32")
    yield bystanders.disconnected()
    yield from beside(daemon, calls)


def nonsense(path, seconds):
    """Connections that authenticate and say what is no D-Bus, as fast as they can; how many there were."""
    count = 0
    for _ in until(seconds):
        with contextlib.suppress(OSError, AssertionError), connect(path) as peer:
            peer.sendall(b"nonsense" * 8)
            peer.recv(1)
        count += 1
    return count


@attack("journal-flood", "a user causes a few lines a second in the journal, and is told how many more there were",
        "connections that say nonsense in a loop, of one user and of two other ids, for 5 s")
def journal_flood(daemon):
    count = sum(child.result() for child in [Child(user, nonsense, daemon.path, 5) for user in (ATTACKER, *IDS[:2])])
    said = [line for line in daemon.log.read_text().splitlines() if "disconnected process" in line]
    yield Figure("connections that failed", count, least=100)
    yield Figure("lines about them", len(said), most=40, least=1)
    yield Figure("lines that tell of others", sum("others like it" in line for line in said), least=1)


def add_rules(path, connections, rules, bytes):
    """Match rules without end, over connections that stay: how many these are, and how many rules were taken."""
    taken = 0
    bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
    peers = several(path, connections)
    for peer in peers:
        for number in range(rules):
            rule = f"path='/{number}/{'x' * (bytes - 30)}',member='M'"
            peer.sendall(call("AddMatch", "s", rule, at=bus, serial=number + 1))
            # One answer, at the least its beginning, which says what it is.
            taken += peer.recv(4096)[1] == 2
    time.sleep(2)
    return [len(peers), taken]


@attack("match-rules", "what a connection wants to hear takes little memory, and one that wants too much hears everything",
        "64 connections of one user with 300 rules of 1,000 bytes each, and then with 300 of 100,000 (8 with 300)", 8, 64)
def match_rules(daemon, connections):
    daemon.app().call(BROKER, "GetStatus")
    before = memory(daemon)
    for bytes, most in ((1_000, None), (100_000, 0)):
        with Child(ATTACKER, add_rules, daemon.path, connections, 300, bytes) as child:
            calls = neighbour(daemon, 2).result()
            count, taken = child.result(patience=300)
        yield Figure(f"rules of {bytes:,} bytes that were taken", taken, f"of {300 * count:,}", most=most)
        yield latency(calls)
    yield growth(daemon, before, 16)


def leave_unread(path, seconds, bytes):
    """Connections of this user, as many as it gets, each of which asks for so many bytes and reads none of them: how many there
    were, and how many of them the broker has ended."""
    introspect = call("Introspect", at=DBusAddress("/org/camarb/Shell1", "org.camarb", "org.freedesktop.DBus.Introspectable"))
    peers = several(path, 64)
    if not peers:
        return [0, 0]
    peers[0].sendall(introspect)
    for _ in range(bytes // len(peers[0].recv(1 << 20))):
        for peer in peers:
            with contextlib.suppress(OSError):
                peer.sendall(introspect)
        time.sleep(0.1)
    time.sleep(seconds)
    return [len(peers), ended(peers)]


@attack("unread-of-many", "what all clients together have not read is bounded, and who has left most goes first",
        "connections of 24 subordinate ids that ask for 500 KiB each, half of which the kernel has, and read nothing")
def unread_of_many(daemon):
    bystanders = Bystanders(daemon)
    before = memory(daemon)
    calls, *results = meanwhile(daemon, 7, *((user, leave_unread, daemon.path, 4, 500 << 10) for user in range(IDS[0], IDS[0] + 24)))
    yield Figure("connections that read nothing", sum(count for count, _ in results), least=206)
    yield Figure("of them disconnected", sum(cut for _, cut in results), least=1)
    yield bystanders.disconnected()
    yield latency(calls)
    # Each message that waits takes some hundred bytes besides.
    yield growth(daemon, before, 72)
