/* hooks.h: what the files with functions of libc's and of others in them share. */
#ifndef CAMARB_DOOR_HOOKS_H
#define CAMARB_DOOR_HOOKS_H

#include "door.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

#define HOOK __attribute__((visibility("default")))

/* The function that ours stands before. Looked up at its first use: other libraries' constructors may come before any of ours. */
#define REAL(name)                                                                                                                         \
    ({                                                                                                                                     \
        static void *_Atomic found;                                                                                                        \
        void *at = atomic_load_explicit(&found, memory_order_relaxed);                                                                     \
        if (!at) {                                                                                                                         \
            at = dlsym(RTLD_NEXT, #name);                                                                                                  \
            atomic_store(&found, at);                                                                                                      \
        }                                                                                                                                  \
        (__typeof__(&name)) at;                                                                                                            \
    })

/* Whether an open is of one of our names: then it is answered, by *result, as libc says it. */
bool opens_ours(int folder, const char *path, int flags, int *result);

/* The mode behind an open's flags, where there is one. */
#define MODE_OF(flags)                                                                                                                     \
    mode_t mode = 0;                                                                                                                       \
    if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) {                                                                             \
        va_list more;                                                                                                                      \
        va_start(more, flags);                                                                                                             \
        mode = va_arg(more, mode_t);                                                                                                       \
        va_end(more);                                                                                                                      \
    }

/* Our objects behind pointers that the program has, as many as there are places. Cheap where there is none. */
struct registry {
    size_t most;
    _Atomic unsigned count;
    struct {
        const void *key;
        void *value;
    } places[256];
};

void *registry_find(struct registry *registry, const void *key); /* NULL: none of ours */
bool registry_add(struct registry *registry, const void *key, void *value); /* false: there is no place */
void registry_remove(struct registry *registry, const void *key);

/* As libc says it. */
static inline int told(int result) {
    if (result >= 0) return result;
    errno = -result;
    return -1;
}

#endif
