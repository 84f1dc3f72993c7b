/* multiclass_calibrate.c: probabilities of a two-class problem from decision values of held-out
 * objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/multiclass_impl.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "learn/svm_problem.h"

enum { CALIBRATION_FOLDS = 5 };

bool mcr_class_stopped(mcr_class_job *j)
{
    enum { TICKS = 20 }; /* a second */
    double now = mcr_now();
    int64_t tick = (int64_t)(now * TICKS);
    if ((j->problems > 1 || j->fold) && !__atomic_load_n(&j->stopped, __ATOMIC_RELAXED) &&
        __atomic_exchange_n(&j->ticks, tick, __ATOMIC_RELAXED) != tick) {
        int64_t solved = __atomic_load_n(&j->solved, __ATOMIC_RELAXED);
        if (mcr_report_part(j->in->ctx, j->how->learner, (double)solved / (double)j->problems,
                            now - j->began))
            __atomic_store_n(&j->stopped, true, __ATOMIC_RELAXED);
    }
    return __atomic_load_n(&j->stopped, __ATOMIC_RELAXED);
}

bool mcr_class_is_late(const mcr_class_job *j)
{
    return j->deadline > 0 && mcr_now() > j->deadline;
}

/* ---- decision values of held-out objects ------------------------------------------------------*/

typedef struct fold_set {
    const mcr_class_job *j;
    const mcr_binary *of; /* the problem */
    const mcr_data *data; /* its objects */
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

/* Deals the objects of each side out to the folds in a random order. A weight of 3 is three objects
 * that are equal (they may have been merged): each goes to a fold of its own, or a heavy object
 * would be evaluated by models that have never seen its like. */
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

/* One fold: who is trained on, who is held out, and what the solver fills in. */
typedef struct split {
    int64_t *row, *held;
    int64_t in, out;
    double count; /* objects trained on, by their weight in the data */
    double *y, *weight, *coef, *f, *w;
    mcr_gram *train, *across;
} split;

static void close_fold(split *o, mcr *ctx)
{
    mcr_gram_close(o->train);
    mcr_gram_close(o->across);
    mcr_free(ctx, o->row);
}

static mcr_status open_fold(split *o, const fold_set *s, int number)
{
    const mcr_binary *of = s->of;
    mcr *ctx = of->ctx;
    size_t n = (size_t)of->n;
    if (!mcr_alloc_arrays(ctx, MCR_ARRAY(o->row, n), /* the block to free */
                          MCR_ARRAY(o->held, n), MCR_ARRAY(o->y, n), MCR_ARRAY(o->weight, n),
                          MCR_CLEARED(o->coef, n), MCR_CLEARED(o->f, n + MCR_ROW_PAD),
                          MCR_ARRAY(o->w, (size_t)mcr_gram_width(of->gram))))
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < of->n; i++) {
        double share = s->share[i * CALIBRATION_FOLDS + number];
        if (share > 0)
            o->held[o->out++] = i;
        if (share > 1 - 1e-9)
            continue;
        o->y[o->in] = of->y[i];
        o->weight[o->in] = (1 - share) * of->weight[i];
        o->count += (1 - share) * count_of(s, i);
        o->row[o->in++] = i;
    }
    return mcr_gram_select_both(&o->train, of->gram, (mcr_rows){o->row, 0, o->in});
}

/* Decision values, without bias, of those held out. */
static mcr_status apply_fold(split *o, const mcr_binary *of)
{
    mcr_rows kept = {o->row, 0, o->in}, held = {o->held, 0, o->out};
    int64_t support = 0;
    if (of->w)
        return mcr_gram_expand(of->gram, held, o->w, 1, o->f);
    mcr_status st = mcr_gram_select(&o->across, of->gram, kept, held);
    memset(o->f, 0, sizeof *o->f * (size_t)o->out);
    for (int64_t i = 0; i < o->in && !st; i++)
        if (o->coef[i] != 0) {
            o->row[support] = i;
            o->coef[support++] = o->coef[i];
        }
    return st ? st
              : mcr_gram_rows_pass(o->across, &(mcr_gram_pass){.x = {o->row, 0, support},
                                                               .coef = o->coef,
                                                               .f = o->f,
                                                               .outputs = 1});
}

/* Trains without one fold and keeps its decision values; *stop: how that ended. */
static mcr_status hold_out(fold_set *s, int number, mcr_stop *stop)
{
    const mcr_binary *of = s->of;
    split o = {0};
    mcr_status st = open_fold(&o, s, number);
    mcr_binary part = *of;
    part.gram = o.train;
    part.w = of->w ? o.w : NULL;
    part.form = NULL; /* nothing is stored of a fold */
    part.n = o.in;
    part.count = o.count;
    part.y = o.y;
    part.weight = o.weight;
    part.coef = o.coef;
    part.f = o.f;
    part.start = NULL;
    part.price = NULL;
    part.fold = true;
    part.steps = 0;
    if (!st)
        st = s->j->how->solve(s->j->how->params, &part);
    *stop = part.stop;
    if (!st)
        st = apply_fold(&o, of);
    if (!st)
        keep_values(s, number, o.held, o.out, o.f, part.bias);
    close_fold(&o, of->ctx);
    return st;
}

mcr_status mcr_class_calibrate(mcr_class_job *j, const mcr_binary *of, const mcr_data *data,
                               int64_t problem)
{
    mcr *ctx = of->ctx;
    int64_t n = of->n, sides[2] = {0, 0};
    for (int64_t i = 0; i < n; i++)
        sides[of->y[i] > 0]++;
    size_t most = CALIBRATION_FOLDS * (size_t)n;
    fold_set s = {.j = j, .of = of, .data = data};
    void *arrays = mcr_alloc_arrays(ctx, MCR_CLEARED(s.share, most), MCR_ARRAY(s.f, most),
                                    MCR_ARRAY(s.weight, most), MCR_ARRAY(s.y, most));
    mcr_status st = arrays ? MCR_OK : MCR_NO_MEMORY;
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
    mcr_free(ctx, arrays);
    return st;
}
