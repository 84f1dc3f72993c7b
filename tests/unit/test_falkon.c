/* test_falkon.c: passes through K and back, conjugate gradients, problems on the span
 * of landmarks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "approx_helpers.h"

#include <math.h>

#include "gram/factor.h"
#include "gram/round.h"
#include "learn/form.h"
#include "linalg/system.h"
#include "solve/conjugate.h"
#include "solve/falkon.h"
#include "solve/sampled.h"

enum { N = 700, M = 30 };

/* ---- passes -----------------------------------------------------------------------------------*/

/* a = y^2 + 1, and the sum of y. */
static double square_plus_one(const void *self, int64_t first, int64_t count, const double *y,
                              double *a)
{
    const int64_t *outputs = self;
    double sum = 0;
    (void)first;
    for (int64_t i = 0; i < count * *outputs; i++) {
        a[i] = y[i] * y[i] + 1;
        sum += y[i];
    }
    return sum;
}

typedef struct pass {
    double y[2 * N], u[2 * M], sum;
} pass;

static void run_pass(mcr *ctx, pass *p, int64_t outputs, bool precise, mcr_rows x, const double *c)
{
    mcr_data *data = sample_data(ctx, "friedman", N), *some;
    mcr_kernel *kernel;
    mcr_gram *g;
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "rbf(gamma=0.5) + 0.1*linear"));
    test_ok(ctx, mcr_data_select(&some, data, (mcr_rows){NULL, 0, M}));
    test_ok(ctx, mcr_gram_open(&g, ctx, kernel, data, some));
    mcr_round r = {.x = x,
                   .precise = precise,
                   .outputs = outputs,
                   .c = c,
                   .work = square_plus_one,
                   .self = &outputs,
                   .y = p->y,
                   .u = p->u};
    test_ok(ctx, mcr_gram_round(g, &r));
    p->sum = r.sum;
    mcr_gram_close(g);
    mcr_kernel_free(kernel);
    mcr_data_free(some);
    mcr_data_free(data);
}

/* Against plain loops over the values; the same bits with other numbers of threads. */
static void test_passes(void **state)
{
    mcr *ctx = *state;
    static double k[N * M], c[2 * M];
    static int64_t list[N / 3];
    mcr_data *data = sample_data(ctx, "friedman", N), *some;
    mcr_kernel *kernel;
    mcr_gram *g;
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "rbf(gamma=0.5) + 0.1*linear"));
    test_ok(ctx, mcr_data_select(&some, data, (mcr_rows){NULL, 0, M}));
    test_ok(ctx, mcr_gram_open(&g, ctx, kernel, data, some));
    test_ok(ctx, mcr_gram_matrix(g, k, M));
    for (int i = 0; i < 2 * M; i++)
        c[i] = sin(i);
    for (int64_t i = 0; i < N / 3; i++)
        list[i] = 3 * i + 1;
    for (int t = 0; t < 8; t++) {
        int64_t outputs = 1 + t % 2;
        bool precise = t / 2 % 2;
        mcr_rows x = t < 4 ? (mcr_rows){NULL, 0, N} : (mcr_rows){list, 0, N / 3};
        static pass got, alone;
        double u[2 * M] = {0}, sum = 0;
        run_pass(ctx, &got, outputs, precise, x, c);
        for (int64_t i = 0; i < x.count; i++)
            for (int64_t o = 0; o < outputs; o++) {
                const double *row = k + mcr_rows_at(x, i) * M;
                double y = 0;
                for (int64_t j = 0; j < M; j++)
                    y += row[j] * c[j * outputs + o];
                test_close_real("y", got.y[i * outputs + o], y, precise ? 1e-12 : 1e-4);
                sum += y;
                for (int64_t j = 0; j < M; j++)
                    u[j * outputs + o] += row[j] * (y * y + 1);
            }
        test_close_arrays("u", got.u, u, M * outputs, precise ? 1e-9 : 1.0);
        test_close_real("sum", got.sum, sum, precise ? 1e-9 : 1e-1);
        mcr *one = test_open(1);
        run_pass(one, &alone, outputs, precise, x, c);
        test_close(one);
        assert_memory_equal(got.u, alone.u, sizeof(double) * (size_t)(M * outputs));
        assert_true(got.sum == alone.sum);
    }
    mcr_gram_close(g);
    mcr_kernel_free(kernel);
    mcr_data_free(some);
    mcr_data_free(data);
}

/* ---- conjugate gradients ----------------------------------------------------------------------*/

enum { SIZE = 12 };

