"""What bad input gets: an error that names the key, the value and what is allowed, and nothing lost or changed."""
import ctypes, os, signal, socket

from harness import App, BROKER, CAMERA, Daemon, Refused, claim, wait_until
from jeepney import DBusAddress


def refusal(name, *said, of):
    """The call is refused with this error, in a sentence that has these words."""
    try:
        of()
    except Refused as refused:
        assert refused.name == f"org.camarb.Error.{name}", f"{refused} (wanted {name})"
        missing = [word for word in said if word not in refused.message]
        assert not missing, f"the message lacks {missing}: {refused.message}"
        return
    raise AssertionError(f"no error, where {name} was due")


@claim("an unknown camera, format or zoom is refused by name, with what is allowed, and the session lives on")
def values():
    with Daemon() as daemon:
        app = daemon.app("photos")
        refusal("UnknownCamera", "nowhere", CAMERA, of=lambda: app.session("nowhere"))
        session = app.session()
        refusal("UnsupportedConfiguration", "activeFormat", "420v 1x1@1",
                of=lambda: session.call("Configure", "a{sv}", {"activeFormat": ("s", "420v 1x1@1")}))
        refusal("UnsupportedConfiguration", "videoZoomFactor", "1000",
                of=lambda: session.call("Configure", "a{sv}", {"videoZoomFactor": ("d", 1000.0)}))
        refusal("UnsupportedConfiguration", "colour",
                of=lambda: session.call("Configure", "a{sv}", {"colour": ("s", "blue")}))
        session.start()
        app.wait("DidStartRunning")


@claim("start inside a configuration, commit outside one, and stop without start are clean errors or nothing at all")
def order():
    with Daemon() as daemon:
        app = daemon.app("photos")
        session = app.session()
        session.call("BeginConfiguration")
        refusal("InsideConfiguration", of=session.start)
        session.call("CommitConfiguration")
        refusal("NotInsideConfiguration", of=lambda: session.call("CommitConfiguration"))
        session.call("StopRunning")  # no error: a stop of a session that does not ask to run changes nothing
        session.start()
        app.wait("DidStartRunning")


@claim("recording twice, or into something that is no writable regular file, is refused, and the first recording goes on")
def recordings():
    with Daemon() as daemon:
        app = daemon.app("photos")
        session = app.session()
        session.start()
        app.wait("DidStartRunning")

        def into(descriptor):
            try:
                session.call("StartRecording", "ha{sv}", descriptor, {})
            finally:
                os.close(descriptor)

        file = daemon.directory / "file.mkv"
        file.touch()
        read, write = os.pipe()
        refusal("UnsuitableFile", of=lambda: into(write))
        os.close(read)
        refusal("UnsuitableFile", of=lambda: into(os.open(file, os.O_RDONLY)))
        refusal("UnsuitableFile", of=lambda: into(os.open(file, os.O_WRONLY | os.O_APPEND)))
        refusal("UnsuitableFile", of=lambda: into(os.open(daemon.directory, os.O_RDONLY)))
        refusal("UnsuitableFile", of=lambda: into(os.open("/dev/null", os.O_WRONLY)))
        # Regular files all of them, on file systems that are not known to keep pictures.
        libc = ctypes.CDLL(None, use_errno=True)
        name = f"/camarb-{os.getpid()}".encode()
        for descriptor, word in ((libc.syscall(447, 0), "kernel"),  # memfd_secret
                                 (libc.mq_open(name, os.O_RDWR | os.O_CREAT, 0o600, None), "kernel"),
                                 (libc.memfd_create(b"huge", 4), "0x958458f6")):  # MFD_HUGETLB
            # A kernel may be built without any of them.
            if descriptor >= 0:
                refusal("UnsuitableFile", word, of=lambda: into(descriptor))
        libc.mq_unlink(name)
        recording = session.record(file)
        app.wait("RecordingStarted", lambda body: body[2] == recording)
        refusal("AlreadyRecording", of=lambda: session.record(daemon.directory / "second.mkv"))
        # What is there at once is the header and the room for an index; what comes after it is frames.
        wait_until("a few frames in the file", lambda: file.stat().st_size > 100_000)
        with open(file, "r+b") as same:
            refusal("UnsuitableFile", "recorded to already", of=lambda: session.call("CapturePhoto", "ha{sv}", same, {}))
            refusal("UnsuitableFile", "recorded to already", of=lambda: session.call("StartRecording", "ha{sv}", same, {}))
        session.call("StopRecording")
        finished = app.wait("RecordingFinished")
        assert finished[2] == recording and finished[3] == "stopped" and finished[4] > 0, finished
        refusal("NotRecording", of=lambda: session.call("StopRecording"))


