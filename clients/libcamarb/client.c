/* The client as a whole: its life, its one descriptor and its one timer. */
#include "inside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

const char *camarb_version(void) { return CAMARB_VERSION; }

int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND + now.tv_nsec;
}

int raised(int descriptor) {
    if (descriptor < 0 || descriptor > 2) return descriptor;
    int above = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    int error = errno;
    close(descriptor);
    errno = error;
    return above;
}

/* ── Errors ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

int fail(camarb_client *client, int number, const char *name, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(client->error, sizeof client->error, format, arguments);
    va_end(arguments);
    snprintf(client->error_name, sizeof client->error_name, "%s", name ? name : "");
    return number;
}

const char *camarb_client_error(camarb_client *client) { return client ? client->error : "There is no client."; }

const char *camarb_client_error_name(camarb_client *client) { return client ? client->error_name : ""; }

int client_check(camarb_client *client) {
    if (!client) return -EINVAL;
    if (client->owner != getpid())
        return fail(client, -ECHILD, NULL, "This client is of the process that forked this one; connect anew in this one.");
    if (client->end_number) return fail(client, client->end_number, client->end_name, "%s", client->end_sentence);
    return 0;
}

/* ── Beginning and end ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

static int begin(camarb_client *client, const char *address) {
    client->epoll = raised(epoll_create1(EPOLL_CLOEXEC));
    if (client->epoll < 0) return -errno;
    client->timer = raised(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    if (client->timer < 0) return -errno;
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll_ctl(client->epoll, EPOLL_CTL_ADD, client->timer, &event) < 0) return -errno;
    client->end_event = event_new(client, CAMARB_EVENT_DISCONNECTED);
    if (!client->end_event) return -ENOMEM;
    int result = client->face ? 0 : addresses_find(client, address);
    return result < 0 ? result : connection_first(client);
}

static int explained(char *sentence, size_t bytes, int result, const char *why) {
    if (!sentence || !bytes) return result;
    if (why[0]) snprintf(sentence, bytes, "%s", why);
    else snprintf(sentence, bytes, "A client could not be made: %s.", strerror(-result));
    return result;
}

int client_make(camarb_client **made, const struct face *face, const char *address, char *sentence, size_t bytes) {
    if (sentence && bytes) *sentence = 0;
    if (!made) return explained(sentence, bytes, -EINVAL, "There is no place for the client.");
    *made = NULL;
    camarb_client *client = calloc(1, sizeof *client);
    if (!client) return explained(sentence, bytes, -ENOMEM, "");
    *client = (camarb_client){.owner = getpid(), .epoll = -1, .timer = -1, .waited_on = -1, .armed = NEVER, .face = face};
    const char *names = secure_getenv("CAMARB_SLATE_NAMES");
    client->slates_show_names = names && strcmp(names, "1") == 0;
    int result = begin(client, address);
    if (result < 0) {
        explained(sentence, bytes, result, client->fault);
        camarb_client_free(client);
        return result;
    }
    client_arm(client);
    *made = client;
    return 0;
}

int camarb_client_new_explained(camarb_client **made, const char *address, char *sentence, size_t bytes) {
    return client_make(made, NULL, address, sentence, bytes);
}

int camarb_client_new(camarb_client **made, const char *address) { return camarb_client_new_explained(made, address, NULL, 0); }

void camarb_client_free(camarb_client *client) {
    if (!client) return;
    connection_drop(client);
    calls_fail_all(client, NULL, NULL);
    session_free_all(client);
    streams_free(client);
    events_free(client);
    cameras_free(client);
    event_free(client->end_event);
    camarb_configuration_free(client->attributes);
    free(client->presence);
    for (size_t i = 0; i < client->declared_count; i++) sd_bus_message_unref(client->declared[i].message);
    for (size_t i = 0; i < client->path_count; i++) free(client->paths[i]);
    if (client->timer >= 0) close(client->timer);
    if (client->epoll >= 0) close(client->epoll);
    free(client);
}

/* Takes down what is left, and tells of it: the sessions' ends, and the client's own as the last. */
static void finish(camarb_client *client) {
    if (client->phase == PHASE_OVER) return;
    connection_drop(client);
    for (camarb_session *session = client->sessions; session; session = session->next)
        if (!session->has_ended) memory_tell_held(session);
    calls_fail_all(client, client->end_name, client->end_sentence);
    for (camarb_session *session = client->sessions; session; session = session->next)
        session_end(session, client->end_name, client->end_sentence);
    client->phase = PHASE_OVER;
    struct event *event = client->end_event;
    client->end_event = NULL;
    if (!event) return;
    event->told.error = strdup(client->end_sentence);
    event->told.error_name = strdup(client->end_name);
    event_push_last(client, event);
}