static mcr_status hilbert(void *self, const double *v, double *av)
{
    (void)self;
    for (int i = 0; i < SIZE; i++) {
        av[i] = v[i];
        for (int j = 0; j < SIZE; j++)
            av[i] += v[j] / (i + j + 1);
    }
    return MCR_OK;
}

static mcr_status nothing(void *self, const double *r, double *z)
{
    (void)self;
    memcpy(z, r, sizeof *z * SIZE);
    return MCR_OK;
}

static void test_conjugate(void **state)
{
    double x[SIZE], want[SIZE], b[SIZE], norm;
    int64_t steps = 0;
    for (int i = 0; i < SIZE; i++)
        want[i] = cos(i);
    hilbert(NULL, want, b);
    mcr_conjugate c = {.ctx = *state,
                       .size = SIZE,
                       .apply = hilbert,
                       .precondition = nothing,
                       .enough = 1e-13,
                       .most = 100};
    test_ok(*state, mcr_conjugate_solve(&c, b, x, &norm, &steps));
    test_close_arrays("x", x, want, SIZE, 1e-12);
    assert_true(steps > 2 && steps <= SIZE && norm <= 1e-13);
}

/* ---- restricted problems ----------------------------------------------------------------------*/

static mcr_map *open_falkon(mcr *ctx, mcr_gram **g, const mcr_data *data, int64_t rank, size_t most)
{
    mcr_map *map = open_map(ctx, "rbf(gamma=0.3)", data, MCR_APPROX_FALKON, rank, 0);
    test_ok(ctx, mcr_gram_restricted(g, ctx, map, data, most));
    return map;
}

/* Products of D are those of the map's features, for some rows and parts of the Gram too. */
static void test_products(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = sample_data(ctx, "friedman", N);
    mcr_gram *g, *part;
    mcr_map *map = open_falkon(ctx, &g, data, M, 0);
    static double phi[N * M], v[M], y[N], want[N], u[M], back[M];
    static int64_t list[N / 2];
    test_ok(ctx, mcr_map_rows(map, data, (mcr_rows){NULL, 0, N}, phi, M));
    assert_int_equal(mcr_gram_width(g), M);
    for (int64_t i = 0; i < M; i++)
        v[i] = sin((double)i);
    for (int64_t i = 0; i < N / 2; i++)
        list[i] = 2 * i + 1;
    test_ok(ctx, mcr_gram_select_both(&part, g, (mcr_rows){list, 0, N / 2}));
    for (int t = 0; t < 2; t++) {
        mcr_gram *of = t ? part : g;
        int64_t n = mcr_gram_rows(of);
        test_ok(ctx, mcr_gram_expand(of, mcr_gram_all(of), v, 1, y));
        test_ok(ctx, mcr_gram_project(of, mcr_gram_all(of), y, 1, u));
        memset(back, 0, sizeof back);
        for (int64_t i = 0; i < n; i++) {
            const double *row = phi + (t ? list[i] : i) * M;
            want[i] = 0;
            for (int64_t k = 0; k < M; k++)
                want[i] += row[k] * v[k];
            for (int64_t k = 0; k < M; k++)
                back[k] += row[k] * want[i];
        }
        test_close_arrays("D v", y, want, n, 1e-10);
        test_close_arrays("D'D v", u, back, M, 1e-8);
    }
    assert_int_equal(mcr_gram_landmarks(g).count, M);
    assert_int_equal(mcr_gram_landmarks(part).count, 0);
    mcr_gram_close(part);
    mcr_gram_close(g);
    mcr_map_close(map);
    mcr_data_free(data);
}

/* Landmarks that are equal to others are left out, and the map's features still give K. */
static void test_dependent(void **state)
{
    mcr *ctx = *state;
    enum { FEW = 60 };
    double x[FEW][2], k[FEW * FEW], phi[FEW * FEW];
    for (int i = 0; i < FEW; i++) {
        x[i][0] = sin(i % 20);
        x[i][1] = cos(3 * (i % 20));
    }
    mcr_builder *b;
    mcr_data *data;
    mcr_kernel *kernel;
    mcr_gram *g;
    test_ok(ctx, mcr_builder_open(&b, ctx, FEW));
    test_ok(ctx, mcr_builder_dense(b, "x", &x[0][0], 2, 2));
    test_ok(ctx, mcr_builder_finish(&data, b));
    mcr_map *map = open_map(ctx, "rbf(gamma=3)", data, MCR_APPROX_FALKON, FEW, 0);
    int64_t p = mcr_map_count(map);
    assert_int_equal(p, 20);
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "rbf(gamma=3)"));
    test_ok(ctx, mcr_gram_open(&g, ctx, kernel, data, NULL));
    test_ok(ctx, mcr_gram_matrix(g, k, FEW));
    test_ok(ctx, mcr_map_rows(map, data, (mcr_rows){NULL, 0, FEW}, phi, p));
    for (int i = 0; i < FEW; i++)
        for (int j = 0; j < FEW; j++) {
            double sum = 0;
            for (int64_t c = 0; c < p; c++)
                sum += phi[i * p + c] * phi[j * p + c];
            test_close_real("phi.phi", sum, k[i * FEW + j], 1e-9);
        }
    mcr_gram_close(g);
    mcr_kernel_free(kernel);
    mcr_map_close(map);
    mcr_data_free(data);
}

