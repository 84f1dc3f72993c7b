/* advice.h: advice, before or after training, for calls that do not suit the data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_ADVICE_H
#define CLI_ADVICE_H

#include "cli.h"

/* Whether the data are a table with columns of several roles: the library then has a default
 * kernel, which expects standardised numbers. */
int cli_advise_is_mixed(const mcr_data *data);
/* The kernel if the call names none: `precomputed` for data that are a kernel matrix; NULL, with
 * status 0, for one field of vectors, where the library has a default (with a remark if they look
 * like a kernel matrix), and for tables (with a remark on the columns that it does not use).
 * Otherwise the call is refused, with the fields and a kernel that would suit them. */
int cli_advise_kernel(cli *c, mcr_kernel **out, const mcr_data *data);
/* Whether a call names the default kernel for vectors, "rbf" without parameters. */
int cli_advise_is_default(const char *kernel);
/* For such a call: 0 for one field of vectors, where the library chooses gamma. Otherwise the
 * kernel is refused, because gamma is needed. */
int cli_advise_gamma(cli *c, const char *kernel, const mcr_data *data);
/* Suggests scaling if the call has none, and columns differ by far in their standard deviation.
 * kernel NULL: the library's default for vectors. */
void cli_advise_scale(cli *c, const mcr_data *data, const mcr_kernel *kernel);
/* Refuses --rank and --landmarks if they would have no effect: a user who sets them expects one.
 * approx: as in MCR_APPROX_... */
int cli_advise_approx(cli *c, int approx, int rank_given, int landmarks_given);
/* Refuses numbers that look like measurements, where each would become a class. A remark if that is
 * less clear, or if integers that may be classes are learnt as numbers. */
int cli_advise_targets(cli *c, const char *learner, const mcr_data *data);
/* Refuses data with a target and one column less than the model needs: the library reports the
 * mismatch, but cannot know that a feature column was taken for the target. */
int cli_advise_features(cli *c, const mcr_report_fit *report, const mcr_data *data);
/* Like cli_fail_words, for a failure of mcr_fit; kernel NULL: chosen by the library. */
int cli_advise_fit(cli *c, mcr_status status, const mcr_kernel *kernel, const mcr_data *data);

#endif
