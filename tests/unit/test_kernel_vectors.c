/* test_kernel_vectors.c: every kernel on vectors against its formula, pair by pair in long double.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "vector_helpers.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

typedef long double real;

/* ---- the formulas -----------------------------------------------------------------------------*/

static real dot(const double *x, const double *z, int64_t d)
{
    real s = 0;
    for (int64_t k = 0; k < d; k++)
        s += (real)x[k] * z[k];
    return s;
}

static real square(const double *x, const double *z, int64_t d)
{
    real s = 0;
    for (int64_t k = 0; k < d; k++)
        s += ((real)x[k] - z[k]) * ((real)x[k] - z[k]);
    return s;
}

static real linear(const double *x, const double *z, int64_t d)
{
    return dot(x, z, d);
}

static real poly(const double *x, const double *z, int64_t d)
{
    return powl(0.5L * dot(x, z, d) + 1, 3);
}

static real rbf(const double *x, const double *z, int64_t d)
{
    return expl(-0.3L * square(x, z, d));
}

static real laplace(const double *x, const double *z, int64_t d)
{
    real s = 0;
    for (int64_t k = 0; k < d; k++)
        s += fabsl((real)x[k] - z[k]);
    return expl(-0.25L * s);
}

static real matern(const double *x, const double *z, int64_t d, real nu, real length)
{
    real r = sqrtl(2 * nu * square(x, z, d)) / length;
    real front = nu == 0.5L ? 1 : nu == 1.5L ? 1 + r : 1 + r + r * r / 3;
    return front * expl(-r);
}

static real matern1(const double *x, const double *z, int64_t d)
{
    return matern(x, z, d, 0.5L, 2);
}

static real matern3(const double *x, const double *z, int64_t d)
{
    return matern(x, z, d, 1.5L, 0.7L);
}

static real matern5(const double *x, const double *z, int64_t d)
{
    return matern(x, z, d, 2.5L, 3);
}

static real rq(const double *x, const double *z, int64_t d)
{
    return powl(1 + square(x, z, d) / (2 * 1.7L * 4), -1.7L);
}

static real rq_large(const double *x, const double *z, int64_t d)
{
    return expl(-1e6L * log1pl(square(x, z, d) / 2e6L));
}

static real periodic(const double *x, const double *z, int64_t d)
{
    const real pi = 3.14159265358979323846264338327950288L;
    real s = 0;
    for (int64_t k = 0; k < d; k++) {
        real a = sinl(pi * ((real)x[k] - z[k]) / 0.8L);
        s += a * a;
    }
    return expl(-2 * s / (1.5L * 1.5L));
}

static real sigmoid(const double *x, const double *z, int64_t d)
{
    return tanhl(0.2L * dot(x, z, d) - 0.1L);
}

static real cosine(const double *x, const double *z, int64_t d)
{
    real length = sqrtl(dot(x, x, d) * dot(z, z, d));
    return length > 0 ? dot(x, z, d) / length : 0;
}

static real chi2(const double *x, const double *z, int64_t d)
{
    real s = 0;
    for (int64_t k = 0; k < d; k++)
        if (x[k] + z[k] > 0)
            s += ((real)x[k] - z[k]) * ((real)x[k] - z[k]) / ((real)x[k] + z[k]);
    return expl(-0.4L * s);
}

static real intersection(const double *x, const double *z, int64_t d)
{
    real s = 0;
    for (int64_t k = 0; k < d; k++)
        s += x[k] < z[k] ? x[k] : z[k];
    return s;
}

static real mixture(const double *x, const double *z, int64_t d)
{
    return linear(x, z, d) + 2 * rbf(x, z, d) + matern5(x, z, d) * cosine(x, z, d);
}

static real distances(const double *x, const double *z, int64_t d)
{
    return rbf(x, z, d) * matern3(x, z, d) + matern1(x, z, d);
}

static real products(const double *x, const double *z, int64_t d)
{
    return poly(x, z, d) + sigmoid(x, z, d) * linear(x, z, d);
}

typedef struct formula {
    const char *text;
    real (*value)(const double *x, const double *z, int64_t d);
    bool positive; /* needs values from 0 up */
    double single; /* tolerance in float tiles */
} formula;

