/* test_model.c: model files: what is saved loads as it was, for every learner and kind of object; a
 * file that is cut or altered anywhere is refused, and one that is altered with its checksums put
 * right does no harm; running out of memory leaves nothing behind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "svm_helpers.h"

#include <unistd.h>

#include "base/stream.h"
#include "model/container.h"

static char folder[256];

static int make_folder(void **state)
{
    test_make_directory(folder);
    *state = test_open(2);
    return 0;
}

static int remove_folder(void **state)
{
    test_remove_directory(folder);
    test_close(*state);
    return 0;
}

static const char *in_folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* ---- files in memory --------------------------------------------------------------------------*/

typedef struct file {
    unsigned char *bytes;
    size_t count;
} file;

static file file_read(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    file result = {malloc(1 << 20), 0};
    result.count = fread(result.bytes, 1, 1 << 20, f);
    fclose(f);
    assert_true(result.count > 0 && result.count < 1 << 20);
    return result;
}

static file file_of(mcr *ctx, const mcr_model *model)
{
    test_ok(ctx, mcr_model_save(ctx, model, in_folder("m.mercer")));
    return file_read(in_folder("m.mercer"));
}

/* In a block of its own size, so that reading behind it is seen. */
static mcr_status load(mcr_model **out, mcr *ctx, const unsigned char *bytes, size_t count)
{
    unsigned char *exact = malloc(count ? count : 1);
    memcpy(exact, bytes, count);
    *out = (mcr_model *)(void *)exact; /* must be set to NULL on failure */
    mcr_status status = mcr_model_load_memory(out, ctx, "m.mercer", exact, count);
    free(exact);
    return status;
}

static uint64_t number_at(const unsigned char *from, int bytes)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++)
        v |= (uint64_t)from[i] << (8 * i);
    return v;
}

/* Where a section's payload is: its length. */
static size_t find_section(const file *f, const char tag[4], size_t *at)
{
    for (size_t p = 12; p + 16 <= f->count;) {
        size_t length = (size_t)number_at(f->bytes + p + 4, 8);
        if (memcmp(f->bytes + p, tag, 4) == 0) {
            *at = p + 12;
            return length;
        }
        p += 16 + length;
    }
    fail_msg("no section %.4s", tag);
    return 0;
}

/* Puts all checksums right. */
static void mend_checksums(file *f)
{
    for (size_t p = 12; p + 16 <= f->count;) {
        uint64_t length = number_at(f->bytes + p + 4, 8);
        if (length > f->count - p - 16)
            return;
        uint32_t sum = mcr_checksum(f->bytes + p, 12 + (size_t)length);
        for (int i = 0; i < 4; i++)
            f->bytes[p + 12 + length + (size_t)i] = (unsigned char)(sum >> (8 * i));
        p += 16 + (size_t)length;
    }
}

/* A field that only a function of the object reads is kept, too. */
static void test_field_of_a_function(void **state)
{
    mcr *ctx = *state;
    mcr_kernel *kernel = NULL;
    mcr_options *options = NULL;
    mcr_data *data = NULL;
    mcr_model *model = NULL, *loaded = NULL;
    double before[30], after[30];
    test_ok(ctx, mcr_data_sample(&data, ctx, "rings", 30, -1));
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "conformal(1)"));
    test_ok(ctx, mcr_options_open(&options, ctx, "svm"));
    test_ok(ctx, mcr_fit(&model, options, kernel, data, NULL));
    file f = file_of(ctx, model);
    test_ok(ctx, load(&loaded, ctx, f.bytes, f.count));
    test_ok(ctx, mcr_predict(ctx, model, data, NULL, before, NULL));
    test_ok(ctx, mcr_predict(ctx, loaded, data, NULL, after, NULL));
    assert_memory_equal(before, after, sizeof before);
    free(f.bytes);
    mcr_model_free(loaded);
    mcr_model_free(model);
    mcr_options_close(options);
    mcr_kernel_free(kernel);
    mcr_data_free(data);
}

/* ---- all kinds of models ----------------------------------------------------------------------*/

/* Targets and weights that are not the last columns. */
static const char table_text[] =
    "sort,a,w,b\n1,1,2,3\n-1,4,1,1\n1,2,1,5\n-1,5,2,2\n1,0,1,4\n-1,6,1,0\n";

static mcr_status read_table(mcr_data **out, mcr *ctx, const char *text, const mcr_layout *like)
{
    mcr_read_options options = {.size = sizeof options,
                                .format = "csv",
                                .target = like ? NULL : "sort",
                                .weight = like ? NULL : "w",
                                .like = like};
    return mcr_data_read_memory(out, ctx, "table", text, strlen(text), &options);
}

static mcr_data *table(mcr *ctx)
{
    mcr_data *data;
    test_ok(ctx, read_table(&data, ctx, table_text, NULL));
    return data;
}

/* K of another data set as a precomputed one. */
static mcr_data *precomputed(mcr *ctx)
{
    enum { N = 12 };
    mcr_data *points = sample_data(ctx, "moons", N), *data;
    mcr_builder *b;
    double *k = gram_of(ctx, "rbf(gamma=2)", points);
    test_ok(ctx, mcr_builder_open(&b, ctx, N));
    test_ok(ctx, mcr_builder_precomputed(b, "k", k, N, NULL));
    test_ok(ctx, mcr_builder_targets(b, mcr_data_targets(points)));
    test_ok(ctx, mcr_builder_finish(&data, b));
    mcr_data_free(points);
    free(k);
    return data;
}

