/* csv_dialect.c: detects the separator of a table and decimal commas.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/csv_maker.h"

#include <string.h>

bool mcr_csv_decimal_comma(const mcr_csv_field *f)
{
    size_t digits = 0, commas = 0;
    for (size_t i = 0; i < f->length; i++) {
        char c = f->text[i];
        if (c >= '0' && c <= '9')
            digits++;
        else if (c == ',' && i + 1 < f->length)
            commas++;
        else if (i > 0 || (c != '-' && c != '+'))
            return false;
    }
    return digits > 1 && commas == 1;
}

/* One to three digits, then groups of a comma and three digits, then an optional fraction. */
bool mcr_csv_thousands(const mcr_csv_field *f)
{
    size_t i = f->length > 0 && (f->text[0] == '-' || f->text[0] == '+'), run = 0, groups = 0;
    for (; i < f->length && f->text[i] != '.'; i++) {
        bool comma = f->text[i] == ',';
        if (comma && (run == 0 || run > 3 || (groups > 0 && run != 3)))
            return false;
        if (!comma && (f->text[i] < '0' || f->text[i] > '9'))
            return false;
        groups += comma;
        run = comma ? 0 : run + 1;
    }
    if (groups == 0 || run != 3)
        return false;
    for (i += i < f->length; i < f->length; i++)
        if (f->text[i] < '0' || f->text[i] > '9')
            return false;
    return true;
}

typedef struct trial {
    int64_t fields;        /* of the first record */
    int64_t records, like; /* records seen, and those with the same number of fields */
    int64_t cells, numbers;
} trial;

static trial try_separator(const char *p, const char *end, char separator)
{
    enum { RECORDS = 50 };
    trial t = {0};
    while (p < end && t.records < RECORDS) {
        int64_t lines, fields = 0;
        const char *stop = mcr_csv_record(p, end, separator, &lines);
        if (stop == NULL)
            break;
        mcr_csv_field f;
        mcr_csv_state state;
        double value;
        do {
            state = mcr_csv_next(&f, &p, stop, separator);
            fields++;
            t.cells++;
            t.numbers += mcr_csv_number(&f, &value) || mcr_csv_decimal_comma(&f);
        } while (state == MCR_CSV_FIELD);
        p = stop;
        if (fields == 1 && f.length == 0 && !f.quoted) {
            t.cells--; /* a blank line does not count */
            continue;
        }
        if (t.records++ == 0)
            t.fields = fields;
        t.like += fields == t.fields;
    }
    return t;
}

static bool is_better(const trial *a, const trial *b)
{
    if ((a->fields > 1) != (b->fields > 1))
        return a->fields > 1;
    if (a->like * b->records != b->like * a->records)
        return a->like * b->records > b->like * a->records;
    return a->numbers * b->cells > b->numbers * a->cells;
}

char mcr_csv_separator(const char *bytes, size_t count, double *share)
{
    static const char candidates[] = {',', ';', '\t'};
    char best = 0;
    trial won = {0};
    const char *end = count > 0 ? memrchr(bytes, '\n', count) : NULL;
    *share = 0;
    if (end == NULL)
        return 0;
    for (size_t i = 0; i < sizeof candidates; i++) {
        trial t = try_separator(bytes, end + 1, candidates[i]);
        if (t.fields > 1 && (best == 0 || is_better(&t, &won))) {
            best = candidates[i];
            won = t;
        }
    }
    if (best != 0)
        *share = (double)won.like / (double)won.records;
    return best;
}
