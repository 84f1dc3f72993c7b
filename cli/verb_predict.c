/* verb_predict.c: mercer predict: what a model says about objects, and how good it is.
 *
 * Predictions go through one buffer block by block, so that many classes and many objects need
 * little memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "cli.h"
#include "json.h"
#include "output.h"
#include "progress.h"
#include "text.h"

static const int64_t block_numbers = (int64_t)1 << 22;

typedef struct predict_call {
    const char *output;
    int scores, proba, std;
    int64_t sample; /* INT64_MIN: not given */
} predict_call;

typedef struct predict_job {
    cli *c;
    const predict_call *call;
    mcr_model *model;
    const mcr_report_fit *report;
    mcr_data *data;
    int64_t n, cols;
    double *value;  /* n: class numbers or values */
    double *buffer; /* scores, probabilities, or values and deviations of a block; NULL: values */
    double *std;    /* deviations of a block */
    const char **name; /* of the columns */
    const char **word; /* classes of a block, as words */
    cli_output *output;
    mcr_metrics metrics;
    int has_metrics;
    double seconds; /* predicting */
} predict_job;

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

static int check_call(const predict_job *job)
{
    cli *c = job->c;
    if (job->call->scores + job->call->proba + job->call->std + wants_draws(job) > 1)
        return cli_refuse(c, "--scores, --proba, --std and --sample: give one of them");
    if (job->report->task == MCR_TRANSFORM)
        return cli_refuse(c,
                          "%s is a model of %s, which predicts nothing (mercer transform gives "
                          "its coordinates)",
                          cli_word(c, 0), job->report->learner);
    if ((job->call->std || wants_draws(job)) && !mcr_model_has_std(job->model))
        return cli_refuse(c,
                          "%s: %s is a model of %s, which does not know how sure it is of a "
                          "value (gp, fitted to numbers, does)",
                          job->call->std ? "--std" : "--sample", cli_word(c, 0),
                          job->report->learner);
    if (job->call->proba && !mcr_model_classes(job->model))
        return cli_refuse(c, "--proba: %s does not predict classes", cli_word(c, 0));
    if (job->call->proba && !mcr_model_has_probability(job->model))
        return cli_refuse(c, "--proba: %s has no probabilities (fit it with --probability)",
                          cli_word(c, 0));
    for (int64_t k = 0; k < mcr_model_classes(job->model); k++)
        if (!job->call->scores && !job->call->proba && cli_output_is_binary(job->call->output) &&
            !is_number(mcr_model_class_name(job->model, k)))
            return cli_refuse(c, "-o: .npy holds numbers, and class \"%s\" is none: write .csv",
                              mcr_model_class_name(job->model, k));
    return 0;
}

static void name_columns(predict_job *job)
{
    const predict_call *call = job->call;
    job->cols = call->scores  ? mcr_model_outputs(job->model)
                : call->proba ? mcr_model_classes(job->model)
                : call->std   ? 2
                              : 1;
    if (wants_draws(job)) { /* numbered */
        job->cols = call->sample;
        return;
    }
    job->name = cli_alloc((size_t)job->cols, sizeof *job->name);
    job->name[0] = job->report->task == MCR_REGRESS   ? "value"
                   : job->report->task == MCR_CLUSTER ? "cluster"
                                                      : "label";
    if (call->std)
        job->name[1] = "std";
    for (int64_t j = 0; j < job->cols && (call->scores || call->proba); j++)
        job->name[j] = call->scores ? mcr_model_output_name(job->model, j)
                                    : mcr_model_class_name(job->model, j);
}

static int open_job(predict_job *job)
{
    cli *c = job->c;
    const char *path = job->call->output;
    int bad = cli_output_check_table(c, path);
    if (!bad)
        bad = cli_fail(c, mcr_model_load(&job->model, c->ctx, cli_word(c, 0)));
    if (bad)
        return bad;
    job->report = mcr_model_report(job->model);
    c->reading.features = job->report->features;
    bad = check_call(job);
    if (!bad)
        bad = cli_read_words(c, &job->data, 1);
    if (!bad)
        bad = cli_advise_features(c, job->report, job->data);
    if (bad)
        return bad;
    job->n = mcr_data_count(job->data);
    name_columns(job);
    cli_table table = {.rows = job->n,
                       .cols = job->cols,
                       .names = job->name,
                       .prefix = "draw",
                       .flat = job->cols == 1 && !wants_draws(job)};
    if (path || !c->common.json)
        bad = cli_output_open(&job->output, c, path, &table);
    return bad;
}

static void close_job(predict_job *job)
{
    cli_output_discard(job->output);
    free(job->name);
    free(job->word);
    free(job->buffer);
    free(job->std);
    free(job->value);
    mcr_data_free(job->data);
    mcr_model_free(job->model);
}

/* ---- predicting -------------------------------------------------------------------------------*/

