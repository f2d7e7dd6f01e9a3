#include "pixels.h"

#include "rows.h"

#include <string.h>

/* A side that no camera has; rows of it are on the stack. */
#define SIDE_MAX 16384

const char *camarb_pixels_fourcc(enum camarb_pixels pixels) {
    switch (pixels) {
    case camarb_pixels_yuy2: return "YUYV";
    case camarb_pixels_i420: return "YU12";
    case camarb_pixels_nv12:
    case camarb_pixels_count: break;
    }
    return "NV12";
}

uint32_t camarb_pixels_stride(enum camarb_pixels pixels, uint32_t width) {
    return pixels == camarb_pixels_yuy2 ? width * 2 : width;
}

uint32_t camarb_pixels_bytes(enum camarb_pixels pixels, uint32_t width, uint32_t height) {
    return pixels == camarb_pixels_yuy2 ? width * height * 2 : width * height / 2 * 3;
}

void camarb_pixels_planes(
    enum camarb_pixels pixels, uint32_t width, uint32_t height, uint8_t *bytes, uint8_t *planes[3], uint32_t strides[3]) {
    size_t luma = (size_t)width * height;
    planes[0] = bytes;
    planes[1] = bytes + luma;
    planes[2] = bytes + luma / 4 * 5;
    strides[0] = camarb_pixels_stride(pixels, width);
    strides[1] = pixels == camarb_pixels_i420 ? width / 2 : width;
    strides[2] = width / 2;
}

/* A row in the width that is asked for: the picture's own, or its nearest pixels in `room`. */
static const uint8_t *luma_row(const struct camarb_door_picture *from, uint32_t row, uint32_t width, uint8_t *room) {
    const uint8_t *bytes = from->luma + (size_t)row * from->stride;
    if (from->width == width) return bytes;
    for (uint32_t at = 0; at < width; at++) room[at] = bytes[(uint64_t)at * from->width / width];
    return room;
}

static const uint8_t *chroma_row(const struct camarb_door_picture *from, uint32_t row, uint32_t width, uint8_t *room) {
    const uint8_t *bytes = from->chroma + (size_t)row * from->stride;
    if (from->width == width) return bytes;
    for (uint32_t pair = 0; pair < width / 2; pair++)
        memcpy(room + 2 * pair, bytes + 2 * ((uint64_t)pair * from->width / width), 2);
    return room;
}

static struct camarb_door_picture cut(const struct camarb_door_picture *from, uint32_t width, uint32_t height) {
    struct part part = part_of_shape(from->width, from->height, width, height);
    struct camarb_door_picture shown = *from;
    shown.luma += (size_t)part.top * from->stride + part.left;
    shown.chroma += (size_t)(part.top / 2) * from->stride + part.left;
    shown.width = part.width;
    shown.height = part.height;
    return shown;
}

void camarb_pixels_convert(
    const struct camarb_door_picture *picture, enum camarb_pixels pixels, uint32_t width, uint32_t height, uint8_t *into) {
    uint8_t luma_room[SIDE_MAX], chroma_room[SIDE_MAX];
    uint8_t *planes[3];
    uint32_t strides[3];
    if (width > SIDE_MAX) return;
    const struct camarb_door_picture shown = cut(picture, width, height);
    camarb_pixels_planes(pixels, width, height, into, planes, strides);
    for (uint32_t row = 0; row < height; row++) {
        uint32_t source = (uint32_t)((uint64_t)row * shown.height / height);
        const uint8_t *luma = luma_row(&shown, source, width, luma_room);
        uint8_t *target = planes[0] + (size_t)row * strides[0];
        if (pixels == camarb_pixels_yuy2)
            weave(luma, chroma_row(&shown, source / 2, width, chroma_room), target, width / 2);
        else
            memcpy(target, luma, width);
        if (pixels == camarb_pixels_yuy2 || row % 2) continue;
        const uint8_t *chroma = chroma_row(&shown, source / 2, width, chroma_room);
        if (pixels == camarb_pixels_nv12)
            memcpy(planes[1] + (size_t)(row / 2) * strides[1], chroma, width);
        else
            split(chroma, planes[1] + (size_t)(row / 2) * strides[1], planes[2] + (size_t)(row / 2) * strides[2], width / 2);
    }
}
