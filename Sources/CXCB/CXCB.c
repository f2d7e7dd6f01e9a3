#include "CXCB.h"

#include <stdlib.h>
#include <string.h>
#include <xcb/res.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>

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
    /* The kinds of windows that are no app's: from here to the end. */
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

/* Words of a window's property that are looked at: no window has as many states or types. */
#define WORDS_MAX 32

/* What stays known of a window from one reading to the next: its process never changes. */
struct known {
    uint32_t id;
    pid_t process;
};

struct asked {
    bool is_new;
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
    /* What is being read, and what was read last. */
    struct camarb_x11_desktop reading, desktop;
    struct camarb_x11_window windows_reading[CAMARB_X11_WINDOWS_MAX], windows[CAMARB_X11_WINDOWS_MAX];
};

/* --- Opening --- */

static bool is_local(const char *name) {
    /* ":0", "unix:0", "unix/host:0", or the path of a socket. ssh's "localhost:10.0" is another machine's. */
    return name[0] == ':' || name[0] == '/' || strncmp(name, "unix:", 5) == 0 || strncmp(name, "unix/", 5) == 0;
}

enum camarb_x11_fault camarb_x11_open(const char *name, struct camarb_x11 **opened) {
    *opened = NULL;
    if (!name) name = getenv("DISPLAY");
    if (!name || !*name) return camarb_x11_no_server;
    if (!is_local(name)) return camarb_x11_elsewhere;
    struct camarb_x11 *x = calloc(1, sizeof *x);
    if (!x) return camarb_x11_no_memory;
    int number = 0;
    x->connection = xcb_connect(name, &number);
    int fault = xcb_connection_has_error(x->connection);
    if (fault) {
        camarb_x11_close(x);
        return fault == XCB_CONN_CLOSED_PARSE_ERR ? camarb_x11_bad_name : camarb_x11_no_server;
    }
    xcb_screen_iterator_t screens = xcb_setup_roots_iterator(xcb_get_setup(x->connection));
    for (; number > 0 && screens.rem > 1; number--) xcb_screen_next(&screens);
    x->root = screens.data->root;

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

void camarb_x11_close(struct camarb_x11 *x) {
    if (!x) return;
    xcb_disconnect(x->connection);
    free(x);
}

int camarb_x11_descriptor(const struct camarb_x11 *x) {
    return xcb_get_file_descriptor(x->connection);
}

/* --- Events --- */

static bool is_one_of(const struct camarb_x11 *x, xcb_atom_t atom, enum atom first, enum atom last) {
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
        return is_one_of(x, atom, SUPPORTING_WM_CHECK, WM_STATE_) || is_one_of(x, atom, WM_DESKTOP, WM_WINDOW_TYPE);
    }
    case XCB_DESTROY_NOTIFY:
    case XCB_MAP_NOTIFY:
    case XCB_UNMAP_NOTIFY: return true;
    /* Where a window is matters only where another may cover it. */
    case XCB_CONFIGURE_NOTIFY: return has_fullscreen(x);
    /* Also the errors of windows that went while they were asked about. */
    default: return false;
    }
}

static bool take_events(struct camarb_x11 *x) {
    bool changed = false;
    xcb_generic_event_t *event;
    while ((event = xcb_poll_for_event(x->connection))) {
        if (matters(x, event)) changed = true;
        free(event);
    }
    return changed;
}

/* --- Reading --- */

static xcb_get_property_cookie_t ask(struct camarb_x11 *x, xcb_window_t window, enum atom name, uint32_t words) {
    return xcb_get_property(x->connection, 0, window, x->atoms[name], XCB_GET_PROPERTY_TYPE_ANY, 0, words);
}

/* The property's 32-bit words, at most `max`, of its end where it is longer. Their number; -1 where there is none. */
static int words_of(struct camarb_x11 *x, xcb_get_property_cookie_t cookie, uint32_t *words, int max) {
    xcb_get_property_reply_t *reply = xcb_get_property_reply(x->connection, cookie, NULL);
    int count = -1;
    if (reply && reply->format == 32) {
        int length = xcb_get_property_value_length(reply) / 4, skipped = length > max ? length - max : 0;
        count = length - skipped;
        memcpy(words, (const uint32_t *)xcb_get_property_value(reply) + skipped, (size_t)count * 4);
    }
    free(reply);
    return count;
}

