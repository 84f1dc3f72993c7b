/* factor.c: a Gram that is known by a factor: values, parts, cost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>

#include "gram/factor_impl.h"
#include "gram/stored.h"

static const mcr_gram_type factor_type;

mcr_factor_gram *mcr_gram_as_factor(const mcr_gram *gram)
{
    return gram->type == &factor_type ? (mcr_factor_gram *)gram : NULL;
}

mcr_status mcr_gram_factor(mcr_gram **out, mcr *ctx, const mcr_factor *of)
{
    *out = NULL;
    mcr_factor_gram *g = mcr_alloc_zero(ctx, 1, sizeof *g);
    if (!g) {
        if (of->release)
            of->release(ctx, of->self);
        return MCR_NO_MEMORY;
    }
    g->base = (mcr_gram){
        .type = &factor_type,
        .ctx = ctx,
        .rows = of->n,
        .cols = of->n,
        .symmetric = true,
        .spread = of->spread,
    };
    g->of = *of;
    *out = &g->base;
    return MCR_OK;
}

static void close_factor(mcr_gram *gram)
{
    mcr_factor_gram *g = (mcr_factor_gram *)gram;
    if (g->of.release)
        g->of.release(gram->ctx, g->of.self);
    if (g->owns_kept)
        mcr_free(gram->ctx, (float *)g->kept);
    mcr_budget_give(gram->ctx, g->taken);
    mcr_free_all(gram->ctx, g->made, g->row, g);
}

void mcr_gram_factor_phase(mcr_gram *gram, const char *phase)
{
    mcr_gram_as_factor(gram)->phase = phase;
}

const mcr_factor *mcr_gram_sparse(const mcr_gram *gram)
{
    const mcr_factor_gram *g = mcr_gram_as_factor(gram);
    return g && g->of.start ? &g->of : NULL;
}

static int64_t width(const mcr_gram *gram)
{
    return ((const mcr_factor_gram *)gram)->of.p;
}

/* ---- values -----------------------------------------------------------------------------------*/

/* Rows of x become the columns of a product with the rows of z. */
static mcr_status block(mcr_gram *gram, mcr_rows x, mcr_rows z, void *k, int64_t ld, bool precise)
{
    enum { AT_A_TIME = 64 };
    int64_t p = width(gram), most = x.count < AT_A_TIME ? x.count : AT_A_TIME;
    double *row = mcr_alloc(gram->ctx, (size_t)most, (size_t)p * sizeof *row);
    double *col = mcr_alloc(gram->ctx, (size_t)most, (size_t)p * sizeof *col);
    double *y = mcr_alloc(gram->ctx, (size_t)most, (size_t)z.count * sizeof *y);
    mcr_status s = row && col && y ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < x.count && !s; i += most) {
        mcr_rows some = mcr_rows_part(x, i, most);
        s = mcr_gram_factor_rows(gram, some, row);
        for (int64_t t = 0; t < some.count && !s; t++)
            for (int64_t c = 0; c < p; c++)
                col[c * some.count + t] = row[t * p + c];
        if (!s)
            s = mcr_factor_expand(gram, z, col, some.count, y);
        for (int64_t t = 0; t < some.count && !s; t++)
            for (int64_t j = 0; j < z.count; j++)
                mcr_gram_put(k, (i + t) * ld + j, y[j * some.count + t], precise);
    }
    mcr_free_all(gram->ctx, row, col, y);
    return s;
}

static mcr_status diagonal(mcr_gram *gram, int side, double *k)
{
    (void)side; /* both are the same */
    return mcr_factor_squares(gram, mcr_gram_all(gram), k);
}

int64_t mcr_factor_terms(const mcr_factor_gram *g)
{
    int64_t most = 0;
    if (!g->of.start)
        return g->of.p;
    for (int64_t i = 0; i < g->base.rows; i++) {
        int64_t r = g->of.row ? g->of.row[i] : i, count = g->of.start[r + 1] - g->of.start[r];
        most = count > most ? count : most;
    }
    return most;
}

/* Of a sum of products, against the lengths of both rows. */
static mcr_status error(mcr_gram *gram, bool precise, mcr_error *to)
{
    const mcr_factor_gram *g = (const mcr_factor_gram *)gram;
    double terms = (double)mcr_factor_terms(g) + 1;
    *to = (mcr_error){.absolute = terms * DBL_EPSILON + 2.1 * g->of.error +
                                  (precise ? 0 : (double)FLT_EPSILON)};
    return MCR_OK;
}

/* ---- parts and cost ---------------------------------------------------------------------------*/

/* Some rows of the same source. */
static mcr_status select(mcr_gram **out, mcr_gram *gram, const mcr_rows *x, const mcr_rows *z)
{
    const mcr_factor_gram *g = (const mcr_factor_gram *)gram;
    if (z)
        return mcr_gram_list(out, gram, x, z);
    mcr_rows rows = x ? *x : mcr_gram_all(gram);
    mcr_factor of = g->of;
    of.n = rows.count;
    of.release = NULL;
    mcr_status s = mcr_gram_factor(out, gram->ctx, &of);
    if (s)
        return s;
    mcr_factor_gram *part = (mcr_factor_gram *)*out;
    part->kept = g->kept;
    part->kept_rows = g->kept_rows;
    part->phase = g->phase;
    if (!rows.index && rows.first == 0)
        return MCR_OK;
    part->row = mcr_alloc(gram->ctx, (size_t)rows.count, sizeof *part->row);
    for (int64_t i = 0; i < rows.count && part->row; i++) {
        int64_t at = mcr_rows_at(rows, i);
        part->row[i] = of.row ? of.row[at] : at;
    }
    part->of.row = part->row;
    if (part->row)
        return MCR_OK;
    mcr_gram_close(*out);
    *out = NULL;
    return MCR_NO_MEMORY;
}

static mcr_status share(mcr_gram **out, mcr_gram *gram)
{
    return select(out, gram, NULL, NULL);
}

static double work(const mcr_gram *gram)
{
    const mcr_factor_gram *g = (const mcr_factor_gram *)gram;
    if (g->of.work > 0)
        return g->of.work;
    return mcr_gram_entries(gram) / (double)(gram->rows > 0 ? gram->rows : 1);
}

static bool is_definite(const mcr_gram *gram)
{
    (void)gram;
    return true;
}

static const mcr_gram_type factor_type = {
    .close = close_factor,
    .block = block,
    .diagonal = diagonal,
    .share = share,
    .select = select,
    .error = error,
    .extended = mcr_factor_extended,
    .work = work,
    .multiply = mcr_gram_multiply_factor,
    .is_definite = is_definite,
    .width = width,
    .expand = mcr_factor_expand,
    .project = mcr_factor_project,
    .weighted = mcr_factor_weighted,
    .weighted_near = mcr_factor_weighted_near,
    .squares = mcr_factor_squares,
};
