/* learner.h: learners on the command line: every name in a learner's table of parameters is an
 * option.
 *
 * `--tol 1e-6`; a name of one letter also as `-C 10`; a flag alone is yes: `--probability`, `--bias
 * no`. The call is read with the options of all learners, so that they may stand before the
 * learner, and the values go to the library as text, which knows the limits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_LEARNER_H
#define CLI_LEARNER_H

#include "cli.h"

/* 1: there is a learner of this name. */
int cli_learner_exists(const char *name);
/* What it predicts; -1: there is no such learner. */
int cli_learner_task(const char *name);
/* 1: it can go on from a model. */
int cli_learner_can_start(const char *name);
/* 1: it can go on with more data. */
int cli_learner_can_resume(const char *name);
/* 1: a small search can choose its kernel and options. */
int cli_learner_can_choose(const char *name);
/* 1: it has an option of this name. */
int cli_learner_has(const char *name, const char *option);
/* 1: it separates objects that resemble the training objects from others. */
int cli_learner_detects(const char *name);
/* 1: it factorises matrices. */
int cli_learner_is_dense(const char *name);
/* Commands for the help of one learner; NULL: those of the verb will do. */
const char *cli_learner_examples(const char *name);
/* Sets c->learning. learner NULL: the options of all, for the parser; else of that one with their
 * defaults, for --help. */
void cli_learner_open(cli *c, const char *learner);
void cli_learner_close(cli *c); /* also when it was not opened */
/* --balance: short for --class-weight balanced. */
int cli_learner_balance(cli *c, mcr_options *options, const char *learner);
/* What the call says of an option, as text; NULL: nothing. */
const char *cli_learner_given(const cli *c, const char *option);
/* The library's options for a learner, as the call says them. Returns the exit status. */
int cli_learner_options(cli *c, mcr_options **out, const char *learner);
/* The same in place of those of a model. */
int cli_learner_set(cli *c, mcr_options *options, const char *learner);
/* The same where numbers may be ranges ("0.1:100:log7"): those of them that the learner itself does
 * not understand are listed, name and text, with their number. */
int cli_learner_ranges(cli *c, mcr_options **out, const char *learner, const char **name,
                       const char **range, int64_t *count);

#endif
