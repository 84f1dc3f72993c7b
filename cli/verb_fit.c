/* verb_fit.c: mercer fit: trains a learner and saves the model.
 *
 * What can be refused without the data is refused before they are read: words, kernel, the place of
 * the model.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "advice.h"
#include "cli.h"
#include "drawing.h"
#include "json.h"
#include "learner.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "text.h"

typedef struct fit_call {
    const char *kernel, *output, *start, *resume, *scale;
    int plot;
} fit_call;

typedef struct fit_job {
    cli *c;
    const fit_call *call;
    mcr_options *options;
    mcr_kernel *kernel; /* NULL: the library's default */
    mcr_data *data;
    mcr_model *start, *model;
    int first_file; /* the word that names it */
} fit_job;

/* ---- before the work --------------------------------------------------------------------------*/

static int check_folder(cli *c, const char *path)
{
    char *folder = strdup(path);
    if (!folder)
        cli_die_memory();
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    int bad = access(slash ? folder : ".", W_OK | X_OK) != 0;
    if (bad)
        cli_fault(c, path, "cannot be written: %s", strerror(errno));
    free(folder);
    return bad;
}

/* Hours of training must not end in a file that cannot be written. */
static int check_place(cli *c, const char *path)
{
    struct stat found;
    int bad = cli_output_check(c, path);
    if (bad || !path)
        return bad;
    if (strcmp(path, "-") == 0)
        return isatty(STDOUT_FILENO)
                   ? cli_refuse(c, "-o: a model is not for a terminal: give the name of a file")
                   : 0;
    if (stat(path, &found) != 0)
        return check_folder(c, path);
    if (S_ISDIR(found.st_mode))
        return cli_fault(c, path, "this is a folder, not a file");
    if (access(path, W_OK) != 0)
        return cli_fault(c, path, "cannot be written: %s", strerror(errno));
    return S_ISREG(found.st_mode) ? check_folder(c, path) : 0;
}

/* Learner and kernel are the model's, and so are the options, unless the call says otherwise. Another
 * kernel is refused. The word LEARNER may be left out. */
static int open_more(fit_job *job)
{
    cli *c = job->c;
    const char *path = job->call->resume;
    if (job->call->start)
        return cli_refuse(c, "--start is for the same data, --resume for more: give one of them");
    if (job->call->scale)
        return cli_refuse(c, "--scale: the model that --resume goes on from has its own scaling");
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
                          "--resume: %s is a model of %s, which cannot go on with more data: "
                          "perceptron and pegasos can",
                          path, report->learner);
    bad = cli_fail(c, mcr_options_of(&job->options, c->ctx, job->start));
    if (!bad)
        bad = cli_learner_set(c, job->options, report->learner);
    if (!bad && job->call->kernel)
        bad = cli_read_kernel(c, &job->kernel, job->call->kernel);
    if (!bad)
        bad = check_place(c, job->call->output);
    c->reading.features = report->features;
    c->reading.like = mcr_model_layout(job->start);
    return bad ? bad : cli_read_words(c, &job->data, job->first_file);
}

static int open_job(fit_job *job)
{
    cli *c = job->c;
    if (job->call->resume)
        return open_more(job);
    int bad = cli_learner_options(c, &job->options, cli_word(c, 0));
    if (!bad && job->call->scale)
        bad = cli_fail(c, mcr_options_set(job->options, "scale", job->call->scale));
    if (!bad && job->call->kernel)
        bad = cli_read_kernel(c, &job->kernel, job->call->kernel);
    if (!bad)
        bad = check_place(c, job->call->output);
    if (!bad && job->call->start)
        bad = cli_fail(c, mcr_model_load(&job->start, c->ctx, job->call->start));
    if (!bad)
        bad = cli_read_words(c, &job->data, 1);
    if (!bad && !job->kernel)
        bad = cli_advise_kernel(c, &job->kernel, job->data);
    if (!bad)
        cli_advise_targets(c, cli_word(c, 0), job->data);
    return bad;
}

static void close_job(fit_job *job)
{
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
    cli_report_json(&j, mcr_model_report(job->model));
    cli_json_text(&j, "model", job->call->output);
    cli_json_real(&j, "seconds_total", cli_seconds() - job->c->started);
    cli_json_end(&j);
}

static void print_summary(const fit_job *job)
{
    const char *path = job->call->output;
    const mcr_report_fit *r = mcr_model_report(job->model);
    struct stat file;
    char size[32];
    cli_report_say(r);
    cli_say("seconds", "%.3g (%.3g with reading)", r->seconds, cli_seconds() - job->c->started);
    if (!path)
        cli_say("model", "not kept (-o FILE saves it)");
    else if (stat(path, &file) == 0 && S_ISREG(file.st_mode))
        cli_say("model", "%s, %s", path, cli_bytes_text(size, (double)file.st_size));
    else
        cli_say("model", "%s", path);
}

