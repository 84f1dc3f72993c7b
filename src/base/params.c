/* params.c: setting and printing the struct of values that a parameter table describes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/params.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/number.h"

static const double EXACT_INTEGERS = 9007199254740992.0; /* 2^53: integers below are exact */

/* ---- places in the value struct ---- */

static void *place(const mcr_param *p, void *values)
{
    return (char *)values + p->offset;
}

static const void *place_const(const mcr_param *p, const void *values)
{
    return (const char *)values + p->offset;
}

static void clear(const mcr_param *p, void *values)
{
    void *at = place(p, values);
    switch (p->type) {
    case MCR_REAL: *(double *)at = NAN; break;
    case MCR_INT: *(int64_t *)at = INT64_MIN; break;
    case MCR_FLAG: *(int *)at = 0; break;
    case MCR_CHOICE: *(int *)at = 0; break;
    case MCR_TEXT: *(char **)at = NULL; break;
    case MCR_REALS: *(mcr_reals *)at = (mcr_reals){0, NULL}; break;
    }
}

static void release(mcr *ctx, const mcr_param *p, void *values)
{
    void *at = place(p, values);
    if (p->type == MCR_TEXT) {
        mcr_free(ctx, *(char **)at);
        *(char **)at = NULL;
    } else if (p->type == MCR_REALS) {
        mcr_reals *r = at;
        mcr_free(ctx, r->values);
        *r = (mcr_reals){0, NULL};
    }
}

/* ---- reading text ---- */

typedef struct span {
    const char *start, *end;
} span;

static span trim(const char *text, size_t length)
{
    span s = {text, text + length};
    while (s.start < s.end && mcr_is_blank(*s.start))
        s.start++;
    while (s.end > s.start && mcr_is_blank(s.end[-1]))
        s.end--;
    return s;
}

static int shown(span s) /* for %.*s */
{
    ptrdiff_t length = s.end - s.start;
    return length < 200 ? (int)length : 200;
}

static bool span_is(span s, const char *word, size_t length)
{
    return (size_t)(s.end - s.start) == length && memcmp(s.start, word, length) == 0;
}

/* Infinity must be written as a word. Digits that give infinity mean a number too large for a
 * double. */
static bool has_overflowed(span s, double value)
{
    for (const char *p = s.start; isinf(value) && p < s.end; p++)
        if (*p >= '0' && *p <= '9')
            return true;
    return false;
}

static bool read_real(span s, double *value)
{
    return mcr_parse_real(s.start, s.end, value) == s.end && !isnan(*value) &&
           !has_overflowed(s, *value);
}

/* "1000", and "1e3" as well. */
static bool read_int(span s, int64_t *value)
{
    if (mcr_parse_int(s.start, s.end, value) == s.end)
        return true;
    double real;
    if (!read_real(s, &real) || real != floor(real) || fabs(real) > EXACT_INTEGERS)
        return false;
    *value = (int64_t)real;
    return true;
}

static bool read_flag(span s, int *value)
{
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
    for (int i = 0; i < 8; i++) {
        if (span_is(s, words[i], strlen(words[i]))) {
            *value = i % 2;
            return true;
        }
    }
    return false;
}

/* The next choice of "a|b|c"; *rest is NULL after the last. */
static span next_choice(const char **rest)
{
    span s = {*rest, strchr(*rest, '|')};
    if (s.end == NULL) {
        s.end = s.start + strlen(s.start);
        *rest = NULL;
    } else {
        *rest = s.end + 1;
    }
    return s;
}

static bool read_choice(span s, const char *choices, int *value)
{
    const char *rest = choices;
    for (int i = 0; rest != NULL; i++) {
        span choice = next_choice(&rest);
        if (span_is(s, choice.start, (size_t)(choice.end - choice.start))) {
            *value = i;
            return true;
        }
    }
    return false;
}

/* The next number of "1", "1, 2" or "[1, 2]"; sets *fault if something else follows. Start with
 * *next = NULL; false at the end. */
static bool next_real(span s, const char **next, double *value, bool *fault)
{
    const char *p = *next, *end = s.end;
    *fault = false;
    bool bracket = s.start < end && *s.start == '[';
    if (bracket) {
        if (end - s.start < 2 || end[-1] != ']') {
            *fault = true;
            return false;
        }
        end--;
    }
    bool first = p == NULL;
    if (first)
        p = bracket ? s.start + 1 : s.start;
    while (p < end && mcr_is_blank(*p))
        p++;
    if (p == end && (bracket || !first))
        return false;
    if (!first) {
        if (*p != ',') {
            *fault = true;
            return false;
        }
        p++;
        while (p < end && mcr_is_blank(*p))
            p++;
    }
    const char *behind = mcr_parse_real(p, end, value);
    if (behind == NULL || isnan(*value) || has_overflowed((span){p, behind}, *value)) {
        *fault = true;
        return false;
    }
    *next = behind;
    return true;
}

