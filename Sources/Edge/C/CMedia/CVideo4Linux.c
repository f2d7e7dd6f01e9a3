#define _GNU_SOURCE
#include "CVideo4Linux.h"

#include <errno.h>
#include <fcntl.h>
#include <libv4lconvert.h>
#include <linux/videodev2.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int call(int fd, unsigned long request, void *argument) {
    int result;
    do result = ioctl(fd, request, argument);
    while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : result;
}

static int is_multi(int type) { return type == V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE; }

int camarb_video_open(const char *path) {
    struct stat status;
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return -errno;
    if (fstat(fd, &status) < 0 || !S_ISCHR(status.st_mode)) {
        close(fd);
        return -ENODEV;
    }
    return fd;
}

int camarb_video_identify(int fd, char card[CAMARB_CARD_BYTES]) {
    struct v4l2_capability found = {0};
    int result = call(fd, VIDIOC_QUERYCAP, &found);
    if (result < 0) return result;
    memcpy(card, found.card, sizeof found.card);
    card[sizeof found.card] = 0;
    uint32_t capabilities = found.capabilities & V4L2_CAP_DEVICE_CAPS ? found.device_caps : found.capabilities;
    if (!(capabilities & V4L2_CAP_STREAMING)) return 0;
    if (capabilities & V4L2_CAP_VIDEO_CAPTURE) return camarb_video_single;
    if (capabilities & V4L2_CAP_VIDEO_CAPTURE_MPLANE) return camarb_video_multi;
    return 0;
}

int camarb_video_format_at(int fd, int type, uint32_t index, uint32_t *fourcc) {
    struct v4l2_fmtdesc found = {.type = type, .index = index};
    int result = call(fd, VIDIOC_ENUM_FMT, &found);
    if (result == 0) *fourcc = found.pixelformat;
    return result;
}

static uint32_t full_range(uint32_t fourcc, uint32_t colorspace, uint32_t quantization) {
    if (quantization == V4L2_QUANTIZATION_FULL_RANGE) return 1;
    if (quantization == V4L2_QUANTIZATION_LIM_RANGE) return 0;
    return colorspace == V4L2_COLORSPACE_JPEG || fourcc == V4L2_PIX_FMT_MJPEG || fourcc == V4L2_PIX_FMT_JPEG;
}

int camarb_video_set_format(int fd, int type, int only_try, struct camarb_video_format *format) {
    struct v4l2_format wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.type = type;
    if (is_multi(type)) {
        wanted.fmt.pix_mp.width = format->width;
        wanted.fmt.pix_mp.height = format->height;
        wanted.fmt.pix_mp.pixelformat = format->fourcc;
        wanted.fmt.pix_mp.field = V4L2_FIELD_NONE;
        wanted.fmt.pix_mp.num_planes = 1;
    } else {
        wanted.fmt.pix.width = format->width;
        wanted.fmt.pix.height = format->height;
        wanted.fmt.pix.pixelformat = format->fourcc;
        wanted.fmt.pix.field = V4L2_FIELD_NONE;
    }
    int result = call(fd, only_try ? VIDIOC_TRY_FMT : VIDIOC_S_FMT, &wanted);
    if (result < 0) return result;
    if (is_multi(type)) {
        const struct v4l2_pix_format_mplane *found = &wanted.fmt.pix_mp;
        if (found->num_planes != 1) return -EINVAL;
        *format = (struct camarb_video_format){
            found->pixelformat, found->width, found->height, found->plane_fmt[0].bytesperline,
            found->plane_fmt[0].sizeimage, full_range(found->pixelformat, found->colorspace, found->quantization)};
    } else {
        const struct v4l2_pix_format *found = &wanted.fmt.pix;
        *format = (struct camarb_video_format){
            found->pixelformat, found->width, found->height, found->bytesperline, found->sizeimage,
            full_range(found->pixelformat, found->colorspace, found->quantization)};
    }
    return 0;
}

int camarb_video_size_at(int fd, uint32_t fourcc, uint32_t index, struct camarb_video_range *size) {
    struct v4l2_frmsizeenum found = {.index = index, .pixel_format = fourcc};
    int result = call(fd, VIDIOC_ENUM_FRAMESIZES, &found);
    if (result < 0) return result;
    if (found.type == V4L2_FRMSIZE_TYPE_DISCRETE) {
        *size = (struct camarb_video_range){
            0, found.discrete.width, found.discrete.width, 1, found.discrete.height, found.discrete.height, 1};
    } else {
        *size = (struct camarb_video_range){
            1, found.stepwise.min_width, found.stepwise.max_width, found.stepwise.step_width,
            found.stepwise.min_height, found.stepwise.max_height, found.stepwise.step_height};
    }
    return 0;
}

