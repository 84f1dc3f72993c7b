/* evaluate.c: evaluation of predictions against targets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "evaluate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "team.h"
#include "text.h"

enum { MOST_COLUMNS = 12, MOST_ROWS = 50, MOST_IN_JSON = 1000 };

/* ---- what is compared -------------------------------------------------------------------------*/

static int is_decimal(const char *text)
{
    char *end;
    (void)strtod(text, &end);
    return *text && !*end && !text[strspn(text, "0123456789+-.eE")];
}

int cli_same_class(const char *a, const char *b)
{
    return strcmp(a, b) == 0 ||
           (is_decimal(a) && is_decimal(b) && strtod(a, NULL) == strtod(b, NULL));
}

static int64_t find_class(const cli_evaluation *e, int64_t count, const char *name)
{
    for (int64_t k = 0; k < count; k++)
        if (cli_same_class(e->name[k], name))
            return k;
    return -1;
}

static int choose_positive(cli_evaluation *e, cli *c, const char *positive)
{
    if (!positive)
        return 0;
    e->what.positive = find_class(e, e->what.classes, positive);
    return e->what.positive >= 0
               ? 0
               : cli_refuse(c, "--positive %s: the model has no such class; it has %s%s%s",
                            positive, e->name[0], e->what.classes > 1 ? ", " : "",
                            e->what.classes > 1 ? e->name[1] : "");
}

/* The library decides which classes the model does not know; the matrix has its size. A view of the
 * data may lack some of the classes. */
static void name_targets(cli_evaluation *e, const mcr_data *data)
{
    int64_t known = e->what.classes, used = known;
    for (int64_t i = 0; i < e->what.n; i++)
        used = (int64_t)e->target[i] < used ? used : (int64_t)e->target[i] + 1;
    while (e->names < used)
        e->name[e->names++] = "";
    e->names = used;
    for (int64_t i = 0; i < e->what.n; i++)
        if (e->target[i] >= (double)known)
            e->name[(int64_t)e->target[i]] = mcr_data_class_name(data, mcr_data_class_of(data)[i]);
}

int cli_evaluation_open(cli_evaluation *e, cli *c, const mcr_model *model, const mcr_data *data,
                        const char *positive)
{
    mcr_task task = mcr_model_report(model)->task;
    int64_t n = mcr_data_count(data), k = task == MCR_CLASSIFY ? mcr_model_classes(model) : 0;
    e->what = (mcr_evaluated){.size = sizeof e->what,
                              .task = task,
                              .n = n,
                              .classes = k,
                              .outputs = mcr_model_outputs(model),
                              .positive = mcr_model_positive(model),
                              .weight = mcr_data_weights(data)};
    e->name = cli_alloc((size_t)(k + mcr_data_classes(data)) + 1, sizeof *e->name);
    for (; e->names < k; e->names++)
        e->name[e->names] = mcr_model_class_name(model, e->names);
    for (int64_t t = 0; t < mcr_data_classes(data) && k > 0; t++)
        if (find_class(e, k, mcr_data_class_name(data, t)) < 0)
            e->name[e->names++] = mcr_data_class_name(data, t);
    int bad = choose_positive(e, c, positive);
    if (bad || mcr_data_target_kind(data) == MCR_NO_TARGETS || (n == 0 && !cli_team_of_rows(c)))
        return bad;
    if (!(e->target = cli_alloc_matrix(c, n, 1, sizeof *e->target)))
        return 1;
    mcr_status status = mcr_model_truth(c->ctx, model, data, e->target);
    if (status == MCR_NO_MEMORY)
        return cli_fail(c, status);
    if (status == MCR_OK)
        e->what.target = e->target;
    if (k > 0 && e->what.target)
        name_targets(e, data);
    return 0;
}

void cli_evaluation_close(cli_evaluation *e)
{
    free(e->name);
    free(e->target);
    free(e->value);
    free(e->confusion);
    free(e->each);
}

const char *cli_evaluation_positive(const cli_evaluation *e)
{
    return e->what.positive >= 0 ? e->name[e->what.positive] : NULL;
}

/* ---- which metrics ----------------------------------------------------------------------------*/

/* The next of a comma-separated list; NULL: the end. */
static const char *next_name(const char *list, char name[64])
{
    size_t length = list ? strcspn(list, ",") : 0;
    if (!list || !*list)
        return NULL;
    snprintf(name, 64, "%.*s", (int)(length < 63 ? length : 63), list);
    return list + length + (list[length] == ',');
}

/* Compares names as the library does: auc for roc_auc, etc. */
static int is_named(const char *metric, const char *name)
{
    size_t i = 0;
    if (strcmp(name, "auc") == 0)
        return strcmp(metric, "roc_auc") == 0;
    while (name[i] && (name[i] == metric[i] || (name[i] == '-' && metric[i] == '_')))
        i++;
    return !name[i] && !metric[i];
}

