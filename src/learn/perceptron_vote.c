/* perceptron_vote.c: voted perceptrons.
 *
 * Each mistake makes a new perceptron, which lives until the next one and has as many votes as
 * steps it lived. They share their kernel values: the score of the k-th is that of the one before
 * it plus one term. So all of them together cost one kernel value per support vector, and one
 * addition per mistake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "learn/online.h"

static const char *const list_name[MCR_VOTE_LISTS] = {"vote.object", "vote.up", "vote.down",
                                                      "vote.size", "vote.lives"};
static const char bias_name[] = "vote.bias";

/* ---- while training ---------------------------------------------------------------------------*/

static mcr_status reserve(mcr_votes *v, int64_t need)
{
    mcr_status s = mcr_reserve(v->ctx, &v->object, &v->capacity[0], need, sizeof *v->object);
    if (!s)
        s = mcr_reserve(v->ctx, &v->up, &v->capacity[1], need, sizeof *v->up);
    if (!s)
        s = mcr_reserve(v->ctx, &v->down, &v->capacity[2], need, sizeof *v->down);
    if (!s)
        s = mcr_reserve(v->ctx, &v->size, &v->capacity[3], need, sizeof *v->size);
    if (!s)
        s = mcr_reserve(v->ctx, &v->at, &v->capacity[4], need, sizeof *v->at);
    return s;
}

mcr_status mcr_votes_add(mcr_votes *v, int64_t object, int32_t up, int32_t down, double size,
                         double at)
{
    mcr_status s = reserve(v, v->count + 1);
    if (s)
        return s;
    v->object[v->count] = object;
    v->up[v->count] = up;
    v->down[v->count] = down;
    v->size[v->count] = size;
    v->at[v->count++] = at;
    return MCR_OK;
}

mcr_status mcr_votes_walk(mcr_votes *v, const mcr_online *o, mcr_walk *w)
{
    int64_t count = v->count;
    MCR_WALK(w, count);
    mcr_status s = w->status;
    if (!s && w->reads)
        s = count < 0 || (size_t)count > (size_t)(w->end - w->at) / sizeof *v->size
                ? mcr_walk_refuse(w)
                : reserve(v, count);
    if (s)
        return s;
    mcr_walk_bytes(w, v->object, sizeof *v->object * (size_t)count);
    mcr_walk_bytes(w, v->up, sizeof *v->up * (size_t)count);
    mcr_walk_bytes(w, v->down, sizeof *v->down * (size_t)count);
    mcr_walk_bytes(w, v->size, sizeof *v->size * (size_t)count);
    mcr_walk_bytes(w, v->at, sizeof *v->at * (size_t)count);
    v->count = count;
    for (int64_t i = 0; i < count && w->reads && !w->status; i++)
        if (v->object[i] < 0 || v->object[i] >= o->n || v->up[i] < 0 || v->up[i] >= o->outputs ||
            v->down[i] < -1 || v->down[i] >= o->outputs)
            return mcr_walk_refuse(w);
    return w->status;
}

void mcr_votes_close(mcr_votes *v)
{
    mcr_free_all(v->ctx, v->object, v->up, v->down, v->size, v->at);
    *v = (mcr_votes){.ctx = v->ctx};
}

mcr_status mcr_votes_keep(const mcr_votes *v, mcr_fitted *f, const mcr_online *o)
{
    int64_t *place = mcr_online_places(o, f);
    double *list = mcr_alloc(v->ctx, (size_t)v->count, MCR_VOTE_LISTS * sizeof *list);
    mcr_status s = place && list ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t k = 0; k < v->count && !s; k++) {
        double next = k + 1 < v->count ? v->at[k + 1] : o->clock.steps + 1;
        const double of[MCR_VOTE_LISTS] = {(double)place[v->object[k]], v->up[k], v->down[k],
                                           v->size[k], next - v->at[k]};
        for (int l = 0; l < MCR_VOTE_LISTS; l++)
            list[l * v->count + k] = of[l];
    }
    for (int l = 0; l < MCR_VOTE_LISTS && !s; l++)
        s = mcr_fitted_keep(f, list_name[l], list + l * v->count, v->count);
    if (!s)
        s = mcr_fitted_keep(f, bias_name, &(double){o->scores.bias}, 1);
    mcr_free_all(v->ctx, place, list);
    return s;
}

/* ---- from a model -----------------------------------------------------------------------------*/

/* A whole number from `low` to `high`. */
static bool is_within(double x, double low, double high)
{
    return x >= low && x <= high && x == floor(x);
}

