"""For tests with Debian packages: the same package in another version."""
import io, pathlib, re, tarfile

from harness import ran


def version_of(file):
    return ran("dpkg-deb", "--field", file, "Version").stdout.strip()


def with_version(file, version, folder):
    """A copy of a package that says another version of itself, and the same of camarb's others where it wants exactly theirs. What it
    brings is copied as it is: unpacking and packing it would take an emulated machine minutes."""
    old, whole, members = version_of(file), file.read_bytes(), []
    at = len(b"!<arch>\n")
    while at < len(whole):
        header, size = whole[at:at + 60], int(whole[at + 48:at + 58])
        members.append((header, whole[at + 60:at + 60 + size]))
        at += 60 + size + size % 2
    out = pathlib.Path(folder, f"{file.name.split('_')[0]}_{version}_other.deb")
    with open(out, "wb") as package:
        package.write(b"!<arch>\n")
        for header, content in members:
            if header.startswith(b"control.tar"):
                content = rewritten(content, old, version)
                header = header[:48] + b"%-10d" % len(content) + header[58:]
            package.write(header + content + b"\n" * (len(content) % 2))
    return out


def rewritten(control, old, new):
    """control.tar with another version in the file `control`."""
    out = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(control)) as source, tarfile.open(fileobj=out, mode="w:xz") as target:
        for member in source:
            content = source.extractfile(member).read() if member.isfile() else None
            if member.name.removeprefix("./") == "control":
                content = re.sub(rf"(^Version: |\(= ){re.escape(old)}", rf"\g<1>{new}", content.decode(), flags=re.MULTILINE).encode()
                member.size = len(content)
            target.addfile(member, io.BytesIO(content) if content is not None else None)
    return out.getvalue()
