/* ssk.c: the string subsequence kernel (Lodhi, Saunders, Shawe-Taylor, Cristianini and Watkins,
 * JMLR 2, 2002): common subsequences of exactly p letters, gaps allowed, each occurrence weighted
 * by lambda to the length that it spans, in both strings.
 *
 * One string against several at a time (linalg/subsequence.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/number.h"
#include "base/threads.h"
#include "kernel/explicit.h"
#include "kernel/kernel.h"
#include "kernel/keys.h"
#include "kernel/patterns.h"
#include "linalg/subsequence.h"
#include "linalg/tiles.h"

typedef struct ssk_params {
    int64_t p;
    double lambda;
} ssk_params;

static const mcr_param params[] = {
    MCR_RANGE_PARAM(ssk_params, p, MCR_INT, "3", 1, MCR_SUBSEQUENCE_MOST,
                    "length of the subsequences, in bytes"),
    MCR_RANGE_PARAM(
        ssk_params, lambda, MCR_REAL, "0.5", 0, 1,
        "weight of each letter that an occurrence spans, above 0; 1: gaps cost nothing"),
    {.name = NULL},
};

static mcr_status check(mcr *ctx, void *values)
{
    const ssk_params *p = values;
    if (!(p->lambda > 0))
        return mcr_fail(ctx, MCR_BAD_CALL, "ssk: lambda must be above 0 and at most 1");
    return MCR_OK;
}

typedef struct string {
    const unsigned char *bytes;
    int64_t length;
} string;

static string string_of(const mcr_bound *bound, int side, int64_t i)
{
    const mcr_field *f = &bound->field[side];
    int64_t r = mcr_field_at(f, i), begin = f->store->start[r];
    return (string){(const unsigned char *)f->store->bytes + begin, f->store->start[r + 1] - begin};
}

/* ---- explicit features: the subsequences ------------------------------------------------------*/

/* Enumerates words of one string letter by letter. weight[t][j]: the sum over occurrences of the
 * first t letters that end at position j of lambda to the length they span. */
typedef struct growth {
    mcr_patterns *to;
    const ssk_params *p;
    string text;
    int64_t object;
    double *weight; /* p + 1 rows of `length` numbers */
    int64_t steps;  /* since the limits were last checked */
    unsigned char word[MCR_SUBSEQUENCE_MOST];
} growth;

/* Words that begin with the first t letters of g->word, in order. Occurrences of a letter
 * that leave too few for the rest of the word are skipped, so every beginning is completed. */
static mcr_status grow(growth *g, int64_t t)
{
    enum { BETWEEN = 1 << 20 };
    int64_t n = g->text.length, end = n - g->p->p + t + 1;
    const double *now = g->weight + t * n;
    double *next = g->weight + (t + 1) * n, lambda = g->p->lambda;
    bool seen[256] = {false};
    mcr_status s = MCR_OK;
    for (int64_t j = t; j < end; j++)
        seen[g->text.bytes[j]] = true;
    for (int c = 0; c < 256 && !s; c++) {
        if (!seen[c])
            continue;
        double before = t == 0 ? 1 : 0, sum = 0; /* occurrences so far, extended to position j */
        if ((g->steps += n) > BETWEEN) {
            g->steps = 0;
            if ((s = mcr_part_done(g->to->bound->ctx, "features", NAN, NAN)))
                break;
        }
        for (int64_t j = 0; j < end; j++) {
            next[j] = g->text.bytes[j] == c ? lambda * before : 0;
            sum += next[j];
            before = t == 0 ? 1 : lambda * before + now[j];
        }
        g->word[t] = (unsigned char)c;
        if (sum > 0 && t + 1 == g->p->p)
            s = mcr_patterns_add(g->to, g->object, g->word, sum);
        else if (sum > 0)
            s = grow(g, t + 1);
    }
    return s;
}

static void name_word(mcr_names *names, const unsigned char *word, int64_t width)
{
    mcr_names_bytes(names, (const char *)word, width);
}

/* There are no more words of t letters than choices of t positions, or of t letters. */
static mcr_status expect_subsequences(const mcr_patterns *list, const ssk_params *p)
{
    const mcr_bound *bound = list->bound;
    double words = 0, steps = 0;
    for (int side = 0; side < mcr_features_sides(bound); side++)
        for (int64_t i = 0; i < bound->field[side].count; i++) {
            string x = string_of(bound, side, i);
            bool seen[256] = {false};
            int letters = 0;
            for (int64_t j = 0; j < x.length; j++) {
                letters += !seen[x.bytes[j]];
                seen[x.bytes[j]] = true;
            }
            for (int64_t t = 0; t < p->p && x.length >= p->p; t++)
                steps += fmin(pow(letters, (double)t), mcr_choose(x.length - p->p + t, t)) *
                         (double)(letters * x.length);
            words += fmin(pow(letters, (double)p->p), mcr_choose(x.length, p->p));
        }
    return mcr_patterns_expect(list, words, steps);
}

