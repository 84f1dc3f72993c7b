/* multiclass.c: classification by two-class problems, and calibrated probabilities.
 *
 * Two classes are one problem (positive: class 1). More are one problem for each pair (positive: the
 * lower class) or for each class against the rest. Many small problems run side by side, one a
 * worker; few large ones run one after the other with all workers inside. The result is the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/multiclass_impl.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/stream.h"
#include "base/threads.h"
#include "learn/svm_common.h"
#include "linalg/copy.h"

enum { SHARES = 4 };

typedef mcr_class_job job;

/* ---- which objects, which side -----------------------------------------------------------------*/

static void pair_of(int64_t classes, int64_t problem, int64_t *a, int64_t *b)
{
    int64_t first = 0;
    while (problem >= classes - 1 - first) {
        problem -= classes - 1 - first;
        first++;
    }
    *a = first;
    *b = first + 1 + problem;
}

static int64_t class_size(const job *j, int64_t c)
{
    return j->first[c + 1] - j->first[c];
}

/* Lists the objects of a problem with their sides; returns how many there are. */
static int64_t list_objects(const job *j, int64_t problem, int64_t *row, double *y)
{
    if (j->rule != MCR_RULE_PAIRS) {
        const int32_t *class_of = mcr_data_class_of(j->in->data);
        int64_t positive = j->rule == MCR_RULE_BINARY ? 1 : problem;
        for (int64_t i = 0; i < j->n; i++) {
            row[i] = i;
            y[i] = class_of[i] == positive ? 1 : -1;
        }
        return j->n;
    }
    int64_t of[2], n = 0;
    pair_of(j->classes, problem, &of[0], &of[1]);
    for (int side = 0; side < 2; side++)
        for (int64_t t = j->first[of[side]]; t < j->first[of[side] + 1]; t++) {
            row[n] = j->member[t];
            y[n++] = side ? -1 : 1;
        }
    return n;
}

/* ---- K within classes, shared by pairs ---------------------------------------------------------
 *
 * K of a pair of classes has four parts: each class with itself, and one with the other, twice. The
 * first are the same in all pairs of a class: they are computed once. */

enum { MOST_PAIR = 4096, MOST_SHARED = 16384 };

static void free_shared(job *j)
{
    mcr *ctx = j->in->ctx;
    for (int64_t c = 0; j->own && c < j->classes; c++)
        mcr_free(ctx, j->own[c]);
    for (int w = mcr_workers(ctx) - 1; w >= 0; w--) { /* twins before the first */
        if (j->across)
            mcr_gram_close(j->across[w]);
        if (j->pair)
            mcr_free(ctx, j->pair[w]);
    }
    mcr_free(ctx, j->own);
    mcr_free(ctx, j->k);
    mcr_free(ctx, j->member);
    mcr_free(ctx, j->first);
    mcr_free(ctx, j->place);
    mcr_data_free(j->sorted);
    mcr_free(ctx, j->across);
    mcr_free(ctx, j->pair);
    mcr_budget_give(ctx, j->taken);
    j->own = NULL;
    j->taken = 0;
}

/* Objects by class, in order. */
static mcr_status list_classes(job *j)
{
    mcr *ctx = j->in->ctx;
    const int32_t *class_of = mcr_data_class_of(j->in->data);
    j->member = mcr_alloc(ctx, (size_t)j->n, sizeof *j->member);
    j->first = mcr_alloc_zero(ctx, (size_t)j->classes + 2, sizeof *j->first);
    if (!j->member || !j->first)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < j->n; i++)
        j->first[class_of[i] + 2]++;
    for (int64_t c = 2; c < j->classes + 2; c++)
        j->first[c] += j->first[c - 1];
    for (int64_t i = 0; i < j->n; i++)
        j->member[j->first[class_of[i] + 1]++] = i;
    return MCR_OK;
}

/* A view of the objects by class. Gaps between classes are filled with the object before, so that
 * each class begins with a panel of packed columns. */
