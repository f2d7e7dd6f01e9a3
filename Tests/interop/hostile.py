"""What one client can do to the others, and to the broker itself: nothing."""
import contextlib

from jeepney import new_method_call

from camclient import status
from harness import BROKER, SHELL, Daemon, Refused, claim, refused, wait_until


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
        assert len(daemon.app().call(BROKER, "GetStatus")[2]) == 64
        for last in (20 * 64, (1 << 64) - 1):
            assert daemon.app().call(BROKER, "GetSessions", "t", last) == ([], False)
        shown = status(daemon)
        found = [session["session"] for session in shown["sessions"]]
        assert found == list(range(1, 20 * 64 + 1)), (len(found), found[:3])
        told = {(use["user"], use["resource"]): use["used"] for use in shown["budgets"]}
        assert told[(None, "sessions")] == told[(0, "sessions")] == len(found), told


@claim("a watcher that calls without end neither ends nor holds up the recorder core that it shares with others")
def flooding_watcher():
    with Daemon("windows") as daemon, open(daemon.directory / "flood.jpg", "w+b") as file:
        teams, control = daemon.running("teams")
        stream = control.stream()
        recorders = daemon.recorders()
        mirror, watch = daemon.running("mirror", sharingMode="sharedReadOnly")
        # As many calls as the broker takes before it ends the connection, and no answer read.
        with contextlib.suppress(OSError):
            for _ in range(10_000):
                call = new_method_call(watch.at, "CapturePhoto", "ha{sv}", (file, {}))
                mirror.connection.send(call, serial=next(mirror.connection.outgoing_serial))
        mirror.close()
        wait_until("the watcher's end", lambda: "disconnect mirror" in daemon.log.read_text())
        for _ in range(30):
            stream.release(stream.read())
        teams.is_not_told("WasInterrupted")
        assert daemon.recorders() == recorders, "the recorder core is another"
