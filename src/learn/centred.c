/* centred.c: the covariance of the objects in feature space, as an n x n matrix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/centred.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/threads.h"

static mcr_status take_shares(mcr_centred *c, const char *learner, const mcr_data *data)
{
    const double *weight = mcr_data_weights(data);
    double sum = 0;
    for (int64_t i = 0; i < c->n; i++)
        sum += weight ? weight[i] : 1;
    if (!(sum > 0))
        return mcr_fail(c->ctx, MCR_BAD_DATA, "%s: %s", learner,
                        c->n ? "all weights are 0" : "there are no objects");
    for (int64_t i = 0; i < c->n; i++)
        c->root[i] = sqrt((weight ? weight[i] : 1) / sum);
    return MCR_OK;
}

static mcr_status mean_row(void *arg, int64_t i, int worker)
{
    (void)worker;
    const mcr_centred *c = arg;
    const double *row = c->k.a + i * c->k.ld;
    double sum = 0;
    for (int64_t j = 0; j < c->n; j++)
        sum += c->root[j] * c->root[j] * row[j];
    c->mean[i] = sum;
    return MCR_OK;
}

/* In an order of operations that gives both triangles the same bits. */
static mcr_status centre_row(void *arg, int64_t i, int worker)
{
    (void)worker;
    const mcr_centred *c = arg;
    double *row = c->k.a + i * c->k.ld;
    for (int64_t j = 0; j < c->n; j++)
        row[j] = c->root[i] * c->root[j] * (row[j] - (c->mean[i] + c->mean[j]) + c->centre);
    return MCR_OK;
}

static mcr_status make_matrix(mcr_centred *c, const mcr_learning *in)
{
    mcr_gram *gram = NULL;
    mcr_status s = mcr_learning_gram(&gram, in);
    if (!s)
        s = mcr_gram_matrix(gram, c->k.a, c->k.ld);
    mcr_gram_close(gram);
    if (!s)
        s = mcr_parallel(c->ctx, c->n, mean_row, c);
    for (int64_t i = 0; i < c->n && !s; i++)
        c->centre += c->root[i] * c->root[i] * c->mean[i];
    double before = 0; /* the trace without centring */
    for (int64_t i = 0; i < c->n && !s; i++)
        before += c->root[i] * c->root[i] * fabs(c->k.a[i * c->k.ld + i]);
    if (!s)
        s = mcr_parallel(c->ctx, c->n, centre_row, c);
    for (int64_t i = 0; i < c->n && !s; i++)
        c->total += c->k.a[i * c->k.ld + i];
    if (!s && !(c->total > 1e-14 * before))
        c->total = 0; /* rounding */
    return s;
}

/* ---- half of it --------------------------------------------------------------------------------
 *
 * K itself is kept, and products with it are centred: that saves a pass over all of it. Where the
 * mean is so far from the origin that products would lose digits which A has, A is made instead. */

static const double too_far = 100; /* squared, in units of the variance */

mcr_status mcr_centred_multiply(void *arg, int64_t rows, const double *v, double *av)
{
    mcr_centred *c = arg;
    int64_t n = c->n;
    mcr_status s = MCR_OK;
    if (c->centred)
        return mcr_half_multiply(&c->half, rows, v, av);
    for (int64_t first = 0; first < rows && !s; first += MCR_THIN) {
        int64_t some = rows - first < MCR_THIN ? rows - first : MCR_THIN;
        for (int64_t o = 0; o < some; o++)
            for (int64_t i = 0; i < n; i++)
                c->buffer[o * n + i] = c->root[i] * v[(first + o) * n + i];
        s = mcr_half_multiply(&c->half, some, c->buffer, av + first * n);
        for (int64_t o = 0; o < some && !s; o++) {
            const double *u = c->buffer + o * n;
            double *to = av + (first + o) * n, sum = 0, along = 0;
            for (int64_t i = 0; i < n; i++) {
                sum += u[i];
                along += c->mean[i] * u[i];
            }
            for (int64_t i = 0; i < n; i++)
                to[i] = c->root[i] * (to[i] - c->mean[i] * sum + (c->centre * sum - along));
        }
    }
    return s;
}

/* Of K as it is, given its diagonal and the means. */
static void sum_variance(mcr_centred *c, const double *diagonal)
{
    double before = 0; /* the trace without centring */
    for (int64_t i = 0; i < c->n; i++) {
        double share = c->root[i] * c->root[i];
        before += share * fabs(diagonal[i]);
        c->total += share * (diagonal[i] - 2 * c->mean[i] + c->centre);
    }
    if (!(c->total > 1e-14 * before))
        c->total = 0; /* rounding */
}

