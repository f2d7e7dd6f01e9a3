/* VIDIOC_… and their answers, which are the kernel's: ENOTTY, as from a driver without the feature. */
#define _GNU_SOURCE
#include "door.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* The kernel version whose answers these are: programs require a recent one. */
#define KERNEL_VERSION_TOLD ((6 << 16) | (1 << 8))

static int capabilities(struct device *device, struct v4l2_capability *told) {
    memset(told, 0, sizeof *told);
    strcpy((char *)told->driver, "camarb");
    snprintf((char *)told->card, sizeof told->card, "%.31s", device->name);
    snprintf((char *)told->bus_info, sizeof told->bus_info, "platform:camarb-%.15s", device->id);
    told->version = KERNEL_VERSION_TOLD;
    told->device_caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING | V4L2_CAP_EXT_PIX_FORMAT;
    told->capabilities = told->device_caps | V4L2_CAP_DEVICE_CAPS;
    return 0;
}

static int input(struct v4l2_input *told) {
    if (told->index) return -EINVAL;
    *told = (struct v4l2_input){.type = V4L2_INPUT_TYPE_CAMERA};
    strcpy((char *)told->name, "Camera 1");
    return 0;
}

/* Programs with the node open choose priorities; while one is a recorder, the others set nothing. */
static bool is_outranked(const struct file *file) {
    return file->device->priority == V4L2_PRIORITY_RECORD && file->device->first != file;
}

static int set_priority(struct file *file, uint32_t priority) {
    struct device *device = file->device;
    if (priority != V4L2_PRIORITY_BACKGROUND && priority != V4L2_PRIORITY_INTERACTIVE && priority != V4L2_PRIORITY_RECORD) return -EINVAL;
    if (is_outranked(file)) return -EBUSY;
    file->priority = priority;
    device->priority = priority;
    device->first = file;
    return 0;
}

static size_t subscription_of(const struct file *file, uint32_t type, uint32_t id) {
    for (size_t at = 0; at < file->subscription_count; at++)
        if (file->subscriptions[at].type == type && file->subscriptions[at].id == id) return at;
    return file->subscription_count;
}

static int subscribe(struct file *file, const struct v4l2_event_subscription *wanted) {
    if (wanted->type != V4L2_EVENT_CTRL && wanted->type != V4L2_EVENT_SOURCE_CHANGE) return -EINVAL;
    if (wanted->type == V4L2_EVENT_SOURCE_CHANGE && wanted->id) return -EINVAL;
    size_t place = subscription_of(file, wanted->type, wanted->id);
    if (place < file->subscription_count) return 0;
    if (place == SUBSCRIPTIONS_MAX) return -ENOMEM;
    int error = wanted->type == V4L2_EVENT_CTRL ? controls_subscribe(file, wanted) : 0;
    if (error) return error;
    file->subscriptions[file->subscription_count++] =
        (struct subscription){.type = wanted->type, .id = wanted->id, .flags = wanted->flags};
    return 0;
}

static int unsubscribe(struct file *file, const struct v4l2_event_subscription *wanted) {
    if (wanted->type == V4L2_EVENT_ALL) {
        file->subscription_count = file->event_count = 0;
        return 0;
    }
    size_t place = subscription_of(file, wanted->type, wanted->id);
    if (place == file->subscription_count) return 0;
    file->subscriptions[place] = file->subscriptions[--file->subscription_count];
    unsigned count = file->event_count;
    for (unsigned at = 0; at < count; at++) {
        struct v4l2_event event = file->events[file->event_first];
        file_event_drop(file);
        if (event.type == wanted->type && event.id == wanted->id) continue;
        file->events[(file->event_first + file->event_count++) % EVENTS_MAX] = event;
    }
    return 0;
}

static int next_event(struct file *file, struct v4l2_event *told) {
    if (!file->event_count) return -ENOENT; /* No wait: no change comes by itself. */
    *told = file->events[file->event_first];
    file_event_drop(file);
    told->pending = file->event_count;
    memset(told->reserved, 0, sizeof told->reserved);
    return 0;
}

/* The ioctls below: a bad pointer is EFAULT, and not ENOTTY. The first ones set something. */
enum { CHANGES = 9 };
static const uint32_t requests[] = {
    VIDIOC_S_FMT, VIDIOC_S_PARM, VIDIOC_S_INPUT, VIDIOC_S_CTRL, VIDIOC_S_EXT_CTRLS, VIDIOC_REQBUFS, VIDIOC_CREATE_BUFS,
    VIDIOC_STREAMON, VIDIOC_STREAMOFF,
    VIDIOC_QUERYCAP, VIDIOC_ENUM_FMT, VIDIOC_ENUM_FRAMESIZES, VIDIOC_ENUM_FRAMEINTERVALS, VIDIOC_G_FMT, VIDIOC_TRY_FMT,
    VIDIOC_G_PARM, VIDIOC_ENUMINPUT, VIDIOC_G_INPUT, VIDIOC_G_PRIORITY, VIDIOC_S_PRIORITY, VIDIOC_QUERYBUF, VIDIOC_QBUF,
    VIDIOC_DQBUF, VIDIOC_QUERYCTRL, VIDIOC_QUERY_EXT_CTRL, VIDIOC_QUERYMENU, VIDIOC_G_CTRL, VIDIOC_G_EXT_CTRLS,
    VIDIOC_TRY_EXT_CTRLS, VIDIOC_SUBSCRIBE_EVENT, VIDIOC_UNSUBSCRIBE_EVENT, VIDIOC_DQEVENT,
};

