/* error.c: bounds of the rounding error of kernel values.
 *
 * Bounds have two forms, |computed - K(x,z)| <= r sqrt(K(x,x) K(z,z)), and for kernels without
 * negative values |computed - K(x,z)| <= r K(x,z), which is much smaller for distant objects. Sums,
 * products and powers of kernels keep both (Cauchy and Schwarz). They are worst cases, from the
 * standard model of rounding: a sequential sum of n products has an error of at most n u sum |x_k
 * z_k| (Higham, Accuracy and Stability of Numerical Algorithms, chapter 3), where u is half of the
 * distance from 1 to the next number. Kernels that are not listed here have no bound.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "base/threads.h"
#include "kernel/built_in.h"
#include "kernel/explicit.h"
#include "kernel/poly.h"
#include "kernel/vectors_impl.h"

/* Terms of second order, and the rounding of the bound itself. */
#define MORE 1.1

/* ---- vectors ----------------------------------------------------------------------------------*/

/* Quantities of the packed objects of both sides that the bounds need. */
typedef struct extent {
    int64_t terms;    /* most nonzero features */
    double norm2, l1; /* largest squared norm, largest sum of absolute values */
    bool whole;       /* all values are whole numbers */
} extent;

typedef struct extent_job {
    const mcr_vectors *v;
    int side;
    extent *of; /* each chunk */
} extent_job;

enum { CHUNK = 512 };

/* Beyond 2^52 all doubles are integers; below, adding 1.5 * 2^52 rounds the fraction off. */
static bool is_whole(double value)
{
    const double large = 0x1.8p52;
    return fabs(value) >= 0x1p52 || (value + large) - large == value;
}

/* Contiguous doubles. In independent lanes, so that the compiler vectorises: this runs over the
 * objects of every pair of classes. */
static void extend_plain(extent *e, const mcr_vector *x)
{
    enum { LANES = 8 };
    const double *value = x->value;
    double norm2[LANES] = {0}, l1[LANES] = {0};
    int64_t terms = 0, broken = 0, t = 0;
    for (; t + LANES <= x->count; t += LANES)
        for (int q = 0; q < LANES; q++) {
            terms += value[t + q] != 0;
            broken += !is_whole(value[t + q]);
            norm2[q] += value[t + q] * value[t + q];
            l1[q] += fabs(value[t + q]);
        }
    for (; t < x->count; t++) {
        terms += value[t] != 0;
        broken += !is_whole(value[t]);
        norm2[0] += value[t] * value[t];
        l1[0] += fabs(value[t]);
    }
    for (int q = 1; q < LANES; q++) {
        norm2[0] += norm2[q];
        l1[0] += l1[q];
    }
    e->whole = e->whole && broken == 0;
    e->terms = terms > e->terms ? terms : e->terms;
    e->norm2 = fmax(e->norm2, norm2[0]);
    e->l1 = fmax(e->l1, l1[0]);
}

/* Other layouts; m2, m1: norms of the shift. */
static void extend(extent *e, const mcr_vectors *v, const mcr_vector *x, double m2, double m1)
{
    double norm2 = x->index ? m2 : 0, l1 = x->index ? m1 : 0;
    int64_t terms = 0;
    for (int64_t t = 0; t < x->count; t++) {
        int64_t k = mcr_vector_column(x, t);
        double scale = v->scale ? v->scale[k] : 1, m = v->shift ? v->shift[k] * scale : 0;
        double value = mcr_vector_value(x, t) * scale - m;
        terms += value != 0;
        e->whole = e->whole && is_whole(value);
        norm2 += x->index ? value * value - m * m : value * value;
        l1 += x->index ? fabs(value) - fabs(m) : fabs(value);
    }
    e->terms = terms > e->terms ? terms : e->terms;
    e->norm2 = fmax(e->norm2, norm2);
    e->l1 = fmax(e->l1, l1);
}

/* Squares and absolute values of the shift. */
static void measure_shift(const mcr_vectors *v, double *m2, double *m1)
{
    *m2 = *m1 = 0;
    for (int64_t k = 0; v->shift && k < v->cols; k++) {
        double m = v->shift[k] * (v->scale ? v->scale[k] : 1);
        *m2 += m * m;
        *m1 += fabs(m);
    }
}

static mcr_status extent_chunk(void *arg, int64_t first, int64_t end)
{
    const extent_job *job = arg;
    double m2, m1;
    measure_shift(job->v, &m2, &m1);
    extent e = {0, 0, 0, true};
    for (int64_t i = first; i < end; i++) {
        mcr_vector x = mcr_vectors_object(job->v, job->side, i);
        if (job->v->scale || job->v->shift || !mcr_vector_plain(&x))
            extend(&e, job->v, &x, m2, m1);
        else
            extend_plain(&e, &x);
    }
    job->of[first / CHUNK] = e;
    return MCR_OK;
}

/* Distances of shifted vectors: the existing norms suffice. A norm in float has the rounding error
 * of its sum. */
