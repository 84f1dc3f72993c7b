/* series.c: power series of functions of the inner product, Fourier transforms of functions of the
 * distance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/built_in.h"
#include "kernel/series.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "kernel/profile.h"

enum { TERMS = 64 }; /* computed terms of a series */

/* a: coefficients; size: the sums of absolute values they were computed from, which bound their
 * rounding errors; degree: of a polynomial, TERMS: higher or infinite. */
typedef struct series {
    double a[TERMS], size[TERMS];
    int degree;
} series;

static void set_constant(series *out, double value)
{
    memset(out, 0, sizeof *out);
    out->a[0] = value;
    out->size[0] = fabs(value);
}

static int at_most(int degree)
{
    return degree < TERMS ? degree : TERMS;
}

static void add(series *to, const series *part)
{
    for (int n = 0; n < TERMS; n++) {
        to->a[n] += part->a[n];
        to->size[n] += part->size[n];
    }
    to->degree = to->degree > part->degree ? to->degree : part->degree;
}

static void multiply(series *to, const series *by)
{
    series product = {.degree = at_most(to->degree + by->degree)};
    for (int i = 0; i < TERMS; i++)
        for (int j = 0; i + j < TERMS; j++) {
            product.a[i + j] += to->a[i] * by->a[j];
            product.size[i + j] += to->size[i] * by->size[j];
        }
    *to = product;
}

static void raise(series *to, int64_t power)
{
    series base = *to, result;
    set_constant(&result, 1);
    for (; power > 0; power /= 2) { /* by squares */
        if (power % 2)
            multiply(&result, &base);
        if (power > 1)
            multiply(&base, &base);
    }
    *to = result;
}

/* E = exp(P) by E' = P'E. */
static void exponential(series *to)
{
    series p = *to, e = {.degree = p.degree > 0 ? TERMS : 0};
    e.a[0] = exp(p.a[0]);
    e.size[0] = e.a[0] * (1 + p.size[0]);
    for (int n = 1; n < TERMS; n++)
        for (int i = 1; i <= n; i++) {
            e.a[n] += (double)i / n * p.a[i] * e.a[n - i];
            e.size[n] += (double)i / n * p.size[i] * e.size[n - i];
        }
    *to = e;
}

/* false: the leaf is not a polynomial of the inner product. */
static bool of_leaf(series *out, const mcr_kernel *k)
{
    double value, scale, c, degree;
    set_constant(out, 0);
    if (mcr_kernel_is_constant(k, &value)) {
        set_constant(out, value);
        return true;
    }
    if (k->type == &mcr_kernel_linear) {
        out->a[1] = out->size[1] = out->degree = 1;
        return true;
    }
    if (k->type != &mcr_kernel_poly || !mcr_profile_number(k, "scale", &scale) ||
        !mcr_profile_number(k, "c", &c) || !mcr_profile_number(k, "degree", &degree))
        return false;
    set_constant(out, c);
    out->a[1] = out->size[1] = scale;
    out->degree = 1;
    raise(out, (int64_t)degree);
    return true;
}

static bool of_tree(series *out, const mcr_kernel *k)
{
    bool product = k->type == &mcr_kernel_product;
    if (k->children == 0)
        return of_leaf(out, k);
    if (!product && k->type != &mcr_kernel_sum && k->type != &mcr_kernel_power &&
        k->type != &mcr_kernel_exp)
        return false;
    if (!of_tree(out, k->child[0]))
        return false;
    for (int c = 1; c < k->children; c++) {
        series part;
        if (!of_tree(&part, k->child[c]))
            return false;
        if (product)
            multiply(out, &part);
        else
            add(out, &part);
    }
    if (k->type == &mcr_kernel_power)
        raise(out, mcr_kernel_degree(k));
    else if (k->type == &mcr_kernel_exp)
        exponential(out);
    return true;
}

/* -1: a coefficient from `first` on is certainly negative; 1: none is; 0: one cannot be
 * distinguished from 0, although it was not computed as 0. */
static int signs(const series *s, int first)
{
    int result = 1;
    for (int n = first; n < TERMS; n++) {
        double rounding = 256 * DBL_EPSILON * s->size[n];
        if (!isfinite(s->a[n]) || !isfinite(s->size[n]))
            return 0;
        if (s->a[n] < -rounding)
            return -1;
        if (s->a[n] < 0)
            result = 0;
    }
    return result;
}

/* An infinite series has no negative coefficients beyond the degree of the polynomials in it if its
 * non-polynomial parts have none at all: exp of a series with none except the constant, and
 * products and sums of such parts. *end: the term beyond which this holds. */
static bool ends_well(const mcr_kernel *k, int *end)
{
    series s;
    if (!of_tree(&s, k))
        return false;
    if (s.degree < TERMS) {
        *end = *end > s.degree ? *end : s.degree;
        return true;
    }
    if (k->type == &mcr_kernel_exp)
        return of_tree(&s, k->child[0]) && s.degree < TERMS && signs(&s, 1) > 0;
    if (k->type == &mcr_kernel_sum) {
        for (int c = 0; c < k->children; c++)
            if (!ends_well(k->child[c], end))
                return false;
        return true;
    }
    int own = 0;
    for (int c = 0; c < k->children; c++)
        if (!of_tree(&s, k->child[c]) || signs(&s, 0) <= 0 || !ends_well(k->child[c], &own))
            return false;
    return k->type == &mcr_kernel_product || k->type == &mcr_kernel_power;
}

