/* kind_tuning.c: the scores of a search over its parameters.
 *
 * The points of a search are texts: a kernel and options. Numbers after '=' are parameters; points
 * that differ only in these belong to the same family. The family of the best point is drawn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/order.h"
#include "base/stream.h"
#include "plot/plotting.h"

enum { PARAMS = 8, NAME = 32, LISTED = 12 };

typedef struct tried {
    const char *kernel, *options;
    double score, std;
    bool failed, best;
    char *family;
    int params;
    char name[PARAMS][NAME];
    double value[PARAMS];
} tried;

typedef struct search {
    const char *metric;
    int64_t count, best;
    tried *point;
    bool larger;
} search;

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

/* Splits the texts of a point into its family and its parameters. */
static bool analyse(mcr_plotting *p, tried *t)
{
    const char *text = mcr_blocks_format(&p->scratch, "%.400s %.100s", t->kernel, t->options);
    t->family = text ? mcr_blocks_take(&p->scratch, (int64_t)strlen(text) + 1, 1) : NULL;
    if (!t->family)
        return false;
    char *to = t->family;
    const char *end = text + strlen(text);
    for (const char *at = text; *at;) {
        *to++ = *at;
        double value;
        const char *after = *at == '=' ? mcr_parse_real(at + 1, end, &value) : NULL;
        if (after && t->params < PARAMS) {
            const char *begin = at;
            while (begin > text && is_letter(begin[-1]))
                begin--;
            size_t length = (size_t)(at - begin) < NAME - 1 ? (size_t)(at - begin) : NAME - 1;
            memcpy(t->name[t->params], begin, length);
            t->value[t->params++] = value;
            *to++ = '#';
            at = after;
        } else {
            at++;
        }
    }
    *to = '\0';
    return true;
}

/* ---- which parameters vary ------------------------------------------------------------------ */

typedef struct varying {
    int param; /* its index in the point */
    int64_t count;
    double *value; /* ascending, distinct */
} varying;

static bool in_family(const search *s, int64_t i)
{
    const tried *t = &s->point[i];
    return !t->failed && isfinite(t->score) && strcmp(t->family, s->point[s->best].family) == 0;
}

static mcr_status find_values(mcr_plotting *p, const search *s, int param, varying *v)
{
    *v = (varying){.param = param, .value = mcr_blocks_reals(&p->scratch, s->count)};
    int64_t all = 0;
    if (!v->value)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < s->count; i++)
        if (in_family(s, i))
            v->value[all++] = s->point[i].value[param];
    qsort(v->value, (size_t)all, sizeof *v->value, mcr_reals_rising);
    for (int64_t i = 0; i < all; i++)
        if (!v->count || v->value[i] > v->value[v->count - 1])
            v->value[v->count++] = v->value[i];
    return MCR_OK;
}

/* The two parameters with the most values, in the order of the text. Returns how many vary. */
static mcr_status find_varying(mcr_plotting *p, const search *s, varying *two, int *count)
{
    *count = 0;
    for (int k = 0; k < s->point[s->best].params; k++) {
        varying v;
        mcr_status status = find_values(p, s, k, &v);
        if (status)
            return status;
        if (v.count < 2)
            continue;
        if (*count < 2) {
            two[(*count)++] = v;
        } else {
            int fewer = two[0].count <= two[1].count ? 0 : 1;
            if (v.count > two[fewer].count) {
                two[0] = two[!fewer];
                two[1] = v;
            }
        }
    }
    return MCR_OK;
}

static bool by_ratio(const varying *v)
{
    return v->value[0] > 0 && v->value[v->count - 1] >= 10 * v->value[0] && v->count > 2;
}

static bool better(const search *s, double a, double b)
{
    return isnan(b) || (s->larger ? a > b : a < b);
}

static const char *param_name(mcr_plotting *p, const search *s, const varying *v)
{
    return mcr_blocks_text(&p->f->pool, s->point[s->best].name[v->param]);
}

