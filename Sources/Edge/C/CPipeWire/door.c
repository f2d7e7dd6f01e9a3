/* The programs at PipeWire that want video, with their doorways. */
#include "door_inside.h"

#include "CPipeWire.h"

#include <errno.h>
#include <pipewire/extensions/metadata.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The note at a consumer for the next agent: the doorway's name, and the consumer's serial number, since its other number is reused. */
#define ADOPTION_KEY "camarb.camera"
/* The script's note once it runs (desktop/wireplumber); it goes with the session manager that keeps it. */
#define SCRIPT_KEY "camarb.linking"
/* From a place that becomes free to the look at programs without one, in nanoseconds: a program that comes and goes all the time costs a
 * list of all objects each. */
#define LIST_PAUSE 100000000

const char *camarb_text_of(const struct spa_dict *properties, const char *key) {
    const char *text = properties ? spa_dict_lookup(properties, key) : NULL;
    return text ? text : "";
}

int64_t camarb_number_of(const struct spa_dict *properties, const char *key, int64_t otherwise) {
    const char *text = camarb_text_of(properties, key);
    if (!*text) return otherwise;
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    return *end || errno || value < 0 || value > UINT32_MAX ? otherwise : value;
}

/* Whether an earlier event is of no interest after a later one. */
static bool is_void(const struct camarb_door_event *old, const struct camarb_door_event *new) {
    switch (new->kind) {
    case camarb_door_client_came: return false;
    case camarb_door_client_went: return old->kind == camarb_door_client_came && old->client == new->client;
    case camarb_door_consumer_came:
    case camarb_door_consumer_went:
        return old->consumer == new->consumer
            && (old->kind == camarb_door_consumer_came || old->kind == camarb_door_runs || old->kind == camarb_door_pauses
                || old->kind == camarb_door_overheard);
    case camarb_door_runs:
    case camarb_door_pauses:
        return old->consumer == new->consumer && (old->kind == camarb_door_runs || old->kind == camarb_door_pauses);
    case camarb_door_overheard: return old->consumer == new->consumer && old->kind == camarb_door_overheard;
    }
    return false;
}

/* Removes the events that are void now. true: the new event is void, too, since its beginning was never taken. */
static bool make_void(struct camarb_door *door, const struct camarb_door_event *event) {
    uint32_t kept = 0;
    bool was_untold = false;
    for (uint32_t at = 0; at < door->event_count; at++) {
        const struct camarb_door_event *old = &door->events[(door->event_first + at) % EVENTS_MAX];
        if (is_void(old, event)) {
            was_untold |= old->kind == camarb_door_client_came || old->kind == camarb_door_consumer_came;
            continue;
        }
        if (kept != at) door->events[(door->event_first + kept) % EVENTS_MAX] = *old;
        kept++;
    }
    door->event_count = kept;
    return was_untold && (event->kind == camarb_door_client_went || event->kind == camarb_door_consumer_went);
}

void camarb_door_tell(struct camarb_door *door, struct camarb_door_event event) {
    if (make_void(door, &event)) return;
    /* Impossible: pending events are bounded by the known objects. The caller begins anew then. */
    if (door->event_count == EVENTS_MAX) {
        door->lost = true;
        return;
    }
    door->events[(door->event_first + door->event_count++) % EVENTS_MAX] = event;
}

bool camarb_door_has_news(const struct camarb_door *door) { return door->event_count > 0 || door->lost; }

bool camarb_door_has_script(const struct camarb_door *door) { return door->has_script; }

bool camarb_door_next(struct camarb_door *door, struct camarb_door_event *event) {
    if (door->event_count == 0) return false;
    *event = door->events[door->event_first];
    door->event_first = (door->event_first + 1) % EVENTS_MAX;
    door->event_count--;
    return true;
}

static struct consumer *consumer_of(struct camarb_door *door, uint32_t id) {
    for (int at = 0; at < CAMARB_DOOR_CONSUMERS_MAX; at++)
        if (door->consumers[at] && door->consumers[at]->id == id) return door->consumers[at];
    return NULL;
}

