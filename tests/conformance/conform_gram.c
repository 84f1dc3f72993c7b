/* conform_gram.c: what a Gram gives beyond blocks, against the formulas computed plainly from its
 * matrix: products, means and centring, geometry, distances, restriction; and its refusals.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/context.h"
#include "gram/gram.h"

enum { N = 300, MOST = ZOO_MOST };

static const struct {
    const char *breed, *text;
} cases[] = {
    {"dense", "linear(it)"},
    {"dense, 70 columns", "rbf(it, gamma=0.3)"},
    {"sparse, 300 columns, not negative", "poly(it, degree=2, c=1) + rbf(other, gamma=1)"},
    {"strings", "spectrum(it, p=2)"},
    {"graphs, nodes labelled", "normalize(wl(it, h=2))"},
    {"precomputed", "precomputed(it)"},
};
enum { CASES = sizeof cases / sizeof *cases };

/* One case: the Gram of objects first .. first+n-1, and its matrix. */
typedef struct fixture {
    mcr *ctx;
    mcr_kernel *kernel;
    mcr_data *data;
    mcr_gram *gram;
    int64_t n;
    double *k;
} fixture;

static const zoo_breed *find_breed(const char *name)
{
    for (const zoo_breed *b = zoo_breeds; b->name != NULL; b++)
        if (strcmp(b->name, name) == 0)
            return b;
    fail_msg("no breed %s", name);
    return NULL;
}

static fixture open_case(mcr *ctx, int number, int64_t n)
{
    fixture f = {.ctx = ctx, .n = n};
    test_ok(ctx, mcr_kernel_parse(&f.kernel, ctx, cases[number].text));
    test_ok(ctx, zoo_data(&f.data, ctx, find_breed(cases[number].breed), 0, n, 0));
    test_ok(ctx, mcr_gram_open(&f.gram, ctx, f.kernel, f.data, NULL));
    f.k = rules_matrix(ctx, cases[number].text, f.data, NULL);
    return f;
}

static void close_case(fixture *f)
{
    mcr_gram_close(f->gram);
    mcr_data_free(f->data);
    mcr_kernel_free(f->kernel);
    free(f->k);
}

static void draw(double *v, int64_t count, uint64_t number)
{
    mcr_random r = mcr_random_stream(11, "gram", number);
    for (int64_t i = 0; i < count; i++)
        v[i] = mcr_random_normal(&r);
}

static double largest(const double *v, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(v[i]));
    return most;
}

/* ---- products ---------------------------------------------------------------------------------*/

static void test_multiply(void **state)
{
    mcr *ctx = *state;
    static double v[MOST * 7], kv[MOST * 7], b[MOST * 7];
    for (int c = 0; c < CASES; c++) {
        fixture f = open_case(ctx, c, N);
        double unit = largest(f.k, N * N) * N;
        for (int64_t cols = 1; cols <= 7; cols += 3) {
            draw(v, N * cols, (uint64_t)cols);
            memset(b, 0, sizeof b);
            for (int64_t i = 0; i < N; i++)
                for (int64_t j = 0; j < N; j++)
                    for (int64_t o = 0; o < cols; o++)
                        b[i * cols + o] += f.k[i * N + j] * v[j * cols + o];
            test_ok(ctx, mcr_gram_multiply(f.gram, v, cols, kv));
            test_close_arrays(cases[c].text, kv, b, N * cols, 1e-13 * unit);
        }
        /* m x n, from the same matrix. */
        enum { M = 101 };
        mcr_data *rows = NULL;
        mcr_gram *gram = NULL;
        test_ok(ctx, mcr_data_select(&rows, f.data, (mcr_rows){NULL, 7, M}));
        test_ok(ctx, mcr_gram_open(&gram, ctx, f.kernel, rows, f.data));
        draw(v, N * 2, 5);
        memset(b, 0, sizeof b);
        for (int64_t i = 0; i < M; i++)
            for (int64_t j = 0; j < N; j++)
                for (int64_t o = 0; o < 2; o++)
                    b[i * 2 + o] += f.k[(i + 7) * N + j] * v[j * 2 + o];
        test_ok(ctx, mcr_gram_multiply(gram, v, 2, kv));
        test_close_arrays(cases[c].text, kv, b, M * 2, 1e-13 * unit);
        mcr_gram_close(gram);
        mcr_data_free(rows);
        close_case(&f);
    }
}

