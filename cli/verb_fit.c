/* verb_fit.c: mercer fit: trains a learner and saves the model.
 *
 * Errors that can be detected without the data are reported before reading them: arguments, kernel,
 * output path.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "advice.h"
#include "bounds.h"
#include "choose.h"
#include "cli.h"
#include "drawing.h"
#include "evaluate.h"
#include "json.h"
#include "keep.h"
#include "learner.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "select.h"
#include "tables.h"
#include "text.h"

typedef struct fit_call {
    const char *kernel, *output, *start, *resume, *scale, *report, *require, *positive, *threshold;
    const char *checkpoint;
    double calibrate; /* NAN: not given */
    int plot, balance;
} fit_call;

typedef struct fit_job {
    cli *c;
    const fit_call *call;
    mcr_options *options;
    mcr_kernel *kernel; /* NULL: the library's default */
    mcr_data *data;
    mcr_model *start, *model;
    int chooses;             /* chooses kernel and options */
    mcr_tune_report *choice; /* result of the search */
    mcr_bounds bounds;       /* with --report bounds */
    int first_file;          /* number of the word that names it */
    cli_keeping keep;
} fit_job;

/* ---- before the work --------------------------------------------------------------------------*/

/* Learner, kernel and options are the model's, unless the call sets options. Another kernel is
 * refused. The word LEARNER may be omitted. */
static int open_more(fit_job *job)
{
    cli *c = job->c;
    const char *path = job->call->resume;
    if (!isnan(job->call->calibrate))
        return cli_refuse(c, "--calibrate: a continued model cannot hold out objects");
    if (job->call->start)
        return cli_refuse(c,
                          "--start is for the same data, --resume for more data: give one of them");
    if (job->call->balance)
        return cli_refuse(c, "--balance: the model of --resume has its own options");
    if (job->call->threshold)
        return cli_refuse(c, "--threshold: a continued model has no folds to learn it from");
    if (job->call->positive)
        return cli_refuse(c, "--positive: the model of --resume has its own");
    if (job->call->scale)
        return cli_refuse(c, "--scale: the model of --resume has its own scaling");
    int bad = cli_fail(c, mcr_model_load(&job->start, c->ctx, path));
    if (bad)
        return bad;
    const mcr_report_fit *report = mcr_model_report(job->start);
    job->first_file = cli_learner_exists(cli_word(c, 0));
    if (job->first_file && strcmp(cli_word(c, 0), report->learner) != 0)
        return cli_refuse(c, "--resume: %s is a model of %s, not of %s", path, report->learner,
                          cli_word(c, 0));
    if (!cli_learner_can_resume(report->learner))
        return cli_refuse(c,
                          "--resume: %s is a model of %s, which cannot continue with more data: "
                          "only perceptron and pegasos can",
                          path, report->learner);
    bad = cli_fail(c, mcr_options_of(&job->options, c->ctx, job->start));
    if (!bad)
        bad = cli_learner_set(c, job->options, report->learner);
    if (!bad && job->call->kernel)
        bad = cli_read_kernel(c, &job->kernel, job->call->kernel);
    if (!bad)
        bad = cli_output_check_place(c, job->call->output);
    c->reading.features = report->features;
    c->reading.like = mcr_model_layout(job->start);
    return bad ? bad : cli_read_words(c, &job->data, job->first_file);
}

