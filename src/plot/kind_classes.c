/* kind_classes.c: evaluation of classifiers: ROC, precision and recall, calibration, confusion.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "plot/plotting.h"
#include "plot/scale.h"

enum { BINS = 10, CORNERS = 1500 };

/* The model's predictions for objects with known classes. */
typedef struct answers {
    int64_t n, classes;
    int64_t first, last; /* curves for these classes; for two classes, the positive one */
    mcr_scatter is;      /* the classes of the objects, by the model's numbers */
    double *value, *score, *proba;
    int64_t outputs;
} answers;

typedef struct ranked {
    double score;
    bool positive;
} ranked;

/* ---- predicting -------------------------------------------------------------------------------*/

static mcr_status check_scores(const mcr_plotting *p, const answers *a)
{
    bool each = a->outputs == 1 ||
                (a->outputs == a->classes && p->model->fitted->rule != MCR_RULE_PAIRS);
    if (a->proba || each)
        return MCR_OK;
    return mcr_plot_refuse(p, MCR_BAD_CALL,
                           "%s of %lld classes needs a value for each class: train with "
                           "probabilities, or one class against the rest",
                           p->f->kind, (long long)a->classes);
}

/* Outlier detection: objects with positive targets should be accepted. */
static mcr_status detect_classes(mcr_plotting *p, answers *a)
{
    const double *target = mcr_data_targets(p->data);
    int32_t *number = mcr_blocks_take(&p->scratch, a->n, sizeof *number);
    const char **name = mcr_blocks_take(&p->scratch, 2, sizeof *name);
    if (!number || !name)
        return MCR_NO_MEMORY;
    if (mcr_data_target_kind(p->data) != MCR_REAL_TARGETS)
        return mcr_fail(
            p->ctx, MCR_BAD_DATA,
            "for outlier detection, targets must be numbers, positive for normal objects");
    for (int64_t i = 0; i < a->n; i++)
        number[i] = target[i] > 0;
    name[0] = "outliers";
    name[1] = "normal";
    a->is = (mcr_scatter){.class_of = number, .class_name = name, .classes = 2};
    return MCR_OK;
}

static mcr_status ask(mcr_plotting *p, answers *a)
{
    a->n = mcr_data_count(p->data);
    a->classes = p->report->task == MCR_DETECT ? 2 : mcr_model_classes(p->model);
    int64_t positive = a->classes != 2                 ? -1
                       : p->report->task == MCR_DETECT ? 1
                                                       : mcr_model_positive(p->model);
    a->first = positive >= 0 ? positive : 0;
    a->last = positive >= 0 ? positive : a->classes - 1;
    a->outputs = mcr_model_outputs(p->model);
    bool sure = mcr_model_has_probability(p->model);
    a->value = mcr_blocks_reals(&p->scratch, a->n);
    a->score = mcr_blocks_reals(&p->scratch, a->n * a->outputs);
    a->proba = sure ? mcr_blocks_reals(&p->scratch, a->n * a->classes) : NULL;
    if (!a->value || !a->score || (sure && !a->proba))
        return MCR_NO_MEMORY;
    mcr_status s = p->report->task == MCR_DETECT ? detect_classes(p, a)
                                                 : mcr_plot_classes(p, p->data, &a->is);
    if (!s)
        s = mcr_predict(p->ctx, p->model, p->data, a->value, a->score, a->proba);
    bool fine = true;
    for (int64_t i = 0; i < a->n * a->outputs && !s; i++)
        fine &= isfinite(a->score[i]) != 0;
    for (int64_t i = 0; i < a->n * a->classes && a->proba && !s; i++)
        fine &= a->proba[i] >= 0 && a->proba[i] <= 1;
    for (int64_t i = 0; i < a->n && !s && p->report->task == MCR_CLASSIFY; i++)
        fine &= a->value[i] >= 0 && a->value[i] < (double)a->classes;
    return s || fine
               ? s
               : mcr_fail(p->ctx, MCR_NUMERIC, "%s: some predictions are not numbers", p->f->kind);
}

/* The score of class k for object i. */
static double support_of(const answers *a, int64_t i, int64_t k)
{
    if (a->proba)
        return a->proba[i * a->classes + k];
    return a->outputs == 1 ? (k ? 1 : -1) * a->score[i] : a->score[i * a->outputs + k];
}

