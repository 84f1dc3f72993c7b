/* sample.c: the synthetic data sets by name.
 *
 * The problem (a motif, the positions of the clusters) is fixed; the seed only decides which
 * objects are drawn. So two seeds give a training set and a test set of one problem.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/sample.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct sample {
    const char *name, *summary;
    int64_t count;
    double noise;
    bool chance; /* noise is a probability */
    mcr_sample_make *make;
} sample;

/* The names are a separate list, because the interface returns them as one. */
static const char *const names[] = {"moons", "rings",  "spirals",  "xor",    "blobs",
                                    "line",  "sinc",   "friedman", "motifs", "molecules",
                                    "mixed", "sparse", NULL};

static const sample samples[] = {
    {"moons", "two half circles that interlock; 2 features; noise: standard deviation, 0.1", 400,
     0.1, false, mcr_sample_points},
    {"rings",
     "a ring of radius 1 (+1) in one of radius 2 (-1); 2 features; noise: standard deviation, 0.1",
     400, 0.1, false, mcr_sample_points},
    {"spirals", "two spirals of one and a half turns; 2 features; noise: standard deviation, 0.02",
     400, 0.02, false, mcr_sample_points},
    {"xor",
     "the four points (-1,-1) (-1,+1) (+1,-1) (+1,+1), +1 where the signs differ; more than four: "
     "clusters around them; noise: standard deviation, 0.25",
     4, -1, false, mcr_sample_points},
    {"blobs", "three normal clusters, classes 1 to 3; 2 features; noise: standard deviation, 0.7",
     400, 0.7, false, mcr_sample_points},
    {"line", "numbers from -4 to 4, +1 where |x| < 2; noise: standard deviation added to x, 0", 400,
     0, false, mcr_sample_points},
    {"sinc", "regression: y = sin(x)/x for x from -10 to 10; noise: standard deviation of y, 0.1",
     400, 0.1, false, mcr_sample_points},
    {"friedman",
     "regression: y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5, 10 features from 0 to 1; "
     "noise: standard deviation of y, 1",
     400, 1, false, mcr_sample_points},
    {"motifs",
     "DNA of 60 to 100 letters; +1 holds TGACTCAT, -1 the same letters shuffled; noise: chance "
     "that a letter of it is changed, 0.1",
     400, 0.1, true, mcr_sample_motifs},
    {"molecules",
     "graphs of atoms and bonds, each with a six-ring and a group NO2; +1: the group sits on the "
     "ring; noise: chance of the other label, 0",
     400, 0, true, mcr_sample_molecules},
    {"mixed",
     "three fields x, sequence, molecule that each know part of the class; noise: chance that a "
     "field shows the other class, 0.15",
     400, 0.15, true, mcr_sample_mixed},
    {"sparse",
     "14 categories as 123 columns of 0 and 1, two classes; noise: chance of the other label, 0.1",
     400, 0.1, true, mcr_sample_sparse},
};

enum { SAMPLES = sizeof samples / sizeof *samples };
_Static_assert(SAMPLES == sizeof names / sizeof *names - 1, "a name for every sample");

static const sample *find_sample(const char *name)
{
    for (int i = 0; i < SAMPLES; i++)
        if (strcmp(samples[i].name, name) == 0)
            return &samples[i];
    return NULL;
}

const char *const *mcr_data_samples(void)
{
    return names;
}

const char *mcr_data_sample_summary(const char *name)
{
    const sample *s = find_sample(name);
    return s ? s->summary : NULL;
}

static mcr_status fail_unknown(mcr *ctx, const char *name)
{
    const char *near = mcr_nearest(name, names);
    if (near)
        return mcr_fail(ctx, MCR_BAD_CALL, "unknown sample \"%s\" (did you mean \"%s\"?)", name,
                        near);
    mcr_text list;
    mcr_text_init(&list, ctx);
    for (int i = 0; i < SAMPLES; i++)
        mcr_text_format(&list, "%s%s", i > 0 ? ", " : "", names[i]);
    mcr_status status = list.status;
    if (status == MCR_OK)
        status = mcr_fail(ctx, MCR_BAD_CALL, "unknown sample \"%s\"; there are %s", name,
                          list.bytes);
    mcr_text_free(&list);
    return status;
}

static mcr_status check_call(const sample *s, mcr *ctx, const char *name, int64_t count,
                             double noise)
{
    if (!s)
        return fail_unknown(ctx, name);
    if (count < 0)
        return mcr_fail(ctx, MCR_BAD_CALL, "sample %s: the number of objects is negative", name);
    if (isnan(noise) || isinf(noise))
        return mcr_fail(ctx, MCR_BAD_CALL, "sample %s: the noise is not a finite number", name);
    if (s->chance && noise > 1)
        return mcr_fail(ctx, MCR_BAD_CALL, "sample %s: its noise is a probability, at most 1",
                        name);
    return MCR_OK;
}

mcr_status mcr_data_sample(mcr_data **out, mcr *ctx, const char *name, int64_t count, double noise)
{
    *out = NULL;
    const sample *s = find_sample(name);
    mcr_status status = check_call(s, ctx, name, count, noise);
    if (status != MCR_OK)
        return status;
    mcr_sample_job job = {.ctx = ctx, .name = s->name, .count = count > 0 ? count : s->count};
    job.noise = noise >= 0 ? noise : s->noise;
    char stream[64];
    snprintf(stream, sizeof stream, "sample.%s", name);
    job.random = mcr_random_stream(mcr_seed(ctx), stream, 0);
    status = mcr_builder_open(&job.builder, ctx, job.count);
    if (status != MCR_OK)
        return status;
    status = s->make(&job);
    return mcr_builder_finish_filled(out, job.builder, status);
}

int mcr_sample_deal(mcr_sample_dealer *d, mcr_random *random)
{
    if (d->left == 0) {
        for (int i = 0; i < d->count; i++) {
            int j = (int)mcr_random_below(random, i + 1);
            d->order[i] = d->order[j];
            d->order[j] = i;
        }
        d->left = d->count;
    }
    return d->order[--d->left];
}

mcr_status mcr_sample_finish(mcr_sample_job *job, mcr_status status, mcr_store *store,
                             double *target)
{
    status = mcr_builder_take_filled(job->builder, store, status);
    if (status == MCR_OK)
        status = mcr_builder_targets(job->builder, target);
    mcr_free(job->ctx, target);
    return status;
}
