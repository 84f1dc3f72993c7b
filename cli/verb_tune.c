/* verb_tune.c: mercer tune: searches for the best parameters, and trains with them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "drawing.h"
#include "json.h"
#include "keep.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "select.h"
#include "team.h"
#include "text.h"

typedef struct tune_call {
    cli_list kernels;
    const char *output, *table, *checkpoint, *require;
    int resume, plot;
    cli_splitting split;
} tune_call;

typedef struct tune_job {
    cli *c;
    const tune_call *call;
    cli_selection selection;
    mcr_data *data;
    mcr_model *model;
    mcr_tune_report *report;
    char *checkpoint;
} tune_job;

/* ---- before the work --------------------------------------------------------------------------*/

/* Results so far are stored next to the model. */
static int choose_checkpoint(tune_job *job)
{
    const tune_call *call = job->call;
    mcr_search *search = &job->selection.search;
    if (call->checkpoint) {
        search->checkpoint = call->checkpoint;
    } else if (call->output && strcmp(call->output, "-") != 0) {
        size_t capacity = strlen(call->output) + sizeof ".tuning";
        job->checkpoint = cli_alloc(capacity, 1);
        snprintf(job->checkpoint, capacity, "%s.tuning", call->output);
        search->checkpoint = job->checkpoint;
    }
    /* An existing file belongs to an interrupted search: the same call continues it. */
    search->resume = call->resume ||
                     (search->checkpoint && stat(search->checkpoint, &(struct stat){0}) == 0);
    return call->resume && !search->checkpoint
               ? cli_refuse(job->c, "--resume: the checkpoint is beside the model: use -o MODEL, "
                                    "or --checkpoint FILE")
               : 0;
}

static int open_job(tune_job *job)
{
    cli *c = job->c;
    const tune_call *call = job->call;
    cli_selection *s = &job->selection;
    mcr_kernel *none = NULL;
    c->learning.searches = 1;
    int bad = cli_selection_open(c, s, &call->split, &call->kernels);
    s->searches = 1;
    if (!bad)
        bad = choose_checkpoint(job);
    if (!bad)
        bad = cli_output_check_place(c, call->output);
    if (!bad)
        bad = cli_output_check_option(c, "--table", call->table);
    if (!bad)
        bad = cli_output_check_option(c, "--checkpoint", call->checkpoint);
    if (!bad)
        bad = cli_selection_read(c, s, &call->split, &job->data, &none);
    mcr_kernel_free(none);
    return bad;
}

static void close_job(tune_job *job)
{
    mcr_tune_free(job->c->ctx, job->report);
    mcr_model_free(job->model);
    mcr_data_free(job->data);
    cli_selection_close(&job->selection);
    free(job->checkpoint);
}

/* ---- what comes out ---------------------------------------------------------------------------*/

static void put_point(cli_json *j, const char *key, const mcr_tune_report *r, int64_t p)
{
    const mcr_point *point = r->point[p];
    cli_json_object(j, key);
    cli_json_text(j, "kernel", point->kernel);
    cli_json_object(j, "options");
    for (const char *at = point->options; *at;) {
        size_t name = strcspn(at, "="), length = strcspn(at, " ");
        char text[64];
        snprintf(text, sizeof text, "%.*s", (int)name, at);
        char *end, value[64];
        snprintf(value, sizeof value, "%.*s", (int)(length - name - 1), at + name + 1);
        double number = strtod(value, &end);
        if (*end)
            cli_json_text(j, text, value);
        else
            cli_json_real(j, text, number);
        at += length + (at[length] == ' ');
    }
    cli_json_end(j);
    cli_json_real(j, "score", point->score);
    cli_json_real(j, "std", point->std);
    cli_json_text(j, "metric", r->metric);
    if (!key) {
        cli_json_integer(j, "folds", point->splits);
        cli_json_text(j, "state", mcr_point_state_name(point->state));
    }
    cli_json_end(j);
}

