/* factor_products.c: products with the rows of a factor, sparse or in dense blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/factor_impl.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "linalg/shared.h"

enum {
    ROWS = 256,              /* of an item */
    SPARSE_ROWS = 4096,      /* the same, if a row is little work: parallel loops have a cost */
    PARTS = 8,               /* of a sum over rows */
    WEIGH_ROWS = 1024,       /* at least, of a part of D' h D */
    PART_NUMBERS = 4 << 20,  /* numbers of all parts together */
    BLOCK_NUMBERS = 2 << 20, /* numbers of a dense block */
    LOOK_WORK = 1 << 30,     /* multiply-adds between two looks at the time limit */
    STRIPE = 128,            /* columns of D */
    NARROW = 16,             /* the same of a low rank */
    WIDE = 8,                /* columns of a sparse product at a time */
    TILE = 192               /* columns */
};

/* Some rows of a factor. */
typedef struct slice {
    const mcr_factor_gram *g;
    mcr_rows x;
    mcr *ctx;
    int64_t n, p;
    /* Of the factor. */
    const int64_t *row, *start;
    const int32_t *index;
    const double *value;
} slice;

static slice slice_of(const mcr_gram *gram, mcr_rows x)
{
    const mcr_factor_gram *g = mcr_gram_as_factor(gram);
    return (slice){.g = g,
                   .x = x,
                   .ctx = gram->ctx,
                   .n = x.count,
                   .p = g->of.p,
                   .row = g->of.row,
                   .start = g->of.start,
                   .index = g->of.index,
                   .value = g->of.value};
}

static int64_t source(const slice *d, int64_t i)
{
    int64_t at = mcr_rows_at(d->x, i);
    return d->row ? d->row[at] : at;
}

static double entries(const slice *d)
{
    double sum = 0;
    if (!d->start)
        return (double)d->n * (double)d->p;
    for (int64_t i = 0; i < d->n; i++)
        sum += (double)(d->start[source(d, i) + 1] - d->start[source(d, i)]);
    return sum;
}

/* ---- dense blocks -----------------------------------------------------------------------------*/

static int64_t block_rows(const slice *d)
{
    int64_t p = d->p > 0 ? d->p : 1, rows = BLOCK_NUMBERS / p;
    /* Computing them takes p multiply-adds per number: at most about 0.1 s between checks. */
    if (d->g->of.block && rows > LOOK_WORK / p / p)
        rows = LOOK_WORK / p / p;
    return rows < 64 ? 64 : rows > 8192 ? 8192 : rows;
}

typedef struct copy_job {
    const slice *d;
    int64_t first, count;
    double *to;
    const double *from;
    float *keep;
} copy_job;

/* Rows as doubles, from a matrix, kept floats or sparse entries. */
static mcr_status copy_rows(void *arg, int64_t first, int64_t end)
{
    const copy_job *j = arg;
    const slice *d = j->d;
    for (int64_t t = first; t < end; t++) {
        int64_t r = source(d, j->first + t);
        double *to = j->to + t * d->p;
        if (d->g->of.dense) {
            memcpy(to, d->g->of.dense + r * d->g->of.ld, sizeof *to * (size_t)d->p);
            continue;
        }
        if (d->g->kept) {
            const float *from = d->g->kept + r * d->p;
            for (int64_t k = 0; k < d->p; k++)
                to[k] = (double)from[k];
            continue;
        }
        memset(to, 0, sizeof *to * (size_t)d->p);
        for (int64_t e = d->start[r]; e < d->start[r + 1]; e++)
            to[d->index[e]] = d->value[e];
    }
    return MCR_OK;
}

static bool is_kept(const slice *d, int64_t first, int64_t count)
{
    if (!d->g->kept)
        return false;
    for (int64_t t = 0; t < count; t++)
        if (source(d, first + t) >= d->g->kept_rows)
            return false;
    return true;
}

static bool is_stopped(const slice *d, int64_t first)
{
    return d->g->of.block &&
           mcr_report_part(d->ctx, d->g->phase, (double)first / (double)d->n, NAN);
}

