/* Streams: a packet socket from a recorder core, and frames in memory that is the recorder core's.
 *
 * Nothing that comes from there is believed before it was looked at: a record that no recorder core sends ends the stream, and
 * nothing else. What is mapped cannot shrink, so that looking at a picture never kills the program. (FrameReceiver.swift.)
 *
 * A recorder core changes the buffers of a stream when the format changes: it announces others, and blanks the old ones, whose memory
 * the others may have, before the first frame in one of them. Those that are announced after a frame are therefore a new generation,
 * and the older ones have their pictures no more. */
#include "inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Sources/Language/ArbiterProtocol/Wire/FrameRecord.swift, and docs/wire.md. */
#define RECORD_BYTES 40
enum tag { TAG_BUFFER = 1, TAG_FRAME = 2, TAG_RELEASE = 3, TAG_END = 4 };

/* Of a DMA buffer's file system, and of a memfd's, in linux/magic.h. */
#define DMA_BUFFER_MAGIC 0x444d4142
#define TMPFS_MAGIC 0x01021994

/* More DMA buffers than a driver has (VIDEO_MAX_FRAME). Further ones come without their descriptors, of which a program has few. */
#define DMABUFS_MAX 32

struct buffer {
    struct buffer *next;
    uint32_t index, generation;
    uint32_t width, height, stride;
    char pixel_format[8];
    void *memory;
    size_t bytes;
    int dmabuf; /* -1: it is none */
    unsigned users; /* frames in it that wait or are held */
};

struct waiting {
    struct buffer *buffer;
    uint64_t sequence;
    int64_t captured;
    uint32_t flags;
};

struct camarb_frame {
    camarb_picture picture;
    struct stream *stream;
    struct buffer *buffer;
    bool is_held;
};

struct stream {
    struct stream *next;
    camarb_client *client;
    camarb_session *session; /* NULL: it is over */
    int descriptor; /* -1: it is over */
    uint64_t grant;
    uint32_t generation;
    bool has_frame; /* of this generation */
    struct buffer *buffers;
    size_t buffer_count;
    struct waiting waiting[FRAMES_WAITING_MAX];
    size_t waiting_count;
    struct camarb_frame held[FRAMES_HELD_MAX];
    char lie[256]; /* the sentence about what no recorder core sends */
};

/* ── Beginning and end ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

static size_t held_count(const struct stream *stream) {
    size_t count = 0;
    for (size_t i = 0; i < FRAMES_HELD_MAX; i++) count += stream->held[i].is_held;
    return count;
}

static void buffer_free(struct buffer *buffer) {
    munmap(buffer->memory, buffer->bytes);
    if (buffer->dmabuf >= 0) close(buffer->dmabuf);
    free(buffer);
}

/* Unmaps what nobody looks at any more: of a stream that is over everything, else the generations that are blank. */
static void collect(struct stream *stream) {
    struct buffer **place = &stream->buffers;
    while (*place) {
        struct buffer *buffer = *place;
        bool is_old = stream->descriptor < 0 || buffer->generation != stream->generation;
        if (is_old && buffer->users == 0) {
            *place = buffer->next;
            stream->buffer_count--;
            buffer_free(buffer);
        } else {
            place = &buffer->next;
        }
    }
}

static void stream_free(struct stream *stream) {
    struct stream **place = &stream->client->streams;
    while (*place != stream) place = &(*place)->next;
    *place = stream->next;
    while (stream->buffers) {
        struct buffer *buffer = stream->buffers;
        stream->buffers = buffer->next;
        buffer_free(buffer);
    }
    free(stream);
}

static void drop_waiting(struct stream *stream) {
    for (size_t i = 0; i < stream->waiting_count; i++) stream->waiting[i].buffer->users--;
    stream->waiting_count = 0;
}

static void close_descriptor(struct stream *stream) {
    if (stream->descriptor < 0) return;
    /* In a child of the program the epoll set is the parent's, too. */
    if (stream->client->owner == getpid()) epoll_ctl(stream->client->epoll, EPOLL_CTL_DEL, stream->descriptor, NULL);
    close(stream->descriptor);
    stream->descriptor = -1;
}

void stream_end(struct stream *stream) {
    close_descriptor(stream);
    if (stream->session) stream->session->stream = NULL;
    stream->session = NULL;
    /* They are blank. */
    drop_waiting(stream);
    collect(stream);
    if (held_count(stream) == 0) stream_free(stream);
}

/* A session that has no stream though it runs opens another one, when a moment has passed. */
static void stream_is_over(struct stream *stream) {
    if (stream->session) stream->session->stream_due = now_ns() + STREAM_PAUSE;
    stream_end(stream);
}