static bool is_among(uint32_t request, size_t first) {
    for (size_t at = 0; at < first; at++)
        if (requests[at] == request) return true;
    return false;
}

static int answered(struct file *file, uint32_t request, void *argument, int descriptor) {
    struct device *device = file->device;
    if (is_among(request, CHANGES) && is_outranked(file)) return -EBUSY;
    switch (request) {
    case (uint32_t)VIDIOC_QUERYCAP: return capabilities(device, argument);
    case (uint32_t)VIDIOC_ENUM_FMT: return formats_enumerate(device, argument);
    case (uint32_t)VIDIOC_ENUM_FRAMESIZES: return formats_sizes(device, argument);
    case (uint32_t)VIDIOC_ENUM_FRAMEINTERVALS: return formats_intervals(device, argument);
    case (uint32_t)VIDIOC_G_FMT:
    case (uint32_t)VIDIOC_S_FMT:
    case (uint32_t)VIDIOC_TRY_FMT: {
        struct v4l2_format *format = argument;
        if (format->type != V4L2_BUF_TYPE_VIDEO_CAPTURE) return -EINVAL;
        if (request == (uint32_t)VIDIOC_S_FMT) return formats_set(device, format);
        if (request == (uint32_t)VIDIOC_G_FMT) formats_get(device, format);
        else formats_try(device, format);
        return 0;
    }
    case (uint32_t)VIDIOC_G_PARM:
    case (uint32_t)VIDIOC_S_PARM: {
        struct v4l2_streamparm *parameters = argument;
        if (parameters->type != V4L2_BUF_TYPE_VIDEO_CAPTURE) return -EINVAL;
        if (request == (uint32_t)VIDIOC_G_PARM) formats_parameters(device, parameters);
        else if (formats_set_parameters(device, parameters)) stream_configure(device, true);
        return 0;
    }
    case (uint32_t)VIDIOC_ENUMINPUT: return input(argument);
    case (uint32_t)VIDIOC_G_INPUT: *(int *)argument = 0; return 0;
    case (uint32_t)VIDIOC_S_INPUT: return *(int *)argument ? -EINVAL : 0;
    case (uint32_t)VIDIOC_G_PRIORITY:
        *(uint32_t *)argument = device->priority ? device->priority : V4L2_PRIORITY_INTERACTIVE;
        return 0;
    case (uint32_t)VIDIOC_S_PRIORITY: return set_priority(file, *(uint32_t *)argument);
    case (uint32_t)VIDIOC_REQBUFS: return queue_request(file, argument);
    case (uint32_t)VIDIOC_CREATE_BUFS: return queue_create(file, argument);
    case (uint32_t)VIDIOC_QUERYBUF: return queue_query(device, argument);
    case (uint32_t)VIDIOC_QBUF: return queue_put(file, argument);
    case (uint32_t)VIDIOC_DQBUF: return queue_take(file, argument, descriptor);
    case (uint32_t)VIDIOC_STREAMON: return queue_stream(file, *(int *)argument, true);
    case (uint32_t)VIDIOC_STREAMOFF: return queue_stream(file, *(int *)argument, false);
    case (uint32_t)VIDIOC_QUERYCTRL:
    case (uint32_t)VIDIOC_QUERY_EXT_CTRL:
    case (uint32_t)VIDIOC_QUERYMENU:
    case (uint32_t)VIDIOC_G_CTRL:
    case (uint32_t)VIDIOC_S_CTRL:
    case (uint32_t)VIDIOC_G_EXT_CTRLS:
    case (uint32_t)VIDIOC_S_EXT_CTRLS:
    case (uint32_t)VIDIOC_TRY_EXT_CTRLS: return controls_answer(file, request, argument);
    case (uint32_t)VIDIOC_SUBSCRIBE_EVENT: return subscribe(file, argument);
    case (uint32_t)VIDIOC_UNSUBSCRIBE_EVENT: return unsubscribe(file, argument);
    case (uint32_t)VIDIOC_DQEVENT: return next_event(file, argument);
    }
    return -ENOTTY;
}

/* Copied from and to the program's memory, as in the kernel: EFAULT where it is not mapped. */
int answer(struct file *file, unsigned long request_given, void *argument, int descriptor) {
    /* Some programs keep the number in an int. */
    uint32_t request = (uint32_t)request_given;
    union {
        struct v4l2_create_buffers largest;
        char bytes[sizeof(struct v4l2_create_buffers)];
    } copy;
    size_t size = _IOC_SIZE(request);
    if (!is_among(request, sizeof requests / sizeof *requests) || size > sizeof copy) return -ENOTTY;
    memset(&copy, 0, sizeof copy);
    if (_IOC_DIR(request) & _IOC_WRITE && !program_gives(&copy, argument, size)) return -EFAULT;
    int result = answered(file, request, &copy, descriptor);
    /* After an error as well, since some errors come with an answer. */
    if (_IOC_DIR(request) & _IOC_READ && !program_takes(argument, &copy, size) && result >= 0) return -EFAULT;
    return result;
}
