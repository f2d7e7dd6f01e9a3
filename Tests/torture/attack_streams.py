"""Preview buffers that a client keeps mapped: nobody can take their pages back."""
import mmap, os, select, socket, struct, time

from harness import App, Refused, wait_until
from rows import Child, Figure, broker, row


def keeps_buffers(address, seconds):
    """A watcher that opens and closes streams for so long and keeps every buffer: streams it got, times it was refused,
    bytes that it keeps, which are blank in the end, and bytes of one stream."""
    app = App(address, "mirror")
    session = app.session(sharingMode="sharedReadOnly")
    session.start()
    app.wait("DidStartRunning")
    kept, opened, refused, one = {}, 0, 0, 0
    until = time.monotonic() + seconds
    while time.monotonic() < until and opened + refused < 10_000:
        try:
            (stream,) = session.call("OpenStream")
        except Refused as why:
            assert "LimitExceeded" in why.name, why
            refused += 1
            time.sleep(0.005)
            continue
        opened += 1
        seen = set()
        with socket.socket(fileno=stream.to_raw_fd()) as stream:
            stream.settimeout(10)
            while len(seen) < 4:
                record, descriptors, _, _ = socket.recv_fds(stream, 40, 1)
                tag, _ = struct.unpack_from("<II", record)
                if tag != 1:
                    continue
                (size,) = struct.unpack_from("<Q", record, 24)
                inode = os.fstat(descriptors[0]).st_ino
                seen.add(inode)
                if inode not in kept:
                    kept[inode] = mmap.mmap(descriptors[0], size, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)
                os.close(descriptors[0])
        one = one or sum(len(memory) for memory in kept.values())
    total = sum(len(memory) for memory in kept.values())
    # What it keeps shows it nothing any more, also while the holder films on. The recorder core sees the end of a stream
    # when it turns to it.
    wait_until("its buffers to be blank", lambda: all(is_blank(memory) for memory in kept.values()))
    app.close()
    return [opened, refused, total, one]


def is_blank(memory):
    return not any(memory[at:at + 65536].strip(b"\0") for at in range(0, len(memory), 65536))


@row("kept-buffers", "a client that keeps the buffers of streams it closed costs the recorder core one stream's memory",
     "a watcher that opens and closes streams as fast as it can for 60 s (10 s in the short form) and keeps every buffer")
def kept_buffers(short):
    seconds = 10 if short else 60
    with broker(policy="windows") as daemon:
        holder = daemon.app("teams")
        session = holder.session()
        session.start()
        holder.wait("DidStartRunning")
        stream = session.stream()
        with Child(0, keeps_buffers, daemon.address, seconds) as watcher:
            seen = 0
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                frame = stream.read()
                assert frame is not None, "the holder's stream ended"
                stream.release(frame)
                seen += 1
            opened, refused, total, one = watcher.result(patience=seconds + 60)
        recorders = daemon.recorders()
        holder.poll()
        lost = [name for name in holder.names() if name not in ("DidStartRunning", "SharersChanged")]
        yield Figure("streams it was given", opened, least=8, most=9 + seconds)
        yield Figure("times it was refused", refused)
        yield Figure("what it keeps", total / (1 << 20), "MiB", most=one / (1 << 20))
        yield Figure("frames of the holder meanwhile, a second", seen / seconds, least=20)
        yield Figure("events of the holder", len(lost), most=0)
        yield Figure("recorder cores that died", 0 if len(recorders) == 1 else 1, most=0)


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
        session.call("StopRunning")
        app.wait("DidStopRunning")
    wait_until("its buffers to be blank", lambda: all(
        is_blank(buffer.memory) for stream in kept for buffer in stream.buffers.values()))
    total = sum(len(buffer.memory) for stream in kept for buffer in stream.buffers.values())
    app.close()
    return [total / (1 << 20), app.names().count("WasInterrupted")]


@row("kept-grants", "buffers kept of many grants are never charged to one recorder core beyond its bound",
     "a client that starts and stops twelve times at 4K, and keeps every buffer")
def kept_grants(short):
    with broker() as daemon:
        with Child(0, keeps_grants, daemon.address, 12) as keeper:
            seen = set()
            while keeper.status is None and not select.select([keeper.reading], [], [], 0.02)[0]:
                seen.update(daemon.recorders())
            total, interruptions = keeper.result(patience=120)
        said = daemon.log.read_text(errors="replace")
        yield Figure("what it keeps", total, "MiB", least=500.0)
        yield Figure("recorder cores that shared it", len(seen), least=2)
        yield Figure("interruptions", interruptions, most=0)
        yield Figure("recorder cores that ended out of order", said.count("the recorder core of camera"), most=0)
