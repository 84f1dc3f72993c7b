/* Data sets over arrays of the caller's: the same values and results as copies of them, what is
 * refused, and when the memory is released.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mercer/mercer.h>

#include "data/data.h"

enum { N = 60, D = 7 };

/* Numbers that a float holds exactly, some of them twice, many of them 0. */
static double number(int64_t i, int64_t k)
{
    int64_t v = ((i % 40) * 37 + k * 101 + (i % 40) * k * 13) % 64;
    return v % 3 == 0 ? 0 : (double)v / 16 - 2;
}

static double target(int64_t i)
{
    return number(i, 0) + number(i, 3) > 0 ? 1 : -1;
}

static void count_release(void *user)
{
    ++*(int *)user;
}

/* ---- vectors in every form --------------------------------------------------------------------*/

enum { ROWS, GAPS, BACKWARDS, COLUMNS, DENSE_FORMS };

/* Fills `at` (large enough for all forms) and describes it. */
static mcr_dense_view dense_view(int form, bool single, void *at, int *released)
{
    int64_t row_step = form == COLUMNS ? 1 : form == ROWS ? D : D + 3;
    int64_t col_step = form == COLUMNS ? N + 2 : 1, first = 0;
    if (form == BACKWARDS) {
        first = (N - 1) * row_step;
        row_step = -row_step;
    }
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < D; k++) {
            int64_t place = first + i * row_step + k * col_step;
            if (single)
                ((float *)at)[place] = (float)number(i, k);
            else
                ((double *)at)[place] = number(i, k);
        }
    mcr_dense_view v = MCR_INIT(mcr_dense_view);
    v.values = single ? (const void *)((float *)at + first) : (const void *)((double *)at + first);
    v.type = single ? MCR_FLOAT32 : MCR_FLOAT64;
    v.cols = D;
    v.row_step = form == ROWS ? 0 : row_step;
    v.col_step = form == ROWS ? 0 : col_step;
    v.release = count_release;
    v.user = released;
    return v;
}

typedef struct compressed {
    int64_t start64[N + 1], index64[N * D];
    int32_t start32[N + 1], index32[N * D];
    double value[N * D];
    float single[N * D];
} compressed;

static void compress(compressed *c)
{
    int64_t at = 0;
    for (int64_t i = 0; i < N; i++) {
        c->start64[i] = at;
        c->start32[i] = (int32_t)at;
        for (int64_t k = 0; k < D; k++)
            if (number(i, k) != 0) {
                c->index64[at] = k;
                c->index32[at] = (int32_t)k;
                c->value[at] = number(i, k);
                c->single[at++] = (float)number(i, k);
            }
    }
    c->start64[N] = at;
    c->start32[N] = (int32_t)at;
}

/* form: bits 1 float, 2 indices of 64 bits, 4 starts of 64 bits. */
enum { SPARSE_FORMS = 8 };
static mcr_sparse_view sparse_view(int form, const compressed *c, int *released)
{
    mcr_sparse_view v = MCR_INIT(mcr_sparse_view);
    v.cols = D;
    v.type = form & 1 ? MCR_FLOAT32 : MCR_FLOAT64;
    v.values = form & 1 ? (const void *)c->single : (const void *)c->value;
    v.index_type = form & 2 ? MCR_INT64 : MCR_INT32;
    v.index = form & 2 ? (const void *)c->index64 : (const void *)c->index32;
    v.start_type = form & 4 ? MCR_INT64 : MCR_INT32;
    v.start = form & 4 ? (const void *)c->start64 : (const void *)c->start32;
    v.release = count_release;
    v.user = released;
    return v;
}

static void set_targets(mcr *ctx, mcr_builder *b)
{
    int8_t y[2 * N];
    for (int64_t i = 0; i < N; i++)
        y[2 * i] = (int8_t)target(i);
    test_ok(ctx, mcr_builder_number_targets(b, y, MCR_INT8, 2));
}

