"""libcamarb as ctypes sees it: the structures and functions of camarb.h, and nothing else."""
import os
from ctypes import (CDLL, POINTER, PyDLL, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32,
                    c_uint64, c_uint8, c_void_p)


class Format(Structure):
    _fields_ = [("pixel_format", c_char * 8), ("width", c_uint32), ("height", c_uint32), ("min_frame_rate", c_double),
                ("max_frame_rate", c_double), ("max_zoom_factor", c_double), ("name", c_char * 64), ("is_binned", c_bool),
                ("zoom_upscale_threshold", c_double), ("field_of_view", c_double), ("high_resolution_still_width", c_uint32),
                ("high_resolution_still_height", c_uint32)]


class Control(Structure):
    _fields_ = [("key", c_char_p), ("usual", c_double), ("least", c_double), ("most", c_double), ("step", c_double),
                ("usual_word", c_char_p), ("words", POINTER(c_char_p)), ("usual_numbers", POINTER(c_double)),
                ("usual_number_count", c_size_t), ("reserved", c_uint64 * 2)]


class Camera(Structure):
    _fields_ = [("id", c_char_p), ("name", c_char_p), ("position", c_char_p), ("holder", c_char_p), ("is_present", c_bool),
                ("formats", POINTER(Format)), ("format_count", c_size_t), ("controls", POINTER(Control)),
                ("control_count", c_size_t), ("default_format_index", c_uint32), ("sensor_width", c_uint32),
                ("sensor_height", c_uint32), ("reserved_word", c_uint32), ("generation", c_uint64), ("reserved", c_uint64 * 1)]


class FormatFacts(Structure):
    _fields_ = [("auto_focus_system", c_char * 16), ("min_iso", c_double), ("max_iso", c_double), ("min_exposure_duration", c_double),
                ("max_exposure_duration", c_double), ("video_hdr_supported", c_bool),
                ("video_stabilization_modes", POINTER(c_char_p)), ("assumed", POINTER(c_char_p))]


class Point(Structure):
    _fields_ = [("x", c_double), ("y", c_double)]


class Preview(Structure):
    _fields_ = [("x", c_double), ("y", c_double), ("width", c_double), ("height", c_double), ("exif_orientation", c_uint32),
                ("reserved_word", c_uint32), ("reserved", c_uint64 * 3)]


class Picture(Structure):
    _fields_ = [("pixel_format", c_char * 8), ("width", c_uint32), ("height", c_uint32), ("planes", c_void_p * 4),
                ("strides", c_uint32 * 4), ("plane_count", c_uint32), ("flags", c_uint32), ("sequence", c_uint64),
                ("grant", c_uint64), ("captured", c_int64), ("modifier", c_uint64), ("dmabuf", c_int32), ("offsets", c_uint32 * 4),
                ("reserved_word", c_uint32)]


class Event(Structure):
    _fields_ = [("type", c_int), ("session", c_void_p), ("sequence", c_uint64), ("decision", c_uint64), ("call", c_int64),
                ("value", c_uint64), ("interruption", c_uint64), ("recording", c_uint64), ("photo", c_uint64),
                ("grant", c_uint64), ("frames", c_uint64), ("bytes", c_uint64), ("deadline", c_int64), ("duration", c_int64),
                ("width", c_uint32), ("height", c_uint32), ("will_resume", c_bool), ("number", c_double), ("reason", c_char_p),
                ("interrupter", c_char_p), ("rule", c_char_p), ("next_chance", c_char_p), ("by", c_char_p), ("error", c_char_p),
                ("error_name", c_char_p), ("causes", POINTER(c_char_p)), ("access", POINTER(c_char_p)),
                ("sharers", POINTER(c_char_p)), ("asked", c_void_p), ("in_force", c_void_p),
                ("camera", c_char_p), ("reopen", POINTER(c_char_p)), ("metadata", c_void_p),
                ("frames_left_out", c_uint64), ("last_capture", c_int64), ("cause", c_char_p), ("message", c_char_p), ("controller", c_char_p)]


class Slate(Structure):
    _fields_ = [("kind", c_int), ("camera", c_char_p), ("reason", c_char_p), ("interrupter", c_char_p),
                ("shows_interrupter", c_uint32), ("reserved_word", c_uint32), ("message", c_char_p), ("reserved", c_uint64 * 2)]


