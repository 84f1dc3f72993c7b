/* gp_tune.c: the scales of a kernel that make the data most likely.
 *
 * Maximises the log marginal likelihood over the logarithms of the scales and of the noise
 * (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, ch. 5). Here are its
 * value and its slope, which against a scale is the sum of D_ij dK_ij for a matrix D that the
 * method knows (gp_slope.c), the limits of the scales, and the state for a checkpoint; the searches
 * are in gp_search.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "kernel/scales.h"
#include "learn/gp.h"

/* How far a scale may go from where it was, as a factor. */
static const double widest = 1e8;

/* The noise, as a share of the mean of K(x,x). */
static const double least_noise = 1e-8, most_noise = 1e3;

/* ---- K at some scales -------------------------------------------------------------------------*/

static mcr_status fill_matrix(mcr_gp *gp)
{
    mcr_gram *gram = NULL;
    mcr_status s = gp->gram && !gp->params->optimize
                       ? mcr_gram_share(&gram, gp->gram)
                       : mcr_gram_open(&gram, gp->ctx, gp->kernel, gp->data, NULL);
    if (!s)
        s = mcr_gram_fill_system(gram, &gp->k, NULL, !gp->begun);
    mcr_gram_close(gram);
    return s;
}

mcr_status mcr_gp_set(mcr_gp *gp, const double *x)
{
    mcr_kernel_free(gp->kernel);
    mcr_status s = mcr_gp_kernel_at(&gp->kernel, gp, x);
    if (!isnan(gp->extra))
        gp->extra = exp(x[gp->scales]);
    return s;
}

static mcr_status evaluate(mcr_gp *gp, double *f)
{
    if (gp->own)
        return gp->own->value(gp, f);
    mcr_status s = fill_matrix(gp);
    return s ? s : gp->type->value(gp, f);
}

/* ---- checkpoints ------------------------------------------------------------------------------*/

/* A value takes long and the search itself no time: so the search is replayed from its start, with
 * the values and slopes that an earlier run has computed. */
static mcr_status walk(void *self, mcr_walk *w)
{
    mcr_gp *gp = self;
    struct mcr_gp_values *v = &gp->values;
    int64_t count = v->count;
    mcr_walk_same(w, gp->n);
    MCR_WALK(w, count);
    mcr_status s = w->status;
    if (!s && w->reads)
        s = count < 0 || (size_t)count > (size_t)(w->end - w->at) / sizeof *v->x
                ? mcr_walk_refuse(w)
                : mcr_reserve(gp->ctx, &v->x, &v->capacity, count, sizeof *v->x);
    if (s)
        return s;
    v->count = count;
    mcr_walk_bytes(w, v->x, sizeof *v->x * (size_t)count);
    return w->status || !gp->type || !gp->type->walk ? w->status : gp->type->walk(gp, w);
}

/* The next numbers, if an earlier run has computed them. */
static bool give_again(mcr_gp *gp, double *x, int64_t count)
{
    struct mcr_gp_values *v = &gp->values;
    if (v->count - v->at < count)
        return false;
    memcpy(x, v->x + v->at, sizeof *x * (size_t)count);
    v->at += count;
    return true;
}

/* The value at x. A time limit may have ended an earlier run's search on samples elsewhere, so that
 * this one begins at other scales: then what is left is of no use. */
static bool give_value_again(mcr_gp *gp, const double *x, double *f)
{
    struct mcr_gp_values *v = &gp->values;
    int64_t count = mcr_gp_variables(gp);
    if (v->count - v->at <= count || memcmp(v->x + v->at, x, sizeof *x * (size_t)count) != 0) {
        v->count = v->at;
        return false;
    }
    v->at += count;
    return give_again(gp, f, 1);
}

static mcr_status keep_values(mcr_gp *gp, const double *x, int64_t count)
{
    struct mcr_gp_values *v = &gp->values;
    if (!v->part[0])
        return MCR_OK;
    mcr_status s = mcr_reserve(gp->ctx, &v->x, &v->capacity, v->count + count, sizeof *v->x);
    if (s)
        return s;
    memcpy(v->x + v->count, x, sizeof *x * (size_t)count);
    v->count += count;
    v->at = v->count;
    return MCR_OK;
}

