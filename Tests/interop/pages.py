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
    listed = set(re.findall(r"(?:^|\s)([A-Za-z]\w*)/(?=\s)", shown)) - {"Sources", "Tests", "policies", "cameras", "docs", "bench", "demo", "make", "clients"}
    assert listed == names, f"only in the page: {sorted(listed - names)}; only in the package: {sorted(names - listed)}"
    return f"{len(names)} targets"


def places(table):
    """The rows of a table whose last two columns are a file and words of it, which have to be there."""
    rows = re.findall(r"^\| ([^|]+) \|(?: [^|]+ \|)? `([^`]+)` \| `([^`]+)` \|$", table, re.M)
    assert len(rows) == len(table.splitlines()) - 2, (len(rows), table)
    for what, path, words in rows:
        file = ROOT / path
        assert file.exists(), f"{what}: there is no {path}"
        assert words in file.read_text(), f"{what}: {path} does not say “{words}”"
    return len(rows)


@claim("where the architecture says that something is, it is")
def where_is_what():
    count = places(PAGE.read_text().split("### Where is what")[1].split("\n\n")[2])
    assert count >= 20, count
    return f"{count} places"


@claim("the bounds on work that is done for one user, and on who waits for whom, are those of the code")
def bounds():
    page = (ROOT / "docs" / "reliability.md").read_text()
    begins = ("Work that is done for one user", "Who waits for whom")
    count = sum(places(page.split(f"\n{begin}")[1].split("\n\n")[1]) for begin in begins)
    assert count >= 20, count
    return f"{count} bounds"


# What a reader asks, and the word to look for among the names of files.
QUESTIONS = {
    "which bid wins a tie": "Ties", "how long a holder may finish": "Grace", "who feeds the watchdog": "Watchdog",
    "what happens to a returned buffer": "ReturnedBuffers", "which camera it is when it is plugged in anew": "Replug",
}


@claim("five questions of a reader are answered by a file's name, and the architecture's table knows that file")
def questions():
    page = PAGE.read_text()
    for question, word in QUESTIONS.items():
        found = [file for file in (ROOT / "Sources").rglob("*.swift") if word in file.name]
        assert len(found) == 1, f"{question}: {word} is in the names of {found}"
        assert f"`{found[0].relative_to(ROOT)}`" in page, f"{question}: the page does not say {found[0].name}"


FUNCTION_LINES_MAX = 60
FILE_LINES_MAX = 350
FUNCTION = re.compile(r"^( *)(?:@\w+(?:\([^)]*\))? +)*(?:[a-z]+(?:\(\w+\))? +)*(?:func |init[?(<]|deinit\b)")


def long_functions(file):
    """The functions of a file that are longer than a reader can see at once; a body ends at a brace below its beginning."""
    lines = file.read_text().splitlines()
    for number, line in enumerate(lines):
        if not (begin := FUNCTION.match(line)) or line.endswith("}"):
            continue
        end = next((end for end in range(number + 1, len(lines)) if lines[end] == begin[1] + "}"), number)
        if any(FUNCTION.match(other) and FUNCTION.match(other)[1] == begin[1] for other in lines[number + 1:end]):
            continue  # A requirement of a protocol, which has no body.
        if end - number + 1 > FUNCTION_LINES_MAX:
            yield f"{file.relative_to(ROOT)}:{number + 1}: {line.strip()} has {end - number + 1} lines"


@claim("no function of the sources has more than 60 lines, and no file more than 350")
def lengths():
    files = sorted((ROOT / "Sources").rglob("*.swift"))
    long = [one for file in files for one in long_functions(file)]
    long += [f"{file.relative_to(ROOT)} has {count} lines" for file in files
             if (count := len(file.read_text().splitlines())) > FILE_LINES_MAX]
    assert not long, "\n".join(long)
    return f"{len(files)} files"


# Words of policies, which no source has as a name of its own.
GLOSSARY_ELSEWHERE = {"immediate", "sharing", "bid"}
# One thing at its two ends: as the core has it, and as a client gets it.
TWO_ENDS = {"Explanation", "Status"}


@claim("the glossary's names are those of the sources, and no two programs or libraries have a type of one name")
def glossary():
    files = {file: file.read_text() for file in sorted((ROOT / "Sources").rglob("*.swift"))}
    table = (ROOT / "docs" / "style.md").read_text().split("### Glossary")[1].split("\n## ")[0]
    names = [name for name in re.findall(r"`([A-Za-z]\w+)`", table) if name not in GLOSSARY_ELSEWHERE]
    assert len(names) >= 10, names
    missing = [name for name in names if not any(re.search(rf"\b{name}\b", text) for text in files.values())]
    assert not missing, f"no source has {missing}"
    homes = {}
    for file, text in files.items():
        for name in re.findall(r"^(?:(?:public|package|final|indirect|@\w+) )*(?:struct|class|enum|actor|protocol) (\w+)", text, re.M):
            homes.setdefault(name, set()).add(file.relative_to(ROOT).parts[1])
    twice = {name: sorted(where) for name, where in homes.items() if len(where) > 1 and name not in TWO_ENDS}
    assert not twice, twice
    return f"{len(names)} names, {len(homes)} types"
