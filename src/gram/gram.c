/* gram.c: what all representations of a Gram share: checks, and operations derived from blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/threads.h"
#include "gram/bound.h"
#include "gram/stored.h"
#include "gram/type.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "gram/round.h"

void mcr_gram_close(mcr_gram *g)
{
    if (g)
        g->type->close(g);
}

mcr *mcr_gram_context(const mcr_gram *g)
{
    return g->ctx;
}

int64_t mcr_gram_rows(const mcr_gram *g)
{
    return g->rows;
}

int64_t mcr_gram_cols(const mcr_gram *g)
{
    return g->cols;
}

int mcr_gram_symmetric(const mcr_gram *g)
{
    return g->symmetric;
}

mcr_status mcr_gram_prepare(mcr_gram *g, bool precise)
{
    return g->type->prepare ? g->type->prepare(g, precise)
           : g->of          ? mcr_gram_prepare(g->of, precise)
                            : MCR_OK;
}

mcr_status mcr_gram_prepare_lists(mcr_gram *g)
{
    return g->type->prepare_lists ? g->type->prepare_lists(g) : mcr_gram_prepare(g, true);
}

bool mcr_gram_is_slow(const mcr_gram *g)
{
    return g->type->is_slow ? g->type->is_slow(g) : g->of && mcr_gram_is_slow(g->of);
}

bool mcr_gram_in_panels(const mcr_gram *g)
{
    return g->type->in_panels ? g->type->in_panels(g) : g->of && mcr_gram_in_panels(g->of);
}

bool mcr_gram_is_definite(const mcr_gram *g)
{
    return g->type->is_definite ? g->type->is_definite(g) : g->of && mcr_gram_is_definite(g->of);
}

double mcr_gram_work(const mcr_gram *g)
{
    return g->type->work ? g->type->work(g) : g->of ? mcr_gram_work(g->of) : 1;
}

int64_t mcr_gram_width(const mcr_gram *g)
{
    return g->type->width ? g->type->width(g) : 0;
}

mcr_status mcr_gram_expand(mcr_gram *g, mcr_rows x, const double *v, int64_t cols, double *y)
{
    return g->type->expand(g, x, v, cols, y);
}

mcr_status mcr_gram_project(mcr_gram *g, mcr_rows x, const double *a, int64_t cols, double *u)
{
    mcr_status s = g->type->project(g, x, a, cols, u);
    return s ? s : mcr_gram_total(g, u, mcr_gram_width(g) * cols);
}

/* A symmetric matrix, of which the lower half is transferred, some rows at a time. */
static mcr_status total_square(mcr_gram *g, double *m, int64_t ldm)
{
    enum { NUMBERS = 1 << 20 };
    int64_t p = mcr_gram_width(g), most = p > NUMBERS ? p : NUMBERS;
    double *part = mcr_alloc(g->ctx, (size_t)most, sizeof *part);
    mcr_status s = part ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0, end; i < p && !s; i = end) {
        int64_t count = 0, at = 0;
        for (end = i; end < p && count + end + 1 <= most; end++) {
            memcpy(part + count, m + end * ldm, sizeof *part * (size_t)(end + 1));
            count += end + 1;
        }
        s = mcr_gram_total(g, part, count);
        for (int64_t r = i; r < end && !s; at += ++r)
            for (int64_t c = 0; c <= r; c++)
                m[r * ldm + c] = m[c * ldm + r] = part[at + c];
    }
    mcr_free(g->ctx, part);
    return s;
}

mcr_status mcr_gram_weighted(mcr_gram *g, mcr_rows x, const double *h, double *m, int64_t ldm)
{
    double *ones = h ? NULL : mcr_alloc(g->ctx, (size_t)x.count, sizeof *ones);
    for (int64_t i = 0; i < x.count && ones; i++)
        ones[i] = 1;
    mcr_status s = h || ones ? g->type->weighted(g, x, h ? h : ones, m, ldm) : MCR_NO_MEMORY;
    mcr_free(g->ctx, ones);
    return s || !g->spread ? s : total_square(g, m, ldm);
}