static uint32_t word_of(struct camarb_x11 *x, xcb_get_property_cookie_t cookie, uint32_t otherwise) {
    uint32_t word;
    return words_of(x, cookie, &word, 1) == 1 ? word : otherwise;
}

static void fence(struct camarb_x11 *x, enum round round) {
    x->fence = xcb_get_input_focus(x->connection).sequence;
    x->round = round;
    xcb_flush(x->connection);
}

/* Whether the answer that comes last is there, and with it all others. */
static bool is_answered(struct camarb_x11 *x) {
    void *reply = NULL;
    xcb_generic_error_t *error = NULL;
    if (!xcb_poll_for_reply(x->connection, x->fence, &reply, &error)) return false;
    free(reply);
    free(error);
    return true;
}

bool camarb_x11_read(struct camarb_x11 *x) {
    if (x->round != IDLE) return false;
    /* A list of windows is as long as it is; beyond this much nobody has any. */
    uint32_t list_words = 64 * CAMARB_X11_WINDOWS_MAX;
    x->root_asked[0] = ask(x, x->root, SUPPORTING_WM_CHECK, 1);
    x->root_asked[1] = ask(x, x->root, ACTIVE_WINDOW, 1);
    x->root_asked[2] = ask(x, x->root, CLIENT_LIST_STACKING, list_words);
    x->root_asked[3] = ask(x, x->root, CLIENT_LIST, list_words);
    x->root_asked[4] = ask(x, x->root, CURRENT_DESKTOP, 1);
    fence(x, READING_ROOT);
    return true;
}

static void watch(struct camarb_x11 *x, xcb_window_t window, uint32_t mask) {
    xcb_change_window_attributes(x->connection, window, XCB_CW_EVENT_MASK, &mask);
}

static pid_t known_process(const struct camarb_x11 *x, uint32_t id, bool *is_known) {
    for (uint32_t i = 0; i < x->known_count; i++) {
        if (x->known[i].id != id) continue;
        *is_known = true;
        return x->known[i].process;
    }
    *is_known = false;
    return 0;
}

static void ask_windows(struct camarb_x11 *x) {
    for (uint32_t i = 0; i < x->reading.count; i++) {
        struct camarb_x11_window *window = &x->windows_reading[i];
        struct asked *asked = &x->asked[i];
        bool is_known;
        window->process = known_process(x, window->id, &is_known);
        asked->is_new = !is_known;
        if (!is_known) {
            /* Watched before it is read: no change falls between the two. */
            watch(x, window->id, XCB_EVENT_MASK_PROPERTY_CHANGE | XCB_EVENT_MASK_STRUCTURE_NOTIFY);
            xcb_res_client_id_spec_t spec = {
                .client = window->id, .mask = XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID};
            asked->process = xcb_res_query_client_ids(x->connection, 1, &spec);
        }
        asked->attributes = xcb_get_window_attributes(x->connection, window->id);
        asked->state = ask(x, window->id, WM_STATE_, WORDS_MAX);
        asked->workspace = ask(x, window->id, WM_DESKTOP, 1);
        asked->type = ask(x, window->id, WM_WINDOW_TYPE, WORDS_MAX);
        asked->geometry = xcb_get_geometry(x->connection, window->id);
        asked->position = xcb_translate_coordinates(x->connection, window->id, x->root, 0, 0);
    }
    fence(x, READING_WINDOWS);
}

static void collect_root(struct camarb_x11 *x) {
    xcb_window_t manager = word_of(x, x->root_asked[0], 0);
    x->reading = (struct camarb_x11_desktop){.active = word_of(x, x->root_asked[1], 0)};
    uint32_t ids[CAMARB_X11_WINDOWS_MAX];
    int count = words_of(x, x->root_asked[2], ids, CAMARB_X11_WINDOWS_MAX);
    /* Without the stacking order, the order of mapping: the latest on top. Asked for either way. */
    uint32_t mapped[CAMARB_X11_WINDOWS_MAX];
    int mapped_count = words_of(x, x->root_asked[3], mapped, CAMARB_X11_WINDOWS_MAX);
    if (count < 0 && mapped_count >= 0) {
        memcpy(ids, mapped, sizeof ids);
        count = mapped_count;
    }
    x->reading.has_list = count >= 0;
    x->reading.count = count > 0 ? (uint32_t)count : 0;
    x->reading.workspace = word_of(x, x->root_asked[4], UINT32_MAX);
    for (uint32_t i = 0; i < x->reading.count; i++) x->windows_reading[i] = (struct camarb_x11_window){.id = ids[i]};
    if (manager != x->manager) {
        x->manager = manager;
        if (manager) watch(x, manager, XCB_EVENT_MASK_STRUCTURE_NOTIFY);
    }
    /* The window must be there and name itself: one that a manager left behind is gone, or somebody else's by now. */
    x->manager_asked = ask(x, manager ? manager : x->root, SUPPORTING_WM_CHECK, 1);
    fence(x, READING_MANAGER);
}

