/* test_load.c: each condition that guards memory, or what a model says, while its sections are read
 * decides by itself; tools/mcdc.py takes them away one by one, and this program must see it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "forge_helpers.h"

static int open_context(void **state)
{
    *state = test_open(1);
    return 0;
}

static int close_context(void **state)
{
    test_close(*state);
    return 0;
}

/* ---- sections that must be there --------------------------------------------------------------*/

static void test_missing(void **state)
{
    mcr *ctx = *state;
    static const char *const tag[] = {"INFO", "KERN", "CERT", "CLAS", "COEF", "OBJS"};
    for (size_t c = 0; c < sizeof tag / sizeof *tag; c++) {
        forged f = forge_new(ctx, "moons", 8, "svm", "C=1");
        drop_part(&f, tag[c]);
        try_forged(&f, "a part is missing");
        forged_free(&f);
    }
}

/* What a model says of itself once it is loaded. */
static void test_report(void **state)
{
    mcr *ctx = *state;
    forged f = forge_new(ctx, "moons", 8, "svm", "C=1");
    mcr_model *model = load_forged(&f);
    const mcr_report_fit *r = mcr_model_report(model);
    assert_true(r->n == 8 && r->features == 2 && r->accuracy > 0);
    assert_string_equal(r->version, mcr_version());
    assert_string_equal(r->certificate, "KKT violation");
    assert_true(model->loaded && model->classes == 2 && !model->tuning && !model->layout);
    assert_true(!model->fitted->slope && !model->fitted->curve && !model->fitted->second);
    mcr_model_free(model);
    forged_free(&f);
}

/* Sections with what they must not hold. */
static void test_info(void **state)
{
    mcr *ctx = *state;
    for (int c = 0; c < 9; c++) {
        forged f = forge_new(ctx, "moons", 8, "svm", "C=1");
        const double number[5] = {0};
        mcr_text t;
        mcr_text_init(&t, ctx);
        mcr_put_text(&t, c == 1 ? NULL : c == 8 ? "svm*/" : "svm");
        mcr_put_text(&t, c == 2 ? NULL : "C=1");
        mcr_put_text(&t, c == 3 ? NULL : "0.1");
        mcr_put_i64(&t, 0);
        mcr_put_i64(&t, c == 4 ? -1 : 8);
        mcr_put_i64(&t, c == 5 ? -1 : 2);
        mcr_put_reals(&t, number, c == 6 ? 5 : c == 7 ? 3 : 4);
        put_part(&f, "INFO", &t);
        try_forged(&f, c ? "how it was made" : NULL);
        forged_free(&f);
    }
}

static void test_kernel(void **state)
{
    mcr *ctx = *state;
    static const char *const text[] = {NULL, "linear", "no_such_kernel",
                                       "mahalanobis(file=nowhere.csv)"};
    static const char *const what[] = {"its kernel", NULL, "does not know",
                                       "which is not allowed in a model"};
    for (int c = 0; c < 4; c++) {
        forged f = forge_new(ctx, "moons", 8, "svm", "C=1");
        mcr_text t;
        mcr_text_init(&t, ctx);
        mcr_put_text(&t, text[c]);
        put_part(&f, "KERN", &t);
        try_forged(&f, what[c]);
        forged_free(&f);
    }
}

static void test_certificate(void **state)
{
    mcr *ctx = *state;
    for (int c = 0; c < 5; c++) {
        forged f = forge_new(ctx, "moons", 8, "svm", "C=1");
        const double number[7] = {0};
        mcr_text t;
        mcr_text_init(&t, ctx);
        mcr_put_text(&t, "KKT violation");
        mcr_put_text(&t, NULL);
        mcr_put_i64(&t, 1);
        mcr_put_u32(&t, c == 1 ? MCR_STOP_LOCAL + 1 : c == 2 ? UINT32_MAX : MCR_STOP_LOCAL);
        mcr_put_reals(&t, number, c == 3 ? 7 : c == 4 ? 5 : 6);
        put_part(&f, "CERT", &t);
        try_forged(&f, c ? "its certificate" : NULL);
        forged_free(&f);
    }
}

