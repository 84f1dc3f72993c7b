/* cache.c: rows of K that are worth keeping.
 *
 * Rows are stored in slabs, which are allocated as needed: touching fresh memory can cost more than
 * computing the values. So a row gets fresh memory only after as much has been spent on recomputing
 * it as that costs (rent or buy), unless rows are expensive or all of them are small. A row is
 * replaced if it was not used in the last few calls (found by a clock hand), so that a working set
 * larger than the cache does not flush it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/cache.h"

#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "linalg/tiles.h"

enum {
    SLAB_BYTES = 8 << 20,
    LEAST_SLABS = 8,
    FRESH_CALLS = 3,
    CHUNK = 2048,
    OFTEN = 255,
    EXPENSIVE = 4
};

/* The costs compared: nanoseconds for touching a byte for the first time (0.3 to 2.5 were
 * measured), for one unit of mcr_gram_work, and for a value that is read again. Used before any row
 * is recomputed: DEAR_BYTES, if rows cost nearly as much to compute as to store, and FREE_BYTES, if
 * all rows fit there. */
#define TOUCH_COST 1.5
#define WORK_COST  0.02
#define READ_COST  0.15
#define FREE_BYTES (1 << 20)
#define DEAR_BYTES (96 << 20)

typedef struct slot {
    int64_t row;  /* of x; -1: empty */
    int64_t used; /* the call that used it last */
} slot;

struct mcr_cache {
    mcr *ctx;
    mcr_gram *gram;
    const mcr_tile_kit *kit;
    bool precise;
    int64_t rows;      /* of x */
    int64_t ld;        /* reals of a stored row */
    int64_t slab_rows; /* rows of a slab */
    size_t bytes, taken;
    char **slab;
    int64_t slabs, most_slabs;
    slot *slot;
    int64_t slots, most_slots; /* in use; possible */
    int64_t hand, call;
    int32_t *where; /* row of x -> slot, -1 */
    int64_t computed, found;
    unsigned char *made; /* row of x -> how often it was computed and worth keeping, up to OFTEN */
    int rent;            /* so often pays for fresh memory; more than OFTEN: never */
    /* one call's lists */
    int64_t *miss;
    double *miss_coef, *hit_coef;
    void **hit, **place;
    int64_t capacity;
};

/* ---- layout -----------------------------------------------------------------------------------*/

static void *slot_at(const mcr_cache *c, int64_t s)
{
    return c->slab[s / c->slab_rows] + (size_t)(s % c->slab_rows * c->ld) * (size_t)c->kit->bytes;
}

/* Row length for the Gram's columns, and how many rows go into a slab and into the cache. A stride
 * of a multiple of 4 KiB would put all rows into the same cache sets. */
static void lay_out(mcr_cache *c)
{
    int64_t n = mcr_gram_cols(c->gram);
    c->ld = (n + MCR_ROW_PAD - 1) / MCR_ROW_PAD * MCR_ROW_PAD;
    if ((size_t)c->ld * (size_t)c->kit->bytes % 4096 == 0)
        c->ld += MCR_ROW_PAD;
}

static void forget(mcr_cache *c)
{
    for (int64_t s = 0; s < c->slots; s++)
        if (c->slot[s].row >= 0)
            c->where[c->slot[s].row] = -1;
    c->slots = c->hand = 0;
}

static void free_slabs(mcr_cache *c)
{
    mcr_free_each(c->ctx, c->slab, c->slabs);
    mcr_free(c->ctx, c->slot);
    mcr_budget_give(c->ctx, c->taken);
    c->slab = NULL;
    c->slot = NULL;
    c->slabs = c->slots = c->hand = 0;
    c->taken = 0;
}

