/* Rows of K that are made when a solver first uses them, and pairs of classes as views of one Gram:
 * the same solution as otherwise, for any number of threads and with little memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "svm_helpers.h"

#include "gram/view.h"
#include "solve/smo.h"
#include "solve/smo_rows.h"

static mcr *open_with(int threads, size_t memory)
{
    mcr *ctx = NULL;
    mcr_config config = {.size = sizeof config, .threads = threads, .memory_bytes = memory};
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    return ctx;
}

/* ---- views ------------------------------------------------------------------------------------*/

enum { ALL = 300, FIRST = 90, SECOND = 47, PAIR = FIRST + SECOND };

static mcr_gram *open_gram(mcr *ctx, const char *kernel, const mcr_data *data)
{
    mcr_kernel *k;
    mcr_gram *gram;
    test_ok(ctx, mcr_kernel_parse(&k, ctx, kernel));
    test_ok(ctx, mcr_gram_open(&gram, ctx, k, data, NULL));
    mcr_kernel_free(k);
    return gram;
}

/* Both Grams have the same values, whatever they are asked for. */
static void compare_grams(mcr *ctx, mcr_gram *a, mcr_gram *b)
{
    static float ka[PAIR * PAIR], kb[PAIR * PAIR];
    static double da[PAIR * PAIR], db[PAIR * PAIR];
    int64_t some[] = {0, 89, 90, 136, 3, 91}, n = mcr_gram_cols(b);
    mcr_rows x[] = {{NULL, 0, PAIR}, {NULL, 80, 30}, {some, 0, 6}, {some, 0, 1}};
    mcr_rows z[] = {
        {NULL, 0, n}, {NULL, n / 2, n / 3}, {NULL, n - 1, 1}, {some, 0, n > PAIR - 1 ? 6 : 1}};
    assert_int_equal(mcr_gram_rows(a), mcr_gram_rows(b));
    assert_int_equal(mcr_gram_cols(a), n);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            test_ok(ctx, mcr_gram_block_float(a, x[i], z[j], ka, z[j].count));
            test_ok(ctx, mcr_gram_block_float(b, x[i], z[j], kb, z[j].count));
            test_ok(ctx, mcr_gram_block(a, x[i], z[j], da, z[j].count));
            test_ok(ctx, mcr_gram_block(b, x[i], z[j], db, z[j].count));
            for (int64_t t = 0; t < x[i].count * z[j].count; t++) {
                assert_true(fabs((double)ka[t] - (double)kb[t]) <= 2e-5 * (1 + fabs(db[t])));
                assert_true(fabs(da[t] - db[t]) <= 1e-12 * (1 + fabs(db[t])));
            }
        }
    for (int side = 0; side < 2; side++) {
        int64_t count = side ? n : PAIR;
        test_ok(ctx, mcr_gram_diagonal(a, side, da));
        test_ok(ctx, mcr_gram_diagonal(b, side, db));
        for (int64_t t = 0; t < count; t++)
            assert_true(fabs(da[t] - db[t]) <= 1e-12 * (1 + fabs(db[t])));
    }
}