static mcr_status make_half(mcr_centred *c, const mcr_learning *in, const char *what)
{
    mcr_gram *gram = NULL;
    mcr_status s = mcr_learning_gram(&gram, in);
    if (!s)
        s = mcr_half_open(&c->half, gram, what);
    if (!s && !(c->buffer = mcr_alloc(c->ctx, (size_t)c->n * MCR_THIN, sizeof *c->buffer)))
        s = MCR_NO_MEMORY;
    for (int64_t i = 0; i < c->n && !s; i++)
        c->buffer[i] = c->root[i] * c->root[i];
    if (!s)
        s = mcr_half_multiply(&c->half, 1, c->buffer, c->mean);
    for (int64_t i = 0; i < c->n && !s; i++)
        c->centre += c->buffer[i] * c->mean[i];
    if (!s)
        s = mcr_gram_diagonal(gram, 0, c->buffer);
    if (!s)
        sum_variance(c, c->buffer);
    c->centred = !s && fabs(c->centre) > too_far * c->total;
    if (c->centred)
        s = mcr_half_centre(&c->half, c->root, c->mean, c->centre);
    mcr_gram_close(gram);
    return s;
}

mcr_status mcr_centred_begin(mcr_centred *c, const char *learner, const mcr_learning *in)
{
    *c = (mcr_centred){.ctx = in->ctx, .n = mcr_data_count(in->data)};
    c->root = mcr_alloc(c->ctx, (size_t)c->n, sizeof *c->root);
    c->mean = mcr_alloc(c->ctx, (size_t)c->n, sizeof *c->mean);
    return c->root && c->mean ? take_shares(c, learner, in->data) : MCR_NO_MEMORY;
}

static mcr_status check_total(const mcr_centred *c, const char *learner, const mcr_kernel *kernel)
{
    return c->total > 0 ? MCR_OK
                        : mcr_fail(c->ctx, MCR_BAD_DATA,
                                   "%s: all objects are the same to the kernel %s: there is no "
                                   "variance",
                                   learner, mcr_kernel_text(kernel));
}

mcr_status mcr_centred_total(mcr_centred *c, const char *learner, const mcr_kernel *kernel,
                             const double *diagonal)
{
    sum_variance(c, diagonal);
    return check_total(c, learner, kernel);
}

static mcr_status open_any(mcr_centred *c, const char *learner, const mcr_learning *in, bool half)
{
    char what[64];
    snprintf(what, sizeof what, "%s: the kernel matrix", learner);
    mcr_status s = mcr_centred_begin(c, learner, in);
    if (!s && half)
        s = make_half(c, in, what);
    else if (!s)
        s = mcr_square_open(&c->k, c->ctx, c->n, what);
    if (!s && !half)
        s = make_matrix(c, in);
    return s ? s : check_total(c, learner, in->kernel);
}

mcr_status mcr_centred_open(mcr_centred *c, const char *learner, const mcr_learning *in)
{
    return open_any(c, learner, in, false);
}

mcr_status mcr_centred_open_half(mcr_centred *c, const char *learner, const mcr_learning *in)
{
    return open_any(c, learner, in, true);
}

void mcr_centred_close(mcr_centred *c)
{
    mcr_square_close(&c->k);
    mcr_half_close(&c->half);
    mcr_free(c->ctx, c->buffer);
    mcr_free(c->ctx, c->root);
    mcr_free(c->ctx, c->mean);
    *c = (mcr_centred){0};
}

double mcr_centred_expand(const mcr_centred *c, double *a)
{
    double sum = 0, offset = 0;
    for (int64_t i = 0; i < c->n; i++)
        sum += a[i] *= c->root[i];
    for (int64_t i = 0; i < c->n; i++) {
        a[i] -= sum * c->root[i] * c->root[i];
        offset -= a[i] * c->mean[i];
    }
    return offset;
}

double mcr_centred_choose_sign(double *u, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        if (fabs(u[i]) > fabs(most) * (1 + 1e-9))
            most = u[i];
    for (int64_t i = 0; i < n && most < 0; i++)
        u[i] = -u[i];
    return most < 0 ? -1 : 1;
}

mcr_status mcr_centred_fitted(mcr_fitted **out, const mcr_centred *c, int64_t outputs,
                              const double *coef, const double *offset)
{
    *out = NULL;
    mcr_fitted *f = NULL;
    int64_t *object = mcr_alloc(c->ctx, (size_t)c->n, sizeof *object);
    int32_t *output = mcr_alloc(c->ctx, (size_t)outputs, sizeof *output);
    mcr_status s = object && output ? mcr_fitted_new(&f, c->ctx, outputs) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < c->n && !s; i++)
        object[i] = i;
    for (int64_t o = 0; o < outputs && !s; o++) {
        output[o] = (int32_t)o;
        f->offset[o] = offset[o];
    }
    if (!s)
        s = mcr_fitted_add(f, object, c->n, output, outputs, coef);
    mcr_free(c->ctx, object);
    mcr_free(c->ctx, output);
    if (s)
        mcr_fitted_free(f);
    else
        *out = f;
    return s;
}
