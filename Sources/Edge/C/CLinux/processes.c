#define _GNU_SOURCE
#include "processes.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#ifndef P_PIDFD
#define P_PIDFD 3
#endif

/* The beginning of a file of /proc as text, as much as there is room for. Its length, or -errno. */
static ssize_t read_text(const char *name, char *text, size_t size) {
    int descriptor = open(name, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    ssize_t length = read(descriptor, text, size - 1);
    int fault = errno;
    close(descriptor);
    if (length < 0) return -fault;
    text[length] = 0;
    return length;
}

int camarb_pidfd_open(pid_t pid) {
    int descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
    return descriptor < 0 ? -errno : descriptor;
}

int camarb_pidfd_kill(int pidfd, int signal_number) {
    return syscall(SYS_pidfd_send_signal, pidfd, signal_number, NULL, 0) < 0 ? -errno : 0;
}

int camarb_pidfd_alive(int pidfd) {
    struct pollfd poller = {.fd = pidfd, .events = POLLIN};
    return poll(&poller, 1, 0) == 0;
}

int camarb_peer_of_socket(int descriptor, int by_number, struct camarb_peer *peer) {
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0) return -errno;
    /* A peer in a process-id namespace outside of this one's view has the number 0. */
    if (credentials.pid <= 0) return -ESRCH;

    int pidfd = -1, weak = 0;
    size = sizeof pidfd;
    if (by_number || getsockopt(descriptor, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) < 0) {
        /* Only ENOPROTOOPT means an old kernel; EINVAL and ESRCH mean that the peer is gone. */
        if (!by_number && errno != ENOPROTOOPT) return errno == EINVAL ? -ESRCH : -errno;
        pidfd = camarb_pidfd_open(credentials.pid);
        if (pidfd < 0) return pidfd;
        weak = 1;
    }
    if (!camarb_pidfd_alive(pidfd)) {
        close(pidfd);
        return -ESRCH;
    }
    *peer = (struct camarb_peer){
        .pid = credentials.pid, .uid = credentials.uid, .gid = credentials.gid, .pidfd = pidfd, .weak = weak};
    return 0;
}

int camarb_reap(int pidfd, struct camarb_exit *ended) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    if (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG) < 0) return -errno;
    if (info.si_pid == 0) return 0;
    if (info.si_code == CLD_EXITED)
        *ended = (struct camarb_exit){.status = info.si_status, .signal_number = 0};
    else
        *ended = (struct camarb_exit){.status = -1, .signal_number = info.si_status};
    return 1;
}

int camarb_spawn(const char *path, char *const arguments[], int passed, pid_t *pid) {
    pid_t parent = getpid();
    pid_t child = fork();
    if (child < 0) return -errno;
    if (child == 0) {
        /* Only calls that are safe after a fork from here on. */
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
        if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent) _exit(127);
        int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (nothing < 0 || dup2(nothing, 0) < 0) _exit(127);
        if (passed == 3) {
            if (fcntl(3, F_SETFD, 0) < 0) _exit(127);
        } else if (dup2(passed, 3) < 0) {
            _exit(127);
        }
        syscall(SYS_close_range, 4, ~0U, 0);
        execv(path, arguments);
        _exit(127);
    }
    /* No other process can reap the child, so its number is still its own. */
    int pidfd = camarb_pidfd_open(child);
    if (pidfd < 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        return pidfd;
    }
    *pid = child;
    return pidfd;
}

void camarb_outlive_parent(void) { prctl(PR_SET_PDEATHSIG, 0); }

int camarb_random(void *bytes, size_t count) {
    char *next = bytes;
    while (count > 0) {
        ssize_t got = getrandom(next, count, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -errno;
        next += got;
        count -= (size_t)got;
    }
    return 0;
}

ssize_t camarb_cgroup_of(pid_t pid, char *buffer, size_t size) {
    char name[64], text[8192];
    snprintf(name, sizeof name, "/proc/%d/cgroup", (int)pid);
    ssize_t length = read_text(name, text, sizeof text);
    if (length < 0) return length;
    /* Cut short, a path may name another unit. */
    if ((size_t)length == sizeof text - 1) return -E2BIG;
    for (char *line = text; line;) {
        char *end = strchr(line, '\n');
        if (end) *end = 0;
        if (strncmp(line, "0::", 3) == 0) {
            size_t bytes = strlen(line + 3);
            if (bytes >= size) return -ENAMETOOLONG;
            memcpy(buffer, line + 3, bytes + 1);
            return (ssize_t)bytes;
        }
        line = end ? end + 1 : NULL;
    }
    return -ENODATA;
}

static int64_t nanoseconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t camarb_monotonic_ns(void) { return nanoseconds_of(CLOCK_MONOTONIC); }
int64_t camarb_boottime_ns(void) { return nanoseconds_of(CLOCK_BOOTTIME); }

uint64_t camarb_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return 0;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0 && getrlimit(RLIMIT_NOFILE, &limit) < 0) return 0;
    return limit.rlim_cur;
}

