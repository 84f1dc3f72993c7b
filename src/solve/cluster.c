/* cluster.c: k-means in feature space.
 *
 * Each cluster c stores the sums S_c(i) = sum of w_j K(x_j, x_i) over its objects, for all i. A
 * move of an object needs one row of K, so rows are computed only for objects that move. (From
 * features they are products with sums of features: cluster_features.c.) A start is seeded
 * (cluster_seed.c) or crossed from earlier results (cluster_cross.c), continues with Lloyd's steps,
 * which move all objects to their nearest centre at once, and ends with Hartigan's steps, which
 * move single objects and account for the shift of the centres: these improve many results at which
 * Lloyd's steps stop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/cluster_impl.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/threads.h"

typedef mcr_cluster_state state;

/* Rows of K at a time, columns of a worker's item. */
enum { ROWS = 256, CHUNK = 1024, MOVES_A_LOOK = 16 };
/* Kernel values between two checks of the time limit: about 0.1 s. */
enum { LOOK_VALUES = 1 << 22 };

/* ---- rows of K --------------------------------------------------------------------------------*/

/* All of K is kept, and shared by the starts, if it takes at most half of the budget and, for cheap
 * values, costs less than recomputing them. */
static mcr_status open_values(state *t)
{
    size_t all = (size_t)t->n * (size_t)t->n * sizeof *t->values;
    double most = (double)mcr_budget_left(t->ctx) / 2;
    if (!mcr_gram_is_slow(t->gram))
        most = fmin(most, (double)((size_t)2 << 30));
    t->whole = (double)t->n * (double)t->n * sizeof *t->values <= most;
    /* Else as many rows at a time as fit into a quarter of it; the result is the same for any
     * number. */
    size_t row = (size_t)t->n * sizeof *t->values,
           some = mcr_budget_left(t->ctx) / 4 / (row + !row);
    size_t look = LOOK_VALUES / ((size_t)t->n + !t->n);
    some = some < look ? some : look;
    t->rows = some < FEW_CANDIDATES ? FEW_CANDIDATES : some > ROWS ? ROWS : (int64_t)some;
    t->taken = t->whole ? all : (size_t)t->rows * row;
    mcr_status s = mcr_budget_take(t->ctx, t->taken, t->p->phase);
    if (s) {
        t->taken = 0;
        return s;
    }
    t->values = mcr_alloc(t->ctx, (size_t)(t->whole ? t->n : t->rows), row);
    if (!t->values)
        return MCR_NO_MEMORY;
    return t->whole ? mcr_gram_matrix(t->gram, t->values, t->n) : MCR_OK;
}

mcr_status mcr_cluster_fetch(state *t, const int64_t *object, int64_t count, const double **row)
{
    if (t->wide)
        return mcr_cluster_features_rows(t, object, count, row);
    for (int64_t r = 0; r < count; r++)
        row[r] = t->values + (t->whole ? object[r] : r) * t->n;
    return t->whole ? MCR_OK
                    : mcr_gram_block(t->gram, (mcr_rows){object, 0, count},
                                     (mcr_rows){NULL, 0, t->n}, t->values, t->n);
}

/* ---- moving objects ---------------------------------------------------------------------------*/

typedef struct move_job {
    state *t;
    const int64_t *object;
    const double *const *row;
    int64_t count;
} move_job;

/* Adds the rows to the sums of the clusters that get an object and takes them from those that lose
 * it, in the order of the moves. */
static mcr_status move_chunk(void *arg, int64_t first, int64_t end)
{
    const move_job *job = arg;
    state *t = job->t;
    for (int64_t m = 0; m < job->count; m++) {
        int64_t i = job->object[m];
        double w = t->p->weight[i];
        double *from = t->of[i] >= 0 ? t->s + t->of[i] * t->n : NULL;
        double *to = t->s + t->next[i] * t->n;
        for (int64_t j = first; j < end; j++)
            to[j] += w * job->row[m][j];
        for (int64_t j = first; j < end && from; j++)
            from[j] -= w * job->row[m][j];
    }
    return MCR_OK;
}

