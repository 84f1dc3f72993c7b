/* scale.h (internal): axes: positions of values, and ticks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_PLOT_SCALE_H
#define MCR_PLOT_SCALE_H

#include "plot/figure.h"

enum { MCR_TICKS = 24, MCR_TICK_TEXT = 112 };

typedef struct mcr_tick {
    double at;
    char text[MCR_TICK_TEXT]; /* UTF-8; "" for one without a number */
} mcr_tick;

typedef struct mcr_ticks {
    int count;
    mcr_tick tick[MCR_TICKS];
} mcr_ticks;

/* The position of a value: 0 at the start of the axis, 1 at its end. */
double mcr_axis_share(const mcr_axis *a, double value);
/* About `wanted` ticks (2 or more). */
void mcr_axis_ticks(const mcr_axis *a, int wanted, mcr_ticks *out);
/* A number for display, with this many significant digits: "0.05", "1200", "3.2·10⁻⁷". The text
 * must hold MCR_TICK_TEXT bytes. Independent of the locale. */
const char *mcr_number_text(char *text, double value, int digits);
/* The value rounded to this many significant digits. */
double mcr_number_rounded(double value, int digits);

/* The width of a text in a common sans-serif font, in ems; and the length in bytes of its first
 * `most` characters. */
double mcr_text_width(const char *text);
size_t mcr_text_bytes(const char *text, int most);
/* The width in terminal columns. */
int mcr_text_columns(const char *text);

#endif
