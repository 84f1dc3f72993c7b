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

/* OpenBLAS sometimes takes old, slow code on a new processor. Then this is what the variable
 * OPENBLAS_CORETYPE should hold when a program starts; NULL: all is well. A
 * program that factorises large matrices may set it and execute itself again. Any thread. */
MCR_API const char *mcr_blas_core_hint(void);

#ifdef __cplusplus
}
#endif
#endif
