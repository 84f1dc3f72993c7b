/* smo_certify.c: the gradient for the certificate.
 *
 * During the rounds the gradient comes from float kernel values. Their rounding has a bound
 * (mcr_gram_error), but it is a worst case and often large beside the tolerance. So at the end
 * everything that it could affect is recomputed in double: the gradient of all non-zero
 * coefficients, which is part of both objectives, and the gradient of those at 0 that could
 * determine the violation, the bias or a loss. The others are farther from that than their error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <string.h>

#include "solve/smo_impl.h"

/* Double values take about so many times as long as float ones. */
#define DOUBLE_COST 2.0

enum { BATCH = 4096 }; /* rows of one pass: its columns are packed once for all of them */

mcr_status mcr_smo_count_error(mcr_smo *s, mcr_gram *gram)
{
    mcr_error r;
    mcr_status st = mcr_gram_error(gram, s->precise, &r);
    if (!st)
        s->rough = (mcr_error){fmax(s->rough.absolute, r.absolute),
                               fmax(s->rough.relative, r.relative)};
    return st;
}

/* Space for what is computed, and what is known of it. */
typedef struct check {
    int64_t support, zeros; /* coefficients that are not 0, that are */
    int64_t above;          /* 0 */
    int64_t sure;           /* of list_doubtful */
    int64_t *object;        /* those above 0 first, then those below, then those at 0 */
    double *coef;           /* of all of these, and the absolute values of the first two kinds */
    double *f;              /* sums of two outputs */
    double size;            /* of the coefficients, each times the root of K(x,x) */
} check;

/* ---- which coefficients at 0 matter -----------------------------------------------------------*/

/* For each group: a slope up below, or down above, could matter. */
typedef struct limits {
    double up[2], down[2];
} limits;

/* The extremes of the plainest problems, without a branch. */
static void find_extremes(const mcr_smo *s, double *low_out, double *high_out)
{
    const double *restrict g = s->g, *restrict z = s->p->z, *restrict b = s->b;
    const double *restrict lo = s->p->lo, *restrict hi = s->p->hi, *restrict error = s->error;
    double low = *low_out, high = *high_out;
    for (int64_t v = 0; v < s->n; v++) {
        double slope = g[v] - z[v];
        double up = b[v] < hi[v] ? slope + error[v] : INFINITY;
        double down = b[v] > lo[v] ? slope - error[v] : -INFINITY;
        low = up < low ? up : low;
        high = down > high ? down : high;
    }
    *low_out = low;
    *high_out = high;
}

/* The lowest slope up is not above `low`, the highest slope down not below `high`. The bias lies
 * between the slopes of free coefficients, or in the middle of these two. Once no object that errs
 * is within the limits, both are slopes without an error, and the limits are final. */
static limits find_limits(const mcr_smo *s)
{
    double low[2], high[2];
    limits of;
    for (int t = 0; t < 2; t++) {
        low[t] = s->p->no_sum ? 0 : INFINITY;
        high[t] = s->p->no_sum ? 0 : -INFINITY;
    }
    if (mcr_smo_is_plain(s))
        find_extremes(s, &low[0], &high[0]);
    for (int64_t v = 0; v < s->n && !mcr_smo_is_plain(s); v++) {
        int t = mcr_smo_group(s, v);
        double up = mcr_smo_slope_up(s, v, s->g[v]) + s->error[v];
        double down = mcr_smo_slope_down(s, v, s->g[v]) - s->error[v];
        low[t] = up < low[t] ? up : low[t];
        high[t] = down > high[t] ? down : high[t];
    }
    for (int t = 0; t < 2; t++) {
        of.up[t] = fmax(low[t], high[t]);
        of.down[t] = fmin(low[t], high[t]);
    }
    return of;
}

/* Brings the objects at 0 whose gradient errs and could matter to the front; returns how many there
 * are. c->sure: how many of them matter however small the error is. */
static int64_t list_doubtful(const mcr_smo *s, check *c)
{
    int64_t count = 0, *zero = c->object + c->support;
    limits of = find_limits(s);
    c->sure = 0;
    for (int64_t i = 0; i < c->zeros; i++) {
        int64_t v = zero[i];
        if (s->error[v] == 0)
            continue;
        int t = mcr_smo_group(s, v);
        double up = mcr_smo_slope_up(s, v, s->g[v]), down = mcr_smo_slope_down(s, v, s->g[v]);
        if (up - s->error[v] > of.up[t] && down + s->error[v] < of.down[t])
            continue;
        c->sure += (up < of.up[t] || down > of.down[t]) && s->error[v] < INFINITY;
        zero[i] = zero[count];
        zero[count++] = v;
    }
    return count;
}

