/* train.c: training a model: the default kernel, limits and checkpoints around the learner, and the
 * training score.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model/model.h"
#include "model/table_kernel.h"

#include <math.h>
#include <string.h>

#include "base/resume.h"
#include "base/stream.h"
#include "base/team.h"

/* Variance of all values of a field of vectors, including the zeros of sparse ones. */
static mcr_status variance_of(mcr *ctx, mcr_field f, double *variance)
{
    double count = (double)f.count * (double)f.store->cols;
    double sum = 0, squares = 0, mean = 0, stored = 0;
    mcr_status s = mcr_team_sum(ctx, &count, 1);
    for (int pass = 0; pass < 2 && !s; pass++) {
        for (int64_t i = 0; i < f.count; i++) {
            mcr_vector of = mcr_field_vector(&f, i);
            for (int64_t e = 0; e < of.count; e++) {
                double x = mcr_vector_value(&of, e);
                if (pass == 0)
                    sum += x;
                else
                    squares += (x - mean) * (x - mean);
            }
            stored += pass ? (double)of.count : 0;
        }
        double all[] = {sum, squares, stored};
        s = mcr_team_sum(ctx, all, 3);
        mean = all[0] / count;
        *variance = (all[1] + (count - all[2]) * mean * mean) / count;
    }
    return s;
}

mcr_status mcr_default_gamma(double *gamma, mcr *ctx, const mcr_data *data)
{
    mcr_field_info info = MCR_INIT(mcr_field_info);
    if (mcr_data_fields(data) != 1 || mcr_data_field_info(data, 0, &info) ||
        !(info.kind & (MCR_DENSE | MCR_SPARSE)))
        return mcr_advise(
            ctx,
            mcr_fail(ctx, MCR_BAD_CALL,
                     "no kernel given: rbf is the default only where the data are vectors"),
            "kernel");
    double variance = 0;
    mcr_status s = variance_of(ctx, mcr_data_field(data, 0), &variance);
    *gamma = variance > 0 ? 1 / ((double)info.cols * variance) : 1;
    return s;
}

static mcr_status default_kernel(mcr_kernel **out, mcr *ctx, const mcr_data *data)
{
    double gamma;
    mcr_text text;
    mcr_text_init(&text, ctx);
    bool mixed = mcr_table_is_mixed(data);
    mcr_status s = mixed ? mcr_table_kernel(&text, ctx, data, MCR_TABLE_SUM, 1, 1, 0)
                         : mcr_default_gamma(&gamma, ctx, data);
    if (!s && !mixed) {
        mcr_text_string(&text, "rbf(gamma=");
        mcr_text_real(&text, gamma);
        mcr_text_string(&text, ")");
    }
    if (!s)
        s = text.status ? text.status : mcr_kernel_parse(out, ctx, text.bytes);
    mcr_text_free(&text);
    return s;
}

static int64_t count_features(const mcr_data *data)
{
    int64_t sum = 0;
    for (int64_t f = 0; f < mcr_data_fields(data); f++)
        sum += mcr_data_field(data, f).store->cols;
    return sum;
}

/* Predicts the training objects, from `first` on, for which the learner does not know the result,
 * and counts the correct ones. */
static mcr_status score_classes(mcr_model *m, const mcr_data *data, int64_t first)
{
    const mcr_fitted *f = m->fitted;
    int64_t n = mcr_data_count(data), open = 0, right = 0;
    int64_t *row = mcr_alloc(m->ctx, (size_t)n, sizeof *row);
    double *value = mcr_alloc(m->ctx, (size_t)n, sizeof *value);
    mcr_data *part = NULL;
    mcr_status s = row && value ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = first; i < n && !s; i++) {
        if (f->right && f->right[i] != 2)
            right += f->right[i];
        else
            row[open++] = i;
    }
    if (!s)
        s = mcr_data_select(&part, data, (mcr_rows){row, 0, open});
    if (!s)
        s = mcr_predict(m->ctx, m, part, value, NULL, NULL);
    for (int64_t i = 0; i < open && !s; i++)
        right += value[i] == (double)mcr_data_class_of(part)[i];
    /* If one of the processes that share the rows has no time left, none has a score. */
    bool stopped = s == MCR_STOPPED;
    double count[] = {(double)right, (double)(n - first), stopped};
    if (!s || stopped)
        s = mcr_team_sum(m->ctx, count, 3);
    if (!s && count[2] > 0)
        s = MCR_STOPPED;
    if (!s)
        m->report.accuracy = count[0] / count[1];
    mcr_data_free(part);
    mcr_free_all(m->ctx, row, value);
    return s;
}

