/* ordinal.c: ordered categories: 1 - |i - j| / (m - 1) for ranks i and j among m values.
 *
 * With two features for each of the m - 1 cuts between adjacent values, one for values below and
 * one for values above it, it is the fraction of cuts with both objects on the same side: an inner
 * product. Values that are not in the list share a separate feature: equal to each other, 0 with
 * all others. For several columns, the mean.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "kernel/explicit.h"
#include "kernel/features.h"
#include "kernel/select.h"
#include "kernel/vectors.h"

typedef struct ordinal_params {
    char *order;
} ordinal_params;

static const mcr_param params[] = {
    {.name = "order",
     .type = MCR_TEXT,
     .offset = offsetof(ordinal_params, order),
     .help = "the values from the lowest to the highest: \"low;medium;high\""},
    {.name = NULL},
};

static int64_t count_values(const char *order)
{
    int64_t count = 1;
    for (const char *p = order; *p; p++)
        count += *p == ';';
    return count;
}

/* The rank of a word; -1: not in the list. */
static int64_t find_place(const char *order, const char *word, size_t length)
{
    int64_t place = 0;
    for (const char *p = order;; place++) {
        size_t own = strcspn(p, ";");
        if (own == length && memcmp(p, word, length) == 0)
            return place;
        p += own;
        if (!*p)
            return -1;
        p++;
    }
}

static mcr_status check(mcr *ctx, void *values)
{
    const ordinal_params *p = values;
    if (!p->order || count_values(p->order) < 2)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "ordinal needs the values in their order, such as "
                        "order=\"low;medium;high\"");
    const char *at = p->order;
    for (int64_t i = 0; i < count_values(p->order); i++) {
        size_t length = strcspn(at, ";");
        if (length == 0 || find_place(p->order, at, length) != i)
            return mcr_fail(ctx, MCR_BAD_CALL,
                            "ordinal: order=\"%.60s\" has an empty or repeated value", p->order);
        at += length + 1;
    }
    return MCR_OK;
}

/* Features of a part: below and above each cut, then the one for other values. */
static int64_t list_object(mcr_feature *list, const mcr_bound *bound, int64_t part, int side,
                           int64_t i, int32_t object)
{
    const ordinal_params *p = mcr_bound_params(bound);
    int64_t cuts = count_values(p->order) - 1, first = part * (2 * cuts + 1);
    double value = sqrt(1 / (double)(cuts * bound->selection->parts));
    char digits[MCR_NUMBER_TEXT];
    size_t length;
    const char *word = mcr_selected_word(bound, part, side, i, digits, &length);
    int64_t place = find_place(p->order, word, length);
    if (place < 0) {
        list[0] = (mcr_feature){object, (int32_t)(first + 2 * cuts),
                                sqrt(1 / (double)bound->selection->parts)};
        return 1;
    }
    for (int64_t c = 0; c < cuts; c++)
        list[c] = (mcr_feature){object, (int32_t)(first + 2 * c + (place > c)), value};
    return cuts;
}

static mcr_status name_features(mcr_bound *bound)
{
    const ordinal_params *p = mcr_bound_params(bound);
    mcr_status s = mcr_names_open(&bound->names, bound->ctx);
    for (int64_t part = 0; part < bound->selection->parts && !s; part++) {
        const char *name = mcr_selected_name(bound->selection, part), *at = p->order;
        for (int64_t f = 0; f < 2 * count_values(p->order) - 1 && !s; f++) {
            size_t length = strcspn(at, ";");
            bool other = f == 2 * count_values(p->order) - 2;
            mcr_names_bytes(bound->names, name, (int64_t)strlen(name));
            mcr_text_string(&bound->names->text, other ? " is none of them" : f % 2 ? ">" : "<=");
            if (!other)
                mcr_names_bytes(bound->names, at, (int64_t)length);
            s = mcr_names_end(bound->names);
            at += f % 2 ? length + 1 : 0;
        }
    }
    return s;
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const ordinal_params *p = mcr_bound_params(bound);
    int64_t parts = bound->selection->parts, cuts = count_values(p->order) - 1;
    int64_t objects = bound->data[0]->count + (bound->same ? 0 : bound->data[1]->count);
    int64_t count = 0, object = 0;
    mcr_feature *list = mcr_alloc(bound->ctx, (uint64_t)(objects * parts * cuts), sizeof *list);
    mcr_status s = list ? MCR_OK : MCR_NO_MEMORY;
    for (int side = 0; side < (bound->same ? 1 : 2) && !s; side++)
        for (int64_t i = 0; i < bound->data[side]->count; i++, object++)
            for (int64_t part = 0; part < parts; part++)
                count += list_object(list + count, bound, part, side, i, (int32_t)object);
    if (!s && binding->named)
        s = name_features(bound);
    if (!s)
        s = mcr_features_offer(bound, binding, list, count, parts * (2 * cuts + 1));
    mcr_free(bound->ctx, list);
    return s;
}

MCR_ALWAYS_PSD(definite, "an inner product: the share of cuts with both on the same side")

const mcr_kernel_type mcr_kernel_ordinal = {
    .name = "ordinal",
    .summary = "1 - the distance between the ranks of two values, for ordered categories",
    .kinds = MCR_DENSE | MCR_STRINGS,
    .params = params,
    .params_size = sizeof(ordinal_params),
    .check = check,
    .definite = definite,
    .bind = bind,
    .features = mcr_features_listed,
};