typedef struct kind {
    const char *sample;
    int64_t count;
    const char *learner, *options, *kernel;
} kind;

static const kind kinds[] = {
    {"moons", 20, "svm", "C=2", "rbf(gamma=2)"},
    {"moons", 20, "svm", "C=inf", "rbf(gamma=50)"},
    {"blobs", 24, "svm", "probability=yes", "poly(degree=2,c=1)"},
    {"blobs", 24, "svm", "multiclass=ovr probability=yes", "linear"},
    {"blobs", 24, "nu-svm", "nu=0.2", "rbf(gamma=[1, 0.5])"},
    {"sparse", 30, "svm", "C=1 class-weight=1=2", "linear"},
    {"sparse", 30, "one-class", "nu=0.3", "sigmoid(a=0.1, b=0.2)"},
    {"sinc", 20, "svr", "C=5", "matern(nu=1.5, length=2)"},
    {"friedman", 20, "nu-svr", "C=5 nu=0.3", "rbf(gamma=0.2) * linear + 3"},
    {"motifs", 12, "svm", "C=1", "spectrum(p=3)"},
    {"molecules", 10, "svm", "C=1", "normalize(wl(h=2))"},
    {"mixed", 12, "svm", "C=1 probability=yes",
     "rbf(x, gamma=0.1) * wl(molecule, h=1) + 0.5 * spectrum(sequence, p=2)"},
    {"mixed", 12, "svm", "C=1", "spectrum(sequence, p=2)"}, /* some fields are not needed */
    {"precomputed", 12, "svm", "C=1", "precomputed"},
    {"sinc", 20, "ridge", "lambda=1e-3:1:log4", "rbf(gamma=1)"},
    {"blobs", 24, "ridge", "task=classify loo=yes", "linear"},
    {"blobs", 24, "logistic", "lambda=0.1", "rbf(gamma=1)"},
    {"motifs", 12, "logistic", "lambda=0.1", "spectrum(p=3)"},
    {"sinc", 20, "erm", "loss=absolute", "laplace(gamma=1)"},
    {"blobs", 24, "knn", "task=classify neighbors=3", "rbf(gamma=1)"},
    {"mixed", 12, "knn", "task=classify vote=distance", "wl(molecule) + rbf(x, gamma=1)"},
    {"precomputed", 12, "knn", "neighbors=2", "precomputed"},
    {"molecules", 10, "kmeans", "clusters=3", "normalize(wl(h=2))"},
    {"blobs", 24, "kmeans", "clusters=4", "linear"},
    {"table", 6, "svm", "C=1", "rbf(gamma=1)"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static mcr_data *data_of(mcr *ctx, const kind *k)
{
    if (strcmp(k->sample, "table") == 0)
        return table(ctx);
    return strcmp(k->sample, "precomputed") == 0 ? precomputed(ctx)
                                                 : sample_data(ctx, k->sample, k->count);
}

typedef struct answers {
    int64_t n, outputs, classes;
    double *value, *score, *proba;
} answers;

static answers answers_of(mcr *ctx, const mcr_model *model, const mcr_data *data)
{
    answers a = {
        mcr_data_count(data), mcr_model_outputs(model), mcr_model_classes(model), NULL, NULL, NULL};
    a.value = calloc((size_t)a.n, sizeof(double));
    a.score = calloc((size_t)(a.n * a.outputs), sizeof(double));
    a.proba = calloc((size_t)(a.n * a.classes) + 1, sizeof(double));
    test_ok(ctx, mcr_predict(ctx, model, data, a.value, a.score,
                             mcr_model_has_probability(model) ? a.proba : NULL));
    return a;
}

static void answers_free(answers *a)
{
    free(a->value);
    free(a->score);
    free(a->proba);
}

static void same_answers(const answers *a, const answers *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->outputs, b->outputs);
    assert_int_equal(a->classes, b->classes);
    assert_memory_equal(a->value, b->value, sizeof(double) * (size_t)a->n);
    assert_memory_equal(a->score, b->score, sizeof(double) * (size_t)(a->n * a->outputs));
    assert_memory_equal(a->proba, b->proba, sizeof(double) * (size_t)(a->n * a->classes));
}

static void same_text(const char *a, const char *b)
{
    assert_true((a == NULL) == (b == NULL));
    if (a)
        assert_string_equal(a, b);
}

static void same_report(const mcr_model *a, const mcr_model *b)
{
    const mcr_report_fit *p = mcr_model_report(a), *q = mcr_model_report(b);
    same_text(p->learner, q->learner);
    same_text(p->kernel, q->kernel);
    same_text(p->options, q->options);
    same_text(p->certificate, q->certificate);
    same_text(p->remark, q->remark);
    same_text(p->version, q->version);
    const int64_t m[2][9] = {{p->task, p->n, p->features, p->classes, p->support, p->iterations,
                              p->stop, (int64_t)p->seed, mcr_model_outputs(a)},
                             {q->task, q->n, q->features, q->classes, q->support, q->iterations,
                              q->stop, (int64_t)q->seed, mcr_model_outputs(b)}};
    assert_memory_equal(m[0], m[1], sizeof m[0]);
    const double x[2][9] = {{p->objective, p->value, p->tolerance, p->primal, p->dual, p->gap,
                             p->accuracy, p->mse, p->r2},
                            {q->objective, q->value, q->tolerance, q->primal, q->dual, q->gap,
                             q->accuracy, q->mse, q->r2}};
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    for (int64_t c = 0; c < mcr_model_classes(a); c++)
        same_text(mcr_model_class_name(a, c), mcr_model_class_name(b, c));
    for (int64_t o = 0; o < mcr_model_outputs(a); o++)
        same_text(mcr_model_output_name(a, o), mcr_model_output_name(b, o));
}

static void test_saved_and_loaded(void **state)
{
    mcr *ctx = *state;
    for (int i = 0; i < KINDS; i++) {
        mcr_data *data = data_of(ctx, &kinds[i]);
        mcr_model *model = fit(ctx, kinds[i].learner, kinds[i].options, kinds[i].kernel, data);
        mcr_model *again = NULL, *twice = NULL;
        file f = file_of(ctx, model);
        test_ok(ctx, mcr_model_load(&again, ctx, in_folder("m.mercer")));
        same_report(model, again);
        answers a = answers_of(ctx, model, data), b = answers_of(ctx, again, data);
        same_answers(&a, &b);
        file g = file_of(ctx, again); /* what was read is written as it was */
        assert_int_equal(f.count, g.count);
        assert_memory_equal(f.bytes, g.bytes, f.count);
        test_ok(ctx, load(&twice, ctx, f.bytes, f.count));
        same_report(model, twice);
        assert_true(mcr_model_recognise(f.bytes, f.count));
        answers_free(&a);
        answers_free(&b);
        mcr_model_free(model);
        mcr_model_free(again);
        mcr_model_free(twice);
        mcr_data_free(data);
        free(f.bytes);
        free(g.bytes);
    }
}

/* A field may be called as it likes; only the kernel's own parameter names a file. */
static void test_names_of_fields(void **state)
{
    mcr *ctx = *state;
    problem p = problem_points(20, 2, 0, 3);
    mcr_builder *b;
    for (int64_t i = 0; i < p.n; i++)
        p.y[i] = i % 2 ? 1 : -1;
    test_ok(ctx, mcr_builder_open(&b, ctx, p.n));
    test_ok(ctx, mcr_builder_dense(b, "profile", p.x, 2, 2));
    test_ok(ctx, mcr_builder_targets(b, p.y));
    test_ok(ctx, mcr_builder_finish(&p.data, b));
    mcr_model *model = fit(ctx, "svm", "C=1", "rbf(profile, gamma=1)", p.data), *again = NULL;
    file f = file_of(ctx, model);
    test_ok(ctx, load(&again, ctx, f.bytes, f.count));
    answers x = answers_of(ctx, model, p.data), y = answers_of(ctx, again, p.data);
    same_answers(&x, &y);
    answers_free(&x);
    answers_free(&y);
    mcr_model_free(model);
    mcr_model_free(again);
    free(f.bytes);
    problem_free(&p);
}

/* ---- damage -----------------------------------------------------------------------------------*/

/* Refused with a message that names the file, or the same model. */
static void expect_refused(mcr *ctx, const unsigned char *bytes, size_t count, const char *what,
                           size_t at)
{
    mcr_model *model;
    mcr_status status = load(&model, ctx, bytes, count);
    if (status == MCR_OK || model)
        fail_msg("%s at %zu is not seen", what, at);
    if (status != MCR_BAD_DATA || !strstr(mcr_message(ctx), "m.mercer"))
        fail_msg("%s at %zu: %s: %s", what, at, mcr_status_name(status), mcr_message(ctx));
}

static void test_every_byte_and_prefix(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = sample_data(ctx, "blobs", 9);
    mcr_model *model = fit(ctx, "svm", "probability=yes", "rbf(gamma=1)", data), *again = NULL;
    file f = file_of(ctx, model);
    assert_true(f.count < 4096);
    for (size_t at = 0; at < f.count; at++) {
        for (int bit = 0; bit < 9; bit++) {
            unsigned char kept = f.bytes[at];
            f.bytes[at] ^= (unsigned char)(bit < 8 ? 1 << bit : 0xff);
            expect_refused(ctx, f.bytes, f.count, "a change", at);
            f.bytes[at] = kept;
        }
        expect_refused(ctx, f.bytes, at, "the end", at);
    }
    test_ok(ctx, load(&again, ctx, f.bytes, f.count));
    f.bytes = realloc(f.bytes, f.count + 1);
    f.bytes[f.count] = 0;
    expect_refused(ctx, f.bytes, f.count + 1, "one byte more", f.count);
    mcr_model_free(model);
    mcr_model_free(again);
    mcr_data_free(data);
    free(f.bytes);
}

/* Through the file system, with each kind of object: cut files. */
static void test_cut_files(void **state)
{
    mcr *ctx = *state;
    for (int i = 0; i < KINDS; i++) {
        mcr_data *data = data_of(ctx, &kinds[i]);
        mcr_model *model = fit(ctx, kinds[i].learner, kinds[i].options, kinds[i].kernel, data);
        file f = file_of(ctx, model);
        for (size_t length = 0; length < f.count; length += 1 + f.count / 41) {
            mcr_model *cut = NULL;
            assert_int_equal(truncate(in_folder("m.mercer"), 0), 0);
            FILE *to = fopen(in_folder("m.mercer"), "wb");
            assert_int_equal(fwrite(f.bytes, 1, length, to), length);
            fclose(to);
            mcr_status status = mcr_model_load(&cut, ctx, in_folder("m.mercer"));
            assert_int_equal(status, MCR_BAD_DATA);
            assert_null(cut);
            assert_non_null(strstr(mcr_message(ctx), "m.mercer"));
        }
        mcr_model_free(model);
        mcr_data_free(data);
        free(f.bytes);
    }
}

/* A table with the names that models here have, and one without, read like the model's own. */
static void try_tables(mcr *ctx, const mcr_model *model)
{
    static const char *const text[] = {table_text, "y,a,b,z,sort\n1,2,3,4,5\n",
                                       "1,2,3,4\n5,6,7,8\n"};
    for (size_t t = 0; t < sizeof text / sizeof *text && mcr_model_layout(model); t++) {
        mcr_data *seen = NULL;
        mcr_status status = read_table(&seen, ctx, text[t], mcr_model_layout(model));
        assert_true((status == MCR_OK) == (seen != NULL));
        assert_true(status == MCR_OK || mcr_message(ctx)[0] != '\0');
        mcr_data_free(seen);
    }
}

/* Loads and, if that works, uses the model. */
static void try_altered(mcr *ctx, file *f, const mcr_data *data)
{
    mcr_model *model;
    mend_checksums(f);
    mcr_status status = load(&model, ctx, f->bytes, f->count);
    assert_true((status == MCR_OK) == (model != NULL));
    if (status != MCR_OK) {
        assert_true(mcr_message(ctx)[0] != '\0');
        return;
    }
    size_t n = (size_t)mcr_data_count(data), outputs = (size_t)mcr_model_outputs(model);
    double *value = calloc(n, sizeof *value), *score = calloc(n * outputs, sizeof *score);
    if (mcr_predict(ctx, model, data, value, score, NULL) == MCR_OK)
        for (size_t i = 0; i < n * outputs; i++)
            if (isnan(score[i]))
                fail_msg("a model that loads predicts NaN");
    status = mcr_model_save_libsvm(ctx, model, in_folder("m.model"));
    assert_true(status == MCR_OK || mcr_message(ctx)[0] != '\0');
    try_tables(ctx, model);
    free(value);
    free(score);
    mcr_model_free(model);
}

static void test_altered_with_good_checksums(void **state)
{
    mcr *ctx = *state;
    mcr_random r = mcr_random_stream(1, "alterations", 0);
    for (int i = 0; i < KINDS; i++) {
        mcr_data *data = data_of(ctx, &kinds[i]);
        mcr_model *model = fit(ctx, kinds[i].learner, kinds[i].options, kinds[i].kernel, data);
        file whole = file_of(ctx, model), f = {malloc(whole.count), whole.count};
        size_t kern = 0, length = find_section(&whole, "KERN", &kern);
        for (int turn = 0; turn < 400; turn++) {
            memcpy(f.bytes, whole.bytes, whole.count);
            for (int64_t changes = 1 + mcr_random_below(&r, 3); changes > 0; changes--) {
                size_t at = (size_t)mcr_random_below(&r, (int64_t)f.count);
                if (at >= kern && at < kern + length) /* other kernels may be very slow */
                    continue;
                static const unsigned char special[] = {0, 1, 0x7f, 0x80, 0xff, 0xf0};
                f.bytes[at] = mcr_random_below(&r, 2) ? special[mcr_random_below(&r, 6)]
                                                      : (unsigned char)mcr_random_below(&r, 256);
            }
            try_altered(ctx, &f, data);
        }
        mcr_model_free(model);
        mcr_data_free(data);
        free(whole.bytes);
        free(f.bytes);
    }
}

/* Values that no model has: put at every place that holds a number of the coefficients. */
static void test_values_that_are_none(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = sample_data(ctx, "blobs", 9);
    mcr_model *model = fit(ctx, "svm", "probability=yes", "rbf(gamma=1)", data);
    file f = file_of(ctx, model);
    static const char *const tag[] = {"COEF", "OBJS"};
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int t = 0; t < 2; t++) {
        size_t at, length = find_section(&f, tag[t], &at), seen = 0;
        for (size_t i = 0; i + 8 <= length; i++)
            for (int v = 0; v < 3; v++) {
                unsigned char kept[8];
                double value;
                memcpy(kept, f.bytes + at + i, 8);
                memcpy(&value, kept, 8);
                bool number = fabs(value) > 1e-9 && fabs(value) < 1e9 && value != floor(value);
                memcpy(f.bytes + at + i, &bad[v], 8);
                mend_checksums(&f);
                if (number) {
                    mcr_model *none;
                    if (load(&none, ctx, f.bytes, f.count) == MCR_OK) {
                        answers a = answers_of(ctx, none, data);
                        for (int64_t s = 0; s < a.n * a.outputs; s++)
                            if (!isfinite(a.score[s]))
                                fail_msg("%s: %g at %zu makes scores of no value", tag[t], bad[v],
                                         i);
                        for (int64_t s = 0; s < a.n * a.classes; s++)
                            if (!isfinite(a.proba[s]))
                                fail_msg("%s: %g at %zu makes no probabilities", tag[t], bad[v], i);
                        answers_free(&a);
                        mcr_model_free(none);
                    }
                    seen++;
                }
                memcpy(f.bytes + at + i, kept, 8);
            }
        assert_true(seen > 20);
    }
    mcr_model_free(model);
    mcr_data_free(data);
    free(f.bytes);
}