/* All objects, by descending score for class k. */
static ranked *rank(mcr_plotting *p, const answers *a, int64_t k, double *positives)
{
    ranked *r = mcr_blocks_take(&p->scratch, a->n, sizeof *r);
    *positives = 0;
    for (int64_t i = 0; r && i < a->n; i++) {
        r[i] = (ranked){support_of(a, i, k), a->is.class_of[i] == k};
        *positives += r[i].positive;
    }
    if (r)
        qsort(r, (size_t)a->n, sizeof *r, mcr_reals_falling);
    return r;
}

/* ---- curves --------------------------------------------------------------------------------- */

typedef struct curve {
    int64_t count;
    double *x, *y;
    double area;
} curve;

/* One point for each distinct score: x, y of a ROC curve, or recall and precision. */
static bool trace(mcr_plotting *p, const ranked *r, int64_t n, double positives, bool precision,
                  curve *c)
{
    double negatives = (double)n - positives, hit = 0, miss = 0;
    c->x = mcr_blocks_reals(&p->scratch, n + 2);
    c->y = mcr_blocks_reals(&p->scratch, n + 2);
    c->count = 0;
    c->area = 0;
    if (!c->x || !c->y)
        return false;
    c->x[0] = 0;
    c->y[0] = precision ? 1 : 0;
    c->count = 1;
    for (int64_t i = 0, j; i < n; i = j) {
        double before = hit;
        for (j = i; j < n && r[j].score == r[i].score; j++) {
            hit += r[j].positive;
            miss += !r[j].positive;
        }
        double x = precision ? hit / positives : miss / negatives;
        double y = precision ? hit / (hit + miss) : hit / positives;
        if (precision)
            c->area += (hit - before) / positives * y;
        else
            c->area += (x - c->x[c->count - 1]) * 0.5 * (y + c->y[c->count - 1]);
        c->x[c->count] = x;
        c->y[c->count++] = y;
    }
    if (precision) /* the first point is the start of the curve, not a score */
        c->y[0] = c->y[1];
    return true;
}

/* Removes points on straight segments, and limits the number of corners. */
static int64_t simplify(curve *c)
{
    int64_t kept = 0;
    double step = 1.0 / CORNERS;
    for (int64_t i = 0; i < c->count; i++) {
        bool last = i + 1 == c->count;
        if (kept && !last) {
            double ax = c->x[i] - c->x[kept - 1], ay = c->y[i] - c->y[kept - 1];
            double bx = c->x[i + 1] - c->x[i], by = c->y[i + 1] - c->y[i];
            bool straight = fabs(ax * by - ay * bx) < 1e-15;
            bool near = c->count > 2 * CORNERS && fabs(ax) < step && fabs(ay) < step;
            if (straight || near)
                continue;
        }
        c->x[kept] = c->x[i];
        c->y[kept++] = c->y[i];
    }
    return kept;
}

static mcr_status add_curve(mcr_plotting *p, mcr_panel *panel, const answers *a, int64_t k,
                            curve *c, const char *measure)
{
    int64_t count = simplify(c);
    const char *class = a->is.class_name[k]; /* an animation has one legend: only the name */
    const char *name = p->f->moves ? mcr_blocks_text(&p->f->pool, class)
                                   : mcr_blocks_format(&p->f->pool, "%.40s: %s %s", class, measure,
                                                       mcr_plot_number(p, c->area, 4));
    mcr_mark *m = name ? mcr_panel_xy(p->f, panel, MCR_MARK_LINE, name, count) : NULL;
    if (!m)
        return MCR_NO_MEMORY;
    memcpy(m->x, c->x, (size_t)count * sizeof *m->x);
    memcpy(m->y, c->y, (size_t)count * sizeof *m->y);
    m->ink = mcr_class_ink(k);
    m->dashed = k >= MCR_PALETTE; /* colours repeat */
    m->width = 2.2;
    m->legend = true;
    return MCR_OK;
}

