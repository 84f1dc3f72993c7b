/* multiclass.c: classification by two-class problems, and calibrated probabilities.
 *
 * Two classes are one problem (positive: class 1). More are one problem for each pair (positive:
 * the lower class) or for each class against the rest. Many small problems run side by side, one
 * per worker, as far as there is space for them; few large ones run one after the other with all
 * workers inside. The result is the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/multiclass_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/team.h"
#include "base/threads.h"
#include "learn/svm_problem.h"

enum { SHARES = 4 };

typedef mcr_class_job job;

/* ---- which objects, which side ----------------------------------------------------------------*/

int64_t mcr_class_list_objects(const job *j, int64_t problem, int64_t *row, double *y)
{
    if (j->rule != MCR_RULE_PAIRS) {
        const int32_t *class_of = mcr_data_class_of(j->in->data);
        int64_t positive = j->rule == MCR_RULE_BINARY ? 1 : problem;
        for (int64_t i = 0; i < j->n; i++) {
            row[i] = i;
            y[i] = class_of[i] == positive ? 1 : -1;
        }
        return j->n;
    }
    int64_t of[2], n = 0;
    mcr_class_pair(j->classes, problem, &of[0], &of[1]);
    for (int side = 0; side < 2; side++)
        for (int64_t t = j->first[of[side]]; t < j->first[of[side] + 1]; t++) {
            row[n] = j->member[t];
            y[n++] = side ? -1 : 1;
        }
    return n;
}

/* ---- one problem ------------------------------------------------------------------------------*/

void mcr_binary_limits(const mcr_binary *p, mcr_qp *qp)
{
    qp->cache_bytes = qp->cache_bytes / p->cache_share + 1; /* 0 would be the default */
    qp->seconds = p->deadline > 0 ? fmax(p->deadline - mcr_now(), 1e-3) : 0;
    qp->rough = p->rough;
    qp->rather_whole = p->cache_share > 1;
    qp->pool = p->pool;
    qp->part = p->part[0] ? p->part : NULL;
    qp->blocks = p->blocks;
}

void mcr_binary_go_on(const mcr_binary *p, int64_t most_steps, mcr_qp *qp)
{
    if (p->deadline > 0)
        qp->seconds = fmax(p->deadline - mcr_now(), 1e-3);
    if (most_steps)
        qp->most_steps = p->steps < most_steps ? most_steps - p->steps : 1;
}

/* Not begun, or given up before there was anything: nothing is known of it. */
static void leave_out(mcr_binary *r, mcr_stop stop)
{
    memset(r->f, 0, sizeof *r->f * (size_t)r->n);
    r->stop = stop;
    r->violation = r->primal = r->gap = INFINITY;
}

/* One problem while it is solved. */
typedef struct task {
    job *j;
    int64_t number;
    int worker;
    bool stopped; /* by the user, before it begins */
    int64_t n;    /* its objects */
    int64_t all;  /* the same, in all processes that share the rows */
    double count; /* and by their weight in the data */
    int64_t *row; /* which of all; also the block of all these arrays */
    double *y, *weight, *start, *f;
    mcr_data *view;         /* its objects, where they are not all and are asked for */
    mcr_gram *own, *stored; /* Grams that are its own */
} task;

/* Which objects, with labels, weights and a start. */
static mcr_status list_task(task *t)
{
    job *j = t->j;
    mcr *ctx = j->in->ctx;
    const double *sample = mcr_data_weights(j->in->data);
    bool warm = j->start_place != NULL;
    size_t n = (size_t)mcr_class_objects(j, t->number);
    void *block = mcr_alloc_arrays(ctx, MCR_ARRAY(t->row, n), MCR_ARRAY(t->y, n),
                                   MCR_ARRAY(t->weight, n), MCR_ARRAY(t->f, n),
                                   MCR_ARRAY(t->start, warm ? n : 0));
    mcr_status st = block ? MCR_OK : MCR_NO_MEMORY;
    if (!st && warm)
        mcr_class_read_start(j, t->number, t->start);
    t->n = st ? 0 : mcr_class_list_objects(j, t->number, t->row, t->y);
    for (int64_t i = 0; i < t->n; i++) {
        t->weight[i] = j->weight[t->row[i]];
        t->count += sample ? sample[t->row[i]] : 1;
    }
    double sum[] = {(double)t->n, t->count};
    if (!st)
        st = mcr_team_sum(ctx, sum, 2);
    t->all = (int64_t)sum[0];
    t->count = sum[1];
    t->start = warm ? t->start : NULL;
    bool bound = j->across || j->in->gram || j->form.features;
    if (!st && j->rule == MCR_RULE_PAIRS && !t->stopped && (j->curve || !bound))
        st = mcr_data_select(&t->view, j->in->data, (mcr_rows){t->row, 0, t->n});
    return st;
}

