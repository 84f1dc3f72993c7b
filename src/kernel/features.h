/* features.h (internal): kernels that are inner products of feature vectors computed in bind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_FEATURES_H
#define MCR_KERNEL_FEATURES_H

#include "kernel/kernel.h"

typedef struct mcr_feature {
    int32_t object; /* x objects first, then z objects */
    int32_t feature;
    double value;
} mcr_feature;

/* Ends a leaf's bind: the kernel is the inner product of the vectors with these values, in any
 * order, each (object, feature) at most once. */
mcr_status mcr_features_offer(mcr_bound *bound, mcr_binding *binding, const mcr_feature *list,
                              int64_t count, int64_t cols);

#endif
