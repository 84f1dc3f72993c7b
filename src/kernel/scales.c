/* scales.c: the scales of an expression as a list of numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/built_in.h"
#include "kernel/scales.h"

#include <math.h>
#include <string.h>

#include "base/params.h"

static bool may_be_scale(const mcr_kernel *node, const mcr_param *p)
{
    bool factor = node->type == &mcr_kernel_constant;
    return (p->type == MCR_REAL || p->type == MCR_REALS) && (factor || p->min == 0) &&
           isinf(p->max);
}

/* The numbers of a parameter; *count 0: not given. */
static double *numbers_of(void *params, const mcr_param *p, int64_t *count)
{
    char *at = (char *)params + p->offset;
    if (p->type == MCR_REALS) {
        mcr_reals *list = (mcr_reals *)(void *)at;
        *count = list->count;
        return list->values;
    }
    double *number = (double *)(void *)at;
    *count = isnan(*number) ? 0 : 1;
    return number;
}

/* Visits the scales of one node: reads them into `get` and their parameters into `which`, or sets
 * them from `set`. */
static int64_t visit(const mcr_kernel *node, void *params, double *get, const mcr_param **which,
                     const double *set)
{
    int64_t found = 0;
    for (const mcr_param *p = node->type->params; p && p->name; p++) {
        if (!may_be_scale(node, p))
            continue;
        int64_t count;
        double *number = numbers_of(params, p, &count);
        for (int64_t i = 0; i < count; i++) {
            if (!(number[i] > 0))
                continue;
            if (get)
                get[found] = number[i];
            if (which)
                which[found] = p;
            if (set)
                number[i] = set[found];
            found++;
        }
    }
    return found;
}

static int64_t list(const mcr_kernel *kernel, double *value, const mcr_param **which)
{
    int64_t found = visit(kernel, kernel->params, value, which, NULL);
    for (int c = 0; c < kernel->children; c++)
        found += list(kernel->child[c], value ? value + found : NULL, which ? which + found : NULL);
    return found;
}

int64_t mcr_kernel_scales(const mcr_kernel *kernel, double *value)
{
    return list(kernel, value, NULL);
}

void mcr_kernel_scale_params(const mcr_kernel *kernel, const mcr_param **param)
{
    (void)list(kernel, NULL, param);
}

/* The node's own parameters with new scales. */
static mcr_status copy_params(void **out, const mcr_kernel *k, const double *value)
{
    *out = NULL;
    if (!k->params)
        return MCR_OK;
    void *params = mcr_alloc_zero(k->ctx, 1, k->type->params_size);
    mcr_status s = params ? mcr_params_copy(k->ctx, k->type->params, params, k->params)
                          : MCR_NO_MEMORY;
    if (s) {
        mcr_free(k->ctx, params);
        return s;
    }
    visit(k, params, NULL, NULL, value);
    *out = params;
    return MCR_OK;
}

mcr_status mcr_kernel_rescaled(mcr_kernel **out, const mcr_kernel *k, const double *value)
{
    *out = NULL;
    mcr *ctx = k->ctx;
    void *params = NULL;
    int made = 0;
    mcr_kernel **child = mcr_alloc_zero(ctx, (size_t)k->children, sizeof *child);
    char *field = k->field ? mcr_copy_text(ctx, k->field, strlen(k->field)) : NULL;
    mcr_status s = child && !k->field == !field ? MCR_OK : MCR_NO_MEMORY;
    int64_t used = visit(k, k->params, NULL, NULL, NULL);
    for (; made < k->children && !s; made++) {
        s = mcr_kernel_rescaled(&child[made], k->child[made], value + used);
        used += mcr_kernel_scales(k->child[made], NULL);
    }
    if (!s)
        s = copy_params(&params, k, value);
    if (!s) {
        s = k->columns ? mcr_kernel_new_columns(out, ctx, k->type, params, field)
                       : mcr_kernel_new(out, ctx, k->type, params, field, child, k->children);
        field = NULL;
        made = 0;
    }
    for (int c = 0; c < made; c++)
        mcr_kernel_free(child[c]);
    mcr_free_all(ctx, field, child);
    return s;
}
