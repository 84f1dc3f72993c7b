/* online_scores.c: scores of all objects while coefficients change one by one.
 *
 * A change of one coefficient changes all n scores: a row of K. Rows are cheap by the dozen, so changes
 * are gathered: the next few hundred objects are a block, whose own part of K is computed at its
 * beginning, so that changes are seen there at once; all other objects hear of them at its end, in one
 * pass over the rows that changed. The result is that of single steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "kernel/poly.h"
#include "learn/online.h"

/* Objects of a block; rows of a pass; from how many on all of K is made again and again, if that is
 * quickly done. */
enum { BLOCK = 512, LEAST_BLOCK = 16, ROWS = 1024, MOST_OBJECTS = 6000 };
#define BLOCK_BYTES ((double)(32 << 20))

/* ---- which side --------------------------------------------------------------------------------*/

/* Values of one object that are not 0, on average. */
static double entries_of(const mcr_field *f)
{
    const mcr_store *s = f->store;
    if (s->kind != MCR_SPARSE || s->count == 0)
        return (double)s->cols;
    return (double)(s->start[s->count] - s->start[0]) / (double)s->count;
}

/* Whether a step costs less with weights than with kernel values. A step with weights touches an object's
 * features twice; with kernel values a mistake, one step in a few, costs a row of K. */
static bool features_are_cheaper(const mcr_learning *in, int64_t outputs)
{
    enum { MOST_WEIGHTS = 4 << 20 };
    const mcr_kernel *k = in->kernel;
    bool linear = strcmp(k->type->name, "linear") == 0;
    mcr_field field;
    mcr_monomials m;
    double n = (double)mcr_data_count(in->data);
    if ((!linear && strcmp(k->type->name, "poly") != 0) ||
        mcr_field_choose(&field, in->ctx, k->type->name, MCR_DENSE | MCR_SPARSE, k->field, NULL,
                         in->data))
        return false;
    double own = entries_of(&field), entries = own;
    if (!linear) {
        if (!mcr_monomials_of(&m, k, field.store->cols, MOST_WEIGHTS / outputs))
            return false;
        entries = mcr_monomials_work(&m, own);
    } else if (field.store->cols > MOST_WEIGHTS / outputs) {
        return false;
    }
    double bytes = n * entries * (double)(sizeof(int32_t) + sizeof(double));
    return 2 * entries < 0.2 * n * (1 + own / 16) && bytes < (double)mcr_budget_left(in->ctx) / 2;
}

/* ---- opening -----------------------------------------------------------------------------------*/

static mcr_status open_features(mcr_scores *s, const mcr_learning *in)
{
    mcr_status st = mcr_features_open(&s->map, s->ctx, in->kernel, in->data, NULL, 0);
    if (st)
        return st;
    s->weight = mcr_alloc_zero(s->ctx, (size_t)s->outputs,
                               (size_t)mcr_features_count(s->map) * sizeof *s->weight);
    if (!s->weight)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < s->n; i++) {
        const int32_t *index;
        const double *value;
        int64_t count = mcr_features_row(s->map, 0, i, &index, &value);
        for (int64_t e = 0; e < count; e++)
            s->square[i] += value[e] * value[e];
    }
    return MCR_OK;
}

/* How many objects a block has, and room for their part of K. */
static mcr_status open_block(mcr_scores *s, const mcr_scores_plan *plan)
{
    double most = fmin(BLOCK_BYTES, (double)mcr_budget_left(s->ctx) / 4) / sizeof *s->k;
    s->block = BLOCK < s->n ? BLOCK : s->n;
    while (s->block > LEAST_BLOCK && (double)s->block * (double)(s->block + plan->others) > most)
        s->block /= 2;
    s->most_rows = s->block + plan->others;
    size_t bytes = (size_t)s->block * (size_t)s->most_rows * sizeof *s->k;
    if (bytes <= mcr_budget_left(s->ctx) &&
        mcr_budget_take(s->ctx, bytes, "scores") == MCR_OK) /* too little: at least a few objects */
        s->taken = bytes;
    s->k = mcr_alloc(s->ctx, (size_t)s->block, (size_t)s->most_rows * sizeof *s->k);
    if (s->block < plan->together)
        s->block = plan->together; /* these need no values */
    s->local = mcr_alloc(s->ctx, (size_t)s->block, (size_t)s->outputs * sizeof *s->local);
    s->row = mcr_alloc(s->ctx, (size_t)s->most_rows, sizeof *s->row);
    s->row_of = mcr_alloc(s->ctx, (size_t)s->n, sizeof *s->row_of);
    s->change = mcr_alloc_zero(s->ctx, (size_t)s->n, (size_t)s->outputs * sizeof *s->change);
    s->changed = mcr_alloc(s->ctx, (size_t)s->n, sizeof *s->changed);
    s->is_changed = mcr_alloc_zero(s->ctx, (size_t)s->n, 1);
    for (int64_t i = 0; i < s->n && s->row_of; i++)
        s->row_of[i] = -1;
    return s->k && s->local && s->row && s->row_of && s->change && s->changed && s->is_changed
               ? MCR_OK
               : MCR_NO_MEMORY;
}

