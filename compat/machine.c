/* machine.c: training on some objects of a problem.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "machine.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "folds.h"
#include "platt.h"
#include "text.h"

enum { FOLDS = 5 }; /* of the objects whose decision values probabilities are fitted to */

int compat_machine_outputs(const compat_machine *m)
{
    return m->classify ? m->classes.count * (m->classes.count - 1) / 2 : 1;
}

int compat_machine_pair(const compat_machine *m, int p, int *i, int *j)
{
    int others = m->classes.count - 1;
    for (*i = 0; p >= others; ++*i)
        p -= others--;
    *j = *i + 1 + p;
    const int *first = m->classes.first;
    return first[*i + 1] - first[*i] + first[*j + 1] - first[*j];
}

/* The training objects of a pair: those of class i, then those of class j. row: places for all. */
static compat_rows pair_rows(const compat_machine *m, int p, int *row)
{
    int i, j, n = compat_machine_pair(m, p, &i, &j);
    const int *first = m->classes.first, *member = m->classes.member;
    int size = first[i + 1] - first[i];
    for (int t = 0; t < n; t++)
        row[t] = m->train.row[t < size ? member[first[i] + t] : member[first[j] + t - size]];
    return (compat_rows){row, n};
}

int64_t compat_machine_coefficients(const compat_machine *m, int p, double *coef, int64_t *number,
                                    double *rho)
{
    bool own = m->models > 1;
    const mcr_model *model = m->model[own ? p : 0];
    double offset = NAN;
    int64_t support = model ? mcr_model_support(model) : 0, count = 0;
    *rho = NAN;
    if (!model || support > m->train.count ||
        mcr_model_coefficients(model, own ? 0 : p, coef, &offset, number))
        return 0;
    int i = 0, j = 0;
    if (own)
        compat_machine_pair(m, p, &i, &j);
    const int *first = m->classes.first;
    for (int64_t t = 0; t < support; t++) {
        if (number[t] < 0 || coef[t] == 0)
            continue;
        int64_t at = number[t], size = own ? first[i + 1] - first[i] : 0;
        if (own)
            at = m->classes.member[at < size ? first[i] + at : first[j] + at - size];
        coef[count] = coef[t];
        number[count++] = at;
    }
    *rho = -offset;
    return count;
}

void compat_shuffle(int *row, int count)
{
    for (int i = 0; i < count; i++) {
        int j = i + rand() % (count - i), other = row[i];
        row[i] = row[j];
        row[j] = other;
    }
}

/* ---- weights ----------------------------------------------------------------------------------*/

/* Factors of C, one per class; what is 0 or less becomes next to nothing. */
static void weigh_classes(const compat_classes *c, const struct svm_parameter *p, double *factor)
{
    for (int k = 0; k < c->count; k++)
        factor[k] = 1;
    for (int i = 0; i < p->nr_weight && p->weight && p->weight_label; i++) {
        int k = 0;
        while (k < c->count && c->label[k] != p->weight_label[i])
            k++;
        if (k < c->count)
            factor[k] *= p->weight[i];
        else
            compat_warn("class label %d specified in weight is not found", p->weight_label[i]);
    }
    for (int k = 0; k < c->count; k++)
        factor[k] = factor[k] > 1e-12 ? fmin(factor[k], 1e12) : 1e-12;
}

/* One factor per object; NULL: all are 1, or there is no memory. */
static double *spread_weights(const compat_classes *c, const double *factor, int n)
{
    bool equal = true;
    for (int k = 0; k < c->count; k++)
        equal = equal && factor[k] == 1;
    double *weight = equal ? NULL : malloc((size_t)n * sizeof *weight);
    for (int i = 0; weight && i < n; i++)
        weight[i] = factor[c->of[i]];
    return weight;
}

/* ---- two classes ------------------------------------------------------------------------------*/

/* Trains on objects of two classes. Where nu leaves no margin, larger ones are tried, up to the
 * largest that is feasible. */
static mcr_model *fit_two(compat_engine *e, compat_rows train, const double *target,
                          const double *weight, double most_nu)
{
    mcr_model *model = NULL;
    double nu = compat_engine_parameter(e)->nu;
    for (;;) {
        nu = fmin(nu, most_nu);
        if (compat_engine_fit(&model, e, train, target, weight, nu) || model || nu == most_nu)
            return model;
        nu = fmax(1.5 * nu, 1e-3);
    }
}