/* ---- centring ---------------------------------------------------------------------------------*/

static void test_center(void **state)
{
    mcr *ctx = *state;
    static double mean[N], row[N], b[N * N], k[N * N];
    for (int c = 0; c < CASES; c++) {
        fixture f = open_case(ctx, c, N);
        double total, all = 0, unit = largest(f.k, N * N);
        for (int64_t i = 0; i < N; i++) {
            row[i] = 0;
            for (int64_t j = 0; j < N; j++)
                row[i] += f.k[i * N + j] / N;
            all += row[i] / N;
        }
        test_ok(ctx, mcr_gram_means(f.gram, mean, &total));
        test_close_arrays("means", mean, row, N, 1e-13 * unit);
        test_close_real("total mean", total, all, 1e-13 * unit);
        /* G_ij - (1/n) sum_k G_kj - (1/n) sum_k G_ik + (1/n^2) sum_kl G_kl */
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < N; j++)
                b[i * N + j] = f.k[i * N + j] - row[j] - row[i] + all;
        memcpy(k, f.k, sizeof k);
        test_ok(ctx, mcr_gram_center(ctx, k, N, N, N, mean, total));
        test_close_arrays("centred", k, b, N * N, 1e-12 * unit);
        for (int64_t i = 0; i < N; i++) {
            double sum = 0;
            for (int64_t j = 0; j < N; j++)
                sum += k[i * N + j];
            test_close_real("sum of a centred row", sum, 0, 1e-12 * unit * N);
        }
        /* New objects are centred by the training means: as if the block stood in the centred Gram
         * of (x - mean).(z - mean). A wider stride must keep what stands behind the rows. */
        enum { NEW = 40, LD = N + 3 };
        static double part[NEW * LD], expected[NEW * N];
        for (int64_t i = 0; i < NEW; i++) {
            for (int64_t j = 0; j < LD; j++)
                part[i * LD + j] = j < N ? f.k[(3 * i) * N + j] : 77;
            memcpy(expected + i * N, b + (3 * i) * N, sizeof(double) * N);
        }
        test_ok(ctx, mcr_gram_center(ctx, part, NEW, N, LD, mean, total));
        for (int64_t i = 0; i < NEW; i++) {
            test_close_arrays("centred block", part + i * LD, expected + i * N, N, 1e-12 * unit);
            assert_true(part[i * LD + N] == 77 && part[i * LD + N + 2] == 77);
        }
        close_case(&f);
    }
    double none;
    mcr_data *moons = NULL, *empty = NULL;
    mcr_kernel *linear = NULL;
    mcr_gram *gram = NULL;
    test_ok(ctx, mcr_kernel_parse(&linear, ctx, "linear"));
    test_ok(ctx, mcr_data_sample(&moons, ctx, "moons", 5, -1));
    test_ok(ctx, mcr_data_select(&empty, moons, (mcr_rows){NULL, 0, 0}));
    test_ok(ctx, mcr_gram_open(&gram, ctx, linear, empty, NULL));
    test_fails(ctx, mcr_gram_means(gram, &none, &none), MCR_BAD_DATA, "no objects");
    test_fails(ctx, mcr_gram_center(ctx, &none, 1, 0, 1, &none, 0), MCR_BAD_CALL, "column");
    mcr_gram_close(gram);
    mcr_data_free(moons);
    mcr_data_free(empty);
    mcr_kernel_free(linear);
}