static mcr_status open_whole(mcr_scores *s)
{
    s->taken = (size_t)s->n * (size_t)s->n * sizeof *s->k;
    mcr_status st = mcr_budget_take(s->ctx, s->taken, "scores");
    if (st) {
        s->taken = 0;
        return st;
    }
    s->k = mcr_alloc(s->ctx, (size_t)s->n, (size_t)s->n * sizeof *s->k);
    return s->k ? mcr_gram_matrix(s->gram, s->k, s->n) : MCR_NO_MEMORY;
}

static mcr_status open_kernel(mcr_scores *s, const mcr_learning *in, const mcr_scores_plan *plan)
{
    mcr_status st = mcr_gram_open(&s->gram, s->ctx, in->kernel, in->data, NULL);
    if (!st)
        st = mcr_gram_diagonal(s->gram, 0, s->square);
    s->f = mcr_alloc_zero(s->ctx, (size_t)s->outputs, (size_t)s->n * sizeof *s->f);
    if (!st && !s->f)
        st = MCR_NO_MEMORY;
    for (int64_t i = 0; i < s->n && !st; i++)
        if (!(fabs(s->square[i]) < 1e15))
            s->precise = true; /* floats might overflow */
    s->whole = !st && plan->often && (s->n <= MOST_OBJECTS || mcr_gram_is_slow(s->gram)) &&
               (double)s->n * (double)s->n * sizeof *s->k < (double)mcr_budget_left(s->ctx) / 2;
    if (st)
        return st;
    return s->whole ? open_whole(s) : open_block(s, plan);
}

mcr_status mcr_scores_open(mcr_scores *s, const mcr_learning *in, const mcr_scores_plan *plan)
{
    *s = (mcr_scores){.ctx = in->ctx,
                      .n = mcr_data_count(in->data),
                      .outputs = plan->outputs,
                      .bias = plan->bias,
                      .precise = plan->precise,
                      .block = plan->together > BLOCK ? plan->together : BLOCK};
    s->square = mcr_alloc_zero(s->ctx, (size_t)s->n, sizeof *s->square);
    s->offset = mcr_alloc_zero(s->ctx, (size_t)s->outputs, sizeof *s->offset);
    mcr_status st = s->square && s->offset ? MCR_OK : MCR_NO_MEMORY;
    bool features = plan->side == MCR_SIDE_FEATURES ||
                    (plan->side == MCR_SIDE_AUTO && features_are_cheaper(in, s->outputs));
    if (!st)
        st = features ? open_features(s, in) : open_kernel(s, in, plan);
    for (int64_t i = 0; i < s->n && s->bias && !st; i++)
        s->square[i] += 1;
    return st;
}

void mcr_scores_close(mcr_scores *s)
{
    if (!s->ctx)
        return;
    void *block[] = {s->square, s->offset, s->weight, s->f,       s->k,          s->local,
                     s->row,    s->row_of, s->change, s->changed, s->is_changed, s->lane};
    for (size_t b = 0; b < sizeof block / sizeof *block; b++)
        mcr_free(s->ctx, block[b]);
    mcr_budget_give(s->ctx, s->taken);
    mcr_features_close(s->map);
    mcr_gram_close(s->gram);
    *s = (mcr_scores){0};
}

/* ---- many at once ------------------------------------------------------------------------------*/

