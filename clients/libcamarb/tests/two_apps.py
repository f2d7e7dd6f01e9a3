"""Two apps want one camera: what the library tells the one that has to wait."""
from app import App
from camarb import EventType, SlateKind, State
from harness import SHELL, Daemon, claim


def focus(shell, app, other):
    shell.call(SHELL, "PlaceApp", "ssb", app, "fullscreen", True)
    shell.call(SHELL, "PlaceApp", "ssb", other, "fullscreen", False)


@claim("an app that comes forward interrupts, by name, and the interrupted one goes on by itself and without its recording")
def interrupted():
    with Daemon() as daemon, App(daemon.address, "red") as red, App(daemon.address, "blue") as blue:
        shell = daemon.shell()
        focus(shell, "red", "blue")
        mine, other = red.session(), blue.session()
        mine.start().result()
        first = red.wait(EventType.DID_START_RUNNING)
        film = daemon.directory / "film.mkv"
        recording = red.records(mine, film)
        held = red.frame(mine)
        assert held.is_intact
        focus(shell, "blue", "red")
        other.start().result()
        told = red.wait(EventType.WAS_INTERRUPTED)
        assert told.reason == "video-device-in-use-by-another-client" and told.causes == (told.reason,), told
        assert told.interrupter == "blue" and told.recording == recording and told.decision > 0 and told.rule, told
        red.wait(EventType.DID_STOP_RUNNING)
        blue.wait(EventType.DID_START_RUNNING)
        assert not held.is_intact, "the camera was taken away"
        assert not any(held.planes[0]), "what was held is blank once the other one runs"
        held.release()
        assert mine.state is State.INTERRUPTED and other.state is State.RUNNING
        slate = mine.slate()
        assert (slate.kind, slate.reason, slate.interrupter) == (SlateKind.INTERRUPTED, told.reason, "blue"), slate
        finished = red.wait(EventType.RECORDING_FINISHED)
        assert finished.recording == recording and finished.reason == "interrupted" and finished.bytes == film.stat().st_size
        blue.frame(other).release()
        other.stop().result()
        ended = red.wait(EventType.INTERRUPTION_ENDED)
        assert ended.interruption == told.interruption and ended.will_resume and ended.duration > 0, ended
        again = red.wait(EventType.DID_START_RUNNING)
        assert again.grant > first.grant
        with red.frame(mine) as frame:
            assert frame.grant == again.grant
        assert "RECORDING_STARTED" not in red.names()[red.names().index("INTERRUPTION_ENDED"):]
        assert not red.has_gap(mine) and not blue.has_gap(other)


@claim("a privacy switch is told as the user's own will")
def privacy():
    with Daemon() as daemon, App(daemon.address, "red") as red:
        shell = daemon.shell()
        focus(shell, "red", "blue")
        session = red.running()
        shell.call(SHELL, "SetPrivacy", "sb", "front", True)
        assert red.wait(EventType.WAS_INTERRUPTED).reason == "video-device-blocked-by-privacy"
        assert session.slate().kind is SlateKind.SWITCHED_OFF
        shell.call(SHELL, "SetPrivacy", "sb", "front", False)
        red.wait(EventType.DID_START_RUNNING)
        red.frame(session).release()


@claim("on a telephone's desktop a second app in front interrupts the first, which hears of the change")
def several_in_front():
    with Daemon(policy="ios9") as daemon, App(daemon.address, "red") as red:
        shell = daemon.shell()
        shell.call(SHELL, "PlaceApp", "ssb", "red", "fullscreen", True)
        session = red.running()
        shell.call(SHELL, "PlaceApp", "ssb", "notes", "slide-over", False)
        told = red.wait(EventType.WAS_INTERRUPTED)
        assert told.reason == "video-device-not-available-with-multiple-foreground-apps", told
        shell.call(SHELL, "PlaceApp", "ssb", "red", "background", False)
        changed = red.wait(EventType.INTERRUPTION_CHANGED)
        assert changed.interruption == told.interruption
        assert changed.reason == "video-device-not-available-in-background", changed
        shell.call(SHELL, "PlaceApp", "ssb", "notes", "background", False)
        shell.call(SHELL, "PlaceApp", "ssb", "red", "fullscreen", True)
        red.wait(EventType.INTERRUPTION_ENDED)
        red.wait(EventType.DID_START_RUNNING)
        red.frame(session).release()
        assert not red.has_gap(session)
