/* Cross-validation and tuning: splits, metrics against counting, figures against fit and predict by
 * hand, no leaks, threads, a search that is cut off.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select_helpers.h"

#include "base/random.h"

enum { N = 120 };

/* ---- splits -----------------------------------------------------------------------------------*/

static void check_partition(mcr *ctx, const mcr_data *data, const mcr_split_plan *plan)
{
    int64_t n = mcr_data_count(data), rows[N], tested[N] = {0};
    mcr_splits *s = NULL;
    test_ok(ctx, mcr_splits_open(&s, ctx, data, plan));
    for (int64_t i = 0; i < mcr_splits_count(s); i++) {
        int64_t test = mcr_splits_rows(s, i, 1, rows), seen[N] = {0};
        assert_true(test > 0);
        for (int64_t t = 0; t < test; t++) {
            assert_true(t == 0 || rows[t] > rows[t - 1]);
            seen[rows[t]]++;
            tested[rows[t]]++;
        }
        int64_t train = mcr_splits_rows(s, i, 0, rows);
        for (int64_t t = 0; t < train; t++)
            seen[rows[t]]++;
        assert_int_equal(test + train, n);
        for (int64_t t = 0; t < n; t++)
            assert_int_equal(seen[t], 1);
    }
    for (int64_t t = 0; t < n; t++)
        assert_int_equal(tested[t], plan && plan->repeats ? plan->repeats : 1);
    mcr_splits_close(s);
}

static void test_splits(void **context)
{
    mcr *ctx = *context;
    mcr_data *data = sample_data(ctx, "blobs", N);
    int64_t group[N], rows[N];
    check_partition(ctx, data, NULL);
    check_partition(ctx, data,
                    &(mcr_split_plan){.size = sizeof(mcr_split_plan), .folds = 7, .repeats = 3});
    check_partition(
        ctx, data,
        &(mcr_split_plan){.size = sizeof(mcr_split_plan), .kind = MCR_SPLIT_LEAVE_ONE_OUT});
    /* Classes in proportion: no fold has more than one object of a class more than another. */
    mcr_splits *s = NULL;
    test_ok(ctx, mcr_splits_open(&s, ctx, data, NULL));
    for (int64_t c = 0; c < mcr_data_classes(data); c++) {
        int64_t least = N, most = 0;
        for (int64_t i = 0; i < 5; i++) {
            int64_t count = mcr_splits_rows(s, i, 1, rows), of = 0;
            for (int64_t t = 0; t < count; t++)
                of += mcr_data_class_of(data)[rows[t]] == c;
            least = of < least ? of : least;
            most = of > most ? of : most;
        }
        assert_true(most - least <= 1);
    }
    mcr_splits_close(s);
    /* Groups stay together. */
    for (int64_t i = 0; i < N; i++)
        group[i] = 1000 - i % 11;
    mcr_split_plan grouped = {.size = sizeof grouped, .folds = 4, .group = group};
    check_partition(ctx, data, &grouped);
    test_ok(ctx, mcr_splits_open(&s, ctx, data, &grouped));
    for (int64_t i = 0; i < 4; i++) {
        bool in_test[12] = {false};
        int64_t count = mcr_splits_rows(s, i, 1, rows);
        for (int64_t t = 0; t < count; t++)
            in_test[1000 - group[rows[t]]] = true;
        count = mcr_splits_rows(s, i, 0, rows);
        for (int64_t t = 0; t < count; t++)
            assert_false(in_test[1000 - group[rows[t]]]);
    }
    mcr_splits_close(s);
    /* In order: what trains came before what is tested. */
    test_ok(ctx,
            mcr_splits_open(&s, ctx, data,
                            &(mcr_split_plan){.size = sizeof grouped, .kind = MCR_SPLIT_ORDERED}));
    for (int64_t i = 0; i < 5; i++) {
        int64_t count = mcr_splits_rows(s, i, 0, rows), last = rows[count - 1];
        assert_true(count > 0 && mcr_splits_rows(s, i, 1, rows) > 0);
        assert_int_equal(rows[0], last + 1);
    }
    mcr_splits_close(s);
    /* Numbers that hardly repeat are dealt by chance: again with each repeat. */
    mcr_data *sinc = sample_data(ctx, "sinc", N);
    int64_t other[N];
    test_ok(ctx, mcr_splits_open(&s, ctx, sinc,
                                 &(mcr_split_plan){.size = sizeof grouped, .repeats = 2}));
    assert_int_equal(mcr_splits_rows(s, 0, 1, rows), mcr_splits_rows(s, 5, 1, other));
    assert_memory_not_equal(rows, other, sizeof *rows * N / 5);
    mcr_splits_close(s);
    mcr_data_free(sinc);
    grouped.folds = 12;
    test_fails(ctx, mcr_splits_open(&s, ctx, data, &grouped), MCR_BAD_DATA,
               "11 groups are too few");
    mcr_data_free(data);
}

/* ---- metrics ----------------------------------------------------------------------------------*/

static double evaluate(mcr *ctx, const char *name, const mcr_evaluated *what)
{
    const mcr_metric *m = NULL;
    double out = -1;
    test_ok(ctx, mcr_metric_choose(&m, ctx, name, what->task));
    test_ok(ctx, mcr_metric_score(m, ctx, what, &out));
    return out;
}

/* Counts of few classes, sums of many classes, and sums of weights that are 1 are the same; -0 is
 * class 0, and other numbers are no classes. */
