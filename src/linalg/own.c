/* own.c: products, triangular systems and Cholesky factorisation without a BLAS library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/own.h"

#include <math.h>
#include <stdint.h>

#include "base/rows.h"

/* Arguments that have only one value in Mercer are not looked at. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Sizes of the inner kernel's tile, of the blocks of a product and their depth, and of the diagonal
 * blocks of triangles. */
enum { ROWS = 8, COLS = 4, BLOCK = 64, DEPTH = 128, SQUARE = 32 };

#define REAL     double
#define FN(name) d##name
#include "linalg/own_impl.h"

#define REAL     float
#define FN(name) s##name
#include "linalg/own_impl.h"

static void dgemv(const char *op, const int *pm, const int *pn, const double *alpha,
                  const double *a, const int *lda, const double *x, const int *xs,
                  const double *beta, double *y, const int *ys, size_t length)
{
    int64_t m = *pm, n = *pn, ld = *lda;
    int turned = *op == 'T';
    for (int64_t i = 0; i < (turned ? n : m); i++)
        y[i * *ys] = *beta == 0 ? 0 : *beta * y[i * *ys];
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t i = 0; i < m && turned; i++)
            sum += a[j * ld + i] * x[i * *xs];
        for (int64_t i = 0; i < m && !turned; i++)
            y[i * *ys] += *alpha * a[j * ld + i] * x[j * *xs];
        if (turned)
            y[j * *ys] += *alpha * sum;
    }
}

void mcr_own_routines(mcr_fortran *f)
{
    *f = (mcr_fortran){
        .dgemm = dgemm,
        .dsyrk = dsyrk,
        .dgemv = dgemv,
        .dtrsm = dtrsm,
        .dtrsv = dtrsv,
        .dpotrf = dpotrf,
        .dsyevd = mcr_own_dsyevd,
        .dsyevr = mcr_own_dsyevr,
        .sgemm = sgemm,
        .ssyrk = ssyrk,
        .strsm = strsm,
        .strsv = strsv,
        .spotrf = spotrf,
    };
}
