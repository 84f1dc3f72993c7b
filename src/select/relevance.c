/* relevance.c: automatic relevance determination: after a search, one value of the kernel's
 * parameter per column, starting at the best point.
 *
 * A parameter such as gamma of rbf may be a list with one number per column: relevant columns get
 * large ones, noise gets small ones. There are too many columns for a grid, and the effect of one
 * column on the scores is small compared with their random variation. So all columns are changed at
 * once, by the signs of an orthogonal design (Plackett and Burman, 1946): in each run every column
 * goes a step up or down, in half of the runs each way, and no two columns go together more often
 * than not. Thus every run contributes to the slope of every column, and each slope is known as
 * well as if all runs had been spent on that column alone.
 *
 * The search must not fit noise. The slopes of each fold come from objects that no other fold
 * tests: the centre moves only if the folds agree on a direction, and only along columns whose
 * slopes are significant. Repeats test the same objects again: they make slopes smoother, but are
 * not independent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/stream.h"
#include "select/search.h"

enum {
    FEWEST_COLUMNS = 2,
    MOST_COLUMNS = 64,
    FEWEST_SPLITS = 3,
    OBJECTS_A_COLUMN = 10,
    MOST_ROUNDS = 4,
    SIZES = 3,
    MANY = 16
};

/* The logarithm of the factor by which a column's number is multiplied or divided in a run. With
 * fewer columns than MANY the step is larger, so that the total change of the kernel is the
 * same. */
#define STEP 0.4
/* Significance of slopes, in standard deviations; required gain of all moves, in standard
 * errors. */
#define SURE 4.0
#define GAIN 2.0

typedef struct relevance {
    mcr_tried *t;
    const mcr_search *search;
    const mcr_split_plan *plan; /* for slopes from a subset of the objects; NULL: all objects */
    bool few;                   /* there was a subset */
    const char *text;           /* text of the starting template, with its range */
    size_t at, length;
    mcr_scale scale;
    int64_t setting; /* of the options */
    int64_t cols, runs;
    double step;    /* logarithm */
    int64_t centre; /* point */
    double *value;  /* of the centre, one per column */
    double *next;   /* cols: the next point to try */
    double *slope;  /* splits x cols: in the direction that is better */
    double *mean;   /* cols: of the splits' slopes */
    double *way;    /* cols: where to go */
    int64_t *point; /* of a batch */
} relevance;

/* ---- whether ----------------------------------------------------------------------------------*/

static bool has_columns(const mcr_data *data)
{
    if (data->fields != 1)
        return false;
    mcr_field field = mcr_data_field(data, 0);
    return field.store->kind & (MCR_DENSE | MCR_SPARSE) && !mcr_stays_sparse(&field) &&
           field.store->cols >= FEWEST_COLUMNS && field.store->cols <= MOST_COLUMNS &&
           field.count >= OBJECTS_A_COLUMN * field.store->cols;
}

static int64_t count_runs(int64_t cols)
{
    int64_t runs = 2;
    while (runs <= cols)
        runs *= 2;
    return runs;
}

double mcr_relevance_points(const mcr_tried *t)
{
    return (double)(count_runs(mcr_data_field(t->data, 0).store->cols) + SIZES);
}

/* Every added point comes with all settings of the options. */
static bool has_space(const mcr_grid *g, double points)
{
    return (double)g->points + (MOST_ROUNDS + 1) * points * (double)g->settings <= MCR_MOST_POINTS;
}

/* Whether the best point may have a kernel with such a parameter. */
static bool some_take_list(const mcr_grid *g)
{
    bool some = false;
    for (int64_t i = 0; i < g->templates; i++)
        some |= g->template[i].list;
    return some;
}

bool mcr_relevance_possible(const mcr_tried *t)
{
    return has_columns(t->data) && some_take_list(t->grid) && !t->grid->options->type->own_kernel &&
           t->count >= FEWEST_SPLITS && !mcr_splits_leave_one_out(t->splits) &&
           has_space(t->grid, mcr_relevance_points(t));
}

