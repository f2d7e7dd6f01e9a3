"""What one client can do to the others, and to the broker itself: nothing."""
import json, os, signal, socket, struct, subprocess, tempfile

from jeepney import new_method_call

from harness import (BROKER, CAMERA, PATIENCE, PROGRAMS, SHELL, Daemon, Refused, children_of, claim, start_unheard, state_of,
                     wait_until)
from bad_input import refusal


def open_descriptors(daemon):
    return len(os.listdir(f"/proc/{daemon.process.pid}/fd"))


def resident(daemon):
    """In kB."""
    with open(f"/proc/{daemon.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


@claim("descriptors that are passed where none belongs are closed, not kept")
def stray_descriptors():
    with Daemon() as daemon:
        app = daemon.app("photos")
        session = app.session()
        session.start()
        app.wait("DidStartRunning")
        with open("/dev/null", "w") as file:
            for turn in range(20):
                if turn == 2:
                    # Whoever takes them is there by now: that costs a few, once.
                    before, keepers = open_descriptors(daemon), len(children_of(daemon.process.pid, "camkeeper"))
                for at, member, signature, *body in (
                        (BROKER, "DeclareClient", "a{sv}", {"app": ("h", file)}),
                        (BROKER, "DeclareClient", "a{sv}", {"app": ("ah", [file, file])}),
                        (BROKER, "CreateSession", "sa{sv}", CAMERA, {"activeFormat": ("h", file)}),
                        (BROKER, "CreateSession", "sah", CAMERA, [file]),
                        (BROKER, "NoSuchMethod", "h", file),
                        (session.at, "Configure", "a{sv}", {"videoZoomFactor": ("h", file)}),
                        (session.at, "CapturePhoto", "ha{sv}", file, {"quality": ("h", file)}),
                        (session.at, "StartRecording", "ha{sv}", file, {"x": ("s", "x" * 2000)})):
                    try:
                        app.call(at, member, signature, *body)
                    except Refused:
                        continue
                    raise AssertionError(f"{member} took a stray descriptor")
        # Each keeper that was started meanwhile costs two, and one may be about to be; kept ones would be eighteen times eight.
        wait_until("the descriptors to be closed", lambda: open_descriptors(daemon)
                   <= before + 2 * max(1, len(children_of(daemon.process.pid, "camkeeper")) - keepers))
        assert app.names() == ["DidStartRunning"], app.names()
        # Nor do clients that have passed one and stay keep others of their user from passing theirs.
        others = [daemon.app() for _ in range(20)]
        with open(daemon.directory / "file.jpg", "w+b") as file:
            for other in others:
                try:
                    other.call(BROKER, "NoSuchMethod", "h", file)
                except Refused:
                    pass
            session.call("CapturePhoto", "ha{sv}", file, {})
            app.wait("PhotoCaptured", lambda body: body[6] == "")


@claim("a text of a hundred thousand bytes is refused by its length, and costs watchers nothing")
def long_texts():
    with Daemon() as daemon:
        app, watcher = daemon.app("photos"), daemon.app()
        watcher.call(BROKER, "Watch", "b", True)
        session = app.session()
        long = "0s connect evil\n\x1b[31m" * 5_000
        for at, member, signature, *body in (
                (BROKER, "CreateSession", "sa{sv}", long, {}),
                (BROKER, "LowerPriority", "s", long),
                (BROKER, "DeclareClient", "a{sv}", {long: ("s", "x")}),
                (BROKER, "DeclareClient", "a{sv}", {"app": ("as", [long])}),
                (session.at, "Configure", "a{sv}", {"activeFormat": ("s", long)})):
            refusal("LimitExceeded", member, "1024", of=lambda: app.call(at, member, signature, *body))
        try:
            app.call(BROKER, "DeclareClient", "a{sv}", {f"key{number}": ("b", True) for number in range(4_000)})
            raise AssertionError("a dictionary of 4000 keys was taken")
        except Refused as refused:
            assert "256 keys" in refused.message, refused
        watcher.call(BROKER, "GetStatus")
        # What a camera can do is the recorder core's to say, and long.
        said = [body[2] for _, member, body in watcher.signals if member == "Decided" and " plug " not in body[2]]
        assert all(len(text) < 4096 and "\x1b" not in text for text in said), said
        data = [repr(body[3]) for _, member, body in watcher.signals if member == "Decided"]
        assert said and all(len(text) < 4096 and "\\x1b" not in text for text in data), data
        assert daemon.log.stat().st_size < 100_000, daemon.log.stat().st_size


@claim("what a client says of other apps is bounded, and gone when it is gone")
def facts():
    with Daemon() as daemon:
        app = daemon.app("shell")
        app.call(SHELL, "Attach", "s", "shell")

        def until_refused(member, *rest):
            for number in range(5000):
                try:
                    app.call(SHELL, member, "s" + "sb"[:len(rest)], f"app{number}", *rest)
                except Refused as refused:
                    assert refused.name == "org.camarb.Error.LimitExceeded", refused
                    return number
            raise AssertionError(f"{member} took 5000 apps")

        assert until_refused("TakeMicrophone") == 64
        assert until_refused("PlaceApp", "split", False) == 1024
        # What is known already may be changed, and what is let go makes room.
        app.call(SHELL, "PlaceApp", "ssb", "app1", "background", False)
        app.call(SHELL, "ReleaseMicrophone", "s", "app1")
        app.call(SHELL, "TakeMicrophone", "s", "another")


@claim("a status with thousands of sessions reaches whoever asks for it, page by page")
def long_status():
    with Daemon() as daemon:
        many = [daemon.app("many") for _ in range(20)]
        for app in many:
            for _ in range(64):
                app.session()
        asker = daemon.app()
        broker, _, page = asker.call(BROKER, "GetStatus")
        more, found = broker["moreSessions"][1], [session["session"][1] for session in page]
        while more:
            assert len(page) == 64, len(page)
            page, more = asker.call(BROKER, "GetSessions", "t", found[-1])
            found += [session["session"][1] for session in page]
        assert found == list(range(1, 20 * 64 + 1)), (len(found), found[:3])
        assert asker.call(BROKER, "GetSessions", "t", found[-1]) == ([], False)
        assert asker.call(BROKER, "GetSessions", "t", (1 << 64) - 1) == ([], False)
        done = subprocess.run([PROGRAMS / "camclient", "--socket", daemon.path, "status", "--json"],
                              stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=True)
        status = json.loads(done.stdout)
        assert [session["session"] for session in status["sessions"]] == found, len(status["sessions"])
        told = {(use["user"], use["resource"]): use["used"] for use in status["budgets"]}
        assert told[(None, "sessions")] == told[(0, "sessions")] == len(found), told


@claim("a list of placements that is too long, or has an app twice, is refused whole")
def long_placements():
    with Daemon() as daemon:
        shell = daemon.app("shell")

        def place(*names):
            return shell.call(SHELL, "AttachPlacing", "saa{sv}", "shell", [
                {"app": ("s", name), "presence": ("s", "split"), "focused": ("b", False)} for name in names])

        refusal("LimitExceeded", "1025 entries", "1024", of=lambda: place(*(f"a{number}" for number in range(1025))))
        refusal("InvalidValue", "apps[2]", "once", of=lambda: place("zoom", "photos", "zoom"))
        # None of it counts: there is room for all that a client may place.
        place(*(f"b{number}" for number in range(1024)))
        refusal("LimitExceeded", "1024", of=lambda: place("c"))


@claim("a FIFO in the place of the holder file does not stop the start")
def holder_fifo():
    with tempfile.TemporaryDirectory(prefix="camarb-test.") as folder:
        os.mkfifo(f"{folder}/holders")
        os.environ["RUNTIME_DIRECTORY"] = folder
        try:
            with Daemon() as daemon:
                daemon.app("photos").session()
                assert "no regular file" in daemon.log.read_text(), daemon.said()
        finally:
            del os.environ["RUNTIME_DIRECTORY"]


@claim("a message of more than 128 KiB ends its connection by its header alone, and one of 128 KiB is read")
def long_message():
    with Daemon() as daemon:
        keeper = daemon.app("photos")
        keeper.call(BROKER, "GetStatus")
        before = resident(daemon)
        for body in (128 << 10, 1 << 20, 100 << 20, 0xffffffff):
            for order in "<>":
                app = daemon.app()
                peer = app.connection.sock
                peer.settimeout(PATIENCE)
                # A method call, whose body is said to be so long.
                mark = b"l" if order == "<" else b"B"
                peer.sendall(struct.pack(order + "cBBBIII", mark, 1, 0, 1, body, 7, 0))
                assert peer.recv(1) == b"", "a message without end was waited for"
        # One line for all: what a user causes is not told more than now and then.
        wait_until("the journal to say so", lambda: f"began a message of {(128 << 10) + 16} bytes" in daemon.log.read_text())
        # Once it has started the broker gives back its pages, and those of its program come again as it serves: some 4 MB.
        assert resident(daemon) - before < 16384, f"{resident(daemon) - before} kB more"
        app = daemon.app()
        # The greatest that fits: header and path and names and all.
        rest = len(new_method_call(BROKER, "Plan", "s", ("",)).serialise(serial=1))
        refusal("LimitExceeded", "plan", "16384",
                of=lambda: app.call(BROKER, "Plan", "s", "x" * ((128 << 10) - rest - 8)))
        keeper.call(BROKER, "GetStatus")


@claim("a second camarbd does not take the socket of one that is there, nor wait for one that is too slow to answer")
def second():
    with Daemon() as daemon:
        def refused():
            done = subprocess.run([PROGRAMS / "camarbd", "--socket", daemon.path], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
            assert done.returncode == 1 and "in use" in done.stderr, done

        refused()
        daemon.process.send_signal(signal.SIGSTOP)
        waiting = []
        try:
            while True:
                peer = socket.socket(socket.AF_UNIX)
                waiting.append(peer)
                peer.setblocking(False)
                peer.connect(str(daemon.path))
        except BlockingIOError:
            pass  # Its backlog is full.
        try:
            refused()
        finally:
            daemon.process.send_signal(signal.SIGCONT)
            for peer in waiting:
                peer.close()

        def served():
            try:
                return daemon.app("photos").session()
            except OSError:
                return None  # It is still looking at those that gave up, which count until then.

        wait_until("camarbd to serve again", served)


@claim("a recorder that leaves for want of work while an app starts is replaced, and the app notices nothing")
def start_while_leaving():
    with Daemon() as probe:
        wrapper = probe.directory / "recorder"
        left = probe.directory / "left"
        # The socket ends when camrecorder does; the process that the broker started lives on for a while.
        wrapper.write_text(f'#!/bin/sh\n"{PROGRAMS}/camrecorder" "$@" &\nexec 3<&-\nwait $!\necho >> "{left}"\nsleep 0.7\n')
        wrapper.chmod(0o755)
        with Daemon(extra=("--recorder", wrapper)) as daemon:
            app = daemon.app("photos")
            session = app.session()
            wait_until("the idle recorder to leave", left.exists)
            session.start()
            app.wait("DidStartRunning")
            session.call("StopRunning")
            app.wait("DidStopRunning")
            # Nobody holds the camera, so the second one leaves as well; one that had a grant nobody knows of would not.
            wait_until("the second recorder to leave", lambda: left.read_text().count("\n") == 2)
            app.poll()
            assert app.names() == ["DidStartRunning", "DidStopRunning"], app.names()


@claim("an app whose start comes before the broker has seen that its recorder core left hears of its start alone")
def start_before_leaving_is_seen():
    with Daemon() as daemon:
        app = daemon.app("photos")
        session = app.session()
        wait_until("the recorder core that describes the camera", daemon.recorders)
        (recorder,) = daemon.recorders()
        start_unheard(daemon, session, lambda: state_of(recorder) in ("Z", ""))
        app.wait("DidStartRunning")
        assert daemon.recorders() != [recorder]
        session.call("StopRunning")
        app.wait("DidStopRunning")
        assert app.names() == ["DidStartRunning", "DidStopRunning"], app.names()


@claim("when the last recorder has left, the broker's memory is what it was before the first app came")
def memory_at_rest():
    with Daemon() as daemon:
        looker = daemon.app()
        looker.call(BROKER, "GetStatus")
        wait_until("the recorder that described the camera to leave", lambda: not daemon.recorders())
        before = resident(daemon)
        for name in ("photos", "call", "booth"):
            app = daemon.app(name)
            session = app.session()
            session.start()
            app.wait("DidStartRunning")
            session.record(daemon.directory / f"{name}.mkv")
            app.call(BROKER, "GetStatus")
            app.close()
        served = resident(daemon)
        wait_until("the recorder to leave", lambda: not daemon.recorders())
        wait_until("the memory to be given back", lambda: resident(daemon) - before < 1024)
        return f"{before} kB at rest, {served} kB while serving, {resident(daemon)} kB at rest again"


def flood(app, session, member, signature=None, *body):
    """As many calls as the broker takes before it ends the connection, or ten thousand, and no answer read."""
    try:
        for _ in range(10_000):
            message = new_method_call(session.at, member, signature, body)
            app.connection.send(message, serial=next(app.connection.outgoing_serial))
    except OSError:
        pass


@claim("a watcher that calls without end neither ends nor holds up the recorder core that it shares with others")
def flooding_watcher():
    with Daemon("windows") as daemon:
        teams = daemon.app("teams")
        control = teams.session()
        control.start()
        teams.wait("DidStartRunning")
        stream = control.stream()
        (recorder,) = daemon.recorders()
        floods = (("OpenStream", None), ("CapturePhoto", "ha{sv}", None, {}))
        for ended, (member, signature, *body) in enumerate(floods):
            mirror = daemon.app("mirror")
            watch = mirror.session(sharingMode="sharedReadOnly")
            watch.start()
            mirror.wait("DidStartRunning")
            with open(daemon.directory / "flood.jpg", "w+b") as file:
                flood(mirror, watch, member, signature, *(file if value is None else value for value in body))
            mirror.close()
            daemon.apps.remove(mirror)
            wait_until("the watcher's end", lambda: daemon.log.read_text().count("disconnect mirror") > ended)
            for _ in range(30):
                stream.release(stream.read())
            teams.poll()
            assert "WasInterrupted" not in teams.names(), f"{member}: {teams.names()}"
            assert daemon.recorders() == [recorder], f"{member}: the recorder core is another"
