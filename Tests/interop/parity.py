"""What each binding offers of the wire: every name of docs/wire.md's tables is looked up in C, Swift, Python and camarbsrc."""
import fcntl, json, os, re

from harness import ROOT, Folder, Skipped, claim, ran

CLIENTS = ROOT / "clients"
# A build of its own: clients/check may be building beside this.
BUILD = ROOT / ".build" / "interop" / "clients"
BINDINGS = ("C", "Swift", "Python", "camarbsrc")
PAGE = ROOT / "docs" / "app-authors.md"

# The tables that clients need, by their headings in docs/wire.md, the beginning of each table's first row, and how the page calls them.
TABLES = (
    ("`org.camarb.Broker1`", "| method", "methods of `Broker1`"), ("`org.camarb.Broker1`", "| signal", "signals of `Broker1`"),
    ("`org.camarb.Camera1`", "| property", "properties of a camera"), ("`org.camarb.Session1`", "| method", "methods of a session"),
    ("`org.camarb.Session1`", "| signal", "events of a session"), ("`org.camarb.Session1`", "| property", "properties of a session"),
    ("What a recorder core says of its camera", "| of one of `formats`", "facts about a format"),
    ("Keys of a configuration", "| key", "keys of a configuration"),
    ("Options of a photo and of a recording", "| option", "options of files and microphones"),
    ("How a photo was taken", "| key", "how a photo was taken"))

# Names that do not follow from the wire's by the rules of `named`: for C, Swift, Python and camarbsrc, where they differ from those.
OTHER_NAMES = {
    "CreateSession": ("camarb_session_new", "makeSession", "Client.session", "PLAYING"),
    "DeclareClient": ("camarb_client_declare", "declare", "Client.declare", "declaration"),
    "LowerAttribute": (None, "lower", None, None), "GetStatus": (None, "status", None, None), "GetSessions": (None, "status", None, None),
    "ExplainApp": (None, "explain", None, None), "PlanPolicy": (None, "plan", None, None), "LoadPolicy": (None, "load", None, None),
    "GetPolicy": (None, "policyInForce", None, None), "GetMetrics": (None, "metrics", None, None),
    "Watch": (None, "subscribeToDecisions", None, None),
    "HolderChanged": ("CAMARB_EVENT_CAMERAS_CHANGED", None, "EventType.CAMERAS_CHANGED", None),
    "Id": (None, "camera", None, "camera"), "Name": (None, None, None, "camera-name"), "Position": (None, None, None, "camarb.position"),
    "Present": ("camera.is_present", "isPresent", "Camera.is_present", None), "Formats": (None, None, None, "format"),
    "AvailableMetadataObjectTypes": ("camarb_camera_metadata_object_types", None, "Camera.metadata_object_types", None),
    "StartRunning": ("camarb_session_start", None, "Session.start", "PLAYING"),
    "StopRunning": ("camarb_session_stop", None, "Session.stop", "PAUSED"), "Continue": (None, None, "Session.resume", "PLAYING"),
    "Close": ("camarb_session_free", None, None, "NULL"),
    # A client holds its batch until it is whole, and the library asks for streams and secrets by itself.
    "BeginConfiguration": ("camarb_configuration_new", None, "Session.configure", "configuration"),
    "CommitConfiguration": ("camarb_session_configure", None, "Session.configure", "configuration"),
    "Configure": (None, None, None, "configuration"), "OpenStream": ("camarb_session_set_pictures", "pictures", "Session.pictures", "PLAYING"),
    "Reclaim": ("camarb_client_new", "reconnects", "Client", "PLAYING"),
    "GetReclaimSecret": ("camarb_client_new", "reconnects", "Client", "PLAYING"),
    "CapturePhotoBracket": ("camarb_session_capture_bracket", "capturePhotos", "Session.capture_bracket", None),
    "WasInterrupted": (None, None, None, "camarb-interrupted"), "InterruptionChanged": (None, None, None, "camarb-interrupted"),
    "InterruptionEnded": (None, None, None, "camarb-resumed"), "SessionStopped": (None, None, None, "camarb-stopped"),
    "DidStartRunning": (None, None, None, "is-interrupted"), "DidStopRunning": (None, None, None, "is-interrupted"),
    "Running": ("camarb_session_state", "isRunning", "Session.state", "PLAYING"),
    "Interrupted": ("camarb_session_state", "isInterrupted", "Session.state", "is-interrupted"),
    "Access": ("event.access", None, "Event.access", "access"), "Causes": ("event.causes", None, "Event.causes", "causes"),
    "Camera": ("camarb_session_camera", "camera", "Session.camera", "camera"),
    "videoMaxZoomFactor": ("format.max_zoom_factor", None, "Format.max_zoom_factor", None),
    "videoZoomFactorUpscaleThreshold": ("format.zoom_upscale_threshold", None, "Format.zoom_upscale_threshold", None),
    "highResolutionStillWidth": (None, "highResolutionStill", None, None), "highResolutionStillHeight": (None, "highResolutionStill", None, None),
    "minISO": (None, "iso", None, None), "maxISO": (None, "iso", None, None), "minExposureDuration": (None, "exposureDuration", None, None),
    "maxExposureDuration": (None, "exposureDuration", None, None), "videoHDRSupported": (None, "isVideoHDRSupported", None, None),
    "sampleRate": ("camarb_session_attach_microphone", None, "Session.attach_microphone", None),
    "channels": ("camarb_session_attach_microphone", None, "Session.attach_microphone", None),
    "exposureTargetBiases": ("camarb_session_capture_bracket", None, "Session.capture_bracket", None),
    "exposureDurations": ("camarb_session_capture_bracket", None, "Session.capture_bracket", None),
    "isos": ("camarb_session_capture_bracket", None, "Session.capture_bracket", None),
}