bool mcr_cluster_is_over(state *t, double at, double gain)
{
    double seconds = mcr_now() - t->began;
    if (mcr_report_step(t->ctx, t->p->phase, seconds, t->steps, at, gain))
        t->stop = MCR_STOP_INTERRUPTED;
    else if (t->p->seconds > 0 && seconds > t->p->seconds)
        t->stop = MCR_STOP_TIME;
    return t->stop != MCR_STOP_OPTIMAL;
}

/* Object i is in `next` from now on. */
static void shift(state *t, int64_t i)
{
    if (t->of[i] >= 0) {
        t->count[t->of[i]]--;
        t->weight[t->of[i]] -= t->p->weight[i];
    }
    t->count[t->next[i]]++;
    t->weight[t->next[i]] += t->p->weight[i];
    t->of[i] = t->next[i];
}

/* Moves the listed objects from `of` to `next`; only some of them if the time limit is reached or
 * the user cancels. */
static mcr_status move(state *t, const int64_t *object, int64_t count)
{
    const double *row[ROWS];
    mcr_status s = MCR_OK;
    for (int64_t m = 0; m < count && t->wide; m++)
        shift(t, object[m]);
    if (t->wide)
        return count ? mcr_cluster_features_place(t) : MCR_OK;
    int64_t most = t->whole ? ROWS : t->rows;
    for (int64_t first = 0; first < count && !s; first += most) {
        if (first > 0 && !t->uncut && mcr_cluster_is_over(t, NAN, NAN))
            break;
        int64_t rows = count - first < most ? count - first : most;
        move_job job = {t, object + first, row, rows};
        s = mcr_cluster_fetch(t, object + first, rows, row);
        if (!s)
            s = mcr_parallel_chunks(t->ctx, t->n, CHUNK, move_chunk, &job);
        for (int64_t m = first; m < first + rows && !s; m++)
            shift(t, object[m]);
    }
    return s;
}

/* Recomputes sums of clusters in which rounding errors could have accumulated: weights and q. */
static void sum_clusters(state *t)
{
    memset(t->weight, 0, sizeof *t->weight * (size_t)t->k);
    memset(t->q, 0, sizeof *t->q * (size_t)t->k);
    for (int64_t i = 0; i < t->n; i++) {
        t->weight[t->of[i]] += t->p->weight[i];
        t->q[t->of[i]] += t->p->weight[i] * mcr_cluster_sum(t, t->s, t->of[i], i);
    }
}

/* Everything from scratch, for the clusters in `next`. */
static mcr_status place_all(state *t)
{
    memset(t->s, 0, sizeof *t->s * (size_t)(t->k * t->n));
    memset(t->count, 0, sizeof *t->count * (size_t)t->k);
    for (int64_t i = 0; i < t->n; i++) {
        t->of[i] = -1;
        t->row[i] = i;
    }
    mcr_status s = move(t, t->row, t->n);
    if (!s && t->stop != MCR_STOP_OPTIMAL && t->of[t->n - 1] < 0)
        s = mcr_fail(t->ctx, MCR_STOPPED, "interrupted before all objects were in clusters");
    if (!s)
        sum_clusters(t);
    return s;
}

/* ---- distances --------------------------------------------------------------------------------*/

/* Squared distance of object i to the centre of cluster c. */
static double distance(const state *t, int64_t i, int64_t c)
{
    double w = t->weight[c];
    return t->diagonal[i] - 2 * mcr_cluster_sum(t, t->s, c, i) / w + t->q[c] / (w * w);
}

static double objective(const state *t)
{
    double sum = 0;
    for (int64_t i = 0; i < t->n; i++)
        if (t->p->weight[i] > 0)
            sum += t->p->weight[i] * distance(t, i, t->of[i]);
    return sum;
}

/* How much the objective falls if object i moves to cluster c, including the shift of both
 * centres. */
static double gain_of(const state *t, int64_t i, int64_t c)
{
    int64_t a = t->of[i];
    double w = t->p->weight[i], wa = t->weight[a], wc = t->weight[c];
    if (t->count[a] < 2 || !(wa - w > 0) || !(w > 0))
        return 0;
    return wa * w / (wa - w) * distance(t, i, a) - wc * w / (wc + w) * distance(t, i, c);
}

