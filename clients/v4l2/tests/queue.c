/* The door's queue by itself: all of the door behind its hooks, beside a libcamarb that says what a claim has it say.
 *
 * A claim shows a frame and waits until the door's thread has let it go: whatever it became is in the queue by then. */
#define _GNU_SOURCE
#include "../door.h"
#include "../../libcamarb/tests/units/units.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

enum { WIDTH = 64, HEIGHT = 48, BYTES = WIDTH * HEIGHT * 3 / 2, FRAMES_MAX = 16, PATIENCE_SECONDS = 30 };
/* From one frame to the next, at 30 a second. */
#define INTERVAL INT64_C(33333333)

/* ── The scripted libcamarb ─────────────────────────────────────────────────────────────────────────────────────────────────── */

struct camarb_client {
    int bell;
};

struct camarb_session {
    void *tag;
};

struct camarb_frame {
    camarb_picture picture;
    uint8_t memory[BYTES];
    bool is_cut;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t has_changed;
    struct camarb_client client;
    struct camarb_session session;
    /* Where nobody listens, and how often the list of cameras is waited for in vain. */
    bool is_away;
    int waits_in_vain;
    int64_t waited[8];
    size_t wait_count;
    bool knows_cameras;
    struct camarb_frame frames[FRAMES_MAX];
    size_t shown, taken, released;
    bool has_slate;
    int refusal;
    const char *refusal_name;
    int starts, ends;
    /* The keys of the batch that is being made, and of all that were sent, a line each. */
    char keys[256], sent[1024];
    const camarb_event *told;
} script = {.lock = PTHREAD_MUTEX_INITIALIZER, .has_changed = PTHREAD_COND_INITIALIZER, .client = {-1}};

static void ring(void) {
    if (script.client.bell >= 0) REQUIRE(eventfd_write(script.client.bell, 1) == 0);
}

int camarb_client_new(camarb_client **made, const char *address) {
    REQUIRE(!address && script.client.bell < 0);
    if (script.is_away) return -ENOENT;
    script.client.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    REQUIRE(script.client.bell >= 0);
    *made = &script.client;
    return 0;
}

void camarb_client_free(camarb_client *client) {
    REQUIRE(client == &script.client && client->bell >= 0);
    close(client->bell);
    client->bell = -1;
}

int camarb_client_fd(camarb_client *client) { return client->bell; }

int camarb_client_dispatch(camarb_client *client) {
    eventfd_t rings;
    eventfd_read(client->bell, &rings);
    return 0;
}

int camarb_client_wait(camarb_client *client, int64_t nanoseconds) {
    (void)client;
    if (script.wait_count < sizeof script.waited / sizeof *script.waited) script.waited[script.wait_count++] = nanoseconds;
    if (script.waits_in_vain > 0) {
        script.waits_in_vain--;
        return 0;
    }
    script.knows_cameras = true;
    return 1;
}

const camarb_event *camarb_client_next_event(camarb_client *client) {
    static const camarb_event known = {.type = CAMARB_EVENT_CAMERAS_CHANGED};
    (void)client;
    const camarb_event *told = script.knows_cameras ? &known : script.told;
    script.knows_cameras = false;
    if (told == script.told) script.told = NULL;
    return told;
}

const camarb_camera *camarb_client_cameras(camarb_client *client, size_t *count) {
    static const camarb_format format = {
        .pixel_format = "420v", .width = WIDTH, .height = HEIGHT, .min_frame_rate = 1, .max_frame_rate = 30, .max_zoom_factor = 4,
        .name = "420v 64x48@30"};
    static const camarb_camera camera = {
        .id = "front", .name = "Front", .position = "front", .holder = "", .is_present = true, .formats = &format, .format_count = 1};
    (void)client;
    *count = 1;
    return &camera;
}

camarb_call camarb_client_declare_app(camarb_client *client, const char *app) { return client && app ? 1 : -EINVAL; }

camarb_call camarb_client_watch_cameras(camarb_client *client) { return client ? 2 : -EINVAL; }

int camarb_call_finish(camarb_client *client, camarb_call call, int64_t nanoseconds, uint64_t *value) {
    REQUIRE(client && call == 3 && nanoseconds > 0 && !value);
    return script.refusal;
}

const char *camarb_client_error_name(camarb_client *client) { return client ? script.refusal_name : ""; }

camarb_configuration *camarb_configuration_new(void) {
    script.keys[0] = 0;
    return (camarb_configuration *)&script;
}

void camarb_configuration_free(camarb_configuration *configuration) { REQUIRE(configuration == (camarb_configuration *)&script); }

static int set_key(const char *key) {
    size_t length = strlen(script.keys);
    snprintf(script.keys + length, sizeof script.keys - length, "%s ", key);
    return 0;
}

