"""The pages say what is so: where things are, how long they are, and what they are called."""
import difflib, itertools, os, re, shutil

from harness import ROOT, Skipped, claim, ran

PAGE = ROOT / "docs" / "architecture.md"
SWIFT = sorted(file for folder in ("Sources", "Proof") for file in (ROOT / folder).rglob("*.swift"))


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


@claim("each name of a type, method or file in the architecture is one of the code")
def names():
    files = [file for folder in ("Sources", "Proof", "Tests", "clients") for file in (ROOT / folder).rglob("*")
             if file.suffix in (".swift", ".c", ".h", ".py")]
    known = {word for file in files for word in re.findall(r"\w+", file.read_text())} | {file.stem for file in files}
    said = set(re.findall(r"`([A-Z][a-z]+(?:[A-Z]\w*)+)`", PAGE.read_text()))
    assert len(said) >= 40, sorted(said)
    assert not said - known, sorted(said - known)
    return f"{len(said)} names"


@claim("the bounds on work that is done for one user, and on who waits for whom, are those of the code")
def bounds():
    page = (ROOT / "docs" / "reliability.md").read_text()
    begins = ("Work that is done for one user", "Who waits for whom")
    count = sum(places(page.split(f"\n{begin}")[1].split("\n\n")[1]) for begin in begins)
    assert count >= 20, count
    return f"{count} bounds"


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
    long = [one for file in SWIFT for one in long_functions(file)]
    long += [f"{file.relative_to(ROOT)} has {count} lines" for file in SWIFT
             if (count := len(file.read_text().splitlines())) > FILE_LINES_MAX]
    assert not long, "\n".join(long)
    return f"{len(SWIFT)} files"


@claim("no target is past its budget of lines without a reason in CONTRIBUTING.md")
def budgets():
    return ran(ROOT / "make" / "lines").stdout.splitlines()[-1].strip()


# How a comment may not begin (docs/style.md, "Comments"): with a free relative, a pronoun for a noun, or a fragment.
BEGINNINGS = re.compile(r"^\s*(?:///?|/\*+)\s*(?:- \w+(?: \w+)?:\s*)?(What|One that|Those|[Nn]il:)(?=\s)")
COMMENTED = (".swift", ".c", ".h", ".cpp")


@claim("no comment begins with “What”, “One that”, “Those” or “Nil:”")
def beginnings():
    files = [file for folder in ("Sources", "Proof", "Tests", "clients", "bench") for file in sorted((ROOT / folder).rglob("*"))
             if file.suffix in COMMENTED]
    wrong = []
    for file in files:
        before = ""
        for number, line in enumerate(file.read_text().splitlines(), 1):
            # A later line of a comment may begin with any word.
            is_first = not re.match(r"\s*(///?|\*)", before)
            if is_first and BEGINNINGS.match(line):
                wrong.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()}")
            before = line
    assert not wrong, "\n".join(wrong)
    return f"{len(files)} files"


# "There is no camera" and "is no longer" are English; "x is no camera" is not.
IS_NO = re.compile(r'"(?:[^"\\]|\\.)*?(?<!here )\b(?:is|are) no (?!longer\b|more\b|for\b)[a-z]')


@claim("no message says that something “is no” thing of a kind: it “is not a” thing of that kind")
def messages():
    files = [file for folder in ("Sources", "clients") for file in sorted((ROOT / folder).rglob("*"))
             if file.suffix in (".swift", ".c") and "tests" not in file.parts]
    wrong = [f"{file.relative_to(ROOT)}:{number}: {line.strip()}" for file in files
             for number, line in enumerate(file.read_text().splitlines(), 1)
             if IS_NO.search(line) and not line.lstrip().startswith(("//", "/*", "*"))]
    assert not wrong, "\n".join(wrong)
    return f"{len(files)} files"


# Words of policies, which no source has as a name of its own.
GLOSSARY_ELSEWHERE = {"immediate", "sharing", "bid"}
# One thing at its two ends: as the core has it, and as a client gets it.
TWO_ENDS = {"Explanation", "Status"}


