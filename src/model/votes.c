/* votes.c: one-vs-one predictions if only the class is needed.
 *
 * With many classes there are far more scores than votes, and writing them takes longer than
 * computing them. Here the scores of a few objects stay in registers (linalg/votes.h), in float.
 * Scores within the error are undecided; an object's class is certain if no other class can reach
 * the winner even with the votes of all its undecided pairs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "linalg/tiles.h"
#include "linalg/votes.h"
#include "model/prediction.h"

/* Kernel values at a time, for all support vectors: few, because touching new memory takes longer
 * than computing into it, but enough for all threads; bytes that those of one call of the kit may
 * take. */
enum { VALUES = 1 << 18, ITEMS_PER_WORKER = 2, MOST_ITEMS = 16, MOST_BYTES = 1 << 24 };
/* Bytes of the scores of all pairs that stay in the cache of a core; more are not stored. */
enum { MOST_SUMS = 1 << 18 };
/* With more support vectors per pair than this, storing kernel values takes longer than writing
 * scores. With scores of pairs in a buffer, the processor time of a prediction was 0.9 times for 13
 * to 21 vectors per pair, 0.97 for 23, and 1.2 for 107; without, 1/1.7 for 6, 1 for 14, 1.3 for
 * 27. */
enum { MOST_PER_PAIR = 24, MOST_PER_PAIR_ALONE = 14 };

struct mcr_pair_votes {
    const mcr_prediction *w;
    const mcr_vote_kit *kit;
    int64_t classes, strip; /* columns at a time */
    int64_t *first;         /* classes + 1 */
    double *sum;            /* per pair: sum of the absolute coefficients */
    float *offset, *error;  /* of each pair */
    float *k;               /* support vectors x strip */
    float *space;           /* of each worker: scores of pairs, votes won and lost */
    size_t own;             /* floats of one worker's space */
    size_t sums;            /* of these, the scores; 0: they are not stored */
    /* Of a call. */
    int64_t columns; /* of this strip */
    double *class;
    int64_t *unsure;
};

/* Whether each class has one contiguous run of support vectors, and the coefficients of its pairs
 * in order. */
static bool is_by_class(const mcr_prediction *w)
{
    const mcr_fitted *f = w->model->fitted;
    int64_t k = f->classes;
    if (f->rule != MCR_RULE_PAIRS || w->segments != k || w->segment != f->segment)
        return false;
    for (int64_t c = 0; c < k; c++) {
        const mcr_segment *seg = &w->segment[c];
        if (seg->outputs != k - 1 || (c > 0 && seg->first != seg[-1].first + seg[-1].count))
            return false;
        for (int64_t t = 0; t < k - 1; t++) {
            int64_t a = t < c ? t : c, b = t < c ? c : t + 1;
            if (seg->output[t] != a * k - a * (a + 1) / 2 + b - a - 1)
                return false;
        }
    }
    return w->segment[0].first == 0;
}

void mcr_pair_votes_close(struct mcr_pair_votes *v)
{
    if (!v)
        return;
    mcr_free_all(v->w->ctx, v->first, v);
}

/* Floats of the scores of all pairs; 0: too many. */
static size_t sums_of(const mcr_prediction *w, const mcr_vote_kit *kit)
{
    double floats = (double)w->model->fitted->outputs * (double)kit->voters;
    return floats * sizeof(float) <= MOST_SUMS ? (size_t)floats : 0;
}

static mcr_status fill(struct mcr_pair_votes *v)
{
    const mcr_fitted *f = v->w->model->fitted;
    size_t pairs = (size_t)f->outputs, basis = (size_t)f->basis;
    mcr *ctx = v->w->ctx;
    v->sums = sums_of(v->w, v->kit);
    v->own = v->sums + 2 * (size_t)v->classes * (size_t)v->kit->voters;
    if (!mcr_alloc_arrays(ctx, MCR_ARRAY(v->first, (size_t)v->classes + 1), /* the block to free */
                          MCR_CLEARED(v->sum, pairs), MCR_ARRAY(v->offset, pairs),
                          MCR_ARRAY(v->error, pairs),
                          MCR_ARRAY(v->k, (uint64_t)basis * (uint64_t)v->strip),
                          MCR_ARRAY(v->space, (uint64_t)mcr_workers(ctx) * v->own)))
        return MCR_NO_MEMORY;
    v->first[0] = 0;
    for (int64_t c = 0; c < v->classes; c++) {
        const mcr_segment *seg = &v->w->segment[c];
        v->first[c + 1] = seg->first + seg->count;
        for (int64_t t = 0; t < seg->outputs; t++) {
            double sum = 0;
            for (int64_t i = 0; i < seg->count; i++)
                sum += fabs(seg->coef[t * seg->count + i]);
            /* A sum of c terms in groups of g has at most g + c / g + 2 roundings. */
            double steps = fmin((double)seg->count, MCR_VOTE_GROUP) + 2 +
                           ceil((double)seg->count / MCR_VOTE_GROUP);
            v->sum[seg->output[t]] += sum * steps;
        }
    }
    for (size_t o = 0; o < pairs; o++)
        v->offset[o] = (float)f->offset[o];
    return MCR_OK;
}

