/* preimage.h (internal): shared code of the methods for pre-images.
 *
 * The projection of Phi(x) onto the mean and the components is P = sum_i g_i Phi(x_i). A pre-image
 * is a vector z whose image is close to it:
 *
 *     |Phi(z) - P|^2 = K(z,z) - 2 sum_i g_i K(x_i,z) + |P|^2
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_PREIMAGE_H
#define MCR_MODEL_PREIMAGE_H

#include "model/model.h"

enum { MCR_IMAGES = 256 }; /* objects at a time */

typedef struct mcr_images {
    mcr *ctx;
    const mcr_model *model;
    const char *field;
    int64_t n, cols, outputs; /* basis objects, features, components */
    bool gaussian;
    int profile;        /* mcr_profile_of the kernel */
    double *basis;      /* n x cols: the basis as dense vectors */
    double *diagonal;   /* n: K(x_i,x_i) */
    const double *mean; /* n: the mean's coefficients */
    mcr_gram *gram;     /* of the basis */
    int64_t count;      /* objects in the block */
    double *given;      /* MCR_IMAGES x cols: as vectors; then their pre-images */
    double *f;          /* MCR_IMAGES x outputs */
    double *g, *k;      /* MCR_IMAGES x n each */
    double *kg;         /* MCR_IMAGES x n: P.Phi(x_i) */
    double *square;     /* MCR_IMAGES: |P|^2 */
    double *distance;   /* MCR_IMAGES: distances reached */
    size_t taken;       /* bytes of the budget */
} mcr_images;

/* k = K(z, basis) for `count` vectors z; own (may be NULL): K(z,z). */
mcr_status mcr_images_values(const mcr_images *p, const double *z, int64_t count, double *k,
                             double *own);
/* A vector from the squared distances of the projection of object b, by least squares: in input
 * space, if K is a function of the distance (preimage_near.c); or in feature space, scaled by the
 * ratio of the distances among the nearest basis objects in both spaces (Kwok and Tsang, 2004). */
mcr_status mcr_images_near(const mcr_images *p, int64_t b, double *z);
/* Whether K is an increasing function of the inner product: linear, odd polynomials and their sums;
 * then the vector follows from the inner products of the projection with the images of the axes, at
 * `unit`. */
bool mcr_images_rises(const mcr_kernel *kernel);
mcr_status mcr_images_inner(const mcr_images *p, int64_t b, double unit, double *z);
/* The best pre-image for each object of the block: `given` holds a first guess for each, which may
 * be poor. Basis objects are tried as well, and the best candidate is improved by descent on the
 * distance; so the result is never worse than a basis object (preimage_search.c). */
mcr_status mcr_images_search(mcr_images *p);

#endif
