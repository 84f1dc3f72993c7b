/* roles.c: roles of a table's columns: their names, kept columns, dates.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/stream.h"
#include "data/builder.h"

static const char *const role_names[] = {
    [MCR_NUMBER] = "number", [MCR_CATEGORY] = "category", [MCR_DATE] = "date",
    [MCR_WORDS] = "text",    [MCR_SET] = "set",           [MCR_ID] = "id",
    [MCR_TARGET] = "target", [MCR_WEIGHT] = "weight",     [MCR_GROUP] = "group",
    [MCR_IGNORED] = "ignore"};

enum { ROLES = sizeof role_names / sizeof *role_names };

const char *mcr_role_name(mcr_role role)
{
    return (int)role >= 0 && (int)role < ROLES ? role_names[role] : NULL;
}

mcr_role mcr_role_find(const char *name, size_t length)
{
    for (int r = MCR_NUMBER; r < ROLES; r++)
        if (strlen(role_names[r]) == length && memcmp(role_names[r], name, length) == 0)
            return (mcr_role)r;
    return MCR_ROLE_NONE;
}

mcr_status mcr_missing_find(mcr_missing *out, mcr *ctx, const char *name)
{
    static const char *const names[] = {"error",     "drop", "mean",   "median", "mode",
                                        "indicator", "auto", "kernel", NULL};
    *out = MCR_MISSING_ERROR;
    for (int i = 0; name != NULL && names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (mcr_missing)i;
            return MCR_OK;
        }
    if (name == NULL)
        return MCR_OK;
    return mcr_fail(ctx, MCR_BAD_CALL,
                    "missing values: \"%.40s\" is not known; there are error, drop, mean, median, "
                    "mode, indicator and kernel",
                    name);
}

/* ---- columns that are carried along -----------------------------------------------------------*/

mcr_status mcr_builder_carry(mcr_builder *b, mcr_store *store)
{
    mcr_status status = mcr_builder_expect(b, store->count);
    if (status == MCR_OK)
        status = mcr_reserve(b->ctx, &b->data->carried, &b->carry_capacity, b->data->carries + 1,
                             sizeof *b->data->carried);
    if (status == MCR_OK)
        b->data->carried[b->data->carries++] = store;
    else
        mcr_store_free(store);
    return status;
}

void mcr_builder_skips(mcr_builder *b, mcr_missing missing, const mcr_skips *skips)
{
    b->data->missing = missing;
    b->data->skips = *skips;
}

int64_t mcr_data_carried(const mcr_data *data)
{
    return data->carries;
}

const char *mcr_data_carried_name(const mcr_data *data, int64_t c, mcr_role *role)
{
    if (c < 0 || c >= data->carries)
        return NULL;
    if (role != NULL)
        *role = data->carried[c]->role;
    return data->carried[c]->name;
}

mcr_status mcr_data_carried_text(const mcr_data *data, int64_t c, int64_t i, const char **bytes,
                                 int64_t *length)
{
    if (c < 0 || c >= data->carries || i < 0 || i >= data->count)
        return mcr_fail(data->ctx, MCR_BAD_CALL,
                        "no object %" PRId64 " of a carried column %" PRId64, i, c);
    mcr_field f = {data->carried[c], data->rows, data->first, data->count};
    const int64_t *start = f.store->start + mcr_field_at(&f, i);
    *bytes = f.store->bytes + start[0];
    *length = start[1] - start[0];
    return MCR_OK;
}

int64_t mcr_data_dropped(const mcr_data *data)
{
    return data->skips.dropped;
}

int64_t mcr_data_skipped(const mcr_data *data, int64_t *line, const char **why)
{
    if (line != NULL)
        *line = data->skips.first;
    if (why != NULL)
        *why = data->skips.why;
    return data->skips.bad;
}

int64_t mcr_data_not_utf8(const mcr_data *data)
{
    return data->skips.not_utf8;
}

bool mcr_data_has_holes(const mcr_data *data)
{
    for (int64_t f = 0; f < data->fields; f++)
        if (data->store[f]->holes)
            return true;
    return false;
}

/* ---- dates ------------------------------------------------------------------------------------*/