static void test_versions_and_sections(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = sample_data(ctx, "moons", 8);
    mcr_model *model = fit(ctx, "svm", "C=1", "linear", data), *other = NULL;
    file f = file_of(ctx, model);
    f.bytes[8] = 9;
    test_fails(ctx, load(&other, ctx, f.bytes, f.count), MCR_BAD_DATA, "format 9");
    f.bytes[8] = 0;
    test_fails(ctx, load(&other, ctx, f.bytes, f.count), MCR_BAD_DATA, "format 0");
    f.bytes[8] = 1;
    static const char *const tags[] = {"INFO", "KERN", "CERT", "CLAS", "COEF", "OBJS"};
    for (int t = 0; t < 6; t++) {
        size_t at = 0;
        find_section(&f, tags[t], &at);
        memcpy(f.bytes + at - 12, "NONE", 4);
        mend_checksums(&f);
        test_fails(ctx, load(&other, ctx, f.bytes, f.count), MCR_BAD_DATA, "missing");
        memcpy(f.bytes + at - 12, tags[t], 4);
    }
    mend_checksums(&f);
    /* A section that this version does not know is passed over. */
    file longer = {malloc(f.count + 20), f.count + 20};
    memcpy(longer.bytes, f.bytes, 12);
    memcpy(longer.bytes + 12, "NEW \4\0\0\0\0\0\0\0abcd\0\0\0\0", 20);
    memcpy(longer.bytes + 32, f.bytes + 12, f.count - 12);
    mend_checksums(&longer);
    test_ok(ctx, load(&other, ctx, longer.bytes, longer.count));
    same_report(model, other);
    mcr_model_free(other);
    mcr_model_free(model);
    mcr_data_free(data);
    free(f.bytes);
    free(longer.bytes);
}

