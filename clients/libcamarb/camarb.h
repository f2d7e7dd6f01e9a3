/* camarb.h: a program's connection to camarbd, the broker of this machine's cameras.
 *
 *     camarb_client *client;
 *     if (camarb_client_new(&client, NULL) < 0) …                      // no broker here
 *     camarb_client_declare_app(client, "org.example.Booth");
 *     camarb_session *session = camarb_session_new(client, "", NULL);  // "": the back camera, else the first
 *     camarb_session_set_pictures(session, true);
 *     camarb_session_start(session);
 *     for (;;) {
 *         camarb_client_wait(client, -1);
 *         const camarb_event *event;
 *         while ((event = camarb_client_next_event(client)))
 *             if (event->type == CAMARB_EVENT_WAS_INTERRUPTED) show(event->reason, event->interrupter);
 *         camarb_frame *frame;
 *         while ((frame = camarb_session_next_frame(session))) {
 *             draw(camarb_frame_picture(frame));
 *             camarb_frame_release(frame);
 *         }
 *     }
 *
 * An interrupted session comes back by itself, with its configuration and without its recording. So does a session whose broker ends:
 * the library connects again, repeats all declarations and configurations, and continues with the same camera where the next broker
 * allows it. The events of sessions, their order and their causes are in docs/semantics.md; the wire is docs/wire.md.
 *
 * The library is written in C and needs libsystemd alone, so that no language's runtime comes into the programs that load it.
 *
 * Threads: one thread at a time uses a client and all that belongs to it (sessions, frames, events); clients are independent of each
 * other. The library makes no thread, has no global state, never ends the process, and prints nothing. After a fork a client belongs to
 * the parent: the child calls nothing but camarb_client_free.
 *
 * Errors: functions that return int return a negative errno number, and camarb_client_error has a sentence for it with the wrong value
 * and the allowed ones. NULL where an argument is needed is the caller's mistake and -EINVAL.
 *
 * Time: nanoseconds; moments are those of CLOCK_MONOTONIC.
 *
 * Compatibility: a program built against libcamarb.so.1 runs with every later library of that name. Structures grow only where the
 * library alone makes them, or in their reserved fields.
 */
#ifndef CAMARB_H
#define CAMARB_H

#include "camarb-slate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct camarb_client camarb_client;
typedef struct camarb_session camarb_session;
typedef struct camarb_configuration camarb_configuration;
typedef struct camarb_frame camarb_frame;

/* Calls are numbered from 1 in each client. A negative call is an error: nothing was sent. */
typedef int64_t camarb_call;

/* The library's version, as in “0.1.0”: that of camarb, with which it is released. */
CAMARB_API const char *camarb_version(void);

/* ── Client ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Connects.
 * address: “unix:path=…” or a path; NULL: $CAMARB_SOCKET, else the user's broker, else the system's.
 * Errors: -ENOENT and -ECONNREFUSED: there is no broker; -EINVAL: the address is malformed; -ENOMEM, -EMFILE. *client is NULL then. */
CAMARB_API int camarb_client_new(camarb_client **client, const char *address);

/* The same. After an error `sentence` (of `bytes` bytes, its final 0 included; NULL and 0 are allowed) has the address, the problem and
 * its remedy; otherwise "". */
CAMARB_API int camarb_client_new_explained(camarb_client **client, const char *address, char *sentence, size_t bytes);

/* Ends the connection and everything of the client's; sessions, frames and events are void afterwards. NULL is allowed. */
CAMARB_API void camarb_client_free(camarb_client *client);

/* A descriptor that is readable whenever camarb_client_dispatch has something to do, timers included. It stays the same for the
 * client's life, also over a broker's restart. */
CAMARB_API int camarb_client_fd(camarb_client *client);

/* Does all outstanding work, and never waits. 0, or the error that ended the client: it stays ended. */
CAMARB_API int camarb_client_dispatch(camarb_client *client);

/* Waits until an event or a frame can be taken, at most so many nanoseconds (negative: without end), and dispatches meanwhile.
 * 1: there is one; 0: not in time; or an error, as with dispatch. */
CAMARB_API int camarb_client_wait(camarb_client *client, int64_t nanoseconds);

/* Of the last function that returned an error: a sentence, and D-Bus's name of it where the broker gave one (“org.camarb.Error.…”),
 * else "". Valid until the next call. */
