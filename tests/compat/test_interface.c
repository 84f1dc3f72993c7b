/* Every function of libsvm.so: fields of models, decision values by plain loops over these fields,
 * optimality of the coefficients, probabilities, files, messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "problems.h"

#include <locale.h>
#include <unistd.h>

enum { N = 100 };
static const int labels[] = {3, -1, 8, 5};
static const int signs[] = {-1, 1};

static double plain_kernel(const struct svm_parameter *p, const struct svm_node *x,
                           const struct svm_node *z)
{
    double dot = 0, distance = 0;
    for (int k = 0; k < COLS; k++) {
        dot += x[k].value * z[k].value;
        distance += (x[k].value - z[k].value) * (x[k].value - z[k].value);
    }
    switch (p->kernel_type) {
    case POLY: return pow(p->gamma * dot + p->coef0, p->degree);
    case RBF: return exp(-p->gamma * distance);
    case SIGMOID: return tanh(p->gamma * dot + p->coef0);
    default: return dot;
    }
}

/* The decision value of classes i < j, from the documented layout. */
static double plain_value(const struct svm_model *m, const struct svm_node *x, int i, int j,
                          int pair)
{
    double sum = -m->rho[pair];
    for (int t = 0, at = 0; t < m->nr_class; t++)
        for (int s = 0; s < m->nSV[t]; s++, at++) {
            double k = plain_kernel(&m->param, x, m->SV[at]);
            if (t == i)
                sum += m->sv_coef[j - 1][at] * k;
            else if (t == j)
                sum += m->sv_coef[i][at] * k;
        }
    return sum;
}

/* ---- classes ----------------------------------------------------------------------------------*/

static void check_support(const struct svm_model *m, const problem *p)
{
    int sum = 0, *indices = calloc((size_t)m->l + 1, sizeof *indices);
    svm_get_sv_indices(m, indices);
    for (int c = 0, at = 0; c < m->nr_class; c++) {
        sum += m->nSV[c];
        for (int s = 0, last = 0; s < m->nSV[c]; s++, at++) {
            assert_int_equal(indices[at], m->sv_indices[at]);
            assert_in_range(indices[at], last + 1, N);
            last = indices[at];
            assert_ptr_equal(m->SV[at], p->row[last - 1]);
            assert_int_equal((int)p->y[last - 1], m->label[c]);
        }
    }
    assert_int_equal(sum, m->l);
    assert_int_equal(svm_get_nr_sv(m), m->l);
    assert_int_equal(m->free_sv, 0);
    free(indices);
}

/* Bounds, and y f(x) on the right side of 1 within the tolerance. */
static void check_optimal(const struct svm_model *m, const problem *p)
{
    double C = m->param.C, eps = 3 * m->param.eps;
    for (int i = 0; i < N; i++) {
        double f, alpha = 0;
        double label = svm_predict_values(m, p->row[i], &f);
        check_near(label, m->label[f <= 0], 0);
        double y = (int)p->y[i] == m->label[0] ? 1 : -1;
        for (int t = 0; t < m->l; t++)
            if (m->sv_indices[t] == i + 1)
                alpha = y * m->sv_coef[0][t];
        assert_true(alpha >= 0 && alpha <= C * (1 + 1e-9));
        if (alpha < C * (1 - 1e-9) && y * f < 1 - eps)
            fail_msg("object %d: alpha %g < C and y f = %g < 1", i, alpha, y * f);
        if (alpha > 0 && y * f > 1 + eps)
            fail_msg("object %d: alpha %g > 0 and y f = %g > 1", i, alpha, y * f);
    }
}

static void test_two_classes(void **state)
{
    (void)state;
    problem p;
    make_problem(&p, N, 2, signs);
    for (int kernel = LINEAR; kernel <= RBF; kernel++) {
        struct svm_parameter param = make_parameter(C_SVC, kernel);
        assert_null(svm_check_parameter(&p.prob, &param));
        struct svm_model *m = svm_train(&p.prob, &param);
        assert_non_null(m);
        /* 1 comes first although -1 appears first. */
        int label[2];
        svm_get_labels(m, label);
        assert_int_equal(label[0], 1);
        assert_int_equal(label[1], -1);
        assert_int_equal(svm_get_svm_type(m), C_SVC);
        assert_int_equal(svm_get_nr_class(m), 2);
        assert_false(svm_check_probability_model(m));
        check_support(m, &p);
        check_optimal(m, &p);
        svm_free_and_destroy_model(&m);
        assert_null(m);
    }
}

