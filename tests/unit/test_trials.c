/* Trials: the trainings of a search that are only compared. What they say is what cross-validation
 * says, for any size of C, number of classes, threads and memory; the user can stop them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/context.h"
#include "base/random.h"
#include "select_helpers.h"
#include "gram/stored.h"
#include "solve/smo.h"

/* Classes in a ring, with some overlap. */
static mcr_data *ring_data(mcr *ctx, int64_t n, int classes)
{
    double *x = calloc(2 * (size_t)n, sizeof *x), *y = calloc((size_t)n, sizeof *y);
    mcr_random r = mcr_random_stream(3, "ring", 0);
    for (int64_t i = 0; i < n; i++) {
        y[i] = (double)(i % classes);
        double at = 6.283185307179586 * y[i] / classes;
        x[2 * i] = 3 * cos(at) + 0.4 * mcr_random_normal(&r);
        x[2 * i + 1] = 3 * sin(at) + 0.4 * mcr_random_normal(&r);
    }
    mcr_data *data = dense_data(ctx, n, 2, x, y, NULL);
    free(x);
    free(y);
    return data;
}

/* With a small C all that a step changes is below what floats tell apart in the slopes, and each
 * trial starts from the one before. */
static void test_tiny_to_large_c(void **context)
{
    mcr *ctx = *context;
    static const char *const kernel[] = {"rbf(gamma=1)"}, *const wide[] = {"1e-8:1e4:log7"};
    mcr_search search = make_search();
    search.kernel = kernel;
    search.kernels = 1;
    search.range = wide;
    mcr_data *moons = sample_data(ctx, "moons", 300), *many = sample_data(ctx, "moons", 900);
    mcr_data *blobs = sample_data(ctx, "blobs", 240), *ring = ring_data(ctx, 240, 12);
    /* With a tiny C decision values are nearly equal, and rounding decides some labels. */
    const double one_object = 1.01 / 240;
    check_table(ctx, "svm", "tol=3e-5", &search, moons);
    check_table(ctx, "svm", "tol=3e-5 bias=no", &search, moons);
    check_table(ctx, "svm", "tol=3e-5", &search, many);
    check_table_within(ctx, "svm", "tol=3e-5", &search, blobs, one_object);
    check_table_within(ctx, "svm", "tol=3e-5", &search, ring, one_object);
    check_table_within(ctx, "svm", "tol=3e-5 multiclass=ovr", &search, blobs, one_object);
    mcr_data_free(moons);
    mcr_data_free(many);
    mcr_data_free(blobs);
    mcr_data_free(ring);
}

/* Ridge has the scores of all folds from one factor, or from one eigendecomposition where there are
 * many lambdas; those that are too small for that are trained fold by fold. */
static void test_folds_of_ridge(void **context)
{
    mcr *ctx = *context;
    static const char *const kernel[] = {"rbf(gamma=0.3:3:log2)"}, *const penalty[] = {"lambda"};
    static const char *const lambdas[] = {"0.02:2:log3", "2e-4:20:log9", "1e-14:2:log3"};
    mcr_data *numbers = sample_data(ctx, "friedman", 160),
             *classes = sample_data(ctx, "blobs", 150);
    for (size_t r = 0; r < sizeof lambdas / sizeof *lambdas; r++) {
        mcr_search search = make_search();
        search.kernel = kernel;
        search.kernels = 1;
        search.option = penalty;
        search.range = &lambdas[r];
        search.ranges = 1;
        search.metric = "mse";
        double tolerance = r == 2 ? 1e-5 : 1e-8;
        check_table_within(ctx, "ridge", "", &search, numbers, tolerance);
        const mcr_split_plan twice = {.size = sizeof twice, .folds = 4, .repeats = 2};
        search.split = &twice;
        check_table_within(ctx, "ridge", "", &search, numbers, tolerance);
        search.split = &four_folds;
        search.metric = "accuracy";
        check_table_within(ctx, "ridge", "task=classify", &search, classes, tolerance);
    }
    mcr_data_free(numbers);
    mcr_data_free(classes);
}

/* ---- one problem ------------------------------------------------------------------------------*/

enum { MOST = 704, LD = 768 }; /* objects; K with padding and a row of zeros */

