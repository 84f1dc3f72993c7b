/* sampled.c: systems of rows that change little.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/sampled.h"

#include <string.h>

#include "gram/round.h"
#include "solve/conjugate.h"

enum {
    PER_FEATURE = 6, /* rows of the preconditioner */
    MANY = 8,        /* rows for each feature: fewer are factorised as they are */
    SLOW = 12,       /* steps: a preconditioner that needs more is recomputed */
    MOST = 60,       /* steps */
    PART = 256       /* rows that are added at a time */
};
#define NEAR   1e-3 /* how far the preconditioner may be off, of h */
#define ENOUGH 1e-3 /* of the right side */

mcr_status mcr_sampled_open(mcr_sampled *t, mcr_gram *d, mcr_system *m)
{
    *t = (mcr_sampled){.ctx = mcr_gram_context(d), .d = d, .m = m};
    if (!mcr_gram_is_restricted(d))
        return MCR_OK;
    t->most = 2 * MANY * mcr_gram_width(d);
    t->row = mcr_alloc(t->ctx, (size_t)t->most, sizeof *t->row);
    t->weight = mcr_alloc(t->ctx, (size_t)t->most, sizeof *t->weight);
    return t->row && t->weight ? MCR_OK : MCR_NO_MEMORY;
}

void mcr_sampled_close(mcr_sampled *t)
{
    mcr_free_all(t->ctx, t->row, t->weight);
}

/* ---- the matrix -------------------------------------------------------------------------------*/

static mcr_status total(mcr_sampled *t, const double *weight, int64_t count, double *sum)
{
    *sum = 0;
    for (int64_t i = 0; i < count; i++)
        *sum += weight[i];
    return mcr_gram_total(t->d, sum, 1);
}

/* The matrix of these rows, from scratch. */
static mcr_status fill(mcr_sampled *t, mcr_rows rows, const double *weight, double h)
{
    t->h = 0;
    mcr_status s = total(t, weight, rows.count, &t->sum);
    if (!s)
        s = mcr_gram_fill_near(t->d, t->m, rows, weight, NEAR * h);
    if (!s)
        mcr_system_mirror(t->m);
    return s;
}

static mcr_status factorise(mcr_sampled *t, double h)
{
    if (t->h == h)
        return MCR_OK;
    t->h = 0;
    mcr_status s = mcr_system_factor(t->m, h, NULL, NULL);
    if (!s)
        t->h = h;
    return s;
}

/* x = (1 + M / h)^-1 x */
static mcr_status divide(const mcr_sampled *t, int64_t cols, double *x)
{
    mcr_status s = mcr_system_solve(t->m, cols, x);
    for (int64_t k = 0; k < mcr_gram_width(t->d) * cols && !s; k++)
        x[k] *= t->h;
    return s;
}

/* Rows whose weights differ from those that the matrix has, and by how much: up to `most`; more
 * are counted only. Both lists rise. */
static int64_t compare(const mcr_sampled *t, mcr_rows rows, const double *weight, int64_t most,
                       int64_t *row, double *change)
{
    int64_t i = 0, j = 0, count = 0;
    while (i < t->count || j < rows.count) {
        int64_t old = i < t->count ? t->row[i] : INT64_MAX;
        int64_t now = j < rows.count ? mcr_rows_at(rows, j) : INT64_MAX;
        double by = (now <= old ? weight[j] : 0) - (old <= now ? t->weight[i] : 0);
        i += old <= now;
        j += now <= old;
        if (by == 0)
            continue;
        if (count < most) {
            row[count] = old < now ? old : now;
            change[count] = by;
        }
        count++;
    }
    return count;
}

/* Adds rows times weights of either sign. */
static mcr_status add_rows(mcr_sampled *t, int64_t count, const int64_t *row, const double *weight)
{
    int64_t p = mcr_gram_width(t->d);
    double *f = mcr_alloc(t->ctx, (size_t)p, 2 * PART * sizeof *f);
    mcr_status s = f ? MCR_OK : MCR_NO_MEMORY;
    t->h = 0;
    for (int64_t i = 0; i < count && !s; i += PART) {
        int64_t some = count - i < PART ? count - i : PART;
        double *by = f + PART * p;
        s = mcr_gram_factor_rows(t->d, (mcr_rows){row + i, 0, some}, f);
        for (int64_t e = 0; e < some * p && !s; e++)
            by[e] = weight[i + e / p] * f[e];
        if (!s)
            s = mcr_system_add(t->m, some, f, by, p);
    }
    mcr_free(t->ctx, f);
    return s;
}

/* The matrix of all these rows: only the changes, if these are few and the accumulated rounding
 * error is tolerable for these weights. */
static mcr_status take_all(mcr_sampled *t, mcr_rows rows, const double *weight, double h)
{
    bool spread = mcr_gram_is_spread(t->d);
    int64_t most = spread ? 0 : rows.count / 2, changed = most + 1;
    int64_t *row = mcr_alloc(t->ctx, (size_t)most + 1, sizeof *row);
    double *change = mcr_alloc(t->ctx, (size_t)most + 1, sizeof *change);
    mcr_status s = row && change ? MCR_OK : MCR_NO_MEMORY;
    if (!s && !spread && t->whole && t->count > 0 && mcr_gram_near_error(t->d, t->sum) <= NEAR * h)
        changed = compare(t, rows, weight, most, row, change);
    t->whole = true;
    if (!s)
        s = changed <= most ? add_rows(t, changed, row, change) : fill(t, rows, weight, h);
    t->count = !s && !spread && rows.count <= t->most ? rows.count : 0;
    for (int64_t i = 0; i < t->count; i++) {
        t->row[i] = mcr_rows_at(rows, i);
        t->weight[i] = weight[i];
    }
    mcr_free_all(t->ctx, row, change);
    return s;
}

