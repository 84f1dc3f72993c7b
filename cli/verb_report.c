/* verb_report.c: mercer report: a page that describes a model on some data, or compares two models.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "compare.h"
#include "evaluate.h"
#include "output.h"
#include "page.h"
#include "progress.h"
#include "text.h"

typedef struct report_call {
    const char *output, *metric, *positive;
    int learning;
    int64_t repeats;
} report_call;

enum { MOST_MODELS = 2, HARDEST = 10, MOST_ROWS = 20, DEPENDENCES = 4, NEAREST = 3 };
/* Width of a picture in pixels: its text is still readable on a phone. */
enum { NARROW = 480 };

/* A model and its predictions for the data. */
typedef struct subject {
    const char *path;
    mcr_model *model;
    cli_evaluation evaluation;
    double *value, *score, *proba;
} subject;

typedef struct report_job {
    cli *c;
    const report_call *call;
    int models;
    subject of[MOST_MODELS];
    mcr_data *data;
    int64_t n;
    FILE *to;
    char *page;
    size_t size;
} report_job;

/* ---- input ------------------------------------------------------------------------------------*/

static int read_models(report_job *job)
{
    cli *c = job->c;
    int bad = 0;
    while (!bad && job->models < MOST_MODELS && cli_word(c, job->models) &&
           (job->models == 0 || cli_is_model(cli_word(c, job->models)))) {
        subject *s = &job->of[job->models];
        s->path = cli_word(c, job->models++);
        bad = cli_fail(c, mcr_model_load(&s->model, c->ctx, s->path));
        mcr_task task = bad ? MCR_CLASSIFY : mcr_model_report(s->model)->task;
        if (!bad && task != MCR_CLASSIFY && task != MCR_REGRESS)
            bad = cli_refuse(
                c, "%s is a model of %s: a report needs predictions of classes or numbers", s->path,
                mcr_model_report(s->model)->learner);
        if (!bad && mcr_model_report(s->model)->targets > 1)
            bad = cli_refuse(c, "%s predicts several targets: a report covers one", s->path);
        if (!bad && job->models == 2 && task != mcr_model_report(job->of[0].model)->task)
            bad = cli_refuse(c, "%s and %s predict different things", job->of[0].path, s->path);
    }
    if (!bad && !cli_word(c, job->models))
        bad = cli_refuse(c, "DATA is missing: mercer report MODEL DATA -o report.html");
    return bad;
}

/* Predictions for all objects, with scores and probabilities if available. */
static int ask(report_job *job, subject *s)
{
    cli *c = job->c;
    int64_t outputs = mcr_model_outputs(s->model), classes = mcr_model_classes(s->model);
    int64_t positive, negative = 0;
    int proba = classes > 0 && mcr_model_has_probability(s->model);
    mcr_model_sides(s->model, 0, &positive, &negative);
    int per_class = classes > 0 && (outputs == 1 || (outputs == classes && negative < 0));
    int bad = cli_evaluation_open(&s->evaluation, c, s->model, job->data, job->call->positive);
    if (bad)
        return bad;
    if (!s->evaluation.what.target)
        return cli_fault(
            c, cli_word(c, job->models),
            "a report compares predictions with targets, and there are no suitable ones");
    s->evaluation.metrics = job->call->metric;
    s->value = cli_alloc_matrix(c, job->n, 1, sizeof *s->value);
    s->score = per_class ? cli_alloc_matrix(c, job->n, outputs, sizeof *s->score) : NULL;
    s->proba = proba ? cli_alloc_matrix(c, job->n, classes, sizeof *s->proba) : NULL;
    if (!s->value || (per_class && !s->score) || (proba && !s->proba))
        return 1;
    bad = cli_fail_words(c, mcr_predict(c->ctx, s->model, job->data, s->value, s->score, s->proba),
                         job->models);
    s->evaluation.what.value = s->value;
    s->evaluation.what.score = outputs > 1 && proba ? NULL : s->score;
    s->evaluation.what.proba = s->proba;
    return bad ? bad : cli_evaluation_check(c, &s->evaluation);
}

static int open_job(report_job *job)
{
    cli *c = job->c;
    int bad = cli_output_check_place(c, job->call->output);
    if (!bad)
        bad = read_models(job);
    if (bad)
        return bad;
    cli_read_like(c, job->of[0].model);
    bad = cli_read_words(c, &job->data, job->models);
    job->n = bad ? 0 : mcr_data_count(job->data);
    for (int m = 0; m < job->models && !bad; m++)
        bad = ask(job, &job->of[m]);
    if (!bad && !(job->to = open_memstream(&job->page, &job->size)))
        cli_die_memory();
    return bad;
}