static const char *const suffix[MCR_DATE_PARTS] = {
    "", ".year_sin", ".year_cos", ".week_sin", ".week_cos", ".day_sin", ".day_cos"};

mcr_status mcr_date_columns(mcr_store *s)
{
    mcr_text name;
    mcr_text_init(&name, s->ctx);
    s->column = mcr_alloc_zero(s->ctx, MCR_DATE_PARTS, sizeof *s->column);
    bool fine = s->column != NULL;
    s->cols = fine ? MCR_DATE_PARTS : 0;
    for (int c = 0; c < MCR_DATE_PARTS && fine; c++) {
        name.length = 0;
        mcr_text_format(&name, "%s%s", s->name, suffix[c]);
        s->column[c] = name.status ? NULL : mcr_copy_text(s->ctx, name.bytes, (size_t)name.length);
        fine = s->column[c] != NULL;
    }
    mcr_text_free(&name);
    return fine ? MCR_OK : MCR_NO_MEMORY;
}

/* Parses two or four digits. */
static bool digits(const char **p, const char *end, int count, int *value)
{
    *value = 0;
    for (int i = 0; i < count; i++, ++*p) {
        if (*p >= end || **p < '0' || **p > '9')
            return false;
        *value = 10 * *value + (**p - '0');
    }
    return true;
}

static bool literal(const char **p, const char *end, char c)
{
    bool there = *p < end && **p == c;
    *p += there;
    return there;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar, with years that begin in March: then
 * the leap day is the last one. */
static int64_t count_days(int year, int month, int day)
{
    int64_t y = year - (month <= 2), m = (month + 9) % 12;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static bool is_day(int year, int month, int day)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] + (month == 2 && leap);
}

/* The time of day as a fraction, with its zone; *p moves past it. */
static bool parse_time(const char **p, const char *end, double *share)
{
    int hour, minute, second = 0, zone_hour = 0, zone_minute = 0;
    double fraction = 0, unit = 0.1;
    if (!digits(p, end, 2, &hour) || !literal(p, end, ':') || !digits(p, end, 2, &minute))
        return false;
    if (literal(p, end, ':') && !digits(p, end, 2, &second))
        return false;
    if (literal(p, end, '.'))
        for (; *p < end && **p >= '0' && **p <= '9'; ++*p, unit /= 10)
            fraction += unit * (**p - '0');
    int sign = literal(p, end, '+') ? -1 : literal(p, end, '-') ? 1 : 0;
    if (sign == 0)
        literal(p, end, 'Z');
    else if (!digits(p, end, 2, &zone_hour) ||
             (literal(p, end, ':'), *p < end && !digits(p, end, 2, &zone_minute)))
        return false;
    if (hour > 23 || minute > 59 || second > 60)
        return false;
    *share = (hour * 3600 + minute * 60 + second + fraction +
              sign * (zone_hour * 3600 + zone_minute * 60)) /
             86400.0;
    return true;
}

bool mcr_date_parse(const char *text, size_t length, double *days)
{
    const char *p = text, *end = text + length;
    int year, month, day = 1;
    double share = 0;
    if (!digits(&p, end, 4, &year) || !literal(&p, end, '-') || !digits(&p, end, 2, &month))
        return false;
    if (p < end && (!literal(&p, end, '-') || !digits(&p, end, 2, &day))) /* a month alone is
                                                                           * valid */
        return false;
    if (!is_day(year, month, day))
        return false;
    if (p < end && (literal(&p, end, 'T') || literal(&p, end, ' ')) && !parse_time(&p, end, &share))
        return false;
    *days = (double)count_days(year, month, day) + share;
    return p == end;
}

void mcr_date_parts(double days, double part[MCR_DATE_PARTS])
{
    static const double period[] = {365.2425, 7, 1};
    part[0] = days;
    for (int i = 0; i < 3; i++) {
        double angle = 2 * acos(-1) * (days / period[i] - floor(days / period[i]));
        part[1 + 2 * i] = isnan(days) ? NAN : sin(angle);
        part[2 + 2 * i] = isnan(days) ? NAN : cos(angle);
    }
}
