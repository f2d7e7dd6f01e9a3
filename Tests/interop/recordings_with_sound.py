"""Recordings with sound and timed metadata: what gets into the file, what the file tells by itself, and what bad input gets."""
import array, contextlib, itertools, json, math, os, select, signal, socket, struct, tempfile, threading, time

from harness import PATIENCE, SHELL, Daemon, Refused, children_of, claim, listening, played, probed, ran, recorded_marks, refused
from restart import Brokers, Holder

RATE = 48_000
# Of a packet, in seconds: as sound servers hand it out.
PACKET = 0.02


def pair(kind=socket.SOCK_SEQPACKET):
    return socket.socketpair(socket.AF_UNIX, kind)


def attach(session, end, rate=RATE, **more):
    session.call("AttachMicrophone", "ha{sv}", end, {"sampleRate": ("u", rate), "channels": ("u", 1), **more})


def attached(session, rate=RATE):
    """A microphone's own end, whose other one a session has."""
    end, theirs = pair()
    with theirs:
        attach(session, theirs, rate)
    return end


def head(at, frames):
    return struct.pack("<qII", at, frames, 0)


def tone(frames):
    """Samples of a sine of 1 kHz."""
    return array.array("h", (int(12_000 * math.sin(2000 * math.pi * place / RATE)) for place in range(frames))).tobytes()


class Microphone:
    """A source of sound that is on time, from its attachment on until its session's camera goes."""

    def __init__(self, session):
        self.socket = attached(session)
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.play, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join(PATIENCE)
        self.socket.close()

    def play(self):
        begun, sent, frames = time.monotonic_ns(), 0, round(RATE * PACKET)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while not self.is_over.is_set():
                at = begun + sent * 1_000_000_000 // RATE
                if not self.is_over.wait(max(0.0, (at - time.monotonic_ns()) / 1e9 + PACKET)):
                    self.socket.send(head(at, frames) + tone(frames))
                    sent += frames

    def wait_for_end(self):
        """Until the other end is closed: nothing ever comes from there but that."""
        self.socket.settimeout(PATIENCE)
        assert self.socket.recv(1) == b""


@contextlib.contextmanager
def running(sound=True, **configuration):
    with Daemon() as daemon:
        yield daemon, *daemon.running("photos", usesAudio=sound, **configuration)


def recorded(session, file, seconds, beside=lambda: None):
    """Records for so long by the camera's clock; what was told of the end."""
    number = session.records(file)
    beside()
    pass_time(session, seconds)
    return session.finish(number)


def kinds(**names):
    """Kinds of metadata by their names, as an option."""
    return ("a{sv}", {name: ("s", kind) for name, kind in names.items()})


def append(session, kind, items, at=None):
    session.call("AppendMetadata", "sxas", kind, time.monotonic_ns() if at is None else at, items)


def pass_time(session, seconds):
    """Looks at the preview until so much has been captured: the camera's clock, and no other."""
    with contextlib.closing(session.stream()) as stream:
        first = None
        while True:
            frame = stream.read()
            assert frame is not None, "the stream ended"
            stream.release(frame)
            first = first or frame.timestamp
            if frame.timestamp - first >= seconds * 1e9:
                return frame.timestamp


def described(file):
    return probed(file, "-show_streams", "-show_format")


def tags(found):
    return {key.upper(): value for key, value in found["format"].get("tags", {}).items()}


def streams(found, kind):
    return [stream for stream in found["streams"] if stream["codec_type"] == kind]


def packets(file, stream):
    """(time, length, data) of a stream's packets, in seconds."""
    found = []
    for packet in probed(file, "-select_streams", stream, "-show_packets", "-show_data", complains=False)["packets"]:
        dump = packet.get("data", "")
        data = bytes.fromhex("".join(line[10:50] for line in dump.splitlines() if line))
        found.append((float(packet["pts_time"]), float(packet.get("duration_time", 0)), data))
    return found


def metadata(file):
    """The samples of each kind: {kind: [(time, length, items)]}."""
    found = {}
    for place, stream in enumerate(streams(described(file), "subtitle")):
        kind = {key.lower(): value for key, value in stream["tags"].items()}["title"]
        found[kind] = [(at, length, json.loads(data)["items"]) for at, length, data in packets(file, f"s:{place}")]
    return found


