/* Reading a socket of an untrusted peer, so that none of its descriptors ever comes into this process's table. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Looks at the bytes that have arrived, and takes none. The bytes looked at; 0: the peer has ended; -EAGAIN: there are none; or another
 * -errno. Where *carries is 0, none of these bytes has a descriptor with it; else one of them may have, or a later one: the kernel (6.18)
 * reports all that is queued, however few bytes are asked for. */
ssize_t camarb_intake_look(int socket, void *bytes, size_t capacity, int *carries);

/* Takes bytes that were looked at and have no descriptor with them, `count` or fewer; or -errno. */
ssize_t camarb_intake_take(int socket, void *bytes, size_t count);

/* Urgent bytes, with their descriptors, come in their place among the others: read past, the kernel would drop them in this process. 0 or
 * -errno. */
int camarb_intake_keep_in_line(int socket);

/* Ends a connection, and takes the rest in it. 0: nothing is left, and the socket can be closed; 1: descriptors are, and the process that
 * closes the socket last waits for the server of their files. */
int camarb_intake_end(int socket);

/* Sends bytes with copies of descriptors; never waits. The bytes sent, with which all descriptors went, or -errno. */
ssize_t camarb_send(int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count);

/* The same, all of it or nothing that is told: 0 or -errno. */
int camarb_pass(int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count);

/* One packet of a trusted peer and its descriptors, at most `max`; never waits. Bytes, 0 at the end, or -errno. */
ssize_t camarb_receive_passed(int socket, void *bytes, size_t capacity, int *descriptors, size_t max, size_t *count);

/* The user that connected a socket, by the kernel. 0 or -errno. */
int camarb_peer_user(int socket, uid_t *user);

/* A number that no other socket ever has, also not after this one's end; 0 for a descriptor that is no socket. */
uint64_t camarb_socket_cookie(int socket);
