/* The capture streams in PipeWire: the programs that record from a microphone, and whether they run. libpipewire is opened at run time, so
 * that a machine without it runs the same program. Everything happens on the caller's thread, in camarb_pipewire_turn. */
#pragma once
#include "door.h"
#include "microphone.h"
#include "pixels.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* More capture streams than a machine has use for; later ones are not seen. */
#define CAMARB_CAPTURES_MAX 256

struct camarb_pipewire;

enum camarb_pipewire_fault {
    camarb_pipewire_good = 0,
    /* libpipewire-0.3.so.0 is not installed, or lacks something. */
    camarb_pipewire_no_library,
    /* No server listens on PipeWire's socket. */
    camarb_pipewire_no_server,
};

struct camarb_capture {
    /* PipeWire's number for the stream. */
    uint32_t node;
    /* The process PipeWire took from the socket; 0 when it has none. */
    pid_t process;
    /* Its user, from the socket as well; -1 when there is none. */
    int64_t user;
    /* The process by the stream's own claim; 0: none. */
    pid_t claimed_process;
    /* The process on the socket relays others: PipeWire's own server for PulseAudio's clients. */
    bool is_relayed;
    /* It records played sound, or only measures a level: no microphone is in use for that. */
    bool is_monitor;
    /* Samples flow; false while it is paused ("corked"). */
    bool is_running;
    /* The program's own name; zero-terminated, perhaps empty. */
    char name[64];
};

/* `*opened` is NULL unless the result is camarb_pipewire_good. The socket is PipeWire's usual one: $PIPEWIRE_REMOTE in
 * $PIPEWIRE_RUNTIME_DIR, else $XDG_RUNTIME_DIR. Never waits for a server that is there and does not answer. */
enum camarb_pipewire_fault camarb_pipewire_open(struct camarb_pipewire **opened);
void camarb_pipewire_close(struct camarb_pipewire *pipewire);
int camarb_pipewire_descriptor(const struct camarb_pipewire *pipewire);

enum {
    /* The list of streams has changed, or is whole for the first time. */
    CAMARB_PIPEWIRE_CHANGED = 1,
    /* The server is gone. Close. */
    CAMARB_PIPEWIRE_LOST = 2,
};
/* Takes in what has arrived; a set of the above. */
int camarb_pipewire_turn(struct camarb_pipewire *pipewire);

/* Everything of the beginning has been reported. */
bool camarb_pipewire_is_whole(const struct camarb_pipewire *pipewire);
uint32_t camarb_pipewire_count(const struct camarb_pipewire *pipewire);
/* In the order of their appearance. */
struct camarb_capture camarb_pipewire_capture(const struct camarb_pipewire *pipewire, uint32_t place);
