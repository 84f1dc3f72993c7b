/* plot.c: the kinds of figures, and their shared code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/order.h"
#include "base/sized.h"
#include "plot/plotting.h"
#include "plot/scale.h"

static const mcr_plot_type *const types[] = {
#define PLOT(name) &mcr_plot_##name,
#include "plot/plots.def"
#undef PLOT
};

enum { TYPES = sizeof types / sizeof *types };

int64_t mcr_plot_count(void)
{
    return TYPES;
}

mcr_status mcr_plot_describe(int64_t number, mcr_plot_info *out)
{
    if (number < 0 || number >= TYPES)
        return MCR_BAD_CALL;
    const mcr_plot_info info = {
        .name = types[number]->info.name,
        .summary = types[number]->info.summary,
        .needs = types[number]->info.needs,
    };
    return MCR_SIZED_WRITE(mcr_plot_info, out, NULL, &info);
}

/* ---- making ---------------------------------------------------------------------------------- */

mcr_status mcr_plot_make(mcr_plotting *p, const char *kind)
{
    static const char *const aliases[][2] = {{"learning-curve", "learning"},
                                             {"learning curve", "learning"}};
    const char *names[TYPES + 1] = {NULL};
    mcr_status fits = p->data ? mcr_data_need_memory(p->data, "the picture") : MCR_OK;
    if (fits)
        return fits;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(kind, aliases[i][0]) == 0)
            kind = aliases[i][1];
    for (int i = 0; i < TYPES; i++) {
        names[i] = types[i]->info.name;
        if (strcmp(kind, names[i]) == 0) {
            p->f->kind = names[i];
            mcr_status s = mcr_plot_needs_all(p, types[i]);
            return s ? s : types[i]->make(p);
        }
    }
    const char *near = mcr_nearest(kind, names);
    char list[512] = "";
    for (int i = 0; i < TYPES; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    }
    return mcr_fail(p->ctx, MCR_BAD_CALL, "there is no picture \"%.60s\"%s%s%s there are %s", kind,
                    near ? ": did you mean " : "", near ? near : "", near ? "?" : ";", list);
}

/* ---- words ---------------------------------------------------------------------------------- */

void mcr_plot_title(mcr_plotting *p, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    /* The remainder is a number of the first frame. */
    char *colon = p->f->moves ? strstr(text, ": ") : NULL;
    if (colon)
        *colon = '\0';
    if (!p->f->title)
        p->f->title = mcr_blocks_text(&p->f->pool, p->how->title ? p->how->title : text);
}

void mcr_plot_subtitle(mcr_plotting *p, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    /* Kernels with one number per column are long. */
    size_t bytes = mcr_text_bytes(text, 110);
    if (text[bytes])
        strcpy(text + bytes, bytes < sizeof text - 4 ? "…" : "");
    if (!p->f->subtitle)
        p->f->subtitle = mcr_blocks_text(&p->f->pool, text);
}

void mcr_plot_shorten(const char *from, char *to, size_t capacity, bool commas)
{
    const char *end = from + strlen(from);
    char *last = to + capacity - MCR_REAL_TEXT - 4;
    while (*from && to < last) {
        double value;
        const char *after = strchr("0123456789", *from) ? mcr_parse_real(from, end, &value) : NULL;
        if (after && after - from > 6) {
            to += mcr_print_real(to, mcr_number_rounded(value, 4));
            from = after;
        } else if (after) {
            memcpy(to, from, (size_t)(after - from));
            to += after - from;
            from = after;
        } else {
            if (commas && *from == ' ')
                *to++ = ',';
            *to++ = *from++;
        }
    }
    *to = '\0';
}

const char *mcr_plot_made_by(mcr_plotting *p)
{
    const mcr_report_fit *r = p->report;
    char kernel[320], options[200];
    mcr_plot_shorten(r->kernel ? r->kernel : "", kernel, sizeof kernel, false);
    mcr_plot_shorten(r->options ? r->options : "", options, sizeof options, true);
    const char *text = mcr_blocks_format(&p->scratch, "%s, %s%s%s", r->learner, kernel,
                                         *options ? ", " : "", options);
    return text ? text : r->learner;
}

