/* ssk.c: the string subsequence kernel (Lodhi, Saunders, Shawe-Taylor, Cristianini and Watkins, JMLR 2,
 * 2002): common subsequences of exactly p letters, gaps allowed, each occurrence weighted by lambda to
 * the length that it spans, in both strings.
 *
 * One string against several at a time (linalg/subsequence.h); those of similar length together.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "kernel/kernel.h"
#include "linalg/subsequence.h"
#include "linalg/tiles.h"

typedef struct ssk_params {
    int64_t p;
    double lambda;
} ssk_params;

static const mcr_param params[] = {
    {.name = "p",
     .type = MCR_INT,
     .offset = offsetof(ssk_params, p),
     .standard = "3",
     .min = 1,
     .max = MCR_SUBSEQUENCE_MOST,
     .help = "length of the subsequences, in bytes"},
    {.name = "lambda",
     .type = MCR_REAL,
     .offset = offsetof(ssk_params, lambda),
     .standard = "0.5",
     .min = 0,
     .max = 1,
     .help = "weight of each letter that an occurrence spans, above 0; 1: gaps cost nothing"},
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

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    (void)binding;
    const ssk_params *p = mcr_bound_params(bound);
    double mean[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        const mcr_field *f = &bound->field[bound->same ? 0 : side];
        for (int64_t i = 0; i < f->count; i++)
            mean[side] += (double)string_of(bound, bound->same ? 0 : side, i).length /
                          (double)f->count;
    }
    bound->work = 0.5 * (double)p->p * mean[0] * mean[1];
    return MCR_OK;
}

/* Columns of a tile by length, so that lanes end together. */
typedef struct column {
    string text;
    int64_t at; /* in the tile */
} column;

static int by_length(const void *a, const void *b)
{
    const column *x = a, *y = b;
    if (x->text.length != y->text.length)
        return x->text.length < y->text.length ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

typedef struct rooms {
    const mcr_subsequence_kit *kit;
    mcr_subsequence_job job;
    size_t real;
    void *t, *k;
} rooms;

static mcr_status open_rooms(rooms *r, mcr_scratch *scratch, const ssk_params *p, bool precise,
                             int64_t longest)
{
    const mcr_tiles *tiles = mcr_tiles_best();
    size_t letters, cells;
    r->kit = (precise ? tiles->f64 : tiles->f32)->subsequences;
    r->real = precise ? sizeof(double) : sizeof(float);
    r->job = (mcr_subsequence_job){.p = p->p, .lambda = p->lambda};
    if (!mcr_size_mul((size_t)longest + 1, (size_t)r->kit->lanes * r->real, &letters) ||
        !mcr_size_mul(letters, (size_t)p->p, &cells))
        return MCR_NO_MEMORY;
    r->t = mcr_scratch_take(scratch, letters);
    r->job.room = mcr_scratch_take(scratch, cells);
    r->k = mcr_scratch_take(scratch, (size_t)r->kit->lanes * r->real);
    return r->t && r->job.room && r->k ? MCR_OK : MCR_NO_MEMORY;
}

static double result(const rooms *r, int64_t lane)
{
    return r->real == sizeof(double) ? ((const double *)r->k)[lane]
                                     : (double)((const float *)r->k)[lane];
}

static void put(const mcr_tile *tile, int64_t i, int64_t j, double k)
{
    void *row = mcr_tile_row(tile, i);
    if (tile->precise)
        ((double *)row)[j] = k;
    else
        ((float *)row)[j] = (float)k;
}

/* Packs up to a kit's lanes of columns. */
static void pack(rooms *r, const column *c, int64_t count)
{
    r->job.t = r->t;
    r->job.t_length = c[count - 1].text.length;
    for (int64_t l = 0; l < r->kit->lanes; l++)
        r->kit->pack(r->t, r->job.t_length, l, l < count ? c[l].text.bytes : NULL,
                     l < count ? c[l].text.length : 0);
}

static void run(rooms *r, string s)
{
    r->job.s = s.bytes;
    r->job.s_length = s.length;
    r->job.k = r->k;
    r->kit->run(&r->job);
}

static bool is_square(const mcr_bound *bound, const mcr_tile *tile)
{
    return bound->same && !tile->x.index && !tile->z.index && tile->x.first == tile->z.first &&
           tile->x.count == tile->z.count;
}

static mcr_status block(const mcr_bound *bound, const mcr_tile *tile)
{
    const ssk_params *p = mcr_bound_params(bound);
    size_t mark = mcr_scratch_mark(tile->scratch);
    int64_t n = tile->z.count;
    rooms r;
    column *c = mcr_scratch_take(tile->scratch, sizeof *c * (size_t)n);
    mcr_status s = c ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t j = 0; j < n && !s; j++)
        c[j] = (column){string_of(bound, bound->same ? 0 : 1, mcr_rows_at(tile->z, j)), j};
    if (!s && n > 0) {
        qsort(c, (size_t)n, sizeof *c, by_length);
        s = open_rooms(&r, tile->scratch, p, tile->precise != 0, c[n - 1].text.length);
    }
    /* On the diagonal of the matrix: only columns that are not before the row in this order. */
    bool square = is_square(bound, tile);
    for (int64_t first = 0; first < n && !s; first += r.kit->lanes) {
        int64_t count = n - first < r.kit->lanes ? n - first : r.kit->lanes;
        pack(&r, c + first, count);
        for (int64_t i = 0; i < (square ? first + count : tile->x.count); i++) {
            int64_t at = square ? c[i].at : i;
            run(&r, string_of(bound, 0, mcr_rows_at(tile->x, at)));
            for (int64_t l = 0; l < count; l++) {
                put(tile, at, c[first + l].at, result(&r, l));
                if (square)
                    put(tile, c[first + l].at, at, result(&r, l));
            }
        }
    }
    mcr_scratch_release(tile->scratch, mark);
    return s;
}

static mcr_definite definite(const void *values, const mcr_definite *child, int children,
                             const char **rule)
{
    (void)values;
    (void)child;
    (void)children;
    *rule = "an inner product of weighted subsequences";
    return MCR_PSD;
}

const mcr_kernel_type mcr_kernel_ssk = {
    .size = sizeof(mcr_kernel_type),
    .name = "ssk",
    .summary = "subsequences of p letters, with gaps, that two strings have in common",
    .kinds = MCR_STRINGS,
    .params = params,
    .params_size = sizeof(ssk_params),
    .check = check,
    .definite = definite,
    .bind = bind,
    .block = block,
};
