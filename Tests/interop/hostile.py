"""What one client can do to the others, and to the broker itself: nothing."""
import contextlib, os

from jeepney import new_method_call

from camclient import status
from harness import BROKER, CAMERA, SHELL, Daemon, Refused, children_of, claim, refused, wait_until


def open_descriptors(daemon):
    return len(os.listdir(f"/proc/{daemon.process.pid}/fd"))


def resident(daemon):
    """In kB."""
    with open(f"/proc/{daemon.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


@claim("descriptors that are passed where none belongs are closed, not kept")
def stray_descriptors():
    with Daemon() as daemon:
        app, session = daemon.running("photos")
        with open("/dev/null", "w") as file:
            for turn in range(20):
                if turn == 2:
                    # Whoever takes them is there by now: that costs a few, once.
                    before, keepers = open_descriptors(daemon), len(children_of(daemon.process.pid, "camkeeper"))
                for call in (
                        (BROKER, "DeclareClient", "a{sv}", {"app": ("h", file)}),
                        (BROKER, "DeclareClient", "a{sv}", {"app": ("ah", [file, file])}),
                        (BROKER, "CreateSession", "sa{sv}", CAMERA, {"activeFormat": ("h", file)}),
                        (BROKER, "CreateSession", "sah", CAMERA, [file]),
                        (BROKER, "NoSuchMethod", "h", file),
                        (session.at, "Configure", "a{sv}", {"videoZoomFactor": ("h", file)}),
                        (session.at, "CapturePhoto", "ha{sv}", file, {"quality": ("h", file)}),
                        (session.at, "StartRecording", "ha{sv}", file, {"x": ("s", "x" * 2000)})):
                    app.refusal(*call)
        # Each keeper that was started meanwhile costs two, and one may be about to be; kept ones would be eighteen times eight.
        wait_until("the descriptors to be closed", lambda: open_descriptors(daemon)
                   <= before + 2 * max(1, len(children_of(daemon.process.pid, "camkeeper")) - keepers))
        assert app.names() == ["DidStartRunning"], app.names()
        # Nor do clients that have passed one and stay keep others of their user from passing theirs.
        with open(daemon.directory / "file.jpg", "w+b") as file:
            for _ in range(20):
                daemon.app().refusal(BROKER, "NoSuchMethod", "h", file)
        assert session.photo(daemon.directory / "file.jpg")[6] == ""


@claim("a text of a hundred thousand bytes is refused by its length, and costs watchers nothing")
def long_texts():
    with Daemon() as daemon:
        app, watcher = daemon.app("photos"), daemon.app()
        watcher.call(BROKER, "Watch", "b", True)
        session = app.session()
        long = "0s connect evil\n\x1b[31m" * 5_000
        for at, member, *rest in (
                (BROKER, "CreateSession", "sa{sv}", long, {}),
                (BROKER, "LowerPriority", "s", long),
                (BROKER, "DeclareClient", "a{sv}", {long: ("s", "x")}),
                (BROKER, "DeclareClient", "a{sv}", {"app": ("as", [long])}),
                (session.at, "Configure", "a{sv}", {"activeFormat": ("s", long)})):
            refused(lambda: app.call(at, member, *rest), member, "1024", error="LimitExceeded")
        many = {f"key{number}": ("b", True) for number in range(4_000)}
        assert "256 keys" in app.refusal(BROKER, "DeclareClient", "a{sv}", many).message
        watcher.call(BROKER, "GetStatus")
        # What a camera can do is the recorder core's to say, and long.
        said = [body[2] for body in watcher.heard("Decided") if " plug " not in body[2]]
        assert said and all(len(text) < 4096 and "\x1b" not in text for text in said), said
        data = [repr(body[3]) for body in watcher.heard("Decided")]
        assert all(len(text) < 4096 and "\\x1b" not in text for text in data), data
        assert daemon.log.stat().st_size < 100_000, daemon.log.stat().st_size


@claim("what a client says of other apps is bounded, and gone when it is gone")
def facts():
    with Daemon() as daemon:
        app = daemon.shell()

        def until_refused(member, signature, *rest):
            for number in range(5000):
                try:
                    app.call(SHELL, member, signature, f"app{number}", *rest)
                except Refused as refusal:
                    assert refusal.error == "LimitExceeded", refusal
                    return number

        assert until_refused("TakeMicrophone", "s") == 64
        assert until_refused("PlaceApp", "ssb", "split", False) == 1024
        # What is known already may be changed, and what is let go makes room.
        app.place("app1", "background")
        app.call(SHELL, "ReleaseMicrophone", "s", "app1")
        app.call(SHELL, "TakeMicrophone", "s", "another")


@claim("a status with thousands of sessions reaches whoever asks for it, page by page")
def long_status():
    with Daemon() as daemon:
        for app in [daemon.app("many") for _ in range(20)]:
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
        for last in (found[-1], (1 << 64) - 1):
            assert asker.call(BROKER, "GetSessions", "t", last) == ([], False)
        shown = status(daemon)
        assert [session["session"] for session in shown["sessions"]] == found, len(shown["sessions"])
        told = {(use["user"], use["resource"]): use["used"] for use in shown["budgets"]}
        assert told[(None, "sessions")] == told[(0, "sessions")] == len(found), told


@claim("when the last recorder has left, the broker's memory is what it was before the first app came")
def memory_at_rest():
    with Daemon() as daemon:
        daemon.app().status()
        wait_until("the recorder that described the camera to leave", lambda: not daemon.recorders())
        before = resident(daemon)
        for name in ("photos", "call", "booth"):
            app, session = daemon.running(name)
            session.record(daemon.directory / f"{name}.mkv")
            app.status()
            app.close()
        served = resident(daemon)
        wait_until("the recorder to leave", lambda: not daemon.recorders())
        wait_until("the memory to be given back", lambda: resident(daemon) - before < 1024)
        return f"{before} kB at rest, {served} kB while serving, {resident(daemon)} kB at rest again"


def flood(app, session, member, signature=None, *body):
    """As many calls as the broker takes before it ends the connection, or ten thousand, and no answer read."""
    with contextlib.suppress(OSError):
        for _ in range(10_000):
            message = new_method_call(session.at, member, signature, body)
            app.connection.send(message, serial=next(app.connection.outgoing_serial))


@claim("a watcher that calls without end neither ends nor holds up the recorder core that it shares with others")
def flooding_watcher():
    with Daemon("windows") as daemon:
        teams, control = daemon.running("teams")
        stream = control.stream()
        recorders = daemon.recorders()
        with open(daemon.directory / "flood.jpg", "w+b") as file:
            for ended, call in enumerate((("OpenStream",), ("CapturePhoto", "ha{sv}", file, {})), 1):
                mirror, watch = daemon.running("mirror", sharingMode="sharedReadOnly")
                flood(mirror, watch, *call)
                mirror.close()
                daemon.apps.remove(mirror)
                wait_until("the watcher's end", lambda: daemon.log.read_text().count("disconnect mirror") >= ended)
                for _ in range(30):
                    stream.release(stream.read())
                teams.is_not_told("WasInterrupted")
                assert daemon.recorders() == recorders, f"{call[0]}: the recorder core is another"
