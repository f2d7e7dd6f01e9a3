/* Sealed memory, packet sockets and descriptors that travel over them.
 *
 * Every function returns 0 (or a length, or a descriptor) when it worked and -errno when it did not,
 * so that Swift needs no thread-local errno. Every descriptor is close-on-exec. */
#pragma once
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A memfd of `bytes`, not sealed yet. */
int camarb_memfd(const char *name, uint64_t bytes);

/* SHRINK | GROW | FUTURE_WRITE | SEAL: the caller's writable mapping stays, and no other process gets one. */
int camarb_memfd_seal(int fd);

/* 1 when a receiver may map `bytes` of it for ever: a DMA buffer of that size, or a memfd of ordinary pages with all the seals
 * of camarb_memfd_seal. 0 when not: it could shrink, and the next look at it would kill the process. */
int camarb_memfd_is_safe(int fd, uint64_t bytes);

/* Bytes of shared memory that the whole machine has in use, memfds among them. */
uint64_t camarb_shared_memory_bytes(void);

/* A connected pair of SOCK_SEQPACKET sockets; `recorder_end` does not block, `client_end` does. */
int camarb_packet_pair(int *recorder_end, int *client_end);

/* Sends one packet without blocking, with a descriptor unless it is -1. */
int camarb_packet_send(int fd, const void *bytes, size_t count, int passed);

/* Receives one packet, with at most one descriptor (-1 for none; surplus ones are closed).
 * 0 means that the other end closed. A packet longer than `capacity` is -EMSGSIZE. */
ssize_t camarb_packet_receive(int fd, void *bytes, size_t capacity, int *passed, int blocking);

/* Wakes the process that polls an eventfd. */
int camarb_eventfd_signal(int fd);
/* Takes back all signals so far. */
int camarb_eventfd_drain(int fd);

/* poll(2) with a limit in nanoseconds; below 0 is for ever. An interrupted wait counts as a time-out. */
int camarb_poll(struct pollfd *descriptors, size_t count, int64_t limit_ns);

/* A full disk, a file-size limit and a reader that left are results of write(2), not reasons to die. */
void camarb_ignore_write_signals(void);

/* A watch on names that come, go and change in a folder; a descriptor, close-on-exec and non-blocking, or -errno. */
int camarb_folder_watch(const char *path);
/* Drops a watch's events so far: its owner looks at the folder itself. */
void camarb_folder_watch_drain(int fd);

/* Reports cover one file alone: a folder such as /dev would report each opening of /dev/null. */
struct camarb_open_news {
    /* Files that were opened and closed. The kernel merges two equal news in a row that nobody has read. */
    uint32_t opened;
    uint32_t closed;
    /* More happened than is kept. */
    uint32_t is_incomplete;
    /* There is more to take. */
    uint32_t has_more;
};
/* The queue of the news, once a process that may read the node has it watched: close-on-exec, non-blocking; or -errno. */
int camarb_open_watch_new(void);
/* Has a node watched there. 0; -EACCES where the caller may not read the node, -EPERM where its unit may not. */
int camarb_open_watch_add(int watch, const char *path);
/* Takes one bufferful of news. 1 when there were some, 0 when there are none, or -errno. */
int camarb_open_watch_take(int watch, struct camarb_open_news *news);
