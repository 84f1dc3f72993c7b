/* The perceptron: against slow, obvious code; kernel values against explicit features; going on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learner_helpers.h"

#include "base/random.h"

/* ---- slow, obvious code -----------------------------------------------------------------------*/

/* n objects of d numbers with classes 0 .. k-1, numbers that are whole or not. */
typedef struct points {
    int64_t n, d, k;
    double *x, *y;
    mcr_data *data;
} points;

static points make_points(mcr *ctx, int64_t n, int64_t d, int64_t k, bool whole, uint64_t seed)
{
    points p = {
        n, d, k, calloc((size_t)(n * d), sizeof(double)), calloc((size_t)n, sizeof(double)), NULL};
    mcr_random r = mcr_random_stream(seed, "points", 0);
    for (int64_t i = 0; i < n; i++) {
        p.y[i] = i < k ? (double)i : (double)mcr_random_below(&r, k);
        for (int64_t j = 0; j < d; j++) {
            double v = mcr_random_normal(&r) + (j % k == (int64_t)p.y[i] ? 0.8 : 0);
            p.x[i * d + j] = whole ? round(2 * v) : v;
        }
    }
    p.data = dense_data(ctx, n, d, p.x, p.y, NULL);
    return p;
}

static void drop_points(points *p)
{
    free(p->x);
    free(p->y);
    mcr_data_free(p->data);
}

/* The ordinary perceptron on vectors of d numbers and the feature 1: its mistakes in their
 * order. */
typedef struct plain {
    int64_t count, *object, *up, *down, steps;
    double *at;
    double *w;    /* k x (d + 1); two classes: one row, + for class 1 */
    double *mean; /* of w after each step */
} plain;

static plain run_plain(const points *p, int64_t passes, bool bias)
{
    int64_t d = p->d + 1, rows = p->k == 2 ? 1 : p->k, most = passes * p->n;
    plain r = {.object = calloc((size_t)most, sizeof(int64_t)),
               .up = calloc((size_t)most, sizeof(int64_t)),
               .down = calloc((size_t)most, sizeof(int64_t)),
               .at = calloc((size_t)most, sizeof(double)),
               .w = calloc((size_t)(rows * d), sizeof(double)),
               .mean = calloc((size_t)(rows * d), sizeof(double))};
    for (int64_t pass = 0; pass < passes; pass++) {
        int64_t before = r.count;
        for (int64_t i = 0; i < p->n; i++) {
            double f[16] = {0}, x[64];
            int64_t own = (int64_t)p->y[i], other = -1;
            memcpy(x, p->x + i * p->d, sizeof *x * (size_t)p->d);
            x[p->d] = bias ? 1 : 0;
            for (int64_t c = 0; c < rows; c++)
                for (int64_t j = 0; j < d; j++)
                    f[c] += r.w[c * d + j] * x[j];
            for (int64_t c = 0; c < rows && rows > 1; c++)
                if (c != own && (other < 0 || f[c] > f[other]))
                    other = c;
            double margin = rows == 1 ? (own ? f[0] : -f[0]) : f[own] - f[other];
            r.steps++;
            if (margin <= 0) {
                double sign = rows == 1 && !own ? -1 : 1;
                int64_t up = rows == 1 ? 0 : own;
                for (int64_t j = 0; j < d; j++) {
                    r.w[up * d + j] += sign * x[j];
                    if (other >= 0)
                        r.w[other * d + j] -= x[j];
                }
                r.object[r.count] = i;
                r.up[r.count] = up;
                r.down[r.count] = other;
                r.at[r.count++] = (double)r.steps;
            }
            for (int64_t j = 0; j < rows * d; j++)
                r.mean[j] += r.w[j];
        }
        if (r.count == before)
            break;
    }
    for (int64_t j = 0; j < rows * d; j++)
        r.mean[j] /= (double)r.steps;
    return r;
}

static void drop_plain(plain *r)
{
    free(r->object);
    free(r->up);
    free(r->down);
    free(r->at);
    free(r->w);
    free(r->mean);
}

/* ---- what a voted model keeps -----------------------------------------------------------------*/

static const double *list_of(const mcr_model *m, const char *name, int64_t *count)
{
    const double *list = mcr_fitted_find(m->fitted, name, count);
    assert_non_null(list);
    return list;
}

