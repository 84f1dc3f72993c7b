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
 * The slopes at any values h in place of f are a point of the dual problem too, with the gap
 *
 *   sum_i (loss_i(f_i) - loss_i(h_i) - s_i (f_i - h_i)) + |gradient|^2 / (2 mu)
 *
 * So the rounding of f does not count, but by its square; and where the gap at f is more than the
 * model says, h is taken nearer to the optimum, by Newton's method. It proves what the model says
 * if its gap is less: the fit had other values f, by its own rounding, and so another such point.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/shared.h"
#include "linalg/system.h"
#include "model/verify.h"

typedef struct restricted {
    mcr_verify *v;
    int64_t n, m, k; /* objects, landmarks, outputs */
    bool classes;    /* logistic regression, else squares */
    double mu;
    double *c, *f, *error; /* k x n: coefficients, K c, its error */
    double *h, *none;      /* k x n: values whose slopes are the dual point; 0 */
    double *slope, *slip;  /* k x n: there; what they may be off by */
    double *at_f;          /* k x n: slopes at f */
    double *step;          /* k x n: f - h as coefficients of the landmarks */
    double *r;             /* n */
    double *u, *low;       /* m: what is to be solved for, and its digits beyond double */
    double *blur, *z, *e;  /* m */
    double *wide;          /* n, three times: for products in extended precision */
    bool *is_landmark;     /* n */
    mcr_system kmm;        /* K of the landmarks, and its factor */
    double inverse;        /* the trace of the inverse: above its norm */
    mcr_exact_sum losses;  /* at f */
    mcr_sure primal;
} restricted;

static mcr_status open_landmarks(restricted *t)
{
    mcr_verify *v = t->v;
    mcr_rows rows = {v->basis, 0, t->m};
    mcr_status s = mcr_system_open(&t->kmm, v->ctx, t->m, "verify: the landmarks");
    if (!s)
        s = mcr_gram_block(v->gram, rows, rows, t->kmm.a, t->kmm.ld);
    if (!s) {
        mcr_system_filled(&t->kmm);
        s = mcr_system_factor(&t->kmm, 0, NULL, "verify");
    }
    if (!s)
        s = mcr_system_inverse(&t->kmm, false, t->u, "verify");
    for (int64_t i = 0; i < t->m && !s; i++)
        t->inverse += t->u[i];
    return s == MCR_NUMERIC ? mcr_fail(v->ctx, s,
                                       "the landmarks' kernel matrix is not positive definite in "
                                       "double precision: the gap cannot be recomputed")
                            : s;
}

static mcr_status open_restricted(restricted *t, mcr_verify *v)
{
    *t = (restricted){.v = v, .n = v->n, .m = v->fitted->basis, .k = v->fitted->outputs};
    size_t all = (size_t)t->n * (size_t)t->k;
    if (!mcr_zero_doubles(v->ctx, all, &t->c, &t->f, &t->error, &t->h, &t->none, &t->slope,
                          &t->slip, &t->at_f, &t->step) ||
        !mcr_zero_doubles(v->ctx, (size_t)t->m, &t->u, &t->low, &t->blur, &t->z, &t->e))
        return MCR_NO_MEMORY;
    t->r = mcr_alloc(v->ctx, (size_t)t->n, sizeof *t->r);
    t->wide = mcr_alloc(v->ctx, (size_t)t->n, 3 * sizeof *t->wide);
    t->is_landmark = mcr_alloc_zero(v->ctx, (size_t)t->n, sizeof *t->is_landmark);
    if (!t->r || !t->wide || !t->is_landmark)
        return MCR_NO_MEMORY;
    for (int64_t j = 0; j < t->m; j++)
        t->is_landmark[v->basis[j]] = true;
    for (int64_t o = 0; o < t->k; o++)
        mcr_verify_coefficients(v, o, t->c + o * t->n);
    mcr_status s = mcr_verify_multiply(v, t->c, t->k, t->f, t->error);
    return s ? s : open_landmarks(t);
}

static void close_restricted(restricted *t)
{
    mcr_free_all(t->v->ctx, t->c, t->f, t->error, t->h, t->none, t->slope, t->slip, t->at_f,
                 t->step, t->r, t->u, t->low, t->blur, t->z, t->e, t->wide, t->is_landmark);
    mcr_system_close(&t->kmm);
}

/* ---- losses -----------------------------------------------------------------------------------*/

