/* verb_info.c: mercer info: the contents of a data file or model file.
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
#include "coefficients.h"
#include "evaluate.h"
#include "json.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "tables.h"
#include "text.h"

enum { CLASSES_SHOWN = 20 };

typedef struct info_call {
    const char *output;
    int coefficients;
} info_call;

/* Statistics of the targets. */
typedef struct target_info {
    mcr_targets kind;
    int64_t classes; /* distinct targets */
    int64_t *count;  /* objects of each class */
    int as_classes;  /* few enough distinct targets to be classes */
    double min, max, mean;
} target_info;

static const char *kind_name(mcr_kind kind)
{
    switch (kind) {
    case MCR_DENSE: return "dense";
    case MCR_SPARSE: return "sparse";
    case MCR_STRINGS: return "strings";
    case MCR_GRAPHS: return "graphs";
    case MCR_PRECOMPUTED: return "precomputed";
    }
    return "unknown";
}

/* Memory of the values: 8 bytes per number, 4 per index or label, 8 per start of a row. */
static double field_bytes(const mcr_field_info *f, double n)
{
    double entries = (double)f->entries, nodes = (double)f->nodes;
    switch (f->kind) {
    case MCR_DENSE: return 8 * n * (double)f->cols;
    case MCR_PRECOMPUTED: return 8 * n * ((double)f->cols + 1);
    case MCR_SPARSE: return 12 * entries + 8 * (n + 1);
    case MCR_STRINGS: return entries + 8 * (n + 1);
    case MCR_GRAPHS:
        return 8 * entries + (f->edge_labels ? 4 * entries : 0) + (f->alphabet ? 4 * nodes : 0) +
               16 * (n + 1);
    }
    return 0;
}

static double density(const mcr_field_info *f, int64_t n)
{
    double places = (double)n * (double)f->cols;
    return f->kind == MCR_SPARSE && places > 0 ? (double)f->entries / places : NAN;
}

static target_info look_at_targets(const mcr_data *data)
{
    target_info t = {.kind = mcr_data_target_kind(data), .min = INFINITY, .max = -INFINITY};
    int64_t n = mcr_data_count(data);
    const double *target = mcr_data_targets(data);
    const int32_t *class_of = mcr_data_class_of(data);
    if (t.kind == MCR_NO_TARGETS)
        return t;
    t.classes = mcr_data_classes(data);
    t.count = cli_alloc((size_t)t.classes, sizeof *t.count);
    for (int64_t i = 0; i < n; i++) {
        if (class_of && class_of[i] >= 0)
            t.count[class_of[i]]++;
        t.min = fmin(t.min, target[i]);
        t.max = fmax(t.max, target[i]);
        t.mean += target[i];
    }
    t.mean /= (double)n;
    t.as_classes = t.kind == MCR_WORD_TARGETS || (t.classes <= 100 && t.classes <= n / 2);
    return t;
}

/* ---- for programs -----------------------------------------------------------------------------*/

static void field_json(cli_json *j, const mcr_field_info *f, int64_t n)
{
    cli_json_object(j, NULL);
    cli_json_text(j, "name", f->name);
    cli_json_text(j, "kind", kind_name(f->kind));
    if (f->kind & (MCR_DENSE | MCR_SPARSE | MCR_PRECOMPUTED))
        cli_json_integer(j, "cols", f->cols);
    cli_json_integer(j, "entries", f->entries);
    if (f->kind == MCR_SPARSE)
        cli_json_real(j, "density", density(f, n));
    if (f->kind == MCR_GRAPHS) {
        cli_json_integer(j, "nodes", f->nodes);
        cli_json_integer(j, "node_labels", f->alphabet);
        cli_json_integer(j, "edge_labels", f->edge_labels);
    }
    if (f->kind == MCR_STRINGS)
        cli_json_integer(j, "alphabet", f->alphabet);
    if (f->kind & (MCR_STRINGS | MCR_GRAPHS | MCR_SPARSE)) {
        cli_json_integer(j, "shortest", f->shortest);
        cli_json_integer(j, "longest", f->longest);
    }
    cli_json_end(j);
}

