/* kernel.h: kernel values of vectors that are lists of nodes.
 *
 * Values are those of LIBSVM's formulas, in double, also where indices do not rise: the lists are
 * then merged as LIBSVM merges them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPAT_KERNEL_H
#define COMPAT_KERNEL_H

#include <stddef.h>

#include "panels.h"
#include "svm.h"

/* K(x, z) of a kernel that is not precomputed. NULL is the zero vector. */
double compat_kernel_value(const struct svm_parameter *p, const struct svm_node *x,
                           const struct svm_node *z);
/* The kernel's value where it does not depend on the objects; NAN: it does. */
double compat_kernel_constant(const struct svm_parameter *p);

/* One object against many: its values are spread out by index, so that each product is one pass
 * over the other object alone. */
typedef struct compat_probe {
    const struct svm_parameter *param;
    const struct svm_node *x;
    double *spread;      /* NULL: lists are merged */
    unsigned low, width; /* of the spread form; precomputed: entries that are known to be there */
    double square;
    struct svm_node *const *others;
    int count;
    compat_packed packed; /* if the others are */
} compat_probe;
/* The others are the support vectors of the model, NULL among them being the zero vector. Without
 * memory for the spread form it does without. */
void compat_probe_open(compat_probe *probe, const struct svm_model *m, const struct svm_node *x);
/* K of the object against all of them. */
void compat_probe_values(compat_probe *probe, double *value);
void compat_probe_close(compat_probe *probe);

#endif