/* For rows distributed over several processes: from sums over all of them. */
static mcr_status score_spread(mcr_model *m, const mcr_data *data)
{
    int64_t n = mcr_data_count(data), k = mcr_model_targets(m), vary = 0;
    const double *y = mcr_data_target_table(data), *f = m->fitted->trained;
    double mse = 0, r2 = 0;
    mcr_status s = MCR_OK;
    for (int64_t t = 0; t < k && !s; t++) {
        double sum[2] = {(double)n, 0}, square[2] = {0, 0};
        for (int64_t i = 0; i < n; i++)
            sum[1] += y[i * k + t];
        s = mcr_team_sum(m->ctx, sum, 2);
        for (int64_t i = 0; i < n; i++) {
            double error = y[i * k + t] - f[i * k + t], off = y[i * k + t] - sum[1] / sum[0];
            square[0] += error * error;
            square[1] += off * off;
        }
        if (!s)
            s = mcr_team_sum(m->ctx, square, 2);
        mse += square[0] / sum[0] / (double)k;
        r2 += square[1] > 0 ? 1 - square[0] / square[1] : 0;
        vary += square[1] > 0;
    }
    if (!s) {
        m->report.mse = mse;
        m->report.r2 = vary > 0 ? r2 / (double)vary : NAN;
    }
    return s;
}

static mcr_status score_values(mcr_model *m, const mcr_data *data)
{
    if (mcr_team_of_rows(m->ctx))
        return score_spread(m, data);
    double *value = m->fitted->trained;
    bool several = mcr_model_targets(m) > 1;
    mcr_metrics metrics = MCR_INIT(mcr_metrics);
    mcr_status s = MCR_OK;
    if (!value) {
        size_t all = (size_t)(mcr_data_count(data) * mcr_model_targets(m));
        value = mcr_alloc(m->ctx, all, sizeof *value);
        s = value
                ? mcr_predict(m->ctx, m, data, several ? NULL : value, several ? value : NULL, NULL)
                : MCR_NO_MEMORY;
    }
    if (!s)
        s = several ? mcr_model_score_targets(m->ctx, m, data, value, NULL, &metrics)
                    : mcr_model_score(m->ctx, m, data, value, &metrics);
    if (!s) {
        m->report.mse = metrics.mse;
        m->report.r2 = metrics.r2;
    }
    if (value != m->fitted->trained)
        mcr_free(m->ctx, value);
    return s;
}

static mcr_status score_training(mcr_model *m, const mcr_data *data, int64_t first)
{
    return m->report.task == MCR_CLASSIFY  ? score_classes(m, data, first)
           : m->report.task == MCR_REGRESS ? score_values(m, data)
                                           : MCR_OK;
}

/* Stores the targets of the basis, for slacks and margins. */
static mcr_status keep_targets(mcr_model *m)
{
    const mcr_fitted *f = m->fitted;
    bool classes = f->task == MCR_CLASSIFY, numbers = f->task == MCR_REGRESS;
    if ((!classes && !numbers) || mcr_model_targets(m) > 1)
        return MCR_OK;
    double *target = mcr_alloc(m->ctx, (size_t)f->basis, sizeof *target);
    for (int64_t i = 0; i < f->basis && target; i++)
        target[i] = classes ? mcr_data_class_of(m->basis)[i] : mcr_data_targets(m->basis)[i];
    mcr_status s = target ? mcr_fitted_keep(m->fitted, MCR_EXTRA_TARGET, target, f->basis)
                          : MCR_NO_MEMORY;
    mcr_free(m->ctx, target);
    return s;
}

/* The support vectors; borrowed ones are copied, so that the user may free or change the data. */
static mcr_status select_basis(mcr_model *m, const mcr_data *data)
{
    mcr_data *view = NULL;
    mcr_status s = mcr_data_pick(&view, data, (mcr_rows){m->fitted->object, 0, m->fitted->basis});
    if (!s)
        s = mcr_data_own(&m->basis, view);
    mcr_data_free(view);
    return s;
}

static mcr_status assemble(mcr_model *m, const mcr_data *data, int64_t first, bool unscored)
{
    mcr_status s = MCR_OK;
    int64_t k = m->fitted->classes, at;
    if (k > 0) {
        const char **name = mcr_alloc(m->ctx, (size_t)k, sizeof *name);
        if (!name)
            return MCR_NO_MEMORY;
        for (int64_t c = 0; c < k; c++)
            name[c] = mcr_data_class_name(data, c);
        s = mcr_model_set_classes(m, name, k);
        mcr_free(m->ctx, name);
    }
    if (!s)
        s = select_basis(m, data);
    if (!s && m->fitted->task == MCR_REGRESS && mcr_model_targets(m) > 1)
        s = mcr_model_name_targets(m, (const char *const *)data->target_names->name);
    if (!s && first == 0)
        s = keep_targets(m);
    if (!s)
        s = mcr_model_complete(m);
    if (!s)
        s = mcr_team_place(m->ctx, mcr_data_count(data), &at, &m->report.n);
    m->report.features = count_features(data);
    m->report.version = mcr_version();
    m->report.seed = mcr_seed(m->ctx);
    if (!s && !unscored)
        s = score_training(m, data, first);
    return s == MCR_STOPPED ? MCR_OK : s; /* the model is complete; only its score is unknown */
}

