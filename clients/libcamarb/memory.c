/* A session's wishes and last notices, and the part of a broker's signals that its program receives.
 *
 * The program sees one life of the session where there are several: sequence numbers go on without a gap, and the interruption that
 * a broker's end is stays the same one until the next broker ends it. */
#include "inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static words all_access(camarb_client *client) {
    return words_copy(client, (const char *[]){"preview", "photo", "record", "configure", NULL});
}

int memory_begin(camarb_client *client, struct memory *memory, const char *camera, const camarb_configuration *configuration) {
    *memory = (struct memory){.expected = 1};
    memory->camera = text_copy(client, camera);
    memory->access = all_access(client);
    return configuration_merge(&memory->configuration, configuration);
}

static void interruption_clear(struct interruption *interruption) {
    words_free(interruption->causes);
    words_free(interruption->causes_it_had);
    free(interruption->interrupter);
    free(interruption->message);
    *interruption = (struct interruption){0};
}

void memory_free(struct memory *memory) {
    free(memory->camera);
    configuration_clear(&memory->configuration);
    configuration_clear(&memory->batch);
    memory_forget_others(memory);
    hold_clear(&memory->hold);
    words_free(memory->access);
    words_free(memory->access_causes);
    free(memory->access_message);
    free(memory->controller);
    free(memory->stop_message);
    camarb_configuration_free(memory->in_force);
    interruption_clear(&memory->open);
    words_free(memory->sharers);
    *memory = (struct memory){0};
}

/* ── What the program asked ─────────────────────────────────────────────────────────────────────────────────────────────────── */

void memory_remember_recording(camarb_session *session, uint64_t recording) {
    struct memory *memory = &session->memory;
    if (recording > memory->last_recording_finished) memory->recording = recording;
}

static bool take(uint64_t *numbers, size_t *count, uint64_t number) {
    for (size_t i = 0; i < *count; i++)
        if (numbers[i] == number) {
            memmove(&numbers[i], &numbers[i + 1], (*count - i - 1) * sizeof *numbers);
            --*count;
            return true;
        }
    return false;
}

static void keep(uint64_t *numbers, size_t *count, size_t most, uint64_t number) {
    if (*count == most) take(numbers, count, numbers[0]);
    numbers[(*count)++] = number;
}

void memory_remember_photo(camarb_session *session, uint64_t photo) {
    struct memory *memory = &session->memory;
    if (!take(memory->photos_done, &memory->photo_done_count, photo))
        keep(memory->photos, &memory->photo_count, PHOTOS_MAX, photo);
}

/* ── What is told ───────────────────────────────────────────────────────────────────────────────────────────────────────────── */

void memory_tell(camarb_session *session, struct event *event) {
    if (!event) return;
    event->told.session = session;
    event->told.sequence = ++session->memory.sequence;
    if (!event->told.reason && event->told.causes && event->told.type != CAMARB_EVENT_ACCESS_CHANGED
        && event->told.type != CAMARB_EVENT_INTERRUPTION_ENDED)
        event->told.reason = text_copy(session->client, event->told.causes[0]);
    event_push(session->client, event);
}

uint64_t memory_brokers_number(const struct memory *memory, uint64_t interruption) {
    return interruption > memory->offset ? interruption - memory->offset : interruption;
}

static uint64_t see(struct memory *memory, uint64_t interruption) {
    uint64_t mine = interruption + memory->offset;
    if (mine > memory->last_interruption) memory->last_interruption = mine;
    return mine;
}

void memory_changed(camarb_session *session, struct interruption_words said, uint64_t decision) {
    camarb_client *client = session->client;
    struct interruption *open = &session->memory.open;
    if (!open->is_open
        || (words_equal(open->causes, said.causes) && text_equals(open->interrupter, said.interrupter)
            && text_equals(open->message, said.message)))
        return;
    words had = causes_union(client, open->causes_it_had, said.causes);
    char *named = text_copy(client, said.interrupter), *message = text_copy(client, said.message);
    words_free(open->causes);
    words_free(open->causes_it_had);
    free(open->interrupter);
    free(open->message);
    open->causes = words_copy(client, said.causes);
    open->causes_it_had = had;
    open->interrupter = named;
    open->message = message;
    struct event *event = event_new(client, CAMARB_EVENT_INTERRUPTION_CHANGED);
    if (!event) return;
    event->told.interruption = open->id;
    event->told.decision = decision;
    event->told.causes = words_copy(client, said.causes);
    event->told.interrupter = text_copy(client, said.interrupter);
    event->told.rule = text_copy(client, said.rule);
    event->told.message = text_copy(client, said.message);
    memory_tell(session, event);
}

/* The end of an interruption that began under a broker that is gone: with all the causes that it had, and for as long. */
static void tell_end(
    camarb_session *session, words causes, bool will_resume, uint64_t recording, uint64_t decision) {
    camarb_client *client = session->client;
    struct interruption *open = &session->memory.open;
    struct event *event = event_new(client, CAMARB_EVENT_INTERRUPTION_ENDED);
    if (event) {
        event->told.interruption = open->id;
        event->told.decision = decision;
        event->told.duration = now_ns() - open->since;
        event->told.will_resume = will_resume;
        event->told.recording = recording ? recording : open->recording;
        event->told.causes = causes_union(client, open->causes_it_had, causes);
    }
    interruption_clear(open);
    memory_tell(session, event);
}

