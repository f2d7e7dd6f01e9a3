/* What a recorder core orders of the process that writes one of its files, over a SOCK_SEQPACKET pair: a packet an order.
 *
 * The process opens the envelope that comes with the first order, so that nobody else ever has the file. It carries out
 * orders one after the other; after an error it passes over all until one wants an answer, which then has the first error.
 * When the other end closes, it closes the file and ends. */
#pragma once
#include <stdint.h>

enum camarb_writer_kind {
    /* With an envelope: opens it, checks the file, and empties it. */
    camarb_writer_open = 1,
    /* The rest of the packet is written at the offset. */
    camarb_writer_put = 2,
    /* The file ends at the offset. */
    camarb_writer_truncate = 3,
};

struct camarb_writer_order {
    uint32_t kind;
    /* 1: an answer is sent when all up to here is done. */
    uint32_t wants_answer;
    uint64_t offset;
};

/* Bytes of one put: a few go into a socket's buffer. */
#define CAMARB_WRITER_PART_MAX 65536

struct camarb_writer_answer {
    /* 0, or the error number of what failed first since the last answer. */
    int32_t error;
    /* 1: the descriptor in the envelope is no file that can be written to. */
    int32_t is_unsuitable;
};
