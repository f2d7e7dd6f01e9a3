"""The page of what can be set on a camera, on a real broker: its examples run in scenarios, and here over the wire, too."""
import re, shlex, tempfile

from harness import ROOT, Daemon, Refused, claim

PAGE = ROOT / "docs" / "capture.md"
# What an example may do so that it can be run here: no other app, no time that passes, no hardware that comes and goes.
COMMANDS = {"connect", "session", "start", "begin", "commit", "configure", "record"}
# A camera takes a value in steps of its own: an exposure in microseconds, a lens in a thousand places.
STEPS = 1e-3
# What no camera could take, the reader of messages refuses in words of its own, before any camera is looked at.
ANY_CAMERAS = "Nothing changed."


def value(text):
    """A value as people write it, with its type on the wire."""
    if text in ("true", "false"):
        return "b", text == "true"
    numbers = []
    for part in text.split(","):
        if not re.fullmatch(r"-?[0-9.]+(/[0-9.]+)?", part):
            return "s", text
        over, _, under = part.partition("/")
        numbers.append(float(over) / float(under or 1))
    return ("d", numbers[0]) if len(numbers) == 1 else (f"({'d' * len(numbers)})", tuple(numbers))


def settings(words):
    return {key: value(text) for key, _, text in (word.partition("=") for word in words)}


def is_near(has, says):
    if isinstance(says, tuple):
        return all(map(is_near, has, says))
    if isinstance(says, float):
        return abs(has - says) <= STEPS * max(1, abs(says)) if says >= 1 else abs(has - says) <= STEPS * abs(says) + 1e-6
    return has == says


def examples():
    """The cameras of each example that can be run here, and its inputs with what is told after each."""
    for block in re.findall(r"```scenario\n(.*?)\n```\n", PAGE.read_text(), re.S):
        cameras = re.findall(r"^camera (\w+) model=(\S+)$", block, re.M)
        inputs = []
        for line in block[block.index("\n0s "):].strip().splitlines():
            if line.startswith(" " * 7):
                inputs[-1][1].append(line.strip())
            else:
                inputs.append((shlex.split(re.sub(r"^\d\S*", "", line)), []))
        if cameras and all(words and words[0] in COMMANDS for words, _ in inputs) and sum(
                words[0] == "connect" for words, _ in inputs) == 1:
            yield cameras, inputs


def applied(app, told):
    """Waits for the ConfigurationApplied of a notice, and holds what is in force to it."""
    body = app.wait("ConfigurationApplied")
    asked, _, nearest = re.sub(r" by \w+$", "", told.partition(" configurationApplied ")[2]).partition(", in force ")
    says = {**settings(shlex.split(asked)), **settings(shlex.split(nearest))}
    for key, (_, wanted) in says.items():
        has = body[3][key][1]
        assert is_near(has, wanted), f"{key} is {has}, and the page says {wanted}: {told}"


def run(app, sessions, words, told):
    verb, name = words[0], words[1]
    if verb == "connect":
        return
    if verb == "session":
        camera = [word for word in words if word.startswith("camera=")][0].removeprefix("camera=")
        given = {key: what for key, (_, what) in settings(
            [word for word in words[2:] if "=" in word and not word.startswith("camera=")]).items()}
        sessions[name] = app.session(camera, **given)
        return
    session = sessions[name]
    refusal = [notice for notice in told if notice.startswith("refused ")]
    try:
        if verb == "configure":
            session.call("Configure", "a{sv}", settings(words[2:]))
        elif verb == "record":
            with tempfile.TemporaryFile() as film:
                session.call("StartRecording", "ha{sv}", film, {})
        else:
            session.call({"start": "StartRunning", "begin": "BeginConfiguration", "commit": "CommitConfiguration"}[verb])
        assert not refusal, f"{' '.join(words)} was taken, and the page says: {refusal[0]}"
    except Refused as why:
        # On the wire the rule follows the sentence.
        said = f"refused {why.name.rpartition('.')[2]}: {why.message.partition(' Because “')[0]}"
        if said.endswith(ANY_CAMERAS) and refusal:
            refusal, said = [" ".join(refusal[0].split()[:3])], " ".join(said.split()[:3])
        assert refusal == [said], f"{' '.join(words)}: the page says {refusal}, and the broker: {said}"
    for notice in told:
        if " configurationApplied " in notice:
            applied(app, notice)
        elif notice.endswith(" didStartRunning"):
            app.wait("DidStartRunning")
        elif notice.endswith(" recordingStarted 1"):
            app.wait("RecordingStarted")


@claim("the examples of docs/capture.md hold on a real broker with simulated cameras: the same sentences, the same in force")
def capture_page():
    count = 0
    for cameras, inputs in examples():
        with Daemon(cameras=[f"{name}=simulated:{model}" for name, model in cameras]) as daemon:
            app, sessions = daemon.app("photos"), {}
            for words, told in inputs:
                run(app, sessions, words, told)
        count += 1
    assert count >= 8, f"{count} examples"
    return f"{count} examples"
