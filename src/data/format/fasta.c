/* fasta.c: biological sequences with their class.
 *
 * A record is a header line `>...` and sequence lines until the next header. The label follows
 * "label=" if a word of the header starts with that; otherwise it is the header's last word (which
 * may be its only one). With class files there is one file per class, headers are ignored, and the
 * class is the file's name without directory and extensions, or the text before '=' in "word=path".
 * With the target "none" there are no labels.
 *
 * Sequence lines are joined without white space at their ends; letters become upper case (lower
 * case marks repeats in DNA, which kernels should not treat as different letters); one '*' at the
 * end (a protein's stop) is dropped. Other bytes, including inner blanks, are kept. Lines that
 * begin with ';' are comments. Refused: text before the first header, a header without a sequence,
 * a '>' or a control character inside a sequence. The field is called "sequence".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/data.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/number.h"
#include "base/order.h"
#include "data/format/collect.h"
#include "data/join.h"
#include "data/write.h"

/* If more sequences than this have distinct single-word headers, these are names. */
enum { NAMES_MIN = 8 };

static const char *const extensions[] = {"fa", "fasta", "fna", "faa", "ffn", "fas", NULL};

typedef struct reader {
    mcr *ctx;
    mcr_input *in;
    mcr_strings strings;
    mcr_labels *labels; /* NULL: target "none" */
    mcr_join *join;     /* the join that needs the names; NULL: none */
    const char *word;   /* class of the whole file, NULL: labels in headers */
    size_t word_length;
    int64_t header_line; /* of the open record; 0: none */
    /* Hashes of the headers, as long as each is a single word that is not a number. */
    bool only_names;
    uint64_t *name;
    int64_t name_capacity;
} reader;

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void trim(const char **p, const char **end)
{
    while (*p < *end && is_space(**p))
        ++*p;
    while (*p < *end && is_space((*end)[-1]))
        --*end;
}

/* ---- headers -------------------------------------------------------------------------------- */

/* The label in a header without its '>'; empty if there is none. */
static void find_label(const char **label, const char **label_end, const char *p, const char *end)
{
    static const char key[] = "label=";
    const size_t key_length = sizeof key - 1;
    trim(&p, &end);
    *label = *label_end = end;
    while (p < end) {
        const char *stop = p;
        while (stop < end && !is_space(*stop))
            stop++;
        *label = p;
        *label_end = stop;
        if ((size_t)(stop - p) >= key_length && memcmp(p, key, key_length) == 0) {
            *label += key_length;
            return;
        }
        for (p = stop; p < end && is_space(*p);)
            p++;
    }
}

static mcr_status note_name(reader *r, const char *header, const char *end, const char *label)
{
    double value;
    trim(&header, &end);
    if (label != header || mcr_parse_real(header, end, &value) == end) {
        r->only_names = false;
        return MCR_OK;
    }
    int64_t n = mcr_strings_count(&r->strings);
    mcr_status status = mcr_reserve(r->ctx, &r->name, &r->name_capacity, n, sizeof *r->name);
    if (status == MCR_OK)
        r->name[n - 1] = mcr_hash_bytes(r->ctx, 0, header, (size_t)(end - header));
    return status;
}

/* The first word is the name of the sequence. */
static mcr_status give_name(const reader *r, const char *p, const char *end)
{
    trim(&p, &end);
    const char *stop = p;
    while (stop < end && !is_space(*stop))
        stop++;
    return mcr_join_name(r->join, p, (size_t)(stop - p));
}

static mcr_status read_header(reader *r, const char *p, const char *end)
{
    const char *label = r->word, *label_end = r->word ? r->word + r->word_length : NULL;
    mcr_status status = mcr_strings_add(&r->strings, NULL, 0);
    if (status == MCR_OK && r->join)
        status = give_name(r, p, end);
    r->header_line = mcr_input_line_number(r->in);
    if (status != MCR_OK || !r->labels)
        return status;
    if (!r->word) {
        find_label(&label, &label_end, p, end);
        if (label == label_end)
            return mcr_input_fail(r->in, "the header has no label: it should be the last word, or "
                                         "label=...; without labels set the target to \"none\"");
        if (r->only_names)
            status = note_name(r, p, end, label);
    }
    if (status == MCR_OK)
        status = mcr_label_take(r->labels, r->in, label, (size_t)(label_end - label));
    return status;
}

