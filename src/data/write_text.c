/* write_text.c: strings as text lines and FASTA, and everything as JSON lines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/write.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"

static bool holds_strings(const mcr_data *data, char why[MCR_WHY])
{
    if (data->fields != 1 || data->store[0]->kind != MCR_STRINGS)
        return mcr_writer_no(why, "it can hold only one field of strings");
    if (data->weight != NULL)
        return mcr_writer_no(why, "it has no place for weights");
    return true;
}

/* Whether no class name contains one of the bytes. */
static bool words_without(const mcr_data *data, const char *bytes, char why[MCR_WHY])
{
    for (int64_t c = 0; data->target_kind == MCR_WORD_TARGETS && c < data->classes->count; c++) {
        const char *word = data->classes->name[c];
        if (word[strcspn(word, bytes)] != '\0')
            return mcr_writer_no(why, "the class \"%.40s\" cannot be written in it", word);
    }
    return true;
}

/* ---- text lines -------------------------------------------------------------------------------*/

static bool holds_text(const mcr_data *data, char why[MCR_WHY])
{
    if (!holds_strings(data, why) || !words_without(data, "\t\n\x1f", why))
        return false;
    for (int64_t i = 0; i < data->count; i++) {
        mcr_span s = mcr_writer_string(data, 0, i);
        if (i == 0 && data->target == NULL &&
            ((s.length >= 3 && memcmp(s.bytes, "\xef\xbb\xbf", 3) == 0) ||
             (s.length >= 2 && memcmp(s.bytes, "\x1f\x8b", 2) == 0)))
            return mcr_writer_no(
                why, "the first string begins like a byte order mark or a compressed file");
        if (s.length > 0 &&
            (memchr(s.bytes, '\n', s.length) != NULL || s.bytes[s.length - 1] == '\r'))
            return mcr_writer_no(why, "string %" PRId64 " has a line end in it", i + 1);
    }
    return true;
}

static void row_text(mcr_text *to, const mcr_data *data, int64_t i)
{
    mcr_span s = mcr_writer_string(data, 0, i);
    if (data->target != NULL) {
        mcr_writer_target(to, data, i);
        mcr_text_add(to, "\t", 1);
    }
    mcr_text_add(to, s.bytes, s.length);
    mcr_text_add(to, "\n", 1);
}

/* ---- FASTA ------------------------------------------------------------------------------------*/

/* The reader converts letters to upper case, and drops blanks and a '*' at the end. */
static bool is_sequence(mcr_span s)
{
    if (s.length == 0 || s.bytes[0] == ' ' || s.bytes[0] == ';' || s.bytes[s.length - 1] == ' ' ||
        s.bytes[s.length - 1] == '*')
        return false;
    for (size_t i = 0; i < s.length; i++) {
        unsigned char c = (unsigned char)s.bytes[i];
        if (c < ' ' || c == 127 || c == '>' || (c >= 'a' && c <= 'z'))
            return false;
    }
    return (unsigned char)s.bytes[0] != 0xef;
}

static bool holds_fasta(const mcr_data *data, char why[MCR_WHY])
{
    if (!holds_strings(data, why) || !words_without(data, " \t\v\f\r\n", why))
        return false;
    for (int64_t c = 0; data->target_kind == MCR_WORD_TARGETS && c < data->classes->count; c++)
        if (strncmp(data->classes->name[c], "label=", 6) == 0)
            return mcr_writer_no(why, "the class \"%.40s\" cannot be written in it",
                                 data->classes->name[c]);
    for (int64_t i = 0; i < data->count; i++)
        if (!is_sequence(mcr_writer_string(data, 0, i)))
            return mcr_writer_no(why, "string %" PRId64 " is not a sequence of upper case letters",
                                 i + 1);
    return true;
}

static void row_fasta(mcr_text *to, const mcr_data *data, int64_t i)
{
    mcr_span s = mcr_writer_string(data, 0, i);
    mcr_text_format(to, ">%" PRId64, i + 1);
    if (data->target != NULL) {
        mcr_text_add(to, " ", 1);
        mcr_writer_target(to, data, i);
    }
    mcr_text_add(to, "\n", 1);
    mcr_text_add(to, s.bytes, s.length);
    mcr_text_add(to, "\n", 1);
}

/* ---- JSON lines -------------------------------------------------------------------------------*/

static bool holds_jsonl(const mcr_data *data, char why[MCR_WHY])
{
    for (int64_t f = 0; f < data->fields; f++) {
        const mcr_store *s = data->store[f];
        if (strcmp(s->name, "weight") == 0 || (data->target != NULL && strcmp(s->name, "y") == 0))
            return mcr_writer_no(why, "a field cannot be called \"%s\" there", s->name);
        if (!mcr_utf8_valid(s->name, strlen(s->name)))
            return mcr_writer_no(why, "the name of a field is not UTF-8");
        for (int64_t l = 0; s->label_name != NULL && l < s->label_names; l++)
            if (!mcr_utf8_valid(s->label_name[l], strlen(s->label_name[l])))
                return mcr_writer_no(why, "a node label is not UTF-8");
    }
    for (int64_t c = 0; data->target_kind == MCR_WORD_TARGETS && c < data->classes->count; c++)
        if (!mcr_utf8_valid(data->classes->name[c], strlen(data->classes->name[c])))
            return mcr_writer_no(why, "a class is not UTF-8");
    return true;
}