static int open_job(fit_job *job)
{
    cli *c = job->c;
    if (job->call->report && strcmp(job->call->report, "bounds") != 0)
        return cli_refuse(c, "--report %s: there is bounds", job->call->report);
    if (job->call->report && (job->call->resume || !isnan(job->call->calibrate)))
        return cli_refuse(c, "--report bounds is for training on all of the data");
    if (job->call->resume)
        return open_more(job);
    int bad = cli_learner_options(c, &job->options, cli_word(c, 0));
    if (!bad && job->call->balance)
        bad = cli_learner_balance(c, job->options, cli_word(c, 0));
    if (!bad && job->call->start && !isnan(job->call->calibrate))
        bad = cli_refuse(c, "--calibrate trains on a part of the data: omit --start");
    if (!bad && job->call->scale)
        bad = cli_fail(c, mcr_options_set(job->options, "scale", job->call->scale));
    int plain = job->call->kernel && cli_advise_is_default(job->call->kernel);
    if (!bad && job->call->kernel && !plain)
        bad = cli_read_kernel(c, &job->kernel, job->call->kernel);
    if (!bad)
        bad = cli_output_check_place(c, job->call->output);
    if (!bad && job->call->start)
        bad = cli_fail(c, mcr_model_load(&job->start, c->ctx, job->call->start));
    if (!bad)
        bad = cli_read_words(c, &job->data, 1);
    if (!bad && job->call->positive)
        bad = cli_choose_positive(c, job->call->positive, &job->data);
    if (!bad && plain)
        bad = cli_advise_gamma(c, job->call->kernel, job->data);
    if (!bad)
        cli_tables_remark(c, job->data, NULL);
    job->chooses = !bad && !job->call->start && isnan(job->call->calibrate) &&
                   cli_choose_is_wanted(c, cli_word(c, 0), job->kernel != NULL, job->data);
    if (!bad && !job->kernel && !job->call->scale && cli_advise_is_mixed(job->data))
        bad = cli_fail(c, mcr_options_set(job->options, "scale", "standard"));
    if (!bad && !job->kernel)
        bad = cli_advise_kernel(c, &job->kernel, job->data);
    if (!bad && !job->call->scale && !job->call->start &&
        (job->kernel || !cli_advise_is_mixed(job->data)))
        cli_advise_scale(c, job->data, job->kernel);
    if (!bad)
        bad = cli_advise_targets(c, cli_word(c, 0), job->data);
    return bad;
}

static void close_job(fit_job *job)
{
    cli_keep_close(&job->keep);
    mcr_tune_free(job->c->ctx, job->choice);
    mcr_model_free(job->model);
    mcr_model_free(job->start);
    mcr_data_free(job->data);
    mcr_kernel_free(job->kernel);
    mcr_options_close(job->options);
}

/* ---- after it ---------------------------------------------------------------------------------*/

static void print_json(const fit_job *job)
{
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_report_json(&j, job->model);
    if (job->choice)
        cli_choose_json(&j, job->choice);
    cli_evaluation_threshold_json(&j, job->model);
    if (job->call->report)
        cli_bounds_json(&j, &job->bounds);
    cli_json_text(&j, "model", job->keep.beside ? job->keep.beside : job->call->output);
    cli_json_real(&j, "seconds_total", cli_seconds() - job->c->started);
    cli_json_end(&j);
}

/* What the time was spent on. The search ends with the training. */
static void say_seconds(const fit_job *job)
{
    double training = mcr_model_report(job->model)->seconds, all = cli_seconds() - job->c->started;
    if (job->choice)
        cli_say("seconds", "%.3g training, %.3g choosing the kernel, %.3g in all", training,
                job->choice->seconds - training, all);
    else
        cli_say("seconds", "%.3g training, %.3g with reading", training, all);
}

static void print_summary(const fit_job *job)
{
    const char *path = job->keep.beside ? job->keep.beside : job->call->output;
    const mcr_report_fit *r = mcr_model_report(job->model);
    struct stat file;
    char size[32];
    cli_report_say(r);
    if (job->choice)
        cli_choose_say(job->choice, r->n);
    cli_evaluation_say_threshold(stdout, job->model);
    if (job->call->report)
        cli_bounds_say(&job->bounds);
    say_seconds(job);
    if (!path)
        cli_say("model", "not kept (-o FILE saves it)");
    else if (stat(path, &file) == 0 && S_ISREG(file.st_mode))
        cli_say("model", "%s, %s", path, cli_bytes_text(size, (double)file.st_size));
    else
        cli_say("model", "%s", path);
}

