/* colour.h (internal): themes, palettes and ramps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_PLOT_COLOUR_H
#define MCR_PLOT_COLOUR_H

#include "plot/figure.h"

/* 0xRRGGBB. dark: in the dark theme. */
uint32_t mcr_ink_rgb(mcr_ink ink, bool dark);

/* A colour with opacity: 0xAARRGGBB, not premultiplied. v is a value of the mark. */
uint32_t mcr_ramp_colour(const mcr_mark *m, double v, bool dark);
/* A colour of the ramps for quantities, at 0 <= t <= 1: 0xRRGGBB. */
uint32_t mcr_ramp_rgb(mcr_ramp ramp, double t);
/* a over b, with opacity 0 .. 1. */
uint32_t mcr_rgb_mix(uint32_t a, uint32_t b, double opacity);

#endif
