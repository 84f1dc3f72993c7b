/* smo_rows.c: rows of K that are computed when they are first used, if the working set is
 * everything.
 *
 * An easy problem needs few rows: those of its support vectors and of other coefficients that were
 * tried. Each is one pass over the columns; it is stored after the previous row, so that little
 * memory is touched and the rows in use stay in the caches. Computing all of K at once takes longer
 * even where half of the rows are needed: memory that is new has to be cleared.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/smo_rows.h"

#include <math.h>
#include <string.h>

#include "solve/smo_impl.h"

/* ---- memory -----------------------------------------------------------------------------------*/

/* The first chunks are small; the others are large enough for large pages (base/memory.c). */
enum { CHUNK_BYTES = 1 << 18, SMALL_CHUNKS = 2, LARGE_CHUNK = 4 << 20 };

struct mcr_row_pool {
    mcr *ctx;
    char **chunk;
    size_t *bytes; /* of each */
    int64_t chunks, capacity, bytes_capacity;
    size_t row_bytes;
    int64_t at;  /* chunk that is being filled */
    size_t used; /* bytes of it */
};

mcr_status mcr_row_pool_open(mcr_row_pool **out, mcr *ctx)
{
    *out = mcr_alloc_zero(ctx, 1, sizeof **out);
    if (!*out)
        return MCR_NO_MEMORY;
    (*out)->ctx = ctx;
    return MCR_OK;
}

void mcr_row_pool_close(mcr_row_pool *pool)
{
    if (!pool)
        return;
    for (int64_t c = 0; c < pool->chunks; c++)
        mcr_free(pool->ctx, pool->chunk[c]);
    mcr_free_all(pool->ctx, pool->chunk, pool->bytes, pool);
}

void mcr_row_pool_reset(mcr_row_pool *pool, size_t row_bytes)
{
    pool->row_bytes = (row_bytes + 63) / 64 * 64;
    pool->at = 0;
    pool->used = 0;
}

void *mcr_row_pool_take(mcr_row_pool *pool)
{
    while (pool->at < pool->chunks && pool->used + pool->row_bytes > pool->bytes[pool->at]) {
        pool->at++;
        pool->used = 0;
    }
    if (pool->at == pool->chunks) {
        size_t least = pool->chunks < SMALL_CHUNKS ? CHUNK_BYTES : LARGE_CHUNK;
        size_t bytes = pool->row_bytes > least ? pool->row_bytes : least;
        char *chunk;
        if (mcr_reserve(pool->ctx, &pool->chunk, &pool->capacity, pool->chunks + 1, sizeof chunk) ||
            mcr_reserve(pool->ctx, &pool->bytes, &pool->bytes_capacity, pool->chunks + 1,
                        sizeof bytes) ||
            !(chunk = mcr_alloc(pool->ctx, bytes, 1)))
            return NULL;
        pool->chunk[pool->chunks] = chunk;
        pool->bytes[pool->chunks++] = bytes;
    }
    char *row = pool->chunk[pool->at] + pool->used;
    pool->used += pool->row_bytes;
    return row;
}

/* ---- rows -------------------------------------------------------------------------------------*/

/* The listed rows, none of which is there, in one pass. */
static mcr_status make_rows(mcr_smo *s, const int64_t *object, int64_t count)
{
    enum { BATCH = 64 };
    void *row[BATCH];
    mcr_status st = MCR_OK;
    for (int64_t r = 0; r < count && !st; r += BATCH) {
        int64_t rows = count - r < BATCH ? count - r : BATCH;
        for (int64_t i = 0; i < rows && !st; i++)
            if (!(row[i] = mcr_row_pool_take(s->pool)))
                st = MCR_NO_MEMORY;
        if (!st)
            st = mcr_gram_rows_pass(s->full, &(mcr_gram_pass){.x = {object + r, 0, rows},
                                                              .precise = s->precise,
                                                              .row = row,
                                                              .soon = true});
        for (int64_t i = 0; i < rows && !st; i++) {
            memset((char *)row[i] + (size_t)s->n * s->real, 0,
                   (size_t)(s->block.ld - s->n) * s->real);
            s->block.row[object[r + i]] = row[i];
        }
        s->result->rows += rows;
    }
    return st;
}

/* ---- rows ahead -------------------------------------------------------------------------------*/

/* Where one row takes as long as several in a pass, more are made than the one that is needed:
 * those of objects that violate the conditions most, which are likely to be next. */
enum { AHEAD = 12 };

typedef struct extremes {
    double low[2], high[2]; /* slopes of each group: lowest up, highest down */
} extremes;

