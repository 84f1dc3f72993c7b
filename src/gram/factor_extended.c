/* factor_extended.c: K a = D (D^T a) in extended precision, for certificates that double leaves in
 * doubt: a pass over the entries for each of the two products.
 *
 * Rows that are rounded are not K's. Then kernel values are taken, where these are few enough.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "gram/factor_impl.h"

#define MOST_WORK 1e9 /* entries of all rows, for each output: a few seconds */

enum {
    BLOCK = 256,     /* dense rows */
    LEAST_VALUE = 64 /* entries that a kernel value takes as long as, at least */
};

typedef struct job {
    mcr_gram *gram;
    const mcr_factor *of;
    const mcr_extended *to;
    double *block;     /* of dense rows */
    long double *u;    /* p x outputs: D^T a */
    long double *rest; /* likewise: what rounding took from it */
} job;

typedef struct entries {
    const int32_t *index; /* NULL: one after the other */
    const double *value;
    int64_t count;
} entries;

/* Row i, which is row t of a block. */
static entries entries_of(const job *j, int64_t i, int64_t t)
{
    const mcr_factor *of = j->of;
    if (!of->start)
        return (entries){NULL, j->block + t * of->p, of->p};
    int64_t first = of->start[of->row ? of->row[i] : i];
    int64_t end = of->start[(of->row ? of->row[i] : i) + 1];
    return (entries){of->index + first, of->value + first, end - first};
}

/* Where the entry's part of D^T a is. */
static int64_t place(const job *j, const entries *x, int64_t e)
{
    return (x->index ? x->index[e] : e) * j->to->outputs;
}

/* Rows are many: the rounding errors of their sum are collected (Neumaier 1974). */
static void add_row(const job *j, int64_t i, const entries *x)
{
    const double *a = j->to->a + i * j->to->outputs;
    for (int64_t e = 0; e < x->count; e++)
        for (int64_t o = 0; o < j->to->outputs; o++) {
            int64_t at = place(j, x, e) + o;
            long double term = (long double)x->value[e] * (long double)a[o], was = j->u[at];
            long double next = was + term, back = next - was;
            j->rest[at] += (was - (next - back)) + (term - back);
            j->u[at] = next;
        }
}

static void expand_row(const job *j, int64_t i, const entries *x)
{
    const mcr_extended *to = j->to;
    for (int64_t o = 0; o < to->outputs; o++) {
        long double sum = 0;
        for (int64_t e = 0; e < x->count; e++)
            sum += (long double)x->value[e] * j->u[place(j, x, e) + o];
        double high = (double)sum;
        to->f[i * to->outputs + o] = high;
        to->low[i * to->outputs + o] = (double)(sum - (long double)high);
    }
}

static mcr_status over_rows(const job *j, void (*work)(const job *, int64_t, const entries *))
{
    mcr_status s = MCR_OK;
    for (int64_t first = 0; first < j->to->n && !s; first += BLOCK) {
        mcr_rows part = {NULL, first, mcr_least(BLOCK, j->to->n - first)};
        if (!j->of->start)
            s = mcr_gram_factor_rows(j->gram, part, j->block);
        for (int64_t t = 0; t < part.count && !s; t++) {
            entries x = entries_of(j, first + t, t);
            work(j, first + t, &x);
        }
    }
    return s;
}

/* By kernel values. */
static mcr_status extend_values(mcr_gram *gram, const mcr_factor *of, mcr_extended *to)
{
    mcr_gram *all = NULL, *some = NULL;
    mcr_status s = mcr_gram_open(&all, gram->ctx, of->kernel, of->data, NULL);
    if (!s && of->row)
        s = mcr_gram_select_both(&some, all, (mcr_rows){of->row, 0, of->n});
    if (!s)
        s = mcr_gram_prepare(some ? some : all, true);
    if (!s)
        s = mcr_gram_extended(some ? some : all, to);
    mcr_gram_close(some);
    mcr_gram_close(all);
    return s;
}

mcr_status mcr_factor_extended(mcr_gram *gram, mcr_extended *to)
{
    const mcr_factor_gram *g = mcr_gram_as_factor(gram);
    job j = {.gram = gram, .of = &g->of, .to = to};
    int64_t p = g->of.p, wide = p * to->outputs;
    mcr_status s = MCR_OK;
    if (LDBL_MANT_DIG < 64 || gram->spread || g->of.round)
        return MCR_OK;
    bool few = (double)to->n * (double)to->n * LEAST_VALUE <= MOST_WORK;
    if (g->of.error > 0 && g->of.kernel && few)
        s = extend_values(gram, &g->of, to);
    if (s || isfinite(to->share) || !isfinite(g->of.error) ||
        mcr_gram_entries(gram) * (double)to->outputs > MOST_WORK)
        return s;
    j.u = mcr_alloc_zero(gram->ctx, 2 * (uint64_t)wide, sizeof *j.u);
    j.rest = j.u ? j.u + wide : NULL;
    j.block = mcr_alloc(gram->ctx, g->of.start ? 1 : BLOCK, (size_t)p * sizeof *j.block);
    s = j.u && j.block ? over_rows(&j, add_row) : MCR_NO_MEMORY;
    for (int64_t k = 0; k < wide && !s; k++)
        j.u[k] += j.rest[k];
    if (!s)
        s = over_rows(&j, expand_row);
    if (!s)
        to->share = 2.1 * g->of.error + (double)(mcr_factor_terms(g) + 8) * MCR_EXTENDED_UNIT;
    mcr_free_all(gram->ctx, j.u, j.block);
    return s;
}
