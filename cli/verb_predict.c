/* verb_predict.c: mercer predict: the predictions of a model, and their evaluation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"
#include "cli.h"
#include "evaluate.h"
#include "json.h"
#include "learner.h"
#include "output.h"
#include "predict.h"
#include "progress.h"
#include "report.h"
#include "stream.h"
#include "team.h"
#include "text.h"

/* ---- before the work --------------------------------------------------------------------------*/

static int is_number(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    return end != text && !*end && isfinite(value);
}

static int wants_draws(const predict_job *job)
{
    return job->call->sample != INT64_MIN;
}

static int wants_interval(const predict_job *job)
{
    return !isnan(job->call->interval);
}

/* Numbers have two interval ends, classes one flag each. */
static int wants_set(const predict_job *job)
{
    return wants_interval(job) && job->apply.report->task == MCR_CLASSIFY;
}

static int check_words(const predict_job *job)
{
    const cli_apply *a = &job->apply;
    for (int64_t k = 0; k < mcr_model_classes(a->model); k++)
        if (!job->call->scores && !job->call->proba && !wants_interval(job) &&
            cli_output_is_binary(a->path) && !is_number(mcr_model_class_name(a->model, k)))
            return cli_refuse(
                a->c, "-o: .npy files hold numbers, and class \"%s\" is not one: write .csv",
                mcr_model_class_name(a->model, k));
    return 0;
}

static int check_call(const predict_job *job)
{
    const cli_apply *a = &job->apply;
    cli *c = a->c;
    if (job->call->scores + job->call->proba + job->call->std + wants_draws(job) +
            wants_interval(job) >
        1)
        return cli_refuse(c, "--scores, --proba, --std, --interval and --sample: give one of them");
    if (cli_team_of_rows(c) && (wants_draws(job) || wants_interval(job)))
        return cli_refuse(c, "--interval and --sample are for one process: run mercer");
    double percent = job->call->interval;
    if (wants_interval(job) && percent > 0 && percent < 1)
        return cli_refuse(c, "--interval %g: it is in per cent; did you mean %g?", percent,
                          100 * percent);
    if (wants_interval(job) && !(percent >= 1 && percent < 100))
        return cli_refuse(c, "--interval %g: it must be at least 1 and less than 100 (per cent)",
                          percent);
    if (job->call->calibration && !wants_interval(job) && !job->call->threshold)
        return cli_refuse(c, "--calibration is for --interval and --threshold");
    if (job->call->threshold && !job->call->calibration &&
        mcr_threshold_learns(job->call->threshold) &&
        !(job->call->threshold[0] == 'c' && mcr_model_has_probability(a->model)))
        return cli_refuse(c,
                          "--threshold %s must be learnt: give it to fit, or use --calibration "
                          "FILE with objects that %s was not trained on",
                          job->call->threshold, cli_word(c, 0));
    if (wants_interval(job) && !job->call->calibration && !mcr_model_has_interval(a->model))
        return cli_refuse(c,
                          "--interval: %s was not calibrated: fit it with --calibrate 0.2, or give "
                          "--calibration FILE with objects that it was not trained on",
                          cli_word(c, 0));
    if (job->call->positive && a->report->task != MCR_CLASSIFY && a->report->task != MCR_DETECT)
        return cli_refuse(c, "--positive: %s does not predict classes", cli_word(c, 0));
    if (a->report->task == MCR_TRANSFORM)
        return cli_refuse(c,
                          "%s is a model of %s, which predicts nothing (mercer transform computes "
                          "its coordinates)",
                          cli_word(c, 0), a->report->learner);
    if ((job->call->std || wants_draws(job)) && !mcr_model_has_std(a->model))
        return cli_refuse(c,
                          "%s: %s is a model of %s, which has no standard deviations (only gp for "
                          "regression has them)",
                          job->call->std ? "--std" : "--sample", cli_word(c, 0),
                          a->report->learner);
    if (job->call->proba && !mcr_model_classes(a->model))
        return cli_refuse(c, "--proba: %s does not predict classes", cli_word(c, 0));
    if (job->call->proba && !mcr_model_has_probability(a->model))
        return cli_learner_has(a->report->learner, "probability")
                   ? cli_refuse(c, "--proba: %s has no probabilities (fit it with --probability)",
                                cli_word(c, 0))
                   : cli_refuse(c,
                                "--proba: %s is a model of %s, which has no probabilities (svm "
                                "with --probability, logistic, gp and knn have them)",
                                cli_word(c, 0), a->report->learner);
    return check_words(job);
}