/* K of the problem's objects. */
static mcr_status open_task_gram(task *t, mcr_gram **gram)
{
    job *j = t->j;
    bool pairs = j->rule == MCR_RULE_PAIRS;
    mcr_rows rows = {t->row, 0, t->n};
    mcr_status st = MCR_OK;
    *gram = NULL;
    if (t->stopped)
        return MCR_OK;
    if (j->form.features) {
        st = mcr_gram_select_both(&t->own, j->form.gram, rows);
        *gram = t->own;
        return st;
    }
    if (pairs && j->across)
        st = mcr_class_pair_gram(&t->own, j, t->number, t->worker);
    else if (j->in->gram)
        st = pairs ? mcr_gram_select_both(&t->own, j->in->gram, rows)
                   : mcr_gram_share(&t->own, j->in->gram);
    else if (!j->whole && !j->k)
        st = mcr_gram_open(&t->own, j->in->ctx, j->in->kernel, t->view ? t->view : j->in->data,
                           NULL);
    *gram = t->own ? t->own : j->k ? j->across[t->worker] : j->whole;
    if (!st)
        st = mcr_class_stored(&t->stored, j, t->number, t->worker, rows, *gram);
    *gram = t->stored ? t->stored : *gram;
    return st;
}

static mcr_status open_result(task *t, mcr_binary *r)
{
    const job *j = t->j;
    mcr *ctx = j->in->ctx;
    bool features = j->form.features;
    *r = (mcr_binary){
        .ctx = ctx,
        .w = features ? mcr_alloc_zero(ctx, (size_t)mcr_gram_width(j->form.gram), sizeof(double))
                      : NULL,
        .form = j->form.map ? &j->form : NULL,
        .data = j->in->data,
        .object = {t->row, 0, t->n},
        .n = t->n,
        .all = t->all,
        .count = t->count,
        .y = t->y,
        .weight = t->weight,
        .start = t->start,
        .phase = j->how->learner,
        .cache_share = j->problems > 1 ? SHARES : 1,
        .deadline = j->deadline,
        .rough = j->rough,
        .pool = j->pool ? j->pool[t->worker] : NULL,
        .coef = r->coef,
        .f = t->f,
        .price = j->how->prices ? mcr_alloc_zero(ctx, (size_t)t->n, sizeof(double)) : NULL,
    };
    bool ok = (r->w || !features) && (r->price || !j->how->prices);
    if (mcr_resume_keeps(ctx))
        snprintf(r->part, sizeof r->part, "problem %lld", (long long)t->number + 1);
    return ok ? MCR_OK : MCR_NO_MEMORY;
}

/* Why a problem was left out: a solver that sees that its time is too short also says that it was
 * stopped. */
static mcr_stop reason(const job *j)
{
    bool user = __atomic_load_n(&j->in->ctx->user_stopped, __ATOMIC_RELAXED);
    return j->deadline > 0 && !user ? MCR_STOP_TIME : MCR_STOP_INTERRUPTED;
}

/* If one of the processes that share the rows stops, all do. */
static mcr_status agree_to_stop(task *t, bool stops)
{
    double any = stops;
    mcr_status st = mcr_team_largest(t->j->in->ctx, &any, 1);
    t->stopped |= any > 0;
    return st;
}

