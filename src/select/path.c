/* path.c: a warm-start path: one kernel with several settings of the options, trained and tested on
 * one split.
 *
 * Work that the settings share is done once: the split, the scaling, and kernel values if there are
 * several settings and the learner accepts stored values. Each setting is warm-started from the
 * previous solution.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/params.h"
#include "gram/stored.h"
#include "kernel/explicit.h"
#include "learn/goal.h"
#include "select/select.h"
#include "solve/smo_rows.h"

typedef struct work {
    const mcr_trial_set *set;
    mcr_path *path;
    mcr_data *all, *train, *test; /* prepared for the kernel */
    int64_t *row[2], count[2];    /* which objects train, and which test */
    bool folds;                   /* settings train on a fold of K in float */
    mcr_gram *own;                /* K of all objects, if owned by this path; NULL */
    mcr_gram *exact;    /* K of the training objects in double, in addition to shared floats */
    mcr_gram *gram;     /* K of the training objects that all settings share; NULL: none */
    mcr_gram *across;   /* K of training objects against test objects; NULL: not stored */
    mcr_fitted *fitted; /* the last one, if trained on a fold */
    bool want_score, want_proba;
    double *value, *score, *proba; /* of the test objects */
    mcr_model *model;              /* the last one */
} work;

/* Keeps the order within each class. */
static mcr_status sort_by_class(mcr *ctx, const int32_t *class_of, int64_t classes, int64_t *rows,
                                int64_t count)
{
    int64_t *sorted = mcr_alloc(ctx, (size_t)count, sizeof *sorted), at = 0;
    if (!sorted)
        return MCR_NO_MEMORY;
    for (int64_t c = 0; c < classes; c++)
        for (int64_t i = 0; i < count; i++)
            if (class_of[rows[i]] == c)
                sorted[at++] = rows[i];
    memcpy(rows, sorted, sizeof *rows * (size_t)count);
    mcr_free(ctx, sorted);
    return MCR_OK;
}

/* ---- what may be shared -----------------------------------------------------------------------*/

enum { MOST_SHARED = 6000 }; /* objects: with more, the solver's own row cache is better */

static bool can_share(const mcr_options *options)
{
    return !mcr_finds_kernel(options) && !mcr_wants_features(options);
}

/* Whether storing float values of K for all settings pays. */
static bool shares_floats(const mcr_path *p)
{
    return p->space && p->kernel && p->count > 1 && p->options[0]->type->takes_k &&
           can_share(p->options[0]);
}

mcr_status mcr_path_bytes(size_t *bytes, const mcr_options *options, const mcr_data *data,
                          int64_t fewest)
{
    const mcr_learner_type *type = options->type;
    int64_t n = mcr_data_count(data), most = n < MOST_SHARED ? n : MOST_SHARED;
    mcr_status s = MCR_OK;
    *bytes = 0;
    if (!can_share(options) || fewest > MOST_SHARED)
        return MCR_OK;
    if (type->takes_k) {
        if (type->fold_bytes && n <= MOST_SHARED)
            s = type->fold_bytes(bytes, options->ctx, options->params, data);
        *bytes += 2 * mcr_gram_copy_bytes(most, false);
    } else if (type->dense && n <= MOST_SHARED) {
        *bytes = mcr_gram_copy_bytes(n, true);
    }
    return s;
}

bool mcr_path_takes_folds(const mcr_trial_set *set, const mcr_path *p)
{
    /* With a feature map, features may be faster. */
    bool takes = shares_floats(p) && !mcr_kernel_has_features(p->kernel) &&
                 mcr_data_count(set->data) <= MOST_SHARED;
    for (int64_t i = 0; i < p->count && takes; i++) {
        const mcr_learner_type *type = p->options[i]->type;
        takes = type->takes_fold && type->takes_fold(p->options[i]->params);
    }
    for (int64_t m = 0; m < set->metrics && takes; m++)
        takes = !set->metric[m]->info.proba;
    return takes;
}