/* ---- one parameter -------------------------------------------------------------------------- */

/* Two rings, in the colours of ink and paper: one of them is visible on any background. */
static mcr_status add_chosen(mcr_plotting *p, mcr_panel *panel, double x, double y)
{
    for (int outer = 0; outer < 2; outer++) {
        mcr_mark *m = mcr_panel_xy(p->f, panel, MCR_MARK_POINTS, outer ? "halo" : "chosen", 1);
        if (!m)
            return MCR_NO_MEMORY;
        m->x[0] = x;
        m->y[0] = y;
        m->shape = MCR_SHAPE_RING;
        m->size = outer ? 14.5 : 12;
        m->ink = outer ? MCR_INK_PAPER : MCR_INK_TEXT;
        m->legend = !outer;
    }
    return MCR_OK;
}

static mcr_status draw_line(mcr_plotting *p, const search *s, const varying *v)
{
    mcr_panel *panel = mcr_frame_panel(p->f, 0, 0);
    mcr_mark *band = panel ? mcr_panel_xy(p->f, panel, MCR_MARK_BAND, "± standard deviation",
                                          v->count)
                           : NULL;
    double *low = mcr_blocks_reals(&p->f->pool, v->count);
    double *high = mcr_blocks_reals(&p->f->pool, v->count);
    if (!band || !low || !high)
        return MCR_NO_MEMORY;
    band->low = low;
    band->high = high;
    band->alpha = 0.18;
    band->legend = true;
    double *x = band->x, *y = band->y;
    for (int64_t k = 0; k < v->count; k++) {
        x[k] = v->value[k];
        y[k] = NAN;
        for (int64_t i = 0; i < s->count; i++) {
            const tried *t = &s->point[i];
            if (!in_family(s, i) || t->value[v->param] != x[k] || !better(s, t->score, y[k]))
                continue;
            y[k] = t->score;
            double std = isfinite(t->std) ? t->std : 0;
            low[k] = t->score - std;
            high[k] = t->score + std;
        }
    }
    mcr_mark *m = mcr_panel_over(p->f, panel, MCR_MARK_LINE, s->metric, v->count, x, y);
    mcr_mark *dots = m ? mcr_panel_over(p->f, panel, MCR_MARK_POINTS, s->metric, v->count, x, y)
                       : NULL;
    if (!dots)
        return MCR_NO_MEMORY;
    dots->size = 6;
    panel->x = (mcr_axis){.label = param_name(p, s, v), .log = by_ratio(v)};
    panel->y = (mcr_axis){.label = mcr_blocks_text(&p->f->pool, s->metric)};
    const tried *best = &s->point[s->best];
    p->f->aspect = 0.6;
    return add_chosen(p, panel, best->value[v->param], best->score);
}

/* ---- two parameters ------------------------------------------------------------------------- */

/* Boundaries halfway between values, by ratio or by distance. */
static double *edges(mcr_plotting *p, const varying *v)
{
    double *e = mcr_blocks_reals(&p->f->pool, v->count + 1);
    bool ratio = by_ratio(v);
    for (int64_t i = 1; e && i < v->count; i++)
        e[i] = ratio ? sqrt(v->value[i - 1] * v->value[i]) : 0.5 * (v->value[i - 1] + v->value[i]);
    if (e) {
        const double *at = v->value;
        int64_t n = v->count;
        e[0] = ratio ? at[0] * at[0] / e[1] : 2 * at[0] - e[1];
        e[n] = ratio ? at[n - 1] * at[n - 1] / e[n - 1] : 2 * at[n - 1] - e[n - 1];
    }
    return e;
}

static int64_t place_of(const varying *v, double value)
{
    int64_t at = 0;
    while (at + 1 < v->count && v->value[at] < value)
        at++;
    return at;
}

