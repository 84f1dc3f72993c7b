/* folds.c: all folds of a cross-validation at once, for learners that can compute them from one K.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "select/select.h"

/* With more folds objects are held out one by one, for which learners have other methods; with more
 * objects two matrices of doubles are too large. */
enum { MOST_FOLDS = 64, MOST_OBJECTS = 16384 };

static bool can(const mcr_trial_set *set, const mcr_options *const *options, int64_t count)
{
    const mcr_learner_type *type = options[0]->type;
    int64_t folds;
    bool can = type->folds && set->metrics == 1 && !set->metric[0]->info.proba &&
               mcr_splits_folds(set->splits, 0, &folds) && folds <= MOST_FOLDS &&
               mcr_data_count(set->data) <= MOST_OBJECTS;
    for (int64_t i = 0; i < count && can; i++)
        can = !mcr_scaling_changes(set->data, options[i]->scale) &&
              !mcr_wants_features(options[i]) &&
              (!type->check || !type->check(set->ctx, options[i]->params));
    return can;
}

/* The metric of one setting on one split. */
static mcr_status evaluate(const mcr_trial_set *set, const mcr_folds *f, int64_t setting,
                           int64_t split, double *to)
{
    mcr *ctx = set->ctx;
    int64_t all = mcr_data_count(set->data);
    int64_t n = mcr_splits_rows(set->splits, split, 1, NULL);
    int64_t *row = mcr_alloc(ctx, (size_t)n, sizeof *row);
    double *value = mcr_alloc(ctx, (size_t)n, sizeof *value);
    double *score = mcr_alloc(ctx, (uint64_t)(n * f->outputs), sizeof *score);
    mcr_data *test = NULL;
    mcr_fitted *rule = NULL;
    mcr_status s = row && value && score ? mcr_fitted_new(&rule, ctx, f->outputs) : MCR_NO_MEMORY;
    if (!s) {
        mcr_splits_rows(set->splits, split, 1, row);
        s = mcr_data_select(&test, set->data, (mcr_rows){row, 0, n});
        rule->task = f->task;
        rule->rule = f->rule;
        rule->classes = f->classes;
    }
    for (int64_t i = 0; i < n && !s; i++) {
        memcpy(score + i * f->outputs, f->score + (setting * all + row[i]) * f->outputs,
               sizeof *score * (size_t)f->outputs);
        value[i] = mcr_fitted_decide(rule, score + i * f->outputs, NULL, NULL);
    }
    if (!s)
        s = mcr_trial_score(set, rule, test, value, score, NULL, to);
    mcr_fitted_free(rule);
    mcr_data_free(test);
    mcr_free_all(ctx, row, value, score);
    return s;
}

/* All settings and splits of one repeat. */
static mcr_status evaluate_repeat(const mcr_trial_set *set, const mcr_folds *f, int64_t repeat,
                                  double *score)
{
    int64_t splits = mcr_splits_count(set->splits);
    mcr_status s = MCR_OK;
    for (int64_t t = 0; t < f->settings; t++)
        for (int64_t fold = 0; fold < f->folds && f->solved[t] && !s; fold++) {
            int64_t split = repeat * f->folds + fold;
            s = evaluate(set, f, t, split, &score[t * splits + split]);
        }
    return s;
}

mcr_status mcr_folds_run(const mcr_trial_set *set, const mcr_path *path, double *score)
{
    const mcr_kernel *kernel = path->kernel;
    const mcr_options *const *options = path->options;
    int64_t count = path->count;
    mcr *ctx = set->ctx;
    int64_t splits = mcr_splits_count(set->splits);
    for (int64_t i = 0; i < count * splits; i++)
        score[i] = NAN;
    if (!kernel || !can(set, options, count))
        return MCR_OK;
    const void **params = mcr_alloc(ctx, (size_t)count, sizeof *params);
    bool *solved = mcr_alloc_zero(ctx, (size_t)count, sizeof *solved);
    mcr_status s = params && solved ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < count && !s; i++)
        params[i] = options[i]->params;
    for (int64_t r = 0; r < mcr_splits_repeats(set->splits) && !s; r++) {
        mcr_folds f = {.ctx = ctx,
                       .kernel = kernel,
                       .data = set->data,
                       .gram = path->kept,
                       .params = params,
                       .settings = count,
                       .solved = solved};
        f.fold = mcr_splits_folds(set->splits, r, &f.folds);
        s = options[0]->type->folds(&f);
        if (!s)
            s = evaluate_repeat(set, &f, r, score);
        mcr_free(ctx, f.score);
    }
    mcr_free_all(ctx, params, solved);
    /* If it does not fit into memory, or cannot be learnt, training reports it again. */
    return s == MCR_OVER_BUDGET || s == MCR_NUMERIC || s == MCR_BAD_DATA || s == MCR_BAD_CALL
               ? MCR_OK
               : s;
}
