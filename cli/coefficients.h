/* coefficients.h: the dual solution of a model as a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_COEFFICIENTS_H
#define CLI_COEFFICIENTS_H

#include "cli.h"

/* Each support vector of each output: object, class or target, coefficient, state, margin, slack,
 * and values specific to the learner. path: of the table; NULL: standard output. Returns the exit
 * status. */
int cli_coefficients(cli *c, const mcr_model *model, const char *path);

#endif