static mcr_definite by_series(const mcr_kernel *k, const char **rule)
{
    series s;
    int end = 0;
    if (!of_tree(&s, k))
        return MCR_DEFINITE_UNKNOWN;
    int sign = signs(&s, 0);
    if (sign < 0) {
        *rule = "a function of x.z whose power series has a negative coefficient (Schoenberg)";
        return MCR_INDEFINITE;
    }
    if (sign > 0 && ends_well(k, &end) && end < TERMS) {
        *rule = "a function of x.z whose power series has no negative coefficient (Schoenberg)";
        return MCR_PSD;
    }
    return MCR_DEFINITE_UNKNOWN;
}

/* ---- functions of the distance ----------------------------------------------------------------*/

enum { MIXED = 64 };

/* factor times rbf (nu = INFINITY, rate: gamma) or matern (rate: sqrt(2 nu)/length), or a number
 * (rate 0). */
typedef struct bump {
    double factor, nu, rate;
} bump;

typedef struct mixture {
    bump part[MIXED];
    int count;
} mixture;

/* Multiplies b by a factor of a product: a constant, an rbf or, alone, a matern; or a power of
 * these.
 */
static bool times(bump *b, const mcr_kernel *k)
{
    double value, power = 1;
    if (k->type == &mcr_kernel_power) {
        power = (double)mcr_kernel_degree(k);
        k = k->child[0];
    }
    if (mcr_kernel_is_constant(k, &value)) {
        b->factor *= pow(value, power);
        return true;
    }
    if (k->type == &mcr_kernel_rbf && isinf(b->nu)) {
        b->rate += mcr_profile_number(k, "gamma", &value) ? power * value : NAN;
        return !isnan(b->rate);
    }
    if (k->type != &mcr_kernel_matern || isfinite(b->nu) || b->rate > 0 || power > 1)
        return false;
    if (!mcr_profile_number(k, "nu", &b->nu) || !mcr_profile_number(k, "length", &value))
        return false;
    b->rate = sqrt(2 * b->nu) / value;
    return true;
}

/* Adds b; equal kernels are merged. */
static bool add_bump(mixture *m, const bump *b)
{
    for (int i = 0; i < m->count; i++)
        if (m->part[i].nu == b->nu && m->part[i].rate == b->rate) {
            m->part[i].factor += b->factor;
            return true;
        }
    if (m->count == MIXED)
        return false;
    m->part[m->count++] = *b;
    return true;
}

static bool read_mixture(mixture *m, const mcr_kernel *k)
{
    bool sum = k->type == &mcr_kernel_sum;
    m->count = 0;
    for (int t = 0; t < (sum ? k->children : 1); t++) {
        const mcr_kernel *term = sum ? k->child[t] : k;
        bool product = term->type == &mcr_kernel_product;
        bump b = {1, INFINITY, 0};
        for (int c = 0; c < (product ? term->children : 1); c++)
            if (!times(&b, product ? term->child[c] : term))
                return false;
        if (!add_bump(m, &b))
            return false;
    }
    return true;
}

/* The Fourier transform on a line at frequency w, without the common factor. */
static double transform(const bump *b, double w)
{
    const double pi = 3.14159265358979323846;
    double a = b->rate, line = a * a + w * w;
    if (isinf(b->nu))
        return a > 0 ? b->factor * sqrt(pi / a) * exp(-w * w / (4 * a)) : 0;
    if (b->nu == 0.5)
        return b->factor * 2 * a / line;
    if (b->nu == 1.5)
        return b->factor * 4 * a * a * a / (line * line);
    return b->factor * 16.0 / 3 * pow(a, 5) / (line * line * line);
}

static mcr_definite by_transform(const mcr_kernel *k, const char **rule)
{
    mixture m;
    bool negative = false, number = false;
    double least = INFINITY, most = 0;
    if (!read_mixture(&m, k))
        return MCR_DEFINITE_UNKNOWN;
    for (int i = 0; i < m.count; i++) {
        const bump *b = &m.part[i];
        double width = isinf(b->nu) ? sqrt(b->rate) : b->rate;
        negative = negative || b->factor < 0;
        number = number || (b->rate == 0 && b->factor < 0);
        least = b->rate > 0 ? fmin(least, width) : least;
        most = fmax(most, width);
    }
    if (!negative) {
        *rule =
            "a mixture of functions of the distance with weights that are not negative (Bochner)";
        return MCR_PSD;
    }
    for (double w = 1e-3 * least; w < 60 * most && !number; w *= 1.02) {
        double sum = 0, size = 0;
        for (int i = 0; i < m.count; i++) {
            double part = transform(&m.part[i], w);
            sum += part;
            size += fabs(part);
        }
        number = sum < -64 * DBL_EPSILON * size && size > 1e-280;
    }
    if (!number)
        return MCR_DEFINITE_UNKNOWN;
    *rule = "a function of the distance whose transform is negative somewhere (Bochner)";
    return MCR_INDEFINITE;
}

/* ---- both -------------------------------------------------------------------------------------*/

/* Whether all leaves read the same field: none names one, or all name the same. */
static bool same_field(const mcr_kernel *k, const mcr_kernel **first)
{
    if (k->type->kinds) {
        if (!*first)
            *first = k;
        const char *a = (*first)->field, *b = k->field;
        return !a == !b && (!a || strcmp(a, b) == 0);
    }
    for (int c = 0; c < k->children; c++)
        if (!same_field(k->child[c], first))
            return false;
    return true;
}

mcr_definite mcr_series_decide(const mcr_kernel *k, const char **rule)
{
    const mcr_kernel *first = NULL;
    int of = mcr_profile_of(k);
    if (of < 0 || !same_field(k, &first) || !first)
        return MCR_DEFINITE_UNKNOWN;
    if (of == MCR_PROFILE_S)
        return by_series(k, rule);
    return of == MCR_PROFILE_T ? by_transform(k, rule) : MCR_DEFINITE_UNKNOWN;
}
