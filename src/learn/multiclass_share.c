/* multiclass_share.c: kernel values that several two-class problems share.
 *
 * K of a pair of classes has four parts: each class with itself, and one with the other, twice. The
 * first are the same in all pairs of a class: they are computed once. One class against the rest
 * has the same K in all problems.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "gram/stored.h"
#include "gram/view.h"
#include "learn/multiclass_impl.h"
#include "linalg/copy.h"
#include "solve/smo_rows.h"

typedef mcr_class_job job;

enum { MOST_PAIR = 4096, MOST_SHARED = 16384, LEAST_PAIRS = 6 };

void mcr_class_pair(int64_t classes, int64_t problem, int64_t *a, int64_t *b)
{
    int64_t first = 0;
    while (problem >= classes - 1 - first) {
        problem -= classes - 1 - first;
        first++;
    }
    *a = first;
    *b = first + 1 + problem;
}

int64_t mcr_class_size(const job *j, int64_t c)
{
    return j->first[c + 1] - j->first[c];
}

void mcr_class_unshare(job *j)
{
    mcr *ctx = j->in->ctx;
    mcr_free(ctx, j->own ? j->own[0] : NULL);
    for (int w = mcr_workers(ctx) - 1; w >= 0; w--) { /* copies before the first */
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
    mcr_free(ctx, j->kept);
    j->own = NULL;
    mcr_class_forget_rows(j);
}

void mcr_class_forget_rows(job *j)
{
    mcr *ctx = j->in->ctx;
    for (int w = 0; j->pool && w < mcr_workers(ctx); w++)
        mcr_row_pool_close(j->pool[w]);
    mcr_free(ctx, j->pool);
    mcr_budget_give(ctx, j->taken);
    j->pool = NULL;
    j->taken = 0;
}

/* Objects by class, in order. */
mcr_status mcr_class_list(job *j)
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
    return (mcr_rows){NULL, j->place[c], mcr_class_size(j, c)};
}

/* A Gram for each worker. Certificates want some values in double, too: `precise`, of many
 * objects. */
static mcr_status open_copies(job *j, const mcr_data *data, bool precise)
{
    mcr *ctx = j->in->ctx;
    mcr_status st = MCR_OK;
    double left = (double)mcr_budget_left(ctx);
    j->across = mcr_alloc_zero(ctx, (size_t)mcr_workers(ctx), sizeof(mcr_gram *));
    if (!j->across)
        return MCR_NO_MEMORY;
    for (int w = 0; w < mcr_workers(ctx) && !st; w++) {
        if (w > 0)
            st = mcr_gram_share(&j->across[w], j->across[0]);
        else if (!(st = mcr_gram_open(&j->across[0], ctx, j->in->kernel, data, NULL)))
            st = mcr_gram_prepare(j->across[0], false);
        if (w == 0 && !st)
            st = precise ? mcr_gram_prepare(j->across[0], true)
                         : mcr_gram_prepare_lists(j->across[0]);
    }
    j->bound = fmax(left - (double)mcr_budget_left(ctx), 0);
    return st;
}

/* Objects of the two largest classes, of which there are at least two. */
static int64_t largest_pair(const job *j)
{
    int64_t largest = 0, second = 0;
    for (int64_t c = 0; c < j->classes; c++) {
        int64_t m = mcr_class_size(j, c);
        second = m > largest ? largest : m > second ? m : second;
        largest = m > largest ? m : largest;
    }
    return largest + second;
}

/* All objects, by class, for each worker; once. */
static mcr_status bind_classes(job *j)
{
    mcr_status st = j->across ? MCR_OK : sort_classes(j);
    return j->across || st ? st : open_copies(j, j->sorted, false);
}

mcr_status mcr_class_pair_gram(mcr_gram **out, const job *j, int64_t problem, int worker)
{
    int64_t a, b;
    mcr_class_pair(j->classes, problem, &a, &b);
    return mcr_gram_view(out, j->across[worker], (mcr_rows[]){class_rows(j, a), class_rows(j, b)});
}

/* ---- easy pairs -------------------------------------------------------------------------------*/

/* Values of K that a pair may make alone, as a share of all: beyond, computing and copying all of
 * them takes less time, because most are shared. Making a row takes as long as so many values
 * more. */
#define EASY_VALUES 0.35
enum { ROW_VALUES = 300 };

