/* The broker's signals: read, and given to their sessions. */
#include "face.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct shape {
    const char *member;
    enum camarb_event_type type;
    enum field fields[FIELDS_MAX];
} shapes[] = {
    {"WillBeInterrupted", CAMARB_EVENT_WILL_BE_INTERRUPTED, {INTERRUPTION, REASON, DEADLINE, RULE, LATER, MESSAGE}},
    {"InterruptionWithdrawn", CAMARB_EVENT_INTERRUPTION_WITHDRAWN, {INTERRUPTION}},
    {"WasInterrupted", CAMARB_EVENT_WAS_INTERRUPTED, {INTERRUPTION, CAUSES, REASON, INTERRUPTER, RECORDING, RULE, LATER, MESSAGE}},
    {"InterruptionChanged", CAMARB_EVENT_INTERRUPTION_CHANGED, {INTERRUPTION, CAUSES, REASON, INTERRUPTER, RULE, LATER, MESSAGE}},
    {"InterruptionEnded", CAMARB_EVENT_INTERRUPTION_ENDED, {INTERRUPTION, CAUSES, DURATION, WILL_RESUME, LATER, RECORDING}},
    {"DidStartRunning", CAMARB_EVENT_DID_START_RUNNING, {GRANT}},
    {"DidStopRunning", CAMARB_EVENT_DID_STOP_RUNNING, {END}},
    {"AccessChanged", CAMARB_EVENT_ACCESS_CHANGED, {ACCESS, CAUSES, RULE, LATER, MESSAGE, CONTROLLER}},
    {"SharersChanged", CAMARB_EVENT_SHARERS_CHANGED, {SHARERS}},
    {"SessionStopped", CAMARB_EVENT_SESSION_STOPPED, {REASON, RULE, LATER, MESSAGE}},
    {"RecordingStarted", CAMARB_EVENT_RECORDING_STARTED, {RECORDING}},
    {"RecordingFinished", CAMARB_EVENT_RECORDING_FINISHED,
        {RECORDING, REASON, FRAMES, DURATION, BYTES, NEXT_CHANCE, LATER, FRAMES_LEFT_OUT, LAST_CAPTURE, CAUSE, INTERRUPTER}},
    {"RecordingPaused", CAMARB_EVENT_RECORDING_PAUSED, {RECORDING}},
    {"RecordingResumed", CAMARB_EVENT_RECORDING_RESUMED, {RECORDING}},
    {"PhotoCaptured", CAMARB_EVENT_PHOTO_CAPTURED, {PHOTO, WIDTH, HEIGHT, BYTES, ERROR_TEXT, LATER, METADATA}},
    {"ConfigurationApplied", CAMARB_EVENT_CONFIGURATION_APPLIED, {ASKED, IN_FORCE, BY}},
    {"RampFinished", CAMARB_EVENT_RAMP_FINISHED, {NUMBER}},
    {"ConnectionsFormed", CAMARB_EVENT_CONNECTIONS_FORMED, {CAMERA, REOPEN}},
    {"CameraStateChanged", CAMARB_EVENT_CAMERA_STATE_CHANGED, {IN_FORCE}},
    {"RuntimeError", CAMARB_EVENT_RUNTIME_ERROR, {ERROR_NAME, ERROR_TEXT}},
};

const char *event_member(enum camarb_event_type type) {
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (shapes[i].type == type) return shapes[i].member;
    return NULL;
}

enum field event_field(enum camarb_event_type type, size_t index) {
    for (size_t i = 0; index < FIELDS_MAX && i < sizeof shapes / sizeof shapes[0]; i++)
        if (shapes[i].type == type) return shapes[i].fields[index];
    return END;
}

static int read_text(camarb_client *client, sd_bus_message *message, const char **into) {
    const char *text;
    int result = sd_bus_message_read(message, "s", &text);
    if (result > 0) *into = text_copy(client, text);
    return result;
}

static int read_list(camarb_client *client, sd_bus_message *message, words *into) {
    char **list = NULL;
    int result = sd_bus_message_read_strv(message, &list);
    if (result >= 0) *into = words_copy(client, (words)list);
    words_free((words)list);
    return result < 0 ? result : 1;
}

static int read_configuration(sd_bus_message *message, const camarb_configuration **into) {
    camarb_configuration *read = camarb_configuration_new();
    *into = read;
    if (!read) return -ENOMEM;
    int result = configuration_read(message, read);
    return result < 0 ? result : 1;
}

