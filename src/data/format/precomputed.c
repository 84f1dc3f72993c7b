/* precomputed.c: the values of a kernel, one row per object, one column per reference object.
 *
 * Either a NumPy matrix (a square one is the reference objects themselves), or LIBSVM's lines
 * "label 0:id 1:k 2:k ...": id is the object's number among the reference objects, from 1; for
 * other objects it can be anything, even "?". Whether the ids are meaningful is decided from the
 * values: the columns of the rows' own ids must form a symmetric matrix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "data/blocks.h"
#include "data/builder.h"
#include "data/format/npy.h"
#include "data/format/svmline.h"

typedef struct reader {
    mcr *ctx;
    mcr_blocks blocks;
    mcr_store *store;
    mcr_labels *labels;
    int64_t cell_capacity, id_capacity;
    int64_t rows, cols;
    int64_t line, blank;
} reader;

static mcr_status fail_line(reader *r, const char *what)
{
    return mcr_fail_at(r->ctx, MCR_BAD_DATA, mcr_input_name(r->blocks.in), r->line, "%s", what);
}

static bool at_end(const char *p)
{
    return *p == '\n' || *p == '#' || (*p == '\r' && p[1] == '\n');
}

/* "0:id" at *p. */
static mcr_status read_id(reader *r, const char **p, const char *end, int64_t *id)
{
    double value = 0;
    const char *q = *p;
    if (q[0] != '0' || q[1] != ':')
        return fail_line(r, "the label must be followed by 0:id");
    q += 2;
    if (*q == '?')
        q++;
    else
        q = mcr_parse_real(q, end, &value);
    if (q == NULL || (!mcr_is_blank(*q) && !at_end(q)))
        return fail_line(r, "the id of the object (0:id) is not a number");
    *id = value >= 1 && value <= INT32_MAX && value == floor(value) ? (int64_t)value - 1 : -1;
    *p = q;
    return MCR_OK;
}

/* "1:k 2:k ..." at p, into the next row. The first row determines their number. */
static mcr_status read_cells(reader *r, const char *p, const char *end)
{
    int64_t expected = 1, base = r->rows * r->cols;
    for (;; expected++) {
        while (mcr_is_blank(*p))
            p++;
        if (at_end(p))
            break;
        if (r->rows > 0 && expected > r->cols)
            return mcr_fail_at(r->ctx, MCR_BAD_DATA, mcr_input_name(r->blocks.in), r->line,
                               "more than %" PRId64 " value%s, as many as the first line has",
                               r->cols, r->cols == 1 ? "" : "s");
        const char *token = p;
        int64_t index;
        double value;
        mcr_svm_fault fault = {0};
        p = mcr_parse_int(p, end, &index);
        if (p != NULL && *p == ':' && index == expected)
            p = mcr_scan_real(p + 1, end, &value);
        else if (p != NULL && *p == ':' && index > expected)
            return mcr_fail_at(r->ctx, MCR_BAD_DATA, mcr_input_name(r->blocks.in), r->line,
                               "index %" PRId64 " follows index %" PRId64
                               "; a row of a kernel has all of them, including zeros",
                               index, expected - 1);
        else
            p = NULL;
        if (p == NULL || (!mcr_is_blank(*p) && !at_end(p)) || !isfinite(value)) {
            mcr_svm_explain(&fault, token, end, expected - 1);
            return mcr_svm_fail(&fault, r->ctx, mcr_input_name(r->blocks.in), r->line);
        }
        mcr_status status = mcr_reserve(r->ctx, &r->store->dense, &r->cell_capacity,
                                        base + expected, sizeof *r->store->dense);
        if (status != MCR_OK)
            return status;
        r->store->dense[base + expected - 1] = value;
    }
    if (r->rows == 0)
        r->cols = expected - 1;
    if (r->cols == 0)
        return fail_line(r, "the line has no kernel values");
    if (expected - 1 < r->cols)
        return mcr_fail_at(r->ctx, MCR_BAD_DATA, mcr_input_name(r->blocks.in), r->line,
                           "%" PRId64 " value%s, but the first line has %" PRId64, expected - 1,
                           expected == 2 ? "" : "s", r->cols);
    return MCR_OK;
}

static mcr_status read_line(reader *r, const char *p, const char *end)
{
    mcr_svm_fault fault = {0};
    const char *label = p;
    p = mcr_svm_label(p, r->labels != NULL, &fault);
    if (fault.kind != MCR_SVM_FINE)
        return mcr_svm_fail(&fault, r->ctx, mcr_input_name(r->blocks.in), r->line);
    mcr_status status = MCR_OK;
    if (r->labels != NULL) {
        status = mcr_labels_add(r->labels, label, (size_t)(p - label));
        if (status == MCR_OK && mcr_labels_not_finite(r->labels) >= 0)
            status = fail_line(r, "the label is not finite");
    }
    while (mcr_is_blank(*p))
        p++;
    int64_t id = -1;
    if (status == MCR_OK)
        status = read_id(r, &p, end, &id);
    if (status == MCR_OK)
        status = read_cells(r, p, end);
    if (status == MCR_OK)
        status = mcr_reserve(r->ctx, &r->store->id, &r->id_capacity, r->rows + 1,
                             sizeof *r->store->id);
    if (status == MCR_OK)
        r->store->id[r->rows++] = id;
    return status;
}

