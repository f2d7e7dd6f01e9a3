/* The connection to the broker: found, authenticated, lost, and found again. */
#include "face.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* ── Where it is ────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* In an address bytes may be written as % and two hexadecimal digits. */
static void unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++, to++) {
        *to = *from;
        if (*from == '%' && isxdigit((unsigned char)from[1]) && isxdigit((unsigned char)from[2])) {
            *to = (char)strtoul((char[]){from[1], from[2], 0}, NULL, 16);
            from += 2;
        }
    }
    *to = 0;
}

static int path_add(camarb_client *client, const char *path, size_t length, bool is_escaped) {
    if (length == 0 || length >= sizeof((struct sockaddr_un *)NULL)->sun_path) return -EINVAL;
    char *copy = strndup(path, length);
    if (!copy) return -ENOMEM;
    if (is_escaped) unescape(copy);
    /* Of no bytes, after a %00: that would be a socket's name outside of all folders. */
    if (!copy[0]) {
        free(copy);
        return -EINVAL;
    }
    client->paths[client->path_count++] = copy;
    return 0;
}

static int address_add(camarb_client *client, const char *address) {
    /* Also from here: before the first slash an address has its transport and a colon. */
    if (address[strcspn(address, "/:")] == '/') return path_add(client, address, strlen(address), false);
    if (strncmp(address, "unix:", 5) != 0) return -EINVAL;
    for (const char *pair = address + 5; *pair;) {
        size_t length = strcspn(pair, ",");
        if (strncmp(pair, "path=", 5) == 0) return path_add(client, pair + 5, length - 5, true);
        pair += length + (pair[length] == ',');
    }
    return -EINVAL;
}

int addresses_find(camarb_client *client, const char *address) {
    /* The environment is not the program's own where it has more rights than its caller. */
    if (!address) address = secure_getenv("CAMARB_SOCKET");
    if (address && address[0]) {
        int result = address_add(client, address);
        if (result == -EINVAL)
            snprintf(client->fault, sizeof client->fault,
                "“%.200s” is not an address of a broker; it takes unix:path=… or a path, of at most %zu bytes.", address,
                sizeof((struct sockaddr_un *)NULL)->sun_path - 1);
        return result;
    }
    const char *user = secure_getenv("XDG_RUNTIME_DIR");
    char path[sizeof((struct sockaddr_un *)NULL)->sun_path];
    if (user && user[0]) {
        int length = snprintf(path, sizeof path, "%s/camarb/socket", user);
        /* A path that no socket can have is the path of none. */
        if (length > 0 && (size_t)length < sizeof path) {
            int result = path_add(client, path, (size_t)length, false);
            if (result < 0) return result;
        }
    }
    const char *system = "/run/camarb/socket";
    return path_add(client, system, strlen(system), false);
}

/* ── Connecting ─────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* A connected socket that does not block. -EAGAIN: the broker's queue is full.
 * wait: how long to wait for a place in it. */
static int connect_to(const char *path, int64_t wait) {
    int descriptor = raised(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (wait > 0 ? 0 : SOCK_NONBLOCK), 0));
    if (descriptor < 0) return -errno;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    int64_t until = now_ns() + wait;
    int result;
    do {
        /* A socket that blocks waits in connect for as long as it may wait when it sends. */
        int64_t left = until - now_ns();
        if (left < MILLISECOND) left = MILLISECOND;
        struct timeval limit = {.tv_sec = left / SECOND, .tv_usec = left % SECOND / 1000};
        if (wait > 0) setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        result = connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
        /* A program with a quick timer must not be kept here by it: the queue is taken for full then. */
        if (result == -EINTR && now_ns() >= until) result = -EAGAIN;
    } while (result == -EINTR);
    if (result == 0 && wait > 0 && fcntl(descriptor, F_SETFL, O_NONBLOCK) < 0) result = -errno;
    if (result == 0) return descriptor;
    close(descriptor);
    return result;
}

