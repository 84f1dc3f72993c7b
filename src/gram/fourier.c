/* fourier.c: random Fourier features (Rahimi and Recht, NIPS 2007) of rbf, laplace and matern.
 *
 * A kernel of x - z is a mixture of cosines: the mean of cos(omega'(x - z)) over random omega. This
 * uses cosines and sines of the same frequencies: their errors are smaller than those of cosines
 * with random phases, and K(x,x) is exact (Sutherland and Schneider, UAI 2015).
 *
 *   rbf      omega_k = sqrt(2 gamma_k) N(0,1)
 *   laplace  omega_k = gamma_k Cauchy
 *   matern   omega = N(0,1) / length / sqrt(chi^2 / 2 nu): Student's t with 2 nu degrees of freedom
 *
 * The numbers of each data column come from a separate stream: data with more columns have the same
 * numbers for the common columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/params.h"
#include "base/random.h"
#include "base/threads.h"
#include "gram/map.h"
#include "linalg/tiles.h"

static bool is_type(const mcr_kernel *k, const char *name)
{
    return strcmp(k->type->name, name) == 0;
}

static bool has_fourier(const mcr_kernel *k)
{
    return is_type(k, "rbf") || is_type(k, "laplace") || is_type(k, "matern");
}

/* A part of an expression without such features: one that is neither such a kernel nor a constant,
 * else one on some columns; NULL: only the whole has none. */
static const mcr_kernel *find_without(const mcr_kernel *k, bool columns)
{
    const mcr_kernel *found = NULL;
    for (int c = 0; c < k->children && !found; c++)
        found = find_without(k->child[c], columns);
    if (found || k->children)
        return found;
    return (columns ? k->columns : !has_fourier(k) && !is_type(k, "constant")) ? k : NULL;
}

mcr_status mcr_map_fourier_check(mcr *ctx, const mcr_kernel *k)
{
    if (has_fourier(k) && !k->columns)
        return MCR_OK;
    const mcr_kernel *part = find_without(k, false), *on = part ? NULL : find_without(k, true);
    char why[160] = "they are for one kernel, not for sums and products";
    if (part && part != k)
        snprintf(why, sizeof why, "%.80s has none", part->text);
    else if (part)
        snprintf(why, sizeof why, "only rbf, laplace and matern have them");
    else if (on)
        snprintf(why, sizeof why, "%.80s is on some columns, and they are for all of a field",
                 on->text);
    return mcr_advise(ctx,
                      mcr_fail(ctx, MCR_BAD_CALL,
                               "%.100s has no random Fourier features: %s; use the approximation "
                               "nystrom, which works with every kernel, or one rbf, laplace or "
                               "matern on a field, such as x: the numbers of a table",
                               k->text, why),
                      "option approx=nystrom");
}

/* The kernel's parameter that may have one value per feature. */
static const mcr_reals *scales_of(const mcr_kernel *k)
{
    const char *name = is_type(k, "matern") ? "length" : "gamma";
    const mcr_param *p = mcr_params_find(k->type->params, name, strlen(name));
    return (const mcr_reals *)((const char *)k->params + p->offset);
}

static double nu_of(const mcr_kernel *k)
{
    const mcr_param *p = mcr_params_find(k->type->params, "nu", 2);
    return *(const double *)((const char *)k->params + p->offset);
}

/* One factor per frequency: 1, or the factor that turns normal numbers into Student's t. */
static void draw_factors(const mcr_map *m, double *factor)
{
    mcr_random r = mcr_random_stream(m->seed, "random feature scales", 0);
    bool student = is_type(m->kernel, "matern");
    int freedom = student ? (int)(2 * nu_of(m->kernel)) : 0;
    for (int64_t j = 0; j < m->columns; j++) {
        double square = 0;
        for (int f = 0; f < freedom; f++) {
            double g = mcr_random_normal(&r);
            square += g * g;
        }
        factor[j] = student ? sqrt(freedom / fmax(square, 1e-300)) : 1;
    }
}