static void close_job(report_job *job)
{
    if (job->to)
        fclose(job->to);
    free(job->page);
    for (int m = 0; m < job->models; m++) {
        cli_evaluation_close(&job->of[m].evaluation);
        mcr_model_free(job->of[m].model);
        free(job->of[m].value);
        free(job->of[m].score);
        free(job->of[m].proba);
    }
    mcr_data_free(job->data);
}

/* ---- data and model ---------------------------------------------------------------------------*/

static void put_fields(const report_job *job)
{
    mcr_field_info f = MCR_INIT(mcr_field_info);
    FILE *to = job->to;
    cli_page_row(to, "objects", "%" PRId64, job->n);
    for (int64_t k = 0; k < mcr_data_fields(job->data) && k < MOST_ROWS; k++) {
        char missing[64] = "";
        if (mcr_data_field_info(job->data, k, &f) != MCR_OK)
            continue;
        if (f.missing)
            snprintf(missing, sizeof missing, ", %" PRId64 " values missing", f.missing);
        if (f.cols > 0 && f.role != MCR_DATE)
            cli_page_row(to, f.name, "%" PRId64 " number%s%s", f.cols, f.cols == 1 ? "" : "s",
                         missing);
        else
            cli_page_row(to, f.name, "%s%s",
                         f.role != MCR_ROLE_NONE ? mcr_role_name(f.role)
                         : f.kind == MCR_GRAPHS  ? "graphs"
                                                 : "strings",
                         missing);
    }
    for (int64_t k = 0; k < mcr_data_classes(job->data) && k < MOST_ROWS &&
                        mcr_model_classes(job->of[0].model) > 0;
         k++) {
        int64_t count = 0;
        for (int64_t i = 0; i < job->n; i++)
            count += mcr_data_class_of(job->data)[i] == k;
        char name[128];
        snprintf(name, sizeof name, "class %.100s", mcr_data_class_name(job->data, k));
        cli_page_row(to, name, "%" PRId64 " (%.3g %%)", count,
                     100 * (double)count / (double)job->n);
    }
}

static void put_model(const report_job *job, const subject *s)
{
    const mcr_report_fit *r = mcr_model_report(s->model);
    FILE *to = job->to;
    cli_page_row(to, "file", "%s", s->path);
    cli_page_row(to, "learner", "%s%s%s", r->learner, *r->options ? ", " : "", r->options);
    cli_page_row(to, "kernel", "%s", r->kernel);
    cli_page_row(to, "trained on", "%" PRId64 " objects, %" PRId64 " support vectors", r->n,
                 r->support);
    if (r->certificate && isfinite(r->value))
        cli_page_row(to, "certificate", "%s %.3g, tolerance %.2g: %s", r->certificate, r->value,
                     r->tolerance, mcr_stop_name(r->stop));
    if (isfinite(r->gap))
        cli_page_row(to, "duality gap", "%.3g (primal %.9g, dual %.9g)", r->gap, r->primal,
                     r->dual);
}

/* ---- how good it is ---------------------------------------------------------------------------*/

static int put_metrics(const report_job *job)
{
    mcr_metric_info m = MCR_INIT(mcr_metric_info);
    FILE *to = job->to;
    int bad = 0;
    fprintf(to, "<table class=\"numbers\"><tr><th>metric</th>");
    for (int k = 0; k < job->models; k++) {
        fprintf(to, "<th>");
        cli_page_text(to, job->models > 1 ? job->of[k].path : "value");
        fprintf(to, "</th>");
    }
    fprintf(to, "</tr>\n");
    for (int64_t i = 0; !bad && mcr_metric_describe(i, &m) == MCR_OK; i++) {
        int any = 0;
        for (int k = 0; k < job->models; k++)
            any |= cli_evaluation_has(&job->of[k].evaluation, &m);
        if (!any)
            continue;
        fprintf(to, "<tr><td title=\"");
        cli_page_text(to, m.summary);
        fprintf(to, "\">%s</td>", m.name);
        for (int k = 0; k < job->models && !bad; k++) {
            double value = NAN;
            if (cli_evaluation_has(&job->of[k].evaluation, &m))
                bad = cli_fail(
                    job->c, mcr_evaluate(job->c->ctx, m.name, &job->of[k].evaluation.what, &value));
            fprintf(to, isnan(value) ? "<td>&ndash;</td>" : "<td>%.5g</td>", value);
        }
        fprintf(to, "</tr>\n");
    }
    fprintf(to, "</table>\n");
    const char *positive = cli_evaluation_positive(&job->of[0].evaluation);
    if (positive) {
        fprintf(to, "<p>Precision, recall, F1, curves and brier are for the class <b>");
        cli_page_text(to, positive);
        fprintf(to, "</b>.</p>\n");
    }
    return bad;
}