/* ---- LIBSVM's files ---------------------------------------------------------------------------*/

static void test_libsvm_files_altered(void **state)
{
    mcr *ctx = *state;
    mcr_random r = mcr_random_stream(2, "alterations", 0);
    for (int i = 0; i < KINDS; i++) {
        mcr_data *data = data_of(ctx, &kinds[i]);
        mcr_model *model = fit(ctx, kinds[i].learner, kinds[i].options, kinds[i].kernel, data);
        mcr_status status = mcr_model_save_libsvm(ctx, model, in_folder("m.model"));
        if (status == MCR_OK) {
            file f = file_read(in_folder("m.model"));
            for (size_t length = 0; length <= f.count; length++) {
                mcr_model *cut;
                status = load(&cut, ctx, f.bytes, length);
                assert_true((status == MCR_OK) == (cut != NULL));
                mcr_model_free(cut);
            }
            for (int turn = 0; turn < 600; turn++) {
                size_t at = (size_t)mcr_random_below(&r, (int64_t)f.count);
                unsigned char kept = f.bytes[at];
                f.bytes[at] = (unsigned char)" \n:.-0123456789einfa"[mcr_random_below(&r, 20)];
                mcr_model *altered;
                status = load(&altered, ctx, f.bytes, f.count);
                assert_true((status == MCR_OK) == (altered != NULL));
                mcr_model_free(altered);
                f.bytes[at] = kept;
            }
            free(f.bytes);
        } else {
            assert_int_equal(status, MCR_BAD_CALL);
            assert_non_null(strstr(mcr_message(ctx), "LIBSVM"));
        }
        mcr_model_free(model);
        mcr_data_free(data);
    }
}

