/* onnx_kernel.c: kernel values as ONNX operators, matrices of objects x support vectors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "export/onnx_graph.h"
#include "kernel/built_in.h"
#include "kernel/parts.h"

/* Up to this many columns squared distances are sums of squared differences; beyond, they are
 * computed from inner products, which takes less memory. */
enum { DIFFERENCES = 32 };

/* ---- the input --------------------------------------------------------------------------------*/

mcr_tensor mcr_onnx_port(mcr_onnx *g, int64_t number)
{
    const mcr_port *port = &g->p->port[number];
    mcr_tensor x = 0;
    const int64_t row[] = {1, port->cols, -1};
    if (port->cols < g->p->inputs) {
        mcr_onnx_set_int(g, "axis", 1);
        x = mcr_onnx_2(g, "Gather", 0, mcr_onnx_range(g, port->first, port->cols));
    }
    if (port->scaling) {
        x = mcr_onnx_2(g, "Sub", x, mcr_onnx_reals(g, port->scaling->shift, row));
        x = mcr_onnx_2(g, "Mul", x, mcr_onnx_reals(g, port->scaling->factor, row));
    }
    return x;
}

/* Points on circles, (cos t - 1, sin t) for each column. */
static mcr_tensor put_circle(mcr_onnx *g, const mcr_part *part, mcr_tensor x)
{
    int64_t cols = part->count / 2;
    const int64_t row[] = {1, cols, -1}, shape[] = {-1, part->count};
    mcr_tensor period = mcr_onnx_reals(g, part->period, row);
    mcr_onnx_set_int(g, "fmod", 1);
    x = mcr_onnx_2(g, "Div", mcr_onnx_2(g, "Mod", x, period), period);
    mcr_tensor half = mcr_onnx_times(g, x, 3.14159265358979323846);
    mcr_tensor s = mcr_onnx_1(g, "Sin", half);
    mcr_tensor a = mcr_onnx_times(g, mcr_onnx_2(g, "Mul", s, s), -2);
    mcr_tensor b = mcr_onnx_1(g, "Sin", mcr_onnx_times(g, half, 2));
    a = mcr_onnx_add_axis(g, a, 2);
    b = mcr_onnx_add_axis(g, b, 2);
    mcr_onnx_set_int(g, "axis", 2);
    return mcr_onnx_2(g, "Reshape", mcr_onnx_2(g, "Concat", a, b), mcr_onnx_ints(g, shape, 2));
}

mcr_status mcr_onnx_open_parts(mcr_onnx *g, mcr_onnx_parts *parts)
{
    const mcr_portable *p = g->p;
    parts->part = mcr_alloc_zero(g->ctx, (size_t)p->parts + 1, sizeof *parts->part);
    if (!parts->part)
        return MCR_NO_MEMORY;
    for (int64_t q = 0; q < p->parts; q++) {
        const mcr_part *part = &p->part[q];
        mcr_tensor x = mcr_onnx_port(g, part->port);
        const int64_t dims[] = {p->port[part->port].cols, part->count, -1};
        parts->part[q] = part->map == MCR_PART_PLAIN ? x
                         : part->map == MCR_PART_PROJECT
                             ? mcr_onnx_2(g, "MatMul", x, mcr_onnx_reals(g, part->matrix, dims))
                             : put_circle(g, part, x);
    }
    return MCR_OK;
}

/* ---- pairs of vectors -------------------------------------------------------------------------*/

typedef struct leaf {
    mcr_onnx *g;
    const mcr_portable *p;
    const mcr_part *part;
    mcr_tensor x;     /* objects x count */
    const double *by; /* weights of the columns; NULL: 1 */
} leaf;

/* The support vectors of the part, each column times root(by): basis x count, or transposed. */
static mcr_tensor put_support(const leaf *l, double (*root)(double), bool transposed)
{
    int64_t n = l->p->basis, cols = l->part->count;
    double *v = mcr_onnx_zeros(l->g, n, cols);
    for (int64_t i = 0; v && i < n; i++)
        for (int64_t k = 0; k < cols; k++)
            v[transposed ? k * n + i : i * cols + k] =
                l->p->vector[i * l->p->width + l->part->first + k] * (l->by ? root(l->by[k]) : 1);
    return mcr_onnx_matrix(l->g, v, transposed ? cols : n, transposed ? n : cols);
}

