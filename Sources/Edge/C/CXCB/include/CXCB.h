/* The windows of an X11 desktop, as its window manager lists them, read without ever waiting for the server. A window's process comes from
 * the X server (the X-Resource extension, 1.2), which took the number from the socket when the program connected. _NET_WM_PID is not read:
 * any program can write any number there. A reading is two rounds of requests, each closed by one whose reply comes last; replies are
 * collected once that one is there, so that a server which is stopped, or grabbed by another program, holds up nothing. Only opening waits
 * for it, and may be done on another thread than the rest. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* More windows than anybody arranges; of a longer list the ones on top are read. */
#define CAMARB_X11_WINDOWS_MAX 512

struct camarb_x11;

enum camarb_x11_fault {
    camarb_x11_good = 0,
    /* The display's name means another machine, whose processes cannot be known here. */
    camarb_x11_elsewhere,
    camarb_x11_bad_name,
    /* No server listens there, or it refuses this user: xcb does not tell the two apart. */
    camarb_x11_no_server,
    /* It is older than the X-Resource extension 1.2. */
    camarb_x11_no_processes,
    camarb_x11_no_memory,
};

enum camarb_x11_kind {
    camarb_x11_application = 0,
    /* The desktop itself, panels, menus, notifications: no app is in front with one of these. */
    camarb_x11_furniture,
};

struct camarb_x11_window {
    uint32_t id;
    /* The process by the X server; 0 when it has none. */
    pid_t process;
    enum camarb_x11_kind kind;
    bool is_viewable;
    bool is_hidden;
    bool is_fullscreen;
    /* The workspace it is on; UINT32_MAX means all, and where the window manager has none. */
    uint32_t workspace;
    /* On the screen, in pixels. */
    int32_t x, y;
    uint32_t width, height;
};

struct camarb_x11_desktop {
    /* A window manager of EWMH is there now; without one, the rest is what the last one left. */
    bool has_manager;
    /* It has listed its windows at least once. */
    bool has_list;
    /* 0 for none. */
    uint32_t active;
    uint32_t workspace;
    uint32_t count;
};

/* The display is $DISPLAY's when `name` is NULL. `*opened` is NULL unless the result is camarb_x11_good. */
enum camarb_x11_fault camarb_x11_open(const char *name, struct camarb_x11 **opened);
/* The server at the other end of a socket, which is closed with it. */
enum camarb_x11_fault camarb_x11_open_on(int socket, struct camarb_x11 **opened);
void camarb_x11_close(struct camarb_x11 *x);
int camarb_x11_descriptor(const struct camarb_x11 *x);

enum {
    /* Something a reading depends on has changed. */
    CAMARB_X11_CHANGED = 1,
    /* A reading is complete: camarb_x11_desktop_of and camarb_x11_window_of have it. */
    CAMARB_X11_READ = 2,
    /* The server is gone. Close. */
    CAMARB_X11_LOST = 4,
};
/* Takes in what has arrived; a set of the above. Call it when the descriptor is readable and after camarb_x11_read. */
int camarb_x11_turn(struct camarb_x11 *x);

/* Begins a reading, unless one is under way: false then. */
bool camarb_x11_read(struct camarb_x11 *x);

struct camarb_x11_desktop camarb_x11_desktop_of(const struct camarb_x11 *x);
/* `place` counts from the bottom of the stack. */
struct camarb_x11_window camarb_x11_window_of(const struct camarb_x11 *x, uint32_t place);
