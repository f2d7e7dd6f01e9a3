"""Clients, sessions, frames and events as Python has them. `camarb` says how they are used."""
import contextlib, enum, errno, os, select, time, weakref
from ctypes import byref, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint32, c_uint64, c_uint8, c_void_p, create_string_buffer
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from ._library import Point as LibraryPoint
from ._library import Preview as LibraryPreview
from ._library import Slate as LibrarySlate
from ._library import lib

if TYPE_CHECKING:
    import numpy

# A sequence is a point's two numbers, or gains' three.
Setting = Union[str, float, bool, Sequence[float]]
# The most numbers that one value has.
NUMBERS_MAX = 3

# CAMARB_EVENT_…, CAMARB_STATE and CAMARB_SLATE_… of camarb.h.
EventType = enum.IntEnum("EventType", [
    "ANSWERED", "CAMERAS_CHANGED", "DISCONNECTED", "WILL_BE_INTERRUPTED", "INTERRUPTION_WITHDRAWN", "WAS_INTERRUPTED",
    "INTERRUPTION_CHANGED", "INTERRUPTION_ENDED", "DID_START_RUNNING", "DID_STOP_RUNNING", "ACCESS_CHANGED", "SHARERS_CHANGED",
    "SESSION_STOPPED", "RECORDING_STARTED", "RECORDING_FINISHED", "PHOTO_CAPTURED", "CONFIGURATION_APPLIED", "RAMP_FINISHED",
    "RUNTIME_ERROR", "ENDED", "CONNECTIONS_FORMED", "CAMERA_STATE_CHANGED", "RECORDING_PAUSED", "RECORDING_RESUMED"])
EventType.__doc__ = """The types of events with the fields that each of them sets. All but the first three are of a session.

ANSWERED: call, value; error and error_name where it was refused.
CAMERAS_CHANGED: `Client.cameras` are others now.
DISCONNECTED: error. The client has ended; the last of its events.
WILL_BE_INTERRUPTED: interruption, reason, deadline, rule, message.
INTERRUPTION_WITHDRAWN: interruption.
WAS_INTERRUPTED: interruption, causes, reason, interrupter, recording (the one that was cut, or 0), rule, message.
INTERRUPTION_CHANGED: interruption, causes, reason, interrupter, rule, message.
INTERRUPTION_ENDED: interruption, causes, duration, will_resume, recording (the one that it cut, or 0).
DID_START_RUNNING: grant.
DID_STOP_RUNNING: no frame is captured for the session any more.
ACCESS_CHANGED: access, causes, rule, message, controller.
SHARERS_CHANGED: sharers.
SESSION_STOPPED: reason, rule, message.
RECORDING_STARTED: recording.
RECORDING_FINISHED: recording, reason (why), frames, duration, bytes, next_chance, frames_left_out, last_capture; cause and interrupter
    where it was cut.
PHOTO_CAPTURED: photo, width, height, bytes, metadata; error where it is not whole.
CONFIGURATION_APPLIED: asked, in_force, by.
RAMP_FINISHED: number, the videoZoomFactor.
RUNTIME_ERROR: error_name (a code), error.
ENDED: error, error_name. The session is over; the last of its events.
CONNECTIONS_FORMED: camera, reopen. The session was switched to this camera; pictures come again by themselves.
CAMERA_STATE_CHANGED: in_force, what the camera says of itself and is not as it was told last.
RECORDING_PAUSED, RECORDING_RESUMED: recording.
"""
State = enum.IntEnum("State", ["STOPPED", "STARTING", "RUNNING", "INTERRUPTED", "ENDED"], start=0)
SlateKind = enum.IntEnum("SlateKind", ["WAITING", "INTERRUPTED", "SWITCHED_OFF", "NO_ACCESS", "NO_BROKER"], start=0)

# The figures of a recording whose broker or recorder core was lost.
UNKNOWN = (("frames", 2**64 - 1), ("bytes", 2**64 - 1), ("duration", -1))

# D-Bus's customary time for an answer, in seconds.
CALL_TIME_MAX = 25.0


def version() -> str:
    """The version of the library, as in "0.1.0": that of camarb, with which it is released."""
    return lib.camarb_version().decode()


class Error(OSError):
    """A refusal or a fault. `sentence` has the wrong value and the allowed ones; `name` is D-Bus's name of the error where the broker
    gave one ("org.camarb.Error.…"), else ""; `errno` its number."""

    def __init__(self, number: int, sentence: str, name: str = ""):
        super().__init__(abs(number), sentence)
        self.name, self.sentence = name, sentence

    def __str__(self):
        return self.sentence


