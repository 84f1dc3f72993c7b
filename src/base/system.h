/* system.h (internal to base): what the machine offers this process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_SYSTEM_H
#define MCR_BASE_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

/* Cores this process may use: its affinity mask, cut down to the quota of its container; from 1 to
 * 256. */
int mcr_system_cores(void);
/* Bytes that can be had without swapping, within the container's limit; at least 64 MiB. */
size_t mcr_system_memory(void);
/* Address space that a limit of the process leaves; SIZE_MAX: there is no limit. */
size_t mcr_system_address_space(void);
/* Two numbers that nobody can foresee. */
void mcr_system_draw(uint64_t number[2]);
/* The words for an errno value, in `buffer` or static. */
const char *mcr_system_error(int code, char *buffer, size_t size);

#endif
