/* verb_transform.c: mercer transform: coordinates of objects, and their pre-images.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"
#include "cli.h"
#include "json.h"
#include "team.h"

typedef struct transform_call {
    const char *output;
    int preimage, distance;
} transform_call;

typedef struct transform_job {
    cli_apply apply;
    const transform_call *call;
    int64_t pairs;     /* pairs of coordinates, from two kernels */
    double (*sums)[5]; /* for each pair: a, b, aa, bb, ab */
    /* Pre-images: of a block, then distances to the projections; of all. */
    double *vectors, *distance;
    int64_t features;
    char (*numbers)[24]; /* default names of features */
    double least, most, sum;
} transform_job;

/* Default names of features, as for a table without names. */
static void number_columns(transform_job *job)
{
    job->numbers = cli_alloc((size_t)job->features, sizeof *job->numbers);
    for (int64_t j = 0; j < job->features; j++) {
        snprintf(job->numbers[j], sizeof job->numbers[j], "x%" PRId64, j);
        job->apply.name[j] = job->numbers[j];
    }
}

static int count_columns(transform_job *job)
{
    cli_apply *a = &job->apply;
    if (job->call->preimage) {
        int bad = cli_fail(a->c, mcr_preimage_features(a->c->ctx, a->model, &a->cols));
        if (bad || a->cols == 0)
            return bad;
        job->features = a->cols;
        job->least = INFINITY;
        a->cols += job->call->distance;
        a->name = cli_alloc((size_t)a->cols, sizeof *a->name);
        a->name[a->cols - 1] = "distance";
        bad = cli_fail(a->c, mcr_preimage_names(a->c->ctx, a->model, a->name));
        if (!bad && !a->name[0] && job->call->distance)
            number_columns(job);
        if (!bad && !a->name[0]) {
            free(a->name);
            a->name = NULL;
        }
        return bad;
    }
    if (!mcr_model_has_coordinates(a->model))
        return cli_refuse(a->c,
                          "%s is a model of %s, which has no coordinates (use mercer predict)",
                          cli_word(a->c, 0), a->report->learner);
    a->cols = mcr_model_outputs(a->model);
    job->pairs = a->report->second_kernel ? a->cols / 2 : 0;
    job->sums = cli_alloc((size_t)job->pairs, sizeof *job->sums);
    a->name = cli_alloc((size_t)a->cols, sizeof *a->name);
    for (int64_t j = 0; j < a->cols; j++)
        a->name[j] = mcr_model_output_name(a->model, j);
    return 0;
}

/* ---- correlations on these objects ------------------------------------------------------------*/

static void add_pairs(const transform_job *job, int64_t rows)
{
    const cli_apply *asked = &job->apply;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < job->pairs; c++) {
            double a = asked->buffer[i * asked->cols + c];
            double b = asked->buffer[i * asked->cols + job->pairs + c];
            const double more[5] = {a, b, a * a, b * b, a * b};
            for (int t = 0; t < 5; t++)
                job->sums[c][t] += more[t];
        }
}

static double correlation(const transform_job *job, int64_t c)
{
    const double *s = job->sums[c], n = (double)job->apply.all;
    return (s[4] - s[0] * s[1] / n) / sqrt((s[2] - s[0] * s[0] / n) * (s[3] - s[1] * s[1] / n));
}

/* On standard error: standard output may hold the coordinates. */
static void say_correlations(const transform_job *job)
{
    fflush(stdout);
    for (int64_t c = 0; c < job->pairs; c++)
        fprintf(stderr, "%s%.6g", c ? ", " : "correlations ", correlation(job, c));
    if (job->pairs)
        fprintf(stderr, " (%" PRId64 " objects)\n", job->apply.all);
}

/* ---- the work ---------------------------------------------------------------------------------*/

static mcr_status compute(void *arg, const mcr_data *part, int64_t first, int64_t rows)
{
    transform_job *job = arg;
    cli_apply *a = &job->apply;
    (void)first;
    if (!job->call->preimage)
        return mcr_transform(a->c->ctx, a->model, part, a->buffer);
    mcr_status status = mcr_preimage_near(a->c->ctx, a->model, part, job->vectors, job->distance);
    for (int64_t i = 0; i < rows && status == MCR_OK; i++) {
        double d = job->distance[i];
        memcpy(a->buffer + i * a->cols, job->vectors + i * job->features,
               sizeof *a->buffer * (size_t)job->features);
        if (job->call->distance)
            a->buffer[i * a->cols + job->features] = d;
        job->least = fmin(job->least, d);
        job->most = fmax(job->most, d);
        job->sum += d;
    }
    return status;
}

static int put(void *arg, int64_t first, int64_t rows)
{
    transform_job *job = arg;
    const cli_apply *a = &job->apply;
    (void)first;
    add_pairs(job, rows);
    return a->output ? cli_output_rows(a->output, a->buffer, rows, a->cols) : 0;
}

