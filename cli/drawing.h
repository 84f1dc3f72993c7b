/* drawing.h: figures on the terminal: shared by fit, cv, tune and plot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_DRAWING_H
#define CLI_DRAWING_H

#include "cli.h"

typedef enum cli_graphics {
    CLI_GRAPHICS_AUTO, /* pixels if the terminal supports them, else characters */
    CLI_GRAPHICS_TEXT,
    CLI_GRAPHICS_SIXEL,
    CLI_GRAPHICS_KITTY
} cli_graphics;

typedef struct cli_drawing {
    cli_graphics graphics;
    mcr_theme theme;
    int width, height; /* pixels, or characters of a drawing in characters; 0: automatic */
    int small;         /* at most half of the window's height */
} cli_drawing;

/* Draws on standard output, in colour on a terminal. Returns the exit status. */
int cli_draw(cli *c, mcr_figure *figure, const cli_drawing *how);

/* Refuses --plot with --json, and the learning curve of a learner that has none (learner may be
 * NULL), before any work is done. */
int cli_draw_check(cli *c, int wanted, const char *learner);
/* A small learning curve of a learner on data; kernel may be NULL. */
int cli_draw_learning(cli *c, const mcr_options *options, const mcr_kernel *kernel,
                      const mcr_data *data);

#define CLI_PLOT_OPTION(at, what)                                                                  \
    {                                                                                              \
        .name = "plot", .type = CLI_FLAG, .offset = (at), .help = what                             \
    }

#endif
