/* equal.c: whether categories are equal: 1, else rho; the mean over several columns.
 *
 * K(x,z) = rho + (1 - rho)/m sum_c [x_c = z_c] over m columns is the inner product of the features
 * sqrt(rho), and sqrt((1 - rho)/m) for each column and value: a kernel for 0 <= rho <= 1. A value
 * that occurs only once, such as one not seen in training, equals only itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/explicit.h"
#include "kernel/features.h"
#include "kernel/select.h"
#include "kernel/vectors.h"

typedef struct equal_params {
    double rho;
} equal_params;

static const mcr_param params[] = {
    MCR_RANGE_PARAM(equal_params, rho, MCR_REAL, "0", 0, 1,
                    "the value for categories that are not equal"),
    {.name = NULL},
};

typedef struct coder {
    mcr_bound *bound;
    mcr_words words; /* part and value */
    mcr_feature *list;
    int64_t count;
    double one, shared; /* values of the features */
} coder;

/* The number of a value of a part, from 0. */
static mcr_status code(coder *c, int64_t part, int side, int64_t i, int32_t *number)
{
    char before[MCR_NUMBER_TEXT];
    snprintf(before, sizeof before, "%lld", (long long)part);
    return mcr_selected_number(number, c->bound, &c->words, before, part, side, i);
}

static mcr_status code_objects(coder *c)
{
    mcr_bound *b = c->bound;
    int64_t parts = b->selection->parts, object = 0;
    mcr_status s = MCR_OK;
    for (int side = 0; side < (b->same ? 1 : 2) && !s; side++)
        for (int64_t i = 0; i < b->data[side]->count && !s; i++, object++) {
            for (int64_t p = 0; p < parts && !s; p++) {
                mcr_feature *f = &c->list[c->count++];
                *f = (mcr_feature){.object = (int32_t)object, .value = c->one};
                s = code(c, p, side, i, &f->feature);
                f->feature++;
            }
            if (c->shared > 0)
                c->list[c->count++] = (mcr_feature){(int32_t)object, 0, c->shared};
        }
    return s;
}

/* "equal", and "city=Paris" for each value. */
static mcr_status name_features(const coder *c)
{
    mcr_bound *b = c->bound;
    mcr_status s = mcr_names_open(&b->names, b->ctx);
    if (s)
        return s;
    mcr_text_string(&b->names->text, "equal");
    s = mcr_names_end(b->names);
    for (int64_t w = 0; w < c->words.count && !s; w++) {
        const char *value = strchr(c->words.word[w], '=') + 1;
        int64_t part = strtoll(c->words.word[w], NULL, 10);
        const char *name = mcr_selected_name(b->selection, part);
        mcr_names_bytes(b->names, name, (int64_t)strlen(name));
        mcr_text_string(&b->names->text, "=");
        mcr_names_bytes(b->names, value, (int64_t)strlen(value));
        s = mcr_names_end(b->names);
    }
    return s;
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const equal_params *p = mcr_bound_params(bound);
    int64_t parts = bound->selection->parts;
    int64_t objects = bound->data[0]->count + (bound->same ? 0 : bound->data[1]->count);
    coder c = {.bound = bound,
               .one = sqrt((1 - p->rho) / (double)parts),
               .shared = sqrt(p->rho),
               .list = mcr_alloc(bound->ctx, (uint64_t)(objects * (parts + 1)), sizeof *c.list)};
    mcr_status s = c.list ? code_objects(&c) : MCR_NO_MEMORY;
    if (!s && binding->named)
        s = name_features(&c);
    if (!s)
        s = mcr_features_offer(bound, binding, c.list, c.count, c.words.count + 1);
    mcr_words_free(&c.words, bound->ctx);
    mcr_free(bound->ctx, c.list);
    return s;
}

MCR_ALWAYS_PSD(definite, "an inner product of 0/1 features, one for each value of a category")

const mcr_kernel_type mcr_kernel_equal = {
    .name = "equal",
    .summary = "1 for equal categories, else rho; the mean over several columns",
    .kinds = MCR_DENSE | MCR_STRINGS,
    .params = params,
    .params_size = sizeof(equal_params),
    .definite = definite,
    .bind = bind,
    .features = mcr_features_listed,
};
