"""Descriptors that hang whoever closes them, that come by the hundred, and with bytes where none belongs."""
import mmap, os, signal, socket, statistics, struct, tempfile, time

from jeepney import DBusAddress

import slow_files, wire
from harness import PATIENCE, App, Refused, wait_until
from rows import ATTACKER, NEIGHBOUR, Child, Figure, beside, broker, descriptors, neighbour, row

SESSION = DBusAddress("/org/camarb/session/1", "org.camarb", "org.camarb.Session1")


def children(daemon, name):
    """The process ids of camarbd's children of that name, and the letter of each one's state."""
    found = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as stat:
                text = stat.read()
        except OSError:
            continue
        end = text.rindex(")")
        state, parent = text[end + 2:].split()[:2]
        if int(parent) == daemon.process.pid and text[text.index("(") + 1:end] == name:
            found[int(entry)] = state
    return found


def photos(address, count, seconds=0.0):
    """Takes photos into files of its own, one after the other: how long each took in milliseconds, and the largest."""
    app = App(address, "camera")
    session = app.session()
    session.start()
    app.wait("DidStartRunning")
    until = time.monotonic() + seconds
    taken, largest = [], 0
    with tempfile.TemporaryFile() as file:
        while len(taken) < count or time.monotonic() < until:
            begun = time.monotonic()
            (photo,) = session.call("CapturePhoto", "ha{sv}", file, {})
            captured = app.wait("PhotoCaptured", lambda body: body[2] == photo)
            assert captured[6] == "", captured
            taken.append((time.monotonic() - begun) * 1000)
            largest = max(largest, os.fstat(file.fileno()).st_size)
            time.sleep(0.01)
    app.close()
    return [taken, largest]


def pass_slow_files(path, seconds, pause):
    """In an unknown method, in CapturePhoto and with bytes of no message, on one connection after the other: how many
    were passed. Ends with the server's end, which ends the waits."""
    file = slow_files.SlowFile()
    slow = file.open()
    file.hang()
    until = time.monotonic() + seconds
    passed = 0
    kinds = (wire.call("NoSuchMethod", "h", slow), wire.call("CapturePhoto", "ha{sv}", slow, {}, at=SESSION),
             (b"l", [slow]), (wire.header(100), [slow] * 3), (b"xx", [slow]))
    while time.monotonic() < until:
        for data, some in kinds:
            try:
                peer = wire.connect(path, patience=1.0)
                wire.send(peer, data, some)
                passed += len(some)
                peer.close()
            except (OSError, AssertionError):
                pass
            time.sleep(pause)
    file.end()
    return passed


@row("slow-files", "a file whose server does not answer holds up only the user who passed it",
     "one user who passes files of a FUSE mount of his own, that hang whoever closes them, for 20 s (4 s in the short form)")
def slow(short):
    slow_files.may_be_made()
    seconds = 4 if short else 20
    with broker(users=(NEIGHBOUR, ATTACKER)) as daemon:
        before = descriptors(daemon)
        with Child(ATTACKER, pass_slow_files, daemon.path, seconds, 0.002) as attack:
            calls = neighbour(daemon, seconds - 1)
            with Child(NEIGHBOUR, photos, daemon.address, 5, seconds - 2.0) as camera:
                taken, largest = camera.result(patience=seconds + 60)
            heard = calls.result()
            yield Figure("photos of another user meanwhile", len(taken), least=5)
            yield Figure("the slowest of them", max(taken), "ms", most=1000)
            stuck = [state for state in children(daemon, "camkeeper").values() if state == "D"]
            yield Figure("keepers that hang", len(stuck), most=2, least=1)
            yield Figure("camarbd's descriptors beyond those before", descriptors(daemon) - before, most=40)
            passed = attack.result(patience=seconds + 60)
        yield Figure("files passed", passed, least=2)
        # The server is gone: what hung is over, and the user is served again.
        wait_until("the keeper that hung", lambda: "D" not in children(daemon, "camkeeper").values())
        with Child(ATTACKER, photos, daemon.address, 1) as again:
            yield Figure("photos of the attacker's user afterwards", len(again.result()[0]), least=1)
        yield from beside(daemon, heard)


def hang_and_wait(path, seen):
    file = slow_files.SlowFile()
    slow = file.open()
    file.hang()
    peers = []
    for data, some in ((b"xx", [slow]), wire.call("NoSuchMethod", "h", slow)):
        peer = wire.connect(path)
        wire.send(peer, data, some)
        peers.append(peer)
    # One of each is at a keeper; a third waits in a socket that nobody reads.
    wait_until("the row to see it hang", seen.exists, patience=slow_files.LIFE)
    for peer in peers:
        wire.is_over(peer)
    file.end()
    return True


@row("end-beside-slow-files", "camarbd ends on SIGTERM even while closing files hangs",
     "files of a FUSE mount whose server does not answer, passed in two ways")
