/* camwriter: writes one photo or recording for a recorder core, which keeps the camera; or reads and completes one that
 * another recorder core left unfinished.
 *
 * A file may lie where writing, cutting or closing it waits for somebody without end, and a process that waits so cannot be
 * killed. Here that process has nothing but the file: its recorder core gives it up, and goes on.
 *
 * Orders come on descriptor 3 (writing.h). SIGTERM and SIGINT are passed over: it ends when its recorder core has, after
 * it has written what was ordered. */
#define _GNU_SOURCE
#include <CLinux.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const int orders = 3;

struct output {
    int file;
    struct camarb_writer_answer said;
    /* Bytes behind the answer. */
    unsigned char read[CAMARB_WRITER_READ_MAX];
    size_t read_count;
    /* Its pages are charged to the group of this process, which is its camera's. */
    int is_in_memory;
    /* Bytes of it that have been written, and how much it may grow before the room is looked at again. */
    uint64_t end, allowed;
};

/* Bytes by which a file in memory grows between two looks at how much room there is. */
static const uint64_t growth = 1 << 20;

static void fails(struct output *output, int error) { output->said.error = error; }

/* Keeps the file of the envelope, where it can be written to. */
static int is_taken(struct output *output, int file) {
    struct camarb_file identity;
    if (file < 0) {
        fails(output, -file);
        return 0;
    }
    output->file = file;
    if (camarb_check_output_file(file, &identity) == camarb_file_good) {
        output->is_in_memory = identity.system == TMPFS_MAGIC || identity.system == RAMFS_MAGIC;
        return 1;
    }
    output->said.is_unsuitable = 1;
    fails(output, EINVAL);
    return 0;
}

/* Opens the envelope, which is closed. */
static void take(struct output *output, int envelope) {
    /* Kept until this process ends: it marks the file as being written. */
    int mark = -1;
    int file = envelope < 0 || output->file >= 0 ? -EINVAL : camarb_open_envelope(envelope, &mark);
    if (envelope >= 0) close(envelope);
    /* The former bytes are not part of the picture. */
    if (is_taken(output, file) && ftruncate(file, 0) < 0) fails(output, errno);
}

/* Waits until nobody writes the file any more. 0, or an error. */
static int wait_for_writers(int written) {
    struct pollfd waited = {.fd = written};
    if (written < 0) return ENODATA;
    int ready = camarb_poll(&waited, 1, CAMARB_WRITER_PATIENCE_MS * INT64_C(1000000));
    return ready > 0 ? 0 : ready < 0 ? -ready : EBUSY;
}

/* Opens an envelope again, which is closed. */
static void take_again(struct output *output, int envelope) {
    int written = -1;
    int file = envelope < 0 || output->file >= 0 ? -EINVAL : camarb_open_envelope_again(envelope, &written);
    if (envelope >= 0) close(envelope);
    /* Nobody began to write it: its bytes are the client's, and no recording of ours. */
    if (file == -EBUSY) file = -ENODATA;
    int error = file < 0 ? 0 : wait_for_writers(written);
    if (written >= 0) close(written);
    if (!is_taken(output, file)) return;
    int flags = fcntl(file, F_GETFL);
    if (error == 0 && (flags & O_ACCMODE) != O_RDWR) error = EACCES;
    /* Not by seeking: the client has the same offset. */
    struct stat status = {0};
    if (error == 0 && fstat(file, &status) < 0) error = errno;
    output->said.value = status.st_size;
    output->end = (uint64_t)status.st_size;
    if (error != 0) fails(output, error);
}

static void read_part(struct output *output, const unsigned char *bytes, size_t length, uint64_t offset) {
    uint32_t wanted;
    if (length != sizeof wanted) return fails(output, EINVAL);
    memcpy(&wanted, bytes, sizeof wanted);
    if (wanted > sizeof output->read) return fails(output, EINVAL);
    while (output->read_count < wanted) {
        ssize_t count = pread(
            output->file, output->read + output->read_count, wanted - output->read_count,
            (off_t)(offset + output->read_count));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fails(output, errno);
        if (count == 0) break;
        output->read_count += (size_t)count;
    }
    output->said.value = (int64_t)output->read_count;
}

