"""What happened, in numbers: for root everything, for others their own, and a file for node_exporter."""
import json, os, re, shutil

from camclient import camclient
from harness import BROKER, CAMERA, COMPUTING_PATIENCE, PROGRAMS, ROOT, Daemon, Folder, claim, needs_root, ran
from libraries import unpacked

SAMPLE = re.compile(r'^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)+)\})? ([0-9.e+-]+)$')


def samples(text):
    """{(name, labels): value} of a text of metrics; fails where a line is none."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        match = SAMPLE.match(line)
        assert match, f"no sample: {line!r}"
        found[match[1], match[2] or ""] = float(match[3])
    return found


def handover(daemon):
    shell = daemon.shell()
    first, second = daemon.app("photos"), daemon.app("notes")
    one, two = first.session(), second.session()
    one.runs()
    shell.place("notes", "split", True)
    two.runs()
    return first, second


@claim("a handover is counted as one, with its grants, its interruption and how long it took, and another user sees none of root's counts "
       "and nothing of the broker's own")
def counted():
    with Daemon() as daemon:
        first, _ = handover(daemon)
        (text,) = first.call(BROKER, "GetMetrics")
        assert text.endswith("# EOF\n"), text[-40:]
        found = samples(text)
        assert found["camarb_grants_total", f'camera="{CAMERA}"'] == 2, text
        assert found["camarb_interruptions_total", 'cause="video-device-in-use-by-another-client"'] == 1, text
        assert found["camarb_handover_seconds_count", ""] == 1 and found["camarb_wait_seconds_count", ""] == 2, text
        assert found["camarb_sessions", ""] == 2 and found["camarb_running_sessions", ""] == 1, text
        assert found["camarb_process_resident_memory_bytes", ""] > 1 << 20, text
        needs_root()
        (text,) = daemon.app(user=65534).call(BROKER, "GetMetrics")
        found = samples(text)
        assert found["camarb_wait_seconds_count", ""] == 0, text
        assert not any(name.startswith(("camarb_grants", "camarb_clients", "camarb_process_")) for name, _ in found), text


@claim("alerts and dashboard of docs/fleet use only families that camarbd has, and its page lists them all")
def documented():
    with Daemon() as daemon:
        first, _ = handover(daemon)
        (text,) = first.call(BROKER, "GetMetrics")
    families = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    shown = {family + {"counter": "_total", "info": "_info"}.get(kind, "") for family, kind in families.items()}
    names = shown | {f"{family}_{part}" for family, kind in families.items() if kind == "histogram" for part in ("bucket", "count", "sum")}
    used = re.compile(r"\b(?:camarb|process)_[a-z_]+\b")
    for file in ("alerts.yaml", "dashboard.json"):
        found = set(used.findall((ROOT / "docs" / "fleet" / file).read_text()))
        assert found and found <= names, f"{file}: {found - names}"
    json.loads((ROOT / "docs" / "fleet" / "dashboard.json").read_text())
    page = (ROOT / "docs" / "fleet.md").read_text()
    assert all(f"`{name}`" in page for name in shown), [name for name in shown if f"`{name}`" not in page]


@claim("the units of docs/fleet.md write a file each minute, by systemd's word, that node_exporter's collector reads, in one step")
def units():
    page = (ROOT / "docs" / "fleet.md").read_text()
    with Daemon() as daemon:
        written = daemon.directory / "camarb.prom"
        names = []
        for name, unit in re.findall(r"^```ini\n# /etc/systemd/system/(\S+)\n(.*?)```", page, re.M | re.S):
            unit = re.sub(r"/var/lib\S*/camarb.prom", str(written), unit.replace("/usr/bin/camclient", str(PROGRAMS / "camclient")))
            (daemon.directory / name).write_text(unit)
            names.append(daemon.directory / name)
        assert [name.name for name in names] == ["camarb-metrics.service", "camarb-metrics.timer"], names
        said = ran("systemd-analyze", "verify", "--man=no", *names).stderr
        assert "camarb-metrics" not in said, said
        (command,) = re.findall(r"^ExecStart=(.*)$", names[0].read_text(), re.M)
        handover(daemon)
        ran(*command.split(), env={**os.environ, "CAMARB_SOCKET": str(daemon.path)})
        text = written.read_text()
        # node_exporter has families of its own, and drops those of a file that are called the same.
        assert all(name.startswith("camarb_") for name, _ in samples(text)), text
        types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
        assert types["camarb_grants_total"] == "counter" and types["camarb_info"] == "gauge", types
        assert "# UNIT" not in text and "# EOF" not in text, text
        assert [name for name in os.listdir(daemon.directory) if name.startswith("camarb.prom")] == ["camarb.prom"]


# Minutes: something happens at the first, and what fires is read at the second.
HAPPENS, READ = 120, 300
ALERTS = ROOT / "docs" / "fleet" / "alerts.yaml"
MTIME, MEMORY, INFO = "node_textfile_mtime_seconds", "camarb_process_resident_memory_bytes", "camarb_info"


def well(found, file):
    """{series: its samples before something happens and from then on}, of a machine that writes this file each minute, and hands
    its camera over in 400 ms each minute; in promtool's words, `_` for none and FIRST+STEP for others."""
    series = {}
    for (name, labels), value in found.items():
        bound = re.search(r'le="(.*)"', labels) if name.startswith("camarb_handover_seconds") else None
        series[name, labels] = [f"{value:f}+0"] * 2 if not bound or float(bound[1]) < 0.4 else ["0+1", f"{HAPPENS}+1"]
    series[MTIME, f'file="{file}"'] = ["0+60", f"{60 * HAPPENS}+60"]
    return series


