/* fuzz_models.h: what must hold of every file that loads as a model: it can be looked at, predicts
 * or says why not, and is saved in a form that loads as the same model.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FUZZ_MODELS_H
#define FUZZ_MODELS_H

#include "fuzz_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <mercer/model.h>

#include "model/model.h"

enum { FUZZ_PIPE = 1 << 20 };

/* ---- saving -----------------------------------------------------------------------------------*/

typedef mcr_status fuzz_save_function(mcr *ctx, const mcr_model *model, const char *path);

/* Saves through a pipe: no disk, no names. Returns the bytes; NULL where the model is refused. */
static inline uint8_t *fuzz_save(mcr *ctx, const mcr_model *model, fuzz_save_function *how,
                                 size_t *count)
{
    int end[2];
    char path[32];
    uint8_t *bytes = malloc(FUZZ_PIPE);
    if (!bytes || pipe(end) != 0 || fcntl(end[1], F_SETPIPE_SZ, FUZZ_PIPE) < FUZZ_PIPE)
        abort();
    snprintf(path, sizeof path, "/dev/fd/%d", end[1]);
    mcr_status status = how(ctx, model, path);
    close(end[1]);
    *count = 0;
    for (ssize_t got = 1; got > 0; *count += (size_t)got)
        if ((got = read(end[0], bytes + *count, FUZZ_PIPE - *count)) < 0)
            abort();
    close(end[0]);
    if (status == MCR_OK)
        return bytes;
    if (*count || !mcr_message(ctx)[0])
        abort();
    free(bytes);
    return NULL;
}

/* ---- predicting -------------------------------------------------------------------------------*/

/* Two objects with a field of every kind; sparse or dense vectors. */
static inline mcr_data *fuzz_objects(mcr *ctx, bool sparse)
{
    static const char dense[] =
        "{\"x\": [0.5, -1], \"text\": \"ACGTAC\", \"graph\": {\"nodes\": [\"C\", \"O\"], "
        "\"edges\": [[0, 1]]}}\n{\"x\": [2, 0], \"text\": \"TT\", \"graph\": {\"nodes\": [\"C\"], "
        "\"edges\": []}}\n";
    static const char few[] = "0 1:0.5 2:-1\n0 3:2 200:1\n";
    mcr_read_options options = {.size = sizeof options, .format = "jsonl", .target = "none"};
    if (sparse)
        options.format = "libsvm";
    mcr_data *data;
    if (mcr_data_read_memory(&data, ctx, "objects", sparse ? few : dense,
                             sparse ? sizeof few - 1 : sizeof dense - 1, &options) != MCR_OK)
        abort();
    return data;
}

/* What the model says about the objects: outputs x n decision values; NULL where it refuses
 * them. */
static inline double *fuzz_predict(mcr *ctx, const mcr_model *model, const mcr_data *data)
{
    size_t n = (size_t)mcr_data_count(data), outputs = (size_t)mcr_model_outputs(model);
    size_t k = (size_t)mcr_model_classes(model);
    double *value = malloc(n * sizeof *value), *score = malloc(n * outputs * sizeof *score);
    double *proba = mcr_model_has_probability(model) && k ? malloc(n * k * sizeof *proba) : NULL;
    if (!value || !score)
        abort();
    bool predicts = mcr_model_report(model)->task != MCR_TRANSFORM;
    mcr_status status = mcr_predict(ctx, model, data, predicts ? value : NULL, score, proba);
    if (status != MCR_OK && !mcr_message(ctx)[0])
        abort();
    for (size_t i = 0; i < n && status == MCR_OK && k; i++)
        if (!(value[i] >= 0 && value[i] < (double)k))
            abort();
    /* Again without scores: classes then come from float values where these are sure. */
    mcr_status quick = mcr_predict(ctx, model, data, predicts ? value : NULL, NULL, NULL);
    /* Probabilities may need what classes do not; scores may overflow where the class is sure. */
    if ((quick == MCR_OK) != (status == MCR_OK) && !proba && status != MCR_NUMERIC)
        abort();
    free(value);
    free(proba);
    if (status == MCR_OK)
        return score;
    free(score);
    return NULL;
}

