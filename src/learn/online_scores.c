/* online_scores.c: scores of all objects while coefficients change one by one.
 *
 * A change of one coefficient changes all n scores: a row of K. Rows are cheap by the dozen, so
 * changes are gathered: the next few hundred objects are a block, whose own part of K is computed
 * at its beginning, so that changes are seen there at once; all other objects hear of them at its
 * end, in one pass over the rows that changed. The result is that of single steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "learn/online.h"

/* Objects of a block; rows of a pass; from how many on all of K is made again and again, if that is
 * quickly done. */
enum { BLOCK = 512, LEAST_BLOCK = 16, ROWS = 1024 };
/* Up to so many passes in double at the end are faster without columns packed for all of them. */
enum { FEW_PASSES = 8 };
#define BLOCK_BYTES ((double)(32 << 20))
/* Kernel values between two looks at the time limit: about 0.1 s. Passes over few rows are slow. */
enum { LOOK_VALUES = 1 << 23, LOOK_BLOCK = 128 };

/* ---- opening ----------------------------------------------------------------------------------*/

static mcr_status open_features(mcr_scores *s)
{
    size_t p = (size_t)mcr_gram_width(s->form.gram);
    s->wide = (int64_t)p;
    s->sparse = mcr_gram_sparse(s->form.gram);
    s->weight = mcr_alloc_zero(s->ctx, (size_t)s->outputs, p * sizeof *s->weight);
    if (!s->weight)
        return MCR_NO_MEMORY;
    if (!s->sparse) {
        s->phi = mcr_alloc(s->ctx, (size_t)s->block, p * sizeof *s->phi);
        s->row_of = mcr_alloc(s->ctx, (size_t)s->n, sizeof *s->row_of);
        if (!s->phi || !s->row_of)
            return MCR_NO_MEMORY;
    }
    return mcr_gram_diagonal(s->form.gram, 0, s->square);
}

/* How many objects a block has, and space for their part of K. */
static mcr_status open_block(mcr_scores *s, const mcr_scores_plan *plan)
{
    double most = fmin(BLOCK_BYTES, (double)mcr_budget_left(s->ctx) / 4) / sizeof *s->k;
    s->block = BLOCK < s->n ? BLOCK : s->n;
    while (s->block > LEAST_BLOCK && (double)s->block * (double)(s->block + plan->others) > most)
        s->block /= 2;
    while (s->block > LOOK_BLOCK && s->block * s->n > LOOK_VALUES)
        s->block /= 2;
    s->most_rows = s->block + plan->others;
    size_t bytes = (size_t)s->block * (size_t)s->most_rows * sizeof *s->k;
    if (bytes <= mcr_budget_left(s->ctx) &&
        mcr_budget_take(s->ctx, bytes, "scores") == MCR_OK) /* too little: at least a few objects */
        s->taken = bytes;
    s->k = mcr_alloc(s->ctx, (size_t)s->block, (size_t)s->most_rows * sizeof *s->k);
    if (s->block < plan->together)
        s->block = plan->together; /* these need no values */
    uint64_t n = (uint64_t)s->n, outputs = (uint64_t)s->outputs;
    if (!s->k || !mcr_alloc_arrays(s->ctx, MCR_ARRAY(s->row_of, n), /* the block to free */
                                   MCR_ARRAY(s->local, (uint64_t)s->block * outputs),
                                   MCR_ARRAY(s->row, (size_t)s->most_rows),
                                   MCR_CLEARED(s->change, n * outputs), MCR_ARRAY(s->changed, n),
                                   MCR_CLEARED(s->is_changed, n)))
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < s->n; i++)
        s->row_of[i] = -1;
    return MCR_OK;
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
    return s->k ? mcr_gram_matrix(s->form.gram, s->k, s->n) : MCR_NO_MEMORY;
}

static mcr_status open_kernel(mcr_scores *s, const mcr_learning *in, const mcr_scores_plan *plan)
{
    mcr_status st = mcr_form_gram(&s->form, in);
    if (!st)
        st = mcr_gram_diagonal(s->form.gram, 0, s->square);
    s->f = mcr_alloc_zero(s->ctx, (size_t)s->outputs, (size_t)s->n * sizeof *s->f);
    if (!st && !s->f)
        st = MCR_NO_MEMORY;
    for (int64_t i = 0; i < s->n && !st; i++)
        if (!(fabs(s->square[i]) < 1e15))
            s->precise = true; /* floats might overflow */
    s->whole = !st && plan->often && (s->n <= MCR_ONLINE_KEPT || mcr_gram_is_slow(s->form.gram)) &&
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
    mcr_form_work work = {MCR_WORK_ONLINE, (double)plan->passes, (double)s->n, (double)s->outputs};
    if (!st)
        st = mcr_form_open(&s->form, in, plan->form, &work);
    if (!st)
        st = s->form.features ? open_features(s) : open_kernel(s, in, plan);
    for (int64_t i = 0; i < s->n && s->bias && !st; i++)
        s->square[i] += 1;
    return st;
}

void mcr_scores_close(mcr_scores *s)
{
    if (!s->ctx)
        return;
    mcr_free_all(s->ctx, s->square, s->offset, s->weight, s->phi, s->f, s->k, s->row_of, s->lane);
    mcr_budget_give(s->ctx, s->taken);
    mcr_form_close(&s->form);
    *s = (mcr_scores){0};
}

/* ---- many at once -----------------------------------------------------------------------------*/

