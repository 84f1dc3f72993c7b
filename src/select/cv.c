/* cv.c: cross-validation: trains and tests on each split, with given parameters or with the best
 * ones of a search on the split's training objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/params.h"
#include "base/sized.h"
#include "base/stream.h"
#include "base/team.h"
#include "base/threads.h"
#include "select/search.h"

enum { MOST_METRICS = 32 };

typedef struct job {
    mcr *ctx;
    const mcr_options *options;
    const mcr_kernel *kernel;
    const mcr_data *data;
    const mcr_splits *splits;
    const mcr_search *search;
    const char *threshold; /* rule for its threshold; NULL: none */
    const mcr_metric *metric[MOST_METRICS];
    int64_t metrics, count; /* splits */
    double *score;          /* splits x metrics */
    bool usual;             /* default metrics: those that are not available are dropped */
    int64_t positive;
    double **value;            /* predictions of each split's test objects */
    double **scores, **probas; /* their decision values and probabilities; NULL: none */
    int64_t *outputs;          /* outputs of each split's model */
    char **output;             /* their names in the first model, */
    int64_t named;             /* and their number; 0: not known */
    char **kernel_text, **options_text;
    int64_t unfinished, fits, done;
    double began;
    mcr_team *team; /* processes that share the splits; NULL: one */
} job;

/* ---- which metrics ----------------------------------------------------------------------------*/

static mcr_status add_metric(job *j, const char *name, mcr_task task)
{
    if (j->metrics == MOST_METRICS)
        return mcr_fail(j->ctx, MCR_BAD_CALL, "more than %d metrics", MOST_METRICS);
    mcr_status s = mcr_metric_choose(&j->metric[j->metrics], j->ctx, name, task);
    if (!s && mcr_splits_leave_one_out(j->splits) && !j->metric[j->metrics]->of_one)
        s = mcr_fail(j->ctx, MCR_BAD_CALL,
                     "%s of one object is not meaningful, and leave-one-out tests them one by one: "
                     "use folds",
                     j->metric[j->metrics]->info.name);
    j->metrics += !s;
    return s;
}

static mcr_status named_metrics(job *j, const char *names, mcr_task task)
{
    mcr_status s = MCR_OK;
    for (const char *p = names; !s;) {
        size_t length = strcspn(p, ",");
        char *name = mcr_copy_text(j->ctx, p, length);
        s = name ? add_metric(j, name, task) : MCR_NO_MEMORY;
        mcr_free(j->ctx, name);
        if (!p[length])
            break;
        p += length + 1;
    }
    return s;
}

/* All metrics of the task; those whose inputs a learner does not provide are dropped at the end. */
static mcr_status usual_metrics(job *j, mcr_task task)
{
    mcr_status s = MCR_OK;
    const mcr_metric *m;
    j->usual = true;
    for (int64_t i = 0; (m = mcr_metric_at(i)) && !s && task == MCR_DETECT; i++)
        if (m->detects && !mcr_splits_leave_one_out(j->splits))
            s = add_metric(j, m->info.name, task);
    if (!s && task == MCR_DETECT)
        return add_metric(j, "accuracy", task);
    for (int64_t i = 0; (m = mcr_metric_at(i)) && !s; i++)
        if (m->info.task == task && !m->info.intervals &&
            (m->of_one || !mcr_splits_leave_one_out(j->splits)))
            s = add_metric(j, m->info.name, task);
    return s;
}

/* ---- one split --------------------------------------------------------------------------------*/

/* Reports progress; true: the user requests a stop. */
static bool tell(job *j)
{
    double part = (double)__atomic_load_n(&j->done, __ATOMIC_RELAXED) / (double)j->count;
    double passed = mcr_now() - j->began;
    mcr_progress at = {.phase = "cv",
                       .fraction = part,
                       .seconds = passed,
                       .objective = NAN,
                       .violation = NAN,
                       .left = part > 0.02 ? passed * (1 - part) / part : 0};
    mcr_cover_set(j->ctx, &at);
    return mcr_report(j->ctx, &at);
}

static mcr_trial_set trials_of(const job *j)
{
    return (mcr_trial_set){.ctx = j->ctx,
                           .data = j->data,
                           .splits = j->splits,
                           .metric = j->metric,
                           .metrics = j->metrics,
                           .positive = j->positive,
                           .lenient = j->usual};
}

