/* verb_export.c: mercer export: a model for other programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "output.h"
#include "progress.h"
#include "suggest.h"

typedef struct export_call {
    const char *to, *output, *name;
    int doubles, floats, int8;
} export_call;

enum { NAME = 61 };

/* A C identifier from a file name: "runs/moons-2.mercer" becomes moons_2. */
static void make_name(char out[NAME], const char *path)
{
    const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path;
    size_t length = strcspn(from, "."), used = 0;
    if (length > 0 && isdigit((unsigned char)from[0]))
        out[used++] = '_';
    for (size_t i = 0; i < length && used + 1 < NAME; i++)
        out[used++] = isalnum((unsigned char)from[i]) ? from[i] : '_';
    out[used] = '\0';
    if (used == 0 || strcmp(path, "-") == 0)
        snprintf(out, NAME, "model");
}

/* The form that the output file's name ends with, such as .onnx; NULL: none. */
static const char *form_of(const char *path)
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    for (int64_t i = 0; dot && i < mcr_export_count(); i++) {
        mcr_export_info info = MCR_INIT(mcr_export_info);
        if (mcr_export_describe(i, &info) == MCR_OK && strcmp(info.name, dot + 1) == 0)
            return info.name;
    }
    return NULL;
}

static int check_form(cli *c, const char *name)
{
    char all[128] = "";
    size_t used = 0;
    if (!name)
        return cli_refuse(c, "--to FORM is missing, and -o FILE does not end with .c, .onnx or "
                             ".json (see mercer help export)");
    cli_suggestion near = {name, NULL, 0};
    for (int64_t i = 0; i < mcr_export_count(); i++) {
        mcr_export_info info = MCR_INIT(mcr_export_info);
        if (mcr_export_describe(i, &info) || used >= sizeof all)
            break;
        if (strcmp(info.name, name) == 0)
            return 0;
        cli_suggest(&near, info.name);
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", info.name);
    }
    if (near.nearest)
        return cli_refuse(c, "--to: unknown form \"%s\" (did you mean \"%s\"?)", name,
                          near.nearest);
    return cli_refuse(c, "--to: models cannot be written as \"%s\" (there is: %s)", name, all);
}

static void remark_on_probabilities(cli *c, const mcr_model *model, const char *to)
{
    if (mcr_model_has_probability(model) && strcmp(to, "libsvm") == 0)
        cli_progress_log(c, MCR_LOG_WARNING,
                         "the probabilities are omitted; mercer predict uses the most probable "
                         "class if a model has probabilities, so some labels may differ (they are "
                         "the same for a model fitted without --probability)");
}

static void print_bound(const mcr_export_report *r)
{
    if (r->error == 0)
        return;
    if (!isnan(r->self))
        printf("int8: scores differ from the model's by at most %.3g\n", r->error * sqrt(r->self));
    else
        printf("int8: scores differ from the model's by at most %.3g * sqrt(K(x,x)); that is %.3g "
               "for the longest support vector\n",
               r->error, r->error * sqrt(r->largest));
}

static void print_done(const cli *c, const export_call *call, const char *to,
                       const mcr_export_report *r)
{
    const char *path = call->output;
    if (c->common.json) {
        cli_json j;
        cli_json_begin(&j, stdout);
        cli_json_text(&j, "model", cli_word(c, 0));
        cli_json_text(&j, "to", to);
        cli_json_text(&j, "output", path);
        if (r->also[0])
            cli_json_text(&j, "header", r->also);
        if (r->error > 0) {
            cli_json_real(&j, "error", r->error);
            cli_json_real(&j, "self", r->self);
        }
        cli_json_end(&j);
    } else if (path && strcmp(path, "-") != 0 && !c->common.quiet) {
        printf("%s: %s exported as ", path, cli_word(c, 0));
        for (; *to; to++)
            putchar(toupper((unsigned char)*to));
        putchar('\n');
        if (r->also[0])
            printf("%s: its header\n", r->also);
        print_bound(r);
    }
}

