/* test_kernel_bind.c: expressions bound to data: fields, tiles, diagonals, sums, scratch memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel_types.h"

#include <stdio.h>

#include "base/random.h"
#include "kernel/kernel.h"
#include "kernel/scratch.h"

enum { NX = 7, NZ = 5, COLS = 3 };

/* Objects with vectors (dense "x" or sparse), strings "s", and a second vector field "dose". */
typedef struct world {
    int64_t n;
    double x[NX][COLS], dose[NX][1];
    char text[NX][8];
} world;

static world make_world(int64_t n, uint64_t seed)
{
    world w = {.n = n};
    mcr_random r = mcr_random_stream(seed, "world", 0);
    for (int64_t i = 0; i < n; i++) {
        for (int c = 0; c < COLS; c++)
            w.x[i][c] = (i + c) % 3 == 0 ? 0 : mcr_random_normal(&r);
        w.dose[i][0] = 1 + mcr_random_uniform(&r);
        snprintf(w.text[i], sizeof w.text[i], "%.*s", (int)(1 + i % 4), &"abca"[i % 2]);
    }
    return w;
}

enum { SPARSE = 1, STRINGS = 2, DOSE = 4, NO_VECTORS = 8 };

static void add_sparse(mcr_builder *b, const world *w)
{
    int64_t start[NX + 1] = {0};
    int32_t index[NX * COLS];
    double value[NX * COLS];
    for (int64_t i = 0; i < w->n; i++) {
        start[i + 1] = start[i];
        for (int c = 0; c < COLS; c++) {
            if (w->x[i][c] == 0)
                continue;
            index[start[i + 1]] = c;
            value[start[i + 1]++] = w->x[i][c];
        }
    }
    assert_int_equal(mcr_builder_sparse(b, "x", COLS, start, index, value), MCR_OK);
}

