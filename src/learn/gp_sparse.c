/* gp_sparse.c: the likelihood of a sparse Gaussian process, between two bounds.
 *
 * With K_m between m landmarks, K_nm of all objects against them, Q = K_nm K_m^-1 K_mn, weights W
 * and noise s, the log likelihood is at least (Titsias, AISTATS 2009)
 *
 *   log N(y; 0, Q + s W^-1) - t/(2s),   t = trace of W (K - Q)
 *
 * and at most (Titsias, 2014) what s + t in place of s makes of y'(...)^-1 y: K - Q has no
 * eigenvalue above its trace. With D = K_nm T, T T' = K_m^-1, both need of the n objects only
 *
 *   P = D'WD,  b = D'Wy,  y'Wy,  the sum of w_i K_ii,
 *
 * which one pass over blocks of them gives. A jitter on the diagonal of K_m makes Q smaller, so the
 * bounds stay bounds; it is part of the model, and of the slopes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/gp_sparse.h"

#include <math.h>
#include <string.h>

#include "gram/slope.h"
#include "kernel/gradient.h"
#include "kernel/scales.h"
#include "linalg/shared.h"

enum { BLOCK = MCR_SPARSE_BLOCK, PANEL = 512 };

/* ---- passes over the objects ------------------------------------------------------------------*/

mcr_status mcr_sparse_pass(mcr_gp *gp, mcr_sparse_work *work, void *arg)
{
    mcr_sparse *t = gp->method;
    int64_t m = t->map->landmarks;
    mcr_status s = MCR_OK;
    for (int64_t first = 0; first < gp->n && !s; first += BLOCK) {
        mcr_data *part = NULL;
        mcr_gram *cross = NULL;
        mcr_sparse_block b = {.first = first,
                              .rows = gp->n - first < BLOCK ? gp->n - first : BLOCK};
        if ((s = mcr_part_done(gp->ctx, mcr_gp_phase(gp), (double)first / (double)gp->n, NAN)))
            return s;
        s = mcr_data_load(&part, gp->data, (mcr_rows){NULL, first, b.rows});
        if (!s)
            s = mcr_gram_open(&cross, gp->ctx, gp->kernel, part, t->map->landmark);
        if (!s)
            s = mcr_gram_block(cross, (mcr_rows){NULL, 0, b.rows}, (mcr_rows){NULL, 0, m}, t->k, m);
        b.data = part;
        b.cross = cross;
        if (!s)
            s = work(gp, &b, arg);
        mcr_gram_close(cross);
        mcr_data_free(part);
    }
    return s;
}

/* d = K T; T is 0 below its diagonal. */
static mcr_status make_features(const mcr_sparse *t, mcr *ctx, int64_t rows)
{
    int64_t m = t->map->landmarks;
    mcr_status s = MCR_OK;
    for (int64_t c = 0; c < m && !s; c += PANEL) {
        int64_t cols = m - c < PANEL ? m - c : PANEL;
        s = mcr_shared_gemm(ctx, MCR_AS_IS, MCR_AS_IS, rows, cols, c + cols, 1, t->k, m,
                            t->map->turn + c, m, 0, t->d + c, m);
    }
    return s;
}

/* Adds a block's part of P (its lower triangle, in panels), of b and of the trace. */
static mcr_status add_block(mcr_gp *gp, const mcr_sparse_block *b, void *arg)
{
    (void)arg;
    mcr_sparse *t = gp->method;
    int64_t m = t->map->landmarks;
    const double *w = t->weight + b->first, *y = t->y + b->first;
    double *diagonal = mcr_alloc(gp->ctx, (size_t)b->rows, sizeof *diagonal);
    mcr_status s = diagonal ? make_features(t, gp->ctx, b->rows) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_gram_diagonal(b->cross, 0, diagonal);
    for (int64_t i = 0; i < b->rows && !s; i++) {
        double *d = t->d + i * m, root = sqrt(w[i]), goal = root * y[i];
        t->trace += w[i] * diagonal[i];
        for (int64_t c = 0; c < m; c++) {
            d[c] *= root;
            t->b[c] += goal * d[c];
        }
    }
    for (int64_t c = 0; c < m && !s; c += PANEL)
        s = mcr_shared_gemm(gp->ctx, MCR_TRANSPOSED, MCR_AS_IS, m - c,
                            m - c < PANEL ? m - c : PANEL, b->rows, 1, t->d + c, m, t->d + c, m, 1,
                            t->p + c * m + c, m);
    mcr_free(gp->ctx, diagonal);
    return s;
}