static int read_field(camarb_client *client, sd_bus_message *message, enum field field, struct event *event) {
    camarb_event *told = &event->told;
    switch (field) {
    case INTERRUPTION: return sd_bus_message_read(message, "t", &told->interruption);
    case CAUSES: return read_list(client, message, &event->told.causes);
    case REASON: return read_text(client, message, &event->told.reason);
    case DEADLINE: return sd_bus_message_read(message, "x", &told->deadline);
    case RULE: return read_text(client, message, &event->told.rule);
    case MESSAGE: return read_text(client, message, &event->told.message);
    case CONTROLLER: return read_text(client, message, &event->told.controller);
    case INTERRUPTER: return read_text(client, message, &event->told.interrupter);
    case RECORDING: return sd_bus_message_read(message, "t", &told->recording);
    case DURATION: return sd_bus_message_read(message, "x", &told->duration);
    case WILL_RESUME: {
        int flag;
        int result = sd_bus_message_read(message, "b", &flag);
        if (result > 0) told->will_resume = flag != 0;
        return result;
    }
    case GRANT: return sd_bus_message_read(message, "t", &told->grant);
    case ACCESS: return read_list(client, message, &event->told.access);
    case SHARERS: return read_list(client, message, &event->told.sharers);
    case FRAMES: return sd_bus_message_read(message, "t", &told->frames);
    case BYTES: return sd_bus_message_read(message, "t", &told->bytes);
    case NEXT_CHANCE: return read_text(client, message, &event->told.next_chance);
    case PHOTO: return sd_bus_message_read(message, "t", &told->photo);
    case WIDTH: return sd_bus_message_read(message, "u", &told->width);
    case HEIGHT: return sd_bus_message_read(message, "u", &told->height);
    case ERROR_TEXT: return read_text(client, message, &event->told.error);
    case ERROR_NAME: return read_text(client, message, &event->told.error_name);
    case ASKED: return read_configuration(message, &event->told.asked);
    case IN_FORCE: return read_configuration(message, &event->told.in_force);
    case BY: return read_text(client, message, &event->told.by);
    case NUMBER: return sd_bus_message_read(message, "d", &told->number);
    case CAMERA: return read_text(client, message, &event->told.camera);
    case REOPEN: return read_list(client, message, &event->told.reopen);
    case METADATA: return read_configuration(message, &event->told.metadata);
    case FRAMES_LEFT_OUT: return sd_bus_message_read(message, "t", &told->frames_left_out);
    case LAST_CAPTURE: return sd_bus_message_read(message, "x", &told->last_capture);
    case CAUSE: return read_text(client, message, &event->told.cause);
    case LATER:
    case END: break;
    }
    return 1;
}

/* NULL: it is malformed, or there is no memory. */
static struct event *read_event(camarb_client *client, sd_bus_message *message, const struct shape *shape) {
    struct event *event = event_new(client, shape->type);
    if (!event) return NULL;
    for (size_t i = 0; i < FIELDS_MAX && shape->fields[i] != END; i++) {
        int result = shape->fields[i] == LATER ? sd_bus_message_at_end(message, true) : 0;
        if (result > 0) break;
        if (result == 0) result = read_field(client, message, shape->fields[i], event);
        if (result == -ENOMEM) client->is_out_of_memory = true;
        if (result <= 0) {
            event_free(event);
            return NULL;
        }
    }
    return event;
}

static void give_up(camarb_session *session, const char *name, const char *sentence) {
    session_close_at_broker(session->client, session->id);
    session_end(session, name, sentence);
}

static void session_signal(camarb_session *session, sd_bus_message *message, const char *member) {
    camarb_client *client = session->client;
    uint64_t sequence, decision;
    if (sd_bus_message_read(message, "tt", &sequence, &decision) <= 0) {
        give_up(session, ERROR_INVALID_ARGUMENTS,
            "The broker sent an event that begins without its number; create the session anew.");
        return;
    }
    if (sequence != session->memory.expected) {
        char sentence[256];
        snprintf(sentence, sizeof sentence,
            "The broker sent event %llu of the session where %llu was due, so its state is not known any more; create it anew.",
            (unsigned long long)sequence, (unsigned long long)session->memory.expected);
        give_up(session, ERROR_FAILED, sentence);
        return;
    }
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (strcmp(shapes[i].member, member) != 0) continue;
        struct event *event = read_event(client, message, &shapes[i]);
        if (event) {
            event->told.decision = decision;
            memory_arrived(session, event, sequence);
        } else if (!client->is_out_of_memory) {
            char sentence[256];
            snprintf(sentence, sizeof sentence, "The broker sent a %s that is none; create the session anew.", member);
            give_up(session, ERROR_INVALID_ARGUMENTS, sentence);
        }
        return;
    }
    /* A newer broker says more; the program's numbers have no gap for it. */
    session->memory.expected = sequence + 1;
}

int signal_arrived(sd_bus_message *message, void *context, sd_bus_error *ignored) {
    (void)ignored;
    camarb_client *client = context;
    uint8_t type;
    if (sd_bus_message_get_type(message, &type) < 0 || type != SD_BUS_MESSAGE_SIGNAL || client->end_number) return 0;
    const char *path = sd_bus_message_get_path(message), *interface = sd_bus_message_get_interface(message);
    const char *member = sd_bus_message_get_member(message);
    if (!path || !interface || !member) return 0;
    bool is_of_all = strcmp(interface, BROKER_INTERFACE) == 0 || strcmp(interface, SHELL_INTERFACE) == 0;
    if (is_of_all && client->face) client->face->told(message, client->face->context);
    if (strcmp(interface, BROKER_INTERFACE) == 0) {
        bool is_of_cameras = strcmp(member, "CamerasChanged") == 0 || strcmp(member, "HolderChanged") == 0;
        if (is_of_cameras && client->cameras.are_watched) cameras_ask(client);
        return 0;
    }
    if (strcmp(interface, SESSION_INTERFACE) != 0 || strncmp(path, SESSION_PATH, strlen(SESSION_PATH)) != 0) return 0;
    /* Of a session that was freed meanwhile nothing is of interest. */
    camarb_session *session = session_find(client, strtoull(path + strlen(SESSION_PATH), NULL, 10));
    if (!session) return 0;
    session_signal(session, message, member);
    session_ask(session);
    return 0;
}
