/* verb_explain.c: mercer explain: a model as weights of substrings, patterns, monomials.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "progress.h"
#include "select.h"
#include "text.h"

typedef struct explain_call {
    int64_t top, repeats, samples, shap; /* shap INT64_MIN: not given */
    const char *of, *metric;
} explain_call;

typedef struct explanation {
    cli *c;
    const mcr_model *model;
    const mcr_features *features;
    int64_t count, top;
    double *weight, offset;
    int64_t *order; /* features by descending weight */
} explanation;

/* ---- which features ---------------------------------------------------------------------------*/

typedef struct ranked {
    double weight;
    int64_t feature;
} ranked;

static int by_weight(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->weight != y->weight ? (x->weight < y->weight) - (x->weight > y->weight)
                                  : (x->feature > y->feature) - (x->feature < y->feature);
}

static void rank(explanation *e)
{
    ranked *list = cli_alloc((size_t)e->count + 1, sizeof *list);
    for (int64_t i = 0; i < e->count; i++)
        list[i] = (ranked){e->weight[i], i};
    qsort(list, (size_t)e->count, sizeof *list, by_weight);
    for (int64_t i = 0; i < e->count; i++)
        e->order[i] = list[i].feature;
    free(list);
}

/* How many features of one sign are shown: from the front, or from the back. */
static int64_t shown(const explanation *e, int sign)
{
    int64_t count = 0;
    while (count < e->count && count < e->top) {
        int64_t at = sign > 0 ? count : e->count - 1 - count;
        if (e->weight[e->order[at]] * sign <= 0)
            break;
        count++;
    }
    return count;
}

static int64_t feature_at(const explanation *e, int sign, int64_t i)
{
    return e->order[sign > 0 ? i : e->count - 1 - i];
}

/* ---- what an output decides -------------------------------------------------------------------*/

static void say_side(const mcr_model *m, int64_t o, int sign)
{
    int64_t side[2];
    mcr_model_sides(m, o, &side[0], &side[1]);
    int64_t class = side[sign < 0];
    if (class >= 0) {
        printf("for ");
        cli_put_clean(stdout, mcr_model_class_name(m, class), 100);
    } else if (side[0] >= 0) {
        printf("against ");
        cli_put_clean(stdout, mcr_model_class_name(m, side[0]), 100);
    } else {
        printf(sign > 0 ? "higher" : "lower");
    }
    printf(":\n");
}

/* ---- showing ----------------------------------------------------------------------------------*/

static void print_output(const explanation *e, int64_t o)
{
    char number[64];
    cli_say("output", "%s", mcr_model_output_name(e->model, o));
    cli_say("offset", "%.6g", e->offset + 0.0); /* not -0 */
    for (int sign = 1; sign >= -1; sign -= 2) {
        int64_t count = shown(e, sign);
        say_side(e->model, o, sign);
        for (int64_t i = 0; i < count; i++) {
            int64_t f = feature_at(e, sign, i);
            snprintf(number, sizeof number, "%.6g", e->weight[f]);
            printf("  %12s  ", number);
            cli_put_clean(stdout, mcr_features_name(e->features, f), 400);
            printf("\n");
        }
    }
}

static void json_output(const explanation *e, int64_t o, cli_json *j)
{
    cli_json_object(j, NULL);
    cli_json_text(j, "name", mcr_model_output_name(e->model, o));
    cli_json_real(j, "offset", e->offset);
    for (int sign = 1; sign >= -1; sign -= 2) {
        int64_t count = shown(e, sign);
        cli_json_list(j, sign > 0 ? "positive" : "negative");
        for (int64_t i = 0; i < count; i++) {
            int64_t f = feature_at(e, sign, i);
            cli_json_object(j, NULL);
            cli_json_text(j, "feature", mcr_features_name(e->features, f));
            cli_json_real(j, "weight", e->weight[f]);
            cli_json_end(j);
        }
        cli_json_end(j);
    }
    cli_json_end(j);
}

/* Whether an output is requested: all, or the one with this name. */
static int wanted(const explanation *e, const explain_call *call, int64_t o)
{
    return !call->of || strcmp(call->of, mcr_model_output_name(e->model, o)) == 0;
}