static mcr_status sort_classes(job *j)
{
    mcr *ctx = j->in->ctx;
    int64_t at = 0;
    int64_t *row = mcr_alloc(ctx, (size_t)(j->n + j->classes * MCR_ROW_PAD), sizeof *row);
    j->place = mcr_alloc(ctx, (size_t)j->classes, sizeof *j->place);
    mcr_status st = row && j->place ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t c = 0; c < j->classes && !st; c++) {
        for (; at % MCR_ROW_PAD; at++)
            row[at] = row[at - 1];
        j->place[c] = at;
        for (int64_t i = j->first[c]; i < j->first[c + 1]; i++)
            row[at++] = j->member[i];
    }
    if (!st)
        st = mcr_data_select(&j->sorted, j->in->data, (mcr_rows){row, 0, at});
    mcr_free(ctx, row);
    return st;
}

static mcr_rows class_rows(const job *j, int64_t c)
{
    return (mcr_rows){NULL, j->place[c], class_size(j, c)};
}

static mcr_status open_twins(job *j, const mcr_data *data)
{
    mcr *ctx = j->in->ctx;
    mcr_status st = MCR_OK;
    j->across = mcr_alloc_zero(ctx, (size_t)mcr_workers(ctx), sizeof(mcr_gram *));
    if (!j->across)
        return MCR_NO_MEMORY;
    for (int w = 0; w < mcr_workers(ctx) && !st; w++) {
        if (w > 0)
            st = mcr_gram_twin(&j->across[w], j->across[0]);
        else if (!(st = mcr_gram_open(&j->across[0], ctx, j->in->kernel, data, NULL)))
            st = mcr_gram_prepare(j->across[0], false);
    }
    return st;
}

/* Computes the shared parts if all pairs are small enough and the budget allows; else leaves j->own
 * NULL. */
static mcr_status share(job *j)
{
    mcr *ctx = j->in->ctx;
    int workers = mcr_workers(ctx);
    int64_t largest = 0, second = 0;
    double bytes = 0;
    mcr_status st = list_classes(j);
    for (int64_t c = 0; c < j->classes && !st; c++) {
        int64_t m = class_size(j, c);
        bytes += sizeof(float) * (double)m * (double)m;
        second = m > largest ? largest : m > second ? m : second;
        largest = m > largest ? m : largest;
    }
    j->pair_ld = (largest + second + MCR_ROW_PAD) / MCR_ROW_PAD * MCR_ROW_PAD;
    size_t room = sizeof(float) * (size_t)j->pair_ld * (size_t)j->pair_ld;
    bytes = (j->in->k ? 0 : bytes) + (double)workers * (double)room;
    if (st || largest + second > MOST_PAIR || bytes > 0.25 * (double)mcr_budget_left(ctx))
        return st;
    if ((st = mcr_budget_take(ctx, (size_t)bytes, "kernel blocks of classes")))
        return st;
    j->taken = (size_t)bytes;
    j->pair = mcr_alloc_zero(ctx, (size_t)workers, sizeof *j->pair);
    for (int w = 0; w < workers && j->pair; w++)
        if (!(j->pair[w] = mcr_alloc(ctx, room, 1)))
            return MCR_NO_MEMORY;
    if (!j->pair || j->in->k)
        return j->pair ? MCR_OK : MCR_NO_MEMORY;
    if ((st = sort_classes(j)))
        return st;
    j->own = mcr_alloc_zero(ctx, (size_t)j->classes, sizeof *j->own);
    st = j->own ? open_twins(j, j->sorted) : MCR_NO_MEMORY;
    for (int64_t c = 0; c < j->classes && !st; c++) {
        mcr_rows rows = class_rows(j, c);
        j->own[c] = mcr_alloc(ctx, (size_t)(rows.count * rows.count), sizeof(float));
        st = j->own[c] ? mcr_gram_block_float(j->across[0], rows, rows, j->own[c], rows.count)
                       : MCR_NO_MEMORY;
    }
    return st;
}

/* One-vs-rest: all problems have the same K. It is computed once where it is small enough, in doubles too,
 * should a problem need them. */