static mcr_status plan_slabs(mcr_cache *c)
{
    size_t row = (size_t)c->ld * (size_t)c->kit->bytes;
    size_t most = c->bytes, left = mcr_budget_left(c->ctx);
    if (most > left)
        most = left;
    int64_t fit = (int64_t)(most / row);
    if (fit > c->rows)
        fit = c->rows;
    c->slab_rows = (int64_t)((most / LEAST_SLABS < SLAB_BYTES ? most / LEAST_SLABS : SLAB_BYTES) /
                             row);
    if (c->slab_rows < 1)
        c->slab_rows = 1;
    if (c->slab_rows > fit && fit > 0)
        c->slab_rows = fit;
    c->most_slabs = fit / c->slab_rows;
    double saved = fmax(WORK_COST * mcr_gram_work(c->gram) - READ_COST, 0);
    c->rent = (int)fmin(1 + TOUCH_COST * (double)c->kit->bytes / saved, OFTEN + 1);
    c->most_slots = c->most_slabs * c->slab_rows;
    c->slab = mcr_alloc_zero(c->ctx, (size_t)c->most_slabs, sizeof *c->slab);
    c->slot = mcr_alloc_zero(c->ctx, (size_t)c->most_slots, sizeof *c->slot);
    return c->slab && c->slot ? MCR_OK : MCR_NO_MEMORY;
}

mcr_status mcr_cache_open(mcr_cache **out, mcr_gram *gram, size_t bytes, bool precise)
{
    *out = NULL;
    mcr *ctx = mcr_gram_context(gram);
    mcr_cache *c = mcr_alloc_zero(ctx, 1, sizeof *c);
    if (!c)
        return MCR_NO_MEMORY;
    const mcr_tiles *tiles = mcr_tiles_best();
    c->ctx = ctx;
    c->gram = gram;
    c->kit = precise ? tiles->f64 : tiles->f32;
    c->precise = precise;
    c->rows = mcr_gram_rows(gram);
    c->bytes = bytes;
    lay_out(c);
    mcr_status s = MCR_NO_MEMORY;
    c->where = mcr_alloc(ctx, (size_t)c->rows, sizeof *c->where);
    c->made = mcr_alloc_zero(ctx, (size_t)c->rows, 1);
    if (c->where && c->made) {
        memset(c->where, 0xff, sizeof *c->where * (size_t)c->rows);
        s = plan_slabs(c);
    }
    if (s)
        mcr_cache_close(c);
    else
        *out = c;
    return s;
}

void mcr_cache_close(mcr_cache *c)
{
    if (!c)
        return;
    free_slabs(c);
    mcr_free_all(c->ctx, c->where, c->made, c->miss, c);
}

/* ---- finding space ----------------------------------------------------------------------------*/

/* Allocates one more slab if the budget and the allocator allow it. */
static bool grow(mcr_cache *c)
{
    size_t bytes = (size_t)(c->slab_rows * c->ld) * (size_t)c->kit->bytes;
    if (c->slabs == c->most_slabs || mcr_budget_left(c->ctx) < bytes)
        return false;
    if (mcr_budget_take(c->ctx, bytes, "kernel rows"))
        return false;
    c->slab[c->slabs] = mcr_alloc(c->ctx, bytes, 1);
    if (!c->slab[c->slabs]) {
        mcr_budget_give(c->ctx, bytes);
        return false;
    }
    c->taken += bytes;
    c->slabs++;
    return true;
}

/* Whether the row may take memory that was not used before. */
static bool has_paid(const mcr_cache *c, int64_t row)
{
    size_t each = (size_t)c->ld * (size_t)c->kit->bytes;
    bool small = (size_t)c->rows * each <= FREE_BYTES;
    return c->made[row] >= c->rent || small ||
           (c->rent <= EXPENSIVE && (size_t)(c->slots + 1) * each <= DEAR_BYTES);
}

/* A slot for a new row, -1: none. */
static int64_t find_slot(mcr_cache *c, int64_t row)
{
    if (has_paid(c, row) && (c->slots < c->slabs * c->slab_rows || grow(c)))
        return c->slots++;
    for (int64_t tries = 0; tries < c->slots; tries++) {
        int64_t s = c->hand;
        c->hand = s + 1 < c->slots ? s + 1 : 0;
        if (c->slot[s].used <= c->call - FRESH_CALLS) {
            if (c->slot[s].row >= 0)
                c->where[c->slot[s].row] = -1;
            return s;
        }
    }
    return -1;
}

static void settle(mcr_cache *c, int64_t s, int64_t row)
{
    c->slot[s] = (slot){row, c->call};
    c->where[row] = (int32_t)s;
}

