/* Sessions, as the program has them. */
#include "inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ── Life ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static void session_clear(camarb_session *session) {
    session_drop_slots(session);
    if (session->stream) stream_end(session->stream);
    memory_free(&session->memory);
    free(session->end_name);
    free(session->end_sentence);
    event_free(session->end_event);
    session_forget_stop(session);
    free(session->known_camera);
    camarb_configuration_free(session->shown);
    free(session);
}

camarb_session *camarb_session_new(camarb_client *client, const char *camera, const camarb_configuration *configuration) {
    int result;
    struct call *call = call_make(client, NULL, CALL_CREATE_SESSION, &result);
    if (!call) return NULL;
    if (client->session_count == SESSIONS_MAX) {
        call_free(call);
        fail(client, -EAGAIN, NULL, "The client has %d sessions, which is the most; free one first.", SESSIONS_MAX);
        return NULL;
    }
    if (camera && !text_is_utf8(camera)) {
        call_free(call);
        fail(client, -EINVAL, NULL, "The camera's id is not a text: it takes UTF-8.");
        return NULL;
    }
    camarb_session *session = calloc(1, sizeof *session);
    if (session) {
        session->client = client;
        session->shown = configuration_copy(client, configuration);
        session->end_event = event_new(client, CAMARB_EVENT_ENDED);
        if (memory_begin(client, &session->memory, camera, configuration) < 0) client->is_out_of_memory = true;
    }
    if (!session || client->is_out_of_memory) {
        client->is_out_of_memory = false;
        if (session) session_clear(session);
        call_free(call);
        fail(client, -ENOMEM, ERROR_OUT_OF_RESOURCES, "There was no memory for the session.");
        return NULL;
    }
    camarb_session **place = &client->sessions;
    while (*place) place = &(*place)->next;
    *place = session;
    client->session_count++;
    call->session = session;
    call_ask(call);
    return session;
}

void camarb_session_free(camarb_session *session) {
    if (!session) return;
    camarb_client *client = session->client;
    calls_forget(client, session);
    back_forget(client, session);
    events_forget(client, session);
    /* In a child of the program the connection is the parent's. */
    if (session->id && client->owner == getpid()) session_close_at_broker(client, session->id);
    camarb_session **place = &client->sessions;
    while (*place != session) place = &(*place)->next;
    *place = session->next;
    client->session_count--;
    session_clear(session);
    if (client->owner == getpid()) client_arm(client);
}

void session_free_all(camarb_client *client) {
    while (client->sessions) {
        camarb_session *session = client->sessions;
        client->sessions = session->next;
        session_clear(session);
    }
}

void session_end(camarb_session *session, const char *error_name, const char *error) {
    if (session->has_ended) return;
    camarb_client *client = session->client;
    session->has_ended = true;
    session->id = 0;
    session->end_name = text_copy(client, session->was_created ? ERROR_UNKNOWN_SESSION : error_name);
    session->end_sentence = text_copy(client, error);
    session_drop_slots(session);
    if (session->stream) stream_end(session->stream);
    memory_runs_no_more(&session->memory);
    hold_clear(&session->memory.hold);
    struct event *event = session->end_event;
    session->end_event = NULL;
    if (!event) return;
    event->told.session = session;
    event->told.sequence = ++session->memory.sequence;
    event->told.error_name = text_copy(client, error_name);
    event->told.error = text_copy(client, error);
    event_push_last(client, event);
}

void session_drop_slots(camarb_session *session) {
    session->secret_slot = sd_bus_slot_unref(session->secret_slot);
    session->stream_slot = sd_bus_slot_unref(session->stream_slot);
    session->properties_slot = sd_bus_slot_unref(session->properties_slot);
}

void session_note_refusal(camarb_session *session, const char *error) {
    free(session->refusal);
    session->refusal = text_copy(session->client, error);
}

void session_forget_stop(camarb_session *session) {
    free(session->refusal);
    free(session->stop_reason);
    free(session->memory.stop_message);
    session->refusal = session->stop_reason = session->memory.stop_message = NULL;
}

void session_tell_runtime_error(camarb_session *session, const char *error_name, const char *error) {
    struct event *event = event_new(session->client, CAMARB_EVENT_RUNTIME_ERROR);
    if (!event) return;
    event->told.error_name = text_copy(session->client, error_name);
    event->told.error = text_copy(session->client, error);
    memory_tell(session, event);
}

/* ── At the broker ──────────────────────────────────────────────────────────────────────────────────────────────────────────── */

camarb_session *session_find(camarb_client *client, uint64_t id) {
    if (id == 0) return NULL;
    for (camarb_session *session = client->sessions; session; session = session->next)
        if (session->id == id) return session;
    return NULL;
}

