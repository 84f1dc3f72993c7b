/* kernel_jaccard.c: a kernel of one's own, used in an expression with a support vector machine.
 *
 *     cc kernel_jaccard.c $(pkg-config --cflags --libs mercer) -o jaccard && ./jaccard
 *
 * The Jaccard kernel compares vectors of counts, or sets as vectors of 0 and 1: what two objects
 * have in common, divided by what either of them has,
 *
 *     K(x,z) = x.z / (x.x + z.z - x.z).
 *
 * docs/extending.md explains it piece by piece.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <mercer/mercer.h>

/* ---- the kernel -------------------------------------------------------------------------------*/

typedef struct jaccard_params {
    double shared;
} jaccard_params;

static const mcr_param params[] = {
    {.name = "shared",
     .type = MCR_REAL,
     .offset = offsetof(jaccard_params, shared),
     .standard = "0",
     .min = 0,
     .max = INFINITY,
     .flags = MCR_MAX_OPEN,
     .help = "value of one more feature, the same in all objects"},
    {.name = NULL},
};

/* Both sides as dense vectors, and the inner product of each with itself. */
typedef struct jaccard_state {
    int64_t cols;
    const double *vector[2], *square[2];
} jaccard_state;

static mcr_status bind_side(mcr_bound *bound, jaccard_state *state, int side)
{
    const jaccard_params *p = mcr_bound_params(bound);
    int64_t n = mcr_bound_count(bound, side), cols = state->cols;
    double *vector = mcr_bound_alloc(bound, (size_t)n, (size_t)cols * sizeof *vector);
    double *square = mcr_bound_alloc(bound, (size_t)n, sizeof *square);
    if (!vector || !square)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        double *x = vector + i * cols;
        mcr_bound_vector(bound, side, i, x);
        square[i] = p->shared * p->shared;
        for (int64_t k = 0; k < cols; k++) {
            square[i] += x[k] * x[k];
            if (x[k] < 0)
                return mcr_message_set(mcr_bound_context(bound), MCR_BAD_DATA,
                                       "jaccard: a value is negative; it is for counts and sets");
        }
    }
    state->vector[side] = vector;
    state->square[side] = square;
    return MCR_OK;
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    (void)binding;
    jaccard_state *state = mcr_bound_alloc(bound, 1, sizeof *state);
    if (!state)
        return MCR_NO_MEMORY;
    state->cols = mcr_bound_cols(bound);
    mcr_bound_set_state(bound, state);
    mcr_status status = bind_side(bound, state, 0);
    if (!status && !mcr_bound_same(bound))
        return bind_side(bound, state, 1);
    state->vector[1] = state->vector[0];
    state->square[1] = state->square[0];
    return status;
}

/* Two objects without any feature have nothing in common: 0. */
static double pair(const mcr_bound *bound, int64_t i, int64_t j)
{
    const jaccard_params *p = mcr_bound_params(bound);
    const jaccard_state *state = mcr_bound_state(bound);
    const double *x = state->vector[0] + i * state->cols, *z = state->vector[1] + j * state->cols;
    double common = p->shared * p->shared;
    for (int64_t k = 0; k < state->cols; k++)
        common += x[k] * z[k];
    double either = state->square[0][i] + state->square[1][j] - common;
    return either > 0 ? common / either : 0;
}

static mcr_definite definite(const void *values, const mcr_definite *child, int children,
                             const char **rule)
{
    (void)values;
    (void)child;
    (void)children;
    *rule = "the sum of all powers of x.z/(x.x + z.z), which is a kernel";
    return MCR_PSD;
}

static const mcr_kernel_type jaccard = {
    .size = sizeof(mcr_kernel_type),
    .name = "jaccard",
    .summary = "x.z / (x.x + z.z - x.z): what counts or sets have in common",
    .kinds = MCR_DENSE | MCR_SPARSE,
    .params = params,
    .params_size = sizeof(jaccard_params),
    .definite = definite,
    .bind = bind,
    .pair = pair,
};

/* ---- its use ----------------------------------------------------------------------------------*/

static int show_check(mcr *ctx, const mcr_kernel *kernel, const mcr_data *data)
{
    mcr_check_report *report = NULL;
    if (mcr_kernel_check(&report, ctx, kernel, data, 100) != MCR_OK)
        return 0;
    int good = report->valid == MCR_VALID_YES;
    for (int64_t i = 0; i < report->rules; i++)
        printf("  %s\n", report->rule[i]);
    printf("  %s; smallest eigenvalue %.3g\n", report->reason, report->min_eigenvalue);
    mcr_check_free(ctx, report);
    return good;
}

static mcr_status train(mcr_model **out, mcr *ctx, const mcr_kernel *kernel, const mcr_data *data)
{
    mcr_options *options = NULL;
    mcr_status status = mcr_options_open(&options, ctx, "svm");
    if (!status)
        status = mcr_options_set(options, "C", "1");
    if (!status)
        status = mcr_fit(out, options, kernel, data, NULL);
    mcr_options_close(options);
    return status;
}

static mcr_status accuracy(mcr *ctx, const mcr_model *model, const mcr_data *data, double *out)
{
    mcr_metrics metrics = MCR_INIT(mcr_metrics);
    double *value = malloc((size_t)mcr_data_count(data) * sizeof *value);
    if (!value)
        return MCR_NO_MEMORY;
    mcr_status status = mcr_predict(ctx, model, data, value, NULL, NULL);
    if (!status)
        status = mcr_model_score(ctx, model, data, value, &metrics);
    if (!status)
        *out = metrics.accuracy;
    free(value);
    return status;
}

/* 500 objects of 14 categories each, as 123 columns of 0 and 1: 400 to learn from. */
static mcr_status make_data(mcr *ctx, mcr_data **training, mcr_data **others)
{
    mcr_data *all = NULL;
    mcr_status status = mcr_data_sample(&all, ctx, "sparse", 500, -1);
    if (!status)
        status = mcr_data_select(training, all, (mcr_rows){NULL, 0, 400});
    if (!status)
        status = mcr_data_select(others, all, (mcr_rows){NULL, 400, 100});
    mcr_data_free(all);
    return status;
}

int main(void)
{
    mcr *ctx = NULL;
    mcr_kernel *kernel = NULL;
    mcr_data *training = NULL, *others = NULL;
    mcr_model *model = NULL;
    double right = 0;
    int good = 0;
    mcr_status status = mcr_open(&ctx, NULL);
    if (!status)
        status = mcr_kernel_register(ctx, &jaccard);
    if (!status)
        status = make_data(ctx, &training, &others);
    if (!status)
        status = mcr_kernel_parse(&kernel, ctx, "jaccard(shared=0.5)^2 + 0.1*linear");
    if (!status)
        good = show_check(ctx, kernel, training);
    if (!status)
        status = train(&model, ctx, kernel, training);
    if (!status)
        status = accuracy(ctx, model, others, &right);
    if (status)
        fprintf(stderr, "%s: %s\n", mcr_status_name(status), ctx ? mcr_message(ctx) : "");
    else
        printf("%s: accuracy on new objects %.2f\n", mcr_kernel_text(kernel), right);
    mcr_model_free(model);
    mcr_kernel_free(kernel);
    mcr_data_free(training);
    mcr_data_free(others);
    mcr_close(ctx);
    return status == MCR_OK && good && right > 0.6 ? 0 : 1;
}
