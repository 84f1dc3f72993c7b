/* verb_check.c: mercer check: whether a function is a kernel.
 *
 * Any verdict, including "no", is a result: the exit status is 0. Scripts can use `valid` of
 * --json.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "progress.h"
#include "text.h"

typedef struct check_call {
    int64_t objects;
} check_call;

static const char *const verdicts[] = {
    [MCR_VALID_UNKNOWN] = "unknown", [MCR_VALID_YES] = "yes", [MCR_VALID_NO] = "no"};

static void print_json(const cli *c, const mcr_kernel *kernel, const mcr_check_report *r,
                       double seconds)
{
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_text(&j, "kernel", mcr_kernel_text(kernel));
    cli_json_text(&j, "valid", verdicts[r->valid]);
    cli_json_text(&j, "reason", r->reason);
    cli_json_list(&j, "rules");
    for (int64_t i = 0; i < r->rules; i++)
        cli_json_text(&j, NULL, r->rule[i]);
    cli_json_end(&j);
    cli_json_integer(&j, "tested", r->tested);
    cli_json_real(&j, "min_eigenvalue", r->tested ? r->min_eigenvalue : NAN);
    cli_json_real(&j, "bound", r->tested ? r->bound : NAN);
    if (r->objects) {
        cli_json_object(&j, "counterexample");
        cli_json_integers(&j, "objects", r->object, r->objects);
        cli_json_list(&j, "shown");
        for (int64_t i = 0; i < r->objects; i++)
            cli_json_text(&j, NULL, r->shown ? r->shown[i] : NULL);
        cli_json_end(&j);
        cli_json_list(&j, "gram");
        for (int64_t i = 0; i < r->objects; i++)
            cli_json_reals(&j, NULL, r->gram + i * r->objects, r->objects);
        cli_json_end(&j);
        cli_json_reals(&j, "t", r->t, r->objects);
        cli_json_real(&j, "value", r->value);
        cli_json_end(&j);
    } else {
        cli_json_null(&j, "counterexample");
    }
    cli_json_seconds(&j, "seconds", seconds);
    cli_json_seconds(&j, "seconds_total", cli_seconds() - c->started);
    cli_json_end(&j);
}

static void print_counterexample(const mcr_check_report *r)
{
    char count[64];
    printf("\nCounter-example: %s with t'Gt = %.6g\n\n",
           cli_count_text(count, r->objects, "object"), r->value);
    for (int64_t i = 0; i < r->objects; i++) {
        printf("  object %-6" PRId64 " t = %-12.6g ", r->object[i] + 1, r->t[i]);
        cli_put_clean(stdout, r->shown && r->shown[i] ? r->shown[i] : "", 200);
        putchar('\n');
    }
    puts("\n  G =");
    cli_put_matrix(r->gram, r->objects, r->objects, r->objects, 4);
}

static void print_report(const mcr_kernel *kernel, const mcr_check_report *r)
{
    static const cli_style styles[] = {
        [MCR_VALID_UNKNOWN] = CLI_DOUBT, [MCR_VALID_YES] = CLI_GOOD, [MCR_VALID_NO] = CLI_BAD};
    char count[64];
    cli_say("kernel", "%s", mcr_kernel_text(kernel));
    for (int64_t i = 0; i < r->rules; i++)
        cli_say(i ? "" : "rules", "%s", r->rule[i]);
    if (r->tested && isfinite(r->min_eigenvalue))
        cli_say("tested", "%s: smallest eigenvalue %.6g, rounding bound %.3g",
                cli_count_text(count, r->tested, "object"), r->min_eigenvalue, r->bound);
    else if (r->tested)
        cli_say("tested", "%s", cli_count_text(count, r->tested, "object"));
    cli_say_word("valid", styles[r->valid], verdicts[r->valid], r->reason ? r->reason : "");
    if (r->objects)
        print_counterexample(r);
}

static int run(cli *c, const void *values)
{
    const check_call *call = values;
    int64_t most = call->objects == INT64_MIN ? 0 : call->objects;
    mcr_kernel *kernel = NULL;
    mcr_data *data = NULL;
    mcr_check_report *report = NULL;
    int bad = cli_read_kernel(c, &kernel, cli_word(c, 0));
    if (!bad && (cli_word(c, 1) || c->reading.classes.count))
        bad = cli_read_data(c, &data, cli_word(c, 1));
    double start = cli_seconds();
    if (!bad)
        bad = cli_fail(c, mcr_kernel_check(&report, c->ctx, kernel, data, most));
    cli_progress_clear(c);
    if (!bad && c->common.json)
        print_json(c, kernel, report, cli_seconds() - start);
    else if (!bad)
        print_report(kernel, report);
    if (report)
        mcr_check_free(c->ctx, report);
    mcr_data_free(data);
    mcr_kernel_free(kernel);
    return bad;
}

static const cli_option options[] = {
    {.name = "objects",
     .letter = 'n',
     .type = CLI_INT,
     .offset = offsetof(check_call, objects),
     .argument = "N",
     .min = 1,
     .max = 1e9,
     .help = "test at most this many objects of DATA (default: 500)"},
    CLI_LAST_OPTION,
};

static const char *const words[] = {"KERNEL", "DATA", NULL};

const cli_verb cli_verb_check = {
    .name = "check",
    .summary = "is it a kernel? rule by rule, with a counter-example if it is not",
    .usage = "KERNEL [DATA]",
    .about = "Decides by the closure rules whether KERNEL is a kernel, that is, symmetric with\n"
             "positive semidefinite Gram matrices. With DATA it also tests the Gram matrix of\n"
             "these objects. If the test fails, it shows a counter-example with as few objects\n"
             "as it can find: their matrix G and a vector t with t'Gt < 0. Objects are\n"
             "numbered from 1, with --json from 0. Every verdict is a result: the exit status\n"
             "is 0 for yes, no and unknown.",
    .examples = "mercer check '2*rbf(gamma=0.5) + poly(degree=2, c=1)'\n"
                "mercer check '-1*linear'\n"
                "mercer sample rings -o rings.csv\n"
                "mercer check 'sigmoid(a=1, b=-1)' rings.csv",
    .traits = CLI_READS,
    .words = words,
    .min_words = 1,
    .options = options,
    .values_size = sizeof(check_call),
    .run = run,
};