static int failed(int descriptor) {
    int fault = errno;
    close(descriptor);
    return -fault;
}

/* A stream socket that is still without a name, and the address of the path. */
static int socket_for(const char *path, int flags, struct sockaddr_un *address) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path) return -ENAMETOOLONG;
    strcpy(address->sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    return descriptor < 0 ? -errno : descriptor;
}

int camarb_unix_connect(const char *path) {
    struct sockaddr_un address;
    int descriptor = socket_for(path, 0, &address);
    if (descriptor < 0) return descriptor;
    socklen_t size = sizeof address;
    if (path[0] == '@') {
        /* An abstract name has no end but the address's. */
        address.sun_path[0] = 0;
        size = offsetof(struct sockaddr_un, sun_path) + strlen(path);
    }
    while (connect(descriptor, (struct sockaddr *)&address, size) < 0)
        if (errno != EINTR) return failed(descriptor);
    if (fcntl(descriptor, F_SETFL, O_NONBLOCK) < 0) return failed(descriptor);
    return descriptor;
}

int camarb_unix_connect_now(const char *path) {
    struct sockaddr_un address;
    int descriptor = socket_for(path, SOCK_NONBLOCK, &address);
    if (descriptor < 0) return descriptor;
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0) return failed(descriptor);
    return descriptor;
}

int camarb_unix_probe(const char *path) {
    struct sockaddr_un address;
    int descriptor = socket_for(path, SOCK_NONBLOCK, &address);
    if (descriptor < 0) return descriptor;
    /* EAGAIN: the backlog is full, so there is a listener, if a slow one. */
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0 && errno != EAGAIN)
        return failed(descriptor);
    close(descriptor);
    return 0;
}

pid_t camarb_listener_of(int connected, uid_t *user) {
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    if (getsockopt(connected, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0) return -errno;
    *user = credentials.uid;
    return credentials.pid > 0 ? credentials.pid : -ESRCH;
}

int camarb_unix_listen(const char *path, int backlog) {
    struct sockaddr_un address;
    int descriptor = socket_for(path, SOCK_NONBLOCK, &address);
    if (descriptor < 0) return descriptor;
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0) return failed(descriptor);
    if (listen(descriptor, backlog) < 0) return failed(descriptor);
    return descriptor;
}

int camarb_unix_accept(int listener) {
    int descriptor = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}

int camarb_unix_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0 ? -errno : 0;
}

int camarb_set_send_buffer(int descriptor, int bytes) {
    return setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) < 0 ? -errno : 0;
}

int camarb_eventfd(void) {
    int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}

int camarb_duplicate(int descriptor) {
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    return copy < 0 ? -errno : copy;
}

/* Only segments that are executable and not writable: those hold nothing of this process's own. */
static int give_back_code(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size, (void)unused;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || segment->p_flags & PF_W) continue;
        uintptr_t begin = (object->dlpi_addr + segment->p_vaddr + page - 1) & ~(page - 1);
        uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_filesz) & ~(page - 1);
        if (begin < end) madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
    return 0;
}

void camarb_give_way(void) { setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10); }

void camarb_give_back_heap(void) { malloc_trim(0); }

void camarb_give_back_start(void) {
    dl_iterate_phdr(give_back_code, NULL);
    camarb_give_back_heap();
}

int camarb_group_new(void) {
    int group = epoll_create1(EPOLL_CLOEXEC);
    return group < 0 ? -errno : group;
}

int camarb_group_add(int group, int descriptor, uint64_t tag) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = tag};
    return epoll_ctl(group, EPOLL_CTL_ADD, descriptor, &event) < 0 ? -errno : 0;
}

int camarb_group_remove(int group, int descriptor) {
    return epoll_ctl(group, EPOLL_CTL_DEL, descriptor, NULL) < 0 ? -errno : 0;
}

int camarb_group_ready(int group, uint64_t *tags, int max) {
    struct epoll_event events[64];
    int count = epoll_wait(group, events, max < 64 ? max : 64, 0);
    if (count < 0) return errno == EINTR ? 0 : -errno;
    for (int i = 0; i < count; i++) tags[i] = events[i].data.u64;
    return count;
}

