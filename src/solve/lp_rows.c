/* lp_rows.c: the rows of a linear program: their memory, products with them and the normal
 * equations. Columns are in PARTS, each by one call of BLAS on one thread, and parts are added in
 * their order, so the number of threads changes no bit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/lp_interior_impl.h"

#include <stdio.h>
#include <string.h>

#include "base/threads.h"
#include "linalg/lapack.h"

enum { PARTS = 16, STRIP = 256, BLOCK = 64 };

/* ---- memory -----------------------------------------------------------------------------------*/

static double **bounded_arrays(mcr_bounded *b, int i)
{
    double **all[] = {&b->x,  &b->low, &b->high, &b->s,  &b->t,     &b->dx,
                      &b->ds, &b->dt,  &b->ks,   &b->kt, &b->below, &b->above};
    return i < (int)(sizeof all / sizeof *all) ? all[i] : NULL;
}

/* Makes an array longer; new values are 0. */
static mcr_status lengthen(mcr *ctx, double **array, int64_t before, int64_t count)
{
    double *more = mcr_alloc_zero(ctx, (uint64_t)count, sizeof *more);
    if (!more)
        return MCR_NO_MEMORY;
    if (before)
        memcpy(more, *array, sizeof *more * (size_t)before);
    mcr_free(ctx, *array);
    *array = more;
    return MCR_OK;
}

/* Parts that are computed at a time, with the sum of those before: enough to keep all workers
 * busy, no more, as these are the largest blocks of a program of many rows. */
static int count_buffers(int workers)
{
    return 2 * workers < PARTS ? 2 * workers : PARTS;
}

static double bytes_of(int64_t columns, int64_t rows, int workers)
{
    enum { COLUMN_ARRAYS = 17, ROW_ARRAYS = 18 };
    double n = (double)columns, m = (double)rows;
    return sizeof(double) * (n * (m + COLUMN_ARRAYS) + count_buffers(workers) * m * m +
                             m * (ROW_ARRAYS + PARTS + (double)workers * STRIP));
}

double mcr_interior_bytes(int64_t columns, int64_t rows)
{
    int64_t blocks = (rows + BLOCK - 1) / BLOCK;
    return bytes_of(columns, (blocks > 1 ? blocks : 1) * BLOCK, 1);
}

/* Takes what so many rows need from the budget, all together, so that a refusal has the sum. */
static mcr_status take_bytes(mcr_interior *lp, int64_t rows)
{
    char what[96];
    size_t had = lp->taken;
    double bytes = bytes_of(lp->n, rows, lp->workers);
    snprintf(what, sizeof what, "a linear program of %lld rows and %lld columns", (long long)rows,
             (long long)lp->n);
    mcr_budget_give(lp->ctx, had);
    lp->taken = 0;
    mcr_status s = mcr_budget_take(lp->ctx, bytes < 1e18 ? (size_t)bytes : SIZE_MAX, what);
    lp->taken = s ? 0 : (size_t)bytes;
    return s;
}

/* The arrays with one value per row. */
static mcr_status lengthen_rows(mcr_interior *lp, int64_t had, int64_t m)
{
    mcr_status s = MCR_OK;
    double **array;
    double **others[] = {&lp->dual, &lp->ddual, &lp->p, &lp->off_rows, &lp->right, &lp->product};
    for (int i = 0; !s && (array = bounded_arrays(&lp->r, i)); i++)
        s = lengthen(lp->ctx, array, had, m);
    for (size_t i = 0; i < sizeof others / sizeof *others && !s; i++)
        s = lengthen(lp->ctx, others[i], had, m);
    return s;
}

/* One more block of rows. Buffers are freed before larger ones are allocated. */
static mcr_status grow(mcr_interior *lp)
{
    mcr *ctx = lp->ctx;
    int64_t had = lp->capacity, m = had + BLOCK, blocks = had / BLOCK;
    mcr_status s = take_bytes(lp, m);
    if (!s)
        s = lengthen_rows(lp, had, m);
    double **block = s ? NULL : mcr_resize(ctx, lp->block, (uint64_t)blocks + 1, sizeof *block);
    if (!block)
        return s ? s : MCR_NO_MEMORY;
    lp->block = block;
    mcr_free_all(ctx, lp->partial, lp->sums, lp->strip);
    lp->partial = lp->sums = lp->strip = NULL;
    if (!(block[blocks] = mcr_alloc(ctx, (uint64_t)lp->n * BLOCK, sizeof **block)))
        return MCR_NO_MEMORY;
    lp->capacity = m;
    bool ok = mcr_alloc_doubles(ctx, (uint64_t)(lp->buffers * m * m), &lp->partial) &&
              mcr_alloc_doubles(ctx, (uint64_t)(PARTS * m), &lp->sums) &&
              mcr_alloc_doubles(ctx, (uint64_t)(lp->workers * m * STRIP), &lp->strip);
    return ok ? MCR_OK : MCR_NO_MEMORY;
}

