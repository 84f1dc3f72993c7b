/* cosine.c: x.z / (|x| |z|), the cosine of the angle between the vectors. For a zero vector all
 * values are 0, including that with itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/explicit.h"
#include "kernel/vectors.h"

#include <math.h>

/* sqrt(xx zz) is exactly xx for equal vectors, which then have the value 1. If that product
 * overflows or underflows, the roots are multiplied. */
static double divided(double dot, double xx, double zz)
{
    double square = xx * zz;
    double length = square > 1e-290 && square < 1e290 ? sqrt(square) : sqrt(xx) * sqrt(zz);
    double k = length > 0 ? dot / length : 0;
    return k > 1 ? 1 : k < -1 ? -1 : k;
}

static void map(const mcr_fused *f, const mcr_vmath *math, void *k, int64_t count, double xx,
                const double *zz)
{
    (void)f;
    for (int64_t j = 0; j < count; j++) {
        if (math->bytes == sizeof(double))
            ((double *)k)[j] = divided(((double *)k)[j], xx, zz[j]);
        else
            ((float *)k)[j] = (float)divided((double)((float *)k)[j], xx, zz[j]);
    }
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    mcr_fused f = {.op = MCR_TILE_DOT, .map = map};
    mcr_status s = mcr_vectors_join(&f.v, bound, binding, MCR_NEEDS_DOT, NULL, 0);
    return s ? s : mcr_vectors_offer(bound, &f);
}

static mcr_status features(const mcr_bound *bound, mcr_features *out)
{
    mcr_status s = mcr_features_vectors(bound, out);
    for (int side = 0; side < mcr_features_sides(bound) && !s; side++)
        s = mcr_features_normalize(out, side);
    return s;
}

MCR_ALWAYS_PSD(definite, "an inner product of vectors of length 1 or 0")

const mcr_kernel_type mcr_kernel_cosine = {
    .name = "cosine",
    .summary = "x.z / (|x||z|), the cosine of the angle; 0 where a vector is zero",
    .kinds = MCR_DENSE | MCR_SPARSE,
    .definite = definite,
    .bind = bind,
    .features = features,
};
