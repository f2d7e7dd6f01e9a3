"""Pages whose commands are tried: each is run in order, and prints what the page says it prints.

A page's ```console blocks are one long session of a shell, or of several with a prompt each: lines that begin with a
prompt, as `$ `, are commands (a here-document goes on to its end), the lines behind one are all that it prints. `…` stands
for what differs from run to run: on a line of its own for any lines, inside a line for any characters.
"""
import os, re, signal, subprocess, time

from harness import die_with_parent, spawn

# Seconds. On an emulated machine a look is work that what is waited for could do.
PAUSE_BETWEEN_LOOKS = 2.0


def steps(page, prompts="$"):
    """The commands of a page with the line they stand in and the prompt before them, and what each is to print."""
    found, inside, ending = [], False, None
    for number, line in enumerate(page.splitlines(), 1):
        if line == "```console":
            inside = True
        elif line == "```" and ending is None:
            inside = False
        elif not inside:
            continue
        elif ending is not None:
            found[-1][2].append(line)
            if line == ending:
                ending = None
        elif line[:1] in prompts and line[1:2] == " ":
            found.append((number, line[0], [line[2:]], []))
            here = re.search(r"<<\s*'(\w+)'", line)
            ending = here.group(1) if here else None
        else:
            assert found, f"line {number}: output without a command"
            found[-1][3].append(line)
    return found


def pattern(expected):
    return re.compile("".join(
        r"(?:.*\n)*?" if line == "…" else "[^\n]*?".join(map(re.escape, line.split("…"))) + "\n" for line in expected))


class Shell:
    """A bash that goes from command to command, as a reader's does.

    `patience` is for each command, in seconds; `become` is put before it, for another user's shell.
    """

    def __init__(self, directory, path, patience, become=(), **variables):
        self.patience = patience
        self.process = spawn(
            *become, "bash", "--norc", "--noprofile", cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, preexec_fn=lambda: (os.setsid(), die_with_parent()),
            env={"PATH": path, "HOME": str(directory), "LANG": "C.UTF-8", "NO_COLOR": "1", "TERM": "dumb", **variables})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def run(self, command):
        # The next command may ask for $?, which the mark must not change.
        self.process.stdin.write(f"{command}\n__status=$?; echo \"<done $__status>\"; (exit $__status)\n")
        self.process.stdin.flush()
        printed = []

        def late(*_):
            raise AssertionError(f"waited {self.patience:.0f} s for {command}\n{''.join(printed)}")

        signal.signal(signal.SIGALRM, late)
        signal.alarm(round(self.patience))
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


def tried(page, shells, looks=(), look_patience=0, told=lambda number, command: None):
    """Runs a page's commands, each in the shell of its prompt, and returns how many those are.

    Commands that begin with one of the `looks` change nothing: a reader looks again until what was to happen has, and so
    does this, for `look_patience` seconds. `told` is told of each command before it is run.
    """
    found = steps(page.read_text(), "".join(shells))
    for number, prompt, command, expected in found:
        shell = shells[prompt]
        told(number, command[0])
        until = time.monotonic() + (look_patience if command[0].startswith(tuple(looks)) else 0)
        while True:
            printed, _ = shell.run("\n".join(command))
            if pattern(expected).fullmatch(printed):
                break
            assert time.monotonic() < until, (
                f"{page.name}:{number}: {prompt} {command[0]}\nis to print\n" + "\n".join(expected) + f"\nand prints\n{printed}")
            time.sleep(PAUSE_BETWEEN_LOOKS)
    return len(found)
