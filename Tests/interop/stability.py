"""docs/stability.md, held: what programs, policies and files of an earlier release rely on is as it was released.

A folder of `released` is a release: its wire, as docs/wire.md had it; its library's interface, as abidw read it; its policies.
`CAMARB_REWRITE=1 Tests/interop/run "as it was released"` writes that of the file VERSION anew, and fails; it is for a release alone.
"""
import os, pathlib, re, shutil

from harness import PROGRAMS, ROOT, Folder, Skipped, claim, ran
from parity import BUILD, CLIENTS, built

RELEASED = ROOT / "Tests" / "interop" / "released"
VERSION = (ROOT / "VERSION").read_text().strip()
PUBLIC = ("camarb.h", "camarb-slate.h")
# What apps and desktops speak; org.camarb.Recorder1 is between two programs of one release.
INTERFACES = ("Broker1", "Camera1", "Session1", "Shell1")
LISTS = ("Keys of a configuration", "Options of a photo and of a recording", "Words of `RecordingFinished`", "Errors")


def releases():
    found = sorted(RELEASED.iterdir(), key=lambda folder: tuple(map(int, folder.name.split("."))))
    assert VERSION in [folder.name for folder in found], f"Tests/interop/released has no {VERSION}, which the file VERSION says"
    return found


def rewritten(file, text):
    """Of the present release, where it is asked for: a run that records what it should check does not pass."""
    if os.environ.get("CAMARB_REWRITE") and file.parent.name == VERSION:
        file.write_text(text)
        raise AssertionError(f"{file.relative_to(ROOT)} was written anew")
    return file.read_text()


# ── The wire ──


def cells(row):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def types(text):
    return "".join(re.findall(r"`([^`]+)`", text))


def wire(page):
    """What the page says of the wire, a line for each thing."""
    for section in page.split("\n## ")[1:]:
        head = section.split("\n")[0].strip("`")
        tables = [block.strip().split("\n") for block in re.split(r"\n(?!\|)", section)]
        for rows in ([cells(row) for row in table] for table in tables if len(table) > 2 and table[0].startswith("| ")):
            kind = rows[0][0]
            for cell in rows[2:]:
                name = cell[0].strip("`")
                if head.rpartition(".")[2] in INTERFACES and kind in ("method", "signal", "property"):
                    whole = f"{kind} {head.rpartition('.')[2]}.{name}"
                    # A signal may carry more behind what it carried.
                    takes = types(cell[1])
                    yield {"method": f"{whole} ({takes}) -> ({types(' '.join(cell[2:3]))})", "signal": f"{whole} ({takes}",
                           "property": f"{whole} {takes}"}[kind]
                elif head in LISTS:
                    yield f"{head}: {name}" + (f" {types(cell[1])}" if head == LISTS[0] else "")
                elif head == "Frames" and kind == "offset":
                    for title, content in zip(rows[0][1:], cell[1:]):
                        if content:
                            yield f"record {title.split(' ')[0]} at {name}: {content.split(',')[0]}"
        yield from (f"{head}: {name}" for name in re.findall(r"^\* `(org\.camarb\.Error\.\w+)`", section, re.M))


def missing(then, now):
    """The lines of then that are not so any more. A signal's types may have grown."""
    return [line for line in then if line not in now
            and not (line.startswith("signal ") and any(other.startswith(line) for other in now))]


@claim("the wire is as it was released, and more: methods, properties, keys, words, errors and records of frames are those of each release, "
       "and signals begin with what they carried")
def wire_is_as_released():
    now = list(wire((ROOT / "docs" / "wire.md").read_text()))
    for release in releases():
        then = rewritten(release / "wire", "\n".join(now) + "\n").splitlines()
        assert len(then) > 120 and not (gone := missing(then, now)), f"since {release.name} is gone or changed:\n" + "\n".join(gone)
        # Each line counts: without it, and with another type, something is missed.
        for line in then:
            rest = [other for other in now if not other.startswith(line)]
            assert missing(then, rest) and missing(then, [*rest, line[:-1] + "?"]), line
    return f"{len(then)} lines of {release.name}, {len(now)} now"


# ── The library ──

# How abidiff tells of a structure whose new fields lie where reserved ones were, and in which nothing else is another.
GROWN = re.compile(r"""'struct camarb_\w+ at [^']+' changed:
  type size hasn't changed
  \d+ data member insertions?:
(?:    '.*
)+  there are data member changes:
    type '[^']*' of '\w+::reserved' changed:
(?:      .*
)+(?:    and (?:offset|name of '\w+::reserved') changed .*
)*""")


def headers(folder, change=lambda text: text):
    """Those that are installed, alone: of all other types the program knows nothing but that they are there."""
    folder.mkdir()
    for name in PUBLIC:
        (folder / name).write_text(change((CLIENTS / "libcamarb" / name).read_text()))
    return folder


def dump(folder, library):
    return ran("abidw", "--headers-dir", headers(folder / "own"), "--drop-private-types", "--exported-interfaces-only",
               "--no-parameter-names", "--no-write-default-sizes", "--short-locs", "--no-corpus-path", "--no-comp-dir-path",
               "--no-architecture", "--no-elf-needed", "--type-id-style", "hash", library).stdout


