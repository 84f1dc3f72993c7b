/* disk.h (internal): dense values that stay in their file. Such a store has a disk instead of
 * values; objects are loaded before they are used (mcr_data_load). Only for files with one field.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_DISK_H
#define MCR_DATA_DISK_H

#include "data/data.h"

typedef struct mcr_disk mcr_disk;

/* The values from the current position of the input on, row by row, as float or double in native
 * byte order; *out is NULL if the input is not a plain file. Remembers size and time of the file:
 * if they change, reading fails. */
mcr_status mcr_disk_open(mcr_disk **out, mcr *ctx, mcr_input *in, int64_t cols, bool single);
void mcr_disk_close(void *disk); /* usable as `release` of a store; NULL allowed */

#endif
