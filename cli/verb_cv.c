/* verb_cv.c: mercer cv: evaluates a learner on unseen objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "choose.h"
#include "cli.h"
#include "drawing.h"
#include "evaluate.h"
#include "json.h"
#include "output.h"
#include "progress.h"
#include "select.h"
#include "team.h"
#include "text.h"

typedef struct cv_call {
    cli_list kernels;
    const char *output, *threshold;
    cli_splitting split;
    int64_t inner;
    int plot;
} cv_call;

typedef struct cv_job {
    cli *c;
    const cv_call *call;
    cli_selection selection;
    mcr_kernel *kernel; /* NULL: the default, or searched */
    mcr_data *data;
    mcr_splits *splits;
    mcr_cv_report *report;
} cv_job;

static int open_job(cv_job *job)
{
    cli *c = job->c;
    const cv_call *call = job->call;
    cli_selection *s = &job->selection;
    int bad = cli_selection_open(c, s, &call->split, &call->kernels);
    int plain = !s->searches && call->kernels.count && cli_advise_is_default(call->kernels.item[0]);
    if (!bad && !s->searches && call->kernels.count && !plain)
        bad = cli_read_kernel(c, &job->kernel, call->kernels.item[0]);
    if (!bad)
        bad = cli_output_check_table(c, call->output);
    if (!bad)
        bad = cli_selection_read(c, s, &call->split, &job->data, &job->kernel);
    /* If fit would choose kernel and options, cv does so on the training objects of each split. */
    if (!bad && !s->searches && !call->plot &&
        cli_choose_is_wanted(c, cli_word(c, 0), call->kernels.count > 0, job->data)) {
        s->search.quick = s->searches = 1;
        s->search.metric = cli_choose_metric(c, call->split.balance);
    }
    if (!bad)
        bad = cli_fail(c, mcr_splits_open(&job->splits, c->ctx, job->data, &s->split));
    /* The search within each training set has its own folds. */
    if (s->split.kind == MCR_SPLIT_LEAVE_ONE_OUT)
        s->split.kind = MCR_SPLIT_FOLDS;
    s->split.repeats = 0;
    s->split.folds = call->inner > 0 ? call->inner : 0;
    return bad;
}

static void close_job(cv_job *job)
{
    mcr_cv_free(job->c->ctx, job->report);
    mcr_splits_close(job->splits);
    mcr_data_free(job->data);
    mcr_kernel_free(job->kernel);
    cli_selection_close(&job->selection);
}

/* ---- what comes out ---------------------------------------------------------------------------*/

/* Out-of-fold predictions as numbers, for .npy. */
static int write_numbers(const cv_job *job)
{
    const mcr_cv_report *r = job->report;
    const char *path = job->call->output;
    cli_output *out = NULL;
    int bad = cli_output_open(&out, job->c, path,
                              &(cli_table){.rows = r->n, .cols = 1, .flat = 1, .prefix = "p"});
    for (int64_t i = 0; i < r->n && !bad; i++) {
        double value = r->value[i];
        const char *word = r->task == MCR_CLASSIFY && !isnan(value)
                               ? mcr_data_class_name(job->data, (int64_t)value)
                               : NULL;
        char *end = NULL;
        if (word && (value = strtod(word, &end), *end))
            bad = cli_fault(job->c, path, "class \"%.100s\" is a word, and .npy holds numbers only",
                            word);
        if (!bad)
            bad = cli_output_rows(out, &value, 1, 1);
    }
    if (bad)
        cli_output_discard(out);
    return bad ? bad : cli_output_commit(out);
}

/* The columns of -o: fold, target, prediction, then scores and probabilities if available. */
typedef struct cv_table {
    int64_t cols, classes;
    char (*title)[128], (*cell)[128];
    const char **titles, **cells;
} cv_table;

