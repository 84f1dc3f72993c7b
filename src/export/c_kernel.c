/* c_kernel.c: the kernel as C: the helpers it uses, one function for the expression, and the
 * numbers per object (its norms in feature space).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "export/c_text.h"
#include "kernel/built_in.h"
#include "kernel/parts.h"

/* Indices of the numbers per node, in post-order. */
typedef struct counters {
    int64_t list, own, leaf;
} counters;

static bool is_own(const mcr_kernel *k)
{
    return k->type == &mcr_kernel_normalize || k->type == &mcr_kernel_conformal ||
           k->type == &mcr_kernel_cosine;
}

static bool is_string(const mcr_kernel *k)
{
    return k->type->kinds == MCR_STRINGS;
}

static void count_node(const mcr_kernel *k, counters *n)
{
    n->list += mcr_portable_is_listed(k);
    n->own += is_own(k);
    n->leaf += is_string(k);
}

static void count_tree(const mcr_kernel *k, counters *n)
{
    for (int c = 0; c < k->children; c++)
        count_tree(k->child[c], n);
    count_node(k, n);
}

int64_t mcr_c_owns(const mcr_portable *p)
{
    counters n = {0, 0, 0};
    count_tree(p->kernel, &n);
    if (p->second)
        count_tree(p->second, &n);
    return n.own;
}

/* ---- helpers ----------------------------------------------------------------------------------*/

typedef enum helper {
    DOT,
    DOT_BY,
    SQUARE,
    SQUARE_BY,
    ABSOLUTE,
    ABSOLUTE_BY,
    CHI2,
    COMMON,
    POWER,
    MATERN,
    RATIONAL,
    CLIP,
    UNIT,
    CIRCLE,
    HELPERS
} helper;

/* Sums over the features of a and b, some with weights `by`: the term of feature k. */
static const struct {
    const char *name, *term;
} sums[] = {
    [DOT] = {"dot", "sum += a[k] * b[k];\n"},
    [DOT_BY] = {"dot_by", "sum += $_READ(by + k) * a[k] * b[k];\n"},
    [SQUARE] = {"square", "sum += (a[k] - b[k]) * (a[k] - b[k]);\n"},
    [SQUARE_BY] = {"square_by", "sum += $_READ(by + k) * (a[k] - b[k]) * (a[k] - b[k]);\n"},
    [ABSOLUTE] = {"absolute", "sum += a[k] > b[k] ? a[k] - b[k] : b[k] - a[k];\n"},
    [ABSOLUTE_BY] = {"absolute_by",
                     "sum += $_READ(by + k) * (a[k] > b[k] ? a[k] - b[k] : b[k] - a[k]);\n"},
    [CHI2] = {"chi2", "if (a[k] + b[k] > 0)\n"
                      "            sum += (a[k] - b[k]) * (a[k] - b[k]) / (a[k] + b[k]);\n"},
    [COMMON] = {"common", "sum += a[k] < b[k] ? a[k] : b[k];\n"},
};

static void put_sum(mcr_c_writer *w, helper h)
{
    mcr_c_put(w, "static @_real @_%s(const @_real *a, const @_real *b, @_index n%s)\n",
              sums[h].name, strstr(sums[h].name, "_by") ? ", const @_real *by" : "");
    mcr_c_lines(w, "{\n    @_real sum = 0;\n    for (@_index k = 0; k < n; k++)\n        ");
    mcr_c_lines(w, sums[h].term);
    mcr_c_lines(w, "    return sum;\n}\n\n");
}

