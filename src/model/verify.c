/* verify.c: recomputing a certificate: the training data as the learner saw them, products with K
 * whose errors are bounded, and the comparison.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model/verify.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/sized.h"
#include "gram/factor.h"
#include "kernel/explicit.h"
#include "learn/svm_problem.h"

/* ---- options ----------------------------------------------------------------------------------*/

static const void *option_at(const mcr_verify *v, const char *name, mcr_param_type type)
{
    return v->options ? mcr_options_at(v->options, name, type) : NULL;
}

double mcr_verify_option(const mcr_verify *v, const char *name)
{
    const double *real = option_at(v, name, MCR_REAL);
    const int64_t *whole = option_at(v, name, MCR_INT);
    return real ? *real : whole && *whole != INT64_MIN ? (double)*whole : NAN;
}

int mcr_verify_choice(const mcr_verify *v, const char *name)
{
    const int *flag = option_at(v, name, MCR_FLAG), *choice = option_at(v, name, MCR_CHOICE);
    return flag ? *flag : choice ? *choice : 0;
}

static const char *text_option(const mcr_verify *v, const char *name)
{
    char *const *text = option_at(v, name, MCR_TEXT);
    return text ? *text : NULL;
}

/* ---- numbers with errors ----------------------------------------------------------------------*/

mcr_sure mcr_sure_dot(const double *a, const double *b, const double *error, int64_t n)
{
    mcr_exact_sum s = {0};
    double blur = 0;
    for (int64_t i = 0; i < n; i++) {
        mcr_exact_add(&s, a[i] * b[i]);
        blur += error ? fabs(a[i]) * error[i] : 0;
    }
    return (mcr_sure){mcr_exact_total(&s), blur + 2 * DBL_EPSILON * s.size};
}

void mcr_verify_coefficients(const mcr_verify *v, int64_t o, double *coef)
{
    const mcr_fitted *f = v->fitted;
    memset(coef, 0, sizeof *coef * (size_t)v->n);
    for (int64_t g = 0; g < f->segments; g++) {
        const mcr_segment *s = &f->segment[g];
        for (int64_t t = 0; t < s->outputs; t++)
            for (int64_t i = 0; i < s->count && s->output[t] == o; i++)
                coef[v->basis[s->first + i]] += s->coef[t * s->count + i];
    }
}

enum { ROWS = 128, COLS = 2048 };

/* The rows of K of the objects listed, times their coefficients, to all sums of the columns. */
typedef struct product {
    mcr_verify *v;
    const double *c;
    int64_t cols;
    double *sum, *rest; /* cols x n */
} product;

static void add_rows(const product *p, const double *k, const int64_t *row, int64_t rows,
                     int64_t first, int64_t count)
{
    int64_t n = p->v->n;
    for (int64_t o = 0; o < p->cols; o++)
        for (int64_t r = 0; r < rows; r++) {
            double c = p->c[o * n + row[r]], *sum = p->sum + o * n + first;
            double *rest = p->rest + o * n + first;
            const double *value = k + r * COLS;
            if (c == 0)
                continue;
            for (int64_t j = 0; j < count; j++) {
                double term = c * value[j], next = sum[j] + term, back = next - sum[j];
                rest[j] += (sum[j] - (next - back)) + (term - back);
                sum[j] = next;
            }
        }
}

static bool is_used(const product *p, int64_t i)
{
    for (int64_t o = 0; o < p->cols; o++)
        if (p->c[o * p->v->n + i] != 0)
            return true;
    return false;
}

static mcr_status multiply(product *p, int64_t *row, double *k)
{
    mcr_verify *v = p->v;
    int64_t used = 0;
    for (int64_t i = 0; i < v->n; i++)
        if (is_used(p, i))
            row[used++] = i;
    mcr_status s = MCR_OK;
    for (int64_t first = 0; first < v->n && !s; first += COLS) {
        int64_t count = v->n - first < COLS ? v->n - first : COLS;
        s = mcr_part_done(v->ctx, "verify", (double)first / (double)v->n, 0);
        for (int64_t r = 0; r < used && !s; r += ROWS) {
            int64_t rows = used - r < ROWS ? used - r : ROWS;
            s = mcr_gram_block(v->gram, (mcr_rows){row + r, 0, rows},
                               (mcr_rows){NULL, first, count}, k, COLS);
            if (!s)
                add_rows(p, k, row + r, rows, first, count);
        }
    }
    return s;
}