static mcr_status draw_curves(mcr_plotting *p, mcr_panel *panel, const answers *a, bool precision,
                              double *mean)
{
    double sum = 0, defined = 0;
    mcr_status s = MCR_OK;
    for (int64_t k = a->first; k <= a->last && !s; k++) {
        double positives;
        ranked *r = rank(p, a, k, &positives);
        curve c;
        if (!r)
            return MCR_NO_MEMORY;
        if (positives == 0 || positives == (double)a->n)
            continue;
        if (!trace(p, r, a->n, positives, precision, &c))
            return MCR_NO_MEMORY;
        sum += c.area;
        defined++;
        s = add_curve(p, panel, a, k, &c, precision ? "average precision" : "area");
        if (!s && precision && a->classes == 2)
            s = mcr_plot_rule(p, panel, "chance", 0, positives / (double)a->n, 1,
                              positives / (double)a->n);
    }
    if (!s && defined == 0)
        s = mcr_fail(p->ctx, MCR_BAD_DATA,
                     "%s needs objects of at least two classes that the model knows",
                     precision ? "pr" : "roc");
    *mean = sum / defined;
    return s;
}

static mcr_status make_curves(mcr_plotting *p)
{
    bool precision = strcmp(p->f->kind, "pr") == 0;
    answers a = {0};
    double mean = NAN;
    mcr_status s = ask(p, &a);
    if (!s)
        s = check_scores(p, &a);
    mcr_panel *panel = s ? NULL : mcr_frame_panel(p->f, 0, 0);
    if (!s && !panel)
        s = MCR_NO_MEMORY;
    if (s)
        return s;
    if (!precision)
        s = mcr_plot_rule(p, panel, "chance", 0, 0, 1, 1);
    if (!s)
        s = draw_curves(p, panel, &a, precision, &mean);
    panel->x = (mcr_axis){
        .label = precision ? "recall" : "false positive rate", .min = -0.015, .max = 1.015};
    panel->y = (mcr_axis){.label = precision ? "precision" : "true positive rate",
                          .min = precision ? 0 : -0.015,
                          .max = 1.015};
    panel->equal = true;
    p->f->aspect = 0.86;
    mcr_figure_set_number(p->f, precision ? "average_precision" : "auc", mean);
    mcr_plot_title(p,
                   precision ? "Precision and recall: average precision %s" : "ROC curve: area %s",
                   mcr_plot_number(p, mean, 4));
    mcr_plot_subtitle(p, "%s; %lld objects", mcr_plot_made_by(p), (long long)a.n);
    return s;
}

const mcr_plot_type mcr_plot_roc = {
    {"roc", "true against false positives for all thresholds, and the area",
     "a model of a classifier, and data with classes"},
    .make = make_curves,
    .tasks = 1u << MCR_CLASSIFY | 1u << MCR_DETECT,
    .data = true,
    .targets = true,
};
const mcr_plot_type mcr_plot_pr = {
    {"pr", "precision against recall for all thresholds",
     "a model of a classifier, and data with classes"},
    .make = make_curves,
    .tasks = 1u << MCR_CLASSIFY | 1u << MCR_DETECT,
    .data = true,
    .targets = true,
};

/* ---- calibration ---------------------------------------------------------------------------- */

typedef struct bins {
    double count[BINS], said[BINS], is[BINS];
} bins;

static void fill_bins(const answers *a, int64_t k, bins *b)
{
    memset(b, 0, sizeof *b);
    for (int64_t i = 0; i < a->n; i++) {
        double q = a->proba[i * a->classes + k];
        int at = (int)(q * BINS);
        at = at < BINS ? at : BINS - 1;
        b->count[at]++;
        b->said[at] += q;
        b->is[at] += a->is.class_of[i] == k;
    }
}

static mcr_status add_reliability(mcr_plotting *p, mcr_panel *panel, const answers *a, int64_t k,
                                  const bins *b, double *error)
{
    int64_t count = 0;
    for (int i = 0; i < BINS; i++)
        count += b->count[i] > 0;
    mcr_mark *m = mcr_panel_xy(p->f, panel, MCR_MARK_LINE, a->is.class_name[k], count);
    double *x = m ? m->x : NULL, *y = m ? m->y : NULL;
    if (!m)
        return MCR_NO_MEMORY;
    for (int i = 0, at = 0; i < BINS; i++) {
        if (b->count[i] == 0)
            continue;
        x[at] = b->said[i] / b->count[i];
        y[at++] = b->is[i] / b->count[i];
        *error += fabs(b->said[i] - b->is[i]) / (double)a->n;
    }
    m->ink = mcr_class_ink(k);
    m->legend = true;
    mcr_mark *dots = mcr_panel_over(p->f, panel, MCR_MARK_POINTS, a->is.class_name[k], count, x, y);
    if (!dots)
        return MCR_NO_MEMORY;
    dots->ink = mcr_class_ink(k);
    dots->size = 7;
    return MCR_OK;
}

