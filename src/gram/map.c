/* map.c: approximate feature maps: Nystroem, and the code that all maps share.
 *
 * Nystroem: with the eigenvectors U and eigenvalues v of K between the landmarks, phi(x) = v^-1/2
 * U' k(x) is the projection of Phi(x) onto the landmarks' span, in an orthonormal basis. Directions
 * with an eigenvalue close to 0 are dropped. (Williams and Seeger, NIPS 2000.)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/map.h"

#include <math.h>

#include "base/random.h"
#include "base/sized.h"
#include "base/team.h"
#include "gram/factor.h"
#include "kernel/explicit.h"
#include "linalg/shared.h"

/* Eigenvalues below this share of the largest are rounding. */
#define LEAST_SHARE 1e-11

mcr_status mcr_map_not_definite(mcr *ctx, const char *message)
{
    return mcr_advise(ctx, mcr_fail(ctx, MCR_NUMERIC, "%s", message), "definite");
}

/* K between the landmarks. Close it also after a failure. */
static mcr_status open_own(mcr_system *k, const mcr_map *m)
{
    mcr_gram *gram = NULL;
    *k = (mcr_system){0};
    mcr_status s = mcr_gram_open(&gram, m->ctx, m->kernel, m->landmark, NULL);
    if (!s)
        s = mcr_system_open(k, m->ctx, m->landmarks, "the landmarks' kernel values");
    if (!s)
        s = mcr_gram_fill_system(gram, k, NULL, false);
    mcr_gram_close(gram);
    return s;
}

mcr_status mcr_map_cross(mcr_gram **out, const mcr_map *m, const mcr_data *data, mcr_rows rows)
{
    mcr_data *part = NULL;
    *out = NULL;
    mcr_status s = mcr_data_load(&part, data, rows);
    if (!s)
        s = mcr_gram_open(out, m->ctx, m->kernel, part, m->landmark);
    mcr_data_free(part);
    return s;
}

/* ---- Nystroem ---------------------------------------------------------------------------------*/

/* turn = U v^-1/2 of K between the landmarks. */
static mcr_status whiten(mcr_map *m)
{
    int64_t r = m->landmarks;
    mcr_system k;
    mcr_status s = open_own(&k, m);
    double *value = s ? NULL : mcr_alloc(m->ctx, (size_t)r, sizeof *value);
    if (!s && !value)
        s = MCR_NO_MEMORY;
    if (!s)
        s = mcr_shared_eigen(m->ctx, r, k.a, k.ld, value);
    double least = s ? 0 : LEAST_SHARE * fmax(value[r - 1], 0);
    for (int64_t e = 0; e < r && !s; e++)
        m->count += value[e] > least;
    if (!s && m->count == 0)
        s = mcr_map_not_definite(
            m->ctx, "nystrom: no landmark has a length in feature space: is it a kernel?");
    if (!s && !(m->turn = mcr_alloc(m->ctx, (size_t)r, (size_t)m->count * sizeof *m->turn)))
        s = MCR_NO_MEMORY;
    for (int64_t e = r - m->count; e < r && !s; e++) { /* ascending; the largest first here */
        int64_t c = r - 1 - e;
        for (int64_t i = 0; i < r; i++)
            m->turn[i * m->count + c] = k.a[e * k.ld + i] / sqrt(value[e]);
    }
    mcr_system_close(&k);
    mcr_free(m->ctx, value);
    return s;
}

/* ---- Falkon -----------------------------------------------------------------------------------
 *
 * The same span with T = L^-T, K = L L' between the landmarks: a Cholesky factor takes a fraction
 * of the time of eigenvectors. Landmarks that depend on others are left out. */

/* *clear: no landmark is nearly dependent on the previous ones. */
static mcr_status factorise(mcr_system *k, bool *clear)
{
    double largest = 0, smallest = INFINITY;
    for (int64_t i = 0; i < k->n; i++)
        largest = fmax(largest, k->diagonal[i]);
    mcr_status s = mcr_system_factor(k, 0, NULL, NULL);
    for (int64_t i = 0; i < k->n && !s; i++)
        smallest = fmin(smallest, k->a[i * k->ld + i] * k->a[i * k->ld + i]);
    *clear = !s && smallest > LEAST_SHARE * largest;
    return s;
}

