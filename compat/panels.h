/* panels.h: the support vectors of a model from a file, packed for prediction.
 *
 * LIBSVM's interface predicts one object at a time, from lists of nodes. The same numbers feature
 * by feature, for several support vectors at once, are what vector instructions can use.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPAT_PANELS_H
#define COMPAT_PANELS_H

#include <stddef.h>

#include "svm.h"

typedef struct compat_panels compat_panels;

/* Appends panels to the block of nodes of a model that has just been read, whose nodes take `bytes`
 * and lie in order: whoever frees SV[0] frees both. A model without them (indices that do not
 * rise or are far apart, no memory) predicts all the same. */
void compat_panels_add(struct svm_model *m, size_t bytes);
/* Those of a model, as long as its list of support vectors is the one that was read; NULL: none.
 * Nodes must not be changed in place. */
const compat_panels *compat_panels_of(const struct svm_model *m);
void compat_panels_forget(struct svm_model *m); /* before SV[0] is freed */

/* One object against the panels. */
typedef struct compat_packed {
    const compat_panels *panels;
    int *column;   /* of each entry */
    double *value; /* NULL: the object is not packed, and its values come from its nodes */
    int count;
    double square, outside; /* |x|^2; the part of it that no support vector has */
} compat_packed;
/* panels: NULL allowed. */
void compat_packed_open(compat_packed *x, const compat_panels *panels, const struct svm_node *node,
                        int kernel);
void compat_packed_close(compat_packed *x);
/* |x - z|^2, or x.z for other kernels than rbf, of all support vectors. A distance that
 * cancellation has left too little of is negative. */
void compat_packed_values(const compat_packed *x, int kernel, double *value);

#endif
