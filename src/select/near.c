/* near.c: the support vectors nearest to an object, by the kernel's distance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include <mercer/gram.h>

#include "select/select.h"

/* Inserts a support vector into the sorted list of the nearest so far. */
static void insert(int64_t *support, double *distance, int64_t *found, int64_t most, int64_t j,
                   double d)
{
    int64_t at = *found < most ? (*found)++ : most;
    while (at > 0 && distance[at - 1] > d) {
        if (at < most) {
            distance[at] = distance[at - 1];
            support[at] = support[at - 1];
        }
        at--;
    }
    if (at < most) {
        distance[at] = d;
        support[at] = j;
    }
}

/* K of the object with all support vectors, and of each with itself. */
static mcr_status measure(mcr *ctx, const mcr_model *model, const mcr_data *one, double *k,
                          double *own, double *self)
{
    const mcr_data *objects = mcr_model_objects(model);
    mcr_gram *gram = NULL;
    mcr_status s = mcr_gram_open(&gram, ctx, model->kernel, one, objects);
    if (!s)
        s = mcr_gram_block(gram, (mcr_rows){NULL, 0, 1},
                           (mcr_rows){NULL, 0, mcr_data_count(objects)}, k,
                           mcr_data_count(objects));
    if (!s)
        s = mcr_gram_diagonal(gram, 0, self);
    if (!s)
        s = mcr_gram_diagonal(gram, 1, own);
    mcr_gram_close(gram);
    return s;
}

mcr_status mcr_model_nearest(mcr *ctx, const mcr_model *model, const mcr_data *data, int64_t object,
                             int64_t count, int64_t *support, double *distance, int64_t *found)
{
    int64_t n = mcr_model_support(model);
    mcr_data *some = NULL, *one = NULL;
    double self = 0;
    *found = 0;
    if (n == 0 || !model->kernel || mcr_data_count(mcr_model_objects(model)) != n)
        return mcr_fail(ctx, MCR_BAD_CALL, "the model has no support vectors");
    if (object < 0 || object >= mcr_data_count(data))
        return mcr_fail(ctx, MCR_BAD_CALL, "there is no object %lld", (long long)object);
    double *k = mcr_alloc(ctx, (size_t)n, sizeof *k), *own = mcr_alloc(ctx, (size_t)n, sizeof *own);
    mcr_status s = k && own ? MCR_OK : MCR_NO_MEMORY;
    if (!s)
        s = mcr_data_select(&some, data, (mcr_rows){NULL, object, 1});
    if (!s)
        s = mcr_model_prepare(&one, ctx, model, some);
    if (!s)
        s = measure(ctx, model, one, k, own, &self);
    for (int64_t j = 0; j < n && !s; j++)
        insert(support, distance, found, count, j, sqrt(fmax(self + own[j] - 2 * k[j], 0)));
    mcr_data_free(one);
    mcr_data_free(some);
    mcr_free_all(ctx, k, own);
    return s;
}