/* Combines the reported numbers of all processes. */
static int sum_up(transform_job *job)
{
    cli *c = job->apply.c;
    double end[2] = {-job->least, job->most};
    mcr_status status = c->team->largest(c, end, 2);
    if (status == MCR_OK)
        status = c->team->sum(c, &job->sum, 1);
    if (status == MCR_OK && job->pairs)
        status = c->team->sum(c, job->sums[0], 5 * job->pairs);
    job->least = -end[0];
    job->most = end[1];
    return cli_fail(c, status);
}

static int transform(transform_job *job)
{
    cli_apply *a = &job->apply;
    int bad = count_columns(job);
    if (!bad)
        bad = cli_apply_read(a);
    if (!bad)
        bad = cli_apply_table(a, "x", 0);
    if (bad)
        return bad;
    int64_t at_once = cli_apply_block(a);
    a->buffer = cli_alloc_matrix(a->c, at_once, a->cols, sizeof *a->buffer);
    if (a->buffer && job->call->preimage) {
        job->vectors = cli_alloc_matrix(a->c, at_once, job->features + 1, sizeof *job->vectors);
        if (!job->vectors)
            return 1;
        job->distance = job->vectors + at_once * job->features;
    }
    bad = a->buffer ? cli_apply_run(a, at_once, compute, put, job) : 1;
    if (!bad)
        bad = cli_apply_commit(a);
    return bad || !cli_team_of_rows(a->c) ? bad : sum_up(job);
}

static void print_json(const transform_job *job)
{
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_apply_json(&j, &job->apply);
    cli_json_integer(&j, "cols", job->apply.cols);
    cli_json_flag(&j, "preimage", job->call->preimage);
    if (job->call->preimage && job->apply.all > 0) {
        cli_json_object(&j, "distance");
        cli_json_real(&j, "min", job->least);
        cli_json_real(&j, "max", job->most);
        cli_json_real(&j, "mean", job->sum / (double)job->apply.all);
        cli_json_end(&j);
    }
    if (job->pairs) {
        cli_json_list(&j, "correlations");
        for (int64_t c = 0; c < job->pairs; c++)
            cli_json_real(&j, NULL, correlation(job, c));
        cli_json_end(&j);
    }
    cli_json_end(&j);
}

static int run(cli *c, const void *values)
{
    transform_job job = {.call = values};
    const char *path = job.call->output;
    if (job.call->distance && !job.call->preimage)
        return cli_refuse(c, "--distance is the distance of pre-images: use --preimage as well");
    int bad = cli_apply_open(&job.apply, c, path);
    if (!bad)
        bad = transform(&job);
    if (!bad && c->common.json)
        print_json(&job);
    else if (!bad && path && strcmp(path, "-") != 0 && !c->common.quiet)
        printf("%s: %" PRId64 " x %" PRId64 "\n", path, job.apply.all, job.apply.cols);
    if (!bad && job.call->preimage && job.apply.all > 0 && !c->common.json && !c->common.quiet)
        fprintf(stderr, "distances to the projections %.6g to %.6g, mean %.6g\n", job.least,
                job.most, job.sum / (double)job.apply.all);
    if (!bad && !c->common.json && !c->common.quiet)
        say_correlations(&job);
    free(job.sums);
    free(job.vectors);
    free(job.numbers);
    cli_apply_close(&job.apply);
    return bad;
}

#define AT(field) offsetof(transform_call, field)

static const cli_option options[] = {
    CLI_OUTPUT_OPTION(AT(output), "write to .npy, .csv or text; standard output by default"),
    {.name = "distance",
     .type = CLI_FLAG,
     .offset = AT(distance),
     .help = "with --preimage: add a column with the distance to the projection"},
    {.name = "preimage",
     .type = CLI_FLAG,
     .offset = AT(preimage),
     .help = "write pre-images instead of coordinates (models of pca)"},
    CLI_LAST_OPTION,
};

static const char *const words[] = {"MODEL", "DATA...", NULL};

const cli_verb cli_verb_transform = {
    .name = "transform",
    .summary = "coordinates of objects: principal components, discriminants, ...",
    .usage = "MODEL DATA... [-o FILE] [--preimage [--distance]]",
    .about = "Computes the coordinates of each object in a model of pca, fisher or cca, one\n"
             "object per line.\n"
             "--preimage maps the coordinates in a model of pca back to a vector whose\n"
             "coordinates are as close as possible. This removes what the components do not\n"
             "describe, such as noise. --distance adds a column with the distance to the\n"
             "projection in feature space.\n"
             "A model of cca gives two coordinates for each pair; their correlations on DATA\n"
             "are printed on standard error. A table is read as in training; see mercer help\n"
             "predict. With --json the coordinates are written only if -o is given.",
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
