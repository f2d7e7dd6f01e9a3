/* Controls: the keys of a configuration that a camera has, under the numbers that V4L2 has for them. */
#define _GNU_SOURCE
#include "door.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* V4L2's name of a key. The first two words are of a switch, off and on. In the order of ids, which is that of enumeration. */
static const struct kind {
    uint32_t id;
    const char *name, *key;
    enum v4l2_ctrl_type type;
    double unit; /* of a number: what V4L2's 1 is worth */
    const char *words[CONTROL_WORDS_MAX];
    const char *menu[CONTROL_WORDS_MAX];
} kinds[] = {
    {V4L2_CID_USER_CLASS, "User Controls", NULL, V4L2_CTRL_TYPE_CTRL_CLASS, 0, {0}, {0}},
    {V4L2_CID_BRIGHTNESS, "Brightness", "brightness", V4L2_CTRL_TYPE_INTEGER, 1, {0}, {0}},
    {V4L2_CID_CONTRAST, "Contrast", "contrast", V4L2_CTRL_TYPE_INTEGER, 1, {0}, {0}},
    {V4L2_CID_SATURATION, "Saturation", "saturation", V4L2_CTRL_TYPE_INTEGER, 1, {0}, {0}},
    {V4L2_CID_HUE, "Hue", "hue", V4L2_CTRL_TYPE_INTEGER, 1, {0}, {0}},
    {V4L2_CID_AUTO_WHITE_BALANCE, "White Balance, Automatic", "whiteBalanceMode", V4L2_CTRL_TYPE_BOOLEAN, 0, {"locked", "continuousAuto"}, {0}},
    {V4L2_CID_AUTOGAIN, "Gain, Automatic", "gainMode", V4L2_CTRL_TYPE_BOOLEAN, 0, {"locked", "continuousAuto"}, {0}},
    {V4L2_CID_GAIN, "Gain", "gain", V4L2_CTRL_TYPE_INTEGER, 1, {0}, {0}},
    {V4L2_CID_HFLIP, "Horizontal Flip", "videoMirrored", V4L2_CTRL_TYPE_BOOLEAN, 0, {"false", "true"}, {0}},
    {V4L2_CID_VFLIP, "Vertical Flip", "videoFlipped", V4L2_CTRL_TYPE_BOOLEAN, 0, {"false", "true"}, {0}},
    {V4L2_CID_WHITE_BALANCE_TEMPERATURE, "White Balance Temperature", "whiteBalanceTemperature", V4L2_CTRL_TYPE_INTEGER, 1, {0}, {0}},
    {V4L2_CID_SHARPNESS, "Sharpness", "sharpness", V4L2_CTRL_TYPE_INTEGER, 1, {0}, {0}},
    {V4L2_CID_CAMERA_CLASS, "Camera Controls", NULL, V4L2_CTRL_TYPE_CTRL_CLASS, 0, {0}, {0}},
    {V4L2_CID_EXPOSURE_AUTO, "Auto Exposure", "exposureMode", V4L2_CTRL_TYPE_MENU, 0, {NULL, "custom", NULL, "continuousAuto"},
        {NULL, "Manual Mode", NULL, "Aperture Priority Mode"}},
    {V4L2_CID_EXPOSURE_ABSOLUTE, "Exposure Time, Absolute", "exposureDuration", V4L2_CTRL_TYPE_INTEGER, 0.0001, {0}, {0}},
    {V4L2_CID_FOCUS_ABSOLUTE, "Focus, Absolute", "lensPosition", V4L2_CTRL_TYPE_INTEGER, 0.001, {0}, {0}},
    {V4L2_CID_FOCUS_AUTO, "Focus, Automatic Continuous", "focusMode", V4L2_CTRL_TYPE_BOOLEAN, 0, {"locked", "continuousAuto"}, {0}},
    {V4L2_CID_ZOOM_ABSOLUTE, "Zoom, Absolute", "videoZoomFactor", V4L2_CTRL_TYPE_INTEGER, 0.01, {0}, {0}},
    {V4L2_CID_WIDE_DYNAMIC_RANGE, "Wide Dynamic Range", "videoHDREnabled", V4L2_CTRL_TYPE_BOOLEAN, 0, {"false", "true"}, {0}},
    {V4L2_CID_IMAGE_STABILIZATION, "Image Stabilization", "preferredVideoStabilizationMode", V4L2_CTRL_TYPE_BOOLEAN, 0, {"off", "standard"},
        {0}},
};
/* Values that wait while the camera decides by itself, as with the kernel's drivers: a broker refuses them. */
static const struct {
    const char *key, *mode, *by_hand;
} overruled[] = {
    {"gain", "gainMode", "locked"},
    {"whiteBalanceTemperature", "whiteBalanceMode", "locked"},
    {"exposureDuration", "exposureMode", "custom"},
    {"lensPosition", "focusMode", "locked"},
};
/* As in the kernel. */
#define CONTROLS_A_CALL_MAX 1024
#define KINDS (sizeof kinds / sizeof *kinds)

