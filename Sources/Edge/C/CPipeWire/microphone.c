#define _GNU_SOURCE
#include "CPipeWire.h"
#include "library.h"
#include "microphone.h"

#include <errno.h>
#include <poll.h>
#include <spa/param/audio/format-utils.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The ranges of AAC and of a recording. */
enum { RATE_MIN = 8000, RATE_MAX = 96000, CHANNELS_MAX = 2 };
/* PipeWire's longest cycle. */
enum { FRAMES_MAX = 8192 };
/* A second at its usual cycle of 1,024 frames: a reader that is longer away loses sound. */
enum { SLOTS = 64 };

struct slot {
    struct camarb_heard heard;
    int16_t samples[FRAMES_MAX * CHANNELS_MAX];
};

struct camarb_pipewire_microphone {
    struct pw_loop *loop;
    struct pw_context *context;
    struct pw_core *core;
    struct pw_stream *stream;
    struct spa_hook core_listener, stream_listener;
    /* Signalled by PipeWire's thread when a slot is filled. */
    int filled;
    /* Slots that were filled, and taken, so far: PipeWire's thread writes the first, the caller's the second. */
    atomic_uint written, taken;
    uint32_t rate, channels;
    bool has_ended;
    char error[128];
    struct slot slots[SLOTS];
};

/* --- PipeWire's thread: no lock, no memory --- */

static int64_t captured_at(const struct pw_time *time) {
    /* `delay` is how long a sample was on its way from the device at `now`. */
    if (!time->rate.denom) return time->now;
    return time->now - (int64_t)((double)time->delay * time->rate.num / time->rate.denom * 1e9);
}

static void process(void *data) {
    struct camarb_pipewire_microphone *microphone = data;
    struct pw_buffer *buffer = camarb_library.stream_dequeue_buffer(microphone->stream);
    if (!buffer) return;
    struct pw_time time = {0};
    camarb_library.stream_get_time_n(microphone->stream, &time, sizeof time);
    const struct spa_data *part = &buffer->buffer->datas[0];
    unsigned written = atomic_load_explicit(&microphone->written, memory_order_relaxed);
    unsigned taken = atomic_load_explicit(&microphone->taken, memory_order_acquire);
    uint32_t channels = microphone->channels;
    if (part->data && channels && written - taken < SLOTS) {
        struct slot *slot = &microphone->slots[written % SLOTS];
        uint32_t offset = SPA_MIN(part->chunk->offset, part->maxsize);
        uint32_t bytes = SPA_MIN(part->chunk->size, part->maxsize - offset);
        uint32_t frames = SPA_MIN(bytes / (2 * channels), (uint32_t)FRAMES_MAX);
        memcpy(slot->samples, SPA_PTROFF(part->data, offset, void), (size_t)frames * channels * 2);
        slot->heard = (struct camarb_heard){.captured = captured_at(&time), .frames = frames, .samples = slot->samples};
        if (frames > 0) {
            atomic_store_explicit(&microphone->written, written + 1, memory_order_release);
            eventfd_write(microphone->filled, 1);
        }
    }
    camarb_library.stream_queue_buffer(microphone->stream, buffer);
}

/* --- The caller's thread --- */

static void end(struct camarb_pipewire_microphone *microphone, const char *why) {
    if (microphone->has_ended) return;
    microphone->has_ended = true;
    snprintf(microphone->error, sizeof microphone->error, "%s", why ? why : "");
}

static void state_changed(void *data, enum pw_stream_state old, enum pw_stream_state new, const char *error) {
    (void)old;
    if (new == PW_STREAM_STATE_ERROR) end(data, error);
    if (new == PW_STREAM_STATE_UNCONNECTED) end(data, "PipeWire closed the stream");
}

static void param_changed(void *data, uint32_t id, const struct spa_pod *param) {
    struct camarb_pipewire_microphone *microphone = data;
    if (id != SPA_PARAM_Format || !param) return;
    struct spa_audio_info_raw format;
    if (spa_format_audio_raw_parse(param, &format) < 0) return;
    if (format.rate < RATE_MIN || format.rate > RATE_MAX || format.channels < 1 || format.channels > CHANNELS_MAX)
        return end(microphone, "its sound has another rate than 8 to 96 kHz, or more than two channels");
    if (microphone->rate && (microphone->rate != format.rate || microphone->channels != format.channels))
        return end(microphone, "its sound has another rate now, or other channels");
    microphone->channels = format.channels;
    microphone->rate = format.rate;
}

static const struct pw_stream_events stream_events = {
    .version = PW_VERSION_STREAM_EVENTS,
    .state_changed = state_changed,
    .param_changed = param_changed,
    .process = process,
};

static void failed(void *data, uint32_t id, int sequence, int result, const char *message) {
    (void)sequence, (void)message;
    if (id == PW_ID_CORE && result == -EPIPE) end(data, "PipeWire went away");
}

static const struct pw_core_events core_events = {.version = PW_VERSION_CORE_EVENTS, .error = failed};