int session_send_creation(
    camarb_client *client, camarb_session *session, sd_bus_slot **slot, sd_bus_message_handler_t handler, void *context) {
    const struct memory *memory = &session->memory;
    sd_bus_message *message = call_message(client, 0, "CreateSession");
    if (!message) return -ENOMEM;
    int result = sd_bus_message_append(message, "s", memory->camera ? memory->camera : "");
    /* Where it ran, it waits for nobody: the camera that it had is kept for it for a while. */
    if (result >= 0)
        result = configuration_append(message, &memory->configuration, session->was_created && memory_was_running(memory));
    if (result < 0) {
        sd_bus_message_unref(message);
        return result;
    }
    return call_send(client, message, slot, handler, context);
}

uint64_t session_number(sd_bus_message *answer) {
    const char *path;
    if (sd_bus_message_read(answer, "o", &path) <= 0 || strncmp(path, SESSION_PATH, strlen(SESSION_PATH)) != 0) return 0;
    char *end;
    errno = 0;
    uint64_t id = strtoull(path + strlen(SESSION_PATH), &end, 10);
    return *end || errno ? 0 : id;
}

/* Of Session1: the camera's id, and what is in force. */
static int read_property(sd_bus_message *message, const char *key, void *into) {
    camarb_session *session = into;
    if (strcmp(key, "Camera") == 0) {
        const char *camera;
        int result = word_read(message, &camera);
        if (result <= 0) return result;
        free(session->known_camera);
        session->known_camera = text_copy(session->client, camera);
        return 1;
    }
    if (strcmp(key, "Configuration") == 0) {
        int result = variant_is(message, "a{sv}");
        if (result <= 0) return result;
        result = sd_bus_message_enter_container(message, 'v', "a{sv}");
        /* A running session receives all that is in force, perhaps since this was asked. */
        if (!session->memory.is_running) configuration_clear(session->shown);
        if (result >= 0) result = configuration_read(message, session->shown);
        if (result >= 0) result = sd_bus_message_exit_container(message);
        return result < 0 ? result : 1;
    }
    return 0;
}

static int properties_answered(sd_bus_message *answer, void *context, sd_bus_error *ignored) {
    (void)ignored;
    camarb_session *session = context;
    if (!answer_is_real(answer)) return 0;
    session->properties_slot = sd_bus_slot_unref(session->properties_slot);
    /* Where they cannot be read, what was told before stands. */
    if (!sd_bus_message_get_error(answer) && dictionary_read(answer, read_property, session) == -ENOMEM)
        session->client->is_out_of_memory = true;
    return 0;
}

static void ask_for_properties(camarb_session *session) {
    camarb_client *client = session->client;
    session->wants_properties = false;
    char path[64];
    snprintf(path, sizeof path, SESSION_PATH "%llu", (unsigned long long)session->id);
    sd_bus_message *message = NULL;
    int result = sd_bus_message_new_method_call(client->bus, &message, NULL, path, "org.freedesktop.DBus.Properties", "GetAll");
    if (result >= 0) result = sd_bus_message_append(message, "s", SESSION_INTERFACE);
    session->properties_slot = sd_bus_slot_unref(session->properties_slot);
    if (result >= 0) call_send(client, message, &session->properties_slot, properties_answered, session);
    else sd_bus_message_unref(message);
}

void session_is_known(camarb_session *session, uint64_t id) {
    session->id = id;
    session->was_created = true;
    session->memory.expected = 1;
    session->wants_properties = true;
}

void session_close_at_broker(camarb_client *client, uint64_t id) {
    if (!client->bus || id == 0) return;
    sd_bus_message *message = call_message(client, id, "Close");
    if (message) call_send(client, message, NULL, NULL, NULL);
}

/* ── What it lacks ──────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static int secret_answered(sd_bus_message *answer, void *context, sd_bus_error *ignored) {
    (void)ignored;
    camarb_session *session = context;
    struct memory *memory = &session->memory;
    if (!answer_is_real(answer)) return 0;
    session->secret_slot = sd_bus_slot_unref(session->secret_slot);
    const char *secret;
    /* A broker that knows no secrets, or a session that has no camera of its own: as if there were none. */
    if (sd_bus_message_get_error(answer) || sd_bus_message_read(answer, "s", &secret) <= 0) return 0;
    if (!memory->is_running || session->secret_run != memory->run || strlen(secret) >= sizeof memory->secret) return 0;
    snprintf(memory->secret, sizeof memory->secret, "%s", secret);
    return 0;
}

