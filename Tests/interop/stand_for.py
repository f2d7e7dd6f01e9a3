"""A user's agent that speaks for other programs, each on a connection of its own: which may, for which programs, and how it ends."""
import os, pathlib, shutil, subprocess, tempfile

from desktop import tells_apart
from harness import BROKER, SHELL, App, Daemon, Refused, as_user, claim, die_with_parent, wait_until


class Program:
    """A program under a name of its own that waits to be ended."""

    def __init__(self, name, user=None):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="camarb-program."))
        self.directory.chmod(0o755)
        program = self.directory / name
        program.symlink_to(shutil.which("sleep"))
        self.process = subprocess.Popen([program, "600"], preexec_fn=die_with_parent, user=user)
        self.pid = self.process.pid
        stat = pathlib.Path(f"/proc/{self.pid}/stat").read_text()
        ticks = int(stat[stat.rindex(")") + 2:].split()[19])
        self.began = ticks * (1_000_000_000 // os.sysconf("SC_CLK_TCK"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


def stand(app, program, began=None):
    return app.call(BROKER, "StandFor", "ut", program.pid, program.began if began is None else began)[0]


def refused(error, words, work):
    try:
        work()
    except Refused as why:
        assert why.name.endswith(error) and words in why.message, why
    else:
        raise AssertionError(f"it was not refused with {error}")


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
        refused("InvalidValue", "There is no process", lambda: stand(app, mirror, began=mirror.began + 10_000_000))
        refused("InvalidValue", "There is no process", lambda: stand(app, other))
        refused("InvalidValue", "There is no process", lambda: app.call(BROKER, "StandFor", "ut", 0, 0))
        refused("InvalidValue", "There is no process", lambda: app.call(BROKER, "StandFor", "ut", 2**32 - 1, mirror.began))
        stand(app, mirror)
        refused("AccessDenied", "once in a connection", lambda: stand(app, mirror))
        late = daemon.app()
        late.call(BROKER, "CreateSession", "sa{sv}", "", {})
        refused("AccessDenied", "comes first", lambda: stand(late, mirror))
        with as_user(4242):
            stranger = App(daemon.address)
        with Program("own", user=4242) as own:
            refused("NotTrusted", "[agent]", lambda: stand(stranger, own))
        stranger.close()