ssize_t camarb_own_program(char *buffer, size_t size) {
    ssize_t length = readlink("/proc/self/exe", buffer, size - 1);
    if (length < 0) return -errno;
    buffer[length] = 0;
    return length;
}

ssize_t camarb_name_of(pid_t pid, char *buffer, size_t size) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/comm", (int)pid);
    ssize_t length = read_text(name, buffer, size);
    if (length < 0) return length;
    while (length > 0 && buffer[length - 1] == '\n') length--;
    buffer[length] = 0;
    return length;
}

pid_t camarb_pidfd_process(int descriptor) {
    char name[64], text[1024];
    snprintf(name, sizeof name, "/proc/self/fdinfo/%d", descriptor);
    ssize_t length = read_text(name, text, sizeof text);
    if (length < 0) return (pid_t)length;
    /* Only pidfds have this line: -1 for a process that is gone, 0 for one outside of this process's view. */
    const char *line = strstr(text, "\nPid:");
    int process;
    if (!line || sscanf(line, "\nPid: %d", &process) != 1) return -EINVAL;
    return process > 0 ? process : -ESRCH;
}

/* The blank before a field of /proc/PID/stat, which is put into `text`, by its number from 3; NULL where there is none. */
static const char *stat_field(pid_t pid, int wanted, char *text, size_t size, int *fault) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/stat", (int)pid);
    ssize_t length = read_text(name, text, size);
    *fault = length < 0 ? (int)length : -ENODATA;
    if (length < 0) return NULL;
    /* The second field is the name, in parentheses, and may have any character in it; the third follows the last one. */
    const char *field = strrchr(text, ')');
    for (int number = 2; field && number < wanted; number++) field = strchr(field + 1, ' ');
    return field;
}

int camarb_has_terminal(pid_t pid) {
    char text[4096];
    int fault, terminal;
    const char *field = stat_field(pid, 7, text, sizeof text, &fault);
    if (!field || sscanf(field, " %d", &terminal) != 1) return fault;
    return terminal != 0;
}

int camarb_process_began(pid_t pid, int64_t *began) {
    char text[4096];
    int fault;
    const char *field = stat_field(pid, 22, text, sizeof text, &fault);
    unsigned long long ticks;
    long hertz = sysconf(_SC_CLK_TCK);
    if (!field || sscanf(field, " %llu", &ticks) != 1 || hertz <= 0) return fault;
    /* In parts: the product of all ticks with a thousand million would overflow after some centuries of a bad clock. */
    if (ticks / (unsigned long)hertz > INT64_MAX / 1000000000 - 1) return -ENODATA;
    *began = (int64_t)(ticks / (unsigned long)hertz) * 1000000000
        + (int64_t)(ticks % (unsigned long)hertz) * (1000000000 / hertz);
    return 0;
}

int camarb_forbid_inspection(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? -errno : 0; }

int camarb_process_of(pid_t pid, pid_t *parent, uid_t *user) {
    char name[64], text[4096];
    snprintf(name, sizeof name, "/proc/%d/status", (int)pid);
    ssize_t length = read_text(name, text, sizeof text);
    if (length < 0) return (int)length;
    /* The name stands in the first line, with its own line ends escaped: it cannot pass for another. */
    const char *parent_line = strstr(text, "\nPPid:"), *user_line = strstr(text, "\nUid:");
    unsigned int real, effective;
    int number;
    if (!parent_line || sscanf(parent_line, "\nPPid: %d", &number) != 1) return -ENODATA;
    if (!user_line || sscanf(user_line, "\nUid: %u %u", &real, &effective) != 2) return -ENODATA;
    *parent = number;
    *user = effective;
    return 0;
}

int camarb_groups_of(pid_t pid, gid_t *primary, gid_t *groups, int count_max) {
    char name[64], text[8192];
    snprintf(name, sizeof name, "/proc/%d/status", (int)pid);
    ssize_t length = read_text(name, text, sizeof text);
    if (length < 0) return (int)length;
    const char *primary_line = strstr(text, "\nGid:"), *line = strstr(text, "\nGroups:");
    unsigned int real, effective;
    if (!primary_line || sscanf(primary_line, "\nGid: %u %u", &real, &effective) != 2 || !line) return -ENODATA;
    *primary = effective;
    int count = 0;
    for (const char *at = line + strlen("\nGroups:"); *at && *at != '\n';) {
        char *end;
        unsigned long group = strtoul(at, &end, 10);
        if (end == at) {
            at++;
            continue;
        }
        if (count == count_max) return -ERANGE;
        groups[count++] = (gid_t)group;
        at = end;
    }
    return count;
}
