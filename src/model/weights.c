/* weights.c: models that reduce to weights.
 *
 * A model with a linear kernel is given by its weight vectors: w = sum of coef x, one per output,
 * which replace the support vectors if that is less work. A polynomial of low degree likewise has a
 * weight for each monomial (kernel/poly.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model/prediction.h"

#include "base/threads.h"
#include "kernel/explicit.h"
#include "kernel/select.h"

enum { MOST_WEIGHTS = 4 << 20 };

/* to += c x, for object i of a field of vectors. */
static void add_vector(double *to, double c, const mcr_field *f, int64_t i)
{
    mcr_vector x = mcr_field_vector(f, i);
    for (int64_t e = 0; e < x.count; e++)
        to[mcr_vector_column(&x, e)] += c * mcr_vector_value(&x, e);
}

mcr_status mcr_prediction_collapse(mcr_prediction *w)
{
    const mcr_model *m = w->model;
    const mcr_fitted *f = m->fitted;
    mcr_field_info info = MCR_INIT(mcr_field_info);
    if (m->kernel->type->features != mcr_features_vectors || mcr_data_fields(m->basis) != 1 ||
        mcr_selects(m->kernel, m->basis) || f->outputs * 2 > f->basis)
        return MCR_OK;
    mcr_status s = mcr_data_field_info(m->basis, 0, &info);
    if (s || info.cols == 0 || info.cols > MOST_WEIGHTS / f->outputs)
        return s;
    mcr_builder *b = NULL;
    double *weight = mcr_alloc_zero(w->ctx, (uint64_t)(f->outputs * info.cols), sizeof *weight);
    w->weight_segment = mcr_alloc_zero(w->ctx, (size_t)f->outputs, sizeof *w->weight_segment);
    s = weight && w->weight_segment ? MCR_OK : MCR_NO_MEMORY;
    const mcr_field field = mcr_data_field(m->basis, 0);
    for (int64_t g = 0; g < f->segments && !s; g++) {
        const mcr_segment *seg = &f->segment[g];
        for (int64_t t = 0; t < seg->outputs; t++)
            for (int64_t i = 0; i < seg->count; i++)
                if (seg->coef[t * seg->count + i] != 0)
                    add_vector(weight + seg->output[t] * info.cols, seg->coef[t * seg->count + i],
                               &field, seg->first + i);
    }
    static const double one = 1;
    for (int64_t o = 0; o < f->outputs && !s; o++) {
        int32_t *output = mcr_alloc(w->ctx, 1, sizeof *output);
        if (!output)
            s = MCR_NO_MEMORY;
        else
            *output = (int32_t)o;
        w->weight_segment[o] = (mcr_segment){o, 1, 1, output, (double *)&one};
    }
    if (!s)
        s = mcr_builder_open(&b, w->ctx, f->outputs);
    /* In the form of the support vectors: sparse ones allow objects with more features. */
    if (!s)
        s = info.kind == MCR_DENSE
                ? mcr_builder_dense(b, info.name, weight, info.cols, info.cols)
                : mcr_builder_sparse_of(b, info.name, weight, info.cols, info.cols);
    s = mcr_builder_finish_filled(&w->weights, b, s);
    if (!s) {
        w->basis = w->weights;
        w->segment = w->weight_segment;
        w->segments = f->outputs;
        for (int64_t o = 0; o < f->outputs; o++)
            w->error[o] = MCR_FLOAT_ERROR; /* one coefficient, which is 1 */
    }
    mcr_free(w->ctx, weight);
    return s;
}

mcr_status mcr_prediction_expand(mcr_prediction *w)
{
    enum { SIMD = 8 }; /* kernel values are this much faster than monomials */
    const mcr_model *m = w->model;
    const mcr_fitted *f = m->fitted;
    if (mcr_data_fields(m->basis) != 1 || f->basis == 0 || mcr_selects(m->kernel, m->basis))
        return MCR_OK;
    const mcr_field field = mcr_data_field(m->basis, 0);
    const mcr_store *store = field.store;
    if (!mcr_monomials_of(&w->monomials, m->kernel, store->cols, MOST_WEIGHTS / f->outputs))
        return MCR_OK;
    double nonzeros = (double)store->cols;
    if (store->kind == MCR_SPARSE)
        nonzeros = (double)(store->start[store->count] - store->start[0]) / (double)store->count;
    if (mcr_monomials_work(&w->monomials, nonzeros) * (double)f->outputs * SIMD >
        (double)f->basis * nonzeros)
        return MCR_OK;
    w->polynomial = mcr_alloc_zero(w->ctx, (uint64_t)(f->outputs * w->monomials.count),
                                   sizeof *w->polynomial);
    if (!w->polynomial)
        return MCR_NO_MEMORY;
    for (int64_t g = 0; g < f->segments; g++) {
        const mcr_segment *seg = &f->segment[g];
        for (int64_t t = 0; t < seg->outputs; t++)
            for (int64_t i = 0; i < seg->count; i++)
                if (seg->coef[t * seg->count + i] != 0)
                    mcr_monomials_add(&w->monomials,
                                      w->polynomial + seg->output[t] * w->monomials.count,
                                      seg->coef[t * seg->count + i], &field, seg->first + i);
    }
    return MCR_OK;
}

typedef struct polynomial_job {
    mcr_prediction *w;
    mcr_field field;
} polynomial_job;

static mcr_status polynomial_chunk(void *arg, int64_t first, int64_t end)
{
    const polynomial_job *job = arg;
    const mcr_prediction *w = job->w;
    const mcr_fitted *f = w->model->fitted;
    for (int64_t i = first; i < end; i++)
        for (int64_t o = 0; o < f->outputs; o++)
            w->score[i * f->outputs + o] =
                f->offset[o] + mcr_monomials_value(&w->monomials,
                                                   w->polynomial + o * w->monomials.count,
                                                   &job->field, i);
    return MCR_OK;
}

mcr_status mcr_prediction_polynomial(mcr_prediction *w, const mcr_data *part)
{
    /* One support vector suffices to find the field and to check that it fits. */
    mcr_data *one = NULL;
    mcr_gram *gram = NULL;
    mcr_field field = {0};
    mcr_status s = mcr_data_select(&one, w->model->basis, (mcr_rows){NULL, 0, 1});
    if (!s)
        s = mcr_gram_open(&gram, w->ctx, w->model->kernel, one, part);
    if (!s)
        s = mcr_field_choose(&field, w->ctx, "poly", MCR_DENSE | MCR_SPARSE,
                             w->model->kernel->field, NULL, part);
    mcr_gram_close(gram);
    mcr_data_free(one);
    polynomial_job job = {w, field};
    return s ? s
             : mcr_parallel_chunks(w->ctx, w->count, MCR_PREDICTION_CHUNK, polynomial_chunk, &job);
}