static mcr_status make_lists(mcr_cache *c, int64_t count)
{
    if (count <= c->capacity)
        return MCR_OK;
    size_t capacity = (size_t)(count + count / 2);
    mcr_free(c->ctx, c->miss);
    bool made = mcr_alloc_arrays(c->ctx, MCR_ARRAY(c->miss, capacity), /* the block to free */
                                 MCR_ARRAY(c->miss_coef, capacity),
                                 MCR_ARRAY(c->hit_coef, capacity), MCR_ARRAY(c->hit, capacity),
                                 MCR_ARRAY(c->place, capacity)) != NULL;
    c->capacity = made ? (int64_t)capacity : 0;
    return made ? MCR_OK : MCR_NO_MEMORY;
}

/* ---- accumulate -------------------------------------------------------------------------------*/

typedef struct update_job {
    const mcr_cache *cache;
    int64_t hits;
    double *f;
} update_job;

static mcr_status update_chunk(void *arg, int64_t first, int64_t end)
{
    const update_job *job = arg;
    const mcr_cache *c = job->cache;
    c->kit->update(job->f, (const void *const *)c->hit, c->hit_coef, job->hits, first, end);
    return MCR_OK;
}

mcr_status mcr_cache_accumulate(mcr_cache *c, mcr_rows x, int64_t keep, const double *coef,
                                double *f)
{
    if (x.count == 0)
        return MCR_OK;
    mcr_status s = make_lists(c, x.count);
    if (s)
        return s;
    c->call++;
    int64_t hits = 0, kept = 0, misses = 0, n = mcr_gram_cols(c->gram);
    for (int64_t i = 0; i < x.count; i++) {
        int64_t at = c->where[mcr_rows_at(x, i)];
        if (at < 0)
            continue;
        c->slot[at].used = c->call;
        c->hit[hits] = slot_at(c, at);
        c->hit_coef[hits++] = coef[i];
    }
    for (int64_t i = 0; i < keep; i++) {
        int64_t r = mcr_rows_at(x, i);
        if (c->where[r] < 0 && c->made[r] < OFTEN)
            c->made[r]++;
    }
    /* Misses that are worth keeping and for which there is space, then the others. */
    for (int64_t i = 0; i < keep; i++) {
        int64_t r = mcr_rows_at(x, i);
        if (c->where[r] >= 0)
            continue;
        int64_t at = find_slot(c, r);
        if (at < 0)
            break;
        settle(c, at, r);
        c->miss[kept] = r;
        c->miss_coef[kept] = coef[i];
        c->place[kept++] = slot_at(c, at);
    }
    misses = kept;
    for (int64_t i = 0; i < x.count; i++) {
        int64_t r = mcr_rows_at(x, i);
        if (c->where[r] >= 0)
            continue;
        c->miss[misses] = r;
        c->miss_coef[misses++] = coef[i];
    }
    c->computed += misses;
    c->found += hits;
    if (hits) {
        update_job job = {c, hits, f};
        s = mcr_parallel_chunks(c->ctx, n, CHUNK, update_chunk, &job);
    }
    mcr_gram_pass pass = {.x = {c->miss, 0, kept},
                          .precise = c->precise,
                          .row = c->place,
                          .coef = c->miss_coef,
                          .f = f,
                          .outputs = 1};
    if (!s)
        s = mcr_gram_rows_pass(c->gram, &pass);
    if (s) {
        forget(c);
        return s;
    }
    pass.x = (mcr_rows){c->miss + kept, 0, misses - kept};
    pass.row = NULL;
    pass.coef = c->miss_coef + kept;
    return mcr_gram_rows_pass(c->gram, &pass);
}

/* ---- another Gram -----------------------------------------------------------------------------*/

typedef struct narrow_job {
    const mcr_cache *cache;
    const int64_t *keep;
    int64_t count;
} narrow_job;

static mcr_status narrow_row(void *arg, int64_t item, int worker)
{
    (void)worker;
    const narrow_job *job = arg;
    void *row = slot_at(job->cache, item);
    if (job->cache->precise) {
        double *k = row;
        for (int64_t j = 0; j < job->count; j++)
            k[j] = k[job->keep[j]];
    } else {
        float *k = row;
        for (int64_t j = 0; j < job->count; j++)
            k[j] = k[job->keep[j]];
    }
    return MCR_OK;
}