static struct connection *connection_of(struct camarb_door *door, uint32_t id) {
    for (int at = 0; at < CONNECTIONS_MAX; at++)
        if (door->connections[at] && door->connections[at]->id == id) return door->connections[at];
    return NULL;
}

/* --- Which doorway is meant --- */

static const struct camera *camera_named(const struct camarb_door *door, const char *node_name) {
    for (int at = 0; *node_name && at < CAMARB_DOOR_CAMERAS_MAX; at++)
        if (door->cameras[at] && strcmp(door->cameras[at]->node_name, node_name) == 0) return door->cameras[at];
    return NULL;
}

/* A target is a name, a serial number or, before PipeWire 0.3.64, a node's number. */
struct target {
    const char *name;
    uint32_t number, of_serial;
};

static struct target target_of(const struct camarb_door *door, const struct consumer *consumer) {
    struct target target = {.name = consumer->target, .number = PW_ID_ANY, .of_serial = PW_ID_ANY};
    char *end;
    unsigned long number = strtoul(target.name, &end, 10);
    if (!*end && number < PW_ID_ANY) target.number = (uint32_t)number;
    for (uint32_t at = 0; at < door->source_count; at++)
        if (strcmp(door->sources[at].serial, target.name) == 0) target.of_serial = door->sources[at].id;
    return target;
}

static bool is_meant(const struct node *node, const struct target *target) {
    uint32_t number = camarb_node_number(node);
    if (number != PW_ID_ANY && (number == target->number || number == target->of_serial)) return true;
    char name[NAME_ROOM + 32];
    camarb_node_name(node, name, sizeof name);
    return strcmp(name, target->name) == 0;
}

static const struct camera *meant_by(const struct camarb_door *door, const struct consumer *consumer) {
    const struct camera *adopted = camera_named(door, consumer->adopted);
    if (adopted) return adopted;
    if (!*consumer->target) return camera_named(door, door->default_source);
    const struct target target = target_of(door, consumer);
    for (int at = 0; at < CAMARB_DOOR_CAMERAS_MAX; at++)
        if (door->cameras[at] && is_meant(door->cameras[at]->doorway, &target)) return door->cameras[at];
    /* A consumer that targets another's private node means the camera: nothing else may be linked to that node. */
    for (int at = 0; at < CAMARB_DOOR_CONSUMERS_MAX; at++) {
        const struct node *node = door->consumers[at] ? door->consumers[at]->node : NULL;
        if (node && is_meant(node, &target)) return node->camera;
    }
    return NULL;
}

static void write_down(struct camarb_door *door, const struct consumer *consumer) {
    if (!door->metadata || !consumer->camera) return;
    char value[NAME_ROOM + 32];
    snprintf(value, sizeof value, "%s %s", consumer->serial, consumer->camera->node_name);
    pw_metadata_set_property(door->metadata, consumer->id, ADOPTION_KEY, "", value);
}

/* Reports consumers whose doorway and program are known. Not before everything of the beginning was reported: an earlier agent's note
 * counts more than a number that is another's by now. */
static void look(struct camarb_door *door) {
    if (door->markers_left > 0) return;
    for (int at = 0; at < CAMARB_DOOR_CONSUMERS_MAX; at++) {
        struct consumer *consumer = door->consumers[at];
        if (!consumer || !consumer->has_info || consumer->was_told) continue;
        const struct connection *connection = connection_of(door, consumer->client);
        if (!connection || !connection->has_info) continue;
        const struct camera *camera = meant_by(door, consumer);
        if (!camera) continue;
        consumer->camera = camera;
        consumer->was_told = true;
        struct camarb_door_event event = {
            .kind = camarb_door_consumer_came,
            .client = consumer->client,
            .consumer = consumer->id,
            .camera = camera->number,
            .process = connection->process,
            .user = connection->user,
            .is_portal = connection->is_portal,
            .claimed_process = consumer->claimed_process ? consumer->claimed_process : connection->claimed_process,
        };
        snprintf(event.name, sizeof event.name, "%s", *consumer->name ? consumer->name : connection->name);
        snprintf(event.portal_app, sizeof event.portal_app, "%s", connection->portal_app);
        camarb_door_tell(door, event);
    }
}

/* --- Metadata --- */