int camarb_video_interval_at(
    int fd, uint32_t fourcc, uint32_t width, uint32_t height, uint32_t index, struct camarb_video_interval *interval) {
    struct v4l2_frmivalenum found = {.index = index, .pixel_format = fourcc, .width = width, .height = height};
    int result = call(fd, VIDIOC_ENUM_FRAMEINTERVALS, &found);
    if (result < 0) return result;
    if (found.type == V4L2_FRMIVAL_TYPE_DISCRETE) {
        *interval = (struct camarb_video_interval){
            0, found.discrete.numerator, found.discrete.denominator, found.discrete.numerator,
            found.discrete.denominator};
    } else {
        *interval = (struct camarb_video_interval){
            1, found.stepwise.min.numerator, found.stepwise.min.denominator, found.stepwise.max.numerator,
            found.stepwise.max.denominator};
    }
    return 0;
}

int camarb_video_set_interval(int fd, int type, uint32_t *numerator, uint32_t *denominator) {
    struct v4l2_streamparm wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.type = type;
    wanted.parm.capture.timeperframe.numerator = *numerator;
    wanted.parm.capture.timeperframe.denominator = *denominator;
    int result = call(fd, VIDIOC_S_PARM, &wanted);
    if (result < 0) return result;
    *numerator = wanted.parm.capture.timeperframe.numerator;
    *denominator = wanted.parm.capture.timeperframe.denominator;
    return 0;
}

int camarb_video_request(int fd, int type, uint32_t *count, uint32_t *can_outlive) {
    struct v4l2_requestbuffers wanted = {.count = *count, .type = type, .memory = V4L2_MEMORY_MMAP};
    int result = call(fd, VIDIOC_REQBUFS, &wanted);
    if (result == 0) *count = wanted.count;
    *can_outlive = (wanted.capabilities & V4L2_BUF_CAP_SUPPORTS_ORPHANED_BUFS) != 0;
    return result;
}

static void describe(struct v4l2_buffer *buffer, struct v4l2_plane *plane, int type, uint32_t index) {
    memset(buffer, 0, sizeof *buffer);
    memset(plane, 0, sizeof *plane);
    buffer->type = type;
    buffer->memory = V4L2_MEMORY_MMAP;
    buffer->index = index;
    if (is_multi(type)) {
        buffer->m.planes = plane;
        buffer->length = 1;
    }
}

int camarb_video_buffer(int fd, int type, uint32_t index, uint32_t *offset, uint32_t *bytes) {
    struct v4l2_buffer buffer;
    struct v4l2_plane plane;
    describe(&buffer, &plane, type, index);
    int result = call(fd, VIDIOC_QUERYBUF, &buffer);
    if (result < 0) return result;
    *offset = is_multi(type) ? plane.m.mem_offset : buffer.m.offset;
    *bytes = is_multi(type) ? plane.length : buffer.length;
    return 0;
}

int camarb_video_queue(int fd, int type, uint32_t index) {
    struct v4l2_buffer buffer;
    struct v4l2_plane plane;
    describe(&buffer, &plane, type, index);
    return call(fd, VIDIOC_QBUF, &buffer);
}

