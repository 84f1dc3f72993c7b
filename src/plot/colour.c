/* colour.c: themes, palettes and ramps.
 *
 * The palette is that of Okabe and Ito (2008), which people with any colour vision can distinguish;
 * yellow is omitted, because it is hardly visible on white. The dark theme has lighter blues. The
 * ramp for quantities is uniform in lightness, so that it also works in grey.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plot/colour.h"

#include <math.h>

static const uint32_t inks[2][MCR_INKS] = {
    {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x7f6a45,
     0x5b5fc7, [MCR_INK_TEXT] = 0x1d2126, [MCR_INK_MUTED] = 0x5a626c, [MCR_INK_GRID] = 0xe6e9ed,
     [MCR_INK_FRAME] = 0xaab1ba, [MCR_INK_PAPER] = 0xffffff},
    {0x4aa8e8, 0xf0803c, 0x22c595, 0xe39ac6, 0xf2b632, 0x8fd0f7, 0xb8a078,
     0x9296f0, [MCR_INK_TEXT] = 0xe9ecf0, [MCR_INK_MUTED] = 0xa3acb8, [MCR_INK_GRID] = 0x2b3038,
     [MCR_INK_FRAME] = 0x59616c, [MCR_INK_PAPER] = 0x14171b},
};

static const uint32_t heat[] = {0x2b1655, 0x3b3f86, 0x2f6b8f, 0x24908c,
                                0x43b37a, 0x9ccf52, 0xf6e03a};
static const uint32_t diverging[] = {0x0a4f84, 0x2f84bf, 0x8dbfe0, 0xdfe3e6,
                                     0xf2b98c, 0xdc7a2d, 0x9a4300};

uint32_t mcr_ink_rgb(mcr_ink ink, bool dark)
{
    if (ink >= MCR_INK_RGB)
        return (uint32_t)ink & 0xffffff;
    return ink >= 0 && ink < MCR_INKS ? inks[dark][ink] : 0;
}

uint32_t mcr_rgb_mix(uint32_t a, uint32_t b, double opacity)
{
    uint32_t mixed = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        double x = a >> shift & 255, y = b >> shift & 255;
        mixed |= (uint32_t)(y + (x - y) * opacity + 0.5) << shift;
    }
    return mixed;
}

uint32_t mcr_ramp_rgb(mcr_ramp ramp, double t)
{
    const uint32_t *step = ramp == MCR_RAMP_DIVERGING ? diverging : heat;
    const int last = (int)(sizeof heat / sizeof *heat) - 1;
    double at = (t > 0 ? t < 1 ? t : 1 : 0) * last;
    int from = (int)at < last ? (int)at : last - 1;
    return mcr_rgb_mix(step[from + 1], step[from], at - from);
}

uint32_t mcr_ramp_colour(const mcr_mark *m, double v, bool dark)
{
    if (!isfinite(v))
        return 0;
    double t = m->v1 > m->v0 ? (v - m->v0) / (m->v1 - m->v0) : 0.5;
    t = t > 0 ? t < 1 ? t : 1 : 0;
    switch (m->ramp) {
    case MCR_RAMP_INK: return (uint32_t)(t * 255 + 0.5) << 24 | mcr_ink_rgb(m->ink, dark);
    case MCR_RAMP_CLASSES: {
        double class = floor(v), strength = v - class;
        return (uint32_t)(strength * 255 + 0.5) << 24 |
               mcr_ink_rgb(mcr_class_ink((int64_t) class), dark);
    }
    case MCR_RAMP_HEAT:
    case MCR_RAMP_DIVERGING: break;
    }
    return 0xff000000u | mcr_ramp_rgb(m->ramp, t);
}
