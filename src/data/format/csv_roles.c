/* csv_roles.c: the role of a column, guessed from the values in the first block and from its name.
 *
 *   number     at least half of the values are numbers (then all must be), unless the others are
 *              ten different words or more and a tenth of the column: then it is text
 *   id         all different, and called id, uuid, key or so (whole numbers, words); or all
 *              different codes: letters, digits and -_.:/#, each with a digit, in ten rows or more
 *   date       ISO dates, with or without a time, and months
 *   set        elements separated by ; in a third of the values or more
 *   category   words that repeat: at most half as many as rows, and at most 20 or a tenth of the
 *              rows
 *   text       all other words
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mercer/borrow.h>

#include <string.h>
#include <strings.h>

#include "base/sized.h"
#include "data/format/csv.h"
#include "data/numbers.h"

enum { SURE = 10, FEW = 20, SHORT = 40 };

static bool is_code(const mcr_csv_field *f)
{
    bool digit = false;
    for (size_t i = 0; i < f->length; i++) {
        char c = f->text[i];
        bool number = c >= '0' && c <= '9';
        if (!number && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
            memchr("-_.:/#", c, 6) == NULL)
            return false;
        digit |= number;
    }
    return digit && f->length <= SHORT;
}

static bool is_whole(const mcr_csv_field *f)
{
    size_t i = f->length > 0 && f->text[0] == '-';
    for (size_t k = i; k < f->length; k++)
        if (f->text[k] < '0' || f->text[k] > '9')
            return false;
    return f->length > i;
}

mcr_status mcr_csv_sample_add(mcr_csv_column *column, mcr *ctx, const mcr_csv_field *f, bool number)
{
    mcr_csv_sample *s = &column->sample;
    int32_t at;
    double days;
    int64_t before = s->seen.count;
    if (memchr(f->text, '\0', f->length) != NULL)
        return MCR_OK; /* the reader reports it */
    mcr_status status = mcr_words_number(&s->seen, ctx, f->text, f->length, &at);
    if (status != MCR_OK)
        return status;
    s->cells++;
    s->bytes += (int64_t)f->length;
    s->whole += number && is_whole(f);
    if (number)
        return MCR_OK;
    s->different += s->seen.count - before;
    s->dates += mcr_date_parse(f->text, f->length, &days);
    s->sets += memchr(f->text, ';', f->length) != NULL;
    s->spaced += memchr(f->text, ' ', f->length) != NULL;
    s->coded += is_code(f);
    return MCR_OK;
}

bool mcr_csv_is_numeric(const mcr_csv_column *c)
{
    bool mixed = c->sample.different >= SURE && SURE * c->words > c->numbers;
    return c->numbers >= c->words && !mixed;
}

/* id, key, uuid, guid, alone or as the last word of the name: customer_id, rowKey, "Order ID". */
static bool is_called_id(const char *name)
{
    static const char *const words[] = {"id", "key", "uuid", "guid"};
    size_t length = name != NULL ? strlen(name) : 0;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        size_t own = strlen(words[w]);
        if (length < own || strcasecmp(name + length - own, words[w]) != 0)
            continue;
        char before = length > own ? name[length - own - 1] : '_';
        char first = name[length - own];
        bool lower = before >= 'a' && before <= 'z', capital = first >= 'A' && first <= 'Z';
        bool letter = lower || (before >= 'A' && before <= 'Z');
        if (!letter || (lower && capital))
            return true;
    }
    return false;
}

mcr_role mcr_csv_guess(const mcr_csv_column *c, char separator)
{
    const mcr_csv_sample *s = &c->sample;
    int64_t n = s->cells, distinct = s->seen.count;
    bool unique = n > 1 && distinct == n;
    if (mcr_csv_is_numeric(c))
        return unique && s->whole == n && is_called_id(c->name) ? MCR_ID : MCR_NUMBER;
    if (s->dates == n)
        return MCR_DATE;
    if (unique && s->spaced == 0 && (is_called_id(c->name) || (n >= SURE && s->coded == n)))
        return MCR_ID;
    if (separator != ';' && 3 * s->sets >= n)
        return MCR_SET;
    if (2 * distinct <= n && (distinct <= FEW || SURE * distinct <= n) && s->bytes <= SHORT * n)
        return MCR_CATEGORY;
    return MCR_WORDS;
}

/* ---- of columns that a program holds ----------------------------------------------------------*/

/* String i of the view; false: it ends before it starts. */
static bool cell_at(mcr_csv_field *f, const mcr_string_view *v, int64_t i)
{
    int64_t first = 0, end = 0;
    bool good = mcr_number_int(&first, v->start, v->start_type, i) &&
                mcr_number_int(&end, v->start, v->start_type, i + 1) && first >= 0 && end >= first;
    *f = (mcr_csv_field){.text = good ? v->bytes + first : NULL, .length = (size_t)(end - first)};
    return good;
}

mcr_status mcr_role_guess(mcr_role *out, mcr *ctx, const char *name, const mcr_string_view *view,
                          int64_t count, int whole)
{
    mcr_string_view v;
    mcr_csv_column column = {.name = (char *)name}; /* never written to */
    *out = MCR_ROLE_NONE;
    mcr_status status = MCR_SIZED_READ(mcr_string_view, &v, ctx, view);
    if (status == MCR_OK)
        status = mcr_number_check(ctx, "starts", v.start, v.start_type, count + 1);
    for (int64_t i = 0; i < count && status == MCR_OK; i++) {
        mcr_csv_field cell;
        if (!cell_at(&cell, &v, i))
            status = mcr_fail(ctx, MCR_BAD_DATA, "string %lld ends before it starts",
                              (long long)i + 1);
        else if (cell.length > 0)
            status = mcr_csv_sample_add(&column, ctx, &cell, whole != 0);
    }
    column.numbers = whole ? column.sample.cells : 0;
    column.words = whole ? 0 : column.sample.cells;
    if (status == MCR_OK)
        *out = whole || column.words > 0 ? mcr_csv_guess(&column, ',') : MCR_WORDS;
    mcr_words_free(&column.sample.seen, ctx);
    return status;
}