/* ---- limits ---- */

static bool within(const mcr_param *p, double value)
{
    bool above = p->flags & MCR_MIN_OPEN ? value > p->min : value >= p->min;
    bool below = p->flags & MCR_MAX_OPEN ? value < p->max : value <= p->max;
    return above && below;
}

/* "above 0", "from 0 to 1", "at least 1 and below 2"; "" without limits. */
static void say_limits(const mcr_param *p, char *text, size_t size)
{
    char min[MCR_REAL_TEXT], max[MCR_REAL_TEXT];
    mcr_print_real(min, p->min);
    mcr_print_real(max, p->max);
    bool low = p->min > -INFINITY, high = p->max < INFINITY;
    const char *over = p->flags & MCR_MIN_OPEN ? "above" : "at least";
    const char *under = p->flags & MCR_MAX_OPEN ? "below" : "at most";
    if (low && high && (p->flags & (MCR_MIN_OPEN | MCR_MAX_OPEN)) == 0)
        snprintf(text, size, " from %s to %s", min, max);
    else if (low && high)
        snprintf(text, size, " %s %s and %s %s", over, min, under, max);
    else if (low && p->max == INFINITY && (p->flags & MCR_MAX_OPEN) != 0)
        snprintf(text, size, " %s %s and finite", over, min);
    else if (low)
        snprintf(text, size, " %s %s", over, min);
    else if (high)
        snprintf(text, size, " %s %s", under, max);
    else
        snprintf(text, size, "%s", p->flags != 0 && p->type == MCR_REAL ? " that is finite" : "");
}

/* ---- setting ---- */

static mcr_status refuse_number(mcr *ctx, const char *owner, const mcr_param *p, span s,
                                const char *what)
{
    char limits[128];
    double value;
    bool overflow = mcr_parse_real(s.start, s.end, &value) == s.end && has_overflowed(s, value);
    say_limits(p, limits, sizeof limits);
    return mcr_fail(ctx, MCR_BAD_CALL, "%s: %s must be %s%s, not \"%.*s\"%s", owner, p->name, what,
                    limits, shown(s), s.start,
                    overflow && within(p, value)
                        ? ", which is too large for a number (infinity is written inf)"
                        : "");
}

static mcr_status refuse_choice(mcr *ctx, const char *owner, const mcr_param *p, span s)
{
    enum { MOST = 31 };
    char words[512], given[64], list[512];
    const char *names[MOST + 1], *rest = p->choices;
    size_t used = 0, listed = 0;
    int count = 0;
    list[0] = '\0';
    while (rest != NULL && count < MOST) {
        span c = next_choice(&rest);
        int length = (int)(c.end - c.start);
        if (used + (size_t)length + 1 > sizeof words || listed + (size_t)length + 5 > sizeof list)
            break;
        names[count++] = words + used;
        snprintf(words + used, sizeof words - used, "%.*s", length, c.start);
        used += (size_t)length + 1;
        const char *joint = listed == 0 ? "" : rest == NULL ? " or " : ", ";
        snprintf(list + listed, sizeof list - listed, "%s%.*s", joint, length, c.start);
        listed += strlen(list + listed);
    }
    names[count] = NULL;
    snprintf(given, sizeof given, "%.*s", shown(s), s.start);
    const char *near = mcr_nearest(given, names);
    return mcr_fail(ctx, MCR_BAD_CALL, "%s: %s must be %s, not \"%.*s\"%s%s%s", owner, p->name,
                    list, shown(s), s.start, near != NULL ? " (did you mean \"" : "",
                    near != NULL ? near : "", near != NULL ? "\"?)" : "");
}

/* A quoted text ends at its quote and may contain \" and \\; an unquoted one is taken literally. */
static mcr_status set_text(mcr *ctx, const mcr_param *p, void *values, const char *text,
                           size_t length)
{
    char *copy = mcr_copy_text(ctx, text, length);
    if (copy == NULL)
        return MCR_NO_MEMORY;
    if (length >= 2 && text[0] == '"' && text[length - 1] == '"') {
        char *to = copy;
        for (size_t i = 1; i < length - 1; i++) {
            if (text[i] == '\\' && i + 2 < length)
                i++;
            *to++ = text[i];
        }
        *to = '\0';
    }
    release(ctx, p, values);
    *(char **)place(p, values) = copy;
    return MCR_OK;
}

