/* arrays.h: loops over arrays of doubles that use the vector instructions of the machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPAT_ARRAYS_H
#define COMPAT_ARRAYS_H

/* a = exp(scale * a), to 2 units in the last place. */
void compat_exp(double *a, double scale, int n);
/* The same sum whatever calls it, in a fixed order. */
double compat_dot(const double *a, const double *b, int n);
/* A panel holds 32 vectors, column by column. Dot products of each with a vector of count entries
 * (column, value), and squared distances from one of count columns, plus a number. out: 32. */
void compat_panel_dots(const double *panel, const int *column, const double *value, int count,
                       double *out);
void compat_panel_distances(const double *panel, const double *value, int count, double plus,
                            double *out);

#endif
