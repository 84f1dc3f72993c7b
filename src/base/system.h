/* system.h (internal to base): the resources that the machine offers this process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_SYSTEM_H
#define MCR_BASE_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

/* Cores that this process may use: its affinity mask, reduced to the quota of its container; from 1
 * to 256. */
int mcr_system_cores(void);
/* Bytes available without swapping, within the container's limit; at least 64 MiB. */
size_t mcr_system_memory(void);
/* Address space left by the limit of the process; SIZE_MAX: no limit. */
size_t mcr_system_address_space(void);
/* Two unpredictable random numbers. */
void mcr_system_draw(uint64_t number[2]);
/* The text for an errno value, in `buffer` or static. */
const char *mcr_system_error(int code, char *buffer, size_t size);

#endif
