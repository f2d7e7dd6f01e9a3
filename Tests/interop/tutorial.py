"""The policy tutorial, tried: each command is run in order, and prints what the page says it prints."""
import os, re, shutil, signal

from harness import PROGRAMS, ROOT, Folder, claim, end, ran, spawn, wait_until
from page import Shell, tried

# verify and diff walk small worlds; ten times what they take on a quiet machine.
COMMAND_PATIENCE = 120


@claim("every command of the policy tutorial prints what the tutorial says")
def tutorial():
    with Folder() as folder:
        for part in ("policies", "Tests/scenarios/policies/kiosk"):
            shutil.copytree(ROOT / part, folder / part)
        with Shell(folder, f"{PROGRAMS}:{os.environ['PATH']}", COMMAND_PATIENCE) as shell:
            count = tried(ROOT / "docs" / "policy-tutorial.md", {"$": shell})
    assert count >= 10, f"the tutorial has {count} commands"
    return f"{count} commands"


# What goes on until somebody ends it, and how long that is here, in seconds.
ENDLESS, LONG_ENOUGH = ("--again", "--timeline", "--watch"), 4


@claim("each line of README's “Trying it” does what it says, in a home without folders")
def trying():
    with Folder() as home:
        (home / "run").mkdir(mode=0o700)
        (home / "policies").symlink_to(ROOT / "policies")
        place = {"cwd": home, "env": {
            "PATH": f"{PROGRAMS}:{os.environ['PATH']}", "HOME": str(home), "LANG": "C.UTF-8", "XDG_RUNTIME_DIR": str(home / "run"),
            "CAMARB_SOCKET": str(home / "run" / "my-camarb"), "TMPDIR": str(home)}}
        text = (ROOT / "README.md").read_text().split("## Trying it")[1].split("```sh\n")[1].split("```")[0]
        first, kept, *lines = [re.sub(r" +#.*", "", line) for line in text.splitlines()]
        assert first.startswith("make build && export ") and "my-camarb" in first, first
        assert lines[0].endswith(" &"), lines[0]
        broker = spawn("bash", "-c", kept + "\n" + re.sub(r"camarbd (.*) &$", r"exec camarbd \1", lines[0]), **place)
        try:
            wait_until("the broker's socket", lambda: (home / "run" / "my-camarb").exists())
            for line in lines[1:]:
                line = line.replace("ffplay -", "head --bytes 100000 >picture")
                ends = (0,)
                if any(word in line for word in ENDLESS):
                    ends = (0, 128 + signal.SIGINT)
                    line = line.replace("camclient", f"timeout --signal INT --preserve-status {LONG_ENOUGH} camclient")
                done = ran("bash", "-c", line, status=None, timeout=COMMAND_PATIENCE, **place)
                assert done.returncode in ends, f"{line}: {done.returncode}\n{done.stdout}{done.stderr}"
            assert "org.camarb.Broker1" in done.stdout, done.stdout
            assert (home / "run" / "kept").is_dir()
            assert (home / "picture").stat().st_size == 100000
            assert (home / "visit.mkv").stat().st_size > 0 and list((home / "Videos").glob("*.mkv")), os.listdir(home)
        finally:
            end(broker)
        return f"{len(lines)} lines"