/* ---- geometry ---------------------------------------------------------------------------------*/

static double square(const fixture *f, int64_t i, int64_t j)
{
    double d2 = f->k[i * f->n + i] + f->k[j * f->n + j] - 2 * f->k[i * f->n + j];
    return d2 > 0 ? d2 : 0;
}

static void test_geometry(void **state)
{
    mcr *ctx = *state;
    for (int c = 0; c < CASES; c++) {
        fixture f = open_case(ctx, c, N);
        double unit = largest(f.k, N * N), all = 0, variance = 0, near = INFINITY, far = 0;
        static double row[N];
        for (int64_t i = 0; i < N; i++) {
            row[i] = 0;
            for (int64_t j = 0; j < N; j++) {
                row[i] += f.k[i * N + j];
                all += f.k[i * N + j] / ((double)N * N);
                if (j < i) {
                    near = fmin(near, square(&f, i, j));
                    far = fmax(far, square(&f, i, j));
                }
            }
        }
        mcr_geometry *g = NULL;
        test_ok(ctx, mcr_gram_geometry(&g, f.gram));
        assert_int_equal(g->n, N);
        for (int64_t i = 0; i < N; i++) {
            double d2 = fmax(0, f.k[i * N + i] + all - 2 * row[i] / N);
            variance += d2 / N;
            test_close_real("length^2", g->length[i] * g->length[i], f.k[i * N + i], 1e-13 * unit);
            test_close_real("distance^2 to the mean", g->to_mean[i] * g->to_mean[i], d2,
                            1e-12 * unit);
        }
        test_close_real("variance", g->variance, variance, 1e-12 * unit);
        test_close_real("length^2 of the mean", g->mean_length * g->mean_length, all, 1e-13 * unit);
        /* Of equal ones any pair will do. */
        const int64_t *a = g->nearest_pair, *b = g->farthest_pair;
        assert_true(a[0] >= 0 && a[0] != a[1] && a[1] < N && b[0] >= 0 && b[0] != b[1] && b[1] < N);
        test_close_real("nearest^2", g->nearest * g->nearest, near, 1e-13 * unit);
        test_close_real("farthest^2", g->farthest * g->farthest, far, 1e-13 * unit);
        test_close_real("nearest pair", square(&f, a[0], a[1]), near, 1e-13 * unit);
        test_close_real("farthest pair", square(&f, b[0], b[1]), far, 1e-13 * unit);
        mcr_geometry_free(ctx, g);
        close_case(&f);
    }
    mcr_geometry_free(ctx, NULL);
}

/* One object has no pairs; two data sets have no mean. */
static void test_geometry_edges(void **state)
{
    mcr *ctx = *state;
    fixture f = open_case(ctx, 0, 9);
    mcr_data *one = NULL;
    mcr_gram *gram = NULL;
    mcr_geometry *g = NULL;
    test_ok(ctx, mcr_data_select(&one, f.data, (mcr_rows){NULL, 3, 1}));
    test_ok(ctx, mcr_gram_open(&gram, ctx, f.kernel, one, NULL));
    test_ok(ctx, mcr_gram_geometry(&g, gram));
    assert_true(isnan(g->nearest) && isnan(g->farthest) && g->nearest_pair[0] == -1);
    assert_true(g->to_mean[0] == 0 && g->variance == 0);
    test_close_real("length", g->length[0] * g->length[0], f.k[3 * 9 + 3], 1e-14);
    mcr_geometry_free(ctx, g);
    mcr_gram_close(gram);
    test_ok(ctx, mcr_gram_open(&gram, ctx, f.kernel, one, f.data));
    test_fails(ctx, mcr_gram_geometry(&g, gram), MCR_BAD_CALL, "one data set");
    assert_null(g);
    mcr_gram_close(gram);
    mcr_data_free(one);
    test_ok(ctx, mcr_data_select(&one, f.data, (mcr_rows){NULL, 0, 0}));
    test_ok(ctx, mcr_gram_open(&gram, ctx, f.kernel, one, NULL));
    test_fails(ctx, mcr_gram_geometry(&g, gram), MCR_BAD_DATA, "no objects");
    assert_null(g);
    mcr_gram_close(gram);
    mcr_data_free(one);
    close_case(&f);
}

