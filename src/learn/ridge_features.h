/* ridge_features.h (internal): ridge regression from features.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_RIDGE_FEATURES_H
#define MCR_LEARN_RIDGE_FEATURES_H

#include "learn/goal.h"
#include "learn/form.h"
#include "solve/newton.h"

typedef struct mcr_ridge_result {
    double *a, *f, *w; /* to fill: n x outputs, n x outputs, p x outputs; f = D w, w = D'a */
    double residual;   /* as on the dual form */
    int64_t steps;
} mcr_ridge_result;

/* Sparse features: up to so many make a matrix. */
enum { MCR_RIDGE_DIRECT = 4096 };

/* lambda > 0. */
mcr_status mcr_ridge_features(const mcr_goal *goal, mcr_gram *gram, double lambda, double tol,
                              mcr_ridge_result *result);

/* The squared loss with lambda |w|^2, for solvers of smooth losses, to a gap of tol; the goal must
 * outlive it. */
mcr_smooth mcr_ridge_squared(const mcr_goal *goal, double lambda, double tol);

#endif
