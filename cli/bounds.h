/* bounds.h: generalisation bounds of a model.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_BOUNDS_H
#define CLI_BOUNDS_H

#include <mercer/mercer.h>

#include "json.h"

void cli_bounds_say(const mcr_bounds *bounds);
void cli_bounds_json(cli_json *j, const mcr_bounds *bounds);

#endif
