/* explain.c: a model in terms of the kernel's features: w = sum_i coef_i phi(x_i).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include <mercer/features.h>

#include "base/limits.h"
#include "model/fourier.h"
#include "model/model.h"

static bool is_scaled(const mcr_model *m, const char *name)
{
    for (int64_t f = 0; m->scaling && f < m->scaling->fields; f++)
        if (strcmp(m->scaling->field[f].name, name) == 0)
            return true;
    return false;
}

mcr_status mcr_model_check_width(mcr *ctx, const mcr_model *m)
{
    enum { ENTRY = sizeof(double) + sizeof(int32_t), WIDE = 2 * sizeof(double) };
    char size[MCR_SIZE_TEXT];
    for (int64_t f = 0; f < mcr_data_fields(m->basis); f++) {
        const mcr_store *s = m->basis->store[f];
        if (s->kind != MCR_SPARSE || is_scaled(m, s->name)) /* scales: one per feature */
            continue;
        size_t stored = (size_t)s->start[s->count] * ENTRY, bytes = (size_t)s->cols * WIDE;
        if (bytes > mcr_reading_most(ctx, stored))
            return mcr_advise(
                ctx,
                mcr_fail(ctx, MCR_BAD_DATA,
                         "the model has %lld features: vectors of that length take %s each, which "
                         "is out of all proportion to its support vectors: if the model can be "
                         "trusted, set the limit for data",
                         (long long)s->cols, mcr_size_text(bytes / 2, size)),
                "data-limit");
    }
    return MCR_OK;
}

/* What the features of the objects would take with one for each value, letter or edge. */
static size_t plain_bytes(const mcr_data *data)
{
    size_t bytes = 0;
    for (int64_t f = 0; f < mcr_data_fields(data); f++) {
        mcr_field_info info = MCR_INIT(mcr_field_info);
        if (mcr_data_field_info(data, f, &info) == MCR_OK)
            bytes += (size_t)info.entries * (sizeof(double) + sizeof(int32_t));
    }
    return bytes;
}

/* A power of a kernel on strings has billions of features for a few support vectors, so what they
 * may take depends on the objects, as for a file that is read. */
static mcr_status open_untrusted(mcr_features **out, mcr *ctx, const mcr_model *m)
{
    mcr_predicting(ctx, true);
    mcr_reading_begin(ctx, "the features", plain_bytes(m->basis));
    mcr_status s = mcr_features_open(out, ctx, m->kernel, m->basis, NULL, 1);
    mcr_reading_end(ctx);
    mcr_predicting(ctx, false);
    if (s != MCR_NO_MEMORY)
        return s;
    return mcr_advise(ctx,
                      mcr_fail(ctx, MCR_BAD_DATA,
                               "the explicit features of the support vectors take more memory than "
                               "the limit for data allows a model of this size: if the model can "
                               "be trusted, set that limit"),
                      "data-limit");
}

mcr_status mcr_model_features(mcr_features **out, mcr *ctx, const mcr_model *m)
{
    const mcr_fitted *f = m->fitted;
    *out = NULL;
    bool weights = false;
    for (int64_t g = 0; g < f->segments; g++)
        weights = weights || f->segment[g].outputs > 0;
    if (mcr_fourier_is(f))
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "explain: the weights of this model are those of random Fourier features, "
                        "which have no meaning individually");
    if (!weights)
        return mcr_fail(ctx, MCR_BAD_CALL, "explain: a model of %s has no weights", m->learner);
    if (f->second)
        return mcr_fail(
            ctx, MCR_BAD_CALL,
            "explain: a model of %s has two kernels, and only the features of one can be shown",
            m->learner);
    mcr_status s = mcr_model_check_width(ctx, m);
    if (s)
        return s;
    return m->loaded ? open_untrusted(out, ctx, m)
                     : mcr_features_open(out, ctx, m->kernel, m->basis, NULL, 1);
}

int mcr_model_scales(const mcr_model *m)
{
    return m->scaling != NULL && m->scaling->fields > 0;
}

mcr_status mcr_model_weights(mcr *ctx, const mcr_model *m, const mcr_features *features, int64_t o,
                             double *weight, double *offset)
{
    int64_t basis = mcr_model_support(m);
    if (mcr_features_objects(features, 0) != basis)
        return mcr_fail(ctx, MCR_BAD_CALL, "explain: these are not the features of this model");
    double *coef = mcr_alloc(ctx, (size_t)basis, sizeof *coef);
    mcr_status s = coef ? mcr_model_coefficients(m, o, coef, offset, NULL) : MCR_NO_MEMORY;
    if (!s)
        memset(weight, 0, sizeof *weight * (size_t)mcr_features_count(features));
    for (int64_t i = 0; i < basis && !s; i++) {
        const int32_t *index;
        const double *value;
        int64_t count = mcr_features_row(features, 0, i, &index, &value);
        for (int64_t e = 0; e < count; e++)
            weight[index[e]] += coef[i] * value[e];
    }
    mcr_free(ctx, coef);
    return s;
}
