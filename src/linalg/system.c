/* system.c: a symmetric positive definite system of equations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/system.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/rows.h"
#include "base/threads.h"
#include "linalg/fortran.h"
#include "linalg/lapack.h"
#include "linalg/shared.h"

/* Rows a power of two apart would cause cache conflicts. */
static int64_t row_length(int64_t n)
{
    int64_t ld = (n + 7) / 8 * 8;
    return ld % 512 == 0 ? ld + 8 : ld;
}

mcr_status mcr_system_open(mcr_system *y, mcr *ctx, int64_t n, const char *what)
{
    *y = (mcr_system){.ctx = ctx, .n = n, .ld = row_length(n)};
    if (n > INT_MAX - 16)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "%s: a matrix of %lld x %lld values is too large for the BLAS library; use "
                        "fewer objects",
                        what, (long long)n, (long long)n);
    const mcr_fortran *f;
    size_t bytes = 0;
    if (!mcr_size_mul((size_t)n, (size_t)y->ld * sizeof(double), &bytes))
        bytes = SIZE_MAX;
    mcr_status s = mcr_fortran_load(&f, ctx);
    if (!s)
        s = mcr_budget_take(ctx, bytes, what);
    if (s)
        return s;
    y->taken = bytes;
    y->a = mcr_alloc(ctx, (size_t)n, (size_t)y->ld * sizeof(double));
    y->diagonal = mcr_alloc(ctx, (size_t)n, sizeof *y->diagonal);
    if (y->a && y->diagonal)
        return MCR_OK;
    mcr_system_close(y);
    return MCR_NO_MEMORY;
}

mcr_system mcr_system_smaller(const mcr_system *y, int64_t n)
{
    return (mcr_system){
        .ctx = y->ctx, .n = n, .ld = row_length(n), .a = y->a, .diagonal = y->diagonal};
}

void mcr_system_close(mcr_system *y)
{
    if (!y->ctx)
        return;
    mcr_free_all(y->ctx, y->a, y->diagonal);
    mcr_budget_give(y->ctx, y->taken);
    *y = (mcr_system){0};
}

void mcr_system_filled(mcr_system *y)
{
    for (int64_t i = 0; i < y->n; i++)
        y->diagonal[i] = y->a[i * y->ld + i];
    y->factored = false;
}

void mcr_system_mirror(mcr_system *y)
{
    enum { SIDE = 32 }; /* side of squares that fit L1 */
    for (int64_t i0 = 0; i0 < y->n; i0 += SIDE)
        for (int64_t j0 = 0; j0 <= i0; j0 += SIDE)
            for (int64_t j = j0; j < j0 + SIDE && j < y->n; j++)
                for (int64_t i = i0 > j ? i0 : j + 1; i < i0 + SIDE && i < y->n; i++)
                    y->a[j * y->ld + i] = y->a[i * y->ld + j];
}

typedef struct add_job {
    mcr_system *to;
    int64_t count, ld;
    const double *f, *g;
} add_job;

enum { STRIPE = 128 }; /* rows per item */

/* Some rows, from the diagonal on. */
static mcr_status add_stripe(void *arg, int64_t item, int worker)
{
    (void)worker;
    const add_job *j = arg;
    int64_t n = j->to->n, first = item * STRIPE, rows = n - first < STRIPE ? n - first : STRIPE;
    double *a = j->to->a + first * j->to->ld + first;
    return mcr_blas_gemm(j->to->ctx, MCR_TRANSPOSED, MCR_AS_IS, rows, n - first, j->count, 1,
                         j->f + first, j->ld, j->g + first, j->ld, 1, a, j->to->ld);
}

mcr_status mcr_system_add(mcr_system *y, int64_t count, const double *f, const double *g,
                          int64_t ld)
{
    add_job j = {y, count, ld, f, g};
    for (int64_t i = 0; i < y->n; i++)
        y->a[i * y->ld + i] = y->diagonal[i];
    mcr_status s = mcr_shared_items(y->ctx, mcr_parts(y->n, STRIPE), add_stripe, &j);
    for (int64_t i = 0; i < y->n; i++)
        y->diagonal[i] = y->a[i * y->ld + i];
    y->factored = true; /* the part below the diagonal is no longer A */
    return s;
}

/* ---- by a factor ------------------------------------------------------------------------------*/

void mcr_system_restore(mcr_system *y)
{
    if (y->factored)
        mcr_shared_mend(y->n, y->a, y->ld, y->diagonal);
    y->factored = false;
}

