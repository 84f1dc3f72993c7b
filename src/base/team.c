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

/* ---- tasks ------------------------------------------------------------------------------------*/

mcr_team *mcr_team_of_tasks(const mcr *ctx)
{
    return ctx->team && !ctx->team->spread && ctx->team->count > 1 ? ctx->team : NULL;
}

bool mcr_team_owns(const mcr *ctx, int64_t task)
{
    const mcr_team *t = mcr_team_of_tasks(ctx);
    return !t || task % t->count == t->rank;
}

mcr_status mcr_team_share(mcr *ctx, double *x, int64_t count)
{
    mcr_team *t = mcr_team_of_tasks(ctx);
    return t ? t->sum(t, ctx, x, count) : MCR_OK;
}

mcr_status mcr_team_share_text(mcr *ctx, char *text, int64_t capacity)
{
    mcr_team *t = mcr_team_of_tasks(ctx);
    if (!t)
        return MCR_OK;
    double first = text[0] ? t->count - t->rank : 0;
    mcr_status s = t->largest(t, ctx, &first, 1);
    if (s || first == 0)
        return s;
    double *letter = mcr_alloc_zero(ctx, (size_t)capacity, sizeof *letter);
    if (!letter)
        return MCR_NO_MEMORY;
    bool own = t->count - t->rank == (int)first;
    for (int64_t i = 0; own && i < capacity - 1 && text[i]; i++)
        letter[i] = (unsigned char)text[i];
    s = t->sum(t, ctx, letter, capacity);
    for (int64_t i = 0; i < capacity && !s; i++)
        text[i] = (char)(unsigned char)letter[i];
    mcr_free(ctx, letter);
    return s;
}

mcr_status mcr_team_check_data(mcr *ctx, uint32_t sum)
{
    mcr_team *t = mcr_team_of_tasks(ctx);
    double v[2] = {sum, -(double)sum};
    mcr_status s = t ? t->largest(t, ctx, v, 2) : MCR_OK;
    if (s || !t || v[0] == -v[1])
        return s;
    return mcr_fail(ctx, MCR_BAD_DATA,
                    "the processes have not read the same data: do all see the same file, and was "
                    "it changed in the meantime?");
}
