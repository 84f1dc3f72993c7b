/* sampled.c: systems of many rows, preconditioned by some of them.
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
    SLOW = 12,       /* steps: a preconditioner that needs more is made again */
    MOST = 60        /* steps */
};
#define NEAR   1e-3 /* how far the preconditioner may be off */
#define ENOUGH 1e-3 /* of the right side */

mcr_status mcr_sampled_open(mcr_sampled *t, mcr_gram *d, mcr_system *m)
{
    *t = (mcr_sampled){.ctx = mcr_gram_context(d), .d = d, .m = m};
    size_t most = 2 * PER_FEATURE * (size_t)mcr_gram_width(d);
    if (!mcr_gram_is_restricted(d))
        return MCR_OK;
    t->row = mcr_alloc(t->ctx, most, sizeof *t->row);
    t->weight = mcr_alloc(t->ctx, most, sizeof *t->weight);
    return t->row && t->weight ? MCR_OK : MCR_NO_MEMORY;
}

void mcr_sampled_close(mcr_sampled *t)
{
    mcr_free_all(t->ctx, t->row, t->weight);
}

bool mcr_sampled_suits(const mcr_sampled *t, int64_t rows, double sum)
{
    return t->row && rows >= MANY * mcr_gram_width(t->d) && mcr_gram_near_error(t->d, sum) <= NEAR;
}

static mcr_status factorise(mcr_sampled *t)
{
    mcr_status s = mcr_gram_fill_near(t->d, t->m, (mcr_rows){t->row, 0, t->count}, t->weight, NEAR);
    return s ? s : mcr_system_factor(t->m, 1, NULL, NULL);
}

static mcr_status choose(mcr_sampled *t, mcr_rows rows, const double *h)
{
    int64_t step = rows.count / (PER_FEATURE * mcr_gram_width(t->d));
    t->count = 0;
    for (int64_t i = step / 2; i < rows.count && t->count < rows.count / step; i += step) {
        t->row[t->count] = mcr_rows_at(rows, i);
        t->weight[t->count++] = (double)step * h[i];
    }
    return factorise(t);
}

/* ---- conjugate gradients ----------------------------------------------------------------------*/

typedef struct problem {
    mcr_sampled *with;
    mcr_rows rows;
    const double *h;
    int64_t cols;
} problem;

static double weigh(const void *self, int64_t first, int64_t count, const double *y, double *a)
{
    const problem *p = self;
    for (int64_t i = 0; i < count * p->cols; i++)
        a[i] = p->h[first + i / p->cols] * y[i];
    return 0;
}

static mcr_status apply(void *self, const double *v, double *av)
{
    const problem *p = self;
    mcr_round pass = {.x = p->rows, .outputs = p->cols, .c = v, .work = weigh, .self = p, .u = av};
    mcr_status s = mcr_gram_factor_round(p->with->d, &pass);
    for (int64_t k = 0; k < mcr_gram_width(p->with->d) * p->cols && !s; k++)
        av[k] += v[k];
    return s;
}

static mcr_status precondition(void *self, const double *r, double *z)
{
    const problem *p = self;
    memcpy(z, r, sizeof *z * (size_t)(mcr_gram_width(p->with->d) * p->cols));
    return mcr_system_solve(p->with->m, p->cols, z);
}

mcr_status mcr_sampled_solve(mcr_sampled *t, mcr_rows rows, const double *h, int64_t cols,
                             double *x)
{
    problem p = {t, rows, h, cols};
    size_t size = (size_t)(mcr_gram_width(t->d) * cols);
    double norm, *b = mcr_alloc(t->ctx, size, sizeof *b);
    int64_t steps = 0;
    mcr_conjugate c = {.ctx = t->ctx,
                       .size = mcr_gram_width(t->d),
                       .columns = cols,
                       .apply = apply,
                       .precondition = precondition,
                       .self = &p,
                       .enough = ENOUGH,
                       .relative = true,
                       .most = MOST};
    mcr_status s = b ? MCR_OK : MCR_NO_MEMORY;
    if (!s && t->count == 0)
        s = choose(t, rows, h);
    if (!s) {
        memcpy(b, x, sizeof *b * size);
        s = mcr_conjugate_solve(&c, b, x, &norm, &steps);
    }
    if (steps > SLOW)
        t->count = 0;
    mcr_free(t->ctx, b);
    return s;
}

mcr_status mcr_sampled_walk(mcr_sampled *t, mcr_walk *w)
{
    MCR_WALK(w, t->count);
    if (w->status || t->count == 0)
        return w->status;
    if (!t->row || t->count < 0 || t->count > 2 * PER_FEATURE * mcr_gram_width(t->d))
        return mcr_walk_refuse(w);
    mcr_walk_bytes(w, t->row, sizeof *t->row * (size_t)t->count);
    mcr_walk_bytes(w, t->weight, sizeof *t->weight * (size_t)t->count);
    for (int64_t i = 0; i < t->count && !w->status; i++)
        if (t->row[i] < 0 || t->row[i] >= mcr_gram_rows(t->d))
            return mcr_walk_refuse(w);
    return w->status || !w->reads ? w->status : factorise(t);
}
