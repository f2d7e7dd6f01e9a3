#define _GNU_SOURCE
#include "intake.h"
#include "descriptors.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

ssize_t camarb_intake_look(int socket, void *bytes, size_t capacity, int *carries) {
    struct iovec part = {.iov_base = bytes, .iov_len = capacity};
    /* Without room for descriptors the kernel makes none, and reports that there were some. */
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t count;
    do count = recvmsg(socket, &message, MSG_PEEK | MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    if (count < 0) return -errno;
    *carries = (message.msg_flags & MSG_CTRUNC) != 0;
    return count;
}

ssize_t camarb_intake_take(int socket, void *bytes, size_t count) {
    ssize_t taken;
    do taken = recv(socket, bytes, count, MSG_DONTWAIT);
    while (taken < 0 && errno == EINTR);
    return taken < 0 ? -errno : taken;
}

int camarb_intake_keep_in_line(int socket) {
    int yes = 1;
    return setsockopt(socket, SOL_SOCKET, SO_OOBINLINE, &yes, sizeof yes) < 0 ? -errno : 0;
}

int camarb_intake_end(int socket) {
    char bytes[16 * 1024];
    /* Nothing can be added from here on, so that the loop ends: at the contents of the socket's buffer. */
    shutdown(socket, SHUT_RDWR);
    for (;;) {
        int carries = 0;
        ssize_t count = camarb_intake_look(socket, bytes, sizeof bytes, &carries);
        if (count > 0 && carries) return 1;
        if (count <= 0 || camarb_intake_take(socket, bytes, (size_t)count) <= 0) return 0;
    }
}

/* The kernel's own bound on one message (SCM_MAX_FD). */
enum { descriptors_max = 253 };

union control {
    struct cmsghdr header;
    char space[CMSG_SPACE(descriptors_max * sizeof(int))];
};

ssize_t camarb_send(int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count) {
    if (descriptor_count > descriptors_max) return -EINVAL;
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    union control control;
    if (descriptor_count > 0) {
        size_t size = descriptor_count * sizeof(int);
        memset(&control, 0, CMSG_SPACE(size));
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(size);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(header), descriptors, size);
    }
    ssize_t sent;
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

int camarb_pass(int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count) {
    ssize_t sent = camarb_send(socket, bytes, count, descriptors, descriptor_count);
    return sent < 0 ? (int)sent : (size_t)sent == count ? 0 : -ENOBUFS;
}

int camarb_packet_send(int fd, const void *bytes, size_t count, int passed) {
    return camarb_pass(fd, bytes, count, &passed, passed >= 0 ? 1 : 0);
}

static ssize_t receive(
    int socket, struct iovec part, int *flags, int *descriptors, size_t max, size_t *count) {
    union control control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.space};
    *count = 0;
    ssize_t received;
    do received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | *flags);
    while (received < 0 && errno == EINTR);
    *flags = message.msg_flags;
    if (received < 0) return -errno;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t passed = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < passed; i++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
            if (*count < max) descriptors[(*count)++] = descriptor;
            else close(descriptor);
        }
    }
    return received;
}

ssize_t camarb_receive_passed(int socket, void *bytes, size_t capacity, int *descriptors, size_t max, size_t *count) {
    int flags = MSG_DONTWAIT;
    return receive(socket, (struct iovec){bytes, capacity}, &flags, descriptors, max, count);
}

ssize_t camarb_packet_receive(int fd, void *bytes, size_t capacity, int *passed, int blocking) {
    size_t count;
    int flags = blocking ? 0 : MSG_DONTWAIT;
    *passed = -1;
    ssize_t received = receive(fd, (struct iovec){bytes, capacity}, &flags, passed, 1, &count);
    if (received < 0 || !(flags & MSG_TRUNC)) return received;
    if (count > 0) close(*passed);
    *passed = -1;
    return -EMSGSIZE;
}

int camarb_peer_user(int socket, uid_t *user) {
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0) return -errno;
    *user = credentials.uid;
    return 0;
}

uint64_t camarb_socket_cookie(int socket) {
    uint64_t cookie = 0;
    socklen_t size = sizeof cookie;
    return getsockopt(socket, SOL_SOCKET, SO_COOKIE, &cookie, &size) < 0 ? 0 : cookie;
}
