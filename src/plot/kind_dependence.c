/* kind_dependence.c: partial dependence (Friedman, 2001): the mean prediction over all objects if
 * each of them had a given value in one column.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "plot/plotting.h"
#include "select/mixing.h"

enum { PLACES = 25, WORDS = 12, MOST_OBJECTS = 300, MOST_UNITS = 2000, LINES = 8 };

typedef struct dependence {
    mcr_plotting *p;
    mcr_mixer mixer;
    int64_t unit;
    bool words; /* the values are categories */
    int64_t n, *object;
    int64_t places, at[PLACES]; /* objects with these values */
    double x[PLACES];           /* the values; for words their numbers */
    int64_t lines;              /* classes, or 1 */
    double *mean;               /* places x lines */
    const char *what;           /* is drawn */
} dependence;

typedef struct valued {
    double value;
    int64_t object, count;
} valued;

static int by_count(const void *a, const void *b)
{
    const valued *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : (x->object > y->object) - (x->object < y->object);
}

static mcr_status find_unit(dependence *d)
{
    const char *wanted = d->p->how->x;
    if (!wanted)
        return mcr_plot_refuse(d->p, MCR_BAD_CALL, "dependence needs a column (x)");
    for (d->unit = 0; d->unit < d->mixer.units; d->unit++)
        if (strcmp(d->mixer.unit[d->unit].name, wanted) == 0)
            return MCR_OK;
    return mcr_plot_refuse(d->p, MCR_BAD_CALL, "there is no column \"%.100s\"", wanted);
}

/* ---- values -----------------------------------------------------------------------------------*/

/* The column's numbers, without missing ones; *count: their number. */
static mcr_status read_numbers(const dependence *d, valued *list, int64_t *count)
{
    const mcr_unit *u = &d->mixer.unit[d->unit];
    int64_t cols = d->p->data->store[u->field]->cols, column = u->column < 0 ? 0 : u->column;
    double *row = mcr_blocks_reals(&d->p->scratch, cols);
    mcr_status s = row ? MCR_OK : MCR_NO_MEMORY;
    *count = 0;
    for (int64_t i = 0; i < d->n && !s; i++) {
        s = mcr_data_vector(d->p->data, u->field, d->object[i], row);
        if (!s && !isnan(row[column]))
            list[(*count)++] = (valued){row[column], d->object[i], 1};
    }
    return s;
}

/* Values at equally spaced ranks, each once. */
static void choose_numbers(dependence *d, valued *list, int64_t count)
{
    qsort(list, (size_t)count, sizeof *list, mcr_ranked_rising);
    for (int64_t k = 0; k < PLACES && count > 0; k++) {
        const valued *v = &list[k * (count - 1) / (PLACES - 1)];
        if (d->places > 0 && d->x[d->places - 1] == v->value)
            continue;
        d->x[d->places] = v->value;
        d->at[d->places++] = v->object;
    }
}

/* The most frequent words. */
static mcr_status choose_words(dependence *d, valued *list)
{
    int64_t field = d->mixer.unit[d->unit].field, words = 0, length[2];
    const char *text[2];
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < d->n && !s; i++) {
        int64_t w = 0;
        s = mcr_data_string(d->p->data, field, d->object[i], &text[0], &length[0]);
        for (; w < words && !s; w++) {
            s = mcr_data_string(d->p->data, field, list[w].object, &text[1], &length[1]);
            if (!s && length[0] == length[1] && memcmp(text[0], text[1], (size_t)length[0]) == 0)
                break;
        }
        if (!s && w == words)
            list[words++] = (valued){0, d->object[i], 0};
        if (!s)
            list[w].count++;
    }
    qsort(list, (size_t)words, sizeof *list, by_count);
    for (; d->places < words && d->places < WORDS; d->places++) {
        d->x[d->places] = (double)d->places;
        d->at[d->places] = list[d->places].object;
    }
    return s;
}

