/* verb_plot.c: mercer plot: pictures of models, kernels and data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "advice.h"
#include "cli.h"
#include "drawing.h"
#include "output.h"
#include "progress.h"
#include "text.h"

typedef struct plot_call {
    const char *kind, *output, *kernel, *x, *y, *title, *along, *animate;
    int theme, graphics;
    int64_t width, height;
} plot_call;

typedef struct plot_job {
    cli *c;
    const plot_call *call;
    mcr_model *model;
    mcr_data *data;
    mcr_kernel *kernel;
    mcr_figure *figure;
} plot_job;

/* ---- input ---------------------------------------------------------------------------------- */

static int read_input(plot_job *job)
{
    cli *c = job->c;
    int first = cli_is_model(cli_word(c, 0)), bad = 0;
    if (first) {
        bad = cli_fail(c, mcr_model_load(&job->model, c->ctx, cli_word(c, 0)));
        if (bad)
            return bad;
        cli_read_like(c, job->model);
        if (job->call->kernel)
            return cli_refuse(c, "--kernel: the model has its own kernel, %s",
                              mcr_model_report(job->model)->kernel);
    }
    for (int i = 1; cli_word(c, i); i++)
        if (cli_is_model(cli_word(c, i)))
            return cli_refuse(c,
                              first
                                  ? "%s is a model, and so is the first: a picture shows one model"
                                  : "%s is a model: name it first",
                              cli_word(c, i));
    if (!first || cli_word(c, first) || c->reading.classes.count)
        bad = cli_read_words(c, &job->data, first);
    if (!bad && job->model && job->data)
        bad = cli_advise_features(c, mcr_model_report(job->model), job->data);
    return bad;
}

/* Pixels, for files and graphics in the terminal; characters have other limits. */
static int check_size(plot_job *job)
{
    enum { LEAST_WIDTH = 160, LEAST_HEIGHT = 100 };
    const plot_call *call = job->call;
    const char *format = call->output ? mcr_figure_format(call->output) : NULL;
    int pixels = format ? strcmp(format, "text") != 0 && strcmp(format, "json") != 0
                        : call->graphics > CLI_GRAPHICS_TEXT;
    if (!pixels)
        return 0;
    if (call->width > 0 && call->width < LEAST_WIDTH)
        return cli_refuse(job->c, "--width %d: a picture has %d pixels at least", (int)call->width,
                          LEAST_WIDTH);
    if (call->height > 0 && call->height < LEAST_HEIGHT)
        return cli_refuse(job->c, "--height %d: a picture has %d pixels at least",
                          (int)call->height, LEAST_HEIGHT);
    return 0;
}

static int check_call(plot_job *job)
{
    cli *c = job->c;
    const plot_call *call = job->call;
    int bad = cli_output_check(c, call->output);
    if (!bad && call->output && !mcr_figure_format(call->output))
        bad = cli_refuse(
            c, "-o %s: the extension selects the format: .svg, .png, .pdf, .html, .json or .txt",
            call->output);
    if (!bad && call->animate && !c->common.json) {
        const char *format = call->output ? mcr_figure_format(call->output) : NULL;
        if (!format || (strcmp(format, "svg") != 0 && strcmp(format, "html") != 0 &&
                        strcmp(format, "json") != 0))
            bad = cli_refuse(c, "--animate writes an animated file: use -o FILE.svg or -o "
                                "FILE.html, which has a slider");
    }
    if (!bad)
        bad = check_size(job);
    if (!bad && call->kernel)
        bad = cli_read_kernel(c, &job->kernel, call->kernel);
    return bad;
}

/* ---- output --------------------------------------------------------------------------------- */

static int save(plot_job *job, const mcr_draw *draw)
{
    const char *path = job->call->output;
    struct stat file;
    char size[32];
    int bad = cli_fail(job->c, cli_save_figure(job->figure, path, draw));
    if (!bad && !job->c->common.quiet && !job->c->common.json) {
        printf("%s: %s", path, mcr_figure_kind(job->figure));
        if (mcr_figure_frames(job->figure) > 1)
            printf(", %d frames", (int)mcr_figure_frames(job->figure));
        if (stat(path, &file) == 0)
            printf(", %s", cli_bytes_text(size, (double)file.st_size));
        printf("\n");
    }
    return bad;
}

static int print_json(plot_job *job)
{
    const char *bytes;
    size_t count;
    int bad = cli_fail(job->c, mcr_figure_draw(job->figure, "json", NULL, &bytes, &count));
    if (!bad)
        fwrite(bytes, 1, count, stdout);
    return bad;
}

static int show(plot_job *job)
{
    const plot_call *call = job->call;
    const mcr_theme theme = call->theme > 0 ? (mcr_theme)call->theme : MCR_THEME_AUTO;
    const mcr_draw draw = {.size = sizeof draw,
                           .theme = theme,
                           .width = call->width > 0 ? (int)call->width : 0,
                           .height = call->height > 0 ? (int)call->height : 0};
    int bad = 0;
    cli_progress_clear(job->c);
    if (call->output)
        bad = save(job, &draw);
    if (!bad && job->c->common.json)
        return print_json(job);
    if (bad || call->output)
        return bad;
    const cli_drawing how = {.graphics = (cli_graphics)(call->graphics > 0 ? call->graphics : 0),
                             .theme = theme,
                             .width = draw.width,
                             .height = draw.height};
    return cli_draw(job->c, job->figure, &how);
}

