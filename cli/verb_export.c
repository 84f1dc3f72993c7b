/* verb_export.c: mercer export: a model for other programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "output.h"
#include "progress.h"
#include "suggest.h"

typedef struct export_call {
    const char *to, *output;
} export_call;

/* One line a form; the order is that of messages. */
static const struct form {
    const char *name;
    mcr_status (*save)(mcr *ctx, const mcr_model *model, const char *path);
} forms[] = {
    {"libsvm", mcr_model_save_libsvm},
};
enum { FORMS = sizeof forms / sizeof *forms };

static int refuse_form(cli *c, const char *name)
{
    char all[128] = "";
    size_t used = 0;
    cli_suggestion near = {name, NULL, 0};
    for (int i = 0; i < FORMS && used < sizeof all; i++) {
        cli_suggest(&near, forms[i].name);
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "",
                                 forms[i].name);
    }
    if (near.nearest)
        return cli_refuse(c, "--to: unknown form \"%s\" (did you mean \"%s\"?)", name,
                          near.nearest);
    return cli_refuse(c, "--to: models cannot be written as \"%s\" (there is: %s)", name, all);
}

static void remark_on_probabilities(cli *c, const mcr_model *model)
{
    if (mcr_model_has_probability(model))
        cli_progress_log(c, MCR_LOG_WARNING,
                         "the probabilities are left out; mercer predict takes the most probable "
                         "class where there are any, so some labels may differ (fitted without "
                         "--probability they are the same)");
}

static void print_done(const cli *c, const export_call *call)
{
    const char *path = call->output;
    if (c->common.json) {
        cli_json j;
        cli_json_begin(&j, stdout);
        cli_json_text(&j, "model", cli_word(c, 0));
        cli_json_text(&j, "to", call->to);
        cli_json_text(&j, "output", path);
        cli_json_end(&j);
    } else if (path && strcmp(path, "-") != 0 && !c->common.quiet) {
        printf("%s: %s as a %s model\n", path, cli_word(c, 0), call->to);
    }
}

static int run(cli *c, const void *values)
{
    const export_call *call = values;
    const struct form *form = forms;
    mcr_model *model = NULL;
    while (form < forms + FORMS && strcmp(form->name, call->to) != 0)
        form++;
    if (form == forms + FORMS)
        return refuse_form(c, call->to);
    if (c->common.json && !call->output)
        return cli_refuse(c, "--json needs -o FILE for the model");
    int bad = cli_output_check(c, call->output);
    if (!bad)
        bad = cli_fail(c, mcr_model_load(&model, c->ctx, cli_word(c, 0)));
    if (!bad)
        bad = cli_fail(c, cli_save_as(c, form->save, model, call->output ? call->output : "-"));
    if (!bad)
        print_done(c, call);
    if (!bad)
        remark_on_probabilities(c, model);
    mcr_model_free(model);
    return bad;
}

#define AT(field) offsetof(export_call, field)

static const cli_option options[] = {
    {.name = "to",
     .type = CLI_TEXT,
     .offset = AT(to),
     .required = 1,
     .argument = "FORM",
     .help = "libsvm: a model file as svm-train writes it"},
    CLI_OUTPUT_OPTION(AT(output), "the file; standard output by default"),
    CLI_LAST_OPTION,
};

static const char *const words[] = {"MODEL", NULL};

const cli_verb cli_verb_export = {
    .name = "export",
    .summary = "a model for other programs",
    .usage = "MODEL --to libsvm [-o FILE]",
    .about =
        "Writes a model as another program wants it. LIBSVM has the learners svm, nu-svm,\n"
        "one-class, svr and nu-svr with the kernels linear, poly, rbf, sigmoid and precomputed;\n"
        "its own model files are read by every verb that takes a MODEL.",
    .examples = "mercer sample moons -n 200 -o moons.svm\n"
                "mercer fit svm moons.svm -k 'rbf(gamma=2)' -o moons.mercer\n"
                "mercer export moons.mercer --to libsvm -o moons.model\n"
                "mercer predict moons.model moons.svm --quiet -o again.txt",
    .words = words,
    .min_words = 1,
    .options = options,
    .values_size = sizeof(export_call),
    .run = run,
};
