/* A program's events over its brokers' ends: memory.c and holding.c, with what brokers say put into a session as it comes.
 *
 * Nothing is connected: a broker's end and the next one's beginning are calls, as connection.c and putting_back.c make them. What was
 * told is compared whole, as text. */
#include "inside.h"
#include "units.h"

#define IN_USE "video-device-in-use-by-another-client"
#define SLEEP "system-sleep"
#define RESTARTED CAUSE_BROKER_RESTARTED
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static camarb_client *client;
static camarb_session *session;
static struct memory *memory;
static uint64_t brokers_sequence, sequence;

static void begin(void) {
    client = calloc(1, sizeof *client);
    session = calloc(1, sizeof *session);
    REQUIRE(client && session);
    *client = (camarb_client){
        .owner = getpid(), .epoll = -1, .timer = -1, .waited_on = -1, .armed = NEVER, .phase = PHASE_CONNECTED, .sessions = session};
    session->client = client;
    memory = &session->memory;
    REQUIRE(memory_begin(client, memory, "front", NULL) == 0);
    brokers_sequence = sequence = 0;
}

/* ── What a broker says ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

static void says(struct event *event) {
    event->told.decision = 7;
    memory_arrived(session, event, ++brokers_sequence);
    REQUIRE(memory->expected == brokers_sequence + 1);
}

static void says_number(enum camarb_event_type type, uint64_t number) {
    struct event *event = event_new(client, type);
    event->told.interruption = event->told.recording = event->told.photo = event->told.grant = number;
    says(event);
}

static void interrupts(uint64_t id, words causes, const char *by, uint64_t cutting) {
    struct event *event = event_new(client, CAMARB_EVENT_WAS_INTERRUPTED);
    event->told.interruption = id;
    event->told.recording = cutting;
    event->told.causes = words_copy(client, causes);
    event->told.interrupter = text_copy(client, by);
    event->told.rule = text_copy(client, "a rule");
    says(event);
}

static void changes(uint64_t id, words causes, const char *by) {
    struct event *event = event_new(client, CAMARB_EVENT_INTERRUPTION_CHANGED);
    event->told.interruption = id;
    event->told.causes = words_copy(client, causes);
    event->told.interrupter = text_copy(client, by);
    says(event);
}

static void ends(uint64_t id, words causes) {
    struct event *event = event_new(client, CAMARB_EVENT_INTERRUPTION_ENDED);
    event->told.interruption = id;
    event->told.will_resume = true;
    event->told.duration = SECOND;
    event->told.causes = words_copy(client, causes);
    says(event);
}

static void says_sharers(words sharers) {
    struct event *event = event_new(client, CAMARB_EVENT_SHARERS_CHANGED);
    event->told.sharers = words_copy(client, sharers);
    says(event);
}

static void says_access_beside(words access, words causes, const char *controller) {
    struct event *event = event_new(client, CAMARB_EVENT_ACCESS_CHANGED);
    event->told.controller = text_copy(client, controller);
    event->told.access = words_copy(client, access);
    event->told.causes = words_copy(client, causes);
    says(event);
}

static void says_access(words access, words causes) { says_access_beside(access, causes, NULL); }

static void says_settings(enum camarb_event_type type, const char *camera, double rate) {
    struct event *event = event_new(client, type);
    camarb_configuration *in_force = camarb_configuration_new();
    camarb_configuration_set_number(in_force, "frameRate", rate);
    if (camera) camarb_configuration_set_word(in_force, "camera", camera);
    event->told.in_force = in_force;
    says(event);
}

static void runs(uint64_t grant) { says_number(CAMARB_EVENT_DID_START_RUNNING, grant); }

/* A running session could be given back by the next broker. */
static void tells_secret(void) { snprintf(memory->secret, sizeof memory->secret, "sesame"); }

static void broker_ends(void) {
    memory_lost(session);
    REQUIRE(memory->expected == 1);
    brokers_sequence = 0;
}

/* ── What the program is told ───────────────────────────────────────────────────────────────────────────────────────────────── */

static char text[16384];

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...) {
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, sizeof text - length, format, arguments);
    va_end(arguments);
}

