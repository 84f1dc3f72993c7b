/* blas.h: the library of BLAS and LAPACK routines that Mercer loads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_BLAS_H
#define MERCER_BLAS_H

#include <mercer/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* OpenBLAS sometimes chooses old, slow code on a new processor. If it uses older code than the
 * processor allows, also AVX2 instead of AVX-512, this returns the value that the environment
 * variable OPENBLAS_CORETYPE should have when a program starts; NULL: nothing to do. A program that
 * factorises large matrices may set the variable and execute itself again. May be called from any
 * thread. */
MCR_API const char *mcr_blas_core_hint(void);

#ifdef __cplusplus
}
#endif
#endif
