"""Messages that are too long, never whole, or sent a byte at a time."""
import contextlib, itertools, os, socket, time

import wire
from harness import wait_until
from rows import ATTACKER, Figure, attack, beside, descriptors, meanwhile, memory, neighbour, until


def claim_much(path, seconds):
    """Headers that claim 128 MiB and more, with as many bytes behind them as are taken: messages begun, and bytes sent."""
    part = b"\0" * 65536
    begun = sent = 0
    for _ in until(seconds):
        for body in (128 << 20, 100 << 20, (128 << 10) + 1, 0xffffffff):
            for order in "<>":
                with contextlib.suppress(OSError, AssertionError), wire.connect(path, patience=2.0) as peer:
                    wire.send(peer, wire.header(body, order))
                    begun += 1
                    while sent < 1 << 34:
                        sent += peer.send(part)
    return [begun, sent]


@attack("long-messages", "a message that is too long takes neither memory nor time",
        "one user whose headers claim 128 KiB and a byte to 4 GiB, with all the bytes behind them that are taken, for 20 s (4 s)", 4, 20)
def long(daemon, seconds):
    calls, (begun, sent) = meanwhile(daemon, seconds - 1, (ATTACKER, claim_much, daemon.path, seconds))
    yield Figure("messages begun", begun, least=10)
    yield Figure("bytes that were taken of each, its connection's buffer included", sent // begun, most=512 << 10)
    yield from beside(daemon, calls)


def stop_short(path, connections, count):
    """Messages of the greatest length that end one byte short, on as many connections: how long each lived, in seconds."""
    begun = time.monotonic()
    peers = [wire.connect(path, patience=30.0) for _ in range(connections)]
    for peer in peers:
        peer.sendall(wire.header(count - 24) + b"\0" * (count - 17))
    taken = []
    for peer in peers:
        assert wire.is_over(peer), "it was waited for without end"
        taken.append(time.monotonic() - begun)
    return taken


def trickle(path, connections, seconds):
    """A byte now and then, on as many connections: how many were ended."""
    peers = [wire.connect(path, patience=1.0) for _ in range(connections)]
    data = wire.call("Watch", "b", False)
    for at, _ in zip(range(len(data) - 1), until(seconds)):
        for peer in list(peers):
            try:
                peer.send(data[at:at + 1])
            except OSError:
                peers.remove(peer)
        time.sleep(0.1)
        if not peers:
            break
    return connections - len(peers)


@attack("messages-that-stop", "a message that is not whole after 10 s ends its connection, and what it took is given back",
        "30 messages of 128 KiB that end one byte short, and 30 calls of which a byte comes every tenth of a second")
def stops(daemon):
    wait_until("an answer", lambda: neighbour(daemon, 0.1).result())
    before, rest = descriptors(daemon), memory(daemon)
    calls, lived, ended = meanwhile(daemon, 9, (ATTACKER, stop_short, daemon.path, 30, 128 << 10), (ATTACKER, trickle, daemon.path, 30, 14))
    yield Figure("the shortest life of one that stopped", min(lived), "s", least=9)
    yield Figure("the longest", max(lived), "s", most=14)
    yield Figure("slow ones that were ended", ended, least=30, most=30)
    yield from beside(daemon, calls)
    wait_until("the descriptors to be given back", lambda: descriptors(daemon) <= before)
    yield Figure("camarbd's memory beyond what it was", memory(daemon) - rest, "MiB", most=8)


def speak_nonsense(path, seconds):
    hello = b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n"
    texts = (b"GET / HTTP/1.1\r\n\r\n", b"\0" + b"A" * 70_000, b"\0" + b"AUTH\r\n" * 5000, b"\0AUTH EXTERNAL 30\r\nBEGIN\r\n",
             b"\0AUTH ANONYMOUS\r\nBEGIN\r\n" + b"l" * 100, hello + b"BEGIN\r\n" + b"l\1\0\1" + b"\0" * 20,
             hello + b"BEGIN\r\n" + b"\xff" * 100, hello + b"BEGIN\r\n" + wire.call("Watch", "b", False)[:-1] + b"?" * 40, hello * 40)
    spoken = 0
    file = os.open("/dev/null", os.O_WRONLY)
    for _ in until(seconds):
        for text, some in itertools.product(texts, ((), (file,))):
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as peer:
                peer.settimeout(1.0)
                peer.connect(str(path))
                wire.send(peer, text[:1000], some)
                peer.sendall(text[1000:])
                wire.send(peer, b"x", (file,), socket.MSG_OOB)
            spoken += 1
    return spoken


@attack("nonsense", "what is no D-Bus ends its own connection",
        "one user that says everything else, with and without descriptors and urgent bytes, for 20 s (3 s)", 3, 20)
def nonsense(daemon, seconds):
    before = descriptors(daemon)
    calls, spoken = meanwhile(daemon, seconds - 1, (ATTACKER, speak_nonsense, daemon.path, seconds))
    yield Figure("connections", spoken, least=100)
    yield from beside(daemon, calls)
    wait_until("the descriptors to be given back", lambda: descriptors(daemon) <= before + 40)