def sound_end(file):
    """When its last sample has played: the last packet may say of some of its samples that they are not to be played."""
    found = probed(file, "-select_streams", "a:0", "-show_packets", "-show_streams", complains=False)
    last = found["packets"][-1]
    unplayed = sum(data.get("discard_padding", 0) for data in last.get("side_data_list", ()))
    return float(last["pts_time"]) + float(last["duration_time"]) - unplayed / int(found["streams"][0]["sample_rate"])


def is_complete(marks, count, left_out):
    """No frame is missing but those that are told."""
    numbers = [mark[1] for mark in marks]
    assert numbers[-1] - numbers[0] + 1 == count + left_out, (numbers, count, left_out)


def picture_end(file):
    times = [at for at, _, _ in packets(file, "v:0")]
    return times[-1] + (times[-1] - times[0]) / (len(times) - 1)


def bit_rate(file):
    """Of the sound, in bits a second."""
    sound = packets(file, "a:0")
    return sum(len(data) for _, _, data in sound) * 8 / (sound[-1][0] + sound[-1][1] - sound[0][0])


@claim("a microphone is one end of a connected pair of packet sockets; everything else is refused by what it is, and a photo's file "
       "by that; its rate and channels are declared, and nothing else")
def descriptors():
    with running() as (daemon, _, session):
        reading, writing = os.pipe()
        stream, datagram, ours = pair(socket.SOCK_STREAM), pair(socket.SOCK_DGRAM), pair()
        for found, *words in (
                (os.open(daemon.directory / "file", os.O_RDWR | os.O_CREAT), "regular file"), (os.open("/dev/null", os.O_RDWR), "device"),
                (reading, "pipe"), (writing, "pipe"), (os.open(daemon.directory, os.O_RDONLY | os.O_DIRECTORY), "folder"),
                *((os.open(path, os.O_PATH), "O_PATH") for path in (daemon.directory, daemon.path)),
                (stream[0], "SOCK_STREAM"), (datagram[0], "SOCK_DGRAM"), (socket.socket(socket.AF_INET), "another family"),
                (socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET), "not connected"),
                (listening(daemon.directory / "listener", kind=socket.SOCK_SEQPACKET), "listens")):
            refused(lambda: attach(session, found), *words, "SOCK_SEQPACKET", error="UnsuitableFile")
            os.close(found) if isinstance(found, int) else found.close()
        for member in ("CapturePhoto", "StartRecording"):
            refused(lambda: session.call(member, "ha{sv}", ours[0], {}), "socket", error="UnsuitableFile")
        for options, *words in (({"sampleRate": ("u", RATE)}, "channels"), ({"channels": ("u", 1)}, "sampleRate")):
            refused(lambda: session.call("AttachMicrophone", "ha{sv}", ours[1], options), *words, error="InvalidValue")
        for options in ({"sampleRate": ("u", 7_999)}, {"sampleRate": ("s", "48 kHz")}, {"channels": ("u", 0)}, {"gain": ("d", 1.0)}):
            refused(lambda: attach(session, ours[1], **options), *options, error="InvalidValue")
        for rate in (8_000, 96_000):
            attached(session, rate).close()
        with Microphone(session):
            assert session.property("Running") is True


