/* solvers.c: conjugate gradients by PETSc's KSP.
 *
 * The operator is a shell matrix: the library's product on this rank's rows, summed over the ranks
 * by one MPI_Allreduce. Iterates have one number per landmark, thousands compared with millions of
 * rows: every rank has all of them, and inner products need no messages. So the solvers run on
 * PETSC_COMM_SELF, identically in all ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <petscksp.h>
#include <string.h>

#include "petsc.h"
#include "ranks.h"
#include "solve/conjugate.h"

typedef struct job {
    const mcr_conjugate *c;
    mcr_status status;
    double *last, *direction; /* the previous iterate, and the direction that was multiplied */
    int64_t steps;
    double norm, enough;
} job;

static PetscErrorCode multiply(Mat a, Vec x, Vec y)
{
    job *j = NULL;
    const double *v;
    double *av;
    TRY(MatShellGetContext(a, &j));
    TRY(VecGetArrayRead(x, &v));
    TRY(VecGetArray(y, &av));
    memcpy(j->direction, v, sizeof *v * (size_t)j->c->size);
    j->status = j->c->apply(j->c->self, v, av);
    TRY(VecRestoreArray(y, &av));
    TRY(VecRestoreArrayRead(x, &v));
    return j->status ? PETSC_ERR_USER : 0;
}

static PetscErrorCode precondition(PC pc, Vec r, Vec z)
{
    job *j = NULL;
    const double *from;
    double *to;
    TRY(PCShellGetContext(pc, &j));
    TRY(VecGetArrayRead(r, &from));
    TRY(VecGetArray(z, &to));
    j->status = j->c->precondition(j->c->self, from, to);
    TRY(VecRestoreArray(z, &to));
    TRY(VecRestoreArrayRead(r, &from));
    return j->status ? PETSC_ERR_USER : 0;
}

/* The length of the last step along its direction. */
static PetscErrorCode find_length(KSP ksp, job *j, double *length)
{
    Vec at;
    const double *x;
    double along = 0, square = 0;
    TRY(KSPBuildSolution(ksp, NULL, &at));
    TRY(VecGetArrayRead(at, &x));
    for (int64_t k = 0; k < j->c->size; k++) {
        along += (x[k] - j->last[k]) * j->direction[k];
        square += j->direction[k] * j->direction[k];
    }
    memcpy(j->last, x, sizeof *x * (size_t)j->c->size);
    TRY(VecRestoreArrayRead(at, &x));
    *length = square > 0 ? along / square : 0;
    return 0;
}

static PetscErrorCode test(KSP ksp, PetscInt step, PetscReal norm, KSPConvergedReason *reason,
                           void *arg)
{
    job *j = arg;
    const mcr_conjugate *c = j->c;
    double length;
    bool over = false;
    j->norm = norm;
    if (step > j->steps) {
        j->steps = step;
        TRY(find_length(ksp, j, &length));
        if (c->stepped)
            c->stepped(c->self, length);
        if (c->over)
            j->status = c->over(c->self, norm, &over);
    }
    *reason = norm <= j->enough         ? KSP_CONVERGED_ATOL
              : over || step >= c->most ? KSP_CONVERGED_ITS
                                        : KSP_CONVERGED_ITERATING;
    return j->status ? PETSC_ERR_USER : 0;
}

static PetscErrorCode set_up(KSP ksp, Mat a, job *j)
{
    PC pc;
    TRY(KSPSetOperators(ksp, a, a));
    TRY(KSPSetType(ksp, KSPCG));
    TRY(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    TRY(KSPSetConvergenceTest(ksp, test, j, NULL));
    TRY(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT,
                         (PetscInt)j->c->most + 1));
    TRY(KSPGetPC(ksp, &pc));
    TRY(PCSetType(pc, PCSHELL));
    TRY(PCShellSetContext(pc, j));
    TRY(PCShellSetApply(pc, precondition));
    return KSPSetFromOptions(ksp);
}

static PetscErrorCode run_ksp(job *j, const double *b, double *x)
{
    PetscInt n = (PetscInt)j->c->size;
    KSP ksp;
    Mat a;
    Vec right, at;
    TRY(MatCreateShell(PETSC_COMM_SELF, n, n, n, n, j, &a));
    TRY(MatShellSetOperation(a, MATOP_MULT, (void (*)(void))multiply));
    TRY(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, b, &right));
    TRY(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, x, &at));
    TRY(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscErrorCode code = set_up(ksp, a, j);
    if (!code)
        code = KSPSolve(ksp, right, at);
    TRY(KSPDestroy(&ksp));
    TRY(VecDestroy(&at));
    TRY(VecDestroy(&right));
    TRY(MatDestroy(&a));
    return code;
}

mcr_status ranks_conjugate(mcr_team *team, const mcr_conjugate *c, const double *b, double *x,
                           double *norm, int64_t *steps)
{
    (void)team;
    job j = {.c = c,
             .last = mcr_alloc_zero(c->ctx, (size_t)c->size, 2 * sizeof *j.last),
             .enough = c->enough};
    double square = 0;
    if (!j.last)
        return MCR_NO_MEMORY;
    for (int64_t k = 0; k < c->size && c->relative; k++)
        square += b[k] * b[k];
    if (c->relative)
        j.enough *= sqrt(square);
    j.direction = j.last + c->size;
    memset(x, 0, sizeof *x * (size_t)c->size);
    PetscErrorCode code = run_ksp(&j, b, x);
    *norm = j.norm;
    *steps += j.steps;
    mcr_free(c->ctx, j.last);
    if (code && !j.status)
        return mcr_fail(c->ctx, MCR_NUMERIC, "PETSc: conjugate gradients failed with error %d",
                        (int)code);
    return j.status;
}