/* Minimum, maximum and mean of one of several targets. */
static void measure_target(const mcr_data *data, int64_t t, double *min, double *max, double *mean)
{
    int64_t n = mcr_data_count(data), cols = mcr_data_target_count(data);
    const double *table = mcr_data_target_table(data);
    *min = INFINITY;
    *max = -INFINITY;
    *mean = 0;
    for (int64_t i = 0; i < n; i++) {
        *min = fmin(*min, table[i * cols + t]);
        *max = fmax(*max, table[i * cols + t]);
        *mean += table[i * cols + t] / (double)n;
    }
}

static void several_json(cli_json *j, const mcr_data *data)
{
    double min, max, mean;
    cli_json_list(j, "several");
    for (int64_t t = 0; t < mcr_data_target_count(data); t++) {
        measure_target(data, t, &min, &max, &mean);
        cli_json_object(j, NULL);
        cli_json_text(j, "name", mcr_data_target_name(data, t));
        cli_json_real(j, "min", min);
        cli_json_real(j, "max", max);
        cli_json_real(j, "mean", mean);
        cli_json_end(j);
    }
    cli_json_end(j);
}

/* One target: of numbers, or of classes. */
static void one_json(cli_json *j, const mcr_data *data, const target_info *t)
{
    cli_json_integer(j, "distinct", t->classes);
    if (t->as_classes) {
        cli_json_list(j, "classes");
        for (int64_t k = 0; k < t->classes; k++) {
            cli_json_object(j, NULL);
            cli_json_text(j, "name", mcr_data_class_name(data, k));
            cli_json_integer(j, "count", t->count[k]);
            cli_json_end(j);
        }
        cli_json_end(j);
    }
    if (t->kind == MCR_REAL_TARGETS) {
        cli_json_real(j, "min", t->min);
        cli_json_real(j, "max", t->max);
        cli_json_real(j, "mean", t->mean);
    }
}

static void targets_json(cli_json *j, const mcr_data *data, const target_info *t)
{
    if (t->kind == MCR_NO_TARGETS) {
        cli_json_null(j, "targets");
        return;
    }
    cli_json_object(j, "targets");
    cli_json_text(j, "kind", t->kind == MCR_WORD_TARGETS ? "words" : "numbers");
    if (mcr_data_target_count(data) > 1)
        several_json(j, data);
    else
        one_json(j, data, t);
    cli_json_end(j);
}

/* The columns of a table. */
typedef struct columns {
    mcr_column_info *list;
    int64_t count;
} columns;

static void print_json(const cli *c, const mcr_data *data, const mcr_field_info *field,
                       const target_info *t, const columns *table, double bytes, double seconds)
{
    int64_t n = mcr_data_count(data);
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_text(&j, "file", cli_word(c, 0));
    cli_json_text(&j, "holds", "data");
    cli_json_integer(&j, "n", n);
    cli_json_list(&j, "fields");
    for (int64_t i = 0; i < mcr_data_fields(data); i++)
        field_json(&j, &field[i], n);
    cli_json_end(&j);
    if (table->count)
        cli_columns_json(&j, table->list, table->count);
    targets_json(&j, data, t);
    cli_json_flag(&j, "weights", mcr_data_weights(data) != NULL);
    cli_json_real(&j, "bytes", bytes);
    cli_json_real(&j, "seconds", seconds);
    cli_json_end(&j);
}

/* ---- for people -------------------------------------------------------------------------------*/

/* "3 to 9 nodes", or "3 nodes" if all are equal. */
static const char *range_text(char *text, int64_t least, int64_t most, const char *noun)
{
    if (least == most)
        return cli_count_text(text, least, noun);
    snprintf(text, 64, "%" PRId64 " to %" PRId64 " %ss", least, most, noun);
    return text;
}

static const char *row_text(char *text, int64_t least, int64_t most)
{
    if (least == most)
        snprintf(text, 64, "%" PRId64 " per row", least);
    else
        snprintf(text, 64, "%" PRId64 " to %" PRId64 " per row", least, most);
    return text;
}