static const formula formulas[] = {
    {"linear", linear, false, 1e-5},
    {"mahalanobis(diag=1)", linear, false, 1e-5},
    {"poly(degree=3, scale=0.5, c=1)", poly, false, 1e-4},
    {"rbf(gamma=0.3)", rbf, false, 1e-5},
    {"laplace(gamma=0.25)", laplace, false, 1e-5},
    {"matern(nu=0.5, length=2)", matern1, false, 3e-5},
    {"matern(nu=1.5, length=0.7)", matern3, false, 3e-5},
    {"matern(nu=2.5, length=3)", matern5, false, 1e-5},
    {"rq(alpha=1.7, length=2)", rq, false, 1e-5},
    {"rq(alpha=1e6)", rq_large, false, 1e-5},
    {"periodic(period=0.8, length=1.5)", periodic, false, 1e-5},
    {"sigmoid(a=0.2, b=-0.1)", sigmoid, false, 1e-5},
    {"cosine", cosine, false, 1e-5},
    {"chi2(gamma=0.4)", chi2, true, 1e-5},
    {"intersection", intersection, true, 1e-5},
    {"linear + 2*rbf(gamma=0.3) + matern(nu=2.5, length=3)*cosine", mixture, false, 2e-5},
    {"rbf(gamma=0.3)*matern(nu=1.5, length=0.7) + matern(nu=0.5, length=2)", distances, false,
     3e-5},
    {"poly(degree=3, scale=0.5, c=1) + sigmoid(a=0.2, b=-0.1)*linear", products, false, 1e-4},
};
enum { FORMULAS = sizeof formulas / sizeof *formulas };

/* ---- blocks -----------------------------------------------------------------------------------*/

/* K of all rows and columns by the formula: computed once, looked up by every comparison. */
static double *all_values(const formula *f, const plain *px, const plain *pz)
{
    double *k = calloc((size_t)(px->n * pz->n), sizeof *k);
    for (int64_t i = 0; i < px->n; i++)
        for (int64_t j = 0; j < pz->n; j++)
            k[i * pz->n + j] = (double)f->value(px->x + i * px->d, pz->x + j * pz->d, px->d);
    return k;
}

static void compare(const bound_kernel *b, const formula *f, const double *all, int64_t ld,
                    mcr_rows x, mcr_rows z)
{
    size_t count = (size_t)(x.count * z.count);
    double *want = calloc(count, sizeof *want), *got = calloc(count, sizeof *got);
    for (int64_t i = 0; i < x.count; i++)
        for (int64_t j = 0; j < z.count; j++)
            want[i * z.count + j] = all[mcr_rows_at(x, i) * ld + mcr_rows_at(z, j)];
    block(b, x, z, true, got);
    test_close_relative(f->text, got, want, (int64_t)count, 1e-12);
    block(b, x, z, false, got);
    test_close_relative(f->text, got, want, (int64_t)count, f->single);
    free(want);
    free(got);
}

/* Ranges that start anywhere, lists with repeats, whole tiles. */
static void compare_parts(const bound_kernel *b, const formula *f, const double *all, int64_t n,
                          int64_t m)
{
    int64_t rows[70], columns[90];
    mcr_random r = mcr_random_stream(7, "rows", 0);
    for (int64_t i = 0; i < 70; i++)
        rows[i] = mcr_random_below(&r, n);
    for (int64_t j = 0; j < 90; j++)
        columns[j] = mcr_random_below(&r, m);
    compare(b, f, all, m, range(0, n), range(0, m));
    compare(b, f, all, m, range(3, n - 5), range(5, m - 7));
    compare(b, f, all, m, listed(rows, 70), range(0, m));
    compare(b, f, all, m, listed(rows, 61), range(32, m - 33));
    compare(b, f, all, m, range(1, 1), listed(columns, 90));
    compare(b, f, all, m, listed(rows, 13), listed(columns, 1));
    compare(b, f, all, m, range(0, 0), range(0, 1));
}

typedef struct shape {
    int64_t n, m, d;
    double density, at, spread;
    bool either;
} shape;

static void compare_shape(mcr *ctx, const shape *s)
{
    for (int f = 0; f < FORMULAS; f++) {
        bool either = s->either && !formulas[f].positive;
        plain px = plain_random(s->n, s->d, s->density, s->at, s->spread, either, 1);
        plain pz = plain_random(s->m, s->d, s->density, s->at, s->spread, either, 2);
        double *all = all_values(&formulas[f], &px, &pz);
        for (int form = 0; form < 4; form++) {
            mcr_data *x = data_as(ctx, &px, form & 1), *z = data_as(ctx, &pz, form & 2);
            bound_kernel b = bind_kernel(ctx, formulas[f].text, x, z);
            compare_parts(&b, &formulas[f], all, px.n, pz.n);
            unbind_kernel(&b);
            mcr_data_free(x);
            mcr_data_free(z);
        }
        free(all);
        free(px.x);
        free(pz.x);
    }
}

