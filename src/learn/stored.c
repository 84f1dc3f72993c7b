/* stored.c: the function that a model with an approximate map stores, at the training objects.
 *
 * Features may be kept as floats, and weights become coefficients of landmarks, which are rounded:
 * where landmarks nearly depend on each other they are large, and the stored function is not quite
 * that of the features. Its values are computed here as predictions are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "gram/round.h"
#include "learn/form.h"
#include "linalg/blas.h"

enum { BLOCK = 4096 }; /* objects */

typedef struct stored {
    const mcr_form *form;
    const mcr_data *data;
    mcr_rows rows;
    const double *w;
    int64_t outputs;
    double *coef;   /* of the landmarks, landmarks x outputs */
    double *f;      /* rows x outputs */
    double *length; /* rows: sqrt(K(x,x)) */
    double share;   /* f errs by so much, times its length and the size of its coefficients */
    double *size;   /* of each output: of the coefficients, each times its length */
    double square, square_error; /* |f|^2 of all outputs */
} stored;

/* K c of the objects of a Gram with the landmarks, and their lengths. */
static mcr_status multiply(stored *t, mcr_gram *gram, double *f, double *length)
{
    mcr_error r = {0, 0};
    mcr_status s = mcr_gram_multiply(gram, t->coef, t->outputs, f);
    if (!s)
        s = mcr_gram_diagonal(gram, 0, length);
    if (!s)
        s = mcr_gram_error(gram, true, &r);
    double terms = (double)t->form->map->landmarks;
    t->share = fmax(t->share, (isfinite(r.absolute) ? r.absolute : MCR_UNKNOWN_ERROR) +
                                  0.5 * DBL_EPSILON * (terms + 2));
    for (int64_t i = 0; i < mcr_gram_rows(gram) && !s; i++)
        length[i] = sqrt(fmax(length[i], 0));
    return s;
}

/* |f|^2 = c'K_mm c, and the sizes of coefficients. */
static mcr_status measure_landmarks(stored *t)
{
    const mcr_map *m = t->form->map;
    int64_t k = t->outputs;
    mcr_gram *own = NULL;
    double *f = mcr_alloc(m->ctx, (size_t)m->landmarks, (size_t)(k + 1) * sizeof *f);
    double *length = f ? f + m->landmarks * k : NULL;
    mcr_status s = f ? mcr_gram_open(&own, m->ctx, m->kernel, m->landmark, NULL) : MCR_NO_MEMORY;
    if (!s)
        s = multiply(t, own, f, length);
    for (int64_t j = 0; j < m->landmarks * k && !s; j++) {
        t->square += t->coef[j] * f[j];
        t->size[j % k] += fabs(t->coef[j]) * length[j / k];
    }
    for (int64_t o = 0; o < k && !s; o++)
        t->square_error += 2 * t->share * t->size[o] * t->size[o];
    mcr_gram_close(own);
    mcr_free(m->ctx, f);
    return s;
}

/* Some objects, by their features or by kernel values with the landmarks. */
static mcr_status run_block(stored *t, int64_t first, int64_t count, double *phi)
{
    mcr_map *m = t->form->map;
    mcr_data *part = NULL;
    mcr_gram *gram = NULL;
    mcr_rows rows = mcr_rows_part(t->rows, first, count);
    double *f = t->f + first * t->outputs, *length = t->length + first;
    mcr_status s = MCR_OK;
    if (phi) {
        s = mcr_map_rows(m, t->data, rows, phi, m->count);
        for (int64_t i = 0; i < count; i++)
            length[i] = 1;
        return s ? s
                 : mcr_blas_gemm(m->ctx, MCR_AS_IS, MCR_AS_IS, count, t->outputs, m->count, 1, phi,
                                 m->count, t->w, t->outputs, 0, f, t->outputs);
    }
    s = mcr_data_load(&part, t->data, rows);
    if (!s)
        s = mcr_gram_open(&gram, m->ctx, m->kernel, part, m->landmark);
    if (!s)
        s = multiply(t, gram, f, length);
    mcr_gram_close(gram);
    mcr_data_free(part);
    return s;
}

/* Cosines and sines of random frequencies have the length 1. */
static void measure_weights(stored *t)
{
    int64_t p = t->form->map->count, k = t->outputs;
    t->share = 0.5 * DBL_EPSILON * (double)(p + 64);
    for (int64_t j = 0; j < p * k; j++)
        t->size[j % k] += t->w[j] * t->w[j];
    for (int64_t o = 0; o < k; o++) {
        t->square += t->size[o];
        t->square_error += DBL_EPSILON * (double)p * t->size[o];
        t->size[o] = sqrt(t->size[o]);
    }
}

