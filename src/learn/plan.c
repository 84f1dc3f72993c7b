/* plan.c: the cost of a learner's problem with kernel values and with features.
 *
 * One loop over candidates: a representation of K and a solver that takes it. Each says how long it
 * takes and how much memory it needs. The estimates count multiply-adds, from the data alone, times
 * rates that were measured once, on two cores, on a1a, a9a, ijcnn1, covtype, sector and sets of
 * strings and graphs: so the choice is the same on every machine and for any number of threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/plan.h"

#include <math.h>

#include "kernel/explicit.h"
#include "learn/online.h"
#include "solve/leading.h"
#include "solve/linear.h"
#include "solve/newton.h"
#include "solve/shifted.h"
#include "solve/squares.h"

/* Seconds. Of a kernel value, beside its multiply-adds, and of one of these (tiles on two cores);
 * of one in double, made and put into a matrix; in a row that is made for a moment; of one more
 * pass over it in a matrix. */
#define VALUE_SECONDS  1.5e-10
#define TILE_SECONDS   1.2e-11
#define MATRIX_SECONDS 1.0e-8
#define ROW_SECONDS    2.5e-9
#define PASS_SECONDS   1.0e-9
/* Of a multiply-add: in a dense factorisation; in dense products; in loops over sparse entries,
 * and in those of projections and online learners, also with several columns. */
#define DENSE_SECONDS   2.0e-11
#define PRODUCT_SECONDS 3.0e-11
#define SPARSE_SECONDS  6.0e-10
#define ENTRY_SECONDS   2.0e-9
#define COLUMN_SECONDS  7.0e-10
/* Of making an entry, and more of it where it is gone through again; of a weight that is cleared
 * and summed up. */
#define MAKE_SECONDS   1.0e-8
#define MADE_SECONDS   4.0e-8
#define WEIGHT_SECONDS 8.0e-9
/* Of a support vector machine's steps, for an object, and where they are many, for a pair of
 * objects. */
#define EASY_SECONDS 5.0e-6
#define HARD_SECONDS 5.5e-9

/* Active columns at a time; products of pca's search for eigenvectors, and the vectors of each;
 * conjugate gradients of fisher; steps of k-means from one start; the share of objects that are a
 * perceptron's mistake. */
enum { MOST_COLUMNS = 8000, PRODUCTS = 15, VECTORS = 20, GRADIENTS = 60, STEPS = 20 };
#define MISTAKES 0.1

/* What the estimates are made from. */
typedef struct sizes {
    double n, problems, columns; /* of the work */
    double objects;              /* in all */
    double p, each;              /* features, and those not 0 in an object */
    double work;                 /* multiply-adds of a kernel value */
    double memory;
} sizes;

/* ---- with kernel values -----------------------------------------------------------------------*/

static double matrix_bytes(const sizes *z)
{
    return z->n * z->n * sizeof(double);
}

static double half_bytes(const sizes *z)
{
    return matrix_bytes(z) / 2;
}

static double no_bytes(const sizes *z)
{
    (void)z;
    return 0;
}

static double value_seconds(const sizes *z)
{
    return VALUE_SECONDS + TILE_SECONDS * z->work;
}

/* Half of the values, put into a matrix. */
static double half_seconds(const sizes *z)
{
    return 0.5 * z->n * z->n * (TILE_SECONDS * z->work) + z->n * z->n * MATRIX_SECONDS;
}

/* With fewer features than objects many steps are needed. */
static double smo_steps(const sizes *z, bool hard)
{
    return z->n * fmax(EASY_SECONDS, hard ? HARD_SECONDS * fmin(z->n, MOST_COLUMNS) : 0);
}

/* Less so between two of many classes. */
static double smo(const sizes *z)
{
    return z->problems *
           (2 * (z->n * z->n) * value_seconds(z) + smo_steps(z, !(z->problems > 1) && z->p < z->n));
}

static double smo_shared(const sizes *z)
{
    return z->n * z->n * value_seconds(z) + z->problems * smo_steps(z, z->p < z->n);
}

static double cholesky(const sizes *z)
{
    double all = z->n * z->n;
    return 0.5 * all * value_seconds(z) + all * z->n / 3 * DENSE_SECONDS;
}

static double newton(const sizes *z)
{
    double all = z->n * z->n, value = value_seconds(z);
    bool kept = matrix_bytes(z) <= z->memory;
    return 0.5 * all * value + 80 * all * (kept ? 2e-10 : value) * z->columns;
}

/* Eigenvectors of a matrix that is there. */
static double eigenvectors(double n, double count)
{
    return mcr_leading_by_lapack((int64_t)n, (int64_t)count)
               ? 3 * n * n * n * PRODUCT_SECONDS
               : PRODUCTS * VECTORS * n * n * PRODUCT_SECONDS;
}

static double leading(const sizes *z)
{
    return half_seconds(z) + eigenvectors(z->n, z->columns);
}

