/* smo.h (internal): the quadratic programs of support vector machines.
 *
 *   min  1/2 b'Kb - z'b + epsilon |b|_1    lo <= b <= hi,  the sum of b over each group kept
 *
 * with one signed coefficient b_i per object, f(x) = sum b_i K(x_i, x) + bias. Classification has z
 * = y, b_i between 0 and y_i C_i; regression z = targets, |b_i| <= C_i and epsilon > 0; the nu
 * variants have two groups, whose sums the start fixes; without a bias there is no equality.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_SMO_H
#define MCR_SOLVE_SMO_H

#include <stdbool.h>

#include "gram/gram.h"

typedef struct mcr_qp {
    int64_t n;
    const double *z, *lo, *hi;
    double epsilon;
    bool no_sum;                /* no equality constraint */
    const unsigned char *group; /* 0 or 1 per object; NULL: all in one group */
    double tolerance;           /* largest violation of the optimality conditions */
    int64_t most_steps;         /* 0: no limit */
    double seconds;             /* 0: no limit */
    size_t cache_bytes;         /* 0: the default, 256 MB */
    bool rather_whole;          /* more objects may be one working set: other problems use the other
                                 * workers, or no coefficient of the start is 0 */
    bool rough;                 /* of a stored Gram: verified against its floats, no more exact */
    struct mcr_row_pool
        *pool; /* memory for rows (smo_rows.h) that others used before; NULL: none */
    struct mcr_row_pool *blocks; /* memory for blocks of a stored K, likewise */
    const double *from; /* of a Gram of floats: K from is in g at the beginning; NULL: not */
    const char *phase;  /* for progress reports; NULL: none are made */
    const char *part; /* of a checkpoint (base/resume.h): what keeps this problem; NULL: nothing */
} mcr_qp;

typedef struct mcr_qp_result {
    mcr_stop stop;
    int64_t steps, rounds, rows; /* steps of two coefficients, working sets, kernel rows computed */
    /* From scratch, at the end: fresh kernel rows, sums in double. */
    double violation;
    double low[2],
        high[2]; /* of each group: lowest slope up, highest slope down: -bias is between */
    /* Bounds on the rounding error in double: of b'Kb, and of the violation. */
    double square_error, violation_error;
    double size, largest; /* sum of |b| sqrt(K(x,x)), largest K(x,x) */
} mcr_qp_result;

/* The result as a part of the state of a checkpoint (base/resume.h). */
struct mcr_walk;
void mcr_qp_walk_result(mcr_qp_result *result, struct mcr_walk *w);

/* b: a feasible start (warm starts are welcome), then the solution; g (n values): K b at the end,
 * from scratch. The result is deterministic for any number of threads. A limit that is reached is
 * an outcome, not an error: b is feasible in any case. Of a Gram that is floats and nothing else
 * (mcr_gram_is_float) the problem is one of many that are only compared: also solved to the
 * tolerance, but it stops as stuck if floats are not precise enough; MCR_NUMERIC if K b is not
 * finite. */
mcr_status mcr_qp_solve(mcr_gram *gram, const mcr_qp *problem, double *b, double *g,
                        mcr_qp_result *result);

/* Whether this many objects of a Gram are one working set whose rows of K are computed when they
 * are used. */
bool mcr_qp_makes_rows(const mcr_gram *gram, int64_t n, bool rather_whole);

#endif