static mcr_data *borrow_dense(mcr *ctx, const mcr_dense_view *view)
{
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    test_ok(ctx, mcr_builder_open(&b, ctx, N));
    test_ok(ctx, mcr_builder_borrow_dense(b, "x", view));
    set_targets(ctx, b);
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

static mcr_data *borrow_sparse(mcr *ctx, const mcr_sparse_view *view)
{
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    test_ok(ctx, mcr_builder_open(&b, ctx, N));
    test_ok(ctx, mcr_builder_borrow_sparse(b, "x", view));
    set_targets(ctx, b);
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

static mcr_data *copied(mcr *ctx, bool sparse)
{
    static double x[N * D];
    static compressed c;
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    for (int64_t i = 0; i < N * D; i++)
        x[i] = number(i / D, i % D);
    compress(&c);
    test_ok(ctx, mcr_builder_open(&b, ctx, N));
    test_ok(ctx, sparse ? mcr_builder_sparse(b, "x", D, c.start64, c.index32, c.value)
                        : mcr_builder_dense(b, "x", x, D, D));
    set_targets(ctx, b);
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

static void same_gram(mcr *ctx, const char *expression, const mcr_data *a, const mcr_data *b)
{
    static double ka[N * N], kb[N * N];
    mcr_kernel *kernel = NULL;
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, expression));
    const mcr_data *const data[2] = {a, b};
    double *const k[2] = {ka, kb};
    for (int t = 0; t < 2; t++) {
        mcr_gram *gram = NULL;
        test_ok(ctx, mcr_gram_open(&gram, ctx, kernel, data[t], NULL));
        test_ok(ctx, mcr_gram_matrix(gram, k[t], N));
        mcr_gram_close(gram);
    }
    if (memcmp(ka, kb, sizeof ka) != 0)
        fail_msg("%s: other values than of copied data", expression);
    mcr_kernel_free(kernel);
}

/* The two data sets give the same numbers, bit for bit, in all that reads vectors. */
static void same_results(mcr *ctx, const mcr_data *a, const mcr_data *b)
{
    static const char *const kernels[] = {"linear",
                                          "rbf(gamma=0.3)",
                                          "poly(degree=3, c=1)",
                                          "laplace(gamma=0.2)",
                                          "cosine",
                                          "periodic(period=2)",
                                          "conformal(linear, f=norm)",
                                          "mahalanobis(diag=[2,1,0,3,1,1,2])",
                                          "matern(nu=1.5)",
                                          "normalize(linear + 1)",
                                          "rbf(gamma=[1,2,3,4,5,6,7])"};
    double x[D], z[D];
    for (int64_t i = 0; i < N; i++) {
        test_ok(ctx, mcr_data_vector(a, 0, i, x));
        test_ok(ctx, mcr_data_vector(b, 0, i, z));
        assert_memory_equal(x, z, sizeof x);
    }
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        same_gram(ctx, kernels[k], a, b);
}

static mcr_model *train(mcr *ctx, const char *learner, const char *scale, const mcr_data *data)
{
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_model *model = NULL;
    test_ok(ctx, mcr_options_open(&options, ctx, learner));
    if (scale)
        test_ok(ctx, mcr_options_set(options, "scale", scale));
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "rbf(gamma=0.3)"));
    test_ok(ctx, mcr_fit(&model, options, kernel, data, NULL));
    mcr_options_close(options);
    mcr_kernel_free(kernel);
    return model;
}

/* Trains on both, frees `a`, and predicts b with both. */
static void same_models(mcr *ctx, mcr_data *a, const mcr_data *b, const char *learner,
                        const char *scale)
{
    double fa[N], fb[N];
    mcr_model *ma = train(ctx, learner, scale, a), *mb = train(ctx, learner, scale, b);
    mcr_data_free(a);
    test_ok(ctx, mcr_predict(ctx, ma, b, NULL, fa, NULL));
    test_ok(ctx, mcr_predict(ctx, mb, b, NULL, fb, NULL));
    assert_memory_equal(fa, fb, sizeof fa);
    mcr_model_free(ma);
    mcr_model_free(mb);
}

