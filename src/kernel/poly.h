/* poly.h (internal): the parameters of poly, and its features: monomials.
 *
 * (scale x.z + c)^degree is a sum over monomials of the features (and of the constant 1, if c > 0),
 * so a linear combination of kernels with fixed objects is one polynomial, with one weight per
 * monomial.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_POLY_H
#define MCR_KERNEL_POLY_H

#include "kernel/explicit.h"

typedef struct mcr_poly_params {
    int64_t degree;
    double c, scale;
} mcr_poly_params;

typedef struct mcr_monomials {
    mcr_poly_params of;
    int64_t features;
    int64_t count; /* number of weights */
} mcr_monomials;

/* Whether the kernel is poly with at most `most` monomials of this many features. */
bool mcr_monomials_of(mcr_monomials *out, const mcr_kernel *kernel, int64_t features, int64_t most);
/* Whether the degree is low enough for mcr_monomials_of. */
bool mcr_monomials_are_few(const mcr_kernel *poly);
/* The number of nonzero monomials of this many nonzero features. */
double mcr_monomials_work(const mcr_monomials *m, double nonzeros);
/* weight += coef K(x, .) for object i of a field of vectors. */
void mcr_monomials_add(const mcr_monomials *m, double *weight, double coef, const mcr_field *f,
                       int64_t i);
/* The polynomial's value at object i; features without weights are ignored. */
double mcr_monomials_value(const mcr_monomials *m, const double *weight, const mcr_field *f,
                           int64_t i);

/* `features` of poly: each monomial times the square root of its multinomial coefficient. */
mcr_status mcr_monomials_features(const mcr_bound *bound, mcr_features *out);

#endif