/* The matrix of one of each `step` rows; the first of these rows is number `first` of all. */
static mcr_status take_some(mcr_sampled *t, mcr_rows rows, int64_t first, int64_t all,
                            const double *weight, double h)
{
    int64_t step = all / (PER_FEATURE * mcr_gram_width(t->d)), own = 0;
    t->count = all / step;
    t->whole = false;
    for (int64_t k = 0; k < t->count; k++) {
        int64_t i = step / 2 + k * step - first;
        if (i < 0 || i >= rows.count)
            continue;
        t->row[own] = mcr_rows_at(rows, i);
        t->weight[own++] = (double)step * weight[i];
    }
    return fill(t, (mcr_rows){t->row, 0, own}, t->weight, h);
}

/* ---- conjugate gradients ----------------------------------------------------------------------*/

typedef struct problem {
    mcr_sampled *with;
    mcr_rows rows;
    const double *weight;
    double h;
    int64_t cols;
} problem;

static double scale_rows(const void *self, int64_t first, int64_t count, const double *y, double *a)
{
    const problem *p = self;
    for (int64_t i = 0; i < count * p->cols; i++)
        a[i] = p->weight[first + i / p->cols] / p->h * y[i];
    return 0;
}

static mcr_status apply(void *self, const double *v, double *av)
{
    const problem *p = self;
    mcr_round pass = {
        .x = p->rows, .outputs = p->cols, .c = v, .work = scale_rows, .self = p, .u = av};
    mcr_status s = mcr_gram_factor_round(p->with->d, &pass);
    for (int64_t k = 0; k < mcr_gram_width(p->with->d) * p->cols && !s; k++)
        av[k] += v[k];
    return s;
}

static mcr_status precondition(void *self, const double *r, double *z)
{
    const problem *p = self;
    memcpy(z, r, sizeof *z * (size_t)(mcr_gram_width(p->with->d) * p->cols));
    return divide(p->with, p->cols, z);
}

static mcr_status over(void *self, double norm, bool *yes)
{
    const problem *p = self;
    (void)norm;
    *yes = false;
    return p->with->is_over ? p->with->is_over(p->with->self, yes) : MCR_OK;
}

static mcr_status solve_many(mcr_sampled *t, mcr_rows rows, int64_t first, int64_t all,
                             const double *weight, double h, int64_t cols, double *x)
{
    problem p = {t, rows, weight, h, cols};
    size_t size = (size_t)(mcr_gram_width(t->d) * cols);
    double norm, *b = mcr_alloc(t->ctx, size, sizeof *b);
    int64_t steps = 0;
    mcr_conjugate c = {.ctx = t->ctx,
                       .size = mcr_gram_width(t->d),
                       .columns = cols,
                       .apply = apply,
                       .precondition = precondition,
                       .over = over,
                       .self = &p,
                       .enough = ENOUGH,
                       .relative = true,
                       .most = MOST};
    mcr_status s = b ? MCR_OK : MCR_NO_MEMORY;
    if (!s && (t->count == 0 || t->whole))
        s = take_some(t, rows, first, all, weight, h);
    if (!s)
        s = factorise(t, h);
    if (!s) {
        memcpy(b, x, sizeof *b * size);
        s = mcr_conjugate_solve(&c, b, x, &norm, &steps);
    }
    if (s || steps > SLOW)
        t->count = 0;
    mcr_free(t->ctx, b);
    return s;
}

mcr_status mcr_sampled_solve(mcr_sampled *t, mcr_rows rows, const double *weight, double h,
                             int64_t cols, double *x)
{
    int64_t first, all;
    double sum = 0;
    mcr_status s = mcr_gram_place(t->d, rows.count, &first, &all);
    if (!s)
        s = total(t, weight, rows.count, &sum);
    if (s)
        return s;
    if (all >= MANY * mcr_gram_width(t->d) && mcr_gram_near_error(t->d, sum) <= NEAR * h)
        return solve_many(t, rows, first, all, weight, h, cols, x);
    s = take_all(t, rows, weight, h);
    if (!s)
        s = factorise(t, h);
    if (s)
        t->count = 0;
    return s ? s : divide(t, cols, x);
}

/* ---- checkpoints ------------------------------------------------------------------------------*/

mcr_status mcr_sampled_walk(mcr_sampled *t, mcr_walk *w)
{
    MCR_WALK(w, t->count);
    if (w->status || t->count == 0)
        return w->status;
    if (!t->row || t->count < 0 || t->count > t->most)
        return mcr_walk_refuse(w);
    mcr_walk_flag(w, &t->whole);
    MCR_WALK(w, t->sum);
    mcr_walk_bytes(w, t->row, sizeof *t->row * (size_t)t->count);
    mcr_walk_bytes(w, t->weight, sizeof *t->weight * (size_t)t->count);
    for (int64_t i = 0; i < t->count && !w->status; i++)
        if (t->row[i] < (i ? t->row[i - 1] + 1 : 0) || t->row[i] >= mcr_gram_rows(t->d))
            return mcr_walk_refuse(w);
    /* The matrix has the rounding errors of all updates, so it is stored as it is. */
    for (int64_t i = 0; i < t->m->n; i++)
        mcr_walk_bytes(w, t->m->a + i * t->m->ld + i + 1,
                       sizeof(double) * (size_t)(t->m->n - i - 1));
    mcr_walk_bytes(w, t->m->diagonal, sizeof(double) * (size_t)t->m->n);
    if (w->reads) {
        t->h = 0;
        t->m->factored = true;
    }
    return w->status;
}
