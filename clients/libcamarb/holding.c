/* The effects of a broker's end on a session: the events that are sent, and those that are held back. */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

void hold_clear(struct hold *hold) {
    words_free(hold->causes);
    free(hold->interrupter);
    free(hold->rule);
    free(hold->message);
    *hold = (struct hold){0};
}

/* Takes in what a broker says of an interruption. Whether it is not told now. */
bool hold_notes(camarb_client *client, struct hold *hold, struct interruption_words said) {
    if (hold->kind != HOLD_WAITING) return false;
    int64_t until = hold->until;
    hold_clear(hold);
    *hold = (struct hold){
        .kind = HOLD_WAITING, .until = until, .is_back = true, .has_said = true, .causes = words_copy(client, said.causes),
        .interrupter = text_copy(client, said.interrupter), .rule = text_copy(client, said.rule),
        .message = text_copy(client, said.message)};
    return true;
}

bool memory_is_reclaimable(const struct memory *memory) { return memory->is_running && memory->secret[0]; }

/* The broker was restarted under what ran, as far as the program is told or the broker is to be. */
bool memory_was_running(const struct memory *memory) {
    const struct interruption *open = &memory->open;
    return memory->is_running || (open->is_open && words_have(open->causes, CAUSE_BROKER_RESTARTED))
        || (memory->wants_to_run && !open->is_open);
}

/* ── When the broker is gone ────────────────────────────────────────────────────────────────────────────────────────────────── */

/* The next broker counts interruptions from 1, and its first is the one that is open. */
static void begin_with_another_broker(struct memory *memory) {
    memory->expected = 1;
    memory->offset = memory->open.is_open ? memory->open.id - 1 : memory->last_interruption;
}

/* The next broker begins with nobody, and says nothing while that is so. */
static void sharers_gone(camarb_session *session) {
    if (words_count(session->memory.sharers) == 0) return;
    words_free(session->memory.sharers);
    session->memory.sharers = NULL;
    memory_tell(session, event_new(session->client, CAMARB_EVENT_SHARERS_CHANGED));
}

static void tell_interruption(camarb_session *session) {
    camarb_client *client = session->client;
    struct memory *memory = &session->memory;
    uint64_t id = memory->warned ? memory->warned : memory->last_interruption + 1;
    memory->last_interruption = id;
    memory->open = (struct interruption){
        .is_open = true, .id = id, .causes = words_of(client, CAUSE_BROKER_RESTARTED),
        .causes_it_had = words_of(client, CAUSE_BROKER_RESTARTED), .recording = memory->recording, .since = now_ns(),
        .is_carried = true};
    struct event *event = event_new(client, CAMARB_EVENT_WAS_INTERRUPTED);
    if (!event) return;
    event->told.interruption = id;
    event->told.recording = memory->recording;
    event->told.causes = words_of(client, CAUSE_BROKER_RESTARTED);
    event->told.rule = text_copy(client, RULE_BROKER_RESTARTED);
    memory_tell(session, event);
}

/* A recording ends with its broker, also one that was cut and whose end was not said yet. Its figures are known to nobody any more. The
 * next broker counts from 1. */
static void recording_lost(camarb_session *session) {
    camarb_client *client = session->client;
    struct memory *memory = &session->memory;
    struct event *event = memory->recording ? event_new(client, CAMARB_EVENT_RECORDING_FINISHED) : NULL;
    if (event) {
        event->told.recording = memory->recording;
        event->told.frames = event->told.bytes = CAMARB_UNKNOWN;
        event->told.duration = -1;
        event->told.reason = text_copy(client, "interrupted");
        event->told.cause = text_copy(client, CAUSE_BROKER_RESTARTED);
        event->told.next_chance = text_copy(client, "when-interruption-ends");
        memory_tell(session, event);
    }
    memory->recording = 0;
    memory->last_recording_finished = 0;
}

/* The program's events at a broker's end. */
static void loss(camarb_session *session) {
    camarb_client *client = session->client;
    struct memory *memory = &session->memory;
    if (memory->open.is_open) {
        words restarted = words_of(client, CAUSE_BROKER_RESTARTED);
        words causes = causes_union(client, memory->open.causes, restarted);
        memory->open.is_carried = true;
        char *interrupter = text_copy(client, memory->open.interrupter);
        memory_changed(session, (struct interruption_words){causes, interrupter, RULE_BROKER_RESTARTED, ""}, 0);
        free(interrupter);
        words_free(causes);
        words_free(restarted);
    } else if (memory->wants_to_run) {
        tell_interruption(session);
    }
    memory->warned = 0;
    sharers_gone(session);
    if (memory->is_running) memory_tell(session, event_new(client, CAMARB_EVENT_DID_STOP_RUNNING));
    memory_runs_no_more(memory);
    recording_lost(session);
}

