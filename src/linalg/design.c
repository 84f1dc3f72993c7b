/* design.c: products with a matrix of features, sparse or in dense blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/design.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/threads.h"
#include "linalg/blas.h"

enum {
    ROWS = 256,         /* of an item */
    SPARSE_ROWS = 4096, /* the same, where a row is little work: loops of threads are not free */
    PARTS = 8,          /* of a sum over rows */
    WEIGH_ROWS = 1024,  /* at least, of a part of D' h D */
    PART_NUMBERS = 4 << 20,  /* numbers of all parts together */
    BLOCK_NUMBERS = 2 << 20, /* numbers of a dense block */
    STRIPE = 128,
    WIDE = 8,  /* columns of a sparse product at a time */
    TILE = 192 /* columns */
};

/* Rows with more than such a share of entries are faster dense. */
#define DENSE_SHARE 0.25

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t items(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

static int64_t source(const mcr_design *d, int64_t i)
{
    return d->row ? d->row[i] : i;
}

mcr_design mcr_design_part(const mcr_design *d, const int64_t *row, int64_t count, int64_t *buffer)
{
    mcr_design part = *d;
    for (int64_t i = 0; i < count; i++)
        buffer[i] = source(d, row[i]);
    part.row = buffer;
    part.n = count;
    return part;
}

double mcr_design_entries(const mcr_design *d)
{
    double sum = 0;
    if (!d->start)
        return (double)d->n * (double)d->p;
    for (int64_t i = 0; i < d->n; i++)
        sum += (double)(d->start[source(d, i) + 1] - d->start[source(d, i)]);
    return sum;
}

/* ---- dense blocks ------------------------------------------------------------------------------*/

static int64_t block_rows(const mcr_design *d)
{
    int64_t rows = BLOCK_NUMBERS / (d->p > 0 ? d->p : 1);
    return rows < 64 ? 64 : rows > 8192 ? 8192 : rows;
}

typedef struct copy_job {
    const mcr_design *d;
    int64_t first, count;
    double *to;
    const double *from;
    float *keep;
} copy_job;

/* Rows as doubles, from kept floats or sparse entries. */
static mcr_status copy_rows(void *arg, int64_t item, int worker)
{
    (void)worker;
    const copy_job *j = arg;
    const mcr_design *d = j->d;
    for (int64_t t = item * ROWS; t < least((item + 1) * ROWS, j->count); t++) {
        int64_t r = source(d, j->first + t);
        double *to = j->to + t * d->p;
        if (d->kept) {
            const float *from = d->kept + r * d->p;
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

static bool is_kept(const mcr_design *d, int64_t first, int64_t count)
{
    if (!d->kept || !d->row)
        return d->kept && first + count <= d->kept_rows;
    for (int64_t t = 0; t < count; t++)
        if (d->row[first + t] >= d->kept_rows)
            return false;
    return true;
}

static bool is_stopped(const mcr_design *d, int64_t first)
{
    mcr_progress now = {.size = sizeof now,
                        .phase = d->phase,
                        .fraction = (double)first / (double)d->n,
                        .seconds = NAN,
                        .objective = NAN,
                        .violation = NAN};
    return d->phase && !d->start && mcr_report(d->ctx, &now);
}

static mcr_status get_block(const mcr_design *d, int64_t first, int64_t count, double *to)
{
    if (is_stopped(d, first))
        return mcr_fail(d->ctx, MCR_STOPPED, "interrupted");
    copy_job j = {.d = d, .first = first, .count = count, .to = to};
    if (!d->start && !is_kept(d, first, count))
        return d->block(d->self, d->row ? d->row + first : NULL, first, count, to, d->p);
    return mcr_parallel(d->ctx, items(count, ROWS), copy_rows, &j);
}

mcr_status mcr_design_rows(const mcr_design *d, int64_t first, int64_t count, double *to)
{
    return get_block(d, first, count, to);
}

static mcr_status keep_rows(void *arg, int64_t item, int worker)
{
    (void)worker;
    const copy_job *j = arg;
    int64_t p = j->d->p, end = least((item + 1) * ROWS, j->count);
    for (int64_t t = item * ROWS; t < end; t++)
        for (int64_t k = 0; k < p; k++)
            j->keep[(j->first + t) * p + k] = (float)j->from[t * p + k];
    return MCR_OK;
}

mcr_status mcr_design_keep(mcr_design *d, size_t most, size_t *bytes)
{
    size_t each = (size_t)d->p * sizeof(float);
    int64_t count = least(d->n, (int64_t)(most / (each ? each : 1))), rows = block_rows(d);
    count = count < d->n ? count / rows * rows : count; /* whole blocks */
    *bytes = 0;
    if (d->start || d->kept || d->row || count == 0)
        return MCR_OK;
    mcr_status s = mcr_budget_take(d->ctx, (size_t)count * each, "the features");
    if (s)
        return s;
    float *keep = mcr_alloc(d->ctx, (size_t)count, each);
    double *block = mcr_alloc(d->ctx, (size_t)(rows * d->p), sizeof *block);
    s = keep && block ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < count && !s; i += rows) {
        copy_job j = {d, i, least(rows, count - i), NULL, block, keep};
        s = get_block(d, i, j.count, block);
        if (!s)
            s = mcr_parallel(d->ctx, items(j.count, ROWS), keep_rows, &j);
    }
    mcr_free(d->ctx, block);
    if (s) {
        mcr_free(d->ctx, keep);
        mcr_budget_give(d->ctx, (size_t)count * each);
        return s;
    }
    d->kept = keep;
    d->kept_rows = count;
    *bytes = (size_t)count * each;
    return MCR_OK;
}

void mcr_design_drop(mcr_design *d, size_t bytes)
{
    if (!bytes)
        return;
    mcr_free(d->ctx, (float *)d->kept);
    d->kept = NULL;
    mcr_budget_give(d->ctx, bytes);
}

/* ---- D v ---------------------------------------------------------------------------------------*/

typedef struct product_job {
    const mcr_design *d;
    const double *v, *block;
    int64_t cols, first, count;
    double *y;
    const int32_t *group;
    double *part; /* of sums over rows */
    int64_t parts;
} product_job;

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
    const mcr_design *d = j->d;
    for (int64_t i = item * SPARSE_ROWS; i < least((item + 1) * SPARSE_ROWS, d->n); i++) {
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
    int64_t p = j->d->p, t = item * ROWS, count = least(ROWS, j->count - t);
    return mcr_blas_gemm(j->d->ctx, MCR_AS_IS, MCR_AS_IS, count, j->cols, p, 1, j->block + t * p, p,
                         j->v, j->cols, 0, j->y + (j->first + t) * j->cols, j->cols);
}

/* Kept rows need not become doubles first: what takes time is reading them. */
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

static mcr_status multiply_kept(void *arg, int64_t item, int worker)
{
    (void)worker;
    const product_job *j = arg;
    int64_t p = j->d->p;
    for (int64_t t = item * ROWS; t < least((item + 1) * ROWS, j->count); t++)
        j->y[j->first + t] = float_dot(j->d->kept + source(j->d, j->first + t) * p, j->v, p);
    return MCR_OK;
}

/* A loop of one item would hand all threads to BLAS. */
static mcr_status run_items(mcr *ctx, int64_t count, mcr_work *work, void *arg)
{
    return count == 1 ? mcr_alone(ctx, work, arg) : mcr_parallel(ctx, count, work, arg);
}

mcr_status mcr_design_multiply(const mcr_design *d, const double *v, int64_t cols, double *y)
{
    product_job j = {.d = d, .v = v, .cols = cols, .y = y};
    if (d->start)
        return mcr_parallel(d->ctx, items(d->n, SPARSE_ROWS), multiply_sparse, &j);
    int64_t rows = block_rows(d);
    double *block = mcr_alloc(d->ctx, (size_t)(rows * d->p), sizeof *block);
    mcr_status s = block ? MCR_OK : MCR_NO_MEMORY;
    j.block = block;
    for (j.first = 0; j.first < d->n && !s; j.first += rows) {
        j.count = least(rows, d->n - j.first);
        if (cols == 1 && !is_stopped(d, j.first) && is_kept(d, j.first, j.count)) {
            s = mcr_parallel(d->ctx, items(j.count, ROWS), multiply_kept, &j);
            continue;
        }
        s = get_block(d, j.first, j.count, block);
        if (!s)
            s = run_items(d->ctx, items(j.count, ROWS), multiply_dense, &j);
    }
    mcr_free(d->ctx, block);
    return s;
}

/* ---- D^T a -------------------------------------------------------------------------------------*/

/* Parts, of `rows` or more, of a sum over rows that has `size` numbers. */
static int64_t count_parts(const mcr_design *d, int64_t size, int64_t rows)
{
    int64_t parts = least(PARTS, items(d->n, rows));
    parts = least(parts, size > 0 ? PART_NUMBERS / size : PARTS);
    return parts > 1 ? parts : 1;
}

static mcr_status project_part(void *arg, int64_t item, int worker)
{
    (void)worker;
    const product_job *j = arg;
    const mcr_design *d = j->d;
    double *u = j->part + item * d->p * j->cols;
    int64_t rows = items(d->n, j->parts), end = least((item + 1) * rows, d->n);
    memset(u, 0, sizeof *u * (size_t)(d->p * j->cols));
    for (int64_t i = item * rows; i < end; i++) {
        int64_t r = source(d, i);
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
    int64_t p = j->d->p, k = item * STRIPE;
    return mcr_blas_gemm(j->d->ctx, MCR_TRANSPOSED, MCR_AS_IS, least(STRIPE, p - k), j->cols,
                         j->count, 1, j->block + k, p, j->v + j->first * j->cols, j->cols, 1,
                         j->y + k * j->cols, j->cols);
}

/* y += the parts of a sum over sparse rows. */
static mcr_status sum_parts(const mcr_design *d, product_job *j, mcr_work *work)
{
    int64_t size = d->p * j->cols;
    j->parts = count_parts(d, size, SPARSE_ROWS);
    j->part = mcr_alloc(d->ctx, (size_t)(size * j->parts), sizeof *j->part);
    mcr_status s = j->part ? mcr_parallel(d->ctx, j->parts, work, j) : MCR_NO_MEMORY;
    for (int64_t t = 0; t < j->parts && !s; t++)
        for (int64_t k = 0; k < size; k++)
            j->y[k] += j->part[t * size + k];
    mcr_free(d->ctx, j->part);
    return s;
}

mcr_status mcr_design_project(const mcr_design *d, const double *a, int64_t cols, double *u)
{
    product_job j = {.d = d, .v = a, .cols = cols, .y = u};
    memset(u, 0, sizeof *u * (size_t)(d->p * cols));
    if (d->start)
        return sum_parts(d, &j, project_part);
    int64_t rows = block_rows(d);
    double *block = mcr_alloc(d->ctx, (size_t)(rows * d->p), sizeof *block);
    mcr_status s = block ? MCR_OK : MCR_NO_MEMORY;
    j.block = block;
    for (j.first = 0; j.first < d->n && !s; j.first += rows) {
        j.count = least(rows, d->n - j.first);
        s = get_block(d, j.first, j.count, block);
        if (!s)
            s = run_items(d->ctx, items(d->p, STRIPE), project_dense, &j);
    }
    mcr_free(d->ctx, block);
    return s;
}

/* ---- sums of rows ------------------------------------------------------------------------------*/

static mcr_status gather_part(void *arg, int64_t item, int worker)
{
    (void)worker;
    const product_job *j = arg;
    const mcr_design *d = j->d;
    double *u = j->part + item * d->p * j->cols;
    int64_t rows = items(d->n, j->parts), end = least((item + 1) * rows, d->n);
    memset(u, 0, sizeof *u * (size_t)(d->p * j->cols));
    for (int64_t i = item * rows; i < end; i++) {
        int64_t r = source(d, i);
        double *to = u + j->group[i];
        for (int64_t e = d->start[r]; e < d->start[r + 1]; e++)
            to[d->index[e] * j->cols] += d->value[e] * j->v[i];
    }
    return MCR_OK;
}

/* A dense row's weight stands in the column of its group. */
static mcr_status gather_dense(const mcr_design *d, const int32_t *group, const double *weight,
                               int64_t groups, double *u)
{
    double *a = mcr_alloc_zero(d->ctx, (size_t)d->n, (size_t)groups * sizeof *a);
    if (!a)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < d->n; i++)
        a[i * groups + group[i]] = weight[i];
    mcr_status s = mcr_design_project(d, a, groups, u);
    mcr_free(d->ctx, a);
    return s;
}

mcr_status mcr_design_gather(const mcr_design *d, const int32_t *group, const double *weight,
                             int64_t groups, double *u)
{
    product_job j = {.d = d, .v = weight, .group = group, .cols = groups, .y = u};
    if (!d->start)
        return gather_dense(d, group, weight, groups, u);
    memset(u, 0, sizeof *u * (size_t)(d->p * groups));
    return sum_parts(d, &j, gather_part);
}

/* ---- D^T diag(h) D -----------------------------------------------------------------------------*/

static mcr_status weigh_part(void *arg, int64_t item, int worker)
{
    (void)worker;
    const product_job *j = arg;
    const mcr_design *d = j->d;
    double *m = j->part + item * d->p * d->p;
    int64_t rows = items(d->n, j->parts), end = least((item + 1) * rows, d->n);
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

static mcr_status weigh_sparse(const mcr_design *d, product_job *j, double *m, int64_t ldm)
{
    int64_t size = d->p * d->p;
    j->parts = count_parts(d, size, WEIGH_ROWS);
    j->part = mcr_alloc(d->ctx, (size_t)(size * j->parts), sizeof *j->part);
    mcr_status s = j->part ? mcr_parallel(d->ctx, j->parts, weigh_part, j) : MCR_NO_MEMORY;
    for (int64_t t = 0; t < j->parts && !s; t++)
        for (int64_t k = 0; k < d->p; k++)
            for (int64_t l = 0; l <= k; l++)
                m[k * ldm + l] += j->part[t * size + k * d->p + l];
    mcr_free(d->ctx, j->part);
    return s;
}

static mcr_status weigh_tile(void *arg, int64_t item, int worker)
{
    (void)worker;
    const product_job *j = arg;
    int64_t p = j->d->p, a = 0;
    while ((a + 1) * (a + 2) / 2 <= item)
        a++;
    int64_t b = (item - a * (a + 1) / 2) * TILE;
    a *= TILE;
    return mcr_blas_gemm(j->d->ctx, MCR_TRANSPOSED, MCR_AS_IS, least(TILE, p - a),
                         least(TILE, p - b), j->count, 1, j->block + a, p, j->block + b, p, 1,
                         j->y + a * j->cols + b, j->cols);
}

/* Rows with a weight, times its root; returns how many. */
static int64_t scale_rows(double *block, const double *h, int64_t count, int64_t p)
{
    int64_t to = 0;
    for (int64_t t = 0; t < count; t++) {
        double root = sqrt(h[t]);
        if (h[t] == 0)
            continue;
        for (int64_t k = 0; k < p; k++)
            block[to * p + k] = root * block[t * p + k];
        to++;
    }
    return to;
}

static mcr_status weigh_dense(const mcr_design *d, product_job *j)
{
    int64_t rows = block_rows(d), side = items(d->p, TILE);
    double *block = mcr_alloc(d->ctx, (size_t)(rows * d->p), sizeof *block);
    mcr_status s = block ? MCR_OK : MCR_NO_MEMORY;
    j->block = block;
    for (j->first = 0; j->first < d->n && !s; j->first += rows) {
        j->count = least(rows, d->n - j->first);
        s = get_block(d, j->first, j->count, block);
        if (!s)
            j->count = scale_rows(block, j->v + j->first, j->count, d->p);
        if (!s && j->count > 0)
            s = run_items(d->ctx, side * (side + 1) / 2, weigh_tile, j);
    }
    mcr_free(d->ctx, block);
    return s;
}

mcr_status mcr_design_weigh(const mcr_design *d, const double *h, double *m, int64_t ldm)
{
    product_job j = {.d = d, .v = h, .y = m, .cols = ldm};
    for (int64_t k = 0; k < d->p; k++)
        memset(m + k * ldm, 0, sizeof *m * (size_t)d->p);
    if (d->start && mcr_design_entries(d) < DENSE_SHARE * (double)d->n * (double)d->p)
        return weigh_sparse(d, &j, m, ldm);
    return weigh_dense(d, &j);
}

mcr_status mcr_design_squares(const mcr_design *d, double *square)
{
    int64_t rows = block_rows(d);
    double *block = NULL;
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < d->n && d->start; i++) {
        square[i] = 0;
        for (int64_t e = d->start[source(d, i)]; e < d->start[source(d, i) + 1]; e++)
            square[i] += d->value[e] * d->value[e];
    }
    if (d->start)
        return MCR_OK;
    if (!(block = mcr_alloc(d->ctx, (size_t)(rows * d->p), sizeof *block)))
        return MCR_NO_MEMORY;
    for (int64_t first = 0; first < d->n && !s; first += rows) {
        int64_t count = least(rows, d->n - first);
        s = get_block(d, first, count, block);
        for (int64_t t = 0; t < count && !s; t++) {
            square[first + t] = 0;
            for (int64_t k = 0; k < d->p; k++)
                square[first + t] += block[t * d->p + k] * block[t * d->p + k];
        }
    }
    mcr_free(d->ctx, block);
    return s;
}
