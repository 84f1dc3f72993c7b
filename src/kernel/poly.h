/* poly.h (internal): the parameters of poly, and its features: monomials.
 *
 * (scale x.z + c)^degree is a sum over monomials of the features (and of the constant 1, if c > 0),
 * so a sum of kernels with known objects is one polynomial: one weight a monomial.
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
    int64_t count; /* of weights */
} mcr_monomials;

/* Whether the kernel is poly with at most `most` monomials of so many features. */
bool mcr_monomials_of(mcr_monomials *out, const mcr_kernel *kernel, int64_t features, int64_t most);
/* Whether the degree is low enough for mcr_monomials_of. */
bool mcr_monomials_are_few(const mcr_kernel *poly);
/* Monomials that are not zero where so many features are not. */
double mcr_monomials_work(const mcr_monomials *m, double nonzeros);
/* weight += coef K(x, .) for object i of a field of vectors. */
void mcr_monomials_add(const mcr_monomials *m, double *weight, double coef, const mcr_field *f,
                       int64_t i);
/* The polynomial's value at object i; features beyond those of the weights have none. */
double mcr_monomials_value(const mcr_monomials *m, const double *weight, const mcr_field *f,
                           int64_t i);

/* `features` of poly: a monomial times the root of how often it stands in the power. */
mcr_status mcr_monomials_features(const mcr_bound *bound, mcr_features *out);

#endif
