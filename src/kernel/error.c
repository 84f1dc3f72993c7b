/* error.c: a bound on the rounding of kernel values.
 *
 * All bounds have one form, |computed - K(x,z)| <= r sqrt(K(x,x) K(z,z)), which sums, products and
 * powers of kernels keep (Cauchy and Schwarz). They are worst cases, from the standard model of
 * rounding: a sum of n products in turn errs by n u sum |x_k z_k| at most (Higham, Accuracy and
 * Stability of Numerical Algorithms, chapter 3), with u half of the distance from 1 to the next
 * number. Kernels that are not listed here have no bound: nothing is assumed of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "base/threads.h"
#include "kernel/vectors_impl.h"

/* Terms of second order, and the rounding of the bound itself. */
#define MORE 1.1

/* ---- vectors -----------------------------------------------------------------------------------*/

/* What the bounds need of the packed objects of both sides. */
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

static void extend(extent *e, const mcr_vectors *v, const mcr_vector *x, double m2, double m1)
{
    double norm2 = x->index ? m2 : 0, l1 = x->index ? m1 : 0;
    int64_t terms = 0;
    for (int64_t t = 0; t < x->count; t++) {
        int64_t k = x->index ? x->index[t] : t;
        double scale = v->scale ? v->scale[k] : 1, m = v->shift ? v->shift[k] * scale : 0;
        double value = x->value[t] * scale - m;
        terms += value != 0;
        e->whole &= value == rint(value);
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

static mcr_status extent_chunk(void *arg, int64_t item, int worker)
{
    (void)worker;
    const extent_job *job = arg;
    int64_t n = job->v->side[job->side].field.count, first = item * CHUNK;
    int64_t end = first + CHUNK < n ? first + CHUNK : n;
    double m2, m1;
    measure_shift(job->v, &m2, &m1);
    extent e = {0, 0, 0, true};
    for (int64_t i = first; i < end; i++) {
        mcr_vector x = mcr_vectors_object(job->v, job->side, i);
        extend(&e, job->v, &x, m2, m1);
    }
    job->of[item] = e;
    return MCR_OK;
}

static mcr_status measure(const mcr_vectors *v, extent *all)
{
    *all = (extent){0, 0, 0, true};
    mcr_status s = MCR_OK;
    for (int side = 0; side < (v->same ? 1 : 2) && !s; side++) {
        int64_t chunks = mcr_parts(v->side[side].field.count, CHUNK);
        extent_job job = {v, side, mcr_alloc(v->ctx, (size_t)chunks, sizeof(extent))};
        s = job.of ? mcr_parallel(v->ctx, chunks, extent_chunk, &job) : MCR_NO_MEMORY;
        for (int64_t c = 0; c < chunks && !s; c++) {
            const extent *e = &job.of[c];
            all->terms = e->terms > all->terms ? e->terms : all->terms;
            all->norm2 = fmax(all->norm2, e->norm2);
            all->l1 = fmax(all->l1, e->l1);
            all->whole = all->whole && e->whole;
        }
        mcr_free(v->ctx, job.of);
    }
    if (v->shift) /* zeros have become the shift */
        all->terms = v->cols;
    return s;
}

/* A squared distance errs by `share` of |x|^2 + |z|^2: two norms and a product, each rounded. Pairs
 * for which the kernel's own rule (vectors_run.c) finds that too much are computed again from
 * the differences; for the others the rule's tolerance holds, up to the ratio of the worst case
 * to the error that it expects. */
static double distance_error(const mcr_vectors *v, const extent *e, double u, bool precise)
{
    double m2, m1;
    measure_shift(v, &m2, &m1);
    double terms = 2 * (double)e->terms + 10, norms = 2 * e->norm2;
    double tolerance = precise ? MCR_DISTANCE_TOLERANCE : MCR_DISTANCE_TOLERANCE_FLOAT;
    /* Whole numbers are not rounded while their sums are below 1 / u. */
    double seen = e->whole && !v->scale && !v->shift && norms * u < 0.25 ? 0 : terms * u * norms;
    /* Differences from the shift are rounded as doubles. */
    seen += 0.5 * DBL_EPSILON * (4 * norms + 8 * sqrt(norms * m2));
    return MORE * fmin(v->sharpness * seen, terms / v->rounding * tolerance);
}

static mcr_status leaf_error(const mcr_bound *bound, bool precise, double u, double *r)
{
    const mcr_fused *f = bound->fused;
    const mcr_kernel_type *type = bound->kernel->type;
    bool known_map = type == &mcr_kernel_cosine || type == &mcr_kernel_matern ||
                     type == &mcr_kernel_rq;
    extent e;
    *r = INFINITY;
    if (f->map && !known_map)
        return MCR_OK;
    mcr_status s = measure(f->v, &e);
    if (s)
        return s;
    bool exact = e.whole && !f->v->scale && e.norm2 * u < 0.5;
    double terms = (double)e.terms, dot = exact ? 0 : MORE * (terms + 4) * u;
    double sums = MORE * (terms + 4) * u / exp(1); /* of t in exp(-t) */
    switch (f->op) {
    case MCR_TILE_DOT:
        if (!f->v->shift)
            *r = dot + 8 * u;
        break;
    case MCR_TILE_POLY:
        if (!f->v->shift)
            *r = MORE * f->degree * (dot + 4 * u);
        break;
    case MCR_TILE_SQDIST:
    case MCR_TILE_RBF: *r = distance_error(f->v, &e, u, precise) + 16 * u; break;
    case MCR_TILE_MIN: *r = dot + 2 * u; break;
    case MCR_TILE_EXP_L1: *r = sums + MORE * u * f->gamma * 2 * e.l1 + 8 * u; break;
    case MCR_TILE_EXP_CHI2: *r = sums + MORE * u * f->gamma * 6 * e.l1 + 8 * u; break;
    default: break;
    }
    return MCR_OK;
}

/* ---- the tree ----------------------------------------------------------------------------------*/

static mcr_status node_error(const mcr_bound *bound, bool precise, double u, double *r)
{
    const mcr_kernel_type *type = bound->kernel->type;
    double largest = 0, product = 1, value;
    *r = INFINITY;
    if (bound->fused)
        return leaf_error(bound, precise, u, r);
    if (mcr_kernel_is_constant(bound->kernel, &value)) {
        *r = value >= 0 ? u : INFINITY;
        return MCR_OK;
    }
    bool chain = type == &mcr_kernel_sum || type == &mcr_kernel_product;
    if (!chain && type != &mcr_kernel_power && type != &mcr_kernel_normalize)
        return MCR_OK;
    for (int c = 0; c < bound->children; c++) {
        double of;
        mcr_status s = node_error(bound->child[c], precise, u, &of);
        if (s)
            return s;
        largest = fmax(largest, of);
        product *= 1 + of + 2 * u;
    }
    if (type == &mcr_kernel_sum)
        *r = largest + MORE * (bound->children + 1) * u;
    else if (type == &mcr_kernel_product)
        *r = MORE * (product - 1);
    else if (type == &mcr_kernel_power)
        *r = MORE * (pow(product, (double)mcr_kernel_degree(bound->kernel)) - 1);
    else
        *r = largest + 32 * u; /* roots, products, and what is close to 1 becomes 1 */
    return MCR_OK;
}

mcr_status mcr_binding_error(mcr_binding *binding, bool precise, double *r)
{
    double u = precise ? DBL_EPSILON / 2 : (double)FLT_EPSILON / 2;
    /* Bindings are shared by threads; each computes the same number. */
    if (__atomic_load_n(&binding->error_known[precise], __ATOMIC_ACQUIRE)) {
        __atomic_load(&binding->error[precise], r, __ATOMIC_RELAXED);
        return MCR_OK;
    }
    mcr_status s = node_error(binding->root, precise, u, r);
    if (!s) {
        if (!(*r < 1))
            *r = INFINITY;
        __atomic_store(&binding->error[precise], r, __ATOMIC_RELAXED);
        __atomic_store_n(&binding->error_known[precise], true, __ATOMIC_RELEASE);
    }
    return s;
}
