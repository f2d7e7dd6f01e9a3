// The call that is measured: Broker1.Watch(false), a boolean in and an empty answer out.
// usage: buscall ADDRESS DESTINATION|- CALLS → nanoseconds a call
#include "bus.h"

int main(int argc, char **argv) {
    if (argc != 4) die("usage: buscall ADDRESS DESTINATION|- CALLS");
    const char *destination = strcmp(argv[2], "-") == 0 ? NULL : argv[2];
    long calls = number(argv[3], 1, 100000000);
    sd_bus *bus = bus_connect(argv[1], destination != NULL);
    int64_t begun = 0;
    for (long i = -calls / 10; i < calls; i++) {
        if (i == 0) begun = now_ns();
        sd_bus_error error = SD_BUS_ERROR_NULL;
        if (sd_bus_call_method(bus, destination, BROKER_PATH, BROKER, "Watch", &error, NULL, "b", 0) < 0)
            die("Watch: %s: %s", error.name, error.message);
    }
    printf("%.1f\n", (double)(now_ns() - begun) / calls);
    sd_bus_flush_close_unref(bus);
}