static void put_json(const tune_job *job, FILE *to)
{
    const mcr_tune_report *r = job->report;
    cli_json j;
    cli_json_begin(&j, to);
    put_point(&j, "best", r, r->best);
    cli_json_integer(&j, "evaluated", r->points);
    cli_json_integer(&j, "possible", r->possible);
    cli_json_integer(&j, "fits", r->fits);
    cli_json_text(&j, "edge", r->edge);
    cli_json_list(&j, "table");
    for (int64_t p = 0; p < r->points; p++)
        put_point(&j, NULL, r, p);
    cli_json_end(&j);
    cli_json_real(&j, "seconds", r->seconds);
    cli_json_text(&j, "stopped",
                  r->stopped == MCR_STOP_TIME ? "time"
                  : r->stopped                ? "interrupted"
                                              : NULL);
    cli_json_object(&j, "fit");
    cli_report_json(&j, job->model);
    cli_json_end(&j);
    cli_json_text(&j, "model", job->call->output);
    cli_json_end(&j);
}

static int write_table(const tune_job *job)
{
    const char *path = job->call->table;
    size_t length = strlen(path), size = 0;
    char *text = NULL;
    if (length <= 5 || strcmp(path + length - 5, ".json") != 0)
        return cli_output_text(job->c, path, mcr_model_tuning(job->model),
                               strlen(mcr_model_tuning(job->model)));
    FILE *to = open_memstream(&text, &size);
    if (!to)
        cli_die_memory();
    put_json(job, to);
    int bad = fclose(to) != 0;
    if (bad)
        cli_die_memory();
    bad = cli_output_text(job->c, path, text, size);
    free(text);
    return bad;
}

static int better_first(const void *a, const void *b)
{
    const mcr_point *x = *(const mcr_point *const *)a, *y = *(const mcr_point *const *)b;
    if (x->state != y->state)
        return (int)x->state - (int)y->state;
    if (x->state == MCR_POINT_DONE && x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x > y) - (x < y);
}