/* K a of inner products as X (X'a), which takes no kernel values; vectors must be read twice, and
 * those that are not sparse are copied. */
static mcr_status extend_products(mcr_verify *v, mcr_extended *to)
{
    enum { MOST_ENTRIES = 20000000 };
    mcr_gram *features = NULL;
    if (v->kernel->type->features != mcr_features_vectors || v->values ||
        (double)v->n * (double)mcr_gram_work(v->gram) > MOST_ENTRIES)
        return MCR_OK;
    mcr_status s = mcr_gram_features(&features, v->ctx, v->kernel, v->data);
    if (!s)
        s = mcr_gram_extended(features, to);
    mcr_gram_close(features);
    return s == MCR_OVER_BUDGET || s == MCR_NO_MEMORY ? MCR_OK : s; /* kernel values need less */
}

/* In extended precision, where that can be had: *done. */
static mcr_status extend(mcr_verify *v, const double *c, int64_t cols, double *f, double *error,
                         bool *done)
{
    int64_t n = v->n;
    double *buffer = mcr_alloc(v->ctx, 3 * (uint64_t)n, (size_t)cols * sizeof *buffer);
    if (!buffer)
        return MCR_NO_MEMORY;
    double *a = buffer, *high = a + n * cols, *low = high + n * cols;
    for (int64_t i = 0; i < n * cols; i++)
        a[i] = c[i % cols * n + i / cols];
    mcr_extended to = {.n = n, .outputs = cols, .a = a, .f = high, .low = low};
    mcr_status s = mcr_gram_extended(v->gram, &to);
    if (!s && !isfinite(to.share))
        s = extend_products(v, &to);
    *done = isfinite(to.share);
    for (int64_t o = 0; o < cols && !s && *done; o++) {
        double size = 0;
        for (int64_t i = 0; i < n; i++)
            size += fabs(c[o * n + i]) * v->length[i];
        for (int64_t i = 0; i < n; i++) {
            f[o * n + i] = high[i * cols + o];
            error[o * n + i] = to.share * size * v->length[i] +
                               0.5 * DBL_EPSILON * fabs(high[i * cols + o]);
        }
    }
    mcr_free(v->ctx, buffer);
    return s;
}

mcr_status mcr_verify_multiply(mcr_verify *v, const double *c, int64_t cols, double *f,
                               double *error)
{
    bool done = false;
    mcr_status s = extend(v, c, cols, f, error, &done);
    if (s || done)
        return s;
    size_t all = (size_t)v->n * (size_t)cols;
    product p = {.v = v, .c = c, .cols = cols, .sum = f};
    int64_t *row = mcr_alloc(v->ctx, (size_t)v->n, sizeof *row);
    double *k = mcr_alloc(v->ctx, ROWS, COLS * sizeof *k);
    p.rest = mcr_alloc_zero(v->ctx, all, sizeof *p.rest);
    s = row && k && p.rest ? MCR_OK : MCR_NO_MEMORY;
    memset(f, 0, sizeof *f * all);
    if (!s)
        s = multiply(&p, row, k);
    for (int64_t o = 0; o < cols && !s; o++) {
        double size = 0;
        for (int64_t i = 0; i < v->n; i++)
            size += fabs(c[o * v->n + i]) * v->length[i];
        for (int64_t i = 0; i < v->n; i++) {
            f[o * v->n + i] += p.rest[o * v->n + i];
            error[o * v->n + i] = v->unit * size * v->length[i];
        }
    }
    mcr_free_all(v->ctx, row, k, p.rest);
    return s;
}

/* ---- the error of kernel values ---------------------------------------------------------------*/

enum { SAMPLE = 256 };

/* Worst cases are known for most kernels. Else float is compared with double on some of the
 * objects; without float (values too large for it): a guess. */
