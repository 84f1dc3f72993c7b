/* parts.h (internal): what single kernels are made of, for code that writes them in another form.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_PARTS_H
#define MCR_KERNEL_PARTS_H

#include "kernel/kernel.h"
#include "kernel/mismatches.h"

/* A parameter of a node as a number: a list of one number is that number. NAN: there is none. */
double mcr_kernel_number(const mcr_kernel *kernel, const char *name);
/* A parameter that is a list of numbers; NULL: there is none of that name. Borrowed. */
const mcr_reals *mcr_kernel_list(const mcr_kernel *kernel, const char *name);
/* A parameter that is a choice: its position among the choices. A text: borrowed. */
int mcr_kernel_choice(const mcr_kernel *kernel, const char *name);
const char *mcr_kernel_word(const mcr_kernel *kernel, const char *name);

/* periodic: the feature x as a point of a circle, minus the point of 0. */
void mcr_periodic_circle(double to[2], double x, double period);
/* mahalanobis with a matrix: Q = L L'. *l is n x rank (rows n apart) and the caller's to free. *n =
 * 0: Q is a diagonal, and *l is NULL. */
mcr_status mcr_mahalanobis_factor(double **l, int64_t *n, int64_t *rank, const mcr_kernel *kernel);
/* mismatch and gkm as sums over pairs of words. */
void mcr_mismatch_pairs(mcr_mismatches *what, const mcr_kernel *kernel);
void mcr_gkm_pairs(mcr_mismatches *what, const mcr_kernel *kernel);

#endif