static int check_output(const explanation *e, const explain_call *call)
{
    int64_t outputs = mcr_model_outputs(e->model);
    for (int64_t o = 0; o < outputs; o++)
        if (wanted(e, call, o))
            return 0;
    return cli_refuse(e->c, "--of: the model has no output \"%s\"; it has \"%s\"%s", call->of,
                      mcr_model_output_name(e->model, 0),
                      outputs > 1 ? " and others (mercer explain without --of shows them)" : "");
}

static int explain(explanation *e, const explain_call *call, cli_json *j)
{
    int bad = 0;
    for (int64_t o = 0; o < mcr_model_outputs(e->model) && !bad; o++) {
        if (!wanted(e, call, o))
            continue;
        bad = cli_fail(
            e->c, mcr_model_weights(e->c->ctx, e->model, e->features, o, e->weight, &e->offset));
        if (bad)
            break;
        rank(e);
        if (j)
            json_output(e, o, j);
        else
            print_output(e, o);
    }
    return bad;
}

static int show(explanation *e, const explain_call *call)
{
    const mcr_report_fit *r = mcr_model_report(e->model);
    if (!e->c->common.json) {
        cli_say("model", "%s, %s", r->learner, r->kernel);
        cli_say("features", "%" PRId64 " in %" PRId64 " support vectors", e->count, r->support);
        if (mcr_model_scales(e->model))
            cli_say("scaled", "the weights refer to scaled columns (--scale)");
        return explain(e, call, NULL);
    }
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_text(&j, "learner", r->learner);
    cli_json_text(&j, "kernel", r->kernel);
    cli_json_integer(&j, "features", e->count);
    cli_json_flag(&j, "scaled", mcr_model_scales(e->model));
    cli_json_list(&j, "outputs");
    int bad = explain(e, call, &j);
    if (bad)
        return bad; /* the error object has replaced the result */
    cli_json_end(&j);
    cli_json_end(&j);
    return 0;
}

/* ---- with data: by shuffling, or for one object -----------------------------------------------*/

static int more_first(const void *a, const void *b)
{
    const mcr_importance *x = *(const mcr_importance *const *)a,
                         *y = *(const mcr_importance *const *)b;
    double p = fabs(x->mean), q = fabs(y->mean);
    return p != q ? (p < q) - (p > q) : strcmp(x->name, y->name);
}

static int64_t output_of(const mcr_model *model, const char *name)
{
    for (int64_t o = 0; name && o < mcr_model_outputs(model); o++)
        if (strcmp(name, mcr_model_output_name(model, o)) == 0)
            return o;
    return 0;
}

static void print_importance(const mcr_importance_report *r, const mcr_importance **item,
                             int64_t count, const mcr_model *model, const explain_call *call)
{
    int width = 6;
    for (int64_t i = 0; i < count; i++)
        width = (int)strlen(item[i]->name) > width ? (int)strlen(item[i]->name) : width;
    width = width < 40 ? width : 40;
    if (r->metric)
        cli_say("metric", "%s %.6g of %" PRId64 " objects", r->metric, r->base, r->n);
    else
        cli_say("output", "%s: %.6g, on average %.6g",
                mcr_model_output_name(model, output_of(model, call->of)), r->value, r->base);
    if (r->metric)
        printf("%-*s  %12s  %25s  %12s\n", width, "column", "lost when", "95 % interval",
               "sensitivity");
    if (r->metric)
        printf("%-*s  %12s\n", width, "", "shuffled");
    else
        printf("%-*s  %12s  %25s\n", width, "column", "adds", "95 % interval");
    for (int64_t i = 0; i < count; i++) {
        char interval[64], slope[32] = "";
        snprintf(interval, sizeof interval, "%.4g to %.4g", item[i]->lower, item[i]->upper);
        if (r->metric && !isnan(item[i]->sensitivity))
            snprintf(slope, sizeof slope, "%.4g", item[i]->sensitivity);
        int shown = (int)strlen(item[i]->name) < width ? (int)strlen(item[i]->name) : width;
        cli_put_clean(stdout, item[i]->name, (size_t)width);
        printf("%*s  %12.6g  %25s", width - shown, "", item[i]->mean + 0.0, interval);
        printf(*slope ? "  %12s\n" : "%s\n", slope);
    }
}

