/* program.h: for programs that the tests run with the door. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BUFFERS = 4, PATIENCE = 10000 };

#define REQUIRE(condition)                                                                                                                 \
    do {                                                                                                                                   \
        if (!(condition)) {                                                                                                                \
            fprintf(stderr, "%s:%d: %s: %s\n", program_invocation_short_name, __LINE__, #condition, strerror(errno));                      \
            exit(1);                                                                                                                       \
        }                                                                                                                                  \
    } while (0)
