/* layout.c: the columns of a table that are not features, kept so that another table can be
 * matched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/data.h"

#include <string.h>

mcr_status mcr_layout_new(mcr_layout **out, mcr *ctx, const mcr_layout *from,
                          const char *const *name)
{
    *out = NULL;
    mcr_layout *l = mcr_alloc_zero(ctx, 1, sizeof *l);
    if (l == NULL)
        return MCR_NO_MEMORY;
    l->ctx = ctx;
    l->owners = 1;
    l->columns = from->columns;
    l->targets = from->targets;
    l->roles = from->roles;
    l->usual = from->usual;
    l->column = mcr_alloc(ctx, (size_t)l->roles, sizeof *l->column);
    mcr_status status = l->column != NULL ? MCR_OK : MCR_NO_MEMORY;
    if (status == MCR_OK)
        memcpy(l->column, from->column, sizeof *l->column * (size_t)l->roles);
    if (status == MCR_OK && name != NULL)
        status = mcr_classes_of_names(&l->name, ctx, name, l->roles);
    if (status == MCR_OK)
        *out = l;
    else
        mcr_layout_free(l);
    return status;
}

mcr_status mcr_layout_roles(mcr_layout *l, const mcr_role *role, const char *const *name)
{
    l->all = mcr_alloc(l->ctx, (size_t)l->columns, sizeof *l->all);
    if (l->all == NULL)
        return MCR_NO_MEMORY;
    memcpy(l->all, role, sizeof *role * (size_t)l->columns);
    return name != NULL ? mcr_classes_of_names(&l->called, l->ctx, name, l->columns) : MCR_OK;
}

mcr_status mcr_layout_join(mcr_layout *l, const char *key, bool beside)
{
    char *copy = mcr_copy_text(l->ctx, key, strlen(key));
    if (copy == NULL)
        return MCR_NO_MEMORY;
    mcr_free(l->ctx, l->joined);
    l->joined = copy;
    l->beside = beside;
    return MCR_OK;
}

mcr_layout *mcr_layout_retain(mcr_layout *l)
{
    if (l != NULL)
        __atomic_add_fetch(&l->owners, 1, __ATOMIC_RELAXED);
    return l;
}

void mcr_layout_free(mcr_layout *l)
{
    if (l == NULL || __atomic_sub_fetch(&l->owners, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    mcr *ctx = l->ctx;
    mcr_free(ctx, l->column);
    mcr_classes_free(ctx, l->name);
    mcr_classes_free(ctx, l->called);
    mcr_free_all(ctx, l->all, l->joined, l);
}

const mcr_layout *mcr_data_layout(const mcr_data *data)
{
    return data->layout != NULL && data->layout->all != NULL ? data->layout : NULL;
}

int64_t mcr_layout_columns(const mcr_layout *l)
{
    return l->all != NULL && l->called != NULL ? l->columns : 0;
}

const char *mcr_layout_column(const mcr_layout *l, int64_t c, mcr_role *role)
{
    if (c < 0 || c >= mcr_layout_columns(l))
        return NULL;
    *role = l->all[c];
    return l->called->name[c];
}

const char *mcr_layout_key(const mcr_layout *l, int *beside)
{
    *beside = l->beside;
    return l->joined;
}
