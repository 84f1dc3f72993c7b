/* importance.c: feature importance of a model: by permutation (Breiman, 2001; Fisher, Rudin and
 * Dominici, 2019), by the gradient of f, and for single objects by Shapley values (Strumbelj and
 * Kononenko, 2014).
 *
 * All of them only need predictions, so they work for every kernel and learner.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/stream.h"
#include "select/mixing.h"
#include "select/select.h"

enum { MOST_OBJECTS = 2000, MOST_UNITS = 1000, REPEATS = 10, SAMPLES = 200, AT_ONCE = 20000 };

typedef struct probe {
    mcr *ctx;
    const mcr_model *model;
    mcr_data *data; /* at most MOST_OBJECTS of the caller's objects */
    mcr_mixer mixer;
    int64_t n;
    mcr_evaluated what;
    const mcr_metric *metric;
    double *target, *value, *score, *proba;
    int64_t *same, *shuffled; /* 0 .. n-1, and in another order */
    const int64_t **source;   /* of each unit */
} probe;

/* ---- the metric on changed objects ------------------------------------------------------------*/

static void close_probe(probe *a)
{
    mcr_mixer_close(&a->mixer);
    mcr_data_free(a->data);
    mcr_free_all(a->ctx, a->target, a->value, a->score, a->proba, a->same, a->shuffled, a->source);
}

/* Evenly spaced, so that the order of the rows does not matter. */
static mcr_status pick_objects(probe *a, const mcr_data *data, int64_t most)
{
    int64_t all = mcr_data_count(data);
    a->n = all < most ? all : most;
    a->same = mcr_alloc(a->ctx, (size_t)a->n, sizeof *a->same);
    a->shuffled = mcr_alloc(a->ctx, (size_t)a->n, sizeof *a->shuffled);
    if (!a->same || !a->shuffled)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < a->n; i++)
        a->shuffled[i] = (int64_t)((double)i * (double)all / (double)a->n);
    mcr_status s = mcr_data_select(&a->data, data, (mcr_rows){a->shuffled, 0, a->n});
    for (int64_t i = 0; i < a->n; i++)
        a->same[i] = i;
    return s;
}

static mcr_status open_objects(probe *a, const mcr_data *data, int64_t most)
{
    mcr_status s = mcr_data_count(data) > 0
                       ? pick_objects(a, data, most)
                       : mcr_fail(a->ctx, MCR_BAD_DATA, "there are no objects");
    mcr_mixer mixer = {0};
    if (!s)
        s = mcr_mixer_open(&mixer, a->ctx, a->data, MOST_UNITS);
    a->mixer = mixer;
    if (!s && !(a->source = mcr_alloc_zero(a->ctx, (size_t)mixer.units, sizeof *a->source)))
        s = MCR_NO_MEMORY;
    return s;
}

static mcr_status open_metric(probe *a, const char *metric)
{
    const mcr_model *m = a->model;
    mcr_task task = m->report.task;
    int64_t outputs = m->fitted->outputs;
    mcr_status s = MCR_OK;
    if (task != MCR_CLASSIFY && task != MCR_REGRESS)
        return mcr_fail(a->ctx, MCR_BAD_CALL, "a model of %s has no targets to predict",
                        m->learner);
    s = mcr_metric_choose(&a->metric, a->ctx, metric || task == MCR_CLASSIFY ? metric : "r2", task);
    if (s)
        return s;
    bool proba = mcr_model_has_probability(m) && (a->metric->info.score || a->metric->info.proba);
    a->target = mcr_alloc(a->ctx, (size_t)a->n, sizeof *a->target);
    a->value = mcr_alloc(a->ctx, (size_t)a->n, sizeof *a->value);
    if (a->metric->info.score)
        a->score = mcr_alloc(a->ctx, (uint64_t)(a->n * outputs), sizeof *a->score);
    if (proba)
        a->proba = mcr_alloc(a->ctx, (uint64_t)(a->n * m->classes), sizeof *a->proba);
    if (!a->target || !a->value || (a->metric->info.score && !a->score) || (proba && !a->proba))
        return MCR_NO_MEMORY;
    a->what = (mcr_evaluated){.size = sizeof a->what,
                              .task = task,
                              .n = a->n,
                              .classes = m->classes,
                              .outputs = outputs,
                              .positive = mcr_model_positive(m),
                              .target = a->target,
                              .weight = mcr_data_weights(a->data)};
    mcr_evaluated_add(&a->what, m->fitted, a->value, a->score, a->proba);
    return mcr_model_truth(a->ctx, m, a->data, a->target);
}

