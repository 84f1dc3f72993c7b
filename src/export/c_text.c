/* c_text.c: writing C.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "export/c_text.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

void mcr_c_lines(mcr_c_writer *w, const char *text)
{
    while (*text) {
        size_t plain = strcspn(text, "@$");
        mcr_text_add(&w->text, text, plain);
        text += plain;
        if (*text)
            mcr_text_string(&w->text, *text++ == '@' ? w->name : w->capitals);
    }
}

void mcr_c_put(mcr_c_writer *w, const char *format, ...)
{
    char line[4096];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (length < 0 || (size_t)length >= sizeof line)
        w->status = mcr_fail(w->ctx, MCR_BAD_DATA, "export: a name is too long");
    else
        mcr_c_lines(w, line);
}

/* The shortest text that reads back as the same float; nine digits suffice. */
static void print_float(char text[MCR_REAL_TEXT], double value)
{
    for (int digits = 6; digits <= 9; digits++) {
        double back = 0;
        snprintf(text, MCR_REAL_TEXT, "%.*g", digits, value);
        char *comma = strchr(text, ','); /* decimal comma of a locale */
        if (comma)
            *comma = '.';
        (void)mcr_parse_real(text, text + strlen(text), &back);
        if ((float)back == (float)value)
            break;
    }
}

static void print_number(mcr_c_writer *w, char text[MCR_REAL_TEXT + 4], double value)
{
    if (w->precise) {
        mcr_print_real(text, value);
    } else {
        if (fabs(value) > (double)FLT_MAX && !w->status)
            w->status = mcr_fail(w->ctx, MCR_NUMERIC,
                                 "a number of the model, %g, is too large for float: export it "
                                 "with double numbers",
                                 value);
        print_float(text, (double)(float)value);
    }
    if (!strpbrk(text, ".en"))
        strcat(text, ".0");
    strcat(text, w->f);
}

const char *mcr_c_number(mcr_c_writer *w, double value)
{
    w->next = (w->next + 1) % MCR_C_NUMBERS;
    print_number(w, w->number[w->next], value);
    return w->number[w->next];
}

void mcr_c_real(mcr_c_writer *w, double value)
{
    char text[MCR_REAL_TEXT + 8];
    print_number(w, text, value);
    mcr_text_string(&w->text, text);
}

/* A separator that keeps lines below 100 columns. */
static void separate(mcr_c_writer *w, int64_t i, int64_t *line)
{
    if (i > 0)
        mcr_text_string(&w->text, ",");
    if (i == 0 || w->text.length - *line > 80) {
        mcr_text_string(&w->text, "\n    ");
        *line = w->text.length;
    } else {
        mcr_text_string(&w->text, " ");
    }
}

void mcr_c_reals(mcr_c_writer *w, const char *name, const double *value, int64_t count)
{
    int64_t line = 0;
    mcr_c_put(w, "static const @_real @_%s[%lld] $_ROM = {", name, (long long)(count ? count : 1));
    for (int64_t i = 0; i < count; i++) {
        separate(w, i, &line);
        mcr_c_real(w, value[i]);
    }
    mcr_c_put(w, "%s};\n", count ? "\n" : "0");
}

void mcr_c_ints(mcr_c_writer *w, const char *type, const char *name, const int64_t *value,
                int64_t count)
{
    int64_t line = 0;
    mcr_c_put(w, "static const %s @_%s[%lld] $_ROM = {", type, name,
              (long long)(count ? count : 1));
    for (int64_t i = 0; i < count; i++) {
        separate(w, i, &line);
        mcr_text_int(&w->text, value[i]);
    }
    mcr_c_put(w, "%s};\n", count ? "\n" : "0");
}

void mcr_c_object(mcr_c_writer *w, bool declared)
{
    int64_t inputs = w->p->inputs;
    if (inputs > 0 && declared)
        mcr_c_put(w, "const @_real x[%lld]", (long long)inputs);
    else if (inputs > 0)
        mcr_c_put(w, "x");
    for (int64_t t = 0; t < w->p->strings; t++)
        mcr_c_put(w,
                  declared ? "%sconst char *text%lld, long length%lld" : "%stext%lld, length%lld",
                  t > 0 || inputs > 0 ? ", " : "", (long long)t, (long long)t);
}