static void test_several_classes(void **state)
{
    (void)state;
    problem p;
    make_problem(&p, N, 4, labels);
    for (int type = C_SVC; type <= NU_SVC; type++)
        for (int kernel = LINEAR; kernel <= SIGMOID; kernel++) {
            struct svm_parameter param = make_parameter(type, kernel);
            param.gamma = kernel == SIGMOID ? 0.02 : param.gamma;
            struct svm_model *m = svm_train(&p.prob, &param);
            assert_int_equal(m->nr_class, 4);
            for (int c = 0; c < 4; c++) /* in the order of appearance: classes are i * 7 % 4 */
                assert_int_equal(m->label[c], labels[c * 7 % 4]);
            check_support(m, &p);
            for (int t = 0; t < N; t++) {
                double value[6];
                int vote[4] = {0}, best = 0, pair = 0;
                double label = svm_predict_values(m, p.row[t], value);
                for (int i = 0; i < 4; i++)
                    for (int j = i + 1; j < 4; j++, pair++) {
                        double f = plain_value(m, p.row[t], i, j, pair);
                        assert_true(fabs(value[pair] - f) <= 1e-9 * (1 + fabs(f)));
                        vote[f > 0 ? i : j]++;
                    }
                for (int c = 1; c < 4; c++)
                    best = vote[c] > vote[best] ? c : best;
                assert_int_equal((int)label, m->label[best]);
                check_near(svm_predict(m, p.row[t]), label, 0);
            }
            svm_free_and_destroy_model(&m);
        }
}

/* Weights move the bounds. */
static void test_weights(void **state)
{
    (void)state;
    problem p;
    make_problem(&p, N, 2, signs);
    struct svm_parameter param = make_parameter(C_SVC, LINEAR);
    param.C = 0.01;
    param.nr_weight = 2;
    param.weight_label = malloc(2 * sizeof(int));
    param.weight = malloc(2 * sizeof(double));
    memcpy(param.weight_label, (int[]){1, -1}, 2 * sizeof(int));
    memcpy(param.weight, (double[]){3, 0.5}, 2 * sizeof(double));
    struct svm_model *m = svm_train(&p.prob, &param);
    double largest[2] = {0, 0}, sum = 0;
    for (int t = 0; t < m->l; t++) {
        int c = t >= m->nSV[0];
        largest[c] = fmax(largest[c], fabs(m->sv_coef[0][t]));
        sum += m->sv_coef[0][t];
    }
    check_near(largest[0], 0.03, 1e-9);
    check_near(largest[1], 0.005, 1e-9);
    check_near(sum, 0, 1e-9);
    svm_free_and_destroy_model(&m);
    svm_destroy_param(&param);
}

/* Each object four times: no coefficient is beyond C, as it is in LIBSVM. */
static void test_duplicates(void **state)
{
    (void)state;
    problem p;
    make_problem(&p, N, 2, signs);
    for (int i = 0; i < N; i++) {
        memcpy(p.node[i], p.node[i % 25], sizeof p.node[i]);
        p.y[i] = p.y[i % 25];
    }
    for (int type = C_SVC; type <= NU_SVR; type++) {
        struct svm_parameter param = make_parameter(type, LINEAR);
        param.C = 0.1;
        struct svm_model *m = svm_train(&p.prob, &param);
        double bound = type == ONE_CLASS ? 1 : 0.1, sum = 0;
        for (int t = 0; t < m->l; t++)
            sum += fabs(m->sv_coef[0][t]);
        if (type == NU_SVC)
            bound = sum / (param.nu * N);
        for (int t = 0; t < m->l; t++)
            assert_true(fabs(m->sv_coef[0][t]) <= bound * (1 + 1e-6));
        assert_true(m->l > N / 4);
        svm_free_and_destroy_model(&m);
    }
}

/* ---- numbers and one class --------------------------------------------------------------------*/

