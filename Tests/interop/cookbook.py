"""docs/cookbook.md and its policies: each does what its page says."""
import os, re, tomllib

from camclient import camclient, told
from harness import ROOT, Folder, claim

PAGE = ROOT / "docs" / "cookbook.md"
FOLDER = ROOT / "docs" / "cookbook"
LINES_MAX = 30
# The default world of three clients takes half a minute for a policy that shares cameras between users.
TWO_CLIENTS = {"obs-beside-a-call"}


def recipes():
    names = re.findall(r"^<!-- ([a-z-]+) -->$", PAGE.read_text(), re.M)
    files = sorted(file.stem for file in FOLDER.glob("*.toml"))
    assert sorted(names) == files == sorted(file.stem for file in FOLDER.glob("*.scenario")), (names, files)
    return names


def drawn(name):
    """The lanes and the legend; the tables beneath them are for who looks for a moment."""
    lines = camclient(None, "timeline", "--width", "100", "--color", "never", "--policies", FOLDER, FOLDER / f"{name}.scenario").stdout
    return "\n\n".join(lines.strip("\n").split("\n\n")[:2])


def written(text):
    """The page with each policy and its picture, as they are."""
    def recipe(found):
        name = found[1]
        policy = (FOLDER / f"{name}.toml").read_text()
        return f"<!-- {name} -->\n\n```toml\n{policy}```\n\n```\n{drawn(name)}\n```\n"
    return re.sub(r"^<!-- ([a-z-]+) -->\n(?:\n```toml\n.*?^```\n\n```\n.*?^```\n)?", recipe, text, flags=re.M | re.S)


@claim("the cookbook shows each policy as its file has it, with the picture of its scenario, and lists all of them")
def page():
    names = recipes()
    text = PAGE.read_text()
    whole = written(text)
    if "CAMARB_WRITE_PAGES" in os.environ:
        PAGE.write_text(whole)
    assert whole == text, "docs/cookbook.md differs from docs/cookbook; CAMARB_WRITE_PAGES=1 writes it"
    headings = re.findall(r"^## (.*)$", text, re.M)
    assert re.findall(r"^\* \[(.*)\]\(#", text, re.M) == headings and len(headings) == len(names), headings
    return f"{len(names)} recipes"


@claim("each policy of the cookbook is short, has nothing that check warns of, does what its scenario says, and keeps its statements "
       "in every state that verify walks")
def policies():
    walked = {}
    for name in recipes():
        file = FOLDER / f"{name}.toml"
        text = file.read_text()
        assert text.startswith("# ") and text.count("\n") < LINES_MAX, (name, text.count("\n"))
        policy = tomllib.loads(text)
        assert policy.get("never") or policy.get("always"), f"{name} states nothing"
        said = camclient(None, "policy", "check", file).stdout
        assert "no problem" in said and "warning" not in said, said
        clients = ["--clients", "2"] if name in TWO_CLIENTS else []
        report = told(None, "policy", "verify", "--max-time", "5min", *clients, file)
        assert report["complete"] and report["broken"] is None and not report["problems"], (name, report)
        assert all(one["applied"] > 0 or one.get("keptByArithmetic") for one in report["statements"]), (name, report["statements"])
        walked[name] = report
    camclient(None, "test", "--policies", FOLDER, FOLDER)
    booth = walked["booth"]
    assert [one.get("keptByArithmetic") for one in booth["statements"]] == [True], booth["statements"]
    return f"{sum(one['states'] for one in walked.values())} states; the booth takes {booth['seconds']} s"


@claim("without its pause a booth's limit is broken by one that is alone: check says what to give, and verify shows the second start")
def without_a_pause():
    with Folder() as folder:
        file = folder / "booth.toml"
        text = (FOLDER / "booth.toml").read_text()
        file.write_text(re.sub(r"^pause .*\n", "", text, flags=re.M))
        said = camclient(None, "policy", "check", file, status=1).stdout
        assert "a lease ends, and begins again at once" in said and 'give a pause, "5min" at least' in said, said
        report = told(None, "policy", "verify", "--no-repairs", file, status=1)
        assert "has held a camera for longer than 30min" in report["broken"]["message"], report["broken"]
        assert report["broken"]["scenario"].count("     start ") + report["broken"]["scenario"].count("s start ") >= 2, report["broken"]
        file.write_text(text.replace('pause   = "5min"', 'pause   = "4min"'))
        said = camclient(None, "policy", "check", file, status=1).stdout
        assert 'it holds a camera for "31min" within "35min"' in said and 'give a pause, "5min" at least' in said, said
        file.write_text(text.replace('in      = "35min"', 'in      = "1h"'))
        assert 'it holds a camera for "55min" within "1h"' in camclient(None, "policy", "check", file, status=1).stdout


@claim("what arithmetic says of a limit is what a walk through all moments says, where another camera's conflict keeps arithmetic out")
def arithmetic_and_walk():
    def policy(lease, pause, most, window, more=""):
        return (f'name = "limit"\nranks = ["all"]\n[[rank]]\nname = "All"\nrank = "all"\nlease = "{lease}s"\npause = "{pause}s"\n'
                f'[contention]\ncool-down = "1s"\n{more}[[always]]\nname = "L"\nwhen = {{ camera = "back" }}\nat-most = "{most}s"\nin = "{window}s"\n')
    counts = {0: 0, 1: 0}
    with Folder() as folder:
        file = folder / "limit.toml"
        for lease, pause, most, window in ((3, 2, 3, 5), (3, 2, 3, 6), (3, 2, 4, 6), (2, 3, 4, 8), (2, 3, 4, 9), (2, 3, 4, 10), (4, 1, 4, 5),
                                           (4, 1, 7, 9), (4, 1, 8, 9), (1, 1, 2, 4), (1, 1, 2, 5), (1, 1, 3, 5)):
            verdicts = []
            for more in ("", '[[camera]]\nid = "one"\nconflicts = ["other"]\n'):
                file.write_text(policy(lease, pause, most, window, more))
                report = told(None, "policy", "verify", "--no-repairs", "--clients", "1", "--cameras", "1", file, status=None)
                kept = any(one.get("keptByArithmetic") for one in report["statements"])
                assert not kept or not more, report
                assert report["broken"] is not None or report["complete"], report
                assert report["broken"] is not None or kept or report["timed"]["states"] > 10, report
                verdicts.append(report["broken"] is not None)
            cycle = lease + pause
            says = window // cycle * lease + min(window % cycle, lease) > most
            assert verdicts == [says, says], (lease, pause, most, window, verdicts)
            counts[says] += 1
    assert min(counts.values()) >= 3, counts
    return f"{counts[0]} kept, {counts[1]} broken"