@claim("the glossary's names are those of the sources, and no two programs or libraries have a type of one name")
def glossary():
    files = {file: file.read_text() for file in SWIFT}
    table = (ROOT / "docs" / "style.md").read_text().split("### Glossary")[1].split("\n## ")[0]
    names = [name for name in re.findall(r"`([A-Za-z]\w+)`", table) if name not in GLOSSARY_ELSEWHERE]
    assert len(names) >= 10, names
    missing = [name for name in names if not any(re.search(rf"\b{name}\b", text) for text in files.values())]
    assert not missing, f"no source has {missing}"
    homes = {}
    for file, text in files.items():
        for name in re.findall(r"^(?:(?:public|package|final|indirect|@\w+) )*(?:struct|class|enum|actor|protocol) (\w+)", text, re.M):
            homes.setdefault(name, set()).add(file.relative_to(ROOT).parts[1:3])
    twice = {name: sorted(where) for name, where in homes.items() if len(where) > 1 and name not in TWO_ENDS}
    assert not twice, twice
    return f"{len(names)} names, {len(homes)} types"


# In the order in which Keep a Changelog lists them; here a version may have them in any.
KINDS_OF_CHANGE = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
# Two bullets so much alike, figures apart, are one that was written twice.
ALIKE = 0.85


def changes(text):
    """[(version, [(section, [bullet])])] of a list of changes; fails at the first line that has no place in one."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## "):
            version = re.fullmatch(r"## \[(Unreleased|\d+\.\d+\.\d+)\](?(1)( - \d{4}-\d\d-\d\d)?)", line)
            assert version and (version[1] == "Unreleased") == (version[2] is None), (
                f"{number}: {line} is not [Unreleased] or [X.Y.Z] - DATE")
            found.append((version[1], []))
        elif line.startswith("### "):
            assert found and line[4:] in KINDS_OF_CHANGE, f"{number}: {line[4:]} is not one of {', '.join(KINDS_OF_CHANGE)}"
            assert line[4:] not in [name for name, _ in found[-1][1]], f"{number}: {found[-1][0]} has “{line[4:]}” twice"
            found[-1][1].append((line[4:], []))
        elif line.startswith("- "):
            assert found and found[-1][1], f"{number}: a bullet of no section"
            found[-1][1][-1][1].append(line[2:])
        elif line.startswith("  ") and found and found[-1][1] and found[-1][1][-1][1]:
            found[-1][1][-1][1][-1] += " " + line.strip()
        else:
            assert not line or not (found and found[-1][1]), f"{number}: neither a bullet nor the rest of one: {line}"
    return found


@claim("the list of changes has each section once, whole sentences, no change twice, and its versions in order")
def changelog():
    found = changes((ROOT / "CHANGELOG.md").read_text())
    versions = [version for version, _ in found]
    assert versions[:1] == ["Unreleased"] and "Unreleased" not in versions[1:], versions
    numbers = [tuple(map(int, version.split("."))) for version in versions[1:]]
    assert all(newer > older for newer, older in itertools.pairwise(numbers)), f"not from the newest to the oldest: {versions}"
    count = 0
    for version, sections in found:
        bullets = [bullet for _, bullets in sections for bullet in bullets]
        count += len(bullets)
        assert all(bullets for _, bullets in sections), f"{version} has a section without changes"
        for bullet in bullets:
            assert re.match(r"[A-Z`\[“]", bullet) and re.search(r"[.)]$", bullet), f"{version}: no whole sentence: {bullet}"
        plain = [re.sub(r"\d+", "0", bullet) for bullet in bullets]
        for one, other in itertools.combinations(plain, 2):
            match = difflib.SequenceMatcher(None, one, other, autojunk=False)
            alike = other.startswith(one[:-1]) or one.startswith(other[:-1]) or all(
                ratio() > ALIKE for ratio in (match.real_quick_ratio, match.quick_ratio, match.ratio))
            assert not alike, f"{version} has one change twice:\n{one}\n{other}"
    assert count > 100, count
    return f"{count} changes"


@claim("the reason for each Debian package can be read without those of the others, and the first build says how long it takes "
       "before it begins")
def reasons():
    packages = (ROOT / "make" / "packages").read_text()
    listed = re.findall(r"^([a-z][\w.+-]+)\t(.+)$", packages, re.M)
    refers = re.compile(r"^(the same|another|such|shared)\b|\b(above|below|there|they|them|their|its|those|these)\b")
    assert len(listed) > 80, listed
    assert not (found := [f"{name}: {why}" for name, why in listed if refers.search(why)]), found
    groups = re.findall(r"^    ([a-z-]+)\) cat <<LIST\n(.*?)^LIST", packages, re.M | re.S)
    for group, lines in groups:
        names = [line.split("\t")[0] for line in lines.splitlines()]
        assert sorted(set(names)) == sorted(names), f"{group} lists a package twice"
    for target, minutes in (("demo", "four"), ("build", "ten")):
        told = ran("make", "--dry-run", "--no-print-directory", "-C", ROOT, target).stdout
        assert 0 < told.find(f"about {minutes} minutes") < told.find("make/compile"), told
    return f"{len(listed)} reasons"


def plain_lines(text):
    """The lines of a page with their numbers, and without those of code."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            inside = not inside
        elif not inside:
            yield number, line