static mcr_status run_task(task *t, mcr_binary *r)
{
    job *j = t->j;
    mcr_status st = agree_to_stop(t, mcr_class_is_late(j));
    if (st)
        return st;
    if (t->stopped) {
        leave_out(r, reason(j));
    } else {
        st = j->how->solve(j->how->params, r);
        /* Before its first gradient was there; of several processes others may have it. */
        if (st == MCR_STOPPED && j->problems > 1 && !mcr_team_of_rows(j->in->ctx)) {
            memset(r->coef, 0, sizeof *r->coef * (size_t)r->n);
            leave_out(r, reason(j));
            st = MCR_OK;
        }
        if (st)
            return st;
        if (r->stop == MCR_STOP_INTERRUPTED)
            __atomic_store_n(&j->stopped, true, __ATOMIC_RELAXED);
    }
    if (!j->curve)
        return MCR_OK;
    if (r->stop != MCR_STOP_INTERRUPTED && r->stop != MCR_STOP_TIME)
        return mcr_class_calibrate(j, r, t->view ? t->view : j->in->data, t->number);
    __atomic_store_n(&j->uncalibrated, true, __ATOMIC_RELAXED);
    return MCR_OK;
}

/* Marks the objects that the problem gets wrong. Of several classes, an object that wins all of its
 * own class's pairs has the most votes; others must be predicted. With an approximate map all are
 * (mcr_learn), and a checkpoint does not have their f. */
static void mark_wrong(const task *t, const mcr_binary *r)
{
    const job *j = t->j;
    bool known = !j->curve && !j->form.map && j->rule != MCR_RULE_LARGEST;
    for (int64_t i = 0; i < t->n && known; i++)
        if ((r->f[i] + r->bias > 0) != (t->y[i] > 0))
            __atomic_store_n(&j->right[t->row[i]], j->rule == MCR_RULE_BINARY ? 0 : 2,
                             __ATOMIC_RELAXED);
}

/* Only results stay: what they point to goes. */
static void close_task(task *t, mcr_binary *r)
{
    mcr *ctx = t->j->in->ctx;
    if (!t->j->form.map) { /* the coefficients say all */
        mcr_free(ctx, r->w);
        r->w = NULL;
    }
    r->gram = NULL;
    r->form = NULL;
    r->data = NULL;
    r->object = (mcr_rows){0};
    r->y = r->weight = r->start = NULL;
    r->f = NULL;
    r->pool = NULL;
    mcr_gram_close(t->stored);
    mcr_gram_close(t->own);
    mcr_data_free(t->view);
    mcr_free(ctx, t->row);
}

static mcr_status solve_one(void *arg, int64_t problem, int worker)
{
    job *j = arg;
    task t = {.j = j, .number = problem, .worker = worker};
    mcr_binary *r = &j->result[problem];
    bool found = false;
    if (r->ctx) /* one of those that were solved first */
        return MCR_OK;
    mcr_status st = agree_to_stop(&t, mcr_class_stopped(j) || mcr_class_is_late(j));
    if (!st)
        st = list_task(&t);
    if (!st)
        st = open_result(&t, r);
    if (!st)
        st = mcr_class_find_result(j, problem, &found);
    if (!st && !found)
        st = open_task_gram(&t, &r->gram);
    if (st == MCR_STOPPED) { /* while it was bound: what is solved already stays */
        if (reason(j) == MCR_STOP_INTERRUPTED)
            __atomic_store_n(&j->stopped, true, __ATOMIC_RELAXED);
        t.stopped = true;
        st = MCR_OK;
    }
    if (!st && !found)
        st = run_task(&t, r);
    if (!st && !found)
        st = mcr_class_keep_result(j, problem);
    if (!st)
        mark_wrong(&t, r);
    __atomic_add_fetch(&j->solved, 1, __ATOMIC_RELAXED);
    close_task(&t, r);
    return st;
}

/* With a K that is there a solver has little use for more workers; calibrating has. A restricted
 * Gram is for one problem at a time: its passes use all workers, and have one buffer each. */
static bool is_side_by_side(const job *j, int workers)
{
    if (j->form.gram && mcr_gram_is_restricted(j->form.gram))
        return false;
    return j->problems >= 2 * workers || (j->k && (j->problems >= workers || !j->curve));
}

typedef struct turn {
    job *j;
    int64_t first;
} turn;

static mcr_status solve_in_turn(void *arg, int64_t item, int worker)
{
    const turn *t = arg;
    return solve_one(t->j, t->first + item, worker);
}

/* So many at a time as there is space for. */
static mcr_status solve_by_turns(job *j, int64_t most)
{
    mcr_status st = MCR_OK;
    for (turn t = {j, 0}; t.first < j->problems && !st; t.first += most) {
        int64_t rest = j->problems - t.first;
        st = mcr_parallel(j->in->ctx, rest < most ? rest : most, solve_in_turn, &t);
    }
    return st;
}