static int run(cli *c, const void *values)
{
    plot_job job = {.c = c, .call = values};
    const plot_call *call = job.call;
    int bad = check_call(&job);
    if (!bad)
        bad = read_input(&job);
    const mcr_plot plot = {.size = sizeof plot,
                           .kind = call->kind,
                           .model = job.model,
                           .data = job.data,
                           .kernel = job.kernel,
                           .x = call->x,
                           .y = call->y,
                           .title = call->title,
                           .along = call->along};
    if (!bad && call->animate)
        bad = cli_fail(c, mcr_figure_animate(&job.figure, c->ctx, &plot, call->animate));
    else if (!bad)
        bad = cli_fail(c, mcr_figure_open(&job.figure, c->ctx, &plot));
    if (!bad)
        bad = show(&job);
    mcr_figure_close(job.figure);
    mcr_kernel_free(job.kernel);
    mcr_data_free(job.data);
    mcr_model_free(job.model);
    return bad;
}

#define AT(field) offsetof(plot_call, field)

static const cli_option options[] = {
    {.name = "kind",
     .type = CLI_TEXT,
     .offset = AT(kind),
     .argument = "KIND",
     .help = "which picture (default: depends on the model or the data)"},
    CLI_OUTPUT_OPTION(AT(output),
                      "write a .svg .png .pdf .html .json or .txt file (default: the terminal)"),
    CLI_KERNEL_OPTION(AT(kernel), 0),
    {.name = "x",
     .type = CLI_TEXT,
     .offset = AT(x),
     .argument = "COLUMN",
     .help = "column of the horizontal axis, by name or number; others at their median"},
    {.name = "y",
     .type = CLI_TEXT,
     .offset = AT(y),
     .argument = "COLUMN",
     .help = "column of the vertical axis"},
    {.name = "along",
     .type = CLI_TEXT,
     .offset = AT(along),
     .argument = "NAME=RANGE",
     .help = "path: the parameter to vary, e.g. C=0.1:100:log7"},
    {.name = "animate",
     .type = CLI_TEXT,
     .offset = AT(animate),
     .argument = "NAME=RANGE",
     .help = "animate over these values, e.g. gamma=0.01:100:log30; html: a slider"},
    {.name = "title",
     .type = CLI_TEXT,
     .offset = AT(title),
     .argument = "TEXT",
     .help = "title of the picture, in place of the default one"},
    {.name = "theme",
     .type = CLI_CHOICE,
     .offset = AT(theme),
     .argument = "THEME",
     .choices = "auto|light|dark",
     .help = "auto, light or dark (auto: SVG and HTML follow the viewer)"},
    {.name = "width",
     .type = CLI_INT,
     .offset = AT(width),
     .argument = "N",
     .min = 20,
     .max = 20000,
     .help = "width in pixels (default 720), or in columns of the terminal"},
    {.name = "height",
     .type = CLI_INT,
     .offset = AT(height),
     .argument = "N",
     .min = 8,
     .max = 20000,
     .help = "height in pixels or lines (default: depends on the picture)"},
    {.name = "graphics",
     .type = CLI_CHOICE,
     .offset = AT(graphics),
     .argument = "HOW",
     .choices = "auto|text|sixel|kitty",
     .help = "auto, text, sixel or kitty: how to draw in the terminal"},
    CLI_LAST_OPTION,
};

static const char *const words[] = {"MODEL|DATA", "DATA...", NULL};

const cli_verb cli_verb_plot = {
    .name = "plot",
    .summary = "draw models, kernels and data",
    .usage = "MODEL|DATA... [--kind KIND] [-o FILE.svg|.png|.pdf|.html]",
    .about =
        "Draws a model, a model with DATA, or DATA alone: as a file, or in the terminal without "
        "-o.\n"
        "Kinds (docs/gallery.md shows each):\n"
        "  boundary     decision regions, margins, support vectors; more than two columns: --x, "
        "--y,\n"
        "               or the first two kernel principal components\n"
        "  surface      predicted numbers over one or two columns\n"
        "  band         mean, intervals without and with noise, draws (gp)\n"
        "  projection   coordinates of pca, fisher, cca\n"
        "  clusters     regions and objects of kmeans\n"
        "  gram         the kernel matrix, ordered by class or cluster; DATA needs -k KERNEL\n"
        "  spectrum     its eigenvalues, and the effective dimension\n"
        "  roc, pr, calibration, confusion     a classifier on DATA with classes\n"
        "  residuals    a regression on DATA with targets\n"
        "  tuning       the scores of mercer tune, with the chosen point\n"
        "  path         errors along C, lambda or --along NAME=RANGE\n"
        "  learning     errors against the number of training objects\n"
        "  importance   columns by shuffling (with DATA), or features by weight\n"
        "  dependence   the mean prediction over the values of one column (--x)\n"
        "  logo         sequence motifs of a model on strings, or of DATA of one length\n"
        "  data         columns against one another, and histograms\n"
        "PNG and PDF need libcairo2. --json prints the figure's data.",
    .examples = "mercer sample moons -n 300 -o moons.csv\n"
                "mercer fit svm moons.csv -k 'rbf(gamma=2)' -C 10 -o moons.mercer\n"
                "mercer plot moons.mercer moons.csv\n"
                "mercer plot moons.mercer moons.csv -o moons.svg\n"
                "mercer plot moons.mercer moons.csv --kind roc -o roc.html\n"
                "mercer plot moons.csv -k 'rbf(gamma=2)' --kind gram -o gram.svg\n"
                "mercer plot moons.mercer moons.csv --animate gamma=0.1:10:log5 -o gamma.html",
    .traits = CLI_READS,
    .words = words,
    .min_words = 0,
    .options = options,
    .values_size = sizeof(plot_call),
    .run = run,
};
