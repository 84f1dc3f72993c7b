/* test_features.c: explicit feature maps: the closure rules on them, names, models as weights.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "svm_helpers.h"

#include "data/data.h"
#include "kernel/kernel.h"

enum { X = 30, Z = 17 };

static mcr_data *mixed(mcr *ctx, int64_t first, int64_t count)
{
    mcr_data *all, *part;
    test_ok(ctx, mcr_data_sample(&all, ctx, "mixed", X + Z, -1));
    test_ok(ctx, mcr_data_select(&part, all, (mcr_rows){NULL, first, count}));
    mcr_data_free(all);
    return part;
}

static mcr_features *open_map(mcr *ctx, const char *kernel, const mcr_data *x, const mcr_data *z,
                              int names)
{
    mcr_kernel *k;
    mcr_features *f;
    test_ok(ctx, mcr_kernel_parse(&k, ctx, kernel));
    test_ok(ctx, mcr_features_open(&f, ctx, k, x, z, names));
    mcr_kernel_free(k);
    return f;
}

static double inner(const mcr_features *f, int64_t i, int side, int64_t j)
{
    const int32_t *a, *b;
    const double *x, *z;
    int64_t m = mcr_features_row(f, 0, i, &a, &x), n = mcr_features_row(f, side, j, &b, &z);
    double sum = 0;
    for (int64_t p = 0, q = 0; p < m && q < n;) {
        if (a[p] == b[q])
            sum += x[p++] * z[q++];
        else if (a[p] < b[q])
            p++;
        else
            q++;
    }
    return sum;
}

/* phi(x).phi(z) = K(x,z), for every rule and for objects of two sides. */
static void test_inner_products(void **state)
{
    static const char *const kernel[] = {
        "linear(x)",
        "cosine(x)",
        "3",
        "2*linear(x) + 5",
        "poly(x, degree=3, c=0.5, scale=2)",
        "poly(x, degree=2, c=0)",
        "(linear(x) + 1)^3",
        "conformal(linear(x), f=x:norm)",
        "spectrum(sequence, p=3, mode=count)",
        "normalize(blended(sequence, p=3))",
        "mismatch(sequence, k=3, m=1)",
        "mismatch(sequence, k=4, m=2, letters=7)",
        "wl(molecule, h=2)",
        "normalize(shortestpath(molecule))",
        "graphlet(molecule, p=4, mode=count, connected=yes)",
        "spectrum(sequence, p=2) * linear(x)",
        "poly(x, degree=9, c=1, scale=0.1)",
        "mahalanobis(x, diag=[2, 0, 1, 0.5, 3])",
        "mahalanobis(x, q=[2,1,0,0,0, 1,2,0,0,0, 0,0,1,1,0, 0,0,1,1,0, 0,0,0,0,4])",
        "ssk(sequence, p=3, lambda=0.7)",
        "normalize(ssk(sequence, p=1))",
        "gkm(sequence, l=5, k=3, filter=none)",
        "gkm(sequence, l=4, k=4, filter=none)",
        "normalize(gkm(sequence, l=6, k=2, filter=none, strands=1)) * mahalanobis(x, diag=3)",
        "0.5*normalize(wl(molecule, h=1)) + spectrum(sequence, p=4)*(linear(x) + 1)^2",
    };
    mcr *ctx = *state;
    mcr_data *x = mixed(ctx, 0, X), *z = mixed(ctx, X, Z);
    for (size_t t = 0; t < sizeof kernel / sizeof *kernel; t++) {
        mcr_kernel *k;
        mcr_gram *gram;
        double right[X * X];
        test_ok(ctx, mcr_kernel_parse(&k, ctx, kernel[t]));
        for (int side = 0; side < 2; side++) {
            int64_t n = side ? Z : X;
            mcr_features *f = open_map(ctx, kernel[t], x, side ? z : NULL, 1);
            test_ok(ctx, mcr_gram_open(&gram, ctx, k, x, side ? z : NULL));
            test_ok(ctx, mcr_gram_matrix(gram, right, n));
            for (int64_t i = 0; i < X; i++)
                for (int64_t j = 0; j < n; j++)
                    test_close_real(kernel[t], inner(f, i, side, j), right[i * n + j],
                                    1e-11 * fmax(1, fabs(right[i * n + j])));
            for (int64_t i = 0; i < mcr_features_count(f); i++)
                assert_true(mcr_features_name(f, i)[0] != 0);
            mcr_features_close(f);
            mcr_gram_close(gram);
        }
        mcr_kernel_free(k);
    }
    mcr_data_free(x);
    mcr_data_free(z);
}

static void expect_names(mcr *ctx, const char *kernel, const mcr_data *data,
                         const char *const *wanted)
{
    mcr_features *f = open_map(ctx, kernel, data, NULL, 1);
    int64_t count = 0;
    for (; wanted[count]; count++)
        if (count < mcr_features_count(f))
            assert_string_equal(mcr_features_name(f, count), wanted[count]);
    assert_int_equal(mcr_features_count(f), count);
    mcr_features_close(f);
}

