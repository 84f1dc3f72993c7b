/* scale.c: axes, ticks, and widths of texts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plot/scale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

double mcr_axis_share(const mcr_axis *a, double value)
{
    if (a->log)
        return value <= 0 ? -1e6 : log(value / a->min) / log(a->max / a->min);
    return (value - a->min) / (a->max - a->min);
}

/* ---- numbers as text ------------------------------------------------------------------------ */

static void put(char *text, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, MCR_TICK_TEXT - used, "%s", more);
}

static void put_exponent(char *text, int exponent)
{
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char digits[16];
    snprintf(digits, sizeof digits, "%d", exponent);
    for (const char *d = digits; *d; d++)
        put(text, *d == '-' ? "⁻" : raised[*d - '0']);
}

double mcr_number_rounded(double value, int digits)
{
    if (value == 0 || !isfinite(value))
        return value;
    double power = digits - 1 - floor(log10(fabs(value)));
    double unit = pow(10, fmin(fabs(power), 300));
    double found = power >= 0 ? round(value * unit) / unit : round(value / unit) * unit;
    return isfinite(found) ? found : value;
}

const char *mcr_number_text(char *text, double value, int digits)
{
    char plain[MCR_REAL_TEXT];
    text[0] = '\0';
    if (isnan(value))
        return strcpy(text, "–");
    double v = mcr_number_rounded(value, digits), size = fabs(v);
    if (v < 0)
        put(text, "−");
    if (isinf(v)) {
        put(text, "∞");
        return text;
    }
    if (size != 0 && (size < 1e-4 || size >= 1e6)) {
        int exponent = (int)floor(log10(size) + 1e-12);
        double mantissa = mcr_number_rounded(size / pow(10, exponent), digits);
        if (mantissa != 1) {
            mcr_print_real(plain, mantissa);
            put(text, plain);
            put(text, "·");
        }
        put(text, "10");
        put_exponent(text, exponent);
        return text;
    }
    mcr_print_real(plain, size);
    if (strchr(plain, 'e')) /* shortest, but hard to read */
        snprintf(plain, sizeof plain, "%d", (int)size);
    put(text, plain);
    return text;
}

/* ---- ticks ---------------------------------------------------------------------------------- */

/* Long names are shortened in the middle, because their beginnings or ends are often alike. */
static void add(mcr_ticks *t, double at, const char *text)
{
    enum { LETTERS = 24, HEAD = 12, TAIL = 11 };
    if (t->count >= MCR_TICKS)
        return;
    mcr_tick *to = &t->tick[t->count++];
    int letters = 0;
    for (const char *c = text; *c; c += mcr_text_bytes(c, 1))
        letters++;
    to->at = at;
    if (letters <= LETTERS)
        snprintf(to->text, sizeof to->text, "%s", text);
    else
        snprintf(to->text, sizeof to->text, "%.*s…%s", (int)mcr_text_bytes(text, HEAD), text,
                 text + mcr_text_bytes(text, letters - TAIL));
}

static void named_ticks(const mcr_axis *a, int wanted, mcr_ticks *out)
{
    int most = wanted < MCR_TICKS ? wanted : MCR_TICKS;
    int64_t step = (a->count + most - 1) / (most > 0 ? most : 1);
    for (int64_t i = 0; i<a->count; i += step> 0 ? step : 1)
        add(out, (double)i, a->names[i]);
}

static void log_ticks(const mcr_axis *a, int wanted, mcr_ticks *out)
{
    char text[MCR_TICK_TEXT];
    double low = log10(a->min), high = log10(a->max);
    if (!isfinite(low) || !isfinite(high))
        return;
    int first = (int)ceil(low - 1e-9), last = (int)floor(high + 1e-9);
    int step = (last - first) / (wanted > 1 ? wanted : 1) + 1;
    bool powers = first < -4 || last > 5; /* then all of them, but for 1 */
    for (int e = first; e <= last; e += step) {
        strcpy(text, powers && e != 0 ? "10" : "");
        if (powers && e != 0 && e != 1)
            put_exponent(text, e);
        else if (!powers || e == 0)
            mcr_number_text(text, pow(10, e), 3);
        add(out, pow(10, e), text);
    }
    if (last - first >= 2)
        return;
    /* At most two powers of ten: adds 2 and 5 times each. */
    out->count = 0;
    for (int e = first - 1; e <= last; e++)
        for (int m = 0; m < 3; m++) {
            double v = (m == 0 ? 1 : m == 1 ? 2 : 5) * pow(10, e);
            if (v >= a->min * (1 - 1e-9) && v <= a->max * (1 + 1e-9))
                add(out, v, mcr_number_text(text, v, 3));
        }
}

static void even_ticks(const mcr_axis *a, int wanted, mcr_ticks *out)
{
    double span = a->max - a->min, raw = span / (wanted > 1 ? wanted : 1);
    double unit = pow(10, floor(log10(raw))), step = raw / unit;
    step = unit * (step <= 1 ? 1 : step <= 2 ? 2 : step <= 5 ? 5 : 10);
    int digits = (int)fmax(1, ceil(log10(fmax(fabs(a->min), fabs(a->max)) / step)) + 2);
    double first = ceil(a->min / step - 1e-9);
    char text[MCR_TICK_TEXT];
    for (double k = first; k * step <= a->max + 1e-9 * span && out->count < MCR_TICKS; k++)
        add(out, k * step, mcr_number_text(text, k == 0 ? 0 : k * step, digits > 12 ? 12 : digits));
}

void mcr_axis_ticks(const mcr_axis *a, int wanted, mcr_ticks *out)
{
    out->count = 0;
    if (a->silent || !(a->max > a->min))
        return;
    if (a->names)
        named_ticks(a, wanted, out);
    else if (a->log)
        log_ticks(a, wanted, out);
    /* A single tick does not show the scale. */
    for (int more = 0; !a->names && out->count < 2 && more < 8; more++) {
        out->count = 0;
        even_ticks(a, wanted + more, out);
    }
}

/* ---- widths --------------------------------------------------------------------------------- */

static int sequence(unsigned char byte)
{
    return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/* Widths of letters in a typical sans-serif font, in thousandths of an em, rather too wide than too
 * narrow. */
static double letter_width(const char *at)
{
    unsigned char c = (unsigned char)*at;
    if (c >= 0xe3 && c < 0xf0)
        return 1; /* CJK */
    if (c >= 0x80)
        return 0.6;
    if (strchr("iljI.,:;|'!", c))
        return 0.3;
    if (strchr("ftr()[]{}-/ ", c))
        return 0.37;
    if (strchr("mMW@%", c))
        return 1;
    if (c >= 'A' && c <= 'Z')
        return 0.7;
    return 0.57;
}

double mcr_text_width(const char *text)
{
    double width = 0;
    for (const char *at = text; *at;) {
        width += letter_width(at);
        for (int left = sequence((unsigned char)*at); left > 0 && *at; left--)
            at++;
    }
    return width;
}

size_t mcr_text_bytes(const char *text, int most)
{
    const char *at = text;
    for (; *at && most > 0; most--)
        for (int left = sequence((unsigned char)*at); left > 0 && *at; left--)
            at++;
    return (size_t)(at - text);
}

int mcr_text_columns(const char *text)
{
    int columns = 0;
    for (const char *at = text; *at; columns++) {
        columns += (unsigned char)*at >= 0xe3 && (unsigned char)*at < 0xf0; /* CJK takes two */
        for (int left = sequence((unsigned char)*at); left > 0 && *at; left--)
            at++;
    }
    return columns;
}
