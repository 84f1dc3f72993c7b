/* directions.c: directions in feature space.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/directions.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/team.h"

static mcr_status find_shares(const mcr_directions *d, const mcr_data *data, double *share)
{
    const double *weight = mcr_data_weights(data);
    double sum = mcr_learning_weight(data);
    mcr_status s = mcr_team_sum(d->ctx, &sum, 1);
    for (int64_t i = 0; i < d->n && !s; i++)
        share[i] = (weight ? weight[i] : 1) / sum;
    return s         ? s
           : sum > 0 ? MCR_OK
                     : mcr_fail(d->ctx, MCR_BAD_DATA, "%s: %s", d->learner,
                                d->n ? "all weights are 0" : "there are no objects");
}

static mcr_status keep_half(mcr_directions *d)
{
    char what[64];
    mcr_gram *gram = d->own;
    snprintf(what, sizeof what, "%s: the kernel matrix", d->learner);
    mcr_status s = mcr_gram_keep_half(&d->own, gram, what);
    mcr_gram_close(gram);
    return s;
}

mcr_status mcr_directions_open(mcr_directions *d, const char *learner, const mcr_learning *in,
                               const mcr_form *form, bool half)
{
    *d = (mcr_directions){
        .ctx = in->ctx, .learner = learner, .kernel = in->kernel, .n = mcr_data_count(in->data)};
    bool features = form && form->features;
    double *share = mcr_alloc(d->ctx, (size_t)d->n, sizeof *share);
    mcr_status s = share ? find_shares(d, in->data, share) : MCR_NO_MEMORY;
    if (!s && features)
        mcr_gram_factor_phase(form->gram, learner);
    else if (!s)
        s = mcr_learning_gram(&d->own, in);
    if (!s && half && !features)
        s = keep_half(d);
    if (!s)
        s = mcr_gram_centred(&d->gram, features ? form->gram : d->own, share);
    mcr_free(d->ctx, share);
    return s;
}

void mcr_directions_close(mcr_directions *d)
{
    mcr_gram_close(d->gram);
    mcr_gram_close(d->own);
    *d = (mcr_directions){0};
}

mcr_status mcr_directions_centre(mcr_directions *d)
{
    mcr_status s = mcr_gram_centre(d->gram, &d->c);
    return s || d->c->total > 0 ? s
                                : mcr_fail(d->ctx, MCR_BAD_DATA,
                                           "%s: all objects are the same to the kernel %s: there "
                                           "is no variance",
                                           d->learner, mcr_kernel_text(d->kernel));
}

/* Sums of the linear algebra libraries run over blocks: the error of n terms grows with the length
 * of a block and the number of blocks. */
static double sum_error(int64_t n)
{
    enum { BLOCK = 512 };
    return 0.5 * DBL_EPSILON * (n < BLOCK ? (double)n : BLOCK + (double)n / BLOCK);
}

/* The bound for kernel values, if there is a Gram that provides one; for data in a file, none is
 * known. A feature is a product of a few numbers: binding all objects to compute a bound would take
 * as long as training. */
static mcr_status value_error(const mcr_directions *d, const mcr_learning *in, double *error)
{
    enum { FEW = 8 };
    mcr_gram *gram = NULL;
    mcr_error r = {FEW * DBL_EPSILON, 0};
    *error = MCR_UNKNOWN_ERROR;
    if (d->own && mcr_data_on_disk(in->data))
        return MCR_OK;
    mcr_status s = d->own ? mcr_learning_gram(&gram, in) : MCR_OK;
    if (!s && gram)
        s = mcr_gram_error(gram, true, &r);
    mcr_gram_close(gram);
    if (isfinite(r.absolute + r.relative))
        *error = r.absolute + r.relative;
    return s;
}

mcr_status mcr_directions_error(const mcr_directions *d, const mcr_learning *in, double *error)
{
    enum { TERMS = 4 }; /* K_ij, two means and the mean of the means */
    double unit;
    mcr_status s = value_error(d, in, &unit);
    *error = TERMS * (unit + sum_error(d->n)) * fabs(d->c->total + d->c->middle);
    return s;
}

double mcr_directions_expand(const mcr_directions *d, double *a)
{
    const double *root = d->c->root;
    double sum = 0, offset = 0;
    for (int64_t i = 0; i < d->n; i++)
        sum += a[i] *= root[i];
    for (int64_t i = 0; i < d->n; i++) {
        a[i] -= sum * root[i] * root[i];
        offset -= a[i] * d->c->mean[i];
    }
    return offset;
}

mcr_status mcr_directions_fitted(mcr_fitted **out, const mcr_directions *d, int64_t outputs,
                                 const double *coef, const double *offset)
{
    mcr_fitted *f = NULL;
    mcr_status s = mcr_fitted_new(&f, d->ctx, outputs);
    if (!s)
        s = mcr_fitted_add(f, NULL, d->n, NULL, outputs, coef);
    for (int64_t o = 0; o < outputs && !s; o++)
        f->offset[o] = offset[o];
    return mcr_fitted_give(out, f, s);
}

mcr_status mcr_directions_mapped(mcr_fitted **out, const mcr_directions *d, const mcr_form *form,
                                 const double *w, int64_t outputs)
{
    mcr_fitted *f = NULL;
    mcr_status s = mcr_fitted_new(&f, d->ctx, outputs);
    if (!s)
        s = mcr_form_add(form, f, w, outputs);
    for (int64_t k = 0; k < mcr_gram_width(form->gram) && !s; k++)
        for (int64_t o = 0; o < outputs; o++)
            f->offset[o] -= d->c->features[k] * w[k * outputs + o];
    return mcr_fitted_give(out, f, s);
}
