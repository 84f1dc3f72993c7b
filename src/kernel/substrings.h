/* substrings.h (internal): what spectrum and blended share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_SUBSTRINGS_H
#define MCR_KERNEL_SUBSTRINGS_H

#include "kernel/kernel.h"

/* A leaf's bind: K is the inner product of how often each substring of shortest .. longest bytes
 * occurs, or, with presence, of whether it does. */
mcr_status mcr_substrings_bind(mcr_bound *bound, mcr_binding *binding, int64_t shortest,
                               int64_t longest, bool presence);

#endif