/* Learners that need K as a matrix of doubles anyway read it from one of all objects. */
static bool takes_doubles(const mcr_trial_set *set, const mcr_path *p)
{
    return p->space && p->kernel && p->count > 1 && p->options[0]->type->dense &&
           !p->options[0]->type->folds && can_share(p->options[0]) &&
           !mcr_kernel_has_features(p->kernel) && mcr_data_count(set->data) <= MOST_SHARED;
}

/* K of the objects into the space; *out is NULL if storing does not pay. */
static mcr_status store(mcr_gram **out, mcr *ctx, mcr_path_space *space, const mcr_path *p,
                        const mcr_data *data, bool precise)
{
    mcr_gram *gram = NULL;
    *out = NULL;
    mcr_status s = p->kept ? mcr_gram_share(&gram, p->kept)
                           : mcr_gram_open(&gram, ctx, p->kernel, data, NULL);
    if (!s)
        s = mcr_gram_copy(out, gram, precise, NULL, &space->matrix);
    mcr_gram_close(gram);
    return s == MCR_NUMERIC ? MCR_OK : s; /* too large for float: left to each training */
}

mcr_status mcr_path_store(const mcr_trial_set *set, const mcr_path *p, mcr_path_space *space)
{
    bool precise = takes_doubles(set, p);
    mcr_path_space_empty(space);
    if ((!precise && !mcr_path_takes_folds(set, p)) || (precise && p->kept))
        return MCR_OK;
    return store(&space->stored, set->ctx, space, p, set->data, precise);
}

void mcr_path_space_empty(mcr_path_space *space)
{
    mcr_gram_close(space->stored);
    space->stored = NULL;
}

void mcr_path_space_free(mcr *ctx, mcr_path_space *space)
{
    mcr_path_space_empty(space);
    mcr_gram_buffer_free(ctx, &space->matrix);
    mcr_row_pool_close(space->pool);
    space->pool = NULL;
    mcr_fold_buffer_free(ctx, &space->fold);
}

/* ---- one split --------------------------------------------------------------------------------*/

static mcr_status list_rows(work *w, int test, bool by_class)
{
    mcr *ctx = w->set->ctx;
    const mcr_data *data = w->set->data;
    w->count[test] = mcr_splits_rows(w->set->splits, w->path->split, test, NULL);
    if (!(w->row[test] = mcr_alloc(ctx, (size_t)w->count[test], sizeof **w->row)))
        return MCR_NO_MEMORY;
    mcr_splits_rows(w->set->splits, w->path->split, test, w->row[test]);
    return by_class ? sort_by_class(ctx, mcr_data_class_of(data), mcr_data_classes(data),
                                    w->row[test], w->count[test])
                    : MCR_OK;
}

/* The objects of the split, scaled with parameters from its training objects. */
static mcr_status open_split(work *w)
{
    const mcr_options *options = w->path->options[0];
    mcr_data *plain = NULL, **to[2] = {&w->train, &w->test};
    mcr_scaling *scaling = NULL;
    bool learns = mcr_scaling_needed(w->set->data, options->scale);
    mcr_status s = MCR_OK;
    /* Sorting by class makes the values of each pair of classes contiguous. */
    bool by_class = shares_floats(w->path) && !w->folds && mcr_data_classes(w->set->data) > 2 &&
                    options->type->task == MCR_CLASSIFY;
    for (int test = 0; test < 2 && !s; test++)
        s = list_rows(w, test, by_class && !test);
    if (!s && learns)
        s = mcr_data_select(&plain, w->set->data, (mcr_rows){w->row[0], 0, w->count[0]});
    if (!s && learns)
        s = mcr_scaling_learn(&scaling, plain, options->scale);
    if (!s)
        s = mcr_scaling_apply(&w->all, scaling, w->set->data);
    for (int test = 0; test < 2 && !s; test++)
        s = mcr_data_select(to[test], w->all, (mcr_rows){w->row[test], 0, w->count[test]});
    mcr_scaling_free(scaling);
    mcr_data_free(plain);
    return s;
}