void client_end(camarb_client *client, int number, const char *name, const char *sentence) {
    if (client->end_number) return;
    client->end_number = number;
    snprintf(client->end_name, sizeof client->end_name, "%s", name);
    snprintf(client->end_sentence, sizeof client->end_sentence, "%s", sentence);
    if (!client->is_in_turn) finish(client);
}

/* ── Waiting and turns ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

int camarb_client_fd(camarb_client *client) { return client ? client->epoll : -EINVAL; }

static int64_t due(camarb_client *client) {
    if (client->wakes_soon || client->has_more) return 0;
    if (client->end_number) return NEVER;
    int64_t due = connection_due(client);
    for (camarb_session *session = client->sessions; session; session = session->next) {
        const struct memory *memory = &session->memory;
        if (memory->hold.kind != HOLD_NONE && memory->hold.kind != HOLD_RECLAIMING && memory->hold.until < due)
            due = memory->hold.until;
        int64_t stream = session_stream_due(session);
        if (stream < due) due = stream;
    }
    return due;
}

void client_arm(camarb_client *client) {
    if (client->timer < 0) return;
    int64_t next = due(client);
    if (next == client->armed) return;
    client->armed = next;
    /* A time of 0 would disarm it; one that has passed rings at once. */
    struct itimerspec when = {{0}, {0}};
    if (next != NEVER) {
        if (next < 1) next = 1;
        when.it_value = (struct timespec){.tv_sec = next / SECOND, .tv_nsec = next % SECOND};
    }
    timerfd_settime(client->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

void client_wake_soon(camarb_client *client) {
    client->wakes_soon = true;
    if (!client->is_in_turn && client->owner == getpid()) client_arm(client);
}

bool client_has_something(camarb_client *client) {
    if (client->events) return true;
    for (camarb_session *session = client->sessions; session; session = session->next)
        if (session->stream && stream_has_frame(session->stream)) return true;
    return false;
}

static void turn(camarb_client *client) {
    int64_t now = now_ns();
    if (client->armed <= now) {
        uint64_t rings;
        if (read(client->timer, &rings, sizeof rings) > 0) client->armed = NEVER;
    }
    client->has_more = false;
    /* Whoever has a turn done takes what there is afterwards. */
    client->wakes_soon = false;
    if (client->end_number) return;
    client->is_in_turn = true;
    connection_turn(client);
    if (!client->end_number) streams_read(client);
    now = now_ns();
    for (camarb_session *session = client->sessions; session && !client->end_number; session = session->next) {
        const struct hold *hold = &session->memory.hold;
        /* While the broker is being asked it is not over. */
        if (hold->kind != HOLD_NONE && hold->kind != HOLD_RECLAIMING && hold->until <= now) memory_tell_held(session);
        session_ask(session);
    }
    if (!client->end_number) calls_flush(client);
    if (client->is_out_of_memory) client_end(client, -ENOMEM, ERROR_OUT_OF_RESOURCES, "There was no memory left.");
    client->is_in_turn = false;
    if (client->end_number) finish(client);
    client->wakes_soon = false;
}

int camarb_client_dispatch(camarb_client *client) {
    int result = client_check(client);
    if (!client || result == -ECHILD) return result;
    turn(client);
    client_arm(client);
    return client_check(client);
}

/* Waits until something happens, or until a moment. */
static int sleep_until(camarb_client *client, int64_t until) {
    struct pollfd waited = {.fd = client->epoll, .events = POLLIN};
    int64_t left = until == NEVER ? 0 : until - now_ns();
    if (left < 0) left = 0;
    struct timespec limit = {.tv_sec = left / SECOND, .tv_nsec = left % SECOND};
    int ready = ppoll(&waited, 1, until == NEVER ? NULL : &limit, NULL);
    /* The program has closed it, with others that it did not know: nothing will ever come, and waiting would spin. */
    int error = ready > 0 && waited.revents & POLLNVAL ? EBADF : ready < 0 && errno != EINTR ? errno : 0;
    return error ? fail(client, -error, NULL, "Waiting failed: %s.", strerror(error)) : 0;
}

static int64_t moment(int64_t nanoseconds) {
    if (nanoseconds < 0) return NEVER;
    int64_t until;
    return __builtin_add_overflow(now_ns(), nanoseconds, &until) ? NEVER : until;
}

int camarb_client_wait(camarb_client *client, int64_t nanoseconds) {
    int64_t until = moment(nanoseconds);
    for (;;) {
        int result = client_check(client);
        if (result == -ECHILD || !client) return result;
        /* Also where there is something already: a caller that leaves a frame untaken hears of all else. */
        turn(client);
        client_arm(client);
        if (client_has_something(client)) return 1;
        result = client_check(client);
        if (result < 0) return result;
        if (now_ns() >= until) return 0;
        result = sleep_until(client, until);
        if (result < 0) return result;
    }
}

int camarb_call_finish(camarb_client *client, camarb_call call, int64_t nanoseconds, uint64_t *value) {
    /* Nothing was asked, and the client still has the sentence that says why. */
    if (call < 0 && call >= INT_MIN) return (int)call;
    int checked = client_check(client);
    if (checked == -ECHILD || !client) return checked;
    int64_t until = moment(nanoseconds < 0 ? CALL_TIME_MAX : nanoseconds);
    int result = 0;
    bool had_something = client_has_something(client), was_to_wake = client->wakes_soon;
    size_t event_count = client->event_count;
    struct event *answer;
    while (!(answer = event_take_answer(client, call))) {
        bool is_open = false;
        for (struct call *open = client->calls; open; open = open->next)
            if (open->number == call && open->answer && open->kind != CALL_CREATE_SESSION) is_open = true;
        if (!is_open) {
            result = fail(client, -EINVAL, NULL, "There is no call %" PRId64 " that waits for its answer.", call);
            break;
        }
        turn(client);
        client_arm(client);
        if (client->end_number) continue;
        int64_t now = now_ns();
        if ((answer = event_take_answer(client, call))) break;
        if (now >= until) {
            result = fail(client, -ETIME, NULL, "There was no answer in time; it comes as an event, or to the next wait.");
            break;
        }
        result = sleep_until(client, until);
        if (result < 0) break;
    }
    if (answer) {
        const char *name = answer->told.error_name, *sentence = answer->told.error;
        if (name || sentence) result = fail(client, error_number(name), name, "%s", sentence ? sentence : "");
        else if (value) *value = answer->told.value;
        event_free(answer);
    }
    /* Nobody has seen what came meanwhile: a caller that waits on the descriptor is told that it is there. One that only asked, and asks again
     * when the descriptor is readable, is told of what is new: what lies there anyway would make it readable for ever. */
    bool has_something = client_has_something(client), only_asked = result == -ETIME && nanoseconds == 0;
    client->wakes_soon = only_asked ? was_to_wake || client->event_count > event_count || (has_something && !had_something) : has_something;
    client_arm(client);
    return result;
}