CAMARB_API const char *camarb_client_error(camarb_client *client);
CAMARB_API const char *camarb_client_error_name(camarb_client *client);

/* ── Calls ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* A function that returns a camarb_call sends it, and returns at once. Its answer comes as CAMARB_EVENT_ANSWERED, unless it is waited
 * for:
 *
 * camarb_call_finish waits at most so many nanoseconds (negative: D-Bus's customary 25 s). 0: done, and *value (NULL is allowed) is the
 * answer, such as the number of a photo; -ETIME: no answer yet; or the refusal. Events that come meanwhile are kept. A call is finished
 * once: its answer is no event then. A negative call is returned as it is, with its sentence: the function that sends a call may stand
 * where the call does. */
CAMARB_API int camarb_call_finish(camarb_client *client, camarb_call call, int64_t nanoseconds, uint64_t *value);

/* The most calls without an answer; one more is -EAGAIN. */
#define CAMARB_CALLS_MAX 64

/* The name of this program's app, such as its desktop file's, in UTF-8. A claim: where the kernel vouches for another name, that counts. */
CAMARB_API camarb_call camarb_client_declare_app(camarb_client *client, const char *app);
/* The same with more attributes, as a configuration: app and kind (words; kind: app, picker or voip), before the first session, and
 * multitasking and requiresFullScreen (flags), at any time. A declaration replaces the one before it: an app that is not given stays as
 * it is, a kind is app then, and a flag false. */
CAMARB_API camarb_call camarb_client_declare(camarb_client *client, const camarb_configuration *attributes);
/* presence: background, fullscreen, split, slide-over or picture-in-picture; counts where no shell knows better. */
CAMARB_API camarb_call camarb_client_declare_presence(camarb_client *client, const char *presence, bool focused);

/* ── Cameras ────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

typedef struct camarb_format {
    char pixel_format[8]; /* “420v” (NV12, video range) or “420f” (NV12, full range) */
    uint32_t width, height;
    double min_frame_rate, max_frame_rate; /* 0 to 1,000,000; 0 where the broker sent no possible rate */
    double max_zoom_factor;
    /* As activeFormat takes it, unique within the camera: “420v 1280x720@60 binned”. */
    char name[64];
    bool is_binned; /* pixels of the sensor are put together: less light is enough, and less is seen */
    /* The zoom up to which no pixel is made up; the horizontal field of view in degrees; and the size of a photo with the key
     * highResolutionStillImageOutputEnabled. 0, of each: not known, or the broker is an earlier one. camarb_format_facts has more. */
    double zoom_upscale_threshold, field_of_view;
    uint32_t high_resolution_still_width, high_resolution_still_height;
} camarb_format;

typedef struct camarb_control {
    const char *key; /* of a configuration */
    double usual, least, most, step; /* of a number */
    const char *usual_word; /* of a mode; "": it is a number, or a flag, which is 0 or 1 */
    const char *const *words; /* of a mode, until NULL; NULL: it is none */
    const double *usual_numbers; /* of a point two, x and y; of gains three, red, green and blue; each from least to most. NULL: it is neither */
    size_t usual_number_count;
    uint64_t reserved[2];
} camarb_control;

typedef struct camarb_camera {
    const char *id, *name, *position; /* position: front, back or external */
    const char *holder; /* "": nobody; “another user's app”; “outside: PROGRAM” */
    bool is_present;
    const camarb_format *formats; /* in the order in which the camera lists them; default_format_index is the usual one */
    size_t format_count;
    const camarb_control *controls;
    size_t control_count;
    uint32_t default_format_index; /* below format_count, or 0; the format of sessions that set none */
    uint32_t sensor_width, sensor_height; /* in pixels; 0: not known */
    uint32_t reserved_word;
    uint64_t generation; /* grows each time the camera appears; 0: not known */
    uint64_t reserved[1];
} camarb_camera;

