"""Policy files from outside: drop-ins, what is in force, and what wrong ones do to a running broker and a terminal."""
import json, os, signal, subprocess, tempfile

from camclient import camclient
from harness import COMPUTING_PATIENCE, PROGRAMS, ROOT, Daemon, claim, wait_until

KIOSK = str(ROOT / "policies" / "kiosk.toml")


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


@claim("the policy in force is shown with its drop-ins; as one file it is clean, and read again it is the same policy")
def shown():
    with tempfile.TemporaryDirectory() as folder:
        lease = os.path.join(folder, "50-lease.toml")
        write(lease, '[[rank]]\nname = "Photo booth"\napp = "photobooth.service"\nrank = "booth"\nlease = "5min"\n')
        with Daemon("kiosk", extra=("--policy-dir", folder)) as daemon:
            there = json.loads(camclient(daemon, "policy", "show", "--json").stdout)
            assert there["files"] == [KIOSK, lease], there["files"]
            booth = [part for part in there["parts"] if part["name"] == "Photo booth"]
            assert [(part["file"], part["line"]) for part in booth] == [(lease, 1)], booth
            assert f"{lease}:1" in camclient(daemon, "policy", "show").stdout
            # The same files give the same without a broker.
            here = json.loads(camclient(None, "policy", "show", KIOSK, "--policy-dir", folder, "--json").stdout)
            assert here == there, (here, there)
            merged = camclient(daemon, "policy", "show", "--merged").stdout
            assert merged == there["text"] and f"# {lease}:1\n[[rank]]" in merged, merged
        one = os.path.join(folder, "one.toml")
        write(one, merged)
        assert camclient(None, "policy", "check", one).stdout == f"{one}: no problem\n"
        again = camclient(None, "policy", "show", one, "--merged").stdout

        def uncommented(text):
            return [line for line in text.splitlines() if not line.startswith("#")]

        assert uncommented(again) == uncommented(merged)


@claim("a wrong drop-in at SIGHUP leaves the policy in force, and no byte of it steers a terminal")
def wrong_drop_in():
    with tempfile.TemporaryDirectory() as folder, Daemon("kiosk", extra=("--policy-dir", folder)) as daemon:
        before = camclient(daemon, "policy", "show", "--merged").stdout
        drop_in = os.path.join(folder, "a.toml")
        write(drop_in, '[contention]\n\ttie = "\\u001b[31m" # \u009b31m\n"\u202etie" = 1\n')
        daemon.process.send_signal(signal.SIGHUP)
        wait_until("the problem", lambda: json.loads(camclient(daemon, "status", "--json").stdout)["degraded"].find(drop_in) >= 0)
        status = camclient(daemon, "status").stdout
        assert f"  {drop_in}:2:8: " in status and "\n    \t      ^" in status, status
        checked = camclient(None, "policy", "check", KIOSK, "--policy-dir", folder, status=1).stdout
        for text in (status, checked, camclient(None, "policy", "show", drop_in, status=2).stderr):
            steering = [byte for byte in text if byte < " " and byte not in "\n\t" or byte in "\x7f\x9b\u202e"]
            assert not steering, (steering, text)
        assert camclient(daemon, "policy", "show", "--merged").stdout == before


@claim("camclient policy check ends with 1 for problems and for warnings, and says which they are")
def checked():
    with tempfile.TemporaryDirectory() as folder:
        hidden, wrong = os.path.join(folder, "hidden.toml"), os.path.join(folder, "wrong.toml")
        write(hidden, 'name = "h"\n[[rank]]\nname = "All"\ndeny = true\n[[rank]]\nname = "A"\napp = "a"\ndeny = true\n')
        write(wrong, 'nmae = "w"\n')
        lines = camclient(None, "policy", "check", "--json", KIOSK, hidden, wrong, status=1).stdout.splitlines()
        reports = [json.loads(line) for line in lines]
        assert [(report["ok"], report["usable"]) for report in reports] == [(True, True), (False, True), (False, False)]
        assert [problem["line"] for problem in reports[1]["problems"]] == [6], reports[1]
        assert reports[2]["problems"][0]["hint"] == 'did you mean "name"?', reports[2]
        camclient(None, "policy", "check", KIOSK)
        camclient(None, "policy", "check", os.path.join(folder, "none.toml"), status=5)
        camclient(None, "policy", "show", "--policy-dir", folder, status=2)
        camclient(None, "policy", "check", status=2)


BOOTH = """name = "booth"
ranks = ["booth"]
[[rank]]
name = "Everybody"
rank = "booth"
lease = "{lease}"
[[always]]
name = "Not longer than its lease"
when = {{}}
at-most = "{lease}"
in = "{time}"
"""


@claim("a booth's “half an hour at most” is said to be broken by whoever is alone without a walk; a walk that is short enough finds the same, and one that is not says which times would make it shorter")
def at_most():
    with tempfile.TemporaryDirectory() as folder:
        policy = os.path.join(folder, "booth.toml")
        for lease, time, walk, status in (("20s", "1min", ("--max-time", "5min"), 1), ("30min", "61min", ("--max-states", "2000"), 6)):
            write(policy, BOOTH.format(lease=lease, time=time))
            checked = camclient(None, "policy", "check", policy, status=1).stdout
            assert 'the statement "Not longer than its lease" is broken by an app that is alone' in checked, checked
            verified = camclient(None, "policy", "verify", policy, "--no-repairs", "--clients", "1", "--cameras", "1", *walk, status=status)
            said = verified.stdout + verified.stderr
            assert ("multiples of more than 10s make fewer steps" in said) == (status == 6), said
            assert ("“Not longer than its lease” is broken" in said) == (status == 1), said
    # Of statements that walks have found true nothing of the kind is said.
    true = sorted(map(str, (ROOT / "Tests" / "statements" / "true").glob("*.toml")))
    said = subprocess.run([PROGRAMS / "camclient", "policy", "check", *true], capture_output=True, text=True, timeout=COMPUTING_PATIENCE).stdout
    assert len(true) > 40 and said.count("no problem") > 30 and "is broken" not in said, said
