/* read.h: each rank reads its own rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MPI_READ_H
#define MPI_READ_H

#include <mercer/data.h>

#include "ranks.h"

/* The rows of this rank from the files, which are concatenated, read like mcr_data_read. Text files
 * are divided by bytes, so that each rank reads only its own part and the beginning, which
 * determines the columns. Other files are read completely by all ranks, and each keeps its part.
 * Classes and the number of columns are those of all ranks together. */
mcr_status ranks_read(ranks *r, mcr_data **out, mcr *ctx, const char *const *path, int files,
                      const mcr_read_options *options);

#endif
