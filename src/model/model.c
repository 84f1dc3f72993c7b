/* model.c: the parts of a model, and its report.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model/model.h"

#include <math.h>
#include <string.h>

#include <mercer/map.h>

#include "base/number.h"
#include "learn/form.h"

/* ---- making -----------------------------------------------------------------------------------*/

mcr_status mcr_model_new(mcr_model **out, mcr *ctx, const mcr_kernel *kernel, const char *learner,
                         const char *options)
{
    *out = NULL;
    mcr_model *m = mcr_alloc_zero(ctx, 1, sizeof *m);
    if (!m)
        return MCR_NO_MEMORY;
    m->ctx = ctx;
    m->kernel = mcr_kernel_retain(kernel);
    m->type = mcr_learner_find(ctx, learner);
    m->learner = mcr_copy_text(ctx, learner, strlen(learner));
    m->options = mcr_copy_text(ctx, options, strlen(options));
    mcr_report_fit *r = &m->report;
    r->size = sizeof *r;
    r->learner = m->learner;
    r->options = m->options;
    r->kernel = mcr_kernel_text(m->kernel);
    r->seconds = r->objective = r->value = r->tolerance = r->primal = r->dual = r->gap = NAN;
    r->accuracy = r->mse = r->r2 = r->loo = r->total_variance = r->noise = NAN;
    if (!m->learner || !m->options) {
        mcr_model_free(m);
        return MCR_NO_MEMORY;
    }
    *out = m;
    return MCR_OK;
}

void mcr_model_free(mcr_model *m)
{
    if (!m)
        return;
    mcr *ctx = m->ctx;
    mcr_free_each(ctx, m->class_name, m->classes);
    mcr_free_each(ctx, m->output_name, m->fitted ? m->fitted->outputs : 0);
    mcr_free_all(ctx, m->class_value, m->learner, m->options, m->certificate, m->version,
                 m->tuning);
    mcr_layout_free(m->layout);
    mcr_scaling_free(m->scaling);
    mcr_fitted_free(m->fitted);
    mcr_data_free(m->basis);
    mcr_kernel_free(m->kernel);
    mcr_free(ctx, m);
}

mcr_status mcr_model_give(mcr_model **out, mcr_model *m, mcr_status status)
{
    if (status)
        mcr_model_free(m);
    *out = status ? NULL : m;
    return status;
}

mcr_status mcr_model_set_classes(mcr_model *m, const char *const *name, int64_t count)
{
    m->class_name = mcr_copy_texts(m->ctx, name, count);
    m->classes = m->class_name ? count : 0;
    m->class_value = mcr_alloc(m->ctx, (size_t)count, sizeof *m->class_value);
    if (!m->class_name || !m->class_value)
        return MCR_NO_MEMORY;
    for (int64_t c = 0; c < count; c++) {
        double value;
        const char *end = name[c] + strlen(name[c]);
        m->class_value[c] = mcr_parse_real(name[c], end, &value) == end ? value : NAN;
    }
    return MCR_OK;
}

static mcr_status name_output(mcr_model *m, int64_t o, int64_t a, int64_t b)
{
    const mcr_fitted *f = m->fitted;
    mcr_text text;
    mcr_text_init(&text, m->ctx);
    if (f->rule == MCR_RULE_PAIRS)
        mcr_text_format(&text, "%s : %s", m->class_name[a], m->class_name[b]);
    else if (m->classes == 2 && f->outputs == 1)
        mcr_text_format(&text, "%s : %s", m->class_name[1], m->class_name[0]);
    else if (m->classes && f->outputs == m->classes)
        mcr_text_string(&text, m->class_name[o]);
    else if (f->task == MCR_CLUSTER)
        mcr_text_format(&text, "cluster %lld", (long long)o + 1);
    else if (f->second && f->rule == MCR_RULE_COORDINATES)
        mcr_text_format(&text, "%s %lld", o < f->outputs / 2 ? "first" : "second",
                        (long long)(o % (f->outputs / 2)) + 1);
    else if (f->task == MCR_TRANSFORM || m->classes)
        mcr_text_format(&text, "component %lld", (long long)o + 1);
    else
        mcr_text_string(&text, f->task == MCR_DETECT ? "score" : "value");
    mcr_status s = text.status;
    if (!s && !(m->output_name[o] = mcr_copy_text(m->ctx, text.bytes, (size_t)text.length)))
        s = MCR_NO_MEMORY;
    mcr_text_free(&text);
    return s;
}

