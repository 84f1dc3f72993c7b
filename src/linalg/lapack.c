/* lapack.c: tiled Cholesky factorisation, solution and inverse (right-looking; for tiles see
 * Buttari, Langou, Kurzak and Dongarra, 2009). How the Fortran routines see row-major matrices:
 * blas.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/lapack.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/threads.h"
#include "linalg/fortran.h"

/* Columns of a panel, rows and columns of a tile behind it, columns of the inverse at a time. */
enum { PANEL = 256, TILE = 512, STRIP = 128 };
/* Rows of a worker's item in a product. */
enum { BAND = 64 };

static const double unit = 1;

/* ---- space ------------------------------------------------------------------------------------*/

mcr_status mcr_square_open(mcr_square *square, mcr *ctx, int64_t n, const char *what)
{
    *square = (mcr_square){.ctx = ctx, .n = n, .ld = (n + 7) / 8 * 8};
    if (n > INT_MAX - 16)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "%s: a matrix of %lld x %lld values is too large for the BLAS library; use "
                        "fewer objects",
                        what, (long long)n, (long long)n);
    if (square->ld % 512 == 0)
        square->ld += 8; /* rows a power of two apart would share cache sets */
    size_t bytes = 0;
    if (!mcr_size_mul((size_t)n, (size_t)square->ld * sizeof(double), &bytes))
        bytes = SIZE_MAX;
    mcr_status s = mcr_fortran_load(&square->f, ctx);
    if (!s)
        s = mcr_budget_take(ctx, bytes, what);
    if (s)
        return s;
    square->taken = bytes;
    square->a = mcr_alloc(ctx, (size_t)n, (size_t)square->ld * sizeof(double));
    if (square->a)
        return MCR_OK;
    mcr_square_close(square);
    return MCR_NO_MEMORY;
}

void mcr_square_close(mcr_square *square)
{
    if (!square->ctx)
        return;
    mcr_free(square->ctx, square->a);
    mcr_budget_give(square->ctx, square->taken);
    *square = (mcr_square){0};
}

/* ---- product ----------------------------------------------------------------------------------*/

typedef struct product_job {
    const mcr_square *m;
    const double *diagonal; /* NULL: all of A is there */
    const double *v;
    int64_t cols;
    double *y;
} product_job;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static mcr_status product_band(void *arg, int64_t item, int worker)
{
    (void)worker;
    const product_job *j = arg;
    const double none = 0;
    int64_t first = item * BAND;
    int rows = (int)least(BAND, j->m->n - first), n = (int)j->m->n, cols = (int)j->cols;
    int ld = (int)j->m->ld, one = 1;
    const double *a = j->m->a + first * j->m->ld;
    int before = mcr_fortran_threads(j->m->f, 1);
    if (cols == 1)
        j->m->f->dgemv("T", &n, &rows, &unit, a, &ld, j->v, &one, &none, j->y + first, &one, 1);
    else
        j->m->f->dgemm("N", "N", &cols, &rows, &n, &unit, j->v, &cols, a, &ld, &none,
                       j->y + first * j->cols, &cols, 1, 1);
    (void)mcr_fortran_threads(j->m->f, before);
    return MCR_OK;
}

mcr_status mcr_square_multiply(const mcr_square *square, const double *v, int64_t cols, double *y)
{
    product_job j = {square, NULL, v, cols, y};
    return mcr_parallel(square->ctx, (square->n + BAND - 1) / BAND, product_band, &j);
}

/* Rows first .. end - 1 of the product: what is right of these rows' square on the diagonal, what
 * is above it, and the square itself. */
static mcr_status upper_band(void *arg, int64_t item, int worker)
{
    (void)worker;
    const product_job *j = arg;
    int64_t n = j->m->n, ld = j->m->ld, first = item * BAND, end = least(first + BAND, n);
    int rows = (int)(end - first), cols = (int)j->cols, ild = (int)ld;
    int right = (int)(n - end), above = (int)first;
    double *y = j->y + first * j->cols;
    memset(y, 0, sizeof *y * (size_t)((end - first) * j->cols));
    int before = mcr_fortran_threads(j->m->f, 1);
    if (right > 0)
        j->m->f->dgemm("N", "N", &cols, &rows, &right, &unit, j->v + end * j->cols, &cols,
                       j->m->a + first * ld + end, &ild, &unit, y, &cols, 1, 1);
    if (above > 0)
        j->m->f->dgemm("N", "T", &cols, &rows, &above, &unit, j->v, &cols, j->m->a + first, &ild,
                       &unit, y, &cols, 1, 1);
    (void)mcr_fortran_threads(j->m->f, before);
    for (int64_t r = first; r < end; r++)
        for (int64_t c = first; c < end; c++) {
            double value = r == c  ? j->diagonal[r]
                           : r < c ? j->m->a[r * ld + c]
                                   : j->m->a[c * ld + r];
            for (int64_t o = 0; o < j->cols; o++)
                j->y[r * j->cols + o] += value * j->v[c * j->cols + o];
        }
    return MCR_OK;
}

mcr_status mcr_square_multiply_upper(const mcr_square *square, const double *diagonal,
                                     const double *v, int64_t cols, double *y)
{
    product_job j = {square, diagonal, v, cols, y};
    return mcr_parallel(square->ctx, (square->n + BAND - 1) / BAND, upper_band, &j);
}

/* ---- factor and solution ----------------------------------------------------------------------*/

static mcr_status report(mcr *ctx, const char *phase, double left, double began)
{
    mcr_progress at = {
        .size = sizeof at,
        .phase = phase,
        .fraction = 1 - left * left * left,
        .seconds = mcr_now() - began,
        .objective = NAN,
        .violation = NAN,
    };
    return phase && mcr_report(ctx, &at) ? mcr_fail(ctx, MCR_STOPPED, "interrupted") : MCR_OK;
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
    int64_t first = item * STRIP, rows = j->n - first, width = least(STRIP, rows);
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