static const struct kind *kind_of(uint32_t id) {
    for (size_t at = 0; at < KINDS; at++)
        if (kinds[at].id == id) return &kinds[at];
    return NULL;
}

static struct control *control_of(struct device *device, uint32_t id) {
    for (size_t at = 0; at < device->control_count; at++)
        if (device->controls[at].id == id) return &device->controls[at];
    return NULL;
}

static int32_t whole(double number) {
    if (isnan(number)) return 0;
    if (number > INT32_MAX) return INT32_MAX;
    if (number < INT32_MIN) return INT32_MIN;
    return (int32_t)lround(number);
}

/* A control of the camera's in V4L2's numbers; false: they cannot express it. */
static bool fit(struct control *made, const struct kind *kind, const camarb_control *has) {
    *made = (struct control){.id = kind->id, .key = kind->key, .type = kind->type, .unit = kind->unit, .step = 1};
    if (kind->type == V4L2_CTRL_TYPE_INTEGER) {
        if (has->words) return false;
        made->least = whole(has->least / kind->unit);
        made->most = whole(has->most / kind->unit);
        made->step = whole(has->step / kind->unit);
        made->usual = whole(has->usual / kind->unit);
        if (made->step < 1) made->step = 1;
        if (made->usual < made->least) made->usual = made->least;
        if (made->usual > made->most) made->usual = made->most;
        /* The kernel's default lies on a step. */
        int64_t steps = ((int64_t)made->usual - made->least) / made->step;
        made->usual = (int32_t)(made->least + steps * made->step);
        return made->most > made->least;
    }
    int count = 0, last = 0;
    const char *usual = *has->usual_word ? has->usual_word : has->usual ? "true" : "false";
    for (int value = 0; value < CONTROL_WORDS_MAX; value++) {
        const char *word = kind->words[value];
        bool is_there = word && !has->words;
        for (size_t at = 0; word && has->words && has->words[at]; at++) is_there |= strcmp(has->words[at], word) == 0;
        if (!is_there) continue;
        if (!count++) made->least = value;
        made->words[value] = word;
        last = value;
        if (strcmp(word, usual) == 0) made->usual = value;
    }
    made->most = last;
    if (made->usual < made->least) made->usual = made->least;
    return count > 1;
}

static bool is_overruled(const struct device *device, const struct control *control) {
    for (size_t at = 0; at < sizeof overruled / sizeof *overruled; at++) {
        if (strcmp(overruled[at].key, control->key) != 0) continue;
        for (size_t other = 0; other < device->control_count; other++) {
            const struct control *mode = &device->controls[other];
            if (!mode->key || strcmp(mode->key, overruled[at].mode) != 0) continue;
            const char *word = mode->value >= 0 && mode->value < CONTROL_WORDS_MAX ? mode->words[mode->value] : NULL;
            return !word || strcmp(word, overruled[at].by_hand) != 0;
        }
    }
    return false;
}

