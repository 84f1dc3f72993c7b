/* approx_helpers.h: models with approximate maps, for tests of learners in the primal form.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TEST_APPROX_HELPERS_H
#define TEST_APPROX_HELPERS_H

#include "svm_helpers.h"

#include "gram/map.h"

static inline mcr_map *open_map(mcr *ctx, const char *kernel, const mcr_data *data,
                                mcr_approx approx, int64_t rank, mcr_landmarks how)
{
    mcr_kernel *k;
    mcr_map *m;
    mcr_map_options o = {sizeof o, approx, rank, how};
    test_ok(ctx, mcr_kernel_parse(&k, ctx, kernel));
    test_ok(ctx, mcr_map_open(&m, ctx, k, data, &o));
    mcr_kernel_free(k);
    return m;
}

/* The scores of a model with an approximate map are those of a linear model on the map's features,
 * to `tolerance`; a file keeps it, and its report says what it is. */
static inline void check_approx_model(mcr *ctx, const char *learner, const char *options,
                                      const mcr_data *data, mcr_approx approx, int64_t rank,
                                      double tolerance)
{
    static const char kernel[] = "rbf(gamma=0.5)";
    const char *name = approx == MCR_APPROX_NYSTROM  ? "nystrom"
                       : approx == MCR_APPROX_FALKON ? "falkon"
                                                     : "rff";
    char folder[256], path[300], text[200];
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/m.mercer", folder);
    snprintf(text, sizeof text, "approx=%s rank=%d %s", name, (int)rank, options);
    mcr_model *m = fit_model(ctx, learner, kernel, data, text), *again;
    const mcr_report_fit *r = mcr_model_report(m);
    int64_t count = mcr_data_count(data) * mcr_model_outputs(m);
    assert_string_equal(r->approx, name);
    assert_string_equal(r->form, "primal");
    assert_true(strstr(r->certificate, "approximate") || strstr(r->certificate, "restricted"));
    assert_int_equal(r->support, approx == MCR_APPROX_RFF ? 0 : rank);
    double *score = scores_of(ctx, m, data, NULL);
    test_ok(ctx, mcr_model_save(ctx, m, path));
    test_ok(ctx, mcr_model_load(&again, ctx, path));
    double *back = scores_of(ctx, again, data, NULL);
    test_close_arrays("from a file", back, score, count, 0);
    assert_string_equal(mcr_model_report(again)->approx, r->approx);
    /* On the features themselves. */
    mcr_map *map = open_map(ctx, kernel, data, approx, rank, 0);
    mcr_data *vectors;
    test_ok(ctx, mcr_map_data(&vectors, map, data));
    snprintf(text, sizeof text, "form=dual %s", options);
    mcr_model *linear = fit_model(ctx, learner, "linear", vectors, text);
    double *other = scores_of(ctx, linear, vectors, NULL);
    test_close_arrays(learner, score, other, count, tolerance);
    if (strcmp(learner, "fisher") == 0)
        test_close_real("accuracy", r->accuracy, mcr_model_report(linear)->accuracy, 0);
    free(score);
    free(back);
    free(other);
    mcr_model_free(m);
    mcr_model_free(again);
    mcr_model_free(linear);
    mcr_map_close(map);
    mcr_data_free(vectors);
    test_remove_directory(folder);
}

#endif
