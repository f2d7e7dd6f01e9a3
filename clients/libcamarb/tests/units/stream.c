/* A stream by itself: stream.c beside a recorder core that says what a claim has it say, over a pair of sockets. */
#include "inside.h"
#include "units.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

enum { WIDTH = 64, HEIGHT = 48, BYTES = WIDTH * HEIGHT * 3 / 2, RECORD_BYTES = 40, RECORDS_MAX = 1200 };

static camarb_client *client;
static camarb_session *session;
static struct stream *stream;
/* The recorder core's end. */
static int core;
/* Memory is said to be a device's: there is no DMA buffer without a driver. */
static bool is_of_a_device;

/* In the place of libc's. */
int fstatfs(int descriptor, struct statfs *system) {
    int result = (int)syscall(SYS_fstatfs, descriptor, system);
    if (is_of_a_device) system->f_type = 0x444d4142;
    return result;
}

static void begin(void) {
    client = calloc(1, sizeof *client);
    session = calloc(1, sizeof *session);
    REQUIRE(client && session);
    *client = (camarb_client){
        .owner = getpid(), .epoll = epoll_create1(EPOLL_CLOEXEC), .timer = -1, .waited_on = -1, .armed = NEVER,
        .phase = PHASE_CONNECTED, .sessions = session};
    session->client = client;
    session->memory.grant = 7;
    session->memory.run = 3;
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    core = ends[0];
    stream_adopt(session, ends[1]);
    stream = session->stream;
    REQUIRE(stream);
}

/* Nothing more is told, or is under way to the recorder core, than a claim has looked at. */
static void end(void) {
    uint8_t record[RECORD_BYTES];
    REQUIRE(recv(core, record, sizeof record, MSG_DONTWAIT) <= 0);
    REQUIRE(!camarb_client_next_event(client));
    camarb_client_free(client);
    if (core >= 0) close(core);
}

static void again(void) {
    end();
    begin();
}

static int count_in(const char *folder) {
    int count = 0;
    DIR *listing = opendir(folder);
    REQUIRE(listing);
    while (readdir(listing)) count++;
    closedir(listing);
    return count;
}

/* Buffers that are mapped. */
static int mapped(void) {
    int count = 0;
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "re");
    REQUIRE(maps);
    while (fgets(line, sizeof line, maps)) count += strstr(line, "memfd:core") != NULL;
    fclose(maps);
    return count;
}

/* ── What the recorder core says ────────────────────────────────────────────────────────────────────────────────────────────── */

struct said {
    uint32_t index, width, height, stride;
    const char *pixels;
    /* Of the memory, where it is not what the record says. */
    uint64_t size, memory;
    int surplus;
};

static void put(uint8_t *record, size_t offset, size_t bytes, uint64_t value) {
    for (size_t i = 0; i < bytes; i++) record[offset + i] = (uint8_t)(value >> (8 * i));
}

static void tell(const uint8_t *record, size_t bytes, const int *passed, size_t count) {
    struct iovec part = {.iov_base = (void *)(uintptr_t)record, .iov_len = bytes};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(8 * sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        *header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(count * sizeof(int))};
        memcpy(CMSG_DATA(header), passed, count * sizeof(int));
    }
    REQUIRE(sendmsg(core, &message, MSG_NOSIGNAL) == (ssize_t)bytes);
}

