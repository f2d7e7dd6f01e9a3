"""Traces of many machines: figures, a table, and queries of it over a million decisions."""
import csv, io, json, os, re, shutil, subprocess

from camclient import camclient
from harness import COMPUTING_PATIENCE, PATIENCE, PROGRAMS, ROOT, Daemon, claim, wait_until
from libraries import PYTHON, fetched
from page import Shell, tried
from traces import Folder, place, walk

# So many machines with one trace each of some hundred steps come to a million.
MACHINES, STEPS = 2000, 520
PAGE = ROOT / "docs" / "fleet.md"


def busy(trace, policy):
    """A trace of at least STEPS steps, with waits and interruptions."""
    with Daemon(policy, extra=("--trace", trace)) as daemon:
        shell = daemon.shell()
        place(shell, "photos", "fullscreen", True)
        photos = daemon.app("photos")
        session = photos.session()
        for _ in range(20):
            session.start()
            photos.wait("DidStartRunning")
            walk(shell, STEPS // 20)  # An even number, so that nothing stands in front at its end.
            session.call("StopRunning")
    return trace


@claim("a million decisions of 2000 machines are counted, and DuckDB's queries of fleet.md find the same in their table")
def million():
    with Folder() as folder:
        traces = [busy(folder / f"{name}.trace", name) for name in ("ios9", "kiosk")]
        for machine in range(MACHINES):
            (folder / "traces" / f"kiosk-{machine}").mkdir(parents=True)
            os.link(traces[machine % 2], folder / "traces" / f"kiosk-{machine}" / "decisions.trace")
        stats = json.loads(camclient(None, "trace", "stats", "--json", str(folder / "traces")).stdout)
        assert stats["machines"] == stats["files"] == MACHINES and stats["steps"] >= MACHINES * STEPS, stats
        with open(folder / "decisions.csv", "wb") as table:
            subprocess.run([PROGRAMS / "camclient", "trace", "table", folder / "traces"], stdout=table, check=True, timeout=COMPUTING_PATIENCE)
        queries = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.S)
        # Its bar of progress, shown from two seconds on, goes to where the answer does.
        program = "import duckdb, json, sys; duckdb.sql('SET enable_progress_bar = false'); print(json.dumps([duckdb.sql(q).fetchall() for q in json.load(sys.stdin)], default=str))"
        done = subprocess.run(
            [PYTHON, "-c", program], input=json.dumps(queries + ["SELECT count(DISTINCT (machine, step)) FROM 'decisions.csv'"]),
            cwd=folder, env={**os.environ, "PYTHONPATH": str(fetched("DuckDB", "duckdb"))}, capture_output=True, text=True, timeout=COMPUTING_PATIENCE)
        assert done.returncode == 0, done.stderr
        interruptions, waits, steps = json.loads(done.stdout)
        assert sum(row[2] for row in interruptions) == sum(row["count"] for row in stats["interruptions"]) > 0, interruptions
        assert sum(row[3] for row in waits) == stats["waited"]["count"] > 0, waits
        assert steps == [[stats["steps"]]], steps
        return f"{stats['steps']} steps, {stats['decisions']} decisions"


@claim("a torn trace, a changed one and one of another version are each said with their place, and the rest is counted")
def wrong():
    with Folder() as folder:
        whole = busy(folder / "whole.trace", "ios9")
        lines = whole.read_bytes().splitlines(keepends=True)
        for name in ("torn", "changed", "other"):
            (folder / name).mkdir()
        (folder / "torn" / "torn.trace").write_bytes(b"".join(lines[:100])[:-5])
        (folder / "changed" / "changed.trace").write_bytes(b"".join(lines[:50] + lines[51:]))
        (folder / "other" / "other.trace").write_bytes(re.sub(rb'"trace":\d+', b'"trace":99', b"".join(lines), count=1))
        for command in ("stats", "table"):
            said = camclient(None, "trace", command, "--json", str(folder), status=1)
            for sentence in ("torn.trace:100: the trace ends in the middle of this line; the 98 steps before it count",
                             "changed.trace:51: this line is not as it was written", "other.trace:1: the trace has format version 99"):
                assert sentence in said.stderr, said.stderr
        counted = json.loads(camclient(None, "trace", "stats", "--json", str(folder), status=1).stdout)
        assert counted["files"] == 3 and counted["steps"] == len(lines) - 2 + 98 + 49, counted
        rows = list(csv.DictReader(io.StringIO(camclient(None, "trace", "table", str(whole)).stdout)))
        named = re.findall(r"`(\w+)`", "\n".join(
            line.split("|")[1] for line in (ROOT / "docs/trace.md").read_text().split("<!-- columns -->")[1]
            .split("<!-- /columns -->")[0].splitlines() if line))
        assert list(rows[0]) == named, (list(rows[0]), named)
        camclient(None, "trace", "stats", str(folder / "other"), status=2)
        camclient(None, "trace", "stats", str(folder / "none.trace"), status=5)


@claim("the journal's fields are those that camarbd's manual lists")
def journal_fields():
    sources = "".join(path.read_text() for path in (ROOT / "Sources" / "Broker").rglob("*.swift"))
    fields = set(re.findall(r'\("(CAMARB_[A-Z]+)", |name: "(CAMARB_[A-Z]+)"', sources))
    fields = {name for pair in fields for name in pair if name}
    page = (ROOT / "docs" / "man" / "camarbd.8").read_text().split("JOURNAL_STREAM")[1].split(".SH FILES")[0]
    assert set(re.findall(r"CAMARB_[A-Z]+", page)) == fields, fields


