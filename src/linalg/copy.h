/* copy.h (internal): copying tiles from the cache to memory, plain and transposed.
 *
 * Elements are float or double (real = 4 or 8 bytes); leading dimensions count elements. Outputs
 * bypass the caches where alignment allows, because they are not read again soon.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_COPY_H
#define MCR_LINALG_COPY_H

#include <stddef.h>
#include <stdint.h>

/* to[i][j] = from[i][j] */
void mcr_copy_out(void *to, int64_t to_ld, const void *from, int64_t from_ld, int64_t rows,
                  int64_t cols, size_t real);
/* to[j][i] = from[i][j] */
void mcr_copy_out_transposed(void *to, int64_t to_ld, const void *from, int64_t from_ld,
                             int64_t rows, int64_t cols, size_t real);
/* Copies the upper triangle of a square matrix to the lower one, in place. */
void mcr_mirror(void *a, int64_t n, int64_t ld, size_t real);

#endif