/* A connected socket, or why there is none: of several paths, what is worth more than that nothing is there. */
static int connect_anywhere(camarb_client *client, int64_t wait) {
    if (client->face) return face_connect(client);
    int told = -ENOENT;
    for (size_t i = 0; i < client->path_count; i++) {
        int result = connect_to(client->paths[i], wait);
        if (result >= 0) return result;
        if (result == -ENOENT || result == -ENOTDIR) {
            if (told == -ENOENT)
                snprintf(client->fault, sizeof client->fault,
                    "There is no broker's socket at %s: camarbd has not been started.", client->paths[i]);
            continue;
        }
        if (told != -ENOENT) continue;
        told = result;
        if (result == -ECONNREFUSED)
            snprintf(client->fault, sizeof client->fault,
                "The socket %s is there, but nobody listens: camarbd has ended (systemctl status camarbd).", client->paths[i]);
        else
            snprintf(client->fault, sizeof client->fault, "Connecting to %s failed: %s.", client->paths[i], strerror(-result));
        /* Somebody listens there: it is this one, as soon as it has a place. */
        if (result == -EAGAIN) break;
    }
    client->fault_number = told;
    return told;
}

static void wait_for(camarb_client *client, uint32_t events) {
    if (client->waits_for == events) return;
    client->waits_for = events;
    struct epoll_event event = {.events = events};
    epoll_ctl(client->epoll, EPOLL_CTL_MOD, client->waited_on, &event);
}

/* Starts a connection. libsystemd then keeps a descriptor of the broker's process from Debian 13 on, wherever one is free: so that it
 * becomes no standard stream of a program that has closed its own, those are taken meanwhile. */
static int start_above(sd_bus *bus, int descriptor) {
    int taken[3];
    int count = 0;
    int next;
    while ((next = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)) >= 0 && next <= 2 && count < 3) taken[count++] = next;
    if (next >= 0) close(next);
    int result = sd_bus_start(bus);
    while (count > 0) close(taken[--count]);
    return result;
}

/* Takes a connected socket over, in any case. */
static int begin(camarb_client *client, int descriptor) {
    sd_bus *bus = NULL;
    int result = sd_bus_new(&bus);
    int waited_on = result < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (result >= 0 && waited_on < 0) result = -errno;
    if (result >= 0) result = sd_bus_set_fd(bus, descriptor, descriptor);
    if (result < 0) {
        close(descriptor);
        if (waited_on >= 0) close(waited_on);
        sd_bus_unref(bus);
        return result;
    }
    sd_bus_negotiate_fds(bus, 1);
    /* Nobody here asks for what libsystemd would otherwise gather about each sender. */
    sd_bus_negotiate_creds(bus, 1, 0);
    sd_bus_set_exit_on_disconnect(bus, 0);
    result = sd_bus_add_filter(bus, NULL, signal_arrived, client);
    if (result >= 0) result = start_above(bus, waited_on);
    struct epoll_event event = {.events = EPOLLIN};
    if (result >= 0 && epoll_ctl(client->epoll, EPOLL_CTL_ADD, waited_on, &event) < 0) result = -errno;
    if (result < 0) {
        close(waited_on);
        sd_bus_close_unref(bus);
        return result;
    }
    client->bus = bus;
    client->waited_on = waited_on;
    client->waits_for = EPOLLIN;
    client->phase = PHASE_AUTHENTICATING;
    client->authenticate_by = now_ns() + AUTHENTICATION_TIME_MAX;
    /* sd_bus_start may have read the broker's first bytes already. */
    client->has_more = true;
    return 0;
}