OPERATORS = "GetStatus GetSessions Explain ExplainApp Plan GetPolicy PlanPolicy LoadPolicy UnloadPolicy GetMetrics Watch Trace"
RECORDS = ("AttachMicrophone StartRecording StopRecording PauseRecording ResumeRecording AppendMetadata RecordingStarted RecordingPaused "
           "RecordingResumed RecordingFinished maxDuration maxBytes minFreeBytes fileType codec bitRate metadata sampleRate channels")
# What a binding leaves out, and why.
EXCEPTIONS = (
    (f"{OPERATORS} PrioritiesChanged Decided Traced TraceLost", ("C", "Python", "camarbsrc"), "an operator's: camclient has them"),
    ("StandFor LowerPriority LowerAttribute", ("C", "Python", "camarbsrc"), "a service's that stands for apps: it is in Swift, or on the wire"),
    ("OpenConnection", BINDINGS, "for a program in a sandbox that reaches no socket, on the system bus: by its D-Bus library"),
    ("DeclarePresence CheckConfiguration", ("camarbsrc",), "an application's, which has a client of its own for it"),
    ("CamerasChanged HolderChanged Present Holder Generation SensorWidth SensorHeight DefaultFormatIndex Controls "
     "AvailableMetadataObjectTypes", ("camarbsrc",), "about cameras that the element does not show: a program that lists them asks the library"),
    ("ConnectionsFormed", ("camarbsrc",), "pictures come from the other camera by themselves, with caps of their own"),
    (RECORDS, ("camarbsrc",), "a pipeline records by itself, with its own elements for sound and files"),
    ("CapturePhotoBracket exposureTargetBiases exposureDurations isos", ("camarbsrc",), "files of several photos at once: the library"),
)


def tables():
    """Of each table its rows' names, with the type of a key."""
    text = (ROOT / "docs" / "wire.md").read_text().split("<!-- tables -->")[1]
    for heading, begin, title in TABLES:
        section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
        found = [row for block in re.split(r"\n(?!\|)", section) if block.strip().startswith(begin) for row in block.strip().split("\n")[2:]]
        rows = {re.match(r"\| `(\w+)`", row)[1]: row.split("|")[2].strip(" `") for row in found}
        assert rows, f"docs/wire.md has no table {title}"
        yield title, rows


