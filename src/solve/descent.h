/* descent.h (internal): the minimum of a smooth function of few variables within limits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_DESCENT_H
#define MCR_SOLVE_DESCENT_H

#include <stdbool.h>
#include <stdint.h>

#include <mercer/context.h>

enum { MCR_DESCENT_LOOK = 5 };

typedef struct mcr_descent {
    int64_t n;
    const double *low, *high; /* limits of the variables */
    double tolerance;         /* largest slope at the end, but for those that a limit stops */
    /* The end is also where the last MCR_DESCENT_LOOK steps have together lowered f by no more than
     * this; 0: never. */
    double gain;
    int64_t most_steps; /* 0: no limit */
    double longest;     /* step; 0: 3, for variables that are logarithms */
    double deadline;    /* of mcr_now(); 0: none */
    const char *phase;  /* for progress, NULL: none */
    /* The inverse of the Hessian, n x n: to begin with unless its first number is 0, and as it is
     * known in the end; NULL: neither. */
    double *inverse;
    /* f(x), INFINITY where it is not defined; and its gradient at the x of the last call. */
    mcr_status (*value)(void *arg, const double *x, double *f);
    mcr_status (*gradient)(void *arg, double *g);
    void *arg;
} mcr_descent;

typedef struct mcr_descent_result {
    mcr_stop stop; /* MCR_STOP_LOCAL: a minimum, or */
    bool flat;     /* the last steps gained too little */
    int64_t steps; /* values computed */
    double f, slope;
    double gained; /* by the last MCR_DESCENT_LOOK steps; NAN: there were fewer */
} mcr_descent_result;

/* From x, where f must be defined, to a local minimum. Quasi-Newton (BFGS) on the variables that no
 * limit stops, with steps projected onto the limits. */
mcr_status mcr_descent_solve(mcr *ctx, const mcr_descent *problem, double *x,
                             mcr_descent_result *result);

#endif