mcr_status mcr_model_name_targets(mcr_model *m, const char *const *name)
{
    m->output_name = mcr_copy_texts(m->ctx, name, m->fitted->outputs);
    return m->output_name ? MCR_OK : MCR_NO_MEMORY;
}

int64_t mcr_model_targets(const mcr_model *m)
{
    return m->fitted->rule == MCR_RULE_VALUE ? m->fitted->outputs : 1;
}

mcr_status mcr_model_complete(mcr_model *m)
{
    mcr_fitted *f = m->fitted;
    mcr_report_fit *r = &m->report;
    int64_t found;
    bool named = m->output_name != NULL;
    if (!named)
        m->output_name = mcr_alloc_zero(m->ctx, (size_t)f->outputs, sizeof *m->output_name);
    mcr_status s = m->output_name ? MCR_OK : MCR_NO_MEMORY;
    int64_t a = 0, b = 1;
    for (int64_t o = 0; o < f->outputs && !named && !s; o++) {
        s = name_output(m, o, a, b);
        if (++b == m->classes)
            b = ++a + 1;
    }
    r->task = f->task;
    r->classes = m->classes;
    r->targets = f->task == MCR_REGRESS ? mcr_model_targets(m) : 0;
    r->support = f->basis;
    r->iterations = f->iterations;
    r->objective = f->objective;
    r->stop = f->stop;
    r->certificate = f->certificate;
    r->value = f->value;
    r->tolerance = f->tolerance;
    r->primal = f->primal;
    r->dual = f->dual;
    r->gap = f->gap;
    r->remark = f->remark;
    r->loo = mcr_fitted_number(f, MCR_EXTRA_LOO);
    const double *errors = mcr_fitted_find(f, MCR_EXTRA_ERRORS, &found);
    r->value_error = errors && found == 2 ? errors[0] : 0;
    r->objective_error = errors && found == 2 ? errors[1] : 0;
    r->variance = mcr_fitted_find(f, MCR_EXTRA_VARIANCE, &r->variances);
    r->total_variance = mcr_fitted_number(f, MCR_EXTRA_TOTAL);
    r->noise = mcr_fitted_number(f, MCR_EXTRA_NOISE);
    r->correlation = mcr_fitted_find(f, MCR_EXTRA_CORRELATION, &r->correlations);
    const double *form = mcr_fitted_find(f, MCR_EXTRA_FORM, &found);
    bool features = form && found == 6;
    r->form = features ? "primal" : "dual";
    r->why = f->why;
    r->approx = !features || form[0] == 0      ? NULL
                : form[0] == MCR_APPROX_RFF    ? "rff"
                : form[0] == MCR_APPROX_FALKON ? "falkon"
                : form[0] == MCR_APPROX_SGPR   ? "sgpr"
                                               : "nystrom";
    r->map_features = features ? (int64_t)form[1] : 0;
    for (int e = 0; e < 3; e++)
        r->kernel_error[e] = r->approx ? form[2 + e] : NAN;
    r->second_kernel = f->second ? mcr_kernel_text(f->second) : NULL;
    return s;
}

/* ---- looking ----------------------------------------------------------------------------------*/

const char *mcr_model_tuning(const mcr_model *m)
{
    return m->tuning;
}

const mcr_layout *mcr_model_layout(const mcr_model *m)
{
    return m->layout;
}

int mcr_model_unseen(mcr *ctx, const mcr_model *m, const mcr_data *data, int64_t k,
                     const char **name, int64_t *count, const char **word, int64_t *length)
{
    (void)ctx;
    if (!m->scaling || k < 0 || k >= m->scaling->knowns)
        return 0;
    const mcr_known *known = &m->scaling->known[k];
    *name = known->name;
    *count = *length = 0;
    *word = NULL;
    int64_t at = mcr_data_find(data, known->name, strlen(known->name));
    if (at < 0 || known->words.count == 0 || data->store[at]->kind != MCR_STRINGS)
        return 1;
    mcr_field f = mcr_data_field(data, at);
    for (int64_t i = 0; i < f.count; i++) {
        const int64_t *start = f.store->start + mcr_field_at(&f, i);
        const char *own = f.store->bytes + start[0];
        if ((known->mode >= 0 && start[1] == start[0]) ||
            mcr_words_find(&known->words, own, (size_t)(start[1] - start[0])) >= 0)
            continue;
        if (++*count == 1) {
            *word = own;
            *length = start[1] - start[0];
        }
    }
    return 1;
}

