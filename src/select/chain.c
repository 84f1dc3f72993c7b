/* chain.c: one kernel with several settings of the options, trained and tested on one split.
 *
 * What the settings have in common is done once: the split, the scaling, and kernel values where there
 * are several settings and the learner takes them as they are. Each setting starts from the solution of
 * the one before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/params.h"
#include "kernel/explicit.h"
#include "learn/goal.h"
#include "select/select.h"

typedef struct work {
    const mcr_trial_set *set;
    mcr_chain *chain;
    mcr_data *all, *train, *test; /* as the kernel sees them */
    bool tries;                   /* with a K of all objects */
    mcr_trial trial;
    int64_t *rows[2];   /* of training and of test objects */
    mcr_fitted *fitted; /* the last one, if it was tried */
    int64_t k_ld;       /* of the kernel values that all settings share; 0: there are none */
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

static mcr_status take_rows(mcr_data **out, const mcr_trial_set *set, const mcr_data *from,
                            int64_t split, int test, bool by_class)
{
    int64_t count = mcr_splits_rows(set->splits, split, test, NULL);
    int64_t *rows = mcr_alloc(set->ctx, (size_t)count, sizeof *rows);
    if (!rows)
        return MCR_NO_MEMORY;
    mcr_splits_rows(set->splits, split, test, rows);
    mcr_status s = by_class ? sort_by_class(set->ctx, mcr_data_class_of(from),
                                            mcr_data_classes(from), rows, count)
                            : MCR_OK;
    if (!s)
        s = mcr_data_select(out, from, (mcr_rows){rows, 0, count});
    mcr_free(set->ctx, rows);
    return s;
}

/* Whether there is any use in computing kernel values for all settings at once. */
static bool may_share(const mcr_chain *c)
{
    return c->room && c->kernel && c->count > 1 && c->options[0]->type->takes_k &&
           !mcr_wants_features(c->options[0]);
}

enum { MOST_SHARED = 6000 }; /* objects: with more, the solver's own rows are better */

static size_t bytes_of_k(int64_t n)
{
    return sizeof(float) * (size_t)mcr_trial_ld(n) * (size_t)mcr_trial_ld(n);
}

mcr_status mcr_chain_room_bytes(size_t *bytes, const mcr_options *options, const mcr_data *data,
                                int64_t fewest)
{
    const mcr_learner_type *type = options->type;
    int64_t n = mcr_data_count(data);
    mcr_status s = MCR_OK;
    *bytes = 0;
    if (!type->takes_k || mcr_wants_features(options) || fewest > MOST_SHARED)
        return MCR_OK;
    if (type->trial_bytes && n <= MOST_SHARED)
        s = type->trial_bytes(bytes, options->ctx, options->params, data);
    *bytes += 2 * bytes_of_k(n < MOST_SHARED ? n : MOST_SHARED);
    return s;
}

bool mcr_chain_tries(const mcr_trial_set *set, const mcr_chain *c)
{
    /* With a map features may be the faster way. */
    bool tries = may_share(c) && !mcr_kernel_has_features(c->kernel) &&
                 mcr_data_count(set->data) <= MOST_SHARED;
    for (int64_t i = 0; i < c->count && tries; i++)
        tries = c->options[i]->type->tries && c->options[i]->type->tries(c->options[i]->params);
    for (int64_t m = 0; m < set->metrics && tries; m++)
        tries = !set->metric[m]->info.proba;
    return tries;
}