static double shifted(const sizes *z)
{
    return half_seconds(z) + z->n * z->n * z->n / 3 * PRODUCT_SECONDS;
}

/* Objects are placed twice in a start, and move about as often. */
static double clusters(const sizes *z)
{
    double all = z->n * z->n;
    return matrix_bytes(z) <= fmin(z->memory / 2, 2e9)
               ? half_seconds(z) + 4 * z->problems * all * PASS_SECONDS
               : 4 * z->problems * all * (ROW_SECONDS + TILE_SECONDS * z->work);
}

static double online(const sizes *z)
{
    double all = z->n * z->n;
    bool kept = z->problems > 1 && z->n <= MCR_ONLINE_KEPT && matrix_bytes(z) <= z->memory / 2;
    return kept ? half_seconds(z) + MISTAKES * z->problems * all * PASS_SECONDS * z->columns
                : MISTAKES * z->problems * all *
                      (ROW_SECONDS + TILE_SECONDS * z->work + PASS_SECONDS * (z->columns - 1));
}

/* ---- with features ----------------------------------------------------------------------------*/

static double entries(const sizes *z)
{
    return z->n * z->each;
}

static double make(const sizes *z)
{
    return z->objects * z->each * MAKE_SECONDS;
}

/* By the faster of two solvers. */
static double linear(const sizes *z)
{
    double work = fmin(mcr_linear_newton_work(z->n, z->p, entries(z)),
                       mcr_linear_descent_work(z->n, z->p, entries(z)));
    return make(z) + z->problems * (work * SPARSE_SECONDS + z->p * 1e-8);
}

/* A factor of D'D. */
static double direct(const sizes *z)
{
    double product = entries(z) < MCR_DENSE_SHARE * z->n * z->p
                         ? entries(z) * z->each / 2 * SPARSE_SECONDS
                         : entries(z) * z->p / 2 * DENSE_SECONDS;
    return product + z->p * z->p * z->p / 3 * DENSE_SECONDS;
}

static double products(const sizes *z)
{
    return 120 * entries(z) * SPARSE_SECONDS * z->columns;
}

static double ridge_features(const sizes *z)
{
    return make(z) + (z->p <= MCR_SQUARES_DIRECT ? direct(z) : products(z));
}

static double newton_features(const sizes *z)
{
    return make(z) + (z->p * z->columns <= MCR_SMOOTH_DIRECT
                          ? 8 * z->columns * z->columns * direct(z)
                          : products(z));
}

/* Both kinds of making. */
static double make_projection(const sizes *z)
{
    return make(z) + entries(z) * MADE_SECONDS;
}

static bool is_direct(const sizes *z)
{
    return z->p <= MCR_DIRECT_FEATURES && z->p <= z->n;
}

static double covariance(const sizes *z)
{
    double sums = z->each < MCR_DENSE_SHARE * z->p ? entries(z) * z->each * COLUMN_SECONDS
                                                   : z->n * z->p * z->p / 2 * PRODUCT_SECONDS;
    return sums + z->p * z->p * WEIGHT_SECONDS;
}

static double column_seconds(double columns)
{
    return fmax(ENTRY_SECONDS, COLUMN_SECONDS * columns);
}

/* So many products there and back with so many columns. */
static double there_and_back(const sizes *z, double count, double columns)
{
    return count * (2 * entries(z) * column_seconds(columns) + columns * z->p * WEIGHT_SECONDS);
}

static double leading_features(const sizes *z)
{
    return make_projection(z) + (is_direct(z) ? covariance(z) + eigenvectors(z->p, z->columns)
                                              : there_and_back(z, PRODUCTS, VECTORS));
}

static double shifted_features(const sizes *z)
{
    return make_projection(z) + (is_direct(z)
                                     ? covariance(z) + z->p * z->p * z->p / 3 * PRODUCT_SECONDS
                                     : there_and_back(z, GRADIENTS, z->columns));
}

static double clusters_features(const sizes *z)
{
    return make_projection(z) +
           z->problems * STEPS *
               (entries(z) * column_seconds(z->columns) + z->columns * z->p * WEIGHT_SECONDS +
                z->columns * z->n * COLUMN_SECONDS);
}

static double online_features(const sizes *z)
{
    return make_projection(z) + z->problems * (2 * entries(z)) * ENTRY_SECONDS * z->columns;
}

/* ---- candidates -------------------------------------------------------------------------------*/