/* Opens a fold of the K in float of all objects. */
static mcr_status open_fold(work *w)
{
    mcr_path *p = w->path;
    mcr_gram *all = p->stored;
    mcr_status s = MCR_OK;
    if (!all) {
        s = store(&w->own, w->set->ctx, p->space, p, w->all, false);
        all = w->own;
    }
    w->folds = all != NULL;
    p->space->fold.ready = false;
    if (!s && all && !p->space->pool)
        s = mcr_row_pool_open(&p->space->pool, w->set->ctx);
    const mcr_fold fold = {all,         w->row[0],       w->row[1],     w->count[0],
                           w->count[1], &p->space->fold, p->space->pool};
    return s || !all ? s : mcr_gram_fold(&w->gram, &fold);
}

/* K of the training objects, and against the test objects, if stored or worth storing. */
static mcr_status open_grams(work *w)
{
    mcr *ctx = w->set->ctx;
    mcr_path *p = w->path;
    mcr_rows train = {w->row[0], 0, w->count[0]}, test = {w->row[1], 0, w->count[1]};
    bool floats = shares_floats(p) && w->count[0] <= MOST_SHARED;
    mcr_gram *doubles = p->kept ? p->kept : w->folds ? NULL : p->stored;
    mcr_status s = MCR_OK;
    if (w->folds && ((s = open_fold(w)) || w->folds))
        return s;
    if (doubles) {
        s = mcr_gram_list(&w->exact, doubles, &train, NULL);
        if (!s)
            s = mcr_gram_list(&w->across, doubles, &train, &test);
    } else if (floats) {
        s = mcr_gram_open(&w->exact, ctx, p->kernel, w->train, NULL);
    }
    if (!s && floats) {
        s = mcr_gram_copy(&w->gram, w->exact, false, w->exact, &p->space->matrix);
        s = s == MCR_NUMERIC ? MCR_OK : s; /* too large for float */
    }
    return s;
}

/* ---- training and testing ---------------------------------------------------------------------*/

static mcr_status open_work(work *w)
{
    mcr *ctx = w->set->ctx;
    w->folds = mcr_path_takes_folds(w->set, w->path);
    mcr_status s = open_split(w);
    if (!s)
        s = open_grams(w);
    for (int64_t m = 0; m < w->set->metrics; m++) {
        w->want_score |= w->set->metric[m]->info.score;
        w->want_proba |= w->set->metric[m]->info.proba;
    }
    w->want_score |= w->path->keep;
    if (!s && !(w->value = mcr_alloc(ctx, (size_t)mcr_data_count(w->test), sizeof *w->value)))
        s = MCR_NO_MEMORY;
    return s;
}

static void close_work(work *w)
{
    mcr *ctx = w->set->ctx;
    mcr_model_free(w->model);
    mcr_fitted_free(w->fitted);
    mcr_gram_close(w->across);
    mcr_gram_close(w->gram);
    mcr_gram_close(w->exact);
    mcr_gram_close(w->own);
    mcr_free_all(ctx, w->row[0], w->row[1]);
    mcr_data_free(w->all);
    mcr_data_free(w->train);
    mcr_data_free(w->test);
    mcr_free_all(ctx, w->value, w->score, w->proba);
}

/* Memory for decision values and probabilities; models of one path may differ in these. */
static mcr_status open_scores(work *w)
{
    const mcr_fitted *f = w->model->fitted;
    mcr *ctx = w->set->ctx;
    int64_t n = mcr_data_count(w->test);
    bool has_proba = mcr_model_has_probability(w->model);
    mcr_free_all(ctx, w->score, w->proba);
    w->score = w->proba = NULL;
    if (w->want_score && !(w->score = mcr_alloc(ctx, (uint64_t)(n * f->outputs), sizeof(double))))
        return MCR_NO_MEMORY;
    if ((w->want_proba || w->want_score) && has_proba &&
        !(w->proba = mcr_alloc(ctx, (uint64_t)(n * w->model->classes), sizeof(double))))
        return MCR_NO_MEMORY;
    return MCR_OK;
}