/* Rows that are made, by their numbers in the source. */
static mcr_status make_block(const slice *d, int64_t first, int64_t count, double *to)
{
    const mcr_factor *of = &d->g->of;
    int64_t *row = NULL;
    if (!d->x.index && !d->row)
        return of->block(of->self, NULL, d->x.first + first, count, to, d->p);
    if (!(row = mcr_alloc(d->ctx, (size_t)count, sizeof *row)))
        return MCR_NO_MEMORY;
    for (int64_t t = 0; t < count; t++)
        row[t] = source(d, first + t);
    mcr_status s = of->block(of->self, row, 0, count, to, d->p);
    mcr_free(d->ctx, row);
    return s;
}

static mcr_status get_block(const slice *d, int64_t first, int64_t count, double *to)
{
    if (is_stopped(d, first))
        return mcr_fail(d->ctx, MCR_STOPPED, "interrupted");
    copy_job j = {.d = d, .first = first, .count = count, .to = to};
    if (d->g->of.block && !d->g->of.dense && !is_kept(d, first, count))
        return make_block(d, first, count, to);
    return mcr_parallel_chunks(d->ctx, count, ROWS, copy_rows, &j);
}

mcr_status mcr_gram_factor_rows(mcr_gram *gram, mcr_rows x, double *to)
{
    slice d = slice_of(gram, x);
    return get_block(&d, 0, x.count, to);
}

static mcr_status keep_rows(void *arg, int64_t first, int64_t end)
{
    const copy_job *j = arg;
    int64_t p = j->d->p;
    for (int64_t t = first; t < end; t++)
        for (int64_t k = 0; k < p; k++)
            j->keep[(j->first + t) * p + k] = (float)j->from[t * p + k];
    return MCR_OK;
}

/* All rows as doubles. */
static mcr_status keep_all(mcr_factor_gram *g, const slice *d, size_t bytes)
{
    int64_t rows = block_rows(d);
    mcr_status s = mcr_budget_take(d->ctx, bytes, "the features");
    if (s)
        return s;
    double *to = mcr_alloc(d->ctx, bytes, 1);
    s = to ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < d->n && !s; i += rows)
        s = get_block(d, i, mcr_least(rows, d->n - i), to + i * d->p);
    if (s) {
        mcr_free(d->ctx, to);
        mcr_budget_give(d->ctx, bytes);
        return s;
    }
    g->of.dense = g->made = to;
    g->of.ld = d->p;
    g->taken += bytes;
    return MCR_OK;
}

mcr_status mcr_gram_factor_keep(mcr_gram *gram, size_t most, bool precise)
{
    mcr_factor_gram *g = mcr_gram_as_factor(gram);
    slice d = slice_of(gram, mcr_gram_all(gram));
    size_t each = (size_t)d.p * sizeof(float);
    int64_t count = mcr_least(d.n, (int64_t)(most / (each ? each : 1))), rows = block_rows(&d);
    count = count < d.n ? count / rows * rows : count; /* whole blocks */
    if (!g->of.block || g->of.dense || g->kept || d.row || count == 0)
        return MCR_OK;
    size_t all = (size_t)d.n * (size_t)d.p * sizeof(double);
    if (precise && all <= most)
        return keep_all(g, &d, all);
    mcr_status s = mcr_budget_take(d.ctx, (size_t)count * each, "the features");
    if (s)
        return s;
    float *keep = mcr_alloc(d.ctx, (size_t)count, each);
    double *block = mcr_alloc(d.ctx, (uint64_t)(rows * d.p), sizeof *block);
    s = keep && block ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < count && !s; i += rows) {
        copy_job j = {&d, i, mcr_least(rows, count - i), NULL, block, keep};
        s = get_block(&d, i, j.count, block);
        if (!s)
            s = mcr_parallel_chunks(d.ctx, j.count, ROWS, keep_rows, &j);
    }
    mcr_free(d.ctx, block);
    if (s) {
        mcr_free(d.ctx, keep);
        mcr_budget_give(d.ctx, (size_t)count * each);
        return s;
    }
    g->kept = keep;
    g->kept_rows = count;
    g->owns_kept = true;
    g->taken += (size_t)count * each;
    return MCR_OK;
}

