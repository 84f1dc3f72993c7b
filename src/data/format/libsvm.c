/* libsvm.c: "label index:value index:value ...", one object per line, indices from 1, ascending.
 *
 * The file is read in blocks of whole lines (blocks.h), and each block is cut into chunks at line
 * ends. A first pass counts the colons of each chunk, an upper bound of its entries; so every chunk
 * knows where its entries go in the final arrays, and the second pass, the parser, runs over all
 * chunks in parallel without copying. Gaps left by a chunk (zeros, colons in comments) are closed
 * afterwards. Chunks record their first error instead of reporting it; the first one in the file is
 * reported, whatever the number of threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "data/blocks.h"
#include "data/format/svmline.h"
#include "data/write.h"

enum { CHUNKS = 8, CHUNK_MIN = 32 << 10 };

typedef struct row {
    uint32_t label, label_length; /* position in the chunk */
    uint32_t line;                /* in the chunk, from 0 */
    uint32_t entries;
} row;

typedef struct chunk {
    const char *from, *to;
    int64_t lines, colons;          /* upper bounds of rows and entries */
    int64_t first_row, first_entry; /* where it writes */
    int64_t rows, entries;          /* how many it wrote */
    int64_t largest;                /* largest index */
    int64_t blank;                  /* first of the blank lines at its end, -1: none */
    bool content;                   /* a line that is neither blank nor a comment */
    bool parsed;
    mcr_svm_fault fault;
    int64_t fault_line; /* in the chunk, from 0 */
} chunk;

typedef struct reader {
    mcr *ctx;
    mcr_blocks blocks;
    mcr_labels *labels;
    mcr_store *store;
    int64_t index_capacity, value_capacity, start_capacity;
    int64_t entries, rows; /* completed so far */
    int64_t lines;         /* before this block */
    int64_t blank;         /* line of a blank line that nothing may follow, 0: none */
    int64_t largest;
    row *row; /* of this block */
    int64_t row_capacity;
    chunk chunk[CHUNKS];
    int64_t chunks;
} reader;

static bool ends_field(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '#';
}

/* ---- pieces of a block ------------------------------------------------------------------------*/

static void split(reader *r)
{
    const char *p = r->blocks.bytes, *end = p + r->blocks.count;
    size_t size = r->blocks.count / CHUNKS;
    if (size < CHUNK_MIN)
        size = CHUNK_MIN;
    for (r->chunks = 0; p < end; r->chunks++) {
        const char *to = end;
        if (r->chunks < CHUNKS - 1 && (size_t)(end - p) > size) {
            to = memchr(p + size - 1, '\n', (size_t)(end - p) - size + 1);
            to = to != NULL ? to + 1 : end;
        }
        r->chunk[r->chunks] = (chunk){.from = p, .to = to, .blank = -1};
        p = to;
    }
}

/* ---- parsing ----------------------------------------------------------------------------------*/

/* Parses the pairs at p and stores entries from *at on. Returns the end of the line (or the comment
 * before it), or NULL with the error recorded. */
static inline const char *parse_pairs(const char *p, chunk *c, const mcr_store *s, int64_t *at)
{
    int64_t before = 0, to = *at;
    int32_t *const indices = s->index;
    double *const values = s->value;
    for (;;) {
        while (mcr_is_blank(*p))
            p++;
        if (*p == '\n' || *p == '#' || (*p == '\r' && p[1] == '\n'))
            break;
        const char *token = p;
        int64_t index = 0;
        double value;
        unsigned digit;
        while ((digit = (unsigned)(unsigned char)*p - '0') < 10 && p - token < 12) {
            index = index * 10 + (int64_t)digit;
            p++;
        }
        if (*p != ':' || index <= before || index > INT32_MAX ||
            (p = mcr_scan_real(p + 1, c->to, &value)) == NULL || !ends_field(*p) ||
            !isfinite(value)) {
            mcr_svm_explain(&c->fault, token, c->to, before);
            return NULL;
        }
        before = index;
        indices[to] = (int32_t)(index - 1);
        values[to] = value;
        to += value != 0;
    }
    if (before > c->largest)
        c->largest = before;
    *at = to;
    return p;
}

static const char *next_line(const char *p, const chunk *c)
{
    return (const char *)memchr(p, '\n', (size_t)(c->to - p)) + 1;
}

