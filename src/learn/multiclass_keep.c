/* multiclass_keep.c: problems that are solved, for a checkpoint.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "learn/multiclass_impl.h"

typedef struct place {
    mcr_class_job *j;
    int64_t problem;
} place;

static mcr_status walk(void *self, mcr_walk *w)
{
    const place *at = self;
    mcr_class_job *j = at->j;
    mcr_binary *r = &j->result[at->problem];
    /* Of an approximate map the weights say all, and they are the same in all processes. */
    size_t n = j->form.map ? 0 : (size_t)r->n;
    size_t width = r->w ? (size_t)mcr_gram_width(j->form.gram) : 0;
    mcr_walk_same(w, r->all);
    mcr_walk_same(w, (int64_t)width);
    mcr_walk_bytes(w, r->coef, sizeof *r->coef * n);
    mcr_walk_bytes(w, r->f, sizeof *r->f * n);
    mcr_walk_bytes(w, r->w, sizeof *r->w * width);
    mcr_walk_bytes(w, r->price, r->price ? sizeof *r->price * n : 0);
    if (j->curve)
        mcr_walk_bytes(w, j->curve + 2 * at->problem, 2 * sizeof *j->curve);
    double *number[] = {&r->bias,  &r->objective, &r->primal,    &r->dual,           &r->gap,
                        &r->error, &r->violation, &r->tolerance, &r->violation_error};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        MCR_WALK(w, *number[i]);
    mcr_walk_count(w, &r->steps);
    mcr_walk_count(w, &r->rows);
    mcr_walk_stop(w, &r->stop);
    return w->status;
}

mcr_status mcr_class_find_result(mcr_class_job *j, int64_t problem, bool *found)
{
    return mcr_resume_find(j->in->ctx, j->result[problem].part, walk, &(place){j, problem}, found);
}

mcr_status mcr_class_keep_result(mcr_class_job *j, int64_t problem)
{
    const mcr_binary *r = &j->result[problem];
    char parts[MCR_PART_NAME];
    if (!r->part[0] || r->stop == MCR_STOP_TIME || r->stop == MCR_STOP_INTERRUPTED)
        return MCR_OK;
    snprintf(parts, sizeof parts, "%.40s/", r->part);
    mcr_resume_drop(j->in->ctx, parts);
    return mcr_resume_keep(j->in->ctx, r->part, walk, &(place){j, problem});
}