/* ---- the design -------------------------------------------------------------------------------*/

/* Columns of a Hadamard matrix. Those of its second half come first: among them no column is the
 * product of two others, so that an interaction of two columns is not attributed to a third. */
static double sign_of(int64_t run, int64_t column, int64_t runs)
{
    int64_t half = runs / 2, code = column < half ? half + column : column - half + 1;
    bool odd = false;
    for (int64_t both = run & code; both; both &= both - 1)
        odd = !odd;
    return odd ? -1 : 1;
}

/* Three digits suffice, and are readable. */
static double rounded(double x)
{
    double digits = 2 - floor(log10(x)), power = pow(10, fabs(digits));
    if (!isfinite(power))
        return x;
    return digits >= 0 ? round(x * power) / power : round(x / power) * power;
}

/* Adds the point with the numbers in w->next. */
static mcr_status add_point(relevance *w, int64_t *point)
{
    mcr_text text;
    mcr_text_init(&text, w->t->ctx);
    mcr_text_add(&text, w->text, w->at);
    for (int64_t k = 0; k < w->cols; k++) {
        mcr_text_string(&text, k ? ", " : "[");
        mcr_text_real(&text, w->next[k]);
    }
    mcr_text_string(&text, "]");
    mcr_text_string(&text, w->text + w->at + w->length);
    *point = w->t->grid->points + w->setting;
    mcr_status s = text.status ? text.status : mcr_tried_add(w->t, text.bytes, w->scale);
    mcr_text_free(&text);
    return s;
}

/* Evaluates the first points of w->point on all splits. */
static mcr_status try_whole(relevance *w, int64_t count)
{
    w->t->whole = true;
    mcr_status s = mcr_try_points(w->t, w->point, count);
    w->t->whole = false;
    return s;
}

/* A learner that chooses an option from a range by itself (ridge: lambda) trains several times as
 * long with the range as with one value. The runs of a design use the value at their centre: to
 * first order the slopes are the same whether or not a value at its best follows the columns (the
 * envelope theorem). Here it is the best by another score, so this is approximate, and steps are
 * compared with the range. */
static mcr_status hold_option(relevance *w)
{
    mcr_tried *t = w->t;
    const char *name = t->grid->options->type->usual.option;
    mcr_kernel *kernel = NULL;
    mcr_options *options = NULL;
    mcr_model *model = NULL;
    if (!t->grid->path)
        return MCR_OK;
    mcr_status s = mcr_grid_kernel(&kernel, t->grid, w->centre);
    if (!s)
        s = mcr_grid_setting(&options, t->grid, w->centre);
    if (!s)
        s = mcr_train(&model,
                      &(mcr_training){
                          .options = options, .kernel = kernel, .data = t->data, .unscored = true});
    double value = s ? NAN : mcr_fitted_number(model->fitted, name);
    if (!isnan(value)) {
        s = mcr_options_set_real(options, name, value);
        t->held = s ? NULL : options;
    }
    if (!t->held)
        mcr_options_close(options);
    mcr_model_free(model);
    mcr_kernel_free(kernel);
    return s == MCR_NUMERIC ? MCR_OK : s; /* then with the range */
}

/* Slopes need all splits: no run is dropped before it is complete. */
static mcr_status run_design(relevance *w)
{
    mcr_status s = hold_option(w);
    for (int64_t r = 0; r < w->runs && !s; r++) {
        for (int64_t k = 0; k < w->cols; k++)
            w->next[k] = rounded(w->value[k] * exp(w->step * sign_of(r, k, w->runs)));
        s = add_point(w, &w->point[r]);
    }
    if (!s)
        s = try_whole(w, w->runs);
    mcr_options_close(w->t->held);
    w->t->held = NULL;
    return s;
}

