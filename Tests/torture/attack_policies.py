"""Policy files that are no policies, under a camarbd that runs."""
import pathlib, shutil, signal, subprocess, tempfile

from harness import PROGRAMS, ROOT, Daemon, wait_until
from rows import Figure, peak, row

LEVELS = 100_000
KEY = ".".join(["a"] * LEVELS)
DEEP = {
    "a key": f"{KEY} = 1\n",
    "a header": f"[{KEY}]\n",
    "a header of a list": f"[[{KEY}]]\n",
    "a list": "sources = " + "[" * LEVELS + "\n",
    "a table": "a = " + "{a=" * LEVELS + "\n",
    "a key in a table in a list": "a = [{ " + KEY + " = 1 }]\n",
}


@row("deep-policies", "a policy file that is 100,000 levels deep is refused with its place, and changes nothing",
     f"{len(DEEP)} such files, read by camclient, and by camarbd on SIGHUP")
def deep_policies():
    longest = 0
    with tempfile.TemporaryDirectory(prefix="camarb-policies.") as folder:
        path = pathlib.Path(folder, "policy.toml")
        shutil.copy(ROOT / "policies" / "desktop.toml", path)
        with Daemon(policy=path) as daemon:
            def complaints():
                return daemon.log.read_text(errors="replace").count("policy.toml:2:1:")

            app, _ = daemon.running("photos")
            for what, text in DEEP.items():
                path.write_text('name = "deep"\n' + text)
                checked = subprocess.run([PROGRAMS / "camclient", "policy", "check", path], capture_output=True, text=True, timeout=60)
                said = checked.stdout + checked.stderr
                assert checked.returncode == 1 and f"{path}:2:1: the line has" in said, (what, checked.returncode, said[:300])
                longest = max(longest, len(said))
                before = complaints()
                daemon.process.send_signal(signal.SIGHUP)
                wait_until(f"camarbd to refuse {what}", lambda: complaints() > before)
                assert app.property("/org/camarb/Broker1", "org.camarb.Broker1", "PolicyName") == "desktop", what
            app.poll()
            yield Figure("files that were refused", len(DEEP))
            yield Figure("the longest message", longest, "bytes", most=4096)
            yield Figure("events of a session meanwhile", len(app.names()) - 1, most=0)
            yield peak(daemon)