@claim("an unknown option, a limit of 0 and a maxBytes that holds no picture are refused in the answer, and the file is as it was")
def options():
    with running(sound=False) as (daemon, app, session):
        file = daemon.directory / "film.mkv"
        file.write_bytes(b"precious")
        wrong = (
            ({"maxSeconds": ("d", 1.0)}, "maxSeconds"),
            ({"maxDuration": ("d", 0.0)}, "maxDuration"), ({"maxDuration": ("d", -1.0)}, "maxDuration"),
            ({"maxDuration": ("d", math.nan)}, "maxDuration"), ({"maxDuration": ("s", "1")}, "maxDuration"),
            ({"maxBytes": ("t", 0)}, "maxBytes", "262144"), ({"maxBytes": ("t", 262_143)}, "maxBytes", "262144"),
            ({"minFreeBytes": ("t", 0)}, "minFreeBytes"),
            ({"codec": ("s", "av1")}, "codec", "h264", "mjpeg"),
            ({"bitRate": ("t", 99_999)}, "bitRate"), ({"bitRate": ("t", 200_000_001)}, "bitRate"),
            ({"metadata": ("s", "objects")}, "metadata"),
            ({"metadata": kinds(Weather="text")}, "Weather"), ({"metadata": kinds(orientation="text")}, "orientation"),
            ({"metadata": kinds(location="text")}, "location", "iso6709"),
            ({"metadata": kinds(weather="colour")}, "weather", "colour"),
            ({"metadata": ("a{sv}", {"weather": ("b", True)})}, "weather"),
            ({"metadata": kinds(**{f"own{i}": "text" for i in range(9)})}, "8"),
        )
        for given, *said in wrong:
            with open(file, "r+b") as opened:
                refused(lambda: session.call("StartRecording", "ha{sv}", opened, given), *said, error="InvalidValue")
        assert file.read_bytes() == b"precious", "the file was touched"
        app.is_not_told("RecordingStarted", "RecordingFinished")


@claim("metadata of an undeclared kind, a wrong form or a wrong time, over 64 KiB a group or 100 groups a second is refused")
def bad_metadata():
    with running(sound=False) as (daemon, _, session):
        before, hour = time.monotonic_ns(), 3_600_000_000_000
        file = daemon.directory / "film.mkv"
        session.records(file, metadata=kinds(location="iso6709", weather="text", degrees="number", orientation="orientation"))
        pass_time(session, 0.3)
        for kind, item in (
                ("mood", "good"), ("orientation", "1"), ("weather", "x" * 65_537),
                *(("location", item) for item in (
                    "here", "48.2,16.3", "+48.2+16.3", "+91+016/", "+48.2082+181.0/", "+48.2+016/+48.2+016/")),
                *(("degrees", item) for item in ("warm", "", "nan", "inf", "1e999", "0x10", "1,5"))):
            refused(lambda: append(session, kind, [item]), kind)
        for at in (before - hour, time.monotonic_ns() + hour):
            refused(lambda: append(session, "weather", ["x"], at), "outside the recording")
        now = time.monotonic_ns()
        append(session, "weather", ["fine"], now)
        refused(lambda: append(session, "weather", ["worse"], now - 1), "time")

        def flood():
            for _ in range(300):
                append(session, "degrees", ["20.5"])
        refused(flood, "100", error="LimitExceeded")
        # The session lives, and its file has what was taken.
        session.finish()
        found = metadata(file)
        assert [items for _, _, items in found["weather"]] == [["fine"]], found
        assert 1 <= len(found["degrees"]) <= 200 and not found["location"], found


@claim("a group of metadata of 64 KiB is taken, and one that no message holds costs nobody but its client")
def long_group():
    with running(sound=False) as (daemon, _, session):
        file = daemon.directory / "film.mkv"
        session.records(file, metadata=kinds(text="text"))
        pass_time(session, 0.2)
        append(session, "text", ["ä" * 32_000])
        pass_time(session, 0.2)
        session.finish()
        ((_, _, items),) = metadata(file)["text"]
        assert items == ["ä" * 32_000]
        other = daemon.app("notes")
        other.session()
        with contextlib.suppress(Exception):
            append(session, "text", ["x" * 200_000], 0)
        other.session()


def misuses(end):
    """What a microphone's other end may do while a recording runs."""
    packet, now = tone(960), time.monotonic_ns

    def backwards():
        begun = now()
        for place in (0, 1, -50):
            end.send(head(begun + place * 20_000_000, 960) + packet)

    def unstoppable():
        """As fast as it can, and far beyond real time."""
        until = now() + 1_000_000_000
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        end.settimeout(1.0)
        for place in itertools.count():
            end.send(head(now() + place * 20_000_000, 960) + packet)
            if now() > until:
                return

    def descriptor():
        with tempfile.TemporaryFile() as file:
            socket.send_fds(end, [head(now(), 960) + packet], [file.fileno()])

    return {"never": lambda: None, "odd": lambda: end.send(head(now(), 10) + b"\0" * 19), "backwards": backwards,
            "unstoppable": unstoppable, "descriptor": descriptor, "closes": end.close}