/* Headers that are only names (">chr1:855169-855404") would make every object a class of its own. A
 * hash collision could only let such a file pass. */
static mcr_status check_names(reader *r, const mcr_read_options *options)
{
    int64_t n = mcr_strings_count(&r->strings);
    if (!r->only_names || !r->labels || r->word || n < NAMES_MIN || mcr_labels_have_known(options))
        return MCR_OK;
    qsort(r->name, (size_t)n, sizeof *r->name, mcr_uint64_rising);
    for (int64_t i = 1; i < n; i++)
        if (r->name[i] == r->name[i - 1])
            return MCR_OK;
    return mcr_fail_at(r->ctx, MCR_BAD_DATA, mcr_input_name(r->in), 0,
                       "every header is a different single word: these are names, not labels; give "
                       "one file per class, or set the target to \"none\"");
}

/* ---- sequences ------------------------------------------------------------------------------ */

static mcr_status fail_byte(reader *r, unsigned char c)
{
    if (c == '>')
        return mcr_input_fail(r->in, "'>' inside a sequence: is a line break missing?");
    return mcr_input_fail(r->in, "byte 0x%02x inside a sequence", c);
}

static mcr_status read_residues(reader *r, const char *p, const char *end)
{
    trim(&p, &end);
    if (p == end)
        return MCR_OK;
    if (!r->header_line)
        return mcr_input_fail(r->in, "text before the first header: FASTA begins with '>'");
    char *to;
    mcr_status status = mcr_strings_extend(&r->strings, NULL, (size_t)(end - p), &to);
    if (status != MCR_OK)
        return status;
    for (; p < end; p++, to++) {
        unsigned char c = (unsigned char)*p;
        if (c == '>' || (c < ' ' && c != '\t') || c == 127)
            return fail_byte(r, c);
        *to = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    return MCR_OK;
}

/* Ends the current record, if any. */
static mcr_status end_record(reader *r)
{
    if (!r->header_line)
        return MCR_OK;
    mcr_store *store = r->strings.store;
    int64_t n = store->count, from = store->start[n - 1];
    if (store->start[n] > from && store->bytes[store->start[n] - 1] == '*')
        store->start[n]--;
    if (store->start[n] == from)
        return mcr_fail_at(r->ctx, MCR_BAD_DATA, mcr_input_name(r->in), r->header_line,
                           "the header is not followed by a sequence");
    r->header_line = 0;
    return MCR_OK;
}

/* ---- files ---------------------------------------------------------------------------------- */

static mcr_status read_records(reader *r)
{
    int64_t before = mcr_strings_count(&r->strings);
    for (;;) {
        const char *line;
        size_t length;
        mcr_status status = mcr_input_line(r->in, &line, &length);
        if (status != MCR_OK)
            return status;
        if (!line)
            break;
        if (mcr_input_line_number(r->in) == 1)
            mcr_line_skip_mark(&line, &length);
        if (length > 0 && line[0] == ';')
            continue;
        if (length > 0 && line[0] == '>') {
            status = end_record(r);
            if (status == MCR_OK)
                status = read_header(r, line + 1, line + length);
        } else {
            status = read_residues(r, line, line + length);
        }
        if (status != MCR_OK)
            return status;
    }
    mcr_status status = end_record(r);
    if (status == MCR_OK && mcr_strings_count(&r->strings) == before)
        status = mcr_input_fail(r->in, "no sequences: the file is empty");
    return status;
}

static const char *cut_extension(const char *p, const char *end, const char *extension)
{
    size_t n = strlen(extension);
    if ((size_t)(end - p) > n + 1 && end[-(ptrdiff_t)n - 1] == '.' &&
        strncasecmp(end - n, extension, n) == 0)
        return end - n - 1;
    return end;
}

/* Splits "word=path", or derives the word from the file's name. */
static void name_class(const char *given, const char **path, const char **word, size_t *length)
{
    const char *equals = strchr(given, '='), *slash = strrchr(given, '/');
    const char *first_slash = strchr(given, '/');
    *path = given;
    if (equals && equals > given && (!first_slash || equals < first_slash)) {
        *path = equals + 1;
        *word = given;
        *length = (size_t)(equals - given);
        return;
    }
    *word = slash ? slash + 1 : given;
    const char *end = cut_extension(*word, given + strlen(given), "gz");
    for (const char *const *e = extensions; *e; e++) {
        const char *cut = cut_extension(*word, end, *e);
        if (cut != end) {
            end = cut;
            break;
        }
    }
    *length = (size_t)(end - *word);
}

static mcr_status check_classes(mcr *ctx, const char *const *files)
{
    const char *path, *a, *b;
    size_t a_length, b_length;
    for (const char *const *i = files; *i; i++) {
        name_class(*i, &path, &a, &a_length);
        if (a_length == 0)
            return mcr_fail(ctx, MCR_BAD_CALL,
                            "class file \"%s\": its name gives no class; use word=path", *i);
        for (const char *const *j = files; j < i; j++) {
            name_class(*j, &path, &b, &b_length);
            if (a_length == b_length && memcmp(a, b, a_length) == 0)
                return mcr_fail(ctx, MCR_BAD_CALL,
                                "class files \"%s\" and \"%s\" both name the class \"%.*s\"; use "
                                "word=path",
                                *j, *i, (int)a_length, a);
        }
    }
    return MCR_OK;
}

static mcr_status read_classes(reader *r, const char *const *files)
{
    mcr_status status = check_classes(r->ctx, files);
    for (; status == MCR_OK && *files; files++) {
        const char *path;
        name_class(*files, &path, &r->word, &r->word_length);
        status = mcr_input_open(&r->in, r->ctx, path);
        if (status == MCR_OK)
            status = read_records(r);
        mcr_input_close(r->in);
        r->in = NULL;
    }
    return status;
}

static mcr_status fasta_read(mcr_builder *builder, mcr *ctx, mcr_input *in,
                             const mcr_read_options *options)
{
    reader r = {.ctx = ctx, .in = in, .only_names = true, .join = options ? options->join : NULL};
    const char *const *files = options ? options->class_files : NULL;
    if (files && in)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "a FASTA file and class files were given; give one or the other");
    mcr_status status = mcr_strings_open(&r.strings, ctx, "sequence");
    if (status == MCR_OK && !mcr_target_is_none(options))
        status = mcr_labels_open(&r.labels, ctx);
    if (status == MCR_OK)
        status = files ? read_classes(&r, files) : read_records(&r);
    if (status == MCR_OK)
        status = check_names(&r, options);
    if (status == MCR_OK)
        status = mcr_strings_finish(&r.strings, builder);
    if (status == MCR_OK) {
        status = mcr_labels_hand_over(builder, r.labels, r.in, files ? NULL : options);
        r.labels = NULL;
    }
    mcr_labels_close(r.labels);
    mcr_strings_close(&r.strings);
    mcr_free(ctx, r.name);
    return status;
}

static int fasta_sniff(bool named, const char *bytes, size_t count)
{
    mcr_line_skip_mark(&bytes, &count);
    if (count > 0 && bytes[0] == '>')
        return named ? 100 : 90;
    return named ? 80 : 0;
}

const mcr_format mcr_format_fasta = {
    .name = "fasta",
    .summary = "sequences, in upper case: >... label, or one file per class",
    .extensions = extensions,
    .writer = &mcr_writer_fasta,
    .sniff = fasta_sniff,
    .read = fasta_read,
};