/* Pairs that tell about the others: half of them, or a few. */
static int64_t first_pairs(const job *j)
{
    enum { MOST = 4 };
    return j->problems < 2 * MOST ? (j->problems + 1) / 2 : MOST;
}

static mcr_status solve_first(void *arg, int64_t item, int worker)
{
    job *j = arg;
    return solve_one(j, item * j->problems / first_pairs(j), worker);
}

/* One-vs-one: what pairs share, where it pays. Time follows how hard the problems are: a few of
 * them, the same for any number of workers, tell how many rows of K they need. */
static mcr_status prepare_pairs(job *j)
{
    mcr *ctx = j->in->ctx;
    bool easy = false;
    mcr_status st = MCR_OK;
    if (j->form.features)
        return st;
    if ((st = mcr_class_may_be_easy(j, &easy)))
        return st;
    if (easy) {
        bool fits = mcr_workers(ctx) * mcr_class_needs(j) <= (double)mcr_budget_left(ctx);
        if (fits)
            st = mcr_parallel(ctx, first_pairs(j), solve_first, j);
        for (int64_t p = 0; p < first_pairs(j) && !fits && !st; p++)
            st = solve_first(j, p, 0);
        if (st || mcr_class_is_easy(j))
            return st;
        mcr_class_forget_rows(j);
    }
    return mcr_class_share(j);
}

static mcr_status solve_all(job *j)
{
    mcr *ctx = j->in->ctx;
    int workers = mcr_workers(ctx);
    bool features = j->form.features;
    mcr_status st = j->rule == MCR_RULE_PAIRS ? prepare_pairs(j) : MCR_OK;
    if (!st && !features && mcr_class_shares_all(j))
        st = mcr_class_share_all(j);
    if (st)
        return st;
    /* Decided before the first problem begins, so that no problem's way depends on what others have
     * just taken. What is left of the budget after sharing K of all objects is the same for any
     * number of workers. */
    double left = (double)mcr_budget_left(ctx);
    double needs = features ? mcr_linear_bytes(j->form.gram) : mcr_class_needs(j);
    j->rough = j->in->gram || (j->k && needs >= left);
    if (workers > 1 && is_side_by_side(j, workers)) {
        if (workers * needs <= left)
            return mcr_parallel(ctx, j->problems, solve_one, j);
        if ((j->k || features) && 2 * needs <= left)
            return solve_by_turns(j, (int64_t)(left / needs));
    }
    if (j->rule != MCR_RULE_PAIRS && !features && !j->k && !j->in->gram)
        st = mcr_gram_open(&j->whole, ctx, j->in->kernel, j->in->data, NULL);
    for (int64_t p = 0; p < j->problems && !st; p++)
        st = solve_one(j, p, 0);
    return st;
}

/* ---- putting the results together -------------------------------------------------------------*/

/* One-vs-one: the objects of a class with their coefficients in its classes - 1 problems. */
static mcr_status add_class(mcr_fitted *f, const job *j, int64_t c)
{
    mcr *ctx = f->ctx;
    int64_t count = mcr_class_size(j, c), outputs = 0;
    int32_t *output = mcr_alloc(ctx, (size_t)j->classes, sizeof *output);
    double *coef = mcr_alloc(ctx, (uint64_t)count * (uint64_t)j->classes, sizeof *coef);
    mcr_status st = output && coef ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t other = 0; other < j->classes && !st; other++) {
        if (other == c)
            continue;
        int64_t p = other < c ? mcr_pair_output(j->classes, other, c)
                              : mcr_pair_output(j->classes, c, other);
        memcpy(coef + outputs * count,
               j->result[p].coef + (other < c ? mcr_class_size(j, other) : 0),
               sizeof *coef * (size_t)count);
        output[outputs++] = (int32_t)p;
    }
    if (!st)
        st = mcr_fitted_add(f, j->member + j->first[c], count, output, outputs, coef);
    mcr_free_all(ctx, output, coef);
    return st;
}

/* An approximate map: the weights of all problems in terms of what it is made of. */
static mcr_status add_weights(mcr_fitted *f, const job *j)
{
    int64_t p = mcr_gram_width(j->form.gram);
    double *w = mcr_alloc(f->ctx, (size_t)p, (size_t)j->problems * sizeof *w);
    mcr_status st = w ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t o = 0; o < j->problems && !st; o++)
        for (int64_t k = 0; k < p; k++)
            w[k * j->problems + o] = j->result[o].w[k];
    if (!st)
        st = mcr_form_add(&j->form, f, w, j->problems);
    mcr_free(f->ctx, w);
    return st;
}