static void draw_column(const mcr_map *m, int64_t column, double scale, const double *factor)
{
    const double pi = 3.14159265358979323846;
    mcr_random r = mcr_random_stream(m->seed, "random features", (uint64_t)column);
    double *to = m->omega + column * m->columns;
    for (int64_t j = 0; j < m->columns; j++) {
        if (is_type(m->kernel, "rbf"))
            to[j] = sqrt(2 * scale) * mcr_random_normal(&r);
        else if (is_type(m->kernel, "laplace"))
            to[j] = scale * tan(pi * (mcr_random_uniform(&r) - 0.5));
        else
            to[j] = factor[j] / scale * mcr_random_normal(&r);
    }
}

static mcr_status choose_field(mcr_field *out, const mcr_map *m, const mcr_data *data)
{
    return mcr_field_choose(out, m->ctx, m->kernel->type->name, MCR_DENSE | MCR_SPARSE,
                            m->kernel->field, NULL, data);
}

mcr_status mcr_map_fourier(mcr_map *m, const mcr_data *data)
{
    mcr_field field;
    mcr_status s = choose_field(&field, m, data);
    if (s)
        return s;
    const mcr_reals *scale = scales_of(m->kernel);
    m->dims = field.store->cols;
    if (scale->count != 1 && scale->count != m->dims)
        return mcr_fail(m->ctx, MCR_BAD_DATA,
                        "%s: %lld values for %lld features: give one, or one per feature",
                        m->kernel->type->name, (long long)scale->count, (long long)m->dims);
    size_t bytes = (size_t)m->dims * (size_t)m->columns * sizeof(double);
    s = mcr_budget_take(m->ctx, bytes, "the random frequencies");
    if (s)
        return s;
    m->taken = bytes;
    m->omega = mcr_alloc(m->ctx, (size_t)m->dims, (size_t)m->columns * sizeof *m->omega);
    double *factor = mcr_alloc(m->ctx, (size_t)m->columns, sizeof *factor);
    s = m->omega && factor ? MCR_OK : MCR_NO_MEMORY;
    if (!s)
        draw_factors(m, factor);
    for (int64_t k = 0; k < m->dims && !s; k++)
        draw_column(m, k, scale->values[scale->count == 1 ? 0 : k], factor);
    mcr_free(m->ctx, factor);
    return s;
}

/* ---- rows -------------------------------------------------------------------------------------*/

typedef struct rows_job {
    const mcr_map *m;
    mcr_field field;
    mcr_rows rows;
    const mcr_vmath *math;
    double *to;
    int64_t ld;
} rows_job;

enum { CHUNK = 64 };

static mcr_status rows_chunk(void *arg, int64_t first, int64_t end)
{
    const rows_job *j = arg;
    const mcr_map *m = j->m;
    for (int64_t t = first; t < end; t++) {
        mcr_vector x = mcr_field_vector(&j->field, mcr_rows_at(j->rows, t));
        double *angle = j->to + t * j->ld, *other = angle + m->columns;
        j->math->fill(angle, 0, m->columns);
        for (int64_t e = 0; e < x.count; e++) {
            double value = mcr_vector_value(&x, e);
            int64_t k = mcr_vector_column(&x, e);
            if (value != 0)
                j->math->add_scaled(angle, value, m->omega + k * m->columns, m->columns);
        }
        memcpy(other, angle, sizeof *angle * (size_t)m->columns);
        j->math->cos(angle, m->columns);
        j->math->sin(other, m->columns);
        j->math->affine(angle, 1 / sqrt((double)m->columns), 0, m->count);
    }
    return MCR_OK;
}

mcr_status mcr_map_fourier_rows(const mcr_map *m, const mcr_data *data, mcr_rows rows, double *to,
                                int64_t ld)
{
    if (mcr_data_on_disk(data)) {
        mcr_data *part = NULL;
        mcr_status loaded = mcr_data_load(&part, data, rows);
        if (!loaded)
            loaded = mcr_map_fourier_rows(m, part, (mcr_rows){NULL, 0, rows.count}, to, ld);
        mcr_data_free(part);
        return loaded;
    }
    rows_job j = {.m = m, .rows = rows, .to = to, .ld = ld};
    mcr_status s = choose_field(&j.field, m, data);
    if (!s && j.field.store->cols > m->dims)
        s = mcr_fail(m->ctx, MCR_BAD_DATA, "these objects have %lld features, and the map %lld",
                     (long long)j.field.store->cols, (long long)m->dims);
    j.math = mcr_tiles_best()->f64->math;
    return s ? s : mcr_parallel_chunks(m->ctx, rows.count, CHUNK, rows_chunk, &j);
}