/* Where a kernel has no values for the scales (too large for numbers), nothing is likely. */
mcr_status mcr_gp_value_at(void *arg, const double *x, double *f)
{
    mcr_gp *gp = arg;
    *f = INFINITY;
    memcpy(gp->at, x, sizeof *x * (size_t)mcr_gp_variables(gp));
    gp->values.again = give_value_again(gp, x, f);
    if (gp->values.again)
        return MCR_OK;
    mcr_status s = mcr_resume_offer(gp->ctx, gp->values.part, walk, gp);
    if (!s)
        s = mcr_gp_set(gp, x);
    if (!s)
        s = evaluate(gp, f);
    gp->begun = gp->begun || s != MCR_STOPPED;
    if (s == MCR_NUMERIC)
        *f = INFINITY;
    if (!s || s == MCR_NUMERIC)
        s = keep_values(gp, x, mcr_gp_variables(gp));
    return s ? s : keep_values(gp, f, 1);
}

/* ---- the slope --------------------------------------------------------------------------------*/

static mcr_status slope_at(void *arg, double *g)
{
    mcr_gp *gp = arg;
    double own = 0;
    mcr_status s = MCR_OK;
    if (give_again(gp, g, mcr_gp_variables(gp)))
        return MCR_OK;
    if (gp->values.again) /* what is kept ends with a slope, or has none yet */
        return mcr_walk_refuse(&(mcr_walk){.ctx = gp->ctx});
    memset(g, 0, sizeof *g * (size_t)mcr_gp_variables(gp));
    if (gp->own) {
        s = gp->own->slope(gp, g);
        return s ? s : keep_values(gp, g, mcr_gp_variables(gp));
    }
    for (int64_t part = 0; part < gp->parts && !s; part++) {
        if (part > 0)
            s = fill_matrix(gp);
        if (!s)
            s = gp->type->prepare(gp, part, &own);
        if (!s)
            s = mcr_gp_slope(gp, g);
    }
    if (!isnan(gp->extra))
        g[gp->scales] = own;
    return s ? s : keep_values(gp, g, mcr_gp_variables(gp));
}

/* ---- limits -----------------------------------------------------------------------------------*/

typedef struct limits {
    double *given, *low, *high;
} limits;

static void set_limits(const mcr_gp *gp, limits *t, double mean)
{
    for (int64_t j = 0; j < gp->scales; j++) {
        t->given[j] = log(t->given[j]);
        t->low[j] = t->given[j] - log(widest);
        t->high[j] = t->given[j] + log(widest);
    }
    if (!isnan(gp->extra)) {
        int64_t j = gp->scales;
        t->given[j] = log(gp->extra);
        t->low[j] = log(fmin(least_noise * mean, gp->extra));
        t->high[j] = log(fmax(most_noise * mean, gp->extra));
    }
}

static mcr_status add_lengths(const mcr_gp *gp, int64_t first, int64_t count, double *k,
                              double *mean)
{
    mcr_data *part = NULL;
    mcr_gram *gram = NULL;
    mcr_status s = mcr_data_load(&part, gp->data, (mcr_rows){NULL, first, count});
    if (!s)
        s = mcr_gram_open(&gram, gp->ctx, gp->given, part, NULL);
    if (!s)
        s = mcr_gram_diagonal(gram, 0, k);
    for (int64_t i = 0; i < count && !s; i++)
        *mean += fabs(k[i]) / (double)gp->n;
    mcr_gram_close(gram);
    mcr_data_free(part);
    return s;
}

/* By blocks of objects, which may be in a file. */
static mcr_status mean_length(const mcr_gp *gp, double *mean)
{
    enum { BLOCK = 65536 };
    double *k = mcr_alloc(gp->ctx, BLOCK, sizeof *k);
    mcr_status s = k ? MCR_OK : MCR_NO_MEMORY;
    *mean = 0;
    for (int64_t i = 0; i < gp->n && !s; i += BLOCK)
        s = add_lengths(gp, i, gp->n - i < BLOCK ? gp->n - i : BLOCK, k, mean);
    mcr_free(gp->ctx, k);
    return s || isfinite(*mean) ? s
                                : mcr_fail(gp->ctx, MCR_NUMERIC,
                                           "gp: values of the kernel are too large for double "
                                           "numbers; scale the data");
}