/* Sums of rows, and the rows that are kept. */
static void compare_passes(mcr *ctx, mcr_gram *a, mcr_gram *b, bool precise)
{
    enum { LD = (PAIR + MCR_ROW_PAD) / MCR_ROW_PAD * MCR_ROW_PAD };
    static _Alignas(64) double buffer[2][6 * LD];
    int64_t some[] = {0, 89, 90, 136, 3, 91};
    double coef[] = {1, -2, 0.5, 3, -1, 0.25};
    for (int64_t count = 1; count <= 6; count += 5) {
        static double f[2][LD];
        memset(f, 0, sizeof f);
        for (int g = 0; g < 2; g++) {
            void *row[6];
            for (int r = 0; r < 6; r++)
                row[r] = (char *)buffer[g] + (size_t)(r * LD) * (precise ? 8 : 4);
            mcr_gram_pass pass = {.x = {some, 0, count},
                                  .precise = precise,
                                  .row = row,
                                  .soon = count == 1,
                                  .coef = coef,
                                  .f = f[g],
                                  .outputs = 1};
            test_ok(ctx, mcr_gram_rows_pass(g ? b : a, &pass));
        }
        double tolerance = precise ? 1e-12 : 2e-5;
        for (int64_t c = 0; c < PAIR; c++) {
            assert_true(fabs(f[0][c] - f[1][c]) <= 8 * tolerance * (8 + fabs(f[1][c])));
            for (int64_t r = 0; r < count; r++) {
                int64_t at = r * LD + c;
                double va = precise ? buffer[0][at] : (double)((float *)buffer[0])[at];
                double vb = precise ? buffer[1][at] : (double)((float *)buffer[1])[at];
                assert_true(fabs(va - vb) <= tolerance * (1 + fabs(vb)));
            }
        }
    }
}

/* Two runs of a Gram's objects against a Gram of these objects alone. */
static void test_view(void **state)
{
    static const char *const kernels[] = {"rbf(gamma=0.3)", "poly(degree=3,c=1)",
                                          "rbf(gamma=0.1)+0.5*linear"};
    (void)state;
    mcr *ctx = open_with(2, 0);
    problem p = problem_classes(ctx, ALL, 5, 2, 0.1, false, false, 3);
    mcr_rows run[MCR_VIEW_RUNS] = {{NULL, 64, FIRST}, {NULL, 192, SECOND}};
    int64_t list[PAIR], half[PAIR / 2];
    for (int64_t i = 0; i < PAIR; i++)
        list[i] = i < FIRST ? 64 + i : 192 + i - FIRST;
    for (int64_t i = 0; i < PAIR / 2; i++)
        half[i] = 2 * i;
    for (int t = 0; t < 3; t++) {
        mcr_data *pair;
        mcr_gram *all = open_gram(ctx, kernels[t], p.data), *view, *shared, *part[2];
        test_ok(ctx, mcr_gram_prepare(all, false));
        test_ok(ctx, mcr_data_select(&pair, p.data, (mcr_rows){list, 0, PAIR}));
        mcr_gram *alone = open_gram(ctx, kernels[t], pair);
        test_ok(ctx, mcr_gram_view(&view, all, run));
        test_ok(ctx, mcr_gram_share(&shared, view));
        compare_grams(ctx, view, alone);
        compare_grams(ctx, shared, alone);
        compare_passes(ctx, view, alone, false);
        compare_passes(ctx, view, alone, true);
        test_ok(ctx, mcr_gram_restrict(&part[0], view, (mcr_rows){half, 0, PAIR / 2}));
        test_ok(ctx, mcr_gram_restrict(&part[1], alone, (mcr_rows){half, 0, PAIR / 2}));
        compare_grams(ctx, part[0], part[1]);
        assert_true(mcr_gram_is_definite(view) == mcr_gram_is_definite(alone));
        mcr_gram_close(part[0]);
        mcr_gram_close(part[1]);
        mcr_gram_close(shared);
        mcr_gram_close(view);
        mcr_gram_close(alone);
        mcr_gram_close(all);
        mcr_data_free(pair);
    }
    problem_free(&p);
    mcr_close(ctx);
}

/* A row alone has the same bits as among others. */
static void test_few_rows(void **state)
{
    enum { N = 200 };
    static const char *const kernels[] = {"rbf(gamma=0.3)", "poly(degree=2)", "laplace(gamma=0.2)"};
    (void)state;
    mcr *ctx = open_with(1, 0);
    for (int sparse = 0; sparse < 2; sparse++)
        for (int t = 0; t < 3; t++) {
            problem p = problem_classes(ctx, N, 7, 2, 0.1, false, sparse, 5);
            mcr_gram *gram = open_gram(ctx, kernels[t], p.data);
            mcr_rows all = {NULL, 0, N};
            float *k = calloc(N * N, sizeof *k), *few = calloc(8 * N, sizeof *few);
            test_ok(ctx, mcr_gram_block_float(gram, all, all, k, N));
            for (int64_t count = 1; count <= 8; count++) {
                test_ok(ctx, mcr_gram_block_float(gram, (mcr_rows){NULL, 50, count}, all, few, N));
                assert_memory_equal(few, k + 50 * N, (size_t)(count * N) * sizeof *k);
            }
            free(k);
            free(few);
            mcr_gram_close(gram);
            problem_free(&p);
        }
    mcr_close(ctx);
}

