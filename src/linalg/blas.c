/* blas.c: a row-major interface to BLAS and LAPACK.
 *
 * The Fortran routines see a row-major matrix as its column-major transpose: products are taken in
 * the opposite order, a lower triangle is an upper one, right-hand sides become left-hand ones, and
 * eigenvectors in columns are our rows. So nothing is ever copied or transposed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/blas.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

#include "base/context.h"
#include "base/threads.h"
#include "linalg/fortran.h"
#include "linalg/tiles.h"

/* Eigenproblems up to this size use one thread: more threads gain nothing on an idle machine, and
 * on a busy one they wait for each other hundreds of times as long. */
enum { ONE_THREAD = 512 };

static int take_threads(const mcr_fortran *f, mcr *ctx)
{
    return mcr_fortran_threads(f, mcr_workers(ctx));
}

static int take_eigen_threads(const mcr_fortran *f, mcr *ctx, int64_t n)
{
    return n <= ONE_THREAD ? mcr_fortran_threads(f, 1) : take_threads(f, ctx);
}

static void give_threads(const mcr_fortran *f, int before)
{
    (void)mcr_fortran_threads(f, before);
}

static mcr_status check_size(mcr *ctx, int64_t n)
{
    if (n < 0 || n > INT_MAX)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "a matrix with %lld rows or columns is too large for the BLAS library "
                        "(limit %d); use fewer objects, or an approximation by features",
                        (long long)n, INT_MAX);
    return MCR_OK;
}

/* Every routine starts here: loads the library and checks the sizes against its integers. */
static mcr_status enter(const mcr_fortran **f, mcr *ctx, const int64_t *n, int count)
{
    mcr_status s = mcr_fortran_load(f, ctx);
    for (int i = 0; i < count && s == MCR_OK; i++)
        s = check_size(ctx, n[i]);
    return s;
}
#define ENTER(f, ctx, ...)                                                                         \
    enter(f, ctx, (const int64_t[]){__VA_ARGS__},                                                  \
          (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))

/* LAPACK requires a leading dimension of at least 1, even for empty matrices. */
static int leading(int64_t ld)
{
    return ld > 1 ? (int)ld : 1;
}

static const char *flag(mcr_transpose t)
{
    return t == MCR_TRANSPOSED ? "T" : "N";
}

static const char *opposite(mcr_transpose t)
{
    return t == MCR_TRANSPOSED ? "N" : "T";
}

mcr_status mcr_blas_gemm(mcr *ctx, mcr_transpose ta, mcr_transpose tb, int64_t m, int64_t n,
                         int64_t k, double alpha, const double *a, int64_t lda, const double *b,
                         int64_t ldb, double beta, double *c, int64_t ldc)
{
    const mcr_fortran *f = NULL;
    mcr_status s = ENTER(&f, ctx, m, n, k, lda, ldb, ldc);
    if (s != MCR_OK)
        return s;
    int im = (int)m, in = (int)n, ik = (int)k;
    int ila = leading(lda), ilb = leading(ldb), ilc = leading(ldc);
    int threads = take_threads(f, ctx);
    f->dgemm(flag(tb), flag(ta), &in, &im, &ik, &alpha, b, &ilb, a, &ila, &beta, c, &ilc, 1, 1);
    give_threads(f, threads);
    return MCR_OK;
}

mcr_status mcr_blas_triangle_solve(mcr *ctx, mcr_transpose tl, int64_t n, int64_t count,
                                   const double *l, int64_t ldl, double *b, int64_t ldb)
{
    const mcr_fortran *f = NULL;
    mcr_status s = ENTER(&f, ctx, n, count, ldl, ldb);
    if (s != MCR_OK)
        return s;
    int in = (int)n, ic = (int)count, ill = leading(ldl), ilb = leading(ldb);
    const double unit = 1;
    int threads = take_threads(f, ctx);
    if (count == 1)
        f->dtrsv("U", opposite(tl), "N", &in, l, &ill, b, &ilb, 1, 1, 1);
    else
        f->dtrsm("R", "U", flag(tl), "N", &ic, &in, &unit, l, &ill, b, &ilb, 1, 1, 1, 1);
    give_threads(f, threads);
    return MCR_OK;
}

static mcr_status no_convergence(mcr *ctx, int info)
{
    return mcr_fail(ctx, MCR_NUMERIC,
                    "the eigenvalues did not converge (LAPACK code %d); look for infinite or not-a-"
                    "number values in the matrix",
                    info);
}

/* By relatively robust representations: slower for all eigenvalues, but the workspace is linear in
 * n and it can be limited to the largest ones. */
