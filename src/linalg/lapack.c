/* lapack.c: tiled Cholesky factorisation and solution (right-looking; for tiles see Buttari,
 * Langou, Kurzak and Dongarra, 2009). See blas.c for how the Fortran routines see row-major
 * matrices.
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

/* Columns of a panel; columns of it that are solved at a time; rows and columns of a tile of the
 * trailing matrix; columns of L^-1 at a time. */
enum { PANEL = 256, SLIM = 64, TILE = 512, STRIP = 128 };
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

void mcr_lapack_solve_rows(const mcr_fortran *f, int64_t width, int64_t rows, const double *l,
                           int64_t ldl, double *b, int64_t ldb)
{
    solve_rows_double(f, width, rows, l, ldl, b, ldb);
}

/* ---- diagonal of the inverse ------------------------------------------------------------------*/

typedef struct diagonal_job {
    const mcr_fortran *f;
    int64_t n, ld;
    const double *l;
    double *diagonal;
    double *buffer; /* n x STRIP per worker */
} diagonal_job;

/* Columns first .. first + width - 1 of L^-1: their sums of squares. */
static mcr_status diagonal_strip(void *arg, int64_t item, int worker)
{
    const diagonal_job *j = arg;
    int64_t first = item * STRIP, rows = j->n - first, width = mcr_least(STRIP, rows);
    double *x = j->buffer + worker * j->n * STRIP, *to = j->diagonal + first;
    memset(x, 0, sizeof *x * (size_t)(rows * width));
    for (int64_t c = 0; c < width; c++)
        x[c * width + c] = 1;
    int before = mcr_fortran_threads(j->f, 1);
    solve_side_double(j->f, "N", rows, width, j->l + first * j->ld + first, j->ld, x, width);
    (void)mcr_fortran_threads(j->f, before);
    memset(to, 0, sizeof *to * (size_t)width);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < width; c++)
            to[c] += x[r * width + c] * x[r * width + c];
    return MCR_OK;
}

mcr_status mcr_lapack_inverse_diagonal(mcr *ctx, int64_t n, const double *l, int64_t ldl,
                                       double *diagonal, const char *phase)
{
    size_t workers = (size_t)mcr_workers(ctx);
    diagonal_job j = {NULL, n, ldl, l, diagonal, NULL};
    mcr_status s = mcr_fortran_load(&j.f, ctx);
    if (s)
        return s;
    j.buffer = mcr_alloc(ctx, workers * STRIP, (size_t)n * sizeof *j.buffer);
    if (!j.buffer)
        return MCR_NO_MEMORY;
    int64_t strips = mcr_parts(n, STRIP);
    s = phase ? mcr_parallel_reported(ctx, phase, 0, 1, strips, diagonal_strip, &j)
              : mcr_parallel(ctx, strips, diagonal_strip, &j);
    mcr_free(ctx, j.buffer);
    return s;
}
