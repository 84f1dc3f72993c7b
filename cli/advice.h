/* advice.h: advice, before or after training, for a call that fits the data badly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_ADVICE_H
#define CLI_ADVICE_H

#include "cli.h"

/* Whether the data are a table with columns of several roles: the library then has a default
 * kernel, which wants numbers of mean 0 and standard deviation 1. */
int cli_advise_is_mixed(const mcr_data *data);
/* The kernel where the call names none: `precomputed` for data that are a kernel matrix; NULL, with
 * status 0, for one field of vectors, where the library has a default (with a remark if they look
 * like a kernel matrix), and for tables (with a remark on the columns that it does not use). Else
 * the call is refused, with the fields and a kernel that would fit them. */
int cli_advise_kernel(cli *c, mcr_kernel **out, const mcr_data *data);
/* Refuses --rank and --landmarks where the call has no use for them: whoever says them expects
 * something of them. approx: as in MCR_APPROX_... */
int cli_advise_approx(cli *c, int approx, int rank_given, int landmarks_given);
/* Refuses numbers that look like measurements, where each would become a class. A remark if that is
 * less clear, or if whole numbers that may be classes are learnt as numbers. */
int cli_advise_targets(cli *c, const char *learner, const mcr_data *data);
/* Refuses data of one column less than the model wants and a target: the library reports what does
 * not fit, but that a column of features was taken for the target it cannot know. */
int cli_advise_features(cli *c, const mcr_report_fit *report, const mcr_data *data);
/* As cli_fail_words, for what mcr_fit says; kernel NULL: the library chose one. */
int cli_advise_fit(cli *c, mcr_status status, const mcr_kernel *kernel, const mcr_data *data);

#endif