void controls_learn(struct device *device, const camarb_camera *camera) {
    device->decides_hdr = false;
    for (size_t at = 0; at < camera->control_count; at++)
        device->decides_hdr |= strcmp(camera->controls[at].key, "automaticallyAdjustsVideoHDREnabled") == 0;
    struct control before[CONTROLS_MAX];
    size_t before_count = device->control_count;
    memcpy(before, device->controls, sizeof before);
    device->control_count = 0;
    uint32_t last_class = 0;
    for (size_t at = 0; at < KINDS; at++) {
        const struct kind *kind = &kinds[at];
        struct control made;
        bool is_there = false;
        if (kind->type == V4L2_CTRL_TYPE_CTRL_CLASS) continue;
        for (size_t has = 0; has < camera->control_count && !is_there; has++)
            is_there = strcmp(camera->controls[has].key, kind->key) == 0 && fit(&made, kind, &camera->controls[has]);
        if (kind->id == V4L2_CID_ZOOM_ABSOLUTE) {
            /* Every format has its own greatest factor; what is more than that is refused by the broker, as by a device. */
            double most = INFINITY;
            for (size_t format = 0; format < camera->format_count; format++)
                most = fmin(most, camera->formats[format].max_zoom_factor);
            made = (struct control){
                .id = kind->id, .key = kind->key, .type = kind->type, .unit = kind->unit, .least = 100, .most = whole(fmin(most, 100) * 100),
                .step = 1, .usual = 100};
            is_there = camera->format_count && made.most > made.least;
        }
        if (!is_there || device->control_count + 2 > CONTROLS_MAX) continue;
        /* A class stands before its first control, as with every driver. */
        if (V4L2_CTRL_ID2WHICH(kind->id) != last_class) {
            last_class = V4L2_CTRL_ID2WHICH(kind->id);
            device->controls[device->control_count++] =
                (struct control){.id = last_class | 1, .type = V4L2_CTRL_TYPE_CTRL_CLASS};
        }
        made.value = made.usual;
        for (size_t old = 0; old < before_count; old++)
            if (before[old].id == made.id && before[old].is_set && before[old].value >= made.least && before[old].value <= made.most) {
                made.value = before[old].value;
                made.is_set = true;
            }
        device->controls[device->control_count++] = made;
    }
}

void controls_configure(struct device *device, camarb_configuration *configuration) {
    const struct library *lib = library();
    for (size_t at = 0; at < device->control_count; at++) {
        const struct control *control = &device->controls[at];
        if (!control->is_set || is_overruled(device, control)) continue;
        if (device->decides_hdr && strcmp(control->key, "videoHDREnabled") == 0)
            lib->camarb_configuration_set_flag(configuration, "automaticallyAdjustsVideoHDREnabled", false);
        if (control->type == V4L2_CTRL_TYPE_INTEGER) {
            lib->camarb_configuration_set_number(configuration, control->key, control->value * control->unit);
            continue;
        }
        const char *word = control->value >= 0 && control->value < CONTROL_WORDS_MAX ? control->words[control->value] : NULL;
        if (!word) continue;
        if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)
            lib->camarb_configuration_set_flag(configuration, control->key, *word == 't');
        else
            lib->camarb_configuration_set_word(configuration, control->key, word);
    }
}

static uint32_t flags_of(const struct control *control) {
    if (control->type == V4L2_CTRL_TYPE_CTRL_CLASS) return V4L2_CTRL_FLAG_READ_ONLY | V4L2_CTRL_FLAG_WRITE_ONLY;
    return control->type == V4L2_CTRL_TYPE_INTEGER ? V4L2_CTRL_FLAG_SLIDER : 0;
}

/* The control that a query means: itself, or with V4L2_CTRL_FLAG_NEXT_CTRL the one behind it. */
static struct control *queried(struct device *device, uint32_t id) {
    uint32_t plain = id & V4L2_CTRL_ID_MASK;
    if (!(id & (V4L2_CTRL_FLAG_NEXT_CTRL | V4L2_CTRL_FLAG_NEXT_COMPOUND))) return control_of(device, id);
    /* None of ours is compound. */
    if (!(id & V4L2_CTRL_FLAG_NEXT_CTRL)) return NULL;
    for (size_t at = 0; at < device->control_count; at++)
        if (device->controls[at].id > plain) return &device->controls[at];
    return NULL;
}

static int query(struct device *device, struct v4l2_queryctrl *wanted) {
    struct control *control = queried(device, wanted->id);
    if (!control) return -EINVAL;
    *wanted = (struct v4l2_queryctrl){
        .id = control->id, .type = control->type, .minimum = control->least, .maximum = control->most, .step = control->step,
        .default_value = control->usual, .flags = flags_of(control)};
    snprintf((char *)wanted->name, sizeof wanted->name, "%s", kind_of(control->id)->name);
    return 0;
}

