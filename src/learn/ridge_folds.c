/* ridge_folds.c: what ridge says of held-out objects, for all folds from one factor.
 *
 * With B = (G + lambda)^-1 of all objects and x = B y, training on the complement of a fold S and
 * predicting S leaves the residuals e_S = (B_SS)^-1 x_S: leaving out one object (a_i / B_ii) is the
 * fold of one. So cross-validation costs one factor and one inverse per lambda, whatever the number
 * of folds. For many lambdas one eigendecomposition G = V' diag(value) V serves them all: B_SS =
 * T'T with T = (value + lambda)^-1/2 V_S. Weights enter as in ridge.c, by W^1/2 G W^1/2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/ridge_impl.h"

#include <math.h>
#include <string.h>

#include "linalg/lapack.h"
#include "linalg/shared.h"

/* Beyond this ratio of trace(G) to lambda the inverse loses too many digits: such a lambda is left
 * to ordinary trainings. */
#define LARGEST_CONDITION 1e9

/* An eigendecomposition costs about as much as so many factors with their inverses. */
enum { MANY = 5 };

typedef struct work {
    mcr_folds *plan;
    mcr_goal goal;
    /* W^1/2 G W^1/2; the factor below the diagonal, its inverse above. With many lambdas: V with
     * its columns by fold; T. */
    mcr_system g, m;
    double *value, *projection; /* with many: eigenvalues, V b */
    double *root, *diagonal;
    double *b, *x; /* n x outputs */
    double trace;
    int64_t *order, *first; /* objects by fold; the place of each fold's first */
    double *block, *e;      /* B_SS, x_S */
} work;

/* Returns the size of the largest fold. */
static size_t sort_by_fold(work *w)
{
    const mcr_folds *p = w->plan;
    int64_t at = 0, largest = 0;
    for (int64_t f = 0; f < p->folds; f++) {
        w->first[f] = at;
        for (int64_t i = 0; i < w->goal.n; i++)
            if (p->fold[i] == f)
                w->order[at++] = i;
        largest = at - w->first[f] > largest ? at - w->first[f] : largest;
    }
    w->first[p->folds] = at;
    return (size_t)largest;
}

static mcr_status open_work(work *w)
{
    mcr_folds *p = w->plan;
    const mcr_ridge_params *first = p->params[0];
    mcr_learning in = {.ctx = p->ctx, .kernel = p->kernel, .data = p->data, .params = first};
    mcr_status s = mcr_goal_open(&w->goal, &in, "ridge", first->task, NULL);
    if (s)
        return s;
    size_t n = (size_t)w->goal.n, all = n * (size_t)w->goal.outputs;
    w->order = mcr_alloc(p->ctx, n, sizeof *w->order);
    w->first = mcr_alloc(p->ctx, (size_t)p->folds + 1, sizeof *w->first);
    if (!w->order || !w->first)
        return MCR_NO_MEMORY;
    size_t largest = sort_by_fold(w);
    w->root = mcr_alloc(p->ctx, n, sizeof *w->root);
    w->diagonal = mcr_alloc(p->ctx, n, sizeof *w->diagonal);
    w->b = mcr_alloc(p->ctx, all, sizeof *w->b);
    w->x = mcr_alloc(p->ctx, all, sizeof *w->x);
    w->value = mcr_alloc(p->ctx, n, sizeof *w->value);
    w->projection = mcr_alloc(p->ctx, all, sizeof *w->projection);
    w->block = mcr_alloc(p->ctx, largest * largest, sizeof *w->block);
    w->e = mcr_alloc(p->ctx, all, sizeof *w->e);
    bool ok = w->root && w->diagonal && w->b && w->x && w->value && w->projection && w->block &&
              w->e;
    s = ok ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < w->goal.n && !s; i++) {
        w->root[i] = sqrt(w->goal.weight[i]);
        for (int64_t o = 0; o < w->goal.outputs; o++)
            w->b[i * w->goal.outputs + o] = w->root[i] * w->goal.y[i * w->goal.outputs + o];
    }
    if (!s)
        s = mcr_system_open(&w->g, p->ctx, w->goal.n, "ridge: the kernel matrix");
    return s ? s : mcr_system_open(&w->m, p->ctx, w->goal.n, "ridge: the kernel matrix");
}