typedef struct targets {
    const double *y;
    bool hinge; /* the squared hinge of signs, else the squared loss */
} targets;

static double loss(const void *self, int64_t first, int64_t count, const double *f,
                   double *gradient)
{
    const targets *t = self;
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        double y = t->y[first + i], e = t->hinge ? fmax(1 - y * f[i], 0) : f[i] - y;
        sum += e * e;
        gradient[i] = t->hinge ? -2 * y * e : 2 * e;
    }
    return sum;
}

static void curve(const void *self, int64_t first, int64_t count, const double *f, const double *v,
                  double *hv)
{
    const targets *t = self;
    for (int64_t i = 0; i < count; i++)
        hv[i] = t->hinge && t->y[first + i] * f[i] >= 1 ? 0 : 2 * v[i];
}

/* At the solution the gradient is 0, the certificate holds, with values kept or not, and with few
 * objects in the sample. */
static void test_solver(void **state)
{
    mcr *ctx = *state;
    enum { MANY = 9000 };
    mcr_data *data = sample_data(ctx, "friedman", MANY);
    static double y[MANY], f[MANY], w[M], first[2][M], gradient[MANY], u[M];
    const double *table = mcr_data_target_table(data);
    for (int t = 0; t < 4; t++) {
        mcr_gram *g;
        mcr_map *map = open_falkon(ctx, &g, data, M, t % 2 ? (size_t)1 << 30 : 0);
        targets with = {y, t >= 2};
        for (int64_t i = 0; i < MANY; i++)
            y[i] = t < 2 ? table[i] : table[i] > 14 ? 1 : -1;
        mcr_smooth p = {.columns = 1,
                        .mu = 1e-3,
                        .loss = loss,
                        .curve = curve,
                        .self = &with,
                        .quadratic = t < 2,
                        .gap = 1e-12,
                        .phase = "test"};
        mcr_falkon_result r;
        assert_int_equal(mcr_gram_restricted_keeps(g), t % 2);
        test_ok(ctx, mcr_falkon_solve(g, &p, w, f, &r));
        assert_int_equal(r.stop, MCR_STOP_OPTIMAL);
        assert_true(r.gap <= 1e-12 * r.objective && r.sample < MANY);
        double square = 0, objective = loss(&with, 0, MANY, f, gradient);
        test_ok(ctx, mcr_gram_project(g, mcr_gram_all(g), gradient, 1, u));
        for (int k = 0; k < M; k++) {
            u[k] += p.mu * w[k];
            square += u[k] * u[k];
            objective += p.mu / 2 * w[k] * w[k];
        }
        test_close_real("objective", r.objective, objective, 1e-9 * objective);
        test_close_real("gradient", r.gradient, sqrt(square), 1e-6 * sqrt(objective));
        if (t % 2 == 0)
            memcpy(first[t / 2], w, sizeof w);
        else
            test_close_arrays("floats kept", w, first[t / 2], M, 1e-2);
        mcr_gram_close(g);
        mcr_map_close(map);
    }
    mcr_data_free(data);
}

/* D'hD from kernel values is that from features, of all rows and of some; where it may not be off,
 * it is made from features. */
