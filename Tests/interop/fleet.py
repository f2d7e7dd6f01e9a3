"""Traces of many machines, as figures by SQL; and the page about fleets."""
import collections, json, os, random, re, shutil

from camclient import status
from harness import COMPUTING_PATIENCE, PATIENCE, PROGRAMS, ROOT, Daemon, claim, ran, wait_until
from libraries import PYTHON, fetched
from page import Shell, tried
from traces import Folder, place, walk

PAGE = ROOT / "docs" / "fleet.md"
DECISIONS, CLICKHOUSE = (ROOT / "docs" / "fleet" / name for name in ("decisions.sql", "decisions.clickhouse.sql"))
# So many machines with a trace each of some five hundred decisions come to a million; so many of the traces differ.
MACHINES, STORIES, DECISIONS_OF_STORY = 2000, 40, 500
VISITS = 20


def duckdb():
    return fetched("DuckDB", "duckdb") / "duckdb_cli" / "duckdb"


def by_duckdb(folder, *queries):
    # Its bar of progress, shown from two seconds on, goes to where the answer does.
    command = [duckdb(), "-bail", "-json", "-cmd", "SET enable_progress_bar = false"]
    ran(*command, "figures.db", input=DECISIONS.read_text(), cwd=folder, timeout=COMPUTING_PATIENCE)
    return [json.loads(ran(*command, "figures.db", "-c", one, cwd=folder, timeout=COMPUTING_PATIENCE).stdout or "[]") for one in queries]


def by_clickhouse(folder, *queries):
    views = re.split(r"(?m)^-- Views\..*$", DECISIONS.read_text())[1]
    text = re.sub(r"(?m)^ *--.*$", "", CLICKHOUSE.read_text() + views)
    program = """import chdb.session, json, sys
session = chdb.session.Session("figures")
statements, queries = json.load(sys.stdin)
for statement in statements:
    session.query(statement)
answers = [str(session.query(query + " SETTINGS output_format_json_quote_64bit_integers = 0", "JSONEachRow")) for query in queries]
print(json.dumps([[json.loads(row) for row in answer.splitlines()] for answer in answers]))"""
    return json.loads(ran(
        PYTHON, "-c", program, input=json.dumps([[one for one in text.split(";\n") if one.strip()], queries]), cwd=folder,
        env={**os.environ, "PYTHONPATH": str(fetched("ClickHouse", "chdb"))}, timeout=COMPUTING_PATIENCE).stdout)


class Story:
    """A trace of a broker that never ran, and what its figures are: photos has the camera and gives it to a call, again and again."""

    def __init__(self, seed):
        self.random, self.moment, self.steps, self.lines = random.Random(seed), 10 ** 13 + seed, 0, []
        self.times = {figure: [] for figure in ("waited", "held", "handover", "interrupted")}
        self.causes, self.refusals = collections.Counter(), collections.Counter()
        self.lines.append(f'{{"trace":5,"program":"test","origin":{self.moment},"steps":0,'
                          f'"policy":"name = \\"p{seed % 2}\\"","policyHash":"h"')
        for client, app in ((1, "photos"), (2, "call")):
            self.step("connected", f'"client":{client},"app":"{app}","user":1000')
        # The next session has its number.
        self.step("created", '"session":1,"client":2,"camera":"none","name":"call"',
                  '{"effect":"refused","error":"Unknown","message":"","rule":"known"}')
        for client, app in ((1, "photos"), (2, "call")):
            self.step("created", f'"session":{client},"client":{client},"camera":"front","name":"{app}"')
        while self.steps < DECISIONS_OF_STORY:
            self.visit()
        self.lines.append(f'{{"end":"stopped","steps":{self.steps}')
        self.text = "".join(f'{line},"sum":"0123456789abcdef"}}\n' for line in self.lines)

    def step(self, event, members, *effects):
        """The moment of the step, a random time behind the one before."""
        self.steps += 1
        self.moment += self.random.randrange(1, 10 ** 8)
        self.lines.append(f'{{"step":{self.steps},"at":{self.moment},"event":"{event}",{members},"decision":{self.steps},'
                          f'"effects":[{",".join(effects)}]')
        return self.moment

    def tell(self, session, notice, more=""):
        return f'{{"effect":"notify","client":{session},"session":{session},"sequence":1,"notice":"{notice}"{more}}}'

    def runs(self, session):
        return self.step("recorderStreaming", '"camera":"front","grant":1', self.tell(session, "DidStartRunning"))

    def maybe(self, event, session=1):
        if self.random.random() < 0.3:
            self.step(event, f'"session":{session}')

    def refuse(self, event):
        rule = self.random.choice(("one at a time", "no"))
        self.refusals[rule] += 1
        self.step(event, '"session":1', f'{{"effect":"refused","error":"Refused","message":"","rule":"{rule}"}}')

    def visit(self):
        opened, cut = ('{"effect":"%s","camera":"front","grant":1}' % effect for effect in ("open", "cut"))
        stopped = [self.tell(session, "DidStopRunning") for session in (0, 1, 2)]
        self.refuse("startRunning")  # No wait begins with it.
        self.maybe("startRunning")
        self.step("stopRunning", '"session":1')  # A wait that comes to nothing.
        asked = self.step("startRunning", '"session":1', opened)
        self.maybe("startRunning")  # It waits already.
        ran = self.runs(1)
        self.times["waited"].append(ran - asked)
        self.refuse("startRecording")
        self.maybe("startRunning")  # It runs already.
        cause, rule = self.random.choice(("in-use", "background")), f"rule {self.random.randrange(3)}"
        self.causes[cause, rule] += 1
        began = self.step("startRunning", '"session":2', cut, self.tell(
            1, "WasInterrupted", f',"causes":["{cause}"],"reason":"{cause}","rule":"{rule}","interrupter":"call"'), stopped[1])
        self.times["held"].append(began - ran)
        self.step("recorderCut", '"camera":"front","grant":1', opened)
        ran = self.runs(2)
        self.times["waited"].append(ran - began)
        self.times["handover"].append(ran - began)
        self.times["held"].append(self.step("stopRunning", '"session":2', cut, stopped[2]) - ran)
        self.step("recorderCut", '"camera":"front","grant":2')  # Nobody follows: what comes is no handover.
        ended = self.moment - began
        self.times["interrupted"].append(ended)
        self.step("placed", '"app":"photos","user":1000', opened, self.tell(1, "InterruptionEnded", f',"duration":{ended}'))
        ran = self.runs(1)  # Behind an interruption: no wait ends here.
        self.times["held"].append(self.step("stopRunning", '"session":1', cut, stopped[1]) - ran)
        self.step("recorderCut", '"camera":"front","grant":3')


