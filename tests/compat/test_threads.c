/* Several threads train, predict, cross-validate, save and load at once, one of them on a model
 * that all share; every result is that of a thread alone. ThreadSanitizer looks on in ./check.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "problems.h"

#include <pthread.h>
#include <unistd.h>

enum { N = 80, THREADS = 4, ROUNDS = 3 };
static const int labels[] = {3, -1, 8, 5};

typedef struct job {
    int number;
    problem *p;
    const struct svm_model *shared;
    const double *value; /* N x 6, of the shared model */
    int wrong;
} job;

static void check_values(job *j, const struct svm_model *m)
{
    for (int i = 0; i < N; i++) {
        double value[6];
        svm_predict_values(m, j->p->row[i], value);
        j->wrong += memcmp(value, j->value + 6 * i, sizeof value) != 0;
    }
}

static void *run(void *arg)
{
    job *j = arg;
    char path[40];
    double target[N];
    struct svm_parameter param = make_parameter(C_SVC, RBF);
    snprintf(path, sizeof path, "abi%d-thread%d.model", LIBSVM_ABI, j->number);
    for (int round = 0; round < ROUNDS; round++) {
        check_values(j, j->shared);
        struct svm_model *m = svm_train(&j->p->prob, &param);
        check_values(j, m);
        svm_set_print_string_function(say_nothing);
        j->wrong += svm_save_model(path, m) != 0;
        svm_free_and_destroy_model(&m);
        m = svm_load_model(path);
        j->wrong += m == NULL ||
                    svm_predict(m, j->p->row[0]) != svm_predict(j->shared, j->p->row[0]);
        svm_free_and_destroy_model(&m);
        svm_cross_validation(&j->p->prob, &param, 3, target);
    }
    unlink(path);
    return NULL;
}

static void test_side_by_side(void **state)
{
    (void)state;
    problem p;
    double value[N * 6];
    make_problem(&p, N, 4, labels);
    struct svm_parameter param = make_parameter(C_SVC, RBF);
    struct svm_model *m = svm_train(&p.prob, &param);
    for (int i = 0; i < N; i++)
        svm_predict_values(m, p.row[i], value + 6 * i);
    pthread_t thread[THREADS];
    job jobs[THREADS];
    for (int t = 0; t < THREADS; t++) {
        jobs[t] = (job){t, &p, m, value, 0};
        assert_int_equal(pthread_create(&thread[t], NULL, run, &jobs[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        assert_int_equal(jobs[t].wrong, 0);
    }
    svm_free_and_destroy_model(&m);
}

/* Predictions of all folds, and the probabilities' coefficients of the first two pairs, by so many
 * threads. */
static void validate(const problem *p, struct svm_parameter param, const char *threads,
                     double *target, double *proba)
{
    setenv("OMP_NUM_THREADS", threads, 1);
    srand(1);
    svm_cross_validation(&p->prob, &param, 5, target);
    param.probability = param.svm_type != ONE_CLASS;
    struct svm_model *m = svm_train(&p->prob, &param);
    memset(proba, 0, 4 * sizeof *proba);
    if (m->probA && m->probB)
        memcpy(proba, (double[]){m->probA[0], m->probB[0], m->probA[1], m->probB[1]},
               4 * sizeof *proba);
    else if (m->probA)
        proba[0] = m->probA[0];
    svm_free_and_destroy_model(&m);
    unsetenv("OMP_NUM_THREADS");
}

/* Folds run side by side where there are enough objects: nothing that they compute may show it. */
static void test_folds_do_not_depend_on_threads(void **state)
{
    (void)state;
    static problem p;
    static const int type[] = {C_SVC, NU_SVC, EPSILON_SVR, NU_SVR, ONE_CLASS};
    double one[MOST], three[MOST], proba[2][4];
    for (size_t t = 0; t < sizeof type / sizeof *type; t++) {
        make_problem(&p, MOST, 4, type[t] <= NU_SVC ? labels : NULL);
        struct svm_parameter param = make_parameter(type[t], RBF);
        validate(&p, param, "1", one, proba[0]);
        validate(&p, param, "3", three, proba[1]);
        assert_memory_equal(one, three, sizeof one);
        assert_memory_equal(proba[0], proba[1], sizeof *proba);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_side_by_side),
                                       cmocka_unit_test(test_folds_do_not_depend_on_threads)};
    svm_set_print_string_function(say_nothing);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