static void ask_for_secret(camarb_session *session) {
    session->memory.wants_secret = false;
    session->secret_run = session->memory.run;
    session->secret_slot = sd_bus_slot_unref(session->secret_slot);
    sd_bus_message *message = call_message(session->client, session->id, "GetReclaimSecret");
    if (message) call_send(session->client, message, &session->secret_slot, secret_answered, session);
}

/* A failed stream is tried again when its pause is over, as long as the session runs; a refusal because of a change on its way is no fault.
 * */
static int stream_answered(sd_bus_message *answer, void *context, sd_bus_error *ignored) {
    (void)ignored;
    camarb_session *session = context;
    if (!answer_is_real(answer)) return 0;
    session->stream_slot = sd_bus_slot_unref(session->stream_slot);
    session->stream_due = now_ns() + STREAM_PAUSE;
    const sd_bus_error *error = sd_bus_message_get_error(answer);
    if (error) {
        int number = error_number(error->name);
        bool is_passing = number == -EBADFD || number == -EBUSY || number == -EDQUOT || number == -ESTALE || number == -ENOMEM;
        if (is_passing) return 0;
        session->broken_run = session->memory.run;
        session_tell_runtime_error(session, error->name, error->message);
        return 0;
    }
    int descriptor;
    if (sd_bus_message_read(answer, "h", &descriptor) <= 0) return 0;
    /* It was for a grant that is over by now. */
    if (session->stream_run != session->memory.run || !session->wants_pictures || session->stream) {
        session->stream_due = 0;
        return 0;
    }
    int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (own >= 0) stream_adopt(session, own);
    return 0;
}

/* When it opens its next stream; NEVER: it lacks none, or cannot have one now. */
int64_t session_stream_due(const camarb_session *session) {
    const struct memory *memory = &session->memory;
    bool lacks = session->wants_pictures && !session->stream && !session->stream_slot && session->id && memory->is_running
        && memory->hold.kind == HOLD_NONE && words_have(memory->access, "preview") && session->broken_run != memory->run
        && session->client->phase == PHASE_CONNECTED;
    return lacks ? session->stream_due : NEVER;
}

void session_ask(camarb_session *session) {
    camarb_client *client = session->client;
    if (client->phase != PHASE_CONNECTED || !session->id || client->end_number) return;
    if (session->memory.wants_secret) ask_for_secret(session);
    if (session->wants_properties) ask_for_properties(session);
    int64_t due = session_stream_due(session);
    if (due == NEVER || now_ns() < due) return;
    session->stream_run = session->memory.run;
    sd_bus_message *message = call_message(client, session->id, "OpenStream");
    if (message) call_send(client, message, &session->stream_slot, stream_answered, session);
}

/* ── What the program asks ──────────────────────────────────────────────────────────────────────────────────────────────────── */

camarb_call camarb_session_start(camarb_session *session) {
    if (session) session_forget_stop(session);
    return call_of_session(session, CALL_START, 0);
}

camarb_call camarb_session_stop(camarb_session *session) {
    camarb_call call = call_of_session(session, CALL_STOP, 0);
    /* Nobody's camera is opened for a program that has said meanwhile that it wants it no more. */
    if (call > 0 && session->needs_putting_back) memory_stopped_while_away(session);
    return call;
}

camarb_call camarb_session_ready(camarb_session *session, uint64_t interruption) {
    return call_of_session(session, CALL_READY, interruption);
}

camarb_call camarb_session_continue(camarb_session *session) { return call_of_session(session, CALL_CONTINUE, 0); }

camarb_call camarb_session_stop_recording(camarb_session *session) { return call_of_session(session, CALL_STOP_RECORDING, 0); }

camarb_call camarb_session_pause_recording(camarb_session *session) { return call_of_session(session, CALL_PAUSE_RECORDING, 0); }

camarb_call camarb_session_resume_recording(camarb_session *session) { return call_of_session(session, CALL_RESUME_RECORDING, 0); }

camarb_call camarb_session_configure(camarb_session *session, const camarb_configuration *batch) {
    return session ? call_with_configuration(session->client, session, CALL_CONFIGURE, batch) : -EINVAL;
}

camarb_call camarb_session_check_configuration(camarb_session *session, const camarb_configuration *batch) {
    return session ? call_with_configuration(session->client, session, CALL_CHECK, batch) : -EINVAL;
}

/* A photo's or recording's call with the caller's file and options. What files will do is the broker's to say; that it is one at
 * all is looked at here, where the sentence can name it. */
static camarb_call ask_with_file(camarb_session *session, enum call_kind kind, int file, const camarb_configuration *options) {
    if (!session) return -EINVAL;
    int result;
    struct call *call = call_make(session->client, session, kind, &result);
    if (!call) return result;
    result = call_duplicate(call, file, &call->file);
    if (result < 0) return result;
    if (options) call->configuration = configuration_copy(session->client, options);
    return call_ask(call);
}