/* False: a run could not be trained or scored. */
static bool find_slopes(const relevance *w)
{
    const mcr_tried *t = w->t;
    double better = t->metric->info.larger ? 1 : -1;
    bool fine = true;
    memset(w->slope, 0, sizeof *w->slope * (size_t)(t->count * w->cols));
    memset(w->mean, 0, sizeof *w->mean * (size_t)w->cols);
    for (int64_t r = 0; r < w->runs; r++)
        for (int64_t split = 0; split < t->count; split++) {
            double score = better * t->score[w->point[r] * t->count + split] / (double)w->runs;
            fine &= isfinite(score);
            for (int64_t k = 0; k < w->cols; k++)
                w->slope[split * w->cols + k] += sign_of(r, k, w->runs) * score;
        }
    for (int64_t split = 0; split < t->count; split++)
        for (int64_t k = 0; k < w->cols; k++)
            w->mean[k] += w->slope[split * w->cols + k] / (double)t->count;
    return fine;
}

/* ---- moving -----------------------------------------------------------------------------------*/

/* The expected square of a column's mean slope under chance: from the variation between splits,
 * pooled over the columns because the design treats them alike. */
static double chance_of_slopes(const relevance *w)
{
    double splits = (double)w->t->count, square = 0;
    for (int64_t k = 0; k < w->cols; k++)
        for (int64_t split = 0; split < w->t->count; split++)
            square += pow(w->slope[split * w->cols + k] - w->mean[k], 2);
    return square * (double)mcr_splits_repeats(w->t->splits) /
           ((double)w->cols * (splits - 1) * splits);
}

/* Whether the splits agree on a direction: then the mean slopes are larger than by chance. Without
 * one the ratio of both is 1, and its standard deviation about sqrt(2 / columns) (Fisher's F). */
static bool agree(const relevance *w, double chance)
{
    double square = 0, cols = (double)w->cols;
    for (int64_t k = 0; k < w->cols; k++)
        square += w->mean[k] * w->mean[k] / cols;
    return square > chance * (1 + SURE * sqrt(2 / cols));
}

/* The ascent direction, at most 1 per column. Slopes are shrunk according to their uncertainty, and
 * insignificant ones are dropped (after James and Stein, 1961). */
static void find_way(const relevance *w, double chance)
{
    double most = 0;
    for (int64_t k = 0; k < w->cols; k++) {
        double mean = w->mean[k];
        w->way[k] = mean * mean > chance ? mean - chance / mean : 0;
        most = fmax(most, fabs(w->way[k]));
    }
    for (int64_t k = 0; k < w->cols && most > 0; k++)
        w->way[k] /= most;
}

static void step_along(const relevance *w, double size)
{
    for (int64_t k = 0; k < w->cols; k++)
        w->next[k] = rounded(w->value[k] * exp(w->step * size * w->way[k]));
}

/* Tries several step lengths; of equal ones the longest, because its direction is reliable. They
 * need not beat the runs of the design, some of which are good by chance. */
static mcr_status move(relevance *w, bool *moved)
{
    static const double size[SIZES] = {1, 2, 4};
    mcr_tried *t = w->t;
    mcr_status s = MCR_OK;
    int64_t best = -1;
    for (int64_t i = 0; i < SIZES && !s; i++) {
        step_along(w, size[i]);
        s = add_point(w, &w->point[i]);
    }
    if (!s)
        s = try_whole(w, SIZES);
    for (int64_t i = 0; i < SIZES && !s; i++)
        if (t->state[w->point[i]] == MCR_POINT_DONE + 1 &&
            (best < 0 || !mcr_tried_better(t, mcr_tried_mean(t, w->point[best]),
                                           mcr_tried_mean(t, w->point[i]))))
            best = i;
    if (s || best < 0)
        return s;
    *moved = mcr_tried_better(t, mcr_tried_mean(t, w->point[best]), mcr_tried_mean(t, w->centre));
    if (*moved) {
        step_along(w, size[best]);
        memcpy(w->value, w->next, sizeof *w->value * (size_t)w->cols);
        w->centre = w->point[best];
    }
    return s;
}

/* Slopes from a subset of many objects: a design needs one training per run and split; the
 * resulting steps are compared on all objects. */
