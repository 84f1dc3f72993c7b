/* squares_large.c: least squares by products with K, where the kernel matrix does not fit the
 * memory, or where some products take less time than a factor.
 *
 *   (W^1/2 K W^1/2 + lambda) x = W^1/2 y
 *
 * by conjugate gradients. Products with K compute its values in tiles, half of them, in float
 * as long as that is enough: what floats leave is corrected by residuals in double. The
 * preconditioner is the same system with K near to D D', of landmarks, by Woodbury's
 * identity (as in Gardner et al., NeurIPS 2018, with landmarks in place of pivots: products of
 * matrices instead of one column after the other).
 *
 * How many products it takes depends on the spectrum, which nobody knows. Where there is the choice
 * the steps so far say how many are still to come: as soon as these would cost more than a factor,
 * that is made instead.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "linalg/blas.h"
#include "solve/conjugate.h"
#include "solve/squares.h"

typedef struct state {
    mcr *ctx;
    mcr_squares *q;
    int64_t n;
    mcr_gram *d;       /* D */
    mcr_system inner;  /* lambda + D'WD */
    double *u;         /* width */
    double *part, *kv; /* n */
    double *b, *x;     /* n: of one output */
    bool rough;        /* products take floats */
    int64_t products;
    double wanted;       /* norm of the residual in the end */
    double first;        /* norm of the residual where these steps began, `since` steps ago */
    int64_t since, most; /* products of this output: most of them; 0: no limit */
    int64_t spent;
    bool lost;                                           /* a factor is cheaper */
    int64_t output;                                      /* that is being solved */
    int64_t round;                                       /* of its corrections */
    double norm;                                         /* of its residual */
    bool goes_on;                                        /* the state is that of a checkpoint */
    char kept[MCR_PART_NAME], kept_steps[MCR_PART_NAME]; /* parts of a checkpoint */
} state;

/* kv = (W^1/2 G W^1/2 + lambda) v */
static mcr_status multiply(state *t, const double *v, double *kv, bool precise)
{
    const double *root = t->q->root;
    for (int64_t i = 0; i < t->n; i++)
        t->part[i] = root[i] * v[i];
    mcr_status s = mcr_gram_sums(t->q->gram, (mcr_rows){NULL, 0, t->n}, precise, t->part, kv);
    for (int64_t i = 0; i < t->n && !s; i++)
        kv[i] = root[i] * kv[i] + t->q->lambda * v[i];
    t->products++;
    return s;
}

static mcr_status apply(void *self, const double *v, double *av)
{
    state *t = self;
    return multiply(t, v, av, !t->rough);
}

/* z = (r - W^1/2 D (lambda + D'WD)^-1 D'W^1/2 r) / lambda */
static mcr_status precondition(void *self, const double *r, double *z)
{
    state *t = self;
    mcr_rows all = mcr_gram_all(t->d);
    const double *root = t->q->root;
    for (int64_t i = 0; i < t->n; i++)
        t->part[i] = root[i] * r[i];
    mcr_status s = mcr_gram_project(t->d, all, t->part, 1, t->u);
    if (!s)
        s = mcr_system_solve(&t->inner, 1, t->u);
    if (!s)
        s = mcr_gram_expand(t->d, all, t->u, 1, t->part);
    for (int64_t i = 0; i < t->n && !s; i++)
        z[i] = (r[i] - root[i] * t->part[i]) / t->q->lambda;
    return s;
}

static bool is_over(const state *t, double norm)
{
    return mcr_report_step(t->ctx, t->q->phase ? t->q->phase : "ridge", NAN, t->products, NAN,
                           norm);
}

/* Whether the steps that are still to come, if they gain what the last ones did, are too many. */
static bool is_slow(const state *t, double norm)
{
    enum { FEW = 8 };
    if (!t->most || norm <= t->wanted)
        return false;
    double gain = log(t->first / norm) / (double)t->since;
    bool hopeless = t->since >= FEW &&
                    !(log(norm / t->wanted) <= gain * (double)(t->most - t->spent));
    return hopeless || t->spent >= t->most;
}

static mcr_status over(void *self, double norm, bool *yes)
{
    state *t = self;
    t->since++;
    t->spent++;
    t->lost = is_slow(t, norm);
    *yes = t->lost;
    return t->lost || !is_over(t, norm) ? MCR_OK : mcr_fail(t->ctx, MCR_STOPPED, "interrupted");
}

/* So much of a residual products in float leave. */
#define FLOAT_GAIN 3e-5

/* ---- checkpoints: what stands where a correction begins, and within its steps -----------------*/

static mcr_status walk_steps(void *self, mcr_walk *w)
{
    state *t = self;
    mcr_walk_same(w, t->output);
    mcr_walk_same(w, t->round);
    mcr_walk_count(w, &t->products);
    mcr_walk_count(w, &t->since);
    mcr_walk_count(w, &t->spent);
    return w->status;
}

static mcr_status walk(void *self, mcr_walk *w)
{
    state *t = self;
    size_t n = (size_t)t->n;
    mcr_walk_same(w, t->n);
    mcr_walk_same(w, mcr_gram_width(t->d));
    mcr_walk_count(w, &t->output);
    mcr_walk_count(w, &t->round);
    if (w->status || t->output >= t->q->outputs)
        return w->status ? w->status : mcr_walk_refuse(w);
    mcr_walk_count(w, &t->products);
    mcr_walk_count(w, &t->spent);
    mcr_walk_flag(w, &t->rough);
    MCR_WALK(w, t->wanted);
    MCR_WALK(w, t->norm);
    mcr_walk_bytes(w, t->b, sizeof *t->b * n);
    mcr_walk_bytes(w, t->x, sizeof *t->x * n);
    mcr_walk_bytes(w, t->q->x, sizeof *t->q->x * n * (size_t)t->q->outputs);
    return w->status;
}

