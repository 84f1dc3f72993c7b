/* periodic.c: exp(-2 sum_k sin^2(pi (x_k-z_k)/period) / length^2), a periodic kernel. It is a
 * product of one-dimensional kernels, one per feature, and therefore positive semi-definite in any
 * dimension (with the sine of |x-z| it would not be).
 *
 * Each feature is mapped to a circle: with t = 2 pi x_k/period it becomes (cos t - 1, sin t). There
 * 4 sin^2(pi (x_k-z_k)/period) is the squared distance, and the kernel is an rbf. A feature that is
 * 0 becomes (0, 0): sparse vectors stay sparse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/gradient.h"
#include "kernel/parts.h"
#include "kernel/vectors.h"

#include <inttypes.h>
#include <math.h>

#include "base/threads.h"

typedef struct periodic_params {
    mcr_reals period, length;
} periodic_params;

static const mcr_param params[] = {
    {.name = "period",
     .type = MCR_REALS,
     .offset = offsetof(periodic_params, period),
     .standard = "1",
     .min = 0,
     .max = INFINITY,
     .flags = MCR_MIN_OPEN | MCR_MAX_OPEN | MCR_PERIOD,
     .help = "the distance after which it repeats; one number, or a list: one per feature"},
    MCR_SCALE_PARAM(periodic_params, length, MCR_REALS, "1",
                    "smoothness within a period; one number, or a list: one per feature"),
    {.name = NULL},
};

typedef struct circle_job {
    const mcr_field *from;
    mcr_store *to;
    const double *period; /* one per feature */
} circle_job;

enum { CHUNK = 256 };

/* remainder() is exact, so that distant points lose no digits. */
void mcr_periodic_circle(double to[2], double x, double period)
{
    const double pi = 3.14159265358979323846;
    double half = pi * (remainder(x, period) / period);
    to[0] = -2 * sin(half) * sin(half);
    to[1] = sin(2 * half);
}

static mcr_status circle_chunk(void *arg, int64_t first, int64_t end)
{
    const circle_job *job = arg;
    const mcr_store *from = job->from->store;
    for (int64_t i = first; i < end; i++) {
        mcr_vector x = mcr_field_vector(job->from, i);
        int64_t at = x.index ? job->to->start[i] : 2 * i * from->cols;
        double *to = x.index ? job->to->value : job->to->dense;
        for (int64_t e = 0; e < x.count; e++, at += 2) {
            int64_t k = mcr_vector_column(&x, e);
            if (x.index) {
                job->to->index[at] = (int32_t)(2 * k);
                job->to->index[at + 1] = (int32_t)(2 * k + 1);
            }
            mcr_periodic_circle(to + at, mcr_vector_value(&x, e), job->period[k]);
        }
    }
    return MCR_OK;
}

static mcr_status make_store(mcr_store **out, size_t *bytes, const mcr_bound *bound, int side,
                             const double *period)
{
    mcr *ctx = bound->ctx;
    const mcr_field *from = &bound->field[side];
    const mcr_store *s = from->store;
    *out = NULL;
    if (s->cols > INT32_MAX / 2)
        return mcr_fail(ctx, MCR_BAD_DATA, "periodic: %" PRId64 " features are too many", s->cols);
    mcr_store *to;
    mcr_status status = mcr_store_new(&to, ctx, s->name, s->kind);
    if (status)
        return status;
    to->count = from->count;
    to->cols = 2 * s->cols;
    int64_t values = from->count * to->cols;
    if (s->kind == MCR_DENSE) {
        status = mcr_store_alloc_dense(to);
    } else {
        values = 0;
        for (int64_t i = 0; i < from->count; i++)
            values += 2 * mcr_field_vector(from, i).count;
        status = mcr_store_alloc_sparse(to, values);
        for (int64_t i = 0; i < from->count && !status; i++)
            to->start[i + 1] = to->start[i] + 2 * mcr_field_vector(from, i).count;
    }
    circle_job job = {from, to, period};
    if (!status)
        status = mcr_parallel_chunks(ctx, from->count, CHUNK, circle_chunk, &job);
    *bytes += (size_t)values * (sizeof(double) + (s->kind == MCR_DENSE ? 0 : sizeof(int32_t)));
    return mcr_store_give(out, to, status);
}

