/* share.h: the classes and columns that the rows of all ranks share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MPI_SHARE_H
#define MPI_SHARE_H

#include "ranks.h"

/* The same rows with the classes and the columns of all ranks, so that classes have the same
 * numbers in all of them. Refuses parts that do not match. */
mcr_status ranks_share(ranks *r, struct mcr_data **out, const struct mcr_data *own);

#endif