static void try_later(camarb_client *client, int number, const char *sentence) {
    if (sentence != client->fault) snprintf(client->fault, sizeof client->fault, "%s", sentence);
    client->fault_number = number;
    int64_t now = now_ns();
    if (now >= client->away_until || (client->face && client->face->ends_with_broker)) {
        client_end(client, number, ERROR_DISCONNECTED, client->fault);
        return;
    }
    client->phase = PHASE_CONNECTING;
    client->next_try = now + client->pause;
    client->pause = client->pause * 2 < PAUSE_MAX ? client->pause * 2 : PAUSE_MAX;
}

static void try_now(camarb_client *client) {
    int descriptor = connect_anywhere(client, 0);
    if (descriptor < 0) {
        try_later(client, client->fault_number, client->fault);
        return;
    }
    int result = begin(client, descriptor);
    if (result >= 0) return;
    char sentence[256];
    snprintf(sentence, sizeof sentence, "The connection could not be set up: %s.", strerror(-result));
    try_later(client, result, sentence);
}

static void begin_away(camarb_client *client) {
    client->phase = PHASE_CONNECTING;
    client->pause = PAUSE_FIRST;
    client->next_try = now_ns();
    client->away_until = client->next_try + AWAY_TIME_MAX;
}

int connection_first(camarb_client *client) {
    begin_away(client);
    int descriptor = connect_anywhere(client, CONNECT_TIME_MAX);
    if (descriptor >= 0) {
        int result = begin(client, descriptor);
        /* A broker that is just ending takes connections into its queue until the last moment. */
        if (result == -EPIPE || result == -ECONNRESET || result == -ENOTCONN) return 0;
        return result;
    }
    /* There is a broker, and it is besieged. */
    return descriptor == -EAGAIN ? 0 : descriptor;
}

/* ── The end ────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

void connection_drop(camarb_client *client) {
    for (struct call *call = client->calls; call; call = call->next) call->slot = sd_bus_slot_unref(call->slot);
    for (camarb_session *session = client->sessions; session; session = session->next) session_drop_slots(session);
    client->cameras.slot = sd_bus_slot_unref(client->cameras.slot);
    client->back.slot = sd_bus_slot_unref(client->back.slot);
    if (client->waited_on >= 0) {
        /* In a child of the program the epoll set is the parent's, too. */
        if (client->owner == getpid()) epoll_ctl(client->epoll, EPOLL_CTL_DEL, client->waited_on, NULL);
        close(client->waited_on);
        client->waited_on = -1;
    }
    client->bus = sd_bus_close_unref(client->bus);
}

/* Whether one and the same broker has ended this client's connections too often. */
static bool is_thrown_out(camarb_client *client, int64_t now) {
    size_t kept = 0;
    for (size_t i = 0; i < client->end_count; i++)
        if (now - client->ends[i] < 60 * SECOND) client->ends[kept++] = client->ends[i];
    client->ends[kept++] = now;
    client->end_count = kept;
    return kept > ENDS_PER_MINUTE_MAX;
}

void connection_ended(camarb_client *client, int number, const char *sentence) {
    bool was_connected = client->phase == PHASE_CONNECTED;
    connection_drop(client);
    if (client->face && client->face->ends_with_broker) {
        client_end(client, number, ERROR_DISCONNECTED, sentence);
        return;
    }
    /* Before anything is told: what is told may end the client. */
    client->phase = PHASE_CONNECTING;
    for (camarb_session *session = client->sessions; session; session = session->next) {
        session->id = 0;
        session->is_being_created = false;
        session->needs_putting_back = session->was_created && !session->has_ended;
        if (session->needs_putting_back) memory_lost(session);
    }
    calls_lost(client);
    if (was_connected) {
        client->knows_broker_before = client->knows_broker;
        client->broker_before = client->broker;
        begin_away(client);
        if (is_thrown_out(client, now_ns())) client_end(client, number, ERROR_DISCONNECTED, sentence);
        client->fault_number = number;
    } else {
        try_later(client, number, sentence);
    }
}