static void photos_lost(camarb_session *session) {
    struct memory *memory = &session->memory;
    for (size_t i = 0; i < memory->photo_count; i++) {
        struct event *event = event_new(session->client, CAMARB_EVENT_PHOTO_CAPTURED);
        if (!event) continue;
        event->told.photo = memory->photos[i];
        event->told.error = text_copy(session->client, "The broker ended before the photo was taken.");
        memory_tell(session, event);
    }
    memory->photo_count = memory->photo_done_count = 0;
}

/* The connection has ended: what the program is told now. The rest is held back for a while where the next broker may leave the
 * session as it was. */
void memory_lost(camarb_session *session) {
    struct memory *memory = &session->memory;
    struct hold *hold = &memory->hold;
    photos_lost(session);
    int64_t until = hold->kind == HOLD_NONE ? now_ns() + HOLD_TIME_MAX : hold->until;
    bool waits = hold->kind == HOLD_WAITING;
    bool runs = hold->kind == HOLD_RUNNING || hold->kind == HOLD_RECLAIMING;
    if (hold->kind == HOLD_NONE) {
        runs = memory_is_reclaimable(memory);
        waits = !runs && memory->wants_to_run && memory->open.is_open
            && !words_have(memory->open.causes, CAUSE_BROKER_RESTARTED);
        if (waits) {
            memory->open.is_carried = true;
            recording_lost(session);
        }
        if (!runs && !waits) loss(session);
    }
    /* Another broker may have ended before anything was settled: time goes on. */
    hold_clear(hold);
    if (runs || waits) *hold = (struct hold){.kind = runs ? HOLD_RUNNING : HOLD_WAITING, .until = until};
    begin_with_another_broker(memory);
}

/* ── Holding back ───────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* The secret for the present broker in place of a start; NULL: the session is started like any other. */
const char *memory_begin_reclaiming(camarb_session *session) {
    struct memory *memory = &session->memory;
    if (memory->hold.kind != HOLD_RUNNING || !memory->secret[0]) return NULL;
    memory->hold.kind = HOLD_RECLAIMING;
    return memory->secret;
}

void memory_goes_on(camarb_session *session) {
    struct memory *memory = &session->memory;
    hold_clear(&memory->hold);
    memory_has_new_grant(memory);
    /* Once frames flow there, which the broker's AccessChanged says. */
    memory->wants_secret = false;
    memory->is_settling = true;
    memory->knows_in_force = true;
    /* Whoever was about to take the camera asks anew. */
    struct event *event = memory->warned ? event_new(session->client, CAMARB_EVENT_INTERRUPTION_WITHDRAWN) : NULL;
    if (event) {
        event->told.interruption = memory->warned;
        memory_tell(session, event);
    }
    memory->warned = 0;
    sharers_gone(session);
}

/* The present broker has given the session back: it never stopped. */
void memory_reclaimed(camarb_session *session) {
    if (session->memory.hold.kind == HOLD_RECLAIMING) memory_goes_on(session);
}

/* The present broker has not: it is as if nothing had been held back. */
void memory_not_reclaimed(camarb_session *session) {
    if (session->memory.hold.kind == HOLD_RECLAIMING) memory_tell_held(session);
}

/* The present broker knows it, and says by itself what has become of it. */
void memory_is_back(camarb_session *session) {
    struct hold *hold = &session->memory.hold;
    if (hold->kind == HOLD_WAITING) hold->is_back = true;
}

/* Sends the events that were held back. */
void memory_tell_held(camarb_session *session) {
    struct memory *memory = &session->memory;
    struct hold held = memory->hold;
    memory->hold = (struct hold){0};
    if (held.kind == HOLD_WAITING && held.is_back) {
        if (held.has_said) memory_changed(session, (struct interruption_words){held.causes, held.interrupter, held.rule, held.message}, 0);
    } else if (held.kind != HOLD_NONE) {
        loss(session);
        begin_with_another_broker(memory);
    }
    hold_clear(&held);
}

/* The next broker does not take the session: it has stopped for good, and may be started again. */
void memory_refused(camarb_session *session, const char *error_name, const char *error) {
    camarb_client *client = session->client;
    memory_tell_held(session);
    memory_end_carried(session, NULL, false, 0);
    session->memory.wants_to_run = false;
    session_note_refusal(session, error);
    session_tell_runtime_error(session, error_name, error);
    struct event *event = event_new(client, CAMARB_EVENT_SESSION_STOPPED);
    if (!event) return;
    event->told.reason = text_copy(client, "denied-by-policy");
    event->told.rule = text_copy(client, RULE_BROKER_RESTARTED);
    memory_tell(session, event);
}

void memory_stopped_while_away(camarb_session *session) {
    memory_tell_held(session);
    memory_end_carried(session, NULL, false, 0);
    session->memory.wants_to_run = false;
}