/* The objects' columns times root(by). */
static mcr_tensor put_objects(const leaf *l, double (*root)(double))
{
    int64_t cols = l->part->count;
    if (!l->by)
        return l->x;
    double *v = mcr_onnx_zeros(l->g, 1, cols);
    for (int64_t k = 0; v && k < cols; k++)
        v[k] = root(l->by[k]);
    return mcr_onnx_2(l->g, "Mul", l->x, mcr_onnx_matrix(l->g, v, 1, cols));
}

static double as_it_is(double x)
{
    return x;
}

static mcr_tensor put_dot(const leaf *l)
{
    return mcr_onnx_2(l->g, "MatMul", l->x, put_support(l, as_it_is, true));
}

/* objects x 1 x count against 1 x basis x count. */
static void put_both(const leaf *l, double (*root)(double), mcr_tensor *x, mcr_tensor *z)
{
    *x = mcr_onnx_add_axis(l->g, put_objects(l, root), 1);
    *z = mcr_onnx_add_axis(l->g, put_support(l, root, false), 0);
}

/* sum by (x - z)^2 */
static mcr_tensor put_square(const leaf *l, bool exact)
{
    mcr_onnx *g = l->g;
    mcr_tensor x, z;
    if (exact || l->part->count <= DIFFERENCES) {
        put_both(l, sqrt, &x, &z);
        x = mcr_onnx_2(g, "Sub", x, z);
        return mcr_onnx_sum(g, mcr_onnx_2(g, "Mul", x, x), 2, false);
    }
    x = put_objects(l, sqrt);
    z = put_support(l, sqrt, true);
    mcr_tensor xx = mcr_onnx_sum(g, mcr_onnx_2(g, "Mul", x, x), 1, true);
    mcr_tensor zz = mcr_onnx_sum(g, mcr_onnx_2(g, "Mul", z, z), 0, true);
    mcr_tensor xz = mcr_onnx_times(g, mcr_onnx_2(g, "MatMul", x, z), -2);
    mcr_tensor all = mcr_onnx_2(g, "Add", mcr_onnx_2(g, "Add", xx, xz), zz);
    return mcr_onnx_2(g, "Max", all, mcr_onnx_number(g, 0));
}

static mcr_tensor put_absolute(const leaf *l)
{
    mcr_tensor x, z;
    put_both(l, as_it_is, &x, &z);
    return mcr_onnx_sum(l->g, mcr_onnx_1(l->g, "Abs", mcr_onnx_2(l->g, "Sub", x, z)), 2, false);
}

static mcr_tensor put_common(const leaf *l)
{
    mcr_tensor x, z;
    put_both(l, as_it_is, &x, &z);
    return mcr_onnx_sum(l->g, mcr_onnx_2(l->g, "Min", x, z), 2, false);
}

/* Replaces a by 1 where it is not positive, for use as a divisor. */
static mcr_tensor put_safe(mcr_onnx *g, mcr_tensor a, mcr_tensor positive)
{
    return mcr_onnx_2(g, "Add", a, mcr_onnx_2(g, "Sub", mcr_onnx_number(g, 1), positive));
}

static mcr_tensor put_chi2(const leaf *l)
{
    mcr_onnx *g = l->g;
    mcr_tensor x, z;
    put_both(l, as_it_is, &x, &z);
    mcr_tensor d = mcr_onnx_2(g, "Sub", x, z), sum = mcr_onnx_2(g, "Add", x, z);
    sum = put_safe(g, sum, mcr_onnx_positive(g, sum));
    return mcr_onnx_sum(g, mcr_onnx_2(g, "Div", mcr_onnx_2(g, "Mul", d, d), sum), 2, false);
}

/* ---- lengths in feature space -----------------------------------------------------------------*/

/* 1 / sqrt(k), 0 where k is 0. */
static mcr_tensor put_inverse(mcr_onnx *g, mcr_tensor k)
{
    mcr_tensor positive = mcr_onnx_positive(g, k);
    return mcr_onnx_2(g, "Div", positive, mcr_onnx_1(g, "Sqrt", put_safe(g, k, positive)));
}

/* K(x,x) of a plain inner product. */
static mcr_tensor put_norm(const leaf *l)
{
    mcr_tensor x = put_objects(l, sqrt);
    return mcr_onnx_sum(l->g, mcr_onnx_2(l->g, "Mul", x, x), 1, true);
}