static const char *const helpers[HELPERS] = {
    [POWER] = "static @_real @_power(@_real x, long n)\n"
              "{\n"
              "    @_real y = 1;\n"
              "    for (; n > 0; n /= 2) {\n"
              "        if (n % 2)\n"
              "            y *= x;\n"
              "        x *= x;\n"
              "    }\n"
              "    return y;\n"
              "}\n\n",
    [MATERN] = "static @_real @_matern(@_real r, int order)\n"
               "{\n"
               "    @_real e = $_EXP(-r);\n"
               "    return order == 0 ? e : order == 1 ? (1 + r) * e : (1 + r + r * r / 3) * e;\n"
               "}\n\n",
    [RATIONAL] =
        "/* (1 + u)^-alpha: the logarithm from its series, without what rounding 1 + u loses. */\n"
        "static @_real @_rational(@_real u, @_real alpha)\n"
        "{\n"
        "    @_real w = 1 + u, gap = w - 1, m = w, sum = 0, z;\n"
        "    int e = 0;\n"
        "    while (m > (@_real)1.5 && e < 2000) {\n"
        "        m /= 2;\n"
        "        e++;\n"
        "    }\n"
        "    z = (m - 1) / (m + 1);\n"
        "    for (int j = 12; j >= 0; j--)\n"
        "        sum = sum * z * z + 1 / (@_real)(2 * j + 1);\n"
        "    sum = 2 * z * sum + (@_real)e * (@_real)0.69314718055994530942;\n"
        "    if (gap < 1)\n"
        "        sum = gap > 0 ? sum * (u / gap) : u;\n"
        "    return $_EXP(-alpha * sum);\n"
        "}\n\n",
    [CLIP] = "static @_real @_clip(@_real k)\n"
             "{\n"
             "    return k > 1 ? 1 : k < -1 ? -1 : k;\n"
             "}\n\n",
    [UNIT] = "/* What differs from 1 by rounding alone is 1. */\n"
             "static @_real @_unit(@_real k)\n"
             "{\n"
             "    @_real off = (k < 0 ? -k : k) - 1;\n"
             "    return off <= 4 * $_EPSILON && off >= -4 * $_EPSILON ? (@_real)(k < 0 ? -1 : 1) "
             ": k;\n"
             "}\n\n",
    [CIRCLE] = "/* x on a circle of that period, minus the point of 0: the remainder is exact. */\n"
               "static void @_circle(@_real x, @_real period, @_real *to)\n"
               "{\n"
               "    @_real r = x < 0 ? -x : x, q, h, s, c = 1, t;\n"
               "    while (r >= period && r - r == 0) {\n"
               "        for (q = period; q <= r / 2;)\n"
               "            q *= 2;\n"
               "        r -= q;\n"
               "    }\n"
               "    if (r > period / 2)\n"
               "        r -= period;\n"
               "    h = (@_real)3.14159265358979323846 * (r / period);\n"
               "    s = h = x < 0 ? -h : h;\n"
               "    t = h;\n"
               "    for (int j = 1; j < 13; j++)\n"
               "        s += t *= -h * h / (@_real)(2 * j * (2 * j + 1));\n"
               "    t = 1;\n"
               "    for (int j = 1; j < 13; j++)\n"
               "        c += t *= -h * h / (@_real)(2 * j * (2 * j - 1));\n"
               "    to[0] = -2 * s * s;\n"
               "    to[1] = 2 * s * c;\n"
               "}\n\n",
};

static void want_node(const mcr_c_writer *w, const mcr_kernel *k, bool *wanted)
{
    const mcr_kernel_type *t = k->type;
    bool by = mcr_portable_is_listed(k);
    int64_t column;
    if (t == &mcr_kernel_linear || t == &mcr_kernel_poly || t == &mcr_kernel_sigmoid ||
        t == &mcr_kernel_cosine)
        wanted[DOT] = true;
    if (t == &mcr_kernel_conformal && mcr_portable_factor(w->p, k, &column) && column < 0)
        wanted[DOT] = true;
    if (t == &mcr_kernel_mahalanobis)
        wanted[DOT_BY] = true;
    if (t == &mcr_kernel_rbf || t == &mcr_kernel_matern || t == &mcr_kernel_rq)
        wanted[by ? SQUARE_BY : SQUARE] = true;
    if (t == &mcr_kernel_laplace)
        wanted[by ? ABSOLUTE_BY : ABSOLUTE] = true;
    if (t == &mcr_kernel_poly || t == &mcr_kernel_power)
        wanted[POWER] = true;
    static const struct {
        const mcr_kernel_type *type;
        helper of;
    } also[] = {{&mcr_kernel_matern, MATERN}, {&mcr_kernel_rq, RATIONAL},
                {&mcr_kernel_chi2, CHI2},     {&mcr_kernel_intersection, COMMON},
                {&mcr_kernel_cosine, CLIP},   {&mcr_kernel_normalize, UNIT}};
    for (size_t i = 0; i < sizeof also / sizeof *also; i++)
        if (t == also[i].type)
            wanted[also[i].of] = true;
    for (int c = 0; c < k->children; c++)
        want_node(w, k->child[c], wanted);
}

