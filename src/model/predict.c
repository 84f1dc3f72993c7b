/* predict.c: predictions by blocks of objects.
 *
 * The kernel values of a block against all support vectors are computed once and used for all
 * outputs. If only the class is needed they are computed in float first; objects whose decision is
 * within the error of float are then recomputed in double, so that the class is the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model/prediction.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/limits.h"
#include "base/threads.h"

enum { BLOCK = 16384, LEAST = 1024, FEWEST = 16, ROWS = 1024 };
/* Scores per block, limited so that many outputs do not touch much new memory; and the larger limit
 * for so many classes that blocks would become small. */
enum { SCORES = 1 << 18, MOST_SCORES = 1 << 21 };
enum { CHUNK = MCR_PREDICTION_CHUNK };

/* ---- scores -----------------------------------------------------------------------------------*/

typedef struct spread_job {
    mcr_prediction *w;
    const mcr_segment *segment;
    int64_t n;
} spread_job;

/* Transposes: sums are stored by output, scores by object. */
static mcr_status spread_chunk(void *arg, int64_t first, int64_t end)
{
    const spread_job *job = arg;
    const mcr_prediction *w = job->w;
    int64_t outputs = w->model->fitted->outputs;
    /* A few objects at a time: both sides stay in cache. */
    for (int64_t i0 = first; i0 < end; i0 += 8)
        for (int64_t t = 0; t < job->segment->outputs; t++)
            for (int64_t i = i0; i < i0 + 8 && i < end; i++)
                w->score[i * outputs + job->segment->output[t]] += w->f[t * w->ld + i];
    return MCR_OK;
}

/* Adds one segment's part to the scores of the gram's columns. */
static mcr_status add_segment(mcr_prediction *w, mcr_gram *gram, const mcr_segment *seg,
                              bool precise)
{
    int64_t n = mcr_gram_cols(gram);
    for (int64_t t = 0; t < seg->outputs; t++)
        memset(w->f + t * w->ld, 0, sizeof *w->f * (size_t)n);
    mcr_status s = MCR_OK;
    const float *rough = precise || !w->rough ? NULL : w->rough[seg - w->segment];
    for (int64_t r = 0; r < seg->count && !s; r += ROWS) {
        int64_t rows = seg->count - r < ROWS ? seg->count - r : ROWS;
        s = mcr_gram_rows_pass(gram, &(mcr_gram_pass){.x = {NULL, seg->first + r, rows},
                                                      .precise = precise,
                                                      .coef = seg->coef + r,
                                                      .rough = rough ? rough + r : NULL,
                                                      .coef_ld = seg->count,
                                                      .f = w->f,
                                                      .f_ld = w->ld,
                                                      .outputs = seg->outputs,
                                                      .phase = "predict",
                                                      .done = w->done});
    }
    spread_job job = {w, seg, n};
    return s ? s : mcr_parallel_chunks(w->ctx, n, CHUNK, spread_chunk, &job);
}

static void set_offsets(mcr_prediction *w, int64_t n)
{
    const mcr_fitted *f = w->model->fitted;
    for (int64_t i = 0; i < n; i++)
        memcpy(w->score + i * f->outputs, f->offset, sizeof *f->offset * (size_t)f->outputs);
}

static mcr_status score_gram(mcr_prediction *w, mcr_gram *gram, bool precise)
{
    const mcr_fitted *f = w->model->fitted;
    mcr_status s = MCR_OK;
    set_offsets(w, mcr_gram_cols(gram));
    int64_t own = f->second ? 1 : w->segments;
    for (int64_t g = 0; g < own && !s; g++)
        if (w->segment[g].count > 0 && w->segment[g].outputs > 0)
            s = add_segment(w, gram, &w->segment[g], precise);
    return s;
}

/* The outputs of a second kernel. */
static mcr_status score_second(mcr_prediction *w, const mcr_data *part)
{
    const mcr_fitted *f = w->model->fitted;
    mcr_gram *gram = NULL;
    mcr_status s = mcr_gram_open(&gram, w->ctx, f->second, w->basis, part);
    if (!s)
        s = add_segment(w, gram, &f->segment[1], true);
    mcr_gram_close(gram);
    return s;
}

