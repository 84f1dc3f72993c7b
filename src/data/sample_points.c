/* sample_points.c: synthetic data sets of vectors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/sample.h"

#include <math.h>
#include <string.h>

static const double PI = 3.141592653589793;

static double between(mcr_random *r, double low, double high)
{
    return low + (high - low) * mcr_random_uniform(r);
}

static void blur(mcr_random *r, double noise, double x[2])
{
    x[0] += noise * mcr_random_normal(r);
    x[1] += noise * mcr_random_normal(r);
}

/* Near the point of a circle around the origin at this angle. */
static void draw_near(mcr_random *r, double radius, double angle, double noise, double x[2])
{
    x[0] = radius * cos(angle);
    x[1] = radius * sin(angle);
    blur(r, noise, x);
}

static double sign_of(int c)
{
    return c == 0 ? 1 : -1;
}

/* ---- classes -------------------------------------------------------------------------------- */

static double draw_moon(mcr_random *r, int c, double noise, double *x)
{
    double t = between(r, 0, PI);
    x[0] = c == 0 ? cos(t) : 1 - cos(t);
    x[1] = c == 0 ? sin(t) : 0.5 - sin(t);
    blur(r, noise, x);
    return sign_of(c);
}

static double draw_ring(mcr_random *r, int c, double noise, double *x)
{
    double t = between(r, 0, 2 * PI), radius = c == 0 ? 1 : 2;
    draw_near(r, radius, t, noise, x);
    return sign_of(c);
}

/* Archimedes' spiral, radius = t / 3 pi up to 1; the root spreads the points evenly along it. */
static double draw_spiral(mcr_random *r, int c, double noise, double *x)
{
    double t = 3 * PI * sqrt(mcr_random_uniform(r)), radius = sign_of(c) * t / (3 * PI);
    draw_near(r, radius, t, noise, x);
    return sign_of(c);
}

/* Objects cycle through the four points, so that the first four are the points in order. */
static double draw_xor(mcr_random *r, int c, double noise, double *x)
{
    x[0] = c & 2 ? 1 : -1;
    x[1] = c & 1 ? 1 : -1;
    double y = -x[0] * x[1];
    blur(r, noise, x);
    return y;
}

static double draw_blob(mcr_random *r, int c, double noise, double *x)
{
    draw_near(r, 2, PI / 2 + 2 * PI * c / 3, noise, x);
    return c + 1;
}

/* +1: |x| < 2; -1: 2 <= |x| <= 4. */
static double draw_line(mcr_random *r, int c, double noise, double *x)
{
    double u = mcr_random_uniform(r);
    double size = c == 0 ? 2 * u : 4 - 2 * u;
    x[0] = mcr_random_bits(r) & 1 ? size : -size;
    if (noise > 0)
        x[0] += noise * mcr_random_normal(r);
    return sign_of(c);
}

/* ---- regression ----------------------------------------------------------------------------- */

static double draw_sinc(mcr_random *r, int c, double noise, double *x)
{
    (void)c;
    x[0] = between(r, -10, 10);
    return (x[0] == 0 ? 1 : sin(x[0]) / x[0]) + noise * mcr_random_normal(r);
}

/* Friedman 1991, "Multivariate adaptive regression splines", equation 61; x6 to x10 have no
 * effect. */
static double draw_friedman(mcr_random *r, int c, double noise, double *x)
{
    (void)c;
    for (int j = 0; j < 10; j++)
        x[j] = mcr_random_uniform(r);
    return 10 * sin(PI * x[0] * x[1]) + 20 * (x[2] - 0.5) * (x[2] - 0.5) + 10 * x[3] + 5 * x[4] +
           noise * mcr_random_normal(r);
}

/* ---- one loop for all dense sets ------------------------------------------------------------ */

/* draw: one object of class c (of one class: its number modulo 4): fills the features, returns the
 * target. */
static const struct {
    const char *name;
    int classes, cols;
    double (*draw)(mcr_random *r, int c, double noise, double *x);
} sets[] = {
    {"moons", 2, 2, draw_moon}, {"rings", 2, 2, draw_ring},         {"spirals", 2, 2, draw_spiral},
    {"xor", 1, 2, draw_xor},    {"blobs", 3, 2, draw_blob},         {"line", 2, 1, draw_line},
    {"sinc", 1, 1, draw_sinc},  {"friedman", 1, 10, draw_friedman},
};

