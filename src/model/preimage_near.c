/* preimage_near.c: vectors from distances and inner products.
 *
 * If K is a function of the distance, P.Phi(x_i) = K(z,x_i) gives the distance of z to x_i,
 * wherever P is an image; if it is an increasing function of the inner product, P.Phi(e_j) gives
 * coordinate j. Otherwise K gives the distances of P in feature space.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "kernel/built_in.h"
#include "kernel/profile.h"
#include "linalg/shared.h"
#include "model/preimage.h"

enum { FEWEST = 10, MOST = 160 };

typedef struct near {
    int64_t count;
    int64_t chosen[MOST];  /* basis objects, nearest first */
    double distance[MOST]; /* squared, in input space */
    double *b;             /* count x count: inner products of the chosen */
} near;

/* The basis objects with the smallest `far`, nearest first. */
static void choose(near *t, const double *far, int64_t n, int64_t most)
{
    t->count = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = t->count < most ? t->count++ : most;
        for (; at > 0 && far[i] < far[t->chosen[at - 1]]; at--)
            if (at < most)
                t->chosen[at] = t->chosen[at - 1];
        if (at < most)
            t->chosen[at] = i;
    }
}

static double profile_at(const mcr_kernel *k, double s, double t, double *buffer)
{
    const double *const at[3] = {&s, &t, &t};
    mcr_profile_values(k, 1, at, buffer, buffer + 4);
    return buffer[0];
}

/* The t with F(t) = value, for a decreasing F. */
static double invert_falling(const mcr_kernel *k, double value, double unit, double *buffer)
{
    double low = 0, high = unit;
    if (!(value < profile_at(k, 0, 0, buffer)))
        return 0;
    for (int i = 0; i < 200 && profile_at(k, 0, high, buffer) > value; i++)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = 0.5 * (low + high);
        if (profile_at(k, 0, middle, buffer) > value)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* The ratio of squared distances among the chosen objects in input space and feature space, by
 * least squares. */
static double scale_of(const near *t, const double *feature)
{
    double above = 0, below = 0;
    int64_t m = t->count;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < i; j++) {
            double d = t->b[i * m + i] + t->b[j * m + j] - 2 * t->b[i * m + j];
            double e = feature[i * m + i] + feature[j * m + j] - 2 * feature[i * m + j];
            above += d * e;
            below += e * e;
        }
    return below > 0 ? above / below : 0;
}

static void centre(double *b, int64_t m)
{
    double mean[MOST] = {0}, total = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++)
            mean[i] += b[i * m + j] / (double)m;
    for (int64_t i = 0; i < m; i++)
        total += mean[i] / (double)m;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++)
            b[i * m + j] += total - mean[i] - mean[j];
}

/* z from its squared distances: with y = z - the mean of the chosen and x_i centred,
 * y.x_i = -(r_i - mean of r)/2, r_i = distance_i - |x_i|^2, and y = sum_i w_i x_i of least length:
 * w = B^+ (that), B_ij = x_i.x_j. */
static mcr_status locate(const mcr_images *p, const near *t, double *z)
{
    double value[MOST], r[MOST], w[MOST] = {0}, mean = 0, sum = 0;
    int64_t m = t->count;
    for (int64_t i = 0; i < m; i++)
        mean += r[i] = t->distance[i] - t->b[i * m + i];
    for (int64_t i = 0; i < m; i++)
        r[i] = -0.5 * (r[i] - mean / (double)m);
    mcr_status s = mcr_shared_eigen(p->ctx, m, t->b, m, value);
    for (int64_t v = 0; v < m && !s; v++) {
        double dot = 0;
        if (!(value[v] > 1e-11 * value[m - 1]))
            continue;
        for (int64_t i = 0; i < m; i++)
            dot += t->b[v * m + i] * r[i];
        for (int64_t i = 0; i < m; i++)
            w[i] += dot / value[v] * t->b[v * m + i];
    }
    for (int64_t i = 0; i < m; i++)
        sum += w[i];
    memset(z, 0, sizeof *z * (size_t)p->cols);
    for (int64_t i = 0; i < m && !s; i++)
        for (int64_t j = 0; j < p->cols; j++)
            z[j] += (w[i] + (1 - sum) / (double)m) * p->basis[t->chosen[i] * p->cols + j];
    return s;
}

static void fill_products(const mcr_images *p, near *t)
{
    for (int64_t i = 0; i < t->count; i++)
        for (int64_t j = 0; j < t->count; j++) {
            const double *x = p->basis + t->chosen[i] * p->cols;
            const double *y = p->basis + t->chosen[j] * p->cols;
            double dot = 0;
            for (int64_t c = 0; c < p->cols; c++)
                dot += x[c] * y[c];
            t->b[i * t->count + j] = dot;
        }
}