/* The best parameters on a split's training objects. */
static mcr_status search_split(job *j, int64_t split, mcr_kernel **kernel, mcr_options **options)
{
    mcr *ctx = j->ctx;
    mcr_tried t = {.ctx = ctx};
    mcr_search inner = *j->search;
    mcr_split_plan plan;
    mcr_data *train = NULL;
    int64_t *group = NULL, count = mcr_splits_rows(j->splits, split, 0, NULL);
    int64_t *rows = mcr_alloc(ctx, (size_t)count, sizeof *rows);
    mcr_status s = rows ? MCR_OK : MCR_NO_MEMORY;
    if (!s) {
        mcr_splits_rows(j->splits, split, 0, rows);
        s = mcr_data_select(&train, j->data, (mcr_rows){rows, 0, count});
    }
    if (!s) /* the rarer class in all data */
        train->positive = j->positive + 1;
    if (!s)
        s = MCR_SIZED_READ(mcr_split_plan, &plan, ctx, inner.split);
    if (!s)
        s = mcr_pick_groups(&group, ctx, plan.group, rows, count);
    plan.group = group;
    inner.split = &plan;
    inner.checkpoint = NULL;
    if (!s)
        s = mcr_search_run(&t, j->options, &inner, train);
    __atomic_add_fetch(&j->unfinished, t.unfinished, __ATOMIC_RELAXED);
    __atomic_add_fetch(&j->fits, t.fits, __ATOMIC_RELAXED);
    if (!s)
        s = mcr_grid_kernel(kernel, t.grid, t.best);
    if (!s)
        s = mcr_grid_setting(options, t.grid, t.best);
    if (!s)
        s = mcr_grid_name(&j->kernel_text[split], &j->options_text[split], t.grid, t.best);
    mcr_search_close(&t);
    mcr_data_free(train);
    mcr_free_all(ctx, group, rows);
    return s;
}

/* Stores the names of the first model's outputs. */
static mcr_status keep_names(job *j, const mcr_model *m)
{
    int64_t outputs = m->fitted->outputs;
    j->output = mcr_copy_texts(j->ctx, (const char *const *)m->output_name, outputs);
    j->named = j->output ? outputs : 0;
    return j->output ? MCR_OK : MCR_NO_MEMORY;
}

static mcr_status run_split(void *arg, int64_t split, int worker)
{
    (void)worker;
    job *j = arg;
    mcr_kernel *kernel = NULL;
    mcr_options *options = NULL;
    if (j->team && split % j->team->count != j->team->rank)
        return MCR_OK;
    mcr_status s = j->search ? search_split(j, split, &kernel, &options) : MCR_OK;
    const mcr_options *chosen = options ? options : j->options;
    const mcr_trial_set set = trials_of(j);
    int64_t test = mcr_splits_rows(j->splits, split, 1, NULL);
    mcr_path c = {.kernel = j->search ? kernel : j->kernel,
                  .options = &chosen,
                  .count = 1,
                  .split = split,
                  .strict = true,
                  .threshold = j->threshold,
                  .keep = true,
                  .score = j->score + split * j->metrics};
    if (!s && !(c.value = j->value[split] = mcr_alloc(j->ctx, (size_t)test, sizeof(double))))
        s = MCR_NO_MEMORY;
    if (!s)
        s = mcr_path_run(&set, &c);
    j->scores[split] = c.scores;
    j->probas[split] = c.probas;
    j->outputs[split] = c.model ? c.model->fitted->outputs : 0;
    if (!s && split == 0 && c.model)
        s = keep_names(j, c.model);
    mcr_model_free(c.model);
    __atomic_add_fetch(&j->unfinished, c.unfinished, __ATOMIC_RELAXED);
    __atomic_add_fetch(&j->fits, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&j->done, 1, __ATOMIC_RELAXED);
    if (tell(j) && !s)
        s = mcr_fail(j->ctx, MCR_STOPPED, "interrupted");
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    return s;
}

/* ---- leaving one out without training again ---------------------------------------------------*/

