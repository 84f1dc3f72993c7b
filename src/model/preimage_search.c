/* preimage_search.c: the vector whose image is nearest to a projection.
 *
 * Candidates first: a guess, the best basis object, vectors from distances and inner products. The
 * best of them is improved by descent on the distance in feature space: with derivatives if K is a
 * function of x.z, |x-z|^2 and |x-z|_1 (kernel/profile.h), else with central differences if there
 * are few features.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernel/profile.h"
#include "model/preimage.h"
#include "solve/descent.h"

enum { MOST_STEPS = 300, MOST_TRIES = 3000, FEW_FEATURES = 64 };

typedef struct search {
    mcr_images *p;
    int64_t b;          /* object of the block */
    double unit;        /* typical distance between basis objects in one coordinate */
    double size;        /* magnitude of kernel values */
    double *z;          /* cols: where f was computed last */
    double *at[3];      /* n: s, t, u */
    double *value;      /* 4 n: F and its derivatives */
    double *buffer;     /* of profiles */
    double *low, *high; /* cols */
    double *moved;      /* 2 cols x cols, for differences */
    double *k;          /* 2 cols x n */
    double *own;        /* 2 cols */
} search;

/* ---- the distance and its slope ---------------------------------------------------------------*/

static void fill_variables(const search *t, const double *z)
{
    const mcr_images *p = t->p;
    for (int64_t i = 0; i < p->n; i++) {
        const double *x = p->basis + i * p->cols;
        double dot = 0, square = 0, absolute = 0;
        for (int64_t j = 0; j < p->cols; j++) {
            double apart = z[j] - x[j];
            dot += x[j] * z[j];
            square += apart * apart;
            absolute += fabs(apart);
        }
        t->at[0][i] = dot;
        t->at[1][i] = square;
        t->at[2][i] = absolute;
    }
}

/* F and its derivatives for z with itself. */
static void own_profile(const search *t, const double *z, double own[4])
{
    double s = 0, zero = 0;
    for (int64_t j = 0; j < t->p->cols; j++)
        s += z[j] * z[j];
    const double *const at[3] = {&s, &zero, &zero};
    mcr_profile_values(t->p->model->kernel, 1, at, own, t->buffer);
}

static mcr_status value_by_profile(void *arg, const double *z, double *f)
{
    search *t = arg;
    const mcr_images *p = t->p;
    const double *g = p->g + t->b * p->n;
    double own[4], sum = 0;
    memcpy(t->z, z, sizeof *z * (size_t)p->cols);
    own_profile(t, z, own);
    fill_variables(t, z);
    mcr_profile_values(p->model->kernel, p->n, (const double *const *)t->at, t->value, t->buffer);
    for (int64_t i = 0; i < p->n; i++)
        sum += g[i] * t->value[i];
    *f = own[0] - 2 * sum + p->square[t->b];
    if (!isfinite(*f))
        *f = INFINITY;
    return MCR_OK;
}

static mcr_status slope_by_profile(void *arg, double *slope)
{
    search *t = arg;
    const mcr_images *p = t->p;
    const double *g = p->g + t->b * p->n, *z = t->z, *value = t->value;
    double own[4];
    own_profile(t, z, own);
    for (int64_t j = 0; j < p->cols; j++)
        slope[j] = 2 * own[1] * z[j];
    for (int64_t i = 0; i < p->n; i++) {
        const double *x = p->basis + i * p->cols;
        double by_s = -2 * g[i] * value[p->n + i], by_t = -4 * g[i] * value[2 * p->n + i];
        double by_u = -2 * g[i] * value[3 * p->n + i];
        for (int64_t j = 0; j < p->cols; j++) {
            double apart = z[j] - x[j];
            slope[j] += by_s * x[j] + by_t * apart + by_u * ((apart > 0) - (apart < 0));
        }
    }
    return MCR_OK;
}