/* ---- the solver -------------------------------------------------------------------------------*/

typedef struct solved {
    double objective;
    mcr_qp_result result;
} solved;

/* The soft margin; `as`: which pool, whether without a bias, and whether rather whole. */
static solved solve(mcr *ctx, const problem *p, const char *kernel, double C, mcr_qp as)
{
    mcr_gram *gram = open_gram(ctx, kernel, p->data);
    size_t n = (size_t)p->n;
    double *lo = calloc(n, sizeof *lo), *hi = calloc(n, sizeof *hi);
    double *b = calloc(n, sizeof *b), *g = calloc(n, sizeof *g);
    for (size_t i = 0; i < n; i++) {
        lo[i] = p->y[i] > 0 ? 0 : -C;
        hi[i] = p->y[i] > 0 ? C : 0;
    }
    as.n = p->n;
    as.z = p->y;
    as.lo = lo;
    as.hi = hi;
    as.tolerance = 1e-4;
    solved s = {0};
    test_ok(ctx, mcr_qp_solve(gram, &as, b, g, &s.result));
    assert_int_equal(s.result.stop, MCR_STOP_OPTIMAL);
    assert_true(s.result.violation <= 1e-4);
    for (size_t i = 0; i < n; i++)
        s.objective += b[i] * (0.5 * g[i] - p->y[i]);
    free(lo);
    free(hi);
    free(b);
    free(g);
    mcr_gram_close(gram);
    return s;
}

/* No row is made twice but for the certificate, with memory that was used before or without. */
static void test_rows_made(void **state)
{
    static const char rbf[] = "rbf(gamma=0.5)";
    (void)state;
    mcr *ctx = open_with(2, 0);
    mcr_row_pool *pool;
    test_ok(ctx, mcr_row_pool_open(&pool, ctx));
    for (int hard = 0; hard < 2; hard++)
        for (int no_sum = 0; no_sum < 2; no_sum++) {
            problem p = problem_classes(ctx, 700, 4, 2, hard ? 0.4 : 0, false, false, 8);
            solved own = solve(ctx, &p, rbf, 2, (mcr_qp){.no_sum = no_sum});
            solved kept = solve(ctx, &p, rbf, 2, (mcr_qp){.no_sum = no_sum, .pool = pool});
            assert_true(own.objective == kept.objective);
            assert_int_equal(own.result.steps, kept.result.steps);
            assert_int_equal(own.result.rows, kept.result.rows);
            assert_in_range(own.result.rows, hard ? 700 : 1, 2 * 700);
            problem_free(&p);
        }
    problem p = problem_classes(ctx, 700, 2, 2, 0, false, false, 8);
    assert_true(solve(ctx, &p, rbf, 100, (mcr_qp){.pool = pool}).result.rows < 350);
    problem_free(&p);
    mcr_row_pool_close(pool);
    mcr_close(ctx);
}