/* The coefficients of a start model refer to its training objects by number. */
static mcr_status check_start(const mcr_options *options, const mcr_data *data,
                              const mcr_model *start)
{
    if (strcmp(start->learner, options->type->name) != 0)
        return mcr_fail(options->ctx, MCR_BAD_CALL,
                        "%s: cannot start from a model of %s: the learner must be the same",
                        options->type->name, start->learner);
    if (options->type->no_start)
        return mcr_fail(options->ctx, MCR_BAD_CALL,
                        "%s: cannot use a model to start from: training from scratch is as fast",
                        options->type->name);
    if (start->report.n != mcr_data_count(data))
        return mcr_fail(options->ctx, MCR_BAD_CALL,
                        "%s: cannot start from a model of %lld objects: there are %lld now",
                        options->type->name, (long long)start->report.n,
                        (long long)mcr_data_count(data));
    return MCR_OK;
}

/* If the learner has optimised the kernel, the model gets the result. */
static void adopt_kernel(mcr_model *m)
{
    if (!m->fitted->kernel)
        return;
    mcr_kernel_free(m->kernel);
    m->kernel = m->fitted->kernel;
    m->fitted->kernel = NULL;
    m->report.kernel = mcr_kernel_text(m->kernel);
}

double mcr_time_limit(const mcr_options *options)
{
    const double *limit = mcr_options_at(options, MCR_OPTION_TIME_LIMIT, MCR_REAL);
    return limit && *limit > 0 && isfinite(*limit) ? *limit : 0;
}

#define SCORE_SECONDS 0.1

/* Learners check their own limits if they can return the best solution so far; the work before and
 * after (binding a kernel, a last pass, the score) is limited by the deadline of the context. */
static mcr_status learn_in_time(mcr_model *m, const mcr_options *options, const mcr_learning *in,
                                bool unscored)
{
    mcr *ctx = in->ctx;
    double limit = mcr_time_limit(options), began = mcr_now();
    mcr_deadline_set(ctx, limit);
    mcr_status s = mcr_learn(&m->fitted, options->type, in);
    if (s == MCR_STOPPED && limit > 0 && !ctx->user_stopped)
        mcr_fail(ctx, s, "the time limit of %.6g s was reached before there was a model to keep",
                 limit);
    double late = mcr_deadline_over(ctx); /* in one of the processes that share the rows: in all */
    if (!s)
        s = mcr_team_largest(ctx, &late, 1);
    if (!s && m->fitted->stop == MCR_STOP_INTERRUPTED && late > 0)
        m->fitted->stop = MCR_STOP_TIME;
    if (!s)
        adopt_kernel(m);
    /* Allows a little more time for the score. */
    double left = began + limit + SCORE_SECONDS - mcr_now();
    mcr_deadline_set_whole(ctx, limit > 0 ? fmax(left, 1e-6) : 0);
    if (!s)
        s = assemble(m, in->data, in->first, unscored);
    mcr_deadline_set(ctx, 0);
    return s;
}

/* Starts a checkpoint of this training, or continues from it. */
static mcr_status open_checkpoint(const mcr_options *options, const mcr_learning *in)
{
    const mcr_learner_type *type = options->type;
    mcr_text text;
    uint32_t sum = 0;
    if (!mcr_resume_wanted(in->ctx))
        return MCR_OK;
    if (type->no_checkpoint)
        return mcr_fail(in->ctx, MCR_BAD_CALL, "%s keeps no checkpoint: %s", type->name,
                        type->no_checkpoint);
    mcr_text_init(&text, in->ctx);
    mcr_text_format(&text, "%s|", type->name);
    mcr_options_print_problem(options, &text);
    mcr_text_format(&text, "|%s|%llu|%lld", mcr_kernel_text(in->kernel),
                    (unsigned long long)mcr_seed(in->ctx), (long long)in->first);
    if (in->start)
        mcr_text_format(&text, "|%lld %.17g %.17g", (long long)in->start->basis,
                        in->start->objective, in->start->offset[0]);
    mcr_status s = text.status ? text.status : mcr_data_sum(in->data, &sum);
    if (!s)
        s = mcr_resume_open(in->ctx, mcr_checksum_more(sum, text.bytes, (size_t)text.length));
    mcr_text_free(&text);
    return s;
}

