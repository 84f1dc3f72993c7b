/* leading.h (internal): the largest eigenvalues of a symmetric matrix, with their vectors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_LEADING_H
#define MCR_SOLVE_LEADING_H

#include <stdbool.h>
#include <stdint.h>

#include "gram/gram.h"

typedef struct mcr_leading {
    int64_t n, count; /* eigenpairs wanted, 1 to n */
    double *a;        /* n x n, symmetric, both triangles; the same values on return */
    int64_t lda;
    /* Instead of a: av = v A for `rows` rows v of n, A symmetric. */
    mcr_status (*multiply)(void *arg, int64_t rows, const double *v, double *av);
    void *arg;
    double tolerance;   /* |A v - value v| at most, over the largest |value| */
    int64_t most_steps; /* 0: no limit */
    double deadline;    /* of mcr_now(); 0: none */
    const char *phase;  /* for progress, NULL: none */
} mcr_leading;

typedef struct mcr_leading_result {
    mcr_stop stop;
    int64_t steps;   /* products with A; 1: by LAPACK, all at once */
    double residual; /* the largest |A v - value v| over the largest |value|, from A as it is */
} mcr_leading_result;

/* value: count numbers, largest first; vector: count x n, a unit vector a row, orthogonal. Where
 * few of many are wanted, by a block Krylov method that needs space for some n x count; else by
 * LAPACK. The same bits for any number of threads. */
mcr_status mcr_leading_solve(mcr *ctx, const mcr_leading *problem, double *value, double *vector,
                             mcr_leading_result *result);
/* The same of a Gram: n, a and multiply of the problem are not used. If the Gram has a factor, K =
 * D D', with no more columns than objects, D'D is used. With u an eigenvector of K, that of D'D is
 * D'u / sqrt(value); these go to w (width x count; NULL: not wanted). Products with a Gram that is
 * not kept compute it each time. */
mcr_status mcr_leading_gram(mcr_gram *gram, const mcr_leading *problem, double *value,
                            double *vector, double *w, mcr_leading_result *result);
/* Bytes of space that it takes, beside its matrix. */
double mcr_leading_gram_bytes(const mcr_gram *gram, int64_t count);
/* Whether LAPACK is used, which needs the matrix; else only products with it are used. */
bool mcr_leading_by_lapack(int64_t n, int64_t count);
/* Bytes of space that the call takes, beside the matrix if there is one (LAPACK makes one if
 * not). */
double mcr_leading_bytes(int64_t n, int64_t count, bool matrix);

/* The sign of an eigenvector is arbitrary: its largest entry is made positive; returns the factor,
 * 1 or -1. */
double mcr_leading_choose_sign(double *u, int64_t n);

#endif