static int query_extended(struct device *device, struct v4l2_query_ext_ctrl *wanted) {
    struct control *control = queried(device, wanted->id);
    if (!control) return -EINVAL;
    *wanted = (struct v4l2_query_ext_ctrl){
        .id = control->id, .type = control->type, .minimum = control->least, .maximum = control->most, .step = (uint64_t)control->step,
        .default_value = control->usual, .flags = flags_of(control), .elem_size = 4, .elems = 1};
    if (control->type == V4L2_CTRL_TYPE_CTRL_CLASS) wanted->elem_size = wanted->elems = 0;
    snprintf(wanted->name, sizeof wanted->name, "%s", kind_of(control->id)->name);
    return 0;
}

static int query_menu(struct device *device, struct v4l2_querymenu *wanted) {
    struct control *control = control_of(device, wanted->id);
    if (!control || control->type != V4L2_CTRL_TYPE_MENU || wanted->index >= CONTROL_WORDS_MAX || !control->words[wanted->index])
        return -EINVAL;
    memset(wanted->name, 0, sizeof wanted->name);
    snprintf((char *)wanted->name, sizeof wanted->name, "%s", kind_of(control->id)->menu[wanted->index]);
    wanted->reserved = 0;
    return 0;
}

/* The value that a control will have, as V4L2 has it: clamped and rounded, but no menu item that is not there. The kernel says ERANGE
 * beyond the menu, and EINVAL for a gap in it. */
static int rounded(const struct control *control, int32_t *value) {
    if (control->type == V4L2_CTRL_TYPE_BOOLEAN) {
        *value = *value != 0;
        return 0;
    }
    if (control->type == V4L2_CTRL_TYPE_MENU) {
        if (*value < control->least || *value > control->most) return -ERANGE;
        return control->words[*value] ? 0 : -EINVAL;
    }
    int64_t clamped = *value < control->least ? control->least : *value > control->most ? control->most : *value;
    int64_t steps = (clamped - control->least + control->step / 2) / control->step;
    int64_t made = control->least + steps * control->step;
    *value = (int32_t)(made > control->most ? made - control->step : made);
    return 0;
}

static void describe_event(const struct control *control, uint32_t changes, struct v4l2_event *event) {
    *event = (struct v4l2_event){.type = V4L2_EVENT_CTRL, .id = control->id};
    event->u.ctrl.changes = changes;
    event->u.ctrl.type = control->type;
    event->u.ctrl.value = control->value;
    event->u.ctrl.flags = flags_of(control);
    event->u.ctrl.minimum = control->least;
    event->u.ctrl.maximum = control->most;
    event->u.ctrl.step = control->step;
    event->u.ctrl.default_value = control->usual;
}

static bool set(struct file *file, struct control *control, int32_t value) {
    bool is_new = !control->is_set || control->value != value, differs = control->value != value;
    control->value = value;
    control->is_set = true;
    struct v4l2_event event;
    describe_event(control, V4L2_EVENT_CTRL_CH_VALUE, &event);
    for (struct file *other = differs ? file->device->files : NULL; other; other = other->next)
        for (size_t at = 0; at < other->subscription_count; at++) {
            const struct subscription *subscription = &other->subscriptions[at];
            if (subscription->type != V4L2_EVENT_CTRL || subscription->id != control->id) continue;
            /* The file that set it gets no event, unless it has subscribed with feedback. */
            if (other != file || subscription->flags & V4L2_EVENT_SUB_FL_ALLOW_FEEDBACK) file_event(other, &event);
        }
    return is_new;
}

int controls_subscribe(struct file *file, const struct v4l2_event_subscription *wanted) {
    struct control *control = control_of(file->device, wanted->id);
    if (!control) return -EINVAL;
    if (wanted->flags & V4L2_EVENT_SUB_FL_SEND_INITIAL && control->type != V4L2_CTRL_TYPE_CTRL_CLASS) {
        struct v4l2_event event;
        describe_event(control, V4L2_EVENT_CTRL_CH_VALUE | V4L2_EVENT_CTRL_CH_FLAGS, &event);
        file_event(file, &event);
    }
    return 0;
}

/* Checked as a whole, then done as a whole.
 * - list: of `wanted`, in memory of ours */
