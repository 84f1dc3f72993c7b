/* built_in.h (internal): the built-in kernel types, one for each line of kernels.def. In a separate
 * header, so that a new kernel recompiles only the files that name types.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_BUILT_IN_H
#define MCR_KERNEL_BUILT_IN_H

#include "kernel/kernel.h"

#define KERNEL(name) extern const mcr_kernel_type mcr_kernel_##name;
#include "kernel/kernels.def"
#undef KERNEL

#endif