mcr_status mcr_interior_open(mcr_interior **out, mcr *ctx, int64_t columns, const double *cost,
                             const double *low, const double *high)
{
    *out = NULL;
    mcr_interior *lp = mcr_alloc_zero(ctx, 1, sizeof *lp);
    if (!lp)
        return MCR_NO_MEMORY;
    lp->ctx = ctx;
    lp->n = lp->x.n = columns;
    lp->workers = mcr_workers(ctx);
    lp->buffers = count_buffers(lp->workers);
    mcr_status s = mcr_fortran_load(&lp->f, ctx);
    if (!s)
        s = grow(lp);
    double **array, **others[] = {&lp->cost, &lp->h, &lp->root, &lp->off_columns, &lp->along};
    for (int i = 0; !s && (array = bounded_arrays(&lp->x, i)); i++)
        s = lengthen(ctx, array, 0, columns);
    for (size_t i = 0; i < sizeof others / sizeof *others && !s; i++)
        s = lengthen(ctx, others[i], 0, columns);
    if (s) {
        mcr_interior_close(lp);
        return s;
    }
    memcpy(lp->cost, cost, sizeof *cost * (size_t)columns);
    memcpy(lp->x.low, low, sizeof *low * (size_t)columns);
    memcpy(lp->x.high, high, sizeof *high * (size_t)columns);
    *out = lp;
    return MCR_OK;
}

void mcr_interior_close(mcr_interior *lp)
{
    if (!lp)
        return;
    double **array;
    for (int i = 0; (array = bounded_arrays(&lp->x, i)); i++)
        mcr_free(lp->ctx, *array);
    for (int i = 0; (array = bounded_arrays(&lp->r, i)); i++)
        mcr_free(lp->ctx, *array);
    mcr_budget_give(lp->ctx, lp->taken);
    mcr_free_each(lp->ctx, lp->block, lp->capacity / BLOCK);
    mcr_free_all(lp->ctx, lp->cost, lp->dual, lp->ddual, lp->h, lp->p, lp->off_rows, lp->right,
                 lp->product, lp->along, lp->strip, lp->partial, lp->off_columns, lp->root,
                 lp->sums, lp);
}

static double *row_of(const mcr_interior *lp, int64_t i)
{
    return lp->block[i / BLOCK] + i % BLOCK * lp->n;
}

mcr_status mcr_interior_add(mcr_interior *lp, double lower, double upper, const double *value)
{
    mcr_status s = lp->m < lp->capacity ? MCR_OK : grow(lp);
    if (s)
        return s;
    memcpy(row_of(lp, lp->m), value, sizeof *value * (size_t)lp->n);
    lp->r.low[lp->m] = lower;
    lp->r.high[lp->m] = upper;
    lp->r.n = ++lp->m;
    return MCR_OK;
}

/* ---- products ---------------------------------------------------------------------------------*/

typedef struct job {
    mcr_interior *lp;
    const double *from;
    double *to; /* of a transposed product; else NULL */
} job;

static int64_t part_begin(const mcr_interior *lp, int64_t part)
{
    return lp->n * part / PARTS;
}

/* Rows of the block that begins with row i. */
static int rows_from(const mcr_interior *lp, int64_t i)
{
    return (int)(lp->m - i < BLOCK ? lp->m - i : BLOCK);
}