/* f += coefficients (n x lanes) of the listed objects times their rows of K, for all objects. */
static mcr_status add_rows(mcr_scores *s, const int64_t *object, int64_t count, const double *coef,
                           int64_t lanes, double *f, bool precise)
{
    mcr_status st = mcr_reserve(s->ctx, &s->lane, &s->lane_room, lanes * ROWS, sizeof *s->lane);
    for (int64_t first = 0; first < count && !st; first += ROWS) {
        int64_t rows = count - first < ROWS ? count - first : ROWS;
        for (int64_t r = 0; r < rows; r++)
            for (int64_t o = 0; o < lanes; o++)
                s->lane[o * ROWS + r] = coef[object[first + r] * lanes + o];
        st = mcr_gram_rows_pass(s->gram, &(mcr_gram_pass){.x = {object + first, 0, rows},
                                                          .precise = precise,
                                                          .coef = s->lane,
                                                          .coef_ld = ROWS,
                                                          .f = f,
                                                          .f_ld = s->n,
                                                          .outputs = lanes});
    }
    return st;
}

/* The objects whose coefficients are not all 0, to be freed. */
static int64_t *list_objects(const mcr_scores *s, const double *coef, int64_t lanes, int64_t *count)
{
    int64_t *object = mcr_alloc(s->ctx, (size_t)s->n, sizeof *object);
    *count = 0;
    for (int64_t i = 0; i < s->n && object; i++) {
        bool any = false;
        for (int64_t o = 0; o < lanes; o++)
            any |= coef[i * lanes + o] != 0;
        if (any)
            object[(*count)++] = i;
    }
    return object;
}

/* weight (lanes x features) += coefficient times the features of an object. */
static void add_features(const mcr_scores *s, double *weight, int64_t object, const double *coef,
                         int64_t lanes)
{
    const int32_t *index;
    const double *value;
    int64_t count = mcr_features_row(s->map, 0, object, &index, &value);
    for (int64_t o = 0; o < lanes; o++) {
        double *w = weight + o * mcr_features_count(s->map);
        for (int64_t e = 0; e < count && coef[o] != 0; e++)
            w[index[e]] += coef[o] * value[e];
    }
}

static double feature_score(const mcr_scores *s, const double *weight, int64_t object)
{
    const int32_t *index;
    const double *value;
    double sum = 0;
    int64_t count = mcr_features_row(s->map, 0, object, &index, &value);
    for (int64_t e = 0; e < count; e++)
        sum += weight[index[e]] * value[e];
    return sum;
}

static mcr_status fresh_features(mcr_scores *s, const double *coef, int64_t lanes, double *f)
{
    int64_t features = mcr_features_count(s->map);
    double *weight = mcr_alloc_zero(s->ctx, (size_t)lanes, (size_t)features * sizeof *weight);
    if (!weight)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < s->n; i++)
        add_features(s, weight, i, coef + i * lanes, lanes);
    for (int64_t o = 0; o < lanes; o++)
        for (int64_t i = 0; i < s->n; i++)
            f[o * s->n + i] = feature_score(s, weight + o * features, i);
    mcr_free(s->ctx, weight);
    return MCR_OK;
}

static mcr_status fresh_kernel(mcr_scores *s, const double *coef, int64_t lanes, double *f,
                               bool precise)
{
    int64_t count;
    int64_t *object = list_objects(s, coef, lanes, &count);
    if (!object)
        return MCR_NO_MEMORY;
    memset(f, 0, sizeof *f * (size_t)(lanes * s->n));
    mcr_status st = MCR_OK;
    for (int64_t o = 0; o < lanes && s->whole; o++)
        for (int64_t t = 0; t < count; t++) {
            const double *k = s->k + object[t] * s->n;
            double c = coef[object[t] * lanes + o];
            for (int64_t j = 0; j < s->n; j++)
                f[o * s->n + j] += c * k[j];
        }
    if (!s->whole)
        st = add_rows(s, object, count, coef, lanes, f, precise);
    mcr_free(s->ctx, object);
    return st;
}