/* *known: the learner knows the leave-one-out prediction for each object. */
static mcr_status leave_out(job *j, bool *known)
{
    mcr *ctx = j->ctx;
    mcr_options *options = NULL;
    mcr_model *m = NULL;
    *known = false;
    const mcr_param *by_class = mcr_options_find(j->options, MCR_OPTION_CLASS_WEIGHT);
    /* Anything that would change without the object (scales, weights, a kernel) must not depend on
     * it. */
    if (mcr_finds_kernel(j->options) || !j->options->type->leaves_out || j->search ||
        j->threshold || mcr_scaling_changes(j->data, j->options->scale) || !j->kernel ||
        mcr_wants_features(j->options) ||
        (by_class && mcr_params_given(by_class, j->options->params)) ||
        !mcr_splits_leave_one_out(j->splits))
        return MCR_OK;
    mcr_status s = mcr_options_copy(&options, j->options);
    if (!s)
        s = mcr_options_set(options, MCR_OPTION_LOO, "yes");
    if (!s)
        s = mcr_train(
            &m, &(mcr_training){
                    .options = options, .kernel = j->kernel, .data = j->data, .unscored = true});
    const mcr_fitted *f = s ? NULL : m->fitted;
    const mcr_trial_set set = trials_of(j);
    *known = f && f->left_out;
    for (int64_t i = 0; i < j->count && *known && !s; i++) {
        mcr_data *one = NULL;
        const double *score = f->left_out + i * f->outputs;
        s = mcr_data_select(&one, j->data, (mcr_rows){NULL, i, 1});
        if (!s && !(j->value[i] = mcr_alloc(ctx, 1, sizeof(double))))
            s = MCR_NO_MEMORY;
        if (!s)
            *j->value[i] = mcr_fitted_decide(f, score, NULL, NULL);
        if (!s)
            s = mcr_trial_score(&set, f, one, j->value[i], score, NULL, j->score + i * j->metrics);
        mcr_data_free(one);
    }
    if (!s && *known)
        j->unfinished = !mcr_stop_is_end(m->report.stop);
    j->fits += *known;
    mcr_model_free(m);
    mcr_options_close(options);
    return s;
}

/* ---- several processes ------------------------------------------------------------------------*/

/* Shares numbers of one split, which one process has; *x is allocated in the others. */
static mcr_status share_array(job *j, double **x, int64_t count)
{
    if (!*x && !(*x = mcr_alloc_zero(j->ctx, (size_t)count, sizeof **x)))
        return MCR_NO_MEMORY;
    return mcr_team_share(j->ctx, *x, count);
}

static mcr_status share_words(job *j, char **text)
{
    enum { MOST = 4096 };
    char *buffer = mcr_alloc_zero(j->ctx, MOST, 1);
    if (!buffer)
        return MCR_NO_MEMORY;
    if (*text)
        strncpy(buffer, *text, MOST - 1);
    mcr_status s = mcr_team_share_text(j->ctx, buffer, MOST);
    if (!s && !*text && !(*text = mcr_copy_text(j->ctx, buffer, strlen(buffer))))
        s = MCR_NO_MEMORY;
    mcr_free(j->ctx, buffer);
    return s;
}

/* Shares the results of a split. */
static mcr_status share_split(job *j, int64_t split)
{
    int64_t test = mcr_splits_rows(j->splits, split, 1, NULL), classes = mcr_data_classes(j->data);
    bool own = split % j->team->count == j->team->rank;
    double *score = j->score + split * j->metrics;
    double has[3] = {own ? (double)j->outputs[split] : 0, j->scores[split] != NULL,
                     j->probas[split] != NULL};
    for (int64_t m = 0; m < j->metrics && !own; m++)
        score[m] = 0;
    mcr_status s = mcr_team_share(j->ctx, score, j->metrics);
    if (!s)
        s = mcr_team_share(j->ctx, has, 3);
    if (!s)
        s = share_array(j, &j->value[split], test);
    j->outputs[split] = (int64_t)has[0];
    if (!s && has[1] > 0)
        s = share_array(j, &j->scores[split], test * j->outputs[split]);
    if (!s && has[2] > 0)
        s = share_array(j, &j->probas[split], test * classes);
    if (!s && j->search)
        s = share_words(j, &j->kernel_text[split]);
    return s || !j->search ? s : share_words(j, &j->options_text[split]);
}

static mcr_status share_splits(job *j)
{
    double count[2] = {(double)j->fits, (double)j->unfinished};
    mcr_status s = mcr_team_share(j->ctx, count, 2);
    for (int64_t split = 0; split < j->count && !s; split++)
        s = share_split(j, split);
    j->fits = (int64_t)count[0];
    j->unfinished = (int64_t)count[1];
    return s;
}

/* ---- the report -------------------------------------------------------------------------------*/

static bool is_defined(const job *j, int64_t metric)
{
    bool defined = false;
    for (int64_t s = 0; s < j->count; s++)
        defined |= !isnan(j->score[s * j->metrics + metric]);
    return defined;
}