def end_beside(short):
    slow_files.may_be_made()
    with broker() as daemon:
        seen = daemon.directory / "seen"
        with Child(ATTACKER, hang_and_wait, daemon.path, seen) as attack:
            wait_until("a keeper to hang", lambda: "D" in children(daemon, "camkeeper").values())
            begun = time.monotonic()
            daemon.process.send_signal(signal.SIGTERM)
            daemon.process.wait(timeout=PATIENCE)
            yield Figure("from SIGTERM to the end", (time.monotonic() - begun) * 1000, "ms", most=2000)
            seen.touch()
            attack.result()


def drop_slow_file(path, seen):
    """A socket in whose queue lies the last reference of a file, what was written to which is not with its server yet: who
    drops the one drops the other, and waits for the server. It comes with bytes that end the connection."""
    file = slow_files.SlowFile()
    slow, other = file.open(), file.open()
    os.ftruncate(other, 4096)
    memory = mmap.mmap(other, 4096)
    memory[0] = 1
    ours, theirs = socket.socketpair()
    wire.send(ours, b"x", [slow])
    os.close(slow)
    file.hang()
    memory[0] = 2
    peer = wire.connect(path, patience=5.0)
    wire.send(peer, b"xx", [theirs.fileno()])
    theirs.close()
    ended = wire.is_over(peer)
    time.sleep(2)
    wait_until("the row to see it hang", seen.exists, patience=slow_files.LIFE)
    file.end()
    return ended


@row("dropped-files", "a file that is dropped unread hangs nobody either",
     "a file with unwritten pages, of a FUSE mount whose server has stopped answering, in a socket that comes with nonsense")
def dropped(short):
    slow_files.may_be_made()
    with broker() as daemon:
        calls = neighbour(daemon, 4)
        seen = daemon.directory / "seen"
        with Child(ATTACKER, drop_slow_file, daemon.path, seen) as attack:
            wait_until("a keeper to hang", lambda: "D" in children(daemon, "camkeeper").values())
            seen.touch()
            assert attack.result(), "the connection went on"
        yield from beside(daemon, calls.result())
        wait_until("the keeper to be back", lambda: "D" not in children(daemon, "camkeeper").values())


def sound_with_slow_file(address, is_late, seen):
    """A microphone with whose sound the last reference of such a file comes, before it is attached or after; then the camera is
    given back. How long that took, in milliseconds."""
    file = slow_files.SlowFile()
    slow, other = file.open(), file.open()
    os.ftruncate(other, 4096)
    memory = mmap.mmap(other, 4096)
    memory[0] = 1
    # Whoever drops the bag drops the file.
    inside, bag = socket.socketpair()
    wire.send(inside, b"x", [slow])
    os.close(slow)
    file.hang()
    memory[0] = 2
    app = App(address, "caller")
    session = app.session(usesAudio=True)
    session.start()
    app.wait("DidStartRunning")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def say():
        socket.send_fds(ours, [struct.pack("<qII", time.monotonic_ns(), 480, 0) + bytes(960)], [bag.fileno()])
        bag.close()

    if not is_late:
        say()
    session.call("AttachMicrophone", "ha{sv}", theirs, {"sampleRate": ("u", 48_000), "channels": ("u", 1)})
    theirs.close()
    if is_late:
        say()
    with tempfile.TemporaryFile() as film:
        session.call("StartRecording", "ha{sv}", film, {})
    time.sleep(0.5)
    begun = time.monotonic()
    session.call("StopRunning")
    app.wait("DidStopRunning")
    took = (time.monotonic() - begun) * 1000
    ours.settimeout(PATIENCE)
    assert ours.recv(1) == b"", "the microphone goes on"
    app.close()
    # Whoever has the last of it hangs meanwhile.
    time.sleep(3)
    wait_until("the row to see it hang", seen.exists, patience=slow_files.LIFE)
    file.end()
    return took


@row("slow-microphones", "what a client sends along with its sound hangs neither the camera nor the broker",
     "a file with unwritten pages, of a FUSE mount whose server has stopped answering, in a packet of sound: before the microphone is "
     "attached, and after")
def slow_microphones(short):
    slow_files.may_be_made()
    with broker(users=(NEIGHBOUR, ATTACKER)) as daemon:
        calls = neighbour(daemon, 6)
        hung = set()
        for is_late in (False, True):
            seen = daemon.directory / f"seen-{is_late}"
            with Child(ATTACKER, sound_with_slow_file, daemon.address, is_late, seen) as attack:
                wait_until("a keeper to hang", lambda: "D" in children(daemon, "camkeeper").values())
                seen.touch()
                hung |= {state for state in children(daemon, "camrecorder").values() if state == "D"}
                with Child(NEIGHBOUR, photos, daemon.address, 5) as camera:
                    yield Figure("photos of another user meanwhile", len(camera.result()[0]), least=5)
                yield Figure("a camera is given back after", attack.result(patience=60), "ms", most=500)
            wait_until("the keeper to be back", lambda: "D" not in children(daemon, "camkeeper").values())
        yield Figure("recorder cores that hang", len(hung), most=0)
        yield Figure("recorder cores that were killed", daemon.said().count("SIGKILL"), most=0)
        yield from beside(daemon, calls.result())