void cli_predict_name(predict_job *job)
{
    const predict_call *call = job->call;
    cli_apply *a = &job->apply;
    int outputs = call->scores || job->targets > 1;
    a->cols = outputs               ? mcr_model_outputs(a->model)
              : call->proba         ? mcr_model_classes(a->model)
              : call->std           ? 2
              : wants_set(job)      ? mcr_model_classes(a->model)
              : wants_interval(job) ? 3
              : wants_draws(job)    ? call->sample
                                    : 1;
    if (wants_draws(job)) /* numbered */
        return;
    a->name = cli_alloc((size_t)a->cols, sizeof *a->name);
    a->name[0] = a->report->task == MCR_REGRESS   ? "value"
                 : a->report->task == MCR_CLUSTER ? "cluster"
                                                  : "label";
    if (call->std)
        a->name[1] = "std";
    if (wants_interval(job) && !wants_set(job)) {
        a->name[1] = "lower";
        a->name[2] = "upper";
    }
    for (int64_t j = 0; j < a->cols && (outputs || call->proba || wants_set(job)); j++)
        a->name[j] = outputs ? mcr_model_output_name(a->model, j)
                             : mcr_model_class_name(a->model, j);
}

/* Calibrates on objects that the model was not trained on. */
static int calibrate(predict_job *job)
{
    cli_apply *a = &job->apply;
    mcr_data *held = NULL;
    const char *path = job->call->calibration;
    int bad = path ? cli_read_data(a->c, &held, path) : 0;
    if (!bad && wants_interval(job))
        bad = cli_fail(a->c, mcr_model_calibrate(a->c->ctx, a->model, held));
    if (!bad && job->call->threshold)
        bad = cli_fail(a->c, mcr_threshold_choose(a->c->ctx, a->model, held, job->call->threshold));
    mcr_data_free(held);
    return bad;
}

/* The targets of detection, given the class of anomalies. */
static int mark_anomaly(predict_job *job)
{
    cli_apply *a = &job->apply;
    mcr_data *marked = NULL;
    int bad = cli_fail(a->c, mcr_data_mark(&marked, a->data, job->call->positive));
    if (!bad) {
        mcr_data_free(a->data);
        a->data = marked;
    }
    return bad;
}

static int open_job(predict_job *job)
{
    cli_apply *a = &job->apply;
    int bad = check_call(job);
    if (!bad && (job->call->calibration || job->call->threshold))
        bad = calibrate(job);
    if (!bad)
        bad = cli_apply_read(a);
    if (!bad && job->call->positive && a->report->task == MCR_DETECT)
        bad = mark_anomaly(job);
    if (!bad)
        bad = cli_evaluation_open(&job->evaluation, a->c, a->model, a->data,
                                  a->report->task == MCR_CLASSIFY ? job->call->positive : NULL);
    if (bad)
        return bad;
    job->evaluation.metrics = job->call->metric;
    if (job->call->metric && mcr_data_target_kind(a->data) == MCR_NO_TARGETS)
        return cli_refuse(a->c, "--metric: the data have no targets");
    if ((bad = cli_evaluation_check_names(a->c, &job->evaluation)))
        return bad;
    job->targets = a->report->targets > 1 ? a->report->targets : 1;
    cli_predict_name(job);
    return cli_apply_table(a, "draw", a->cols == 1 && !wants_draws(job));
}

/* ---- predicting -------------------------------------------------------------------------------*/

static mcr_status compute_interval(predict_job *job, const mcr_data *part, int64_t first,
                                   int64_t rows)
{
    const cli_apply *a = &job->apply;
    mcr *ctx = a->c->ctx;
    double level = job->call->interval / 100, *value = job->value + first;
    int64_t k = a->cols;
    if (wants_set(job)) {
        unsigned char *set = job->set + first * k;
        mcr_status s = mcr_predict_set(ctx, a->model, part, level, value, set);
        for (int64_t i = 0; i < rows * k && s == MCR_OK; i++)
            a->buffer[i] = set[i];
        return s;
    }
    double *low = job->end[0] + first, *high = job->end[1] + first;
    mcr_status s = mcr_predict_interval(ctx, a->model, part, level, value, low, high);
    for (int64_t i = 0; i < rows && s == MCR_OK; i++) {
        a->buffer[3 * i] = value[i];
        a->buffer[3 * i + 1] = low[i];
        a->buffer[3 * i + 2] = high[i];
    }
    return s;
}