/* More facts about a format. Only the library makes one, and later versions have more fields at its end. */
typedef struct camarb_format_facts {
    char auto_focus_system[16]; /* “contrast” or “phase”; "": the focus is fixed, or not known */
    double min_iso, max_iso; /* the ISO 12232 sensitivities that iso takes; 0: not known */
    double min_exposure_duration, max_exposure_duration; /* the seconds that exposureDuration takes; 0: not known */
    bool video_hdr_supported; /* videoHDREnabled may be true */
    /* Until NULL; never NULL: the modes beside “off”, as preferredVideoStabilizationMode takes them (standard, cinematic), and the facts
     * that nobody has published or measured, by their names in docs/wire.md. */
    const char *const *video_stabilization_modes;
    const char *const *assumed;
} camarb_format_facts;

/* Watches the cameras: CAMARB_EVENT_CAMERAS_CHANGED comes the first time, and whenever a camera comes, goes or has another holder. */
CAMARB_API camarb_call camarb_client_watch_cameras(camarb_client *client);
/* The known cameras, in order of their ids; *count of them. Valid until the next dispatch, wait or camarb_call_finish. */
CAMARB_API const camarb_camera *camarb_client_cameras(camarb_client *client, size_t *count);
/* The facts about camera->formats[index], or NULL where there is no such format. As valid as the camera. */
CAMARB_API const camarb_format_facts *camarb_camera_format_facts(const camarb_camera *camera, size_t index);
/* The types of objects that the camera finds in its pictures, for a recording's metadata kind objects; until NULL, never NULL. As valid
 * as the camera. */
CAMARB_API const char *const *camarb_camera_metadata_object_types(const camarb_camera *camera);
/* The keys that a configuration for this camera may have, from index 0 on: first the keys of every camera (activeFormat, frameRate, …),
 * then its controls; NULL behind the last one. As valid as the camera. */
CAMARB_API const char *camarb_camera_key(const camarb_camera *camera, size_t index);
/* The fraction that a frame rate stands for, in lowest terms: 25/2 for 12.5, 30000/1001 for 29.97, 25/3 for 8.33. Brokers send rates in
 * hundredths; the result is the simplest fraction, or broadcasting's, that is rounded so. 0/1 where there is no rate. */
CAMARB_API void camarb_frame_rate_fraction(double rate, uint32_t *frames, uint32_t *seconds);

/* ── Configurations ─────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* A batch of keys: activeFormat (word, a format's name), frameRate, videoZoomFactor (numbers), focusPointOfInterest (two numbers, 0 to 1),
 * whiteBalanceGains (three), usesAudio (flag); docs/wire.md has all of them. Setting a key twice keeps the last. The broker judges keys
 * that the library does not know. Words and keys are UTF-8: -EINVAL. */
CAMARB_API camarb_configuration *camarb_configuration_new(void); /* NULL: no memory */
CAMARB_API void camarb_configuration_free(camarb_configuration *configuration);
CAMARB_API int camarb_configuration_set_word(camarb_configuration *configuration, const char *key, const char *word);
CAMARB_API int camarb_configuration_set_number(camarb_configuration *configuration, const char *key, double number);
CAMARB_API int camarb_configuration_set_numbers(
    camarb_configuration *configuration, const char *key, const double *numbers, size_t count);
CAMARB_API int camarb_configuration_set_flag(camarb_configuration *configuration, const char *key, bool flag);
/* The keys of a configuration, from index 0 on, in no particular order; NULL behind the last one. Valid until it is changed. */
CAMARB_API const char *camarb_configuration_key(const camarb_configuration *configuration, size_t index);
/* The value of a key. The first: NULL where the key is missing or no word; the others: -ENOENT, or -EINVAL where it has another type. */
CAMARB_API const char *camarb_configuration_word(const camarb_configuration *configuration, const char *key);
CAMARB_API int camarb_configuration_number(const camarb_configuration *configuration, const char *key, double *number);
CAMARB_API int camarb_configuration_flag(const camarb_configuration *configuration, const char *key, bool *flag);
/* Returns how many numbers a point (2) or gains (3) have; the first `count` of them are in `numbers` then. */
CAMARB_API int camarb_configuration_numbers(
    const camarb_configuration *configuration, const char *key, double *numbers, size_t count);

/* ── Sessions ───────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* A stopped session. camera: its id; "" or NULL: the back camera, else the first by its id. configuration: the first batch, NULL for the
 * usual; stays the caller's. NULL: no memory, too many calls, or an id that is not UTF-8. An unknown camera, or an impossible
 * configuration, ends the session: CAMARB_EVENT_ENDED has the reason, and each call of the session's is refused with that error. */