/* Counted by hand: subsequences with what they span, gapped words with both strands. */
static void test_names_of_words(void **state)
{
    mcr *ctx = *state;
    mcr_read_options options = {.size = sizeof options, .format = "text"};
    static const char text[] = "a\tcata\nb\t\n", dna[] = "a\taac\nb\tGTTNAC\n";
    mcr_data *data;
    test_ok(ctx, mcr_data_read_memory(&data, ctx, "w.txt", text, sizeof text - 1, &options));
    expect_names(ctx, "ssk(p=2)", data, (const char *const[]){"aa", "at", "ca", "ct", "ta", NULL});
    mcr_features *f = open_map(ctx, "ssk(p=2)", data, NULL, 0);
    test_close_real("ca", inner(f, 0, 0, 0),
                    0.125 * 0.125 + 0.25 * 0.25 + 0.3125 * 0.3125 + 0.125 * 0.125 + 0.25 * 0.25,
                    1e-15);
    mcr_features_close(f);
    mcr_data_free(data);
    test_ok(ctx, mcr_data_read_memory(&data, ctx, "w.txt", dna, sizeof dna - 1, &options));
    /* aac is gtt from the other strand. */
    expect_names(ctx, "gkm(l=3, k=2, filter=none)", data,
                 (const char *const[]){"AA.", "GT.", "A.C", NULL});
    f = open_map(ctx, "gkm(l=3, k=2, filter=none)", data, NULL, 0);
    test_close_real("aac", inner(f, 0, 0, 1), 3, 1e-15);
    mcr_features_close(f);
    mcr_data_free(data);
}

static void test_names(void **state)
{
    mcr *ctx = *state;
    mcr_builder *b;
    mcr_data *data;
    test_ok(ctx, mcr_builder_open(&b, ctx, 2));
    test_ok(ctx, mcr_builder_strings(b, "t", (int64_t[]){0, 3, 7}, "abab\n\xff\xc3"));
    test_ok(ctx, mcr_builder_dense(b, "x", (double[]){1, 2, 3, 4}, 2, 2));
    test_ok(ctx, mcr_builder_graphs(b, "g", (int64_t[]){0, 3, 5}, (int32_t[]){6, 8, 6, 6, 6},
                                    (int64_t[]){0, 2, 3},
                                    (const int32_t[][2]){{0, 1}, {1, 2}, {0, 1}}, NULL));
    test_ok(ctx, mcr_builder_finish(&data, b));
    expect_names(ctx, "spectrum(t, p=2)", data,
                 (const char *const[]){"\\x0a\\xff", "ab", "b\\x0a", "ba", "\\xff\\xc3", NULL});
    expect_names(
        ctx, "poly(x, degree=2, c=1)", data,
        (const char *const[]){"1", "x:x1", "x:x1^2", "x:x2", "x:x1 * x:x2", "x:x2^2", NULL});
    expect_names(ctx, "linear(x)*2 + 1", data, (const char *const[]){"x:x1", "x:x2", "1", NULL});
    expect_names(ctx, "wl(g, h=1)", data,
                 (const char *const[]){"6", "8", "6(8)", "8(6,6)", "6(6)", NULL});
    expect_names(ctx, "shortestpath(g)", data,
                 (const char *const[]){"6..8 1", "6..6 2", "6..6 1", NULL});
    expect_names(ctx, "graphlet(g, p=3)", data, (const char *const[]){"6 6 8: 1-3 2-3", NULL});
    mcr_data_free(data);
}

/* Names of sparse columns are joined like those of dense ones. */
static void test_joined(void **state)
{
    static const char *const text[] = {"abab", "abac", "bab"};
    mcr *ctx = *state;
    mcr_data *made[3], *joint;
    for (int t = 0; t < 3; t++) {
        mcr_builder *b;
        mcr_data *data;
        test_ok(ctx, mcr_builder_open(&b, ctx, 1));
        test_ok(ctx,
                mcr_builder_strings(b, "t", (int64_t[]){0, (int64_t)strlen(text[t])}, text[t]));
        test_ok(ctx, mcr_builder_finish(&data, b));
        mcr_features *f = open_map(ctx, "spectrum(t, p=2)", data, NULL, 1);
        test_ok(ctx, mcr_features_data(&made[t], f, data));
        mcr_features_close(f);
        mcr_data_free(data);
    }
    /* ab ba, ab ac ba, ab ba: the second has something else in the second place. */
    test_fails(ctx, mcr_data_concat(&joint, (const mcr_data *[]){made[0], made[1]}, 2),
               MCR_BAD_DATA,
               "number 2 of the numeric columns is \"ba\" in one part and \"ac\" in another");
    test_ok(ctx, mcr_data_concat(&joint, (const mcr_data *[]){made[0], made[2]}, 2));
    assert_int_equal(joint->store[0]->cols, 2);
    assert_string_equal(joint->store[0]->column[1], "ba");
    mcr_data_free(joint);
    /* Without names; of another width. */
    mcr_builder *b;
    mcr_data *plain;
    test_ok(ctx, mcr_builder_open(&b, ctx, 1));
    test_ok(ctx,
            mcr_builder_sparse(b, "features", 4, (int64_t[]){0, 1}, (int32_t[]){3}, (double[]){1}));
    test_ok(ctx, mcr_builder_finish(&plain, b));
    test_ok(ctx, mcr_data_concat(&joint, (const mcr_data *[]){plain, made[1]}, 2));
    assert_int_equal(joint->store[0]->cols, 4);
    assert_string_equal(joint->store[0]->column[2], "ba");
    assert_string_equal(joint->store[0]->column[3], "");
    mcr_data_free(joint);
    mcr_data_free(plain);
    for (int t = 0; t < 3; t++)
        mcr_data_free(made[t]);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *kernel, *words;
    } bad[] = {
        {"rbf(x, gamma=1)", "rbf(x, gamma=1) has no finite feature map"},
        {"linear(x) + 2*exp(linear(x))", "exp(linear(x)) has no finite feature map"},
        {"gkm(sequence)", "too many to list; use the gapped words themselves (filter=none)"},
        {"poly(x, degree=65)", "up to degree 64, not 65"},
        {"-1*linear(x)", "below 0"},
    };
    mcr *ctx = *state;
    mcr_data *x = mixed(ctx, 0, X);
    for (size_t t = 0; t < sizeof bad / sizeof *bad; t++) {
        mcr_kernel *k;
        mcr_features *f;
        test_ok(ctx, mcr_kernel_parse(&k, ctx, bad[t].kernel));
        test_fails(ctx, mcr_features_open(&f, ctx, k, x, NULL, 1), MCR_BAD_CALL, bad[t].words);
        assert_null(f);
        mcr_kernel_free(k);
    }
    mcr_data_free(x);
}