static void stream_is_broken(struct stream *stream, const char *wrong) {
    camarb_session *session = stream->session;
    /* It goes with the stream. */
    char sentence[sizeof stream->lie];
    snprintf(sentence, sizeof sentence, "%s", wrong);
    stream_is_over(stream);
    if (!session) return;
    session->broken_run = session->memory.run;
    session_tell_runtime_error(session, ERROR_RECORDER_FAULT, sentence);
}

void stream_adopt(camarb_session *session, int descriptor) {
    camarb_client *client = session->client;
    struct stream *stream = calloc(1, sizeof *stream);
    struct epoll_event event = {.events = EPOLLIN};
    if (!stream || epoll_ctl(client->epoll, EPOLL_CTL_ADD, descriptor, &event) < 0) {
        if (!stream) client->is_out_of_memory = true;
        free(stream);
        close(descriptor);
        return;
    }
    *stream = (struct stream){
        .next = client->streams, .client = client, .session = session, .descriptor = descriptor,
        .grant = session->memory.grant};
    client->streams = stream;
    session->stream = stream;
    stream_read(stream);
}

void streams_free(camarb_client *client) {
    while (client->streams) {
        close_descriptor(client->streams);
        stream_free(client->streams);
    }
}

/* ── Records ────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static uint32_t get32(const uint8_t *record, size_t offset) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; i++) value |= (uint32_t)record[offset + i] << (8 * i);
    return value;
}

static uint64_t get64(const uint8_t *record, size_t offset) {
    return get32(record, offset) | (uint64_t)get32(record, offset + 4) << 32;
}

static void give_back(struct stream *stream, struct buffer *buffer) {
    buffer->users--;
    /* In a child of the program it is the parent's to give back. */
    if (stream->descriptor < 0 || stream->client->owner != getpid()) return;
    uint8_t record[RECORD_BYTES] = {TAG_RELEASE};
    for (size_t i = 0; i < 4; i++) record[4 + i] = (uint8_t)(buffer->index >> (8 * i));
    /* Fewer packets than there are buffers are ever under way, so the socket has room; where it has not, the recorder core is
     * gone, and that is read from the socket. */
    ssize_t sent;
    do sent = send(stream->descriptor, record, sizeof record, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
}

static bool is_dmabuf(int descriptor) {
    struct statfs system;
    return fstatfs(descriptor, &system) == 0 && system.f_type == DMA_BUFFER_MAGIC;
}

/* The descriptor of a DMA buffer, for as long as the buffer is known; -1 where it is none, or the process may have no more. */
static int kept(const struct stream *stream, int descriptor) {
    size_t count = 0;
    for (const struct buffer *buffer = stream->buffers; buffer; buffer = buffer->next) count += buffer->dmabuf >= 0;
    return is_dmabuf(descriptor) && count < DMABUFS_MAX ? fcntl(descriptor, F_DUPFD_CLOEXEC, 3) : -1;
}

/* Whether so many bytes of it may be mapped for ever: a buffer that could shrink would kill this process at its next look. */
static bool is_safe(int descriptor, uint64_t bytes) {
    struct stat status;
    struct statfs system;
    /* A DMA buffer has one size for ever. */
    if (is_dmabuf(descriptor)) {
        off_t size = lseek(descriptor, 0, SEEK_END);
        return size >= 0 && (uint64_t)size >= bytes;
    }
    /* One of huge pages takes the same seals, and a look at it is a SIGBUS where none is left. */
    if (fstatfs(descriptor, &system) < 0 || system.f_type != TMPFS_MAGIC) return false;
    const int wanted = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | F_SEAL_FUTURE_WRITE;
    int seals = fcntl(descriptor, F_GET_SEALS);
    return seals >= 0 && (seals & wanted) == wanted && fstat(descriptor, &status) == 0 && status.st_size >= 0
        && (uint64_t)status.st_size >= bytes;
}

static struct buffer *find(const struct stream *stream, uint32_t index) {
    struct buffer *buffer = stream->buffers;
    while (buffer && (buffer->index != index || buffer->generation != stream->generation)) buffer = buffer->next;
    return buffer;
}

static void begin_generation(struct stream *stream) {
    stream->generation++;
    stream->has_frame = false;
    for (size_t i = 0; i < stream->waiting_count; i++) give_back(stream, stream->waiting[i].buffer);
    stream->waiting_count = 0;
    collect(stream);
}

__attribute__((format(printf, 2, 3))) static const char *lie(struct stream *stream, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(stream->lie, sizeof stream->lie, format, arguments);
    va_end(arguments);
    return stream->lie;
}