const char *camarb_configuration_key(const camarb_configuration *configuration, size_t index) {
    REQUIRE(configuration && index == 0);
    return script.keys[0] ? script.keys : NULL;
}

int camarb_configuration_set_word(camarb_configuration *configuration, const char *key, const char *word) {
    return configuration && key && word ? set_key(key) : -EINVAL;
}

int camarb_configuration_set_number(camarb_configuration *configuration, const char *key, double number) {
    return configuration && key && number > 0 ? set_key(key) : -EINVAL;
}

int camarb_configuration_set_flag(camarb_configuration *configuration, const char *key, bool flag) {
    return configuration && key && !flag ? set_key(key) : -EINVAL;
}

camarb_session *camarb_session_new(camarb_client *client, const char *camera, const camarb_configuration *configuration) {
    REQUIRE(client && configuration);
    REQUIRE_TEXT(camera, "front");
    script.starts++;
    return &script.session;
}

void camarb_session_free(camarb_session *session) {
    REQUIRE(session == &script.session);
    script.ends++;
}

void camarb_session_set_tag(camarb_session *session, void *tag) { session->tag = tag; }

void *camarb_session_tag(const camarb_session *session) { return session->tag; }

camarb_call camarb_session_start(camarb_session *session) { return session ? 3 : -EINVAL; }

camarb_call camarb_session_configure(camarb_session *session, const camarb_configuration *batch) {
    size_t length = strlen(script.sent);
    REQUIRE(session && batch);
    snprintf(script.sent + length, sizeof script.sent - length, "%s\n", script.keys);
    return 4;
}

void camarb_session_set_pictures(camarb_session *session, bool on) { REQUIRE(session && on); }

camarb_frame *camarb_session_newest_frame(camarb_session *session) {
    REQUIRE(session == &script.session);
    pthread_mutex_lock(&script.lock);
    camarb_frame *frame = script.taken < script.shown ? &script.frames[script.taken++ % FRAMES_MAX] : NULL;
    pthread_mutex_unlock(&script.lock);
    return frame;
}

const camarb_picture *camarb_frame_picture(const camarb_frame *frame) { return &frame->picture; }

bool camarb_frame_is_intact(const camarb_frame *frame) { return !frame->is_cut; }

void camarb_frame_release(camarb_frame *frame) {
    REQUIRE(frame);
    pthread_mutex_lock(&script.lock);
    script.released++;
    pthread_cond_broadcast(&script.has_changed);
    pthread_mutex_unlock(&script.lock);
}

bool camarb_session_slate(const camarb_session *session, camarb_slate *slate) {
    REQUIRE(session == &script.session);
    slate->kind = CAMARB_SLATE_INTERRUPTED;
    slate->reason = "video-device-in-use-by-another-client";
    return script.has_slate;
}

const struct library *library(void) {
#define MEMBER(name) .name = name,
    static const struct library scripted = {LIBRARY_CALLS(MEMBER)};
    return &scripted;
}

/* hooks.c's: nobody here is in its way. */
int door_raise(int descriptor) {
    door_own(descriptor, true);
    return descriptor;
}

/* A frame of one luma, which the door has looked at when this returns. A narrow one has half the width, and another luma above and below
 * what is left of it in the shape of a whole one. */
static void shows_as(uint8_t luma, int64_t captured, bool is_cut, bool is_narrow) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    pthread_mutex_lock(&script.lock);
    struct camarb_frame *frame = &script.frames[script.shown++ % FRAMES_MAX];
    memset(frame->memory, is_narrow ? 0xee : luma, sizeof frame->memory);
    if (is_narrow) {
        memset(frame->memory + WIDTH * HEIGHT / 4, luma, WIDTH * HEIGHT / 2);
        memset(frame->memory + WIDTH * HEIGHT + WIDTH * HEIGHT / 8, luma, WIDTH * HEIGHT / 4);
    }
    frame->is_cut = is_cut;
    frame->picture = (camarb_picture){
        .pixel_format = "420v", .width = is_narrow ? WIDTH / 2 : WIDTH, .height = HEIGHT, .planes = {frame->memory, frame->memory + WIDTH * HEIGHT},
        .strides = {WIDTH, WIDTH}, .plane_count = 2, .sequence = script.shown, .captured = captured};
    ring();
    while (script.released < script.shown) REQUIRE(pthread_cond_timedwait(&script.has_changed, &script.lock, &until) == 0);
    pthread_mutex_unlock(&script.lock);
}

static void shows(uint8_t luma, int64_t captured, bool is_cut) { shows_as(luma, captured, is_cut, false); }