static mcr_status add_counts(mcr_plotting *p, mcr_panel *panel, const answers *a, int64_t k,
                             const bins *b)
{
    mcr_mark *m = mcr_panel_xy(p->f, panel, MCR_MARK_BARS, a->is.class_name[k], BINS);
    if (!m)
        return MCR_NO_MEMORY;
    for (int i = 0; i < BINS; i++) {
        m->x[i] = (i + 0.5) / BINS;
        m->y[i] = b->count[i];
    }
    m->width = 0.94 / BINS;
    m->ink = mcr_class_ink(k);
    m->alpha = a->classes > 2 ? 0.4 : 0.8;
    return MCR_OK;
}

static double brier(const answers *a)
{
    double sum = 0;
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t k = a->first; k <= a->last; k++) {
            double d = a->proba[i * a->classes + k] - (a->is.class_of[i] == k);
            sum += d * d;
        }
    return sum / (double)a->n;
}

static mcr_status draw_calibration(mcr_plotting *p, const answers *a, double *error)
{
    mcr_status s = MCR_OK;
    for (int part = 0; part < 2 && !s; part++) {
        mcr_panel *panel = mcr_frame_panel(p->f, 0, part);
        if (!panel)
            return MCR_NO_MEMORY;
        if (!part)
            s = mcr_plot_rule(p, panel, "perfect", 0, 0, 1, 1);
        for (int64_t k = a->first; k <= a->last && !s; k++) {
            bins b;
            fill_bins(a, k, &b);
            s = part ? add_counts(p, panel, a, k, &b) : add_reliability(p, panel, a, k, &b, error);
        }
        panel->x = (mcr_axis){.label = "predicted probability", .min = -0.015, .max = 1.015};
        panel->y = part ? (mcr_axis){.label = "objects", .zero = true}
                        : (mcr_axis){.label = "observed share", .min = -0.015, .max = 1.015};
    }
    return s;
}

static mcr_status make_calibration(mcr_plotting *p)
{
    answers a = {0};
    double error = 0;
    mcr_status s = ask(p, &a);
    if (!s && !a.proba)
        s = mcr_plot_refuse(p, MCR_BAD_CALL,
                            "calibration needs a model with probabilities: train it with them, or "
                            "use a learner that has them, such as logistic");
    if (!s)
        s = draw_calibration(p, &a, &error);
    if (s)
        return s;
    error /= (double)(a.last + 1 - a.first);
    p->f->aspect = 0.52;
    mcr_figure_set_number(p->f, "calibration_error", error);
    mcr_figure_set_number(p->f, "brier", brier(&a));
    mcr_plot_title(p, "Calibration: expected error %s", mcr_plot_number(p, error, 3));
    mcr_plot_subtitle(p, "%s; %lld objects%s%s", mcr_plot_made_by(p), (long long)a.n,
                      a.classes == 2 ? "; probability of class " : "",
                      a.classes == 2 ? a.is.class_name[a.first] : "");
    return MCR_OK;
}

const mcr_plot_type mcr_plot_calibration = {
    {"calibration", "predicted probabilities against observed shares",
     "a model with probabilities, and data with classes"},
    .make = make_calibration,
    .tasks = 1u << MCR_CLASSIFY,
    .data = true,
    .targets = true,
};

/* ---- confusion ------------------------------------------------------------------------------ */

