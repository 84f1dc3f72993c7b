/* shared.c: products in tiles, eigenvectors on one thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/shared.h"

#include "base/rows.h"
#include "linalg/copy.h"
#include "linalg/fortran.h"

/* Tile sizes of a product. With a triangle most tiles end early: narrower ones skip more zeros. */
enum { GEMM_ROWS = 256, GEMM_COLS = 512, UPPER_COLS = 128 };

/* ---- products ---------------------------------------------------------------------------------*/

mcr_status mcr_shared_items(mcr *ctx, int64_t count, mcr_work *work, void *arg)
{
    return count == 1 ? mcr_alone(ctx, work, arg) : mcr_parallel(ctx, count, work, arg);
}

typedef struct gemm_job {
    mcr *ctx;
    mcr_transpose ta, tb;
    int64_t m, n, k, lda, ldb, ldc;
    double alpha, beta;
    const double *a, *b;
    double *c;
    int64_t cols; /* of a tile */
    bool upper;   /* B is an upper triangle */
} gemm_job;

static mcr_status gemm_tile(void *arg, int64_t item, int worker)
{
    (void)worker;
    const gemm_job *p = arg;
    int64_t across = mcr_parts(p->n, p->cols);
    int64_t i = item / across * GEMM_ROWS, j = item % across * p->cols;
    int64_t cols = mcr_least(p->cols, p->n - j);
    return mcr_blas_gemm(p->ctx, p->ta, p->tb, mcr_least(GEMM_ROWS, p->m - i), cols,
                         p->upper ? j + cols : p->k, p->alpha,
                         p->ta == MCR_TRANSPOSED ? p->a + i : p->a + i * p->lda, p->lda,
                         p->tb == MCR_TRANSPOSED ? p->b + j * p->ldb : p->b + j, p->ldb, p->beta,
                         p->c + i * p->ldc + j, p->ldc);
}

static mcr_status run_gemm(gemm_job *job)
{
    int64_t tiles = mcr_parts(job->m, GEMM_ROWS) * mcr_parts(job->n, job->cols);
    return mcr_shared_items(job->ctx, tiles, gemm_tile, job);
}

mcr_status mcr_shared_gemm(mcr *ctx, mcr_transpose ta, mcr_transpose tb, int64_t m, int64_t n,
                           int64_t k, double alpha, const double *a, int64_t lda, const double *b,
                           int64_t ldb, double beta, double *c, int64_t ldc)
{
    return run_gemm(
        &(gemm_job){ctx, ta, tb, m, n, k, lda, ldb, ldc, alpha, beta, a, b, c, GEMM_COLS, false});
}

mcr_status mcr_shared_times_upper(mcr *ctx, int64_t m, int64_t n, const double *a, int64_t lda,
                                  const double *upper, int64_t ldu, double *c, int64_t ldc)
{
    return run_gemm(&(gemm_job){ctx, MCR_AS_IS, MCR_AS_IS, m, n, n, lda, ldu, ldc, 1, 0, a, upper,
                                c, UPPER_COLS, true});
}

/* Rows of the transposed triangle end at the diagonal, and so do the rows of the result. */
static mcr_status turned_tile(void *arg, int64_t item, int worker)
{
    (void)worker;
    const gemm_job *p = arg;
    int64_t i = item * UPPER_COLS, rows = mcr_least(UPPER_COLS, p->n - i);
    return mcr_blas_gemm(p->ctx, MCR_TRANSPOSED, MCR_AS_IS, rows, i + rows, i + rows, 1, p->a + i,
                         p->lda, p->b, p->ldb, 0, p->c + i * p->ldc, p->ldc);
}

mcr_status mcr_shared_upper_times(mcr *ctx, int64_t n, const double *upper, int64_t ldu,
                                  const double *b, int64_t ldb, double *c, int64_t ldc)
{
    gemm_job job = {
        .ctx = ctx, .n = n, .lda = ldu, .ldb = ldb, .ldc = ldc, .a = upper, .b = b, .c = c};
    return mcr_shared_items(ctx, mcr_parts(n, UPPER_COLS), turned_tile, &job);
}

typedef struct product_job {
    const mcr_fortran *f;
    int64_t n, lda, cols;
    const double *a, *v;
    double *y;
} product_job;

enum { BAND = 64 }; /* rows per item */

static mcr_status product_band(void *arg, int64_t first, int64_t end)
{
    const product_job *j = arg;
    const double none = 0, unit = 1, *a = j->a + first * j->lda;
    double *y = j->y + first * j->cols;
    int rows = (int)(end - first), n = (int)j->n, cols = (int)j->cols;
    int ld = (int)j->lda, one = 1, before = mcr_fortran_threads(j->f, 1);
    if (cols == 1)
        j->f->dgemv("T", &n, &rows, &unit, a, &ld, j->v, &one, &none, y, &one, 1);
    else
        j->f->dgemm("N", "N", &cols, &rows, &n, &unit, j->v, &cols, a, &ld, &none, y, &cols, 1, 1);
    (void)mcr_fortran_threads(j->f, before);
    return MCR_OK;
}

mcr_status mcr_shared_multiply(mcr *ctx, int64_t n, const double *a, int64_t lda, const double *v,
                               int64_t cols, double *y)
{
    product_job j = {.n = n, .lda = lda, .cols = cols, .a = a, .v = v, .y = y};
    mcr_status s = mcr_fortran_load(&j.f, ctx);
    return s ? s : mcr_parallel_chunks(ctx, n, BAND, product_band, &j);
}

void mcr_shared_mend(int64_t n, double *a, int64_t lda, const double *diagonal)
{
    mcr_mirror(a, n, lda, sizeof *a);
    for (int64_t i = 0; i < n; i++)
        a[i * lda + i] = diagonal[i];
}

/* ---- eigenvectors -----------------------------------------------------------------------------*/

typedef struct eigen_job {
    mcr *ctx;
    int64_t n, lda, count, ldv;
    double *a, *value, *vector;
} eigen_job;

static mcr_status eigen_all(void *arg, int64_t item, int worker)
{
    (void)item;
    (void)worker;
    const eigen_job *p = arg;
    return mcr_blas_eigen(p->ctx, p->n, p->a, p->lda, true, p->value);
}

static mcr_status eigen_some(void *arg, int64_t item, int worker)
{
    (void)item;
    (void)worker;
    const eigen_job *p = arg;
    return mcr_blas_eigen_largest(p->ctx, p->n, p->a, p->lda, p->count, p->value, p->vector,
                                  p->ldv);
}

mcr_status mcr_shared_eigen(mcr *ctx, int64_t n, double *a, int64_t lda, double *value)
{
    eigen_job job = {ctx, n, lda, n, 0, a, value, NULL};
    return mcr_alone(ctx, eigen_all, &job);
}

mcr_status mcr_shared_eigen_largest(mcr *ctx, int64_t n, double *a, int64_t lda, int64_t count,
                                    double *value, double *vector, int64_t ldv)
{
    eigen_job job = {ctx, n, lda, count, ldv, a, value, vector};
    return mcr_alone(ctx, eigen_some, &job);
}
