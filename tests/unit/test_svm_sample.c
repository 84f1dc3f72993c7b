/* A classification of many objects goes on with a sample and sets objects beyond the margin aside:
 * the same optimum, checked in the obvious way, for any number of threads and with little memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "svm_helpers.h"

#include "gram/gram.h"
#include "solve/smo.h"

enum { MANY = 20000 };

static const char rbf[] = "rbf(gamma=2)";

typedef struct outcome {
    int64_t n;
    double *lo, *hi, *b, *g;
    mcr_qp_result result;
} outcome;

static outcome solve(int threads, size_t memory, const problem *made, double C, bool no_sum)
{
    size_t n = (size_t)made->n;
    outcome s = {made->n,
                 calloc(n, sizeof *s.lo),
                 calloc(n, sizeof *s.hi),
                 calloc(n, sizeof *s.b),
                 calloc(n, sizeof *s.g),
                 {0}};
    mcr *ctx = NULL;
    mcr_config config = {.size = sizeof config, .threads = threads, .memory_bytes = memory};
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    problem p = *made;
    problem_build(&p, ctx, false);
    mcr_kernel *k;
    mcr_gram *gram;
    test_ok(ctx, mcr_kernel_parse(&k, ctx, rbf));
    test_ok(ctx, mcr_gram_open(&gram, ctx, k, p.data, NULL));
    for (size_t i = 0; i < n; i++) {
        s.lo[i] = p.y[i] > 0 ? 0 : -C;
        s.hi[i] = p.y[i] > 0 ? C : 0;
    }
    mcr_qp qp = {.n = p.n, .z = p.y, .lo = s.lo, .hi = s.hi, .tolerance = 1e-3, .no_sum = no_sum};
    test_ok(ctx, mcr_qp_solve(gram, &qp, s.b, s.g, &s.result));
    assert_int_equal(s.result.stop, MCR_STOP_OPTIMAL);
    assert_true(s.result.violation <= 1e-3);
    mcr_gram_close(gram);
    mcr_kernel_free(k);
    mcr_data_free(p.data);
    mcr_close(ctx);
    return s;
}

static void outcome_free(outcome *s)
{
    free(s->lo);
    free(s->hi);
    free(s->b);
    free(s->g);
}

/* The conditions, from the distances of all objects to the support vectors. */
static void check_optimal(const outcome *s, const problem *p, bool no_sum)
{
    solution of = {s->n, s->b, calloc((size_t)s->n, sizeof(double)), 0};
    for (int64_t j = 0; j < s->n; j++)
        for (int64_t i = 0; s->b[j] != 0 && i < s->n; i++) {
            double square = 0;
            for (int64_t t = 0; t < p->d; t++) {
                double step = p->x[i * p->d + t] - p->x[j * p->d + t];
                square += step * step;
            }
            of.g[i] += s->b[j] * exp(-2 * square);
        }
    check_feasible(&of, s->lo, s->hi, 0, !no_sum);
    double found = violation_of(&of, p->y, s->lo, s->hi, 0, !no_sum, NULL, 0);
    assert_true(fabs(found - s->result.violation) <= 1e-8);
    for (int64_t i = 0; i < s->n; i++) /* of objects that do not matter it is that of floats */
        assert_true(fabs(of.g[i] - s->g[i]) <= 1e-3);
    free(of.g);
}

/* Points in three dimensions and two classes with a curved boundary, `noise` of them by chance:
 * with large C most coefficients are free. The data are built later. */
static problem waves(double noise, uint64_t seed)
{
    problem p = problem_points(MANY, 3, 0, seed);
    mcr_random r = mcr_random_stream(seed, "labels", 0);
    for (int64_t i = 0; i < p.n; i++) {
        const double *x = p.x + 3 * i;
        p.y[i] = sin(3 * x[0]) + sin(3 * x[1]) + sin(3 * x[2]) > 0 ? 1 : -1;
        if (mcr_random_uniform(&r) < noise)
            p.y[i] = -p.y[i];
    }
    return p;
}

static void test_threads(void **state)
{
    (void)state;
    problem p = waves(0, 3);
    for (int no_sum = 0; no_sum < 2; no_sum++) {
        outcome first = solve(1, 0, &p, 100, no_sum);
        check_optimal(&first, &p, no_sum);
        for (int threads = 2; threads <= 3; threads++) {
            outcome other = solve(threads, 0, &p, 100, no_sum);
            assert_memory_equal(first.b, other.b, sizeof *first.b * (size_t)p.n);
            assert_true(first.result.violation == other.result.violation);
            outcome_free(&other);
        }
        outcome_free(&first);
    }
    problem_free(&p);
}

/* Only a quarter of a million kernel values fit. */
static void test_little_memory(void **state)
{
    (void)state;
    problem p = waves(0, 4);
    outcome much = solve(2, 0, &p, 100, false), little = solve(2, 3 << 20, &p, 100, false);
    check_optimal(&little, &p, false);
    assert_true(fabs(much.result.violation - little.result.violation) < 1e-3);
    outcome_free(&much);
    outcome_free(&little);
    problem_free(&p);
}

/* Whether the sample leaves the object out. */
static bool is_left_out(int64_t i)
{
    return (uint64_t)i * 0x9e3779b97f4a7c15u >> 61 != 0;
}

/* A distant group of both classes, of which the sample has nothing. */
static void test_distant_group(void **state)
{
    (void)state;
    problem p = waves(0, 5);
    int64_t distant = 0;
    for (int64_t i = 3 * MANY / 4; i < p.n; i++)
        if (i % 101 == 7 && is_left_out(i)) {
            p.x[3 * i] += 9;
            p.y[i] = distant++ % 2 ? 1 : -1;
        }
    assert_in_range(distant, 20, 60);
    outcome s = solve(2, 0, &p, 100, false);
    check_optimal(&s, &p, false);
    outcome_free(&s);
    problem_free(&p);
}

/* Most coefficients are at their bounds, or few are not 0: there is no sample. */
static void test_without(void **state)
{
    (void)state;
    for (int easy = 0; easy < 2; easy++) {
        problem p = waves(easy ? 0 : 0.1, 6);
        for (int64_t i = 0; i < p.n; i++)
            p.y[i] = easy ? p.x[3 * i] > 0 ? 1 : -1 : p.y[i];
        outcome s = solve(2, 0, &p, 1, false);
        check_optimal(&s, &p, false);
        outcome_free(&s);
        problem_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_distant_group),
        cmocka_unit_test(test_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
