#include "CTurboJPEG.h"

#include <string.h>

static inline uint8_t clamped(int32_t value) { return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value; }

/* 16…235 to 0…255: 255/219 is 298.08/256. */
static void expand_luma(const uint8_t *restrict from, uint8_t *restrict to, int count) {
    for (int i = 0; i < count; i++) to[i] = clamped((((int32_t)from[i] - 16) * 298 + 128) >> 8);
}

/* 16…240 around 128 to 0…255 around 128: 255/224 is 291.43/256. */
static void expand_chroma(const uint8_t *restrict from, uint8_t *restrict cb, uint8_t *restrict cr, int count) {
    for (int i = 0; i < count; i++) {
        cb[i] = clamped(((((int32_t)from[2 * i] - 128) * 291 + 128) >> 8) + 128);
        cr[i] = clamped(((((int32_t)from[2 * i + 1] - 128) * 291 + 128) >> 8) + 128);
    }
}

static void split_chroma(const uint8_t *restrict from, uint8_t *restrict cb, uint8_t *restrict cr, int count) {
    for (int i = 0; i < count; i++) {
        cb[i] = from[2 * i];
        cr[i] = from[2 * i + 1];
    }
}

void camarb_nv12_to_jfif(const uint8_t *picture, int stride, int width, int height, int is_full_range,
                         uint8_t *planar) {
    uint8_t *cb = planar + (size_t)width * height;
    uint8_t *cr = cb + (size_t)(width / 2) * (height / 2);
    const uint8_t *chroma = picture + (size_t)stride * height;
    for (int row = 0; row < height; row++) {
        if (is_full_range) memcpy(planar + (size_t)row * width, picture + (size_t)row * stride, (size_t)width);
        else expand_luma(picture + (size_t)row * stride, planar + (size_t)row * width, width);
    }
    for (int row = 0; row < height / 2; row++) {
        size_t to = (size_t)row * (width / 2);
        const uint8_t *from = chroma + (size_t)row * stride;
        if (is_full_range) split_chroma(from, cb + to, cr + to, width / 2);
        else expand_chroma(from, cb + to, cr + to, width / 2);
    }
}