/* In independent lanes, so that compilers vectorise it. */
#define EXTREMES(real)                                                                             \
    static void extremes_##real(extremes *e, int t, const real *g, const real *up,                 \
                                const real *down, int64_t n)                                       \
    {                                                                                              \
        enum { LANES = MCR_SMO_PAD };                                                              \
        real low[LANES], high[LANES];                                                              \
        for (int l = 0; l < LANES; l++) {                                                          \
            low[l] = (real)INFINITY;                                                               \
            high[l] = (real)-INFINITY;                                                             \
        }                                                                                          \
        for (int64_t m = 0; m < n; m += LANES)                                                     \
            for (int l = 0; l < LANES; l++) {                                                      \
                real u = g[m + l] + up[m + l], d = g[m + l] + down[m + l];                         \
                low[l] = u < low[l] ? u : low[l];                                                  \
                high[l] = d > high[l] ? d : high[l];                                               \
            }                                                                                      \
        e->low[t] = low[0];                                                                        \
        e->high[t] = high[0];                                                                      \
        for (int l = 1; l < LANES; l++) {                                                          \
            e->low[t] = low[l] < e->low[t] ? low[l] : e->low[t];                                   \
            e->high[t] = high[l] > e->high[t] ? high[l] : e->high[t];                              \
        }                                                                                          \
    }
EXTREMES(float)
EXTREMES(double)
#undef EXTREMES

/* Slopes of places that are no members are infinite. */
static extremes find_extremes(const mcr_smo *s)
{
    const mcr_smo_block *k = &s->block;
    extremes e;
    for (int t = 0; t < k->groups; t++)
        if (s->precise)
            extremes_double(&e, t, k->g, k->up[t], k->down[t], k->members);
        else
            extremes_float(&e, t, k->g, k->up[t], k->down[t], k->members);
    return e;
}

/* By how much a step of member m up or down, with the best partner, violates the conditions. */
static double violation_of(const mcr_smo *s, const extremes *e, int64_t m)
{
    const mcr_smo_block *k = &s->block;
    int t = k->groups == 2 ? k->group[m] : 0;
    double g, up, down;
    if (s->precise) {
        g = ((const double *)k->g)[m];
        up = ((const double *)k->up[t])[m];
        down = ((const double *)k->down[t])[m];
    } else {
        g = (double)((const float *)k->g)[m];
        up = (double)((const float *)k->up[t])[m];
        down = (double)((const float *)k->down[t])[m];
    }
    up = e->high[t] - g - up;
    down = g + down - e->low[t];
    return up > down ? up : down;
}

/* Lists the member, and those without a row that violate most; returns how many. */
static int64_t look_ahead(const mcr_smo *s, int64_t member, int64_t list[AHEAD])
{
    double size[AHEAD];
    int64_t count = 1;
    list[0] = member;
    if (!mcr_gram_in_panels(s->full))
        return 1;
    extremes e = find_extremes(s);
    for (int64_t m = 0; m < s->n; m++) {
        double violation = violation_of(s, &e, m);
        if (s->block.row[m] || m == member || !(violation > s->block.tolerance) ||
            (count == AHEAD && violation <= size[AHEAD - 1]))
            continue;
        int64_t at = count < AHEAD ? count++ : AHEAD - 1;
        for (; at > 1 && size[at - 1] < violation; at--) {
            size[at] = size[at - 1];
            list[at] = list[at - 1];
        }
        size[at] = violation;
        list[at] = m;
    }
    return count;
}

/* The inner solver cannot fail in the middle: it continues with zeros, and its result is
 * discarded. */
static void make_row(void *arg, int64_t member)
{
    mcr_smo *s = arg;
    mcr_status st = s->row_status;
    int64_t list[AHEAD];
    if (!st)
        st = make_rows(s, list, look_ahead(s, member, list));
    if (st) {
        s->row_status = st;
        s->block.row[member] = s->block.row[s->slots];
    }
}

mcr_status mcr_smo_open_rows(mcr_smo *s)
{
    /* As a pass over rows writes them. */
    s->block.ld = (s->places + MCR_ROW_PAD - 1) / MCR_ROW_PAD * MCR_ROW_PAD;
    s->block.row = mcr_alloc_zero(s->ctx, (size_t)s->slots + 1, sizeof *s->block.row);
    mcr_status st = s->block.row ? MCR_OK : MCR_NO_MEMORY;
    s->pool = s->p->pool;
    if (!st && !s->pool)
        st = mcr_row_pool_open(&s->pool, s->ctx);
    if (st)
        return st;
    size_t bytes = (size_t)s->block.ld * s->real;
    mcr_row_pool_reset(s->pool, bytes);
    void *null_row = mcr_row_pool_take(s->pool); /* of the null object, too */
    if (!null_row)
        return MCR_NO_MEMORY;
    memset(null_row, 0, bytes);
    s->block.row[s->slots] = null_row;
    s->block.k = null_row;
    s->block.make_row = make_row;
    s->block.arg = s;
    return MCR_OK;
}

void mcr_smo_close_rows(mcr_smo *s)
{
    if (s->pool != s->p->pool)
        mcr_row_pool_close(s->pool);
    mcr_free(s->ctx, s->block.row);
    s->block.row = NULL;
    s->pool = NULL;
}

mcr_status mcr_smo_need_rows(mcr_smo *s, const int64_t *object, int64_t count)
{
    int64_t missing = 0, *list = mcr_alloc(s->ctx, (size_t)count, sizeof *list);
    if (!list)
        return MCR_NO_MEMORY;
    for (int64_t r = 0; r < count; r++)
        if (!s->block.row[object[r]])
            list[missing++] = object[r];
    mcr_status st = s->row_status ? s->row_status : make_rows(s, list, missing);
    mcr_free(s->ctx, list);
    return st;
}
