/* inside.h: what the files of libcamarb share. Nothing here is the program's.
 *
 * Out of memory: whatever cannot be copied sets the client's `is_out_of_memory`, and is taken as empty by whoever goes on; the
 * dispatch that it happened in ends the client with -ENOMEM. So no half of an event is ever told, and no caller has to unwind.
 */
#ifndef CAMARB_INSIDE_H
#define CAMARB_INSIDE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "camarb.h"

#include <sys/types.h>
#include <systemd/sd-bus.h>

#define SECOND INT64_C(1000000000)
#define MILLISECOND INT64_C(1000000)
#define NEVER INT64_MAX

/* ── Bounds, and why ────────────────────────────────────────────────────────────────────────────────────────────────────────── */

#define TEXT_MAX 1024 /* a sentence of the broker's has at most so many bytes; more is cut */
#define WORDS_MAX 64 /* causes are thirteen, rights four, apps that watch a camera few: a longer list is cut */
/* There are some fifty keys, and what is in force has thirty of them; their words are at most 256 bytes at the broker. */
#define SETTINGS_MAX 128
/* Of one value: a point has two, gains three. */
#define NUMBERS_MAX 3
#define KEY_MAX 64
#define WORD_MAX 1024
#define SESSIONS_MAX 4096 /* A broker's bound for all users. One user has less, by the broker's refusal. */
/* More cameras than a machine has connectors for, and formats than any camera has. */
#define CAMERAS_MAX 64
#define FORMATS_MAX 1024
#define RATE_MAX 1e6 /* more frames a second than any sensor gives; what is above is taken for this */
/* The frame that the program works on, and the next: more would only be older. The recorder core sends no more either. */
#define FRAMES_HELD_MAX 2
/* Frames that lie ready. Two is what an honest recorder core sends unreleased; two more were sent before it changed buffers. */
#define FRAMES_WAITING_MAX 4
/* More buffers than a stream ever has; a recorder core that announces more is broken. As FrameReceiver has it. */
#define BUFFERS_MAX 1024
#define SIDE_MAX 65536 /* a side that no sensor has would overflow products */
/* A peer that never stops talking must not keep the program from its own work: what is left comes with the next dispatch. A message
 * makes at most two events, so that a program that takes all after each dispatch never leaves CAMARB_EVENTS_MAX. */
#define MESSAGES_PER_TURN_MAX 512
#define RECORDS_PER_TURN_MAX 64
/* Messages that may lie unsent when the broker does not read; calls are bounded by CAMARB_CALLS_MAX already, and are small. */
#define UNSENT_MAX 1024
/* Calls that say what the client is: a policy has at most a few attributes to lower, and the other kinds are one each. */
#define DECLARATIONS_MAX 64

/* ── Times ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

#define CONNECT_TIME_MAX SECOND
#define AUTHENTICATION_TIME_MAX (10 * SECOND)
#define CALL_TIME_MAX (25 * SECOND) /* D-Bus's customary one */
/* The pause after the first try; each is twice the one before. */
#define PAUSE_FIRST (50 * MILLISECOND)
#define PAUSE_MAX SECOND
/* Longer than a service manager takes to end a broker that hangs and start another. */
#define AWAY_TIME_MAX (60 * SECOND)
#define ENDS_PER_MINUTE_MAX 6 /* a broker that ends this client's connections again and again means this client */
/* Clearly longer than a service manager takes to start another broker, and as long as a recorder core goes on without one. A
 * program that hears nothing for longer would show a picture that stands still. */
#define HOLD_TIME_MAX (3 * SECOND)
#define STREAM_PAUSE SECOND /* a session opens eight streams at once, and then one a second */

#define BROKER_PATH "/org/camarb/Broker1"
#define BROKER_INTERFACE "org.camarb.Broker1"
#define SESSION_PATH "/org/camarb/session/"
#define SESSION_INTERFACE "org.camarb.Session1"
#define SHELL_INTERFACE "org.camarb.Shell1"
#define CAMERA_INTERFACE "org.camarb.Camera1"

#define ERROR_DISCONNECTED "org.camarb.Error.Disconnected"
#define ERROR_OUT_OF_RESOURCES "org.camarb.Error.OutOfResources"
#define ERROR_UNKNOWN_SESSION "org.camarb.Error.UnknownSession"
#define ERROR_RECORDER_FAULT "org.camarb.Error.RecorderFault"
#define ERROR_FAILED "org.freedesktop.DBus.Error.Failed"
#define ERROR_INVALID_ARGUMENTS "org.freedesktop.DBus.Error.InvalidArgs"