/* {"name":"camarb.front"} */
static void read_default(struct camarb_door *door, const char *value) {
    door->default_source[0] = 0;
    const char *name = value ? strstr(value, "\"name\"") : NULL;
    name = name ? strchr(name + strlen("\"name\""), '"') : NULL;
    size_t length = name ? strcspn(name + 1, "\"") : 0;
    if (length > 0 && length < sizeof door->default_source)
        snprintf(door->default_source, sizeof door->default_source, "%.*s", (int)length, name + 1);
}

static int metadata_told(void *data, uint32_t subject, const char *key, const char *type, const char *value) {
    (void)type;
    struct camarb_door *door = data;
    if (!key) return 0;
    if (subject == PW_ID_CORE && strcmp(key, "default.video.source") == 0) read_default(door, value);
    if (subject == PW_ID_CORE && strcmp(key, SCRIPT_KEY) == 0) door->has_script = value != NULL;
    struct consumer *consumer = strcmp(key, ADOPTION_KEY) == 0 ? consumer_of(door, subject) : NULL;
    if (consumer && value) {
        size_t length = strlen(consumer->serial);
        bool is_meant = length > 0 && strncmp(value, consumer->serial, length) == 0 && value[length] == ' ';
        snprintf(consumer->adopted, sizeof consumer->adopted, "%s", is_meant ? value + length + 1 : "");
    }
    look(door);
    return 0;
}

static const struct pw_metadata_events metadata_events = {.version = PW_VERSION_METADATA_EVENTS, .property = metadata_told};

static void forget_metadata(struct camarb_door *door) {
    if (!door->metadata) return;
    spa_hook_remove(&door->metadata_listener);
    camarb_library.proxy_destroy((struct pw_proxy *)door->metadata);
    door->metadata = NULL;
    door->default_source[0] = 0;
    door->has_script = false;
}

/* Has all its values reported anew. */
static void ask_metadata(struct camarb_door *door, uint32_t id) {
    forget_metadata(door);
    door->metadata_id = id;
    door->metadata = pw_registry_bind(door->registry, id, PW_TYPE_INTERFACE_Metadata, PW_VERSION_METADATA, 0);
    if (door->metadata) pw_metadata_add_listener(door->metadata, &door->metadata_listener, &metadata_events, door);
}

void camarb_door_ask_metadata(struct camarb_door *door) {
    if (door->metadata) ask_metadata(door, door->metadata_id);
}

/* --- The server's events --- */

static void connection_told(void *data, const struct pw_client_info *info) {
    struct connection *connection = data;
    if (!info->props) return;
    connection->has_info = true;
    connection->is_portal = strcmp(camarb_text_of(info->props, PW_KEY_ACCESS), "portal") == 0;
    connection->claimed_process = (pid_t)camarb_number_of(info->props, PW_KEY_APP_PROCESS_ID, 0);
    snprintf(connection->name, sizeof connection->name, "%s", camarb_text_of(info->props, PW_KEY_APP_NAME));
    snprintf(
        connection->portal_app, sizeof connection->portal_app, "%s", camarb_text_of(info->props, "pipewire.access.portal.app_id"));
    look(connection->door);
}

static const struct pw_client_events client_events = {.version = PW_VERSION_CLIENT_EVENTS, .info = connection_told};

/* A connection's permissions are reported only to clients that ask about it. */
static void ask_about(struct camarb_door *door, uint32_t id) {
    struct connection *connection = connection_of(door, id);
    if (!connection || connection->proxy) return;
    connection->proxy = pw_registry_bind(door->registry, id, PW_TYPE_INTERFACE_Client, PW_VERSION_CLIENT, 0);
    if (connection->proxy) pw_client_add_listener(connection->proxy, &connection->listener, &client_events, connection);
}

