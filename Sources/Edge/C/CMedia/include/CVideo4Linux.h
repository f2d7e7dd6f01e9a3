/* Video4Linux as Swift needs it: ioctl is variadic, and what it takes has unions. Every function is one ioctl.
 *
 * Each returns 0 (or what its comment says) when it worked and -errno when it did not. None waits for a device that was
 * opened here, except where a driver itself is slow. `type` is one of the two kinds of capture queue below. */
#pragma once
#include <linux/v4l2-controls.h>
#include <stddef.h>
#include <stdint.h>

enum camarb_video_queue {
    camarb_video_single = 1, /* V4L2_BUF_TYPE_VIDEO_CAPTURE */
    camarb_video_multi = 9,  /* V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE; formats of one memory plane only */
};

#define CAMARB_FOURCC(a, b, c, d) \
    ((uint32_t)(a) | ((uint32_t)(b) << 8) | ((uint32_t)(c) << 16) | ((uint32_t)(d) << 24))
static const uint32_t camarb_fourcc_nv12 = CAMARB_FOURCC('N', 'V', '1', '2');
static const uint32_t camarb_fourcc_nv21 = CAMARB_FOURCC('N', 'V', '2', '1');
static const uint32_t camarb_fourcc_yu12 = CAMARB_FOURCC('Y', 'U', '1', '2');
static const uint32_t camarb_fourcc_yv12 = CAMARB_FOURCC('Y', 'V', '1', '2');
static const uint32_t camarb_fourcc_yuyv = CAMARB_FOURCC('Y', 'U', 'Y', 'V');
static const uint32_t camarb_fourcc_uyvy = CAMARB_FOURCC('U', 'Y', 'V', 'Y');
static const uint32_t camarb_fourcc_mjpg = CAMARB_FOURCC('M', 'J', 'P', 'G');
static const uint32_t camarb_fourcc_jpeg = CAMARB_FOURCC('J', 'P', 'E', 'G');

/* Read and write, without blocking, close-on-exec. A descriptor or -errno; -ENODEV when it is no character device. */
int camarb_video_open(const char *path);

/* The longest name of a camera, with its zero byte. */
#define CAMARB_CARD_BYTES 33
/* The capture queue of a node that streams, or 0 when it has none, and the camera's name. */
int camarb_video_identify(int fd, char card[CAMARB_CARD_BYTES]);

struct camarb_video_format {
    uint32_t fourcc;
    uint32_t width;
    uint32_t height;
    uint32_t stride;     /* bytes from row to row of the first plane; 0 where the format is compressed */
    uint32_t bytes;      /* of a whole picture */
    uint32_t full_range; /* luma from 0 to 255 instead of 16 to 235 */
};
/* The fourcc at `index`; -EINVAL behind the last. */
int camarb_video_format_at(int fd, int type, uint32_t index, uint32_t *fourcc);
/* Sets the format nearest to the wanted one, or only says which that would be. */
int camarb_video_set_format(int fd, int type, int only_try, struct camarb_video_format *format);

struct camarb_video_range {
    uint32_t is_stepwise; /* else only the least is set */
    uint32_t least_width, most_width, step_width;
    uint32_t least_height, most_height, step_height;
};
int camarb_video_size_at(int fd, uint32_t fourcc, uint32_t index, struct camarb_video_range *size);

struct camarb_video_interval {
    uint32_t is_stepwise; /* else only the shortest is set */
    uint32_t shortest_numerator, shortest_denominator;
    uint32_t longest_numerator, longest_denominator;
};
int camarb_video_interval_at(
    int fd, uint32_t fourcc, uint32_t width, uint32_t height, uint32_t index, struct camarb_video_interval *interval);
/* Seconds a frame, as a fraction: what is wanted, and afterwards what is in force. -ENOTTY where it cannot be set. */
int camarb_video_set_interval(int fd, int type, uint32_t *numerator, uint32_t *denominator);

/* Buffers of the driver's own memory; 0 frees them. How many there are is given back in `count`, and in `can_outlive`
   whether they may be freed while somebody still has a descriptor of one. */
int camarb_video_request(int fd, int type, uint32_t *count, uint32_t *can_outlive);
int camarb_video_buffer(int fd, int type, uint32_t index, uint32_t *offset, uint32_t *bytes);
int camarb_video_queue(int fd, int type, uint32_t index);
/* A DMA buffer's descriptor to read only, or -errno. */
int camarb_video_export(int fd, int type, uint32_t index);
int camarb_video_stream(int fd, int type, int on);

struct camarb_video_frame {
    uint32_t index;
    uint32_t bytes;
    uint32_t sequence;
    uint32_t is_damaged;
    int64_t time; /* nanoseconds of CLOCK_MONOTONIC; 0 where the driver's clock is another one */
};
/* -EAGAIN when none is there. */
int camarb_video_dequeue(int fd, int type, struct camarb_video_frame *frame);

