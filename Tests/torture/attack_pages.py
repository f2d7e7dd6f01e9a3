"""Who keeps others out of a page on the loopback without knowing its address."""
import time

import play
from harness import ROOT
from rows import ATTACKER, Child, Figure, percentile, row, timed

CONNECTIONS = 256


def crowd(port, seconds):
    """Holds every connection that there may be, without a word: how many it took."""
    with play.Crowd(port, CONNECTIONS) as held:
        time.sleep(seconds)
    return held.opened


@row("play-kept-busy", "who does not know the address of a policy play keeps nobody out who does",
     f"another user's {CONNECTIONS} silent connections, each renewed as soon as it is cut, for 20 s (3 s in the short form)", 3, 20)
def play_kept_busy(seconds):
    with play.Play(ROOT / "policies") as page:
        served, times = 0, []
        with Child(ATTACKER, crowd, page.port, seconds) as attack:
            # Its time counts from when all of it is there.
            while not attack.is_over():
                refused, took = timed(lambda: play.refuses(page))
                served += not refused
                times.append(took)
            opened = attack.result()
        assert page.process.poll() is None
        yield Figure("connections of the attacker", opened, least=CONNECTIONS + 1)
        yield Figure("pages served", served, f"of {len(times)}", least=len(times))
        yield Figure("p99 of a page", percentile(times, 0.99), "ms", most=1000)
