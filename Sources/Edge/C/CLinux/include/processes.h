/* A peer's process, whether it still lives, starting children, and the clock. */
#pragma once
#include <stdint.h>
#include <sys/types.h>

/* The kernel's facts about the process that connected a socket. */
struct camarb_peer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
    /* Readable once the process is gone. Owned by the caller. */
    int pidfd;
    /* The kernel has no SO_PEERPIDFD: the pidfd was opened by number a moment later. */
    int weak;
};

/* 0, or -errno: -ESRCH when the peer is gone already. Any failure means "refuse", never "assume".
   With `by_number` as on a kernel that has no SO_PEERPIDFD. */
int camarb_peer_of_socket(int descriptor, int by_number, struct camarb_peer *peer);

/* A pidfd, or -errno. */
int camarb_pidfd_open(pid_t pid);

/* The process that a pidfd names. -ESRCH when it is gone, or is in a process-id namespace that cannot be seen from here;
   -EINVAL when the descriptor is no pidfd. Asks the kernel alone, whatever the descriptor is. */
pid_t camarb_pidfd_process(int descriptor);

/* 0, or -errno. */
int camarb_pidfd_kill(int pidfd, int signal_number);

/* 1 when the process behind the pidfd still runs, else 0. */
int camarb_pidfd_alive(int pidfd);

struct camarb_exit {
    /* Exit status, or -1 when a signal ended it. */
    int status;
    /* The signal that ended it, or 0. */
    int signal_number;
};

/* 1 and *ended when the child has ended and is now reaped; 0 while it runs; -errno. */
int camarb_reap(int pidfd, struct camarb_exit *ended);

/* Starts a program with `passed` as its descriptor 3 and nothing else but 0, 1 and 2 (0 is /dev/null). The child gets SIGTERM when its
 * parent dies. A program that cannot be executed ends with status 127: waiting for that would block. Returns a pidfd or -errno. */
int camarb_spawn(const char *path, char *const arguments[], int passed, pid_t *pid);

/* From here on this process outlives the one that started it (`camarb_spawn`): the parent's end is no SIGTERM any more. */
void camarb_outlive_parent(void);

/* Fills `bytes` with random ones, from getrandom(2). 0, or -errno. */
int camarb_random(void *bytes, size_t count);

/* The unified control group's path of a process, zero-terminated. Its length, or -errno. */
ssize_t camarb_cgroup_of(pid_t pid, char *buffer, size_t size);

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t camarb_monotonic_ns(void);

/* Raises the soft limit of open descriptors to the hard one; the limit now in force. */
uint64_t camarb_raise_descriptor_limit(void);

/* A connected Unix stream socket, close-on-exec and non-blocking; or -errno. -ENAMETOOLONG when the path does not fit. connect itself
 * waits while the listener's backlog is full; a path that begins with an at sign is an abstract name to it. */
int camarb_unix_connect(const char *path);
/* The same, and -EAGAIN where connecting would have to wait. */
int camarb_unix_connect_now(const char *path);
/* Whether a process listens there, without waiting: 0, -ECONNREFUSED when none does, or another -errno. */
int camarb_unix_probe(const char *path);
/* The process that made the socket listen to which this one is connected, and its user then; or -errno. */
pid_t camarb_listener_of(int connected, uid_t *user);
int camarb_unix_listen(const char *path, int backlog);
/* An accepted socket, close-on-exec and non-blocking; or -errno. */
int camarb_unix_accept(int listener);
/* Two connected Unix stream sockets, close-on-exec and non-blocking; 0 or -errno. */
int camarb_unix_pair(int ends[2]);
/* 0 or -errno. */
int camarb_set_send_buffer(int descriptor, int bytes);

/* An eventfd, close-on-exec and non-blocking; or -errno. */
int camarb_eventfd(void);

/* A duplicate, close-on-exec, or -errno. */
int camarb_duplicate(int descriptor);

/* One descriptor that is readable when any of many is: for process ends, which hardly ever come. */
int camarb_group_new(void);
/* 0 or -errno. The group forgets a descriptor when it is removed or closed. */
int camarb_group_add(int group, int descriptor, uint64_t tag);
int camarb_group_remove(int group, int descriptor);
/* The tags that are ready, at most `max`; their number or -errno. Never waits. */
int camarb_group_ready(int group, uint64_t *tags, int max);

/* Gives back the pages that only the start, or finished work, needed: clean code, which the page cache still has, and free heap. */
void camarb_give_back_start(void);
/* The calling thread gives way to all others of the machine. Where that is forbidden, it does not. */
void camarb_give_way(void);
/* Free heap alone: for a process that goes on working. */
void camarb_give_back_heap(void);

/* The program of this process, zero-terminated. Its length or -errno. */
ssize_t camarb_own_program(char *buffer, size_t size);
/* The short name of a process, zero-terminated. Its length or -errno. */
ssize_t camarb_name_of(pid_t pid, char *buffer, size_t size);

/* When a process began, in nanoseconds of CLOCK_BOOTTIME, to the clock tick before. 0 or -errno. */
int camarb_process_began(pid_t pid, int64_t *began);
/* Nanoseconds of CLOCK_BOOTTIME. */
int64_t camarb_boottime_ns(void);

/* Other processes of this user may not look into this process, nor take its descriptors, and it leaves no core. 0 or -errno. */
int camarb_forbid_inspection(void);

/* The process that started a process, and its effective user. 0, or -errno. */
int camarb_process_of(pid_t pid, pid_t *parent, uid_t *user);

/* 1 when a process has a controlling terminal, 0 when it has none; or -errno. */
int camarb_has_terminal(pid_t pid);

/* The groups of a process beside its effective one, of which there may be `count_max`. Their number, or -errno; -ERANGE: there are
 * more. */
int camarb_groups_of(pid_t pid, gid_t *primary, gid_t *groups, int count_max);
