/* lapack.c: tiled Cholesky factorisation, solution and inverse (right-looking; for tiles see
 * Buttari, Langou, Kurzak and Dongarra, 2009). How the Fortran routines see row-major matrices:
 * blas.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/lapack.h"

#include <limits.h>
#include <string.h>

#include "base/context.h"
#include "base/rows.h"
#include "base/threads.h"
#include "linalg/fortran.h"

/* Columns of a panel, rows and columns of a tile behind it, columns of the inverse at a time. */
enum { PANEL = 256, TILE = 512, STRIP = 128 };
/* ---- factor and solution ----------------------------------------------------------------------*/

static mcr_status report(mcr *ctx, const char *phase, double left, double began)
{
    return mcr_part_done(ctx, phase, 1 - left * left * left, mcr_now() - began);
}

#define REAL       double
#define FN(name)   name##_double
#define BLAS(name) d##name
#define CHOLESKY   mcr_lapack_cholesky
#define SOLVE      mcr_lapack_solve
#include "linalg/lapack_factor.h"

#define REAL       float
#define FN(name)   name##_float
#define BLAS(name) s##name
#define CHOLESKY   mcr_lapack_cholesky_float
#define SOLVE      mcr_lapack_solve_float
#include "linalg/lapack_factor.h"

/* ---- inverse ----------------------------------------------------------------------------------*/

typedef struct inverse_job {
    const mcr_fortran *f;
    int64_t n, ld;
    double *l, *diagonal;
    bool whole;
    double *buffer; /* n x STRIP for each worker */
} inverse_job;

/* Columns first .. first + width - 1 of the inverse, from row `first` on: they depend on the part
 * of L behind them alone. What is above is the mirror of other columns. */
static mcr_status inverse_strip(void *arg, int64_t item, int worker)
{
    const inverse_job *j = arg;
    int64_t first = item * STRIP, rows = j->n - first, width = mcr_least(STRIP, rows);
    double *x = j->buffer + worker * j->n * STRIP;
    double *l = j->l + first * j->ld + first;
    memset(x, 0, sizeof *x * (size_t)(rows * width));
    for (int64_t c = 0; c < width; c++)
        x[c * width + c] = 1;
    int before = mcr_fortran_threads(j->f, 1);
    solve_side_double(j->f, "N", rows, width, l, j->ld, x, width);
    if (j->whole)
        solve_side_double(j->f, "T", rows, width, l, j->ld, x, width);
    (void)mcr_fortran_threads(j->f, before);
    for (int64_t c = 0; c < width; c++)
        j->diagonal[first + c] = j->whole ? x[c * width + c] : 0;
    for (int64_t r = 0; r < rows && !j->whole; r++)
        for (int64_t c = 0; c < width; c++)
            j->diagonal[first + c] += x[r * width + c] * x[r * width + c];
    for (int64_t c = 0; c < width && j->whole; c++)
        for (int64_t r = c + 1; r < rows; r++)
            l[c * j->ld + r] = x[r * width + c];
    return MCR_OK;
}

mcr_status mcr_lapack_inverse(mcr *ctx, int64_t n, double *l, int64_t ldl, bool whole,
                              double *diagonal)
{
    size_t workers = (size_t)mcr_workers(ctx);
    inverse_job j = {NULL, n, ldl, l, diagonal, whole, NULL};
    mcr_status s = mcr_fortran_load(&j.f, ctx);
    if (s)
        return s;
    j.buffer = mcr_alloc(ctx, workers * STRIP, (size_t)n * sizeof *j.buffer);
    if (!j.buffer)
        return MCR_NO_MEMORY;
    s = mcr_parallel(ctx, (n + STRIP - 1) / STRIP, inverse_strip, &j);
    mcr_free(ctx, j.buffer);
    return s;
}
