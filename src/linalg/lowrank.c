/* lowrank.c: pivoted Cholesky (Harbrecht, Peters and Schneider, 2012): the next column is that of the object
 * whose diagonal is left largest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/lowrank.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/threads.h"
#include "linalg/fortran.h"

/* Rows, and columns of L, of a worker's item. */
enum { BAND = 256, STRIP = 16 };

static const double unit = 1, none = 0;

typedef struct column_job {
    mcr_lowrank *low;
    const mcr_square *a;
    double *left; /* diagonal of what is left */
    int64_t pivot, column;
    double root;
} column_job;

static mcr_status column_band(void *arg, int64_t item, int worker)
{
    (void)worker;
    const column_job *j = arg;
    const mcr_lowrank *low = j->low;
    int64_t end = (item + 1) * BAND < low->n ? (item + 1) * BAND : low->n;
    const double *p = low->l + j->pivot * low->ld, *row = j->a->a + j->pivot * j->a->ld;
    for (int64_t i = item * BAND; i < end; i++) {
        double *l = low->l + i * low->ld, sum = row[i];
        for (int64_t c = 0; c < j->column; c++)
            sum -= l[c] * p[c];
        l[j->column] = i == j->pivot ? j->root : sum / j->root;
        j->left[i] = i == j->pivot ? 0 : fmax(j->left[i] - l[j->column] * l[j->column], 0);
    }
    return MCR_OK;
}

/* Columns until the trace is small; gives back whether it came to that. */
static mcr_status reduce(mcr_lowrank *low, const mcr_square *a, double *left, double share,
                         bool *enough)
{
    column_job job = {.low = low, .a = a, .left = left};
    double whole = 0;
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < a->n; i++)
        whole += left[i] = fmax(a->a[i * a->ld + i], 0);
    *enough = false;
    for (; !s; job.column++) {
        double trace = 0;
        job.pivot = 0;
        for (int64_t i = 0; i < a->n; i++) {
            trace += left[i];
            job.pivot = left[i] > left[job.pivot] ? i : job.pivot;
        }
        *enough = trace <= share * whole;
        if (*enough || job.column == low->ld)
            break;
        job.root = sqrt(left[job.pivot]);
        s = mcr_parallel(low->ctx, (a->n + BAND - 1) / BAND, column_band, &job);
    }
    low->rank = job.column;
    return s;
}

mcr_status mcr_lowrank_open(mcr_lowrank *low, const mcr_square *a, double share, int64_t most)
{
    mcr *ctx = a->ctx;
    bool enough = false;
    *low = (mcr_lowrank){.ctx = ctx, .f = a->f, .n = a->n, .ld = most};
    size_t bytes = (size_t)a->n * (size_t)most * sizeof *low->l;
    if (most == 0 || bytes > mcr_budget_left(ctx))
        return MCR_OK;
    mcr_status s = mcr_budget_take(ctx, bytes, "a matrix of low rank");
    if (s)
        return s;
    low->taken = bytes;
    double *left = mcr_alloc(ctx, (size_t)a->n, sizeof *left);
    low->l = mcr_alloc(ctx, (size_t)a->n, (size_t)most * sizeof *low->l);
    s = left && low->l ? reduce(low, a, left, share, &enough) : MCR_NO_MEMORY;
    mcr_free(ctx, left);
    if (s || !enough)
        mcr_lowrank_close(low);
    return s;
}

void mcr_lowrank_close(mcr_lowrank *low)
{
    if (!low->ctx)
        return;
    mcr_free(low->ctx, low->l);
    mcr_budget_give(low->ctx, low->taken);
    *low = (mcr_lowrank){0};
}

/* ---- product -----------------------------------------------------------------------------------*/

typedef struct product_job {
    const mcr_lowrank *low;
    const double *from;
    double *to;
    int cols;
} product_job;

