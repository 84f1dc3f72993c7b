/* cache.h (internal): text files larger than the memory, as a binary file beside them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_CACHE_H
#define MCR_DATA_CACHE_H

#include "data/data.h"

/* Whether a file of lines is too large for the memory: more bytes than a third of it. */
bool mcr_cache_suits(const mcr_read_options *options, mcr *ctx, const mcr_input *in,
                     const mcr_format *format);
/* Fills the builder from the cache of the file, which is written before if it is not there or not
 * that of this file and these options. *used: false where the data must be read into the memory:
 * they are not vectors of numbers with at most one target. */
mcr_status mcr_cache_read(mcr_builder *b, mcr *ctx, const char *path, const mcr_format *format,
                          const mcr_read_options *options, bool *used);

#endif
