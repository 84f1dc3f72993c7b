/* verb_cv.c: mercer cv: how good a learner is on objects it has not seen.
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
#include "drawing.h"
#include "json.h"
#include "output.h"
#include "progress.h"
#include "select.h"
#include "text.h"

typedef struct cv_call {
    cli_list kernels;
    const char *output;
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
    if (!bad && !s->searches && call->kernels.count)
        bad = cli_read_kernel(c, &job->kernel, call->kernels.item[0]);
    if (!bad)
        bad = cli_output_check_table(c, call->output);
    if (!bad)
        bad = cli_selection_read(c, s, &call->split, &job->data, &job->kernel);
    if (!bad)
        bad = cli_fail(c, mcr_splits_open(&job->splits, c->ctx, job->data, &s->split));
    /* The search within each training part has folds of its own. */
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

/* ---- what comes out ----------------------------------------------------------------------------*/

/* Predictions out of fold: a class as its name, a number as it is. */
static int write_values(const cv_job *job)
{
    const mcr_cv_report *r = job->report;
    const char *path = job->call->output;
    int words = r->task == MCR_CLASSIFY && !cli_output_is_binary(path);
    static const char *const title[] = {"prediction"};
    cli_table table = {.rows = r->n, .cols = 1, .names = title, .flat = 1};
    cli_output *out = NULL;
    int bad = cli_output_open(&out, job->c, path, &table);
    for (int64_t i = 0; i < r->n && !bad; i++) {
        double value = r->value[i];
        int class = r->task == MCR_CLASSIFY && !isnan(value);
        const char *word = class ? mcr_data_class_name(job->data, (int64_t)value) : "";
        char *end = NULL;
        if (!words && class && (value = strtod(word, &end), *end))
            bad = cli_fault(job->c, path, "class \"%.100s\" is a word, and .npy holds numbers only",
                            word);
        if (bad)
            break;
        bad = words ? cli_output_words(out, &word, 1) : cli_output_rows(out, &value, 1, 1);
    }
    if (bad)
        cli_output_discard(out);
    return bad ? bad : cli_output_commit(out);
}

static void print_json(const cv_job *job)
{
    const mcr_cv_report *r = job->report;
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_text(&j, "learner", cli_word(job->c, 0));
    cli_json_text(&j, "kernel", job->kernel ? mcr_kernel_text(job->kernel) : NULL);
    cli_json_integer(&j, "n", r->n);
    cli_json_integer(&j, "folds", r->splits);
    cli_json_real(&j, "seconds", r->seconds);
    cli_json_object(&j, "metrics");
    for (int64_t m = 0; m < r->metrics; m++) {
        cli_json_object(&j, r->metric[m]->name);
        cli_json_real(&j, "mean", r->metric[m]->mean);
        cli_json_real(&j, "std", r->metric[m]->std);
        cli_json_reals(&j, "folds", r->metric[m]->split, r->splits);
        cli_json_end(&j);
    }
    cli_json_end(&j);
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

static void print_summary(const cv_job *job)
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
    cli_say("seconds", "%.3g", r->seconds);
}

static int run(cli *c, const void *values)
{
    cv_job job = {.c = c, .call = values};
    int bad = cli_draw_check(c, job.call->plot, cli_word(c, 0));
    if (!bad)
        bad = open_job(&job);
    const mcr_search *search = job.selection.searches ? &job.selection.search : NULL;
    const char *metric = job.call->split.metric;
    if (!bad && search && metric && strchr(metric, ','))
        bad = cli_refuse(c, "--metric %s: a search needs one metric", metric);
    if (!bad && search && job.call->plot)
        bad = cli_refuse(c, "--plot draws the learning curve of one setting, not of a search: "
                            "mercer tune --plot draws a search");
    if (!bad) {
        mcr_status s = mcr_cv(&job.report, job.selection.options, job.kernel, job.data, job.splits,
                              metric, search);
        bad = !search             ? cli_advise_fit(c, s, job.kernel, job.data)
              : s == MCR_BAD_CALL ? cli_fail(c, s)
                                  : cli_fail_words(c, s, 1);
    }
    if (!bad && job.call->output)
        bad = write_values(&job);
    cli_progress_clear(c);
    if (!bad && c->common.json)
        print_json(&job);
    else if (!bad && !c->common.quiet)
        print_summary(&job);
    if (!bad && job.report->unfinished) {
        char text[128];
        fflush(stdout);
        snprintf(text, sizeof text,
                 "%" PRId64 " of %" PRId64 " trainings ended before they were optimal",
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
     .help = "the kernel; with ranges in it, or given several times: nested"},
    CLI_OUTPUT_OPTION(AT(output), "each object's prediction from when it was tested"),
    CLI_SPLIT_OPTIONS(cv_call, split),
    {.name = "inner-folds",
     .type = CLI_INT,
     .offset = AT(inner),
     .argument = "N",
     .min = 2,
     .max = 1e6,
     .help = "nested: folds of the search within each training part (default 5)"},
    CLI_PLOT_OPTION(AT(plot), "draw a learning curve: errors against the number of objects"),
    CLI_LAST_OPTION,
};

static const char *const words[] = {"LEARNER", "DATA...", NULL};

const cli_verb cli_verb_cv = {
    .name = "cv",
    .summary = "how good a learner is on objects it has not seen",
    .usage = "LEARNER DATA... [-k KERNEL] [--folds N] [-o FILE]",
    .about =
        "Cross-validation: the objects are dealt out to folds, and each fold is predicted by a "
        "model\n"
        "that was trained on the others. Prints each metric's mean, standard deviation and value\n"
        "on each fold.\n"
        "Scaling (--scale) is learnt on the training folds only. Where the kernel or an option has "
        "a\n"
        "range, the best value is searched on the training folds alone, as mercer tune does it\n"
        "(nested cross-validation): the figures are then those of the whole procedure.",
    .examples = "mercer sample moons -n 500 -o moons.csv\n"
                "mercer cv svm moons.csv -k 'rbf(gamma=2)' -C 10\n"
                "mercer cv svm moons.csv --folds 10 --repeats 3 --metric accuracy,auc --json\n"
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