static void say_field(const char *label, const mcr_field_info *f, int64_t n)
{
    char a[64], b[64], c[64], d[64], e[64], edges[64] = "";
    switch (f->kind) {
    case MCR_DENSE:
        cli_say(label, "%s: dense vectors, %s", f->name, cli_count_text(a, f->cols, "feature"));
        break;
    case MCR_PRECOMPUTED:
        cli_say(label, "%s: kernel values against %s", f->name,
                cli_count_text(a, f->cols, "object"));
        break;
    case MCR_SPARSE:
        cli_say(label, "%s: sparse vectors, %s, %s (density %.3g), %s", f->name,
                cli_count_text(a, f->cols, "feature"), cli_count_text(b, f->entries, "value"),
                density(f, n), row_text(c, f->shortest, f->longest));
        break;
    case MCR_STRINGS:
        cli_say(label, "%s: strings, %s, %" PRId64 " in all, %s", f->name,
                range_text(a, f->shortest, f->longest, "byte"), f->entries,
                cli_count_text(b, f->alphabet, "distinct byte"));
        break;
    case MCR_GRAPHS:
        if (f->edge_labels)
            snprintf(edges, sizeof edges, ", %s", cli_count_text(a, f->edge_labels, "edge label"));
        cli_say(label, "%s: graphs, %s, %s and %s in all, %s%s", f->name,
                range_text(b, f->shortest, f->longest, "node"), cli_count_text(d, f->nodes, "node"),
                cli_count_text(e, f->entries, "edge"),
                f->alphabet ? cli_count_text(c, f->alphabet, "node label") : "no node labels",
                edges);
        break;
    }
}

static void say_classes(const mcr_data *data, const target_info *t)
{
    int64_t shown = t->classes < CLASSES_SHOWN ? t->classes : CLASSES_SHOWN;
    int width = 0;
    char count[64];
    for (int64_t k = 0; k < shown; k++) {
        int length = (int)strlen(mcr_data_class_name(data, k));
        width = length > width ? length : width;
    }
    cli_say("classes", "%" PRId64, t->classes);
    for (int64_t k = 0; k < shown; k++)
        cli_say("", "%-*s  %s (%.3g %%)", width < 40 ? width : 40, mcr_data_class_name(data, k),
                cli_count_text(count, t->count[k], "object"),
                100 * (double)t->count[k] / (double)mcr_data_count(data));
    if (t->classes > shown)
        cli_say("", "and %" PRId64 " more", t->classes - shown);
}

static void say_several(const mcr_data *data)
{
    double min, max, mean;
    for (int64_t t = 0; t < mcr_data_target_count(data); t++) {
        measure_target(data, t, &min, &max, &mean);
        cli_say(t ? "" : "targets", "%s: numbers, %.6g to %.6g, mean %.6g",
                mcr_data_target_name(data, t), min, max, mean);
    }
}

static void say_targets(const mcr_data *data, const target_info *t)
{
    char count[64];
    if (mcr_data_target_count(data) > 1)
        say_several(data);
    else if (t->kind == MCR_NO_TARGETS)
        cli_say("targets", "none");
    else if (t->as_classes)
        say_classes(data, t);
    else
        cli_say("targets", "numbers, %.6g to %.6g, mean %.6g, %s", t->min, t->max, t->mean,
                cli_count_text(count, t->classes, "distinct value"));
}

static void print_summary(const cli *c, const mcr_data *data, const mcr_field_info *field,
                          const target_info *t, const columns *table, double bytes, double seconds)
{
    char text[32];
    int64_t n = mcr_data_count(data);
    cli_say("file", "%s", cli_word(c, 0) ? cli_word(c, 0) : c->reading.classes.item[0]);
    cli_say("objects", "%" PRId64, n);
    for (int64_t i = 0; i < mcr_data_fields(data); i++)
        say_field(i ? "" : "fields", &field[i], n);
    if (table->count)
        cli_columns_say(table->list, table->count);
    say_targets(data, t);
    cli_say("weights", "%s", mcr_data_weights(data) ? "yes" : "none");
    cli_say("memory", "%s", cli_bytes_text(text, bytes));
    cli_say("seconds", "%.3g", seconds);
}

/* ---- models -----------------------------------------------------------------------------------*/

static int ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

/* By the first bytes; for a compressed file by its name. */
static int is_model(const char *path)
{
    char head[64];
    struct stat found;
    if (!path || stat(path, &found) != 0 || !S_ISREG(found.st_mode))
        return 0;
    if (ends_with(path, ".mercer.gz") || ends_with(path, ".model.gz"))
        return 1;
    FILE *file = fopen(path, "rb");
    size_t count = file ? fread(head, 1, sizeof head, file) : 0;
    if (file)
        fclose(file);
    return mcr_model_recognise(head, count);
}

