#define _GNU_SOURCE
#include "microphones.h"
#include "intake.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

static enum camarb_microphone_fault fault_of_file(uint32_t mode) {
    switch (mode & S_IFMT) {
    case S_IFREG: return camarb_microphone_regular_file;
    case S_IFDIR: return camarb_microphone_folder;
    case S_IFIFO: return camarb_microphone_pipe;
    case S_IFCHR:
    case S_IFBLK: return camarb_microphone_device;
    }
    return camarb_microphone_other;
}

enum camarb_microphone_fault camarb_check_microphone(int descriptor, const struct camarb_file *file) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0) return camarb_microphone_unreadable;
    /* A socket's own file, or any other. */
    if (flags & O_PATH) return camarb_microphone_path_only;
    int family = 0, type = 0, listens = 0;
    socklen_t size = sizeof family;
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &size) < 0) {
        if (errno != ENOTSOCK) return camarb_microphone_unreadable;
        return file->system == 0x65735546 ? camarb_microphone_fuse : fault_of_file(file->mode);
    }
    if (family != AF_UNIX) return camarb_microphone_network;
    size = sizeof type;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) < 0) return camarb_microphone_unreadable;
    if (type == SOCK_STREAM) return camarb_microphone_stream;
    if (type != SOCK_SEQPACKET) return camarb_microphone_datagram;
    size = sizeof listens;
    if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0) return camarb_microphone_unreadable;
    if (listens) return camarb_microphone_listening;
    struct sockaddr_storage peer;
    size = sizeof peer;
    if (getpeername(descriptor, (struct sockaddr *)&peer, &size) < 0)
        return errno == ENOTCONN ? camarb_microphone_unconnected : camarb_microphone_unreadable;
    return camarb_microphone_good;
}

/* Looks at the first packet, and takes it where no descriptors come with it. */
ssize_t camarb_microphone_receive(int socket, void *bytes, size_t capacity) {
    /* A copy of the client's may have made the kernel look after the first packet. */
    int nowhere = -1;
    setsockopt(socket, SOL_SOCKET, SO_PEEK_OFF, &nowhere, sizeof nowhere);
    /* Without room for descriptors: the kernel reports that there are some, and takes none out. Between this and the next call only a
     * client that has a copy of this end, and takes packets from it itself, can put another in this one's place. */
    int carries;
    ssize_t count = camarb_intake_look(socket, bytes, capacity, &carries);
    if (count < 0) return count;
    if (carries) return -EBADMSG;
    struct iovec part = {.iov_base = bytes, .iov_len = capacity};
    struct msghdr taken = {.msg_iov = &part, .msg_iovlen = 1};
    do count = recvmsg(socket, &taken, MSG_DONTWAIT | MSG_TRUNC);
    while (count < 0 && errno == EINTR);
    if (count < 0) return -errno;
    return taken.msg_flags & MSG_CTRUNC ? -EBADMSG : count;
}

/* More packets than a queue holds: each takes at least some hundred bytes of its sender's account. */
enum { packets_max = 16384 };

int camarb_microphone_end(int socket) {
    /* Nothing can be added from here on. */
    shutdown(socket, SHUT_RDWR);
    /* An empty packet looks like the end, and a packet with descriptors may follow it. */
    for (int empty = 0, all = 0; empty < 1024 && all < packets_max; all++) {
        char byte;
        ssize_t count = camarb_microphone_receive(socket, &byte, 1);
        if (count == -EBADMSG) return 1;
        if (count < 0) return 0;
        empty = count == 0 ? empty + 1 : 0;
    }
    return 0;
}
