/* profile.c: expressions as functions of x.z, |x-z|^2 and |x-z|_1, with derivatives (forward mode).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/built_in.h"
#include "kernel/parts.h"
#include "kernel/profile.h"

#include <math.h>
#include <string.h>

bool mcr_profile_number(const mcr_kernel *node, const char *name, double *value)
{
    *value = mcr_kernel_number(node, name);
    return !isnan(*value);
}

/* ---- leaves -----------------------------------------------------------------------------------*/

/* F at one point and its derivative by the one variable that the leaf depends on. */
typedef struct point {
    double k, slope;
} point;

/* A leaf's parameters, read once. */
typedef struct leaf {
    point (*at)(const struct leaf *leaf, double v);
    double a, b, c;
    int of; /* MCR_PROFILE_... */
} leaf;

static point at_linear(const leaf *l, double s)
{
    (void)l;
    return (point){s, 1};
}

static point at_poly(const leaf *l, double s)
{
    double base = l->a * s + l->b, power = pow(base, l->c - 1);
    return (point){power * base, l->c * l->a * power};
}

static point at_sigmoid(const leaf *l, double s)
{
    double k = tanh(l->a * s + l->b);
    return (point){k, l->a * (1 - k * k)};
}

static point at_exponential(const leaf *l, double v)
{
    double k = exp(-l->a * v);
    return (point){k, -l->a * k};
}

static point at_matern(const leaf *l, double t)
{
    double a2 = 2 * l->a / (l->b * l->b), r = sqrt(a2 * fmax(t, 0)), e = exp(-r);
    if (l->a == 0.5)
        return (point){e, r > 0 ? -0.5 * a2 * e / r : 0};
    if (l->a == 1.5)
        return (point){(1 + r) * e, -0.5 * a2 * e};
    return (point){(1 + r + r * r / 3) * e, -a2 / 6 * (1 + r) * e};
}

static point at_rq(const leaf *l, double t)
{
    double q = t / (2 * l->a * l->b * l->b), k = exp(-l->a * log1p(q));
    return (point){k, -0.5 / (l->b * l->b) * k / (1 + q)};
}

/* The leaves, with the parameters that become a, b, c. */
static const struct {
    const mcr_kernel_type *type;
    point (*at)(const leaf *l, double v);
    int of;
    const char *name[3];
} leaves[] = {
    {&mcr_kernel_linear, at_linear, MCR_PROFILE_S, {NULL}},
    {&mcr_kernel_poly, at_poly, MCR_PROFILE_S, {"scale", "c", "degree"}},
    {&mcr_kernel_sigmoid, at_sigmoid, MCR_PROFILE_S, {"a", "b"}},
    {&mcr_kernel_rbf, at_exponential, MCR_PROFILE_T, {"gamma"}},
    {&mcr_kernel_laplace, at_exponential, MCR_PROFILE_U, {"gamma"}},
    {&mcr_kernel_matern, at_matern, MCR_PROFILE_T, {"nu", "length"}},
    {&mcr_kernel_rq, at_rq, MCR_PROFILE_T, {"alpha", "length"}},
};

static bool read_leaf(leaf *l, const mcr_kernel *k)
{
    size_t i = 0;
    while (i < sizeof leaves / sizeof *leaves && leaves[i].type != k->type)
        i++;
    if (i == sizeof leaves / sizeof *leaves)
        return false;
    *l = (leaf){.at = leaves[i].at, .of = leaves[i].of};
    double *const to[] = {&l->a, &l->b, &l->c};
    bool good = true;
    for (int p = 0; p < 3 && leaves[i].name[p] && good; p++)
        good = mcr_profile_number(k, leaves[i].name[p], to[p]);
    return good;
}

/* ---- trees ------------------------------------------------------------------------------------*/

int mcr_profile_of(const mcr_kernel *k)
{
    leaf l;
    double number;
    if (mcr_kernel_is_constant(k, &number))
        return 0;
    if (k->type->kinds)
        return read_leaf(&l, k) ? l.of : -1;
    if (k->type != &mcr_kernel_sum && k->type != &mcr_kernel_product &&
        k->type != &mcr_kernel_power && k->type != &mcr_kernel_exp)
        return -1;
    int of = 0;
    for (int c = 0; c < k->children; c++) {
        int part = mcr_profile_of(k->child[c]);
        if (part < 0)
            return -1;
        of |= part;
    }
    return of;
}

size_t mcr_profile_workspace(const mcr_kernel *k, int64_t count)
{
    return 4 * (size_t)count * (size_t)k->depth;
}

static void at_leaf(const mcr_kernel *k, int64_t n, const double *const at[3], double *value)
{
    leaf l;
    double number;
    memset(value, 0, 4 * sizeof *value * (size_t)n);
    if (mcr_kernel_is_constant(k, &number)) {
        for (int64_t i = 0; i < n; i++)
            value[i] = number;
        return;
    }
    if (!read_leaf(&l, k))
        return;
    int which = l.of == MCR_PROFILE_S ? 0 : l.of == MCR_PROFILE_T ? 1 : 2;
    for (int64_t i = 0; i < n; i++) {
        point p = l.at(&l, at[which][i]);
        value[i] = p.k;
        value[(1 + which) * n + i] = p.slope;
    }
}

/* value = value * part or value + part, derivatives included. */
static void join(double *value, const double *part, int64_t n, bool product)
{
    for (int64_t i = 0; i < n; i++) {
        for (int d = 1; d < 4; d++)
            value[d * n + i] = product ? value[d * n + i] * part[i] + value[i] * part[d * n + i]
                                       : value[d * n + i] + part[d * n + i];
        value[i] = product ? value[i] * part[i] : value[i] + part[i];
    }
}

void mcr_profile_values(const mcr_kernel *k, int64_t n, const double *const at[3], double *value,
                        double *buffer)
{
    if (k->children == 0) {
        at_leaf(k, n, at, value);
        return;
    }
    mcr_profile_values(k->child[0], n, at, value, buffer + 4 * n);
    for (int c = 1; c < k->children; c++) {
        mcr_profile_values(k->child[c], n, at, buffer, buffer + 4 * n);
        join(value, buffer, n, k->type == &mcr_kernel_product);
    }
    if (k->type != &mcr_kernel_power && k->type != &mcr_kernel_exp)
        return;
    double degree = k->type == &mcr_kernel_power ? (double)mcr_kernel_degree(k) : 0;
    for (int64_t i = 0; i < n; i++) {
        double slope = degree > 0 ? degree * pow(value[i], degree - 1) : exp(value[i]);
        value[i] = degree > 0 ? pow(value[i], degree) : slope;
        for (int d = 1; d < 4; d++)
            value[d * n + i] *= slope;
    }
}