def _text(text: Optional[bytes]) -> str:
    return text.decode(errors="replace") if text else ""


def _texts(list_) -> Tuple[str, ...]:
    texts = []
    while list_ and list_[len(texts)] is not None:
        texts.append(_text(list_[len(texts)]))
    return tuple(texts)


# ── Configurations ──


@contextlib.contextmanager
def _configuration(settings: Mapping[str, Setting]):
    """The library's form of some settings, for as long as it is needed."""
    made = lib.camarb_configuration_new()
    if not made:
        raise MemoryError
    try:
        for key, value in settings.items():
            name = key.encode()
            if isinstance(value, bool):
                result = lib.camarb_configuration_set_flag(made, name, value)
            elif isinstance(value, str):
                result = lib.camarb_configuration_set_word(made, name, value.encode())
            elif isinstance(value, Sequence):
                numbers = (c_double * len(value))(*value)
                result = lib.camarb_configuration_set_numbers(made, name, numbers, len(value))
            else:
                result = lib.camarb_configuration_set_number(made, name, float(value))
            if result < 0:
                raise Error(
                    result, f"{key} cannot be {value!r}; it takes a word, a finite number, two or three of them, True or False.")
        yield made
    finally:
        lib.camarb_configuration_free(made)


def _settings(configuration: Optional[int]) -> dict:
    """The keys and values of one of the library's configurations."""
    settings = {}
    numbers = (c_double * NUMBERS_MAX)()
    while name := lib.camarb_configuration_key(configuration, len(settings)):
        key, number, flag = _text(name), c_double(), c_bool()
        word = lib.camarb_configuration_word(configuration, name)
        if word is not None:
            settings[key] = _text(word)
        elif lib.camarb_configuration_number(configuration, name, byref(number)) == 0:
            settings[key] = number.value
        elif (count := lib.camarb_configuration_numbers(configuration, name, numbers, NUMBERS_MAX)) > 0:
            settings[key] = tuple(numbers[:count])
        else:
            lib.camarb_configuration_flag(configuration, name, byref(flag))
            settings[key] = flag.value
    return settings


@contextlib.contextmanager
def _descriptors(files: Sequence):
    """The descriptors of files, of which those that are paths are open for as long as they are needed."""
    with contextlib.ExitStack() as opened:
        descriptors = []
        for file in files:
            if isinstance(file, (str, bytes, os.PathLike)):
                # The recorder core cuts the file when it begins to write: a refused call changes nothing.
                descriptors.append(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666))
                opened.callback(os.close, descriptors[-1])
            else:
                descriptors.append(file if isinstance(file, int) else file.fileno())
        yield descriptors


# ── What is told ──


@dataclass(frozen=True)
class Event:
    """An event. `EventType` lists the fields that each type sets; the others are 0, "", () or None."""

    type: EventType
    session: Optional["Session"]
    sequence: int
    """Of the session, from 1 and without a gap, over a broker's end too."""
    decision: int
    """For `camclient explain`; 0: the library's own."""
    call: int
    value: int
    interruption: int
    recording: int
    photo: int
    grant: int
    frames: Optional[int]
    bytes: Optional[int]
    """Of a recording, None: nobody has counted what is in its file, which may have frames."""
    deadline: int
    """Nanoseconds of time.monotonic_ns()."""
    duration: Optional[int]
    """Nanoseconds. Of a recording, None: not known."""
    width: int
    height: int
    will_resume: bool
    number: float
    reason: str
    interrupter: str
    rule: str
    next_chance: str
    by: str
    error: str
    error_name: str
    causes: Tuple[str, ...]
    """The reason first."""
    access: Tuple[str, ...]
    sharers: Tuple[str, ...]
    asked: Optional[dict]
    in_force: Optional[dict]
    camera: str
    reopen: Tuple[str, ...]
    metadata: Optional[dict]
    """How a photo was taken."""
    frames_left_out: int
    """That a recording could not keep up with."""
    last_capture: int
    """Nanoseconds of time.monotonic_ns(): when the last frame of a recording was captured."""
    cause: str
    """The cause of a recording's cut, a word as in `causes`."""
    message: str
    """Of an interruption, a stop or an access: the policy's own words for the person in front of the program."""
    controller: str
    """Of an access: the app that controls the shared camera, where that is not the session itself."""