/* For any kernel; where it is undefined (negative numbers for chi2) the distance is infinite. */
static mcr_status value_of(const search *t, const double *z, int64_t count, double *f)
{
    const mcr_images *p = t->p;
    const double *g = p->g + t->b * p->n;
    mcr_status s = mcr_images_values(p, z, count, t->k, t->own);
    for (int64_t v = 0; v < count; v++) {
        double sum = 0;
        for (int64_t i = 0; i < p->n && !s; i++)
            sum += g[i] * t->k[v * p->n + i];
        f[v] = s ? INFINITY : t->own[v] - 2 * sum + p->square[t->b];
    }
    return s == MCR_BAD_DATA || s == MCR_NUMERIC ? MCR_OK : s;
}

static mcr_status value_by_kernel(void *arg, const double *z, double *f)
{
    search *t = arg;
    memcpy(t->z, z, sizeof *z * (size_t)t->p->cols);
    return value_of(t, z, 1, f);
}

static mcr_status slope_by_kernel(void *arg, double *slope)
{
    search *t = arg;
    int64_t cols = t->p->cols;
    double f[2 * FEW_FEATURES], step = 1e-5 * t->unit;
    for (int64_t v = 0; v < 2 * cols; v++) {
        memcpy(t->moved + v * cols, t->z, sizeof *t->z * (size_t)cols);
        t->moved[v * cols + v / 2] += v % 2 ? -step : step;
    }
    mcr_status s = value_of(t, t->moved, 2 * cols, f);
    for (int64_t j = 0; j < cols; j++)
        slope[j] = isfinite(f[2 * j]) && isfinite(f[2 * j + 1])
                       ? (f[2 * j] - f[2 * j + 1]) / (2 * step)
                       : 0;
    return s;
}

/* ---- candidates -------------------------------------------------------------------------------*/

static mcr_status squared_distance(search *t, const double *z, double *f)
{
    for (int64_t j = 0; j < t->p->cols; j++)
        if (!isfinite(z[j])) {
            *f = INFINITY;
            return MCR_OK;
        }
    return t->p->profile >= 0 ? value_by_profile(t, z, f) : value_of(t, z, 1, f);
}

/* Takes the vector if it is better. */
static mcr_status offer(search *t, const double *z, double *best, double *f)
{
    double own;
    mcr_status s = squared_distance(t, z, &own);
    if (!s && own < *f) {
        *f = own;
        memcpy(best, z, sizeof *z * (size_t)t->p->cols);
    }
    return s;
}

static int64_t best_basis(const search *t)
{
    const mcr_images *p = t->p;
    const double *kg = p->kg + t->b * p->n;
    int64_t best = 0;
    for (int64_t i = 1; i < p->n; i++)
        if (p->diagonal[i] - 2 * kg[i] < p->diagonal[best] - 2 * kg[best])
            best = i;
    return best;
}

static mcr_status improve(search *t, double *best, double *f)
{
    const mcr_images *p = t->p;
    bool known = p->profile >= 0;
    mcr_descent_result r;
    mcr_descent problem = {
        .n = p->cols,
        .low = t->low,
        .high = t->high,
        .tolerance = 1e-10 * t->size / t->unit,
        .gain = 4 * DBL_EPSILON * t->size,
        .most_steps = MOST_STEPS,
        .longest = 3 * t->unit * sqrt((double)p->cols),
        .value = known ? value_by_profile : value_by_kernel,
        .gradient = known ? slope_by_profile : slope_by_kernel,
        .arg = t,
    };
    /* A distance within the rounding error of the sum counts as 0. */
    if ((!known && p->cols > FEW_FEATURES) || *f <= 64 * DBL_EPSILON * t->size)
        return MCR_OK;
    double *z = mcr_alloc(p->ctx, (size_t)p->cols, sizeof *z);
    if (!z)
        return MCR_NO_MEMORY;
    memcpy(z, best, sizeof *z * (size_t)p->cols);
    mcr_status s = mcr_descent_solve(p->ctx, &problem, z, &r);
    if (!s && r.f < *f) {
        *f = r.f;
        memcpy(best, z, sizeof *z * (size_t)p->cols);
    }
    mcr_free(p->ctx, z);
    return s;
}

/* Absolute differences have kinks, where descent gets stuck: coordinate search with decreasing
 * steps. */