/* ---- D v --------------------------------------------------------------------------------------*/

typedef struct product_job {
    const slice *d;
    const double *v;
    int64_t cols;
    double *y;
    const int32_t *group;
    double *part; /* of sums over rows */
    int64_t parts;
    /* Dense rows: some of them, rows ld apart, and space for as many. */
    const double *block;
    double *buffer;
    int64_t ld, first, count, stripe;
} product_job;

/* All rows as dense blocks, one after the other; in place if they are stored. */
static mcr_status over_blocks(product_job *j, mcr_status (*work)(product_job *j))
{
    const slice *d = j->d;
    const double *dense = d->x.index || d->row ? NULL : d->g->of.dense;
    int64_t rows = block_rows(d);
    j->ld = dense ? d->g->of.ld : d->p;
    j->buffer = mcr_alloc(d->ctx, (uint64_t)(mcr_least(rows, d->n) * d->p), sizeof *j->buffer);
    mcr_status s = j->buffer ? MCR_OK : MCR_NO_MEMORY;
    for (j->first = 0; j->first < d->n && !s; j->first += rows) {
        j->count = mcr_least(rows, d->n - j->first);
        j->block = dense ? dense + (d->x.first + j->first) * j->ld : j->buffer;
        s = work(j);
    }
    mcr_free(d->ctx, j->buffer);
    return s;
}

static mcr_status fill_block(product_job *j)
{
    return j->block == j->buffer ? get_block(j->d, j->first, j->count, j->buffer) : MCR_OK;
}

