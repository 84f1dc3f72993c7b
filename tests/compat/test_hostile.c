/* Callers that break the rules: what is missing, empty, not finite or out of order never ends the
 * host program, and what comes back can be used like any other model.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "problems.h"

#include <float.h>
#include <limits.h>
#include <unistd.h>

static const int labels[] = {3, -1, 8, 5};

/* All that a host program may do with a model. */
static void use(struct svm_model *m, const struct svm_node *x)
{
    double value[64] = {0}, estimate[16] = {0};
    int *indices = calloc((size_t)svm_get_nr_sv(m) + 1, sizeof *indices), label[16];
    assert_true(svm_get_nr_class(m) <= 11);
    svm_predict(m, x);
    svm_predict_values(m, x, value);
    svm_predict_probability(m, x, estimate);
    svm_get_labels(m, label);
    svm_get_sv_indices(m, indices);
    svm_check_probability_model(m);
    free(indices);
    if (svm_save_model("hostile.model", m) == 0) {
        struct svm_model *back = svm_load_model("hostile.model");
        svm_predict(back, x);
        svm_free_and_destroy_model(&back);
    }
}

static void train_and_use(const struct svm_problem *prob, const struct svm_parameter *param,
                          const struct svm_node *x)
{
    double target[MOST];
    svm_check_parameter(prob, param);
    struct svm_model *m = svm_train(prob, param);
    assert_non_null(m);
    use(m, x);
    svm_free_and_destroy_model(&m);
    svm_cross_validation(prob, param, 3, target);
}

static void test_nothing(void **state)
{
    (void)state;
    problem p;
    make_problem(&p, 20, 2, labels);
    struct svm_parameter param = make_parameter(C_SVC, RBF), nu = make_parameter(NU_SVC, RBF);
    struct svm_problem no_rows = {20, p.y, NULL}, no_targets = {20, NULL, p.row},
                       below = {-1, p.y, p.row};
    struct svm_model *none = NULL;
    double target[20];
    assert_null(svm_train(NULL, &param));
    assert_null(svm_train(&p.prob, NULL));
    assert_null(svm_train(&no_rows, &param));
    assert_null(svm_train(&no_targets, &param));
    assert_null(svm_train(&below, &param));
    svm_cross_validation(NULL, &param, 5, target);
    svm_cross_validation(&p.prob, &param, 0, target);
    svm_cross_validation(&p.prob, &param, -3, target);
    svm_cross_validation(&p.prob, &param, 5, NULL);
    assert_non_null(svm_check_parameter(&p.prob, NULL));
    assert_non_null(svm_check_parameter(NULL, &nu));
    assert_null(svm_check_parameter(NULL, &param));
    svm_free_model_content(NULL);
    svm_free_and_destroy_model(NULL);
    svm_free_and_destroy_model(&none);
    svm_destroy_param(NULL);
    assert_int_equal(svm_save_model("x", NULL), -1);
    assert_int_equal(svm_save_model(NULL, none), -1);
    assert_null(svm_load_model(NULL));
    use(NULL, p.row[0]);
    check_near(svm_get_svr_probability(NULL), 0, 0);
    struct svm_model *m = svm_train(&p.prob, &param);
    svm_predict(m, NULL);
    svm_get_labels(m, NULL);
    svm_get_sv_indices(m, NULL);
    svm_predict_values(m, p.row[0], NULL);
    svm_predict_probability(m, p.row[0], NULL);
    svm_free_and_destroy_model(&m);
}

static void test_few_objects(void **state)
{
    (void)state;
    problem p;
    for (int type = C_SVC; type <= NU_SVR; type++)
        for (int kernel = LINEAR; kernel <= SIGMOID; kernel++)
            for (int n = 0; n < 8; n++)
                for (int probability = 0; probability < 2; probability++) {
                    make_problem(&p, n, n % 3 + 1, labels);
                    struct svm_parameter param = make_parameter(type, kernel);
                    param.probability = probability;
                    train_and_use(&p.prob, &param, p.node[0]);
                }
    /* Objects without any entry. */
    make_problem(&p, 20, 2, labels);
    for (int i = 0; i < 20; i++)
        p.node[i][0].index = -1;
    for (int type = C_SVC; type <= NU_SVR; type++) {
        struct svm_parameter param = make_parameter(type, RBF);
        train_and_use(&p.prob, &param, p.row[0]);
    }
}

/* |x - z|^2 of lists whose indices need not rise, merged as LIBSVM merges them. */
static double merged_distance(const struct svm_node *x, const struct svm_node *z)
{
    double sum = 0;
    while (x->index != -1 || z->index != -1) {
        double d;
        if (x->index == z->index)
            d = x++->value - z++->value;
        else if (z->index == -1 || (x->index != -1 && x->index < z->index))
            d = x++->value;
        else
            d = z++->value;
        sum += d * d;
    }
    return sum;
}

/* Indices that fall or repeat: trained and predicted on LIBSVM's own values of the kernel. */
static void test_order_of_indices(void **state)
{
    (void)state;
    problem p;
    make_problem(&p, 40, 2, labels);
    struct svm_parameter param = make_parameter(C_SVC, RBF);
    for (int i = 0; i < 40; i += 3) {
        struct svm_node first = p.node[i][0];
        p.node[i][0] = p.node[i][2];
        p.node[i][2] = first;
    }
    p.node[1][2].index = p.node[1][1].index;
    struct svm_model *m = svm_train(&p.prob, &param);
    assert_non_null(m);
    assert_true(m->l > 1);
    for (int i = 0; i < 40; i++) {
        double value, wanted = -m->rho[0];
        for (int t = 0; t < m->l; t++)
            wanted += m->sv_coef[0][t] * exp(-param.gamma * merged_distance(p.row[i], m->SV[t]));
        svm_predict_values(m, p.row[i], &value);
        check_near(value, wanted, 1e-12);
    }
    svm_free_and_destroy_model(&m);
}

