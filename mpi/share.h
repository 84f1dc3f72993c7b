/* share.h: what the rows of all ranks have in common.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MPI_SHARE_H
#define MPI_SHARE_H

#include "ranks.h"

/* The same rows with the classes and the columns of all ranks: the numbers of classes are then the
 * same in all of them. Refuses parts that do not fit each other. */
mcr_status ranks_share(ranks *r, struct mcr_data **out, const struct mcr_data *own);

#endif
