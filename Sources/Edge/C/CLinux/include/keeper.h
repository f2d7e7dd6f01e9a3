/* The packets between camarbd and camkeeper, on a SOCK_SEQPACKET pair: keeper's end is its descriptor 3. Both are built together, so that
 * the packets are C's own. */
#pragma once
#include <stdint.h>
#include "files.h"
#include "microphones.h"

enum {
    /* Descriptors that one message may bring: as many as a bracket has photos. Of a message with more all are closed, and none of it is
     * done. */
    camarb_keeper_descriptors_max = 8,
    /* Envelopes that one keeper keeps. More than all that may be on their way. */
    camarb_keeper_envelopes_max = 256,
};

/* Orders from camarbd to keeper. */
enum {
    /* Reads `bytes` bytes, which have arrived, from the client's socket that comes with the packet. */
    camarb_keeper_take = 1,
    /* Closes the socket that comes with the packet: descriptors wait in it. */
    camarb_keeper_close,
    /* Lets go of the envelope with the cookie: the broker has no copy of it any more. */
    camarb_keeper_let_go,
};

struct camarb_keeper_job {
    uint32_t kind;
    uint32_t bytes;
    /* The first of the bytes begins a message, and may bring descriptors. */
    uint32_t is_beginning;
    uint32_t unused;
    uint64_t cookie;
};

struct camarb_keeper_found {
    struct camarb_file file;
    /* An `enum camarb_file_fault`: why the descriptor takes no photo and no recording. */
    uint32_t fault;
    /* An `enum camarb_microphone_fault`: why it is no microphone's socket. A keeper does not know a call's purpose. */
    uint32_t microphone;
    /* Of its envelope, which is empty where it is neither. */
    uint64_t cookie;
};

/* Keeper to camarbd. A `take` is answered by `taken` and then, when all that could hang is over, by `free`; every other
 * job by `free` alone. */
enum { camarb_keeper_taken = 1, camarb_keeper_free };

enum {
    camarb_keeper_fine = 0,
    /* Descriptors came with another byte than a message's first. */
    camarb_keeper_misplaced,
    /* More than `camarb_keeper_descriptors_max`. */
    camarb_keeper_too_many,
    /* The bytes could not be read, or there is no room for another envelope. */
    camarb_keeper_failed,
};

struct camarb_keeper_answer {
    uint32_t kind;
    uint32_t trouble;
    /* Envelopes that come with the packet, in the descriptors' order. */
    uint32_t count;
    /* Descriptors that the message's first byte brought: as many, or too many. */
    uint32_t brought;
    struct camarb_keeper_found found[camarb_keeper_descriptors_max];
};