mcr_status mcr_gram_fill_weighted(mcr_gram *g, mcr_system *to, mcr_rows x, const double *h)
{
    mcr_status s = mcr_gram_weighted(g, x, h, to->a, to->ld);
    if (!s)
        mcr_system_filled(to);
    return s;
}

mcr_status mcr_gram_fill_near(mcr_gram *g, mcr_system *to, mcr_rows x, const double *h, double off)
{
    if (!g->type->weighted_near)
        return mcr_gram_fill_weighted(g, to, x, h);
    mcr_status s = g->type->weighted_near(g, x, h, off, to->a, to->ld);
    if (!s && g->spread)
        s = total_square(g, to->a, to->ld);
    if (!s)
        mcr_system_filled(to);
    return s;
}

mcr_status mcr_gram_squares(mcr_gram *g, mcr_rows x, double *square)
{
    return g->type->squares(g, x, square);
}

mcr_status mcr_gram_share(mcr_gram **out, mcr_gram *g)
{
    *out = NULL;
    return g->type->share ? g->type->share(out, g) : mcr_gram_list(out, g, NULL, NULL);
}

mcr_status mcr_gram_some(mcr_gram **out, mcr_gram *g, const mcr_rows *x, const mcr_rows *z)
{
    *out = NULL;
    return (g->type->select ? g->type->select : mcr_gram_list)(out, g, x, z);
}

mcr_status mcr_gram_restrict(mcr_gram **out, mcr_gram *g, mcr_rows z)
{
    return mcr_gram_some(out, g, NULL, &z);
}

mcr_status mcr_gram_select(mcr_gram **out, mcr_gram *g, mcr_rows x, mcr_rows z)
{
    return mcr_gram_some(out, g, &x, &z);
}

mcr_status mcr_gram_select_both(mcr_gram **out, mcr_gram *g, mcr_rows objects)
{
    return mcr_gram_some(out, g, &objects, NULL);
}

mcr_status mcr_gram_extended(mcr_gram *g, mcr_extended *to)
{
    to->share = INFINITY;
    return g->symmetric && g->type->extended ? g->type->extended(g, to) : MCR_OK;
}

mcr_status mcr_gram_error(mcr_gram *g, bool precise, mcr_error *error)
{
    *error = (mcr_error){0};
    return g->type->error ? g->type->error(g, precise, error)
           : g->of        ? mcr_gram_error(g->of, precise, error)
                          : MCR_OK;
}

mcr_status mcr_gram_sums_error(mcr_gram *g, double *share)
{
    mcr_error r = {0, 0};
    double depth = g->type->depth ? g->type->depth(g) : (double)g->rows;
    mcr_status s = mcr_gram_error(g, true, &r);
    double sums = 0.5 * DBL_EPSILON * depth;
    double value = isfinite(r.absolute) ? r.absolute : MCR_UNKNOWN_ERROR;
    sums /= 1 - sums;
    *share = value + sums + value * sums;
    return s;
}

mcr_status mcr_gram_product_error_of(mcr_gram *gram, const double *length, const double *a,
                                     int64_t outputs, double share, double *error)
{
    int64_t n = gram->rows;
    mcr_error r = {0, 0};
    mcr_status s = mcr_gram_error(gram, true, &r);
    double value = isfinite(r.absolute) ? r.absolute : MCR_UNKNOWN_ERROR;
    for (int64_t o = 0; o < outputs && !s; o++) {
        double size = 0, terms = 0;
        for (int64_t i = 0; i < n; i++) {
            size += fabs(a[i * outputs + o]) * length[i];
            terms += a[i * outputs + o] != 0;
        }
        size *= isnan(share) ? value + 0.5 * DBL_EPSILON * terms : share;
        for (int64_t i = 0; i < n; i++)
            error[i * outputs + o] = size * length[i];
    }
    return s;
}