/* ---- probabilities ----------------------------------------------------------------------------*/

/* The objects of two classes in random order: y is 1 for the first class. */
typedef struct pair {
    int n;
    int *row;
    double *y, *f; /* f: decision values of those that were held out */
    double factor[2];
} pair;

/* Objects to train on. */
typedef struct part {
    int count, positive;
    int *row;
    double *y, *weight;
} part;

static bool pair_open(pair *p)
{
    size_t size = (size_t)p->n + 1;
    p->row = malloc(size * sizeof *p->row);
    p->y = malloc(size * sizeof *p->y);
    p->f = malloc(size * sizeof *p->f);
    return p->row && p->y && p->f;
}

static void pair_close(pair *p)
{
    free(p->row);
    free(p->y);
    free(p->f);
}

/* All objects of the pair but begin .. end - 1. */
static bool part_open(part *t, const pair *p, int begin, int end)
{
    size_t size = (size_t)p->n + 1;
    *t = (part){.row = malloc(size * sizeof *t->row),
                .y = malloc(size * sizeof *t->y),
                .weight = malloc(size * sizeof *t->weight)};
    if (!t->row || !t->y || !t->weight)
        return false;
    for (int i = 0; i < p->n; i++) {
        if (i >= begin && i < end)
            continue;
        t->positive += p->y[i] > 0;
        t->row[t->count] = p->row[i];
        t->y[t->count] = p->y[i] > 0;
        t->weight[t->count++] = p->factor[p->y[i] < 0];
    }
    return true;
}

static void part_close(part *t)
{
    free(t->row);
    free(t->y);
    free(t->weight);
}

/* Decision values of the objects of a fold from a machine of all others. */
static bool hold_out(void *arg, compat_engine *e, int fold)
{
    pair *p = arg;
    const struct svm_parameter *param = compat_engine_parameter(e);
    int begin = (int)((int64_t)fold * p->n / FOLDS),
        end = (int)(((int64_t)fold + 1) * p->n / FOLDS);
    part t;
    bool done = part_open(&t, p, begin, end);
    int negative = t.count - t.positive;
    mcr_model *model = NULL;
    if (done && t.positive > 0 && negative > 0) {
        bool weighted = param->svm_type == C_SVC && (p->factor[0] != 1 || p->factor[1] != 1);
        double most = 2.0 * (t.positive < negative ? t.positive : negative) / t.count;
        compat_rows train = {t.row, t.count}, test = {p->row + begin, end - begin};
        model = fit_two(e, train, t.y, weighted ? t.weight : NULL, most);
        if (!model ||
            (end > begin && compat_engine_predict(e, model, train, test, NULL, p->f + begin)))
            for (int i = begin; i < end; i++)
                p->f[i] = NAN;
    } else {
        for (int i = begin; i < end; i++)
            p->f[i] = (t.positive > 0) - (negative > 0);
    }
    mcr_model_free(model);
    part_close(&t);
    return done;
}

static bool calibrate_pair(compat_machine *m, compat_engine *e, int at)
{
    int i, j, n = compat_machine_pair(m, at, &i, &j);
    int size = m->classes.first[i + 1] - m->classes.first[i];
    pair p = {.n = n, .factor = {m->factor[i], m->factor[j]}};
    int *place = malloc(((size_t)n + 1) * sizeof *place);
    int *row = malloc(((size_t)n + 1) * sizeof *row);
    bool done = pair_open(&p) && place && row;
    for (int t = 0; done && t < n; t++)
        place[t] = t;
    if (done) {
        compat_shuffle(place, n);
        pair_rows(m, at, row);
    }
    for (int t = 0; done && t < n; t++) {
        p.row[t] = row[place[t]];
        p.y[t] = place[t] < size ? 1 : -1;
    }
    done = done && compat_folds_run(e, FOLDS, n, hold_out, &p);
    if (done)
        compat_platt_fit(p.f, p.y, n, m->prob_a + at, m->prob_b + at);
    free(row);
    free(place);
    pair_close(&p);
    return done;
}

static bool calibrate(compat_machine *m, compat_engine *e)
{
    int pairs = compat_machine_outputs(m);
    m->prob_a = malloc(((size_t)pairs + 1) * sizeof *m->prob_a);
    m->prob_b = malloc(((size_t)pairs + 1) * sizeof *m->prob_b);
    bool done = m->prob_a && m->prob_b;
    for (int p = 0; done && p < pairs; p++)
        done = calibrate_pair(m, e, p);
    return done;
}

