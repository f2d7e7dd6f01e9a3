/* The header of programs that were built with libcamarb.so.1 of this test's first commit: camarb.h and camarb-slate.h of then,
 * without their comments. It stays as it is: abi.py holds the present library to it. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAMARB_API __attribute__((visibility("default")))
enum camarb_slate_kind {
    CAMARB_SLATE_WAITING,
    CAMARB_SLATE_INTERRUPTED,
    CAMARB_SLATE_SWITCHED_OFF,
    CAMARB_SLATE_NO_ACCESS,
    CAMARB_SLATE_NO_BROKER,
};
typedef struct camarb_slate {
    enum camarb_slate_kind kind;
    const char *camera;
    const char *reason;
    const char *interrupter;
    uint32_t shows_interrupter, reserved_word;
    uint64_t reserved[3];
} camarb_slate;
CAMARB_API int camarb_slate_draw(
    const camarb_slate *slate, const char fourcc[4], uint32_t width, uint32_t height, uint8_t *const planes[],
    const uint32_t strides[]);
typedef struct camarb_client camarb_client;
typedef struct camarb_session camarb_session;
typedef struct camarb_configuration camarb_configuration;
typedef struct camarb_frame camarb_frame;
typedef int64_t camarb_call;
CAMARB_API const char *camarb_version(void);
CAMARB_API int camarb_client_new(camarb_client **client, const char *address);
CAMARB_API int camarb_client_new_explained(camarb_client **client, const char *address, char *sentence, size_t bytes);
CAMARB_API void camarb_client_free(camarb_client *client);
CAMARB_API int camarb_client_fd(camarb_client *client);
CAMARB_API int camarb_client_dispatch(camarb_client *client);
CAMARB_API int camarb_client_wait(camarb_client *client, int64_t nanoseconds);
CAMARB_API const char *camarb_client_error(camarb_client *client);
CAMARB_API const char *camarb_client_error_name(camarb_client *client);
CAMARB_API int camarb_call_finish(camarb_client *client, camarb_call call, int64_t nanoseconds, uint64_t *value);
#define CAMARB_CALLS_MAX 64
CAMARB_API camarb_call camarb_client_declare_app(camarb_client *client, const char *app);
CAMARB_API camarb_call camarb_client_declare(camarb_client *client, const camarb_configuration *attributes);
CAMARB_API camarb_call camarb_client_declare_presence(camarb_client *client, const char *presence, bool focused);
typedef struct camarb_format {
    char pixel_format[8];
    uint32_t width, height;
    double min_frame_rate, max_frame_rate;
    double max_zoom_factor;
    char name[64];
    bool is_binned;
    double zoom_upscale_threshold, field_of_view;
    uint32_t high_resolution_still_width, high_resolution_still_height;
} camarb_format;
typedef struct camarb_control {
    const char *key;
    double usual, least, most, step;
    const char *usual_word;
    const char *const *words;
    const double *usual_numbers;
    size_t usual_number_count;
    uint64_t reserved[2];
} camarb_control;
typedef struct camarb_camera {
    const char *id, *name, *position;
    const char *holder;
    bool is_present;
    const camarb_format *formats;
    size_t format_count;
    const camarb_control *controls;
    size_t control_count;
    uint32_t default_format_index;
    uint32_t reserved_word;
    uint64_t reserved[3];
} camarb_camera;
CAMARB_API camarb_call camarb_client_watch_cameras(camarb_client *client);
CAMARB_API const camarb_camera *camarb_client_cameras(camarb_client *client, size_t *count);
CAMARB_API const char *camarb_camera_key(const camarb_camera *camera, size_t index);
CAMARB_API void camarb_frame_rate_fraction(double rate, uint32_t *frames, uint32_t *seconds);
CAMARB_API camarb_configuration *camarb_configuration_new(void);
CAMARB_API void camarb_configuration_free(camarb_configuration *configuration);
CAMARB_API int camarb_configuration_set_word(camarb_configuration *configuration, const char *key, const char *word);
CAMARB_API int camarb_configuration_set_number(camarb_configuration *configuration, const char *key, double number);
CAMARB_API int camarb_configuration_set_numbers(
    camarb_configuration *configuration, const char *key, const double *numbers, size_t count);
CAMARB_API int camarb_configuration_set_flag(camarb_configuration *configuration, const char *key, bool flag);
CAMARB_API const char *camarb_configuration_key(const camarb_configuration *configuration, size_t index);
CAMARB_API const char *camarb_configuration_word(const camarb_configuration *configuration, const char *key);
CAMARB_API int camarb_configuration_number(const camarb_configuration *configuration, const char *key, double *number);
CAMARB_API int camarb_configuration_flag(const camarb_configuration *configuration, const char *key, bool *flag);
CAMARB_API int camarb_configuration_numbers(
    const camarb_configuration *configuration, const char *key, double *numbers, size_t count);
CAMARB_API camarb_session *camarb_session_new(
    camarb_client *client, const char *camera, const camarb_configuration *configuration);
CAMARB_API void camarb_session_free(camarb_session *session);
CAMARB_API void camarb_session_set_tag(camarb_session *session, void *tag);
CAMARB_API void *camarb_session_tag(const camarb_session *session);
CAMARB_API camarb_call camarb_session_start(camarb_session *session);
CAMARB_API camarb_call camarb_session_stop(camarb_session *session);
CAMARB_API camarb_call camarb_session_configure(camarb_session *session, const camarb_configuration *batch);
CAMARB_API camarb_call camarb_session_check_configuration(camarb_session *session, const camarb_configuration *batch);
CAMARB_API camarb_call camarb_session_ready(camarb_session *session, uint64_t interruption);
CAMARB_API camarb_call camarb_session_continue(camarb_session *session);
CAMARB_API camarb_call camarb_session_capture_photo(
    camarb_session *session, int file, const camarb_configuration *options);
#define CAMARB_BRACKET_MAX 8
CAMARB_API camarb_call camarb_session_capture_bracket(
    camarb_session *session, const int *files, size_t count, const double *biases, const double *durations, const double *isos);
CAMARB_API camarb_call camarb_session_start_recording(
    camarb_session *session, int file, const camarb_configuration *options);
CAMARB_API camarb_call camarb_session_stop_recording(camarb_session *session);
CAMARB_API camarb_call camarb_session_pause_recording(camarb_session *session);
CAMARB_API camarb_call camarb_session_resume_recording(camarb_session *session);
CAMARB_API camarb_call camarb_session_attach_microphone(
    camarb_session *session, int socket, uint32_t sample_rate, uint32_t channels);
CAMARB_API camarb_call camarb_session_append_metadata(
    camarb_session *session, const char *kind, int64_t time, const char *const *items, size_t count);
enum camarb_state {
    CAMARB_STOPPED,
    CAMARB_STARTING,
    CAMARB_RUNNING,
    CAMARB_INTERRUPTED,
    CAMARB_ENDED,
};
CAMARB_API enum camarb_state camarb_session_state(const camarb_session *session);
CAMARB_API const camarb_configuration *camarb_session_configuration(const camarb_session *session);
CAMARB_API const char *camarb_session_camera(const camarb_session *session);
typedef struct camarb_picture {
    char pixel_format[8];
    uint32_t width, height;
    const uint8_t *planes[4];
    uint32_t strides[4];
    uint32_t plane_count;
    uint32_t flags;
    uint64_t sequence;
    uint64_t grant;
    int64_t captured;
    uint64_t reserved[4];
} camarb_picture;
#define CAMARB_PICTURE_CONFIGURATION_CHANGED 1u
#define CAMARB_PICTURE_SLATE 2u
CAMARB_API void camarb_session_set_pictures(camarb_session *session, bool on);
CAMARB_API camarb_frame *camarb_session_next_frame(camarb_session *session);
CAMARB_API camarb_frame *camarb_session_newest_frame(camarb_session *session);
CAMARB_API const camarb_picture *camarb_frame_picture(const camarb_frame *frame);
CAMARB_API bool camarb_frame_is_intact(const camarb_frame *frame);
CAMARB_API void camarb_frame_release(camarb_frame *frame);
enum camarb_event_type {
    CAMARB_EVENT_ANSWERED = 1,
    CAMARB_EVENT_CAMERAS_CHANGED,
    CAMARB_EVENT_DISCONNECTED,
    CAMARB_EVENT_WILL_BE_INTERRUPTED,
    CAMARB_EVENT_INTERRUPTION_WITHDRAWN,
    CAMARB_EVENT_WAS_INTERRUPTED,
    CAMARB_EVENT_INTERRUPTION_CHANGED,
    CAMARB_EVENT_INTERRUPTION_ENDED,
    CAMARB_EVENT_DID_START_RUNNING,
    CAMARB_EVENT_DID_STOP_RUNNING,
    CAMARB_EVENT_ACCESS_CHANGED,
    CAMARB_EVENT_SHARERS_CHANGED,
    CAMARB_EVENT_SESSION_STOPPED,
    CAMARB_EVENT_RECORDING_STARTED,
    CAMARB_EVENT_RECORDING_FINISHED,
    CAMARB_EVENT_PHOTO_CAPTURED,
    CAMARB_EVENT_CONFIGURATION_APPLIED,
    CAMARB_EVENT_RAMP_FINISHED,
    CAMARB_EVENT_RUNTIME_ERROR,
    CAMARB_EVENT_ENDED,
    CAMARB_EVENT_CONNECTIONS_FORMED,
    CAMARB_EVENT_CAMERA_STATE_CHANGED,
    CAMARB_EVENT_RECORDING_PAUSED,
    CAMARB_EVENT_RECORDING_RESUMED,
};
#define CAMARB_UNKNOWN UINT64_MAX
typedef struct camarb_event {
    enum camarb_event_type type;
    camarb_session *session;
    uint64_t sequence;
    uint64_t decision;
    camarb_call call;
    uint64_t value;
    uint64_t interruption, recording, photo, grant, frames, bytes;
    int64_t deadline, duration;
    uint32_t width, height;
    bool will_resume;
    double number;
    const char *reason, *interrupter, *rule, *next_chance, *by, *error, *error_name;
    const char *const *causes;
    const char *const *access;
    const char *const *sharers;
    const camarb_configuration *asked, *in_force;
    const char *camera;
    const char *const *reopen;
    const camarb_configuration *metadata;
    uint64_t frames_left_out;
    int64_t last_capture;
    const char *cause;
    uint64_t reserved[2];
} camarb_event;
CAMARB_API const camarb_event *camarb_client_next_event(camarb_client *client);
#define CAMARB_EVENTS_MAX 1024
CAMARB_API bool camarb_session_slate(const camarb_session *session, camarb_slate *slate);