static mcr_status draw_map(mcr_plotting *p, const search *s, const varying *two)
{
    const varying *a = &two[0], *b = &two[1];
    mcr_panel *panel = mcr_frame_panel(p->f, 0, 0);
    mcr_mark *m = panel ? mcr_panel_mark(p->f, panel, MCR_MARK_CELLS, s->metric) : NULL;
    double *value = mcr_blocks_reals(&p->f->pool, a->count * b->count);
    double *xe = edges(p, a), *ye = edges(p, b);
    if (!m || !value || !xe || !ye)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < a->count * b->count; i++)
        value[i] = NAN;
    m->v0 = INFINITY;
    m->v1 = -INFINITY;
    for (int64_t i = 0; i < s->count; i++) {
        const tried *t = &s->point[i];
        if (!in_family(s, i))
            continue;
        double *cell =
            &value[place_of(b, t->value[b->param]) * a->count + place_of(a, t->value[a->param])];
        if (better(s, t->score, *cell))
            *cell = t->score;
        m->v0 = fmin(m->v0, t->score);
        m->v1 = fmax(m->v1, t->score);
    }
    m->v1 = m->v1 > m->v0 ? m->v1 : m->v0 + 1;
    m->value = value;
    m->cols = a->count;
    m->rows = b->count;
    m->x_edge = xe;
    m->y_edge = ye;
    m->x0 = xe[0];
    m->x1 = xe[a->count];
    m->y0 = ye[0];
    m->y1 = ye[b->count];
    panel->x = (mcr_axis){.label = param_name(p, s, a), .log = by_ratio(a), .tight = true};
    panel->y = (mcr_axis){.label = param_name(p, s, b), .log = by_ratio(b), .tight = true};
    panel->bar = mcr_blocks_text(&p->f->pool, s->metric);
    panel->no_grid = true;
    const tried *best = &s->point[s->best];
    return add_chosen(p, panel, best->value[a->param], best->value[b->param]);
}

/* ---- no parameter: a list ------------------------------------------------------------------- */

static mcr_status draw_list(mcr_plotting *p, const search *s)
{
    int64_t shown = s->count < LISTED ? s->count : LISTED;
    mcr_panel *panel = mcr_frame_panel(p->f, 0, 0);
    mcr_mark *m = panel ? mcr_panel_xy(p->f, panel, MCR_MARK_BARS, s->metric, shown) : NULL;
    const char **name = mcr_blocks_take(&p->f->pool, shown, sizeof *name);
    if (!m || !name)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < shown; i++) {
        const tried *t = &s->point[i];
        m->x[i] = (double)(shown - 1 - i);
        m->y[i] = t->failed || !isfinite(t->score) ? 0 : t->score;
        name[shown - 1 - i] = mcr_blocks_format(&p->f->pool, "%.60s %.30s", t->kernel, t->options);
        if (!name[shown - 1 - i])
            return MCR_NO_MEMORY;
    }
    m->width = 0.7;
    m->sideways = true;
    panel->x = (mcr_axis){.label = mcr_blocks_text(&p->f->pool, s->metric), .zero = true};
    panel->y = (mcr_axis){.names = name, .count = shown};
    return MCR_OK;
}

static mcr_status draw(mcr_plotting *p, search *s)
{
    varying two[2];
    int count = 0;
    for (int64_t i = 0; i < s->count; i++)
        if (!analyse(p, &s->point[i]))
            return MCR_NO_MEMORY;
    mcr_status status = find_varying(p, s, two, &count);
    if (!status)
        status = count == 0   ? draw_list(p, s)
                 : count == 1 ? draw_line(p, s, two)
                              : draw_map(p, s, two);
    const tried *best = &s->point[s->best];
    mcr_figure_set_number(p->f, "best", best->score);
    mcr_plot_title(p, "Search: best %.40s %s", s->metric, mcr_plot_number(p, best->score, 4));
    char kernel[320], options[200];
    mcr_plot_shorten(best->kernel, kernel, sizeof kernel, false);
    mcr_plot_shorten(best->options, options, sizeof options, true);
    mcr_plot_subtitle(p, "chosen: %s%s%s; %lld points", kernel, *options ? ", " : "", options,
                      (long long)s->count);
    return status;
}

