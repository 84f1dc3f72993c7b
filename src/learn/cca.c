/* cca.c: kernel canonical correlations between two kinds of fields of the same objects, regularised
 * (Bach and Jordan, Kernel independent component analysis, 2002; Hardoon, Szedmak and Shawe-Taylor,
 * 2004).
 *
 * With A and B the matrices of centred.h of the two kernels, directions a and b maximise a'A B b
 * under |(A + r I)a| = |(B + q I)b| = 1, where r and q are lambda times the variance of either
 * side. With R = A (A + r I)^-1 and Q = B (B + q I)^-1 these are singular vectors of R Q:
 *
 *   R Q^2 R u = s^2 u,   w = Q R u / s,   a = (A + r I)^-1 u = (u - R u) / r,   b = (w - Q w) / q
 *
 * R and Q are made in the place of A and B. Coordinates are scaled to variance 1 on the training
 * objects; their values there are A a = R u and B b = Q w, up to the root of the object's share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "learn/centred.h"
#include "learn/goal.h"
#include "linalg/shared.h"

typedef struct params {
    char *kernel2;
    int64_t components, max_steps;
    double lambda, tol, time_limit;
} params;

static const mcr_param table[] = {
    {"kernel2", MCR_TEXT, offsetof(params, kernel2), NULL, 0, 0, 0, NULL,
     "the kernel of the other fields, such as rbf(b, gamma=1)"},
    {"components", MCR_INT, offsetof(params, components), "2", 1, INFINITY, 0, NULL,
     "number of pairs of coordinates, in order of correlation"},
    {"lambda", MCR_REAL, offsetof(params, lambda), "0.1", 0, INFINITY, MCR_MIN_OPEN | MCR_MAX_OPEN,
     NULL, "regularisation, as a share of the variance"},
    {"tol", MCR_REAL, offsetof(params, tol), "1e-10", 0, 1, MCR_MIN_OPEN | MCR_MAX_OPEN, NULL,
     "largest eigen-residual, over the largest eigenvalue"},
    {"time-limit", MCR_REAL, offsetof(params, time_limit), NULL, 0, INFINITY, MCR_MIN_OPEN, NULL,
     "seconds after which the best model so far is kept"},
    {"max-steps", MCR_INT, offsetof(params, max_steps), NULL, 1, INFINITY, 0, NULL,
     "steps after which the best model so far is kept"},
    {0},
};

enum { SIDES = 2, ROWS = 64 };

typedef struct cca {
    mcr *ctx;
    mcr_centred side[SIDES];
    double ridge[SIDES];
    int64_t n, count;
    double *buffer;      /* 2 x ROWS x n */
    double *value, *u;   /* count, count x n */
    double *coef[SIDES]; /* count x n */
    double *offset;      /* SIDES x count */
    double *correlation; /* count */
    mcr_leading_result found;
    size_t budget;
} cca;

/* ---- the matrices -----------------------------------------------------------------------------*/

/* R = I - r (A + r I)^-1 in the place of A, both triangles. */
static mcr_status smooth(cca *p, int side)
{
    mcr_square *k = &p->side[side].k;
    double r = p->ridge[side], *a = k->a;
    int64_t n = k->n, ld = k->ld;
    double *diagonal = mcr_alloc(p->ctx, (size_t)n, sizeof *diagonal);
    mcr_status s = diagonal ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < n && !s; i++)
        a[i * ld + i] += r;
    if (!s)
        s = mcr_lapack_cholesky(p->ctx, n, a, ld, "cca", NULL);
    if (!s)
        s = mcr_lapack_inverse(p->ctx, n, a, ld, true, diagonal);
    for (int64_t i = 0; i < n && !s; i++) {
        diagonal[i] = 1 - r * diagonal[i];
        for (int64_t j = i + 1; j < n; j++)
            a[i * ld + j] *= -r;
    }
    if (!s)
        mcr_shared_mend(n, a, ld, diagonal);
    mcr_free(p->ctx, diagonal);
    return s == MCR_NUMERIC
               ? mcr_advise(
                     p->ctx,
                     mcr_fail(p->ctx, MCR_NUMERIC,
                              "cca: a kernel is not positive semidefinite on these data, or lambda "
                              "is too small for its rounding errors: take a larger one"),
                     "option lambda")
               : s;
}

