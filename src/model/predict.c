/* predict.c: predictions by blocks of objects, and how good they are.
 *
 * The kernel values of a block against all support objects are computed once and used for all
 * outputs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model/model.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

enum { BLOCK = 16384, ROWS = 1024 };

typedef struct work {
    mcr *ctx;
    const mcr_model *model;
    int64_t count; /* objects of the block */
    double *f;     /* outputs of a segment x BLOCK */
    double *score; /* BLOCK x outputs */
    double *proba, *couple;
} work;

/* Adds one segment's part to the scores. */
static mcr_status add_segment(work *w, mcr_gram *gram, const mcr_segment *seg)
{
    int64_t ld = BLOCK, outputs = w->model->fitted->outputs;
    memset(w->f, 0, sizeof *w->f * (size_t)(seg->outputs * ld));
    mcr_status s = MCR_OK;
    for (int64_t r = 0; r < seg->count && !s; r += ROWS) {
        int64_t rows = seg->count - r < ROWS ? seg->count - r : ROWS;
        s = mcr_gram_rows_pass(gram, &(mcr_gram_pass){.x = {NULL, seg->first + r, rows},
                                                      .precise = true,
                                                      .coef = seg->coef + r,
                                                      .coef_ld = seg->count,
                                                      .f = w->f,
                                                      .f_ld = ld,
                                                      .outputs = seg->outputs});
    }
    for (int64_t t = 0; t < seg->outputs && !s; t++)
        for (int64_t i = 0; i < w->count; i++)
            w->score[i * outputs + seg->output[t]] += w->f[t * ld + i];
    return s;
}

static mcr_status score_block(work *w, const mcr_data *part)
{
    const mcr_fitted *f = w->model->fitted;
    mcr_gram *gram = NULL;
    for (int64_t i = 0; i < w->count; i++)
        memcpy(w->score + i * f->outputs, f->offset, sizeof *f->offset * (size_t)f->outputs);
    if (f->basis == 0)
        return MCR_OK;
    mcr_status s = mcr_gram_open(&gram, w->ctx, w->model->kernel, w->model->basis, part);
    for (int64_t g = 0; g < f->segments && !s; g++)
        if (f->segment[g].count > 0)
            s = add_segment(w, gram, &f->segment[g]);
    mcr_gram_close(gram);
    return s;
}

static mcr_status open_work(work *w, mcr *ctx, const mcr_model *m)
{
    const mcr_fitted *f = m->fitted;
    size_t k = (size_t)f->classes, most = 0;
    for (int64_t g = 0; g < f->segments; g++)
        if ((size_t)f->segment[g].outputs > most)
            most = (size_t)f->segment[g].outputs;
    *w = (work){.ctx = ctx, .model = m};
    w->f = mcr_alloc(ctx, most * BLOCK, sizeof *w->f);
    w->score = mcr_alloc(ctx, (size_t)f->outputs * BLOCK, sizeof *w->score);
    w->proba = mcr_alloc(ctx, k, sizeof *w->proba);
    w->couple = mcr_alloc(ctx, k * k + k, sizeof *w->couple);
    return w->f && w->score && w->proba && w->couple ? MCR_OK : MCR_NO_MEMORY;
}

static void close_work(work *w)
{
    mcr_free(w->ctx, w->f);
    mcr_free(w->ctx, w->score);
    mcr_free(w->ctx, w->proba);
    mcr_free(w->ctx, w->couple);
}

