// Two clients of camarbd in one process take a camera from each other, in turns.
// Counted from the taker's StartRunning until it is told DidStartRunning and the loser DidStopRunning; the loser's
// StopRunning, which makes it a newcomer again, lies between two handoffs and is not counted.
// usage: handoff ADDRESS CAMERA HANDOFFS → nanoseconds a handoff
//        handoff ADDRESS CAMERA CYCLES alone → one client starts and stops: two notices to all, nothing printed but "done"
#include "bus.h"

struct client {
    sd_bus *bus;
    char path[128];
    int started, stopped, answered;
};

static int on_message(sd_bus_message *message, void *context, sd_bus_error *error) {
    struct client *client = context;
    if (sd_bus_message_is_signal(message, SESSION, "DidStartRunning")) client->started++;
    else if (sd_bus_message_is_signal(message, SESSION, "DidStopRunning")) client->stopped++;
    else if (sd_bus_message_is_signal(message, SESSION, "SessionStopped")) die("the broker stopped a session for good");
    return 0;
}

static int on_answer(sd_bus_message *message, void *context, sd_bus_error *unused) {
    const sd_bus_error *error = sd_bus_message_get_error(message);
    if (error != NULL) die("%s: %s", error->name, error->message);
    ((struct client *)context)->answered++;
    return 1;
}

static void call(struct client *client, const char *member) {
    check(
        sd_bus_call_method_async(client->bus, NULL, NULL, client->path, SESSION, member, on_answer, client, ""),
        member);
    check(sd_bus_flush(client->bus), "flush");
}

static void turn(struct client *clients, int count, int epoll) {
    // Buffered messages are served before waiting: the descriptor does not wake anybody for it.
    int busy = 0;
    for (int i = 0; i < count; i++)
        while (check(sd_bus_process(clients[i].bus, NULL), "the connection to the broker") > 0) busy = 1;
    if (busy) return;
    struct epoll_event events[2];
    if (epoll_wait(epoll, events, 2, 10000) == 0) die("the broker said nothing for 10 s");
}

int main(int argc, char **argv) {
    if (argc < 4 || argc > 5) die("usage: handoff ADDRESS CAMERA HANDOFFS [alone]");
    int alone = argc == 5, count = alone ? 1 : 2;
    long rounds = number(argv[3], 1, 100000000);
    struct client clients[2] = {0};
    int epoll = new_epoll();
    for (int i = 0; i < count; i++) {
        struct client *client = &clients[i];
        client->bus = bus_connect(argv[1], 0);
        check(sd_bus_add_filter(client->bus, NULL, on_message, client), "sd_bus_add_filter");
        sd_bus_error error = SD_BUS_ERROR_NULL;
        sd_bus_message *answer;
        if (sd_bus_call_method(
                client->bus, NULL, BROKER_PATH, BROKER, "DeclareClient", &error, NULL, "a{sv}", 1, "app", "s",
                i == 0 ? "bench-a" : "bench-b") < 0)
            die("DeclareClient: %s: %s", error.name, error.message);
        if (sd_bus_call_method(
                client->bus, NULL, BROKER_PATH, BROKER, "CreateSession", &error, &answer, "sa{sv}", argv[2], 0) < 0)
            die("CreateSession: %s: %s", error.name, error.message);
        const char *path;
        check(sd_bus_message_read(answer, "o", &path), "CreateSession");
        snprintf(client->path, sizeof client->path, "%s", path);
        sd_bus_message_unref(answer);
        // It wants its sessions' signals, and none for all.
        if (sd_bus_call_method(
                client->bus, NULL, "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch", &error, NULL, "s",
                "type='signal',interface='" SESSION "'") < 0)
            die("AddMatch: %s: %s", error.name, error.message);
        watch(epoll, sd_bus_get_fd(client->bus), i);
    }
    if (alone) {
        for (long i = 0; i < rounds; i++) {
            struct client *one = &clients[0];
            int started = one->started, stopped = one->stopped;
            call(one, "StartRunning");
            while (one->started == started) turn(clients, 1, epoll);
            call(one, "StopRunning");
            while (one->stopped == stopped) turn(clients, 1, epoll);
        }
        puts("done");
        return 0;
    }
    int64_t spent = 0;
    for (long i = -rounds / 10 - 1; i < rounds; i++) {
        struct client *taker = &clients[i & 1], *loser = &clients[!(i & 1)];
        int first = i == -rounds / 10 - 1, started = taker->started, stopped = loser->stopped, answered = taker->answered;
        int64_t begun = now_ns();
        call(taker, "StartRunning");
        while (taker->started == started || taker->answered == answered || (!first && loser->stopped == stopped))
            turn(clients, 2, epoll);
        if (i >= 0) spent += now_ns() - begun;
        if (first) continue;
        answered = loser->answered;
        call(loser, "StopRunning");
        while (loser->answered == answered) turn(clients, 2, epoll);
    }
    printf("%.1f\n", (double)spent / rounds);
}