@claim("packets of odd length, times that run back, descriptors, a peer that never writes, never stops or closes: the session lives, "
       "its picture is whole, and one error is told")
def awkward():
    with running() as (daemon, app, session):
        file = daemon.directory / "film.mkv"
        for way in ("never", "odd", "backwards", "unstoppable", "descriptor", "closes"):
            end, seen = attached(session), len(app.signals)

            def misbehave():
                with contextlib.suppress(BrokenPipeError, ConnectionResetError, TimeoutError):
                    misuses(end)[way]()
            ended = recorded(session, file, 1.8, misbehave)
            end.close()
            count, seconds = played(file)
            assert ended[3] == "stopped" and count == ended[4] and seconds > 1.7, (way, count, seconds, ended)
            is_complete(recorded_marks(file), count, ended[8])
            # None waited for sound.
            times = [at for at, _, _ in packets(file, "v:0")]
            gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
            assert max(gaps) < 1, (way, max(gaps))
            app.poll()
            errors = [body[2:] for body in app.heard("RuntimeError", seen) if body[2] == "microphone"]
            assert len(errors) == 1, (way, errors)
        # And the next microphone is heard.
        with Microphone(session):
            recorded(session, file, 1.5)
            assert len(streams(described(file), "audio")) == 1 and bit_rate(file) > 30_000


@claim("both ends of a pair as microphones, an end of one's own preview, and one end twice harm nobody")
def crossed():
    with running() as (daemon, _, session):
        one, other = pair()
        (preview,) = session.call("OpenStream")
        for end in (os.dup(one.fileno()), one.detach(), other.detach(), preview.to_raw_fd()):
            with socket.socket(fileno=end) as found, contextlib.suppress(Refused):
                attach(session, found)
            pass_time(session, 0.2)
        with Microphone(session):
            recorded(session, daemon.directory / "film.mkv", 2.0)
        assert len(streams(described(daemon.directory / "film.mkv"), "audio")) == 1


def heard(file):
    """Where in the file its sound is first more than silence, in seconds; None: all of it is silent."""
    done = ran("ffmpeg", "-v", "error", "-i", file, "-map", "a:0", "-f", "s16le", "-", text=False)
    assert not done.stderr, f"ffmpeg of {file}: {done.stderr.decode()}"
    (sound,) = streams(described(file), "audio")
    # Half of a tone's 12,000; what AAC adds in front of it is less.
    first = next((place for place, value in enumerate(array.array("h", done.stdout)) if abs(value) > 6_000), None)
    return None if first is None else float(sound["start_time"]) + first / int(sound["sample_rate"])


def send_tone(end, begin, seconds):
    """Packets of a tone, captured from this moment on: at most a second ahead may be sent."""
    frames = round(RATE * PACKET)
    for place in range(round(seconds / PACKET)):
        end.send(head(begin + round(place * PACKET * 1e9), frames) + tone(frames))


@claim("a recording begins with its first picture, whether its microphone is early, late, or silent all the time; late sound has "
       "silence before it")
def beginnings():
    said = []
    for way, seconds in (("silent", 2.0), ("silent", 0.8), ("late", 2.0), ("early", 1.0)):
        with running() as (daemon, _, session):
            # A second of it, ahead of time by 0.3 s: so it is there before its picture, however slow this machine is.
            end = attached(session)
            file, begun = daemon.directory / "film.mkv", None
            if way == "early":
                send_tone(end, begun := time.monotonic_ns() - 100_000_000, 1.0)
            ordered = time.monotonic_ns()
            session.records(file)
            first = pass_time(session, 0)
            if way == "late":
                pass_time(session, 0.2)
                send_tone(end, begun := time.monotonic_ns() + 300_000_000, 0.5)
            last = pass_time(session, seconds)
            ended = session.finish()
            end.close()
            # Every frame from the first that was seen to the last is in it.
            found, (count, length) = described(file), played(file)
            told = tags(found)
            begin, frame = int(told["FIRST_CAPTURE"]), length / count
            assert ordered <= begin <= first and last <= ended[9] + frame * 2e9, (way, ordered, begin, first, last, ended)
            assert count == ended[4] and abs((ended[9] - begin) / 1e9 - (count + ended[8] - 1) * frame) < frame, (way, ended)
            assert length >= seconds, (way, length)
            is_complete(recorded_marks(file), count, ended[8])
            # Picture and sound begin at 0 and end together.
            starts = [float(streams(found, kind)[0]["start_time"]) for kind in ("video", "audio")]
            assert starts == [0, 0], (way, starts)
            assert abs(sound_end(file) - picture_end(file)) <= max(frame, 1024 / RATE), (way, sound_end(file), picture_end(file))
            at = heard(file)
            assert (at is None) == (way == "silent"), (way, at)
            if way != "silent":
                # Sound of before the file began is not in it; AAC's first packet is not, either.
                assert abs(at - max(0, begun - begin) / 1e9) < (0.005 if way == "late" else 0.025), (way, at, begun - begin)
            said.append(f"{way}: {count} frames, {length:.2f} s" + (f", heard at {at:.3f}" if at is not None else ""))
    return "; ".join(said)


