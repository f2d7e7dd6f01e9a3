/* The inside of the door, shared by door.c (the programs) and door_nodes.c (their pictures). */
#pragma once
#include "include/door.h"
#include "library.h"
#include "pixels.h"

#define NAME_ROOM 160
/* Of private nodes. No role goes with it, so that no portal shows one to anybody. */
#define CAMARB_PRIVATE_CLASS "Video/Source/Private"

struct camera;

/* A stream of ours: a doorway, or the private node of one consumer. */
/* Of a stream, at the most. */
#define BUFFERS_MAX 8

struct node {
    struct camarb_door *door;
    const struct camera *camera;
    /* PipeWire's number of the consumer; PW_ID_ANY: a doorway. */
    uint32_t consumer;
    /* Its program, by the caller's number. */
    uint64_t owner;
    struct pw_stream *stream;
    struct spa_hook listener;
    struct spa_source *timer;
    bool has_format, is_running;
    enum camarb_pixels pixels;
    uint32_t width, height;
    double rate;
    /* The last slate in the stream's format, with its number, so that a buffer that has it already is sent as it is. Never 0. */
    uint8_t *slate;
    /* Its part of the bound of all streams. */
    size_t picture_bytes;
    uintptr_t slate_number;
    int slate_kind;
    char slate_reason[192], slate_interrupter[160];
    /* It shows frames, not slates. */
    bool is_live;
    /* No buffer has come back for a while. */
    bool is_stalled;
    /* Present links to others than its consumer; and links that were taken away again. */
    uint32_t stranger_count, strangers_ended;
    /* Another program had a link while the stream had these buffers, and may have them mapped still, whether the link is there or not. It
     * shows a slate until it has other buffers. */
    bool is_overheard;
    int64_t last_taken;
    /* All that the program may have mapped, as PipeWire has made them. */
    struct pw_buffer *buffers[BUFFERS_MAX];
    uint32_t buffer_count;
    /* The next picture of the process callback; NULL: the slate. */
    const struct camarb_door_picture *picture;
    int64_t last_frame;
    uint64_t sequence;
};

struct camera {
    uint32_t number;
    char node_name[NAME_ROOM], name[NAME_ROOM], location[16];
    struct camarb_door_size sizes[CAMARB_DOOR_SIZES_MAX];
    uint32_t size_count;
    struct node *doorway;
};

struct consumer {
    struct camarb_door *door;
    uint32_t id, client;
    char serial[24], target[NAME_ROOM];
    struct pw_node *proxy;
    struct spa_hook listener;
    bool has_info, was_told;
    /* The process of the program, by the node's own claim. */
    pid_t claimed_process;
    char name[64];
    /* An earlier agent's note: the name of the doorway it means. */
    char adopted[NAME_ROOM];
    const struct camera *camera;
    struct node *node;
};

struct connection {
    struct camarb_door *door;
    uint32_t id;
    /* Bound as soon as one of its consumers is known. */
    struct pw_client *proxy;
    struct spa_hook listener;
    bool has_info, is_portal;
    pid_t process, claimed_process;
    int64_t user;
    char name[64], portal_app[128];
};

/* A camera in the registry, also another program's. */
struct source {
    uint32_t id;
    char serial[24];
};

/* A link from a private node to another program's. */
struct stranger {
    uint32_t id;
    struct node *node;
};

#define CONNECTIONS_MAX 1024
/* Events that may be pending at once: the ends of all connections and of as many consumers as there may be, of the time before, and the
 * beginnings of as many others; and whether each consumer runs, and is overheard. */
#define EVENTS_MAX (2 * CONNECTIONS_MAX + 4 * CAMARB_DOOR_CONSUMERS_MAX)
#define SOURCES_MAX 512
/* With more, the nodes in question show slates for as long as they live. */
#define STRANGERS_MAX 64

struct camarb_door {
    struct pw_loop *loop;
    struct pw_context *context;
    struct pw_core *core;
    struct pw_registry *registry;
    struct spa_hook core_listener, registry_listener;
    struct pw_metadata *metadata;
    uint32_t metadata_id;
    struct spa_hook metadata_listener;
    char default_source[NAME_ROOM];
    bool has_script, slates_show_names;
    struct camera *cameras[CAMARB_DOOR_CAMERAS_MAX];
    struct consumer *consumers[CAMARB_DOOR_CONSUMERS_MAX];
    struct connection *connections[CONNECTIONS_MAX];
    struct source sources[SOURCES_MAX];
    uint32_t source_count;
    struct stranger strangers[STRANGERS_MAX];
    uint32_t stranger_count;
    struct camarb_door_event events[EVENTS_MAX];
    uint32_t event_first, event_count;
    size_t picture_bytes;
    int marker, markers_left;
    /* An object had no place here; a place became free since, or during the search; and the list of all objects, which is reported anew
     * then. */
    bool is_left_out, has_place;
    struct pw_registry *list;
    struct spa_hook list_listener;
    struct spa_source *list_timer;
    bool lost;
};

/* Appends an event, and removes the pending ones that it makes void. */
void camarb_door_tell(struct camarb_door *door, struct camarb_door_event event);

/* A link is there, or no more; and a node is no more. */
void camarb_link_appeared(struct camarb_door *door, uint32_t id, const struct spa_dict *properties);
void camarb_link_vanished(struct camarb_door *door, uint32_t id);
void camarb_links_forget(struct node *node);

/* NULL where PipeWire or memory fails; errno says why. */
struct node *camarb_node_new(struct camarb_door *door, const struct camera *camera, uint32_t consumer);
void camarb_node_free(struct node *node);
void camarb_node_show_slate(struct node *node, int kind, const char *reason, const char *interrupter);
void camarb_node_show_frame(struct node *node, const struct camarb_door_picture *picture);
/* PW_ID_ANY: PipeWire has not said it yet. */
uint32_t camarb_node_number(const struct node *node);
void camarb_node_name(const struct node *node, char *name, size_t size);
/* Another program has its pictures; and no longer, if its links and buffers confirm that. */
void camarb_node_overheard(struct node *node);
void camarb_node_heard_no_more(struct node *node);