void memory_end_carried(camarb_session *session, words causes, bool will_resume, uint64_t decision) {
    struct memory *memory = &session->memory;
    if (!memory->open.is_open || !memory->open.is_carried) return;
    memory->offset = memory->open.id;
    tell_end(session, causes, will_resume, 0, decision);
}

void memory_runs_no_more(struct memory *memory) {
    memory->is_running = false;
    memory->secret[0] = 0;
    memory->wants_secret = false;
    memory->is_settling = false;
    memory->knows_in_force = false;
}

void memory_has_new_grant(struct memory *memory) {
    memory->run++;
    memory->secret[0] = 0;
    memory->wants_secret = true;
}

/* ── What the broker says: whether the program is told, in so far as it has not been told already ────────────────────────────── */

static struct interruption_words said_of(const struct event *event) {
    return (struct interruption_words){event->told.causes, event->told.interrupter, event->told.rule, event->told.message};
}

static bool was_interrupted(camarb_session *session, struct event *event) {
    camarb_client *client = session->client;
    struct memory *memory = &session->memory;
    memory->warned = 0;
    /* A session that is interrupted has asked to run, also where the broker ends before it has said so in its answer. */
    memory->wants_to_run = true;
    uint64_t mine = see(memory, event->told.interruption);
    if (hold_notes(client, &memory->hold, said_of(event))) return false;
    if (memory->open.is_open && memory->open.is_carried) {
        memory_changed(session, said_of(event), event->told.decision);
        return false;
    }
    interruption_clear(&memory->open);
    memory->open = (struct interruption){
        .is_open = true, .id = mine, .causes = words_copy(client, event->told.causes),
        .causes_it_had = words_copy(client, event->told.causes),
        .interrupter = text_copy(client, event->told.interrupter), .message = text_copy(client, event->told.message),
        .recording = event->told.recording,
        .since = now_ns()};
    event->told.interruption = mine;
    return true;
}

static bool interruption_changed(camarb_session *session, struct event *event) {
    if (!hold_notes(session->client, &session->memory.hold, said_of(event)))
        memory_changed(session, said_of(event), event->told.decision);
    return false;
}

static bool interruption_ended(camarb_session *session, struct event *event) {
    struct memory *memory = &session->memory;
    hold_clear(&memory->hold);
    if (memory->open.is_open && memory->open.is_carried) {
        tell_end(session, event->told.causes, event->told.will_resume, event->told.recording, event->told.decision);
        return false;
    }
    interruption_clear(&memory->open);
    event->told.interruption += memory->offset;
    return true;
}

static void did_start(camarb_session *session, struct event *event) {
    struct memory *memory = &session->memory;
    hold_clear(&memory->hold);
    memory->is_running = memory->wants_to_run = true;
    memory_has_new_grant(memory);
    memory->grant = event->told.grant;
    words_free(memory->access);
    words_free(memory->access_causes);
    free(memory->access_message);
    memory->access = all_access(session->client);
    memory->access_causes = NULL;
    memory->access_message = NULL;
    free(memory->controller);
    memory->controller = NULL;
    session_forget_stop(session);
    /* The stream of an earlier grant is over, whether its end has been read or not. */
    if (session->stream) stream_end(session->stream);
    session->stream_due = 0;
    session->wants_properties = true;
    memory_end_carried(session, NULL, true, event->told.decision);
}

static void session_stopped(camarb_session *session, struct event *event) {
    struct memory *memory = &session->memory;
    hold_clear(&memory->hold);
    memory_runs_no_more(memory);
    memory->wants_to_run = false;
    free(session->stop_reason);
    session->stop_reason = text_copy(session->client, event->told.reason);
    free(memory->stop_message);
    memory->stop_message = text_copy(session->client, event->told.message);
    memory_end_carried(session, NULL, false, event->told.decision);
    /* It closes an interruption of this broker's by itself. */
    interruption_clear(&memory->open);
}

static bool recording_finished(camarb_session *session, struct event *event) {
    struct memory *memory = &session->memory;
    uint64_t recording = event->told.recording;
    /* Told by the broker before, which ended over it. */
    if (recording <= memory->last_recording_finished && recording != memory->recording) return false;
    if (recording > memory->last_recording_finished) memory->last_recording_finished = recording;
    memory->recording = 0;
    return true;
}

/* The next broker says again that it is paused. */
static bool recording_paused(camarb_session *session, struct event *event) {
    struct memory *memory = &session->memory;
    bool is_paused = event->told.type == CAMARB_EVENT_RECORDING_PAUSED, is_known = is_paused && memory->is_paused;
    memory->is_paused = is_paused;
    return !is_known;
}

