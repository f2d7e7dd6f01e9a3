/* NV12 of the recorder core, into the formats of PipeWire's programs. */
#pragma once
#include "door.h"

enum camarb_pixels {
    camarb_pixels_nv12,
    camarb_pixels_yuy2,
    camarb_pixels_i420,
    camarb_pixels_count,
};

/* V4L2's four characters for it. */
const char *camarb_pixels_fourcc(enum camarb_pixels pixels);
/* Bytes of a row of the first plane, and of a picture. */
uint32_t camarb_pixels_stride(enum camarb_pixels pixels, uint32_t width);
uint32_t camarb_pixels_bytes(enum camarb_pixels pixels, uint32_t width, uint32_t height);
/* Where the planes begin, and how long their rows are, for a picture at `bytes`. */
void camarb_pixels_planes(
    enum camarb_pixels pixels, uint32_t width, uint32_t height, uint8_t *bytes, uint8_t *planes[3], uint32_t strides[3]);
/* Writes a whole picture of this size: of a larger or a smaller one, its nearest pixels; of one with another shape, its middle. Both sizes
 * are even. */
void camarb_pixels_convert(
    const struct camarb_door_picture *picture, enum camarb_pixels pixels, uint32_t width, uint32_t height, uint8_t *into);