static void reads_dense_forms(void **state)
{
    mcr *ctx = *state;
    mcr_data *plain = copied(ctx, false);
    void *memory = malloc((D + 3) * (N + 2) * sizeof(double));
    for (int form = 0; form < DENSE_FORMS; form++)
        for (int single = 0; single < 2; single++) {
            int released = 0;
            mcr_dense_view v = dense_view(form, single, memory, &released);
            mcr_data *data = borrow_dense(ctx, &v);
            same_results(ctx, data, plain);
            assert_int_equal(released, 0);
            same_models(ctx, data, plain, "svm", NULL);
            assert_int_equal(released, 1);
            data = borrow_dense(ctx, &v);
            same_models(ctx, data, plain, "svr", "standard");
            assert_int_equal(released, 2);
        }
    free(memory);
    mcr_data_free(plain);
}

static void reads_sparse_forms(void **state)
{
    mcr *ctx = *state;
    mcr_data *plain = copied(ctx, true);
    static compressed c;
    compress(&c);
    for (int form = 0; form < SPARSE_FORMS; form++) {
        int released = 0;
        mcr_sparse_view v = sparse_view(form, &c, &released);
        mcr_data *data = borrow_sparse(ctx, &v);
        same_results(ctx, data, plain);
        same_models(ctx, data, plain, "svm", NULL);
        data = borrow_sparse(ctx, &v);
        same_models(ctx, data, plain, "svr", "minmax");
        assert_int_equal(released, 2);
    }
    mcr_data_free(plain);
}

/* A slice of a matrix: its first row does not start at entry 0. */
static void reads_a_slice(void **state)
{
    mcr *ctx = *state;
    static compressed c;
    compress(&c);
    mcr_data *plain = copied(ctx, true), *slice = NULL;
    for (int form = 0; form < SPARSE_FORMS; form++) {
        mcr_sparse_view v = sparse_view(form, &c, &(int){0});
        v.start = form & 4 ? (const void *)(c.start64 + 5) : (const void *)(c.start32 + 5);
        v.release = NULL;
        mcr_builder *b = NULL;
        test_ok(ctx, mcr_builder_open(&b, ctx, N - 5));
        test_ok(ctx, mcr_builder_borrow_sparse(b, "x", &v));
        test_ok(ctx, mcr_builder_finish(&slice, b));
        for (int64_t i = 0; i < N - 5; i++) {
            double x[D], z[D];
            test_ok(ctx, mcr_data_vector(slice, 0, i, x));
            test_ok(ctx, mcr_data_vector(plain, 0, i + 5, z));
            assert_memory_equal(x, z, sizeof x);
        }
        mcr_data_free(slice);
    }
    mcr_data_free(plain);
}

static void read_text(char *text, size_t most, const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t count = fread(text, 1, most - 1, file);
    text[count] = '\0';
    fclose(file);
}

/* But for the first line, where tables have the names of their columns. */
static void same_files(const char *a, const char *b)
{
    static char x[1 << 16], z[1 << 16];
    read_text(x, sizeof x, a);
    read_text(z, sizeof z, b);
    assert_string_equal(strchr(x, '\n'), strchr(z, '\n'));
}

/* Views, joined data and files have the borrowed values; release waits for the last view. */
static void shares_with_views(void **state)
{
    mcr *ctx = *state;
    char folder[256], a[300], b[300];
    mcr_data *plain = copied(ctx, false), *view = NULL, *joint = NULL;
    void *memory = malloc((D + 3) * (N + 2) * sizeof(double));
    int released = 0;
    mcr_dense_view v = dense_view(COLUMNS, true, memory, &released);
    static const char *const names[D] = {"a", "b", "c", "d", "e", "f", "g"};
    v.column = names;
    mcr_data *data = borrow_dense(ctx, &v);
    test_make_directory(folder);
    static const char *const formats[] = {"csv", "libsvm", "jsonl"};
    for (int f = 0; f < 3; f++) {
        snprintf(a, sizeof a, "%s/a.%s", folder, formats[f]);
        snprintf(b, sizeof b, "%s/b.%s", folder, formats[f]);
        test_ok(ctx, mcr_data_write(data, a, formats[f]));
        test_ok(ctx, mcr_data_write(plain, b, formats[f]));
        same_files(a, b);
    }
    test_remove_directory(folder);
    test_ok(ctx, mcr_data_select(&view, data, (mcr_rows){(int64_t[]){9, 3}, 0, 2}));
    test_ok(ctx, mcr_data_concat(&joint, (const mcr_data *const[]){data, view}, 2));
    mcr_data_free(data);
    assert_int_equal(released, 0);
    double x[D], z[D];
    test_ok(ctx, mcr_data_vector(view, 0, 0, x));
    test_ok(ctx, mcr_data_vector(joint, 0, N, z));
    for (int64_t k = 0; k < D; k++)
        assert_true(x[k] == number(9, k) && z[k] == x[k]);
    mcr_data_free(view);
    assert_int_equal(released, 1);
    mcr_data_free(joint);
    mcr_data_free(plain);
    free(memory);
}