mcr_status mcr_trial_score(const mcr_trial_set *set, const mcr_fitted *f, const mcr_data *data,
                           const double *value, const double *score, const double *proba,
                           double *to)
{
    mcr_evaluated what;
    double *target = NULL;
    mcr_status s = mcr_evaluated_open(&what, &target, set->ctx, f, data, set->positive);
    if (!s)
        mcr_evaluated_add(&what, f, value, score, proba);
    for (int64_t m = 0; m < set->metrics && !s; m++) {
        to[m] = NAN;
        if (!set->lenient || mcr_metric_possible(set->metric[m], &what))
            s = mcr_metric_score(set->metric[m], set->ctx, &what, &to[m]);
    }
    mcr_free(set->ctx, target);
    return s;
}

/* Evaluates the predictions in w->value. */
static mcr_status evaluate(work *w, int64_t setting, const mcr_fitted *f, const double *score,
                           const double *proba)
{
    int64_t n = mcr_data_count(w->test);
    mcr_status s = mcr_trial_score(w->set, f, w->test, w->value, score, proba,
                                   w->path->score + setting * w->set->metrics);
    if (!s && w->path->value)
        memcpy(w->path->value + setting * n, w->value, sizeof *w->value * (size_t)n);
    return s;
}

static mcr_status interrupted(const work *w)
{
    return mcr_fail(w->set->ctx, MCR_STOPPED, "interrupted");
}

/* *done: it was solved. Settings that floats cannot solve are trained as usual. */
static mcr_status try_setting(work *w, int64_t setting, bool *done)
{
    mcr_path *c = w->path;
    const mcr_options *options = c->options[setting];
    mcr_fitted *next = NULL;
    mcr_learning in = {.ctx = w->set->ctx,
                       .params = options->params,
                       .kernel = c->kernel,
                       .data = w->train,
                       .start = w->fitted,
                       .gram = w->gram};
    mcr_status s = options->type->check ? options->type->check(in.ctx, in.params) : MCR_OK;
    if (!s)
        s = mcr_learn(&next, options->type, &in);
    if (s == MCR_OVER_BUDGET || s == MCR_NUMERIC) { /* perhaps float is not precise enough */
        w->folds = false;
        return MCR_OK;
    }
    if (s)
        return s;
    mcr_fitted_free(w->fitted);
    w->fitted = next;
    if (next->stop == MCR_STOP_INTERRUPTED)
        return interrupted(w);
    *done = next->stop != MCR_STOP_STUCK;
    c->unfinished += *done && !mcr_stop_is_end(next->stop);
    c->timed += next->stop == MCR_STOP_TIME;
    for (int64_t i = 0; i < w->count[1] && *done; i++)
        w->value[i] = mcr_fitted_decide(next, next->held_out + i * next->outputs, NULL, NULL);
    return *done ? evaluate(w, setting, next, next->held_out, NULL) : MCR_OK;
}

/* If a fold in float was insufficient, each training computes K itself. */
static mcr_gram *shared_gram(const work *w)
{
    bool fold = w->gram && mcr_gram_as_fold(w->gram);
    return w->gram && !fold ? w->gram : w->across ? w->exact : NULL;
}

/* On folds of the training objects, which are already scaled. */
static mcr_status learn_threshold(work *w, mcr_model *model, const mcr_options *options)
{
    mcr_options *plain = NULL;
    mcr_status s = mcr_options_copy(&plain, options);
    if (!s) {
        plain->scale = MCR_SCALE_NONE;
        s = mcr_threshold_learn(model, plain, w->train, w->path->threshold);
    }
    mcr_options_close(plain);
    return s;
}

