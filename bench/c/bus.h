// sd-bus, as the bench's clients use it.
#pragma once
#include "bench.h"
#include <systemd/sd-bus.h>

#define BROKER "org.camarb.Broker1"
#define BROKER_PATH "/org/camarb/Broker1"
#define SESSION "org.camarb.Session1"

static inline int check(int result, const char *what) {
    if (result < 0) die("%s: %s", what, strerror(-result));
    return result;
}

// A connection to a peer's socket, or to a bus daemon when `daemon` says so.
static inline sd_bus *bus_connect(const char *address, int daemon) {
    sd_bus *bus;
    check(sd_bus_new(&bus), "sd_bus_new");
    check(sd_bus_set_address(bus, address), "sd_bus_set_address");
    check(sd_bus_set_bus_client(bus, daemon), "sd_bus_set_bus_client");
    check(sd_bus_negotiate_fds(bus, 1), "sd_bus_negotiate_fds");
    check(sd_bus_start(bus), "sd_bus_start");
    return bus;
}