static void consumer_told(void *data, const struct pw_node_info *info) {
    struct consumer *consumer = data;
    if (!info->props || consumer->has_info) return;
    consumer->has_info = true;
    consumer->client = (uint32_t)camarb_number_of(info->props, PW_KEY_CLIENT_ID, PW_ID_ANY);
    consumer->claimed_process = (pid_t)camarb_number_of(info->props, PW_KEY_APP_PROCESS_ID, 0);
    const char *name = camarb_text_of(info->props, PW_KEY_APP_NAME);
    snprintf(consumer->name, sizeof consumer->name, "%s", *name ? name : camarb_text_of(info->props, PW_KEY_NODE_NAME));
    const char *target = camarb_text_of(info->props, PW_KEY_TARGET_OBJECT);
    snprintf(consumer->target, sizeof consumer->target, "%s", *target ? target : camarb_text_of(info->props, "node.target"));
    ask_about(consumer->door, consumer->client);
    /* PipeWire 0.3.65 now and then stops reporting changes, where programs come and go that ask for all of it (pw-dump): a program that
     * wants the default camera would wait for ever. */
    if (!*consumer->target && consumer->door->metadata) ask_metadata(consumer->door, consumer->door->metadata_id);
    look(consumer->door);
}

static const struct pw_node_events node_events = {.version = PW_VERSION_NODE_EVENTS, .info = consumer_told};

static void consumer_appeared(struct camarb_door *door, uint32_t id, const struct spa_dict *properties) {
    for (int at = 0; at < CAMARB_DOOR_CONSUMERS_MAX; at++) {
        if (door->consumers[at]) continue;
        struct consumer *consumer = calloc(1, sizeof *consumer);
        if (!consumer) return;
        consumer->door = door;
        consumer->id = id;
        consumer->client = PW_ID_ANY;
        snprintf(consumer->serial, sizeof consumer->serial, "%s", camarb_text_of(properties, PW_KEY_OBJECT_SERIAL));
        consumer->proxy = pw_registry_bind(door->registry, id, PW_TYPE_INTERFACE_Node, PW_VERSION_NODE, 0);
        if (!consumer->proxy) {
            free(consumer);
            return;
        }
        pw_node_add_listener(consumer->proxy, &consumer->listener, &node_events, consumer);
        door->consumers[at] = consumer;
        return;
    }
    door->is_left_out = true;
}

static void connection_appeared(struct camarb_door *door, uint32_t id, const struct spa_dict *properties) {
    for (int at = 0; at < CONNECTIONS_MAX; at++) {
        if (door->connections[at]) continue;
        struct connection *connection = calloc(1, sizeof *connection);
        if (!connection) return;
        connection->door = door;
        connection->id = id;
        connection->process = (pid_t)camarb_number_of(properties, PW_KEY_SEC_PID, 0);
        connection->user = camarb_number_of(properties, PW_KEY_SEC_UID, -1);
        door->connections[at] = connection;
        camarb_door_tell(
            door, (struct camarb_door_event){
                      .kind = camarb_door_client_came, .client = id, .process = connection->process, .user = connection->user});
        /* The streams of a connection without a place asked in vain. */
        for (int other = 0; other < CAMARB_DOOR_CONSUMERS_MAX; other++)
            if (door->consumers[other] && door->consumers[other]->client == id) ask_about(door, id);
        return;
    }
    door->is_left_out = true;
}

static void metadata_appeared(struct camarb_door *door, uint32_t id, const struct spa_dict *properties) {
    if (strcmp(camarb_text_of(properties, "metadata.name"), "default") != 0) return;
    ask_metadata(door, id);
    /* The session manager keeps it, and this one has just begun. */
    for (int at = 0; at < CAMARB_DOOR_CONSUMERS_MAX; at++)
        if (door->consumers[at]) write_down(door, door->consumers[at]);
}

/* --- The registry --- */

static bool is_source(const struct camarb_door *door, uint32_t id) {
    for (uint32_t at = 0; at < door->source_count; at++)
        if (door->sources[at].id == id) return true;
    return false;
}

static void source_appeared(struct camarb_door *door, uint32_t id, const struct spa_dict *properties) {
    if (door->source_count == SOURCES_MAX) {
        door->is_left_out = true;
        return;
    }
    struct source *source = &door->sources[door->source_count++];
    source->id = id;
    snprintf(source->serial, sizeof source->serial, "%s", camarb_text_of(properties, PW_KEY_OBJECT_SERIAL));
    look(door);
}

