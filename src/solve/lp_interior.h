/* lp_interior.h (internal): linear programs with few dense rows and bounded columns.
 *
 *   min cost'x,  lower <= A x <= upper,  low <= x <= high
 *
 * By a primal-dual interior point method. Rows are added as they are needed, for programs with too
 * many rows to include all of them. All bounds are finite.
 *
 * All of its memory counts as part of the budget. A row that does not fit is refused with the size
 * of the program that it would make; the program is then of no further use but to be closed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_LP_INTERIOR_H
#define MCR_SOLVE_LP_INTERIOR_H

#include "base/context.h"

typedef struct mcr_interior mcr_interior;

typedef struct mcr_interior_result {
    const double *x;    /* one value per column */
    const double *dual; /* one per row: cost - A'dual is the slope of x */
    double gap;         /* relative; what the rows are violated by, too */
    int64_t steps;
} mcr_interior_result;

/* The budget that a program of so many rows may take with one worker, at most. */
double mcr_interior_bytes(int64_t columns, int64_t rows);
/* A program without rows. */
mcr_status mcr_interior_open(mcr_interior **out, mcr *ctx, int64_t columns, const double *cost,
                             const double *low, const double *high);
void mcr_interior_close(mcr_interior *lp); /* NULL allowed */
/* A row with one value for each column; lower == upper: an equation. */
mcr_status mcr_interior_add(mcr_interior *lp, double lower, double upper, const double *value);
/* Solves to this relative gap, or as far as rounding or the deadline (of mcr_now(); 0: none) allow.
 * The result is borrowed until the next call. The same bits for any number of threads. */
mcr_status mcr_interior_solve(mcr_interior *lp, double gap, double deadline,
                              mcr_interior_result *result);

#endif
