/* covariance.c: the covariance of the objects from their features.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/covariance.h"

/* Sparse features: up to so many make a matrix. */
enum { DIRECT = 2048 };

mcr_status mcr_covariance_open(mcr_covariance *x, const char *learner, const mcr_learning *in,
                               mcr_gram *gram)
{
    *x = (mcr_covariance){.ctx = in->ctx, .d = gram, .p = mcr_gram_width(gram)};
    mcr_gram_factor_phase(gram, learner);
    mcr_status s = mcr_centred_begin(&x->c, learner, in);
    if (s)
        return s;
    x->m = mcr_alloc(x->ctx, (size_t)x->p, sizeof *x->m);
    x->share = mcr_alloc(x->ctx, (size_t)x->c.n, sizeof *x->share);
    double *square = mcr_alloc(x->ctx, (size_t)x->c.n, sizeof *square);
    s = x->m && x->share && square ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < x->c.n && !s; i++)
        x->share[i] = x->c.root[i] * x->c.root[i];
    if (!s)
        s = mcr_gram_project(x->d, mcr_gram_all(x->d), x->share, 1, x->m);
    if (!s)
        s = mcr_gram_expand(x->d, mcr_gram_all(x->d), x->m, 1, x->c.mean);
    for (int64_t k = 0; k < x->p && !s; k++)
        x->c.centre += x->m[k] * x->m[k];
    if (!s)
        s = mcr_gram_diagonal(x->d, 0, square);
    if (!s)
        s = mcr_centred_total(&x->c, learner, in->kernel, square);
    mcr_free(x->ctx, square);
    return s;
}

void mcr_covariance_close(mcr_covariance *x)
{
    if (!x->ctx)
        return;
    mcr_free(x->ctx, x->m);
    mcr_free(x->ctx, x->share);
    mcr_centred_close(&x->c);
    *x = (mcr_covariance){0};
}

/* ---- products ---------------------------------------------------------------------------------*/

mcr_status mcr_covariance_multiply(const mcr_covariance *x, const double *v, int64_t cols,
                                   double *y)
{
    double *along = mcr_alloc_zero(x->ctx, (size_t)cols, sizeof *along);
    mcr_status s = along ? mcr_gram_expand(x->d, mcr_gram_all(x->d), v, cols, y) : MCR_NO_MEMORY;
    for (int64_t k = 0; k < x->p && !s; k++)
        for (int64_t c = 0; c < cols; c++)
            along[c] += x->m[k] * v[k * cols + c];
    for (int64_t i = 0; i < x->c.n && !s; i++)
        for (int64_t c = 0; c < cols; c++)
            y[i * cols + c] = x->c.root[i] * (y[i * cols + c] - along[c]);
    mcr_free(x->ctx, along);
    return s;
}

mcr_status mcr_covariance_project(const mcr_covariance *x, const double *a, int64_t cols, double *u)
{
    int64_t n = x->c.n;
    double *scaled = mcr_alloc(x->ctx, (size_t)n, (size_t)cols * sizeof *scaled);
    double *sum = mcr_alloc_zero(x->ctx, (size_t)cols, sizeof *sum);
    mcr_status s = scaled && sum ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < n && !s; i++)
        for (int64_t c = 0; c < cols; c++)
            sum[c] += scaled[i * cols + c] = x->c.root[i] * a[i * cols + c];
    if (!s)
        s = mcr_gram_project(x->d, mcr_gram_all(x->d), scaled, cols, u);
    for (int64_t k = 0; k < x->p && !s; k++)
        for (int64_t c = 0; c < cols; c++)
            u[k * cols + c] -= x->m[k] * sum[c];
    mcr_free(x->ctx, scaled);
    mcr_free(x->ctx, sum);
    return s;
}

mcr_status mcr_covariance_matrix(const mcr_covariance *x, double *c, int64_t ld)
{
    mcr_status s = mcr_gram_weighted(x->d, mcr_gram_all(x->d), x->share, c, ld);
    for (int64_t k = 0; k < x->p && !s; k++)
        for (int64_t l = 0; l <= k; l++)
            c[l * ld + k] = c[k * ld + l] -= x->m[k] * x->m[l];
    return s;
}

bool mcr_covariance_is_direct(const mcr_covariance *x)
{
    return x->p <= x->c.n && (!mcr_gram_sparse(x->d) || x->p <= DIRECT);
}

/* The rows of v as columns. */
static void turn(const double *v, int64_t rows, int64_t cols, double *to)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            to[c * rows + r] = v[r * cols + c];
}

static mcr_status times(const mcr_covariance *x, int64_t rows, const double *v, double *av,
                        bool wide)
{
    int64_t n = x->c.n, p = x->p, from = wide ? p : n, to = wide ? n : p;
    double *a = mcr_alloc(x->ctx, (size_t)from, (size_t)rows * sizeof *a);
    double *b = mcr_alloc(x->ctx, (size_t)to, (size_t)rows * sizeof *b);
    mcr_status s = a && b ? MCR_OK : MCR_NO_MEMORY;
    if (!s) {
        turn(v, rows, from, a);
        s = wide ? mcr_covariance_multiply(x, a, rows, b) : mcr_covariance_project(x, a, rows, b);
    }
    if (!s)
        s = wide ? mcr_covariance_project(x, b, rows, a) : mcr_covariance_multiply(x, b, rows, a);
    if (!s)
        turn(a, from, rows, av);
    mcr_free(x->ctx, a);
    mcr_free(x->ctx, b);
    return s;
}

mcr_status mcr_covariance_times_a(void *arg, int64_t rows, const double *v, double *av)
{
    return times(arg, rows, v, av, false);
}

mcr_status mcr_covariance_times_c(void *arg, int64_t rows, const double *v, double *cv)
{
    return times(arg, rows, v, cv, true);
}

/* ---- the result -------------------------------------------------------------------------------*/

mcr_status mcr_covariance_fitted(mcr_fitted **out, const mcr_covariance *x, const mcr_form *form,
                                 const double *w, int64_t outputs)
{
    mcr_fitted *f = NULL;
    mcr_status s = mcr_fitted_new(&f, x->ctx, outputs);
    if (!s)
        s = mcr_form_add(form, f, w, outputs);
    for (int64_t k = 0; k < x->p && !s; k++)
        for (int64_t o = 0; o < outputs; o++)
            f->offset[o] -= x->m[k] * w[k * outputs + o];
    if (s) {
        mcr_fitted_free(f);
        f = NULL;
    }
    *out = f;
    return s;
}