/* ── Turns ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static void became_ready(camarb_client *client) {
    /* Asked of a connection that is not ready, libsystemd would wait until it is. */
    client->knows_broker = sd_bus_get_bus_id(client->bus, &client->broker) >= 0;
    client->phase = PHASE_PUTTING_BACK;
    back_begin(client);
}

static void process(camarb_client *client) {
    int result = 1;
    for (int messages = 0; result > 0 && !client->end_number && messages < MESSAGES_PER_TURN_MAX; messages++) {
        result = sd_bus_process(client->bus, NULL);
        if (result >= 0 && client->phase == PHASE_AUTHENTICATING && sd_bus_is_ready(client->bus) > 0) became_ready(client);
    }
    if (client->end_number) return;
    uint64_t unsent = 0;
    sd_bus_get_n_queued_write(client->bus, &unsent);
    if (result < 0 && result != -EPIPE && result != -ECONNRESET && result != -ENOTCONN) {
        char sentence[256];
        snprintf(sentence, sizeof sentence, "The connection failed: %s.", strerror(-result));
        connection_ended(client, result, sentence);
    } else if (result < 0 || sd_bus_is_open(client->bus) <= 0) {
        connection_ended(client, -ENOTCONN, "The broker closed the connection, or ended.");
    } else if (unsent > UNSENT_MAX) {
        connection_ended(client, -ENOBUFS, "The broker did not read what it was sent.");
    } else if (client->phase == PHASE_AUTHENTICATING && now_ns() >= client->authenticate_by) {
        connection_ended(client, -ETIMEDOUT, "The broker did not authenticate in time.");
    } else if (result > 0) {
        client->has_more = true;
    }
}

void connection_turn(camarb_client *client) {
    if (client->bus) process(client);
    if (!client->end_number && client->phase == PHASE_CONNECTING && now_ns() >= client->next_try) try_now(client);
}

int64_t connection_due(camarb_client *client) {
    if (client->phase == PHASE_CONNECTING) return client->next_try;
    if (!client->bus) return NEVER;
    int events = sd_bus_get_events(client->bus);
    /* A bus that is closing has no events, and something to do. */
    if (events < 0) return 0;
    wait_for(client, EPOLLIN | (events & POLLOUT ? EPOLLOUT : 0u));
    int64_t due = client->phase == PHASE_AUTHENTICATING ? client->authenticate_by : NEVER;
    uint64_t timeout;
    if (sd_bus_get_timeout(client->bus, &timeout) >= 0 && timeout < (uint64_t)(NEVER / 1000) && (int64_t)timeout * 1000 < due)
        due = (int64_t)timeout * 1000;
    return due;
}

/* ── Messages ───────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

sd_bus_message *call_message(camarb_client *client, uint64_t session, const char *member) {
    char path[64] = BROKER_PATH;
    if (session) snprintf(path, sizeof path, SESSION_PATH "%llu", (unsigned long long)session);
    sd_bus_message *message = NULL;
    int result = sd_bus_message_new_method_call(
        client->bus, &message, NULL, path, session ? SESSION_INTERFACE : BROKER_INTERFACE, member);
    if (result == -ENOMEM) client->is_out_of_memory = true;
    return result < 0 ? NULL : message;
}

int call_send(
    camarb_client *client, sd_bus_message *message, sd_bus_slot **slot, sd_bus_message_handler_t handler, void *context) {
    int result = handler ? sd_bus_call_async(client->bus, slot, message, handler, context, CALL_TIME_MAX / 1000)
                         : sd_bus_message_set_expect_reply(message, 0);
    if (!handler && result >= 0) result = sd_bus_send(client->bus, message, NULL);
    sd_bus_message_unref(message);
    if (result == -ENOMEM) client->is_out_of_memory = true;
    /* Something to be written, or an end to be seen, is for the next turn. */
    if (result < 0) client->has_more = true;
    return result;
}

bool answer_is_real(sd_bus_message *answer) { return sd_bus_is_open(sd_bus_message_get_bus(answer)) > 0; }
