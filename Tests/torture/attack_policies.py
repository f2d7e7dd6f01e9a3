"""Policy files that are no policies, under a camarbd that runs."""
import os, shutil, signal, subprocess, tempfile

from harness import PROGRAMS, ROOT, wait_until
from rows import Figure, broker, peak, row

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
def deep_policies(short):
    folder = tempfile.mkdtemp(prefix="camarb-policies.")
    path = os.path.join(folder, "policy.toml")
    shutil.copy(ROOT / "policies" / "desktop.toml", path)
    longest = 0
    try:
        with broker(policy=path) as daemon:
            app = daemon.app("photos")
            session = app.session()
            session.start()
            app.wait("DidStartRunning")
            for what, text in DEEP.items():
                with open(path, "w") as file:
                    file.write('name = "deep"\n' + text)
                checked = subprocess.run(
                    [PROGRAMS / "camclient", "policy", "check", path], capture_output=True, text=True, timeout=60)
                said = checked.stdout + checked.stderr
                assert checked.returncode == 1 and f"{path}:2:1: the line has" in said, (what, checked.returncode, said[:300])
                longest = max(longest, len(said))
                before = daemon.log.read_text(errors="replace").count("policy.toml:2:1:")
                daemon.process.send_signal(signal.SIGHUP)
                wait_until(f"camarbd to refuse {what}",
                           lambda: daemon.log.read_text(errors="replace").count("policy.toml:2:1:") > before)
                assert app.property("/org/camarb/Broker1", "org.camarb.Broker1", "PolicyName") == "desktop", what
            app.poll()
            yield Figure("files that were refused", len(DEEP))
            yield Figure("the longest message", longest, "bytes", most=4096)
            yield Figure("events of a session meanwhile", len(app.names()) - 1, most=0)
            yield peak(daemon)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