static bool access_changed(camarb_session *session, struct event *event) {
    camarb_client *client = session->client;
    struct memory *memory = &session->memory;
    bool is_known = memory->is_settling && words_equal(memory->access, event->told.access)
        && words_equal(memory->access_causes, event->told.causes) && text_equals(memory->controller, event->told.controller);
    /* The grant is of whoever controls the camera. */
    bool has_control = text_equals(event->told.controller, NULL), had_control = text_equals(memory->controller, NULL);
    if (memory->is_settling || (has_control && !had_control)) memory->wants_secret = true;
    if (!has_control) memory->secret[0] = 0;
    memory->is_settling = false;
    words_free(memory->access);
    words_free(memory->access_causes);
    memory->access = words_copy(client, event->told.access);
    memory->access_causes = words_copy(client, event->told.causes);
    free(memory->access_message);
    memory->access_message = text_copy(client, event->told.message);
    free(memory->controller);
    memory->controller = text_copy(client, event->told.controller);
    return !is_known;
}

static bool configuration_applied(camarb_session *session, struct event *event) {
    camarb_client *client = session->client;
    struct memory *memory = &session->memory;
    camarb_configuration *now = configuration_copy(client, event->told.in_force);
    memory_learn(memory, client, event);
    /* Said where a session was switched to it, and there alone. */
    if (now) configuration_remove(now, "camera");
    bool is_known = memory->knows_in_force && configuration_equals(memory->in_force, now);
    memory->knows_in_force = false;
    camarb_configuration_free(memory->in_force);
    memory->in_force = now;
    camarb_configuration *shown = configuration_copy(client, event->told.in_force);
    if (shown) {
        camarb_configuration_free(session->shown);
        session->shown = shown;
    }
    return !is_known;
}

/* The configuration in force goes on with it: memory that cannot be had shows at the next whole one. */
static void camera_state_changed(camarb_session *session, struct event *event) {
    struct memory *memory = &session->memory;
    if ((memory->in_force && configuration_merge(memory->in_force, event->told.in_force) == -ENOMEM)
        || (session->shown && configuration_merge(session->shown, event->told.in_force) == -ENOMEM))
        session->client->is_out_of_memory = true;
}

void memory_arrived(camarb_session *session, struct event *event, uint64_t sequence) {
    struct memory *memory = &session->memory;
    bool is_told = true;
    memory->expected = sequence + 1;
    /* Whatever a broker says of a session that is shown as running there, it has given it back. */
    if (memory->hold.kind == HOLD_RECLAIMING) memory_goes_on(session);
    switch (event->told.type) {
    case CAMARB_EVENT_WILL_BE_INTERRUPTED:
        event->told.interruption = memory->warned = see(memory, event->told.interruption);
        break;
    case CAMARB_EVENT_INTERRUPTION_WITHDRAWN:
        memory->warned = 0;
        event->told.interruption += memory->offset;
        break;
    case CAMARB_EVENT_WAS_INTERRUPTED: is_told = was_interrupted(session, event); break;
    case CAMARB_EVENT_INTERRUPTION_CHANGED: is_told = interruption_changed(session, event); break;
    case CAMARB_EVENT_INTERRUPTION_ENDED: is_told = interruption_ended(session, event); break;
    case CAMARB_EVENT_DID_START_RUNNING: did_start(session, event); break;
    case CAMARB_EVENT_DID_STOP_RUNNING: memory_runs_no_more(memory); break;
    case CAMARB_EVENT_ACCESS_CHANGED: is_told = access_changed(session, event); break;
    case CAMARB_EVENT_SHARERS_CHANGED:
        words_free(memory->sharers);
        memory->sharers = words_copy(session->client, event->told.sharers);
        break;
    case CAMARB_EVENT_SESSION_STOPPED: session_stopped(session, event); break;
    case CAMARB_EVENT_RECORDING_STARTED:
        memory->recording = event->told.recording;
        memory->is_paused = false;
        break;
    case CAMARB_EVENT_RECORDING_FINISHED: is_told = recording_finished(session, event); break;
    case CAMARB_EVENT_PHOTO_CAPTURED:
        if (!take(memory->photos, &memory->photo_count, event->told.photo))
            keep(memory->photos_done, &memory->photo_done_count, PHOTOS_DONE_MAX, event->told.photo);
        break;
    case CAMARB_EVENT_CONFIGURATION_APPLIED: is_told = configuration_applied(session, event); break;
    case CAMARB_EVENT_CAMERA_STATE_CHANGED: camera_state_changed(session, event); break;
    case CAMARB_EVENT_RECORDING_PAUSED:
    case CAMARB_EVENT_RECORDING_RESUMED: is_told = recording_paused(session, event); break;
    case CAMARB_EVENT_RAMP_FINISHED:
    case CAMARB_EVENT_CONNECTIONS_FORMED:
    case CAMARB_EVENT_RUNTIME_ERROR: break;
    case CAMARB_EVENT_ANSWERED:
    case CAMARB_EVENT_CAMERAS_CHANGED:
    case CAMARB_EVENT_DISCONNECTED:
    case CAMARB_EVENT_ENDED: is_told = false; break;
    }
    if (is_told) memory_tell(session, event);
    else event_free(event);
}
