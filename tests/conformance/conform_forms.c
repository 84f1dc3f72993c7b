/* conform_forms.c: every registered learner on every representation of K: from a kernel and data,
 * on a bound Gram, on a matrix in memory, on a fold of one, and from features. Each either gives
 * the solution of the first, the same bits for any number of threads, or is refused with its
 * reason. Prints the table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mercer/mercer.h>

#include "gram/stored.h"
#include "learn/learner.h"

enum { ALL = 100, TRAIN = 80 };

/* Objects of a sample, of which all but every fifth are trained on. */
typedef struct problem {
    mcr *ctx;
    const mcr_learner_type *type;
    mcr_data *all, *train;
    mcr_kernel *kernel;
    mcr_options *options;
    int64_t row[TRAIN];
    mcr_gram *bound, *stored, *list, *floats;
    mcr_gram_buffer buffer[3];
} problem;

static const char *sample_of(const mcr_learner_type *type)
{
    return type->task == MCR_REGRESS || type->task == MCR_EITHER ? "sinc" : "moons";
}

static void open_problem(problem *p, mcr *ctx, const mcr_learner_type *type)
{
    *p = (problem){.ctx = ctx, .type = type};
    test_ok(ctx, mcr_data_sample(&p->all, ctx, sample_of(type), ALL, -1));
    for (int64_t i = 0, next = 0; i < ALL; i++)
        if (i % 5)
            p->row[next++] = i;
    test_ok(ctx, mcr_data_select(&p->train, p->all, (mcr_rows){p->row, 0, TRAIN}));
    test_ok(ctx, mcr_kernel_parse(&p->kernel, ctx, "rbf(gamma=1)"));
    test_ok(ctx, mcr_options_open(&p->options, ctx, type->name));
    if (strcmp(type->name, "cca") == 0)
        test_ok(ctx, mcr_options_set(p->options, "kernel2", "poly(degree=2, c=1)"));
    if (strcmp(type->name, "gp") == 0)
        test_ok(ctx, mcr_options_set(p->options, "optimize", "no"));
    mcr_gram *whole = NULL;
    const mcr_rows rows = {p->row, 0, TRAIN};
    test_ok(ctx, mcr_gram_open(&p->bound, ctx, p->kernel, p->train, NULL));
    test_ok(ctx, mcr_gram_copy(&p->stored, p->bound, true, NULL, &p->buffer[0]));
    test_ok(ctx, mcr_gram_copy(&p->floats, p->bound, false, p->bound, &p->buffer[1]));
    test_ok(ctx, mcr_gram_open(&whole, ctx, p->kernel, p->all, NULL));
    mcr_gram *matrix = NULL;
    test_ok(ctx, mcr_gram_copy(&matrix, whole, true, NULL, &p->buffer[2]));
    mcr_gram *list = NULL;
    test_ok(ctx, mcr_gram_list(&list, matrix, &rows, NULL));
    test_ok(ctx, mcr_gram_share(&p->list, list)); /* owns what it lists */
    mcr_gram_close(list);
    mcr_gram_close(matrix);
    mcr_gram_close(whole);
}

static void close_problem(problem *p)
{
    mcr_gram_close(p->floats);
    mcr_gram_close(p->list);
    mcr_gram_close(p->stored);
    mcr_gram_close(p->bound);
    for (int b = 0; b < 3; b++)
        mcr_gram_buffer_free(p->ctx, &p->buffer[b]);
    mcr_options_close(p->options);
    mcr_kernel_free(p->kernel);
    mcr_data_free(p->train);
    mcr_data_free(p->all);
}

static mcr_fitted *learn_on(const problem *p, mcr_gram *gram)
{
    mcr_fitted *f = NULL;
    const mcr_learning in = {.ctx = p->ctx,
                             .params = p->options->params,
                             .kernel = p->kernel,
                             .data = p->train,
                             .gram = gram};
    test_ok(p->ctx, mcr_learn(&f, p->type, &in));
    return f;
}

/* Decision values of the first kernel's outputs for the objects trained on; outputs x TRAIN. */
static double *scores(const problem *p, const mcr_fitted *f)
{
    double *k = calloc(TRAIN * TRAIN, sizeof *k);
    double *to = calloc((size_t)(f->outputs * TRAIN), sizeof *to);
    assert_true(k && to);
    test_ok(p->ctx, mcr_gram_matrix(p->bound, k, TRAIN));
    for (int64_t o = 0; o < f->outputs; o++)
        for (int64_t j = 0; j < TRAIN; j++)
            to[o * TRAIN + j] = f->offset[o];
    for (int64_t g = 0; g < (f->second ? 1 : f->segments); g++) {
        const mcr_segment *s = &f->segment[g];
        for (int64_t t = 0; t < s->outputs; t++)
            for (int64_t i = 0; i < s->count; i++)
                for (int64_t j = 0; j < TRAIN; j++)
                    to[s->output[t] * TRAIN + j] += s->coef[t * s->count + i] *
                                                    k[f->object[s->first + i] * TRAIN + j];
    }
    free(k);
    return to;
}

