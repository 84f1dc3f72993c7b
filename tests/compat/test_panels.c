/* Predictions from packed support vectors, which models from files have, against those from the
 * lists of nodes of the same model.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "problems.h"

#include <unistd.h>

enum { ROWS = 150, WIDEST = 400, FIRST = 3 };

/* Rows of `entries` values among `width` columns, two classes or three. */
typedef struct table {
    struct svm_problem prob;
    struct svm_node *row[ROWS];
    struct svm_node node[ROWS][WIDEST + 1];
    double y[ROWS];
} table;

static void make_table(table *t, int width, int entries, int classes)
{
    uint64_t state = 11;
    t->prob = (struct svm_problem){ROWS, t->y, t->row};
    for (int i = 0; i < ROWS; i++) {
        int count = 0;
        for (int k = 0; k < width; k++)
            if (draw(&state) * width < entries)
                t->node[i][count++] = (struct svm_node){k + FIRST, draw(&state) - 0.3 + i % 2};
        t->node[i][count] = (struct svm_node){-1, 0};
        t->row[i] = t->node[i];
        t->y[i] = i % classes;
    }
}

static struct svm_model *train_and_load(const table *t, int type, int kernel)
{
    struct svm_parameter param = make_parameter(type, kernel);
    param.gamma = 0.05;
    struct svm_model *m = svm_train(&t->prob, &param);
    assert_non_null(m);
    assert_int_equal(svm_save_model("panels.model", m), 0);
    svm_free_and_destroy_model(&m);
    m = svm_load_model("panels.model");
    unlink("panels.model");
    assert_non_null(m);
    return m;
}

/* The same model as a caller would build it: nothing but nodes. */
static struct svm_model without_panels(const struct svm_model *m)
{
    struct svm_model plain = *m;
    plain.param.cache_size = 0;
    return plain;
}

static void compare(const struct svm_model *m, const struct svm_model *with,
                    const struct svm_node *x)
{
    double f[3] = {0}, g[3] = {0};
    double a = svm_predict_values(m, x, f), b = svm_predict_values(with, x, g);
    check_near(a, b, m->label ? 0 : 1e-10 * (1 + fabs(b)));
    for (int p = 0; p < 3; p++)
        check_near(f[p], g[p], 1e-10 * (1 + fabs(g[p])));
}

/* Objects of the table (support vectors among them), and others. */
static void compare_all(const struct svm_model *m, const struct svm_model *with, const table *t)
{
    static const struct svm_node empty[] = {{-1, 0}}, outside[] = {{1, 2}, {9999, 0.5}, {-1, 0}},
                                 some[] = {{1, 2}, {4, 0.5}, {5, -1}, {100000, 1}, {-1, 0}},
                                 falling[] = {{5, 1}, {4, 2}, {6, 1}, {-1, 0}},
                                 infinite[] = {{4, 1e200}, {5, 1}, {-1, 0}};
    const struct svm_node *other[] = {empty, outside, some, falling, infinite};
    for (int i = 0; i < ROWS; i++)
        compare(m, with, t->row[i]);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (other[i] != infinite || m->param.kernel_type == RBF)
            compare(m, with, other[i]);
}

static void test_same_values(void **state)
{
    (void)state;
    static const struct {
        int width, entries;
    } shape[] = {{7, 7}, {40, 30}, {40, 12}, {WIDEST, 9}};
    static table t;
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
        for (int kernel = LINEAR; kernel <= SIGMOID; kernel++)
            for (int type = C_SVC; type <= NU_SVR; type += 3) {
                make_table(&t, shape[s].width, shape[s].entries, type == C_SVC ? 3 : 2);
                struct svm_model *m = train_and_load(&t, type, kernel);
                struct svm_model plain = without_panels(m);
                assert_true(m->l >= 32);
                assert_memory_not_equal(&m->param, &plain.param, sizeof m->param);
                compare_all(m, &plain, &t);
                svm_free_and_destroy_model(&m);
            }
}

/* A caller may give the list of support vectors another order, shorten it, or free its parts. */
static void test_taken_apart(void **state)
{
    (void)state;
    static table t;
    make_table(&t, 7, 7, 2);
    struct svm_model *m = train_and_load(&t, EPSILON_SVR, RBF);
    struct svm_model plain = without_panels(m), copy = *m;
    compare_all(&copy, &plain, &t); /* a copy of the struct reads the same nodes */
    struct svm_node *first = m->SV[0], *start = m->SV[0];
    m->SV[0] = m->SV[5];
    m->SV[5] = first;
    compare_all(m, &plain, &t);
    m->l = plain.l = m->l - 1;
    compare_all(m, &plain, &t);
    free(m->sv_coef[0]);
    free(m->sv_coef);
    free(m->rho);
    free(m->SV);
    free(start);
    free(m);
}

int main(void)
{
    svm_set_print_string_function(say_nothing);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_values),
        cmocka_unit_test(test_taken_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