/* Some rows of u = L^T v. */
static mcr_status project_strip(void *arg, int64_t item, int worker)
{
    (void)worker;
    const product_job *j = arg;
    int64_t first = item * STRIP, end = first + STRIP < j->low->rank ? first + STRIP : j->low->rank;
    int rows = (int)(end - first), n = (int)j->low->n, ld = (int)j->low->ld;
    int before = mcr_fortran_threads(j->low->f, 1);
    j->low->f->dgemm("N", "T", &j->cols, &rows, &n, &unit, j->from, &j->cols, j->low->l + first,
                     &ld, &none, j->to + first * j->cols, &j->cols, 1, 1);
    (void)mcr_fortran_threads(j->low->f, before);
    return MCR_OK;
}

/* Some rows of y = L u. */
static mcr_status expand_band(void *arg, int64_t item, int worker)
{
    (void)worker;
    const product_job *j = arg;
    int64_t first = item * BAND, end = first + BAND < j->low->n ? first + BAND : j->low->n;
    int rows = (int)(end - first), rank = (int)j->low->rank, ld = (int)j->low->ld;
    int before = mcr_fortran_threads(j->low->f, 1);
    j->low->f->dgemm("N", "N", &j->cols, &rows, &rank, &unit, j->from, &j->cols,
                     j->low->l + first * j->low->ld, &ld, &none, j->to + first * j->cols, &j->cols,
                     1, 1);
    (void)mcr_fortran_threads(j->low->f, before);
    return MCR_OK;
}

mcr_status mcr_lowrank_project(const mcr_lowrank *low, const double *v, int64_t cols, double *u)
{
    product_job j = {low, v, u, (int)cols};
    return mcr_parallel(low->ctx, (low->rank + STRIP - 1) / STRIP, project_strip, &j);
}

mcr_status mcr_lowrank_expand(const mcr_lowrank *low, const double *u, int64_t cols, double *y)
{
    product_job j = {low, u, y, (int)cols};
    return mcr_parallel(low->ctx, (low->n + BAND - 1) / BAND, expand_band, &j);
}

/* ---- weighted square ---------------------------------------------------------------------------*/

typedef struct weigh_job {
    const mcr_lowrank *low;
    const double *h;
    double *m;
    int64_t ldm;
    double *buffer; /* n x STRIP for each worker */
} weigh_job;

/* Some rows of L^T diag(h) L. */
static mcr_status weigh_strip(void *arg, int64_t item, int worker)
{
    const weigh_job *j = arg;
    const mcr_lowrank *low = j->low;
    int64_t first = item * STRIP, end = first + STRIP < low->rank ? first + STRIP : low->rank;
    double *scaled = j->buffer + worker * low->n * STRIP;
    int rows = (int)(end - first), rank = (int)low->rank, n = (int)low->n, ld = (int)low->ld;
    int ldm = (int)j->ldm, strip = STRIP;
    for (int64_t i = 0; i < low->n; i++)
        for (int64_t c = first; c < end; c++)
            scaled[i * STRIP + c - first] = j->h[i] * low->l[i * low->ld + c];
    int before = mcr_fortran_threads(j->low->f, 1);
    j->low->f->dgemm("N", "T", &rank, &rows, &n, &unit, low->l, &ld, scaled, &strip, &none,
                     j->m + first * j->ldm, &ldm, 1, 1);
    (void)mcr_fortran_threads(j->low->f, before);
    return MCR_OK;
}

mcr_status mcr_lowrank_weigh(const mcr_lowrank *low, const double *h, double *m, int64_t ldm)
{
    weigh_job j = {low, h, m, ldm, NULL};
    j.buffer = mcr_alloc(low->ctx, (size_t)mcr_workers(low->ctx) * STRIP,
                         (size_t)low->n * sizeof *j.buffer);
    if (!j.buffer)
        return MCR_NO_MEMORY;
    mcr_status s = mcr_parallel(low->ctx, (low->rank + STRIP - 1) / STRIP, weigh_strip, &j);
    mcr_free(low->ctx, j.buffer);
    return s;
}
