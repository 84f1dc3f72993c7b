/* multiclass_share.c: kernel values that several two-class problems share.
 *
 * Pairs of classes share the blocks of each class (gram/pairs.h), or rows that are computed when
 * they are used. One class against the rest has the same K in all problems.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "gram/view.h"
#include "learn/multiclass_impl.h"
#include "solve/smo_rows.h"

typedef mcr_class_job job;

enum { MOST_PAIR = 4096, MOST_SHARED = 16384, LEAST_PAIRS = 3, LARGE_PAIR = 2048 };

void mcr_class_pair(int64_t classes, int64_t problem, int64_t *a, int64_t *b)
{
    /* The root of first (2 classes - 1 - first) / 2 = problem, but for rounding. */
    double twice = 2 * (double)classes - 1;
    int64_t first = (int64_t)(0.5 * (twice - sqrt(twice * twice - 8 * (double)problem)));
    while (first > 0 && mcr_pair_output(classes, first, first + 1) > problem)
        first--;
    while (problem - mcr_pair_output(classes, first, first + 1) >= classes - 1 - first)
        first++;
    *a = first;
    *b = first + 1 + problem - mcr_pair_output(classes, first, first + 1);
}

int64_t mcr_class_size(const job *j, int64_t c)
{
    return j->first[c + 1] - j->first[c];
}

int64_t mcr_class_objects(const job *j, int64_t problem)
{
    int64_t a, b;
    if (j->rule != MCR_RULE_PAIRS)
        return j->n;
    mcr_class_pair(j->classes, problem, &a, &b);
    return mcr_class_size(j, a) + mcr_class_size(j, b);
}

void mcr_class_unshare(job *j)
{
    mcr *ctx = j->in->ctx;
    mcr_gram_pairs_close(j->pairs);
    for (int w = mcr_workers(ctx) - 1; j->across && w >= 0; w--) /* copies before the first */
        mcr_gram_close(j->across[w]);
    mcr_free_all(ctx, j->k, j->member, j->first, j->place);
    mcr_data_free(j->sorted);
    mcr_free(ctx, j->across);
    j->pairs = NULL;
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
    int64_t *row = mcr_alloc(ctx, (uint64_t)(j->n + j->classes * MCR_ROW_PAD), sizeof *row);
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

/* Times in the unit of a multiply-add: a value beside those that it takes, a row that is made alone
 * and how much longer its values take, and putting together a value of K of a pair out of the
 * blocks of its classes, in memory that is new. */
#define VALUE_TIME 20.0
#define ROW_TIME   40000.0
#define ROW_FACTOR 1.4
#define COPY_TIME  25.0

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
    bool rows = !st && mcr_qp_makes_rows(j->across[0], n, true);
    /* The more a value costs, the more sharing saves, and the larger pairs must be. */
    *easy = rows || (!st && (double)n >= LARGE_PAIR + 4 * mcr_gram_work(j->across[0]));
    if (!rows)
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

/* Whether the remaining pairs, if they need as many rows as those that are solved, take less time
 * by rows than by the blocks of the classes, which all share, the block of each two, and copies. */
bool mcr_class_is_easy(const job *j)
{
    double rows = 0, values = 0, solved = 0, rest = 0, blocks = 0;
    double value = VALUE_TIME + mcr_gram_work(j->across[0]);
    for (int64_t c = 0; c < j->classes; c++)
        blocks += (double)mcr_class_size(j, c) * (double)mcr_class_size(j, c);
    for (int64_t p = 0; p < j->problems; p++) {
        int64_t a, b;
        mcr_class_pair(j->classes, p, &a, &b);
        double m = (double)mcr_class_size(j, a), n = (double)mcr_class_size(j, b);
        if (j->result[p].ctx) {
            rows += (double)j->result[p].rows;
            values += (double)j->result[p].rows * (m + n);
            solved += (m + n) * (m + n);
        } else {
            rest += (m + n) * (m + n);
            blocks += m * n;
        }
    }
    double alone = (values * value * ROW_FACTOR + rows * ROW_TIME) * rest / solved;
    return rows > 0 && alone < blocks * value + COPY_TIME * rest;
}

/* ---- hard ones --------------------------------------------------------------------------------*/

mcr_status mcr_class_share(job *j)
{
    mcr *ctx = j->in->ctx;
    int64_t n = largest_pair(j);
    double own = 0;
    mcr_status st;
    for (int64_t c = 0; c < j->classes && !j->in->gram; c++)
        own += sizeof(float) * (double)mcr_class_size(j, c) * (double)mcr_class_size(j, c);
    double bytes = own + (double)mcr_workers(ctx) * (double)mcr_gram_pairs_space(n);
    if (n > MOST_PAIR || bytes > 0.25 * (double)mcr_budget_left(ctx))
        return MCR_OK;
    if ((st = mcr_budget_take(ctx, (size_t)bytes, "kernel blocks of classes")))
        return st;
    j->taken = (size_t)bytes;
    if (j->in->gram)
        return mcr_gram_pairs_open(&j->pairs, ctx, n, NULL, NULL, 0);
    mcr_rows *rows = mcr_alloc(ctx, (size_t)j->classes, sizeof *rows);
    st = rows ? bind_classes(j) : MCR_NO_MEMORY;
    for (int64_t c = 0; c < j->classes && !st; c++)
        rows[c] = class_rows(j, c);
    if (!st)
        st = mcr_gram_pairs_open(&j->pairs, ctx, n, j->across[0], rows, j->classes);
    mcr_free(ctx, rows);
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
        j->stopped = !mcr_class_is_late(j);
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
    bool shared = j->k || j->pairs || j->in->gram;
    double bytes = shared ? 2 * sizeof(double) * whole * whole : 0;
    if (!shared || j->curve)
        bytes = fmax(bytes, 8 * sizeof(double) * set * set);
    if (j->how->bytes)
        bytes = j->how->bytes(n);
    /* Some of the objects, or most, are bound again. */
    return bytes + (j->curve ? 4 : 2) * j->bound * (double)n / (double)j->n;
}

mcr_status mcr_class_stored(mcr_gram **out, const job *j, int64_t problem, int worker,
                            mcr_rows rows, mcr_gram *exact)
{
    int64_t a, b, ld;
    *out = NULL;
    if (j->k)
        return mcr_gram_stored(out, j->in->ctx,
                               &(mcr_stored){rows.count, j->k_ld, j->k, .exact = exact});
    if (!j->pairs || rows.count == 0 || (j->in->gram && !mcr_gram_values(j->in->gram, &ld)))
        return MCR_OK;
    if (j->in->gram)
        return mcr_gram_pairs_read(out, j->pairs, rows, worker, j->in->gram, exact);
    mcr_class_pair(j->classes, problem, &a, &b);
    return mcr_gram_pairs_stored(out, j->pairs, a, b, worker, j->across[worker], exact);
}