static void test_numbers(void **state)
{
    (void)state;
    problem p;
    make_problem(&p, N, 2, NULL);
    for (int type = EPSILON_SVR; type <= NU_SVR; type++) {
        struct svm_parameter param = make_parameter(type, RBF);
        param.C = 10;
        param.probability = 1;
        struct svm_model *m = svm_train(&p.prob, &param);
        assert_int_equal(m->nr_class, 2);
        assert_null(m->label);
        assert_null(m->nSV);
        double sum = 0, error = 0;
        for (int t = 0; t < m->l; t++) {
            sum += m->sv_coef[0][t];
            assert_true(fabs(m->sv_coef[0][t]) <= 10 * (1 + 1e-9));
            assert_ptr_equal(m->SV[t], p.row[m->sv_indices[t] - 1]);
        }
        check_near(sum, 0, 1e-6);
        for (int i = 0; i < N; i++) {
            double f = svm_predict(m, p.row[i]);
            double plain = -m->rho[0];
            for (int t = 0; t < m->l; t++)
                plain += m->sv_coef[0][t] * plain_kernel(&param, p.row[i], m->SV[t]);
            check_near(f, plain, 1e-9);
            error += fabs(f - p.y[i]) / N;
        }
        assert_true(error < 0.1);
        assert_true(svm_check_probability_model(m));
        assert_true(svm_get_svr_probability(m) > 0 && svm_get_svr_probability(m) < 0.5);
        svm_free_and_destroy_model(&m);
    }
}

static void test_one_class(void **state)
{
    (void)state;
    problem p;
    make_problem(&p, N, 2, signs);
    struct svm_parameter param = make_parameter(ONE_CLASS, RBF);
    struct svm_model *m = svm_train(&p.prob, &param);
    double sum = 0;
    int outside = 0;
    for (int t = 0; t < m->l; t++) {
        sum += m->sv_coef[0][t];
        assert_true(m->sv_coef[0][t] > 0 && m->sv_coef[0][t] <= 1 + 1e-9);
    }
    check_near(sum, param.nu * N, 1e-6);
    for (int i = 0; i < N; i++)
        outside += svm_predict(m, p.row[i]) < 0;
    assert_in_range(outside, 20, 35);
    svm_free_and_destroy_model(&m);
    param.probability = 1;
#if LIBSVM_ABI < 4
    assert_string_equal(svm_check_parameter(&p.prob, &param),
                        "one-class SVM probability output not supported yet");
#else
    assert_null(svm_check_parameter(&p.prob, &param));
    m = svm_train(&p.prob, &param);
    assert_true(svm_check_probability_model(m));
    for (int i = 1; i < 10; i++)
        assert_true(m->prob_density_marks[i] >= m->prob_density_marks[i - 1]);
    for (int i = 0; i < N; i++) {
        double estimate[2], value;
        double label = svm_predict_probability(m, p.row[i], estimate);
        svm_predict_values(m, p.row[i], &value);
        check_near(label, value > 0 ? 1 : -1, 0);
        check_near(estimate[0] + estimate[1], 1, 1e-15);
        assert_true(value > 0.1 ? estimate[0] > 0.4 : value > -0.1 || estimate[0] < 0.6);
    }
    assert_int_equal(svm_save_model("marks.model", m), 0);
    struct svm_model *back = svm_load_model("marks.model");
    for (int i = 0; i < 10; i++)
        check_near(back->prob_density_marks[i], m->prob_density_marks[i], 0);
    unlink("marks.model");
    svm_free_and_destroy_model(&back);
    svm_free_and_destroy_model(&m);
#endif
}

/* ---- probabilities, folds, rows of a matrix ---------------------------------------------------*/

static void test_probabilities(void **state)
{
    (void)state;
    problem p;
    make_problem(&p, N, 4, labels);
    struct svm_parameter param = make_parameter(C_SVC, RBF);
    param.probability = 1;
    srand(1);
    struct svm_model *m = svm_train(&p.prob, &param);
    assert_true(svm_check_probability_model(m));
    int right = 0;
    for (int i = 0; i < N; i++) {
        double estimate[4], sum = 0;
        double label = svm_predict_probability(m, p.row[i], estimate);
        int best = 0;
        for (int c = 0; c < 4; c++) {
            sum += estimate[c];
            best = estimate[c] > estimate[best] ? c : best;
        }
        check_near(sum, 1, 1e-9);
        check_near(label, m->label[best], 0);
        right += label == p.y[i];
    }
    assert_true(right > 80);
    svm_free_and_destroy_model(&m);
}

