/* face.h: what a library in another language, which has its own values of D-Bus's types, needs beside camarb.h. No program's. */
#ifndef CAMARB_FACE_H
#define CAMARB_FACE_H

#include "inside.h"

/* How a client that is another library's finds its broker, and where signals go that are of no session. */
struct face {
    /* A connected socket that does not block, or a negative errno number with a sentence in `fault`. */
    int (*connect)(void *context, char *fault, size_t bytes);
    /* A signal of Broker1 or Shell1, in a dispatch. */
    void (*told)(sd_bus_message *signal, void *context);
    void *context;
    /* The client ends with its connection, and looks for no other broker. */
    bool ends_with_broker;
};

/* A call of any interface's to append arguments to; NULL: there is no broker at the moment, or no memory. */
sd_bus_message *face_message(camarb_client *client, const char *path, const char *interface, const char *member);
void face_drop(sd_bus_message *message); /* gives a message up */
/* Asks, and takes the message. A declaration is said again to each broker after this one. */
camarb_call face_ask(camarb_client *client, sd_bus_message *message, bool is_declaration);
/* Opens a batch of configurations, and closes it; they nest. */
camarb_call face_begin_batch(camarb_session *session);
camarb_call face_commit_batch(camarb_session *session);
/* The answer to such a call, or the refusal, where the event that was taken last is about one; else NULL. */
sd_bus_message *face_answer(camarb_client *client);
bool face_is_connected(const camarb_client *client); /* whether calls that are about a moment are taken now */
bool face_has_room(const camarb_client *client); /* fewer than CAMARB_CALLS_MAX calls have no answer yet */
void face_end(camarb_client *client, const char *sentence); /* ends the connection, and the client for good */
uint64_t face_session_id(const camarb_session *session); /* the present broker's number of it; 0: it does not have it */
/* After its creation was answered: no later end of the session forgets it at the broker. */
void face_is_closed(camarb_session *session);
/* The present grant has no pictures, of which CAMARB_EVENT_RUNTIME_ERROR said why. */
bool face_stream_is_broken(const camarb_session *session);
void face_keep_newest_frame(camarb_session *session); /* gives back all frames that wait but the newest */
void face_skip_frames(camarb_session *session); /* gives back all that have come until now */

/* The fields after the sequence number and the decision, in order. */
enum field {
    END, INTERRUPTION, CAUSES, REASON, DEADLINE, RULE, INTERRUPTER, RECORDING, DURATION, WILL_RESUME, GRANT, ACCESS,
    SHARERS, FRAMES, BYTES, NEXT_CHANCE, PHOTO, WIDTH, HEIGHT, ERROR_TEXT, ERROR_NAME, ASKED, IN_FORCE, BY, NUMBER,
    CAMERA, REOPEN, METADATA,
    /* Fields that an earlier broker does not send. */
    LATER, FRAMES_LEFT_OUT, LAST_CAPTURE, CAUSE, MESSAGE, CONTROLLER,
};

/* With the last one, END. */
#define FIELDS_MAX 12

/* The signal of Session1 that an event came as, or would come as; NULL: it is none of a session. */
const char *event_member(enum camarb_event_type type);
/* The event's fields in its signal after sequence number and decision, from index 0 on; END after the last. */
enum field event_field(enum camarb_event_type type, size_t index);

#endif