/* The counts as texts, in an ink that is readable on the colour of their cell. */
static mcr_status add_numbers(mcr_plotting *p, mcr_panel *panel, const double *count,
                              const double *share, int64_t k, bool strong)
{
    int64_t cells = 0;
    for (int64_t i = 0; i < k * k; i++)
        cells += (share[i] > 0.55) == strong;
    mcr_mark *m = mcr_panel_xy(p->f, panel, MCR_MARK_TEXT, "counts", cells);
    char **text = mcr_blocks_take(&p->f->pool, cells, sizeof *text);
    if (!m || !text)
        return MCR_NO_MEMORY;
    for (int64_t i = 0, at = 0; i < k * k; i++) {
        if ((share[i] > 0.55) != strong)
            continue;
        m->x[at] = (double)(i % k);
        m->y[at] = (double)(i / k);
        char number[MCR_TICK_TEXT];
        text[at] = mcr_blocks_text(&p->f->pool, mcr_number_text(number, count[i], 6));
        if (!text[at++])
            return MCR_NO_MEMORY;
    }
    m->text = text;
    m->anchor = 0.5;
    m->ink = strong ? MCR_INK_PAPER : MCR_INK_TEXT;
    m->size = k > 12 ? 8 : k > 6 ? 11 : 14;
    return MCR_OK;
}

/* True classes downwards, predicted ones to the right; the colour is the fraction of the true
 * class. */
static mcr_status draw_confusion(mcr_plotting *p, const answers *a)
{
    int64_t k = a->classes;
    mcr_panel *panel = mcr_frame_panel(p->f, 0, 0);
    mcr_mark *m = panel ? mcr_panel_mark(p->f, panel, MCR_MARK_CELLS, "share of the class") : NULL;
    double *share = mcr_blocks_reals(&p->f->pool, k * k);
    double *count = mcr_blocks_reals(&p->scratch, k * k);
    const char **across = mcr_blocks_take(&p->f->pool, k, sizeof *across);
    const char **down = mcr_blocks_take(&p->f->pool, k, sizeof *down);
    if (!m || !share || !count || !across || !down)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < a->n; i++)
        if (a->is.class_of[i] >= 0)
            count[(k - 1 - a->is.class_of[i]) * k + (int64_t)a->value[i]]++;
    for (int64_t r = 0; r < k; r++) {
        double all = 0;
        for (int64_t q = 0; q < k; q++)
            all += count[r * k + q];
        for (int64_t q = 0; q < k; q++)
            share[r * k + q] = all > 0 ? count[r * k + q] / all : 0;
        across[r] = mcr_blocks_text(&p->f->pool, a->is.class_name[r]);
        down[k - 1 - r] = across[r];
        if (!across[r])
            return MCR_NO_MEMORY;
    }
    m->value = share;
    m->rows = m->cols = k;
    m->x0 = m->y0 = -0.5;
    m->x1 = m->y1 = (double)k - 0.5;
    m->ramp = MCR_RAMP_INK;
    m->ink = MCR_INK_CLASS;
    m->v1 = 1;
    panel->x = (mcr_axis){.label = "predicted", .names = across, .count = k};
    panel->y = (mcr_axis){.label = "true", .names = down, .count = k};
    panel->equal = panel->no_grid = true;
    p->f->aspect = 0.86;
    mcr_status s = add_numbers(p, panel, count, share, k, false);
    return s ? s : add_numbers(p, panel, count, share, k, true);
}

static mcr_status make_confusion(mcr_plotting *p)
{
    answers a = {0};
    mcr_metrics metrics = MCR_INIT(mcr_metrics);
    mcr_status s = ask(p, &a);
    if (!s && a.classes > MCR_PLOT_CONFUSION)
        s = mcr_plot_refuse(p, MCR_BAD_CALL,
                            "confusion shows at most %d classes; the model has %lld",
                            MCR_PLOT_CONFUSION, (long long)a.classes);
    if (!s)
        s = mcr_model_score(p->ctx, p->model, p->data, a.value, &metrics);
    if (!s)
        s = draw_confusion(p, &a);
    mcr_figure_set_number(p->f, "accuracy", metrics.accuracy);
    mcr_plot_title(p, "Confusion: accuracy %s", mcr_plot_number(p, metrics.accuracy, 4));
    mcr_plot_subtitle(p, "%s; %lld objects", mcr_plot_made_by(p), (long long)a.n);
    return s;
}

const mcr_plot_type mcr_plot_confusion = {
    {"confusion", "true against predicted classes",
     "a model of a classifier, and data with classes"},
    .make = make_confusion,
    .tasks = 1u << MCR_CLASSIFY,
    .data = true,
    .targets = true,
};
