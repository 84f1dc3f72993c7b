/* posterior.c: what a Gaussian process needs for its variances, as one triangular matrix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "export/portable.h"
#include "gram/gram.h"
#include "learn/gp.h"
#include "linalg/blas.h"

/* K + D, or I + W^1/2 K W^1/2 (root). */
static mcr_status fill(const mcr_portable *p, mcr_square *l, const double *noise,
                       const double *root)
{
    mcr_gram *gram = NULL;
    mcr_status s = mcr_gram_open(&gram, p->ctx, p->kernel, p->data, NULL);
    if (!s)
        s = mcr_gram_matrix_quietly(gram, l->a, l->ld, true);
    for (int64_t i = 0; i < l->n && !s; i++) {
        for (int64_t j = 0; j <= i && root; j++)
            l->a[i * l->ld + j] *= root[i] * root[j];
        l->a[i * l->ld + i] += root ? 1 : noise[i];
    }
    mcr_gram_close(gram);
    return s;
}

mcr_status mcr_portable_posterior(double **out, const mcr_portable *p, int64_t o)
{
    const mcr_fitted *f = p->fitted;
    int64_t n = f->basis;
    const double *noise = NULL, *root = NULL;
    mcr_square l = {0}, inverse = {0};
    *out = NULL;
    mcr_status s = f->classes ? mcr_fitted_need(&root, f, MCR_GP_CURVATURE, f->outputs * n)
                              : mcr_fitted_need(&noise, f, MCR_GP_NOISE, n);
    if (root)
        root += o * n;
    if (!s)
        s = mcr_square_open(&l, p->ctx, n, "export: the kernel matrix of the model");
    if (!s)
        s = mcr_square_open(&inverse, p->ctx, n, "export: its inverse");
    if (!s)
        s = fill(p, &l, noise, root);
    if (!s)
        s = mcr_lapack_cholesky(p->ctx, n, l.a, l.ld, NULL, NULL);
    for (int64_t i = 0; i < n && !s; i++)
        for (int64_t j = 0; j < n; j++)
            inverse.a[i * inverse.ld + j] = i == j ? (root ? root[i] : 1) : 0;
    if (!s)
        s = mcr_blas_triangle_solve(p->ctx, MCR_AS_IS, n, n, l.a, l.ld, inverse.a, inverse.ld);
    double *a = s ? NULL : mcr_alloc(p->ctx, (size_t)(n * (n + 1) / 2) + 1, sizeof *a);
    if (!s && !a)
        s = MCR_NO_MEMORY;
    for (int64_t i = 0, at = 0; i < n && !s; i++)
        for (int64_t j = 0; j <= i; j++)
            a[at++] = inverse.a[i * inverse.ld + j];
    mcr_square_close(&l);
    mcr_square_close(&inverse);
    *out = a;
    return s;
}
