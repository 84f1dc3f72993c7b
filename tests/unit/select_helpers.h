/* select_helpers.h: a search, and its table against cross-validation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TEST_SELECT_HELPERS_H
#define TEST_SELECT_HELPERS_H

#include "learner_helpers.h"
#include "select/search.h"

static const char *const searched[] = {"rbf(gamma=0.25:4:log3)", "poly(degree=2:3, c=1)"};
static const char *const option[] = {"C"}, *const range[] = {"0.5:50:log3"};

static const mcr_split_plan four_folds = {.size = sizeof four_folds, .folds = 4};

static inline mcr_search make_search(void)
{
    return (mcr_search){.size = sizeof(mcr_search),
                        .kernel = searched,
                        .kernels = 2,
                        .option = option,
                        .range = range,
                        .ranges = 1,
                        .split = &four_folds};
}

/* Each point's figure is that of cross-validation with its kernel and options; the best is the
 * best; and the model is the one that fit makes with it. */
static inline void check_table_within(mcr *ctx, const char *learner, const char *options,
                                      const mcr_search *search, const mcr_data *data,
                                      double tolerance)
{
    mcr_options *o = make_options(ctx, learner, options);
    mcr_model *model = NULL;
    mcr_tune_report *r = NULL;
    mcr_splits *splits = NULL;
    test_ok(ctx, mcr_tune(&model, &r, o, search, data));
    test_ok(ctx, mcr_splits_open(&splits, ctx, data, search->split));
    assert_true(r->points > 1 && r->points <= r->possible);
    for (int64_t p = 0; p < r->points; p++) {
        const mcr_point *point = r->point[p];
        char all[512];
        mcr_kernel *k = NULL;
        mcr_cv_report *cv = NULL;
        snprintf(all, sizeof all, "%s %s", options, point->options);
        mcr_options *own = make_options(ctx, learner, all);
        test_ok(ctx, mcr_kernel_parse(&k, ctx, point->kernel));
        test_ok(ctx, mcr_cv(&cv, own, k, data, splits, r->metric, NULL));
        snprintf(all, sizeof all, "%s, %s", point->kernel, point->options);
        test_close_relative(all, &(double){mcr_mean(cv->metric[0]->split, point->splits)},
                            &point->score, 1, tolerance);
        if (point->state == MCR_POINT_DONE)
            assert_true(r->larger ? point->score <= r->point[r->best]->score
                                  : point->score >= r->point[r->best]->score);
        else
            assert_true(r->larger ? cv->metric[0]->mean < r->point[r->best]->score
                                  : cv->metric[0]->mean > r->point[r->best]->score);
        mcr_cv_free(ctx, cv);
        mcr_kernel_free(k);
        mcr_options_close(own);
    }
    mcr_kernel *best = NULL;
    test_ok(ctx, mcr_kernel_parse(&best, ctx, r->point[r->best]->kernel));
    assert_string_equal(mcr_model_report(model)->kernel, mcr_kernel_text(best));
    mcr_kernel_free(best);
    assert_non_null(strstr(mcr_model_report(model)->options, r->point[r->best]->options));
    assert_non_null(mcr_model_tuning(model));
    assert_non_null(strstr(mcr_model_tuning(model), ",best\n"));
    mcr_splits_close(splits);
    mcr_tune_free(ctx, r);
    mcr_model_free(model);
    mcr_options_close(o);
}

static inline void check_table(mcr *ctx, const char *learner, const char *options,
                               const mcr_search *search, const mcr_data *data)
{
    check_table_within(ctx, learner, options, search, data, 1e-5);
}

#endif