/* ---- training ---------------------------------------------------------------------------------*/

compat_progress compat_machine_progress(const compat_machine *m)
{
    compat_progress p = {.one_class = m->classify && m->classes.count == 1};
    for (int i = 0; i < m->models && m->model; i++) {
        if (m->model[i] == NULL)
            continue;
        const mcr_report_fit *r = mcr_model_report(m->model[i]);
        p.steps += r->iterations;
        p.objective += r->objective;
        p.outputs = compat_machine_outputs(m);
    }
    return p;
}

void compat_progress_print(const compat_progress *p)
{
    if (p->one_class)
        compat_info("WARNING: training data in only one class. See README for details.\n");
    if (p->outputs > 0)
        compat_info("optimization finished, #iter = %lld\n", (long long)p->steps);
    if (p->outputs > 1)
        compat_info("obj = %f, the sum of %d problems\n", p->objective, p->outputs);
}

/* One model per pair: what has no solution, or needs another nu, is then one pair's affair. */
static bool fit_pairs(compat_machine *m, compat_engine *e)
{
    int pairs = compat_machine_outputs(m), n = m->train.count;
    int *row = malloc(((size_t)n + 1) * sizeof *row);
    double *target = malloc(((size_t)n + 1) * sizeof *target);
    mcr_model **model = calloc((size_t)pairs + 1, sizeof *model);
    bool done = row && target && model;
    for (int p = 0; done && p < pairs; p++) {
        int i, j, both = compat_machine_pair(m, p, &i, &j);
        int size = m->classes.first[i + 1] - m->classes.first[i];
        for (int t = 0; t < both; t++)
            target[t] = t < size;
        double least = fmin(size, both - size);
        model[p] = fit_two(e, pair_rows(m, p, row), target, NULL, 2 * least / both);
    }
    if (done) {
        free(m->model);
        m->model = model;
        m->models = pairs;
    } else {
        free(model);
    }
    free(target);
    free(row);
    return done;
}

static bool fit_classes(compat_machine *m, compat_engine *e, bool probability)
{
    const struct svm_parameter *param = compat_engine_parameter(e);
    int n = m->train.count;
    if (!compat_classes_open(&m->classes, compat_engine_problem(e)->y, m->train.row, n))
        return false;
    m->factor = malloc(((size_t)m->classes.count + 1) * sizeof *m->factor);
    m->target = malloc(((size_t)n + 1) * sizeof *m->target);
    if (m->factor == NULL || m->target == NULL)
        return false;
    weigh_classes(&m->classes, param, m->factor);
    m->nu = fmin(param->nu, compat_classes_most_nu(&m->classes));
    for (int i = 0; i < n; i++)
        m->target[i] = compat_classes_number(&m->classes, m->classes.of[i]);
    if (probability && !calibrate(m, e))
        return false;
    if (m->classes.count < 2)
        return true;
    double *weight = param->svm_type == C_SVC ? spread_weights(&m->classes, m->factor, n) : NULL;
    mcr_status s = compat_engine_fit(m->model, e, m->train, m->target, weight, m->nu);
    free(weight);
    return s || *m->model || fit_pairs(m, e);
}

static bool fit_numbers(compat_machine *m, compat_engine *e)
{
    const struct svm_parameter *param = compat_engine_parameter(e);
    const double *y = compat_engine_problem(e)->y;
    m->nu = param->nu;
    if (param->svm_type != ONE_CLASS) {
        m->target = malloc(((size_t)m->train.count + 1) * sizeof *m->target);
        if (m->target == NULL)
            return false;
        for (int i = 0; i < m->train.count; i++)
            m->target[i] = y[m->train.row[i]];
    }
    compat_engine_fit(m->model, e, m->train, m->target, NULL, m->nu);
    return true;
}

bool compat_machine_fit(compat_machine *m, compat_engine *e, compat_rows train, bool probability)
{
    int type = compat_engine_parameter(e)->svm_type;
    *m = (compat_machine){.classify = type != ONE_CLASS && type != EPSILON_SVR && type != NU_SVR,
                          .train = train,
                          .models = 1,
                          .model = calloc(1, sizeof *m->model)};
    if (m->model == NULL)
        return false;
    return m->classify ? fit_classes(m, e, probability) : fit_numbers(m, e);
}