static double number_of(const mcr_model *m, int64_t mistake)
{
    int64_t count;
    const double *object = list_of(m, "vote.object", &count);
    assert_in_range(mistake, 0, count - 1);
    return (double)m->fitted->object[(int64_t)object[mistake]];
}

static void same_mistakes(const char *what, const mcr_model *a, const mcr_model *b)
{
    static const char *const names[] = {"vote.up", "vote.down", "vote.size", "vote.lives"};
    int64_t count, other;
    list_of(a, "vote.object", &count);
    list_of(b, "vote.object", &other);
    if (count != other)
        fail_msg("%s: %lld mistakes and %lld", what, (long long)count, (long long)other);
    for (int64_t k = 0; k < count; k++)
        if (number_of(a, k) != number_of(b, k))
            fail_msg("%s: mistake %lld is of object %g and of %g", what, (long long)k,
                     number_of(a, k), number_of(b, k));
    for (size_t l = 0; l < sizeof names / sizeof *names; l++)
        assert_memory_equal(list_of(a, names[l], &count), list_of(b, names[l], &count),
                            sizeof(double) * (size_t)count);
}

static mcr_model *fit_any(mcr *ctx, const char *kernel, const mcr_data *data, const char *options)
{
    mcr_model *m;
    test_ok(ctx, try_fit(&m, ctx, "perceptron", kernel, data, options));
    return m;
}

/* ---- tests ------------------------------------------------------------------------------------*/

/* The worked example: (x.z)^2 on the corners of a square, one pass, errs on the first two only. */
static void test_xor(void **context)
{
    mcr *ctx = *context;
    const double x[] = {-1, -1, -1, 1, 1, -1, 1, 1}, y[] = {-1, 1, 1, -1};
    mcr_data *data = dense_data(ctx, 4, 2, x, y, NULL);
    static const char *const forms[] = {"dual", "primal", "auto"};
    for (int t = 0; t < 3; t++) {
        char options[128];
        snprintf(options, sizeof options, "passes=1 bias=no form=%s", forms[t]);
        mcr_model *m = fit_any(ctx, "poly(degree=2)", data, options);
        double *a = all_coefficients(ctx, m, 0, 4), weight[3], offset;
        assert_true(a[0] == -1 && a[1] == 1 && a[2] == 0 && a[3] == 0);
        assert_int_equal(mcr_model_support(m), 2);
        assert_true(mcr_model_report(m)->objective == 2 && mcr_model_report(m)->accuracy == 1);
        mcr_features *map = NULL;
        test_ok(ctx, mcr_model_features(&map, ctx, m));
        assert_int_equal(mcr_features_count(map), 3);
        test_ok(ctx, mcr_model_weights(ctx, m, map, 0, weight, &offset));
        double sum = 0;
        for (int j = 0; j < 3; j++)
            sum += weight[j];
        assert_true(fabs(sum + 2 * sqrt(2)) < 1e-14 && offset == 0);
        mcr_features_close(map);
        free(a);
        mcr_model_free(m);
    }
    mcr_data_free(data);
}

/* With linear the mistakes are those of the ordinary perceptron, with and without bias; the last
 * and the averaged weights are its weights, and so are the voted predictions. */
static void test_ordinary(void **context)
{
    mcr *ctx = *context;
    for (int t = 0; t < 8; t++) {
        int64_t k = t % 4 < 2 ? 2 : 4, d = 5, rows = k == 2 ? 1 : k;
        bool bias = t % 2, features = t >= 4;
        char options[128];
        points p = make_points(ctx, 300, d, k, false, (uint64_t)t + 1);
        plain r = run_plain(&p, 3, bias);
        snprintf(options, sizeof options, "passes=3 bias=%s form=%s variant=", bias ? "yes" : "no",
                 features ? "primal" : "dual");
        for (int v = 0; v < 3; v++) {
            static const char *const variants[] = {"last", "averaged", "voted"};
            char all[160];
            snprintf(all, sizeof all, "%s%s", options, variants[v]);
            mcr_model *m = fit_any(ctx, "linear", p.data, all);
            double score[300 * 4], value[300];
            test_ok(ctx, mcr_predict(ctx, m, p.data, value, score, NULL));
            for (int64_t i = 0; i < p.n && v < 2; i++)
                for (int64_t c = 0; c < rows; c++) {
                    const double *w = (v ? r.mean : r.w) + c * (d + 1);
                    double f = bias ? w[d] : 0;
                    for (int64_t j = 0; j < d; j++)
                        f += w[j] * p.x[i * d + j];
                    assert_true(fabs(f - score[i * rows + c]) < 1e-9 * (1 + fabs(f)));
                }
            if (v == 2) {
                int64_t count;
                list_of(m, "vote.object", &count);
                assert_int_equal(count, r.count);
                const double *lives = list_of(m, "vote.lives", &count);
                for (int64_t i = 0; i < count; i++) {
                    assert_true(number_of(m, i) == (double)r.object[i]);
                    double next = i + 1 < count ? r.at[i + 1] : (double)r.steps + 1;
                    assert_true(lives[i] == next - r.at[i]);
                }
            }
            mcr_model_free(m);
        }
        drop_plain(&r);
        drop_points(&p);
    }
}

