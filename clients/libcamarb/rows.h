/* rows.h: a row of NV12 in other orders, for the doors in V4L2 and in PipeWire. */
#ifndef CAMARB_ROWS_H
#define CAMARB_ROWS_H

#include <stdint.h>

/* Chroma whose two parts alternate, as two planes. */
static inline void split(const uint8_t *restrict from, uint8_t *restrict u, uint8_t *restrict v, uint32_t count) {
    for (uint32_t at = 0; at < count; at++) {
        u[at] = from[2 * at];
        v[at] = from[2 * at + 1];
    }
}

/* Luma and alternating chroma as YUYV, two pixels at a time. */
static inline void weave(const uint8_t *restrict luma, const uint8_t *restrict chroma, uint8_t *restrict into, uint32_t pairs) {
    for (uint32_t at = 0; at < pairs; at++) {
        into[4 * at] = luma[2 * at];
        into[4 * at + 1] = chroma[2 * at];
        into[4 * at + 2] = luma[2 * at + 1];
        into[4 * at + 3] = chroma[2 * at + 1];
    }
}

#endif