/* sqrt of the largest K(x,x) K(z,z): an upper bound of |K(x,z)| for a PSD kernel. */
static mcr_status largest_value(mcr_prediction *w, mcr_gram *gram, double *largest)
{
    int64_t rows = mcr_gram_rows(gram), cols = mcr_gram_cols(gram);
    double *k = mcr_alloc(w->ctx, (size_t)(rows > cols ? rows : cols), sizeof *k);
    double most[2] = {0, 0};
    mcr_status s = k ? MCR_OK : MCR_NO_MEMORY;
    for (int side = 0; side < 2 && !s; side++) {
        s = mcr_gram_diagonal(gram, side, k);
        for (int64_t i = 0; i < (side ? cols : rows) && !s; i++)
            most[side] = fmax(most[side], fabs(k[i]));
    }
    *largest = sqrt(most[0] * most[1]);
    mcr_free(w->ctx, k);
    return s;
}

/* Pairs: unsure if a class could get more votes than the winner if every pair too close to call
 * went the other way. Votes as in mcr_fitted_decide: the first of equals wins. */
static bool votes_unsure(const mcr_prediction *w, const double *score, double largest,
                         int64_t *votes)
{
    const mcr_fitted *f = w->model->fitted;
    int64_t k = f->classes, *most = votes + k, best = 0;
    memset(votes, 0, sizeof *votes * (size_t)(2 * k));
    for (int64_t a = 0, o = 0; a < k; a++) {
        int64_t own = 0, own_most = 0;
        for (int64_t b = a + 1; b < k; b++, o++) { /* no branch: it could not be predicted */
            int64_t far = fabs(score[o]) > w->error[o] * largest, up = score[o] > 0;
            own += far & up;
            own_most += 1 - (far & (1 - up));
            votes[b] += far & (1 - up);
            most[b] += 1 - (far & up);
        }
        votes[a] += own;
        most[a] += own_most;
    }
    for (int64_t c = 1; c < k; c++)
        if (votes[c] > votes[best])
            best = c;
    for (int64_t c = 0; c < k; c++)
        if (c != best && (most[c] > votes[best] || (most[c] == votes[best] && c < best)))
            return true;
    return false;
}

/* Whether all scores are further from 0 than their error, as those of most objects are. */
static bool all_far(const mcr_prediction *w, const double *score, double largest)
{
    int64_t far = 0, outputs = w->model->fitted->outputs;
    for (int64_t o = 0; o < outputs; o++)
        far += fabs(score[o]) > w->error[o] * largest;
    return far == outputs;
}

/* Whether float errors could change the decision; `votes`: buffer for twice the classes. */
static bool is_unsure(const mcr_prediction *w, const double *score, double largest, int64_t *votes)
{
    const mcr_fitted *f = w->model->fitted;
    int64_t best = 0, second = -1;
    if (f->rule == MCR_RULE_PAIRS)
        return !all_far(w, score, largest) && votes_unsure(w, score, largest, votes);
    if (f->rule != MCR_RULE_LARGEST)
        return !(fabs(score[0]) > w->error[0] * largest);
    for (int64_t c = 1; c < f->outputs; c++) {
        if (score[c] > score[best]) {
            second = best;
            best = c;
        } else if (second < 0 || score[c] > score[second]) {
            second = c;
        }
    }
    return !(score[best] - score[second] > (w->error[best] + w->error[second]) * largest);
}

typedef struct unsure_job {
    mcr_prediction *w;
    double largest;
} unsure_job;

static mcr_status unsure_chunk(void *arg, int64_t item, int worker)
{
    const unsure_job *job = arg;
    const mcr_prediction *w = job->w;
    const mcr_fitted *f = w->model->fitted;
    int64_t first = item * CHUNK, end = first + CHUNK < w->count ? first + CHUNK : w->count;
    for (int64_t i = first; i < end; i++)
        w->unsure[i] = is_unsure(w, w->score + i * f->outputs, job->largest,
                                 w->tally + worker * 2 * f->classes);
    return MCR_OK;
}