static void blocks_are_right_on_dense_values(void **state)
{
    static const shape shapes[] = {
        {67, 131, 1, 1, 0, 1, true},
        {75, 97, 3, 1, 0, 1, true},
        {83, 301, 22, 1, 0, 0.4, true},
        {71, 67, 67, 1, 0, 0.3, false},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        compare_shape(*state, &shapes[s]);
}

static void blocks_are_right_on_sparse_values(void **state)
{
    static const shape shapes[] = {
        {69, 133, 40, 0.2, 0, 1, true},
        {73, 95, 300, 0.05, 0, 1, true},
        {66, 70, 5, 0.0, 0, 1, true}, /* all zero */
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        compare_shape(*state, &shapes[s]);
}

/* So many features that columns are packed with those they have only. */
static void blocks_are_right_on_wide_values(void **state)
{
    const shape s = {66, 141, 2000, 0.003, 0, 1, true};
    compare_shape(*state, &s);
}

/* Away from the origin: vectors are shifted, dot products come back by rank-one terms. */
static void blocks_are_right_far_from_the_origin(void **state)
{
    mcr *ctx = *state;
    static const char *const texts[] = {"rbf(gamma=0.3)", "matern(nu=0.5, length=2)",
                                        "rbf(gamma=0.3)*matern(nu=1.5, length=0.7)",
                                        "linear + rbf(gamma=0.3)", "laplace(gamma=0.25)"};
    plain p = plain_random(100, 7, 1, 50, 1, false, 3);
    for (int sparse = 0; sparse < 2; sparse++)
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            mcr_data *x = data_as(ctx, &p, sparse);
            bound_kernel b = bind_kernel(ctx, texts[t], x, NULL);
            double *k = calloc(10000, sizeof *k), *want = calloc(10000, sizeof *want);
            for (int64_t i = 0; i < 100; i++)
                for (int64_t j = 0; j < 100; j++) {
                    const double *u = p.x + i * 7, *v = p.x + j * 7;
                    real w = t == 0   ? rbf(u, v, 7)
                             : t == 1 ? matern1(u, v, 7)
                             : t == 2 ? rbf(u, v, 7) * matern3(u, v, 7)
                             : t == 3 ? linear(u, v, 7) + rbf(u, v, 7)
                                      : laplace(u, v, 7);
                    want[i * 100 + j] = (double)w;
                }
            block(&b, range(0, 100), range(0, 100), true, k);
            test_close_relative(texts[t], k, want, 10000, 1e-13);
            block(&b, range(0, 100), range(0, 100), false, k);
            test_close_relative(texts[t], k, want, 10000, 3e-6);
            free(k);
            free(want);
            unbind_kernel(&b);
            mcr_data_free(x);
        }
    free(p.x);
}

/* ---- properties -------------------------------------------------------------------------------*/

static void same_objects_give_a_symmetric_matrix(void **state)
{
    mcr *ctx = *state;
    for (int form = 0; form < 3; form++) { /* dense, sparse, wide */
        int64_t d = form == 2 ? 2000 : 19;
        plain p = plain_random(150, d, form == 0 ? 1 : form == 1 ? 0.2 : 0.003, 0, 1, false, 5);
        for (int64_t k = 0; k < d; k++) /* two equal objects */
            p.x[149 * d + k] = p.x[10 * d + k];
        mcr_data *x = data_as(ctx, &p, form > 0);
        for (int f = 0; f < FORMULAS; f++)
            for (int precise = 0; precise < 2; precise++) {
                bound_kernel b = bind_kernel(ctx, formulas[f].text, x, NULL);
                double *k = calloc(150 * 150, sizeof *k), *part = calloc(150 * 20, sizeof *part);
                block(&b, range(0, 150), range(0, 150), precise, k);
                for (int64_t i = 0; i < 150; i++)
                    for (int64_t j = 0; j < i; j++)
                        if (k[i * 150 + j] != k[j * 150 + i])
                            fail_msg("%s: K(%d,%d) differs from K(%d,%d)", formulas[f].text, (int)i,
                                     (int)j, (int)j, (int)i);
                /* The place in a block does not matter. */
                block(&b, range(130, 20), range(0, 150), precise, part);
                for (int64_t i = 0; i < 20 * 150; i++)
                    assert_true(part[i] == k[130 * 150 + i]);
                block(&b, range(0, 150), range(13, 20), precise, part);
                for (int64_t i = 0; i < 150; i++)
                    for (int64_t j = 0; j < 20; j++)
                        assert_true(part[i * 20 + j] == k[i * 150 + 13 + j]);
                bool one = strncmp(formulas[f].text, "rbf(gamma=0.3)", 15) == 0 ||
                           strncmp(formulas[f].text, "periodic", 8) == 0;
                if (one) {
                    assert_true(k[149 * 150 + 10] == 1);
                    assert_true(k[77 * 150 + 77] == 1);
                }
                free(k);
                free(part);
                unbind_kernel(&b);
            }
        mcr_data_free(x);
        free(p.x);
    }
}

static void diagonals_are_those_of_blocks(void **state)
{
    mcr *ctx = *state;
    plain p = plain_random(61, 23, 0.6, 0, 1, false, 8);
    const int64_t some[] = {60, 0, 7, 7, 33};
    for (int sparse = 0; sparse < 2; sparse++) {
        mcr_data *x = data_as(ctx, &p, sparse);
        for (int f = 0; f < FORMULAS; f++) {
            bound_kernel b = bind_kernel(ctx, formulas[f].text, x, NULL);
            double k[61 * 61], diagonal[61], few[5];
            block(&b, range(0, 61), range(0, 61), true, k);
            test_ok(ctx, mcr_bound_diagonal(b.binding->root, 1, range(0, 61), diagonal));
            test_ok(ctx, mcr_bound_diagonal(b.binding->root, 0, listed(some, 5), few));
            for (int64_t i = 0; i < 61; i++)
                test_close_real(formulas[f].text, diagonal[i], k[i * 62],
                                1e-14 * fmax(1, fabs(k[i * 62])));
            for (int64_t i = 0; i < 5; i++)
                assert_true(few[i] == diagonal[some[i]]);
            unbind_kernel(&b);
        }
        mcr_data_free(x);
    }
    free(p.x);
}

/* ---- accuracy ---------------------------------------------------------------------------------*/

static void check_rbf(mcr *ctx, const plain *p, double gamma, double tolerance, double single)
{
    char text[64];
    snprintf(text, sizeof text, "rbf(gamma=%.0f)", gamma);
    size_t count = (size_t)(p->n * p->n);
    double *want = calloc(count, sizeof *want), *k = calloc(count, sizeof *k);
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->n; j++)
            want[i * p->n + j] = (double)expl(-(real)gamma *
                                              square(p->x + i * p->d, p->x + j * p->d, p->d));
    for (int form = 0; form < 4; form++) {
        mcr_data *x = data_as(ctx, p, form & 1), *z = data_as(ctx, p, form & 2);
        bound_kernel b = bind_kernel(ctx, text, x, z);
        block(&b, range(0, p->n), range(0, p->n), true, k);
        test_close_arrays("double", k, want, (int64_t)count, tolerance);
        for (int64_t i = 0; i < p->n; i++)
            assert_true(k[i * p->n + i] == 1);
        block(&b, range(0, p->n), range(0, p->n), false, k);
        test_close_arrays("float", k, want, (int64_t)count, single);
        for (int64_t i = 0; i < p->n; i++)
            assert_true(k[i * p->n + i] == 1);
        unbind_kernel(&b);
        mcr_data_free(x);
        mcr_data_free(z);
    }
    free(want);
    free(k);
}