static mcr_status walk(search *t, double *best, double *f)
{
    mcr_status s = MCR_OK;
    int64_t tries = 0;
    for (double step = 0.1 * t->unit; step > 1e-6 * t->unit && !s;) {
        bool moved = false;
        for (int64_t v = 0; v < 2 * t->p->cols && !s && tries < MOST_TRIES; v++, tries++) {
            double before = best[v / 2], own;
            best[v / 2] += v % 2 ? -step : step;
            s = value_by_profile(t, best, &own);
            if (!s && own < *f - 4 * DBL_EPSILON * t->size) {
                *f = own;
                moved = true;
            } else {
                best[v / 2] = before;
            }
        }
        if (!moved)
            step /= 3;
    }
    return s;
}

static mcr_status one_object(search *t, double *z)
{
    mcr_images *p = t->p;
    double f = INFINITY, *other = mcr_alloc(p->ctx, 2 * (uint64_t)p->cols, sizeof *other);
    double *best = other ? other + p->cols : NULL;
    mcr_status s = other ? MCR_OK : MCR_NO_MEMORY;
    if (!s)
        s = offer(t, p->basis + best_basis(t) * p->cols, best, &f);
    if (!s)
        s = offer(t, z, best, &f);
    if (!s && !p->gaussian)
        s = mcr_images_near(p, t->b, other);
    if (!s && !p->gaussian)
        s = offer(t, other, best, &f);
    if (!s && p->profile == MCR_PROFILE_S && mcr_images_rises(p->model->kernel)) {
        s = mcr_images_inner(p, t->b, t->unit, other);
        if (!s)
            s = offer(t, other, best, &f);
    }
    if (!s)
        s = improve(t, best, &f);
    if (!s && p->profile > 0 && (p->profile & MCR_PROFILE_U) && f > 64 * DBL_EPSILON * t->size)
        s = walk(t, best, &f);
    if (!s) {
        memcpy(z, best, sizeof *z * (size_t)p->cols);
        p->distance[t->b] = f > 0 ? sqrt(f) : 0;
    }
    mcr_free(p->ctx, other);
    return s;
}

/* ---- a block ----------------------------------------------------------------------------------*/

static double spread_of(const mcr_images *p)
{
    double sum = 0;
    for (int64_t j = 0; j < p->cols; j++) {
        double mean = 0, square = 0;
        for (int64_t i = 0; i < p->n; i++)
            mean += p->basis[i * p->cols + j] / (double)p->n;
        for (int64_t i = 0; i < p->n; i++) {
            double apart = p->basis[i * p->cols + j] - mean;
            square += apart * apart / (double)p->n;
        }
        sum += square / (double)p->cols;
    }
    return sum > 0 ? sqrt(sum) : 1;
}

static mcr_status open_search(search *t)
{
    const mcr_images *p = t->p;
    uint64_t n = (uint64_t)p->n, cols = (uint64_t)p->cols;
    uint64_t moves = p->profile < 0 && p->cols <= FEW_FEATURES ? 2 * cols : 1;
    size_t space = mcr_profile_workspace(p->model->kernel, p->n) + 8;
    if (!mcr_alloc_arrays(p->ctx, MCR_ARRAY(t->z, cols), /* the block to free */
                          MCR_ARRAY(t->low, cols), MCR_ARRAY(t->high, cols), MCR_ARRAY(t->at[0], n),
                          MCR_ARRAY(t->at[1], n), MCR_ARRAY(t->at[2], n),
                          MCR_ARRAY(t->value, 4 * n), MCR_ARRAY(t->buffer, space),
                          MCR_ARRAY(t->moved, moves * cols), MCR_ARRAY(t->k, moves * n),
                          MCR_ARRAY(t->own, moves)))
        return MCR_NO_MEMORY;
    for (uint64_t j = 0; j < cols; j++) {
        t->low[j] = -DBL_MAX;
        t->high[j] = DBL_MAX;
    }
    t->unit = spread_of(p);
    t->size = DBL_MIN;
    for (int64_t i = 0; i < p->n; i++)
        t->size = fmax(t->size, fabs(p->diagonal[i]));
    return MCR_OK;
}

mcr_status mcr_images_search(mcr_images *p)
{
    search t = {.p = p};
    mcr_status s = open_search(&t);
    for (t.b = 0; t.b < p->count && !s; t.b++)
        s = one_object(&t, p->given + t.b * p->cols);
    mcr_free(p->ctx, t.z);
    return s;
}