static void close_work(work *w)
{
    mcr *ctx = w->plan->ctx;
    mcr_system_close(&w->g);
    mcr_system_close(&w->m);
    mcr_free(ctx, w->root);
    mcr_free(ctx, w->diagonal);
    mcr_free(ctx, w->b);
    mcr_free(ctx, w->x);
    mcr_free(ctx, w->value);
    mcr_free(ctx, w->projection);
    mcr_free(ctx, w->order);
    mcr_free(ctx, w->first);
    mcr_free(ctx, w->block);
    mcr_free(ctx, w->e);
    mcr_goal_close(&w->goal);
}

static mcr_status fill(work *w)
{
    mcr_gram *gram = NULL;
    const mcr_folds *p = w->plan;
    mcr_status s = p->gram ? mcr_gram_share(&gram, p->gram)
                           : mcr_gram_open(&gram, p->ctx, p->kernel, p->data, NULL);
    if (!s)
        s = mcr_gram_fill_system(gram, &w->g, w->root, false);
    mcr_gram_close(gram);
    for (int64_t i = 0; i < w->goal.n && !s; i++)
        w->trace += fabs(w->g.diagonal[i]);
    return s;
}

/* x = B b, and B: its diagonal, and above the diagonal of m. */
static mcr_status invert(work *w, double lambda)
{
    int64_t n = w->goal.n, k = w->goal.outputs;
    for (int64_t i = 0; i < n; i++)
        memcpy(w->m.a + i * w->m.ld, w->g.a + i * w->g.ld, sizeof *w->m.a * (size_t)(i + 1));
    mcr_system_filled(&w->m);
    mcr_status s = mcr_system_factor(&w->m, lambda, NULL, NULL);
    memcpy(w->x, w->b, sizeof *w->x * (size_t)(n * k));
    if (!s)
        s = mcr_system_solve(&w->m, k, w->x);
    return s ? s : mcr_system_inverse(&w->m, true, w->diagonal);
}

/* B_SS and x_S of a fold from the inverse. */
static void read_block(work *w, const int64_t *member, int64_t count)
{
    int64_t k = w->goal.outputs;
    for (int64_t r = 0; r < count; r++) {
        for (int64_t c = 0; c < r; c++) /* members rise: above the diagonal */
            w->block[r * count + c] = w->m.a[member[c] * w->m.ld + member[r]];
        w->block[r * count + r] = w->diagonal[member[r]];
        memcpy(w->e + r * k, w->x + member[r] * k, sizeof *w->e * (size_t)k);
    }
}

/* ---- many lambdas -----------------------------------------------------------------------------*/

/* V in place of G, its columns by fold, and the projections of b. */
static mcr_status decompose(work *w)
{
    mcr *ctx = w->plan->ctx;
    int64_t n = w->goal.n, k = w->goal.outputs;
    mcr_status s = mcr_system_eigen(&w->g, "ridge: the eigenvectors of the kernel matrix",
                                    w->value);
    if (!s)
        s = mcr_shared_gemm(ctx, MCR_AS_IS, MCR_AS_IS, n, k, n, 1, w->g.a, w->g.ld, w->b, k, 0,
                            w->projection, k);
    for (int64_t e = 0; e < n && !s; e++) {
        double *row = w->g.a + e * w->g.ld;
        memcpy(w->diagonal, row, sizeof *row * (size_t)n);
        for (int64_t i = 0; i < n; i++)
            row[i] = w->diagonal[w->order[i]];
    }
    return s;
}

/* T, and (value + lambda)^-1/2 V b in x. */
static mcr_status scale_vectors(work *w, double lambda)
{
    int64_t n = w->goal.n, k = w->goal.outputs;
    for (int64_t e = 0; e < n; e++) {
        const double *from = w->g.a + e * w->g.ld;
        double *to = w->m.a + e * w->m.ld, shifted = w->value[e] + lambda;
        if (!(shifted > 0))
            return MCR_NUMERIC;
        double scale = 1 / sqrt(shifted);
        for (int64_t i = 0; i < n; i++)
            to[i] = scale * from[i];
        for (int64_t o = 0; o < k; o++)
            w->x[e * k + o] = scale * w->projection[e * k + o];
    }
    return MCR_OK;
}

