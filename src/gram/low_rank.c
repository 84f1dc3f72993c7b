/* low_rank.c: a matrix as a factor of few columns, by pivoted Cholesky (Harbrecht, Peters and
 * Schneider, 2012): the next column belongs to the object with the largest remaining diagonal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/threads.h"
#include "gram/factor_impl.h"
#include "gram/stored.h"

enum {
    BAND = 256,    /* rows of a worker's item */
    FEW = 16,      /* columns after which the trace shows how fast it falls */
    FIRST_LD = 64, /* values between two rows of L, at first */
};

typedef struct column_job {
    mcr *ctx;
    int64_t n, most;
    mcr_gram *gram; /* values come from it, a row at a time; NULL: all of them are in a */
    const double *a;
    int64_t lda;
    double *fresh;     /* n: the pivot's row; */
    const double *row; /* that, or in a */
    double *l;         /* n x most, of which n x ld are in use: memory is touched as L grows */
    int64_t ld;
    double *left; /* diagonal of what is left */
    int64_t pivot, column;
    double root;
    int64_t *order; /* pivots, one after the other; NULL: not wanted */
} column_job;

static mcr_status column_band(void *arg, int64_t first, int64_t end)
{
    const column_job *j = arg;
    const double *p = j->l + j->pivot * j->ld, *row = j->row;
    if (mcr_deadline_over(j->ctx)) /* long rows, and memory that is touched for the first time */
        return mcr_fail(j->ctx, MCR_STOPPED, "interrupted");
    for (int64_t i = first; i < end; i++) {
        double *l = j->l + i * j->ld, sum = row[i];
        for (int64_t c = 0; c < j->column; c++)
            sum -= l[c] * p[c];
        l[j->column] = i == j->pivot ? j->root : sum / j->root;
        j->left[i] = i == j->pivot ? 0 : fmax(j->left[i] - l[j->column] * l[j->column], 0);
    }
    return MCR_OK;
}

/* The pivot's row of K. */
static mcr_status take_row(column_job *j)
{
    j->row = j->gram ? j->fresh : j->a + j->pivot * j->lda;
    return j->gram ? mcr_gram_block(j->gram, (mcr_rows){NULL, j->pivot, 1}, mcr_gram_all(j->gram),
                                    j->fresh, j->n)
                   : MCR_OK;
}

/* Spreads the rows for more columns, in place: the last row moves first. */
static void widen(column_job *j)
{
    int64_t ld = j->ld < j->most / 4 ? 4 * j->ld : j->most;
    for (int64_t i = j->n - 1; i > 0; i--)
        memmove(j->l + i * ld, j->l + i * j->ld, sizeof *j->l * (size_t)j->column);
    j->ld = ld;
}

/* Whether the allowed number of columns will not be enough: the trace falls ever more slowly, so
 * later columns gain at most as much as those so far. */
static bool is_hopeless(const column_job *j, double share, double trace, double whole)
{
    return !j->order && j->column >= FEW &&
           log(whole / trace) * (double)j->most < log(1 / share) * (double)j->column;
}

/* Adds columns until the trace is small; *enough: whether that was reached. */
static mcr_status reduce(column_job *j, double share, bool *enough)
{
    double whole = 0;
    j->ld = j->most < FIRST_LD ? j->most : FIRST_LD;
    mcr_status s = j->gram ? mcr_gram_diagonal(j->gram, 0, j->left) : MCR_OK;
    for (int64_t i = 0; i < j->n && !s; i++)
        whole += j->left[i] = fmax(j->gram ? j->left[i] : j->a[i * j->lda + i], 0);
    for (; !s; j->column++) {
        double trace = 0;
        j->pivot = 0;
        for (int64_t i = 0; i < j->n; i++) {
            trace += j->left[i];
            j->pivot = j->left[i] > j->left[j->pivot] ? i : j->pivot;
        }
        *enough = trace <= share * whole;
        if (*enough || j->column == j->most || is_hopeless(j, share, trace, whole))
            break;
        if (j->column == j->ld)
            widen(j);
        j->root = sqrt(j->left[j->pivot]);
        if (j->order)
            j->order[j->column] = j->pivot;
        s = mcr_deadline_over(j->ctx) ? mcr_fail(j->ctx, MCR_STOPPED, "interrupted") : take_row(j);
        if (!s)
            s = mcr_parallel_chunks(j->ctx, j->n, BAND, column_band, j);
    }
    return s;
}

mcr_status mcr_gram_low_rank(mcr_gram **out, mcr_gram *of, double share, int64_t most)
{
    *out = NULL;
    bool enough = false;
    mcr *ctx = of->ctx;
    int64_t n = of->rows, ld;
    const double *a = mcr_gram_doubles(of, &ld);
    size_t bytes = (size_t)n * (size_t)most * sizeof(double);
    if (most == 0 || bytes > mcr_budget_left(ctx))
        return MCR_OK;
    mcr_status s = mcr_budget_take(ctx, bytes, "a matrix of low rank");
    if (s)
        return s;
    column_job j = {.ctx = ctx, .n = n, .most = most, .gram = a ? NULL : of, .a = a, .lda = ld};
    j.left = mcr_alloc(ctx, (size_t)n, 2 * sizeof *j.left);
    j.fresh = j.left ? j.left + n : NULL;
    j.l = mcr_alloc(ctx, (size_t)n, (size_t)most * sizeof *j.l);
    s = j.left && j.l ? reduce(&j, share, &enough) : MCR_NO_MEMORY;
    mcr_free(ctx, j.left);
    enough = enough && j.column > 0;
    if (!s && enough)
        s = mcr_gram_factor(
            out, ctx,
            &(mcr_factor){
                .n = n, .p = j.column, .dense = j.l, .ld = j.ld, .self = j.l, .release = mcr_free});
    else
        mcr_free(ctx, j.l);
    if (*out)
        ((mcr_factor_gram *)*out)->taken = bytes;
    else
        mcr_budget_give(ctx, bytes);
    return s;
}

mcr_status mcr_gram_pivots(mcr *ctx, int64_t n, const double *a, int64_t ld, double share,
                           int64_t *order, int64_t *count)
{
    bool enough;
    column_job j = {.ctx = ctx, .n = n, .most = n, .lda = ld, .a = a, .order = order};
    size_t bytes = (size_t)n * (size_t)n * sizeof *j.l;
    *count = 0;
    mcr_status s = mcr_budget_take(ctx, bytes, "a factor of the landmarks' kernel values");
    if (s)
        return s;
    j.left = mcr_alloc(ctx, (size_t)n, sizeof *j.left);
    j.l = mcr_alloc(ctx, (size_t)n, (size_t)n * sizeof *j.l);
    s = j.left && j.l ? reduce(&j, share, &enough) : MCR_NO_MEMORY;
    if (!s) {
        *count = j.column;
        qsort(order, (size_t)j.column, sizeof *order, mcr_int64_rising);
    }
    mcr_free_all(ctx, j.left, j.l);
    mcr_budget_give(ctx, bytes);
    return s;
}
