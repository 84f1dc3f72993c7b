/* drawing.c: figures on the terminal.
 *
 * The terminal is queried for its abilities: kitty's protocol by a query that only such terminals
 * answer, sixel by the "primary device attributes", which every terminal answers. Without an answer
 * within a fraction of a second, figures are drawn in characters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "drawing.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "learner.h"
#include "progress.h"
#include "text.h"

enum { PATIENCE_MS = 200, ANSWER = 256 };

/* ---- what the terminal can do --------------------------------------------------------------- */

static int full_answer(const char *text)
{
    const char *begin = strstr(text, "\033[?");
    return begin && strchr(begin, 'c');
}

/* Sends both queries and collects the answers, without echo. */
static void ask(int tty, char *answer)
{
    static const char question[] = "\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\\\033[c";
    struct termios before, raw;
    size_t used = 0;
    answer[0] = '\0';
    if (tcgetattr(tty, &before) != 0)
        return;
    raw = before;
    raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(tty, TCSANOW, &raw) != 0)
        return;
    if (write(tty, question, sizeof question - 1) == (ssize_t)(sizeof question - 1)) {
        struct pollfd ready = {.fd = tty, .events = POLLIN};
        while (used + 1 < ANSWER && !full_answer(answer) && poll(&ready, 1, PATIENCE_MS) > 0) {
            ssize_t got = read(tty, answer + used, ANSWER - 1 - used);
            if (got <= 0)
                break;
            used += (size_t)got;
            answer[used] = '\0';
        }
    }
    tcsetattr(tty, TCSAFLUSH, &before);
}

static int lists_sixel(const char *answer)
{
    const char *at = strstr(answer, "\033[?");
    for (at = at ? at + 3 : NULL; at && *at && *at != 'c';) {
        char *end;
        long ability = strtol(at, &end, 10);
        if (end == at)
            return 0;
        if (ability == 4)
            return 1;
        at = *end == ';' ? end + 1 : end;
    }
    return 0;
}

static cli_graphics find_graphics(void)
{
    char answer[ANSWER];
    const char *term = getenv("TERM");
    if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO) || !term || strcmp(term, "dumb") == 0 ||
        strcmp(term, "linux") == 0)
        return CLI_GRAPHICS_TEXT;
    int tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (tty < 0)
        return CLI_GRAPHICS_TEXT;
    ask(tty, answer);
    close(tty);
    if (strstr(answer, "_Gi=31;OK"))
        return CLI_GRAPHICS_KITTY;
    return lists_sixel(answer) ? CLI_GRAPHICS_SIXEL : CLI_GRAPHICS_TEXT;
}

static int find_colours(void)
{
    const char *none = getenv("NO_COLOR"), *depth = getenv("COLORTERM"), *term = getenv("TERM");
    if (!isatty(STDOUT_FILENO) || (none && *none) || !term || strcmp(term, "dumb") == 0)
        return 0;
    return depth && (strstr(depth, "truecolor") || strstr(depth, "24bit")) ? 1 << 24 : 256;
}

/* COLORFGBG is "foreground;background"; 7 and 15 are light. */
static mcr_theme find_theme(void)
{
    const char *colours = getenv("COLORFGBG"), *back = colours ? strrchr(colours, ';') : NULL;
    int light = back && (strcmp(back, ";15") == 0 || strcmp(back, ";7") == 0);
    return light ? MCR_THEME_LIGHT : MCR_THEME_DARK;
}

/* ---- drawing -------------------------------------------------------------------------------- */

static void fit_window(mcr_draw *draw, const cli_drawing *how, int pixels)
{
    struct winsize window = {0};
    int known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
    int columns = known ? window.ws_col : 80, lines = known ? window.ws_row : 24;
    if (pixels) {
        int wide = known && window.ws_xpixel > 0 ? window.ws_xpixel : columns * 9;
        draw->width = how->width ? how->width : wide < 900 ? wide : 900;
        return;
    }
    columns = columns > 100 ? 100 : columns;
    draw->width = how->width ? how->width : columns - 1;
    int most = how->small ? 16 : lines > 14 ? lines - 2 : 12;
    draw->height = how->height ? how->height : most < 36 ? most : 36;
}

int cli_draw(cli *c, mcr_figure *figure, const cli_drawing *how)
{
    static const char *const formats[] = {"text", "text", "sixel", "kitty"};
    cli_graphics graphics = how->graphics == CLI_GRAPHICS_AUTO ? find_graphics() : how->graphics;
    mcr_draw draw = {.size = sizeof draw,
                     .theme = how->theme == MCR_THEME_AUTO ? find_theme() : how->theme,
                     .colours = find_colours()};
    const char *bytes;
    size_t count;
    fit_window(&draw, how, graphics > CLI_GRAPHICS_TEXT);
    mcr_status s = mcr_figure_draw(figure, formats[graphics], &draw, &bytes, &count);
    if (s == MCR_IO && how->graphics == CLI_GRAPHICS_AUTO) { /* no cairo: falls back to
                                                              * characters */
        draw.width = draw.height = 0;
        fit_window(&draw, how, 0);
        s = mcr_figure_draw(figure, "text", &draw, &bytes, &count);
    }
    if (s)
        return cli_fail(c, s);
    cli_progress_clear(c);
    fwrite(bytes, 1, count, stdout);
    fflush(stdout);
    return 0;
}

int cli_draw_check(cli *c, int wanted, const char *learner)
{
    if (!wanted)
        return 0;
    if (c->common.json)
        return cli_refuse(c, "--plot draws for people, --json is for programs: use one of them "
                             "(mercer plot --json gives a figure's data)");
    int task = learner ? cli_learner_task(learner) : -1;
    return task == MCR_DETECT || task == MCR_CLUSTER || task == MCR_TRANSFORM
               ? cli_refuse(c,
                            "--plot draws a learning curve, which %s does not have: save the "
                            "model, and mercer plot draws it",
                            learner)
               : 0;
}

int cli_draw_learning(cli *c, const mcr_options *options, const mcr_kernel *kernel,
                      const mcr_data *data)
{
    mcr_figure *figure = NULL;
    const mcr_plot plot = {.size = sizeof plot,
                           .kind = "learning",
                           .data = data,
                           .options = options,
                           .kernel = kernel};
    int bad = cli_fail(c, mcr_figure_open(&figure, c->ctx, &plot));
    if (!bad) {
        cli_progress_clear(c);
        printf("\n");
        bad = cli_draw(c, figure, &(cli_drawing){.graphics = CLI_GRAPHICS_TEXT, .small = 1});
    }
    mcr_figure_close(figure);
    return bad;
}