static mcr_data *data_of(mcr *ctx, const world *w, int what)
{
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    test_ok(ctx, mcr_builder_open(&b, ctx, w->n));
    if (what & SPARSE)
        add_sparse(b, w);
    else if (!(what & NO_VECTORS))
        test_ok(ctx, mcr_builder_dense(b, "x", w->x[0], COLS, COLS));
    if (what & DOSE)
        test_ok(ctx, mcr_builder_dense(b, "dose", w->dose[0], 1, 1));
    if (what & STRINGS) {
        int64_t start[NX + 1] = {0};
        char bytes[NX * 8];
        for (int64_t i = 0; i < w->n; i++) {
            size_t length = strlen(w->text[i]);
            memcpy(bytes + start[i], w->text[i], length);
            start[i + 1] = start[i] + (int64_t)length;
        }
        test_ok(ctx, mcr_builder_strings(b, "s", start, bytes));
    }
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

/* ---- which field ------------------------------------------------------------------------------*/

static void try_bind(mcr *ctx, const char *text, const mcr_data *x, const mcr_data *z,
                     mcr_status expected, const char *words)
{
    mcr_kernel *k = parsed(ctx, text);
    mcr_binding *b = NULL;
    mcr_status status = mcr_binding_open(&b, ctx, k, x, z);
    if (expected == MCR_OK)
        test_ok(ctx, status);
    else
        test_fails(ctx, status, expected, words);
    assert_true((b != NULL) == (expected == MCR_OK));
    mcr_binding_close(b);
    mcr_kernel_free(k);
}

static void test_fields(void **state)
{
    mcr *ctx = *state;
    world w = make_world(NX, 1);
    mcr_data *plain = data_of(ctx, &w, 0), *text = data_of(ctx, &w, STRINGS | NO_VECTORS);
    mcr_data *both = data_of(ctx, &w, STRINGS), *many = data_of(ctx, &w, STRINGS | DOSE);
    mcr_data *dose = data_of(ctx, &w, DOSE | NO_VECTORS), *sparse = data_of(ctx, &w, SPARSE);
    try_bind(ctx, "dot + letters", both, NULL, MCR_OK, NULL);
    try_bind(ctx, "dot(dose)*letters(s) + dot(x)", many, NULL, MCR_OK, NULL);
    try_bind(ctx, "3", text, NULL, MCR_OK, NULL);
    try_bind(ctx, "dot", text, NULL, MCR_BAD_DATA,
             "dot needs a vector field, but the data have: s (strings)");
    try_bind(ctx, "letters", plain, NULL, MCR_BAD_DATA,
             "letters needs a field of strings, but the data have: x (vectors)");
    try_bind(ctx, "dot", many, NULL, MCR_BAD_CALL, "dot: which field? x, dose (write dot(x, ...))");
    try_bind(ctx, "dot(s)", both, NULL, MCR_BAD_DATA,
             "dot needs a vector field, but \"s\" holds strings");
    try_bind(ctx, "dot(dse)", many, NULL, MCR_BAD_CALL,
             "dot: the data have no field \"dse\" (did you mean \"dose\"?)");
    try_bind(ctx, "dot(assay)", both, NULL, MCR_BAD_CALL,
             "dot: the data have no field \"assay\", but: x (vectors), s (strings)");
    /* One side leaves no doubt. */
    try_bind(ctx, "dot", many, plain, MCR_OK, NULL);
    try_bind(ctx, "dot", dose, many, MCR_OK, NULL);
    try_bind(ctx, "dot", many, dose, MCR_OK, NULL);
    try_bind(ctx, "dot", many, text, MCR_BAD_CALL, "dot: which field? x, dose");
    try_bind(ctx, "dot", plain, text, MCR_BAD_DATA, "dot needs a vector field");
    /* Features. */
    try_bind(ctx, "dot", plain, dose, MCR_BAD_DATA, "the data have 1 feature, the model has 3");
    try_bind(ctx, "dot", dose, plain, MCR_BAD_DATA, "the data have 3 features, the model has 1");
    try_bind(ctx, "dot(x)", sparse, plain, MCR_OK, NULL);
    try_bind(ctx, "dot", sparse, dose, MCR_BAD_DATA, "the data have 1 feature, the model has 3");
    mcr_data *all[] = {plain, text, both, many, dose, sparse};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        mcr_data_free(all[i]);
}

/* Sparse vectors of different widths: what is missing is 0. */
static void test_widths(void **state)
{
    mcr *ctx = *state;
    const int64_t start[] = {0, 2}, short_start[] = {0, 1};
    const int32_t index[] = {0, 4}, short_index[] = {0};
    const double value[] = {2, 3}, short_value[] = {5}, dense[] = {1, 1, 1, 1, 1};
    mcr_data *data[3] = {NULL};
    for (int i = 0; i < 3; i++) {
        mcr_builder *b = NULL;
        test_ok(ctx, mcr_builder_open(&b, ctx, 1));
        if (i == 0)
            test_ok(ctx, mcr_builder_sparse(b, "x", 5, start, index, value));
        if (i == 1)
            test_ok(ctx, mcr_builder_sparse(b, "x", 1, short_start, short_index, short_value));
        if (i == 2)
            test_ok(ctx, mcr_builder_dense(b, "x", dense, 5, 5));
        test_ok(ctx, mcr_builder_finish(&data[i], b));
    }
    const double expected[3][3] = {{13, 10, 5}, {10, 25, 5}, {5, 5, 5}};
    mcr_kernel *k = parsed(ctx, "dot");
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            mcr_binding *b = NULL;
            mcr_scratch *s = NULL;
            double value_ij = NAN;
            test_ok(ctx, mcr_binding_open(&b, ctx, k, data[i], data[j]));
            test_ok(ctx, mcr_binding_prepare(b, true));
            test_ok(ctx, mcr_scratch_open(&s, b));
            mcr_tile tile = {{NULL, 0, 1}, {NULL, 0, 1}, 1, &value_ij, 1, s};
            test_ok(ctx, mcr_binding_block(b, &tile));
            assert_true(value_ij == expected[i][j]);
            mcr_scratch_close(s);
            mcr_binding_close(b);
        }
    }
    mcr_kernel_free(k);
    for (int i = 0; i < 3; i++)
        mcr_data_free(data[i]);
}

/* ---- values -----------------------------------------------------------------------------------*/

typedef struct object {
    const double *x;
    double dose;
    const char *text;
} object;

static object object_of(const world *w, int64_t i)
{
    return (object){w->x[i], w->dose[i][0], w->text[i]};
}

static double dot_of(object a, object b)
{
    double sum = 0;
    for (int c = 0; c < COLS; c++)
        sum += a.x[c] * b.x[c];
    return sum;
}