static int connect_stream(struct camarb_pipewire_microphone *microphone) {
    uint8_t room[512];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(room, sizeof room);
    /* The rate is the server's own: nothing is resampled before it is encoded. */
    const struct spa_pod *params[] = {spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_audio),
        SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_AUDIO_format, SPA_POD_Id(SPA_AUDIO_FORMAT_S16_LE),
        SPA_FORMAT_AUDIO_rate, SPA_POD_CHOICE_RANGE_Int(48000, RATE_MIN, RATE_MAX), SPA_FORMAT_AUDIO_channels,
        SPA_POD_CHOICE_RANGE_Int(1, 1, CHANNELS_MAX))};
    return camarb_library.stream_connect(
        microphone->stream, PW_DIRECTION_INPUT, PW_ID_ANY,
        PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS | PW_STREAM_FLAG_RT_PROCESS, params, 1);
}

int camarb_pipewire_microphone_open(struct camarb_pipewire_microphone **opened) {
    *opened = NULL;
    if (!camarb_library_load() || !camarb_library.stream_get_time_n) return camarb_pipewire_no_library;
    struct camarb_pipewire_microphone *microphone = calloc(1, sizeof *microphone);
    if (!microphone) return camarb_pipewire_no_server;
    microphone->filled = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    microphone->loop = camarb_library.loop_new(NULL);
    if (microphone->loop && microphone->filled >= 0)
        microphone->context = camarb_library.context_new(microphone->loop, NULL, 0);
    if (microphone->context) microphone->core = camarb_library.context_connect(microphone->context, NULL, 0);
    if (microphone->core) {
        pw_core_add_listener(microphone->core, &microphone->core_listener, &core_events, microphone);
        struct pw_properties *properties = camarb_library.properties_new(
            PW_KEY_MEDIA_TYPE, "Audio", PW_KEY_MEDIA_CATEGORY, "Capture", PW_KEY_MEDIA_ROLE, "Production",
            PW_KEY_NODE_NAME, "camarb.recording", NULL);
        microphone->stream = camarb_library.stream_new(microphone->core, "recording", properties);
    }
    if (microphone->stream)
        camarb_library.stream_add_listener(
            microphone->stream, &microphone->stream_listener, &stream_events, microphone);
    if (!microphone->stream || connect_stream(microphone) < 0) {
        camarb_pipewire_microphone_close(microphone);
        return camarb_pipewire_no_server;
    }
    *opened = microphone;
    return camarb_pipewire_good;
}

void camarb_pipewire_microphone_close(struct camarb_pipewire_microphone *microphone) {
    if (!microphone) return;
    /* Its state is no news any more. */
    microphone->has_ended = true;
    if (microphone->stream) camarb_library.stream_destroy(microphone->stream);
    if (microphone->core) {
        spa_hook_remove(&microphone->core_listener);
        camarb_library.core_disconnect(microphone->core);
    }
    if (microphone->context) camarb_library.context_destroy(microphone->context);
    if (microphone->loop) camarb_library.loop_destroy(microphone->loop);
    if (microphone->filled >= 0) close(microphone->filled);
    free(microphone);
}

int camarb_pipewire_microphone_turn(struct camarb_pipewire_microphone *microphone, int64_t limit_ns) {
    struct pollfd waited[] = {
        {.fd = pw_loop_get_fd(microphone->loop), .events = POLLIN}, {.fd = microphone->filled, .events = POLLIN}};
    struct timespec limit = {.tv_sec = limit_ns / 1000000000, .tv_nsec = limit_ns % 1000000000};
    if (ppoll(waited, 2, &limit, NULL) < 0 && errno != EINTR) end(microphone, strerror(errno));
    eventfd_t count;
    if (waited[1].revents) eventfd_read(microphone->filled, &count);
    /* Entered for the turn alone, since the next one may be on another thread. */
    pw_loop_enter(microphone->loop);
    int result = pw_loop_iterate(microphone->loop, 0);
    pw_loop_leave(microphone->loop);
    if (result < 0 && result != -EINTR) end(microphone, "PipeWire went away");
    return microphone->has_ended ? -1 : 0;
}

uint32_t camarb_pipewire_microphone_rate(const struct camarb_pipewire_microphone *microphone) { return microphone->rate; }

uint32_t camarb_pipewire_microphone_channels(const struct camarb_pipewire_microphone *microphone) {
    return microphone->channels;
}

const char *camarb_pipewire_microphone_error(const struct camarb_pipewire_microphone *microphone) {
    return microphone->error;
}

const struct camarb_heard *camarb_pipewire_microphone_peek(struct camarb_pipewire_microphone *microphone) {
    unsigned taken = atomic_load_explicit(&microphone->taken, memory_order_relaxed);
    if (taken == atomic_load_explicit(&microphone->written, memory_order_acquire)) return NULL;
    return &microphone->slots[taken % SLOTS].heard;
}

void camarb_pipewire_microphone_taken(struct camarb_pipewire_microphone *microphone) {
    unsigned taken = atomic_load_explicit(&microphone->taken, memory_order_relaxed);
    atomic_store_explicit(&microphone->taken, taken + 1, memory_order_release);
}