void compat_machine_close(compat_machine *m)
{
    compat_classes_close(&m->classes);
    for (int p = 0; p < m->models && m->model; p++)
        mcr_model_free(m->model[p]);
    free(m->model);
    free(m->target);
    free(m->factor);
    free(m->prob_a);
    free(m->prob_b);
}

/* ---- prediction -------------------------------------------------------------------------------*/

/* Where nothing was learned: NAN decides for the last class. */
static double unknown(const compat_machine *m)
{
    if (m->classify)
        return m->classes.count > 0 ? m->classes.label[m->classes.count - 1] : 0;
    return NAN;
}

/* Decision values of all pairs, count x pairs; NAN where there are none. */
static bool score(const compat_machine *m, compat_engine *e, compat_rows test, double *value)
{
    int outputs = compat_machine_outputs(m);
    for (int64_t t = 0; t < (int64_t)test.count * outputs; t++)
        value[t] = NAN;
    if (m->models == 1) {
        if (*m->model)
            compat_engine_predict(e, *m->model, m->train, test, NULL, value);
        return true;
    }
    int *row = malloc(((size_t)m->train.count + 1) * sizeof *row);
    double *column = malloc(((size_t)test.count + 1) * sizeof *column);
    for (int p = 0; p < outputs && row && column; p++)
        if (m->model[p] &&
            !compat_engine_predict(e, m->model[p], pair_rows(m, p, row), test, NULL, column))
            for (int t = 0; t < test.count; t++)
                value[(int64_t)t * outputs + p] = column[t];
    bool done = row && column;
    free(row);
    free(column);
    return done;
}

/* The class of one object by votes; vote: one place per class. */
static int elect(const compat_machine *m, const double *value, int *vote)
{
    int best = 0, p = 0;
    memset(vote, 0, (size_t)m->classes.count * sizeof *vote);
    for (int i = 0; i < m->classes.count; i++)
        for (int j = i + 1; j < m->classes.count; j++, p++)
            vote[value[p] > 0 ? i : j]++;
    for (int i = 1; i < m->classes.count; i++)
        if (vote[i] > vote[best])
            best = i;
    return best;
}

/* Classes from decision values: by votes, or the most probable. */
static bool decide(const compat_machine *m, const double *value, int n, double *target)
{
    int classes = m->classes.count, pairs = compat_machine_outputs(m);
    double *memory = malloc(compat_couple_memory(classes) * sizeof *memory);
    double *proba = malloc(((size_t)classes + 1) * sizeof *proba);
    int *vote = malloc(((size_t)classes + 1) * sizeof *vote);
    bool done = memory && proba && vote;
    for (int t = 0; done && t < n; t++) {
        const double *of = value + (int64_t)t * pairs;
        int best = m->prob_a ? compat_couple(classes, of, m->prob_a, m->prob_b, proba, memory)
                             : elect(m, of, vote);
        target[t] = m->classes.label[best];
    }
    free(memory);
    free(proba);
    free(vote);
    return done;
}

bool compat_machine_predict(const compat_machine *m, compat_engine *e, compat_rows test,
                            double *target)
{
    for (int t = 0; t < test.count; t++)
        target[t] = unknown(m);
    if (test.count == 0 || (m->models == 1 && !*m->model))
        return true;
    bool one_class = compat_engine_parameter(e)->svm_type == ONE_CLASS;
    if (m->models == 1 && !m->prob_a && !one_class) {
        /* Classes alone are had faster than decision values. */
        mcr_status s = compat_engine_predict(e, *m->model, m->train, test, target, NULL);
        for (int t = 0; t < test.count; t++)
            if (s)
                target[t] = unknown(m);
            else if (m->classify)
                target[t] = m->classes.label[compat_classes_number(&m->classes, (int)target[t])];
        return true;
    }
    size_t outputs = (size_t)compat_machine_outputs(m);
    double *value = malloc(outputs * (size_t)test.count * sizeof *value);
    bool done = value && score(m, e, test, value);
    if (done && m->classify)
        done = decide(m, value, test.count, target);
    for (int t = 0; done && !m->classify && t < test.count; t++)
        target[t] = value[t] > 0 ? 1 : -1;
    free(value);
    return done;
}
