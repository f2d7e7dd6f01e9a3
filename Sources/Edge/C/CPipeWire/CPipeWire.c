#include "CPipeWire.h"
#include "library.h"

#include <errno.h>
#include <spa/utils/result.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct client {
    uint32_t id;
    pid_t process;
    int64_t user;
};

struct capture {
    struct camarb_pipewire *owner;
    struct pw_node *node;
    struct spa_hook listener;
    uint32_t client;
    bool has_info;
    struct camarb_capture shown;
};

/* Every program on the bus is a client of PipeWire's; the latest beyond this are not known by process. */
#define CLIENTS_MAX 1024

struct camarb_pipewire {
    struct pw_loop *loop;
    struct pw_context *context;
    struct pw_core *core;
    struct pw_registry *registry;
    struct spa_hook core_listener, registry_listener;
    struct client clients[CLIENTS_MAX];
    uint32_t client_count;
    struct capture *captures[CAMARB_CAPTURES_MAX];
    uint32_t capture_count;
    /* The reply to this one comes after everything that was there at its request. */
    int marker;
    int markers_left;
    bool changed, lost;
};

/* --- The server's events --- */

static bool is_true(const struct spa_dict *properties, const char *key) {
    const char *text = spa_dict_lookup(properties, key);
    return text && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0);
}

static void client_appeared(struct camarb_pipewire *pipewire, uint32_t id, const struct spa_dict *properties) {
    if (pipewire->client_count == CLIENTS_MAX) return;
    pipewire->clients[pipewire->client_count++] = (struct client){
        .id = id,
        .process = (pid_t)camarb_number_of(properties, PW_KEY_SEC_PID, 0),
        .user = camarb_number_of(properties, PW_KEY_SEC_UID, -1),
    };
}

static void node_told(void *data, const struct pw_node_info *info) {
    struct capture *capture = data;
    struct camarb_capture *shown = &capture->shown;
    if (info->props && (!capture->has_info || info->change_mask & PW_NODE_CHANGE_MASK_PROPS)) {
        capture->client = (uint32_t)camarb_number_of(info->props, PW_KEY_CLIENT_ID, UINT32_MAX);
        shown->claimed_process = (pid_t)camarb_number_of(info->props, PW_KEY_APP_PROCESS_ID, 0);
        const char *api = spa_dict_lookup(info->props, PW_KEY_CLIENT_API);
        shown->is_relayed = api && strcmp(api, "pipewire-pulse") == 0;
        shown->is_monitor =
            is_true(info->props, PW_KEY_STREAM_MONITOR) || is_true(info->props, PW_KEY_STREAM_CAPTURE_SINK);
        const char *name = spa_dict_lookup(info->props, PW_KEY_APP_NAME);
        if (!name) name = spa_dict_lookup(info->props, PW_KEY_NODE_NAME);
        snprintf(shown->name, sizeof shown->name, "%s", name ? name : "");
    }
    shown->is_running = info->state == PW_NODE_STATE_RUNNING;
    capture->has_info = true;
    capture->owner->changed = true;
}

static const struct pw_node_events node_events = {.version = PW_VERSION_NODE_EVENTS, .info = node_told};

static void capture_appeared(struct camarb_pipewire *pipewire, uint32_t id) {
    if (pipewire->capture_count == CAMARB_CAPTURES_MAX) return;
    struct capture *capture = calloc(1, sizeof *capture);
    if (!capture) return;
    capture->owner = pipewire;
    capture->client = UINT32_MAX;
    capture->shown.node = id;
    capture->shown.user = -1;
    /* The registry alone does not report a node's state. */
    capture->node = pw_registry_bind(pipewire->registry, id, PW_TYPE_INTERFACE_Node, PW_VERSION_NODE, 0);
    if (!capture->node) {
        free(capture);
        return;
    }
    pw_node_add_listener(capture->node, &capture->listener, &node_events, capture);
    pipewire->captures[pipewire->capture_count++] = capture;
}

static void appeared(
    void *data, uint32_t id, uint32_t permissions, const char *type, uint32_t version,
    const struct spa_dict *properties) {
    (void)permissions, (void)version;
    if (!properties) return;
    if (strcmp(type, PW_TYPE_INTERFACE_Client) == 0) {
        client_appeared(data, id, properties);
    } else if (strcmp(type, PW_TYPE_INTERFACE_Node) == 0) {
        const char *class = spa_dict_lookup(properties, PW_KEY_MEDIA_CLASS);
        if (class && strcmp(class, "Stream/Input/Audio") == 0) capture_appeared(data, id);
    }
}

static void forget_capture(struct capture *capture) {
    spa_hook_remove(&capture->listener);
    camarb_library.proxy_destroy((struct pw_proxy *)capture->node);
    free(capture);
}

