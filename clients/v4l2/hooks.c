/* The functions of libc that programs reach a camera by. Each asks whether it is about one of our nodes or descriptors, which costs a look at
 * the path's text or at a table, and else does what libc does. */
#define _GNU_SOURCE
#include "hooks.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

/* 64-bit machines only: both kinds of libc's functions take the same there. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64) && sizeof(off_t) == 8, "stat and stat64 are one");

/* Without a broker its cameras are unknown: a node without pictures (a codec, a radio) is opened as by libc. */
static bool is_camera(int folder, const char *path, int flags, int *opened) {
    struct v4l2_capability has;
    *opened = REAL(openat)(folder, path, flags & ~O_CREAT);
    if (*opened < 0) return true;
    memset(&has, 0, sizeof has);
    if (REAL(ioctl)(*opened, VIDIOC_QUERYCAP, &has) < 0) return true;
    uint32_t caps = has.capabilities & V4L2_CAP_DEVICE_CAPS ? has.device_caps : has.capabilities;
    return caps & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE);
}

bool opens_ours(int folder, const char *path, int flags, int *result) {
    if (door_inside || !path || flags & (O_PATH | O_DIRECTORY)) return false;
    int number = names_node(folder, path);
    if (number >= 0 && names_is_on() && door_is_here()) {
        int descriptor = door_open(number, flags);
        if (descriptor == -ESRCH) return false;
        if (descriptor == -ENODEV || descriptor == -ENOENT) {
            int opened = -1;
            if (!is_camera(folder, path, flags, &opened)) {
                *result = opened;
                return true;
            }
            if (opened >= 0) REAL(close)(opened);
        }
        *result = told(descriptor);
        return true;
    }
    char what[256];
    number = names_sysfs(folder, path, what, sizeof what);
    if (number < 0 || !names_is_on() || !door_is_here()) return false;
    *result = REAL(openat)(folder, path, flags & ~O_CREAT);
    if (*result >= 0 || errno != ENOENT) return true;
    *result = told(sysfs_open(number, what, flags));
    return true;
}

