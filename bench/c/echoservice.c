// The same call answered by a C program that does nothing else: behind a bus daemon, or to a peer.
// usage: echoservice bus ADDRESS NAME | echoservice peer PATH; prints "ready" when it answers
#include "bus.h"

static int on_watch(sd_bus_message *call, void *context, sd_bus_error *error) {
    int on;
    int result = sd_bus_message_read(call, "b", &on);
    return result < 0 ? result : sd_bus_reply_method_return(call, "");
}

static const sd_bus_vtable vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("Watch", "b", "", on_watch, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

static void serve(sd_bus *bus) {
    check(sd_bus_add_object_vtable(bus, NULL, BROKER_PATH, BROKER, vtable, NULL), "sd_bus_add_object_vtable");
    int epoll = new_epoll();
    watch(epoll, sd_bus_get_fd(bus), 0);
    for (;;) {
        int result;
        while ((result = sd_bus_process(bus, NULL)) > 0) {}
        if (result < 0) return;
        struct epoll_event event;
        epoll_wait(epoll, &event, 1, -1);
    }
}

int main(int argc, char **argv) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (argc == 4 && strcmp(argv[1], "bus") == 0) {
        sd_bus *bus = bus_connect(argv[2], 1);
        check(sd_bus_request_name(bus, argv[3], 0), "sd_bus_request_name");
        puts("ready"), fflush(stdout);
        serve(bus);
    } else if (argc == 3 && strcmp(argv[1], "peer") == 0) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        if (strlen(argv[2]) >= sizeof address.sun_path) die("socket path too long");
        strcpy(address.sun_path, argv[2]);
        int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 16) < 0)
            die("%s: %s", argv[2], strerror(errno));
        puts("ready"), fflush(stdout);
        for (;;) {
            int descriptor = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
            if (descriptor < 0) continue;
            sd_bus *bus;
            sd_id128_t id;
            check(sd_id128_randomize(&id), "sd_id128_randomize");
            check(sd_bus_new(&bus), "sd_bus_new");
            check(sd_bus_set_fd(bus, descriptor, descriptor), "sd_bus_set_fd");
            check(sd_bus_set_server(bus, 1, id), "sd_bus_set_server");
            check(sd_bus_start(bus), "sd_bus_start");
            serve(bus);
            sd_bus_close_unref(bus);
        }
    } else {
        die("usage: echoservice bus ADDRESS NAME | echoservice peer PATH");
    }
}