/* ---- where the points come from ------------------------------------------------------------- */

mcr_status mcr_plot_tuning_report(mcr_plotting *p, const mcr_tune_report *report)
{
    search s = {.metric = report->metric,
                .count = report->points,
                .best = report->best,
                .larger = report->larger};
    s.point = mcr_blocks_take(&p->scratch, s.count, sizeof *s.point);
    if (!s.point)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < s.count; i++) {
        const mcr_point *from = report->point[i];
        s.point[i] = (tried){.kernel = from->kernel,
                             .options = from->options,
                             .score = from->score,
                             .std = from->std,
                             .failed = from->state == MCR_POINT_FAILED};
    }
    return draw(p, &s);
}

/* The next value of a comma-separated line, in place; *at moves past it. */
static char *next_value(char **at)
{
    char *from = *at, *to = from, *begin = from;
    bool quoted = *from == '"';
    from += quoted;
    for (; *from && *from != '\n'; from++) {
        if (quoted && *from == '"' && from[1] != '"')
            break;
        if (!quoted && *from == ',')
            break;
        from += quoted && *from == '"';
        *to++ = *from;
    }
    from += quoted && *from == '"';
    from += *from == ',';
    *at = from;
    *to = '\0';
    return begin;
}

static bool read_point(char **at, tried *t)
{
    *t = (tried){0};
    t->kernel = next_value(at);
    t->options = next_value(at);
    const char *score = next_value(at), *std = next_value(at);
    next_value(at); /* folds */
    const char *state = next_value(at);
    if (!mcr_parse_real(score, score + strlen(score), &t->score))
        t->score = NAN;
    if (!mcr_parse_real(std, std + strlen(std), &t->std))
        t->std = NAN;
    t->best = strcmp(state, "best") == 0;
    t->failed = strcmp(state, "failed") == 0;
    return t->kernel[0] != '\0';
}

static bool is_larger_better(const char *metric)
{
    mcr_metric_info info = MCR_INIT(mcr_metric_info);
    for (int64_t i = 0; i < mcr_metric_count(); i++)
        if (mcr_metric_describe(i, &info) == MCR_OK && strcmp(info.name, metric) == 0)
            return info.larger;
    return true;
}

static mcr_status make(mcr_plotting *p)
{
    const char *table = p->model ? mcr_model_tuning(p->model) : NULL;
    if (!table)
        return mcr_plot_needs(p, "a model that was found by a search (tune)");
    char *text = mcr_blocks_text(&p->scratch, table), *at = text;
    int64_t lines = 0;
    for (const char *c = table; *c; c++)
        lines += *c == '\n';
    search s = {.point = mcr_blocks_take(&p->scratch, lines + 1, sizeof *s.point)};
    if (!text || !s.point)
        return MCR_NO_MEMORY;
    next_value(&at);
    next_value(&at);
    s.metric = next_value(&at);
    s.larger = is_larger_better(s.metric);
    at = text + (strchr(table, '\n') ? strchr(table, '\n') + 1 - table : 0);
    while (*at && s.count < lines) {
        char *line_end = strchr(at, '\n'), *next = line_end ? line_end + 1 : at + strlen(at);
        if (read_point(&at, &s.point[s.count])) {
            s.best = s.point[s.count].best ? s.count : s.best;
            s.count++;
        }
        at = next;
    }
    return s.count ? draw(p, &s)
                   : mcr_fail(p->ctx, MCR_BAD_DATA, "the model's table of its search is empty");
}

const mcr_plot_type mcr_plot_tuning = {
    {"tuning", "scores of a search over its parameters, with the chosen point",
     "a model trained by tune"},
    .make = make,
};
