/* multiclass_calibrate.c: probabilities of a two-class problem from decision values of held-out objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/multiclass_impl.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "learn/svm_common.h"

enum { CALIBRATION_FOLDS = 5 };

bool mcr_class_stopped(mcr_class_job *j)
{
    enum { TICKS = 20 }; /* a second */
    double now = mcr_now();
    int64_t tick = (int64_t)(now * TICKS);
    if ((j->problems > 1 || j->in->trial) && !__atomic_load_n(&j->stopped, __ATOMIC_RELAXED) &&
        __atomic_exchange_n(&j->told, tick, __ATOMIC_RELAXED) != tick) {
        int64_t solved = __atomic_load_n(&j->solved, __ATOMIC_RELAXED);
        mcr_progress at = {
            .size = sizeof at,
            .phase = j->how->learner,
            .fraction = (double)solved / (double)j->problems,
            .seconds = now - j->began,
            .objective = NAN,
            .violation = NAN,
        };
        if (mcr_report(j->in->ctx, &at))
            __atomic_store_n(&j->stopped, true, __ATOMIC_RELAXED);
    }
    return __atomic_load_n(&j->stopped, __ATOMIC_RELAXED);
}

/* ---- decision values of held-out objects -------------------------------------------------------*/

typedef struct fold_set {
    const mcr_class_job *j;
    const mcr_binary *of; /* the problem */
    mcr_data *data;       /* its objects */
    double *share;        /* n x CALIBRATION_FOLDS: which part of an object a fold holds out */
    /* What was held out: decision values, whether positive, and weights. */
    int64_t count;
    double *f, *weight;
    unsigned char *y;
} fold_set;

static double count_of(const fold_set *s, int64_t i)
{
    const double *weight = mcr_data_weights(s->data);
    return weight ? weight[i] : 1;
}

/* Deals the objects of each side out to the folds in a random order. A weight of 3 is three objects that
 * are equal (they may have been merged): each goes to a fold of its own, or a heavy object would be
 * judged by models that have never seen its like. */
static mcr_status deal(fold_set *s, mcr *ctx, uint64_t number)
{
    int64_t n = s->of->n;
    int64_t *order = mcr_alloc(ctx, (size_t)n, sizeof *order);
    if (!order)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    mcr_random r = mcr_random_stream(mcr_seed(ctx), "calibration folds", number);
    mcr_random_shuffle(&r, order, n);
    int64_t next[2] = {0, 0};
    for (int64_t t = 0; t < n; t++) {
        int64_t i = order[t], *to = &next[s->of->y[i] > 0];
        double copies = fmin(fmax(floor(count_of(s, i)), 1), CALIBRATION_FOLDS);
        for (double c = 0; c < copies; c++, ++*to)
            s->share[i * CALIBRATION_FOLDS + *to % CALIBRATION_FOLDS] += 1 / copies;
    }
    mcr_free(ctx, order);
    return MCR_OK;
}

static void keep_values(fold_set *s, int fold, const int64_t *held, int64_t count, const double *f,
                        double bias)
{
    for (int64_t t = 0; t < count; t++, s->count++) {
        int64_t i = held[t];
        s->f[s->count] = f[t] + bias;
        s->y[s->count] = s->of->y[i] > 0;
        s->weight[s->count] = s->share[i * CALIBRATION_FOLDS + fold] * count_of(s, i);
    }
}

