/* A descriptor that travels without being in anybody's table.
 *
 * close(2) of a file may ask whoever serves the file, and wait for him without end: a FUSE mount's daemon, a file server
 * that hangs. An envelope is one end of a SOCK_SEQPACKET pair in whose queue lies one byte with one descriptor. It can
 * be kept, passed on and closed by those who must never wait; who means to use the file opens it. */
#pragma once

/* An envelope around a descriptor, which stays the caller's. A new descriptor, close-on-exec, or -errno. */
int camarb_new_envelope(int descriptor);

/* What is in an envelope, which stays the caller's and is empty afterwards: a descriptor, close-on-exec; -ENODATA for an
 * envelope that is empty, -ENOTSOCK and others of recvmsg(2) for what is none. Never waits. More than the one descriptor
 * that belongs into it is closed. */
int camarb_open_envelope(int envelope);