static mcr_status one_setting(work *w, int64_t setting)
{
    mcr_path *c = w->path;
    const mcr_options *options = c->options[setting];
    bool done = false;
    mcr_status s = w->folds ? try_setting(w, setting, &done) : MCR_OK;
    if (s || done)
        return s;
    mcr_model *next = NULL, *start = options->type->no_start ? NULL : w->model;
    s = mcr_train(&next, &(mcr_training){.options = options,
                                         .kernel = c->kernel,
                                         .data = w->train,
                                         .start = start,
                                         .gram = shared_gram(w),
                                         .unscored = true,
                                         .scaled = true});
    if (s)
        return s;
    mcr_model_free(w->model);
    w->model = next;
    if (next->report.stop == MCR_STOP_INTERRUPTED)
        return interrupted(w);
    c->unfinished += !mcr_stop_is_end(next->report.stop);
    c->timed += next->report.stop == MCR_STOP_TIME;
    s = open_scores(w);
    if (!s && c->threshold)
        s = learn_threshold(w, next, options);
    if (!s)
        s = mcr_predict_across(w->set->ctx, next, w->test, w->across, w->value, w->score, w->proba);
    if (!s)
        s = evaluate(w, setting, next->fitted, w->score, w->proba);
    if (!s && c->keep) {
        c->scores = w->score;
        c->probas = w->proba;
        c->model = next;
        w->score = w->proba = NULL;
        w->model = NULL;
    }
    return s;
}

mcr_status mcr_path_run(const mcr_trial_set *set, mcr_path *c)
{
    work w = {.set = set, .path = c};
    mcr_status s = open_work(&w);
    for (int64_t i = 0; i < c->count * set->metrics; i++)
        c->score[i] = NAN;
    for (int64_t setting = 0; setting < c->count && !s; setting++) {
        s = one_setting(&w, setting);
        bool cannot = s == MCR_NUMERIC || s == MCR_BAD_DATA || s == MCR_BAD_CALL;
        if (!cannot || c->strict)
            continue;
        c->failed++; /* this setting cannot be trained; others may */
        for (int64_t m = 0; m < set->metrics; m++)
            c->score[setting * set->metrics + m] = set->metric[m]->info.larger ? -INFINITY
                                                                               : INFINITY;
        if (!c->message[0])
            snprintf(c->message, sizeof c->message, "%s", mcr_last_message(set->ctx));
        s = MCR_OK;
    }
    close_work(&w);
    return s;
}

bool mcr_wants_features(const mcr_options *options)
{
    static const char *const name[] = {MCR_OPTION_FORM, MCR_OPTION_APPROX};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const mcr_param *p = mcr_options_find(options, name[i]);
        if (p && !mcr_params_is_standard(p, options->params))
            return true;
    }
    return false;
}

bool mcr_finds_kernel(const mcr_options *options)
{
    const char *name = options->type->kernel_search;
    const int *yes = name ? mcr_options_at(options, name, MCR_FLAG) : NULL;
    return yes && *yes;
}

mcr_status mcr_task_of(mcr_task *out, const mcr_options *options, const mcr_data *data)
{
    *out = options->type->task;
    const int *task = mcr_options_at(options, MCR_OPTION_TASK, MCR_CHOICE);
    if (task && *out == MCR_EITHER) {
        bool words = mcr_data_target_kind(data) == MCR_WORD_TARGETS;
        *out = *task == MCR_TASK_CLASSIFY || (*task == MCR_TASK_AUTO && words) ? MCR_CLASSIFY
                                                                               : MCR_REGRESS;
    }
    if (*out == MCR_TRANSFORM)
        return mcr_fail(
            options->ctx, MCR_BAD_CALL,
            "%s gives coordinates and no predictions to compare: use another learner on them",
            options->type->name);
    if (mcr_data_target_kind(data) == MCR_NO_TARGETS)
        return mcr_fail(options->ctx, MCR_BAD_DATA, "the data have no targets to compare with");
    if (mcr_data_target_count(data) > 1)
        return mcr_advise(options->ctx,
                          mcr_fail(options->ctx, MCR_BAD_CALL,
                                   "one target is scored, and the data have %lld: name one of them",
                                   (long long)mcr_data_target_count(data)),
                          "option target=COLUMN");
    return MCR_OK;
}
