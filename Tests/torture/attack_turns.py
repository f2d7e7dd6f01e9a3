"""Many connections that never stop talking, and what somebody else's call waits for."""
import contextlib, json, time

from jeepney import new_method_call

from flooding import answers, flood
from harness import BROKER, App
from rows import ATTACKER, IDS, Bystanders, Child, Figure, beside, broker, neighbour, percentile, row


def flooded(daemon, users, seconds, connections, member, *arguments):
    """A neighbour's call, idle and beside flooders of these users; figures."""
    idle = neighbour(daemon, 2).result()
    bystanders = Bystanders(daemon)
    with contextlib.ExitStack() as stack:
        floods = [stack.enter_context(Child(user, flood, daemon.path, connections, seconds, member, *arguments))
                  for user in users]
        time.sleep(0.5)  # Into the flood: what comes before is not what is measured.
        calls = neighbour(daemon, seconds - 1).result(patience=seconds + 60)
        results = [child.result(patience=seconds + 60) for child in floods]
    yield Figure("connections that flooded", sum(opened for _, opened, _ in results), least=64)
    yield Figure("answers that they got", sum(bytes for bytes, _, _ in results) >> 10, "KiB", least=1)
    yield bystanders.disconnected()
    yield Figure("calls of the neighbour", len(calls), least=10)
    yield Figure("p50 of its call", percentile(calls, 0.5), "ms")
    yield from beside(daemon, calls, idle)


@row("flood-one-user", "a user who never stops calling makes nobody else wait",
     "eight flooders of one user with its 64 connections, for 60 s (5 s in the short form)")
def one_user(short):
    with broker() as daemon:
        # Each process has eight of them: together they are the user's 64.
        yield from flooded(daemon, [ATTACKER] * 8, 5 if short else 60, 8, "Watch", "b", False)


@row("flood-eight-ids", "all the user ids of one person, calling without end, make nobody else wait",
     "flooders of eight subordinate ids, each with the connections it gets, for 60 s (5 s in the short form)")
def eight_ids(short):
    with broker() as daemon:
        yield from flooded(daemon, IDS, 5 if short else 60, 64, "Watch", "b", False)


@row("flood-costly", "nobody else waits even when they ask for what costs most",
     "flooders of eight ids that ask for the status, for 60 s (5 s in the short form)")
def costly(short):
    with broker() as daemon:
        yield from flooded(daemon, IDS, 5 if short else 60, 64, "GetStatus")


@row("status-of-thousands", "a status of thousands of sessions is sent in pages, and nobody waits for other people's",
     "4,032 sessions of root's, and 64 connections of another user that ask for the status without end, for 20 s (5 s)")
def status_of_thousands(short):
    seconds = 5 if short else 20
    with broker() as daemon:
        held = [daemon.app() for _ in range(63)]
        for app in held:
            for _ in range(64):
                app.session()
        begun = time.monotonic()
        status = held[0].call(BROKER, "GetStatus", patience=60.0)
        took = (time.monotonic() - begun) * 1000
        assert len(status[2]) == 64 and status[0]["moreSessions"][1], "the first page is not one"
        yield Figure("the first page of a status takes, as its reader sees it", took, "ms")
        yield from flooded(daemon, [ATTACKER], seconds, 64, "GetStatus")


def plans(address, seconds):
    """Four plans of 16 KiB at a time, one behind the other, without end; how many were answered and refused."""
    app = App(address, "zoom")
    app.session()
    text = "start zoom\nstop zoom\n" * (16 * 1024 // 21)
    until = time.monotonic() + seconds
    answered, refused = 0, {}
    while time.monotonic() < until:
        for _ in range(4):
            app.connection.send(new_method_call(BROKER, "Plan", "s", (text,)),
                                serial=next(app.connection.outgoing_serial))
        some, why = answers(app, 4)
        answered += some
        for name, count in why.items():
            refused[name] = refused.get(name, 0) + count
    app.close()
    return [answered, refused]


@row("plans", "a plan is worked out beside the loop, in bounded time and one at a time",
     "four pipelined plans of 16 KiB without end, for 20 s (5 s)")
def plans_without_end(short):
    seconds = 5 if short else 20
    with broker() as daemon:
        idle = neighbour(daemon, 2).result()
        with Child(ATTACKER, plans, daemon.address, seconds) as child:
            calls = neighbour(daemon, seconds - 1).result(patience=seconds + 60)
            answered, refused = child.result(patience=seconds + 60)
        yield Figure("plans answered", answered)
        yield f"refused: {json.dumps(refused)}"
        yield Figure("plans answered or refused", answered + sum(refused.values()), least=4)
        yield from beside(daemon, calls, idle)