static void test_libsvm_files_that_are_wrong(void **state)
{
    mcr *ctx = *state;
#define HEAD(type, kernel, more) "svm_type " type "\nkernel_type " kernel "\n" more
    static const char *const bad[] = {
        HEAD("c_svc", "rbf",
             "gamma 1\nnr_class 2\ntotal_sv 1\nrho 0\nlabel 1 1\nnr_sv 1 0\nSV\n1 1:1\n"),
        HEAD("c_svc", "linear",
             "nr_class 2\ntotal_sv 2\nrho 0\nlabel 1 -1\nnr_sv 1 1\nSV\n1 1:1\n"),
        HEAD("c_svc", "linear",
             "nr_class 2\ntotal_sv 1\nrho 0\nlabel 1 -1\nnr_sv 1 1\nSV\n1 1:1\n"),
        HEAD("c_svc", "linear",
             "nr_class 2.5\ntotal_sv 1\nrho 0\nlabel 1 -1\nnr_sv 1 0\nSV\n1 1:1\n"),
        HEAD("epsilon_svr", "linear", "nr_class 2\ntotal_sv 1\nrho 0 1\nSV\n1 1:1\n"),
        HEAD("epsilon_svr", "linear", "nr_class 2\ntotal_sv 1\nrho 0\nSV\nnan 1:1\n"),
        HEAD("epsilon_svr", "linear", "nr_class 2\ntotal_sv 1\nrho 0\nSV\n1 0:1\n"),
        HEAD("epsilon_svr", "linear", "nr_class 2\ntotal_sv 1\nrho 0\nSV\n1 2:1 1:1\n"),
        HEAD("epsilon_svr", "linear", "nr_class 2\ntotal_sv 1\nrho 0\nSV\n1 2:inf\n"),
        HEAD("epsilon_svr", "rbf", "nr_class 2\ntotal_sv 1\nrho 0\nSV\n1 1:1\n"),
        HEAD("epsilon_svr", "rbf", "gamma -1\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 1:1\n"),
        HEAD("epsilon_svr", "polynomial",
             "degree 1e300\ngamma 1\ncoef0 0\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 1:1\n"),
        HEAD("epsilon_svr", "polynomial",
             "degree 2.5\ngamma 1\ncoef0 0\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 1:1\n"),
        HEAD("epsilon_svr", "magic", "nr_class 2\ntotal_sv 1\nrho 0\nSV\n1 1:1\n"),
        HEAD("epsilon_svr", "linear", "nr_class 2\ntotal_sv 1\nrho 0\n"),
        "svm_type ",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mcr_model *model;
        mcr_status status = load(&model, ctx, (const unsigned char *)bad[i], strlen(bad[i]));
        if (status == MCR_OK) {
            mcr_model_free(model);
            fail_msg("accepted: %s", bad[i]);
        }
        assert_int_equal(status, MCR_BAD_DATA);
        assert_null(model);
    }
}