static void vanished(void *data, uint32_t id) {
    struct camarb_pipewire *pipewire = data;
    for (uint32_t i = 0; i < pipewire->client_count; i++) {
        if (pipewire->clients[i].id != id) continue;
        pipewire->clients[i] = pipewire->clients[--pipewire->client_count];
        return;
    }
    for (uint32_t i = 0; i < pipewire->capture_count; i++) {
        struct capture *capture = pipewire->captures[i];
        if (capture->shown.node != id) continue;
        pipewire->capture_count--;
        memmove(
            &pipewire->captures[i], &pipewire->captures[i + 1],
            (pipewire->capture_count - i) * sizeof pipewire->captures[0]);
        forget_capture(capture);
        pipewire->changed = true;
        return;
    }
}

static void answered(void *data, uint32_t id, int sequence) {
    struct camarb_pipewire *pipewire = data;
    if (id != PW_ID_CORE || sequence != pipewire->marker || pipewire->markers_left == 0) return;
    /* The first reply follows the list of all objects, the second the details of each. */
    if (--pipewire->markers_left > 0)
        pipewire->marker = pw_core_sync(pipewire->core, PW_ID_CORE, 0);
    else
        pipewire->changed = true;
}

static void failed(void *data, uint32_t id, int sequence, int result, const char *message) {
    (void)sequence, (void)message;
    struct camarb_pipewire *pipewire = data;
    /* Errors of other objects are of nodes that went meanwhile. */
    if (id == PW_ID_CORE && result == -EPIPE) pipewire->lost = true;
}

static const struct pw_core_events core_events = {
    .version = PW_VERSION_CORE_EVENTS, .done = answered, .error = failed};
static const struct pw_registry_events registry_events = {
    .version = PW_VERSION_REGISTRY_EVENTS, .global = appeared, .global_remove = vanished};

/* --- Opening and closing --- */

enum camarb_pipewire_fault camarb_pipewire_open(struct camarb_pipewire **opened) {
    *opened = NULL;
    if (!camarb_library_load()) return camarb_pipewire_no_library;
    struct camarb_pipewire *pipewire = calloc(1, sizeof *pipewire);
    if (!pipewire) return camarb_pipewire_no_server;
    pipewire->loop = camarb_library.loop_new(NULL);
    if (pipewire->loop) {
        pw_loop_enter(pipewire->loop);
        pipewire->context = camarb_library.context_new(pipewire->loop, NULL, 0);
    }
    if (pipewire->context) pipewire->core = camarb_library.context_connect(pipewire->context, NULL, 0);
    if (pipewire->core) {
        pw_core_add_listener(pipewire->core, &pipewire->core_listener, &core_events, pipewire);
        pipewire->registry = pw_core_get_registry(pipewire->core, PW_VERSION_REGISTRY, 0);
    }
    if (!pipewire->registry) {
        camarb_pipewire_close(pipewire);
        return camarb_pipewire_no_server;
    }
    pw_registry_add_listener(pipewire->registry, &pipewire->registry_listener, &registry_events, pipewire);
    pipewire->markers_left = 2;
    pipewire->marker = pw_core_sync(pipewire->core, PW_ID_CORE, 0);
    *opened = pipewire;
    return camarb_pipewire_good;
}

void camarb_pipewire_close(struct camarb_pipewire *pipewire) {
    if (!pipewire) return;
    while (pipewire->capture_count > 0) forget_capture(pipewire->captures[--pipewire->capture_count]);
    if (pipewire->registry) {
        spa_hook_remove(&pipewire->registry_listener);
        camarb_library.proxy_destroy((struct pw_proxy *)pipewire->registry);
    }
    if (pipewire->core) {
        spa_hook_remove(&pipewire->core_listener);
        camarb_library.core_disconnect(pipewire->core);
    }
    if (pipewire->context) camarb_library.context_destroy(pipewire->context);
    if (pipewire->loop) {
        pw_loop_leave(pipewire->loop);
        camarb_library.loop_destroy(pipewire->loop);
    }
    free(pipewire);
}

int camarb_pipewire_descriptor(const struct camarb_pipewire *pipewire) {
    return pw_loop_get_fd(pipewire->loop);
}

int camarb_pipewire_turn(struct camarb_pipewire *pipewire) {
    pipewire->changed = false;
    /* One round takes the present events; more of them make the descriptor readable again. */
    int result = pw_loop_iterate(pipewire->loop, 0);
    if (result < 0 && result != -EINTR) pipewire->lost = true;
    return (pipewire->changed ? CAMARB_PIPEWIRE_CHANGED : 0) | (pipewire->lost ? CAMARB_PIPEWIRE_LOST : 0);
}

/* --- The list --- */

bool camarb_pipewire_is_whole(const struct camarb_pipewire *pipewire) {
    return pipewire->markers_left == 0;
}

uint32_t camarb_pipewire_count(const struct camarb_pipewire *pipewire) {
    return pipewire->capture_count;
}

struct camarb_capture camarb_pipewire_capture(const struct camarb_pipewire *pipewire, uint32_t place) {
    if (place >= pipewire->capture_count) return (struct camarb_capture){.user = -1};
    const struct capture *capture = pipewire->captures[place];
    struct camarb_capture shown = capture->shown;
    for (uint32_t i = 0; i < pipewire->client_count; i++) {
        if (pipewire->clients[i].id != capture->client) continue;
        shown.process = pipewire->clients[i].process;
        shown.user = pipewire->clients[i].user;
    }
    return shown;
}
