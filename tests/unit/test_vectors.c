/* test_vectors.c: how vectors are packed and run: forms, budget, sums, batches, threads. The values
 * themselves are tested in test_kernel_vectors.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "vector_helpers.h"

#include <math.h>

#include "base/threads.h"
#include "kernel/vectors_impl.h"

static const char *const leaves[] = {
    "linear",
    "poly(c=1)",
    "rbf(gamma=0.3)",
    "matern(nu=0.5)",
    "cosine",
    "rq",
    "laplace",
    "chi2",
    "intersection",
    "sigmoid(a=0.1)",
    "periodic(period=3)",
    "mahalanobis(diag=2)",
};
enum { LEAVES = sizeof leaves / sizeof *leaves };

typedef enum made { DENSE, SPARSE, WIDE, FAR, MADE } made;

static plain make(made form, int64_t n, uint64_t seed)
{
    switch (form) {
    case SPARSE: return plain_random(n, 33, 0.2, 0, 1, false, seed);
    case WIDE: return plain_random(n, 1500, 0.004, 0, 1, false, seed);
    case FAR: return plain_random(n, 4, 1, 1e4, 1e-2, false, seed);
    default: return plain_random(n, 9, 1, 0, 1, false, seed);
    }
}

static mcr *open_with(int threads, size_t bytes)
{
    mcr_config config = {.size = sizeof config, .threads = threads, .memory_bytes = bytes};
    mcr *ctx;
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    return ctx;
}

/* ---- forms ------------------------------------------------------------------------------------*/

static void forms_are_chosen_by_content(void **state)
{
    mcr *ctx = *state;
    const struct {
        made form;
        bool stored_sparse, sparse_rows, wide, shifted;
    } cases[] = {
        {DENSE, false, false, false, true}, {DENSE, true, false, false, true},
        {SPARSE, true, true, false, false}, {SPARSE, false, true, false, false},
        {WIDE, true, true, true, false},    {WIDE, false, true, false, false},
        {FAR, true, false, false, true},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        plain p = make(cases[c].form, 300, 1);
        mcr_data *x = data_as(ctx, &p, cases[c].stored_sparse);
        bound_kernel b = bind_kernel(ctx, "rbf(gamma=0.1)", x, NULL);
        const mcr_vectors *v = b.binding->vectors;
        assert_null(v->next);
        assert_int_equal(v->sparse_rows[0], cases[c].sparse_rows);
        assert_int_equal(v->wide, cases[c].wide);
        assert_int_equal(v->shift != NULL, cases[c].shifted);
        assert_int_equal(v->panels[0].values != NULL, !cases[c].wide);
        assert_int_equal(v->panels[1].values != NULL, !cases[c].wide);
        unbind_kernel(&b);
        mcr_data_free(x);
        free(p.x);
    }
}

/* Leaves of one field share the vectors and their products. */
static void leaves_share_what_they_can(void **state)
{
    mcr *ctx = *state;
    const struct {
        const char *text;
        int objects, slots;
    } cases[] = {
        {"rbf(gamma=1)", 1, 0},
        {"linear + poly", 1, 1},
        {"rbf(gamma=1) + rbf(gamma=2)*matern", 1, 1},
        {"rbf(gamma=1) + linear", 1, 1},
        {"rbf(gamma=1) + linear + rq", 1, 2},
        {"rbf(gamma=[1, 2, 3, 4, 5, 6, 7, 8, 9]) + linear", 2, 0},
        {"laplace + chi2 + intersection + linear", 3, 0},
        {"mahalanobis(diag=1) + linear", 2, 0},
    };
    plain p = make(DENSE, 50, 1);
    mcr_data *x = data_dense(ctx, &p);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        bound_kernel b = bind_kernel(ctx, cases[c].text, x, NULL);
        int objects = 0;
        for (const mcr_vectors *v = b.binding->vectors; v; v = v->next)
            objects++;
        assert_int_equal(objects, cases[c].objects);
        assert_int_equal(b.binding->shared_slots, cases[c].slots);
        unbind_kernel(&b);
    }
    mcr_data_free(x);
    free(p.x);
}