static void open_table(cv_table *t, const cv_job *job)
{
    const mcr_cv_report *r = job->report;
    t->classes = r->proba ? mcr_data_classes(job->data) : 0;
    int64_t scores = r->score ? r->outputs : 0, at = 0;
    t->cols = 3 + scores + t->classes;
    t->title = cli_alloc((size_t)t->cols, sizeof *t->title);
    t->cell = cli_alloc((size_t)t->cols, sizeof *t->cell);
    t->titles = cli_alloc((size_t)t->cols, sizeof *t->titles);
    t->cells = cli_alloc((size_t)t->cols, sizeof *t->cells);
    snprintf(t->title[at++], sizeof *t->title, "fold");
    snprintf(t->title[at++], sizeof *t->title, "target");
    snprintf(t->title[at++], sizeof *t->title, "prediction");
    for (int64_t o = 0; o < scores; o++)
        snprintf(t->title[at++], sizeof *t->title, "score(%.100s)", r->output[o]);
    for (int64_t k = 0; k < t->classes; k++)
        snprintf(t->title[at++], sizeof *t->title, "p(%.100s)", mcr_data_class_name(job->data, k));
    for (at = 0; at < t->cols; at++) {
        t->titles[at] = t->title[at];
        t->cells[at] = t->cell[at];
    }
}

static void close_table(cv_table *t)
{
    free(t->title);
    free(t->cell);
    free(t->titles);
    free(t->cells);
}

static void number_cell(cv_table *t, int64_t at, double value)
{
    t->cell[at][0] = '\0';
    if (!isnan(value))
        mcr_print_real(t->cell[at], value);
}

/* A class by its name, or a number; empty if unknown. */
static void value_cell(cv_table *t, int64_t at, const cv_job *job, double value)
{
    t->cells[at] = t->cell[at];
    t->cell[at][0] = '\0';
    if (isnan(value))
        return;
    if (job->report->task == MCR_CLASSIFY)
        t->cells[at] = mcr_data_class_name(job->data, (int64_t)value);
    else
        number_cell(t, at, value);
}

static void fill_row(cv_table *t, const cv_job *job, int64_t i)
{
    const mcr_cv_report *r = job->report;
    int64_t at = 3, scores = t->cols - 3 - t->classes;
    int64_t split = r->split[i];
    t->cell[0][0] = '\0';
    if (split >= 0)
        snprintf(t->cell[0], sizeof *t->cell, "%" PRId64, split + 1);
    value_cell(t, 1, job,
               r->task == MCR_CLASSIFY ? (double)mcr_data_class_of(job->data)[i]
                                       : mcr_data_targets(job->data)[i]);
    value_cell(t, 2, job, r->value[i]);
    for (int64_t o = 0; o < scores; o++)
        number_cell(t, at++, r->score[i * scores + o]);
    for (int64_t k = 0; k < t->classes; k++)
        number_cell(t, at++, r->proba[i * t->classes + k]);
}

static int write_values(const cv_job *job)
{
    const mcr_cv_report *r = job->report;
    cv_table t = {0};
    cli_output *out = NULL;
    if (cli_output_is_binary(job->call->output))
        return write_numbers(job);
    open_table(&t, job);
    cli_table table = {.rows = r->n, .cols = t.cols, .names = t.titles, .objects = job->data};
    int bad = cli_output_open(&out, job->c, job->call->output, &table);
    for (int64_t i = 0; i < r->n && !bad; i++) {
        fill_row(&t, job, i);
        bad = cli_output_words(out, t.cells, 1);
    }
    close_table(&t);
    if (bad)
        cli_output_discard(out);
    return bad ? bad : cli_output_commit(out);
}

/* Evaluates the out-of-fold predictions against the classes. */
static void open_evaluation(const cv_job *job, cli_evaluation *e, double **value)
{
    const mcr_cv_report *r = job->report;
    const double *weight = mcr_data_weights(job->data);
    int64_t classes = mcr_data_classes(job->data), tested = 0;
    double *all = *value = cli_alloc((size_t)(3 * r->n) + 1, sizeof *all);
    for (int64_t i = 0; i < r->n; i++) {
        if (r->split[i] < 0)
            continue;
        all[tested] = r->value[i];
        all[r->n + tested] = (double)mcr_data_class_of(job->data)[i];
        all[2 * r->n + tested++] = weight ? weight[i] : 1;
    }
    e->name = cli_alloc((size_t)classes + 1, sizeof *e->name);
    for (; e->names < classes; e->names++)
        e->name[e->names] = mcr_data_class_name(job->data, e->names);
    e->what = (mcr_evaluated){.size = sizeof e->what,
                              .task = MCR_CLASSIFY,
                              .n = tested,
                              .classes = classes,
                              .outputs = 1,
                              .positive = r->positive,
                              .value = all,
                              .target = all + r->n,
                              .weight = weight ? all + 2 * r->n : NULL};
}