static void test_counted_classes(void **context)
{
    mcr *ctx = *context;
    static const char *const names[] = {"accuracy", "precision",         "recall",
                                        "f1",       "balanced_accuracy", "mcc"};
    double target[N], value[N], ones[N], got;
    for (int64_t k = 2; k <= 40; k += 19) {
        for (int64_t i = 0; i < N; i++) {
            target[i] = (double)(i * i % k);
            value[i] = i % 3 ? target[i] : (double)(i % k);
            ones[i] = 1;
        }
        mcr_evaluated what = {.size = sizeof what,
                              .task = MCR_CLASSIFY,
                              .n = N,
                              .classes = k,
                              .outputs = 1,
                              .positive = -1,
                              .target = target,
                              .value = value};
        for (size_t m = 0; m < sizeof names / sizeof *names; m++) {
            what.weight = NULL;
            double counted = evaluate(ctx, names[m], &what);
            what.weight = ones;
            test_close_real(names[m], counted, evaluate(ctx, names[m], &what), 1e-15);
        }
        value[0] = -0.0;
        test_ok(ctx, mcr_evaluate(ctx, "accuracy", &what, &got));
        static const double wrong[] = {-1, NAN, INFINITY, 41, -5e-324};
        for (size_t j = 0; j < sizeof wrong / sizeof *wrong; j++) {
            value[N - 1] = wrong[j];
            test_fails(ctx, mcr_evaluate(ctx, "accuracy", &what, &got), MCR_BAD_CALL,
                       "not the number of a class");
        }
    }
}

static void test_metrics(void **context)
{
    mcr *ctx = *context;
    double target[N], x[N], score[N], proba[2 * N], value[N];
    mcr_data *data = NULL;
    for (int64_t i = 0; i < N; i++) {
        x[i] = sin((double)(7 * i));
        target[i] = i % 3 == 0;
        score[i] = floor(5 * sin((double)(3 * i)) + 2 * target[i]); /* with ties */
        proba[2 * i + 1] = 1 / (1 + exp(-score[i]));
        proba[2 * i] = 1 - proba[2 * i + 1];
        value[i] = score[i] > 0;
    }
    data = dense_data(ctx, N, 1, x, target, NULL);
    mcr_evaluated what = {.size = sizeof what,
                          .task = MCR_CLASSIFY,
                          .n = N,
                          .classes = 2,
                          .outputs = 1,
                          .positive = 1,
                          .target = target,
                          .value = value,
                          .score = score};
    double pairs = 0, won = 0, hit[2] = {0, 0}, of[2] = {0, 0}, said = 0, loss = 0;
    for (int64_t i = 0; i < N; i++) {
        of[(int)target[i]]++;
        hit[(int)target[i]] += value[i] == target[i];
        said += value[i];
        loss -= log(proba[2 * i + (int)target[i]]) / N;
        for (int64_t j = 0; j < N; j++)
            if (target[i] > target[j]) {
                pairs++;
                won += score[i] > score[j] ? 1 : score[i] == score[j] ? 0.5 : 0;
            }
    }
    test_close_real("auc", evaluate(ctx, "auc", &what), won / pairs, 1e-14);
    test_close_real("accuracy", evaluate(ctx, "accuracy", &what), (hit[0] + hit[1]) / N, 1e-14);
    test_close_real("balanced", evaluate(ctx, "balanced_accuracy", &what),
                    (hit[0] / of[0] + hit[1] / of[1]) / 2, 1e-14);
    test_close_real("f1", evaluate(ctx, "f1", &what), 2 * hit[1] / (of[1] + said), 1e-14);
    const mcr_metric *m = NULL;
    double none;
    test_ok(ctx, mcr_metric_choose(&m, ctx, "log-loss", MCR_CLASSIFY));
    test_fails(ctx, mcr_metric_score(m, ctx, &what, &none), MCR_BAD_CALL, "option probability");
    what.proba = proba;
    test_close_real("log-loss", evaluate(ctx, "log_loss", &what), loss, 1e-13);
    test_close_real("auc of probabilities", evaluate(ctx, "auc", &what), won / pairs, 1e-14);
    what.task = MCR_REGRESS;
    what.value = score;
    double squares = 0, sizes = 0, mean = 0, spread = 0;
    for (int64_t i = 0; i < N; i++)
        mean += target[i] / N;
    for (int64_t i = 0; i < N; i++) {
        squares += pow(target[i] - score[i], 2) / N;
        sizes += fabs(target[i] - score[i]) / N;
        spread += pow(target[i] - mean, 2) / N;
    }
    test_close_real("mse", evaluate(ctx, "mse", &what), squares, 1e-12);
    test_close_real("rmse", evaluate(ctx, "rmse", &what), sqrt(squares), 1e-12);
    test_close_real("mae", evaluate(ctx, "mae", &what), sizes, 1e-12);
    test_close_real("r2", evaluate(ctx, "r2", &what), 1 - squares / spread, 1e-12);
    test_fails(ctx, mcr_metric_choose(&m, ctx, "acuracy", MCR_CLASSIFY), MCR_BAD_CALL,
               "did you mean \"accuracy\"");
    test_fails(ctx, mcr_metric_choose(&m, ctx, "accuracy", MCR_REGRESS), MCR_BAD_CALL, "mse, rmse");
    mcr_data_free(data);
}

/* ---- figures by hand --------------------------------------------------------------------------*/

