// The clock on the wall: what people set, and what their zone makes of it.
#ifndef CAMARB_WALLCLOCK_H
#define CAMARB_WALLCLOCK_H

#include <stdint.h>

// Seconds since 1970, UTC.
int64_t camarb_wall_seconds(void);

// By how many seconds local time is ahead of UTC at such a moment, in the zone as it was read last.
int64_t camarb_local_offset(int64_t seconds);

// Reads the machine's zone again where its file has changed.
void camarb_reread_zone(void);

// A timer on that clock, which is also readable when somebody sets the clock. Negative: -errno.
int camarb_wall_timer(void);

// Lets it fire at a moment. 0, or -errno.
int camarb_wall_timer_arm(int timer, int64_t seconds);

// Takes what it says, so that it is not readable any more.
void camarb_wall_timer_take(int timer);

#endif
