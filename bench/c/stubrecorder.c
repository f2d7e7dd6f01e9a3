// A recorder core that has no camera: it answers Recorder1 at once, and does nothing. What is left of a handoff is then
// the broker and its sockets. Started by camarbd in camrecorder's place, with the connection as descriptor 3; or before it,
// with a path to listen on, where camarbd can start none (valgrind knows no pidfd_open). It has the calls that sessions
// without streams, photos and recordings lead to, as docs/wire.md has them: camarbd kills one that does not answer them, and
// a bench fails by that (bench/run).
// usage: stubrecorder [--listen PATH]
#include "bus.h"
#include <sys/syscall.h>

#define RECORDER "org.camarb.Recorder1"

static int entry(sd_bus_message *m, const char *key, const char *type, ...) {
    va_list arguments;
    va_start(arguments, type);
    check(sd_bus_message_open_container(m, 'e', "sv"), key);
    check(sd_bus_message_append(m, "s", key), key);
    check(sd_bus_message_open_container(m, 'v', type), key);
    check(sd_bus_message_appendv(m, type, arguments), key);
    check(sd_bus_message_close_container(m), key);
    va_end(arguments);
    return sd_bus_message_close_container(m);
}

static int answer(sd_bus_message *reply) {
    int result = sd_bus_send(NULL, reply, NULL);
    sd_bus_message_unref(reply);
    return result < 0 ? result : 1;
}

static int on_serve(sd_bus_message *call, void *context, sd_bus_error *error) {
    int own = syscall(SYS_pidfd_open, getpid(), 0);
    if (own < 0) die("pidfd_open: %s", strerror(errno));
    int result = sd_bus_reply_method_return(call, "h", own);
    close(own);
    return result;
}

static int on_describe(sd_bus_message *call, void *context, sd_bus_error *error) {
    sd_bus_message *reply;
    check(sd_bus_message_new_method_return(call, &reply), "reply");
    check(sd_bus_message_open_container(reply, 'a', "{sv}"), "reply");
    entry(reply, "name", "s", "Stub");
    entry(reply, "position", "s", "front");
    entry(reply, "sensorWidth", "u", 1920);
    entry(reply, "sensorHeight", "u", 1080);
    check(sd_bus_message_open_container(reply, 'e', "sv"), "formats");
    check(sd_bus_message_append(reply, "s", "formats"), "formats");
    check(sd_bus_message_open_container(reply, 'v', "aa{sv}"), "formats");
    check(sd_bus_message_open_container(reply, 'a', "a{sv}"), "formats");
    check(sd_bus_message_open_container(reply, 'a', "{sv}"), "formats");
    entry(reply, "pixelFormat", "s", "420v");
    entry(reply, "width", "u", 1920);
    entry(reply, "height", "u", 1080);
    entry(reply, "minFrameRate", "d", 1.0);
    entry(reply, "maxFrameRate", "d", 30.0);
    entry(reply, "videoMaxZoomFactor", "d", 1.0);
    entry(reply, "videoZoomFactorUpscaleThreshold", "d", 1.0);
    entry(reply, "isBinned", "b", 0);
    entry(reply, "fieldOfView", "d", 60.0);
    for (int depth = 0; depth < 5; depth++) check(sd_bus_message_close_container(reply), "formats");
    return answer(reply);
}

static int on_open(sd_bus_message *call, void *context, sd_bus_error *error) {
    sd_bus_message *reply;
    check(sd_bus_message_new_method_return(call, &reply), "reply");
    check(sd_bus_message_open_container(reply, 'a', "{sv}"), "reply");
    entry(reply, "activeFormat", "s", "420v 1920x1080@30");
    entry(reply, "frameRate", "d", 30.0);
    entry(reply, "videoZoomFactor", "d", 1.0);
    check(sd_bus_message_close_container(reply), "reply");
    return answer(reply);
}

static int on_cut(sd_bus_message *call, void *context, sd_bus_error *error) {
    return sd_bus_reply_method_return(call, "x", (int64_t)0);
}

static int on_other(sd_bus_message *call, void *context, sd_bus_error *error) {
    return sd_bus_reply_method_return(call, "");
}

static const sd_bus_vtable vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("Serve", "s", "h", on_serve, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Describe", "", "a{sv}", on_describe, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Open", "ta{sv}", "a{sv}", on_open, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Configure", "ta{sv}", "a{sv}", on_open, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("CloseStreams", "tt", "", on_other, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("StopRecording", "tsa{sv}", "", on_other, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("SetSlate", "ttb", "", on_other, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Cut", "tsa{sv}", "x", on_cut, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("PassOn", "tsa{sv}", "x", on_cut, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Beat", "", "", on_other, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

// Until a process waits for something: what it is sent then it finds by itself, and never among other work. Else how much it
// does at once, and so its instructions, would depend on who gets the processor first.
static void until_asleep(pid_t process) {
    char path[32], text[256];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    for (;;) {
        int file = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
        if (file >= 0) close(file);
        if (length <= 0) return;
        text[length] = 0;
        // The name before it may have anything in it, and ends with a parenthesis.
        const char *state = strrchr(text, ')');
        if (state == NULL || state[2] != 'R') return;
        usleep(50);
    }
}

// The first connection that comes, and the process that made it.
static int accepted(const char *path, pid_t *peer) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) die("socket path too long: %s", path);
    strcpy(address.sun_path, path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 1) < 0)
        die("listen on %s: %s", path, strerror(errno));
    int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) die("accept: %s", strerror(errno));
    close(listener);
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0) die("SO_PEERCRED: %s", strerror(errno));
    *peer = credentials.pid;
    return connection;
}

int main(int argc, char **argv) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pid_t peer = 0;
    int connection = argc == 3 && strcmp(argv[1], "--listen") == 0 ? accepted(argv[2], &peer) : 3;
    sd_bus *bus;
    sd_id128_t id;
    check(sd_id128_randomize(&id), "sd_id128_randomize");
    check(sd_bus_new(&bus), "sd_bus_new");
    check(sd_bus_set_fd(bus, connection, connection), "sd_bus_set_fd");
    check(sd_bus_set_server(bus, 1, id), "sd_bus_set_server");
    check(sd_bus_set_anonymous(bus, 1), "sd_bus_set_anonymous");
    check(sd_bus_negotiate_fds(bus, 1), "sd_bus_negotiate_fds");
    check(sd_bus_start(bus), "sd_bus_start");
    check(sd_bus_add_object_vtable(bus, NULL, "/org/camarb/Recorder1", RECORDER, vtable, NULL), "vtable");
    int epoll = new_epoll();
    watch(epoll, connection, 0);
    for (;;) {
        int result;
        while ((result = sd_bus_process(bus, NULL)) > 0) {}
        if (result < 0) return 0;
        struct epoll_event event;
        epoll_wait(epoll, &event, 1, -1);
        if (peer) until_asleep(peer);
    }
}
