/* preimage.c: coordinates of a pca, and pre-images of projections.
 *
 * The projection of Phi(x) onto the mean and the components is P = sum_i g_i Phi(x_i), where g_i is
 * the coefficient of x_i in the mean plus sum_c f_c(x) a_ci. A pre-image is a vector z with Phi(z)
 * close to P. For rbf a good guess is the fixed point z = sum_i g_i K(x_i, z) x_i / sum_i g_i
 * K(x_i, z), a stationary point of the distance (Mika et al., 1999), starting at x; for other
 * kernels it is x. preimage_search.c improves it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernel/built_in.h"
#include "kernel/profile.h"
#include "linalg/shared.h"
#include "model/fourier.h"
#include "model/model.h"
#include "model/preimage.h"

enum { MOST_STEPS = 300 };

/* Iteration ends when a step moves an object by less than this fraction of its length. */
static const double fixed = 1e-9;

mcr_status mcr_transform(mcr *ctx, const mcr_model *m, const mcr_data *data, double *coordinates)
{
    if (!mcr_model_has_coordinates(m))
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "a model of %s has no coordinates: pca, fisher and cca have them",
                        m->learner);
    return mcr_predict(ctx, m, data, NULL, coordinates, NULL);
}

/* ---- what the kernel reads --------------------------------------------------------------------*/

/* Whether all leaves read one field, of vectors. */
static bool one_field(const mcr_bound *node, const mcr_store **store)
{
    if (node->kernel->type->kinds) {
        const mcr_store *own = node->field[0].store;
        if ((*store && *store != own) || !(own->kind & (MCR_DENSE | MCR_SPARSE)))
            return false;
        *store = own;
    }
    for (int c = 0; c < node->children; c++)
        if (!one_field(node->child[c], store))
            return false;
    return true;
}

static mcr_status find_field(mcr *ctx, const mcr_model *m, const char **name, int64_t *cols)
{
    int64_t found;
    const mcr_store *store = NULL;
    mcr_binding *binding = NULL;
    if (mcr_fourier_is(m->fitted))
        return mcr_advise(
            ctx,
            mcr_fail(ctx, MCR_BAD_CALL,
                     "a model of random Fourier features has no objects to compute pre-images "
                     "from: train it with the approximation nystrom, or without one"),
            "option approx=nystrom");
    if (!mcr_fitted_find(m->fitted, MCR_EXTRA_MEAN, &found))
        return mcr_fail(ctx, MCR_BAD_CALL, "a model of %s has no pre-images: pca has them",
                        m->learner);
    bool numbers = mcr_data_numbers_only(m->basis);
    mcr_status s = numbers ? MCR_OK : mcr_binding_open(&binding, ctx, m->kernel, m->basis, NULL);
    if (!s && (numbers || !one_field(binding->root, &store) || !store))
        s = mcr_fail(ctx, MCR_BAD_CALL,
                     "pre-images are for kernels on one field of vectors, and the model has %s",
                     mcr_kernel_text(m->kernel));
    if (!s) {
        *name = store->name;
        *cols = store->cols;
    }
    mcr_binding_close(binding);
    return s;
}

mcr_status mcr_preimage_features(mcr *ctx, const mcr_model *m, int64_t *features)
{
    const char *name;
    *features = 0;
    return find_field(ctx, m, &name, features);
}

mcr_status mcr_preimage_names(mcr *ctx, const mcr_model *m, const char **name)
{
    const char *field = NULL;
    int64_t cols = 0;
    mcr_status s = find_field(ctx, m, &field, &cols);
    if (s)
        return s;
    int64_t at = mcr_data_find(m->basis, field, strlen(field));
    char **column = at < 0 ? NULL : m->basis->store[at]->column;
    for (int64_t c = 0; c < cols && column; c++)
        if (!column[c][0])
            column = NULL; /* not all are named: names are of little use */
    for (int64_t c = 0; c < cols; c++)
        name[c] = column ? column[c] : NULL;
    return MCR_OK;
}

