/* design.h (internal): objects as rows of a matrix of features, n x p: held sparse, or made in dense
 * blocks whenever they are wanted, so that n x p numbers need not fit the memory.
 *
 * All results are the same bits for any number of threads: rows are cut into parts by the sizes alone,
 * and sums over parts are taken in order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_DESIGN_H
#define MCR_LINALG_DESIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mercer/context.h>

/* Fills to[t * ld ..] with the features of source rows row[t] (NULL: first + t), t < count. May use all
 * threads. */
typedef mcr_status mcr_design_block(void *self, const int64_t *row, int64_t first, int64_t count,
                                    double *to, int64_t ld);

typedef struct mcr_design {
    mcr *ctx;
    int64_t n, p;
    const int64_t *row; /* row i is row[i] of the source; NULL: row i */
    /* Sparse: row r of the source has the entries start[r] .. start[r + 1] - 1, with rising index. */
    const int64_t *start;
    const int32_t *index;
    const double *value;
    /* Or dense: */
    mcr_design_block *block;
    void *self;
    const float *kept; /* the first kept_rows of the source, p apart; NULL: none */
    int64_t kept_rows;
    /* Not NULL: passes over dense rows tell of their progress under this name, and end with MCR_STOPPED if
     * the user asks for that. */
    const char *phase;
} mcr_design;

/* Some of the rows: those listed (numbers of rows of d, which stay the caller's), as source rows in
 * `buffer` (count values, the caller's, used as long as the part). */
mcr_design mcr_design_part(const mcr_design *d, const int64_t *row, int64_t count, int64_t *buffer);

/* Keeps dense rows as floats, as many as `most` bytes hold; *bytes are taken from the budget. The block
 * function is not called again for these. */
mcr_status mcr_design_keep(mcr_design *d, size_t most, size_t *bytes);
void mcr_design_drop(mcr_design *d, size_t bytes); /* what keep took */

/* Rows first .. first + count - 1 as dense vectors, p apart. */
mcr_status mcr_design_rows(const mcr_design *d, int64_t first, int64_t count, double *to);
/* Entries that are stored, or all. */
double mcr_design_entries(const mcr_design *d);
/* y = D v and u = D^T a; v and u are p x cols, y and a n x cols. */
mcr_status mcr_design_multiply(const mcr_design *d, const double *v, int64_t cols, double *y);
mcr_status mcr_design_project(const mcr_design *d, const double *a, int64_t cols, double *u);
/* u (p x groups): sums of weight times row over the rows of each group; group[i] is row i's. */
mcr_status mcr_design_gather(const mcr_design *d, const int32_t *group, const double *weight,
                             int64_t groups, double *u);
/* m = D^T diag(h) D, its lower triangle, p x p, rows ldm apart; h >= 0. */
mcr_status mcr_design_weigh(const mcr_design *d, const double *h, double *m, int64_t ldm);
/* Squared lengths of the rows. */
mcr_status mcr_design_squares(const mcr_design *d, double *square);

#endif