/* NULL, or what is wrong with it. */
static const char *take_buffer(struct stream *stream, const uint8_t *record, int descriptor) {
    if (stream->has_frame) begin_generation(stream);
    uint32_t index = get32(record, 4), width = get32(record, 8), height = get32(record, 12), stride = get32(record, 16);
    uint64_t size = get64(record, 24);
    if (width < 2 || height < 2 || width > SIDE_MAX || height > SIDE_MAX || width % 2 || height % 2 || find(stream, index)
        || stream->buffer_count == BUFFERS_MAX)
        return lie(stream, "Buffer %u is %ux%u, is there twice, or is one of too many; the stream ended.", index, width, height);
    bool is_known = memcmp(record + 20, "420v", 4) == 0 || memcmp(record + 20, "420f", 4) == 0;
    if (!is_known) return lie(stream, "Buffer %u is neither 420v nor 420f; the stream ended.", index);
    /* At most 6 GiB and some: it fits in 64 bits whatever it is multiplied from. */
    uint64_t needed = (uint64_t)stride * height + (uint64_t)stride * (height / 2);
    if (stride < width || stride > 4 * SIDE_MAX || needed > size || needed > SIZE_MAX)
        return lie(stream, "Buffer %u has rows of %u bytes and %llu bytes in all, where a picture of %ux%u has more; the stream ended.",
            index, stride, (unsigned long long)size, width, height);
    if (descriptor < 0 || !is_safe(descriptor, size))
        return lie(stream, "Buffer %u is smaller than was said, or not sealed against shrinking; the stream ended.", index);
    struct buffer *buffer = calloc(1, sizeof *buffer);
    void *memory = buffer ? mmap(NULL, needed, PROT_READ, MAP_SHARED, descriptor, 0) : MAP_FAILED;
    if (memory == MAP_FAILED) {
        lie(stream, "Mapping buffer %u failed: %s; the stream ended.", index, strerror(errno));
        free(buffer);
        return stream->lie;
    }
    *buffer = (struct buffer){
        .next = stream->buffers, .index = index, .generation = stream->generation, .width = width, .height = height,
        .stride = stride, .memory = memory, .bytes = needed, .dmabuf = kept(stream, descriptor)};
    memcpy(buffer->pixel_format, record + 20, 4);
    stream->buffers = buffer;
    stream->buffer_count++;
    return NULL;
}

/* A flag says something about all frames from there on, so the next one has it. */
static void drop_first(struct stream *stream) {
    struct waiting first = stream->waiting[0];
    memmove(&stream->waiting[0], &stream->waiting[1], --stream->waiting_count * sizeof first);
    if (stream->waiting_count > 0) stream->waiting[0].flags |= first.flags & CAMARB_PICTURE_CONFIGURATION_CHANGED;
    give_back(stream, first.buffer);
}

static const char *take_frame(struct stream *stream, const uint8_t *record) {
    uint32_t index = get32(record, 4);
    struct buffer *buffer = find(stream, index);
    if (!buffer) return lie(stream, "A frame came in buffer %u, which was never announced; the stream ended.", index);
    if (buffer->users > 0) return lie(stream, "A frame came in buffer %u, which was not given back; the stream ended.", index);
    stream->has_frame = true;
    /* Nobody's clock is in the future or before its beginning; programs count with what they are told. */
    int64_t captured = (int64_t)get64(record, 16), now = now_ns();
    if (captured < 0 || captured > now) captured = captured < 0 ? 0 : now;
    buffer->users++;
    if (stream->waiting_count == FRAMES_WAITING_MAX) drop_first(stream);
    stream->waiting[stream->waiting_count++] = (struct waiting){
        .buffer = buffer, .sequence = get64(record, 8), .captured = captured,
        .flags = get32(record, 32) & (CAMARB_PICTURE_CONFIGURATION_CHANGED | CAMARB_PICTURE_SLATE)};
    return NULL;
}

/* The next record, with at most one descriptor; surplus ones are closed. As recvmsg, with a negative errno number. */
static ssize_t receive(int socket, uint8_t *record, int *passed) {
    struct iovec part = {.iov_base = record, .iov_len = RECORD_BYTES};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(8 * sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.space};
    *passed = -1;
    ssize_t count;
    do count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    if (count < 0) return -errno;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t descriptors = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < descriptors; i++) {
            int received;
            memcpy(&received, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
            if (*passed < 0) *passed = received;
            else close(received);
        }
    }
    /* A packet that is longer than a record is none. */
    return message.msg_flags & MSG_TRUNC ? 0 : count;
}

