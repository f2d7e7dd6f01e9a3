/* The program's memory, which may not be mapped: the kernel copies it, and returns EFAULT where this process would end by a signal. Where
 * a seccomp filter forbids that, the pointer is trusted. */
#define _GNU_SOURCE
#include "door.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* The first page is never mapped, which needs no call. */
#define LEAST 4096

static bool copied(ssize_t count, size_t bytes) { return count == (ssize_t)bytes; }

/* Whether the kernel said of the memory that it is not there, and not of the question that it may not be asked. A part is copied where
 * the memory ends. */
static bool is_missing(ssize_t count) { return count >= 0 || errno == EFAULT; }

bool program_gives(void *copy, const void *memory, size_t bytes) {
    if ((uintptr_t)memory < LEAST) return false;
    struct iovec into = {copy, bytes}, from = {(void *)memory, bytes};
    ssize_t count = process_vm_readv(getpid(), &into, 1, &from, 1, 0);
    if (copied(count, bytes)) return true;
    if (is_missing(count)) return false;
    memcpy(copy, memory, bytes);
    return true;
}

bool program_takes(void *memory, const void *copy, size_t bytes) {
    if ((uintptr_t)memory < LEAST) return false;
    struct iovec from = {(void *)copy, bytes}, into = {memory, bytes};
    ssize_t count = process_vm_writev(getpid(), &from, 1, &into, 1, 0);
    if (copied(count, bytes)) return true;
    if (is_missing(count)) return false;
    memcpy(memory, copy, bytes);
    return true;
}

/* Kernels know how to make pages ready to be written since 5.14; a page of our own is always there. */
static bool knows_populating(size_t page) {
    static atomic_int knows = -1;
    if (knows < 0) {
        char own;
        knows = madvise((void *)((uintptr_t)&own & ~(page - 1)), page, MADV_POPULATE_WRITE) == 0;
    }
    return knows;
}

bool program_has(unsigned long memory, size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned long begin = memory & ~(page - 1);
    if (madvise((void *)begin, memory - begin + bytes, MADV_POPULATE_WRITE) == 0) return true;
    if (knows_populating(page)) return false;
    /* As far as two of its bytes tell. */
    char first, last;
    struct iovec into[2] = {{&first, 1}, {&last, 1}}, from[2] = {{(void *)memory, 1}, {(void *)(memory + bytes - 1), 1}};
    return process_vm_readv(getpid(), into, 2, from, 2, 0) == 2 || errno != EFAULT;
}