/* Without space in the budget nothing is packed ahead, and nothing else changes. */
static void budget_changes_no_bit(void **state)
{
    (void)state;
    mcr *ctx[2] = {open_with(2, 0), open_with(2, 4096)};
    for (made form = 0; form < MADE; form++)
        for (int l = 0; l < LEAVES; l++) {
            plain p = make(form, 150, 2), q = make(form, 211, 3);
            double *k[2];
            for (int c = 0; c < 2; c++) {
                k[c] = calloc((size_t)(p.n * q.n), sizeof **k);
                if (c == 1 && strncmp(leaves[l], "periodic", 8) == 0)
                    continue;
                mcr_data *x = data_as(ctx[c], &p, form == WIDE || form == SPARSE);
                mcr_data *z = data_as(ctx[c], &q, form == WIDE || form == SPARSE);
                bound_kernel b = bind_kernel(ctx[c], leaves[l], x, z);
                const mcr_vectors *v = b.binding->vectors;
                if (c == 1)
                    assert_null(v->panels[1].values);
                else if (!v->wide)
                    assert_non_null(v->panels[1].values);
                block(&b, range(0, p.n), range(0, q.n), true, k[c]);
                unbind_kernel(&b);
                mcr_data_free(x);
                mcr_data_free(z);
            }
            if (strncmp(leaves[l], "periodic", 8) != 0)
                assert_memory_equal(k[0], k[1], (size_t)(p.n * q.n) * sizeof **k);
            free(k[0]);
            free(k[1]);
            free(p.x);
            free(q.x);
        }
    mcr_close(ctx[0]);
    mcr_close(ctx[1]);
}

static void budget_is_given_back(void **state)
{
    mcr *ctx = *state;
    size_t before = mcr_budget_left(ctx);
    plain p = make(DENSE, 400, 1);
    mcr_data *x = data_dense(ctx, &p);
    bound_kernel b = bind_kernel(ctx, "rbf(gamma=1) + periodic", x, NULL);
    assert_true(mcr_budget_left(ctx) < before);
    unbind_kernel(&b);
    assert_int_equal(mcr_budget_left(ctx), before);
    mcr_data_free(x);
    free(p.x);
}

/* Views take rows through a map. */
static void views_are_as_good_as_copies(void **state)
{
    mcr *ctx = *state;
    int64_t chosen[77];
    for (int64_t i = 0; i < 77; i++)
        chosen[i] = (i * 31 + 5) % 200;
    for (made form = 0; form < MADE; form++)
        for (int l = 0; l < LEAVES; l++) {
            plain p = make(form, 200, 4);
            mcr_data *x = data_as(ctx, &p, form == WIDE || form == SPARSE), *view;
            test_ok(ctx, mcr_data_select(&view, x, listed(chosen, 77)));
            bound_kernel a = bind_kernel(ctx, leaves[l], view, x),
                         b = bind_kernel(ctx, leaves[l], x, view);
            double *ka = calloc(77 * 200, sizeof *ka), *kb = calloc(77 * 200, sizeof *kb);
            block(&a, range(0, 77), range(0, 200), true, ka);
            block(&b, listed(chosen, 77), range(0, 77), true, kb);
            for (int64_t i = 0; i < 77; i++)
                for (int64_t j = 0; j < 77; j++)
                    test_close_real(leaves[l], ka[i * 200 + chosen[j]], kb[i * 77 + j],
                                    1e-12 * fmax(1, fabs(kb[i * 77 + j])));
            free(ka);
            free(kb);
            unbind_kernel(&a);
            unbind_kernel(&b);
            mcr_data_free(view);
            mcr_data_free(x);
            free(p.x);
        }
}

/* ---- sums -------------------------------------------------------------------------------------*/

static void *aligned(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    memset(p, 0, (bytes + 63) / 64 * 64);
    return p;
}

static double *some_coefficients(int64_t count)
{
    double *c = calloc((size_t)count, sizeof *c);
    mcr_random r = mcr_random_stream(9, "coef", 0);
    for (int64_t i = 0; i < count; i++)
        c[i] = mcr_random_normal(&r);
    return c;
}

/* f += coef' K in the order of the rows, from stored values. */
static void sums_by_hand(double *f, const double *k, const double *coef, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        const void *row = k + i * cols;
        mcr_tiles_best()->f64->update(f, &row, coef + i, 1, 0, cols);
    }
}