static void put_helpers(mcr_c_writer *w)
{
    bool wanted[HELPERS] = {false};
    want_node(w, w->p->kernel, wanted);
    if (w->p->second)
        want_node(w, w->p->second, wanted);
    for (int64_t q = 0; q < w->p->parts; q++)
        if (w->p->part[q].map == MCR_PART_CIRCLE)
            wanted[CIRCLE] = true;
    for (int h = 0; h < HELPERS; h++)
        if (wanted[h] && helpers[h])
            mcr_c_lines(w, helpers[h]);
        else if (wanted[h])
            put_sum(w, (helper)h);
}

/* ---- lists, functions of strings --------------------------------------------------------------*/

static void put_list(mcr_c_writer *w, const mcr_kernel *k, int64_t number)
{
    const mcr_part *part = mcr_portable_part(w->p, k->field);
    double *by = mcr_alloc(w->ctx, (size_t)part->count + 1, sizeof *by);
    char name[32];
    if (!by) {
        w->status = MCR_NO_MEMORY;
        return;
    }
    mcr_portable_weights(by, part->count, k);
    snprintf(name, sizeof name, "by%lld", (long long)number);
    mcr_c_reals(w, name, by, part->count);
    mcr_free(w->ctx, by);
}

static mcr_status put_lists(mcr_c_writer *w, const mcr_kernel *k, counters *n)
{
    mcr_status s = MCR_OK;
    for (int c = 0; c < k->children && !s; c++)
        s = put_lists(w, k->child[c], n);
    if (!s && mcr_portable_is_listed(k))
        put_list(w, k, n->list);
    if (!s && is_string(k))
        s = mcr_c_string_kernel(w, k, n->leaf);
    count_node(k, n);
    return s ? s : w->status;
}

/* ---- the expression ---------------------------------------------------------------------------*/

/* HELPER(x->v + F, z->v + F, N[, by]) */
static void put_pair(mcr_c_writer *w, const char *name, const mcr_kernel *k, const counters *n,
                     const char *x, const char *z)
{
    const mcr_part *part = mcr_portable_part(w->p, k->field);
    mcr_c_put(w, "@_%s%s(%s->v + %lld, %s->v + %lld, %lld", name,
              mcr_portable_is_listed(k) ? "_by" : "", x, (long long)part->first, z,
              (long long)part->first, (long long)part->count);
    if (mcr_portable_is_listed(k))
        mcr_c_put(w, ", @_by%lld", (long long)n->list);
    mcr_c_put(w, ")");
}

/* exp(-gamma * ...); lists already include gamma. */
static void put_fall(mcr_c_writer *w, const char *name, const mcr_kernel *k, const counters *n,
                     const char *x, const char *z)
{
    mcr_c_put(w, "$_EXP(-");
    if (!mcr_portable_is_listed(k))
        mcr_c_put(w, "%s * ", mcr_c_number(w, mcr_kernel_number(k, "gamma")));
    put_pair(w, name, k, n, x, z);
    mcr_c_put(w, ")");
}

