/* verb_studio.c: mercer studio: the interactive page, on this machine or as a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../web/page.h"
#include "../web/server.h"
#include "cli.h"
#include "json.h"
#include "output.h"
#include "progress.h"

typedef struct studio_call {
    int64_t port;
    int open;
    double idle, limit;
    const char *output;
} studio_call;

/* ---- as a file --------------------------------------------------------------------------------*/

static int write_page(cli *c, const studio_call *call)
{
    size_t bytes = 0;
    const char *page = studio_page_alone(&bytes);
    int bad = cli_output_check(c, call->output);
    if (!bad && cli_word(c, 0))
        bad = cli_refuse(c, "-o writes only the page: drop the file on it in the browser");
    if (!bad && !page)
        bad = cli_fault(
            c, NULL,
            "this program was built without the standalone page (meson setup -Dweb=enabled, which "
            "needs emscripten); mercer studio without -o serves it from here");
    if (!bad)
        bad = cli_output_text(c, call->output, page, bytes);
    if (!bad && !c->common.quiet && !c->common.json)
        printf("%s: %.1f MB, for any browser; nothing else is needed\n", call->output,
               (double)bytes / 1e6);
    return bad;
}

/* ---- as a server ------------------------------------------------------------------------------*/

#ifdef MERCER_STUDIO_SERVER
static void say_address(cli *c, const char *address, double idle)
{
    if (c->common.json) {
        cli_json j;
        cli_json_begin(&j, stdout);
        cli_json_text(&j, "address", address);
        cli_json_end(&j);
    } else {
        printf("%s\n", address);
        if (!c->common.quiet)
            fprintf(stderr,
                    "Open it in a browser on this machine. Ctrl-C ends the studio, or %g minutes "
                    "without a request.\n",
                    idle);
    }
    fflush(stdout);
}

/* With the system's opener; its output is discarded. */
static void open_browser(const char *address)
{
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
                _exit(1);
            execlp("xdg-open", "xdg-open", address, (char *)NULL);
            _exit(1);
        }
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

static int serve(cli *c, const studio_call *call, const mcr_data *data, const mcr_model *model)
{
    const char *why = NULL, *name = cli_word(c, 0);
    studio_serving how = {.port = call->port > 0 ? (int)call->port : 0};
    how.engine.data = data;
    how.engine.model = model;
    how.engine.name = name && strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    how.engine.seconds = call->limit;
    how.engine.memory_bytes = c->common.memory_bytes;
    how.engine.data_bytes = c->common.data_bytes;
    how.engine.threads = (int)c->common.threads;
    how.page = studio_page(&how.page_bytes);
    studio_server *server = studio_server_start(&how, &why);
    if (!server)
        return cli_fault(c, NULL, "the studio cannot start: %s", why);
    cli_progress_clear(c);
    cli_signals_listen();
    say_address(c, studio_server_address(server), call->idle);
    if (call->open)
        open_browser(studio_server_address(server));
    while (!cli_interrupted() && studio_server_idle(server) < 60 * call->idle)
        poll(NULL, 0, 200);
    studio_server_stop(server);
    return 0;
}
#else
static int serve(cli *c, const studio_call *call, const mcr_data *data, const mcr_model *model)
{
    (void)call;
    (void)data;
    (void)model;
    return cli_fault(
        c, NULL,
        "this program was built without a server: install libmicrohttpd-dev and build "
        "again%s",
        studio_page_alone(&(size_t){0}) ? "; -o FILE.html writes a page that needs none" : "");
}
#endif

static int run(cli *c, const void *values)
{
    const studio_call *call = values;
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    int bad = 0, first = 0;
    if (call->output)
        return write_page(c, call);
    if (cli_word(c, 0) && cli_is_model(cli_word(c, 0))) {
        first = 1;
        bad = cli_fail(c, mcr_model_load(&model, c->ctx, cli_word(c, 0)));
        if (!bad) {
            c->reading.features = mcr_model_report(model)->features;
            c->reading.like = mcr_model_layout(model);
        }
    }
    if (!bad && (cli_word(c, first) || c->reading.classes.count))
        bad = cli_read_words(c, &data, first);
    if (!bad)
        bad = serve(c, call, data, model);
    mcr_model_free(model);
    mcr_data_free(data);
    return bad;
}

#define AT(field) offsetof(studio_call, field)

static const cli_option options[] = {
    {.name = "port",
     .type = CLI_INT,
     .offset = AT(port),
     .argument = "N",
     .min = 1,
     .max = 65535,
     .help = "port to listen on at 127.0.0.1 (default: any free port)"},
    {.name = "open", .type = CLI_FLAG, .offset = AT(open), .help = "open the page in a browser"},
    {.name = "idle",
     .type = CLI_REAL,
     .offset = AT(idle),
     .argument = "MINUTES",
     .standard = "60",
     .min = 0,
     .max = 1e6,
     .help = "exit after this time without a request"},
    {.name = "limit",
     .type = CLI_REAL,
     .offset = AT(limit),
     .argument = "SECONDS",
     .standard = "60",
     .min = 0.01,
     .max = 86400,
     .help = "time limit for one request of the page"},
    CLI_OUTPUT_OPTION(AT(output), "write the page as one file that needs no server"),
    CLI_LAST_OPTION,
};

static const char *const words[] = {"DATA|MODEL", "DATA...", NULL};

const cli_verb cli_verb_studio = {
    .name = "studio",
    .summary =
        "an interactive page: place points, type a kernel, see what a learner does with them",
    .usage = "[DATA|MODEL] [--port N] [--open] [-o FILE.html]",
    .about = "Serves one page on this machine and prints its address. Points can be placed and\n"
             "dragged, files can be dropped on the page, kernels can be typed, and every\n"
             "learner shows its result at once. The page includes six lessons. It starts with\n"
             "DATA or MODEL, if given.\n"
             "Only this machine can reach the page, at an address that contains a random\n"
             "token. Ctrl-C ends the studio. docs/studio.md shows what it can do.",
    .examples = "mercer sample rings -o rings.csv\n"
                "mercer studio rings.csv --idle 0.01",
    .traits = CLI_READS | CLI_SERVES,
    .words = words,
    .min_words = 0,
    .options = options,
    .values_size = sizeof(studio_call),
    .run = run,
};
