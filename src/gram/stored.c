/* stored.c: a Gram whose values are in memory.
 *
 * Several trainings share one: the two-class problems of one class against the others, the settings
 * and folds of a search.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/stored.h"

#include <assert.h>
#include <string.h>

#include "base/threads.h"
#include "gram/half.h"
#include "gram/type.h"
#include "linalg/shared.h"

typedef struct stored {
    mcr_gram base;
    mcr_stored m;
    bool owns;       /* m.exact */
    mcr_system kept; /* the matrix, where it is the Gram's own; closed: it is not */
} stored;

static const mcr_gram_type stored_type;

static const stored *as_stored(const mcr_gram *gram)
{
    return gram->type == &stored_type ? (const stored *)gram : NULL;
}

mcr_status mcr_gram_stored(mcr_gram **out, mcr *ctx, const mcr_stored *m)
{
    *out = NULL;
    stored *g = mcr_alloc_zero(ctx, 1, sizeof *g);
    if (!g)
        return MCR_NO_MEMORY;
    assert(!m->exact || mcr_gram_rows(m->exact) == m->n);
    g->base = (mcr_gram){.type = &stored_type,
                         .ctx = ctx,
                         .of = m->exact,
                         .rows = m->n,
                         .cols = m->n,
                         .symmetric = true};
    g->m = *m;
    *out = &g->base;
    return MCR_OK;
}

/* ---- copies -----------------------------------------------------------------------------------*/

void mcr_gram_buffer_free(mcr *ctx, mcr_gram_buffer *b)
{
    mcr_free_all(ctx, b->k, b->diagonal);
    *b = (mcr_gram_buffer){0};
}

size_t mcr_gram_copy_bytes(int64_t n, bool precise)
{
    size_t ld = (size_t)mcr_stored_ld(n);
    return ld * ld * (precise ? sizeof(double) : sizeof(float));
}

mcr_status mcr_gram_copy(mcr_gram **out, mcr_gram *of, bool precise, mcr_gram *exact,
                         mcr_gram_buffer *b)
{
    int64_t n = of->rows, ld = mcr_stored_ld(n);
    size_t bytes = mcr_gram_copy_bytes(n, precise), real = precise ? sizeof(double) : sizeof(float);
    mcr *ctx = of->ctx;
    *out = NULL;
    if (bytes > b->bytes) {
        mcr_gram_buffer_free(ctx, b);
        b->bytes = bytes;
        b->k = mcr_alloc(ctx, bytes, 1);
        b->diagonal = mcr_alloc(ctx, (size_t)ld, sizeof *b->diagonal);
        if (!b->k || !b->diagonal) {
            mcr_gram_buffer_free(ctx, b);
            return MCR_NO_MEMORY;
        }
    }
    mcr_status s = mcr_gram_matrix_quietly(of, b->k, ld, precise);
    for (int64_t i = 0; i < ld && !s; i++) {
        int64_t first = i < n ? n : 0;
        memset((char *)b->k + (size_t)(i * ld + first) * real, 0, (size_t)(ld - first) * real);
    }
    for (int64_t i = 0; i < n && !s; i++)
        b->diagonal[i] = precise ? ((double *)b->k)[i * ld + i]
                                 : (double)((float *)b->k)[i * ld + i];
    return s ? s
             : mcr_gram_stored(out, ctx, &(mcr_stored){n, ld, b->k, precise, b->diagonal, exact});
}

mcr_status mcr_gram_keep(mcr_gram **out, mcr_gram *of, const char *what)
{
    mcr_system k;
    *out = NULL;
    mcr_status s = mcr_system_open(&k, of->ctx, of->rows, what);
    if (!s)
        s = mcr_gram_matrix(of, k.a, k.ld);
    if (!s)
        s = mcr_gram_stored(
            out, of->ctx,
            &(mcr_stored){.n = k.n, .ld = k.ld, .k = k.a, .precise = true, .exact = of});
    if (s)
        mcr_system_close(&k);
    else
        ((stored *)*out)->kept = k;
    return s;
}

static void close_stored(mcr_gram *gram)
{
    stored *g = (stored *)gram;
    mcr_system_close(&g->kept);
    if (g->owns)
        mcr_gram_close(g->m.exact);
    mcr_free(gram->ctx, g);
}

const float *mcr_gram_values(const mcr_gram *gram, int64_t *ld)
{
    const stored *g = as_stored(gram);
    *ld = g ? g->m.ld : 0;
    return g && !g->m.precise ? g->m.k : NULL;
}

const double *mcr_gram_doubles(const mcr_gram *gram, int64_t *ld)
{
    const stored *g = as_stored(gram);
    *ld = g ? g->m.ld : 0;
    return g && g->m.precise ? g->m.k : NULL;
}

bool mcr_gram_is_float(const mcr_gram *gram)
{
    const stored *g = as_stored(gram);
    return g && !g->m.precise && !g->m.exact;
}

/* The Gram that knows the values in double, where that is another. */
static mcr_gram *exact_of(const stored *g, bool precise)
{
    return precise && !g->m.precise ? g->m.exact : NULL;
}

/* ---- values -----------------------------------------------------------------------------------*/

