/* centred.h (internal): the covariance of the objects in feature space, as an n x n matrix.
 *
 * With shares p_i = w_i / sum of w (1/n where there are no weights) the mean is m = sum p_i
 * Phi(x_i). The matrix
 *
 *   A_ij = sqrt(p_i p_j) (K_ij - m_i - m_j + t),   m_i = sum_j p_j K_ij,   t = sum_i p_i m_i
 *
 * has the eigenvalues of the covariance sum p_i (Phi(x_i) - m)(Phi(x_i) - m)'; its trace is the
 * whole variance. A direction in feature space is v = sum_i a_i sqrt(p_i) (Phi(x_i) - m): then v'v
 * = a'Aa, and the variance along it is a'A^2 a.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_CENTRED_H
#define MCR_LEARN_CENTRED_H

#include "gram/half.h"
#include "learn/learner.h"
#include "linalg/lapack.h"
#include "solve/leading.h"

typedef struct mcr_centred {
    mcr *ctx;
    int64_t n;
    mcr_square k;  /* A, both triangles, the same bits; or it is: */
    mcr_half half; /* K, or A if that is `centred` */
    bool centred;
    double *buffer;       /* with half: MCR_THIN x n */
    double *root, *mean;  /* sqrt(p_i), m_i */
    double centre, total; /* t; trace of A */
} mcr_centred;

/* Computes A of the objects to learn from. Fails, in the name of the learner, where there are no
 * objects or no weights, where A does not fit into the memory budget, and where it is all 0. */
mcr_status mcr_centred_open(mcr_centred *centred, const char *learner, const mcr_learning *in);
/* The same in half the memory, for those who only multiply by A. */
mcr_status mcr_centred_open_half(mcr_centred *centred, const char *learner, const mcr_learning *in);
/* av = v A for rows of n, after that; arg is the mcr_centred. */
mcr_status mcr_centred_multiply(void *arg, int64_t rows, const double *v, double *av);
void mcr_centred_close(mcr_centred *centred); /* also after a failure of open */

/* The shares alone, with space for the means: what both ways to the covariance begin with. */
mcr_status mcr_centred_begin(mcr_centred *centred, const char *learner, const mcr_learning *in);
/* The whole variance, given K(x_i,x_i) and the means; fails where it is 0 but for rounding. */
mcr_status mcr_centred_total(mcr_centred *centred, const char *learner, const mcr_kernel *kernel,
                             const double *diagonal);

/* a_i of a direction becomes the coefficients c_i of v = sum_i c_i Phi(x_i), in place; gives the
 * offset of its coordinate v.(Phi(x) - m) = offset + sum_i c_i K(x_i, x). What rounding leaves of
 * the part along the mean is taken out. */
double mcr_centred_expand(const mcr_centred *centred, double *a);

/* An eigenvector's sign is nobody's: its largest entry is made positive; gives the factor, 1 or
 * -1. */
double mcr_centred_choose_sign(double *u, int64_t n);

/* A fitted with one output for each of `outputs` directions (rows of n coefficients). */
mcr_status mcr_centred_fitted(mcr_fitted **out, const mcr_centred *centred, int64_t outputs,
                              const double *coef, const double *offset);

#endif