static void add_list(const char *const *list) {
    add(" (");
    for (size_t i = 0; list[i]; i++) add("%s%s", i ? " " : "", list[i]);
    add(")");
}

static void add_event(const camarb_event *event) {
    switch (event->type) {
    case CAMARB_EVENT_WILL_BE_INTERRUPTED: add("warned %d", (int)event->interruption); break;
    case CAMARB_EVENT_INTERRUPTION_WITHDRAWN: add("withdrawn %d", (int)event->interruption); break;
    case CAMARB_EVENT_WAS_INTERRUPTED:
    case CAMARB_EVENT_INTERRUPTION_CHANGED:
        add(event->type == CAMARB_EVENT_WAS_INTERRUPTED ? "interrupted %d" : "changed %d", (int)event->interruption);
        add_list(event->causes);
        REQUIRE_TEXT(event->reason, event->causes[0]);
        if (*event->interrupter) add(" by %s", event->interrupter);
        if (event->recording) add(" cutting %d", (int)event->recording);
        break;
    case CAMARB_EVENT_INTERRUPTION_ENDED:
        add("ended %d", (int)event->interruption);
        add_list(event->causes);
        REQUIRE_TEXT(event->reason, "");
        if (event->recording) add(" cut %d", (int)event->recording);
        if (event->will_resume) add(" resumes");
        break;
    case CAMARB_EVENT_DID_START_RUNNING: add("runs %d", (int)event->grant); break;
    case CAMARB_EVENT_DID_STOP_RUNNING: add("stops"); break;
    case CAMARB_EVENT_ACCESS_CHANGED:
        add("access");
        add_list(event->access);
        add_list(event->causes);
        REQUIRE_TEXT(event->reason, "");
        if (*event->controller) add(" by %s", event->controller);
        break;
    case CAMARB_EVENT_SHARERS_CHANGED:
        add("sharers");
        add_list(event->sharers);
        break;
    case CAMARB_EVENT_SESSION_STOPPED: add("stopped %s", event->reason); break;
    case CAMARB_EVENT_RECORDING_STARTED: add("records %d", (int)event->recording); break;
    case CAMARB_EVENT_RECORDING_FINISHED:
        add("recorded %d %s %s %s", (int)event->recording, event->reason, event->cause, event->next_chance);
        break;
    case CAMARB_EVENT_RECORDING_PAUSED: add("paused"); break;
    case CAMARB_EVENT_RECORDING_RESUMED: add("resumed"); break;
    case CAMARB_EVENT_PHOTO_CAPTURED: add("photo %d%s", (int)event->photo, *event->error ? " lost" : ""); break;
    case CAMARB_EVENT_RUNTIME_ERROR: add("error %s %s", event->error_name, event->error); break;
    case CAMARB_EVENT_CONFIGURATION_APPLIED: add("applied"); break;
    case CAMARB_EVENT_CAMERA_STATE_CHANGED: add("state"); break;
    default: add("event %d", event->type);
    }
}

/* All that was told since, a line each. Their numbers go on without a gap, over every broker. */
static const char *told(void) {
    text[0] = 0;
    const camarb_event *event;
    while ((event = camarb_client_next_event(client))) {
        if (event->session != session || event->sequence != ++sequence) add("out of order: ");
        add_event(event);
        add("\n");
    }
    return text;
}

static void end(void) {
    REQUIRE_TEXT(told(), "");
    REQUIRE(!client->is_out_of_memory);
    camarb_client_free(client);
}