static double blob_of(object a, object b)
{
    return exp(-0.5 * (dot_of(a, a) + dot_of(b, b) - 2 * dot_of(a, b)));
}

static double letters_of(object a, object b)
{
    double sum = 0;
    for (const char *s = a.text; *s != '\0'; s++)
        for (const char *t = b.text; *t != '\0'; t++)
            sum += *s == *t;
    return sum;
}

static double sum_of(object a, object b)
{
    return 2 * dot_of(a, b) + 0.5 + blob_of(a, b) * letters_of(a, b) - 1;
}

static double product_of(object a, object b)
{
    return -3 * (dot_of(a, b) + 1) * blob_of(a, b) * letters_of(a, b);
}

static double power_of(object a, object b)
{
    return pow(dot_of(a, b) + 1, 3);
}

static double exp_of(object a, object b)
{
    return exp(0.5 * dot_of(a, b)) + exp(2);
}

static double normal_of(object a, object b)
{
    double d = (dot_of(a, a) + 1) * (dot_of(b, b) + 1);
    return (dot_of(a, b) + 1) / sqrt(d);
}

static double norm_of(object a, object b)
{
    return sqrt(dot_of(a, a)) * sqrt(dot_of(b, b)) * (1 + dot_of(a, b));
}

static double column_of(object a, object b)
{
    return a.x[1] * b.x[1] * letters_of(a, b);
}

static double dose_of(object a, object b)
{
    return a.dose * b.dose * dot_of(a, b);
}

static double user_of(object a, object b)
{
    return a.dose * 2 * b.dose * 2 * letters_of(a, b);
}

static double both_of(object a, object b)
{
    return dot_of(a, b) - letters_of(a, b) + 7;
}

static double numbers_of(object a, object b)
{
    (void)a;
    (void)b;
    return (2 + 3 * -4) * 5;
}

typedef struct value_case {
    const char *text;
    double (*value)(object, object);
} value_case;

static const value_case cases[] = {
    {"dot(x)", dot_of},
    {"blob(x, gamma=0.5)", blob_of},
    {"letters", letters_of},
    {"2*dot(x) + 0.5 + blob(x, gamma=0.5)*letters + -1", sum_of},
    {"-1*(dot(x)+1)*blob(x, gamma=0.5)*letters*3", product_of},
    {"(1 + dot(x))^3", power_of},
    {"exp(0.5*dot(x)) + exp(2)", exp_of},
    {"normalize(dot(x) + 1)", normal_of},
    {"conformal(1 + dot(x), f=\"x:norm\")", norm_of},
    {"conformal(letters, f=x:2)", column_of},
    {"conformal(dot(x), f=dose:1)", dose_of},
    {"conformal(letters, f=double_dose)", user_of},
    {"both(dot(x), letters) + 7", both_of},
    {"(2 + 3*-4)*5", numbers_of},
};

static mcr_status double_dose(void *user, const mcr_data *data, int64_t i, double *value)
{
    *(int64_t *)user += 1;
    mcr_status status = mcr_data_vector(data, 1, i, value);
    *value *= 2;
    return status;
}

static void check_block(mcr *ctx, const value_case *c, const mcr_binding *b, const world *wx,
                        const world *wz, mcr_rows x, mcr_rows z, int precise)
{
    enum { LD = 11 };
    union {
        double d[NX * LD];
        float f[NX * LD];
    } k;
    memset(&k, 0x7f, sizeof k);
    mcr_scratch *scratch = NULL;
    test_ok(ctx, mcr_scratch_open(&scratch, b));
    mcr_tile tile = {x, z, precise, &k, LD, scratch};
    size_t mark = mcr_scratch_mark(scratch);
    test_ok(ctx, mcr_binding_block(b, &tile));
    assert_true(mcr_scratch_mark(scratch) == mark);
    for (int64_t i = 0; i < x.count; i++) {
        for (int64_t j = 0; j < z.count; j++) {
            double got = precise ? k.d[i * LD + j] : (double)k.f[i * LD + j];
            double want = c->value(object_of(wx, mcr_rows_at(x, i)),
                                   object_of(wz, mcr_rows_at(z, j)));
            test_close_real(c->text, got, want, (precise ? 1e-13 : 1e-5) * (1 + fabs(want)));
        }
    }
    union {
        double d;
        float f;
    } untouched;
    memset(&untouched, 0x7f, sizeof untouched);
    if (precise)
        assert_memory_equal(&k.d[z.count], &untouched.d, sizeof untouched.d);
    else
        assert_memory_equal(&k.f[z.count], &untouched.f, sizeof untouched.f);
    mcr_scratch_close(scratch);
}