@dataclass(frozen=True)
class Format:
    """One way a camera can deliver frames. Sides are pixels, rates frames a second, field_of_view degrees across, ISO ISO 12232's,
    exposure durations seconds. activeFormat takes `name`; zoom_upscale_threshold is the zoom up to which no pixel is made up;
    high_resolution_still_… is the size of a photo with the key highResolutionStillImageOutputEnabled; auto_focus_system is "contrast",
    "phase" or ""; video_stabilization_modes are those beside "off"; `assumed` names the facts that nobody has published or measured.
    Numbers that are not known are 0."""

    pixel_format: str
    width: int
    height: int
    min_frame_rate: float
    max_frame_rate: float
    max_zoom_factor: float
    name: str
    is_binned: bool
    zoom_upscale_threshold: float
    field_of_view: float
    high_resolution_still_width: int
    high_resolution_still_height: int
    auto_focus_system: str
    min_iso: float
    max_iso: float
    min_exposure_duration: float
    max_exposure_duration: float
    video_hdr_supported: bool
    video_stabilization_modes: Tuple[str, ...]
    assumed: Tuple[str, ...]


@dataclass(frozen=True)
class Control:
    """Something that can be set on a camera: a number from `least` to `most`, one of `words`, or where `usual` is a tuple as many
    numbers from `least` to `most`: a point's two, or gains' three."""

    key: str
    usual: Union[float, str, tuple]
    least: float
    most: float
    step: float
    words: Tuple[str, ...]


@dataclass(frozen=True)
class Camera:
    """A camera. holder: "" is nobody. keys: of a configuration for it, its controls last. default_format_index: the place in `formats`
    of the one that a session has which sets none. sensor_width and sensor_height: pixels, 0 where they are not known. generation grows
    each time the camera appears. metadata_object_types: the objects that it finds in its pictures."""

    id: str
    name: str
    position: str
    holder: str
    is_present: bool
    formats: Tuple[Format, ...]
    controls: Tuple[Control, ...]
    keys: Tuple[str, ...]
    default_format_index: int
    sensor_width: int
    sensor_height: int
    generation: int
    metadata_object_types: Tuple[str, ...]


@dataclass(frozen=True)
class Slate:
    """The picture in a camera's place while the camera is away."""

    kind: SlateKind
    camera: str
    reason: str
    interrupter: str
    message: str
    """The policy's own words for the person in front of the program, in the place of the reason's sentence."""


def frame_rate_fraction(rate: float) -> Fraction:
    """The fraction that a frame rate stands for: 25/2 for 12.5, 30000/1001 for 29.97; 0 where it is no rate."""
    frames, seconds = c_uint32(), c_uint32()
    lib.camarb_frame_rate_fraction(rate, byref(frames), byref(seconds))
    return Fraction(frames.value, seconds.value)


def _fields(of, *told) -> list:
    """The values of a data class's fields, from the library's structures that have them."""
    values = []
    for name in of.__dataclass_fields__:
        value = getattr(next(one for one in told if hasattr(one, name)), name)
        values.append(_text(value) if isinstance(value, bytes) else value if isinstance(value, (int, float)) else _texts(value))
    return values


def _camera(camera) -> Camera:
    facts = [lib.camarb_camera_format_facts(byref(camera), index).contents for index in range(camera.format_count)]
    formats = tuple(Format(*_fields(Format, *one)) for one in zip(camera.formats[:camera.format_count], facts))
    controls = tuple(
        Control(_text(c.key), _text(c.usual_word) or tuple(c.usual_numbers[:c.usual_number_count]) or c.usual, c.least, c.most, c.step,
                _texts(c.words))
        for c in camera.controls[:camera.control_count])
    keys = []
    while key := lib.camarb_camera_key(byref(camera), len(keys)):
        keys.append(_text(key))
    return Camera(_text(camera.id), _text(camera.name), _text(camera.position), _text(camera.holder), camera.is_present, formats,
                  controls, tuple(keys), camera.default_format_index, camera.sensor_width, camera.sensor_height, camera.generation,
                  _texts(lib.camarb_camera_metadata_object_types(byref(camera))))


# ── Geometry ──


