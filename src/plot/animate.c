/* animate.c: a figure for each of several values of one parameter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/sized.h"
#include "plot/plotting.h"
#include "plot/scale.h"

enum { MOST_FRAMES = 200 };

/* The kinds whose panels stay the same if a parameter changes. */
static bool moves(const char *kind)
{
    static const char *const kinds[] = {"boundary",   "surface",   "band",      "clusters",
                                        "projection", "roc",       "pr",        "gram",
                                        "spectrum",   "residuals", "confusion", "calibration"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i]) == 0)
            return true;
    return false;
}

static mcr_status add_frame(mcr_plotting *p, const char *kind, const char *name, double value)
{
    char number[MCR_TICK_TEXT];
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_model *model = NULL;
    const mcr_model *start = p->model;
    const mcr_report_fit *report = p->report;
    mcr_status s = mcr_plot_vary(p, name, value, &options, &kernel);
    if (!s)
        s = mcr_fit(&model, options, kernel, p->data, NULL);
    const char *label = mcr_blocks_format(&p->scratch, "%.30s = %s", name,
                                          mcr_number_text(number, value, 3));
    if (!s && (!label || !mcr_figure_frame(p->f, label)))
        s = MCR_NO_MEMORY;
    if (!s) {
        p->model = model;
        p->report = mcr_model_report(model);
        s = mcr_plot_make(p, kind);
        p->model = start;
        p->report = report;
    }
    mcr_model_free(model);
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    return s;
}

static mcr_status check(const mcr_plotting *p, const char *kind, int64_t frames)
{
    if (!moves(kind))
        return mcr_fail(p->ctx, MCR_BAD_CALL,
                        "%s cannot be animated; boundary, surface, band, clusters, projection, "
                        "roc, pr, calibration, confusion, residuals, gram and spectrum can",
                        kind);
    if (frames > MOST_FRAMES)
        return mcr_fail(p->ctx, MCR_BAD_CALL, "%lld pictures are too many: at most %d",
                        (long long)frames, MOST_FRAMES);
    return MCR_OK;
}

mcr_status mcr_figure_animate(mcr_figure **out, mcr *ctx, const mcr_plot *plot, const char *range)
{
    mcr_plot how;
    mcr_reals values = {0};
    const char *name = NULL;
    *out = NULL;
    mcr_status s = MCR_SIZED_READ(mcr_plot, &how, ctx, plot);
    if (s)
        return s;
    if (!how.model || !how.data)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "an animation trains repeatedly: it needs a model and its data");
    mcr_plotting p = mcr_plotting_of(ctx, &how);
    const char *kind = how.kind ? how.kind : mcr_plot_choose(&p);
    s = mcr_plot_range(&p, range, &name, &values);
    if (!s)
        s = check(&p, kind, values.count);
    if (!s)
        s = mcr_figure_new(&p.f, ctx, kind);
    if (!s && !(p.f->moves = mcr_blocks_text(&p.f->pool, name)))
        s = MCR_NO_MEMORY;
    if (!s) {
        p.f->subtitle = mcr_blocks_format(
            &p.f->pool, "%.60s; %.60s from %s to %s, %lld values", p.report->learner, name,
            mcr_plot_number(&p, values.values[0], 3),
            mcr_plot_number(&p, values.values[values.count - 1], 3), (long long)values.count);
        p.f->title = mcr_blocks_text(&p.f->pool, how.title);
    }
    for (int64_t i = 0; i < values.count && !s; i++) {
        mcr_plotting one = p;
        one.scratch = (mcr_blocks){.ctx = ctx};
        s = add_frame(&one, kind, name, values.values[i]);
        p.scratch.failed |= one.scratch.failed;
        mcr_blocks_free(&one.scratch);
        if (!s)
            s = mcr_part_done(ctx, "frames", (double)(i + 1) / (double)values.count, 0);
    }
    return mcr_plot_finish(out, &p, s);
}