static void check_diagonal(mcr *ctx, const value_case *c, const mcr_binding *b, int side,
                           const world *w, mcr_rows rows)
{
    double d[NX];
    test_ok(ctx, mcr_bound_diagonal(b->root, side, rows, d));
    for (int64_t i = 0; i < rows.count; i++) {
        object o = object_of(w, mcr_rows_at(rows, i));
        double want = c->value(o, o);
        test_close_real(c->text, d[i], want, 1e-13 * (1 + fabs(want)));
    }
}

static void check_case(mcr *ctx, const value_case *c, const world *wx, const mcr_data *x,
                       const world *wz, const mcr_data *z)
{
    static const int64_t some_x[] = {4, 0, 4, 2}, some_z[] = {3, 1, 1};
    mcr_kernel *k = parsed(ctx, c->text);
    mcr_binding *b = NULL;
    test_ok(ctx, mcr_binding_open(&b, ctx, k, x, z == x ? NULL : z));
    for (int precise = 1; precise >= 0; precise--) {
        test_ok(ctx, mcr_binding_prepare(b, precise));
        check_block(ctx, c, b, wx, wz, (mcr_rows){NULL, 0, wx->n}, (mcr_rows){NULL, 0, wz->n},
                    precise);
        check_block(ctx, c, b, wx, wz, (mcr_rows){some_x, 0, 4}, (mcr_rows){some_z, 0, 3}, precise);
        check_block(ctx, c, b, wx, wz, (mcr_rows){NULL, 2, 1}, (mcr_rows){some_z, 0, 2}, precise);
    }
    check_diagonal(ctx, c, b, 0, wx, (mcr_rows){NULL, 0, wx->n});
    check_diagonal(ctx, c, b, 1, wz, (mcr_rows){NULL, 1, wz->n - 1});
    check_diagonal(ctx, c, b, 1, wz, (mcr_rows){some_z, 0, 3});
    mcr_binding_close(b);
    mcr_kernel_free(k);
}

static void test_values(void **state)
{
    mcr *ctx = *state;
    world wx = make_world(NX, 1), wz = make_world(NZ, 2);
    int64_t calls = 0;
    test_ok(ctx, mcr_function_register(ctx, "double_dose", double_dose, &calls));
    for (int form = 0; form < 2; form++) {
        mcr_data *x = data_of(ctx, &wx, (form ? SPARSE : 0) | STRINGS | DOSE);
        mcr_data *z = data_of(ctx, &wz, STRINGS | DOSE);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            check_case(ctx, &cases[i], &wx, x, &wx, x);
            check_case(ctx, &cases[i], &wx, x, &wz, z);
            check_case(ctx, &cases[i], &wz, z, &wx, x);
        }
        mcr_data_free(x);
        mcr_data_free(z);
    }
    assert_int_equal(calls, 2 * (NX + NX + NZ + NX + NZ)); /* once per object and side */
}

/* A view of rows is data like any other. */
static void test_views(void **state)
{
    mcr *ctx = *state;
    static const int64_t rows[] = {5, 1, 1, 6};
    world w = make_world(NX, 3), picked = {.n = 4};
    int64_t calls = 0;
    test_ok(ctx, mcr_function_register(ctx, "double_dose", double_dose, &calls));
    mcr_data *all = data_of(ctx, &w, STRINGS | DOSE), *view = NULL;
    test_ok(ctx, mcr_data_select(&view, all, (mcr_rows){rows, 0, 4}));
    for (int i = 0; i < 4; i++) {
        memcpy(picked.x[i], w.x[rows[i]], sizeof picked.x[i]);
        picked.dose[i][0] = w.dose[rows[i]][0];
        memcpy(picked.text[i], w.text[rows[i]], sizeof picked.text[i]);
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mcr_kernel *k = parsed(ctx, cases[i].text);
        mcr_binding *b = NULL;
        test_ok(ctx, mcr_binding_open(&b, ctx, k, view, all));
        test_ok(ctx, mcr_binding_prepare(b, true));
        check_block(ctx, &cases[i], b, &picked, &w, (mcr_rows){NULL, 0, 4}, (mcr_rows){NULL, 0, NX},
                    1);
        check_diagonal(ctx, &cases[i], b, 0, &picked, (mcr_rows){NULL, 0, 4});
        mcr_binding_close(b);
        mcr_kernel_free(k);
    }
    mcr_data_free(view);
    mcr_data_free(all);
}

