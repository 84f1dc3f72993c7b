/* own_learner.c: a learner of the program's own, registered at run time.
 *
 *     cc own_learner.c $(pkg-config --cflags --libs mercer) -lm -o own_learner && ./own_learner
 *
 * The simplest kernel classifier: an object belongs to the class whose mean in feature space is
 * nearer. With m1, m0 the means of the two classes,
 *
 *     f(x) = <m1, x> - <m0, x> - (|m1|^2 - |m0|^2) / 2,
 *
 * which needs values of the kernel only. Options, scores, cross-validation and model files come
 * from Mercer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <mercer/mercer.h>

typedef struct means_params {
    double shift; /* moves the border towards class 1 */
} means_params;

static const mcr_param params[] = {
    {.name = "shift",
     .type = MCR_REAL,
     .offset = offsetof(means_params, shift),
     .standard = "0",
     .min = -INFINITY,
     .max = INFINITY,
     .help = "added to the offset"},
    {.name = NULL},
};

/* coef: 1/n1 for class 1, -1/n0 for class 0; then K coef gives <m1, x_i> - <m0, x_i> for all
 * objects. */
static mcr_status means(double *coef, double *offset, const mcr_learning *in)
{
    mcr *ctx = mcr_learning_context(in);
    const mcr_data *data = mcr_learning_data(in);
    const int32_t *class_of = mcr_data_class_of(data);
    int64_t n = mcr_data_count(data), count[2] = {0, 0};
    double square[2] = {0, 0};
    double *k = malloc((size_t)n * sizeof *k);
    mcr_gram *gram = NULL;
    for (int64_t i = 0; i < n; i++)
        count[class_of[i]]++;
    for (int c = 0; c < 2 && k; c++) { /* |m_c|^2 = m_c' K m_c */
        for (int64_t i = 0; i < n; i++)
            coef[i] = class_of[i] == c ? 1 / (double)count[c] : 0;
        mcr_status status = mcr_gram_open(&gram, ctx, mcr_learning_kernel(in), data, NULL);
        if (!status)
            status = mcr_gram_multiply(gram, coef, 1, k);
        mcr_gram_close(gram);
        if (status) {
            free(k);
            return status;
        }
        for (int64_t i = 0; i < n; i++)
            square[c] += coef[i] * k[i];
    }
    for (int64_t i = 0; i < n; i++)
        coef[i] = class_of[i] == 1 ? 1 / (double)count[1] : -1 / (double)count[0];
    *offset = (square[0] - square[1]) / 2 + ((const means_params *)mcr_learning_params(in))->shift;
    free(k);
    return k ? MCR_OK : MCR_NO_MEMORY;
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    mcr *ctx = mcr_learning_context(in);
    const mcr_data *data = mcr_learning_data(in);
    double offset = 0, *coef = malloc((size_t)mcr_data_count(data) * sizeof *coef);
    if (mcr_data_classes(data) != 2) {
        free(coef);
        return mcr_message_set(ctx, MCR_BAD_DATA, "class-means: give it data of two classes");
    }
    mcr_status status = coef ? means(coef, &offset, in) : MCR_NO_MEMORY;
    if (!status)
        status = mcr_fitted_open(out, in, 1);
    if (!status)
        status = mcr_fitted_set(*out, coef, &offset);
    if (!status) /* shown by mcr_model_number and among the model's facts */
        status = mcr_fitted_keep(*out, "border", &offset, 1);
    free(coef);
    return status;
}

static mcr_status run(mcr *ctx)
{
    mcr_learner_spec spec = MCR_INIT(mcr_learner_spec);
    mcr_data *data = NULL;
    mcr_kernel *kernel = NULL;
    mcr_options *options = NULL;
    mcr_model *model = NULL;
    mcr_fact fact = MCR_INIT(mcr_fact);
    spec.name = "class-means";
    spec.summary = "the class whose mean in feature space is nearer";
    spec.task = MCR_CLASSIFY;
    spec.params = params;
    spec.params_size = sizeof(means_params);
    spec.fit = fit;
    mcr_status status = mcr_learner_register(ctx, &spec);
    if (!status)
        status = mcr_data_sample(&data, ctx, "moons", 400, 0.1);
    if (!status)
        status = mcr_kernel_parse(&kernel, ctx, "rbf(gamma=4)");
    if (!status)
        status = mcr_options_open(&options, ctx, "class-means");
    if (!status)
        status = mcr_fit(&model, options, kernel, data, NULL);
    for (int64_t i = 0; !status && i < mcr_model_fact_count(model); i++)
        if (!mcr_model_fact(model, i, &fact) && fact.type == MCR_FACT_REAL && !isnan(fact.real))
            printf("%-16s %g\n", fact.name, fact.real);
    if (!status && !(mcr_model_report(model)->accuracy > 0.9))
        status = mcr_message_set(ctx, MCR_NUMERIC, "class-means: the moons are not learnt");
    mcr_model_free(model);
    mcr_options_close(options);
    mcr_kernel_free(kernel);
    mcr_data_free(data);
    return status;
}

int main(void)
{
    mcr *ctx = NULL;
    mcr_status status = mcr_open(&ctx, NULL);
    if (!status)
        status = run(ctx);
    if (status)
        fprintf(stderr, "own_learner: %s\n", ctx ? mcr_message(ctx) : "no memory");
    mcr_close(ctx);
    return status != MCR_OK;
}
