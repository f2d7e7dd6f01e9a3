/* The program's events, in order, until it takes them. */
#include "inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct event *event_new(camarb_client *client, enum camarb_event_type type) {
    struct event *event = calloc(1, sizeof *event);
    if (!event) {
        client->is_out_of_memory = true;
        return NULL;
    }
    event->told.type = type;
    return event;
}

static const char no_text[] = "";
static const char *const no_words[] = {NULL};

/* Has `text` do something to each text, and `list` to each list. */
static void each(camarb_event *told, void (*text)(const char **), void (*list)(words *)) {
    const char **texts[] = {&told->reason, &told->interrupter, &told->rule, &told->next_chance, &told->by, &told->error, &told->error_name,
        &told->camera, &told->cause, &told->message, &told->controller};
    words *lists[] = {&told->causes, &told->access, &told->sharers, &told->reopen};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) text(texts[i]);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) list(lists[i]);
}

static void free_text(const char **text) {
    if (*text != no_text) free((char *)*text);
}

static void free_list(words *list) {
    if (*list != no_words) words_free(*list);
}

void event_free(struct event *event) {
    if (!event) return;
    each(&event->told, free_text, free_list);
    sd_bus_message_unref(event->answer);
    camarb_configuration_free((camarb_configuration *)event->told.asked);
    camarb_configuration_free((camarb_configuration *)event->told.in_force);
    camarb_configuration_free((camarb_configuration *)event->told.metadata);
    free(event);
}

void event_push_last(camarb_client *client, struct event *event) {
    if (!event) return;
    event->next = NULL;
    if (client->last_event) client->last_event->next = event;
    else client->events = event;
    client->last_event = event;
    client->event_count++;
    client_wake_soon(client);
}

void event_push(camarb_client *client, struct event *event) {
    if (!event) return;
    if (client->phase == PHASE_OVER) {
        event_free(event);
        return;
    }
    if (client->event_count < CAMARB_EVENTS_MAX) {
        event_push_last(client, event);
        return;
    }
    event_free(event);
    /* Losing one silently would break the promise that none is lost (docs/semantics.md §8, 7). */
    char sentence[256];
    snprintf(sentence, sizeof sentence,
        "%d events were left untaken, so the next had no place; take events as they come, and connect anew.", CAMARB_EVENTS_MAX);
    client_end(client, -ENOBUFS, ERROR_OUT_OF_RESOURCES, sentence);
}

/* Takes out whatever comes behind `before` (NULL: the first). */
static struct event *take(camarb_client *client, struct event *before) {
    struct event **place = before ? &before->next : &client->events;
    struct event *event = *place;
    *place = event->next;
    if (client->last_event == event) client->last_event = before;
    client->event_count--;
    event->next = NULL;
    return event;
}

struct event *event_take_answer(camarb_client *client, camarb_call call) {
    for (struct event *before = NULL, *event = client->events; event; before = event, event = event->next)
        if (event->told.type == CAMARB_EVENT_ANSWERED && event->told.call == call) return take(client, before);
    return NULL;
}

void events_forget(camarb_client *client, camarb_session *session) {
    /* The one that the program has in its hands stays readable. */
    if (client->current && client->current->told.session == session) client->current->told.session = NULL;
    struct event *before = NULL;
    for (struct event *event = client->events; event;) {
        struct event *next = event->next;
        if (event->told.session == session) event_free(take(client, before));
        else before = event;
        event = next;
    }
}

void events_free(camarb_client *client) {
    while (client->events) event_free(take(client, NULL));
    event_free(client->current);
    client->current = NULL;
}

static void complete_text(const char **text) {
    if (!*text) *text = no_text;
}

static void complete_list(words *list) {
    if (!*list) *list = no_words;
}

const camarb_event *camarb_client_next_event(camarb_client *client) {
    if (!client) return NULL;
    event_free(client->current);
    client->current = NULL;
    if (!client->events) return NULL;
    client->current = take(client, NULL);
    each(&client->current->told, complete_text, complete_list);
    return &client->current->told;
}
