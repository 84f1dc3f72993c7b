/* squares.h (internal): least squares with a penalty, on a Gram.
 *
 *   min sum_i w_i (y_i - f_i)^2 + lambda a'K a,   f = K a
 *
 * has the solution (K + lambda W^-1) a = y. It is solved in the symmetric form
 *
 *   (W^1/2 K W^1/2 + lambda) x = W^1/2 y,   a = W^1/2 x,
 *
 * which also allows weights of 0. Several targets are columns of y, a and x.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_SQUARES_H
#define MCR_SOLVE_SQUARES_H

#include "gram/gram.h"

typedef struct mcr_squares {
    mcr *ctx;
    mcr_gram *gram;
    int64_t n, outputs;
    const double *y, *weight; /* n x outputs; n, of the objects */
    double tol;               /* largest residual, relative to the targets */
    /* K approximately, by its factor, in the memory: then the system is solved by conjugate
     * gradients with this preconditioner, without the matrix. NULL: by a factorisation. */
    mcr_gram *near;
    const char *phase; /* under which that reports; NULL: "ridge" */
    /* Of an output, with `near`: products that may be tried before a factor; 0: there is none. */
    int64_t most;

    /* The solution, and how good it is. */
    double lambda;
    double *x, *f;   /* n x outputs; f = K a */
    double share;    /* of the error of f, where that is in extended precision; NAN: it is not */
    double residual; /* the largest of all columns, relative to the targets */
    double gradient; /* relative to that at 0; INFINITY: not needed */
    double jitter;   /* added to the diagonal for the factor alone, where that was singular */
    int64_t steps;   /* solutions by a factor, or products of conjugate gradients */
    bool lost;       /* products were tried, and were too many */

    /* For leave-one-out errors: the diagonal of (W^1/2 K W^1/2 + lambda)^-1. */
    double *inverse;

    /* Private. */
    mcr_system m;         /* W^1/2 K W^1/2 above the diagonal, the factor below */
    double *value, *turn; /* after mcr_squares_eigen: eigenvalues; eigenvectors times b */
    float *quick;         /* or the factor in float, rows quick_ld apart; NULL: not */
    float *part;          /* n x outputs, for solutions in float */
    int64_t quick_ld;
    double *diagonal;     /* of W^1/2 K W^1/2 */
    double *root;         /* of the weights */
    double *b;            /* n x outputs: right-hand sides */
    double *rest;         /* n x outputs: what is left of b */
    double *slope, *unit; /* 2 n x outputs, n x outputs: where K + lambda is singular, the
                             gradient, and that at 0 */
} mcr_squares;

/* Sparse features: up to so many make a matrix. */
enum { MCR_SQUARES_DIRECT = 4096 };

/* The arrays are borrowed. Close it also after a failure. */
mcr_status mcr_squares_open(mcr_squares *q, mcr_gram *gram, const double *y, const double *weight,
                            int64_t outputs, double tol);
void mcr_squares_close(mcr_squares *q);

/* x for one lambda. exactly: by a factor in double, which mcr_squares_invert needs. */
mcr_status mcr_squares_solve(mcr_squares *q, double lambda, bool exactly);
/* After it: `inverse`, and x of the system whose factor there is, the jitter included. */
mcr_status mcr_squares_invert(mcr_squares *q);

/* W^1/2 K W^1/2 into q->m, which the parts of this solver begin with. report: progress. */
mcr_status mcr_squares_fill(mcr_squares *q, bool report);

/* Whether the certificate is the residual; else it is the gradient. */
bool mcr_squares_is_solved(const mcr_squares *q);
typedef struct mcr_squares_known {
    double objective, objective_error; /* and what rounding may change in it */
    double value_error;                /* in the certificate */
} mcr_squares_known;
/* The certificate as well as it can be had: where double leaves it in doubt, f, residual and
 * gradient are computed once more in extended precision. a (n x outputs) is filled. */
mcr_status mcr_squares_certify(mcr_squares *q, double *a, mcr_squares_known *known);
/* Part of it: bounds on the rounding of f = K a (n x outputs), and of the certificate. */
mcr_status mcr_squares_find_errors(mcr_squares *q, const double *a, double *error, double *value);
/* The largest ratio of the norms of columns: targets may have any scales. */
double mcr_squares_worst(const mcr_squares *q, const double *v, const double *unit);
/* The share for mcr_gram_product_error, of products in double. */
mcr_status mcr_squares_share(const mcr_squares *q, double *share);

/* ---- by products: where the kernel matrix does not fit the memory (squares_large.c) -----------*/

bool mcr_squares_is_large(const mcr_squares *q, double lambda);
/* For `most`, where products are likely to take less time than a factor; else 0. */
int64_t mcr_squares_products(const mcr_squares *q, double lambda);
/* Landmarks for `near`: their matrix takes about as long as a few products. */
int64_t mcr_squares_rank(const mcr_squares *q);
mcr_status mcr_squares_conjugate(mcr_squares *q);

/* ---- many lambdas, and held-out objects (squares_path.c) --------------------------------------*/

/* Eigenvalues and eigenvectors of W^1/2 K W^1/2, which serve any lambda. */
mcr_status mcr_squares_eigen(mcr_squares *q);
/* The same of q->m as it is filled: row e of it becomes the eigenvector of value[e]. */
mcr_status mcr_squares_decompose(mcr_squares *q);
/* x and `inverse` for a lambda; *exists: there is a solution. */
mcr_status mcr_squares_at(mcr_squares *q, double lambda, bool *exists);

/* ---- held-out objects (squares_folds.c) -------------------------------------------------------*/

/* With B = (W^1/2 K W^1/2 + lambda)^-1 of all objects and x = B b, training on the complement of a
 * fold S and predicting S leaves the residuals e_S = (B_SS)^-1 x_S: leaving out one object is the
 * fold of one. So cross-validation costs one factor and one inverse per lambda, whatever the number
 * of folds. With many lambdas one eigendecomposition serves them all, or a few inverses do. */
typedef struct mcr_squares_folds {
    mcr_squares *q; /* all weights above 0 */
    double trace;   /* of W^1/2 K W^1/2 */
    int64_t folds;
    /* Private: the factor below the diagonal, its inverse above; with eigenvectors, those times
     * (value + lambda)^-1/2; objects by fold; the place of each fold's first; B_SS, x_S. */
    bool eigen;
    mcr_system t;
    int64_t *order, *first;
    double *block, *e;
} mcr_squares_folds;

/* fold: of each object, below `folds`. Computes the kernel matrix. Close it also after a
 * failure. */
mcr_status mcr_squares_folds_open(mcr_squares_folds *h, mcr_squares *q, const int32_t *fold,
                                  int64_t folds);
void mcr_squares_folds_close(mcr_squares_folds *h);
/* For each lambda, above 0: f[t] (n x outputs) of each object by a training without
 * its fold; exists[t]: false: there is none, or it was not found. To be called once. */
mcr_status mcr_squares_folds_path(mcr_squares_folds *h, const double *lambda, int64_t count,
                                  double *const *f, bool *exists);

/* The same for lambdas that are not far from each other, from one inverse, with K positive
 * semidefinite (squares_shifts.c). MCR_NUMERIC: it is not; MCR_OVER_BUDGET: the blocks of folds and
 * some columns do not fit the memory; MCR_STOPPED. */
mcr_status mcr_squares_shifts(mcr_squares_folds *h, const double *lambda, int64_t count,
                              double *const *f, bool *exists);
/* How many steps that takes at most, apart from rounding; range: the largest lambda over the
 * smallest. */
double mcr_squares_shift_steps(double range);

#endif