/* ── A program ──────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static int number;

static int ask(int camera, unsigned long request, void *argument) { return door_ioctl(camera, request, argument); }

static int opens(int flags) {
    int camera = door_open(number, O_RDWR | flags);
    REQUIRE(camera >= 0);
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    format.fmt.pix = (struct v4l2_pix_format){.width = WIDTH, .height = HEIGHT, .pixelformat = V4L2_PIX_FMT_NV12};
    REQUIRE(ask(camera, VIDIOC_S_FMT, &format) == 0 && format.fmt.pix.sizeimage == BYTES);
    return camera;
}

static void closes(int camera) {
    REQUIRE(door_close(camera));
    close(camera);
}

static unsigned requests_of(int camera, unsigned count, enum v4l2_memory memory) {
    struct v4l2_requestbuffers request = {.count = count, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = memory};
    REQUIRE(ask(camera, VIDIOC_REQBUFS, &request) == 0);
    return request.count;
}

static int refuses_request(int camera, unsigned count) {
    struct v4l2_requestbuffers request = {.count = count, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    return ask(camera, VIDIOC_REQBUFS, &request);
}

static struct v4l2_buffer mapped(unsigned index) {
    return (struct v4l2_buffer){.index = index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
}

static int puts_in(int camera, unsigned index) {
    struct v4l2_buffer buffer = mapped(index);
    return ask(camera, VIDIOC_QBUF, &buffer);
}

static int streams(int camera, bool on) {
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    return ask(camera, on ? VIDIOC_STREAMON : VIDIOC_STREAMOFF, &type);
}

static struct v4l2_buffer query(int camera, unsigned index) {
    struct v4l2_buffer buffer = mapped(index);
    REQUIRE(ask(camera, VIDIOC_QUERYBUF, &buffer) == 0 && buffer.index == index);
    return buffer;
}

static struct v4l2_buffer takes(int camera) {
    struct v4l2_buffer buffer = mapped(0);
    REQUIRE(ask(camera, VIDIOC_DQBUF, &buffer) == 0);
    return buffer;
}

static int refuses_take(int camera) {
    struct v4l2_buffer buffer = mapped(0);
    return ask(camera, VIDIOC_DQBUF, &buffer);
}

/* The events that poll returns. */
static bool is_readable(int camera) {
    struct pollfd waited = {.fd = camera, .events = POLLIN | POLLOUT};
    int ready = poll(&waited, 1, 0);
    REQUIRE(ready == (waited.revents != 0) && (waited.revents & ~POLLIN) == 0);
    return ready;
}

static int64_t microseconds(const struct v4l2_buffer *buffer) {
    REQUIRE(buffer->timestamp.tv_usec >= 0 && buffer->timestamp.tv_usec < 1000000);
    return buffer->timestamp.tv_sec * INT64_C(1000000) + buffer->timestamp.tv_usec;
}

static int begins(int flags, unsigned count) {
    int camera = opens(flags);
    REQUIRE(requests_of(camera, count, V4L2_MEMORY_MMAP) == count);
    for (unsigned index = 0; index < count; index++) REQUIRE(puts_in(camera, index) == 0);
    REQUIRE(streams(camera, true) == 0);
    return camera;
}

/* ── The broker ─────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static void slow_broker(void) {
    script.is_away = true;
    REQUIRE(door_open(0, O_RDWR) == -ENODEV && script.wait_count == 0);
    script.is_away = false;
    script.waits_in_vain = 3;
    /* The list of nodes is read anew after a second. */
    struct timespec moment = {0, 20 * MILLISECOND};
    int cancel = door_enter();
    while (door_learn() < 0) {
        door_leave(cancel);
        nanosleep(&moment, NULL);
        cancel = door_enter();
    }
    struct device *device;
    REQUIRE(door_devices(&device, 1) == 1);
    number = device->number;
    door_leave(cancel);
    /* As long as a starved machine takes, and not for ever. */
    REQUIRE(script.wait_count == 4 && script.waited[0] <= 10 * SECOND && script.waited[0] > 9 * SECOND);
    for (size_t at = 1; at < 4; at++) REQUIRE(script.waited[at] <= script.waited[at - 1] && script.waited[at] > 0);
    int camera = opens(0);
    closes(camera);
    /* An idle connection is kept by nobody. */
    REQUIRE(script.client.bell < 0);
}

static void refused(void) {
    int camera = opens(0);
    REQUIRE(streams(camera, true) == -EINVAL);
    requests_of(camera, 2, V4L2_MEMORY_MMAP);
    script.refusal = -EACCES;
    static const struct {
        const char *name;
        int error;
    } refusals[] = {{"org.camarb.Error.RefusedByPolicy", -EBUSY}, {"org.camarb.Error.LimitExceeded", -EBUSY},
        {"org.camarb.Error.AccessDenied", -EACCES}};
    for (size_t at = 0; at < sizeof refusals / sizeof *refusals; at++) {
        script.refusal_name = refusals[at].name;
        REQUIRE(streams(camera, true) == refusals[at].error && script.starts == script.ends);
        /* It does not stream: there is nothing to wait for. */
        REQUIRE(refuses_take(camera) == -EINVAL && is_readable(camera));
    }
    script.refusal = 0;
    REQUIRE(streams(camera, true) == 0 && script.starts == script.ends + 1);
    closes(camera);
    REQUIRE(script.starts == script.ends);
}

