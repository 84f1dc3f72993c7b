/* progress.c: the progress line and the log.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

enum { LINE_BYTES = 256, BAR = 24 };

static const double patience = 0.4; /* seconds before the line is first shown */
static const double between = 0.1;  /* seconds between updates */

typedef struct line {
    char text[LINE_BYTES];
    int length;
} line;

static void add(line *l, const char *format, ...) CLI_PRINTF(2, 3);
static void add(line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int more = vsnprintf(l->text + l->length, (size_t)(LINE_BYTES - l->length), format, args);
    va_end(args);
    l->length = l->length + more < LINE_BYTES ? l->length + more : LINE_BYTES - 1;
}

static void add_bar(line *l, double fraction)
{
    int full = (int)(fraction * BAR);
    add(l, "  [");
    for (int i = 0; i < BAR; i++)
        add(l, "%c", i < full ? '=' : i == full ? '>' : ' ');
    add(l, "] %3d%%", (int)(fraction * 100));
}

static void add_seconds(line *l, double seconds)
{
    if (seconds < 60)
        add(l, "  %.1f s", seconds);
    else
        add(l, "  %d:%02d", (int)(seconds / 60), (int)fmod(seconds, 60));
}

static void draw(const cli *c, const mcr_progress *now)
{
    line l = {.length = 0};
    add(&l, "%s", now->phase ? now->phase : "working");
    if (isfinite(now->fraction)) {
        double fraction = c->meter.first + c->meter.span * now->fraction;
        add_bar(&l, fraction < 0 ? 0 : fraction > 1 ? 1 : fraction);
    }
    bool search = now->phase && strcmp(now->phase, "tune") == 0;
    if (search)
        add(&l, "  %" PRId64 " of about %" PRId64 " points", now->active, now->total);
    else if (now->step > 0)
        add(&l, "  step %" PRId64, now->step);
    if (isfinite(now->objective) && now->objective != 0)
        add(&l, search ? "  best %.4g" : "  objective %.6g", now->objective);
    if (isfinite(now->violation) && now->violation != 0)
        add(&l, "  violation %.3g", now->violation);
    if (!search && now->total > 0 && now->active > 0)
        add(&l, "  active %" PRId64 "/%" PRId64, now->active, now->total);
    add_seconds(&l, cli_seconds() - c->started);
    if (now->left > 0) {
        add(&l, ", about");
        add_seconds(&l, now->left);
        add(&l, " left");
    }
    int width = cli_width(stderr) - 1;
    fprintf(stderr, "\r%.*s\033[K", l.length < width ? l.length : width, l.text);
    fflush(stderr);
}

void cli_progress_continues(cli *c, int64_t step)
{
    char at[32] = "";
    if (!c->meter.continues || c->common.quiet)
        return;
    if (step > 0)
        snprintf(at, sizeof at, " at step %" PRId64, step);
    cli_progress_clear(c);
    fprintf(stderr, "mercer: continues from %s%s\n", c->meter.continues, at);
    c->meter.continues = NULL;
}

int cli_progress_report(void *user, const mcr_progress *now)
{
    cli *c = user;
    cli_signals_listen();
    if (now->step > 0) /* those of a search are trainings */
        cli_progress_continues(c, c->meter.only ? 0 : now->step);
    double time = cli_seconds();
    if (c->meter.visible && time - c->started > patience && time - c->meter.last_drawn > between) {
        draw(c, now);
        c->meter.last_drawn = time;
        c->meter.drawn = 1;
    }
    bool ends = !c->meter.only || (now->phase && strcmp(now->phase, c->meter.only) == 0);
    if (c->common.time_limit > 0 && time - c->started > c->common.time_limit)
        c->late = 1;
    return c->late || (ends && cli_interrupted());
}

void cli_progress_log(void *user, int level, const char *text)
{
    cli *c = user;
    if (level < MCR_LOG_WARNING ? !c->common.verbose : c->common.quiet)
        return;
    cli_progress_clear(c);
    fprintf(stderr, "mercer: %s%s\n", level < MCR_LOG_WARNING ? "" : "warning: ", text);
}

void cli_progress_warn(cli *c, const char *text)
{
    cli_progress_clear(c);
    fprintf(stderr, "mercer: warning: %s\n", text);
}

void cli_progress_open(cli *c)
{
    c->meter = (cli_meter){.span = 1};
    c->meter.visible = !c->common.quiet && isatty(STDERR_FILENO);
}

void cli_progress_part(cli *c, double first, double span)
{
    c->meter.first = first;
    c->meter.span = span;
}

int cli_progress_say(cli *c, const char *phase, double fraction)
{
    mcr_progress now = {.size = sizeof now, .phase = phase, .fraction = fraction};
    cli_meter part = c->meter;
    cli_progress_part(c, 0, 1);
    int stop = cli_progress_report(c, &now);
    c->meter.first = part.first;
    c->meter.span = part.span;
    return stop;
}

void cli_progress_clear(cli *c)
{
    if (c->meter.drawn) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    c->meter.drawn = 0;
}
