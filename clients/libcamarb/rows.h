/* rows.h: rows of NV12 in other orders, and the part of a picture that is shown, for the doors in V4L2 and in PipeWire. */
#ifndef CAMARB_ROWS_H
#define CAMARB_ROWS_H

#include <stdint.h>

/* A part of a picture, from an even pixel on, with even sides. */
struct part {
    uint32_t left, top, width, height;
};

/* The largest part that has a shape, from the picture's middle, as the recorder core cuts it. All sides are even. */
static inline struct part part_of_shape(uint32_t width, uint32_t height, uint32_t shape_width, uint32_t shape_height) {
    uint64_t widest = (uint64_t)height * shape_width / shape_height, highest = (uint64_t)width * shape_height / shape_width;
    struct part part = {.width = width, .height = height};
    if (widest < width) part.width = widest < 2 ? 2 : (uint32_t)widest / 2 * 2;
    else if (highest < height) part.height = highest < 2 ? 2 : (uint32_t)highest / 2 * 2;
    part.left = (width - part.width) / 4 * 2;
    part.top = (height - part.height) / 4 * 2;
    return part;
}

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