static bool measure_norms(const mcr_vectors *v, extent *all)
{
    double largest = 0, unit = 0;
    for (int side = 0; side < (v->same ? 1 : 2); side++) {
        void *const *norms = v->side[side].norms;
        int64_t n = v->side[side].field.count;
        if (!norms[0] && !norms[1])
            return false;
        unit = fmax(unit, norms[1] ? DBL_EPSILON : (double)FLT_EPSILON);
        for (int64_t i = 0; i < n; i++) {
            double norm = norms[1] ? ((const double *)norms[1])[i]
                                   : (double)((const float *)norms[0])[i];
            largest = norm > largest ? norm : largest;
        }
    }
    double share = ((double)v->cols + 4) * unit;
    *all = (extent){.terms = v->cols, .norm2 = largest * (1 + 2 * share)};
    return share < 0.01 && largest <= DBL_MAX;
}

static mcr_status measure(const mcr_vectors *v, bool norms, extent *all)
{
    if (norms && v->shift && measure_norms(v, all))
        return MCR_OK;
    *all = (extent){0, 0, 0, true};
    mcr_status s = MCR_OK;
    for (int side = 0; side < (v->same ? 1 : 2) && !s; side++) {
        int64_t chunks = mcr_parts(v->side[side].field.count, CHUNK);
        extent_job job = {v, side, mcr_alloc(v->ctx, (size_t)chunks, sizeof(extent))};
        s = job.of
                ? mcr_parallel_chunks(v->ctx, v->side[side].field.count, CHUNK, extent_chunk, &job)
                : MCR_NO_MEMORY;
        for (int64_t c = 0; c < chunks && !s; c++) {
            const extent *e = &job.of[c];
            all->terms = e->terms > all->terms ? e->terms : all->terms;
            all->norm2 = fmax(all->norm2, e->norm2);
            all->l1 = fmax(all->l1, e->l1);
            all->whole = all->whole && e->whole;
        }
        mcr_free(v->ctx, job.of);
    }
    if (v->shift) /* zeros have become -shift */
        all->terms = v->cols;
    return s;
}

/* A squared distance has an error proportional to |x|^2 + |z|^2: two norms and a product, each a
 * rounded sum. Pairs for which the criterion of vectors_run.c finds that too large are recomputed
 * from the differences; for the others the criterion's tolerance holds, up to the ratio of the
 * worst case to the expected error. */
static void distance_error(const mcr_vectors *v, const extent *e, double u, bool precise,
                           mcr_error *r)
{
    if (u == MCR_EXTENDED_UNIT) { /* t in exp(-t) is a sum of squares of differences */
        r->absolute = MORE * ((double)e->terms * 2 + 8) * u / exp(1) + 8 * u;
        return;
    }
    double m2, m1;
    measure_shift(v, &m2, &m1);
    double terms = 2 * (double)e->terms + 10, norms = 2 * e->norm2;
    double tolerance = precise ? MCR_DISTANCE_TOLERANCE : MCR_DISTANCE_TOLERANCE_FLOAT;
    /* Integers below 1 / u are exact, but sums of three of them may be rounded. */
    double rounded = e->whole && !v->scale && !v->shift && e->norm2 * u < 1 ? 4 : terms;
    /* Differences from the shift are rounded in double. */
    double error = rounded * u * norms + 0.5 * DBL_EPSILON * (4 * norms + 8 * sqrt(norms * m2));
    double change = v->sharpness * error;
    r->absolute = MORE * fmin(change, terms / v->rounding * tolerance) + 16 * u;
    /* exp is accurate to 4 u; its argument, at most 2 norms, has two rounding errors. */
    r->relative = change < 0.05 ? MORE * (change + 4 * u * v->sharpness * norms) + 16 * u
                                : INFINITY;
}

static mcr_status leaf_error(const mcr_bound *bound, bool precise, double u, mcr_error *r)
{
    const mcr_fused *f = bound->fused;
    const mcr_kernel_type *type = bound->kernel->type;
    bool known_map = type == &mcr_kernel_cosine || type == &mcr_kernel_matern ||
                     type == &mcr_kernel_rq;
    extent e;
    if (f->map && !known_map)
        return MCR_OK;
    mcr_status s = measure(f->v, mcr_tile_op_uses_norms(f->op), &e);
    if (s)
        return s;
    bool exact = e.whole && !f->v->scale && e.norm2 * u < 1;
    double terms = (double)e.terms, dot = exact ? 0 : MORE * (terms + 4) * u;
    double sums = MORE * (terms + 4) * u / exp(1); /* of t in exp(-t) */
    switch (f->op) {
    case MCR_TILE_DOT:
        if (!f->v->shift)
            r->absolute = dot + 8 * u;
        break;
    case MCR_TILE_POLY:
        if (!f->v->shift)
            r->absolute = MORE * f->degree * (dot + 4 * u);
        break;
    case MCR_TILE_SQDIST:
    case MCR_TILE_RBF:
        distance_error(f->v, &e, u, precise, r);
        if (f->op != MCR_TILE_RBF)
            r->relative = INFINITY;
        break;
    case MCR_TILE_MIN: r->absolute = dot + 2 * u; break;
    case MCR_TILE_EXP_L1: r->absolute = sums + MORE * u * f->gamma * 2 * e.l1 + 8 * u; break;
    case MCR_TILE_EXP_CHI2: r->absolute = sums + MORE * u * f->gamma * 6 * e.l1 + 8 * u; break;
    default: break;
    }
    return MCR_OK;
}

