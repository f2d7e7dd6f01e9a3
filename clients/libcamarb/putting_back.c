/* How another broker is told what the one before knew: declarations first, then each session, one call after the other.
 *
 * A session that ran shows the secret that it was given for that, and goes on where it was; the program hears nothing. Where that
 * does not come about it is started anew. */
#include "inside.h"

#include <errno.h>
#include <string.h>

static void next(camarb_client *client);
static int answered(sd_bus_message *answer, void *context, sd_bus_error *ignored);

/* Sends the call that the step is; where it cannot be made, the connection is over. */
static void send(camarb_client *client, enum back_step step, sd_bus_message *message) {
    client->back.step = step;
    client->back.slot = sd_bus_slot_unref(client->back.slot);
    if (message) call_send(client, message, &client->back.slot, answered, client);
    else client->is_out_of_memory = true;
}

static void declare(camarb_client *client, const struct declaration *declaration) {
    sd_bus_message *message;
    int result = 0;
    if (declaration->kind == CALL_OF_FACE) {
        message = face_declaration(client, declaration->message);
    } else if (declaration->kind == CALL_DECLARE_CLIENT) {
        message = call_message(client, 0, "DeclareClient");
        result = message ? configuration_append(message, client->attributes, false) : -ENOMEM;
    } else {
        message = call_message(client, 0, "DeclarePresence");
        result = message ? sd_bus_message_append(message, "sb", client->presence, (int)client->is_focused) : -ENOMEM;
    }
    if (result < 0) message = sd_bus_message_unref(message);
    send(client, BACK_DECLARATION, message);
}

static void is_done(camarb_client *client) {
    client->phase = PHASE_CONNECTED;
    /* Another broker takes the client as it is: the ends before were not about this client, but that one's own. */
    if (client->knows_broker && client->knows_broker_before && !sd_id128_equal(client->broker, client->broker_before))
        client->end_count = 0;
    client->was_connected = true;
    if (client->cameras.are_watched) cameras_ask(client);
    for (camarb_session *session = client->sessions; session; session = session->next) session_ask(session);
    calls_flush(client);
}

static void next(camarb_client *client) {
    if (client->back.declaration < client->declared_count) {
        declare(client, &client->declared[client->back.declaration++]);
        return;
    }
    camarb_session *session = client->sessions;
    while (session && !session->needs_putting_back) session = session->next;
    client->back.session = session;
    if (!session) {
        is_done(client);
        return;
    }
    session->needs_putting_back = false;
    client->back.step = BACK_CREATE;
    client->back.slot = sd_bus_slot_unref(client->back.slot);
    session_send_creation(client, session, &client->back.slot, answered, client);
}

/* The batch that its program has begun, and has not committed. */
static void batch(camarb_client *client, camarb_session *session) {
    const struct memory *memory = &session->memory;
    unsigned done = client->back.batches++;
    bool begins = done < memory->batch_depth;
    if (!begins && (done > memory->batch_depth || memory->batch.count == 0)) {
        next(client);
        return;
    }
    sd_bus_message *message = call_message(client, session->id, begins ? "BeginConfiguration" : "Configure");
    if (message && !begins && configuration_append(message, &memory->batch, false) < 0) message = sd_bus_message_unref(message);
    send(client, BACK_BATCH, message);
}

/* It is there again, and perhaps goes on already. */
static void start(camarb_client *client, camarb_session *session, bool has_begun) {
    client->back.batches = 0;
    if (session->memory.wants_to_run && !has_begun) send(client, BACK_START, call_message(client, session->id, "StartRunning"));
    else batch(client, session);
}

static void created(camarb_client *client, camarb_session *session, uint64_t id) {
    session_is_known(session, id);
    memory_is_back(session);
    const char *secret = memory_begin_reclaiming(session);
    if (!secret) {
        start(client, session, false);
        return;
    }
    sd_bus_message *message = call_message(client, id, "Reclaim");
    if (message && sd_bus_message_append(message, "s", secret) < 0) message = sd_bus_message_unref(message);
    send(client, BACK_RECLAIM, message);
}

static void reclaimed(camarb_client *client, camarb_session *session) {
    memory_reclaimed(session);
    /* One whose beginning was under way at the end, and which the program was told has failed. */
    if (session->memory.recording == 0) send(client, BACK_STOP_RECORDING, call_message(client, session->id, "StopRecording"));
    else start(client, session, true);
}

static void refused(camarb_client *client, camarb_session *session, const sd_bus_error *error) {
    if (session) memory_refused(session, error->name, error->message);
    next(client);
}

static int answered(sd_bus_message *answer, void *context, sd_bus_error *ignored) {
    (void)ignored;
    camarb_client *client = context;
    if (!answer_is_real(answer)) return 0;
    const sd_bus_error *error = sd_bus_message_get_error(answer);
    camarb_session *session = client->back.session;
    /* This broker says nothing: it is as if it were not there, and there may be another. So it is where it does not let the client stand for
     * another process, as whom it must not go on itself. */
    bool is_declaration = client->back.step == BACK_DECLARATION;
    const struct declaration *said = is_declaration ? &client->declared[client->back.declaration - 1] : NULL;
    bool stands_for = said && said->message && strcmp(sd_bus_message_get_member(said->message), "StandFor") == 0;
    if (error && (stands_for || sd_bus_error_has_name(error, SD_BUS_ERROR_NO_REPLY))) {
        sd_bus_close(client->bus);
        return 0;
    }
    uint64_t id;
    switch (client->back.step) {
    case BACK_DECLARATION:
        /* Another policy may know no such thing: then it counts no more. */
        next(client);
        break;
    case BACK_CREATE:
        id = error ? 0 : session_number(answer);
        if (id && session) created(client, session, id);
        else if (id) session_close_at_broker(client, id), next(client);
        else if (error) refused(client, session, error);
        else refused(client, session, &SD_BUS_ERROR_MAKE_CONST(ERROR_INVALID_ARGUMENTS, "CreateSession gave no session's path."));
        break;
    case BACK_RECLAIM:
        if (!session) next(client);
        else if (error) memory_not_reclaimed(session), start(client, session, false);
        else reclaimed(client, session);
        break;
    case BACK_STOP_RECORDING:
        if (session) start(client, session, true);
        else next(client);
        break;
    case BACK_START:
    case BACK_BATCH:
        if (error) refused(client, session, error);
        else if (session) batch(client, session);
        else next(client);
        break;
    }
    return 0;
}

void back_begin(camarb_client *client) {
    client->back.declaration = 0;
    client->back.session = NULL;
    next(client);
}

void back_forget(camarb_client *client, camarb_session *session) {
    if (client->back.session == session) client->back.session = NULL;
}
