"""Policy files from outside: drop-ins, what is in force, and what wrong ones do to a running broker and a terminal."""
from camclient import camclient, status, told, told_lines
from harness import ROOT, Daemon, Folder, claim, wait_until

KIOSK = ROOT / "policies" / "kiosk.toml"


@claim("the policy in force is shown with its drop-ins; as one file it is clean, and read again it is the same policy")
def shown():
    with Folder() as folder:
        lease = folder / "50-lease.toml"
        lease.write_text('[[rank]]\nname = "Photo booth"\napp = "photobooth.service"\nrank = "booth"\nlease = "5min"\n')
        with Daemon("kiosk", extra=("--policy-dir", folder)) as daemon:
            there = told(daemon, "policy", "show")
            assert there["files"] == [str(KIOSK), str(lease)], there["files"]
            booth = [part for part in there["parts"] if part["name"] == "Photo booth"]
            assert [(part["file"], part["line"]) for part in booth] == [(str(lease), 1)], booth
            assert f"{lease}:1" in camclient(daemon, "policy", "show").stdout
            # The same files give the same without a broker.
            here = told(None, "policy", "show", KIOSK, "--policy-dir", folder)
            assert here == there, (here, there)
            merged = camclient(daemon, "policy", "show", "--merged").stdout
            assert merged == there["text"] and f"# {lease}:1\n[[rank]]" in merged, merged
        one = folder / "one.toml"
        one.write_text(merged)
        assert camclient(None, "policy", "check", one).stdout == f"{one}: no problem\n"
        again = camclient(None, "policy", "show", one, "--merged").stdout
        uncommented = [[line for line in text.splitlines() if not line.startswith("#")] for text in (again, merged)]
        assert uncommented[0] == uncommented[1], uncommented


@claim("a wrong drop-in at SIGHUP leaves the policy in force, and no byte of it steers a terminal")
def wrong_drop_in():
    with Folder() as folder, Daemon("kiosk", extra=("--policy-dir", folder)) as daemon:
        before = camclient(daemon, "policy", "show", "--merged").stdout
        drop_in = folder / "a.toml"
        drop_in.write_text('[contention]\n\ttie = "\\u001b[31m" # \u009b31m\n"\u202etie" = 1\n')
        daemon.reload()
        wait_until("the problem", lambda: str(drop_in) in status(daemon)["degraded"])
        said = camclient(daemon, "status").stdout
        assert f"  {drop_in}:2:8: " in said and "\n    \t      ^" in said, said
        checked = camclient(None, "policy", "check", KIOSK, "--policy-dir", folder, status=1).stdout
        for text in (said, checked, camclient(None, "policy", "show", drop_in, status=2).stderr):
            steering = [byte for byte in text if byte < " " and byte not in "\n\t" or byte in "\x7f\x9b\u202e"]
            assert not steering, (steering, text)
        assert camclient(daemon, "policy", "show", "--merged").stdout == before


@claim("camclient policy check ends with 1 for problems and for warnings, and says which they are")
def checked():
    with Folder() as folder:
        hidden, wrong = folder / "hidden.toml", folder / "wrong.toml"
        hidden.write_text('name = "h"\n[[rank]]\nname = "All"\ndeny = true\n[[rank]]\nname = "A"\napp = "a"\ndeny = true\n')
        wrong.write_text('nmae = "w"\n')
        reports = told_lines(None, "policy", "check", KIOSK, hidden, wrong, status=1)
        assert [(report["ok"], report["usable"]) for report in reports] == [(True, True), (False, True), (False, False)]
        assert [problem["line"] for problem in reports[1]["problems"]] == [6], reports[1]
        assert reports[2]["problems"][0]["hint"] == 'did you mean "name"?', reports[2]
        camclient(None, "policy", "check", KIOSK)
        camclient(None, "policy", "check", folder / "none.toml", status=5)
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


@claim("a booth's “half an hour at most” is said to be broken by whoever is alone without a walk; a walk that is short enough finds "
       "the same, and one that is not says which times would make it shorter")
def at_most():
    with Folder() as folder:
        policy = folder / "booth.toml"
        for lease, time, walk, status in (("20s", "1min", ("--max-time", "5min"), 1), ("30min", "61min", ("--max-states", "2000"), 6)):
            policy.write_text(BOOTH.format(lease=lease, time=time))
            checked = camclient(None, "policy", "check", policy, status=1).stdout
            assert 'the statement "Not longer than its lease" is broken by an app that is alone' in checked, checked
            verified = camclient(None, "policy", "verify", policy, "--no-repairs", "--clients", "1", "--cameras", "1", *walk, status=status)
            said = verified.stdout + verified.stderr
            assert ("multiples of more than 10s make fewer steps" in said) == (status == 6), said
            assert ("“Not longer than its lease” is broken" in said) == (status == 1), said
    # Of statements that walks have found true nothing of the kind is said.
    true = sorted((ROOT / "Tests" / "statements" / "true").glob("*.toml"))
    said = camclient(None, "policy", "check", *true, status=None).stdout
    assert len(true) > 40 and said.count("no problem") > 30 and "is broken" not in said, said