static void compare(const problem *p, const char *what, const mcr_fitted *a, const mcr_fitted *b)
{
    char text[128];
    snprintf(text, sizeof text, "%s on %s", p->type->name, what);
    assert_int_equal(a->outputs, b->outputs);
    double *x = scores(p, a), *y = scores(p, b), most = 0;
    for (int64_t i = 0; i < a->outputs * TRAIN; i++)
        most = fmax(most, fabs(x[i]));
    test_close_arrays(text, x, y, a->outputs * TRAIN, 5e-3 * most + 1e-9);
    if (isfinite(a->objective))
        test_close_real(text, b->objective, a->objective, 1e-3 * fabs(a->objective) + 1e-9);
    free(x);
    free(y);
}

static void same_bits(const problem *p, const mcr_fitted *a, const mcr_fitted *b)
{
    assert_int_equal(a->basis, b->basis);
    assert_int_equal(a->segments, b->segments);
    for (int64_t g = 0; g < a->segments; g++) {
        size_t count = (size_t)(a->segment[g].count * a->segment[g].outputs);
        assert_int_equal(a->segment[g].count, b->segment[g].count);
        if (count && memcmp(a->segment[g].coef, b->segment[g].coef, sizeof(double) * count) != 0)
            fail_msg("%s: the number of threads changes coefficients", p->type->name);
    }
}

/* Every representation of K; with one thread the folds give the same bits. */
static void test_representations(void **state)
{
    mcr *ctx = *state, *alone = NULL;
    mcr_config config = {.size = sizeof config, .threads = 1};
    test_ok(NULL, mcr_open(&alone, &config));
    const mcr_learner_type *type;
    for (int64_t i = 0; (type = mcr_learner_at(i)); i++) {
        problem p, one;
        open_problem(&p, ctx, type);
        open_problem(&one, alone, type);
        mcr_fitted *want = learn_on(&p, NULL);
        const struct {
            const char *name;
            mcr_gram *gram;
        } on[] = {{"a bound Gram", p.bound},
                  {"a matrix", p.stored},
                  {"a fold", p.list},
                  {"floats", type->takes_k ? p.floats : NULL}};
        for (size_t r = 0; r < sizeof on / sizeof *on; r++) {
            mcr_fitted *got = on[r].gram ? learn_on(&p, on[r].gram) : NULL;
            if (got)
                compare(&p, on[r].name, want, got);
            mcr_fitted_free(got);
        }
        mcr_fitted *a = learn_on(&p, p.list), *b = learn_on(&one, one.list);
        same_bits(&p, a, b);
        mcr_fitted_free(a);
        mcr_fitted_free(b);
        mcr_fitted_free(want);
        close_problem(&p);
        close_problem(&one);
    }
    mcr_close(alone);
}

/* Every approximation works, or is refused with the reason that the learner gives. */
static void check_approx(mcr *ctx, const mcr_learner_type *type)
{
    static const char *const approx[] = {"nystrom", "rff", "falkon"};
    mcr_kernel *kernel = NULL;
    mcr_data *data = NULL;
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "rbf(gamma=1)"));
    test_ok(ctx, mcr_data_sample(&data, ctx, sample_of(type), ALL, -1));
    for (size_t a = 0; a < sizeof approx / sizeof *approx; a++) {
        mcr_options *options = NULL;
        mcr_model *m = NULL;
        test_ok(ctx, mcr_options_open(&options, ctx, type->name));
        mcr_status s = mcr_options_set(options, "approx", approx[a]);
        if (!s) {
            test_ok(ctx, mcr_options_set(options, "rank", "20"));
            test_ok(ctx, mcr_fit(&m, options, kernel, data, NULL));
            assert_string_equal(mcr_model_report(m)->approx, approx[a]);
        } else {
            const char *lacks = type->no_primal;
            assert_non_null(lacks ? lacks : type->no_approx);
            test_fails(ctx, s, MCR_BAD_CALL, lacks ? lacks : type->no_approx);
        }
        printf("# %-11s %-8s %s\n", type->name, approx[a], s ? mcr_message(ctx) : "works");
        mcr_model_free(m);
        mcr_options_close(options);
    }
    mcr_data_free(data);
    mcr_kernel_free(kernel);
}