static double squared(const restricted *t, const double *f, const double *error,
                      mcr_exact_sum *losses)
{
    double blur = 0;
    for (int64_t o = 0; o < t->k; o++)
        for (int64_t i = 0; i < t->n; i++) {
            int64_t at = o * t->n + i;
            double w = t->v->weight[i], off = error[at];
            double rest = mcr_verify_goal(t->v, o, i) - f[at];
            mcr_exact_add(losses, w * rest * rest);
            blur += w * (2 * fabs(rest) + off) * off;
            t->slope[at] = -2 * w * rest;
            t->slip[at] = 4 * DBL_EPSILON * w * fabs(rest);
        }
    return blur;
}

/* The losses at values that are known up to `error`, and the slopes there. Returns the error of the
 * sum. */
static double evaluate(const restricted *t, const double *f, const double *error,
                       mcr_exact_sum *losses)
{
    if (!t->classes)
        return squared(t, f, error, losses);
    double blur = mcr_verify_logistic(t->v, f, error, t->slope, t->slip, losses);
    for (int64_t i = 0; i < t->n * t->k; i++) /* of the slopes themselves */
        t->slip[i] = 8 * DBL_EPSILON * t->v->weight[i % t->n];
    return blur;
}

/* The objective of the model, and the dual point of its own values. */
static void begin(restricted *t)
{
    size_t bytes = sizeof *t->h * (size_t)(t->n * t->k);
    double blur = evaluate(t, t->f, t->error, &t->losses);
    mcr_sure square = mcr_sure_dot(t->c, t->f, t->error, t->n * t->k);
    t->primal.value = mcr_exact_total(&t->losses) + 0.5 * t->mu * square.value;
    t->primal.error = blur + 4 * DBL_EPSILON * t->losses.size + 0.5 * t->mu * square.error;
    memcpy(t->h, t->f, bytes);
    memcpy(t->at_f, t->slope, bytes);
}

/* What the losses at f are above their tangents at h. */
static mcr_sure above_tangents(const restricted *t, const mcr_exact_sum *losses)
{
    double bend = !t->classes ? 2 : t->k == 1 ? 0.25 : 0.5, blur = 0;
    mcr_exact_sum sum = {0};
    mcr_exact_add(&sum, mcr_exact_total(&t->losses));
    mcr_exact_add(&sum, -mcr_exact_total(losses));
    for (int64_t at = 0; at < t->n * t->k; at++) {
        double off = t->error[at], w = t->v->weight[at % t->n];
        mcr_exact_add(&sum, -t->slope[at] * (t->f[at] - t->h[at]));
        blur += (fabs(t->slope[at] - t->at_f[at]) + 0.5 * w * bend * off) * off;
    }
    bool same = memcmp(t->h, t->f, sizeof *t->h * (size_t)(t->n * t->k)) == 0;
    return (mcr_sure){same ? 0 : mcr_exact_total(&sum),
                      blur + (same ? 0 : 8 * DBL_EPSILON * (sum.size + losses->size))};
}

/* ---- the gradient -----------------------------------------------------------------------------*/

enum { ROWS = 128, COLS = 2048 };

/* The values of K x at the landmarks in extended precision, to + low, where that can be had;
 * *share: they err by it times the lengths and coefficients, INFINITY: they were not computed. */
static mcr_status extend(restricted *t, const double *x, double *to, double *low, double *share)
{
    double *f = t->wide + t->n, *rest = f + t->n;
    mcr_extended how = {
        .n = t->n, .outputs = 1, .a = x, .wanted = t->is_landmark, .f = f, .low = rest};
    mcr_status s = mcr_gram_extended(t->v->gram, &how);
    *share = how.share;
    for (int64_t j = 0; j < t->m && !s && isfinite(how.share); j++) {
        to[j] = f[t->v->basis[j]];
        low[j] = rest[t->v->basis[j]];
    }
    return s;
}

/* u = K_mn r in double, and the size of its sums. */
static mcr_status project_double(restricted *t)
{
    mcr_verify *v = t->v;
    double *k = mcr_alloc(v->ctx, ROWS, COLS * sizeof *k);
    mcr_exact_sum sum[ROWS];
    mcr_status s = k ? MCR_OK : MCR_NO_MEMORY;
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
                    mcr_exact_add(&sum[b], k[b * COLS + j] * t->r[at + j]);
        }
        for (int64_t b = 0; b < rows && !s; b++) {
            t->u[first + b] = mcr_exact_total(&sum[b]);
            t->low[first + b] = 0;
            t->blur[first + b] = 2 * DBL_EPSILON * sum[b].size;
        }
    }
    mcr_free(v->ctx, k);
    return s;
}

