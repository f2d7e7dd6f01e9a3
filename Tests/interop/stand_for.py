"""A user's agent that speaks for other programs, each on a connection of its own: which may, for which programs, and how it ends."""
import os, pathlib, shutil, tempfile

from desktop import tells_apart
from harness import BROKER, SHELL, Daemon, Ended, claim, refused, spawn, stat_of, wait_until


class Program(Ended):
    """A program under a name of its own that waits to be ended."""

    def __init__(self, name, user=None):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="camarb-program."))
        self.directory.chmod(0o755)
        program = self.directory / name
        program.symlink_to(shutil.which("sleep"))
        self.process = spawn(program, 600, user=user)
        self.pid = self.process.pid
        self.began = int(stat_of(self.pid)[1][19]) * (1_000_000_000 // os.sysconf("SC_CLK_TCK"))

    def __exit__(self, *how):
        super().__exit__(*how)
        shutil.rmtree(self.directory, ignore_errors=True)


def stand(app, program):
    return app.call(BROKER, "StandFor", "ut", program.pid, program.began)[0]


@claim("an agent's connection that stands for a process is that process's client: its app, whatever it declares, and its end")
def stands():
    with Daemon(claims=False) as daemon, Program("mirror") as mirror, Program("booth") as booth:
        first, second, watcher = daemon.app(), daemon.app(), daemon.app()
        names = stand(first, mirror), stand(second, booth)
        assert not tells_apart() or names == ("mirror", "booth"), names
        for app in (first, second):
            app.call(BROKER, "CreateSession", "sa{sv}", "", {})
        known = {one["process"][1]: one["app"][1] for one in watcher.call(SHELL, "ListClients")[0]}
        assert known == {mirror.pid: names[0], booth.pid: names[1]}, known
        mirror.process.kill()
        mirror.process.wait()
        wait_until("its session to end", lambda: len(watcher.call(BROKER, "GetStatus")[2]) == 1)
        # The agent's own end is the connection's.
        second.close()
        wait_until("the other to end", lambda: not watcher.call(BROKER, "GetStatus")[2])


@claim("nobody stands for a process that is gone, that is another user's, or twice, and only the one that the policy names stands at all")
def stands_not():
    with Daemon(claims=False, users=[4242]) as daemon, Program("mirror") as mirror, Program("other", user=4243) as other:
        app = daemon.app()
        for which in ((mirror.pid, mirror.began + 10_000_000), (other.pid, other.began), (0, 0), (2**32 - 1, mirror.began)):
            refused(lambda: app.call(BROKER, "StandFor", "ut", *which), "There is no process", error="InvalidValue")
        stand(app, mirror)
        refused(lambda: stand(app, mirror), "once in a connection", error="AccessDenied")
        late = daemon.app()
        late.call(BROKER, "CreateSession", "sa{sv}", "", {})
        refused(lambda: stand(late, mirror), "comes first", error="AccessDenied")
        with Program("own", user=4242) as own:
            refused(lambda: stand(daemon.app(user=4242), own), "[agent]", error="NotTrusted")
