/* petsc.h: calls of PETSc and SLEPc.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MPI_PETSC_H
#define MPI_PETSC_H

#include <petscsys.h>

/* Their error codes say little; the actual failure is in the status of the job. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        PetscErrorCode code_ = (call);                                                             \
        if (code_)                                                                                 \
            return code_;                                                                          \
    } while (0)

#endif