static mcr_status measure_unit(mcr_verify *v, const mcr_kernel *kernel)
{
    int64_t m = v->n < SAMPLE ? v->n : SAMPLE, *row = mcr_alloc(v->ctx, SAMPLE, sizeof *row);
    double *k = mcr_alloc(v->ctx, SAMPLE, SAMPLE * sizeof *k), worst = 0, largest = 0;
    float *rough = mcr_alloc(v->ctx, SAMPLE, SAMPLE * sizeof *rough);
    mcr_status s = row && k && rough ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < m && !s; i++)
        row[i] = i * v->n / m;
    mcr_rows some = {row, 0, m};
    if (!s)
        s = mcr_gram_block(v->gram, some, some, k, SAMPLE);
    mcr_status in_float = s ? s : mcr_gram_block_float(v->gram, some, some, rough, SAMPLE);
    if (in_float == MCR_NO_MEMORY)
        s = in_float;
    for (int64_t i = 0; i < m && !s; i++)
        for (int64_t j = 0; j < m; j++)
            largest = fmax(largest, fabs(k[i * SAMPLE + j]));
    bool known = mcr_kernel_definite(kernel, NULL) == MCR_PSD;
    for (int64_t i = 0; i < v->n && !s; i++)
        v->length[i] = sqrt(known ? fmax(v->diagonal[i], 0) : fmax(largest, fabs(v->diagonal[i])));
    for (int64_t i = 0; i < m && !s && !in_float; i++)
        for (int64_t j = 0; j < m; j++) {
            double size = v->length[row[i]] * v->length[row[j]];
            double off = fabs((double)rough[i * SAMPLE + j] - k[i * SAMPLE + j]);
            worst = fmax(worst, size > 0 ? off / size : 0);
        }
    v->unit = in_float ? 1e-12 : 4 * DBL_EPSILON + 16 * ldexp(fmin(worst, 1), -29);
    mcr_error proved = {INFINITY, INFINITY};
    if (!s)
        s = mcr_gram_error(v->gram, true, &proved);
    if (isfinite(proved.absolute + proved.relative))
        v->unit = 4 * DBL_EPSILON + proved.absolute + proved.relative;
    mcr_free_all(v->ctx, row, k, rough);
    return s;
}

mcr_status mcr_verify_bind(mcr_verify *v, const mcr_kernel *kernel)
{
    mcr_gram_close(v->gram);
    v->gram = NULL;
    v->kernel = kernel;
    mcr_status s = mcr_gram_open(&v->gram, v->ctx, kernel, v->data, NULL);
    if (!s && !v->diagonal) {
        v->diagonal = mcr_alloc(v->ctx, (size_t)v->n, sizeof *v->diagonal);
        v->length = mcr_alloc(v->ctx, (size_t)v->n, sizeof *v->length);
        s = v->diagonal && v->length ? MCR_OK : MCR_NO_MEMORY;
    }
    if (!s)
        s = mcr_gram_diagonal(v->gram, 0, v->diagonal);
    return s ? s : measure_unit(v, kernel);
}

/* ---- the training data ------------------------------------------------------------------------*/

/* Without what was held out for intervals. */
static mcr_status leave_out(mcr_data **out, const mcr_verify *v, const mcr_data *data)
{
    int64_t held, n = mcr_data_count(data), kept = 0;
    const double *object = mcr_fitted_find(v->fitted, MCR_EXTRA_HELD_OUT, &held);
    unsigned char *is_held = mcr_alloc_zero(v->ctx, (size_t)n, 1);
    int64_t *row = mcr_alloc(v->ctx, (size_t)n, sizeof *row);
    mcr_status s = is_held && row ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t h = 0; h < held && !s; h++)
        if (object[h] >= 0 && object[h] < (double)n)
            is_held[(int64_t)object[h]] = 1;
    for (int64_t i = 0; i < n && !s; i++)
        if (!is_held[i])
            row[kept++] = i;
    if (!s)
        s = mcr_data_select(out, data, (mcr_rows){row, 0, kept});
    mcr_free_all(v->ctx, is_held, row);
    return s;
}

