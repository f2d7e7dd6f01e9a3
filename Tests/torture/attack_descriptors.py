"""Descriptors that hang whoever closes them, that come by the hundred, and with bytes where none belongs."""
import contextlib, os, signal, statistics, tempfile, time

from jeepney import DBusAddress

import slow_files, wire
from harness import PATIENCE, App, children_of, stat_of, wait_until
from rows import ATTACKER, NEIGHBOUR, Child, Figure, attack, beside, descriptors, neighbour, since, timed, until

SESSION = DBusAddress("/org/camarb/session/1", "org.camarb", "org.camarb.Session1")


def keepers(daemon):
    """The letters of what camarbd's keepers do, of those that have ended, too."""
    found = map(stat_of, filter(str.isdigit, os.listdir("/proc")))
    return [state for name, (state, *rest) in found if name == "camkeeper" and rest[0] == str(daemon.process.pid)]


def keeper_hangs(daemon):
    return "D" in keepers(daemon)


@contextlib.contextmanager
def hanging(daemon, function, *arguments):
    """An attack by which a keeper hangs, and goes on until the block ends or has touched the file that it is given with it."""
    seen = daemon.directory / f"seen-{time.monotonic_ns()}"
    with Child(ATTACKER, function, *arguments, seen) as attack:
        wait_until("a keeper to hang", lambda: keeper_hangs(daemon))
        yield attack, seen


def photos(address, count, seconds=0.0):
    """Takes photos into a file of its own, one after the other: how long each took in milliseconds, and the largest."""
    session = App(address, "camera").running()
    end = time.monotonic() + seconds
    taken, largest = [], 0
    with tempfile.NamedTemporaryFile() as file:
        while len(taken) < count or time.monotonic() < end:
            captured, took = timed(lambda: session.photo(file.name))
            assert captured[6] == "", captured
            taken.append(took)
            largest = max(largest, os.path.getsize(file.name))
            time.sleep(0.01)
    return [taken, largest]


def pass_slow_files(path, seconds, pause):
    """In an unknown method, in CapturePhoto and with bytes of no message, on one connection after the other: how many
    were passed. Ends with the server's end, which ends the waits."""
    file, slow = slow_files.that_hangs()
    passed = 0
    kinds = (wire.passing("NoSuchMethod", "h", slow), wire.passing("CapturePhoto", "ha{sv}", slow, {}, at=SESSION),
             (b"l", [slow]), (wire.header(100), [slow] * 3), (b"xx", [slow]))
    for _ in until(seconds):
        for data, some in kinds:
            with contextlib.suppress(OSError, AssertionError), wire.connect(path, patience=1.0) as peer:
                wire.send(peer, data, some)
                passed += len(some)
            time.sleep(pause)
    file.end()
    return passed


@attack("slow-files", "a file whose server does not answer holds up only the user who passed it",
        "one user who passes files of a FUSE mount of his own, that hang whoever closes them, for 20 s (4 s in the short form)", 4, 20,
        needs=slow_files.may_be_made, users=(NEIGHBOUR, ATTACKER))
def slow(daemon, seconds):
    before = descriptors(daemon)
    with Child(ATTACKER, pass_slow_files, daemon.path, seconds, 0.002) as attack:
        calls = neighbour(daemon, seconds - 1)
        taken, _ = Child(NEIGHBOUR, photos, daemon.address, 5, seconds - 2.0).result(patience=seconds + 60)
        heard = calls.result()
        yield Figure("photos of another user meanwhile", len(taken), least=5)
        yield Figure("the slowest of them", max(taken), "ms", most=1000)
        yield Figure("keepers that hang", keepers(daemon).count("D"), most=2, least=1)
        yield Figure("camarbd's descriptors beyond those before", descriptors(daemon) - before, most=40)
        passed = attack.result(patience=seconds + 60)
    yield Figure("files passed", passed, least=2)
    # The server is gone: what hung is over, and the user is served again.
    wait_until("the keeper that hung", lambda: not keeper_hangs(daemon))
    again, _ = Child(ATTACKER, photos, daemon.address, 1).result()
    yield Figure("photos of the attacker's user afterwards", len(again), least=1)
    yield from beside(daemon, heard)


def hang_and_wait(path, seen):
    file, slow = slow_files.that_hangs()
    peers = [wire.connect(path) for _ in range(2)]
    for peer, said in zip(peers, ((b"xx", [slow]), wire.passing("NoSuchMethod", "h", slow))):
        wire.send(peer, *said)
    # One of each is at a keeper; a third waits in a socket that nobody reads.
    file.end(seen)


@attack("end-beside-slow-files", "camarbd ends on SIGTERM even while closing files hangs",
        "files of a FUSE mount whose server does not answer, passed in two ways", needs=slow_files.may_be_made)
def end_beside(daemon):
    with hanging(daemon, hang_and_wait, daemon.path) as (attack, seen):
        begun = time.monotonic()
        daemon.process.send_signal(signal.SIGTERM)
        daemon.process.wait(timeout=PATIENCE)
        yield Figure("from SIGTERM to the end", since(begun), "ms", most=2000)
        seen.touch()
        attack.result()