static double best_gain(const state *t, int64_t i, int64_t *to)
{
    double best = 0, least = t->p->weight[i] * mcr_cluster_rounding(t, i, 0);
    for (int64_t c = 0; c < t->k; c++) {
        double gain = c == t->of[i] || !(t->weight[c] > 0) ? 0 : gain_of(t, i, c);
        if (gain > best + (best > 0 ? least : 0)) {
            best = gain;
            *to = c;
        }
    }
    return best;
}

/* ---- steps ------------------------------------------------------------------------------------*/

static mcr_status nearest_chunk(void *arg, int64_t first, int64_t end)
{
    state *t = arg;
    for (int64_t i = first; i < end; i++) {
        double best = distance(t, i, t->of[i]);
        double least = mcr_cluster_rounding(t, i, best);
        t->next[i] = t->of[i];
        for (int64_t c = 0; c < t->k; c++) {
            double d = t->weight[c] > 0 ? distance(t, i, c) : INFINITY;
            if (d < best - least) {
                best = d;
                t->next[i] = (int32_t)c;
            }
        }
        t->near[i] = best;
    }
    return MCR_OK;
}

/* A cluster that would become empty gets the object with the largest current cost. */
static void fill_empty(state *t)
{
    int64_t *left = t->row; /* not in use yet */
    memset(left, 0, sizeof *left * (size_t)t->k);
    for (int64_t i = 0; i < t->n; i++)
        left[t->next[i]] += t->p->weight[i] > 0;
    for (int64_t c = 0; c < t->k; c++) {
        int64_t worst = -1;
        for (int64_t i = 0; i < t->n && left[c] == 0; i++)
            if (left[t->next[i]] > 1 && t->p->weight[i] > 0 &&
                (worst < 0 || t->p->weight[i] * t->near[i] > t->p->weight[worst] * t->near[worst]))
                worst = i;
        if (worst < 0)
            continue;
        left[t->next[worst]]--;
        left[c]++;
        t->next[worst] = (int32_t)c;
        t->near[worst] = 0;
    }
}

/* Starts the stage, unless the state that was read is within it. */
static void begin_stage(state *t, int stage)
{
    if (!t->at.goes_on) {
        t->at.stage = stage;
        t->at.last = t->steps;
        t->at.before = INFINITY;
    }
    t->at.goes_on = false;
}

/* Lloyd's steps until no object moves, or until they gain less than a tenth of the smallest move
 * that counts: with very many objects a few keep moving for hundreds of steps. (With kernels that
 * are not positive semidefinite the steps may cycle.) */
static mcr_status lloyd(state *t)
{
    int64_t moves = 1;
    mcr_status s = MCR_OK;
    begin_stage(t, MCR_CLUSTER_LLOYD);
    while (moves > 0 && !s) {
        s = mcr_cluster_offer(t);
        if (!s)
            s = mcr_parallel_chunks(t->ctx, t->n, CHUNK, nearest_chunk, t);
        if (s)
            return s;
        fill_empty(t);
        moves = 0;
        for (int64_t i = 0; i < t->n; i++)
            if (t->next[i] != t->of[i])
                t->row[moves++] = i;
        s = move(t, t->row, moves);
        sum_clusters(t);
        t->steps++;
        if (t->p->most_steps && t->steps - t->at.last >= t->p->most_steps && moves > 0)
            t->stop = MCR_STOP_STEPS;
        double now = objective(t);
        if (t->stop || mcr_cluster_is_over(t, now, NAN) ||
            !(t->at.before - now > 0.1 * t->p->tolerance * mcr_cluster_scale(t, now)))
            return s;
        t->at.before = now;
    }
    return s;
}

/* Moves one object during a sweep; with features, the sums of the others in its block are
 * updated. */
static mcr_status move_one(state *t, int64_t i, int64_t to)
{
    int64_t from = t->of[i];
    double w = t->p->weight[i];
    t->q[to] += 2 * w * mcr_cluster_sum(t, t->s, to, i) + w * w * t->diagonal[i];
    t->q[from] -= 2 * w * mcr_cluster_sum(t, t->s, from, i) - w * w * t->diagonal[i];
    t->next[i] = (int32_t)to;
    if (!t->wide)
        return move(t, &i, 1);
    shift(t, i);
    return mcr_cluster_features_move(t, i, from, to);
}