/* ── Interruptions ──────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static void numbers_go_on(void) {
    runs(4);
    interrupts(1, WORDS(IN_USE), "booth", 0);
    says_number(CAMARB_EVENT_DID_STOP_RUNNING, 0);
    ends(1, WORDS(IN_USE));
    runs(5);
    REQUIRE_TEXT(told(), "runs 4\ninterrupted 1 (" IN_USE ") by booth\nstops\nended 1 (" IN_USE ") resumes\nruns 5\n");
    broker_ends();
    REQUIRE_TEXT(told(), "interrupted 2 (" RESTARTED ")\nstops\n");
    /* The second broker says that it is interrupted, and counts from 1. */
    interrupts(1, WORDS(RESTARTED), NULL, 0);
    ends(1, WORDS(RESTARTED));
    runs(1);
    interrupts(2, WORDS(SLEEP), NULL, 0);
    ends(2, WORDS(SLEEP));
    runs(2);
    REQUIRE_TEXT(told(), "ended 2 (" RESTARTED ") resumes\nruns 1\ninterrupted 3 (" SLEEP ")\nended 3 (" SLEEP ") resumes\nruns 2\n");
    broker_ends();
    REQUIRE_TEXT(told(), "interrupted 4 (" RESTARTED ")\nstops\n");
    /* The third runs it at once, and its first interruption is another one than that. */
    runs(1);
    interrupts(1, WORDS(IN_USE), "booth", 0);
    REQUIRE_TEXT(told(), "ended 4 (" RESTARTED ") resumes\nruns 1\ninterrupted 5 (" IN_USE ") by booth\n");
    /* The fourth keeps it interrupted as the third did, which is nothing new. */
    broker_ends();
    memory_is_back(session);
    interrupts(1, WORDS(IN_USE), "booth", 0);
    memory_tell_held(session);
    REQUIRE_TEXT(told(), "");
    changes(1, WORDS(SLEEP), NULL);
    ends(1, WORDS(SLEEP, IN_USE));
    runs(1);
    interrupts(2, WORDS(SLEEP), NULL, 0);
    ends(2, WORDS(SLEEP));
    REQUIRE_TEXT(told(),
        "changed 5 (" SLEEP ")\nended 5 (" SLEEP " " IN_USE ") resumes\nruns 1\n"
        "interrupted 6 (" SLEEP ")\nended 6 (" SLEEP ") resumes\n");
}

/* A session that nobody wants to run any more has no interruption at a broker's end, and its next one another number. */
static void numbers_go_on_of_a_stopped_session(void) {
    interrupts(1, WORDS(IN_USE), "booth", 0);
    says_number(CAMARB_EVENT_SESSION_STOPPED, 0);
    REQUIRE_TEXT(told(), "interrupted 1 (" IN_USE ") by booth\nstopped \n");
    broker_ends();
    interrupts(1, WORDS(SLEEP), NULL, 0);
    ends(1, WORDS(SLEEP));
    memory->wants_to_run = false;
    broker_ends();
    interrupts(1, WORDS(IN_USE), NULL, 0);
    ends(1, WORDS(IN_USE));
    interrupts(2, WORDS(SLEEP), NULL, 0);
    REQUIRE_TEXT(told(),
        "interrupted 2 (" SLEEP ")\nended 2 (" SLEEP ") resumes\ninterrupted 3 (" IN_USE ")\nended 3 (" IN_USE ") resumes\n"
        "interrupted 4 (" SLEEP ")\n");
}

static void warnings_have_the_same_numbers(void) {
    runs(1);
    says_number(CAMARB_EVENT_WILL_BE_INTERRUPTED, 1);
    says_number(CAMARB_EVENT_INTERRUPTION_WITHDRAWN, 1);
    says_number(CAMARB_EVENT_WILL_BE_INTERRUPTED, 2);
    REQUIRE(memory_brokers_number(memory, 2) == 2);
    /* An interruption in place of the announced one has its number. */
    broker_ends();
    REQUIRE_TEXT(told(), "runs 1\nwarned 1\nwithdrawn 1\nwarned 2\ninterrupted 2 (" RESTARTED ")\nstops\n");
    runs(1);
    says_number(CAMARB_EVENT_WILL_BE_INTERRUPTED, 1);
    REQUIRE(memory_brokers_number(memory, 3) == 1);
    says_number(CAMARB_EVENT_INTERRUPTION_WITHDRAWN, 1);
    says_number(CAMARB_EVENT_WILL_BE_INTERRUPTED, 2);
    interrupts(2, WORDS(IN_USE), "booth", 0);
    REQUIRE(memory_brokers_number(memory, 4) == 2);
    REQUIRE_TEXT(told(),
        "ended 2 (" RESTARTED ") resumes\nruns 1\nwarned 3\nwithdrawn 3\nwarned 4\ninterrupted 4 (" IN_USE ") by booth\n");
    ends(2, WORDS(IN_USE));
    runs(2);
    /* An announced interruption that came is announced no more: the next has a number of its own. */
    broker_ends();
    REQUIRE_TEXT(told(), "ended 4 (" IN_USE ") resumes\nruns 2\ninterrupted 5 (" RESTARTED ")\nstops\n");
}