mcr_status mcr_class_may_be_easy(job *j, bool *easy)
{
    mcr *ctx = j->in->ctx;
    int workers = mcr_workers(ctx);
    int64_t n = largest_pair(j), ld = n / MCR_ROW_PAD * MCR_ROW_PAD + 2 * MCR_ROW_PAD;
    double bytes = sizeof(float) * (double)n * (double)ld;
    double left = (double)mcr_budget_left(ctx);
    *easy = false;
    /* The number of workers must not decide. */
    if (j->in->gram || !j->how->share_k || n > MOST_PAIR || j->problems < LEAST_PAIRS ||
        16 * bytes > left)
        return MCR_OK;
    mcr_status st = bind_classes(j);
    if (!st)
        *easy = mcr_qp_makes_rows(j->across[0], n);
    if (st || !*easy)
        return st;
    /* Workers without one of these have memory of their own for each problem. */
    int pools = workers * bytes < 0.25 * left ? workers : 1;
    size_t taken = (size_t)pools * (size_t)bytes;
    if ((st = mcr_budget_take(ctx, taken, "kernel rows of classes")))
        return st;
    j->taken = taken;
    j->pool = mcr_alloc_zero(ctx, (size_t)workers, sizeof *j->pool);
    st = j->pool ? MCR_OK : MCR_NO_MEMORY;
    for (int w = 0; w < pools && !st; w++)
        st = mcr_row_pool_open(&j->pool[w], ctx);
    return st;
}

bool mcr_class_is_easy(const job *j)
{
    double made = 0, all = 0;
    for (int64_t p = 0; p < j->problems; p++) {
        double n = (double)j->result[p].n;
        made += (double)j->result[p].rows * (n + ROW_VALUES);
        all += n * n;
    }
    return made > 0 && made < EASY_VALUES * all;
}

/* ---- hard ones --------------------------------------------------------------------------------*/

/* Computes the shared parts if all pairs are small enough and the budget allows; else leaves j->own
 * NULL. */
mcr_status mcr_class_share(job *j)
{
    mcr *ctx = j->in->ctx;
    int workers = mcr_workers(ctx);
    int64_t n = largest_pair(j);
    double own = 0;
    mcr_status st;
    for (int64_t c = 0; c < j->classes; c++)
        own += sizeof(float) * (double)mcr_class_size(j, c) * (double)mcr_class_size(j, c);
    j->pair_ld = (n + MCR_ROW_PAD) / MCR_ROW_PAD * MCR_ROW_PAD;
    size_t capacity = sizeof(float) * (size_t)j->pair_ld * (size_t)j->pair_ld;
    double bytes = (j->in->gram ? 0 : own) + (double)workers * (double)capacity;
    if (n > MOST_PAIR || bytes > 0.25 * (double)mcr_budget_left(ctx))
        return MCR_OK;
    if ((st = mcr_budget_take(ctx, (size_t)bytes, "kernel blocks of classes")))
        return st;
    j->taken = (size_t)bytes;
    j->pair = mcr_alloc_zero(ctx, (size_t)workers, sizeof *j->pair);
    j->kept = mcr_alloc(ctx, (size_t)workers, sizeof *j->kept);
    if (!j->pair || !j->kept)
        return MCR_NO_MEMORY;
    for (int w = 0; w < workers; w++) {
        j->kept[w] = -1;
        if (!(j->pair[w] = mcr_alloc(ctx, capacity, 1)))
            return MCR_NO_MEMORY;
    }
    if (j->in->gram)
        return MCR_OK;
    /* One block of memory for all classes: a large one is cheaper to touch. */
    j->own = mcr_alloc_zero(ctx, (size_t)j->classes, sizeof *j->own);
    float *to = j->own ? mcr_alloc(ctx, (size_t)own, 1) : NULL;
    if (!to)
        return MCR_NO_MEMORY;
    j->own[0] = to;
    st = bind_classes(j);
    for (int64_t c = 0; c < j->classes && !st; c++) {
        mcr_rows rows = class_rows(j, c);
        j->own[c] = to;
        st = mcr_gram_block_float(j->across[0], rows, rows, to, rows.count);
        to += rows.count * rows.count;
    }
    return st;
}

/* One-vs-rest: all problems have the same K. It is computed once where it is small enough, in
 * doubles too, should a problem need them. */
bool mcr_class_shares_all(const job *j)
{
    double n = (double)j->n;
    return j->how->share_k && j->rule == MCR_RULE_LARGEST && !j->in->gram && j->n <= MOST_SHARED &&
           24 * n * n < (double)mcr_budget_left(j->in->ctx);
}

