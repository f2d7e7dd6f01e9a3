"""The page about policies can be read from its beginning and looked up from its end: its contents, and an index of its keys.

`CAMARB_WRITE_PAGES=1` writes both.
"""
import os, re

from harness import ROOT, claim
from pages import anchors, plain_lines

PAGE = ROOT / "docs" / "policy.md"
INDEX = "Index of keys"
CONTENTS = re.compile(r"(?:^ *\* \[.*\]\(#\S+\)\n)+", re.M)
# The tables that camclient's own tests write from the language's tables: a key or a fact begins each row.
KEYS = re.compile(r"^\| (?:key|fact) \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", re.M)


def links(text):
    """[(level, heading, its anchor)] of a page's sections, in order."""
    headings = [re.fullmatch(r"(#+) (.*)", line) for _, line in plain_lines(text) if re.match(r"#+ ", line)]
    return [(len(one[1]), one[2], anchor) for one, anchor in zip(headings, anchors(text)) if len(one[1]) > 1]


def contents(text):
    return "".join(f"{'  ' * (level - 2)}* [{heading}](#{anchor})\n" for level, heading, anchor in links(text) if level <= 3)


def keys(text):
    """{key: [(heading, anchor)]} of the tables of keys and facts, in the order of the page."""
    found = {}
    for (level, heading, anchor), section in zip(
            [one for one in links(text) if one[0] == 2], re.split(r"^## .*\n", text, flags=re.M)[1:]):
        for rows in KEYS.findall(section) if heading != INDEX else ():
            for key in re.findall(r"^\| `([\w-]+)` \|", rows, re.M):
                found.setdefault(key, []).append((heading.split(":")[0], anchor))
    return found


def index(text):
    rows = [f"| `{key}` | {', '.join(f'[{heading}](#{anchor})' for heading, anchor in places)} |"
            for key, places in sorted(keys(text).items())]
    return "| key or fact | explained under |\n|---|---|\n" + "\n".join(rows) + "\n"


@claim("the page about policies begins with all its sections and ends with all keys of the language, each with the section that "
       "explains it")
def held():
    text = PAGE.read_text()
    listed = CONTENTS.search(text)
    assert listed and listed.start() < text.index("\n## "), "the contents do not stand before the first section"
    page = text[:listed.start()] + contents(text) + text[listed.end():]
    begin = page.index("| key or fact |", page.index(f"\n## {INDEX}\n"))
    page = page[:begin] + index(page)
    if "CAMARB_WRITE_PAGES" in os.environ:
        PAGE.write_text(page)
    assert page == text, "docs/policy.md; CAMARB_WRITE_PAGES=1 writes it"
    language = (ROOT / "Sources" / "Language" / "PolicyFile" / "Keys" / "PolicyKeys.swift").read_text()
    written = set(re.findall(r'(?:\bKey\(|\bname:|^ +\[?)\s*"([a-z-]+)"', language, re.M))
    assert len(written) > 50 and not written - set(keys(text)), f"in no table of docs/policy.md: {sorted(written - set(keys(text)))}"
    return f"{len(links(text))} sections, {len(keys(text))} keys"
