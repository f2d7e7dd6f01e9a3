"""Holders that do not let go: stopped ones, and dead ones whose sockets live on in a child."""
import contextlib, ctypes, os, select, signal, socket, time

from harness import PATIENCE, App, Buffer, Daemon, Refused
from rows import Child, Figure, beside, frames_of, neighbour, percentile, row, since

# Both apps are this user's: what an app says of itself, or a shell of its place, is weighed among a user's own.
USER = 1002
HOLDER, RIVAL = "holder", "rival"
CUT_MS, GRANTED_MS, FREE_MS = 50, 1000, 100
ORPHAN_SECONDS = 60


def holds(address, descriptor, has_child):
    """Runs for as long as it lives. Of each grant it passes the stream's socket and a buffer, so that a test can look at what this process
    has while it is stopped or dead. With `has_child` it has one that has all of it, too, and does nothing: its pidfd goes along."""
    with socket.socket(fileno=descriptor) as report:
        app = App(address, HOLDER)
        session = app.session()
        session.start()
        while True:
            app.wait("DidStartRunning", patience=120)
            try:
                stream = session.stream()
            except Refused:
                continue  # Cut again before it asked.
            for number, frame in enumerate(frames_of(stream)):
                if number == 0:
                    passed = [stream.fileno(), stream.buffers[frame.index].descriptor]
                    socket.send_fds(report, [b"g"], passed + ([orphan()] if has_child else []))
            for buffer in stream.buffers.values():
                buffer.memory.close()
                os.close(buffer.descriptor)
            stream.close()


def orphan():
    child = os.fork()
    if child == 0:
        time.sleep(ORPHAN_SECONDS)
        os._exit(0)
    return os.pidfd_open(child)


class Grant:
    def __init__(self, report):
        _, (self.stream, buffer, *self.child), _, _ = socket.recv_fds(report, 64, 3)
        self.buffer = Buffer(buffer, 0, 0, 0, os.fstat(buffer).st_size)
        os.close(buffer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.stream)
        self.buffer.memory.close()
        for pidfd in self.child:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            os.waitid(os.P_PIDFD, pidfd, os.WEXITED)  # It is ours since its parent died; see `adopting`.
            os.close(pidfd)


@contextlib.contextmanager
def adopting():
    """Orphans of this process's children are its own inside, so that it can wait for them."""
    prctl = ctypes.CDLL(None).prctl
    prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
    try:
        yield
    finally:
        prctl(36, 0)


def ends(begun, grant, app, has_happened):
    """How long after that the grant's stream ended, and the app had heard what it waits for, in milliseconds."""
    poll = select.poll()
    poll.register(grant.stream, 0)  # Its end only: nobody reads the frames that lie in it.
    poll.register(app, select.POLLIN)
    cut = heard = None
    end = time.monotonic() + PATIENCE
    while cut is None or heard is None:
        for descriptor, _ in poll.poll(max(0, (end - time.monotonic()) * 1000)):
            now = since(begun)
            if descriptor == grant.stream:
                cut = now
                poll.unregister(grant.stream)
            else:
                app.poll()
                if has_happened(app):
                    heard = now
                    poll.unregister(app)
        assert time.monotonic() < end, f"the stream's end was seen after {cut} ms, and the news heard after {heard}"
    return cut, heard


def passing():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(PATIENCE)
    return ours, theirs


@row("stopped-holders", "a holder that does not react loses the camera as quickly as any other",
     "500 times (12) a holder under SIGSTOP, in whose stead a stronger app starts", (12, 2), (500, 60))
def stopped_holders(load):
    count, seconds = load
    ours, theirs = passing()
    with ours, Daemon(users=(USER,)) as daemon:
        shell = daemon.shell()
        shell.place(f"{HOLDER}@{USER}", "fullscreen")
        shell.place(f"{RIVAL}@{USER}", "fullscreen", True)
        rival = daemon.app(RIVAL, USER)
        session = rival.session()
        calls = neighbour(daemon, seconds)
        times, blank = [], 0
        with Child(USER, holds, daemon.address, theirs.fileno(), False) as holder:
            theirs.close()
            for _ in range(count):
                with Grant(ours) as grant:
                    signal.pidfd_send_signal(holder.process, signal.SIGSTOP)
                    assert os.WIFSTOPPED(os.waitpid(holder.pid, os.WUNTRACED)[1]), "the holder ended"
                    started = len(rival.names())
                    begun = time.monotonic()
                    session.start()
                    times.append(ends(begun, grant, rival, lambda app: "DidStartRunning" in app.names()[started:]))
                    blank += grant.buffer.is_blank
                    signal.pidfd_send_signal(holder.process, signal.SIGCONT)
                session.call("StopRunning")
        yield Figure("stopped holders whose buffer was blank when the next one ran", blank, f"of {count}", least=count)
        cuts, grants = zip(*times)
        yield Figure("p99 from the stronger app's start to the stream's end", percentile(cuts, 0.99), "ms", most=CUT_MS)
        yield Figure("p99 until it runs", percentile(grants, 0.99), "ms", most=GRANTED_MS)
        yield from beside(daemon, calls.result())


@row("killed-holders", "a holder that was killed has lost the camera, though a child of its lives on with all its sockets",
     "500 times (12) SIGKILL of a holder whose child keeps its connection and its stream open", (12, 2), (500, 60))
def killed_holders(load):
    count, seconds = load
    with adopting(), Daemon(users=(USER,)) as daemon:
        looker = daemon.app()
        calls = neighbour(daemon, seconds)
        times, blank, kept = [], 0, 0
        for _ in range(count):
            ours, theirs = passing()
            with ours, Child(USER, holds, daemon.address, theirs.fileno(), True) as holder:
                theirs.close()
                with Grant(ours) as grant:
                    looker.poll()
                    looker.signals.clear()
                    begun = time.monotonic()
                    signal.pidfd_send_signal(holder.process, signal.SIGKILL)
                    times.append(ends(begun, grant, looker, lambda app: any(body[1] == "" for body in app.heard("HolderChanged"))))
                    blank += grant.buffer.is_blank
                    kept += not select.select(grant.child, [], [], 0)[0]
        yield Figure("killed holders whose child was alive when the camera was free", kept, f"of {count}", least=count)
        yield Figure("whose buffer was blank then", blank, f"of {count}", least=count)
        cuts, frees = zip(*times)
        yield Figure("p99 from the kill to the stream's end", percentile(cuts, 0.99), "ms", most=FREE_MS)
        yield Figure("p99 until the camera is free", percentile(frees, 0.99), "ms", most=FREE_MS)
        yield from beside(daemon, calls.result())