static void test_folds(void **state)
{
    (void)state;
    problem p;
    double once[N], again[N];
    make_problem(&p, N, 4, labels);
    for (int type = C_SVC; type <= NU_SVR; type++) {
        struct svm_parameter param = make_parameter(type, RBF);
        srand(5);
        svm_cross_validation(&p.prob, &param, 5, once);
        srand(5);
        svm_cross_validation(&p.prob, &param, 5, again);
        assert_memory_equal(once, again, sizeof once);
        int right = 0;
        for (int i = 0; i < N; i++)
            right += once[i] == p.y[i];
        if (type <= NU_SVC && right <= 60)
            fail_msg("type %d: %d of %d are right", type, right, N);
    }
    /* Leave one out. */
    struct svm_parameter param = make_parameter(C_SVC, RBF);
    svm_cross_validation(&p.prob, &param, N, once);
    for (int i = 0; i < N; i++)
        assert_true(once[i] == 3 || once[i] == -1 || once[i] == 8 || once[i] == 5);
}

/* The same machine from kernel values. */
static void test_precomputed(void **state)
{
    (void)state;
    problem p;
    make_problem(&p, N, 4, labels);
    struct svm_node *node = malloc(N * (N + 2) * sizeof *node), *row[N];
    struct svm_problem matrix = {N, p.y, row};
    struct svm_parameter param = make_parameter(C_SVC, RBF);
    for (int i = 0; i < N; i++) {
        row[i] = node + i * (N + 2);
        row[i][0] = (struct svm_node){0, i + 1};
        for (int j = 0; j < N; j++)
            row[i][j + 1] = (struct svm_node){j + 1, plain_kernel(&param, p.row[i], p.row[j])};
        row[i][N + 1].index = -1;
    }
    struct svm_model *m = svm_train(&p.prob, &param);
    param.kernel_type = PRECOMPUTED;
    struct svm_model *k = svm_train(&matrix, &param);
    assert_int_equal(k->nr_class, 4);
    for (int i = 0; i < N; i++) {
        double f[6], g[6];
        check_near(svm_predict_values(m, p.row[i], f), svm_predict_values(k, row[i], g), 0);
        for (int pair = 0; pair < 6; pair++)
            check_near(f[pair], g[pair], 1e-3);
    }
    assert_int_equal(svm_save_model("matrix.model", k), 0);
    struct svm_model *back = svm_load_model("matrix.model");
    unlink("matrix.model");
    for (int i = 0; i < N; i++)
        check_near(svm_predict(back, row[i]), svm_predict(k, row[i]), 0);
    double target[N];
    svm_cross_validation(&matrix, &param, 5, target);
    int right = 0;
    for (int i = 0; i < N; i++)
        right += target[i] == p.y[i];
    assert_true(right > 70);
    svm_free_and_destroy_model(&back);
    svm_free_and_destroy_model(&k);
    svm_free_and_destroy_model(&m);
    free(node);
}

/* Indices that lie far apart, or below 1. */
static void test_indices(void **state)
{
    (void)state;
    problem p, q;
    make_problem(&p, N, 4, labels);
    static const int far[2][COLS] = {{-5, 0, 7, 2000000000}, {0, 1, 2, 3}};
    for (int way = 0; way < 2; way++) {
        make_problem(&q, N, 4, labels);
        for (int i = 0; i < N; i++)
            for (int k = 0; k < COLS; k++)
                q.node[i][k].index = far[way][k];
        struct svm_parameter param = make_parameter(C_SVC, RBF);
        struct svm_model *m = svm_train(&p.prob, &param), *o = svm_train(&q.prob, &param);
        for (int i = 0; i < N; i++) {
            double f[6], g[6];
            svm_predict_values(m, p.row[i], f);
            svm_predict_values(o, q.row[i], g);
            for (int pair = 0; pair < 6; pair++)
                check_near(f[pair], g[pair], 1e-3);
        }
        svm_free_and_destroy_model(&m);
        svm_free_and_destroy_model(&o);
    }
}

/* ---- files ------------------------------------------------------------------------------------*/

