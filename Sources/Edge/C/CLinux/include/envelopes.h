/* A descriptor that travels without being in anybody's table.
 *
 * close(2) of a file may ask whatever serves the file, and wait for it without end: a FUSE mount's daemon, a file server
 * that hangs. An envelope is one end of a SOCK_SEQPACKET pair in whose queue lie two packets, of one byte each, with the
 * descriptor: one for the process that writes the file, and one for another that completes it where the first was lost.
 * Processes that must never wait can keep it, pass it on and close it; the one that uses the file opens it.
 *
 * With the writer's packet comes the write end of a pipe, with the completer's the read end: a process that opens the
 * envelope and keeps what came with it marks the file as being written, for as long as it lives. The pipe's end cannot be
 * forgotten by a process that crashes, nor faked by one that hangs. */
#pragma once

/* An envelope around a descriptor, which stays the caller's; below 0: an empty one. A new descriptor, close-on-exec, or
 * -errno. */
int camarb_new_envelope(int descriptor);

/* The descriptor in an envelope, for the writer; the envelope stays the caller's. Close-on-exec; -ENODATA for an envelope that is empty,
 * -EBUSY where the writer's has been taken already, -ENOTSOCK and others of recvmsg(2) for a descriptor that is no envelope. Never waits.
 * *mark is a descriptor to keep open as long as the file is written, or -1: the caller's. */
int camarb_open_envelope(int envelope, int *mark);

/* The descriptor for the completer, once the writer's was taken: likewise, and -EBUSY before that: then nothing was written, and the
 * envelope is of no more use. *written is a descriptor that hangs up (POLLHUP) when no process writes any more, or -1. */
int camarb_open_envelope_again(int envelope, int *written);