static mcr_status sweep(state *t, double least, int64_t *moves, double *gains)
{
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < t->n && !s; i++) {
        int64_t to = 0;
        if (t->wide && *moves > 0 && i % MCR_CLUSTER_BLOCK == 0)
            s = mcr_cluster_features_block(t, i); /* later sums are as before the first move */
        double gain = s ? 0 : best_gain(t, i, &to);
        if (!(gain > least))
            continue;
        s = move_one(t, i, to);
        *gains += gain;
        if (++*moves % MOVES_A_LOOK == 0 && !s && mcr_cluster_is_over(t, NAN, NAN))
            break;
    }
    return s || !t->wide || *moves == 0 ? s : mcr_cluster_features_place(t);
}

/* Hartigan's steps: sweeps over the objects in order, until a whole sweep gains nothing. */
static mcr_status hartigan(state *t)
{
    int64_t moves = 1;
    mcr_status s = MCR_OK;
    begin_stage(t, MCR_CLUSTER_HARTIGAN);
    while (moves > 0 && !s && !t->stop) {
        if ((s = mcr_cluster_offer(t)))
            break;
        double at = objective(t), gains = 0,
               least = 0.5 * t->p->tolerance * mcr_cluster_scale(t, at);
        moves = 0;
        s = sweep(t, least, &moves, &gains);
        sum_clusters(t);
        t->steps++;
        if (t->p->most_steps && t->steps - t->at.last >= t->p->most_steps && moves > 0)
            t->stop = MCR_STOP_STEPS;
        else if (moves > 0)
            (void)mcr_cluster_is_over(t, at - gains, gains / mcr_cluster_scale(t, at));
    }
    return s;
}

/* The objective, and the largest gain of one more move: from scratch, unless the time limit is
 * reached; then from the current sums, whose rounding error is far below the printed digits. */
static mcr_status evaluate(state *t, bool first, double *at, double *gain)
{
    double most = 0;
    bool late = t->stop == MCR_STOP_TIME || t->stop == MCR_STOP_INTERRUPTED;
    for (int64_t i = 0; i < t->n; i++)
        t->next[i] = t->of[i];
    t->uncut = first; /* there would be nothing to keep */
    mcr_status s = late ? MCR_OK : place_all(t);
    t->uncut = false;
    *at = s ? NAN : objective(t);
    for (int64_t i = 0; i < t->n && !s; i++) {
        int64_t to;
        most = fmax(most, best_gain(t, i, &to));
    }
    *gain = most / mcr_cluster_scale(t, *at);
    return s;
}

/* Whether an earlier start was better by more than the rounding error of the sums; *at is the
 * objective from these sums. */
static bool is_beaten(const state *t, double *at)
{
    *at = objective(t);
    return *at > t->best->objective + 1e-6 * mcr_cluster_scale(t, t->best->objective);
}

/* One start, from its seeds to a partition that no move improves. */
static mcr_status run_start(state *t, int64_t start, double *at, double *gain)
{
    mcr_status s = MCR_OK;
    bool goes_on = t->at.goes_on;
    int again = goes_on ? t->at.again : 0;
    if (!goes_on && start == 0 && t->p->begin)
        memcpy(t->next, t->p->begin, sizeof *t->next * (size_t)t->n);
    else if (!goes_on)
        s = start >= t->p->starts ? mcr_cluster_cross(t, start) : mcr_cluster_seed(t, start);
    if (!s && !goes_on)
        s = place_all(t);
    if (!s && !(goes_on && t->at.stage == MCR_CLUSTER_HARTIGAN))
        s = lloyd(t);
    for (; again < 3 && !s; again++) {
        t->at.again = again;
        if (!t->stop)
            s = hartigan(t);
        if (!s && !t->stop && start > 0 && is_beaten(t, at))
            break;
        if (!s)
            s = evaluate(t, start == 0, at, gain);
        if (t->stop || *gain <= t->p->tolerance)
            break; /* else rounding errors had accumulated in the sums, which are fresh now */
    }
    return s;
}

/* ---- all starts -------------------------------------------------------------------------------*/

