// The calls that are measured: Broker1.Watch(false), a boolean in and an empty answer out; a session's, which steps the
// decision core and answers with nothing; Properties.Get of a text; and GetStatus beside sessions of one's own.
// usage: buscall ADDRESS DESTINATION|- CALLS [session CAMERA | property | status SESSIONS] → nanoseconds a call
#include "bus.h"

static char session[128];

static void new_session(sd_bus *bus, const char *camera) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *answer;
    const char *path;
    if (sd_bus_call_method(bus, NULL, BROKER_PATH, BROKER, "CreateSession", &error, &answer, "sa{sv}", camera, 0) < 0)
        die("CreateSession: %s: %s", error.name, error.message);
    check(sd_bus_message_read(answer, "o", &path), "CreateSession");
    snprintf(session, sizeof session, "%s", path);
    sd_bus_message_unref(answer);
}

static int call(sd_bus *bus, const char *destination, const char *kind, long i, sd_bus_error *error) {
    if (kind == NULL) return sd_bus_call_method(bus, destination, BROKER_PATH, BROKER, "Watch", error, NULL, "b", 0);
    if (strcmp(kind, "session") == 0)
        return sd_bus_call_method(
            bus, NULL, session, SESSION, i & 1 ? "CommitConfiguration" : "BeginConfiguration", error, NULL, "");
    if (strcmp(kind, "status") == 0)
        return sd_bus_call_method(bus, NULL, BROKER_PATH, BROKER, "GetStatus", error, NULL, "");
    return sd_bus_call_method(
        bus, NULL, BROKER_PATH, "org.freedesktop.DBus.Properties", "Get", error, NULL, "ss", BROKER, "PolicyName");
}

int main(int argc, char **argv) {
    if (argc < 4 || argc > 6) die("usage: buscall ADDRESS DESTINATION|- CALLS [session CAMERA | property | status SESSIONS]");
    const char *destination = strcmp(argv[2], "-") == 0 ? NULL : argv[2], *kind = argc > 4 ? argv[4] : NULL;
    // An even number, also of those before: a session's batches are opened and closed in turns.
    long calls = number(argv[3], 1, 100000000) / 2 * 2 + 2;
    sd_bus *bus = bus_connect(argv[1], destination != NULL);
    if (kind != NULL && strcmp(kind, "session") == 0) new_session(bus, argc > 5 ? argv[5] : "");
    for (long i = kind != NULL && strcmp(kind, "status") == 0 ? number(argc > 5 ? argv[5] : "", 0, 64) : 0; i > 0; i--)
        new_session(bus, "");
    int64_t begun = 0;
    for (long i = -(calls / 20 * 2); i < calls; i++) {
        if (i == 0) begun = now_ns();
        sd_bus_error error = SD_BUS_ERROR_NULL;
        if (call(bus, destination, kind, i, &error) < 0) die("the call: %s: %s", error.name, error.message);
    }
    printf("%.1f\n", (double)(now_ns() - begun) / calls);
    sd_bus_flush_close_unref(bus);
}
