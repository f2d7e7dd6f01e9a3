"""Traces of running brokers: which clients may record one, which are too slow, and what each kind of policy leaves in one."""
import contextlib, signal

from camclient import Running, camclient, status, told
from harness import CAMERA, Daemon, Folder, claim, stopped, wait_until
from traces import IOS, KIOSK, REPLAYED, converted_to, lines, replay, visit, walk


@contextlib.contextmanager
def recording(daemon, trace):
    """A camclient that records a trace, and has its snapshot."""
    with Running(daemon, "trace", "record", trace) as recorder:
        wait_until("the snapshot", lambda: trace.exists() and trace.stat().st_size)
        yield recorder


@claim("a recording of a running broker begins with a snapshot, replays, and is no beginning of a scenario")
def recorded():
    with Folder() as folder, Daemon("ios9") as daemon:
        trace = folder / "visit.trace"
        daemon.running("photos")
        with recording(daemon, trace) as recorder:
            walk(visit(daemon), 20)
            daemon.reload()  # The same policy again.
            wait_until("the reload", lambda: b'"event":"policyLoaded"' in trace.read_bytes())
            assert "steps in" in recorder.end(how=signal.SIGINT)[1]
        report = told(None, "trace", "replay", trace)
        assert report["ok"] and report["ended"] and report["steps"] > 30, report
        refused = camclient(None, "trace", "convert", trace, status=2).stderr
        assert f"{trace}:1: the trace begins in the middle" in refused, refused
        assert "photos" in camclient(None, "timeline", trace, "--width", "80").stdout
        camclient(daemon, "trace", "record", trace, status=5)
        camclient(daemon, "trace", "record", trace, "--overwrite", "-d", "100ms")
        assert len(lines(trace)) >= 2


@claim("whoever records too slowly is told, and the file says how much is missing")
def slow():
    with Folder() as folder, Daemon("ios9", cameras=(f"{CAMERA}=none",)) as daemon:
        trace, shell = folder / "slow.trace", daemon.shell()
        with recording(daemon, trace) as recorder:
            with stopped(recorder.process.pid):
                walk(shell, 4000)
            wait_until("the loss", lambda: (walk(shell, 2), b'{"end":"lost"' in trace.read_bytes())[1])
            walk(shell, 10)
            assert "missing in between" in recorder.end(1, how=signal.SIGINT)[1]
        report = told(None, "trace", "replay", trace, status=1)
        assert not report["ok"] and report["lost"] > 0 and report["ended"], report
        assert "are missing here" in camclient(None, "timeline", trace, "--json").stdout
        camclient(None, "trace", "convert", trace, status=2)
        return f"{report['lost']} of {report['lost'] + report['steps']} steps lost"


@claim("a trace of policies that are reloaded, and of a wrong one, which changes nothing, replays, and becomes a scenario that passes")
def reloaded():
    with Folder() as folder:
        trace, scenario = folder / "reload.trace", folder / "reload.scenario"
        with Daemon(IOS.read_text(), extra=("--trace", trace)) as daemon:
            shell = visit(daemon)
            for text, name in (("nmae = 1", None), (KIOSK.read_text(), "kiosk"), (IOS.read_text(), "ios9")):
                daemon.reload(text)
                if name:
                    wait_until(f"policy {name}", lambda: status(daemon)["policy"] == name)
                walk(shell, 4)
        assert replay(trace).stdout.endswith(REPLAYED)
        converted_to(trace, scenario)
        camclient(None, "test", scenario)
        assert "policy-reload" in scenario.read_text(), scenario.read_text()