/* Bytes that files in memory may still take. */
static uint64_t room_in_memory(const struct output *output) {
    int64_t machine = camarb_machine_memory(), room = camarb_memory_room("", machine);
    /* Without a limit each file has the part of the machine that is left alone otherwise. */
    if (room == INT64_MAX) room = machine / 8 - (int64_t)output->end;
    return room > 0 ? (uint64_t)room : 0;
}

/* Whether so much may be written there: of a file in memory no more than leaves its camera what that may need, which would
 * else be ended for want of it. */
static int has_room(struct output *output, size_t length, uint64_t offset) {
    if (!output->is_in_memory || offset + length <= output->end) return 1;
    uint64_t grows = offset + length - output->end;
    if (output->allowed < grows) {
        uint64_t room = room_in_memory(output);
        if (room < grows) return 0;
        output->allowed = room < growth || grows > growth ? grows : growth;
    }
    output->allowed -= grows;
    output->end = offset + length;
    return 1;
}

static void look_for_room(struct output *output) {
    struct statvfs status;
    if (fstatvfs(output->file, &status) < 0) return fails(output, errno);
    unsigned long long bytes;
    if (__builtin_mul_overflow((unsigned long long)status.f_bavail, status.f_frsize, &bytes) || bytes > INT64_MAX)
        bytes = INT64_MAX;
    if (output->is_in_memory) {
        /* A memory file has a file system without a size. */
        uint64_t room = room_in_memory(output);
        if (status.f_blocks == 0 || room < bytes) bytes = room;
    }
    output->said.value = (int64_t)bytes;
}

static void answer(struct output *output) {
    unsigned char packet[sizeof output->said + sizeof output->read];
    memcpy(packet, &output->said, sizeof output->said);
    memcpy(packet + sizeof output->said, output->read, output->read_count);
    /* A recorder core that does not take its answers has ended, or is about to. */
    (void)camarb_packet_send(orders, packet, sizeof output->said + output->read_count, -1);
    output->said = (struct camarb_writer_answer){0};
    output->read_count = 0;
}

static void put(struct output *output, const unsigned char *bytes, size_t length, uint64_t offset) {
    if (!has_room(output, length, offset)) return fails(output, ENOSPC);
    while (length > 0) {
        ssize_t count = pwrite(output->file, bytes, length, (off_t)offset);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return fails(output, count < 0 ? errno : ENOSPC);
        bytes += count;
        length -= (size_t)count;
        offset += (uint64_t)count;
    }
}

int main(int argc, char **argv) {
    if (camarb_says_version(argc, argv, "camwriter")) return 0;
    static unsigned char packet[sizeof(struct camarb_writer_order) + CAMARB_WRITER_PART_MAX];
    static struct output output = {.file = -1};
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    camarb_ignore_write_signals();
    /* Where memory runs out all the same, this process is ended before its camera. */
    FILE *score = fopen("/proc/self/oom_score_adj", "we");
    if (score) {
        fputs("1000", score);
        fclose(score);
    }
    for (;;) {
        struct camarb_writer_order order;
        int passed = -1;
        ssize_t count = camarb_packet_receive(orders, packet, sizeof packet, &passed, 1);
        if (count == -EINTR) continue;
        /* 0 is the end of it; less than an order nobody sends. */
        if (count < (ssize_t)sizeof order) break;
        memcpy(&order, packet, sizeof order);
        if (output.said.error == 0) {
            if (order.kind == camarb_writer_open) take(&output, passed);
            else if (order.kind == camarb_writer_open_again) take_again(&output, passed);
            else if (output.file < 0) fails(&output, EBADF);
            else if (order.kind == camarb_writer_put)
                put(&output, packet + sizeof order, (size_t)count - sizeof order, order.offset);
            else if (order.kind == camarb_writer_read)
                read_part(&output, packet + sizeof order, (size_t)count - sizeof order, order.offset);
            else if (order.kind == camarb_writer_truncate) {
                if (ftruncate(output.file, (off_t)order.offset) < 0) fails(&output, errno);
                else output.end = order.offset;
            } else if (order.kind == camarb_writer_free) look_for_room(&output);
            else fails(&output, EINVAL);
        }
        if (order.wants_answer) answer(&output);
    }
    return 0;
}
