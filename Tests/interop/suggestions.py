"""Scenarios that are suggested for what a policy's own ones leave out."""
import json, shutil

from camclient import POLICIES, camclient
from harness import ROOT, Folder, claim


@claim("camclient policy test --suggest writes scenarios that pass and reach what was missing, and touches no file that is there")
def suggest():
    with Folder() as folder:
        shipped, kept = ROOT / "Tests" / "scenarios" / "policies" / "kiosk", folder / "kept"
        kept.mkdir()
        for name in ("the-attract-loop-gives-way-to-everybody", "two-services-of-one-rank-take-turns"):
            shutil.copy(shipped / f"{name}.scenario", kept)
        more = kept / "more"

        def tested(*flags, status=0):
            return camclient(None, "policy", "test", kept, *POLICIES, *flags, status=status).stdout

        printed = tested("--suggest")
        assert printed.count("\npolicy kiosk.toml\n") > 1 and "\n# " in printed, printed
        found = json.loads(tested("--suggest", "--json", "--save", more).splitlines()[-1])
        assert found["complete"] and not found["left"], found
        files = sorted(path.name for path in more.iterdir())
        assert len(files) == len(found["suggestions"]) and not [name for name in files if " " in name], files
        texts = {path.name: path.read_text() for path in more.iterdir()}
        assert sorted(texts.values()) == sorted(one["scenario"] for one in found["suggestions"])
        whole = tested("--min-coverage", "100")
        assert "kiosk.toml: 100 %" in whole and " failed" not in whole, whole
        # Nothing is missing any more, and nothing is suggested; what is there stays.
        assert tested("--suggest", "--save", more) == whole
        assert {path.name: path.read_text() for path in more.iterdir()} == texts
        # A search that is cut off says so, in words and by its exit status.
        shutil.rmtree(more)
        cut = tested("--suggest", "--max-states", "10", status=6)
        assert "cut off by the bound on states" in cut, cut
        tested("--save", more, status=2)
