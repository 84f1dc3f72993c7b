/* lp.h (internal): linear programs, by CLP where it is installed.
 *
 *   min cost'x,  lower <= A x <= upper,  low <= x <= high
 *
 * Rows are added one by one, and each solve starts from the last solution, by the dual simplex
 * method: for programs with too many rows to include all of them. CLP (coinor-libclp1) is loaded
 * when the first program is opened, so that nothing else depends on it; without it mcr_lp_open says
 * what to install.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_LP_H
#define MCR_SOLVE_LP_H

#include "base/context.h"

typedef struct mcr_lp mcr_lp;

/* A program without rows. */
mcr_status mcr_lp_open(mcr_lp **out, mcr *ctx, int64_t columns, const double *cost,
                       const double *low, const double *high);
void mcr_lp_close(mcr_lp *lp); /* NULL allowed */
/* A row with one value for each column. An estimate of what CLP stores for it is taken from the
 * memory budget; a row that does not fit is refused. */
mcr_status mcr_lp_add(mcr_lp *lp, double lower, double upper, const double *value);
/* Solves; *ended is false when `seconds` (0: no limit) were not enough. x: one value per column,
 * dual: one per row, so that cost - A'dual is the slope of x. Borrowed until the next call. */
mcr_status mcr_lp_solve(mcr_lp *lp, double seconds, bool *ended, const double **x,
                        const double **dual);

#endif
