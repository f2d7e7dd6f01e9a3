// How long a daemon takes from its start to its first answered call.
// usage: firstcall PATH COMMAND… → nanoseconds; the daemon is ended again
#include "bus.h"

int main(int argc, char **argv) {
    if (argc < 3) die("usage: firstcall PATH COMMAND…");
    char address[256];
    snprintf(address, sizeof address, "unix:path=%s", argv[1]);
    int64_t begun = now_ns();
    pid_t daemon = child();
    if (daemon == 0) {
        execv(argv[2], argv + 2);
        die("%s: %s", argv[2], strerror(errno));
    }
    int probe;
    while ((probe = connect_to(argv[1])) < 0) {
        if (now_ns() - begun > 10000000000) die("no socket at %s after 10 s", argv[1]);
        if (waitpid(daemon, NULL, WNOHANG) == daemon) die("%s ended at once", argv[2]);
        usleep(100);
    }
    close(probe);
    sd_bus *bus = bus_connect(address, 0);
    sd_bus_error error = SD_BUS_ERROR_NULL;
    if (sd_bus_call_method(bus, NULL, BROKER_PATH, BROKER, "Watch", &error, NULL, "b", 0) < 0)
        die("Watch: %s: %s", error.name, error.message);
    printf("%ld\n", (long)(now_ns() - begun));
    kill(daemon, SIGTERM);
    waitpid(daemon, NULL, 0);
}
