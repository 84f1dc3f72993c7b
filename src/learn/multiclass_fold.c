/* multiclass_fold.c: two-class problems on a fold of a stored K, of trainings that are only
 * compared.
 *
 * Objects that are held out keep their places in K: a problem of all objects gives them no weight,
 * so that nothing is copied, and their decision values are part of the gradient that the solver has
 * anyway. The problems of pairs of classes are small: K of each pair is copied once for all
 * trainings on a fold, and so are the columns of the objects that are held out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "gram/stored.h"
#include "learn/multiclass_impl.h"
#include "learn/svm_problem.h"
#include "linalg/tiles.h"

typedef struct job {
    mcr_class_job of;
    const float *k; /* of all objects, training and held out */
    int64_t total, ld;
    double *weight; /* of each training object */
    /* One problem: as long as K is, or as a pair. */
    int64_t *object;
    double *y, *share, *start, *all, *diagonal;
    double *own; /* K(x,x) of all objects */
} job;

/* ---- K of pairs -------------------------------------------------------------------------------*/

/* For K of a pair of n objects, and the row of zeros. */
static size_t pair_values(int64_t n)
{
    return (size_t)(n + 1) * (size_t)mcr_stored_ld(n);
}

mcr_status mcr_multiclass_fold_bytes(size_t *bytes, mcr *ctx, bool one_vs_rest,
                                     const mcr_data *data)
{
    int64_t n = mcr_data_count(data), classes = mcr_data_classes(data);
    const int32_t *class_of = mcr_data_class_of(data);
    *bytes = 0;
    if (classes <= 2 || one_vs_rest)
        return MCR_OK;
    int64_t *size = mcr_alloc_zero(ctx, (size_t)classes, sizeof *size);
    if (!size)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        size[class_of[i]]++;
    for (int64_t a = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++)
            *bytes += sizeof(float) * pair_values(size[a] + size[b]);
    /* Training objects times those held out: most if they are half and half. */
    *bytes += sizeof(float) * (size_t)n * (size_t)(n / 4 + MCR_ROW_PAD);
    mcr_free(ctx, size);
    return MCR_OK;
}

/* The row of training object i, number `at` of class c, into K of all its pairs. sorted: space for
 * K of it with all training objects, by class. */
static void copy_row(const job *j, int64_t i, int64_t c, int64_t at, const size_t *place,
                     float *sorted)
{
    const mcr_fold *t = j->of.fold;
    const float *from = j->k + t->row[i] * j->ld;
    for (int64_t m = 0; m < j->of.n; m++)
        sorted[m] = from[t->row[j->of.member[m]]];
    for (int64_t other = 0; other < j->of.classes; other++) {
        if (other == c)
            continue;
        int64_t of[2] = {other < c ? other : c, other < c ? c : other};
        int64_t size = mcr_class_size(&j->of, of[0]);
        int64_t n = size + mcr_class_size(&j->of, of[1]), ld = mcr_stored_ld(n);
        float *to = t->buffer->k + place[mcr_pair_output(j->of.classes, of[0], of[1])];
        to += (other < c ? size + at : at) * ld;
        memcpy(to, sorted + j->of.first[of[0]], sizeof *to * (size_t)size);
        memcpy(to + size, sorted + j->of.first[of[1]], sizeof *to * (size_t)(n - size));
        memset(to + n, 0, sizeof *to * (size_t)(ld - n));
    }
}

static mcr_status copy_pairs(const job *j)
{
    mcr *ctx = j->of.in->ctx;
    float *sorted = mcr_alloc(ctx, (size_t)j->of.n, sizeof *sorted);
    size_t *place = mcr_alloc(ctx, (size_t)j->of.problems, sizeof *place), at = 0;
    mcr_status s = sorted && place ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t o = 0; o < j->of.problems && !s; o++) {
        int64_t n = mcr_class_objects(&j->of, o), ld = mcr_stored_ld(n);
        place[o] = at;
        memset(j->of.fold->buffer->k + at + (size_t)(n * ld), 0, sizeof(float) * (size_t)ld);
        at += pair_values(n);
    }
    for (int64_t c = 0; c < j->of.classes && !s; c++)
        for (int64_t m = j->of.first[c]; m < j->of.first[c + 1]; m++)
            copy_row(j, j->of.member[m], c, m - j->of.first[c], place, sorted);
    mcr_free_all(ctx, sorted, place);
    return s;
}

