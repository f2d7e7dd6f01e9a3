/* libav as Swift sees it, and the macros it cannot. */
#pragma once
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/display.h>
#include <libavutil/error.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

static const int64_t camarb_AV_NOPTS_VALUE = AV_NOPTS_VALUE;
static const int camarb_AVERROR_EOF = AVERROR_EOF;
static const int camarb_AVERROR_EAGAIN = AVERROR(EAGAIN);
static const int camarb_AVERROR_ENOMEM = AVERROR(ENOMEM);

/* Says on standard error only what ends an operation: the rest reaches the caller as a return value. */
void camarb_av_quiet(void);

/* The error's words, at most `capacity` bytes with the terminator. */
void camarb_av_error(int code, char *text, size_t capacity);

/* One side of a scaler; its luma is full-range (JPEG) or video-range. */
struct camarb_sws_side {
    int width, height;
    enum AVPixelFormat format;
    int is_full;
};

/* A scaler, or NULL. The ranges are known to it from the beginning: one that learns of them later has decided by then whether the
 * picture only has to be copied. */
struct SwsContext *camarb_sws_make(struct camarb_sws_side from, struct camarb_sws_side to, int flags);

/* An output of a file's bytes, over a buffer of av_malloc that it takes; NULL where there is no memory. libav 7 gives the writer bytes
 * that it must not change, and earlier ones did not say so. */
AVIOContext *camarb_output_make(
    unsigned char *buffer, int capacity, void *opaque, int (*write)(void *opaque, const uint8_t *bytes, int count),
    int64_t (*seek)(void *opaque, int64_t offset, int whence));

/* A packet's payload from elsewhere (a JPEG), copied. */
int camarb_packet_from_bytes(AVPacket *packet, const uint8_t *bytes, int count);

/* Gives a stream the display matrix for an orientation as Exif numbers it, 1 to 8: none for 1. 0, or an error. */
int camarb_stream_orient(AVStream *stream, int orientation);

/* The last samples of a packet of sound are not to be played. 0, or an error. */
int camarb_packet_discard(AVPacket *packet, uint32_t samples);
