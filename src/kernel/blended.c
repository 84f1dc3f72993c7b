/* blended.c: substrings of length 1 to p in common: the sum of spectrum(1) to spectrum(p).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/explicit.h"
#include "kernel/substrings.h"
#include "kernel/vectors.h"

typedef struct blended_params {
    int64_t p;
    int mode;
} blended_params;

static const mcr_param params[] = {
    MCR_RANGE_PARAM(blended_params, p, MCR_INT, "3", 1, 1000,
                    "length of the longest substrings, in bytes"),
    MCR_MODE_PARAM(blended_params),
    {.name = NULL},
};

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const blended_params *p = mcr_bound_params(bound);
    return mcr_substrings_bind(bound, binding, 1, p->p, p->mode == 0);
}

MCR_ALWAYS_PSD(definite, "an inner product of substring counts")

const mcr_kernel_type mcr_kernel_blended = {
    .name = "blended",
    .summary = "substrings of length 1 to p that two strings have in common",
    .kinds = MCR_STRINGS,
    .params = params,
    .params_size = sizeof(blended_params),
    .definite = definite,
    .bind = bind,
    .features = mcr_features_listed,
};
