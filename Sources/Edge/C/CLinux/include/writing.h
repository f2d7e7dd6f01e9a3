/* What a recorder core orders of the process that writes one of its files, over a SOCK_SEQPACKET pair: a packet an order.
 *
 * The process opens the envelope that comes with the first order, so that nobody else ever has the file. It carries out
 * orders one after the other; after an error it passes over all until one wants an answer, which then has the first error.
 * When the other end closes, it closes the file and ends. A file that is opened again, to be completed, can be read, too. */
#pragma once
#include <stdint.h>

enum camarb_writer_kind {
    /* With an envelope: opens it, checks the file, and empties it. */
    camarb_writer_open = 1,
    /* The rest of the packet is written at the offset. */
    camarb_writer_put = 2,
    /* The file ends at the offset. */
    camarb_writer_truncate = 3,
    /* With an envelope that was opened before: waits until nobody writes its file any more, checks that it can be read, and
     * leaves in it what is there. The answer's value is its size. */
    camarb_writer_open_again = 4,
    /* Behind the order a uint32_t: so many bytes at the offset, at most CAMARB_WRITER_READ_MAX and fewer at the file's end,
     * follow the answer, whose value is their number. Each wants an answer. */
    camarb_writer_read = 5,
    /* Asks how many bytes its user may still write where the file lies, and in memory no more than its camera can spare: the
     * answer's value. */
    camarb_writer_free = 6,
};

struct camarb_writer_order {
    uint32_t kind;
    /* 1: an answer is sent when all up to here is done. */
    uint32_t wants_answer;
    uint64_t offset;
};

/* Bytes of one put: a few go into a socket's buffer. */
#define CAMARB_WRITER_PART_MAX 65536
/* Bytes of one read: a page, in which the heads of a few small frames lie. */
#define CAMARB_WRITER_READ_MAX 4096
/* How long opening again waits for a process that still writes, in milliseconds. It ends by itself within a write or two,
 * once its recorder core has; what takes longer hangs. Less than a recorder core waits for an answer. */
#define CAMARB_WRITER_PATIENCE_MS 1000

struct camarb_writer_answer {
    /* 0, or the error number of what failed first since the last answer. */
    int32_t error;
    /* 1: the descriptor in the envelope is no file that can be written to. */
    int32_t is_unsuitable;
    /* What the order was for; 0 where it was for nothing. */
    int64_t value;
};