/* A model that is not optimal is a result, but its user must know, and know how to go on. */
static void warn(const fit_job *job)
{
    static const char *const how[] = {
        [MCR_STOP_STEPS] = "the steps of --max-steps were used up; allow more",
        [MCR_STOP_TIME] = "the time of --time-limit was over; allow more",
        [MCR_STOP_INTERRUPTED] = "interrupted; call it again to finish",
        [MCR_STOP_STUCK] =
            "rounding, or a kernel that is not positive semidefinite, allowed no more "
            "progress; check the kernel (mercer check)",
    };
    const mcr_report_fit *r = mcr_model_report(job->model);
    const char *path = job->call->output;
    char text[512], resume[256] = "", far[96] = "a part of the problem was not begun";
    if (r->stop == MCR_STOP_OPTIMAL || (job->call->resume && r->stop == MCR_STOP_STEPS))
        return;
    if (path && !r->approx && cli_learner_can_start(r->learner) && r->stop != MCR_STOP_STUCK &&
        strcmp(path, "-") != 0)
        snprintf(resume, sizeof resume, " (with --start %s it goes on from here)", path);
    if (isfinite(r->value))
        snprintf(far, sizeof far, "%s %.2g, tolerance %.2g", r->certificate, r->value,
                 r->tolerance);
    if (r->stop == MCR_STOP_STUCK)
        snprintf(resume, sizeof resume, "%s",
                 cli_learner_has(r->learner, "tol") ? ", scale the data, or take a larger --tol"
                                                    : ", or scale the data");
    const char *why = how[r->stop];
    if (r->stop == MCR_STOP_STEPS && cli_learner_has(r->learner, "passes"))
        why = "the passes or steps that were allowed are used up; allow more (--passes)";
    snprintf(text, sizeof text, "not optimal: %s: %s%s", far, why, resume);
    cli_progress_log(job->c, MCR_LOG_WARNING, text);
}

static int train(fit_job *job)
{
    cli *c = job->c;
    if (job->call->resume)
        return cli_fail_words(
            c, mcr_fit_more(&job->model, job->options, job->kernel, job->data, job->start),
            job->first_file);
    return cli_advise_fit(c, mcr_fit(&job->model, job->options, job->kernel, job->data, job->start),
                          job->kernel, job->data);
}

static int run(cli *c, const void *values)
{
    fit_job job = {.c = c, .call = values};
    const char *path = job.call->output;
    int bad = cli_draw_check(c, job.call->plot, cli_word(c, 0));
    if (!bad)
        bad = open_job(&job);
    if (!bad)
        bad = train(&job);
    if (!bad && path)
        bad = cli_fail(c, mcr_model_save(c->ctx, job.model, path));
    cli_progress_clear(c);
    if (!bad && c->common.json)
        print_json(&job);
    else if (!bad && !(path && (strcmp(path, "-") == 0 || c->common.quiet)))
        print_summary(&job);
    if (!bad) {
        fflush(stdout);
        warn(&job);
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
     .help = "the kernel (default: rbf with gamma = 1 / (features * variance))"},
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = AT(output),
     .argument = "MODEL",
     .help = "where the model goes; without it there is only the summary"},
    {.name = "start",
     .type = CLI_TEXT,
     .offset = AT(start),
     .argument = "MODEL",
     .help = "go on from a model of the same learner and data"},
    {.name = "scale",
     .type = CLI_TEXT,
     .offset = AT(scale),
     .argument = "none|minmax|standard",
     .help = "bring vectors to 0..1, or to mean 0 and deviation 1; part of the model"},
    {.name = "resume",
     .type = CLI_TEXT,
     .offset = AT(resume),
     .argument = "MODEL",
     .help = "go on from a model of perceptron or pegasos with more data"},
    CLI_PLOT_OPTION(AT(plot), "draw a learning curve: errors against the number of objects"),
    CLI_LAST_OPTION,
};

static const char *const words[] = {"LEARNER", "DATA...", NULL};

const cli_verb cli_verb_fit = {
    .name = "fit",
    .summary = "train a learner; a summary with the certificate",
    .usage = "LEARNER DATA... [-k KERNEL] [-o MODEL]",
    .about = "Trains LEARNER on the objects of all DATA files together, and says what was found: "
             "support\n"
             "objects, objective, and a certificate: how far the result is from optimal, computed "
             "anew at\n"
             "the end. mercer learners lists the learners; mercer fit LEARNER --help shows the "
             "options of\n"
             "one. A limit of time or steps, or Ctrl-C, keeps the best model so far, and says so.\n"
             "With --resume a model of perceptron or pegasos goes on with more data; learner and "
             "kernel are\n"
             "the model's, and options where the call does not say otherwise.",
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
