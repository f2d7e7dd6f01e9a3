/* libpipewire, opened at run time. */
#pragma once
#include <pipewire/pipewire.h>
#include <stdbool.h>

/* What is called by name; all else goes through the tables that PipeWire's headers define. */
struct camarb_library {
    void (*init)(int *, char ***);
    struct pw_loop *(*loop_new)(const struct spa_dict *);
    void (*loop_destroy)(struct pw_loop *);
    struct pw_context *(*context_new)(struct pw_loop *, struct pw_properties *, size_t);
    void (*context_destroy)(struct pw_context *);
    struct pw_core *(*context_connect)(struct pw_context *, struct pw_properties *, size_t);
    int (*core_disconnect)(struct pw_core *);
    void (*proxy_destroy)(struct pw_proxy *);
};
extern struct camarb_library camarb_library;

/* Opens it at the first call. False where it is not installed, or lacks something. */
bool camarb_library_load(void);