class Preview:
    """The place of a camera's picture in a view (AVCaptureVideoPreviewLayer): x, y, width, height, in the view's unit, from its top left,
    and exif_orientation, 1 to 8, by which the view shows the sensor's pixels.

    stream, view: width and height. orientation: a videoOrientation; position: the camera's; gravity: "resize", "resizeAspect" or
    "resizeAspectFill". is_mirrored: whether left and right are exchanged in the view; None: as usual, for a front camera.
    Raises Error where a side is not above 0 or a word is not known."""

    def __init__(self, stream: Tuple[float, float], view: Tuple[float, float], orientation: str, position: str,
                 gravity: str = "resizeAspect", is_mirrored: Optional[bool] = None):
        self._preview = LibraryPreview()
        mirrored = -1 if is_mirrored is None else int(is_mirrored)
        result = lib.camarb_preview_place(
            byref(self._preview), *stream, *view, gravity.encode(), orientation.encode(), position.encode(), mirrored)
        if result < 0:
            raise Error(result, f"A picture of {stream} has no place in a view of {view} with {orientation!r}, {gravity!r}.")
        for name in ("x", "y", "width", "height", "exif_orientation"):
            setattr(self, name, getattr(self._preview, name))

    def device_point(self, x: float, y: float) -> Tuple[float, float]:
        """The point of the sensor that is seen at a point of the view, as focusPointOfInterest takes it."""
        point = lib.camarb_preview_device_point(byref(self._preview), LibraryPoint(x, y))
        return point.x, point.y

    def view_point(self, x: float, y: float) -> Tuple[float, float]:
        """The point of the view at which a point of the sensor is seen."""
        point = lib.camarb_preview_view_point(byref(self._preview), LibraryPoint(x, y))
        return point.x, point.y


def video_orientation(device_orientation: str, last: str = "portrait") -> str:
    """The videoOrientation of a device that is held so; "faceUp", "faceDown" and "unknown" leave the last one."""
    return _text(lib.camarb_video_orientation(device_orientation.encode(), last.encode()))


def device_orientation(video_orientation: str) -> str:
    """How a device is held that has this videoOrientation."""
    return _text(lib.camarb_device_orientation(video_orientation.encode()))


def orientation_angle(video_orientation: str) -> float:
    """Radians from portrait, clockwise where y grows downwards; NaN for another word."""
    return lib.camarb_orientation_angle(video_orientation.encode())


def orientation_file_angle(video_orientation: str, position: str, reference: str = "portrait") -> float:
    """Radians by which a file's pixels are turned to be seen upright, clockwise where y grows downwards; NaN for another word."""
    return lib.camarb_orientation_file_angle(video_orientation.encode(), position.encode(), reference.encode())


def orientation_exif(video_orientation: str, position: str, is_mirrored: bool = False) -> int:
    """The Exif orientation (1 to 8) that shows a camera's pixels upright; 0 for another word."""
    return lib.camarb_orientation_exif(video_orientation.encode(), position.encode(), is_mirrored)


# ── Calls ──


class Call:
    """Something that was asked. Its answer comes as an event of type ANSWERED, unless somebody waits for it here."""

    def __init__(self, client: "Client", number: int):
        self._client, self.number = client, number

    def result(self, timeout: Optional[float] = None) -> int:
        """Waits for the answer, at most `timeout` seconds (None: D-Bus's customary 25), and gives what it is, such as the number
        of a photo. Events that come meanwhile are kept.
        Raises Error where it was refused, and TimeoutError where there was no answer; then it may be waited for again."""
        value, until = c_uint64(), self._client._until(CALL_TIME_MAX if timeout is None else timeout)
        while (result := lib.camarb_call_finish(self._client._open(), self.number, 0, byref(value))) == -errno.ETIME:
            sentence = self._client._sentence()
            if not self._client._sleep(until) and time.monotonic() >= until:
                raise TimeoutError(sentence)
        self._client._check(result)
        return value.value


# ── Frames ──


