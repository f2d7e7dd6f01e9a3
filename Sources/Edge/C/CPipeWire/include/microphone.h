/* The user's microphone, as PipeWire gives it: interleaved 16-bit samples with their capture times. Samples of PipeWire's own thread wait
 * in a ring; everything else happens on the caller's thread, one at a time. */
#pragma once
#include <stdint.h>

struct camarb_pipewire_microphone;

/* Asks for the usual source. 0 or a fault as of camarb_pipewire_open, and then `*opened` is NULL. */
int camarb_pipewire_microphone_open(struct camarb_pipewire_microphone **opened);
void camarb_pipewire_microphone_close(struct camarb_pipewire_microphone *microphone);

/* Waits for sound or events for at most that many nanoseconds. 0; below 0 where no sound will come any more. */
int camarb_pipewire_microphone_turn(struct camarb_pipewire_microphone *microphone, int64_t limit_ns);
/* Frames a second and channels; 0 until PipeWire has reported them. From then on they stay. */
uint32_t camarb_pipewire_microphone_rate(const struct camarb_pipewire_microphone *microphone);
uint32_t camarb_pipewire_microphone_channels(const struct camarb_pipewire_microphone *microphone);
/* Why no sound comes; empty where PipeWire gave no reason. */
const char *camarb_pipewire_microphone_error(const struct camarb_pipewire_microphone *microphone);

struct camarb_heard {
    /* The capture time of the first frame, in nanoseconds of CLOCK_MONOTONIC. */
    int64_t captured;
    uint32_t frames;
    const int16_t *samples;
};
/* The oldest sound that waits, until it is taken; NULL: none. */
const struct camarb_heard *camarb_pipewire_microphone_peek(struct camarb_pipewire_microphone *microphone);
void camarb_pipewire_microphone_taken(struct camarb_pipewire_microphone *microphone);