/* Scaled, with equal objects merged where the learner does that, and with the model's columns. */
static mcr_status prepare(mcr_verify *v, const mcr_data *given)
{
    mcr_data *part = NULL, *scaled = NULL, *merged = NULL;
    const mcr_learner_type *type = v->model->type;
    mcr_status s = leave_out(&part, v, given);
    if (!s && v->options && mcr_data_count(part) != v->model->report.n) {
        char what[128];
        snprintf(what, sizeof what, "they have %lld objects, and it was trained on %lld",
                 (long long)mcr_data_count(part), (long long)v->model->report.n);
        s = mcr_verify_other_data(v, what);
    }
    if (!s)
        s = mcr_scaling_apply(&scaled, v->model->scaling, part);
    v->objects = s ? 0 : mcr_data_count(scaled);
    v->where = mcr_alloc(v->ctx, (size_t)v->objects, sizeof *v->where);
    if (!s && !v->where)
        s = MCR_NO_MEMORY;
    for (int64_t i = 0; i < v->objects && !s; i++)
        v->where[i] = i;
    if (!s && v->options && type->weights_count)
        s = mcr_data_merge(&merged, scaled, type->task == MCR_CLASSIFY, v->where);
    for (int64_t i = 0; i < v->objects && !s && !merged; i++)
        v->where[i] = i;
    /* Kernel values that were computed before have no columns to be found by their names. */
    const mcr_data *found = merged ? merged : scaled;
    bool values = !s && found->fields > 0 && found->store[0]->kind == MCR_PRECOMPUTED;
    if (!s)
        s = values ? mcr_data_select(&v->data, found, (mcr_rows){NULL, 0, mcr_data_count(found)})
                   : mcr_data_match(&v->data, v->ctx, found, v->model->basis);
    v->values = values;
    v->n = s ? 0 : mcr_data_count(v->data);
    mcr_data_free(part);
    mcr_data_free(scaled);
    mcr_data_free(merged);
    return s;
}

static mcr_status read_targets(mcr_verify *v)
{
    int64_t *match = NULL;
    size_t n = (size_t)v->n;
    bool known = mcr_data_target_kind(v->data) != MCR_NO_TARGETS;
    mcr_status s = MCR_OK;
    if ((v->fitted->classes || v->fitted->task == MCR_REGRESS) && !known)
        return mcr_verify_other_data(v, "they have no targets");
    if (known && mcr_data_target_kind(v->data) == MCR_REAL_TARGETS) {
        v->target = mcr_alloc(v->ctx, n, sizeof *v->target);
        if (!v->target)
            return MCR_NO_MEMORY;
        memcpy(v->target, mcr_data_targets(v->data), sizeof *v->target * n);
    }
    if (v->fitted->task == MCR_REGRESS && !v->target)
        return mcr_verify_other_data(v, "their targets are words");
    if (!v->fitted->classes)
        return MCR_OK;
    v->class_of = mcr_alloc(v->ctx, n, sizeof *v->class_of);
    s = v->class_of ? mcr_model_match(&match, v->ctx, v->model, v->data) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < v->n && !s; i++) {
        v->class_of[i] = (int32_t)match[mcr_data_class_of(v->data)[i]];
        if (v->class_of[i] < 0)
            s = mcr_verify_other_data(v, "there are classes that it does not know");
    }
    mcr_free(v->ctx, match);
    return s;
}

static mcr_status read_weights(mcr_verify *v)
{
    const double *own = mcr_data_weights(v->data);
    v->weight = mcr_alloc(v->ctx, (size_t)v->n, sizeof *v->weight);
    v->own = mcr_alloc(v->ctx, (size_t)v->n, sizeof *v->own);
    if (!v->weight || !v->own)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < v->n; i++)
        v->own[i] = own ? own[i] : 1;
    return mcr_svm_weights(v->ctx, v->model->learner, v->data,
                           v->class_of ? text_option(v, MCR_OPTION_CLASS_WEIGHT) : NULL, v->weight);
}

/* ---- the comparison ---------------------------------------------------------------------------*/