/* ---- built-in leaves, whose tiles share dot products ------------------------------------------*/

enum { RANDOM_ROWS = 70, RANDOM_COLS = 6 };

static double vector_dot(const double *a, const double *b)
{
    double sum = 0;
    for (int c = 0; c < RANDOM_COLS; c++)
        sum += a[c] * b[c];
    return sum;
}

static double mixed_value(const double *a, const double *b)
{
    double ab = vector_dot(a, b), aa = vector_dot(a, a), bb = vector_dot(b, b);
    return exp(-0.1 * (aa + bb - 2 * ab)) * ab + 0.5 * pow(2 * ab + 1, 3) +
           ab / sqrt(aa * bb) * exp(-0.7 * (aa + bb - 2 * ab)) + 3;
}

static void check_mixed(mcr *ctx, const mcr_binding *b, const double (*v)[RANDOM_COLS], int precise)
{
    static const int64_t order[] = {69, 3, 3, 17, 0, 41};
    mcr_rows x[] = {{NULL, 0, RANDOM_ROWS}, {order, 0, 6}, {NULL, 5, 1}};
    mcr_rows z[] = {{NULL, 0, RANDOM_ROWS}, {NULL, 13, 20}, {order, 0, 6}};
    static double d[RANDOM_ROWS * RANDOM_ROWS];
    static float f[RANDOM_ROWS * RANDOM_ROWS];
    mcr_scratch *s = NULL;
    test_ok(ctx, mcr_scratch_open(&s, b));
    for (int t = 0; t < 3; t++) {
        mcr_tile tile = {x[t], z[t], precise, precise ? (void *)d : (void *)f, z[t].count, s};
        test_ok(ctx, mcr_binding_block(b, &tile));
        for (int64_t i = 0; i < x[t].count; i++)
            for (int64_t j = 0; j < z[t].count; j++) {
                int64_t at = i * z[t].count + j;
                double want = mixed_value(v[mcr_rows_at(x[t], i)], v[mcr_rows_at(z[t], j)]);
                test_close_real("mixed", precise ? d[at] : (double)f[at], want,
                                (precise ? 1e-12 : 1e-4) * (1 + fabs(want)));
            }
    }
    mcr_scratch_close(s);
}

static void test_built_in(void **state)
{
    mcr *ctx = *state;
    static double v[RANDOM_ROWS][RANDOM_COLS];
    mcr_random r = mcr_random_stream(5, "built in", 0);
    for (int i = 0; i < RANDOM_ROWS; i++)
        for (int c = 0; c < RANDOM_COLS; c++)
            v[i][c] = mcr_random_normal(&r);
    mcr_builder *builder = NULL;
    mcr_data *data = NULL;
    test_ok(ctx, mcr_builder_open(&builder, ctx, RANDOM_ROWS));
    test_ok(ctx, mcr_builder_dense(builder, "x", v[0], RANDOM_COLS, RANDOM_COLS));
    test_ok(ctx, mcr_builder_finish(&data, builder));
    mcr_kernel *k = parsed(ctx, "rbf(gamma=0.1)*linear + 0.5*poly(degree=3, scale=2, c=1) + "
                                "normalize(linear)*rbf(gamma=0.7) + 3");
    mcr_binding *b = NULL;
    test_ok(ctx, mcr_binding_open(&b, ctx, k, data, NULL));
    for (int precise = 0; precise < 2; precise++) {
        test_ok(ctx, mcr_binding_prepare(b, precise));
        check_mixed(ctx, b, (const double(*)[RANDOM_COLS])v, precise);
    }
    mcr_binding_close(b);
    mcr_kernel_free(k);
    mcr_data_free(data);
}

/* ---- large tiles ------------------------------------------------------------------------------*/

enum { MANY = 600, FEW = 300 };

static mcr_data *line_data(mcr *ctx, int64_t n, double step)
{
    double *values = malloc((size_t)n * sizeof *values);
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    assert_non_null(values);
    for (int64_t i = 0; i < n; i++)
        values[i] = step * (double)(i + 1);
    test_ok(ctx, mcr_builder_open(&b, ctx, n));
    test_ok(ctx, mcr_builder_dense(b, "x", values, 1, 1));
    test_ok(ctx, mcr_builder_finish(&data, b));
    free(values);
    return data;
}