/* Kernel values and explicit features make the same mistakes in the same order, also where scores
 * are exactly 0; all of K, or blocks of it. */
static void test_forms(void **context)
{
    mcr *ctx = *context;
    static const char *const kernels[] = {"linear", "poly(degree=2, c=1)",
                                          "poly(degree=3, scale=0.5)"};
    int64_t most = 0;
    for (int t = 0; t < 36; t++) {
        int64_t k = t % 2 ? 3 : 2;
        const char *kernel = kernels[t % 3];
        char options[128], what[200];
        points p = make_points(ctx, t < 24 ? 200 : 1300, 2 + t % 4, k, t % 4 < 2,
                               (uint64_t)t + 100);
        snprintf(options, sizeof options,
                 "variant=voted passes=%d bias=%s order=%s form=", t % 5 ? 4 : 1,
                 t % 7 < 4 ? "yes" : "no", t % 6 < 4 ? "given" : "shuffle");
        char first[160], second[160];
        snprintf(first, sizeof first, "%sdual", options);
        snprintf(second, sizeof second, "%sprimal", options);
        snprintf(what, sizeof what, "%s, case %d (%s)", kernel, t, options);
        mcr_model *a = fit_any(ctx, kernel, p.data, first);
        mcr_model *b = fit_any(ctx, kernel, p.data, second);
        same_mistakes(what, a, b);
        size_t had = ctx->config.memory_bytes;
        ctx->config.memory_bytes = 600000; /* blocks */
        mcr_model *c = fit_any(ctx, kernel, p.data, first);
        ctx->config.memory_bytes = had;
        same_mistakes(what, a, c);
        int64_t count;
        list_of(a, "vote.object", &count);
        most = count > most ? count : most;
        mcr_model_free(a);
        mcr_model_free(b);
        mcr_model_free(c);
        drop_points(&p);
    }
    assert_true(most > 500);
}

/* The bias is the weight of one more feature, 1. */
static void test_bias(void **context)
{
    mcr *ctx = *context;
    points p = make_points(ctx, 400, 3, 3, false, 7);
    double *wide = calloc((size_t)(p.n * 4), sizeof *wide);
    for (int64_t i = 0; i < p.n; i++) {
        memcpy(wide + i * 4, p.x + i * 3, 3 * sizeof *wide);
        wide[i * 4 + 3] = 1;
    }
    mcr_data *data = dense_data(ctx, p.n, 4, wide, p.y, NULL);
    mcr_model *a = fit_any(ctx, "linear", p.data, "variant=voted bias=yes form=dual");
    mcr_model *b = fit_any(ctx, "linear", data, "variant=voted bias=no form=dual");
    mcr_model *c = fit_any(ctx, "linear + 1", p.data, "variant=voted bias=no form=dual");
    same_mistakes("a column of ones", a, b);
    same_mistakes("a constant", a, c);
    double score[3][1200];
    test_ok(ctx, mcr_predict(ctx, a, p.data, NULL, score[0], NULL));
    test_ok(ctx, mcr_predict(ctx, b, data, NULL, score[1], NULL));
    test_ok(ctx, mcr_predict(ctx, c, p.data, NULL, score[2], NULL));
    assert_memory_equal(score[0], score[1], sizeof score[0]);
    assert_memory_equal(score[0], score[2], sizeof score[0]);
    for (int64_t o = 0; o < 3; o++) {
        double sum = 0, coef[400], offset;
        test_ok(ctx, mcr_model_coefficients(a, o, coef, &offset, NULL));
        for (int64_t i = 0; i < mcr_model_support(a); i++)
            sum += coef[i];
        assert_true(sum == offset);
    }
    mcr_model_free(a);
    mcr_model_free(b);
    mcr_model_free(c);
    mcr_data_free(data);
    free(wide);
    drop_points(&p);
}