# The machine kiosk-17 is a folder here, and its camarbd the only one: what ssh and systemctl would do there.
TOOLS = {
    "ssh": '[ "$1" != -l ] || set -- "$2@$3" "${@:4}"\n[ "$1" = root@kiosk-17 ] || exit 255\nshift\nexec sh -c "$*"',
    "systemctl": '[ "$*" = "reload camarbd" ] && kill -HUP "$(cat "$KIOSK/pid")"',
}


class Reader(Shell):
    """Whoever tries the page: `…` would hide a command that makes no sense."""

    def run(self, command):
        printed, status = super().run(command)
        # 1 is an answer, too: scenarios fail, policies differ, decisions change. And 6: a walk was cut off by its bound on time.
        allowed = {"camclient policy test": (0, 1), "camclient policy diff": (0, 1), "camclient trace replay": (0, 1),
                   "camclient policy verify": (0, 6)}
        assert status in next((found for name, found in allowed.items() if name in command), (0,)), f"{command}: {status}\n{printed}"
        return printed, status


@claim("every command of the page about fleets runs as it stands: traces are shipped and counted, a drop-in goes out and comes back, and a policy is pinned")
def page_of_fleets():
    with Folder() as folder:
        kiosk, desk, tools = (folder / name for name in ("kiosk-17", "desk", "tools"))
        for path in (kiosk / "lib", kiosk / "etc" / "policy.d", desk, tools):
            path.mkdir(parents=True)
        for name, script in TOOLS.items():
            (tools / name).write_text(f"#!/bin/bash\n{script}\n")
            (tools / name).chmod(0o755)
        text = PAGE.read_text()
        for there, here in (("/usr/share/camarb/scenarios", ROOT / "Tests/scenarios/policies"), ("/usr/share/camarb", ROOT),
                            ("/var/lib/camarb", kiosk / "lib"), ("/etc/camarb", kiosk / "etc")):
            text = text.replace(there, str(here))
        # Steps of a list are indented.
        (folder / "fleet.md").write_text(re.sub(r"^   (?=\S)", "", text, flags=re.M))
        for policy in (kiosk / "etc" / "policy.toml", desk / "policy.toml"):
            policy.write_text(f'name = "our-kiosk"\ninclude = ["{ROOT}/policies/kiosk.toml"]\n')
        traced, pinned = (line.split() for line in re.findall(r'^CAMARB_FLAGS="(.*)"$', text, re.M))
        here = ("--policy-dir", kiosk / "etc" / "policy.d")
        with Daemon(kiosk / "etc" / "policy.toml", extra=(*here, *traced, "--trace-size", "64K")) as daemon:
            (kiosk / "pid").write_text(str(daemon.process.pid))
            walks, loop, booth = daemon.shell(), daemon.app("attract.service"), daemon.app("photobooth.service")
            loop.session().start()
            loop.wait("DidStartRunning")
            booth.session().start()
            booth.wait("DidStartRunning")
            wait_until("a finished trace", lambda: (walk(walks, 50), (kiosk / "lib" / "decisions.trace.1").exists())[1])
            shell = Reader(desk, f"{tools}:{PROGRAMS}:/usr/bin:/bin", COMPUTING_PATIENCE, CAMARB_SOCKET=str(daemon.path), KIOSK=str(kiosk))
            try:
                count = tried(folder / "fleet.md", {"$": shell}, looks=("ssh root@kiosk-17 camclient status",), look_patience=PATIENCE)
            finally:
                shell.end()
            table = list(csv.DictReader(io.StringIO((desk / "decisions.csv").read_text())))
            assert table and {row["machine"] for row in table} == {"kiosk-17"}, table[:1]
            assert [row["app"] for row in table if row["outcome"] == "wasInterrupted"] == ["attract.service"], table
            assert not list((kiosk / "lib").glob("*.[1-4]")), os.listdir(kiosk / "lib")
            before = json.loads(camclient(daemon, "status", "--json").stdout)
        assert count >= 15, count
        # What is pinned decides the same, whatever becomes of the files of the package; and a drop-in still counts.
        (kiosk / "etc" / "policy.toml").write_text('name = "another"\n')
        with Daemon(kiosk / "etc" / "policy.toml", extra=(*here, *pinned)) as daemon:
            after = json.loads(camclient(daemon, "status", "--json").stdout)
            assert (after["policy"], after["policyHash"]) == ("our-kiosk", before["policyHash"]), (before, after)
        shutil.copy(desk / "new.d" / "50-booth.toml", kiosk / "etc" / "policy.d")
        with Daemon(kiosk / "etc" / "policy.toml", extra=(*here, *pinned)) as daemon:
            assert json.loads(camclient(daemon, "status", "--json").stdout)["policyHash"] != before["policyHash"]
        return f"{count} commands"


@claim("a service to which a flag is added, as the page about fleets does it, has the machine's cameras and no simulated one")
def service_flags():
    flags = re.search(r'^CAMARB_FLAGS="(.*)"$', PAGE.read_text(), re.M)[1]
    (unit,) = re.findall(r"^ExecStart=\S+ (.*)$", (ROOT / "packaging/systemd/camarbd.service").read_text(), re.M)
    assert "--service" in unit.split() and unit.split()[-1] == "$CAMARB_FLAGS" and "--camera" not in unit, unit
    for extra, simulated in (((), True), (("--service",), False)):
        with Folder() as folder, Daemon(cameras=(), extra=(*extra, *flags.replace("/var/lib/camarb", str(folder)).split())) as daemon:
            cameras = [camera["camera"] for camera in json.loads(camclient(daemon, "status", "--json").stdout)["cameras"]]
            assert ("simulated" in cameras) == simulated, (extra, cameras)
            assert (folder / "decisions.trace").exists()