static void metrics_json(const mcr_cv_report *r, cli_json *j)
{
    cli_json_object(j, "metrics");
    for (int64_t m = 0; m < r->metrics; m++) {
        cli_json_object(j, r->metric[m]->name);
        cli_json_real(j, "mean", r->metric[m]->mean);
        cli_json_real(j, "std", r->metric[m]->std);
        cli_json_reals(j, "folds", r->metric[m]->split, r->splits);
        cli_json_end(j);
    }
    cli_json_end(j);
}

static void print_json(const cv_job *job, const cli_evaluation *e)
{
    const mcr_cv_report *r = job->report;
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_text(&j, "learner", cli_word(job->c, 0));
    cli_json_text(&j, "kernel", job->kernel ? mcr_kernel_text(job->kernel) : NULL);
    cli_json_integer(&j, "n", r->n);
    cli_json_integer(&j, "folds", r->splits);
    cli_json_real(&j, "seconds", r->seconds);
    metrics_json(r, &j);
    if (r->task == MCR_CLASSIFY)
        cli_evaluation_json(&j, e);
    if (r->kernel) {
        cli_json_list(&j, "chosen");
        for (int64_t s = 0; s < r->splits; s++) {
            cli_json_object(&j, NULL);
            cli_json_text(&j, "kernel", r->kernel[s]);
            cli_json_text(&j, "options", r->options[s]);
            cli_json_end(&j);
        }
        cli_json_end(&j);
    }
    cli_json_integer(&j, "fits", r->fits);
    cli_json_integer(&j, "unfinished", r->unfinished);
    cli_json_text(&j, "output", job->call->output);
    cli_json_end(&j);
}

static void print_summary(const cv_job *job, const cli_evaluation *e)
{
    enum { SHOWN = 10 };
    const mcr_cv_report *r = job->report;
    char count[64];
    printf("%s, %" PRId64 " folds\n", cli_count_text(count, r->n, "object"), r->splits);
    for (int64_t m = 0; m < r->metrics; m++) {
        const mcr_cv_metric *of = r->metric[m];
        printf("%-18s %.6g", of->name, of->mean);
        if (isfinite(of->std))
            printf(" +- %.2g", of->std);
        printf("   (");
        for (int64_t s = 0; s < r->splits && s < SHOWN; s++)
            printf("%s%.4g", s ? " " : "", of->split[s]);
        printf("%s)\n", r->splits > SHOWN ? " ..." : "");
    }
    for (int64_t s = 0; r->kernel && s < r->splits && s < SHOWN; s++)
        printf("fold %-3" PRId64 " %s  %s\n", s + 1, r->kernel[s], r->options[s]);
    const char *positive = r->task == MCR_CLASSIFY ? cli_evaluation_positive(e) : NULL;
    if (positive)
        cli_say("positive", "%s (precision, recall, f1, curves and brier are for this class)",
                positive);
    if (!job->call->split.metric)
        cli_evaluation_say(stdout, e);
    cli_say("seconds", "%.3g", r->seconds);
}

static int print_results(const cv_job *job)
{
    cli_evaluation e = {0};
    double *value = NULL;
    int bad = 0;
    if (job->report->task == MCR_CLASSIFY) {
        open_evaluation(job, &e, &value);
        bad = cli_evaluation_compute(job->c, &e, 0);
    }
    if (!bad && job->c->common.json)
        print_json(job, &e);
    else if (!bad && !job->c->common.quiet)
        print_summary(job, &e);
    cli_evaluation_close(&e);
    free(value);
    return bad;
}