#define OPEN(name)                                                                                                                         \
    HOOK int name(const char *path, int flags, ...) {                                                                                      \
        int result;                                                                                                                        \
        MODE_OF(flags)                                                                                                                     \
        return opens_ours(AT_FDCWD, path, flags, &result) ? result : REAL(name)(path, flags, mode);                                        \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                                                                       \
    HOOK int name(int folder, const char *path, int flags, ...) {                                                                          \
        int result;                                                                                                                        \
        MODE_OF(flags)                                                                                                                     \
        return opens_ours(folder, path, flags, &result) ? result : REAL(name)(folder, path, flags, mode);                                  \
    }
OPENAT(openat)
OPENAT(openat64)

/* Called by hardened programs that give no mode. */
#define OPEN_2(name)                                                                                                                       \
    HOOK int name(const char *path, int flags) {                                                                                           \
        int result;                                                                                                                        \
        return opens_ours(AT_FDCWD, path, flags, &result) ? result : REAL(name)(path, flags);                                              \
    }
OPEN_2(__open_2)
OPEN_2(__open64_2)

#define OPENAT_2(name)                                                                                                                     \
    HOOK int name(int folder, const char *path, int flags) {                                                                               \
        int result;                                                                                                                        \
        return opens_ours(folder, path, flags, &result) ? result : REAL(name)(folder, path, flags);                                        \
    }
OPENAT_2(__openat_2)
OPENAT_2(__openat64_2)

HOOK int creat(const char *path, mode_t mode) {
    int result;
    return opens_ours(AT_FDCWD, path, O_WRONLY, &result) ? result : REAL(creat)(path, mode);
}

/* stdio opens, reads and closes by calls that no hook sees: a node is a cookie, a file of sysfs the copy that it is. */
static ssize_t cookie_read(void *cookie, char *into, size_t most) { return read((int)(intptr_t)cookie, into, most); }
static int cookie_close(void *cookie) { return close((int)(intptr_t)cookie); }

static bool fopens_ours(const char *path, const char *mode, FILE **result) {
    int descriptor;
    if (!mode) return false;
    int flags = (strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY) | (strchr(mode, 'e') ? O_CLOEXEC : 0);
    if (!opens_ours(AT_FDCWD, path, flags, &descriptor)) return false;
    *result = NULL;
    if (descriptor < 0) return true;
    cookie_io_functions_t functions = {.read = cookie_read, .close = cookie_close};
    *result = door_has(descriptor) ? fopencookie((void *)(intptr_t)descriptor, "r", functions) : fdopen(descriptor, mode);
    if (!*result) close(descriptor);
    return true;
}

#define FOPEN(name)                                                                                                                        \
    HOOK FILE *name(const char *path, const char *mode) {                                                                                  \
        FILE *result;                                                                                                                      \
        return fopens_ours(path, mode, &result) ? result : REAL(name)(path, mode);                                                         \
    }
FOPEN(fopen)
FOPEN(fopen64)

int door_raise(int descriptor) {
    if (descriptor < 0) return descriptor;
    int higher = descriptor < OWN_FIRST ? REAL(fcntl)(descriptor, F_DUPFD_CLOEXEC, (int)OWN_FIRST) : descriptor;
    /* Where the program may not have so many, above its standard streams, even while it has closed them. */
    if (higher < 0) higher = descriptor < 3 ? REAL(fcntl)(descriptor, F_DUPFD_CLOEXEC, 3) : descriptor;
    int error = errno;
    if (higher != descriptor) REAL(close)(descriptor);
    errno = error;
    door_own(higher, true);
    return higher;
}

/* Descriptors that libcamarb opens inside a call of ours are the door's. */
static int owned(int descriptor) {
    return door_inside ? door_raise(descriptor) : descriptor;
}

HOOK int socket(int domain, int type, int protocol) { return owned(REAL(socket)(domain, type, protocol)); }
HOOK int epoll_create1(int flags) { return owned(REAL(epoll_create1)(flags)); }
HOOK int timerfd_create(clockid_t clock, int flags) { return owned(REAL(timerfd_create)(clock, flags)); }

/* True: a program that closes all that it has; what it does not know it has it keeps. */
static bool keeps(int descriptor) {
    if (door_inside)
        door_own(descriptor, false);
    else if (door_is_own(descriptor))
        return true;
    else
        door_close(descriptor);
    return false;
}

HOOK int close(int descriptor) { return keeps(descriptor) ? 0 : REAL(close)(descriptor); }

HOOK int close_range(unsigned first, unsigned last, int flags) {
    if (door_inside || flags) return REAL(close_range)(first, last, flags);
    if (first > last) return told(-EINVAL);
    unsigned from = first;
    for (unsigned at = first; at <= last && at < DESCRIPTORS_MAX; at++) {
        door_close((int)at);
        if (!door_is_own((int)at)) continue;
        if (at > from && REAL(close_range)(from, at - 1, 0) < 0) return -1;
        from = at + 1;
    }
    return from > last ? 0 : REAL(close_range)(from, last, 0);
}

HOOK void closefrom(int lowest) { close_range(lowest < 0 ? 0 : (unsigned)lowest, UINT_MAX, 0); }

HOOK int dup(int from) {
    int to = owned(REAL(dup)(from));
    if (!door_inside && to >= 0) door_duplicate(from, to);
    return to;
}

/* Our own descriptors are not replaced. EBUSY is among dup2's errors. */
static bool may_replace(int from, int to) { return door_inside || from == to || !door_is_own(to); }

/* Only now: what could not be replaced is open still. */
static int replaced(int from, int to) {
    if (door_inside || to < 0 || from == to) return to;
    if (door_has(from)) door_duplicate(from, to);
    else door_close(to);
    return to;
}

HOOK int dup2(int from, int to) { return may_replace(from, to) ? replaced(from, REAL(dup2)(from, to)) : told(-EBUSY); }

HOOK int dup3(int from, int to, int flags) {
    return may_replace(from, to) ? replaced(from, REAL(dup3)(from, to, flags)) : told(-EBUSY);
}

#define FCNTL(name)                                                                                                                        \
    HOOK int name(int descriptor, int command, ...) {                                                                                      \
        va_list more;                                                                                                                      \
        va_start(more, command);                                                                                                           \
        void *argument = va_arg(more, void *);                                                                                             \
        va_end(more);                                                                                                                      \
        int result = REAL(name)(descriptor, command, argument);                                                                            \
        if (command != F_DUPFD && command != F_DUPFD_CLOEXEC) return result;                                                               \
        if (!door_inside && result >= 0) door_duplicate(descriptor, result);                                                               \
        return owned(result);                                                                                                              \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

static bool answers_ours(int descriptor, unsigned long request, void *argument, int *result) {
    if (door_inside || !door_has(descriptor) || _IOC_TYPE(request) != 'V') return false;
    *result = door_ioctl(descriptor, request, argument);
    if (*result == -ENOSYS) return false;
    *result = told(*result);
    return true;
}

HOOK int ioctl(int descriptor, unsigned long request, ...) {
    int result;
    va_list more;
    va_start(more, request);
    void *argument = va_arg(more, void *);
    va_end(more);
    return answers_ours(descriptor, request, argument, &result) ? result : REAL(ioctl)(descriptor, request, argument);
}

/* As with a webcam, whose driver has no read; otherwise the pipe's bytes would be read. */
static bool refuses_read(int descriptor) {
    if (door_inside || door_number(descriptor) < 0) return false;
    errno = EINVAL;
    return true;
}

HOOK ssize_t read(int descriptor, void *into, size_t most) {
    return refuses_read(descriptor) ? -1 : REAL(read)(descriptor, into, most);
}

HOOK ssize_t __read_chk(int descriptor, void *into, size_t most, size_t room) {
    return refuses_read(descriptor) ? -1 : REAL(__read_chk)(descriptor, into, most, room);
}

HOOK ssize_t readv(int descriptor, const struct iovec *parts, int count) {
    return refuses_read(descriptor) ? -1 : REAL(readv)(descriptor, parts, count);
}

static bool maps_ours(void *at, size_t length, int protection, int flags, int descriptor, off_t offset, void **mapped) {
    int error;
    if (door_inside || flags & MAP_ANONYMOUS || !door_has(descriptor)) return false;
    *mapped = door_map(descriptor, at, length, protection, flags, offset, &error);
    if (*mapped != MAP_FAILED) return true;
    if (error == ENOSYS) return false;
    errno = error;
    return true;
}

#define MMAP(name)                                                                                                                         \
    HOOK void *name(void *at, size_t length, int protection, int flags, int descriptor, off_t offset) {                                    \
        void *mapped;                                                                                                                      \
        if (maps_ours(at, length, protection, flags, descriptor, offset, &mapped)) return mapped;                                          \
        return REAL(name)(at, length, protection, flags, descriptor, offset);                                                              \
    }
MMAP(mmap)
MMAP(mmap64)

/* How libv4l2 and Rust's v4l reach a camera. What is not about a node of ours goes on as it came, and not to libc's own function, which would
 * also be a point of cancellation. */
HOOK long syscall(long number, ...) {
    /* As many as there are at most, whether they were given or not: libc's own passes on as many. */
    long a[6];
    va_list more;
    va_start(more, number);
    for (size_t at = 0; at < sizeof a / sizeof *a; at++) a[at] = va_arg(more, long);
    va_end(more);
    int result;
    void *mapped;
    switch (number) {
#ifdef SYS_open
    case SYS_open:
        if (opens_ours(AT_FDCWD, (const char *)a[0], (int)a[1], &result)) return result;
        break;
#endif
    case SYS_openat:
        if (opens_ours((int)a[0], (const char *)a[1], (int)a[2], &result)) return result;
        break;
    case SYS_ioctl:
        if (answers_ours((int)a[0], (unsigned long)a[1], (void *)a[2], &result)) return result;
        break;
    case SYS_read:
        if (refuses_read((int)a[0])) return -1;
        break;
    case SYS_close:
        if (keeps((int)a[0])) return 0;
        break;
    case SYS_mmap:
        if (maps_ours((void *)a[0], (size_t)a[1], (int)a[2], (int)a[3], (int)a[4], a[5], &mapped)) return (long)mapped;
        break;
    }
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

HOOK int poll(struct pollfd *waited, nfds_t count, int milliseconds) {
    bool has = false;
    for (nfds_t at = 0; !door_inside && at < count; at++) has |= waited[at].events & POLLPRI && door_has_event(waited[at].fd);
    int ready = REAL(poll)(waited, count, has ? 0 : milliseconds);
    if (!has || ready < 0) return ready;
    for (nfds_t at = 0; at < count; at++) {
        if (!(waited[at].events & POLLPRI) || !door_has_event(waited[at].fd)) continue;
        ready += !waited[at].revents;
        waited[at].revents |= POLLPRI;
    }
    return ready;
}

HOOK int select(int count, fd_set *reading, fd_set *writing, fd_set *exceptions, struct timeval *time) {
    bool has = false;
    fd_set asked;
    for (int at = 0; !door_inside && exceptions && at < count && at < FD_SETSIZE; at++)
        has |= door_has(at) && FD_ISSET(at, exceptions) && door_has_event(at);
    if (!has) return REAL(select)(count, reading, writing, exceptions, time);
    asked = *exceptions;
    struct timeval none = {0};
    int ready = REAL(select)(count, reading, writing, exceptions, &none);
    for (int at = 0; ready >= 0 && at < count && at < FD_SETSIZE; at++)
        if (FD_ISSET(at, &asked) && !FD_ISSET(at, exceptions) && door_has_event(at)) {
            FD_SET(at, exceptions);
            ready++;
        }
    return ready;
}
