/* Cameras as PipeWire's programs see them: a doorway for each camera, which shows slates only, and a private node for each
 * program that has found one. A script in the session manager links the two (desktop/wireplumber).
 *
 * The caller decides which program sees which picture: a node shows a slate until it is given a frame, and again as soon as told.
 * Everything happens on the caller's thread, in camarb_door_turn; libpipewire's own thread carries buffers and no more. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* More cameras than a desktop has; those beyond have no doorway. */
#define CAMARB_DOOR_CAMERAS_MAX 32
/* Of one camera; more would make every look at a node long. */
#define CAMARB_DOOR_SIZES_MAX 12
/* Programs, or their streams, that are known at once; those beyond are looked at when one goes. A program that opens streams
 * without end fills this up and costs some megabytes for each that runs; nothing else. */
#define CAMARB_DOOR_CONSUMERS_MAX 128

struct camarb_door;

struct camarb_door_size {
    /* Even. */
    uint32_t width, height;
    /* Frames a second, as the broker says them. */
    double rate_max;
};

enum camarb_door_event_kind {
    /* A program has connected to PipeWire. */
    camarb_door_client_came,
    camarb_door_client_went,
    /* A stream means one of the doorways. It has no node yet. */
    camarb_door_consumer_came,
    camarb_door_consumer_went,
    /* Its node's stream has begun, in this size and at this rate, or has paused, or nobody takes pictures from it any more. */
    camarb_door_runs,
    camarb_door_pauses,
    /* Somebody else was linked to its node. Its pictures ended with that, and it is told as paused until its buffers are others. */
    camarb_door_overheard,
};

struct camarb_door_event {
    enum camarb_door_event_kind kind;
    /* PipeWire's numbers: of the program's connection, and of its stream. */
    uint32_t client, consumer;
    /* The caller's number of the camera. */
    uint32_t camera;
    uint32_t width, height;
    /* Frames a second; 0: the program did not say. */
    double rate;
    /* What PipeWire took from the connection's socket: 0 and -1 when it has none. */
    pid_t process;
    int64_t user;
    /* The desktop portal made the connection, for somebody else: the process above is its own. */
    bool is_portal;
    /* What the program says of itself, which anybody may. */
    pid_t claimed_process;
    char name[64];
    /* The sandboxed app by the portal's word; empty otherwise. */
    char portal_app[128];
};

/* As camarb_pipewire_open: 0, or a enum camarb_pipewire_fault. */
int camarb_door_open(struct camarb_door **opened);
void camarb_door_close(struct camarb_door *door);
int camarb_door_descriptor(const struct camarb_door *door);
/* Takes in what has arrived. false: the server is gone. Close. */
bool camarb_door_turn(struct camarb_door *door);
/* What has happened, in order; false: nothing more. What is over before it was taken is left out, so that of a connection or a stream
 * there is at most one end, and then one beginning with how it stands. */
bool camarb_door_next(struct camarb_door *door, struct camarb_door_event *event);
/* Something has happened that nobody took yet, or the server is gone: the next turn says which. */
bool camarb_door_has_news(const struct camarb_door *door);
/* The session manager has read camarb's script, by its own word. Without it nobody links programs to their nodes. */
bool camarb_door_has_script(const struct camarb_door *door);
/* Has the session manager's words told anew; until then it has not read the script. */
void camarb_door_ask_metadata(struct camarb_door *door);

/* Shows a camera, with the first size as the usual one. `id` becomes part of a node's name. `location` is where it sits, as PipeWire's
 * programs know it from libcamera's cameras: front, back or external. 0, or -errno. */
int camarb_door_add_camera(
    struct camarb_door *door, uint32_t number, const char *id, const char *name, const char *location,
    const struct camarb_door_size *sizes, uint32_t size_count);
/* PipeWire has all cameras that are shown: programs see them. */
bool camarb_door_is_shown(const struct camarb_door *door);
/* And no more; its consumers' nodes end, without events. */
void camarb_door_remove_camera(struct camarb_door *door, uint32_t number);

/* Gives a consumer its node, which shows a slate. `owner` is the program that it is of: all nodes of one share a bound on pictures.
 * 0, or -errno. */
int camarb_door_admit(struct camarb_door *door, uint32_t consumer, uint64_t owner);
/* A slate from now on, in words as struct camarb_slate has them. */
void camarb_door_show_slate(
    struct camarb_door *door, uint32_t consumer, int kind, const char *reason, const char *interrupter);

struct camarb_door_picture {
    const uint8_t *luma, *chroma;
    uint32_t stride, width, height;
    /* Nanoseconds of CLOCK_MONOTONIC. */
    int64_t captured;
};
/* One frame, copied before it returns; slates end with it. What a slow program has no buffer for is left out, and one that takes
 * none for seconds is told as paused. First it takes in what has arrived: whose link PipeWire told of by then does not see the frame. */
void camarb_door_show_frame(struct camarb_door *door, uint32_t consumer, const struct camarb_door_picture *picture);

/* Where PipeWire listens, as camarb_door_open looks for it. false: it has no room there, or cannot be known. */
bool camarb_door_socket_path(char *path, size_t size);
/* The other ends of the connections to a listening socket, by inode. Their number, or -errno. */
int camarb_socket_peers(const char *path, uint32_t *inodes, int count_max);
/* The processes of a user that have the socket open, as far as they let themselves be looked at. Their number, or -errno. */
int camarb_socket_holders(uint32_t inode, uid_t user, pid_t *processes, int count_max);
