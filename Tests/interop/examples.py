"""The examples for authors of apps: files to copy, which are the programs that docs/app-authors.md shows."""
import re

from harness import ROOT, claim
from page import steps

EXAMPLES = ROOT / "clients" / "examples"
PAGE = ROOT / "docs" / "app-authors.md"


def shown_files():
    """The texts that the page writes into files, by name; of a name that it writes twice the last one."""
    return {match[1]: "\n".join(command[1:-1]) + "\n" for _, _, command, _ in steps(PAGE.read_text())
            if (match := re.match(r"cat > (\S+) <<", command[0]))}


def listed():
    """Of each row of the page's table of files: the folder, the names, and the package that installs them."""
    rows = re.findall(r"^\| \[[^|]+ \| ([^|]+) \| `clients/examples/(\w+)` \| `([\w.-]+)` \|$", PAGE.read_text(), re.M)
    return [(EXAMPLES / folder, re.findall(r"`([^`]+)`", names), package) for names, folder, package in rows]


@claim("each program that the page for authors of apps shows is a file among the examples, to the letter, and each example is listed "
       "there with the Debian package that installs it")
def files():
    rows, texts = listed(), shown_files()
    assert len(rows) >= 8, rows
    assert {folder.name for folder, _, _ in rows} == {folder.name for folder in EXAMPLES.iterdir()}, rows
    programs = {name: folder / name for folder, names, _ in rows for name in names}
    # Beside the programs that the table names, what one of them is built with.
    found = {str(file.relative_to(folder)): file for folder, _, _ in rows for file in folder.rglob("*") if file.is_file()}
    assert set(programs) <= set(found), set(programs) - set(found)
    for name, text in texts.items():
        # Of two folders both may have a CMakeLists.txt; the page shows that of C.
        file = programs.get(name) or found[name]
        assert file.read_text() == text, f"{file.relative_to(ROOT)} is not what the page shows as {name}"
    assert len(texts) >= 10, sorted(texts)
    for _, _, package in rows:
        installed = (ROOT / "packaging" / "debian" / f"{package}.install").read_text().split()
        assert f"usr/share/doc/{package}" in installed, f"{package} does not install its examples"
    return f"{len(programs)} programs, {len(found)} files"