void mcr_write_values(mcr_json_writer *w, const mcr_vector *x)
{
    mcr_json_write_array(w);
    for (int64_t e = 0; e < x->count; e++)
        mcr_json_write_real(w, mcr_vector_value(x, e));
    mcr_json_write_end_array(w);
}

void mcr_write_columns(mcr_json_writer *w, const char *key, const mcr_vector *x)
{
    mcr_json_put_array(w, key);
    for (int64_t e = 0; e < x->count; e++)
        mcr_json_write_int(w, mcr_vector_column(x, e));
    mcr_json_write_end_array(w);
}

static void add_sparse(mcr_json_writer *w, const mcr_store *s, int64_t row)
{
    mcr_vector x = mcr_store_vector(s, row);
    mcr_json_write_object(w);
    mcr_write_columns(w, "i", &x);
    mcr_json_write_key(w, "v");
    mcr_write_values(w, &x);
    mcr_json_put_int(w, "n", s->cols);
    mcr_json_write_end_object(w);
}

static void add_string(mcr_json_writer *w, mcr_span s)
{
    static const char digits[] = "0123456789abcdef";
    if (mcr_utf8_valid(s.bytes, s.length)) {
        mcr_json_write_string(w, s.bytes, s.length);
        return;
    }
    mcr_json_write_object(w);
    mcr_json_write_key(w, "hex");
    mcr_text_add(w->to, "\"", 1);
    for (size_t i = 0; i < s.length; i++) {
        unsigned char c = (unsigned char)s.bytes[i];
        char pair[2] = {digits[c >> 4], digits[c & 15]};
        mcr_text_add(w->to, pair, 2);
    }
    mcr_text_add(w->to, "\"", 1);
    w->comma = true;
    mcr_json_write_end_object(w);
}

static void add_nodes(mcr_json_writer *w, const mcr_store *s, int64_t row)
{
    mcr_json_write_key(w, "nodes");
    if (s->node_label == NULL) {
        mcr_json_write_int(w, s->start[row + 1] - s->start[row]);
        return;
    }
    mcr_json_write_array(w);
    for (int64_t v = s->start[row]; v < s->start[row + 1]; v++)
        if (s->label_name != NULL)
            mcr_json_write_text(w, s->label_name[s->node_label[v]]);
        else
            mcr_json_write_int(w, s->node_label[v]);
    mcr_json_write_end_array(w);
}

void mcr_write_edges(mcr_json_writer *w, const mcr_store *s, int64_t row)
{
    mcr_json_put_array(w, "edges");
    for (int64_t v = s->start[row]; v < s->start[row + 1]; v++)
        for (int64_t k = s->link[v]; k < s->link[v + 1]; k++) {
            if (s->adjacent[k] < v - s->start[row])
                continue;
            mcr_json_write_array(w);
            mcr_json_write_int(w, v - s->start[row]);
            mcr_json_write_int(w, s->adjacent[k]);
            if (s->link_label != NULL)
                mcr_json_write_int(w, s->link_label[k]);
            mcr_json_write_end_array(w);
        }
    mcr_json_write_end_array(w);
}

static void add_graph(mcr_json_writer *w, const mcr_store *s, int64_t row)
{
    mcr_json_write_object(w);
    add_nodes(w, s, row);
    mcr_write_edges(w, s, row);
    mcr_json_write_end_object(w);
}

static void add_dense(mcr_json_writer *w, const mcr_store *s, int64_t row)
{
    mcr_vector x = mcr_store_vector(s, row);
    mcr_write_values(w, &x);
}

static void add_kernel_row(mcr_json_writer *w, const mcr_store *s, int64_t row)
{
    mcr_vector x = mcr_store_vector(s, row);
    mcr_json_write_object(w);
    mcr_json_write_key(w, "k");
    mcr_write_values(w, &x);
    mcr_json_put_int(w, "id", s->id != NULL ? s->id[row] : -1);
    mcr_json_write_end_object(w);
}

static void row_jsonl(mcr_text *to, const mcr_data *data, int64_t i)
{
    mcr_json_writer w;
    mcr_json_write_init(&w, to);
    mcr_json_write_object(&w);
    if (data->target != NULL)
        mcr_json_write_key(&w, "y");
    if (data->target_kind == MCR_WORD_TARGETS)
        mcr_json_write_text(&w, data->classes->name[data->class_of[i]]);
    else if (data->target != NULL)
        mcr_json_write_real(&w, data->target[i]);
    if (data->weight != NULL) {
        mcr_json_put_real(&w, "weight", data->weight[i]);
    }
    for (int64_t f = 0; f < data->fields; f++) {
        mcr_field field = mcr_data_field(data, f);
        const mcr_store *s = field.store;
        int64_t row = mcr_field_at(&field, i);
        mcr_json_write_key(&w, s->name);
        switch (s->kind) {
        case MCR_DENSE: add_dense(&w, s, row); break;
        case MCR_SPARSE: add_sparse(&w, s, row); break;
        case MCR_STRINGS: add_string(&w, mcr_writer_string(data, f, i)); break;
        case MCR_GRAPHS: add_graph(&w, s, row); break;
        case MCR_PRECOMPUTED: add_kernel_row(&w, s, row); break;
        }
    }
    mcr_json_write_end_object(&w);
    mcr_text_add(to, "\n", 1);
}

const mcr_writer mcr_writer_text = {.holds = holds_text, .row = row_text};
const mcr_writer mcr_writer_fasta = {.holds = holds_fasta, .row = row_fasta};
const mcr_writer mcr_writer_jsonl = {.holds = holds_jsonl, .row = row_jsonl};
