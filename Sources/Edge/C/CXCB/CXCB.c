#include "display.h"

#include <stdlib.h>
#include <string.h>

static const char *const atom_names[ATOMS] = {
    "_NET_SUPPORTING_WM_CHECK",
    "_NET_ACTIVE_WINDOW",
    "_NET_CLIENT_LIST",
    "_NET_CLIENT_LIST_STACKING",
    "_NET_CURRENT_DESKTOP",
    "_NET_WM_STATE",
    "_NET_WM_STATE_HIDDEN",
    "_NET_WM_STATE_FULLSCREEN",
    "_NET_WM_DESKTOP",
    "_NET_WM_WINDOW_TYPE",
    "_NET_WM_WINDOW_TYPE_DESKTOP",
    "_NET_WM_WINDOW_TYPE_DOCK",
    "_NET_WM_WINDOW_TYPE_TOOLBAR",
    "_NET_WM_WINDOW_TYPE_MENU",
    "_NET_WM_WINDOW_TYPE_SPLASH",
    "_NET_WM_WINDOW_TYPE_DROPDOWN_MENU",
    "_NET_WM_WINDOW_TYPE_POPUP_MENU",
    "_NET_WM_WINDOW_TYPE_TOOLTIP",
    "_NET_WM_WINDOW_TYPE_NOTIFICATION",
    "_NET_WM_WINDOW_TYPE_COMBO",
    "_NET_WM_WINDOW_TYPE_DND",
};

static bool is_local(const char *name) {
    /* ":0", "unix:0", "unix/host:0", or the path of a socket. ssh's "localhost:10.0" is another machine's. */
    return name[0] == ':' || name[0] == '/' || strncmp(name, "unix:", 5) == 0 || strncmp(name, "unix/", 5) == 0;
}

/* The root window of a screen; 0 where the server's list has none. Xcb checks the list's length, and nothing in it. */
static xcb_window_t root_of(const xcb_setup_t *setup, int number) {
    const char *end = (const char *)setup + 8 + (size_t)setup->length * 4;
    xcb_screen_iterator_t screens = xcb_setup_roots_iterator(setup);
    for (; screens.rem > 0; xcb_screen_next(&screens)) {
        const char *at = (const char *)screens.data;
        if (at < (const char *)setup || at > end || (size_t)(end - at) < sizeof *screens.data) return 0;
        if (number <= 0 || screens.rem == 1) return screens.data->root;
        number--;
        /* The next one follows this one's depths, each of which has its own length. */
        xcb_depth_iterator_t depths = xcb_screen_allowed_depths_iterator(screens.data);
        for (; depths.rem > 0; xcb_depth_next(&depths)) {
            at = (const char *)depths.data;
            if (at > end || (size_t)(end - at) < sizeof *depths.data) return 0;
        }
    }
    return 0;
}

static enum camarb_x11_fault begin(xcb_connection_t *connection, int number, struct camarb_x11 **opened) {
    struct camarb_x11 *x = calloc(1, sizeof *x);
    if (!x) {
        xcb_disconnect(connection);
        return camarb_x11_no_memory;
    }
    x->connection = connection;
    int fault = xcb_connection_has_error(x->connection);
    x->root = fault ? 0 : root_of(xcb_get_setup(x->connection), number);
    if (!x->root) {
        camarb_x11_close(x);
        return fault == XCB_CONN_CLOSED_PARSE_ERR ? camarb_x11_bad_name : camarb_x11_no_server;
    }

    xcb_intern_atom_cookie_t cookies[ATOMS];
    for (int i = 0; i < ATOMS; i++)
        cookies[i] = xcb_intern_atom(x->connection, 0, (uint16_t)strlen(atom_names[i]), atom_names[i]);
    for (int i = 0; i < ATOMS; i++) {
        xcb_intern_atom_reply_t *reply = xcb_intern_atom_reply(x->connection, cookies[i], NULL);
        if (reply) x->atoms[i] = reply->atom;
        free(reply);
    }
    const xcb_query_extension_reply_t *resources = xcb_get_extension_data(x->connection, &xcb_res_id);
    bool names_processes = false;
    if (resources && resources->present) {
        xcb_res_query_version_reply_t *version =
            xcb_res_query_version_reply(x->connection, xcb_res_query_version(x->connection, 1, 2), NULL);
        names_processes =
            version && (version->server_major > 1 || (version->server_major == 1 && version->server_minor >= 2));
        free(version);
    }
    if (xcb_connection_has_error(x->connection)) {
        camarb_x11_close(x);
        return camarb_x11_no_server;
    }
    if (!names_processes) {
        camarb_x11_close(x);
        return camarb_x11_no_processes;
    }
    uint32_t mask = XCB_EVENT_MASK_PROPERTY_CHANGE;
    xcb_change_window_attributes(x->connection, x->root, XCB_CW_EVENT_MASK, &mask);
    xcb_flush(x->connection);
    *opened = x;
    return camarb_x11_good;
}

