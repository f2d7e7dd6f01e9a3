#define _GNU_SOURCE
#include "descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <unistd.h>

int camarb_memfd(const char *name, uint64_t bytes) {
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -errno;
    if (ftruncate(fd, (off_t)bytes) < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
}

int camarb_memfd_seal(int fd) {
    return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) < 0 ? -errno : 0;
}

/* Of a DMA buffer's file system, and of a memfd's, in linux/magic.h. */
static const long dma_buffer_magic = 0x444d4142;
static const long tmpfs_magic = 0x01021994;

int camarb_memfd_is_safe(int fd, uint64_t bytes) {
    struct stat status;
    struct statfs system;
    if (fstatfs(fd, &system) < 0) return 0;
    /* A DMA buffer has one size for ever. */
    if (system.f_type == dma_buffer_magic) {
        off_t size = lseek(fd, 0, SEEK_END);
        return size >= 0 && (uint64_t)size >= bytes;
    }
    /* A memfd of huge pages takes the same seals, and a look at it is a SIGBUS where no page is left. */
    if (system.f_type != tmpfs_magic) return 0;
    const int wanted = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & wanted) == wanted && fstat(fd, &status) == 0 && status.st_size >= 0
        && (uint64_t)status.st_size >= bytes;
}

uint64_t camarb_shared_memory_bytes(void) {
    struct sysinfo machine;
    return sysinfo(&machine) < 0 ? UINT64_MAX : (uint64_t)machine.sharedram * machine.mem_unit;
}

int camarb_packet_pair(int *recorder_end, int *client_end) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) return -errno;
    if (fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0) {
        int error = errno;
        close(pair[0]);
        close(pair[1]);
        return -error;
    }
    *recorder_end = pair[0];
    *client_end = pair[1];
    return 0;
}

int camarb_eventfd_signal(int fd) { return eventfd_write(fd, 1) < 0 && errno != EAGAIN ? -errno : 0; }

int camarb_eventfd_drain(int fd) {
    eventfd_t count;
    return eventfd_read(fd, &count) < 0 && errno != EAGAIN ? -errno : 0;
}

int camarb_poll(struct pollfd *descriptors, size_t count, int64_t limit_ns) {
    struct timespec limit = {.tv_sec = limit_ns / 1000000000, .tv_nsec = limit_ns % 1000000000};
    int ready = ppoll(descriptors, count, limit_ns < 0 ? NULL : &limit, NULL);
    if (ready >= 0) return ready;
    for (size_t i = 0; i < count; i++) descriptors[i].revents = 0;
    return errno == EINTR ? 0 : -errno;
}

void camarb_ignore_write_signals(void) {
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

int camarb_folder_watch(const char *path) {
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0) return -errno;
    if (inotify_add_watch(fd, path, IN_CREATE | IN_DELETE | IN_ATTRIB | IN_MOVED_TO | IN_ONLYDIR) < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
}

void camarb_folder_watch_drain(int fd) {
    char bytes[4096];
    while (read(fd, bytes, sizeof bytes) > 0) {}
}

int camarb_open_watch_new(void) {
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int camarb_open_watch_add(int watch, const char *path) {
    return inotify_add_watch(watch, path, IN_OPEN | IN_CLOSE) < 0 ? -errno : 0;
}

int camarb_open_watch_take(int watch, struct camarb_open_news *news) {
    *news = (struct camarb_open_news){0};
    /* Events of a file, as opposed to a folder, have no name behind them: some 250 of them fit. */
    char bytes[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t count = read(watch, bytes, sizeof bytes);
    if (count < 0) return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    for (ssize_t at = 0; at + (ssize_t)sizeof(struct inotify_event) <= count;) {
        struct inotify_event event;
        memcpy(&event, bytes + at, sizeof event);
        if (event.mask & IN_OPEN) news->opened++;
        if (event.mask & IN_CLOSE) news->closed++;
        if (event.mask & IN_Q_OVERFLOW) news->is_incomplete = 1;
        at += (ssize_t)(sizeof event + event.len);
    }
    int left = 0;
    news->has_more = ioctl(watch, FIONREAD, &left) == 0 && left > 0;
    return 1;
}