#define CAUSE_BROKER_RESTARTED "broker-restarted"
/* The rule behind it, which the broker that ended cannot name any more. */
#define RULE_BROKER_RESTARTED "built in: the broker was restarted"

/* ── Texts, words, configurations ───────────────────────────────────────────────────────────────────────────────────────────── */

typedef const char *const *words; /* a list that ends with NULL, on the heap; NULL is an empty one */

/* NULL for "" and NULL. Cut at TEXT_MAX, between two characters. */
char *text_copy(camarb_client *client, const char *text);
bool text_equals(const char *one, const char *other);
/* Whether D-Bus takes it: a broker ends the connection of a client that sends another text. */
bool text_is_utf8(const char *text);

size_t words_count(words list);
bool words_have(words list, const char *word);
/* The same words, in whatever order. */
bool words_equal(words one, words other);
words words_copy(camarb_client *client, words list);
words words_of(camarb_client *client, const char *word);
/* All of both, in the order in which causes tell: docs/semantics.md §3. */
words causes_union(camarb_client *client, words one, words other);
void words_free(words list);

struct setting {
    char *key;
    char kind; /* s, d, b or r, as in D-Bus: a word, a number, a flag, or a structure of numbers */
    char *word;
    double number;
    bool flag;
    double numbers[NUMBERS_MAX]; /* unused ones are 0 */
    size_t number_count;
};

struct camarb_configuration {
    size_t count;
    struct setting *settings;
};

camarb_configuration *configuration_copy(camarb_client *client, const camarb_configuration *from);
/* A later batch over an earlier one: the later value of each key counts. 0, or -ENOMEM. */
int configuration_merge(camarb_configuration *into, const camarb_configuration *later);
/* The same, as its session means it: a preset and a format take each other's place, as frameRate and the frame durations do.
 * (Configuration.take of Sources/Core/Vocabulary/Configuration.swift.) */
int configuration_take(camarb_configuration *into, const camarb_configuration *later);
void configuration_remove(camarb_configuration *configuration, const char *key);
/* One key's value goes over; where there is none, it is gone in both. 0, or -ENOMEM. */
int configuration_move(camarb_configuration *into, camarb_configuration *from, const char *key);
void configuration_clear(camarb_configuration *configuration);
bool configuration_equals(const camarb_configuration *one, const camarb_configuration *other);
/* As a{sv}. NULL is an empty one. `reestablished` is said beside it where asked. */
int configuration_append(sd_bus_message *message, const camarb_configuration *configuration, bool reestablished);
int setting_append(sd_bus_message *message, const struct setting *setting);
int configuration_read(sd_bus_message *message, camarb_configuration *into);
/* An a{sv} entry by entry. `each` reads one value, or leaves it to be passed over: 1: it was read; 0: it was left; or an error, which ends
 * the reading. */
typedef int (*entry_reader)(sd_bus_message *message, const char *key, void *into);
int dictionary_read(sd_bus_message *message, entry_reader each, void *into);
/* Whether the variant that comes next has that type; an error: there is none. */
int variant_is(sd_bus_message *message, const char *type);
/* A variant's word, or its flag. 1: it was one; 0: it is none, and was not read. */
int word_read(sd_bus_message *message, const char **word);
int flag_read(sd_bus_message *message, bool *flag);
/* A variant's number, whatever width it has. 1: it was one; 0: it is none, and was not read. */
int number_read(sd_bus_message *message, double *number);
/* A variant's numbers, in a structure or a list: two, or three, or of a list that is none of both 0. 1: they were read; 0: there are
 * none, and nothing was read. */
int numbers_read(sd_bus_message *message, double numbers[NUMBERS_MAX], size_t *count);

/* ── Events ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* An event, and its texts, lists and configurations: no text or list is NULL by the time the program sees it. */
struct event {
    struct event *next;
    camarb_event told;
    sd_bus_message *answer; /* of a call of face.h */
};

