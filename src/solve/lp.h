/* lp.h (internal): linear programs, by CLP where it is installed.
 *
 *   min cost'x,  A x >= lower,  low <= x <= high
 *
 * Columns are added one by one, and each solve starts from the last solution: made for column
 * generation. CLP (coinor-libclp1) is loaded when the first program is opened, so that nothing else
 * depends on it; without it mcr_lp_open says what to install.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_LP_H
#define MCR_SOLVE_LP_H

#include "base/context.h"

typedef struct mcr_lp mcr_lp;

mcr_status mcr_lp_open(mcr_lp **out, mcr *ctx, int64_t rows, const double *lower);
void mcr_lp_close(mcr_lp *lp); /* NULL allowed */
/* A column with entries in the given rows (row NULL: in all, value one a row). */
mcr_status mcr_lp_add(mcr_lp *lp, double cost, double low, double high, int64_t entries,
                      const int *row, const double *value);
/* Solves; *ended is false when `seconds` (0: no limit) were not enough. x: a value a column, dual: a
 * value a row (>= 0). Borrowed until the next call. */
mcr_status mcr_lp_solve(mcr_lp *lp, double seconds, bool *ended, const double **x,
                        const double **dual);

#endif
