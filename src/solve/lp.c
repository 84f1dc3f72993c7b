/* lp.c: linear programs, by CLP where it is installed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/lp.h"

#if defined(MCR_HAVE_CLP)

#include <coin/Clp_C_Interface.h>
#include <dlfcn.h>
#include <limits.h>

/* Largest violation of a bound, and of the sign of a slope. */
#define TOLERANCE 1e-9

/* The functions of CLP that are used. */
#define CLP_FUNCTIONS                                                                              \
    CLP(newModel)                                                                                  \
    CLP(deleteModel)                                                                               \
    CLP(resize)                                                                                    \
    CLP(addRows)                                                                                   \
    CLP(dual)                                                                                      \
    CLP(status)                                                                                    \
    CLP(scaling)                                                                                   \
    CLP(primalColumnSolution)                                                                      \
    CLP(dualRowSolution)                                                                           \
    CLP(setLogLevel)                                                                               \
    CLP(setMaximumSeconds)                                                                         \
    CLP(setPrimalTolerance)                                                                        \
    CLP(setDualTolerance)                                                                          \
    CLP(columnLower)                                                                               \
    CLP(columnUpper)                                                                               \
    CLP(objective)

struct mcr_lp {
    mcr *ctx;
    void *library;
#define CLP(name) __typeof__(Clp_##name) *name;
    CLP_FUNCTIONS
#undef CLP
    Clp_Simplex *model;
    int columns;
    int *every_column;
    size_t taken; /* of the memory budget */
};

static mcr_status load(mcr_lp *lp)
{
    lp->library = dlopen("libClp.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!lp->library)
        return mcr_fail(lp->ctx, MCR_IO,
                        "linear programs need CLP, which is not installed: install coinor-libclp1");
#define CLP(name)                                                                                  \
    *(void **)&lp->name = dlsym(lp->library, "Clp_" #name);                                        \
    if (!lp->name)                                                                                 \
        return mcr_fail(lp->ctx, MCR_IO, "this CLP has no Clp_" #name ": install a newer one");
    CLP_FUNCTIONS
#undef CLP
    return MCR_OK;
}

mcr_status mcr_lp_open(mcr_lp **out, mcr *ctx, int64_t columns, const double *cost,
                       const double *low, const double *high)
{
    *out = NULL;
    if (columns > INT_MAX / 2)
        return mcr_fail(ctx, MCR_BAD_DATA, "a linear program of %lld columns is too large",
                        (long long)columns);
    mcr_lp *lp = mcr_alloc_zero(ctx, 1, sizeof *lp);
    if (!lp)
        return MCR_NO_MEMORY;
    lp->ctx = ctx;
    lp->columns = (int)columns;
    mcr_status s = load(lp);
    if (!s && !(lp->every_column = mcr_alloc(ctx, (size_t)columns, sizeof *lp->every_column)))
        s = MCR_NO_MEMORY;
    if (!s && !(lp->model = lp->newModel()))
        s = mcr_fail(ctx, MCR_NO_MEMORY, "CLP has no memory");
    if (s) {
        mcr_lp_close(lp);
        return s;
    }
    lp->setLogLevel(lp->model, 0);
    /* CLP would scale by the geometric mean of a row's or column's entries. Kernel values go down
     * to 1e-300, which makes such factors absurd and its tolerances mean nothing. */
    lp->scaling(lp->model, 0);
    lp->setPrimalTolerance(lp->model, TOLERANCE);
    lp->setDualTolerance(lp->model, TOLERANCE);
    lp->resize(lp->model, 0, lp->columns);
    for (int i = 0; i < lp->columns; i++) {
        lp->every_column[i] = i;
        lp->columnLower(lp->model)[i] = low[i];
        lp->columnUpper(lp->model)[i] = high[i];
        lp->objective(lp->model)[i] = cost[i];
    }
    *out = lp;
    return MCR_OK;
}

void mcr_lp_close(mcr_lp *lp)
{
    if (!lp)
        return;
    if (lp->model)
        lp->deleteModel(lp->model);
    if (lp->library)
        dlclose(lp->library);
    mcr_budget_give(lp->ctx, lp->taken);
    mcr_free_all(lp->ctx, lp->every_column, lp);
}

mcr_status mcr_lp_add(mcr_lp *lp, double lower, double upper, const double *value)
{
    /* Values and indices, by columns and, for the dual simplex method, by rows. */
    size_t bytes = 2 * (size_t)lp->columns * (sizeof(double) + sizeof(int));
    mcr_status s = mcr_budget_take(lp->ctx, bytes, "a further row of a linear program");
    if (s)
        return s;
    lp->taken += bytes;
    CoinBigIndex start[2] = {0, (CoinBigIndex)lp->columns};
    lp->addRows(lp->model, 1, &lower, &upper, start, lp->every_column, value);
    return MCR_OK;
}

mcr_status mcr_lp_solve(mcr_lp *lp, double seconds, bool *ended, const double **x,
                        const double **dual)
{
    if (seconds > 0)
        lp->setMaximumSeconds(lp->model, seconds);
    lp->dual(lp->model, 0);
    int status = lp->status(lp->model);
    *ended = status == 0;
    if (status != 0 && status != 3)
        return mcr_fail(lp->ctx, MCR_NUMERIC,
                        "CLP could not solve the linear program (status %d): scale the data, or "
                        "use smaller parameters",
                        status);
    *x = lp->primalColumnSolution(lp->model);
    *dual = lp->dualRowSolution(lp->model);
    return MCR_OK;
}

#else

#pragma GCC diagnostic ignored "-Wunused-parameter" /* there are no programs */

mcr_status mcr_lp_open(mcr_lp **out, mcr *ctx, int64_t columns, const double *cost,
                       const double *low, const double *high)
{
    *out = NULL;
    return mcr_fail(ctx, MCR_IO,
                    "linear programs need CLP, and this version of Mercer was built without it: "
                    "install coinor-libclp-dev and build again");
}

void mcr_lp_close(mcr_lp *lp)
{
}

mcr_status mcr_lp_add(mcr_lp *lp, double lower, double upper, const double *value)
{
    return MCR_BAD_CALL;
}

mcr_status mcr_lp_solve(mcr_lp *lp, double seconds, bool *ended, const double **x,
                        const double **dual)
{
    return MCR_BAD_CALL;
}

#endif