/* Objects that occur twice are found in every form: 1,000 objects of 40 different values. */
static void merges_duplicates(void **state)
{
    mcr *ctx = *state;
    enum { MANY = 1000 };
    static float x[MANY * D];
    static int64_t where[MANY];
    mcr_builder *b = NULL;
    mcr_data *data = NULL, *merged = NULL;
    mcr_dense_view v = MCR_INIT(mcr_dense_view);
    for (int64_t i = 0; i < MANY; i++)
        for (int64_t k = 0; k < D; k++)
            x[k * MANY + i] = (float)number(i, k);
    v.values = x;
    v.type = MCR_FLOAT32;
    v.cols = D;
    v.row_step = 1;
    v.col_step = MANY;
    test_ok(ctx, mcr_builder_open(&b, ctx, MANY));
    test_ok(ctx, mcr_builder_borrow_dense(b, "x", &v));
    test_ok(ctx, mcr_builder_finish(&data, b));
    test_ok(ctx, mcr_data_merge(&merged, data, false, where));
    assert_non_null(merged);
    assert_int_equal(mcr_data_count(merged), 40);
    for (int64_t i = 0; i < MANY; i++)
        assert_int_equal(where[i], i % 40);
    mcr_data_free(merged);
    mcr_data_free(data);
}

/* ---- other kinds ------------------------------------------------------------------------------*/

static void reads_precomputed(void **state)
{
    mcr *ctx = *state;
    static float k[4 * N * N];
    static double want[N * N], got[N * N];
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    mcr_kernel *kernel = NULL;
    mcr_gram *gram = NULL;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            want[i * N + j] = (double)(i * j % 32) / 4;
            k[2 * (i * N + j)] = (float)want[i * N + j];
        }
    mcr_dense_view v = MCR_INIT(mcr_dense_view);
    v.values = k;
    v.type = MCR_FLOAT32;
    v.cols = N;
    v.row_step = 2 * N;
    v.col_step = 2;
    test_ok(ctx, mcr_builder_open(&b, ctx, N));
    test_ok(ctx, mcr_builder_borrow_precomputed(b, "k", &v, NULL));
    set_targets(ctx, b);
    test_ok(ctx, mcr_builder_finish(&data, b));
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "precomputed"));
    test_ok(ctx, mcr_gram_open(&gram, ctx, kernel, data, NULL));
    test_ok(ctx, mcr_gram_matrix(gram, got, N));
    assert_memory_equal(got, want, sizeof want);
    mcr_gram_close(gram);
    mcr_kernel_free(kernel);
    mcr_data_free(data);
}