static void one_withdrawn_is_announced_no_more(void) {
    runs(1);
    says_number(CAMARB_EVENT_WILL_BE_INTERRUPTED, 1);
    says_number(CAMARB_EVENT_INTERRUPTION_WITHDRAWN, 1);
    broker_ends();
    REQUIRE_TEXT(told(), "runs 1\nwarned 1\nwithdrawn 1\ninterrupted 2 (" RESTARTED ")\nstops\n");
}

/* The hold of an interrupted session is over before another broker is there. */
static void loss_while_interrupted(void) {
    interrupts(1, WORDS(IN_USE), "booth", 0);
    changes(1, WORDS(SLEEP), NULL);
    changes(1, WORDS(SLEEP), NULL);
    REQUIRE_TEXT(told(), "interrupted 1 (" IN_USE ") by booth\nchanged 1 (" SLEEP ")\n");
    int64_t before = now_ns();
    broker_ends();
    REQUIRE(memory->hold.kind == HOLD_WAITING);
    REQUIRE(memory->hold.until >= before + HOLD_TIME_MAX && memory->hold.until <= now_ns() + HOLD_TIME_MAX);
    REQUIRE_TEXT(told(), "");
    memory_tell_held(session);
    REQUIRE(memory->hold.kind == HOLD_NONE);
    REQUIRE_TEXT(told(), "changed 1 (" SLEEP " " RESTARTED ")\n");
    /* Time goes on over the brokers' ends, and the end names all that it was for. */
    memory->open.since -= 5 * SECOND;
    int64_t since = memory->open.since, least = now_ns() - since;
    runs(1);
    const camarb_event *event = camarb_client_next_event(client);
    REQUIRE(event && event->type == CAMARB_EVENT_INTERRUPTION_ENDED && event->sequence == ++sequence);
    REQUIRE(event->duration >= least && event->duration <= now_ns() - since && event->decision == 7);
    text[0] = 0;
    add_event(event);
    REQUIRE_TEXT(text, "ended 1 (" SLEEP " " RESTARTED " " IN_USE ") resumes");
    REQUIRE_TEXT(told(), "runs 1\n");
}

static void what_a_broker_says_while_others_come_back_is_told_at_the_end(void) {
    interrupts(1, WORDS(IN_USE), "booth", 0);
    REQUIRE_TEXT(told(), "interrupted 1 (" IN_USE ") by booth\n");
    broker_ends();
    memory_is_back(session);
    int64_t until = memory->hold.until;
    interrupts(1, WORDS(RESTARTED), NULL, 0);
    changes(1, WORDS(RESTARTED, IN_USE), "kiosk");
    changes(1, WORDS(IN_USE), "kiosk");
    REQUIRE(memory->hold.until == until);
    REQUIRE_TEXT(told(), "");
    memory_tell_held(session);
    REQUIRE_TEXT(told(), "changed 1 (" IN_USE ") by kiosk\n");
    /* As any other from now on. */
    changes(1, WORDS(SLEEP, IN_USE), "kiosk");
    REQUIRE_TEXT(told(), "changed 1 (" SLEEP " " IN_USE ") by kiosk\n");
}

static void a_broker_that_has_said_nothing_has_changed_nothing(void) {
    interrupts(1, WORDS(IN_USE), "booth", 0);
    broker_ends();
    memory_is_back(session);
    memory_tell_held(session);
    ends(1, WORDS(IN_USE));
    REQUIRE_TEXT(told(), "interrupted 1 (" IN_USE ") by booth\nended 1 (" IN_USE ") resumes\n");
}