/* Where the data can be separated the last pass has no mistake, and Novikoff's bound holds. */
static void test_separable(void **context)
{
    mcr *ctx = *context;
    for (int64_t k = 2; k <= 3; k++) {
        points p = make_points(ctx, 150, 4, k, false, 11);
        for (int64_t i = 0; i < p.n; i++)
            for (int64_t j = 0; j < 4; j++)
                p.x[i * 4 + j] += j % k == (int64_t)p.y[i] ? 4 : 0;
        mcr_data_free(p.data);
        p.data = dense_data(ctx, p.n, 4, p.x, p.y, NULL);
        mcr_model *m = fit_model(ctx, "perceptron", "linear", p.data, "passes=1000");
        int64_t passes, count;
        const double *mistakes = list_of(m, "mistakes", &passes),
                     *bound = list_of(m, "bound", &count);
        double all = 0;
        for (int64_t t = 0; t < passes; t++)
            all += mistakes[t];
        assert_true(mistakes[passes - 1] == 0 && all > 0 && all <= *bound);
        assert_true(mcr_model_report(m)->accuracy == 1 && mcr_model_report(m)->objective == 0);
        assert_non_null(strstr(mcr_model_report(m)->remark, "(R/margin)^2"));
        mcr_model_free(m);
        drop_points(&p);
    }
}

/* At most so many support vectors: a slow perceptron with the same rule. */
static void test_budget(void **context)
{
    mcr *ctx = *context;
    enum { N = 700, B = 25 };
    points p = make_points(ctx, N, 3, 2, false, 5);
    double *k = all_values(ctx, "rbf(gamma=0.5)", p.data), coef[N] = {0}, age[N] = {0};
    int64_t support = 0;
    for (int64_t s = 0; s < 2 * N; s++) {
        int64_t i = s % N;
        double f = 0, y = p.y[i] != 0 ? 1 : -1;
        for (int64_t j = 0; j < N; j++)
            f += coef[j] * k[j * N + i];
        if (y * f > 0)
            continue;
        if (coef[i] == 0) {
            age[i] = (double)s;
            support++;
        }
        coef[i] += y;
        int64_t out = -1;
        for (int64_t j = 0; j < N && support > B; j++)
            if (coef[j] != 0 && j != i &&
                (out < 0 || fabs(coef[j]) < fabs(coef[out]) ||
                 (fabs(coef[j]) == fabs(coef[out]) && age[j] < age[out])))
                out = j;
        if (out >= 0) {
            coef[out] = 0;
            support--;
        }
    }
    for (int t = 0; t < 2; t++) { /* all of K; blocks */
        size_t had = ctx->config.memory_bytes;
        if (t)
            ctx->config.memory_bytes = 600000;
        mcr_model *m = fit_any(ctx, "rbf(gamma=0.5)", p.data, "passes=2 bias=no budget=25");
        ctx->config.memory_bytes = had;
        double *a = all_coefficients(ctx, m, 0, N);
        assert_int_equal(mcr_model_support(m), B);
        for (int64_t i = 0; i < N; i++)
            assert_true(a[i] == coef[i]);
        free(a);
        mcr_model_free(m);
    }
    free(k);
    drop_points(&p);
}

/* ---- going on ---------------------------------------------------------------------------------*/

static mcr_status try_more(mcr_model **out, mcr *ctx, const mcr_model *from, const mcr_data *data,
                           const char *name, const char *value)
{
    mcr_options *o = NULL;
    *out = NULL;
    mcr_status s = mcr_options_of(&o, ctx, from);
    if (!s && name)
        s = mcr_options_set(o, name, value);
    if (!s)
        s = mcr_fit_more(out, o, NULL, data, from);
    mcr_options_close(o);
    return s;
}

static mcr_model *save_and_load(mcr *ctx, mcr_model *m)
{
    char folder[256], path[300];
    mcr_model *loaded = NULL;
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/model.mercer", folder);
    test_ok(ctx, mcr_model_save(ctx, m, path));
    test_ok(ctx, mcr_model_load(&loaded, ctx, path));
    test_remove_directory(folder);
    mcr_model_free(m);
    return loaded;
}