const char *mcr_plot_number(mcr_plotting *p, double value, int digits)
{
    char text[MCR_TICK_TEXT];
    const char *copy = mcr_blocks_text(&p->f->pool, mcr_number_text(text, value, digits));
    return copy ? copy : "";
}

const char *mcr_plot_target_name(const mcr_plotting *p)
{
    const mcr_layout *l = p->model ? p->model->layout : p->data ? p->data->layout : NULL;
    return l && l->name && l->targets == 1 ? l->name->name[0] : "value";
}

enum { MOST_CLASSES = 200 };

bool mcr_plot_has_classes(const mcr_data *data)
{
    int64_t classes = data ? mcr_data_classes(data) : 0;
    if (!data || classes < 1 || mcr_data_target_count(data) != 1)
        return false;
    /* Words that are nearly all different are names, not classes. */
    return (mcr_data_target_kind(data) == MCR_WORD_TARGETS && classes <= MOST_CLASSES) ||
           (classes <= 20 && classes * 5 <= mcr_data_count(data));
}

int64_t *mcr_plot_thin(mcr_plotting *p, int64_t n, int64_t most, int64_t *count)
{
    *count = n < most ? n : most;
    int64_t *row = mcr_blocks_take(&p->scratch, *count, sizeof *row);
    for (int64_t i = 0; row && i < *count; i++)
        row[i] = n <= most ? i : (int64_t)((double)i * (double)n / (double)most);
    return row;
}

void mcr_plot_widen(double *low, double *high, const double *v, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        *low = fmin(*low, v[i]);
        *high = fmax(*high, v[i]);
    }
}

double mcr_plot_median(double *v, int64_t count)
{
    if (count < 1)
        return NAN;
    qsort(v, (size_t)count, sizeof *v, mcr_reals_rising);
    return count % 2 ? v[count / 2] : 0.5 * (v[count / 2 - 1] + v[count / 2]);
}

/* ---- figures -------------------------------------------------------------------------------- */

mcr_plotting mcr_plotting_of(mcr *ctx, const mcr_plot *how)
{
    return (mcr_plotting){.ctx = ctx,
                          .how = how,
                          .model = how->model,
                          .data = how->data,
                          .report = how->model ? mcr_model_report(how->model) : NULL,
                          .scratch = {.ctx = ctx}};
}

static mcr_status complete(mcr_plot *out, mcr *ctx, const mcr_plot *plot)
{
    mcr_status s = MCR_SIZED_READ(mcr_plot, out, ctx, plot);
    if (s || out->model || out->data)
        return s;
    return mcr_fail(ctx, MCR_BAD_CALL, "a picture needs a model or data");
}

mcr_status mcr_plot_finish(mcr_figure **out, mcr_plotting *p, mcr_status made)
{
    /* A label that could not be copied is an error. */
    if (!made && (p->f->pool.failed || p->scratch.failed))
        made = MCR_NO_MEMORY;
    mcr_blocks_free(&p->scratch);
    if (made) {
        mcr_figure_close(p->f);
        return made;
    }
    mcr_figure_fit_axes(p->f);
    *out = p->f;
    return MCR_OK;
}

mcr_status mcr_figure_open(mcr_figure **out, mcr *ctx, const mcr_plot *plot)
{
    mcr_plot how;
    *out = NULL;
    mcr_status s = complete(&how, ctx, plot);
    if (s)
        return s;
    mcr_plotting p = mcr_plotting_of(ctx, &how);
    const char *kind = how.kind ? how.kind : mcr_plot_choose(&p);
    s = mcr_figure_new(&p.f, ctx, kind);
    if (!s)
        s = mcr_plot_make(&p, kind);
    return mcr_plot_finish(out, &p, s);
}

mcr_status mcr_figure_tuning(mcr_figure **out, mcr *ctx, const mcr_tune_report *report,
                             const char *title)
{
    const mcr_plot how = {.size = sizeof how, .title = title};
    mcr_plotting p = mcr_plotting_of(ctx, &how);
    *out = NULL;
    mcr_status s = mcr_figure_new(&p.f, ctx, "tuning");
    if (!s)
        s = mcr_plot_tuning_report(&p, report);
    return mcr_plot_finish(out, &p, s);
}
