/* verb_geometry.c: mercer geometry: lengths and distances in feature space.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "output.h"
#include "progress.h"
#include "text.h"

typedef struct geometry_call {
    const char *kernel, *output;
} geometry_call;

typedef struct range {
    double min, max, mean;
} range;

static range range_of(const double *value, int64_t count)
{
    range r = {INFINITY, -INFINITY, 0};
    for (int64_t i = 0; i < count; i++) {
        r.min = fmin(r.min, value[i]);
        r.max = fmax(r.max, value[i]);
        r.mean += value[i] / (double)count;
    }
    return r;
}

static void range_json(cli_json *j, const char *key, range r)
{
    cli_json_object(j, key);
    cli_json_real(j, "min", r.min);
    cli_json_real(j, "max", r.max);
    cli_json_real(j, "mean", r.mean);
    cli_json_end(j);
}

static void print_json(const cli *c, const mcr_kernel *kernel, const mcr_geometry *g,
                       const char *output, double seconds)
{
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_integer(&j, "n", g->n);
    cli_json_text(&j, "kernel", mcr_kernel_text(kernel));
    range_json(&j, "length", range_of(g->length, g->n));
    range_json(&j, "to_mean", range_of(g->to_mean, g->n));
    cli_json_real(&j, "mean_length", g->mean_length);
    cli_json_real(&j, "variance", g->variance);
    if (g->n > 1) {
        cli_json_real(&j, "nearest", g->nearest);
        cli_json_integers(&j, "nearest_pair", g->nearest_pair, 2);
        cli_json_real(&j, "farthest", g->farthest);
        cli_json_integers(&j, "farthest_pair", g->farthest_pair, 2);
    }
    cli_json_text(&j, "output", output);
    cli_json_seconds(&j, "seconds", seconds);
    cli_json_seconds(&j, "seconds_total", cli_seconds() - c->started);
    cli_json_end(&j);
}

static void say_range(const char *name, range r)
{
    cli_say(name, "%.6g to %.6g, mean %.6g", r.min, r.max, r.mean);
}

static void print_summary(const mcr_kernel *kernel, const mcr_geometry *g)
{
    cli_say("kernel", "%s", mcr_kernel_text(kernel));
    cli_say("objects", "%" PRId64, g->n);
    say_range("length", range_of(g->length, g->n));
    say_range("to mean", range_of(g->to_mean, g->n));
    cli_say("mean", "length %.6g", g->mean_length);
    cli_say("variance", "%.6g (mean squared distance to the mean)", g->variance);
    if (g->n > 1) {
        cli_say("nearest", "%.6g between objects %" PRId64 " and %" PRId64, g->nearest,
                g->nearest_pair[0] + 1, g->nearest_pair[1] + 1);
        cli_say("farthest", "%.6g between objects %" PRId64 " and %" PRId64, g->farthest,
                g->farthest_pair[0] + 1, g->farthest_pair[1] + 1);
    }
}

static int write_objects(cli *c, const mcr_geometry *g, const char *path)
{
    static const char *const names[] = {"length", "to_mean"};
    const cli_table table = {.rows = g->n, .cols = 2, .names = names};
    cli_output *out;
    int bad = cli_output_open(&out, c, path, &table);
    if (bad)
        return bad;
    for (int64_t i = 0; !bad && i < g->n; i++) {
        const double row[2] = {g->length[i], g->to_mean[i]};
        bad = cli_output_rows(out, row, 1, 2);
    }
    if (!bad)
        return cli_output_commit(out);
    cli_output_discard(out);
    return bad;
}

static int run(cli *c, const void *values)
{
    const geometry_call *call = values;
    mcr_kernel *kernel = NULL;
    mcr_data *data = NULL;
    mcr_gram *gram = NULL;
    mcr_geometry *geometry = NULL;
    int bad = cli_output_check_table(c, call->output);
    if (!bad)
        bad = cli_read_kernel(c, &kernel, call->kernel);
    if (!bad)
        bad = cli_read_data(c, &data, cli_word(c, 0));
    double start = cli_seconds();
    if (!bad)
        bad = cli_fail(c, mcr_gram_open(&gram, c->ctx, kernel, data, NULL));
    if (!bad)
        bad = cli_fail(c, mcr_gram_geometry(&geometry, gram));
    double seconds = cli_seconds() - start;
    cli_progress_clear(c);
    if (!bad && call->output)
        bad = write_objects(c, geometry, call->output);
    if (!bad && c->common.json)
        print_json(c, kernel, geometry, call->output, seconds);
    else if (!bad && !(call->output && strcmp(call->output, "-") == 0))
        print_summary(kernel, geometry);
    if (geometry)
        mcr_geometry_free(c->ctx, geometry);
    mcr_gram_close(gram);
    mcr_data_free(data);
    mcr_kernel_free(kernel);
    return bad;
}

#define AT(field) offsetof(geometry_call, field)

static const cli_option options[] = {
    CLI_KERNEL_OPTION(AT(kernel), 1),
    CLI_OUTPUT_OPTION(AT(output),
                      "write each length and distance to the mean: .npy, .csv, else text"),
    CLI_LAST_OPTION,
};

static const char *const words[] = {"DATA", NULL};

const cli_verb cli_verb_geometry = {
    .name = "geometry",
    .summary = "lengths, distances, distances to the mean in feature space",
    .usage = "DATA -k KERNEL [-o FILE]",
    .about =
        "Measures the objects of DATA in the feature space of the kernel: their lengths, their\n"
        "distances to the mean, the variance, the nearest and the farthest pair. Objects are\n"
        "counted from 1; under --json from 0, as in arrays. Squares that are negative, because "
        "the\n"
        "kernel is not positive semidefinite, count as 0, with a warning. -o writes two columns,\n"
        "length and to_mean, one object a line.",
    .examples = "mercer sample rings -n 100 -o rings.csv\n"
                "mercer geometry rings.csv -k 'rbf(gamma=1)'\n"
                "mercer geometry rings.csv -k 'poly(degree=2, c=1)' -o lengths.csv",
    .traits = CLI_READS,
    .words = words,
    .options = options,
    .values_size = sizeof(geometry_call),
    .run = run,
};