static bool shares_all(const job *j)
{
    double n = (double)j->n;
    return j->how->share_k && j->rule == MCR_RULE_LARGEST && !j->in->k && j->n <= MOST_SHARED &&
           24 * n * n < (double)mcr_budget_left(j->in->ctx);
}

static mcr_status share_all(job *j)
{
    mcr *ctx = j->in->ctx;
    j->k_ld = (j->n + MCR_ROW_PAD) / MCR_ROW_PAD * MCR_ROW_PAD;
    if ((size_t)j->k_ld * sizeof(float) % 4096 == 0)
        j->k_ld += MCR_ROW_PAD;
    size_t bytes = (size_t)j->n * (size_t)j->k_ld * sizeof(float);
    mcr_status st = open_twins(j, j->in->data);
    if (!st)
        st = mcr_budget_take(ctx, bytes, "the kernel matrix");
    if (st)
        return st;
    j->taken = bytes;
    if (!(j->k = mcr_alloc(ctx, bytes, 1)))
        return MCR_NO_MEMORY;
    st = mcr_gram_matrix_quietly(j->across[0], j->k, j->k_ld, false);
    for (int64_t i = 0; i < j->n && !st; i++)
        memset(j->k + i * j->k_ld + j->n, 0, sizeof *j->k * (size_t)(j->k_ld - j->n));
    return st;
}

/* K of the objects of classes a and b, a's first, into the worker's room. */
static mcr_status pair_matrix(const job *j, int64_t problem, int worker)
{
    int64_t of[2], ld = j->pair_ld;
    pair_of(j->classes, problem, &of[0], &of[1]);
    mcr_rows a = class_rows(j, of[0]), b = class_rows(j, of[1]);
    float *k = j->pair[worker], *corner = k + a.count, *below = k + a.count * ld;
    mcr_status st = mcr_gram_block_float(j->across[worker], a, b, corner, ld);
    if (st)
        return st;
    for (int64_t i = 0; i < a.count; i++)
        memcpy(k + i * ld, j->own[of[0]] + i * a.count, sizeof *k * (size_t)a.count);
    mcr_copy_out_transposed(below, ld, corner, ld, a.count, b.count, sizeof *k);
    for (int64_t i = 0; i < b.count; i++)
        memcpy(below + i * ld + a.count, j->own[of[1]] + i * b.count, sizeof *k * (size_t)b.count);
    int64_t n = a.count + b.count;
    for (int64_t i = 0; i < n; i++)
        memset(k + i * ld + n, 0, sizeof *k * (size_t)(ld - n));
    return MCR_OK;
}

/* The same out of a K of all objects that the caller has. Where objects stand by class, as those who
 * share a K see to, each row is two runs of it. */
static void pick_pair(const job *j, const int64_t *row, int64_t n, float *k)
{
    if (n == 0)
        return;
    int64_t run = 1; /* objects of the first class, if both follow each other */
    while (run < n && row[run] == row[run - 1] + 1)
        run++;
    bool runs = run == n || row[n - 1] - row[run] == n - 1 - run;
    for (int64_t i = 0; i < n; i++) {
        const float *from = j->in->k + row[i] * j->in->k_ld;
        float *to = k + i * j->pair_ld;
        if (runs) {
            memcpy(to, from + row[0], sizeof *to * (size_t)run);
            if (run < n)
                memcpy(to + run, from + row[run], sizeof *to * (size_t)(n - run));
        } else {
            for (int64_t t = 0; t < n; t++)
                to[t] = from[row[t]];
        }
        memset(to + n, 0, sizeof *to * (size_t)(j->pair_ld - n));
    }
}

/* ---- one problem -------------------------------------------------------------------------------*/

