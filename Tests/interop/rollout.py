"""A policy's way into a running broker: its plan, its loading and taking back, its hash, and the gate before all that."""
import json, os, re, signal

from camclient import Running, camclient, status, told
from harness import BROKER, ROOT, Daemon, Folder, claim, refused, wait_until

KIOSK = ROOT / "policies" / "kiosk.toml"
SMALL = ("--clients", "2", "--cameras", "1")
BASE = 'name = "{name}"\nranks = ["strong", "weak"]\n'


def rule(app, more):
    return f'[[rank]]\nname = "{app} rule"\nclaimed-app = "{app}"\n{more}\n'


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


@claim("a plan for a policy says times as people read them")
def planned_times():
    with Folder() as folder, Daemon("kiosk") as daemon:
        daemon.running("photos")
        lease = write(folder, "lease.toml", BASE.format(name="lease") + rule("photos", 'rank = "strong"\nlease = "30min"'))
        said = camclient(daemon, "plan", "--policy", lease).stdout
        # Of a lease of half an hour a moment is over.
        assert re.search(r"photos (on front )?is stopped (30min|29min [0-9]+s) from now, when its new lease ends", said), said
        assert "is stopped" in camclient(daemon, "policy", "load", lease, status=1).stdout


@claim("a policy that nobody would notice is loaded at once; one that cuts somebody only if it is what was planned")
def loaded():
    with Folder() as folder, Daemon("kiosk") as daemon:
        before = status(daemon)
        assert before["policyByHand"] == "" and len(before["policyHash"]) == 32, before
        same = write(folder, "same.toml", BASE.format(name="same"))
        booth = write(folder, "booth.toml", BASE.format(name="booth") + rule("booth", 'rank = "strong"'))
        answer = told(daemon, "policy", "load", same)
        assert answer["loaded"] and answer["changes"] == [], answer
        there = status(daemon)
        assert there["policy"] == "same" and there["policyHash"] == answer["policyHash"], there
        assert all(words in there["policyByHand"] for words in ("by hand", str(same), str(KIOSK))), there
        assert "by hand" in camclient(daemon, "status").stdout
        # Photos has the camera, and booth waits.
        photos, _ = daemon.running("photos")
        waiting = daemon.app("booth")
        waiting.session().start()
        waiting.wait("WasInterrupted")
        planned = told(daemon, "plan", "--policy", booth)
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
        planned = told(daemon, "policy", "load", booth, status=1)
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
    with Folder() as folder:
        drop_ins = write(folder, "d/50.toml", '[contention]\ntie = "newcomer"\n').parent
        trace, other = folder / "t.trace", write(folder, "other.toml", BASE.format(name="other"))
        with Daemon("kiosk", extra=("--policy-dir", drop_ins)) as daemon:
            mine = status(daemon)["policyHash"]
            file = camclient(None, "policy", "hash", KIOSK, "--policy-dir", drop_ins).stdout.split()[0]
            plain = camclient(None, "policy", "hash", KIOSK).stdout.split()[0]
            assert mine == file != plain, (mine, file, plain)
            assert daemon.app("tool").property(BROKER.object_path, BROKER.interface, "PolicyHash") == mine
            assert f'policy_hash="{mine}"' in camclient(daemon, "metrics").stdout
            assert f"hash {mine}" in camclient(daemon, "policy", "show").stdout
            with Running(daemon, "trace", "record", trace) as recorder:
                wait_until("the trace", lambda: trace.exists() and trace.stat().st_size > 0)
                camclient(daemon, "policy", "load", other)
                wait_until("the load in the trace", lambda: b"policyLoaded" in trace.read_bytes())
                recorder.end(how=signal.SIGINT)
            lines = [json.loads(line) for line in trace.read_text().splitlines()]
            step = next(line for line in lines if line.get("event") == "policyLoaded")
            assert lines[0]["policyHash"] == mine and step["policyHash"] == status(daemon)["policyHash"] != mine, step
            camclient(None, "trace", "replay", trace)
            daemon.reload()
            wait_until("the broker's own policy", lambda: status(daemon)["policy"] == "kiosk")
            assert status(daemon)["policyHash"] == mine and status(daemon)["policyByHand"] == ""
            # A name of the broker's folder is read with the broker's drop-ins, in a plan too.
            assert "policy-reload" in camclient(daemon, "plan", "policy-reload kiosk.toml").stdout


