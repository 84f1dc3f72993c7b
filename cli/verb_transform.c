/* verb_transform.c: mercer transform: coordinates of objects, and vectors that have them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "cli.h"
#include "json.h"
#include "output.h"
#include "progress.h"
#include "text.h"

static const int64_t block_numbers = (int64_t)1 << 22;

typedef struct transform_call {
    const char *output;
    int preimage;
} transform_call;

typedef struct transform_job {
    cli *c;
    const transform_call *call;
    mcr_model *model;
    mcr_data *data;
    int64_t n, cols;
    const char **name; /* of the coordinates */
    double *buffer;    /* a block */
    int64_t pairs;     /* of coordinates, from two kernels */
    double (*sums)[5]; /* of each pair: a, b, aa, bb, ab */
    cli_output *output;
    double seconds; /* computing */
} transform_job;

static int count_columns(transform_job *job)
{
    cli *c = job->c;
    const mcr_report_fit *r = mcr_model_report(job->model);
    if (job->call->preimage)
        return cli_fail(c, mcr_preimage_features(c->ctx, job->model, &job->cols));
    if (!mcr_model_has_coordinates(job->model))
        return cli_refuse(c,
                          "%s is a model of %s, which has no coordinates (mercer predict gives "
                          "what it says)",
                          cli_word(c, 0), r->learner);
    job->cols = mcr_model_outputs(job->model);
    job->pairs = r->second_kernel ? job->cols / 2 : 0;
    job->sums = cli_alloc((size_t)job->pairs, sizeof *job->sums);
    job->name = cli_alloc((size_t)job->cols, sizeof *job->name);
    for (int64_t j = 0; j < job->cols; j++)
        job->name[j] = mcr_model_output_name(job->model, j);
    return 0;
}

static int open_job(transform_job *job)
{
    cli *c = job->c;
    const char *path = job->call->output;
    int bad = cli_output_check_table(c, path);
    if (!bad)
        bad = cli_fail(c, mcr_model_load(&job->model, c->ctx, cli_word(c, 0)));
    if (bad)
        return bad;
    c->reading.features = mcr_model_report(job->model)->features;
    bad = count_columns(job);
    if (!bad)
        bad = cli_read_words(c, &job->data, 1);
    if (!bad)
        bad = cli_advise_features(c, mcr_model_report(job->model), job->data);
    if (bad)
        return bad;
    job->n = mcr_data_count(job->data);
    cli_table table = {.rows = job->n, .cols = job->cols, .names = job->name, .prefix = "x"};
    if (path || !c->common.json)
        bad = cli_output_open(&job->output, c, path, &table);
    return bad;
}

static void close_job(transform_job *job)
{
    cli_output_discard(job->output);
    free(job->name);
    free(job->buffer);
    free(job->sums);
    mcr_data_free(job->data);
    mcr_model_free(job->model);
}

/* ---- correlations on these objects ------------------------------------------------------------*/

static void add_pairs(const transform_job *job, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < job->pairs; c++) {
            double a = job->buffer[i * job->cols + c];
            double b = job->buffer[i * job->cols + job->pairs + c];
            const double more[5] = {a, b, a * a, b * b, a * b};
            for (int t = 0; t < 5; t++)
                job->sums[c][t] += more[t];
        }
}

static double correlation(const transform_job *job, int64_t c)
{
    const double *s = job->sums[c], n = (double)job->n;
    return (s[4] - s[0] * s[1] / n) / sqrt((s[2] - s[0] * s[0] / n) * (s[3] - s[1] * s[1] / n));
}

/* On standard error: standard output may hold the coordinates. */
static void say_correlations(const transform_job *job)
{
    fflush(stdout);
    for (int64_t c = 0; c < job->pairs; c++)
        fprintf(stderr, "%s%.6g", c ? ", " : "correlations ", correlation(job, c));
    if (job->pairs)
        fprintf(stderr, " (%" PRId64 " objects)\n", job->n);
}

/* ---- the work ---------------------------------------------------------------------------------*/

