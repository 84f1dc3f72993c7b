/* smallest.c: the smallest eigenvalue of a large symmetric matrix, by the Lanczos method.
 *
 * The basis is fully reorthogonalised, in two passes, so that its length can be limited and no
 * eigenvalue appears more than once. On the inverse, the smallest eigenvalues of A are well
 * separated, and few steps suffice; the vector is multiplied by the inverse once more, which damps
 * its components along large eigenvalues. Values and residuals are computed from A itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/smallest.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/context.h"
#include "base/random.h"
#include "linalg/lapack.h"
#include "linalg/shared.h"

enum {
    PLAIN_STEPS = 48, /* with A, before a factorisation, which takes as long as about 50 */
    BASIS = 128,
    RESTARTS = 8,
    EVERY = 8, /* steps between checks of the Ritz values */
    SHIFTS = 60
};

#define PHASE "smallest eigenvalue"

typedef struct lanczos {
    mcr *ctx;
    int64_t n, steps;
    const double *a;
    const double *factor; /* of A + shift I; NULL: work with -A */
    double bound;
    double *basis;                    /* BASIS + 1 rows of n */
    double *w, *product;              /* n values each */
    double alpha[BASIS], beta[BASIS]; /* of the tridiagonal matrix */
    double *ritz, *value, *overlap;   /* BASIS x BASIS, BASIS, BASIS + 1 */
} lanczos;

/* w = the operator times v: its largest eigenvalue corresponds to the smallest of A. */
static mcr_status apply(lanczos *l, const double *v)
{
    if (l->factor) {
        memcpy(l->w, v, sizeof *v * (size_t)l->n);
        return mcr_lapack_solve(l->ctx, l->n, 1, l->factor, l->n, l->w, 1);
    }
    mcr_status s = mcr_shared_multiply(l->ctx, l->n, l->a, l->n, v, 1, l->w);
    mcr_scale_by(l->w, l->n, -1);
    return s;
}

/* Orthogonalises w against the first `count` vectors of the basis. */
static mcr_status orthogonalise(lanczos *l, int64_t count)
{
    mcr_status s = MCR_OK;
    for (int pass = 0; pass < 2 && !s; pass++) {
        s = mcr_shared_gemm(l->ctx, MCR_AS_IS, MCR_AS_IS, count, 1, l->n, 1, l->basis, l->n, l->w,
                            1, 0, l->overlap, 1);
        if (!s)
            s = mcr_shared_gemm(l->ctx, MCR_TRANSPOSED, MCR_AS_IS, l->n, 1, count, -1, l->basis,
                                l->n, l->overlap, 1, 1, l->w, 1);
    }
    return s;
}

/* Adds a vector to the basis; *ended: the basis spans an invariant subspace. */
static mcr_status extend(lanczos *l, bool *ended)
{
    int64_t k = l->steps;
    double *v = l->basis + k * l->n;
    mcr_status s = apply(l, v);
    if (s)
        return s;
    double before = mcr_norm(l->w, l->n);
    l->alpha[k] = mcr_dot(v, l->w, l->n);
    s = orthogonalise(l, k + 1);
    l->beta[k] = mcr_norm(l->w, l->n);
    l->steps = k + 1;
    *ended = !(l->beta[k] > 1e-14 * before);
    if (!*ended) {
        memcpy(v + l->n, l->w, sizeof *v * (size_t)l->n);
        mcr_scale_by(v + l->n, l->n, 1 / l->beta[k]);
    }
    return s;
}

/* The Ritz vector of the largest Ritz value; *doubt: its residual divided by that value. */
static mcr_status take_ritz(lanczos *l, double *vector, double *doubt)
{
    int64_t m = l->steps;
    memset(l->ritz, 0, sizeof *l->ritz * (size_t)(m * m));
    for (int64_t i = 0; i < m; i++) {
        l->ritz[i * m + i] = l->alpha[i];
        if (i > 0)
            l->ritz[i * m + i - 1] = l->beta[i - 1];
    }
    mcr_status s = mcr_blas_eigen(l->ctx, m, l->ritz, m, true, l->value);
    if (s)
        return s;
    const double *last = l->ritz + (m - 1) * m;
    *doubt = fabs(l->beta[m - 1] * last[m - 1]) / fmax(fabs(l->value[m - 1]), 1e-300);
    return mcr_shared_gemm(l->ctx, MCR_TRANSPOSED, MCR_AS_IS, l->n, 1, m, 1, l->basis, l->n, last,
                           1, 0, vector, 1);
}

