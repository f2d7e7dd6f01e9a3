"""The policy tutorial, tried: each command of its pages is run in order, and prints what the page says it prints.

A page's ```console blocks are one long session of a shell: lines that begin with `$ ` are commands (a here-document goes
on to its end), the lines behind one are all that it prints. `…` stands for what differs from run to run: on a line of
its own for any lines, inside a line for any characters.
"""
import os, pathlib, re, shutil, signal, subprocess, tempfile

from harness import PROGRAMS, ROOT, claim, die_with_parent

PAGE = ROOT / "docs" / "policy-tutorial.md"
# verify and diff walk small worlds; ten times what they take on a quiet machine.
COMMAND_PATIENCE = 120


def steps(page):
    """The commands of a page with the line they stand in, and what each is to print."""
    found, inside, ending = [], False, None
    for number, line in enumerate(page.splitlines(), 1):
        if line == "```console":
            inside = True
        elif line == "```" and ending is None:
            inside = False
        elif not inside:
            continue
        elif ending is not None:
            found[-1][1].append(line)
            if line == ending:
                ending = None
        elif line.startswith("$ "):
            found.append((number, [line[2:]], []))
            here = re.search(r"<<\s*'(\w+)'", line)
            ending = here.group(1) if here else None
        else:
            assert found, f"line {number}: output without a command"
            found[-1][2].append(line)
    return found


def pattern(expected):
    """What is expected, as a regular expression over the whole output."""
    parts = []
    for line in expected:
        parts.append(r"(?:.*\n)*?" if line == "…" else "[^\n]*?".join(map(re.escape, line.split("…"))) + "\n")
    return re.compile("".join(parts))


class Shell:
    """A bash that goes from command to command, as a reader's does."""

    def __init__(self, directory):
        environment = {
            "PATH": f"{PROGRAMS}:{os.environ['PATH']}", "HOME": str(directory), "LANG": "C.UTF-8", "NO_COLOR": "1",
            "TERM": "dumb",
        }
        self.process = subprocess.Popen(
            ["bash", "--norc", "--noprofile"], cwd=directory, env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=lambda: (os.setsid(), die_with_parent()))

    def run(self, command):
        """All that a command prints, and its exit status."""
        # The next command may ask for $?, which the mark must not change.
        self.process.stdin.write(f"{command}\n__status=$?; echo \"<done $__status>\"; (exit $__status)\n")
        self.process.stdin.flush()
        printed = []

        def late(*_):
            raise AssertionError(f"waited {COMMAND_PATIENCE} s for {command}\n{''.join(printed)}")

        signal.signal(signal.SIGALRM, late)
        signal.alarm(COMMAND_PATIENCE)
        try:
            for line in self.process.stdout:
                done = re.fullmatch(r"(.*)<done (\d+)>\n", line)
                if done:
                    return "".join(printed) + (done.group(1) + "\n" if done.group(1) else ""), int(done.group(2))
                printed.append(line)
        finally:
            signal.alarm(0)
        raise AssertionError(f"the shell ended in: {command}\n{''.join(printed)}")

    def end(self):
        # The whole session, of which this is the leader: what was left in the background ends with it.
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@claim("every command of the policy tutorial prints what the tutorial says")
def tutorial():
    found = steps(PAGE.read_text())
    assert len(found) >= 10, f"the tutorial has {len(found)} commands"
    directory = pathlib.Path(tempfile.mkdtemp(prefix="camarb-tutorial."))
    shutil.copytree(ROOT / "policies", directory / "policies")
    kiosk = pathlib.Path("Tests/scenarios/policies/kiosk")
    shutil.copytree(ROOT / kiosk, directory / kiosk)
    shell = Shell(directory)
    try:
        for number, command, expected in found:
            printed, _ = shell.run("\n".join(command))
            assert pattern(expected).fullmatch(printed), (
                f"{PAGE.name}:{number}: $ {command[0]}\nis to print\n" + "\n".join(expected) + f"\nand prints\n{printed}")
    finally:
        shell.end()
        shutil.rmtree(directory, ignore_errors=True)
    return f"{len(found)} commands"
