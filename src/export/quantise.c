/* quantise.c: support vectors in eight bits, and the resulting change of the scores.
 *
 * The range of a column is divided into 254 steps; 0 stays 0 if it is in the range. The score of a
 * positive semi-definite kernel is an inner product, f(x) = w.Phi(x) + b, and quantising changes w
 * to w': by Cauchy and Schwarz f changes by at most |w - w'| sqrt(K(x,x)), for any x. |w - w'|^2 is
 * v'Kv over both sets of support vectors, with the coefficients and their negatives in v. The error
 * of float arithmetic is bounded by counting roundings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "export/portable.h"
#include "kernel/built_in.h"
#include "kernel/parts.h"

enum { MOST = 127 };

/* A step of 16 bits, not below x: its products with q are exact in float, fused or not. */
static double short_step(double x)
{
    int e = 0;
    double m = frexp(x, &e);
    return ldexp(ceil(ldexp(m, 16)), e - 16);
}

static void quantise_column(const mcr_portable *p, mcr_quantised *to, int64_t k)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < p->basis; i++) {
        low = fmin(low, p->vector[i * p->width + k]);
        high = fmax(high, p->vector[i * p->width + k]);
    }
    if (fabs(low) < (high - low) / MOST)
        low = fmin(low, 0);
    double step = to->step[k] = short_step((high - low) / (2 * MOST));
    to->middle[k] = (double)(float)(low + (high - low) / 2);
    if (low <= 0 && high >= 0 && step > 0) /* 0 stays 0: no value of a histogram becomes negative */
        to->middle[k] = -(ceil(-low / step) - MOST) * step;
    for (int64_t i = 0; i < p->basis; i++) {
        double v = p->vector[i * p->width + k];
        double q = step > 0 ? round((v - to->middle[k]) / step) : 0;
        to->q[i * p->width + k] = (signed char)fmax(-MOST, fmin(MOST, q));
    }
}

/* ---- the bound --------------------------------------------------------------------------------*/

double mcr_portable_self(const mcr_kernel *k)
{
    double value = 0;
    if (mcr_kernel_is_constant(k, &value))
        return value;
    if (k->type == &mcr_kernel_rbf || k->type == &mcr_kernel_laplace ||
        k->type == &mcr_kernel_matern || k->type == &mcr_kernel_rq || k->type == &mcr_kernel_chi2)
        return 1;
    if (k->type == &mcr_kernel_power)
        return pow(mcr_portable_self(k->child[0]), mcr_kernel_number(k, "degree"));
    if (k->type == &mcr_kernel_exp)
        return exp(mcr_portable_self(k->child[0]));
    if (k->type == &mcr_kernel_normalize && mcr_portable_self(k->child[0]) > 0)
        return 1;
    if (k->type != &mcr_kernel_sum && k->type != &mcr_kernel_product)
        return NAN;
    value = k->type == &mcr_kernel_sum ? 0 : 1;
    for (int c = 0; c < k->children; c++) {
        double own = mcr_portable_self(k->child[c]);
        value = k->type == &mcr_kernel_sum ? value + own : value * own;
    }
    return value;
}

/* The factor by which a value's relative rounding error can exceed that of one sum over the
 * features. */
static double amplified(const mcr_kernel *k)
{
    double most = 1, sum = 0;
    for (int c = 0; c < k->children; c++) {
        most = fmax(most, amplified(k->child[c]));
        sum += amplified(k->child[c]);
    }
    return k->type == &mcr_kernel_poly        ? mcr_kernel_number(k, "degree")
           : k->type == &mcr_kernel_power     ? most * mcr_kernel_number(k, "degree")
           : k->type == &mcr_kernel_product   ? fmax(sum, 1)
           : k->type == &mcr_kernel_exp       ? most * 89 /* larger ones overflow a float */
           : k->type == &mcr_kernel_normalize ? 3 * most
                                              : most;
}

/* v: both x outputs, coefficients of the exact and the quantised support vectors. */
static void set_coefficients(const mcr_portable *p, double *v)
{
    int64_t outputs = p->fitted->outputs, n = p->basis;
    for (int64_t g = 0; g < p->segments; g++)
        for (int64_t t = 0; t < p->segment[g].outputs; t++)
            for (int64_t i = 0; i < p->segment[g].count; i++) {
                int64_t at = p->segment[g].first + i, o = p->segment[g].output[t];
                v[at * outputs + o] = p->segment[g].coef[t * p->segment[g].count + i];
                v[(n + at) * outputs + o] = -v[at * outputs + o];
            }
}