/* B_SS and x_S of a fold from T. */
static mcr_status make_block(work *w, int64_t first, int64_t count)
{
    mcr *ctx = w->plan->ctx;
    int64_t n = w->goal.n, k = w->goal.outputs, ld = w->m.ld;
    const double *t = w->m.a + first;
    mcr_status s = mcr_shared_gemm(ctx, MCR_TRANSPOSED, MCR_AS_IS, count, count, n, 1, t, ld, t, ld,
                                   0, w->block, count);
    return s ? s
             : mcr_shared_gemm(ctx, MCR_TRANSPOSED, MCR_AS_IS, count, k, n, 1, t, ld, w->x, k, 0,
                               w->e, k);
}

/* ---- all settings -----------------------------------------------------------------------------*/

/* Decision values of the fold's objects: y - e. */
static mcr_status leave_out(work *w, int64_t fold, bool many, double *score)
{
    mcr *ctx = w->plan->ctx;
    int64_t k = w->goal.outputs, count = w->first[fold + 1] - w->first[fold];
    const int64_t *member = w->order + w->first[fold];
    mcr_status s = MCR_OK;
    if (many)
        s = make_block(w, w->first[fold], count);
    else
        read_block(w, member, count);
    if (!s)
        s = mcr_lapack_cholesky(ctx, count, w->block, count, NULL, NULL);
    if (!s)
        s = mcr_lapack_solve(ctx, count, k, w->block, count, w->e, k);
    for (int64_t r = 0; r < count && !s; r++)
        for (int64_t o = 0; o < k; o++) {
            int64_t at = member[r] * k + o;
            score[at] = w->goal.y[at] - w->e[r * k + o] / w->root[member[r]];
        }
    return s;
}

/* Whether a setting is one lambda that the formula suits. */
static bool suits(const work *w, const mcr_ridge_params *o, double *lambda)
{
    mcr_reals values = {0, NULL};
    mcr *ctx = w->plan->ctx;
    const mcr_ridge_params *first = w->plan->params[0];
    bool one = !o->loo && !o->class_weight && o->task == first->task &&
               o->form.form != MCR_FORM_PRIMAL && o->form.approx == MCR_APPROX_NONE &&
               !mcr_range_parse(&values, ctx, "ridge", "lambda", o->lambda) && values.count == 1;
    *lambda = one ? values.values[0] : 0;
    mcr_free(ctx, values.values);
    return one && w->trace <= LARGEST_CONDITION * *lambda;
}

static mcr_status solve_all(work *w)
{
    mcr_folds *p = w->plan;
    int64_t values = w->goal.n * w->goal.outputs;
    int64_t count = 0;
    double lambda;
    for (int64_t t = 0; t < p->settings; t++)
        count += p->solved[t] = suits(w, p->params[t], &lambda);
    bool many = count > MANY;
    mcr_status s = many ? decompose(w) : MCR_OK;
    for (int64_t t = 0; t < p->settings && !s; t++) {
        if (!p->solved[t])
            continue;
        (void)suits(w, p->params[t], &lambda);
        s = many ? scale_vectors(w, lambda) : invert(w, lambda);
        for (int64_t f = 0; f < p->folds && !s; f++)
            s = leave_out(w, f, many, p->score + t * values);
        if (s == MCR_NUMERIC) { /* not a kernel, or singular: an ordinary training says so */
            p->solved[t] = false;
            s = MCR_OK;
        }
    }
    return s;
}

mcr_status mcr_ridge_folds(mcr_folds *p)
{
    work w = {.plan = p};
    mcr_status s = open_work(&w);
    bool positive = true;
    for (int64_t i = 0; i < w.goal.n && !s; i++)
        positive &= w.root[i] > 0;
    if (!s) {
        p->task = w.goal.task;
        p->rule = w.goal.rule;
        p->classes = w.goal.classes;
        p->outputs = w.goal.outputs;
        memset(p->solved, 0, sizeof *p->solved * (size_t)p->settings);
        p->score = mcr_alloc(p->ctx, (size_t)p->settings,
                             (size_t)(w.goal.n * w.goal.outputs) * sizeof *p->score);
        s = p->score ? MCR_OK : MCR_NO_MEMORY;
    }
    if (!s && positive)
        s = fill(&w);
    if (!s && positive)
        s = solve_all(&w);
    close_work(&w);
    return s;
}