/* The error of a sum of values, from their sum with the absolute values of the coefficients. Values
 * that float cannot hold have become 0. */
static double of_sum(double relative, double sum, double size)
{
    return 1.1 * relative * sum + (double)FLT_MIN * size;
}

/* ---- computing --------------------------------------------------------------------------------*/

static mcr_status open_check(mcr_smo *s, check *c)
{
    size_t n = (size_t)s->n;
    *c = (check){0};
    if (!mcr_alloc_arrays(s->ctx, MCR_ARRAY(c->object, n), /* the block to free */
                          MCR_CLEARED(c->coef, 2 * n), MCR_ARRAY(c->f, 2 * (n + MCR_ROW_PAD))))
        return MCR_NO_MEMORY;
    for (int64_t v = 0; v < s->n; v++) {
        c->above += s->b[v] > 0;
        c->support += s->b[v] != 0;
    }
    c->zeros = s->n - c->support;
    int64_t at[3] = {0, c->above, c->support};
    for (int64_t v = 0; v < s->n; v++)
        c->object[at[s->b[v] > 0 ? 0 : s->b[v] < 0 ? 1 : 2]++] = v;
    for (int64_t i = 0; i < c->support; i++) {
        c->coef[i] = s->b[c->object[i]];
        c->coef[s->n + i] = fabs(c->coef[i]);
        c->size += fabs(c->coef[i]) * mcr_smo_length(s, c->object[i]);
    }
    return MCR_OK;
}

/* g of the coefficients that are not 0, and of `more` objects at 0, in double. */
static mcr_status compute_support(mcr_smo *s, check *c, int64_t more)
{
    int64_t count = c->support + more;
    mcr_status st = mcr_gram_sums(s->full, (mcr_rows){c->object, 0, count}, true, c->coef, c->f);
    for (int64_t i = 0; i < count && !st; i++) {
        s->g[c->object[i]] = c->f[i];
        s->error[c->object[i]] = 0;
    }
    return st;
}

/* g of the first `count` objects at 0. With float values the second output, sums with the absolute
 * values of the coefficients, gives the errors. */
static mcr_status compute_zeros(mcr_smo *s, check *c, int64_t count, bool precise)
{
    const int64_t *zero = c->object + c->support, ld = count + MCR_ROW_PAD;
    mcr_error r = s->rough;
    int outputs = !precise && isfinite(r.relative) ? 2 : 1;
    mcr_status st = MCR_OK;
    memset(c->f, 0, sizeof *c->f * (size_t)ld * (size_t)outputs);
    for (int64_t i = 0; i < c->support && !st; i += BATCH)
        st = mcr_gram_rows_pass(
            s->full, &(mcr_gram_pass){
                         .x = mcr_rows_part((mcr_rows){c->object, 0, c->support}, i, BATCH),
                         .z = {zero, 0, count},
                         .precise = precise,
                         .coef = c->coef + i,
                         .f = c->f,
                         .outputs = outputs,
                         .coef_ld = s->n,
                         .f_ld = ld,
                     });
    for (int64_t i = 0; i < count && !st; i++) {
        double error = r.absolute * c->size * mcr_smo_length(s, zero[i]);
        s->g[zero[i]] = c->f[i];
        if (outputs == 2)
            error = fmin(error, of_sum(r.relative, c->f[ld + i], c->size));
        s->error[zero[i]] = precise ? 0 : error;
    }
    return st;
}

/* The first `count` objects at 0 in double, then those that matter now that these are known. */
static mcr_status compute_doubtful(mcr_smo *s, check *c, int64_t count)
{
    mcr_status st = MCR_OK;
    while (count > 0 && !st) {
        st = compute_zeros(s, c, count, true);
        count = st ? 0 : list_doubtful(s, c);
    }
    return st;
}

/* ---- the two cases ----------------------------------------------------------------------------*/

/* All of K is there in float: fresh sums of it, those of coefficients above 0 and of those below
 * apart. Their difference is g, their sum bounds its error. */