/* --form primal works, or is refused with the table's reason. */
static void check_primal(mcr *ctx, const mcr_learner_type *type)
{
    const char *lacks = type->no_primal;
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_data *data = NULL;
    mcr_model *m = NULL;
    test_ok(ctx, mcr_options_open(&options, ctx, type->name));
    test_ok(ctx, mcr_options_set(options, "form", "dual"));
    if (lacks) {
        test_fails(ctx, mcr_options_set(options, "form", "primal"), MCR_BAD_CALL, lacks);
        test_fails(ctx, mcr_options_set(options, "approx", "nystrom"), MCR_BAD_CALL, lacks);
    } else {
        test_ok(ctx, mcr_options_set(options, "form", "primal"));
        if (strcmp(type->name, "cca") == 0)
            test_ok(ctx, mcr_options_set(options, "kernel2", "linear"));
        test_ok(ctx, mcr_data_sample(&data, ctx, sample_of(type), ALL, -1));
        test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "poly(degree=2, c=1)"));
        test_ok(ctx, mcr_fit(&m, options, kernel, data, NULL));
        assert_string_equal(mcr_model_report(m)->form, "primal");
    }
    mcr_model_free(m);
    mcr_data_free(data);
    mcr_kernel_free(kernel);
    mcr_options_close(options);
}

/* Decision values on all objects. */
static double *scores_with(mcr *ctx, const mcr_learner_type *type, const mcr_data *data,
                           const char *const option[][2], size_t options, int64_t *count)
{
    mcr_options *o = NULL;
    mcr_kernel *kernel = NULL;
    mcr_model *m = NULL;
    test_ok(ctx, mcr_options_open(&o, ctx, type->name));
    test_ok(ctx, mcr_options_set(o, "tol", "1e-6"));
    for (size_t i = 0; i < options; i++)
        test_ok(ctx, mcr_options_set(o, option[i][0], option[i][1]));
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "rbf(gamma=1)"));
    test_ok(ctx, mcr_fit(&m, o, kernel, data, NULL));
    *count = mcr_data_count(data) * mcr_model_outputs(m);
    double *score = calloc((size_t)*count, sizeof *score);
    test_ok(ctx, mcr_predict(ctx, m, data, NULL, score, NULL));
    mcr_model_free(m);
    mcr_kernel_free(kernel);
    mcr_options_close(o);
    return score;
}

/* With all objects as landmarks the approximation is exact, and with a few features it is near: a
 * learner that leaves the form to mcr_learn says the same then. */
static void check_all_landmarks(mcr *ctx, const mcr_learner_type *type)
{
    static const char *const all[][2] = {{"approx", "nystrom"}, {"rank", "100"}};
    static const char *const many[][2] = {{"approx", "rff"}, {"rank", "4000"}};
    mcr_data *data = NULL;
    int64_t n, m;
    if (!type->form)
        return;
    test_ok(ctx, mcr_data_sample(&data, ctx, sample_of(type), ALL, -1));
    double *want = scores_with(ctx, type, data, NULL, 0, &n), size = 0;
    double *got = scores_with(ctx, type, data, all, 2, &m);
    assert_int_equal(n, m);
    for (int64_t i = 0; i < n; i++)
        size = fmax(size, fabs(want[i]));
    test_close_arrays(type->name, got, want, n, 1e-3 * size);
    free(got);
    got = scores_with(ctx, type, data, many, 2, &m);
    test_close_arrays(type->name, got, want, n, 0.2 * size);
    free(got);
    free(want);
    mcr_data_free(data);
}

/* cv trains on folds, or is refused. */
static void check_folds(mcr *ctx, const mcr_learner_type *type)
{
    mcr_options *options = NULL;
    mcr_data *data = NULL;
    mcr_splits *splits = NULL;
    mcr_cv_report *report = NULL;
    mcr_kernel *kernel = NULL;
    test_ok(ctx, mcr_options_open(&options, ctx, type->name));
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "rbf(gamma=1)"));
    test_ok(ctx, mcr_data_sample(&data, ctx, sample_of(type), ALL, -1));
    test_ok(ctx, mcr_splits_open(&splits, ctx, data, NULL));
    mcr_status s = mcr_cv(&report, options, kernel, data, splits, NULL, NULL);
    if (type->no_folds)
        test_fails(ctx, s, MCR_BAD_CALL, "coordinates");
    else if (type->task != MCR_DETECT) /* those need anomalies to compare with */
        test_ok(ctx, s);
    mcr_cv_free(ctx, report);
    mcr_splits_close(splits);
    mcr_kernel_free(kernel);
    mcr_data_free(data);
    mcr_options_close(options);
}

static void test_table(void **state)
{
    static const char *const ability[] = {"primal", "folds"};
    mcr *ctx = *state;
    const mcr_learner_type *type;
    int64_t learners = 0;
    for (; (type = mcr_learner_at(learners)); learners++) {
        check_primal(ctx, type);
        check_approx(ctx, type);
        check_all_landmarks(ctx, type);
        check_folds(ctx, type);
        const char *const reasons[] = {type->no_primal, type->no_folds};
        for (size_t r = 0; r < sizeof reasons / sizeof *reasons; r++) {
            const char *lacks = reasons[r];
            printf("# %-11s %-8s %s%s\n", type->name, ability[r], lacks ? "no: " : "works",
                   lacks ? lacks : "");
        }
    }
    assert_true(learners >= 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_representations, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_table, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