def flood_halves(path, seconds):
    """Messages that never become whole: descriptors with each byte, as many as the kernel allows; and few, on as many
    connections as there may be. How many descriptors were sent."""
    until = time.monotonic() + seconds
    file = os.open("/dev/null", os.O_WRONLY)
    data = wire.header(1000)
    sent = 0
    while time.monotonic() < until:
        peers = []
        try:
            for number in range(60):
                peers.append(wire.connect(path, patience=1.0))
                peers[-1].setblocking(False)
                many = number % 2 == 0
                for at in range(16 if many else 1):
                    sent += wire.send(peers[-1], data[at:at + 1], [file] * (253 if many else 4)) * (253 if many else 4)
        except (OSError, AssertionError):
            pass
        for peer in peers:
            peer.close()
    return sent


@row("half-messages", "descriptors of messages that never become whole are not kept",
     "one user who sends 253 descriptors with each byte of a message, and 4 with each of 30 half ones, for 20 s (4 s)")
def halves(short):
    seconds = 4 if short else 20
    with broker(users=(NEIGHBOUR, ATTACKER)) as daemon:
        before = descriptors(daemon)
        most = before
        with Child(ATTACKER, flood_halves, daemon.path, seconds) as flood:
            calls = neighbour(daemon, seconds)
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                most = max(most, descriptors(daemon))
                time.sleep(0.01)
            yield Figure("descriptors sent", flood.result(), least=1000)
        # Four a connection, 64 connections, and what messages and keepers take.
        yield Figure("camarbd's descriptors at most, beyond those before", most - before, most=64 * 4 + 160)
        wait_until("the descriptors to be given back", lambda: descriptors(daemon) <= before + 40)
        yield from beside(daemon, calls.result())


def photos_while_keepers_die(address, seconds):
    """Photos, on a new connection whenever the old one was cut: taken, and cut."""
    until = time.monotonic() + seconds
    taken = cut = 0
    while time.monotonic() < until:
        app = App(address, "camera")
        session = app.session()
        session.start()
        app.wait("DidStartRunning")
        try:
            with tempfile.TemporaryFile() as file:
                while time.monotonic() < until:
                    (photo,) = session.call("CapturePhoto", "ha{sv}", file, {})
                    taken += app.wait("PhotoCaptured", lambda body: body[2] == photo)[6] == ""
        except (OSError, EOFError, AssertionError):
            cut += 1
        app.close()
    return [taken, cut]


@row("killed-keepers", "the loss of a keeper costs the connection whose message it had, and nobody else anything",
     "SIGKILL of every keeper, 50 times (10) during a load of photos")
def killed(short):
    count = 10 if short else 50
    with broker(users=(NEIGHBOUR, ATTACKER)) as daemon:
        with Child(NEIGHBOUR, photos_while_keepers_die, daemon.address, count * 0.1 + 2) as camera:
            calls = neighbour(daemon, count * 0.1, user=NEIGHBOUR + 1)
            kills = 0
            for _ in range(count):
                time.sleep(0.1)
                for keeper in children(daemon, "camkeeper"):
                    try:
                        process = os.pidfd_open(keeper)
                    except ProcessLookupError:
                        continue
                    signal.pidfd_send_signal(process, signal.SIGKILL)
                    os.close(process)
                    kills += 1
            taken, cut = camera.result()
        yield Figure("keepers killed", kills, least=count // 2)
        yield Figure("photos taken", taken, least=count)
        yield Figure("connections cut", cut, most=kills)
        yield from beside(daemon, calls.result())
        wait_until("the ended keepers to be gone", lambda: "Z" not in children(daemon, "camkeeper").values())


def recordings(address, count):
    app = App(address, "camera")
    session = app.session()
    session.start()
    app.wait("DidStartRunning")
    taken = []
    for _ in range(count):
        with tempfile.TemporaryFile() as file:
            begun = time.monotonic()
            (recording,) = session.call("StartRecording", "ha{sv}", file, {})
            taken.append((time.monotonic() - begun) * 1000)
            session.call("StopRecording")
            finished = app.wait("RecordingFinished", lambda body: body[2] == recording)
            assert finished[3] == "stopped", finished
    try:
        with tempfile.TemporaryFile() as file:
            session.call("StartRecording", "ha{sv}", file, {})
            session.call("CapturePhoto", "ha{sv}", file, {})
        refused = ""
    except Refused as error:
        refused = error.message
    app.close()
    assert "recorded to already" in refused, refused
    return taken


@row("photos-and-recordings", "photos and recordings are as quick as their frames",
     "100 photos, then 100 recordings, of one client (20 each)")
def ordinary(short):
    count = 20 if short else 100
    with broker(users=(NEIGHBOUR, ATTACKER)) as daemon:
        with Child(NEIGHBOUR, photos, daemon.address, count) as camera:
            taken, largest = camera.result()
        yield Figure("photos", len(taken), least=count)
        yield Figure("median of a photo, from the call to the file", statistics.median(taken), "ms", most=1000)
        yield Figure("the largest file", largest, "bytes", least=1000)
        with Child(NEIGHBOUR, recordings, daemon.address, count) as camera:
            begun = camera.result()
        yield Figure("recordings", len(begun), least=count)
        yield Figure("median of StartRecording", statistics.median(begun), "ms", most=1000)
