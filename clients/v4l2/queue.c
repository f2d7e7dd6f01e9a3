/* Buffers, as videobuf2 has them: one queue a device, owned by the open file that asked for its buffers. */
#define _GNU_SOURCE
#include "door.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define MEMORY_MAX (UINT32_C(1) << 31) /* no program needs 32 pictures of 50 megapixels */

void ring_put(struct ring *ring, unsigned index) {
    if (ring->count == BUFFERS_MAX) return;
    ring->index[(ring->first + ring->count++) % BUFFERS_MAX] = (uint8_t)index;
}

int ring_take(struct ring *ring) {
    if (!ring->count) return -1;
    int index = ring->index[ring->first];
    ring->first = (ring->first + 1) % BUFFERS_MAX;
    ring->count--;
    return index;
}

static uint32_t page_rounded(uint32_t bytes) {
    uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/* All buffers are given back, unfilled: also those that were queued before a stream that never began. */
static void stop(struct device *device) {
    struct queue *queue = &device->queue;
    bool was_streaming = queue->is_streaming;
    queue->is_streaming = false;
    if (was_streaming) queue->generation++;
    if (was_streaming) stream_stop(device);
    queue->queued = queue->ready = (struct ring){0};
    for (unsigned at = 0; at < queue->count; at++) queue->buffers[at].state = BUFFER_IDLE;
    if (was_streaming && queue->owner) file_signal(queue->owner);
}

void queue_reset(struct device *device) {
    struct queue *queue = &device->queue;
    stop(device);
    for (unsigned at = 0; at < queue->count; at++) {
        struct buffer *buffer = &queue->buffers[at];
        if (buffer->memory) munmap(buffer->memory, buffer->mapped);
        memset(buffer, 0, sizeof *buffer);
    }
    door_own_close(queue->file);
    queue->file = -1;
    queue->file_bytes = queue->count = 0;
    queue->owner = NULL;
    queue->memory = 0;
}

/* More buffers, of so many bytes each. Their number, or a negative errno number where there is room for none. */
static int add(struct device *device, unsigned wanted, uint32_t bytes) {
    struct queue *queue = &device->queue;
    unsigned before = queue->count;
    if (queue->memory == V4L2_MEMORY_MMAP && queue->file < 0) {
        int file = memfd_create("camarb-v4l2", MFD_CLOEXEC);
        struct stat status;
        file = door_raise(file);
        if (file < 0) return -ENOMEM;
        queue->file = file;
        if (fstat(file, &status) < 0) return -ENOMEM;
        queue->file_device = status.st_dev;
        queue->file_inode = status.st_ino;
    }
    while (queue->count - before < wanted && queue->count < BUFFERS_MAX) {
        struct buffer *buffer = &queue->buffers[queue->count];
        *buffer = (struct buffer){.length = bytes};
        if (queue->memory == V4L2_MEMORY_MMAP) {
            uint32_t mapped = page_rounded(bytes);
            if (queue->file_bytes > MEMORY_MAX - mapped || ftruncate(queue->file, (off_t)queue->file_bytes + mapped) < 0) break;
            void *memory = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, queue->file, queue->file_bytes);
            if (memory == MAP_FAILED) break;
            buffer->memory = memory;
            buffer->mapped = mapped;
            buffer->offset = queue->file_bytes;
            queue->file_bytes += mapped;
        }
        queue->count++;
    }
    return queue->count > before ? (int)(queue->count - before) : -ENOMEM;
}

static const uint32_t capabilities = V4L2_BUF_CAP_SUPPORTS_MMAP | V4L2_BUF_CAP_SUPPORTS_USERPTR | V4L2_BUF_CAP_SUPPORTS_ORPHANED_BUFS;

static bool is_known(uint32_t memory) { return memory == V4L2_MEMORY_MMAP || memory == V4L2_MEMORY_USERPTR; }

int queue_request(struct file *file, struct v4l2_requestbuffers *wanted) {
    struct queue *queue = &file->device->queue;
    wanted->capabilities = capabilities;
    wanted->flags = 0;
    memset(wanted->reserved, 0, sizeof wanted->reserved);
    if (wanted->type != V4L2_BUF_TYPE_VIDEO_CAPTURE || !is_known(wanted->memory)) return -EINVAL;
    if (queue->owner && queue->owner != file) return -EBUSY;
    if (queue->is_streaming) return -EBUSY;
    queue_reset(file->device);
    if (wanted->count) {
        queue->memory = wanted->memory;
        int count = add(file->device, wanted->count < 2 ? 2 : wanted->count, file->device->bytes);
        if (count < 0) {
            queue_reset(file->device);
            return count;
        }
        queue->owner = file;
        wanted->count = (uint32_t)count;
    }
    file_signal(file);
    return 0;
}

int queue_create(struct file *file, struct v4l2_create_buffers *wanted) {
    struct queue *queue = &file->device->queue;
    wanted->capabilities = capabilities;
    wanted->flags = 0;
    memset(wanted->reserved, 0, sizeof wanted->reserved);
    wanted->index = queue->count;
    if (wanted->format.type != V4L2_BUF_TYPE_VIDEO_CAPTURE || !is_known(wanted->memory)) return -EINVAL;
    uint32_t bytes = wanted->format.fmt.pix.sizeimage;
    if (wanted->count == 0) return 0;
    if (queue->owner && queue->owner != file) return -EBUSY;
    if (queue->count && queue->memory != wanted->memory) return -EINVAL;
    if (queue->count == BUFFERS_MAX) return -ENOBUFS;
    if (bytes < file->device->bytes || bytes > MEMORY_MAX / 2) return -EINVAL;
    queue->memory = wanted->memory;
    int count = add(file->device, wanted->count, bytes);
    if (count < 0) {
        if (!queue->count) queue_reset(file->device);
        return count;
    }
    queue->owner = file;
    wanted->count = (uint32_t)count;
    return 0;
}