/* Coefficients of output o of a fitted model, for all n objects. */
static void spread_start(const mcr_fitted *start, int64_t o, int64_t n, double *coef)
{
    memset(coef, 0, sizeof *coef * (size_t)n);
    for (int64_t g = 0; g < start->segments; g++) {
        const mcr_segment *seg = &start->segment[g];
        for (int64_t t = 0; t < seg->outputs; t++)
            for (int64_t i = 0; i < seg->count && seg->output[t] == o; i++) {
                int64_t at = start->object[seg->first + i];
                if (at >= 0 && at < n)
                    coef[at] += seg->coef[t * seg->count + i];
            }
    }
}

void mcr_binary_limits(const mcr_binary *p, mcr_qp *qp)
{
    qp->cache_bytes = qp->cache_bytes / p->cache_share + 1; /* 0 would be the default */
    qp->seconds = p->deadline > 0 ? fmax(p->deadline - mcr_now(), 1e-3) : 0;
    qp->k = p->k;
    qp->k_ld = p->k_ld;
}

void mcr_binary_go_on(const mcr_binary *p, int64_t most_steps, mcr_qp *qp)
{
    if (p->deadline > 0)
        qp->seconds = fmax(p->deadline - mcr_now(), 1e-3);
    if (most_steps)
        qp->most_steps = p->steps < most_steps ? most_steps - p->steps : 1;
}

static mcr_status solve_one(void *arg, int64_t problem, int worker)
{
    job *j = arg;
    mcr *ctx = j->in->ctx;
    mcr_binary *r = &j->result[problem];
    int64_t n = 0;
    double *y = mcr_alloc(ctx, (size_t)j->n, sizeof *y);
    double *weight = mcr_alloc(ctx, (size_t)j->n, sizeof *weight);
    double *all = mcr_alloc(ctx, (size_t)j->n, sizeof *all);
    double *start = mcr_alloc(ctx, (size_t)j->n, sizeof *start);
    int64_t *row = mcr_alloc(ctx, (size_t)j->n, sizeof *row);
    int64_t *source = mcr_alloc(ctx, (size_t)j->n, sizeof *source);
    mcr_data *view = NULL;
    mcr_gram *own = NULL;
    mcr_design part;
    bool features = j->side.features;
    mcr_status st = y && weight && all && start && row && source ? MCR_OK : MCR_NO_MEMORY;
    if (st)
        goto done;
    bool warm = j->in->start && j->in->start->outputs == j->problems &&
                j->in->start->rule == j->rule;
    if (warm)
        spread_start(j->in->start, problem, j->n, all);
    n = list_objects(j, problem, row, y);
    for (int64_t i = 0; i < n; i++) {
        weight[i] = j->weight[row[i]];
        start[i] = warm ? all[row[i]] : 0;
    }
    if (j->rule == MCR_RULE_PAIRS)
        st = mcr_data_select(&view, j->in->data, (mcr_rows){row, 0, n});
    bool stopped = mcr_class_stopped(j);
    if (!st && !j->whole && !j->k && !stopped && !features)
        st = mcr_gram_open(&own, ctx, j->in->kernel, view ? view : j->in->data, NULL);
    if (st == MCR_STOPPED) { /* while it was bound: what is solved already stays */
        __atomic_store_n(&j->stopped, true, __ATOMIC_RELAXED);
        stopped = true;
        st = MCR_OK;
    }
    if (st)
        goto done;
    if (features)
        part = mcr_design_part(&j->side.design, row, n, source);
    *r = (mcr_binary){
        .ctx = ctx,
        .gram = own ? own : j->k ? j->across[worker] : j->whole,
        .design = features ? &part : NULL,
        .w = features ? mcr_alloc_zero(ctx, (size_t)j->side.design.p, sizeof(double)) : NULL,
        .n = n,
        .count = mcr_svm_objects(view ? view : j->in->data),
        .y = y,
        .weight = weight,
        .start = warm ? start : NULL,
        .phase = j->how->learner,
        .cache_share = j->problems > 1 ? SHARES : 1,
        .deadline = j->deadline,
        .coef = mcr_alloc_zero(ctx, (size_t)n, sizeof(double)),
        .f = mcr_alloc(ctx, (size_t)n, sizeof(double)),
    };
    st = r->coef && r->f && (r->w || !features) ? MCR_OK : MCR_NO_MEMORY;
    if (!st && (stopped || (j->deadline > 0 && mcr_now() > j->deadline))) {
        memset(r->f, 0, sizeof *r->f * (size_t)n); /* not begun: nothing is known of it */
        r->stop = stopped ? MCR_STOP_INTERRUPTED : MCR_STOP_TIME;
        r->violation = r->primal = r->gap = INFINITY;
    } else if (!st) {
        bool pairs = j->rule == MCR_RULE_PAIRS;
        if (j->in->k && pairs && j->pair)
            pick_pair(j, row, n, j->pair[worker]);
        else if (j->own)
            st = pair_matrix(j, problem, worker);
        if (j->pair && (j->own || j->in->k)) {
            r->k = j->pair[worker];
            r->k_ld = j->pair_ld;
        } else if (j->in->k && !pairs) {
            r->k = j->in->k;
            r->k_ld = j->in->k_ld;
        } else if (j->k) {
            r->k = j->k;
            r->k_ld = j->k_ld;
        }
        if (!st)
            st = j->how->solve(j->how->params, r);
        r->k = NULL;
        if (!st && r->stop == MCR_STOP_INTERRUPTED)
            __atomic_store_n(&j->stopped, true, __ATOMIC_RELAXED);
    }
    if (!st && j->slope && (r->stop == MCR_STOP_INTERRUPTED || r->stop == MCR_STOP_TIME))
        __atomic_store_n(&j->uncalibrated, true, __ATOMIC_RELAXED);
    else if (!st && j->slope)
        st = mcr_class_calibrate(j, r, view ? view : (mcr_data *)j->in->data, problem);
done:
    __atomic_add_fetch(&j->solved, 1, __ATOMIC_RELAXED);
    r->gram = NULL;
    r->design = NULL;
    if (!j->side.map) { /* the coefficients say all */
        mcr_free(ctx, r->w);
        r->w = NULL;
    }
    r->y = r->weight = r->start = NULL;
    mcr_gram_close(own);
    mcr_data_free(view);
    mcr_free(ctx, y);
    mcr_free(ctx, weight);
    mcr_free(ctx, all);
    mcr_free(ctx, start);
    mcr_free(ctx, row);
    mcr_free(ctx, source);
    return st;
}

