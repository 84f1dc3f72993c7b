/* verb_kernels.c: mercer kernels: lists the kernels, with parameters and defaults.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "help.h"
#include "json.h"
#include "registry.h"
#include "suggest.h"
#include "text.h"

enum { VECTORS = MCR_DENSE | MCR_SPARSE };

/* Headings of the list, in order; the last is for all other kernels. */
static const struct heading {
    const char *text;
    int kinds;
} headings[] = {
    {"On vectors", VECTORS},      {"On strings", MCR_STRINGS},
    {"On graphs", MCR_GRAPHS},    {"On kernel values from a file", MCR_PRECOMPUTED},
    {"Made of other kernels", 0}, {"On objects of several kinds", -1},
};
enum { HEADINGS = sizeof headings / sizeof *headings };

static int heading_of(const mcr_kernel_info *k)
{
    for (int h = 0; h < HEADINGS - 1; h++)
        if (k->kinds == headings[h].kinds ||
            (k->kinds && headings[h].kinds == VECTORS && (k->kinds & ~VECTORS) == 0))
            return h;
    return HEADINGS - 1;
}

/* All kernels, or the one at `only`. */
static int print_json(cli *c, int64_t only)
{
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_list(&j, "kernels");
    for (int64_t i = 0; i < mcr_kernel_count(c->ctx); i++) {
        mcr_kernel_info k = MCR_INIT(mcr_kernel_info);
        if ((only < 0 || i == only) && mcr_kernel_describe(c->ctx, i, &k) == MCR_OK)
            cli_kernel_json(&j, &k);
    }
    cli_json_end(&j);
    cli_json_end(&j);
    return 0;
}

static int print_list(cli *c)
{
    int width = 0, any = 0;
    mcr_kernel_info k = MCR_INIT(mcr_kernel_info);
    for (int64_t i = 0; i < mcr_kernel_count(c->ctx); i++)
        if (mcr_kernel_describe(c->ctx, i, &k) == MCR_OK && (int)strlen(k.name) > width)
            width = (int)strlen(k.name);
    for (int h = 0; h < HEADINGS; h++) {
        int begun = 0;
        for (int64_t i = 0; i < mcr_kernel_count(c->ctx); i++) {
            if (mcr_kernel_describe(c->ctx, i, &k) != MCR_OK || heading_of(&k) != h)
                continue;
            if (!begun)
                printf("%s%s%s:%s\n", any ? "\n" : "", cli_style_code(stdout, CLI_BOLD),
                       headings[h].text, cli_style_code(stdout, CLI_PLAIN));
            begun = any = 1;
            printf("  %-*s  %s%s\n", width, k.name, k.summary,
                   k.indefinite ? " (not always PSD)" : "");
        }
    }
    puts("\nmercer kernels NAME shows the parameters of one kernel.");
    return 0;
}

static const char *kinds_text(int kinds, char *text, size_t capacity)
{
    static const struct name {
        int kinds;
        const char *text;
    } names[] = {{VECTORS, "vectors"},
                 {MCR_STRINGS, "strings"},
                 {MCR_GRAPHS, "graphs"},
                 {MCR_PRECOMPUTED, "kernel values from a file"}};
    size_t used = 0;
    snprintf(text, capacity, "%s", kinds ? "" : "other kernels");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((kinds & names[i].kinds) && used < capacity)
            used += (size_t)snprintf(text + used, capacity - used, "%s%s", used ? ", " : "",
                                     names[i].text);
    return text;
}

static void print_one(const mcr_kernel_info *k)
{
    char kinds[128];
    cli_say("kernel", "%s", k->name);
    cli_say("value", "%s", k->summary);
    cli_say("on", "%s", kinds_text(k->kinds, kinds, sizeof kinds));
    int leaf = k->kinds != 0;
    cli_say("valid", "%s",
            k->indefinite ? "not for all parameters and objects: see mercer check"
            : leaf        ? "yes"
                          : "yes, as long as its parts are and no number in it is negative");
    cli_say("features", "%s",
            !k->has_features ? "no explicit feature map"
            : leaf           ? "explicit and finite"
                             : "explicit and finite, if those of its parts are");
    if (!k->params || !k->params->name) {
        cli_say("parameters", "none");
        return;
    }
    putchar('\n');
    cli_help_params(k->params);
}

static int refuse_name(cli *c, const char *name)
{
    cli_suggestion near = {name, NULL, 0};
    mcr_kernel_info k = MCR_INIT(mcr_kernel_info);
    for (int64_t i = 0; i < mcr_kernel_count(c->ctx); i++)
        if (mcr_kernel_describe(c->ctx, i, &k) == MCR_OK)
            cli_suggest(&near, k.name);
    if (near.nearest)
        return cli_refuse(c, "unknown kernel \"%s\" (did you mean \"%s\"?)", name, near.nearest);
    return cli_refuse(c, "unknown kernel \"%s\" (mercer kernels lists them)", name);
}

static int run(cli *c, const void *values)
{
    (void)values;
    const char *name = cli_word(c, 0);
    mcr_kernel_info k = MCR_INIT(mcr_kernel_info);
    int64_t at = name ? 0 : -1, count = mcr_kernel_count(c->ctx);
    while (name && at < count &&
           (mcr_kernel_describe(c->ctx, at, &k) != MCR_OK || strcmp(k.name, name) != 0))
        at++;
    if (name && at == count)
        return refuse_name(c, name);
    if (c->common.json)
        return print_json(c, at);
    if (!name)
        return print_list(c);
    print_one(&k);
    return 0;
}

static const char *const words[] = {"NAME", NULL};

const cli_verb cli_verb_kernels = {
    .name = "kernels",
    .summary = "list the kernels, with parameters and defaults",
    .usage = "[NAME]",
    .about = "Lists the kernels, or shows one with its parameters. Kernels can be combined:\n"
             "sums, products, powers and functions of kernels are kernels, e.g.\n"
             "'2*rbf(gamma=1) * linear + 1'.",
    .examples = "mercer kernels\n"
                "mercer kernels rbf\n"
                "mercer kernels poly --json",
    .words = words,
    .run = run,
};