/* f(x) of conformal(f=...), a column. */
static mcr_tensor put_factor(mcr_onnx *g, const mcr_onnx_parts *parts, const mcr_kernel *k)
{
    int64_t column;
    const mcr_part *part = mcr_portable_factor(g->p, k, &column);
    leaf l = {g, g->p, part, parts->part[part - g->p->part], NULL};
    if (column < 0)
        return mcr_onnx_1(g, "Sqrt", put_norm(&l));
    mcr_onnx_set_int(g, "axis", 1);
    return mcr_onnx_2(g, "Gather", l.x, mcr_onnx_range(g, column, 1));
}

/* The same for the support vectors, or 1 / sqrt(K(z,z)) of a node's child: a row. */
static mcr_tensor put_support_factor(mcr_onnx *g, const mcr_kernel *k)
{
    const mcr_portable *p = g->p;
    double *own = mcr_onnx_zeros(g, 1, p->basis);
    mcr_status s = own ? mcr_portable_own(own, p, k, p->data, p->vector) : MCR_NO_MEMORY;
    if (s)
        g->status = s;
    return mcr_onnx_matrix(g, own, 1, p->basis);
}

/* ---- nodes ------------------------------------------------------------------------------------*/

static mcr_tensor put_power(mcr_onnx *g, mcr_tensor a, double degree)
{
    return mcr_onnx_2(g, "Pow", a, mcr_onnx_number(g, degree));
}

static mcr_tensor put_fall(mcr_onnx *g, mcr_tensor d, double gamma)
{
    return mcr_onnx_1(g, "Exp", mcr_onnx_times(g, d, -gamma));
}

static mcr_tensor put_matern(mcr_onnx *g, mcr_tensor square, double nu, double length)
{
    mcr_tensor r = mcr_onnx_times(g, mcr_onnx_1(g, "Sqrt", square), sqrt(2 * nu) / length);
    mcr_tensor e = put_fall(g, r, 1), more = mcr_onnx_plus(g, r, 1);
    if (nu == 0.5)
        return e;
    if (nu == 2.5)
        more = mcr_onnx_2(g, "Add", more, mcr_onnx_times(g, mcr_onnx_2(g, "Mul", r, r), 1.0 / 3));
    return mcr_onnx_2(g, "Mul", more, e);
}

/* A constant factor or term, as a row of the kernel's length: runtimes fuse a matrix product with a
 * scalar, which they round to float. */
static mcr_tensor put_constant(mcr_onnx *g, double value, bool self)
{
    int64_t n = self ? 1 : g->p->basis;
    double *row = mcr_onnx_zeros(g, 1, n);
    for (int64_t i = 0; row && i < n; i++)
        row[i] = value;
    return mcr_onnx_matrix(g, row, 1, n);
}

/* A function of the inner product. */
static mcr_tensor put_of_dot(mcr_onnx *g, const mcr_kernel *k, mcr_tensor dot, bool self)
{
    bool poly = k->type == &mcr_kernel_poly;
    if (!poly && k->type != &mcr_kernel_sigmoid)
        return dot;
    double scale = mcr_kernel_number(k, poly ? "scale" : "a");
    double more = mcr_kernel_number(k, poly ? "c" : "b");
    if (scale != 1)
        dot = mcr_onnx_2(g, "Mul", dot, put_constant(g, scale, self));
    dot = mcr_onnx_plus(g, dot, more);
    return poly ? put_power(g, dot, mcr_kernel_number(k, "degree")) : mcr_onnx_1(g, "Tanh", dot);
}

static bool is_of_dot(const mcr_kernel *k)
{
    return k->type == &mcr_kernel_linear || k->type == &mcr_kernel_mahalanobis ||
           k->type == &mcr_kernel_poly || k->type == &mcr_kernel_sigmoid;
}

static mcr_tensor put_of_distance(const leaf *l, const mcr_kernel *k, bool listed)
{
    const mcr_kernel_type *t = k->type;
    double gamma = listed ? 1 : mcr_kernel_number(k, "gamma");
    double length = listed ? 1 : mcr_kernel_number(k, "length");
    if (t == &mcr_kernel_rbf)
        return put_fall(l->g, put_square(l, false), gamma);
    if (t == &mcr_kernel_laplace)
        return put_fall(l->g, put_absolute(l), gamma);
    if (t == &mcr_kernel_matern)
        return put_matern(l->g, put_square(l, true), mcr_kernel_number(k, "nu"), length);
    double alpha = mcr_kernel_number(k, "alpha");
    mcr_tensor u = mcr_onnx_times(l->g, put_square(l, false), 0.5 / alpha / length / length);
    return put_power(l->g, mcr_onnx_plus(l->g, u, 1), -alpha);
}