/* A picture of a kind, if it can be drawn; if not, that is not an error. */
static int put_picture(const report_job *job, const subject *s, const char *kind,
                       const char *column, const char *id)
{
    mcr_figure *figure = NULL;
    const char *bytes;
    size_t count;
    mcr_status status = mcr_figure_open(&figure, job->c->ctx,
                                        &(mcr_plot){.size = sizeof(mcr_plot),
                                                    .kind = kind,
                                                    .model = s->model,
                                                    .data = job->data,
                                                    .x = column});
    if (status == MCR_OK)
        status = mcr_figure_draw(
            figure, "svg", &(mcr_draw){.size = sizeof(mcr_draw), .width = NARROW}, &bytes, &count);
    if (status == MCR_OK)
        cli_page_picture(job->to, id, bytes, count);
    mcr_figure_close(figure);
    return status == MCR_BAD_CALL || status == MCR_BAD_DATA ? 0 : cli_fail(job->c, status);
}

static int put_pictures(const report_job *job, const subject *s)
{
    static const char *const of_classes[] = {"confusion", "roc", "pr", "calibration", NULL};
    static const char *const of_numbers[] = {"residuals", NULL};
    int classes = mcr_model_classes(s->model) > 0, bad = 0;
    const char *const *kind = classes ? of_classes : of_numbers;
    fprintf(job->to, "<div class=\"pictures\">\n");
    for (; *kind && !bad; kind++)
        bad = put_picture(job, s, *kind, NULL, *kind);
    if (!bad && job->call->learning)
        bad = put_picture(job, s, "learning", NULL, "learning");
    if (!bad && s->score && s->evaluation.what.outputs == 1)
        cli_page_histogram(job->to, &s->evaluation);
    fprintf(job->to, "</div>\n");
    return bad;
}

/* Partial dependence on the most important columns; uninformative ones are omitted. */
static int put_dependences(const report_job *job, const subject *s, const mcr_importance_report *r)
{
    const mcr_importance **item = cli_page_order(r);
    int bad = 0;
    fprintf(job->to, "<div class=\"pictures\">\n");
    for (int64_t i = 0; i < r->count && i < DEPENDENCES && item[i]->mean > 0 && !bad; i++) {
        char id[32];
        snprintf(id, sizeof id, "dependence%d", (int)i + 1);
        bad = put_picture(job, s, "dependence", item[i]->name, id);
    }
    fprintf(job->to, "</div>\n");
    free(item);
    return bad;
}

static int put_importance(const report_job *job, const subject *s)
{
    mcr_importance_report *r = NULL;
    mcr *ctx = job->c->ctx;
    const char *metric = job->call->metric && !strchr(job->call->metric, ',') ? job->call->metric
                                                                              : NULL;
    mcr_status status = mcr_model_importance(&r, ctx, s->model, job->data, metric,
                                             job->call->repeats > 0 ? job->call->repeats : 0);
    if (status == MCR_BAD_CALL) { /* too many columns, precomputed values */
        fprintf(job->to, "<p>Not computed: ");
        cli_page_text(job->to, mcr_message(ctx));
        fprintf(job->to, ".</p>\n");
        return 0;
    }
    int bad = cli_fail(job->c, status);
    if (!bad) {
        cli_page_importance(job->to, r);
        bad = put_dependences(job, s, r);
    }
    mcr_importance_free(ctx, r);
    return bad;
}

/* ---- hardest objects --------------------------------------------------------------------------*/

typedef struct hard {
    double loss;
    int64_t object;
} hard;

static int harder_first(const void *a, const void *b)
{
    const hard *x = a, *y = b;
    return x->loss != y->loss ? (x->loss < y->loss) - (x->loss > y->loss)
                              : (x->object > y->object) - (x->object < y->object);
}

/* How wrong a prediction is: the error of numbers; for classes decreasing with the score of the
 * true one. */
static double loss_of(const subject *s, int64_t i)
{
    const mcr_evaluated *w = &s->evaluation.what;
    int64_t class = (int64_t)w->target[i];
    if (w->task == MCR_REGRESS)
        return fabs(w->target[i] - w->value[i]);
    if (class >= w->classes)
        return INFINITY;
    if (s->proba)
        return 1 - s->proba[i * w->classes + class];
    if (s->score && w->outputs == 1)
        return class ? -s->score[i] : s->score[i];
    return w->target[i] != w->value[i];
}