static void model_json(const cli *c, const mcr_model *model, double bytes, double seconds)
{
    const mcr_report_fit *r = mcr_model_report(model);
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_text(&j, "file", cli_word(c, 0));
    cli_json_text(&j, "holds", "model");
    cli_report_json(&j, model);
    cli_json_list(&j, "class_names");
    for (int64_t k = 0; k < mcr_model_classes(model); k++)
        cli_json_text(&j, NULL, mcr_model_class_name(model, k));
    cli_json_end(&j);
    cli_json_integer(&j, "outputs", mcr_model_outputs(model));
    if (r->targets > 1)
        cli_json_list(&j, "target_names");
    for (int64_t t = 0; t < r->targets && r->targets > 1; t++)
        cli_json_text(&j, NULL, mcr_model_output_name(model, t));
    if (r->targets > 1)
        cli_json_end(&j);
    cli_json_flag(&j, "probability", mcr_model_has_probability(model));
    cli_evaluation_threshold_json(&j, model);
    cli_json_text(&j, "tuning", mcr_model_tuning(model));
    cli_json_text(&j, "version", r->version);
    if (r->version)
        cli_json_integer(&j, "seed", (int64_t)r->seed);
    else
        cli_json_null(&j, "seed");
    cli_json_real(&j, "bytes", bytes);
    cli_json_real(&j, "seconds_reading", seconds);
    cli_json_end(&j);
}

/* The table of the search that chose the parameters: the number of points, and the line of the
 * best. */
static void say_tuning(const char *table)
{
    int64_t lines = 0;
    size_t best = 0, length = 0;
    for (size_t at = 0; table[at];) {
        size_t count = strcspn(table + at, "\n");
        if (count > 5 && memcmp(table + at + count - 5, ",best", 5) == 0) {
            best = at;
            length = count;
        }
        at += count + (table[at + count] == '\n');
        lines++;
    }
    cli_say("tuned", "the best of %" PRId64 " points (--json has them all):", lines - 1);
    cli_say("", "%.*s", (int)strcspn(table, "\n"), table);
    cli_say("", "%.*s", (int)length, table + best);
}

static void model_summary(const cli *c, const mcr_model *model, double bytes)
{
    const mcr_report_fit *r = mcr_model_report(model);
    int64_t classes = mcr_model_classes(model);
    char size[32];
    cli_say("file", "%s, %s", cli_word(c, 0), cli_bytes_text(size, bytes));
    if (r->version)
        cli_say("made by", "mercer %s, seed %" PRIu64, r->version, r->seed);
    else
        cli_say("made by", "another program");
    cli_report_say(r);
    for (int64_t k = 0; k < classes && k < CLASSES_SHOWN; k++)
        cli_say(k ? "" : "classes", "%s", mcr_model_class_name(model, k));
    if (classes > CLASSES_SHOWN)
        cli_say("", "and %" PRId64 " more", classes - CLASSES_SHOWN);
    for (int64_t t = 0; t < r->targets && r->targets > 1; t++)
        cli_say(t ? "" : "targets", "%s", mcr_model_output_name(model, t));
    if (classes)
        cli_say("proba", "%s", mcr_model_has_probability(model) ? "yes" : "no");
    cli_evaluation_say_threshold(stdout, model);
    if (mcr_model_tuning(model))
        say_tuning(mcr_model_tuning(model));
    if (isfinite(r->seconds))
        cli_say("seconds", "%.3g of training", r->seconds);
}

static int info_of_model(cli *c, const info_call *call)
{
    const char *path = cli_word(c, 0);
    mcr_model *model = NULL;
    struct stat found;
    double start = cli_seconds();
    int bad = cli_fail(c, mcr_model_load(&model, c->ctx, path));
    if (bad)
        return bad;
    double seconds = cli_seconds() - start;
    double bytes = stat(path, &found) == 0 ? (double)found.st_size : NAN;
    cli_progress_clear(c);
    if (call->coefficients)
        bad = cli_coefficients(c, model, call->output);
    else if (c->common.json)
        model_json(c, model, bytes, seconds);
    else
        model_summary(c, model, bytes);
    mcr_model_free(model);
    return bad;
}