mcr_status mcr_sample_points(mcr_sample_job *job)
{
    int set = 0;
    while (strcmp(sets[set].name, job->name) != 0)
        set++;
    int64_t cols = sets[set].cols;
    mcr_sample_dealer dealer = {.count = sets[set].classes};
    if (job->noise < 0)
        job->noise = job->count <= 4 ? 0 : 0.25;
    mcr_store *store = NULL;
    double *target = mcr_alloc(job->ctx, (size_t)job->count, sizeof *target);
    mcr_status status = target ? MCR_OK : MCR_NO_MEMORY;
    if (status == MCR_OK)
        status = mcr_store_new(&store, job->ctx, "x", MCR_DENSE);
    if (status == MCR_OK) {
        store->count = job->count;
        store->cols = cols;
        status = mcr_store_alloc_dense(store);
    }
    for (int64_t i = 0; i < job->count && status == MCR_OK; i++) {
        int c = dealer.count > 1 ? mcr_sample_deal(&dealer, &job->random) : (int)(i & 3);
        target[i] = sets[set].draw(&job->random, c, job->noise, store->dense + i * cols);
    }
    return mcr_sample_finish(job, status, store, target);
}

/* ---- sparse --------------------------------------------------------------------------------- */

enum { CATEGORIES = 14, COLUMNS = 123 };

static const int category_size[CATEGORIES] = {5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 4, 4, 6, 36};

/* The cumulative probabilities of the values of each category in each class. */
typedef struct categories {
    double upto[2][COLUMNS];
} categories;

/* Few values are frequent (weights 1, 1/2, 1/3 ...), and each is more likely in one of the
 * classes. */
static void make_categories(categories *all)
{
    mcr_random fixed = mcr_random_stream(0, "sample.sparse.categories", 0);
    for (int c = 0, first = 0; c < CATEGORIES; first += category_size[c++]) {
        double sum[2] = {0, 0};
        for (int v = first; v < first + category_size[c]; v++) {
            double lean = 0.35 * mcr_random_normal(&fixed);
            for (int y = 0; y < 2; y++)
                all->upto[y][v] = sum[y] += exp(y ? -lean : lean) / (v - first + 1);
        }
        for (int v = first; v < first + category_size[c]; v++)
            for (int y = 0; y < 2; y++)
                all->upto[y][v] /= sum[y];
    }
}

/* The columns of one object, ascending; returns their number. A value is occasionally missing. */
static int draw_categories(mcr_random *r, const double *upto, int32_t *index)
{
    int count = 0;
    for (int c = 0, first = 0; c < CATEGORIES; first += category_size[c++]) {
        double u = mcr_random_uniform(r);
        int v = first, last = first + category_size[c] - 1;
        if (u < 0.01)
            continue;
        u = (u - 0.01) / 0.99;
        while (v < last && u >= upto[v])
            v++;
        index[count++] = v;
    }
    return count;
}

static mcr_status fill_sparse(mcr_sample_job *job, mcr_store *s, double *target)
{
    mcr_status status = mcr_store_alloc_sparse(s, job->count * CATEGORIES);
    if (status != MCR_OK)
        return status;
    categories all;
    make_categories(&all);
    mcr_sample_dealer dealer = {.count = 2};
    for (int64_t i = 0; i < job->count; i++) {
        int c = mcr_sample_deal(&dealer, &job->random);
        int64_t from = s->start[i];
        s->start[i + 1] = from + draw_categories(&job->random, all.upto[c], s->index + from);
        bool flip = mcr_random_uniform(&job->random) < job->noise;
        target[i] = flip ? -sign_of(c) : sign_of(c);
    }
    for (int64_t k = 0; k < s->start[job->count]; k++)
        s->value[k] = 1;
    return MCR_OK;
}

mcr_status mcr_sample_sparse(mcr_sample_job *job)
{
    mcr_store *store = NULL;
    double *target = mcr_alloc(job->ctx, (size_t)job->count, sizeof *target);
    mcr_status status = target ? MCR_OK : MCR_NO_MEMORY;
    if (status == MCR_OK)
        status = mcr_store_new(&store, job->ctx, "x", MCR_SPARSE);
    if (status == MCR_OK) {
        store->count = job->count;
        store->cols = COLUMNS;
        status = fill_sparse(job, store, target);
    }
    return mcr_sample_finish(job, status, store, target);
}
