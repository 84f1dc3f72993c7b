/* portable.c: a model in a form that can be expressed in other languages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "export/portable.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/built_in.h"
#include "kernel/parts.h"
#include "model/fourier.h"
#include "model/model.h"

enum { VECTORS = MCR_DENSE | MCR_SPARSE, NAME = MCR_PORTABLE_NAME };

/* ---- which fields -----------------------------------------------------------------------------*/

static const mcr_kernel_type *const known[] = {
    &mcr_kernel_linear,   &mcr_kernel_mahalanobis, &mcr_kernel_poly,      &mcr_kernel_rbf,
    &mcr_kernel_laplace,  &mcr_kernel_matern,      &mcr_kernel_rq,        &mcr_kernel_periodic,
    &mcr_kernel_sigmoid,  &mcr_kernel_cosine,      &mcr_kernel_chi2,      &mcr_kernel_intersection,
    &mcr_kernel_spectrum, &mcr_kernel_blended,     &mcr_kernel_ssk,       &mcr_kernel_mismatch,
    &mcr_kernel_gkm,      &mcr_kernel_constant,    &mcr_kernel_sum,       &mcr_kernel_product,
    &mcr_kernel_power,    &mcr_kernel_exp,         &mcr_kernel_normalize, &mcr_kernel_conformal,
};

static mcr_status refuse_kernel(const mcr_portable *p, const mcr_kernel *k, const char *target)
{
    const char *why = k->type->kinds & MCR_GRAPHS          ? "it reads graphs"
                      : k->type == &mcr_kernel_precomputed ? "its values come from a matrix"
                                                           : "it is not a built-in kernel";
    return mcr_fail(p->ctx, MCR_BAD_CALL,
                    "%s cannot express the kernel %.200s: %s; kernels on vectors and strings, and "
                    "their sums, products, powers, exp and normalize, can be exported",
                    target, mcr_kernel_text(k), why);
}

/* The field of conformal's function: "norm", "2", "dose:2". */
static mcr_status conformal_field(mcr_field *out, const mcr_portable *p, const mcr_kernel *k)
{
    const char *f = mcr_kernel_word(k, "f"), *colon = strrchr(f, ':');
    const char *what = colon ? colon + 1 : f;
    char *name = colon ? mcr_copy_text(p->ctx, f, (size_t)(colon - f)) : NULL;
    if (colon && !name)
        return MCR_NO_MEMORY;
    mcr_status s = strcmp(what, "norm") != 0 && strspn(what, "0123456789") != strlen(what)
                       ? mcr_fail(p->ctx, MCR_BAD_CALL,
                                  "conformal(f=%.100s): a function in C of the caller's own cannot "
                                  "be exported; norm and columns can",
                                  f)
                       : mcr_field_choose(out, p->ctx, "conformal", VECTORS, name, NULL,
                                          p->model->basis);
    mcr_free(p->ctx, name);
    return s;
}

mcr_status mcr_portable_field(mcr_field *out, const mcr_portable *p, const mcr_kernel *k)
{
    return k->type == &mcr_kernel_conformal
               ? conformal_field(out, p, k)
               : mcr_field_choose(out, p->ctx, k->type->name, k->type->kinds, k->field, NULL,
                                  p->model->basis);
}

static bool reads_field(const mcr_kernel *k)
{
    return k->type->kinds != 0 || k->type == &mcr_kernel_conformal;
}

/* Marks the fields that the tree reads. */
static mcr_status mark_fields(const mcr_portable *p, const mcr_kernel *k, const char *target,
                              bool *used)
{
    bool found = false;
    mcr_field field;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        found = found || k->type == known[i];
    mcr_status s = found ? MCR_OK : refuse_kernel(p, k, target);
    if (!s && reads_field(k))
        s = mcr_portable_field(&field, p, k);
    for (int64_t f = 0; f < mcr_data_fields(p->model->basis) && !s && reads_field(k); f++)
        used[f] |= mcr_data_field(p->model->basis, f).store == field.store;
    for (int c = 0; c < k->children && !s; c++)
        s = mark_fields(p, k->child[c], target, used);
    return s;
}