static void parse_chunk(const reader *r, chunk *c)
{
    row *to = r->row + c->first_row;
    int64_t at = c->first_entry, line = 0;
    for (const char *p = c->from; p < c->to; p = next_line(p, c), line++) {
        while (mcr_is_blank(*p))
            p++;
        if (*p == '#')
            continue;
        if (*p == '\n' || (*p == '\r' && p[1] == '\n')) {
            if (c->blank < 0)
                c->blank = line;
            continue;
        }
        c->content = true;
        c->fault_line = line;
        if (c->blank >= 0) {
            c->fault.kind = MCR_SVM_BLANK;
            c->fault_line = c->blank;
            break;
        }
        const char *label = p;
        int64_t first = at;
        p = mcr_svm_label(p, r->labels != NULL, &c->fault);
        *to = (row){.label = (uint32_t)(label - c->from),
                    .label_length = (uint32_t)(p - label),
                    .line = (uint32_t)line};
        if (c->fault.kind == MCR_SVM_FINE)
            p = parse_pairs(p, c, r->store, &at);
        if (c->fault.kind != MCR_SVM_FINE)
            break;
        to->entries = (uint32_t)(at - first);
        to++;
    }
    c->rows = to - (r->row + c->first_row);
    c->entries = at - c->first_entry;
    c->parsed = true;
}

/* ---- one block --------------------------------------------------------------------------------*/

static mcr_status count_item(void *arg, int64_t item, int worker)
{
    reader *r = arg;
    (void)worker;
    chunk *c = &r->chunk[item];
    c->lines = mcr_count_bytes(c->from, c->to, '\n');
    c->colons = mcr_count_bytes(c->from, c->to, ':');
    return MCR_OK;
}

/* The next block is read while this one is parsed. */
static mcr_status parse_item(void *arg, int64_t item, int worker)
{
    reader *r = arg;
    (void)worker;
    if (item == 0)
        return mcr_blocks_read_ahead(&r->blocks);
    parse_chunk(r, &r->chunk[item - 1]);
    return MCR_OK;
}

static mcr_status reserve(reader *r)
{
    int64_t rows = 0, entries = r->entries;
    for (int64_t i = 0; i < r->chunks; i++) {
        chunk *c = &r->chunk[i];
        c->first_row = rows;
        c->first_entry = entries;
        rows += c->lines;
        entries += c->colons;
    }
    /* One more element, because the parser writes a value before it knows that it is not zero. */
    mcr_store *s = r->store;
    mcr_status status = mcr_reserve(r->ctx, &s->index, &r->index_capacity, entries + 1,
                                    sizeof *s->index);
    if (status == MCR_OK)
        status = mcr_reserve(r->ctx, &s->value, &r->value_capacity, entries + 1, sizeof *s->value);
    if (status == MCR_OK)
        status = mcr_reserve(r->ctx, &r->row, &r->row_capacity, rows, sizeof *r->row);
    if (status == MCR_OK)
        status = mcr_reserve(r->ctx, &s->start, &r->start_capacity, r->rows + rows + 1,
                             sizeof *s->start);
    return status;
}

static mcr_status fail_line(reader *r, int64_t line, const mcr_svm_fault *fault)
{
    return mcr_svm_fail(fault, r->ctx, mcr_input_name(r->blocks.in), line);
}

/* Appends the results of a chunk, or reports its error. */
static mcr_status append_chunk(reader *r, const chunk *c)
{
    if (r->blank > 0 && c->content)
        return fail_line(r, r->blank, &(mcr_svm_fault){.kind = MCR_SVM_BLANK});
    if (r->blank == 0 && c->blank >= 0)
        r->blank = r->lines + c->blank + 1;
    for (int64_t i = 0; i < c->rows; i++) {
        const row *from = r->row + c->first_row + i;
        mcr_status status = MCR_OK;
        if (r->labels != NULL) {
            status = mcr_labels_add(r->labels, c->from + from->label, from->label_length);
            if (status == MCR_OK && mcr_labels_not_finite(r->labels) >= 0)
                status = fail_line(r, r->lines + from->line + 1,
                                   &(mcr_svm_fault){.kind = MCR_SVM_LABEL_NOT_FINITE,
                                                    .token = c->from + from->label,
                                                    .length = from->label_length});
        }
        if (status != MCR_OK)
            return status;
        r->store->start[r->rows + 1] = r->store->start[r->rows] + from->entries;
        r->rows++;
    }
    if (c->fault.kind != MCR_SVM_FINE)
        return fail_line(r, r->lines + c->fault_line + 1, &c->fault);
    if (c->first_entry > r->entries) {
        mcr_store *s = r->store;
        memmove(s->index + r->entries, s->index + c->first_entry,
                (size_t)c->entries * sizeof *s->index);
        memmove(s->value + r->entries, s->value + c->first_entry,
                (size_t)c->entries * sizeof *s->value);
    }
    r->entries += c->entries;
    r->lines += c->lines;
    if (c->largest > r->largest)
        r->largest = c->largest;
    return MCR_OK;
}

