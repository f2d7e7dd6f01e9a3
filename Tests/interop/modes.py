"""The machine's mode: what a policy's calendar says, what is set by hand, and which of the two counts."""
import datetime

from harness import SHELL, Daemon, claim

BACKGROUND = "video-device-not-available-in-background"


def policy(begin, end):
    """A night that begins and ends so many hours from now, by the machine's clock, and a mode beside it."""
    at = "-".join(f"{datetime.datetime.now() + datetime.timedelta(hours=hours):%H:%M}" for hours in (begin, end))
    return f'''
name = "modes"
[[mode]]
name = "night"
at   = "{at}"
[[mode]]
name = "cleaning"
[[cause]]
name  = "At night"
when  = {{ mode = "night" }}
cause = "{BACKGROUND}"
'''


@claim("a policy's calendar holds by the machine's local time; a mode set by hand goes before it until it is taken back, and a "
       "reload takes another calendar over")
def calendar():
    # It is the middle of the night, whatever time it is.
    with Daemon(night := policy(-1, 1)) as daemon:
        app, shell = daemon.app("photos"), daemon.app()
        told = app.status()
        assert (told["mode"], told["modeSetBy"], told["calendarMode"]) == ("night", "", "night"), told
        assert told["calendarUntil"].endswith(night.split('"')[5].split("-")[1]), told
        app.session().start()
        app.is_interrupted(BACKGROUND)
        shell.call(SHELL, "SetMode", "s", "cleaning")
        app.wait("DidStartRunning")
        # It stays when whoever set it has left.
        shell.close()
        shell = daemon.app()
        told = app.status()
        assert told["mode"] == "cleaning" and told["modeSetBy"] in ("root", "operator"), told
        assert told["calendarMode"] == "night", told
        assert "it has night, cleaning" in str(shell.refusal(SHELL, "SetMode", "s", "dawn"))
        shell.call(SHELL, "SetMode", "s", "")
        app.wait("WasInterrupted")
        # By the next calendar the night has not begun.
        daemon.reload(policy(1, 2))
        app.wait("DidStartRunning")
        assert app.status()["mode"] == "", app.status()
        assert "the calendar says mode night" in daemon.log.read_text()