static void json_importance(const mcr_importance_report *r, const mcr_importance **item,
                            int64_t count, const mcr_model *model, const explain_call *call)
{
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_text(&j, "learner", mcr_model_report(model)->learner);
    cli_json_text(&j, "kernel", mcr_model_report(model)->kernel);
    cli_json_integer(&j, "n", r->n);
    cli_json_text(&j, "metric", r->metric);
    cli_json_real(&j, "base", r->base);
    if (!r->metric) {
        cli_json_text(&j, "output", mcr_model_output_name(model, output_of(model, call->of)));
        cli_json_real(&j, "value", r->value);
    }
    cli_json_integer(&j, r->metric ? "repeats" : "samples", r->repeats);
    cli_json_list(&j, r->metric ? "importance" : "shap");
    for (int64_t i = 0; i < count; i++) {
        cli_json_object(&j, NULL);
        cli_json_text(&j, "column", item[i]->name);
        cli_json_real(&j, "mean", item[i]->mean);
        cli_json_real(&j, "std", item[i]->std);
        cli_json_real(&j, "lower", item[i]->lower);
        cli_json_real(&j, "upper", item[i]->upper);
        if (r->metric)
            cli_json_real(&j, "sensitivity", item[i]->sensitivity);
        cli_json_end(&j);
    }
    cli_json_end(&j);
    cli_json_end(&j);
}

static int explain_data(cli *c, const mcr_model *model, const explain_call *call)
{
    mcr_data *data = NULL;
    mcr_importance_report *r = NULL;
    cli_read_like(c, model);
    int bad = cli_read_words(c, &data, 1);
    if (!bad)
        bad = cli_fail_words(c,
                             call->shap != INT64_MIN
                                 ? mcr_model_shapley(&r, c->ctx, model, data, call->shap - 1,
                                                     output_of(model, call->of),
                                                     call->samples > 0 ? call->samples : 0)
                                 : mcr_model_importance(&r, c->ctx, model, data, call->metric,
                                                        call->repeats > 0 ? call->repeats : 0),
                             1);
    cli_progress_clear(c);
    const mcr_importance **item = cli_alloc((size_t)(r ? r->count : 0) + 1, sizeof *item);
    for (int64_t i = 0; r && i < r->count; i++)
        item[i] = r->item[i];
    int64_t count = r && call->top > 0 && call->top < r->count ? call->top : r ? r->count : 0;
    if (!bad)
        qsort(item, (size_t)r->count, sizeof *item, more_first);
    if (!bad && c->common.json)
        json_importance(r, item, count, model, call);
    else if (!bad)
        print_importance(r, item, count, model, call);
    free(item);
    mcr_importance_free(c->ctx, r);
    mcr_data_free(data);
    return bad;
}

static int check_call(cli *c, const explain_call *call)
{
    int data = c->words.count > 1;
    if (!data && (call->shap != INT64_MIN || call->metric || call->repeats > 0))
        return cli_refuse(c, "--shap, --metric and --repeats are for MODEL with DATA");
    if (call->shap != INT64_MIN && (call->metric || call->repeats > 0))
        return cli_refuse(c, "--shap explains one object: omit --metric and --repeats");
    if (call->shap == INT64_MIN && call->samples > 0)
        return cli_refuse(c, "--samples is for --shap");
    return 0;
}