def split(name, by):
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", by, name).lower()


def named(title, name, kind):
    """How each binding calls something of the wire."""
    snake, hyphened, lower = split(name, "_"), split(name, "-"), name[0].lower() + name[1:]
    setter = f"camarb_configuration_set_{dict(s='word', b='flag').get(kind, 'numbers' if '(' in kind else 'number')}"
    rules = {
        "methods of `Broker1`": (f"camarb_client_{snake}", lower, f"Client.{snake}", hyphened),
        "methods of a session": (f"camarb_session_{snake}", lower, f"Session.{snake}", hyphened),
        "properties of a camera": (f"camera.{snake}", lower, f"Camera.{snake}", hyphened),
        "properties of a session": (f"camarb_session_{snake}", lower, f"Session.{snake}", hyphened),
        "facts about a format": (f"format.{snake}", lower, f"Format.{snake}", name),
        # Of every key there may be, by the type of its value.
        "keys of a configuration": (setter, lower, "Session.configure", "configuration"),
        "options of files and microphones": (setter, lower, "Session.start_recording", "start-recording"),
        "how a photo was taken": ("event.metadata", lower, "Event.metadata", "metadata"),
    }
    usual = rules.get(title, (f"CAMARB_EVENT_{snake.upper()}", lower, f"EventType.{snake.upper()}", f"camarb-{hyphened}"))
    return [other or rule for other, rule in zip(OTHER_NAMES.get(name, (None,) * 4), usual)]


def names_in_c():
    """The functions that the library exports and its header declares, the header's events, and the fields of its structures."""
    header = re.sub(r"/\*.*?\*/", "", (CLIENTS / "libcamarb" / "camarb.h").read_text(), flags=re.S)
    exported = set(re.findall(r"\bT (camarb_\w+)", ran("nm", "-D", "--defined-only", BUILD / "libcamarb.so.1").stdout))
    found = exported & set(re.findall(r"(camarb_\w+)\(", header)) | set(re.findall(r"CAMARB_EVENT_\w+", header))
    for structure, prefix in ("camera", "camera"), ("format", "format"), ("format_facts", "format"), ("event", "event"):
        body = re.search(rf"typedef struct camarb_{structure} {{(.*?)}}", header, re.S)[1]
        found |= {f"{prefix}.{field}" for field in re.findall(r"(\w+)(?:\[\w+\])?(?=[,;])", body)}
    return found


def names_in_swift():
    text = "".join(path.read_text() for folder in ("Programs/Camarb", "Core/Vocabulary", "Language/ArbiterProtocol/Wire")
                   for path in sorted((ROOT / "Sources" / folder).rglob("*.swift")))
    declared = re.findall(r"^ *(?:public |consuming |indirect |static |let |var |func |case )+`?(\w+)", text, re.M)
    together = [name for line in re.findall(r"^ *case (.*)", text, re.M) for name in re.findall(r"(?:^|, )`?(\w+)", line)]
    return {*declared, *together, *re.findall(r"(\w+): Bool = true", text)}


PYTHON = """
import camarb, inspect, json
names = set(camarb.__all__)
for owner in map(camarb.__dict__.get, camarb.__all__):
    if inspect.isclass(owner):
        names |= {f"{owner.__name__}.{name}" for name in (*dir(owner), *getattr(owner, "__dataclass_fields__", ()))}
print(json.dumps(sorted(names)))
"""

ELEMENT = """
import json, gi
gi.require_version("Gst", "1.0")
from gi.repository import GObject, Gst
Gst.init(None)
element = Gst.ElementFactory.make("camarbsrc")
names = [spec.name for spec in element.list_properties()] + [GObject.signal_name(one) for one in GObject.signal_list_ids(element)]
print(json.dumps(names + ["PLAYING", "PAUSED", "NULL"]))
"""