/* ---- use --------------------------------------------------------------------------------------*/

static void test_other_features(void **state)
{
    mcr *ctx = *state;
    mcr_data *two = sample_data(ctx, "moons", 20), *ten = sample_data(ctx, "friedman", 5);
    mcr_data *strings = sample_data(ctx, "motifs", 5);
    double value[20];
    static const char *const kernel[] = {"rbf(gamma=1)", "linear"};
    for (int k = 0; k < 2; k++) {
        mcr_model *model = fit(ctx, "svm", "C=1", kernel[k], two);
        test_fails(ctx, mcr_predict(ctx, model, ten, value, NULL, NULL), MCR_BAD_DATA, "10");
        test_fails(ctx, mcr_predict(ctx, model, strings, value, NULL, NULL), MCR_BAD_DATA, "");
        test_ok(ctx, mcr_predict(ctx, model, two, value, NULL, NULL));
        mcr_model_free(model);
    }
    mcr_data_free(two);
    mcr_data_free(ten);
    mcr_data_free(strings);
}

static void test_score(void **state)
{
    mcr *ctx = *state;
    mcr_data *blobs = sample_data(ctx, "blobs", 30), *moons = sample_data(ctx, "moons", 30), *none;
    mcr_model *model = fit(ctx, "svm", "C=10", "rbf(gamma=1)", blobs);
    double value[30];
    mcr_metrics metrics = MCR_INIT(mcr_metrics);
    mcr_builder *b;
    test_ok(ctx, mcr_predict(ctx, model, blobs, value, NULL, NULL));
    test_ok(ctx, mcr_model_score(ctx, model, blobs, value, &metrics));
    test_close_real("accuracy", metrics.accuracy, mcr_model_report(model)->accuracy, 1e-12);
    assert_true(isnan(metrics.mse));
    test_ok(ctx, mcr_predict(ctx, model, moons, value, NULL, NULL));
    test_ok(ctx, mcr_model_score(ctx, model, moons, value, &metrics)); /* class -1 is not known */
    int64_t right = 0;
    for (int i = 0; i < 30; i++) /* classes of blobs: 1, 2, 3 */
        right += mcr_data_targets(moons)[i] == 1 && value[i] == 0;
    test_close_real("accuracy", metrics.accuracy, (double)right / 30, 1e-12);
    test_ok(ctx, mcr_builder_open(&b, ctx, 1));
    test_ok(ctx, mcr_builder_dense(b, "x", (double[]){1, 2}, 2, 2));
    test_ok(ctx, mcr_builder_finish(&none, b));
    test_fails(ctx, mcr_model_score(ctx, model, none, value, &metrics), MCR_BAD_DATA, "no targets");
    mcr_data_free(none);
    mcr_data_free(blobs);
    mcr_data_free(moons);
    mcr_model_free(model);
}

static void test_places_that_cannot_be_written(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = sample_data(ctx, "moons", 8);
    mcr_model *model = fit(ctx, "svm", "C=1", "linear", data), *none = NULL;
    test_fails(ctx, mcr_model_save(ctx, model, "/nowhere/at/all"), MCR_IO, "/nowhere/at/all");
    test_fails(ctx, mcr_model_load(&none, ctx, "/nowhere/at/all"), MCR_IO, "/nowhere/at/all");
    assert_null(none);
    mcr_model_free(model);
    mcr_data_free(data);
}

/* ---- tables -----------------------------------------------------------------------------------*/

/* Six values by a model that was saved and loaded, of a table that is read like the model's own. */
static mcr_status ask_table(mcr *ctx, const mcr_data *data, const char *text, double *score,
                            mcr_data **seen)
{
    mcr_options *options = NULL;
    mcr_model *model = NULL, *loaded = NULL;
    mcr_status s = mcr_options_open(&options, ctx, "svm");
    if (!s)
        s = mcr_fit(&model, options, NULL, data, NULL);
    if (!s)
        s = mcr_model_save(ctx, model, in_folder("t.mercer"));
    if (!s)
        s = mcr_model_load(&loaded, ctx, in_folder("t.mercer"));
    if (!s)
        s = read_table(seen, ctx, text, mcr_model_layout(loaded));
    if (!s)
        s = mcr_predict(ctx, loaded, *seen, NULL, score, NULL);
    mcr_model_free(model);
    mcr_model_free(loaded);
    mcr_options_close(options);
    return s;
}

