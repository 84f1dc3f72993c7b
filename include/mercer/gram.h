/* gram.h: the Gram matrix as an operator: blocks of K(x_i, z_j), products, centring, geometry.
 *
 * A Gram knows how its values are had: computed from data when they are wanted, stored, or as the
 * product of a feature matrix with its transpose. Who uses one does not see the difference, nor the
 * kernel and the data behind it. Results do not depend on the number of threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_GRAM_H
#define MERCER_GRAM_H

#include <mercer/context.h>
#include <mercer/rows.h>

struct mcr_data;
struct mcr_kernel;

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcr_gram mcr_gram; /* one thread at a time */

/* K between the objects of x (rows) and of z (columns); z NULL: x with itself, symmetric. Keeps its
 * own references. Packed copies of vectors count against the memory budget. */
MCR_API mcr_status mcr_gram_open(mcr_gram **out, mcr *ctx, const struct mcr_kernel *kernel,
                                 const struct mcr_data *x, const struct mcr_data *z);
MCR_API void mcr_gram_close(mcr_gram *gram); /* NULL allowed */
MCR_API int64_t mcr_gram_rows(const mcr_gram *gram);
MCR_API int64_t mcr_gram_cols(const mcr_gram *gram);
MCR_API int mcr_gram_symmetric(const mcr_gram *gram); /* z was NULL */

/* k[i*ld + j] = K(x.i, z.j). The float version has 5 to 7 digits and is 2 to 3 times faster. */
MCR_API mcr_status mcr_gram_block(mcr_gram *gram, mcr_rows x, mcr_rows z, double *k, int64_t ld);
MCR_API mcr_status mcr_gram_block_float(mcr_gram *gram, mcr_rows x, mcr_rows z, float *k,
                                        int64_t ld);
/* The whole matrix. Of a symmetric one half is computed, and the result is exactly symmetric; progress is
 * reported meanwhile, and MCR_STOPPED returned if its callback asks for that. */
MCR_API mcr_status mcr_gram_matrix(mcr_gram *gram, double *k, int64_t ld);
MCR_API mcr_status mcr_gram_matrix_float(mcr_gram *gram, float *k, int64_t ld);
/* K(x_i, x_i) for the objects of a side (0: x, 1: z). */
MCR_API mcr_status mcr_gram_diagonal(mcr_gram *gram, int side, double *k);
/* kv = K v for `cols` vectors (row-major: v is cols-of-K x cols, kv rows-of-K x cols), without
 * storing K. */
MCR_API mcr_status mcr_gram_multiply(mcr_gram *gram, const double *v, int64_t cols, double *kv);

/* Centring in feature space. means: row means of a training Gram (n) and the total mean, matrix-
 * free; center: in place on a block of K(x, training) with the block's own row means taken over all
 * n columns. */
MCR_API mcr_status mcr_gram_means(mcr_gram *gram, double *mean, double *total);
MCR_API mcr_status mcr_gram_center(mcr *ctx, double *k, int64_t rows, int64_t n, int64_t ld,
                                   const double *mean, double total);

/* ---- geometry in feature space, from K alone ---------------------------------------------------*/

typedef struct mcr_geometry {
    size_t size; /* of what the library made */
    int64_t n;
    double *length;           /* sqrt K(x,x), n */
    double *to_mean;          /* distance of each object to the mean, n */
    double mean_length;       /* length of the mean */
    double variance;          /* mean squared distance to the mean */
    double nearest, farthest; /* smallest and largest distance between two objects */
    int64_t nearest_pair[2], farthest_pair[2];
} mcr_geometry;
MCR_API mcr_status mcr_gram_geometry(mcr_geometry **out, mcr_gram *gram);
MCR_API void mcr_geometry_free(mcr *ctx, mcr_geometry *geometry);
/* d[i*ld + j] = distance between x_i and z_j. */
MCR_API mcr_status mcr_gram_distances(mcr_gram *gram, mcr_rows x, mcr_rows z, double *d,
                                      int64_t ld);
/* Distance of x_i to sum_j a_j Phi(z_j), for all i; and between two combinations of objects of a
 * symmetric Gram. */
MCR_API mcr_status mcr_gram_distance_to(mcr_gram *gram, const double *a, double *d);
MCR_API mcr_status mcr_gram_distance_between(mcr_gram *gram, const double *a, const double *b,
                                             double *d);

/* ---- validity ---------------------------------------------------------------------------------
 * K is a kernel iff it is symmetric and every Gram matrix is positive semidefinite. */

typedef enum mcr_verdict { MCR_VALID_UNKNOWN = 0, MCR_VALID_YES, MCR_VALID_NO } mcr_verdict;

typedef struct mcr_check_report {
    size_t size; /* of what the library made */
    mcr_verdict valid;
    char *reason;  /* one line */
    int64_t rules; /* lines: how the closure rules decide, node by node */
    char **rule;
    int64_t tested;        /* objects whose Gram matrix was tested; 0: no data */
    double min_eigenvalue; /* of that Gram matrix; NAN: not computed */
    double bound;          /* rounding bound that it was held against */
    /* Counter-example: t'Gt < 0 on these objects (numbers from 0); objects 0: none found. */
    int64_t objects;
    int64_t *object;
    double *gram; /* objects x objects */
    double *t;
    double value; /* t'Gt */
    char **shown; /* each object as text, shortened */
} mcr_check_report;

/* Decides by the closure rules; with data (may be NULL) tests symmetry, Cauchy-Schwarz and the
 * smallest eigenvalue on up to max_objects objects (0: a default that takes seconds), and looks for
 * the smallest counter-example. Without data, an expression that the rules refuse is tried on small
 * synthetic data. A "no" is an outcome, not an error. */
MCR_API mcr_status mcr_kernel_check(mcr_check_report **out, mcr *ctx,
                                    const struct mcr_kernel *kernel, const struct mcr_data *data,
                                    int64_t max_objects);
MCR_API void mcr_check_free(mcr *ctx, mcr_check_report *report);

#ifdef __cplusplus
}
#endif
#endif
