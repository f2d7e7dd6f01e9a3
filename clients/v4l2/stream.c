/* The one private thread: it lives while anything streams, and puts frames, or slates in their place, into the program's buffers.
 *
 * A session is made at STREAMON and freed at STREAMOFF, so that a program that stops and starts has cleared what needs its action. Between
 * them the program sees a camera that always gives pictures: whatever ends (a grant, a session, the broker) shows as a slate, at the
 * program's own rate and format, and is begun again from here. */
#define _GNU_SOURCE
#include "door.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#define STARTING_TIME (700 * MILLISECOND) /* a camera starts within this time; a slate before that would only flicker */
/* STREAMON waits so long for a refusal, which is then its errno as from a driver that is busy. */
#define REFUSAL_TIME_MAX SECOND
/* Between two tries to reach a broker that is not there, or to have a session that has ended. */
#define RETRY_PAUSE SECOND
#define STACK_BYTES (512 * 1024)
#define STACK_BYTES_MORE (16 * 1024 * 1024)

static struct device *streaming[DEVICES_MAX];
static size_t streaming_count;
static bool has_thread;
static int wake = -1;
static int64_t next_try;

bool stream_is_any(void) { return streaming_count > 0; }

static void wake_up(void) {
    if (wake >= 0) eventfd_write(wake, 1);
}

/* Format and rate. */
static void wish(const struct device *device, camarb_configuration *wanted) {
    const struct library *lib = library();
    double rate;
    const struct source *source = formats_wanted(device, &rate);
    if (source) lib->camarb_configuration_set_word(wanted, "activeFormat", source->name);
    lib->camarb_configuration_set_number(wanted, "frameRate", rate);
}

static int begin_session(struct device *device) {
    const struct library *lib = library();
    camarb_configuration *wanted = lib->camarb_configuration_new();
    if (!wanted) return -ENOMEM;
    wish(device, wanted);
    controls_configure(device, wanted);
    device->session = lib->camarb_session_new(door_client(), device->id, wanted);
    lib->camarb_configuration_free(wanted);
    if (!device->session) return -ENOMEM;
    lib->camarb_session_set_tag(device->session, device);
    lib->camarb_session_set_pictures(device->session, true);
    device->start_call = lib->camarb_session_start(device->session);
    return 0;
}

static void end_session(struct device *device) {
    if (device->session) library()->camarb_session_free(device->session);
    device->session = NULL;
}

/* Keeps the reason why there is no session, which is made again later. */
static void note_end(struct device *device, const char *reason, const char *error) {
    snprintf(device->ended_reason, sizeof device->ended_reason, "%s", reason);
    snprintf(device->ended, sizeof device->ended, "%s", error);
}

void stream_event(const camarb_event *event) {
    if (!event->session) return;
    struct device *device = library()->camarb_session_tag(event->session);
    if (!device || device->session != event->session) return;
    if (event->type == CAMARB_EVENT_ENDED) {
        end_session(device);
        note_end(device, "", event->error);
        next_try = door_now() + RETRY_PAUSE;
    } else if (event->type == CAMARB_EVENT_SESSION_STOPPED) {
        note_end(device, event->reason, "");
    } else if (event->type == CAMARB_EVENT_DID_START_RUNNING) {
        note_end(device, "", "");
    } else if (event->type == CAMARB_EVENT_ACCESS_CHANGED) {
        /* Controls that were set while another app had control were refused. */
        for (const char *const *right = event->access; *right; right++)
            if (strcmp(*right, "configure") == 0) stream_configure(device, false);
    }
}

void stream_forget(void) {
    for (size_t at = 0; at < streaming_count; at++) streaming[at]->session = NULL;
    next_try = door_now() + RETRY_PAUSE;
}

/* Sessions of a connection or an answer that was lost are made anew. */
static void try_again(int64_t now) {
    if (now < next_try) return;
    next_try = now + RETRY_PAUSE;
    bool is_needed = !door_client();
    for (size_t at = 0; at < streaming_count; at++) is_needed |= !streaming[at]->session;
    if (!is_needed || door_connect() < 0) return;
    for (size_t at = 0; at < streaming_count; at++)
        if (!streaming[at]->session) begin_session(streaming[at]);
}

/* The memory for the next picture; NULL: the program has no free buffer. */
static uint8_t *target_of(struct device *device, struct buffer *buffer) {
    static uint8_t *kept;
    static size_t room;
    if (buffer->memory) return buffer->memory;
    /* The program's own memory may be gone by now. So it is made here first, and written there in a way that cannot crash. */
    return pictures_room(&kept, &room, device->bytes);
}

static void deliver(struct device *device, int index, int64_t bytes, const uint8_t *made, int64_t captured) {
    struct queue *queue = &device->queue;
    struct buffer *buffer = &queue->buffers[index];
    if (!buffer->memory) {
        struct iovec from = {(void *)(uintptr_t)made, (size_t)bytes}, into = {(void *)buffer->user, (size_t)bytes};
        if (process_vm_writev(getpid(), &from, 1, &into, 1, 0) != bytes) bytes = 0;
    }
    if (captured <= device->last_picture) captured = device->last_picture + 1000;
    device->last_picture = captured;
    buffer->state = BUFFER_READY;
    buffer->used = (uint32_t)bytes;
    buffer->captured = captured;
    buffer->sequence = queue->sequence++;
    ring_put(&queue->ready, (unsigned)index);
    if (queue->owner) file_signal(queue->owner);
}

