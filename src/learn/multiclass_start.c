/* multiclass_start.c: the coefficients that each problem has in the training before.
 *
 * With many classes there are too many of them to be searched for every problem, so their places
 * are listed once. One problem takes time with its own objects alone: of many classes, a pair has
 * few of all objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "learn/multiclass_impl.h"

typedef mcr_class_job job;

mcr_status mcr_class_index_start(job *j)
{
    const mcr_fitted *start = j->in->start;
    int64_t all = 0;
    if (!start || start->outputs != j->problems || start->rule != j->rule)
        return MCR_OK;
    for (int64_t g = 0; g < start->segments; g++)
        all += start->segment[g].outputs;
    j->start_first = mcr_alloc_zero(j->in->ctx, (size_t)j->problems + 2, sizeof *j->start_first);
    j->start_place = mcr_alloc(j->in->ctx, (size_t)all, sizeof *j->start_place);
    if (j->rule == MCR_RULE_PAIRS)
        j->start_at = mcr_alloc(j->in->ctx, (size_t)j->n, sizeof *j->start_at);
    if (!j->start_first || !j->start_place || (j->rule == MCR_RULE_PAIRS && !j->start_at))
        return MCR_NO_MEMORY;
    for (int64_t c = 0; c < j->classes && j->start_at; c++)
        for (int64_t t = j->first[c]; t < j->first[c + 1]; t++)
            j->start_at[j->member[t]] = t - j->first[c];
    for (int64_t g = 0; g < start->segments; g++)
        for (int64_t t = 0; t < start->segment[g].outputs; t++)
            j->start_first[start->segment[g].output[t] + 2]++;
    for (int64_t o = 2; o < j->problems + 2; o++)
        j->start_first[o] += j->start_first[o - 1];
    for (int64_t g = 0; g < start->segments; g++)
        for (int64_t t = 0; t < start->segment[g].outputs; t++)
            j->start_place[j->start_first[start->segment[g].output[t] + 1]++] =
                (struct mcr_start_place){g, t};
    return MCR_OK;
}

/* The number of an object in a problem with the classes `of`; -1: it is not one of its objects. */
static int64_t number_in(const job *j, const int64_t of[2], int64_t object)
{
    if (object < 0 || object >= j->n)
        return -1;
    if (!j->start_at)
        return object;
    int64_t c = mcr_data_class_of(j->in->data)[object];
    int64_t at = j->start_at[object];
    return c == of[0] ? at : c == of[1] ? mcr_class_size(j, of[0]) + at : -1;
}

void mcr_class_read_start(const job *j, int64_t problem, double *coef)
{
    const mcr_fitted *start = j->in->start;
    int64_t of[2] = {0, 0};
    if (j->rule == MCR_RULE_PAIRS)
        mcr_class_pair(j->classes, problem, &of[0], &of[1]);
    memset(coef, 0, sizeof *coef * (size_t)mcr_class_objects(j, problem));
    for (int64_t p = j->start_first[problem]; p < j->start_first[problem + 1]; p++) {
        const mcr_segment *seg = &start->segment[j->start_place[p].segment];
        for (int64_t i = 0; i < seg->count; i++) {
            int64_t at = number_in(j, of, start->object[seg->first + i]);
            if (at >= 0)
                coef[at] += seg->coef[j->start_place[p].row * seg->count + i];
        }
    }
}