static mcr_status evaluate(probe *a, double *out)
{
    mcr_data *mixed = NULL;
    mcr_status s = mcr_mixer_mix(
        &mixed, &a->mixer,
        &(mcr_mix){.n = a->n, .base = a->same, .source = a->source, .moved = -1});
    if (!s)
        s = mcr_predict(a->ctx, a->model, mixed, a->value, a->score, a->proba);
    if (!s)
        s = mcr_metric_score(a->metric, a->ctx, &a->what, out);
    mcr_data_free(mixed);
    return s;
}

/* ---- shuffling --------------------------------------------------------------------------------*/

/* Half the width of a 95 % confidence interval of a mean, in standard errors: Student's t with
 * count - 1 degrees of freedom. */
static double student(int64_t count)
{
    static const double t[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                               2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                               2.131,  2.120, 2.110, 2.101, 2.093, 2.086};
    enum { KNOWN = sizeof t / sizeof *t };
    return count < 2 ? NAN : count - 2 < KNOWN ? t[count - 2] : 1.96 + 2.4 / (double)(count - 1);
}

static mcr_status shuffle_unit(probe *a, int64_t unit, double base, int64_t repeats,
                               mcr_importance *to)
{
    double *loss = mcr_alloc(a->ctx, (size_t)repeats, sizeof *loss);
    mcr_status s = loss ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t k = 0; k < repeats && !s; k++) {
        mcr_random r = mcr_random_stream(mcr_seed(a->ctx), "permutation importance",
                                         (uint64_t)(unit * repeats + k));
        memcpy(a->shuffled, a->same, sizeof *a->same * (size_t)a->n);
        mcr_random_shuffle(&r, a->shuffled, a->n);
        a->source[unit] = a->shuffled;
        double score = NAN;
        s = evaluate(a, &score);
        loss[k] = a->metric->info.larger ? base - score : score - base;
    }
    a->source[unit] = NULL;
    to->mean = s ? NAN : mcr_mean(loss, repeats);
    to->std = s ? NAN : mcr_standard_deviation(loss, repeats);
    double half = student(repeats) * to->std / sqrt((double)repeats);
    to->lower = to->mean - half;
    to->upper = to->mean + half;
    mcr_free(a->ctx, loss);
    return s;
}

/* ---- slopes -----------------------------------------------------------------------------------*/

/* Standard deviation of a numeric unit; 0: not numeric, or constant. */
static double standard_deviation(const probe *a, int64_t unit)
{
    const mcr_unit *u = &a->mixer.unit[unit];
    const mcr_store *store = a->data->store[u->field];
    mcr_field field = mcr_data_field(a->data, u->field);
    double sum = 0, squares = 0, count = 0, row[MOST_UNITS];
    bool vectors = store->kind == MCR_DENSE || store->kind == MCR_SPARSE;
    if (!vectors || store->role == MCR_DATE || store->cols > MOST_UNITS ||
        (u->column < 0 && store->cols != 1))
        return 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < a->n; i++) {
            mcr_vector x = mcr_field_vector(&field, i);
            mcr_vector_to_dense(&x, row, store->cols);
            double v = row[u->column < 0 ? 0 : u->column];
            if (isnan(v))
                continue;
            sum += pass ? 0 : v;
            count += pass ? 0 : 1;
            squares += pass ? (v - sum / count) * (v - sum / count) : 0;
        }
    return count > 0 ? sqrt(squares / count) : 0;
}

/* The mean absolute change of f per standard deviation of the number, by its slope. */
static mcr_status slope_of(probe *a, int64_t unit, double *out)
{
    const double step = 1e-4;
    double by = standard_deviation(a, unit);
    int64_t outputs = a->model->fitted->outputs;
    *out = NAN;
    if (by == 0)
        return MCR_OK;
    double *f = mcr_alloc(a->ctx, (uint64_t)(2 * a->n * outputs), sizeof *f), sum = 0;
    mcr_status s = f ? MCR_OK : MCR_NO_MEMORY;
    for (int up = 0; up < 2 && !s; up++) {
        mcr_data *moved = NULL;
        s = mcr_mixer_mix(
            &moved, &a->mixer,
            &(mcr_mix){.n = a->n, .base = a->same, .moved = unit, .by = (up ? step : -step) * by});
        if (!s)
            s = mcr_predict(a->ctx, a->model, moved, NULL, f + up * a->n * outputs, NULL);
        mcr_data_free(moved);
    }
    for (int64_t i = 0; i < a->n * outputs && !s; i++)
        sum += fabs(f[a->n * outputs + i] - f[i]);
    if (!s)
        *out = sum / (2 * step * (double)(a->n * outputs));
    mcr_free(a->ctx, f);
    return s;
}

