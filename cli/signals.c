/* signals.c: Ctrl-C and other signals that end the program.
 *
 * The first Ctrl-C sets a flag that the library's progress callback reports, so that work stops
 * cleanly; a second one, or one before the flag is polled, ends the program immediately. In every
 * case the unfinished output file is removed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* A handler can only access globals. */
static volatile sig_atomic_t interrupted, listening, guarded, json, held, waiting;
static char guarded_path[PATH_MAX];

static void put(int to, const char *text)
{
    ssize_t ignored = write(to, text, strlen(text));
    (void)ignored;
}

static void remove_guarded(void)
{
    if (guarded)
        unlink(guarded_path);
    guarded = 0;
}

static void on_interrupt(int number)
{
    if (listening && !interrupted) {
        interrupted = 1;
        return;
    }
    if (held) {
        waiting = number;
        return;
    }
    remove_guarded();
    put(STDERR_FILENO, isatty(STDERR_FILENO) ? "\nmercer: interrupted\n" : "mercer: interrupted\n");
    if (json)
        put(STDOUT_FILENO, "{\"error\": {\"message\": \"interrupted\", \"file\": null, "
                           "\"line\": null}}\n");
    _exit(CLI_INTERRUPTED);
}

static void on_end(int number)
{
    if (held) { /* a file is being written: finish that first */
        waiting = number;
        return;
    }
    remove_guarded();
    signal(number, SIG_DFL);
    raise(number);
}

static void catch (int number, void (*handler)(int))
{
    struct sigaction now, wanted = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&wanted.sa_mask);
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        sigaction(number, &wanted, NULL);
}

void cli_signals_install(const cli *c)
{
    json = c->json_asked;
    catch (SIGINT, on_interrupt);
    catch (SIGTERM, on_end);
    catch (SIGHUP, on_end);
    catch (SIGPIPE, on_end);
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit then fails with an error */
}

void cli_signals_hold(int hold)
{
    held = hold;
    if (!hold && waiting)
        raise(waiting);
}

/* A pipe may wait for its reader forever: then signals must end the program. */
static int is_file(const char *path)
{
    struct stat there;
    return strcmp(path, "-") != 0 && (stat(path, &there) != 0 || S_ISREG(there.st_mode));
}

mcr_status cli_write_data(const mcr_data *data, const char *path, const char *format)
{
    cli_signals_hold(is_file(path));
    mcr_status s = mcr_data_write(data, path, format);
    cli_signals_hold(0);
    return s;
}

mcr_status cli_save_model(cli *c, const mcr_model *model, const char *path)
{
    cli_signals_hold(is_file(path));
    mcr_status s = mcr_model_save(c->ctx, model, path);
    cli_signals_hold(0);
    return s;
}

mcr_status cli_export_as(cli *c, const mcr_model *model, const char *to,
                         const mcr_export_options *options, const char *path,
                         mcr_export_report *report)
{
    cli_signals_hold(is_file(path));
    mcr_status s = mcr_model_export(c->ctx, model, to, options, path, report);
    cli_signals_hold(0);
    return s;
}

mcr_status cli_save_figure(mcr_figure *figure, const char *path, const mcr_draw *draw)
{
    cli_signals_hold(is_file(path));
    mcr_status s = mcr_figure_save(figure, path, draw);
    cli_signals_hold(0);
    return s;
}

int cli_interrupted(void)
{
    return interrupted;
}

void cli_signals_listen(void)
{
    listening = 1;
}

void cli_signals_guard(const char *path)
{
    guarded = 0;
    if (strlen(path) < sizeof guarded_path) {
        memcpy(guarded_path, path, strlen(path) + 1);
        guarded = 1;
    }
}

void cli_signals_unguard(int remove_it)
{
    if (remove_it)
        remove_guarded();
    guarded = 0;
}
