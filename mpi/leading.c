/* leading.c: leading eigenvectors by SLEPc's EPS.
 *
 * The matrix is a shell matrix, as in solvers.c: D'D of the centred features, whose products are
 * summed over the ranks. Its order is the number of landmarks; every rank has all of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <slepceps.h>
#include <string.h>

#include "petsc.h"
#include "ranks.h"
#include "solve/leading.h"

typedef struct job {
    const mcr_leading *p;
    mcr_status status;
    int64_t products;
    double largest; /* value so far */
} job;

static PetscErrorCode multiply(Mat a, Vec x, Vec y)
{
    job *j = NULL;
    const double *v;
    double *av;
    TRY(MatShellGetContext(a, &j));
    TRY(VecGetArrayRead(x, &v));
    TRY(VecGetArray(y, &av));
    j->status = j->p->multiply(j->p->arg, 1, v, av);
    j->products++;
    TRY(VecRestoreArray(y, &av));
    TRY(VecRestoreArrayRead(x, &v));
    return j->status ? PETSC_ERR_USER : 0;
}

/* As in the certificate: relative to the largest eigenvalue. */
static PetscErrorCode test(EPS eps, PetscScalar value, PetscScalar none, PetscReal residual,
                           PetscReal *error, void *arg)
{
    job *j = arg;
    (void)eps;
    (void)none;
    j->largest = fmax(j->largest, fabs(value));
    *error = j->largest > 0 ? residual / j->largest : residual;
    return 0;
}

/* Tighter than requested: the coordinates are compared with those of one process. */
static PetscErrorCode set_up(EPS eps, Mat a, job *j)
{
    const mcr_leading *p = j->p;
    const double tight = 1e-14, share = 1e-4;
    double tolerance = share * p->tolerance;
    TRY(EPSSetOperators(eps, a, NULL));
    TRY(EPSSetProblemType(eps, EPS_HEP));
    TRY(EPSSetType(eps, EPSKRYLOVSCHUR));
    TRY(EPSSetWhichEigenpairs(eps, EPS_LARGEST_REAL));
    TRY(EPSSetDimensions(eps, (PetscInt)p->count, PETSC_DEFAULT, PETSC_DEFAULT));
    TRY(EPSSetConvergenceTestFunction(eps, test, j, NULL));
    TRY(EPSSetTolerances(eps, tolerance > tight ? tolerance : tight,
                         p->most_steps ? (PetscInt)p->most_steps : PETSC_DEFAULT));
    return EPSSetFromOptions(eps);
}

static PetscErrorCode take(EPS eps, Vec at, int64_t c, const mcr_leading *p, double *value,
                           double *vector)
{
    const double *x;
    TRY(EPSGetEigenpair(eps, (PetscInt)c, &value[c], NULL, at, NULL));
    TRY(VecGetArrayRead(at, &x));
    memcpy(vector + c * p->n, x, sizeof *x * (size_t)p->n);
    return VecRestoreArrayRead(at, &x);
}

static PetscErrorCode run_eps(job *j, double *value, double *vector, PetscInt *found)
{
    PetscInt n = (PetscInt)j->p->n;
    EPS eps;
    Mat a;
    Vec at;
    TRY(MatCreateShell(PETSC_COMM_SELF, n, n, n, n, j, &a));
    TRY(MatShellSetOperation(a, MATOP_MULT, (void (*)(void))multiply));
    TRY(MatCreateVecs(a, &at, NULL));
    TRY(EPSCreate(PETSC_COMM_SELF, &eps));
    PetscErrorCode code = set_up(eps, a, j);
    if (!code)
        code = EPSSolve(eps);
    if (!code)
        code = EPSGetConverged(eps, found);
    for (int64_t c = 0; c < j->p->count && c < *found && !code; c++)
        code = take(eps, at, c, j->p, value, vector);
    TRY(EPSDestroy(&eps));
    TRY(VecDestroy(&at));
    TRY(MatDestroy(&a));
    return code;
}

mcr_status ranks_leading(mcr_team *team, mcr *ctx, const mcr_leading *p, double *value,
                         double *vector, mcr_leading_result *result)
{
    (void)team;
    job j = {.p = p};
    PetscInt found = 0;
    PetscErrorCode code = SlepcInitialize(NULL, NULL, NULL, NULL);
    if (!code)
        code = run_eps(&j, value, vector, &found);
    result->steps = j.products;
    result->stop = found < p->count ? MCR_STOP_STEPS : MCR_STOP_OPTIMAL;
    if (j.status)
        return j.status;
    return code || found < p->count
               ? mcr_fail(ctx, MCR_NUMERIC,
                          "SLEPc: %lld of %lld eigenvectors were found (error %d)",
                          (long long)found, (long long)p->count, (int)code)
               : MCR_OK;
}
