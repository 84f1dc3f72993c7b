/* landmarks.c: the choice of landmarks for the Nystroem feature map.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/random.h"
#include "base/team.h"
#include "gram/map.h"

/* ---- samples ----------------------------------------------------------------------------------*/

/* The places of a shuffled list 0, 1, ... that have changed: only these are stored, so that a few
 * can be drawn from very many. */
typedef struct moves {
    int64_t capacity, *place, *number; /* place -1: free */
} moves;

static int64_t find_place(const moves *m, int64_t place)
{
    uint64_t at = (uint64_t)place * 0x9e3779b97f4a7c15u >> 20;
    for (;; at++) {
        int64_t slot = (int64_t)(at & (uint64_t)(m->capacity - 1));
        if (m->place[slot] < 0 || m->place[slot] == place)
            return slot;
    }
}

static int64_t number_at(const moves *m, int64_t place)
{
    int64_t slot = find_place(m, place);
    return m->place[slot] < 0 ? place : m->number[slot];
}

static void move(moves *m, int64_t place, int64_t number)
{
    int64_t slot = find_place(m, place);
    m->place[slot] = place;
    m->number[slot] = number;
}

/* `count` different numbers below n, in random order. */
static mcr_status draw(mcr *ctx, int64_t n, int64_t count, int64_t *number)
{
    mcr_random r = mcr_random_stream(mcr_seed(ctx), "landmarks", 0);
    moves m = {.capacity = 16};
    while (m.capacity < 2 * count)
        m.capacity *= 2;
    m.place = mcr_alloc(ctx, (size_t)m.capacity, sizeof *m.place);
    m.number = mcr_alloc(ctx, (size_t)m.capacity, sizeof *m.number);
    bool fine = m.place && m.number;
    for (int64_t i = 0; i < m.capacity && fine; i++)
        m.place[i] = -1;
    for (int64_t i = 0; i < count && fine; i++) {
        int64_t at = i + mcr_random_below(&r, n - i);
        number[i] = number_at(&m, at);
        move(&m, at, number_at(&m, i));
    }
    mcr_free_all(ctx, m.place, m.number);
    return fine ? MCR_OK : MCR_NO_MEMORY;
}

/* A random part of the data, at most n of them. */
typedef struct pool {
    int64_t n, *object;
    mcr_data *data;
} pool;

static mcr_status open_pool(pool *p, mcr *ctx, const mcr_data *data, int64_t n)
{
    int64_t first, all;
    mcr_status s = mcr_team_place(ctx, mcr_data_count(data), &first, &all);
    if (s)
        return s;
    p->n = n < all ? n : all;
    p->object = mcr_alloc(ctx, (size_t)p->n, sizeof *p->object);
    s = p->object ? draw(ctx, all, p->n, p->object) : MCR_NO_MEMORY;
    return s ? s : mcr_data_pick(&p->data, data, (mcr_rows){p->object, 0, p->n});
}

static void close_pool(pool *p, mcr *ctx)
{
    mcr_data_free(p->data);
    mcr_free(ctx, p->object);
}

/* ---- k-means ----------------------------------------------------------------------------------*/

typedef struct means {
    int64_t n, clusters;
    const float *k; /* n x n */
    float *mean;    /* clusters x n: mean of K(members, i) */
    double *square; /* of each centre */
    int64_t *size, *of;
} means;

static void centre(means *m)
{
    memset(m->mean, 0, sizeof *m->mean * (size_t)(m->clusters * m->n));
    memset(m->size, 0, sizeof *m->size * (size_t)m->clusters);
    memset(m->square, 0, sizeof *m->square * (size_t)m->clusters);
    for (int64_t i = 0; i < m->n; i++) {
        float *to = m->mean + m->of[i] * m->n;
        const float *from = m->k + i * m->n;
        m->size[m->of[i]]++;
        for (int64_t j = 0; j < m->n; j++)
            to[j] += from[j];
    }
    for (int64_t c = 0; c < m->clusters; c++)
        for (int64_t j = 0; j < m->n && m->size[c]; j++)
            m->mean[c * m->n + j] /= (float)m->size[c];
    for (int64_t i = 0; i < m->n; i++)
        m->square[m->of[i]] += (double)m->mean[m->of[i] * m->n + i] / (double)m->size[m->of[i]];
}

/* Distance squared of i to centre c, without K(i,i). */
static double distance(const means *m, int64_t i, int64_t c)
{
    return m->size[c] ? m->square[c] - 2 * (double)m->mean[c * m->n + i] : INFINITY;
}

static bool assign(means *m)
{
    bool moved = false;
    for (int64_t i = 0; i < m->n; i++) {
        int64_t best = m->of[i];
        for (int64_t c = 0; c < m->clusters; c++)
            if (distance(m, i, c) < distance(m, i, best))
                best = c;
        moved |= best != m->of[i];
        m->of[i] = best;
    }
    return moved;
}

