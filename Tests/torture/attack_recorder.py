"""Recorder cores that lie: about recordings, in numbers out of all bounds, in long texts, without end. And those that hang,
leave just when they are wanted, or are to write more into memory than they have."""
import contextlib, os, signal, struct, tempfile, time

import groups
from harness import PROGRAMS, SHELL, Daemon, Folder, is_there, played, refused, start_unheard, stopped, wait_until
from liar import Descriptor, Liars
from rows import MEMORY_MIB, Figure, attack, descriptors, frames_in, frames_of, latency, memory, neighbour, peak, row, until


def finished(why="stopped", frames=1):
    return lambda liar, grant, recording: liar.say("RecordingFinished", "tstxtxt", recording, why, frames, 1, 1, 1, 0)


def says(member, signature, *body):
    return lambda liar, *_: liar.say(member, signature, *body)


def a_long_signal(liar, *_):
    """As much as the broker takes of it: a message of 100 MB, in pieces."""
    liar.socket.sendall(struct.pack("<cBBBIII", b"l", 4, 1, 1, 100 << 20, 77, 0))
    for _ in range(100):
        liar.socket.sendall(b"x" * (1 << 20))


def a_signal_with_descriptors(liar, *_):
    """As many as one message may bring: nobody in the broker has a use for them, and nobody would close them."""
    reading, writing = map(Descriptor, os.pipe())
    with reading, writing:
        liar.say("RuntimeError", "ss" + "h" * 250, "code", "message", *([reading, writing] * 125))


def without_end(liar, *_):
    for _ in range(200_000):
        liar.say("RampFinished", "td", 0, 2.0)
        liar.say("DeviceChanged", "ss", "ok", "")


# Each is nonsense: the recorder core that says it is killed, and its session waits for another.
LIES = {
    # Each of the other numbers is RecorderNewsTests'.
    "2^64 - 1 frames": finished(frames=(1 << 64) - 1),
    "an end that there is not": finished(why="because"),
    "a zoom that is no number": says("RampFinished", "td", 1, float("nan")),
    "a state that there is not": says("DeviceChanged", "ss", "\x1b[2J" * 50_000, ""),
    "an error without its message": says("RuntimeError", "s", "code"),
    "a signal of 100 MB": a_long_signal,
    "a signal with 250 descriptors": a_signal_with_descriptors,
    "a header in pieces": lambda liar, *_: liar.socket.sendall(b"l\4\1\1"),
    "words without end": without_end,
}


def lied_to(liars):
    """A camarbd whose cameras all have recorder cores behind that socket; those of `front` lie."""
    return Daemon(cameras=("front=simulated", "back=simulated:iphone6-back"), extra=("--recorder", f"unix:{liars.path}"))


def recording(daemon, name="photos"):
    app, session = daemon.running(name)
    session.record(daemon.directory / "recording.mkv")
    return app, session


@row("recorder-lies", "a recorder core that lies is killed, and harms nobody but the session it had",
     f"{len(LIES)} lies: numbers beyond all bounds, a signal of 100 MB, words without end")
def recorder_lies():
    latencies, most, others, more = [], 0.0, 0, 0
    for what, lie in LIES.items():
        with Liars(lie) as liars, lied_to(liars) as daemon:
            bystander, _ = daemon.running("beside", "back")
            before = descriptors(daemon)
            calls = neighbour(daemon, 1)
            app, _ = recording(daemon)
            told = app.wait("WasInterrupted", patience=10)
            assert told[4] == "recorder-reset", (what, told)
            app.wait("DidStartRunning", patience=10)
            app.wait("RecordingFinished")
            bystander.poll()
            others += len(bystander.names()) - 1
            latencies.append(latency(calls.result(), "it, at its worst"))
            most = max(most, memory(daemon, "VmHWM"))
            more = max(more, descriptors(daemon) - before)
            assert daemon.log.read_text(errors="replace").count("said nonsense") == 1, (what, daemon.said())
    yield Figure("events of a session on another camera", others, most=0)
    # Those of the app that records, and of the recorder core that was started anew.
    yield Figure("camarbd's descriptors beyond those before, at most", more, most=40)
    yield max(latencies, key=lambda figure: figure.value)
    yield Figure("camarbd's memory at its peak", most, "MiB", most=MEMORY_MIB)


