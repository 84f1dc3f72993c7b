/* fortran.h (internal): the Fortran routines of BLAS and LAPACK, for the files of this folder.
 *
 * Their library is loaded on first use: most of Mercer does not need it, and loading OpenBLAS takes
 * longer than training a small SVM.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_FORTRAN_H
#define MCR_LINALG_FORTRAN_H

#include <stddef.h>

#include <mercer/context.h>

/* The Fortran calling convention: all arguments by address, the lengths of strings at the end. */
typedef struct mcr_fortran {
    void (*dgemm)(const char *, const char *, const int *, const int *, const int *, const double *,
                  const double *, const int *, const double *, const int *, const double *,
                  double *, const int *, size_t, size_t);
    void (*dsyrk)(const char *, const char *, const int *, const int *, const double *,
                  const double *, const int *, const double *, double *, const int *, size_t,
                  size_t);
    void (*dgemv)(const char *, const int *, const int *, const double *, const double *,
                  const int *, const double *, const int *, const double *, double *, const int *,
                  size_t);
    void (*dtrsm)(const char *, const char *, const char *, const char *, const int *, const int *,
                  const double *, const double *, const int *, double *, const int *, size_t,
                  size_t, size_t, size_t);
    void (*dtrsv)(const char *, const char *, const char *, const int *, const double *,
                  const int *, double *, const int *, size_t, size_t, size_t);
    void (*dpotrf)(const char *, const int *, double *, const int *, int *, size_t);
    void (*dsyevd)(const char *, const char *, const int *, double *, const int *, double *,
                   double *, const int *, int *, const int *, int *, size_t, size_t);
    void (*dsyevr)(const char *, const char *, const char *, const int *, double *, const int *,
                   const double *, const double *, const int *, const int *, const double *, int *,
                   double *, double *, const int *, int *, double *, const int *, int *,
                   const int *, int *, size_t, size_t, size_t);
    void (*sgemm)(const char *, const char *, const int *, const int *, const int *, const float *,
                  const float *, const int *, const float *, const int *, const float *, float *,
                  const int *, size_t, size_t);
    void (*ssyrk)(const char *, const char *, const int *, const int *, const float *,
                  const float *, const int *, const float *, float *, const int *, size_t, size_t);
    void (*strsm)(const char *, const char *, const char *, const char *, const int *, const int *,
                  const float *, const float *, const int *, float *, const int *, size_t, size_t,
                  size_t, size_t);
    void (*strsv)(const char *, const char *, const char *, const int *, const float *, const int *,
                  float *, const int *, size_t, size_t, size_t);
    void (*spotrf)(const char *, const int *, float *, const int *, int *, size_t);
    /* Present in OpenBLAS's OpenMP variant only; NULL elsewhere. */
    int (*get_threads)(void);
    void (*set_threads)(int threads);
} mcr_fortran;

/* The routines of the library that config.blas names, of OpenBLAS or the system's BLAS, or else
 * Mercer's own (own.h); loaded on the first call with a context. MCR_IO: the named library cannot
 * be used. */
mcr_status mcr_fortran_load(const mcr_fortran **out, mcr *ctx);

/* Sets how many threads OpenBLAS may use for calls of the calling thread (the setting is per
 * thread), and returns the previous number. No effect if threads <= 0 or with another library. */
int mcr_fortran_threads(const mcr_fortran *f, int threads);

/* The name of the processor whose code OpenBLAS uses, and its build configuration; NULL: another
 * library. */
const char *mcr_fortran_core(const char **config);

#endif