static void near_points_far_away_keep_their_digits(void **state)
{
    plain p = plain_random(90, 5, 1, 1e4 - 1e-3, 2e-3, false, 11);
    check_rbf(*state, &p, 1e6, 1e-13, 2e-5);
    free(p.x);
}

static void two_clusters_keep_their_digits(void **state)
{
    plain p = plain_random(90, 5, 1, 1e4 - 1e-3, 2e-3, false, 12);
    for (int64_t i = 1; i < p.n; i += 2)
        for (int64_t k = 0; k < p.d; k++)
            p.x[i * p.d + k] = -p.x[i * p.d + k];
    check_rbf(*state, &p, 1e6, 1e-13, 2e-5);
    free(p.x);
}

/* Gaps keep the rows sparse, so that they cannot be shifted. */
static void sparse_clusters_keep_their_digits(void **state)
{
    plain p = plain_random(90, 12, 1, 1e4 - 1e-3, 2e-3, false, 13);
    for (int64_t i = 0; i < p.n; i++)
        for (int64_t k = 0; k < p.d; k++)
            if ((k + i) % 3 != 0)
                p.x[i * p.d + k] = 0;
    check_rbf(*state, &p, 1e6, 1e-13, 2e-5);
    free(p.x);
}

static void an_outlier_spoils_nothing(void **state)
{
    mcr *ctx = *state;
    plain p = plain_random(80, 6, 1, 0, 1, true, 14);
    for (int64_t k = 0; k < p.d; k++)
        p.x[40 * p.d + k] = 1e9;
    mcr_data *x = data_dense(ctx, &p);
    bound_kernel b = bind_kernel(ctx, "linear + rbf(gamma=0.3)", x, NULL);
    double k[80 * 80];
    block(&b, range(0, 80), range(0, 80), true, k);
    for (int64_t i = 0; i < 80; i++)
        for (int64_t j = 0; j < 80; j++) {
            const double *u = p.x + i * p.d, *v = p.x + j * p.d;
            double want = (double)(linear(u, v, p.d) + rbf(u, v, p.d));
            test_close_real("outlier", k[i * 80 + j], want, 1e-13 * fmax(1, fabs(want)));
        }
    unbind_kernel(&b);
    mcr_data_free(x);
    free(p.x);
}

static void periods_far_away_keep_their_digits(void **state)
{
    mcr *ctx = *state;
    double values[4] = {0.25, 3e8 + 0.25, -7e8 + 0.75, 0.5};
    plain p = {4, 1, values};
    mcr_data *x = data_dense(ctx, &p);
    bound_kernel b = bind_kernel(ctx, "periodic", x, NULL);
    double k[16];
    block(&b, range(0, 4), range(0, 4), true, k);
    assert_true(k[1] == 1);
    test_close_real("half a period", k[2], exp(-2), 1e-15);
    test_close_real("a quarter", k[3], exp(-1), 1e-15);
    block(&b, range(0, 4), range(0, 4), false, k);
    assert_true(k[1] == 1);
    test_close_real("half a period", k[2], exp(-2), 1e-7);
    unbind_kernel(&b);
    mcr_data_free(x);
}

