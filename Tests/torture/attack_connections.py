"""Too many connections, and those that never become one."""
import socket, time

from harness import wait_until
from rows import ATTACKER, Child, Figure, broker, descriptors, memory, neighbour, percentile, row


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
        before = descriptors(daemon)
        with Child(ATTACKER, connect_in_a_loop, daemon.path, seconds) as flood:
            calls = neighbour(daemon, seconds - 1).result(patience=seconds + 60)
            tried, taken = flood.result(patience=seconds + 60)
        yield Figure("connections tried", tried)
        yield Figure("of them taken", taken)
        yield Figure("p99 of a call beside it, idle", percentile(idle, 0.99), "ms")
        yield Figure("p99 of a call beside it", percentile(calls, 0.99), "ms", most=20)
        yield Figure("camarbd's memory at its peak", memory(daemon, "VmHWM"), "MiB", most=64)
        wait_until("the descriptors to be given back", lambda: descriptors(daemon) <= before)
