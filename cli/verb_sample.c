/* verb_sample.c: mercer sample: synthetic data.
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
#include "output.h"

typedef struct sample_call {
    int64_t count;
    double noise;
    const char *output, *format;
} sample_call;

static int list_json(void)
{
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_list(&j, "samples");
    for (const char *const *name = mcr_data_samples(); *name; name++) {
        cli_json_object(&j, NULL);
        cli_json_text(&j, "name", *name);
        cli_json_text(&j, "summary", mcr_data_sample_summary(*name));
        cli_json_end(&j);
    }
    cli_json_end(&j);
    cli_json_end(&j);
    return 0;
}

static int list(const cli *c)
{
    int width = 0;
    if (c->common.json)
        return list_json();
    for (const char *const *name = mcr_data_samples(); *name; name++)
        width = (int)strlen(*name) > width ? (int)strlen(*name) : width;
    for (const char *const *name = mcr_data_samples(); *name; name++)
        printf("%s%-*s%s  %s\n", cli_style_code(stdout, CLI_BOLD), width, *name,
               cli_style_code(stdout, CLI_PLAIN), mcr_data_sample_summary(*name));
    return 0;
}

static void print_json(const cli *c, const mcr_data *data, const sample_call *call)
{
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_text(&j, "name", cli_word(c, 0));
    cli_json_integer(&j, "n", mcr_data_count(data));
    cli_json_integer(&j, "seed", (int64_t)mcr_seed(c->ctx));
    cli_json_text(&j, "output", call->output);
    cli_json_seconds(&j, "seconds", cli_seconds() - c->started);
    cli_json_end(&j);
}

static int run(cli *c, const void *values)
{
    const sample_call *call = values;
    const char *name = cli_word(c, 0);
    if (!name)
        return list(c);
    int bad = cli_output_check(c, call->output);
    if (!bad && !call->format && cli_output_is_foreign(call->output, 1))
        bad = cli_refuse(c,
                         "-o: data are not written as %s; there are .csv, .tsv, .svm, .jsonl, "
                         ".fasta and .text",
                         strrchr(call->output, '.'));
    if (bad)
        return bad;
    mcr_data *data = NULL;
    char number[64];
    int64_t count = call->count == INT64_MIN ? 0 : call->count;
    double noise = isnan(call->noise) ? -1 : call->noise;
    bad = cli_fail(c, mcr_data_sample(&data, c->ctx, name, count, noise));
    if (!bad && (call->output || !c->common.json))
        bad = cli_fail(c, cli_write_data(data, call->output ? call->output : "-", call->format));
    cli_progress_clear(c);
    if (!bad && c->common.json)
        print_json(c, data, call);
    else if (!bad && call->output && strcmp(call->output, "-") != 0 && !c->common.quiet)
        printf("%s: %s\n", call->output, cli_count_text(number, mcr_data_count(data), "object"));
    mcr_data_free(data);
    return bad;
}

static const char *format_written(int64_t number)
{
    const char *const *name = mcr_data_formats();
    for (; *name; name++)
        if (mcr_data_format_writes(*name) && number-- == 0)
            break;
    return *name;
}

#define AT(field) offsetof(sample_call, field)

static const cli_option options[] = {
    {.name = "count",
     .letter = 'n',
     .type = CLI_INT,
     .offset = AT(count),
     .argument = "N",
     .min = 1,
     .max = 1e9,
     .help = "how many objects (default: depends on the set)"},
    {.name = "noise",
     .type = CLI_REAL,
     .offset = AT(noise),
     .argument = "X",
     .min = 0,
     .max = INFINITY,
     .help = "how noisy (default: depends on the set)"},
    CLI_OUTPUT_OPTION(AT(output),
                      "where to write: .csv, .svm, .jsonl, ... (default: standard output)"),
    {.name = "format",
     .type = CLI_TEXT,
     .offset = AT(format),
     .argument = "NAME",
     .words = format_written,
     .help = " (default: by the name of the file)"},
    CLI_LAST_OPTION,
};

static const char *const words[] = {"NAME", NULL};

const cli_verb cli_verb_sample = {
    .name = "sample",
    .summary = "synthetic data: moons, rings, xor, DNA motifs, molecules, ...",
    .usage = "[NAME] [-n N] [--noise X] [--seed S] [-o FILE]",
    .about = "Generates a data set and writes it; without NAME, lists the available sets. The\n"
             "same call gives the same data.",
    .examples = "mercer sample\n"
                "mercer sample moons -n 100 -o moons.csv\n"
                "mercer sample rings --noise 0.2 --seed 7 --format libsvm",
    .words = words,
    .options = options,
    .values_size = sizeof(sample_call),
    .run = run,
};