/* ── Order, numbers, flags ──────────────────────────────────────────────────────────────────────────────────────────────────── */

static const uint32_t clock_flag = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC | V4L2_BUF_FLAG_MAPPED;

static void order(void) {
    int camera = opens(O_NONBLOCK);
    REQUIRE(requests_of(camera, 4, V4L2_MEMORY_MMAP) == 4);
    static const unsigned order[] = {2, 0, 3, 1};
    for (unsigned at = 0; at < 4; at++) {
        REQUIRE(query(camera, order[at]).flags == clock_flag);
        struct v4l2_buffer buffer = mapped(order[at]);
        REQUIRE(ask(camera, VIDIOC_QBUF, &buffer) == 0);
        REQUIRE(buffer.flags == (clock_flag | V4L2_BUF_FLAG_QUEUED) && buffer.index == order[at] && buffer.length == BYTES);
    }
    /* While nothing streams, whoever polls must not wait for ever. */
    REQUIRE(is_readable(camera));
    REQUIRE(streams(camera, true) == 0 && streams(camera, true) == 0);
    REQUIRE(!is_readable(camera) && refuses_take(camera) == -EAGAIN);
    int64_t captured = door_now();
    for (uint8_t at = 0; at < 3; at++) shows((uint8_t)(10 + at), captured + at, false);
    int there;
    REQUIRE(is_readable(camera) && ioctl(camera, FIONREAD, &there) == 0 && there == 3);
    REQUIRE(query(camera, 2).flags == (clock_flag | V4L2_BUF_FLAG_DONE) && query(camera, 1).flags == (clock_flag | V4L2_BUF_FLAG_QUEUED));
    for (unsigned at = 0; at < 3; at++) {
        struct v4l2_buffer buffer = takes(camera);
        REQUIRE(buffer.index == order[at] && buffer.sequence == at && buffer.bytesused == BYTES && buffer.length == BYTES);
        REQUIRE(buffer.flags == clock_flag && buffer.field == V4L2_FIELD_NONE && buffer.memory == V4L2_MEMORY_MMAP);
        REQUIRE(buffer.type == V4L2_BUF_TYPE_VIDEO_CAPTURE && query(camera, order[at]).flags == clock_flag);
    }
    REQUIRE(!is_readable(camera) && refuses_take(camera) == -EAGAIN);
    /* A buffer that is put back is behind the one that waits. */
    REQUIRE(puts_in(camera, 3) == 0 && query(camera, 3).bytesused == 0);
    shows(13, captured + 3, false);
    shows(14, captured + 4, false);
    struct v4l2_buffer one = takes(camera), other = takes(camera);
    REQUIRE(one.index == 1 && one.sequence == 3 && other.index == 3 && other.sequence == 4);
    closes(camera);
}

static void twice(void) {
    int camera = opens(O_NONBLOCK);
    requests_of(camera, 2, V4L2_MEMORY_MMAP);
    REQUIRE(puts_in(camera, 2) == -EINVAL && puts_in(camera, UINT32_MAX) == -EINVAL);
    REQUIRE(puts_in(camera, 0) == 0 && puts_in(camera, 0) == -EINVAL);
    struct v4l2_buffer wrong = mapped(1);
    wrong.memory = V4L2_MEMORY_USERPTR;
    REQUIRE(ask(camera, VIDIOC_QBUF, &wrong) == -EINVAL && ask(camera, VIDIOC_DQBUF, &wrong) == -EINVAL);
    wrong = mapped(1);
    wrong.type = V4L2_BUF_TYPE_VIDEO_OUTPUT;
    REQUIRE(ask(camera, VIDIOC_QBUF, &wrong) == -EINVAL && ask(camera, VIDIOC_DQBUF, &wrong) == -EINVAL);
    REQUIRE(ask(camera, VIDIOC_QUERYBUF, &wrong) == -EINVAL);
    wrong = mapped(2);
    REQUIRE(ask(camera, VIDIOC_QUERYBUF, &wrong) == -EINVAL);
    wrong = mapped(1);
    wrong.flags = V4L2_BUF_FLAG_REQUEST_FD;
    REQUIRE(ask(camera, VIDIOC_QBUF, &wrong) == -EBADR);
    REQUIRE(streams(camera, true) == 0);
    shows(1, door_now(), false);
    /* A full buffer is taken first. */
    REQUIRE(puts_in(camera, 0) == -EINVAL && takes(camera).index == 0 && puts_in(camera, 0) == 0);
    /* Other open files have no part in the queue. */
    int other = door_open(number, O_RDWR | O_NONBLOCK);
    REQUIRE(puts_in(other, 1) == -EBUSY && refuses_take(other) == -EBUSY && streams(other, false) == -EBUSY && streams(other, true) == -EBUSY);
    REQUIRE(refuses_request(other, 2) == -EBUSY);
    closes(other);
    REQUIRE(query(camera, 0).flags & V4L2_BUF_FLAG_QUEUED);
    closes(camera);
}