/* ---- distances --------------------------------------------------------------------------------*/

static void test_distances(void **state)
{
    mcr *ctx = *state;
    enum { M = 50, Z = 60, LD = 61 };
    static double d[M * LD], a[N], b[N], to[N];
    int64_t x[M], z[Z];
    mcr_random r = mcr_random_stream(4, "distances", 0);
    for (int64_t i = 0; i < M; i++)
        x[i] = mcr_random_below(&r, N);
    for (int64_t i = 0; i < Z; i++)
        z[i] = mcr_random_below(&r, N);
    for (int c = 0; c < CASES; c++) {
        fixture f = open_case(ctx, c, N);
        double unit = largest(f.k, N * N);
        test_ok(ctx, mcr_gram_distances(f.gram, (mcr_rows){x, 0, M}, (mcr_rows){z, 0, Z}, d, LD));
        for (int64_t i = 0; i < M; i++)
            for (int64_t j = 0; j < Z; j++)
                test_close_real("distance^2", d[i * LD + j] * d[i * LD + j], square(&f, x[i], z[j]),
                                1e-12 * unit);
        /* To sum_j a_j Phi(x_j), and between two of them. */
        draw(a, N, 1);
        draw(b, N, 2);
        double aa = 0, ab = 0, weight = 0, between;
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < N; j++) {
                aa += a[i] * a[j] * f.k[i * N + j];
                ab += (a[i] - b[i]) * (a[j] - b[j]) * f.k[i * N + j];
                weight += fabs(a[i] * a[j] * f.k[i * N + j]);
            }
        test_ok(ctx, mcr_gram_distance_to(f.gram, a, to));
        for (int64_t i = 0; i < N; i++) {
            double sum = f.k[i * N + i] + aa;
            for (int64_t j = 0; j < N; j++)
                sum -= 2 * a[j] * f.k[i * N + j];
            test_close_real("distance^2 to a combination", to[i] * to[i], fmax(sum, 0),
                            1e-12 * weight);
        }
        test_ok(ctx, mcr_gram_distance_between(f.gram, a, b, &between));
        test_close_real("distance^2 between", between * between, fmax(ab, 0), 1e-11 * weight);
        test_ok(ctx, mcr_gram_distance_between(f.gram, a, a, &between));
        assert_true(between == 0);
        close_case(&f);
    }
}

/* With linear all this is plain geometry of the vectors themselves, also for two data sets. */
static void test_plain_geometry(void **state)
{
    mcr *ctx = *state;
    enum { D = 2, M = 33, Z = 41 };
    mcr_data *all = NULL, *x = NULL, *z = NULL;
    mcr_kernel *linear = NULL;
    mcr_gram *gram = NULL;
    double v[M + Z][D], a[Z], centre[D] = {0}, d[M * Z], to[M];
    test_ok(ctx, mcr_data_sample(&all, ctx, "moons", M + Z, -1));
    test_ok(ctx, mcr_data_select(&x, all, (mcr_rows){NULL, 0, M}));
    test_ok(ctx, mcr_data_select(&z, all, (mcr_rows){NULL, M, Z}));
    test_ok(ctx, mcr_kernel_parse(&linear, ctx, "linear"));
    test_ok(ctx, mcr_gram_open(&gram, ctx, linear, x, z));
    for (int64_t i = 0; i < M + Z; i++)
        test_ok(ctx, mcr_data_vector(all, 0, i, v[i]));
    draw(a, Z, 3);
    for (int64_t j = 0; j < Z; j++)
        for (int k = 0; k < D; k++)
            centre[k] += a[j] * v[M + j][k];
    test_ok(ctx, mcr_gram_distances(gram, (mcr_rows){NULL, 0, M}, (mcr_rows){NULL, 0, Z}, d, Z));
    test_ok(ctx, mcr_gram_distance_to(gram, a, to));
    for (int64_t i = 0; i < M; i++) {
        test_close_real("to a point", to[i], hypot(v[i][0] - centre[0], v[i][1] - centre[1]), 1e-6);
        for (int64_t j = 0; j < Z; j++)
            test_close_real("between points", d[i * Z + j],
                            hypot(v[i][0] - v[M + j][0], v[i][1] - v[M + j][1]), 1e-7);
    }
    mcr_gram_close(gram);
    mcr_kernel_free(linear);
    mcr_data_free(x);
    mcr_data_free(z);
    mcr_data_free(all);
}