static mcr_status set_reals(mcr *ctx, const char *owner, const mcr_param *p, void *values, span s)
{
    mcr_reals made = {0, NULL};
    int64_t capacity = 0;
    const char *next = NULL;
    double value;
    bool fault;
    mcr_status status = MCR_OK;
    while (next_real(s, &next, &value, &fault)) {
        fault = !within(p, value);
        if (fault)
            break;
        status = mcr_reserve(ctx, &made.values, &capacity, made.count + 1, sizeof(double));
        if (status != MCR_OK)
            goto done;
        made.values[made.count++] = value;
    }
    if (fault) {
        status = refuse_number(ctx, owner, p, s, "a number or a list such as [1, 2], each number");
        goto done;
    }
    release(ctx, p, values);
    *(mcr_reals *)place(p, values) = made;
    made.values = NULL;
done:
    mcr_free(ctx, made.values);
    return status;
}

mcr_status mcr_params_set(mcr *ctx, const char *owner, const mcr_param *p, void *values,
                          const char *text, size_t length)
{
    span s = trim(text, length);
    void *at = place(p, values);
    double real;
    int64_t whole;
    int small;
    switch (p->type) {
    case MCR_REAL:
        if (!read_real(s, &real) || !within(p, real))
            return refuse_number(ctx, owner, p, s, "a number");
        *(double *)at = real;
        return MCR_OK;
    case MCR_INT:
        if (!read_int(s, &whole) || whole == INT64_MIN || !within(p, (double)whole))
            return refuse_number(ctx, owner, p, s, "a whole number");
        *(int64_t *)at = whole;
        return MCR_OK;
    case MCR_FLAG:
        if (!read_flag(s, &small))
            return mcr_fail(ctx, MCR_BAD_CALL, "%s: %s must be yes or no, not \"%.*s\"", owner,
                            p->name, shown(s), s.start);
        *(int *)at = small;
        return MCR_OK;
    case MCR_CHOICE:
        if (!read_choice(s, p->choices, &small))
            return refuse_choice(ctx, owner, p, s);
        *(int *)at = small;
        return MCR_OK;
    case MCR_TEXT: return set_text(ctx, p, values, text, length);
    case MCR_REALS: return set_reals(ctx, owner, p, values, s);
    }
    return mcr_fail(ctx, MCR_BAD_CALL, "%s: %s has a type that is not known", owner, p->name);
}

/* ---- whole tables ---- */

mcr_status mcr_params_init(mcr *ctx, const mcr_param *table, void *values)
{
    for (const mcr_param *p = table; p->name != NULL; p++)
        clear(p, values);
    for (const mcr_param *p = table; p->name != NULL; p++) {
        if (p->standard == NULL)
            continue;
        mcr_status status = mcr_params_set(ctx, "default", p, values, p->standard,
                                           strlen(p->standard));
        if (status != MCR_OK) {
            mcr_params_free(ctx, table, values);
            return status;
        }
    }
    return MCR_OK;
}

void mcr_params_free(mcr *ctx, const mcr_param *table, void *values)
{
    for (const mcr_param *p = table; p->name != NULL; p++)
        release(ctx, p, values);
}

/* Copies owned memory; other values byte by byte. */
static mcr_status copy_one(mcr *ctx, const mcr_param *p, void *to, const void *from)
{
    const void *source = place_const(p, from);
    void *target = place(p, to);
    switch (p->type) {
    case MCR_REAL: *(double *)target = *(const double *)source; break;
    case MCR_INT: *(int64_t *)target = *(const int64_t *)source; break;
    case MCR_FLAG:
    case MCR_CHOICE: *(int *)target = *(const int *)source; break;
    case MCR_TEXT: {
        const char *text = *(char *const *)source;
        if (text == NULL)
            break;
        char *copy = mcr_copy_text(ctx, text, strlen(text));
        if (copy == NULL)
            return MCR_NO_MEMORY;
        *(char **)target = copy;
        break;
    }
    case MCR_REALS: {
        const mcr_reals *reals = source;
        if (reals->count == 0)
            break;
        double *copy = mcr_alloc(ctx, (size_t)reals->count, sizeof(double));
        if (copy == NULL)
            return MCR_NO_MEMORY;
        memcpy(copy, reals->values, (size_t)reals->count * sizeof(double));
        *(mcr_reals *)target = (mcr_reals){reals->count, copy};
        break;
    }
    }
    return MCR_OK;
}

