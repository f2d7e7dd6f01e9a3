/* Pictures into buffers: frames of the camera, or slates in their place, with the pipeline's time on them. */
#include "camarbsrc.h"

#include <string.h>

/* Whether a clock is CLOCK_MONOTONIC itself, as the camera's moments are. The system's clock is, unless it was configured otherwise;
 * clocks derived from it (an audio device's) are not. */
static gboolean is_monotonic(GstClock *clock) {
    if (G_OBJECT_TYPE(clock) != GST_TYPE_SYSTEM_CLOCK) return FALSE;
    GstClockType type;
    g_object_get(clock, "clock-type", &type, NULL);
    GstClockTime internal, external, rate, rate_of;
    gst_clock_get_calibration(clock, &internal, &external, &rate, &rate_of);
    return type == GST_CLOCK_TYPE_MONOTONIC && internal == external && rate == rate_of;
}

/* The running time of a moment, later than all before it. */
GstClockTime pictures_time(CamarbSrc *self, gint64 moment) {
    GstClock *clock = gst_element_get_clock(GST_ELEMENT(self));
    if (!clock) return GST_CLOCK_TIME_NONE;
    GstClockTimeDiff at = moment;
    if (!is_monotonic(clock)) {
        /* Its age is nearly the same on every clock. */
        GstClockTimeDiff ago = g_get_monotonic_time() * 1000 - moment;
        at = (GstClockTimeDiff)gst_clock_get_time(clock) - ago;
    }
    gst_object_unref(clock);
    at -= (GstClockTimeDiff)gst_element_get_base_time(GST_ELEMENT(self));
    GstClockTime time = at > 0 ? (GstClockTime)at : 0;
    /* Slates are dated when they are made, and frames when they were captured, which may be before the last slate. */
    if (GST_CLOCK_TIME_IS_VALID(self->last) && time <= self->last) time = self->last + 1;
    self->last = time;
    return time;
}

gboolean pictures_fit(const CamarbSrc *self, const camarb_picture *picture) {
    return (gint)picture->width == self->info.width && (gint)picture->height == self->info.height
        && (strcmp(picture->pixel_format, "420f") == 0) == formats_is_full_range(&self->info);
}

/* A buffer that is mapped; NULL where none is free: the picture is dropped, as by a camera's driver. Waiting for one would leave the broker
 * unread. */
static GstBuffer *take_buffer(CamarbSrc *self, GstVideoFrame *into) {
    GstBufferPool *pool = gst_base_src_get_buffer_pool(GST_BASE_SRC(self));
    if (!pool) return NULL;
    GstBufferPoolAcquireParams how = {.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT};
    GstBuffer *buffer = NULL;
    if (gst_buffer_pool_acquire_buffer(pool, &buffer, &how) != GST_FLOW_OK) buffer = NULL;
    gst_object_unref(pool);
    if (buffer && !gst_video_frame_map(into, &self->info, buffer, GST_MAP_WRITE)) gst_clear_buffer(&buffer);
    return buffer;
}

static void date(CamarbSrc *self, GstBuffer *buffer, gint64 moment) {
    GST_BUFFER_PTS(buffer) = pictures_time(self, moment);
    GST_BUFFER_DTS(buffer) = GST_CLOCK_TIME_NONE;
    GST_BUFFER_DURATION(buffer) = self->interval;
    GST_BUFFER_OFFSET(buffer) = self->count++;
    GST_BUFFER_OFFSET_END(buffer) = self->count;
    if (self->is_discont) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
    else GST_BUFFER_FLAG_UNSET(buffer, GST_BUFFER_FLAG_DISCONT);
    self->is_discont = FALSE;
}

/* Copied, although the memory could be passed on as it is: it is the recorder core's, which blanks it the moment the camera is taken
 * away. Elements downstream keep buffers for as long as they like and look at them when they like; what they have must neither change
 * under them, nor be a window through which an interrupted app goes on seeing the live picture. */
GstBuffer *pictures_copy(CamarbSrc *self, camarb_frame *frame) {
    const camarb_picture *picture = camarb_frame_picture(frame);
    GstVideoFrame into;
    GstBuffer *buffer = take_buffer(self, &into);
    if (!buffer) return NULL;
    for (guint plane = 0; plane < 2; plane++) {
        const guint8 *from = picture->planes[plane];
        guint8 *to = GST_VIDEO_FRAME_PLANE_DATA(&into, plane);
        guint height = plane == 0 ? picture->height : (picture->height + 1) / 2;
        gsize bytes = plane == 0 ? picture->width : (picture->width + 1) / 2 * 2;
        gsize stride = (gsize)GST_VIDEO_FRAME_PLANE_STRIDE(&into, plane);
        bytes = MIN(bytes, MIN(stride, picture->strides[plane]));
        for (guint row = 0; row < height; row++) memcpy(to + row * stride, from + (gsize)row * picture->strides[plane], bytes);
    }
    gst_video_frame_unmap(&into);
    /* A copy that may be half blanked is dropped. */
    if (!camarb_frame_is_intact(frame)) {
        gst_buffer_unref(buffer);
        return NULL;
    }
    /* Dropped frames are a gap, too. */
    if (picture->grant != self->grant || picture->sequence != self->sequence + 1) self->is_discont = TRUE;
    self->grant = picture->grant;
    self->sequence = picture->sequence;
    date(self, buffer, picture->captured);
    return buffer;
}

GstBuffer *pictures_slate(CamarbSrc *self, const camarb_slate *slate, gint64 moment) {
    GstVideoFrame into;
    GstBuffer *buffer = take_buffer(self, &into);
    if (!buffer) return NULL;
    guint8 *planes[] = {GST_VIDEO_FRAME_PLANE_DATA(&into, 0), GST_VIDEO_FRAME_PLANE_DATA(&into, 1)};
    guint32 strides[] = {(guint32)GST_VIDEO_FRAME_PLANE_STRIDE(&into, 0), (guint32)GST_VIDEO_FRAME_PLANE_STRIDE(&into, 1)};
    int result = camarb_slate_draw(slate, "NV12", (guint32)self->info.width, (guint32)self->info.height, planes, strides);
    gst_video_frame_unmap(&into);
    if (result < 0) {
        gst_buffer_unref(buffer);
        return NULL;
    }
    date(self, buffer, moment);
    return buffer;
}