static mcr_status choose_values(dependence *d)
{
    const mcr_store *store = d->p->data->store[d->mixer.unit[d->unit].field];
    valued *list = mcr_blocks_take(&d->p->scratch, d->n, sizeof *list);
    int64_t count = 0;
    if (!list)
        return MCR_NO_MEMORY;
    d->words = store->kind == MCR_STRINGS && store->role == MCR_CATEGORY;
    if (!d->words && store->kind != MCR_DENSE && store->kind != MCR_SPARSE)
        return mcr_plot_refuse(
            d->p, MCR_BAD_CALL,
            "dependence is drawn over numbers, dates and categories, and \"%.100s\" is not one",
            d->p->how->x);
    mcr_status s = d->words ? choose_words(d, list) : read_numbers(d, list, &count);
    if (!s && !d->words)
        choose_numbers(d, list, count);
    return !s && d->places == 0 ? mcr_plot_refuse(d->p, MCR_BAD_DATA,
                                                  "column \"%.100s\" has no values", d->p->how->x)
                                : s;
}

/* ---- predictions ------------------------------------------------------------------------------*/

/* The mean over the objects, each with the value of object `at`. */
static mcr_status mean_at(const dependence *d, int64_t at, double *mean)
{
    mcr_plotting *p = d->p;
    int64_t *same = mcr_blocks_take(&p->scratch, d->n, sizeof *same);
    const int64_t **source = mcr_blocks_take(&p->scratch, d->mixer.units, sizeof *source);
    int64_t classes = mcr_model_classes(p->model), outputs = mcr_model_outputs(p->model);
    bool proba = classes > 0 && mcr_model_has_probability(p->model);
    double *value = mcr_blocks_reals(&p->scratch, d->n);
    double *score = mcr_blocks_reals(&p->scratch, d->n * outputs);
    double *chance = proba ? mcr_blocks_reals(&p->scratch, d->n * classes) : NULL;
    mcr_data *mixed = NULL;
    if (!same || !source || !value || !score || (proba && !chance))
        return MCR_NO_MEMORY;
    for (int64_t u = 0; u < d->mixer.units; u++)
        source[u] = u == d->unit ? same : NULL;
    for (int64_t i = 0; i < d->n; i++)
        same[i] = at;
    mcr_status s = mcr_mixer_mix(
        &mixed, &d->mixer, &(mcr_mix){.n = d->n, .base = d->object, .source = source, .moved = -1});
    if (!s)
        s = mcr_predict(p->ctx, p->model, mixed, value, classes > 0 ? score : NULL, chance);
    mcr_data_free(mixed);
    for (int64_t l = 0; l < d->lines; l++)
        mean[l] = 0;
    for (int64_t i = 0; i < d->n && !s; i++)
        for (int64_t l = 0; l < d->lines; l++)
            mean[l] += (classes == 0    ? value[i]
                        : proba         ? chance[i * classes + (d->lines == 1 ? 1 : l)]
                        : d->lines == 1 ? score[i]
                                        : (double)(value[i] == (double)l)) /
                       (double)d->n;
    return s;
}

static mcr_status predict(dependence *d)
{
    mcr_plotting *p = d->p;
    int64_t classes = mcr_model_classes(p->model);
    bool proba = classes > 0 && mcr_model_has_probability(p->model);
    d->lines = classes > 2 ? classes : 1;
    if (d->lines > LINES)
        return mcr_plot_refuse(p, MCR_BAD_CALL, "dependence is drawn for at most %d classes",
                               LINES);
    d->mean = mcr_blocks_reals(&p->scratch, d->places * d->lines);
    const char *of = classes == 2 ? mcr_model_class_name(p->model, 1) : "";
    d->what = classes == 0   ? mcr_plot_target_name(p)
              : classes == 2 ? mcr_blocks_format(&p->f->pool,
                                                 proba ? "mean probability of class %.60s"
                                                       : "mean decision value (%.0s%.60s)",
                                                 of, mcr_model_output_name(p->model, 0))
              : proba        ? "mean probability"
                             : "share of the predictions";
    mcr_status s = d->mean && d->what ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t k = 0; k < d->places && !s; k++)
        s = mean_at(d, d->at[k], d->mean + k * d->lines);
    return s;
}