static void put_value(const report_job *job, const subject *s, double value)
{
    if (s->evaluation.what.task == MCR_CLASSIFY)
        cli_page_text(job->to, s->evaluation.name[(int64_t)value]);
    else
        fprintf(job->to, "%.6g", value);
}

static void put_id(const report_job *job, int64_t i)
{
    const char *bytes;
    int64_t length;
    mcr_role role;
    fprintf(job->to, "%" PRId64, i + 1);
    for (int64_t k = 0; k < mcr_data_carried(job->data); k++)
        if (mcr_data_carried_name(job->data, k, &role) && role == MCR_ID &&
            mcr_data_carried_text(job->data, k, i, &bytes, &length) == MCR_OK) {
            char text[64];
            snprintf(text, sizeof text, " (%.*s)", length < 50 ? (int)length : 50, bytes);
            cli_page_text(job->to, text);
        }
}

/* "12: yes (0.41)": the training object, its target, and its distance. */
static int put_nearest(const report_job *job, const subject *s, const mcr_coefficient *row,
                       int64_t i)
{
    int64_t support[NEAREST], found = 0;
    double distance[NEAREST];
    mcr_status status = mcr_model_nearest(job->c->ctx, s->model, job->data, i, NEAREST, support,
                                          distance, &found);
    for (int64_t k = 0; k < found && status == MCR_OK; k++) {
        const mcr_coefficient *of = &row[support[k]];
        fprintf(job->to, k > 0 ? ", " : "");
        if (of->object >= 0)
            fprintf(job->to, "%" PRId64 ": ", of->object + 1);
        if (isfinite(of->target) && s->evaluation.what.task == MCR_CLASSIFY)
            cli_page_text(job->to, mcr_model_class_name(s->model, (int64_t)of->target));
        else if (isfinite(of->target))
            fprintf(job->to, "%.6g", of->target);
        fprintf(job->to, " (%.3g)", distance[k]);
    }
    return cli_fail(job->c, status);
}

/* The support vectors with their targets; *out NULL: there are none, or no targets are known. */
static int read_support(mcr_coefficient **out, const report_job *job, const subject *s)
{
    int64_t count = mcr_model_support(s->model);
    double offset, square;
    *out = count > 0 ? cli_alloc((size_t)count, sizeof **out) : NULL;
    mcr_status status = *out ? mcr_model_dual(job->c->ctx, s->model, 0, *out, &offset, &square)
                             : MCR_OK;
    if (status) {
        free(*out);
        *out = NULL;
    }
    return status == MCR_BAD_CALL ? 0 : cli_fail(job->c, status);
}

static int put_hardest(const report_job *job, const subject *s)
{
    mcr_coefficient *row;
    int bad = read_support(&row, job, s);
    if (bad)
        return bad;
    hard *list = cli_alloc((size_t)job->n + 1, sizeof *list);
    for (int64_t i = 0; i < job->n; i++)
        list[i] = (hard){loss_of(s, i), i};
    qsort(list, (size_t)job->n, sizeof *list, harder_first);
    fprintf(job->to,
            "<table class=\"numbers\"><tr><th>object</th><th>target</th><th>prediction</th>"
            "<th>%s</th>%s</tr>\n",
            s->evaluation.what.task == MCR_REGRESS ? "error"
            : s->proba                             ? "1 - probability of the target"
                                                   : "score against the target",
            row ? "<th>nearest support vectors (distance)</th>" : "");
    for (int64_t k = 0; k < HARDEST && k < job->n && !bad; k++) {
        int64_t i = list[k].object;
        fprintf(job->to, "<tr><td>");
        put_id(job, i);
        fprintf(job->to, "</td><td>");
        put_value(job, s, s->evaluation.what.target[i]);
        fprintf(job->to, "</td><td>");
        put_value(job, s, s->value[i]);
        fprintf(job->to, "</td><td>%.5g</td>", list[k].loss);
        if (row) {
            fprintf(job->to, "<td>");
            bad = put_nearest(job, s, row, i);
            fprintf(job->to, "</td>");
        }
        fprintf(job->to, "</tr>\n");
    }
    fprintf(job->to, "</table>\n");
    free(list);
    free(row);
    return bad;
}

/* ---- the page ---------------------------------------------------------------------------------*/

