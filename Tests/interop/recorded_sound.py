"""camclient's recordings with sound: a tone that beeps at each full second, a file, and the user's own microphone in PipeWire."""
import array, math, os, struct, wave

from camclient import camclient
from harness import Daemon, claim, played, ran, recorded_marks, wait_until
from microphone import SOURCE, Sound
from recordings_with_sound import bit_rate, described, packets, picture_end, sound_end, streams
from screen import needs

SECOND = 1_000_000_000


def samples(file, rate):
    """The sound of a file as ffmpeg plays it from the file's beginning, one channel, from -1 to 1."""
    return array.array("f", ran("ffmpeg", "-v", "error", "-i", file, "-map", "a:0", "-ac", "1", "-ar", rate, "-af", "aresample=async=0",
                                "-f", "f32le", "-", text=False).stdout)


def onsets(heard, rate, level, quiet=0.1):
    """When it becomes loud after some quiet, in seconds; not what is loud from the first."""
    found, last = [], -quiet if heard and abs(heard[0]) < level else 0.0
    for place, value in enumerate(heard):
        if abs(value) > level:
            if place / rate - last > quiet:
                found.append(place / rate)
            last = place / rate
    return found


def loudness(heard):
    return math.sqrt(sum(value * value for value in heard) / len(heard))


def record(daemon, file, microphone, seconds, variables=None):
    done = camclient(daemon, "record", file, "--microphone", microphone, "--duration", f"{seconds}s",
                     env={**os.environ, **(variables or {})})
    assert not done.stderr.strip(), done
    return file


def ends_together(file):
    assert abs(sound_end(file) - picture_end(file)) < 0.1, (sound_end(file), picture_end(file))


@claim("camclient's tone beeps at full seconds of the machine's clock, and in the file each is within 40 ms of the frame of that moment")
def tone():
    with Daemon() as daemon:
        file = record(daemon, daemon.directory / "tone.mkv", "tone", 5)
        (sound,) = streams(described(file), "audio")
        assert (sound["codec_name"], sound["sample_rate"], sound["channels"]) == ("aac", "48000", 1), sound
        assert abs(bit_rate(file) / 64_000 - 1) < 0.5, bit_rate(file)
        begin = float(packets(file, "a:0")[0][0])
        beeps = [begin + at for at in onsets(samples(file, 48_000), 48_000, 0.25)]
        # Each picture says when it was captured; its packet, when it is shown.
        shown = [(time, mark[0]) for (time, _, _), mark in zip(packets(file, "v:0"), recorded_marks(file))]
        first, last = shown[0][1], shown[-1][1]
        compared = []
        for moment in range(-(-first // SECOND) * SECOND, last, SECOND):
            time, captured = max((one for one in shown if one[1] <= moment), key=lambda one: one[1])
            flash = time + (moment - captured) / SECOND
            compared.append(min((beep - flash for beep in beeps), key=abs))
        print(f"  flash and beep are apart by {[round(off * 1000, 1) for off in compared]} ms")
        assert len(compared) >= 4 and all(abs(off) < 0.040 for off in compared), compared
        ends_together(file)


def write_wave(file, seconds, rate=16_000, channels=2, level=12_000):
    with wave.open(str(file), "wb") as out:
        out.setnchannels(channels)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(b"".join(
            struct.pack("<h", int(level * math.sin(2 * math.pi * 500 * at / rate))) * channels
            for at in range(int(seconds * rate))))
    return file


@claim("camclient records a WAV file's sound with its rate and channels from the recording's beginning, and silence when it has ended")
def wave_file():
    with Daemon() as daemon:
        sound = write_wave(daemon.directory / "sound.wav", seconds=1.5)
        file = record(daemon, daemon.directory / "film.mkv", sound, 3)
        (stream,) = streams(described(file), "audio")
        assert (stream["sample_rate"], stream["channels"]) == ("16000", 2), stream
        heard = samples(file, 16_000)
        assert loudness(heard[4_000:16_000]) > 0.15, loudness(heard[4_000:16_000])
        assert loudness(heard[32_000:44_000]) < 0.01, loudness(heard[32_000:44_000])
        ends_together(file)


@claim("what is no sound that camclient reads is refused in a sentence before the camera is asked, and no film is begun")
def no_sound():
    with Daemon() as daemon:
        folder = daemon.directory
        (folder / "text.wav").write_text("no sound")
        (folder / "cut.wav").write_bytes(write_wave(folder / "whole.wav", 0.1).read_bytes()[:30])
        write_wave(folder / "slow.wav", 0.1, rate=4_000)
        (folder / "float.wav").write_bytes(
            b"RIFF\x30\0\0\0WAVEfmt \x10\0\0\0" + struct.pack("<HHIIHH", 3, 1, 48_000, 192_000, 4, 32) + b"data\4\0\0\0\0\0\0\0")
        for name, *said in (("none.wav", "cannot be read"), ("text.wav", "not a WAV file", "pcm_s16le"), ("cut.wav", "cut off"),
                            ("slow.wav", "4000", "8000"), ("float.wav", "another form")):
            text = camclient(daemon, "record", folder / "film.mkv", "--microphone", folder / name, status=5).stderr
            assert all(word in text for word in said), text
        empty = {"XDG_RUNTIME_DIR": str(folder), "PIPEWIRE_RUNTIME_DIR": str(folder)}
        done = camclient(daemon, "record", folder / "film.mkv", "--microphone", "pipewire", status=1, env={**os.environ, **empty})
        assert "PipeWire does not run" in done.stderr, done
        assert not (folder / "film.mkv").exists()


@claim("camclient records what the user's microphone in PipeWire hears, without a gap, and ends sound with the picture")
def pipewire():
    needs("pw-play")
    with Sound() as sound, Daemon() as daemon:
        loop = write_wave(sound.directory / "loop.wav", seconds=60, rate=48_000, channels=1)
        sound.start("pw-play", "--target", "0", str(loop))
        wait_until("what the microphone is to hear", lambda: sound.state("pw-play"))
        sound.ask("pw-link", "pw-play:output_MONO", f"{SOURCE}:input_MONO")
        variables = {**sound.variables, "PIPEWIRE_RUNTIME_DIR": str(sound.directory)}
        file = record(daemon, daemon.directory / "film.mkv", "pipewire", 4, variables)
        (stream,) = streams(described(file), "audio")
        rate = int(stream["sample_rate"])
        heard = samples(file, rate)
        # Loud in each tenth of a second: nothing was taken for a gap.
        level = [loudness(heard[at:at + rate // 10]) for at in range(rate // 2, len(heard) - rate // 2, rate // 10)]
        assert len(level) >= 25 and min(level) > 0.5 * max(level) > 0.05, level
        ends_together(file)
        count, seconds = played(file)
        assert count > 60 and seconds > 3, (count, seconds)