/* A model that is not optimal is a result, but the user must be informed, and how to continue. */
static void warn(const fit_job *job)
{
    static const char *const how[] = {
        [MCR_STOP_STEPS] = "--max-steps was reached; allow more",
        [MCR_STOP_TIME] = "--time-limit was reached; allow more",
        [MCR_STOP_INTERRUPTED] = "interrupted; call it again to finish",
        [MCR_STOP_STUCK] = "rounding, or a kernel that is not positive semidefinite, allowed no "
                           "further progress; check the kernel (mercer check)",
    };
    const mcr_report_fit *r = mcr_model_report(job->model);
    const char *path = job->keep.beside ? job->keep.beside : job->call->output;
    char text[1024], resume[512] = "", far[96] = "a part of the problem was not started", value[32];
    if (r->stop == MCR_STOP_OPTIMAL || r->stop == MCR_STOP_LOCAL ||
        (job->call->resume && r->stop == MCR_STOP_STEPS))
        return;
    if (path && !r->approx && cli_learner_can_start(r->learner) && r->stop != MCR_STOP_STUCK &&
        strcmp(path, "-") != 0)
        snprintf(resume, sizeof resume, " (--start %s continues from here)", path);
    int known = !(r->value_error > 0.05 * r->value);
    if (isfinite(r->value) && known)
        snprintf(far, sizeof far, "%s %.2g, tolerance %.2g", r->certificate, r->value,
                 r->tolerance);
    else if (isfinite(r->value))
        snprintf(far, sizeof far, "%s %s, tolerance %.2g", r->certificate,
                 cli_short_text(value, r->value, r->value_error), r->tolerance);
    if (r->stop == MCR_STOP_STUCK)
        snprintf(resume, sizeof resume, "%s",
                 cli_learner_has(r->learner, "tol") ? ", scale the data, or use a larger --tol"
                                                    : ", or scale the data");
    const char *why = how[r->stop];
    if (r->stop == MCR_STOP_STEPS && cli_learner_has(r->learner, "passes"))
        why = "the limit on passes or steps was reached; allow more (--passes)";
    snprintf(text, sizeof text, "not optimal: %s: %s%s%s%s", far, why, resume,
             job->keep.beside ? "; the existing model is kept, this one is " : "",
             job->keep.beside ? job->keep.beside : "");
    cli_progress_warn(job->c, text);
}

/* Uses the best point, as if the call had named it. */
static int choose(fit_job *job)
{
    mcr_search search = {.size = sizeof search,
                         .metric = cli_choose_metric(job->c, job->call->balance),
                         .scales = !job->call->scale,
                         .quick = 1};
    int bad = cli_fail_words(
        job->c, mcr_tune(&job->model, &job->choice, job->options, &search, job->data), 1);
    return bad ? bad : cli_choose_take(job->c, job->choice, job->options, &job->kernel);
}

/* On out-of-fold scores of the training data. */
static int learn_threshold(fit_job *job)
{
    return job->call->threshold
               ? cli_fail_words(
                     job->c,
                     mcr_threshold_learn(job->model, job->options, job->data, job->call->threshold),
                     1)
               : 0;
}

static int train(fit_job *job)
{
    cli *c = job->c;
    const char *checkpoint = job->call->checkpoint;
    if (checkpoint && stat(checkpoint, &(struct stat){0}) == 0)
        c->meter.continues = checkpoint;
    if (job->chooses)
        return choose(job);
    if (job->call->resume)
        return cli_fail_words(
            c, mcr_fit_more(&job->model, job->options, job->kernel, job->data, job->start),
            job->first_file);
    if (!isnan(job->call->calibrate))
        return cli_advise_fit(c,
                              mcr_fit_conformal(&job->model, job->options, job->kernel, job->data,
                                                job->call->calibrate),
                              job->kernel, job->data);
    return cli_advise_fit(c, mcr_fit(&job->model, job->options, job->kernel, job->data, job->start),
                          job->kernel, job->data);
}

static int run(cli *c, const void *values)
{
    fit_job job = {.c = c, .call = values, .bounds = MCR_INIT(mcr_bounds)};
    const char *path = job.call->output;
    job.keep = (cli_keeping){.path = path, .require = job.call->require};
    int bad = cli_keep_check(c, &job.keep);
    if (!bad)
        bad = cli_output_check_option(c, "--checkpoint", job.call->checkpoint);
    if (!bad && job.call->checkpoint)
        bad = cli_fail(c, mcr_checkpoint_file(c->ctx, job.call->checkpoint));
    if (!bad)
        bad = cli_draw_check(c, job.call->plot, cli_word(c, 0));
    if (!bad)
        bad = open_job(&job);
    if (!bad)
        bad = train(&job);
    if (!bad)
        cli_progress_continues(c, 0); /* if no step was reported */
    if (!bad)
        bad = learn_threshold(&job);
    if (!bad && job.call->report)
        bad = cli_fail(c, mcr_model_bounds(c->ctx, job.model, job.data, 0.05, &job.bounds));
    if (!bad)
        bad = cli_keep_model(c, job.model, &job.keep);
    cli_progress_clear(c);
    if (!bad && c->common.json)
        print_json(&job);
    else if (!bad && !(path && (strcmp(path, "-") == 0 || c->common.quiet)))
        print_summary(&job);
    if (!bad) {
        fflush(stdout);
        warn(&job);
        bad = cli_keep_status(job.model);
    }
    if (!bad && job.call->plot)
        bad = cli_draw_learning(c, job.options, job.kernel, job.data);
    close_job(&job);
    return bad;
}

