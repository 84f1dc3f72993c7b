/* own.h (internal): Mercer's own implementation of the BLAS and LAPACK routines that it calls, for
 * machines where no BLAS can be loaded, such as a browser. Blocked, on one thread, several times
 * slower than OpenBLAS.
 *
 * The arguments are those of the Fortran routines, but only the cases that linalg/ uses are
 * implemented: the upper triangle, no unit diagonals.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_OWN_H
#define MCR_LINALG_OWN_H

#include "linalg/fortran.h"

void mcr_own_routines(mcr_fortran *f);

/* In own_eigen.c. */
void mcr_own_dsyevd(const char *job, const char *triangle, const int *n, double *a, const int *lda,
                    double *value, double *work, const int *words, int *whole,
                    const int *whole_words, int *info, size_t job_length, size_t triangle_length);
void mcr_own_dsyevr(const char *job, const char *range, const char *triangle, const int *n,
                    double *a, const int *lda, const double *low, const double *high,
                    const int *first, const int *last, const double *tolerance, int *found,
                    double *value, double *vector, const int *ldv, int *support, double *work,
                    const int *words, int *whole, const int *whole_words, int *info,
                    size_t job_length, size_t range_length, size_t triangle_length);

#endif
