"""Three people who answer for a policy: the carts' administrator, the engineer of a fleet, and whoever reviews a policy."""
import datetime, tomllib

from camclient import camclient, status, told
from harness import CAMERA, ROOT, Daemon, Folder, claim

TRIALS = ROOT / "Tests" / "trials"

# What the hospital was promised, and whether the carts' policy keeps it. What it does not keep has a witness.
PROMISES = {
    "A camera sees while the patient is washed": "holds",
    "Fall detection runs at night": "is broken by falls-2 (not running)",
    "Fall detection waits, except behind a clinician's visit or a round by day": "holds",
    "Training videos on one camera keep fall detection from the other": "holds",
    "A clinician who asks is seen within a minute": "for longer than 1min",
    "A visit hears of its end ten seconds before": "without being told before",
    "Training videos take two minutes in two hours at most": "for longer than 2min",
    "Rounds are never shut out for ever": "for ever",
}
# The one that check sees to be broken, without a walk: by whoever is alone.
ALONE = "Training videos take two minutes in two hours at most"


def checked(policy, warned):
    """`policy check` says this of these statements and of nothing else."""
    said = camclient(None, "policy", "check", policy, status=1 if warned else 0).stdout
    assert said.count("warning: ") == len(warned), said
    assert all(f'the statement "{name}" is broken by an app that is alone' in said for name in warned), said


def promises():
    """The carts' rules, and each of their statements by its name, as text."""
    text = (TRIALS / "carts" / "policy.toml").read_text()
    rules, statements = text.split("# What the hospital was promised", 1)
    blocks = ["[[" + block for block in statements.split("\n[[")[1:]]
    return rules, {table["name"]: block for block in blocks for tables in tomllib.loads(block).values() for table in tables}


@claim("the carts' administrator hears of each promise whether it is kept; what is not has a witness that runs and names who waits "
       "behind whom", long="the same is asked of each file of Tests/statements")
def carts():
    rules, statements = promises()
    assert list(statements) == list(PROMISES), list(statements)
    with Folder() as folder:
        policy, witness = folder / "cart.toml", folder / "witness.scenario"
        for name, verdict in PROMISES.items():
            policy.write_text(rules + statements[name] + "\n")
            checked(policy, [name] if name == ALONE else [])
            held = verdict == "holds"
            report = told(None, "policy", "verify", "--no-repairs", "--clients", "2", policy, status=0 if held else 1)
            assert not report["problems"] and report["cutOffBy"] is None, (name, report)
            assert report["statements"][0]["applied"] > 0, name
            if held:
                assert report["complete"] and report["broken"] is None, (name, report)
                continue
            assert report["broken"]["statement"] == name and verdict in report["broken"]["message"], report["broken"]
            assert report["broken"]["cameras"], report["broken"]
            witness.write_text(report["broken"]["scenario"])
            camclient(None, "test", "--policies", folder, witness)
    return f"{sum(verdict == 'holds' for verdict in PROMISES.values())} of {len(PROMISES)} are kept"


# Mistakes planted into the carts' policy: what is said instead of what, what finds it, and on which line, as the line's own text.
MISTAKES = [
    ("a key is misspelt", 'grace = "20s"\nlease = "30min"', 'garce = "20s"\nlease = "30min"', "check", 'garce = "20s"'),
    ("a rank that there is none of", 'rank  = "rounds"', 'rank  = "round"', "check", 'rank  = "round"'),
    ("a rule hides a later one", 'mode      = "night"\n', "", "check", 'name = "Fall detection by day"'),
    ("a calendar never holds", 'at   = "22:00-06:00"', 'at   = "22:00-22:00"', "check", 'at   = "22:00-22:00"'),
    ("a mode that nobody can set", 'set-by = ["root", "operator"]', "set-by = []", "check", 'set-by = []'),
    ("a statement excuses everybody", 'unless  = [\n', 'unless  = [\n    {},\n', "check", "unless  = ["),
    ("two facts exclude each other", 'when   = { app = "visit.service", mode = "none" }\nis ',
     'when   = { presence = "background", focused = true }\nis ', "check", 'when   = { presence = "background", focused = true }'),
    ("an app is misspelt in its rule", 'app   = "rounds.service"', 'app   = "round.service"', "test",
     '[[rank]]\nname  = "The nurses\' rounds"'),
    ("a camera is misspelt", 'conflicts = ["exam"]', 'conflicts = ["exma"]', "test", '[[camera]]\nid        = "overview"'),
    ("training gets the rank of a visit", 'rank  = "training"\nlease', 'rank  = "visit"\nlease', "verify",
     '[[rank]]\nname  = "Training videos"'),
]
# The visit's grace lets nobody finish: what is stronger than a visit is immediate. --suggest says so; all else is reached.
REACHED = "94"