mcr_status mcr_system_factor(mcr_system *y, double shift, const double *each, const char *phase)
{
    mcr_system_restore(y);
    for (int64_t i = 0; i < y->n; i++)
        y->a[i * y->ld + i] = y->diagonal[i] + (each ? each[i] : shift);
    y->factored = true;
    return mcr_lapack_cholesky(y->ctx, y->n, y->a, y->ld, phase, NULL);
}

mcr_status mcr_system_solve(const mcr_system *y, int64_t count, double *b)
{
    return mcr_lapack_solve(y->ctx, y->n, count, y->a, y->ld, b, count);
}

/* Columns of an item: the same for any number of threads, because the rounding of a column depends
 * on how many are solved at a time in some code of OpenBLAS. */
enum { SOLVE_COLS = 64 };

typedef struct solve_job {
    const mcr_system *of;
    int64_t count, ldb;
    double *b;
} solve_job;

static mcr_status solve_columns(void *arg, int64_t item, int worker)
{
    (void)worker;
    const solve_job *job = arg;
    const mcr_system *y = job->of;
    int64_t from = item * SOLVE_COLS;
    return mcr_blas_triangle_solve(y->ctx, MCR_AS_IS, y->n,
                                   mcr_least(SOLVE_COLS, job->count - from), y->a, y->ld,
                                   job->b + from, job->ldb);
}

mcr_status mcr_system_solve_lower(const mcr_system *y, int64_t count, double *b, int64_t ldb)
{
    solve_job job = {y, count, ldb, b};
    return mcr_shared_items(y->ctx, mcr_parts(count, SOLVE_COLS), solve_columns, &job);
}

double mcr_system_log(const mcr_system *y, int64_t i)
{
    return log(y->a[i * y->ld + i]);
}

mcr_status mcr_system_inverse(mcr_system *y, bool whole, double *diagonal, const char *phase)
{
    return whole ? mcr_lapack_inverse(y->ctx, y->n, y->a, y->ld, diagonal, phase)
                 : mcr_lapack_inverse_diagonal(y->ctx, y->n, y->a, y->ld, diagonal, phase);
}

/* ---- products ---------------------------------------------------------------------------------*/

enum { BAND = 64 }; /* rows per item */

typedef struct product_job {
    const mcr_system *of;
    const mcr_fortran *f;
    const double *v;
    int64_t cols;
    double *y;
} product_job;

/* Rows first .. end - 1 of the product: the part to the right of their diagonal block, the part
 * above it, and the block itself. */
static mcr_status product_band(void *arg, int64_t first, int64_t end)
{
    const product_job *j = arg;
    const double unit = 1, *a = j->of->a;
    int64_t n = j->of->n, ld = j->of->ld;
    int rows = (int)(end - first), cols = (int)j->cols, ild = (int)ld;
    int right = (int)(n - end), above = (int)first;
    double *y = j->y + first * j->cols;
    memset(y, 0, sizeof *y * (size_t)((end - first) * j->cols));
    int before = mcr_fortran_threads(j->f, 1);
    if (right > 0)
        j->f->dgemm("N", "N", &cols, &rows, &right, &unit, j->v + end * j->cols, &cols,
                    a + first * ld + end, &ild, &unit, y, &cols, 1, 1);
    if (above > 0)
        j->f->dgemm("N", "T", &cols, &rows, &above, &unit, j->v, &cols, a + first, &ild, &unit, y,
                    &cols, 1, 1);
    (void)mcr_fortran_threads(j->f, before);
    for (int64_t r = first; r < end; r++)
        for (int64_t c = first; c < end; c++) {
            double value = r == c ? j->of->diagonal[r] : r < c ? a[r * ld + c] : a[c * ld + r];
            for (int64_t o = 0; o < j->cols; o++)
                j->y[r * j->cols + o] += value * j->v[c * j->cols + o];
        }
    return MCR_OK;
}

mcr_status mcr_system_multiply(const mcr_system *of, const double *v, int64_t cols, double *y)
{
    product_job j = {of, NULL, v, cols, y};
    mcr_status s = mcr_fortran_load(&j.f, of->ctx);
    return s ? s : mcr_parallel_chunks(of->ctx, of->n, BAND, product_band, &j);
}

/* ---- eigenvectors -----------------------------------------------------------------------------*/

mcr_status mcr_system_eigen(mcr_system *y, const char *what, double *value)
{
    size_t bytes = 2 * (size_t)y->n * (size_t)y->n * sizeof(double); /* workspace of LAPACK */
    mcr_status s = mcr_budget_take(y->ctx, bytes, what);
    if (s)
        return s;
    s = mcr_shared_eigen(y->ctx, y->n, y->a, y->ld, value);
    mcr_budget_give(y->ctx, bytes);
    return s;
}