/* u = K_mn r, and what it may be off by. */
static mcr_status project(restricted *t)
{
    mcr_verify *v = t->v;
    double size = 0, share;
    mcr_status s = extend(t, t->r, t->u, t->low, &share);
    bool extended = isfinite(share);
    if (!s && !extended)
        s = project_double(t);
    for (int64_t i = 0; i < t->n; i++)
        size += v->length[i] * fabs(t->r[i]);
    for (int64_t j = 0; j < t->m && !s; j++)
        t->blur[j] = (extended ? 0 : t->blur[j]) +
                     v->length[v->basis[j]] * size * (extended ? share : v->unit);
    return s;
}

/* e = u - K_mm z, in double. */
static void subtract(restricted *t)
{
    const mcr_system *kmm = &t->kmm;
    for (int64_t i = 0; i < t->m; i++) {
        mcr_exact_sum sum = {0};
        mcr_exact_add(&sum, t->u[i]);
        mcr_exact_add(&sum, t->low[i]);
        for (int64_t j = 0; j < t->m; j++) /* what is above the diagonal is K_mm still */
            mcr_exact_add(&sum, -t->z[j] * (i == j  ? kmm->diagonal[i]
                                            : i < j ? kmm->a[i * kmm->ld + j]
                                                    : kmm->a[j * kmm->ld + i]));
        t->e[i] = mcr_exact_total(&sum);
    }
}

/* The same; *off: a bound on the error of each of its values, without that of u. */
static mcr_status residual(restricted *t, double *off)
{
    mcr_verify *v = t->v;
    double size = 0, longest = 0, share, *x = t->wide;
    memset(x, 0, sizeof *x * (size_t)t->n);
    for (int64_t i = 0; i < t->m; i++) {
        double length = v->length[v->basis[i]];
        size += length * fabs(t->z[i]);
        longest = fmax(longest, length);
        x[v->basis[i]] = t->z[i];
    }
    double *low = mcr_alloc(v->ctx, (size_t)t->m, sizeof *low);
    mcr_status s = low ? extend(t, x, t->e, low, &share) : MCR_NO_MEMORY;
    if (!s && isfinite(share))
        for (int64_t i = 0; i < t->m; i++)
            t->e[i] = (t->u[i] - t->e[i]) + (t->low[i] - low[i]);
    else if (!s)
        subtract(t);
    mcr_free(v->ctx, low);
    *off = 0;
    if (!s)
        *off = (isfinite(share) ? share : v->unit + 4 * DBL_EPSILON) * size * longest;
    for (int64_t i = 0; i < t->m && !s && isfinite(share); i++)
        *off = fmax(*off, 2 * DBL_EPSILON * fabs(t->e[i]) + share * size * longest);
    return s;
}

/* The squared length of the gradient, of one output with such values u. */
static mcr_status find_square(restricted *t, mcr_sure *square)
{
    enum { REFINED = 3 };
    int64_t m = t->m;
    double off = 0, blur = 0, tail = 0, rest = 0;
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < m; i++)
        t->z[i] = 0;
    for (int round = 0; round < REFINED && !s; round++) {
        s = residual(t, &off);
        if (!s)
            s = mcr_system_solve(&t->kmm, 1, t->e);
        for (int64_t i = 0; i < m && !s; i++)
            t->z[i] += t->e[i];
    }
    if (!s)
        s = residual(t, &off);
    if (s)
        return s;
    mcr_sure along = mcr_sure_dot(t->z, t->u, t->blur, m), left = mcr_sure_dot(t->z, t->e, NULL, m);
    for (int64_t i = 0; i < m; i++) {
        blur += fabs(t->z[i]) * (off + t->blur[i]);
        tail += (fabs(t->e[i]) + off + t->blur[i]) * (fabs(t->e[i]) + off + t->blur[i]);
        rest += t->e[i] * t->e[i];
    }
    /* e'K^-1 e is between 0 and |e|^2 times the norm of the inverse, as is that of the errors. */
    square->value = along.value + left.value;
    square->error = along.error + left.error + blur + 2 * t->inverse * (tail + rest);
    return s;
}

/* The gap with the dual point of h. Errors of slopes change the gradient by no more than the
 * lengths of their objects. */