/* The objects of the split, scaled by what its training objects show. */
static mcr_status open_split(work *w)
{
    const mcr_options *options = w->chain->options[0];
    mcr_data *plain = NULL, **to[2] = {&w->train, &w->test};
    mcr_scaling *scaling = NULL;
    bool learns = mcr_scaling_needed(w->set->data, options->scale);
    mcr_status s = MCR_OK;
    if (learns)
        s = take_rows(&plain, w->set, w->set->data, w->chain->split, 0, false);
    if (!s && learns)
        s = mcr_scaling_learn(&scaling, plain, options->scale);
    if (!s)
        s = mcr_scaling_apply(&w->all, scaling, w->set->data);
    /* The pairs of several classes then find their values in runs. */
    bool by_class = may_share(w->chain) && !w->tries && mcr_data_classes(w->set->data) > 2 &&
                    options->type->task == MCR_CLASSIFY;
    for (int test = 0; test < 2 && !s; test++)
        s = take_rows(to[test], w->set, w->all, w->chain->split, test, by_class && !test);
    mcr_scaling_free(scaling);
    mcr_data_free(plain);
    return s;
}

/* ---- kernel values that all settings share -----------------------------------------------------*/

void mcr_chain_room_free(mcr *ctx, mcr_chain_room *room)
{
    mcr_free(ctx, room->k);
    mcr_free(ctx, room->diagonal);
    mcr_trial_room_free(ctx, &room->trial);
    *room = (mcr_chain_room){0};
}

static mcr_status make_k(mcr *ctx, mcr_chain_room *room, int64_t ld)
{
    size_t bytes = sizeof(float) * (size_t)ld * (size_t)ld;
    if (bytes <= room->bytes)
        return MCR_OK;
    mcr_chain_room_free(ctx, room);
    room->bytes = bytes;
    room->k = mcr_alloc(ctx, bytes, 1);
    room->diagonal = mcr_alloc(ctx, (size_t)ld, sizeof *room->diagonal);
    return room->k && room->diagonal ? MCR_OK : MCR_NO_MEMORY;
}

mcr_status mcr_chain_room_fill(mcr *ctx, mcr_chain_room *room, const mcr_kernel *kernel,
                               const mcr_data *data)
{
    int64_t n = mcr_data_count(data), ld = mcr_trial_ld(n);
    mcr_gram *gram = NULL;
    room->ld = 0;
    if (n > MOST_SHARED)
        return MCR_OK;
    mcr_status s = make_k(ctx, room, ld);
    if (!s)
        s = mcr_gram_open(&gram, ctx, kernel, data, NULL);
    if (!s)
        s = mcr_gram_matrix_quietly(gram, room->k, ld, false);
    for (int64_t i = 0; i < ld && !s; i++)
        memset(room->k + i * ld + (i < n ? n : 0), 0,
               sizeof(float) * (size_t)(ld - (i < n ? n : 0)));
    for (int64_t i = 0; i < n && !s; i++)
        room->diagonal[i] = (double)room->k[i * ld + i];
    mcr_gram_close(gram);
    if (s == MCR_NUMERIC) /* too large for float: each training sees to it */
        return MCR_OK;
    room->ld = s ? 0 : ld;
    return s;
}

/* What a trial needs beside K. */
static mcr_status open_trial(work *w)
{
    mcr *ctx = w->set->ctx;
    const mcr_chain *c = w->chain;
    int64_t count[2];
    for (int test = 0; test < 2; test++) {
        count[test] = mcr_splits_rows(w->set->splits, c->split, test, NULL);
        if (!(w->rows[test] = mcr_alloc(ctx, (size_t)count[test], sizeof(int64_t))))
            return MCR_NO_MEMORY;
        mcr_splits_rows(w->set->splits, c->split, test, w->rows[test]);
    }
    const mcr_chain_room *from = c->stored ? c->stored : c->room;
    c->room->trial.ready = false;
    w->trial = (mcr_trial){.n = mcr_data_count(w->all),
                           .k = from->k,
                           .ld = from->ld,
                           .diagonal = from->diagonal,
                           .row = w->rows[0],
                           .held = w->rows[1],
                           .held_count = count[1],
                           .room = &c->room->trial};
    return MCR_OK;
}