static void evaluate(const mcr_portable *p, const double *v, const double *kv,
                     const double *diagonal, mcr_export_report *report)
{
    int64_t outputs = p->fitted->outputs, n = p->basis;
    double unit = (double)FLT_EPSILON / 2,
           roundings = (double)n + 8 + amplified(p->kernel) * (4 * (double)p->width + 64);
    report->largest = 0;
    for (int64_t i = 0; i < n; i++)
        report->largest = fmax(report->largest, diagonal[i]);
    for (int64_t o = 0; o < outputs; o++) {
        double square = 0, size = 0;
        for (int64_t i = 0; i < 2 * n; i++) {
            square += v[i * outputs + o] * kv[i * outputs + o];
            size += fabs(v[i * outputs + o]) * sqrt(fmax(diagonal[i], 0));
        }
        square = fmax(square, 0) + 8 * DBL_EPSILON * size * size;
        report->error = fmax(report->error, sqrt(square) + roundings * unit * size);
    }
}

static mcr_status find_bound(const mcr_portable *p, const mcr_quantised *to,
                             mcr_export_report *report)
{
    int64_t n = p->basis, outputs = p->fitted->outputs;
    mcr_data *other = NULL, *both = NULL;
    mcr_gram *gram = NULL;
    double *moved = mcr_alloc(p->ctx, (uint64_t)(n * p->width) + 1, sizeof *moved);
    double *v = mcr_alloc_zero(p->ctx, (uint64_t)(2 * n * outputs) + 1, sizeof *v);
    double *kv = mcr_alloc(p->ctx, (uint64_t)(2 * n * outputs) + 1, sizeof *kv);
    double *diagonal = mcr_alloc(p->ctx, (uint64_t)(2 * n) + 1, sizeof *diagonal);
    mcr_status s = moved && v && kv && diagonal ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < n * p->width && !s; i++)
        moved[i] = to->middle[i % p->width] + to->step[i % p->width] * to->q[i];
    if (!s)
        s = mcr_portable_data(&other, p, moved);
    if (!s)
        s = mcr_data_concat(&both, (const mcr_data *const[]){p->data, other}, 2);
    if (!s)
        s = mcr_gram_open(&gram, p->ctx, p->kernel, both, NULL);
    if (!s) {
        set_coefficients(p, v);
        s = mcr_gram_multiply(gram, v, outputs, kv);
    }
    if (!s)
        s = mcr_gram_diagonal(gram, 0, diagonal);
    if (!s)
        evaluate(p, v, kv, diagonal, report);
    report->self = mcr_portable_self(p->kernel);
    mcr_gram_close(gram);
    mcr_data_free(both);
    mcr_data_free(other);
    mcr_free_all(p->ctx, moved, v, kv, diagonal);
    return s;
}

/* ---- a model ----------------------------------------------------------------------------------*/

static mcr_status refuse(const mcr_portable *p)
{
    const char *why = p->strings > 0               ? "it reads strings"
                      : p->second || p->parts == 0 ? "it has no single kernel on vectors"
                      : p->finish != MCR_FINISH_RULE && p->finish != MCR_FINISH_MEANS
                          ? "its predictions are more than sums of kernel values"
                      : mcr_kernel_definite(p->kernel, NULL) != MCR_PSD
                          ? "its kernel is not known to be positive semidefinite"
                          : NULL;
    return why ? mcr_fail(p->ctx, MCR_BAD_CALL,
                          "int8: no bound on the error is known for this model (%s): export it "
                          "with float or double numbers",
                          why)
               : MCR_OK;
}

mcr_status mcr_quantised_open(mcr_quantised *out, const mcr_portable *p, mcr_export_report *report)
{
    *out = (mcr_quantised){0};
    mcr_status s = refuse(p);
    if (s)
        return s;
    size_t width = (size_t)p->width;
    out->q = mcr_alloc(p->ctx, (uint64_t)p->basis * width + 1, sizeof *out->q);
    out->middle = mcr_alloc_zero(p->ctx, width, sizeof *out->middle);
    out->step = mcr_alloc_zero(p->ctx, width, sizeof *out->step);
    s = out->q && out->middle && out->step ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t k = 0; k < p->width && !s && p->basis > 0; k++)
        quantise_column(p, out, k);
    if (!s && p->basis > 0)
        s = find_bound(p, out, report);
    if (s)
        mcr_quantised_close(p->ctx, out);
    return s;
}

void mcr_quantised_close(mcr *ctx, mcr_quantised *q)
{
    mcr_free_all(ctx, q->q, q->middle, q->step);
    *q = (mcr_quantised){0};
}