static mcr_status solve_all(job *j)
{
    mcr *ctx = j->in->ctx;
    int workers = mcr_workers(ctx);
    bool features = j->side.features;
    mcr_status st = j->rule != MCR_RULE_PAIRS ? MCR_OK : features ? list_classes(j) : share(j);
    if (!st && !features && shares_all(j))
        st = share_all(j);
    if (st)
        return st;
    if ((j->problems >= 2 * workers || j->k) && workers > 1)
        return mcr_parallel(ctx, j->problems, solve_one, j);
    if (j->rule != MCR_RULE_PAIRS && !features && !j->k)
        st = mcr_gram_open(&j->whole, ctx, j->in->kernel, j->in->data, NULL);
    for (int64_t p = 0; p < j->problems && !st; p++)
        st = solve_one(j, p, 0);
    return st;
}

/* ---- putting the results together --------------------------------------------------------------*/

/* One-vs-one: the objects of a class with their coefficients in its classes - 1 problems. */
static mcr_status add_class(mcr_fitted *f, const job *j, int64_t c)
{
    mcr *ctx = f->ctx;
    int64_t count = class_size(j, c), outputs = 0;
    int32_t *output = mcr_alloc(ctx, (size_t)j->classes, sizeof *output);
    double *coef = mcr_alloc(ctx, (size_t)count * (size_t)j->classes, sizeof *coef);
    mcr_status st = output && coef ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t other = 0; other < j->classes && !st; other++) {
        if (other == c)
            continue;
        int64_t p = other < c ? mcr_pair_output(j->classes, other, c)
                              : mcr_pair_output(j->classes, c, other);
        memcpy(coef + outputs * count, j->result[p].coef + (other < c ? class_size(j, other) : 0),
               sizeof *coef * (size_t)count);
        output[outputs++] = (int32_t)p;
    }
    if (!st)
        st = mcr_fitted_add(f, j->member + j->first[c], count, output, outputs, coef);
    mcr_free(ctx, output);
    mcr_free(ctx, coef);
    return st;
}