/* ---- the tree ---------------------------------------------------------------------------------*/

/* The value of r for a product of such factors. */
static double joined(const mcr_kernel_type *type, double largest, double product, double degree,
                     int children, double u)
{
    if (type == &mcr_kernel_sum)
        return largest + MORE * (children + 1) * u;
    if (type == &mcr_kernel_product)
        return MORE * (product - 1);
    if (type == &mcr_kernel_power)
        return MORE * (pow(product, degree) - 1);
    return largest + 32 * u; /* normalize: roots, products, values near 1 set to 1 */
}

static mcr_status node_error(const mcr_bound *bound, bool precise, double u, mcr_error *r)
{
    const mcr_kernel_type *type = bound->kernel->type;
    double largest[2] = {0, 0}, product[2] = {1, 1}, value;
    *r = (mcr_error){INFINITY, INFINITY};
    if (bound->fused)
        return leaf_error(bound, precise, u, r);
    if (mcr_kernel_is_constant(bound->kernel, &value)) {
        if (value >= 0)
            *r = (mcr_error){u, u};
        return MCR_OK;
    }
    bool combines = type == &mcr_kernel_sum || type == &mcr_kernel_product;
    if (!combines && type != &mcr_kernel_power && type != &mcr_kernel_normalize)
        return MCR_OK;
    for (int c = 0; c < bound->children; c++) {
        mcr_error of;
        mcr_status s = node_error(bound->child[c], precise, u, &of);
        if (s)
            return s;
        const double part[2] = {of.absolute, of.relative};
        for (int t = 0; t < 2; t++) {
            largest[t] = fmax(largest[t], part[t]);
            product[t] *= 1 + part[t] + 2 * u;
        }
    }
    double degree = type == &mcr_kernel_power ? (double)mcr_kernel_degree(bound->kernel) : 1;
    r->absolute = joined(type, largest[0], product[0], degree, bound->children, u);
    r->relative = joined(type, largest[1], product[1], degree, bound->children, u);
    return MCR_OK;
}

mcr_status mcr_binding_extended_error(mcr_binding *binding, mcr_error *r)
{
    return node_error(binding->root, true, MCR_EXTENDED_UNIT, r);
}

mcr_status mcr_binding_error(mcr_binding *binding, bool precise, mcr_error *r)
{
    double u = precise ? DBL_EPSILON / 2 : (double)FLT_EPSILON / 2;
    mcr_error *kept = &binding->error[precise];
    /* Bindings are shared by threads; all of them compute the same numbers. */
    if (__atomic_load_n(&binding->error_known[precise], __ATOMIC_ACQUIRE)) {
        __atomic_load(&kept->absolute, &r->absolute, __ATOMIC_RELAXED);
        __atomic_load(&kept->relative, &r->relative, __ATOMIC_RELAXED);
        return MCR_OK;
    }
    mcr_status s = node_error(binding->root, precise, u, r);
    if (!s) {
        if (!(r->absolute < 1))
            r->absolute = INFINITY;
        if (!(r->relative < 0.5))
            r->relative = INFINITY;
        __atomic_store(&kept->absolute, &r->absolute, __ATOMIC_RELAXED);
        __atomic_store(&kept->relative, &r->relative, __ATOMIC_RELAXED);
        __atomic_store_n(&binding->error_known[precise], true, __ATOMIC_RELEASE);
    }
    return s;
}

/* ---- explicit features ------------------------------------------------------------------------*/

/* Listed values are what the kernel is, in either form. */
double mcr_features_error(const mcr_bound *bound)
{
    const mcr_kernel_type *type = bound->kernel->type;
    const double u = DBL_EPSILON / 2;
    double sum = 0, largest = 0, value;
    if (type->features == mcr_features_vectors ||
        (type->features == mcr_features_listed && type != &mcr_kernel_ssk))
        return 0;
    if (type == &mcr_kernel_poly) /* products, and the root of a multiplicity */
        return MORE * (3 * (double)((const mcr_poly_params *)bound->kernel->params)->degree + 4) *
               u;
    if (mcr_kernel_is_constant(bound->kernel, &value))
        return 2 * u;
    for (int c = 0; c < bound->children; c++) {
        double of = mcr_features_error(bound->child[c]);
        sum += of + u;
        largest = fmax(largest, of);
    }
    if (type == &mcr_kernel_sum)
        return largest;
    if (type == &mcr_kernel_product)
        return MORE * sum;
    if (type == &mcr_kernel_power)
        return MORE * (double)mcr_kernel_degree(bound->kernel) * sum;
    return INFINITY;
}