static mcr_status list_subsequences(mcr_bound *bound, mcr_binding *binding)
{
    const ssk_params *p = mcr_bound_params(bound);
    mcr *ctx = bound->ctx;
    mcr_patterns list = {.bound = bound, .width = p->p, .name = name_word};
    int64_t object;
    mcr_status s = mcr_keys_objects(&object, bound);
    if (!s)
        s = expect_subsequences(&list, p);
    object = 0;
    for (int side = 0; side < mcr_features_sides(bound) && !s; side++)
        for (int64_t i = 0; i < bound->field[side].count && !s; i++, object++) {
            growth g = {.to = &list, .p = p, .object = object};
            g.text = string_of(bound, side, i);
            size_t cells;
            if (!mcr_size_mul((size_t)p->p + 1, (size_t)g.text.length, &cells) ||
                !(g.weight = mcr_alloc_zero(ctx, cells, sizeof *g.weight)))
                s = MCR_NO_MEMORY;
            else
                s = grow(&g, 0);
            mcr_free(ctx, g.weight);
        }
    if (!s)
        s = mcr_patterns_offer(&list, binding);
    mcr_patterns_free(&list);
    return s;
}

/* The least work of any learner: a hundred rows of the matrix. The recursion's table for the
 * longest string, one per thread, is charged to kernel storage. */
static mcr_status allow(mcr_bound *bound, mcr_binding *binding, const double mean[2],
                        const int64_t longest[2])
{
    enum { ROWS = 100, SPEED = 8, LANE_BYTES = 64 };
    const ssk_params *p = mcr_bound_params(bound);
    double n[2] = {(double)bound->field[0].count, (double)bound->field[bound->same ? 0 : 1].count};
    double pairs = fmin(n[0], ROWS) * n[1], threads = mcr_workers(bound->ctx);
    mcr_status s = mcr_work_allow(bound->ctx, pairs * (double)p->p * mean[0] * mean[1] / SPEED,
                                  "ssk");
    double bytes = threads * LANE_BYTES *
                   ((double)p->p * 2 * (double)longest[0] + 3 * (double)longest[1]);
    if (!s)
        s = mcr_budget_take(bound->ctx, bytes < 1e18 ? (size_t)bytes : SIZE_MAX, "ssk");
    if (!s)
        binding->budget += (size_t)bytes;
    return s;
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const ssk_params *p = mcr_bound_params(bound);
    if (binding->listing)
        return list_subsequences(bound, binding);
    double mean[2] = {0, 0};
    int64_t longest[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        const mcr_field *f = &bound->field[bound->same ? 0 : side];
        for (int64_t i = 0; i < f->count; i++) {
            int64_t length = string_of(bound, bound->same ? 0 : side, i).length;
            mean[side] += (double)length / (double)f->count;
            longest[side] = length > longest[side] ? length : longest[side];
        }
    }
    bound->work = 0.5 * (double)p->p * mean[0] * mean[1];
    return allow(bound, binding, mean, longest);
}

/* Columns of a tile, longest first. */
typedef struct column {
    string text;
    int64_t at;          /* in the tile */
    int64_t tiles;       /* tiles of letters that it needs */
    int64_t lane, first; /* its lane; first: its first tile */
} column;

