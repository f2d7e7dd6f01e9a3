"""Many connections that never stop talking, and what somebody else's call waits for."""
import collections, contextlib, json, select, time

from jeepney import new_method_call

from harness import BROKER, App
from rows import ATTACKER, IDS, Bystanders, Child, Figure, attack, beside, meanwhile, neighbour, until
from wire import answers, call, several


def flood(path, connections, seconds, member, *arguments):
    """Calls over many connections as fast as the broker reads, answers thrown away: how many bytes of answers came, and
    how many connections there were."""
    batch = call(member, *arguments) * 16
    peers = {peer.fileno(): (peer, bytearray()) for peer in several(path, connections)}
    opened, answered = len(peers), 0
    poll = select.poll()
    for number, (peer, _) in peers.items():
        peer.setblocking(False)
        poll.register(number, select.POLLIN | select.POLLOUT)
    for _ in until(seconds):
        for number, events in poll.poll(100):
            peer, unsent = peers[number]
            try:
                if events & select.POLLIN:
                    part = peer.recv(1 << 16)
                    if not part:
                        raise ConnectionResetError
                    answered += len(part)
                if events & select.POLLOUT:
                    if not unsent:
                        unsent += batch
                    del unsent[:peer.send(unsent)]
            except BlockingIOError:
                continue
            except OSError:
                poll.unregister(number)
                peers.pop(number)[0].close()
        if not peers:
            break
    return [answered, opened]


def flooded(daemon, seconds, users, connections, member, *arguments):
    """The figures of a neighbour's call beside flooders of these users."""
    bystanders = Bystanders(daemon)
    with contextlib.ExitStack() as stack:
        floods = [stack.enter_context(Child(user, flood, daemon.path, connections, seconds, member, *arguments)) for user in users]
        time.sleep(0.5)  # Into the flood: what comes before is not what is measured.
        calls = neighbour(daemon, seconds - 1).result(patience=seconds + 60)
        results = [child.result(patience=seconds + 60) for child in floods]
    yield Figure("connections that flooded", sum(opened for _, opened in results), least=64)
    yield Figure("answers that they got", sum(bytes for bytes, _ in results) >> 10, "KiB", least=1)
    yield bystanders.disconnected()
    yield Figure("calls of the neighbour", len(calls[0]), least=10)
    yield from beside(daemon, calls)


for name, promise, load, *how in (
        # Each process has eight of them: together they are the user's 64.
        ("flood-one-user", "a user who never stops calling makes nobody else wait",
         "eight flooders of one user with its 64 connections", [ATTACKER] * 8, 8, "Watch", "b", False),
        ("flood-eight-ids", "all the user ids of one person, calling without end, make nobody else wait",
         "flooders of eight subordinate ids, each with the connections it gets", IDS, 64, "Watch", "b", False),
        ("flood-costly", "nobody else waits even when they ask for what costs most",
         "flooders of eight ids that ask for the status", IDS, 64, "GetStatus")):
    attack(name, promise, f"{load}, for 60 s (5 s in the short form)", 5, 60)(
        lambda daemon, seconds, how=how: flooded(daemon, seconds, *how))


@attack("status-of-thousands", "a status of thousands of sessions is sent in pages, and nobody waits for other people's",
        "4,032 sessions of root's, and 64 connections of another user that ask for the status without end, for 20 s (5 s)", 5, 20)
def status_of_thousands(daemon, seconds):
    held = [daemon.app() for _ in range(63)]
    for app in held:
        for _ in range(64):
            app.session()
    status = held[0].call(BROKER, "GetStatus", patience=60.0)
    assert len(status[2]) == 64 and status[0]["moreSessions"][1], "the first page is not one"
    yield from flooded(daemon, seconds, [ATTACKER], 64, "GetStatus")


def plans(address, seconds):
    """Four plans of 16 KiB at a time, one behind the other, without end: what became of each four, by how often."""
    app = App(address, "zoom")
    app.session()
    text = "start zoom\nstop zoom\n" * (16 * 1024 // 21)
    fours = collections.Counter()
    for _ in until(seconds):
        for _ in range(4):
            app.connection.send(new_method_call(BROKER, "Plan", "s", (text,)), serial=next(app.connection.outgoing_serial))
        answered, refused = answers(app, 4, said=True)
        fours[json.dumps({"answered": answered, **refused}, sort_keys=True)] += 1
    return fours


# Why a plan may be refused: for the number of those before it, or for the time that it takes itself, when it was begun.
TOO_MANY = "org.camarb.Error.LimitExceeded: 2 plans or explanations of user "
TOO_LONG = "org.camarb.Error.LimitExceeded: The plan takes more than "


@attack("plans", "a plan is worked out beside the loop, in bounded time and one at a time",
        "four pipelined plans of 16 KiB without end, for 20 s (5 s)", 5, 20)
def plans_without_end(daemon, seconds):
    calls, fours = meanwhile(daemon, seconds - 1, (ATTACKER, plans, daemon.address, seconds))
    became = [(json.loads(four), count) for four, count in fours.items()]
    begun = [(sum(many for what, many in four.items() if what.startswith(("answered", TOO_LONG))), count) for four, count in became]
    others = {what for four, _ in became for what in four if not what.startswith(("answered", TOO_LONG, TOO_MANY))}
    yield Figure("plans worked out, or given up for their time", sum(some * count for some, count in begun), least=4)
    # As many as one user may have waiting.
    yield Figure("of any four that were asked at once", min(some for some, _ in begun), least=2)
    yield Figure(f"other errors, {sorted(others)}", len(others), most=0)
    yield from beside(daemon, calls)