static const mcr_scaled_field *scaling_of(const mcr_model *m, const char *name)
{
    for (int64_t f = 0; m->scaling && f < m->scaling->fields; f++)
        if (strcmp(m->scaling->field[f].name, name) == 0)
            return &m->scaling->field[f];
    return NULL;
}

static mcr_status open_ports(mcr_portable *p, const char *target)
{
    int64_t fields = mcr_data_fields(p->model->basis);
    bool *used = mcr_alloc_zero(p->ctx, (size_t)fields + 1, sizeof *used);
    p->port = mcr_alloc_zero(p->ctx, (size_t)fields + 1, sizeof *p->port);
    mcr_status s = used && p->port ? mark_fields(p, p->model->kernel, target, used) : MCR_NO_MEMORY;
    if (!s && p->fitted->second)
        s = mark_fields(p, p->fitted->second, target, used);
    for (int64_t f = 0; f < fields && !s; f++) {
        mcr_port port = {.number = f, .field = mcr_data_field(p->model->basis, f)};
        if (!used[f])
            continue;
        port.text = port.field.store->kind == MCR_STRINGS;
        port.cols = port.text ? 0 : port.field.store->cols;
        port.first = p->inputs;
        port.string = port.text ? p->strings++ : -1;
        port.scaling = port.text ? NULL : scaling_of(p->model, port.field.store->name);
        p->inputs += port.cols;
        if (port.scaling && port.scaling->cols != port.cols)
            s = mcr_fail(p->ctx, MCR_BAD_DATA, "the model is damaged (its scaling does not fit)");
        p->port[p->ports++] = port;
    }
    if (!s && p->ports == 0)
        s = mcr_fail(p->ctx, MCR_BAD_CALL,
                     "the kernel %.200s reads no field, so all predictions are the same: there is "
                     "nothing to export",
                     mcr_kernel_text(p->model->kernel));
    mcr_free(p->ctx, used);
    return s;
}

const mcr_part *mcr_portable_part(const mcr_portable *p, const char *field)
{
    return &p->part[strtol(field + 1, NULL, 10)];
}

int64_t mcr_portable_string(const char *field)
{
    return strtol(field + 1, NULL, 10);
}

const mcr_part *mcr_portable_factor(const mcr_portable *p, const mcr_kernel *k, int64_t *column)
{
    const char *f = mcr_kernel_word(k, "f"), *what = strrchr(f, ':') + 1;
    *column = strcmp(what, "norm") == 0 ? -1 : strtol(what, NULL, 10) - 1;
    return mcr_portable_part(p, f);
}

/* The list of numbers by which a leaf weights its features; NULL: none. */
static const mcr_reals *list_of(const mcr_kernel *k)
{
    const char *name = k->type == &mcr_kernel_rbf || k->type == &mcr_kernel_laplace ? "gamma"
                       : k->type == &mcr_kernel_matern || k->type == &mcr_kernel_rq ? "length"
                       : k->type == &mcr_kernel_mahalanobis                         ? "diag"
                                                                                    : NULL;
    const mcr_reals *list = name ? mcr_kernel_list(k, name) : NULL;
    return list && (list->count > 1 || k->type == &mcr_kernel_mahalanobis) ? list : NULL;
}

bool mcr_portable_is_listed(const mcr_kernel *leaf)
{
    return list_of(leaf) != NULL;
}

void mcr_portable_weights(double *to, int64_t count, const mcr_kernel *leaf)
{
    const mcr_reals *list = list_of(leaf);
    bool inverse = leaf->type == &mcr_kernel_matern || leaf->type == &mcr_kernel_rq;
    for (int64_t i = 0; i < count; i++) {
        double v = list->values[list->count > 1 ? i : 0];
        to[i] = inverse ? 1 / v / v : v;
    }
}