CAMARB_API camarb_session *camarb_session_new(
    camarb_client *client, const char *camera, const camarb_configuration *configuration);
/* Ends it for good; frames that were not released stay readable until they are. NULL is allowed. */
CAMARB_API void camarb_session_free(camarb_session *session);

/* A value of the program's own, for finding its way back from an event. */
CAMARB_API void camarb_session_set_tag(camarb_session *session, void *tag);
CAMARB_API void *camarb_session_tag(const camarb_session *session);

/* Asks to run. Interrupted at once, and no error, while causes leave no access. */
CAMARB_API camarb_call camarb_session_start(camarb_session *session);
CAMARB_API camarb_call camarb_session_stop(camarb_session *session);
/* Sets keys as a whole or not at all; at once while the session may configure, else when it runs. */
CAMARB_API camarb_call camarb_session_configure(camarb_session *session, const camarb_configuration *batch);
/* Is answered as camarb_session_configure would be at this moment, refusal and sentence alike, and sets nothing. -ENOTCONN while there
 * is no broker. */
CAMARB_API camarb_call camarb_session_check_configuration(camarb_session *session, const camarb_configuration *batch);
/* Answers CAMARB_EVENT_WILL_BE_INTERRUPTED: the camera may go before the deadline. */
CAMARB_API camarb_call camarb_session_ready(camarb_session *session, uint64_t interruption);
/* Clears the one cause that is the client's own to clear (sensitive-content-mitigation-activated). */
CAMARB_API camarb_call camarb_session_continue(camarb_session *session);

/* file: of a regular file, open for reading and writing, not for appending; it is duplicated. The recorder core cuts it when it begins to
 * write, so that O_TRUNC is not needed: without it a refused call leaves the file's content. The answer is the photo's or recording's
 * number; the file is whole with CAMARB_EVENT_PHOTO_CAPTURED or CAMARB_EVENT_RECORDING_FINISHED. options: NULL for none. -ENOTCONN while
 * there is no broker: an answer from before its end could not be told from one after it. */
CAMARB_API camarb_call camarb_session_capture_photo(
    camarb_session *session, int file, const camarb_configuration *options);
/* A bracket: photos of so many consecutive frames, each with an exposure of its own and into a file of its own. Either biases (exposure
 * values added to the automatic exposure), or durations (seconds) together with isos: as many as files, in their order, and NULL for a
 * list that is not given. The answer is the first photo's number, which the others' follow; CAMARB_EVENT_PHOTO_CAPTURED comes for each,
 * in no promised order. All photos are ordered, or none. */
#define CAMARB_BRACKET_MAX 8
CAMARB_API camarb_call camarb_session_capture_bracket(
    camarb_session *session, const int *files, size_t count, const double *biases, const double *durations, const double *isos);
/* Options, as numbers: maxDuration (seconds), maxBytes, minFreeBytes, bitRate (bits a second); as words: fileType (matroska, mp4 or mov:
 * the last two without metadata), codec (h264 or mjpeg), and for each kind of timed metadata to keep “metadata.KIND”: orientation,
 * objects, or a kind of the program's own with the type of its items: iso6709, text or number. docs/wire.md has all of them. */
CAMARB_API camarb_call camarb_session_start_recording(
    camarb_session *session, int file, const camarb_configuration *options);
CAMARB_API camarb_call camarb_session_stop_recording(camarb_session *session);
/* One file, with no frame of the pause in it: its times have no hole. No interruption ever pauses a recording. */
CAMARB_API camarb_call camarb_session_pause_recording(camarb_session *session);
CAMARB_API camarb_call camarb_session_resume_recording(camarb_session *session);

/* Sound for the recordings that begin from now on, while the session runs and has usesAudio. socket: one end of a connected pair of
 * AF_UNIX SOCK_SEQPACKET sockets; it is duplicated, and camarb_microphone_write takes the other end. sample_rate: 8,000 to 96,000 Hz;
 * channels: 1 or 2. The other end is closed when the camera goes, or another microphone comes. A recording begins with its first
 * picture, whether sound has come or not: before later sound there is silence. */
CAMARB_API camarb_call camarb_session_attach_microphone(
    camarb_session *session, int socket, uint32_t sample_rate, uint32_t channels);