/* ── Given back, or not ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

static void given_back(void) {
    runs(4);
    uint64_t run = memory->run;
    REQUIRE(memory->wants_secret && memory->grant == 4);
    tells_secret();
    says_sharers(WORDS("mirror"));
    says_number(CAMARB_EVENT_RECORDING_STARTED, 5);
    says_access(WORDS("preview", "record"), WORDS("a cause"));
    says_settings(CAMARB_EVENT_CONFIGURATION_APPLIED, NULL, 15);
    says_number(CAMARB_EVENT_WILL_BE_INTERRUPTED, 1);
    REQUIRE_TEXT(told(), "runs 4\nsharers (mirror)\nrecords 5\naccess (preview record) (a cause)\napplied\nwarned 1\n");
    int64_t before = now_ns();
    broker_ends();
    REQUIRE(memory->hold.kind == HOLD_RUNNING && memory_was_running(memory));
    REQUIRE(memory->hold.until >= before + HOLD_TIME_MAX && memory->hold.until <= now_ns() + HOLD_TIME_MAX);
    REQUIRE_TEXT(told(), "");
    const char *secret = memory_begin_reclaiming(session);
    REQUIRE(secret);
    REQUIRE_TEXT(secret, "sesame");
    REQUIRE(!memory_begin_reclaiming(session));
    memory_reclaimed(session);
    /* Who was about to take the camera, and who watched, is not there any more. */
    REQUIRE_TEXT(told(), "withdrawn 1\nsharers ()\n");
    REQUIRE(memory->hold.kind == HOLD_NONE && memory->run == run + 1 && !memory->secret[0] && !memory->wants_secret);
    /* A notice of the next broker without news is not repeated; then there is a secret to ask for. */
    says_settings(CAMARB_EVENT_CONFIGURATION_APPLIED, NULL, 15);
    says_access(WORDS("record", "preview"), WORDS("a cause"));
    REQUIRE(memory->wants_secret);
    REQUIRE_TEXT(told(), "");
    says_access(WORDS("record", "preview"), WORDS("a cause"));
    says_settings(CAMARB_EVENT_CONFIGURATION_APPLIED, NULL, 15);
    interrupts(1, WORDS(IN_USE), "booth", 5);
    says_number(CAMARB_EVENT_RECORDING_FINISHED, 5);
    REQUIRE_TEXT(told(),
        "access (record preview) (a cause)\napplied\ninterrupted 2 (" IN_USE ") by booth cutting 5\nrecorded 5   \n");
}

/* The camera is given back to whoever controls it, and to nobody beside. */
static void control_passes(void) {
    runs(4);
    tells_secret();
    memory->wants_secret = false;
    says_access_beside(WORDS("preview"), WORDS(IN_USE), "booth");
    REQUIRE(!memory->secret[0] && !memory->wants_secret);
    says_access_beside(WORDS("preview"), WORDS(IN_USE), "mirror");
    REQUIRE(!memory->wants_secret);
    says_access(WORDS("preview", "configure"), (const char *const[]){NULL});
    REQUIRE(memory->wants_secret);
    REQUIRE_TEXT(told(), "runs 4\naccess (preview) (" IN_USE ") by booth\naccess (preview) (" IN_USE ") by mirror\naccess (preview configure) ()\n");
    says_access_beside(WORDS("preview"), WORDS(IN_USE), "booth");
    broker_ends();
    REQUIRE(!memory_begin_reclaiming(session));
    REQUIRE_TEXT(told(), "access (preview) (" IN_USE ") by booth\ninterrupted 1 (" RESTARTED ")\nstops\n");
}

static void given_back_with_other_facts(void) {
    runs(4);
    tells_secret();
    says_settings(CAMARB_EVENT_CONFIGURATION_APPLIED, NULL, 15);
    broker_ends();
    memory_begin_reclaiming(session);
    /* Whatever a broker says of it, it has given it back. */
    says_settings(CAMARB_EVENT_CONFIGURATION_APPLIED, NULL, 20);
    says_access(WORDS("preview"), WORDS("a cause"));
    REQUIRE_TEXT(told(), "runs 4\napplied\napplied\naccess (preview) (a cause)\n");
}