def line_of(text, part):
    """The lines on which a part of a text may be said to be: those that it has, from 1."""
    first = text[:text.index(part)].count("\n") + 1
    return range(first, first + part.count("\n") + 1)


@claim("ten mistakes that somebody planted into the carts' policy are found by check, test or verify, each with its line")
def mistakes():
    original = (TRIALS / "carts" / "policy.toml").read_text()
    rules, statements = promises()
    with Folder() as folder:
        policy = folder / "policy.toml"
        policy.write_text(original)
        checked(policy, [ALONE])
        ways = {"check": ("check", policy), "verify": ("verify", "--clients", "2", policy),
                "test": ("test", TRIALS / "carts" / "scenarios", "--policies", folder, "--min-coverage", REACHED)}
        camclient(None, "policy", *ways["test"])
        for what, said, instead, how, part in MISTAKES:
            kept = "Training videos on one camera keep fall detection from the other"
            text = original if how != "verify" else rules + statements[kept] + "\n"
            assert said in text, what
            policy.write_text(wrong := text.replace(said, instead, 1))
            done = camclient(None, "policy", *ways[how], status=1)
            found = done.stdout + done.stderr
            lines = line_of(wrong, part)
            assert any(f"policy.toml:{line}" in found for line in lines), (what, list(lines), found)
    return f"{len(MISTAKES)} found"


@claim("the engineer of a fleet sees a change's differences and what a live broker would make of it, loads it, and takes it back")
def fleet():
    kiosk, changed = ROOT / "policies" / "kiosk.toml", ("--policy-dir", TRIALS / "fleet")
    diff = ("policy", "diff", kiosk, kiosk, "--second-dir", TRIALS / "fleet", "--clients", "2", "--cameras", "1")
    found = told(None, *diff, status=1)
    assert found["difference"] and found["kinds"], found
    camclient(None, *diff, "--allow", "stricter,laxer,other")
    hashes = [camclient(None, "policy", "hash", kiosk, *more).stdout.split()[0] for more in ([], changed)]
    with Daemon("kiosk", cameras=(f"{CAMERA}=none",)) as daemon:
        assert status(daemon)["policyHash"] == hashes[0], hashes
        for service in ("photobooth.service", "guide.service"):
            daemon.app(service).session().start()
        planned = camclient(daemon, "plan", "--policy", kiosk, *changed).stdout
        assert "photobooth.service" in planned and "guide.service" in planned, planned
        for words, ends, which in (((kiosk, *changed), 1, 0), ((kiosk, *changed, "--yes"), 0, 1), (("--back",), 0, 0)):
            camclient(daemon, "policy", "load", *words, status=ends)
            assert status(daemon)["policyHash"] == hashes[which], hashes


LIBRARY = TRIALS / "library"


@claim("an administrator's hour: a library's policy is checked, tested and verified, planned, loaded, rung an alarm under, and taken back")
def library():
    with Folder() as folder:
        policy = folder / "policy.toml"
        policy.write_text((LIBRARY / "policy.toml").read_text())
        assert "no problem" in camclient(None, "policy", "check", policy).stdout
        camclient(None, "test", "--policies", folder, LIBRARY / "scenarios")
        limit = "A reader has the camera for no more than half an hour in thirty-five minutes"
        report = told(None, "policy", "verify", "--no-repairs", "--clients", "2", policy)
        assert report["complete"] and report["broken"] is None and not report["problems"], report
        assert [one["name"] for one in report["statements"] if one.get("keptByArithmetic")] == [limit], report["statements"]
        # The evening is some hours away, whatever time it is.
        evening = "-".join(f"{datetime.datetime.now() + datetime.timedelta(hours=hours):%H:%M}" for hours in (2, 3))
        policy.write_text(policy.read_text().replace("20:00-08:00", evening))
        with Daemon("kiosk") as daemon:
            reader, _ = daemon.running("reader.service")
            planned = told(daemon, "plan", "--policy", policy)
            # The lease that the new policy brings is not over: nobody is cut now.
            assert "reader.service is stopped 30min from now, when its new lease ends" in "".join(planned["summary"]), planned
            camclient(daemon, "policy", "load", policy, "--yes")
            assert status(daemon)["policy"] == "library" and "by hand" in status(daemon)["policyByHand"]
            camclient(daemon, "shell", "mode alarm")
            notice = reader.wait("WasInterrupted")
            assert notice[-1] == "Alarm: please leave the building.", notice
            security = daemon.app("security.service")
            security.session().start()
            security.wait("DidStartRunning")
            camclient(daemon, "shell", "mode none")
            # Of the reader's rank, and so as good: it keeps the camera until it stops.
            reader.wait("InterruptionChanged")
            security.close()
            reader.wait("DidStartRunning")
            camclient(daemon, "policy", "load", "--back")
            after = status(daemon)
            assert (after["policy"], after["policyByHand"]) == ("kiosk", ""), after
        return "loaded and taken back under a running reader"
