/* rules.h: what every kernel must satisfy, whatever it computes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONFORM_RULES_H
#define CONFORM_RULES_H

#include "zoo.h"

/* Tests one expression on one breed: symmetry, blocks, float, diagonal, positive semidefinite
 * (unless it says that it is not), unseen objects, products and passes, explicit features, text.
 * false: *why says which rule is broken, and where. The context needs no more than the trial's
 * kernel. */
enum { RULES_WHY = 512 };
bool rules_hold(mcr *ctx, const zoo_trial *trial, char why[RULES_WHY]);

/* The matrix of an expression on some data, n x n, from calloc. */
double *rules_matrix(mcr *ctx, const char *text, const mcr_data *x, const mcr_data *z);
/* |a - b| <= tolerance * scale for all values of an m x n block (leading dimensions lda, n), where
 * scale is what rounding of K(x,z) is measured by: sqrt(K(x,x) K(z,z)), |K(x,z)|, and a thousandth
 * of the largest. dx, dz: the diagonals. -1: fine, else i * n + j of the worst. */
int64_t rules_differ(const double *a, int64_t lda, const double *b, int64_t m, int64_t n,
                     const double *dx, const double *dz, double tolerance);

/* Named tolerances: a few hundred units in the last place, for sums of up to 300 terms and
 * functions of them. */
#define RULES_DOUBLE 1e-12
#define RULES_FLOAT  2e-5

#endif
