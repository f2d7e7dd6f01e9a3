"""The report of a policy: one page, whole without network and script, in which whatever a name contains is words."""
import html.parser, re

from camclient import POLICIES, camclient
from harness import ROOT, Daemon, Folder, claim

BYTES_MAX = 2_000_000
# Small worlds: what larger ones come to is `policy verify`'s business.
SMALL = ("--clients", "2", "--cameras", "1")


class Page(html.parser.HTMLParser):
    """The elements of a page: their names, attributes and words."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.words, self.open, self.raw, self.source = [], [], [], "", text
        self.feed(text)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in {"meta", "link", "br", "input"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> within {self.open}"

    def handle_data(self, data):
        (self.words if not self.open or self.open[-1] not in ("script", "style") else [self.raw]).append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self):
        return "".join(self.words)


def report(*words, status=0):
    with Folder() as folder:
        target = folder / "page.html"
        said = camclient(None, "policy", "report", *words, "--html", target, status=status).stdout
        assert said.endswith(f"; the page is {target}\n"), said
        return Page(target.read_text()), target.stat().st_size


def whole(page):
    """What must hold of every page."""
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids)), {id for id in ids if ids.count(id) > 1}
    for tag, attributes in page.elements:
        for name, value in attributes.items():
            assert not name.startswith("on") and name not in ("src", "style", "action"), (tag, name, value)
            if name in ("href", "xlink:href"):
                assert value.startswith("#") and value[1:] in ids, f"{tag} leads to {value}"
            if name in ("aria-labelledby", "aria-describedby", "for"):
                assert all(word in ids for word in value.split()), (tag, name, value)
    assert len(page.all("script")) == 1 and len(page.all("style")) == 1 and not page.all("link")
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1 and levels.count(1) == 1 and all(b <= a + 1 for a, b in zip(levels, levels[1:])), levels
    policy = [one["content"] for one in page.all("meta") if one.get("http-equiv") == "Content-Security-Policy"]
    assert len(policy) == 1 and policy[0].startswith("default-src 'none'; ") and "unsafe" not in policy[0], policy
    return ids


@claim("the report of each shipped policy is one page below two megabytes, whole without network, with every line of its file",
       long="other claims look into reports of some of them, and make test walks all of them")
def shipped():
    sizes = {}
    for file in sorted((ROOT / "policies").glob("*.toml")):
        page, sizes[file.stem] = report(file, *SMALL, "--scenarios", ROOT / "Tests/scenarios/policies" / file.stem, *POLICIES)
        ids = whole(page)
        assert {"glance", "statements", "text", "coverage", "scenarios", "states"} <= set(ids), ids
        for line in file.read_text().splitlines():
            assert line in page.text, f"{file.stem}: {line}"
        assert "hold in every state of" in page.text and "No gap." in page.text
        # Each span that says why leads to a decision, which a keyboard reaches.
        assert sum("aria-label" in link and "because" in link["aria-label"] for link in page.all("a")) > 3
    assert max(sizes.values()) < BYTES_MAX, sizes
    return f"{len(sizes)} policies, the largest page {max(sizes.values()) // 1000} kB"


@claim("the situations of two apps and one camera are those that a policy allows, and what leads from one to another")
def situations():
    # The first has it, and a second start is refused: nobody ever waits.
    page, _ = report(ROOT / "policies/v4l2.toml", *SMALL)
    rows = [text for text in page.words if re.match(r"\d+: \S+ ", text)]
    assert len(rows) == 3 and all(" waits" not in row for row in rows), rows
    assert {re.sub(r"^\d+: ", "", row).count("has the camera") for row in rows} == {0, 1}, rows
    edges = [attributes for tag, attributes in page.elements if attributes.get("class") == "edge"]
    assert {(edge["data-from"], edge["data-to"]) for edge in edges} == {("1", "2"), ("2", "1"), ("1", "3"), ("3", "1")}, edges
    # Where a stronger app takes it from a weaker one, one of two waits in some situation, and never both.
    page, _ = report(ROOT / "policies/kiosk.toml", *SMALL)
    rows = [text for text in page.words if re.match(r"\d+: \S+ ", text)]
    assert any(" waits" in row for row in rows) and not any(row.count(" waits") == 2 for row in rows), rows


@claim("a report names what is broken with the shortest way there, and says NOT COMPLETE where it was cut off")
def verdicts():
    statements = ROOT / "Tests" / "statements" / "false"
    page, _ = report(statements / "a-call-never-keeps-a-call-waiting.toml", *SMALL, status=1)
    whole(page)
    assert "Broken: " in page.text and "The shortest way to break it" in page.text and "never keeps a call waiting" in page.text
    assert any(one.get("id") == "broken-picture-title" for _, one in page.elements)
    # What no single state shows is walked for the page, too.
    page, _ = report(statements / "without-leases-everybody-s-turn-comes.toml", *SMALL, status=1)
    assert "Broken: " in page.text and "for ever" in page.text, page.text
    page, _ = report(ROOT / "policies/ipados16.toml", "--max-time", "1ms", status=6)
    assert "NOT COMPLETE" in page.text


def named(said):
    """The command that another one names for a page."""
    return re.search(r"as a page: camclient (policy report .*)", said)[1].split()


@claim("policy verify, of what is broken or was cut off, and policy diff name the command that shows the same as a page")
def named_pages():
    broken = ROOT / "Tests/statements/false/a-call-never-keeps-a-call-waiting.toml"
    one, other = (ROOT / "policies" / f"{name}.toml" for name in ("ios9", "v4l2"))
    said = camclient(None, "policy", "verify", broken, *SMALL, status=1)
    # A scenario that was found is alone on standard output, so that it can be kept.
    assert "as a page" not in said.stdout
    differ = camclient(None, "policy", "diff", one, other, *SMALL, status=1).stdout
    with Folder() as folder:
        for command, status in ((named(said.stderr), 1), (named(differ), 0)):
            camclient(None, *command, status=status, cwd=folder)
            page = Page((folder / "page.html").read_text())
            assert {"--clients", "2", "--cameras", "1"} <= set(command), command
        assert "They differ, first after" in page.text
    cut = camclient(None, "policy", "verify", ROOT / "policies/ipados16.toml", "--max-time", "1ms", status=6).stdout
    assert named(cut) == ["policy", "report", str(ROOT / "policies/ipados16.toml"), "--html", "page.html"], cut
    assert "as a page" not in camclient(None, "policy", "diff", one, one).stdout


@claim("a report shows two policies side by side: the shortest difference, and a trace under both")
def beside():
    with Folder() as folder:
        trace = folder / "visit.trace"
        with Daemon("desktop", extra=("--trace", trace)) as daemon:
            camclient(daemon, "run", "start", "wait DidStartRunning", "stop")
        page, _ = report(ROOT / "policies/ios9.toml", *SMALL, "--against", ROOT / "policies/ipados16.toml", "--trace", trace)
    ids = whole(page)
    assert "They differ, first after" in page.text and "Kinds of differences" in page.text
    for picture in ("difference-1", "difference-2", "trace-1-1", "trace-1-2"):
        assert f"{picture}-picture-title" in ids, (picture, sorted(ids))
    assert "Under ios9" in page.text and "Under ipados16" in page.text
    # Each row of the kinds says how it differs from the others.
    kinds = re.search(r"<table><caption>Kinds of differences.*?<tbody>(.*?)</tbody>", page.source, re.DOTALL)[1]
    rows = [re.sub(r"<[^>]*>", "|", row) for row in re.findall(r"<tr>(.*?)</tr>", kinds)]
    told = [re.sub(r"\|[0-9,]+\|+[0-9]+ steps?\|*$", "", row) for row in rows]
    assert len(rows) > 3 and len(set(told)) == len(told), rows
    assert all(re.match(r"\|+[a-z]+ \((stricter|laxer|other)\)\|", row) for row in rows), rows


HOSTILE = "</script><img src=x onerror=alert(1)>'&quot;<blink>"


@claim("whatever a name in a policy or a scenario contains, on the page it is words")
def hostile():
    with Folder() as folder:
        file = folder / "hostile.toml"
        file.write_text(f'name = "{HOSTILE}"\nsummary = "{HOSTILE}"\nranks = ["{HOSTILE}", "weak"]\n'
                        f'[[rank]]\nname = "rule {HOSTILE}"\napp = "{HOSTILE}"\nrank = "{HOSTILE}"\n'
                        f'[[never]]\nname = "never {HOSTILE}"\nwaiting = {{ app = "{HOSTILE}" }}\n')
        scenario = folder / "hostile.scenario"
        scenario.write_text(f'# {HOSTILE}\n\npolicy built-in\ncamera "{HOSTILE}" back\n\n0s   connect "{HOSTILE}"\n'
                            f'     session "{HOSTILE}" camera="{HOSTILE}"\n     start "{HOSTILE}"\n')
        page, _ = report(file, *SMALL, "--scenarios", scenario)
    whole(page)
    assert not page.all("img") and not page.all("blink")
    # In the heading, the text, a statement, a scenario's title and its picture.
    assert page.text.count(HOSTILE) >= 8, page.text.count(HOSTILE)