mcr_status cli_predict_compute(void *arg, const mcr_data *part, int64_t first, int64_t rows)
{
    predict_job *job = arg;
    const predict_call *call = job->call;
    const cli_apply *a = &job->apply;
    mcr *ctx = a->c->ctx;
    double *value = job->value + first * job->targets;
    if (job->targets > 1)
        return mcr_predict(ctx, a->model, part, NULL, value, NULL);
    if (wants_interval(job))
        return compute_interval(job, part, first, rows);
    int64_t outputs = mcr_model_outputs(a->model), classes = mcr_model_classes(a->model);
    double *score = job->score ? job->score + first * outputs : call->scores ? a->buffer : NULL;
    double *proba = job->proba ? job->proba + first * classes : call->proba ? a->buffer : NULL;
    mcr_status status = call->std ? mcr_predict_std(ctx, a->model, part, value, job->std)
                                  : mcr_predict(ctx, a->model, part, value, score, proba);
    if (status == MCR_OK && job->score && call->scores)
        memcpy(a->buffer, score, sizeof *score * (size_t)(rows * outputs));
    if (status == MCR_OK && job->proba && call->proba)
        memcpy(a->buffer, proba, sizeof *proba * (size_t)(rows * classes));
    if (status == MCR_OK && wants_draws(job))
        status = mcr_predict_draws(ctx, a->model, part, a->cols, a->buffer);
    for (int64_t i = 0; i < rows && job->std && status == MCR_OK; i++) {
        a->buffer[2 * i] = value[i];
        a->buffer[2 * i + 1] = job->std[i];
    }
    return status;
}

static int put_classes(const predict_job *job, const double *value, int64_t rows)
{
    const cli_apply *a = &job->apply;
    int binary = cli_output_is_binary(a->path), bad = 0;
    for (int64_t i = 0; i < rows; i++)
        job->word[i] = mcr_model_class_name(a->model, (int64_t)value[i]);
    for (int64_t i = 0; binary && !bad && i < rows; i++) {
        double number = strtod(job->word[i], NULL);
        bad = cli_output_rows(a->output, &number, 1, 1);
    }
    return binary ? bad : cli_output_words(a->output, job->word, rows);
}

int cli_predict_put(void *arg, int64_t first, int64_t rows)
{
    const predict_job *job = arg;
    const cli_apply *a = &job->apply;
    const double *value = job->value + first * job->targets;
    int bad = 0;
    if (!a->output)
        return 0;
    if (a->buffer)
        return cli_output_rows(a->output, a->buffer, rows, a->cols);
    if (a->report->task == MCR_CLASSIFY)
        return put_classes(job, value, rows);
    if (a->report->task != MCR_CLUSTER)
        return cli_output_rows(a->output, value, rows, job->targets);
    for (int64_t i = 0; !bad && i < rows; i++) {
        double number = value[i] + 1; /* people count from 1 */
        bad = cli_output_rows(a->output, &number, 1, 1);
    }
    return bad;
}

/* Scores cost more than decisions, which are computed in float if that suffices. So metrics of
 * scores are computed if requested, if scores are needed anyway, or if there is little work.
 * Detection is evaluated by its scores, so they may cost more. */