def differences(dumped, library, public):
    """What abidiff finds for which a program that was built with then's library may not run with this one."""
    done = ran("abidiff", "--no-architecture", "--no-added-syms", "--leaf-changes-only", "--headers-dir2", public, "--drop-private-types",
               dumped, library, status=None)
    # The first bits of its status are for what it could not compare.
    assert not done.returncode & 3, done.stdout + done.stderr
    _, *blocks = re.split(r"\n\n+", done.stdout.strip())
    return "\n".join(block for block in blocks if not GROWN.fullmatch(block + "\n"))


def without_a_symbol(folder, name):
    script = folder / "map"
    script.write_text((CLIENTS / "libcamarb" / "camarb.map").read_text().replace("local: ", f"local: {name}; "))
    ran("gcc", "-shared", "-g", "-Wl,-soname,libcamarb.so.1", f"-Wl,--version-script={script}", *sorted(BUILD.glob("*.o")), "-lsystemd",
        "-lm", "-o", folder / "fewer.so")
    return folder / "fewer.so"


def with_another_header(folder, line, other):
    """The library, compiled with a change to its header."""
    source, public = folder / "clients" / "libcamarb", folder / "changed"
    shutil.copytree(CLIENTS / "libcamarb", source, ignore=shutil.ignore_patterns("tests"))
    for file in ("Makefile", "../VERSION"):
        shutil.copy(CLIENTS / file, folder / "clients" / file)

    def change(text):
        return text.replace(line, other)

    headers(public, change)
    shutil.copy(public / "camarb.h", source)
    assert line not in (source / "camarb.h").read_text()
    ran("make", "-s", "-C", folder / "clients", "CFLAGS=-O0 -g", f"BUILD={folder / 'made'}", f"{folder / 'made'}/libcamarb.so", timeout=300)
    return folder / "made" / "libcamarb.so.1", public


@claim("libcamarb.so.1 is as it was released, and more, by abidiff: a symbol that is gone, or a structure that is another one, would be "
       "found")
def library_is_as_released():
    if not shutil.which("abidiff"):
        raise Skipped("abidiff is not here (make/packages test installs it)")
    built()
    library = BUILD / "libcamarb.so.1"
    for release in releases():
        with Folder() as folder:
            dumped = release / "libcamarb.abi"
            if os.environ.get("CAMARB_REWRITE"):
                rewritten(dumped, dump(folder, library))
            public = headers(folder / "public")
            said = differences(dumped, library, public)
            assert not said, f"since {release.name}:\n{said}"
            said = differences(dumped, without_a_symbol(folder, "camarb_session_stop"), public)
            assert "1 Removed" in said and "camarb_session_stop" in said, f"not found, but {said}"
            fields = "    uint64_t grant;\n", "    int64_t captured;\n"
            said = differences(dumped, *with_another_header(folder, "".join(fields), "".join(reversed(fields))))
            assert "struct camarb_picture" in said and "captured" in said, f"not found, but {said}"
    return ", ".join(release.name for release in releases())


@claim("each symbol that libcamarb has got since a release is one of a later version in Debian's packages, so that no program meets a "
       "library without it")
def symbols():
    built()
    listed = dict(re.findall(r"^ (camarb_\w+)@CAMARB_1 (\S+)$", (ROOT / "packaging" / "debian" / "libcamarb1.symbols").read_text(), re.M))
    oldest, *later = releases()
    known = set(re.findall(r"elf-symbol name='(\w+)'", (oldest / "libcamarb.abi").read_text()))
    now = set(re.findall(r"\bT (camarb_\w+)@@CAMARB_1$", ran("nm", "-D", "--defined-only", BUILD / "libcamarb.so.1").stdout, re.M))
    assert now - known == set(listed), f"listed and not new, or the other way round: {now - known ^ set(listed)}"
    for name, version in listed.items():
        ran("dpkg", "--compare-versions", version, "gt", oldest.name)
    return f"{len(known)} of {oldest.name}, {len(listed)} since"


# ── Policies ──


@claim("each policy that a release brought is read as it was released, without a mistake or a warning")
def policies_are_read():
    count = 0
    for release in releases():
        files = sorted((release / "policies").glob("*.toml"))
        ran(PROGRAMS / "camclient", "policy", "check", *files)
        count += len(files)
    assert count >= 10, count
    return f"{count} policies"


# ── The page ──


@claim("each promise of the page about what stays as it is has a command that shows it, and the command's tests are there")
def promises():
    import harness
    page = (ROOT / "docs" / "stability.md").read_text()
    rows = re.findall(r"^\| [^|]+ \| [^|]+ \| [^|]+ \| (`[^|]+`) \|$", page, re.M)
    assert len(rows) >= 4, rows
    commands = re.findall(r"`([^`]+)`", " ".join(rows))
    for command in commands:
        program, *words = re.findall(r'"[^"]+"|\S+', command)
        assert (ROOT / program).exists() or shutil.which(program), command
        if program == "Tests/interop/run":
            assert any(harness.is_wanted(sentence, [word.strip('"') for word in words]) for sentence, _ in harness.claims), command
    return f"{len(commands)} commands"