def anchors(text):
    """What a link within a page may name: its headings, in lower case, without punctuation."""
    headings = [re.sub(r"^#+ ", "", line) for _, line in plain_lines(text) if re.match(r"#+ ", line)]
    return [re.sub(r"[^\w\- ]", "", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading).lower()).replace(" ", "-") for heading in headings]


@claim("every heading of a page stands by itself, and every link to a file or a heading leads there")
def headings():
    pages = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY", "CHANGELOG")] + sorted((ROOT / "docs").rglob("*.md"))
    wrong, count = [], 0
    for page in pages:
        before = ""
        for number, line in plain_lines(page.read_text()):
            if re.match(r"#+ ", line) and before.strip():
                wrong.append(f"{page.name}:{number}: nothing parts this heading from what is before it: {line}")
            before = line
            for target in re.findall(r"(?<!`)\]\(([^)\s]+)\)", line):
                if re.match(r"[a-z]+:", target):
                    continue
                count += 1
                name, _, anchor = target.partition("#")
                file = (page.parent / name).resolve() if name else page
                if not file.exists() or anchor and anchor not in anchors(file.read_text()):
                    wrong.append(f"{page.name}:{number}: {target} leads nowhere")
    assert not wrong, "\n".join(wrong)
    return f"{len(pages)} pages, {count} links"


@claim("every manual page fits a terminal of 80 columns, and groff has nothing to say about it")
def manuals():
    if not shutil.which("man"):
        raise Skipped("man is not here (make/packages test installs man-db)")
    pages = sorted((ROOT / "docs" / "man").iterdir())
    for page in pages:
        # Without a terminal's bold and underlined letters, which it makes of several each.
        done = ran("man", "--warnings", "--local-file", page, env={
            **os.environ, "LANG": "C.UTF-8", "MANWIDTH": "80", "MANPAGER": "cat", "MAN_KEEP_FORMATTING": "", "GROFF_NO_SGR": "1"})
        assert not done.stderr, f"{page.name}: {done.stderr}"
        lines = re.sub(".\x08", "", done.stdout).splitlines()
        assert len(lines) > 20, page
        long = [line for line in lines if len(line) > 80]
        assert not long, f"{page.name}:\n" + "\n".join(long)
        quotes = [line for line in page.read_text().splitlines()
                  if re.match(r"\.[A-Z]{1,2} ", line) and line.count('"') % 2 and '\\"' not in line]
        assert not quotes, f"{page.name} has a quotation mark too many: {quotes}"
    return f"{len(pages)} pages"