@row("recorder-complains", "at most eight errors of a recorder core a second reach its session, shortened, and then only their number",
     "200 runtime errors of 500,000 bytes, with control characters")
def recorder_complains():
    def lie(liar, *_):
        for number in range(200):
            liar.say("RuntimeError", "ss", "x" * 1000, f"\x1b[2J\n{number} " + "ü" * 250_000)

    with Liars(lie) as liars, lied_to(liars) as daemon:
        app, session = recording(daemon)
        app.wait("RuntimeError", where=lambda body: body[2] == "errors-left-out")
        told = app.heard("RuntimeError")
        texts = [body[3] for body in told]
        assert not any(letter < " " for text in texts for letter in text), texts
        session.stops()
        yield Figure("runtime errors that were told", len(told), most=24)
        yield Figure("the longest of them", max(len(text.encode()) for text in texts), "bytes", most=256)
        yield Figure("interruptions", app.names().count("WasInterrupted"), most=0)
        yield peak(daemon)


@row("recorder-refuses", "a recorder core's answer reaches a client as a sentence of at most a kilobyte",
     "a refusal of 100,000 bytes, and a signal that is glued to the authentication")
def recorder_refuses():
    with Liars(lambda *_: None) as liars, lied_to(liars) as daemon:
        _, session = daemon.running("photos")
        refusal = refused(lambda: session.call("OpenStream"), "no stream")
        yield Figure("the refusal", len(str(refusal).encode()), "bytes", most=1200)
    glued = struct.pack("<cBBBIII", b"l", 4, 1, 1, 100 << 20, 77, 0)
    with Liars(lambda *_: None, before=glued) as liars, lied_to(liars) as daemon:
        wait_until("the recorder core to be disbelieved", lambda: "said nonsense" in daemon.log.read_text())
        yield peak(daemon)


# How long a session may not know of a recorder core that hangs, and then its client of a recording's end, in milliseconds.
NOTICED_MS, FINISHED_MS = 3_000, 5_500


def program(folder, text):
    path = folder / "recorder"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def hang_over_recording(daemon, shell, stops):
    """SIGSTOP of a recorder core whose recording has run for a while. When its session heard of that, when the recording's end
    came after it, in milliseconds, whether the file plays as its end says, and whether the session ran again."""
    # As if nothing had failed before: else each further fault is waited for longer.
    for plugged in (False, True):
        shell.call(SHELL, "Plug", "sb", "front", plugged)
    # A file keeps the recording before until the first byte of the next.
    (daemon.directory / "recording.mkv").unlink(missing_ok=True)
    app, session = recording(daemon, "film")
    # The header and the room for an index have 70 KB and a frame 90 KB: less may be a first frame that is not whole.
    wait_until("some frames of the recording", lambda: os.path.getsize(daemon.directory / "recording.mkv") > 500_000)
    (core,) = daemon.recorders()
    os.kill(core, signal.SIGSTOP)
    begun = time.monotonic()
    if stops:
        session.call("StopRecording")
    assert app.wait("WasInterrupted", patience=30)[4] == "recorder-reset"
    told = time.monotonic()
    body = app.wait("RecordingFinished")
    ended = time.monotonic()
    frames, _ = played(daemon.directory / "recording.mkv")
    app.wait("DidStartRunning", patience=30)
    app.close()
    daemon.apps.remove(app)
    return (told - begun) * 1000, (ended - told) * 1000, frames > 0 and frames == body[4]


def frames_while(session, seconds):
    with contextlib.closing(session.stream()) as stream:
        return frames_in(seconds, stream)


@row("recorder-hangs", "a recorder core that stands still under a camera's only app is noticed, and no other for one",
     "SIGSTOP of recorder cores in their recordings, 30 times (4), a capture thread alone that stands still, and SIGSTOP of "
     "camarbd, with and without its recorder core, for 20 s (4 s)", (4, 4), (30, 20))