/* One part of a product with the rows (whose sums go to lp->sums), or with their transpose. */
static mcr_status product_part(void *arg, int64_t item, int worker)
{
    (void)worker;
    const job *j = arg;
    const mcr_interior *lp = j->lp;
    int64_t first = part_begin(lp, item);
    int count = (int)(part_begin(lp, item + 1) - first), ld = (int)lp->n, one = 1;
    double none = 0, unit = 1, *sum = lp->sums + item * lp->m;
    int before = mcr_fortran_threads(lp->f, 1);
    if (!j->to)
        memset(sum, 0, sizeof *sum * (size_t)lp->m);
    for (int64_t i = 0; i < lp->m && count; i += BLOCK) {
        int rows = rows_from(lp, i);
        const double *a = row_of(lp, i) + first;
        if (j->to)
            lp->f->dgemv("N", &count, &rows, &unit, a, &ld, j->from + i, &one,
                         i == 0 ? &none : &unit, j->to + first, &one, 1);
        else
            lp->f->dgemv("T", &count, &rows, &unit, a, &ld, j->from + first, &one, &none, sum + i,
                         &one, 1);
    }
    (void)mcr_fortran_threads(lp->f, before);
    return MCR_OK;
}

mcr_status mcr_interior_times(mcr_interior *lp, const double *x, double *to)
{
    job j = {lp, x, NULL};
    mcr_status s = mcr_parallel(lp->ctx, PARTS, product_part, &j);
    memset(to, 0, sizeof *to * (size_t)lp->m);
    for (int64_t part = 0; part < PARTS && !s; part++)
        for (int64_t i = 0; i < lp->m; i++)
            to[i] += lp->sums[part * lp->m + i];
    return s;
}

mcr_status mcr_interior_times_transposed(mcr_interior *lp, const double *v, double *to)
{
    job j = {lp, v, to};
    return mcr_parallel(lp->ctx, PARTS, product_part, &j);
}

/* Parts of the normal equations, the first of them into this buffer. */
typedef struct wave {
    mcr_interior *lp;
    int64_t first;
    int buffer;
} wave;

static mcr_status normal_part(void *arg, int64_t number, int worker)
{
    const wave *w = arg;
    mcr_interior *lp = w->lp;
    int64_t m = lp->m, item = w->first + number, end = part_begin(lp, item + 1);
    double *strip = lp->strip + worker * lp->capacity * STRIP;
    double *to = lp->partial + (w->buffer + number) * m * m;
    memset(to, 0, sizeof *to * (size_t)(m * m));
    int before = mcr_fortran_threads(lp->f, 1), rows = (int)m, ld = STRIP;
    const double unit = 1;
    for (int64_t first = part_begin(lp, item); first < end;) {
        int64_t column[STRIP];
        int count = 0;
        /* Columns at a bound count for nothing. */
        for (; first < end && count < STRIP; first++)
            if (lp->h[first] > 0)
                column[count++] = first;
        for (int64_t i = 0; i < m; i++) {
            const double *row = row_of(lp, i);
            for (int k = 0; k < count; k++)
                strip[i * STRIP + k] = lp->root[column[k]] * row[column[k]];
        }
        if (count)
            lp->f->dsyrk("U", "T", &rows, &count, &unit, strip, &ld, &unit, to, &rows, 1, 1);
    }
    (void)mcr_fortran_threads(lp->f, before);
    return MCR_OK;
}

/* A diag(h) A' in the first buffer: as many parts at a time as there are buffers, added in the
 * order of the parts, so that their number does not change the sum. */
static mcr_status sum_parts(mcr_interior *lp)
{
    int64_t m = lp->m;
    mcr_status s = MCR_OK;
    for (wave w = {lp, 0, 0}; w.first < PARTS && !s; w.buffer = 1) {
        int64_t count = lp->buffers - w.buffer;
        count = count < PARTS - w.first ? count : PARTS - w.first;
        s = mcr_parallel(lp->ctx, count, normal_part, &w);
        for (int64_t b = 1; b < w.buffer + count && !s; b++)
            for (int64_t i = 0; i < m; i++)
                for (int64_t j = 0; j <= i; j++)
                    lp->partial[i * m + j] += lp->partial[b * m * m + i * m + j];
        w.first += count;
    }
    return s;
}

mcr_status mcr_interior_factor(mcr_interior *lp)
{
    int64_t m = lp->m;
    mcr_status s = sum_parts(lp);
    for (int64_t i = 0; i < m && !s; i++) {
        double *d = lp->partial + i * m + i;
        *d += 1e-14 * *d + (lp->p[i] > 0 ? 1 / lp->p[i] : 0);
    }
    return s ? s : mcr_lapack_cholesky(lp->ctx, m, lp->partial, m, NULL, NULL);
}