/* Where one row takes as long as several, more are made in a pass, in float and in double. */
static void test_rows_ahead(void **state)
{
    (void)state;
    mcr *ctx = open_with(2, 0);
    problem p = problem_classes(ctx, 500, 3, 2, 0.2, false, false, 8);
    for (int no_sum = 0; no_sum < 2; no_sum++) {
        mcr_qp as = {.no_sum = no_sum};
        solved l1 = solve(ctx, &p, "laplace(gamma=0.5)", 2, as);
        assert_in_range(l1.result.rows, 1, 2 * 500);
        mcr_model *model = fit(ctx, "svm", no_sum ? "C=2 bias=no" : "C=2",
                               "laplace(gamma=0.5)+0*linear", p.data);
        const mcr_report_fit *r = mcr_model_report(model);
        assert_true(fabs(l1.objective - r->objective) <= 2 * r->gap);
        mcr_model_free(model);
    }
    mcr_model *tight = fit(ctx, "svm", "tol=1e-9", "laplace(gamma=0.5)", p.data);
    assert_int_equal(mcr_model_report(tight)->stop, MCR_STOP_OPTIMAL);
    mcr_model_free(tight);
    problem_free(&p);
    mcr_close(ctx);
}

/* A problem alone begins with working sets; if many coefficients are free, all objects become the
 * set: the same solution in far fewer rows, the same bits for any number of threads. */
static void test_becomes_whole(void **state)
{
    (void)state;
    solved first = {0};
    for (int threads = 1; threads <= 3; threads++) {
        mcr *ctx = open_with(threads, 0);
        problem p = problem_classes(ctx, 1400, 4, 2, 0.2, false, false, 8);
        for (int no_sum = 0; no_sum < 2; no_sum++) {
            mcr_qp as = {.no_sum = no_sum};
            solved alone = solve(ctx, &p, "rbf(gamma=3)", 20, as);
            as.rather_whole = true;
            solved whole = solve(ctx, &p, "rbf(gamma=3)", 20, as);
            assert_true(alone.result.rounds > whole.result.rounds);
            assert_in_range(alone.result.rows, 1400, 3 * 1400);
            assert_true(fabs(alone.objective - whole.objective) <= 1e-6 * fabs(whole.objective));
            if (no_sum == 0 && threads == 1)
                first = alone;
            assert_true(no_sum || alone.objective == first.objective);
            assert_true(no_sum || alone.result.violation == first.result.violation);
        }
        problem_free(&p);
        mcr_close(ctx);
    }
}

/* A start: the rows of its support vectors are needed before the first step. */
static void test_warm(void **state)
{
    (void)state;
    mcr *ctx = open_with(1, 0);
    problem p = problem_classes(ctx, 400, 3, 2, 0.05, false, false, 2);
    mcr_model *cold = fit(ctx, "svm", "C=5", "rbf(gamma=0.5)", p.data);
    mcr_model *first = fit(ctx, "svm", "C=2", "rbf(gamma=0.5)", p.data), *warm = NULL;
    test_ok(ctx, fit_from(&warm, ctx, "svm", "C=5", "rbf(gamma=0.5)", p.data, first));
    double a = mcr_model_report(cold)->objective, b = mcr_model_report(warm)->objective;
    assert_true(fabs(a - b) <= 2e-3 * fabs(a));
    mcr_model_free(cold);
    mcr_model_free(first);
    mcr_model_free(warm);
    problem_free(&p);
    mcr_close(ctx);
}

/* ---- pairs of classes -------------------------------------------------------------------------*/

/* The sum of the objectives of all pairs, each trained alone. */
static double alone(mcr *ctx, const problem *p, int classes, const char *options, double *gap)
{
    double sum = 0;
    *gap = 0;
    for (int a = 0; a < classes; a++)
        for (int b = a + 1; b < classes; b++) {
            problem pair = {0,
                            p->d,
                            calloc((size_t)(p->n * p->d), sizeof(double)),
                            calloc((size_t)p->n, sizeof(double)),
                            NULL,
                            NULL};
            for (int64_t i = 0; i < p->n; i++)
                if (p->y[i] == a || p->y[i] == b) {
                    memcpy(pair.x + pair.n * p->d, p->x + i * p->d, sizeof(double) * (size_t)p->d);
                    pair.y[pair.n++] = p->y[i] == a ? 1 : -1;
                }
            problem_build(&pair, ctx, false);
            mcr_model *model = fit(ctx, "svm", options, "rbf(gamma=0.5)", pair.data);
            sum += mcr_model_report(model)->objective;
            *gap += mcr_model_report(model)->gap;
            mcr_model_free(model);
            problem_free(&pair);
        }
    return sum;
}