/* K of all pairs, one after the other; then K of the training objects (rows) with those held
 * out. */
static mcr_status fill_buffer(const job *j)
{
    mcr *ctx = j->of.in->ctx;
    const mcr_fold *t = j->of.fold;
    mcr_fold_buffer *buffer = t->buffer;
    int64_t held = mcr_stored_ld(t->held_count);
    size_t need, at = 0;
    mcr_status s = MCR_OK;
    if (buffer->ready)
        return MCR_OK;
    for (int64_t o = 0; o < j->of.problems; o++)
        at += pair_values(mcr_class_objects(&j->of, o));
    need = at + (size_t)j->of.n * (size_t)held;
    if (need * sizeof(float) > buffer->bytes) {
        mcr_fold_buffer_free(ctx, buffer);
        buffer->bytes = need * sizeof(float);
        if (!(buffer->k = mcr_alloc(ctx, need, sizeof(float))))
            return MCR_NO_MEMORY;
    }
    s = copy_pairs(j);
    for (int64_t i = 0; i < j->of.n && !s; i++) {
        const float *from = j->k + t->row[i] * j->ld;
        float *to = buffer->k + at + (size_t)(i * held);
        for (int64_t h = 0; h < t->held_count; h++)
            to[h] = from[t->held[h]];
    }
    buffer->held = at;
    buffer->ready = !s;
    return s;
}

/* ---- one problem ------------------------------------------------------------------------------*/

/* n objects with y, share and start set, `count` of them by weight. */
static mcr_status solve(job *j, int64_t o, int64_t n, double count, const float *k, int64_t ld)
{
    mcr *ctx = j->of.in->ctx;
    const mcr_fitted *start = j->of.in->start;
    mcr_binary *r = &j->of.result[o];
    *r = (mcr_binary){.ctx = ctx,
                      .n = n,
                      .count = count,
                      .y = j->y,
                      .weight = j->share,
                      .start = start ? j->start : NULL,
                      .start_f = start && start->sum ? start->sum[o] : NULL,
                      .phase = j->of.how->learner,
                      .cache_share = 1,
                      .deadline = j->of.deadline,
                      .blocks = j->of.fold->pool,
                      .coef = mcr_alloc_zero(ctx, (size_t)n, sizeof(double)),
                      .f = mcr_alloc_zero(ctx, (size_t)n, sizeof(double))};
    if (!r->coef || !r->f)
        return MCR_NO_MEMORY;
    const double *diagonal = j->of.rule == MCR_RULE_PAIRS ? j->diagonal : j->own;
    mcr_status s = mcr_gram_stored(&r->gram, ctx, &(mcr_stored){n, ld, k, .diagonal = diagonal});
    if (!s)
        s = j->of.how->solve(j->of.how->params, r);
    mcr_gram_close(r->gram);
    r->gram = NULL;
    return s;
}

static double own_weight(const job *j, int64_t i)
{
    const double *weight = mcr_data_weights(j->of.in->data);
    return weight ? weight[i] : 1;
}

/* Into j->all: the coefficients of a problem's n training objects (NULL: all of them) in the
 * training before, of which each problem has a segment, in their order. */
static void read_start(const job *j, int64_t o, const int64_t *object, int64_t n)
{
    const mcr_fitted *start = j->of.in->start;
    for (int64_t i = 0; i < n; i++)
        j->all[object ? object[i] : i] = 0;
    const mcr_segment *seg = start ? &start->segment[o] : NULL;
    for (int64_t i = 0; seg && i < seg->count; i++)
        j->all[start->object[seg->first + i]] = seg->coef[i];
}