int camarb_video_dequeue(int fd, int type, struct camarb_video_frame *frame) {
    struct v4l2_buffer buffer;
    struct v4l2_plane plane;
    describe(&buffer, &plane, type, 0);
    int result = call(fd, VIDIOC_DQBUF, &buffer);
    if (result < 0) return result;
    *frame = (struct camarb_video_frame){
        buffer.index, is_multi(type) ? plane.bytesused : buffer.bytesused, buffer.sequence,
        (buffer.flags & V4L2_BUF_FLAG_ERROR) != 0, 0};
    if ((buffer.flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) == V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
        frame->time = (int64_t)buffer.timestamp.tv_sec * 1000000000 + (int64_t)buffer.timestamp.tv_usec * 1000;
    return 0;
}

int camarb_video_export(int fd, int type, uint32_t index) {
    struct v4l2_exportbuffer wanted = {.type = type, .index = index, .flags = O_CLOEXEC | O_RDONLY};
    int result = call(fd, VIDIOC_EXPBUF, &wanted);
    return result < 0 ? result : wanted.fd;
}

int camarb_video_stream(int fd, int type, int on) {
    return call(fd, on ? VIDIOC_STREAMON : VIDIOC_STREAMOFF, &type);
}

int camarb_video_control(int fd, uint32_t id, struct camarb_video_control *control) {
    struct v4l2_query_ext_ctrl found = {.id = id};
    int result = call(fd, VIDIOC_QUERY_EXT_CTRL, &found);
    if (result < 0) return result;
    memset(control, 0, sizeof *control);
    control->id = found.id;
    switch (found.type) {
    case V4L2_CTRL_TYPE_INTEGER: control->kind = camarb_control_integer; break;
    case V4L2_CTRL_TYPE_BOOLEAN: control->kind = camarb_control_boolean; break;
    case V4L2_CTRL_TYPE_MENU: control->kind = camarb_control_menu; break;
    case V4L2_CTRL_TYPE_INTEGER_MENU: control->kind = camarb_control_integer_menu; break;
    case V4L2_CTRL_TYPE_BUTTON: control->kind = camarb_control_button; break;
    case V4L2_CTRL_TYPE_BITMASK: control->kind = camarb_control_bitmask; break;
    default: control->kind = camarb_control_other; break;
    }
    control->least = found.minimum;
    control->most = found.maximum;
    control->step = found.step > INT64_MAX ? INT64_MAX : found.step > 0 ? (int64_t)found.step : 1;
    control->usual = found.default_value;
    control->is_read_only = (found.flags & V4L2_CTRL_FLAG_READ_ONLY) != 0;
    control->is_disabled = (found.flags & V4L2_CTRL_FLAG_DISABLED) != 0;
    control->is_volatile = (found.flags & V4L2_CTRL_FLAG_VOLATILE) != 0;
    return 0;
}

int camarb_video_menu_entry(int fd, uint32_t id, uint32_t index, int64_t *value) {
    struct v4l2_querymenu found = {.id = id, .index = index};
    int result = call(fd, VIDIOC_QUERYMENU, &found);
    if (result == 0) *value = found.value;
    return result;
}

int camarb_video_get_control(int fd, uint32_t id, int64_t *value) {
    struct v4l2_control control = {.id = id};
    int result = call(fd, VIDIOC_G_CTRL, &control);
    if (result == 0) *value = control.value;
    return result;
}

int camarb_video_set_control(int fd, uint32_t id, int64_t value) {
    struct v4l2_control control = {.id = id, .value = (int32_t)value};
    return call(fd, VIDIOC_S_CTRL, &control);
}

int camarb_video_subscribe(int fd, uint32_t id) {
    struct v4l2_event_subscription wanted = {.type = V4L2_EVENT_CTRL, .id = id};
    return call(fd, VIDIOC_SUBSCRIBE_EVENT, &wanted);
}

int camarb_video_news(int fd, uint32_t *id, int64_t *value) {
    for (;;) {
        struct v4l2_event event;
        memset(&event, 0, sizeof event);
        int result = call(fd, VIDIOC_DQEVENT, &event);
        if (result < 0) return result;
        if (event.type != V4L2_EVENT_CTRL || !(event.u.ctrl.changes & V4L2_EVENT_CTRL_CH_VALUE)) continue;
        *id = event.id;
        *value = event.u.ctrl.value;
        return 0;
    }
}

static int selection(
    int fd, unsigned long request, int type, uint32_t target, struct camarb_video_rectangle *rectangle) {
    /* The selection calls take the single-planar type for both. */
    (void)type;
    struct v4l2_selection wanted = {
        .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .target = target,
        .r = {rectangle->x, rectangle->y, rectangle->width, rectangle->height}};
    int result = call(fd, request, &wanted);
    if (result < 0) return result;
    *rectangle = (struct camarb_video_rectangle){wanted.r.left, wanted.r.top, wanted.r.width, wanted.r.height};
    return 0;
}

int camarb_video_crop_usual(int fd, int type, struct camarb_video_rectangle *rectangle) {
    return selection(fd, VIDIOC_G_SELECTION, type, V4L2_SEL_TGT_CROP_DEFAULT, rectangle);
}
int camarb_video_get_crop(int fd, int type, struct camarb_video_rectangle *rectangle) {
    return selection(fd, VIDIOC_G_SELECTION, type, V4L2_SEL_TGT_CROP, rectangle);
}
int camarb_video_set_crop(int fd, int type, struct camarb_video_rectangle *rectangle) {
    return selection(fd, VIDIOC_S_SELECTION, type, V4L2_SEL_TGT_CROP, rectangle);
}

/* A camarb_converter is the library's own under another name. */
static struct v4lconvert_data *data(struct camarb_converter *converter) { return (struct v4lconvert_data *)converter; }

struct camarb_converter *camarb_converter_new(int fd) { return (struct camarb_converter *)v4lconvert_create(fd); }

void camarb_converter_free(struct camarb_converter *converter) {
    if (converter) v4lconvert_destroy(data(converter));
}

static struct v4l2_format as_v4l2(const struct camarb_video_format *format, uint32_t fourcc) {
    struct v4l2_format made;
    memset(&made, 0, sizeof made);
    made.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    made.fmt.pix.width = format->width;
    made.fmt.pix.height = format->height;
    made.fmt.pix.pixelformat = fourcc;
    made.fmt.pix.field = V4L2_FIELD_NONE;
    return made;
}

int camarb_converter_run(
    struct camarb_converter *converter, const struct camarb_video_format *format, const void *source, size_t bytes,
    void *target, size_t room) {
    struct v4l2_format from = as_v4l2(format, format->fourcc), to = as_v4l2(format, V4L2_PIX_FMT_YUV420);
    from.fmt.pix.bytesperline = format->stride;
    from.fmt.pix.sizeimage = format->bytes;
    to.fmt.pix.bytesperline = format->width;
    to.fmt.pix.sizeimage = format->width * format->height * 3 / 2;
    if (bytes > INT32_MAX || room > INT32_MAX) return -EOVERFLOW;
    /* It does not write to its source, whatever its declaration says. */
    int made = v4lconvert_convert(
        data(converter), &from, &to, (unsigned char *)(uintptr_t)source, (int)bytes, target, (int)room);
    if (made < 0) return errno > 0 ? -errno : -EIO;
    return made;
}
