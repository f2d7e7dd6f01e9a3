/* camwriter: writes one photo or recording for a recorder core, which keeps the camera.
 *
 * A file may lie where writing, cutting or closing it waits for somebody without end, and a process that waits so cannot be
 * killed. Here that process has nothing but the file: its recorder core gives it up, and goes on.
 *
 * Orders come on descriptor 3 (writing.h). SIGTERM and SIGINT are passed over: it ends when its recorder core has, after
 * it has written what was ordered. */
#define _GNU_SOURCE
#include <CLinux.h>

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const int orders = 3;

struct output {
    int file;
    struct camarb_writer_answer said;
};

static void fails(struct output *output, int error) { output->said.error = error; }

/* Opens the envelope, which is closed. */
static void take(struct output *output, int envelope) {
    struct camarb_file identity;
    int file = envelope < 0 || output->file >= 0 ? -EINVAL : camarb_open_envelope(envelope);
    if (envelope >= 0) close(envelope);
    if (file < 0) return fails(output, -file);
    output->file = file;
    if (camarb_check_output_file(file, &identity) != camarb_file_good) {
        output->said.is_unsuitable = 1;
        return fails(output, EINVAL);
    }
    /* What was in it is not part of the picture. */
    if (ftruncate(file, 0) < 0) fails(output, errno);
}

static void put(struct output *output, const unsigned char *bytes, size_t length, uint64_t offset) {
    while (length > 0) {
        ssize_t count = pwrite(output->file, bytes, length, (off_t)offset);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return fails(output, count < 0 ? errno : ENOSPC);
        bytes += count;
        length -= (size_t)count;
        offset += (uint64_t)count;
    }
}

int main(void) {
    static unsigned char packet[sizeof(struct camarb_writer_order) + CAMARB_WRITER_PART_MAX];
    struct output output = {.file = -1};
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    camarb_ignore_write_signals();
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
            else if (output.file < 0) fails(&output, EBADF);
            else if (order.kind == camarb_writer_put)
                put(&output, packet + sizeof order, (size_t)count - sizeof order, order.offset);
            else if (order.kind == camarb_writer_truncate) {
                if (ftruncate(output.file, (off_t)order.offset) < 0) fails(&output, errno);
            } else fails(&output, EINVAL);
        }
        if (order.wants_answer) {
            /* A recorder core that does not take its answers has ended, or is about to. */
            (void)camarb_packet_send(orders, &output.said, sizeof output.said, -1);
            output.said = (struct camarb_writer_answer){0};
        }
    }
    return 0;
}