/* Those of all problems, one after the other. */
static mcr_status keep_prices(mcr_fitted *f, const job *j)
{
    int64_t all = 0;
    for (int64_t p = 0; p < j->problems; p++)
        all += j->result[p].n;
    double *price = mcr_alloc(f->ctx, (size_t)all, sizeof *price);
    mcr_status st = price ? MCR_OK : MCR_NO_MEMORY;
    all = 0;
    for (int64_t p = 0; p < j->problems && !st; all += j->result[p++].n)
        memcpy(price + all, j->result[p].price, sizeof *price * (size_t)j->result[p].n);
    if (!st)
        st = mcr_fitted_keep(f, MCR_EXTRA_PRICES, price, all);
    mcr_free(f->ctx, price);
    return st;
}

static mcr_status add_remarks(mcr_fitted *f, const job *j)
{
    mcr_status st = mcr_svm_remark(f, j->in->kernel);
    return st || !j->uncalibrated
               ? st
               : mcr_fitted_remark(f, "not all probabilities could be calibrated: allow more time, "
                                      "or do not rely on them");
}

/* A limit or the user was there before the first step of a problem: nothing is to be kept. */
static bool none_begun(const job *j)
{
    bool left_out = false;
    for (int64_t p = 0; p < j->problems; p++) {
        const mcr_binary *r = &j->result[p];
        left_out |= r->violation == (double)INFINITY;
        if (r->w && r->violation != (double)INFINITY) /* weights say all, not coefficients */
            return false;
        for (int64_t i = 0; i < r->n; i++)
            if (r->coef[i] != 0)
                return false;
    }
    return left_out;
}

/* Bounds on the slopes of losses, for mcr_learn. */
static mcr_status add_slopes(mcr_fitted *f, const job *j)
{
    mcr_status st = j->how->form ? MCR_OK : mcr_fitted_open_slope(f, j->in->gram, 1);
    const int32_t *class_of = mcr_data_class_of(j->in->data);
    int64_t of[2] = {0, 0};
    for (int64_t p = 0; p < j->problems && !st && f->loss_slope; p++) {
        if (j->rule == MCR_RULE_PAIRS)
            mcr_class_pair(j->classes, p, &of[0], &of[1]);
        for (int64_t i = 0; i < j->n; i++)
            if (j->rule != MCR_RULE_PAIRS || class_of[i] == of[0] || class_of[i] == of[1])
                f->loss_slope[i * j->problems + p] = j->result[p].slope * j->weight[i];
    }
    return st;
}

static mcr_status gather(mcr_fitted **out, job *j)
{
    mcr_fitted *f = NULL;
    if (none_begun(j))
        return mcr_fail(j->in->ctx, MCR_STOPPED, "interrupted");
    mcr_status st = mcr_fitted_new(&f, j->in->ctx, j->problems);
    if (st)
        return st;
    f->task = MCR_CLASSIFY;
    f->rule = j->rule;
    f->classes = j->classes;
    f->certificate = j->how->certificate;
    f->objective = f->primal = f->dual = f->gap = f->value = 0;
    f->curve = j->curve;
    j->curve = NULL;
    double error = 0;
    for (int64_t p = 0; p < j->problems; p++) {
        const mcr_binary *r = &j->result[p];
        error += r->error;
        f->offset[p] = r->bias;
        f->objective += r->objective;
        f->primal += r->primal;
        f->dual += r->dual;
        f->gap += r->gap;
        f->iterations += r->steps;
        f->value = fmax(f->value, r->violation);
        f->value_error = fmax(f->value_error, r->violation_error);
        f->tolerance = p == 0 ? r->tolerance : fmax(f->tolerance, r->tolerance);
        if (r->stop > f->stop)
            f->stop = r->stop;
    }
    if (error > 0)
        mcr_svm_keep_error(f, error);
    if (j->form.map)
        st = add_weights(f, j);
    else if (j->rule == MCR_RULE_PAIRS)
        for (int64_t c = 0; c < j->classes && !st; c++)
            st = add_class(f, j, c);
    else
        st = mcr_fitted_add(f, NULL, j->n, NULL, j->problems, j->coef);
    f->right = j->right;
    j->right = NULL;
    if (!st && j->how->prices)
        st = keep_prices(f, j);
    if (!st)
        st = add_slopes(f, j);
    if (!st)
        st = add_remarks(f, j);
    if (!st)
        st = mcr_form_report(&j->form, f);
    return mcr_fitted_give(out, f, st);
}