/* The same bits; any not-a-number is like any other. */
static inline void fuzz_compare(mcr *ctx, const mcr_model *a, const mcr_model *b,
                                const mcr_data *data)
{
    double *x = fuzz_predict(ctx, a, data), *y = fuzz_predict(ctx, b, data);
    if (!x != !y)
        abort();
    int64_t values = mcr_data_count(data) * mcr_model_outputs(a);
    for (int64_t i = 0; x && i < values; i++)
        if (memcmp(&x[i], &y[i], sizeof *x) != 0 && (x[i] == x[i] || y[i] == y[i]))
            abort();
    free(x);
    free(y);
}

/* ---- one file ---------------------------------------------------------------------------------*/

static inline mcr_model *fuzz_load(mcr *ctx, const uint8_t *bytes, size_t count)
{
    mcr_model *model = NULL;
    mcr_status status = mcr_model_load_memory(&model, ctx, "input", bytes, count);
    if ((status == MCR_OK) != (model != NULL) || (status != MCR_OK && !mcr_message(ctx)[0]))
        abort();
    return model;
}

static inline void fuzz_look(const mcr_model *model)
{
    const mcr_report_fit *report = mcr_model_report(model);
    int64_t support = mcr_model_support(model);
    double offset, *coef = malloc((size_t)(support + 1) * sizeof *coef);
    int64_t *number = malloc((size_t)(support + 1) * sizeof *number);
    if (!coef || !number || !report->learner || !report->kernel || support < 0)
        abort();
    for (int64_t c = 0; c < mcr_model_classes(model); c++)
        if (!mcr_model_class_name(model, c))
            abort();
    for (int64_t o = 0; o < mcr_model_outputs(model); o++)
        if (!mcr_model_output_name(model, o) ||
            mcr_model_coefficients(model, o, coef, &offset, number) != MCR_OK)
            abort();
    free(coef);
    free(number);
}

/* Tables are read like the one that the model was trained on. */
static inline void fuzz_tables(mcr *ctx, const mcr_model *model)
{
    static const char *const text[] = {"y,a,w,b\n1,2,3,4\n5,6,7,8\n", "a,z,b\n1,2,3\n",
                                       "1,2,3,4\n5,6,7,8\n"};
    for (size_t t = 0; t < sizeof text / sizeof *text; t++) {
        mcr_read_options options = {
            .size = sizeof options, .format = "csv", .like = mcr_model_layout(model)};
        mcr_data *data = NULL;
        mcr_status status = mcr_data_read_memory(&data, ctx, "table", text[t], strlen(text[t]),
                                                 &options);
        fuzz_check(ctx, status, data);
        mcr_data_free(data);
    }
}

/* Saved and loaded it must say the same, and be saved as the same bytes. */
static inline void fuzz_saved(mcr *ctx, const mcr_model *model)
{
    size_t count, again_count;
    uint8_t *bytes = fuzz_save(ctx, model, mcr_model_save, &count);
    if (!bytes)
        return;
    mcr_model *again = fuzz_load(ctx, bytes, count);
    if (!again)
        abort();
    uint8_t *second = fuzz_save(ctx, again, mcr_model_save, &again_count);
    if (!second || again_count != count || memcmp(bytes, second, count) != 0)
        abort();
    for (int sparse = 0; sparse < 2; sparse++) {
        mcr_data *data = fuzz_objects(ctx, sparse);
        fuzz_compare(ctx, model, again, data);
        mcr_data_free(data);
    }
    if (mcr_data_count(model->basis) > 0) {
        mcr_data *own = NULL;
        if (mcr_data_select(&own, model->basis, (mcr_rows){NULL, 0, 1}) != MCR_OK)
            abort();
        fuzz_compare(ctx, model, again, own);
        mcr_data_free(own);
    }
    mcr_model_free(again);
    free(bytes);
    free(second);
}

#endif
