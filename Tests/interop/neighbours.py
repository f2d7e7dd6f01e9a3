"""What one user's programs hear of another user's."""
import os

from harness import BROKER, SHELL, App, Daemon, Skipped, claim


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
