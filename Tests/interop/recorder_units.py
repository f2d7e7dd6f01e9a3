"""Recorder cores that a service manager starts, one for each connection to a socket, as camrecorder.socket has it."""
import os, pathlib, shutil, signal, socket, tempfile, threading

import groups
from harness import PROGRAMS, Daemon, claim, die_with_parent, is_there, listening, spawn, start_unheard, wait_until


class RecorderSocket:
    """What systemd is to camrecorder.socket with Accept=yes: it listens, and starts a process for each connection."""

    def __init__(self, *flags, group=None):
        """`group`: the control group that each process is in from its beginning."""
        self.group = group
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="camarb-recorders."))
        self.path = self.directory / "recorder"
        self.flags = flags
        self.processes = []
        self.listener = listening(self.path)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            if connection.fileno() == 3:
                connection = socket.socket(fileno=os.dup(connection.detach()))
            with connection:
                self.processes.append(spawn(
                    "bash", "-c", f'exec 3<&{connection.fileno()}; exec "$@"', "bash", PROGRAMS / "camrecorder", *self.flags,
                    pass_fds=(connection.fileno(),), preexec_fn=self.begin))

    def begin(self):
        die_with_parent()
        if self.group:
            groups.put(0, self.group)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()
        for process in self.processes:
            process.kill()
            process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def daemon(self, *flags, **more):
        return Daemon(extra=("--recorder", f"unix:{self.path}", *flags), **more)

    def running(self, daemon, name):
        """A session that runs, and the recorder core that it runs in, which is the only one."""
        _, session = daemon.running(name)
        (process,) = self.processes
        return session, process

    def ended(self, process):
        wait_until(f"the end of process {process.pid}", lambda: process.poll() is not None)
        return process.returncode


@claim("a recorder core behind a socket that has nothing to do says so and leaves, and the next session gets another")
def idle():
    with RecorderSocket() as recorders, recorders.daemon() as daemon:
        session, first = recorders.running(daemon, "photos")
        session.call("StopRunning")
        assert recorders.ended(first) == 0
        session.runs()
        assert len(recorders.processes) == 2
        assert "did not say that it leaves" not in daemon.said(), daemon.said()


@claim("an app whose start comes before the broker has seen that its recorder core left hears of its start alone, also where the core is "
       "behind a socket")
def start_before_leaving_is_seen():
    for at_socket in (False, True):
        with RecorderSocket() as recorders, recorders.daemon() if at_socket else Daemon() as daemon:
            def cores():
                return [process.pid for process in recorders.processes] if at_socket else daemon.recorders()

            app = daemon.app("photos")
            session = app.session()
            (first,) = wait_until("the recorder core that describes the camera", cores)
            start_unheard(daemon, session, lambda: not is_there(first))
            app.wait("DidStartRunning")
            assert cores()[-1] != first
            session.stops()
            assert app.names() == ["DidStartRunning", "DidStopRunning"], app.names()
            assert "did not say that it leaves" not in daemon.said(), daemon.said()


@claim("as a service, a broker takes units camrecorder@ alone for recorder cores, and kills one that hangs")
def units():
    unit = "/system.slice/system-camrecorder.slice/camrecorder@1-2-3.service"
    other = "/system.slice/camarb-test.service"
    with groups.made(unit, other):
        with RecorderSocket("--fault", "cut-hangs", group=unit) as recorders, recorders.daemon("--service") as daemon:
            session, stuck = recorders.running(daemon, "photos")
            session.call("StopRunning")
            assert recorders.ended(stuck) == -signal.SIGKILL
        with RecorderSocket(group=other) as recorders, recorders.daemon("--service") as daemon:
            wait_until("it to be refused", lambda: f"in “{other}”, which is not a unit" in daemon.said())
            assert recorders.ended(recorders.processes[0]) == 0, "a process that is no unit was signalled"


@claim("a recorder socket that nobody listens on is named in the status, and does no harm")
def nobody():
    with Daemon(extra=("--recorder", "unix:/nonexistent/recorder")) as daemon:
        app = daemon.app("photos")
        wait_until("the trouble in the status", lambda: "/nonexistent/recorder" in str(
            app.property("/org/camarb/Broker1", "org.camarb.Broker1", "Degraded")))
