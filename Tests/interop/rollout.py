"""A policy's way into a running broker: its plan, its loading and taking back, its hash, and the gate before all that."""
import json, os, pathlib, re, signal, tempfile

from camclient import Running, camclient
from harness import BROKER, ROOT, Daemon, Refused, as_user, claim, wait_until

KIOSK = str(ROOT / "policies" / "kiosk.toml")
BASE = 'name = "{name}"\nranks = ["strong", "weak"]\n'


def rule(app, more):
    return f'[[rank]]\nname = "{app} rule"\nclaimed-app = "{app}"\n{more}\n'


def write(folder, name, text):
    path = os.path.join(folder, name)
    pathlib.Path(path).write_text(text, encoding="utf-8")
    return path


def status(daemon):
    return json.loads(camclient(daemon, "status", "--json").stdout)


@claim("a plan for a policy says times as people read them")
def planned_times():
    with tempfile.TemporaryDirectory() as folder, Daemon("kiosk") as daemon:
        photos = daemon.app("photos")
        photos.session().start()
        photos.wait("DidStartRunning")
        lease = write(folder, "lease.toml", BASE.format(name="lease") + rule("photos", 'rank = "strong"\nlease = "30min"'))
        said = camclient(daemon, "plan", "--policy", lease).stdout
        # Of a lease of half an hour a moment is over.
        assert re.search(r"photos (on front )?is stopped (30min|29min [0-9]+s) from now, when its new lease ends", said), said
        assert "is stopped" in camclient(daemon, "policy", "load", lease, status=1).stdout


@claim("a policy that nobody would notice is loaded at once; one that cuts somebody only if it is what was planned")
def loaded():
    with tempfile.TemporaryDirectory() as folder, Daemon("kiosk") as daemon:
        before = status(daemon)
        assert before["policyByHand"] == "" and len(before["policyHash"]) == 32, before
        same = write(folder, "same.toml", BASE.format(name="same"))
        booth = write(folder, "booth.toml", BASE.format(name="booth") + rule("booth", 'rank = "strong"'))
        answer = json.loads(camclient(daemon, "policy", "load", same, "--json").stdout)
        assert answer["loaded"] and answer["changes"] == [], answer
        there = status(daemon)
        assert there["policy"] == "same" and there["policyHash"] == answer["policyHash"], there
        assert "by hand" in there["policyByHand"] and same in there["policyByHand"] and KIOSK in there["policyByHand"], there
        assert "by hand" in camclient(daemon, "status").stdout
        # Photos has the camera, and booth waits.
        photos, waiting = daemon.app("photos"), daemon.app("booth")
        photos.session().start()
        photos.wait("DidStartRunning")
        waiting.session().start()
        waiting.wait("WasInterrupted")
        planned = json.loads(camclient(daemon, "plan", "--policy", booth, "--json").stdout)
        assert [(one["app"], one["kind"]) for one in planned["changes"]] == [("photos", "interrupted"), ("booth", "runs")], planned
        said = camclient(daemon, "policy", "load", booth, status=1)
        assert "photos on" in said.stdout and planned["plan"] in said.stderr, said
        assert status(daemon)["policy"] == "same"
        # Somebody else would be cut by now: nothing happens.
        third = daemon.app("maps")
        third.session().start()
        third.wait("WasInterrupted")
        changed = camclient(daemon, "policy", "load", booth, "--plan", planned["plan"], status=1)
        assert "PlanChanged" in changed.stderr and "maps is told" in changed.stderr, changed
        assert status(daemon)["policy"] == "same"
        planned = json.loads(camclient(daemon, "policy", "load", booth, "--json", status=1).stdout)
        assert not planned["loaded"] and len(planned["changes"]) == 3, planned
        call = write(folder, "call.toml", BASE.format(name="call") + rule("maps", 'rank = "strong"'))
        camclient(daemon, "policy", "load", call, "--plan", planned["plan"], status=1)
        camclient(daemon, "policy", "load", booth, "--plan", planned["plan"])
        photos.wait("WasInterrupted")
        waiting.wait("DidStartRunning")
        assert status(daemon)["policy"] == "booth"
        # What would stand in the way of the same app now is told; --yes asks nobody.
        camclient(daemon, "policy", "load", call, status=1)
        camclient(daemon, "policy", "load", call, "--yes")
        third.wait("DidStartRunning")
        camclient(daemon, "policy", "load", "--back")
        after = status(daemon)
        assert (after["policy"], after["policyHash"], after["policyByHand"]) == ("kiosk", before["policyHash"], ""), after


