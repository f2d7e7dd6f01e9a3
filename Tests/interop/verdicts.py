"""What `camclient policy verify` and `policy diff` say of policy files, and with which exit status."""
import json, pathlib, re, tempfile, time

from camclient import camclient
from harness import ROOT, claim

POLICIES = sorted((ROOT / "policies").glob("*.toml"))


def blocks(text):
    """The top of a policy file, and its tables with their comments left out, as lists of lines."""
    found = [[]]
    for line in text.splitlines():
        if line.startswith("["):
            found.append([])
        if line.strip() and not line.startswith("#"):
            found[-1].append(line)
    return found[0], found[1:]


def value(table, key):
    return next((line.split("=", 1)[1].split("#")[0].strip() for line in table if re.match(rf"{key}\s*=", line)), "")


def only_app(table):
    """The app that a rank rule is about, if it reads nothing else."""
    keys = {line.split("=")[0].strip() for line in table[1:]}
    facts = keys - {"name", "rank", "immediate", "grace", "min-hold", "lease", "deny"}
    return value(table, "app") if facts == {"app"} else None


def reordered(text):
    """The same policy in as different an order as means nothing: tables of other kinds, causes that do not touch each
    other, neighbours among the ranks that are about one app each, and the keys of [contention]."""
    top, tables = blocks(text)
    kinds = {}
    for table in tables:
        kinds.setdefault(table[0].strip(), []).append(table)
    for kind in ("[[camera]]", "[[attribute]]", "[[never]]", "[[always]]"):
        kinds.get(kind, []).reverse()
    # Each cause has a list of its own; within it order counts.
    causes = kinds.get("[[cause]]", [])
    names = list(dict.fromkeys(value(table, "cause") for table in causes))
    kinds["[[cause]]"] = [table for name in reversed(names) for table in causes if value(table, "cause") == name]
    ranks, run = [], []
    for table in kinds.get("[[rank]]", []) + [None]:
        if table is not None and only_app(table):
            run.append(table)
            continue
        ranks += reversed(run)
        run = []
        ranks += [table] if table is not None else []
    kinds["[[rank]]"] = ranks
    if "[contention]" in kinds:
        head, *keys = kinds["[contention]"][0]
        kinds["[contention]"] = [[head, *reversed(keys)]]
    ordered = [table for kind in reversed(list(kinds)) for table in kinds[kind]]
    return "\n".join(top + [line for table in ordered for line in table]) + "\n"


@claim("a policy is no different from itself, reordered where order is nothing, and another one is not taken for it")
def itself():
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for policy in POLICIES:
            other = pathlib.Path(folder) / policy.name
            other.write_text(reordered(policy.read_text(encoding="utf-8")), encoding="utf-8")
            said = camclient(None, "policy", "diff", str(policy), str(other))
            assert said.stdout.startswith("no difference") and said.returncode == 0, (policy.name, said)
    took = time.monotonic() - begin
    two = [str(ROOT / "policies" / name) for name in ("ios9.toml", "ipados16.toml")]
    said = json.loads(camclient(None, "policy", "diff", *two, "--clients", "1", "--json", status=1).stdout)
    assert not said["same"] and said["difference"]["length"] == 2, said
    return f"{len(POLICIES)} policies in {took:.1f} s"