void mcr_verify_fault(mcr_verify *v, const char *format, ...)
{
    va_list list;
    v->out->agrees = 0;
    if (v->out->fault[0])
        return;
    va_start(list, format);
    vsnprintf(v->out->fault, sizeof v->out->fault, format, list);
    va_end(list);
}

/* One unit of the last of so many significant digits. */
static double last_digit(double value, int digits)
{
    return value == 0 ? 0 : pow(10, floor(log10(fabs(value))) - digits + 1);
}

/* own: what the model says that it may err by. It prints no digit beyond that, so the number may be
 * off by as much; the verdict does not depend on it. */
static void compare(mcr_verify *v, mcr_verified *to, const char *what, mcr_sure found, int digits,
                    double own)
{
    to->recomputed = found.value;
    to->error = found.error;
    to->agrees = 1;
    if (isnan(to->printed) || isnan(found.value))
        return;
    double off = fabs(to->printed - found.value);
    double allowed = last_digit(to->printed, digits) + found.error + own;
    to->agrees = to->printed == found.value || off <= allowed;
    if (!to->agrees)
        mcr_verify_fault(v, "%s is %.9g by the model, and %.9g recomputed (within %.1e)", what,
                         to->printed, found.value, found.error);
}

/* Also the verdict: what is called optimal must be within the tolerance. */
void mcr_verify_value(mcr_verify *v, mcr_sure found)
{
    mcr_verification *o = v->out;
    mcr_stop stop = v->fitted->stop;
    compare(v, &o->value, o->kind, found, 3, v->model->report.value_error);
    bool ended = mcr_stop_is_end(stop) || !v->options;
    if (ended && !(found.value - found.error <= o->tolerance))
        mcr_verify_fault(v, "%s is %.3g, beyond the tolerance %.3g", o->kind, found.value,
                         o->tolerance);
    else if (ended && !(found.value + found.error <= o->tolerance))
        snprintf(v->open, sizeof v->open,
                 "%s could be recomputed only to within %.1e; the tolerance is %.3g", o->kind,
                 found.error, o->tolerance);
}

/* Nothing is wrong, but the certificate was not shown to hold. */
static void leave_open(mcr_verify *v)
{
    mcr_verification *o = v->out;
    o->verdict = o->agrees ? MCR_VERIFY_AGREES : MCR_VERIFY_DISAGREES;
    if (!o->agrees || !v->open[0])
        return;
    o->verdict = MCR_VERIFY_UNDECIDED;
    o->agrees = 0;
    memcpy(o->fault, v->open, sizeof o->fault);
}

void mcr_verify_primal(mcr_verify *v, mcr_sure found)
{
    compare(v, &v->out->primal, "primal", found, 9, v->model->report.objective_error);
}

void mcr_verify_dual(mcr_verify *v, mcr_sure found)
{
    compare(v, &v->out->dual, "dual", found, 9, v->model->report.objective_error);
}

void mcr_verify_gap(mcr_verify *v, mcr_sure found)
{
    compare(v, &v->out->gap, "gap", found, 3, v->model->report.objective_error);
}

void mcr_verify_objective(mcr_verify *v, mcr_sure found)
{
    compare(v, &v->out->objective, "objective", found, 9, v->model->report.objective_error);
}

/* ---- the call ---------------------------------------------------------------------------------*/

typedef struct check {
    const char *learner;
    mcr_status (*run)(mcr_verify *v);
} check;

static const check checks[] = {
    {"svm", mcr_verify_machines},
    {"nu-svm", mcr_verify_machines},
    {"one-class", mcr_verify_machines},
    {"svr", mcr_verify_machines},
    {"nu-svr", mcr_verify_machines},
    {"l1-svm", mcr_verify_machines},
    {"logistic", mcr_verify_losses},
    {"erm", mcr_verify_losses},
    {"pegasos", mcr_verify_pegasos},
    {"perceptron", mcr_verify_perceptron},
    {"ridge", mcr_verify_ridge},
    {"gp", mcr_verify_gp},
    {"pca", mcr_verify_pca},
    {"fisher", mcr_verify_fisher},
    {"cca", mcr_verify_cca},
    {"kmeans", mcr_verify_kmeans},
    {"knn", mcr_verify_knn},
    {NULL, NULL},
};