static int is_wanted(const cli_evaluation *e, const mcr_metric_info *m)
{
    char name[64];
    const char *at = e->metrics;
    int wanted = !e->metrics;
    while ((at = next_name(at, name)))
        wanted |= is_named(m->name, name);
    return wanted;
}

static int is_there(const cli_evaluation *e, const mcr_metric_info *m)
{
    const mcr_evaluated *w = &e->what;
    int detects = w->task == MCR_DETECT && (m->score || strcmp(m->name, "accuracy") == 0);
    return (m->task == w->task || detects) && (!m->proba || w->proba) &&
           (!m->score || w->score || w->proba) && (!m->intervals || w->lower);
}

int cli_evaluation_has(const cli_evaluation *e, const mcr_metric_info *metric)
{
    return is_there(e, metric) && is_wanted(e, metric);
}

int cli_evaluation_ranks(const cli_evaluation *e)
{
    mcr_metric_info m = MCR_INIT(mcr_metric_info);
    int ranks = 0;
    for (int64_t i = 0; e->metrics && mcr_metric_describe(i, &m) == MCR_OK; i++)
        ranks |= is_wanted(e, &m) && (m.score || m.proba);
    return ranks;
}

int cli_evaluation_check_names(cli *c, const cli_evaluation *e)
{
    char name[64];
    double value, zero = 0;
    const char *at = e->metrics;
    mcr_evaluated one = {.size = sizeof one, /* a valid object, so that only the name can be
                                              * wrong */
                         .task = e->what.task,
                         .n = 1,
                         .classes = e->what.classes,
                         .outputs = e->what.outputs,
                         .positive = e->what.positive,
                         .target = &zero,
                         .value = &zero};
    while ((at = next_name(at, name))) {
        mcr_metric_info m = MCR_INIT(mcr_metric_info);
        int known = 0;
        for (int64_t i = 0; !known && mcr_metric_describe(i, &m) == MCR_OK; i++)
            known = is_named(m.name, name);
        if (!known)
            return cli_fail(c, mcr_evaluate(c->ctx, name, &one, &value));
    }
    return 0;
}

/* The library reports what is wrong with a name, or which input a metric lacks. */
int cli_evaluation_check(cli *c, const cli_evaluation *e)
{
    char name[64];
    double value;
    const char *at = e->metrics;
    int bad = 0;
    while (!bad && (at = next_name(at, name)))
        bad = cli_fail(c, mcr_evaluate(c->ctx, name, &e->what, &value));
    return bad;
}

int cli_evaluation_compute(cli *c, cli_evaluation *e, int metrics)
{
    mcr_metric_info m = MCR_INIT(mcr_metric_info);
    int64_t count = 0, k = e->names;
    int bad = 0;
    while (mcr_metric_describe(count, &m) == MCR_OK)
        count++;
    if (metrics)
        e->value = cli_alloc((size_t)count, sizeof *e->value);
    for (int64_t i = 0; metrics && !bad && mcr_metric_describe(i, &m) == MCR_OK; i++)
        if (is_there(e, &m) && is_wanted(e, &m))
            bad = cli_fail(c, mcr_evaluate(c->ctx, m.name, &e->what, &e->value[i]));
    if (bad || e->what.task != MCR_CLASSIFY)
        return bad;
    e->confusion = k <= MOST_IN_JSON ? cli_alloc((size_t)(k * k), sizeof *e->confusion) : NULL;
    e->each = cli_alloc((size_t)k, sizeof *e->each);
    if (e->confusion)
        bad = cli_fail(c, mcr_confusion(c->ctx, &e->what, e->confusion));
    return bad ? bad : cli_fail(c, mcr_class_scores(c->ctx, &e->what, e->each));
}

/* ---- for people -------------------------------------------------------------------------------*/

/* One line of metrics of one kind: 0 of all classes, 1 of the positive one. */
static void say_sort(FILE *to, const cli_evaluation *e, int sort)
{
    mcr_metric_info m = MCR_INIT(mcr_metric_info);
    int said = 0;
    for (int64_t i = 0; mcr_metric_describe(i, &m) == MCR_OK; i++) {
        double value = e->value[i];
        int own = m.positive && e->what.positive >= 0;
        if (!is_there(e, &m) || !is_wanted(e, &m) || own != sort)
            continue;
        if (!said && sort) {
            fprintf(to, "positive class ");
            cli_put_clean(to, e->name[e->what.positive], 60);
            fprintf(to, ": ");
        }
        fprintf(to, isnan(value) ? "%s%s undefined" : "%s%s %.6g", said ? ", " : "", m.name, value);
        said = 1;
        if (strcmp(m.name, "accuracy") == 0 && e->what.weight)
            fprintf(to, " (weighted, %" PRId64 " objects)", e->what.n);
        else if (strcmp(m.name, "accuracy") == 0)
            fprintf(to, " (%.0f of %" PRId64 "%s)", value * (double)e->what.n, e->what.n,
                    e->what.task == MCR_DETECT ? "; target +1: inside, -1: outside" : "");
    }
    char count[64];
    if (said && e->what.task != MCR_CLASSIFY && e->what.task != MCR_DETECT)
        fprintf(to, " (%s%s)", cli_count_text(count, e->what.n, "object"),
                e->what.weight ? ", weighted" : "");
    if (said)
        fprintf(to, "\n");
}

