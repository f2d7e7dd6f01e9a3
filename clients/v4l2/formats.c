/* Formats, sizes and rates: the camera's, in each pixel format that NV12 is converted to. */
#define _GNU_SOURCE
#include "../libcamarb/usual-rates.h"
#include "door.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    uint32_t fourcc;
    uint32_t flags;
    const char *description;
} offered[] = {
    /* YUYV first: every program knows it, and many take the first. */
    {V4L2_PIX_FMT_YUYV, 0, "YUYV 4:2:2"},
    {V4L2_PIX_FMT_NV12, 0, "Y/CbCr 4:2:0"},
    {V4L2_PIX_FMT_YUV420, 0, "Planar YUV 4:2:0"},
    {V4L2_PIX_FMT_MJPEG, V4L2_FMT_FLAG_COMPRESSED, "Motion-JPEG"},
};
/* More frames a second than any camera has. */
#define RATE_MAX 1000
#define RATE_USUAL 30
#define CALLED 1.001 /* most programs request broadcasting's 30000/1001 as 30 */
/* Half of a hundredth, in which the broker sends rates. */
#define RATE_TOLERANCE 0.005
#define OFFERED (sizeof offered / sizeof *offered)

static bool is_offered(uint32_t fourcc) {
    for (size_t at = 0; at < OFFERED; at++)
        if (offered[at].fourcc == fourcc) return fourcc != V4L2_PIX_FMT_MJPEG || pictures_has_jpeg();
    return false;
}

static double rate_of(struct v4l2_fract interval) { return (double)interval.denominator / interval.numerator; }

/* Both are in lowest terms. */
static bool is_same(struct v4l2_fract one, struct v4l2_fract other) {
    return one.numerator == other.numerator && one.denominator == other.denominator;
}

static void add_rate(struct size *size, uint32_t frames, uint32_t seconds) {
    struct v4l2_fract interval = {.numerator = seconds, .denominator = frames};
    size_t place = 0;
    while (place < size->interval_count && rate_of(size->intervals[place]) > rate_of(interval)) place++;
    bool is_there = place < size->interval_count && is_same(size->intervals[place], interval);
    if (is_there || size->interval_count == RATES_MAX) return;
    memmove(size->intervals + place + 1, size->intervals + place, (size->interval_count - place) * sizeof interval);
    size->intervals[place] = interval;
    size->interval_count++;
}

/* Of a range of rates: the fastest as the camera has it, the whole one that it is called by or is just above, and those that programs ask for. */
static void add_rates(struct size *size, double least, double most) {
    uint32_t frames, seconds;
    library()->camarb_frame_rate_fraction(fmin(most, RATE_MAX), &frames, &seconds);
    add_rate(size, frames, seconds);
    uint32_t whole = seconds == 1001 ? frames / 1000 : frames / seconds;
    if (whole >= least) add_rate(size, whole, 1);
    for (size_t at = 0; at < CAMARB_USUAL_RATES_COUNT; at++)
        if (camarb_usual_rates[at] >= least && camarb_usual_rates[at] <= most) add_rate(size, camarb_usual_rates[at], 1);
}

static struct size *size_of(struct device *device, uint32_t width, uint32_t height) {
    for (size_t at = 0; at < device->size_count; at++)
        if (device->sizes[at].width == width && device->sizes[at].height == height) return &device->sizes[at];
    return NULL;
}

/* The nearest size, by the sum of both sides' distance: never none. */
static struct size *nearest(struct device *device, uint32_t width, uint32_t height) {
    struct size *best = &device->sizes[0];
    int64_t least = INT64_MAX;
    for (size_t at = 0; at < device->size_count; at++) {
        struct size *size = &device->sizes[at];
        int64_t distance = llabs((int64_t)size->width - width) + llabs((int64_t)size->height - height);
        if (distance < least) {
            least = distance;
            best = size;
        }
    }
    return best;
}

/* The format behind a size that is fast enough, or the fastest there is; the first of equals, which is the broker's usual one. */
static const struct source *source_of(const struct device *device, uint32_t width, uint32_t height, double rate) {
    const struct source *best = NULL;
    for (size_t at = 0; at < device->source_count; at++) {
        const struct source *source = &device->sources[at];
        if (source->width != width || source->height != height) continue;
        bool is_enough = source->most_rate * CALLED + RATE_TOLERANCE >= rate;
        if (is_enough) return source;
        if (!best || source->most_rate > best->most_rate) best = source;
    }
    return best;
}

