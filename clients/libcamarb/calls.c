/* Calls: made, sent in order, answered, and kept or given up over a broker's end.
 *
 * What says how things shall be (declarations, a session, its start, stop and configuration) waits while there is no broker, and is
 * asked again where one ended over it: it means the same twice. What is about a moment (a photo, a recording, an interruption) is
 * not: it fails, since an answer from before the end could not be told from one after it. */
#include "inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int error_number(const char *name) {
    static const struct {
        const char *name;
        int number;
    } numbers[] = {
        {"org.camarb.Error.AccessDenied", EACCES}, {"org.camarb.Error.RefusedByPolicy", EPERM},
        {"org.camarb.Error.NotRunning", EBADFD}, {"org.camarb.Error.Interrupted", EBUSY},
        {"org.camarb.Error.InsideConfiguration", EBADFD}, {"org.camarb.Error.NotInsideConfiguration", EBADFD},
        {"org.camarb.Error.AlreadyRecording", EALREADY}, {"org.camarb.Error.NotRecording", EBADFD},
        {"org.camarb.Error.PriorityRaised", EPERM}, {"org.camarb.Error.MicrophoneBusy", EBUSY},
        {"org.camarb.Error.LimitExceeded", EDQUOT}, {"org.camarb.Error.NotTrusted", EPERM},
        {"org.camarb.Error.UnknownCamera", ENODEV}, {"org.camarb.Error.UnknownSession", ESTALE},
        {"org.camarb.Error.UnsupportedConfiguration", EOPNOTSUPP}, {"org.camarb.Error.UnsuitableFile", EBADF},
        {"org.camarb.Error.InvalidValue", EINVAL}, {"org.camarb.Error.StaleGrant", ESTALE},
        {"org.camarb.Error.DeviceFault", EIO}, {"org.camarb.Error.RecorderFault", EIO},
        {ERROR_OUT_OF_RESOURCES, ENOMEM}, {ERROR_DISCONNECTED, ENOTCONN}, {SD_BUS_ERROR_UNKNOWN_METHOD, ENOSYS},
        {SD_BUS_ERROR_NO_REPLY, ETIMEDOUT}, {ERROR_INVALID_ARGUMENTS, EINVAL},
    };
    for (size_t i = 0; name && i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(numbers[i].name, name) == 0) return -numbers[i].number;
    return -EIO;
}

/* ── Making one ─────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* The method of Broker1 or Session1 that a call is, and whether it says how things shall be, as opposed to what is to happen now. */
static const struct {
    const char *member;
    bool is_lasting;
} kinds[] = {
    [CALL_DECLARE_CLIENT] = {"DeclareClient", true}, [CALL_DECLARE_PRESENCE] = {"DeclarePresence", true},
    [CALL_WATCH_CAMERAS] = {NULL, true}, [CALL_CREATE_SESSION] = {NULL, true}, [CALL_START] = {"StartRunning", true},
    [CALL_STOP] = {"StopRunning", true}, [CALL_CONFIGURE] = {"Configure", true},
    [CALL_CHECK] = {"CheckConfiguration", false}, [CALL_READY] = {"Ready", false},
    [CALL_CONTINUE] = {"Continue", false}, [CALL_PHOTO] = {"CapturePhoto", false},
    [CALL_BRACKET] = {"CapturePhotoBracket", false}, [CALL_START_RECORDING] = {"StartRecording", false},
    [CALL_STOP_RECORDING] = {"StopRecording", false}, [CALL_PAUSE_RECORDING] = {"PauseRecording", false},
    [CALL_RESUME_RECORDING] = {"ResumeRecording", false}, [CALL_ATTACH_MICROPHONE] = {"AttachMicrophone", false},
    [CALL_APPEND_METADATA] = {"AppendMetadata", false}, [CALL_BEGIN_BATCH] = {"BeginConfiguration", false},
    [CALL_COMMIT_BATCH] = {"CommitConfiguration", false}, [CALL_OF_FACE] = {NULL, false},
};

