/* tune.c: the search for parameters, its report, and the model with the best parameters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "base/stream.h"
#include "select/search.h"

/* ---- the report -------------------------------------------------------------------------------*/

/* A report owns everything it points to. */
static mcr_status fill_point(mcr_point *to, const mcr_tried *t, int64_t p)
{
    char *kernel = NULL, *options = NULL;
    mcr_status s = mcr_grid_name(&kernel, &options, t->grid, p);
    to->kernel = kernel;
    to->options = options;
    to->size = sizeof *to;
    to->state = (mcr_point_state)(t->state[p] - 1);
    to->splits = t->tested[p];
    to->score = mcr_mean(t->score + p * t->count, t->tested[p]);
    to->std = mcr_standard_deviation(t->score + p * t->count, t->tested[p]);
    if (!isfinite(to->score))
        to->score = to->std = NAN;
    return s;
}

/* The axes on whose boundary the best point is (with relevance, the point before). An axis of two
 * values does not count. */
static mcr_status find_edge(const char **out, const mcr_tried *t)
{
    const mcr_template *tm = mcr_grid_template(t->grid, t->from);
    int64_t at[2 * MCR_MOST_AXES], count[2 * MCR_MOST_AXES];
    int axes = mcr_grid_place(t->grid, t->from, at, count);
    mcr_text text;
    mcr_text_init(&text, t->ctx);
    for (int a = 0; a < axes; a++) {
        if (count[a] < 3 || (at[a] > 0 && at[a] < count[a] - 1))
            continue;
        mcr_text_string(&text, text.length ? ", " : "");
        if (a < tm->axes) /* "gamma" in rbf(gamma=1:2) */
            mcr_text_add(&text, tm->text + tm->axis[a].name, tm->axis[a].name_length);
        else
            mcr_text_string(&text, t->grid->axis[a - tm->axes].option->name);
    }
    mcr_status s = text.status;
    if (!s && text.length && !(*out = mcr_copy_text(t->ctx, text.bytes, (size_t)text.length)))
        s = MCR_NO_MEMORY;
    mcr_text_free(&text);
    return s;
}

static mcr_status make_report(mcr_tune_report **out, const mcr_tried *t)
{
    *out = mcr_alloc_zero(t->ctx, 1, sizeof **out);
    if (!*out)
        return MCR_NO_MEMORY;
    mcr_tune_report *r = *out;
    const mcr_point **list = mcr_alloc_zero(t->ctx, (size_t)t->grid->points,
                                            sizeof(const mcr_point *));
    mcr_point *point = mcr_alloc_zero(t->ctx, (size_t)t->grid->points, sizeof *point);
    r->size = sizeof *r;
    r->point = list;
    r->metric = t->metric->info.name;
    r->larger = t->metric->info.larger;
    r->possible = t->grid->searched;
    r->fits = t->fits;
    r->objects = mcr_data_count(t->data);
    r->unfinished = t->unfinished;
    r->stopped = t->stopped;
    if (!list || !point) {
        mcr_free(t->ctx, point);
        return MCR_NO_MEMORY;
    }
    list[0] = point; /* to be freed, even if empty */
    mcr_status s = MCR_OK;
    for (int64_t p = 0; p < t->grid->points && !s; p++) {
        if (!t->state[p])
            continue;
        if (p == t->best)
            r->best = r->points;
        r->possible += p >= t->grid->searched;
        list[r->points] = &point[r->points];
        s = fill_point(&point[r->points++], t, p);
    }
    return s ? s : find_edge(&r->edge, t);
}

void mcr_tune_free(mcr *ctx, mcr_tune_report *r)
{
    if (!r)
        return;
    for (int64_t p = 0; r->point && p < r->points; p++)
        mcr_free_all(ctx, (void *)r->point[p]->kernel, (void *)r->point[p]->options);
    if (r->point)
        mcr_free(ctx, (void *)r->point[0]);
    mcr_free_all(ctx, (void *)r->point, (void *)r->edge, r);
}

static const char *const state_names[] = {"done", "beaten", "failed"};

const char *mcr_point_state_name(mcr_point_state state)
{
    return state_names[state];
}

/* A field of a CSV table; expressions contain commas and may contain quotes. */
static void put_field(mcr_text *t, const char *text)
{
    mcr_text_string(t, "\"");
    for (; *text; text++)
        mcr_text_add(t, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    mcr_text_string(t, "\"");
}

static void put_number(mcr_text *t, double value)
{
    mcr_text_string(t, ",");
    if (isfinite(value))
        mcr_text_real(t, value);
}

/* The table of a search as comma-separated values. */
static mcr_status write_table(mcr_text *t, const mcr_tune_report *r)
{
    mcr_text_format(t, "kernel,options,%s,std,folds,state\n", r->metric);
    for (int64_t p = 0; p < r->points; p++) {
        put_field(t, r->point[p]->kernel);
        mcr_text_string(t, ",");
        put_field(t, r->point[p]->options);
        put_number(t, r->point[p]->score);
        put_number(t, r->point[p]->std);
        mcr_text_format(t, ",%lld,%s\n", (long long)r->point[p]->splits,
                        p == r->best ? "best" : state_names[r->point[p]->state]);
    }
    return t->status;
}

/* ---- tuning -----------------------------------------------------------------------------------*/

static mcr_status fit_best(mcr_model **out, const mcr_tried *t, const mcr_tune_report *report)
{
    mcr_kernel *kernel = NULL;
    mcr_options *options = NULL;
    mcr_text table;
    mcr_text_init(&table, t->ctx);
    mcr_status s = mcr_grid_kernel(&kernel, t->grid, t->best);
    if (!s)
        s = mcr_grid_setting(&options, t->grid, t->best);
    if (!s)
        s = mcr_train(out, &(mcr_training){.options = options, .kernel = kernel, .data = t->all});
    if (!s)
        s = write_table(&table, report);
    if (!s && !((*out)->tuning = mcr_copy_text(t->ctx, table.bytes, (size_t)table.length)))
        s = MCR_NO_MEMORY;
    if (!s && (*out)->report.stop == MCR_STOP_INTERRUPTED)
        s = mcr_fail(t->ctx, MCR_STOPPED, "interrupted");
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    mcr_text_free(&table);
    return mcr_model_give(out, *out, s);
}

mcr_status mcr_tune(mcr_model **out, mcr_tune_report **report, const mcr_options *options,
                    const mcr_search *search, const mcr_data *data)
{
    mcr_tried t;
    double began = mcr_now();
    *out = NULL;
    *report = NULL;
    mcr_status s = mcr_search_run(&t, options, search, data);
    if (!s)
        s = make_report(report, &t);
    if (!s)
        s = fit_best(out, &t, *report);
    if (!s)
        (*report)->seconds = mcr_now() - began;
    mcr_search_close(&t);
    if (s) {
        mcr_tune_free(options->ctx, *report);
        *report = NULL;
    }
    return s;
}
