// Shared parts of the bench's C programs. Each prints its result as one line of numbers and exits 0;
// anything unexpected is a sentence on standard error and exit status 1.
#pragma once

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

// A frame of the raw protocols: about what the smallest useful message needs.
enum { frame_bytes = 64 };

static inline int64_t nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t now_ns(void) { return nanoseconds(CLOCK_MONOTONIC); }

__attribute__((format(printf, 1, 2), noreturn)) static inline void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static inline long number(const char *text, long min, long max) {
    char *end;
    long value = strtol(text, &end, 10);
    if (*text == 0 || *end != 0 || value < min || value > max)
        die("\"%s\" is no number from %ld to %ld", text, min, max);
    return value;
}

static inline void pair(int sockets[2], int type) {
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, sockets) < 0) die("socketpair: %s", strerror(errno));
}

static inline int watch(int epoll, int descriptor, uint64_t tag) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = tag};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

static inline int new_epoll(void) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) die("epoll_create1: %s", strerror(errno));
    return epoll;
}

// Returns false at the end of the stream.
static inline int read_whole(int descriptor, void *buffer, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t n = read(descriptor, (char *)buffer + done, bytes - done);
        if (n == 0) return 0;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) die("read: %s", strerror(errno));
        done += n;
    }
    return 1;
}

static inline void write_whole(int descriptor, const void *buffer, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t n = send(descriptor, (const char *)buffer + done, bytes - done, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) die("send: %s", strerror(errno));
        done += n;
    }
}

static inline int connect_to(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) die("socket path too long: %s", path);
    strcpy(address.sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) die("socket: %s", strerror(errno));
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

// A child that dies with its parent, so that nothing outlives an aborted run.
static inline pid_t child(void) {
    pid_t parent = getpid(), pid = fork();
    if (pid < 0) die("fork: %s", strerror(errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
    }
    return pid;
}