@claim("as mp4 and mov a recording is what its name says, turned by a display matrix, with its sound in place; limits end it, and "
       "metadata is refused")
def file_types():
    said = []
    for kind, options in (
            ("mp4", {}), ("mov", {"codec": ("s", "mjpeg")}), ("mp4", {"maxBytes": ("t", 400_000)}),
            ("mov", {"maxDuration": ("d", 0.5)})):
        with running(videoOrientation="portrait") as (daemon, app, session):
            end = attached(session)
            file, options = daemon.directory / f"film.{kind}", {"fileType": ("s", kind), **options}
            refused(lambda: session.record(file, **options, metadata=kinds(location="iso6709")),
                    "metadata", "fileType", kind, "matroska", error="InvalidValue")
            number = session.records(file, **options)
            first = pass_time(session, 0)
            send_tone(end, begun := time.monotonic_ns() + 300_000_000, 0.5)
            if "maxBytes" not in options and "maxDuration" not in options:
                pass_time(session, 1.2)
                session.call("StopRecording")
            ended = app.wait("RecordingFinished", lambda body: body[2] == number)
            end.close()
            why = {"maxBytes": "size-limit", "maxDuration": "duration-limit"}.get(
                next((key for key in options if key.startswith("max")), ""), "stopped")
            assert ended[3] == why, ended
            found, (count, length) = described(file), played(file)
            assert count == ended[4] > 0 and ended[6] == file.stat().st_size, (count, ended)
            if why == "size-limit":
                assert ended[6] <= 400_000, ended
            # The header says what it is to every player.
            brand = found["format"]["tags"]["major_brand"].strip()
            assert file.read_bytes()[4:8] == b"ftyp" and (brand == "qt") == (kind == "mov"), brand
            (picture,), (sound,) = streams(found, "video"), streams(found, "audio")
            assert picture["codec_name"] == ("mjpeg" if "codec" in options else "h264"), picture
            (matrix,) = [data for data in picture["side_data_list"] if "rotation" in data]
            assert matrix["rotation"] in (-90, 90), matrix
            # So a player shows it turned, as a viewer would turn it by hand: -90 is clockwise.
            by_hand = f"transpose={'clock' if matrix['rotation'] == -90 else 'cclock'}"
            turned = [
                ran("ffmpeg", "-v", "error", *before, "-i", file, *after, "-frames:v", "2", "-map", "v:0", "-f", "md5", "-").stdout
                for before, after in (((), ()), (("-noautorotate",), ("-vf", by_hand)))]
            assert turned[0] == turned[1], turned
            assert float(picture["start_time"]) == 0 and float(sound["start_time"]) == 0, found["streams"]
            marks, times = recorded_marks(file), [at for at, _, _ in packets(file, "v:0")]
            begin = marks[0][0]
            # Each picture is where it was captured, however unevenly.
            apart = max(abs(at - (captured - begin) / 1e9) for at, (captured, _) in zip(times, marks, strict=True))
            assert apart < 0.001, (apart, times, marks)
            assert abs(sound_end(file) - picture_end(file)) <= max(length / count, 2 * 1024 / RATE), (sound_end(file), picture_end(file))
            said.append(f"{kind}, {picture['codec_name']}, {why}: {count} frames, {ended[6]} bytes")
            if why != "stopped":
                continue
            # And the tone is where it was captured, as in a Matroska file.
            late = heard(file) - (begun - begin) / 1e9
            assert begin <= first and abs(late) < 0.005, (late, begun - begin, first - begin)
            said[-1] += f", tone {late * 1000:.1f} ms late"
    return "; ".join(said)


