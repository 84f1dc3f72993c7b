/* Support vector machines with features: what is left of limits and solutions from one solver to
 * the next.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "svm_helpers.h"

#include "solve/linear.h"

enum { N = 200, P = 5 };

/* A problem of N objects with P features each, C = 1. */
typedef struct program {
    double lo[N], hi[N], z[N], value[N * P];
    int64_t start[N + 1];
    int32_t index[N * P];
    mcr_factor d;
    mcr_gram *gram;
    mcr_qp qp;
} program;

static void make_program(program *p)
{
    mcr_random r = mcr_random_stream(3, "program", 0);
    for (int64_t i = 0; i < N; i++) {
        for (int32_t k = 0; k < P; k++) {
            p->index[i * P + k] = k;
            p->value[i * P + k] = mcr_random_normal(&r);
        }
        p->start[i + 1] = (i + 1) * P;
        p->z[i] = p->value[i * P] + 0.7 * mcr_random_normal(&r) > 0 ? 1 : -1;
        p->lo[i] = fmin(p->z[i], 0);
        p->hi[i] = fmax(p->z[i], 0);
    }
    p->d = (mcr_factor){.n = N, .p = P, .start = p->start, .index = p->index, .value = p->value};
    p->qp = (mcr_qp){.n = N, .z = p->z, .lo = p->lo, .hi = p->hi};
}

/* Where the first solver is stuck, the second has the steps that are left, and the better solution
 * is kept. */
static void test_second_solver(void **state)
{
    mcr *ctx = *state;
    program *p = calloc(1, sizeof *p);
    double b[N] = {0}, g[N], w[P], sum = 0;
    mcr_qp_result first, r;
    make_program(p);
    test_ok(ctx, mcr_gram_factor(&p->gram, ctx, &p->d));
    p->qp.tolerance = 1e-17;
    test_ok(ctx, mcr_linear_smooth(p->gram, &p->qp, b, g, w, &first));
    assert_int_equal(first.stop, MCR_STOP_STUCK);
    assert_true(first.violation < 1e-6 && first.steps > 1);
    for (int more = 0; more < 3; more++) {
        memset(b, 0, sizeof b);
        p->qp.most_steps = first.steps + more;
        test_ok(ctx, mcr_linear_solve(p->gram, &p->qp, b, g, w, &r));
        assert_int_equal(r.stop, MCR_STOP_STEPS);
        assert_int_equal(r.steps, first.steps + more);
        if (!(r.violation <= first.violation))
            fail_msg("%d more steps: violation %g, before %g", more, r.violation, first.violation);
        mcr_qp_result again = r;
        test_ok(ctx, mcr_linear_evaluate(p->gram, &p->qp, b, g, w, &again));
        assert_true(again.violation == r.violation);
    }
    memset(b, 0, sizeof b);
    p->qp.most_steps = 0;
    test_ok(ctx, mcr_linear_solve(p->gram, &p->qp, b, g, w, &r));
    assert_int_equal(r.stop, MCR_STOP_STUCK);
    assert_true(r.steps > first.steps && r.violation <= first.violation);
    for (int64_t i = 0; i < N; i++) {
        sum += b[i];
        assert_true(b[i] >= p->lo[i] && b[i] <= p->hi[i]);
    }
    test_close_real("sum", sum, 0, 1e-10);
    mcr_gram_close(p->gram);
    free(p);
}

static mcr_status solve_and_free(mcr *ctx, void *arg)
{
    program *p = arg;
    double b[N] = {0}, g[N], w[P];
    mcr_qp_result r;
    mcr_status s = mcr_gram_factor(&p->gram, ctx, &p->d);
    if (!s)
        s = mcr_linear_solve(p->gram, &p->qp, b, g, w, &r);
    mcr_gram_close(p->gram);
    return s;
}

static void test_short_memory(void **state)
{
    (void)state;
    program *p = calloc(1, sizeof *p);
    make_program(p);
    p->qp.tolerance = 1e-17;
    test_sweep_allocations("two solvers", solve_and_free, p);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_second_solver, test_setup, test_teardown),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