static void test_weighted(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = sample_data(ctx, "friedman", N);
    mcr_gram *g, *part;
    mcr_map *map = open_falkon(ctx, &g, data, M, 0);
    mcr_system want, got;
    static double h[N];
    static int64_t list[N / 2];
    for (int64_t i = 0; i < N; i++)
        h[i] = i % 3 ? 1 + sin((double)i) : 0;
    for (int64_t i = 0; i < N / 2; i++)
        list[i] = 2 * i + 1;
    test_ok(ctx, mcr_gram_select_both(&part, g, (mcr_rows){list, 0, N / 2}));
    test_ok(ctx, mcr_system_open(&want, ctx, M, "test"));
    test_ok(ctx, mcr_system_open(&got, ctx, M, "test"));
    for (int t = 0; t < 4; t++) {
        mcr_gram *of = t % 2 ? part : g;
        mcr_rows x = mcr_gram_all(of);
        test_ok(ctx, mcr_gram_fill_weighted(of, &want, x, h));
        test_ok(ctx, mcr_gram_fill_near(of, &got, x, h, t < 2 ? 1 : 0));
        double largest = 0, off = 0;
        for (int64_t i = 0; i < M; i++)
            for (int64_t j = 0; j <= i; j++) {
                double a = want.a[i * want.ld + j], b = got.a[i * got.ld + j];
                off = fmax(off, fabs(a - b));
                largest = fmax(largest, fabs(a));
            }
        assert_true(t < 2 ? off > 0 && off <= 1e-9 * largest : off == 0);
        assert_true(off <= mcr_gram_near_error(of, 2.0 * N) && mcr_gram_near_error(of, 1) > 0);
    }
    mcr_system_close(&want);
    mcr_system_close(&got);
    mcr_gram_close(part);
    mcr_gram_close(g);
    mcr_map_close(map);
    mcr_data_free(data);
}

/* x = (1 + D' diag(weight) D / h)^-1 x by the factor of these rows. */
static void solve_plainly(mcr *ctx, mcr_gram *g, mcr_rows rows, const double *weight, double h,
                          double *x)
{
    mcr_system m;
    double each[N];
    for (int64_t i = 0; i < rows.count; i++)
        each[i] = weight[i] / h;
    test_ok(ctx, mcr_system_open(&m, ctx, M, "test"));
    test_ok(ctx, mcr_gram_fill_weighted(g, &m, rows, each));
    test_ok(ctx, mcr_system_factor(&m, 1, NULL, NULL));
    test_ok(ctx, mcr_system_solve(&m, 2, x));
    mcr_system_close(&m);
}

/* Systems one after the other, against the factor of each. Many rows: with other weights and widths
 * by the same preconditioner. Few rows: some come and go, weights change, and the matrix with
 * them; then all are others. */
static void test_sampled(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = sample_data(ctx, "friedman", N);
    mcr_gram *g;
    mcr_map *map = open_falkon(ctx, &g, data, M, 0);
    mcr_system some;
    mcr_sampled t;
    static double weight[N], want[2 * M], got[2 * M];
    static int64_t row[N];
    test_ok(ctx, mcr_system_open(&some, ctx, M, "test"));
    test_ok(ctx, mcr_sampled_open(&t, g, &some));
    for (int round = 0; round < 8; round++) {
        bool many = round < 2;
        double h = round % 2 ? 0.3 : 1;
        int64_t count = 0;
        for (int64_t i = 0; i < N; i++)
            if (many || (i % 6 == round / 7 && (i + round) % 13)) {
                row[count] = i;
                weight[count++] = 1 + (round + i % 17 == 4 || many ? 0.5 * sin((double)i) : 0);
            }
        mcr_rows rows = {row, 0, count};
        for (int64_t k = 0; k < 2 * M; k++)
            want[k] = got[k] = cos((double)k);
        solve_plainly(ctx, g, rows, weight, h, want);
        test_ok(ctx, mcr_sampled_solve(&t, rows, weight, h, 2, got));
        test_close_arrays("solution", got, want, 2 * M, many ? 1e-2 : 1e-10);
        assert_true(t.whole == !many && (many ? t.count < N : t.count == count));
    }
    mcr_sampled_close(&t);
    mcr_system_close(&some);
    mcr_gram_close(g);
    mcr_map_close(map);
    mcr_data_free(data);
}

/* So many objects that most are left out of the steps of svm: the solution is that of features, and
 * the same bits with one thread. */
static void test_left_out(void **state)
{
    mcr *ctx = *state, *one = test_open(1);
    static const char *const options[] = {"approx=falkon rank=60", "approx=nystrom rank=60"};
    double objective[2];
    mcr_data *data = sample_data(ctx, "moons", 40000), *same = sample_data(one, "moons", 40000);
    for (int t = 0; t < 2; t++) {
        mcr_model *m = fit_model(ctx, "svm", "rbf(gamma=30)", data, options[t]);
        assert_int_equal(mcr_model_report(m)->stop, MCR_STOP_OPTIMAL);
        objective[t] = mcr_model_report(m)->objective;
        mcr_model_free(m);
    }
    mcr_model *m = fit_model(one, "svm", "rbf(gamma=30)", same, options[0]);
    assert_true(mcr_model_report(m)->objective == objective[0]);
    test_close_real("objective", objective[0], objective[1], 1e-4 * fabs(objective[1]));
    mcr_model_free(m);
    mcr_data_free(same);
    mcr_data_free(data);
    test_close(one);
}