static void dropped(void) {
    int camera = begins(O_NONBLOCK, 2);
    int64_t captured = door_now();
    for (uint8_t at = 0; at < 5; at++) shows(at, captured + at, false);
    struct v4l2_buffer first = takes(camera), second = takes(camera);
    REQUIRE(first.sequence == 0 && second.sequence == 1 && refuses_take(camera) == -EAGAIN);
    REQUIRE(puts_in(camera, first.index) == 0);
    /* Nothing is shown of what was cut while it was copied, and the buffer is free for the next. */
    shows(6, captured + 6, true);
    REQUIRE(refuses_take(camera) == -EAGAIN && query(camera, first.index).flags & V4L2_BUF_FLAG_QUEUED);
    shows(7, captured + 7, false);
    struct v4l2_buffer third = takes(camera);
    /* The gap is those for which no buffer was there. */
    REQUIRE(third.sequence == 5 && third.index == first.index);
    closes(camera);
}

static void many_times_round(void) {
    int camera = begins(O_NONBLOCK, 3);
    int error;
    uint8_t *memory[3];
    for (unsigned at = 0; at < 3; at++) {
        memory[at] = door_map(camera, NULL, BYTES, PROT_READ, MAP_SHARED, query(camera, at).m.offset, &error);
        REQUIRE(memory[at] != MAP_FAILED && error == 0);
    }
    int64_t captured = door_now();
    for (unsigned at = 0; at < 100; at++) {
        shows((uint8_t)at, captured + at * INTERVAL, false);
        struct v4l2_buffer buffer = takes(camera);
        REQUIRE(buffer.index == at % 3 && buffer.sequence == at);
        REQUIRE(memory[buffer.index][0] == at && memory[buffer.index][BYTES - 1] == at);
        REQUIRE(puts_in(camera, buffer.index) == 0);
    }
    for (unsigned at = 0; at < 3; at++) munmap(memory[at], BYTES);
    closes(camera);
}

static void rings(void) {
    struct ring ring = {0};
    REQUIRE(ring_take(&ring) == -1);
    for (unsigned turn = 0; turn < 3; turn++) {
        for (unsigned at = 0; at < BUFFERS_MAX; at++) ring_put(&ring, (at + turn) % BUFFERS_MAX);
        /* There is no further buffer that could come in. */
        ring_put(&ring, 7);
        REQUIRE(ring.count == BUFFERS_MAX);
        for (unsigned at = 0; at < BUFFERS_MAX - turn; at++) REQUIRE(ring_take(&ring) == (int)((at + turn) % BUFFERS_MAX));
        while (ring_take(&ring) >= 0) {}
        REQUIRE(ring.count == 0);
    }
}

/* ── Times ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static void times(void) {
    int camera = begins(O_NONBLOCK, 2);
    /* Over the end of a second, as any run of frames goes. */
    int64_t base = (door_now() / SECOND - 1) * SECOND - 5 * INTERVAL + 999, before = 0;
    for (int at = 0; at < 10; at++) {
        int64_t captured = base + at * INTERVAL;
        shows(0, captured, false);
        struct v4l2_buffer buffer = takes(camera);
        struct v4l2_buffer same = query(camera, buffer.index);
        int64_t moment = microseconds(&buffer);
        REQUIRE(moment == captured / 1000 && microseconds(&same) == moment);
        /* Of CLOCK_MONOTONIC, and a frame's interval apart, less what a microsecond cannot say. */
        REQUIRE(moment <= door_now() / 1000 && moment >= door_now() / 1000 - 1000000 * (PATIENCE_SECONDS + 1));
        if (at) REQUIRE(moment - before == 33333 || moment - before == 33334);
        before = moment;
        REQUIRE(puts_in(camera, buffer.index) == 0);
    }
    /* No picture is older than the one before it, nor as old. */
    for (int at = 1; at < 4; at++) {
        shows(0, at == 1 ? base + 9 * INTERVAL : base, false);
        struct v4l2_buffer buffer = takes(camera);
        REQUIRE(microseconds(&buffer) == before + at && puts_in(camera, buffer.index) == 0);
    }
    /* Of another stream it may be. */
    REQUIRE(streams(camera, false) == 0 && puts_in(camera, 0) == 0 && streams(camera, true) == 0);
    shows(0, base, false);
    struct v4l2_buffer buffer = takes(camera);
    REQUIRE(microseconds(&buffer) == base / 1000);
    closes(camera);
}

