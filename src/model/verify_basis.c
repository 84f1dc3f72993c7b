/* verify_basis.c: which of the training data the objects of a model are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model/verify.h"

#include <float.h>
#include <math.h>

mcr_status mcr_verify_other_data(const mcr_verify *v, const char *what)
{
    return mcr_fail(v->ctx, MCR_BAD_DATA,
                    "these are not the training data of the model: %s; give the same files in the "
                    "same order, read in the same way",
                    what);
}

/* Distances that are more than what rounding makes (1e-8: values of other programs' files are
 * rounded). */
static bool is_same(double across, double a, double b, double blur)
{
    double size = fmax(fabs(a), fabs(b));
    return fabs(a + b - 2 * across) <= blur * fmax(size, DBL_MIN);
}

enum { TILE = 64 };

/* The model's own objects must be those of the data that they are said to be. */
static mcr_status compare_basis(mcr_verify *v)
{
    int64_t m = v->fitted->basis;
    mcr_gram *gram = NULL;
    mcr_data *rows = NULL;
    double k[TILE * TILE], *own = mcr_alloc(v->ctx, (size_t)m, sizeof *own);
    mcr_status s = own ? mcr_data_select(&rows, v->data, (mcr_rows){v->basis, 0, m})
                       : MCR_NO_MEMORY;
    if (!s)
        s = mcr_gram_open(&gram, v->ctx, v->model->kernel, v->model->basis, rows);
    if (!s)
        s = mcr_gram_diagonal(gram, 0, own);
    for (int64_t first = 0; first < m && !s; first += TILE) {
        mcr_rows tile = {NULL, first, m - first < TILE ? m - first : TILE};
        s = mcr_gram_block(gram, tile, tile, k, TILE);
        for (int64_t i = 0; i < tile.count && !s; i++)
            if (!is_same(k[i * TILE + i], own[first + i], v->diagonal[v->basis[first + i]], 1e-8))
                s = mcr_verify_other_data(
                    v, "a support vector of the model is not the object that it should be");
    }
    mcr_gram_close(gram);
    mcr_data_free(rows);
    mcr_free(v->ctx, own);
    return s;
}

/* The class of a basis object by the sign of its coefficient in output o, where that is not 0; -1:
 * none. */
static int64_t class_by_sign(const mcr_fitted *f, int64_t o, double coef)
{
    if (coef == 0 || (f->rule != MCR_RULE_BINARY && f->rule != MCR_RULE_PAIRS))
        return -1;
    if (f->rule == MCR_RULE_BINARY)
        return coef > 0;
    for (int64_t a = 0; a < f->classes; a++)
        for (int64_t b = a + 1; b < f->classes; b++)
            if (mcr_pair_output(f->classes, a, b) == o)
                return coef > 0 ? a : b;
    return -1;
}

/* The classes of all basis objects: equal objects may be there in several. */
static void find_classes(const mcr_fitted *f, int64_t *class_of)
{
    for (int64_t b = 0; b < f->basis; b++)
        class_of[b] = -1;
    for (int64_t g = 0; g < f->segments; g++) {
        const mcr_segment *seg = &f->segment[g];
        for (int64_t t = 0; t < seg->outputs; t++)
            for (int64_t i = 0; i < seg->count; i++)
                if (class_of[seg->first + i] < 0)
                    class_of[seg->first + i] = class_by_sign(f, seg->output[t],
                                                             seg->coef[t * seg->count + i]);
    }
}

/* Files of LIBSVM do not say which objects the support vectors are: of the classes' objects, in
 * order. */
static mcr_status find_basis(mcr_verify *v)
{
    int64_t m = v->fitted->basis;
    mcr_gram *gram = NULL;
    unsigned char *taken = mcr_alloc_zero(v->ctx, (size_t)v->n, 1);
    double *k = mcr_alloc(v->ctx, (size_t)v->n, sizeof *k);
    double *own = mcr_alloc(v->ctx, (size_t)m, sizeof *own);
    int64_t *class_of = mcr_alloc(v->ctx, (size_t)m, sizeof *class_of);
    mcr_status s = taken && k && own && class_of
                       ? mcr_gram_open(&gram, v->ctx, v->model->kernel, v->model->basis, v->data)
                       : MCR_NO_MEMORY;
    if (!s)
        find_classes(v->fitted, class_of);
    if (!s)
        s = mcr_gram_diagonal(gram, 0, own);
    for (int64_t b = 0; b < m && !s; b++) {
        int64_t found = -1;
        double least = INFINITY;
        s = mcr_gram_block(gram, (mcr_rows){NULL, b, 1}, (mcr_rows){NULL, 0, v->n}, k, v->n);
        for (int64_t i = 0; i < v->n && !s; i++) {
            double d = v->diagonal[i] + own[b] - 2 * k[i];
            bool fits = class_of[b] < 0 || !v->class_of || v->class_of[i] == class_of[b];
            if (!taken[i] && fits && d < least && is_same(k[i], own[b], v->diagonal[i], 1e-6)) {
                least = d;
                found = i;
            }
        }
        if (!s && found < 0)
            s = mcr_verify_other_data(v, "a support vector of the model is not among them");
        if (!s) {
            taken[found] = 1;
            v->basis[b] = found;
        }
    }
    mcr_gram_close(gram);
    mcr_free_all(v->ctx, taken, k, own, class_of);
    return s;
}

mcr_status mcr_verify_place_basis(mcr_verify *v)
{
    const mcr_fitted *f = v->fitted;
    v->basis = mcr_alloc(v->ctx, (size_t)f->basis, sizeof *v->basis);
    if (!v->basis)
        return MCR_NO_MEMORY;
    if (!v->options)
        return find_basis(v);
    for (int64_t b = 0; b < f->basis; b++) {
        if (f->object[b] < 0 || f->object[b] >= v->objects)
            return mcr_verify_other_data(v, "it has support vectors beyond their end");
        v->basis[b] = v->where[f->object[b]];
    }
    return f->basis && !v->values ? compare_basis(v) : MCR_OK;
}