/* Classes: none is NULL. */
static void test_classes(void **state)
{
    mcr *ctx = *state;
    for (int c = 0; c < 2; c++) {
        forged f = forge_new(ctx, "moons", 8, "svm", "C=1");
        mcr_text t;
        mcr_text_init(&t, ctx);
        mcr_put_i64(&t, 2);
        mcr_put_text(&t, "a");
        mcr_put_text(&t, c ? NULL : "b");
        put_part(&f, "CLAS", &t);
        try_forged(&f, c ? "its classes" : NULL);
        forged_free(&f);
    }
}

/* ---- coefficients -----------------------------------------------------------------------------*/

/* One change after the other to the coefficients of three classes (segments of 2 outputs each);
 * false: no more. */
static bool change(coefs *c, int number, const char **what)
{
    *what = "its coefficients";
    int64_t last = c->segments - 1;
    switch (number) {
    case 0: *what = NULL; return true;
    case 1: c->segment[0].first = -1; return true;
    case 2: c->segment[0].first = INT64_MAX; return true;
    case 3: c->segment[last].count = -1; return true;
    case 4: c->segment[last].first++; return true;
    case 5: c->segment[0].first = 1; return true;
    case 6: c->segment[0].outputs = 4; return true;
    case 7: c->segment[0].coefs++; return true;
    case 8: c->segment[0].coefs--; return true;
    case 9: c->segment[0].coefs += c->segment[0].count; return true;
    case 10: c->segment[0].output[1] = -1; return true;
    case 11: c->segment[0].output[1] = 3; return true;
    case 12: c->segment[1].coef[0] = NAN; return true;
    case 13: c->offset[1] = INFINITY; return true;
    case 14: c->offset[2] = NAN; return true;
    case 15: c->segments--; return true;
    case 16: c->outputs = 2; return true;
    case 17: c->outputs = 4; return true;
    case 18: c->slopes = 5; return true;
    case 19: c->slopes = 6, c->slope[5] = NAN; return true;
    case 20: c->slopes = 1; return true;
    case 21: /* four outputs, of which there are three */
        c->segment[0].outputs = 4;
        c->segment[0].coefs = 4 * c->segment[0].count;
        return true;
    case 22: /* an empty segment may be */
    case 23: /* but not with coefficients */
        *what = number == 22 ? NULL : *what;
        c->segment[c->segments].first = c->basis;
        c->segment[c->segments].coefs = number == 22 ? 0 : 1;
        c->segments++;
        return true;
    case 24:
        *what = "objects and coefficients do not fit"; /* one more than there are objects */
        c->basis++;
        c->segment[last].count++;
        c->segment[last].coefs += c->segment[last].outputs;
        return true;
    case 25: c->outputs = 6; return true;
    case 26: /* back, and on from there */
    case 27: /* beyond the largest number */
        c->segments = 2;
        c->segment[0].outputs = c->segment[0].coefs = 0;
        c->segment[0].count = number == 26 ? -1 : INT64_MAX;
        c->segment[1] = c->segment[0];
        c->segment[1].first = c->segment[0].count;
        c->segment[1].count = number == 26 ? c->basis + 1 : INT64_MAX;
        return true;
    default: return false;
    }
}

static void test_coefficients(void **state)
{
    mcr *ctx = *state;
    const char *what;
    for (int number = 0;; number++) {
        forged f = forge_new(ctx, "blobs", 9, "svm", "C=1");
        coefs c;
        get_coefs(&c, &f);
        assert_true(c.segments == 3 && c.segment[0].outputs == 2 && c.outputs == 3);
        bool more = change(&c, number, &what);
        put_coefs(&f, &c);
        if (more)
            try_forged(&f, what);
        forged_free(&f);
        if (!more)
            break;
    }
    assert_true(what != NULL);
}

/* The curves of outputs: all, or none. */
static void test_slopes(void **state)
{
    mcr *ctx = *state;
    forged f = forge_new(ctx, "blobs", 9, "svm", "C=1");
    coefs c;
    get_coefs(&c, &f);
    c.slopes = 6;
    c.slope[5] = 7;
    put_coefs(&f, &c);
    mcr_model *model = load_forged(&f);
    assert_non_null(model->fitted->slope);
    assert_true(model->fitted->slope[5] == 7);
    mcr_model_free(model);
    forged_free(&f);
}