enum camarb_video_control_kind {
    camarb_control_other = 0,
    camarb_control_integer,
    camarb_control_boolean,
    camarb_control_menu,
    camarb_control_integer_menu,
    camarb_control_button,
    camarb_control_bitmask,
};
struct camarb_video_control {
    uint32_t id;
    enum camarb_video_control_kind kind;
    int64_t least, most, step, usual;
    uint32_t is_read_only, is_disabled, is_volatile;
};
/* -EINVAL when the device has no such control. */
int camarb_video_control(int fd, uint32_t id, struct camarb_video_control *control);
/* -EINVAL for an entry that a menu leaves out. `value` is set for menus of integers. */
int camarb_video_menu_entry(int fd, uint32_t id, uint32_t index, int64_t *value);
int camarb_video_get_control(int fd, uint32_t id, int64_t *value);
int camarb_video_set_control(int fd, uint32_t id, int64_t value);

/* News of a control that others change; POLLPRI says that there are some. */
int camarb_video_subscribe(int fd, uint32_t id);
/* The control of the next news and its value; -ENOENT when there are none. */
int camarb_video_news(int fd, uint32_t *id, int64_t *value);

struct camarb_video_rectangle {
    int32_t x, y;
    uint32_t width, height;
};
/* The usual part of the sensor that is read, and the one that is. */
int camarb_video_crop_usual(int fd, int type, struct camarb_video_rectangle *rectangle);
int camarb_video_get_crop(int fd, int type, struct camarb_video_rectangle *rectangle);
int camarb_video_set_crop(int fd, int type, struct camarb_video_rectangle *rectangle);

/* The controls that the recorder's keys stand for (docs/cameras.md). */
static const uint32_t camarb_cid_brightness = V4L2_CID_BRIGHTNESS;
static const uint32_t camarb_cid_contrast = V4L2_CID_CONTRAST;
static const uint32_t camarb_cid_saturation = V4L2_CID_SATURATION;
static const uint32_t camarb_cid_hue = V4L2_CID_HUE;
static const uint32_t camarb_cid_sharpness = V4L2_CID_SHARPNESS;
static const uint32_t camarb_cid_autogain = V4L2_CID_AUTOGAIN;
static const uint32_t camarb_cid_gain = V4L2_CID_GAIN;
static const uint32_t camarb_cid_hflip = V4L2_CID_HFLIP;
static const uint32_t camarb_cid_vflip = V4L2_CID_VFLIP;
static const uint32_t camarb_cid_auto_white_balance = V4L2_CID_AUTO_WHITE_BALANCE;
static const uint32_t camarb_cid_white_balance_temperature = V4L2_CID_WHITE_BALANCE_TEMPERATURE;
static const uint32_t camarb_cid_exposure_auto = V4L2_CID_EXPOSURE_AUTO;
static const uint32_t camarb_cid_exposure_absolute = V4L2_CID_EXPOSURE_ABSOLUTE;
static const uint32_t camarb_cid_focus_absolute = V4L2_CID_FOCUS_ABSOLUTE;
static const uint32_t camarb_cid_focus_auto = V4L2_CID_FOCUS_AUTO;
static const uint32_t camarb_cid_auto_focus_start = V4L2_CID_AUTO_FOCUS_START;
static const uint32_t camarb_cid_zoom_absolute = V4L2_CID_ZOOM_ABSOLUTE;
static const uint32_t camarb_cid_camera_orientation = V4L2_CID_CAMERA_ORIENTATION;
static const uint32_t camarb_cid_privacy = V4L2_CID_PRIVACY;
static const uint32_t camarb_cid_auto_exposure_bias = V4L2_CID_AUTO_EXPOSURE_BIAS;
static const uint32_t camarb_cid_wide_dynamic_range = V4L2_CID_WIDE_DYNAMIC_RANGE;
static const uint32_t camarb_cid_image_stabilization = V4L2_CID_IMAGE_STABILIZATION;
static const uint32_t camarb_cid_iso_sensitivity = V4L2_CID_ISO_SENSITIVITY;
static const uint32_t camarb_cid_iso_sensitivity_auto = V4L2_CID_ISO_SENSITIVITY_AUTO;
static const uint32_t camarb_cid_flash_led_mode = V4L2_CID_FLASH_LED_MODE;
static const uint32_t camarb_cid_flash_strobe = V4L2_CID_FLASH_STROBE;
static const uint32_t camarb_cid_flash_torch_intensity = V4L2_CID_FLASH_TORCH_INTENSITY;

/* libv4lconvert: every format that cameras have, to YU12. Nil when memory runs out. */
struct camarb_converter;
struct camarb_converter *camarb_converter_new(int fd);
void camarb_converter_free(struct camarb_converter *converter);
/* Bytes of the picture made, or -errno. `target` has room for width * height * 3 / 2 bytes. */
int camarb_converter_run(
    struct camarb_converter *converter, const struct camarb_video_format *format, const void *source, size_t bytes,
    void *target, size_t room);