/* ---- reports ----------------------------------------------------------------------------------*/

void mcr_importance_free(mcr *ctx, mcr_importance_report *r)
{
    if (!r)
        return;
    for (int64_t i = 0; r->item && i < r->count; i++) {
        if (r->item[i])
            mcr_free(ctx, (void *)r->item[i]->name);
        mcr_free(ctx, (void *)r->item[i]);
    }
    mcr_free_all(ctx, (void *)r->item, r);
}

static mcr_status open_report(mcr_importance_report **out, const probe *a)
{
    mcr *ctx = a->ctx;
    int64_t units = a->mixer.units;
    mcr_importance_report *r = mcr_alloc_zero(ctx, 1, sizeof *r);
    mcr_importance **item = mcr_alloc_zero(ctx, (size_t)units, sizeof *item);
    *out = r;
    if (!r || !item) {
        mcr_free(ctx, item);
        return MCR_NO_MEMORY;
    }
    r->size = sizeof *r;
    r->item = (const mcr_importance *const *)item;
    r->count = units;
    r->n = a->n;
    r->base = r->value = NAN;
    for (int64_t u = 0; u < units; u++) {
        const char *name = a->mixer.unit[u].name;
        if (!(item[u] = mcr_alloc_zero(ctx, 1, sizeof **item)))
            return MCR_NO_MEMORY;
        *item[u] = (mcr_importance){.size = sizeof **item,
                                    .name = mcr_copy_text(ctx, name, strlen(name)),
                                    .sensitivity = NAN};
        if (!item[u]->name)
            return MCR_NO_MEMORY;
    }
    return MCR_OK;
}

static mcr_status finish(mcr_importance_report **out, probe *a, mcr_importance_report *r,
                         mcr_status s)
{
    if (s)
        mcr_importance_free(a->ctx, r);
    else
        *out = r;
    close_probe(a);
    return s;
}

mcr_status mcr_model_importance(mcr_importance_report **out, mcr *ctx, const mcr_model *model,
                                const mcr_data *data, const char *metric, int64_t repeats)
{
    probe a = {.ctx = ctx, .model = model};
    mcr_importance_report *r = NULL;
    *out = NULL;
    repeats = repeats > 0 ? repeats : REPEATS;
    mcr_status s = open_objects(&a, data, MOST_OBJECTS);
    if (!s)
        s = open_metric(&a, metric);
    if (!s)
        s = open_report(&r, &a);
    if (!s)
        s = evaluate(&a, &r->base);
    if (!s) {
        r->repeats = repeats;
        r->metric = a.metric->info.name;
    }
    for (int64_t u = 0; u < a.mixer.units && !s; u++) {
        mcr_importance *to = (mcr_importance *)r->item[u];
        s = shuffle_unit(&a, u, r->base, repeats, to);
        if (!s)
            s = slope_of(&a, u, &to->sensitivity);
        if (!s)
            s = mcr_part_done(ctx, "importance", (double)(u + 1) / (double)a.mixer.units, 0);
    }
    return finish(out, &a, r, s);
}

/* ---- single objects ---------------------------------------------------------------------------*/

/* One sample: a permutation of the units and another object; unit by unit, the value is replaced by
 * that of the explained object, and the change of f is the unit's contribution. */
typedef struct walk {
    int64_t samples, output, object;
    int64_t *order; /* samples x units */
    int64_t *other; /* samples */
    double *sum, *squares;
    double base, value;
} walk;

static void draw_walk(const probe *a, walk *w)
{
    int64_t units = a->mixer.units;
    for (int64_t m = 0; m < w->samples; m++) {
        mcr_random r = mcr_random_stream(mcr_seed(a->ctx), "shapley", (uint64_t)m);
        int64_t *order = w->order + m * units;
        for (int64_t u = 0; u < units; u++)
            order[u] = u;
        mcr_random_shuffle(&r, order, units);
        w->other[m] = mcr_random_below(&r, a->n);
    }
}

