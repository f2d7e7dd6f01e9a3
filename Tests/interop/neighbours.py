"""What one user's programs hear of another user's."""
import os

from harness import BROKER, SHELL, App, Daemon, Skipped, as_user, claim


@claim("a new app of one user is told to that user's agents, and to no other user's")
def clients_changed():
    if os.geteuid() != 0:
        raise Skipped("another user's agent takes root")
    with Daemon() as daemon:
        daemon.directory.chmod(0o755)
        daemon.path.chmod(0o666)
        agent = daemon.app()
        agent.call(SHELL, "ListClients")
        listens, hears = os.pipe()
        goes, on = os.pipe()
        other = os.fork()
        if other == 0:
            status = 1
            try:
                os.close(on)
                os.setgroups([])
                os.setresgid(65534, 65534, 65534)
                os.setresuid(65534, 65534, 65534)
                stranger = App(daemon.address)
                stranger.call(SHELL, "ListClients")
                os.write(hears, b"x")
                # Until the app is there, or the test has ended.
                os.read(goes, 1)
                # What was sent before comes before this answer.
                stranger.call(BROKER, "Watch", "b", False)
                status = 2 if any(member == "ClientsChanged" for _, member, _ in stranger.signals) else 0
            finally:
                os._exit(status)
        try:
            os.close(hears)
            assert os.read(listens, 1) == b"x", "the other user's agent did not get as far as listening"
            daemon.app("photos")
            agent.wait("ClientsChanged")
        finally:
            os.close(on)
            status = os.waitstatus_to_exitcode(os.waitpid(other, 0)[1])
        assert status == 0, "the other user's agent heard of it" if status == 2 else f"it ended with status {status}"


@claim("of a decision that another user's app causes, a watcher has the notices of its own sessions, as lines and as data, and nothing else")
def decisions_of_others():
    if os.geteuid() != 0:
        raise Skipped("another user's app takes root")
    user = 65534
    with Daemon(users=(user,)) as daemon:
        with as_user(user):
            app = daemon.app("photos")
        app.call(BROKER, "Watch", "b", True)
        session = app.session()
        session.start()
        app.wait("DidStartRunning")
        watcher, rival, shell = daemon.app(), daemon.app("rival"), daemon.shell()
        watcher.call(BROKER, "Watch", "b", True)
        session2 = rival.session()
        session2.start()
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
        told = app.signals[before:]
        (own,) = [body for _, member, body in told if member == "WasInterrupted"]
        assert [cut[key][1] for key in ("sequence", "interruption", "causes", "reason", "interrupter", "recording", "rule")] == [
            own[0], *own[2:]], (cut, own)
        watcher.call(BROKER, "GetStatus")
        app.call(BROKER, "GetStatus")
        heard = [f"{body[2]} {body[3]}" for _, member, body in app.signals[before:] if member == "Decided"]
        assert heard and not any("rival" in text for text in heard), heard
        assert any("rival" in str(body[3]) for _, member, body in watcher.signals if member == "Decided")
