"""What one user's programs hear of another user's."""
from harness import BROKER, SHELL, Daemon, claim, needs_root

USER = 65534


@claim("a new app of one user is told to that user's agents, and to no other user's")
def clients_changed():
    needs_root()
    with Daemon() as daemon:
        agent, stranger = daemon.app(), daemon.app(user=USER)
        for one in (agent, stranger):
            one.call(SHELL, "ListClients")
        daemon.app("photos")
        agent.wait("ClientsChanged")
        # What was sent before comes before this answer.
        stranger.call(BROKER, "Watch", "b", False)
        assert not stranger.heard("ClientsChanged"), "the other user's agent heard of it"


@claim("of a decision that another user's app causes, a watcher has the notices of its own sessions, as lines and as data, and "
       "nothing else")
def decisions_of_others():
    needs_root()
    with Daemon(users=(USER,)) as daemon:
        app = daemon.app("photos", USER)
        app.call(BROKER, "Watch", "b", True)
        app.running()
        watcher, rival, shell = daemon.app(), daemon.app("rival"), daemon.shell()
        watcher.call(BROKER, "Watch", "b", True)
        rival.session().start()
        before = len(app.signals)
        shell.call(SHELL, "Override", "s", "rival@0")

        def cuts_photos(body):
            return any(part.get("notice") == ("s", "WasInterrupted") and part["name"] == ("s", "photos") for part in body[3])

        whole, part = watcher.wait("Decided", cuts_photos), app.wait("Decided", cuts_photos)
        # Whoever is trusted has the event first, and everybody's notices; both have a part for each line.
        assert whole[3][0]["event"] == ("s", "operatorChose") and whole[3][0]["app"] == ("s", "rival"), whole
        assert len(whole[3]) == len(whole[2].splitlines()) > 1, whole
        assert part[0] == whole[0] and len(part[3]) == len(part[2].splitlines()) - 1, part
        for said in part[3]:
            assert said["effect"] == ("s", "notify") and said["name"] == ("s", "photos"), part
        (cut,) = [said for said in part[3] if said["notice"] == ("s", "WasInterrupted")]
        assert cut["interrupter"] == ("s", "another user's app") and cut["causes"][1] and "rule" in cut, cut
        # The signal to the session itself says the same.
        (own,) = app.heard("WasInterrupted", before)
        assert [cut[key][1] for key in ("sequence", "interruption", "causes", "reason", "interrupter", "recording", "rule", "message")] == [
            own[0], *own[2:]], (cut, own)
        watcher.status()
        app.status()
        heard = [f"{body[2]} {body[3]}" for body in app.heard("Decided", before)]
        assert heard and not any("rival" in text for text in heard), heard
        assert any("rival" in str(body[3]) for body in watcher.heard("Decided"))
