/* gram.h: the Gram matrix as an operator: blocks of K(x_i, z_j), products, centring, geometry.
 *
 * A Gram hides where its values come from: computed from data on demand, stored, or the product of
 * a feature matrix with its transpose. Its users need to know neither the representation nor the
 * kernel and the data. Results do not depend on the number of threads.
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
/* The whole matrix. Of a symmetric matrix only one half is computed, so the result is exactly
 * symmetric. Reports progress; returns MCR_STOPPED when cancelled. */
MCR_API mcr_status mcr_gram_matrix(mcr_gram *gram, double *k, int64_t ld);
MCR_API mcr_status mcr_gram_matrix_float(mcr_gram *gram, float *k, int64_t ld);
/* K(x_i, x_i) for the objects of a side (0: x, 1: z). */
MCR_API mcr_status mcr_gram_diagonal(mcr_gram *gram, int side, double *k);
/* kv = K v for `cols` vectors (row-major: v is cols-of-K x cols, kv rows-of-K x cols), without
 * storing K. */
MCR_API mcr_status mcr_gram_multiply(mcr_gram *gram, const double *v, int64_t cols, double *kv);

/* Centring in feature space. mcr_gram_means computes the n row means of a training Gram and the
 * total mean, without storing K. mcr_gram_center centres a block of K(x, training), which must have
 * all n columns, in place. */
MCR_API mcr_status mcr_gram_means(mcr_gram *gram, double *mean, double *total);
MCR_API mcr_status mcr_gram_center(mcr *ctx, double *k, int64_t rows, int64_t n, int64_t ld,
                                   const double *mean, double total);

/* ---- geometry in feature space, from K alone --------------------------------------------------*/

typedef struct mcr_geometry {
    size_t size; /* set by the library */
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
/* The distance between x_i and sum_j a_j Phi(z_j), for all i; and the distance between two linear
 * combinations of the objects of a symmetric Gram. */
MCR_API mcr_status mcr_gram_distance_to(mcr_gram *gram, const double *a, double *d);
MCR_API mcr_status mcr_gram_distance_between(mcr_gram *gram, const double *a, const double *b,
                                             double *d);

/* ---- validity ---------------------------------------------------------------------------------
 * K is a kernel iff it is symmetric and every Gram matrix is positive semidefinite. */

typedef enum mcr_verdict { MCR_VALID_UNKNOWN = 0, MCR_VALID_YES, MCR_VALID_NO } mcr_verdict;

typedef struct mcr_check_report {
    size_t size; /* set by the library */
    mcr_verdict valid;
    char *reason;  /* one line */
    int64_t rules; /* lines: the verdict of the closure rules, node by node */
    char **rule;
    int64_t tested;        /* objects whose Gram matrix was tested; 0: no data */
    double min_eigenvalue; /* of that Gram matrix, at most `bound` too large; NAN: not computed */
    double bound;          /* bound on its rounding error, with which it was compared */
    /* Counter-example: t'Gt < 0 on these objects (numbers from 0); objects 0: none found. */
    int64_t objects;
    int64_t *object;
    double *gram; /* objects x objects */
    double *t;
    double value; /* t'Gt */
    char **shown; /* each object as text, shortened */
} mcr_check_report;

/* Decides by the closure rules. With data (may be NULL) it also tests symmetry, the Cauchy-Schwarz
 * inequality and the smallest eigenvalue on up to max_objects objects (0: a default that takes
 * seconds), and searches for the smallest counter-example. Without data, an expression that the
 * rules cannot confirm is tested on small synthetic data. A verdict of "no" is a result, not an
 * error. */
MCR_API mcr_status mcr_kernel_check(mcr_check_report **out, mcr *ctx,
                                    const struct mcr_kernel *kernel, const struct mcr_data *data,
                                    int64_t max_objects);
MCR_API void mcr_check_free(mcr *ctx, mcr_check_report *report);

#ifdef __cplusplus
}
#endif
#endif