static mcr_status gather(mcr_gp *gp)
{
    mcr_sparse *t = gp->method;
    int64_t m = t->map->landmarks;
    t->trace = 0;
    memset(t->b, 0, sizeof *t->b * (size_t)m);
    memset(t->p, 0, sizeof *t->p * (size_t)(m * m));
    mcr_status s = mcr_sparse_pass(gp, add_block, NULL);
    for (int64_t i = 0; i < m && !s; i++)
        for (int64_t j = i + 1; j < m; j++)
            t->p[i * m + j] = t->p[j * m + i];
    return s;
}

/* ---- the bounds -------------------------------------------------------------------------------*/

/* The factor of s + P, and beta = (s + P)^-1 b. */
static mcr_status solve(mcr_gp *gp)
{
    mcr_sparse *t = gp->method;
    int64_t m = t->map->landmarks;
    mcr_status s = MCR_OK;
    if (t->e.n != m) {
        mcr_system_close(&t->e);
        s = mcr_system_open(&t->e, gp->ctx, m, "gp: the landmarks' system");
    }
    for (int64_t i = 0; i < m && !s; i++)
        memcpy(t->e.a + i * t->e.ld, t->p + i * m, sizeof *t->p * (size_t)m);
    if (s)
        return s;
    mcr_system_filled(&t->e);
    memcpy(t->beta, t->b, sizeof *t->b * (size_t)m);
    s = mcr_system_factor(&t->e, gp->extra, NULL, NULL);
    return s ? s : mcr_system_solve(&t->e, 1, t->beta);
}

/* Twice -log N(y; 0, Q + s W^-1) without y'(...)^-1 y. */
static double log_terms(const mcr_gp *gp)
{
    const mcr_sparse *t = gp->method;
    int64_t m = t->map->landmarks;
    double sum = (double)gp->n * log(2 * 3.14159265358979323846) - t->logs +
                 (double)(gp->n - m) * log(gp->extra);
    for (int64_t i = 0; i < m; i++)
        sum += 2 * mcr_system_log(&t->e, i);
    return sum;
}

static mcr_status value(mcr_gp *gp, double *f)
{
    mcr_sparse *t = gp->method;
    double trace = 0;
    mcr_map_close(t->map);
    mcr_status s = mcr_map_open_at(&t->map, gp->ctx, gp->kernel, gp->data,
                                   (mcr_rows){t->object, 0, t->m}, MCR_SPARSE_JITTER);
    if (!s)
        s = gather(gp);
    if (!s)
        s = solve(gp);
    if (s)
        return s;
    for (int64_t i = 0; i < t->m; i++)
        trace += t->p[i * t->m + i];
    t->left = fmax(t->trace - trace, 0);
    t->terms = log_terms(gp);
    t->lower = -0.5 * (t->terms + (t->square - mcr_dot(t->b, t->beta, t->m) + t->left) / gp->extra);
    *f = -t->lower;
    return isfinite(*f) ? MCR_OK : mcr_fail(gp->ctx, MCR_NUMERIC, "gp: no finite likelihood");
}