/* The first objects of the pool are the first centres. */
static void run_means(means *m)
{
    enum { MOST = 20 };
    for (int64_t i = 0; i < m->n; i++) {
        double best = INFINITY;
        for (int64_t c = 0; c < m->clusters; c++) {
            double d = (double)m->k[c * m->n + c] - 2 * (double)m->k[c * m->n + i];
            if (d < best || i == c) {
                best = i == c ? -INFINITY : d;
                m->of[i] = c;
            }
        }
    }
    centre(m);
    for (int step = 0; step < MOST && assign(m); step++)
        centre(m);
}

/* The member nearest to each centre; centres that lost all members are replaced by other
 * objects. */
static void take_nearest(const means *m, int64_t *taken)
{
    unsigned char *used = (unsigned char *)m->mean; /* no more needed after the distances */
    for (int64_t c = 0; c < m->clusters; c++) {
        taken[c] = -1;
        for (int64_t i = 0; i < m->n; i++) {
            if (m->of[i] != c)
                continue;
            double own = (double)m->k[i * m->n + i];
            double d = own + distance(m, i, c);
            double held = taken[c] < 0
                              ? INFINITY
                              : (double)m->k[taken[c] * m->n + taken[c]] + distance(m, taken[c], c);
            if (d < held)
                taken[c] = i;
        }
    }
    memset(used, 0, (size_t)m->n);
    for (int64_t c = 0; c < m->clusters; c++)
        if (taken[c] >= 0)
            used[taken[c]] = 1;
    for (int64_t c = 0, next = 0; c < m->clusters; c++) {
        if (taken[c] >= 0)
            continue;
        while (used[next])
            next++;
        used[next] = 1;
        taken[c] = next;
    }
}

static mcr_status choose_means(mcr *ctx, const mcr_kernel *kernel, const mcr_data *data,
                               int64_t count, int64_t *object)
{
    pool p = {0};
    mcr_gram *gram = NULL;
    int64_t wanted = 4 * count > 2000 ? 4 * count : 2000;
    double most = sqrt((double)mcr_budget_left(ctx) / 8 / sizeof(float));
    wanted = (double)wanted > most ? (int64_t)most : wanted;
    mcr_status s = open_pool(&p, ctx, data, wanted > count ? wanted : count);
    means m = {.n = p.n, .clusters = count};
    size_t bytes = (size_t)p.n * (size_t)(p.n + count) * sizeof(float);
    if (!s)
        s = mcr_budget_take(ctx, bytes, "kernel values for landmarks");
    bool took = !s;
    float *k = s ? NULL : mcr_alloc(ctx, (size_t)p.n, (size_t)p.n * sizeof *k);
    m.mean = s ? NULL : mcr_alloc(ctx, (size_t)p.n, (size_t)count * sizeof *m.mean);
    m.square = mcr_alloc(ctx, (size_t)count, sizeof *m.square);
    m.size = mcr_alloc(ctx, (size_t)count, sizeof *m.size);
    m.of = mcr_alloc_zero(ctx, (size_t)p.n, sizeof *m.of);
    if (!s && (!k || !m.mean || !m.square || !m.size || !m.of))
        s = MCR_NO_MEMORY;
    if (!s)
        s = mcr_gram_open(&gram, ctx, kernel, p.data, NULL);
    if (!s)
        s = mcr_gram_matrix_quietly(gram, k, p.n, false);
    if (!s) {
        m.k = k;
        run_means(&m);
        take_nearest(&m, object);
        for (int64_t c = 0; c < count; c++)
            object[c] = p.object[object[c]];
    }
    mcr_gram_close(gram);
    mcr_free_all(ctx, k, m.mean, m.square, m.size, m.of);
    if (took)
        mcr_budget_give(ctx, bytes);
    close_pool(&p, ctx);
    return s;
}

/* ---- leverage ----------------------------------------------------------------------------------
 *
 * The share of an object that a random set does not explain, K(x,x) - k'(K + ridge)^-1 k, is the
 * leverage score of ridge regression up to a factor (Alaoui and Mahoney, NIPS 2015; one level of
 * Musco and Musco, NIPS 2017). */

/* rest[t] = K(x,x) - k'(K + ridge)^-1 k for objects first + t of the pool; l: the factor. */
static mcr_status unexplained(mcr_gram *gram, const mcr_system *l, int64_t first, int64_t count,
                              double *buffer, double *rest)
{
    int64_t q = l->n;
    double *k = buffer, *x = buffer + q * count;
    mcr_status s = mcr_gram_block(gram, (mcr_rows){NULL, 0, q}, (mcr_rows){NULL, first, count}, k,
                                  count);
    if (!s) {
        memcpy(x, k, sizeof *x * (size_t)(q * count));
        s = mcr_system_solve(l, count, x);
    }
    for (int64_t i = 0; i < q && !s; i++)
        for (int64_t t = 0; t < count; t++)
            rest[first + t] -= k[i * count + t] * x[i * count + t];
    return s;
}