static void appeared(
    void *data, uint32_t id, uint32_t permissions, const char *type, uint32_t version,
    const struct spa_dict *properties) {
    (void)permissions, (void)version;
    /* An object that comes during a list is reported twice. */
    if (!properties || connection_of(data, id) || consumer_of(data, id) || is_source(data, id)) return;
    if (strcmp(type, PW_TYPE_INTERFACE_Client) == 0) connection_appeared(data, id, properties);
    if (strcmp(type, PW_TYPE_INTERFACE_Metadata) == 0) metadata_appeared(data, id, properties);
    if (strcmp(type, PW_TYPE_INTERFACE_Link) == 0) camarb_link_appeared(data, id, properties);
    if (strcmp(type, PW_TYPE_INTERFACE_Node) != 0) return;
    const char *class = camarb_text_of(properties, PW_KEY_MEDIA_CLASS);
    if (strcmp(class, "Stream/Input/Video") == 0) consumer_appeared(data, id, properties);
    if (strcmp(class, "Video/Source") == 0 || strcmp(class, CAMARB_PRIVATE_CLASS) == 0) source_appeared(data, id, properties);
}

/* --- Programs without a place --- */

/* The registry itself reports all departures, and everything else. */
static void listed(
    void *data, uint32_t id, uint32_t permissions, const char *type, uint32_t version,
    const struct spa_dict *properties) {
    if (strcmp(type, PW_TYPE_INTERFACE_Client) == 0 || strcmp(type, PW_TYPE_INTERFACE_Node) == 0)
        appeared(data, id, permissions, type, version, properties);
}

static const struct pw_registry_events list_events = {.version = PW_VERSION_REGISTRY_EVENTS, .global = listed};

static void arm_list(struct camarb_door *door) {
    struct timespec first = {.tv_nsec = LIST_PAUSE}, interval = {0};
    if (door->list_timer) pw_loop_update_timer(door->loop, door->list_timer, &first, &interval, false);
}

static void list_due(void *data, uint64_t times) {
    (void)times;
    struct camarb_door *door = data;
    /* A list under way is finished first. */
    if (door->markers_left > 0) return arm_list(door);
    door->list = pw_core_get_registry(door->core, PW_VERSION_REGISTRY, 0);
    if (!door->list) return arm_list(door);
    door->is_left_out = door->has_place = false;
    pw_registry_add_listener(door->list, &door->list_listener, &list_events, door);
    door->markers_left = 3;
    door->marker = pw_core_sync(door->core, PW_ID_CORE, 0);
}

static void place_freed(struct camarb_door *door) {
    if (!door->is_left_out && !door->list) return;
    if (!door->has_place && !door->list) arm_list(door);
    door->has_place = true;
}

static void end_list(struct camarb_door *door) {
    if (!door->list) return;
    spa_hook_remove(&door->list_listener);
    camarb_library.proxy_destroy((struct pw_proxy *)door->list);
    door->list = NULL;
}

static void free_consumer(struct consumer *consumer) {
    spa_hook_remove(&consumer->listener);
    camarb_library.proxy_destroy((struct pw_proxy *)consumer->proxy);
    camarb_node_free(consumer->node);
    free(consumer);
}

static void free_connection(struct connection *connection) {
    if (connection->proxy) {
        spa_hook_remove(&connection->listener);
        camarb_library.proxy_destroy((struct pw_proxy *)connection->proxy);
    }
    free(connection);
}

static void vanished(void *data, uint32_t id) {
    struct camarb_door *door = data;
    for (int at = 0; at < CAMARB_DOOR_CONSUMERS_MAX; at++) {
        struct consumer *consumer = door->consumers[at];
        if (!consumer || consumer->id != id) continue;
        door->consumers[at] = NULL;
        if (consumer->was_told) {
            if (door->metadata) pw_metadata_set_property(door->metadata, id, ADOPTION_KEY, NULL, NULL);
            camarb_door_tell(door, (struct camarb_door_event){.kind = camarb_door_consumer_went, .consumer = id});
        }
        free_consumer(consumer);
        place_freed(door);
        return;
    }
    for (int at = 0; at < CONNECTIONS_MAX; at++) {
        if (!door->connections[at] || door->connections[at]->id != id) continue;
        free_connection(door->connections[at]);
        door->connections[at] = NULL;
        camarb_door_tell(door, (struct camarb_door_event){.kind = camarb_door_client_went, .client = id});
        place_freed(door);
        return;
    }
    for (uint32_t at = 0; at < door->source_count; at++) {
        if (door->sources[at].id != id) continue;
        door->sources[at] = door->sources[--door->source_count];
        return place_freed(door);
    }
    if (door->metadata && door->metadata_id == id) forget_metadata(door);
    camarb_link_vanished(door, id);
}

