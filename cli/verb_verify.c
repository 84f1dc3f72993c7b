/* verb_verify.c: mercer verify: recomputes a model's certificate from its training data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "progress.h"
#include "report.h"
#include "text.h"

typedef struct verify_call {
    double C, epsilon, tol;
} verify_call;

/* A number of the table, and its error bound according to the model. */
typedef struct row {
    const char *name, *key;
    const mcr_verified *number;
    double error;
    const char *(*write)(char *text, double value, double error);
} row;

enum { NUMBERS = 5 };

static void list_numbers(row *to, const mcr_report_fit *r, const mcr_verification *v)
{
    const row all[NUMBERS] = {
        {v->kind, "violation", &v->value, r->value_error, cli_short_text},
        {"primal", "primal", &v->primal, r->objective_error, cli_known_text},
        {"dual", "dual", &v->dual, r->objective_error, cli_known_text},
        {"gap", "gap", &v->gap, r->objective_error, cli_short_text},
        {"objective", "objective", &v->objective, r->objective_error, cli_known_text},
    };
    for (int i = 0; i < NUMBERS; i++)
        to[i] = all[i];
}

static const char *const verdict_name[] = {"disagrees", "agrees", "undecided"};

static void print_json(cli *c, const mcr_model *model, const mcr_verification *v)
{
    const mcr_report_fit *r = mcr_model_report(model);
    row number[NUMBERS];
    cli_json j;
    list_numbers(number, r, v);
    cli_json_begin(&j, stdout);
    if (v->verdict == MCR_VERIFY_UNDECIDED)
        cli_json_null(&j, "agrees");
    else
        cli_json_flag(&j, "agrees", v->agrees);
    cli_json_text(&j, "verdict", verdict_name[v->verdict]);
    cli_json_text(&j, "fault", v->fault[0] ? v->fault : NULL);
    cli_json_text(&j, "learner", r->learner);
    cli_json_text(&j, "kernel", r->kernel);
    cli_json_text(&j, "certificate", v->kind);
    cli_json_real(&j, "tolerance", v->tolerance);
    cli_json_text(&j, "stop", r->version ? mcr_stop_name(r->stop) : NULL);
    static const char *const part[] = {"printed", "recomputed", "error"};
    for (int p = 0; p < 3; p++) {
        cli_json_object(&j, part[p]);
        for (int i = 0; i < NUMBERS; i++)
            cli_json_real(&j, number[i].key,
                          p == 0   ? number[i].number->printed
                          : p == 1 ? number[i].number->recomputed
                                   : number[i].number->error);
        cli_json_end(&j);
    }
    cli_json_real(&j, "seconds_total", cli_seconds() - c->started);
    cli_json_end(&j);
}

/* The significant digits, as fit prints them. */
static const char *text_of(char *text, const row *of, double value, double error)
{
    return isnan(value) ? "-" : of->write(text, value, error);
}

/* The name of a certificate comes from the file. */
static void put_name(const char *name, int wide)
{
    int length = (int)strlen(name);
    cli_put_clean(stdout, name, (size_t)length);
    printf("%*s", wide - length, "");
}

static void print_table(const mcr_model *model, const mcr_verification *v)
{
    const mcr_report_fit *r = mcr_model_report(model);
    enum { WIDE = 28 };
    row number[NUMBERS];
    char a[32], b[32], e[32];
    list_numbers(number, r, v);
    int wide = (int)strlen(v->kind) > WIDE ? (int)strlen(v->kind) : WIDE;
    cli_say("learner", "%s", r->learner);
    cli_say("kernel", "%s", r->kernel);
    printf("\n%-*s %16s %16s %10s\n", wide, "", "printed", "recomputed", "error <");
    for (int i = 0; i < NUMBERS; i++) {
        const mcr_verified *n = number[i].number;
        if (isnan(n->printed) && isnan(n->recomputed))
            continue;
        if (isnan(n->error))
            snprintf(e, sizeof e, "-");
        else
            snprintf(e, sizeof e, "%.2e", n->error);
        put_name(number[i].name, wide);
        printf(" %16s %16s %10s%s\n", text_of(a, &number[i], n->printed, number[i].error),
               text_of(b, &number[i], n->recomputed, n->error), e, n->agrees ? "" : "  differs");
    }
    printf("%-*s %16.2g\n\n", wide, "tolerance", v->tolerance);
    bool open = isnan(v->value.recomputed) && !isnan(v->value.printed);
    static const cli_style style[] = {CLI_BAD, CLI_GOOD, CLI_DOUBT};
    cli_say_word("verdict", style[v->verdict], verdict_name[v->verdict],
                 !v->agrees ? v->fault
                 : open ? "the recomputed numbers agree; the certificate itself was not recomputed"
                        : "the certificate holds");
}