/* One block for the coefficients of all problems. Whether objects are right is not known (2) where
 * probabilities or several scores decide. */
static mcr_status open_results(job *j)
{
    mcr *ctx = j->in->ctx;
    bool pairs = j->rule == MCR_RULE_PAIRS, sure = j->rule != MCR_RULE_LARGEST && !j->curve;
    mcr_status st = pairs ? mcr_class_list(j) : MCR_OK;
    j->result = mcr_alloc_zero(ctx, (size_t)j->problems, sizeof *j->result);
    j->coef = mcr_alloc_zero(ctx, (size_t)j->n,
                             (size_t)(pairs ? j->classes - 1 : j->problems) * sizeof *j->coef);
    j->right = mcr_alloc(ctx, (size_t)j->n, 1);
    if (st || !j->result || !j->coef || !j->right)
        return st ? st : MCR_NO_MEMORY;
    memset(j->right, sure ? 1 : 2, (size_t)j->n);
    double *at = j->coef;
    for (int64_t p = 0; p < j->problems; at += mcr_class_objects(j, p++))
        j->result[p].coef = at;
    return MCR_OK;
}

static mcr_status choose_side(job *j)
{
    bool pairs = j->rule == MCR_RULE_PAIRS;
    mcr_form_work work = {
        .kind = mcr_class_shares_all(j) ? MCR_WORK_SVM_SHARED : MCR_WORK_SVM,
        .problems = (double)j->problems,
        .size = pairs ? 2 * (double)j->n / (double)j->classes : (double)j->n,
        .columns = 1,
    };
    return mcr_form_open(&j->form, j->in, j->how->form, &work);
}

mcr_status mcr_class_begin(job *j, const mcr_learning *in, const mcr_multiclass *how)
{
    int64_t k = mcr_data_classes(in->data);
    *j = (job){.in = in, .how = how, .n = mcr_data_count(in->data), .classes = k};
    j->began = mcr_now();
    if (how->time_limit > 0)
        j->deadline = j->began + how->time_limit;
    j->rule = k == 2 ? MCR_RULE_BINARY : how->one_vs_rest ? MCR_RULE_LARGEST : MCR_RULE_PAIRS;
    j->problems = k == 2 ? 1 : how->one_vs_rest ? k : k * (k - 1) / 2;
    return mcr_svm_need_classes(in->ctx, how->learner, in->data);
}

mcr_status mcr_multiclass_fit(mcr_fitted **out, const mcr_learning *in, const mcr_multiclass *how)
{
    *out = NULL;
    mcr *ctx = in->ctx;
    job j;
    mcr_status st = mcr_class_begin(&j, in, how);
    if (st)
        return st;
    double *weight = mcr_alloc(ctx, (size_t)j.n, sizeof *weight);
    j.weight = weight;
    j.curve = how->probability ? mcr_alloc(ctx, 2 * (uint64_t)j.problems, sizeof *j.curve) : NULL;
    st = weight && (j.curve || !how->probability) ? open_results(&j) : MCR_NO_MEMORY;
    for (int64_t p = 0; p < 2 * j.problems && j.curve; p++)
        j.curve[p] = p % 2 ? 0 : 1; /* until it is calibrated */
    if (!st)
        st = mcr_svm_weights(ctx, how->learner, in->data, how->class_weight, weight);
    if (!st && how->form)
        st = choose_side(&j);
    if (!st)
        st = mcr_class_index_start(&j);
    if (!st)
        st = solve_all(&j);
    if (!st)
        st = gather(out, &j);
    mcr_form_close(&j.form);
    mcr_gram_close(j.whole);
    mcr_class_unshare(&j);
    for (int64_t p = 0; p < j.problems && j.result; p++)
        mcr_free_all(ctx, j.result[p].w, j.result[p].price);
    mcr_free_all(ctx, weight, j.result, j.coef, j.right, j.curve, j.start_first, j.start_place,
                 j.start_at);
    return st;
}