static void slates(void) {
    int camera = opens(0);
    requests_of(camera, 2, V4L2_MEMORY_MMAP);
    REQUIRE(puts_in(camera, 0) == 0 && puts_in(camera, 1) == 0);
    script.has_slate = true;
    int64_t begun = door_now() / 1000, last = 0;
    REQUIRE(streams(camera, true) == 0);
    for (int at = 0; at < 8; at++) {
        struct v4l2_buffer buffer = takes(camera);
        int64_t moment = microseconds(&buffer);
        /* At the program's own rate, and no faster; each a moment that has been. */
        REQUIRE(moment >= begun + at * (INTERVAL / 1000) && moment > last && moment <= door_now() / 1000);
        REQUIRE(buffer.bytesused == BYTES);
        last = moment;
        REQUIRE(puts_in(camera, buffer.index) == 0);
    }
    closes(camera);
    script.has_slate = false;
}

/* ── Waiting ────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

struct waiter {
    int camera;
    pthread_t thread;
    int result;
    struct v4l2_buffer buffer;
};

static void *wait_in_take(void *given) {
    struct waiter *waiter = given;
    waiter->buffer = mapped(0);
    waiter->result = ask(waiter->camera, VIDIOC_DQBUF, &waiter->buffer);
    return NULL;
}

/* Until so many threads have given the lock up in there. */
static void wait_for_users(int camera, unsigned count) {
    struct timespec moment = {0, MILLISECOND};
    for (unsigned users = 0; users != count; nanosleep(&moment, NULL)) {
        int cancel = door_enter();
        struct file *file = file_take(camera);
        REQUIRE(file);
        users = file->users - 1;
        file_give(file);
        door_leave(cancel);
    }
}

static void begin_waiting(struct waiter *waiter, int camera, unsigned count) {
    for (unsigned at = 0; at < count; at++) {
        waiter[at] = (struct waiter){.camera = camera};
        REQUIRE(pthread_create(&waiter[at].thread, NULL, wait_in_take, &waiter[at]) == 0);
    }
    wait_for_users(camera, count);
}

static void is_awake(struct waiter *waiter) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    REQUIRE(pthread_timedjoin_np(waiter->thread, NULL, &until) == 0);
}

static void a_frame_wakes_one(void) {
    struct waiter waiters[2];
    int camera = begins(0, 2);
    begin_waiting(waiters, camera, 2);
    shows(5, door_now(), false);
    wait_for_users(camera, 1);
    shows(6, door_now(), false);
    for (int at = 0; at < 2; at++) {
        is_awake(&waiters[at]);
        REQUIRE(waiters[at].result == 0);
    }
    REQUIRE(waiters[0].buffer.index != waiters[1].buffer.index && waiters[0].buffer.sequence != waiters[1].buffer.sequence);
    closes(camera);
}

static void stopping_wakes_all(void) {
    struct waiter waiters[2];
    int camera = begins(0, 2);
    begin_waiting(waiters, camera, 2);
    int starts = script.starts;
    REQUIRE(streams(camera, false) == 0 && script.ends == starts);
    for (int at = 0; at < 2; at++) {
        is_awake(&waiters[at]);
        REQUIRE(waiters[at].result == -EINVAL);
    }
    /* All buffers are the program's again, and the next stream begins with none, at number 0. */
    REQUIRE(query(camera, 0).flags == clock_flag && query(camera, 1).flags == clock_flag && is_readable(camera));
    REQUIRE(streams(camera, true) == 0 && !is_readable(camera));
    shows(1, door_now(), false);
    REQUIRE(puts_in(camera, 1) == 0);
    shows(2, door_now(), false);
    struct v4l2_buffer buffer = takes(camera);
    REQUIRE(buffer.index == 1 && buffer.sequence == 1);
    closes(camera);
}

static void what_is_ready_goes_with_the_stream(void) {
    int camera = begins(O_NONBLOCK, 2);
    shows(1, door_now(), false);
    REQUIRE(query(camera, 0).flags & V4L2_BUF_FLAG_DONE && streams(camera, false) == 0);
    REQUIRE(query(camera, 0).flags == clock_flag && refuses_take(camera) == -EINVAL);
    REQUIRE(streams(camera, true) == 0 && refuses_take(camera) == -EAGAIN && !is_readable(camera));
    REQUIRE(streams(camera, false) == 0 && puts_in(camera, 1) == 0 && streams(camera, false) == 0);
    /* Also what was queued for a stream that never began. */
    REQUIRE(query(camera, 1).flags == clock_flag && streams(camera, true) == 0);
    shows(2, door_now(), false);
    REQUIRE(refuses_take(camera) == -EAGAIN && puts_in(camera, 1) == 0);
    shows(3, door_now(), false);
    struct v4l2_buffer buffer = takes(camera);
    REQUIRE(buffer.sequence == 1 && buffer.index == 1);
    closes(camera);
}