enum camarb_x11_fault camarb_x11_open(const char *name, struct camarb_x11 **opened) {
    *opened = NULL;
    if (!name) name = getenv("DISPLAY");
    if (!name || !*name) return camarb_x11_no_server;
    if (!is_local(name)) return camarb_x11_elsewhere;
    int number = 0;
    xcb_connection_t *connection = xcb_connect(name, &number);
    return begin(connection, number, opened);
}

enum camarb_x11_fault camarb_x11_open_on(int socket, struct camarb_x11 **opened) {
    *opened = NULL;
    return begin(xcb_connect_to_fd(socket, NULL), 0, opened);
}

void camarb_x11_close(struct camarb_x11 *x) {
    if (!x) return;
    xcb_disconnect(x->connection);
    free(x);
}

int camarb_x11_descriptor(const struct camarb_x11 *x) {
    return xcb_get_file_descriptor(x->connection);
}

bool camarb_x11_is_one_of(const struct camarb_x11 *x, xcb_atom_t atom, enum atom first, enum atom last) {
    for (int i = first; i <= (int)last; i++)
        if (atom && x->atoms[i] == atom) return true;
    return false;
}

static bool has_fullscreen(const struct camarb_x11 *x) {
    for (uint32_t i = 0; i < x->desktop.count; i++)
        if (x->windows[i].is_fullscreen) return true;
    return false;
}

static bool matters(struct camarb_x11 *x, const xcb_generic_event_t *event) {
    switch (event->response_type & 0x7f) {
    case XCB_PROPERTY_NOTIFY: {
        /* Titles, icons and cursors change all the time; these do not. */
        xcb_atom_t atom = ((const xcb_property_notify_event_t *)event)->atom;
        return camarb_x11_is_one_of(x, atom, SUPPORTING_WM_CHECK, WM_STATE_) || camarb_x11_is_one_of(x, atom, WM_DESKTOP, WM_WINDOW_TYPE);
    }
    case XCB_DESTROY_NOTIFY:
    case XCB_MAP_NOTIFY:
    case XCB_UNMAP_NOTIFY: return true;
    /* A window's position matters only where another may cover it. */
    case XCB_CONFIGURE_NOTIFY: return has_fullscreen(x);
    /* Also the errors of windows that went meanwhile. */
    default: return false;
    }
}

static bool take_events(struct camarb_x11 *x) {
    bool changed = false;
    xcb_generic_event_t *event;
    while ((event = xcb_poll_for_event(x->connection))) {
        if ((event->response_type & 0x7f) == XCB_DESTROY_NOTIFY)
            camarb_x11_forget(x, ((const xcb_destroy_notify_event_t *)event)->window);
        if (matters(x, event)) changed = true;
        free(event);
    }
    return changed;
}

int camarb_x11_turn(struct camarb_x11 *x) {
    int result = 0;
    for (;;) {
        if (take_events(x)) result |= CAMARB_X11_CHANGED;
        if (xcb_connection_has_error(x->connection)) return result | CAMARB_X11_LOST;
        if (x->round == IDLE || !camarb_x11_is_answered(x)) return result;
        if (camarb_x11_collect(x)) result |= CAMARB_X11_READ;
    }
}

struct camarb_x11_desktop camarb_x11_desktop_of(const struct camarb_x11 *x) {
    return x->desktop;
}

struct camarb_x11_window camarb_x11_window_of(const struct camarb_x11 *x, uint32_t place) {
    return place < x->desktop.count ? x->windows[place] : (struct camarb_x11_window){0};
}