class Frame:
    """A picture in memory that another process owns. Two of a session may be held at once; a program that holds more gets none.

    `planes` are memoryviews: Y, and half as high, CbCr interleaved; `strides` bytes from one row to the next. The memory goes back
    when the frame is released, by `release` or at the end of a `with`, and nobody has a view of it any more."""

    def __init__(self, client: "Client", pointer: int):
        picture = lib.camarb_frame_picture(pointer).contents
        self.width: int = picture.width
        self.height: int = picture.height
        self.pixel_format: str = _text(picture.pixel_format)
        self.strides = tuple(picture.strides[:picture.plane_count])
        self.sequence: int = picture.sequence
        """From 1 in each grant; a gap is frames that were dropped since nobody released theirs."""
        self.grant: int = picture.grant
        self.captured: int = picture.captured
        """Nanoseconds of time.monotonic_ns()."""
        self.configuration_changed = bool(picture.flags & 1)
        """The first one of another configuration."""
        self.is_slate = bool(picture.flags & 2)
        """Not what the camera sees."""
        is_dmabuf = bool(picture.flags & 0x10000)
        self.dmabuf: Optional[int] = picture.dmabuf if is_dmabuf else None
        """The descriptor of the DMA buffer that has the planes, for reading only; None: they are ordinary memory. It is valid until the
        frame's release; `os.dup` keeps it longer."""
        self.offsets: Tuple[int, ...] = tuple(picture.offsets[:picture.plane_count]) if is_dmabuf else ()
        """The byte of that buffer at which each plane begins."""
        self.modifier: int = picture.modifier
        """The buffer's layout, a DRM_FORMAT_MOD_…; 0 is linear."""
        rows = [self.height, self.height // 2]
        bytes_ = sum(stride * row for stride, row in zip(self.strides, rows))
        memory = (c_uint8 * bytes_).from_address(picture.planes[0])
        # Slices and arrays keep this object, whoever has them: it goes, and the frame with it, when nobody looks any more.
        self._release = weakref.finalize(memory, client._release_frame, pointer)
        self._release.atexit = False
        client._frames += 1
        self._pointer = pointer
        whole = memoryview(memory).toreadonly().cast("B")
        luma = self.strides[0] * self.height
        self.planes = (whole[:luma], whole[luma:])

    def array(self) -> "Tuple[numpy.ndarray, numpy.ndarray]":
        """The planes as numpy arrays, without a copy: Y of height × width, CbCr of height/2 × width/2 × 2. Needs numpy."""
        import numpy
        luma = numpy.frombuffer(self.planes[0], numpy.uint8).reshape(self.height, self.strides[0])[:, :self.width]
        chroma = numpy.frombuffer(self.planes[1], numpy.uint8).reshape(self.height // 2, self.strides[1])[:, :self.width]
        return luma, chroma.reshape(self.height // 2, self.width // 2, 2)

    @property
    def is_intact(self) -> bool:
        """False: the camera has been taken away, and the picture is or is just being blanked. To be asked after a picture was
        copied: what was copied before a true answer is whole."""
        return self._release.alive and lib.camarb_frame_is_intact(self._pointer)

    def release(self) -> None:
        """Gives the memory back, as soon as nobody has a view of it. `planes` is empty afterwards."""
        self.planes = ()

    def __enter__(self) -> "Frame":
        return self

    def __exit__(self, *_) -> None:
        self.release()


# ── Sessions ──


class Session:
    """A capture session, stopped at first. `Client.session` makes it; it ends with `close`, or at the end of a `with`."""

    def __init__(self, client: "Client", pointer: int):
        self.client, self._pointer = client, pointer
        self._pictures = False

    def _open(self) -> int:
        if not self._pointer:
            raise Error(-errno.EBADF, "The session was closed by this program.")
        return self._pointer

    def _ask(self, function, *arguments) -> Call:
        return self.client._call(function(self._open(), *arguments))

    def start(self) -> Call:
        """Asks to run. Interrupted at once, and no error, while causes leave no access."""
        return self._ask(lib.camarb_session_start)

    def stop(self) -> Call:
        """Takes the start request back."""
        return self._ask(lib.camarb_session_stop)

    def configure(self, batch: Optional[Mapping[str, Setting]] = None, **settings: Setting) -> Call:
        """Sets keys as a whole or not at all; at once while the session may configure, else when it runs:
        `session.configure(activeFormat="420v 1280x720", frameRate=10)`. The answer says that the batch was taken; it is in force, and in
        `configuration`, with CONFIGURATION_APPLIED."""
        with _configuration({**(batch or {}), **settings}) as configuration:
            return self._ask(lib.camarb_session_configure, configuration)

    def check_configuration(self, batch: Optional[Mapping[str, Setting]] = None, **settings: Setting) -> Call:
        """Is answered as `configure` would be at this moment, refusal and sentence alike, and sets nothing."""
        with _configuration({**(batch or {}), **settings}) as configuration:
            return self._ask(lib.camarb_session_check_configuration, configuration)

    def ready(self, interruption: int) -> Call:
        """Answers WILL_BE_INTERRUPTED: the camera may go before the deadline."""
        return self._ask(lib.camarb_session_ready, interruption)

    def resume(self) -> Call:
        """Clears the one cause that is the client's own to clear, sensitive-content-mitigation-activated: `Continue` on the wire."""
        return self._ask(lib.camarb_session_continue)

    def _ask_with_file(self, function, file, options) -> Call:
        with _configuration(options) as configuration, _descriptors([file]) as (descriptor,):
            return self._ask(function, descriptor, configuration)

    def capture_photo(self, file, **options: Setting) -> Call:
        """Takes a photo into a file: a path, or what is open for reading and writing and not for appending. What was in the file
        is replaced, unless the call is refused. The result is the photo's number; PHOTO_CAPTURED says when the file is whole."""
        return self._ask_with_file(lib.camarb_session_capture_photo, file, options)

    def capture_bracket(self, files: Sequence, biases: Optional[Sequence[float]] = None, durations: Optional[Sequence[float]] = None,
                        isos: Optional[Sequence[float]] = None) -> Call:
        """Takes photos of consecutive frames into as many files (1 to 8), as capture_photo takes one. Each has its exposure: `biases` in
        exposure values, or `durations` in seconds together with `isos`. The result is the first photo's number, which the others'
        follow; PHOTO_CAPTURED comes for each, in no promised order."""
        for name, values in (("biases", biases), ("durations", durations), ("isos", isos)):
            if values is not None and len(values) != len(files):
                raise Error(-errno.EINVAL, f"{name} has {len(values)} numbers for {len(files)} files; it takes one for each.")
        lists = [values if values is None else (c_double * len(values))(*values) for values in (biases, durations, isos)]
        with _descriptors(files) as descriptors:
            return self._ask(lib.camarb_session_capture_bracket, (c_int * len(descriptors))(*descriptors), len(descriptors), *lists)

    def start_recording(self, file, metadata: Optional[Mapping[str, str]] = None, **options: Setting) -> Call:
        """Records to a file, as with photos. The result is the recording's number; RECORDING_FINISHED says when the file is
        whole. An interruption ends a recording, and it never resumes by itself.

        Options: maxDuration (seconds), maxBytes, minFreeBytes, fileType ("matroska", "mp4", "mov"), codec ("h264",
        "mjpeg"), bitRate (bits a second). metadata, which mp4 and mov do not keep: which kinds are kept beside the
        picture, and the type of their items: {"orientation": "orientation", "location": "iso6709"}."""
        options.update({"metadata." + kind: type_ for kind, type_ in (metadata or {}).items()})
        return self._ask_with_file(lib.camarb_session_start_recording, file, options)

    def pause_recording(self) -> Call:
        """No frame is recorded until `resume_recording`; the times of the file go on without a hole."""
        return self._ask(lib.camarb_session_pause_recording)

    def resume_recording(self) -> Call:
        return self._ask(lib.camarb_session_resume_recording)

    def attach_microphone(self, socket, sample_rate: int, channels: int) -> Call:
        """Sound for the recordings that begin from now on, while the session runs with usesAudio. socket: one end of
        socket.socketpair(AF_UNIX, SOCK_SEQPACKET), which may be closed on return; write_sound takes the other, which is closed when
        the camera goes, or another microphone comes. A recording begins with its first picture: before later sound there is silence."""
        descriptor = socket if isinstance(socket, int) else socket.fileno()
        return self._ask(lib.camarb_session_attach_microphone, descriptor, sample_rate, channels)

    def append_metadata(self, kind: str, time: int, items: Sequence[Union[str, float]] = ()) -> Call:
        """The values of a kind from `time` on, in nanoseconds of time.monotonic_ns(); without items there is none."""
        texts = [(item if isinstance(item, str) else repr(item)).encode() for item in items]
        return self._ask(
            lib.camarb_session_append_metadata, kind.encode(), time, (c_char_p * len(texts))(*texts), len(texts))

    def stop_recording(self) -> Call:
        """Finishes the recording."""
        return self._ask(lib.camarb_session_stop_recording)

    @property
    def state(self) -> State:
        return State(lib.camarb_session_state(self._pointer))

    @property
    def camera(self) -> str:
        """The camera's id once it is known, else what was asked for."""
        return _text(lib.camarb_session_camera(self._open()))

    @property
    def configuration(self) -> dict:
        """The settings in force, or for when the session runs."""
        return _settings(lib.camarb_session_configuration(self._open()))

    @property
    def pictures(self) -> bool:
        """Whether frames are wanted: a stream is opened each time the session runs."""
        return self._pictures

    @pictures.setter
    def pictures(self, on: bool) -> None:
        lib.camarb_session_set_pictures(self._open(), on)
        self._pictures = bool(on)

    def next_frame(self) -> Optional[Frame]:
        """The next frame that is there, or None."""
        pointer = lib.camarb_session_next_frame(self._open())
        return Frame(self.client, pointer) if pointer else None

    def newest_frame(self) -> Optional[Frame]:
        """As next_frame, but skips to the last one, and releases the others."""
        pointer = lib.camarb_session_newest_frame(self._open())
        return Frame(self.client, pointer) if pointer else None

    def frames(self, timeout: Optional[float] = None) -> Iterator[Frame]:
        """Frames as they come, each released when the next is asked for. Ends when none came for `timeout` seconds, and with the
        session. Events wait meanwhile, to be taken in between."""
        self.pictures = True
        until = self.client._until(timeout)
        while self.state is not State.ENDED:
            frame = self.next_frame()
            if frame:
                with frame:
                    yield frame
                until = self.client._until(timeout)
            elif not self.client._sleep(until):
                return

    def slate(self) -> Optional[Slate]:
        """The slate to show in the camera's place at present, or None while it runs."""
        slate = LibrarySlate()
        if not lib.camarb_session_slate(self._open(), byref(slate)):
            return None
        return Slate(SlateKind(slate.kind), _text(slate.camera), _text(slate.reason), _text(slate.interrupter), _text(slate.message))

    def close(self) -> None:
        """Ends it for good. Frames that were not released stay readable until they are."""
        if self._pointer:
            self.client._sessions.pop(self._pointer, None)
            lib.camarb_session_free(self._pointer)
            self._pointer = None

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_) -> None:
        self.close()


def write_sound(socket, samples, captured: int, sample_rate: int, channels: int) -> bool:
    """Sends a microphone's sound, captured in one go, on the socket's end that attach_microphone did not get. samples: bytes of
    interleaved signed 16-bit samples, as of array("h"); captured: the first one's moment in nanoseconds of time.monotonic_ns(). Any thread
    may call it. False: some was left out, since nobody read it in time. Raises Error where the microphone is no longer attached."""
    descriptor, sound = socket if isinstance(socket, int) else socket.fileno(), bytes(samples)
    result = lib.camarb_microphone_write(descriptor, sample_rate, channels, sound, len(sound) // (2 * max(channels, 1)), captured)
    if result not in (0, -errno.EAGAIN):
        raise Error(result, "The microphone is no longer attached." if result == -errno.EPIPE else
                    f"There is no sound of {sample_rate} Hz with {channels} channels; it takes 8000 to 96000 Hz, 1 or 2 channels.")
    return result == 0


# ── Clients ──


class Client:
    """A connection to the broker, which finds the next broker by itself when one ends.

    address: "unix:path=…" or a path; None: what $CAMARB_SOCKET says, else the user's broker, else the system's.
    app: what this program says it is, such as a desktop file's name.
    Raises Error where there is no broker."""

    def __init__(self, address: Optional[str] = None, app: Optional[str] = None):
        self._client, self._sessions, self._frames, self._is_closed, self._is_over = None, {}, 0, True, False
        made, why = c_void_p(), create_string_buffer(1024)
        result = lib.camarb_client_new_explained(
            byref(made), os.fsencode(address) if address is not None else None, why, len(why))
        if result < 0:
            raise Error(result, _text(why.value))
        self._client, self._is_closed = made.value, False
        self._finalizer = weakref.finalize(self, lib.camarb_client_free, made.value)
        self._finalizer.atexit = False
        if app is not None:
            self.declare_app(app)

    # Its own

    def _open(self) -> int:
        if self._is_closed:
            raise Error(-errno.EBADF, "The client was closed by this program.")
        return self._client

    def _sentence(self) -> str:
        return _text(lib.camarb_client_error(self._client))

    def _check(self, result: int) -> int:
        if result < 0:
            raise Error(result, self._sentence(), _text(lib.camarb_client_error_name(self._client)))
        return result

    def _call(self, number: int) -> Call:
        return Call(self, self._check(number))

    def _release_frame(self, pointer: int) -> None:
        self._frames -= 1
        if self._client:
            lib.camarb_frame_release(pointer)
        if self._is_closed:
            self._free_if_unused()

    def _free_if_unused(self) -> None:
        if self._client and self._frames == 0:
            self._client = None
            self._finalizer()

    @staticmethod
    def _until(timeout: Optional[float]) -> Optional[float]:
        return None if timeout is None else time.monotonic() + timeout

    def _sleep(self, until: Optional[float]) -> bool:
        """Waits for something to happen, and lets it. False: not in time, or the client has ended."""
        left = None if until is None else until - time.monotonic()
        # After its last event nothing comes any more, by the descriptor neither.
        if self._is_over or left is not None and left <= 0:
            return False
        waiting = select.poll()
        waiting.register(self.fileno(), select.POLLIN)
        # Where it was closed behind our back nothing would ever come.
        if any(events & select.POLLNVAL for _, events in waiting.poll(None if left is None else left * 1000)):
            raise Error(-errno.EBADF, "The client's descriptor was closed by this program.")
        return lib.camarb_client_dispatch(self._open()) == 0

    # The program's

    def fileno(self) -> int:
        """Readable whenever `dispatch` has something to do, timers included. The same for the client's life."""
        return lib.camarb_client_fd(self._open())

    def dispatch(self) -> None:
        """Does what there is to do, and never waits. Raises Error when the client has ended."""
        self._check(lib.camarb_client_dispatch(self._open()))

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Waits until there is an event or a frame to take, at most `timeout` seconds. False: not in time. Raises Error when the
        client has ended and its last event was taken."""
        until = self._until(timeout)
        while not self._check(lib.camarb_client_wait(self._open(), 0)):
            if not self._sleep(until) and until is not None and time.monotonic() >= until:
                return False
        return True

    def next_event(self) -> Optional[Event]:
        """The next event, in the order in which they came, or None. An event that nobody takes waits; a program that leaves 1024 untaken
        ends as one that does not read."""
        pointer = lib.camarb_client_next_event(self._open())
        if not pointer:
            return None
        told, fields = pointer.contents, {}
        for name in Event.__dataclass_fields__:
            value = getattr(told, name)
            if name == "type":
                value = EventType(value)
                self._is_over |= value is EventType.DISCONNECTED
            elif name == "session":
                value = self._sessions.get(value)
            elif name in ("causes", "access", "sharers", "reopen"):
                value = _texts(value)
            elif name in ("asked", "in_force", "metadata"):
                value = _settings(value) if value else None
            elif isinstance(value, bytes):
                value = _text(value)
            elif (name, value) in UNKNOWN:
                value = None
            fields[name] = value
        return Event(**fields)

    def events(self, timeout: Optional[float] = None) -> Iterator[Event]:
        """Events as they come. Ends when none came for `timeout` seconds, and after DISCONNECTED."""
        until = self._until(timeout)
        while True:
            event = self.next_event()
            if event:
                yield event
                if event.type is EventType.DISCONNECTED:
                    return
                until = self._until(timeout)
            elif not self._sleep(until):
                # In time for what has come with the client's end, and only for that.
                if event := self.next_event():
                    yield event
                if not event or event.type is EventType.DISCONNECTED:
                    return

    def __iter__(self) -> Iterator[Event]:
        return self.events()

    def declare_app(self, app: str) -> Call:
        """The name of this program's app. A claim: where the kernel vouches for another name, that counts."""
        return self._call(lib.camarb_client_declare_app(self._open(), app.encode()))

    def declare(self, **attributes: Setting) -> Call:
        """More of what this program is: app and kind ("app", "picker" or "voip"), before its first session, and multitasking and
        requiresFullScreen, at any time. All of it is said at once: an app that is not given stays as it is, a kind is "app" then, and
        a flag False."""
        with _configuration(attributes) as wanted:
            return self._call(lib.camarb_client_declare(self._open(), wanted))

    def declare_presence(self, presence: str, focused: bool = False) -> Call:
        """presence: background, fullscreen, split, slide-over or picture-in-picture; counts where no shell knows better."""
        return self._call(lib.camarb_client_declare_presence(self._open(), presence.encode(), focused))

    def watch_cameras(self) -> Call:
        """From now on the client knows which cameras there are: CAMERAS_CHANGED says when that changes."""
        return self._call(lib.camarb_client_watch_cameras(self._open()))

    @property
    def cameras(self) -> List[Camera]:
        """The known cameras, in order of their ids."""
        count = c_size_t()
        cameras = lib.camarb_client_cameras(self._open(), byref(count))
        return [_camera(cameras[i]) for i in range(count.value)]

    def session(self, camera: str = "", configuration: Optional[Mapping[str, Setting]] = None, **settings: Setting) -> Session:
        """A stopped session. camera: its id, "" for the back one, or where none is there the first by its id; settings: what it
        wants. A camera that is not known, or a configuration that cannot be, ends the session: the event ENDED says why."""
        with _configuration({**(configuration or {}), **settings}) as wanted:
            pointer = lib.camarb_session_new(self._open(), camera.encode(), wanted)
        if not pointer:
            raise Error(-errno.EAGAIN, self._sentence(), _text(lib.camarb_client_error_name(self._client)))
        session = self._sessions[pointer] = Session(self, pointer)
        return session

    def close(self) -> None:
        """Ends the connection and its sessions. Frames that somebody still looks at stay readable until then."""
        if self._is_closed:
            return
        for session in list(self._sessions.values()):
            session.close()
        self._is_closed = True
        self._free_if_unused()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_) -> None:
        self.close()