/* One pass in three parts is one pass. */
static void test_more(void **context)
{
    mcr *ctx = *context;
    static const char *const options[] = {
        "passes=1 variant=voted form=dual", "passes=1 variant=averaged form=dual",
        "passes=1 variant=last form=primal", "passes=1 variant=last form=dual budget=40",
        "passes=1 variant=voted form=primal bias=no"};
    for (int t = 0; t < 10; t++) {
        points p = make_points(ctx, 900, 4, t < 5 ? 2 : 3, false, (uint64_t)t + 50);
        const char *kernel = t % 2 ? "poly(degree=2, c=1)" : "linear";
        mcr_model *whole = fit_any(ctx, kernel, p.data, options[t % 5]), *m = NULL;
        for (int64_t part = 0; part < 3; part++) {
            mcr_data *some = NULL;
            mcr_model *next = NULL;
            test_ok(ctx, mcr_data_select(&some, p.data, (mcr_rows){NULL, part * 300, 300}));
            if (part == 0)
                next = fit_any(ctx, kernel, some, options[t % 5]);
            else
                test_ok(ctx, try_more(&next, ctx, m, some, NULL, NULL));
            mcr_model_free(m);
            m = save_and_load(ctx, next);
            mcr_data_free(some);
        }
        assert_int_equal(mcr_model_report(m)->n, 900);
        assert_string_equal(mcr_model_report(m)->options, mcr_model_report(whole)->options);
        for (int64_t o = 0; o < mcr_model_outputs(m); o++) {
            double *a = all_coefficients(ctx, whole, o, 900);
            double *b = all_coefficients(ctx, m, o, 900);
            for (int64_t i = 0; i < 900; i++)
                assert_true(fabs(a[i] - b[i]) < 1e-12);
            free(a);
            free(b);
        }
        double score[2][2700];
        test_ok(ctx, mcr_predict(ctx, whole, p.data, NULL, score[0], NULL));
        test_ok(ctx, mcr_predict(ctx, m, p.data, NULL, score[1], NULL));
        for (int64_t i = 0; i < 900 * mcr_model_outputs(m); i++)
            assert_true(fabs(score[0][i] - score[1][i]) < 1e-9 * (1 + fabs(score[0][i])));
        mcr_model_free(whole);
        mcr_model_free(m);
        drop_points(&p);
    }
}

static void test_refusals(void **context)
{
    mcr *ctx = *context;
    mcr_model *m = NULL, *svm = NULL, *next = NULL;
    points p = make_points(ctx, 60, 3, 2, false, 3), q = make_points(ctx, 60, 4, 2, false, 3);
    points three = make_points(ctx, 60, 3, 3, false, 3);
    test_fails(ctx, try_fit(&m, ctx, "perceptron", "linear", p.data, "variant=voted budget=5"),
               MCR_BAD_CALL, "budget");
    test_fails(ctx, try_fit(&m, ctx, "perceptron", "linear", p.data, "budget=0"), MCR_BAD_CALL,
               "budget");
    test_fails(ctx, try_fit(&m, ctx, "perceptron", "rbf(gamma=1)", p.data, "form=primal"),
               MCR_BAD_CALL, "no finite feature map");
    m = fit_any(ctx, "linear", p.data, "passes=2");
    test_ok(ctx, try_fit(&svm, ctx, "svm", "linear", p.data, NULL));
    test_fails(ctx, try_more(&next, ctx, svm, p.data, NULL, NULL), MCR_BAD_CALL, "more data");
    test_fails(ctx, try_more(&next, ctx, m, q.data, NULL, NULL), MCR_BAD_DATA, "columns");
    test_fails(ctx, try_more(&next, ctx, m, three.data, NULL, NULL), MCR_BAD_DATA,
               "no class \"2\"");
    test_fails(ctx, try_more(&next, ctx, m, p.data, "variant", "voted"), MCR_BAD_CALL, "voted");
    /* One class alone is enough to go on with, and the variant may change. */
    mcr_data *one = NULL;
    int64_t row[60], count = 0;
    for (int64_t i = 0; i < 60; i++)
        if (p.y[i] == 1)
            row[count++] = i;
    test_ok(ctx, mcr_data_select(&one, p.data, (mcr_rows){row, 0, count}));
    test_ok(ctx, try_more(&next, ctx, m, one, "variant", "averaged"));
    assert_int_equal(mcr_model_report(next)->n, 60 + count);
    mcr_model_free(next);
    mcr_data_free(one);
    mcr_model_free(m);
    mcr_model_free(svm);
    drop_points(&p);
    drop_points(&q);
    drop_points(&three);
}