static int run(cli *c, const void *values)
{
    const export_call *call = values;
    mcr_model *model = NULL;
    char name[NAME];
    const char *path = call->output ? call->output : "-";
    const char *to = call->to ? call->to : form_of(call->output);
    if (c->common.json && !call->output)
        return cli_refuse(c, "--json needs -o FILE for the model");
    if (call->doubles + call->floats + call->int8 > 1)
        return cli_refuse(c, "--double, --float and --int8 exclude each other");
    make_name(name, call->output && strcmp(path, "-") != 0 ? path : cli_word(c, 0));
    mcr_export_options options = {.size = sizeof options,
                                  .name = call->name ? call->name : name,
                                  .numbers = call->doubles  ? "double"
                                             : call->floats ? "float"
                                             : call->int8   ? "int8"
                                                            : NULL};
    mcr_export_report report = {.size = sizeof report};
    int bad = check_form(c, to);
    if (!bad)
        bad = cli_output_check(c, call->output);
    if (!bad)
        bad = cli_fail(c, mcr_model_load(&model, c->ctx, cli_word(c, 0)));
    if (!bad)
        bad = cli_fail(c, cli_export_as(c, model, to, &options, path, &report));
    if (!bad)
        print_done(c, call, to, &report);
    if (!bad)
        remark_on_probabilities(c, model, to);
    mcr_model_free(model);
    return bad;
}

#define AT(field) offsetof(export_call, field)

static const cli_option options[] = {
    {.name = "to",
     .type = CLI_TEXT,
     .offset = AT(to),
     .argument = "FORM",
     .help = "c (and a header), onnx, json (default: the end of FILE), libsvm"},
    CLI_OUTPUT_OPTION(AT(output), "output file (default: standard output)"),
    {.name = "double",
     .type = CLI_FLAG,
     .offset = AT(doubles),
     .help = "c: use double instead of float; onnx: use no operators in float"},
    {.name = "float",
     .type = CLI_FLAG,
     .offset = AT(floats),
     .help = "onnx: use operators in float even if they lose digits (c: the default)"},
    {.name = "int8",
     .type = CLI_FLAG,
     .offset = AT(int8),
     .help = "c: store support vectors in 8 bits; a bound on the error is printed"},
    {.name = "name",
     .type = CLI_TEXT,
     .offset = AT(name),
     .argument = "NAME",
     .help = "c: prefix of all names (default: the name of the file)"},
    CLI_LAST_OPTION,
};

static const char *const words[] = {"MODEL", NULL};

const cli_verb cli_verb_export = {
    .name = "export",
    .summary = "write a model for other programs: C, ONNX, JSON, LIBSVM",
    .usage = "MODEL [--to c|onnx|json|libsvm] [-o FILE]",
    .about = "Writes a model in the format of another program; docs/interop.md lists the\n"
             "limits of each format. --to may be omitted if FILE ends with .c, .onnx or .json.\n"
             "C: all learners, with kernels on vectors and strings and combinations of them.\n"
             "ONNX: kernels on vectors. Support vector machines use the standard operators in\n"
             "float if these keep five digits (--float: always); other models use plain\n"
             "operators in double (--double: always).\n"
             "JSON: everything that predictions need, in a form that docs/interop.md\n"
             "describes.\n"
             "LIBSVM: svm, nu-svm, one-class, svr and nu-svr with the kernels linear, poly,\n"
             "rbf, sigmoid and precomputed. Every verb that takes a MODEL also reads LIBSVM's\n"
             "model files.",
    .examples = "mercer sample moons -n 200 -o moons.svm\n"
                "mercer fit svm moons.svm -k 'rbf(gamma=2)' -o moons.mercer\n"
                "mercer export moons.mercer --to c -o moons.c\n"
                "mercer export moons.mercer --to libsvm -o moons.model\n"
                "mercer predict moons.model moons.svm --quiet -o again.txt",
    .words = words,
    .min_words = 1,
    .options = options,
    .values_size = sizeof(export_call),
    .run = run,
};
