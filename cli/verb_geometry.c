/* verb_geometry.c: mercer geometry: lengths and distances in feature space.
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
#include "output.h"
#include "progress.h"
#include "text.h"

typedef struct geometry_call {
    const char *kernel, *output, *mean_of;
    double novelty;
    int distances;
} geometry_call;

/* The inputs of a call. */
typedef struct geometry_job {
    cli *c;
    const geometry_call *call;
    mcr_kernel *kernel;
    mcr_data *data, *more; /* more: DATA2, NULL: none */
    double start;
} geometry_job;

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

/* ---- one data set -----------------------------------------------------------------------------*/

static int measure(geometry_job *job)
{
    cli *c = job->c;
    const char *output = job->call->output;
    mcr_gram *gram = NULL;
    mcr_geometry *geometry = NULL;
    int bad = cli_fail(c, mcr_gram_open(&gram, c->ctx, job->kernel, job->data, NULL));
    if (!bad)
        bad = cli_fail(c, mcr_gram_geometry(&geometry, gram));
    double seconds = cli_seconds() - job->start;
    cli_progress_clear(c);
    if (!bad && output)
        bad = write_objects(c, geometry, output);
    if (!bad && c->common.json)
        print_json(c, job->kernel, geometry, output, seconds);
    else if (!bad && !(output && strcmp(output, "-") == 0))
        print_summary(job->kernel, geometry);
    if (geometry)
        mcr_geometry_free(c->ctx, geometry);
    mcr_gram_close(gram);
    return bad;
}

/* ---- all distances ----------------------------------------------------------------------------*/

enum { ROWS = 64 };

/* Rows of distances go through one buffer: a matrix of any size needs little memory. */
static int write_distances(const geometry_job *job, mcr_gram *gram, const char *path, range *r)
{
    int64_t rows = mcr_gram_rows(gram), cols = mcr_gram_cols(gram);
    const cli_table table = {.rows = rows, .cols = cols, .prefix = "d"};
    cli_output *out = NULL;
    double *d = malloc(sizeof *d * (size_t)ROWS * (size_t)cols);
    int bad = d ? cli_output_open(&out, job->c, path, &table)
                : cli_fault(job->c, NULL, "out of memory for %" PRId64 " distances", ROWS * cols);
    *r = (range){INFINITY, -INFINITY, 0};
    for (int64_t first = 0; first < rows && !bad; first += ROWS) {
        int64_t count = rows - first < ROWS ? rows - first : ROWS;
        bad = cli_fail(job->c, mcr_gram_distances(gram, (mcr_rows){NULL, first, count},
                                                  (mcr_rows){NULL, 0, cols}, d, cols));
        for (int64_t i = 0; i < count * cols && !bad; i++) {
            r->min = fmin(r->min, d[i]);
            r->max = fmax(r->max, d[i]);
            r->mean += d[i] / ((double)rows * (double)cols);
        }
        if (!bad)
            bad = cli_output_rows(out, d, count, cols);
    }
    free(d);
    if (!bad)
        return cli_output_commit(out);
    cli_output_discard(out);
    return bad;
}

static int all_distances(geometry_job *job)
{
    cli *c = job->c;
    const char *path = job->call->output ? job->call->output : "-";
    mcr_gram *gram = NULL;
    range r;
    if (c->common.json && strcmp(path, "-") == 0)
        return cli_refuse(c, "--distances under --json needs -o FILE for the matrix");
    int bad = cli_fail(c, mcr_gram_open(&gram, c->ctx, job->kernel, job->data, job->more));
    if (!bad)
        bad = write_distances(job, gram, path, &r);
    cli_progress_clear(c);
    if (!bad && c->common.json) {
        cli_json j;
        cli_json_begin(&j, stdout);
        cli_json_integer(&j, "rows", mcr_gram_rows(gram));
        cli_json_integer(&j, "cols", mcr_gram_cols(gram));
        cli_json_text(&j, "kernel", mcr_kernel_text(job->kernel));
        range_json(&j, "distance", r);
        cli_json_text(&j, "output", path);
        cli_json_seconds(&j, "seconds", cli_seconds() - job->start);
        cli_json_end(&j);
    } else if (!bad && strcmp(path, "-") != 0) {
        cli_say("kernel", "%s", mcr_kernel_text(job->kernel));
        cli_say("distances", "%" PRId64 " x %" PRId64, mcr_gram_rows(gram), mcr_gram_cols(gram));
        say_range("distance", r);
    }
    mcr_gram_close(gram);
    return bad;
}

/* ---- new objects ------------------------------------------------------------------------------*/