/* out = v R (or v Q), rows x n. */
static mcr_status apply(const cca *p, int side, int64_t rows, const double *v, double *out)
{
    const mcr_square *k = &p->side[side].k;
    return mcr_shared_gemm(p->ctx, MCR_AS_IS, MCR_AS_IS, rows, p->n, p->n, 1, v, p->n, k->a, k->ld,
                           0, out, p->n);
}

static mcr_status multiply(void *arg, int64_t rows, const double *v, double *av)
{
    const cca *p = arg;
    double *one = p->buffer, *other = p->buffer + ROWS * p->n;
    mcr_status s = MCR_OK;
    for (int64_t first = 0; first < rows && !s; first += ROWS) {
        int64_t some = rows - first < ROWS ? rows - first : ROWS;
        s = apply(p, 0, some, v + first * p->n, one);
        if (!s)
            s = apply(p, 1, some, one, other);
        if (!s)
            s = apply(p, 1, some, other, one);
        if (!s)
            s = apply(p, 0, some, one, av + first * p->n);
    }
    return s;
}

/* ---- the directions ---------------------------------------------------------------------------*/

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* One side of a pair: from its vector and R times it to coefficients. */
static void expand(cca *p, int side, int64_t c, const double *vector, const double *values)
{
    double *coef = p->coef[side] + c * p->n, size = sqrt(dot(values, values, p->n));
    for (int64_t i = 0; i < p->n; i++)
        coef[i] = (vector[i] - values[i]) / (p->ridge[side] * size);
    p->offset[side * p->count + c] = mcr_centred_expand(&p->side[side], coef);
}

static mcr_status make_pair(cca *p, int64_t c)
{
    int64_t n = p->n;
    double *u = p->u + c * n, *ru = p->buffer, *w = ru + n, *qw = w + n;
    mcr_centred_choose_sign(u, n);
    mcr_status s = apply(p, 0, 1, u, ru);
    if (!s)
        s = apply(p, 1, 1, ru, w);
    for (int64_t i = 0; i < n && !s; i++)
        w[i] /= sqrt(p->value[c]);
    if (!s)
        s = apply(p, 1, 1, w, qw);
    if (s)
        return s;
    p->correlation[c] = dot(ru, qw, n) / sqrt(dot(ru, ru, n) * dot(qw, qw, n));
    expand(p, 0, c, u, ru);
    expand(p, 1, c, w, qw);
    return MCR_OK;
}

/* ---- training ---------------------------------------------------------------------------------*/

static mcr_status take_buffers(cca *p)
{
    size_t n = (size_t)p->n, count = (size_t)p->count;
    size_t bytes = sizeof(double) * n * (2 * ROWS + 3 * count);
    bytes += (size_t)mcr_leading_bytes(p->n, p->count, false);
    mcr_status s = mcr_budget_take(p->ctx, bytes, "cca: directions");
    if (s)
        return s;
    p->budget = bytes;
    p->buffer = mcr_alloc(p->ctx, 2 * ROWS, n * sizeof *p->buffer);
    p->value = mcr_alloc(p->ctx, count, sizeof *p->value);
    p->correlation = mcr_alloc(p->ctx, count, sizeof *p->correlation);
    p->offset = mcr_alloc(p->ctx, SIDES * count, sizeof *p->offset);
    p->u = mcr_alloc(p->ctx, count, n * sizeof *p->u);
    for (int side = 0; side < SIDES; side++)
        p->coef[side] = mcr_alloc(p->ctx, count, n * sizeof *p->coef[side]);
    return p->buffer && p->value && p->correlation && p->offset && p->u && p->coef[0] && p->coef[1]
               ? MCR_OK
               : MCR_NO_MEMORY;
}

static mcr_status solve(cca *p, const params *o, double began)
{
    mcr_leading problem = {
        .n = p->n,
        .count = p->count,
        .multiply = multiply,
        .arg = p,
        .tolerance = o->tol,
        .most_steps = o->max_steps == INT64_MIN ? 0 : o->max_steps,
        .deadline = isnan(o->time_limit) ? 0 : began + o->time_limit,
        .phase = "cca",
    };
    mcr_status s = mcr_leading_solve(p->ctx, &problem, p->value, p->u, &p->found);
    /* What is left of the variance when all directions that have some are taken. */
    while (!s && p->count > 1 && !(p->value[p->count - 1] > 1e-13))
        p->count--;
    if (!s && !(p->value[0] > 1e-13))
        s = mcr_fail(p->ctx, MCR_BAD_DATA, "cca: the two sides have nothing in common");
    for (int64_t c = 0; c < p->count && !s; c++)
        s = make_pair(p, c);
    return s;
}