const mcr_report_fit *mcr_model_report(const mcr_model *m)
{
    return &m->report;
}

int64_t mcr_model_classes(const mcr_model *m)
{
    return m->classes;
}

const char *mcr_model_class_name(const mcr_model *m, int64_t c)
{
    return c >= 0 && c < m->classes ? m->class_name[c] : NULL;
}

int64_t mcr_model_support(const mcr_model *m)
{
    return m->fitted->basis;
}

int64_t mcr_model_outputs(const mcr_model *m)
{
    return m->fitted->outputs;
}

const char *mcr_model_output_name(const mcr_model *m, int64_t o)
{
    return o >= 0 && o < m->fitted->outputs ? m->output_name[o] : NULL;
}

void mcr_model_sides(const mcr_model *m, int64_t o, int64_t *positive, int64_t *negative)
{
    int64_t a = 0, b = 1;
    *positive = *negative = -1;
    switch (m->fitted->rule) {
    case MCR_RULE_BINARY:
        *positive = 1;
        *negative = 0;
        break;
    case MCR_RULE_PAIRS:
        for (; o > 0; o--)
            if (++b == m->classes)
                b = ++a + 1;
        *positive = a;
        *negative = b;
        break;
    case MCR_RULE_SOFTMAX:
    case MCR_RULE_LARGEST:
        if (m->classes == 0)
            break;
        *positive = m->fitted->outputs == 1 ? 1 : o;
        *negative = m->fitted->outputs == 1 ? 0 : -1;
        break;
    default: break;
    }
}

/* Models of other programs, and of earlier versions, do not record which class is rarer. */
int64_t mcr_model_positive(const mcr_model *m)
{
    double kept = mcr_fitted_number(m->fitted, MCR_EXTRA_POSITIVE);
    if (m->report.task != MCR_CLASSIFY)
        return -1;
    if (kept >= 0 && kept < (double)m->classes)
        return (int64_t)kept;
    if (m->classes != 2)
        return -1;
    bool words = isnan(m->class_value[0]) || isnan(m->class_value[1]);
    return words ? strcmp(m->class_name[1], m->class_name[0]) > 0
                 : m->class_value[1] > m->class_value[0];
}

int mcr_model_has_probability(const mcr_model *m)
{
    return mcr_fitted_has_probability(m->fitted, m->type ? m->type->predictor : NULL);
}

int mcr_model_has_coordinates(const mcr_model *m)
{
    return m->type && m->type->coordinates;
}

int mcr_model_has_std(const mcr_model *m)
{
    const mcr_predictor *p = m->type ? m->type->predictor : NULL;
    return m->fitted->task == MCR_REGRESS && p && (p->gives & MCR_GIVES_STD);
}

mcr_status mcr_model_coefficients(const mcr_model *m, int64_t o, double *coef, double *offset,
                                  int64_t *number)
{
    const mcr_fitted *f = m->fitted;
    if (o < 0 || o >= f->outputs)
        return mcr_fail(m->ctx, MCR_BAD_CALL, "model: output %lld of %lld", (long long)o,
                        (long long)f->outputs);
    memset(coef, 0, sizeof *coef * (size_t)f->basis);
    for (int64_t g = 0; g < f->segments; g++)
        for (int64_t t = 0; t < f->segment[g].outputs; t++)
            if (f->segment[g].output[t] == o)
                memcpy(coef + f->segment[g].first, f->segment[g].coef + t * f->segment[g].count,
                       sizeof *coef * (size_t)f->segment[g].count);
    *offset = f->offset[o];
    for (int64_t i = 0; number && i < f->basis; i++)
        number[i] = f->object[i];
    return MCR_OK;
}

const mcr_data *mcr_model_objects(const mcr_model *m)
{
    return m->basis;
}
