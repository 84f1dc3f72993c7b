/* verb_version.c: mercer version.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "help.h"

static int run(cli *c, const void *values)
{
    (void)values;
    return cli_help_version(c);
}

const cli_verb cli_verb_version = {
    .name = "version",
    .summary = "the version of the program",
    .usage = "",
    .about = "Prints the version of the program and its library.",
    .examples = "mercer version",
    .traits = CLI_NO_CONTEXT,
    .run = run,
};