/* Drops landmarks that the others approximate up to a share of the trace. */
static mcr_status take_independent(mcr_map *m, mcr_system *k, double share)
{
    int64_t count = 0, *order = mcr_alloc(m->ctx, (size_t)m->landmarks, sizeof *order);
    mcr_data *some = NULL;
    mcr_system_restore(k);
    mcr_status s = order ? mcr_gram_pivots(m->ctx, k->n, k->a, k->ld, share, order, &count)
                         : MCR_NO_MEMORY;
    if (!s && count == 0)
        s = mcr_map_not_definite(
            m->ctx, "falkon: no landmark has a length in feature space: is it a kernel?");
    if (!s)
        s = mcr_data_select(&some, m->landmark, (mcr_rows){order, 0, count});
    for (int64_t i = 0; i < count && !s; i++)
        m->object[i] = m->object[order[i]]; /* both rise, so order[i] >= i */
    if (!s) {
        mcr_data_free(m->landmark);
        m->landmark = some;
        m->landmarks = count;
    }
    mcr_free(m->ctx, order);
    return s;
}

typedef struct invert_job {
    const mcr_map *m;
    const mcr_system *l;
} invert_job;

enum { STRIPE = 64 }; /* columns */

/* Some columns of L^-T, which end at the diagonal. */
static mcr_status invert_stripe(void *arg, int64_t item, int worker)
{
    (void)worker;
    const invert_job *j = arg;
    int64_t r = j->m->count, first = item * STRIPE, end = mcr_least(first + STRIPE, r);
    if (mcr_deadline_over(j->m->ctx))
        return mcr_fail(j->m->ctx, MCR_STOPPED, "interrupted");
    return mcr_blas_triangle_solve(j->m->ctx, MCR_TRANSPOSED, end, end - first, j->l->a, j->l->ld,
                                   j->m->turn + first, r);
}

static mcr_status invert(mcr_map *m, const mcr_system *l)
{
    int64_t r = m->count = m->landmarks;
    invert_job j = {m, l};
    m->turn = mcr_alloc_zero(m->ctx, (size_t)r, (size_t)r * sizeof *m->turn);
    for (int64_t i = 0; i < r && m->turn; i++)
        m->turn[i * r + i] = 1;
    if (!m->turn)
        return MCR_NO_MEMORY;
    m->upper = true;
    return mcr_shared_items(m->ctx, mcr_parts(r, STRIPE), invert_stripe, &j);
}

/* One attempt with the current landmarks; *done is false if some were dropped for another
 * attempt. */
static mcr_status try_span(mcr_map *m, bool first, double share, bool *done)
{
    mcr_system k;
    mcr_status s = open_own(&k, m);
    if (!s) {
        s = factorise(&k, done);
        *done = !s && (*done || !first);
        if (*done)
            s = invert(m, &k);
        else if (!s || s == MCR_NUMERIC)
            s = take_independent(m, &k, share);
    }
    mcr_system_close(&k);
    return s;
}

static mcr_status span(mcr_map *m)
{
    bool done = false;
    mcr_status s = MCR_OK;
    double share = LEAST_SHARE;
    for (; share < 1e-4 && !s && !done; share *= 10)
        s = try_span(m, share == LEAST_SHARE, share, &done);
    if (!s && !done)
        s = mcr_map_not_definite(
            m->ctx,
            "falkon: the landmarks' kernel matrix is not positive definite: is it a kernel?");
    return s;
}

static mcr_status open_nystrom(mcr_map *m, const mcr_data *x, const mcr_map_options *o)
{
    int64_t first, n;
    mcr_status s = mcr_team_place(m->ctx, mcr_data_count(x), &first, &n);
    if (s)
        return s;
    m->landmarks = o->rank < n ? o->rank : n;
    m->object = mcr_alloc(m->ctx, (size_t)m->landmarks, sizeof *m->object);
    s = m->object
            ? mcr_landmarks_choose(m->ctx, m->kernel, x, o->landmarks, &m->landmarks, m->object)
            : MCR_NO_MEMORY;
    if (!s)
        s = mcr_data_pick(&m->landmark, x, (mcr_rows){m->object, 0, m->landmarks});
    if (s)
        return s;
    return m->approx == MCR_APPROX_FALKON ? span(m) : whiten(m);
}

static mcr_status nystrom_rows(const mcr_map *m, const mcr_data *data, mcr_rows rows, double *to,
                               int64_t ld)
{
    mcr_gram *gram = NULL;
    int64_t r = m->landmarks;
    double *k = mcr_alloc(m->ctx, (size_t)rows.count, (size_t)r * sizeof *k);
    mcr_status s = k ? mcr_map_cross(&gram, m, data, rows) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_gram_block(gram, (mcr_rows){NULL, 0, rows.count}, (mcr_rows){NULL, 0, r}, k, r);
    if (!s)
        s = m->upper ? mcr_shared_times_upper(m->ctx, rows.count, r, k, r, m->turn, r, to, ld)
                     : mcr_shared_gemm(m->ctx, MCR_AS_IS, MCR_AS_IS, rows.count, m->count, r, 1, k,
                                       r, m->turn, m->count, 0, to, ld);
    mcr_gram_close(gram);
    mcr_free(m->ctx, k);
    return s;
}

