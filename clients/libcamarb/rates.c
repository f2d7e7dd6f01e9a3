/* Frame rates as fractions, which is how everything that times pictures has them. The door in PipeWire has this file, too, and nothing else
 * of the library but slates. */
#include "camarb.h"

#include <math.h>

/* Brokers say rates in hundredths, so that 29.97 stands for all that is nearer to it than to its neighbours: the exact fraction of what was
 * said, 2997/100, is no camera's. Half a hundredth, and what a double loses. */
#define HUNDREDTHS 100
#define TOLERANCE (0.5 / HUNDREDTHS + 1e-9)
/* 25/2, 50/3 and 30/7 are cameras' rates. Among fractions with greater denominators almost any number would be near one. */
#define SMALL_DENOMINATOR_MAX 8

#define RATE_MAX 1e6 /* as cameras.c takes them from brokers; in hundredths it is a number of 32 bits */

static bool is_near(double rate, double frames, uint32_t seconds, double tolerance) {
    return frames >= 1 && fabs(frames / seconds - rate) <= tolerance;
}

void camarb_frame_rate_fraction(double rate, uint32_t *frames, uint32_t *seconds) {
    if (!frames || !seconds) return;
    *frames = 0;
    *seconds = 1;
    /* False for NaN, too. */
    if (!(rate > 0)) return;
    rate = round(fmin(rate, RATE_MAX) * HUNDREDTHS) / HUNDREDTHS;
    /* Broadcasting's slower thirty, sixty and others, before small denominators: 119.88 is 120000/1001, and not 959/8. */
    double called = round(rate * 1.001);
    bool is_whole = is_near(rate, round(rate), 1, TOLERANCE);
    if (!is_whole && is_near(rate, called * 1000, 1001, TOLERANCE)) {
        *frames = (uint32_t)(called * 1000);
        *seconds = 1001;
        return;
    }
    /* The last one is what was said itself. */
    for (uint32_t of = 1; of <= HUNDREDTHS; of++) {
        double wanted = round(rate * of);
        if (!is_near(rate, wanted, of, of <= SMALL_DENOMINATOR_MAX ? TOLERANCE : 1e-9 * fmax(1, rate))) continue;
        *frames = (uint32_t)wanted;
        *seconds = of;
        return;
    }
}