struct event *event_new(camarb_client *client, enum camarb_event_type type);
void event_free(struct event *event);
void event_push(camarb_client *client, struct event *event); /* puts it behind the others; it is the queue's then */
/* The same beyond the bound: for the events that say that something has ended, of which there is one each. */
void event_push_last(camarb_client *client, struct event *event);
/* Takes the answer of a call out of the queue; NULL: it is not there. */
struct event *event_take_answer(camarb_client *client, camarb_call call);
/* Nothing of a session that is no more is told. */
void events_forget(camarb_client *client, camarb_session *session);
void events_free(camarb_client *client);

/* ── What a session asked for and was last told ─────────────────────────────────────────────────────────────────────────────── */

/* The loss that a session's program has not received at its broker's end, since the next broker may give the session back as it was.
 *
 *     none ──the end──▶ running ──Reclaim──▶ reclaiming ──given back──▶ none, and nothing is told
 *      │                   └───── time over, or refused ─────▶ none, and the loss is told
 *      └──the end──▶ waiting ──the next broker has said the same, or runs it──▶ none
 *
 * A session that ran without a secret, or was about to, is told at once. */
enum hold_kind {
    HOLD_NONE,
    HOLD_RUNNING, /* it runs, as far as the program knows, and there is a secret to go on by */
    HOLD_RECLAIMING, /* the next broker is being asked for it */
    /* It was interrupted. Once it is back at a broker, what that says of the interruption is kept: while others come back, it
     * changes by the moment. */
    HOLD_WAITING,
};

/* A broker's words about an interruption. */
struct interruption_words {
    words causes;
    const char *interrupter, *rule, *message;
};

struct hold {
    enum hold_kind kind;
    int64_t until;
    bool is_back, has_said;
    words causes;
    char *interrupter, *rule, *message;
};

struct interruption {
    bool is_open;
    uint64_t id;
    words causes, causes_it_had;
    char *interrupter, *message;
    /* The one that it cut; 0: none. */
    uint64_t recording;
    int64_t since;
    bool is_carried; /* it began under a broker that is gone */
};

/* Photos that are under way. A session has a handful; more are not told of as lost when the broker ends. */
#define PHOTOS_MAX 64
#define PHOTOS_DONE_MAX 8
/* More cameras than anybody switches between; beyond that the one that was left first is forgotten. */
#define OTHERS_MAX 16

/* Enough to create the session anew at another broker, and to go on with its events where they stopped: the program sees one life
 * of it where there are several. */
struct memory {
    char *camera;
    camarb_configuration configuration;
    /* Between begin and commit: how deep, and what was asked since the outermost begin. */
    unsigned batch_depth;
    camarb_configuration batch;
    /* The configurations of the session's former cameras, as the broker remembers them: in the order of the switches. */
    struct other {
        char *camera;
        camarb_configuration configuration;
    } others[OTHERS_MAX];
    size_t other_count;
    bool wants_to_run, is_running;
    struct hold hold;
    char secret[72]; /* shown to the next broker, it goes on with the camera; "": there is none for what runs now */
    uint64_t run; /* counts grants, so that a secret that comes late is not taken for that of a later one */
    /* The broker's number of it. */
    uint64_t grant;
    bool wants_secret;
    words access, access_causes;
    /* Beside them, and beside stop_reason: the policy's own words. */
    char *access_message, *stop_message;
    char *controller; /* beside the session, of a shared camera; NULL: none was told */
    camarb_configuration *in_force;
    /* It has just gone on at another broker, which tells it what it knows already. */
    bool is_settling, knows_in_force;
    struct interruption open;
    /* Announced, and not come yet; 0: none. */
    uint64_t warned;
    uint64_t last_interruption;
    /* The difference between the program's numbers of interruptions and the broker's. */
    uint64_t offset;
    words sharers;
    uint64_t recording, last_recording_finished;
    bool is_paused;
    uint64_t photos[PHOTOS_MAX];
    size_t photo_count;
    /* The last ones that were told before the answer to their call was seen. */
    uint64_t photos_done[PHOTOS_DONE_MAX];
    size_t photo_done_count;
    uint64_t sequence;
    uint64_t expected;
};

struct stream;

