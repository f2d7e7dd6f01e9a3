/* libsystemd as Swift sees it: the headers themselves import well. What does not (variadics, the
   vtable macros) is not needed: messages are read and appended one basic value at a time. */
#pragma once
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-device.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>
#include <systemd/sd-login.h>
