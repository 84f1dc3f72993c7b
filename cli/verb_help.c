/* verb_help.c: mercer help [VERB].
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "help.h"
#include "suggest.h"

static int run(cli *c, const void *values)
{
    (void)values;
    const char *name = cli_word(c, 0);
    if (!name)
        return cli_help_overview(c, stdout);
    const cli_verb *verb = cli_verb_find(name);
    if (verb)
        return cli_help_verb(c, verb);
    cli_suggestion near = {name, NULL, 0};
    for (int i = 0; cli_verbs[i]; i++)
        cli_suggest(&near, cli_verbs[i]->name);
    if (near.nearest)
        return cli_refuse(c, "unknown verb \"%s\" (did you mean \"%s\"?)", name, near.nearest);
    return cli_refuse(c, "unknown verb \"%s\" (mercer help lists them)", name);
}

static const char *const words[] = {"VERB", NULL};

const cli_verb cli_verb_help = {
    .name = "help",
    .summary = "how to use a verb, with examples",
    .usage = "[VERB]",
    .about = "Shows what a verb does, its options and examples; without VERB, lists all verbs.",
    .examples = "mercer help\n"
                "mercer help gram",
    .traits = CLI_NO_CONTEXT,
    .words = words,
    .run = run,
};