/* Lists the objects whose decision is unsure; returns their number. */
static int64_t list_unsure(mcr_prediction *w)
{
    int64_t unsure = 0;
    for (int64_t i = 0; i < w->count; i++)
        if (w->unsure[i])
            w->unsure[unsure++] = i; /* never ahead of the read position */
    return unsure;
}

/* Scores of some objects of a part in double, into w->score; at most w->held. */
static mcr_status score_few(mcr_prediction *w, const mcr_data *part, const int64_t *object,
                            int64_t count)
{
    mcr_data *few = NULL;
    mcr_gram *precise = NULL;
    mcr_status s = mcr_data_select(&few, part, (mcr_rows){object, 0, count});
    if (!s)
        s = mcr_gram_open(&precise, w->ctx, w->model->kernel, w->basis, few);
    if (!s)
        s = score_gram(w, precise, true);
    mcr_gram_close(precise);
    mcr_data_free(few);
    return s;
}

/* Classes of a block by votes of pairs in float; close ones by scores in double. */
static mcr_status vote_quickly(mcr_prediction *w, mcr_gram *gram, const mcr_data *part)
{
    const mcr_fitted *f = w->model->fitted;
    double largest = 0;
    mcr_status s = largest_value(w, gram, &largest);
    if (!s)
        s = mcr_pair_votes_count(w->votes, gram, largest, w->class, w->unsure);
    else if (s != MCR_NO_MEMORY) /* precomputed values of new objects have no diagonal */
        s = MCR_NUMERIC;
    for (int64_t i = 0; i < w->count && s == MCR_NUMERIC; i++) /* too large for float */
        w->unsure[i] = 1;
    int64_t unsure = !s || s == MCR_NUMERIC ? list_unsure(w) : 0;
    s = s == MCR_NUMERIC ? MCR_OK : s;
    for (int64_t first = 0; first < unsure && !s; first += w->held) {
        int64_t count = unsure - first < w->held ? unsure - first : w->held;
        s = score_few(w, part, w->unsure + first, count);
        for (int64_t u = 0; u < count && !s; u++)
            w->class[w->unsure[first + u]] = mcr_fitted_decide(f, w->score + u * f->outputs, NULL,
                                                               w->couple);
    }
    return s;
}

/* Scores of a block in float; those close to a decision again in double. */
static mcr_status score_quickly(mcr_prediction *w, mcr_gram *gram, const mcr_data *part)
{
    unsure_job job = {w, 0};
    int64_t outputs = w->model->fitted->outputs, n = w->count;
    mcr_status s = largest_value(w, gram, &job.largest);
    if (s) /* precomputed values of new objects have no diagonal */
        return s == MCR_NO_MEMORY ? s : score_gram(w, gram, true);
    s = score_gram(w, gram, false);
    if (s == MCR_NUMERIC) /* too large for float, not for double */
        return score_gram(w, gram, true);
    if (!s)
        s = mcr_parallel(w->ctx, (n + CHUNK - 1) / CHUNK, unsure_chunk, &job);
    if (s)
        return s;
    int64_t unsure = list_unsure(w);
    if (unsure == 0)
        return MCR_OK;
    double *score = w->score;
    w->score = mcr_alloc(w->ctx, (uint64_t)(unsure * outputs), sizeof *score);
    s = w->score ? score_few(w, part, w->unsure, unsure) : MCR_NO_MEMORY;
    for (int64_t u = 0; u < unsure && !s; u++)
        memcpy(score + w->unsure[u] * outputs, w->score + u * outputs,
               sizeof *score * (size_t)outputs);
    mcr_free(w->ctx, w->score);
    w->score = score;
    return s;
}

