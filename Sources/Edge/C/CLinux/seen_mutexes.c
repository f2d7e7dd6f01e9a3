/* For ThreadSanitizer alone, and empty without it: the part of Swift's Mutex that it cannot see. `Synchronization.Mutex` is locked and
 * unlocked by an exchange in the caller's own code, which the sanitizer sees, unless another thread has it or waits: then by a futex in
 * the standard library, which it does not see, and every contended mutex looked like a race. So these two come before the library's (Swift
 * 6.2's names of `_MutexHandle._lockSlow(UInt32)` and `_MutexHandle._unlockSlow()`), and report. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *mutex

SWIFT void camarb_seen_lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void camarb_seen_unlock(SELF) __asm__(UNLOCK);

/* The library's own function of the name. */
static void *behind(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

SWIFT void camarb_seen_lock(uint32_t thread, SELF) {
    SWIFT void (*lock)(uint32_t, SELF) = (SWIFT void (*)(uint32_t, SELF))behind(LOCK);
    lock(thread, mutex);
    __tsan_acquire(mutex);
}

SWIFT void camarb_seen_unlock(SELF) {
    SWIFT void (*unlock)(SELF) = (SWIFT void (*)(SELF))behind(UNLOCK);
    __tsan_release(mutex);
    unlock(mutex);
}

#endif
#endif