void stream_read(struct stream *stream) {
    for (int records = 0; stream->descriptor >= 0; records++) {
        if (records == RECORDS_PER_TURN_MAX) {
            stream->client->has_more = true;
            return;
        }
        uint8_t record[RECORD_BYTES] = {0};
        int passed;
        ssize_t count = receive(stream->descriptor, record, &passed);
        if (count == -EAGAIN) return;
        const char *wrong = NULL;
        bool is_end = count <= 0;
        if (count > 0 && count < RECORD_BYTES) {
            wrong = "A packet came that is not a record; the stream ended.";
        } else if (count > 0) {
            switch (get32(record, 0)) {
            case TAG_BUFFER: wrong = take_buffer(stream, record, passed); break;
            case TAG_FRAME: wrong = take_frame(stream, record); break;
            case TAG_END: is_end = true; break;
            default: wrong = "A record came that no recorder core sends; the stream ended.";
            }
        }
        if (passed >= 0) close(passed);
        if (wrong || is_end) {
            /* A closed socket, also by a reset: the recorder core is gone, or the grant over. */
            if (wrong) stream_is_broken(stream, wrong);
            else stream_is_over(stream);
            return;
        }
    }
}

void streams_read(camarb_client *client) {
    for (struct stream *stream = client->streams, *next; stream; stream = next) {
        next = stream->next;
        stream_read(stream);
    }
}

/* ── Frames ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

void camarb_session_set_pictures(camarb_session *session, bool on) {
    if (!session || session->wants_pictures == on) return;
    session->wants_pictures = on;
    if (!on && session->stream) {
        stream_end(session->stream);
        session->stream_due = 0;
    }
    session_ask(session);
    client_arm(session->client);
}

bool stream_has_frame(const struct stream *stream) {
    return stream->waiting_count > 0 && held_count(stream) < FRAMES_HELD_MAX;
}

void stream_keep(struct stream *stream, size_t newest) {
    while (stream->waiting_count > newest) drop_first(stream);
}

camarb_frame *camarb_session_next_frame(camarb_session *session) {
    struct stream *stream = session ? session->stream : NULL;
    if (!stream || !stream_has_frame(stream)) return NULL;
    struct camarb_frame *frame = stream->held;
    while (frame->is_held) frame++;
    struct waiting first = stream->waiting[0];
    memmove(&stream->waiting[0], &stream->waiting[1], --stream->waiting_count * sizeof first);
    const struct buffer *buffer = first.buffer;
    const uint8_t *memory = buffer->memory;
    *frame = (struct camarb_frame){.stream = stream, .buffer = first.buffer, .is_held = true};
    frame->picture = (camarb_picture){
        .width = buffer->width, .height = buffer->height, .planes = {memory, memory + (size_t)buffer->stride * buffer->height},
        .strides = {buffer->stride, buffer->stride}, .plane_count = 2, .flags = first.flags, .sequence = first.sequence,
        .grant = stream->grant, .captured = first.captured, .dmabuf = buffer->dmabuf};
    memcpy(frame->picture.pixel_format, buffer->pixel_format, sizeof frame->picture.pixel_format);
    if (buffer->dmabuf >= 0) {
        /* As docs/wire.md has it: from the first byte on, one plane after the other, and linear, which is modifier 0. */
        frame->picture.flags |= CAMARB_PICTURE_DMABUF;
        frame->picture.offsets[1] = buffer->stride * buffer->height;
    }
    return frame;
}

camarb_frame *camarb_session_newest_frame(camarb_session *session) {
    struct stream *stream = session ? session->stream : NULL;
    if (!stream || !stream_has_frame(stream)) return NULL;
    stream_keep(stream, 1);
    return camarb_session_next_frame(session);
}

const camarb_picture *camarb_frame_picture(const camarb_frame *frame) { return frame ? &frame->picture : NULL; }

bool camarb_frame_is_intact(const camarb_frame *frame) {
    if (!frame || !frame->is_held) return false;
    struct stream *stream = frame->stream;
    /* The end is said before anything is blanked: where it has not come yet, nothing was when this was called. */
    size_t waited = stream->waiting_count;
    if (stream->descriptor >= 0) stream_read(stream);
    /* A frame that was read here is told by no descriptor any more. */
    if (stream->waiting_count != waited) client_wake_soon(stream->client);
    return stream->descriptor >= 0 && frame->buffer->generation == stream->generation;
}

void camarb_frame_release(camarb_frame *frame) {
    if (!frame || !frame->is_held) return;
    struct stream *stream = frame->stream;
    bool held_most = held_count(stream) == FRAMES_HELD_MAX;
    frame->is_held = false;
    give_back(stream, frame->buffer);
    if (stream->descriptor < 0 || frame->buffer->generation != stream->generation) collect(stream);
    if (stream->descriptor < 0 && held_count(stream) == 0) stream_free(stream);
    /* A frame that had to wait for that. */
    else if (held_most && stream_has_frame(stream)) client_wake_soon(stream->client);
}
