/* kernel.c: kernel values of vectors that are lists of nodes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "arrays.h"

typedef struct svm_node node;
typedef struct svm_parameter parameter;

static const node nothing = {-1, 0};

/* ---- merging ----------------------------------------------------------------------------------*/

static double merge_dot(const node *x, const node *z)
{
    double sum = 0;
    while (x->index != -1 && z->index != -1) {
        if (x->index == z->index)
            sum += x++->value * z++->value;
        else if (x->index > z->index)
            z++;
        else
            x++;
    }
    return sum;
}

static double squares(const node *x)
{
    double sum = 0;
    for (; x->index != -1; x++)
        sum += x->value * x->value;
    return sum;
}

static double merge_distance(const node *x, const node *z)
{
    double sum = 0;
    while (x->index != -1 && z->index != -1) {
        double d;
        if (x->index == z->index)
            d = x++->value - z++->value;
        else
            d = x->index > z->index ? z++->value : x++->value;
        sum += d * d;
    }
    return sum + squares(x) + squares(z);
}

/* By squaring; degrees below 0 count as 0. */
static double power(double base, int degree)
{
    double result = 1;
    for (; degree > 0; degree /= 2, base *= base)
        if (degree % 2)
            result *= base;
    return result;
}

static double finish(const parameter *p, double dot)
{
    switch (p->kernel_type) {
    case POLY: return power(p->gamma * dot + p->coef0, p->degree);
    case SIGMOID: return tanh(p->gamma * dot + p->coef0);
    default: return dot;
    }
}

double compat_kernel_value(const parameter *p, const node *x, const node *z)
{
    x = x ? x : &nothing;
    z = z ? z : &nothing;
    if (p->kernel_type == RBF)
        return exp(-p->gamma * merge_distance(x, z));
    return finish(p, merge_dot(x, z));
}

double compat_kernel_constant(const parameter *p)
{
    bool fixed = p->kernel_type == POLY && p->degree <= 0;
    if (p->kernel_type == RBF)
        return p->gamma == 0 ? 1 : NAN;
    if (p->kernel_type == POLY || p->kernel_type == SIGMOID)
        return fixed || p->gamma == 0 ? finish(p, 0) : NAN;
    return NAN;
}

/* ---- one object against many ------------------------------------------------------------------*/

/* The range of the indices, if they rise. */
static bool measure(const node *x, int *low, int *high)
{
    *low = *high = 0;
    if (x->index == -1)
        return false;
    *low = *high = x->index;
    for (x++; x->index != -1; x++) {
        if (x->index <= *high)
            return false;
        *high = x->index;
    }
    return true;
}

void compat_probe_open(compat_probe *probe, const struct svm_model *m, const node *x)
{
    const parameter *p = &m->param;
    *probe = (compat_probe){.param = p, .x = x ? x : &nothing, .others = m->SV, .count = m->l};
    compat_packed_open(&probe->packed, compat_panels_of(m), probe->x, p->kernel_type);
    int low, high;
    if (probe->packed.value || p->kernel_type == PRECOMPUTED || !measure(probe->x, &low, &high))
        return;
    probe->square = squares(probe->x);
    int64_t width = (int64_t)high - low + 1;
    /* Setting a place to zero costs far less than merging two lists. */
    if (!isfinite(probe->square) || width > 256 * (int64_t)m->l)
        return;
    probe->spread = calloc((size_t)width, sizeof *probe->spread);
    if (probe->spread == NULL)
        return;
    probe->low = (unsigned)low;
    probe->width = (unsigned)width;
    for (x = probe->x; x->index != -1; x++)
        probe->spread[(unsigned)x->index - probe->low] = x->value;
}

void compat_probe_close(compat_probe *probe)
{
    free(probe->spread);
    probe->spread = NULL;
    compat_packed_close(&probe->packed);
}

static inline double spread_at(const compat_probe *probe, int index)
{
    unsigned k = (unsigned)index - probe->low;
    return k < probe->width ? probe->spread[k] : 0;
}