@claim("SIGKILL of camrecorder, or of it, its writers and camarbd: an mp4 and a mov keep of what was written what a Matroska file "
       "keeps: all but what is torn",
       long="the torture kills recorder cores over all kinds of files, and Swift's tests cut them anywhere")
def killed_in_fragments():
    for (codec, has_sound), kind, everybody in itertools.product(
            (("h264", False), ("h264", True), ("mjpeg", True)), ("matroska", "mp4", "mov"), (False, True)):
        with running(sound=has_sound, frameRate=10.0) as (daemon, app, session):
            file, copy = daemon.directory / f"killed.{kind}", daemon.directory / f"copy.{kind}"
            end = attached(session) if has_sound else None
            session.records(file, fileType=("s", kind), codec=("s", codec))
            stream, sent, is_long = session.stream(), None, False
            # Sound ahead of its picture, which then does not wait for it; and no frame of before is left to be seen.
            for count in itertools.count(1):
                seen = stream.read()
                stream.release(seen)
                sent = sent or seen.timestamp
                while has_sound and sent < seen.timestamp + 600_000_000:
                    send_tone(end, sent, 0.1)
                    sent += 100_000_000
                assert count < 300, "the file does not grow"
                if count >= 20 and not is_long:
                    # Of a copy: the file itself has no end for ffprobe.
                    copy.write_bytes(file.read_bytes())
                    is_long = len(packets(copy, "v:0")) >= 10
                if is_long and not select.select([stream], [], [], 0)[0]:
                    break
            (recorder,) = daemon.recorders()
            processes = [recorder]
            if everybody:
                processes += [*children_of(recorder, "camwriter"), daemon.process.pid]
                daemon.ends = (-signal.SIGKILL,)
            copy.write_bytes(file.read_bytes())
            for process in processes:
                os.kill(process, signal.SIGKILL)
            if everybody:
                daemon.process.wait()
            else:
                ended = app.wait("RecordingFinished")
                count, seconds = played(file)
                assert ended[3] == "recorder-reset" and ended[4] == count > 0, (ended, count)
                assert ended[6] == file.stat().st_size, (ended, file.stat().st_size)
                assert has_sound or abs(seconds - ended[5] / 1e9) < 0.002, f"{seconds} s play, {ended[5] / 1e9} s were announced"
            marks, written = recorded_marks(file), recorded_marks(copy)
            # Where nobody completes a file, its last picture may be torn; and so may the copy's.
            if everybody and marks[-1] is None:
                marks.pop()
            if written[-1] is None:
                written.pop()
            assert None not in marks, (kind, codec, marks)
            whole = written[:-1]
            assert len(whole) >= 8 and marks[:len(whole)] == whole, (kind, codec, marks, written)