static const struct candidate {
    int kind; /* of work */
    bool features;
    double (*seconds)(const sizes *z);
    double (*bytes)(const sizes *z); /* of matrices that it cannot do without */
} candidates[] = {
    {MCR_WORK_SVM, false, smo, no_bytes},
    {MCR_WORK_SVM, true, linear, no_bytes},
    {MCR_WORK_SVM_SHARED, false, smo_shared, no_bytes},
    {MCR_WORK_SVM_SHARED, true, linear, no_bytes},
    {MCR_WORK_RIDGE, false, cholesky, matrix_bytes},
    {MCR_WORK_RIDGE, true, ridge_features, no_bytes},
    {MCR_WORK_SMOOTH, false, newton, no_bytes},
    {MCR_WORK_SMOOTH, true, newton_features, no_bytes},
    {MCR_WORK_PCA, false, leading, half_bytes},
    {MCR_WORK_PCA, true, leading_features, no_bytes},
    {MCR_WORK_FISHER, false, shifted, matrix_bytes},
    {MCR_WORK_FISHER, true, shifted_features, no_bytes},
    {MCR_WORK_KMEANS, false, clusters, no_bytes},
    {MCR_WORK_KMEANS, true, clusters_features, no_bytes},
    {MCR_WORK_ONLINE, false, online, no_bytes},
    {MCR_WORK_ONLINE, true, online_features, no_bytes},
};

/* ---- the plan ---------------------------------------------------------------------------------*/

/* A few objects are enough where each has very many features. */
enum { SAMPLE = 200, FEW = 16, MANY = 2000 };

/* Most entries of a sample that are worth listing: making more takes longer than kernel values do.
 * 0: no limit, as those do not fit the memory. */
static double entries_worth(const sizes *z, const mcr_form_work *w)
{
    enum { ALWAYS = 1 << 22 };
    sizes few = *z;
    double seconds = INFINITY;
    bool fits = false;
    few.p = 0; /* the most steps */
    for (size_t c = 0; c < sizeof candidates / sizeof *candidates; c++)
        if (candidates[c].kind == (int)w->kind && !candidates[c].features) {
            seconds = fmin(seconds, candidates[c].seconds(&few));
            fits |= candidates[c].bytes(&few) <= z->memory;
        }
    return fits ? fmax(ALWAYS, seconds / MAKE_SECONDS) : 0;
}

/* Features and work of a kernel value, from some of the objects. */
static mcr_status look_at(sizes *z, const mcr_learning *in, const mcr_form_work *w, int64_t most)
{
    int64_t n = mcr_data_count(in->data), m = n < most ? n : most, count = 0, row[SAMPLE];
    mcr_data *part = NULL;
    mcr_features *f = NULL;
    mcr_gram *gram = NULL;
    for (int64_t i = 0; i < m; i++)
        row[i] = i * n / m;
    mcr_status s = mcr_data_select(&part, in->data, (mcr_rows){row, 0, m});
    if (!s)
        s = mcr_gram_open(&gram, in->ctx, in->kernel, part, NULL);
    if (!s) {
        z->work = mcr_gram_work(gram);
        s = mcr_features_open_few(&f, in->ctx, in->kernel, part, entries_worth(z, w));
    }
    for (int64_t i = 0; i < m && !s; i++) {
        const int32_t *index;
        const double *value;
        count += mcr_features_row(f, 0, i, &index, &value);
    }
    if (!s) {
        z->each = (double)count / (double)(m > 0 ? m : 1);
        z->p = (double)mcr_features_count(f);
        /* Of strings and graphs, other objects have other features. */
        if (!in->data->store[0]->cols)
            z->p *= sqrt((double)n / (double)(m > 0 ? m : 1));
    }
    mcr_gram_close(gram);
    mcr_features_close(f);
    mcr_data_free(part);
    return s;
}

/* Not by the number of threads, on which the choice must not depend. */
double mcr_plan_weight_bytes(double features, double columns)
{
    enum { ABOUT = 8 };
    return features * columns * sizeof(double) * ABOUT;
}

mcr_status mcr_plan_make(mcr_plan *plan, const mcr_learning *in, const mcr_form_work *w)
{
    sizes z = {.n = w->size,
               .problems = w->problems,
               .columns = w->columns,
               .objects = (double)mcr_data_count(in->data),
               .memory = (double)mcr_budget_left(in->ctx)};
    mcr_status s = look_at(&z, in, w, FEW);
    if (!s && z.each <= MANY)
        s = look_at(&z, in, w, SAMPLE);
    if (s)
        return s;
    *plan = (mcr_plan){.features = z.p, .each = z.each, .seconds = {INFINITY, INFINITY}};
    for (size_t c = 0; c < sizeof candidates / sizeof *candidates; c++) {
        const struct candidate *t = &candidates[c];
        if (t->kind != (int)w->kind)
            continue;
        plan->seconds[t->features] = fmin(plan->seconds[t->features], t->seconds(&z));
        plan->fits[t->features] |= t->bytes(&z) <= z.memory;
    }
    plan->bytes = mcr_gram_features_are_data(in->kernel, in->data)
                      ? 0
                      : z.objects * z.each * (sizeof(int32_t) + sizeof(double));
    plan->bytes += mcr_plan_weight_bytes(z.p, w->columns);
    return MCR_OK;
}
