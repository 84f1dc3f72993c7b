/* gp_classify.c: Gaussian process classification by Laplace's approximation (solve/laplace.h).
 *
 * Two classes, y = +1 or -1; several: one such problem per class against all others, with the same
 * kernel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "learn/gp.h"
#include "solve/laplace.h"

static mcr_status open_laplace(mcr_gp *gp)
{
    mcr_laplace *l = mcr_alloc_zero(gp->ctx, 1, sizeof *l);
    gp->method = l;
    return l ? mcr_laplace_open(l, &gp->k, gp->ctx, gp->n, gp->parts, gp->y, gp->weight)
             : MCR_NO_MEMORY;
}

static void close_laplace(mcr_gp *gp)
{
    if (gp->method)
        mcr_laplace_close(gp->method);
    mcr_free(gp->ctx, gp->method);
    gp->method = NULL;
}

static mcr_status value(mcr_gp *gp, double *f)
{
    mcr_laplace *l = gp->method;
    l->phase = mcr_gp_phase(gp);
    return mcr_laplace_value(l, f);
}

static mcr_status prepare(mcr_gp *gp, int64_t part, double *slope)
{
    mcr_laplace *l = gp->method;
    (void)slope;
    l->phase = mcr_gp_phase(gp);
    return mcr_laplace_prepare(l, part);
}

static void row(const mcr_gp *gp, int64_t i, double *d)
{
    mcr_laplace_row(gp->method, i, d);
}

/* A mode is looked for from the last one. */
static mcr_status walk(void *self, mcr_walk *w)
{
    const mcr_gp *gp = self;
    const mcr_laplace *l = gp->method;
    mcr_walk_bytes(w, l->a, sizeof *l->a * (size_t)(l->parts * l->n));
    return w->status;
}

static const mcr_gp_method method = {.open = open_laplace,
                                     .value = value,
                                     .prepare = prepare,
                                     .row = row,
                                     .walk = walk,
                                     .close = close_laplace};

/* What rounding may change: a slope at the mode changes by W <= w / 4 times the error of f, the
 * likelihood by a'(dK)a and the trace of W^1/2 (dK) W^1/2. */
static mcr_status find_errors(mcr_fitted *f, const mcr_gp *gp)
{
    const mcr_laplace *l = gp->method;
    mcr_gram *gram = NULL;
    double *error = mcr_alloc(gp->ctx, (size_t)gp->n, sizeof *error), size = fabs(gp->f);
    mcr_status s = error ? mcr_gram_open(&gram, gp->ctx, gp->kernel, gp->data, NULL)
                         : MCR_NO_MEMORY;
    for (int64_t part = 0; part < gp->parts && !s; part++) {
        const double *a = l->a + part * gp->n, *root = l->root + part * gp->n;
        s = mcr_gram_product_error(gram, a, 1, NAN, error);
        for (int64_t i = 0; i < gp->n && !s; i++) {
            double w = l->weight[i];
            f->value_error = fmax(f->value_error, w * (0.25 * error[i] + 2 * DBL_EPSILON));
            f->objective_error += fabs(a[i]) * error[i];
            size += (double)gp->n * root[i] * root[i] * fabs(gp->k.diagonal[i]);
        }
    }
    f->objective_error += DBL_EPSILON * size;
    mcr_gram_close(gram);
    mcr_free(gp->ctx, error);
    return s;
}

static mcr_status fill(mcr_fitted *f, mcr_gp *gp, int64_t classes)
{
    const mcr_laplace *l = gp->method;
    f->task = MCR_CLASSIFY;
    f->rule = MCR_RULE_OWN;
    f->classes = classes;
    f->certificate = "slope at the mode";
    f->value = l->residual;
    f->tolerance = 10 * MCR_LAPLACE_TOLERANCE;
    mcr_status s = mcr_fitted_keep(f, MCR_GP_CURVATURE, l->root, gp->parts * gp->n);
    if (!s)
        s = find_errors(f, gp);
    return s ? s : mcr_gp_finish(f, gp, gp->data);
}

mcr_status mcr_gp_classify(mcr_fitted **out, const mcr_learning *in, const mcr_goal *goal)
{
    mcr_gp gp = {.extra = NAN,
                 .type = &method,
                 .y = goal->y,
                 .weight = goal->weight,
                 .parts = goal->outputs};
    mcr_status s = mcr_gp_tune(&gp, in);
    if (!s)
        s = mcr_fitted_whole(out, in->ctx, goal->n, goal->outputs,
                             ((const mcr_laplace *)gp.method)->a);
    if (!s)
        s = fill(*out, &gp, goal->classes);
    mcr_gp_close(&gp);
    return s;
}