/* ---- restriction ------------------------------------------------------------------------------*/

static void test_restrict(void **state)
{
    mcr *ctx = *state;
    enum { Z = 77 };
    static double k[N * Z], b[N * Z];
    int64_t keep[Z];
    for (int64_t j = 0; j < Z; j++)
        keep[j] = 3 * j + j % 3;
    for (int c = 0; c < CASES; c++) {
        fixture f = open_case(ctx, c, N);
        mcr_gram *some = NULL, *fewer = NULL;
        test_ok(ctx, mcr_gram_restrict(&some, f.gram, (mcr_rows){keep, 0, Z}));
        assert_true(mcr_gram_rows(some) == N && mcr_gram_cols(some) == Z);
        test_ok(ctx, mcr_gram_matrix(some, k, Z));
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < Z; j++)
                b[i * Z + j] = f.k[i * N + keep[j]];
        double dx[N], dz[Z];
        for (int64_t i = 0; i < N; i++)
            dx[i] = f.k[i * N + i];
        for (int64_t j = 0; j < Z; j++)
            dz[j] = dx[keep[j]];
        assert_int_equal(rules_differ(k, Z, b, N, Z, dx, dz, RULES_DOUBLE), -1);
        /* Again, and it outlives the one it came from. */
        test_ok(ctx, mcr_gram_restrict(&fewer, some, (mcr_rows){NULL, 5, 10}));
        mcr_gram_close(some);
        test_ok(ctx, mcr_gram_matrix(fewer, k, 10));
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < 10; j++)
                b[i * 10 + j] = f.k[i * N + keep[j + 5]];
        assert_int_equal(rules_differ(k, 10, b, N, 10, dx, dz + 5, RULES_DOUBLE), -1);
        mcr_gram_close(fewer);
        close_case(&f);
    }
}

/* ---- refusals ---------------------------------------------------------------------------------*/

static void test_refusals(void **state)
{
    mcr *ctx = *state;
    fixture f = open_case(ctx, 0, 9);
    double k[81];
    float s[81];
    int64_t over[] = {0, 9}, under[] = {0, -1};
    mcr_rows all = {NULL, 0, 9};
    mcr_rows bad[] = {{NULL, 0, 10}, {NULL, -1, 3}, {NULL, 9, 1},         {NULL, 0, -1},
                      {over, 0, 2},  {under, 0, 2}, {NULL, INT64_MAX, 1}, {NULL, 1, INT64_MAX}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_fails(ctx, mcr_gram_block(f.gram, bad[i], all, k, 9), MCR_BAD_CALL, "of x");
        test_fails(ctx, mcr_gram_block_float(f.gram, all, bad[i], s, 9), MCR_BAD_CALL, "of z");
        test_fails(ctx, mcr_gram_distances(f.gram, bad[i], all, k, 9), MCR_BAD_CALL, "of x");
    }
    /* Nothing asked for is nothing done. */
    test_ok(ctx, mcr_gram_block(f.gram, (mcr_rows){NULL, 9, 0}, all, k, 9));
    test_ok(ctx, mcr_gram_block(f.gram, all, (mcr_rows){over, 0, 0}, k, 9));
    assert_true(mcr_gram_symmetric(f.gram) == 1);
    mcr_gram_close(NULL);
    close_case(&f);
}

