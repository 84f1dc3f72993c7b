/* platt.h: probabilities from decision values, by LIBSVM's methods.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPAT_PLATT_H
#define COMPAT_PLATT_H

#include <stdbool.h>
#include <stddef.h>

/* The a and b that maximise the likelihood of 1 / (1 + exp(a f + b)) for objects with y = 1 against
 * y = -1, with Platt's smoothed targets (Lin, Lin and Weng 2007). */
void compat_platt_fit(const double *f, const double *y, int n, double *a, double *b);

/* Probabilities of the classes from the decision values of all pairs; returns the most probable
 * class. Several pairs are coupled by the second method of Wu, Lin and Weng (2004). memory: as many
 * numbers as compat_couple_memory says. */
size_t compat_couple_memory(int classes);
int compat_couple(int classes, const double *value, const double *a, const double *b, double *proba,
                  double *memory);

/* One-class machines (Que and Lin 2022): ten marks that divide the training objects' decision
 * values by their density, five below 0 and five above; false: there are too few on one side. value
 * is sorted. */
enum { COMPAT_MARKS = 10 };
bool compat_density_fit(double *value, int n, double *marks);
/* The probability that an object is like those of training. */
double compat_density(const double *marks, double value);

/* The scale of a Laplace distribution of residuals without outliers (Lin and Weng 2004). */
double compat_laplace_fit(const double *residual, int n);

#endif