mcr_status mcr_gram_lengths(mcr_gram *gram, double *length)
{
    mcr_status s = mcr_gram_diagonal(gram, 0, length);
    for (int64_t i = 0; i < gram->rows && !s; i++)
        length[i] = sqrt(fabs(length[i]));
    return s;
}

mcr_status mcr_gram_product_error(mcr_gram *gram, const double *a, int64_t outputs, double share,
                                  double *error)
{
    double *length = mcr_alloc(gram->ctx, (size_t)gram->rows, sizeof *length);
    mcr_status s = length ? mcr_gram_lengths(gram, length) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_gram_product_error_of(gram, length, a, outputs, share, error);
    mcr_free(gram->ctx, length);
    return s;
}

mcr_status mcr_gram_diagonal(mcr_gram *g, int side, double *k)
{
    return g->type->diagonal(g, side, k);
}

mcr_status mcr_gram_rows_pass(mcr_gram *g, const mcr_gram_pass *pass)
{
    bool lists = pass->precise && (pass->z.index || (pass->once && mcr_gram_as_bound(g)));
    mcr_status s = lists ? mcr_gram_prepare_lists(g) : mcr_gram_prepare(g, pass->precise);
    if (s || pass->x.count == 0)
        return s;
    return (g->type->rows ? g->type->rows : mcr_gram_blocks_pass)(g, pass);
}

mcr_status mcr_gram_sums(mcr_gram *g, mcr_rows object, bool precise, const double *v, double *f)
{
    return (g->type->sums ? g->type->sums : mcr_gram_blocks_sums)(g, object, precise, v, f);
}

/* ---- blocks and matrices ----------------------------------------------------------------------*/

static mcr_status rows_valid(mcr *ctx, mcr_rows rows, int64_t n, const char *side)
{
    if (rows.count < 0 || (!rows.index && (rows.first < 0 || rows.first > n - rows.count)))
        return mcr_fail(ctx, MCR_BAD_CALL, "gram: rows %lld + %lld of %s, which has %lld",
                        (long long)rows.first, (long long)rows.count, side, (long long)n);
    for (int64_t i = 0; rows.index && i < rows.count; i++)
        if (rows.index[i] < 0 || rows.index[i] >= n)
            return mcr_fail(ctx, MCR_BAD_CALL, "gram: row %lld of %s, which has %lld",
                            (long long)rows.index[i], side, (long long)n);
    return MCR_OK;
}

mcr_status mcr_gram_block_any(mcr_gram *g, mcr_rows x, mcr_rows z, void *k, int64_t ld,
                              bool precise)
{
    mcr_status s = rows_valid(g->ctx, x, g->rows, "x");
    if (!s)
        s = rows_valid(g->ctx, z, g->cols, "z");
    return s || x.count == 0 || z.count == 0 ? s : g->type->block(g, x, z, k, ld, precise);
}

mcr_status mcr_gram_block(mcr_gram *g, mcr_rows x, mcr_rows z, double *k, int64_t ld)
{
    return mcr_gram_block_any(g, x, z, k, ld, true);
}

mcr_status mcr_gram_block_float(mcr_gram *g, mcr_rows x, mcr_rows z, float *k, int64_t ld)
{
    return mcr_gram_block_any(g, x, z, k, ld, false);
}

static mcr_status fill(mcr_gram *g, const mcr_gram_fill *how)
{
    if (g->type->matrix && g->symmetric)
        return g->type->matrix(g, how);
    return mcr_gram_block_any(g, (mcr_rows){NULL, 0, g->rows}, (mcr_rows){NULL, 0, g->cols}, how->k,
                              how->ld, how->precise);
}

mcr_status mcr_gram_matrix(mcr_gram *g, double *k, int64_t ld)
{
    return fill(g, &(mcr_gram_fill){.k = k, .ld = ld, .precise = true, .report = true});
}