@claim("a reload takes a loaded policy back, and its hash is the same in the status, the file, the metrics, the bus and the trace")
def taken_back():
    with tempfile.TemporaryDirectory() as folder:
        drop_ins = os.path.join(folder, "d")
        os.mkdir(drop_ins)
        write(drop_ins, "50.toml", '[contention]\ntie = "newcomer"\n')
        trace = os.path.join(folder, "t.trace")
        with Daemon("kiosk", extra=("--policy-dir", drop_ins)) as daemon:
            mine = status(daemon)["policyHash"]
            file = camclient(None, "policy", "hash", KIOSK, "--policy-dir", drop_ins).stdout.split()[0]
            plain = camclient(None, "policy", "hash", KIOSK).stdout.split()[0]
            assert mine == file != plain, (mine, file, plain)
            assert daemon.app("tool").property(BROKER.object_path, BROKER.interface, "PolicyHash") == mine
            assert f'policy_hash="{mine}"' in camclient(daemon, "metrics").stdout
            assert f"hash {mine}" in camclient(daemon, "policy", "show").stdout
            other = write(folder, "other.toml", BASE.format(name="other"))
            with Running(daemon, "trace", "record", trace) as recorder:
                wait_until("the trace", lambda: os.path.exists(trace) and os.path.getsize(trace) > 0)
                camclient(daemon, "policy", "load", other)
                wait_until("the load in the trace", lambda: b"policyLoaded" in pathlib.Path(trace).read_bytes())
                recorder.process.send_signal(signal.SIGINT)
                recorder.end()
            lines = [json.loads(line) for line in pathlib.Path(trace).read_text(encoding="utf-8").splitlines()]
            step = next(line for line in lines if line.get("event") == "policyLoaded")
            assert lines[0]["policyHash"] == mine and step["policyHash"] == status(daemon)["policyHash"] != mine, step
            camclient(None, "trace", "replay", trace)
            daemon.process.send_signal(signal.SIGHUP)
            wait_until("the broker's own policy", lambda: status(daemon)["policy"] == "kiosk")
            assert status(daemon)["policyHash"] == mine and status(daemon)["policyByHand"] == ""
            # A name of the broker's folder is read with the broker's drop-ins, in a plan too.
            assert "policy-reload" in camclient(daemon, "plan", "policy-reload kiosk.toml").stdout


@claim("a policy with a mistake, one that is too large, and lines that are none are refused with their place, and change nothing")
def wrong():
    with tempfile.TemporaryDirectory() as folder, Daemon("kiosk") as daemon:
        slip = write(folder, "slip.toml", 'name = "slip"\nrnaks = ["a"]\n')
        for words in (("plan", "--policy", slip), ("policy", "load", slip)):
            assert 'slip.toml:2:1' in camclient(daemon, *words, status=2).stderr
        assert "slip.toml:2:1" in camclient(None, "policy", "diff", KIOSK, slip, status=2).stderr
        camclient(daemon, "policy", "load", status=2)
        camclient(daemon, "policy", "load", "--back", KIOSK, status=2)
        camclient(daemon, "policy", "load", KIOSK, "--yes", "--plan", "x", status=2)
        assert "kiosk.toml:1" not in camclient(daemon, "plan", "--policy", KIOSK, "fly away", status=4).stderr
        app = daemon.app("tool")

        def refused(member, *words):
            try:
                app.call(BROKER, member, "sss", *words)
            except Refused as refusal:
                return str(refusal)
            raise AssertionError(f"{member} was not refused")

        said = refused("LoadPolicy", 'name = "x"\nranks = 3\n', "mine.toml", "")
        assert "mine.toml:2:" in said and "InvalidValue" in said, said
        assert "no policy" in refused("PlanPolicy", 'include = ["/etc/passwd"]\nname = "x"\n', "", "")
        assert "LimitExceeded" in refused("LoadPolicy", "#" * 125_000, "f", "")
        assert "LimitExceeded" in refused("PlanPolicy", "", "f" * 2000, "")
        # As deep as a line lets it be, on the thread that reads it.
        assert "InvalidValue" in refused("PlanPolicy", ".".join(["a"] * 500) + " = 1\n", "deep", "")
        # The text decides, whatever its name has in it.
        steering = refused("PlanPolicy", "nmae = 1\n", "a\x1b[31m\nb", "")
        assert "\x1b" not in steering, steering
        assert status(daemon)["policy"] == "kiosk" and status(daemon)["policyByHand"] == ""