def count(by):
    """A million decisions of machines that tell stories, and figures of them, counted by a database and by Python."""
    with Folder() as folder:
        stories = [Story(seed) for seed in range(STORIES)]
        for number, story in enumerate(stories):
            (folder / f"{number}").write_text(story.text)
        for machine in range(MACHINES):
            (folder / "traces" / f"kiosk-{machine}").mkdir(parents=True)
            os.link(folder / f"{machine % STORIES}", folder / "traces" / f"kiosk-{machine}" / "decisions.trace")
        queries = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.S) if by == by_duckdb else []
        totals, percentiles, causes, refusals, unreadable, *said = by(
            folder, "SELECT * FROM totals", "SELECT * FROM percentiles",
            "SELECT cause, rule, count(*) AS n FROM interruptions GROUP BY ALL ORDER BY cause, rule",
            "SELECT rule, count(*) AS n FROM refusals WHERE app = 'photos' AND camera = 'front' GROUP BY ALL ORDER BY rule",
            "SELECT * FROM unreadable", *queries)
        each, steps = MACHINES // STORIES, sum(story.steps for story in stories)
        assert unreadable == [], unreadable
        (total,) = totals
        assert [total[name] for name in ("machines", "files", "steps", "decisions")] == [MACHINES] * 2 + [each * steps] * 2, total
        assert total["decisions"] >= 1_000_000, total
        for row in percentiles:
            times = sorted(time for story in stories for time in story.times[row["figure"]] * each)
            assert row["count"] == len(times) and abs(row["sum_ms"] * 1e6 / sum(times) - 1) < 1e-9, row
            for percent in (50, 90, 95, 99):
                # The nearest rank, in whole numbers.
                assert round(row[f"p{percent}_ms"] * 1e6) == times[-(-len(times) * percent // 100) - 1], (percent, row)
            assert round(row["max_ms"] * 1e6) == times[-1], row
        assert sorted(row["figure"] for row in percentiles) == sorted(stories[0].times), percentiles

        def summed(counts):
            return [(key, each * n) for key, n in sorted(sum(counts, collections.Counter()).items())]

        assert [((row["cause"], row["rule"]), row["n"]) for row in causes] == summed([story.causes for story in stories]), causes
        assert [(row["rule"], row["n"]) for row in refusals] == summed([story.refusals for story in stories]), refusals
        if said:
            interruptions, waits = said
            assert sum(row["interruptions"] for row in interruptions) == sum(row["n"] for row in causes), interruptions
            assert {(row["app"], row["policy"], row["policy_hash"]) for row in waits} == {
                (app, policy, "h") for app in ("photos", "call") for policy in ("p0", "p1")}, waits
        return f"{total['steps']} steps, {total['decisions']} decisions"


@claim("a million decisions of 2000 machines are counted by DuckDB with decisions.sql as they were made, and fleet.md's queries find them")
def million():
    return count(by_duckdb)


@claim("a million decisions of 2000 machines are counted by ClickHouse with decisions.clickhouse.sql as they were made",
       long="the claim before counts them by DuckDB, and the next one looks at both on a few")
def million_by_clickhouse():
    return count(by_clickhouse)


def interrupted_again_and_again(trace, app):
    """The trace of an app that starts, is interrupted once, goes on and stops: so many times."""
    with Daemon("ios9", extra=("--trace", trace, "--trace-size", "64K")) as daemon:
        shell, photos = daemon.shell(), daemon.app(app)
        place(shell, app, "fullscreen", True)
        session = photos.session()
        for _ in range(VISITS):
            session.runs()
            place(shell, "notes", "split")
            photos.wait("WasInterrupted")
            place(shell, "notes", "background")
            photos.wait("DidStartRunning")
            session.call("StopRunning")
            walk(shell, 20)  # An even number, so that nothing stands in front at its end.


def find(by):
    """What a database makes of files of a real broker, some of which are damaged, and of files that are no traces."""
    with Folder() as folder:
        (folder / "broker").mkdir()
        interrupted_again_and_again(folder / "broker" / "d.trace", "ph\u202eotos\u2066")
        files = sorted((folder / "broker").iterdir(), key=lambda path: (path.name != "d.trace", path.name), reverse=True)
        oldest, *later = files
        lines = oldest.read_bytes().splitlines(keepends=True)
        assert b'"steps":0,' in lines[0] and later, files
        (lost, *_) = (number for number, line in enumerate(lines) if b'"notice":"DidStopRunning"' in line and b'"stopRunning"' in line)
        for name in ("whole/again", "late", "first", "torn", "gap", "odd"):
            (folder / "traces" / name).mkdir(parents=True)
        for path in files:
            os.link(path, folder / "traces" / "whole" / path.name)
        for path in later:
            os.link(path, folder / "traces" / "late" / path.name)
        for name, content in (
                ("whole/again/d.trace", oldest.read_bytes()), ("first/d.trace", oldest.read_bytes()),
                ("torn/d.trace", b"".join(lines[:100])[:-5]), ("gap/d.trace", b"".join(lines[:lost] + lines[lost + 1:])),
                ("odd/empty", b""), ("odd/text", b"hello\n{}\n"),
                ("odd/newer.trace", re.sub(rb'"trace":\d+', b'"trace":99', oldest.read_bytes(), count=1)),
                ("odd/twice.trace", b"".join(lines[:9] + lines[8:9])), ("direct.trace", oldest.read_bytes())):
            (folder / "traces" / name).write_bytes(content)
        unreadable, totals, counts, gap, stretches, unknown, row, names = by(
            folder, "SELECT file, problem, lines FROM unreadable ORDER BY file", "SELECT * FROM totals",
            "SELECT (SELECT count(*) FROM waits WHERE machine = 'whole') AS waits,"
            " (SELECT count(*) FROM decisions WHERE machine = 'whole' AND outcome = 'DidStartRunning') AS runs,"
            " (SELECT count(*) FROM interruptions WHERE machine = 'whole') AS interruptions",
            "SELECT figure, count(CASE WHEN machine = 'first' THEN 1 END) - count(CASE WHEN machine = 'gap' THEN 1 END) AS n"
            " FROM durations GROUP BY figure ORDER BY figure",
            "SELECT machine, count(DISTINCT stretch) AS n FROM decisions GROUP BY machine ORDER BY machine",
            "SELECT * FROM decisions WHERE session IS NOT NULL AND (app IS NULL OR camera IS NULL)",
            "SELECT * FROM decisions WHERE outcome = 'WasInterrupted' LIMIT 1", "SELECT DISTINCT app FROM waits")
        assert [(line["file"].removeprefix("traces/"), line["problem"], line["lines"]) for line in unreadable] == [
            ("direct.trace", "lies in no folder of a machine", len(lines)), ("gap/d.trace", "lacks steps", 1),
            ("odd/empty", "is empty", 0), ("odd/newer.trace", "has format version 99", len(lines)),
            ("odd/text", "is not a trace: it has no header", 2), ("odd/twice.trace", "has a step twice", 10),
            ("torn/d.trace", "has lines that are torn or not of a trace", 1)], unreadable
        # A file that is there twice counts once, and of a damaged one all that can be read.
        steps = [path.read_bytes().count(b'{"step":') for path in files]
        assert totals[0]["files"] == 2 * len(files) + 3, totals
        assert totals[0]["steps"] == 2 * sum(steps) + 98 + steps[0] - 1, (totals, steps)
        # Where a stop is missing, only that holding is: nothing is timed across, and the next start begins a wait. On a busy machine that start
        # comes before the cut is done, and then the handover that the stop began is missing, too.
        assert [(line["figure"], line["n"]) for line in gap if line["n"] and line["figure"] != "handover"] == [("held", 1)], gap
        assert all(0 <= line["n"] <= 1 for line in gap), gap
        # Behind an interruption no wait ends.
        assert counts == [{"waits": VISITS, "runs": 2 * VISITS, "interruptions": VISITS}], counts
        assert {line["machine"]: line["n"] for line in stretches} == {
            "first": 1, "gap": 2, "late": 1, "torn": 1, "whole": 1}, stretches
        # Who a session is that came before the first file stands in that one's snapshot. No name has what a terminal obeys.
        assert unknown == [] and names == [{"app": "ph?otos?"}], (unknown[:3], names)
        listed = (ROOT / "docs/trace.md").read_text().split("<!-- columns -->")[1].split("<!-- /columns -->")[0]
        listed = [name for line in listed.splitlines() if line for name in re.findall(r"`(\w+)`", line.split("|")[1])]
        assert sorted(row[0]) == sorted(listed), (list(row[0]), listed)


@claim("decisions.sql says which traces are torn, doubled, newer or lack steps, and which files are none, and counts the rest once")
def wrong():
    find(by_duckdb)


@claim("decisions.clickhouse.sql says the same of torn and newer traces, and of files that are none")
def wrong_by_clickhouse():
    find(by_clickhouse)


@claim("the journal's fields are those that camarbd's manual lists")
def journal_fields():
    sources = "".join(path.read_text() for path in (ROOT / "Sources" / "Programs" / "Broker").rglob("*.swift"))
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


@claim("every command of the page about fleets runs as it stands: traces are shipped and counted, a drop-in goes out and "
       "comes back, and a policy is pinned")
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
                            ("/usr/share/doc/camarb", ROOT / "docs"),
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
            walks = daemon.shell()
            daemon.running("attract.service"), daemon.running("photobooth.service")
            wait_until("a finished trace", lambda: (walk(walks, 50), (kiosk / "lib" / "decisions.trace.1").exists())[1])
            (tools / "duckdb").symlink_to(duckdb())
            shell = Reader(desk, f"{tools}:{PROGRAMS}:/usr/bin:/bin", COMPUTING_PATIENCE, CAMARB_SOCKET=str(daemon.path), KIOSK=str(kiosk))
            try:
                count = tried(folder / "fleet.md", {"$": shell}, looks=("ssh root@kiosk-17 camclient status",), look_patience=PATIENCE)
            finally:
                shell.end()
            told = ran(duckdb(), "-json", "figures.db", "-c", "SELECT DISTINCT machine, app FROM interruptions", cwd=desk).stdout
            assert json.loads(told) == [{"machine": "kiosk-17", "app": "attract.service"}], told
            assert not list((kiosk / "lib").glob("*.[1-4]")), os.listdir(kiosk / "lib")
            before = status(daemon)
        assert count >= 15, count
        # What is pinned decides the same, whatever becomes of the files of the package; and a drop-in still counts.
        (kiosk / "etc" / "policy.toml").write_text('name = "another"\n')
        with Daemon(kiosk / "etc" / "policy.toml", extra=(*here, *pinned)) as daemon:
            after = status(daemon)
            assert (after["policy"], after["policyHash"]) == ("our-kiosk", before["policyHash"]), (before, after)
        shutil.copy(desk / "new.d" / "50-booth.toml", kiosk / "etc" / "policy.d")
        with Daemon(kiosk / "etc" / "policy.toml", extra=(*here, *pinned)) as daemon:
            assert status(daemon)["policyHash"] != before["policyHash"]
        return f"{count} commands"


@claim("a service to which a flag is added, as the page about fleets does it, has the machine's cameras and no simulated one")
def service_flags():
    flags = re.search(r'^CAMARB_FLAGS="(.*)"$', PAGE.read_text(), re.M)[1]
    (unit,) = re.findall(r"^ExecStart=\S+ (.*)$", (ROOT / "packaging/systemd/camarbd.service").read_text(), re.M)
    assert "--service" in unit.split() and unit.split()[-1] == "$CAMARB_FLAGS" and "--camera" not in unit, unit
    for extra, simulated in (((), True), (("--service",), False)):
        with Folder() as folder, Daemon(cameras=(), extra=(*extra, *flags.replace("/var/lib/camarb", str(folder)).split())) as daemon:
            cameras = [camera["camera"] for camera in status(daemon)["cameras"]]
            assert ("simulated" in cameras) == simulated, (extra, cameras)
            assert (folder / "decisions.trace").exists()
