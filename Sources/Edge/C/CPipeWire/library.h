/* libpipewire, opened at run time. */
#pragma once
#include <pipewire/pipewire.h>
#include <stdbool.h>

/* The functions that are called by name; all others go through the tables of PipeWire's headers. */
struct camarb_library {
    void (*init)(int *, char ***);
    struct pw_loop *(*loop_new)(const struct spa_dict *);
    void (*loop_destroy)(struct pw_loop *);
    struct pw_context *(*context_new)(struct pw_loop *, struct pw_properties *, size_t);
    void (*context_destroy)(struct pw_context *);
    struct pw_core *(*context_connect)(struct pw_context *, struct pw_properties *, size_t);
    int (*core_disconnect)(struct pw_core *);
    void (*proxy_destroy)(struct pw_proxy *);
    struct pw_properties *(*properties_new)(const char *, ...);
    int (*properties_set)(struct pw_properties *, const char *, const char *);
    struct pw_stream *(*stream_new)(struct pw_core *, const char *, struct pw_properties *);
    void (*stream_destroy)(struct pw_stream *);
    void (*stream_add_listener)(struct pw_stream *, struct spa_hook *, const struct pw_stream_events *, void *);
    int (*stream_connect)(
        struct pw_stream *, enum pw_direction, uint32_t, enum pw_stream_flags, const struct spa_pod **, uint32_t);
    int (*stream_update_params)(struct pw_stream *, const struct spa_pod **, uint32_t);
    uint32_t (*stream_get_node_id)(struct pw_stream *);
    struct pw_buffer *(*stream_dequeue_buffer)(struct pw_stream *);
    int (*stream_queue_buffer)(struct pw_stream *, struct pw_buffer *);
    int (*stream_trigger_process)(struct pw_stream *);
    int (*stream_set_error)(struct pw_stream *, int, const char *, ...);
    /* Since 0.3.50; NULL before. */
    int (*stream_get_time_n)(struct pw_stream *, struct pw_time *, size_t);
};
extern struct camarb_library camarb_library;

/* Opens it at the first call. False where it is not installed, or lacks something. */
bool camarb_library_load(void);

/* A property's text, "" where there is none; and its number, where it is one of 32 bits. */
const char *camarb_text_of(const struct spa_dict *properties, const char *key);
int64_t camarb_number_of(const struct spa_dict *properties, const char *key, int64_t otherwise);