static int transform_block(transform_job *job, int64_t first, int64_t rows)
{
    mcr_data *part = NULL;
    mcr *ctx = job->c->ctx;
    double start = cli_seconds();
    cli_progress_part(job->c, (double)first / (double)job->n, (double)rows / (double)job->n);
    mcr_status status = mcr_data_select(&part, job->data, (mcr_rows){NULL, first, rows});
    if (status == MCR_OK && job->call->preimage)
        status = mcr_preimage(ctx, job->model, part, job->buffer);
    else if (status == MCR_OK)
        status = mcr_transform(ctx, job->model, part, job->buffer);
    mcr_data_free(part);
    job->seconds += cli_seconds() - start;
    int bad = cli_fail_words(job->c, status, 1);
    if (!bad)
        add_pairs(job, rows);
    return bad || !job->output ? bad : cli_output_rows(job->output, job->buffer, rows, job->cols);
}

static int transform(transform_job *job)
{
    int64_t at_once = 1 + block_numbers / job->cols;
    at_once = at_once < job->n ? at_once : job->n;
    int bad = 0;
    job->buffer = cli_alloc_matrix(job->c, at_once, job->cols, sizeof *job->buffer);
    if (!job->buffer)
        return 1;
    for (int64_t first = 0; !bad && first < job->n; first += at_once)
        bad = transform_block(job, first, job->n - first < at_once ? job->n - first : at_once);
    return bad;
}

static void print_json(const transform_job *job)
{
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_integer(&j, "n", job->n);
    cli_json_integer(&j, "cols", job->cols);
    cli_json_flag(&j, "preimage", job->call->preimage);
    cli_json_text(&j, "model", cli_word(job->c, 0));
    cli_json_text(&j, "output", job->call->output);
    if (job->pairs) {
        cli_json_list(&j, "correlations");
        for (int64_t c = 0; c < job->pairs; c++)
            cli_json_real(&j, NULL, correlation(job, c));
        cli_json_end(&j);
    }
    cli_json_real(&j, "seconds", job->seconds);
    cli_json_real(&j, "seconds_total", cli_seconds() - job->c->started);
    cli_json_end(&j);
}

static int run(cli *c, const void *values)
{
    transform_job job = {.c = c, .call = values};
    const char *path = job.call->output;
    int bad = open_job(&job);
    if (!bad)
        bad = transform(&job);
    if (!bad && job.output) {
        bad = cli_output_commit(job.output);
        job.output = NULL;
    }
    cli_progress_clear(c);
    if (!bad && c->common.json)
        print_json(&job);
    else if (!bad && path && strcmp(path, "-") != 0 && !c->common.quiet)
        printf("%s: %" PRId64 " x %" PRId64 "\n", path, job.n, job.cols);
    if (!bad && !c->common.json && !c->common.quiet)
        say_correlations(&job);
    close_job(&job);
    return bad;
}

#define AT(field) offsetof(transform_call, field)

static const cli_option options[] = {
    CLI_OUTPUT_OPTION(AT(output), "write to .npy, .csv or text; standard output by default"),
    {.name = "preimage",
     .type = CLI_FLAG,
     .offset = AT(preimage),
     .help = "vectors instead: what the components of a pca tell of the objects"},
    CLI_LAST_OPTION,
};

static const char *const words[] = {"MODEL", "DATA...", NULL};

const cli_verb cli_verb_transform = {
    .name = "transform",
    .summary = "coordinates of objects: principal components, discriminants, ...",
    .usage = "MODEL DATA... [-o FILE] [--preimage]",
    .about =
        "Computes the coordinates of each object in a model of pca, fisher or cca, one a line.\n"
        "--preimage goes back: from the coordinates in a model of pca to a vector that has "
        "them as\n"
        "nearly as possible. What the components do not describe, such as noise, is gone "
        "then.\n"
        "A model of cca gives two coordinates for each pair; their correlations on DATA go to\n"
        "standard error. For data without a target column say --target none. Under --json\n"
        "coordinates are written only with -o.",
    .examples = "mercer sample rings -n 300 -o rings.csv\n"
                "mercer fit pca rings.csv -k 'rbf(gamma=1)' --components 3 -o rings.mercer\n"
                "mercer transform rings.mercer rings.csv -o coordinates.csv\n"
                "mercer transform rings.mercer rings.csv --preimage -o smooth.npy --json",
    .traits = CLI_READS,
    .words = words,
    .min_words = 1,
    .options = options,
    .values_size = sizeof(transform_call),
    .run = run,
};