static mcr_status open_state(state *t, mcr_gram *gram, const mcr_cluster_problem *p)
{
    mcr *ctx = mcr_gram_context(gram);
    size_t n = (size_t)mcr_gram_rows(gram), k = (size_t)p->clusters;
    *t = (state){.ctx = ctx,
                 .gram = gram,
                 .wide = mcr_gram_width(gram),
                 .p = p,
                 .n = (int64_t)n,
                 .k = p->clusters};
    t->began = mcr_now();
    if (!mcr_alloc_arrays(ctx, MCR_ARRAY(t->diagonal, n), /* the block to free */
                          MCR_ARRAY(t->of, n), MCR_ARRAY(t->next, n),
                          MCR_ARRAY(t->s, (uint64_t)k * n), MCR_ARRAY(t->weight, k),
                          MCR_ARRAY(t->q, k), MCR_ARRAY(t->count, k), MCR_ARRAY(t->near, n),
                          MCR_ARRAY(t->row, n > k ? n : k)))
        return MCR_NO_MEMORY;
    mcr_status s = mcr_gram_diagonal(gram, 0, t->diagonal);
    for (int64_t i = 0; i < t->n && !s; i++)
        t->total += p->weight[i] * fabs(t->diagonal[i]);
    if (!s)
        s = t->wide ? mcr_cluster_features_open(t) : open_values(t);
    return s ? s : mcr_cluster_cross_open(t); /* of the memory that K leaves */
}

static void close_state(state *t)
{
    mcr_cluster_cross_close(t);
    mcr_free_all(t->ctx, t->diagonal, t->values, t->sum, t->phi);
    mcr_budget_give(t->ctx, t->taken);
}

static void keep(mcr_clusters *out, const state *t, double at, double gain)
{
    memcpy(out->of, t->of, sizeof *out->of * (size_t)t->n);
    memcpy(out->weight, t->weight, sizeof *out->weight * (size_t)t->k);
    memcpy(out->count, t->count, sizeof *out->count * (size_t)t->k);
    for (int64_t c = 0; c < t->k; c++)
        out->square[c] = t->q[c] / (t->weight[c] * t->weight[c]);
    for (int64_t e = 0; e < t->wide * t->k; e++)
        out->centre[e] = t->sum[e] / t->weight[e % t->k];
    out->objective = at;
    out->gain = gain;
}

mcr_status mcr_cluster(mcr_clusters *out, mcr_gram *gram, const mcr_cluster_problem *p)
{
    state t;
    mcr *ctx = mcr_gram_context(gram);
    size_t n = (size_t)mcr_gram_rows(gram), k = (size_t)p->clusters;
    *out = (mcr_clusters){.objective = INFINITY};
    mcr_status s = open_state(&t, gram, p);
    if (!s && !mcr_alloc_arrays(ctx, MCR_CLEARED(out->of, n), /* the block to free */
                                MCR_CLEARED(out->weight, k), MCR_CLEARED(out->square, k),
                                MCR_CLEARED(out->count, k),
                                MCR_CLEARED(out->centre, (uint64_t)t.wide * k)))
        s = MCR_NO_MEMORY;
    t.best = out;
    if (!s)
        s = mcr_cluster_go_on(&t);
    int64_t most = p->starts + mcr_cluster_crossed(&t);
    for (int64_t start = t.at.start; start < most && !s; start++) {
        double at = NAN, gain = NAN;
        t.at.start = start;
        if (start >= p->starts && !mcr_cluster_can_cross(&t))
            break;
        mcr_stop before = t.stop;
        s = run_start(&t, start, &at, &gain);
        if (s == MCR_STOPPED && start > 0) { /* the best of the starts before is kept */
            at = INFINITY;
            s = MCR_OK;
        }
        if (!s && !t.stop)
            mcr_cluster_cross_keep(&t, at);
        out->starts += !s && start < p->starts && t.stop != MCR_STOP_TIME &&
                       t.stop != MCR_STOP_INTERRUPTED;
        if (!s && (start == 0 || at < out->objective * (1 - 1e-11))) {
            keep(out, &t, at, gain);
            out->stop = t.stop;
        }
        if (t.stop == MCR_STOP_TIME || t.stop == MCR_STOP_INTERRUPTED) {
            out->stop = t.stop; /* what the other starts would have found is not known */
            break;
        }
        t.stop = before;
    }
    out->steps = t.steps;
    close_state(&t);
    return s;
}

void mcr_clusters_close(mcr *ctx, mcr_clusters *c)
{
    mcr_free(ctx, c->of);
    *c = (mcr_clusters){0};
}