static void collect_manager(struct camarb_x11 *x) {
    uint32_t named = word_of(x, x->manager_asked, 0);
    x->reading.has_manager = x->manager && named == x->manager;
    ask_windows(x);
}

/* False when the window is gone. All answers are fetched in any case. */
static bool collect_window(struct camarb_x11 *x, struct camarb_x11_window *window, const struct asked *asked) {
    if (asked->is_new) {
        xcb_res_query_client_ids_reply_t *reply = xcb_res_query_client_ids_reply(x->connection, asked->process, NULL);
        if (reply) {
            xcb_res_client_id_value_iterator_t values = xcb_res_query_client_ids_ids_iterator(reply);
            for (; values.rem; xcb_res_client_id_value_next(&values))
                if ((values.data->spec.mask & XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID) &&
                    xcb_res_client_id_value_value_length(values.data) >= 1)
                    window->process = (pid_t)*xcb_res_client_id_value_value(values.data);
        }
        free(reply);
    }
    xcb_get_window_attributes_reply_t *attributes =
        xcb_get_window_attributes_reply(x->connection, asked->attributes, NULL);
    window->is_viewable = attributes && attributes->map_state == XCB_MAP_STATE_VIEWABLE;
    bool is_there = attributes != NULL;
    free(attributes);

    uint32_t words[WORDS_MAX];
    int count = words_of(x, asked->state, words, WORDS_MAX);
    for (int i = 0; i < count; i++) {
        if (words[i] == x->atoms[WM_STATE_HIDDEN]) window->is_hidden = true;
        if (words[i] == x->atoms[WM_STATE_FULLSCREEN]) window->is_fullscreen = true;
    }
    window->workspace = word_of(x, asked->workspace, UINT32_MAX);
    /* The first is the one the app means most. */
    count = words_of(x, asked->type, words, WORDS_MAX);
    if (count > 0 && is_one_of(x, words[0], TYPE_DESKTOP, ATOMS - 1)) window->kind = camarb_x11_furniture;

    xcb_get_geometry_reply_t *geometry = xcb_get_geometry_reply(x->connection, asked->geometry, NULL);
    if (geometry) {
        window->width = geometry->width;
        window->height = geometry->height;
    }
    free(geometry);
    xcb_translate_coordinates_reply_t *position =
        xcb_translate_coordinates_reply(x->connection, asked->position, NULL);
    if (position) {
        window->x = position->dst_x;
        window->y = position->dst_y;
    }
    free(position);
    return is_there;
}

static void collect_windows(struct camarb_x11 *x) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < x->reading.count; i++) {
        struct camarb_x11_window window = x->windows_reading[i];
        if (collect_window(x, &window, &x->asked[i])) x->windows[kept++] = window;
    }
    x->desktop = x->reading;
    x->desktop.count = kept;
    /* Of windows that went nothing is kept: their numbers may be others' one day. */
    for (uint32_t i = 0; i < kept; i++)
        x->known[i] = (struct known){.id = x->windows[i].id, .process = x->windows[i].process};
    x->known_count = kept;
    x->round = IDLE;
}

int camarb_x11_turn(struct camarb_x11 *x) {
    int result = 0;
    for (;;) {
        if (take_events(x)) result |= CAMARB_X11_CHANGED;
        if (xcb_connection_has_error(x->connection)) return result | CAMARB_X11_LOST;
        if (x->round == IDLE || !is_answered(x)) return result;
        switch (x->round) {
        case READING_ROOT: collect_root(x); break;
        case READING_MANAGER: collect_manager(x); break;
        case READING_WINDOWS:
            collect_windows(x);
            result |= CAMARB_X11_READ;
            break;
        case IDLE: break;
        }
    }
}

struct camarb_x11_desktop camarb_x11_desktop_of(const struct camarb_x11 *x) {
    return x->desktop;
}

struct camarb_x11_window camarb_x11_window_of(const struct camarb_x11 *x, uint32_t place) {
    return place < x->desktop.count ? x->windows[place] : (struct camarb_x11_window){0};
}