/* The score that fit and predict give on a split. */
static double by_hand(mcr *ctx, const mcr_options *o, const mcr_kernel *kernel,
                      const mcr_data *data, const mcr_splits *splits, int64_t split, double *value)
{
    int64_t n = mcr_data_count(data), *rows = calloc((size_t)n, sizeof *rows);
    mcr_data *part[2] = {NULL, NULL};
    mcr_model *model = NULL;
    mcr_metrics m = MCR_INIT(mcr_metrics);
    for (int test = 0; test < 2; test++) {
        int64_t count = mcr_splits_rows(splits, split, test, rows);
        test_ok(ctx, mcr_data_select(&part[test], data, (mcr_rows){rows, 0, count}));
    }
    double *own = calloc((size_t)n, sizeof *own);
    test_ok(ctx, mcr_fit(&model, o, kernel, part[0], NULL));
    test_ok(ctx, mcr_predict(ctx, model, part[1], own, NULL, NULL));
    test_ok(ctx, mcr_model_score(ctx, model, part[1], own, &m));
    for (int64_t t = 0; t < mcr_data_count(part[1]); t++)
        value[rows[t]] = own[t];
    mcr_task task = mcr_model_report(model)->task;
    mcr_model_free(model);
    mcr_data_free(part[0]);
    mcr_data_free(part[1]);
    free(rows);
    free(own);
    return task == MCR_REGRESS ? m.mse : task == MCR_CLUSTER ? m.rand : m.accuracy;
}

static void compare(mcr *ctx, const char *learner, const char *options, const char *sample,
                    const char *kernel)
{
    mcr_data *data = sample_data(ctx, sample, N);
    mcr_options *o = make_options(ctx, learner, options);
    mcr_kernel *k = NULL;
    mcr_splits *splits = NULL;
    mcr_cv_report *r = NULL;
    double want[5], value[N];
    test_ok(ctx, mcr_kernel_parse(&k, ctx, kernel));
    test_ok(ctx, mcr_splits_open(&splits, ctx, data, NULL));
    test_ok(ctx, mcr_cv(&r, o, k, data, splits, NULL, NULL));
    for (int64_t s = 0; s < 5; s++)
        want[s] = by_hand(ctx, o, k, data, splits, s, value);
    test_close_arrays(learner, r->metric[0]->split, want, 5, 0);
    test_close_arrays(learner, r->value, value, N, 0);
    test_close_real(learner, r->metric[0]->mean, mcr_mean(want, 5), 0);
    test_close_real(learner, r->metric[0]->std, mcr_standard_deviation(want, 5), 0);
    mcr_cv_free(ctx, r);
    mcr_splits_close(splits);
    mcr_kernel_free(k);
    mcr_options_close(o);
    mcr_data_free(data);
}

/* Every learner that predicts, on vectors, strings, graphs and several fields. */
static void test_cv_by_hand(void **context)
{
    mcr *ctx = *context;
    static const char *const kernels[][2] = {
        {"moons", "rbf(gamma=2)"},
        {"motifs", "normalize(spectrum(p=3))"},
        {"molecules", "normalize(wl(h=2))"},
        {"mixed", "rbf(x, gamma=0.1) + normalize(wl(molecule, h=1))"}};
    int64_t evaluated = 0;
    for (int64_t i = 0; i < mcr_learner_count(); i++) {
        mcr_learner_info info = MCR_INIT(mcr_learner_info);
        test_ok(ctx, mcr_learner_describe(i, &info));
        bool plain = strcmp(info.name, "gp") == 0;
        if (info.task == MCR_TRANSFORM || info.task == MCR_DETECT)
            continue;
        if (info.task == MCR_REGRESS || info.task == MCR_EITHER)
            compare(ctx, info.name, plain ? "optimize=no" : "", "sinc", "rbf(gamma=0.5)");
        for (int t = 0; t < 4 && info.task != MCR_REGRESS; t++)
            compare(ctx, info.name,
                    info.task != MCR_EITHER ? (info.task == MCR_CLUSTER ? "clusters=2" : "")
                    : plain                 ? "task=classify optimize=no"
                                            : "task=classify",
                    kernels[t][0], kernels[t][1]);
        evaluated++;
    }
    assert_true(evaluated >= 11);
    compare(ctx, "svm", "scale=standard C=10", "blobs", "rbf(gamma=0.5)");
    compare(ctx, "svm", "scale=minmax multiclass=ovr", "blobs", "linear");
    compare(ctx, "ridge", "scale=standard", "sinc", "rbf(gamma=0.5)");
}

/* Ridge and gp know what they would say of each object without it. */
static void test_leave_one_out(void **context)
{
    mcr *ctx = *context;
    static const struct {
        const char *learner, *data, *options;
    } known[] = {
        {"ridge", "sinc", "lambda=0.1"},
        {"ridge", "blobs", "lambda=0.1 task=classify"},
        {"gp", "sinc", "optimize=no noise=0.05"},
        {"gp", "sinc", "optimize=no noise=0.05 standardize=no"},
    };
    for (size_t c = 0; c < sizeof known / sizeof *known; c++) {
        mcr_data *data = sample_data(ctx, known[c].data, N);
        mcr_options *o = make_options(ctx, known[c].learner, known[c].options);
        mcr_kernel *k = NULL;
        mcr_splits *splits = NULL;
        mcr_cv_report *r = NULL;
        double value[N], want[N];
        test_ok(ctx, mcr_kernel_parse(&k, ctx, "rbf(gamma=0.5)"));
        test_ok(ctx, mcr_splits_open(&splits, ctx, data,
                                     &(mcr_split_plan){.size = sizeof(mcr_split_plan),
                                                       .kind = MCR_SPLIT_LEAVE_ONE_OUT}));
        test_ok(ctx, mcr_cv(&r, o, k, data, splits, NULL, NULL));
        assert_int_equal(r->fits, 1);
        for (int64_t s = 0; s < N; s++)
            want[s] = by_hand(ctx, o, k, data, splits, s, value);
        test_close_arrays("left out", r->metric[0]->split, want, N, 1e-9);
        test_close_arrays("left out", r->value, value, N, 1e-9);
        mcr_cv_free(ctx, r);
        mcr_splits_close(splits);
        mcr_kernel_free(k);
        mcr_options_close(o);
        mcr_data_free(data);
    }
}

