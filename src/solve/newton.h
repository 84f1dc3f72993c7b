/* newton.h (internal): smooth convex losses of f = G a with a penalty on |w|.
 *
 *   min  sum_i loss_i(f_i) + mu / 2 sum_c a_c' G a_c,   f = G a,   a and f n x columns
 *
 * At the optimum mu a = -gradient of the loss. For any a, with rest = mu a + gradient, the duality
 * gap is rest' G rest / (2 mu): the gradient is a point of the dual problem, and Fenchel's
 * inequality is an equality there.
 *
 * If the Gram has a factor, G = D D^T, steps are computed by products with D.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_NEWTON_H
#define MCR_SOLVE_NEWTON_H

#include "gram/gram.h"

/* With a factor, steps are solved for directly up to so many numbers (columns of it times those of
 * a). */
enum { MCR_SMOOTH_DIRECT = 2000 };

typedef struct mcr_smooth {
    int64_t columns;
    double mu; /* > 0 */
    /* Of `count` objects from `first` on, where the arrays begin (count x columns): the loss at f,
     * and its gradient. */
    double (*loss)(const void *self, int64_t first, int64_t count, const double *f,
                   double *gradient);
    /* hv = (generalised) Hessian of their loss at f, times v; not in place. */
    void (*curve)(const void *self, int64_t first, int64_t count, const double *f, const double *v,
                  double *hv);
    const void *self;
    /* Of a loss of weight 1 a bound on the second derivative, and the weights (NULL: all 1): for
     * bounds on rounding, of solvers and of certificates. */
    double bend;
    const double *weight;
    bool quadratic;     /* the Hessian is the same everywhere (used by falkon.h) */
    bool balanced;      /* every row of an object's Hessian sums to 0, as that of softmax does */
    double identity;    /* largest |mu a + gradient| that is optimal */
    double gap;         /* largest gap that is optimal, as a share of the objective */
    int64_t most_steps; /* of Newton's method; 0: no limit */
    double seconds;     /* 0: no limit */
    const char *phase;  /* for progress and messages */
} mcr_smooth;

typedef struct mcr_smooth_result {
    mcr_stop stop;
    int64_t steps, products; /* of Newton; of G with n x columns numbers */
    /* From scratch, at the end. */
    double objective, rest, gap; /* rest: largest |mu a + gradient| */
} mcr_smooth_result;

/* a: the start, then the solution; f: G a at the end, from scratch. All of G is stored if it fits
 * into the budget. Deterministic for any number of threads. */
mcr_status mcr_smooth_solve(mcr_gram *gram, const mcr_smooth *problem, double *a, double *f,
                            mcr_smooth_result *result);

#endif
