"""Policy files from outside: drop-ins, what is in force, what is said of them, and what wrong ones do to a broker and a terminal."""
import re, tomllib

from camclient import camclient, status, told, told_lines
from harness import ROOT, Daemon, Folder, claim, wait_until

KIOSK = ROOT / "policies" / "kiosk.toml"


@claim("the policy in force is shown with its drop-ins; as one file it is clean, and read again it is the same policy")
def shown():
    with Folder() as folder:
        lease = folder / "50-lease.toml"
        lease.write_text('[[rank]]\nname = "Photo booth"\napp = "photobooth.service"\nrank = "booth"\nlease = "5min"\n')
        with Daemon("kiosk", extra=("--policy-dir", folder)) as daemon:
            there = told(daemon, "policy", "show")
            assert there["files"] == [str(KIOSK), str(lease)], there["files"]
            booth = [part for part in there["parts"] if part["name"] == "Photo booth"]
            assert [(part["file"], part["line"]) for part in booth] == [(str(lease), 1)], booth
            assert f"{lease}:1" in camclient(daemon, "policy", "show").stdout
            # The same files give the same without a broker.
            here = told(None, "policy", "show", KIOSK, "--policy-dir", folder)
            assert here == there, (here, there)
            merged = camclient(daemon, "policy", "show", "--merged").stdout
            assert merged == there["text"] and f"# {lease}:1\n[[rank]]" in merged, merged
        one = folder / "one.toml"
        one.write_text(merged)
        assert camclient(None, "policy", "check", one).stdout == f"{one}: no problem\n"
        again = camclient(None, "policy", "show", one, "--merged").stdout
        uncommented = [[line for line in text.splitlines() if not line.startswith("#")] for text in (again, merged)]
        assert uncommented[0] == uncommented[1], uncommented


@claim("a wrong drop-in at SIGHUP leaves the policy in force, and no byte of it steers a terminal")
def wrong_drop_in():
    with Folder() as folder, Daemon("kiosk", extra=("--policy-dir", folder)) as daemon:
        before = camclient(daemon, "policy", "show", "--merged").stdout
        drop_in = folder / "a.toml"
        drop_in.write_text('[contention]\n\ttie = "\\u001b[31m" # \u009b31m\n"\u202etie" = 1\n')
        daemon.reload()
        wait_until("the problem", lambda: str(drop_in) in status(daemon)["degraded"])
        said = camclient(daemon, "status").stdout
        assert f"  {drop_in}:2:8: " in said and "\n    \t      ^" in said, said
        checked = camclient(None, "policy", "check", KIOSK, "--policy-dir", folder, status=1).stdout
        for text in (said, checked, camclient(None, "policy", "show", drop_in, status=2).stderr):
            steering = [byte for byte in text if byte < " " and byte not in "\n\t" or byte in "\x7f\x9b\u202e"]
            assert not steering, (steering, text)
        assert camclient(daemon, "policy", "show", "--merged").stdout == before


@claim("camclient policy check ends with 1 for problems and for warnings, and says which they are")
def checked():
    with Folder() as folder:
        hidden, wrong = folder / "hidden.toml", folder / "wrong.toml"
        hidden.write_text('name = "h"\n[[rank]]\nname = "All"\ndeny = true\n[[rank]]\nname = "A"\napp = "a"\ndeny = true\n')
        wrong.write_text('nmae = "w"\n')
        reports = told_lines(None, "policy", "check", KIOSK, hidden, wrong, status=1)
        assert [(report["ok"], report["usable"]) for report in reports] == [(True, True), (False, True), (False, False)]
        assert [problem["line"] for problem in reports[1]["problems"]] == [6], reports[1]
        assert reports[2]["problems"][0]["hint"] == 'did you mean "name"?', reports[2]
        camclient(None, "policy", "check", KIOSK)
        camclient(None, "policy", "check", folder / "none.toml", status=5)
        camclient(None, "policy", "show", "--policy-dir", folder, status=2)
        camclient(None, "policy", "check", status=2)
    # Of statements that walks have found true it is not said that one is broken.
    true = sorted((ROOT / "Tests" / "statements" / "true").glob("*.toml"))
    said = camclient(None, "policy", "check", *true, status=None).stdout
    assert len(true) > 40 and said.count("no problem") > 30 and "is broken" not in said, said


@claim("a verdict names how much of how much was walked, in how many states each statement applied, and what never changed")
def verdict():
    said = told(None, "policy", "verify", KIOSK, "--clients", "2")
    assert said["complete"] and said["casts"] == said["castsInAll"] == 15, said
    assert len(said["statements"]) == 4 and all(one["applied"] > 0 for one in said["statements"]), said
    assert "reloads" in said["neverVaried"] and said["problems"] == [], said
    some = camclient(None, "policy", "verify", KIOSK, "--pairs", "--cameras", "1").stdout
    assert re.search(r"hold in every state of \d+ of 35 populations", some), some
    with Folder() as folder:
        path = folder / "slip.toml"
        path.write_text(
            'name = "slip"\nranks = ["everyone"]\n[[rank]]\nname = "A"\napp = "a.service"\nrank = "everyone"\n'
            '[[never]]\nname = "A slip"\nholder = { app = "a.servise", claimed-app = "a.service" }\n')
        problems = told(None, "policy", "verify", path, status=1)["problems"]
        assert len(problems) == 2 and "no rule knows" in problems[0] and "in no state" in problems[1], problems


UNFAIR = """name = "turns"
ranks = ["strong", "weak"]
[[rank]]
name = "The weak one"
app = "weak.service"
rank = "weak"
lease = "30s"
[[rank]]
name = "All others"
rank = "strong"
lease = "30s"
[[always]]
name = "The weak one's turn comes"
when = { app = "weak.service" }
is = "running"
fair = true
"""


@claim("a loop in which somebody never runs is printed as a scenario that passes, with a table of the cameras and what repairs it")
def loop():
    with Folder() as folder:
        path = folder / "turns.toml"
        path.write_text(UNFAIR)
        said = told(None, "policy", "verify", path, status=1)["broken"]
        assert said["loop"]["around"] > 0 and said["cameras"][0]["waiting"][0]["session"] == "weak", said
        rank = [one for one in said["repairs"] if one["name"] == "The weak one"]
        assert rank and rank[0]["origin"] == "turns.toml:3", said["repairs"]
        scenario = folder / "loop.scenario"
        scenario.write_text(said["scenario"] + "\n")
        camclient(None, "test", scenario, "--policies", folder)
        plain = camclient(None, "policy", "verify", path, "--no-repairs", status=1).stdout
        assert "# camera back at " in plain and "repairs it" not in plain, plain
        # With everybody of one rank the leases go round.
        path.write_text(UNFAIR.replace('rank = "weak"', 'rank = "strong"').replace(', "weak"]', "]"))
        assert "looked for loops in" in camclient(None, "policy", "verify", path).stdout
    return f"{len(said['repairs'])} repairs"


@claim("android-16 ranks apps as android does: by the same attributes with the same values, in the same order, with the same sources")
def android_twice():
    one, other = (tomllib.loads((ROOT / "policies" / f"{name}.toml").read_text()) for name in ("android", "android-16"))
    assert len(one["attribute"]) == 2, one["attribute"]
    for key in ("sources", "attribute"):
        assert one[key] == other[key], (key, one[key], other[key])
    assert one["contention"]["order"] == other["contention"]["order"]
