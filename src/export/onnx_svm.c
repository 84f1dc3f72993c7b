/* onnx_svm.c: support vector machines as the operators SVMClassifier and SVMRegressor of
 * ai.onnx.ml, which compute in float. For two classes the first of them is the one where the
 * decision value is positive, as in LIBSVM; rho is added, where LIBSVM subtracts it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "export/onnx_graph.h"
#include "kernel/built_in.h"
#include "kernel/parts.h"
#include "model/foreign.h"

static bool is_operator_kernel(const mcr_kernel *k)
{
    return k->type == &mcr_kernel_linear || k->type == &mcr_kernel_poly ||
           k->type == &mcr_kernel_sigmoid ||
           (k->type == &mcr_kernel_rbf && !isnan(mcr_kernel_number(k, "gamma")));
}

bool mcr_onnx_is_svm(const mcr_portable *p)
{
    const mcr_fitted *f = p->fitted;
    static const char *const learner[] = {"svm", "nu-svm", "one-class", "svr", "nu-svr"};
    bool known = false;
    for (size_t i = 0; i < sizeof learner / sizeof *learner; i++)
        known = known || strcmp(p->model->learner, learner[i]) == 0;
    return known && p->ports == 1 && p->parts == 1 && p->part[0].map == MCR_PART_PLAIN &&
           is_operator_kernel(p->kernel) && !f->curve && !f->slope && mcr_segments_are_libsvm(f) &&
           p->basis > 0;
}

/* ---- whether float has enough digits ----------------------------------------------------------*/

static double kernel_value(const mcr_kernel *k, const double *x, const double *z, int64_t width)
{
    double dot = 0, distance = 0;
    for (int64_t c = 0; c < width; c++) {
        dot += x[c] * z[c];
        distance += (x[c] - z[c]) * (x[c] - z[c]);
    }
    if (k->type == &mcr_kernel_rbf)
        return exp(-mcr_kernel_number(k, "gamma") * distance);
    if (k->type == &mcr_kernel_sigmoid)
        return tanh(mcr_kernel_number(k, "a") * dot + mcr_kernel_number(k, "b"));
    if (k->type == &mcr_kernel_poly)
        return pow(mcr_kernel_number(k, "scale") * dot + mcr_kernel_number(k, "c"),
                   mcr_kernel_number(k, "degree"));
    return dot;
}

/* Scores of one object, and the sums of the absolute values of their terms, for all outputs. */
static void add_terms(const mcr_portable *p, const double *x, double *score, double *size)
{
    const mcr_fitted *f = p->fitted;
    for (int64_t o = 0; o < f->outputs; o++)
        size[o] = fabs(score[o] = f->offset[o]);
    for (int64_t s = 0; s < f->segments; s++) {
        const mcr_segment *g = &f->segment[s];
        for (int64_t i = 0; i < g->count; i++) {
            double k = kernel_value(p->kernel, x, p->vector + (g->first + i) * p->width, p->width);
            for (int64_t t = 0; t < g->outputs; t++) {
                score[g->output[t]] += g->coef[t * g->count + i] * k;
                size[g->output[t]] += fabs(g->coef[t * g->count + i] * k);
            }
        }
    }
}

/* The error of a float sum is about the rounding of the largest partial sum; measured on the
 * support vectors. Twice that must stay below 1e-5 of the largest score. */
mcr_status mcr_onnx_float_is_enough(bool *out, const mcr_portable *p)
{
    enum { PROBES = 128 };
    const double rounding = 0x1p-24, wanted = 5e-6;
    int64_t outputs = p->fitted->outputs, step = (p->basis + PROBES - 1) / PROBES;
    double *score = mcr_alloc(p->ctx, 2 * (uint64_t)outputs, sizeof *score);
    double largest = 1, size = 0;
    bool poly = p->kernel->type == &mcr_kernel_poly;
    double factor = poly ? 1 + mcr_kernel_number(p->kernel, "degree") : 1;
    if (!score)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < p->basis; i += step) {
        add_terms(p, p->vector + i * p->width, score, score + outputs);
        for (int64_t o = 0; o < outputs; o++) {
            largest = fmax(largest, fabs(score[o]));
            size = fmax(size, score[outputs + o]);
        }
    }
    mcr_free(p->ctx, score);
    *out = size * rounding * factor <= wanted * largest;
    return MCR_OK;
}

/* ---- the operators ----------------------------------------------------------------------------*/

