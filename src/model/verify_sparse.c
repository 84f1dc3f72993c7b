/* verify_sparse.c: certificates of sparse Gaussian processes (--approx sgpr).
 *
 * The file has the landmarks with their coefficients u, the noise s, the jitter, and R. From the
 * data and these, with L L' = K_m and V = L^-1 K_mn, both bounds of the log likelihood are
 * recomputed (learn/gp_sparse.c has the formulas; it multiplies by an inverse, here are triangular
 * solutions). Then the others are tested: beta = L'u must solve (s + P) beta = b, with P = VWV' and
 * b = VWy, and C = R L must have C'C = 1 - s (s + P)^-1.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "learn/gp.h"
#include "linalg/shared.h"
#include "model/verify.h"

enum { COLS = 512 };

typedef struct sparse {
    mcr_verify *v;
    int64_t m;
    const double *facts, *scale, *r;
    double noise;
    mcr_system l, e;    /* K_m with its jitter; P, to be shifted */
    double *p;          /* m x m */
    double *b, *beta;   /* m */
    double *weight, *y; /* n */
    double square, trace, left, terms;
} sparse;

static mcr_status open_sparse(sparse *t, mcr_verify *v)
{
    int64_t m = v->fitted->basis;
    size_t n = (size_t)v->n;
    *t = (sparse){.v = v, .m = m};
    mcr_status s = mcr_fitted_need(&t->facts, v->fitted, MCR_GP_SPARSE, MCR_GP_SPARSE_COUNT);
    if (!s)
        s = mcr_fitted_need(&t->scale, v->fitted, MCR_GP_SCALE, 1);
    if (!s)
        s = mcr_fitted_need(&t->r, v->fitted, MCR_GP_POSTERIOR, m * (m + 1) / 2);
    if (s)
        return s;
    t->noise = t->facts[1];
    if (!(t->noise > 0) || !(*t->scale > 0) || !(t->facts[0] >= 0) || v->class_of || !v->target)
        return mcr_fail(v->ctx, MCR_BAD_DATA, "the model is damaged; train it again");
    t->p = mcr_alloc_zero(v->ctx, (size_t)m, ((size_t)m + 2) * sizeof *t->p);
    t->weight = mcr_alloc(v->ctx, n, 2 * sizeof *t->weight);
    if (!t->p || !t->weight)
        return MCR_NO_MEMORY;
    t->b = t->p + m * m;
    t->beta = t->b + m;
    t->y = t->weight + n;
    for (size_t i = 0; i < n; i++) {
        t->weight[i] = fmax(v->weight[i], 1e-12);
        t->y[i] = (v->target[i] - v->fitted->offset[0]) / *t->scale;
    }
    s = mcr_system_open(&t->l, v->ctx, m, "verify: the landmarks");
    return s ? s : mcr_system_open(&t->e, v->ctx, m, "verify: the landmarks' system");
}

static void close_sparse(sparse *t)
{
    mcr_system_close(&t->l);
    mcr_system_close(&t->e);
    mcr_free_all(t->v->ctx, t->p, t->weight);
}

/* ---- the objects ------------------------------------------------------------------------------*/

static mcr_status factor_landmarks(sparse *t)
{
    mcr_rows rows = {t->v->basis, 0, t->m};
    double mean = 0;
    mcr_status s = mcr_gram_block(t->v->gram, rows, rows, t->l.a, t->l.ld);
    if (s)
        return s;
    mcr_system_filled(&t->l);
    for (int64_t i = 0; i < t->m; i++)
        mean += t->l.diagonal[i] / (double)t->m;
    return mcr_system_factor(&t->l, t->facts[0] * mean, NULL, NULL);
}