static void not_given_back(void) {
    for (int is_refused = 0; is_refused < 2; is_refused++) {
        if (is_refused) {
            end();
            begin();
        }
        runs(4);
        tells_secret();
        says_sharers(WORDS("mirror"));
        says_number(CAMARB_EVENT_RECORDING_STARTED, 5);
        says_number(CAMARB_EVENT_RECORDING_PAUSED, 5);
        REQUIRE_TEXT(told(), "runs 4\nsharers (mirror)\nrecords 5\npaused\n");
        broker_ends();
        if (is_refused) {
            memory_begin_reclaiming(session);
            memory_not_reclaimed(session);
        } else {
            memory_tell_held(session);
        }
        REQUIRE_TEXT(told(),
            "interrupted 1 (" RESTARTED ") cutting 5\nsharers ()\nstops\n"
            "recorded 5 interrupted " RESTARTED " when-interruption-ends\n");
        REQUIRE(!memory->secret[0] && !memory->is_running && memory->wants_to_run);
        /* Once. */
        memory_tell_held(session);
        memory_not_reclaimed(session);
        interrupts(1, WORDS(RESTARTED), NULL, 0);
        ends(1, WORDS(RESTARTED));
        runs(1);
        /* The next broker counts recordings from 1 again. */
        says_number(CAMARB_EVENT_RECORDING_STARTED, 1);
        says_number(CAMARB_EVENT_RECORDING_FINISHED, 1);
        interrupts(2, WORDS(IN_USE), NULL, 0);
        REQUIRE_TEXT(told(),
            "ended 1 (" RESTARTED ") cut 5 resumes\nruns 1\nrecords 1\nrecorded 1   \ninterrupted 2 (" IN_USE ")\n");
    }
}

static void brokers_that_end_one_after_the_other(void) {
    runs(4);
    tells_secret();
    broker_ends();
    int64_t until = memory->hold.until = memory->hold.until - SECOND;
    memory_begin_reclaiming(session);
    broker_ends();
    /* As if one had: the time that the program is kept in the dark is not begun anew. */
    REQUIRE(memory->hold.kind == HOLD_RUNNING && memory->hold.until == until);
    REQUIRE(memory_begin_reclaiming(session));
    memory_reclaimed(session);
    REQUIRE_TEXT(told(), "runs 4\n");
    /* Given back, and no secret told yet when that broker ends. */
    broker_ends();
    REQUIRE_TEXT(told(), "interrupted 1 (" RESTARTED ")\nstops\n");
    broker_ends();
    runs(1);
    REQUIRE_TEXT(told(), "ended 1 (" RESTARTED ") resumes\nruns 1\n");
}

static void refused(void) {
    runs(4);
    tells_secret();
    broker_ends();
    memory_refused(session, "org.camarb.Error.RefusedByPolicy", "Not you.");
    REQUIRE_TEXT(told(),
        "runs 4\ninterrupted 1 (" RESTARTED ")\nstops\nended 1 (" RESTARTED ")\n"
        "error org.camarb.Error.RefusedByPolicy Not you.\nstopped denied-by-policy\n");
    REQUIRE(!memory->wants_to_run && !memory_was_running(memory));
    REQUIRE_TEXT(session->refusal, "Not you.");
    broker_ends();
    REQUIRE_TEXT(told(), "");
}

static void stopped_while_away(void) {
    runs(4);
    tells_secret();
    broker_ends();
    memory_stopped_while_away(session);
    REQUIRE_TEXT(told(), "runs 4\ninterrupted 1 (" RESTARTED ")\nstops\nended 1 (" RESTARTED ")\n");
    REQUIRE(!memory->wants_to_run);
    interrupts(1, WORDS(IN_USE), NULL, 0);
    REQUIRE_TEXT(told(), "interrupted 2 (" IN_USE ")\n");
}