static int keep_scores(predict_job *job)
{
    const double little[2] = {2e7, 2e8}; /* multiply-adds: classes, detection */
    const double exponential = 16;       /* of one kernel value, in multiply-adds */
    const int64_t most = (int64_t)1 << 25;
    const cli_apply *a = &job->apply;
    const predict_call *call = job->call;
    cli_evaluation *e = &job->evaluation;
    mcr_task task = a->report->task;
    int64_t outputs = mcr_model_outputs(a->model), classes = mcr_model_classes(a->model);
    int has_proba = classes > 0 && mcr_model_has_probability(a->model);
    double work = (double)a->all * (double)mcr_model_support(a->model) *
                  ((double)a->report->features + exponential);
    if (!e->what.target || call->std || wants_draws(job) || wants_interval(job) ||
        (task != MCR_CLASSIFY && task != MCR_DETECT))
        return 0;
    if (!cli_evaluation_ranks(e) &&
        (e->metrics || !(call->scores || has_proba || work < little[task == MCR_DETECT])))
        return 0;
    /* One-vs-one has no score per class. */
    int64_t positive, negative = 0;
    mcr_model_sides(a->model, 0, &positive, &negative);
    int per_class = outputs == 1 || (outputs == classes && negative < 0);
    if (has_proba && a->all <= most / classes &&
        !(job->proba = cli_alloc_matrix(a->c, a->n, classes, sizeof *job->proba)))
        return 1;
    if (per_class && (!has_proba || outputs == 1) && a->all <= most / outputs &&
        !(job->score = cli_alloc_matrix(a->c, a->n, outputs, sizeof *job->score)))
        return 1;
    e->what.score = job->score;
    e->what.proba = job->proba;
    return 0;
}

static int predict(predict_job *job)
{
    cli_apply *a = &job->apply;
    const predict_call *call = job->call;
    int64_t at_once = wants_draws(job) ? a->n : cli_apply_block(a); /* samples are drawn jointly */
    int other = call->scores || call->proba || call->std || wants_draws(job) || wants_interval(job);
    if (!(job->value = cli_alloc_matrix(a->c, a->n, job->targets, sizeof *job->value)))
        return 1;
    if (call->std && !(job->std = cli_alloc_matrix(a->c, at_once, 1, sizeof *job->std)))
        return 1;
    if (other && job->targets == 1 &&
        !(a->buffer = cli_alloc_matrix(a->c, at_once, a->cols, sizeof *a->buffer)))
        return 1;
    for (int e = 0; e < 2 && wants_interval(job) && !wants_set(job); e++)
        if (!(job->end[e] = cli_alloc_matrix(a->c, a->n, 1, sizeof **job->end)))
            return 1;
    if (wants_set(job) && !(job->set = cli_alloc_matrix(a->c, a->n, a->cols, 1)))
        return 1;
    if (keep_scores(job))
        return 1;
    job->word = cli_alloc((size_t)at_once, sizeof *job->word);
    return cli_apply_run(a, at_once, cli_predict_compute, cli_predict_put, job);
}

static int can_stream(const predict_job *job)
{
    const cli_apply *a = &job->apply;
    return !cli_team_of_rows(a->c) && a->c->words.count == 2 && !cli_output_is_binary(a->path) &&
           !job->call->metric && !job->call->std && !wants_draws(job) && !wants_interval(job) &&
           a->report->targets <= 1 && !(job->call->positive && a->report->task == MCR_DETECT) &&
           cli_stream_is_wanted(a->c, cli_word(a->c, 1));
}

/* ---- how good it is ---------------------------------------------------------------------------*/

static int is_known(const mcr_model *model, const char *name)
{
    for (int64_t k = 0; k < mcr_model_classes(model); k++)
        if (cli_same_class(mcr_model_class_name(model, k), name))
            return 1;
    return 0;
}

static void warn_of_unknown(const cli_apply *a)
{
    const char *first = NULL;
    int64_t unknown = 0;
    char text[256], more[64] = "";
    for (int64_t k = 0; k < mcr_data_classes(a->data); k++) {
        const char *name = mcr_data_class_name(a->data, k);
        if (is_known(a->model, name))
            continue;
        first = first ? first : name;
        unknown++;
    }
    if (!unknown)
        return;
    if (unknown > 1)
        snprintf(more, sizeof more, " and %" PRId64 " more", unknown - 1);
    snprintf(text, sizeof text, "the model does not know class \"%.100s\"%s: counted as wrong%s",
             first, more,
             a->c->reading.classes.count ? " (--class NAME=FILE says which class a file holds)"
                                         : "");
    cli_progress_log(a->c, MCR_LOG_WARNING, text);
}