/* ---- one value per feature --------------------------------------------------------------------*/

static void scales_may_differ_by_feature(void **state)
{
    mcr *ctx = *state;
    static const struct {
        const char *text, *same; /* the second on scaled features */
        double scale[3];
    } cases[] = {
        {"rbf(gamma=[0.25, 4, 1])", "rbf(gamma=1)", {0.5, 2, 1}},
        {"laplace(gamma=[0.5, 2, 1])", "laplace", {0.5, 2, 1}},
        {"matern(nu=2.5, length=[2, 0.5, 1])", "matern(nu=2.5)", {0.5, 2, 1}},
        {"matern(nu=0.5, length=[2, 0.5, 1])", "matern(nu=0.5)", {0.5, 2, 1}},
        {"rq(length=[2, 0.5, 1])", "rq", {0.5, 2, 1}},
        {"mahalanobis(diag=[0.25, 4, 1])", "linear", {0.5, 2, 1}},
        {"mahalanobis(diag=[0.25, 0, 1])", "linear", {0.5, 0, 1}},
        {"periodic(period=[2, 0.5, 1])", "periodic", {0.5, 2, 1}},
    };
    plain p = plain_random(70, 3, 0.7, 0, 1, true, 21);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int sparse = 0; sparse < 2; sparse++) {
            plain q = {p.n, p.d, calloc((size_t)(p.n * p.d), sizeof(double))};
            for (int64_t i = 0; i < p.n * p.d; i++)
                q.x[i] = p.x[i] * cases[c].scale[i % 3];
            mcr_data *x = data_as(ctx, &p, sparse), *y = data_as(ctx, &q, sparse);
            bound_kernel a = bind_kernel(ctx, cases[c].text, x, NULL);
            bound_kernel b = bind_kernel(ctx, cases[c].same, y, NULL);
            double ka[4900], kb[4900];
            block(&a, range(0, 70), range(0, 70), true, ka);
            block(&b, range(0, 70), range(0, 70), true, kb);
            test_close_arrays(cases[c].text, ka, kb, 4900, 1e-13);
            unbind_kernel(&a);
            unbind_kernel(&b);
            mcr_data_free(x);
            mcr_data_free(y);
            free(q.x);
        }
    free(p.x);
}

static void lengths_of_periodic_may_differ(void **state)
{
    mcr *ctx = *state;
    plain p = plain_random(30, 2, 1, 0, 3, true, 22);
    mcr_data *x = data_dense(ctx, &p);
    bound_kernel b = bind_kernel(ctx, "periodic(length=[2, 0.5])", x, NULL);
    double k[900];
    block(&b, range(0, 30), range(0, 30), true, k);
    for (int64_t i = 0; i < 30; i++)
        for (int64_t j = 0; j < 30; j++) {
            double s = sin(M_PI * (p.x[2 * i] - p.x[2 * j])) / 2;
            double t = sin(M_PI * (p.x[2 * i + 1] - p.x[2 * j + 1])) / 0.5;
            test_close_real("periodic", k[30 * i + j], exp(-2 * (s * s + t * t)), 1e-13);
        }
    unbind_kernel(&b);
    mcr_data_free(x);
    free(p.x);
}

/* ---- mahalanobis ------------------------------------------------------------------------------*/

static void compare_matrix(mcr *ctx, const char *text, const double *q)
{
    plain p = plain_random(50, 3, 0.8, 0, 1, true, 31);
    for (int sparse = 0; sparse < 2; sparse++) {
        mcr_data *x = data_as(ctx, &p, sparse);
        bound_kernel b = bind_kernel(ctx, text, x, NULL);
        double k[2500];
        block(&b, range(0, 50), range(0, 50), true, k);
        for (int64_t i = 0; i < 50; i++)
            for (int64_t j = 0; j < 50; j++) {
                real want = 0;
                for (int64_t r = 0; r < 3; r++)
                    for (int64_t c = 0; c < 3; c++)
                        want += (real)p.x[3 * i + r] * q[3 * r + c] * p.x[3 * j + c];
                test_close_real(text, k[50 * i + j], (double)want, 1e-14);
                assert_true(k[50 * i + j] == k[50 * j + i]);
            }
        unbind_kernel(&b);
        mcr_data_free(x);
    }
    free(p.x);
}