static mcr_status score_block(mcr_prediction *w, const mcr_data *part, int64_t first, bool quickly)
{
    const mcr_fitted *f = w->model->fitted;
    if (w->polynomial)
        return mcr_prediction_polynomial(w, part);
    if (mcr_fourier_is(f)) {
        mcr_status s = w->map ? MCR_OK : mcr_fourier_open(&w->map, w->ctx, w->model, part);
        return s ? s : mcr_fourier_score(w->map, w->model, part, w->score);
    }
    if (f->basis == 0) {
        set_offsets(w, w->count);
        return MCR_OK;
    }
    mcr_rows basis = {f->object, 0, f->basis}, columns = {NULL, first, w->count};
    mcr_status s = w->across ? mcr_gram_select(&w->gram, w->across, basis, columns)
                             : mcr_gram_open(&w->gram, w->ctx, w->model->kernel, w->basis, part);
    if (!s)
        s = w->votes  ? vote_quickly(w, w->gram, part)
            : quickly ? score_quickly(w, w->gram, part)
                      : score_gram(w, w->gram, true);
    if (!s && f->second)
        s = score_second(w, part);
    return s;
}

/* ---- a call -----------------------------------------------------------------------------------*/

static void close_work(mcr_prediction *w)
{
    if (w->opened && w->predictor->close)
        w->predictor->close(w->ctx, w->state);
    for (int64_t o = 0; w->weight_segment && o < w->model->fitted->outputs; o++)
        mcr_free(w->ctx, w->weight_segment[o].output);
    mcr_free(w->ctx, w->weight_segment);
    mcr_data_free(w->weights);
    mcr_map_close(w->map);
    mcr_free_all(w->ctx, w->polynomial, w->rough ? w->rough[0] : NULL, w->rough, w->f, w->score,
                 w->error, w->proba, w->couple, w->unsure, w->tally, w->class);
    mcr_pair_votes_close(w->votes);
}

static mcr_status open_predictor(mcr_prediction *w)
{
    const mcr_model *m = w->model;
    mcr_status s = MCR_OK;
    if (w->predictor->open)
        s = w->predictor->open(&w->state, w->ctx, m->fitted, m->kernel, m->basis);
    w->opened = !s;
    return s;
}

static mcr_status open_work(mcr_prediction *w, mcr *ctx, const mcr_model *m, mcr_gram *across,
                            int64_t n)
{
    const mcr_fitted *f = m->fitted;
    size_t workers = (size_t)mcr_workers(ctx);
    size_t k = (size_t)f->classes, block = BLOCK;
    while (block > LEAST && block * (size_t)f->outputs > SCORES)
        block /= 2;
    while (block > FEWEST && block * (size_t)f->outputs > MOST_SCORES)
        block /= 2;
    if ((size_t)n < block)
        block = (size_t)n;
    *w = (mcr_prediction){.ctx = ctx,
                          .model = m,
                          .across = across,
                          .block = (int64_t)block,
                          .held = (int64_t)block,
                          .basis = m->basis,
                          .segment = f->segment,
                          .segments = f->segments};
    w->predictor = m->type ? m->type->predictor : NULL;
    if (w->predictor && w->predictor->needed && f->rule != MCR_RULE_OWN && !w->predictor->needed(f))
        w->predictor = NULL;
    w->error = mcr_alloc_zero(ctx, (size_t)f->outputs, sizeof *w->error);
    w->proba = mcr_alloc(ctx, (uint64_t)workers * k, sizeof *w->proba);
    w->couple = mcr_alloc(ctx, (uint64_t)workers * ((uint64_t)k * k + k), sizeof *w->couple);
    w->unsure = mcr_alloc(ctx, block, sizeof *w->unsure);
    w->tally = mcr_alloc(ctx, (uint64_t)workers * 2 * k, sizeof *w->tally);
    if (!w->error || !w->proba || !w->couple || !w->unsure || !w->tally)
        return MCR_NO_MEMORY;
    for (int64_t g = 0; g < f->segments; g++)
        for (int64_t t = 0; t < f->segment[g].outputs; t++)
            for (int64_t i = 0; i < f->segment[g].count; i++) {
                double c = f->segment[g].coef[t * f->segment[g].count + i];
                w->error[f->segment[g].output[t]] += c * c;
            }
    for (int64_t o = 0; o < f->outputs; o++)
        w->error[o] = MCR_FLOAT_ERROR * sqrt(w->error[o]);
    if (w->predictor) /* needs the support vectors themselves */
        return open_predictor(w);
    if (f->second || across)
        return MCR_OK;
    mcr_status s = mcr_prediction_collapse(w);
    return s ? s : mcr_prediction_expand(w);
}

