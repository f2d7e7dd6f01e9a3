/* Where a camera's picture lies in a view, and which side of it is up. */
#include "camarb.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Quarter turns are clockwise where y grows downwards. A device's landscapeLeft has its home button at the right, which is a video's
 * landscapeRight. A person who is upright lies with the head at the sensor's left, in a front camera, too. */
static const struct orientation {
    const char *video, *device;
    int from_portrait, from_sensor, from_front_sensor;
} orientations[] = {
    {"portrait", "portrait", 0, 1, 1},
    {"portraitUpsideDown", "portraitUpsideDown", 2, 3, 3},
    {"landscapeRight", "landscapeLeft", -1, 0, 2},
    {"landscapeLeft", "landscapeRight", 1, 2, 0},
};

/* By quarter turns; then the same with left and right exchanged after the turn. */
static const uint32_t exif_orientations[2][4] = {{1, 6, 3, 8}, {2, 5, 4, 7}};

static const struct orientation *find(const char *video) {
    for (size_t i = 0; video && i < sizeof orientations / sizeof orientations[0]; i++)
        if (strcmp(orientations[i].video, video) == 0) return &orientations[i];
    return NULL;
}

static bool is_front(const char *position) { return position && strcmp(position, "front") == 0; }

const char *camarb_video_orientation(const char *device_orientation, const char *last) {
    for (size_t i = 0; device_orientation && i < sizeof orientations / sizeof orientations[0]; i++)
        if (strcmp(orientations[i].device, device_orientation) == 0) return orientations[i].video;
    return last;
}

const char *camarb_device_orientation(const char *video_orientation) {
    const struct orientation *found = find(video_orientation);
    return found ? found->device : "unknown";
}

double camarb_orientation_angle(const char *video_orientation) {
    const struct orientation *found = find(video_orientation);
    return found ? found->from_portrait * M_PI_2 : NAN;
}

double camarb_orientation_file_angle(const char *video_orientation, const char *position, const char *reference) {
    const struct orientation *video = find(video_orientation), *device = find(reference ? reference : "portrait");
    if (!video || !device) return NAN;
    /* Apple's notes on recording: video − reference + π/2; a front camera's sensor faces the other way. */
    int turned = video->from_portrait - device->from_portrait;
    /* Whole quarters, so that no sum of roundings decides between π and −π. */
    int quarters = ((is_front(position) ? -turned : turned) + 1) & 3;
    return (quarters == 3 ? -1 : quarters) * M_PI_2;
}

uint32_t camarb_orientation_exif(const char *video_orientation, const char *position, bool is_mirrored) {
    const struct orientation *found = find(video_orientation);
    if (!found) return 0;
    return exif_orientations[is_mirrored][is_front(position) ? found->from_front_sensor : found->from_sensor];
}

static bool is_side(double side) { return side > 0 && isfinite(side); }

/* The quarter turns of an Exif orientation; whether it exchanges left and right after them. */
static int quarters_of(uint32_t exif, bool *is_mirrored) {
    for (int at = 0; at < 8; at++) {
        *is_mirrored = at >= 4;
        if (exif_orientations[*is_mirrored][at & 3] == exif) return at & 3;
    }
    *is_mirrored = false;
    return 0;
}

int camarb_preview_place(
    camarb_preview *preview, double stream_width, double stream_height, double view_width, double view_height, const char *gravity,
    const char *orientation, const char *position, int is_mirrored) {
    static const char *const gravities[] = {"resizeAspect", "resizeAspectFill", "resize"};
    size_t how = 0;
    while (gravity && how < 3 && strcmp(gravities[how], gravity) != 0) how++;
    uint32_t exif = camarb_orientation_exif(orientation, position, is_mirrored < 0 ? is_front(position) : is_mirrored > 0);
    if (!preview || how == 3 || exif == 0) return -EINVAL;
    if (!is_side(stream_width) || !is_side(stream_height) || !is_side(view_width) || !is_side(view_height)) return -EINVAL;
    bool ignored, is_turned = quarters_of(exif, &ignored) & 1;
    double shown_width = is_turned ? stream_height : stream_width, shown_height = is_turned ? stream_width : stream_height;
    /* As wide as the view, or as high as it: whole numbers stay whole. */
    double width = view_width, height = view_width * shown_height / shown_width;
    if (how == 0 ? height > view_height : height < view_height) {
        width = view_height * shown_width / shown_height;
        height = view_height;
    }
    if (how == 2) width = view_width, height = view_height;
    *preview = (camarb_preview){(view_width - width) / 2, (view_height - height) / 2, width, height, exif, 0, {0}};
    return 0;
}

/* A point of a square of side 1 that is turned clockwise about its middle. */
static camarb_point turned(camarb_point point, int quarters) {
    switch (quarters & 3) {
    case 0: return point;
    case 1: return (camarb_point){1 - point.y, point.x};
    case 2: return (camarb_point){1 - point.x, 1 - point.y};
    default: return (camarb_point){point.y, 1 - point.x};
    }
}

camarb_point camarb_preview_device_point(const camarb_preview *preview, camarb_point view_point) {
    if (!preview) return (camarb_point){NAN, NAN};
    bool is_mirrored;
    int quarters = quarters_of(preview->exif_orientation, &is_mirrored);
    camarb_point shown = {(view_point.x - preview->x) / preview->width, (view_point.y - preview->y) / preview->height};
    /* Backwards: the exchange, which was last, comes first. */
    if (is_mirrored) shown.x = 1 - shown.x;
    return turned(shown, -quarters);
}

camarb_point camarb_preview_view_point(const camarb_preview *preview, camarb_point device_point) {
    if (!preview) return (camarb_point){NAN, NAN};
    bool is_mirrored;
    int quarters = quarters_of(preview->exif_orientation, &is_mirrored);
    camarb_point shown = turned(device_point, quarters);
    if (is_mirrored) shown.x = 1 - shown.x;
    return (camarb_point){preview->x + shown.x * preview->width, preview->y + shown.y * preview->height};
}