static mcr_tensor put_leaf(mcr_onnx *g, const mcr_onnx_parts *parts, const mcr_kernel *k, bool self)
{
    const mcr_kernel_type *t = k->type;
    const mcr_part *part = mcr_portable_part(g->p, k->field);
    leaf l = {g, g->p, part, parts->part[part - g->p->part], NULL};
    bool listed = mcr_portable_is_listed(k);
    double *by = listed ? mcr_onnx_zeros(g, 1, part->count) : NULL;
    if (by)
        mcr_portable_weights(by, part->count, k);
    l.by = by;
    mcr_tensor out = 0;
    if (is_of_dot(k)) {
        out = put_of_dot(g, k, self ? put_norm(&l) : put_dot(&l), self);
    } else if (t == &mcr_kernel_cosine) {
        mcr_tensor norm = put_norm(&l);
        out = self ? mcr_onnx_positive(g, norm)
                   : mcr_onnx_2(g, "Mul", mcr_onnx_2(g, "Mul", put_dot(&l), put_inverse(g, norm)),
                                put_support_factor(g, k));
    } else if (t == &mcr_kernel_intersection) {
        out = self ? mcr_onnx_sum(g, l.x, 1, true) : put_common(&l);
    } else if (self) {
        out = mcr_onnx_number(g, 1);
    } else if (t == &mcr_kernel_chi2) {
        out = put_fall(g, put_chi2(&l), mcr_kernel_number(k, "gamma"));
    } else {
        out = put_of_distance(&l, k, listed);
    }
    mcr_free(g->ctx, by);
    return out;
}

static mcr_tensor put_node(mcr_onnx *g, const mcr_onnx_parts *parts, const mcr_kernel *k, bool self)
{
    const mcr_kernel_type *t = k->type;
    double constant;
    if (mcr_kernel_is_constant(k, &constant))
        return put_constant(g, constant, self);
    if (k->children == 0)
        return put_leaf(g, parts, k, self);
    mcr_tensor a = put_node(g, parts, k->child[0], self);
    for (int c = 1; c < k->children; c++)
        a = mcr_onnx_2(g, t == &mcr_kernel_sum ? "Add" : "Mul", a,
                       put_node(g, parts, k->child[c], self));
    if (t == &mcr_kernel_power)
        return put_power(g, a, (double)mcr_kernel_degree(k));
    if (t == &mcr_kernel_exp)
        return mcr_onnx_1(g, "Exp", a);
    if (t == &mcr_kernel_normalize && self)
        return mcr_onnx_positive(g, a);
    if (t == &mcr_kernel_normalize) {
        mcr_tensor x = put_inverse(g, put_node(g, parts, k->child[0], true));
        return mcr_onnx_2(g, "Mul", mcr_onnx_2(g, "Mul", a, x), put_support_factor(g, k));
    }
    if (t == &mcr_kernel_conformal) {
        mcr_tensor x = put_factor(g, parts, k);
        return mcr_onnx_2(g, "Mul", mcr_onnx_2(g, "Mul", a, x),
                          self ? x : put_support_factor(g, k));
    }
    return a;
}

mcr_tensor mcr_onnx_kernel(mcr_onnx *g, const mcr_onnx_parts *parts, const mcr_kernel *kernel)
{
    return put_node(g, parts, kernel, false);
}

/* A value that is the same for all objects still needs a row for each. */
mcr_tensor mcr_onnx_self(mcr_onnx *g, const mcr_onnx_parts *parts, const mcr_kernel *kernel)
{
    mcr_tensor k = put_node(g, parts, kernel, true);
    mcr_tensor column = mcr_onnx_times(g, mcr_onnx_sum(g, 0, 1, true), 0);
    mcr_tensor zero = mcr_onnx_matrix(g, mcr_onnx_zeros(g, 1, 1), 1, 1);
    return mcr_onnx_2(g, "Add", mcr_onnx_2(g, "Add", k, column), zero);
}
