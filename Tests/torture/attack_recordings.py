"""Recordings whose recorder core is killed at any moment, with sound and metadata, also on a disk that is full."""
import collections, ctypes, functools, json, os, pathlib, random, shutil, signal, socket, tempfile, time

from harness import Daemon, Refused, Skipped, needs_root, probed, ran, recorded_marks, stat_of, wait_until
from recordings_with_sound import Microphone
from rows import Child, Figure, attack, row, until

KILLS, KILLS_SHORT = 100, 10
# Seconds of recording before the kill: before the first second of sound and the third key frame, and long enough behind them.
MOMENTS = (0.2, 2.5)
SMALL_DISK = 450_000
# What may be missing before the kill, and between the ends of sound and picture.
LOST_MAX, APART_MAX = 1.0, 0.1
CLONE_NEWNS = 0x20000


def small_disk_file():
    """A file on a file system of its own, which nothing else sees and which goes with the file."""
    needs_root("only root mounts a file system that gets full")

    def mounted(folder, passes):
        libc = ctypes.CDLL(None, use_errno=True)
        # Nothing of it reaches the mount namespace that this one is a copy of.
        is_there = (libc.unshare(CLONE_NEWNS) == 0 and libc.mount(b"none", b"/", None, 0x44000, None) == 0
                    and libc.mount(b"none", folder.encode(), b"tmpfs", 0, f"size={SMALL_DISK}".encode()) == 0)
        if is_there:
            socket.send_fds(passes, [b"f"], [os.open(f"{folder}/recording.mkv", os.O_RDWR | os.O_CREAT)])
        return is_there

    ours, theirs = socket.socketpair()
    with ours, theirs, tempfile.TemporaryDirectory() as folder:
        if not Child(0, mounted, folder, theirs).result():
            raise Skipped("no file system can be mounted here")
        _, (file,), _, _ = socket.recv_fds(ours, 1, 1)
    return os.fdopen(file, "r+b")


def packet_ends(path, track):
    said = probed(path, "-show_entries", "packet=pts_time,duration_time", "-select_streams", track, complains=False)
    return [float(one["pts_time"]) + float(one.get("duration_time", 0)) for one in said["packets"]]


def samples(path):
    text = ran("ffmpeg", "-v", "error", "-i", path, "-map", "0:s:0", "-c", "copy", "-f", "data", "-").stdout
    decoder, read = json.JSONDecoder(), []
    while text:
        sample, end = decoder.raw_decode(text)
        read.append(sample)
        text = text[end:]
    return read


def record_and_kill(seconds, file, appended):
    """Records for so long, and kills camrecorder. When, in nanoseconds, and how the recording ended."""
    with Daemon() as daemon:
        app, session = daemon.running("film", usesAudio=True)
        stream = session.stream()
        with Microphone(session):
            session.call("StartRecording", "ha{sv}", file, {"metadata": ("a{sv}", {"location": ("s", "iso6709")})})
            app.wait("RecordingStarted")
            for number in until(seconds):
                stream.release(stream.read())
                if number % 5 == 4:
                    at = time.monotonic_ns()
                    try:
                        session.call("AppendMetadata", "sxas", "location", at, [f"+48.{number:04}+016.3738/"])
                        appended.append(at)
                    except Refused as refusal:
                        # The disk got full.
                        assert refusal.name.endswith(".NotRecording"), refusal
            (recorder,) = daemon.recorders()
            killed = time.monotonic_ns()
            os.kill(recorder, signal.SIGKILL)
            finished = app.wait("RecordingFinished")
            # The next recorder core has completed the file, or it was whole.
            wait_until("the session's interruption", lambda: app.poll() or "WasInterrupted" in app.names())
        return killed, finished


def examined(path, killed, appended):
    """What was lost before the kill, and how far sound and picture end apart, in seconds; None where no frame is in it."""
    codecs = [one["codec_name"] for one in probed(path, "-show_entries", "stream=codec_name", complains=False)["streams"]]
    assert codecs == ["h264", "aac", "subrip"], codecs
    marks = recorded_marks(path)
    if not marks:
        return None
    pictures, sound = packet_ends(path, "v:0"), packet_ends(path, "a:0")
    assert len(marks) == len(pictures), f"of {len(pictures)} pictures {len(marks)} decode"
    last = marks[-1][0]
    read = samples(path)
    due = sum(at < last - LOST_MAX * 1e9 for at in appended)
    assert len(read) >= due and all(len(one["items"]) == 1 for one in read), f"{len(read)} samples, of {due} at least"
    return (killed - last) / 1e9, abs(pictures[-1] - (sound[-1] if sound else 0))


