// A recorder core that has no camera: it answers Recorder1 at once, and does nothing. What is left of a handoff is then
// the broker and its sockets. Started by camarbd in camrecorder's place, with the connection as descriptor 3. It has the calls
// that sessions without streams, photos and recordings lead to, as docs/wire.md has them: camarbd kills one that does not answer
// them, and a bench fails by that (bench/run).
#include "bus.h"

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

int main(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sd_bus *bus;
    sd_id128_t id;
    check(sd_id128_randomize(&id), "sd_id128_randomize");
    check(sd_bus_new(&bus), "sd_bus_new");
    check(sd_bus_set_fd(bus, 3, 3), "sd_bus_set_fd");
    check(sd_bus_set_server(bus, 1, id), "sd_bus_set_server");
    check(sd_bus_set_anonymous(bus, 1), "sd_bus_set_anonymous");
    check(sd_bus_negotiate_fds(bus, 1), "sd_bus_negotiate_fds");
    check(sd_bus_start(bus), "sd_bus_start");
    check(sd_bus_add_object_vtable(bus, NULL, "/org/camarb/Recorder1", RECORDER, vtable, NULL), "vtable");
    int epoll = new_epoll();
    watch(epoll, 3, 0);
    for (;;) {
        int result;
        while ((result = sd_bus_process(bus, NULL)) > 0) {}
        if (result < 0) return 0;
        struct epoll_event event;
        epoll_wait(epoll, &event, 1, -1);
    }
}
