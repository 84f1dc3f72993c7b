/* registry.h: kernels and learners with their parameters, as JSON for programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_REGISTRY_H
#define CLI_REGISTRY_H

#include <mercer/kernel.h>
#include <mercer/learner.h>

#include "json.h"

/* Each writes one object of a list. */
void cli_kernel_json(cli_json *j, const mcr_kernel_info *kernel);
void cli_learner_json(cli_json *j, const mcr_learner_info *learner);

#endif