def recorder_hangs(load):
    count, still = load
    with Daemon() as daemon:
        shell = daemon.shell()
        told, ended, whole = zip(*(hang_over_recording(daemon, shell, stops=number % 2 == 1) for number in range(count)))
        yield Figure("the longest until its session heard of it", max(told), "ms", most=NOTICED_MS)
        yield Figure("the longest from there to its recording's end", max(ended), "ms", most=FINISHED_MS)
        yield Figure("recordings that play, with as many frames as their end said", sum(whole), f"of {count}", least=count)
        yield peak(daemon)
    with Folder() as directory:
        core = program(directory, f'exec "{PROGRAMS}/camrecorder" --fault capture-hangs "$@"')
        with Daemon(extra=("--recorder", core)) as daemon:
            app, session = daemon.running("film")
            *_, last = frames_of(session.stream())
            assert app.wait("WasInterrupted")[4] == "recorder-reset"
            yield Figure("from the last frame of a capture thread that stands still to the interruption",
                         (time.monotonic_ns() - last.timestamp) / 1e6, "ms", most=NOTICED_MS)
    with Daemon() as daemon:
        app, session = recording(daemon, "film")
        for what, beside in (("camarbd", []), ("camarbd and its recorder core", daemon.recorders())):
            with stopped(daemon.process.pid, *beside):
                time.sleep(still)
            # Longer than a recorder core that hangs is given.
            yield Figure(f"frames in 4 s after {what} stood still, at 30 a second", frames_while(session, 4), least=60)
        session.finish()
        yield Figure("interruptions", app.names().count("WasInterrupted"), most=0)
        killed = daemon.log.read_text(errors="replace").count("hangs while it streams")
        yield Figure("recorder cores that were killed", killed, most=0)


@attack("recorder-leaves", "an app that starts in the moment in which its recorder core leaves notices nothing",
        "30 starts (3) that lie in camarbd's socket while the idle recorder core ends", 3, 30)
def recorder_leaves(daemon, count):
    early = 0
    app = daemon.app("photos")
    session = app.session()
    for number in range(count):
        wait_until("a recorder core", daemon.recorders)
        (core,) = daemon.recorders()
        start_unheard(daemon, session, lambda: not is_there(core))
        app.wait("DidStartRunning")
        early += daemon.recorders() != [core]
        session.stops()
    told = app.names()
    yield Figure("starts in that moment", early, f"of {count}", least=count)
    yield Figure("events of the session, two a start", len(told), most=2 * count, least=2 * count)
    yield Figure("interruptions", told.count("WasInterrupted"), most=0)
    yield peak(daemon)


@row("files-in-memory", "recordings into memory end as on a full disk before they take what their camera needs",
     "a recording into a tmpfs and then one into a memory file, each until it ends by itself, with a recorder core that may have "
     "300 MiB of memory, and then one to a disk")
def files_in_memory():
    limit = 300 << 20
    with Folder() as directory, groups.of_memory(limit) as group:
        core = program(directory, f'echo $$ > "{group}/cgroup.procs" || exit 1\nexec "{PROGRAMS}/camrecorder" "$@"')
        # In memory in any case; it goes with its last descriptor.
        kept = [tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="camarb-torture."), os.fdopen(os.memfd_create("film"), "w+b")]
        with Daemon(extra=("--recorder", core)) as daemon:
            app, session = daemon.running("film")
            stream = session.stream()
            whys, played_whole, written = [], 0, 0
            for file in kept:
                session.call("StartRecording", "ha{sv}", file, {"codec": ("s", "mjpeg"), "bitRate": ("t", 200_000_000)})
                app.wait("RecordingStarted")
                for _ in until(60):
                    if app.names().count("RecordingFinished") > len(whys):
                        break
                    stream.release(stream.read())
                    app.poll()
                body = app.wait("RecordingFinished", patience=1)
                whys.append(body[3])
                written += body[6]
                played_whole += played(f"/proc/{os.getpid()}/fd/{file.fileno()}")[0] == body[4] > 0
            after = frames_while(session, 3)
            session.records(daemon.directory / "disk.mkv")
            frames_while(session, 1)
            on_disk = session.finish()[3]
            yield Figure("recordings into memory that ended as disk-full", whys.count("disk-full"), "of 2", least=2)
            yield Figure("of them play, with as many frames as their end said", played_whole, "of 2", least=2)
            yield Figure("what they took", written / (1 << 20), "MiB", most=limit / 2 / (1 << 20))
            yield Figure("frames in 3 s afterwards, at 30 a second", after, least=60)
            yield Figure("recordings to a disk that went on then", int(on_disk == "stopped"), "of 1", least=1)
            yield Figure("interruptions", app.names().count("WasInterrupted"), most=0)
            yield Figure("processes that the kernel killed for want of memory", groups.killed_for_memory(group), most=0)
        for file in kept:
            file.close()
