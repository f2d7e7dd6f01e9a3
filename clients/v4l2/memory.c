/* The program's memory, which may not be mapped: the kernel copies it, and returns EFAULT where this process would end by a signal. Where
 * a seccomp filter forbids that, the pointer is trusted. */
#define _GNU_SOURCE
#include "door.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define LEAST 4096 /* the first page is never mapped, which needs no call */

/* From the second to the first, by the kernel's copy between processes, where `memory` is the program's. */
static bool copied(
    void *into, const void *from, size_t bytes, const void *memory,
    ssize_t (*copy)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long)) {
    if ((uintptr_t)memory < LEAST) return false;
    struct iovec own = {memory == from ? into : (void *)from, bytes}, of_program = {(void *)memory, bytes};
    ssize_t count = copy(getpid(), &own, 1, &of_program, 1, 0);
    if (count == (ssize_t)bytes) return true;
    /* The kernel said of the memory that it is not there, or copied a part, up to where it ends; it did not refuse the question. */
    if (count >= 0 || errno == EFAULT) return false;
    memcpy(into, from, bytes);
    return true;
}

bool program_gives(void *copy, const void *memory, size_t bytes) { return copied(copy, memory, bytes, memory, process_vm_readv); }

bool program_takes(void *memory, const void *copy, size_t bytes) { return copied(memory, copy, bytes, memory, process_vm_writev); }

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