static void stopped_by_a_broker(void) {
    runs(4);
    broker_ends();
    REQUIRE_TEXT(told(), "runs 4\ninterrupted 1 (" RESTARTED ")\nstops\n");
    struct event *event = event_new(client, CAMARB_EVENT_SESSION_STOPPED);
    event->told.reason = text_copy(client, "stopped-by-operator");
    says(event);
    REQUIRE_TEXT(told(), "ended 1 (" RESTARTED ")\nstopped stopped-by-operator\n");
    REQUIRE_TEXT(session->stop_reason, "stopped-by-operator");
    /* It wants nothing any more, and loses nothing. */
    broker_ends();
    REQUIRE_TEXT(told(), "");
    runs(1);
    REQUIRE(!session->stop_reason);
    REQUIRE_TEXT(told(), "runs 1\n");
}

/* ── Recordings, photos, settings ───────────────────────────────────────────────────────────────────────────────────────────── */

static void recordings(void) {
    runs(1);
    says_number(CAMARB_EVENT_RECORDING_STARTED, 5);
    says_number(CAMARB_EVENT_RECORDING_PAUSED, 5);
    says_number(CAMARB_EVENT_RECORDING_PAUSED, 5);
    says_number(CAMARB_EVENT_RECORDING_RESUMED, 5);
    says_number(CAMARB_EVENT_RECORDING_PAUSED, 5);
    says_number(CAMARB_EVENT_RECORDING_FINISHED, 5);
    says_number(CAMARB_EVENT_RECORDING_FINISHED, 5);
    /* An answer that is seen behind the end of what it began. */
    memory_remember_recording(session, 5);
    says_number(CAMARB_EVENT_RECORDING_STARTED, 6);
    says_number(CAMARB_EVENT_RECORDING_PAUSED, 6);
    says_number(CAMARB_EVENT_RECORDING_FINISHED, 6);
    REQUIRE_TEXT(told(),
        "runs 1\nrecords 5\npaused\nresumed\npaused\nrecorded 5   \nrecords 6\npaused\nrecorded 6   \n");
    /* The broker ends over the one whose answer has come, and over none that has ended. */
    memory_remember_recording(session, 6);
    broker_ends();
    REQUIRE_TEXT(told(), "interrupted 1 (" RESTARTED ")\nstops\n");
    /* The next broker counts from 1. */
    runs(1);
    memory_remember_recording(session, 1);
    broker_ends();
    REQUIRE_TEXT(told(),
        "ended 1 (" RESTARTED ") resumes\nruns 1\n"
        "interrupted 2 (" RESTARTED ") cutting 1\nstops\nrecorded 1 interrupted " RESTARTED " when-interruption-ends\n");
}

/* A recording that was cut, and whose end the broker had not said yet: no other broker knows of it. */
static void cut_recordings(void) {
    runs(1);
    says_number(CAMARB_EVENT_RECORDING_STARTED, 5);
    interrupts(1, WORDS(IN_USE), "booth", 5);
    says_number(CAMARB_EVENT_DID_STOP_RUNNING, 0);
    REQUIRE_TEXT(told(), "runs 1\nrecords 5\ninterrupted 1 (" IN_USE ") by booth cutting 5\nstops\n");
    broker_ends();
    REQUIRE_TEXT(told(), "recorded 5 interrupted " RESTARTED " when-interruption-ends\n");
    memory_is_back(session);
    ends(1, WORDS(IN_USE));
    runs(1);
    REQUIRE_TEXT(told(), "ended 1 (" IN_USE ") cut 5 resumes\nruns 1\n");
    /* The next broker's numbers are its own: an answer of its is kept, whose recording is lost with it. */
    memory_remember_recording(session, 1);
    broker_ends();
    REQUIRE_TEXT(told(),
        "interrupted 2 (" RESTARTED ") cutting 1\nstops\nrecorded 1 interrupted " RESTARTED " when-interruption-ends\n");
    runs(1);
    memory_remember_recording(session, 1);
    broker_ends();
    REQUIRE_TEXT(told(),
        "ended 2 (" RESTARTED ") cut 1 resumes\nruns 1\n"
        "interrupted 3 (" RESTARTED ") cutting 1\nstops\nrecorded 1 interrupted " RESTARTED " when-interruption-ends\n");
}