static void mahalanobis_takes_a_matrix(void **state)
{
    const double full[9] = {2, 1, 0, 1, 2, -0.5, 0, -0.5, 1};
    const double singular[9] = {1, 2, 3, 2, 4, 6, 3, 6, 9};
    const double zero[9] = {0};
    compare_matrix(*state, "mahalanobis(q=[2, 1, 0, 1, 2, -0.5, 0, -0.5, 1])", full);
    compare_matrix(*state, "mahalanobis(q=[1, 2, 3, 2, 4, 6, 3, 6, 9])", singular);
    compare_matrix(*state, "mahalanobis(q=[0, 0, 0, 0, 0, 0, 0, 0, 0])", zero);
}

static void mahalanobis_reads_a_file_once(void **state)
{
    mcr *ctx = *state;
    char folder[256], path[300], text[400];
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/q.csv", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("2,1,0\n1,2,-0.5\n0,-0.5,1\n", file);
    fclose(file);
    snprintf(text, sizeof text, "mahalanobis(file=\"%s\")", path);
    mcr_kernel *k;
    test_ok(ctx, mcr_kernel_parse(&k, ctx, text));
    assert_string_equal(mcr_kernel_text(k), "mahalanobis(q=[2, 1, 0, 1, 2, -0.5, 0, -0.5, 1])");
    mcr_kernel_free(k);
    file = fopen(path, "w");
    fputs("2,1,0\n1,2,-0.5\n", file);
    fclose(file);
    test_fails(ctx, mcr_kernel_parse(&k, ctx, text), MCR_BAD_DATA, "square");
    unlink(path);
    test_fails(ctx, mcr_kernel_parse(&k, ctx, text), MCR_IO, "q.csv");
    test_remove_directory(folder);
}

/* ---- words ------------------------------------------------------------------------------------*/