/* P, b and the sums, from V of some objects at a time. */
static mcr_status gather(sparse *t)
{
    mcr_verify *v = t->v;
    int64_t m = t->m;
    double *k = mcr_alloc(v->ctx, (size_t)m, COLS * sizeof *k);
    mcr_exact_sum square = {0}, trace = {0};
    mcr_status s = k ? factor_landmarks(t) : MCR_NO_MEMORY;
    for (int64_t first = 0; first < v->n && !s; first += COLS) {
        int64_t cols = v->n - first < COLS ? v->n - first : COLS;
        s = mcr_gram_block(v->gram, (mcr_rows){v->basis, 0, m}, (mcr_rows){NULL, first, cols}, k,
                           COLS);
        if (!s)
            s = mcr_system_solve_lower(&t->l, cols, k, COLS);
        for (int64_t i = 0; i < m && !s; i++) {
            mcr_exact_sum sum = {0};
            for (int64_t c = 0; c < cols; c++) {
                double root = sqrt(t->weight[first + c]);
                mcr_exact_add(&sum, (k[i * COLS + c] *= root) * root * t->y[first + c]);
            }
            t->b[i] += mcr_exact_total(&sum);
        }
        for (int64_t c = first; c < first + cols; c++) {
            mcr_exact_add(&square, t->weight[c] * t->y[c] * t->y[c]);
            mcr_exact_add(&trace, t->weight[c] * v->diagonal[c]);
        }
        if (!s)
            s = mcr_shared_gemm(v->ctx, MCR_AS_IS, MCR_TRANSPOSED, m, m, cols, 1, k, COLS, k, COLS,
                                1, t->p, m);
    }
    t->square = mcr_exact_total(&square);
    t->trace = t->left = mcr_exact_total(&trace);
    for (int64_t i = 0; i < m; i++)
        t->left -= t->p[i * m + i];
    t->left = fmax(t->left, 0);
    mcr_free(v->ctx, k);
    return s;
}

/* ---- the bounds -------------------------------------------------------------------------------*/

/* y'(Q + shift)^-1 y, and t->beta. */
static mcr_status quadratic(sparse *t, double shift, double *out)
{
    mcr_exact_sum sum = {0};
    memcpy(t->beta, t->b, sizeof *t->b * (size_t)t->m);
    mcr_status s = mcr_system_factor(&t->e, shift, NULL, NULL);
    if (!s)
        s = mcr_system_solve(&t->e, 1, t->beta);
    mcr_exact_add(&sum, t->square);
    for (int64_t i = 0; i < t->m && !s; i++)
        mcr_exact_add(&sum, -t->b[i] * t->beta[i]);
    *out = mcr_exact_total(&sum) / shift;
    return s;
}

static mcr_status bound(sparse *t, double *lower, double *upper)
{
    int64_t m = t->m, n = t->v->n;
    mcr_exact_sum terms = {0};
    for (int64_t i = 0; i < m; i++)
        memcpy(t->e.a + i * t->e.ld, t->p + i * m, sizeof *t->p * (size_t)m);
    mcr_system_filled(&t->e);
    mcr_status s = quadratic(t, t->noise + t->left, upper);
    if (!s)
        s = quadratic(t, t->noise, lower);
    mcr_exact_add(&terms, (double)n * log(2 * 3.14159265358979323846));
    mcr_exact_add(&terms, (double)(n - m) * log(t->noise));
    for (int64_t i = 0; i < n; i++)
        mcr_exact_add(&terms, -log(t->weight[i]));
    for (int64_t i = 0; i < m && !s; i++)
        mcr_exact_add(&terms, 2 * mcr_system_log(&t->e, i));
    t->terms = mcr_exact_total(&terms);
    *lower = -0.5 * (t->terms + *lower + t->left / t->noise);
    *upper = -0.5 * (t->terms + *upper);
    return s;
}

/* ---- coefficients and posterior ---------------------------------------------------------------*/

/* The residual of beta = L'u, relative to b. */
static double residual(const sparse *t, double *beta)
{
    const mcr_fitted *f = t->v->fitted;
    int64_t m = t->m;
    double worst = 0, most = 0;
    for (int64_t i = 0; i < m; i++) {
        beta[i] = 0;
        for (int64_t j = i; j < m; j++)
            beta[i] += t->l.a[j * t->l.ld + i] * f->segment[0].coef[j] / *t->scale;
    }
    for (int64_t i = 0; i < m; i++) {
        double sum = t->b[i] - t->noise * beta[i];
        for (int64_t j = 0; j < m; j++)
            sum -= t->p[i * m + j] * beta[j];
        worst = fmax(worst, fabs(sum));
        most = fmax(most, fabs(t->b[i]));
    }
    return most > 0 ? worst / most : worst;
}

