/* objects.c: objects of other ranks: landmarks, samples, support vectors.
 *
 * They are sent in the format of model files (model/objects.h). Targets and weights are numbers:
 * each rank fills in its own, and the sum over the ranks gives all of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "model/objects.h"
#include "ranks.h"

typedef struct picking {
    ranks *r;
    mcr *ctx;
    const mcr_data *data;
    mcr_rows rows;
    int64_t first;  /* number of this rank's first object */
    int64_t *own;   /* this rank's objects among the rows, by local number */
    int64_t *where; /* and their positions in rows */
    int64_t count;
} picking;

static mcr_status find_own(picking *p)
{
    int64_t all, n = mcr_data_count(p->data);
    mcr_status s = mcr_team_place(p->ctx, n, &p->first, &all);
    p->own = mcr_alloc(p->ctx, (size_t)p->rows.count, sizeof *p->own);
    p->where = mcr_alloc(p->ctx, (size_t)p->rows.count, sizeof *p->where);
    if (!s && (!p->own || !p->where))
        s = MCR_NO_MEMORY;
    for (int64_t t = 0; t < p->rows.count && !s; t++) {
        int64_t at = mcr_rows_at(p->rows, t) - p->first;
        if (at < 0 || at >= n)
            continue;
        p->own[p->count] = at;
        p->where[p->count++] = t;
    }
    return s;
}

static mcr_status pack(const picking *p, mcr_text *text)
{
    mcr_data *part = NULL;
    bool *wanted = mcr_alloc(p->ctx, (size_t)mcr_data_fields(p->data), sizeof *wanted);
    mcr_status s = wanted ? mcr_data_load(&part, p->data, (mcr_rows){p->own, 0, p->count})
                          : MCR_NO_MEMORY;
    for (int64_t f = 0; f < mcr_data_fields(p->data) && !s; f++)
        wanted[f] = true;
    if (!s) {
        mcr_put_i64s(text, p->where, p->count);
        mcr_text columns;
        mcr_text_init(&columns, p->ctx);
        mcr_put_columns(&columns, part, wanted);
        mcr_put_i64(text, columns.length);
        mcr_text_add(text, columns.bytes, (size_t)columns.length);
        mcr_put_objects(text, part, wanted);
        s = columns.status ? columns.status : text->status;
        mcr_text_free(&columns);
    }
    mcr_data_free(part);
    mcr_free(p->ctx, wanted);
    return s;
}

/* The objects of one rank; turn[position in rows] = number among those unpacked so far. */
static mcr_status unpack(const picking *p, const char *bytes, size_t count, mcr_data **out,
                         int64_t *turn, int64_t *done)
{
    mcr_reader r = {.ctx = p->ctx,
                    .at = (const unsigned char *)bytes,
                    .end = (const unsigned char *)bytes + count,
                    .file = "objects of another rank",
                    .what = "its objects"};
    int64_t found = 0, *where = mcr_get_i64s(&r, &found), length = mcr_get_count(&r, 1);
    mcr_reader columns = {.ctx = p->ctx, .at = r.at, .end = r.at + length};
    r.at += length;
    mcr_status s = mcr_get_objects(out, &r);
    for (int64_t i = 0; i < found && !s; i++)
        turn[where[i]] = (*done)++;
    if (!s)
        mcr_get_columns(&columns, *out);
    mcr_free(p->ctx, where);
    return s;
}

/* Numbers of the picked objects, `cols` each. */
static mcr_status share_numbers(const picking *p, const double *from, int64_t cols, double **to)
{
    size_t all = (size_t)(p->rows.count * cols);
    if (!(*to = mcr_alloc_zero(p->ctx, all, sizeof **to)))
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < p->count; i++)
        memcpy(*to + p->where[i] * cols, from + p->own[i] * cols, sizeof **to * (size_t)cols);
    return p->r->team.sum(&p->r->team, p->ctx, *to, (int64_t)all);
}

