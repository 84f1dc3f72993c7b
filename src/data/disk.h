/* disk.h (internal): dense values that stay in their file. A store has a disk in place of values;
 * objects are loaded before they are used (mcr_data_load). Files with one field only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_DISK_H
#define MCR_DATA_DISK_H

#include "data/data.h"

typedef struct mcr_disk mcr_disk;

/* The values from the present place of the input on, row by row, as float or double of this
 * machine; *out is NULL if the input is not a plain file. Remembers size and time of the file: if
 * they change, reading fails. */
mcr_status mcr_disk_open(mcr_disk **out, mcr *ctx, mcr_input *in, int64_t cols, bool single);
void mcr_disk_close(void *disk); /* as `release` of a store; NULL allowed */

#endif