void call_free(struct call *call) {
    if (!call) return;
    sd_bus_slot_unref(call->slot);
    free(call->word);
    words_free(call->items);
    bracket_free(call->bracket);
    sd_bus_message_unref(call->message);
    camarb_configuration_free(call->configuration);
    if (call->file >= 0) close(call->file);
    event_free(call->answer);
    free(call);
}

struct call *call_make(camarb_client *client, camarb_session *session, enum call_kind kind, int *result) {
    *result = client_check(client);
    if (*result < 0) return NULL;
    if (session && session->has_ended) {
        *result = fail(client, error_number(session->end_name), session->end_name, session->was_created ? "The session has ended: %s" : "%s",
            session->end_sentence ? session->end_sentence : "");
        return NULL;
    }
    if (client->call_count >= CAMARB_CALLS_MAX) {
        *result = fail(client, -EAGAIN, NULL, "%d calls have no answer yet, which is the most; wait for one of them.",
            CAMARB_CALLS_MAX);
        return NULL;
    }
    if (!kinds[kind].is_lasting && client->was_connected && client->phase != PHASE_CONNECTED) {
        *result = fail(client, -ENOTCONN, ERROR_DISCONNECTED, "There is no broker at the moment; the client looks for the next.");
        return NULL;
    }
    struct call *call = calloc(1, sizeof *call);
    if (call) {
        *call = (struct call){.client = client, .session = session, .kind = kind, .file = -1};
        if (kind != CALL_CREATE_SESSION) call->answer = event_new(client, CAMARB_EVENT_ANSWERED);
        if (kind == CALL_CREATE_SESSION || call->answer) return call;
    }
    call_free(call);
    client->is_out_of_memory = false;
    *result = fail(client, -ENOMEM, ERROR_OUT_OF_RESOURCES, "There was no memory for the call.");
    return NULL;
}

camarb_call call_of_session(camarb_session *session, enum call_kind kind, uint64_t value) {
    if (!session) return -EINVAL;
    int result;
    struct call *call = call_make(session->client, session, kind, &result);
    if (!call) return result;
    call->value = value;
    return call_ask(call);
}

camarb_call call_with_configuration(
    camarb_client *client, camarb_session *session, enum call_kind kind, const camarb_configuration *configuration) {
    if (!configuration) return -EINVAL;
    int result;
    struct call *call = call_make(client, session, kind, &result);
    if (!call) return result;
    call->configuration = configuration_copy(client, configuration);
    return call_ask(call);
}

int call_duplicate(struct call *call, int file, int *into) {
    *into = fcntl(file, F_DUPFD_CLOEXEC, 3);
    if (*into >= 0) return 0;
    int number = -errno;
    camarb_client *client = call->client;
    call_free(call);
    return fail(client, number, NULL, "Descriptor %d cannot be passed on: %s.", file, strerror(-number));
}

camarb_call call_ask(struct call *call) {
    camarb_client *client = call->client;
    /* Nobody but the call misses the memory for its arguments. */
    if (client->is_out_of_memory) {
        client->is_out_of_memory = false;
        call_free(call);
        return fail(client, -ENOMEM, ERROR_OUT_OF_RESOURCES, "There was no memory for the call.");
    }
    camarb_call number = call->number = ++client->last_call;
    struct call **place = &client->calls;
    while (*place) place = &(*place)->next;
    *place = call;
    client->call_count++;
    calls_flush(client);
    client_arm(client);
    return number;
}

static void unlink_call(struct call *call) {
    struct call **place = &call->client->calls;
    while (*place && *place != call) place = &(*place)->next;
    if (!*place) return;
    *place = call->next;
    call->client->call_count--;
}

void call_answer(struct call *call, uint64_t value, const char *error_name, const char *error) {
    camarb_client *client = call->client;
    struct event *answer = call->answer;
    call->answer = NULL;
    unlink_call(call);
    if (answer) {
        answer->told.call = call->number;
        answer->told.session = call->session;
        answer->told.value = value;
        answer->told.error_name = text_copy(client, error_name);
        answer->told.error = text_copy(client, error);
    }
    call_free(call);
    if (client->end_number) event_push_last(client, answer);
    else event_push(client, answer);
}

