"""Where a planted bug goes: the place whose tokens are those of its piece of source, wherever the file is and however its lines are broken.

Where names have changed since, it is the place of the same form that shares the most words with the piece, if it is one place alone and
shares at least half of them; the bug then has the new names."""
import pathlib, re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = "Sources", "Proof", "clients"
KINDS = ".swift", ".c", ".h", ".py"
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|[A-Za-z_]\w*|\d[\w.]*|\S')
# Of the words of a piece, so many hundredths are still there.
SHARED_MIN = 50


def tokens(text):
    return TOKEN.findall(text)


def is_word(token):
    return token[0].isalpha() or token[0] == "_"


def sources():
    """Every file in which a bug may be, by its path from the root."""
    return {
        str(path.relative_to(ROOT)): path.read_text()
        for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in KINDS and ".build" not in path.parts and "tests" not in path.parts}


class Place:
    def __init__(self, file, begin, end, names):
        self.file, self.begin, self.end, self.names = file, begin, end, names

    def planted(self, text, replacement):
        """The file's text with the bug in it."""
        def renamed(match):
            return self.names.get(match[0], match[0])

        return text[:self.begin] + re.sub(r"[A-Za-z_]\w*", renamed, replacement) + text[self.end:]


def places(piece, files):
    """All that have the tokens of a piece, or else the likest; there should be one."""
    wanted = tokens(piece)
    pattern = re.compile(r"\s*".join(rf"(?<!\w){re.escape(token)}(?!\w)" if is_word(token) else re.escape(token) for token in wanted))
    longest = max(wanted, key=len)
    same = [Place(file, found.start(), found.end(), {})
            for file, text in files.items() if longest in text for found in pattern.finditer(text)]
    return same or likest(wanted, files)


def likest(wanted, files):
    form = [None if is_word(token) else token for token in wanted]
    words = {token for token in wanted if is_word(token)}
    best, found = max(1, len(words) * SHARED_MIN // 100), []
    for file, text in files.items():
        there = [(match[0], match.start(), match.end()) for match in TOKEN.finditer(text)]
        shape = [None if is_word(token) else token for token, _, _ in there]
        for at in range(len(there) - len(wanted) + 1):
            if shape[at] != form[0] or shape[at:at + len(form)] != form:
                continue
            names = {}
            if any(names.setdefault(old, there[at + i][0]) != there[at + i][0] for i, old in enumerate(wanted) if is_word(old)):
                continue
            shared = sum(old == new for old, new in names.items())
            if shared < best:
                continue
            if shared > best:
                best, found = shared, []
            found.append(Place(file, there[at][1], there[at + len(form) - 1][2], names))
    return found
