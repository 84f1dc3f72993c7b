/* resume.h (internal): numbers of a solver that outlive the program, in the file of
 * mcr_checkpoint_file. Of several processes the first one reads and writes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_RESUME_H
#define MCR_BASE_RESUME_H

#include "base/context.h"

/* Whether there is such a file to be written. */
bool mcr_resume_wanted(const mcr *ctx);
/* Replaces what the file holds; it is whole at all times. what: the problem that x belongs to, as
 * far as the solver knows it. */
mcr_status mcr_resume_save(mcr *ctx, const char *what, const double *x, int64_t count);
/* *found: x was filled with what an earlier run of the same problem has left. A file of another
 * problem is MCR_BAD_DATA. */
mcr_status mcr_resume_load(mcr *ctx, const char *what, double *x, int64_t count, bool *found);

#endif