/* Easy and hard classes, much and little memory: the pairs' own solutions, the same bits for any
 * number of threads. */
static void test_pairs(void **state)
{
    enum { N = 900, CLASSES = 5 };
    static const double memory[] = {0, 3e6};
    (void)state;
    for (int hard = 0; hard < 2; hard++)
        for (int m = 0; m < 2; m++) {
            double *kept = NULL;
            for (int threads = 1; threads <= 3; threads++) {
                mcr *ctx = open_with(threads, (size_t)memory[m]);
                problem p = problem_classes(ctx, N, 3, CLASSES, hard ? 0.5 : 0.01, false, false, 4);
                mcr_model *model = fit(ctx, "svm", "C=4", "rbf(gamma=0.5)", p.data);
                const mcr_report_fit *report = mcr_model_report(model);
                assert_int_equal(report->stop, MCR_STOP_OPTIMAL);
                if (threads == 1) {
                    double gap, want = alone(ctx, &p, CLASSES, "C=4", &gap);
                    assert_true(fabs(report->objective - want) <= gap + report->gap);
                }
                double *score = calloc(N * CLASSES * (CLASSES - 1) / 2, sizeof *score);
                test_ok(ctx, mcr_predict(ctx, model, p.data, NULL, score, NULL));
                if (kept)
                    assert_memory_equal(score, kept,
                                        N * CLASSES * (CLASSES - 1) / 2 * sizeof *score);
                free(kept);
                kept = score;
                mcr_model_free(model);
                problem_free(&p);
                mcr_close(ctx);
            }
            free(kept);
        }
}

/* A tolerance that floats cannot reach: doubles from the start, not after many steps in vain. */
static void test_tight(void **state)
{
    (void)state;
    mcr *ctx = open_with(1, 0);
    problem p = problem_classes(ctx, 120, 2, 2, 0.1, false, false, 5);
    mcr_model *model = fit(ctx, "svm", "tol=1e-10", "rbf(gamma=1)", p.data);
    const mcr_report_fit *r = mcr_model_report(model);
    assert_int_equal(r->stop, MCR_STOP_OPTIMAL);
    assert_true(r->value <= 1e-10);
    assert_in_range(r->iterations, 1, 20000);
    mcr_model_free(model);
    problem_free(&p);
    mcr_close(ctx);
}

static mcr_status fit_pairs(mcr *ctx, void *arg)
{
    (void)arg;
    enum { N = 60, CLASSES = 4 };
    double x[N * 2], y[N];
    for (int i = 0; i < N; i++) {
        y[i] = i % CLASSES;
        x[2 * i] = y[i] + 0.01 * (i % 7);
        x[2 * i + 1] = 0.05 * (i % 11);
    }
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    mcr_status s = mcr_builder_open(&b, ctx, N);
    if (s)
        return s;
    s = mcr_builder_dense(b, "x", x, 2, 2);
    if (!s)
        s = mcr_builder_targets(b, y);
    mcr_status built = mcr_builder_finish(&data, b);
    if (!s)
        s = built;
    if (!s)
        s = try_fit(&model, ctx, "svm", "rbf(gamma=1)", data, "C=10");
    mcr_model_free(model);
    mcr_data_free(data);
    return s;
}

static void test_no_memory(void **state)
{
    (void)state;
    assert_true(test_sweep_allocations("pairs of classes", fit_pairs, NULL) > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_view),          cmocka_unit_test(test_few_rows),
        cmocka_unit_test(test_rows_made),     cmocka_unit_test(test_rows_ahead),
        cmocka_unit_test(test_becomes_whole), cmocka_unit_test(test_warm),
        cmocka_unit_test(test_pairs),         cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_tight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
