/* range.c: ranges of parameter values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/number.h"
#include "base/params.h"

enum { MOST_VALUES = 10000 };

typedef struct range {
    double low, high;
    int64_t count;
    bool ratio; /* equal ratios, else equal distances */
} range;

static bool parse_part(const char **at, double *value)
{
    const char *end = *at + strcspn(*at, ":");
    bool fine = mcr_parse_real(*at, end, value) == end && isfinite(*value);
    *at = *end ? end + 1 : end;
    return fine;
}

static bool parse(const char *text, range *r)
{
    const char *at = text;
    *r = (range){.count = 1};
    if (!parse_part(&at, &r->low))
        return false;
    r->high = r->low;
    if (!*at)
        return strchr(text, ':') == NULL;
    if (!parse_part(&at, &r->high))
        return false;
    if (!*at) { /* in steps of 1 */
        double count = floor(r->high - r->low) + 1;
        r->count = count <= MOST_VALUES ? (int64_t)count : MOST_VALUES + 1;
        r->high = r->low + (double)(r->count - 1);
        return at[-1] != ':' && r->count >= 1;
    }
    r->ratio = strncmp(at, "log", 3) == 0;
    at += r->ratio ? 3 : 0;
    const char *end = at + strlen(at);
    return mcr_parse_int(at, end, &r->count) == end && r->count >= 2 && r->high > r->low &&
           (!r->ratio || r->low > 0);
}

/* 16 rather than 16.000000000000004: the nearest number of 14 digits, if the difference is
 * rounding. */
static double without_noise(double value)
{
    if (value == 0)
        return value;
    double digits = 13 - floor(log10(fabs(value))), unit = pow(10, fabs(digits));
    double tidy = digits >= 0 ? round(value * unit) / unit : round(value / unit) * unit;
    return fabs(tidy - value) <= 1e-14 * fabs(value) ? tidy : value;
}

/* low ratio^part, part = i / steps: exact for a power of 2, as those of gamma and C are. */
static double power_between(double low, double ratio, int64_t i, int64_t steps)
{
    double exponent = log2(ratio) * (double)i / (double)steps;
    return exponent == round(exponent) ? ldexp(low, (int)exponent)
                                       : without_noise(low * pow(ratio, (double)i / (double)steps));
}

mcr_status mcr_range_parse(mcr_reals *out, mcr *ctx, const char *owner, const char *name,
                           const char *text)
{
    range r;
    *out = (mcr_reals){0, NULL};
    if (!parse(text, &r) || r.count > MOST_VALUES)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "%s: %s must be a number or a range of at most %d such as 1e-3:1e3:log7 or "
                        "0:1:5, not \"%.200s\"",
                        owner, name, MOST_VALUES, text);
    out->values = mcr_alloc(ctx, (size_t)r.count, sizeof *out->values);
    if (!out->values)
        return MCR_NO_MEMORY;
    out->count = r.count;
    for (int64_t i = 0; i < r.count; i++) {
        double part = r.count > 1 ? (double)i / (double)(r.count - 1) : 0;
        out->values[i] = r.ratio ? power_between(r.low, r.high / r.low, i, r.count - 1)
                                 : without_noise(r.low + part * (r.high - r.low));
    }
    out->values[r.count - 1] = r.high; /* without rounding */
    return MCR_OK;
}
