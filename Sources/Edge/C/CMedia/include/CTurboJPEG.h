/* libturbojpeg as it is: its API imports whole. Beside it the loop that brings a camera's planes to a JPEG's. */
#pragma once
#include <stdint.h>
#include <turbojpeg.h>

/* NV12 to the three full-range planes that JFIF wants. In C because the compiler's vectors make it five times
 * faster than a general scaler, which one core needs for 4K at 30 frames a second.
 * Sides are even; `planar` has width * height bytes of Y, then a quarter each of Cb and Cr, without gaps. */
void camarb_nv12_to_jfif(const uint8_t *picture, int stride, int width, int height, int is_full_range,
                         uint8_t *planar);