/* NAN makes a model that decides for the last class, as in LIBSVM. */
static void test_not_finite(void **state)
{
    (void)state;
    problem p;
    for (int type = C_SVC; type <= NU_SVR; type++)
        for (int what = 0; what < 4; what++) {
            make_problem(&p, 40, 2, labels);
            struct svm_parameter param = make_parameter(type, RBF);
            if (what < 2)
                p.node[5][1].value = what ? INFINITY : NAN;
            else if (what == 2)
                p.y[3] = NAN;
            else
                param.gamma = NAN;
            struct svm_model *m = svm_train(&p.prob, &param);
            assert_non_null(m);
            if (type <= NU_SVC && what != 2) {
                assert_int_equal(m->l, 0);
                assert_true(isnan(m->rho[0]));
                check_near(svm_predict(m, p.row[0]), m->label[1], 0);
            }
            svm_free_and_destroy_model(&m);
            train_and_use(&p.prob, &param, p.row[5]);
        }
}

static void test_rows_of_a_matrix(void **state)
{
    (void)state;
    enum { N = 12 };
    struct svm_node node[N][N + 2], *row[N];
    double y[N];
    struct svm_problem prob = {N, y, row};
    for (int fault = 0; fault < 5; fault++) {
        for (int i = 0; i < N; i++) {
            y[i] = i % 2;
            row[i] = node[i];
            node[i][0] = (struct svm_node){0, i + 1};
            for (int j = 0; j < N; j++)
                node[i][j + 1] = (struct svm_node){j + 1, i == j};
            node[i][N + 1].index = -1;
        }
        double broken[] = {1, 0, -4, 1e10, NAN};
        node[3][0].value = fault == 1 ? N + 5 : broken[fault]; /* 0: two objects have one number */
        for (int type = C_SVC; type <= NU_SVR; type++) {
            struct svm_parameter param = make_parameter(type, PRECOMPUTED);
            train_and_use(&prob, &param, row[1]);
        }
    }
    node[4][3].index = -1; /* a row that ends early */
    struct svm_parameter param = make_parameter(C_SVC, PRECOMPUTED);
    train_and_use(&prob, &param, row[4]);
}

/* Anything at all, by chance. */
static double odd(uint64_t *random)
{
    static const double values[] = {0,     -0.0, 1,       -1,   1e-300, 1e300, -1e300,
                                    1e-12, 0.5,  DBL_MAX, 1e10, 2,      NAN,   INFINITY};
    size_t count = sizeof values / sizeof *values;
    return values[(size_t)(draw(random) * (double)count)];
}

static void break_problem(problem *p, uint64_t *random)
{
    int n = p->prob.l;
    for (int change = (int)(draw(random) * 4); change > 0 && n > 0; change--) {
        int i = (int)(draw(random) * n), k = (int)(draw(random) * COLS);
        switch ((int)(draw(random) * 7)) {
        case 0: p->node[i][k].value = odd(random); break;
        case 1: p->node[i][k].index = (int)(draw(random) * 9) - 4; break;
        case 2: p->node[i][k].index = draw(random) < 0.5 ? INT_MAX : INT_MIN; break;
        case 3: p->y[i] = odd(random); break;
        case 4: p->row[i] = draw(random) < 0.3 ? NULL : p->row[n - 1]; break;
        case 5: p->node[i][0].index = -1; break;
        default: memcpy(p->node[i], p->node[0], sizeof p->node[i]);
        }
    }
}

static struct svm_parameter odd_parameter(uint64_t *random)
{
    int type = (int)(draw(random) * 5), kernel = (int)(draw(random) * 4);
    struct svm_parameter param = make_parameter(type, kernel);
    double *number[] = {&param.gamma, &param.coef0, &param.cache_size, &param.eps,
                        &param.C,     &param.nu,    &param.p};
    for (int change = (int)(draw(random) * 3); change > 0; change--)
        *number[(size_t)(draw(random) * 7)] = odd(random);
    if (draw(random) < 0.2)
        param.degree = (int)(draw(random) * 7) - 2;
    if (draw(random) < 0.05)
        param.svm_type = (int)(draw(random) * 20) - 9;
    if (draw(random) < 0.05)
        param.kernel_type = 7;
    param.probability = draw(random) < 0.2;
    if (draw(random) < 0.1)
        param.nr_weight = 3; /* and no weights */
    return param;
}

static void test_random(void **state)
{
    (void)state;
    const char *given = getenv("COMPAT_ROUNDS");
    int rounds = given ? atoi(given) : 300;
    uint64_t random = 11;
    for (int round = 0; round < rounds; round++) {
        problem p;
        make_problem(&p, (int)(draw(&random) * 30), (int)(draw(&random) * 4) + 1, labels);
        break_problem(&p, &random);
        struct svm_parameter param = odd_parameter(&random);
        train_and_use(&p.prob, &param, p.prob.l > 0 ? p.row[0] : NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),          cmocka_unit_test(test_order_of_indices),
        cmocka_unit_test(test_few_objects),      cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_rows_of_a_matrix), cmocka_unit_test(test_random),
    };
    svm_set_print_string_function(say_nothing);
    if (!freopen("/dev/null", "w", stderr))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink("hostile.model");
    return failed;
}