/* ---- a search ---------------------------------------------------------------------------------*/

static void test_tables(void **context)
{
    mcr *ctx = *context;
    mcr_search search = make_search();
    mcr_data *moons = sample_data(ctx, "moons", N), *blobs = sample_data(ctx, "blobs", N);
    mcr_data *sinc = sample_data(ctx, "sinc", N), *motifs = sample_data(ctx, "motifs", N);
    check_table(ctx, "svm", "tol=1e-8", &search, moons);
    check_table(ctx, "svm", "tol=1e-8 scale=standard", &search, blobs);
    check_table(ctx, "svm", "tol=1e-8 multiclass=ovr bias=no", &search, blobs);
    /* What floats can solve is tried on a K of all objects; of many objects by working sets. */
    mcr_data *many = sample_data(ctx, "spirals", test_brief() ? 500 : 900);
    check_table(ctx, "svm", "tol=3e-5", &search, many);
    check_table(ctx, "svm", "tol=3e-5 bias=no class-weight=balanced", &search, many);
    check_table(ctx, "svm", "tol=3e-5 scale=minmax", &search, moons);
    check_table(ctx, "svm", "tol=3e-5", &search, blobs);
    check_table(ctx, "svm", "tol=3e-5 multiclass=ovr bias=no", &search, blobs);
    mcr_data_free(many);
    search.metric = "mae";
    search.kernels = 1;
    check_table(ctx, "svr", "tol=1e-8", &search, sinc);
    search.metric = "auc";
    search.adaptive = 1;
    check_table(ctx, "svm", "tol=1e-8", &search, moons);
    search.metric = NULL;
    static const char *const lambda[] = {"lambda"}, *const small[] = {"1e-3:1:log3"};
    search.option = lambda;
    search.range = small;
    check_table(ctx, "logistic", "", &search, blobs);
    static const char *const strings[] = {"normalize(spectrum(p=3:5))"};
    search.kernel = strings;
    search.kernels = 1;
    check_table(ctx, "logistic", "", &search, motifs);
    check_table(ctx, "logistic", "form=primal", &search, motifs);
    search.ranges = 0;
    check_table(ctx, "svm", "tol=1e-8", &search, motifs); /* C has a range of its own */
    mcr_data_free(moons);
    mcr_data_free(blobs);
    mcr_data_free(sinc);
    mcr_data_free(motifs);
}

/* The best of a grid of 15 x 13 points is found, or one as good, with far fewer trainings. */
static void test_coarse_to_fine(void **context)
{
    mcr *ctx = *context;
    static const char *const kernel[] = {"rbf(gamma=0.001:1000:log15)"}, *const wide[] = {
                                                                             "0.01:1e4:log13"};
    mcr_search search = make_search();
    mcr_data *data = sample_data(ctx, "spirals", 300);
    mcr_options *o = make_options(ctx, "svm", "");
    mcr_tune_report *r[2] = {NULL, NULL};
    search.kernel = kernel;
    search.kernels = 1;
    search.range = wide;
    for (int adaptive = 0; adaptive < 2; adaptive++) {
        mcr_model *model = NULL;
        search.adaptive = adaptive;
        test_ok(ctx, mcr_tune(&model, &r[adaptive], o, &search, data));
        mcr_model_free(model);
    }
    assert_int_equal(r[0]->points, 195);
    assert_true(r[1]->fits * 3 < r[0]->fits);
    assert_true(r[1]->point[r[1]->best]->score > r[0]->point[r[0]->best]->score - 0.01);
    mcr_tune_free(ctx, r[0]);
    mcr_tune_free(ctx, r[1]);
    mcr_options_close(o);
    mcr_data_free(data);
}

static bool tried_kernel(const mcr_tune_report *r, const char *name)
{
    for (int64_t p = 0; p < r->points; p++)
        if (strncmp(r->point[p]->kernel, name, strlen(name)) == 0)
            return true;
    return false;
}