static void put_leaf(mcr_c_writer *w, const mcr_kernel *k, const counters *n, const char *x,
                     const char *z)
{
    const mcr_kernel_type *t = k->type;
    double value, length = mcr_portable_is_listed(k) ? 1 : mcr_kernel_number(k, "length");
    if (mcr_kernel_is_constant(k, &value)) {
        mcr_c_put(w, value < 0 ? "(%s)" : "%s", mcr_c_number(w, value));
    } else if (t == &mcr_kernel_linear || t == &mcr_kernel_mahalanobis) {
        put_pair(w, "dot", k, n, x, z);
    } else if (t == &mcr_kernel_poly) {
        mcr_c_put(w, "@_power(%s * ", mcr_c_number(w, mcr_kernel_number(k, "scale")));
        put_pair(w, "dot", k, n, x, z);
        mcr_c_put(w, " + %s, %lld)", mcr_c_number(w, mcr_kernel_number(k, "c")),
                  (long long)mcr_kernel_number(k, "degree"));
    } else if (t == &mcr_kernel_rbf) {
        put_fall(w, "square", k, n, x, z);
    } else if (t == &mcr_kernel_laplace) {
        put_fall(w, "absolute", k, n, x, z);
    } else if (t == &mcr_kernel_chi2) {
        put_fall(w, "chi2", k, n, x, z);
    } else if (t == &mcr_kernel_matern) {
        double nu = mcr_kernel_number(k, "nu");
        mcr_c_put(w, "@_matern(%s * $_SQRT(", mcr_c_number(w, sqrt(2 * nu) / length));
        put_pair(w, "square", k, n, x, z);
        mcr_c_put(w, "), %d)", (int)nu);
    } else if (t == &mcr_kernel_rq) {
        double alpha = mcr_kernel_number(k, "alpha");
        mcr_c_put(w, "@_rational(%s * ", mcr_c_number(w, 0.5 / alpha / length / length));
        put_pair(w, "square", k, n, x, z);
        mcr_c_put(w, ", %s)", mcr_c_number(w, alpha));
    } else if (t == &mcr_kernel_sigmoid) {
        mcr_c_put(w, "$_TANH(%s * ", mcr_c_number(w, mcr_kernel_number(k, "a")));
        put_pair(w, "dot", k, n, x, z);
        mcr_c_put(w, " + %s)", mcr_c_number(w, mcr_kernel_number(k, "b")));
    } else if (t == &mcr_kernel_cosine) {
        mcr_c_put(w, "@_clip(");
        put_pair(w, "dot", k, n, x, z);
        mcr_c_put(w, " * %s->own[%lld] * %s->own[%lld])", x, (long long)n->own, z,
                  (long long)n->own);
    } else if (t == &mcr_kernel_intersection) {
        put_pair(w, "common", k, n, x, z);
    } else {
        int64_t string = mcr_portable_string(k->field);
        mcr_c_put(w, "@_strings%lld(%s->text%lld, %s->length%lld, %s->text%lld, %s->length%lld)",
                  (long long)n->leaf, x, (long long)string, x, (long long)string, z,
                  (long long)string, z, (long long)string);
    }
}

static void put_value(mcr_c_writer *w, const mcr_kernel *k, counters *n, const char *x,
                      const char *z)
{
    const mcr_kernel_type *t = k->type;
    if (k->children == 0)
        put_leaf(w, k, n, x, z);
    else
        mcr_c_put(w, "%s(",
                  t == &mcr_kernel_power       ? "@_power"
                  : t == &mcr_kernel_exp       ? "$_EXP"
                  : t == &mcr_kernel_normalize ? "@_unit"
                                               : "");
    for (int c = 0; c < k->children; c++) {
        if (c > 0)
            mcr_c_put(w, t == &mcr_kernel_sum ? " + " : " * ");
        put_value(w, k->child[c], n, x, z);
    }
    if (t == &mcr_kernel_power)
        mcr_c_put(w, ", %lld", (long long)mcr_kernel_degree(k));
    if (k->children > 0 && is_own(k))
        mcr_c_put(w, " * %s->own[%lld] * %s->own[%lld]", x, (long long)n->own, z,
                  (long long)n->own);
    if (k->children > 0)
        mcr_c_put(w, ")");
    count_node(k, n);
}