/* 1/length for both coordinates of each feature. */
static mcr_status make_scale(double **scale, const mcr_bound *bound, const mcr_reals *length)
{
    double *one;
    mcr_status s = mcr_vectors_spread(&one, bound, "length", length);
    *scale = NULL;
    if (s)
        return s;
    int64_t cols = mcr_bound_cols(bound);
    *scale = mcr_alloc(bound->ctx, 2 * (uint64_t)cols, sizeof **scale);
    for (int64_t k = 0; *scale && k < 2 * cols; k++)
        (*scale)[k] = 1 / one[k / 2];
    mcr_free(bound->ctx, one);
    return *scale ? MCR_OK : MCR_NO_MEMORY;
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const periodic_params *p = mcr_bound_params(bound);
    mcr_fused f = {.op = MCR_TILE_RBF, .gamma = 0.5};
    mcr_store *store[2] = {NULL, NULL};
    double *period = NULL, *scale = NULL;
    size_t bytes = 0;
    mcr_status s = mcr_vectors_spread(&period, bound, "period", &p->period);
    if (!s && p->length.count > 1)
        s = make_scale(&scale, bound, &p->length);
    else
        f.gamma = 0.5 / p->length.values[0] / p->length.values[0];
    for (int side = 0; side < (bound->same ? 1 : 2) && !s; side++)
        s = make_store(&store[side], &bytes, bound, side, period);
    if (s) {
        mcr_store_free(store[0]);
        mcr_store_free(store[1]);
    } else {
        s = mcr_vectors_join_made(&f.v, bound, binding, store, bytes, MCR_NEEDS_DISTANCE, scale,
                                  f.gamma);
    }
    mcr_free_all(bound->ctx, period, scale);
    return s ? s : mcr_vectors_offer(bound, &f);
}

MCR_ALWAYS_PSD(definite, "an rbf kernel of points on circles, one per feature")

/* With t = pi (x_k-z_k)/period_k: 2/length_k^2 sin(2t) t K for the period, 4 sin^2(t)/length_k^2 K
 * for the length; one value for all features gets the sum. */
static void add_pair(const periodic_params *p, const double *x, const double *z, int64_t cols,
                     double weight, double *slope)
{
    const double pi = 3.14159265358979323846;
    int64_t periods = p->period.count, lengths = p->length.count;
    for (int64_t k = 0; k < cols; k++) {
        double period = p->period.values[periods > 1 ? k : 0];
        double length = p->length.values[lengths > 1 ? k : 0];
        double apart = x[k] - z[k], half = pi * (remainder(apart, period) / period);
        double in_circle = sin(half), out = cos(half), share = weight / (length * length);
        slope[periods > 1 ? k : 0] += 4 * share * in_circle * out * (pi * (apart / period));
        slope[periods + (lengths > 1 ? k : 0)] += 4 * share * in_circle * in_circle;
    }
}

static mcr_status gradient(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                           int64_t ld, double *slope)
{
    const periodic_params *p = mcr_bound_params(bound);
    int64_t cols = mcr_bound_cols(bound);
    mcr_tile w;
    mcr_status s = mcr_gradient_values(&w, bound, tile);
    const double *x = mcr_gradient_vectors(bound, tile, 0);
    const double *z = mcr_gradient_vectors(bound, tile, 1);
    if (!s && (!x || !z))
        s = MCR_NO_MEMORY;
    for (int64_t i = 0; i < tile->x.count && !s; i++) {
        const double *k = mcr_tile_row(&w, i);
        for (int64_t j = 0; j < tile->z.count; j++)
            if (d[i * ld + j] != 0)
                add_pair(p, x + i * cols, z + j * cols, cols, d[i * ld + j] * k[j], slope);
    }
    return s;
}

const mcr_kernel_type mcr_kernel_periodic = {
    .name = "periodic",
    .summary = "exp(-2 sum sin^2(pi (x-z)/period)/length^2), summed over the features",
    .kinds = MCR_DENSE | MCR_SPARSE,
    .params = params,
    .params_size = sizeof(periodic_params),
    .definite = definite,
    .bind = bind,
    .gradient = gradient,
};