@claim("one recording rotated twice, located three times, paused once and cut by a call tells its story from the file alone")
def story():
    places = ["+48.2082+016.3738/", "+47.0707+015.4395/", "+46.6247+014.3053/"]
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(Daemon("ios9", cameras=("front=simulated:iphone6-front",)))
        shell, app = daemon.shell(), daemon.app("photos")
        shell.place("photos", "fullscreen", True)
        session = app.running(usesAudio=True)
        stack.enter_context(Microphone(session))
        file = daemon.directory / "film.mkv"
        number = session.records(file, metadata=kinds(orientation="orientation", location="iso6709"))
        pass_time(session, 1.2)
        for place, side in zip(places, ("portrait", "landscapeRight", None)):
            append(session, "location", [place])
            if side:
                session.configure(videoOrientation=side)
            pass_time(session, 0.5)
        session.call("PauseRecording")
        app.wait("RecordingPaused")
        paused = time.monotonic_ns()
        pass_time(session, 1.0)
        pause = (time.monotonic_ns() - paused) / 1e9
        session.call("ResumeRecording")
        app.wait("RecordingResumed")
        pass_time(session, 1.0)
        shell.call(SHELL, "TakeMicrophone", "s", "phone")
        cut = app.wait("WasInterrupted")
        assert cut[6] == number, cut
        ended = app.wait("RecordingFinished")
        shell.call(SHELL, "ReleaseMicrophone", "s", "phone")
        over = app.wait("InterruptionEnded")
        assert over[6] == number, over
        # From here on nothing but the file is asked.
        found, told = metadata(file), tags(described(file))
        turns = found["orientation"]
        # A front camera's pixels lie as landscapeLeft has them.
        assert [items for _, _, items in turns] == [[1], [6], [3]], turns
        assert [items for _, _, items in found["location"]] == [[place] for place in places], found
        assert all(a[0] + a[1] <= b[0] + 0.001 for a, b in zip(found["location"], found["location"][1:])), found
        assert told["LOCATION"] == places[0] and told["ORIENTATION"] == str(turns[0][2][0]), told
        assert told["ENDED"] == "interrupted" and told["CAUSE"] == "audio-device-in-use-by-another-client", told
        assert told["INTERRUPTER"] == "phone", told
        ((at, length),) = json.loads(told["PAUSES"])
        count, seconds = played(file)
        frame = seconds / count
        assert length / 1e9 >= pause - frame, (length, pause)
        # As long as what lies between the moments of two pictures, and not between their times: no frame lies between, and the times
        # go on.
        times, moments = [at for at, _, _ in packets(file, "v:0")], [mark[0] / 1e9 for mark in recorded_marks(file)]
        skipped = [b - a - (later - earlier) for a, b, earlier, later in zip(moments, moments[1:], times, times[1:])]
        assert abs(max(skipped) - length / 1e9) < 0.002, (max(skipped), length)
        assert sum(one > 0.002 for one in skipped) == 1, skipped
        around = [b - a for a, b in zip(times, times[1:]) if a <= at / 1e9 <= b + frame]
        assert around and max(around) < 3 * frame, (around, frame)
        captured = (int(told["LAST_CAPTURE"]) - int(told["FIRST_CAPTURE"]) - length) / 1e9
        assert abs(captured - times[-1] + times[0]) <= 2 * frame, (captured, times[-1], frame)
        # And what was told says the same.
        assert ended[8:12] == (int(told["FRAMES_LEFT_OUT"]), int(told["LAST_CAPTURE"]), told["CAUSE"], told["INTERRUPTER"]), ended
        assert abs(sound_end(file) - picture_end(file)) <= 2 * frame
        return f"{count} frames, a pause of {length / 1e9:.2f} s"


@claim("a recording that is paused outlives camarbd with its microphone: it goes on when its client says so, and so does the next")
def outlives():
    with Brokers() as brokers:
        holder = Holder(brokers, usesAudio=True)
        with Microphone(holder.session) as microphone:
            film, again = brokers.directory / "film.mkv", brokers.directory / "again.mkv"
            number = holder.session.record(film)
            pass_time(holder.session, 1.0)
            holder.session.call("PauseRecording")
            holder.app.wait("RecordingPaused")
            brokers.next()
            holder.reclaim()
            # It is said again, since this broker has said nothing of it yet.
            assert holder.app.wait("RecordingPaused")[2] == number
            refused(lambda: holder.session.call("PauseRecording"), "paused")
            holder.session.call("ResumeRecording")
            holder.app.wait("RecordingResumed")
            pass_time(holder.session, 1.0)
            holder.session.call("StopRecording")
            ended = holder.app.wait("RecordingFinished")
            count, seconds = played(film)
            assert ended[2:5] == (number, "stopped", count), ended
            told = tags(described(film))
            ((_, length),) = json.loads(told["PAUSES"])
            captured = (int(told["LAST_CAPTURE"]) - int(told["FIRST_CAPTURE"]) - length) / 1e9
            assert captured > 1.5 and abs(captured - seconds) <= 2 * seconds / count, (captured, seconds, length)
            assert abs(sound_end(film) - picture_end(film)) < 0.1, film
            recorded(holder.session, again, 1.5)
            assert len(streams(described(again), "audio")) == 1 and bit_rate(again) > 30_000
            holder.session.call("StopRunning")
            microphone.wait_for_end()
        holder.close()
        return f"{count} frames, {seconds:.2f} s"
