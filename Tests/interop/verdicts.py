"""What `camclient policy verify` and `policy diff` say of policy files, and with which exit status."""
import itertools, re

from camclient import camclient, told
from harness import ROOT, Folder, claim


def value(table, key):
    return next(iter(re.findall(rf"^{key}\s*=\s*(.*?)\s*(?:#.*)?$", table, re.M)), "")


def is_about_one_app(table):
    """Whether a rank rule reads nothing else."""
    keys = set(re.findall(r"^([^=\n]*?)\s*=", table, re.M))
    return keys - {"name", "rank", "immediate", "grace", "min-hold", "lease", "deny"} == {"app"}


def kind_of(table):
    return table.splitlines()[0].strip()


def reordered(text):
    """The same policy in as different an order as means nothing: tables of other kinds, causes that do not touch each other, neighbours
    among the ranks that are about one app each, and the keys of [contention]."""
    top, *tables = re.split(r"^(?=\[)", re.sub(r"^(#.*|\s*)\n", "", text, flags=re.M), flags=re.M)
    kinds = {kind: list(its) for kind, its in itertools.groupby(sorted(tables, key=kind_of), kind_of)}
    for kind in ("[[camera]]", "[[attribute]]", "[[never]]", "[[always]]"):
        kinds.get(kind, []).reverse()
    # Each cause has a list of its own; within it order counts.
    causes = kinds.get("[[cause]]", [])
    names = dict.fromkeys(value(table, "cause") for table in causes)
    kinds["[[cause]]"] = [table for name in reversed(names) for table in causes if value(table, "cause") == name]
    ranks = itertools.groupby(kinds.get("[[rank]]", []), is_about_one_app)
    kinds["[[rank]]"] = [table for alone, run in ranks for table in (reversed(list(run)) if alone else run)]
    if "[contention]" in kinds:
        head, *keys = kinds["[contention]"][0].splitlines(True)
        kinds["[contention]"] = [head, *reversed(keys)]
    return top + "".join(table for kind in reversed(kinds) for table in kinds[kind])


@claim("a policy is no different from itself, reordered where order is nothing, and another one is not taken for it")
def itself():
    policies = sorted((ROOT / "policies").glob("*.toml"))
    with Folder() as folder:
        for policy in policies:
            other = folder / policy.name
            other.write_text(reordered(policy.read_text()))
            assert camclient(None, "policy", "diff", policy, other).stdout.startswith("no difference"), policy.name
    said = told(None, "policy", "diff", *(ROOT / "policies" / f"{name}.toml" for name in ("ios9", "ipados16")), "--clients", "1", status=1)
    assert not said["same"] and said["difference"]["length"] == 2, said
    return f"{len(policies)} policies"


@claim("a verdict names how much of how much was walked, in how many states each statement applied, and what never changed")
def verdict():
    kiosk = ROOT / "policies" / "kiosk.toml"
    said = told(None, "policy", "verify", kiosk, "--clients", "2")
    assert said["complete"] and said["casts"] == said["castsInAll"] == 15, said
    assert len(said["statements"]) == 4 and all(one["applied"] > 0 for one in said["statements"]), said
    assert "reloads" in said["neverVaried"] and said["problems"] == [], said
    some = camclient(None, "policy", "verify", kiosk, "--pairs", "--cameras", "1").stdout
    assert re.search(r"hold in every state of \d+ of 35 casts", some), some
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


STATEMENTS = ROOT / "Tests" / "statements"


@claim("a false statement has the exit status 1 and a scenario that passes, and where nothing that breaks it is walked, that is named")
def false_statements():
    broken = ["c-waits-for-one-lease-at-most", "an-app-never-interrupts-itself-at-a-camera-beside",
              "an-app-that-may-be-asked-about-is-never-interrupted", "at-one-camera-nobody-waits-for-another-whatever-its-format"]
    with Folder() as folder:
        for name in broken:
            said = camclient(None, "policy", "verify", STATEMENTS / "false" / f"{name}.toml", "--no-repairs", status=1)
            scenario = folder / "broken.scenario"
            scenario.write_text(said.stdout)
            camclient(None, "test", scenario, "--policies", str(STATEMENTS / "false"))
    said = camclient(None, "policy", "verify", STATEMENTS / "named" / "an-app-is-never-interrupted-by-a-lock.toml").stdout
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
    with Folder() as folder:
        files = [folder / name for name in ("first.toml", "second.toml")]
        for first, second, status, words in pairs:
            for path, text in zip(files, (first, second)):
                path.write_text(text)
            for order in (files, files[::-1]):
                said = camclient(None, "policy", "diff", *order, status=status)
                assert words in said.stdout, said.stdout
    return f"{len(pairs)} pairs, either way round"
