/* write_table.c: vectors as LIBSVM lines and as tables (CSV, TSV).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "data/format/csv.h"

static bool is_number(const char *text, size_t length)
{
    double value;
    return length > 0 && mcr_parse_real(text, text + length, &value) == text + length;
}

/* ---- LIBSVM -----------------------------------------------------------------------------------*/

static bool holds_libsvm(const mcr_data *data, char why[MCR_WHY])
{
    const mcr_store *s = data->store[0];
    if (data->fields != 1 || (s->kind != MCR_DENSE && s->kind != MCR_SPARSE))
        return mcr_writer_no(why, "it can hold only one field of vectors");
    if (data->target == NULL)
        return mcr_writer_no(why, "every line begins with a target, and there are none");
    if (data->weight != NULL)
        return mcr_writer_no(why, "it has no place for weights");
    for (int64_t c = 0; data->target_kind == MCR_WORD_TARGETS && c < data->classes->count; c++) {
        const char *word = data->classes->name[c];
        double value;
        const char *end = word + strlen(word);
        if (word[strcspn(word, " \t\r\n#:,\x1f")] != '\0' ||
            (mcr_parse_real(word, end, &value) == end && !isfinite(value)))
            return mcr_writer_no(why, "the class \"%.40s\" cannot be written in it", word);
    }
    return true;
}

static void add_pair(mcr_text *to, int64_t index, double value)
{
    mcr_text_add(to, " ", 1);
    mcr_text_int(to, index);
    mcr_text_add(to, ":", 1);
    mcr_text_real(to, value);
}

/* The first line has an entry for the last column, if need be a zero: so the number of columns is
 * preserved. */
static void row_libsvm(mcr_text *to, const mcr_data *data, int64_t i)
{
    mcr_field f = mcr_data_field(data, 0);
    mcr_vector x = mcr_field_vector(&f, i);
    int64_t last = 0;
    mcr_writer_target(to, data, i);
    for (int64_t e = 0; e < x.count; e++)
        if (x.index || mcr_vector_value(&x, e) != 0) {
            last = mcr_vector_column(&x, e) + 1;
            add_pair(to, last, mcr_vector_value(&x, e));
        }
    if (i == 0 && last < f.store->cols)
        add_pair(to, f.store->cols, 0);
    mcr_text_add(to, "\n", 1);
}

/* ---- tables -----------------------------------------------------------------------------------*/

static const char target_name[] = "target", weight_name[] = "weight";

static bool starts_like_name(const char *name)
{
    mcr_csv_field f = {.text = name, .length = strlen(name)};
    return memchr("0123456789+-.", name[0], 13) == NULL && !mcr_csv_missing(&f);
}

/* Whether the reader will recognise the header: by a number below a name, or by different words
 * including "target". */
static bool header_is_seen(const mcr_data *data)
{
    if (data->target_kind == MCR_REAL_TARGETS || data->weight != NULL)
        return true;
    bool words = data->target != NULL && data->fields < 256;
    for (int64_t f = 0; f < data->fields; f++) {
        if (data->store[f]->kind != MCR_STRINGS)
            return true;
        words &= starts_like_name(data->store[f]->name);
    }
    for (int64_t c = 0; words && c < data->classes->count; c++)
        words = strcmp(data->classes->name[c], target_name) != 0;
    return words;
}

/* Text that the reader would parse as a number. */
static bool looks_numeric(mcr_span s)
{
    bool digits = s.length > 0;
    for (size_t i = 0; i < s.length && digits; i++)
        digits = memchr("0123456789+-., eE", s.bytes[i], 17) != NULL;
    return digits || is_number(s.bytes, s.length);
}

static bool holds_table(const mcr_data *data, char why[MCR_WHY])
{
    int64_t vectors = 0;
    for (int64_t f = 0; f < data->fields; f++) {
        const mcr_store *s = data->store[f];
        vectors += s->kind == MCR_DENSE || s->kind == MCR_SPARSE;
        if (s->kind == MCR_GRAPHS || s->kind == MCR_PRECOMPUTED || vectors > 1)
            return mcr_writer_no(
                why, "it can hold one field of vectors, and strings; not \"%.60s\"", s->name);
        if (s->kind != MCR_STRINGS)
            continue;
        if (strcmp(s->name, target_name) == 0 || strcmp(s->name, weight_name) == 0 ||
            strcmp(s->name, "x") == 0)
            return mcr_writer_no(why, "a column of text cannot be called \"%s\" there", s->name);
        for (int64_t i = 0; i < data->count; i++) {
            mcr_span text = mcr_writer_string(data, f, i);
            if (looks_numeric(text))
                return mcr_writer_no(
                    why, "the text of \"%.60s\" for object %" PRId64 " would read back as a number",
                    s->name, i + 1);
            if (text.length > 0 && memchr(text.bytes, '\0', text.length) != NULL)
                return mcr_writer_no(
                    why, "the text of \"%.60s\" for object %" PRId64 " contains a NUL byte",
                    s->name, i + 1);
        }
    }
    if (!header_is_seen(data))
        return mcr_writer_no(why, "its header could not be distinguished from the data");
    return true;
}

