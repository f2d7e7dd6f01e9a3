"""Traces of many machines: figures, a table, and queries of it over a million decisions."""
import csv, io, json, os, re, subprocess

from camclient import camclient
from harness import COMPUTING_PATIENCE, PROGRAMS, ROOT, Daemon, claim
from libraries import PYTHON, fetched
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