@claim("policy diff says of which kind each difference is, allows the named ones, and its witnesses run")
def gate():
    with tempfile.TemporaryDirectory() as folder:
        old = write(folder, "old.toml", BASE.format(name="old") + rule("booth", 'rank = "strong"'))
        new = write(folder, "new.toml", BASE.format(name="new") + rule("booth", "deny = true"))
        small = ("--clients", "2", "--cameras", "1")
        said = json.loads(camclient(None, "policy", "diff", old, new, *small, "--json", status=1).stdout)
        first = {one["kind"]: one for one in said["differences"]}["refused"]
        assert first["direction"] == "stricter" and first["apps"] == ["booth"] and first["rules"][1] == ["booth rule"], first
        assert said["forbidden"] == "refused", said
        seen = os.path.join(folder, "seen")
        kinds = ",".join(one["kind"] for one in said["differences"])
        allowed = camclient(None, "policy", "diff", old, new, *small, "--allow", kinds, "--witnesses", seen)
        assert "Only what is allowed was found." in allowed.stdout, allowed.stdout
        assert len(os.listdir(seen)) == 2 * len(said["differences"]), os.listdir(seen)
        camclient(None, "test", seen)
        camclient(None, "policy", "diff", old, new, *small, "--allow", "laxer", status=1)
        wrong = camclient(None, "policy", "diff", old, new, "--allow", "strickter", status=2).stderr
        assert "did you mean “stricter”" in wrong, wrong
        camclient(None, "policy", "diff", old, new, *small, "--allow", "stricter,laxer,other", "--max-states", "2", status=6)
        # Drop-ins count on the side that they are of, and a statement broken by them is shown with them.
        drop_ins = os.path.join(folder, "d")
        os.mkdir(drop_ins)
        write(drop_ins, "50.toml", rule("booth", "deny = true") + '[[always]]\nname = "B"\nwhen = { claimed-app = "booth" }\nis = "running"\n')
        assert camclient(None, "policy", "diff", old, old, "--policy-dir", drop_ins).stdout.startswith("no difference")
        assert "refused" in camclient(None, "policy", "diff", old, old, "--second-dir", drop_ins, *small, status=1).stdout
        write(drop_ins, "50.toml", '[[never]]\nname = "N"\nholder = { claimed-app = "booth" }\n')
        broken = camclient(None, "policy", "verify", old, "--policy-dir", drop_ins, *small, status=1).stdout
        scenario = write(folder, "broken.scenario", broken)
        assert 'policy """' in broken, broken
        camclient(None, "test", scenario, "--policies", "/nonexistent")
        camclient(None, "test", scenario, "--policy-dir", os.path.join(folder, "none"), status=5)


@claim("a user may ask what would become of its own apps, and of nobody else's, and may load no policy")
def others():
    alice_only = BASE.format(name="mine") + rule("hers", "deny = true") + "[access]\nusers = [1000]\n"
    with Daemon("desktop", users=(1000,)) as daemon:
        with as_user(1000):
            hers = daemon.app("hers")
        session = hers.session()
        session.start()
        hers.wait("DidStartRunning")
        before = status(daemon)["policyHash"]
        _, changes, _, plan = hers.call(BROKER, "PlanPolicy", "sss", alice_only, "", "")
        assert [(one["app"][1], one["kind"][1]) for one in changes] == [("hers", "stopped")], changes
        for member, signature, body in (("LoadPolicy", "sss", (alice_only, "", plan)), ("LoadPolicy", "sss", (alice_only, "", "")),
                                        ("UnloadPolicy", None, ())):
            try:
                hers.call(BROKER, member, signature, *body)
                raise AssertionError(f"{member} was taken from another user")
            except Refused as refusal:
                assert "NotTrusted" in refusal.name, refusal
        daemon.app("roots").session()
        try:
            hers.call(BROKER, "PlanPolicy", "sss", alice_only, "", "")
            raise AssertionError("another user's apps were shown")
        except Refused as refusal:
            assert "AccessDenied" in refusal.name, refusal
        assert status(daemon)["policyHash"] == before