static bool fit_float(const double *x, size_t n)
{
    bool fit = true;
    for (size_t i = 0; i < n; i++)
        fit &= x[i] == 0 || (fabs(x[i]) >= (double)FLT_MIN && fabs(x[i]) <= (double)FLT_MAX);
    return fit;
}

/* The coefficients in float, for scores that are only compared; none if one is too large for float,
 * or so small that it would lose digits. */
static mcr_status open_rough(mcr_prediction *w)
{
    size_t all = 0;
    for (int64_t g = 0; g < w->segments; g++) {
        size_t own = (size_t)(w->segment[g].count * w->segment[g].outputs);
        if (!fit_float(w->segment[g].coef, own))
            return MCR_OK;
        all += own;
    }
    float *to = mcr_alloc(w->ctx, all + 1, sizeof *to);
    w->rough = mcr_alloc(w->ctx, (size_t)w->segments + 1, sizeof *w->rough);
    if (!to || !w->rough) {
        mcr_free_all(w->ctx, to, w->rough);
        w->rough = NULL;
        return MCR_NO_MEMORY;
    }
    w->rough[0] = to;
    for (int64_t g = 0; g < w->segments; g++) {
        const mcr_segment *seg = &w->segment[g];
        w->rough[g] = to;
        for (int64_t i = 0; i < seg->count * seg->outputs; i++)
            *to++ = (float)seg->coef[i];
    }
    return MCR_OK;
}

/* Counts votes instead of scores if that is less work; blocks can then be large, and few scores are
 * needed at a time. */
static mcr_status open_votes(mcr_prediction *w, int64_t n)
{
    mcr_status s = mcr_pair_votes_open(&w->votes, w);
    if (s || !w->votes)
        return s;
    w->block = n < BLOCK ? n : BLOCK;
    w->held = w->held < LEAST ? w->held : LEAST;
    mcr_free(w->ctx, w->unsure);
    w->unsure = mcr_alloc(w->ctx, (size_t)w->block, sizeof *w->unsure);
    w->class = mcr_alloc(w->ctx, (size_t)w->block, sizeof *w->class);
    return w->unsure && w->class ? MCR_OK : MCR_NO_MEMORY;
}

/* The sums of a segment, and the scores of as many objects as are computed at a time. */
static mcr_status open_scores(mcr_prediction *w)
{
    const mcr_fitted *f = w->model->fitted;
    int64_t most = 1;
    for (int64_t g = 0; g < f->segments; g++)
        most = f->segment[g].outputs > most ? f->segment[g].outputs : most;
    /* Not a power of two: outputs would cause cache conflicts. */
    w->ld = (w->held + 63) / 64 * 64 + 64;
    w->f = mcr_alloc(w->ctx, (uint64_t)(most * w->ld), sizeof *w->f);
    w->score = mcr_alloc(w->ctx, (uint64_t)(f->outputs * w->held), sizeof *w->score);
    return w->f && w->score ? MCR_OK : MCR_NO_MEMORY;
}

/* The requested outputs; NULL: not requested. */
typedef struct wanted {
    double *value, *score, *proba, *std;
} wanted;

typedef struct decide_job {
    mcr_prediction *w;
    double *value, *proba; /* of the block */
} decide_job;

static mcr_status decide_chunk(void *arg, int64_t item, int worker)
{
    const decide_job *job = arg;
    const mcr_prediction *w = job->w;
    const mcr_fitted *f = w->model->fitted;
    int64_t k = f->classes, first = item * CHUNK;
    int64_t end = first + CHUNK < w->count ? first + CHUNK : w->count;
    double *proba = w->proba + worker * k, *couple = w->couple + worker * (k * k + k);
    for (int64_t i = first; i < end; i++) {
        double v = w->votes ? w->class[i]
                            : mcr_fitted_decide(f, w->score + i * f->outputs, proba, couple);
        if (job->value)
            job->value[i] = v;
        if (job->proba)
            memcpy(job->proba + i * k, proba, sizeof *proba * (size_t)k);
    }
    return MCR_OK;
}