def drop_slow_file(path, seen):
    """A socket in whose queue lies the last reference of a file comes with bytes that end the connection."""
    file, bag, _kept = slow_files.in_bag()
    peer = wire.connect(path, patience=5.0)
    wire.send(peer, b"xx", [bag.fileno()])
    bag.close()
    ended = wire.is_over(peer)
    time.sleep(2)
    file.end(seen)
    return ended


@attack("dropped-files", "a file that is dropped unread hangs nobody either",
        "a file with unwritten pages, of a FUSE mount whose server has stopped answering, in a socket that comes with nonsense",
        needs=slow_files.may_be_made)
def dropped(daemon):
    calls = neighbour(daemon, 4)
    with hanging(daemon, drop_slow_file, daemon.path) as (attack, seen):
        seen.touch()
        assert attack.result(), "the connection went on"
    yield from beside(daemon, calls.result())
    wait_until("the keeper to be back", lambda: not keeper_hangs(daemon))


def flood_halves(path, seconds):
    """Messages that never become whole: descriptors with each byte, as many as the kernel allows; and few, on as many
    connections as there may be. How many descriptors were sent."""
    file = os.open("/dev/null", os.O_WRONLY)
    data = wire.header(1000)
    sent = 0
    for _ in until(seconds):
        with contextlib.ExitStack() as peers, contextlib.suppress(OSError, AssertionError):
            for number in range(60):
                peer = peers.enter_context(wire.connect(path, patience=1.0))
                peer.setblocking(False)
                parts, many = ((16, 253), (1, 4))[number % 2]
                for at in range(parts):
                    sent += wire.send(peer, data[at:at + 1], [file] * many) * many
    return sent


@attack("half-messages", "descriptors of messages that never become whole are not kept",
        "one user who sends 253 descriptors with each byte of a message, and 4 with each of 30 half ones, for 20 s (4 s)",
        4, 20, users=(NEIGHBOUR, ATTACKER))
def halves(daemon, seconds):
    before = descriptors(daemon)
    most = before
    with Child(ATTACKER, flood_halves, daemon.path, seconds) as flood:
        calls = neighbour(daemon, seconds)
        for _ in until(seconds):
            most = max(most, descriptors(daemon))
            time.sleep(0.01)
        yield Figure("descriptors sent", flood.result(), least=1000)
    # Four a connection, 64 connections, and what messages and keepers take.
    yield Figure("camarbd's descriptors at most, beyond those before", most - before, most=64 * 4 + 160)
    wait_until("the descriptors to be given back", lambda: descriptors(daemon) <= before + 40)
    yield from beside(daemon, calls.result())


def photos_while_keepers_die(address, seconds):
    """Photos, on a new connection whenever the old one was cut: taken, and cut."""
    end = time.monotonic() + seconds
    taken = cut = 0
    while time.monotonic() < end:
        with contextlib.closing(App(address, "camera")) as app, tempfile.NamedTemporaryFile() as file:
            session = app.running()
            try:
                while time.monotonic() < end:
                    taken += session.photo(file.name)[6] == ""
            except (OSError, EOFError, AssertionError):
                cut += 1
    return [taken, cut]


@attack("killed-keepers", "the loss of a keeper costs the connection whose message it had, and nobody else anything",
        "SIGKILL of every keeper, 50 times (10) during a load of photos", 10, 50, users=(NEIGHBOUR, ATTACKER))
def killed(daemon, count):
    with Child(NEIGHBOUR, photos_while_keepers_die, daemon.address, count * 0.1 + 2) as camera:
        calls = neighbour(daemon, count * 0.1, user=NEIGHBOUR + 1)
        kills = 0
        for _ in range(count):
            time.sleep(0.1)
            for keeper in children_of(daemon.process.pid, "camkeeper"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(keeper, signal.SIGKILL)
                    kills += 1
        taken, cut = camera.result()
    yield Figure("keepers killed", kills, least=count // 2)
    yield Figure("photos taken", taken, least=count)
    yield Figure("connections cut", cut, most=kills)
    yield from beside(daemon, calls.result())
    wait_until("the ended keepers to be gone", lambda: "Z" not in keepers(daemon))


def recordings(address, count):
    session = App(address, "camera").running()
    taken = []
    for _ in range(count):
        with tempfile.NamedTemporaryFile() as file:
            recording, took = timed(lambda: session.record(file.name))
            taken.append(took)
            finished = session.finish(recording)
            assert finished[3] == "stopped", finished
    return taken


@attack("photos-and-recordings", "photos and recordings are as quick as their frames",
        "100 photos, then 100 recordings, of one client (20 each)", 20, 100, users=(NEIGHBOUR, ATTACKER))
def ordinary(daemon, count):
    taken, largest = Child(NEIGHBOUR, photos, daemon.address, count).result()
    yield Figure("median of a photo, from the call to the file", statistics.median(taken), "ms", most=1000)
    yield Figure("the largest file", largest, "bytes", least=1000)
    begun = Child(NEIGHBOUR, recordings, daemon.address, count).result()
    yield Figure("median of StartRecording", statistics.median(begun), "ms", most=1000)
