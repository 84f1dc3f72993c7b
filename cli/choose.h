/* choose.h: automatic choice of kernel and options for a table if the call does not set them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CHOOSE_H
#define CLI_CHOOSE_H

#include "cli.h"
#include "json.h"

/* Whether a quick search chooses (mcr_search.quick): no kernel is given, the data are a table of
 * mixed columns with enough objects, and the learner's C is not given. */
int cli_choose_is_wanted(const cli *c, const char *learner, int kernel_given, const mcr_data *data);
/* The metric it uses: balanced accuracy if classes have weights (balance: --balance); NULL: the
 * default. */
const char *cli_choose_metric(const cli *c, int balance);
/* Sets options and kernel to those of the best point. */
int cli_choose_take(cli *c, const mcr_tune_report *report, mcr_options *options,
                    mcr_kernel **kernel);
/* Reports the choice for n objects, as the options of a call. */
void cli_choose_say(const mcr_tune_report *report, int64_t n);
void cli_choose_json(cli_json *j, const mcr_tune_report *report);

#endif