def kills(count, disk_is_full):
    if not shutil.which("ffprobe"):
        raise Skipped("ffprobe is not installed")
    seed = 13 if count == KILLS_SHORT else time.time_ns() % 1_000_000
    moments = random.Random(seed)
    lost, apart, empty, ends = [], [], 0, collections.Counter()
    for number in range(count):
        appended = []
        seconds = moments.uniform(*MOMENTS)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "killed.mkv"
            with small_disk_file() if disk_is_full else open(path, "w+b") as file:
                killed, finished = record_and_kill(seconds, file, appended)
                if disk_is_full:
                    shutil.copyfile(f"/proc/self/fd/{file.fileno()}", path)
            ends[finished[3]] += 1
            try:
                said = examined(path, killed, appended)
            except AssertionError as why:
                kept = pathlib.Path(tempfile.gettempdir()) / f"kill-{seed}-{number}.mkv"
                shutil.copy(path, kept)
                raise AssertionError(f"kill {number} of seed {seed}, after {seconds:.3f} s: {why} (kept as {kept})") from why
        if said is None:
            empty += 1
            # As long as the file waits for its first sound it has no frame.
            assert seconds <= LOST_MAX, f"no frame after {seconds:.3f} s"
            continue
        if finished[3] != "disk-full":
            lost.append(said[0])
        apart.append(said[1])
    yield Figure("files that open, some killed before the first frame", count, f"of which {empty}")
    yield f"how they ended: {', '.join(f'{why} {times}' for why, times in sorted(ends.items()))}; seed {seed}"
    if disk_is_full:
        yield Figure("recordings that met the full disk", ends["disk-full"], least=1)
    # What waits for an encoder that gets no processor is lost with it: this says something of the machine, too.
    yield Figure("lost before a kill, at most", round(max(lost, default=0) * 1000), "ms", most=round(LOST_MAX * 1000))
    yield Figure("sound and picture end apart, at most, by a thousandth of a second", round(max(apart, default=0) * 1000),
                 most=round(APART_MAX * 1000))


for name, promise, load, is_full in (
        ("recordings-killed", "a recording with sound and metadata whose recorder core is killed opens, lacks at most a second, and "
         "sound and picture end within 100 ms", f"{KILLS} kills at random moments ({KILLS_SHORT} in the short form)", False),
        ("recordings-killed-disk-full", "the same where the disk gets full", f"{KILLS} kills of recordings on a file system of "
         f"{SMALL_DISK / 1e3:.0f} kB ({KILLS_SHORT} in the short form)", True)):
    row(name, promise, load, KILLS_SHORT, KILLS)(functools.partial(kills, disk_is_full=is_full))


# Bytes of a cluster, as long as a completion takes one for a recording's, and what it is full of: elements of two bytes.
CLUSTER, ELEMENT = 255 << 20, b"\xec\x80"
HEADER_MAX = 1 << 18
# Seconds: a completion may take 4, and a broker waits 5. Then so many are looked at, in which one that went on would take a
# processor, and on an idle machine write.
COMPLETED_MAX, AFTER, AFTER_SHORT = 7, 20, 3
# Ticks of a processor, a second: what a recorder core that draws a picture takes now and then.
TICKS_MAX = 20
# Of frames or bytes on the wire: nobody has counted them.
NOT_KNOWN = (1 << 64) - 1


def processor_ticks(processes):
    """What they have taken so far; those that have ended, nothing."""
    return sum(int(ticks) for process in processes for ticks in stat_of(process)[1][11:13])


@attack("long-completions", "completing a lost recording ends at its deadline, and past it the file stays as it is",
        f"a recording that its client makes one cluster of {CLUSTER >> 20} MiB with a hundred million elements, before its recorder core "
        "is killed", AFTER_SHORT, AFTER)
def long_completions(daemon, seconds):
    app, session = daemon.running("film")
    stream = session.stream()
    path = daemon.directory / "long.mkv"
    recording = session.records(path)
    for _ in range(10):
        stream.release(stream.read())
    whole = path.read_bytes()
    begin = whole.index(b"\x1f\x43\xb6\x75", 0, HEADER_MAX)
    body = b"\xe7\x81\x00\xa3\x85\x81\x00\x00\x80\x07"
    body += ELEMENT * ((CLUSTER - len(body)) // len(ELEMENT))
    crafted = whole[:begin] + b"\x1f\x43\xb6\x75" + (1 << 56 | len(body)).to_bytes(8, "big") + body
    (recorder,) = daemon.recorders()
    # It writes no more, and the file is still its own; after two seconds camarbd would kill it.
    os.kill(recorder, signal.SIGSTOP)
    path.write_bytes(crafted)
    killed = time.monotonic()
    os.kill(recorder, signal.SIGKILL)
    ended = app.wait("RecordingFinished", lambda said: said[2] == recording)
    took = time.monotonic() - killed
    completing = daemon.recorders()
    ticks = processor_ticks(completing)
    time.sleep(AFTER_SHORT)
    ticks = max(0, processor_ticks(completing) - ticks)
    time.sleep(seconds - AFTER_SHORT)
    yield Figure("its end is told after", took, "s", most=COMPLETED_MAX)
    yield Figure("words on how many frames it has, which nobody knows", int(ended[4] != NOT_KNOWN), most=0)
    yield Figure("processor time that is spent on it after that, a second", round(ticks / AFTER_SHORT, 1), "ticks", most=TICKS_MAX)
    after = path.read_bytes()
    yield Figure("bytes of the file that are others since", sum(a != b for a, b in zip(crafted[:HEADER_MAX], after))
                 + abs(len(crafted) - len(after)), most=0)