/* Sum of z_k x_k. false: the indices of z do not rise. Two sums run side by side. */
static bool spread_dot(const compat_probe *probe, const node *z, double *sum)
{
    double even = 0, odd = 0;
    bool rising = true;
    if (z->index != -1)
        for (;; z += 2) {
            even += z[0].value * spread_at(probe, z[0].index);
            if (z[1].index == -1)
                break;
            rising &= z[1].index > z[0].index;
            odd += z[1].value * spread_at(probe, z[1].index);
            if (z[2].index == -1)
                break;
            rising &= z[2].index > z[1].index;
        }
    *sum = even + odd;
    return rising;
}

/* |x - z|^2 = |x|^2 + sum of z_k (z_k - 2 x_k). */
static bool spread_distance(const compat_probe *probe, const node *z, double *sum)
{
    double even = 0, odd = 0;
    bool rising = true;
    if (z->index != -1)
        for (;; z += 2) {
            even += z[0].value * (z[0].value - 2 * spread_at(probe, z[0].index));
            if (z[1].index == -1)
                break;
            rising &= z[1].index > z[0].index;
            odd += z[1].value * (z[1].value - 2 * spread_at(probe, z[1].index));
            if (z[2].index == -1)
                break;
            rising &= z[2].index > z[1].index;
        }
    *sum = probe->square + (even + odd);
    /* Where little is left of large terms, the sum of squared differences has the digits. */
    return rising && *sum > 1e-4 * probe->square && isfinite(*sum);
}

/* The value at place `at` of the row; 0 where the row is shorter. Looks no further than it must:
 * rows that end nowhere are the caller's, and LIBSVM reads them. */
static double entry(compat_probe *probe, double at)
{
    if (!(at >= 0 && at < (double)INT_MAX))
        return 0;
    unsigned place = (unsigned)at;
    while (probe->width <= place && probe->x[probe->width].index != -1)
        probe->width++;
    return place < probe->width ? probe->x[place].value : 0;
}

/* The sum of squared differences of two vectors with the same indices, as dense data have them.
 * false: the indices are not the same. */
static bool lockstep_distance(const node *x, const node *z, double *sum)
{
    double even = 0, odd = 0;
    for (;; x += 2, z += 2) {
        if (x[0].index != z[0].index)
            return false;
        if (x[0].index == -1)
            break;
        double d = x[0].value - z[0].value;
        even += d * d;
        if (x[1].index != z[1].index)
            return false;
        if (x[1].index == -1)
            break;
        d = x[1].value - z[1].value;
        odd += d * d;
    }
    *sum = even + odd;
    return true;
}

/* |x - z|^2 by the fastest way that keeps its digits. */
static double distance(const compat_probe *probe, const node *z)
{
    double sum;
    if (z == NULL)
        z = &nothing;
    if (probe->spread && (lockstep_distance(probe->x, z, &sum) || spread_distance(probe, z, &sum)))
        return sum;
    return merge_distance(probe->x, z);
}

static double product(const compat_probe *probe, const node *z)
{
    double sum;
    if (probe->spread && z && spread_dot(probe, z, &sum))
        return finish(probe->param, sum);
    return compat_kernel_value(probe->param, probe->x, z);
}

/* Distances, or kernel values for other kernels. */
static void values_of_nodes(compat_probe *probe, double *value)
{
    int type = probe->param->kernel_type;
    for (int i = 0; i < probe->count; i++) {
        const node *z = probe->others[i];
        if (type == PRECOMPUTED)
            value[i] = z ? entry(probe, z->value) : 0;
        else
            value[i] = type == RBF ? distance(probe, z) : product(probe, z);
    }
}

static void values_of_panels(compat_probe *probe, double *value)
{
    int type = probe->param->kernel_type;
    compat_packed_values(&probe->packed, type, value);
    for (int i = 0; i < probe->count; i++)
        if (type != RBF)
            value[i] = finish(probe->param, value[i]);
        else if (value[i] < 0)
            value[i] = merge_distance(probe->x, probe->others[i]);
}

void compat_probe_values(compat_probe *probe, double *value)
{
    const parameter *p = probe->param;
    if (probe->packed.value)
        values_of_panels(probe, value);
    else
        values_of_nodes(probe, value);
    if (p->kernel_type == RBF)
        compat_exp(value, -p->gamma, probe->count);
}