void calls_fail_all(camarb_client *client, const char *error_name, const char *error) {
    while (client->calls) {
        struct call *call = client->calls;
        if (error) {
            call_answer(call, 0, error_name, error);
        } else {
            unlink_call(call);
            call_free(call);
        }
    }
}

void calls_forget(camarb_client *client, camarb_session *session) {
    for (struct call *call = client->calls, *next; call; call = next) {
        next = call->next;
        if (call->session != session) continue;
        call->session = NULL;
        /* The session that it creates is to be closed. */
        if (call->kind == CALL_CREATE_SESSION && call->was_sent) continue;
        unlink_call(call);
        call_free(call);
    }
}

/* ── Answers ────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static void remember_declaration(camarb_client *client, struct call *call) {
    bool is_client = call->kind == CALL_DECLARE_CLIENT;
    bool is_first = is_client ? !client->attributes : !client->presence;
    if (is_first && client->declared_count < DECLARATIONS_MAX)
        client->declared[client->declared_count++] = (struct declaration){.kind = call->kind};
    if (is_client) {
        /* Of what a broker knew it keeps the name alone, where another is not given. */
        bool keeps_name = client->attributes && !camarb_configuration_word(call->configuration, "app");
        if (keeps_name && configuration_move(call->configuration, client->attributes, "app") == -ENOMEM) client->is_out_of_memory = true;
        camarb_configuration_free(client->attributes);
        client->attributes = call->configuration;
        call->configuration = NULL;
    } else {
        free(client->presence);
        client->presence = call->word;
        client->is_focused = call->flag;
        call->word = NULL;
    }
}

/* Remembers a call that the broker has carried out. */
static void remember(struct call *call, uint64_t value) {
    camarb_session *session = call->session;
    switch (call->kind) {
    case CALL_DECLARE_CLIENT:
    case CALL_DECLARE_PRESENCE: remember_declaration(call->client, call); break;
    case CALL_START: session->memory.wants_to_run = true; break;
    case CALL_STOP: session->memory.wants_to_run = false; break;
    case CALL_CONFIGURE: memory_remember_configuration(session, call->configuration); break;
    case CALL_START_RECORDING: memory_remember_recording(session, value); break;
    case CALL_PHOTO: memory_remember_photo(session, value); break;
    case CALL_BRACKET:
        for (size_t i = 0; i < call->bracket->count; i++) memory_remember_photo(session, value + i);
        break;
    case CALL_BEGIN_BATCH: session->memory.batch_depth++; break;
    case CALL_COMMIT_BATCH: memory_commit_batch(session); break;
    case CALL_OF_FACE:
        if (call->is_declaration) face_remember(call->client, call->message);
        break;
    default: break;
    }
}

/* The answer to CreateSession: the first, or one that a later broker is asked for because somebody needs the session there. */
static void creation_answered(struct call *call, sd_bus_message *answer, const sd_bus_error *error) {
    camarb_client *client = call->client;
    camarb_session *session = call->session;
    uint64_t id = error ? 0 : session_number(answer);
    const char *name = error ? error->name : ERROR_INVALID_ARGUMENTS;
    const char *sentence = error ? error->message : "CreateSession gave no session's path.";
    if (session) {
        session->is_being_created = false;
        if (id) {
            session_is_known(session, id);
        } else if (!session->was_created) {
            session_end(session, name, sentence);
        } else {
            /* Whoever needed it hears why it is not there. */
            for (struct call *other = client->calls, *next; other; other = next) {
                next = other->next;
                if (other->session == session && other != call && !other->was_sent) call_answer(other, 0, name, sentence);
            }
        }
    } else if (id) {
        session_close_at_broker(client, id);
    }
    call_answer(call, 0, NULL, NULL);
}

