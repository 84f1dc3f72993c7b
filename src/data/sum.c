/* sum.c: a checksum of a data set.
 *
 * The sum over the objects of a checksum of the object and its number: it is the same whether one
 * process has all objects or several share them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/team.h"
#include "data/data.h"

static uint32_t add(uint32_t sum, const void *bytes, size_t count)
{
    return bytes && count > 0 ? mcr_checksum_more(sum, bytes, count) : sum;
}

static uint32_t add_vector(uint32_t sum, const mcr_vector *x)
{
    if (mcr_vector_plain(x) && !x->index)
        return add(sum, x->value, sizeof(double) * (size_t)x->count);
    for (int64_t e = 0; e < x->count; e++) {
        double entry[2] = {(double)mcr_vector_column(x, e), mcr_vector_value(x, e)};
        sum = add(sum, entry, sizeof entry);
    }
    return sum;
}

static uint32_t add_graph(uint32_t sum, const mcr_store *s, int64_t first, int64_t count)
{
    if (!s->link || count == 0)
        return sum;
    size_t edges = (size_t)(s->link[first + count] - s->link[first]);
    for (int64_t v = first; v < first + count; v++) {
        int64_t own = s->link[v + 1] - s->link[v];
        sum = add(sum, &own, sizeof own);
    }
    if (s->node_label)
        sum = add(sum, s->node_label + first, sizeof *s->node_label * (size_t)count);
    if (s->link_label && edges)
        sum = add(sum, s->link_label + s->link[first], sizeof *s->link_label * edges);
    return edges ? add(sum, s->adjacent + s->link[first], sizeof *s->adjacent * edges) : sum;
}

static uint32_t add_object(uint32_t sum, const mcr_store *s, int64_t row)
{
    if (s->bytes || s->link) {
        int64_t first = s->start[row], count = s->start[row + 1] - first;
        sum = add(sum, &count, sizeof count);
        return s->link ? add_graph(sum, s, first, count)
                       : add(sum, s->bytes + first, (size_t)count);
    }
    if (s->kind != MCR_DENSE && s->kind != MCR_SPARSE && s->kind != MCR_PRECOMPUTED)
        return sum;
    mcr_vector x = mcr_store_vector(s, row);
    return add_vector(sum, &x);
}

/* Whether classes are words. Those of numbers follow from the targets, and if they are many, each
 * process has a list of its own. */
static bool names_classes(const mcr_data *d)
{
    return d->class_of && d->target_kind == MCR_WORD_TARGETS;
}

/* For objects in memory; number: that of the first one among all. */
static double sum_of(const mcr_data *d, int64_t number)
{
    uint32_t all = 0;
    for (int64_t i = 0; i < d->count; i++) {
        int64_t own = number + i;
        uint32_t sum = add(0, &own, sizeof own);
        if (d->target)
            sum = add(sum, d->target + i, sizeof *d->target);
        if (names_classes(d))
            sum = add(sum, d->class_of + i, sizeof *d->class_of);
        if (d->weight)
            sum = add(sum, d->weight + i, sizeof *d->weight);
        for (int64_t f = 0; f < d->fields; f++)
            sum = add_object(sum, d->store[f], d->rows ? d->rows[i] : d->first + i);
        all += sum;
    }
    return all;
}

mcr_status mcr_data_sum(const mcr_data *d, uint32_t *sum)
{
    enum { BLOCK = 65536 };
    int64_t first = 0, all = d->count;
    double own = 0;
    mcr_status s = mcr_team_of_rows(d->ctx) ? mcr_team_place(d->ctx, d->count, &first, &all)
                                            : MCR_OK;
    for (int64_t i = 0; i < d->count && !s; i += BLOCK) {
        mcr_data *part = NULL;
        s = mcr_data_load(&part, d,
                          (mcr_rows){NULL, i, d->count - i < BLOCK ? d->count - i : BLOCK});
        own += s ? 0 : sum_of(part, first + i);
        mcr_data_free(part);
    }
    own = (double)((uint64_t)own & UINT32_MAX);
    if (!s)
        s = mcr_team_sum(d->ctx, &own, 1);
    *sum = (uint32_t)((uint64_t)own & UINT32_MAX);
    for (int64_t f = 0; f < d->fields; f++)
        *sum = add(*sum, d->store[f]->name, strlen(d->store[f]->name));
    for (int64_t c = 0; names_classes(d) && c < d->classes->count; c++)
        *sum = add(*sum, d->classes->name[c], strlen(d->classes->name[c]) + 1);
    return s;
}