/* One output: corrections until the residual, in double, is small enough. */
static mcr_status solve_one(state *t, double *step)
{
    enum { MOST = 1000, MOST_ROUGH = 60 };
    double left;
    mcr_status s = MCR_OK;
    if (!t->goes_on) {
        t->norm = mcr_norm(t->b, t->n);
        t->wanted = (t->most ? 1e-3 : 0.5) * t->q->tol * t->norm;
        memset(t->x, 0, sizeof *t->x * (size_t)t->n);
        t->spent = t->round = 0;
    }
    for (; !s && t->norm > t->wanted; t->round++) {
        mcr_conjugate c = {.ctx = t->ctx,
                           .size = t->n,
                           .apply = apply,
                           .precondition = precondition,
                           .over = over,
                           .self = t,
                           .enough = fmax(0.5 * t->wanted, t->rough ? FLOAT_GAIN * t->norm : 0),
                           .most = t->rough ? MOST_ROUGH : MOST,
                           .part = t->kept_steps,
                           .walk = walk_steps};
        int64_t steps = 0;
        bool rough = t->rough;
        t->first = t->norm;
        t->since = 0;
        if (!t->goes_on) {
            mcr_resume_drop(t->ctx, t->kept_steps);
            s = mcr_resume_keep(t->ctx, t->kept, walk, t);
        }
        t->goes_on = false;
        if (!s)
            s = mcr_conjugate_solve(&c, t->b, step, &left, &steps);
        if (!s)
            s = multiply(t, step, t->kv, true);
        double square = 0;
        for (int64_t i = 0; i < t->n && !s; i++)
            square += (t->b[i] - t->kv[i]) * (t->b[i] - t->kv[i]);
        double now = sqrt(square);
        t->rough = rough && now <= 0.1 * t->norm;
        if (s || t->lost || (!rough && now > 0.5 * t->norm))
            break; /* no more can be had */
        for (int64_t i = 0; i < t->n && now < t->norm; i++) {
            t->x[i] += step[i];
            t->b[i] -= t->kv[i];
        }
        t->norm = fmin(now, t->norm);
    }
    return s;
}

bool mcr_squares_is_large(const mcr_squares *q, double lambda)
{
    double n = (double)q->n;
    return n * (n + 16) * sizeof(float) > (double)mcr_budget_left(q->ctx) && lambda > 0 &&
           mcr_gram_is_definite(q->gram);
}

/* Products that take as long as a factor in float: these rates were measured on two cores, as those
 * of the planner. A third of that may be wasted. */
int64_t mcr_squares_products(const mcr_squares *q, double lambda)
{
    enum { LEAST = 25, SHARE = 3 };
    double n = (double)q->n, value = 1.5e-10 + 1.2e-11 * mcr_gram_work(q->gram);
    double factor = n * n * n / 3 * 1.0e-11, product = n * n / 2 * value;
    double most = factor / product / (double)q->outputs / SHARE;
    bool suits = lambda > 0 && most >= LEAST && mcr_gram_is_definite(q->gram);
    return suits ? (int64_t)fmin(most, 1000) : 0;
}

/* Within a third of the memory. */
int64_t mcr_squares_rank(const mcr_squares *q)
{
    enum { LEAST = 100, MOST = 5000, VALUE = 16 };
    double n = (double)q->n, work = mcr_gram_work(q->gram) + VALUE;
    double memory = (double)mcr_budget_left(q->ctx) / 3;
    double rank = fmin(sqrt(n * work), memory / (n * sizeof(float)));
    rank = fmin(fmin(fmax(rank, LEAST), MOST), n);
    return (int64_t)rank;
}

mcr_status mcr_squares_conjugate(mcr_squares *q)
{
    int64_t k = q->outputs, width = mcr_gram_width(q->near);
    state t = {.ctx = q->ctx, .q = q, .n = q->n, .d = q->near, .most = q->most};
    size_t n = (size_t)t.n;
    double *step;
    if (!mcr_alloc_arrays(q->ctx, MCR_ARRAY(step, n), /* the block to free */ MCR_ARRAY(t.part, n),
                          MCR_ARRAY(t.kv, n), MCR_ARRAY(t.b, n), MCR_ARRAY(t.x, n),
                          MCR_ARRAY(t.u, (size_t)width)))
        return MCR_NO_MEMORY;
    mcr_status s = mcr_system_open(&t.inner, t.ctx, width, "the preconditioner");
    if (!s)
        s = mcr_gram_fill_weighted(t.d, &t.inner, mcr_gram_all(t.d), q->weight);
    if (!s)
        s = mcr_system_factor(&t.inner, q->lambda, NULL, NULL);
    mcr_resume_name(t.ctx, "squares", t.kept);
    mcr_resume_name(t.ctx, "conjugate", t.kept_steps);
    if (!s)
        s = mcr_resume_find(t.ctx, t.kept, walk, &t, &t.goes_on);
    for (; t.output < k && !s && !t.lost; t.output++) {
        for (int64_t i = 0; i < t.n && !t.goes_on; i++)
            t.b[i] = q->b[i * k + t.output];
        t.rough = t.rough || !t.goes_on;
        s = solve_one(&t, step);
        for (int64_t i = 0; i < t.n && !s; i++)
            q->x[i * k + t.output] = t.x[i];
    }
    q->steps = t.products;
    q->lost = t.lost;
    mcr_free(q->ctx, step);
    mcr_system_close(&t.inner);
    return s;
}
