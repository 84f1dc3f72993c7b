/* blocks.h (internal to data): a text file as large blocks of whole lines.
 *
 * For readers that parse in place and in parallel. Each block ends with '\n' (one is added if the
 * last line has none), so that a scanner needs no other sentinel. While one block is parsed, the
 * next can be read ahead by another thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_BLOCKS_H
#define MCR_DATA_BLOCKS_H

#include "data/data.h"

typedef struct mcr_buffer {
    char *bytes;
    size_t capacity; /* bytes + 1 for the added line end are allocated */
    size_t first, end;
} mcr_buffer;

typedef struct mcr_blocks {
    mcr *ctx;
    mcr_input *in;
    mcr_buffer now, ahead;
    bool has_ahead; /* `ahead` was read */
    bool ended;     /* the input has no bytes beyond those in the buffers */
    size_t want;    /* bytes to read next */
    double left;    /* bytes of the file after those in the buffers; below 0: its size is unknown */
    double begun;
    int64_t blocks;
    /* The block. A reader that cannot use its last bytes (an incomplete record) reduces count: they
     * are repeated at the start of the next block. */
    const char *bytes;
    size_t count;
    bool last; /* this is the last block */
} mcr_blocks;

void mcr_blocks_open(mcr_blocks *b, mcr *ctx, mcr_input *in);
void mcr_blocks_close(mcr_blocks *b);
/* The next block; count = 0 at the end. Reports progress; MCR_STOPPED if the user requests it. */
mcr_status mcr_blocks_next(mcr_blocks *b);
/* Reads ahead for the next call of mcr_blocks_next; does not change the current block. After a
 * failure the current block is still valid, but there is no next one. */
mcr_status mcr_blocks_read_ahead(mcr_blocks *b);

#endif