/* Distances in input space from those in feature space. */
static mcr_status scale_distances(const mcr_images *p, near *t, const double *far)
{
    mcr_rows rows = {t->chosen, 0, t->count};
    double *feature = mcr_alloc(p->ctx, (uint64_t)(t->count * t->count), sizeof *feature);
    mcr_status s = feature ? mcr_gram_block(p->gram, rows, rows, feature, t->count) : MCR_NO_MEMORY;
    double scale = s ? 0 : scale_of(t, feature);
    for (int64_t i = 0; i < t->count; i++)
        t->distance[i] = scale * far[t->chosen[i]];
    mcr_free(p->ctx, feature);
    return s;
}

mcr_status mcr_images_near(const mcr_images *p, int64_t b, double *z)
{
    const double *kg = p->kg + b * p->n;
    bool radial = p->profile == MCR_PROFILE_T;
    int64_t most = radial ? 2 * p->cols + FEWEST : FEWEST;
    most = most < MOST ? most : MOST;
    near t = {.b = mcr_alloc(p->ctx, (uint64_t)(most * most), sizeof *t.b)};
    double *far = mcr_alloc(p->ctx, (size_t)p->n, sizeof *far);
    double *buffer = mcr_alloc(p->ctx, mcr_profile_workspace(p->model->kernel, 1) + 4,
                               sizeof *buffer);
    mcr_status s = t.b && far && buffer ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < p->n && !s; i++)
        far[i] = fmax(0, p->square[b] + p->diagonal[i] - 2 * kg[i]);
    if (!s) {
        choose(&t, far, p->n, most);
        fill_products(p, &t);
    }
    double unit = t.count > 1 ? fabs(t.b[0]) + fabs(t.b[t.count + 1]) + 1e-300 : 1;
    for (int64_t i = 0; i < t.count && !s && radial; i++)
        t.distance[i] = invert_falling(p->model->kernel, kg[t.chosen[i]], unit, buffer);
    if (!s && !radial)
        s = scale_distances(p, &t, far);
    if (!s) {
        centre(t.b, t.count);
        s = locate(p, &t, z);
    }
    mcr_free_all(p->ctx, t.b, far, buffer);
    return s;
}

/* ---- inner products ---------------------------------------------------------------------------*/

bool mcr_images_rises(const mcr_kernel *k)
{
    double number;
    if (k->type == &mcr_kernel_linear)
        return true;
    if (k->type == &mcr_kernel_poly)
        return mcr_profile_number(k, "degree", &number) && fmod(number, 2) == 1;
    if (k->type == &mcr_kernel_power)
        return mcr_kernel_degree(k) % 2 == 1 && mcr_images_rises(k->child[0]);
    if (k->type != &mcr_kernel_sum && k->type != &mcr_kernel_product)
        return false;
    int rising = 0, others = 0;
    for (int c = 0; c < k->children; c++) {
        bool constant = mcr_kernel_is_constant(k->child[c], &number);
        bool positive = k->type == &mcr_kernel_sum || (constant && number > 0);
        rising += !constant && mcr_images_rises(k->child[c]);
        others += constant ? !positive : !mcr_images_rises(k->child[c]);
    }
    return others == 0 && (k->type == &mcr_kernel_sum ? rising > 0 : rising == 1);
}

/* The s with F(s) = value, for an increasing F. */
static double invert_rising(const mcr_kernel *k, double value, double unit, double *buffer)
{
    double low = -unit, high = unit;
    for (int i = 0; i < 200 && profile_at(k, low, 0, buffer) > value; i++)
        low *= 2;
    for (int i = 0; i < 200 && profile_at(k, high, 0, buffer) < value; i++)
        high *= 2;
    for (int i = 0; i < 120; i++) {
        double middle = 0.5 * (low + high);
        if (profile_at(k, middle, 0, buffer) > value)
            high = middle;
        else
            low = middle;
    }
    return 0.5 * (low + high);
}

mcr_status mcr_images_inner(const mcr_images *p, int64_t b, double unit, double *z)
{
    const mcr_kernel *k = p->model->kernel;
    const double *g = p->g + b * p->n;
    size_t n = (size_t)p->n;
    double *s = mcr_alloc(p->ctx, 5 * n + mcr_profile_workspace(k, p->n) + 8, sizeof *s);
    if (!s)
        return MCR_NO_MEMORY;
    const double *const at[3] = {s, s, s};
    for (int64_t j = 0; j < p->cols; j++) {
        double sum = 0;
        for (int64_t i = 0; i < p->n; i++)
            s[i] = unit * p->basis[i * p->cols + j];
        mcr_profile_values(k, p->n, at, s + n, s + 5 * n);
        for (int64_t i = 0; i < p->n; i++)
            sum += g[i] * s[n + (size_t)i];
        z[j] = invert_rising(k, sum, unit * unit, s + n) / unit;
    }
    mcr_free(p->ctx, s);
    return MCR_OK;
}