static int extended(struct file *file, uint32_t request, struct v4l2_ext_controls *wanted, struct v4l2_ext_control *list) {
    struct device *device = file->device;
    bool is_set = request == (uint32_t)VIDIOC_S_EXT_CTRLS, is_get = request == (uint32_t)VIDIOC_G_EXT_CTRLS;
    wanted->error_idx = wanted->count;
    memset(wanted->reserved, 0, sizeof wanted->reserved);
    if (wanted->which == V4L2_CTRL_WHICH_REQUEST_VAL) return -EINVAL;
    bool is_usual = wanted->which == V4L2_CTRL_WHICH_DEF_VAL;
    if (is_usual && !is_get) return -EINVAL;
    uint32_t class = is_usual ? 0 : wanted->which;
    if (!wanted->count) {
        if (!class) return 0;
        for (size_t at = 0; at < device->control_count; at++)
            if (V4L2_CTRL_ID2WHICH(device->controls[at].id) == class) return 0;
        return -EINVAL;
    }
    for (uint32_t at = 0; at < wanted->count; at++) {
        struct v4l2_ext_control *one = &list[at];
        struct control *control = control_of(device, one->id);
        int error = !control || (class && V4L2_CTRL_ID2WHICH(one->id) != class) ? -EINVAL
            : control->type == V4L2_CTRL_TYPE_CTRL_CLASS                        ? -EACCES
                                                                                : 0;
        if (!error && !is_get) {
            int32_t value = one->value;
            error = rounded(control, &value);
            one->value = value;
        }
        if (error) {
            /* Only S and G report the failing control, and only after a change may have been made. */
            if (request == (uint32_t)VIDIOC_TRY_EXT_CTRLS) wanted->error_idx = at;
            return error;
        }
    }
    bool is_new = false;
    for (uint32_t at = 0; at < wanted->count; at++) {
        struct v4l2_ext_control *one = &list[at];
        struct control *control = control_of(device, one->id);
        if (is_get) one->value = is_usual ? control->usual : control->value;
        if (is_set) is_new |= set(file, control, one->value);
    }
    if (is_new) stream_configure(device, false);
    return 0;
}

static int extended_of_program(struct file *file, uint32_t request, struct v4l2_ext_controls *wanted) {
    if (wanted->count > CONTROLS_A_CALL_MAX) {
        wanted->error_idx = wanted->count;
        return -EINVAL;
    }
    size_t bytes = wanted->count * sizeof(struct v4l2_ext_control);
    struct v4l2_ext_control *list = malloc(bytes);
    if (bytes && !list) return -ENOMEM;
    int result = -EFAULT;
    if (!bytes || program_gives(list, wanted->controls, bytes)) {
        result = extended(file, request, wanted, list);
        if (bytes && !program_takes(wanted->controls, list, bytes) && result >= 0) result = -EFAULT;
    }
    free(list);
    return result;
}

int controls_answer(struct file *file, uint32_t request, void *argument) {
    struct device *device = file->device;
    switch (request) {
    case (uint32_t)VIDIOC_QUERYCTRL: return query(device, argument);
    case (uint32_t)VIDIOC_QUERY_EXT_CTRL: return query_extended(device, argument);
    case (uint32_t)VIDIOC_QUERYMENU: return query_menu(device, argument);
    case (uint32_t)VIDIOC_G_CTRL:
    case (uint32_t)VIDIOC_S_CTRL: {
        struct v4l2_control *wanted = argument;
        struct control *control = control_of(device, wanted->id);
        if (!control) return -EINVAL;
        if (control->type == V4L2_CTRL_TYPE_CTRL_CLASS) return -EACCES;
        if (request == (uint32_t)VIDIOC_S_CTRL) {
            int error = rounded(control, &wanted->value);
            if (error) return error;
            if (set(file, control, wanted->value)) stream_configure(device, false);
        }
        wanted->value = control->value;
        return 0;
    }
    case (uint32_t)VIDIOC_G_EXT_CTRLS:
    case (uint32_t)VIDIOC_S_EXT_CTRLS:
    case (uint32_t)VIDIOC_TRY_EXT_CTRLS: return extended_of_program(file, request, argument);
    }
    return -ENOTTY;
}