static void put_name(FILE *to, const char *name, int width)
{
    int length = (int)strlen(name);
    int shown = length < width ? length : width;
    cli_put_clean(to, name, (size_t)shown);
    fprintf(to, "%*s", width - shown, "");
}

/* Rows are true classes; the columns of the matrix are omitted if there are many. */
static void say_classes(FILE *to, const cli_evaluation *e, const double *matrix,
                        const mcr_class_score *each)
{
    enum { LEAST = 7, MOST = 20, CELL = 10 };
    int width = LEAST;
    int64_t k = e->names, columns = k <= MOST_COLUMNS ? k : 0;
    for (int64_t c = 0; c < k; c++)
        width = (int)strlen(e->name[c]) > width ? (int)strlen(e->name[c]) : width;
    width = width < MOST ? width : MOST;
    if (columns)
        fprintf(to, "%-*s  predicted as\n", width, "");
    fprintf(to, "%-*s", width, columns ? "true" : "class");
    for (int64_t c = 0; c < columns; c++) {
        fprintf(to, "  ");
        int length = (int)strlen(e->name[c]);
        fprintf(to, "%*s", length < CELL - 2 ? CELL - 2 - length : 0, "");
        cli_put_clean(to, e->name[c], CELL - 2);
    }
    fprintf(to, "  %9s  %7s  %7s  %8s\n", "precision", "recall", "f1", "support");
    for (int64_t c = 0; c < k && c < MOST_ROWS; c++) {
        put_name(to, e->name[c], width);
        for (int64_t p = 0; p < columns; p++)
            fprintf(to, "%*.6g", CELL, matrix[c * k + p]);
        fprintf(to, "  %9.4f  %7.4f  %7.4f  %8.6g\n", each[c].precision, each[c].recall, each[c].f1,
                each[c].support);
    }
    if (k > MOST_ROWS)
        fprintf(to, "... %" PRId64 " more classes (--json has all of them)\n", k - MOST_ROWS);
}

void cli_evaluation_say(FILE *to, const cli_evaluation *e)
{
    for (int sort = 0; sort < 2 && e->value; sort++)
        say_sort(to, e, sort);
    if (e->each && !e->metrics)
        say_classes(to, e, e->confusion, e->each);
}

/* ---- for programs -----------------------------------------------------------------------------*/

static void classes_json(cli_json *j, const cli_evaluation *e, const double *matrix,
                         const mcr_class_score *each)
{
    cli_json_list(j, "classes");
    for (int64_t k = 0; k < e->names; k++) {
        cli_json_object(j, NULL);
        cli_json_text(j, "name", e->name[k]);
        cli_json_real(j, "precision", each[k].precision);
        cli_json_real(j, "recall", each[k].recall);
        cli_json_real(j, "f1", each[k].f1);
        cli_json_real(j, "support", each[k].support);
        cli_json_end(j);
    }
    cli_json_end(j);
    if (!matrix)
        return;
    cli_json_list(j, "confusion");
    for (int64_t k = 0; k < e->names; k++)
        cli_json_reals(j, NULL, matrix + k * e->names, e->names);
    cli_json_end(j);
}

void cli_evaluation_json(cli_json *j, const cli_evaluation *e)
{
    mcr_metric_info m = MCR_INIT(mcr_metric_info);
    for (int64_t i = 0; e->value && mcr_metric_describe(i, &m) == MCR_OK; i++)
        if (is_there(e, &m) && is_wanted(e, &m))
            cli_json_real(j, m.name, e->value[i]);
    if (!e->each)
        return;
    cli_json_text(j, "positive", cli_evaluation_positive(e));
    classes_json(j, e, e->confusion, e->each);
}

/* ---- thresholds -------------------------------------------------------------------------------*/

void cli_evaluation_say_threshold(FILE *to, const mcr_model *model)
{
    mcr_threshold t = MCR_INIT(mcr_threshold);
    if (mcr_model_threshold(model, &t) != MCR_OK || isnan(t.value))
        return;
    fprintf(to, "threshold  %.6g of the %s for class ", t.value,
            t.probability ? "probability" : "decision value");
    cli_put_clean(to, mcr_model_class_name(model, mcr_model_positive(model)), 60);
    fprintf(to, "\n");
}

void cli_evaluation_threshold_json(cli_json *j, const mcr_model *model)
{
    mcr_threshold t = MCR_INIT(mcr_threshold);
    if (mcr_model_threshold(model, &t) != MCR_OK || isnan(t.value))
        return;
    cli_json_object(j, "threshold");
    cli_json_real(j, "value", t.value);
    cli_json_text(j, "of", t.probability ? "probability" : "score");
    cli_json_text(j, "positive", mcr_model_class_name(model, mcr_model_positive(model)));
    cli_json_end(j);
}
