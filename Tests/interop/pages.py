"""The pages say what is so: the list of targets, and where things are."""
import re

from harness import ROOT, claim

PAGE = ROOT / "docs" / "architecture.md"


@claim("the architecture's list of targets is that of the package")
def targets():
    package = (ROOT / "Package.swift").read_text()
    names = set(re.findall(r'(?:library|program|installed|installedInC)\(\s*"(\w+)"', package))
    names |= set(re.findall(r'\.(?:target|executableTarget)\(\s*name: "(\w+)"', package))
    # What only tests need is named by their folder.
    names -= {name for name in names if name.endswith("Testing")}
    shown = PAGE.read_text().split("## Targets")[1].split("```")[1]
    listed = set(re.findall(r"(?:^|\s)([A-Za-z]\w*)/(?=\s)", shown)) - {"Sources", "Tests", "policies", "docs", "bench", "demo", "make", "clients"}
    assert listed == names, f"only in the page: {sorted(listed - names)}; only in the package: {sorted(names - listed)}"
    return f"{len(names)} targets"


@claim("where the architecture says that something is, it is")
def where_is_what():
    table = PAGE.read_text().split("### Where is what")[1].split("\n\n")[2]
    rows = re.findall(r"^\| ([^|]+) \| `([^`]+)` \| `([^`]+)` \|$", table, re.M)
    assert len(rows) >= 20 and len(rows) == len(table.splitlines()) - 2, (len(rows), table)
    for what, path, words in rows:
        file = ROOT / path
        assert file.exists(), f"{what}: there is no {path}"
        assert words in file.read_text(), f"{what}: {path} does not say “{words}”"
    return f"{len(rows)} places"