def names_in(program, **variables):
    environment = {**os.environ, "CAMARB_LIBRARY": str(BUILD / "libcamarb.so.1"), "LD_LIBRARY_PATH": str(BUILD),
                   "PYTHONPATH": str(CLIENTS / "python"), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    return set(json.loads(ran("/usr/bin/python3", "-c", program, env=environment).stdout))


def names_in_gstreamer(folder):
    """Properties, actions and states of the element; its messages, their fields and a format's are texts of the plugin."""
    plugin = BUILD / "gstreamer" / "libgstcamarb.so"
    if not plugin.exists():
        raise Skipped("GStreamer's headers are not here, and so no plugin")
    texts = set(re.findall(rb"[\w.-]{3,}(?=\0)", plugin.read_bytes()))
    texts = {text.decode() for text in texts if text.startswith(b"camarb-") or text == b"camarb.position"}
    facts = re.search(r"settings_of_format\(.*?\n}\n", (CLIENTS / "gstreamer" / "settings.c").read_text(), re.S)[0]
    fields = re.findall(r'FIELD\("([\w-]+)"', (CLIENTS / "gstreamer" / "settings.c").read_text())
    known = names_in(ELEMENT, GST_PLUGIN_PATH=str(plugin.parent), GST_REGISTRY=str(folder / "registry"))
    return known | texts | set(re.findall(r'"(\w+)"', facts)) | set(fields)


def shown_table(exceptions):
    """The page's table: all of each row, or all but so many."""
    lines = ["| | " + " | ".join(BINDINGS) + " |", "|---|" + "---|" * len(BINDINGS)]
    for title, rows in tables():
        left_out = [sum((name, binding) in exceptions for name in rows) for binding in BINDINGS]
        cells = ["all" if not count else "none" if count == len(rows) else f"all but {count}" for count in left_out]
        lines.append(f"| {title} ({len(rows)}) | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def built(*words):
    """Builds the library and the plugin, or does what else is asked of clients/Makefile, one claim at a time."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ran("make", "-s", "-C", CLIENTS, f"BUILD={BUILD}", *(words or ("gstreamer",)), timeout=600)


def problems(rows, found, exceptions):
    """Cells that are empty without a reason, and reasons for cells that are not."""
    for title, name, kind in rows:
        for binding, own in zip(BINDINGS, named(title, name, kind)):
            reason = exceptions.get((name, binding))
            if own in found[binding] and reason:
                yield f"{binding} has {own} ({title}), and is listed as without it: {reason}"
            elif own not in found[binding] and not reason:
                yield f"{binding} has no {own}, which is {name} of {title}"


@claim("C, Swift, Python and camarbsrc offer all that the wire has for apps, but what is listed with its reason, as the page says")
def parity():
    built()
    with Folder() as folder:
        found = dict(zip(BINDINGS, (names_in_c(), names_in_swift(), names_in(PYTHON), names_in_gstreamer(folder))))
    exceptions = {(name, binding): reason for names, bindings, reason in EXCEPTIONS for name in names.split() for binding in bindings}
    rows = [(title, name, kind) for title, table in tables() for name, kind in table.items()]
    wrong = list(problems(rows, found, exceptions))
    wrong += [f"{name} is not on the wire" for name in {*OTHER_NAMES, *(name for name, _ in exceptions)} - {name for _, name, _ in rows}]
    assert not wrong, "\n".join(wrong)
    # Each cell counts: without its name, and with a reason that it needs none of, there is a problem.
    for title, name, kind in rows:
        for binding, own in zip(BINDINGS, named(title, name, kind)):
            cell = (name, binding)
            other = exceptions | {cell: "for a trial"} if cell not in exceptions else {**exceptions, cell: None}
            assert list(problems([(title, name, kind)], found, other)), cell
            assert cell in exceptions or list(problems([(title, name, kind)], {**found, binding: found[binding] - {own}}, exceptions)), cell
    shown = shown_table(exceptions)
    assert shown in PAGE.read_text(), f"docs/app-authors.md has another table than\n{shown}"
    return f"{len(rows) * len(BINDINGS)} cells"