/* f += coefficients (n x lanes) of the listed objects times their rows of K, for all objects. */
static mcr_status add_rows(mcr_scores *s, const int64_t *object, int64_t count, const double *coef,
                           int64_t lanes, double *f, bool precise)
{
    mcr_status st = mcr_reserve(s->ctx, &s->lane, &s->lane_capacity, lanes * ROWS, sizeof *s->lane);
    double began = mcr_now();
    bool once = precise && !s->precise && count <= FEW_PASSES * ROWS;
    for (int64_t first = 0; first < count && !st; first += ROWS) {
        int64_t rows = count - first < ROWS ? count - first : ROWS;
        for (int64_t r = 0; r < rows; r++)
            for (int64_t o = 0; o < lanes; o++)
                s->lane[o * ROWS + r] = coef[object[first + r] * lanes + o];
        st = mcr_gram_rows_pass(s->form.gram, &(mcr_gram_pass){.x = {object + first, 0, rows},
                                                               .precise = precise,
                                                               .once = once,
                                                               .coef = s->lane,
                                                               .coef_ld = ROWS,
                                                               .f = f,
                                                               .f_ld = s->n,
                                                               .outputs = lanes});
    }
    if (count >= LEAST_BLOCK)
        s->pace = (mcr_now() - began) / (double)count;
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

/* weight (lanes x features) += coefficients times the features of an object. */
static void add_features(const mcr_scores *s, int64_t object, const double *coef)
{
    const mcr_factor *d = s->sparse;
    int64_t r = d && d->row ? d->row[object] : object;
    const double *phi = s->phi ? s->phi + s->row_of[object] * s->wide : NULL;
    for (int64_t o = 0; o < s->outputs; o++) {
        double *w = s->weight + o * s->wide, c = coef[o];
        for (int64_t j = 0; phi && j < s->wide && c != 0; j++)
            w[j] += c * phi[j];
        for (int64_t e = phi ? 0 : d->start[r]; !phi && e < d->start[r + 1] && c != 0; e++)
            w[d->index[e]] += c * d->value[e];
    }
}

/* Of object t of the block. */
static double feature_score(const mcr_scores *s, const double *weight, int64_t t)
{
    const mcr_factor *d = s->sparse;
    double sum = 0;
    if (s->phi) {
        const double *phi = s->phi + t * s->wide;
        double part[4] = {0, 0, 0, 0};
        int64_t j = 0;
        for (; j + 4 <= s->wide; j += 4)
            for (int k = 0; k < 4; k++)
                part[k] += phi[j + k] * weight[j + k];
        for (; j < s->wide; j++)
            sum += phi[j] * weight[j];
        return sum + (part[0] + part[1]) + (part[2] + part[3]);
    }
    int64_t r = d->row ? d->row[s->object[t]] : s->object[t];
    for (int64_t e = d->start[r]; e < d->start[r + 1]; e++)
        sum += weight[d->index[e]] * d->value[e];
    return sum;
}

static mcr_status fresh_features(mcr_scores *s, const double *coef, int64_t lanes, double *f)
{
    double *weight = NULL, *y = mcr_alloc(s->ctx, (size_t)s->n, (size_t)lanes * sizeof *y);
    mcr_status st = y ? mcr_form_weights(&weight, &s->form, coef, lanes) : MCR_NO_MEMORY;
    if (!st)
        st = mcr_gram_expand(s->form.gram, mcr_gram_all(s->form.gram), weight, lanes, y);
    for (int64_t o = 0; o < lanes && !st; o++)
        for (int64_t i = 0; i < s->n; i++)
            f[o * s->n + i] = y[i * lanes + o];
    mcr_free_all(s->ctx, weight, y);
    return st;
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
    mcr_status st = s->form.features ? fresh_features(s, coef, lanes, f)
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
    if (!s->form.features)
        return fresh_kernel(s, coef, s->outputs, s->f, true);
    double *weight = NULL;
    mcr_status st = mcr_form_weights(&weight, &s->form, coef, s->outputs);
    for (int64_t j = 0; j < s->wide && !st; j++)
        for (int64_t o = 0; o < s->outputs; o++)
            s->weight[o * s->wide + j] = weight[j * s->outputs + o];
    mcr_free(s->ctx, weight);
    return st;
}

/* ---- one by one -------------------------------------------------------------------------------*/

static void add_row(mcr_scores *s, int64_t object)
{
    if (s->row_of[object] >= 0)
        return;
    s->row_of[object] = (int32_t)s->rows;
    s->row[s->rows++] = object;
}

/* The features of the block's objects. */
static mcr_status begin_dense(mcr_scores *s)
{
    for (int64_t d = 0; d < s->count; d++)
        s->row_of[s->object[d]] = (int32_t)d;
    return mcr_gram_factor_rows(s->form.gram, (mcr_rows){s->object, 0, s->count}, s->phi);
}

mcr_status mcr_scores_begin(mcr_scores *s, const int64_t *object, int64_t count, bool steady,
                            const int64_t *others, int64_t other_count)
{
    s->object = object;
    s->count = count;
    s->rows = 0;
    if (s->phi)
        return begin_dense(s);
    if (s->form.features || s->whole)
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
    return mcr_gram_block(s->form.gram, (mcr_rows){s->row, 0, s->rows},
                          (mcr_rows){object, 0, count}, s->k, count);
}

void mcr_scores_at(const mcr_scores *s, int64_t d, double *score)
{
    int64_t i = s->object[d];
    for (int64_t o = 0; o < s->outputs; o++) {
        double f = s->form.features ? feature_score(s, s->weight + o * s->wide, d)
                   : s->whole       ? s->f[o * s->n + i]
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
    if (s->form.features) {
        add_features(s, object, coef);
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
    if (s->form.features || s->whole)
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