camarb_call camarb_session_capture_photo(camarb_session *session, int file, const camarb_configuration *options) {
    return ask_with_file(session, CALL_PHOTO, file, options);
}

camarb_call camarb_session_start_recording(camarb_session *session, int file, const camarb_configuration *options) {
    return ask_with_file(session, CALL_START_RECORDING, file, options);
}

/* ── What it is ─────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

void camarb_session_set_tag(camarb_session *session, void *tag) {
    if (session) session->tag = tag;
}

void *camarb_session_tag(const camarb_session *session) { return session ? session->tag : NULL; }

static bool is_being_started(const camarb_session *session) {
    bool is = session->memory.wants_to_run;
    for (const struct call *call = session->client->calls; call; call = call->next)
        if (call->session == session && (call->kind == CALL_START || call->kind == CALL_STOP)) is = call->kind == CALL_START;
    return is;
}

enum camarb_state camarb_session_state(const camarb_session *session) {
    if (!session || session->has_ended) return CAMARB_ENDED;
    if (session->memory.open.is_open) return CAMARB_INTERRUPTED;
    if (session->memory.is_running) return CAMARB_RUNNING;
    return is_being_started(session) ? CAMARB_STARTING : CAMARB_STOPPED;
}

const camarb_configuration *camarb_session_configuration(const camarb_session *session) {
    static const camarb_configuration empty = {0};
    return session ? session->shown : &empty;
}

const char *camarb_session_camera(const camarb_session *session) {
    if (!session) return "";
    if (session->memory.camera) return session->memory.camera;
    return session->known_camera ? session->known_camera : "";
}

/* ── Slates ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* The camera's name for people, where the client knows it. */
static const char *shown_name(const camarb_session *session) {
    const char *camera = camarb_session_camera(session);
    const struct cameras *cameras = &session->client->cameras;
    for (size_t i = 0; i < cameras->count; i++)
        if (strcmp(cameras->list[i].id, camera) == 0 && cameras->list[i].name[0]) return cameras->list[i].name;
    return camera;
}

static bool slate_is(camarb_slate *slate, enum camarb_slate_kind kind, const char *reason, const char *interrupter) {
    slate->kind = kind;
    slate->reason = reason ? reason : "";
    slate->interrupter = interrupter ? interrupter : "";
    return true;
}

bool camarb_session_slate(const camarb_session *session, camarb_slate *slate) {
    if (!session || !slate) return false;
    const camarb_client *client = session->client;
    const struct memory *memory = &session->memory;
    *slate = (camarb_slate){.camera = shown_name(session), .shows_interrupter = client->slates_show_names};
    if (client->end_number) return slate_is(slate, CAMARB_SLATE_NO_BROKER, client->end_sentence, NULL);
    if (session->has_ended) return slate_is(slate, CAMARB_SLATE_NO_ACCESS, session->end_sentence, NULL);
    bool has_broker = client->phase == PHASE_CONNECTED || !client->was_connected;
    /* In the place of the reason's sentence. */
    const char *message = memory->open.is_open ? memory->open.message : memory->is_running ? memory->access_message : memory->stop_message;
    slate->message = message ? message : "";
    if (memory->open.is_open) {
        const char *reason = memory->open.causes ? memory->open.causes[0] : NULL;
        if (!has_broker && memory->hold.kind == HOLD_NONE) return slate_is(slate, CAMARB_SLATE_NO_BROKER, reason, NULL);
        bool is_switch = reason && strcmp(reason, "video-device-blocked-by-privacy") == 0;
        return slate_is(slate, is_switch ? CAMARB_SLATE_SWITCHED_OFF : CAMARB_SLATE_INTERRUPTED, reason, memory->open.interrupter);
    }
    if (memory->is_running) {
        if (words_have(memory->access, "preview")) return false;
        return slate_is(slate, CAMARB_SLATE_INTERRUPTED, memory->access_causes ? memory->access_causes[0] : NULL, NULL);
    }
    if (is_being_started(session)) return slate_is(slate, has_broker ? CAMARB_SLATE_WAITING : CAMARB_SLATE_NO_BROKER, NULL, NULL);
    if (session->refusal) return slate_is(slate, CAMARB_SLATE_NO_ACCESS, session->refusal, NULL);
    if (session->stop_reason) return slate_is(slate, CAMARB_SLATE_NO_ACCESS, session->stop_reason, NULL);
    return slate_is(slate, has_broker ? CAMARB_SLATE_WAITING : CAMARB_SLATE_NO_BROKER, NULL, NULL);
}