static int put_values(const predict_job *job, double *value, int64_t rows)
{
    int binary = cli_output_is_binary(job->call->output);
    int bad = 0;
    for (int64_t i = 0; job->report->task == MCR_CLUSTER && !bad && i < rows; i++) {
        double number = value[i] + 1; /* people count from 1 */
        bad = cli_output_rows(job->output, &number, 1, 1);
    }
    if (job->report->task == MCR_CLUSTER)
        return bad;
    if (job->report->task != MCR_CLASSIFY)
        return cli_output_rows(job->output, value, rows, 1);
    for (int64_t i = 0; i < rows; i++)
        job->word[i] = mcr_model_class_name(job->model, (int64_t)value[i]);
    for (int64_t i = 0; binary && !bad && i < rows; i++) {
        double number = strtod(job->word[i], NULL);
        bad = cli_output_rows(job->output, &number, 1, 1);
    }
    return binary ? bad : cli_output_words(job->output, job->word, rows);
}

static int predict_block(predict_job *job, int64_t first, int64_t rows)
{
    mcr_data *part = NULL;
    double *value = job->value + first, start = cli_seconds();
    cli_progress_part(job->c, (double)first / (double)job->n, (double)rows / (double)job->n);
    mcr_status status = mcr_data_select(&part, job->data, (mcr_rows){NULL, first, rows});
    if (status == MCR_OK && job->call->std)
        status = mcr_predict_std(job->c->ctx, job->model, part, value, job->std);
    else if (status == MCR_OK)
        status = mcr_predict(job->c->ctx, job->model, part, value,
                             job->call->scores ? job->buffer : NULL,
                             job->call->proba ? job->buffer : NULL);
    if (status == MCR_OK && wants_draws(job))
        status = mcr_predict_draws(job->c->ctx, job->model, part, job->cols, job->buffer);
    for (int64_t i = 0; i < rows && job->std && status == MCR_OK; i++) {
        job->buffer[2 * i] = value[i];
        job->buffer[2 * i + 1] = job->std[i];
    }
    mcr_data_free(part);
    job->seconds += cli_seconds() - start;
    int bad = cli_fail_words(job->c, status, 1);
    if (bad || !job->output)
        return bad;
    return job->buffer ? cli_output_rows(job->output, job->buffer, rows, job->cols)
                       : put_values(job, value, rows);
}

static int predict(predict_job *job)
{
    int64_t at_once = 1 + block_numbers / job->cols;
    if (at_once > job->n || wants_draws(job)) /* what is drawn goes together */
        at_once = job->n;
    int bad = 0;
    job->value = cli_alloc_matrix(job->c, job->n, 1, sizeof *job->value);
    if (!job->value)
        return 1;
    if (job->call->std && !(job->std = cli_alloc_matrix(job->c, at_once, 1, sizeof *job->std)))
        return 1;
    if (job->call->scores || job->call->proba || job->call->std || wants_draws(job))
        job->buffer = cli_alloc_matrix(job->c, at_once, job->cols, sizeof *job->buffer);
    else
        job->word = cli_alloc((size_t)at_once, sizeof *job->word);
    if (!job->buffer && !job->word)
        return 1;
    for (int64_t first = 0; !bad && first < job->n; first += at_once)
        bad = predict_block(job, first, job->n - first < at_once ? job->n - first : at_once);
    return bad;
}

/* ---- how good it is ---------------------------------------------------------------------------*/

static int is_known(const mcr_model *model, const char *name)
{
    for (int64_t k = 0; k < mcr_model_classes(model); k++) {
        const char *known = mcr_model_class_name(model, k);
        if (strcmp(known, name) == 0 ||
            (is_number(known) && is_number(name) && strtod(known, NULL) == strtod(name, NULL)))
            return 1;
    }
    return 0;
}

static void warn_of_unknown(const predict_job *job)
{
    const char *first = NULL;
    int64_t unknown = 0;
    char text[256], more[64] = "";
    for (int64_t k = 0; k < mcr_data_classes(job->data); k++) {
        const char *name = mcr_data_class_name(job->data, k);
        if (is_known(job->model, name))
            continue;
        first = first ? first : name;
        unknown++;
    }
    if (!unknown)
        return;
    if (unknown > 1)
        snprintf(more, sizeof more, " and %" PRId64 " more", unknown - 1);
    snprintf(text, sizeof text, "the model does not know class \"%.100s\"%s: counted as wrong",
             first, more);
    cli_progress_log(job->c, MCR_LOG_WARNING, text);
}

/* Inside is +1 and outside -1. Other targets may mean anything: 1 is often the anomaly. */
static int tells_sides(const mcr_data *data)
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
    int64_t outside = 0;
    char text[192];
    for (int64_t i = 0; i < job->n; i++)
        outside += job->value[i] < 0;
    snprintf(text, sizeof text,
             "the targets are not compared: %s says +1 for inside and -1 for outside, and they are "
             "others; %" PRId64 " of %" PRId64 " objects are outside",
             job->report->learner, outside, job->n);
    cli_progress_log(job->c, MCR_LOG_WARNING, text);
}