static void add_cell(mcr_text *to, mcr_span s, char separator)
{
    mcr_csv_field f = {.text = s.bytes, .length = s.length};
    bool quote = mcr_csv_missing(&f) || s.bytes[0] == ' ' || s.bytes[0] == '\t' ||
                 s.bytes[s.length - 1] == ' ' || s.bytes[s.length - 1] == '\t' ||
                 is_number(s.bytes, s.length) ||
                 /* a byte order mark, or the first byte of a compressed file */
                 (s.length >= 3 && memcmp(s.bytes, "\xEF\xBB\xBF", 3) == 0) || s.bytes[0] == '\x1f';
    for (size_t i = 0; i < s.length && !quote; i++)
        quote = s.bytes[i] == separator || memchr("\"\r\n;,\t", s.bytes[i], 6) != NULL;
    if (!quote) {
        mcr_text_add(to, s.bytes, s.length);
        return;
    }
    mcr_csv_quote(to, s.bytes, s.length);
}

static void add_word(mcr_text *to, const char *word, char separator)
{
    add_cell(to, (mcr_span){word, strlen(word)}, separator);
}

/* Columns keep their names if none is empty or that of a target or weight column, and the reader
 * can recognise them as names. */
static bool has_names(const mcr_store *s)
{
    bool seen = false;
    for (int64_t c = 0; s->column && c < s->cols; c++) {
        const char *name = s->column[c];
        seen |= starts_like_name(name);
        if (!name[0] || strcasecmp(name, target_name) == 0 || strcasecmp(name, weight_name) == 0)
            return false;
    }
    return seen;
}

/* Numbers come before the text columns, in the reader's order of fields. */
static void head_table(mcr_text *to, const mcr_data *data, char separator)
{
    for (int64_t f = 0; f < data->fields; f++) {
        const mcr_store *s = data->store[f];
        bool vectors = s->kind == MCR_DENSE || s->kind == MCR_SPARSE, named = has_names(s);
        for (int64_t c = 0; vectors && c < s->cols; c++) {
            if (f > 0 || c > 0)
                mcr_text_add(to, &separator, 1);
            if (named)
                add_word(to, s->column[c], separator);
            else
                mcr_text_format(to, "x%" PRId64, c + 1);
        }
        if (vectors)
            continue;
        if (f > 0)
            mcr_text_add(to, &separator, 1);
        add_word(to, s->name, separator);
    }
    if (data->weight != NULL)
        mcr_text_format(to, "%c%s", separator, weight_name);
    if (data->target != NULL)
        mcr_text_format(to, "%c%s", separator, target_name);
    mcr_text_add(to, "\n", 1);
}

static void add_vector(mcr_text *to, const mcr_field *f, int64_t i, char separator)
{
    mcr_vector x = mcr_field_vector(f, i);
    int64_t e = 0;
    for (int64_t c = 0; c < f->store->cols; c++) {
        if (c > 0)
            mcr_text_add(to, &separator, 1);
        if (e < x.count && mcr_vector_column(&x, e) == c)
            mcr_text_real(to, mcr_vector_value(&x, e++));
        else
            mcr_text_add(to, "0", 1);
    }
}

static void row_table(mcr_text *to, const mcr_data *data, int64_t i, char separator)
{
    for (int64_t f = 0; f < data->fields; f++) {
        mcr_field field = mcr_data_field(data, f);
        if (f > 0)
            mcr_text_add(to, &separator, 1);
        if (field.store->kind == MCR_STRINGS)
            add_cell(to, mcr_writer_string(data, f, i), separator);
        else
            add_vector(to, &field, i, separator);
    }
    if (data->weight != NULL) {
        mcr_text_add(to, &separator, 1);
        mcr_text_real(to, data->weight[i]);
    }
    if (data->target != NULL)
        mcr_text_add(to, &separator, 1);
    if (data->target_kind == MCR_WORD_TARGETS)
        add_word(to, data->classes->name[data->class_of[i]], separator);
    else if (data->target != NULL)
        mcr_text_real(to, data->target[i]);
    mcr_text_add(to, "\n", 1);
}

static void head_csv(mcr_text *to, const mcr_data *data)
{
    head_table(to, data, ',');
}

static void row_csv(mcr_text *to, const mcr_data *data, int64_t i)
{
    row_table(to, data, i, ',');
}

static void head_tsv(mcr_text *to, const mcr_data *data)
{
    head_table(to, data, '\t');
}

static void row_tsv(mcr_text *to, const mcr_data *data, int64_t i)
{
    row_table(to, data, i, '\t');
}

const mcr_writer mcr_writer_libsvm = {.holds = holds_libsvm, .row = row_libsvm};
const mcr_writer mcr_writer_csv = {.holds = holds_table, .head = head_csv, .row = row_csv};
const mcr_writer mcr_writer_tsv = {.holds = holds_table, .head = head_tsv, .row = row_tsv};
