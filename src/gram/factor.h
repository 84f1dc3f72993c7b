/* factor.h (internal): a Gram that is known by a factor, K = D D^T, one row of D per object:
 * features of a finite or approximate map, stored sparse or computed in dense blocks on demand, so
 * that n x p numbers need not fit into memory; or a matrix of low rank.
 *
 * Any solver can use its values like those of every other Gram. Solvers that support a factor
 * multiply by it (mcr_gram_expand, mcr_gram_project, mcr_gram_weighted in gram.h).
 *
 * All results are the same bits for any number of threads: rows are cut into parts by the sizes
 * alone, and sums over parts are taken in order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_GRAM_FACTOR_H
#define MCR_GRAM_FACTOR_H

#include "gram/gram.h"

struct mcr_map;
struct mcr_round;

/* Fills to[t * ld ..] with the features of source rows row[t] (NULL: first + t), t < count. May use
 * all threads. */
typedef mcr_status mcr_factor_block(void *self, const int64_t *row, int64_t first, int64_t count,
                                    double *to, int64_t ld);

typedef struct mcr_factor {
    int64_t n, p;
    const int64_t *row; /* row i is row[i] of the source; NULL: row i */
    /* Sparse: row r of the source has the entries start[r] .. start[r + 1] - 1, with ascending
     * index. */
    const int64_t *start;
    const int32_t *index;
    const double *value;
    /* Or dense and all there, rows ld apart: */
    const double *dense;
    int64_t ld;
    /* Or dense and made when they are wanted: */
    mcr_factor_block *block;
    void *self;
    void (*release)(mcr *ctx, void *self); /* NULL: the Gram does not own self */
    /* Products with computed rows without computing them: u = D^T a(D c) as in round.h, x by
     * numbers of the source. NULL: from the rows. */
    mcr_status (*round)(void *self, struct mcr_round *round);
    /* D^T diag(h) D without computing rows, x as before, if the error is at most about `off`;
     * *done: it was computed. NULL: from the rows. */
    mcr_status (*weighted)(void *self, mcr_rows x, const double *h, double off, double *m,
                           int64_t ldm, bool *done);
    double work; /* multiply-adds of such a product per row; 0: as many as entries */
    /* Rows are the features of these objects up to this share of their length; INFINITY: unknown.
     * kernel NULL: the rows define K. */
    double error;
    const struct mcr_kernel *kernel;
    const struct mcr_data *data;
    /* These are some of the rows; the others are in other processes, and products with D^T are
     * summed over all of them. */
    bool spread;
} mcr_factor;

/* Copies the description; the memory it points to must outlive the Gram. If it has `release`, self
 * belongs to the Gram, even on failure. */
mcr_status mcr_gram_factor(mcr_gram **out, mcr *ctx, const mcr_factor *factor);
/* From a feature map of the kernel: exact, or approximate (rows are computed in blocks from the
 * map). Kernel, map and data must outlive the Gram. */
mcr_status mcr_gram_features(mcr_gram **out, mcr *ctx, const struct mcr_kernel *kernel,
                             const struct mcr_data *data);
mcr_status mcr_gram_mapped(mcr_gram **out, mcr *ctx, struct mcr_map *map,
                           const struct mcr_data *data);
/* The features of a map of landmarks, never stored (restricted.c): products with D = K_nm T are
 * passes over kernel values against the landmarks. If all of these fit into `most` bytes as floats,
 * they are kept for passes in float. */
mcr_status mcr_gram_restricted(mcr_gram **out, mcr *ctx, struct mcr_map *map,
                               const struct mcr_data *data, size_t most);
/* Its landmarks, by their numbers among all objects; none of other Grams. */
mcr_rows mcr_gram_landmarks(const mcr_gram *gram);
/* Whether a Gram, or the Gram it is a view of, is restricted. */
bool mcr_gram_is_restricted(const mcr_gram *gram);
/* The approximate error of mcr_gram_fill_near for weights of this sum; INFINITY: there is no faster
 * method. */
double mcr_gram_near_error(const mcr_gram *gram, double sum);
/* The approximate error of passes in float of a restricted Gram, if errors of values are
 * independent: `slope` per unit of |a| in D^T a, and `value` per row in D w. */
mcr_status mcr_gram_float_error(const mcr_gram *gram, const double *w, int64_t cols, double *slope,
                                double *value);