static mcr_status share_classes(const picking *p, mcr_data *d)
{
    double *number = NULL, *own = mcr_alloc(p->ctx, (size_t)p->data->count, sizeof *own);
    d->class_of = mcr_alloc(p->ctx, (size_t)d->count, sizeof *d->class_of);
    mcr_status s = own && d->class_of ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < p->data->count && !s; i++)
        own[i] = p->data->class_of[i];
    if (!s)
        s = share_numbers(p, own, 1, &number);
    for (int64_t i = 0; i < d->count && !s; i++)
        d->class_of[i] = (int32_t)number[i];
    d->classes = mcr_classes_retain(p->data->classes);
    mcr_free(p->ctx, number);
    mcr_free(p->ctx, own);
    return s;
}

static mcr_status share_targets(const picking *p, mcr_data *d)
{
    const mcr_data *from = p->data;
    mcr_status s = MCR_OK;
    d->target_kind = from->target_kind;
    d->positive = from->positive;
    d->layout = mcr_layout_retain(from->layout);
    if (from->target_kind != MCR_NO_TARGETS) {
        s = share_numbers(p, from->target, 1, &d->target);
        if (!s)
            s = share_classes(p, d);
    }
    if (!s && from->table) {
        d->target_names = mcr_classes_retain(from->target_names);
        s = share_numbers(p, from->table, from->target_names->count, &d->table);
    }
    return !s && from->weight ? share_numbers(p, from->weight, 1, &d->weight) : s;
}

/* Joins all parts, in the order of the rows. */
static mcr_status join(const picking *p, mcr_data **part, const int64_t *turn, mcr_data **out)
{
    int64_t parts = 0;
    mcr_data *joint = NULL, *view = NULL;
    for (int k = 0; k < p->r->team.count; k++)
        if (mcr_data_count(part[k]) > 0) { /* to the front; all are freed in any case */
            mcr_data *swap = part[parts];
            part[parts++] = part[k];
            part[k] = swap;
        }
    mcr_status s = mcr_data_concat(&joint, (const mcr_data *const *)part, parts ? parts : 1);
    if (!s)
        s = mcr_data_select(&view, joint, (mcr_rows){turn, 0, p->rows.count});
    if (!s)
        s = share_targets(p, view);
    mcr_data_free(joint);
    if (s)
        mcr_data_free(view);
    else
        *out = view;
    return s;
}

mcr_status ranks_objects(mcr_team *team, mcr_data **out, const mcr_data *data, mcr_rows rows)
{
    ranks *r = (ranks *)team;
    mcr *ctx = data->ctx;
    picking p = {.r = r, .ctx = ctx, .data = data, .rows = rows};
    mcr_text text;
    char *all = NULL;
    size_t *place;
    int64_t done = 0, *turn = mcr_alloc(ctx, (size_t)rows.count, sizeof *turn);
    mcr_data **part = mcr_alloc_zero(ctx, (size_t)team->count, sizeof *part);
    mcr_text_init(&text, ctx);
    *out = NULL;
    mcr_status s = turn && part ? find_own(&p) : MCR_NO_MEMORY;
    if (!s)
        s = pack(&p, &text);
    if (!s)
        s = ranks_gather(r, ctx, text.bytes, (size_t)text.length, &all, &place);
    mcr_text_free(&text);
    size_t head = sizeof *place * ((size_t)team->count + 1);
    for (int k = 0; k < team->count && !s; k++)
        s = unpack(&p, all + head + place[k], place[k + 1] - place[k], &part[k], turn, &done);
    if (!s && done != rows.count)
        s = mcr_fail(ctx, MCR_BAD_CALL, "%lld of %lld objects are in no rank",
                     (long long)(rows.count - done), (long long)rows.count);
    if (!s)
        s = join(&p, part, turn, out);
    for (int k = 0; k < team->count && part; k++)
        mcr_data_free(part[k]);
    mcr_free(ctx, all);
    mcr_free(ctx, part);
    mcr_free(ctx, turn);
    mcr_free(ctx, p.own);
    mcr_free(ctx, p.where);
    return s;
}