/* Values that overflow are not predictions. */
static mcr_status check_numbers(const mcr_prediction *w, int64_t first, const double *v,
                                int64_t each)
{
    for (int64_t i = 0; i < w->count * each; i++)
        if (!isfinite(v[i]))
            return mcr_fail(
                w->ctx, MCR_NUMERIC,
                "object %lld: the prediction is too large for double precision: scale the "
                "data and train again",
                (long long)(first + i / each) + 1);
    return MCR_OK;
}

/* Decisions of the block that starts at object `first`, after its scores. */
static mcr_status answer_block(mcr_prediction *w, int64_t first, const wanted *to)
{
    const mcr_fitted *f = w->model->fitted;
    mcr_status s = MCR_OK;
    decide_job decide = {w, to->value ? to->value + first : NULL,
                         to->proba ? to->proba + first * f->classes : NULL};
    if (f->rule != MCR_RULE_OWN)
        s = mcr_parallel(w->ctx, (w->count + CHUNK - 1) / CHUNK, decide_chunk, &decide);
    if (!s && w->predictor)
        s = w->predictor->block(&(mcr_query){
            .ctx = w->ctx,
            .fitted = f,
            .state = w->state,
            .gram = w->gram,
            .count = w->count,
            .score = w->score,
            .value = decide.value,
            .proba = decide.proba,
            .std = to->std ? to->std + first : NULL,
        });
    if (!s && f->task == MCR_REGRESS && decide.value)
        s = check_numbers(w, first, decide.value, 1);
    if (!s && to->score)
        s = check_numbers(w, first, w->score, f->outputs);
    if (to->score && !s)
        memcpy(to->score + first * f->outputs, w->score,
               sizeof *w->score * (size_t)(w->count * f->outputs));
    return s;
}

static mcr_status predict_blocks(mcr *ctx, const mcr_model *m, const mcr_data *data,
                                 mcr_gram *across, const wanted *to)
{
    const mcr_fitted *f = m->fitted;
    int64_t n = mcr_data_count(data);
    mcr_prediction w;
    double began = mcr_now();
    mcr_status s = open_work(&w, ctx, m, across, n);
    /* The bound of float errors holds for positive semi-definite kernels. */
    bool quickly = !across && !to->score && !to->proba && !f->slope && !f->curve &&
                   f->rule <= MCR_RULE_LARGEST && f->task == MCR_CLASSIFY && !w.predictor &&
                   mcr_kernel_definite(m->kernel, NULL) == MCR_PSD;
    if (quickly && !s && !w.polynomial && !mcr_fourier_is(f))
        s = open_rough(&w);
    if (quickly && !s && w.rough)
        s = open_votes(&w, n);
    if (!s)
        s = open_scores(&w);
    for (int64_t first = 0; first < n && !s; first += w.block) {
        mcr_data *part = NULL;
        w.count = n - first < w.block ? n - first : w.block;
        w.done = (double)first / (double)n;
        s = mcr_data_load(&part, data, (mcr_rows){NULL, first, w.count});
        if (!s)
            s = score_block(&w, part, first, quickly);
        if (!s)
            s = answer_block(&w, first, to);
        mcr_gram_close(w.gram);
        w.gram = NULL;
        mcr_data_free(part);
        if (!s)
            s = mcr_part_done(ctx, "predict", (double)(first + w.count) / (double)n,
                              mcr_now() - began);
    }
    close_work(&w);
    return s;
}

/* A threshold decides by score or probability, whether these are requested or not. */
static mcr_status predict_ready(mcr *ctx, const mcr_model *m, const mcr_data *data,
                                mcr_gram *across, const wanted *to)
{
    mcr_threshold t = MCR_INIT(mcr_threshold);
    mcr_status s = mcr_model_threshold(m, &t);
    if (s || isnan(t.value) || !to->value)
        return s ? s : predict_blocks(ctx, m, data, across, to);
    wanted all = *to;
    int64_t n = mcr_data_count(data);
    double *own = mcr_alloc(ctx, (size_t)n + 1, 2 * sizeof *own);
    if (!own)
        return MCR_NO_MEMORY;
    if (t.probability && !all.proba)
        all.proba = own;
    if (!t.probability && !all.score)
        all.score = own;
    s = predict_blocks(ctx, m, data, across, &all);
    if (!s)
        mcr_threshold_decide(m, &t, all.score, all.proba, n, to->value);
    mcr_free(ctx, own);
    return s;
}