/* With little memory vectors are packed as they are needed, with the same values; features that
 * must be kept do not fit. What is taken from the budget is given back. */
static void test_budget(void **state)
{
    mcr *ctx = *state;
    static double k[N * N];
    size_t usual = ctx->config.memory_bytes, before = mcr_budget_left(ctx);
    for (int c = 0; c < CASES; c++) {
        fixture f = open_case(ctx, c, N);
        bool made = strcmp(cases[c].breed, "strings") == 0 || strstr(cases[c].text, "wl") != NULL;
        mcr_gram_close(f.gram);
        f.gram = NULL;
        assert_true(mcr_budget_left(ctx) == before);
        ctx->config.memory_bytes = 3000;
        mcr_status status = mcr_gram_open(&f.gram, ctx, f.kernel, f.data, NULL);
        if (made) {
            test_fails(ctx, status, MCR_OVER_BUDGET, "memory");
            assert_null(f.gram);
        } else {
            test_ok(ctx, status);
            test_ok(ctx, mcr_gram_matrix(f.gram, k, N));
            assert_memory_equal(k, f.k, sizeof k);
            mcr_gram_close(f.gram);
            f.gram = NULL;
        }
        ctx->config.memory_bytes = usual;
        assert_true(mcr_budget_left(ctx) == before);
        close_case(&f);
    }
}

/* ---- memory -----------------------------------------------------------------------------------*/

static mcr_status use_all(mcr *ctx, void *arg)
{
    (void)arg;
    enum { SMALL = 8 };
    mcr_kernel *kernel = NULL;
    mcr_data *x = NULL, *z = NULL;
    mcr_gram *one = NULL, *two = NULL, *some = NULL;
    mcr_geometry *geometry = NULL;
    double v[SMALL * SMALL] = {1, -1, 2}, d[SMALL * SMALL], total;
    mcr_rows all = {NULL, 0, SMALL};
    mcr_status s;
    if ((s = mcr_kernel_parse(&kernel, ctx, "rbf(it, gamma=1) + linear(other)")) ||
        (s = zoo_data(&x, ctx, &zoo_breeds[0], 0, SMALL, 0)) ||
        (s = zoo_data(&z, ctx, &zoo_breeds[0], SMALL, SMALL, 1)) ||
        (s = mcr_gram_open(&one, ctx, kernel, x, NULL)) ||
        (s = mcr_gram_open(&two, ctx, kernel, x, z)) || (s = mcr_gram_means(one, d, &total)) ||
        (s = mcr_gram_geometry(&geometry, one)) ||
        (s = mcr_gram_distances(two, all, all, d, SMALL)) ||
        (s = mcr_gram_distance_to(two, v, d)) ||
        (s = mcr_gram_distance_between(one, v, v + 1, d)) ||
        (s = mcr_gram_restrict(&some, one, (mcr_rows){NULL, 2, 3})))
        goto done;
    s = mcr_gram_matrix(some, d, 3);
done:
    mcr_geometry_free(ctx, geometry);
    mcr_gram_close(one);
    mcr_gram_close(two);
    mcr_gram_close(some);
    mcr_data_free(x);
    mcr_data_free(z);
    mcr_kernel_free(kernel);
    return s;
}

static void test_faults(void **state)
{
    (void)state;
    assert_true(test_sweep_allocations("gram", use_all, NULL) > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_multiply, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_center, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_geometry, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_geometry_edges, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_distances, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_plain_geometry, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_restrict, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_refusals, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_budget, test_setup, test_teardown),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