static int run(cli *c, const void *values)
{
    const explain_call *call = values;
    mcr_model *model = NULL;
    mcr_features *features = NULL;
    int refused = check_call(c, call);
    if (refused)
        return refused;
    explanation e = {.c = c, .top = call->top > 0 ? call->top : INT64_MAX};
    int bad = cli_fail(c, mcr_model_load(&model, c->ctx, cli_word(c, 0)));
    e.model = model;
    if (!bad && call->of)
        bad = check_output(&e, call);
    if (!bad && c->words.count > 1) {
        bad = explain_data(c, model, call);
        mcr_model_free(model);
        return bad;
    }
    if (!bad)
        bad = cli_fail(c, mcr_model_features(&features, c->ctx, model));
    cli_progress_clear(c);
    if (!bad) {
        e.features = features;
        e.count = mcr_features_count(features);
        e.weight = cli_alloc((size_t)e.count + 1, sizeof *e.weight);
        e.order = cli_alloc((size_t)e.count + 1, sizeof *e.order);
        bad = show(&e, call);
    }
    free(e.weight);
    free(e.order);
    mcr_features_close(features);
    mcr_model_free(model);
    return bad;
}

#define AT(field) offsetof(explain_call, field)

static const cli_option options[] = {
    {.name = "top",
     .type = CLI_INT,
     .offset = AT(top),
     .argument = "N",
     .standard = "10",
     .max = 9e18,
     .help = "how many features of each sign to show; 0: all"},
    {.name = "of",
     .type = CLI_TEXT,
     .offset = AT(of),
     .argument = "OUTPUT",
     .help = "show only the output with this name, e.g. \"b : a\" (default: all)"},
    {.name = "metric",
     .type = CLI_TEXT,
     .offset = AT(metric),
     .argument = "NAME",
     .words = cli_metric_name,
     .help = " (default accuracy, r2): the metric for importance"},
    {.name = "repeats",
     .type = CLI_INT,
     .offset = AT(repeats),
     .argument = "N",
     .min = 2,
     .max = 1e6,
     .help = "how often each column is shuffled (default 10)"},
    {.name = "shap",
     .type = CLI_INT,
     .offset = AT(shap),
     .argument = "OBJECT",
     .min = 1,
     .max = 9e18,
     .help = "show what each column adds to the decision value of this object (from 1)"},
    {.name = "samples",
     .type = CLI_INT,
     .offset = AT(samples),
     .argument = "N",
     .min = 2,
     .max = 1e6,
     .help = "random orders of the columns for --shap (default 200)"},
    CLI_LAST_OPTION,
};

static const char *const words[] = {"MODEL", "DATA...", NULL};

const cli_verb cli_verb_explain = {
    .name = "explain",
    .summary = "what a model uses: weights, importance of columns, single objects",
    .usage = "MODEL [DATA...] [--top N] [--of OUTPUT] [--shap OBJECT]",
    .about = "A kernel machine is f(x) = sum of coef K(support vector, x). If the kernel has\n"
             "an explicit feature map, this equals f(x) = offset + sum of weight * feature(x),\n"
             "and the weights can be shown: of substrings, of patterns in graphs, of columns\n"
             "and their products. This works with linear, cosine, poly, spectrum, blended, wl,\n"
             "shortestpath and graphlet, and with sums, products, powers and normalize of them\n"
             "(mercer kernels NAME shows whether a kernel has a feature map).\n"
             "With DATA, any kernel works: each column and field is shuffled among the\n"
             "objects, and its importance is how much worse the metric becomes. Its\n"
             "sensitivity is the mean absolute slope of f times the standard deviation of the\n"
             "column. Use data that the model was not trained on to see what matters for new\n"
             "objects.\n"
             "--shap explains one object: what each of its values adds to f, compared with\n"
             "other objects (Shapley values, estimated by sampling; they sum to the\n"
             "difference).",
    .examples = "mercer sample motifs -n 200 -o motifs.txt\n"
                "mercer fit svm motifs.txt -k 'spectrum(p=4)' -o motifs.mercer\n"
                "mercer explain motifs.mercer --top 5\n"
                "mercer sample moons -n 300 -o moons.csv\n"
                "mercer fit svm moons.csv -k 'rbf(gamma=2)' -o moons.mercer\n"
                "mercer explain moons.mercer moons.csv\n"
                "mercer explain moons.mercer moons.csv --shap 7",
    .traits = CLI_READS,
    .words = words,
    .min_words = 1,
    .options = options,
    .values_size = sizeof(explain_call),
    .run = run,
};
