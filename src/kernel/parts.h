/* parts.h (internal): the parameters of single kernels, for code that exports them in another form.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_PARTS_H
#define MCR_KERNEL_PARTS_H

#include "kernel/kernel.h"
#include "kernel/mismatches.h"

/* A numeric parameter of a node; a list of one number counts as that number. NAN: there is none. */
double mcr_kernel_number(const mcr_kernel *kernel, const char *name);
/* A parameter that is a list of numbers; NULL: there is none with this name. Borrowed. */
const mcr_reals *mcr_kernel_list(const mcr_kernel *kernel, const char *name);
/* A choice: its index among the choices. A text: borrowed. */
int mcr_kernel_choice(const mcr_kernel *kernel, const char *name);
const char *mcr_kernel_word(const mcr_kernel *kernel, const char *name);

/* periodic: the feature x as a point on a circle, minus the point for 0. */
void mcr_periodic_circle(double to[2], double x, double period);
/* mahalanobis with a matrix: Q = L L'. *l is n x rank (rows n apart); the caller frees it. *n = 0:
 * Q is diagonal, and *l is NULL. */
mcr_status mcr_mahalanobis_factor(double **l, int64_t *n, int64_t *rank, const mcr_kernel *kernel);
/* mismatch and gkm as sums over pairs of words. */
void mcr_mismatch_pairs(mcr_mismatches *what, const mcr_kernel *kernel);
void mcr_gkm_pairs(mcr_mismatches *what, const mcr_kernel *kernel);

#endif