mcr_status mcr_votes_find(mcr_voted *out, const mcr_fitted *f)
{
    const double *const *list = out->list;
    bool bad = f->rule == MCR_RULE_OWN; /* the votes are the scores: a rule decides */
    (void)mcr_fitted_find(f, list_name[0], &out->count);
    mcr_status s = mcr_fitted_need(&out->bias, f, bias_name, 1);
    for (int l = 0; l < MCR_VOTE_LISTS && !s; l++)
        s = mcr_fitted_need(&out->list[l], f, list_name[l], out->count);
    for (int64_t k = 0; k < out->count && !s; k++)
        bad |= !is_within(list[MCR_VOTE_OBJECT][k], 0, (double)f->basis - 1) ||
               !is_within(list[MCR_VOTE_UP][k], 0, (double)f->outputs - 1) ||
               !is_within(list[MCR_VOTE_DOWN][k], -1, (double)f->outputs - 1) ||
               !(list[MCR_VOTE_LIVES][k] >= 0);
    if (!s && bad)
        s = mcr_fail(f->ctx, MCR_BAD_DATA, "the model is damaged (its votes); train it again");
    return s;
}

static bool is_voted(const mcr_fitted *f)
{
    int64_t count;
    return mcr_fitted_find(f, list_name[0], &count) != NULL;
}

mcr_status mcr_votes_read(mcr_votes *v, const mcr_fitted *start, const mcr_online *o)
{
    mcr_voted voted = {0};
    if (!is_voted(start))
        return mcr_fail(
            v->ctx, MCR_BAD_CALL,
            "perceptron: only a voted model can continue as one: this has another variant");
    mcr_status s = mcr_votes_find(&voted, start);
    const double *const *list = voted.list;
    int64_t count = voted.count;
    double at = o->clock.steps + 1;
    for (int64_t k = 0; k < count && !s; k++)
        at -= list[MCR_VOTE_LIVES][k];
    for (int64_t k = 0; k < count && !s; k++) {
        int64_t object = start->object[(int64_t)list[MCR_VOTE_OBJECT][k]];
        if (object < 0 || object >= o->n)
            s = mcr_fail(v->ctx, MCR_BAD_CALL,
                         "perceptron: the model's objects are not those of the data");
        else
            s = mcr_votes_add(v, object, (int32_t)list[MCR_VOTE_UP][k],
                              (int32_t)list[MCR_VOTE_DOWN][k], list[MCR_VOTE_SIZE][k], at);
        at += list[MCR_VOTE_LIVES][k];
    }
    return s;
}

/* ---- predicting -------------------------------------------------------------------------------*/

/* Objects of a worker's item; values of K at a time. */
enum { CHUNK = 64, TOGETHER = 8, VALUES = 4 << 20 };

static mcr_status open_votes(void **out, mcr *ctx, const mcr_fitted *f, const mcr_kernel *kernel,
                             const mcr_data *basis)
{
    (void)kernel;
    (void)basis;
    mcr_voted *t = *out = mcr_alloc_zero(ctx, 1, sizeof *t);
    mcr_status s = t ? mcr_votes_find(t, f) : MCR_NO_MEMORY;
    if (s) {
        mcr_free(ctx, t);
        *out = NULL;
    }
    return s;
}

static void close_votes(mcr *ctx, void *t)
{
    mcr_free(ctx, t);
}

typedef struct vote_job {
    const mcr_query *query;
    const double *k; /* basis x ld */
    int64_t first, count, ld;
    double *buffer; /* of each worker: CHUNK x (outputs of scores and of votes) */
    double *few;    /* of each worker: basis x TOGETHER */
} vote_job;

/* Two classes: each perceptron votes +1 or -1. A few objects at a time, whose scores and votes stay
 * in registers; k: the worker's space for their kernel values, one behind the other. */
static void vote_of_two(const vote_job *job, int64_t at, int64_t count, double *restrict k,
                        double *restrict out)
{
    const mcr_voted *t = job->query->state;
    const double *size = t->list[MCR_VOTE_SIZE], *lives = t->list[MCR_VOTE_LIVES];
    int64_t basis = job->query->fitted->basis;
    for (int64_t j0 = 0; j0 < count; j0 += TOGETHER) {
        double f[TOGETHER] = {0}, vote[TOGETHER] = {0};
        int64_t some = count - j0 < TOGETHER ? count - j0 : TOGETHER;
        for (int64_t b = 0; b < basis; b++)
            for (int64_t j = 0; j < TOGETHER; j++)
                k[b * TOGETHER + j] = job->k[b * job->ld + at + j0 + (j < some ? j : 0)] + *t->bias;
        for (int64_t m = 0; m < t->count; m++) {
            const double *restrict row = k + (int64_t)t->list[MCR_VOTE_OBJECT][m] * TOGETHER;
            for (int j = 0; j < TOGETHER; j++) {
                f[j] += size[m] * row[j];
                vote[j] += f[j] > 0 ? lives[m] : -lives[m];
            }
        }
        for (int64_t j = 0; j < some; j++)
            out[j0 + j] = vote[j];
    }
}

