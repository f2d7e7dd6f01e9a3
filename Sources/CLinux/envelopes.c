#define _GNU_SOURCE
#include "envelopes.h"
#include "descriptors.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

int camarb_new_envelope(int descriptor) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) return -errno;
    int sent = camarb_packet_send(pair[1], "", 1, descriptor);
    close(pair[1]);
    if (sent < 0) {
        close(pair[0]);
        return sent;
    }
    return pair[0];
}

int camarb_open_envelope(int envelope) {
    char byte;
    int found = -1;
    ssize_t count = camarb_packet_receive(envelope, &byte, 1, &found, 0);
    if (found >= 0) return found;
    return count >= 0 || count == -EAGAIN ? -ENODATA : (int)count;
}
