"""Brokers and recorder cores that lie, and mistakes of the program, do no harm."""
import contextlib, ctypes, errno, locale, os, re, resource, signal, socket, subprocess, tempfile, threading, time
from fractions import Fraction
from unittest import mock

import camarb
from app import App, refused, running
from camarb import EventType, State
from camarb._library import lib
from false_broker import SEALS, FalseBroker, buffer, cameras, format_, frame, memory, say
from harness import ROOT, Daemon, Skipped, claim, wait_until
from streams import streaming

NAN, INFINITE = float("nan"), float("inf")


@claim("a camera's formats have the names that the broker calls them, binned ones too, and no two have the same")
def format_names():
    with Daemon(cameras=("front=simulated", "back=simulated:iphone5-back")) as daemon, App(daemon.address) as app:
        app.client.watch_cameras().result()
        names = {camera.id: [known.name for known in camera.formats] for camera in app.client.cameras}
        assert all(len(set(listed)) == len(listed) for listed in names.values()), names
        assert any(known.is_binned and known.name.endswith(" binned") for known in app.client.cameras[1].formats), names
        for camera, listed in names.items():
            for name in listed:
                session = app.running(camera, pictures=False, activeFormat=name)
                # Another configuration than it was asked for would have another name.
                assert session.configuration["activeFormat"] == name, (name, session.configuration)
                session.close()
        return f"{sum(map(len, names.values()))} formats"


@claim("every key that docs/wire.md has can be found out, those of a camera and those of a configuration")
def keys():
    words, _ = (ROOT / "Sources/Core/Vocabulary/ConfigurationKey.swift").read_text().split("// Controls:")
    general = re.findall(r"^    case (\w+)$", words, re.M)
    assert "activeFormat" in general, general
    with Daemon() as daemon, App(daemon.address) as app:
        app.client.watch_cameras().result()
        camera = app.client.cameras[0]
        assert list(camera.keys[:len(general)]) == general, (camera.keys, general)
        assert camera.keys[len(general):] == tuple(control.key for control in camera.controls)
        wanted = {"activeFormat": camera.formats[0].name, "frameRate": 12.0, "videoMirrored": True}
        session = app.session("front", pictures=False, **wanted)
        assert session.configuration == wanted
        assert lib.camarb_camera_key(None, 0) is None and lib.camarb_configuration_key(None, 0) is None


@claim("rates that are none, and lists without end, do not come through to the program")
def lying_cameras():
    endless = [f"word {number}" for number in range(5000)]
    controls = [{"key": ("s", "brightness"), "usual": ("d", NAN), "least": ("d", -INFINITE), "most": ("d", INFINITE), "step": ("d", NAN)},
                {"key": ("s", "focusMode"), "usual": ("s", "locked"), "words": ("as", endless)}]
    formats = [format_(least=NAN, most=NAN), format_(most=INFINITE), format_(most=1e300), format_(least=-5.0, most=29.97),
               format_(width=4_000_000_000), format_(isBinned=("b", True), most=59.94), format_(isBinned=("s", "yes"))]
    with FalseBroker() as broker, App(broker.address) as app:
        broker.also["GetManagedObjects"] = cameras(formats, controls)
        app.client.watch_cameras().result()
        camera, = app.client.cameras
        rates = [(known.min_frame_rate, known.max_frame_rate) for known in camera.formats]
        assert rates == [(0, 0), (1, 0), (1, 1e6), (0, 29.97), (1, 30), (1, 59.94), (1, 30)], rates
        assert camera.formats[4].width == 0
        assert [known.name for known in camera.formats[3:6:2]] == ["420v 1280x720@29.97", "420v 1280x720@59.94 binned"]
        brightness, focus = camera.controls
        assert (brightness.usual, brightness.least, brightness.most, brightness.step) == (0, 0, 0, 0), brightness
        assert focus.words == tuple(endless[:64]) and camera.keys[-2:] == ("brightness", "focusMode"), camera.keys
        broker.also["GetManagedObjects"] = cameras([format_()] * 3000)
        broker.send_cameras_changed()
        app.wait(EventType.CAMERAS_CHANGED, lambda _: len(app.client.cameras[0].formats) == 1024)


