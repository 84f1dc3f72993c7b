/* known.c: what rounding leaves of the numbers of a certificate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "learn/learner.h"

/* root: sqrt(K_ii) of each object. The gap is |rest|^2 / (2 mu) in the feature space, with
 * rest = mu a + gradient: an error of rest, divided by a small mu, may be most of it. */
static void set_errors(mcr_fitted *f, const mcr_known_loss *loss, const double *root,
                       const double *error)
{
    int64_t all = loss->n * loss->outputs;
    double most = 0, sum = 0, off = 0;
    for (int64_t i = 0; i < all; i++) {
        /* The gradient of the loss is about -mu a. */
        double steep = loss->mu * fabs(loss->a[i]);
        double rest = loss->bend * error[i] + 4 * DBL_EPSILON * steep;
        most = fmax(most, rest);
        off += rest * root[i / loss->outputs];
        sum += 2 * steep * error[i];
    }
    if (loss->relative) {
        double square = off * off / (2 * loss->mu);
        sum += square + 2 * sqrt(fmax(f->gap, 0) * square);
    }
    f->value_error = loss->relative ? sum / fmax(fabs(f->objective), DBL_MIN) : most;
    f->objective_error = sum + DBL_EPSILON * sqrt((double)all) * fabs(f->objective);
    if (loss->relative)
        f->value_error += DBL_EPSILON * sqrt((double)all);
}

/* The bound is for the worst case. Where it leaves the verdict in doubt, products in extended
 * precision show how far f is off. */
static mcr_status look_closer(mcr_fitted *f, mcr_gram *gram, const mcr_known_loss *loss,
                              const double *root, double *error)
{
    int64_t all = loss->n * loss->outputs;
    double *exact = mcr_alloc(f->ctx, 2 * (size_t)all, sizeof *exact);
    double *low = exact ? exact + all : NULL;
    mcr_extended to = {
        .n = loss->n, .outputs = loss->outputs, .a = loss->a, .f = exact, .low = low};
    mcr_status s = exact ? mcr_gram_extended(gram, &to) : MCR_NO_MEMORY;
    if (!s && isfinite(to.share)) {
        s = mcr_gram_product_error(gram, loss->a, loss->outputs, to.share, error);
        for (int64_t i = 0; i < all && !s; i++)
            error[i] += fabs(loss->f[i] - exact[i] - low[i]);
        if (!s)
            set_errors(f, loss, root, error);
    }
    mcr_free(f->ctx, exact);
    return s;
}

/* Where mu is small, the coefficients are the better point of the dual problem: errors of f are not
 * divided by mu. */
static void take_coefficients(mcr_fitted *f, const mcr_known_loss *loss, const double *root,
                              const double *error)
{
    int64_t all = loss->n * loss->outputs;
    double slip, gap = loss->gap(loss->self, root, error, &slip), sum = slip;
    double size = fmax(fabs(f->objective), DBL_MIN), rounding = DBL_EPSILON * sqrt((double)all);
    if (!(gap + slip < f->gap + f->value_error * size))
        return;
    for (int64_t i = 0; i < all; i++)
        sum += 2 * loss->mu * fabs(loss->a[i]) * error[i];
    f->gap = gap;
    f->dual = f->primal - gap;
    f->value = gap / size;
    f->value_error = slip / size + rounding;
    f->objective_error = sum + rounding * size;
}

mcr_status mcr_known_smooth(mcr_fitted *f, mcr_gram *gram, const mcr_known_loss *loss)
{
    int64_t all = loss->n * loss->outputs;
    double *error = mcr_alloc(f->ctx, (size_t)(all + loss->n), sizeof *error);
    double *root = error ? error + all : NULL;
    mcr_status s = error ? mcr_gram_product_error(gram, loss->a, loss->outputs, NAN, error)
                         : MCR_NO_MEMORY;
    if (!s)
        s = mcr_gram_diagonal(gram, 0, root);
    for (int64_t i = 0; i < loss->n && !s; i++)
        root[i] = sqrt(fmax(root[i], 0));
    if (!s)
        set_errors(f, loss, root, error);
    if (!s && f->stop == MCR_STOP_OPTIMAL && f->value_error > f->tolerance)
        s = look_closer(f, gram, loss, root, error);
    if (!s && f->stop == MCR_STOP_OPTIMAL && f->value_error > f->tolerance && loss->gap)
        take_coefficients(f, loss, root, error);
    mcr_free(f->ctx, error);
    return s;
}
