/* A microphone's socket: one end of a connected AF_UNIX SOCK_SEQPACKET pair that a client passes, on which it writes packets
 * of sound. The client may keep a copy of it, so that nothing that is set on it is relied on. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "files.h"

/* Why a descriptor is no microphone's socket. */
enum camarb_microphone_fault {
    camarb_microphone_good = 0,
    camarb_microphone_regular_file,
    camarb_microphone_folder,
    camarb_microphone_pipe,
    camarb_microphone_device,
    camarb_microphone_path_only,
    /* On a file system that a program serves: no further query goes there. */
    camarb_microphone_fuse,
    /* Nothing with a name: an epoll instance, a process, a timer. */
    camarb_microphone_other,
    camarb_microphone_stream,
    camarb_microphone_datagram,
    /* Of another family than AF_UNIX. */
    camarb_microphone_network,
    camarb_microphone_listening,
    camarb_microphone_unconnected,
    camarb_microphone_unreadable,
};

/* The kind of a descriptor, after `camarb_check_output_file` has looked at it. Asks only the kernel. */
enum camarb_microphone_fault camarb_check_microphone(int descriptor, const struct camarb_file *file);

/* One packet, or as much of it as there is room for; never waits. Its whole length in bytes, 0 at the end (and for an empty packet, which
 * no client has reason to send), -EAGAIN where there is none, -EBADMSG where descriptors come with it, or another -errno. A packet with
 * descriptors stays in the queue: to receive it is to drop them, and the last process with a file may wait for the file's server. From
 * then on no packet can be received. */
ssize_t camarb_microphone_receive(int socket, void *bytes, size_t capacity);

/* Ends it: the client's end sees that at once, also while others have copies of this one. 0: no descriptor is in its queue, and it can be
 * closed; 1: descriptors are, and the process that closes it last may wait for their files' server. */
int camarb_microphone_end(int socket);