mcr_status mcr_scores_fresh(mcr_scores *s, const double *coef, int64_t lanes, double *f,
                            bool precise)
{
    mcr_status st = s->map ? fresh_features(s, coef, lanes, f)
                           : fresh_kernel(s, coef, lanes, f, precise);
    for (int64_t o = 0; o < lanes && s->bias && !st; o++) {
        double sum = 0;
        for (int64_t i = 0; i < s->n; i++)
            sum += coef[i * lanes + o];
        for (int64_t i = 0; i < s->n; i++)
            f[o * s->n + i] += sum;
    }
    return st;
}

mcr_status mcr_scores_set(mcr_scores *s, const double *coef)
{
    memset(s->offset, 0, sizeof *s->offset * (size_t)s->outputs);
    for (int64_t i = 0; i < s->n * s->outputs; i++)
        s->offset[i % s->outputs] += s->bias ? coef[i] : 0;
    if (!s->map)
        return fresh_kernel(s, coef, s->outputs, s->f, true);
    memset(s->weight, 0, sizeof *s->weight * (size_t)(s->outputs * mcr_features_count(s->map)));
    for (int64_t i = 0; i < s->n; i++)
        add_features(s, s->weight, i, coef + i * s->outputs, s->outputs);
    return MCR_OK;
}

/* ---- one by one --------------------------------------------------------------------------------*/

static void add_row(mcr_scores *s, int64_t object)
{
    if (s->row_of[object] >= 0)
        return;
    s->row_of[object] = (int32_t)s->rows;
    s->row[s->rows++] = object;
}

mcr_status mcr_scores_begin(mcr_scores *s, const int64_t *object, int64_t count, bool steady,
                            const int64_t *others, int64_t other_count)
{
    s->object = object;
    s->count = count;
    s->rows = 0;
    if (s->map || s->whole)
        return MCR_OK;
    for (int64_t o = 0; o < s->outputs; o++)
        for (int64_t d = 0; d < count; d++)
            s->local[o * count + d] = s->f[o * s->n + object[d]];
    if (steady)
        return MCR_OK;
    for (int64_t d = 0; d < count; d++)
        add_row(s, object[d]);
    for (int64_t d = 0; d < other_count; d++)
        add_row(s, others[d]);
    return mcr_gram_block(s->gram, (mcr_rows){s->row, 0, s->rows}, (mcr_rows){object, 0, count},
                          s->k, count);
}

void mcr_scores_at(const mcr_scores *s, int64_t d, double *score)
{
    int64_t i = s->object[d];
    for (int64_t o = 0; o < s->outputs; o++) {
        double f = s->map     ? feature_score(s, s->weight + o * mcr_features_count(s->map), i)
                   : s->whole ? s->f[o * s->n + i]
                              : s->local[o * s->count + d];
        score[o] = f + s->offset[o];
    }
}

static void add_values(double *to, double c, const double *k, int64_t count)
{
    for (int64_t j = 0; j < count && c != 0; j++)
        to[j] += c * k[j];
}

void mcr_scores_add(mcr_scores *s, int64_t object, const double *coef)
{
    for (int64_t o = 0; o < s->outputs && s->bias; o++)
        s->offset[o] += coef[o];
    if (s->map) {
        add_features(s, s->weight, object, coef, s->outputs);
        return;
    }
    if (s->whole) {
        for (int64_t o = 0; o < s->outputs; o++)
            add_values(s->f + o * s->n, coef[o], s->k + object * s->n, s->n);
        return;
    }
    if (!s->is_changed[object]) {
        s->is_changed[object] = 1;
        s->changed[s->changes++] = object;
    }
    for (int64_t o = 0; o < s->outputs; o++) {
        s->change[object * s->outputs + o] += coef[o];
        if (s->rows)
            add_values(s->local + o * s->count, coef[o], s->k + s->row_of[object] * s->count,
                       s->count);
    }
}

mcr_status mcr_scores_end(mcr_scores *s)
{
    mcr_status st = MCR_OK;
    if (s->map || s->whole)
        return st;
    if (s->changes)
        st = add_rows(s, s->changed, s->changes, s->change, s->outputs, s->f, s->precise);
    for (int64_t c = 0; c < s->changes; c++) {
        s->is_changed[s->changed[c]] = 0;
        memset(s->change + s->changed[c] * s->outputs, 0, sizeof *s->change * (size_t)s->outputs);
    }
    for (int64_t r = 0; r < s->rows; r++)
        s->row_of[s->row[r]] = -1;
    s->changes = s->rows = 0;
    return st;
}
