"""The pages about policies in a real browser: by keyboard, by what a screen reader is told, light and dark, wide and narrow."""
import pathlib, tempfile

from browser import Browser
from camclient import camclient
from harness import ROOT, claim
from play import SCENARIO, Play

# Text of this size needs so much contrast (WCAG 2.1, AA).
CONTRAST_MIN = 4.5
# The contrast of each text with what lies behind it, as far as colours say it, the smallest first.
CONTRASTS = """(() => {
  const parts = text => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(one => one / 255).map(one => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = element => {
    for (; element; element = element.parentElement) {
      const colour = parts(getComputedStyle(element).backgroundColor);
      if (colour.length === 3 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest("svg, script, style, noscript, .skip") || !element.checkVisibility()) continue;
    const pair = [light(parts(getComputedStyle(element).color)), light(behind(element))].sort((a, b) => b - a);
    found.push([(pair[0] + 0.05) / (pair[1] + 0.05), walker.currentNode.data.trim().slice(0, 60)]);
  }
  return found.sort((a, b) => a[0] - b[0]).slice(0, 5);
})()"""


def report(name, target, *words):
    camclient(None, "policy", "report", str(ROOT / "policies" / f"{name}.toml"), "--clients", "2", "--cameras", "1", "--policies",
              str(ROOT / "policies"), "--scenarios", str(ROOT / "Tests/scenarios/policies" / name), "--html", str(target), *words)


@claim("the report of each shipped policy is readable in a browser, light and dark, on a desk and on a telephone")
def readable():
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        names = sorted(file.stem for file in (ROOT / "policies").glob("*.toml"))
        for name in names:
            target = pathlib.Path(folder, f"{name}.html")
            report(name, target)
            for dark in (False, True):
                browser.open(target.as_uri(), dark=dark)
                assert not browser.complaints(), (name, browser.complaints())
                assert [one for one in browser.asked() if not one.startswith("file:")] == [], browser.asked()
                low = browser.run(CONTRASTS)
                assert low[0][0] >= CONTRAST_MIN, (name, dark, low)
            browser.open(target.as_uri(), width=320)
            # What is wider scrolls by itself; the page does not.
            assert browser.run("document.documentElement.scrollWidth") <= 320, name
    return f"{len(names)} policies"


@claim("a report is read by keyboard alone, and a screen reader is told its headings, tables and why each span began")
def by_keyboard():
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        target = pathlib.Path(folder, "page.html")
        report("ios9", target, "--against", str(ROOT / "policies/ipados16.toml"))
        browser.open(target.as_uri())
        heard = browser.heard()
        assert ("heading", "ios9") in heard and ("heading", "What it promises") in heard, heard[:40]
        assert ("navigation", "Contents") in heard
        assert ("table", "Kinds of differences, the most frequent first") in heard
        assert any(role == "link" and "because" in name for role, name in heard)
        assert any(role == "link" and name.startswith("Situation 1: ") for role, name in heard)
        assert all(name for role, name in heard if role in ("link", "button", "region", "heading")), "a nameless one"
        browser.press("Tab")
        assert browser.run("document.activeElement.innerText") == "To the verdict"
        # To the first span that says why: its words stand below the picture, and Enter leads to the decision.
        for _ in range(200):
            browser.press("Tab")
            if browser.run("!!document.activeElement.closest('svg.timeline a')"):
                break
        said = browser.run("document.activeElement.getAttribute('aria-label')")
        assert "because" in said and browser.run("document.activeElement.closest('.told').querySelector('.why').innerText") == said
        assert browser.run("getComputedStyle(document.activeElement).outlineStyle") != "none"
        browser.press("Enter")
        browser.until("document.querySelector('.reasons li:target')?.checkVisibility() === true")
        assert browser.run("document.activeElement.matches('.reasons li')")


# A list that is open belongs to the browser, whose keys do not come through here.
CHOOSES_KIOSK = ("const list = document.querySelector('#examples'); list.value = list.querySelector('[data-file=\"kiosk.toml\"]').value; "
                 "list.dispatchEvent(new Event('change'))")
EMPTIES_POLICY = "document.querySelector('#policy').value = ''; document.querySelector('#policy').dispatchEvent(new Event('input'))"


@claim("policy play is used by keyboard alone: what is typed is answered, a screen reader is told, and the outcome is taken over")
def played():
    with Play(ROOT / "policies") as play, Browser() as browser:
        browser.open(f"{play.origin}/{play.token}/", dark=True)
        heard = browser.heard()
        assert {("textbox", "Policy"), ("textbox", "Scenario"), ("textbox", "And what if next")} <= set(heard), heard
        # It opens with an example, and has others.
        assert any(role == "combobox" and name.startswith("Begin with an example") for role, name in heard), heard
        browser.until("document.querySelector('#outcome')?.textContent.length > 0")
        browser.run(CHOOSES_KIOSK)
        browser.until("document.querySelector('#policy').value.includes('name    = \"kiosk\"')")
        browser.until("document.querySelector('#result').textContent.includes('It comes out as written')")
        assert browser.run(f"{EMPTIES_POLICY}; document.querySelector('#scenario').value.length") > 0
        for _ in range(20):
            browser.press("Tab")
            if browser.run("document.activeElement.id") == "scenario":
                break
        browser.press("a", ctrl=True)
        browser.type(SCENARIO)
        browser.until("document.querySelector('#outcome')?.textContent.includes('loop didStartRunning')")
        heard = browser.heard()
        assert any(role == "link" and "loop: granted because" in name for role, name in heard), heard
        assert browser.run("document.querySelector('#result').getAttribute('aria-live')") == "polite"
        low = browser.run(CONTRASTS)
        assert low[0][0] >= CONTRAST_MIN, low
        # Tab leaves the text; the button stands behind it.
        browser.press("Tab")
        assert browser.run("document.activeElement.id") == "take"
        browser.press("Enter")
        browser.until("document.querySelector('#result').textContent.includes('It comes out as written')")
        assert "loop didStartRunning" in browser.run("document.querySelector('#scenario').value")
        for _ in range(5):
            browser.press("Tab")
            if browser.run("document.activeElement.id") == "plan":
                break
        browser.type("connect call app=intercom.service; session call camera=front; start call")
        browser.until("document.querySelector('#result').textContent.includes('call didStartRunning')")
        browser.run("document.querySelector('#policy').focus()")
        browser.type("garce = 1")
        browser.until("document.querySelector('#result').textContent.includes('unknown key')")
        assert not browser.complaints(), browser.complaints()
        assert all(one.startswith(play.origin) for one in browser.asked()), browser.asked()