static void reads_strings_and_words(void **state)
{
    mcr *ctx = *state;
    static const char bytes[] = "..abcccaab";
    const int32_t start32[] = {2, 3, 3, 7, 10};
    const int64_t start64[] = {0, 1, 1, 5, 8};
    static const char *const want[] = {"a", "", "bccc", "aab"};
    for (int wide = 0; wide < 2; wide++) {
        int released = 0;
        mcr_builder *b = NULL;
        mcr_data *data = NULL;
        mcr_string_view v = MCR_INIT(mcr_string_view);
        v.start = wide ? (const void *)start64 : (const void *)start32;
        v.start_type = wide ? MCR_INT64 : MCR_INT32;
        v.bytes = wide ? bytes + 2 : bytes;
        v.release = count_release;
        v.user = &released;
        test_ok(ctx, mcr_builder_open(&b, ctx, 4));
        test_ok(ctx, mcr_builder_borrow_strings(b, "s", &v));
        mcr_string_view words = v;
        words.start = (const int32_t[]){0, 2, 4, 5, 7};
        words.start_type = MCR_INT32;
        words.bytes = "ababcab";
        test_ok(ctx, mcr_builder_string_targets(b, &words));
        assert_int_equal(released, 1); /* words are copied */
        test_ok(ctx, mcr_builder_number_weights(b, (float[]){1, 2, 3, 4}, MCR_FLOAT32, 1));
        test_ok(ctx, mcr_builder_finish(&data, b));
        for (int64_t i = 0; i < 4; i++) {
            const char *text;
            int64_t length;
            test_ok(ctx, mcr_data_string(data, 0, i, &text, &length));
            assert_int_equal(length, strlen(want[i]));
            assert_memory_equal(text, want[i], (size_t)length);
            assert_true(mcr_data_weights(data)[i] == (double)i + 1);
        }
        assert_int_equal(mcr_data_classes(data), 2);
        assert_string_equal(mcr_data_class_name(data, 0), "ab");
        assert_string_equal(mcr_data_class_name(data, 1), "c");
        assert_int_equal(mcr_data_class_of(data)[2], 1);
        mcr_data_free(data);
        assert_int_equal(released, 2);
    }
}

/* Two graphs, as pairs of 32 bits and as two rows of 64 bits: the same neighbours. */
static void reads_graphs(void **state)
{
    mcr *ctx = *state;
    const int32_t pair[][2] = {{0, 1}, {1, 2}, {1, 0}, {0, 0}};
    const int64_t both[] = {0, 1, 1, 0, 1, 2, 0, 0};
    const int16_t label[] = {5, 6, 5, 7};
    for (int form = 0; form < 2; form++) {
        int released = 0;
        mcr_builder *b = NULL;
        mcr_data *data = NULL;
        mcr_graph_view v = MCR_INIT(mcr_graph_view);
        v.start_type = form ? MCR_INT64 : MCR_INT32;
        v.node_start = form ? (const void *)(int64_t[]){0, 3, 4}
                            : (const void *)(int32_t[]){0, 3, 4};
        v.edge_start = form ? (const void *)(int64_t[]){0, 3, 4}
                            : (const void *)(int32_t[]){0, 3, 4};
        v.edge_type = form ? MCR_INT64 : MCR_INT32;
        v.tail = form ? (const void *)both : (const void *)pair[0];
        v.head = form ? (const void *)(both + 4) : (const void *)(pair[0] + 1);
        v.edge_step = form ? 1 : 2;
        v.node_label = label;
        v.label_type = MCR_INT16;
        v.release = count_release;
        v.user = &released;
        test_ok(ctx, mcr_builder_open(&b, ctx, 2));
        test_ok(ctx, mcr_builder_borrow_graphs(b, "g", &v));
        assert_int_equal(released, 1);
        test_ok(ctx, mcr_builder_finish(&data, b));
        const mcr_store *store = mcr_data_field(data, 0).store;
        assert_memory_equal(store->link, ((int64_t[]){0, 1, 3, 4, 5}), 5 * sizeof(int64_t));
        assert_memory_equal(store->adjacent, ((int32_t[]){1, 0, 2, 1, 0}), 5 * sizeof(int32_t));
        assert_memory_equal(store->node_label, ((int32_t[]){5, 6, 5, 7}), 4 * sizeof(int32_t));
        mcr_data_free(data);
    }
}