/* Inliers are +1 and outliers -1. Other targets are ambiguous: 1 is often the anomaly. */
static int has_sides(const mcr_data *data)
{
    const double *target = mcr_data_targets(data);
    if (mcr_data_target_kind(data) != MCR_REAL_TARGETS)
        return 0;
    for (int64_t i = 0; i < mcr_data_count(data); i++)
        if (target[i] != 1 && target[i] != -1)
            return 0;
    return 1;
}

static void say_sides(const predict_job *job)
{
    const cli_apply *a = &job->apply;
    int64_t outside = 0;
    char text[192];
    for (int64_t i = 0; i < a->n; i++)
        outside += job->value[i] < 0;
    snprintf(text, sizeof text,
             "the targets are not compared: %s predicts +1 for inside and -1 for outside, and the "
             "targets are different; %" PRId64 " of %" PRId64 " objects are outside",
             a->report->learner, outside, a->n);
    cli_progress_log(a->c, MCR_LOG_WARNING, text);
}

/* With several processes: collects all results, for the metrics. */
static int gather(predict_job *job)
{
    cli_apply *a = &job->apply;
    cli_evaluation *e = &job->evaluation;
    cli *c = a->c;
    double names = (double)e->names;
    struct {
        double **number;
        int64_t cols;
    } list[] = {{&job->value, job->targets},
                {&e->target, 1},
                {&job->score, mcr_model_outputs(a->model)},
                {&job->proba, mcr_model_classes(a->model)},
                {&job->weight, 1}};
    if (e->what.weight) {
        job->weight = cli_alloc((size_t)a->n, sizeof *job->weight);
        memcpy(job->weight, e->what.weight, sizeof *job->weight * (size_t)a->n);
    }
    mcr_status status = c->team->largest(c, &names, 1);
    for (size_t i = 0; i < sizeof list / sizeof *list && status == MCR_OK; i++)
        if (*list[i].number)
            status = c->team->gather(c, list[i].number, a->n * list[i].cols);
    for (; e->names < (int64_t)names && status == MCR_OK; e->names++)
        e->name[e->names] = e->name[e->names] ? e->name[e->names] : "";
    e->what.target = e->what.target ? e->target : NULL;
    e->what.score = job->score;
    e->what.proba = job->proba;
    e->what.weight = job->weight;
    e->what.n = a->n = a->all;
    return cli_fail(c, status);
}

/* Targets that cannot be compared are reported, but do not prevent predictions. */
static int measure(predict_job *job)
{
    const cli_apply *a = &job->apply;
    cli_evaluation *e = &job->evaluation;
    mcr *ctx = a->c->ctx;
    mcr_status status = MCR_OK;
    if (mcr_data_target_kind(a->data) == MCR_NO_TARGETS || a->n == 0)
        return e->metrics ? cli_refuse(a->c, "--metric: the data have no targets") : 0;
    if (a->report->task == MCR_DETECT && !has_sides(a->data)) {
        say_sides(job);
        return 0;
    }
    if (job->targets > 1 && cli_team_of_rows(a->c)) {
        cli_progress_log(a->c, MCR_LOG_WARNING,
                         "several targets: several processes do not compare them");
        return 0;
    }
    if (job->targets > 1) {
        job->each = cli_alloc((size_t)job->targets, sizeof *job->each);
        job->metrics = MCR_INIT(mcr_metrics);
        for (int64_t t = 0; t < job->targets; t++)
            job->each[t] = job->metrics;
        status = mcr_model_score_targets(ctx, a->model, a->data, job->value, job->each,
                                         &job->metrics);
    } else if (!cli_team_of_rows(a->c)) {
        status = mcr_model_truth(ctx, a->model, a->data, e->target);
    } else if (!e->what.target) {
        return 0;
    }
    if (status == MCR_NO_MEMORY)
        return cli_fail(a->c, status);
    if (status != MCR_OK) {
        cli_progress_log(a->c, MCR_LOG_WARNING, mcr_message(ctx));
        return 0;
    }
    e->what.value = job->value;
    e->what.lower = job->end[0];
    e->what.upper = job->end[1];
    job->has_metrics = 1;
    if (a->report->task == MCR_CLASSIFY)
        warn_of_unknown(a);
    return job->targets > 1 ? 0 : cli_evaluation_check(a->c, e);
}

