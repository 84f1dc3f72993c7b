/* directions.h (internal): directions in feature space, for learners whose results are coordinates.
 *
 * With A the centred Gram (gram/centred.h), a direction is v = sum_i a_i sqrt(p_i) (Phi(x_i) - m):
 * then v'v = a'Aa, and the variance along it is a'A^2 a.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_DIRECTIONS_H
#define MCR_LEARN_DIRECTIONS_H

#include "gram/centred.h"
#include "gram/stored.h"
#include "learn/form.h"

typedef struct mcr_directions {
    mcr *ctx;
    const char *learner;
    const mcr_kernel *kernel;
    int64_t n;
    mcr_gram *own;       /* of kernel values; NULL: from features */
    mcr_gram *gram;      /* A */
    const mcr_centre *c; /* from mcr_directions_centre on */
} mcr_directions;

/* A of the objects to learn from: of the features of the form, if it has any (NULL: not), else of
 * kernel values; `half`: these are computed now, for learners that only multiply by A. Fails, with
 * the learner's name in the message, if there are no objects or all weights are 0. Must be closed
 * even then. */
mcr_status mcr_directions_open(mcr_directions *directions, const char *learner,
                               const mcr_learning *in, const mcr_form *form, bool half);
void mcr_directions_close(mcr_directions *directions);
/* The centre and the total variance; fails if that is 0. */
mcr_status mcr_directions_centre(mcr_directions *directions);

/* A bound on the norm of the rounding error of A; after mcr_directions_centre. */
mcr_status mcr_directions_error(const mcr_directions *directions, const mcr_learning *in,
                                double *error);

/* a_i of a direction becomes the coefficients c_i of v = sum_i c_i Phi(x_i), in place; gives the
 * offset of its coordinate v.(Phi(x) - m) = offset + sum_i c_i K(x_i, x). The component along the
 * mean that rounding leaves is removed. */
double mcr_directions_expand(const mcr_directions *directions, double *a);

/* A fitted with one output for each of `outputs` directions: rows of n coefficients; or, of an
 * approximate map, their weights w (p x outputs), with the offsets of w.(phi(x) - m). */
mcr_status mcr_directions_fitted(mcr_fitted **out, const mcr_directions *directions,
                                 int64_t outputs, const double *coef, const double *offset);
mcr_status mcr_directions_mapped(mcr_fitted **out, const mcr_directions *directions,
                                 const mcr_form *form, const double *w, int64_t outputs);

#endif
