/* Rates that programs ask for: what both doors offer of them, as far as a camera is that fast. No part of the library. */
#pragma once

static const unsigned camarb_usual_rates[] = {240, 120, 100, 90, 60, 50, 30, 25, 24, 20, 15, 10, 5};
#define CAMARB_USUAL_RATES_COUNT (sizeof camarb_usual_rates / sizeof *camarb_usual_rates)