mcr_status mcr_class_share_all(job *j)
{
    mcr *ctx = j->in->ctx;
    j->k_ld = (j->n + MCR_ROW_PAD) / MCR_ROW_PAD * MCR_ROW_PAD;
    if ((size_t)j->k_ld * sizeof(float) % 4096 == 0)
        j->k_ld += MCR_ROW_PAD;
    size_t bytes = (size_t)j->n * (size_t)j->k_ld * sizeof(float);
    mcr_status st = open_copies(j, j->in->data, true);
    if (!st)
        st = mcr_budget_take(ctx, bytes, "the kernel matrix");
    if (st)
        return st;
    j->taken = bytes;
    if (!(j->k = mcr_alloc(ctx, bytes, 1)))
        return MCR_NO_MEMORY;
    st = mcr_gram_matrix_until(j->across[0], j->k, j->k_ld, j->deadline);
    if (st == MCR_STOPPED) {
        j->stopped = !(j->deadline > 0 && mcr_now() > j->deadline);
        return MCR_OK;
    }
    for (int64_t i = 0; i < j->n && !st; i++)
        memset(j->k + i * j->k_ld + j->n, 0, sizeof *j->k * (size_t)(j->k_ld - j->n));
    return st;
}

double mcr_class_needs(const job *j)
{
    enum { SLOTS = 2048, EDGE = 2 * MCR_ROW_PAD };
    int64_t n = j->rule == MCR_RULE_PAIRS ? largest_pair(j) : j->n;
    /* Where K is there, all of it in double, should that be needed, in half of what is left; else,
     * and in the folds of a calibration, a working set of some size in a quarter (smo.c). */
    double whole = (double)(n + EDGE), set = (double)((n < SLOTS ? n : SLOTS) + EDGE);
    bool shared = j->k || j->own || j->in->gram;
    double bytes = shared ? 2 * sizeof(double) * whole * whole : 0;
    if (!shared || j->curve)
        bytes = fmax(bytes, 8 * sizeof(double) * set * set);
    /* Some of the objects, or most, are bound again. */
    return bytes + (j->curve ? 4 : 2) * j->bound * (double)n / (double)j->n;
}

/* K of the objects of classes a and b, a's first, into the worker's buffer. */
static mcr_status fill_pair(const job *j, int64_t problem, int worker)
{
    int64_t of[2], ld = j->pair_ld;
    mcr_class_pair(j->classes, problem, &of[0], &of[1]);
    mcr_rows a = class_rows(j, of[0]), b = class_rows(j, of[1]);
    float *k = j->pair[worker], *corner = k + a.count, *below = k + a.count * ld;
    mcr_status st = mcr_gram_block_float(j->across[worker], a, b, corner, ld);
    if (st)
        return st;
    for (int64_t i = 0; i < a.count && j->kept[worker] != of[0]; i++)
        memcpy(k + i * ld, j->own[of[0]] + i * a.count, sizeof *k * (size_t)a.count);
    j->kept[worker] = of[0];
    mcr_copy_out_transposed(below, ld, corner, ld, a.count, b.count, sizeof *k);
    for (int64_t i = 0; i < b.count; i++)
        memcpy(below + i * ld + a.count, j->own[of[1]] + i * b.count, sizeof *k * (size_t)b.count);
    return MCR_OK;
}

/* The same out of a K of all objects that the caller has. Where objects stand by class, as those
 * who share a K see to, each row is two runs of it. */
static void pick_pair(const job *j, mcr_rows rows, const float *all, int64_t all_ld, float *k)
{
    int64_t n = rows.count, run = 1; /* objects of the first class, if both follow each other */
    const int64_t *row = rows.index;
    while (run < n && row[run] == row[run - 1] + 1)
        run++;
    bool runs = run >= n || row[n - 1] - row[run] == n - 1 - run;
    for (int64_t i = 0; i < n; i++) {
        const float *from = all + row[i] * all_ld;
        float *to = k + i * j->pair_ld;
        if (runs) {
            memcpy(to, from + row[0], sizeof *to * (size_t)run);
            if (run < n)
                memcpy(to + run, from + row[run], sizeof *to * (size_t)(n - run));
        } else {
            for (int64_t t = 0; t < n; t++)
                to[t] = from[row[t]];
        }
    }
}

mcr_status mcr_class_stored(mcr_gram **out, const job *j, int64_t problem, int worker,
                            mcr_rows rows, mcr_gram *exact)
{
    mcr *ctx = j->in->ctx;
    int64_t n = rows.count, ld = 0;
    *out = NULL;
    if (j->k)
        return mcr_gram_stored(out, ctx, &(mcr_stored){n, j->k_ld, j->k, .exact = exact});
    const float *all = j->in->gram ? mcr_gram_values(j->in->gram, &ld) : NULL;
    if (!j->pair || (!j->own && !all) || n == 0)
        return MCR_OK;
    float *k = j->pair[worker];
    mcr_status st = j->own ? fill_pair(j, problem, worker) : MCR_OK;
    if (!j->own)
        pick_pair(j, rows, all, ld, k);
    for (int64_t i = 0; i < n && !st; i++)
        memset(k + i * j->pair_ld + n, 0, sizeof *k * (size_t)(j->pair_ld - n));
    return st ? st : mcr_gram_stored(out, ctx, &(mcr_stored){n, j->pair_ld, k, .exact = exact});
}
