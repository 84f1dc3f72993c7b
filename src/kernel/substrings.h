/* substrings.h (internal): shared code of spectrum and blended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_SUBSTRINGS_H
#define MCR_KERNEL_SUBSTRINGS_H

#include "kernel/kernel.h"

/* Bind of a leaf: K is the inner product of the counts of all substrings of shortest .. longest
 * bytes or, with presence, of 0/1 indicators. */
mcr_status mcr_substrings_bind(mcr_bound *bound, mcr_binding *binding, int64_t shortest,
                               int64_t longest, bool presence);

#endif
