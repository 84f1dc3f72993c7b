/* rows.h: a selection of objects of a data set, or of rows or columns of a kernel matrix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_ROWS_H
#define MERCER_ROWS_H

#include <stdint.h>

/* index NULL: first .. first+count-1; else index[0 .. count-1], borrowed. */
typedef struct mcr_rows {
    const int64_t *index;
    int64_t first, count;
} mcr_rows;

#endif
