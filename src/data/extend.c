/* extend.c: appends objects to those of a model.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/data.h"

#include <string.h>

/* The fields of data that `like` has, without targets and weights. */
static mcr_status strip(mcr_data **out, const mcr_data *data, const mcr_data *like)
{
    mcr *ctx = data->ctx;
    mcr_data *d = NULL;
    mcr_status s = mcr_data_select(&d, data, (mcr_rows){NULL, 0, data->count});
    mcr_store **store = s ? NULL : mcr_alloc(ctx, (size_t)like->fields, sizeof *store);
    if (!s && !store)
        s = MCR_NO_MEMORY;
    for (int64_t f = 0; f < like->fields && !s; f++) {
        const char *name = like->store[f]->name;
        int64_t at = mcr_data_find(data, name, strlen(name));
        if (like->store[f]->kind == MCR_PRECOMPUTED)
            s = mcr_fail(ctx, MCR_BAD_CALL,
                         "a precomputed kernel has no values between old and new objects: train "
                         "on all of them together");
        else if (at < 0)
            s = mcr_fail(ctx, MCR_BAD_DATA, "the model needs the field \"%s\", which is missing",
                         name);
        else
            store[f] = data->store[at];
    }
    for (int64_t f = 0; f < like->fields && !s; f++)
        (void)mcr_store_retain(store[f]);
    if (s) {
        mcr_free(ctx, store);
        mcr_data_free(d);
        return s;
    }
    for (int64_t f = 0; f < d->fields; f++)
        mcr_store_free(d->store[f]);
    mcr_free_all(ctx, d->store, d->target, d->weight, d->class_of);
    mcr_classes_free(ctx, d->classes);
    d->store = store;
    d->fields = like->fields;
    d->target_kind = MCR_NO_TARGETS;
    d->target = d->weight = NULL;
    d->class_of = NULL;
    d->classes = NULL;
    *out = d;
    return MCR_OK;
}

static mcr_status set_targets(mcr_data *d, int64_t old, const mcr_data *more, const int64_t *match)
{
    d->target = mcr_alloc_zero(d->ctx, (size_t)d->count, sizeof *d->target);
    d->weight = mcr_alloc_zero(d->ctx, (size_t)d->count, sizeof *d->weight);
    d->class_of = mcr_alloc_zero(d->ctx, (size_t)d->count, sizeof *d->class_of);
    if (!d->target || !d->weight || !d->class_of)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < more->count; i++) {
        int64_t c = match[more->class_of[i]];
        d->class_of[old + i] = (int32_t)c;
        d->target[old + i] = (double)c;
        d->weight[old + i] = more->weight ? more->weight[i] : 1;
    }
    d->target_kind = MCR_WORD_TARGETS;
    return MCR_OK;
}

mcr_status mcr_data_extend(mcr_data **out, const mcr_data *old, const mcr_data *more,
                           const char *const *class_name, int64_t classes, const int64_t *match)
{
    mcr_data *part[2] = {NULL, NULL}, *d = NULL;
    *out = NULL;
    mcr_status s = strip(&part[0], old, old);
    if (!s)
        s = strip(&part[1], more, old);
    if (!s)
        s = mcr_data_concat(&d, (const mcr_data *const *)part, 2);
    if (!s)
        s = mcr_classes_of_names(&d->classes, d->ctx, class_name, classes);
    if (!s)
        s = set_targets(d, old->count, more, match);
    mcr_data_free(part[0]);
    mcr_data_free(part[1]);
    return mcr_data_give(out, d, s);
}