mcr_status mcr_predict(mcr *ctx, const mcr_model *m, const mcr_data *data, double *value,
                       double *score, double *proba)
{
    const mcr_fitted *f = m->fitted;
    int64_t n = mcr_data_count(data), outputs = f->outputs, k = f->classes;
    if (proba && !f->slope)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "the model has no probabilities: train it with --probability");
    work w;
    double began = mcr_now();
    mcr_status s = open_work(&w, ctx, m);
    for (int64_t first = 0; first < n && !s; first += BLOCK) {
        mcr_data *part = NULL;
        w.count = n - first < BLOCK ? n - first : BLOCK;
        s = mcr_data_select(&part, data, (mcr_rows){NULL, first, w.count});
        if (!s)
            s = score_block(&w, part);
        mcr_data_free(part);
        for (int64_t i = 0; i < w.count && !s; i++) {
            double v = mcr_fitted_decide(f, w.score + i * outputs, w.proba, w.couple);
            if (value)
                value[first + i] = v;
            if (proba)
                memcpy(proba + (first + i) * k, w.proba, sizeof *proba * (size_t)k);
        }
        if (score && !s)
            memcpy(score + first * outputs, w.score, sizeof *score * (size_t)(w.count * outputs));
        mcr_progress at = {.size = sizeof at,
                           .phase = "predict",
                           .fraction = (double)(first + w.count) / (double)n,
                           .seconds = mcr_now() - began,
                           .objective = NAN,
                           .violation = NAN};
        if (!s && mcr_report(ctx, &at))
            s = mcr_fail(ctx, MCR_STOPPED, "interrupted");
    }
    close_work(&w);
    return s;
}

/* ---- metrics -----------------------------------------------------------------------------------*/

/* The model's number for each class of the data, -1: unknown to the model. */
static mcr_status match_classes(mcr *ctx, const mcr_model *m, const mcr_data *data, int64_t **out)
{
    int64_t k = mcr_data_classes(data);
    int64_t *match = mcr_alloc(ctx, (size_t)k, sizeof *match);
    *out = match;
    for (int64_t c = 0; match && c < k; c++) {
        const char *name = mcr_data_class_name(data, c), *end = name + strlen(name);
        double number;
        bool is_number = mcr_parse_real(name, end, &number) == end;
        match[c] = -1;
        for (int64_t t = 0; t < m->classes && match[c] < 0; t++)
            if (strcmp(name, m->class_name[t]) == 0 || (is_number && number == m->class_value[t]))
                match[c] = t;
    }
    return match ? MCR_OK : MCR_NO_MEMORY;
}

static mcr_status score_classes(mcr *ctx, const mcr_model *m, const mcr_data *data,
                                const double *value, mcr_metrics *out)
{
    int64_t *match, right = 0;
    const int32_t *class_of = mcr_data_class_of(data);
    mcr_status s = match_classes(ctx, m, data, &match);
    for (int64_t i = 0; i < out->n && !s; i++)
        right += (double)match[class_of[i]] == value[i];
    mcr_free(ctx, match);
    out->accuracy = (double)right / (double)out->n;
    return s;
}

static void score_numbers(const mcr_data *data, const double *value, mcr_metrics *out)
{
    const double *y = mcr_data_targets(data);
    double mean = 0, total = 0, squares = 0, sizes = 0, n = (double)out->n;
    for (int64_t i = 0; i < out->n; i++)
        mean += y[i] / n;
    for (int64_t i = 0; i < out->n; i++) {
        double error = y[i] - value[i];
        squares += error * error;
        sizes += fabs(error);
        total += (y[i] - mean) * (y[i] - mean);
    }
    out->mse = squares / n;
    out->mae = sizes / n;
    out->r2 = total > 0 ? 1 - squares / total : NAN;
}

/* Detection: targets +1 (or any number > 0) are insiders. */
static void score_detection(const mcr_data *data, const double *value, mcr_metrics *out)
{
    const double *y = mcr_data_targets(data);
    int64_t right = 0;
    for (int64_t i = 0; i < out->n; i++)
        right += (y[i] > 0) == (value[i] > 0);
    out->accuracy = (double)right / (double)out->n;
}

mcr_status mcr_model_score(mcr *ctx, const mcr_model *m, const mcr_data *data, const double *value,
                           mcr_metrics *out)
{
    *out = (mcr_metrics){mcr_data_count(data), NAN, NAN, NAN, NAN};
    mcr_targets kind = mcr_data_target_kind(data);
    if (kind == MCR_NO_TARGETS || out->n == 0)
        return mcr_fail(ctx, MCR_BAD_DATA, "the data have no targets to compare with");
    if (m->report.task == MCR_CLASSIFY)
        return score_classes(ctx, m, data, value, out);
    if (kind == MCR_WORD_TARGETS)
        return mcr_fail(ctx, MCR_BAD_DATA, "the targets are words, but the model predicts numbers");
    if (m->report.task == MCR_REGRESS)
        score_numbers(data, value, out);
    else
        score_detection(data, value, out);
    return MCR_OK;
}