static mcr_status read_block(reader *r)
{
    split(r);
    mcr_status status = mcr_parallel(r->ctx, r->chunks, count_item, r);
    if (status == MCR_OK)
        status = reserve(r);
    if (status != MCR_OK)
        return status;
    mcr_status parsed = mcr_parallel(r->ctx, r->chunks + 1, parse_item, r);
    /* If reading ahead failed, an error in earlier lines still takes precedence. */
    for (int64_t i = 0; i < r->chunks && status == MCR_OK; i++) {
        if (!r->chunk[i].parsed)
            parse_chunk(r, &r->chunk[i]);
        status = append_chunk(r, &r->chunk[i]);
    }
    return status != MCR_OK ? status : parsed;
}

/* ---- the whole file ---------------------------------------------------------------------------*/

static mcr_status trim(reader *r)
{
    mcr_store *s = r->store;
    mcr_status status = mcr_resize_at(r->ctx, &s->index, (size_t)r->entries, sizeof *s->index);
    if (status == MCR_OK)
        status = mcr_resize_at(r->ctx, &s->value, (size_t)r->entries, sizeof *s->value);
    if (status == MCR_OK)
        status = mcr_resize_at(r->ctx, &s->start, (size_t)r->rows + 1, sizeof *s->start);
    return status;
}

static mcr_status read_all(reader *r, int64_t features)
{
    mcr_store *s = r->store;
    mcr_status status = mcr_reserve(r->ctx, &s->start, &r->start_capacity, 1, sizeof *s->start);
    if (status != MCR_OK)
        return status;
    s->start[0] = 0;
    status = mcr_blocks_next(&r->blocks);
    while (r->blocks.count > 0 && status == MCR_OK) {
        status = read_block(r);
        if (status == MCR_OK)
            status = mcr_blocks_next(&r->blocks);
    }
    if (status != MCR_OK)
        return status;
    const char *name = mcr_input_name(r->blocks.in);
    if (r->rows == 0)
        return mcr_fail_at(r->ctx, MCR_BAD_DATA, name, 0, "there are no objects in the file");
    s->count = r->rows;
    s->cols = r->largest > features ? r->largest : features;
    if (s->cols == 0)
        return mcr_fail_at(r->ctx, MCR_BAD_DATA, name, 0, "no line has an index:value");
    if (s->cols > INT32_MAX)
        return mcr_fail(r->ctx, MCR_BAD_CALL, "%" PRId64 " features are too many", features);
    return trim(r);
}

static mcr_status read_libsvm(mcr_builder *b, mcr *ctx, mcr_input *in,
                              const mcr_read_options *options)
{
    reader r = {.ctx = ctx};
    mcr_blocks_open(&r.blocks, ctx, in);
    bool labelled;
    mcr_status status = mcr_svm_target(&labelled, ctx, options);
    if (status == MCR_OK)
        status = mcr_store_new(&r.store, ctx, "x", MCR_SPARSE);
    if (status == MCR_OK && labelled)
        status = mcr_labels_open(&r.labels, ctx);
    if (status == MCR_OK)
        status = read_all(&r, options->features);
    mcr_blocks_close(&r.blocks);
    mcr_free(ctx, r.row);
    return mcr_builder_give(b, r.store, r.labels, status);
}

/* Confidence from the first lines: a label, then words with a colon. */
static int sniff(bool named, const char *bytes, size_t count)
{
    mcr_svm_look look = mcr_svm_look_at(bytes, count);
    if (look.first_fits && look.pairs > 0)
        return named ? 90 : look.all_fit ? 70 : 60;
    return named ? 60 : 0;
}

const mcr_format mcr_format_libsvm = {
    .name = "libsvm",
    .summary = "sparse vectors: \"label index:value ...\", indices from 1, ascending",
    .extensions = (const char *const[]){"svm", "libsvm", "svmlight", NULL},
    .writer = &mcr_writer_libsvm,
    .sniff = sniff,
    .read = read_libsvm,
};