static mcr_status read_block(reader *r)
{
    const char *p = r->blocks.bytes, *end = p + r->blocks.count;
    mcr_status status = MCR_OK;
    while (p < end && status == MCR_OK) {
        const char *next = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
        r->line++;
        while (mcr_is_blank(*p))
            p++;
        if (at_end(p) && *p != '#') {
            r->blank = r->blank == 0 ? r->line : r->blank;
        } else if (*p != '#' && r->blank > 0) {
            r->line = r->blank;
            return fail_line(r, "the line is blank; blank lines are allowed only at the end");
        } else if (*p != '#') {
            status = read_line(r, p, next);
        }
        p = next;
    }
    return status;
}

/* Ids that do not refer to reference objects are all replaced by "none": see above. */
static void evaluate_ids(reader *r)
{
    mcr_store *s = r->store;
    bool meant = r->rows <= r->cols && (r->rows > 1 || r->cols == 1);
    for (int64_t i = 0; i < r->rows && meant; i++)
        meant = s->id[i] >= 0 && s->id[i] < r->cols;
    for (int64_t i = 0; i < r->rows && meant; i++)
        for (int64_t j = 0; j < i && meant; j++)
            meant = s->id[i] != s->id[j] &&
                    s->dense[i * r->cols + s->id[j]] == s->dense[j * r->cols + s->id[i]];
    for (int64_t i = 0; i < r->rows && !meant; i++)
        s->id[i] = -1;
}

static mcr_status read_lines(mcr_builder *b, mcr *ctx, mcr_input *in,
                             const mcr_read_options *options)
{
    reader r = {.ctx = ctx};
    mcr_blocks_open(&r.blocks, ctx, in);
    bool labelled;
    mcr_status status = mcr_svm_target(&labelled, ctx, options);
    if (status == MCR_OK)
        status = mcr_store_new(&r.store, ctx, "k", MCR_PRECOMPUTED);
    if (status == MCR_OK && labelled)
        status = mcr_labels_open(&r.labels, ctx);
    while (status == MCR_OK && !r.blocks.last) {
        status = mcr_blocks_next(&r.blocks);
        if (status == MCR_OK)
            status = read_block(&r);
    }
    if (status == MCR_OK && r.rows == 0)
        status = mcr_fail_at(ctx, MCR_BAD_DATA, mcr_input_name(in), 0,
                             "there are no objects in the file");
    if (status == MCR_OK) {
        evaluate_ids(&r);
        r.store->count = r.rows;
        r.store->cols = r.cols;
    }
    mcr_blocks_close(&r.blocks);
    return mcr_builder_give(b, r.store, r.labels, status);
}

static mcr_status read_matrix(mcr_builder *b, mcr *ctx, mcr_input *in,
                              const mcr_read_options *options)
{
    mcr_npy npy;
    mcr_store *s = NULL;
    mcr_status status = mcr_npy_open(&npy, ctx, in);
    if (status == MCR_OK)
        status = mcr_store_new(&s, ctx, "k", MCR_PRECOMPUTED);
    if (status == MCR_OK)
        status = mcr_npy_reals(&s->dense, &npy, ctx, in);
    if (status == MCR_OK) {
        s->count = npy.rows;
        s->cols = npy.cols;
        status = mcr_store_number(s, NULL);
    }
    if (status != MCR_OK) {
        mcr_store_free(s);
        return status;
    }
    status = mcr_builder_adopt(b, s);
    return status == MCR_OK ? mcr_npy_target(b, ctx, options, npy.rows) : status;
}

static mcr_status read_precomputed(mcr_builder *b, mcr *ctx, mcr_input *in,
                                   const mcr_read_options *options)
{
    const char *bytes;
    size_t count;
    mcr_status status = mcr_input_peek(in, 8, &bytes, &count);
    if (status != MCR_OK)
        return status;
    return mcr_npy_is(bytes, count) ? read_matrix(b, ctx, in, options)
                                    : read_lines(b, ctx, in, options);
}

static int sniff(bool named, const char *bytes, size_t count)
{
    (void)named;
    return mcr_svm_look_at(bytes, count).serial ? 95 : 0;
}

const mcr_format mcr_format_precomputed = {
    .name = "precomputed",
    .summary = "kernel values: NumPy matrix, or \"label 0:id 1:k 2:k ...\"",
    .sniff = sniff,
    .read = read_precomputed,
};