typedef struct trial {
    float *k;
    double z[MOST], lo[MOST], hi[MOST], b[MOST], g[MOST], diagonal[MOST];
    mcr_qp qp;
    mcr_gram *gram;
} trial;

/* Two classes on a line, the last object held out. */
static trial *make_trial(mcr *ctx, int64_t n, double C)
{
    trial *t = calloc(1, sizeof *t);
    t->k = calloc((size_t)LD * LD, sizeof *t->k);
    for (int64_t i = 0; i < n; i++) {
        double most = i < n - 1 ? C : 0;
        t->z[i] = i % 2 ? 1 : -1;
        t->lo[i] = i % 2 ? 0 : -most;
        t->hi[i] = i % 2 ? most : 0;
        t->diagonal[i] = 1;
        for (int64_t j = 0; j < n; j++) {
            double d = (double)(i - j) / (double)n + 0.3 * (double)(i % 2 - j % 2);
            t->k[i * LD + j] = (float)exp(-d * d);
        }
    }
    t->qp = (mcr_qp){.n = n, .z = t->z, .lo = t->lo, .hi = t->hi, .tolerance = 1e-3};
    test_ok(ctx,
            mcr_gram_stored(&t->gram, ctx, &(mcr_stored){n, LD, t->k, .diagonal = t->diagonal}));
    return t;
}

static void free_trial(trial *t)
{
    mcr_gram_close(t->gram);
    free(t->k);
    free(t);
}

/* All objects as one working set, and several sets. */
static const int64_t sizes[] = {101, MOST};

static void test_gradient_of_a_trial(void **context)
{
    mcr *ctx = *context;
    for (int s = 0; s < 2; s++)
        for (double C = 1e-10; C < 1e5; C *= 1e3) {
            trial *t = make_trial(ctx, sizes[s], C);
            mcr_qp_result r;
            test_ok(ctx, mcr_qp_solve(t->gram, &t->qp, t->b, t->g, &r));
            assert_int_equal(r.stop, MCR_STOP_OPTIMAL);
            assert_true(r.violation <= t->qp.tolerance);
            double largest = 0;
            for (int64_t i = 0; i < t->qp.n; i++)
                largest = fmax(largest, fabs(t->b[i]));
            assert_true(largest > 0);
            for (int64_t i = 0; i < t->qp.n; i++) {
                double want = 0, size = 0;
                for (int64_t j = 0; j < t->qp.n; j++) {
                    want += t->b[j] * (double)t->k[i * LD + j];
                    size += fabs(t->b[j]);
                }
                test_close_real("K b", t->g[i], want, 1e-12 * size);
            }
            free_trial(t);
        }
}

static void test_what_floats_cannot_hold(void **context)
{
    mcr *ctx = *context;
    for (int s = 0; s < 2; s++) {
        mcr_qp_result r;
        trial *t = make_trial(ctx, sizes[s], 1);
        for (int64_t i = 0; i < t->qp.n - 1; i++) /* of the object that is held out */
            t->k[i * LD + t->qp.n - 1] = t->k[(t->qp.n - 1) * LD + i] = NAN;
        test_fails(ctx, mcr_qp_solve(t->gram, &t->qp, t->b, t->g, &r), MCR_NUMERIC, "not finite");
        free_trial(t);
        t = make_trial(ctx, sizes[s], 1);
        for (int64_t i = 0; i < t->qp.n; i++)
            t->diagonal[i] = t->k[i * LD + i] = (float)1e19;
        test_ok(ctx, mcr_qp_solve(t->gram, &t->qp, t->b, t->g, &r));
        assert_int_equal(r.stop, MCR_STOP_STUCK);
        assert_true(r.violation > 0);
        free_trial(t);
    }
}

/* ---- the user ---------------------------------------------------------------------------------*/

typedef struct patience {
    int64_t calls, most; /* most: 0 is without end */
} patience;

static int ask(void *user, const mcr_progress *now)
{
    patience *p = user;
    assert_string_equal(now->phase, "tune");
    return ++p->calls == p->most;
}

static mcr *open_context(int threads, size_t memory, patience *p)
{
    mcr *ctx = NULL;
    test_ok(NULL, mcr_open(&ctx, &(mcr_config){.size = sizeof(mcr_config),
                                               .threads = threads,
                                               .memory_bytes = memory,
                                               .progress = p ? ask : NULL,
                                               .user = p}));
    return ctx;
}