/* Objects of a data set as dense vectors of the model's features. */
static mcr_status copy_vectors(const mcr_images *p, const mcr_data *data, double *to)
{
    int64_t field = mcr_data_find(data, p->field, strlen(p->field));
    const mcr_store *store = field < 0 ? NULL : mcr_data_field(data, field).store;
    if (!store || !(store->kind & (MCR_DENSE | MCR_SPARSE)) || store->cols > p->cols)
        return mcr_fail(p->ctx, MCR_BAD_DATA,
                        "pre-images need the field \"%s\" with the model's %lld features", p->field,
                        (long long)p->cols);
    mcr_status s = MCR_OK;
    memset(to, 0, sizeof *to * (size_t)(mcr_data_count(data) * p->cols));
    for (int64_t i = 0; i < mcr_data_count(data) && !s; i++)
        s = mcr_data_vector(data, field, i, to + i * p->cols);
    return s;
}

/* ---- kernel values ----------------------------------------------------------------------------*/

mcr_status mcr_images_values(const mcr_images *p, const double *z, int64_t count, double *k,
                             double *own)
{
    mcr_builder *builder = NULL;
    mcr_data *data = NULL;
    mcr_gram *gram = NULL;
    mcr_status s = mcr_builder_open(&builder, p->ctx, count);
    if (!s)
        s = mcr_builder_dense(builder, p->field, z, p->cols, p->cols);
    s = mcr_builder_finish_filled(&data, builder, s);
    if (!s)
        s = mcr_gram_open(&gram, p->ctx, p->model->kernel, data, p->model->basis);
    if (!s)
        s = mcr_gram_block(gram, (mcr_rows){NULL, 0, count}, (mcr_rows){NULL, 0, p->n}, k, p->n);
    if (!s && own)
        s = mcr_gram_diagonal(gram, 0, own);
    mcr_gram_close(gram);
    mcr_data_free(data);
    return s;
}

/* Computes g, the coefficients of the projections. */
static mcr_status project(const mcr_images *p, const mcr_data *part)
{
    const mcr_fitted *fitted = p->model->fitted;
    mcr_status s = mcr_predict(p->ctx, p->model, part, NULL, p->f, NULL);
    for (int64_t b = 0; b < p->count && !s; b++)
        memcpy(p->g + b * p->n, p->mean, sizeof *p->g * (size_t)p->n);
    for (int64_t t = 0; t < fitted->segments && !s; t++) {
        const mcr_segment *seg = &fitted->segment[t];
        s = mcr_shared_gemm(p->ctx, MCR_AS_IS, MCR_AS_IS, p->count, seg->count, seg->outputs, 1,
                            p->f, p->outputs, seg->coef, seg->count, 1, p->g + seg->first, p->n);
    }
    return s;
}

/* ---- the fixed point --------------------------------------------------------------------------*/

/* k becomes g K divided by its sum; a sum that is only rounding error has no fixed point nearby,
 * and the object restarts from its nearest neighbour (once; then it stays in place). */
static bool make_weights(const mcr_images *p, int64_t b, bool *restarted, double *z)
{
    double *k = p->k + b * p->n, sum = 0, size = 0;
    const double *g = p->g + b * p->n;
    for (int64_t i = 0; i < p->n; i++) {
        sum += g[i] * k[i];
        size += fabs(g[i] * k[i]);
    }
    if (!(fabs(sum) > 1e-10 * size)) {
        if (!*restarted)
            memcpy(z, p->basis + mcr_largest(k, p->n) * p->cols, sizeof *z * (size_t)p->cols);
        *restarted = true;
        return false;
    }
    for (int64_t i = 0; i < p->n; i++)
        k[i] *= g[i] / sum;
    return true;
}

static bool has_settled(const double *z, const double *next, int64_t cols)
{
    double moved = 0, size = 0;
    for (int64_t j = 0; j < cols; j++) {
        moved += (next[j] - z[j]) * (next[j] - z[j]);
        size += next[j] * next[j];
    }
    return sqrt(moved) <= fixed * (sqrt(size) + DBL_MIN);
}