static mcr_status score_pool(const pool *p, mcr *ctx, const mcr_kernel *kernel, int64_t anchors,
                             double *score)
{
    enum { PART = 256 };
    mcr_gram *gram = NULL;
    mcr_system l = {0};
    double *buffer = mcr_alloc(ctx, (size_t)anchors, 2 * PART * sizeof *buffer), mean = 0;
    mcr_status s = buffer ? mcr_gram_open(&gram, ctx, kernel, p->data, NULL) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_gram_diagonal(gram, 0, score);
    if (!s)
        s = mcr_system_open(&l, ctx, anchors, "kernel values for landmarks");
    mcr_rows some = {NULL, 0, anchors};
    if (!s)
        s = mcr_gram_block(gram, some, some, l.a, l.ld);
    for (int64_t i = 0; i < anchors && !s; i++)
        mean += score[i] / (double)anchors;
    if (!s) {
        mcr_system_filled(&l);
        s = mcr_system_factor(&l, 0.01 * mean, NULL, NULL);
    }
    for (int64_t i = 0; i < p->n && !s; i += PART)
        s = unexplained(gram, &l, i, p->n - i < PART ? p->n - i : PART, buffer, score);
    if (s == MCR_NUMERIC)
        s = mcr_map_not_definite(
            ctx, "nystrom: leverage needs a positive semidefinite kernel: use other landmarks");
    mcr_system_close(&l);
    mcr_gram_close(gram);
    mcr_free(ctx, buffer);
    return s;
}

static mcr_status choose_leverage(mcr *ctx, const mcr_kernel *kernel, const mcr_data *data,
                                  int64_t count, int64_t *object)
{
    pool p = {0};
    mcr_status s = open_pool(&p, ctx, data, 8 * count > 4000 ? 8 * count : 4000);
    double *score = s ? NULL : mcr_alloc(ctx, (size_t)p.n, sizeof *score);
    mcr_ranked *list = s ? NULL : mcr_alloc(ctx, (size_t)p.n, sizeof *list);
    if (!s && (!score || !list))
        s = MCR_NO_MEMORY;
    int64_t anchors = count < 1000 ? count : 1000;
    if (!s)
        s = score_pool(&p, ctx, kernel, anchors, score);
    mcr_random r = mcr_random_stream(mcr_seed(ctx), "leverage", 0);
    /* Without replacement: the smallest of exponential numbers with these rates. */
    for (int64_t i = 0; i < p.n && !s; i++)
        list[i] = (mcr_ranked){-log1p(-mcr_random_uniform(&r)) / fmax(score[i], 1e-300),
                               p.object[i]};
    if (!s) {
        qsort(list, (size_t)p.n, sizeof *list, mcr_ranked_rising);
        for (int64_t i = 0; i < count; i++)
            object[i] = list[i].number;
    }
    mcr_free_all(ctx, score, list);
    close_pool(&p, ctx);
    return s;
}

static mcr_status draw_uniformly(mcr *ctx, const mcr_data *data, int64_t count, int64_t *object)
{
    int64_t first, all;
    mcr_status s = mcr_team_place(ctx, mcr_data_count(data), &first, &all);
    return s ? s : draw(ctx, all, count, object);
}

/* ---- greedy -----------------------------------------------------------------------------------*/

/* From a sample, as large as a quarter of the memory allows. */
static mcr_status choose_greedily(mcr *ctx, const mcr_kernel *kernel, const mcr_data *data,
                                  int64_t *count, int64_t *object)
{
    pool p = {0};
    mcr_gram *gram = NULL;
    int64_t wanted = 20 * *count > 20000 ? 20 * *count : 20000;
    double fits = (double)mcr_budget_left(ctx) / 4 / sizeof(double) / (double)*count;
    wanted = (double)wanted > fits ? (int64_t)fits : wanted;
    mcr_status s = open_pool(&p, ctx, data, wanted > *count ? wanted : *count);
    if (!s)
        s = mcr_gram_open(&gram, ctx, kernel, p.data, NULL);
    if (!s)
        s = mcr_landmarks_greedy(gram, count, object);
    for (int64_t i = 0; i < *count && !s; i++)
        object[i] = p.object[object[i]];
    mcr_gram_close(gram);
    close_pool(&p, ctx);
    if (!s && *count == 0)
        s = mcr_map_not_definite(
            ctx, "greedy: no object has a length in feature space: is it a kernel?");
    return s;
}

mcr_status mcr_landmarks_choose(mcr *ctx, const mcr_kernel *kernel, const mcr_data *data,
                                mcr_landmarks how, int64_t *count, int64_t *object)
{
    mcr_status s = how == MCR_LANDMARKS_KMEANS ? choose_means(ctx, kernel, data, *count, object)
                   : how == MCR_LANDMARKS_LEVERAGE
                       ? choose_leverage(ctx, kernel, data, *count, object)
                   : how == MCR_LANDMARKS_GREEDY ? choose_greedily(ctx, kernel, data, count, object)
                                                 : draw_uniformly(ctx, data, *count, object);
    if (!s)
        qsort(object, (size_t)*count, sizeof *object, mcr_int64_rising);
    return s;
}
