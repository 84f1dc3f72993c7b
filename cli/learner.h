/* learner.h: learners on the command line: every parameter of a learner is an option.
 *
 * `--tol 1e-6`; a name of one letter also as `-C 10`; a flag alone is yes: `--probability`, `--bias
 * no`. The call is parsed with the options of all learners, so that they may precede the learner's
 * name, and the values are passed to the library as text, which checks the limits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_LEARNER_H
#define CLI_LEARNER_H

#include "cli.h"

/* Whether there is a learner with this name. */
int cli_learner_exists(const char *name);
/* Its task; -1: no such learner. */
int cli_learner_task(const char *name);
/* Whether it can be warm-started from a model. */
int cli_learner_can_start(const char *name);
/* Whether it can continue with more data. */
int cli_learner_can_resume(const char *name);
/* Whether a quick search can choose its kernel and options. */
int cli_learner_can_choose(const char *name);
/* Whether it has an option with this name. */
int cli_learner_has(const char *name, const char *option);
/* Whether it detects outliers. */
int cli_learner_detects(const char *name);
/* Example commands for the help of one learner; NULL: those of the verb apply. */
const char *cli_learner_examples(const char *name);
/* Sets c->learning. learner NULL: the options of all, for the parser; else those of this learner
 * with their defaults, for --help. */
void cli_learner_open(cli *c, const char *learner);
void cli_learner_close(cli *c); /* also allowed if it was not opened */
/* --balance: short for --class-weight balanced. */
int cli_learner_balance(cli *c, mcr_options *options, const char *learner);
/* The value of an option in the call, as text; NULL: not given. */
const char *cli_learner_given(const cli *c, const char *option);
/* The library's options for a learner, as given in the call. Returns the exit status. */
int cli_learner_options(cli *c, mcr_options **out, const char *learner);
/* The same, replacing options of a model. */
int cli_learner_set(cli *c, mcr_options *options, const char *learner);
/* The same if numbers may be ranges ("0.1:100:log7"): those that the learner itself does not accept
 * are listed by name and text, with their number. */
int cli_learner_ranges(cli *c, mcr_options **out, const char *learner, const char **name,
                       const char **range, int64_t *count);

#endif