/* Normalises the vector and computes its value and residual. */
static mcr_status measure(lanczos *l, double *vector, mcr_smallest *out)
{
    if (l->factor) {
        mcr_status s = apply(l, vector);
        if (s)
            return s;
        memcpy(vector, l->w, sizeof *vector * (size_t)l->n);
    }
    mcr_scale_by(vector, l->n, 1 / mcr_norm(vector, l->n));
    mcr_status s = mcr_shared_multiply(l->ctx, l->n, l->a, l->n, vector, 1, l->product);
    if (s)
        return s;
    out->value = mcr_dot(vector, l->product, l->n);
    for (int64_t i = 0; i < l->n; i++)
        l->product[i] -= out->value * vector[i];
    out->residual = mcr_norm(l->product, l->n);
    return isfinite(out->value) ? MCR_OK
                                : mcr_fail(l->ctx, MCR_NUMERIC, "eigenvalues are not finite");
}

static bool is_near(const lanczos *l, const mcr_smallest *out)
{
    return out->residual <= fmax(l->bound, 1e-8 * fabs(out->value));
}

static bool is_stopped(const lanczos *l)
{
    mcr_progress at = {
        .size = sizeof at, .phase = PHASE, .fraction = NAN, .step = l->steps, .total = l->n};
    return mcr_report(l->ctx, &at);
}

/* At most `most` steps from `start`, until the residual is small; gives the best vector and its
 * value. */
static mcr_status run(lanczos *l, const double *start, int64_t most, double *vector,
                      mcr_smallest *out)
{
    bool ended = false;
    mcr_status s = MCR_OK;
    memcpy(l->basis, start, sizeof *start * (size_t)l->n);
    mcr_scale_by(l->basis, l->n, 1 / mcr_norm(l->basis, l->n));
    for (l->steps = 0; l->steps < most && !s && !ended;) {
        double doubt = 0;
        s = extend(l, &ended);
        bool last = ended || l->steps == most;
        if (s || (l->steps % EVERY && !last))
            continue;
        if (is_stopped(l))
            return MCR_STOPPED;
        s = take_ritz(l, vector, &doubt);
        if (!s && (last || doubt < 1e-5))
            s = measure(l, vector, out);
        if (!s && doubt < 1e-5 && is_near(l, out))
            break;
    }
    return s;
}

/* Factors A + shift I, with the smallest of a few shifts for which that succeeds. */
static mcr_status find_factor(lanczos *l, double *work, double *shift)
{
    mcr_status s = MCR_NUMERIC;
    for (int t = 0; t < SHIFTS && s == MCR_NUMERIC; t++) {
        *shift *= t ? 4 : 1;
        for (int64_t i = 0; i < l->n; i++) {
            memcpy(work + i * l->n, l->a + i * l->n, sizeof *work * (size_t)(i + 1));
            work[i * l->n + i] += *shift;
        }
        s = mcr_lapack_cholesky(l->ctx, l->n, work, l->n, PHASE, NULL);
    }
    return s;
}

static mcr_status by_inverse(lanczos *l, double *work, double *start, double *vector,
                             mcr_smallest *out)
{
    double shift = fmax(l->bound, -2 * out->value);
    mcr_status s = find_factor(l, work, &shift);
    if (s)
        return s;
    l->factor = work;
    out->floor = -shift;
    for (int t = 0; t < RESTARTS && !s; t++) {
        s = run(l, start, l->n < BASIS ? l->n : BASIS, vector, out);
        if (!s && is_near(l, out))
            break;
        memcpy(start, vector, sizeof *start * (size_t)l->n);
    }
    return s;
}

mcr_status mcr_smallest_eigen(mcr *ctx, int64_t n, const double *a, double bound, double *work,
                              double *vector, mcr_smallest *out)
{
    lanczos l = {.ctx = ctx, .n = n, .a = a, .bound = bound};
    size_t m = BASIS, size = (size_t)n;
    double *start;
    *out = (mcr_smallest){NAN, INFINITY, -INFINITY};
    if (!mcr_alloc_arrays(ctx, MCR_ARRAY(start, size), /* the block to free */
                          MCR_ARRAY(l.w, size), MCR_ARRAY(l.product, size),
                          MCR_ARRAY(l.basis, (uint64_t)(m + 1) * size),
                          MCR_ARRAY(l.ritz, (uint64_t)m * m), MCR_ARRAY(l.value, m),
                          MCR_ARRAY(l.overlap, m + 1)))
        return MCR_NO_MEMORY;
    mcr_random r = mcr_random_stream(1, "smallest", 0);
    for (int64_t i = 0; i < n; i++)
        start[i] = mcr_random_normal(&r);
    mcr_status s = run(&l, start, n < PLAIN_STEPS ? n : PLAIN_STEPS, vector, out);
    if (!s && !(out->value < -bound && is_near(&l, out)))
        s = by_inverse(&l, work, start, vector, out);
    mcr_free(ctx, start);
    return s;
}
