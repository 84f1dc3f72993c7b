/* posterior.c: the variances of a Gaussian process, as one triangular matrix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "export/portable.h"

#include <string.h>

#include "gram/gram.h"
#include "learn/gp.h"

/* The factor of K + D, or of I + W^1/2 K W^1/2 (root). */
static mcr_status factor(const mcr_portable *p, mcr_system *l, const double *noise,
                         const double *root)
{
    mcr_gram *gram = NULL;
    mcr_status s = mcr_gram_open(&gram, p->ctx, p->kernel, p->data, NULL);
    if (!s)
        s = mcr_gram_fill_system(gram, l, root, false);
    mcr_gram_close(gram);
    return s ? s : mcr_system_factor(l, 1, root ? NULL : noise, NULL);
}

/* A sparse process stores it. */
static mcr_status copy_posterior(double **out, const mcr_portable *p)
{
    int64_t n = p->fitted->basis, count = n * (n + 1) / 2;
    const double *kept;
    mcr_status s = mcr_fitted_need(&kept, p->fitted, MCR_GP_POSTERIOR, count);
    if (!s && !(*out = mcr_alloc(p->ctx, (size_t)count + 1, sizeof **out)))
        s = MCR_NO_MEMORY;
    if (!s)
        memcpy(*out, kept, sizeof *kept * (size_t)count);
    return s;
}

mcr_status mcr_portable_posterior(double **out, const mcr_portable *p, int64_t o)
{
    const mcr_fitted *f = p->fitted;
    int64_t n = f->basis, sparse;
    const double *noise = NULL, *root = NULL;
    mcr_system l = {0};
    size_t bytes = (size_t)n * (size_t)n * sizeof(double);
    double *inverse = NULL, *a = NULL;
    *out = NULL;
    if (mcr_fitted_find(f, MCR_GP_SPARSE, &sparse))
        return copy_posterior(out, p);
    if (mcr_fitted_find(f, MCR_GP_LARGE, &sparse))
        return mcr_fail(p->ctx, MCR_BAD_CALL,
                        "export: a gp of so many objects that it was solved without its kernel "
                        "matrix is not exported: train it with approx=sgpr");
    mcr_status s = f->classes ? mcr_fitted_need(&root, f, MCR_GP_CURVATURE, f->outputs * n)
                              : mcr_fitted_need(&noise, f, MCR_GP_NOISE, n);
    if (root)
        root += o * n;
    if (!s)
        s = mcr_system_open(&l, p->ctx, n, "export: the kernel matrix of the model");
    if (!s)
        s = mcr_budget_take(p->ctx, bytes, "export: its inverse");
    bytes = s ? 0 : bytes;
    if (!s && !(inverse = mcr_alloc_zero(p->ctx, (size_t)n, (size_t)n * sizeof *inverse)))
        s = MCR_NO_MEMORY;
    if (!s)
        s = factor(p, &l, noise, root);
    for (int64_t i = 0; i < n && !s; i++)
        inverse[i * n + i] = root ? root[i] : 1;
    if (!s)
        s = mcr_system_solve_lower(&l, n, inverse, n);
    if (!s && !(a = mcr_alloc(p->ctx, (uint64_t)(n * (n + 1) / 2) + 1, sizeof *a)))
        s = MCR_NO_MEMORY;
    for (int64_t i = 0, at = 0; i < n && !s; i++)
        for (int64_t j = 0; j <= i; j++)
            a[at++] = inverse[i * n + j];
    mcr_free(p->ctx, inverse);
    mcr_budget_give(p->ctx, bytes);
    mcr_system_close(&l);
    *out = a;
    return s;
}