static mcr_status prepare(mcr_gram *gram, bool precise)
{
    mcr_gram *exact = exact_of((const stored *)gram, precise);
    return exact ? mcr_gram_prepare(exact, true) : MCR_OK;
}

static mcr_status prepare_lists(mcr_gram *gram)
{
    mcr_gram *exact = exact_of((const stored *)gram, true);
    return exact ? mcr_gram_prepare_lists(exact) : MCR_OK;
}

/* Values of one row against some columns, in the precision asked for. */
static void read_row(const mcr_stored *m, int64_t row, mcr_rows z, void *to, bool precise)
{
    const double *d = (const double *)m->k + row * m->ld;
    const float *f = (const float *)m->k + row * m->ld;
    if (m->precise == precise && !z.index) {
        size_t real = precise ? sizeof *d : sizeof *f;
        memcpy(to, m->precise ? (const void *)(d + z.first) : (const void *)(f + z.first),
               real * (size_t)z.count);
        return;
    }
    for (int64_t j = 0; j < z.count; j++) {
        int64_t at = mcr_rows_at(z, j);
        mcr_gram_put(to, j, m->precise ? d[at] : (double)f[at], precise);
    }
}

typedef struct block_job {
    const mcr_stored *m;
    mcr_rows x, z;
    char *k;
    int64_t ld;
    bool precise;
} block_job;

enum { CHUNK = 64 }; /* rows that one item reads */

static mcr_status block_chunk(void *arg, int64_t first, int64_t end)
{
    const block_job *job = arg;
    size_t real = job->precise ? sizeof(double) : sizeof(float);
    for (int64_t i = first; i < end; i++)
        read_row(job->m, mcr_rows_at(job->x, i), job->z, job->k + (size_t)(i * job->ld) * real,
                 job->precise);
    return MCR_OK;
}

static mcr_status block(mcr_gram *gram, mcr_rows x, mcr_rows z, void *k, int64_t ld, bool precise)
{
    const stored *g = (const stored *)gram;
    mcr_gram *exact = exact_of(g, precise);
    if (exact)
        return mcr_gram_block_any(exact, x, z, k, ld, precise);
    block_job job = {&g->m, x, z, k, ld, precise};
    return mcr_parallel_chunks(gram->ctx, x.count, CHUNK, block_chunk, &job);
}

static mcr_status diagonal(mcr_gram *gram, int side, double *k)
{
    (void)side; /* both are the same */
    const stored *g = (const stored *)gram;
    if (g->m.exact)
        return mcr_gram_diagonal(g->m.exact, 0, k);
    for (int64_t i = 0; i < gram->rows; i++)
        k[i] = g->m.diagonal  ? g->m.diagonal[i]
               : g->m.precise ? ((const double *)g->m.k)[i * g->m.ld + i]
                              : (double)((const float *)g->m.k)[i * g->m.ld + i];
    return MCR_OK;
}

static mcr_status pass_rows(mcr_gram *gram, const mcr_gram_pass *pass)
{
    mcr_gram *exact = exact_of((const stored *)gram, pass->precise);
    return exact ? mcr_gram_rows_pass(exact, pass) : mcr_gram_blocks_pass(gram, pass);
}

static mcr_status sums(mcr_gram *gram, mcr_rows object, bool precise, const double *v, double *f)
{
    mcr_gram *exact = exact_of((const stored *)gram, precise);
    return exact ? mcr_gram_sums(exact, object, precise, v, f)
                 : mcr_gram_blocks_sums(gram, object, precise, v, f);
}

static mcr_status multiply(mcr_gram *gram, const double *v, int64_t cols, double *kv)
{
    const stored *g = (const stored *)gram;
    mcr_gram *exact = exact_of(g, true);
    if (g->kept.a)
        return mcr_shared_multiply(gram->ctx, gram->rows, g->kept.a, g->kept.ld, v, cols, kv);
    return exact ? mcr_gram_multiply(exact, v, cols, kv)
                 : mcr_gram_blocks_multiply(gram, v, cols, kv);
}

/* ---- parts ------------------------------------------------------------------------------------*/

static mcr_status share(mcr_gram **out, mcr_gram *gram)
{
    const stored *g = (const stored *)gram;
    mcr_stored m = g->m;
    mcr_status s = g->m.exact ? mcr_gram_share(&m.exact, g->m.exact) : MCR_OK;
    if (!s)
        s = mcr_gram_stored(out, gram->ctx, &m);
    if (!s)
        ((stored *)*out)->owns = m.exact != NULL;
    else if (m.exact != g->m.exact)
        mcr_gram_close(m.exact);
    return s;
}

/* Where solvers have reason to compute in double, that costs what it costs there. */
static mcr_status select(mcr_gram **out, mcr_gram *gram, const mcr_rows *x, const mcr_rows *z)
{
    mcr_gram *exact = ((const stored *)gram)->m.exact;
    return exact ? mcr_gram_some(out, exact, x, z) : mcr_gram_list(out, gram, x, z);
}

static const mcr_gram_type stored_type = {
    .close = close_stored,
    .block = block,
    .diagonal = diagonal,
    .rows = pass_rows,
    .share = share,
    .select = select,
    .prepare = prepare,
    .prepare_lists = prepare_lists,
    .multiply = multiply,
    .sums = sums,
};
