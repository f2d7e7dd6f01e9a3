/* A camera program that calls the kernel past libc's functions.
 *
 * usage: past libv4l2          RGB24 of 640x480 to standard output until that is closed, by libv4l2, which is loaded as VLC's plugin does it and
 *                              used as the kernel's documentation does it (v4l2grab)
 *        past syscall          YUYV so, by syscall(2), as Rust's v4l does it */
#include "program.h"

#include <dlfcn.h>
#include <sys/syscall.h>

enum { WIDTH = 640, HEIGHT = 480 };

static int by_syscall_open(const char *path, int flags, ...) { return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0); }
static int by_syscall_close(int descriptor) { return (int)syscall(SYS_close, descriptor); }
static void *by_syscall_mmap(void *at, size_t length, int protection, int flags, int descriptor, int64_t offset) {
    return (void *)syscall(SYS_mmap, at, length, protection, flags, descriptor, offset);
}
static int by_syscall_munmap(void *at, size_t length) { return (int)syscall(SYS_munmap, at, length); }
static int by_syscall_ioctl(int descriptor, unsigned long request, ...) {
    __builtin_va_list more;
    __builtin_va_start(more, request);
    void *argument = __builtin_va_arg(more, void *);
    __builtin_va_end(more);
    return (int)syscall(SYS_ioctl, descriptor, request, argument);
}

static struct {
    __typeof__(&by_syscall_open) open;
    __typeof__(&by_syscall_close) close;
    __typeof__(&by_syscall_ioctl) ioctl;
    __typeof__(&by_syscall_mmap) mmap;
    __typeof__(&by_syscall_munmap) munmap;
} calls = {by_syscall_open, by_syscall_close, by_syscall_ioctl, by_syscall_mmap, by_syscall_munmap};

static void load_libv4l2(void) {
    void *library = dlopen("libv4l2.so.0", RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "past: %s\n", dlerror());
        exit(1);
    }
#define FIND(name) REQUIRE((calls.name = (__typeof__(calls.name))dlsym(library, "v4l2_" #name)))
    FIND(open);
    FIND(close);
    FIND(ioctl);
    FIND(mmap);
    FIND(munmap);
}

int main(int count, char **words) {
    int is_libv4l2 = count == 2 && strcmp(words[1], "libv4l2") == 0;
    signal(SIGPIPE, SIG_IGN);
    if (is_libv4l2) load_libv4l2();

    /* Calls about other files go to libc with all six arguments, and their results and errors come back. */
    REQUIRE(calls.open("/proc/nowhere", O_RDWR) == -1 && errno == ENOENT);
    REQUIRE(syscall(SYS_getpid) == getpid());
    int copied = memfd_create("copied", 0), other = memfd_create("other", 0);
    loff_t from = 2, to = 1;
    char text[8] = "";
    REQUIRE(write(copied, "camera", 6) == 6 && syscall(SYS_copy_file_range, copied, &from, other, &to, 3L, 0L) == 3);
    REQUIRE(pread(other, text, sizeof text, 0) == 4 && memcmp(text, "\0mer", 4) == 0);
    REQUIRE(syscall(SYS_read, -1, text, 1L) == -1 && errno == EBADF);

    int camera = calls.open("/dev/video0", O_RDWR | O_NONBLOCK, 0);
    REQUIRE(camera >= 0);
    uint32_t fourcc = is_libv4l2 ? V4L2_PIX_FMT_RGB24 : V4L2_PIX_FMT_YUYV;
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    format.fmt.pix = (struct v4l2_pix_format){.width = WIDTH, .height = HEIGHT, .pixelformat = fourcc, .field = V4L2_FIELD_NONE};
    REQUIRE(calls.ioctl(camera, VIDIOC_S_FMT, &format) == 0);
    REQUIRE(format.fmt.pix.pixelformat == fourcc && format.fmt.pix.width == WIDTH && format.fmt.pix.height == HEIGHT);
    struct v4l2_requestbuffers request = {.count = BUFFERS, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    REQUIRE(calls.ioctl(camera, VIDIOC_REQBUFS, &request) == 0);
    void *memory[BUFFERS];
    struct v4l2_buffer buffer = {0};
    for (unsigned at = 0; at < request.count && at < BUFFERS; at++) {
        buffer = (struct v4l2_buffer){.index = at, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
        REQUIRE(calls.ioctl(camera, VIDIOC_QUERYBUF, &buffer) == 0);
        memory[at] = calls.mmap(NULL, buffer.length, PROT_READ | PROT_WRITE, MAP_SHARED, camera, buffer.m.offset);
        REQUIRE(memory[at] != MAP_FAILED);
        REQUIRE(calls.ioctl(camera, VIDIOC_QBUF, &buffer) == 0);
    }
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    REQUIRE(calls.ioctl(camera, VIDIOC_STREAMON, &type) == 0);
    size_t bytes = (size_t)WIDTH * HEIGHT * (is_libv4l2 ? 3 : 2);
    for (ssize_t written = (ssize_t)bytes; written == (ssize_t)bytes;) {
        struct pollfd waited = {.fd = camera, .events = POLLIN};
        REQUIRE(poll(&waited, 1, PATIENCE) == 1);
        buffer = (struct v4l2_buffer){.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
        if (calls.ioctl(camera, VIDIOC_DQBUF, &buffer) < 0) {
            REQUIRE(errno == EAGAIN);
            continue;
        }
        REQUIRE(buffer.bytesused == bytes);
        written = write(1, memory[buffer.index], bytes);
        REQUIRE(calls.ioctl(camera, VIDIOC_QBUF, &buffer) == 0);
    }
    REQUIRE(calls.ioctl(camera, VIDIOC_STREAMOFF, &type) == 0);
    REQUIRE(calls.munmap(memory[0], buffer.length) == 0);
    REQUIRE(calls.close(camera) == 0);
    return 0;
}
