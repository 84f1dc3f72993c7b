/* smo_rows.c: rows of K that are computed when they are first used, if the working set is
 * everything.
 *
 * An easy problem needs few rows: those of its support vectors and of other coefficients that were
 * tried. Each is one pass over the columns; it is stored after the previous row, so that little
 * memory is touched and the rows in use stay in the caches. If many rows have been computed, the
 * remaining ones are likely to be needed: then all of K is computed at once, by all workers.
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

/* All of K at once: from one row in MANY_SHARE on, looked at every LOOK_EVERY rows. */
enum { MANY_SHARE = 8, LOOK_EVERY = 16 };
/* The violation stays near its first value as long as objects find their places, and falls when few
 * rows are still to come: below this share of the first, single rows are less work. */
#define FALLEN 0.1

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

/* All of K at once. Rows that were made before stay where they are. */
static mcr_status make_all(mcr_smo *s)
{
    int64_t n = s->n, ld = s->block.ld;
    if (!(s->k = mcr_alloc(s->ctx, (size_t)n, (size_t)ld * s->real)))
        return MCR_NO_MEMORY;
    mcr_status st = mcr_gram_matrix_quietly(s->full, s->k, ld, s->precise);
    for (int64_t v = 0; v < n && !st; v++) {
        char *row = s->k + (size_t)(v * ld) * s->real;
        memset(row + (size_t)n * s->real, 0, (size_t)(ld - n) * s->real);
        if (!s->block.row[v])
            s->block.row[v] = row;
    }
    s->result->rows += n;
    return st;
}

static double get_real(const mcr_smo *s, const void *array, int64_t at)
{
    return s->precise ? ((const double *)array)[at] : (double)((const float *)array)[at];
}

/* The violation in group t of the working set, as the inner solver has it now. */
static double current_violation(const mcr_smo *s, int t)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t m = 0; m < s->block.members; m++) {
        double g = get_real(s, s->block.g, m);
        low = fmin(low, g + get_real(s, s->block.up[t], m));
        high = fmax(high, g + get_real(s, s->block.down[t], m));
    }
    return high - low;
}

/* Whether one more row makes all of K worth its work. */
static bool wants_all(mcr_smo *s)
{
    if (s->p->pool || ++s->single_rows * MANY_SHARE <= s->n || s->single_rows % LOOK_EVERY)
        return false;
    double first = 0, now = 0;
    for (int t = 0; t < s->groups; t++) {
        first = fmax(first, s->high[t] - s->low[t]);
        now = fmax(now, current_violation(s, t));
    }
    return now > FALLEN * first;
}

/* The inner solver cannot fail in the middle: it continues with zeros, and its result is
 * discarded. */
static void make_row(void *arg, int64_t member)
{
    mcr_smo *s = arg;
    mcr_status st = s->row_status;
    if (!st)
        st = wants_all(s) ? make_all(s) : make_rows(s, &member, 1);
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
    s->single_rows = 0;
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