static mcr_status fixed_points(const mcr_images *p)
{
    bool restarted[MCR_IMAGES] = {false};
    double *next = mcr_alloc(p->ctx, (uint64_t)(p->count * p->cols), sizeof *next);
    mcr_status s = next ? MCR_OK : MCR_NO_MEMORY;
    int64_t moving = p->count;
    for (int step = 0; step < MOST_STEPS && moving && !s; step++) {
        bool found[MCR_IMAGES];
        s = mcr_images_values(p, p->given, p->count, p->k, NULL);
        for (int64_t b = 0; b < p->count && !s; b++)
            found[b] = make_weights(p, b, &restarted[b], p->given + b * p->cols);
        if (!s)
            s = mcr_shared_gemm(p->ctx, MCR_AS_IS, MCR_AS_IS, p->count, p->cols, p->n, 1, p->k,
                                p->n, p->basis, p->cols, 0, next, p->cols);
        moving = 0;
        for (int64_t b = 0; b < p->count && !s; b++) {
            double *z = p->given + b * p->cols, *to = next + b * p->cols;
            if (!found[b]) {
                moving += step == 0;
                continue;
            }
            moving += !has_settled(z, to, p->cols);
            memcpy(z, to, sizeof *z * (size_t)p->cols);
        }
    }
    mcr_free(p->ctx, next);
    return s;
}

/* ---- the projections --------------------------------------------------------------------------*/

/* P.Phi(x_i) = (K g)_i and |P|^2 = g'Kg for all objects of the block. */
static mcr_status measure(const mcr_images *p)
{
    double *gt = mcr_alloc(p->ctx, (uint64_t)(p->n * p->count), sizeof *gt);
    double *kg = mcr_alloc(p->ctx, (uint64_t)(p->n * p->count), sizeof *kg);
    mcr_status s = gt && kg ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < p->n && !s; i++)
        for (int64_t b = 0; b < p->count; b++)
            gt[i * p->count + b] = p->g[b * p->n + i];
    if (!s)
        s = mcr_gram_multiply(p->gram, gt, p->count, kg);
    for (int64_t b = 0; b < p->count && !s; b++) {
        p->square[b] = 0;
        for (int64_t i = 0; i < p->n; i++) {
            p->kg[b * p->n + i] = kg[i * p->count + b];
            p->square[b] += gt[i * p->count + b] * kg[i * p->count + b];
        }
    }
    mcr_free_all(p->ctx, gt, kg);
    return s;
}

/* ---- a call -----------------------------------------------------------------------------------*/

/* All memory of a call beside the caller's arrays, including dense copies of sparse vectors. */
static mcr_status take_budget(mcr_images *p)
{
    size_t n = (size_t)p->n, cols = (size_t)p->cols, blocks = 5;
    size_t bytes = 0,
           more = sizeof(double) * MCR_IMAGES * (blocks * n + 2 * cols + (size_t)p->outputs);
    if (!mcr_size_mul(n, cols * sizeof(double), &bytes) || bytes > SIZE_MAX - more)
        bytes = SIZE_MAX - more;
    mcr_status s = mcr_budget_take(p->ctx, bytes + more, "pre-images: vectors and kernel values");
    p->taken = s ? 0 : bytes + more;
    return s;
}

