/* program.h: for programs that the tests run with the door. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUFFERS = 4, PATIENCE = 10000 };

#define REQUIRE(condition)                                                                                                                 \
    do {                                                                                                                                   \
        if (!(condition)) {                                                                                                                \
            fprintf(stderr, "%s:%d: %s: %s\n", program_invocation_short_name, __LINE__, #condition, strerror(errno));                      \
            exit(1);                                                                                                                       \
        }                                                                                                                                  \
    } while (0)

#define FAILS(call, error) REQUIRE((errno = 0, (call) < 0 && errno == (error)))

static void *memory[BUFFERS];
static uint32_t bytes; /* of a picture, for memory of the program's */

static inline void begin(int camera, enum v4l2_memory kind) {
    struct v4l2_requestbuffers request = {.count = BUFFERS, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = kind};
    REQUIRE(ioctl(camera, VIDIOC_REQBUFS, &request) == 0 && request.count == BUFFERS);
    for (unsigned at = 0; at < BUFFERS; at++) {
        struct v4l2_buffer buffer = {.index = at, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = kind};
        if (kind == V4L2_MEMORY_MMAP) {
            REQUIRE(ioctl(camera, VIDIOC_QUERYBUF, &buffer) == 0);
            memory[at] = mmap(NULL, buffer.length, PROT_READ | PROT_WRITE, MAP_SHARED, camera, buffer.m.offset);
            REQUIRE(memory[at] != MAP_FAILED);
        } else {
            memory[at] = malloc(bytes);
            buffer.m.userptr = (unsigned long)memory[at];
            buffer.length = bytes;
        }
        REQUIRE(ioctl(camera, VIDIOC_QBUF, &buffer) == 0);
    }
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    REQUIRE(ioctl(camera, VIDIOC_STREAMON, &type) == 0);
}

static inline void take_one(int camera) {
    struct pollfd waited = {.fd = camera, .events = POLLIN};
    struct v4l2_buffer buffer = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    REQUIRE(poll(&waited, 1, PATIENCE) == 1);
    REQUIRE(ioctl(camera, VIDIOC_DQBUF, &buffer) == 0);
    REQUIRE(ioctl(camera, VIDIOC_QBUF, &buffer) == 0);
}

static inline void ends_well(pid_t child) {
    int status;
    REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