static mcr_status find_check(const check **out, const mcr_verify *v)
{
    static const check restricted = {"", mcr_verify_restricted}, sparse = {"", mcr_verify_sparse};
    const mcr_model *m = v->model;
    const check *j = checks;
    if (v->fitted->certificate && strstr(v->fitted->certificate, "restricted problem")) {
        *out = &restricted;
        return MCR_OK;
    }
    if (m->report.approx && strcmp(m->report.approx, "sgpr") == 0) {
        *out = &sparse;
        return MCR_OK;
    }
    while (j->learner && strcmp(j->learner, m->learner) != 0)
        j++;
    *out = j;
    if (!j->learner)
        return mcr_fail(v->ctx, MCR_BAD_CALL, "there is no certificate of %s to recompute",
                        m->learner);
    if (m->report.approx)
        return mcr_fail(
            v->ctx, MCR_BAD_CALL,
            "the certificate of this model is that of features that approximate the "
            "kernel (approx=%s), which the file does not keep: it cannot be recomputed. "
            "Models with exact kernel values can be verified, and ridge and logistic "
            "with approx=falkon, and gp with approx=sgpr",
            m->report.approx);
    return MCR_OK;
}

/* Of another program: by its own tolerance, unless the caller has another. */
static void begin(mcr_verify *v)
{
    const mcr_fitted *f = v->fitted;
    mcr_verification *o = v->out;
    *o = (mcr_verification){.size = sizeof *o, .agrees = 1, .kind = f->certificate};
    mcr_verified *all[] = {&o->value, &o->primal, &o->dual, &o->gap, &o->objective};
    const double printed[] = {f->value, f->primal, f->dual, f->gap, f->objective};
    for (int i = 0; i < 5; i++)
        *all[i] = (mcr_verified){
            .printed = v->options ? printed[i] : NAN, .recomputed = NAN, .error = NAN, .agrees = 1};
    o->tolerance = f->tolerance;
    if (!v->options) {
        o->kind = "KKT violation";
        o->tolerance = v->given && !isnan(v->given->tol) ? v->given->tol : 1e-3;
    }
}

static void close_verify(mcr_verify *v)
{
    mcr_gram_close(v->gram);
    mcr_data_free(v->data);
    mcr_options_close(v->options);
    mcr_free_all(v->ctx, v->where, v->basis, v->class_of, v->target, v->own, v->weight, v->diagonal,
                 v->length);
}

mcr_status mcr_model_verify(mcr *ctx, const mcr_model *model, const mcr_data *data,
                            const mcr_verify_given *given, mcr_verification *out)
{
    mcr_verification found;
    mcr_verify_given all;
    mcr_verify v = {.ctx = ctx,
                    .model = model,
                    .fitted = model->fitted,
                    .given = given ? &all : NULL,
                    .out = &found};
    const check *by = NULL;
    mcr_status s = MCR_SIZED_CHECK(mcr_verification, ctx, out);
    if (model->loaded)
        mcr_predicting(ctx, true); /* the model may come from someone else */
    if (!s)
        s = MCR_SIZED_READ(mcr_verify_given, &all, ctx, given);
    if (!s)
        s = find_check(&by, &v);
    if (!s && model->report.version)
        s = mcr_options_of(&v.options, ctx, model);
    if (!s) {
        begin(&v);
        s = prepare(&v, data);
    }
    if (!s)
        s = read_targets(&v);
    if (!s)
        s = read_weights(&v);
    if (!s)
        s = mcr_verify_bind(&v, model->kernel);
    if (!s)
        s = mcr_verify_place_basis(&v);
    if (!s)
        s = by->run(&v);
    if (!s)
        leave_open(&v);
    close_verify(&v);
    if (model->loaded)
        mcr_predicting(ctx, false);
    return s ? s : MCR_SIZED_WRITE(mcr_verification, out, ctx, &found);
}