@claim("a verdict names how much of how much was walked, in how many states each statement applied, and what never changed")
def verdict():
    kiosk = str(ROOT / "policies" / "kiosk.toml")
    said = json.loads(camclient(None, "policy", "verify", kiosk, "--clients", "2", "--json").stdout)
    assert said["complete"] and said["casts"] == said["castsInAll"] == 15, said
    assert len(said["statements"]) == 4 and all(one["applied"] > 0 for one in said["statements"]), said
    assert "reloads" in said["neverVaried"] and said["problems"] == [], said
    some = camclient(None, "policy", "verify", kiosk, "--pairs", "--cameras", "1").stdout
    assert re.search(r"hold in every state of \d+ of 35 casts", some), some
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "slip.toml"
        path.write_text(
            'name = "slip"\nranks = ["everyone"]\n[[rank]]\nname = "A"\napp = "a.service"\nrank = "everyone"\n'
            '[[never]]\nname = "A slip"\nholder = { app = "a.servise", claimed-app = "a.service" }\n', encoding="utf-8")
        said = camclient(None, "policy", "verify", str(path), "--json", status=1)
        problems = json.loads(said.stdout)["problems"]
        assert len(problems) == 2 and "no rule knows" in problems[0] and "in no state" in problems[1], problems
    return f"{said.returncode} for a slip"


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
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "turns.toml"
        path.write_text(UNFAIR, encoding="utf-8")
        said = json.loads(camclient(None, "policy", "verify", str(path), "--json", status=1).stdout)["broken"]
        assert said["loop"]["around"] > 0 and said["cameras"][0]["waiting"][0]["session"] == "weak", said
        rank = [one for one in said["repairs"] if one["name"] == "The weak one"]
        assert rank and rank[0]["origin"] == "turns.toml:3", said["repairs"]
        scenario = pathlib.Path(folder) / "loop.scenario"
        scenario.write_text(said["scenario"] + "\n", encoding="utf-8")
        camclient(None, "test", str(scenario), "--policies", folder)
        plain = camclient(None, "policy", "verify", str(path), "--no-repairs", status=1).stdout
        assert "# camera back at " in plain and "repairs it" not in plain, plain
        # With everybody of one rank the leases go round.
        path.write_text(UNFAIR.replace('rank = "weak"', 'rank = "strong"').replace(', "weak"]', "]"), encoding="utf-8")
        assert "looked for loops in" in camclient(None, "policy", "verify", str(path)).stdout
    return f"{len(said['repairs'])} repairs"


STATEMENTS = ROOT / "Tests" / "statements"


@claim("a false statement has the exit status 1 and a scenario that passes, and where nothing that breaks it is walked, that is named")
def false_statements():
    broken = ["c-waits-for-one-lease-at-most", "an-app-never-interrupts-itself-at-a-camera-beside",
              "an-app-that-may-be-asked-about-is-never-interrupted", "at-one-camera-nobody-waits-for-another-whatever-its-format"]
    with tempfile.TemporaryDirectory() as folder:
        for name in broken:
            said = camclient(None, "policy", "verify", str(STATEMENTS / "false" / f"{name}.toml"), "--no-repairs", status=1)
            scenario = pathlib.Path(folder) / "broken.scenario"
            scenario.write_text(said.stdout, encoding="utf-8")
            camclient(None, "test", str(scenario), "--policies", str(STATEMENTS / "false"))
    said = camclient(None, "policy", "verify", str(STATEMENTS / "named" / "an-app-is-never-interrupted-by-a-lock.toml")).stdout
    assert re.search(r"^  never varied: .*\blogin sessions, ", said, re.M), said
    return f"{len(broken)} broken, one named"


GUARD = """name = "ward"
ranks = ["guard", "rest"]
[[rank]]
name = "The guard at night"
app = "guard"
mode = "night"
rank = "guard"
[[mode]]
name = "night"
at = "22:00-06:00"
set-by = ["root"]
"""


@claim("policies that differ have another exit status than 0: they are told apart, or the keys that no walk compares are named")
def apart():
    asks = 'name = "who"\n[access]\napps = '
    pairs = [(asks + '"all"\n', asks + '"ask"\n', 1, "# Kinds of differences"),
             (GUARD, GUARD.replace("22:00", "23:00"), 6, "NOT COMPARED: they differ in mode.at, which no walk reads; no other difference"),
             (GUARD, GUARD.replace("root", "operator"), 6, "NOT COMPARED: they differ in mode.set-by, which no walk reads"),
             (GUARD, GUARD + '[shell]\nunit = "shell.service"\n', 6, "NOT COMPARED: they differ in shell.unit, which no walk reads"),
             (GUARD, GUARD + '[pressure]\nwatch = false\n', 6, "NOT COMPARED: they differ in pressure.watch, which no walk reads")]
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder) / name for name in ("first.toml", "second.toml")]
        for first, second, status, words in pairs:
            for path, text in zip(files, (first, second)):
                path.write_text(text, encoding="utf-8")
            for order in (files, files[::-1]):
                said = camclient(None, "policy", "diff", *map(str, order), status=status)
                assert words in said.stdout, said.stdout
    return f"{len(pairs)} pairs, either way round"