/* Targets that cannot be compared are told, and no reason to keep the predictions back. */
static void measure(predict_job *job)
{
    if (mcr_data_target_kind(job->data) == MCR_NO_TARGETS)
        return;
    if (job->report->task == MCR_DETECT && !tells_sides(job->data)) {
        say_sides(job);
        return;
    }
    if (mcr_model_score(job->c->ctx, job->model, job->data, job->value, &job->metrics) != MCR_OK) {
        cli_progress_log(job->c, MCR_LOG_WARNING, mcr_message(job->c->ctx));
        return;
    }
    job->has_metrics = 1;
    if (job->report->task == MCR_CLASSIFY)
        warn_of_unknown(job);
}

static void print_json(const predict_job *job)
{
    const mcr_metrics *m = &job->metrics;
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_integer(&j, "n", job->n);
    cli_json_text(&j, "model", cli_word(job->c, 0));
    cli_json_text(&j, "output", job->call->output);
    cli_json_real(&j, "seconds", job->seconds);
    cli_json_real(&j, "seconds_total", cli_seconds() - job->c->started);
    if (job->has_metrics) {
        cli_json_object(&j, "metrics");
        if (job->report->task == MCR_CLUSTER) {
            cli_json_real(&j, "adjusted_rand", m->rand);
        } else if (job->report->task == MCR_REGRESS) {
            cli_json_real(&j, "mse", m->mse);
            cli_json_real(&j, "mae", m->mae);
            cli_json_real(&j, "r2", m->r2);
        } else {
            cli_json_real(&j, "accuracy", m->accuracy);
        }
        cli_json_end(&j);
    } else {
        cli_json_null(&j, "metrics");
    }
    cli_json_end(&j);
}

/* On standard error: standard output holds the predictions. */
static void say_metrics(const predict_job *job)
{
    const mcr_metrics *m = &job->metrics;
    char count[64];
    fflush(stdout);
    if (job->report->task == MCR_CLUSTER)
        fprintf(stderr, "adjusted Rand index %.6g (%s)\n", m->rand,
                cli_count_text(count, m->n, "object"));
    else if (job->report->task != MCR_REGRESS)
        fprintf(stderr, "accuracy %.6g (%.0f of %" PRId64 "%s)\n", m->accuracy,
                m->accuracy * (double)m->n, m->n,
                job->report->task == MCR_DETECT ? "; target +1: inside, -1: outside" : "");
    else
        fprintf(stderr, "mse %.6g, mae %.6g, r2 %.6g (%s)\n", m->mse, m->mae, m->r2,
                cli_count_text(count, m->n, "object"));
}

static int run(cli *c, const void *values)
{
    predict_job job = {.c = c, .call = values};
    int bad = open_job(&job);
    if (!bad)
        bad = predict(&job);
    if (!bad && job.output) {
        bad = cli_output_commit(job.output);
        job.output = NULL;
    }
    cli_progress_clear(c);
    if (!bad)
        measure(&job);
    if (!bad && c->common.json)
        print_json(&job);
    else if (!bad && job.has_metrics && !c->common.quiet)
        say_metrics(&job);
    close_job(&job);
    return bad;
}

#define AT(field) offsetof(predict_call, field)

static const cli_option options[] = {
    CLI_OUTPUT_OPTION(AT(output), "write to .npy, .csv or text; standard output by default"),
    {.name = "scores",
     .type = CLI_FLAG,
     .offset = AT(scores),
     .help = "decision values: one for two classes, else one a pair or a class"},
    {.name = "proba",
     .type = CLI_FLAG,
     .offset = AT(proba),
     .help = "a probability for each class; an svm needs --probability when fitted"},
    {.name = "std",
     .type = CLI_FLAG,
     .offset = AT(std),
     .help = "the value and its standard deviation, where the model knows it (gp)"},
    {.name = "sample",
     .type = CLI_INT,
     .offset = AT(sample),
     .argument = "N",
     .min = 1,
     .max = 1e6,
     .help = "N functions drawn from what a model of gp believes, a column each"},
    CLI_LAST_OPTION,
};

static const char *const words[] = {"MODEL", "DATA...", NULL};

const cli_verb cli_verb_predict = {
    .name = "predict",
    .summary = "what a model says about new objects",
    .usage = "MODEL DATA... [-o FILE] [--scores|--proba|--std|--sample N]",
    .about =
        "Predicts the class or the value of each object, one a line. Where the data have targets,\n"
        "the predictions are compared with them: accuracy, or mse, mae and r2, on standard error.\n"
        "MODEL is a file of mercer fit, or a model file of LIBSVM. For data without a target "
        "column\n"
        "say --target none. Under --json the predictions are written only with -o.",
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