mcr_status mcr_model_prepare(mcr_data **out, mcr *ctx, const mcr_model *m, const mcr_data *data)
{
    mcr_data *matched = NULL, *like = NULL;
    *out = NULL;
    mcr_status s = mcr_scaling_like(&like, m->scaling, m->basis);
    if (!s)
        s = mcr_data_match(&matched, ctx, data, like);
    if (!s)
        s = mcr_scaling_apply(out, m->scaling, matched);
    if (!s)
        s = mcr_scaling_check(*out);
    if (s) {
        mcr_data_free(*out);
        *out = NULL;
    }
    mcr_data_free(like);
    mcr_data_free(matched);
    return s;
}

static mcr_status predict(mcr *ctx, const mcr_model *m, const mcr_data *data, const wanted *to)
{
    mcr_data *ready = NULL;
    if (m->loaded)
        mcr_predicting(ctx, true);
    mcr_status s = mcr_model_prepare(&ready, ctx, m, data);
    if (!s)
        s = predict_ready(ctx, m, ready, NULL, to);
    if (m->loaded)
        mcr_predicting(ctx, false);
    mcr_data_free(ready);
    return s;
}

mcr_status mcr_predict(mcr *ctx, const mcr_model *m, const mcr_data *data, double *value,
                       double *score, double *proba)
{
    if (proba && !mcr_model_has_probability(m))
        return mcr_advise(ctx,
                          mcr_fail(ctx, MCR_BAD_CALL,
                                   "the model has no probabilities: train it with the option "
                                   "probability, or use a learner that has them, such as logistic"),
                          "option probability=yes");
    if (value && m->fitted->rule == MCR_RULE_COORDINATES)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "a model of %s gives coordinates and predicts nothing: request its scores",
                        m->learner);
    return predict(ctx, m, data, &(wanted){value, score, proba, NULL});
}

mcr_status mcr_predict_across(mcr *ctx, const mcr_model *m, const mcr_data *data, mcr_gram *across,
                              double *value, double *score, double *proba)
{
    if (!across)
        return mcr_predict(ctx, m, data, value, score, proba);
    return predict_ready(ctx, m, data, across, &(wanted){value, score, proba, NULL});
}

mcr_status mcr_predict_draws(mcr *ctx, const mcr_model *m, const mcr_data *data, int64_t count,
                             double *draws)
{
    int64_t n = mcr_data_count(data);
    const mcr_predictor *p = m->type ? m->type->predictor : NULL;
    if (m->fitted->task != MCR_REGRESS || !p || !p->draw)
        return mcr_fail(
            ctx, MCR_BAD_CALL,
            "a model of %s has no posterior to draw from: only gp for regression has one",
            m->learner);
    mcr_data *ready = NULL;
    double *value = mcr_alloc(ctx, (size_t)n, sizeof *value);
    mcr_status s = value ? mcr_predict(ctx, m, data, value, NULL, NULL) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < n * count && !s; i++)
        draws[i] = value[i / count];
    if (!s)
        s = mcr_model_prepare(&ready, ctx, m, data);
    if (!s && n)
        s = p->draw(ctx, m->fitted, m->kernel, m->basis, ready, count, draws);
    mcr_data_free(ready);
    mcr_free(ctx, value);
    return s;
}

mcr_status mcr_predict_std(mcr *ctx, const mcr_model *m, const mcr_data *data, double *value,
                           double *std)
{
    if (!mcr_model_has_std(m))
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "a model of %s has no standard deviations: only gp for regression has them",
                        m->learner);
    return predict(ctx, m, data, &(wanted){value, NULL, NULL, std});
}
