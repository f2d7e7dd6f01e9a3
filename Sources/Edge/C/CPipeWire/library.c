#include "library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct camarb_library camarb_library;

static bool was_tried;
static void *handle;

static bool find(void *function, const char *name) {
    void *found = dlsym(handle, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

bool camarb_library_load(void) {
    if (was_tried) return handle != NULL;
    was_tried = true;
    handle = dlopen("libpipewire-0.3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return false;
    const struct {
        void *function;
        const char *name;
    } wanted[] = {
        {&camarb_library.init, "pw_init"},
        {&camarb_library.loop_new, "pw_loop_new"},
        {&camarb_library.loop_destroy, "pw_loop_destroy"},
        {&camarb_library.context_new, "pw_context_new"},
        {&camarb_library.context_destroy, "pw_context_destroy"},
        {&camarb_library.context_connect, "pw_context_connect"},
        {&camarb_library.core_disconnect, "pw_core_disconnect"},
        {&camarb_library.proxy_destroy, "pw_proxy_destroy"},
        {&camarb_library.properties_new, "pw_properties_new"},
        {&camarb_library.properties_set, "pw_properties_set"},
        {&camarb_library.stream_new, "pw_stream_new"},
        {&camarb_library.stream_destroy, "pw_stream_destroy"},
        {&camarb_library.stream_add_listener, "pw_stream_add_listener"},
        {&camarb_library.stream_connect, "pw_stream_connect"},
        {&camarb_library.stream_update_params, "pw_stream_update_params"},
        {&camarb_library.stream_get_node_id, "pw_stream_get_node_id"},
        {&camarb_library.stream_dequeue_buffer, "pw_stream_dequeue_buffer"},
        {&camarb_library.stream_queue_buffer, "pw_stream_queue_buffer"},
        {&camarb_library.stream_trigger_process, "pw_stream_trigger_process"},
        {&camarb_library.stream_set_error, "pw_stream_set_error"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (find(wanted[i].function, wanted[i].name)) continue;
        dlclose(handle);
        handle = NULL;
        return false;
    }
    find(&camarb_library.stream_get_time_n, "pw_stream_get_time_n");
    /* The caller reports a missing server, once; the library would at every try. */
    setenv("PIPEWIRE_DEBUG", "0", 0);
    camarb_library.init(NULL, NULL);
    return true;
}