static int longest_first(const void *a, const void *b)
{
    const column *x = a, *y = b;
    if (x->text.length != y->text.length)
        return x->text.length > y->text.length ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

enum { LANES_MOST = 64 };

typedef struct workspace {
    const mcr_subsequence_kit *kit;
    mcr_subsequence_job job;
    size_t real;
    int64_t columns; /* letters of a tile */
    void *t, *goes;
} workspace;

static int64_t longest_of(const mcr_bound *bound, int side, mcr_rows rows)
{
    int64_t longest = 0;
    for (int64_t i = 0; i < rows.count; i++) {
        int64_t length = string_of(bound, side, mcr_rows_at(rows, i)).length;
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* tiles: of all columns; widest: of the longest one; longest: letters of the longest row. */
static mcr_status open_workspace(workspace *r, mcr_scratch *scratch, const ssk_params *p,
                                 int64_t tiles, int64_t widest, int64_t longest)
{
    size_t lanes = (size_t)r->kit->lanes, lane = lanes * r->real, most, letters, cells;
    /* Lanes are filled evenly: none exceeds its share by more than one string. */
    most = (size_t)tiles / lanes + 1 + (size_t)widest;
    r->job = (mcr_subsequence_job){.p = p->p, .lambda = p->lambda, .columns = r->columns};
    if (!mcr_size_mul(most, (size_t)r->columns * lane, &letters) ||
        !mcr_size_mul(2 * (size_t)longest + MCR_SUBSEQUENCE_TILE, lane * (size_t)p->p, &cells))
        return MCR_NO_MEMORY;
    r->t = mcr_scratch_take(scratch, letters);
    r->goes = mcr_scratch_take(scratch, most * lane);
    r->job.buffer = mcr_scratch_take(scratch, cells);
    r->job.k = mcr_scratch_take(scratch, most * lane);
    return r->t && r->goes && r->job.buffer && r->job.k ? MCR_OK : MCR_NO_MEMORY;
}

static double result(const workspace *r, const column *c)
{
    double sum = 0;
    for (int64_t i = c->first; i < c->first + c->tiles; i++) {
        int64_t at = i * r->kit->lanes + c->lane;
        sum += r->real == sizeof(double) ? ((const double *)r->job.k)[at]
                                         : (double)((const float *)r->job.k)[at];
    }
    return sum;
}

/* Assigns columns to lanes, each to the one with the most space left. */
static void pack(workspace *r, column *c, int64_t count)
{
    int64_t used[LANES_MOST] = {0}, lanes = r->kit->lanes, most = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t lane = 0;
        for (int64_t l = 1; l < lanes; l++)
            lane = used[l] < used[lane] ? l : lane;
        c[i].lane = lane;
        c[i].first = used[lane];
        used[lane] += c[i].tiles;
        most = used[lane] > most ? used[lane] : most;
        r->kit->pack(r->t, r->goes, r->columns, lane, c[i].first, c[i].tiles, c[i].text.bytes,
                     c[i].text.length);
    }
    for (int64_t l = 0; l < lanes; l++)
        r->kit->pack(r->t, r->goes, r->columns, l, used[l], most - used[l], NULL, 0);
    r->job.t = r->t;
    r->job.goes = r->goes;
    r->job.tiles = most;
}

static bool is_square(const mcr_bound *bound, const mcr_tile *tile)
{
    return bound->same && !tile->x.index && !tile->z.index && tile->x.first == tile->z.first &&
           tile->x.count == tile->z.count;
}

/* On the diagonal of the matrix the rows are the columns: each is computed against those before
 * it. */
static void fill(const mcr_bound *bound, const mcr_tile *tile, workspace *r, column *c)
{
    bool square = is_square(bound, tile);
    for (int64_t i = 0; i < tile->x.count; i++) {
        int64_t count = square ? i + 1 : tile->z.count, at = square ? c[i].at : i;
        string s = string_of(bound, 0, mcr_rows_at(tile->x, at));
        if (square || i == 0)
            pack(r, c, count);
        r->job.s = s.bytes;
        r->job.s_length = s.length;
        r->kit->run(&r->job);
        for (int64_t j = 0; j < count; j++) {
            double k = result(r, &c[j]);
            mcr_tile_put(tile, at, c[j].at, k);
            if (square)
                mcr_tile_put(tile, c[j].at, at, k);
        }
    }
}

static mcr_status block(const mcr_bound *bound, const mcr_tile *tile)
{
    const ssk_params *p = mcr_bound_params(bound);
    const mcr_tiles *tiles = mcr_tiles_best();
    size_t mark = mcr_scratch_mark(tile->scratch);
    int64_t n = tile->z.count, all = 0;
    if (n == 0 || tile->x.count == 0)
        return MCR_OK;
    workspace r = {.kit = (tile->precise ? tiles->f64 : tiles->f32)->subsequences,
                   .real = tile->precise ? sizeof(double) : sizeof(float)};
    /* Short strings get short tiles. */
    int64_t most = r.kit->columns(p->p, p->lambda);
    int64_t longest = longest_of(bound, bound->same ? 0 : 1, tile->z);
    r.columns = longest < most ? (longest > 0 ? longest : 1) : most;
    column *c = mcr_scratch_take(tile->scratch, sizeof *c * (size_t)n);
    mcr_status s = c ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t j = 0; j < n && !s; j++) {
        c[j] = (column){string_of(bound, bound->same ? 0 : 1, mcr_rows_at(tile->z, j)), j, 0, 0, 0};
        c[j].tiles = (c[j].text.length + r.columns - 1) / r.columns;
        all += c[j].tiles;
    }
    if (!s) {
        qsort(c, (size_t)n, sizeof *c, longest_first);
        s = open_workspace(&r, tile->scratch, p, all, c[0].tiles, longest_of(bound, 0, tile->x));
    }
    if (!s)
        fill(bound, tile, &r, c);
    mcr_scratch_release(tile->scratch, mark);
    return s;
}

MCR_ALWAYS_PSD(definite, "an inner product of weighted subsequences")

const mcr_kernel_type mcr_kernel_ssk = {
    .name = "ssk",
    .summary = "subsequences of p letters, with gaps, that two strings have in common",
    .kinds = MCR_STRINGS,
    .params = params,
    .params_size = sizeof(ssk_params),
    .check = check,
    .definite = definite,
    .bind = bind,
    .block = block,
    .features = mcr_features_listed,
};
