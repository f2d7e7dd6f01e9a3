"""Preview buffers that a client keeps mapped: nobody can take their pages back."""
import contextlib, os, select, time

from harness import App, Refused, wait_until
from rows import Child, Figure, attack, frames_in, until


def keeps_buffers(address, seconds):
    """A watcher that opens and closes streams for so long and keeps every buffer: streams it got, bytes that it keeps, which are blank in
    the end, and bytes of one stream."""
    app = App(address, "mirror")
    session = app.running(sharingMode="sharedReadOnly")
    kept, opened, one = {}, 0, 0
    for _ in until(seconds):
        try:
            stream = session.stream()
        except Refused as why:
            assert "LimitExceeded" in why.name, why
            time.sleep(0.005)
            continue
        opened += 1
        with contextlib.closing(stream):
            while len(stream.buffers) < 4:
                assert stream.read() is not None, "its stream ended"
        for buffer in stream.buffers.values():
            kept.setdefault(os.fstat(buffer.descriptor).st_ino, buffer)
            os.close(buffer.descriptor)
        one = one or size(kept.values())
    # What it keeps shows it nothing any more, also while the holder films on. The recorder core sees the end of a stream
    # when it turns to it.
    wait_until("its buffers to be blank", lambda: all(buffer.is_blank for buffer in kept.values()))
    return [opened, size(kept.values()), one]


def size(buffers):
    return sum(len(buffer.memory) for buffer in buffers)


@attack("kept-buffers", "a client that keeps the buffers of streams it closed costs the recorder core one stream's memory",
        "a watcher that opens and closes streams as fast as it can for 60 s (10 s in the short form) and keeps every buffer",
        10, 60, policy="windows")
def kept_buffers(daemon, seconds):
    holder, session = daemon.running("teams")
    stream = session.stream()
    with Child(0, keeps_buffers, daemon.address, seconds) as watcher:
        seen = frames_in(seconds, stream)
        assert not stream.ended, "the holder's stream ended"
        opened, total, one = watcher.result(patience=seconds + 60)
    holder.poll()
    lost = set(holder.names()) - {"DidStartRunning", "SharersChanged"}
    yield Figure("streams it was given", opened, least=8, most=9 + seconds)
    yield Figure("what it keeps", total / (1 << 20), "MiB", most=one / (1 << 20))
    yield Figure("frames of the holder meanwhile, a second", seen / seconds, least=20)
    yield Figure("kinds of other events of the holder", len(lost), most=0)
    yield Figure("recorder cores that died", int(len(daemon.recorders()) != 1), most=0)


def keeps_grants(address, count):
    """A client that starts and stops, and keeps a mapped stream of each grant: MiB kept, times it was interrupted."""
    app = App(address, "keeper")
    session = app.session(activeFormat="420v 3840x2160@30")
    kept = []
    for _ in range(count):
        session.start()
        app.wait("DidStartRunning", patience=60)
        stream = session.stream()
        assert stream.read() is not None
        kept.append(stream)
        session.stops()
    buffers = [buffer for stream in kept for buffer in stream.buffers.values()]
    wait_until("its buffers to be blank", lambda: all(buffer.is_blank for buffer in buffers))
    return [size(buffers) / (1 << 20), app.names().count("WasInterrupted")]


@attack("kept-grants", "buffers kept of many grants are never charged to one recorder core beyond its bound",
        "a client that starts and stops twelve times at 4K, and keeps every buffer")
def kept_grants(daemon):
    with Child(0, keeps_grants, daemon.address, 12) as keeper:
        seen = set()
        while keeper.status is None and not select.select([keeper.reading], [], [], 0.02)[0]:
            seen.update(daemon.recorders())
        total, interruptions = keeper.result(patience=120)
    yield Figure("what it keeps", total, "MiB", least=500.0)
    yield Figure("recorder cores that shared it", len(seen), least=2)
    yield Figure("interruptions", interruptions, most=0)
    said = daemon.log.read_text(errors="replace").count("the recorder core of camera")
    yield Figure("recorder cores that ended out of order", said, most=0)