/* ---- batches ----------------------------------------------------------------------------------*/

typedef struct batch_case {
    bound_kernel *b;
    mcr_vectors_batch *batch;
    mcr_scratch **scratch;
    int64_t n, chunk;
    mcr_vectors_job job;
} batch_case;

static mcr_status batch_chunk(void *arg, int64_t item, int worker)
{
    const batch_case *c = arg;
    mcr_vectors_job job = c->job;
    job.first = job.before = item * c->chunk;
    job.count = c->n - job.first < c->chunk ? c->n - job.first : c->chunk;
    job.scratch = c->scratch[worker];
    return mcr_vectors_run(c->batch, &job);
}

/* All rows of the batch against all columns, shared out in chunks. */
static void run_batch(batch_case *c, mcr_rows rows)
{
    mcr *ctx = c->b->ctx;
    int workers = mcr_workers(ctx);
    c->scratch = calloc((size_t)workers, sizeof *c->scratch);
    for (int w = 0; w < workers; w++)
        test_ok(ctx, mcr_scratch_open(&c->scratch[w], c->b->binding));
    test_ok(ctx, mcr_vectors_batch_fill(c->batch, rows));
    test_ok(ctx, mcr_parallel(ctx, mcr_parts(c->n, c->chunk), batch_chunk, c));
    for (int w = 0; w < workers; w++)
        mcr_scratch_close(c->scratch[w]);
    free(c->scratch);
}

static void check_batch(mcr *ctx, const char *text, made form, bool precise, int64_t chunk)
{
    enum { OUTPUTS = 3 };
    int64_t rows[500], n = 333, ld = 384, counts[] = {500, 1, 0, 219};
    for (int64_t i = 0; i < 500; i++)
        rows[i] = (i * 19) % 300;
    plain p = make(form, 300, 6), q = make(form, n, 7);
    mcr_data *x = data_as(ctx, &p, form == WIDE || form == SPARSE);
    mcr_data *z = data_as(ctx, &q, form == WIDE || form == SPARSE);
    bound_kernel b = bind_kernel(ctx, text, x, z);
    size_t real = precise ? sizeof(double) : sizeof(float);
    double *k = calloc((size_t)(500 * n), sizeof *k), *coef = some_coefficients(OUTPUTS * 500);
    double *f = calloc((size_t)(OUTPUTS * ld), sizeof *f);
    double *want = calloc((size_t)(OUTPUTS * ld), sizeof *want);
    char *kept = aligned((size_t)(500 * ld) * real);
    void *row[500];
    for (int64_t i = 0; i < 500; i++)
        row[i] = kept + (size_t)(i * ld) * real;
    batch_case c = {.b = &b, .n = n, .chunk = chunk};
    test_ok(ctx, mcr_vectors_batch_open(&c.batch, b.binding->root->fused, precise));
    for (size_t t = 0; t < 4; t++) {
        int64_t m = counts[t];
        block(&b, listed(rows, m), range(0, n), precise, k);
        memset(f, 0, (size_t)(OUTPUTS * ld) * sizeof *f);
        memset(want, 0, (size_t)(OUTPUTS * ld) * sizeof *want);
        for (int o = 0; o < OUTPUTS; o++)
            sums_by_hand(want + o * ld, k, coef + o * 500, m, n);
        c.job = (mcr_vectors_job){.row = t % 2 ? NULL : row,
                                  .stream = t == 0,
                                  .coef = coef,
                                  .f = f,
                                  .outputs = OUTPUTS,
                                  .coef_ld = 500,
                                  .f_ld = ld};
        run_batch(&c, listed(rows, m));
        assert_memory_equal(f, want, (size_t)(OUTPUTS * ld) * sizeof *f);
        for (int64_t i = 0; i < m && t % 2 == 0; i++)
            for (int64_t j = 0; j < n; j++)
                assert_true(k[i * n + j] ==
                            (precise ? ((double *)row[i])[j] : (double)((float *)row[i])[j]));
    }
    mcr_vectors_batch_close(c.batch);
    free(k);
    free(coef);
    free(f);
    free(want);
    free(kept);
    unbind_kernel(&b);
    mcr_data_free(x);
    mcr_data_free(z);
    free(p.x);
    free(q.x);
}

