/* fourier.c: predictions of models with random Fourier features.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model/fourier.h"

#include <math.h>
#include <string.h>

#include "linalg/shared.h"

bool mcr_fourier_is(const mcr_fitted *f)
{
    int64_t count;
    return mcr_fitted_find(f, MCR_EXTRA_FOURIER, &count) != NULL;
}

mcr_status mcr_fourier_open(mcr_map **out, mcr *ctx, const mcr_model *m, const mcr_data *data)
{
    const double *made, *weight;
    mcr_gram *gram = NULL;
    *out = NULL;
    mcr_status s = mcr_fitted_need(&made, m->fitted, MCR_EXTRA_FOURIER, 3);
    bool fits = !s && made[0] >= 1 && made[0] <= 1e6 && made[0] == floor(made[0]) && made[1] >= 0 &&
                made[1] < 4294967296.0 && made[2] >= 0 && made[2] < 4294967296.0;
    if (!s)
        s = mcr_fitted_need(&weight, m->fitted, MCR_EXTRA_WEIGHTS,
                            fits ? (int64_t)made[0] * m->fitted->outputs : -1);
    if (!s) /* checks that the objects match the training data */
        s = mcr_gram_open(&gram, ctx, m->kernel, m->basis, data);
    mcr_gram_close(gram);
    return s ? s
             : mcr_map_open_seeded(out, ctx, m->kernel, data, (int64_t)made[0],
                                   (uint64_t)made[1] | (uint64_t)made[2] << 32);
}

mcr_status mcr_fourier_score(mcr_map *map, const mcr_model *m, const mcr_data *part, double *score)
{
    enum { BLOCK = 2048 };
    const mcr_fitted *f = m->fitted;
    int64_t found, n = mcr_data_count(part), p = mcr_map_count(map), k = f->outputs;
    const double *weight = mcr_fitted_find(f, MCR_EXTRA_WEIGHTS, &found);
    double *phi = mcr_alloc(map->ctx, BLOCK, (size_t)p * sizeof *phi);
    mcr_status s = phi ? MCR_OK : MCR_NO_MEMORY;
    if (!s && found != p * k)
        s = mcr_fail(map->ctx, MCR_BAD_DATA, "the model is damaged (its weights do not fit)");
    for (int64_t i = 0; i < n && !s; i += BLOCK) {
        int64_t count = n - i < BLOCK ? n - i : BLOCK;
        for (int64_t t = i; t < i + count; t++)
            memcpy(score + t * k, f->offset, sizeof *score * (size_t)k);
        s = mcr_map_rows(map, part, (mcr_rows){NULL, i, count}, phi, p);
        if (!s)
            s = mcr_shared_gemm(map->ctx, MCR_AS_IS, MCR_AS_IS, count, k, p, 1, phi, p, weight, k,
                                1, score + i * k, k);
    }
    mcr_free(map->ctx, phi);
    return s;
}
