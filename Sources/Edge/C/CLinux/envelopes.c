#define _GNU_SOURCE
#include "envelopes.h"
#include "descriptors.h"
#include "intake.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

/* The byte of each packet. */
enum { for_the_writer = 0, for_the_completer = 1 };

static int fill(int socket, int descriptor) {
    if (descriptor < 0) return camarb_packet_send(socket, "", 1, -1);
    /* Nobody writes into the pipe: it ends when the last process that took the writer's copy has ended. */
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return -errno;
    const char writer = for_the_writer, completer = for_the_completer;
    int sent = camarb_pass(socket, &writer, 1, (int[]){descriptor, ends[1]}, 2);
    if (sent == 0) sent = camarb_pass(socket, &completer, 1, (int[]){descriptor, ends[0]}, 2);
    close(ends[0]);
    close(ends[1]);
    return sent;
}

int camarb_new_envelope(int descriptor) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) return -errno;
    int sent = fill(pair[1], descriptor);
    close(pair[1]);
    if (sent < 0) {
        close(pair[0]);
        return sent;
    }
    return pair[0];
}

static void close_all(const int *descriptors, size_t count) {
    for (size_t i = 0; i < count; i++) close(descriptors[i]);
}

static int take(int envelope, char expected, int *with) {
    char byte = expected;
    int found[2];
    size_t count;
    *with = -1;
    ssize_t received = camarb_receive_passed(envelope, &byte, 1, found, 2, &count);
    if (received < 0 && received != -EAGAIN) return (int)received;
    if (received > 0 && byte != expected) {
        close_all(found, count);
        return -EBUSY;
    }
    if (count == 0) return -ENODATA;
    if (count > 1) *with = found[1];
    return found[0];
}

int camarb_open_envelope(int envelope, int *mark) { return take(envelope, for_the_writer, mark); }

int camarb_open_envelope_again(int envelope, int *written) { return take(envelope, for_the_completer, written); }