static mcr_status look_around(relevance *w, bool *fine)
{
    int64_t first = w->t->grid->points;
    mcr_status s = w->plan ? mcr_tried_use_few(w->t, w->search, w->plan) : MCR_OK;
    w->few |= w->t->aside != NULL;
    if (!s)
        s = run_design(w);
    *fine = !s && find_slopes(w);
    for (int64_t p = first; p < w->t->grid->points && w->t->aside; p++)
        mcr_tried_forget(w->t, p);
    mcr_tried_use_all(w->t);
    return s;
}

static mcr_status one_round(relevance *w, bool *moved)
{
    bool fine;
    *moved = false;
    mcr_status s = look_around(w, &fine);
    if (s || !fine)
        return s;
    double chance = chance_of_slopes(w);
    if (!agree(w, chance))
        return MCR_OK;
    find_way(w, chance);
    return move(w, moved);
}

/* Whether the centre is significantly better than the starting point, in a paired comparison over
 * splits. */
static mcr_status has_gained(const relevance *w, int64_t start, bool *out)
{
    const mcr_tried *t = w->t;
    double better = t->metric->info.larger ? 1 : -1;
    double *gain = mcr_alloc(t->ctx, (size_t)t->count, sizeof *gain);
    if (!gain)
        return MCR_NO_MEMORY;
    for (int64_t split = 0; split < t->count; split++)
        gain[split] = better *
                      (t->score[w->centre * t->count + split] - t->score[start * t->count + split]);
    double tests = (double)(t->count / mcr_splits_repeats(t->splits));
    double error = mcr_standard_deviation(gain, t->count) / sqrt(tests);
    *out = mcr_mean(gain, t->count) > GAIN * error;
    mcr_free(t->ctx, gain);
    return MCR_OK;
}

static mcr_status open_search(relevance *w)
{
    mcr_tried *t = w->t;
    const mcr_template *tm = mcr_grid_template(t->grid, t->best);
    int64_t at[2 * MCR_MOST_AXES], count[2 * MCR_MOST_AXES];
    mcr_grid_place(t->grid, t->best, at, count);
    w->text = tm->text;
    w->at = tm->axis[0].at;
    w->length = tm->axis[0].length;
    w->scale = tm->scale;
    w->setting = t->best % t->grid->settings;
    w->centre = t->best;
    w->cols = mcr_data_field(t->data, 0).store->cols;
    w->runs = count_runs(w->cols);
    w->step = STEP * fmax(1, sqrt(MANY / (double)w->cols));
    size_t cols = (size_t)w->cols;
    w->point = mcr_alloc(t->ctx, (size_t)w->runs + SIZES, sizeof *w->point);
    if (!w->point || !mcr_alloc_doubles(t->ctx, cols, &w->value, &w->next, &w->mean, &w->way) ||
        !mcr_alloc_doubles(t->ctx, (uint64_t)t->count * cols, &w->slope))
        return MCR_NO_MEMORY;
    for (int64_t k = 0; k < w->cols; k++)
        w->value[k] = tm->axis[0].values.values[at[0]];
    return MCR_OK;
}

mcr_status mcr_relevance_search(mcr_tried *t, const mcr_search *search, const mcr_split_plan *plan)
{
    relevance w = {.t = t, .search = search, .plan = plan};
    int64_t start = t->best;
    bool gained = false, moves = true;
    if (!mcr_grid_template(t->grid, start)->list)
        return MCR_OK;
    mcr_status s = open_search(&w);
    for (int round = 0; round < MOST_ROUNDS && moves && !s; round++)
        s = one_round(&w, &moves);
    /* The columns do differ: all objects, or one more round, may show more. */
    if (!s && w.plan && w.centre != start && (w.few || moves)) {
        w.plan = NULL;
        s = one_round(&w, &moves);
    }
    if (!s)
        s = has_gained(&w, start, &gained);
    t->best = gained ? w.centre : start; /* not an improvement by chance */
    mcr_free_all(t->ctx, w.value, w.next, w.mean, w.way, w.slope, w.point);
    return s;
}
