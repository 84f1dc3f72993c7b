/* spectrum.c: substrings of length p in common (Leslie, Eskin and Noble, 2002).
 *
 * presence: the number of different substrings of length p that both strings contain; count: the
 * inner product of their counts. Strings shorter than p have no substrings: K = 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/explicit.h"
#include "kernel/substrings.h"
#include "kernel/vectors.h"

typedef struct spectrum_params {
    int64_t p;
    int mode;
} spectrum_params;

static const mcr_param params[] = {
    MCR_RANGE_PARAM(spectrum_params, p, MCR_INT, "3", 1, 1000000,
                    "length of the substrings, in bytes"),
    MCR_MODE_PARAM(spectrum_params),
    {.name = NULL},
};

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const spectrum_params *p = mcr_bound_params(bound);
    return mcr_substrings_bind(bound, binding, p->p, p->p, p->mode == 0);
}

MCR_ALWAYS_PSD(definite, "an inner product of substring counts")

const mcr_kernel_type mcr_kernel_spectrum = {
    .name = "spectrum",
    .summary = "substrings of length p that two strings have in common",
    .kinds = MCR_STRINGS,
    .params = params,
    .params_size = sizeof(spectrum_params),
    .definite = definite,
    .bind = bind,
    .features = mcr_features_listed,
};
