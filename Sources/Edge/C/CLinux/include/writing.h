/* A recorder core's orders to the process that writes one of its files, over a SOCK_SEQPACKET pair: a packet an order. The process opens
 * the envelope that comes with the first order, so that no other process ever has the file. It carries out orders one after the other;
 * after an error it skips all until one wants a reply, which then has the first error. When the other end closes, it closes the file and
 * ends. A file that is opened again, to be completed, can be read, too. */
#pragma once
#include <stdint.h>

enum camarb_writer_kind {
    /* With an envelope: opens it, checks the file, and empties it. */
    camarb_writer_open = 1,
    /* The rest of the packet is written at the offset. */
    camarb_writer_put = 2,
    /* The file ends at the offset. */
    camarb_writer_truncate = 3,
    /* With an envelope that was opened before: waits until no process writes its file any more, checks that it can be read, and keeps its
     * contents. The reply's value is its size. */
    camarb_writer_open_again = 4,
    /* After the order a uint32_t: a count of bytes at the offset, at most CAMARB_WRITER_READ_MAX; they follow the reply, fewer at the
     * file's end, and the reply's value is their number. Each wants a reply. */
    camarb_writer_read = 5,
    /* Asks for the bytes that its user may still write where the file lies, and in memory no more than its camera can spare: the reply's
     * value. */
    camarb_writer_free = 6,
};

struct camarb_writer_order {
    uint32_t kind;
    /* 1: a reply is sent when all up to here is done. */
    uint32_t wants_answer;
    uint64_t offset;
};

/* Bytes of one put: a few go into a socket's buffer. */
#define CAMARB_WRITER_PART_MAX 65536
/* Bytes of one read: a page, in which the heads of a few small frames lie. */
#define CAMARB_WRITER_READ_MAX 4096
/* The longest wait of opening again for a process that still writes, in milliseconds. Such a process ends by itself within a write or two,
 * once its recorder core has; a slower one hangs. Less than a recorder core waits for a reply. */
#define CAMARB_WRITER_PATIENCE_MS 1000

struct camarb_writer_answer {
    /* 0, or the number of the first error since the last reply. */
    int32_t error;
    /* 1: the descriptor in the envelope is no file that can be written to. */
    int32_t is_unsuitable;
    /* The order's result; 0 without one. */
    int64_t value;
};