/* The rows stay in place, with their old stride: the space after them is not used until the next
 * reset. */
mcr_status mcr_cache_narrow(mcr_cache *c, mcr_gram *gram, const int64_t *keep)
{
    c->gram = gram;
    narrow_job job = {c, keep, mcr_gram_cols(gram)};
    return mcr_parallel(c->ctx, c->slots, narrow_row, &job);
}

mcr_status mcr_cache_reset(mcr_cache *c, mcr_gram *gram)
{
    forget(c);
    int64_t ld = c->ld;
    c->gram = gram;
    lay_out(c);
    if (c->ld <= ld) {
        c->ld = ld;
        return MCR_OK;
    }
    free_slabs(c);
    return plan_slabs(c);
}

/* ---- checkpoints ------------------------------------------------------------------------------*/

/* The slabs and the rows in them, after their lists were read. */
static mcr_status make_rows(mcr_cache *c, int64_t slabs)
{
    enum { BATCH = 256 };
    size_t bytes = (size_t)(c->slab_rows * c->ld) * (size_t)c->kit->bytes;
    mcr_status s = mcr_budget_take(c->ctx, bytes * (size_t)slabs, "kernel rows");
    c->taken = s ? 0 : bytes * (size_t)slabs;
    for (; c->slabs < slabs && !s; c->slabs++)
        if (!(c->slab[c->slabs] = mcr_alloc(c->ctx, bytes, 1)))
            return MCR_NO_MEMORY;
    for (int64_t first = 0; first < c->slots && !s; first += BATCH) {
        int64_t object[BATCH], count = 0;
        void *row[BATCH];
        for (int64_t i = first; i < c->slots && i < first + BATCH; i++)
            if (c->slot[i].row >= 0) {
                object[count] = c->slot[i].row;
                row[count++] = slot_at(c, i);
            }
        s = mcr_gram_rows_pass(
            c->gram, &(mcr_gram_pass){.x = {object, 0, count}, .precise = c->precise, .row = row});
    }
    return s;
}

/* Whether what was read can be. */
static bool is_sound(const mcr_cache *c, int64_t slabs)
{
    bool sound = slabs >= 0 && slabs <= c->most_slabs && c->slots >= 0 &&
                 c->slots <= slabs * c->slab_rows && c->hand >= 0 && c->hand <= c->slots &&
                 c->ld >= mcr_gram_cols(c->gram);
    for (int64_t s = 0; s < c->slots && sound; s++)
        sound = c->slot[s].row >= -1 && c->slot[s].row < c->rows;
    return sound;
}

mcr_status mcr_cache_walk(mcr_cache *c, mcr_gram *gram, mcr_walk *w)
{
    int64_t slabs = c->slabs, number[] = {c->slots, c->hand, c->call, c->computed, c->found};
    mcr_walk_same(w, c->ld);
    mcr_walk_same(w, c->slab_rows);
    mcr_walk_same(w, c->most_slabs);
    MCR_WALK(w, slabs);
    MCR_WALK(w, number);
    if (w->reads && !w->status && (number[0] < 0 || number[0] > c->most_slots))
        mcr_walk_refuse(w);
    if (w->status)
        return w->status;
    mcr_walk_bytes(w, c->slot, sizeof *c->slot * (size_t)number[0]);
    mcr_walk_bytes(w, c->made, (size_t)c->rows);
    if (!w->reads || w->status)
        return w->status;
    c->gram = gram;
    c->slots = number[0];
    c->hand = number[1];
    c->call = number[2];
    c->computed = number[3];
    c->found = number[4];
    if (!is_sound(c, slabs)) {
        c->slots = 0;
        return mcr_walk_refuse(w);
    }
    for (int64_t s = 0; s < c->slots; s++)
        if (c->slot[s].row >= 0)
            c->where[c->slot[s].row] = (int32_t)s;
    return make_rows(c, slabs);
}

void mcr_cache_counts(const mcr_cache *c, int64_t *computed, int64_t *found)
{
    *computed = c->computed;
    *found = c->found;
}