static void test_files(void **state)
{
    (void)state;
    problem p;
    make_problem(&p, N, 4, labels);
    /* A decimal comma must not get into files or out of them. */
    const char *comma = setlocale(LC_ALL, "de_DE.UTF-8");
    if (comma == NULL)
        printf("# no locale with a decimal comma here\n");
    struct svm_parameter param = make_parameter(C_SVC, POLY);
    param.probability = 1;
    struct svm_model *m = svm_train(&p.prob, &param);
    assert_int_equal(svm_save_model("libsvm.model", m), 0);
    struct svm_model *back = svm_load_model("libsvm.model");
    setlocale(LC_ALL, "C");
    assert_non_null(back);
    assert_int_equal(back->free_sv, 1);
    assert_null(back->sv_indices);
    check_near(back->param.gamma, param.gamma, 0);
    check_near(back->param.coef0, param.coef0, 0);
    assert_int_equal(back->param.degree, param.degree);
    assert_memory_equal(back->label, m->label, 4 * sizeof(int));
    assert_memory_equal(back->nSV, m->nSV, 4 * sizeof(int));
    assert_memory_equal(back->rho, m->rho, 6 * sizeof(double));
    assert_memory_equal(back->probA, m->probA, 6 * sizeof(double));
    assert_memory_equal(back->probB, m->probB, 6 * sizeof(double));
    for (int c = 0; c < 3; c++)
        assert_memory_equal(back->sv_coef[c], m->sv_coef[c], (size_t)m->l * sizeof(double));
    for (int t = 0; t < m->l; t++)
        for (int k = 0; k < COLS; k++) {
            assert_int_equal(back->SV[t][k].index, m->SV[t][k].index);
            check_near(back->SV[t][k].value, m->SV[t][k].value, 1e-7);
        }
    for (int i = 0; i < N; i++)
        check_near(svm_predict(back, p.row[i]), svm_predict(m, p.row[i]), 0);
    svm_free_model_content(back);
    assert_null(back->SV);
    free(back);
    unlink("libsvm.model");
    assert_int_equal(svm_save_model("/no/such/folder/model", m), -1);
    assert_null(svm_load_model("/no/such/folder/model"));
    svm_free_and_destroy_model(&m);
}

/* Files that are cut short or altered are refused or read; neither crashes. */
static void test_altered_files(void **state)
{
    (void)state;
    problem p;
    make_problem(&p, 40, 4, labels);
    struct svm_parameter param = make_parameter(C_SVC, RBF);
    struct svm_model *m = svm_train(&p.prob, &param);
    assert_int_equal(svm_save_model("whole.model", m), 0);
    char text[20000];
    FILE *file = fopen("whole.model", "r");
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    assert_true(size < sizeof text);
    uint64_t random = 3;
    static const char words[] = "0123456789-+.:eE \n\tSVnrho";
    assert_non_null(freopen("/dev/null", "w", stderr));
    for (int round = 0; round < 600; round++) {
        char copy[sizeof text];
        memcpy(copy, text, size);
        size_t length = round % 3 ? size : (size_t)(draw(&random) * (double)size);
        for (int change = 0; change < round % 7; change++) {
            size_t at = (size_t)(draw(&random) * (double)size * (round % 2 ? 1 : 0.03));
            copy[at] = words[(size_t)(draw(&random) * (double)(sizeof words - 1))];
        }
        file = fopen("altered.model", "w");
        fwrite(copy, 1, length, file);
        fclose(file);
        struct svm_model *back = svm_load_model("altered.model");
        double value[4000], estimate[128];
        if (back && back->nr_class < 80) {
            svm_predict_values(back, p.row[0], value);
            svm_predict_probability(back, p.row[1], estimate);
            svm_save_model("altered.model", back);
        }
        svm_free_and_destroy_model(&back);
    }
    unlink("altered.model");
    unlink("whole.model");
    svm_free_and_destroy_model(&m);
}

/* ---- parameters and printing ------------------------------------------------------------------*/

static char printed[4096];

static void keep(const char *text)
{
    strncat(printed, text, sizeof printed - strlen(printed) - 1);
}

