#include "display.h"

#include <stdlib.h>
#include <string.h>
#include <xcb/xcbext.h>

/* Words of a window's property that are looked at: no window has as many states or types. */
#define WORDS_MAX 32

static xcb_get_property_cookie_t ask(struct camarb_x11 *x, xcb_window_t window, enum atom name, uint32_t words) {
    return xcb_get_property(x->connection, 0, window, x->atoms[name], XCB_GET_PROPERTY_TYPE_ANY, 0, words);
}

/* The property's 32-bit words, at most `max`, of its end where it is longer. Their number; -1 where there is none. */
static int words_of(struct camarb_x11 *x, xcb_get_property_cookie_t cookie, uint32_t *words, int max) {
    xcb_get_property_reply_t *reply = xcb_get_property_reply(x->connection, cookie, NULL);
    int count = -1;
    if (reply && reply->format == 32) {
        /* The length of the value by its own field, or by the reply's, which alone xcb checks. */
        uint32_t length = reply->value_len < reply->length ? reply->value_len : reply->length;
        uint32_t skipped = length > (uint32_t)max ? length - (uint32_t)max : 0;
        count = (int)(length - skipped);
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

bool camarb_x11_is_answered(struct camarb_x11 *x) {
    void *reply = NULL;
    xcb_generic_error_t *error = NULL;
    if (!xcb_poll_for_reply(x->connection, x->fence, &reply, &error)) return false;
    free(reply);
    free(error);
    return true;
}

bool camarb_x11_read(struct camarb_x11 *x) {
    if (x->round != IDLE) return false;
    /* A list of windows has any length; no desktop has more than this. */
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

void camarb_x11_forget(struct camarb_x11 *x, xcb_window_t window) {
    for (uint32_t i = 0; i < x->known_count; i++) {
        if (x->known[i].id != window) continue;
        x->known[i] = x->known[--x->known_count];
        break;
    }
    if (x->round != READING_WINDOWS) return;
    for (uint32_t i = 0; i < x->reading.count; i++)
        if (x->windows_reading[i].id == window) x->asked[i].is_gone = true;
}

static void ask_windows(struct camarb_x11 *x) {
    for (uint32_t i = 0; i < x->reading.count; i++) {
        struct camarb_x11_window *window = &x->windows_reading[i];
        struct asked *asked = &x->asked[i];
        bool is_known;
        window->process = known_process(x, window->id, &is_known);
        asked->is_new = !is_known;
        asked->is_gone = false;
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
    /* The window must be there and name itself: a former manager's is gone, or another program's by now. */
    x->manager_asked = ask(x, manager ? manager : x->root, SUPPORTING_WM_CHECK, 1);
    fence(x, READING_MANAGER);
}

static void collect_manager(struct camarb_x11 *x) {
    uint32_t named = word_of(x, x->manager_asked, 0);
    x->reading.has_manager = x->manager && named == x->manager;
    ask_windows(x);
}

/* The process in a reply; 0: none. Each of its values has its own length, and xcb checks none of them. */
static pid_t process_in(const xcb_res_query_client_ids_reply_t *reply) {
    const char *end = (const char *)(reply + 1) + (size_t)reply->length * 4;
    pid_t process = 0;
    xcb_res_client_id_value_iterator_t values = xcb_res_query_client_ids_ids_iterator(reply);
    for (; values.rem > 0; xcb_res_client_id_value_next(&values)) {
        const char *at = (const char *)values.data;
        if (at > end || (size_t)(end - at) < sizeof *values.data) break;
        uint32_t room = (uint32_t)((size_t)(end - at) - sizeof *values.data) / 4;
        if (values.data->length / 4 > room) break;
        if ((values.data->spec.mask & XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID) && values.data->length >= 4)
            process = (pid_t)*xcb_res_client_id_value_value(values.data);
    }
    return process;
}

/* False when the window is gone. All answers are fetched in any case. */
static bool collect_window(struct camarb_x11 *x, struct camarb_x11_window *window, const struct asked *asked) {
    if (asked->is_new) {
        xcb_res_query_client_ids_reply_t *reply = xcb_res_query_client_ids_reply(x->connection, asked->process, NULL);
        if (reply) window->process = process_in(reply);
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
    /* The first type is the app's preferred one. */
    count = words_of(x, asked->type, words, WORDS_MAX);
    if (count > 0 && camarb_x11_is_one_of(x, words[0], TYPE_DESKTOP, ATOMS - 1)) window->kind = camarb_x11_furniture;

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
    x->known_count = 0;
    for (uint32_t i = 0; i < x->reading.count; i++) {
        struct camarb_x11_window window = x->windows_reading[i];
        if (!collect_window(x, &window, &x->asked[i])) continue;
        x->windows[kept++] = window;
        if (!x->asked[i].is_gone) x->known[x->known_count++] = (struct known){.id = window.id, .process = window.process};
    }
    x->desktop = x->reading;
    x->desktop.count = kept;
    x->round = IDLE;
}

bool camarb_x11_collect(struct camarb_x11 *x) {
    switch (x->round) {
    case READING_ROOT: collect_root(x); return false;
    case READING_MANAGER: collect_manager(x); return false;
    case READING_WINDOWS: collect_windows(x); return true;
    case IDLE: return false;
    }
    return false;
}