static int run(cli *c, const void *values)
{
    const verify_call *call = values;
    mcr_model *model = NULL;
    mcr_data *data = NULL;
    mcr_verification found = {.size = sizeof found};
    mcr_verify_given given = {sizeof given, call->C, call->epsilon, call->tol};
    int bad = cli_fail(c, mcr_model_load(&model, c->ctx, cli_word(c, 0)));
    if (!bad && mcr_model_report(model)->version &&
        !(isnan(call->C) && isnan(call->epsilon) && isnan(call->tol)))
        bad = cli_refuse(
            c, "-C, --epsilon and --tol are for models of LIBSVM: this one contains them");
    if (!bad) {
        c->reading.features = mcr_model_report(model)->features;
        c->reading.like = mcr_model_layout(model);
        bad = cli_read_words(c, &data, 1);
    }
    if (!bad)
        bad = cli_fail_words(c, mcr_model_verify(c->ctx, model, data, &given, &found), 1);
    cli_progress_clear(c);
    if (!bad && c->common.json)
        print_json(c, model, &found);
    else if (!bad)
        print_table(model, &found);
    if (!bad)
        bad = found.verdict == MCR_VERIFY_DISAGREES;
    mcr_data_free(data);
    mcr_model_free(model);
    return bad;
}

#define AT(field) offsetof(verify_call, field)

static const cli_option options[] = {
    {.name = "cost",
     .letter = 'C',
     .type = CLI_REAL,
     .offset = AT(C),
     .argument = "COST",
     .min = 0,
     .max = INFINITY,
     .help = "C of a LIBSVM model (default: the largest coefficient)"},
    {.name = "epsilon",
     .type = CLI_REAL,
     .offset = AT(epsilon),
     .argument = "E",
     .min = 0,
     .max = INFINITY,
     .help = "epsilon of a LIBSVM model (default: from the free coefficients)"},
    {.name = "tol",
     .type = CLI_REAL,
     .offset = AT(tol),
     .argument = "T",
     .min = 0,
     .max = INFINITY,
     .help = "tolerance of a LIBSVM model (default 0.001)"},
    CLI_LAST_OPTION,
};

static const char *const words[] = {"MODEL", "DATA...", NULL};

const cli_verb cli_verb_verify = {
    .name = "verify",
    .summary = "recompute a model's certificate from its training data",
    .usage = "MODEL DATA...",
    .about = "Recomputes the numbers that mercer fit printed about a model: the primal and\n"
             "dual objective, their gap, and the largest violation of the optimality\n"
             "conditions, or the residual, eigen-residual or identity that certifies the\n"
             "learner. Only the model file and the training data are used, with kernel values\n"
             "in double and compensated sums; nothing is shared with the solvers. Each number\n"
             "has a bound on its error, and only digits that are known are shown. The exit\n"
             "status is 1 if a number differs by more than its last printed digit, or if the\n"
             "verdict does not hold. Where rounding hides whether a certificate is within its\n"
             "tolerance, the verdict is \"undecided\", and the status 0. Give the training data\n"
             "as they were given to fit. Of models trained with --approx, those of ridge and\n"
             "logistic with falkon and of gp with sgpr can be verified; the others keep no\n"
             "features, and the status is 2. MODEL may be a file written by LIBSVM's\n"
             "svm-train; it is checked against LIBSVM's tolerance.",
    .examples = "mercer sample moons -n 500 -o moons.csv\n"
                "mercer fit svm moons.csv -k 'rbf(gamma=2)' -C 10 -o moons.mercer\n"
                "mercer verify moons.mercer moons.csv\n"
                "mercer verify moons.mercer moons.csv --json",
    .traits = CLI_READS,
    .words = words,
    .min_words = 2,
    .options = options,
    .values_size = sizeof(verify_call),
    .run = run,
};