mcr_status mcr_params_copy(mcr *ctx, const mcr_param *table, void *to, const void *from)
{
    for (const mcr_param *p = table; p->name != NULL; p++)
        clear(p, to);
    for (const mcr_param *p = table; p->name != NULL; p++) {
        mcr_status status = copy_one(ctx, p, to, from);
        if (status != MCR_OK) {
            mcr_params_free(ctx, table, to);
            return status;
        }
    }
    return MCR_OK;
}

const mcr_param *mcr_params_find(const mcr_param *table, const char *name, size_t length)
{
    for (const mcr_param *p = table; p->name != NULL; p++)
        if (strlen(p->name) == length && memcmp(p->name, name, length) == 0)
            return p;
    return NULL;
}

/* ---- queries and printing ---- */

bool mcr_params_given(const mcr_param *p, const void *values)
{
    const void *at = place_const(p, values);
    switch (p->type) {
    case MCR_REAL: return !isnan(*(const double *)at);
    case MCR_INT: return *(const int64_t *)at != INT64_MIN;
    case MCR_FLAG:
    case MCR_CHOICE: return true;
    case MCR_TEXT: return *(char *const *)at != NULL;
    case MCR_REALS: return ((const mcr_reals *)at)->count > 0;
    }
    return false;
}

static bool same_reals(span s, const mcr_reals *reals)
{
    const char *next = NULL;
    double value;
    bool fault;
    int64_t i = 0;
    while (next_real(s, &next, &value, &fault)) {
        if (i >= reals->count || reals->values[i] != value)
            return false;
        i++;
    }
    return !fault && i == reals->count;
}

bool mcr_params_is_standard(const mcr_param *p, const void *values)
{
    const void *at = place_const(p, values);
    double real;
    int64_t whole;
    int small = 0;
    if (p->standard == NULL) {
        if (p->type == MCR_FLAG || p->type == MCR_CHOICE)
            return *(const int *)at == 0;
        return !mcr_params_given(p, values);
    }
    span s = trim(p->standard, strlen(p->standard));
    switch (p->type) {
    case MCR_REAL: return read_real(s, &real) && *(const double *)at == real;
    case MCR_INT: return read_int(s, &whole) && *(const int64_t *)at == whole;
    case MCR_FLAG: return read_flag(s, &small) && *(const int *)at == small;
    case MCR_CHOICE: return read_choice(s, p->choices, &small) && *(const int *)at == small;
    case MCR_TEXT: {
        const char *text = *(char *const *)at;
        return text != NULL && strcmp(text, p->standard) == 0;
    }
    case MCR_REALS: return same_reals(s, at);
    }
    return false;
}

/* Letters, digits and _ . - / need no quotes; other texts are quoted, so that they can also be read
 * inside a kernel expression. */
static void print_text(const char *text, mcr_text *to)
{
    bool plain = text[0] != '\0';
    for (const char *c = text; *c != '\0' && plain; c++)
        plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                strchr("_.-/", *c) != NULL;
    if (plain) {
        mcr_text_string(to, text);
        return;
    }
    mcr_text_string(to, "\"");
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            mcr_text_string(to, "\\");
        mcr_text_add(to, c, 1);
    }
    mcr_text_string(to, "\"");
}

static void print_choice(const char *choices, int value, mcr_text *to)
{
    const char *rest = choices;
    for (int i = 0; rest != NULL; i++) {
        span choice = next_choice(&rest);
        if (i == value)
            mcr_text_add(to, choice.start, (size_t)(choice.end - choice.start));
    }
}

static void print_reals(const mcr_reals *reals, mcr_text *to)
{
    if (reals->count != 1)
        mcr_text_string(to, "[");
    for (int64_t i = 0; i < reals->count; i++) {
        if (i > 0)
            mcr_text_string(to, ", ");
        mcr_text_real(to, reals->values[i]);
    }
    if (reals->count != 1)
        mcr_text_string(to, "]");
}

void mcr_params_print(const mcr_param *p, const void *values, mcr_text *to)
{
    if (!mcr_params_given(p, values))
        return;
    const void *at = place_const(p, values);
    switch (p->type) {
    case MCR_REAL: mcr_text_real(to, *(const double *)at); break;
    case MCR_INT: mcr_text_int(to, *(const int64_t *)at); break;
    case MCR_FLAG: mcr_text_string(to, *(const int *)at ? "yes" : "no"); break;
    case MCR_CHOICE: print_choice(p->choices, *(const int *)at, to); break;
    case MCR_TEXT: print_text(*(char *const *)at, to); break;
    case MCR_REALS: print_reals(at, to); break;
    }
}