# Name, result, arguments. A pointer to something of the library's own is a c_void_p.
FUNCTIONS = [
    ("camarb_version", c_char_p),
    ("camarb_client_new_explained", c_int, POINTER(c_void_p), c_char_p, c_char_p, c_size_t),
    ("camarb_client_free", None, c_void_p),
    ("camarb_client_fd", c_int, c_void_p),
    ("camarb_client_dispatch", c_int, c_void_p),
    ("camarb_client_wait", c_int, c_void_p, c_int64),
    ("camarb_client_error", c_char_p, c_void_p),
    ("camarb_client_error_name", c_char_p, c_void_p),
    ("camarb_call_finish", c_int, c_void_p, c_int64, c_int64, POINTER(c_uint64)),
    ("camarb_client_declare_app", c_int64, c_void_p, c_char_p),
    ("camarb_client_declare", c_int64, c_void_p, c_void_p),
    ("camarb_client_declare_presence", c_int64, c_void_p, c_char_p, c_bool),
    ("camarb_client_watch_cameras", c_int64, c_void_p),
    ("camarb_client_cameras", POINTER(Camera), c_void_p, POINTER(c_size_t)),
    ("camarb_camera_key", c_char_p, POINTER(Camera), c_size_t),
    ("camarb_camera_format_facts", POINTER(FormatFacts), POINTER(Camera), c_size_t),
    ("camarb_camera_metadata_object_types", POINTER(c_char_p), POINTER(Camera)),
    ("camarb_preview_place", c_int, POINTER(Preview), c_double, c_double, c_double, c_double, c_char_p, c_char_p, c_char_p, c_int),
    ("camarb_preview_device_point", Point, POINTER(Preview), Point),
    ("camarb_preview_view_point", Point, POINTER(Preview), Point),
    ("camarb_video_orientation", c_char_p, c_char_p, c_char_p),
    ("camarb_device_orientation", c_char_p, c_char_p),
    ("camarb_orientation_angle", c_double, c_char_p),
    ("camarb_orientation_file_angle", c_double, c_char_p, c_char_p, c_char_p),
    ("camarb_orientation_exif", c_uint32, c_char_p, c_char_p, c_bool),
    ("camarb_microphone_write", c_int, c_int, c_uint32, c_uint32, c_char_p, c_size_t, c_int64),
    ("camarb_frame_rate_fraction", None, c_double, POINTER(c_uint32), POINTER(c_uint32)),
    ("camarb_configuration_new", c_void_p),
    ("camarb_configuration_free", None, c_void_p),
    ("camarb_configuration_set_word", c_int, c_void_p, c_char_p, c_char_p),
    ("camarb_configuration_set_number", c_int, c_void_p, c_char_p, c_double),
    ("camarb_configuration_set_flag", c_int, c_void_p, c_char_p, c_bool),
    ("camarb_configuration_set_numbers", c_int, c_void_p, c_char_p, POINTER(c_double), c_size_t),
    ("camarb_configuration_key", c_char_p, c_void_p, c_size_t),
    ("camarb_configuration_word", c_char_p, c_void_p, c_char_p),
    ("camarb_configuration_number", c_int, c_void_p, c_char_p, POINTER(c_double)),
    ("camarb_configuration_flag", c_int, c_void_p, c_char_p, POINTER(c_bool)),
    ("camarb_configuration_numbers", c_int, c_void_p, c_char_p, POINTER(c_double), c_size_t),
    ("camarb_session_new", c_void_p, c_void_p, c_char_p, c_void_p),
    ("camarb_session_free", None, c_void_p),
    ("camarb_session_start", c_int64, c_void_p),
    ("camarb_session_stop", c_int64, c_void_p),
    ("camarb_session_configure", c_int64, c_void_p, c_void_p),
    ("camarb_session_check_configuration", c_int64, c_void_p, c_void_p),
    ("camarb_session_ready", c_int64, c_void_p, c_uint64),
    ("camarb_session_continue", c_int64, c_void_p),
    ("camarb_session_capture_photo", c_int64, c_void_p, c_int, c_void_p),
    ("camarb_session_capture_bracket", c_int64, c_void_p, POINTER(c_int), c_size_t, POINTER(c_double), POINTER(c_double),
     POINTER(c_double)),
    ("camarb_session_start_recording", c_int64, c_void_p, c_int, c_void_p),
    ("camarb_session_stop_recording", c_int64, c_void_p),
    ("camarb_session_pause_recording", c_int64, c_void_p),
    ("camarb_session_resume_recording", c_int64, c_void_p),
    ("camarb_session_attach_microphone", c_int64, c_void_p, c_int, c_uint32, c_uint32),
    ("camarb_session_append_metadata", c_int64, c_void_p, c_char_p, c_int64, POINTER(c_char_p), c_size_t),
    ("camarb_session_state", c_int, c_void_p),
    ("camarb_session_configuration", c_void_p, c_void_p),
    ("camarb_session_camera", c_char_p, c_void_p),
    ("camarb_session_set_pictures", None, c_void_p, c_bool),
    ("camarb_session_next_frame", c_void_p, c_void_p),
    ("camarb_session_newest_frame", c_void_p, c_void_p),
    ("camarb_frame_picture", POINTER(Picture), c_void_p),
    ("camarb_frame_is_intact", c_bool, c_void_p),
    ("camarb_frame_release", None, c_void_p),
    ("camarb_client_next_event", POINTER(Event), c_void_p),
    ("camarb_session_slate", c_bool, c_void_p, POINTER(Slate)),
    ("camarb_slate_draw", c_int, POINTER(Slate), c_char_p, c_uint32, c_uint32, POINTER(POINTER(c_uint8)), POINTER(c_uint32)),
]


def load():
    """The library that is installed, or the one that $CAMARB_LIBRARY names, as in a checkout.

    A client is used by one thread at a time, but Python releases frames in any thread in which its collector runs. So each call keeps
    the interpreter's lock, since none of them waits; except connecting, before any other thread has the client, and writing sound, which
    needs no client."""
    path = os.environ.get("CAMARB_LIBRARY") or "libcamarb.so.1"
    library, waiting = PyDLL(path), CDLL(path)
    for name, result, *arguments in FUNCTIONS:
        function = getattr(waiting if name in ("camarb_client_new_explained", "camarb_microphone_write") else library, name)
        setattr(library, name, function)
        function.restype, function.argtypes = result, arguments
    return library


lib = load()