@claim("a policy with a mistake, one that is too large, and lines that are none are refused with their place, and change nothing")
def wrong():
    with Folder() as folder, Daemon("kiosk") as daemon:
        slip = write(folder, "slip.toml", 'name = "slip"\nrnaks = ["a"]\n')
        for words in (("plan", "--policy", slip), ("policy", "load", slip)):
            assert 'slip.toml:2:1' in camclient(daemon, *words, status=2).stderr
        assert "slip.toml:2:1" in camclient(None, "policy", "diff", KIOSK, slip, status=2).stderr
        camclient(daemon, "policy", "load", status=2)
        camclient(daemon, "policy", "load", "--back", KIOSK, status=2)
        camclient(daemon, "policy", "load", KIOSK, "--yes", "--plan", "x", status=2)
        assert "kiosk.toml:1" not in camclient(daemon, "plan", "--policy", KIOSK, "fly away", status=4).stderr
        app = daemon.app("tool")
        for error, words, member, text, name in (
                ("InvalidValue", "mine.toml:2:", "LoadPolicy", 'name = "x"\nranks = 3\n', "mine.toml"),
                ("", "no policy", "PlanPolicy", 'include = ["/etc/passwd"]\nname = "x"\n', ""),
                ("LimitExceeded", "", "LoadPolicy", "#" * 125_000, "f"), ("LimitExceeded", "", "PlanPolicy", "", "f" * 2000),
                # As deep as a line lets it be, on the thread that reads it.
                ("InvalidValue", "", "PlanPolicy", ".".join(["a"] * 500) + " = 1\n", "deep"),
                # The text decides, whatever its name has in it.
                ("", "", "PlanPolicy", "nmae = 1\n", "a\x1b[31m\nb")):
            said = refused(lambda: app.call(BROKER, member, "sss", text, name, ""), words, error=error)
            assert "\x1b" not in str(said), said
        assert status(daemon)["policy"] == "kiosk" and status(daemon)["policyByHand"] == ""


@claim("policy diff says of which kind each difference is, allows the named ones, and its witnesses run")
def gate():
    with Folder() as folder:
        old = write(folder, "old.toml", BASE.format(name="old") + rule("booth", 'rank = "strong"'))
        new = write(folder, "new.toml", BASE.format(name="new") + rule("booth", "deny = true"))
        said = told(None, "policy", "diff", old, new, *SMALL, status=1)
        first = {one["kind"]: one for one in said["differences"]}["refused"]
        assert first["direction"] == "stricter" and first["apps"] == ["booth"] and first["rules"][1] == ["booth rule"], first
        assert said["forbidden"] == "refused", said
        seen = folder / "seen"
        kinds = ",".join(one["kind"] for one in said["differences"])
        allowed = camclient(None, "policy", "diff", old, new, *SMALL, "--allow", kinds, "--witnesses", seen)
        assert "Only what is allowed was found." in allowed.stdout, allowed.stdout
        assert len(os.listdir(seen)) == 2 * len(said["differences"]), os.listdir(seen)
        camclient(None, "test", seen)
        camclient(None, "policy", "diff", old, new, *SMALL, "--allow", "laxer", status=1)
        wrong = camclient(None, "policy", "diff", old, new, "--allow", "strickter", status=2).stderr
        assert "did you mean “stricter”" in wrong, wrong
        camclient(None, "policy", "diff", old, new, *SMALL, "--allow", "stricter,laxer,other", "--max-states", "2", status=6)
        # What no walk reads is named, and is a difference.
        unread = write(folder, "unread.toml", old.read_text() + "[pressure]\nwatch = false\n")
        said = camclient(None, "policy", "diff", old, unread, *SMALL, status=6).stdout
        assert "NOT COMPARED: they differ in pressure.watch, which no walk reads" in said, said
        # Drop-ins count on the side that they are of, and a statement broken by them is shown with them.
        broken = '[[always]]\nname = "B"\nwhen = { claimed-app = "booth" }\nis = "running"\n'
        drop_ins = write(folder, "d/50.toml", rule("booth", "deny = true") + broken).parent
        assert camclient(None, "policy", "diff", old, old, "--policy-dir", drop_ins).stdout.startswith("no difference")
        assert "refused" in camclient(None, "policy", "diff", old, old, "--second-dir", drop_ins, *SMALL, status=1).stdout
        write(drop_ins, "50.toml", '[[never]]\nname = "N"\nholder = { claimed-app = "booth" }\n')
        broken = camclient(None, "policy", "verify", old, "--policy-dir", drop_ins, *SMALL, status=1).stdout
        scenario = write(folder, "broken.scenario", broken)
        assert 'policy """' in broken, broken
        camclient(None, "test", scenario, "--policies", "/nonexistent")
        camclient(None, "test", scenario, "--policy-dir", folder / "none", status=5)


@claim("a user may ask what would become of its own apps, and of nobody else's, and may load no policy")
def others():
    alice_only = BASE.format(name="mine") + rule("hers", "deny = true") + "[access]\nusers = [1000]\n"
    with Daemon("desktop", users=(1000,)) as daemon:
        hers, _ = daemon.running("hers", user=1000)
        before = status(daemon)["policyHash"]
        _, changes, _, plan = hers.call(BROKER, "PlanPolicy", "sss", alice_only, "", "")
        assert [(one["app"][1], one["kind"][1]) for one in changes] == [("hers", "stopped")], changes
        for call in (("LoadPolicy", "sss", alice_only, "", plan), ("LoadPolicy", "sss", alice_only, "", ""), ("UnloadPolicy",)):
            refused(lambda: hers.call(BROKER, *call), error="NotTrusted")
        daemon.app("roots").session()
        refused(lambda: hers.call(BROKER, "PlanPolicy", "sss", alice_only, "", ""), error="AccessDenied")
        assert status(daemon)["policyHash"] == before