/* The same machine on the objects and on their features; and its weights give the scores. */
static void test_models_are_weights(void **state)
{
    static const char *const kernel[] = {"normalize(spectrum(sequence, p=3))",
                                         "wl(molecule, h=2) + poly(x, degree=2, c=1)"};
    mcr *ctx = *state;
    mcr_data *x = mixed(ctx, 0, X);
    for (size_t t = 0; t < sizeof kernel / sizeof *kernel; t++) {
        mcr_model *model = fit(ctx, "svm", "C=2 tol=1e-8", kernel[t], x);
        mcr_features *own, *all = open_map(ctx, kernel[t], x, NULL, 0);
        mcr_data *vectors;
        test_ok(ctx, mcr_features_data(&vectors, all, x));
        mcr_model *linear = fit(ctx, "svm", "C=2 tol=1e-8", "linear", vectors);
        test_close_real("objective", mcr_model_report(linear)->objective,
                        mcr_model_report(model)->objective, 1e-6);
        test_ok(ctx, mcr_model_features(&own, ctx, model));
        int64_t count = mcr_features_count(own);
        double *weight = calloc((size_t)count, sizeof *weight), offset, score[X], square = 0;
        test_ok(ctx, mcr_model_weights(ctx, model, own, 0, weight, &offset));
        /* |w|^2 is what the coefficients say, and the support vectors have the scores. */
        test_ok(ctx, mcr_predict(ctx, model, x, NULL, score, NULL));
        double coef[X], same;
        int64_t number[X];
        test_ok(ctx, mcr_model_coefficients(model, 0, coef, &same, number));
        for (int64_t i = 0; i < mcr_model_support(model); i++) {
            const int32_t *index;
            const double *value;
            int64_t n = mcr_features_row(own, 0, i, &index, &value);
            double f = offset;
            for (int64_t e = 0; e < n; e++)
                f += weight[index[e]] * value[e];
            test_close_real("score", f, score[number[i]], 1e-9);
            square += coef[i] * (f - offset);
        }
        double sum = 0;
        for (int64_t i = 0; i < count; i++)
            sum += weight[i] * weight[i];
        test_close_real("|w|^2", sum, square, 1e-9);
        free(weight);
        mcr_features_close(own);
        mcr_features_close(all);
        mcr_data_free(vectors);
        mcr_model_free(model);
        mcr_model_free(linear);
    }
    mcr_data_free(x);
}

static mcr_status open_and_close(mcr *ctx, void *arg)
{
    mcr_data *data = NULL, *made = NULL;
    mcr_kernel *k = NULL;
    mcr_features *f = NULL;
    mcr_status s = mcr_data_sample(&data, ctx, "mixed", 3, -1);
    if (!s)
        s = mcr_kernel_parse(&k, ctx, arg);
    if (!s)
        s = mcr_features_open(&f, ctx, k, data, NULL, 1);
    if (!s)
        s = mcr_features_data(&made, f, data);
    mcr_features_close(f);
    mcr_kernel_free(k);
    mcr_data_free(data);
    mcr_data_free(made);
    return s;
}

static void test_short_memory(void **state)
{
    (void)state;
    test_sweep_allocations("strings", open_and_close,
                           (void *)"normalize(spectrum(sequence, p=1))*(linear(x)+1)");
    test_sweep_allocations("graphs", open_and_close,
                           (void *)"wl(molecule, h=1) + graphlet(molecule)*2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_inner_products, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_names_of_words, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_names, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_joined, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_refusals, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_models_are_weights, test_setup, test_teardown),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