/* Three classes and a small lambda: with one curvature for all classes that takes hundreds of
 * passes. */
static void test_joint(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = sample_data(ctx, "blobs", 300);
    mcr_model *m = fit_model(ctx, "logistic", "rbf(gamma=1)", data,
                             "approx=falkon rank=100 lambda=1e-6");
    assert_int_equal(mcr_model_report(m)->stop, MCR_STOP_OPTIMAL);
    assert_true(mcr_model_report(m)->iterations < 50);
    mcr_model_free(m);
    mcr_data_free(data);
}

/* With a small lambda the gradient does not fall for many steps, while the objective does: that is
 * no reason to give up. */
static void test_far(void **state)
{
    mcr *ctx = *state;
    mcr_data *data;
    test_ok(ctx, mcr_data_sample(&data, ctx, "moons", 3000, 0.3));
    mcr_model *m = fit_model(ctx, "logistic", "rbf(gamma=2)", data,
                             "approx=falkon rank=100 lambda=1e-6");
    assert_int_equal(mcr_model_report(m)->stop, MCR_STOP_OPTIMAL);
    mcr_model_free(m);
    mcr_data_free(data);
}

/* Of very many objects falkon is chosen, and the report says so; approx=none, another form or few
 * objects: exact. */
static void test_choice(void **state)
{
    mcr *ctx = *state;
    static const char *const learner[] = {"ridge", "logistic"}, *const sample[] = {"sinc", "moons"};
    for (int t = 0; t < 2; t++) {
        mcr_data *data = sample_data(ctx, sample[t], MCR_MANY_OBJECTS + 1), *few = NULL;
        mcr_model *m = fit_model(ctx, learner[t], "rbf(gamma=1)", data, "rank=5");
        assert_string_equal(mcr_model_report(m)->approx, "falkon");
        assert_non_null(strstr(mcr_model_report(m)->why, "chosen for data of this size"));
        assert_string_equal(mcr_model_report(m)->certificate,
                            "relative gap of the restricted problem");
        mcr_model_free(m);
        m = fit_model(ctx, learner[t], "linear", data, "lambda=1"); /* few features: exact */
        assert_null(mcr_model_report(m)->approx);
        mcr_model_free(m);
        test_ok(ctx, mcr_data_select(&few, data, (mcr_rows){NULL, 0, 50}));
        m = fit_model(ctx, learner[t], "rbf(gamma=1)", few, NULL);
        assert_null(mcr_model_report(m)->approx);
        mcr_model_free(m);
        mcr_data_free(few);
        mcr_data_free(data);
    }
}

/* Problems of several classes share the landmarks: the same bits with one thread and with two. */
static void test_many_classes(void **state)
{
    enum { CLASSES = 20, EACH = 10, OBJECTS = CLASSES * EACH };
    mcr *ctx[] = {*state, test_open(1)};
    double x[2 * OBJECTS], y[OBJECTS], *score[2];
    mcr_random r = mcr_random_stream(3, "classes", 0);
    for (int i = 0; i < OBJECTS; i++) {
        y[i] = i % CLASSES;
        x[2 * i] = cos(y[i]) + 0.2 * mcr_random_normal(&r);
        x[2 * i + 1] = sin(y[i]) + 0.2 * mcr_random_normal(&r);
    }
    for (int turn = 0; turn < 2; turn++) {
        mcr_data *data = dense_data(ctx[turn], OBJECTS, 2, x, y, NULL);
        mcr_model *m = fit_model(ctx[turn], "svm", "rbf(gamma=0.3)", data, "approx=falkon rank=20");
        score[turn] = scores_of(ctx[turn], m, data, NULL);
        mcr_model_free(m);
        mcr_data_free(data);
    }
    assert_memory_equal(score[0], score[1],
                        sizeof *score[0] * OBJECTS * CLASSES * (CLASSES - 1) / 2);
    free(score[0]);
    free(score[1]);
    test_close(ctx[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_choice, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_passes, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_conjugate, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_products, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_dependent, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_solver, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_weighted, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_sampled, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_joint, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_left_out, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_far, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_many_classes, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
