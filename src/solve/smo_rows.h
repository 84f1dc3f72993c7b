/* smo_rows.h (internal): rows of K that are computed when a solver first uses them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_SMO_ROWS_H
#define MCR_SOLVE_SMO_ROWS_H

#include "base/context.h"

/* Memory for rows, reused by problems that are solved one after the other: touching fresh memory
 * takes longer than computing the values. One thread at a time. */
typedef struct mcr_row_pool mcr_row_pool;
mcr_status mcr_row_pool_open(mcr_row_pool **out, mcr *ctx);
void mcr_row_pool_close(mcr_row_pool *pool); /* NULL allowed */
/* All rows are free again; from now on they have so many bytes. */
void mcr_row_pool_reset(mcr_row_pool *pool, size_t row_bytes);
/* One more row, at a multiple of 64 bytes; NULL: no memory. */
void *mcr_row_pool_take(mcr_row_pool *pool);

#endif