static mcr_status fill(mcr_fitted *f, const cca *p, const params *o, const mcr_kernel *second)
{
    mcr_status s = mcr_fitted_add_second(f, second, p->count, p->coef[1]);
    if (!s)
        s = mcr_fitted_keep(f, MCR_EXTRA_CORRELATION, p->correlation, p->count);
    if (!s && p->count < o->components)
        s = mcr_fitted_remark(f, "only %lld pair%s a correlation; %lld were asked for",
                              (long long)p->count, p->count == 1 ? " has" : "s have",
                              (long long)o->components);
    if (s)
        return s;
    memcpy(f->offset, p->offset, sizeof *f->offset * (size_t)(SIDES * p->count));
    f->task = MCR_TRANSFORM;
    f->rule = MCR_RULE_COORDINATES;
    f->iterations = p->found.steps;
    f->objective = 0;
    for (int64_t c = 0; c < p->count; c++)
        f->objective += sqrt(p->value[c]);
    f->certificate = "eigen-residual";
    f->value = p->found.residual;
    f->tolerance = o->tol;
    f->stop = p->found.stop;
    return MCR_OK;
}

static mcr_status open_sides(cca *p, const mcr_learning *in, const mcr_kernel *second)
{
    const params *o = in->params;
    mcr_learning view[SIDES] = {*in, *in};
    mcr_status s = MCR_OK;
    view[1].kernel = second;
    view[1].gram = NULL; /* that is the first kernel's */
    for (int side = 0; side < SIDES && !s; side++) {
        s = mcr_centred_open(&p->side[side], "cca", &view[side]);
        p->ridge[side] = o->lambda * p->side[side].total;
        if (!s)
            s = smooth(p, side);
    }
    return s;
}

static mcr_status check(mcr *ctx, const void *values)
{
    const params *o = values;
    return o->kernel2 ? MCR_OK
                      : mcr_advise(ctx,
                                   mcr_fail(ctx, MCR_BAD_CALL,
                                            "cca: give the kernel of the other fields, too, such "
                                            "as rbf(b, gamma=1) after rbf(a, gamma=1)"),
                                   "kernel2");
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    *out = NULL;
    const params *o = in->params;
    double began = mcr_now();
    mcr_kernel *second = NULL;
    cca p = {.ctx = in->ctx, .n = mcr_data_count(in->data)};
    p.count = o->components < p.n ? o->components : p.n;
    p.side[0].ctx = p.side[1].ctx = in->ctx;
    mcr_status s = mcr_kernel_parse(&second, in->ctx, o->kernel2);
    if (!s)
        s = open_sides(&p, in, second);
    if (!s)
        s = take_buffers(&p);
    if (!s)
        s = solve(&p, o, began);
    if (!s)
        s = mcr_fitted_whole(out, in->ctx, p.n, p.count, p.coef[0]);
    if (!s && (s = fill(*out, &p, o, second))) {
        mcr_fitted_free(*out);
        *out = NULL;
    }
    double *all[] = {p.buffer, p.value, p.u, p.coef[0], p.coef[1], p.offset, p.correlation};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mcr_free(in->ctx, all[i]);
    mcr_budget_give(in->ctx, p.budget);
    for (int side = 0; side < SIDES; side++)
        mcr_centred_close(&p.side[side]);
    mcr_kernel_free(second);
    return s;
}

const mcr_learner_type mcr_learner_cca = {
    .name = "cca",
    .summary = "canonical correlations: coordinates that two kinds of fields have in common",
    .task = MCR_TRANSFORM,
    .params = table,
    .params_size = sizeof(params),
    .check = check,
    .fit = fit,
    .no_folds = "its coordinates are nothing that a metric compares",
    .no_primal = "each of its views is regularised by the spectrum of its kernel matrix",
    .dense = true,
    .own_kernel = true,
    .no_start = true,
    .coordinates = true,
};
