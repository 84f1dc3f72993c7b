/* test_kernel_rules.c: what the closure rules say of expressions, and that it is true.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel_types.h"

#include <stdio.h>

#include "base/random.h"
#include "kernel/kernel.h"

enum { U = MCR_DEFINITE_UNKNOWN, P = MCR_PSD, N = MCR_NSD, I = MCR_INDEFINITE };

typedef struct rule_case {
    const char *text;
    int verdict;
    const char *lines;
} rule_case;

static const rule_case table[] = {
    {"dot", P, "dot: a kernel by definition, PSD\n"},
    {"odd", U, "odd: no rule is known, unknown\n"},
    {"3", P, "3: a constant that is not negative, PSD\n"},
    {"0", P, NULL},
    {"-1", N, "-1: a negative constant, NSD (not a kernel)\n"},
    {"dot + 2*dot", P,
     "dot: a kernel by definition, PSD\n"
     "2: a constant that is not negative, PSD\n"
     "dot: a kernel by definition, PSD\n"
     "2*dot: product of kernels (Schur), PSD\n"
     "dot + 2*dot: sum of kernels, PSD\n"},
    {"-1*dot", N,
     "-1: a negative constant, NSD (not a kernel)\n"
     "dot: a kernel by definition, PSD\n"
     "-1*dot: product of kernels with a negative part (Schur), NSD (not a kernel)\n"},
    {"-1*-2*dot", P, NULL},
    {"-1*-2*-3*dot", N, NULL},
    {"-1*dot + -2", N, NULL},
    {"dot + -1", U, NULL},
    {"dot + -1*dot", U, NULL},
    {"sigmoid", I, NULL},
    {"2*sigmoid", I, NULL},
    {"0.5*sigmoid*(1 + 1)", I, NULL},
    {"-1*sigmoid", U, NULL},
    {"2*sigmoid*dot", U, NULL},
    {"sigmoid + dot", U, NULL},
    {"odd + dot", U, NULL},
    {"odd*dot", U, NULL},
    {"odd*-1", U, NULL},
    {"odd*0", P, NULL},
    {"0*-1*dot", P, NULL},
    {"dot + 0*odd", P, NULL},
    {"dot^3", P, NULL},
    {"(-1*dot)^2", P, NULL},
    {"(-1*dot)^3", N, NULL},
    {"odd^2", U, NULL},
    {"exp(dot)", P, NULL},
    {"exp(-1*dot)", U, NULL},
    {"exp(odd)", U, NULL},
    {"exp(-1)", P, NULL},
    {"2 + -1", P, NULL},
    {"1 + -2", N, NULL},
    {"-2 + 2*1", P, NULL},
    {"dot*(1 + -2)", N, NULL},
    {"normalize(dot + 1)", P, NULL},
    {"normalize(-1*dot)", U, NULL},
    {"normalize(7)", P, NULL},
    {"normalize(odd*0)", P, NULL},
    {"conformal(dot)", P, NULL},
    {"conformal(odd)", U, NULL},
    {"conformal(-1*dot)", U, NULL},
    {"both(dot, dot)", U, NULL},
    {"precomputed", U, NULL},
    {"dot*letters + 0.5*blob(gamma=1)^2", P, NULL},
};

static void test_verdicts(void **state)
{
    mcr *ctx = *state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        mcr_kernel *k = parsed(ctx, table[i].text);
        mcr_text lines;
        mcr_text_init(&lines, ctx);
        mcr_definite got = mcr_kernel_definite(k, &lines);
        if ((int)got != table[i].verdict || mcr_kernel_definite(k, NULL) != got)
            fail_msg("%s: %d instead of %d", table[i].text, (int)got, table[i].verdict);
        assert_int_equal(lines.status, MCR_OK);
        if (table[i].lines != NULL)
            assert_string_equal(lines.bytes, table[i].lines);
        int64_t count = 0;
        for (const char *c = lines.bytes; *c != '\0'; c++)
            count += *c == '\n';
        assert_int_equal(count, k->nodes);
        mcr_text_free(&lines);
        mcr_kernel_free(k);
    }
}

/* t'Gt has the sign that the rules promise, for random objects and vectors t. */
static void test_truth(void **state)
{
    enum { N_OBJECTS = 12, COLS = 3, TRIES = 50 };
    mcr *ctx = *state;
    mcr_random r = mcr_random_stream(7, "truth", 0);
    double v[N_OBJECTS * COLS], g[N_OBJECTS * N_OBJECTS];
    for (int i = 0; i < N_OBJECTS * COLS; i++)
        v[i] = mcr_random_normal(&r);
    mcr_builder *builder = NULL;
    mcr_data *data = NULL;
    int64_t start[N_OBJECTS + 1];
    for (int i = 0; i <= N_OBJECTS; i++)
        start[i] = i * 2;
    test_ok(ctx, mcr_builder_open(&builder, ctx, N_OBJECTS));
    test_ok(ctx, mcr_builder_dense(builder, "x", v, COLS, COLS));
    test_ok(ctx, mcr_builder_strings(builder, "s", start, "abaccbaabbcdddaabcabdcba"));
    test_ok(ctx, mcr_builder_finish(&data, builder));
    int tested = 0;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].verdict == U || table[i].verdict == I)
            continue;
        mcr_kernel *k = parsed(ctx, table[i].text);
        mcr_binding *b = NULL;
        mcr_scratch *s = NULL;
        test_ok(ctx, mcr_binding_open(&b, ctx, k, data, NULL));
        test_ok(ctx, mcr_binding_prepare(b, true));
        test_ok(ctx, mcr_scratch_open(&s, b));
        mcr_rows all = {NULL, 0, N_OBJECTS};
        mcr_tile tile = {all, all, 1, g, N_OBJECTS, s};
        test_ok(ctx, mcr_binding_block(b, &tile));
        for (int n = 0; n < TRIES; n++) {
            double t[N_OBJECTS], value = 0, size = 0;
            for (int a = 0; a < N_OBJECTS; a++)
                t[a] = mcr_random_normal(&r);
            for (int a = 0; a < N_OBJECTS; a++)
                for (int c = 0; c < N_OBJECTS; c++) {
                    value += t[a] * g[a * N_OBJECTS + c] * t[c];
                    size += fabs(t[a] * g[a * N_OBJECTS + c] * t[c]);
                }
            double sign = table[i].verdict == P ? 1 : -1;
            if (sign * value < -1e-12 * size)
                fail_msg("%s: t'Gt = %g", table[i].text, value);
        }
        tested++;
        mcr_scratch_close(s);
        mcr_binding_close(b);
        mcr_kernel_free(k);
    }
    assert_true(tested > 20);
    mcr_data_free(data);
}

static mcr_status rules_run(mcr *ctx, void *arg)
{
    mcr_kernel *k = NULL;
    mcr_text lines;
    mcr_text_init(&lines, ctx);
    mcr_status status = register_types(ctx);
    if (status == MCR_OK)
        status = mcr_kernel_parse(&k, ctx, arg);
    if (status == MCR_OK) {
        mcr_kernel_definite(k, &lines);
        status = lines.status;
    }
    mcr_text_free(&lines);
    mcr_kernel_free(k);
    forget_types(ctx);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    /* More children than fit the small space. */
    char text[1024] = "dot";
    for (int i = 0; i < 50; i++)
        strcat(text, " + 2*dot");
    assert_true(test_sweep_allocations("rules", rules_run, text) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_verdicts, types_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_truth, types_setup, test_teardown),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests_name("kernel_rules", tests, NULL, NULL);
}
