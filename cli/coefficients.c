/* coefficients.c: the dual solution of a model as a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "coefficients.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "output.h"
#include "text.h"

enum { COLUMNS = 7 };
static const char *const title[COLUMNS] = {"output", "object", "target", "coefficient",
                                           "state",  "margin", "slack"};
static const char *const state_name[] = {
    [MCR_COEF_PLAIN] = "-", [MCR_COEF_FREE] = "free", [MCR_COEF_BOUND] = "bound"};

typedef struct dual {
    cli *c;
    const mcr_model *model;
    int64_t support;
    mcr_coefficient *row;
    double offset, square;
} dual;

static int read_dual(dual *d, int64_t o)
{
    d->offset = d->square = 0;
    return cli_fail(d->c, mcr_model_dual(d->c->ctx, d->model, o, d->row, &d->offset, &d->square));
}

static const char *number_text(char *buffer, double value)
{
    if (isnan(value))
        return strcpy(buffer, "-");
    mcr_print_real(buffer, value);
    return buffer;
}

static const char *target_text(const dual *d, char *buffer, double target)
{
    const char *class = isnan(target) ? NULL : mcr_model_class_name(d->model, (int64_t)target);
    return class ? class : number_text(buffer, target);
}

/* ---- for people -------------------------------------------------------------------------------*/

/* A learner's other numbers: their names and descriptions. */
static void say_numbers(const mcr_model *model)
{
    static const char *const name[][2] = {{"epsilon", "epsilon"},
                                          {"mistakes", "mistakes"},
                                          {"variance", "spectrum"},
                                          {"correlation", "correlations"},
                                          {"noise_variance", "noise"}};
    char text[MCR_REAL_TEXT];
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        int64_t count = 0;
        const double *value = mcr_model_number(model, name[i][0], &count);
        for (int64_t j = 0; value && j < count; j++)
            cli_say(j ? "" : name[i][1], "%s", number_text(text, value[j]));
    }
}

/* |w| and its meaning: the margin of a support vector machine is 1 / |w| on either side. */
static void say_output(const dual *d, int64_t o)
{
    const mcr_report_fit *r = mcr_model_report(d->model);
    int64_t count[3] = {0, 0, 0};
    for (int64_t i = 0; i < d->support; i++)
        if (d->row[i].coef != 0)
            count[d->row[i].state]++;
    cli_say("output", "%s", mcr_model_output_name(d->model, o));
    if (r->task == MCR_DETECT)
        cli_say("  rho", "%.9g", -d->offset);
    else
        cli_say("  offset", "%.9g", d->offset);
    cli_say("  |w|", "%.9g", sqrt(fmax(d->square, 0)));
    if (strcmp(r->learner, "svm") == 0 || strcmp(r->learner, "nu-svm") == 0)
        cli_say("  margin", "%.9g wide (2 / |w|)", 2 / sqrt(d->square));
    if (count[MCR_COEF_FREE] + count[MCR_COEF_BOUND])
        cli_say("  support", "%" PRId64 " free, %" PRId64 " at their bounds", count[MCR_COEF_FREE],
                count[MCR_COEF_BOUND]);
}

static int put_rows(const dual *d, int64_t o, cli_output *out)
{
    int bad = 0;
    for (int64_t i = 0; i < d->support && !bad; i++) {
        const mcr_coefficient *r = &d->row[i];
        char object[32], number[4][MCR_REAL_TEXT];
        if (r->coef == 0)
            continue;
        snprintf(object, sizeof object, "%" PRId64, r->object + 1);
        const char *cell[COLUMNS] = {mcr_model_output_name(d->model, o),
                                     r->object < 0 ? "-" : object,
                                     target_text(d, number[0], r->target),
                                     number_text(number[1], r->coef),
                                     state_name[r->state],
                                     number_text(number[2], r->margin),
                                     number_text(number[3], r->slack)};
        bad = cli_output_words(out, cell, 1);
    }
    return bad;
}

static int print_table(dual *d, const char *path)
{
    int64_t outputs = mcr_model_outputs(d->model), rows = 0;
    int bad = 0;
    for (int64_t o = 0; o < outputs && !bad; o++) {
        bad = read_dual(d, o);
        if (!bad)
            say_output(d, o);
        for (int64_t i = 0; i < d->support && !bad; i++)
            rows += d->row[i].coef != 0;
    }
    if (!bad)
        say_numbers(d->model);
    cli_table table = {.rows = rows, .cols = COLUMNS, .names = title};
    cli_output *out = NULL;
    if (!bad && !path)
        putchar('\n');
    if (!bad)
        bad = cli_output_open(&out, d->c, path, &table);
    for (int64_t o = 0; o < outputs && !bad; o++) {
        bad = read_dual(d, o);
        if (!bad)
            bad = put_rows(d, o, out);
    }
    if (bad)
        cli_output_discard(out);
    return bad ? bad : cli_output_commit(out);
}

/* ---- for programs -----------------------------------------------------------------------------*/

static void rows_json(cli_json *j, const dual *d)
{
    cli_json_list(j, "coefficients");
    for (int64_t i = 0; i < d->support; i++) {
        const mcr_coefficient *r = &d->row[i];
        const char *class = isnan(r->target) ? NULL
                                             : mcr_model_class_name(d->model, (int64_t)r->target);
        if (r->coef == 0)
            continue;
        cli_json_object(j, NULL);
        cli_json_integer(j, "object", r->object + 1);
        if (class)
            cli_json_text(j, "class", class);
        else
            cli_json_real(j, "target", r->target);
        cli_json_real(j, "coefficient", r->coef);
        cli_json_text(j, "state", r->state == MCR_COEF_PLAIN ? NULL : state_name[r->state]);
        cli_json_real(j, "margin", r->margin);
        cli_json_real(j, "slack", r->slack);
        cli_json_end(j);
    }
    cli_json_end(j);
}

static int print_json(dual *d)
{
    static const char *const name[] = {"epsilon", "mistakes", "variance", "correlation",
                                       "noise_variance"};
    cli_json j;
    int bad = 0;
    cli_json_begin(&j, stdout);
    cli_json_text(&j, "learner", mcr_model_report(d->model)->learner);
    cli_json_list(&j, "outputs");
    for (int64_t o = 0; o < mcr_model_outputs(d->model) && !bad; o++) {
        if ((bad = read_dual(d, o)))
            break;
        cli_json_object(&j, NULL);
        cli_json_text(&j, "name", mcr_model_output_name(d->model, o));
        cli_json_real(&j, "offset", d->offset);
        cli_json_real(&j, "norm", sqrt(fmax(d->square, 0)));
        rows_json(&j, d);
        cli_json_end(&j);
    }
    cli_json_end(&j);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        int64_t count = 0;
        const double *value = mcr_model_number(d->model, name[i], &count);
        if (value)
            cli_json_reals(&j, name[i], value, count);
    }
    cli_json_end(&j);
    return bad;
}

int cli_coefficients(cli *c, const mcr_model *model, const char *path)
{
    dual d = {.c = c, .model = model, .support = mcr_model_support(model)};
    d.row = cli_alloc((size_t)d.support + 1, sizeof *d.row);
    int bad = c->common.json && !path ? print_json(&d) : print_table(&d, path);
    free(d.row);
    return bad;
}