/* The largest entry of C'C + s (s + P)^-1 - 1; c is m x m, twice. */
static mcr_status posterior_error(const sparse *t, double *c, double *out)
{
    int64_t m = t->m;
    double *all = c + m * m;
    *out = 0;
    memset(c, 0, 2 * sizeof *c * (size_t)(m * m));
    for (int64_t i = 0; i < m; i++) /* R L, both lower triangular */
        for (int64_t k = 0; k <= i; k++)
            for (int64_t j = 0; j <= k; j++)
                c[i * m + j] += t->r[i * (i + 1) / 2 + k] * t->l.a[k * t->l.ld + j];
    mcr_status s = mcr_shared_gemm(t->v->ctx, MCR_TRANSPOSED, MCR_AS_IS, m, m, m, 1, c, m, c, m, 0,
                                   all, m);
    memset(c, 0, sizeof *c * (size_t)(m * m));
    for (int64_t i = 0; i < m; i++)
        c[i * m + i] = t->noise;
    if (!s)
        s = mcr_system_solve(&t->e, m, c);
    for (int64_t i = 0; i < m * m && !s; i++)
        *out = fmax(*out, fabs(all[i] + c[i] - (i % (m + 1) == 0)));
    return s;
}

static mcr_status check_model(sparse *t)
{
    int64_t m = t->m;
    double off = 0, rest, *work = mcr_alloc(t->v->ctx, (size_t)m, (size_t)m * 2 * sizeof *work);
    if (!work)
        return MCR_NO_MEMORY;
    if (t->v->fitted->segments != 1 || t->v->fitted->segment[0].count != m) {
        mcr_free(t->v->ctx, work);
        return mcr_fail(t->v->ctx, MCR_BAD_DATA, "the model is damaged; train it again");
    }
    rest = residual(t, work);
    mcr_status s = posterior_error(t, work, &off);
    if (!s && !(rest <= 1e-6))
        mcr_verify_fault(
            t->v, "the coefficients do not solve the sparse problem: relative residual %.3g", rest);
    if (!s && !(off <= 1e-5))
        mcr_verify_fault(t->v, "the posterior is not that of the landmarks: off by %.3g", off);
    if (!s && strstr(t->v->out->kind, "residual")) /* of other roundings: both are small, or not */
        mcr_verify_value(t->v, (mcr_sure){rest, fmin(rest + t->v->out->value.printed, 1e-8)});
    mcr_free(t->v->ctx, work);
    return s;
}

mcr_status mcr_verify_sparse(mcr_verify *v)
{
    sparse t;
    double lower = 0, upper = 0;
    mcr_status s = open_sparse(&t, v);
    if (!s)
        s = gather(&t);
    if (!s)
        s = bound(&t, &lower, &upper);
    if (!s)
        s = check_model(&t);
    if (!s) {
        /* Rounding over the root of the jitter, as for the model. */
        double unit = v->unit > DBL_EPSILON ? v->unit : DBL_EPSILON;
        double error = 16 * unit / sqrt(fmax(t.facts[0], 1e-16)) * (t.trace + t.square) / t.noise;
        mcr_verify_objective(v, (mcr_sure){lower, error});
        mcr_verify_dual(v, (mcr_sure){lower, error});
        mcr_verify_primal(v, (mcr_sure){upper, error});
        mcr_verify_gap(v, (mcr_sure){upper - lower, 2 * error});
    }
    close_sparse(&t);
    return s == MCR_NUMERIC ? mcr_fail(v->ctx, s,
                                       "the landmarks' kernel matrix is not positive definite in "
                                       "double precision: the bounds cannot be recomputed")
                            : s;
}