mcr_status mcr_sparse_upper(mcr_gp *gp)
{
    mcr_sparse *t = gp->method;
    double more = gp->extra + t->left, *z = t->work;
    memcpy(z, t->b, sizeof *z * (size_t)t->m);
    mcr_status s = mcr_system_factor(&t->e, more, NULL, NULL);
    if (!s)
        s = mcr_system_solve(&t->e, 1, z);
    if (!s)
        t->upper = -0.5 * (t->terms + (t->square - mcr_dot(t->b, z, t->m)) / more);
    return s ? s : mcr_system_factor(&t->e, gp->extra, NULL, NULL);
}

/* ---- slopes ------------------------------------------------------------------------------------
 *
 * Of the lower bound against K_nm, K_m and the diagonal, with a = W (y - K_nm u) / s, u = T beta:
 *
 *   a u' + W K_nm S / s,   S = T (1 - s (s + P)^-1) T'
 *   -(u u' + T (P/s - 1 + s (s + P)^-1) T') / 2
 *   -W / (2s)
 */

/* to = T (scale P + shift - sign s (s + P)^-1) T'; the inverse is above the diagonal of e. */
static mcr_status between(const mcr_gp *gp, double scale, double shift, double sign, double *to)
{
    const mcr_sparse *t = gp->method;
    int64_t m = t->m;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) {
            double inverse = i == j  ? t->inverse[i]
                             : i < j ? t->e.a[i * t->e.ld + j]
                                     : t->e.a[j * t->e.ld + i];
            to[i * m + j] = scale * t->p[i * m + j] + (i == j ? shift : 0) -
                            sign * gp->extra * inverse;
        }
    mcr_status s = mcr_shared_gemm(gp->ctx, MCR_AS_IS, MCR_AS_IS, m, m, m, 1, t->map->turn, m, to,
                                   m, 0, t->work, m);
    return s ? s
             : mcr_shared_gemm(gp->ctx, MCR_AS_IS, MCR_TRANSPOSED, m, m, m, 1, t->work, m,
                               t->map->turn, m, 0, to, m);
}

typedef struct slopes {
    double *g;
    double squares; /* sum of s/w a^2 */
} slopes;

/* Of -lower bound. */
static mcr_status slope_block(mcr_gp *gp, const mcr_sparse_block *b, void *arg)
{
    mcr_sparse *t = gp->method;
    slopes *sum = arg;
    int64_t m = t->m;
    mcr_gram *own = NULL;
    double *half = mcr_alloc(gp->ctx, (size_t)b->rows, sizeof *half);
    mcr_status s = half ? mcr_shared_gemm(gp->ctx, MCR_AS_IS, MCR_AS_IS, b->rows, m, m, 1, t->k, m,
                                          t->s, m, 0, t->d, m)
                        : MCR_NO_MEMORY;
    for (int64_t i = 0; i < b->rows && !s; i++) {
        double w = t->weight[b->first + i] / gp->extra, *d = t->d + i * m;
        double a = w * (t->y[b->first + i] - mcr_dot(t->k + i * m, t->u, m));
        sum->squares += a * a / w;
        half[i] = 0.5 * w;
        for (int64_t c = 0; c < m; c++)
            d[c] = -(w * d[c] + a * t->u[c]);
    }
    if (!s)
        s = mcr_gram_slope_pairs(b->cross, t->d, m, sum->g);
    if (!s)
        s = mcr_gram_open(&own, gp->ctx, gp->kernel, b->data, NULL);
    if (!s)
        s = mcr_gram_slope_diagonal(own, half, sum->g);
    mcr_gram_close(own);
    mcr_free(gp->ctx, half);
    return s;
}

/* Of K_m with its jitter, which is a share of the mean of the diagonal. */
static void landmark_row(const void *arg, int64_t i, double *d)
{
    const mcr_sparse *t = ((const mcr_gp *)arg)->method;
    const double *h = t->s + i * t->m;
    d[0] = 0.5 * (t->u[i] * t->u[i] + h[i] + MCR_SPARSE_JITTER / (double)t->m * t->jitter_slope);
    for (int64_t j = i + 1; j < t->m; j++)
        d[j - i] = t->u[i] * t->u[j] + h[j];
}