static int put_subject(const report_job *job, const subject *s)
{
    FILE *to = job->to;
    cli_page_section(to, "Pictures");
    int bad = put_pictures(job, s);
    if (bad)
        return bad;
    cli_page_section(to, "What the predictions depend on");
    bad = put_importance(job, s);
    if (bad)
        return bad;
    cli_page_section(to, "Hardest objects");
    return put_hardest(job, s);
}

static int put_page(report_job *job)
{
    FILE *to = job->to;
    char title[256];
    int bad = 0;
    snprintf(title, sizeof title, "%.100s%s%.100s", job->of[0].path, job->models > 1 ? " and " : "",
             job->models > 1 ? job->of[1].path : "");
    cli_page_begin(to, title);
    cli_page_section(to, "Data");
    fprintf(to, "<table>\n");
    put_fields(job);
    fprintf(to, "</table>\n");
    for (int m = 0; m < job->models; m++) {
        cli_page_section(to, "Model");
        fprintf(to, "<table>\n");
        put_model(job, &job->of[m]);
        fprintf(to, "</table>\n");
    }
    cli_page_section(to, "Metrics");
    bad = put_metrics(job);
    if (!bad && job->models > 1) {
        cli_page_section(to, "Comparison");
        bad = cli_compare_put(job->c, to, &job->of[0].evaluation.what, &job->of[1].evaluation.what);
    } else if (!bad) {
        bad = put_subject(job, &job->of[0]);
    }
    cli_page_end(to);
    return bad;
}

static int run(cli *c, const void *values)
{
    report_job job = {.c = c, .call = values};
    char size[32];
    int bad = open_job(&job);
    if (!bad)
        bad = put_page(&job);
    if (!bad && fflush(job.to))
        cli_die_memory();
    cli_progress_clear(c);
    if (!bad)
        bad = cli_output_text(c, job.call->output, job.page, job.size);
    if (!bad && c->common.json)
        bad = cli_evaluation_compute(c, &job.of[0].evaluation, 1);
    if (!bad && c->common.json) {
        cli_json j;
        cli_json_begin(&j, stdout);
        cli_json_integer(&j, "n", job.n);
        cli_json_integer(&j, "models", job.models);
        cli_json_object(&j, "metrics");
        cli_evaluation_json(&j, &job.of[0].evaluation);
        cli_json_end(&j);
        cli_json_text(&j, "output", job.call->output);
        cli_json_end(&j);
    } else if (!bad && !c->common.quiet) {
        printf("%s: report, %s\n", job.call->output, cli_bytes_text(size, (double)job.size));
    }
    close_job(&job);
    return bad;
}

#define AT(field) offsetof(report_call, field)

static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = AT(output),
     .required = 1,
     .argument = "FILE.html",
     .help = "write the page to this file"},
    CLI_EVALUATION_OPTIONS(report_call, metric, positive),
    {.name = "learning",
     .type = CLI_FLAG,
     .offset = AT(learning),
     .help = "add a learning curve, which trains on parts of DATA"},
    {.name = "learning-curve",
     .type = CLI_FLAG,
     .offset = AT(learning),
     .help = "the same as --learning"},
    {.name = "repeats",
     .type = CLI_INT,
     .offset = AT(repeats),
     .argument = "N",
     .min = 2,
     .max = 1e6,
     .help = "how often each column is shuffled (default 10)"},
    CLI_LAST_OPTION,
};

static const char *const words[] = {"MODEL", "MODEL|DATA...", NULL};

const cli_verb cli_verb_report = {
    .name = "report",
    .summary = "write a page with metrics and pictures of one or two models",
    .usage = "MODEL [MODEL] DATA... -o FILE.html",
    .about = "Writes a self-contained HTML page: the data, the model with its certificate,\n"
             "metrics, confusion matrix, ROC and precision-recall curves, calibration,\n"
             "residuals, a histogram of the scores, the importance of the columns with\n"
             "intervals, how predictions depend on the most important ones, and the hardest\n"
             "objects with their nearest support vectors.\n"
             "With two models, their metrics are compared by McNemar's test and the paired\n"
             "bootstrap.",
    .examples = "mercer sample moons -n 400 --noise 0.3 -o moons.csv\n"
                "mercer fit svm moons.csv -k 'rbf(gamma=2)' --probability -o moons.mercer\n"
                "mercer fit svm moons.csv -k linear -o line.mercer\n"
                "mercer sample moons -n 300 --noise 0.3 --seed 2 -o new.csv\n"
                "mercer report moons.mercer new.csv -o report.html\n"
                "mercer report moons.mercer line.mercer new.csv -o both.html",
    .traits = CLI_READS,
    .words = words,
    .min_words = 1,
    .options = options,
    .values_size = sizeof(report_call),
    .run = run,
};