/* As many outputs as are said, and none of them used by a segment. */
static void set_outputs(forged *f, int64_t outputs)
{
    coefs c;
    get_coefs(&c, f);
    c.outputs = outputs;
    for (int64_t g = 0; g < c.segments; g++)
        c.segment[g].outputs = c.segment[g].coefs = 0;
    put_coefs(f, &c);
}

/* Outputs that go with the rule, of learners with several targets, without, and unknown ones. */
static void test_outputs(void **state)
{
    mcr *ctx = *state;
    static const struct {
        const char *sample, *learner, *options, *called;
        int64_t outputs;
        const char *what;
    } cases[] = {
        {"sinc", "svr", "C=1", "svr", 1, NULL},
        {"sinc", "svr", "C=1", "svr", 2, "its coefficients"},
        {"sinc", "svr", "C=1", "svr", 0, "its coefficients"},
        {"sinc", "svr", "C=1", "unknown", 1, NULL},
        {"sinc", "svr", "C=1", "unknown", 2, "its coefficients"},
        {"sinc", "ridge", "lambda=1", "ridge", 1, NULL},
        {"sinc", "ridge", "lambda=1", "ridge", 2, "a part is missing"}, /* the names */
        {"sinc", "ridge", "lambda=1", "ridge", 0, "its coefficients"},
        {"blobs", "pca", "components=1", "pca", 1, NULL},
        {"blobs", "pca", "components=2", "pca", 2, NULL},
        {"blobs", "pca", "components=1", "pca", 0, "its coefficients"},
        {"sinc", "knn", "task=regress neighbors=2", "unknown", 0, "its coefficients"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        forged f = forge_new(ctx, cases[i].sample, 9, cases[i].learner, cases[i].options);
        const double number[4] = {0};
        mcr_text t;
        mcr_text_init(&t, ctx);
        mcr_put_text(&t, cases[i].called);
        mcr_put_text(&t, "");
        mcr_put_text(&t, "0.1");
        for (int k = 0; k < 3; k++)
            mcr_put_i64(&t, 1);
        mcr_put_reals(&t, number, 4);
        put_part(&f, "INFO", &t);
        set_outputs(&f, cases[i].outputs);
        try_forged(&f, cases[i].what);
        forged_free(&f);
    }
}

/* A model with a second kernel, on another field. */
static forged forge_two_kernels(mcr *ctx)
{
    double x[18];
    mcr_builder *b;
    mcr_data *data;
    for (int i = 0; i < 18; i++)
        x[i] = i * i % 7;
    test_ok(ctx, mcr_builder_open(&b, ctx, 9));
    test_ok(ctx, mcr_builder_dense(b, "a", x, 2, 2));
    test_ok(ctx, mcr_builder_dense(b, "b", x, 1, 1));
    test_ok(ctx, mcr_builder_finish(&data, b));
    return forge_fit(ctx, data, "linear(a)", "cca", "kernel2=linear(b) components=1");
}

/* A segment without its last object. */
static void shorten(coefs *c, int g)
{
    c->segment[g].count--;
    c->segment[g].coefs -= c->segment[g].outputs;
}

static void test_second_kernel(void **state)
{
    mcr *ctx = *state;
    for (int number = 0; number < 9; number++) {
        forged f = forge_two_kernels(ctx);
        const char *what = number ? "its coefficients" : NULL;
        coefs c;
        get_coefs(&c, &f);
        assert_true(c.segments == 2 && c.outputs == 2 && c.segment[1].count == c.basis);
        switch (number) {
        case 1: c.segment[0].first = 1; break;
        case 2: c.segment[1].first = 1; break;
        case 3: shorten(&c, 0); break;
        case 4: shorten(&c, 1); break;
        case 5: c.segments = 3; break;
        case 6: c.outputs = 3; break;
        case 7: drop_part(&f, "KER2"); break;
        case 8: {
            mcr_text t;
            mcr_text_init(&t, ctx);
            mcr_put_text(&t, "no_such_kernel");
            put_part(&f, "KER2", &t);
            what = "does not know";
        }
        }
        put_coefs(&f, &c);
        try_forged(&f, what);
        if (!what) {
            mcr_model *model = load_forged(&f);
            assert_string_equal(mcr_kernel_text(model->fitted->second), "linear(b)");
            mcr_model_free(model);
        }
        forged_free(&f);
    }
}

/* Two targets, of which the section TARG has the names. */
static forged forge_targets(mcr *ctx)
{
    static const char *const name[] = {"a", "b"};
    double x[9], y[18];
    mcr_builder *b;
    mcr_data *data;
    for (int i = 0; i < 9; i++) {
        x[i] = i * i % 7;
        y[2 * i] = i;
        y[2 * i + 1] = -x[i];
    }
    test_ok(ctx, mcr_builder_open(&b, ctx, 9));
    test_ok(ctx, mcr_builder_dense(b, "x", x, 1, 1));
    test_ok(ctx, mcr_builder_target_table(b, y, 2, name));
    test_ok(ctx, mcr_builder_finish(&data, b));
    return forge_fit(ctx, data, "linear", "ridge", "lambda=1");
}

static void test_targets(void **state)
{
    mcr *ctx = *state;
    static const char *const what[] = {NULL, "its targets", "targets and coefficients do not fit",
                                       "targets and coefficients do not fit", "its targets"};
    static const int64_t count[] = {2, 2, 1, 3, 1};
    forged f = forge_targets(ctx);
    for (int c = 0; c < 5; c++) {
        mcr_text t;
        mcr_text_init(&t, ctx);
        mcr_put_i64(&t, count[c]);
        for (int64_t i = 0; i < count[c]; i++)
            mcr_put_text(&t, c == 1 || c == 4 ? NULL : i ? "second" : "first");
        put_part(&f, "TARG", &t);
        try_forged(&f, what[c]);
        if (!c) {
            mcr_model *model = load_forged(&f);
            assert_string_equal(mcr_model_output_name(model, 1), "second");
            mcr_model_free(model);
        }
    }
    drop_part(&f, "TARG");
    try_forged(&f, "a part is missing");
    forged_free(&f);
}

/* Pairs of task and rule that go with the numbers of classes and outputs; others are refused. */
static void test_rules(void **state)
{
    mcr *ctx = *state;
    static const struct {
        const char *sample, *learner, *options, *fit;
    } kinds[] = {
        {"moons", "svm", "C=1", "12 15"},
        {"blobs", "svm", "C=1", "13 14 15"},
        {"sinc", "svr", "C=1", "20 31 44 57"},
        {"sparse", "one-class", "nu=0.5", "20 31 44 57"},
        {"blobs", "kmeans", "clusters=2", "44 57"},
        {"blobs", "pca", "components=2", "44 57"},
        {"moons", "knn", "task=classify neighbors=2", "16"},
        {"sinc", "knn", "task=regress neighbors=2", "20 26 31 44 57"},
        {"sinc", "ridge", "lambda=1", "20 31 44 57"},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (uint32_t task = 0; task < 8; task++)
            for (uint32_t rule = 0; rule < 10; rule++) {
                forged f = forge_new(ctx, kinds[k].sample, 9, kinds[k].learner, kinds[k].options);
                coefs c;
                get_coefs(&c, &f);
                char pair[] = {(char)('0' + task), (char)('0' + rule), '\0'};
                bool fits = strstr(kinds[k].fit, pair) != NULL;
                c.task = task;
                c.rule = rule;
                put_coefs(&f, &c);
                mcr_text file = whole(&f);
                mcr_model *model = NULL;
                mcr_status s = mcr_model_load_memory(&model, ctx, "m.mercer", file.bytes,
                                                     (size_t)file.length);
                if ((s == MCR_OK) != fits)
                    fail_msg("%s: task %u, rule %u: %s", kinds[k].learner, task, rule,
                             s ? mcr_message(ctx) : "it is taken");
                mcr_model_free(model);
                mcr_text_free(&file);
                forged_free(&f);
            }
}

/* ---- sections that need not be there ----------------------------------------------------------*/

static void test_probabilities(void **state)
{
    mcr *ctx = *state;
    static const double curve[][6] = {{1, 0, 1, 0, 1, 0},
                                      {1, 0, 1, NAN, 1, 0},
                                      {1, 0, 0, 0, 1, 0},
                                      {1, 0, 1, 0, -1, 0},
                                      {INFINITY, 0, 1, 0, 1, 0}};
    for (int c = 0; c < 7; c++) {
        forged f = forge_new(ctx, "blobs", 9, "svm", "C=1");
        mcr_text t;
        mcr_text_init(&t, ctx);
        mcr_put_reals(&t, curve[c < 5 ? c : 0], c == 5 ? 5 : 6);
        if (c == 6)
            t.length -= 8;
        put_part(&f, "PROB", &t);
        try_forged(&f, c ? "its probabilities" : NULL);
        forged_free(&f);
    }
}

static void test_extras(void **state)
{
    mcr *ctx = *state;
    const double value[] = {1, 2}, bad[] = {1, INFINITY};
    const double target[][2] = {{0, 1}, {-1, 0}, {0, 1000}, {0.5, 1}}; /* numbers of classes */
    for (int c = 0; c < 10; c++) {
        forged f = forge_new(ctx, "blobs", 9, "svm", "C=1");
        mcr_text t;
        char name[16];
        int extras = c == 3 ? 1001 : c == 4 ? 1000 : 1;
        mcr_text_init(&t, ctx);
        mcr_put_i64(&t, extras);
        for (int e = 0; e < extras; e++) {
            snprintf(name, sizeof name, "n%d", e);
            mcr_put_text(&t, c == 1 ? NULL : c >= 6 ? MCR_EXTRA_TARGET : name);
            mcr_put_reals(&t, c >= 6 ? target[c - 6] : c == 2 ? bad : value, 2);
        }
        if (c == 5)
            mcr_text_add(&t, "x", 1);
        put_part(&f, "MORE", &t);
        try_forged(&f, c && c != 4 && c != 6 ? "its numbers" : NULL);
        forged_free(&f);
    }
}

static void test_scaling(void **state)
{
    mcr *ctx = *state;
    const double good[] = {1, 2, 3}, bad[] = {1, NAN, 3};
    for (int c = 0; c < 9; c++) {
        forged f = forge_new(ctx, "moons", 8, "svm", "C=1");
        mcr_text t;
        int64_t cols = c == 7 ? 3 : 2;
        mcr_text_init(&t, ctx);
        mcr_put_i64(&t, 1);
        mcr_put_text(&t, c == 1 ? NULL : c == 8 ? "other" : "x");
        mcr_put_u32(&t, c == 2 ? 2 : c == 6 ? 0 : 1);
        mcr_put_reals(&t, c == 3 ? bad : good, cols);
        mcr_put_reals(&t, c == 4 ? bad : good, c == 5 ? 3 : cols);
        put_part(&f, "SCAL", &t);
        try_forged(&f, c == 0 || c == 8 ? NULL
                       : c < 6          ? "its scaling"
                                        : "objects and scaling do not fit");
        forged_free(&f);
    }
}

/* The columns of a table, and the first of its roles' columns and names; as the first case is. */
typedef struct table {
    int64_t columns, targets, roles, column[3], names;
    const char *name[3], *what;
} table;

static void put_table(forged *f, const table *a)
{
    mcr_text t;
    mcr_text_init(&t, f->ctx);
    mcr_put_i64(&t, a->columns);
    mcr_put_i64(&t, a->targets);
    mcr_put_u32(&t, 0);
    mcr_put_i64s(&t, a->column, a->roles);
    mcr_put_i64(&t, a->names);
    for (int64_t i = 0; i < a->names; i++)
        mcr_put_text(&t, a->name[i]);
    put_part(f, "TABL", &t);
}

static void test_table(void **state)
{
    mcr *ctx = *state;
    static const char bad[] = "its table";
    static const table cases[] = {
        {4, 1, 2, {3, 1}, 2, {"y", "w"}, NULL}, {4, 2, 2, {3, 1}, 2, {"y", "w"}, NULL},
        {4, 2, 2, {3, 0}, 0, {NULL}, NULL},                                     /* without names */
        {1, 0, 0, {0}, 0, {NULL}, NULL},        {0, 0, 0, {0}, 0, {NULL}, bad}, /* no columns */
        {2, 2, 2, {0, 1}, 0, {NULL}, bad},                                      /* no features */
        {4, -1, 0, {0}, 0, {NULL}, bad},        {4, INT64_MIN, 0, {0}, 0, {NULL}, bad},
        {4, 0, 2, {3, 1}, 2, {"y", "w"}, bad}, /* two weights */
        {4, 3, 2, {3, 1}, 2, {"y", "w"}, bad}, /* a target that is not there */
        {4, 1, 2, {3, 1}, 1, {"y"}, bad},       {4, 1, 2, {3, 1}, 3, {"y", "w", "v"}, bad},
        {4, 1, 2, {3, -1}, 2, {"y", "w"}, bad}, {4, 1, 2, {4, 1}, 2, {"y", "w"}, bad},
        {4, 1, 2, {1, 1}, 2, {"y", "w"}, bad},  {4, 1, 2, {3, 1}, 2, {"y", "y"}, bad},
        {4, 1, 2, {3, 1}, 2, {"y", ""}, bad},   {4, 1, 2, {3, 1}, 2, {"y", NULL}, bad},
        {4, 1, 2, {-1, 1}, 0, {NULL}, bad},
    };
    forged f = forge_new(ctx, "moons", 8, "svm", "C=1");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_table(&f, &cases[i]);
        try_forged(&f, cases[i].what);
    }
    put_table(&f, &cases[0]);
    mcr_model *model = load_forged(&f);
    const mcr_layout *l = model->layout;
    assert_true(l && l->columns == 4 && l->targets == 1 && l->roles == 2 && l->column[0] == 3);
    assert_string_equal(l->name->name[1], "w");
    mcr_model_free(model);
    put_table(&f, &cases[2]);
    model = load_forged(&f);
    assert_true(model->layout && !model->layout->name);
    mcr_model_free(model);
    put_table(&f, &cases[0]);
    mcr_text_add(part(&f, "TABL"), "x", 1);
    try_forged(&f, bad);
    forged_free(&f);
}

/* The names of its columns. */
static void put_columns(forged *f, const char *first)
{
    mcr_text t;
    mcr_text_init(&t, f->ctx);
    mcr_put_i64(&t, 1);
    mcr_put_text(&t, "x");
    mcr_put_i64(&t, 2);
    mcr_put_text(&t, first);
    mcr_put_text(&t, "width");
    put_part(f, "COLS", &t);
}

static void test_objects(void **state)
{
    mcr *ctx = *state;
    forged f = forge_new(ctx, "moons", 8, "svm", "C=1");
    put_columns(&f, "length");
    mcr_model *model = load_forged(&f);
    assert_string_equal(model->basis->store[0]->column[0], "length");
    mcr_model_free(model);
    put_columns(&f, NULL);
    try_forged(&f, "its columns");
    mcr_text_add(part(&f, "OBJS"), "x", 1);
    try_forged(&f, "its objects");
    drop_part(&f, "COLS");
    try_forged(&f, "its objects");
    forged_free(&f);
}

static void put_search(forged *f)
{
    mcr_text t;
    mcr_text_init(&t, f->ctx);
    mcr_put_text(&t, "C 1 2");
    put_part(f, "TUNE", &t);
}

static void test_search(void **state)
{
    mcr *ctx = *state;
    forged f = forge_new(ctx, "moons", 8, "svm", "C=1");
    put_search(&f);
    mcr_model *model = load_forged(&f);
    assert_string_equal(model->tuning, "C 1 2");
    mcr_model_free(model);
    mcr_text_add(part(&f, "TUNE"), "x", 1);
    try_forged(&f, "its search");
    forged_free(&f);
}

/* ---- without memory ---------------------------------------------------------------------------*/

/* Numbers, curves, a scaling, a table and the like, with two of each where there can be. */
static forged forge_rich(mcr *ctx)
{
    forged f = forge_new(ctx, "moons", 8, "svm", "C=1");
    const double curve[] = {1, 0};
    mcr_text t;
    coefs c;
    get_coefs(&c, &f);
    c.slopes = 2;
    put_coefs(&f, &c);
    mcr_text_init(&t, ctx);
    mcr_put_reals(&t, curve, 2);
    put_part(&f, "PROB", &t);
    mcr_text_init(&t, ctx);
    mcr_put_i64(&t, 2);
    for (int e = 0; e < 2; e++) {
        mcr_put_text(&t, e ? "one" : "other");
        mcr_put_reals(&t, curve, 2);
    }
    put_part(&f, "MORE", &t);
    mcr_text_init(&t, ctx);
    mcr_put_i64(&t, 1);
    mcr_put_text(&t, "x");
    mcr_put_u32(&t, 1);
    mcr_put_reals(&t, curve, 2);
    mcr_put_reals(&t, curve, 2);
    put_part(&f, "SCAL", &t);
    put_table(&f, &(table){4, 1, 2, {3, 1}, 2, {"y", "w"}, NULL});
    put_columns(&f, "length");
    put_search(&f);
    return f;
}

static mcr_status use_bytes(mcr *ctx, void *arg)
{
    mcr_model *model = NULL;
    mcr_status s = load_bytes(&model, ctx, arg);
    assert_true((model != NULL) == (s == MCR_OK));
    mcr_model_free(model);
    return s;
}

static void test_without_memory(void **state)
{
    mcr *ctx = *state;
    forged (*const make[])(mcr *) = {forge_rich, forge_two_kernels, forge_targets};
    for (size_t i = 0; i < sizeof make / sizeof *make; i++) {
        forged f = make[i](ctx);
        mcr_text file = whole(&f);
        assert_true(test_sweep_allocations("a model", use_bytes, &file) > 30);
        mcr_text_free(&file);
        forged_free(&f);
    }
}

/* ---- files ------------------------------------------------------------------------------------*/

static void test_recognised(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t count;
        int is;
    } cases[] = {{mcr_model_magic, 8, 1},     {mcr_model_magic, 7, 0},
                 {"MERCER\r\r", 8, 0},        {"svm_type c_svc\n", 15, 1},
                 {"svm_typo c_svc\n", 15, 0}, {"\10\7\22\0", 4, 1},
                 {"\10\7\23\0", 4, 0},        {"", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *block = malloc(cases[i].count);
        memcpy(block, cases[i].bytes, cases[i].count);
        assert_int_equal(mcr_model_recognise(block, cases[i].count), cases[i].is);
        free(block);
    }
}

static void write_file(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* Files of several windows; one that is not there; gzip without its end. */
static void test_files(void **state)
{
    mcr *ctx = *state;
    enum { MANY = 20000 };
    char folder[256], path[300];
    double *value = calloc(MANY, sizeof *value);
    mcr_model *model = NULL;
    forged f = forge_new(ctx, "moons", 8, "svm", "C=1");
    mcr_text small = whole(&f), t;
    mcr_text_init(&t, ctx);
    mcr_put_i64(&t, 1);
    mcr_put_text(&t, "many");
    mcr_put_reals(&t, value, MANY);
    put_part(&f, "MORE", &t);
    mcr_text large = whole(&f);
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/m.mercer", folder);
    test_fails(ctx, mcr_model_load(&model, ctx, path), MCR_IO, "m.mercer");
    write_file(path, large.bytes, (size_t)large.length);
    test_ok(ctx, mcr_model_load(&model, ctx, path));
    mcr_model_free(model);
    write_file(path, "", 0);
    test_fails(ctx, mcr_model_load(&model, ctx, path), MCR_BAD_DATA, "not a model file");
    /* One stored block with all of the model; the checksum that must follow does not. */
    mcr_text packed;
    mcr_text_init(&packed, ctx);
    mcr_text_add(&packed, "\37\213\10\0\0\0\0\0\0\3\1", 11);
    const char length[] = {(char)(small.length & 255), (char)(small.length >> 8),
                           (char)~(small.length & 255), (char)~(small.length >> 8)};
    mcr_text_add(&packed, length, 4);
    mcr_text_add(&packed, small.bytes, (size_t)small.length);
    write_file(path, packed.bytes, (size_t)packed.length);
    test_fails(ctx, mcr_model_load(&model, ctx, path), MCR_BAD_DATA, "");
    test_remove_directory(folder);
    mcr_text_free(&packed);
    mcr_text_free(&small);
    mcr_text_free(&large);
    forged_free(&f);
    free(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_missing, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_report, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_info, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_kernel, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_certificate, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_classes, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_coefficients, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_slopes, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_outputs, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_second_kernel, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_targets, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_rules, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_probabilities, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_extras, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_scaling, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_table, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_objects, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_search, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_without_memory, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_recognised, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_files, open_context, close_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
