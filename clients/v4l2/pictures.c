/* The broker's NV12 as NV12, planar, packed, or as Motion JPEG where libturbojpeg is installed. */
#define _GNU_SOURCE
#include "door.h"
#include "../libcamarb/rows.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIDE_MAX 16384 /* a side that no camera has, and whose square still fits */
#define JPEG_QUALITY 80 /* most pictures of 1280x720 have 50 to 100 KB by it, as webcams send them */
/* TJSAMP_422: what cameras on USB send, and some programs take nothing else (guvcview). 4:2:0 would be a quarter less work. */
#define JPEG_422 1
#define JPEG_FAST 2048 /* TJFLAG_FASTDCT: what it loses is seen at qualities above 90 alone */

/* libturbojpeg's, by hand: it is not needed to build this. */
static struct {
    int tried; /* 1: there; -1: not */
    void *compressor;
    void *(*tjInitCompress)(void);
    int (*tjCompressFromYUVPlanes)(
        void *, const unsigned char **, int, const int *, int, int, unsigned char **, unsigned long *, int, int);
    unsigned char *made;
    unsigned long made_bytes;
} jpeg;

/* Wants the lock, as everything here. */
bool pictures_has_jpeg(void) {
    if (jpeg.tried) return jpeg.tried > 0;
    jpeg.tried = -1;
    void *handle = dlopen("libturbojpeg.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return false;
    jpeg.tjInitCompress = (__typeof__(jpeg.tjInitCompress))dlsym(handle, "tjInitCompress");
    jpeg.tjCompressFromYUVPlanes = (__typeof__(jpeg.tjCompressFromYUVPlanes))dlsym(handle, "tjCompressFromYUVPlanes");
    if (jpeg.tjInitCompress && jpeg.tjCompressFromYUVPlanes) jpeg.compressor = jpeg.tjInitCompress();
    if (jpeg.compressor) jpeg.tried = 1;
    return jpeg.tried > 0;
}

bool pictures_layout(uint32_t fourcc, uint32_t width, uint32_t height, uint32_t *stride, uint32_t *bytes) {
    if (width < 2 || height < 2 || width > SIDE_MAX || height > SIDE_MAX || width % 2 || height % 2) return false;
    switch (fourcc) {
    case V4L2_PIX_FMT_NV12:
    case V4L2_PIX_FMT_YUV420:
        *stride = width;
        *bytes = width * height / 2 * 3;
        return true;
    case V4L2_PIX_FMT_YUYV:
        *stride = width * 2;
        *bytes = width * height * 2;
        return true;
    case V4L2_PIX_FMT_MJPEG:
        *stride = 0;
        /* Noise alone has less by this quality; a small one's headers, too. */
        *bytes = width * height * 2 + 4096;
        return true;
    }
    return false;
}

uint8_t *pictures_room(uint8_t **kept, size_t *room, size_t bytes) {
    if (bytes <= *room) return *kept;
    uint8_t *more = realloc(*kept, bytes);
    if (!more) return NULL;
    *kept = more;
    *room = bytes;
    return more;
}

/* Scratch memory for a planar 4:2:2 picture and one of NV12, kept from frame to frame. */
static uint8_t *scratch(size_t luma) {
    static uint8_t *kept;
    static size_t room;
    return pictures_room(&kept, &room, luma * 2 + luma / 2 * 3);
}

/* Rows, close to each other in what is made. */
static void copy_rows(const uint8_t *from, uint32_t stride, uint8_t *into, uint32_t width, uint32_t rows) {
    for (uint32_t row = 0; row < rows; row++) memcpy(into + (size_t)row * width, from + (size_t)row * stride, width);
}

/* Two planes and how long their rows are. */
struct nv12 {
    const uint8_t *y, *chroma;
    uint32_t y_stride, chroma_stride;
};

/* JPEG knows the full range alone. 149/128 is 255/219, and 291/256 is 255/224 as near as makes no step of 255, with 128 staying 128; in 16
 * bits, of which a processor does many at once. */
static uint8_t stretched_luma(uint8_t value) {
    uint16_t above = (uint16_t)((value < 16 ? 16 : value > 235 ? 235 : value) - 16);
    return (uint8_t)((uint16_t)(above * 149 + 64) >> 7);
}

static uint8_t stretched_chroma(uint8_t value) {
    uint16_t above = (uint16_t)((value < 16 ? 16 : value > 240 ? 240 : value) - 16);
    return (uint8_t)((uint16_t)(above * 291 + 304) >> 8);
}

static void stretch_luma(const uint8_t *restrict from, uint8_t *restrict into, uint32_t count) {
    for (uint32_t at = 0; at < count; at++) into[at] = stretched_luma(from[at]);
}

static void stretch_chroma(uint8_t *bytes, uint32_t count) {
    for (uint32_t at = 0; at < count; at++) bytes[at] = stretched_chroma(bytes[at]);
}

static int64_t compress(struct nv12 from, uint32_t width, uint32_t height, bool is_full_range, uint8_t *into, size_t most) {
    size_t luma = (size_t)width * height;
    uint8_t *planar = scratch(luma), *u = planar + luma, *v = u + luma / 2;
    if (!planar) return -ENOMEM;
    if (!pictures_has_jpeg()) return -EINVAL;
    for (uint32_t row = 0; !is_full_range && row < height; row++)
        stretch_luma(from.y + (size_t)row * from.y_stride, planar + (size_t)row * width, width);
    for (uint32_t row = 0; row < height / 2; row++) {
        /* Each is of two rows. */
        uint32_t half = width / 2;
        uint8_t *u_row = u + (size_t)row * width, *v_row = v + (size_t)row * width;
        split(from.chroma + (size_t)row * from.chroma_stride, u_row, v_row, half);
        if (!is_full_range) {
            stretch_chroma(u_row, half);
            stretch_chroma(v_row, half);
        }
        memcpy(u_row + half, u_row, half);
        memcpy(v_row + half, v_row, half);
    }
    const unsigned char *planes[] = {is_full_range ? from.y : planar, u, v};
    const int strides[] = {(int)(is_full_range ? from.y_stride : width), (int)width / 2, (int)width / 2};
    if (jpeg.tjCompressFromYUVPlanes(
            jpeg.compressor, planes, (int)width, strides, (int)height, JPEG_422, &jpeg.made, &jpeg.made_bytes, JPEG_QUALITY,
            JPEG_FAST)
        < 0)
        return -EIO;
    if (jpeg.made_bytes > most) return -EMSGSIZE;
    memcpy(into, jpeg.made, jpeg.made_bytes);
    return (int64_t)jpeg.made_bytes;
}

static int64_t make(struct nv12 from, bool is_full_range, uint32_t fourcc, uint32_t width, uint32_t height, uint8_t *into) {
    size_t luma = (size_t)width * height;
    switch (fourcc) {
    case V4L2_PIX_FMT_NV12:
        copy_rows(from.y, from.y_stride, into, width, height);
        copy_rows(from.chroma, from.chroma_stride, into + luma, width, height / 2);
        return (int64_t)(luma / 2 * 3);
    case V4L2_PIX_FMT_YUV420:
        copy_rows(from.y, from.y_stride, into, width, height);
        for (uint32_t row = 0; row < height / 2; row++)
            split(
                from.chroma + (size_t)row * from.chroma_stride, into + luma + (size_t)row * (width / 2),
                into + luma / 4 * 5 + (size_t)row * (width / 2), width / 2);
        return (int64_t)(luma / 2 * 3);
    case V4L2_PIX_FMT_YUYV:
        for (uint32_t row = 0; row < height; row++)
            weave(
                from.y + (size_t)row * from.y_stride, from.chroma + (size_t)(row / 2) * from.chroma_stride,
                into + (size_t)row * width * 2, width / 2);
        return (int64_t)(luma * 2);
    case V4L2_PIX_FMT_MJPEG: {
        uint32_t stride, bytes;
        if (!pictures_layout(V4L2_PIX_FMT_MJPEG, width, height, &stride, &bytes)) return -EINVAL;
        return compress(from, width, height, is_full_range, into, bytes);
    }
    }
    return -EINVAL;
}

/* A picture may have another size than the program asked for, which V4L2 cannot report: the nearest pixels then, of the picture's middle. */
static bool scaled(const camarb_picture *picture, uint32_t width, uint32_t height, struct nv12 *made) {
    size_t luma = (size_t)width * height;
    uint8_t *kept = scratch(luma);
    if (!kept) return false;
    uint8_t *into = kept + luma * 2;
    struct part part = part_of_shape(picture->width, picture->height, width, height);
    const uint8_t *shown[] = {picture->planes[0] + (size_t)part.top * picture->strides[0] + part.left,
        picture->planes[1] + (size_t)(part.top / 2) * picture->strides[1] + part.left};
    for (uint32_t row = 0; row < height; row++) {
        const uint8_t *from = shown[0] + (size_t)((uint64_t)row * part.height / height) * picture->strides[0];
        for (uint32_t column = 0; column < width; column++)
            into[(size_t)row * width + column] = from[(uint64_t)column * part.width / width];
    }
    for (uint32_t row = 0; row < height / 2; row++) {
        const uint8_t *from = shown[1] + (size_t)((uint64_t)row * part.height / height) * picture->strides[1];
        for (uint32_t pair = 0; pair < width / 2; pair++)
            memcpy(into + luma + (size_t)row * width + 2 * pair, from + 2 * ((uint64_t)pair * part.width / width), 2);
    }
    *made = (struct nv12){into, into + luma, width, width};
    return true;
}

int64_t pictures_convert(const camarb_picture *picture, uint32_t fourcc, uint32_t width, uint32_t height, uint8_t *into) {
    if (picture->plane_count < 2 || picture->width < 2 || picture->height < 2) return -EINVAL;
    struct nv12 from = {picture->planes[0], picture->planes[1], picture->strides[0], picture->strides[1]};
    if ((picture->width != width || picture->height != height) && !scaled(picture, width, height, &from)) return -ENOMEM;
    return make(from, strcmp(picture->pixel_format, "420f") == 0, fourcc, width, height, into);
}

int64_t pictures_slate(const camarb_slate *slate, uint32_t fourcc, uint32_t width, uint32_t height, uint8_t *into, size_t most) {
    uint32_t stride, bytes;
    if (!pictures_layout(fourcc, width, height, &stride, &bytes) || most < bytes) return -EINVAL;
    bool is_compressed = fourcc == V4L2_PIX_FMT_MJPEG;
    size_t luma = (size_t)width * height;
    uint8_t *drawn = is_compressed ? scratch(luma) : into;
    if (!drawn) return -ENOMEM;
    if (is_compressed) drawn += luma * 2;
    bool is_packed = fourcc == V4L2_PIX_FMT_YUYV, is_pairs = is_compressed || fourcc == V4L2_PIX_FMT_NV12;
    uint8_t *const planes[] = {drawn, drawn + luma, drawn + luma / 4 * 5};
    const uint32_t strides[] = {is_packed ? width * 2 : width, is_pairs ? width : width / 2, width / 2};
    int error = library()->camarb_slate_draw(slate, is_packed ? "YUYV" : is_pairs ? "NV12" : "YU12", width, height, planes, strides);
    if (error == -EINVAL && !is_compressed) {
        /* Smaller than any text: black. */
        memset(into, 16, bytes);
        return bytes;
    }
    if (error < 0) return error;
    return is_compressed ? make((struct nv12){drawn, drawn + luma, width, width}, false, fourcc, width, height, into) : (int64_t)bytes;
}