/* Samples first .. first + count - 1, units + 1 objects each. */
static mcr_status run_walk(probe *a, walk *w, int64_t first, int64_t count)
{
    int64_t units = a->mixer.units, steps = units + 1, n = count * steps;
    int64_t outputs = a->model->fitted->outputs;
    int64_t *rows = mcr_alloc(a->ctx, (uint64_t)(n * units), sizeof *rows);
    int64_t *base = mcr_alloc(a->ctx, (size_t)n, sizeof *base);
    double *f = mcr_alloc(a->ctx, (uint64_t)(n * outputs), sizeof *f);
    mcr_data *mixed = NULL;
    mcr_status s = rows && base && f ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t m = 0; m < count && !s; m++)
        for (int64_t u = 0; u < units; u++) {
            int64_t unit = w->order[(first + m) * units + u];
            for (int64_t step = 0; step < steps; step++) {
                base[m * steps + step] = w->object;
                rows[unit * n + m * steps + step] = step > u ? w->object : w->other[first + m];
            }
        }
    for (int64_t u = 0; u < units && !s; u++)
        a->source[u] = rows + u * n;
    if (!s)
        s = mcr_mixer_mix(&mixed, &a->mixer,
                          &(mcr_mix){.n = n, .base = base, .source = a->source, .moved = -1});
    if (!s)
        s = mcr_predict(a->ctx, a->model, mixed, NULL, f, NULL);
    for (int64_t m = 0; m < count && !s; m++) {
        const double *at = f + m * steps * outputs + w->output;
        w->base += at[0] / (double)w->samples;
        w->value = at[units * outputs];
        for (int64_t u = 0; u < units; u++) {
            double gain = at[(u + 1) * outputs] - at[u * outputs];
            int64_t unit = w->order[(first + m) * units + u];
            w->sum[unit] += gain;
            w->squares[unit] += gain * gain;
        }
    }
    mcr_data_free(mixed);
    mcr_free_all(a->ctx, rows, base, f);
    return s;
}

static mcr_status walk_all(probe *a, walk *w, mcr_importance_report *r)
{
    int64_t units = a->mixer.units, at_once = 1 + AT_ONCE / (units + 1);
    mcr_status s = MCR_OK;
    w->order = mcr_alloc(a->ctx, (size_t)w->samples, (size_t)units * sizeof *w->order);
    w->other = mcr_alloc(a->ctx, (size_t)w->samples, sizeof *w->other);
    w->sum = mcr_alloc_zero(a->ctx, 2 * (uint64_t)units, sizeof *w->sum);
    if (!w->order || !w->other || !w->sum)
        s = MCR_NO_MEMORY;
    if (!s) {
        w->squares = w->sum + units;
        draw_walk(a, w);
    }
    for (int64_t m = 0; m < w->samples && !s; m += at_once) {
        s = run_walk(a, w, m, w->samples - m < at_once ? w->samples - m : at_once);
        if (!s)
            s = mcr_part_done(a->ctx, "shapley", (double)m / (double)w->samples, 0);
    }
    double n = (double)w->samples;
    for (int64_t u = 0; u < units && !s; u++) {
        mcr_importance *to = (mcr_importance *)r->item[u];
        to->mean = w->sum[u] / n;
        to->std = n > 1 ? sqrt(fmax(w->squares[u] - n * to->mean * to->mean, 0) / (n - 1)) : NAN;
        double half = student(w->samples) * to->std / sqrt(n);
        to->lower = to->mean - half;
        to->upper = to->mean + half;
    }
    r->base = w->base;
    r->value = w->value;
    r->repeats = w->samples;
    mcr_free_all(a->ctx, w->order, w->other, w->sum);
    return s;
}

mcr_status mcr_model_shapley(mcr_importance_report **out, mcr *ctx, const mcr_model *model,
                             const mcr_data *data, int64_t object, int64_t output, int64_t samples)
{
    probe a = {.ctx = ctx, .model = model};
    walk w = {.samples = samples > 0 ? samples : SAMPLES, .output = output, .object = object};
    mcr_importance_report *r = NULL;
    *out = NULL;
    if (object < 0 || object >= mcr_data_count(data))
        return mcr_fail(ctx, MCR_BAD_CALL, "there is no object %lld: there are %lld",
                        (long long)object + 1, (long long)mcr_data_count(data));
    if (output < 0 || output >= model->fitted->outputs)
        return mcr_fail(ctx, MCR_BAD_CALL, "there is no output %lld", (long long)output + 1);
    mcr_status s = open_objects(&a, data, mcr_data_count(data));
    if (!s)
        s = open_report(&r, &a);
    if (!s)
        s = walk_all(&a, &w, r);
    return finish(out, &a, r, s);
}