mcr_status mcr_map_coefficients(const mcr_map *m, const double *w, int64_t cols, double *coef)
{
    return mcr_shared_gemm(m->ctx, MCR_AS_IS, MCR_AS_IS, m->landmarks, cols, m->count, 1, m->turn,
                           m->count, w, cols, 0, coef, cols);
}

/* ---- all maps ---------------------------------------------------------------------------------*/

static mcr_status begin(mcr_map **out, mcr *ctx, const mcr_kernel *kernel, mcr_approx approx)
{
    mcr_map *m = *out = mcr_alloc_zero(ctx, 1, sizeof *m);
    if (!m)
        return MCR_NO_MEMORY;
    m->ctx = ctx;
    m->kernel = mcr_kernel_retain(kernel);
    m->approx = approx;
    return MCR_OK;
}

static mcr_status end(mcr_map **out, mcr_status s)
{
    if (s) {
        mcr_map_close(*out);
        *out = NULL;
    }
    return s;
}

mcr_status mcr_map_open(mcr_map **out, mcr *ctx, const mcr_kernel *kernel, const mcr_data *x,
                        const mcr_map_options *options)
{
    mcr_map_options o;
    *out = NULL;
    mcr_status s = MCR_SIZED_READ(mcr_map_options, &o, ctx, options);
    if (s)
        return s;
    if (o.approx == MCR_APPROX_RFF)
        return mcr_map_open_seeded(out, ctx, kernel, x, o.rank, mcr_seed(ctx));
    if (o.rank < 1 || (mcr_data_count(x) < 1 && !mcr_team_of_rows(ctx)))
        return mcr_fail(ctx, MCR_BAD_CALL, "nystrom: needs a rank of at least 1, and objects");
    s = begin(out, ctx, kernel, o.approx == MCR_APPROX_FALKON ? o.approx : MCR_APPROX_NYSTROM);
    return end(out, s ? s : open_nystrom(*out, x, &o));
}

mcr_status mcr_map_open_seeded(mcr_map **out, mcr *ctx, const mcr_kernel *kernel,
                               const mcr_data *data, int64_t rank, uint64_t seed)
{
    *out = NULL;
    mcr_status s = mcr_map_fourier_check(ctx, kernel);
    if (!s)
        s = begin(out, ctx, kernel, MCR_APPROX_RFF);
    if (s)
        return s;
    (*out)->seed = seed;
    (*out)->columns = (rank + 1) / 2;
    (*out)->count = 2 * (*out)->columns;
    return end(out, mcr_map_fourier(*out, data));
}

static mcr_status span_all(mcr_map *m, double share)
{
    mcr_system k;
    double mean = 0;
    mcr_status s = open_own(&k, m);
    for (int64_t i = 0; i < m->landmarks && !s; i++)
        mean += k.diagonal[i] / (double)m->landmarks;
    if (!s)
        s = mcr_system_factor(&k, share * mean, NULL, NULL);
    if (!s)
        s = invert(m, &k);
    mcr_system_close(&k);
    return s;
}

mcr_status mcr_map_open_at(mcr_map **out, mcr *ctx, const mcr_kernel *kernel, const mcr_data *x,
                           mcr_rows object, double share)
{
    mcr_status s = begin(out, ctx, kernel, MCR_APPROX_FALKON);
    if (s)
        return s;
    mcr_map *m = *out;
    m->landmarks = object.count;
    m->object = mcr_alloc(ctx, (size_t)object.count, sizeof *m->object);
    for (int64_t i = 0; i < object.count && m->object; i++)
        m->object[i] = mcr_rows_at(object, i);
    s = m->object ? mcr_data_pick(&m->landmark, x, object) : MCR_NO_MEMORY;
    return end(out, s ? s : span_all(m, share));
}

void mcr_map_close(mcr_map *m)
{
    if (!m)
        return;
    mcr_free_all(m->ctx, m->object, m->turn, m->omega);
    mcr_budget_give(m->ctx, m->taken);
    mcr_data_free(m->landmark);
    mcr_kernel_free(m->kernel);
    mcr_free(m->ctx, m);
}

int64_t mcr_map_count(const mcr_map *m)
{
    return m->count;
}