/* A problem of all objects: those that are held out have no weight. */
static mcr_status solve_whole(job *j, int64_t o)
{
    const mcr_fold *t = j->of.fold;
    const int32_t *class_of = mcr_data_class_of(j->of.in->data);
    int64_t positive = j->of.rule == MCR_RULE_BINARY ? 1 : o;
    double count = 0;
    for (int64_t i = 0; i < j->total; i++) {
        j->y[i] = -1;
        j->share[i] = j->start[i] = 0;
    }
    read_start(j, o, NULL, j->of.n);
    for (int64_t i = 0; i < j->of.n; i++) {
        int64_t at = t->row[i];
        j->y[at] = class_of[i] == positive ? 1 : -1;
        j->share[at] = j->weight[i];
        j->start[at] = j->all[i];
        count += own_weight(j, i);
    }
    return solve(j, o, j->total, count, j->k, j->ld);
}

static mcr_status solve_pair(job *j, int64_t o, const float *k)
{
    int64_t n = mcr_class_list_objects(&j->of, o, j->object, j->y);
    double count = 0;
    read_start(j, o, j->object, n);
    for (int64_t i = 0; i < n; i++) {
        j->share[i] = j->weight[j->object[i]];
        j->diagonal[i] = j->own[j->of.fold->row[j->object[i]]];
        j->start[i] = j->all[j->object[i]];
        count += own_weight(j, j->object[i]);
    }
    return solve(j, o, n, count, k, mcr_stored_ld(n));
}

/* After a problem, which may be too short to ask the user for itself. What is half tried is of no
 * use. */
static mcr_status look_at_user(job *j, int64_t o)
{
    j->of.solved = o + 1;
    bool stopped = j->of.result[o].stop == MCR_STOP_INTERRUPTED || mcr_class_stopped(&j->of);
    return stopped ? mcr_fail(j->of.in->ctx, MCR_STOPPED, "interrupted") : MCR_OK;
}

static mcr_status solve_all(job *j)
{
    mcr_status s = j->of.rule == MCR_RULE_PAIRS ? fill_buffer(j) : MCR_OK;
    const float *k = j->of.fold->buffer->k;
    for (int64_t o = 0; o < j->of.problems && !s; o++) {
        if (j->of.rule != MCR_RULE_PAIRS) {
            s = solve_whole(j, o);
        } else {
            s = solve_pair(j, o, k);
            k += pair_values(mcr_class_objects(&j->of, o));
        }
        if (!s)
            s = look_at_user(j, o);
    }
    return s;
}

/* ---- putting the results together -------------------------------------------------------------*/

static mcr_status add_whole(mcr_fitted *f, const job *j)
{
    const mcr_fold *t = j->of.fold;
    mcr_status s = MCR_OK;
    for (int64_t o = 0; o < j->of.problems && !s; o++) {
        const mcr_binary *r = &j->of.result[o];
        for (int64_t i = 0; i < j->of.n; i++)
            j->all[i] = r->coef[t->row[i]];
        s = mcr_fitted_add(f, NULL, j->of.n, &(int32_t){(int32_t)o}, 1, j->all);
        for (int64_t h = 0; h < t->held_count; h++)
            f->held_out[h * j->of.problems + o] = r->f[t->held[h]] + r->bias;
    }
    return s;
}

/* Decision values of a pair for the objects that are held out, from the last part of the space. */
static mcr_status evaluate_pair(mcr_fitted *f, const job *j, int64_t o, int64_t n)
{
    mcr *ctx = f->ctx;
    const mcr_fold *t = j->of.fold;
    int64_t held = mcr_stored_ld(t->held_count), count = 0;
    const float *k = t->buffer->k + t->buffer->held;
    const void **row = mcr_alloc(ctx, (size_t)n, sizeof *row);
    double *sum = mcr_alloc_zero(ctx, (size_t)held, sizeof *sum);
    mcr_status s = row && sum ? MCR_OK : MCR_NO_MEMORY;
    const mcr_binary *r = &j->of.result[o];
    for (int64_t i = 0; i < n && !s; i++)
        if (r->coef[i] != 0) {
            row[count] = k + j->object[i] * held;
            j->all[count++] = r->coef[i];
        }
    if (!s)
        mcr_tiles_best()->f32->update(sum, row, j->all, count, 0, t->held_count);
    for (int64_t h = 0; h < t->held_count && !s; h++)
        f->held_out[h * j->of.problems + o] = sum[h] + r->bias;
    mcr_free_all(ctx, row, sum);
    return s;
}

