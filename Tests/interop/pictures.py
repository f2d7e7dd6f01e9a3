"""The pictures of README.md: docs/pictures/run makes them, and anybody can make them again (`make pictures`)."""
import difflib, importlib.util, os, re, shutil, xml.etree.ElementTree

from harness import PROGRAMS, ROOT, Folder, Skipped, claim, ran

PICTURES = ROOT / "docs" / "pictures"
BYTES_MAX = 300_000
SVG = "{http://www.w3.org/2000/svg}"
PATIENCE = 120


def words(picture):
    """The lines of a recording's terminals, but for figures, and in no order: an answer and its event come in any."""
    told = xml.etree.ElementTree.parse(picture).getroot().find(f"{SVG}desc").text
    return sorted(re.sub(r"\d+(\.\d+)?(ms|s)?\b", "0", re.sub(r" +", " ", told)).splitlines())


@claim("README's pictures are whole and small, follow light, dark and a wish for less motion, and README shows each with words in "
       "its place")
def whole():
    pictures = sorted(PICTURES.glob("*.svg"))
    readme = (ROOT / "README.md").read_text()
    for picture in pictures:
        root = xml.etree.ElementTree.parse(picture).getroot()
        assert root.tag == f"{SVG}svg" and root.find(f"{SVG}title").text and root.find(f"{SVG}desc").text, picture.name
        text = picture.read_text()
        assert "prefers-color-scheme" in text, picture.name
        assert "animation" not in text or "prefers-reduced-motion" in text, picture.name
        assert not re.search(r"<script|href|url\((?!#)|@import", text), f"{picture.name} asks for something from elsewhere"
        assert re.search(rf"!\[[^\]]{{20,}}\]\(docs/pictures/{picture.name}\)", readme), f"README.md does not show {picture.name}"
    size = sum(picture.stat().st_size for picture in pictures)
    assert len(pictures) == 2 and size < BYTES_MAX, (pictures, size)
    return f"{len(pictures)} pictures, {size // 1000} kB"


@claim("README's pictures are what the programs draw today, and what they print but for its figures")
def today():
    if not importlib.util.find_spec("pyte"):
        raise Skipped("pyte is not here (make/packages test installs python3-pyte)")
    ran(PROGRAMS / "camclient", "test", PICTURES / "photos-and-a-call.scenario", "--policies", PICTURES)
    with Folder() as folder:
        ran(PICTURES / "run", "--fast", "--out", folder, timeout=PATIENCE, env={**os.environ, "CAMARB_PROGRAMS": str(PROGRAMS)})
        drawn, printed = folder / "timeline.svg", folder / "terminal.svg"
        is_drawn = drawn.read_bytes() == (PICTURES / "timeline.svg").read_bytes()
        if "CAMARB_WRITE_PAGES" in os.environ:
            shutil.copyfile(drawn, PICTURES / "timeline.svg")
        assert is_drawn, "docs/pictures/timeline.svg is not what camclient draws; CAMARB_WRITE_PAGES=1 or make pictures writes it"
        shown, said = words(PICTURES / "terminal.svg"), words(printed)
        assert shown == said, "\n".join(difflib.unified_diff(shown, said, "docs/pictures/terminal.svg", "the programs", "", "", 0)) + (
            "\nmake pictures records it again")
    return f"{len(said)} lines"
