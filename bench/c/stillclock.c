// A clock that only its readers move, for a program whose instructions are counted: which turn is whose depends on time, and
// what is counted must not depend on how fast the machine is. Every look at any clock is a microsecond later than the one before,
// and no timer fires. Preloaded (bench/instructions).
#define _GNU_SOURCE
#include <sys/timerfd.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    static long microseconds;
    microseconds++;
    *now = (struct timespec){.tv_sec = 1000 + microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000};
    return 0;
}

int timerfd_settime(int timer, int flags, const struct itimerspec *new, struct itimerspec *old) { return 0; }