/* ---- the verb ---------------------------------------------------------------------------------*/

static int info_of_data(cli *c)
{
    mcr_data *data = NULL;
    columns table = {NULL, 0};
    double start = cli_seconds();
    c->reading.raw = 1;
    int bad = cli_read_data(c, &data, cli_word(c, 0));
    if (bad)
        return bad;
    cli_tables_say_unmatched(c);
    if (cli_word(c, 0) && strcmp(cli_word(c, 0), "-") != 0) /* a pipe can be read only once */
        bad = cli_read_columns(c, &table.list, &table.count, cli_word(c, 0));
    double seconds = cli_seconds() - start;
    int64_t n = mcr_data_count(data), fields = mcr_data_fields(data);
    mcr_field_info *field = cli_alloc((size_t)fields, sizeof *field);
    double bytes = (mcr_data_targets(data) ? 12 : 0) * (double)n +
                   (mcr_data_weights(data) ? 8 : 0) * (double)n;
    for (int64_t i = 0; !bad && i < fields; i++) {
        field[i] = MCR_INIT(mcr_field_info);
        bad = cli_fail(c, mcr_data_field_info(data, i, &field[i]));
        bytes += bad ? 0 : field_bytes(&field[i], (double)n);
    }
    target_info targets = look_at_targets(data);
    cli_progress_clear(c);
    if (!bad && c->common.json)
        print_json(c, data, field, &targets, &table, bytes, seconds);
    else if (!bad)
        print_summary(c, data, field, &targets, &table, bytes, seconds);
    mcr_columns_free(c->ctx, table.list, table.count);
    free(targets.count);
    free(field);
    mcr_data_free(data);
    return bad;
}

static int run(cli *c, const void *values)
{
    const info_call *call = values;
    int model = is_model(cli_word(c, 0));
    if (call->output && !call->coefficients)
        return cli_refuse(c, "-o is for --coefficients");
    if (call->coefficients && !model)
        return cli_refuse(c, "--coefficients: %s is not a model", cli_word(c, 0));
    if (call->coefficients && cli_output_is_binary(call->output))
        return cli_refuse(c, "-o: .npy holds numbers, and this table has words: write .csv");
    int bad = cli_output_check_table(c, call->output);
    return bad ? bad : model ? info_of_model(c, call) : info_of_data(c);
}

static const cli_option options[] = {
    {.name = "coefficients",
     .type = CLI_FLAG,
     .offset = offsetof(info_call, coefficients),
     .help = "models: list the coefficient, margin and slack of each support vector"},
    CLI_OUTPUT_OPTION(offsetof(info_call, output), "write that table to this file: .csv or text"),
    CLI_LAST_OPTION,
};

static const char *const words[] = {"FILE", NULL};

const cli_verb cli_verb_info = {
    .name = "info",
    .summary = "describe the contents of a data or model file",
    .usage = "FILE",
    .about = "Reads and checks a data file, and describes its contents: objects, fields and\n"
             "their kinds, targets or classes, weights, and the memory they take. For a table\n"
             "it lists each column with its role, its numbers of distinct and missing values,\n"
             "and examples. - is standard input.\n"
             "For a model it shows how it was trained: learner, options, kernel, data,\n"
             "certificate.\n"
             "--coefficients shows the dual solution: each support vector by its number in the\n"
             "training data, from 1, with its coefficient, whether that is at its bound, its\n"
             "margin y f(x) (for regression y - f(x)) and its slack; also the offset or rho,\n"
             "|w|, the width of the margin, and other results of the learner such as epsilon,\n"
             "mistakes or the spectrum.",
    .examples = "mercer sample molecules -n 50 -o molecules.jsonl\n"
                "mercer info molecules.jsonl\n"
                "mercer sample blobs -n 100 -o blobs.csv\n"
                "mercer fit svm blobs.csv -o blobs.mercer\n"
                "mercer info blobs.mercer\n"
                "mercer info blobs.mercer --coefficients -o dual.csv\n"
                "mercer sample blobs -n 100 | mercer info - --format csv --json",
    .traits = CLI_READS,
    .words = words,
    .options = options,
    .values_size = sizeof(info_call),
    .run = run,
};