/* Trains without one fold and keeps its decision values; *stop: how that ended. */
static mcr_status hold_out(fold_set *s, int fold, mcr_stop *stop)
{
    const mcr_binary *of = s->of;
    mcr *ctx = of->ctx;
    int64_t n = of->n, in = 0, out = 0, support = 0;
    double count = 0;
    int64_t *row = mcr_alloc(ctx, (size_t)n, sizeof *row);
    int64_t *held = mcr_alloc(ctx, (size_t)n, sizeof *held);
    double *y = mcr_alloc(ctx, (size_t)n, sizeof *y);
    double *weight = mcr_alloc(ctx, (size_t)n, sizeof *weight);
    double *coef = mcr_alloc_zero(ctx, (size_t)n, sizeof *coef);
    double *f = mcr_alloc_zero(ctx, (size_t)n + MCR_ROW_PAD, sizeof *f);
    int64_t *source = mcr_alloc(ctx, 2 * (size_t)n, sizeof *source);
    double *w = mcr_alloc(ctx, of->design ? (size_t)of->design->p : 0, sizeof *w);
    mcr_data *kept = NULL, *rest = NULL;
    mcr_gram *train = NULL, *across = NULL;
    mcr_status st = row && held && y && weight && coef && f && source && w ? MCR_OK : MCR_NO_MEMORY;
    if (st)
        goto done;
    for (int64_t i = 0; i < n; i++) {
        double share = s->share[i * CALIBRATION_FOLDS + fold];
        if (share > 0)
            held[out++] = i;
        if (share > 1 - 1e-9)
            continue;
        y[in] = of->y[i];
        weight[in] = (1 - share) * of->weight[i];
        count += (1 - share) * count_of(s, i);
        row[in++] = i;
    }
    if ((st = mcr_data_select(&kept, s->data, (mcr_rows){row, 0, in})) ||
        (st = mcr_data_select(&rest, s->data, (mcr_rows){held, 0, out})) ||
        (!of->design && (st = mcr_gram_open(&train, ctx, s->j->in->kernel, kept, NULL))))
        goto done;
    mcr_binary part = *of;
    mcr_design design[2];
    if (of->design) {
        design[0] = mcr_design_part(of->design, row, in, source);
        design[1] = mcr_design_part(of->design, held, out, source + in);
        part.design = &design[0];
        part.w = w;
    }
    part.gram = train;
    part.n = in;
    part.count = count;
    part.y = y;
    part.weight = weight;
    part.coef = coef;
    part.f = f;
    part.start = NULL;
    part.price = NULL;
    part.fold = true;
    part.steps = 0;
    st = s->j->how->solve(s->j->how->params, &part);
    *stop = part.stop;
    if (!st && part.design) {
        st = mcr_design_multiply(&design[1], w, 1, f);
        if (!st)
            keep_values(s, fold, held, out, f, part.bias);
        goto done;
    }
    if (st || (st = mcr_gram_open(&across, ctx, s->j->in->kernel, kept, rest)))
        goto done;
    memset(f, 0, sizeof *f * (size_t)out);
    for (int64_t i = 0; i < in; i++)
        if (coef[i] != 0) {
            row[support] = i;
            coef[support++] = coef[i];
        }
    st = mcr_gram_rows_pass(
        across, &(mcr_gram_pass){.x = {row, 0, support}, .coef = coef, .f = f, .outputs = 1});
    if (!st)
        keep_values(s, fold, held, out, f, part.bias);
done:
    mcr_gram_close(train);
    mcr_gram_close(across);
    mcr_data_free(kept);
    mcr_data_free(rest);
    mcr_free(ctx, row);
    mcr_free(ctx, held);
    mcr_free(ctx, y);
    mcr_free(ctx, weight);
    mcr_free(ctx, coef);
    mcr_free(ctx, f);
    mcr_free(ctx, source);
    mcr_free(ctx, w);
    return st;
}

mcr_status mcr_class_calibrate(mcr_class_job *j, const mcr_binary *of, mcr_data *data,
                               int64_t problem)
{
    mcr *ctx = of->ctx;
    int64_t n = of->n, sides[2] = {0, 0};
    for (int64_t i = 0; i < n; i++)
        sides[of->y[i] > 0]++;
    size_t most = CALIBRATION_FOLDS * (size_t)n;
    fold_set s = {.j = j,
                  .of = of,
                  .data = data,
                  .share = mcr_alloc_zero(ctx, most, sizeof *s.share),
                  .f = mcr_alloc(ctx, most, sizeof *s.f),
                  .weight = mcr_alloc(ctx, most, sizeof *s.weight),
                  .y = mcr_alloc(ctx, most, 1)};
    mcr_status st = s.share && s.f && s.weight && s.y ? MCR_OK : MCR_NO_MEMORY;
    if (!st && (sides[0] < 2 || sides[1] < 2))
        st = mcr_fail(ctx, MCR_BAD_DATA,
                      "%s: probabilities need at least two objects of every class",
                      j->how->learner);
    if (!st)
        st = deal(&s, ctx, (uint64_t)problem);
    bool cut = false;
    for (int fold = 0; fold < CALIBRATION_FOLDS && !st && !cut; fold++) {
        mcr_stop stop = MCR_STOP_OPTIMAL;
        if (mcr_class_stopped(j)) {
            cut = true;
            break;
        }
        st = hold_out(&s, fold, &stop);
        if (stop == MCR_STOP_INTERRUPTED)
            __atomic_store_n(&j->stopped, true, __ATOMIC_RELAXED);
        if (st == MCR_STOPPED)
            __atomic_store_n(&j->stopped, true, __ATOMIC_RELAXED);
        cut = st == MCR_NUMERIC || st == MCR_STOPPED || stop == MCR_STOP_TIME ||
              stop == MCR_STOP_INTERRUPTED;
        if (st == MCR_NUMERIC || st == MCR_STOPPED)
            st = MCR_OK;
    }
    if (cut)
        __atomic_store_n(&j->uncalibrated, true, __ATOMIC_RELAXED);
    else if (!st)
        mcr_calibrate(s.f, s.y, s.weight, s.count, j->curve + 2 * problem);
    mcr_free(ctx, s.share);
    mcr_free(ctx, s.f);
    mcr_free(ctx, s.weight);
    mcr_free(ctx, s.y);
    return st;
}