struct camarb_session {
    camarb_session *next;
    camarb_client *client;
    void *tag;
    struct memory memory;
    uint64_t id; /* the present broker's number; 0: it does not know the session */
    /* Some broker has taken it once. */
    bool was_created;
    bool is_being_created, needs_putting_back;
    bool has_ended;
    /* The error of each later call of the session's: of its creation, where that failed. */
    char *end_name, *end_sentence;
    struct event *end_event;
    /* Why it does not run though it was asked to: the last refusal of a start, or a stop that was not the program's. */
    char *refusal, *stop_reason;
    char *known_camera;
    /* The result of camarb_session_configuration. */
    camarb_configuration *shown;
    bool wants_pictures;
    struct stream *stream;
    int64_t stream_due;
    /* The grant's stream broke its rules: there is no other in it. */
    uint64_t broken_run;
    sd_bus_slot *secret_slot, *stream_slot, *properties_slot;
    /* Camera and configuration are to be asked for: a broker says by itself only what was asked to change. */
    bool wants_properties;
    uint64_t secret_run, stream_run;
};

int memory_begin(camarb_client *client, struct memory *memory, const char *camera, const camarb_configuration *configuration);
void memory_free(struct memory *memory);

/* A signal of the present broker's, read: tells the program what it does not know already. Takes the event. */
void memory_arrived(camarb_session *session, struct event *event, uint64_t sequence);
/* remembering.c */
void memory_remember_configuration(camarb_session *session, const camarb_configuration *asked);
void memory_commit_batch(camarb_session *session);
/* Takes from a ConfigurationApplied the wanted keys beyond the batch. */
void memory_learn(struct memory *memory, camarb_client *client, const struct event *event);
void memory_forget_others(struct memory *memory);
void memory_remember_recording(camarb_session *session, uint64_t recording);
void memory_remember_photo(camarb_session *session, uint64_t photo);
uint64_t memory_brokers_number(const struct memory *memory, uint64_t interruption);
bool memory_was_running(const struct memory *memory);
bool memory_is_reclaimable(const struct memory *memory);
/* The parts of what is told that both files of the memory need. */
void memory_tell(camarb_session *session, struct event *event);
void memory_changed(camarb_session *session, struct interruption_words said, uint64_t decision);
void memory_end_carried(camarb_session *session, words causes, bool will_resume, uint64_t decision);
void memory_runs_no_more(struct memory *memory);
void memory_has_new_grant(struct memory *memory);

/* holding.c */
void hold_clear(struct hold *hold);
bool hold_notes(camarb_client *client, struct hold *hold, struct interruption_words said);
void memory_lost(camarb_session *session);
const char *memory_begin_reclaiming(camarb_session *session);
void memory_reclaimed(camarb_session *session);
void memory_goes_on(camarb_session *session);
void memory_not_reclaimed(camarb_session *session);
void memory_is_back(camarb_session *session);
void memory_tell_held(camarb_session *session);
void memory_refused(camarb_session *session, const char *error_name, const char *error);
/* The program takes its start request back while there is no broker: what was held back is told, and its end. */
void memory_stopped_while_away(camarb_session *session);

/* ── Calls ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

enum call_kind {
    CALL_DECLARE_CLIENT, CALL_DECLARE_PRESENCE, CALL_WATCH_CAMERAS, CALL_CREATE_SESSION, CALL_START, CALL_STOP,
    CALL_CONFIGURE, CALL_CHECK, CALL_READY, CALL_CONTINUE, CALL_PHOTO, CALL_BRACKET, CALL_START_RECORDING,
    CALL_STOP_RECORDING, CALL_PAUSE_RECORDING, CALL_RESUME_RECORDING, CALL_ATTACH_MICROPHONE, CALL_APPEND_METADATA,
    CALL_BEGIN_BATCH, CALL_COMMIT_BATCH, CALL_OF_FACE,
};

#define BRACKET_KEYS 3 /* biases, durations, ISOs */

/* A bracket that is asked for: its files, and as many values of each kind that it has. */
struct bracket {
    size_t count;
    int files[CAMARB_BRACKET_MAX];
    bool has[BRACKET_KEYS];
    double values[BRACKET_KEYS][CAMARB_BRACKET_MAX];
};

void bracket_free(struct bracket *bracket);
int bracket_append(sd_bus_message *message, const struct bracket *bracket);
uint64_t bracket_read(sd_bus_message *answer);

struct call {
    struct call *next;
    camarb_client *client;
    camarb_call number;
    enum call_kind kind;
    camarb_session *session; /* NULL: the client's own, or of a session that was freed meanwhile */
    bool was_sent;
    sd_bus_slot *slot;
    char *word;
    bool flag;
    uint64_t value;
    int file; /* or a microphone's socket */
    uint32_t sample_rate, channels;
    int64_t time;
    words items;
    struct bracket *bracket;
    sd_bus_message *message; /* as face.h was given it */
    bool is_declaration;
    camarb_configuration *configuration;
    struct event *answer; /* made beforehand, so that no answer is lost for want of memory */
};