static int64_t interval_of(const struct device *device) { return SECOND * device->interval.numerator / device->interval.denominator; }

/* A frame that is there goes into a buffer that waits; without one it is dropped, as a driver does. True: there was one. */
static bool show_frame(struct device *device, int64_t now) {
    const struct library *lib = library();
    camarb_frame *frame = device->session ? lib->camarb_session_newest_frame(device->session) : NULL;
    if (!frame) return false;
    struct queue *queue = &device->queue;
    const camarb_picture *picture = lib->camarb_frame_picture(frame);
    if (!queue->queued.count) {
        queue->sequence++;
    } else {
        struct buffer *buffer = &queue->buffers[queue->queued.index[queue->queued.first]];
        uint8_t *into = target_of(device, buffer);
        buffer->slate = 0;
        int64_t bytes = into ? pictures_convert(picture, device->fourcc, device->width, device->height, into) : -ENOMEM;
        /* A picture that was blanked while it was copied is dropped. */
        if (bytes >= 0 && lib->camarb_frame_is_intact(frame)) deliver(device, ring_take(&queue->queued), bytes, into, picture->captured);
    }
    lib->camarb_frame_release(frame);
    device->next_slate = now + interval_of(device);
    return true;
}

/* The slate to show at present; false: none. */
static bool slate_of(struct device *device, int64_t now, camarb_slate *slate) {
    memset(slate, 0, sizeof *slate);
    slate->interrupter = "";
    if (!door_client()) {
        slate->kind = CAMARB_SLATE_NO_BROKER;
        slate->reason = "";
    } else if (!device->session) {
        slate->kind = CAMARB_SLATE_NO_ACCESS;
        slate->reason = device->ended;
    } else if (!library()->camarb_session_slate(device->session, slate)) {
        return false;
    }
    if (slate->kind == CAMARB_SLATE_WAITING && now - device->started < STARTING_TIME) return false;
    if (slate->kind == CAMARB_SLATE_NO_ACCESS && *device->ended_reason) slate->reason = device->ended_reason;
    slate->camera = device->name;
    return true;
}

/* Drawn once for each text. */
static struct slate_picture *drawn(struct device *device, const camarb_slate *slate) {
    struct slate_picture *kept = &device->slate;
    char text[sizeof kept->text];
    snprintf(
        text, sizeof text, "%s\n%s\n%s\n%s", slate->camera ? slate->camera : "", slate->reason ? slate->reason : "",
        slate->message ? slate->message : "", slate->interrupter ? slate->interrupter : "");
    if (kept->bytes && kept->kind == slate->kind && kept->fourcc == device->fourcc && kept->width == device->width
        && kept->height == device->height && strcmp(kept->text, text) == 0)
        return kept;
    static uint32_t number;
    free(kept->bytes);
    memset(kept, 0, sizeof *kept);
    kept->number = ++number ? number : ++number;
    kept->bytes = malloc(device->bytes);
    if (!kept->bytes) return NULL;
    int64_t bytes = pictures_slate(slate, device->fourcc, device->width, device->height, kept->bytes, device->bytes);
    if (bytes < 0) {
        free(kept->bytes);
        kept->bytes = NULL;
        return NULL;
    }
    kept->count = (size_t)bytes;
    kept->kind = slate->kind;
    kept->fourcc = device->fourcc;
    kept->width = device->width;
    kept->height = device->height;
    strcpy(kept->text, text);
    return kept;
}

/* A slate that a buffer had before is copied anew only where the program has drawn over it, by a look at an eighth of it: whole pictures that
 * say the same thirty times a second would be most of what a slate costs. */
static bool is_there_still(const struct buffer *buffer, const struct slate_picture *picture) {
    enum { LOOKED_AT = 256, EVERY = 2048 };
    if (buffer->slate != picture->number) return false;
    for (size_t at = 0; at + LOOKED_AT <= picture->count; at += EVERY)
        if (memcmp(buffer->memory + at, picture->bytes + at, LOOKED_AT) != 0) return false;
    return true;
}

static void show_slate(struct device *device, int64_t now) {
    struct queue *queue = &device->queue;
    camarb_slate slate;
    if (now < device->next_slate || !slate_of(device, now, &slate)) return;
    device->next_slate += interval_of(device);
    /* A machine that was late goes on from now. */
    if (device->next_slate < now) device->next_slate = now + interval_of(device);
    if (!queue->queued.count) {
        queue->sequence++;
        return;
    }
    struct slate_picture *picture = drawn(device, &slate);
    if (!picture) return;
    int index = ring_take(&queue->queued);
    struct buffer *buffer = &queue->buffers[index];
    if (buffer->memory && !is_there_still(buffer, picture)) memcpy(buffer->memory, picture->bytes, picture->count);
    buffer->slate = picture->number;
    deliver(device, index, (int64_t)picture->count, picture->bytes, now);
}