/* The largest sqrt(K(x,x)) of all objects of a restricted Gram, or of the Gram it is a view of: up
 * to rounding no row is longer. */
mcr_status mcr_gram_longest(const mcr_gram *gram, double *length);
/* The gradient of sum_i loss_i(f(x_i)) + mu / 2 |f|^2 on the span of landmarks, by a pass in double
 * over all rows of a restricted Gram (all of these, not some): f has the rounded coefficients T c
 * of the landmarks, as a model stores them. u: filled as for round.h, with mu f added; *square:
 * |f|^2. */
mcr_status mcr_gram_span_gradient(mcr_gram *gram, struct mcr_round *round, double mu,
                                  double *square);
/* Bounds on its errors, with s_i = sqrt(K(x_i,x_i)). Errors of n x m kernel values and of sums are
 * assumed to be independent (Higham and Mary 2019): bounds with them fail once in 10^13 cases. */
typedef struct mcr_span_known {
    double *length; /* rows: s_i */
    double *size;   /* of each output: C, the sum of |c_j| s_j over the landmarks' coefficients */
    double *value;  /* of each output: f(x_i) errs by value s_i, independently of other rows */
    double slope;   /* |D^T a| errs by slope sqrt(sum_i a_i^2 s_i^2) */
    double pull;    /* |D^T f| by pull C */
    double turned;  /* and both by this share of the result */
    double between; /* |f|^2 by between C^2 */
    double apart;   /* |1 - T'K_mm T|, but for one case in 10^10: |u|^2 may be too small by it */
} mcr_span_known;
/* length, size and value are filled. */
mcr_status mcr_gram_span_known(mcr_gram *gram, const double *w, int64_t cols,
                               mcr_span_known *known);
/* The same with K of the landmarks in extended precision, if available: pull, between and apart
 * become smaller. u and *square, with the penalty mu, are corrected. */
mcr_status mcr_gram_span_closer(mcr_gram *gram, const double *w, int64_t cols, double mu, double *u,
                                double *square, mcr_span_known *known);
/* The remaining budget when a restricted Gram was opened; for other Grams, the remaining budget
 * now. */
size_t mcr_gram_restricted_spare(const mcr_gram *gram);
/* Whether the floats are kept. */
bool mcr_gram_restricted_keeps(const mcr_gram *gram);
/* Whether the features of the exact map are the data themselves, so that nothing has to be
 * computed. */
bool mcr_gram_features_are_data(const struct mcr_kernel *kernel, const struct mcr_data *data);
/* From a positive semidefinite Gram by pivoted Cholesky until the trace of the remainder is at most
 * `share` of the whole. If that takes more than `most` columns, or more memory than the budget has,
 * *out is NULL; the attempt stops as soon as this is likely. */
mcr_status mcr_gram_low_rank(mcr_gram **out, mcr_gram *of, double share, int64_t most);

/* The objects that such a factorisation chooses, in ascending order: the others are approximated by
 * them. order: space for n. */
mcr_status mcr_gram_pivots(mcr *ctx, int64_t n, const double *a, int64_t ld, double share,
                           int64_t *order, int64_t *count);

/* Keeps rows that are computed in blocks, within `most` bytes of the budget: with `precise` as
 * doubles if all of them fit, else as floats, as many as fit. The block function is not called
 * again for these. */
mcr_status mcr_gram_factor_keep(mcr_gram *gram, size_t most, bool precise);
/* Not NULL: passes over rows that are computed in blocks report their progress under this name, and
 * end with MCR_STOPPED if cancelled. */
void mcr_gram_factor_phase(mcr_gram *gram, const char *phase);

/* The entries of sparse rows, for solvers that process them one by one; NULL: rows are dense. */
const mcr_factor *mcr_gram_sparse(const mcr_gram *gram);
/* Entries that are stored, or all. */
double mcr_gram_entries(const mcr_gram *gram);
/* The listed rows of D as dense vectors, p apart. */
mcr_status mcr_gram_factor_rows(mcr_gram *gram, mcr_rows x, double *to);
/* u (p x groups): sums of weight times row over the rows of each group; group[i] is row i's. */
mcr_status mcr_gram_gather(mcr_gram *gram, const int32_t *group, const double *weight,
                           int64_t groups, double *u);

#endif