mcr_status mcr_gram_matrix_float(mcr_gram *g, float *k, int64_t ld)
{
    return fill(g, &(mcr_gram_fill){.k = k, .ld = ld, .report = true});
}

mcr_status mcr_gram_matrix_quietly(mcr_gram *g, void *k, int64_t ld, bool precise)
{
    return fill(g, &(mcr_gram_fill){.k = k, .ld = ld, .precise = precise});
}

typedef struct scale_job {
    mcr_system *to;
    const double *root;
} scale_job;

static mcr_status scale_row(void *arg, int64_t i, int worker)
{
    (void)worker;
    const scale_job *job = arg;
    double *row = job->to->a + i * job->to->ld;
    for (int64_t j = 0; j < job->to->n; j++)
        row[j] *= job->root[i] * job->root[j];
    return MCR_OK;
}

mcr_status mcr_gram_fill_system(mcr_gram *g, mcr_system *to, const double *root, bool report)
{
    scale_job job = {to, root};
    mcr_status s = fill(
        g, &(mcr_gram_fill){.k = to->a, .ld = to->ld, .precise = true, .report = report});
    if (!s && root)
        s = mcr_parallel(g->ctx, to->n, scale_row, &job);
    if (!s)
        mcr_system_filled(to);
    return s;
}

mcr_status mcr_gram_matrix_until(mcr_gram *g, float *k, int64_t ld, double deadline)
{
    return fill(g, &(mcr_gram_fill){.k = k, .ld = ld, .report = true, .deadline = deadline});
}

mcr_status mcr_gram_multiply(mcr_gram *g, const double *v, int64_t cols, double *kv)
{
    mcr_status s = mcr_gram_prepare(g, true);
    if (s)
        return s;
    return (g->type->multiply ? g->type->multiply : mcr_gram_blocks_multiply)(g, v, cols, kv);
}

mcr_status mcr_gram_multiply_factor(mcr_gram *g, const double *v, int64_t cols, double *kv)
{
    mcr_rows all = mcr_gram_all(g);
    double *u = mcr_alloc(g->ctx, (size_t)mcr_gram_width(g), (size_t)cols * sizeof *u);
    mcr_status s = u ? g->type->project(g, all, v, cols, u) : MCR_NO_MEMORY;
    if (!s)
        s = g->type->expand(g, all, u, cols, kv);
    mcr_free(g->ctx, u);
    return s;
}

mcr_status mcr_gram_means(mcr_gram *g, double *mean, double *total)
{
    int64_t m = mcr_gram_rows(g), n = mcr_gram_cols(g);
    if (m == 0 || n == 0)
        return mcr_fail(g->ctx, MCR_BAD_DATA, "gram: no objects to take the mean of");
    double *ones = mcr_alloc(g->ctx, (size_t)n, sizeof *ones);
    if (!ones)
        return MCR_NO_MEMORY;
    for (int64_t j = 0; j < n; j++)
        ones[j] = 1;
    mcr_status s = mcr_gram_multiply(g, ones, 1, mean);
    mcr_free(g->ctx, ones);
    if (s)
        return s;
    double sum = 0;
    for (int64_t i = 0; i < m; i++) {
        mean[i] /= (double)n;
        sum += mean[i];
    }
    *total = sum / (double)m;
    return MCR_OK;
}

mcr_status mcr_gram_center(mcr *ctx, double *k, int64_t rows, int64_t n, int64_t ld,
                           const double *mean, double total)
{
    if (n <= 0)
        return mcr_fail(ctx, MCR_BAD_CALL, "gram: centring needs at least one column");
    for (int64_t i = 0; i < rows; i++) {
        double *row = k + i * ld, sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += row[j];
        double shift = total - sum / (double)n;
        for (int64_t j = 0; j < n; j++)
            row[j] += shift - mean[j];
    }
    return MCR_OK;
}