static mcr_status gather_metrics(mcr_cv_report *r, job *j)
{
    const mcr_cv_metric **list = mcr_alloc_zero(j->ctx, (size_t)j->metrics,
                                                sizeof(const mcr_cv_metric *));
    r->metric = list;
    if (!list)
        return MCR_NO_MEMORY;
    for (int64_t m = 0; m < j->metrics; m++) {
        if (j->usual && !is_defined(j, m))
            continue;
        /* One block: the description, then the values. */
        mcr_cv_metric *metric = mcr_alloc(j->ctx, 1,
                                          sizeof *metric + (size_t)j->count * sizeof(double));
        if (!metric)
            return MCR_NO_MEMORY;
        double *split = (double *)(metric + 1);
        for (int64_t s = 0; s < j->count; s++)
            split[s] = j->score[s * j->metrics + m];
        *metric = (mcr_cv_metric){.size = sizeof *metric,
                                  .name = j->metric[m]->info.name,
                                  .mean = mcr_mean(split, j->count),
                                  .std = mcr_standard_deviation(split, j->count),
                                  .split = split};
        list[r->metrics++] = metric;
    }
    return MCR_OK;
}

/* The outputs of all splits' models by object, if they have the same number of outputs. */
static mcr_status gather_rows(const double **out, const job *j, double *const *from, int64_t cols,
                              const int64_t *first)
{
    int64_t n = mcr_data_count(j->data);
    for (int64_t split = 0; split < j->count; split++)
        if (!from[split] || cols < 1 || j->outputs[split] != j->outputs[0])
            return MCR_OK;
    double *to = mcr_alloc(j->ctx, (uint64_t)(n * cols), sizeof *to);
    int64_t *rows = mcr_alloc(j->ctx, (size_t)n, sizeof *rows);
    *out = to;
    for (int64_t i = 0; i < n * cols && to; i++)
        to[i] = NAN;
    for (int64_t split = 0; split < j->count && to && rows; split++) {
        int64_t count = mcr_splits_rows(j->splits, split, 1, rows);
        for (int64_t i = 0; i < count; i++)
            if (first[rows[i]] == split)
                memcpy(to + rows[i] * cols, from[split] + i * cols, sizeof *to * (size_t)cols);
    }
    mcr_status s = to && rows ? MCR_OK : MCR_NO_MEMORY;
    mcr_free(j->ctx, rows);
    return s;
}

static mcr_status gather_values(mcr_cv_report *r, job *j)
{
    double *value = mcr_alloc(j->ctx, (size_t)r->n, sizeof *value);
    int64_t *rows = mcr_alloc(j->ctx, (size_t)r->n, sizeof *rows);
    int64_t *first = mcr_alloc(j->ctx, (size_t)r->n, sizeof *first);
    r->value = value;
    r->split = first;
    mcr_status s = value && rows && first ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < r->n && !s; i++) {
        value[i] = NAN;
        first[i] = -1;
    }
    for (int64_t split = 0; split < j->count && !s; split++) {
        int64_t count = mcr_splits_rows(j->splits, split, 1, rows);
        for (int64_t i = 0; i < count; i++)
            if (first[rows[i]] < 0) {
                value[rows[i]] = j->value[split][i];
                first[rows[i]] = split;
            }
    }
    mcr_free(j->ctx, rows);
    if (!s && j->named)
        s = gather_rows(&r->score, j, j->scores, j->outputs[0], first);
    if (!s && j->named)
        s = gather_rows(&r->proba, j, j->probas, mcr_data_classes(j->data), first);
    return s;
}

void mcr_cv_free(mcr *ctx, mcr_cv_report *r)
{
    if (!r)
        return;
    mcr_free_each(ctx, (void *)r->metric, r->metrics);
    mcr_free_each(ctx, (void *)r->kernel, r->splits);
    mcr_free_each(ctx, (void *)r->options, r->splits);
    mcr_free_each(ctx, (void *)r->output, r->outputs);
    mcr_free_all(ctx, (void *)r->score, (void *)r->proba, (void *)r->split, (void *)r->value, r);
}

/* ---- the call ---------------------------------------------------------------------------------*/

static mcr_status open_job(job *j, const char *metrics, mcr_cv_report *r)
{
    mcr *ctx = j->ctx;
    if (mcr_splits_objects(j->splits) != r->n)
        return mcr_fail(ctx, MCR_BAD_CALL, "the splits are of %lld objects, the data have %lld",
                        (long long)mcr_splits_objects(j->splits), (long long)r->n);
    mcr_status s = mcr_task_of(&r->task, j->options, j->data);
    if (!s)
        s = metrics ? named_metrics(j, metrics, r->task) : usual_metrics(j, r->task);
    if (s)
        return s;
    uint64_t count = (uint64_t)j->count;
    if (!mcr_alloc_arrays(ctx, MCR_ARRAY(j->score, count * (uint64_t)j->metrics), /* to free */
                          MCR_CLEARED(j->value, count), MCR_CLEARED(j->scores, count),
                          MCR_CLEARED(j->probas, count), MCR_CLEARED(j->outputs, count)))
        return MCR_NO_MEMORY;
    if (j->search) {
        j->kernel_text = mcr_alloc_zero(ctx, (size_t)j->count, sizeof *j->kernel_text);
        j->options_text = mcr_alloc_zero(ctx, (size_t)j->count, sizeof *j->options_text);
        r->kernel = (const char *const *)j->kernel_text;
        r->options = (const char *const *)j->options_text;
    }
    return !j->search == !j->kernel_text && !j->search == !j->options_text ? MCR_OK : MCR_NO_MEMORY;
}

