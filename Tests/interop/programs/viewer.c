/* usage: viewer FOLDER          looks at the back camera, sets it by hand, takes a photo and a bracket, and records with sound
 *
 * Sound is written by a thread of its own, as a microphone's callback does. */
#include <camarb.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { RATE = 48000, CHANNELS = 2, PART = RATE / 50 };

struct microphone {
    int socket;
    atomic_bool is_over;
    int parts;
};

static void *speak(void *context) {
    struct microphone *microphone = context;
    static int16_t samples[PART * CHANNELS];
    for (int i = 0; i < PART * CHANNELS; i++) samples[i] = (int16_t)(i % 96 < 48 ? 8000 : -8000);
    while (!atomic_load(&microphone->is_over)) {
        struct timespec now, pause = {.tv_nsec = 1000000000 / 50};
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t captured = now.tv_sec * INT64_C(1000000000) + now.tv_nsec - pause.tv_nsec;
        if (camarb_microphone_write(microphone->socket, RATE, CHANNELS, samples, PART, captured) == -EPIPE) break;
        microphone->parts++;
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static camarb_client *client;

static uint64_t done(camarb_call call) {
    uint64_t value = 0;
    if (camarb_call_finish(client, call, -1, &value) == 0) return value;
    printf("refused: %s\n", camarb_client_error(client));
    exit(1);
}

static int file(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return open(path, O_RDWR | O_CREAT, 0600);
}

/* Goes on until an event of this type has come so often; frames are counted. */
static int until(camarb_session *session, enum camarb_event_type type, int times) {
    int frames = 0;
    while (times > 0 && camarb_client_wait(client, INT64_C(20000000000)) > 0) {
        const camarb_event *event;
        while ((event = camarb_client_next_event(client))) {
            if (*event->error) printf("%s\n", event->error);
            times -= event->type == type;
        }
        camarb_frame *frame;
        while ((frame = camarb_session_next_frame(session))) {
            frames++;
            camarb_frame_release(frame);
        }
    }
    return frames;
}

static const camarb_camera *back(void) {
    size_t count = 0;
    const camarb_camera *cameras = camarb_client_cameras(client, &count);
    for (size_t at = 0; at < count; at++)
        if (strcmp(cameras[at].position, "back") == 0) return &cameras[at];
    return NULL;
}

/* The darkest picture that the usual format has, sharp where the view was touched. */
static void set_by_hand(camarb_session *session, const camarb_camera *camera) {
    const camarb_format *usual = &camera->formats[camera->default_format_index];
    const camarb_format_facts *facts = camarb_camera_format_facts(camera, camera->default_format_index);
    camarb_preview preview;
    const char *held = camarb_video_orientation("landscapeLeft", "portrait");
    camarb_preview_place(&preview, usual->width, usual->height, 640, 640, NULL, held, camera->position, -1);
    camarb_point touched = camarb_preview_device_point(&preview, (camarb_point){160, 230});
    camarb_configuration *batch = camarb_configuration_new();
    camarb_configuration_set_numbers(batch, "focusPointOfInterest", (double[]){touched.x, touched.y}, 2);
    camarb_configuration_set_word(batch, "exposureMode", "custom");
    camarb_configuration_set_number(batch, "exposureDuration", facts->min_exposure_duration);
    camarb_configuration_set_number(batch, "iso", facts->min_iso);
    done(camarb_session_configure(session, batch));
    printf("touched %g, %g; ISO %g to %g, %s focus\n", touched.x, touched.y, facts->min_iso, facts->max_iso, facts->auto_focus_system);
    camarb_configuration_free(batch);
}

int main(int count, char **words) {
    char why[512];
    if (count != 2 || camarb_client_new_explained(&client, NULL, why, sizeof why) < 0) return puts(why), 1;
    camarb_configuration *about = camarb_configuration_new(), *wanted = camarb_configuration_new();
    camarb_configuration_set_word(about, "app", "org.example.Viewer");
    camarb_configuration_set_word(about, "kind", "voip");
    done(camarb_client_declare(client, about));
    done(camarb_client_watch_cameras(client));
    while (!back()) until(NULL, CAMARB_EVENT_CAMERAS_CHANGED, 1);
    camarb_configuration_set_flag(wanted, "usesAudio", true);
    camarb_session *session = camarb_session_new(client, "", wanted);
    camarb_session_set_pictures(session, true);
    camarb_session_start(session);
    until(session, CAMARB_EVENT_DID_START_RUNNING, 1);
    set_by_hand(session, back());
    until(session, CAMARB_EVENT_CONFIGURATION_APPLIED, 1);
    done(camarb_session_capture_photo(session, file(words[1], "photo.jpeg"), NULL));
    until(session, CAMARB_EVENT_PHOTO_CAPTURED, 1);
    int files[] = {file(words[1], "a.jpeg"), file(words[1], "b.jpeg"), file(words[1], "c.jpeg")};
    done(camarb_session_capture_bracket(session, files, 3, NULL, (double[]){0.001, 0.005, 0.02}, (double[]){50, 100, 200}));
    until(session, CAMARB_EVENT_PHOTO_CAPTURED, 3);
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return 1;
    done(camarb_session_attach_microphone(session, ends[0], RATE, CHANNELS));
    close(ends[0]);
    struct microphone microphone = {.socket = ends[1]};
    pthread_t thread;
    if (pthread_create(&thread, NULL, speak, &microphone)) return 1;
    camarb_configuration *options = camarb_configuration_new();
    camarb_configuration_set_number(options, "maxDuration", 1);
    done(camarb_session_start_recording(session, file(words[1], "film.mkv"), options));
    int frames = until(session, CAMARB_EVENT_RECORDING_FINISHED, 1);
    atomic_store(&microphone.is_over, true);
    pthread_join(thread, NULL);
    printf("recorded, with %s frames and %s sound meanwhile\n", frames > 15 ? "enough" : "few", microphone.parts > 25 ? "enough" : "little");
    camarb_client_free(client);
    return 0;
}