static mcr_status share_k(work *w)
{
    mcr_chain *c = w->chain;
    mcr_status s = MCR_OK;
    if (w->tries) {
        if (!c->stored)
            s = mcr_chain_room_fill(w->set->ctx, c->room, c->kernel, w->all);
        w->tries = (c->stored ? c->stored : c->room)->ld > 0;
        return s || !w->tries ? s : open_trial(w);
    }
    if (!may_share(c))
        return MCR_OK;
    s = mcr_chain_room_fill(w->set->ctx, c->room, c->kernel, w->train);
    w->k_ld = c->room->ld;
    return s;
}

/* ---- training and testing ----------------------------------------------------------------------*/

static mcr_status open_work(work *w)
{
    mcr *ctx = w->set->ctx;
    w->tries = mcr_chain_tries(w->set, w->chain);
    mcr_status s = open_split(w);
    if (!s)
        s = share_k(w);
    for (int64_t m = 0; m < w->set->metrics; m++) {
        w->want_score |= w->set->metric[m]->info.score;
        w->want_proba |= w->set->metric[m]->info.proba;
    }
    if (!s && !(w->value = mcr_alloc(ctx, (size_t)mcr_data_count(w->test), sizeof *w->value)))
        s = MCR_NO_MEMORY;
    return s;
}

static void close_work(work *w)
{
    mcr *ctx = w->set->ctx;
    mcr_model_free(w->model);
    mcr_fitted_free(w->fitted);
    mcr_free(ctx, w->rows[0]);
    mcr_free(ctx, w->rows[1]);
    mcr_data_free(w->all);
    mcr_data_free(w->train);
    mcr_data_free(w->test);
    mcr_free(ctx, w->value);
    mcr_free(ctx, w->score);
    mcr_free(ctx, w->proba);
}

/* Room for decision values and probabilities; models of one chain may differ in what they have. */
static mcr_status make_room(work *w)
{
    const mcr_fitted *f = w->model->fitted;
    mcr *ctx = w->set->ctx;
    int64_t n = mcr_data_count(w->test);
    bool has_proba = mcr_model_has_probability(w->model);
    mcr_free(ctx, w->score);
    mcr_free(ctx, w->proba);
    w->score = w->proba = NULL;
    if (w->want_score && !(w->score = mcr_alloc(ctx, (size_t)(n * f->outputs), sizeof(double))))
        return MCR_NO_MEMORY;
    if ((w->want_proba || w->want_score) && has_proba &&
        !(w->proba = mcr_alloc(ctx, (size_t)(n * w->model->classes), sizeof(double))))
        return MCR_NO_MEMORY;
    return MCR_OK;
}

/* By what is in w->value. */
static mcr_status judge(work *w, int64_t setting, const mcr_fitted *f, const double *score,
                        const double *proba)
{
    mcr_status s = MCR_OK;
    mcr_judged what = {
        .data = w->test,
        .task = f->task,
        .rule = f->rule,
        .classes = f->classes,
        .outputs = f->outputs,
        .value = w->value,
        .score = score,
        .proba = proba,
    };
    for (int64_t m = 0; m < w->set->metrics && !s; m++)
        s = mcr_metric_judge(w->set->metric[m], w->set->ctx, &what,
                             &w->chain->score[setting * w->set->metrics + m]);
    int64_t n = mcr_data_count(w->test);
    if (!s && w->chain->value)
        memcpy(w->chain->value + setting * n, w->value, sizeof *w->value * (size_t)n);
    return s;
}

static mcr_status interrupted(const work *w)
{
    return mcr_fail(w->set->ctx, MCR_STOPPED, "interrupted");
}