static int answered(sd_bus_message *answer, void *context, sd_bus_error *ignored) {
    (void)ignored;
    struct call *call = context;
    camarb_client *client = call->client;
    if (!answer_is_real(answer)) return 0;
    const sd_bus_error *error = sd_bus_message_get_error(answer);
    if (call->kind == CALL_OF_FACE) call->answer->answer = sd_bus_message_ref(answer);
    if (call->kind == CALL_CREATE_SESSION) {
        creation_answered(call, answer, error);
    } else if (error) {
        if (call->kind == CALL_START) session_note_refusal(call->session, error->message);
        call_answer(call, 0, error->name, error->message);
    } else {
        uint64_t value = 0;
        /* A number that does not come is 0, which is no photo's. */
        if (call->kind == CALL_PHOTO || call->kind == CALL_START_RECORDING) sd_bus_message_read(answer, "t", &value);
        if (call->kind == CALL_BRACKET) value = bracket_read(answer);
        remember(call, value);
        call_answer(call, value, NULL, NULL);
    }
    calls_flush(client);
    return 0;
}

void calls_lost(camarb_client *client) {
    for (struct call *call = client->calls, *next; call; call = next) {
        next = call->next;
        if (!call->was_sent && call->kind != CALL_OF_FACE) continue;
        if (call->kind == CALL_CREATE_SESSION && (!call->session || call->session->was_created)) {
            /* It ended with its broker; one that was there before is put back like all. */
            call_answer(call, 0, NULL, NULL);
        } else if (kinds[call->kind].is_lasting) {
            call->was_sent = false;
            if (call->kind == CALL_STOP && call->session) memory_stopped_while_away(call->session);
        } else {
            call_answer(call, 0, ERROR_DISCONNECTED, "The connection ended before the answer came.");
        }
    }
}

/* ── Sending ────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static int append_arguments(sd_bus_message *message, struct call *call) {
    switch (call->kind) {
    case CALL_DECLARE_PRESENCE: return sd_bus_message_append(message, "sb", call->word, (int)call->flag);
    case CALL_DECLARE_CLIENT:
    case CALL_CONFIGURE:
    case CALL_CHECK: return configuration_append(message, call->configuration, false);
    case CALL_READY: return sd_bus_message_append(message, "t", memory_brokers_number(&call->session->memory, call->value));
    case CALL_PHOTO:
    case CALL_START_RECORDING: {
        int result = sd_bus_message_append(message, "h", call->file);
        if (result >= 0 && call->kind == CALL_START_RECORDING) return recording_options_append(message, call->configuration);
        return result < 0 ? result : configuration_append(message, call->configuration, false);
    }
    case CALL_BRACKET: return bracket_append(message, call->bracket);
    case CALL_ATTACH_MICROPHONE: return microphone_append(message, call);
    case CALL_APPEND_METADATA: return group_append(message, call);
    default: return 0;
    }
}

static int send(struct call *call) {
    camarb_client *client = call->client;
    call->was_sent = true;
    if (call->kind == CALL_CREATE_SESSION) {
        call->session->is_being_created = true;
        return session_send_creation(client, call->session, &call->slot, answered, call);
    }
    if (call->kind == CALL_OF_FACE) return call_send(client, sd_bus_message_ref(call->message), &call->slot, answered, call);
    sd_bus_message *message = call_message(client, call->session ? call->session->id : 0, kinds[call->kind].member);
    if (!message) return -ENOMEM;
    int result = append_arguments(message, call);
    if (result < 0) {
        sd_bus_message_unref(message);
        return result;
    }
    return call_send(client, message, &call->slot, answered, call);
}

/* A broker that has refused to take a session over is asked again when somebody needs it. */
static void create_anew(camarb_session *session, struct call *before) {
    struct call *creation = calloc(1, sizeof *creation);
    if (!creation) {
        session->client->is_out_of_memory = true;
        return;
    }
    *creation = (struct call){.client = session->client, .session = session, .kind = CALL_CREATE_SESSION, .file = -1};
    struct call **place = &session->client->calls;
    while (*place != before) place = &(*place)->next;
    creation->next = before;
    *place = creation;
    session->client->call_count++;
    /* Where the connection has ended, the next turn sees it. */
    (void)send(creation);
}

