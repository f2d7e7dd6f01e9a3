/* A display, between the files that open it, follow it and read it. */
#pragma once
#include "CXCB.h"

#include <xcb/res.h>
#include <xcb/xcb.h>

enum atom {
    SUPPORTING_WM_CHECK,
    ACTIVE_WINDOW,
    CLIENT_LIST,
    CLIENT_LIST_STACKING,
    CURRENT_DESKTOP,
    WM_STATE_,
    WM_STATE_HIDDEN,
    WM_STATE_FULLSCREEN,
    WM_DESKTOP,
    WM_WINDOW_TYPE,
    /* The kinds of windows that belong to no app: from here to the end. */
    TYPE_DESKTOP,
    TYPE_DOCK,
    TYPE_TOOLBAR,
    TYPE_MENU,
    TYPE_SPLASH,
    TYPE_DROPDOWN_MENU,
    TYPE_POPUP_MENU,
    TYPE_TOOLTIP,
    TYPE_NOTIFICATION,
    TYPE_COMBO,
    TYPE_DND,
    ATOMS
};

/* A window's constant facts, from one reading to the next, for as long as it is there: its process never changes. The next window may have
 * the same number, and mostly has when one program ends and another begins. */
struct known {
    uint32_t id;
    pid_t process;
};

struct asked {
    bool is_new;
    /* The window went meanwhile. */
    bool is_gone;
    xcb_get_window_attributes_cookie_t attributes;
    xcb_get_property_cookie_t state, workspace, type;
    xcb_get_geometry_cookie_t geometry;
    xcb_translate_coordinates_cookie_t position;
    xcb_res_query_client_ids_cookie_t process;
};

enum round { IDLE, READING_ROOT, READING_MANAGER, READING_WINDOWS };

struct camarb_x11 {
    xcb_connection_t *connection;
    xcb_window_t root;
    xcb_atom_t atoms[ATOMS];
    /* The window manager's own window, whose end is the manager's. */
    xcb_window_t manager;

    enum round round;
    unsigned int fence;
    xcb_get_property_cookie_t root_asked[5];
    xcb_get_property_cookie_t manager_asked;
    struct asked asked[CAMARB_X11_WINDOWS_MAX];

    struct known known[CAMARB_X11_WINDOWS_MAX];
    uint32_t known_count;
    /* The reading under way, and the last whole one. */
    struct camarb_x11_desktop reading, desktop;
    struct camarb_x11_window windows_reading[CAMARB_X11_WINDOWS_MAX], windows[CAMARB_X11_WINDOWS_MAX];
};

/* Whether the atom is one of those from `first` to `last`. */
bool camarb_x11_is_one_of(const struct camarb_x11 *x, xcb_atom_t atom, enum atom first, enum atom last);

/* Collects a finished round of replies, and asks the next. True when the reading is complete. */
bool camarb_x11_collect(struct camarb_x11 *x);

/* Whether the last reply of the round is there, and with it all others. */
bool camarb_x11_is_answered(struct camarb_x11 *x);

/* Drops the facts of a window that has gone. */
void camarb_x11_forget(struct camarb_x11 *x, xcb_window_t window);