static int64_t count_lines(const char *path)
{
    FILE *f = fopen(path, "r");
    int64_t lines = 0;
    assert_non_null(f);
    for (int c; (c = fgetc(f)) != EOF;)
        lines += c == '\n';
    fclose(f);
    return lines;
}

/* Problems may be too short to ask for themselves: it is asked between them, but not after each. */
static void test_stopped_between_problems(void **context)
{
    (void)context;
    static const char *const options[] = {"", "multiclass=ovr"};
    char folder[256], path[300];
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/c", folder);
    for (int o = 0; o < 2; o++)
        for (int64_t most = 0; most < 2; most++) {
            patience p = {0, most};
            mcr *ctx = open_context(1, 0, &p);
            mcr_data *data = ring_data(ctx, 240, 12);
            mcr_options *with = make_options(ctx, "svm", options[o]);
            mcr_search search = make_search();
            mcr_tried t = {.ctx = ctx};
            search.kernels = 1; /* the other is trained as usual */
            search.checkpoint = path;
            double began = mcr_now();
            mcr_status s = mcr_search_run(&t, with, &search, data);
            if (most) {
                assert_int_equal(s, MCR_STOPPED);
                assert_int_equal(count_lines(path), 1); /* no chain came to its end */
                assert_true(p.calls <= 2);              /* and once more when it ends */
            } else {
                test_ok(ctx, s);
                /* After each of 12 chains, and 20 times a second between problems and within
                 * them. */
                assert_true((double)p.calls <= 12 + 2 + 40 * (mcr_now() - began));
            }
            mcr_search_close(&t);
            remove(path);
            mcr_options_close(with);
            mcr_data_free(data);
            mcr_close(ctx);
        }
    test_remove_directory(folder);
}

/* ---- threads and memory -----------------------------------------------------------------------*/

/* Whether points are tried, and their scores, does not depend on the number of threads;
 * where memory is short, fewer are at work at once. */
static void test_threads_and_memory(void **context)
{
    (void)context;
    static const int threads[] = {1, 2, 7};
    static const size_t memory[] = {1500000, 3000000, 5000000, 9000000, 20000000, 1000000000};
    int kept = 0, fewer = 0;
    for (int several = 0; several < 2; several++)
        for (size_t m = 0; m < sizeof memory / sizeof *memory; m++) {
            double *want = NULL;
            bool keeps = false;
            for (int i = 0; i < 3; i++) {
                mcr *ctx = open_context(threads[i], memory[m], NULL);
                mcr_data *data = sample_data(ctx, several ? "blobs" : "spirals", 240);
                mcr_options *o = make_options(ctx, "svm", "tol=0.3");
                mcr_search search = make_search();
                mcr_tried t = {.ctx = ctx};
                search.kernels = 1;
                search.metric = several ? NULL : "auc";
                test_ok(ctx, mcr_search_run(&t, o, &search, data));
                size_t bytes = sizeof *t.score * (size_t)(t.grid->points * t.count);
                if (i == 0) {
                    want = malloc(bytes);
                    assert_non_null(want);
                    memcpy(want, t.score, bytes);
                    keeps = t.keeps;
                }
                assert_int_equal(t.keeps, keeps);
                if (keeps) /* where memory is too short even for that, sums may be taken in parts */
                    assert_memory_equal(t.score, want, bytes);
                assert_true(t.workers <= threads[i] && t.kept_bytes < memory[m]);
                kept += t.keeps;
                fewer += t.workers < threads[i];
                mcr_search_close(&t);
                assert_int_equal(mcr_budget_left(ctx), memory[m]);
                mcr_options_close(o);
                mcr_data_free(data);
                mcr_close(ctx);
            }
            free(want);
        }
    assert_true(kept > 0 && kept < 36 && fewer > 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_setup, test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_tiny_to_large_c),
        TEST(test_folds_of_ridge),
        TEST(test_gradient_of_a_trial),
        TEST(test_what_floats_cannot_hold),
        cmocka_unit_test(test_stopped_between_problems),
        cmocka_unit_test(test_threads_and_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
