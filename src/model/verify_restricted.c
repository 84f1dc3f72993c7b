/* verify_restricted.c: certificates of smooth losses on the span of landmarks (--approx falkon).
 *
 * With the slopes s of the losses at f = K_nm c and r = mu c + s (c at the landmarks, 0 elsewhere),
 * the gradient of the restricted problem is the function sum r_i K(x_i, .), projected on the span.
 * Its values at the landmarks are u = K_mn r, so its squared length is u' K_mm^-1 u, whatever basis
 * of the span the solver had, and the gap is at most that over 2 mu. With any z and e = u - K_mm z,
 *
 *   u' K_mm^-1 u = z'u + z'e + e' K_mm^-1 e
 *
 * so that z need not be exact: what its error adds is small, and is bounded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/system.h"
#include "model/verify.h"

typedef struct restricted {
    mcr_verify *v;
    int64_t n, m, k; /* objects, landmarks, outputs */
    double mu;
    double *c, *f, *error;    /* k x n: coefficients, K c, its error */
    double *r, *slip;         /* k x n: mu c + slopes, its error */
    double *u, *blur, *z, *e; /* m */
    mcr_sure primal, square;  /* square: of the gradient */
} restricted;

static mcr_status open_restricted(restricted *t, mcr_verify *v)
{
    *t = (restricted){.v = v, .n = v->n, .m = v->fitted->basis, .k = v->fitted->outputs};
    size_t all = (size_t)t->n * (size_t)t->k;
    double **wide[] = {&t->c, &t->f, &t->error, &t->r, &t->slip};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (!(*wide[i] = mcr_alloc_zero(v->ctx, all, sizeof(double))))
            return MCR_NO_MEMORY;
    double **short_one[] = {&t->u, &t->blur, &t->z, &t->e};
    for (size_t i = 0; i < sizeof short_one / sizeof *short_one; i++)
        if (!(*short_one[i] = mcr_alloc_zero(v->ctx, (size_t)t->m, sizeof(double))))
            return MCR_NO_MEMORY;
    for (int64_t o = 0; o < t->k; o++)
        mcr_verify_coefficients(v, o, t->c + o * t->n);
    return mcr_verify_multiply(v, t->c, t->k, t->f, t->error);
}

static void close_restricted(restricted *t)
{
    mcr_free_all(t->v->ctx, t->c, t->f, t->error, t->r, t->slip, t->u, t->blur, t->z, t->e);
}

/* ---- losses -----------------------------------------------------------------------------------*/

static double squared(restricted *t, mcr_exact_sum *losses)
{
    double blur = 0;
    for (int64_t o = 0; o < t->k; o++)
        for (int64_t i = 0; i < t->n; i++) {
            int64_t at = o * t->n + i;
            double w = t->v->weight[i], off = t->error[at];
            double rest = mcr_verify_goal(t->v, o, i) - t->f[at];
            mcr_exact_add(losses, w * rest * rest);
            blur += w * (2 * fabs(rest) + off) * off;
            t->r[at] = -2 * w * rest;
            t->slip[at] = 2 * w * (off + 2 * DBL_EPSILON * (fabs(rest) + fabs(t->f[at])));
        }
    return blur;
}

/* The objective, and r. */
static void evaluate(restricted *t, bool classes)
{
    mcr_exact_sum losses = {0};
    double blur = classes ? mcr_verify_logistic(t->v, t->f, t->error, t->r, t->slip, &losses)
                          : squared(t, &losses);
    mcr_sure square = mcr_sure_dot(t->c, t->f, t->error, t->n * t->k);
    t->primal.value = mcr_exact_total(&losses) + 0.5 * t->mu * square.value;
    t->primal.error = blur + 4 * DBL_EPSILON * losses.size + 0.5 * t->mu * square.error;
    for (int64_t i = 0; i < t->n * t->k; i++) {
        t->r[i] += t->mu * t->c[i];
        t->slip[i] += DBL_EPSILON * fabs(t->mu * t->c[i]);
    }
}

/* ---- the gradient -----------------------------------------------------------------------------*/

enum { ROWS = 128, COLS = 2048 };

/* u = K_mn r of one output, and what it may be off by. */
static mcr_status project(restricted *t, int64_t o)
{
    mcr_verify *v = t->v;
    const double *r = t->r + o * t->n, *slip = t->slip + o * t->n;
    double size = 0, *k = mcr_alloc(v->ctx, ROWS, COLS * sizeof *k);
    mcr_exact_sum sum[ROWS];
    mcr_status s = k ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < t->n; i++)
        size += v->length[i] * (v->unit * fabs(r[i]) + slip[i]);
    for (int64_t first = 0; first < t->m && !s; first += ROWS) {
        int64_t rows = t->m - first < ROWS ? t->m - first : ROWS;
        for (int64_t b = 0; b < rows; b++)
            sum[b] = (mcr_exact_sum){0};
        for (int64_t at = 0; at < t->n && !s; at += COLS) {
            int64_t cols = t->n - at < COLS ? t->n - at : COLS;
            s = mcr_gram_block(v->gram, (mcr_rows){v->basis + first, 0, rows},
                               (mcr_rows){NULL, at, cols}, k, COLS);
            for (int64_t b = 0; b < rows && !s; b++)
                for (int64_t j = 0; j < cols; j++)
                    mcr_exact_add(&sum[b], k[b * COLS + j] * r[at + j]);
        }
        for (int64_t b = 0; b < rows && !s; b++) {
            t->u[first + b] = mcr_exact_total(&sum[b]);
            t->blur[first + b] = v->length[v->basis[first + b]] * size +
                                 2 * DBL_EPSILON * sum[b].size;
        }
    }
    mcr_free(v->ctx, k);
    return s;
}