/* Sends sound that was captured in one go: `frames` frames of interleaved samples, the first of them captured at `captured`. Any thread
 * may call it. Waits at most 20 ms for each 50 ms of sound, and only while nobody reads.
 * 0: sent; -EAGAIN: some of it was left out, since nobody read it in time; -EPIPE: the microphone is no longer attached; -EINVAL.
 *
 * On the socket, in packets of at most 65,536 frames and a second: an int64_t (the moment of the first frame), a uint32_t (the number of
 * frames), a uint32_t 0, all little-endian, and the frames, of signed 16-bit little-endian samples. */
CAMARB_API int camarb_microphone_write(
    int socket, uint32_t sample_rate, uint32_t channels, const int16_t *samples, size_t frames, int64_t captured);
/* The values from `time` on of a kind that the recording was started with: items in the form of its type, such as “+48.2082+016.3738/”
 * for iso6709; no items: there is no value from then on. Texts in UTF-8, 64 KiB together; 100 groups a second. */
CAMARB_API camarb_call camarb_session_append_metadata(
    camarb_session *session, const char *kind, int64_t time, const char *const *items, size_t count);

enum camarb_state {
    CAMARB_STOPPED, /* not asked to run */
    CAMARB_STARTING, /* asked to run, before the first CAMARB_RUNNING or CAMARB_INTERRUPTED */
    CAMARB_RUNNING,
    CAMARB_INTERRUPTED, /* comes back by itself */
    CAMARB_ENDED, /* for good, with CAMARB_EVENT_ENDED */
};

CAMARB_API enum camarb_state camarb_session_state(const camarb_session *session);
/* The configuration in force, or for when the session runs; never NULL. A key that was never set is missing, and as usual: the camera's
 * default format, its fastest rate, its controls' usual values. Valid until the next dispatch, wait or camarb_call_finish. */
CAMARB_API const camarb_configuration *camarb_session_configuration(const camarb_session *session);
/* The camera's id once it is known; before that the argument of camarb_session_new. */
CAMARB_API const char *camarb_session_camera(const camarb_session *session);

/* ── Pictures ───────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Memory that another process owns: read it, do not write. NV12: planes[0] is Y, planes[1] is CbCr, interleaved, half as high. */
typedef struct camarb_picture {
    char pixel_format[8]; /* 420v or 420f */
    uint32_t width, height;
    const uint8_t *planes[4];
    uint32_t strides[4]; /* bytes from one row to the next */
    uint32_t plane_count;
    uint32_t flags; /* CAMARB_PICTURE_… */
    uint64_t sequence; /* from 1 in each grant; a gap is frames that were dropped since none was released */
    uint64_t grant;
    int64_t captured;
    /* Where flags has CAMARB_PICTURE_DMABUF, the planes are in a DMA buffer, which a graphics card or a coder reads without a copy: its
     * layout, a DRM_FORMAT_MOD_… (0: linear), its descriptor, which is for reading only, and the byte at which each plane begins. The
     * descriptor is the library's, and valid until the frame's release; dup(2) keeps it longer, and its pictures are blanked all the
     * same. Elsewhere dmabuf is -1. A library from before these fields sets no such flag, and dmabuf to 0. */
    uint64_t modifier;
    int32_t dmabuf;
    uint32_t offsets[4];
    uint32_t reserved_word;
} camarb_picture;

#define CAMARB_PICTURE_CONFIGURATION_CHANGED 1u /* the first one of another configuration */
#define CAMARB_PICTURE_SLATE 2u /* not from the camera */
#define CAMARB_PICTURE_DMABUF 0x10000u /* modifier, dmabuf and offsets are set */

/* Whether frames are wanted: a stream is opened each time the session runs. */
CAMARB_API void camarb_session_set_pictures(camarb_session *session, bool on);
/* The next frame, or NULL. Two may be held at once; a program that holds more gets none, and delays no other.
 * newest_frame releases all but the last one. */
CAMARB_API camarb_frame *camarb_session_next_frame(camarb_session *session);
CAMARB_API camarb_frame *camarb_session_newest_frame(camarb_session *session);
/* Valid until the frame's release. */
CAMARB_API const camarb_picture *camarb_frame_picture(const camarb_frame *frame);
/* False: the camera has been taken away, and the picture is blanked or being blanked. Call it after copying a picture: a copy that was
 * made before a true answer is whole. */
