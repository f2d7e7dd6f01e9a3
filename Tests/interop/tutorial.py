"""The policy tutorial, tried: each command is run in order, and prints what the page says it prints."""
import os, pathlib, shutil, tempfile

from harness import PROGRAMS, ROOT, claim
from page import Shell, tried

# verify and diff walk small worlds; ten times what they take on a quiet machine.
COMMAND_PATIENCE = 120


@claim("every command of the policy tutorial prints what the tutorial says")
def tutorial():
    directory = pathlib.Path(tempfile.mkdtemp(prefix="camarb-tutorial."))
    shutil.copytree(ROOT / "policies", directory / "policies")
    kiosk = pathlib.Path("Tests/scenarios/policies/kiosk")
    shutil.copytree(ROOT / kiosk, directory / kiosk)
    shell = Shell(directory, f"{PROGRAMS}:{os.environ['PATH']}", COMMAND_PATIENCE)
    try:
        count = tried(ROOT / "docs" / "policy-tutorial.md", {"$": shell})
    finally:
        shell.end()
        shutil.rmtree(directory, ignore_errors=True)
    assert count >= 10, f"the tutorial has {count} commands"
    return f"{count} commands"