typedef struct novelty {
    double *weight;         /* of DATA's objects in the mean */
    double *own, *distance; /* to the mean, of DATA's objects and of those of DATA2 */
    int64_t n, members, m;  /* objects of DATA, those in the mean, objects of DATA2 */
    double threshold;
    int64_t novel;
} novelty;

/* The mean of all objects, or of one class. */
static int choose_mean(const geometry_job *job, novelty *v)
{
    const char *name = job->call->mean_of;
    const int32_t *of = name ? mcr_data_class_of(job->data) : NULL;
    int64_t wanted = -1;
    for (int64_t k = 0; of && k < mcr_data_classes(job->data); k++)
        if (strcmp(mcr_data_class_name(job->data, k), name) == 0)
            wanted = k;
    if (name && wanted < 0)
        return cli_refuse(job->c, "--mean-of %s: the data have no class of this name", name);
    v->members = 0;
    for (int64_t i = 0; i < v->n; i++)
        v->members += !name || of[i] == wanted;
    for (int64_t i = 0; i < v->n; i++)
        v->weight[i] = !name || of[i] == wanted ? 1 / (double)v->members : 0;
    return 0;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The distance that a given fraction of the objects in the mean exceed. Sorts their distances to
 * the front of own. */
static void find_threshold(novelty *v, double share)
{
    int64_t count = 0;
    for (int64_t i = 0; i < v->n; i++)
        if (v->weight[i] > 0)
            v->own[count++] = v->own[i];
    qsort(v->own, (size_t)count, sizeof *v->own, by_value);
    int64_t at = (int64_t)ceil((1 - share) * (double)count) - 1;
    v->threshold = v->own[at < 0 ? 0 : at];
    for (int64_t i = 0; i < v->m; i++)
        v->novel += v->distance[i] > v->threshold;
}

static int write_novel(cli *c, const novelty *v, const char *path)
{
    static const char *const names[] = {"to_mean", "novel"};
    const cli_table table = {.rows = v->m, .cols = 2, .names = names};
    cli_output *out;
    int bad = cli_output_open(&out, c, path, &table);
    if (bad)
        return bad;
    for (int64_t i = 0; !bad && i < v->m; i++) {
        const double row[2] = {v->distance[i], v->distance[i] > v->threshold};
        bad = cli_output_rows(out, row, 1, 2);
    }
    if (!bad)
        return cli_output_commit(out);
    cli_output_discard(out);
    return bad;
}

static void report_novel(const geometry_job *job, const novelty *v)
{
    const geometry_call *call = job->call;
    if (job->c->common.json) {
        cli_json j;
        cli_json_begin(&j, stdout);
        cli_json_integer(&j, "n", v->m);
        cli_json_text(&j, "kernel", mcr_kernel_text(job->kernel));
        cli_json_text(&j, "mean_of", call->mean_of);
        cli_json_integer(&j, "members", v->members);
        range_json(&j, "own", range_of(v->own, v->members));
        range_json(&j, "to_mean", range_of(v->distance, v->m));
        cli_json_real(&j, "share", call->novelty);
        cli_json_real(&j, "threshold", v->threshold);
        cli_json_integer(&j, "novel", v->novel);
        cli_json_text(&j, "output", call->output);
        cli_json_seconds(&j, "seconds", cli_seconds() - job->start);
        cli_json_end(&j);
        return;
    }
    cli_say("kernel", "%s", mcr_kernel_text(job->kernel));
    cli_say("mean", "of %" PRId64 " objects%s%s", v->members, call->mean_of ? " of class " : "",
            call->mean_of ? call->mean_of : "");
    say_range("their own", range_of(v->own, v->members));
    say_range("new", range_of(v->distance, v->m));
    cli_say("threshold", "%.6g: %g %% of the mean's own objects are farther", v->threshold,
            100 * call->novelty);
    cli_say("novel", "%" PRId64 " of %" PRId64 " new objects", v->novel, v->m);
}

static int new_objects(geometry_job *job)
{
    cli *c = job->c;
    const char *output = job->call->output;
    mcr_gram *own = NULL, *gram = NULL;
    novelty v = {.n = mcr_data_count(job->data), .m = mcr_data_count(job->more)};
    v.weight = malloc(sizeof *v.weight * (size_t)(2 * v.n + v.m));
    int bad = v.weight ? 0 : cli_fault(c, NULL, "out of memory");
    if (bad)
        return bad;
    v.own = v.weight + v.n;
    v.distance = v.own + v.n;
    bad = choose_mean(job, &v);
    if (!bad)
        bad = cli_fail(c, mcr_gram_open(&own, c->ctx, job->kernel, job->data, NULL));
    if (!bad)
        bad = cli_fail(c, mcr_gram_open(&gram, c->ctx, job->kernel, job->more, job->data));
    if (!bad)
        bad = cli_fail(c, mcr_gram_distance_to(own, v.weight, v.own));
    if (!bad)
        bad = cli_fail(c, mcr_gram_distance_to(gram, v.weight, v.distance));
    cli_progress_clear(c);
    if (!bad) {
        find_threshold(&v, job->call->novelty);
        bad = output ? write_novel(c, &v, output) : 0;
    }
    if (!bad && !(output && strcmp(output, "-") == 0 && !c->common.json))
        report_novel(job, &v);
    mcr_gram_close(gram);
    mcr_gram_close(own);
    free(v.weight);
    return bad;
}

/* ---- the call ---------------------------------------------------------------------------------*/

static int run(cli *c, const void *values)
{
    const geometry_call *call = values;
    geometry_job job = {.c = c, .call = call};
    if (call->mean_of && (call->distances || !cli_word(c, 1)))
        return cli_refuse(c, "--mean-of is for the distances of new objects: give DATA2, without "
                             "--distances");
    int bad = cli_output_check_table(c, call->output);
    if (!bad)
        bad = cli_read_kernel(c, &job.kernel, call->kernel);
    if (!bad)
        bad = cli_read_data(c, &job.data, cli_word(c, 0));
    if (!bad && cli_word(c, 1))
        bad = cli_read_data(c, &job.more, cli_word(c, 1));
    if (!bad && job.more)
        bad = cli_check_order(c, job.data, job.more);
    job.start = cli_seconds();
    if (!bad)
        bad = call->distances ? all_distances(&job) : job.more ? new_objects(&job) : measure(&job);
    mcr_data_free(job.more);
    mcr_data_free(job.data);
    mcr_kernel_free(job.kernel);
    return bad;
}

#define AT(field) offsetof(geometry_call, field)

static const cli_option options[] = {
    CLI_KERNEL_OPTION(AT(kernel), 1),
    CLI_OUTPUT_OPTION(AT(output),
                      "write the distances, one object per line: .npy, .csv, else text"),
    {.name = "distances",
     .type = CLI_FLAG,
     .offset = AT(distances),
     .help = "matrix of distances between all objects of DATA, or to those of DATA2"},
    {.name = "mean-of",
     .type = CLI_TEXT,
     .offset = AT(mean_of),
     .argument = "CLASS",
     .help = "with DATA2: distances to the mean of this class of DATA"},
    {.name = "novelty",
     .type = CLI_REAL,
     .offset = AT(novelty),
     .argument = "SHARE",
     .min = 0,
     .max = 1,
     .standard = "0.05",
     .help = "with DATA2: share of DATA that counts as novel"},
    CLI_LAST_OPTION,
};

static const char *const words[] = {"DATA", "DATA2", NULL};

const cli_verb cli_verb_geometry = {
    .name = "geometry",
    .summary = "lengths, distances, distances to the mean in feature space",
    .usage = "DATA [DATA2] -k KERNEL [--distances] [-o FILE]",
    .about = "Measures the objects of DATA in the feature space of the kernel: their lengths,\n"
             "their distances to the mean, the variance, the nearest and the farthest pair.\n"
             "Objects are numbered from 1, with --json from 0. Squared distances that are\n"
             "negative because the kernel is not positive semidefinite are set to 0, with a\n"
             "warning. -o writes two columns, length and to_mean, one object per line.\n\n"
             "With DATA2, the distances of its objects to the mean of DATA, or of one class of\n"
             "DATA, are computed. An object is novel if it is farther from the mean than all\n"
             "but a share of the objects that define the mean. -o writes two columns, to_mean\n"
             "and novel (1 if the object is novel).\n"
             "--distances computes the matrix of distances, with one row per object of DATA\n"
             "and one column per object of DATA2 (or of DATA).",
    .examples = "mercer sample rings -n 100 -o rings.csv\n"
                "mercer geometry rings.csv -k 'rbf(gamma=1)'\n"
                "mercer geometry rings.csv -k 'poly(degree=2, c=1)' -o lengths.csv\n"
                "mercer geometry rings.csv -k 'rbf(gamma=1)' --distances -o distances.npy\n"
                "mercer sample rings -n 20 --seed 2 -o new.csv\n"
                "mercer geometry rings.csv new.csv -k 'rbf(gamma=1)' --mean-of 1 --novelty 0.1",
    .traits = CLI_READS,
    .words = words,
    .min_words = 1,
    .options = options,
    .values_size = sizeof(geometry_call),
    .run = run,
};