static void choose(struct device *device, uint32_t fourcc, const struct size *size) {
    device->fourcc = fourcc;
    device->width = size->width;
    device->height = size->height;
    pictures_layout(fourcc, size->width, size->height, &device->stride, &device->bytes);
    /* The fastest that is no more than that, or the slowest. */
    size_t at = 0;
    while (at + 1 < size->interval_count && rate_of(size->intervals[at]) > RATE_USUAL) at++;
    device->interval = size->intervals[at];
    const struct source *source = source_of(device, size->width, size->height, rate_of(device->interval));
    device->is_full_range = source && strcmp(source->pixel_format, "420f") == 0;
}

void formats_learn(struct device *device, const camarb_camera *camera) {
    device->source_count = device->size_count = 0;
    for (size_t at = 0; at < camera->format_count && device->source_count < FORMATS_MAX; at++) {
        /* The broker's usual one first, as programs take the first; then in the camera's own order. */
        size_t usual = camera->default_format_index;
        const camarb_format *format = &camera->formats[at == 0 ? usual : at <= usual ? at - 1 : at];
        uint32_t stride, bytes;
        if (!format->width || !format->height || !(format->max_frame_rate >= 1)) continue;
        if (!pictures_layout(V4L2_PIX_FMT_NV12, format->width, format->height, &stride, &bytes)) continue;
        struct source *source = &device->sources[device->source_count++];
        *source = (struct source){
            .width = format->width, .height = format->height, .least_rate = format->min_frame_rate,
            .most_rate = format->max_frame_rate};
        snprintf(source->name, sizeof source->name, "%s", format->name);
        memcpy(source->pixel_format, format->pixel_format, sizeof source->pixel_format - 1);
        struct size *size = size_of(device, format->width, format->height);
        if (!size) {
            if (device->size_count == SIZES_MAX) continue;
            size = &device->sizes[device->size_count++];
            *size = (struct size){.width = format->width, .height = format->height};
        }
        /* One rate at least: the fastest is always among them. */
        add_rates(size, format->min_frame_rate, format->max_frame_rate);
    }
    /* One format at least, so that no answer has to do without. */
    if (!device->size_count)
        device->sizes[device->size_count++] =
            (struct size){.width = 640, .height = 480, .intervals = {{1, RATE_USUAL}}, .interval_count = 1};
    if (!device->fourcc) choose(device, V4L2_PIX_FMT_YUYV, &device->sizes[0]);
}

int formats_enumerate(struct device *device, struct v4l2_fmtdesc *wanted) {
    (void)device;
    if (wanted->type != V4L2_BUF_TYPE_VIDEO_CAPTURE) return -EINVAL;
    /* The mbus code is for drivers that have it; here it is zero. */
    size_t index = wanted->index, count = OFFERED - !pictures_has_jpeg();
    if (index >= count) return -EINVAL;
    *wanted = (struct v4l2_fmtdesc){
        .index = wanted->index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .flags = offered[index].flags, .pixelformat = offered[index].fourcc};
    snprintf((char *)wanted->description, sizeof wanted->description, "%s", offered[index].description);
    return 0;
}

int formats_sizes(struct device *device, struct v4l2_frmsizeenum *wanted) {
    if (!is_offered(wanted->pixel_format) || wanted->index >= device->size_count) return -EINVAL;
    const struct size *size = &device->sizes[wanted->index];
    wanted->type = V4L2_FRMSIZE_TYPE_DISCRETE;
    memset(&wanted->stepwise, 0, sizeof wanted->stepwise);
    wanted->discrete.width = size->width;
    wanted->discrete.height = size->height;
    memset(wanted->reserved, 0, sizeof wanted->reserved);
    return 0;
}

