/* Cameras as PipeWire's programs see them: a doorway for each camera, which shows slates only, and a private node for each program that
 * has found one. A script in the session manager links the two (desktop/wireplumber). The caller decides which program sees which picture:
 * a node shows a slate until it gets a frame, and again by an order. Everything happens on the caller's thread, in camarb_door_turn;
 * libpipewire's own thread carries buffers and no more. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* More cameras than a desktop has; later ones have no doorway. */
#define CAMARB_DOOR_CAMERAS_MAX 32
/* Of one camera; more would make every look at a node long. */
#define CAMARB_DOOR_SIZES_MAX 12
/* Programs, or their streams, that are known at once; a later one is looked at when one goes. A program that opens streams without end
 * fills this up and costs some megabytes for each that runs; nothing else. */
#define CAMARB_DOOR_CONSUMERS_MAX 128

struct camarb_door;

struct camarb_door_size {
    /* Even. */
    uint32_t width, height;
    /* Frames a second, as brokers give them. */
    double rate_max;
};

enum camarb_door_event_kind {
    /* A program has connected to PipeWire. */
    camarb_door_client_came,
    camarb_door_client_went,
    /* A stream means one of the doorways. It has no node yet. */
    camarb_door_consumer_came,
    camarb_door_consumer_went,
    /* Its node's stream has begun, in this size and at this rate, or has paused, or its program takes no pictures any more. */
    camarb_door_runs,
    camarb_door_pauses,
    /* Another program was linked to its node. Its pictures ended with that, and it counts as paused until its buffers are others. */
    camarb_door_overheard,
};

struct camarb_door_event {
    enum camarb_door_event_kind kind;
    /* PipeWire's numbers: of the program's connection, and of its stream. */
    uint32_t client, consumer;
    /* The caller's number of the camera. */
    uint32_t camera;
    uint32_t width, height;
    /* Frames a second; 0: the program named none. */
    double rate;
    /* The process and user of the connection's socket: 0 and -1 without one. */
    pid_t process;
    int64_t user;
    /* The desktop portal made the connection, for another program: the process above is its own. */
    bool is_portal;
    /* The process by the program's own claim. */
    pid_t claimed_process;
    char name[64];
    /* The sandboxed app by the portal's property; empty otherwise. */
    char portal_app[128];
};

/* As camarb_pipewire_open: 0, or a enum camarb_pipewire_fault. */
int camarb_door_open(struct camarb_door **opened);
void camarb_door_close(struct camarb_door *door);
int camarb_door_descriptor(const struct camarb_door *door);
/* Takes in what has arrived. false: the server is gone. Close. */
bool camarb_door_turn(struct camarb_door *door);
/* The next event, in order; false: none. Events that are void before they are taken are left out, so that of a connection or a stream
 * there is at most one end, and then one beginning with its present state. */
bool camarb_door_next(struct camarb_door *door, struct camarb_door_event *event);
/* An event waits, or the server is gone: the next turn tells them apart. */
bool camarb_door_has_news(const struct camarb_door *door);
/* The session manager has read camarb's script, by its own note. Without it programs are not linked to their nodes. */
bool camarb_door_has_script(const struct camarb_door *door);
/* Has the session manager's notes reported anew; until then it has not read the script. */
void camarb_door_ask_metadata(struct camarb_door *door);

/* Shows a camera, with the first size as the usual one. `id` becomes part of a node's name. `location` is its position, as PipeWire's
 * programs know it from libcamera's cameras: front, back or external. 0, or -errno. */
int camarb_door_add_camera(
    struct camarb_door *door, uint32_t number, const char *id, const char *name, const char *location,
    const struct camarb_door_size *sizes, uint32_t size_count);
/* PipeWire has all these cameras: programs see them. */
bool camarb_door_is_shown(const struct camarb_door *door);
/* Removes a camera; its consumers' nodes end, without events. */
void camarb_door_remove_camera(struct camarb_door *door, uint32_t number);

/* Gives a consumer its node, which shows a slate. `owner` is the program that it is of: all nodes of one share a bound on pictures.
 * 0, or -errno. */
int camarb_door_admit(struct camarb_door *door, uint32_t consumer, uint64_t owner);
/* A slate from now on, in the words of struct camarb_slate. */
void camarb_door_show_slate(
    struct camarb_door *door, uint32_t consumer, int kind, const char *reason, const char *interrupter);

struct camarb_door_picture {
    const uint8_t *luma, *chroma;
    uint32_t stride, width, height;
    /* Nanoseconds of CLOCK_MONOTONIC. */
    int64_t captured;
};
/* One frame, copied before it returns; slates end with it. A slow program without a free buffer misses it, and counts as paused after
 * seconds without one. The call first takes the events that have arrived: a program whose link PipeWire has reported does not see the
 * frame. */
void camarb_door_show_frame(struct camarb_door *door, uint32_t consumer, const struct camarb_door_picture *picture);

/* PipeWire's socket, as camarb_door_open looks for it. false: no room there, or not known. */
bool camarb_door_socket_path(char *path, size_t size);
/* The other ends of the connections to a listening socket, by inode. Their number, or -errno. */
int camarb_socket_peers(const char *path, uint32_t *inodes, int count_max);
/* The processes of a user that have the socket open, as far as they let themselves be looked at. Their number, or -errno. */
int camarb_socket_holders(uint32_t inode, uid_t user, pid_t *processes, int count_max);