static void batches_give_the_same_bits(void **state)
{
    for (made form = 0; form < MADE; form++)
        for (int l = 0; l < LEAVES; l++) {
            check_batch(*state, leaves[l], form, false, 64);
            check_batch(*state, leaves[l], form, true, 128);
        }
    check_batch(*state, "rbf(gamma=0.3)", DENSE, false, 37); /* not at the start of a panel */
    check_batch(*state, "rbf(gamma=0.3)", WIDE, true, 32);
}

static void blocks_of_a_batch_start_at_their_first_column(void **state)
{
    mcr *ctx = *state;
    plain p = make(DENSE, 100, 8);
    mcr_data *x = data_dense(ctx, &p);
    bound_kernel b = bind_kernel(ctx, "rbf(gamma=0.3)", x, NULL);
    double k[100 * 50], want[100 * 50];
    mcr_vectors_batch *batch;
    test_ok(ctx, mcr_vectors_batch_open(&batch, b.binding->root->fused, true));
    test_ok(ctx, mcr_vectors_batch_fill(batch, range(0, 100)));
    mcr_vectors_job job = {.first = 32, .count = 50, .k = k, .ld = 50, .scratch = b.scratch};
    test_ok(ctx, mcr_vectors_run(batch, &job));
    block(&b, range(0, 100), range(32, 50), true, want);
    assert_memory_equal(k, want, sizeof k);
    mcr_vectors_batch_close(batch);
    unbind_kernel(&b);
    mcr_data_free(x);
    free(p.x);
}

/* Parts of a batch, as the tiles of a symmetric matrix take them. */
static void parts_of_a_batch_are_as_good(void **state)
{
    mcr *ctx = *state;
    static const char *const texts[] = {"rbf(gamma=0.3)", "cosine", "laplace"};
    for (made form = 0; form < MADE; form++)
        for (size_t t = 0; t < 3; t++) {
            plain p = make(form, 500, 8);
            mcr_data *x = data_as(ctx, &p, form == WIDE || form == SPARSE);
            bound_kernel b = bind_kernel(ctx, texts[t], x, NULL);
            double *all = calloc(500 * 500, sizeof *all), *k = calloc(500 * 96, sizeof *k);
            mcr_vectors_batch *batch;
            block(&b, range(0, 500), range(0, 500), true, all);
            test_ok(ctx, mcr_vectors_batch_open(&batch, b.binding->root->fused, true));
            test_ok(ctx, mcr_vectors_batch_fill(batch, range(0, 500)));
            const int64_t first[] = {0, 192, 384, 192}, count[] = {192, 100, 0, 308};
            for (int c = 0; c < 4; c++) {
                mcr_vectors_job job = {.first = 64,
                                       .count = 96,
                                       .row_first = first[c],
                                       .rows = count[c],
                                       .k = k,
                                       .ld = 96,
                                       .scratch = b.scratch};
                test_ok(ctx, mcr_vectors_run(batch, &job));
                int64_t rows = count[c] ? count[c] : 500 - first[c];
                for (int64_t i = 0; i < rows; i++)
                    assert_memory_equal(k + i * 96, all + (first[c] + i) * 500 + 64,
                                        96 * sizeof *k);
            }
            mcr_vectors_batch_close(batch);
            free(all);
            free(k);
            unbind_kernel(&b);
            mcr_data_free(x);
            free(p.x);
        }
}

/* Where some pairs must be computed again, the others keep their bits: neither neighbours in a
 * block nor the side make a difference. */