#define AT(field) offsetof(fit_call, field)

static const cli_option options[] = {
    {.name = "kernel",
     .letter = 'k',
     .type = CLI_TEXT,
     .offset = AT(kernel),
     .argument = "KERNEL",
     .help = "the kernel (default: rbf; gamma, mixed columns: docs/tables.md)"},
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = AT(output),
     .argument = "MODEL",
     .help = "write the model to this file; without it only a summary is printed"},
    {.name = "start",
     .type = CLI_TEXT,
     .offset = AT(start),
     .argument = "MODEL",
     .help = "continue from a model of the same learner and data"},
    {.name = "scale",
     .type = CLI_TEXT,
     .offset = AT(scale),
     .argument = "none|minmax|standard",
     .help = "scale columns to 0..1, or to mean 0 and standard deviation 1"},
    CLI_REQUIRE_OPTION(AT(require)),
    {.name = "resume",
     .type = CLI_TEXT,
     .offset = AT(resume),
     .argument = "MODEL",
     .help = "continue training a model of perceptron or pegasos with more data"},
    {.name = "report",
     .type = CLI_TEXT,
     .offset = AT(report),
     .argument = "bounds",
     .help = "svm with two classes: margin, radius and bounds on the error on new data"},
    {.name = "positive",
     .type = CLI_TEXT,
     .offset = AT(positive),
     .argument = "CLASS",
     .help = "the positive class for precision, recall and curves; stored in the model"},
    {.name = "balance",
     .type = CLI_FLAG,
     .offset = AT(balance),
     .help = "errors of rare classes cost more (--class-weight balanced)"},
    {.name = "threshold",
     .type = CLI_TEXT,
     .offset = AT(threshold),
     .argument = "RULE",
     .help = "two classes: 0.3, cost:FN=10,FP=1 or fpr:0.01, learnt on folds; stored"},
    {.name = "calibrate",
     .type = CLI_REAL,
     .offset = AT(calibrate),
     .argument = "SHARE",
     .min = 0,
     .max = 1,
     .help = "hold out this share of the objects from training, for predict --interval"},
    {.name = "checkpoint",
     .type = CLI_TEXT,
     .offset = AT(checkpoint),
     .argument = "FILE",
     .help = "keep the state of a long training here; continue if it exists"},
    CLI_PLOT_OPTION(AT(plot), "draw a learning curve: errors against the number of objects"),
    CLI_LAST_OPTION,
};

static const char *const words[] = {"LEARNER", "DATA...", NULL};

const cli_verb cli_verb_fit = {
    .name = "fit",
    .summary = "train a learner, and print a summary with the certificate",
    .usage = "LEARNER DATA... [-k KERNEL] [-o MODEL]",
    .about = "Trains LEARNER on the objects of all DATA files together, and prints a summary:\n"
             "support vectors, objective, and a certificate, which shows how far the result is\n"
             "from the optimum and is recomputed from scratch. mercer learners lists the\n"
             "learners; mercer fit LEARNER --help shows the options of one.\n"
             "A limit of time or steps keeps the best model so far, with a warning. Ctrl-C\n"
             "keeps it as well: if MODEL already exists, the new model is written beside it\n"
             "(MODEL.interrupted). The exit status is then 130.\n"
             "--resume continues training a model of perceptron or pegasos with more data. The\n"
             "learner, the kernel and all options that the call does not give are taken from\n"
             "the model.",
    .examples = "mercer sample moons -n 500 -o moons.csv\n"
                "mercer fit svm moons.csv -k 'rbf(gamma=2)' -C 10 -o moons.mercer\n"
                "mercer fit svm moons.csv --class-weight balanced --probability -o p.mercer\n"
                "mercer fit svm moons.csv -k 'rbf(gamma=20)' -C inf --json\n"
                "mercer gram moons.csv -k 'laplace(gamma=1)' -o k.npy\n"
                "mercer predict moons.mercer moons.csv -o y.npy\n"
                "mercer fit svm k.npy --format precomputed --target y.npy\n"
                "mercer sample sinc -n 200 -o sinc.csv\n"
                "mercer fit svr sinc.csv --epsilon 0.05 --tol 1e-6 -o sinc.mercer",
    .traits = CLI_READS | CLI_LEARNS,
    .words = words,
    .min_words = 1,
    .options = options,
    .values_size = sizeof(fit_call),
    .run = run,
};