static mcr_status add_whole(mcr_fitted *f, const job *j)
{
    mcr *ctx = f->ctx;
    size_t n = (size_t)j->n, outputs = (size_t)j->problems;
    int64_t *object = mcr_alloc(ctx, n, sizeof *object);
    int32_t *output = mcr_alloc(ctx, outputs, sizeof *output);
    double *coef = mcr_alloc(ctx, n * outputs, sizeof *coef);
    mcr_status st = object && output && coef ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < j->n && !st; i++)
        object[i] = i;
    for (int64_t p = 0; p < j->problems && !st; p++) {
        output[p] = (int32_t)p;
        memcpy(coef + p * j->n, j->result[p].coef, sizeof *coef * n);
    }
    if (!st)
        st = mcr_fitted_add(f, object, j->n, output, j->problems, coef);
    mcr_free(ctx, object);
    mcr_free(ctx, output);
    mcr_free(ctx, coef);
    return st;
}

/* An approximate map: the weights of all problems in terms of what it is made of. */
static mcr_status add_weights(mcr_fitted *f, const job *j)
{
    int64_t p = j->side.design.p;
    double *w = mcr_alloc(f->ctx, (size_t)p, (size_t)j->problems * sizeof *w);
    mcr_status st = w ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t o = 0; o < j->problems && !st; o++)
        for (int64_t k = 0; k < p; k++)
            w[k * j->problems + o] = j->result[o].w[k];
    if (!st)
        st = mcr_side_add(&j->side, f, w, j->problems);
    mcr_free(f->ctx, w);
    return st;
}

/* The training objects that are surely right or wrong. Of several classes, an object that wins all
 * of its own class's pairs has the most votes; others must be predicted. Probabilities decide by a
 * rule of their own. */
static mcr_status judge_training(mcr_fitted *f, const job *j)
{
    bool binary = j->rule == MCR_RULE_BINARY, pairs = j->rule == MCR_RULE_PAIRS && !f->slope;
    int64_t *row = mcr_alloc(f->ctx, (size_t)j->n, sizeof *row);
    double *y = mcr_alloc(f->ctx, (size_t)j->n, sizeof *y);
    f->right = mcr_alloc(f->ctx, (size_t)j->n, 1);
    mcr_status st = row && y && f->right ? MCR_OK : MCR_NO_MEMORY;
    if (!st)
        memset(f->right, binary || pairs ? 1 : 2, (size_t)j->n);
    for (int64_t p = 0; p < j->problems && (binary || pairs) && !st; p++) {
        const mcr_binary *r = &j->result[p];
        int64_t n = list_objects(j, p, row, y);
        for (int64_t i = 0; i < n; i++)
            if ((r->f[i] + r->bias > 0) != (y[i] > 0))
                f->right[row[i]] = binary ? 0 : 2;
    }
    mcr_free(f->ctx, row);
    mcr_free(f->ctx, y);
    return st;
}

static mcr_status add_remarks(mcr_fitted *f, const job *j)
{
    mcr_status st = mcr_svm_remark(&f->remark, f->ctx, j->in->kernel);
    if (st || !j->uncalibrated)
        return st;
    mcr_text text;
    mcr_text_init(&text, f->ctx);
    if (f->remark)
        mcr_text_format(&text, "%s; ", f->remark);
    mcr_text_string(&text, "not all probabilities could be calibrated: allow more time, or do not "
                           "rely on them");
    mcr_free(f->ctx, f->remark);
    f->remark = text.status ? NULL : mcr_copy_text(f->ctx, text.bytes, (size_t)text.length);
    mcr_text_free(&text);
    return f->remark ? MCR_OK : MCR_NO_MEMORY;
}