static void reads_targets(void **state)
{
    mcr *ctx = *state;
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    mcr_dense_view x = MCR_INIT(mcr_dense_view), y = MCR_INIT(mcr_dense_view);
    x.values = (double[]){1, 2, 3};
    x.cols = 1;
    y.values = (int16_t[]){1, 2, 3, 40, 50, 60};
    y.type = MCR_INT16;
    y.cols = 2;
    y.row_step = 1;
    y.col_step = 3;
    y.column = (const char *const[]){"low", "high"};
    test_ok(ctx, mcr_builder_open(&b, ctx, 3));
    test_ok(ctx, mcr_builder_borrow_dense(b, "x", &x));
    test_ok(ctx, mcr_builder_number_table(b, &y));
    test_ok(ctx, mcr_builder_finish(&data, b));
    assert_int_equal(mcr_data_target_count(data), 2);
    assert_string_equal(mcr_data_target_name(data, 1), "high");
    assert_true(mcr_data_target_table(data)[3] == 50 && mcr_data_targets(data)[2] == 3);
    mcr_data_free(data);

    test_ok(ctx, mcr_builder_open(&b, ctx, 3));
    test_ok(ctx, mcr_builder_borrow_dense(b, "x", &x));
    test_ok(ctx, mcr_builder_coded_targets(b, (uint8_t[]){2, 0, 2}, MCR_UINT8, 1,
                                           (const char *const[]){"red", "green", "blue"}, 3));
    test_ok(ctx, mcr_builder_finish(&data, b));
    assert_int_equal(mcr_data_target_kind(data), MCR_WORD_TARGETS);
    assert_int_equal(mcr_data_classes(data), 2);
    assert_string_equal(mcr_data_class_name(data, 0), "blue");
    assert_int_equal(mcr_data_class_of(data)[1], 1);
    mcr_data_free(data);
}

/* ---- faults -----------------------------------------------------------------------------------*/

static void refuses_faults(void **state)
{
    mcr *ctx = *state;
    mcr_builder *b = NULL;
    int released = 0, wanted = 0;
    static const int64_t start[] = {0, 1, 2};
    mcr_dense_view d = MCR_INIT(mcr_dense_view);
    d.values = (float[]){1, 2, 3, NAN};
    d.type = MCR_FLOAT32;
    d.cols = 2;
    d.release = count_release;
    d.user = &released;
    mcr_sparse_view s = MCR_INIT(mcr_sparse_view);
    s.cols = 3;
    s.start = start;
    s.index = start;
    s.start_type = s.index_type = MCR_INT64;
    s.type = MCR_FLOAT32;
    s.values = (float[]){1, INFINITY};
    s.release = count_release;
    s.user = &released;
    mcr_string_view t = MCR_INIT(mcr_string_view);
    t.start = (int32_t[]){0, 2, 1};
    t.start_type = MCR_INT32;
    t.bytes = "ab";
    t.release = count_release;
    t.user = &released;
#define REFUSED(call, code, words)                                                                 \
    test_ok(ctx, mcr_builder_open(&b, ctx, 2));                                                    \
    test_fails(ctx, (call), (code), (words));                                                      \
    mcr_builder_close(b);                                                                          \
    assert_int_equal(released, ++wanted)

    REFUSED(mcr_builder_borrow_dense(b, "x", &d), MCR_BAD_DATA,
            "field \"x\", row 2, column 2: the value is not finite");
    d.row_step = 1;
    d.col_step = 2;
    REFUSED(mcr_builder_borrow_dense(b, "x", &d), MCR_BAD_DATA, "row 2, column 2");
    d.values = (float[]){1, 2, INFINITY, 3};
    REFUSED(mcr_builder_borrow_dense(b, "x", &d), MCR_BAD_DATA, "row 1, column 2");
    d.cols = 0;
    REFUSED(mcr_builder_borrow_dense(b, "x", &d), MCR_BAD_CALL, "has 0 columns");
    d.cols = 2;
    d.type = MCR_INT32;
    REFUSED(mcr_builder_borrow_dense(b, "x", &d), MCR_BAD_CALL, "values must be float or double");
    d.type = (mcr_number)77;
    REFUSED(mcr_builder_borrow_dense(b, "x", &d), MCR_BAD_CALL, "there is no type of number 77");
    d.type = MCR_FLOAT32;
    d.row_step = INT64_MAX;
    REFUSED(mcr_builder_borrow_dense(b, "x", &d), MCR_BAD_CALL, "the strides are too large");
    d.values = (const char *)d.values + 1;
    REFUSED(mcr_builder_borrow_dense(b, "x", &d), MCR_BAD_CALL, "is not aligned to the 4 bytes");
    d.values = NULL;
    REFUSED(mcr_builder_borrow_dense(b, "x", &d), MCR_BAD_CALL, "there is no array");
    REFUSED(mcr_builder_borrow_sparse(b, "s", &s), MCR_BAD_DATA, "row 2, column 2");
    s.cols = 1;
    REFUSED(mcr_builder_borrow_sparse(b, "s", &s), MCR_BAD_DATA, "object 2: an index is too large");
    s.index_type = MCR_INT16;
    REFUSED(mcr_builder_borrow_sparse(b, "s", &s), MCR_BAD_CALL, "of 32 or 64 bits");
    REFUSED(mcr_builder_borrow_strings(b, "t", &t), MCR_BAD_DATA, "it ends before it starts");
    REFUSED(mcr_builder_string_targets(b, &t), MCR_BAD_DATA, "object 2: its class word ends");
    released = wanted = 0;
    test_ok(ctx, mcr_builder_open(&b, ctx, 2));
    test_fails(ctx, mcr_builder_number_targets(b, (int64_t[]){1, INT64_MAX}, MCR_INT64, 1),
               MCR_BAD_DATA, "object 2: a whole number beyond 2^53 is not a target");
    test_fails(ctx, mcr_builder_number_targets(b, (double[]){1, NAN}, MCR_FLOAT64, 1), MCR_BAD_DATA,
               "object 2: the target is not finite");
    test_fails(ctx,
               mcr_builder_coded_targets(b, (int32_t[]){0, 1}, MCR_INT32, 1,
                                         (const char *const[]){"a"}, 1),
               MCR_BAD_DATA, "object 2: its class is not one of the 1 names");
    d.size = 0;
    test_fails(ctx, mcr_builder_borrow_dense(b, "x", &d), MCR_BAD_CALL, "its size is not set");
    mcr_builder_close(b);
}

