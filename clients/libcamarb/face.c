/* Calls and signals of all interfaces as messages of libsystemd's, for a library in another language. */
#include "face.h"

#include <errno.h>
#include <string.h>

int face_connect(camarb_client *client) {
    int result = client->face->connect(client->face->context, client->fault, sizeof client->fault);
    if (result < 0) client->fault_number = result;
    return result;
}

bool face_is_connected(const camarb_client *client) { return client->phase == PHASE_CONNECTED; }

void face_end(camarb_client *client, const char *sentence) { client_end(client, -ENOTCONN, ERROR_DISCONNECTED, sentence); }

uint64_t face_session_id(const camarb_session *session) { return session->id; }

void face_is_closed(camarb_session *session) { session->id = 0; }

bool face_stream_is_broken(const camarb_session *session) {
    return session->broken_run > 0 && session->broken_run == session->memory.run;
}

void face_keep_newest_frame(camarb_session *session) {
    if (session->stream) stream_keep(session->stream, 1);
}

void face_skip_frames(camarb_session *session) {
    if (session->stream) stream_read(session->stream);
    if (session->stream) stream_keep(session->stream, 0);
    client_wake_soon(session->client);
}

bool face_has_room(const camarb_client *client) { return client->call_count < CAMARB_CALLS_MAX; }

sd_bus_message *face_message(camarb_client *client, const char *path, const char *interface, const char *member) {
    sd_bus_message *message = NULL;
    if (!client->bus || sd_bus_message_new_method_call(client->bus, &message, NULL, path, interface, member) < 0) return NULL;
    return message;
}

camarb_call face_ask(camarb_client *client, sd_bus_message *message, bool is_declaration) {
    int result;
    struct call *call = call_make(client, NULL, CALL_OF_FACE, &result);
    if (!call) {
        sd_bus_message_unref(message);
        return result;
    }
    call->message = message;
    call->is_declaration = is_declaration;
    return call_ask(call);
}

camarb_call face_begin_batch(camarb_session *session) { return call_of_session(session, CALL_BEGIN_BATCH, 0); }

camarb_call face_commit_batch(camarb_session *session) { return call_of_session(session, CALL_COMMIT_BATCH, 0); }

sd_bus_message *face_answer(camarb_client *client) { return client->current ? client->current->answer : NULL; }

/* The first argument, where it names what is declared: LowerAttribute is said once for each attribute. */
static const char *subject(sd_bus_message *message) {
    const char *name = "";
    if (strcmp(sd_bus_message_get_member(message), "LowerAttribute") != 0 || sd_bus_message_rewind(message, 1) < 0) return "";
    return sd_bus_message_read(message, "s", &name) > 0 ? name : "";
}

void face_remember(camarb_client *client, sd_bus_message *message) {
    struct declaration *place = client->declared, *end = client->declared + client->declared_count;
    for (; place < end; place++)
        if (place->message && strcmp(sd_bus_message_get_member(place->message), sd_bus_message_get_member(message)) == 0
            && strcmp(subject(place->message), subject(message)) == 0) break;
    if (place == client->declared + DECLARATIONS_MAX) return;
    if (place == end) *place = (struct declaration){.kind = CALL_OF_FACE}, client->declared_count++;
    sd_bus_message_unref(place->message);
    place->message = sd_bus_message_ref(message);
}

/* For the present broker; NULL: it could not be made. */
sd_bus_message *face_declaration(camarb_client *client, sd_bus_message *said) {
    sd_bus_message *message = face_message(
        client, sd_bus_message_get_path(said), sd_bus_message_get_interface(said), sd_bus_message_get_member(said));
    if (message && sd_bus_message_rewind(said, 1) >= 0 && sd_bus_message_copy(message, said, 1) >= 0) return message;
    return sd_bus_message_unref(message);
}

void face_drop(sd_bus_message *message) { sd_bus_message_unref(message); }