static void *run(void *nothing) {
    (void)nothing;
    pthread_setname_np(pthread_self(), "camarb-v4l2");
    door_inside++;
    pthread_mutex_lock(&door_lock);
    while (streaming_count) {
        int64_t now = door_now(), due = INT64_MAX;
        if (door_client()) {
            /* Its end is an event, which door_events takes. */
            library()->camarb_client_dispatch(door_client());
            door_events();
        }
        try_again(now);
        bool is_short = !door_client();
        for (size_t at = 0; at < streaming_count; at++) {
            struct device *device = streaming[at];
            if (!show_frame(device, now)) show_slate(device, now);
            camarb_slate slate;
            is_short |= !device->session;
            if (slate_of(device, now, &slate) && device->next_slate < due) due = device->next_slate;
            if (!device->last_picture && device->started + STARTING_TIME > now && device->started + STARTING_TIME < due)
                due = device->started + STARTING_TIME;
        }
        if (is_short && next_try < due) due = next_try;
        struct pollfd waited[2] = {{.fd = wake, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
        if (door_client()) waited[1].fd = library()->camarb_client_fd(door_client());
        pthread_mutex_unlock(&door_lock);
        now = door_now();
        struct timespec wait = {0};
        if (due > now && due < INT64_MAX) wait = (struct timespec){(due - now) / SECOND, (due - now) % SECOND};
        int ready = ppoll(waited, 2, due == INT64_MAX ? NULL : &wait, NULL);
        pthread_mutex_lock(&door_lock);
        eventfd_t count;
        if (ready > 0 && waited[0].revents && eventfd_read(wake, &count) < 0) {
            /* Closed past all hooks: the descriptor is made anew, since polling it would spin. */
            door_own(wake, false);
            wake = door_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        }
        if (ready > 0 && waited[1].revents & POLLNVAL) {
            struct timespec moment = {0, 50 * 1000 * 1000};
            pthread_mutex_unlock(&door_lock);
            nanosleep(&moment, NULL);
            pthread_mutex_lock(&door_lock);
        }
    }
    has_thread = false;
    door_rest();
    pthread_mutex_unlock(&door_lock);
    return NULL;
}

static int begin_thread(void) {
    if (wake < 0) {
        wake = door_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (wake < 0) return -EMFILE;
    }
    if (has_thread) return 0;
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    if (pthread_attr_init(&attributes)) return -ENOMEM;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    /* The program's signals are its own threads'. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, run, NULL);
    /* A program may have more of its own for each thread than that. */
    if (error == EINVAL && pthread_attr_setstacksize(&attributes, STACK_BYTES_MORE) == 0)
        error = pthread_create(&thread, &attributes, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    has_thread = error == 0;
    return error ? -EAGAIN : 0;
}

int stream_start(struct device *device) {
    const struct library *lib = library();
    int error = door_connect();
    if (error < 0) return -ENODEV;
    device->started = door_now();
    device->last_picture = 0;
    device->next_slate = device->started;
    note_end(device, "", "");
    streaming[streaming_count++] = device;
    error = begin_session(device);
    if (!error) {
        int refused = lib->camarb_call_finish(door_client(), device->start_call, REFUSAL_TIME_MAX, NULL);
        const char *name = refused && refused != -ETIME ? lib->camarb_client_error_name(door_client()) : "";
        bool is_full = strcmp(name, "org.camarb.Error.LimitExceeded") == 0; /* as of a camera's sharers */
        if (is_full || strcmp(name, "org.camarb.Error.RefusedByPolicy") == 0) error = -EBUSY;
        else if (strcmp(name, "org.camarb.Error.AccessDenied") == 0) error = -EACCES;
        door_events();
    }
    if (!error) error = begin_thread();
    if (error) {
        stream_stop(device);
        return error;
    }
    wake_up();
    return 0;
}

void stream_stop(struct device *device) {
    for (size_t at = 0; at < streaming_count; at++)
        if (streaming[at] == device) streaming[at] = streaming[--streaming_count];
    end_session(device);
    free(device->slate.bytes);
    memset(&device->slate, 0, sizeof device->slate);
    if (has_thread) wake_up();
    else door_rest();
}

/* Each by itself: beside another app a session may have a wish of its own, and by a control it takes the camera, or is refused. */
void stream_configure(struct device *device, bool has_rate) {
    camarb_configuration *batch = device->session ? library()->camarb_configuration_new() : NULL;
    if (!batch) return;
    if (has_rate) wish(device, batch);
    else controls_configure(device, batch);
    if (library()->camarb_configuration_key(batch, 0)) library()->camarb_session_configure(device->session, batch);
    library()->camarb_configuration_free(batch);
    wake_up();
}

void stream_after_fork(void) {
    for (size_t at = 0; at < streaming_count; at++) {
        streaming[at]->session = NULL;
        streaming[at]->queue.is_streaming = false;
    }
    streaming_count = 0;
    has_thread = false;
    door_own_close(wake);
    wake = -1;
}
