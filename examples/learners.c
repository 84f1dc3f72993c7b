/* learners.c: other learners from C: ridge regression that picks its own lambda, and of several
 * targets at once; probabilities of logistic regression, neighbours, another loss, clusters. The
 * calls are the same for all of them; only names and options differ.
 *
 *     cc learners.c $(pkg-config --cflags --libs mercer) -o learners && ./learners
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <mercer/mercer.h>

/* Trains on a synthetic data set, with one option. */
static mcr_status train(mcr_model **out, mcr *ctx, const mcr_data *data, const char *learner,
                        const char *kernel_text, const char *option, const char *value)
{
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_status status = mcr_options_open(&options, ctx, learner);
    if (!status)
        status = mcr_options_set(options, option, value);
    if (!status)
        status = mcr_kernel_parse(&kernel, ctx, kernel_text);
    if (!status)
        status = mcr_fit(out, options, kernel, data, NULL);
    if (!status) {
        const mcr_report_fit *r = mcr_model_report(*out);
        printf("%s: %s %.1e (tolerance %.1e)%s%s\n", r->learner, r->certificate, r->value,
               r->tolerance, r->remark ? "; " : "", r->remark ? r->remark : "");
    }
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    return status;
}

/* The leave-one-out error is that of the best lambda of the path. */
static mcr_status regress(mcr *ctx, int *good)
{
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    mcr_status status = mcr_data_sample(&data, ctx, "sinc", 200, 0.1);
    if (!status)
        status = train(&model, ctx, data, "ridge", "rbf(gamma=0.5)", "lambda", "1e-6:1e3:log10");
    if (!status) {
        double loo = mcr_model_report(model)->loo;
        printf("  mean square error of left-out objects: %.4f\n", loo);
        *good &= loo < 0.02;
    }
    mcr_model_free(model);
    mcr_data_free(data);
    return status;
}

/* The sine and the cosine of a number, learned at once. */
static mcr_status regress_both(mcr *ctx, int *good)
{
    enum { N = 100, TARGETS = 2 };
    static const char *const names[TARGETS] = {"sine", "cosine"};
    double x[N], y[N * TARGETS], f[N * TARGETS];
    mcr_builder *builder = NULL;
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    mcr_metrics each[TARGETS] = {MCR_INIT(mcr_metrics)};
    for (int i = 0; i < N; i++) {
        x[i] = 0.1 * i;
        y[i * TARGETS] = sin(x[i]);
        y[i * TARGETS + 1] = cos(x[i]);
    }
    mcr_status status = mcr_builder_open(&builder, ctx, N);
    if (!status)
        status = mcr_builder_dense(builder, "x", x, 1, 1);
    if (!status)
        status = mcr_builder_target_table(builder, y, TARGETS, names);
    if (!status)
        status = mcr_builder_finish(&data, builder);
    else
        mcr_builder_close(builder);
    if (!status)
        status = train(&model, ctx, data, "ridge", "rbf(gamma=1)", "lambda", "0.001");
    if (!status)
        status = mcr_predict(ctx, model, data, NULL, f, NULL);
    if (!status)
        status = mcr_model_score_targets(ctx, model, data, f, each, NULL);
    for (int t = 0; t < TARGETS && !status; t++) {
        printf("  %s: mean square error %.1e\n", mcr_model_output_name(model, t), each[t].mse);
        *good &= each[t].mse < 1e-4;
    }
    mcr_model_free(model);
    mcr_data_free(data);
    return status;
}

/* The five nearest neighbours, and least absolute errors. */
static mcr_status others(mcr *ctx, int *good)
{
    mcr_data *data = NULL;
    mcr_model *knn = NULL, *erm = NULL;
    mcr_status status = mcr_data_sample(&data, ctx, "sinc", 200, 0.1);
    if (!status)
        status = train(&knn, ctx, data, "knn", "rbf(gamma=0.5)", "neighbors", "5");
    if (!status)
        status = train(&erm, ctx, data, "erm", "rbf(gamma=0.5)", "loss", "absolute");
    if (!status) {
        printf("  r2 %.3f and %.3f\n", mcr_model_report(knn)->r2, mcr_model_report(erm)->r2);
        *good &= mcr_model_report(knn)->r2 > 0.9 && mcr_model_report(erm)->r2 > 0.8;
    }
    mcr_model_free(knn);
    mcr_model_free(erm);
    mcr_data_free(data);
    return status;
}

static mcr_status classify(mcr *ctx, int *good)
{
    enum { N = 300, CLASSES = 3 };
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    double proba[N * CLASSES];
    mcr_status status = mcr_data_sample(&data, ctx, "blobs", N, -1);
    if (!status)
        status = train(&model, ctx, data, "logistic", "rbf(gamma=0.5)", "lambda", "0.1");
    if (!status)
        status = mcr_predict(ctx, model, data, NULL, NULL, proba);
    if (!status) {
        printf("  the first object is of class %s with probability %.3f\n",
               mcr_model_class_name(model, 0), proba[0]);
        *good &= mcr_model_report(model)->accuracy > 0.95;
    }
    mcr_model_free(model);
    mcr_data_free(data);
    return status;
}

/* Two rings have no centres in the plane; their lengths do. */
static mcr_status cluster(mcr *ctx, int *good)
{
    enum { N = 200 };
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    double value[N];
    mcr_metrics metrics = MCR_INIT(mcr_metrics);
    mcr_status status = mcr_data_sample(&data, ctx, "rings", N, -1);
    if (!status)
        status = train(&model, ctx, data, "kmeans", "conformal(1)", "clusters", "2");
    if (!status)
        status = mcr_predict(ctx, model, data, value, NULL, NULL);
    if (!status)
        status = mcr_model_score(ctx, model, data, value, &metrics);
    if (!status)
        printf("  adjusted Rand index: %.3f\n", metrics.rand);
    *good &= metrics.rand > 0.9;
    mcr_model_free(model);
    mcr_data_free(data);
    return status;
}

int main(void)
{
    mcr *ctx = NULL;
    int good = 1;
    mcr_status status = mcr_open(&ctx, NULL);
    if (!status)
        status = regress(ctx, &good);
    if (!status)
        status = regress_both(ctx, &good);
    if (!status)
        status = others(ctx, &good);
    if (!status)
        status = classify(ctx, &good);
    if (!status)
        status = cluster(ctx, &good);
    if (status)
        fprintf(stderr, "%s: %s\n", mcr_status_name(status), ctx ? mcr_message(ctx) : "");
    mcr_close(ctx);
    return status == MCR_OK && good ? 0 : 1;
}