/* A buffer whose every byte is its index, as honest as `said` is. */
static void announces(struct said said) {
    if (!said.width) said.width = WIDTH;
    if (!said.height) said.height = HEIGHT;
    if (!said.stride) said.stride = said.width;
    if (!said.pixels) said.pixels = "420v";
    if (!said.size) said.size = (uint64_t)said.stride * said.height + (uint64_t)said.stride * (said.height / 2);
    if (!said.memory) said.memory = said.size;
    uint8_t record[RECORD_BYTES] = {1};
    put(record, 4, 4, said.index);
    put(record, 8, 4, said.width);
    put(record, 12, 4, said.height);
    put(record, 16, 4, said.stride);
    memcpy(record + 20, said.pixels, 4);
    put(record, 24, 8, said.size);
    int passed[3];
    for (int i = 0; i <= said.surplus; i++) {
        passed[i] = memfd_create("core", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        REQUIRE(passed[i] >= 0 && ftruncate(passed[i], (off_t)said.memory) == 0);
        uint8_t bytes[BYTES];
        memset(bytes, (int)said.index, sizeof bytes);
        if (said.memory <= BYTES) REQUIRE(pwrite(passed[i], bytes, said.memory, 0) == (ssize_t)said.memory);
        REQUIRE(fcntl(passed[i], F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | F_SEAL_FUTURE_WRITE) == 0);
    }
    tell(record, sizeof record, passed, (size_t)said.surplus + 1);
    for (int i = 0; i <= said.surplus; i++) close(passed[i]);
}

static void announces_many(uint32_t from, uint32_t to) {
    for (uint32_t index = from; index < to; index++) announces((struct said){.index = index});
}

static void shows_at(uint32_t index, uint64_t sequence, int64_t captured, uint32_t flags) {
    uint8_t record[RECORD_BYTES] = {2};
    put(record, 4, 4, index);
    put(record, 8, 8, sequence);
    put(record, 16, 8, (uint64_t)captured);
    put(record, 32, 4, flags);
    tell(record, sizeof record, NULL, 0);
}

static void shows(uint32_t index, uint64_t sequence) { shows_at(index, sequence, (int64_t)(1000 * sequence), 0); }

static void says_end(void) {
    uint8_t record[RECORD_BYTES] = {4};
    tell(record, sizeof record, NULL, 0);
}

/* The buffers that came back since, in order, as text. */
static const char *back(void) {
    static char text[RECORDS_MAX * 5];
    uint8_t record[RECORD_BYTES + 1], rest[RECORD_BYTES - 8] = {0};
    text[0] = 0;
    ssize_t count;
    while ((count = recv(core, record, sizeof record, MSG_DONTWAIT)) > 0) {
        uint32_t index;
        memcpy(&index, record + 4, sizeof index);
        REQUIRE(count == RECORD_BYTES && memcmp(record, (uint8_t[]){3, 0, 0, 0}, 4) == 0);
        REQUIRE(memcmp(record + 8, rest, sizeof rest) == 0);
        sprintf(text + strlen(text), "%u ", index);
    }
    return text;
}

/* ── What the program sees ──────────────────────────────────────────────────────────────────────────────────────────────────── */

static camarb_frame *takes(uint64_t sequence) {
    camarb_frame *frame = camarb_session_next_frame(session);
    REQUIRE(frame && camarb_frame_picture(frame)->sequence == sequence);
    return frame;
}

static uint8_t byte_of(const camarb_frame *frame) {
    const camarb_picture *picture = camarb_frame_picture(frame);
    const uint8_t *last = picture->planes[1] + (size_t)picture->strides[1] * (picture->height / 2) - 1;
    REQUIRE(*last == picture->planes[0][0]);
    return *last;
}

/* The stream is over by a lie, of which the program hears so. */
static void is_broken(const char *why) {
    stream_read(stream);
    const camarb_event *event = camarb_client_next_event(client);
    REQUIRE(event && event->type == CAMARB_EVENT_RUNTIME_ERROR && event->session == session);
    REQUIRE_TEXT(event->error_name, ERROR_RECORDER_FAULT);
    REQUIRE_TEXT(event->error, why);
    REQUIRE(!session->stream && session->broken_run == 3 && !camarb_session_next_frame(session));
}

static void in_order(void) {
    announces_many(0, 4);
    REQUIRE(!stream_has_frame(stream) && !camarb_session_next_frame(session));
    int64_t captured = now_ns();
    shows_at(2, 5, captured, CAMARB_PICTURE_SLATE);
    shows_at(0, 9, captured + 1, 0xfffffffe & ~CAMARB_PICTURE_SLATE);
    stream_read(stream);
    /* A gap is frames that nobody had room for, and stays one. */
    camarb_frame *first = takes(5), *second = takes(9);
    const camarb_picture *one = camarb_frame_picture(first), *other = camarb_frame_picture(second);
    REQUIRE_TEXT(one->pixel_format, "420v");
    REQUIRE(one->width == WIDTH && one->height == HEIGHT && one->plane_count == 2 && one->grant == 7);
    REQUIRE(one->strides[0] == WIDTH && one->strides[1] == WIDTH && one->planes[1] == one->planes[0] + WIDTH * HEIGHT);
    REQUIRE(one->captured == captured && one->flags == CAMARB_PICTURE_SLATE && byte_of(first) == 2);
    /* Flags that nobody knows are not the program's. */
    REQUIRE(other->captured == captured + 1 && other->flags == 0 && byte_of(second) == 0);
    camarb_frame_release(second);
    REQUIRE_TEXT(back(), "0 ");
    camarb_frame_release(first);
    camarb_frame_release(first);
    camarb_frame_release(NULL);
    REQUIRE_TEXT(back(), "2 ");
    /* A buffer that was given back may be filled again. */
    shows(2, 10);
    stream_read(stream);
    camarb_frame_release(takes(10));
    REQUIRE_TEXT(back(), "2 ");
}

static void captured_in_the_past(void) {
    announces_many(0, 4);
    shows_at(0, 1, INT64_MIN, 0);
    shows_at(1, 2, -1, 0);
    shows_at(2, 3, 0, 0);
    int64_t before = now_ns();
    shows_at(3, 4, INT64_MAX, 0);
    stream_read(stream);
    int64_t after = now_ns();
    for (uint64_t sequence = 1; sequence < 5; sequence++) {
        camarb_frame *frame = takes(sequence);
        int64_t captured = camarb_frame_picture(frame)->captured;
        REQUIRE(sequence < 4 ? captured == 0 : captured >= before && captured <= after);
        camarb_frame_release(frame);
    }
    REQUIRE_TEXT(back(), "0 1 2 3 ");
}

static void slow_reader(void) {
    announces_many(0, 8);
    shows(0, 1);
    shows(1, 2);
    stream_read(stream);
    camarb_frame *first = takes(1), *second = takes(2);
    /* Two are held: the program gets no other, and what lies ready is the last that came. */
    shows_at(2, 3, 0, CAMARB_PICTURE_CONFIGURATION_CHANGED | CAMARB_PICTURE_SLATE);
    for (uint32_t index = 3; index < 7; index++) shows(index, index + 1);
    stream_read(stream);
    REQUIRE(!stream_has_frame(stream) && !camarb_session_next_frame(session) && !camarb_session_newest_frame(session));
    REQUIRE_TEXT(back(), "2 ");
    client->wakes_soon = false;
    camarb_frame_release(first);
    /* It waited for that, and no descriptor tells it. */
    REQUIRE(client->wakes_soon && stream_has_frame(stream));
    camarb_frame *third = takes(4);
    REQUIRE(camarb_frame_picture(third)->flags == CAMARB_PICTURE_CONFIGURATION_CHANGED && byte_of(third) == 3);
    client->wakes_soon = false;
    camarb_frame_release(third);
    REQUIRE(client->wakes_soon);
    camarb_frame *last = camarb_session_newest_frame(session);
    REQUIRE(last && camarb_frame_picture(last)->sequence == 7 && camarb_frame_picture(last)->flags == 0 && byte_of(last) == 6);
    REQUIRE_TEXT(back(), "0 3 4 5 ");
    client->wakes_soon = false;
    camarb_frame_release(last);
    camarb_frame_release(second);
    /* Nothing waits. */
    REQUIRE(!client->wakes_soon);
    REQUIRE_TEXT(back(), "6 1 ");
}

static void newest_keeps_the_flag(void) {
    announces_many(0, 4);
    shows_at(0, 1, 0, CAMARB_PICTURE_CONFIGURATION_CHANGED);
    for (uint32_t index = 1; index < 4; index++) shows(index, index + 1);
    stream_read(stream);
    camarb_frame *newest = camarb_session_newest_frame(session);
    REQUIRE(newest && camarb_frame_picture(newest)->sequence == 4);
    REQUIRE(camarb_frame_picture(newest)->flags == CAMARB_PICTURE_CONFIGURATION_CHANGED);
    REQUIRE(!camarb_session_newest_frame(session));
    camarb_frame_release(newest);
    REQUIRE_TEXT(back(), "0 1 2 3 ");
}

static void other_buffers(void) {
    announces_many(0, 3);
    shows(0, 1);
    shows(1, 2);
    shows(2, 3);
    stream_read(stream);
    camarb_frame *first = takes(1), *second = takes(2);
    REQUIRE(camarb_frame_is_intact(first) && camarb_frame_is_intact(second) && mapped() == 3);
    announces((struct said){.index = 1, .width = 128});
    announces((struct said){.index = 2, .width = 128});
    /* It is read in the socket before the answer. What waited is blank, and goes back. */
    REQUIRE(!camarb_frame_is_intact(first) && !stream_has_frame(stream));
    REQUIRE(!camarb_frame_is_intact(second) && client->wakes_soon);
    REQUIRE_TEXT(back(), "2 ");
    /* Held frames stay readable until their release, under any index; the others go at once. */
    REQUIRE(mapped() == 4 && byte_of(second) == 1 && byte_of(first) == 0);
    shows(1, 4);
    stream_read(stream);
    camarb_frame_release(first);
    REQUIRE(mapped() == 3);
    camarb_frame *third = takes(4);
    REQUIRE(camarb_frame_picture(third)->width == 128 && camarb_frame_is_intact(third) && byte_of(second) == 1);
    camarb_frame_release(second);
    camarb_frame_release(third);
    REQUIRE(mapped() == 2);
    REQUIRE_TEXT(back(), "0 1 1 ");
    /* Index 0 was of the first generation, and is nobody's now. */
    shows(0, 5);
    is_broken("A frame came in buffer 0, which was never announced; the stream ended.");
    REQUIRE(mapped() == 0);
}

static void the_end(void) {
    for (int by_record = 0; by_record < 2; by_record++) {
        again();
        announces_many(0, 4);
        for (uint32_t index = 0; index < 4; index++) shows(index, index + 1);
        stream_read(stream);
        camarb_frame *first = takes(1), *second = takes(2);
        if (by_record) says_end();
        else shutdown(core, SHUT_RDWR);
        int64_t before = now_ns();
        REQUIRE(!camarb_frame_is_intact(first));
        REQUIRE(!session->stream && !camarb_session_next_frame(session) && !camarb_session_newest_frame(session));
        /* A moment later there may be another one. No lie was told. */
        REQUIRE(session->stream_due >= before + STREAM_PAUSE && session->stream_due <= now_ns() + STREAM_PAUSE);
        REQUIRE(session->broken_run == 0);
        /* Held frames stay readable after the stream's end. */
        REQUIRE(mapped() == 2 && byte_of(second) == 1 && byte_of(first) == 0);
        camarb_frame_release(first);
        REQUIRE(mapped() == 1 && client->streams == stream);
        camarb_frame_release(second);
        REQUIRE(mapped() == 0 && !client->streams);
        if (by_record) REQUIRE_TEXT(back(), "");
    }
}

static void let_go_by_the_session(void) {
    announces_many(0, 2);
    shows(0, 1);
    stream_read(stream);
    camarb_frame *held = takes(1);
    stream_end(stream);
    REQUIRE(!session->stream && mapped() == 1 && byte_of(held) == 0 && !camarb_frame_is_intact(held));
    camarb_frame_release(held);
    REQUIRE(mapped() == 0 && !client->streams);
}

/* Of the library's descriptors those of buffers. */
static int kept_descriptors(void) {
    int count = 0;
    char name[64], target[64];
    for (int descriptor = 3; descriptor < 2048; descriptor++) {
        sprintf(name, "/proc/self/fd/%d", descriptor);
        ssize_t bytes = readlink(name, target, sizeof target - 1);
        target[bytes < 0 ? 0 : bytes] = 0;
        count += strstr(target, "memfd:core") != NULL;
    }
    return count;
}

static void dma_buffers(void) {
    announces((struct said){.index = 0});
    shows(0, 1);
    stream_read(stream);
    camarb_frame *frame = takes(1);
    const camarb_picture *picture = camarb_frame_picture(frame);
    REQUIRE(picture->dmabuf == -1 && picture->flags == 0 && picture->offsets[1] == 0 && kept_descriptors() == 0);
    camarb_frame_release(frame);
    is_of_a_device = true;
    announces((struct said){.index = 7});
    shows(7, 2);
    stream_read(stream);
    is_of_a_device = false;
    frame = takes(2);
    picture = camarb_frame_picture(frame);
    REQUIRE(picture->flags == CAMARB_PICTURE_DMABUF && picture->modifier == 0 && kept_descriptors() == 1);
    REQUIRE(picture->offsets[0] == 0 && picture->offsets[1] == WIDTH * HEIGHT);
    uint8_t first = 0;
    REQUIRE(pread(picture->dmabuf, &first, 1, picture->offsets[1]) == 1 && first == 7 && *picture->planes[1] == 7);
    REQUIRE(fcntl(picture->dmabuf, F_GETFD) == FD_CLOEXEC);
    /* It goes with the last frame in it. */
    announces((struct said){.index = 8});
    stream_read(stream);
    REQUIRE(kept_descriptors() == 1);
    camarb_frame_release(frame);
    REQUIRE(kept_descriptors() == 0);
    REQUIRE_TEXT(back(), "0 7 ");
    again();
    is_of_a_device = true;
    announces_many(0, 40);
    stream_read(stream);
    is_of_a_device = false;
    REQUIRE(mapped() == 40 && kept_descriptors() == 32);
    says_end();
    stream_read(stream);
    REQUIRE(kept_descriptors() == 0);
}

static void bounds_of_a_buffer(void) {
    static const struct {
        struct said said;
        const char *why; /* NULL: it is taken */
    } cases[] = {
        {{.width = 2, .height = 2}, NULL},
        {{.width = 2, .height = 1}, "Buffer 0 is 2x1, is there twice, or is one of too many; the stream ended."},
        {{.width = 1, .height = 2}, "Buffer 0 is 1x2, is there twice, or is one of too many; the stream ended."},
        {{.width = 65536, .height = 2}, NULL},
        {{.width = 65538, .height = 2}, "Buffer 0 is 65538x2, is there twice, or is one of too many; the stream ended."},
        {{.width = 2, .height = 65536}, NULL},
        {{.width = 2, .height = 65538}, "Buffer 0 is 2x65538, is there twice, or is one of too many; the stream ended."},
        {{.width = 64, .stride = 63, .size = BYTES},
            "Buffer 0 has rows of 63 bytes and 4608 bytes in all, where a picture of 64x48 has more; the stream ended."},
        {{.width = 2, .height = 2, .stride = 4 * 65536}, NULL},
        {{.width = 2, .height = 2, .stride = 4 * 65536 + 1},
            "Buffer 0 has rows of 262145 bytes and 786435 bytes in all, where a picture of 2x2 has more; the stream ended."},
        {{.size = BYTES - 1},
            "Buffer 0 has rows of 64 bytes and 4607 bytes in all, where a picture of 64x48 has more; the stream ended."},
        {{.memory = BYTES - 1}, "Buffer 0 is smaller than was said, or not sealed against shrinking; the stream ended."},
        /* Behind a picture there may be more. */
        {{.size = BYTES + 1}, NULL},
        {{.pixels = "420f"}, NULL},
        {{.pixels = "420x"}, "Buffer 0 is neither 420v nor 420f; the stream ended."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        again();
        announces(cases[i].said);
        if (cases[i].why) {
            is_broken(cases[i].why);
            REQUIRE(mapped() == 0);
        } else {
            stream_read(stream);
            REQUIRE(session->stream == stream && mapped() == 1);
        }
    }
}

static void bounds_of_a_stream(void) {
    for (uint32_t index = 0; index < BUFFERS_MAX; index++) {
        announces((struct said){.index = index, .width = 2, .height = 2});
        stream_read(stream);
    }
    REQUIRE(session->stream == stream && mapped() == BUFFERS_MAX);
    shows(BUFFERS_MAX - 1, 1);
    stream_read(stream);
    /* Others in their place may be as many again. */
    camarb_frame_release(takes(1));
    REQUIRE_TEXT(back(), "1023 ");
    for (uint32_t index = 0; index < BUFFERS_MAX; index++) {
        announces((struct said){.index = index, .width = 2, .height = 2});
        stream_read(stream);
    }
    REQUIRE(session->stream == stream && mapped() == BUFFERS_MAX);
    announces((struct said){.index = BUFFERS_MAX, .width = 2, .height = 2});
    is_broken("Buffer 1024 is 2x2, is there twice, or is one of too many; the stream ended.");
}

static void bounded_turns(void) {
    announces_many(0, RECORDS_PER_TURN_MAX);
    shows(0, 1);
    stream_read(stream);
    REQUIRE(client->has_more && !stream_has_frame(stream));
    client->has_more = false;
    streams_read(client);
    REQUIRE(!client->has_more && stream_has_frame(stream));
    camarb_frame_release(takes(1));
    REQUIRE_TEXT(back(), "0 ");
}

static void descriptors(void) {
    int before = count_in("/proc/self/fd");
    announces((struct said){.index = 0, .surplus = 2});
    stream_read(stream);
    REQUIRE(session->stream == stream && mapped() == 1 && count_in("/proc/self/fd") == before);
    /* With what needs none, and with what is no record. */
    int passed = dup(0);
    uint8_t frame[RECORD_BYTES] = {2}, longer[RECORD_BYTES + 1] = {2};
    tell(frame, sizeof frame, &passed, 1);
    stream_read(stream);
    REQUIRE(stream_has_frame(stream) && count_in("/proc/self/fd") == before + 1);
    tell(longer, sizeof longer, &passed, 1);
    stream_read(stream);
    /* The stream's own is closed, too. */
    REQUIRE(!session->stream && session->broken_run == 0 && count_in("/proc/self/fd") == before);
    close(passed);
}

static void lies(void) {
    static const uint8_t nothing[RECORD_BYTES], release[RECORD_BYTES] = {3}, unknown[RECORD_BYTES] = {1, 1};
    static const struct {
        const uint8_t *record;
        size_t bytes;
        const char *why;
    } cases[] = {
        {nothing, RECORD_BYTES, "A record came that no recorder core sends; the stream ended."},
        {release, RECORD_BYTES, "A record came that no recorder core sends; the stream ended."},
        {unknown, RECORD_BYTES, "A record came that no recorder core sends; the stream ended."},
        {release, RECORD_BYTES - 1, "A packet came that is not a record; the stream ended."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        again();
        tell(cases[i].record, cases[i].bytes, NULL, 0);
        is_broken(cases[i].why);
    }
    for (int is_held = 0; is_held < 2; is_held++) {
        again();
        announces_many(0, 2);
        shows(1, 1);
        stream_read(stream);
        camarb_frame *held = is_held ? takes(1) : NULL;
        /* Neither what waits nor what is held may be filled again. */
        shows(1, 2);
        is_broken("A frame came in buffer 1, which was not given back; the stream ended.");
        camarb_frame_release(held);
    }
    again();
    announces_many(0, 1);
    announces_many(0, 1);
    is_broken("Buffer 0 is 64x48, is there twice, or is one of too many; the stream ended.");
}

int main(void) {
    static const struct unit units[] = {
        {"frames are taken in the order in which they came, each as it was said, and go back when they are let go", in_order},
        {"a frame was captured neither in the future nor before the clock began", captured_in_the_past},
        {"a reader that holds two gets no third, and finds the last four when it lets one go", slow_reader},
        {"the newest frame gives all before it back, and has what is said from them on", newest_keeps_the_flag},
        {"buffers that are announced behind a frame are in the place of all before them", other_buffers},
        {"a picture in a DMA buffer has its descriptor and its place there as long as the buffer is known, and no other picture has one",
            dma_buffers},
        {"a stream's end is told by nothing but itself, and what is held stays readable", the_end},
        {"so it does where the session lets the stream go", let_go_by_the_session},
        {"a buffer is as large as it must be, and no side is larger than any", bounds_of_a_buffer},
        {"a stream has at most 1024 buffers, and as many again in their place", bounds_of_a_stream},
        {"a recorder core that never stops talking leaves the program its own turns", bounded_turns},
        {"no descriptor is kept, whatever it came with", descriptors},
        {"what no recorder core says ends the stream with a sentence", lies},
    };
    return units_run(units, sizeof units / sizeof *units, begin, end);
}