/* *done: it was solved. What floats cannot solve is trained as usual. */
static mcr_status try_setting(work *w, int64_t setting, bool *done)
{
    mcr_chain *c = w->chain;
    const mcr_options *options = c->options[setting];
    mcr_fitted *next = NULL;
    mcr_learning in = {.ctx = w->set->ctx,
                       .params = options->params,
                       .kernel = c->kernel,
                       .data = w->train,
                       .start = w->fitted,
                       .trial = &w->trial};
    mcr_status s = options->type->check ? options->type->check(in.ctx, in.params) : MCR_OK;
    if (!s)
        s = mcr_learn(&next, options->type, &in);
    if (s == MCR_OVER_BUDGET || s == MCR_NUMERIC) { /* floats are too small for its sums, perhaps */
        w->tries = false;
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
    for (int64_t i = 0; i < w->trial.held_count && *done; i++)
        w->value[i] = mcr_fitted_decide(next, next->held_out + i * next->outputs, NULL, NULL);
    return *done ? judge(w, setting, next, next->held_out, NULL) : MCR_OK;
}

static mcr_status one_setting(work *w, int64_t setting)
{
    mcr_chain *c = w->chain;
    const mcr_options *options = c->options[setting];
    bool done = false;
    mcr_status s = w->tries ? try_setting(w, setting, &done) : MCR_OK;
    if (s || done)
        return s;
    mcr_model *next = NULL, *start = options->type->no_start ? NULL : w->model;
    s = mcr_train(&next, &(mcr_training){.options = options,
                                         .kernel = c->kernel,
                                         .data = w->train,
                                         .start = start,
                                         .k = w->k_ld ? c->room->k : NULL,
                                         .k_ld = w->k_ld,
                                         .unscored = true,
                                         .scaled = true});
    if (s)
        return s;
    mcr_model_free(w->model);
    w->model = next;
    if (next->report.stop == MCR_STOP_INTERRUPTED)
        return interrupted(w);
    c->unfinished += !mcr_stop_is_end(next->report.stop);
    s = make_room(w);
    if (!s)
        s = mcr_predict(w->set->ctx, next, w->test, w->value, w->score, w->proba);
    return s ? s : judge(w, setting, next->fitted, w->score, w->proba);
}

mcr_status mcr_chain_run(const mcr_trial_set *set, mcr_chain *c)
{
    work w = {.set = set, .chain = c};
    mcr_status s = open_work(&w);
    for (int64_t i = 0; i < c->count * set->metrics; i++)
        c->score[i] = NAN;
    for (int64_t setting = 0; setting < c->count && !s; setting++) {
        s = one_setting(&w, setting);
        bool cannot = s == MCR_NUMERIC || s == MCR_BAD_DATA || s == MCR_BAD_CALL;
        if (!cannot || c->strict)
            continue;
        c->failed++; /* this one cannot be trained; others may */
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
    static const char *const name[] = {"side", "approx"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const mcr_param *p = mcr_params_find(options->type->params, name[i], strlen(name[i]));
        if (p && !mcr_params_is_standard(p, options->params))
            return true;
    }
    return false;
}

bool mcr_finds_kernel(const mcr_options *options)
{
    const mcr_param *looks = mcr_params_find(options->type->params, "optimize", strlen("optimize"));
    return looks && *(const int *)((const char *)options->params + looks->offset);
}

mcr_status mcr_task_of(mcr_task *out, const mcr_options *options, const mcr_data *data)
{
    *out = options->type->task;
    for (const mcr_param *p = options->type->params; p->name && *out == MCR_EITHER; p++)
        if (strcmp(p->name, "task") == 0) {
            int task = *(const int *)((const char *)options->params + p->offset);
            bool words = mcr_data_target_kind(data) == MCR_WORD_TARGETS;
            *out = task == MCR_TASK_CLASSIFY || (task == MCR_TASK_AUTO && words) ? MCR_CLASSIFY
                                                                                 : MCR_REGRESS;
        }
    if (*out == MCR_TRANSFORM)
        return mcr_fail(options->ctx, MCR_BAD_CALL,
                        "%s gives coordinates and predicts nothing that could be compared: use a "
                        "learner behind it",
                        options->type->name);
    if (mcr_data_target_kind(data) == MCR_NO_TARGETS)
        return mcr_fail(options->ctx, MCR_BAD_DATA, "the data have no targets to compare with");
    if (mcr_data_target_count(data) > 1)
        return mcr_fail(options->ctx, MCR_BAD_CALL,
                        "one target is judged, and the data have %lld: name one of them",
                        (long long)mcr_data_target_count(data));
    return MCR_OK;
}