/* The fraction of targets inside their intervals or sets, and the mean size of these. */
static int coverage(const predict_job *job, double *covered, double *size)
{
    const cli_apply *a = &job->apply;
    int64_t k = a->cols;
    *covered = *size = 0;
    if (!wants_interval(job) || a->n == 0)
        return 0;
    for (int64_t i = 0; i < a->n; i++) {
        int64_t own = -1;
        for (int64_t c = 0; c < k && wants_set(job); c++) {
            *size += job->set[i * k + c];
            if (mcr_data_class_of(a->data) &&
                cli_same_class(mcr_model_class_name(a->model, c),
                               mcr_data_class_name(a->data, mcr_data_class_of(a->data)[i])))
                own = c;
        }
        if (wants_set(job)) {
            *covered += own >= 0 && job->set[i * k + own];
            continue;
        }
        double y = mcr_data_targets(a->data)[i];
        *size += job->end[1][i] - job->end[0][i];
        *covered += y >= job->end[0][i] && y <= job->end[1][i];
    }
    *covered /= (double)a->n;
    *size /= (double)a->n;
    return 1;
}

static void metrics_json(cli_json *j, const predict_job *job)
{
    const cli_apply *a = &job->apply;
    double covered, size;
    cli_json_object(j, "metrics");
    if (job->targets > 1)
        cli_metrics_json(j, &job->metrics);
    else
        cli_evaluation_json(j, &job->evaluation);
    if (coverage(job, &covered, &size)) {
        if (wants_set(job))
            cli_json_real(j, "coverage", covered);
        cli_json_real(j, wants_set(job) ? "set_size" : "interval_width", size);
    }
    if (job->targets > 1)
        cli_json_list(j, "targets");
    for (int64_t t = 0; t < job->targets && job->targets > 1; t++) {
        cli_json_object(j, NULL);
        cli_json_text(j, "name", mcr_model_output_name(a->model, t));
        cli_metrics_json(j, &job->each[t]);
        cli_json_end(j);
    }
    if (job->targets > 1)
        cli_json_end(j);
    cli_json_end(j);
}

static void print_json(const predict_job *job)
{
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_apply_json(&j, &job->apply);
    cli_evaluation_threshold_json(&j, job->apply.model);
    if (job->has_metrics)
        metrics_json(&j, job);
    else
        cli_json_null(&j, "metrics");
    cli_json_end(&j);
}

/* For constant targets r2 is undefined. */
static const char *r2_text(char text[32], double r2)
{
    if (isnan(r2))
        return "undefined";
    snprintf(text, 32, "%.6g", r2);
    return text;
}

static void say_targets(const predict_job *job)
{
    const mcr_metrics *m = &job->metrics;
    char count[64], r2[32];
    for (int64_t t = 0; t < job->targets; t++)
        fprintf(stderr, "%s: mse %.6g, mae %.6g, r2 %s\n",
                mcr_model_output_name(job->apply.model, t), job->each[t].mse, job->each[t].mae,
                r2_text(r2, job->each[t].r2));
    fprintf(stderr, "mse %.6g, mae %.6g, r2 %s (%s, mean of %" PRId64 " targets)\n", m->mse, m->mae,
            r2_text(r2, m->r2), cli_count_text(count, m->n, "object"), job->targets);
}

/* On standard error: standard output holds the predictions. */
static void say_metrics(const predict_job *job)
{
    double covered, size;
    fflush(stdout);
    if (coverage(job, &covered, &size))
        fprintf(stderr, "%.6g of the targets are in their %s (%g wanted), mean %s %.6g\n", covered,
                wants_set(job) ? "sets" : "intervals", job->call->interval / 100,
                wants_set(job) ? "size" : "width", size);
    cli_evaluation_say_threshold(stderr, job->apply.model);
    if (job->targets == 1)
        cli_evaluation_say(stderr, &job->evaluation);
    else
        say_targets(job);
}

