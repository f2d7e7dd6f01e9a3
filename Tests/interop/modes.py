"""The machine's mode: what a policy's calendar says, what is set by hand, and which of the two counts."""
import contextlib, datetime, pathlib, tempfile

from harness import BROKER, SHELL, Daemon, Refused, claim

BACKGROUND = "video-device-not-available-in-background"


def clock(moment):
    return moment.strftime("%H:%M")


def policy(begin, end):
    """A night that begins and ends so many hours from now, by the machine's clock, and two modes beside it."""
    now = datetime.datetime.now()
    at = "-".join(clock(now + datetime.timedelta(hours=hours)) for hours in (begin, end))
    return f'''
name = "modes"

[[mode]]
name = "night"
at   = "{at}"

[[mode]]
name = "cleaning"

[[mode]]
name   = "tides"
at     = "{clock(now + datetime.timedelta(hours=5))}-{clock(now + datetime.timedelta(hours=6))}"
set-by = []

[[cause]]
name  = "At night"
when  = {{ mode = "night" }}
cause = "{BACKGROUND}"
'''


@contextlib.contextmanager
def at_night():
    """It is the middle of the night, whatever time it is."""
    with tempfile.TemporaryDirectory(prefix="camarb-modes.") as folder:
        file = pathlib.Path(folder) / "modes.toml"
        file.write_text(policy(-1, 1))
        with Daemon(file) as daemon:
            yield daemon, file


def status(app):
    return {key: value for key, (_, value) in app.call(BROKER, "GetStatus")[0].items()}


@claim("a policy's calendar holds by the machine's local time; a mode set by hand goes before it until it is taken back, and a reload takes another calendar over")
def calendar():
    with at_night() as (daemon, file):
        app, shell = daemon.app("photos"), daemon.app()
        told = status(app)
        assert (told["mode"], told["modeSetBy"], told["calendarMode"]) == ("night", "", "night"), told
        assert told["calendarUntil"].endswith(file.read_text().split('"')[5].split("-")[1]), told
        session = app.session()
        session.start()
        _, _, _, causes, *_ = app.wait("WasInterrupted")
        assert causes == [BACKGROUND], causes
        shell.call(SHELL, "SetMode", "s", "cleaning")
        app.wait("DidStartRunning")
        # It stays when whoever set it has left.
        shell.close()
        shell = daemon.app()
        told = status(app)
        assert told["mode"] == "cleaning" and told["modeSetBy"] in ("root", "operator"), told
        assert told["calendarMode"] == "night", told
        for name, words in (("tides", "its calendar alone"), ("dawn", "it has night, cleaning, tides")):
            try:
                shell.call(SHELL, "SetMode", "s", name)
            except Refused as refusal:
                assert words in str(refusal), refusal
            else:
                raise AssertionError(f"{name} was set")
        shell.call(SHELL, "SetMode", "s", "")
        app.wait("WasInterrupted")
        # By the next calendar the night has not begun.
        file.write_text(policy(1, 2))
        daemon.process.send_signal(1)
        app.wait("DidStartRunning")
        assert status(app)["mode"] == "", status(app)
        assert "the calendar says mode night" in daemon.log.read_text()
