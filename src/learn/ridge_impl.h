/* ridge_impl.h: what the files of ridge share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_RIDGE_IMPL_H
#define MCR_LEARN_RIDGE_IMPL_H

#include "base/params.h"
#include "learn/goal.h"
#include "learn/form.h"
#include "linalg/system.h"

typedef struct mcr_ridge_params {
    char *lambda, *class_weight;
    double tol;
    int task, loo;
    mcr_form_options form;
} mcr_ridge_params;

typedef struct mcr_ridge {
    mcr *ctx;
    const mcr_ridge_params *options;
    mcr_goal goal;
    mcr_gram *gram;
    mcr_system m; /* W^1/2 G W^1/2 above the diagonal, the factor below */
    float *quick; /* or the factor in float, rows quick_ld apart; NULL: not */
    float *part;  /* n x outputs, for solutions in float */
    int64_t quick_ld;
    double *diagonal; /* of W^1/2 G W^1/2 */
    double *root;     /* of the weights */
    double *b, *x;    /* n x outputs: right-hand sides, solutions */
    double *f;        /* n x outputs: G a */
    double *rest;     /* n x outputs: what is left of b */
    double *inverse;  /* n: diagonal of the inverse, if asked for */
    double *slope;    /* 2 n x outputs: where G + lambda is singular, its gradient */
    double *unit;     /* n x outputs: that at 0 */
    double lambda, jitter, residual;
    double gradient; /* relative to that at 0; INFINITY: not needed */
    int64_t corrections;
    int64_t products, landmarks; /* of conjugate gradients; 0: not used */
} mcr_ridge;

/* ridge_large.c */

/* Whether neither form of the kernel matrix fits the memory, and the kernel is one. */
bool mcr_ridge_is_large(const mcr_ridge *r);
/* x for one lambda, without the kernel matrix. */
mcr_status mcr_ridge_conjugate(mcr_ridge *r, const mcr_learning *in);

/* ridge_folds.c: of mcr_learner_type. */
mcr_status mcr_ridge_folds(mcr_folds *plan);

/* ridge_path.c */

/* What predictions of objects by the others cost: mean square error (also over targets), or share
 * of wrong classes, by weight. x is n x outputs, inverse the diagonal of (W^1/2 G W^1/2 +
 * lambda)^-1. */
double mcr_ridge_left_out(const mcr_goal *g, const double *root, const double *x,
                          const double *inverse);
/* The decision values behind it, n x outputs; not kept where a weight is 0. */
mcr_status mcr_ridge_keep_left_out(mcr_fitted *f, const mcr_ridge *r);
/* Picks lambda from the eigenvalues and eigenvectors of W^1/2 G W^1/2, which take the place of
 * it. */
mcr_status mcr_ridge_pick_lambda(mcr_ridge *r, const mcr_reals *lambda, double *error);
/* What was found on the way to lambda, for the report and for plots. */
mcr_status mcr_ridge_keep_path(mcr_fitted *f, const mcr_reals *lambda, const double *error,
                               const mcr_ridge *r);

#endif