/* Tiles of any size. */
static void test_large_tiles(void **state)
{
    mcr *ctx = *state;
    mcr_data *x = line_data(ctx, FEW, 0.5), *z = line_data(ctx, MANY, 0.25);
    mcr_kernel *k = parsed(ctx, "2*dot + exp(-0.0001*dot)");
    mcr_binding *b = NULL;
    mcr_scratch *s = NULL;
    test_ok(ctx, mcr_binding_open(&b, ctx, k, x, z));
    test_ok(ctx, mcr_scratch_open(&s, b));
    double *value = malloc(sizeof(double) * FEW * MANY);
    assert_non_null(value);
    mcr_tile tile = {{NULL, 0, FEW}, {NULL, 0, MANY}, 1, value, MANY, s};
    test_ok(ctx, mcr_binding_prepare(b, true));
    test_ok(ctx, mcr_binding_block(b, &tile));
    for (int i = 0; i < FEW; i++)
        for (int j = 0; j < MANY; j++) {
            double dot = 0.125 * (i + 1) * (j + 1);
            test_close_real("value", value[i * MANY + j], 2 * dot + exp(-0.0001 * dot), 1e-8);
        }
    assert_int_equal(mcr_scratch_mark(s), 0);
    free(value);
    mcr_scratch_close(s);
    mcr_binding_close(b);
    mcr_kernel_free(k);
    mcr_data_free(x);
    mcr_data_free(z);
}

/* ---- a faulty type ----------------------------------------------------------------------------*/

static double bad_pair(const mcr_bound *b, int64_t i, int64_t j)
{
    (void)b;
    return i == 0 && j == 1 ? NAN : 1;
}

static mcr_status bad_bind(mcr_bound *b, mcr_binding *binding)
{
    (void)binding;
    mcr_bound_set_state(b, mcr_bound_alloc(b, 3, 8));
    return mcr_bound_state(b) == NULL ? MCR_NO_MEMORY
           : mcr_bound_count(b, 0) > 4
               ? mcr_message_set(mcr_bound_context(b), MCR_BAD_DATA, "bad: too many objects")
               : MCR_OK;
}

static int unbound;

static void bad_unbind(mcr_bound *b)
{
    assert_non_null(mcr_bound_state(b));
    unbound++;
}

/* A type of the user's whose values are not finite, and whose bind may fail. */
static void test_faulty_type(void **state)
{
    mcr *ctx = *state;
    mcr_kernel_type bad = type_dot;
    bad.name = "bad";
    bad.pair = bad_pair;
    bad.bind = bad_bind;
    bad.unbind = bad_unbind;
    test_ok(ctx, mcr_kernel_register(ctx, &bad));
    const double v[6] = {1, 2, 3, 4, 5, 6};
    mcr_data *two = points(ctx, v, 2, 1), *six = points(ctx, v, 6, 1);
    double k[36];
    unbound = 0;
    test_fails(ctx, matrix(ctx, "1 + bad", two, NULL, k, 1), MCR_NUMERIC,
               "bad: the value for objects 1 and 2 is not finite");
    assert_int_equal(unbound, 1);
    test_fails(ctx, matrix(ctx, "dot + bad*exp(bad)", six, NULL, k, 1), MCR_BAD_DATA,
               "bad: too many objects");
    assert_int_equal(unbound, 2);
    mcr_data_free(two);
    mcr_data_free(six);
}

/* ---- scratch ----------------------------------------------------------------------------------*/

