"""What happened, in numbers: for root everything, for others their own, and a file for node_exporter."""
import json, os, re, subprocess

from harness import BROKER, CAMERA, PROGRAMS, ROOT, SHELL, Daemon, claim

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
    """One app has the camera, and another takes it."""
    shell = daemon.shell()
    first, second = daemon.app("photos"), daemon.app("notes")
    one, two = first.session(), second.session()
    one.start()
    first.wait("DidStartRunning")
    shell.call(SHELL, "PlaceApp", "ssb", "notes", "split", True)
    two.start()
    second.wait("DidStartRunning")
    return first, second


@claim("a handover is counted as one, with its grants, its interruption and how long it took")
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
        assert found["process_resident_memory_bytes", ""] > 1 << 20, text


@claim("another user sees none of root's counts and nothing of the broker's own")
def others():
    with Daemon() as daemon:
        handover(daemon)
        os.chmod(daemon.directory, 0o755)
        script = ("import os, sys\nos.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)\n"
                  "sys.path.insert(0, sys.argv[1])\nfrom harness import App, BROKER\n"
                  "print(App(sys.argv[2]).call(BROKER, 'GetMetrics')[0], end='')")
        text = subprocess.run(
            ["/usr/bin/python3", "-c", script, str(ROOT / "Tests" / "interop"), daemon.address], check=True,
            stdout=subprocess.PIPE, text=True, timeout=60).stdout
        found = samples(text)
        assert found["camarb_wait_seconds_count", ""] == 0, text
        assert not any(name.startswith(("camarb_grants", "camarb_clients", "process_")) for name, _ in found), text


@claim("alerts and dashboard of docs/fleet use only families that camarbd has, and its page lists them all")
def documented():
    with Daemon() as daemon:
        first, _ = handover(daemon)
        (text,) = first.call(BROKER, "GetMetrics")
    families = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    names = set()
    for family, kind in families.items():
        names |= {"counter": {f"{family}_total"}, "info": {f"{family}_info"},
                  "histogram": {f"{family}_bucket", f"{family}_count", f"{family}_sum"}}.get(kind, {family})
    used = re.compile(r"\b(?:camarb|process)_[a-z_]+\b")
    for file in ("alerts.yaml", "dashboard.json"):
        found = set(used.findall((ROOT / "docs" / "fleet" / file).read_text()))
        assert found and found <= names, f"{file}: {found - names}"
    json.loads((ROOT / "docs" / "fleet" / "dashboard.json").read_text())
    page = (ROOT / "docs" / "fleet.md").read_text()
    for family, kind in families.items():
        shown = {"counter": f"{family}_total", "info": f"{family}_info"}.get(kind, family)
        assert f"`{shown}`" in page, f"docs/fleet.md does not list {shown}"


@claim("camclient metrics --textfile writes a file that node_exporter's collector reads, in one step")
def textfile():
    with Daemon() as daemon:
        handover(daemon)
        path = daemon.directory / "camarb.prom"
        subprocess.run([PROGRAMS / "camclient", "metrics", "--textfile", path, "--socket", daemon.path], check=True,
                       timeout=60)
        text = path.read_text()
        samples(text)
        types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
        assert types["camarb_grants_total"] == "counter" and types["camarb_info"] == "gauge", types
        assert "# UNIT" not in text and "# EOF" not in text, text
        assert os.listdir(daemon.directory).count("camarb.prom") == 1
        assert not [name for name in os.listdir(daemon.directory) if name.startswith("camarb.prom.")]