/* A negative errno number, with its sentence kept in the client. */
int fail(camarb_client *client, int number, const char *name, const char *format, ...) __attribute__((format(printf, 4, 5)));
int error_number(const char *name); /* the errno number of a D-Bus error; negative */
int client_check(camarb_client *client); /* 0 where the client may be used; -ECHILD in a child, or what it ended by */

/* A call to fill in and then to ask, or to free; NULL: it may not be made, and `*result` says why. */
struct call *call_make(camarb_client *client, camarb_session *session, enum call_kind kind, int *result);
camarb_call call_ask(struct call *call); /* puts it behind the others, and sends it as soon as there is a broker */
/* Calls without other arguments than these, or with a copy of a configuration. -EINVAL where the session, or the configuration, is NULL. */
camarb_call call_of_session(camarb_session *session, enum call_kind kind, uint64_t value);
camarb_call call_with_configuration(
    camarb_client *client, camarb_session *session, enum call_kind kind, const camarb_configuration *configuration);
/* Duplicates the caller's descriptor for a call. Where that fails, the call is freed. */
int call_duplicate(struct call *call, int file, int *into);
void call_free(struct call *call);
void calls_flush(camarb_client *client); /* sends what waits, in the order in which it was asked */
/* The connection has ended under them. */
void calls_lost(camarb_client *client);
void calls_fail_all(camarb_client *client, const char *error_name, const char *error);
void calls_forget(camarb_client *client, camarb_session *session);
void call_answer(struct call *call, uint64_t value, const char *error_name, const char *error);

/* recordings.c: what their calls take. */
int recording_options_append(sd_bus_message *message, const camarb_configuration *options);
int microphone_append(sd_bus_message *message, const struct call *call);
int group_append(sd_bus_message *message, const struct call *call);

/* ── Cameras ────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

struct cameras {
    bool are_watched, were_told, are_stale;
    camarb_camera *list;
    size_t count;
    sd_bus_slot *slot;
};

/* Asks what cameras there are, unless that is being asked; then it is asked again. */
void cameras_ask(camarb_client *client);
void cameras_free(camarb_client *client);

/* ── The client ─────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/*     connecting ──▶ authenticating ──▶ putting back ──▶ connected
 *         ▲                 │                 │              │
 *         └──── a pause ────┴─────────────────┴── the end ───┘        any ──▶ over
 *
 * The first connection goes the same way; there is nothing to put back then. */
enum phase { PHASE_CONNECTING, PHASE_AUTHENTICATING, PHASE_PUTTING_BACK, PHASE_CONNECTED, PHASE_OVER };

/* A call of face.h that says what the client is, as the last broker took it: the next one is told the same. */
struct declaration {
    enum call_kind kind;
    sd_bus_message *message; /* NULL: the client has its arguments */
};

enum back_step { BACK_DECLARATION, BACK_CREATE, BACK_RECLAIM, BACK_STOP_RECORDING, BACK_START, BACK_BATCH };

struct face;

struct putting_back {
    enum back_step step;
    size_t declaration;
    camarb_session *session; /* NULL: it was freed meanwhile */
    unsigned batches; /* of the session, begun or configured again */
    sd_bus_slot *slot;
};

struct camarb_client {
    pid_t owner;
    int epoll, timer;
    int64_t armed;
    bool wakes_soon; /* there is something to take that no descriptor tells */
    bool has_more; /* a turn has left something undone */
    /* Nothing that libsystemd is just calling back for is taken down: the end waits until the turn is over. */
    bool is_in_turn;
    bool is_out_of_memory;

    enum phase phase;
    int end_number;
    char end_name[64], end_sentence[TEXT_MAX];
    struct event *end_event;

    char *paths[2];
    size_t path_count;
    sd_bus *bus;
    /* A duplicate of the socket, to wait on: libsystemd closes its own as soon as it sees the broker's end, and while a child of
     * the program still has it, it could not be taken out of the epoll set any more. */
    int waited_on;
    uint32_t waits_for;
    int64_t authenticate_by, next_try, pause, away_until;
    bool was_connected;
    int fault_number;
    char fault[TEXT_MAX];
    sd_id128_t broker, broker_before;
    bool knows_broker, knows_broker_before;
    int64_t ends[ENDS_PER_MINUTE_MAX + 1];
    size_t end_count;
    struct putting_back back;