static double sparse_dot(const int32_t *index, const double *value, int64_t count, const double *v)
{
    double sum[4] = {0, 0, 0, 0};
    int64_t e = 0;
    for (; e + 4 <= count; e += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += value[e + k] * v[index[e + k]];
    for (; e < count; e++)
        sum[0] += value[e] * v[index[e]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* y = sum of value times rows of v, for WIDE columns. */
static void sparse_rows(const int32_t *index, const double *value, int64_t count, const double *v,
                        int64_t cols, double *y)
{
    double sum[WIDE] = {0};
    for (int64_t e = 0; e < count; e++) {
        const double *from = v + index[e] * cols;
        for (int c = 0; c < WIDE; c++)
            sum[c] += value[e] * from[c];
    }
    memcpy(y, sum, sizeof sum);
}

static mcr_status multiply_sparse(void *arg, int64_t item, int worker)
{
    (void)worker;
    const product_job *j = arg;
    const slice *d = j->d;
    for (int64_t i = item * SPARSE_ROWS; i < mcr_least((item + 1) * SPARSE_ROWS, d->n); i++) {
        int64_t r = source(d, i), first = d->start[r], end = d->start[r + 1];
        double *y = j->y + i * j->cols;
        if (j->cols == 1) {
            *y = sparse_dot(d->index + first, d->value + first, end - first, j->v);
            continue;
        }
        int64_t at = 0;
        for (; at + WIDE <= j->cols; at += WIDE)
            sparse_rows(d->index + first, d->value + first, end - first, j->v + at, j->cols,
                        y + at);
        if (at == j->cols)
            continue;
        memset(y + at, 0, sizeof *y * (size_t)(j->cols - at));
        for (int64_t e = first; e < end; e++) {
            const double *v = j->v + d->index[e] * j->cols;
            for (int64_t c = at; c < j->cols; c++)
                y[c] += d->value[e] * v[c];
        }
    }
    return MCR_OK;
}

static mcr_status multiply_dense(void *arg, int64_t item, int worker)
{
    (void)worker;
    const product_job *j = arg;
    int64_t t = item * ROWS, count = mcr_least(ROWS, j->count - t);
    return mcr_blas_gemm(j->d->ctx, MCR_AS_IS, MCR_AS_IS, count, j->cols, j->d->p, 1,
                         j->block + t * j->ld, j->ld, j->v, j->cols, 0,
                         j->y + (j->first + t) * j->cols, j->cols);
}

/* Kept rows need not be converted to double first: reading them takes the time. */
static double float_dot(const float *x, const double *v, int64_t count)
{
    double sum[8] = {0};
    int64_t k = 0;
    for (; k + 8 <= count; k += 8)
        for (int l = 0; l < 8; l++)
            sum[l] += (double)x[k + l] * v[k + l];
    for (; k < count; k++)
        sum[0] += (double)x[k] * v[k];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

static mcr_status multiply_kept(void *arg, int64_t first, int64_t end)
{
    const product_job *j = arg;
    int64_t p = j->d->p;
    for (int64_t t = first; t < end; t++)
        j->y[j->first + t] = float_dot(j->d->g->kept + source(j->d, j->first + t) * p, j->v, p);
    return MCR_OK;
}

static mcr_status multiply_block(product_job *j)
{
    mcr *ctx = j->d->ctx;
    if (j->cols == 1 && is_kept(j->d, j->first, j->count) && !is_stopped(j->d, j->first))
        return mcr_parallel_chunks(ctx, j->count, ROWS, multiply_kept, j);
    mcr_status s = fill_block(j);
    return s ? s : mcr_shared_items(ctx, mcr_parts(j->count, ROWS), multiply_dense, j);
}

mcr_status mcr_factor_expand(mcr_gram *gram, mcr_rows x, const double *v, int64_t cols, double *y)
{
    slice d = slice_of(gram, x);
    product_job j = {.d = &d, .v = v, .cols = cols, .y = y};
    if (d.g->of.round)
        return mcr_factor_expand_round(d.g, x, v, cols, y);
    if (d.start)
        return mcr_parallel(d.ctx, mcr_parts(d.n, SPARSE_ROWS), multiply_sparse, &j);
    return over_blocks(&j, multiply_block);
}

/* ---- D^T a ------------------------------------------------------------------------------------*/

/* Parts, of `rows` or more, of a sum over rows that has `size` numbers. */
static int64_t count_parts(const slice *d, int64_t size, int64_t rows)
{
    int64_t parts = mcr_least(PARTS, mcr_parts(d->n, rows));
    parts = mcr_least(parts, size > 0 ? PART_NUMBERS / size : PARTS);
    return parts > 1 ? parts : 1;
}

/* Sums of rows by group, or products with all columns. */
static mcr_status project_part(void *arg, int64_t item, int worker)
{
    (void)worker;
    const product_job *j = arg;
    const slice *d = j->d;
    double *u = j->part + item * d->p * j->cols;
    int64_t rows = mcr_parts(d->n, j->parts), end = mcr_least((item + 1) * rows, d->n);
    memset(u, 0, sizeof *u * (size_t)(d->p * j->cols));
    for (int64_t i = item * rows; i < end; i++) {
        int64_t r = source(d, i);
        if (j->group) {
            for (int64_t e = d->start[r]; e < d->start[r + 1]; e++)
                u[d->index[e] * j->cols + j->group[i]] += d->value[e] * j->v[i];
            continue;
        }
        const double *a = j->v + i * j->cols;
        if (j->cols == 1) {
            for (int64_t e = d->start[r]; e < d->start[r + 1] && *a != 0; e++)
                u[d->index[e]] += d->value[e] * *a;
            continue;
        }
        for (int64_t e = d->start[r]; e < d->start[r + 1]; e++)
            for (int64_t c = 0; c < j->cols; c++)
                u[d->index[e] * j->cols + c] += d->value[e] * a[c];
    }
    return MCR_OK;
}

static mcr_status project_dense(void *arg, int64_t item, int worker)
{
    (void)worker;
    const product_job *j = arg;
    int64_t k = item * j->stripe;
    return mcr_blas_gemm(j->d->ctx, MCR_TRANSPOSED, MCR_AS_IS, mcr_least(j->stripe, j->d->p - k),
                         j->cols, j->count, 1, j->block + k, j->ld, j->v + j->first * j->cols,
                         j->cols, 1, j->y + k * j->cols, j->cols);
}

/* Some columns of kept rows times a, four rows at a time. */
static mcr_status project_kept(void *arg, int64_t item, int worker)
{
    (void)worker;
    enum { SOME = 4 };
    const product_job *j = arg;
    int64_t p = j->d->p, first = item * j->stripe, cols = mcr_least(j->stripe, p - first);
    double *y = j->y + first;
    for (int64_t t = 0; t < j->count; t += SOME) {
        const float *x[SOME];
        double a[SOME] = {0};
        for (int64_t l = 0; l < SOME; l++) {
            int64_t row = j->first + (t + l < j->count ? t + l : t);
            x[l] = j->d->g->kept + source(j->d, row) * p + first;
            a[l] = t + l < j->count ? j->v[row] : 0;
        }
        for (int64_t k = 0; k < cols; k++)
            y[k] += (a[0] * (double)x[0][k] + a[1] * (double)x[1][k]) +
                    (a[2] * (double)x[2][k] + a[3] * (double)x[3][k]);
    }
    return MCR_OK;
}

static mcr_status project_block(product_job *j)
{
    if (j->cols == 1 && is_kept(j->d, j->first, j->count) && !is_stopped(j->d, j->first))
        return mcr_parallel(j->d->ctx, mcr_parts(j->d->p, j->stripe), project_kept, j);
    mcr_status s = fill_block(j);
    return s ? s : mcr_shared_items(j->d->ctx, mcr_parts(j->d->p, j->stripe), project_dense, j);
}

/* y += the parts, each of `least` sparse rows or more, of a sum that is one line of `wide` numbers,
 * or the lower triangle of a matrix of so many lines. */
static mcr_status sum_parts(product_job *j, mcr_work *work, int64_t least, int64_t lines,
                            int64_t wide)
{
    const slice *d = j->d;
    int64_t size = lines * wide;
    j->parts = count_parts(d, size, least);
    j->part = mcr_alloc(d->ctx, (uint64_t)(size * j->parts), sizeof *j->part);
    mcr_status s = j->part ? mcr_parallel(d->ctx, j->parts, work, j) : MCR_NO_MEMORY;
    for (int64_t t = 0; t < j->parts * lines && !s; t++) {
        int64_t line = t % lines, count = lines > 1 ? line + 1 : wide;
        for (int64_t k = 0; k < count; k++)
            j->y[line * j->cols + k] += j->part[t * wide + k];
    }
    mcr_free(d->ctx, j->part);
    return s;
}

mcr_status mcr_factor_project(mcr_gram *gram, mcr_rows x, const double *a, int64_t cols, double *u)
{
    slice d = slice_of(gram, x);
    product_job j = {.d = &d, .v = a, .cols = cols, .y = u, .stripe = STRIPE};
    if (d.g->of.round)
        return mcr_factor_project_round(d.g, x, a, cols, u);
    if (d.g->of.dense)
        j.stripe = NARROW;
    memset(u, 0, sizeof *u * (size_t)(d.p * cols));
    return d.start ? sum_parts(&j, project_part, SPARSE_ROWS, 1, d.p * cols)
                   : over_blocks(&j, project_block);
}

/* ---- sums of rows -----------------------------------------------------------------------------*/

/* A dense row's weight stands in the column of its group. */
static mcr_status gather_dense(mcr_gram *gram, const int32_t *group, const double *weight,
                               int64_t groups, double *u)
{
    int64_t n = gram->rows;
    double *a = mcr_alloc_zero(gram->ctx, (size_t)n, (size_t)groups * sizeof *a);
    if (!a)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        a[i * groups + group[i]] = weight[i];
    mcr_status s = mcr_factor_project(gram, mcr_gram_all(gram), a, groups, u);
    mcr_free(gram->ctx, a);
    return s;
}

mcr_status mcr_gram_gather(mcr_gram *gram, const int32_t *group, const double *weight,
                           int64_t groups, double *u)
{
    slice d = slice_of(gram, mcr_gram_all(gram));
    product_job j = {.d = &d, .v = weight, .group = group, .cols = groups, .y = u};
    if (!d.start)
        return gather_dense(gram, group, weight, groups, u);
    memset(u, 0, sizeof *u * (size_t)(d.p * groups));
    return sum_parts(&j, project_part, SPARSE_ROWS, 1, d.p * groups);
}

/* ---- D^T diag(h) D ----------------------------------------------------------------------------*/

static mcr_status weighted_part(void *arg, int64_t item, int worker)
{
    (void)worker;
    const product_job *j = arg;
    const slice *d = j->d;
    double *m = j->part + item * d->p * d->p;
    int64_t rows = mcr_parts(d->n, j->parts), end = mcr_least((item + 1) * rows, d->n);
    memset(m, 0, sizeof *m * (size_t)(d->p * d->p));
    for (int64_t i = item * rows; i < end; i++) {
        int64_t r = source(d, i), first = d->start[r];
        if (j->v[i] == 0)
            continue;
        for (int64_t e = first; e < d->start[r + 1]; e++) {
            double h = j->v[i] * d->value[e], *to = m + d->index[e] * d->p;
            for (int64_t f = first; f <= e; f++)
                to[d->index[f]] += h * d->value[f];
        }
    }
    return MCR_OK;
}

static mcr_status weighted_tile(void *arg, int64_t item, int worker)
{
    (void)worker;
    const product_job *j = arg;
    int64_t p = j->d->p, a = 0;
    while ((a + 1) * (a + 2) / 2 <= item)
        a++;
    int64_t b = (item - a * (a + 1) / 2) * TILE;
    a *= TILE;
    return mcr_blas_gemm(j->d->ctx, MCR_TRANSPOSED, MCR_AS_IS, mcr_least(TILE, p - a),
                         mcr_least(TILE, p - b), j->count, 1, j->buffer + a, p, j->buffer + b, p, 1,
                         j->y + a * j->cols + b, j->cols);
}

/* Rows with a weight, times its root, to the buffer; j->count: how many. */
static void scale_rows(product_job *j)
{
    const double *h = j->v + j->first;
    int64_t to = 0, p = j->d->p;
    for (int64_t t = 0; t < j->count; t++) {
        double root = sqrt(h[t]);
        if (h[t] == 0)
            continue;
        for (int64_t k = 0; k < p; k++)
            j->buffer[to * p + k] = root * j->block[t * j->ld + k];
        to++;
    }
    j->count = to;
}

static mcr_status weighted_block(product_job *j)
{
    int64_t side = mcr_parts(j->d->p, TILE);
    mcr_status s = fill_block(j);
    if (!s)
        scale_rows(j);
    return s || j->count == 0
               ? s
               : mcr_shared_items(j->d->ctx, side * (side + 1) / 2, weighted_tile, j);
}

mcr_status mcr_factor_weighted(mcr_gram *gram, mcr_rows x, const double *h, double *m, int64_t ldm)
{
    slice d = slice_of(gram, x);
    product_job j = {.d = &d, .v = h, .y = m, .cols = ldm};
    for (int64_t k = 0; k < d.p; k++)
        memset(m + k * ldm, 0, sizeof *m * (size_t)d.p);
    if (d.start && entries(&d) < MCR_DENSE_SHARE * (double)d.n * (double)d.p)
        return sum_parts(&j, weighted_part, WEIGH_ROWS, d.p, d.p);
    return over_blocks(&j, weighted_block);
}

/* ---- lengths ----------------------------------------------------------------------------------*/

static mcr_status square_block(product_job *j)
{
    mcr_status s = fill_block(j);
    for (int64_t t = 0; t < j->count && !s; t++) {
        double *square = j->y + j->first + t;
        *square = 0;
        for (int64_t k = 0; k < j->d->p; k++)
            *square += j->block[t * j->ld + k] * j->block[t * j->ld + k];
    }
    return s;
}

mcr_status mcr_factor_squares(mcr_gram *gram, mcr_rows x, double *square)
{
    slice d = slice_of(gram, x);
    product_job j = {.d = &d, .y = square};
    if (!d.start)
        return over_blocks(&j, square_block);
    for (int64_t i = 0; i < d.n; i++) {
        int64_t r = source(&d, i);
        square[i] = 0;
        for (int64_t e = d.start[r]; e < d.start[r + 1]; e++)
            square[i] += d.value[e] * d.value[e];
    }
    return MCR_OK;
}

double mcr_gram_entries(const mcr_gram *gram)
{
    slice d = slice_of(gram, mcr_gram_all(gram));
    return entries(&d);
}
