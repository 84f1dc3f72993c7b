/* known.c: what rounding leaves of the numbers of a certificate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "learn/learner.h"

static void set_errors(mcr_fitted *f, const mcr_known_loss *loss, const double *error)
{
    int64_t all = loss->n * loss->outputs;
    double most = 0, sum = 0;
    for (int64_t i = 0; i < all; i++) {
        /* The gradient of the loss is about -mu a. */
        double steep = loss->mu * fabs(loss->a[i]);
        most = fmax(most, loss->bend * error[i] + 4 * DBL_EPSILON * steep);
        sum += 2 * steep * error[i];
    }
    f->value_error = loss->relative ? sum / fmax(fabs(f->objective), DBL_MIN) : most;
    f->objective_error = sum + DBL_EPSILON * sqrt((double)all) * fabs(f->objective);
    if (loss->relative)
        f->value_error += DBL_EPSILON * sqrt((double)all);
}

/* The bound is for the worst case. Where it leaves the verdict in doubt, products in extended
 * precision show how far f is off. */
static mcr_status look_closer(mcr_fitted *f, mcr_gram *gram, const mcr_known_loss *loss,
                              double *error)
{
    int64_t all = loss->n * loss->outputs;
    double *exact = mcr_alloc(f->ctx, 2 * (size_t)all, sizeof *exact), *low = exact + all;
    mcr_extended to = {
        .n = loss->n, .outputs = loss->outputs, .a = loss->a, .f = exact, .low = low};
    mcr_status s = exact ? mcr_gram_extended(gram, &to) : MCR_NO_MEMORY;
    if (!s && isfinite(to.share)) {
        s = mcr_gram_product_error(gram, loss->a, loss->outputs, to.share, error);
        for (int64_t i = 0; i < all && !s; i++)
            error[i] += fabs(loss->f[i] - exact[i] - low[i]);
        if (!s)
            set_errors(f, loss, error);
    }
    mcr_free(f->ctx, exact);
    return s;
}

mcr_status mcr_known_smooth(mcr_fitted *f, mcr_gram *gram, const mcr_known_loss *loss)
{
    double *error = mcr_alloc(f->ctx, (size_t)(loss->n * loss->outputs), sizeof *error);
    mcr_status s = error ? mcr_gram_product_error(gram, loss->a, loss->outputs, NAN, error)
                         : MCR_NO_MEMORY;
    if (!s)
        set_errors(f, loss, error);
    if (!s && f->stop == MCR_STOP_OPTIMAL && f->value_error > f->tolerance)
        s = look_closer(f, gram, loss, error);
    mcr_free(f->ctx, error);
    return s;
}