/* If the learner has chosen an option from a range (ridge: lambda), the model names the value: with
 * it, the same model is trained. */
static mcr_status name_choice(mcr_model *m, const mcr_options *options)
{
    const mcr_usual *usual = &options->type->usual;
    double value = usual->own_path ? mcr_fitted_number(m->fitted, usual->option) : NAN;
    if (isnan(value) || !strchr(m->options, ':'))
        return MCR_OK;
    mcr_options *chosen = NULL;
    mcr_text text;
    mcr_text_init(&text, m->ctx);
    mcr_status s = mcr_options_copy(&chosen, options);
    if (!s)
        s = mcr_options_set_real(chosen, usual->option, value);
    if (!s)
        s = mcr_options_print(chosen, &text);
    char *named = s ? NULL : mcr_copy_text(m->ctx, text.bytes, (size_t)text.length);
    if (named) {
        mcr_free(m->ctx, m->options);
        m->report.options = m->options = named;
    } else if (!s) {
        s = MCR_NO_MEMORY;
    }
    mcr_options_close(chosen);
    mcr_text_free(&text);
    return s;
}

mcr_status mcr_model_train(mcr_model **out, const mcr_options *options, const mcr_kernel *kernel,
                           const mcr_learning *with, bool unscored)
{
    *out = NULL;
    mcr *ctx = options->ctx;
    double began = mcr_now();
    mcr_kernel *chosen = NULL;
    mcr_model *m = NULL;
    mcr_text text;
    mcr_text_init(&text, ctx);
    mcr_status s = options->type->check ? options->type->check(ctx, options->params) : MCR_OK;
    if (!s && kernel)
        chosen = mcr_kernel_retain(kernel);
    else if (!s)
        s = default_kernel(&chosen, ctx, with->data);
    if (!s)
        s = mcr_options_print(options, &text);
    if (!s)
        s = mcr_model_new(&m, ctx, chosen, options->type->name, text.bytes);
    mcr_learning in = *with;
    in.ctx = ctx;
    in.params = options->params;
    in.kernel = chosen;
    if (!s)
        s = open_checkpoint(options, &in);
    if (!s)
        s = learn_in_time(m, options, &in, unscored);
    if (!s)
        s = name_choice(m, options);
    mcr_resume_close(ctx);
    if (!s)
        m->report.seconds = mcr_now() - began;
    mcr_kernel_free(chosen);
    mcr_text_free(&text);
    return mcr_model_give(out, m, s);
}

/* Records the rarer class of the training data, because new data may differ. For numbers it is the
 * second class anyway. */
static mcr_status keep_positive(mcr_model *m, const mcr_data *data)
{
    double positive = (double)mcr_data_positive(data);
    if (m->report.task != MCR_CLASSIFY || positive < 0 ||
        (m->classes == 2 && positive == 1 && !data->positive &&
         mcr_data_target_kind(data) != MCR_WORD_TARGETS))
        return MCR_OK;
    return mcr_fitted_keep(m->fitted, MCR_EXTRA_POSITIVE, &positive, 1);
}

mcr_status mcr_train(mcr_model **out, const mcr_training *how)
{
    const mcr_options *options = how->options;
    double began = mcr_now();
    mcr_scaling *scaling = NULL;
    mcr_data *data = NULL;
    *out = NULL;
    mcr_status s = how->start ? check_start(options, how->data, how->start) : MCR_OK;
    if (!s && !how->scaled && mcr_scaling_needed(how->data, options->scale))
        s = mcr_scaling_learn(&scaling, how->data, options->scale);
    if (!s)
        s = mcr_scaling_apply(&data, scaling, how->data);
    mcr_learning with = {.data = data,
                         .start = how->start ? how->start->fitted : NULL,
                         .start_kernel = how->start ? how->start->kernel : NULL,
                         .gram = how->gram};
    if (!s)
        s = mcr_model_train(out, options, how->kernel, &with, how->unscored);
    if (!s)
        s = keep_positive(*out, how->data);
    if (!s) {
        (*out)->scaling = scaling;
        scaling = NULL;
        (*out)->layout = mcr_layout_retain(how->data->layout);
        (*out)->report.seconds = mcr_now() - began;
    }
    mcr_scaling_free(scaling);
    mcr_data_free(data);
    return mcr_model_give(out, *out, s);
}

mcr_status mcr_fit(mcr_model **out, const mcr_options *options, const mcr_kernel *kernel,
                   const mcr_data *data, const mcr_model *start)
{
    return mcr_train(
        out, &(mcr_training){.options = options, .kernel = kernel, .data = data, .start = start});
}
