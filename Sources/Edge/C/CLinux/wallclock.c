#define _GNU_SOURCE
#include "wallclock.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int64_t camarb_wall_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec;
}

int64_t camarb_local_offset(int64_t seconds) {
    time_t moment = seconds;
    struct tm local;
    return localtime_r(&moment, &local) == NULL ? 0 : local.tm_gmtoff;
}

void camarb_reread_zone(void) { tzset(); }

int camarb_wall_timer(void) {
    int timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    return timer < 0 ? -errno : timer;
}

int camarb_wall_timer_arm(int timer, int64_t seconds) {
    // A moment that is over already is due now; 0 would disarm it.
    struct itimerspec when = {.it_value = {.tv_sec = seconds > 0 ? seconds : 1}};
    int flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
    return timerfd_settime(timer, flags, &when, NULL) < 0 ? -errno : 0;
}

void camarb_wall_timer_take(int timer) {
    uint64_t expirations;
    // ECANCELED says that the clock was set: whoever asks looks at it anyway.
    (void)!read(timer, &expirations, sizeof expirations);
}