mcr_status mcr_map_rows(mcr_map *m, const mcr_data *data, mcr_rows rows, double *to, int64_t ld)
{
    return m->approx == MCR_APPROX_RFF ? mcr_map_fourier_rows(m, data, rows, to, ld)
                                       : nystrom_rows(m, data, rows, to, ld);
}

/* ---- how good it is ---------------------------------------------------------------------------*/

static void compare(mcr_map_error *e, const double *k, const double *near, int64_t n)
{
    double squares = 0;
    *e = (mcr_map_error){.pairs = n * (n + 1) / 2};
    for (int64_t i = 0; i < n; i++) {
        e->scale += k[i * n + i] / (double)n;
        for (int64_t j = 0; j <= i; j++) {
            double off = fabs(near[i * n + j] - k[i * n + j]);
            e->mean += off / (double)e->pairs;
            squares += off * off;
            e->largest = fmax(e->largest, off);
        }
    }
    e->rms = sqrt(squares / (double)e->pairs);
}

mcr_status mcr_map_measure(mcr_map *m, const mcr_data *data, mcr_map_error *out)
{
    enum { MOST = 256 };
    mcr *ctx = m->ctx;
    int64_t first, all;
    mcr_status s = mcr_team_place(ctx, mcr_data_count(data), &first, &all);
    if (s)
        return s;
    int64_t n = all < MOST ? all : MOST, p = m->count;
    mcr_map_error error = MCR_INIT(mcr_map_error);
    int64_t *row = mcr_alloc(ctx, (size_t)n, sizeof *row);
    double *k = mcr_alloc(ctx, (uint64_t)(n * n), 2 * sizeof *k);
    double *phi = mcr_alloc(ctx, (size_t)n, (size_t)p * sizeof *phi);
    mcr_data *part = NULL;
    mcr_gram *gram = NULL;
    mcr_random r = mcr_random_stream(mcr_seed(ctx), "pairs", 0);
    s = row && k && phi ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < n && !s; i++)
        row[i] = all <= MOST ? i : mcr_random_below(&r, all);
    if (!s)
        s = mcr_data_pick(&part, data, (mcr_rows){row, 0, n});
    if (!s)
        s = mcr_gram_open(&gram, ctx, m->kernel, part, NULL);
    if (!s)
        s = mcr_gram_matrix_quietly(gram, k, n, true);
    if (!s)
        s = mcr_map_rows(m, part, (mcr_rows){NULL, 0, n}, phi, p);
    if (!s)
        s = mcr_shared_gemm(ctx, MCR_AS_IS, MCR_TRANSPOSED, n, n, p, 1, phi, p, phi, p, 0,
                            k + n * n, n);
    if (!s) {
        compare(&error, k, k + n * n, n);
        s = MCR_SIZED_WRITE(mcr_map_error, out, ctx, &error);
    }
    mcr_gram_close(gram);
    mcr_data_free(part);
    mcr_free_all(ctx, row, k, phi);
    return s;
}

/* ---- as data ----------------------------------------------------------------------------------*/

mcr_status mcr_map_data(mcr_data **out, mcr_map *m, const mcr_data *data)
{
    enum { BLOCK = 2048 };
    int64_t n = mcr_data_count(data), p = m->count;
    mcr_builder *b = NULL;
    *out = NULL;
    double bytes = (double)n * (double)p * sizeof(double);
    mcr_status s = bytes > (double)mcr_budget_left(m->ctx)
                       ? mcr_advise(
                             m->ctx,
                             mcr_fail(m->ctx, MCR_OVER_BUDGET,
                                      "the features of all objects need %.1f GB, which is more "
                                      "than the memory budget: allow more, or use a smaller rank",
                                      bytes / 1e9),
                             "memory")
                       : MCR_OK;
    double *phi = s ? NULL : mcr_alloc(m->ctx, (size_t)n, (size_t)p * sizeof *phi);
    if (!s && !phi)
        s = MCR_NO_MEMORY;
    for (int64_t i = 0; i < n && !s; i += BLOCK)
        s = mcr_map_rows(m, data, (mcr_rows){NULL, i, n - i < BLOCK ? n - i : BLOCK}, phi + i * p,
                         p);
    if (!s)
        s = mcr_builder_open(&b, m->ctx, n);
    if (!s)
        s = mcr_builder_dense(b, "features", phi, p, p);
    if (!s)
        s = mcr_features_targets(b, m->ctx, data);
    if (!s)
        s = mcr_builder_finish(out, b);
    else
        mcr_builder_close(b);
    mcr_free(m->ctx, phi);
    return s;
}