CAMARB_API bool camarb_frame_is_intact(const camarb_frame *frame);
/* NULL is allowed. */
CAMARB_API void camarb_frame_release(camarb_frame *frame);

/* ── Geometry ───────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Arithmetic that needs no broker; any thread may use it. Pixels are never turned: videoOrientation is the side of the picture that is up
 * (portrait, portraitUpsideDown, landscapeRight, landscapeLeft), and position that of the camera (front, back, external). */

typedef struct camarb_point {
    double x, y;
} camarb_point;

/* The place of a camera's picture in a view. Points and sizes of the view are in its own unit, with the origin at its top left and y
 * downwards. */
typedef struct camarb_preview {
    double x, y, width, height; /* centred in the view; with resizeAspectFill it is larger than the view */
    uint32_t exif_orientation; /* 1 to 8: how the view shows the sensor's pixels */
    uint32_t reserved_word;
    uint64_t reserved[3];
} camarb_preview;

/* Places the picture of a stream in a view (AVCaptureVideoPreviewLayer).
 * gravity: resize (the view's shape), resizeAspect (all of the picture) or resizeAspectFill (all of the view); NULL: resizeAspect.
 * orientation: a videoOrientation. is_mirrored: whether left and right are exchanged in the view; negative: as usual, for a front camera.
 * Errors: -EINVAL, where a side is not above 0 or a word is not known. */
CAMARB_API int camarb_preview_place(
    camarb_preview *preview, double stream_width, double stream_height, double view_width, double view_height, const char *gravity,
    const char *orientation, const char *position, int is_mirrored);
/* The point of the sensor that is seen at a point of the view, as focusPointOfInterest and exposurePointOfInterest take it: 0 to 1 from the
 * top left of the unrotated sensor. A point beside the picture is below 0 or above 1. */
CAMARB_API camarb_point camarb_preview_device_point(const camarb_preview *preview, camarb_point view_point);
/* The point of the view at which a point of the sensor is seen. */
CAMARB_API camarb_point camarb_preview_view_point(const camarb_preview *preview, camarb_point device_point);

/* The videoOrientation of a device that is held so (portrait, portraitUpsideDown, landscapeLeft, landscapeRight, faceUp, faceDown,
 * unknown; a device's landscapeLeft is a video's landscapeRight). faceUp, faceDown and unknown leave `last`, and so does any other word. */
CAMARB_API const char *camarb_video_orientation(const char *device_orientation, const char *last);
/* The device orientation of a videoOrientation; “unknown” for any other word. */
CAMARB_API const char *camarb_device_orientation(const char *video_orientation);
/* The angle of a videoOrientation from portrait, in radians, clockwise where y grows downwards: 0, π, −π/2 or π/2; NAN for another word. */
CAMARB_API double camarb_orientation_angle(const char *video_orientation);
/* By how much the pixels of a file are turned to be seen upright on a device that is held as `reference` (NULL: portrait): exactly −π/2,
 * 0, π/2 or π radians, clockwise where y grows downwards; NAN for another word. */
CAMARB_API double camarb_orientation_file_angle(const char *video_orientation, const char *position, const char *reference);
/* The Exif orientation (1 to 8) that shows a camera's pixels upright, with left and right exchanged then where is_mirrored; 0 for another
 * word. */
CAMARB_API uint32_t camarb_orientation_exif(const char *video_orientation, const char *position, bool is_mirrored);