/* One entry of eight per object, which tells its class. */
static mcr_data *sparse_data(mcr *ctx)
{
    enum { COLS = 8 };
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    int64_t start[N + 1] = {0};
    int32_t index[N];
    double value[N], y[N];
    for (int64_t i = 0; i < N; i++) {
        start[i + 1] = i + 1;
        index[i] = (int32_t)(i * 5 % COLS);
        value[i] = 1 + sin((double)i);
        y[i] = index[i] < COLS / 2;
    }
    test_ok(ctx, mcr_builder_open(&b, ctx, N));
    test_ok(ctx, mcr_builder_sparse(b, "x", COLS, start, index, value));
    test_ok(ctx, mcr_builder_targets(b, y));
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

/* Many objects: the search begins with some of them, but what it reports, and chooses by, was
 * tested on all. */
static void test_many_objects(void **context)
{
    mcr *ctx = *context;
    const int64_t n = test_brief() ? 2500 : 3000;
    mcr_search search = {.size = sizeof search, .adaptive = 1};
    mcr_options *o = make_options(ctx, "knn", "task=classify");
    mcr_data *data = sample_data(ctx, "moons", n);
    mcr_tune_report *r = NULL;
    mcr_model *model = NULL;
    test_ok(ctx, mcr_tune(&model, &r, o, &search, data));
    int64_t tested = 0;
    for (int64_t p = 0; p < r->points; p++)
        tested += r->point[p]->splits;
    assert_int_equal(r->objects, n);
    assert_true(r->fits > 2 * tested);
    const mcr_point *best = r->point[r->best];
    assert_true(best->state == MCR_POINT_DONE && best->splits == 5);
    for (int64_t p = 0; p < r->points; p++)
        assert_true(r->point[p]->state != MCR_POINT_DONE || r->point[p]->score <= best->score);
    char options[128];
    snprintf(options, sizeof options, "task=classify %s", best->options);
    mcr_options *chosen = make_options(ctx, "knn", options);
    mcr_kernel *kernel = NULL;
    mcr_cv_report *cv = NULL;
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, best->kernel));
    mcr_splits *splits = NULL;
    test_ok(ctx, mcr_splits_open(&splits, ctx, data, NULL));
    test_ok(ctx, mcr_cv(&cv, chosen, kernel, data, splits, "accuracy", NULL));
    mcr_splits_close(splits);
    test_close_real("accuracy", best->score, cv->metric[0]->mean, 1e-12);
    mcr_cv_free(ctx, cv);
    mcr_kernel_free(kernel);
    mcr_options_close(chosen);
    mcr_options_close(o);
    mcr_tune_free(ctx, r);
    mcr_model_free(model);
    mcr_data_free(data);
}

/* Points are dropped early, but never after a single split, however few there are. */
static void test_early(void **context)
{
    mcr *ctx = *context;
    mcr_options *o = make_options(ctx, "svm", "");
    mcr_data *data = sample_data(ctx, "moons", 500);
    for (int64_t folds = 3; folds < 9; folds += folds < 5 ? 1 : 3) {
        mcr_split_plan plan = {.size = sizeof plan, .folds = folds};
        mcr_search search = {.size = sizeof search, .adaptive = 1, .split = &plan};
        mcr_tune_report *r = NULL;
        mcr_model *model = NULL;
        int64_t early = folds < 8 ? 2 : 3, dropped = 0;
        test_ok(ctx, mcr_tune(&model, &r, o, &search, data));
        for (int64_t p = 0; p < r->points; p++) {
            assert_true(r->point[p]->splits == early || r->point[p]->splits == folds);
            dropped += r->point[p]->state == MCR_POINT_BEATEN && r->point[p]->splits == early;
        }
        assert_true(dropped > 0);
        mcr_tune_free(ctx, r);
        mcr_model_free(model);
    }
    mcr_data_free(data);
    mcr_options_close(o);
}

/* Without hints: two kernels, but one on vectors that stay sparse. What is far behind is not
 * refined to the end. */
static void test_usual_kernels(void **context)
{
    mcr *ctx = *context;
    mcr_search search = {.size = sizeof search, .scales = 1, .adaptive = 1};
    mcr_options *o = make_options(ctx, "svm", "");
    mcr_data *data[2] = {sample_data(ctx, "moons", N), sparse_data(ctx)};
    for (int sparse = 0; sparse < 2; sparse++) {
        mcr_tune_report *r = NULL;
        mcr_model *model = NULL;
        test_ok(ctx, mcr_tune(&model, &r, o, &search, data[sparse]));
        assert_true(tried_kernel(r, "rbf"));
        assert_int_equal(tried_kernel(r, "laplace"), !sparse);
        assert_int_equal(r->possible, sparse ? 2 * 17 * 17 : 2 * (17 + 11) * 17);
        mcr_tune_free(ctx, r);
        mcr_model_free(model);
        mcr_data_free(data[sparse]);
    }
    /* A learner that looks for gamma itself needs no range of it. */
    mcr_options *gp = make_options(ctx, "gp", "");
    mcr_data *sinc = sample_data(ctx, "sinc", 40);
    mcr_tune_report *found = NULL;
    mcr_model *process = NULL;
    test_ok(ctx, mcr_tune(&process, &found, gp, &search, sinc));
    assert_int_equal(found->possible, 2 * 2);
    mcr_tune_free(ctx, found);
    mcr_model_free(process);
    mcr_data_free(sinc);
    mcr_options_close(gp);
    /* No line parts spirals. */
    static const char *const kernels[] = {"rbf(gamma=0.25:64:log9)", "linear"};
    mcr_tune_report *r = NULL;
    mcr_model *model = NULL;
    mcr_data *spirals = sample_data(ctx, "spirals", 300);
    search = (mcr_search){.size = sizeof search, .kernel = kernels, .kernels = 2, .adaptive = 1};
    test_ok(ctx, mcr_tune(&model, &r, o, &search, spirals));
    int64_t straight = 0;
    for (int64_t p = 0; p < r->points; p++)
        straight += strcmp(r->point[p]->kernel, "linear") == 0;
    assert_in_range(straight, 5, 14); /* of 17: the coarse ones, and some around the best */
    mcr_tune_free(ctx, r);
    mcr_model_free(model);
    mcr_data_free(spirals);
    mcr_options_close(o);
}

/* ---- one gamma a column -----------------------------------------------------------------------*/

enum { TELLING = 2, COLUMNS = 6 };

/* The first two columns are places on a board of 3 x 3 squares, black or white; the others are
 * noise. */