static void corrections_touch_no_other_value(void **state)
{
    mcr *ctx = *state;
    for (int precise = 0; precise < 2; precise++) {
        plain p = plain_random(400, 3, 1, 0, 1, true, 15);
        for (int64_t i = 0; i < 40; i++) /* the last ones: a far cluster */
            for (int64_t k = 0; k < 3; k++)
                p.x[(360 + i) * 3 + k] = 1e5 + 1e-3 * p.x[i * 3 + k];
        mcr_data *x = data_dense(ctx, &p);
        bound_kernel b = bind_kernel(ctx, "rbf(gamma=2)", x, NULL);
        double *all = calloc(400 * 400, sizeof *all), *part = calloc(400 * 64, sizeof *part);
        block(&b, range(0, 400), range(0, 400), precise, all);
        for (int64_t i = 0; i < 400; i++)
            for (int64_t j = 0; j < i; j++)
                assert_true(all[i * 400 + j] == all[j * 400 + i]);
        for (int64_t i = 0; i < 336; i += 56) {
            block(&b, range(i, 64), range(0, 350), precise, part);
            for (int64_t r = 0; r < 64; r++)
                assert_memory_equal(part + r * 350, all + (i + r) * 400, 350 * sizeof *part);
        }
        free(all);
        free(part);
        unbind_kernel(&b);
        mcr_data_free(x);
        free(p.x);
    }
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    for (made form = 0; form < MADE; form++)
        for (int l = 0; l < LEAVES; l++) {
            double *k[2];
            for (int t = 0; t < 2; t++) {
                mcr *ctx = open_with(1 + 2 * t, 0);
                plain p = make(form, 600, 9);
                mcr_data *x = data_as(ctx, &p, form == WIDE || form == SPARSE);
                bound_kernel b = bind_kernel(ctx, leaves[l], x, NULL);
                k[t] = calloc(100 * 600, sizeof **k);
                block(&b, range(200, 100), range(0, 600), true, k[t]);
                unbind_kernel(&b);
                mcr_data_free(x);
                mcr_close(ctx);
                free(p.x);
            }
            assert_memory_equal(k[0], k[1], 100 * 600 * sizeof **k);
            free(k[0]);
            free(k[1]);
        }
}

static mcr_status sweep_batch(mcr *ctx, void *arg)
{
    made form = *(made *)arg;
    plain p = make(form, 60, 10);
    mcr_builder *builder = NULL;
    mcr_data *x = NULL;
    mcr_kernel *k = NULL;
    mcr_binding *b = NULL;
    mcr_scratch *scratch = NULL;
    mcr_vectors_batch *batch = NULL;
    double f[60] = {0}, coef[60] = {0};
    mcr_status s = mcr_builder_open(&builder, ctx, p.n);
    if (!s)
        s = mcr_builder_dense(builder, "x", p.x, p.d, p.d);
    if (!s)
        s = mcr_builder_finish(&x, builder);
    else
        mcr_builder_close(builder);
    if (!s)
        s = mcr_kernel_parse(&k, ctx, "rbf(gamma=1)");
    if (!s)
        s = mcr_binding_open(&b, ctx, k, x, NULL);
    if (!s)
        s = mcr_binding_prepare(b, false);
    if (!s)
        s = mcr_scratch_open(&scratch, b);
    if (!s)
        s = mcr_vectors_batch_open(&batch, b->root->fused, false);
    if (!s)
        s = mcr_vectors_batch_fill(batch, range(0, 10));
    if (!s)
        s = mcr_vectors_batch_fill(batch, range(0, 60));
    if (!s) {
        mcr_vectors_job job = {.count = 60, .coef = coef, .f = f, .scratch = scratch};
        s = mcr_vectors_run(batch, &job);
    }
    mcr_vectors_batch_close(batch);
    mcr_scratch_close(scratch);
    mcr_binding_close(b);
    mcr_kernel_free(k);
    mcr_data_free(x);
    free(p.x);
    return s;
}

static void batches_survive_failed_allocations(void **state)
{
    (void)state;
    for (made form = 0; form < MADE; form++)
        if (form != WIDE)
            test_sweep_allocations("batch", sweep_batch, &form);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(forms_are_chosen_by_content, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(leaves_share_what_they_can, test_setup, test_teardown),
        cmocka_unit_test(budget_changes_no_bit),
        cmocka_unit_test_setup_teardown(budget_is_given_back, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(views_are_as_good_as_copies, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(batches_give_the_same_bits, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(blocks_of_a_batch_start_at_their_first_column, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(parts_of_a_batch_are_as_good, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(corrections_touch_no_other_value, test_setup,
                                        test_teardown),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(batches_survive_failed_allocations),
    };
    return cmocka_run_group_tests_name("vectors", tests, NULL, NULL);
}