/* ---- what an object brings --------------------------------------------------------------------*/

static void put_own(mcr_c_writer *w, const mcr_kernel *k, counters *n)
{
    counters before = *n;
    for (int c = 0; c < k->children; c++)
        put_own(w, k->child[c], n);
    if (is_own(k)) {
        int64_t column = -1;
        const mcr_part *part = k->type == &mcr_kernel_conformal
                                   ? mcr_portable_factor(w->p, k, &column)
                                   : NULL;
        if (k->type == &mcr_kernel_cosine)
            part = mcr_portable_part(w->p, k->field);
        mcr_c_put(w, "    k = ");
        if (column >= 0)
            mcr_c_put(w, "x->v[%lld]", (long long)(part->first + column));
        else if (part)
            mcr_c_put(w, "@_dot(x->v + %lld, x->v + %lld, %lld)", (long long)part->first,
                      (long long)part->first, (long long)part->count);
        else
            put_value(w, k->child[0], &before, "x", "x");
        mcr_c_put(w, ";\n    own[%lld] = %s;\n", (long long)n->own,
                  column >= 0                        ? "k"
                  : k->type == &mcr_kernel_conformal ? "$_SQRT(k)"
                                                     : "k > 0 ? 1 / $_SQRT(k) : 0");
    }
    count_node(k, n);
}

/* ---- the own numbers of support vectors -------------------------------------------------------*/

static mcr_status own_of(mcr_c_writer *w, const mcr_data *data, const double *vector,
                         const mcr_kernel *k, counters *n, double *to)
{
    const mcr_portable *p = w->p;
    mcr_status s = MCR_OK;
    for (int c = 0; c < k->children && !s; c++)
        s = own_of(w, data, vector, k->child[c], n, to);
    if (s || !is_own(k)) {
        count_node(k, n);
        return s;
    }
    double *own = mcr_alloc(p->ctx, (size_t)p->basis + 1, sizeof *own);
    s = own ? mcr_portable_own(own, p, k, data, vector) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < p->basis && !s; i++)
        to[i * w->owns + n->own] = own[i];
    mcr_free(p->ctx, own);
    count_node(k, n);
    return s;
}

mcr_status mcr_c_own_numbers(double **out, mcr_c_writer *w)
{
    const mcr_portable *p = w->p;
    counters n = {0, 0, 0};
    mcr_data *moved = NULL;
    double *vector = NULL;
    mcr_status s = MCR_OK;
    *out = NULL;
    if (w->owns == 0 || p->basis == 0)
        return MCR_OK;
    if (!(*out = mcr_alloc(w->ctx, (uint64_t)(p->basis * w->owns), sizeof **out)))
        return MCR_NO_MEMORY;
    if (w->int8.q) {
        vector = mcr_alloc(w->ctx, (uint64_t)(p->basis * p->width) + 1, sizeof *vector);
        for (int64_t i = 0; vector && i < p->basis * p->width; i++)
            vector[i] = w->int8.middle[i % p->width] + w->int8.step[i % p->width] * w->int8.q[i];
        s = vector ? mcr_portable_data(&moved, p, vector) : MCR_NO_MEMORY;
    }
    if (!s)
        s = own_of(w, moved ? moved : p->data, vector ? vector : p->vector, p->kernel, &n, *out);
    if (!s && p->second)
        s = own_of(w, p->data, p->vector, p->second, &n, *out);
    mcr_data_free(moved);
    mcr_free(w->ctx, vector);
    return s;
}

/* ---- the input --------------------------------------------------------------------------------*/