static mcr_data *noisy_data(mcr *ctx, int64_t n, uint32_t seed)
{
    double *x = calloc((size_t)(n * COLUMNS), sizeof *x), *y = calloc((size_t)n, sizeof *y);
    for (int64_t i = 0; i < n * COLUMNS; i++) {
        seed = seed * 1664525 + 1013904223;
        x[i] = (double)(seed >> 8) / (1 << 23) - 1;
    }
    for (int64_t i = 0; i < n; i++)
        y[i] = (int)(1.5 * x[i * COLUMNS] + 1.5) % 2 == (int)(1.5 * x[i * COLUMNS + 1] + 1.5) % 2;
    mcr_data *data = dense_data(ctx, n, COLUMNS, x, y, NULL);
    free(x);
    free(y);
    return data;
}

static double accuracy_on(mcr *ctx, const mcr_model *model, const mcr_data *data)
{
    int64_t n = mcr_data_count(data), right = 0;
    double *said = calloc((size_t)n, sizeof *said);
    test_ok(ctx, mcr_predict(ctx, model, data, said, NULL, NULL));
    for (int64_t i = 0; i < n; i++)
        right += said[i] == mcr_data_class_of(data)[i];
    free(said);
    return (double)right / (double)n;
}

/* Columns that are noise get a small gamma, and new objects are classified better. */
static void test_weights(void **context)
{
    mcr *ctx = *context;
    mcr_data *data = noisy_data(ctx, 400, 1), *fresh = noisy_data(ctx, 2000, 2);
    mcr_options *o = make_options(ctx, "svm", "C=10");
    static const char *const kernel[] = {"rbf(gamma=0.25:4:log5)"};
    mcr_search search = {.size = sizeof search, .kernel = kernel, .kernels = 1};
    double right[2];
    for (int weights = 0; weights < 2; weights++) {
        mcr_model *model = NULL;
        mcr_tune_report *r = NULL;
        search.relevance = weights;
        test_ok(ctx, mcr_tune(&model, &r, o, &search, data));
        right[weights] = accuracy_on(ctx, model, fresh);
        const char *list = strchr(r->point[r->best]->kernel, '[');
        assert_int_equal(list != NULL, weights);
        assert_string_equal(r->point[r->best]->kernel, mcr_model_report(model)->kernel);
        double telling = INFINITY, noise = 0;
        for (int k = 0; weights && k < COLUMNS; k++) {
            char *end;
            double gamma = strtod(list + 1, &end);
            assert_true(*end == (k + 1 < COLUMNS ? ',' : ']'));
            list = end;
            telling = k < TELLING ? fmin(telling, gamma) : telling;
            noise = k < TELLING ? noise : fmax(noise, gamma);
        }
        assert_true(!weights || noise < telling / 4);
        mcr_tune_free(ctx, r);
        mcr_model_free(model);
    }
    if (!(right[1] > right[0] + 0.05))
        fail_msg("of fresh objects right: %g with weights, %g without", right[1], right[0]);
    mcr_options_close(o);
    mcr_data_free(data);
    mcr_data_free(fresh);
}

static int64_t count_lists(const mcr_tune_report *r)
{
    int64_t count = 0;
    for (int64_t p = 0; p < r->points; p++)
        count += strchr(r->point[p]->kernel, '[') != NULL;
    return count;
}

/* Where no column tells anything, lists are tried and none is taken, however often the same objects
 * are tested. Blanks around "=" do not matter. */
static void test_chance_has_no_weights(void **context)
{
    mcr *ctx = *context;
    enum { OBJECTS = 150, TRIES = 4 };
    static const char *const kernel[] = {"rbf(gamma = 0.25:4:log3)"};
    mcr_options *o = make_options(ctx, "svm", "C=1");
    for (uint32_t seed = 1; seed <= TRIES; seed++) {
        double x[OBJECTS * COLUMNS], y[OBJECTS];
        mcr_random random = mcr_random_stream(seed, "chance", 0);
        for (int64_t i = 0; i < OBJECTS * COLUMNS; i++)
            x[i] = mcr_random_normal(&random);
        for (int64_t i = 0; i < OBJECTS; i++)
            y[i] = (double)mcr_random_below(&random, 2);
        mcr_data *data = dense_data(ctx, OBJECTS, COLUMNS, x, y, NULL);
        mcr_search search = {.size = sizeof search, .kernel = kernel, .kernels = 1, .relevance = 1};
        const mcr_split_plan plan = {.size = sizeof plan, .repeats = seed % 2 ? 1 : 5};
        search.split = &plan;
        mcr_model *model = NULL;
        mcr_tune_report *r = NULL;
        test_ok(ctx, mcr_tune(&model, &r, o, &search, data));
        assert_true(count_lists(r) >= 8);
        if (strchr(r->point[r->best]->kernel, '['))
            fail_msg("seed %u: %s", (unsigned)seed, r->point[r->best]->kernel);
        mcr_tune_free(ctx, r);
        mcr_model_free(model);
        mcr_data_free(data);
    }
    mcr_options_close(o);
}

/* What has no columns, or a kernel without a list, is not looked at. */
static void test_no_weights(void **context)
{
    mcr *ctx = *context;
    static const char *const kernels[] = {"poly(degree=2:4, c=1)", "normalize(spectrum(p=2:4))",
                                          "rbf(gamma=0.1:10:log3) + linear"};
    static const char *const samples[] = {"blobs", "motifs", "blobs"};
    mcr_options *o = make_options(ctx, "svm", "C=1");
    for (int i = 0; i < 3; i++) {
        mcr_search search = {
            .size = sizeof search, .kernel = &kernels[i], .kernels = 1, .relevance = 1};
        mcr_data *data = sample_data(ctx, samples[i], N);
        mcr_model *model = NULL;
        mcr_tune_report *r = NULL;
        test_ok(ctx, mcr_tune(&model, &r, o, &search, data));
        assert_int_equal(r->points, r->possible);
        assert_int_equal(count_lists(r), 0);
        mcr_tune_free(ctx, r);
        mcr_model_free(model);
        mcr_data_free(data);
    }
    mcr_options_close(o);
}