int formats_intervals(struct device *device, struct v4l2_frmivalenum *wanted) {
    const struct size *size = size_of(device, wanted->width, wanted->height);
    if (!is_offered(wanted->pixel_format) || !size || wanted->index >= size->interval_count) return -EINVAL;
    wanted->type = V4L2_FRMIVAL_TYPE_DISCRETE;
    memset(&wanted->stepwise, 0, sizeof wanted->stepwise);
    wanted->discrete = size->intervals[wanted->index];
    memset(wanted->reserved, 0, sizeof wanted->reserved);
    return 0;
}

static void describe(uint32_t fourcc, uint32_t width, uint32_t height, bool is_full_range, struct v4l2_format *format) {
    uint32_t stride = 0, bytes = 0;
    pictures_layout(fourcc, width, height, &stride, &bytes);
    memset(&format->fmt, 0, sizeof format->fmt);
    format->fmt.pix = (struct v4l2_pix_format){
        .width = width, .height = height, .pixelformat = fourcc, .field = V4L2_FIELD_NONE, .bytesperline = stride, .sizeimage = bytes,
        .colorspace = V4L2_COLORSPACE_SRGB, .priv = V4L2_PIX_FMT_PRIV_MAGIC, .ycbcr_enc = V4L2_YCBCR_ENC_601,
        .quantization = is_full_range || fourcc == V4L2_PIX_FMT_MJPEG ? V4L2_QUANTIZATION_FULL_RANGE : V4L2_QUANTIZATION_LIM_RANGE,
        .xfer_func = V4L2_XFER_FUNC_SRGB};
}

void formats_get(struct device *device, struct v4l2_format *format) {
    describe(device->fourcc, device->width, device->height, device->is_full_range, format);
}

struct size *formats_try(struct device *device, struct v4l2_format *format) {
    uint32_t fourcc = format->fmt.pix.pixelformat;
    if (!is_offered(fourcc)) fourcc = V4L2_PIX_FMT_YUYV;
    struct size *size = nearest(device, format->fmt.pix.width, format->fmt.pix.height);
    const struct source *source = source_of(device, size->width, size->height, rate_of(device->interval));
    describe(fourcc, size->width, size->height, source && strcmp(source->pixel_format, "420f") == 0, format);
    return size;
}

int formats_set(struct device *device, struct v4l2_format *format) {
    struct v4l2_fract interval = device->interval;
    struct size *size = formats_try(device, format);
    bool is_unchanged = device->fourcc == format->fmt.pix.pixelformat && device->width == size->width && device->height == size->height;
    if (device->queue.count && !is_unchanged) return -EBUSY;
    if (is_unchanged) return 0;
    choose(device, format->fmt.pix.pixelformat, size);
    /* The rate stays where the new size has it. */
    for (size_t at = 0; at < size->interval_count; at++)
        if (is_same(size->intervals[at], interval)) device->interval = interval;
    return 0;
}

void formats_parameters(struct device *device, struct v4l2_streamparm *parameters) {
    memset(&parameters->parm, 0, sizeof parameters->parm);
    parameters->parm.capture = (struct v4l2_captureparm){.capability = V4L2_CAP_TIMEPERFRAME, .timeperframe = device->interval};
}

bool formats_set_parameters(struct device *device, struct v4l2_streamparm *parameters) {
    struct v4l2_fract asked = parameters->parm.capture.timeperframe;
    struct v4l2_fract before = device->interval;
    const struct size *size = size_of(device, device->width, device->height);
    if (size) {
        /* Zero stands for the usual rate. */
        double wanted = asked.numerator && asked.denominator ? (double)asked.denominator / asked.numerator : RATE_USUAL, least = INFINITY;
        for (size_t at = 0; at < size->interval_count; at++) {
            double distance = fabs(rate_of(size->intervals[at]) - wanted);
            if (distance < least) {
                least = distance;
                device->interval = size->intervals[at];
            }
        }
    }
    formats_parameters(device, parameters);
    return !is_same(device->interval, before);
}

const struct source *formats_wanted(const struct device *device, double *rate) {
    *rate = rate_of(device->interval);
    const struct source *source = source_of(device, device->width, device->height, *rate);
    /* 30 stands for a camera's 29.97, and so does 30000/1001, in the broker's hundredths. */
    if (source) *rate = fmax(source->least_rate, fmin(source->most_rate, *rate));
    return source;
}