/* ---- corners ----------------------------------------------------------------------------------*/

static int stop_after(void *user, const mcr_progress *now)
{
    (void)user;
    return now->step >= 1000;
}

/* Ctrl-C and a limit of time keep what was learnt. */
static void test_limits(void **context)
{
    mcr *ctx = *context;
    points p = make_points(ctx, 400, 2, 2, false, 9);
    ctx->config.progress = stop_after;
    mcr_model *m = fit_any(ctx, "linear", p.data, "passes=1000000");
    ctx->config.progress = NULL;
    const mcr_report_fit *r = mcr_model_report(m);
    assert_true(r->stop == MCR_STOP_INTERRUPTED && r->iterations >= 1000 && r->iterations < 2000);
    assert_true(r->support > 0 && r->value > 0);
    mcr_model_free(m);
    m = fit_any(ctx, "linear", p.data, "passes=1000000000 time-limit=0.05");
    assert_true(mcr_model_report(m)->stop == MCR_STOP_TIME && mcr_model_report(m)->seconds < 5);
    mcr_model_free(m);
    drop_points(&p);
}

/* Weights are sizes of steps; objects without weight are not seen. */
static void test_weights(void **context)
{
    mcr *ctx = *context;
    points p = make_points(ctx, 120, 3, 2, false, 21);
    double weight[120];
    int64_t row[120], count = 0;
    for (int64_t i = 0; i < 120; i++) {
        weight[i] = i % 3 ? 2 : 0;
        if (i % 3)
            row[count++] = i;
    }
    mcr_data *heavy = dense_data(ctx, 120, 3, p.x, p.y, weight), *some = NULL;
    test_ok(ctx, mcr_data_select(&some, p.data, (mcr_rows){row, 0, count}));
    mcr_model *a = fit_any(ctx, "rbf(gamma=1)", heavy, "passes=3");
    mcr_model *b = fit_any(ctx, "rbf(gamma=1)", some, "passes=3");
    double *x = all_coefficients(ctx, a, 0, 120), *y = all_coefficients(ctx, b, 0, count);
    for (int64_t i = 0; i < count; i++)
        assert_true(x[row[i]] == 2 * y[i]);
    for (int64_t i = 0; i < 120; i += 3)
        assert_true(x[i] == 0);
    free(x);
    free(y);
    mcr_model_free(a);
    mcr_model_free(b);
    mcr_data_free(heavy);
    mcr_data_free(some);
    drop_points(&p);
}

/* Training, going on, predicting, with every allocation failing in turn. */
static mcr_status run_all(mcr *ctx, void *arg)
{
    const char *const *call = arg;
    mcr_data *data = NULL, *more = NULL;
    mcr_model *m = NULL, *next = NULL;
    double value[12];
    if (strstr(call[1], "budget"))
        ctx->config.memory_bytes = 4000; /* blocks */
    mcr_status s = mcr_data_sample(&data, ctx, "blobs", 24, -1);
    if (!s)
        s = mcr_data_select(&more, data, (mcr_rows){NULL, 12, 12});
    if (!s)
        s = try_fit(&m, ctx, call[0], "linear", data, call[1]);
    if (!s)
        s = try_more(&next, ctx, m, more, NULL, NULL);
    if (!s)
        s = mcr_predict(ctx, next, more, value, NULL, NULL);
    mcr_model_free(m);
    mcr_model_free(next);
    mcr_data_free(more);
    mcr_data_free(data);
    return s;
}

static void test_memory(void **context)
{
    (void)context;
    static const char *const calls[][2] = {
        {"perceptron", "variant=voted passes=2 form=dual"},
        {"perceptron", "variant=averaged passes=2 form=primal class-weight=balanced"},
        {"perceptron", "passes=2 form=dual budget=4"},
        {"pegasos", "passes=2 form=dual batch=5"},
        {"pegasos", "passes=2 form=dual budget=3"}};
    for (size_t t = 0; t < sizeof calls / sizeof *calls; t++)
        assert_true(test_sweep_allocations(calls[t][1], run_all, (void *)calls[t]) > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_xor, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_ordinary, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_forms, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_bias, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_separable, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_budget, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_more, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_refusals, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_limits, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_weights, test_setup, test_teardown),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