static int run(cli *c, const void *values)
{
    cv_job job = {.c = c, .call = values};
    int bad = cli_draw_check(c, job.call->plot, cli_word(c, 0));
    if (!bad)
        bad = open_job(&job);
    const mcr_search *search = job.selection.searches ? &job.selection.search : NULL;
    const char *metric = job.call->split.metric;
    if (!bad && search && !search->quick && metric && strchr(metric, ','))
        bad = cli_refuse(c, "--metric %s: a search needs one metric", metric);
    if (!bad && search && job.call->plot)
        bad = cli_refuse(c, "--plot draws the learning curve of one setting, not of a search: "
                            "mercer tune --plot draws a search");
    if (!bad) {
        mcr_status s = mcr_cv_threshold(&job.report, job.selection.options, job.kernel, job.data,
                                        job.splits, metric, search, job.call->threshold);
        bad = !search             ? cli_advise_fit(c, s, job.kernel, job.data)
              : s == MCR_BAD_CALL ? cli_fail(c, s)
                                  : cli_fail_words(c, s, 1);
    }
    if (!bad && job.call->output && cli_is_first(c))
        bad = write_values(&job);
    cli_progress_clear(c);
    if (!bad)
        bad = print_results(&job);
    if (!bad && job.report->unfinished) {
        char text[128];
        fflush(stdout);
        snprintf(text, sizeof text,
                 "%" PRId64 " of %" PRId64 " trainings stopped before they were optimal",
                 job.report->unfinished, job.report->fits);
        cli_progress_log(c, MCR_LOG_WARNING, text);
    }
    if (!bad && job.call->plot)
        bad = cli_draw_learning(c, job.selection.options, job.kernel, job.data);
    close_job(&job);
    return bad;
}

#define AT(field) offsetof(cv_call, field)

static const cli_option options[] = {
    {.name = "kernel",
     .letter = 'k',
     .type = CLI_LIST,
     .offset = AT(kernels),
     .argument = "KERNEL",
     .help = "the kernel; with ranges, or if given several times, the search is nested"},
    CLI_OUTPUT_OPTION(AT(output), "id, fold, target, prediction, scores and probabilities"),
    CLI_SPLIT_OPTIONS(cv_call, split),
    {.name = "threshold",
     .type = CLI_TEXT,
     .offset = AT(threshold),
     .argument = "RULE",
     .help = "two classes: 0.3, cost:FN=10,FP=1 or fpr:0.01, learnt on training folds"},
    {.name = "inner-folds",
     .type = CLI_INT,
     .offset = AT(inner),
     .argument = "N",
     .min = 2,
     .max = 1e6,
     .help = "nested search: number of folds within each training part (default 5)"},
    CLI_PLOT_OPTION(AT(plot), "draw a learning curve: errors against the number of objects"),
    CLI_LAST_OPTION,
};

static const char *const words[] = {"LEARNER", "DATA...", NULL};

const cli_verb cli_verb_cv = {
    .name = "cv",
    .summary = "cross-validation: how well a learner predicts objects it has not seen",
    .usage = "LEARNER DATA... [-k KERNEL] [--folds N] [-o FILE]",
    .about = "Cross-validation: splits the objects into folds, and predicts each fold with a\n"
             "model trained on the others. Prints each metric's mean, standard deviation and\n"
             "value on each fold.\n"
             "Scaling (--scale) is learnt on the training folds only. If the kernel or an\n"
             "option has a range, the best value is chosen on the training folds alone, as in\n"
             "mercer tune (nested cross-validation); the metrics then describe the whole\n"
             "procedure, including the search.",
    .examples = "mercer sample moons -n 500 -o moons.csv\n"
                "mercer cv svm moons.csv -k 'rbf(gamma=2)' -C 10\n"
                "mercer cv svm moons.csv --folds 10 --repeats 3 --metric accuracy,roc_auc --json\n"
                "mercer cv svm moons.csv -k 'rbf(gamma=0.1:10:log3)' -C 1:100:log3 --folds 3\n"
                "mercer sample sinc -n 200 -o sinc.csv\n"
                "mercer cv ridge sinc.csv -k 'rbf(gamma=0.5)' --lambda 0.1 --metric r2 -o "
                "predicted.csv",
    .traits = CLI_READS | CLI_LEARNS,
    .words = words,
    .min_words = 1,
    .options = options,
    .values_size = sizeof(cv_call),
    .run = run,
};
