/* libv4l2 calls the kernel past libc, to convert pictures that ours need not be converted from. So its functions stand aside for our nodes. */
#define _GNU_SOURCE
#include "hooks.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* A plugin may have it where nobody but itself sees it. */
static void *libv4l2(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found) return found;
    void *handle = dlopen("libv4l2.so.0", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    return handle ? dlsym(handle, name) : NULL;
}

int v4l2_open(const char *path, int flags, ...);
int v4l2_close(int descriptor);
int v4l2_dup(int descriptor);
int v4l2_ioctl(int descriptor, unsigned long request, ...);
ssize_t v4l2_read(int descriptor, void *into, size_t most);
void *v4l2_mmap(void *at, size_t length, int protection, int flags, int descriptor, int64_t offset);
int v4l2_munmap(void *at, size_t length);
int v4l2_fd_open(int descriptor, int flags);

#define LIBV4L2(name) ((__typeof__(&name))libv4l2(#name))

HOOK int v4l2_open(const char *path, int flags, ...) {
    int result;
    MODE_OF(flags)
    if (opens_ours(AT_FDCWD, path, flags, &result)) {
        if (result < 0 || door_has(result)) return result;
        /* A node of the machine's that is no camera is libv4l2's to open. */
        close(result);
    }
    __typeof__(&v4l2_open) next = LIBV4L2(v4l2_open);
    return next ? next(path, flags, mode) : open(path, flags, mode);
}

HOOK int v4l2_fd_open(int descriptor, int flags) {
    __typeof__(&v4l2_fd_open) next = LIBV4L2(v4l2_fd_open);
    return door_has(descriptor) || !next ? descriptor : next(descriptor, flags);
}

HOOK int v4l2_close(int descriptor) {
    __typeof__(&v4l2_close) next = LIBV4L2(v4l2_close);
    return door_has(descriptor) || !next ? close(descriptor) : next(descriptor);
}

HOOK int v4l2_dup(int descriptor) {
    __typeof__(&v4l2_dup) next = LIBV4L2(v4l2_dup);
    return door_has(descriptor) || !next ? dup(descriptor) : next(descriptor);
}

HOOK int v4l2_ioctl(int descriptor, unsigned long request, ...) {
    va_list more;
    va_start(more, request);
    void *argument = va_arg(more, void *);
    va_end(more);
    if (door_has(descriptor)) return ioctl(descriptor, request, argument);
    __typeof__(&v4l2_ioctl) next = LIBV4L2(v4l2_ioctl);
    return next ? next(descriptor, request, argument) : ioctl(descriptor, request, argument);
}

HOOK ssize_t v4l2_read(int descriptor, void *into, size_t most) {
    __typeof__(&v4l2_read) next = LIBV4L2(v4l2_read);
    return door_has(descriptor) || !next ? read(descriptor, into, most) : next(descriptor, into, most);
}

HOOK void *v4l2_mmap(void *at, size_t length, int protection, int flags, int descriptor, int64_t offset) {
    __typeof__(&v4l2_mmap) next = LIBV4L2(v4l2_mmap);
    return door_has(descriptor) || !next ? mmap(at, length, protection, flags, descriptor, offset)
                                         : next(at, length, protection, flags, descriptor, offset);
}

HOOK int v4l2_munmap(void *at, size_t length) {
    __typeof__(&v4l2_munmap) next = LIBV4L2(v4l2_munmap);
    /* Memory of ours it passes on to munmap. */
    return next ? next(at, length) : munmap(at, length);
}