/* Nothing of it has gone out. Whoever waits hears so; a session that cannot even be asked for is over. */
static void could_not_send(struct call *call, int result) {
    camarb_session *session = call->kind == CALL_CREATE_SESSION ? call->session : NULL;
    if (session) session->is_being_created = false;
    if (session && !session->was_created) session_end(session, ERROR_INVALID_ARGUMENTS, strerror(-result));
    call_answer(call, 0, ERROR_INVALID_ARGUMENTS, strerror(-result));
}

void calls_flush(camarb_client *client) {
    if (client->phase != PHASE_CONNECTED) return;
    for (struct call *call = client->calls, *next; call && !client->end_number; call = next) {
        next = call->next;
        if (call->was_sent) continue;
        camarb_session *session = call->session;
        if (session && session->has_ended) {
            call_answer(call, 0, session->end_name, session->end_sentence);
            continue;
        }
        if (call->kind == CALL_WATCH_CAMERAS) {
            call->was_sent = true;
            client->cameras.are_watched = true;
            cameras_ask(client);
            continue;
        }
        if (session && !session->id && call->kind != CALL_CREATE_SESSION) {
            /* Its number is not known yet; what comes behind waits, too, so that all arrives in the order in which it was said. */
            if (!session->is_being_created) create_anew(session, call);
            return;
        }
        int result = send(call);
        /* The connection has ended: the next turn sees it, and then this one is asked again, or answered. */
        if (result == -ENOTCONN || result == -ECONNRESET || result == -EPIPE || result == -ESHUTDOWN) return;
        if (result < 0) could_not_send(call, result);
    }
}

/* ── The client's own ───────────────────────────────────────────────────────────────────────────────────────────────────────── */

static camarb_call declare(camarb_client *client, enum call_kind kind, const char *word, bool flag) {
    int result;
    struct call *call = call_make(client, NULL, kind, &result);
    if (!call) return result;
    bool is_named = word && word[0];
    const char *wrong = is_named && text_is_utf8(word) ? NULL
        : is_named                    ? "What this program calls itself, or its presence, is not a text: it takes UTF-8."
        : kind == CALL_DECLARE_CLIENT ? "An app without a name cannot be declared; its desktop file's name will do."
                                      : "There is no such presence; it is background, fullscreen, split, slide-over or picture-in-picture.";
    if (wrong) {
        call_free(call);
        return fail(client, -EINVAL, NULL, "%s", wrong);
    }
    if (kind == CALL_DECLARE_PRESENCE) {
        call->word = text_copy(client, word);
        call->flag = flag;
        return call_ask(call);
    }
    /* A name that is too long is cut, and the broker's to refuse. */
    char *name = text_copy(client, word);
    call->configuration = camarb_configuration_new();
    if (!name || !call->configuration || camarb_configuration_set_word(call->configuration, "app", name) < 0)
        client->is_out_of_memory = true;
    free(name);
    return call_ask(call);
}

camarb_call camarb_client_declare_app(camarb_client *client, const char *app) {
    return declare(client, CALL_DECLARE_CLIENT, app, false);
}

camarb_call camarb_client_declare(camarb_client *client, const camarb_configuration *attributes) {
    return call_with_configuration(client, NULL, CALL_DECLARE_CLIENT, attributes);
}

camarb_call camarb_client_declare_presence(camarb_client *client, const char *presence, bool focused) {
    return declare(client, CALL_DECLARE_PRESENCE, presence, focused);
}

camarb_call camarb_client_watch_cameras(camarb_client *client) {
    int result;
    struct call *call = call_make(client, NULL, CALL_WATCH_CAMERAS, &result);
    return call ? call_ask(call) : result;
}