mcr_status mcr_portable_own(double *to, const mcr_portable *p, const mcr_kernel *k,
                            const mcr_data *data, const double *vector)
{
    bool conformal = k->type == &mcr_kernel_conformal;
    int64_t column = -1;
    const mcr_part *part = conformal                       ? mcr_portable_factor(p, k, &column)
                           : k->type == &mcr_kernel_cosine ? mcr_portable_part(p, k->field)
                                                           : NULL;
    mcr_gram *gram = NULL;
    mcr_status s = part ? MCR_OK : mcr_gram_open(&gram, p->ctx, k->child[0], data, NULL);
    if (!s && !part)
        s = mcr_gram_diagonal(gram, 0, to);
    mcr_gram_close(gram);
    for (int64_t i = 0; i < p->basis && !s; i++) {
        const double *v = part ? vector + i * p->width + part->first : NULL;
        double square = part ? 0 : to[i];
        for (int64_t c = 0; part && c < part->count; c++)
            square += v[c] * v[c];
        to[i] = column >= 0  ? v[column]
                : conformal  ? sqrt(square)
                : square > 0 ? 1 / sqrt(square)
                             : 0;
    }
    return s;
}

bool mcr_portable_by_probability(const mcr_portable *p)
{
    const mcr_fitted *f = p->fitted;
    return (p->finish == MCR_FINISH_GP && f->outputs > 1) ||
           (mcr_fitted_is_calibrated(f) &&
            (f->rule == MCR_RULE_PAIRS || f->rule == MCR_RULE_LARGEST));
}

const mcr_port *mcr_portable_text(const mcr_portable *p, int64_t string)
{
    int64_t i = 0;
    while (p->port[i].string != string)
        i++;
    return &p->port[i];
}