static mcr_status add_pairs(mcr_fitted *f, const job *j)
{
    mcr_status s = MCR_OK;
    for (int32_t o = 0; o < j->of.problems && !s; o++) {
        int64_t n = mcr_class_list_objects(&j->of, o, j->object, j->y);
        s = mcr_fitted_add(f, j->object, n, &o, 1, j->of.result[o].coef);
        if (!s)
            s = evaluate_pair(f, j, o, n);
    }
    return s;
}

static mcr_status gather(mcr_fitted **out, job *j)
{
    mcr *ctx = j->of.in->ctx;
    mcr_fitted *f = NULL;
    mcr_status s = mcr_fitted_new(&f, ctx, j->of.problems);
    if (s)
        return s;
    f->task = MCR_CLASSIFY;
    f->rule = j->of.rule;
    f->classes = j->of.classes;
    f->held_out = mcr_alloc(ctx, (size_t)j->of.fold->held_count,
                            (size_t)j->of.problems * sizeof(double));
    f->sum = mcr_alloc_zero(ctx, (size_t)j->of.problems, sizeof *f->sum);
    s = f->held_out && f->sum ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t o = 0; o < j->of.problems && !s; o++) {
        f->offset[o] = j->of.result[o].bias;
        if (j->of.result[o].stop > f->stop)
            f->stop = j->of.result[o].stop;
    }
    if (!s)
        s = j->of.rule == MCR_RULE_PAIRS ? add_pairs(f, j) : add_whole(f, j);
    for (int64_t o = 0; o < j->of.problems && !s; o++) {
        f->sum[o] = j->of.result[o].f;
        j->of.result[o].f = NULL;
    }
    return mcr_fitted_give(out, f, s);
}

/* ---- the training -----------------------------------------------------------------------------*/

static mcr_status open_job(job *j)
{
    mcr *ctx = j->of.in->ctx;
    size_t n = (size_t)j->total;
    j->of.ticks = j->of.fold->buffer->ticks;
    bool ok = mcr_alloc_doubles(ctx, n, &j->weight, &j->y, &j->share, &j->start, &j->all,
                                &j->diagonal, &j->own);
    j->object = mcr_alloc(ctx, n, sizeof *j->object);
    j->of.result = mcr_alloc_zero(ctx, (size_t)j->of.problems, sizeof *j->of.result);
    if (!ok || !j->object || !j->of.result)
        return MCR_NO_MEMORY;
    mcr_status s = mcr_gram_diagonal(j->of.fold->of, 0, j->own);
    if (!s)
        s = mcr_svm_weights(ctx, j->of.how->learner, j->of.in->data, j->of.how->class_weight,
                            j->weight);
    return s || j->of.rule != MCR_RULE_PAIRS ? s : mcr_class_list(&j->of);
}

static void close_job(job *j)
{
    mcr *ctx = j->of.in->ctx;
    j->of.fold->buffer->ticks = j->of.ticks;
    for (int64_t o = 0; o < j->of.problems && j->of.result; o++)
        mcr_free_all(ctx, j->of.result[o].coef, j->of.result[o].f);
    mcr_free_all(ctx, j->weight, j->y, j->share, j->start, j->all, j->object, j->of.first,
                 j->of.member, j->of.result, j->diagonal, j->own);
}

mcr_status mcr_multiclass_fold(mcr_fitted **out, const mcr_learning *in, const mcr_multiclass *how)
{
    *out = NULL;
    job j = {0};
    mcr_status s = mcr_class_begin(&j.of, in, how);
    if (s)
        return s;
    j.of.fold = mcr_gram_as_fold(in->gram);
    j.total = mcr_gram_rows(j.of.fold->of);
    j.k = mcr_gram_values(j.of.fold->of, &j.ld);
    s = open_job(&j);
    if (!s)
        s = solve_all(&j);
    if (!s)
        s = gather(out, &j);
    close_job(&j);
    return s;
}