static void test_scratch(void **state)
{
    mcr *ctx = *state;
    mcr_binding fake = {.ctx = ctx, .shared_slots = 3};
    mcr_scratch *s = NULL;
    test_ok(ctx, mcr_scratch_open(&s, &fake));
    mcr_random r = mcr_random_stream(1, "scratch", 0);
    char *block[64];
    size_t mark[64], size[64];
    int depth = 0;
    int64_t before = 0;
    for (int round = 0; round < 4000; round++) {
        if (round == 3000)
            before = test_live_blocks(ctx);
        if (depth < 64 && mcr_random_below(&r, 2 + depth / 8) < 2) {
            size[depth] = (size_t)mcr_random_below(&r, 40000);
            mark[depth] = mcr_scratch_mark(s);
            block[depth] = mcr_scratch_take(s, size[depth]);
            assert_non_null(block[depth]);
            assert_int_equal((uintptr_t)block[depth] % 64, 0);
            memset(block[depth], depth + 1, size[depth]);
            depth++;
        } else if (depth > 0) {
            int keep = (int)mcr_random_below(&r, depth);
            for (int i = keep; i < depth; i++)
                for (size_t j = 0; j < size[i]; j += 97)
                    assert_int_equal(block[i][j], i + 1);
            mcr_scratch_release(s, mark[keep]);
            assert_true(mcr_scratch_mark(s) == mark[keep]);
            depth = keep;
        }
    }
    assert_int_equal(test_live_blocks(ctx), before); /* nothing new once it is warm */
    assert_null(mcr_scratch_take(s, SIZE_MAX - 8));

    mcr_tile tile = {{NULL, 0, 4}, {NULL, 0, 4}, 1, NULL, 4, s}, other = tile;
    other.z.first = 2;
    bool *valid[3];
    for (int i = 0; i < 3; i++) {
        char *slot = mcr_scratch_slot(s, i, &valid[i]);
        assert_false(*valid[i]);
        memset(slot, 0, sizeof(double) * MCR_TILE_ROWS * MCR_TILE_COLS);
    }
    mcr_scratch_expect(s, &tile);
    *valid[1] = true;
    mcr_scratch_expect(s, &tile);
    assert_true(*valid[1]);
    mcr_scratch_expect(s, &other);
    assert_false(*valid[1]);
    *valid[1] = true;
    other.precise = 0;
    mcr_scratch_expect(s, &other);
    assert_false(*valid[1]);
    *valid[1] = true;
    mcr_scratch_forget(s);
    assert_false(*valid[1]);
    mcr_scratch_close(s);
}

/* ---- each allocation fails once ---------------------------------------------------------------*/

static mcr_status bind_run(mcr *ctx, void *arg)
{
    mcr_kernel *k = NULL;
    mcr_builder *b = NULL;
    mcr_data *x = NULL, *z = NULL;
    double v[8] = {1, 2, 3, 4, 5, 6, 7, 8}, d[4];
    static char kept[4 * 4 * sizeof(double)];
    mcr_binding *binding = NULL;
    mcr_scratch *s = NULL;
    mcr_status status = register_types(ctx);
    if (status == MCR_OK)
        status = mcr_kernel_parse(&k, ctx, arg);
    for (int i = 0; i < 2 && status == MCR_OK; i++) {
        status = mcr_builder_open(&b, ctx, 4);
        if (status == MCR_OK)
            status = mcr_builder_dense(b, "x", v, 2, 2);
        if (status == MCR_OK) {
            status = mcr_builder_finish(i == 0 ? &x : &z, b);
            b = NULL;
        }
    }
    mcr_builder_close(b);
    if (status == MCR_OK)
        status = mcr_binding_open(&binding, ctx, k, x, z);
    if (status != MCR_OK)
        assert_null(binding);
    if (status == MCR_OK)
        status = mcr_binding_prepare(binding, true);
    if (status == MCR_OK)
        status = mcr_scratch_open(&s, binding);
    mcr_tile tile = {{NULL, 0, 4}, {NULL, 0, 4}, 1, kept, 4, s};
    if (status == MCR_OK)
        status = mcr_binding_block(binding, &tile);
    if (status == MCR_OK)
        status = mcr_bound_diagonal(binding->root, 1, (mcr_rows){NULL, 0, 4}, d);
    mcr_scratch_close(s);
    mcr_binding_close(binding);
    mcr_data_free(x);
    mcr_data_free(z);
    mcr_kernel_free(k);
    forget_types(ctx);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    static char text[] = "2*dot + exp(0.01*dot)*normalize(dot) + conformal(dot^2, f=2) + "
                         "both(dot, blob(gamma=1)) + 1";
    assert_true(test_sweep_allocations("bind", bind_run, text) > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_fields, types_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_widths, types_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_values, types_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_views, types_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_built_in, types_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_large_tiles, types_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_faulty_type, types_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_scratch, types_setup, test_teardown),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests_name("kernel_bind", tests, NULL, NULL);
}