/* ── Events ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

enum camarb_event_type {
    CAMARB_EVENT_ANSWERED = 1, /* call, value; error and error_name where it was refused */
    CAMARB_EVENT_CAMERAS_CHANGED,
    CAMARB_EVENT_DISCONNECTED, /* the client has ended: error. The last of its events. */
    /* Of a session. */
    CAMARB_EVENT_WILL_BE_INTERRUPTED, /* interruption, reason, deadline, rule, message */
    CAMARB_EVENT_INTERRUPTION_WITHDRAWN, /* interruption */
    CAMARB_EVENT_WAS_INTERRUPTED, /* interruption, causes, reason, interrupter, recording (the one that was cut, or 0), rule, message */
    CAMARB_EVENT_INTERRUPTION_CHANGED, /* interruption, causes, reason, interrupter, rule, message */
    CAMARB_EVENT_INTERRUPTION_ENDED, /* interruption, causes, duration, will_resume, recording (the one that it cut, or 0) */
    CAMARB_EVENT_DID_START_RUNNING, /* grant */
    CAMARB_EVENT_DID_STOP_RUNNING,
    CAMARB_EVENT_ACCESS_CHANGED, /* access, causes, rule, message, controller */
    CAMARB_EVENT_SHARERS_CHANGED, /* sharers */
    CAMARB_EVENT_SESSION_STOPPED, /* reason, rule, message */
    CAMARB_EVENT_RECORDING_STARTED, /* recording */
    /* recording, reason (why), frames, duration, bytes, next_chance, frames_left_out, last_capture; cause and interrupter where it was cut.
     * frames and bytes may be CAMARB_UNKNOWN, and duration -1: the file was not counted, and may have frames. */
    CAMARB_EVENT_RECORDING_FINISHED,
    CAMARB_EVENT_PHOTO_CAPTURED, /* photo, width, height, bytes, metadata; error where it is not whole */
    CAMARB_EVENT_CONFIGURATION_APPLIED, /* asked, in_force, by */
    CAMARB_EVENT_RAMP_FINISHED, /* number: videoZoomFactor */
    CAMARB_EVENT_RUNTIME_ERROR, /* error_name (a code), error */
    CAMARB_EVENT_ENDED, /* the session is over: error, error_name. The last of its events. */
    /* Of a session as well; the numbers above are those of earlier versions. */
    CAMARB_EVENT_CONNECTIONS_FORMED, /* camera, reopen. The session was switched to this camera; pictures come again by themselves */
    CAMARB_EVENT_CAMERA_STATE_CHANGED, /* in_force: values that the camera reports of itself, where they differ from the last ones */
    CAMARB_EVENT_RECORDING_PAUSED, /* recording */
    CAMARB_EVENT_RECORDING_RESUMED, /* recording */
};

/* A count of a recording's that is lost, as where its broker or its recorder core was. */
#define CAMARB_UNKNOWN UINT64_MAX

/* Texts are never NULL: "" where there is none. Lists end with NULL. */
typedef struct camarb_event {
    enum camarb_event_type type;
    camarb_session *session; /* NULL: not of a session */
    uint64_t sequence; /* of the session, from 1 and without a gap, over a broker's end too */
    uint64_t decision; /* for `camclient explain`; 0: the library's own */
    camarb_call call;
    uint64_t value;
    uint64_t interruption, recording, photo, grant, frames, bytes;
    int64_t deadline, duration;
    uint32_t width, height;
    bool will_resume;
    double number;
    const char *reason, *interrupter, *rule, *next_chance, *by, *error, *error_name;
    const char *const *causes; /* the reason first */
    const char *const *access;
    const char *const *sharers;
    const camarb_configuration *asked, *in_force;
    const char *camera;
    const char *const *reopen; /* outputs: preview, where the session showed pictures before the switch; microphone, metadata: to be requested again */
    /* How a photo was taken, with keys as in docs/wire.md: exposureDuration, iso, flashFired, … NULL: the broker is an earlier one. */
    const camarb_configuration *metadata;
    uint64_t frames_left_out; /* by a recording that was too slow for them */
    int64_t last_capture; /* the moment of the recording's last frame; 0: it has none, or its broker is an earlier one */
    const char *cause; /* of the recording's cut, a word as in causes */
    const char *message; /* of an interruption, a stop or an access: the policy's own words for the person in front of the program */
    const char *controller; /* of an access: the app that controls the shared camera, where that is not the session itself */
} camarb_event;

/* The next event, in the order in which they came; NULL: there is none. Valid until the next call of this function. An event that is not
 * taken waits; a program that leaves CAMARB_EVENTS_MAX untaken ends as one that does not read. */
CAMARB_API const camarb_event *camarb_client_next_event(camarb_client *client);
#define CAMARB_EVENTS_MAX 1024

/* ── Slates: camarb-slate.h ─────────────────────────────────────────────────────────────────────────────────────────────────── */

/* The slate that a session calls for at present. false: it runs, and there is none. Texts as with configurations. `shows_interrupter` is as
 * CAMARB_SLATE_NAMES was when the client was made. */
CAMARB_API bool camarb_session_slate(const camarb_session *session, camarb_slate *slate);

#ifdef __cplusplus
}
#endif
#endif