static int run(cli *c, const void *values)
{
    predict_job job = {.call = values};
    cli_seen so_far = {0};
    int bad = cli_apply_open(&job.apply, c, job.call->output);
    int streams = !bad && can_stream(&job);
    if (!bad && streams)
        bad = check_call(&job);
    if (!bad && streams && (job.call->calibration || job.call->threshold))
        bad = calibrate(&job);
    if (!bad)
        bad = streams ? cli_predict_stream(&job, &so_far) : open_job(&job);
    if (!bad && !streams)
        bad = predict(&job);
    int predicted = !bad;
    if (!bad && cli_team_of_rows(c))
        bad = gather(&job);
    if (!bad && !streams)
        bad = measure(&job);
    if (!bad && job.has_metrics && job.targets == 1)
        bad = cli_evaluation_compute(c, &job.evaluation, 1);
    if (predicted && cli_apply_commit(&job.apply)) /* the disk writes while metrics are computed */
        bad = 1;
    if (!bad && c->common.json)
        print_json(&job);
    else if (!bad && job.has_metrics && !c->common.quiet)
        say_metrics(&job);
    cli_evaluation_close(&job.evaluation);
    free(job.score);
    free(job.proba);
    free(job.weight);
    free(job.word);
    free(job.std);
    free(job.end[0]);
    free(job.end[1]);
    free(job.set);
    free(job.value);
    free(job.each);
    free(so_far.value);
    free(so_far.target);
    free(so_far.weight);
    cli_apply_close(&job.apply);
    return bad;
}

#define AT(field) offsetof(predict_call, field)

static const cli_option options[] = {
    CLI_OUTPUT_OPTION(AT(output), "write to .npy, .csv or text; standard output by default"),
    {.name = "scores",
     .type = CLI_FLAG,
     .offset = AT(scores),
     .help = "decision values: one for two classes, else one per pair or class"},
    {.name = "proba",
     .type = CLI_FLAG,
     .offset = AT(proba),
     .help = "a probability for each class; an svm needs --probability when fitted"},
    {.name = "std",
     .type = CLI_FLAG,
     .offset = AT(std),
     .help = "the value and its standard deviation (models of gp)"},
    {.name = "interval",
     .type = CLI_REAL,
     .offset = AT(interval),
     .argument = "P",
     .min = 0,
     .max = 100,
     .help = "intervals that cover P % of new targets; for classes, prediction sets"},
    CLI_EVALUATION_OPTIONS(predict_call, metric, positive),
    {.name = "threshold",
     .type = CLI_TEXT,
     .offset = AT(threshold),
     .argument = "RULE",
     .help = "two classes: 0.3, cost:FN=10,FP=1 or fpr:0.01, in place of the model's"},
    {.name = "calibration",
     .type = CLI_TEXT,
     .offset = AT(calibration),
     .argument = "FILE",
     .help = "objects with targets, not of training, for --interval and --threshold"},
    {.name = "sample",
     .type = CLI_INT,
     .offset = AT(sample),
     .argument = "N",
     .min = 1,
     .max = 1e6,
     .help = "N functions drawn from the posterior of a model of gp, one column each"},
    CLI_LAST_OPTION,
};

static const char *const words[] = {"MODEL", "DATA...", NULL};

const cli_verb cli_verb_predict = {
    .name = "predict",
    .summary = "predict new objects with a model",
    .usage = "MODEL DATA... [-o FILE] [--scores|--proba|--std|--interval P]",
    .about = "Predicts the class or the value of each object, one per line; with several\n"
             "targets there is one column per target. If the data have targets, the\n"
             "predictions are compared with them, and the accuracy, or mse, mae and r2 (of\n"
             "each target and their means), are printed on standard error.\n"
             "MODEL is a file written by mercer fit, or a model file of LIBSVM. A table is\n"
             "read as in training: its columns are matched by name, or by position if there is\n"
             "no header, and targets may be missing; --target and --weight choose other\n"
             "columns. With --json the predictions are written only if -o is given.",
    .examples = "mercer sample moons -n 500 -o moons.csv\n"
                "mercer fit svm moons.csv -k 'rbf(gamma=2)' --probability -o moons.mercer\n"
                "mercer sample moons -n 200 --seed 2 -o new.csv\n"
                "mercer predict moons.mercer new.csv\n"
                "mercer predict moons.mercer new.csv --proba -o proba.csv\n"
                "mercer predict moons.mercer new.csv --scores -o scores.npy --json",
    .traits = CLI_READS,
    .words = words,
    .min_words = 1,
    .options = options,
    .values_size = sizeof(predict_call),
    .run = run,
};