static mcr_status check_stored(mcr_smo *s, check *c)
{
    mcr_error r = s->rough;
    const double *size = c->coef + s->n;
    bool relative = isfinite(r.relative);
    double *above = c->f, *below = c->f + s->n + MCR_ROW_PAD;
    memset(c->f, 0, sizeof *c->f * 2 * (size_t)(s->n + MCR_ROW_PAD));
    mcr_status st = mcr_smo_add_stored(s, c->object, size, c->above, above);
    if (!st)
        st = mcr_smo_add_stored(s, c->object + c->above, size + c->above, c->support - c->above,
                                below);
    for (int64_t v = 0; v < s->n && !st; v++) {
        double error = r.absolute * c->size * mcr_smo_length(s, v);
        double other = relative ? of_sum(r.relative, above[v] + below[v], c->size) : INFINITY;
        s->g[v] = above[v] - below[v];
        s->error[v] = other < error ? other : error;
    }
    int64_t count = st ? 0 : isfinite(r.absolute) ? list_doubtful(s, c) : c->zeros;
    /* Few of them cost little more where the others are symmetric. */
    bool apart = count > c->support;
    if (!st)
        st = compute_support(s, c, apart ? 0 : count);
    if (!st && !apart)
        count = list_doubtful(s, c);
    return st ? st : compute_doubtful(s, c, count);
}

/* g comes from many float rows. Those at 0: in double where it matters, by the gradient as it
 * stands or, where those are many, by fresh sums of them in float, which err less. */
static mcr_status check_running(mcr_smo *s, check *c)
{
    int64_t count = c->zeros;
    mcr_status st = compute_support(s, c, 0);
    for (int64_t i = 0; i < c->zeros && !st; i++) {
        int64_t v = c->object[c->support + i];
        s->error[v] += s->rough.absolute * s->moved * mcr_smo_length(s, v);
    }
    if (!st && isfinite(s->rough.absolute)) {
        count = list_doubtful(s, c);
        if (DOUBLE_COST * (double)(count - c->sure) > (double)c->zeros) {
            st = compute_zeros(s, c, count, false);
            count = st ? 0 : list_doubtful(s, c);
        }
    }
    return st ? st : compute_doubtful(s, c, count);
}

/* Used if no bound on the rounding of kernel values is known. */
#define UNKNOWN_ERROR 1e-12

/* Where rounding in double hides more than so large a share of the tolerance, the gradient is
 * computed in extended precision. */
#define DOUBT 0.01

/* The gradient once more, in extended precision, and its remaining error. */
static mcr_status extend_gradient(mcr_smo *s, double size)
{
    double *f = mcr_alloc(s->ctx, 2 * (uint64_t)s->n, sizeof *f), largest = 0, sum = 0;
    mcr_extended to = {.n = s->n, .outputs = 1, .a = s->b, .f = f, .low = f ? f + s->n : NULL};
    mcr_status st = f ? mcr_gram_extended(s->full, &to) : MCR_NO_MEMORY;
    if (!st && isfinite(to.share)) {
        for (int64_t v = 0; v < s->n; v++) {
            s->g[v] = f[v];
            largest = fmax(largest, fabs(f[v]));
            sum += fabs(s->b[v] * f[v]);
        }
        s->result->violation = mcr_smo_look(s);
        s->result->square_error = to.share * size * size + DBL_EPSILON * sum;
        s->result->violation_error = 2 *
                                     (to.share * size * sqrt(s->largest) + DBL_EPSILON * largest);
    }
    mcr_free(s->ctx, f);
    return st;
}

/* What rounding in double may change in the end. */
mcr_status mcr_smo_final_error(mcr_smo *s)
{
    double size = 0, count = 0;
    mcr_error r = {0};
    mcr_status st = mcr_gram_error(s->full, true, &r);
    for (int64_t v = 0; v < s->n; v++)
        if (s->b[v] != 0) {
            size += fabs(s->b[v]) * mcr_smo_length(s, v);
            count++;
        }
    double share = (isfinite(r.absolute) ? r.absolute : UNKNOWN_ERROR) + 0.5 * DBL_EPSILON * count;
    s->result->size = size;
    s->result->largest = s->largest;
    s->result->square_error = share * size * size;
    s->result->violation_error = 2 * share * size * sqrt(s->largest);
    if (!st && s->active == s->n && s->result->violation_error > DOUBT * s->p->tolerance)
        st = extend_gradient(s, size);
    return st;
}

mcr_status mcr_smo_exact_gradient(mcr_smo *s)
{
    if (s->precise)
        return mcr_smo_fresh_gradient(s);
    check c = {0};
    mcr_smo_bring_back(s);
    mcr_status st = mcr_smo_count_error(s, s->full);
    if (!st)
        st = open_check(s, &c);
    s->result->rows += c.support;
    if (!st)
        st = s->whole ? check_stored(s, &c) : check_running(s, &c);
    s->moved = 0;
    mcr_free(s->ctx, c.object);
    return st;
}