static void answered(void *data, uint32_t id, int sequence) {
    struct camarb_door *door = data;
    if (id != PW_ID_CORE || sequence != door->marker || door->markers_left == 0) return;
    /* The first reply follows the list of all objects, the second the details of each, the third the details of their connections. */
    if (door->list) {
        end_list(door);
        /* Notes on the consumers that are known now. */
        if (door->metadata) ask_metadata(door, door->metadata_id);
        door->has_place = door->has_place && door->is_left_out;
        if (door->has_place) arm_list(door);
    }
    if (--door->markers_left > 0)
        door->marker = pw_core_sync(door->core, PW_ID_CORE, 0);
    else
        look(door);
}

static void failed(void *data, uint32_t id, int sequence, int result, const char *message) {
    (void)sequence, (void)message;
    struct camarb_door *door = data;
    if (id == PW_ID_CORE && result == -EPIPE) door->lost = true;
}

static const struct pw_core_events core_events = {
    .version = PW_VERSION_CORE_EVENTS, .done = answered, .error = failed};
static const struct pw_registry_events registry_events = {
    .version = PW_VERSION_REGISTRY_EVENTS, .global = appeared, .global_remove = vanished};

/* --- Opening and closing --- */

int camarb_door_open(struct camarb_door **opened) {
    *opened = NULL;
    if (!camarb_library_load()) return camarb_pipewire_no_library;
    struct camarb_door *door = calloc(1, sizeof *door);
    if (!door) return camarb_pipewire_no_server;
    const char *names = getenv("CAMARB_SLATE_NAMES");
    door->slates_show_names = names && strcmp(names, "1") == 0;
    door->loop = camarb_library.loop_new(NULL);
    if (door->loop) {
        pw_loop_enter(door->loop);
        door->context = camarb_library.context_new(door->loop, NULL, 0);
    }
    struct pw_properties *properties = camarb_library.properties_new(PW_KEY_APP_NAME, "camagent", NULL);
    if (door->context) door->core = camarb_library.context_connect(door->context, properties, 0);
    if (door->core) {
        pw_core_add_listener(door->core, &door->core_listener, &core_events, door);
        door->registry = pw_core_get_registry(door->core, PW_VERSION_REGISTRY, 0);
    }
    if (!door->registry) {
        camarb_door_close(door);
        return camarb_pipewire_no_server;
    }
    pw_registry_add_listener(door->registry, &door->registry_listener, &registry_events, door);
    door->list_timer = pw_loop_add_timer(door->loop, list_due, door);
    door->markers_left = 3;
    door->marker = pw_core_sync(door->core, PW_ID_CORE, 0);
    *opened = door;
    return camarb_pipewire_good;
}

void camarb_door_close(struct camarb_door *door) {
    if (!door) return;
    for (int at = 0; at < CAMARB_DOOR_CONSUMERS_MAX; at++)
        if (door->consumers[at]) free_consumer(door->consumers[at]);
    for (int at = 0; at < CONNECTIONS_MAX; at++)
        if (door->connections[at]) free_connection(door->connections[at]);
    for (int at = 0; at < CAMARB_DOOR_CAMERAS_MAX; at++) {
        if (!door->cameras[at]) continue;
        camarb_node_free(door->cameras[at]->doorway);
        free(door->cameras[at]);
    }
    forget_metadata(door);
    end_list(door);
    if (door->list_timer) pw_loop_destroy_source(door->loop, door->list_timer);
    if (door->registry) {
        spa_hook_remove(&door->registry_listener);
        camarb_library.proxy_destroy((struct pw_proxy *)door->registry);
    }
    if (door->core) {
        spa_hook_remove(&door->core_listener);
        camarb_library.core_disconnect(door->core);
    }
    if (door->context) camarb_library.context_destroy(door->context);
    if (door->loop) {
        pw_loop_leave(door->loop);
        camarb_library.loop_destroy(door->loop);
    }
    free(door);
}

