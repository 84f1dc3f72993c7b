/* lp.c: linear programs, by CLP where it is installed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/lp.h"

#if defined(MCR_HAVE_CLP)

#include <coin/Clp_C_Interface.h>
#include <dlfcn.h>
#include <float.h>
#include <limits.h>
#include <math.h>

/* The functions of CLP that are used. */
#define CLP_FUNCTIONS                                                                              \
    CLP(newModel)                                                                                  \
    CLP(deleteModel)                                                                               \
    CLP(resize)                                                                                    \
    CLP(addColumns)                                                                                \
    CLP(primal)                                                                                    \
    CLP(status)                                                                                    \
    CLP(scaling)                                                                                   \
    CLP(primalColumnSolution)                                                                      \
    CLP(dualRowSolution)                                                                           \
    CLP(setLogLevel)                                                                               \
    CLP(setMaximumSeconds)                                                                         \
    CLP(rowLower)                                                                                  \
    CLP(rowUpper)

struct mcr_lp {
    mcr *ctx;
    void *library;
#define CLP(name) __typeof__(Clp_##name) *name;
    CLP_FUNCTIONS
#undef CLP
    Clp_Simplex *model;
    int rows;
    int *every_row;
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

mcr_status mcr_lp_open(mcr_lp **out, mcr *ctx, int64_t rows, const double *lower)
{
    *out = NULL;
    if (rows > INT_MAX / 2)
        return mcr_fail(ctx, MCR_BAD_DATA, "a linear program of %lld rows is too large",
                        (long long)rows);
    mcr_lp *lp = mcr_alloc_zero(ctx, 1, sizeof *lp);
    if (!lp)
        return MCR_NO_MEMORY;
    lp->ctx = ctx;
    lp->rows = (int)rows;
    mcr_status s = load(lp);
    if (!s && !(lp->every_row = mcr_alloc(ctx, (size_t)rows, sizeof *lp->every_row)))
        s = MCR_NO_MEMORY;
    if (!s && !(lp->model = lp->newModel()))
        s = mcr_fail(ctx, MCR_NO_MEMORY, "CLP has no memory");
    if (s) {
        mcr_lp_close(lp);
        return s;
    }
    lp->setLogLevel(lp->model, 0);
    /* CLP would scale by the geometric mean of a row's or column's entries. Kernel values go down to
     * 1e-300, which makes such factors absurd and its tolerances mean nothing. */
    lp->scaling(lp->model, 0);
    lp->resize(lp->model, lp->rows, 0);
    for (int i = 0; i < lp->rows; i++) {
        lp->every_row[i] = i;
        lp->rowLower(lp->model)[i] = lower[i];
        lp->rowUpper(lp->model)[i] = DBL_MAX;
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
    mcr_free(lp->ctx, lp->every_row);
    mcr_free(lp->ctx, lp);
}

mcr_status mcr_lp_add(mcr_lp *lp, double cost, double low, double high, int64_t entries,
                      const int *row, const double *value)
{
    CoinBigIndex start[2] = {0, (CoinBigIndex)entries};
    if (low == -INFINITY)
        low = -DBL_MAX;
    if (high == INFINITY)
        high = DBL_MAX;
    lp->addColumns(lp->model, 1, &low, &high, &cost, start, row ? row : lp->every_row, value);
    return MCR_OK;
}

mcr_status mcr_lp_solve(mcr_lp *lp, double seconds, bool *ended, const double **x,
                        const double **dual)
{
    if (seconds > 0)
        lp->setMaximumSeconds(lp->model, seconds);
    lp->primal(lp->model, 0);
    int status = lp->status(lp->model);
    *ended = status == 0;
    if (status != 0 && status != 3)
        return mcr_fail(lp->ctx, MCR_NUMERIC,
                        "CLP could not solve the linear program (status %d): scale the data, or "
                        "take smaller parameters",
                        status);
    *x = lp->primalColumnSolution(lp->model);
    *dual = lp->dualRowSolution(lp->model);
    return MCR_OK;
}

#else

mcr_status mcr_lp_open(mcr_lp **out, mcr *ctx, int64_t rows, const double *lower)
{
    (void)rows;
    (void)lower;
    *out = NULL;
    return mcr_fail(ctx, MCR_IO,
                    "linear programs need CLP, and this Mercer was built without it: install "
                    "coinor-libclp-dev and build again");
}

void mcr_lp_close(mcr_lp *lp)
{
    (void)lp;
}

mcr_status mcr_lp_add(mcr_lp *lp, double cost, double low, double high, int64_t entries,
                      const int *row, const double *value)
{
    (void)lp;
    (void)cost;
    (void)low;
    (void)high;
    (void)entries;
    (void)row;
    (void)value;
    return MCR_BAD_CALL;
}

mcr_status mcr_lp_solve(mcr_lp *lp, double seconds, bool *ended, const double **x,
                        const double **dual)
{
    (void)lp;
    (void)seconds;
    (void)ended;
    (void)x;
    (void)dual;
    return MCR_BAD_CALL;
}

#endif