static mcr_status slope_landmarks(mcr_gp *gp, double *g)
{
    mcr_sparse *t = gp->method;
    mcr_gram *gram = NULL;
    mcr_status s = between(gp, 1 / gp->extra, -1, -1, t->s);
    t->jitter_slope = 0;
    for (int64_t i = 0; i < t->m && !s; i++)
        t->jitter_slope += t->u[i] * t->u[i] + t->s[i * t->m + i];
    if (!s)
        s = mcr_gram_open(&gram, gp->ctx, gp->kernel, t->map->landmark, NULL);
    if (!s)
        s = mcr_gram_slope(gram, landmark_row, gp, g);
    mcr_gram_close(gram);
    return s;
}

static mcr_status by_derivatives(mcr_gp *gp, double *g)
{
    mcr_sparse *t = gp->method;
    slopes sum = {.g = g};
    double trace = 0;
    mcr_status s = mcr_system_inverse(&t->e, true, t->inverse, mcr_gp_phase(gp));
    if (!s)
        s = mcr_map_coefficients(t->map, t->beta, 1, t->u);
    if (!s)
        s = between(gp, 0, 1, 1, t->s);
    if (!s)
        s = mcr_sparse_pass(gp, slope_block, &sum);
    if (!s)
        s = slope_landmarks(gp, g);
    for (int64_t i = 0; i < t->m; i++)
        trace += gp->extra * t->inverse[i];
    g[gp->scales] = -0.5 * (sum.squares - ((double)(gp->n - t->m) + trace) + t->left / gp->extra);
    return s;
}

/* For kernels without derivatives: central differences of the bound itself. Its rounding errors
 * are some 1e-12 of its terms. */
static mcr_status by_differences(mcr_gp *gp, double *g)
{
    const mcr_param **of = mcr_alloc(gp->ctx, (size_t)gp->scales + 1, sizeof *of);
    double *x = mcr_alloc(gp->ctx, (size_t)gp->scales + 1, sizeof *x);
    mcr_status s = of && x ? MCR_OK : MCR_NO_MEMORY;
    if (!s) {
        memcpy(x, gp->at, sizeof *x * (size_t)(gp->scales + 1));
        mcr_kernel_scale_params(gp->kernel, of);
    }
    for (int64_t j = 0; j <= gp->scales && !s; j++) {
        double h = j < gp->scales && of[j]->flags & MCR_PERIOD ? 1e-6 : 1e-4, f[2] = {0}, at = x[j];
        for (int t = 0; t < 2 && !s; t++) {
            x[j] = at + (t ? -h : h);
            s = mcr_gp_set(gp, x);
            if (!s)
                s = value(gp, &f[t]);
        }
        x[j] = at;
        g[j] = (f[0] - f[1]) / (2 * h);
    }
    if (!s)
        s = mcr_gp_set(gp, x);
    mcr_free_all(gp->ctx, of, x);
    return s;
}

static mcr_status slope(mcr_gp *gp, double *g)
{
    return mcr_kernel_has_gradient(gp->kernel) ? by_derivatives(gp, g) : by_differences(gp, g);
}

/* ---- landmarks --------------------------------------------------------------------------------*/

static mcr_status choose(mcr_gp *gp)
{
    mcr_sparse *t = gp->method;
    t->m = t->rank;
    return mcr_landmarks_choose(gp->ctx, gp->kernel, gp->data, t->how, &t->m, t->object);
}

static void keep(mcr_gp *gp)
{
    mcr_sparse *t = gp->method;
    t->best_m = t->m;
    memcpy(t->best, t->object, sizeof *t->best * (size_t)t->m);
}

static void restore(mcr_gp *gp)
{
    mcr_sparse *t = gp->method;
    t->m = t->best_m;
    memcpy(t->object, t->best, sizeof *t->best * (size_t)t->m);
}

const mcr_gp_own mcr_sparse_method = {
    .choose = choose, .value = value, .slope = slope, .keep = keep, .restore = restore};