/* ---- leaks ------------------------------------------------------------------------------------*/

/* Whatever stands in the objects of one fold, the predictions for the others of that split's model,
 * and the parameters that were chosen for it, are the same: here targets and features are
 * replaced. */
static void test_no_leak(void **context)
{
    mcr *ctx = *context;
    enum { COLS = 2 };
    double x[COLS * N], y[N];
    mcr_data *data[2] = {NULL, NULL}, *moons = sample_data(ctx, "moons", N);
    for (int64_t i = 0; i < N; i++) {
        test_ok(ctx, mcr_data_vector(moons, 0, i, x + COLS * i));
        y[i] = mcr_data_targets(moons)[i];
    }
    data[0] = dense_data(ctx, N, COLS, x, y, NULL);
    mcr_split_plan plan = {.size = sizeof plan, .plain = 1};
    mcr_splits *splits = NULL;
    int64_t rows[N];
    test_ok(ctx, mcr_splits_open(&splits, ctx, data[0], &plan));
    int64_t count = mcr_splits_rows(splits, 2, 1, rows);
    for (int64_t t = 0; t < count; t++) {
        x[COLS * rows[t]] = 1e6 * (double)(t + 1);
        y[rows[t]] = y[rows[t]] == strtod(mcr_data_class_name(moons, 0), NULL)
                         ? strtod(mcr_data_class_name(moons, 1), NULL)
                         : strtod(mcr_data_class_name(moons, 0), NULL);
    }
    data[1] = dense_data(ctx, N, COLS, x, y, NULL);
    mcr_search search = make_search();
    mcr_options *o = make_options(ctx, "svm", "scale=standard");
    mcr_cv_report *r[2] = {NULL, NULL};
    for (int v = 0; v < 2; v++)
        test_ok(ctx, mcr_cv(&r[v], o, NULL, data[v], splits, NULL, &search));
    assert_string_equal(r[0]->kernel[2], r[1]->kernel[2]);
    assert_string_equal(r[0]->options[2], r[1]->options[2]);
    /* The model of the split itself: scaled by its training objects. */
    mcr_kernel *k = NULL;
    double value[2][N];
    test_ok(ctx, mcr_kernel_parse(&k, ctx, r[0]->kernel[2]));
    for (int v = 0; v < 2; v++) {
        mcr_data *train = NULL, *rest = NULL;
        mcr_model *model = NULL;
        count = mcr_splits_rows(splits, 2, 0, rows);
        test_ok(ctx, mcr_data_select(&train, data[v], (mcr_rows){rows, 0, count}));
        test_ok(ctx, mcr_fit(&model, o, k, train, NULL));
        count = mcr_splits_rows(splits, 2, 1, rows);
        test_ok(ctx, mcr_data_select(&rest, data[0], (mcr_rows){rows, 0, count}));
        test_ok(ctx, mcr_predict(ctx, model, rest, value[v], NULL, NULL));
        mcr_model_free(model);
        mcr_data_free(train);
        mcr_data_free(rest);
    }
    test_close_arrays("predictions", value[0], value[1], count, 0);
    mcr_kernel_free(k);
    mcr_cv_free(ctx, r[0]);
    mcr_cv_free(ctx, r[1]);
    mcr_options_close(o);
    mcr_splits_close(splits);
    mcr_data_free(data[0]);
    mcr_data_free(data[1]);
    mcr_data_free(moons);
}

/* ---- threads, being cut off -------------------------------------------------------------------*/

typedef struct patience {
    int64_t left;
} patience;

static int stop_after(void *user, const mcr_progress *now)
{
    patience *p = user;
    assert_string_equal(now->phase, "tune"); /* not those of the trainings in it */
    return --p->left <= 0;
}

typedef enum how { ALL, FINE, RELEVANCE, WAYS } how;

/* The table of a search; stop: after so many reports (0: never). */
static char *run_search(int threads, const char *checkpoint, int resume, int64_t stop, how way)
{
    mcr *ctx = NULL;
    patience p = {stop};
    char *table = NULL;
    test_ok(NULL, mcr_open(&ctx, &(mcr_config){.size = sizeof(mcr_config),
                                               .threads = threads,
                                               .progress = stop ? stop_after : NULL,
                                               .user = &p}));
    mcr_data *data = way == RELEVANCE ? noisy_data(ctx, 200, 1) : sample_data(ctx, "moons", 400);
    mcr_options *o = make_options(ctx, "svm", "scale=standard");
    mcr_search search = make_search();
    mcr_model *model = NULL;
    mcr_tune_report *r = NULL;
    search.checkpoint = checkpoint;
    search.resume = resume;
    search.adaptive = way != ALL;
    search.relevance = way == RELEVANCE;
    search.kernels = way == RELEVANCE ? 1 : search.kernels;
    mcr_status s = mcr_tune(&model, &r, o, &search, data);
    if (stop && s)
        assert_int_equal(s, MCR_STOPPED);
    else
        test_ok(ctx, s);
    if (!s)
        table = strdup(mcr_model_tuning(model));
    mcr_tune_free(ctx, r);
    mcr_model_free(model);
    mcr_options_close(o);
    mcr_data_free(data);
    mcr_close(ctx);
    return table;
}

