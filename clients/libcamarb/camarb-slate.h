/* camarb-slate.h: pictures in a camera's place that say why it is away, for programs that show nothing but pictures.
 *
 * A part of camarb.h, and a header of its own for programs that draw slates and have no client of libcamarb: slate.c needs this header,
 * its font and the C library alone. Its pictures depend on its arguments alone; any thread may call it. */
#ifndef CAMARB_SLATE_H
#define CAMARB_SLATE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAMARB_API __attribute__((visibility("default")))

enum camarb_slate_kind {
    CAMARB_SLATE_WAITING, /* not running yet, for no known reason */
    CAMARB_SLATE_INTERRUPTED,
    CAMARB_SLATE_SWITCHED_OFF, /* by a privacy switch: the user's own will, and nothing that comes back by itself */
    CAMARB_SLATE_NO_ACCESS, /* a refusal */
    CAMARB_SLATE_NO_BROKER,
};

typedef struct camarb_slate {
    enum camarb_slate_kind kind;
    const char *camera; /* its name for people */
    const char *reason; /* a cause, or what a session was stopped for, as in docs/semantics.md; or an error's sentence where there is none */
    const char *interrupter; /* "" where nobody, or nobody that this client may know */
    /* Not 0: the picture names the interrupter. In a call the far side reads it as well, so a session's slate has 0 here unless the
     * environment has CAMARB_SLATE_NAMES=1. */
    uint32_t shows_interrupter, reserved_word;
    const char *message; /* the policy's own words, which stand in the place of the reason's sentence; NULL or "": none */
    uint64_t reserved[2];
} camarb_slate;

/* Draws it over the whole of a picture, a sign of its kind behind its words, which a mirror leaves as it is: NV12, YU12, YUYV, BGRx or
 * RGB3 by V4L2's four characters. From 64x48 on; legible from 320x180 on. The memory's earlier content is overwritten, padding between
 * rows included, also that of the last row: a plane is as long as its stride times its rows.
 * strides: bytes from one row to the next, one a plane. Errors: -EINVAL, for a format or size that it cannot draw. */
CAMARB_API int camarb_slate_draw(
    const camarb_slate *slate, const char fourcc[4], uint32_t width, uint32_t height, uint8_t *const planes[],
    const uint32_t strides[]);

#ifdef __cplusplus
}
#endif
#endif