/* More: each votes for the class with the largest score, the first of equal ones. */
static void vote_of_many(const mcr_voted *t, const double *k, int64_t ld, int64_t outputs,
                         int64_t count, double *f, double *vote)
{
    for (int64_t m = 0; m < t->count; m++) {
        const double *row = k + (int64_t)t->list[MCR_VOTE_OBJECT][m] * ld;
        double *up = f + (int64_t)t->list[MCR_VOTE_UP][m] * CHUNK, size = t->list[MCR_VOTE_SIZE][m];
        double *down = t->list[MCR_VOTE_DOWN][m] < 0
                           ? NULL
                           : f + (int64_t)t->list[MCR_VOTE_DOWN][m] * CHUNK;
        for (int64_t j = 0; j < count; j++)
            up[j] += size * (row[j] + *t->bias);
        for (int64_t j = 0; j < count && down; j++)
            down[j] -= size * (row[j] + *t->bias);
        for (int64_t j = 0; j < count; j++) {
            int64_t best = 0;
            for (int64_t o = 1; o < outputs; o++)
                best = f[o * CHUNK + j] > f[best * CHUNK + j] ? o : best;
            vote[best * CHUNK + j] += t->list[MCR_VOTE_LIVES][m];
        }
    }
}

static mcr_status vote_chunk(void *arg, int64_t item, int worker)
{
    const vote_job *job = arg;
    const mcr_query *a = job->query;
    const mcr_voted *t = a->state;
    int64_t outputs = a->fitted->outputs, at = item * CHUNK;
    int64_t count = job->count - at < CHUNK ? job->count - at : CHUNK;
    double *f = job->buffer + worker * 2 * outputs * CHUNK, *vote = f + outputs * CHUNK, lives = 0;
    memset(f, 0, sizeof *f * (size_t)(2 * outputs * CHUNK));
    if (outputs == 1)
        vote_of_two(job, at, count, job->few + worker * TOGETHER * a->fitted->basis, vote);
    else
        vote_of_many(t, job->k + at, job->ld, outputs, count, f, vote);
    for (int64_t m = 0; m < t->count; m++)
        lives += t->list[MCR_VOTE_LIVES][m];
    for (int64_t j = 0; j < count; j++) {
        double *score = a->score + (job->first + at + j) * outputs;
        for (int64_t o = 0; o < outputs; o++)
            score[o] = vote[o * CHUNK + j] / fmax(lives, 1);
        if (a->value)
            a->value[job->first + at + j] = mcr_fitted_decide(a->fitted, score, NULL, NULL);
    }
    return MCR_OK;
}

static mcr_status predict(const mcr_query *a)
{
    int64_t basis = a->fitted->basis, outputs = a->fitted->outputs;
    if (basis == 0)
        return MCR_OK;
    int64_t ld = VALUES / basis / CHUNK * CHUNK;
    ld = ld < CHUNK ? CHUNK : ld < a->count ? ld : a->count;
    vote_job job = {.query = a, .ld = ld};
    double *k = mcr_alloc(a->ctx, (size_t)basis, (size_t)ld * sizeof *k);
    job.buffer = mcr_alloc(a->ctx, (uint64_t)mcr_workers(a->ctx) * 2 * CHUNK,
                           (size_t)outputs * sizeof *job.buffer);
    job.few = mcr_alloc(a->ctx, (uint64_t)mcr_workers(a->ctx) * TOGETHER,
                        (size_t)basis * sizeof *job.few);
    job.k = k;
    mcr_status s = k && job.buffer && job.few ? MCR_OK : MCR_NO_MEMORY;
    for (; job.first < a->count && !s; job.first += ld) {
        job.count = a->count - job.first < ld ? a->count - job.first : ld;
        s = mcr_gram_block(a->gram, (mcr_rows){NULL, 0, basis},
                           (mcr_rows){NULL, job.first, job.count}, k, ld);
        if (!s)
            s = mcr_parallel(a->ctx, (job.count + CHUNK - 1) / CHUNK, vote_chunk, &job);
    }
    mcr_free_all(a->ctx, k, job.buffer, job.few);
    return s;
}

const mcr_predictor mcr_votes_predictor = {
    .needed = is_voted,
    .open = open_votes,
    .close = close_votes,
    .block = predict,
};