mcr_status mcr_pair_votes_open(struct mcr_pair_votes **out, const mcr_prediction *w)
{
    *out = NULL;
    const mcr_fitted *f = w->model->fitted;
    const mcr_vote_kit *kit = mcr_tiles_best()->f32->votes;
    int64_t most = sums_of(w, kit) ? MOST_PER_PAIR : MOST_PER_PAIR_ALONE;
    if (f->basis == 0 || f->basis > most * f->outputs || !is_by_class(w) ||
        (double)f->basis * (double)kit->voters * sizeof(float) > MOST_BYTES)
        return MCR_OK;
    struct mcr_pair_votes *v = mcr_alloc_zero(w->ctx, 1, sizeof *v);
    if (!v)
        return MCR_NO_MEMORY;
    v->w = w;
    v->kit = kit;
    v->classes = f->classes;
    int64_t items = ITEMS_PER_WORKER * mcr_workers(w->ctx);
    int64_t least = (items < MOST_ITEMS ? items : MOST_ITEMS) * kit->voters;
    v->strip = VALUES / f->basis / kit->voters * kit->voters;
    v->strip = v->strip < least ? least : v->strip;
    mcr_status s = fill(v);
    if (s)
        mcr_pair_votes_close(v);
    else
        *out = v;
    return s;
}

/* The first of the classes with most votes, and whether another one could have more. */
static bool find_winner(const struct mcr_pair_votes *v, const mcr_vote_job *job, int64_t at,
                        double *class)
{
    int64_t k = v->classes, voters = v->kit->voters, best = 0;
    for (int64_t c = 1; c < k; c++)
        if (job->won[c * voters + at] > job->won[best * voters + at])
            best = c;
    float most = job->won[best * voters + at];
    bool unsure = false;
    for (int64_t c = 0; c < k; c++) {
        float could = (float)(k - 1) - job->lost[c * voters + at];
        unsure |= c != best && (could > most || (could >= most && c < best));
    }
    *class = (double)best;
    return unsure;
}

static mcr_status count_item(void *arg, int64_t item, int worker)
{
    struct mcr_pair_votes *v = arg;
    const mcr_fitted *f = v->w->model->fitted;
    int64_t voters = v->kit->voters, first = item * voters;
    int64_t count = v->columns - first < voters ? v->columns - first : voters;
    float *sum = v->space + (size_t)worker * v->own, *won = sum + v->sums;
    for (int64_t i = 0; i < f->basis && count < voters; i++)
        memset(v->k + i * v->strip + first + count, 0, (size_t)(voters - count) * sizeof *won);
    mcr_vote_job job = {.classes = v->classes,
                        .first = v->first,
                        .coef = (const float *const *)v->w->rough,
                        .offset = v->offset,
                        .error = v->error,
                        .k = v->k + first,
                        .k_ld = v->strip,
                        .sum = v->sums ? sum : NULL,
                        .won = won,
                        .lost = won + v->classes * voters};
    v->kit->count(&job);
    for (int64_t i = 0; i < count; i++)
        v->unsure[first + i] = find_winner(v, &job, i, &v->class[first + i]);
    return MCR_OK;
}

mcr_status mcr_pair_votes_count(struct mcr_pair_votes *v, mcr_gram *gram, double largest,
                                double *class, int64_t *unsure)
{
    const mcr_fitted *f = v->w->model->fitted;
    int64_t n = mcr_gram_cols(gram), voters = v->kit->voters;
    mcr_status s = MCR_OK;
    for (int64_t o = 0; o < f->outputs; o++) {
        double rounding = FLT_EPSILON * (v->sum[o] * largest + 2 * fabs(f->offset[o]));
        v->error[o] = (float)((v->w->error[o] * largest + rounding) * (1 + 4 * FLT_EPSILON));
    }
    for (int64_t first = 0; first < n && !s; first += v->strip) {
        v->columns = n - first < v->strip ? n - first : v->strip;
        v->class = class + first;
        v->unsure = unsure + first;
        s = mcr_gram_block_any(gram, mcr_gram_all(gram), (mcr_rows){NULL, first, v->columns}, v->k,
                               v->strip, false);
        if (!s)
            s = mcr_parallel(v->w->ctx, (v->columns + voters - 1) / voters, count_item, v);
    }
    return s;
}