static mcr_status open_images(mcr_images *p)
{
    const mcr_model *m = p->model;
    mcr_status s = find_field(p->ctx, m, &p->field, &p->cols);
    if (!s)
        s = mcr_fitted_need(&p->mean, m->fitted, MCR_EXTRA_MEAN, m->fitted->basis);
    if (s)
        return s;
    p->n = m->fitted->basis;
    p->outputs = m->fitted->outputs;
    double gamma;
    p->gaussian = m->kernel->type == &mcr_kernel_rbf;
    p->profile = mcr_profile_of(m->kernel);
    if (p->gaussian && !mcr_profile_number(m->kernel, "gamma", &gamma))
        p->profile = -1; /* one gamma per feature */
    s = take_budget(p);
    if (s)
        return s;
    uint64_t n = (uint64_t)p->n, cols = (uint64_t)p->cols, kept = MCR_IMAGES * n;
    if (!mcr_alloc_arrays(p->ctx, MCR_ARRAY(p->basis, n * cols), /* the block to free */
                          MCR_ARRAY(p->given, MCR_IMAGES * cols),
                          MCR_ARRAY(p->f, MCR_IMAGES * (uint64_t)p->outputs), MCR_ARRAY(p->g, kept),
                          MCR_ARRAY(p->k, kept), MCR_ARRAY(p->kg, kept), MCR_ARRAY(p->diagonal, n),
                          MCR_ARRAY(p->square, 2 * (uint64_t)MCR_IMAGES)))
        return MCR_NO_MEMORY;
    p->distance = p->square + MCR_IMAGES;
    s = copy_vectors(p, m->basis, p->basis);
    if (!s)
        s = mcr_gram_open(&p->gram, p->ctx, m->kernel, m->basis, NULL);
    if (!s)
        s = mcr_gram_diagonal(p->gram, 0, p->diagonal);
    return s;
}

/* Converts back to the units of the data. */
static void unscale(const mcr_images *p, double *vectors, int64_t count)
{
    const mcr_scaling *s = p->model->scaling;
    for (int64_t f = 0; s && f < s->fields; f++) {
        const mcr_scaled_field *by = &s->field[f];
        if (strcmp(by->name, p->field) != 0)
            continue;
        for (int64_t i = 0; i < count; i++)
            for (int64_t k = 0; k < p->cols; k++) {
                double *x = &vectors[i * p->cols + k];
                *x = (by->factor[k] != 0 ? *x / by->factor[k] : 0) + by->shift[k];
            }
    }
}

/* part and scaled: the same objects before and after preprocessing. */
static mcr_status one_block(mcr_images *p, const mcr_data *part, const mcr_data *scaled)
{
    p->count = mcr_data_count(part);
    mcr_status s = copy_vectors(p, scaled, p->given);
    if (!s)
        s = project(p, part);
    if (!s)
        s = measure(p);
    if (!s && p->gaussian)
        s = fixed_points(p);
    return s ? s : mcr_images_search(p);
}

static void close_images(mcr_images *p)
{
    mcr_gram_close(p->gram);
    mcr_free(p->ctx, p->basis);
    mcr_budget_give(p->ctx, p->taken);
}

mcr_status mcr_preimage(mcr *ctx, const mcr_model *m, const mcr_data *data, double *vectors)
{
    return mcr_preimage_near(ctx, m, data, vectors, NULL);
}

mcr_status mcr_preimage_near(mcr *ctx, const mcr_model *m, const mcr_data *data, double *vectors,
                             double *distance)
{
    mcr_images p = {.ctx = ctx, .model = m};
    double began = mcr_now();
    int64_t n = mcr_data_count(data);
    mcr_data *ready = NULL;
    mcr_status s = open_images(&p);
    if (!s)
        s = mcr_model_prepare(&ready, ctx, m, data);
    for (int64_t first = 0; first < n && !s; first += MCR_IMAGES) {
        mcr_data *part = NULL, *seen = NULL;
        int64_t count = n - first < MCR_IMAGES ? n - first : MCR_IMAGES;
        s = mcr_data_select(&part, data, (mcr_rows){NULL, first, count});
        if (!s)
            s = mcr_data_select(&seen, ready, (mcr_rows){NULL, first, count});
        if (!s)
            s = one_block(&p, part, seen);
        mcr_data_free(part);
        mcr_data_free(seen);
        if (!s) {
            memcpy(vectors + first * p.cols, p.given, sizeof *vectors * (size_t)(count * p.cols));
            unscale(&p, vectors + first * p.cols, count);
            if (distance)
                memcpy(distance + first, p.distance, sizeof *distance * (size_t)count);
        }
        if (!s)
            s = mcr_part_done(ctx, "pre-images", (double)(first + count) / (double)n,
                              mcr_now() - began);
    }
    mcr_data_free(ready);
    close_images(&p);
    return s;
}
