/* team.c: several processes that work on one problem.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/team.h"

void mcr_team_set(mcr *ctx, mcr_team *team)
{
    ctx->team = team;
}

mcr_team *mcr_team_of_rows(const mcr *ctx)
{
    return ctx->team && ctx->team->spread ? ctx->team : NULL;
}

mcr_status mcr_team_sum(mcr *ctx, double *x, int64_t count)
{
    mcr_team *t = mcr_team_of_rows(ctx);
    return t ? t->sum(t, ctx, x, count) : MCR_OK;
}

mcr_status mcr_team_largest(mcr *ctx, double *x, int64_t count)
{
    mcr_team *t = mcr_team_of_rows(ctx);
    return t ? t->largest(t, ctx, x, count) : MCR_OK;
}

mcr_status mcr_team_place(mcr *ctx, int64_t count, int64_t *first, int64_t *all)
{
    mcr_team *t = mcr_team_of_rows(ctx);
    *first = 0;
    *all = count;
    if (!t)
        return MCR_OK;
    double *each = mcr_alloc_zero(ctx, (size_t)t->count, sizeof *each);
    if (!each)
        return MCR_NO_MEMORY;
    each[t->rank] = (double)count;
    mcr_status s = t->sum(t, ctx, each, t->count);
    *all = 0;
    for (int r = 0; r < t->count; r++) {
        *first += r < t->rank ? (int64_t)each[r] : 0;
        *all += (int64_t)each[r];
    }
    mcr_free(ctx, each);
    return s;
}
