/* classes.h: the classes of a problem, in LIBSVM's order.
 *
 * That is the order in which labels first appear; of the two labels -1 and 1, 1 comes first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPAT_CLASSES_H
#define COMPAT_CLASSES_H

#include <stdbool.h>

typedef struct compat_classes {
    int count;
    int *label;  /* of each class */
    int *of;     /* the class of each object */
    int *first;  /* where each class begins in member; count + 1 */
    int *member; /* numbers of the objects, class by class, in their order */
} compat_classes;

/* row: which objects of y; NULL: the first n. Members are places in row. false: out of memory. */
bool compat_classes_open(compat_classes *c, const double *y, const int *row, int n);
void compat_classes_close(compat_classes *c);
/* The number of a class among Mercer's. Of two classes the first is Mercer's second, which positive
 * values speak for. Of more, positive values speak for the lower class of a pair. */
int compat_classes_number(const compat_classes *c, int number);
/* Whether nu is feasible for every pair, and the largest that is. */
bool compat_classes_allow(const compat_classes *c, double nu);
double compat_classes_most_nu(const compat_classes *c);

#endif