static mcr_status evaluate(stored *t)
{
    mcr_map *m = t->form->map;
    bool fourier = m->approx == MCR_APPROX_RFF;
    uint64_t block = (uint64_t)mcr_least(BLOCK, t->rows.count);
    double *phi = fourier ? mcr_alloc(m->ctx, block, (size_t)m->count * sizeof *phi) : NULL;
    mcr_status s = fourier && !phi ? MCR_NO_MEMORY : MCR_OK;
    if (!s && fourier)
        measure_weights(t);
    if (!s && !fourier)
        s = mcr_map_coefficients(m, t->w, t->outputs, t->coef);
    if (!s && !fourier)
        s = measure_landmarks(t);
    for (int64_t i = 0; i < t->rows.count && !s; i += BLOCK)
        s = run_block(t, i, mcr_least(BLOCK, t->rows.count - i), phi);
    mcr_free(m->ctx, phi);
    return s;
}

/* Allocates what is computed of some objects, in one block: t->f. */
static mcr_status open_stored(stored *t, uint64_t more)
{
    int64_t n = t->rows.count, k = t->outputs;
    uint64_t numbers = (uint64_t)((n + 1) * k + n + t->form->map->landmarks * k);
    t->f = mcr_alloc_zero(t->form->ctx, numbers + more, sizeof *t->f);
    if (!t->f)
        return MCR_NO_MEMORY;
    t->length = t->f + n * k;
    t->size = t->length + n;
    t->coef = t->size + k;
    return MCR_OK;
}

/* A bound on the rounding of number i of f. */
static double error_at(const stored *t, int64_t i)
{
    return t->share * t->size[i % t->outputs] * t->length[i / t->outputs];
}

/* sum: of all processes, the objects and their loss. */
static mcr_status add_errors(const stored *t, const mcr_form_objective *of, const double sum[3],
                             const double *slope, double *apart, double *slip)
{
    mcr_gram *gram = t->form->gram;
    bool spread = mcr_gram_is_spread(gram);
    double base = fabs(sum[2] + 0.5 * of->mu * t->square - of->value) +
                  0.5 * of->mu * t->square_error + DBL_EPSILON * sqrt(sum[1]) * fabs(of->value);
    double off = spread ? 0 : base, most = 0;
    for (int64_t i = 0; i < t->rows.count * t->outputs; i++) {
        double error = error_at(t, i);
        off += fabs(slope[i]) * error;
        most = fmax(most, error);
    }
    mcr_status s = mcr_gram_total(gram, &off, 1);
    if (!s && slip)
        s = mcr_gram_largest(gram, &most, 1);
    *apart = spread ? base + off : off;
    if (slip)
        *slip = most;
    return s;
}

mcr_status mcr_form_apart(const mcr_form *form, const mcr_data *data, mcr_rows rows,
                          const double *w, const mcr_form_objective *of, double *apart,
                          double *slip)
{
    int64_t k = of->outputs, all = rows.count * k;
    stored t = {.form = form, .data = data, .rows = rows, .w = w, .outputs = k};
    if (open_stored(&t, (uint64_t)all))
        return MCR_NO_MEMORY;
    double *slope = t.coef + form->map->landmarks * k;
    mcr_status s = evaluate(&t);
    bool stopped = s == MCR_STOPPED;
    double sum[] = {stopped, (double)rows.count, 0};
    if (!s)
        sum[2] = of->loss(of->self, 0, rows.count, t.f, slope);
    if (!s || stopped)
        s = mcr_gram_total(form->gram, sum, 3);
    if (!s && sum[0] > 0) /* at a limit: the model stays, no digit of its objective is certain */
        *apart = fabs(of->value);
    else if (!s)
        s = add_errors(&t, of, sum, slope, apart, slip);
    mcr_free(form->ctx, t.f);
    return s;
}

mcr_status mcr_form_apart_fitted(const mcr_form *form, const mcr_data *data, const double *a,
                                 const double *w, const mcr_fitted *of, double *apart)
{
    mcr_gram *gram = form->gram;
    int64_t n = mcr_gram_rows(gram), k = of->outputs, p = mcr_gram_width(gram);
    stored t = {.form = form, .data = data, .rows = {NULL, 0, n}, .w = w, .outputs = k};
    if (open_stored(&t, (uint64_t)(2 * n * k)))
        return MCR_NO_MEMORY;
    double *f = t.coef + form->map->landmarks * k, *error = f + n * k, square = 0;
    mcr_status s = mcr_gram_expand(gram, mcr_gram_all(gram), w, k, f);
    if (!s)
        s = mcr_gram_product_error(gram, a, k, NAN, error);
    if (!s)
        s = evaluate(&t);
    for (int64_t i = 0; i < p * k && !s; i++)
        square += w[i] * w[i];
    *apart = 0.5 * of->mu *
             (fabs(t.square - square) + t.square_error + DBL_EPSILON * (double)(p * k) * square);
    for (int64_t i = 0; i < n * k && !s; i++) {
        double step = fabs(t.f[i] - f[i]) + error[i] + error_at(&t, i);
        *apart += of->loss_slope[i] * step + 0.5 * of->loss_bend * step * step;
    }
    if (s == MCR_STOPPED) { /* as above */
        *apart = fabs(of->primal);
        s = MCR_OK;
    }
    mcr_free(form->ctx, t.f);
    return s;
}