int64_t mcr_portable_longest(const mcr_portable *p, int64_t string)
{
    const mcr_field *f = &mcr_portable_text(p, string)->field;
    int64_t longest = 0;
    for (int64_t i = 0; i < f->count; i++) {
        int64_t r = mcr_field_at(f, i), length = f->store->start[r + 1] - f->store->start[r];
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* ---- the support vectors ----------------------------------------------------------------------*/

static void map_row(const mcr_part *part, int64_t cols, const double *x, double *to)
{
    memset(to, 0, sizeof *to * (size_t)part->count);
    for (int64_t k = 0; k < cols; k++) {
        if (part->map == MCR_PART_PLAIN)
            to[k] = x[k];
        else if (part->map == MCR_PART_CIRCLE)
            mcr_periodic_circle(to + 2 * k, x[k], part->period[k]);
        else
            for (int64_t j = 0; j < part->count; j++)
                to[j] += x[k] * part->matrix[k * part->count + j];
    }
}

static mcr_status open_vectors(mcr_portable *p)
{
    size_t values;
    if (!mcr_size_mul((size_t)p->basis, (size_t)p->width, &values))
        return mcr_fail(p->ctx, MCR_NO_MEMORY, "the support vectors are too many to be exported");
    double *x = mcr_alloc(p->ctx, (size_t)p->inputs + 1, sizeof *x);
    p->vector = mcr_alloc(p->ctx, values + 1, sizeof *p->vector);
    mcr_status s = x && p->vector ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t q = 0; q < p->parts && !s; q++) {
        const mcr_part *part = &p->part[q];
        const mcr_port *port = &p->port[part->port];
        for (int64_t i = 0; i < p->basis && !s; i++) {
            s = mcr_data_vector(p->model->basis, port->number, i, x);
            if (!s)
                map_row(part, port->cols, x, p->vector + i * p->width + part->first);
        }
    }
    mcr_free(p->ctx, x);
    return s;
}

static mcr_status add_strings(const mcr_portable *p, mcr_builder *b, int64_t string)
{
    const mcr_field *f = &mcr_portable_text(p, string)->field;
    int64_t *start = mcr_alloc(p->ctx, (size_t)f->count + 1, sizeof *start), at = 0;
    char *bytes = NULL, name[NAME];
    for (int64_t i = 0; start && i <= f->count; i++) {
        int64_t r = i < f->count ? mcr_field_at(f, i) : 0;
        start[i] = at;
        at += i < f->count ? f->store->start[r + 1] - f->store->start[r] : 0;
    }
    if (start)
        bytes = mcr_alloc(p->ctx, (size_t)at + 1, 1);
    for (int64_t i = 0; bytes && i < f->count; i++)
        memcpy(bytes + start[i], f->store->bytes + f->store->start[mcr_field_at(f, i)],
               (size_t)(start[i + 1] - start[i]));
    snprintf(name, sizeof name, "s%lld", (long long)string);
    mcr_status s = bytes ? mcr_builder_strings(b, name, start, bytes) : MCR_NO_MEMORY;
    mcr_free_all(p->ctx, start, bytes);
    return s;
}

mcr_status mcr_portable_data(mcr_data **out, const mcr_portable *p, const double *vector)
{
    mcr_builder *b = NULL;
    char name[NAME];
    *out = NULL;
    mcr_status s = mcr_builder_open(&b, p->ctx, p->basis);
    for (int64_t q = 0; q < p->parts && !s; q++) {
        snprintf(name, sizeof name, "p%lld", (long long)q);
        s = mcr_builder_dense(b, name, vector + p->part[q].first, p->part[q].count, p->width);
    }
    for (int64_t t = 0; t < p->strings && !s && !p->weights; t++)
        s = add_strings(p, b, t);
    return mcr_builder_finish_filled(out, b, s);
}

/* ---- linear models are weights ----------------------------------------------------------------*/

static mcr_status copy_segments(mcr_portable *p)
{
    const mcr_fitted *f = p->fitted;
    p->segment = mcr_alloc_zero(p->ctx, (size_t)f->segments + 1, sizeof *p->segment);
    if (!p->segment)
        return MCR_NO_MEMORY;
    for (int64_t g = 0; g < f->segments; g++) {
        const mcr_segment *from = &f->segment[g];
        size_t outputs = (size_t)from->outputs, coefs = outputs * (size_t)from->count;
        mcr_segment *to = &p->segment[p->segments++];
        *to = (mcr_segment){from->first, from->count, from->outputs, NULL, NULL};
        to->output = mcr_alloc(p->ctx, outputs + 1, sizeof *to->output);
        to->coef = mcr_alloc(p->ctx, coefs + 1, sizeof *to->coef);
        if (!to->output || !to->coef)
            return MCR_NO_MEMORY;
        memcpy(to->output, from->output, sizeof *to->output * outputs);
        memcpy(to->coef, from->coef, sizeof *to->coef * coefs);
    }
    return MCR_OK;
}

static void free_segments(mcr_portable *p)
{
    for (int64_t g = 0; p->segment && g < p->segments; g++)
        mcr_free_all(p->ctx, p->segment[g].output, p->segment[g].coef);
    mcr_free(p->ctx, p->segment);
    p->segment = NULL;
    p->segments = 0;
}

/* f_o(x) = w_o.x + offset_o: the weight vectors replace the support vectors. */
static mcr_status make_weights(mcr_portable *p)
{
    int64_t outputs = p->fitted->outputs;
    if (p->kernel->type != &mcr_kernel_linear || p->second || p->basis <= outputs ||
        (p->finish != MCR_FINISH_RULE && p->finish != MCR_FINISH_MEANS))
        return MCR_OK;
    double *w = mcr_alloc_zero(p->ctx, (uint64_t)(outputs * p->width) + 1, sizeof *w);
    if (!w)
        return MCR_NO_MEMORY;
    for (int64_t g = 0; g < p->segments; g++)
        for (int64_t t = 0; t < p->segment[g].outputs; t++)
            for (int64_t i = 0; i < p->segment[g].count; i++) {
                double coef = p->segment[g].coef[t * p->segment[g].count + i];
                const double *v = p->vector + (p->segment[g].first + i) * p->width;
                double *to = w + p->segment[g].output[t] * p->width;
                for (int64_t k = 0; k < p->width; k++)
                    to[k] += coef * v[k];
            }
    mcr_free(p->ctx, p->vector);
    p->vector = w;
    p->basis = outputs;
    p->weights = true;
    free_segments(p);
    p->segment = mcr_alloc_zero(p->ctx, (size_t)outputs + 1, sizeof *p->segment);
    for (int64_t o = 0; p->segment && o < outputs; o++) {
        mcr_segment *to = &p->segment[p->segments++];
        *to = (mcr_segment){.first = o, .count = 1, .outputs = 1};
        to->output = mcr_alloc(p->ctx, 1, sizeof *to->output);
        to->coef = mcr_alloc(p->ctx, 1, sizeof *to->coef);
        if (!to->output || !to->coef)
            return MCR_NO_MEMORY;
        to->output[0] = (int32_t)o;
        to->coef[0] = 1;
    }
    return p->segment ? MCR_OK : MCR_NO_MEMORY;
}

/* ---- a model ----------------------------------------------------------------------------------*/

static mcr_status find_finish(mcr_portable *p, const char *target)
{
    static const struct {
        const char *learner;
        mcr_finish finish;
    } of[] = {{"knn", MCR_FINISH_KNN},
              {"perceptron", MCR_FINISH_VOTED},
              {"gp", MCR_FINISH_GP},
              {"fisher", MCR_FINISH_MEANS}};
    const mcr_predictor *own = p->model->type ? p->model->type->predictor : NULL;
    if (!own || p->fitted->basis == 0 ||
        (own->needed && p->fitted->rule != MCR_RULE_OWN && !own->needed(p->fitted)))
        return MCR_OK;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (strcmp(p->model->type->name, of[i].learner) == 0) {
            p->finish = of[i].finish;
            return MCR_OK;
        }
    return mcr_fail(p->ctx, MCR_BAD_CALL, "%s cannot express how %s predicts", target,
                    p->model->type->name);
}

/* Predictors check their numbers, which may come from a file: each is opened once. */
static mcr_status test_numbers(const mcr_portable *p)
{
    const mcr_predictor *own = p->model->type ? p->model->type->predictor : NULL;
    void *state = NULL;
    if (p->finish == MCR_FINISH_RULE || !own->open)
        return MCR_OK;
    mcr_status s = own->open(&state, p->ctx, p->fitted, p->model->kernel, p->model->basis);
    if (!s)
        own->close(p->ctx, state);
    return s;
}

static mcr_status fill(mcr_portable *p, const char *target, bool collapse)
{
    const mcr_fitted *f = p->fitted;
    if (mcr_fourier_is(f))
        return mcr_fail(p->ctx, MCR_BAD_CALL,
                        "%s cannot express models on random Fourier features: train with nystrom "
                        "instead of rff, or without an approximation",
                        target);
    mcr_status s = find_finish(p, target);
    if (!s)
        s = mcr_model_check_width(p->ctx, p->model);
    if (!s)
        s = test_numbers(p);
    if (!s)
        s = open_ports(p, target);
    if (!s)
        s = mcr_portable_rebuild(&p->kernel, p, p->model->kernel);
    if (!s && f->second)
        s = mcr_portable_rebuild(&p->second, p, f->second);
    if (!s)
        s = open_vectors(p);
    if (!s)
        s = copy_segments(p);
    if (!s && collapse)
        s = make_weights(p);
    if (!s && p->basis > 0 && (p->parts > 0 || p->strings > 0))
        s = mcr_portable_data(&p->data, p, p->vector);
    return s;
}

mcr_status mcr_portable_open(mcr_portable **out, mcr *ctx, const mcr_model *model,
                             const char *target, bool collapse)
{
    mcr_portable *p = *out = mcr_alloc_zero(ctx, 1, sizeof *p);
    if (!p)
        return MCR_NO_MEMORY;
    *p = (mcr_portable){.ctx = ctx, .model = model, .fitted = model->fitted};
    p->basis = model->fitted->basis;
    mcr_status s = fill(p, target, collapse);
    if (s) {
        mcr_portable_close(p);
        *out = NULL;
    }
    return s;
}

void mcr_portable_close(mcr_portable *p)
{
    if (!p)
        return;
    for (int64_t q = 0; q < p->parts; q++)
        mcr_free_all(p->ctx, p->part[q].matrix, p->part[q].period);
    free_segments(p);
    mcr_data_free(p->data);
    mcr_kernel_free(p->kernel);
    mcr_kernel_free(p->second);
    mcr_free_all(p->ctx, p->part, p->port, p->vector, p);
}
