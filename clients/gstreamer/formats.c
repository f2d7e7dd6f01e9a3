/* A camera's formats as caps, and back. */
#include "camarbsrc.h"

#include <math.h>
#include <string.h>

/* Matrix of BT.601, transfer of sRGB, primaries of BT.709, as the V4L2 door has them; the first number is the range. */
#define VIDEO_RANGE "2:4:7:1"
#define FULL_RANGE "1:4:7:1"

/* The broker says rates in hundredths: half of one, and what a double loses. */
static const gdouble rate_tolerance = 0.005 + 1e-9;

#define RATE_MIN 0.01 /* brokers say no slower one, and less has no fraction */

static gboolean is_full(const char *pixel_format) { return strcmp(pixel_format, "420f") == 0; }

static gboolean is_known(const char *pixel_format) { return is_full(pixel_format) || strcmp(pixel_format, "420v") == 0; }

static void fraction_of(gdouble rate, gint *frames, gint *seconds) {
    guint32 number, of;
    camarb_frame_rate_fraction(rate, &number, &of);
    *frames = (gint)number;
    *seconds = (gint)of;
}

static GstStructure *structure_of(const char *pixel_format, guint width, guint height) {
    return gst_structure_new(
        "video/x-raw", "format", G_TYPE_STRING, "NV12", "width", G_TYPE_INT, (gint)width, "height", G_TYPE_INT, (gint)height,
        "pixel-aspect-ratio", GST_TYPE_FRACTION, 1, 1, "interlace-mode", G_TYPE_STRING, "progressive", "colorimetry", G_TYPE_STRING,
        is_full(pixel_format) ? FULL_RANGE : VIDEO_RANGE, NULL);
}

/* The camera lists its own as it likes; whoever takes the first of ours takes the usual one. */
static const camarb_format *at(const camarb_camera *camera, gsize place) {
    gsize usual = camera->default_format_index;
    return &camera->formats[place == 0 ? usual : place <= usual ? place - 1 : place];
}

camarb_format *formats_copy(const camarb_camera *camera) {
    camarb_format *copy = g_new(camarb_format, camera->format_count);
    for (gsize i = 0; i < camera->format_count; i++) copy[i] = *at(camera, i);
    return copy;
}

GstCaps *formats_caps(const camarb_camera *camera) {
    GstCaps *caps = gst_caps_new_empty();
    for (gsize i = 0; i < camera->format_count; i++) {
        const camarb_format *format = at(camera, i);
        if (!is_known(format->pixel_format) || format->width == 0 || format->height == 0 || format->max_frame_rate < RATE_MIN) continue;
        gint least, least_of, most, most_of;
        fraction_of(format->min_frame_rate, &least, &least_of);
        fraction_of(format->max_frame_rate, &most, &most_of);
        GstStructure *structure = structure_of(format->pixel_format, format->width, format->height);
        if (gst_util_fraction_compare(least, least_of, most, most_of) < 0)
            gst_structure_set(structure, "framerate", GST_TYPE_FRACTION_RANGE, least, least_of, most, most_of, NULL);
        else
            gst_structure_set(structure, "framerate", GST_TYPE_FRACTION, most, most_of, NULL);
        gst_caps_append_structure(caps, structure);
    }
    return caps;
}

GstCaps *formats_exact(const char *pixel_format, guint width, guint height, gdouble rate) {
    gint number, of;
    fraction_of(rate, &number, &of);
    GstStructure *structure = structure_of(pixel_format, width, height);
    gst_structure_set(structure, "framerate", GST_TYPE_FRACTION, number, of, NULL);
    return gst_caps_new_full(structure, NULL);
}

gboolean formats_is_full_range(const GstVideoInfo *info) { return info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255; }

gdouble formats_rate(const GstVideoInfo *info) { return info->fps_n > 0 ? (gdouble)info->fps_n / info->fps_d : RATE_USUAL; }

GstClockTime formats_interval(const GstVideoInfo *info) {
    return info->fps_n > 0 ? gst_util_uint64_scale_int(GST_SECOND, info->fps_d, info->fps_n) : GST_SECOND / RATE_USUAL;
}

const camarb_format *formats_find(const camarb_format *formats, gsize count, const GstVideoInfo *info) {
    gdouble rate = formats_rate(info);
    for (gsize i = 0; i < count; i++) {
        const camarb_format *format = &formats[i];
        if ((gint)format->width == info->width && (gint)format->height == info->height
            && is_known(format->pixel_format) && is_full(format->pixel_format) == formats_is_full_range(info)
            && rate >= format->min_frame_rate - rate_tolerance && rate <= format->max_frame_rate + rate_tolerance)
            return format;
    }
    return NULL;
}