static void test_printing(void **state)
{
    (void)state;
    problem p;
    make_problem(&p, N, 2, signs);
    struct svm_parameter param = make_parameter(C_SVC, RBF);
    svm_set_print_string_function(keep);
    struct svm_model *m = svm_train(&p.prob, &param);
    assert_non_null(strstr(printed, "optimization finished, #iter = "));
    assert_non_null(strstr(printed, "obj = "));
    assert_non_null(strstr(printed, "rho = "));
    assert_non_null(strstr(printed, "nBSV = "));
    assert_non_null(strstr(printed, "Total nSV = "));
    svm_free_and_destroy_model(&m);
    printed[0] = '\0';
    for (int i = 0; i < N; i++)
        p.y[i] = 4;
    m = svm_train(&p.prob, &param);
    assert_non_null(strstr(printed, "only one class"));
    assert_int_equal(m->nr_class, 1);
    assert_int_equal(m->l, 0);
    check_near(svm_predict(m, p.row[0]), 4, 0);
    svm_free_and_destroy_model(&m);
    svm_set_print_string_function(say_nothing);
}

static void test_parameters(void **state)
{
    (void)state;
    problem p;
    make_problem(&p, N, 4, labels);
    struct svm_parameter good = make_parameter(C_SVC, POLY), bad;
    assert_null(svm_check_parameter(&p.prob, &good));
#define REFUSED(text, change)                                                                      \
    bad = good;                                                                                    \
    change;                                                                                        \
    assert_string_equal(svm_check_parameter(&p.prob, &bad), text)
    REFUSED("unknown svm type", bad.svm_type = 5);
    REFUSED("unknown kernel type", bad.kernel_type = -1);
    REFUSED("gamma < 0", bad.gamma = -1);
    REFUSED("degree of polynomial kernel < 0", bad.degree = -1);
    REFUSED("cache_size <= 0", bad.cache_size = 0);
    REFUSED("eps <= 0", bad.eps = 0);
    REFUSED("C <= 0", bad.C = 0);
    REFUSED("nu <= 0 or nu > 1", (bad.svm_type = NU_SVR, bad.nu = 1.5));
    REFUSED("p < 0", (bad.svm_type = EPSILON_SVR, bad.p = -1));
    REFUSED("shrinking != 0 and shrinking != 1", bad.shrinking = 2);
    REFUSED("probability != 0 and probability != 1", bad.probability = 2);
    for (int i = 0; i < N; i++)
        p.y[i] = i < 10;
    REFUSED("specified nu is infeasible", (bad.svm_type = NU_SVC, bad.nu = 0.21));
    bad.nu = 0.2;
    assert_null(svm_check_parameter(&p.prob, &bad));
    assert_int_equal(libsvm_version, LIBSVM_ABI >= 4 ? 337 : 324);
}

/* The library's own exponential against the C library's, from 1 to what underflows, through a model
 * that is filled by hand; 13 support vectors, so that vectors and what is left of them are used. */
static void test_exponentials(void **state)
{
    (void)state;
    enum { L = 13 };
    struct svm_node sv[L][2], x[] = {{1, 0}, {-1, 0}}, *row[L];
    double coef[L], *coefs[] = {coef}, rho = 0, value;
    struct svm_model m = {.param = make_parameter(EPSILON_SVR, RBF), .nr_class = 2, .l = L};
    m.SV = row;
    m.sv_coef = coefs;
    m.rho = &rho;
    for (int i = 0; i < L; i++) {
        sv[i][0] = (struct svm_node){1, 0.17 * i};
        sv[i][1] = (struct svm_node){-1, 0};
        row[i] = sv[i];
    }
    for (int t = 0; t < 2000; t++) {
        x[0].value = -0.0173 * t;
        for (int i = 0; i < L; i++) {
            double d = x[0].value - sv[i][0].value, wanted = exp(-m.param.gamma * (d * d));
            memset(coef, 0, sizeof coef);
            coef[i] = 1;
            svm_predict_values(&m, x, &value);
            check_near(value, wanted, 1e-15 * wanted + 1e-320);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_classes),   cmocka_unit_test(test_several_classes),
        cmocka_unit_test(test_weights),       cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_numbers),       cmocka_unit_test(test_one_class),
        cmocka_unit_test(test_probabilities), cmocka_unit_test(test_folds),
        cmocka_unit_test(test_precomputed),   cmocka_unit_test(test_indices),
        cmocka_unit_test(test_files),         cmocka_unit_test(test_altered_files),
        cmocka_unit_test(test_printing),      cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_exponentials),
    };
    svm_set_print_string_function(say_nothing);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