mcr_status mcr_blas_eigen_largest(mcr *ctx, int64_t n, double *a, int64_t lda, int64_t count,
                                  double *value, double *vector, int64_t ldv)
{
    enum { BEFORE = 16 }; /* if it finds no eigenvalue, LAPACK writes before its integer array */
    const mcr_fortran *f = NULL;
    mcr_status s = ENTER(&f, ctx, n, lda, count, ldv, 2 * count);
    if (s != MCR_OK || count == 0)
        return s;
    if (count > n)
        return mcr_fail(ctx, MCR_BAD_CALL, "%lld eigenvalues were requested, there are %lld",
                        (long long)count, (long long)n);
    int in = (int)n, ila = leading(lda), ilv = leading(ldv), first = (int)(n - count + 1);
    int found = 0, info = 0, query = -1, words = 0, whole_words = 0;
    double size = 0;
    const double unused = 0, tolerance = 0;
    const char *job = vector ? "V" : "N", *range = count == n ? "A" : "I";
    double *work = NULL, *all = mcr_alloc(ctx, (size_t)n, sizeof *all);
    int *support = mcr_alloc(ctx, (uint64_t)(2 * n), sizeof *support), *whole = NULL;
    int threads = take_eigen_threads(f, ctx, n);
    s = MCR_NO_MEMORY;
    if (!all || !support)
        goto done;
    f->dsyevr(job, range, "U", &in, a, &ila, &unused, &unused, &first, &in, &tolerance, &found, all,
              vector, &ilv, support, &size, &query, &whole_words, &query, &info, 1, 1, 1);
    words = (int)size;
    work = mcr_alloc(ctx, (size_t)words, sizeof *work);
    whole = mcr_alloc(ctx, (size_t)whole_words + BEFORE, sizeof *whole);
    if (!work || !whole)
        goto done;
    f->dsyevr(job, range, "U", &in, a, &ila, &unused, &unused, &first, &in, &tolerance, &found, all,
              vector, &ilv, support, work, &words, whole + BEFORE, &whole_words, &info, 1, 1, 1);
    memcpy(value, all, (size_t)count * sizeof *value);
    s = info == 0 && found == count ? MCR_OK : no_convergence(ctx, info);
done:
    give_threads(f, threads);
    mcr_free_all(ctx, whole, work, support, all);
    return s;
}

/* All eigenvalues and eigenvectors if the workspace of divide and conquer exceeds the integers. */
static mcr_status eigen_huge(mcr *ctx, int64_t n, double *a, int64_t lda, double *value)
{
    double *vector = mcr_alloc(ctx, (size_t)n, (size_t)n * sizeof *vector);
    if (!vector)
        return MCR_NO_MEMORY;
    mcr_status s = mcr_blas_eigen_largest(ctx, n, a, lda, n, value, vector, n);
    for (int64_t i = 0; s == MCR_OK && i < n; i++)
        memcpy(a + i * lda, vector + i * n, (size_t)n * sizeof *a);
    mcr_free(ctx, vector);
    return s;
}

mcr_status mcr_blas_eigen(mcr *ctx, int64_t n, double *a, int64_t lda, bool vectors, double *value)
{
    const mcr_fortran *f = NULL;
    mcr_status s = ENTER(&f, ctx, n, lda);
    if (s != MCR_OK || n == 0)
        return s;
    if (vectors && 1 + 6 * n + 2 * n * n > INT_MAX)
        return eigen_huge(ctx, n, a, lda, value);
    int in = (int)n, ila = leading(lda), info = 0, query = -1, words = 0, whole_words = 0;
    double size = 0;
    const char *job = vectors ? "V" : "N";
    double *work = NULL;
    int *whole = NULL;
    int threads = take_eigen_threads(f, ctx, n);
    f->dsyevd(job, "U", &in, a, &ila, value, &size, &query, &whole_words, &query, &info, 1, 1);
    words = (int)size;
    work = mcr_alloc(ctx, (size_t)words, sizeof *work);
    whole = mcr_alloc(ctx, (size_t)whole_words, sizeof *whole);
    s = MCR_NO_MEMORY;
    if (!work || !whole)
        goto done;
    f->dsyevd(job, "U", &in, a, &ila, value, work, &words, whole, &whole_words, &info, 1, 1);
    s = info == 0 ? MCR_OK : no_convergence(ctx, info);
done:
    give_threads(f, threads);
    mcr_free_all(ctx, whole, work);
    return s;
}

#if defined(__x86_64__)
static bool is_among(const char *name, const char *const *names)
{
    while (*names && strcasecmp(name, *names) != 0)
        names++;
    return *names != NULL;
}
#endif

const char *mcr_blas_core_hint(void)
{
#if defined(__x86_64__)
    /* All x86 code of OpenBLAS for AVX-512, and for AVX2. */
    static const char *const with_avx512[] = {"SkylakeX", "Cooperlake", "SapphireRapids", NULL};
    static const char *const with_avx2[] = {"Haswell", "Zen", "Excavator", NULL};
    const char *config, *core = mcr_fortran_core(&config);
    if (!core || !config || !strstr(config, "DYNAMIC_ARCH") || is_among(core, with_avx512))
        return NULL;
    if (mcr_tiles_named("v4"))
        return "SkylakeX";
    if (mcr_tiles_named("v3") && !is_among(core, with_avx2))
        return "Haswell";
#endif
    return NULL;
}