static mcr_status find_gap(restricted *t, const mcr_exact_sum *losses, mcr_sure *gap)
{
    mcr_status s = MCR_OK;
    *gap = above_tangents(t, losses);
    for (int64_t o = 0; o < t->k && !s; o++) {
        mcr_sure square;
        double slack = 0;
        for (int64_t i = 0; i < t->n; i++) {
            double pull = t->mu * t->c[o * t->n + i];
            t->r[i] = t->slope[o * t->n + i] + pull;
            slack += t->v->length[i] * (t->slip[o * t->n + i] + DBL_EPSILON * fabs(pull));
        }
        s = project(t);
        if (!s)
            s = find_square(t, &square);
        if (s)
            return s;
        double length = sqrt(fmax(square.value, 0) + square.error);
        gap->value += square.value / (2 * t->mu);
        gap->error += (square.error + (2 * length + slack) * slack) / (2 * t->mu);
    }
    return s;
}

/* ---- other points of the dual problem ---------------------------------------------------------*/

/* Steps solve for all outputs at once up to so many numbers, as those of several classes hang
 * together; beyond for one after the other, with curvatures that are not too small. */
enum { JOINT = 1500 };

static bool is_joint(const restricted *t)
{
    return t->classes && t->k > 1 && t->m * t->k <= JOINT;
}

/* The derivative of the slope of output o by output q, of object i. */
static double curvature(const restricted *t, int64_t o, int64_t q, int64_t i)
{
    double w = t->v->weight[i];
    if (!t->classes || w == 0)
        return 2 * w;
    double p = t->slope[o * t->n + i] / w + (t->v->class_of[i] == (t->k == 1 ? 1 : o) ? 1 : 0);
    double other = t->slope[q * t->n + i] / w + (t->v->class_of[i] == q ? 1 : 0);
    if (t->k == 1)
        return w * p * (1 - p);
    return w * ((o == q ? p : 0) - (is_joint(t) ? p * other : 0));
}

/* The Hessian of outputs first .. end - 1 in an orthonormal basis of the span, L^-1 K_mn H K_nm
 * L^-T + mu. */
static mcr_status factor_hessian(restricted *t, int64_t first, int64_t end, mcr_system *to)
{
    mcr_verify *v = t->v;
    mcr *ctx = v->ctx;
    int64_t m = t->m;
    double *k = mcr_alloc(ctx, (size_t)m, 2 * COLS * sizeof *k);
    mcr_status s = k ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < to->n && !s; i++)
        memset(to->a + i * to->ld, 0, sizeof *to->a * (size_t)to->n);
    for (int64_t at = 0; at < t->n && !s; at += COLS) {
        int64_t cols = t->n - at < COLS ? t->n - at : COLS;
        double *bent = k + m * cols;
        s = mcr_gram_block(v->gram, (mcr_rows){v->basis, 0, m}, (mcr_rows){NULL, at, cols}, k,
                           cols);
        if (!s)
            s = mcr_system_solve_lower(&t->kmm, cols, k, cols);
        for (int64_t o = first; o < end; o++)
            for (int64_t q = first; q <= o && !s; q++) {
                for (int64_t e = 0; e < m * cols; e++)
                    bent[e] = k[e] * curvature(t, o, q, at + e % cols);
                double *block = to->a + (o - first) * m * to->ld + (q - first) * m;
                s = mcr_shared_gemm(ctx, MCR_AS_IS, MCR_TRANSPOSED, m, m, cols, 1, bent, cols, k,
                                    cols, 1, block, to->ld);
            }
    }
    mcr_free(ctx, k);
    if (s)
        return s;
    mcr_system_filled(to);
    return mcr_system_factor(to, t->mu, NULL, NULL);
}

/* u = L^-T u */
static void turn_back(const restricted *t, double *u)
{
    const double *a = t->kmm.a;
    for (int64_t i = t->m - 1; i >= 0; i--) {
        double sum = u[i];
        for (int64_t j = i + 1; j < t->m; j++)
            sum -= a[j * t->kmm.ld + i] * u[j];
        u[i] = sum / a[i * t->kmm.ld + i];
    }
}

/* A step of Newton's method for outputs first .. end - 1; u: as many x m. */
static mcr_status step_outputs(restricted *t, int64_t first, int64_t end, mcr_system *hessian,
                               double *u)
{
    mcr_status s = MCR_OK;
    for (int64_t o = first; o < end && !s; o++) {
        for (int64_t i = 0; i < t->n; i++) {
            int64_t at = o * t->n + i;
            t->r[i] = t->slope[at] + t->mu * (t->c[at] - t->step[at]);
        }
        s = project(t);
        if (!s)
            s = mcr_system_solve_lower(&t->kmm, 1, t->u, 1);
        memcpy(u + (o - first) * t->m, t->u, sizeof *u * (size_t)t->m);
    }
    if (!s && (t->classes || first == 0))
        s = factor_hessian(t, first, end, hessian);
    if (!s)
        s = mcr_system_solve(hessian, 1, u);
    for (int64_t o = first; o < end && !s; o++) {
        double *by = u + (o - first) * t->m;
        turn_back(t, by);
        for (int64_t i = 0; i < t->m; i++)
            t->step[o * t->n + t->v->basis[i]] += by[i];
    }
    return s;
}