static void test_tables(void **state)
{
    mcr *ctx = *state;
    static const struct {
        const char *text;
        mcr_targets kind;
        bool weights;
    } like[] = {
        {table_text, MCR_REAL_TARGETS, true},
        {"b,a\n3,1\n1,4\n5,2\n2,5\n4,0\n0,6\n", MCR_NO_TARGETS, false},
        {"b,sort,more,a\n3,1,9,1\n1,-1,9,4\n5,1,9,2\n2,-1,9,5\n4,1,9,0\n0,-1,9,6\n",
         MCR_REAL_TARGETS, false},
        {"1,1,2,3\n-1,4,1,1\n1,2,1,5\n-1,5,2,2\n1,0,1,4\n-1,6,1,0\n", MCR_REAL_TARGETS, true},
        {"1,3\n4,1\n2,5\n5,2\n0,4\n6,0\n", MCR_NO_TARGETS, false},
    };
    mcr_data *data = table(ctx);
    double want[6], got[6];
    for (size_t t = 0; t < sizeof like / sizeof *like; t++) {
        mcr_data *seen = NULL;
        test_ok(ctx, ask_table(ctx, data, like[t].text, t ? got : want, &seen));
        assert_int_equal(mcr_data_target_kind(seen), like[t].kind);
        assert_int_equal(mcr_data_weights(seen) != NULL, like[t].weights);
        if (t)
            assert_memory_equal(got, want, sizeof got);
        mcr_data_free(seen);
    }
    mcr_data *seen = NULL;
    test_fails(ctx, ask_table(ctx, data, "a,c\n1,2\n", got, &seen), MCR_BAD_DATA,
               "no column \"b\"");
    mcr_data_free(seen);
    test_fails(ctx, ask_table(ctx, data, "1,2,3\n4,5,6\n", got, &seen), MCR_BAD_DATA,
               "3 columns, but the model's training data had 4");
    mcr_data_free(data);
}

/* Views of a table whose columns stand in another order. */
static void test_views_of_tables(void **state)
{
    mcr *ctx = *state;
    static const char text[] = "b,name,sort,a\n3,x,1,1\n1,y,-1,4\n5,z,1,2\n2,u,-1,5\n4,v,1,0\n";
    static const int64_t some[] = {4, 0, 4};
    const mcr_rows rows[] = {{NULL, 0, 5}, {NULL, 2, 3}, {some, 0, 3}};
    mcr_data *data = table(ctx), *seen = NULL, *view = NULL;
    mcr_model *model = fit(ctx, "svm", "", "rbf(gamma=1)", data);
    double want[6], got[6];
    test_ok(ctx, mcr_predict(ctx, model, data, NULL, want, NULL));
    test_ok(ctx, read_table(&seen, ctx, text, mcr_model_layout(model)));
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        test_ok(ctx, mcr_data_select(&view, seen, rows[r]));
        test_ok(ctx, mcr_predict(ctx, model, view, NULL, got, NULL));
        for (int64_t i = 0; i < rows[r].count; i++)
            test_close_real("value", got[i], want[rows[r].index ? some[i] : rows[r].first + i],
                            1e-12);
        mcr_data_free(view);
    }
    mcr_model_free(model);
    mcr_data_free(seen);
    mcr_data_free(data);
}

/* A model of two targets, "z" and "y". */
static mcr_model *two_targets(mcr *ctx)
{
    static const char text[] = "z,a,y,b\n1,1,2,3\n2,4,1,1\n1,2,1,5\n3,5,2,2\n";
    mcr_read_options options = {.size = sizeof options, .format = "csv", .target = "z,y"};
    mcr_data *data;
    test_ok(ctx, mcr_data_read_memory(&data, ctx, "two", text, strlen(text), &options));
    mcr_model *model = fit(ctx, "ridge", "", "linear", data);
    mcr_data_free(data);
    return model;
}

/* Sections TABL that no writer makes. */
static void test_tables_that_cannot_be(void **state)
{
    mcr *ctx = *state;
    mcr_model *model = two_targets(ctx), *loaded;
    file f = file_of(ctx, model);
    size_t at = 0, length = find_section(&f, "TABL", &at);
    /* columns, targets, usual names, how many roles, their columns, how many names, the names */
    enum { TARGETS = 8, ROLES = 28, NAMES = 44, FIRST = 60, SECOND = 69 };
    assert_int_equal(length, SECOND + 1);
    assert_int_equal(f.bytes[at + FIRST], 'z');
    assert_int_equal(f.bytes[at + SECOND], 'y');
    static const struct {
        size_t at, count;
        unsigned char byte[8];
    } bad[] = {
        {FIRST, 1, "y"}, /* twice the same name */
        {TARGETS, 8, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}},
        {TARGETS, 8, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
        {TARGETS, 1, {0}},
        {TARGETS, 1, {3}},
        {ROLES, 1, {2}}, /* twice the same column */
        {ROLES, 1, {4}}, /* of four */
        {ROLES + 7, 1, {0x80}},
        {0, 1, {2}},
        {NAMES, 1, {1}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unsigned char kept[8];
        memcpy(kept, f.bytes + at + bad[i].at, sizeof kept);
        memcpy(f.bytes + at + bad[i].at, bad[i].byte, bad[i].count);
        mend_checksums(&f);
        test_fails(ctx, load(&loaded, ctx, f.bytes, f.count), MCR_BAD_DATA, "its table");
        memcpy(f.bytes + at + bad[i].at, kept, sizeof kept);
    }
    static const unsigned char value[] = {0, 1, 2, 3, 0x7f, 0x80, 0xff, 'a', 'y', 'z'};
    for (size_t i = 0; i < length * sizeof value; i++) {
        unsigned char *to = &f.bytes[at + i / sizeof value], kept = *to;
        *to = value[i % sizeof value];
        mend_checksums(&f);
        if (load(&loaded, ctx, f.bytes, f.count) == MCR_OK) {
            try_tables(ctx, loaded);
            mcr_model_free(loaded);
        }
        *to = kept;
    }
    mcr_model_free(model);
    free(f.bytes);
}

/* Data of one context, a model of another: what they share is freed where it came from. */
static void test_two_contexts(void **state)
{
    mcr *ctx = *state, *other = test_open(1);
    mcr_data *data = table(other);
    mcr_model *model = fit(ctx, "svm", "", "linear", data);
    mcr_data_free(data);
    assert_non_null(mcr_model_layout(model));
    mcr_model_free(model);
    test_close(other);
}

/* Two columns with the name of the target, and features named like targets. */
static void test_names_of_targets(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = NULL, *seen = NULL;
    mcr_read_options options = {.size = sizeof options, .format = "csv", .target = "sort"};
    static const char text[] = "y,a,sort\n1,2,1\n3,5,-1\n2,2,1\n5,6,-1\n";
    test_ok(ctx, mcr_data_read_memory(&data, ctx, "t", text, strlen(text), &options));
    mcr_model *model = fit(ctx, "svm", "", "linear", data), *loaded = NULL;
    file f = file_of(ctx, model);
    test_ok(ctx, load(&loaded, ctx, f.bytes, f.count));
    const mcr_layout *like = mcr_model_layout(loaded);
    static const struct {
        const char *text;
        int64_t features;
        bool target;
    } tables[] = {
        {"y,a,more\n1,2,3\n", 3, false},
        {"a,more,y,id\n1,2,3,4\n", 4, false},
        {"y,a,more,sort\n1,2,3,4\n", 3, true},
        {"y,a,label,more\n1,2,3,4\n", 3, true},
        {"y,a\n1,2\n", 2, false},
    };
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        mcr_field_info field = MCR_INIT(mcr_field_info);
        test_ok(ctx, read_table(&seen, ctx, tables[t].text, like));
        test_ok(ctx, mcr_data_field_info(seen, 0, &field));
        assert_int_equal(field.cols, tables[t].features);
        assert_int_equal(mcr_data_target_kind(seen) != MCR_NO_TARGETS, tables[t].target);
        mcr_data_free(seen);
    }
    test_fails(ctx, read_table(&seen, ctx, "sort,y,a,sort\n1,2,3,4\n", like), MCR_BAD_DATA,
               "column \"sort\" occurs twice, as columns 1 and 4: rename one of them");
    mcr_model_free(model);
    mcr_model_free(loaded);
    mcr_data_free(data);
    free(f.bytes);
}