static mcr_status gather(mcr_fitted **out, job *j)
{
    mcr_fitted *f = NULL;
    mcr_status st = mcr_fitted_new(&f, j->in->ctx, j->problems);
    if (st)
        return st;
    f->task = MCR_CLASSIFY;
    f->rule = j->rule;
    f->classes = j->classes;
    f->certificate = j->how->certificate;
    f->objective = f->primal = f->dual = f->gap = f->value = 0;
    f->slope = j->slope;
    j->slope = NULL;
    for (int64_t p = 0; p < j->problems; p++) {
        const mcr_binary *r = &j->result[p];
        f->offset[p] = r->bias;
        f->objective += r->objective;
        f->primal += r->primal;
        f->dual += r->dual;
        f->gap += r->gap;
        f->iterations += r->steps;
        f->value = fmax(f->value, r->violation);
        f->tolerance = p == 0 ? r->tolerance : fmax(f->tolerance, r->tolerance);
        if (r->stop > f->stop)
            f->stop = r->stop;
    }
    if (j->side.map)
        st = add_weights(f, j);
    else if (j->rule == MCR_RULE_PAIRS)
        for (int64_t c = 0; c < j->classes && !st; c++)
            st = add_class(f, j, c);
    else
        st = add_whole(f, j);
    if (!st)
        st = judge_training(f, j);
    if (!st)
        st = add_remarks(f, j);
    if (!st)
        st = mcr_side_tell(&j->side, f);
    if (st)
        mcr_fitted_free(f);
    else
        *out = f;
    return st;
}

static mcr_status choose_side(job *j)
{
    bool pairs = j->rule == MCR_RULE_PAIRS;
    mcr_side_work work = {
        .kind = MCR_WORK_SVM,
        .problems = (double)j->problems,
        .size = pairs ? 2 * (double)j->n / (double)j->classes : (double)j->n,
        .columns = 1,
    };
    return mcr_side_open(&j->side, j->in, j->how->sides, &work);
}

mcr_status mcr_multiclass_fit(mcr_fitted **out, const mcr_learning *in, const mcr_multiclass *how)
{
    *out = NULL;
    mcr *ctx = in->ctx;
    mcr_status st = mcr_svm_need_classes(ctx, how->learner, in->data);
    if (st)
        return st;
    int64_t k = mcr_data_classes(in->data), n = mcr_data_count(in->data);
    job j = {.in = in, .how = how, .n = n, .classes = k};
    j.began = mcr_now();
    if (how->time_limit > 0)
        j.deadline = mcr_now() + how->time_limit;
    j.rule = k == 2 ? MCR_RULE_BINARY : how->one_vs_rest ? MCR_RULE_LARGEST : MCR_RULE_PAIRS;
    j.problems = k == 2 ? 1 : how->one_vs_rest ? k : k * (k - 1) / 2;
    double *weight = mcr_alloc(ctx, (size_t)n, sizeof *weight);
    j.weight = weight;
    j.result = mcr_alloc_zero(ctx, (size_t)j.problems, sizeof *j.result);
    j.slope = how->probability ? mcr_alloc(ctx, 2 * (size_t)j.problems, sizeof *j.slope) : NULL;
    st = weight && j.result && (j.slope || !how->probability) ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t p = 0; p < 2 * j.problems && j.slope; p++)
        j.slope[p] = 1; /* until it is calibrated */
    if (!st)
        st = mcr_svm_weights(ctx, how->learner, in->data, how->class_weight, weight);
    if (!st && how->sides)
        st = choose_side(&j);
    if (!st)
        st = solve_all(&j);
    if (!st)
        st = gather(out, &j);
    mcr_side_close(&j.side);
    mcr_gram_close(j.whole);
    free_shared(&j);
    for (int64_t p = 0; p < j.problems && j.result; p++) {
        mcr_free(ctx, j.result[p].coef);
        mcr_free(ctx, j.result[p].w);
        mcr_free(ctx, j.result[p].f);
    }
    mcr_free(ctx, weight);
    mcr_free(ctx, j.result);
    mcr_free(ctx, j.slope);
    return st;
}