static int worse_first(const void *a, const void *b)
{
    const mcr_point *x = *(const mcr_point *const *)a, *y = *(const mcr_point *const *)b;
    if (x->state == MCR_POINT_DONE && y->state == MCR_POINT_DONE && x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return better_first(a, b);
}

static void print_point(const mcr_tune_report *r, const mcr_point *p)
{
    char std[32] = "";
    if (isfinite(p->std))
        snprintf(std, sizeof std, " +- %.2g", p->std);
    printf("%c %.6g%s   %s   %s\n", p == r->point[r->best] ? '*' : ' ', p->score, std, p->kernel,
           p->options);
}

/* The best points, one per line; first the chosen one, because others may be better by chance. */
static void print_best(const mcr_tune_report *r)
{
    enum { SHOWN = 8 };
    const mcr_point **order = cli_alloc((size_t)r->points + 1, sizeof *order);
    for (int64_t p = 0; p < r->points; p++)
        order[p] = r->point[p];
    qsort(order, (size_t)r->points, sizeof *order, r->larger ? better_first : worse_first);
    print_point(r, r->point[r->best]);
    for (int64_t p = 0, shown = 1; p < r->points && shown < SHOWN; p++)
        if (order[p]->state == MCR_POINT_DONE && order[p] != r->point[r->best]) {
            print_point(r, order[p]);
            shown++;
        }
    /* Order: points that could not be trained or were dropped come last. */
    const mcr_point *first = order[0], *best = r->point[r->best];
    if (first->state == MCR_POINT_DONE && first->score != best->score && strchr(first->kernel, '['))
        printf(
            "  a list is chosen only if its improvement is significant, not for its score alone\n");
    free(order);
}

static int has_relevances(const mcr_tune_report *r)
{
    for (int64_t p = 0; p < r->points; p++)
        if (strchr(r->point[p]->kernel, '['))
            return 1;
    return 0;
}

static void print_summary(const tune_job *job)
{
    const mcr_tune_report *r = job->report;
    int64_t beaten = 0, failed = 0;
    for (int64_t p = 0; p < r->points; p++) {
        beaten += r->point[p]->state == MCR_POINT_BEATEN;
        failed += r->point[p]->state == MCR_POINT_FAILED;
    }
    printf("%s of %" PRId64 " points (of %" PRId64 " possible), %" PRId64
           " trainings, %.3g s; the best:\n",
           r->metric, r->points, r->possible, r->fits, r->seconds);
    print_best(r);
    if (beaten)
        printf("  %" PRId64 " points were dropped before all folds were tested: they could not win "
               "or were clearly behind\n",
               beaten);
    if (failed)
        printf("  %" PRId64 " points could not be trained\n", failed);
    if (r->edge)
        printf("  the best point is at an end of the range of %s: a wider range may contain a "
               "better one\n",
               r->edge);
    if (job->call->split.relevance && job->call->split.relevance[0] == 'y' && !has_relevances(r))
        printf("  --relevance: no lists were tried: that needs a range of gamma or length, 2 to 64 "
               "columns,\n  ten objects per column, and 3 folds\n");
    printf("\n");
    cli_report_say(mcr_model_report(job->model));
    if (job->call->output)
        cli_say("model", "%s", job->call->output);
    else
        cli_say("model", "not kept (-o FILE saves it)");
}

static int draw(const tune_job *job)
{
    mcr_figure *figure = NULL;
    int bad = cli_fail(job->c, mcr_figure_tuning(&figure, job->c->ctx, job->report, NULL));
    printf("\n");
    if (!bad)
        bad = cli_draw(job->c, figure, &(cli_drawing){.graphics = CLI_GRAPHICS_TEXT, .small = 1});
    mcr_figure_close(figure);
    return bad;
}

/* Warns that the search did not finish. */
static void warn_stopped(const tune_job *job)
{
    const mcr_tune_report *r = job->report;
    const char *checkpoint = job->selection.search.checkpoint;
    char text[512];
    if (!r->stopped)
        return;
    snprintf(text, sizeof text,
             "%s after %" PRId64 " points: the model is the best so far%s%.300s%s",
             r->stopped == MCR_STOP_TIME ? "--time-limit was reached" : "interrupted", r->points,
             checkpoint ? "; completed work is stored in " : "", checkpoint ? checkpoint : "",
             checkpoint ? ": the same call continues" : "");
    fflush(stdout);
    cli_progress_warn(job->c, text);
}

static void warn(const tune_job *job)
{
    char text[192];
    const mcr_tune_report *r = job->report;
    warn_stopped(job);
    if (!r->unfinished)
        return;
    fflush(stdout);
    snprintf(text, sizeof text,
             "%" PRId64 " of %" PRId64 " trainings stopped before they were optimal", r->unfinished,
             r->fits);
    cli_progress_warn(job->c, text);
}

static int run(cli *c, const void *values)
{
    tune_job job = {.c = c, .call = values};
    cli_keeping keep = {.path = job.call->output, .require = job.call->require};
    int bad = cli_keep_check(c, &keep);
    if (!bad)
        bad = cli_draw_check(c, job.call->plot, NULL);
    if (!bad)
        bad = open_job(&job);
    if (!bad) {
        mcr_search *search = &job.selection.search;
        search->best_so_far = 1;
        c->meter.only = "tune";
        if (search->resume && stat(search->checkpoint, &(struct stat){0}) == 0)
            c->meter.continues = search->checkpoint;
        mcr_status s = mcr_tune(&job.model, &job.report, job.selection.options, search, job.data);
        bad = s == MCR_BAD_CALL ? cli_fail(c, s) : cli_fail_words(c, s, 1);
        if (s == MCR_STOPPED && search->checkpoint)
            fprintf(stderr, "mercer: completed work is stored in %s: the same call continues\n",
                    search->checkpoint);
    }
    if (!bad)
        bad = cli_keep_model(c, job.model, &keep);
    if (!bad && job.call->table && cli_is_first(c))
        bad = write_table(&job);
    if (!bad && job.selection.search.checkpoint && !job.report->stopped && cli_is_first(c))
        remove(job.selection.search.checkpoint);
    cli_progress_clear(c);
    if (!bad && c->common.json)
        put_json(&job, stdout);
    else if (!bad && !c->common.quiet)
        print_summary(&job);
    if (!bad) {
        warn(&job);
        bad = job.report->stopped == MCR_STOP_INTERRUPTED ? CLI_INTERRUPTED
                                                          : cli_keep_status(job.model);
    }
    cli_keep_close(&keep);
    if (!bad && job.call->plot)
        bad = draw(&job);
    close_job(&job);
    return bad;
}

#define AT(field) offsetof(tune_call, field)

static const cli_option options[] = {
    {.name = "kernel",
     .letter = 'k',
     .type = CLI_LIST,
     .offset = AT(kernels),
     .argument = "KERNEL",
     .help = "a kernel whose numbers may be ranges; repeat it to choose among several"},
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = AT(output),
     .argument = "MODEL",
     .help = "write the model to this file, including the table of all points"},
    {.name = "table",
     .type = CLI_TEXT,
     .offset = AT(table),
     .argument = "FILE",
     .help = "write all points to a file, .csv or .json"},
    CLI_REQUIRE_OPTION(AT(require)),
    CLI_SPLIT_OPTIONS(tune_call, split),
    {.name = "checkpoint",
     .type = CLI_TEXT,
     .offset = AT(checkpoint),
     .argument = "FILE",
     .help = "file for completed points (default: MODEL.tuning); removed at the end"},
    {.name = "resume",
     .type = CLI_FLAG,
     .offset = AT(resume),
     .help = "continue an interrupted search; there must be one"},
    CLI_PLOT_OPTION(AT(plot), "draw the scores over the parameters"),
    CLI_LAST_OPTION,
};

