"""Traces of running brokers: which clients may record one, which are too slow, and what each kind of policy leaves in one."""
import json, os, signal

from camclient import Running, camclient
from harness import BROKER, CAMERA, SHELL, App, Daemon, Refused, claim, wait_until
from traces import IOS, KIOSK, REPLAYED, Folder, lines, replay, visit, walk


@claim("a recording of a running broker begins with a snapshot, replays, and is no beginning of a scenario")
def recorded():
    with Folder() as folder, Daemon("ios9") as daemon:
        trace = folder / "visit.trace"
        before = daemon.app("photos")
        before.session().start()
        before.wait("DidStartRunning")
        with Running(daemon, "trace", "record", str(trace)) as recorder:
            wait_until("the snapshot", lambda: trace.exists() and trace.stat().st_size)
            shell = visit(daemon)
            walk(shell, 20)
            daemon.process.send_signal(signal.SIGHUP)  # The same policy again.
            wait_until("the reload", lambda: b'"event":"policyLoaded"' in trace.read_bytes())
            recorder.process.send_signal(signal.SIGINT)
            assert "steps in" in recorder.end()[1]
        report = json.loads(replay(trace, "--json").stdout)
        assert report["ok"] and report["ended"] and report["steps"] > 30, report
        refused = camclient(None, "trace", "convert", str(trace), status=2).stderr
        assert f"{trace}:1: the trace begins in the middle" in refused, refused
        assert "photos" in camclient(None, "timeline", str(trace), "--width", "80").stdout
        camclient(daemon, "trace", "record", str(trace), status=5)
        camclient(daemon, "trace", "record", str(trace), "--overwrite", "-d", "100ms")
        assert len(lines(trace)) >= 2


@claim("nobody but root and the broker's own user may record")
def private():
    if os.geteuid() != 0:
        return "not tried: that takes root"
    with Daemon("ios9") as daemon:
        # Where a stranger gets as far as the broker.
        daemon.directory.chmod(0o755)
        daemon.path.chmod(0o666)
        stranger = os.fork()
        if stranger == 0:
            said = 1
            try:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
                App(daemon.address).call(BROKER, "Trace")
            except Refused as refused:
                said = 0 if refused.name.endswith(".AccessDenied") else 2
            finally:
                os._exit(said)
        assert os.waitstatus_to_exitcode(os.waitpid(stranger, 0)[1]) == 0
        (header,) = daemon.app().call(BROKER, "Trace")
        os.close(header.to_raw_fd())


@claim("whoever records too slowly is told, and the file says how much is missing")
def slow():
    with Folder() as folder, Daemon("ios9", cameras=(f"{CAMERA}=none",)) as daemon:
        trace = folder / "slow.trace"
        shell = daemon.shell()
        with Running(daemon, "trace", "record", str(trace)) as recorder:
            wait_until("the snapshot", lambda: trace.exists() and trace.stat().st_size)
            recorder.process.send_signal(signal.SIGSTOP)
            walk(shell, 4000)
            recorder.process.send_signal(signal.SIGCONT)
            wait_until("the loss", lambda: (walk(shell, 2), b'{"end":"lost"' in trace.read_bytes())[1])
            walk(shell, 10)
            recorder.process.send_signal(signal.SIGINT)
            assert "missing in between" in recorder.end(status=1)[1]
        report = json.loads(replay(trace, "--json", status=1).stdout)
        assert not report["ok"] and report["lost"] > 0 and report["ended"], report
        assert "are missing here" in camclient(None, "timeline", str(trace), "--json").stdout
        camclient(None, "trace", "convert", str(trace), status=2)
        return f"{report['lost']} of {report['lost'] + report['steps']} steps lost"


def shared(daemon):
    """One controls, another watches, and takes over the picture when the first leaves."""
    teams, mirror = daemon.app("teams"), daemon.app("mirror")
    control, watch = teams.session(), mirror.session(sharingMode="sharedReadOnly")
    for app, session in ((teams, control), (mirror, watch)):
        session.start()
        app.wait("DidStartRunning")
    mirror.wait("AccessChanged")
    control.call("StopRunning")
    teams.wait("DidStopRunning")
    return "accessChanged"


def scored(daemon):
    """An app with a stronger attribute evicts; one that lowers itself is evicted."""
    shell = daemon.shell()
    music, photos = daemon.app("music"), daemon.app("photos")
    for app, score in (("music", "visible-app"), ("photos", "foreground-app")):
        shell.call(SHELL, "SetAttribute", "sss", app, "score", score)
    first, second = music.session(), photos.session()
    first.start()
    music.wait("DidStartRunning")
    second.start()
    music.wait("SessionStopped")
    photos.wait("DidStartRunning")
    photos.call(BROKER, "LowerAttribute", "ss", "score", "cached-app-max")
    first.start()
    photos.wait("SessionStopped")
    music.wait("DidStartRunning")
    return "attribute photos score foreground-app"


def reloaded(daemon):
    """Another policy in the middle of a visit, and a wrong one, which changes nothing."""
    shell = visit(daemon)
    policy = daemon.directory / "policy.toml"
    for text, name in (("nmae = 1", None), (KIOSK.read_text(), "kiosk"), (IOS.read_text(), "ios9")):
        policy.write_text(text)
        daemon.process.send_signal(signal.SIGHUP)
        if name:
            wait_until(f"policy {name}", lambda: json.loads(camclient(daemon, "status", "--json").stdout)["policy"] == name)
        walk(shell, 4)
    return "policy-reload"


@claim("traces of shared cameras, of attributes and of reloaded policies replay, and become scenarios that pass")
def policies():
    with Folder() as folder:
        own = folder / "policy.toml"
        own.write_text(IOS.read_text())
        for name, policy, story in (("windows", "windows", shared), ("android", "android", scored), ("reload", own, reloaded)):
            trace, scenario = folder / f"{name}.trace", folder / f"{name}.scenario"
            with Daemon(policy, extra=("--trace", trace)) as daemon:
                if policy is own:
                    own.rename(daemon.directory / "policy.toml")
                    own.symlink_to(daemon.directory / "policy.toml")
                shown = story(daemon)
            assert replay(trace).stdout.endswith(REPLAYED)
            camclient(None, "trace", "convert", str(trace), "-o", str(scenario))
            camclient(None, "test", str(scenario))
            assert shown in scenario.read_text(), (shown, scenario.read_text())