/* e = u - K_mm z; returns a bound on the error of each of its values, without that of u. */
static double residual(restricted *t, const mcr_system *kmm)
{
    double size = 0, longest = 0;
    for (int64_t i = 0; i < t->m; i++) {
        double length = t->v->length[t->v->basis[i]];
        size += length * fabs(t->z[i]);
        longest = fmax(longest, length);
    }
    for (int64_t i = 0; i < t->m; i++) {
        mcr_exact_sum sum = {0};
        mcr_exact_add(&sum, t->u[i]);
        for (int64_t j = 0; j < t->m; j++) /* what is above the diagonal is K_mm still */
            mcr_exact_add(&sum, -t->z[j] * (i == j  ? kmm->diagonal[i]
                                            : i < j ? kmm->a[i * kmm->ld + j]
                                                    : kmm->a[j * kmm->ld + i]));
        t->e[i] = mcr_exact_total(&sum);
    }
    return (t->v->unit + 4 * DBL_EPSILON) * size * longest;
}

/* Adds the squared length of the gradient of one output. */
static mcr_status add_square(restricted *t, const mcr_system *kmm, double inverse)
{
    enum { REFINED = 3 };
    int64_t m = t->m;
    double off = 0, blur = 0, tail = 0, rest = 0;
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < m; i++)
        t->z[i] = 0;
    for (int round = 0; round < REFINED && !s; round++) {
        (void)residual(t, kmm);
        s = mcr_system_solve(kmm, 1, t->e);
        for (int64_t i = 0; i < m && !s; i++)
            t->z[i] += t->e[i];
    }
    if (s)
        return s;
    off = residual(t, kmm);
    mcr_sure along = mcr_sure_dot(t->z, t->u, t->blur, m), left = mcr_sure_dot(t->z, t->e, NULL, m);
    for (int64_t i = 0; i < m; i++) {
        blur += fabs(t->z[i]) * (off + t->blur[i]);
        tail += (fabs(t->e[i]) + off + t->blur[i]) * (fabs(t->e[i]) + off + t->blur[i]);
        rest += t->e[i] * t->e[i];
    }
    /* e'K^-1 e is between 0 and |e|^2 times the norm of the inverse, as is that of the errors. */
    t->square.value += along.value + left.value;
    t->square.error += along.error + left.error + blur + 2 * inverse * (tail + rest);
    return s;
}

static mcr_status gradient(restricted *t)
{
    mcr_verify *v = t->v;
    mcr_system kmm = {0};
    double inverse = 0, *diagonal = mcr_alloc(v->ctx, (size_t)t->m, sizeof *diagonal);
    mcr_status s = diagonal ? mcr_system_open(&kmm, v->ctx, t->m, "verify: the landmarks")
                            : MCR_NO_MEMORY;
    mcr_rows rows = {v->basis, 0, t->m};
    if (!s)
        s = mcr_gram_block(v->gram, rows, rows, kmm.a, kmm.ld);
    if (!s) {
        mcr_system_filled(&kmm);
        s = mcr_system_factor(&kmm, 0, NULL, NULL);
    }
    if (!s)
        s = mcr_system_inverse(&kmm, false, diagonal);
    for (int64_t i = 0; i < t->m && !s; i++)
        inverse += diagonal[i]; /* the trace of the inverse is above its norm */
    for (int64_t o = 0; o < t->k && !s; o++) {
        s = project(t, o);
        if (!s)
            s = add_square(t, &kmm, inverse);
    }
    mcr_system_close(&kmm);
    mcr_free(v->ctx, diagonal);
    return s == MCR_NUMERIC ? mcr_fail(v->ctx, s,
                                       "the landmarks' kernel matrix is not positive definite in "
                                       "double precision: the gap cannot be recomputed")
                            : s;
}

mcr_status mcr_verify_restricted(mcr_verify *v)
{
    restricted t;
    mcr_status s = open_restricted(&t, v);
    bool ridge = strcmp(v->model->learner, "ridge") == 0;
    double lambda = mcr_verify_option(v, "lambda");
    const double *chosen = NULL; /* of ridge, where it may have been a range */
    if (!s && ridge)
        s = mcr_fitted_need(&chosen, v->fitted, "lambda", 1);
    t.mu = chosen ? 2 * *chosen : t.k > 1 ? 2 * lambda : lambda;
    if (!s) {
        evaluate(&t, !ridge);
        s = gradient(&t);
    }
    if (!s) {
        mcr_sure gap = {t.square.value / (2 * t.mu), t.square.error / (2 * t.mu)};
        mcr_verify_value(v, (mcr_sure){gap.value / t.primal.value, gap.error / t.primal.value});
        mcr_verify_primal(v, t.primal);
        mcr_verify_objective(v, t.primal);
        mcr_verify_gap(v, gap);
        mcr_verify_dual(v, (mcr_sure){t.primal.value - gap.value, t.primal.error + gap.error});
    }
    close_restricted(&t);
    return s;
}