static mcr_status optimise(mcr_gp *gp, limits *t, double *best, double mean, double began)
{
    bool goes_on = gp->start && mcr_kernel_scales(gp->start, NULL) == gp->scales, found;
    mcr_kernel_scales(goes_on ? gp->start : gp->given, t->given);
    set_limits(gp, t, mean > 0 ? mean : 1);
    mcr_descent problem = {
        .n = mcr_gp_variables(gp),
        .low = t->low,
        .high = t->high,
        .tolerance = gp->params->tol,
        .gain = MCR_GP_FLAT * gp->params->tol,
        .most_steps = gp->params->max_steps == INT64_MIN ? 0 : gp->params->max_steps,
        .deadline = isnan(gp->params->time_limit) ? 0 : began + gp->params->time_limit,
        .phase = "gp",
        .value = mcr_gp_value_at,
        .gradient = slope_at,
        .arg = gp,
    };
    mcr_resume_name(gp->ctx, "gp", gp->values.part);
    mcr_status s = mcr_resume_find(gp->ctx, gp->values.part, walk, gp, &found);
    if (!s)
        s = mcr_gp_search(gp, &problem, t->given, goes_on, best);
    if (s || !isfinite(gp->f))
        return s;
    if (gp->own)
        gp->own->restore(gp);
    /* The last value may be that of another run, or of a step that was not taken. */
    if (gp->own || memcmp(gp->at, best, sizeof *best * (size_t)problem.n) != 0)
        s = mcr_gp_value_at(gp, best, &gp->f);
    return s;
}

static mcr_status evaluate_given(mcr_gp *gp)
{
    gp->kernel = mcr_kernel_retain(gp->given);
    gp->steps = 1;
    mcr_status s = gp->own ? gp->own->choose(gp) : MCR_OK;
    return s ? s : evaluate(gp, &gp->f);
}

mcr_status mcr_gp_tune(mcr_gp *gp, const mcr_learning *in)
{
    double began = mcr_now(), mean = 0;
    gp->ctx = in->ctx;
    gp->params = in->params;
    gp->given = in->kernel;
    gp->start = in->start_kernel;
    gp->data = in->data;
    gp->gram = in->gram;
    gp->n = mcr_data_count(gp->data);
    gp->scales = mcr_kernel_scales(gp->given, NULL);
    gp->slope = gp->gained = NAN;
    mcr_status s = gp->own ? MCR_OK
                           : mcr_system_open(&gp->k, gp->ctx, gp->n, "gp: the kernel matrix");
    if (!s && gp->type)
        s = gp->type->open(gp);
    if (!s) /* data that the kernel has no values for are reported as such */
        s = mean_length(gp, &mean);
    if (s)
        return s;
    size_t most = (size_t)mcr_gp_variables(gp);
    limits t = {.given = mcr_alloc(gp->ctx, 5 * most, sizeof *t.given)};
    if (!t.given)
        return MCR_NO_MEMORY;
    t.low = t.given + most;
    t.high = t.low + most;
    double *best = t.high + most;
    gp->at = best + most;
    s = gp->params->optimize && most > 0 ? optimise(gp, &t, best, mean, began) : evaluate_given(gp);
    mcr_free_all(gp->ctx, t.given, gp->values.x);
    gp->values = (struct mcr_gp_values){0};
    gp->at = NULL;
    if (s == MCR_NUMERIC || (!s && !isfinite(gp->f)))
        s = mcr_advise(gp->ctx,
                       mcr_fail(gp->ctx, MCR_NUMERIC,
                                "gp: the kernel matrix is not positive definite, whatever is added "
                                "to its diagonal: is the kernel positive semidefinite?"),
                       "definite");
    return s;
}

void mcr_gp_close(mcr_gp *gp)
{
    if (gp->type)
        gp->type->close(gp);
    mcr_system_close(&gp->k);
    mcr_kernel_free(gp->kernel);
    gp->kernel = NULL;
}
