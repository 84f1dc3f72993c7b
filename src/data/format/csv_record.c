/* csv_record.c: the records and fields of CSV (RFC 4180).
 *
 * A field may be quoted; inside quotes a quote is doubled, and separators and line ends are text.
 * Blanks around a field are ignored. A quote inside a field that does not start with one is an
 * ordinary character.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/csv.h"

#include <string.h>
#include <strings.h>

#include "base/number.h"

static bool is_blank(char c, char separator)
{
    return (c == ' ' || c == '\t') && c != separator;
}

static bool at_line_end(const char *p)
{
    return *p == '\n' || (*p == '\r' && p[1] == '\n');
}

/* Moves past the separator or line end at *p. */
static mcr_csv_state step(const char **p)
{
    if (!at_line_end(*p)) {
        ++*p;
        return MCR_CSV_FIELD;
    }
    *p += **p == '\r' ? 2 : 1;
    return MCR_CSV_LAST;
}

static mcr_csv_state quoted(mcr_csv_field *f, const char **p, const char *end, char separator)
{
    const char *q = *p + 1;
    *f = (mcr_csv_field){.text = q, .quoted = true};
    for (;;) {
        q = memchr(q, '"', (size_t)(end - q));
        if (q == NULL)
            return MCR_CSV_OPEN;
        if (q[1] != '"')
            break;
        f->doubled = true;
        q += 2;
    }
    f->length = (size_t)(q - f->text);
    for (q++; is_blank(*q, separator); q++)
        ;
    *p = q;
    if (*q != separator && !at_line_end(q))
        return MCR_CSV_BEHIND;
    return step(p);
}

/* Marks the bytes of `word` that equal `byte` by their highest bits; higher bytes may be marked by
 * mistake. */
static inline uint64_t find_byte(uint64_t word, unsigned char byte)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t x = word ^ ones * byte;
    return (x - ones) & ~x & ones << 7;
}

/* The first separator or '\n' from q on; the text ends with '\n' before end. */
static inline const char *find_end(const char *q, const char *end, char separator)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (uint64_t word; end - q >= 8; q += 8) {
        memcpy(&word, q, sizeof word);
        uint64_t found = find_byte(word, (unsigned char)separator) | find_byte(word, '\n');
        if (found != 0)
            return q + __builtin_ctzll(found) / 8;
    }
#endif
    while (*q != separator && *q != '\n')
        q++;
    return q;
}

mcr_csv_state mcr_csv_next(mcr_csv_field *f, const char **p, const char *end, char separator)
{
    const char *q = *p;
    while (is_blank(*q, separator))
        q++;
    if (*q == '"') {
        *p = q;
        return quoted(f, p, end, separator);
    }
    const char *from = q;
    q = find_end(q, end, separator);
    q -= *q == '\n' && q > from && q[-1] == '\r';
    *p = q;
    while (q > from && is_blank(q[-1], separator))
        q--;
    *f = (mcr_csv_field){.text = from, .length = (size_t)(q - from)};
    return step(p);
}

const char *mcr_csv_record(const char *p, const char *end, char separator, int64_t *lines)
{
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    *lines = 1;
    if (stop == NULL || memchr(p, '"', (size_t)(stop - p)) == NULL)
        return stop != NULL ? stop + 1 : NULL;
    const char *first = p;
    for (;;) {
        mcr_csv_field field;
        mcr_csv_state state = mcr_csv_next(&field, &p, end, separator);
        if (state == MCR_CSV_OPEN)
            return NULL;
        if (state == MCR_CSV_BEHIND) /* the reader reports it; the record ends with its line */
            p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
        if (state == MCR_CSV_FIELD)
            continue;
        while (stop + 1 < p) {
            ++*lines;
            stop = memchr(stop + 1, '\n', (size_t)(p - stop - 1));
        }
        return p > first ? p : NULL;
    }
}

void mcr_csv_quote(mcr_text *t, const char *text, size_t length)
{
    mcr_text_string(t, "\"");
    for (size_t i = 0; i < length;) {
        const char *quote = memchr(text + i, '"', length - i);
        size_t n = quote != NULL ? (size_t)(quote - text) + 1 - i : length - i;
        mcr_text_add(t, text + i, n);
        if (quote != NULL)
            mcr_text_string(t, "\"");
        i += n;
    }
    mcr_text_string(t, "\"");
}

size_t mcr_csv_plain(char *to, const mcr_csv_field *f)
{
    if (!f->doubled) {
        if (f->length > 0)
            memcpy(to, f->text, f->length);
        return f->length;
    }
    size_t length = 0;
    for (size_t i = 0; i < f->length; i++) {
        to[length++] = f->text[i];
        i += f->text[i] == '"';
    }
    return length;
}

bool mcr_csv_number(const mcr_csv_field *f, double *value)
{
    const char *p = f->text, *end = p + f->length;
    while (p < end && *p == ' ') /* inside quotes */
        p++;
    while (end > p && end[-1] == ' ')
        end--;
    return p < end && mcr_parse_real(p, end, value) == end;
}

bool mcr_csv_comma_number(const mcr_csv_field *f, double *value)
{
    enum { LONGEST = 64 };
    char text[LONGEST];
    const char *comma = f->length < LONGEST ? memchr(f->text, ',', f->length) : NULL;
    if (comma == NULL || memchr(f->text, '.', f->length) != NULL)
        return mcr_csv_number(f, value);
    memcpy(text, f->text, f->length);
    text[comma - f->text] = '.';
    return mcr_csv_number(&(mcr_csv_field){.text = text, .length = f->length}, value);
}

bool mcr_csv_missing(const mcr_csv_field *f)
{
    static const char *const marks[] = {"?", "NA", "N/A", "#N/A", "NaN", "null"};
    if (f->length == 0)
        return true;
    const char c = f->text[0];
    if (f->length > 4 || (c != '?' && c != 'n' && c != 'N' && c != '#')) /* almost always */
        return false;
    for (size_t i = 0; i < sizeof marks / sizeof *marks && !f->quoted; i++)
        if (strlen(marks[i]) == f->length && strncasecmp(f->text, marks[i], f->length) == 0)
            return true;
    return false;
}
