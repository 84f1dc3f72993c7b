/* cache.h (internal): text files larger than memory, converted to a binary file next to them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_CACHE_H
#define MCR_DATA_CACHE_H

#include "data/data.h"

/* Whether a file of lines is too large for the memory: larger than a third of it. */
bool mcr_cache_suits(const mcr_read_options *options, mcr *ctx, const mcr_input *in,
                     const mcr_format *format);
/* Fills the builder from the cache of the file. The cache is written first if it does not exist or
 * does not match the file and the options. *used: false if the data must be read into memory,
 * because they are not numeric vectors with at most one target. */
mcr_status mcr_cache_read(mcr_builder *b, mcr *ctx, const char *path, const mcr_format *format,
                          const mcr_read_options *options, bool *used);

#endif
