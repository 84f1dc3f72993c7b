/* fortran.h (internal): the routines of BLAS and LAPACK as they are, for blas.c and lapack.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_FORTRAN_H
#define MCR_LINALG_FORTRAN_H

#include <stddef.h>

/* The Fortran calling convention: everything by address, the lengths of strings at the end. */
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *,
            const double *, const int *, const double *, const int *, const double *, double *,
            const int *, size_t, size_t);
void dsyrk_(const char *, const char *, const int *, const int *, const double *, const double *,
            const int *, const double *, double *, const int *, size_t, size_t);
void dgemv_(const char *, const int *, const int *, const double *, const double *, const int *,
            const double *, const int *, const double *, double *, const int *, size_t);
void dsymv_(const char *, const int *, const double *, const double *, const int *, const double *,
            const int *, const double *, double *, const int *, size_t);
void dtrsm_(const char *, const char *, const char *, const char *, const int *, const int *,
            const double *, const double *, const int *, double *, const int *, size_t, size_t,
            size_t, size_t);
void dtrsv_(const char *, const char *, const char *, const int *, const double *, const int *,
            double *, const int *, size_t, size_t, size_t);
void dpotrf_(const char *, const int *, double *, const int *, int *, size_t);
void dpotri_(const char *, const int *, double *, const int *, int *, size_t);
void dsyevd_(const char *, const char *, const int *, double *, const int *, double *, double *,
             const int *, int *, const int *, int *, size_t, size_t);
void dsyevr_(const char *, const char *, const char *, const int *, double *, const int *,
             const double *, const double *, const int *, const int *, const double *, int *,
             double *, double *, const int *, int *, double *, const int *, int *, const int *,
             int *, size_t, size_t, size_t);

/* Present in OpenBLAS, and in its OpenMP variant, only. */
__attribute__((weak)) char *openblas_get_corename(void);
__attribute__((weak)) char *openblas_get_config(void);
__attribute__((weak)) int omp_get_max_threads(void);
__attribute__((weak)) void omp_set_num_threads(int threads);

/* How many threads OpenBLAS may use for calls of the calling thread, to whom the number belongs; what
 * it was before. 0 or less, or another library: nothing happens. */
static inline int mcr_fortran_threads(int threads)
{
    if (!omp_get_max_threads || !omp_set_num_threads || threads <= 0)
        return 0;
    int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    return before;
}

#endif