static void describe(const struct device *device, unsigned index, struct v4l2_buffer *told) {
    const struct queue *queue = &device->queue;
    const struct buffer *buffer = &queue->buffers[index];
    *told = (struct v4l2_buffer){
        .index = index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .bytesused = buffer->used,
        .flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC, .field = V4L2_FIELD_NONE, .sequence = buffer->sequence,
        .memory = queue->memory, .length = buffer->length};
    if (queue->memory == V4L2_MEMORY_MMAP) {
        told->m.offset = buffer->offset;
        told->flags |= V4L2_BUF_FLAG_MAPPED;
    } else {
        told->m.userptr = buffer->user;
    }
    if (buffer->state == BUFFER_QUEUED) told->flags |= V4L2_BUF_FLAG_QUEUED;
    if (buffer->state == BUFFER_READY) told->flags |= V4L2_BUF_FLAG_DONE;
    told->timestamp.tv_sec = buffer->captured / SECOND;
    told->timestamp.tv_usec = buffer->captured % SECOND / 1000;
}

int queue_query(struct device *device, struct v4l2_buffer *buffer) {
    if (buffer->type != V4L2_BUF_TYPE_VIDEO_CAPTURE || buffer->index >= device->queue.count) return -EINVAL;
    describe(device, buffer->index, buffer);
    return 0;
}

int queue_put(struct file *file, struct v4l2_buffer *given) {
    struct device *device = file->device;
    struct queue *queue = &device->queue;
    if (queue->owner && queue->owner != file) return -EBUSY;
    if (given->type != V4L2_BUF_TYPE_VIDEO_CAPTURE || given->index >= queue->count || given->memory != queue->memory) return -EINVAL;
    if (given->flags & V4L2_BUF_FLAG_REQUEST_FD) return -EBADR;
    struct buffer *buffer = &queue->buffers[given->index];
    if (buffer->state != BUFFER_IDLE) return -EINVAL;
    if (queue->memory == V4L2_MEMORY_USERPTR) {
        uint32_t length = given->length;
        if (!given->m.userptr || length < device->bytes) return -EINVAL;
        if (!program_has(given->m.userptr, device->bytes)) return -EFAULT;
        buffer->user = given->m.userptr;
        buffer->length = length;
    }
    buffer->state = BUFFER_QUEUED;
    buffer->used = 0;
    buffer->captured = 0;
    buffer->sequence = 0;
    ring_put(&queue->queued, given->index);
    describe(device, given->index, given);
    return 0;
}

/* Waits for a byte in the pipe, without the lock. 0, or the error that ends the wait. */
static int wait_for_byte(struct file *file, int descriptor) {
    struct queue *queue = &file->device->queue;
    unsigned generation = queue->generation;
    if (fcntl(descriptor, F_GETFL) & O_NONBLOCK) return -EAGAIN;
    /* Closed past all hooks, its number may be another file's by now. */
    if (!file_is_whole(file)) return -EIO;
    struct pollfd waited = {.fd = file->drain, .events = POLLIN};
    int depth = door_inside;
    pthread_mutex_unlock(&door_lock);
    door_inside = 0;
    int ready = poll(&waited, 1, -1);
    int error = ready < 0 ? errno : 0;
    door_inside = depth;
    pthread_mutex_lock(&door_lock);
    if (file->is_void) return -ENODEV;
    /* Closed past all hooks: no event would ever come. */
    if (ready > 0 && waited.revents & POLLNVAL) return -EIO;
    if (queue->owner != file || queue->generation != generation || !queue->is_streaming) return -EINVAL;
    return -error;
}

int queue_take(struct file *file, struct v4l2_buffer *given, int descriptor) {
    struct device *device = file->device;
    struct queue *queue = &device->queue;
    if (given->type != V4L2_BUF_TYPE_VIDEO_CAPTURE) return -EINVAL;
    if (queue->owner && queue->owner != file) return -EBUSY;
    if (!queue->count || given->memory != queue->memory || !queue->is_streaming) return -EINVAL;
    while (!queue->ready.count) {
        int error = wait_for_byte(file, descriptor);
        if (error) return error;
    }
    int index = ring_take(&queue->ready);
    queue->buffers[index].state = BUFFER_IDLE;
    describe(device, (unsigned)index, given);
    file_signal(file);
    return 0;
}

int queue_stream(struct file *file, int type, bool on) {
    struct device *device = file->device;
    struct queue *queue = &device->queue;
    if (type != V4L2_BUF_TYPE_VIDEO_CAPTURE) return -EINVAL;
    if (queue->owner && queue->owner != file) return -EBUSY;
    if (!on) {
        stop(device);
        return 0;
    }
    if (!queue->count) return -EINVAL;
    if (queue->is_streaming) return 0;
    int error = stream_start(device);
    if (error) return error;
    queue->is_streaming = true;
    queue->sequence = 0;
    file_signal(file);
    return 0;
}

int queue_map(const struct device *device, uint64_t offset, size_t length) {
    const struct queue *queue = &device->queue;
    if (queue->memory != V4L2_MEMORY_MMAP || queue->file < 0) return -EINVAL;
    for (unsigned at = 0; at < queue->count; at++)
        if (queue->buffers[at].offset == offset) return length > queue->buffers[at].mapped ? -EINVAL : 0;
    return -EINVAL;
}