@claim("a frame rate stands for the fraction that a camera has, and what is no rate for none")
def fractions():
    for rate, wanted in ((12.5, "25/2"), (7.5, "15/2"), (29.97, "30000/1001"), (30000 / 1001, "30000/1001"), (59.94, "60000/1001"),
                         (23.98, "24000/1001"), (119.88, "120000/1001"), (14.99, "15000/1001"), (30, "30"), (5, "5"), (1e6, "1000000"),
                         (8.33, "25/3"), (25 / 3, "25/3"), (16.67, "50/3"), (4.29, "30/7"), (7.13, "57/8"), (29.92, "748/25"), (0.01, "1/100"),
                         (0.5, "1/2"), (99.99, "9999/100"), (0, "0"), (-12.5, "0"), (0.001, "0"), (NAN, "0"), (-INFINITE, "0"),
                         (INFINITE, "1000000"), (1e300, "1000000"), (5e-324, "0")):
        found = camarb.frame_rate_fraction(rate)
        assert found == Fraction(wanted), f"{rate}: {found}, and not {wanted}"
    # Whatever a broker may say comes back as what it said.
    for hundredths in range(1, 30001):
        found = camarb.frame_rate_fraction(hundredths / 100)
        assert abs(found - Fraction(hundredths, 100)) <= Fraction(1, 200), (hundredths, found)
    lib.camarb_frame_rate_fraction(12.5, None, None)


@claim("a format's name has a point where the program's locale has a comma")
def locales():
    if not os.path.exists("/usr/share/i18n/locales/de_DE"):
        raise Skipped("there is no locale with a comma to be made (make/packages test installs what makes it)")
    with tempfile.TemporaryDirectory() as folder, FalseBroker() as broker, App(broker.address) as app:
        subprocess.run(["localedef", "--inputfile=de_DE", "--charmap=UTF-8", f"{folder}/de_DE.UTF-8"], check=True, timeout=60)
        # The C library looks there at each change of the locale.
        with mock.patch.dict(os.environ, LOCPATH=folder):
            locale.setlocale(locale.LC_NUMERIC, "de_DE.UTF-8")
            try:
                assert locale.localeconv()["decimal_point"] == ","
                broker.also["GetManagedObjects"] = cameras([format_(most=29.97)])
                app.client.watch_cameras().result()
                assert app.client.cameras[0].formats[0].name == "420v 1280x720@29.97"
            finally:
                locale.setlocale(locale.LC_NUMERIC, "C")