static void test_cut_off(void **context)
{
    (void)context;
    char folder[256], path[300];
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/c", folder);
    for (how way = ALL; way < WAYS; way++) {
        char *want = run_search(1, NULL, 0, 0, way), *got = run_search(2, NULL, 0, 0, way);
        assert_string_equal(got, want);
        assert_int_equal(strchr(want, '[') != NULL, way == RELEVANCE);
        free(got);
        got = NULL;
        int cuts = 0;
        for (int64_t stop = 2; !got; stop += 3) {
            got = run_search(2, path, cuts > 0, stop, way);
            cuts++;
            if (got)
                break;
            /* A line that was being written when it was cut off. */
            FILE *f = fopen(path, "a");
            assert_non_null(f);
            fputs("7 8 9 0.5", f);
            fclose(f);
        }
        assert_true(cuts > 1);
        assert_string_equal(got, want);
        assert_int_equal(remove(path), 0); /* the caller's, once the model is safe */
        free(got);
        free(want);
    }
    test_remove_directory(folder);
}

static mcr_status tune_once(mcr *ctx, void *arg)
{
    const char *sample = arg;
    mcr_data *data = NULL;
    mcr_options *o = NULL;
    mcr_model *model = NULL;
    mcr_tune_report *r = NULL;
    mcr_search search = make_search();
    bool weighs = strcmp(sample, "moons") == 0;
    const mcr_split_plan plan = {.size = sizeof plan, .folds = weighs ? 3 : 2};
    search.split = &plan;
    search.relevance = weighs;
    search.kernels = weighs ? 1 : search.kernels;
    mcr_status s = mcr_data_sample(&data, ctx, sample, weighs ? 20 : 16, -1);
    if (!s)
        s = mcr_options_open(&o, ctx, "svm");
    if (!s && sample[0] == 'm')
        s = mcr_options_set(o, "scale", "standard");
    if (!s)
        s = mcr_tune(&model, &r, o, &search, data);
    mcr_tune_free(ctx, r);
    mcr_model_free(model);
    mcr_options_close(o);
    mcr_data_free(data);
    return s;
}

static mcr_status cv_once(mcr *ctx, void *arg)
{
    (void)arg;
    mcr_data *data = NULL;
    mcr_options *o = NULL;
    mcr_splits *splits = NULL;
    mcr_cv_report *r = NULL;
    mcr_search search = make_search();
    const mcr_split_plan plan = {.size = sizeof plan, .folds = 2};
    search.split = &plan;
    search.kernels = 1;
    mcr_status s = mcr_data_sample(&data, ctx, "moons", 16, -1);
    if (!s)
        s = mcr_options_open(&o, ctx, "svm");
    if (!s)
        s = mcr_splits_open(&splits, ctx, data, &plan);
    if (!s)
        s = mcr_cv(&r, o, NULL, data, splits, NULL, &search);
    mcr_cv_free(ctx, r);
    mcr_splits_close(splits);
    mcr_options_close(o);
    mcr_data_free(data);
    return s;
}

static void test_short_of_memory(void **context)
{
    (void)context;
    test_sweep_allocations("tune", tune_once, (void *)"moons");
    test_sweep_allocations("tune of three classes", tune_once, (void *)"blobs");
    test_sweep_allocations("nested cv", cv_once, NULL);
}

/* ---- what is refused --------------------------------------------------------------------------*/

static void test_refusals(void **context)
{
    mcr *ctx = *context;
    mcr_data *data = sample_data(ctx, "moons", N);
    mcr_options *o = make_options(ctx, "svm", ""), *pca = make_options(ctx, "pca", "");
    mcr_search search = make_search();
    mcr_model *model = NULL;
    mcr_tune_report *r = NULL;
    search.metric = "mse";
    test_fails(ctx, mcr_tune(&model, &r, o, &search, data), MCR_BAD_CALL, "not for this task");
    search.metric = NULL;
    test_fails(ctx, mcr_tune(&model, &r, pca, &search, data), MCR_BAD_CALL, "coordinates");
    static const char *const wrong[] = {"rbf(gamma=1:x)"}, *const unknown[] = {"rbff(gamma=1:2:3)"};
    search.kernels = 1;
    search.kernel = wrong;
    test_fails(ctx, mcr_tune(&model, &r, o, &search, data), MCR_BAD_CALL, "gamma must be");
    search.kernel = unknown;
    test_fails(ctx, mcr_tune(&model, &r, o, &search, data), MCR_BAD_CALL, "rbff");
    search = make_search();
    search.option = (const char *const[]){"multiclass"};
    test_fails(ctx, mcr_tune(&model, &r, o, &search, data), MCR_BAD_CALL, "not a number");
    search = make_search();
    search.range = (const char *const[]){"-1:1:3"};
    test_fails(ctx, mcr_tune(&model, &r, o, &search, data), MCR_BAD_CALL, "C must be");
    search = make_search();
    search.checkpoint = "/nowhere/at/all";
    search.resume = 1;
    test_fails(ctx, mcr_tune(&model, &r, o, &search, data), MCR_IO,
               "no checkpoint to continue from");
    assert_null(model);
    assert_null(r);
    mcr_options_close(o);
    mcr_options_close(pca);
    mcr_data_free(data);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_setup, test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_splits),
        TEST(test_counted_classes),
        TEST(test_metrics),
        TEST(test_cv_by_hand),
        TEST(test_tables),
        TEST(test_leave_one_out),
        TEST(test_coarse_to_fine),
        TEST(test_many_objects),
        TEST(test_early),
        TEST(test_usual_kernels),
        TEST(test_weights),
        TEST(test_chance_has_no_weights),
        TEST(test_no_weights),
        TEST(test_no_leak),
        cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_short_of_memory),
        TEST(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