/* Every allocation fails in turn; the memory is released once each time. */
static mcr_status build_all(mcr *ctx, void *arg)
{
    (void)arg;
    int released = 0, lent = 0;
    static compressed c;
    compress(&c);
    double memory[(D + 3) * (N + 2)];
    mcr_builder *b = NULL;
    mcr_data *data = NULL, *own = NULL;
    mcr_dense_view d = dense_view(COLUMNS, true, memory, &released);
    mcr_sparse_view s = sparse_view(3, &c, &released);
    d.column = (const char *const[]){"a", "b", "c", "d", "e", "f", "g"};
    mcr_status status = mcr_builder_open(&b, ctx, N);
    if (status != MCR_OK)
        return status;
    lent++;
    status = mcr_builder_borrow_dense(b, "x", &d);
    if (status == MCR_OK) {
        lent++;
        status = mcr_builder_borrow_sparse(b, "s", &s);
    }
    if (status == MCR_OK)
        status = mcr_builder_number_targets(b, c.start32, MCR_INT32, 1);
    if (status == MCR_OK)
        status = mcr_builder_finish(&data, b);
    else
        mcr_builder_close(b);
    if (status == MCR_OK)
        status = mcr_data_own(&own, data);
    mcr_data_free(data);
    assert_int_equal(released, lent);
    mcr_data_free(own);
    return status;
}

static void survives_failures(void **state)
{
    (void)state;
    assert_true(test_sweep_allocations("borrow", build_all, NULL) > 20);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, test_setup, test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(reads_dense_forms),
        TEST(reads_sparse_forms),
        TEST(reads_a_slice),
        TEST(shares_with_views),
        TEST(merges_duplicates),
        TEST(reads_precomputed),
        TEST(reads_strings_and_words),
        TEST(reads_graphs),
        TEST(reads_targets),
        TEST(refuses_faults),
        cmocka_unit_test(survives_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