static void expressions_have_one_canonical_form(void **state)
{
    mcr *ctx = *state;
    static const char *const pairs[][2] = {
        {"rbf(sigma=2)", "rbf(gamma=0.125)"},
        {"rbf(width=2)", "rbf(gamma=0.25)"},
        {"rbf(beta=3)", "rbf(gamma=1.5)"},
        {"rbf(gamma=[1,2])", "rbf(gamma=[1, 2])"},
        {"poly", "poly"},
        {"poly(degree=2, c=0, scale=1)", "poly(degree=2)"},
        {"matern(nu=1.5, length=2)", "matern(length=2)"},
        {"periodic(period=7)", "periodic(period=7)"},
        {"mahalanobis(diag=[1,2])", "mahalanobis(diag=[1, 2])"},
        {"mahalanobis(q=[1,0,1e-20,1])", "mahalanobis(q=[1, 5e-21, 5e-21, 1])"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        mcr_kernel *k;
        test_ok(ctx, mcr_kernel_parse(&k, ctx, pairs[i][0]));
        assert_string_equal(mcr_kernel_text(k), pairs[i][1]);
        mcr_kernel_free(k);
    }
}

static void wrong_parameters_are_refused(void **state)
{
    mcr *ctx = *state;
    static const char *const wrong[][2] = {
        {"rbf", "rbf: give one of gamma"},
        {"rbf(gamma=1, sigma=2)", "rbf: give only one"},
        {"rbf(gamma=0)", "gamma"},
        {"rbf(gamma=[1, -1])", "gamma"},
        {"rbf(sigma=1e-200)", "gamma"},
        {"poly(degree=0)", "degree"},
        {"poly(degree=2.5)", "degree"},
        {"poly(c=-1)", "c"},
        {"matern(nu=1)", "nu must be 0.5, 1.5 or 2.5"},
        {"rq(alpha=0)", "alpha"},
        {"periodic(period=-1)", "period"},
        {"chi2(gamma=-1)", "gamma"},
        {"mahalanobis", "give one of file"},
        {"mahalanobis(q=[1, 2, 3])", "square"},
        {"mahalanobis(q=[1, 2, 0, 1])", "not symmetric"},
        {"mahalanobis(q=[1, 2, 2, 1])", "smallest eigenvalue is -1"},
        {"mahalanobis(diag=[1, -0.5])", "smallest eigenvalue is -0.5"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mcr_kernel *k;
        test_fails(ctx, mcr_kernel_parse(&k, ctx, wrong[i][0]), MCR_BAD_CALL, wrong[i][1]);
        assert_null(k);
    }
}

static void wrong_data_are_refused(void **state)
{
    mcr *ctx = *state;
    plain p = plain_random(300, 4, 1, 0, 1, false, 41), q = plain_random(20, 5, 1, 0, 1, false, 42);
    p.x[4 * 280 + 2] = -0.5;
    mcr_data *x = data_dense(ctx, &p), *sparse = data_sparse(ctx, &p), *other = data_dense(ctx, &q);
    const struct {
        const char *text;
        const mcr_data *x, *z;
        const char *words;
    } wrong[] = {
        {"chi2", x, NULL, "chi2: object 281 has the value -0.5 in feature 3"},
        {"intersection", sparse, NULL, "object 281 has the value -0.5 in feature 3"},
        {"rbf(gamma=[1, 2])", x, NULL, "rbf: gamma has 2 values"},
        {"periodic(period=[1, 2])", x, NULL, "periodic: period has 2 values"},
        {"mahalanobis(q=[1])", x, NULL, "Q is 1 x 1"},
        {"mahalanobis(diag=[1, 2, 3, 4, 5])", x, NULL, "diag has 5 values"},
        {"linear", x, other, "features"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mcr_kernel *k;
        mcr_binding *b;
        test_ok(ctx, mcr_kernel_parse(&k, ctx, wrong[i].text));
        test_fails(ctx, mcr_binding_open(&b, ctx, k, wrong[i].x, wrong[i].z), MCR_BAD_DATA,
                   wrong[i].words);
        assert_null(b);
        mcr_kernel_free(k);
    }
    mcr_data_free(x);
    mcr_data_free(sparse);
    mcr_data_free(other);
    free(p.x);
    free(q.x);
}

/* Overflow is said, not computed with. */
static void values_that_do_not_fit_are_refused(void **state)
{
    mcr *ctx = *state;
    static const struct {
        const char *text;
        double value; /* of one feature of one object */
        bool in_float, in_double;
        const char *words;
    } cases[] = {
        {"linear", 1e18, true, true, ""},
        {"linear", 1e21, false, true, "linear: object 4 is so long"},
        {"linear", 1e160, false, false, "linear: object 4 is so long"},
        {"rbf(gamma=1)", 1e18, true, true, ""},
        {"rbf(gamma=1)", 1e21, false, true, "rbf: object 4 is so long"},
        {"matern", 1e170, false, false, "matern: object 4"},
        {"poly(degree=10)", 50, true, true, ""},
        {"poly(degree=10)", 1e3, false, true, "poly: object 4 is so long"},
        {"linear + poly(degree=10)", 1e3, false, true, "poly: object 4 is so long"},
        {"poly(degree=500)", 100, false, false, "too large for float numbers"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int sparse = 0; sparse < 2; sparse++) {
            plain p = plain_random(6, 3, 1, 0, 1, false, 44);
            p.x[3 * 3 + 1] = cases[c].value;
            mcr_data *x = data_as(ctx, &p, sparse);
            mcr_kernel *k;
            mcr_binding *b;
            test_ok(ctx, mcr_kernel_parse(&k, ctx, cases[c].text));
            test_ok(ctx, mcr_binding_open(&b, ctx, k, x, NULL));
            for (int precise = 0; precise < 2; precise++) {
                mcr_status s = mcr_binding_prepare(b, precise);
                if (precise ? cases[c].in_double : cases[c].in_float)
                    test_ok(ctx, s);
                else
                    test_fails(ctx, s, MCR_NUMERIC, precise ? "double" : cases[c].words);
            }
            mcr_binding_close(b);
            mcr_kernel_free(k);
            mcr_data_free(x);
            free(p.x);
        }
    /* Rows are seen when they are packed. */
    plain p = plain_random(6, 3, 1, 0, 1, false, 45), q = plain_random(5, 3, 1, 0, 1, false, 46);
    p.x[3 * 4] = 1e25;
    mcr_data *x = data_dense(ctx, &p), *z = data_dense(ctx, &q);
    bound_kernel b = bind_kernel(ctx, "rbf(gamma=1)", x, z);
    float k[30];
    mcr_tile tile = {range(0, 6), range(0, 5), 0, k, 5, b.scratch};
    test_fails(ctx, mcr_binding_block(b.binding, &tile), MCR_NUMERIC,
               "rbf: object 5 of the first data set is so long");
    unbind_kernel(&b);
    mcr_data_free(x);
    mcr_data_free(z);
    free(p.x);
    free(q.x);
}

static void verdicts_are_known(void **state)
{
    mcr *ctx = *state;
    static const struct {
        const char *text;
        mcr_definite verdict;
    } known[] = {
        {"sigmoid", MCR_INDEFINITE},
        {"sigmoid(a=-1, b=3)", MCR_INDEFINITE},
        {"sigmoid(a=0, b=1)", MCR_PSD},
        {"sigmoid(a=0, b=-1)", MCR_NSD},
        {"linear", MCR_PSD},
        {"poly(c=1)", MCR_PSD},
        {"rbf(gamma=1)", MCR_PSD},
        {"laplace", MCR_PSD},
        {"matern", MCR_PSD},
        {"rq", MCR_PSD},
        {"periodic", MCR_PSD},
        {"cosine", MCR_PSD},
        {"chi2", MCR_PSD},
        {"intersection", MCR_PSD},
        {"mahalanobis(diag=[1, 0])", MCR_PSD},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        mcr_kernel *k;
        test_ok(ctx, mcr_kernel_parse(&k, ctx, known[i].text));
        assert_int_equal(mcr_kernel_definite(k, NULL), known[i].verdict);
        mcr_kernel_free(k);
    }
}

static void zero_vectors_have_cosine_zero(void **state)
{
    mcr *ctx = *state;
    double values[6] = {0, 0, 1e-80, 0, 1e18, 1e18};
    plain p = {3, 2, values};
    for (int sparse = 0; sparse < 2; sparse++) {
        mcr_data *x = data_as(ctx, &p, sparse);
        bound_kernel b = bind_kernel(ctx, "cosine", x, NULL);
        double k[9], diagonal[3];
        block(&b, range(0, 3), range(0, 3), true, k);
        test_ok(ctx, mcr_bound_diagonal(b.binding->root, 0, range(0, 3), diagonal));
        assert_true(k[0] == 0 && k[1] == 0 && k[3] == 0 && k[6] == 0 && diagonal[0] == 0);
        test_close_real("tiny", k[4], 1, 1e-15);
        test_close_real("large", k[8], 1, 0);
        test_close_real("both", k[5], sqrt(0.5), 1e-15);
        unbind_kernel(&b);
        mcr_data_free(x);
    }
}

/* ---- allocation failures ----------------------------------------------------------------------*/

typedef struct sweep {
    const char *text;
    bool sparse;
    int64_t d;
    double density;
} sweep;

static mcr_status sweep_run(mcr *ctx, void *arg)
{
    const sweep *w = arg;
    plain p = plain_random(40, w->d, w->density, 0, 1, false, 51);
    mcr_builder *builder = NULL;
    mcr_data *x = NULL;
    mcr_kernel *k = NULL;
    mcr_binding *b = NULL;
    mcr_scratch *scratch = NULL;
    double out[1600];
    mcr_status s = mcr_builder_open(&builder, ctx, p.n);
    if (!s && !w->sparse) {
        s = mcr_builder_dense(builder, "x", p.x, p.d, p.d);
    } else if (!s) {
        int64_t start[41] = {0};
        int32_t *index = calloc((size_t)(p.n * p.d), sizeof *index);
        double *value = calloc((size_t)(p.n * p.d), sizeof *value);
        int64_t e = 0;
        for (int64_t i = 0; i < p.n * p.d; i++) {
            if (p.x[i] != 0) {
                index[e] = (int32_t)(i % p.d);
                value[e++] = p.x[i];
            }
            start[i / p.d + 1] = e;
        }
        s = mcr_builder_sparse(builder, "x", p.d, start, index, value);
        free(index);
        free(value);
    }
    if (!s)
        s = mcr_builder_finish(&x, builder);
    else
        mcr_builder_close(builder);
    if (!s)
        s = mcr_kernel_parse(&k, ctx, w->text);
    if (!s)
        s = mcr_binding_open(&b, ctx, k, x, NULL);
    for (int precise = 0; precise < 2 && !s; precise++)
        s = mcr_binding_prepare(b, precise);
    if (!s)
        s = mcr_scratch_open(&scratch, b);
    for (int precise = 0; precise < 2 && !s; precise++) {
        mcr_tile tile = {range(0, 40), range(0, 40), precise, out, 40, scratch};
        s = mcr_binding_block(b, &tile);
    }
    mcr_scratch_close(scratch);
    mcr_binding_close(b);
    mcr_kernel_free(k);
    mcr_data_free(x);
    free(p.x);
    return s;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const sweep sweeps[] = {
        {"rbf(gamma=1)", false, 6, 1},
        {"rbf(gamma=[1, 2, 3, 4, 5, 6]) + linear", true, 6, 1},
        {"linear + rbf(gamma=1)*matern", true, 2000, 0.002},
        {"laplace + chi2", true, 2000, 0.002},
        {"periodic(length=[1, 2, 3, 4, 5, 6])", true, 6, 0.3},
        {"periodic", false, 6, 1},
        {"mahalanobis(q=[2, 1, 1, 2]) + cosine", false, 2, 1},
        {"mahalanobis(diag=[2, 1]) + intersection", false, 2, 1},
        {"rbf(sigma=1)", false, 6, 1},
    };
    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++)
        test_sweep_allocations(sweeps[i].text, sweep_run, (void *)(uintptr_t)&sweeps[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks_are_right_on_dense_values, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(blocks_are_right_on_sparse_values, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(blocks_are_right_on_wide_values, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(blocks_are_right_far_from_the_origin, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(same_objects_give_a_symmetric_matrix, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(diagonals_are_those_of_blocks, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(near_points_far_away_keep_their_digits, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(two_clusters_keep_their_digits, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(sparse_clusters_keep_their_digits, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(an_outlier_spoils_nothing, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(periods_far_away_keep_their_digits, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(scales_may_differ_by_feature, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(lengths_of_periodic_may_differ, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(mahalanobis_takes_a_matrix, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(mahalanobis_reads_a_file_once, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(expressions_have_one_canonical_form, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(wrong_parameters_are_refused, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(wrong_data_are_refused, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(values_that_do_not_fit_are_refused, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(verdicts_are_known, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(zero_vectors_have_cosine_zero, test_setup, test_teardown),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("kernel_vectors", tests, NULL, NULL);
}
