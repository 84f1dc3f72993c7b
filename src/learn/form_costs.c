/* form_costs.c: what projections, clusters and online learners cost in either form.
 *
 * As in form.c the numbers count what is done, from the sizes alone; the rates were measured once,
 * on two cores, on a1a, a9a, ijcnn1, covtype, sector and sets of strings and graphs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "learn/form.h"
#include "learn/online.h"
#include "solve/leading.h"
#include "solve/shifted.h"

/* Seconds. Of a kernel value in double, made and put into a matrix; in a row that is made for a
 * moment; of one more pass over it in a matrix. */
#define MATRIX_SECONDS 1.0e-8
#define ROW_SECONDS    2.5e-9
#define PASS_SECONDS   1.0e-9
/* Of a multiply-add: in dense products; in loops over sparse entries, also with several columns; of
 * an entry that is made, beside what form.c counts; of a weight that is cleared and summed up. */
#define DENSE_SECONDS  3.0e-11
#define ENTRY_SECONDS  2.0e-9
#define COLUMN_SECONDS 7.0e-10
#define MADE_SECONDS   4.0e-8
#define WEIGHT_SECONDS 8.0e-9

/* Products of pca's search for eigenvectors, and the vectors of each; conjugate gradients of
 * fisher; steps of k-means from one start; the share of objects that are a perceptron's mistake. */
enum { PRODUCTS = 15, VECTORS = 20, GRADIENTS = 60, STEPS = 20 };
#define MISTAKES 0.1

static double columns_of(double columns)
{
    return fmax(ENTRY_SECONDS, COLUMN_SECONDS * columns);
}

/* Eigenvectors of a matrix that is there. */
static double leading(double n, double count)
{
    return mcr_leading_by_lapack((int64_t)n, (int64_t)count)
               ? 3 * n * n * n * DENSE_SECONDS
               : PRODUCTS * VECTORS * n * n * DENSE_SECONDS;
}

double mcr_form_dual_cost(const mcr_form_work *w, double value, bool *fits, double memory)
{
    double n = w->size, all = n * n, bytes = all * sizeof(double), half = 0.5 * all * value;
    bool kept;
    switch (w->kind) {
    case MCR_WORK_PCA:
        *fits = bytes / 2 <= memory;
        return half + all * MATRIX_SECONDS + leading(n, w->columns);
    case MCR_WORK_FISHER:
        *fits = bytes <= memory;
        return half + all * MATRIX_SECONDS + all * n / 3 * DENSE_SECONDS;
    case MCR_WORK_KMEANS: /* objects are placed twice in a start, and move about as often */
        kept = bytes <= fmin(memory / 2, 2e9);
        return kept ? half + all * MATRIX_SECONDS + 4 * w->problems * all * PASS_SECONDS
                    : 4 * w->problems * all * (ROW_SECONDS + value);
    default:
        kept = w->problems > 1 && n <= MCR_ONLINE_KEPT && bytes <= memory / 2;
        return kept ? half + all * MATRIX_SECONDS +
                          MISTAKES * w->problems * all * PASS_SECONDS * w->columns
                    : MISTAKES * w->problems * all *
                          (ROW_SECONDS + value + PASS_SECONDS * (w->columns - 1));
    }
}

double mcr_form_primal_cost(const mcr_form_work *w, double p, double each)
{
    double n = w->size, entries = n * each, make = entries * MADE_SECONDS, both = 2 * entries;
    bool direct = p <= MCR_DIRECT_FEATURES && p <= n;
    double factor = each < MCR_DENSE_SHARE * p ? entries * each * COLUMN_SECONDS
                                               : n * p * p / 2 * DENSE_SECONDS;
    factor += p * p * WEIGHT_SECONDS;
    switch (w->kind) {
    case MCR_WORK_PCA:
        if (direct)
            return make + factor + leading(p, w->columns);
        return make + PRODUCTS * (both * columns_of(VECTORS) + VECTORS * p * WEIGHT_SECONDS);
    case MCR_WORK_FISHER:
        if (direct)
            return make + factor + p * p * p / 3 * DENSE_SECONDS;
        return make + GRADIENTS * (both * columns_of(w->columns) + w->columns * p * WEIGHT_SECONDS);
    case MCR_WORK_KMEANS:
        return make + w->problems * STEPS *
                          (entries * columns_of(w->columns) + w->columns * p * WEIGHT_SECONDS +
                           w->columns * n * COLUMN_SECONDS);
    default: return make + w->problems * both * ENTRY_SECONDS * w->columns;
    }
}
