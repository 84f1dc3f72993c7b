/* factor_map.c: factors from feature maps of a kernel, exact and approximate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/factor_impl.h"
#include "gram/map.h"
#include "kernel/explicit.h"

/* A kernel whose features are the vectors themselves, on one sparse field, has them already. */
static const mcr_store *data_rows(const mcr_kernel *kernel, const mcr_data *data, mcr_field *field)
{
    if (kernel->type->features != mcr_features_vectors || mcr_data_fields(data) != 1)
        return NULL;
    *field = mcr_data_field(data, 0);
    return field->store->kind == MCR_SPARSE && field->store->value ? field->store : NULL;
}

bool mcr_gram_features_are_data(const mcr_kernel *kernel, const mcr_data *data)
{
    mcr_field field;
    return data_rows(kernel, data, &field) != NULL;
}

static mcr_status from_data(mcr_gram **out, mcr *ctx, const mcr_field *field)
{
    const mcr_store *s = field->store;
    mcr_gram *all = NULL;
    int64_t *row = NULL;
    mcr_factor of = {.n = field->count,
                     .p = s->cols > 0 ? s->cols : 1,
                     .start = s->start,
                     .index = s->index,
                     .value = s->value};
    mcr_status st = mcr_gram_factor(&all, ctx, &of);
    if (!st && (field->rows || field->first != 0)) {
        row = mcr_alloc(ctx, (size_t)field->count, sizeof *row);
        for (int64_t i = 0; i < field->count && row; i++)
            row[i] = mcr_field_at(field, i);
        mcr_factor_gram *g = (mcr_factor_gram *)all;
        g->row = row;
        g->of.row = row;
        st = row ? MCR_OK : MCR_NO_MEMORY;
    }
    if (st)
        mcr_gram_close(all);
    *out = st ? NULL : all;
    return st;
}

static void release_features(mcr *ctx, void *source)
{
    (void)ctx;
    mcr_features_close(source);
}

mcr_status mcr_gram_features(mcr_gram **out, mcr *ctx, const mcr_kernel *kernel,
                             const mcr_data *data)
{
    static const int32_t no_index[1];
    static const double no_value[1];
    mcr_field field;
    mcr_features *f = NULL;
    *out = NULL;
    if (data_rows(kernel, data, &field))
        return from_data(out, ctx, &field);
    mcr_status s = mcr_features_open(&f, ctx, kernel, data, NULL, 0);
    if (s)
        return s;
    return mcr_gram_factor(out, ctx,
                           &(mcr_factor){.n = f->objects[0],
                                         .p = f->count > 0 ? f->count : 1,
                                         .start = f->start[0],
                                         .index = f->index[0] ? f->index[0] : no_index,
                                         .value = f->value[0] ? f->value[0] : no_value,
                                         .error = f->error,
                                         .kernel = kernel,
                                         .data = data,
                                         .self = f,
                                         .release = release_features});
}

typedef struct mapped {
    mcr_map *map;
    const mcr_data *data;
} mapped;

static mcr_status map_block(void *self, const int64_t *row, int64_t first, int64_t count,
                            double *to, int64_t ld)
{
    const mapped *m = self;
    return mcr_map_rows(m->map, m->data, (mcr_rows){row, row ? 0 : first, count}, to, ld);
}

mcr_status mcr_gram_mapped(mcr_gram **out, mcr *ctx, mcr_map *map, const mcr_data *data)
{
    *out = NULL;
    mapped *m = mcr_alloc(ctx, 1, sizeof *m);
    if (!m)
        return MCR_NO_MEMORY;
    *m = (mapped){map, data};
    return mcr_gram_factor(out, ctx,
                           &(mcr_factor){.n = mcr_data_count(data),
                                         .p = mcr_map_count(map),
                                         .block = map_block,
                                         .self = m,
                                         .release = mcr_free});
}