@claim("a frame was captured neither in the future nor before the clock began, whatever a recorder core says")
def lying_clocks():
    with streaming() as (broker, app, session, stream):
        say(stream, buffer(), memory(64 * 48 * 3 // 2))
        for said, sequence in ((-2 ** 63, 1), (2 ** 63 - 1, 2), (time.monotonic_ns() - 5, 3)):
            say(stream, frame(0, sequence, captured=said))
            with app.frame(session) as seen:
                assert 0 <= seen.captured <= time.monotonic_ns(), seen.captured
                assert seen.captured == (0 if said < 0 else said) or said > time.monotonic_ns()


@claim("memory of huge pages is not mapped, since a look at it may kill the program")
def huge_pages():
    try:
        huge = os.memfd_create("huge", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING | os.MFD_HUGETLB)
        os.ftruncate(huge, 2 << 20)
    except OSError as error:
        raise Skipped(f"this kernel gives no huge pages: {error.strerror}") from None
    import fcntl
    fcntl.fcntl(huge, fcntl.F_ADD_SEALS, SEALS)
    with streaming() as (broker, app, session, stream):
        say(stream, buffer(), huge)
        assert "not sealed" in app.wait(EventType.RUNTIME_ERROR).error
        assert session.state is State.RUNNING


@claim("a program that looks whether a picture is whole hears of other buffers first: they are announced before the old ones are blanked")
def other_buffers():
    with streaming() as (broker, app, session, stream):
        say(stream, buffer(0), memory(64 * 48 * 3 // 2))
        say(stream, frame(0, 1))
        held = app.frame(session)
        assert held.is_intact
        say(stream, buffer(1, width=128, stride=128), memory(128 * 48 * 3 // 2))
        assert not held.is_intact
        held.release()


@claim("what is no text is refused where it is said, and the connection goes on")
def no_text():
    with Daemon() as daemon, App(daemon.address) as app:
        for wrong in (b"caf\xe9", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"half \xe2\x82"):
            call = lib.camarb_client_declare_app(app.client._open(), wrong)
            assert call == -errno.EINVAL and "UTF-8" in app.client._sentence(), (wrong, call)
            assert not lib.camarb_session_new(app.client._open(), wrong, None) and "UTF-8" in app.client._sentence()
            made = lib.camarb_configuration_new()
            assert lib.camarb_configuration_set_word(made, b"activeFormat", wrong) == -errno.EINVAL
            assert lib.camarb_configuration_set_flag(made, wrong, True) == -errno.EINVAL
            lib.camarb_configuration_free(made)
        app.client.declare_app("Café 📷").result()
        app.frame(app.running()).release()


@claim("a broker that is not there, and an address that is none, are explained in a sentence")
def explained():
    def why(address, number):
        return refused(lambda: camarb.Client(address), number=number).sentence
    assert "camarbd has not been started" in why("/nonexistent/socket", errno.ENOENT)
    with FalseBroker() as broker:
        dead = broker.directory / "dead"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(str(dead))
        assert str(dead) in why(str(dead), errno.ECONNREFUSED)
    assert "“tcp:host=here” is not an address" in why("tcp:host=here", errno.EINVAL)
    assert "“unix:path=%00x” is not an address" in why("unix:path=%00x", errno.EINVAL)
    assert "of at most 107 bytes" in why("/" + "x" * 200, errno.EINVAL)
    # A small buffer gets the beginning.
    for room in (0, 1, 10):
        made, text = ctypes.c_void_p(1), ctypes.create_string_buffer(b"?" * 20, 20)
        assert lib.camarb_client_new_explained(ctypes.byref(made), b"/nonexistent/socket", text if room else None, room) == -errno.ENOENT
        assert made.value is None and text.raw[room:] == b"?" * (20 - room) and (not room or text.raw[room - 1] == 0)


@claim("a program with a quick timer is not kept waiting for a place in a broker's full queue")
def quick_timer():
    with FalseBroker() as broker, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, \
            socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as first:
        path = str(broker.directory / "full")
        listener.bind(path)
        listener.listen(0)
        first.connect(path)
        # Quicker than any wait in connect; what it would wait for comes after ten seconds.
        release = threading.Timer(10, listener.close)
        before = signal.signal(signal.SIGALRM, lambda *_: None)
        release.start()
        signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
        try:
            with App(path):
                pass
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            is_kept = not release.is_alive()
            release.cancel()
            signal.signal(signal.SIGALRM, before)
        assert not is_kept


@claim("a client whose descriptor the program has closed says so, and does not spin")
def closed_descriptor():
    with FalseBroker() as broker, App(broker.address) as app:
        app.settle()
        app.take()
        os.close(app.client.fileno())
        refused(lambda: app.client.wait(5), number=errno.EBADF)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        assert lib.camarb_client_wait(app.client._open(), 5 * 10 ** 9) == -errno.EBADF
        assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 1


@claim("a program that leaves a frame untaken hears of all else")
def frames_left():
    with streaming() as (broker, app, session, stream):
        say(stream, buffer(), memory(64 * 48 * 3 // 2))
        say(stream, frame(0, 1))
        wait_until("the frame", lambda: lib.camarb_client_wait(app.client._open(), 0) == 1)
        broker.tell("RampFinished", "d", 2.0)
        wait_until("the event", lambda: app.take() or "RAMP_FINISHED" in app.names())
        with app.frame(session) as seen:
            assert seen.sequence == 1


@claim("an answer is waited for in peace, also beside events that nobody has taken")
def peaceful():
    with streaming() as (broker, app, session, _):
        app.settle()
        broker.tell("RampFinished", "d", 2.0)
        broker.also["Configure"] = lambda *_: True
        begun, before = time.monotonic(), time.process_time()
        try:
            session.configure(frameRate=10).result(timeout=2)
        except TimeoutError as error:
            assert "no answer in time" in str(error)
        assert time.monotonic() - begun >= 2 and time.process_time() - before < 0.5, time.process_time() - before
        assert app.wait(EventType.RAMP_FINISHED).number == 2.0


@claim("a program that goes on listening after the last event hears at once that there is none")
def after_the_last():
    with streaming() as (broker, app, session, _):
        # One more than there is room for; the connection ends over it.
        with contextlib.suppress(OSError):
            for number in range(1100):
                broker.tell("RampFinished", "d", float(number))
                if number % 64 == 0:
                    app.settle()
        app.settle()
        assert [event.type for event in app.client][-1] is EventType.DISCONNECTED
        assert list(app.client.events()) == [] and list(session.frames()) == []


@claim("frames that Python's collector lets go of in another thread disturb nobody")
def collected_elsewhere():
    with running() as (_, app, session):
        thrown, is_over = [], threading.Event()

        def collect():
            while not is_over.wait(0.001):
                while thrown:
                    thrown.pop()
        thread = threading.Thread(target=collect)
        thread.start()
        try:
            for _ in range(60):
                thrown.append(app.frame(session))
        finally:
            is_over.set()
            thread.join()
        thrown.clear()
        assert app.client._frames == 0 and "RUNTIME_ERROR" not in app.names()