    /* The declarations: the last of each kind, in the order in which they were first made. */
    struct declaration declared[DECLARATIONS_MAX];
    size_t declared_count;
    camarb_configuration *attributes; /* of the client, as DeclareClient takes them */
    char *presence;
    bool is_focused;
    bool slates_show_names;

    struct call *calls;
    size_t call_count;
    camarb_call last_call;
    camarb_session *sessions;
    size_t session_count;
    struct stream *streams;
    struct cameras cameras;

    struct event *events, *last_event, *current;
    size_t event_count;

    const struct face *face; /* NULL: the program is written in C */

    char error[TEXT_MAX], error_name[256];
};

int64_t now_ns(void);
/* camarb_client_new_explained, with a face or without. */
int client_make(camarb_client **made, const struct face *face, const char *address, char *sentence, size_t bytes);
/* The same descriptor at 3 or above, and closed on exec: what is below is the program's standard streams, even while it has
 * closed them. Negative where that fails; the one that was given is closed then. */
int raised(int descriptor);
void client_wake_soon(camarb_client *client);
/* For good. The first reason counts. `number` is negative. */
void client_end(camarb_client *client, int number, const char *name, const char *sentence);
/* Sets the timer to what is due next. */
void client_arm(camarb_client *client);
bool client_has_something(camarb_client *client);

/* connection.c */
int addresses_find(camarb_client *client, const char *address);
/* The first time: waits a little for a place in the broker's queue. 0, or why there is no broker. */
int connection_first(camarb_client *client);
void connection_turn(camarb_client *client);
void connection_ended(camarb_client *client, int number, const char *sentence);
int64_t connection_due(camarb_client *client);
void connection_drop(camarb_client *client); /* frees what it has, and tells nobody */
/* Of the present broker; for what is sent, and answered to `handler` unless that is NULL. */
sd_bus_message *call_message(camarb_client *client, uint64_t session, const char *member);
int call_send(camarb_client *client, sd_bus_message *message, sd_bus_slot **slot, sd_bus_message_handler_t handler, void *context);
/* False: it was made up by libsystemd because the connection ends, and is no answer. */
bool answer_is_real(sd_bus_message *answer);

/* putting_back.c */
void back_begin(camarb_client *client);
void back_forget(camarb_client *client, camarb_session *session);

/* sessions.c */
/* Creates it at the present broker. */
int session_send_creation(
    camarb_client *client, camarb_session *session, sd_bus_slot **slot, sd_bus_message_handler_t handler, void *context);
/* The number in the answer of CreateSession; 0: there is none. */
uint64_t session_number(sd_bus_message *answer);
void session_is_known(camarb_session *session, uint64_t id);
void session_close_at_broker(camarb_client *client, uint64_t id);
/* For good: the program is told, and the session stays until it is freed. */
void session_end(camarb_session *session, const char *error_name, const char *error);
void session_drop_slots(camarb_session *session);
/* Why it did not run is of an earlier start. */
void session_forget_stop(camarb_session *session);
void session_note_refusal(camarb_session *session, const char *error);
/* Asks for what it lacks: a secret, a stream, what it is. */
void session_ask(camarb_session *session);
int64_t session_stream_due(const camarb_session *session);
void session_free_all(camarb_client *client);
camarb_session *session_find(camarb_client *client, uint64_t id);
void session_tell_runtime_error(camarb_session *session, const char *error_name, const char *error);

/* signals.c */
int signal_arrived(sd_bus_message *message, void *context, sd_bus_error *error);

/* face.c */
int face_connect(camarb_client *client);
void face_remember(camarb_client *client, sd_bus_message *message);
sd_bus_message *face_declaration(camarb_client *client, sd_bus_message *said);

/* stream.c */
void stream_adopt(camarb_session *session, int descriptor);
void stream_read(struct stream *stream);
/* It gives no frames any more. Frames that are held stay readable. */
void stream_end(struct stream *stream);
bool stream_has_frame(const struct stream *stream);
/* Gives back all frames that wait but the newest ones. */
void stream_keep(struct stream *stream, size_t newest);
void streams_read(camarb_client *client);
void streams_free(camarb_client *client);

#endif