static void closing_wakes(void) {
    struct waiter waiter;
    int camera = begins(0, 2);
    begin_waiting(&waiter, camera, 1);
    closes(camera);
    is_awake(&waiter);
    REQUIRE(waiter.result == -ENODEV && script.starts == script.ends);
}

/* ── Buffers ────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static uint32_t in_pages(uint32_t bytes) {
    uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

static void numbers_of_buffers(void) {
    int camera = opens(O_NONBLOCK), other = door_open(number, O_RDWR | O_NONBLOCK);
    REQUIRE(requests_of(camera, 1, V4L2_MEMORY_MMAP) == 2 && refuses_request(other, 2) == -EBUSY);
    REQUIRE(requests_of(camera, 5, V4L2_MEMORY_MMAP) == 5);
    for (unsigned at = 0; at < 5; at++) {
        struct v4l2_buffer buffer = query(camera, at);
        REQUIRE(buffer.length == BYTES && buffer.m.offset == at * in_pages(BYTES));
    }
    REQUIRE(streams(camera, true) == 0 && refuses_request(camera, 2) == -EBUSY && refuses_request(camera, 0) == -EBUSY);
    REQUIRE(streams(camera, false) == 0 && requests_of(camera, BUFFERS_MAX + 8, V4L2_MEMORY_MMAP) == BUFFERS_MAX);
    struct v4l2_create_buffers more = {.count = 1, .memory = V4L2_MEMORY_MMAP, .format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE}};
    more.format.fmt.pix.sizeimage = BYTES;
    REQUIRE(ask(camera, VIDIOC_CREATE_BUFS, &more) == -ENOBUFS);
    REQUIRE(requests_of(camera, 0, V4L2_MEMORY_MMAP) == 0 && puts_in(camera, 0) == -EINVAL && streams(camera, true) == -EINVAL);
    /* They are nobody's now. */
    REQUIRE(requests_of(other, 2, V4L2_MEMORY_MMAP) == 2 && refuses_request(camera, 2) == -EBUSY);
    closes(other);
    REQUIRE(requests_of(camera, 2, V4L2_MEMORY_MMAP) == 2);
    more.index = 0;
    more.count = 3;
    more.format.fmt.pix.sizeimage = BYTES - 1;
    REQUIRE(ask(camera, VIDIOC_CREATE_BUFS, &more) == -EINVAL);
    more.format.fmt.pix.sizeimage = 2 * BYTES;
    REQUIRE(ask(camera, VIDIOC_CREATE_BUFS, &more) == 0 && more.index == 2 && more.count == 3);
    REQUIRE(query(camera, 1).length == BYTES && query(camera, 4).length == 2 * BYTES && puts_in(camera, 5) == -EINVAL);
    more.memory = V4L2_MEMORY_USERPTR;
    REQUIRE(ask(camera, VIDIOC_CREATE_BUFS, &more) == -EINVAL);
    more.memory = V4L2_MEMORY_MMAP;
    more.count = BUFFERS_MAX;
    REQUIRE(ask(camera, VIDIOC_CREATE_BUFS, &more) == 0 && more.index == 5 && more.count == BUFFERS_MAX - 5);
    /* Mapped whole or in part, where one begins. */
    int error;
    uint32_t offset = query(camera, 3).m.offset;
    size_t whole = in_pages(2 * BYTES);
    void *memory = door_map(camera, NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, offset, &error);
    REQUIRE(memory != MAP_FAILED && munmap(memory, whole) == 0);
    REQUIRE(door_map(camera, NULL, BYTES, PROT_READ, MAP_SHARED, offset + 1, &error) == MAP_FAILED && error == EINVAL);
    REQUIRE(door_map(camera, NULL, whole + 1, PROT_READ, MAP_SHARED, offset, &error) == MAP_FAILED && error == EINVAL);
    /* A copy would show no picture but the first. */
    REQUIRE(door_map(camera, NULL, BYTES, PROT_READ, MAP_PRIVATE, offset, &error) == MAP_FAILED && error == EINVAL);
    closes(camera);
}