int camarb_door_descriptor(const struct camarb_door *door) { return pw_loop_get_fd(door->loop); }

bool camarb_door_turn(struct camarb_door *door) {
    int result = pw_loop_iterate(door->loop, 0);
    if (result < 0 && result != -EINTR) door->lost = true;
    return !door->lost;
}

/* --- Cameras and nodes --- */

int camarb_door_add_camera(
    struct camarb_door *door, uint32_t number, const char *id, const char *name, const char *location,
    const struct camarb_door_size *sizes, uint32_t size_count) {
    if (size_count == 0) return -EINVAL;
    for (int at = 0; at < CAMARB_DOOR_CAMERAS_MAX; at++) {
        if (door->cameras[at]) continue;
        struct camera *camera = calloc(1, sizeof *camera);
        if (!camera) return -ENOMEM;
        camera->number = number;
        snprintf(camera->node_name, sizeof camera->node_name, "camarb.%s", id);
        snprintf(camera->name, sizeof camera->name, "%s", name);
        snprintf(camera->location, sizeof camera->location, "%s", location);
        camera->size_count = size_count < CAMARB_DOOR_SIZES_MAX ? size_count : CAMARB_DOOR_SIZES_MAX;
        memcpy(camera->sizes, sizes, camera->size_count * sizeof *sizes);
        camera->doorway = camarb_node_new(door, camera, PW_ID_ANY);
        if (!camera->doorway) {
            free(camera);
            return -EIO;
        }
        camarb_node_show_slate(
            camera->doorway, 0, "Nobody links this app to the camera. Is camarb's script part of WirePlumber?", "");
        door->cameras[at] = camera;
        look(door);
        return 0;
    }
    return -ENOSPC;
}

bool camarb_door_is_shown(const struct camarb_door *door) {
    for (int at = 0; at < CAMARB_DOOR_CAMERAS_MAX; at++)
        if (door->cameras[at] && camarb_node_number(door->cameras[at]->doorway) == PW_ID_ANY) return false;
    return true;
}

void camarb_door_remove_camera(struct camarb_door *door, uint32_t number) {
    for (int at = 0; at < CAMARB_DOOR_CAMERAS_MAX; at++) {
        struct camera *camera = door->cameras[at];
        if (!camera || camera->number != number) continue;
        for (int other = 0; other < CAMARB_DOOR_CONSUMERS_MAX; other++) {
            struct consumer *consumer = door->consumers[other];
            if (!consumer || consumer->camera != camera) continue;
            camarb_node_free(consumer->node);
            consumer->node = NULL;
            consumer->camera = NULL;
            consumer->was_told = false;
            /* The consumer waits for this camera, also when another has its numbers by then. */
            snprintf(consumer->adopted, sizeof consumer->adopted, "%s", camera->node_name);
        }
        camarb_node_free(camera->doorway);
        free(camera);
        door->cameras[at] = NULL;
        return;
    }
}

int camarb_door_admit(struct camarb_door *door, uint32_t id, uint64_t owner) {
    struct consumer *consumer = consumer_of(door, id);
    if (!consumer || !consumer->camera) return -ENOENT;
    if (consumer->node) return 0;
    consumer->node = camarb_node_new(door, consumer->camera, id);
    if (!consumer->node) return -EIO;
    consumer->node->owner = owner;
    write_down(door, consumer);
    return 0;
}

void camarb_door_show_slate(
    struct camarb_door *door, uint32_t id, int kind, const char *reason, const char *interrupter) {
    struct consumer *consumer = consumer_of(door, id);
    if (consumer && consumer->node) camarb_node_show_slate(consumer->node, kind, reason, interrupter);
}

void camarb_door_show_frame(struct camarb_door *door, uint32_t id, const struct camarb_door_picture *picture) {
    if (!camarb_door_turn(door)) return;
    struct consumer *consumer = consumer_of(door, id);
    if (consumer && consumer->node) camarb_node_show_frame(consumer->node, picture);
}