static void photos(void) {
    memory_remember_photo(session, 1);
    says_number(CAMARB_EVENT_PHOTO_CAPTURED, 1);
    says_number(CAMARB_EVENT_PHOTO_CAPTURED, 2);
    memory_remember_photo(session, 2);
    for (uint64_t photo = 3; photo < 6; photo++) memory_remember_photo(session, photo);
    says_number(CAMARB_EVENT_PHOTO_CAPTURED, 4);
    broker_ends();
    REQUIRE_TEXT(told(), "photo 1\nphoto 2\nphoto 4\nphoto 3 lost\nphoto 5 lost\n");
    broker_ends();
    REQUIRE_TEXT(told(), "");
    /* Of those beyond the bound the oldest is told by nobody. */
    for (uint64_t photo = 1; photo <= PHOTOS_MAX + 1; photo++) memory_remember_photo(session, photo);
    broker_ends();
    char wanted[PHOTOS_MAX * 16] = "";
    for (int photo = 2; photo <= PHOTOS_MAX + 1; photo++) sprintf(wanted + strlen(wanted), "photo %d lost\n", photo);
    REQUIRE_TEXT(told(), wanted);
}

static double rate_of(const camarb_configuration *configuration) {
    double rate = -1;
    camarb_configuration_number(configuration, "frameRate", &rate);
    return rate;
}

static void settings(void) {
    says_settings(CAMARB_EVENT_CONFIGURATION_APPLIED, "back", 15);
    /* Which camera it is goes with no batch to another broker's camera. */
    REQUIRE(rate_of(memory->in_force) == 15 && !camarb_configuration_word(memory->in_force, "camera"));
    REQUIRE(rate_of(session->shown) == 15);
    REQUIRE_TEXT(camarb_configuration_word(session->shown, "camera"), "back");
    says_settings(CAMARB_EVENT_CAMERA_STATE_CHANGED, NULL, 12);
    REQUIRE(rate_of(memory->in_force) == 12 && rate_of(session->shown) == 12);
    REQUIRE_TEXT(camarb_configuration_word(session->shown, "camera"), "back");
    REQUIRE_TEXT(told(), "applied\nstate\n");
}

int main(void) {
    static const struct unit units[] = {
        {"an interruption's number is never given twice, however many brokers end", numbers_go_on},
        {"nor is one of a session that was stopped between two brokers", numbers_go_on_of_a_stopped_session},
        {"a warning and its interruption have one number, which each broker knows by its own", warnings_have_the_same_numbers},
        {"a warning that was withdrawn is not what comes at a broker's end", one_withdrawn_is_announced_no_more},
        {"an interruption goes on over a broker's end, with all its causes and for as long", loss_while_interrupted},
        {"what the next broker says of an interruption is told once, as it is at last",
            what_a_broker_says_while_others_come_back_is_told_at_the_end},
        {"a broker that says nothing of an interruption has changed nothing", a_broker_that_has_said_nothing_has_changed_nothing},
        {"a session that the next broker gives back hears of what is gone, and of nothing that it knows", given_back},
        {"it hears of what is another thing than it was", given_back_with_other_facts},
        {"a session asks for what gives it back when it gains control, and has nothing of that beside another app", control_passes},
        {"a session that is not given back is told all that it lost, once", not_given_back},
        {"brokers that end one after the other keep nobody in the dark for longer", brokers_that_end_one_after_the_other},
        {"a session that the next broker refuses has stopped, with that broker's words", refused},
        {"a stop while there is no broker ends what stands", stopped_while_away},
        {"a broker's stop ends what stands, and the next broker's end is nothing to it", stopped_by_a_broker},
        {"a recording ends once, and a pause is told once", recordings},
        {"a recording that was cut is lost with its broker, and the next one's numbers are its own", cut_recordings},
        {"a photo is there or lost, whichever of its answer and its end comes first", photos},
        {"what is in force is known as it was said last", settings},
    };
    return units_run(units, sizeof units / sizeof *units, begin, end);
}
