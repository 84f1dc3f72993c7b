/* update.c: continuing from a model with more data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "model/model.h"

/* ---- options ----------------------------------------------------------------------------------*/

/* Splits one option of a model's text, "name=value" or "name=\"value\"", into name and value in
 * `buffer`, both NUL-terminated; returns the remaining text, NULL: invalid. */
static const char *next_option(const char *text, char *buffer, char **value)
{
    size_t name = strcspn(text, "=");
    if (!text[name])
        return NULL;
    memcpy(buffer, text, name);
    buffer[name] = '\0';
    char *to = *value = buffer + name + 1;
    const char *p = text + name + 1;
    bool quoted = *p == '"';
    for (p += quoted; *p && *p != (quoted ? '"' : ' '); p++) {
        if (quoted && *p == '\\' && p[1])
            p++;
        *to++ = *p;
    }
    *to = '\0';
    if (quoted && *p != '"')
        return NULL;
    p += quoted;
    return p + (*p == ' ');
}

mcr_status mcr_options_of(mcr_options **out, mcr *ctx, const mcr_model *model)
{
    const char *text = model->options;
    char *buffer = mcr_alloc(ctx, strlen(text) + 2, 1), *value;
    *out = NULL;
    mcr_status s = buffer ? mcr_options_open(out, ctx, model->learner) : MCR_NO_MEMORY;
    while (!s && *text) {
        text = next_option(text, buffer, &value);
        s = text ? mcr_options_set(*out, buffer, value)
                 : mcr_fail(ctx, MCR_BAD_DATA, "the model's options are damaged: \"%.100s\"",
                            model->options);
    }
    mcr_free(ctx, buffer);
    if (s) {
        mcr_options_close(*out);
        *out = NULL;
    }
    return s;
}

/* ---- more data --------------------------------------------------------------------------------*/

/* Coefficients for one kernel are meaningless in the feature space of another. */
static mcr_status check_kernel(const mcr_options *options, const mcr_kernel *kernel,
                               const mcr_model *model)
{
    if (!kernel || strcmp(mcr_kernel_text(kernel), mcr_kernel_text(model->kernel)) == 0)
        return MCR_OK;
    return mcr_fail(options->ctx, MCR_BAD_CALL,
                    "%s: the model continues with its own kernel, %.200s: omit the kernel, or "
                    "train on all data with the other one",
                    options->type->name, mcr_kernel_text(model->kernel));
}

static mcr_status check_model(const mcr_options *options, const mcr_kernel *kernel,
                              const mcr_data *data, const mcr_model *model)
{
    const char *learner = options->type->name;
    if (strcmp(model->learner, learner) != 0)
        return mcr_fail(options->ctx, MCR_BAD_CALL,
                        "%s: cannot continue a model of %s: the learner must be the same", learner,
                        model->learner);
    if (!options->type->online)
        return mcr_fail(options->ctx, MCR_BAD_CALL,
                        "%s: cannot continue with more data: only perceptron and pegasos can",
                        learner);
    if (model->report.n > INT64_MAX / 4)
        return mcr_fail(options->ctx, MCR_BAD_DATA,
                        "%s: the model is damaged (its count of objects)", learner);
    if (mcr_data_target_kind(data) == MCR_NO_TARGETS)
        return mcr_fail(options->ctx, MCR_BAD_DATA, "%s: the data have no labels", learner);
    return check_kernel(options, kernel, model);
}

/* The model's objects and the new ones. */
static mcr_status join(mcr_data **out, const mcr_options *options, const mcr_data *data,
                       const mcr_model *model)
{
    mcr *ctx = options->ctx;
    int64_t *match = NULL;
    mcr_status s = mcr_model_match(&match, ctx, model, data);
    for (int64_t c = 0; c < mcr_data_classes(data) && !s; c++)
        if (match[c] < 0)
            s = mcr_fail(ctx, MCR_BAD_DATA, "%s: the model has no class \"%.100s\"",
                         options->type->name, mcr_data_class_name(data, c));
    if (!s)
        s = mcr_data_extend(out, model->basis, data, (const char *const *)model->class_name,
                            model->classes, match);
    mcr_free(ctx, match);
    return s;
}

/* Numbers of the objects among all objects seen so far. */
static void number_objects(mcr_model *m, const mcr_model *from)
{
    for (int64_t i = 0; i < m->fitted->basis; i++) {
        int64_t at = m->fitted->object[i], old = from->fitted->basis;
        m->fitted->object[i] = at < old ? from->fitted->object[at] : from->report.n + at - old;
    }
    m->report.n += from->report.n - from->fitted->basis;
}

mcr_status mcr_fit_more(mcr_model **out, const mcr_options *options, const mcr_kernel *kernel,
                        const mcr_data *data, const mcr_model *model)
{
    mcr *ctx = options->ctx;
    mcr_data *all = NULL;
    mcr_fitted start = {0};
    int64_t *own = NULL;
    *out = NULL;
    mcr_data *ready = NULL;
    mcr_status s = check_model(options, kernel, data, model);
    if (!s)
        s = mcr_model_prepare(&ready, ctx, model, data);
    if (!s)
        s = join(&all, options, ready, model);
    if (!s) {
        start = *model->fitted;
        own = mcr_alloc(ctx, (size_t)start.basis, sizeof *own);
        s = own ? MCR_OK : MCR_NO_MEMORY;
    }
    for (int64_t i = 0; i < start.basis && !s; i++)
        own[i] = i;
    start.object = own;
    mcr_learning with = {
        .data = all, .start = &start, .start_kernel = model->kernel, .first = start.basis};
    if (!s)
        s = mcr_model_train(out, options, model->kernel, &with, false);
    double positive = (double)mcr_model_positive(model);
    if (!s && positive >= 0)
        s = mcr_fitted_keep((*out)->fitted, MCR_EXTRA_POSITIVE, &positive, 1);
    if (!s && model->scaling)
        s = mcr_scaling_copy(&(*out)->scaling, model->scaling);
    if (!s) {
        (*out)->layout = mcr_layout_retain(model->layout);
        number_objects(*out, model);
    }
    mcr_free(ctx, own);
    mcr_data_free(ready);
    mcr_data_free(all);
    return mcr_model_give(out, *out, s);
}