/* ---- memory -----------------------------------------------------------------------------------*/

/* Trains, saves, loads and predicts; frees all. */
static mcr_status use_all(mcr *ctx, void *arg)
{
    const kind *k = arg;
    mcr_data *data = NULL;
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_model *model = NULL, *again = NULL;
    double value[64];
    char text[128], *rest = NULL;
    mcr_status s = mcr_data_sample(&data, ctx, k->sample, k->count, -1);
    if (!s)
        s = mcr_options_open(&options, ctx, k->learner);
    snprintf(text, sizeof text, "%s", k->options);
    for (char *w = strtok_r(text, " ", &rest); w && !s; w = strtok_r(NULL, " ", &rest)) {
        *strchr(w, '=') = '\0';
        s = mcr_options_set(options, w, w + strlen(w) + 1);
    }
    if (!s)
        s = mcr_kernel_parse(&kernel, ctx, k->kernel);
    if (!s)
        s = mcr_fit(&model, options, kernel, data, NULL);
    if (!s)
        s = mcr_model_save(ctx, model, in_folder("a.mercer"));
    if (!s)
        s = mcr_model_load(&again, ctx, in_folder("a.mercer"));
    if (!s)
        s = mcr_predict(ctx, again, data, value, NULL, NULL);
    if (!s && strcmp(k->learner, "svr") == 0)
        s = mcr_model_save_libsvm(ctx, again, in_folder("a.model"));
    mcr_model_free(model);
    mcr_model_free(again);
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    mcr_data_free(data);
    return s;
}

static mcr_status use_table(mcr *ctx, void *arg)
{
    mcr_data *data = NULL, *seen = NULL;
    double score[6];
    mcr_status s = read_table(&data, ctx, table_text, NULL);
    if (!s)
        s = ask_table(ctx, data, arg, score, &seen);
    mcr_data_free(data);
    mcr_data_free(seen);
    return s;
}

static void test_without_memory(void **state)
{
    (void)state;
    char swapped[] = "b,sort,a\n3,1,1\n1,-1,4\n5,1,2\n";
    test_sweep_allocations("table", use_table, swapped);
    static const kind some[] = {
        {"moons", 8, "svm", "C=2", "rbf(gamma=2)"},
        {"moons", 8, "svm", "C=inf", "rbf(gamma=50)"},
        {"blobs", 12, "svm", "probability=yes", "linear"},
        {"blobs", 9, "svm", "multiclass=ovr bias=no", "linear"},
        {"moons", 10, "nu-svm", "nu=0.3", "rbf(gamma=2)"},
        {"sparse", 8, "one-class", "nu=0.4", "linear"},
        {"sinc", 8, "svr", "C=5", "rbf(gamma=1)"},
        {"sinc", 8, "nu-svr", "C=5", "rbf(gamma=1)"},
        {"mixed", 6, "svm", "C=1",
         "rbf(x, gamma=0.1) + wl(molecule, h=1) + spectrum(sequence, p=2)"},
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        test_sweep_allocations(some[i].learner, use_all, (void *)(uintptr_t)&some[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_saved_and_loaded, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_names_of_fields, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_field_of_a_function, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_every_byte_and_prefix, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_cut_files, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_altered_with_good_checksums, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_values_that_are_none, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_versions_and_sections, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_libsvm_files_altered, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_libsvm_files_that_are_wrong, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_other_features, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_score, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_tables, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_tables_that_cannot_be, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_two_contexts, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_views_of_tables, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_names_of_targets, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_places_that_cannot_be_written, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_without_memory, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