/* h nearer to the optimum, until its gap is at most `most`, or no less than before. */
static mcr_status move(restricted *t, double most, mcr_sure *gap)
{
    enum { STEPS = 12 };
    mcr_system hessian = {0};
    int64_t some = is_joint(t) ? t->k : 1, all = t->n * t->k;
    double *product = mcr_alloc(t->v->ctx, (uint64_t)(2 * all + some * t->m), sizeof *product);
    mcr_status s = product ? mcr_system_open(&hessian, t->v->ctx, some * t->m, "verify: a Hessian")
                           : MCR_NO_MEMORY;
    for (int round = 0; round < STEPS && !s && gap->value > most; round++) {
        mcr_exact_sum losses = {0};
        mcr_sure next = {0, 0};
        for (int64_t o = 0; o < t->k && !s; o += some)
            s = step_outputs(t, o, o + some, &hessian, product + 2 * all);
        if (!s)
            s = mcr_verify_multiply(t->v, t->step, t->k, product, product + t->n * t->k);
        for (int64_t i = 0; i < t->n * t->k && !s; i++)
            t->h[i] = t->f[i] - product[i];
        if (s)
            break;
        (void)evaluate(t, t->h, t->none, &losses);
        s = find_gap(t, &losses, &next);
        if (s || !(next.value + next.error < gap->value + gap->error))
            break;
        *gap = next;
    }
    mcr_free(t->v->ctx, product);
    mcr_system_close(&hessian);
    return s;
}

/* The gap that values with the rounding of double may have had instead. */
static double rounded_gap(const restricted *t, double gap)
{
    double bend = !t->classes ? 2 : t->k == 1 ? 0.25 : 0.5, off = 0;
    double unit = t->v->unit + DBL_EPSILON * (double)t->m;
    for (int64_t o = 0; o < t->k; o++) {
        double size = 0, sum = 0;
        for (int64_t i = 0; i < t->n; i++) {
            double length = t->v->length[i];
            size += length * fabs(t->c[o * t->n + i]);
            sum += bend * t->v->weight[i] * length * length;
        }
        off += unit * size * sum;
    }
    double length = sqrt(fmax(2 * t->mu * gap, 0)) + off;
    return length * length / (2 * t->mu);
}

/* The gap of the model's own values. The fit had others, by its rounding: what it says may be as
 * much more as that explains. If it says less, whether another point proves it: a bound that is
 * still less then stands for all those between the two. */
static mcr_status check_gap(restricted *t, mcr_sure *gap)
{
    double said = t->v->out->gap.printed;
    mcr_status s = find_gap(t, &t->losses, gap);
    if (!s && said > gap->value)
        gap->value = fmin(said, rounded_gap(t, gap->value));
    if (s || !(gap->value > 1.001 * said))
        return s;
    double before = gap->value;
    s = move(t, said, gap);
    gap->value = fmin(fmax(gap->value, said), before);
    return s;
}

mcr_status mcr_verify_restricted(mcr_verify *v)
{
    restricted t;
    mcr_status s = open_restricted(&t, v);
    t.classes = strcmp(v->model->learner, "ridge") != 0;
    double lambda = mcr_verify_option(v, "lambda");
    const double *chosen = NULL; /* of ridge, where it may have been a range */
    mcr_sure gap;
    if (!s && !t.classes)
        s = mcr_fitted_need(&chosen, v->fitted, "lambda", 1);
    t.mu = chosen ? 2 * *chosen : t.k > 1 ? 2 * lambda : lambda;
    if (!s) {
        begin(&t);
        s = check_gap(&t, &gap);
    }
    if (!s) {
        mcr_verify_value(v, (mcr_sure){gap.value / t.primal.value, gap.error / t.primal.value});
        mcr_verify_primal(v, t.primal);
        mcr_verify_objective(v, t.primal);
        mcr_verify_gap(v, gap);
        mcr_verify_dual(v, (mcr_sure){t.primal.value - gap.value, t.primal.error + gap.error});
    }
    close_restricted(&t);
    return s;
}