def unit_test(name, machines, firing):
    """What promtool is to find: these alerts, as (alert, machine), and no others."""
    def named(family, labels, machine):
        return f'{family}{{{labels}{"," if labels else ""}instance="{machine}"}}'

    return {
        "name": name, "interval": "1m",
        "input_series": [
            {"series": named(family, labels, machine),
             "values": f"{before}x{HAPPENS - 1} {after if 'x' in after else f'{after}x{READ - HAPPENS}'}"}
            for machine, series in machines.items() for (family, labels), (before, after) in series.items()],
        "promql_expr_test": [
            {"expr": 'group by (alertname, instance) (ALERTS{alertstate="firing"})', "eval_time": f"{READ}m",
             "exp_samples": [{"labels": f'{{alertname="{alert}", instance="{machine}"}}', "value": 1}
                             for alert, machine in sorted(firing)]}]}


@claim("the alerts of docs/fleet see one kiosk of two that is gone, a file that nobody writes, memory that grows, slow handovers and "
       "a first lost recording, and a fleet that is well leaves them silent")
def alerts():
    promtool = shutil.which("promtool") or unpacked("promtool", 19, before="prometheus") / "usr" / "bin" / "promtool"
    with Daemon() as daemon:
        handover(daemon)
        camclient(None, "metrics", "--textfile", daemon.directory / "camarb.prom", "--socket", daemon.path)
        found = samples((daemon.directory / "camarb.prom").read_text())
    (file,) = re.findall(r"^ExecStart=.*--textfile (\S+)$", (ROOT / "docs" / "fleet.md").read_text(), re.M)
    tests = []

    def case(name, *firing, of=("kiosk-2",), family=".*", label=".*", **changed):
        """What all series of this family and with such a label have from then on."""
        machines = {machine: well(found, file) for machine in ("kiosk-1", "kiosk-2")}
        series = [one for machine in of for key, one in machines[machine].items()
                  if re.fullmatch(family, key[0]) and re.fullmatch(label, key[1])]
        assert series, f"{name}: there is no {family}{{{label}}}"
        for one in series:
            one[1] = changed.get("to", one[1])
        tests.append(unit_test(name, machines, firing))
        return machines

    case("a fleet that is well")
    case("one of two kiosks is gone", ("CamarbGone", "kiosk-2"), to="_")
    case("both are gone", ("CamarbGone", "kiosk-1"), ("CamarbGone", "kiosk-2"), of=("kiosk-1", "kiosk-2"), to="_")
    case("nobody writes the file", ("CamarbStale", "kiosk-2"), family=MTIME, to=f"{60 * HAPPENS}+0")
    case("memory grows", ("CamarbMemory", "kiosk-2"), family=MEMORY, to="20000000+1000000")
    case("memory stays below what it may be", family=MEMORY, to="127000000+0")
    first = f"0x{READ - HAPPENS - 20} 1x20"
    case("a first recording is lost", ("CamarbRecordingsLost", "kiosk-2"), label='why="disk-full"', to=first)
    case("a first recording is stopped", label='why="stopped"', to=first)
    # Those of three seconds are in no bucket below the one up to five.
    case("handovers take three seconds", ("CamarbSlowHandover", "kiosk-2"), family="camarb_handover_seconds_bucket",
         label='le="(0.5|1.0|2.5)"', to=f"{HAPPENS}+0")
    machines = case("another policy")
    ((labels, (before, _)),) = [(key[1], samples) for key, samples in machines["kiosk-2"].items() if key[0] == INFO]
    machines["kiosk-2"][INFO, labels] = [before, "_"]
    machines["kiosk-2"][INFO, re.sub(r'policy="[^"]*"', 'policy="another"', labels)] = ["_", before]
    tests[-1] = unit_test("another policy", machines, ())
    with Folder() as folder:
        path = folder / "tests.json"  # Which is YAML, too.
        path.write_text(json.dumps({"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": tests}))
        done = ran(promtool, "test", "rules", path, timeout=COMPUTING_PATIENCE)
    assert "SUCCESS" in done.stdout + done.stderr, done.stdout + done.stderr
    return f"{len(tests)} fleets"