static void put_scaled(mcr_c_writer *w, const mcr_part *part)
{
    const mcr_port *port = &w->p->port[part->port];
    char at[32];
    snprintf(at, sizeof at, port->first ? "%lld + k" : "k", (long long)port->first);
    if (port->scaling)
        mcr_c_put(w, "(x[%s] - $_READ(@_shift%lld + k)) * $_READ(@_factor%lld + k)", at,
                  (long long)part->port, (long long)part->port);
    else
        mcr_c_put(w, "x[%s]", at);
}

static void put_part(mcr_c_writer *w, const mcr_part *part, int64_t number)
{
    int64_t cols = w->p->port[part->port].cols;
    if (part->map == MCR_PART_PROJECT)
        mcr_c_put(w, "    for (@_index k = 0; k < %lld; k++)\n        v[%lld + k] = 0;\n",
                  (long long)part->count, (long long)part->first);
    mcr_c_put(w, "    for (@_index k = 0; k < %lld; k++)%s\n", (long long)cols,
              part->map == MCR_PART_PROJECT ? " {" : "");
    if (part->map == MCR_PART_PROJECT) {
        mcr_c_put(w, "        @_real s = ");
        put_scaled(w, part);
        mcr_c_put(w,
                  ";\n        for (@_index j = 0; j < %lld; j++)\n"
                  "            v[%lld + j] += s * $_READ(@_matrix%lld + k * %lld + j);\n    }\n",
                  (long long)part->count, (long long)part->first, (long long)number,
                  (long long)part->count);
        return;
    }
    mcr_c_put(w, part->map == MCR_PART_PLAIN ? "        v[%lld + k] = " : "        @_circle(",
              (long long)part->first);
    put_scaled(w, part);
    if (part->map == MCR_PART_CIRCLE)
        mcr_c_put(w, ", $_READ(@_period%lld + k), v + %lld + 2 * k);\n", (long long)number,
                  (long long)part->first);
    else
        mcr_c_put(w, ";\n");
}

static void put_prepare(mcr_c_writer *w)
{
    if (w->p->parts == 0)
        return;
    mcr_c_put(w, "/* The input, scaled and mapped. */\n"
                 "static void @_prepare(const @_real *x, @_real *v)\n{\n");
    for (int64_t q = 0; q < w->p->parts; q++)
        put_part(w, &w->p->part[q], q);
    mcr_c_put(w, "}\n\n");
}

/* ---- all of it --------------------------------------------------------------------------------*/

static void put_function(mcr_c_writer *w, const mcr_kernel *k, const char *name, counters *n)
{
    mcr_c_put(w, "static @_real @_%s(const @_object *x, const @_object *z)\n{\n", name);
    double constant;
    if (mcr_kernel_is_constant(k, &constant))
        mcr_c_put(w, "    (void)x;\n    (void)z;\n");
    mcr_c_put(w, "    return ");
    put_value(w, k, n, "x", "z");
    mcr_c_put(w, ";\n}\n\n");
}

mcr_status mcr_c_kernel(mcr_c_writer *w)
{
    const mcr_portable *p = w->p;
    counters n = {0, 0, 0}, at = {0, 0, 0}, own = {0, 0, 0};
    put_helpers(w);
    mcr_status s = put_lists(w, p->kernel, &n);
    if (!s && p->second)
        s = put_lists(w, p->second, &n);
    if (s)
        return s;
    mcr_c_put(w, "/* K(x, z). */\n");
    put_function(w, p->kernel, "kernel", &at);
    if (p->second)
        put_function(w, p->second, "second", &at);
    put_prepare(w);
    if (w->owns > 0) {
        mcr_c_put(w, "/* What the object brings to the kernel. x->own is own. */\n"
                     "static void @_measure(const @_object *x, @_real *own)\n{\n    @_real k;\n");
        put_own(w, p->kernel, &own);
        if (p->second)
            put_own(w, p->second, &own);
        mcr_c_put(w, "}\n\n");
    }
    return w->status;
}