static void set_kernel(mcr_onnx *g)
{
    const mcr_kernel *k = g->p->kernel;
    const mcr_kernel_type *t = k->type;
    double params[3] = {0, 0, 0}; /* gamma, coef0, degree */
    const char *name = t == &mcr_kernel_linear ? "LINEAR"
                       : t == &mcr_kernel_poly ? "POLY"
                       : t == &mcr_kernel_rbf  ? "RBF"
                                               : "SIGMOID";
    if (t == &mcr_kernel_rbf) {
        params[0] = mcr_kernel_number(k, "gamma");
    } else if (t == &mcr_kernel_poly) {
        params[0] = mcr_kernel_number(k, "scale");
        params[1] = mcr_kernel_number(k, "c");
        params[2] = mcr_kernel_number(k, "degree");
    } else if (t == &mcr_kernel_sigmoid) {
        params[0] = mcr_kernel_number(k, "a");
        params[1] = mcr_kernel_number(k, "b");
    }
    mcr_onnx_set_text(g, "kernel_type", name);
    mcr_onnx_set_floats(g, "kernel_params", params, 3);
    mcr_onnx_set_text(g, "post_transform", "NONE");
    mcr_onnx_set_floats(g, "rho", g->p->fitted->offset, g->p->fitted->outputs);
}

/* Support vectors by class: for two classes those with positive coefficients come first. */
static void set_vectors(mcr_onnx *g, int64_t *per_class)
{
    const mcr_portable *p = g->p;
    const mcr_fitted *f = p->fitted;
    int64_t rows = f->rule == MCR_RULE_PAIRS ? f->classes - 1 : 1, n = p->basis, at = 0;
    double *coef = mcr_alloc(g->ctx, (uint64_t)(rows * n) + 1, sizeof *coef);
    double *vector = mcr_alloc(g->ctx, (uint64_t)(n * p->width) + 1, sizeof *vector);
    bool ordered = f->rule == MCR_RULE_BINARY;
    for (int pass = 0; coef && vector && pass < (ordered ? 2 : 1); pass++)
        for (int64_t s = 0; s < f->segments; s++) {
            const mcr_segment *seg = &f->segment[s];
            for (int64_t i = 0; i < seg->count; i++) {
                if (ordered && (seg->coef[i] > 0) != (pass == 0))
                    continue;
                per_class[ordered ? pass : s]++;
                memcpy(vector + at * p->width, p->vector + (seg->first + i) * p->width,
                       sizeof *vector * (size_t)p->width);
                for (int64_t t = 0; t < rows; t++)
                    coef[t * n + at] = seg->coef[t * seg->count + i];
                at++;
            }
        }
    if (coef && vector) {
        mcr_onnx_set_floats(g, "coefficients", coef, rows * n);
        mcr_onnx_set_floats(g, "support_vectors", vector, n * p->width);
    } else {
        g->status = MCR_NO_MEMORY;
    }
    mcr_free_all(g->ctx, coef, vector);
}

static void put_classifier(mcr_onnx *g, mcr_tensor x)
{
    const mcr_model *m = g->p->model;
    int64_t k = m->classes;
    bool whole = mcr_onnx_whole_labels(m);
    int64_t *per_class = mcr_alloc_zero(g->ctx, (size_t)k + 1, sizeof *per_class);
    int64_t *value = mcr_alloc(g->ctx, (size_t)k + 1, sizeof *value);
    char **name = mcr_alloc(g->ctx, (size_t)k + 1, sizeof *name);
    if (per_class && value && name) {
        for (int64_t c = 0; c < k; c++) {
            int64_t from = k == 2 ? 1 - c : c;
            value[c] = whole ? (int64_t)m->class_value[from] : 0;
            name[c] = m->class_name[from];
        }
        set_kernel(g);
        set_vectors(g, per_class);
        mcr_onnx_set_ints(g, "vectors_per_class", per_class, k);
        if (whole)
            mcr_onnx_set_ints(g, "classlabels_ints", value, k);
        else
            mcr_onnx_set_texts(g, "classlabels_strings", name, k);
        mcr_tensor label = mcr_onnx_ml(g, "SVMClassifier", x, 2);
        mcr_onnx_output(g, "label", label, whole ? MCR_ONNX_INT64 : MCR_ONNX_STRING, 0);
        mcr_onnx_output(g, "scores", label + 1, MCR_ONNX_FLOAT, k == 2 ? 2 : k * (k - 1) / 2);
    } else {
        g->status = MCR_NO_MEMORY;
    }
    mcr_free_all(g->ctx, per_class, value, name);
}

void mcr_onnx_svm(mcr_onnx *g)
{
    mcr_tensor x = mcr_onnx_port(g, 0);
    int64_t count[1] = {0};
    if (g->p->fitted->task == MCR_CLASSIFY) {
        put_classifier(g, x);
        return;
    }
    set_kernel(g);
    set_vectors(g, count);
    mcr_onnx_set_int(g, "n_supports", g->p->basis);
    mcr_tensor value = mcr_onnx_ml(g, "SVMRegressor", x, 1);
    if (g->p->fitted->task == MCR_REGRESS) {
        mcr_onnx_output(g, "value", value, MCR_ONNX_FLOAT, 1);
    } else {
        mcr_onnx_sign(g, value);
        mcr_onnx_output(g, "scores", value, MCR_ONNX_FLOAT, 1);
    }
}
