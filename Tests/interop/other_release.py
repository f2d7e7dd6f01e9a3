"""make/inside where no root of another release can be had: a step is left out with a reason, and a half-made root is never used."""
import os, re, shutil

from harness import PATIENCE, ROOT, Folder, Skipped, claim, needs_root, ran

INSIDE = ROOT / "make" / "inside"
LEFT_OUT, FAILED = 77, 1
# Nothing listens there: every mirror is away.
AWAY = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}


def inside(folder, *before, ci=False, environment={}):
    """Asks for a root where none is yet, and returns how it ended and its last line."""
    done = ran(*before, INSIDE, "trixie", "touch", "/tmp/entered", status=None, timeout=10 * PATIENCE, env={
        **os.environ, "XDG_CACHE_HOME": str(folder), "CI": "true" if ci else "", "CAMARB_NO_INSTALL": "1", **environment})
    return done.returncode, (done.stdout.splitlines() or [""])[-1], done.stderr


def needs_tools():
    needs_root("only root can make a root of another release")
    missing = [name for name in ("apt-get", "debootstrap", "rsync", "unshare") if not shutil.which(name)]
    if missing:
        raise Skipped(f"there is no {', no '.join(missing)} here (make/packages roots installs them)")


@claim("without a mirror no root of another release is made: its step is left out with a reason, in continuous integration, too")
def mirror_away():
    needs_tools()
    with Folder() as folder:
        half = folder / "camarb" / "trixie.new"
        for ci in (False, True):
            # As a run leaves it that was cut off.
            (half / "usr").mkdir(parents=True)
            status, last, said = inside(folder, ci=ci, environment=AWAY)
            assert status == LEFT_OUT, (status, last, said)
            assert last.startswith("Debian trixie was left out, because the mirror http"), last
            assert last.endswith("cannot be reached, or has no trixie."), last
            left = sorted(path.name for path in half.parent.iterdir() if path.is_dir())
            assert not left, f"a half-made root is left: {left}"
    return last


@claim("without room, or without root's rights, no root of another release is made: its step is left out, and fails in continuous "
       "integration")
def not_possible():
    needs_tools()
    for says, *before in (
            (".* MB of room, and 12000 MB are needed.*", "unshare", "--mount", "--propagation", "private", "sh", "-c",
             'mount -t tmpfs -o size=16M small "$XDG_CACHE_HOME" && exec "$@"', "sh"),
            (r"Debian trixie was left out, because only root can make one and enter it\.",
             "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")):
        for ci, expected in ((False, LEFT_OUT), (True, FAILED)):
            with Folder() as folder:
                folder.chmod(0o777)
                status, last, said = inside(folder, *before, ci=ci)
                assert status == expected and re.fullmatch(says, last), (status, last, said)