/* ---- drawing ----------------------------------------------------------------------------------*/

static mcr_status name_words(dependence *d, mcr_axis *axis)
{
    const char **name = mcr_blocks_take(&d->p->f->pool, d->places, sizeof *name);
    mcr_status s = name ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t k = 0; k < d->places && !s; k++) {
        const char *text;
        int64_t length;
        s = mcr_data_string(d->p->data, d->mixer.unit[d->unit].field, d->at[k], &text, &length);
        name[k] = s ? NULL
                    : mcr_blocks_format(&d->p->f->pool, "%.*s", length < 40 ? (int)length : 40,
                                        length > 0 ? text : "missing");
        if (!s && length == 0)
            name[k] = "missing";
        if (!s && !name[k])
            s = MCR_NO_MEMORY;
    }
    *axis = (mcr_axis){.names = name, .count = d->places};
    return s;
}

static mcr_status add_line(dependence *d, mcr_panel *panel, int64_t l)
{
    const char *name = d->lines > 1 ? mcr_model_class_name(d->p->model, l) : d->what;
    /* Bars of several classes are side by side. */
    const double wide = 0.8 / (double)d->lines;
    mcr_mark *m = mcr_panel_xy(d->p->f, panel, d->words ? MCR_MARK_BARS : MCR_MARK_LINE, name,
                               d->places);
    if (!m)
        return MCR_NO_MEMORY;
    for (int64_t k = 0; k < d->places; k++) {
        m->x[k] = d->x[k];
        m->y[k] = d->mean[k * d->lines + l];
        if (d->words)
            m->x[k] += wide * ((double)(d->lines - 1) / 2 - (double)l);
    }
    m->sideways = d->words;
    m->ink = mcr_class_ink(l);
    m->width = d->words ? wide : 2.4;
    m->legend = d->lines > 1;
    return MCR_OK;
}

static mcr_status draw(dependence *d)
{
    mcr_plotting *p = d->p;
    mcr_panel *panel = mcr_frame_panel(p->f, 0, 0);
    const char *name = mcr_blocks_text(&p->f->pool, p->how->x);
    const char *what = mcr_blocks_text(&p->f->pool, d->what);
    mcr_status s = panel && name && what ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t l = 0; l < d->lines && !s; l++)
        s = add_line(d, panel, l);
    if (s)
        return s;
    if (d->words) {
        panel->x = (mcr_axis){.label = what, .zero = true};
        s = name_words(d, &panel->y);
        p->f->aspect = 0.28 + 0.04 * (double)d->places;
    } else {
        bool date = d->p->data->store[d->mixer.unit[d->unit].field]->role == MCR_DATE;
        panel->x.label = date ? mcr_blocks_format(&p->f->pool, "%.80s (days since 1970)", name)
                              : name;
        panel->y.label = what;
        panel->x.min = d->x[0];
        panel->x.max = d->x[d->places - 1];
    }
    mcr_plot_title(p, "Dependence on %.80s", p->how->x);
    mcr_plot_subtitle(p, "%s; mean over %lld objects", mcr_plot_made_by(p), (long long)d->n);
    return s;
}

static mcr_status make(mcr_plotting *p)
{
    dependence d = {.p = p};
    mcr_status s = mcr_mixer_open(&d.mixer, p->ctx, p->data, MOST_UNITS);
    if (!s)
        s = find_unit(&d);
    if (!s) {
        d.object = mcr_plot_thin(p, mcr_data_count(p->data), MOST_OBJECTS, &d.n);
        s = d.object ? choose_values(&d) : MCR_NO_MEMORY;
    }
    if (!s)
        s = predict(&d);
    if (!s)
        s = draw(&d);
    mcr_mixer_close(&d.mixer);
    return s;
}

const mcr_plot_type mcr_plot_dependence = {
    {"dependence", "the mean prediction, if all objects had the same value in one column",
     "a model, data, and a column (x)"},
    .make = make,
    .tasks = 1u << MCR_CLASSIFY | 1u << MCR_REGRESS,
    .data = true,
};