static void memory_of_the_program(void) {
    int camera = opens(O_NONBLOCK);
    REQUIRE(requests_of(camera, 2, V4L2_MEMORY_USERPTR) == 2);
    uint8_t *memory = malloc(BYTES + 1);
    REQUIRE(memory);
    memset(memory, 0xee, BYTES + 1);
    struct v4l2_buffer buffer = {
        .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_USERPTR, .m.userptr = (unsigned long)memory, .length = BYTES - 1};
    REQUIRE(ask(camera, VIDIOC_QBUF, &buffer) == -EINVAL);
    buffer.length = BYTES + 1;
    REQUIRE(ask(camera, VIDIOC_QBUF, &buffer) == 0 && buffer.flags == (V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC | V4L2_BUF_FLAG_QUEUED));
    REQUIRE(streams(camera, true) == 0);
    shows(9, door_now(), false);
    buffer = (struct v4l2_buffer){.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_USERPTR};
    REQUIRE(ask(camera, VIDIOC_DQBUF, &buffer) == 0 && buffer.m.userptr == (unsigned long)memory && buffer.length == BYTES + 1);
    REQUIRE(buffer.bytesused == BYTES && memory[0] == 9 && memory[BYTES - 1] == 9 && memory[BYTES] == 0xee);
    buffer.length = BYTES;
    REQUIRE(ask(camera, VIDIOC_QBUF, &buffer) == 0);
    shows_as(8, door_now(), false, true);
    REQUIRE(ask(camera, VIDIOC_DQBUF, &buffer) == 0 && buffer.bytesused == BYTES);
    for (size_t at = 0; at < BYTES; at++) REQUIRE(memory[at] == 8);
    closes(camera);
    free(memory);
}

/* ── Batches ────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static const struct timespec moment = {0, MILLISECOND};

static void sends(const char *wanted) {
    for (bool has = false; !has;) {
        int cancel = door_enter();
        has = *script.sent || !*wanted;
        if (has) REQUIRE_TEXT(script.sent, wanted);
        if (has) script.sent[0] = 0;
        door_leave(cancel);
        nanosleep(&moment, NULL);
    }
}

static void hears(const char *const *access) {
    static camarb_event event;
    int cancel = door_enter();
    event = (camarb_event){.type = CAMARB_EVENT_ACCESS_CHANGED, .session = &script.session, .access = access, .controller = ""};
    script.told = &event;
    ring();
    for (bool is_heard = false; !is_heard;) {
        door_leave(cancel);
        nanosleep(&moment, NULL);
        cancel = door_enter();
        is_heard = !script.told;
    }
    door_leave(cancel);
}

static void batches(void) {
    static const char *const watches[] = {"preview", "photo", NULL}, *const controls[] = {"preview", "photo", "record", "configure", NULL};
    int camera = begins(O_NONBLOCK, 2);
    struct v4l2_control zoom = {V4L2_CID_ZOOM_ABSOLUTE, 200};
    struct v4l2_streamparm rate = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    sends("");
    hears(controls);
    rate.parm.capture.timeperframe = (struct v4l2_fract){1, 15};
    REQUIRE(ask(camera, VIDIOC_S_PARM, &rate) == 0);
    sends("activeFormat frameRate \n");
    REQUIRE(ask(camera, VIDIOC_S_CTRL, &zoom) == 0);
    sends("videoZoomFactor \n");
    hears(watches);
    rate.parm.capture.timeperframe = (struct v4l2_fract){1, 30};
    REQUIRE(ask(camera, VIDIOC_S_PARM, &rate) == 0);
    sends("activeFormat frameRate \n");
    hears(controls);
    sends("videoZoomFactor \n");
    closes(camera);
}

int main(void) {
    static const struct unit units[] = {
        {"a broker that is slow is waited for, and one that is not there is not", slow_broker},
        {"a start that is refused leaves nothing behind", refused},
        {"buffers are filled and taken in the order in which they were put in, numbered, and say what they are", order},
        {"a buffer is put in once, by whoever asked for it", twice},
        {"a frame without a buffer is a gap in the numbers, and a cut one is shown to nobody", dropped},
        {"buffers go round, each with its own frame", many_times_round},
        {"a ring has room for all buffers, and for none twice", rings},
        {"a picture's time is the moment of its capture, by CLOCK_MONOTONIC", times},
        {"slates come at the program's own rate, at moments that have been", slates},
        {"a frame wakes one of those who wait for it", a_frame_wakes_one},
        {"STREAMOFF wakes all who wait in DQBUF, and begins the numbers anew", stopping_wakes_all},
        {"what is ready or queued is gone with its stream", what_is_ready_goes_with_the_stream},
        {"a close wakes whoever waits in the file", closing_wakes},
        {"there are as many buffers as were asked for, two at least and 32 at most, each with memory of its own", numbers_of_buffers},
        {"memory of the program's is written as far as the picture goes, with the middle of one that has another shape", memory_of_the_program},
        {"rate and controls are configured each by itself, and the controls again when the program may", batches},
    };
    return units_run(units, sizeof units / sizeof *units, NULL, NULL);
}