@claim("a session of another client cannot be touched, and its owner is not disturbed")
def another_client():
    with Daemon() as daemon:
        app, thief = daemon.app("photos"), daemon.app("thief")
        session = app.session()
        session.start()
        app.wait("DidStartRunning")
        for member in ("StartRunning", "StopRunning", "OpenStream", "StopRecording", "Close"):
            try:
                thief.call(session.at, member)
            except Refused as refused:
                assert refused.name in ("org.camarb.Error.AccessDenied", "org.camarb.Error.UnknownSession"), refused
            else:
                raise AssertionError(f"a stranger could call {member}")
        app.poll()
        assert app.names() == ["DidStartRunning"], app.names()


@claim("a priority can be lowered and never raised")
def priority():
    with Daemon(policy="kiosk") as daemon:
        app = daemon.app("photos")
        app.session()
        refusal("PriorityRaised", "safety", of=lambda: app.call(BROKER, "LowerPriority", "s", "safety"))
        app.call(BROKER, "LowerPriority", "s", "attract")
        refusal("InvalidValue", "emperor", "attract", of=lambda: app.call(BROKER, "LowerPriority", "s", "emperor"))


@claim("bytes that are no D-Bus close their own connection and nobody else's")
def malformed():
    with Daemon() as daemon:
        app = daemon.app("photos")
        session = app.session()
        session.start()
        app.wait("DidStartRunning")
        for bytes_ in (b"GET / HTTP/1.1\r\n\r\n", b"\0AUTH EXTERNAL 30\r\nBEGIN\r\n" + b"\xff" * 64, b"\0" * 4096,
                       b"\0AUTH " + b"A" * 70_000):
            stranger = socket.socket(socket.AF_UNIX)
            stranger.connect(str(daemon.path))
            stranger.settimeout(20)
            try:
                stranger.sendall(bytes_)
                while stranger.recv(4096):
                    pass
            except (ConnectionResetError, BrokenPipeError):
                pass
            stranger.close()
        assert session.property("Running") is True
        wrong = DBusAddress("/org/camarb/Broker1", "org.camarb", "org.camarb.Broker1")
        for member, signature, body in (("CreateSession", "i", (3,)), ("NoSuchMethod", None, ())):
            try:
                app.call(wrong, member, signature, *body)
            except Refused as refused:
                assert refused.name.startswith("org.freedesktop.DBus.Error."), refused
            else:
                raise AssertionError(f"{member} was accepted")


@claim("a client that dies at any point leaves its camera to the next in the same step")
def dying():
    with Daemon() as daemon:
        for depth in range(4):
            app, heir = daemon.app("photos"), daemon.app("heir")
            session, waiting = app.session(), heir.session()
            if depth >= 1:
                session.start()
            if depth >= 2:
                app.wait("DidStartRunning")
            if depth >= 3:
                session.record(daemon.directory / f"{depth}.mkv")
            waiting.start()
            app.close()
            heir.wait("DidStartRunning")
            waiting.call("Close")
            heir.close()


@claim("a client whose process dies is gone, even while a child of it keeps the socket open")
def dying_with_a_child():
    with Daemon() as daemon:
        ready, told = os.pipe()
        holder = os.fork()
        if holder == 0:
            session = App(daemon.address, "photos").session()
            session.start()
            session.app.wait("DidStartRunning")
            child = os.fork()
            if child == 0:
                signal.pause()
            os.write(told, child.to_bytes(4, "little"))
            signal.pause()
        child = int.from_bytes(os.read(ready, 4), "little")
        try:
            heir = daemon.app("heir")
            waiting = heir.session()
            waiting.start()
            heir.wait("WasInterrupted")
            os.kill(holder, signal.SIGKILL)
            os.waitpid(holder, 0)
            heir.wait("DidStartRunning")
            os.kill(child, 0)  # It is still there, and with it the socket.
        finally:
            os.kill(child, signal.SIGKILL)


@claim("SIGHUP takes a good policy, and a bad one never replaces it")
def policy_reload():
    with Daemon() as first:
        good = (first.directory / "p.toml")
        good.write_text('name = "one"\nsummary = "s"\n[contention]\ntie = "holder"\n')
        with Daemon(policy=good) as daemon:
            app = daemon.app("photos")
            named = lambda: app.property("/org/camarb/Broker1", "org.camarb.Broker1", "PolicyName")
            assert named() == "one"
            good.write_text('name = "two"\nsummary = "s"\n[contention]\ntie = "newcomer"\n')
            daemon.process.send_signal(signal.SIGHUP)
            wait_until("the second policy", lambda: named() == "two")
            good.write_text('name = "three"\n[contention]\ntei = "newcomer"\n')
            daemon.process.send_signal(signal.SIGHUP)
            wait_until("the complaint about the third", lambda: "tei" in daemon.said())
            assert named() == "two"