static void close_job(job *j)
{
    for (int64_t i = 0; j->score && i < j->count; i++)
        mcr_free_all(j->ctx, j->value[i], j->scores[i], j->probas[i]);
    mcr_free(j->ctx, j->score);
}

static mcr_status run_splits(job *j)
{
    mcr_progress at = {.phase = "cv", .objective = NAN, .violation = NAN};
    bool covers = mcr_cover(j->ctx, &at);
    bool known;
    mcr_status s = leave_out(j, &known);
    if (known || s) {
        if (covers)
            mcr_uncover(j->ctx);
        return s;
    }
    /* Each process trains alone, including searches within its splits. */
    if (j->team)
        mcr_team_set(j->ctx, NULL);
    /* A search keeps all threads busy. */
    if (!j->search && mcr_run_parallel(j->ctx, j->options->type, mcr_data_count(j->data), j->count))
        s = mcr_parallel(j->ctx, j->count, run_split, j);
    else
        for (int64_t i = 0; i < j->count && !s; i++)
            s = run_split(j, i, 0);
    if (j->team)
        mcr_team_set(j->ctx, j->team);
    if (covers)
        mcr_uncover(j->ctx);
    return s || !j->team ? s : share_splits(j);
}

/* The limit is that of each training, and of each search before it. What does not watch it by
 * itself ends when all of them together have had that much. */
static mcr_status run_all(job *j)
{
    double limit = mcr_time_limit(j->options);
    mcr_deadline_set(j->ctx, limit * (double)(j->search ? 2 * j->count : j->count));
    mcr_status s = run_splits(j);
    if (s == MCR_STOPPED && limit > 0 && !j->ctx->user_stopped)
        mcr_fail(j->ctx, s, "the time limit of %.6g s for each of %lld trainings was reached",
                 limit, (long long)j->count);
    mcr_deadline_set(j->ctx, 0);
    return s;
}

mcr_status mcr_cv(mcr_cv_report **out, const mcr_options *options, const mcr_kernel *kernel,
                  const mcr_data *data, const mcr_splits *splits, const char *metrics,
                  const mcr_search *search)
{
    return mcr_cv_threshold(out, options, kernel, data, splits, metrics, search, NULL);
}

mcr_status mcr_cv_threshold(mcr_cv_report **out, const mcr_options *options,
                            const mcr_kernel *kernel, const mcr_data *data,
                            const mcr_splits *splits, const char *metrics, const mcr_search *search,
                            const char *rule)
{
    mcr *ctx = options->ctx;
    *out = NULL;
    mcr_search full;
    mcr_status s = MCR_SIZED_READ(mcr_search, &full, ctx, search);
    if (s)
        return s;
    job j = {.ctx = ctx,
             .options = options,
             .kernel = kernel,
             .data = data,
             .splits = splits,
             .search = search ? &full : NULL,
             .threshold = rule,
             .count = mcr_splits_count(splits),
             .began = mcr_now(),
             .team = mcr_team_of_tasks(ctx)};
    mcr_cv_report *r = mcr_alloc_zero(ctx, 1, sizeof *r);
    if (!r)
        return MCR_NO_MEMORY;
    r->size = sizeof *r;
    r->n = mcr_data_count(data);
    r->splits = j.count;
    r->positive = j.positive = mcr_data_positive(data);
    s = j.team ? mcr_team_check_data(ctx, mcr_search_mix(0, data)) : MCR_OK;
    if (!s)
        s = open_job(&j, metrics, r);
    if (!s)
        s = run_all(&j);
    if (!s)
        s = gather_metrics(r, &j);
    if (!s)
        s = gather_values(r, &j);
    r->unfinished = j.unfinished;
    r->fits = j.fits;
    r->seconds = mcr_now() - j.began;
    r->output = (const char *const *)j.output;
    r->outputs = j.named;
    close_job(&j);
    if (s)
        mcr_cv_free(ctx, r);
    else
        *out = r;
    return s;
}