static const char *const words[] = {"LEARNER", "DATA...", NULL};

const cli_verb cli_verb_tune = {
    .name = "tune",
    .summary = "search for the best parameters, then train with them",
    .usage = "LEARNER DATA... [-k KERNEL-WITH-RANGES] [-o MODEL]",
    .about = "Evaluates points of the ranges in kernels and options by cross-validation, and\n"
             "trains on all data with the best one. A range is 1e-3:1e3:log7 (7 values, equal\n"
             "ratios), 0:1:5 (5 values, equal distances) or 2:4 (in steps of 1).\n"
             "If there is no range, the kernels are rbf and laplace with ranges of gamma, C\n"
             "(or lambda, nu, neighbors) has a range, both ways of scaling are tried, and the\n"
             "search goes from coarse to fine. As a last step, each column gets its own gamma\n"
             "if the improvement is significant (--relevance).\n"
             "All settings of the options share kernel values, and each training starts from\n"
             "the previous solution. Points that can no longer win are dropped.\n"
             "Completed points are stored in a file beside the model: after Ctrl-C or a crash,\n"
             "the same call continues the search and gives the same result. After Ctrl-C, or\n"
             "when --time-limit is reached, the model is trained with the best point so far; a\n"
             "second Ctrl-C ends the program at once.",
    .examples =
        "mercer sample moons -n 500 -o moons.csv\n"
        "mercer tune svm moons.csv -o moons.mercer\n"
        "mercer tune svm moons.csv -k 'rbf(gamma=0.01:100:log5)' -C 0.1:100:log4 --table "
        "points.csv\n"
        "mercer tune svm moons.csv -k linear -k 'poly(degree=2:3)' -C 1 --metric roc_auc --json\n"
        "mercer sample sinc -n 200 -o sinc.csv\n"
        "mercer tune ridge sinc.csv -k 'rbf(gamma=0.1:10:log5)' --lambda 1e-6:1:log7",
    .traits = CLI_READS | CLI_LEARNS,
    .words = words,
    .min_words = 1,
    .options = options,
    .values_size = sizeof(tune_call),
    .run = run,
};
